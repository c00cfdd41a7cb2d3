//! Default settings on the data sets of textbooks end well, whatever their models ask of a sampler.

use std::path::Path;
use std::sync::Arc;

use super::run::Run;
use super::{Job, PrepareControl, Recipe, Report};
use crate::diagnostics::Verdict;

/// A job with default settings but for `changes`.
fn job(set: &str, template: &str, formula: &str, changes: &[&str]) -> Job {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/textbook");
    let recipe = Recipe::new(&format!("{set}.csv"), template, formula);
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let recipe = recipe.changed(&changes).unwrap();
    Job::prepare(&recipe, &folder, None, &PrepareControl::default()).unwrap()
}

fn report_of(job: Job) -> Arc<Report> {
    let mut run = Run::start(Arc::new(job), None, Arc::new(|| {})).unwrap();
    run.join();
    run.report()
}

/// Runs it; the least effective draws of coefficients and scales.
#[track_caller]
fn ends_well(job: Job) -> f64 {
    let report = report_of(job);
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

/// Nested groups of two rows, one of whose standard deviations may be zero.
#[test]
fn pastes() {
    let job = job("pastes", "mixed", "strength ~ 1 + (1 | batch/cask)", &[]);
    assert_eq!(job.sampler.spec.id, "gibbs-mixed");
    assert!(ends_well(job) > 1000.0);
}

/// A standard deviation whose estimate is zero.
#[test]
fn dyestuff2() {
    assert!(ends_well(job("dyestuff2", "mixed", "Yield ~ 1 + (1 | Batch)", &[])) > 1000.0);
}

/// A correlation of −0.96.
#[test]
fn chickweight() {
    let formula = "weight ~ Time * Diet + (Time | Chick)";
    let job = job(
        "chickweight",
        "mixed",
        formula,
        &["model.categorical=[\"Diet\"]"],
    );
    assert!(ends_well(job) > 400.0);
}

/// Counts with an effect for each row, in broods, in places.
#[test]
#[ignore = "takes a minute without optimisation"]
fn grouseticks() {
    let formula = "TICKS ~ YEAR + cHEIGHT + (1 | BROOD) + (1 | INDEX) + (1 | LOCATION)";
    let changes = ["model.family=poisson", "model.categorical=[\"YEAR\"]"];
    ends_well(job("grouseticks", "mixed", formula, &changes));
}

/// Two of three groupings have few groups.
#[test]
#[ignore = "takes a minute without optimisation"]
fn arabidopsis() {
    let formula =
        "total.fruits ~ nutrient + amd + rack + status + (1 | reg) + (1 | popu) + (1 | gen)";
    ends_well(job(
        "arabidopsis",
        "mixed",
        formula,
        &["model.family=poisson"],
    ));
}

/// 200 groups whose effects the data know well.
#[test]
#[ignore = "takes a minute without optimisation"]
fn sites() {
    let formula = "obs ~ 1 + (1 | site)";
    let job = job("sites", "mixed", formula, &["model.family=poisson"]);
    assert!(ends_well(job) > 1000.0);
}

/// More coefficients than a dense metric had by default.
#[test]
#[ignore = "takes a minute without optimisation"]
fn a_factor_of_100_levels() {
    assert!(ends_well(job("levels", "linear", "y ~ g", &[])) > 1000.0);
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn faithful() {
    ends_well(job("faithful", "dp-mixture", "~ eruptions + waiting", &[]));
}

#[test]
fn galaxies() {
    ends_well(job("galaxies", "dp-mixture", "~ speed", &[]));
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn iris() {
    let formula = "~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width";
    ends_well(job("iris", "dp-mixture", formula, &[]));
}
