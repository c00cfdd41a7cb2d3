//! Default settings on the data sets of textbooks end well, whatever their models ask of a sampler.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::Control;
use ergodic_core::engine::ChainView;
use ergodic_diagnostics::quantiles::mean;
use ergodic_diagnostics::{Verdict, mcse_mean};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/textbook")
}

/// A job with default settings but for `changes`.
fn job(set: &str, template: &str, formula: &str, changes: &[&str]) -> Job {
    let recipe = Recipe::new(&format!("{set}.csv"), template, formula);
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let recipe = recipe.changed(&changes).unwrap();
    Job::prepare(&recipe, &folder(), None, &Control::default()).unwrap()
}

fn run(job: Job) -> Run {
    let mut run = Run::start(Arc::new(job), None, None).unwrap();
    run.join();
    run
}

/// The least effective draws of coefficients and scales of a run that ended well.
#[track_caller]
fn ends_well(run: &Run) -> f64 {
    let report = run.report();
    let sentence = &report.sentence;
    assert_eq!(report.verdict, Verdict::Good, "{sentence}");
    assert_eq!(report.divergences, 0, "{sentence}");
    let own = report
        .summary
        .iter()
        .filter(|row| !row.variable.starts_with("r["));
    own.filter_map(|row| Some(row.ess_bulk?.min(row.ess_tail?)))
        .fold(f64::INFINITY, f64::min)
}

/// Mean and its Monte Carlo error.
fn estimate(draws: &[Vec<f64>]) -> (f64, f64) {
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    (mean(&chains).unwrap(), mcse_mean(&chains).unwrap())
}

/// Set, variable, mean, its Monte Carlo error, standard deviation.
type Reference = (String, String, f64, f64, f64);

/// Means and variances are those of numpyro within four standard errors of both. The variance of a quantity with heavy tails
/// is hardly known to either program and then not compared.
#[track_caller]
fn agrees_with_numpyro(run: &Run, set: &str) {
    let mut reader = csv::Reader::from_path(folder().join("posteriors.csv")).unwrap();
    let rows = reader.deserialize::<Reference>().map(Result::unwrap);
    let (params, view) = (run.job().model.params(), run.view());
    let (mut means, mut variances) = (0, 0);
    for (_, variable, mean, mcse, sd) in rows.filter(|row| row.0 == set) {
        let place = params.iter().position(|param| param.name == variable);
        let j = place.unwrap_or_else(|| panic!("{set} has no {variable}"));
        let of_chain = |chain: &ChainView| chain.draws.draws.column(j);
        let draws: Vec<Vec<f64>> = view.chains.iter().map(of_chain).collect();
        let (found, error) = estimate(&draws);
        let allowed = 4.0 * error.hypot(mcse);
        assert!(
            (found - mean).abs() < allowed && allowed < 0.3 * sd,
            "{variable}: mean {found} against {mean}, allowed {allowed}"
        );
        means += 1;
        let squares: Vec<Vec<f64>> = draws
            .iter()
            .map(|chain| chain.iter().map(|value| (value - mean).powi(2)).collect())
            .collect();
        let (found, error) = estimate(&squares);
        // The other program's variance is about as well known as its mean, in relative terms.
        let allowed = 4.0 * error.hypot(2.0 * mcse * sd);
        if allowed < 0.5 * sd * sd {
            assert!(
                (found - sd * sd).abs() < allowed,
                "{variable}: variance {found} against {}, allowed {allowed}",
                sd * sd
            );
            variances += 1;
        }
    }
    assert!(means > 5 && 2 * variances > means, "{means} {variances}");
}

/// Nested groups of two rows, one of whose standard deviations may be zero.
#[test]
fn pastes() {
    let job = job("pastes", "mixed", "strength ~ 1 + (1 | batch/cask)", &[]);
    assert_eq!(job.sampler.spec.id, "gibbs-mixed");
    let run = run(job);
    assert!(ends_well(&run) > 1000.0);
    agrees_with_numpyro(&run, "pastes");
}

/// A standard deviation whose estimate is zero.
#[test]
fn dyestuff2() {
    let run = run(job("dyestuff2", "mixed", "Yield ~ 1 + (1 | Batch)", &[]));
    assert!(ends_well(&run) > 1000.0);
    agrees_with_numpyro(&run, "dyestuff2");
}

/// A correlation of −0.96.
#[test]
fn chickweight() {
    let formula = "weight ~ Time * Diet + (Time | Chick)";
    let run = run(job(
        "chickweight",
        "mixed",
        formula,
        &["model.categorical=[\"Diet\"]"],
    ));
    assert!(ends_well(&run) > 400.0);
    agrees_with_numpyro(&run, "chickweight");
}

/// Counts with an effect for each row, in broods, in places.
#[test]
#[ignore = "long: run by .ci/long"]
fn grouseticks() {
    let formula = "TICKS ~ YEAR + cHEIGHT + (1 | BROOD) + (1 | INDEX) + (1 | LOCATION)";
    let changes = ["model.family=poisson", "model.categorical=[\"YEAR\"]"];
    let run = run(job("grouseticks", "mixed", formula, &changes));
    assert!(ends_well(&run) > 400.0);
    assert!(passes(&run) < 100.0);
    agrees_with_numpyro(&run, "grouseticks");
}

/// Groups in groups in three groups, most of which the data know well.
#[test]
#[ignore = "long: run by .ci/long"]
fn plants() {
    let formula = "fruits ~ nutrient + damage + rack + sown + (1 | region) + (1 | population) + (1 | genotype)";
    let run = run(job("plants", "mixed", formula, &["model.family=poisson"]));
    assert!(ends_well(&run) > 400.0);
    assert!(passes(&run) < 100.0);
    agrees_with_numpyro(&run, "plants");
}

/// Groups that do not differ, of which the data know how little that is: the likelihood fit has a standard deviation of zero.
#[test]
fn equal_groups() {
    let mut text = "y,a,g\n".to_owned();
    for i in 0..2000_u32 {
        let a = f64::from(i / 5 % 7) - 3.0;
        // Each group has the same rows.
        let y = u8::from((i / 35 * 13) % 20 < 4 + 2 * (i / 5 % 7));
        text.push_str(&format!("{y},{a},g{}\n", i % 5));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("equal.csv"), text).unwrap();
    let mut recipe = Recipe::new("equal.csv", "mixed", "y ~ a + (1 | g)");
    recipe.run.draws = 400;
    let changes = ["model.family=bernoulli".to_owned()];
    let recipe = recipe.changed(&changes).unwrap();
    let job = Job::prepare(&recipe, folder.path(), None, &Control::default()).unwrap();
    let run = run(job);
    assert!(passes(&run) < 100.0);
    assert!(ends_well(&run) > 200.0);
}

/// Passes over all rows for each iteration of chains, warm-up included.
fn passes(run: &Run) -> f64 {
    let view = run.view();
    let rows: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
    let iterations: u64 = view.chains.iter().map(|chain| chain.iterations).sum();
    rows as f64 / (run.job().model.num_obs() as f64 * iterations as f64)
}

/// 200 groups whose effects the data know well.
#[test]
#[ignore = "long: run by .ci/long"]
fn sites() {
    let formula = "obs ~ 1 + (1 | site)";
    let run = run(job("sites", "mixed", formula, &["model.family=poisson"]));
    assert!(ends_well(&run) > 1000.0);
    agrees_with_numpyro(&run, "sites");
}

/// More coefficients than a dense metric had by default.
#[test]
#[ignore = "long: run by .ci/long"]
fn a_factor_of_100_levels() {
    assert!(ends_well(&run(job("levels", "linear", "y ~ g", &[]))) > 1000.0);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn faithful() {
    let formula = "~ eruptions + waiting";
    ends_well(&run(job("faithful", "dp-mixture", formula, &[])));
}

#[test]
fn galaxies() {
    ends_well(&run(job("galaxies", "dp-mixture", "~ speed", &[])));
}

#[test]
fn iris() {
    let formula = "~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width";
    ends_well(&run(job("iris", "dp-mixture", formula, &[])));
}
