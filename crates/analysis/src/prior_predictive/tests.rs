//! Expected outcomes against closed forms, and words for priors that say too much.

use statrs::distribution::{ContinuousCDF as _, Normal};

use super::*;
use crate::Job;
use crate::calibration::built_in_job;
use crate::job::model_frame;
use ergodic_base::{ChainRng, Control};
use ergodic_core::design::Values;
use ergodic_core::models::DefaultPriors;
use ergodic_data::Table;
use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson, StandardNormal};

fn job(template: &str, changes: &[&str]) -> Job {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let recipe = Recipe::new("built-in", template, "")
        .changed(&changes)
        .unwrap();
    built_in_job(&recipe, &Control::default()).unwrap()
}

fn expected(job: &Job) -> Result<PriorPredictive, JobError> {
    PreviewRows::new(&job.design, job.model.observation()).expect(&job.recipe, &Control::default())
}

fn first(template: &str, changes: &[&str]) -> Expected {
    expected(&job(template, changes))
        .unwrap()
        .outcomes
        .remove(0)
}

/// With slopes at 0 all rows of a draw have one chance, whose logit is the intercept.
#[test]
fn chances_of_a_logistic_intercept_are_those_of_its_prior() {
    for (sd, plausibility) in [
        (1.5, Plausibility::Plausible),
        (10.0, Plausibility::VeryWide),
    ] {
        let found = first(
            "logistic",
            &[
                "priors.b=normal(0, 0.0001)",
                &format!("priors.intercept=normal(0, {sd})"),
            ],
        );
        let Outcomes::Success {
            success,
            chances,
            shares,
            trials: false,
        } = &found.outcomes
        else {
            panic!("{found:?}");
        };
        let certain = found.absurd.unwrap();
        let normal = Normal::new(0.0, sd).unwrap();
        let below = |p: f64| normal.cdf((p / (1.0 - p)).ln());
        let exact = 2.0 * below(CERTAIN);
        let error = |p: f64| (p * (1.0 - p) / DRAWS as f64).sqrt();
        assert!(
            (certain - exact).abs() < 4.0 * error(exact),
            "{certain} {exact}"
        );
        for (k, share) in chances.prior.iter().enumerate() {
            let (low, high) = (k as f64 / 20.0, (k + 1) as f64 / 20.0);
            let exact = below(high) - below(low);
            assert!(
                (share - exact).abs() < 4.5 * error(exact),
                "cell {k}: {share} {exact}"
            );
        }
        assert!((shares.prior.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!((success.name.as_str(), success.data), ("yes", 0.5));
        assert!(success.interval[0] < 0.5 && success.interval[2] > 0.5);
        assert_eq!(found.plausibility, plausibility);
        assert!(
            found.sentence.contains("`y` = yes, and the data have 50 %"),
            "{}",
            found.sentence
        );
    }
}

/// y = sd(y) (b + sigma e) + mean(y) with b ~ N(0, 10²) and a known sigma.
#[test]
fn outcomes_of_a_normal_mean_are_normal() {
    let job = job(
        "linear",
        &[
            "priors.b=normal(0, 0.0001)",
            "priors.intercept=normal(0, 10)",
            "priors.sigma=gamma(1e6, 1e6)",
        ],
    );
    let found = &expected(&job).unwrap().outcomes[0];
    let Outcomes::Numbers {
        quantiles,
        data,
        outside,
        counts: false,
        cells,
    } = &found.outcomes
    else {
        panic!("{found:?}");
    };
    let [mean, sd] = job.design.response_units();
    // Rows of a draw hardly differ, so that draws alone count.
    let wide = 101.0_f64.sqrt() * sd;
    let normal = Normal::new(mean, wide).unwrap();
    for (p, found) in [0.05, 0.25, 0.5, 0.75, 0.95].into_iter().zip(quantiles) {
        let exact = normal.inverse_cdf(p);
        let slope = (-0.5 * ((exact - mean) / wide).powi(2)).exp() / (2.5066 * wide);
        let error = (p * (1.0 - p) / DRAWS as f64).sqrt() / slope;
        assert!(
            (found - exact).abs() < 4.0 * error,
            "{p}: {found} {exact} {error}"
        );
    }
    let exact = 1.0 - (normal.cdf(data[1]) - normal.cdf(data[0]));
    assert!((outside - exact).abs() < 0.1, "{outside} {exact}");
    assert!((cells.data.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(cells.prior.iter().sum::<f64>() > 0.9);
    let absurd = found.absurd.unwrap();
    let exact = 2.0 * normal.cdf(mean - FAR * sd);
    assert!((absurd - exact).abs() < 0.1, "{absurd} {exact}");
    assert_eq!(found.plausibility, Plausibility::VeryWide);
    assert!(
        found
            .sentence
            .contains("4.6 standard deviations from the mean of `x1`"),
        "{}",
        found.sentence
    );
}

#[test]
fn priors_that_miss_the_data_or_say_everything_are_found_out() {
    let off = first("linear", &["priors.intercept=normal(1000, 1)"]);
    assert_eq!(off.plausibility, Plausibility::UnlikeTheData);
    let vague = first("linear", &["priors.intercept=normal(0, 1000)"]);
    assert_eq!(vague.plausibility, Plausibility::VeryWide);
    // Counts beyond what a number holds are counted, not lost.
    let huge = first("poisson", &["priors.intercept=normal(0, 100)"]);
    assert_eq!(huge.plausibility, Plausibility::VeryWide);
    let Outcomes::Numbers {
        quantiles, cells, ..
    } = &huge.outcomes
    else {
        panic!("{huge:?}");
    };
    assert!(quantiles[4] > 1e15, "{quantiles:?}");
    assert!(cells.logarithmic && cells.to.is_finite());
    let calm = first(
        "poisson",
        &["priors.intercept=normal(0, 1)", "priors.b=normal(0, 0.3)"],
    );
    assert_eq!(calm.plausibility, Plausibility::Plausible);
    let Outcomes::Numbers { cells, .. } = &calm.outcomes else {
        panic!("{calm:?}");
    };
    assert!(!cells.logarithmic);
    assert!((cells.from + 0.5).abs() < 1e-12, "{cells:?}");
    // The data are not squeezed into a cell where priors expect somewhat more.
    let Outcomes::Numbers { cells, .. } = &first("poisson", &[]).outcomes else {
        panic!("no numbers");
    };
    let with_data = cells.data.iter().filter(|share| **share > 0.0).count();
    assert!(cells.logarithmic && with_data > 3, "{cells:?}");
}

#[test]
fn every_template_shows_its_prior_or_says_why_not() {
    for entry in ergodic_core::models::REGISTRY {
        let id = entry.spec.id;
        match expected(&job(id, &[])) {
            Ok(found) => {
                assert!(found.draws >= LEAST_DRAWS && found.rows == 40, "{id}");
                assert!(!found.outcomes.is_empty(), "{id}");
                let json = serde_json::to_value(&found).unwrap();
                assert!(json["outcomes"][0]["kind"].is_string(), "{id}: {json}");
            }
            Err(why) => {
                assert_eq!(id, "multivariate-t", "{why}");
            }
        }
    }
    let flat = expected(&job("logistic", &["priors.b=flat"])).unwrap_err();
    assert!(
        flat.to_string()
            .contains("a flat prior cannot be drawn from"),
        "{flat}"
    );
    let job = job("linear", &[]);
    let control = Control::default();
    control.cancel();
    let cancelled =
        PreviewRows::new(&job.design, job.model.observation()).expect(&job.recipe, &control);
    assert!(matches!(cancelled, Err(JobError::Cancelled)));
}

/// Priors are in units of all rows, not of those that are looked at.
#[test]
fn the_first_rows_are_standardised_as_all_are() {
    let job = job("linear", &[]);
    let head = job.design.head(7);
    assert_eq!(head.num_obs(), 7);
    assert_eq!(head.response_units(), job.design.response_units());
    let entry = ergodic_core::models::find("linear").unwrap();
    let options = model_options(&job.recipe).unwrap();
    let model = (entry.build)(Arc::new(head), &options).unwrap();
    assert_eq!(model.params(), job.model.params());
    let long: Vec<f64> = (0..25_000).map(|i| f64::from(i * 7 % 25_000)).collect();
    let short = kept(&long);
    assert_eq!(
        (short.len(), short[0], short[KEPT - 1]),
        (KEPT, 0.0, 24_999.0)
    );
}

/// 400 rows of predictors of odd units and the responses of all families, of which predictors say little.
fn table(predictors: usize) -> Table {
    let rows = 400;
    let mut rng = stream(5, 0, Purpose::Data);
    let mut columns = vec![Vec::new(); predictors];
    let (mut yes, mut number, mut count, mut done) = (vec![], vec![], vec![], vec![]);
    let (mut trials, mut exposure, mut share, mut group) = (vec![], vec![], vec![], vec![]);
    let noise = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
    for i in 0..rows {
        let x: Vec<f64> = (0..predictors).map(|_| noise(&mut rng)).collect();
        for (j, x) in x.iter().enumerate() {
            columns[j].push(1e3 * j as f64 + 10_f64.powi(j as i32 % 5 - 2) * x);
        }
        let z = 0.7 * x[0];
        // A rare outcome, which averages over predictors would not expect.
        let chance = |base: f64| 1.0 / (1.0 + f64::exp(-(base + z)));
        yes.push(f64::from(u8::from(rng.random::<f64>() < chance(-4.0))));
        number.push(240.0 + 12.0 * (z + noise(&mut rng)));
        share.push(chance(0.5));
        let years = 10_f64.powf(3.0 + 2.0 * rng.random::<f64>());
        exposure.push(years);
        let mean = 1e-3 * years * (z + 0.3 * noise(&mut rng)).exp();
        count.push(Poisson::new(mean).unwrap().sample(&mut rng));
        trials.push(f64::from(3 + i % 5));
        let successes = (0..3 + i % 5).filter(|_| rng.random::<f64>() < chance(1.0));
        done.push(successes.count() as f64);
        group.push(Some(format!("g{}", i % 12)));
    }
    let mut all: Vec<(String, Values)> = columns
        .into_iter()
        .enumerate()
        .map(|(j, column)| (format!("x{j}"), Values::Numbers(column)))
        .collect();
    for (name, values) in [
        ("yes", yes),
        ("number", number),
        ("count", count),
        ("done", done),
        ("trials", trials),
        ("exposure", exposure),
        ("share", share),
    ] {
        all.push((name.to_owned(), Values::Numbers(values)));
    }
    all.push(("g".to_owned(), Values::Texts(group)));
    Table::from_columns("t", all).unwrap()
}

/// Templates with their families, the response, and what stands behind the predictors.
const FAMILIES: [(&str, &str, &str, &str); 20] = [
    ("logistic", "", "yes", ""),
    ("logistic", "", "done | trials(trials)", ""),
    ("linear", "", "number", ""),
    ("student", "", "number", ""),
    ("poisson", "", "count", " + offset(log(exposure))"),
    ("negative-binomial", "", "count", " + offset(log(exposure))"),
    ("mixed", "gaussian", "number", " + (1 | g)"),
    ("mixed", "bernoulli", "yes", " + (1 | g)"),
    ("mixed", "binomial", "done | trials(trials)", " + (1 | g)"),
    (
        "mixed",
        "poisson",
        "count",
        " + offset(log(exposure)) + (1 | g)",
    ),
    (
        "mixed",
        "negative_binomial",
        "count",
        " + offset(log(exposure)) + (1 | g)",
    ),
    ("mixed", "gamma", "number", " + (1 | g)"),
    ("mixed", "lognormal", "number", " + (1 | g)"),
    ("mixed", "weibull", "number", " + (1 | g)"),
    ("mixed", "beta", "share", " + (1 | g)"),
    ("mixed", "student", "number", " + (1 | g)"),
    ("mixed", "gaussian_se", "number | se(share)", " + (1 | g)"),
    (
        "mixed",
        "zero_inflated_poisson",
        "count",
        " + offset(log(exposure)) + (1 | g)",
    ),
    (
        "mixed",
        "zero_inflated_negative_binomial",
        "count",
        " + offset(log(exposure)) + (1 | g)",
    ),
    ("hierarchical", "", "yes", ""),
];

fn judged(
    table: &Table,
    (template, family, response, rest): (&str, &str, &str, &str),
    predictors: usize,
    changes: &[String],
) -> Expected {
    let names: Vec<String> = (0..predictors).map(|j| format!("x{j}")).collect();
    let names = names.join(" + ");
    let rest = match template {
        "hierarchical" => format!(" + (1 + {names} | g)"),
        _ => rest.to_owned(),
    };
    let mut changes = changes.to_vec();
    if !family.is_empty() {
        changes.push(format!("model.family={family}"));
    }
    let recipe = Recipe::new("t", template, &format!("{response} ~ {names}{rest}"))
        .changed(&changes)
        .unwrap();
    let (design, _) = Design::build(table, &model_frame(&recipe, table).unwrap()).unwrap();
    let found = PreviewRows::new(&design, None).expect(&recipe, &Control::default());
    found.unwrap().outcomes.remove(0)
}

/// The defaults of the program pass its own check; those of the papers do not, under any link.
#[test]
fn default_priors_are_plausible_for_one_to_fifty_predictors_in_every_family() {
    for predictors in [1, 5, 20, 50] {
        let table = table(predictors);
        for family in FAMILIES {
            // Every coefficient varies by group there.
            if family.0 == "hierarchical" && predictors > 5 {
                continue;
            }
            for defaults in [DefaultPriors::WeaklyInformative, DefaultPriors::Cautious] {
                let changes = [format!("priors.default={}", defaults.id())];
                let found = judged(&table, family, predictors, &changes);
                assert_eq!(
                    found.plausibility,
                    Plausibility::Plausible,
                    "{family:?} {predictors} {defaults:?}: {}",
                    found.sentence
                );
                assert_eq!(found.together.is_some(), predictors > 1);
                // Others than the defaults once: each costs as much.
                if predictors != 5 {
                    break;
                }
            }
            if predictors != 5 {
                continue;
            }
            let found = judged(
                &table,
                family,
                predictors,
                &["priors.default=papers".to_owned()],
            );
            assert_ne!(
                found.plausibility,
                Plausibility::Plausible,
                "{family:?} {predictors}: {}",
                found.sentence
            );
        }
    }
}

/// A prior expects the same share to be absurd under every link, however many predictors there are: the linear predictor
/// of a row with average predictors but one is normal.
#[test]
fn a_prior_is_judged_alike_under_every_link() {
    let normal = Normal::new(0.0, 2.5 * 2.0_f64.sqrt()).unwrap();
    let exact = 2.0 * normal.cdf(-FAR);
    for predictors in [1, 5, 20, 50] {
        let table = table(predictors);
        for family in [FAMILIES[0], FAMILIES[2], FAMILIES[4]] {
            let changes: &[String] = match family.0 {
                "linear" => &["priors.sigma=gamma(100, 10000)".to_owned()],
                _ => &[],
            };
            let found = judged(&table, family, predictors, changes);
            let absurd = found.absurd.unwrap();
            // Rows of a draw share the intercept, and some the coefficient.
            let error = (exact * (1.0 - exact) / DRAWS as f64).sqrt();
            assert!(
                (absurd - exact).abs() < 4.0 * error + 0.02,
                "{family:?} {predictors}: {absurd} {exact}"
            );
            if let Some(together) = found.together {
                let wide = 2.5 * (1.0 + predictors as f64).sqrt();
                let exact = 2.0 * Normal::new(0.0, wide).unwrap().cdf(-FAR);
                assert!(
                    (together.absurd - exact).abs() < 4.0 * error + 0.02,
                    "{family:?} {predictors}: {} {exact}",
                    together.absurd
                );
                assert_eq!(together.sentence.is_empty(), together.absurd < MOST);
            }
        }
    }
}

#[test]
fn rows_are_average_in_all_predictors_but_one_in_turn() {
    let table = table(5);
    let recipe = Recipe::new("t", "mixed", "number ~ x0 + x1 + x2 + (1 + x1 | g)");
    let (design, _) = Design::build(&table, &model_frame(&recipe, &table).unwrap()).unwrap();
    let rows = PreviewRows::new(&design, None);
    let found = rows.one_by_one.unwrap();
    for i in 0..found.num_obs() {
        for j in 1..4 {
            let kept = j == 1 + i % 3;
            let value = found.x[[i, j]];
            let own = design.x[[i, j]];
            let average = design.x.column(j).mean().unwrap();
            assert!((value - if kept { own } else { average }).abs() < 1e-12);
            if j == 2 {
                let z = &design.group_terms[0].z;
                let average = z.column(1).mean().unwrap();
                let expected = if kept { z[[i, 1]] } else { average };
                assert!((found.group_terms[0].z[[i, 1]] / expected - 1.0).abs() < 1e-12);
            }
        }
        assert_eq!(
            (found.x[[i, 0]], found.group_terms[0].z[[i, 0]]),
            (1.0, 1.0)
        );
    }
}

/// The sentence says what was counted: distances mean nothing where responses are judged by proportions or as chances.
#[test]
fn sentences_say_by_what_outcomes_are_absurd() {
    let table = table(1);
    for (family, response, words) in [
        ("gaussian", "number", "standard deviations from the mean"),
        ("student", "number", "standard deviations from the mean"),
        ("gamma", "number", "times the mean of the data"),
        (
            "zero_inflated_poisson",
            "count",
            "times the mean of the data",
        ),
        ("beta", "share", "are below 0.01 or above 0.99"),
    ] {
        let found = judged(&table, ("mixed", family, response, " + (1 | g)"), 1, &[]);
        assert!(found.sentence.contains(words), "{}", found.sentence);
    }
}
