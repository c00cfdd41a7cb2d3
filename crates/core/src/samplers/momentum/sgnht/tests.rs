//! Defaults end to end; closed forms are in [`crate::samplers::momentum`].

use crate::samplers::configure;
use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, settings};
use crate::samplers::momentum::CRITICAL;
use crate::samplers::testing::{assert_moments_known_to, known_target};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

#[test]
fn defaults_give_the_right_variance_with_every_integrator() {
    let model = Arc::new(GaussianRows::balanced(2000, 2, 47));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    for integrator in ["baoab", "aboba", "euler"] {
        let given = settings(&[("integrator", Value::Text(integrator.into()))]);
        let mut chain =
            Chain::<SgnhtCv>::start(model.clone(), Some(centre.clone()), &given, &start, 8);
        let steps = SgnhtCv::steps_per_draw(&chain.config);
        let draws = chain.draws(400, 100_000 / steps as usize, steps);
        for j in 0..2 {
            let (mean, variance) = (model.posterior_mean()[j], model.posterior_variance()[j]);
            // Euler at friction 2 is too narrow by ε, which is 4 %.
            let predicted = match integrator {
                "euler" => variance * (1.0 - chain.config.dynamics.step),
                _ => variance,
            };
            // A draw takes fifty steps.
            let series = std::slice::from_ref(&draws[j]);
            assert_moments_known_to(0.2, integrator, series, mean, predicted);
        }
    }
}

/// Friction comes out critical by default, however much of it gradient noise needs.
#[test]
fn injected_noise_and_predicted_gradient_noise_make_friction_critical() {
    for num_obs in [1000, 100_000, 10_000_000] {
        let target = known_target(num_obs, 3, 5.0, (10.0, 1000.0));
        let config = configure::<Sgnht>(&Settings::default(), &target).unwrap();
        let noise = config.medium.minibatch.noise_factor(num_obs);
        let friction = config.injected + 0.5 * config.dynamics.step * noise;
        assert!((friction - CRITICAL).abs() < 1e-12 && config.noise_share < 0.41);
        let given = settings(&[("step_size", Value::Real(1.0)), ("batch", Value::Int(10))]);
        let config = configure::<Sgnht>(&given, &target).unwrap();
        assert!(config.injected >= LEAST_INJECTED * CRITICAL);
    }
}
