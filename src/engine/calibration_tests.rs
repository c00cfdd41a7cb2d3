//! Calibration of every template that can be simulated, and of posteriors that are wrong on purpose.

use super::*;
use crate::base::settings::Value;
use crate::models::REGISTRY;

const EXTENT: Extent = Extent {
    simulations: 60,
    draws: 19,
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
    calibrate(
        job,
        &Settings::default(),
        EXTENT,
        &CalibrationControl::default(),
    )
}

/// Templates that can be calibrated; others must say why not.
const CALIBRATED: &[&str] = &[
    "logistic",
    "poisson",
    "negative-binomial",
    "categorical",
    "normal-mean",
    "normal-gamma",
    "warped-gaussian",
    "gaussian-mixture",
];

#[test]
fn every_template_is_calibrated_or_says_why_not() {
    for entry in REGISTRY {
        let id = entry.spec.id;
        let mut recipe = recipe(id);
        // With the default priors of a logit or logarithm nearly all simulated responses are certain or huge.
        let classes = entry.spec.priors.classes.iter().map(|(class, _)| *class);
        for class in classes.filter(|class| ["b", "intercept"].contains(class)) {
            let prior = "normal(0, 1)".to_owned();
            recipe.priors.insert(class.to_owned(), prior);
        }
        // Clusters that are apart give two peaks, which no chain visits evenly.
        if id == "gaussian-mixture" {
            recipe.model.settings.set("variance", Value::Real(30.0));
        }
        let found = match job(&recipe).and_then(|job| run(&job)) {
            Ok(found) => found,
            Err(error) => {
                assert!(!CALIBRATED.contains(&id), "{id}: {error}");
                continue;
            }
        };
        assert!(found.failures.is_empty(), "{id}: {:?}", found.failures);
        assert_eq!(found.ranks[0].len(), EXTENT.simulations, "{id}");
        // Seeds are fixed, so that this holds always or never; chance alone fails one quantity in a thousand.
        for (name, test) in found.variables.iter().zip(&found.tests) {
            assert!(test.p_ecdf > 0.001, "{id}, {name}: {test:?}");
        }
    }
    let error = job(&recipe("multivariate-t")).and_then(|job| run(&job));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("because its prior is flat")
    );
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
