//! Expected outcomes against closed forms, and words for priors that say too much.

use statrs::distribution::{ContinuousCDF as _, Normal};

use super::*;
use crate::engine::calibration::built_in_job;
use crate::engine::{Job, PrepareControl};

fn job(template: &str, changes: &[&str]) -> Job {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let recipe = Recipe::new("built-in", template, "")
        .changed(&changes)
        .unwrap();
    built_in_job(&recipe, &PrepareControl::default()).unwrap()
}

fn expected(job: &Job) -> Result<PriorPredictive, JobError> {
    Outlook::new(&job.design).expect(&job.recipe, &AtomicBool::new(false))
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
            certain,
            chances: Some(chances),
            shares,
        } = &found.outcomes
        else {
            panic!("{found:?}");
        };
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
        &["priors.b=normal(0, 0.0001)", "priors.sigma=gamma(1e6, 1e6)"],
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
    assert_eq!(found.plausibility, Plausibility::Plausible);
    assert!(
        found.sentence.contains("lies outside of the data"),
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
}

#[test]
fn every_template_shows_its_prior_or_says_why_not() {
    for entry in crate::models::REGISTRY {
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
    let cancelled = Outlook::new(&job.design).expect(&job.recipe, &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(JobError::Cancelled)));
}

/// Priors are in units of all rows, not of those that are looked at.
#[test]
fn the_first_rows_are_standardised_as_all_are() {
    let job = job("linear", &[]);
    let head = job.design.head(7);
    assert_eq!(head.num_obs(), 7);
    assert_eq!(head.response_units(), job.design.response_units());
    let entry = crate::models::find("linear").unwrap();
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
