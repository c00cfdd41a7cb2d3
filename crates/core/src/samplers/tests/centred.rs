//! Samplers with control variates where no mode is known: gradients are centred where a chain starts.

use std::sync::Arc;

use crate::allocations::count_during;
use crate::estimators::ModeError;
use crate::models::Model;
use crate::oracle::Oracle;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::conformance::Checkpoint;
use crate::samplers::langevin::sgld::SgldCv;
use crate::samplers::momentum::sghmc::SghmcCv;
use crate::samplers::momentum::sgnht::SgnhtCv;
use crate::samplers::momentum::{Dynamics, Integrator, stationary};
use crate::samplers::testing::{Run, assert_moments_known_to, logistic_with_centre};
use crate::samplers::{REGISTRY, Target, find};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

fn centred() -> impl Iterator<Item = &'static str> {
    let entries = REGISTRY.iter().map(|entry| &entry.spec);
    entries.filter_map(|spec| spec.centres_at_start.then_some(spec.id))
}

/// Three posterior standard deviations from the mean, where gradients are then centred.
fn far(model: &GaussianRows) -> Vec<f64> {
    let moments = (model.posterior_mean().into_iter()).zip(model.posterior_variance());
    moments
        .map(|(mean, variance)| mean + 3.0 * variance.sqrt())
        .collect()
}

/// Rows of a Gaussian change their gradients alike, so that centred ones have no noise wherever the centre is: the variance without a mass
/// matrix is that of the closed form without gradient noise, where plain gradients make a fifth more of it.
#[test]
fn sghmc_has_its_closed_form_variance_around_a_centre_of_its_own() {
    let (n, batch, step, friction) = (500, 100, 0.01, 30.0);
    let model = Arc::new(GaussianRows::balanced(n, 2, 51));
    let given = settings(&[
        ("step_size", Value::Real(step)),
        ("friction", Value::Real(friction)),
        ("integrator", Value::Text("euler".to_owned())),
        ("batch", Value::Int(batch)),
    ]);
    let mut chain = Chain::<SghmcCv>::start(model.clone(), None, &given, &far(&model), 7);
    assert_eq!(chain.oracle.datum_grads, n as u64, "a pass for the centre");
    let draws = chain.draws(2000, 200_000, 1);
    assert!(chain.info[1].is_nan(), "{:?}", chain.info);
    for j in 0..2 {
        // In units of the standard deviation s times are longer by 1/s, and noise of gradients is s times itself.
        let s = model.posterior_variance()[j].sqrt();
        let dynamics = Dynamics {
            integrator: Integrator::Euler,
            step: step / s,
            thermostat: None,
            temperature: 1.0,
        };
        let variance = |noise| stationary(&dynamics, friction * s, friction * s, noise)[0];
        let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j] * s * s;
        assert!(
            variance(noise) > 1.2 * variance(0.0),
            "noise would not be noticed"
        );
        let series = std::slice::from_ref(&draws[j]);
        let mean = model.posterior_mean()[j];
        assert_moments_known_to(0.2, "sghmc-cv", series, mean, variance(0.0) * s * s);
    }
}

/// Without gradient noise friction stays what is injected, and with short steps the posterior comes out.
#[test]
fn sgnht_has_the_posterior_around_a_centre_of_its_own() {
    let model = Arc::new(GaussianRows::balanced(500, 2, 52));
    let given = settings(&[
        ("step_size", Value::Real(0.002)),
        ("diffusion", Value::Real(30.0)),
        ("batch", Value::Int(10)),
    ]);
    let mut chain = Chain::<SgnhtCv>::start(model.clone(), None, &given, &far(&model), 8);
    let draws = chain.draws(20_000, 200_000, 1);
    for j in 0..2 {
        let (mean, variance) = (model.posterior_mean()[j], model.posterior_variance()[j]);
        let series = std::slice::from_ref(&draws[j]);
        assert_moments_known_to(0.2, "sgnht-cv", series, mean, variance);
    }
}

/// The autoregression of Langevin steps with exact gradients.
#[test]
fn sgld_is_the_autoregression_of_exact_gradients_around_a_centre_of_its_own() {
    let h = 2e-4;
    let model = Arc::new(GaussianRows::simulated(1000, 2, 39).with_prior_precision(300.0));
    let given = settings(&[("step_size", Value::Real(h)), ("batch", Value::Int(10))]);
    let mut chain = Chain::<SgldCv>::start(model.clone(), None, &given, &far(&model), 7);
    let draws = chain.draws(1000, 100_000, 1);
    for j in 0..2 {
        let phi = 1.0 - h / model.posterior_variance()[j];
        let variance = 2.0 * h / (1.0 - phi * phi);
        let what = format!("sgld-cv {j}");
        let mean = model.posterior_mean()[j];
        Moments::of(&draws[j]).assert_autoregressive(mean, variance, phi, &what);
    }
}

/// The centre is part of where a chain stands: a chain that began elsewhere goes on around it, bit for bit, and then steps without allocating.
#[test]
fn a_chain_that_goes_on_keeps_its_own_centre() {
    let (model, _mode) = logistic_with_centre();
    let oracle = || Oracle::new(Arc::clone(&model), None, false, Arc::default());
    for id in centred() {
        let run = Run::new(id)
            .set("step_size", Value::Real(0.02))
            .set("batch", Value::Int(5));
        let mut whole = run.start(oracle());
        for _ in 0..20 {
            whole.draw().unwrap();
        }
        let checkpoint = Checkpoint::of(&mut whole);
        let mut other = run.clone().seed(99).start(oracle());
        for _ in 0..3 {
            other.draw().unwrap();
        }
        checkpoint.restore(&mut other);
        for _ in 0..20 {
            whole.draw().unwrap();
            other.draw().unwrap();
            assert_eq!(other.bits(), whole.bits(), "{id}");
        }
        let mut outcome = Ok(());
        let count = count_during(|| outcome = other.draw());
        outcome.unwrap();
        assert_eq!(count, 0, "{id}");
    }
}

/// Without a mode a step of the user's own is asked for, and nothing that needs a curvature is given.
#[test]
fn what_needs_a_curvature_is_refused_in_one_sentence_without_one() {
    let model: Arc<dyn Model> = Arc::new(GaussianRows::simulated(200, 2, 3));
    let unknown = Target::new(&model, None);
    let error = ModeError::TooMany(2000);
    assert_eq!(centred().count(), 3);
    for id in centred() {
        let entry = find(id).unwrap();
        let settle = |given: &Settings| entry.settle(given, model.as_ref(), &unknown, Some(&error));
        let refusal = |pairs: &[(&str, Value)]| settle(&settings(pairs)).unwrap_err().to_string();
        let message = refusal(&[]);
        assert!(message.contains("give `step_size`"), "{id}: {message}");
        let step = ("step_size", Value::Real(1e-3));
        let message = refusal(&[step.clone(), ("order", Value::Int(2))]);
        assert!(
            message.contains("`order` = 2 needs the curvature at the posterior mode"),
            "{id}: {message}"
        );
        let word = Value::Text("lipschitz".to_owned());
        let message = refusal(&[step.clone(), ("scheme", word)]);
        assert!(message.contains("whose mode was found"), "{id}: {message}");
        let settled = settle(&settings(&[step])).unwrap();
        assert_eq!(settled.int("steps_per_draw"), Some(1), "{id}");
        let raw = match settled.text("mass") {
            Some(mass) => mass == "identity",
            None => settled.text("precondition") == Some("none"),
        };
        assert!(raw, "{id}: {settled:?}");
    }
}
