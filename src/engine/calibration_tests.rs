//! Calibration of every template that can be simulated, and of posteriors that are wrong on purpose.

use super::*;
use crate::base::settings::Value;
use crate::models::REGISTRY;

const EXTENT: Extent = Extent {
    simulations: 60,
    draws: 19,
};

const FEWER: Extent = Extent {
    simulations: 40,
    draws: 9,
};

fn recipe(template: &str) -> Recipe {
    let mut recipe = Recipe::new("built-in", template, "");
    recipe.run.seed = 11;
    recipe.run.warmup = Some(200);
    recipe
}

fn job(recipe: &Recipe) -> Result<Job, JobError> {
    built_in_job(recipe, &PrepareControl::default())
}

fn run(job: &Job) -> Result<Calibration, JobError> {
    // Effects of groups make chains slow.
    let extent = match job.design.groups.len() {
        0 => EXTENT,
        _ => FEWER,
    };
    calibrate(
        job,
        &Settings::default(),
        extent,
        &CalibrationControl::default(),
    )
}

/// Calibrates a template on the built-in data, with `priors` under which responses are not all certain, huge or 0.
fn check(template: &str, priors: &[(&str, &str)], settings: &[(&str, Value)]) {
    let mut recipe = recipe(template);
    for (key, prior) in priors {
        recipe.priors.insert((*key).to_owned(), (*prior).to_owned());
    }
    for (key, value) in settings {
        recipe.model.settings.set(key, value.clone());
    }
    let job = job(&recipe).unwrap();
    let found = run(&job).unwrap();
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    assert!(found.ranks[0].len() >= FEWER.simulations);
    // Seeds are fixed, so that this holds always or never; chance alone fails one quantity in a thousand.
    for (name, test) in found.variables.iter().zip(&found.tests) {
        assert!(test.p_ecdf > 0.001, "{name}: {test:?}");
    }
}

const MODERATE: [(&str, &str); 2] = [("b", "normal(0, 1)"), ("intercept", "normal(0, 1)")];

#[test]
fn logistic_is_calibrated() {
    check("logistic", &MODERATE, &[]);
}

#[test]
fn poisson_is_calibrated() {
    check("poisson", &MODERATE, &[]);
}

#[test]
fn negative_binomial_is_calibrated() {
    check("negative-binomial", &MODERATE, &[]);
}

/// Defaults, whose units are those of the response that the simulations start from.
#[test]
fn linear_is_calibrated() {
    check("linear", &[], &[]);
}

#[test]
fn student_is_calibrated() {
    check("student", &[], &[]);
}

#[test]
fn hierarchical_is_calibrated() {
    let priors = [("mu", "normal(0, Sigma/1)"), ("Sigma", "inv_wishart(5, 2)")];
    check("hierarchical", &priors, &[]);
}

/// Correlated effects of groups, sampled in the way that mixes where they are as large as that.
fn check_mixed(parametrisation: &str, sd: &str, sigma: &str) {
    let priors = [
        ("b", "normal(0, 1)"),
        ("sd", sd),
        ("sigma", sigma),
        ("cor", "lkj(2)"),
    ];
    let word = Value::Text(parametrisation.to_owned());
    check("mixed", &priors, &[("parametrisation", word)]);
}

#[test]
fn mixed_is_calibrated() {
    check_mixed("non-centred", "lognormal(-0.7, 0.4)", "lognormal(0, 0.3)");
}

#[test]
fn mixed_with_centred_effects_is_calibrated() {
    check_mixed("centred", "lognormal(0.5, 0.3)", "lognormal(-2, 0.3)");
}

#[test]
fn mixed_counts_are_calibrated() {
    let family = ("family", Value::Text("negative_binomial".to_owned()));
    let priors = [
        MODERATE[0],
        MODERATE[1],
        ("sd", "lognormal(-0.7, 0.4)"),
        ("shape", "lognormal(1, 0.5)"),
    ];
    check("mixed", &priors, &[family]);
}

/// Partitions of rows of two numbers, in units of the data.
#[test]
fn mixtures_are_calibrated() {
    check("dp-mixture", &[], &[]);
    let mut refused = recipe("dp-mixture");
    refused.model.settings.set("held_out", Value::Real(0.3));
    let error = job(&refused).and_then(|job| run(&job)).unwrap_err();
    assert!(
        error.to_string().contains("none of them held out"),
        "{error}"
    );
}

#[test]
fn categorical_is_calibrated() {
    check("categorical", &[], &[]);
}

#[test]
fn examples_are_calibrated() {
    check("normal-mean", &[], &[]);
    check("normal-gamma", &[], &[]);
    check("warped-gaussian", &[], &[]);
    // Clusters that are apart give two peaks, which no chain visits evenly.
    let wide = ("variance", Value::Real(30.0));
    check("gaussian-mixture", &[], &[wide]);
}

/// Nobody adds a template without a test above or a reason here.
#[test]
fn templates_that_cannot_be_calibrated_say_why() {
    let tested = include_str!("calibration_tests.rs");
    for entry in REGISTRY {
        let id = entry.spec.id;
        let refusal = match id {
            "multivariate-t" => "because its prior is flat",
            _ => {
                assert!(tested.contains(&format!("check(\"{id}\"")), "{id}");
                continue;
            }
        };
        let error = job(&recipe(id)).and_then(|job| run(&job)).unwrap_err();
        assert!(error.to_string().contains(refusal), "{id}: {error}");
    }
}

/// Without this the default priors would follow every simulated response, and none would be the one drawn from.
#[test]
fn units_of_the_response_stay_those_of_the_data() {
    for standardize in [true, false] {
        let mut recipe = recipe("linear");
        recipe.model.standardize = standardize;
        let job = job(&recipe).unwrap();
        assert!(units(&job).unwrap().contains("`x1`"));
        let mut rng = stream(5, 0, Purpose::Data);
        let (_truth, model) = simulated_model(&job, &mut rng).unwrap();
        assert_eq!(model.params(), job.model.params());
        let found = run(&job).unwrap();
        assert!(found.p_value().unwrap() > 0.01, "{found:?}");
    }
}

/// Data simulated with one prior or variance and fitted with another: the ranks must say so.
#[test]
fn a_wrong_model_is_found_out() {
    for (key, value) in [
        ("prior_variance", 0.05),
        ("variance", 3.0),
        ("prior_mean", 100.0),
    ] {
        let mut right = job(&recipe("normal-mean")).unwrap();
        // The data still come from the model that the job was prepared with.
        right.recipe.model.settings.set(key, Value::Real(value));
        let found = run(&right).unwrap();
        assert!(found.p_value().unwrap() < 0.01, "{key}: {found:?}");
        assert!(found.sentence().starts_with("Not calibrated"));
    }
}

/// Langevin steps without correction are biased when they are large; the ranks see it, and with Metropolis' correction
/// there is nothing to see.
#[test]
fn a_biased_sampler_is_found_out() {
    for (sampler, fails) in [("ula", true), ("mala", false)] {
        let mut recipe = recipe("normal-mean");
        sampler.clone_into(&mut recipe.sampler.id);
        let job = job(&recipe).unwrap();
        let mut given = Settings::default();
        given.set("step_size", Value::Real(1.2));
        let extent = Extent {
            simulations: 150,
            draws: 39,
        };
        let found = calibrate(&job, &given, extent, &CalibrationControl::default()).unwrap();
        assert_eq!(
            found.p_value().unwrap() < LEVEL,
            fails,
            "{sampler}: {found:?}"
        );
    }
}

#[test]
fn ties_are_broken_evenly_and_cancelling_keeps_what_is_done() {
    let mut rng = stream(3, 0, Purpose::Data);
    let mut counts = [0; 3];
    for _ in 0..3000 {
        counts[rank(1.0, [0.0, 1.0, 1.0].iter(), &mut rng) as usize - 1] += 1;
    }
    assert!(
        counts.iter().all(|count| (900..1100).contains(count)),
        "{counts:?}"
    );
    let control = CalibrationControl::default();
    control.cancel.store(true, Ordering::Relaxed);
    let job = job(&recipe("normal-mean")).unwrap();
    let found = calibrate(&job, &Settings::default(), EXTENT, &control).unwrap();
    assert_eq!(found.p_value(), None);
    assert!(found.sentence().starts_with("No simulation worked"));
}
