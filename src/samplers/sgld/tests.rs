//! Against closed forms of Gaussian posteriors with known gradient noise (K-04), defaults, and refusals.

use std::sync::Arc;

use super::*;
use crate::models::Model;
use crate::models::testing::GaussianRows;
use crate::oracle::{Anchor, Scheme};
use crate::samplers::Phase;
use crate::samplers::autoregressive::{Chain, Moments, settings};

fn anchored(model: &Arc<GaussianRows>) -> Arc<Anchor> {
    Arc::new(Anchor::at(model.as_ref(), &model.posterior_mean()).unwrap())
}

fn real(value: f64) -> Value {
    Value::Real(value)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// K-04 with independent rows: per coordinate θ' = θ + h m (−H θ + e) + sqrt(2hm) ξ with Var e = (N²/B) c, so the variance
/// is (2hm + h²m² N² c/B)/(1 − φ²), φ = 1 − h m H. Step size, the factor N/B, both noises and the prior all enter.
#[test]
fn stationary_variance_with_minibatch_noise_matches_the_closed_form() {
    let (n, dim) = (2000, 2);
    let model = Arc::new(GaussianRows::simulated(n, dim, 31).with_prior_precision(700.0));
    let anchor = anchored(&model);
    for (h, batch, precondition) in [
        (0.3, 20, "curvature"),
        (0.05, 500, "curvature"),
        (4e-5, 100, "none"),
    ] {
        let given = settings(&[
            ("step_size", real(h)),
            ("batch", Value::Int(batch)),
            ("precondition", text(precondition)),
        ]);
        let dyn_model = Arc::clone(&model) as Arc<dyn Model>;
        let start = model.posterior_mean();
        let mut chain =
            Chain::<Sgld>::start(dyn_model, Some(Arc::clone(&anchor)), &given, &start, 5);
        let draws = chain.draws(1000, 150_000, 1);
        for j in 0..dim {
            let curvature = 1.0 / model.posterior_variance()[j];
            let m = if precondition == "none" {
                1.0
            } else {
                1.0 / curvature
            };
            let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j];
            let phi = 1.0 - h * m * curvature;
            let variance = (2.0 * h * m + h * h * m * m * noise) / (1.0 - phi * phi);
            let what = format!("h {h}, batch {batch}, coordinate {j}");
            Moments::of(&draws[j]).assert_autoregressive(
                model.posterior_mean()[j],
                variance,
                phi,
                &what,
            );
        }
    }
}

/// Centred gradients of a Gaussian have no noise: the variance is that of exact gradients, 1/(1 − h/2), however small
/// the minibatch.
#[test]
fn control_variates_remove_gradient_noise_on_a_gaussian() {
    let model = Arc::new(GaussianRows::simulated(1000, 3, 32));
    let anchor = anchored(&model);
    assert!(anchor.difference_rows < 1e-9);
    let h = 0.4;
    let given = settings(&[("step_size", real(h)), ("batch", Value::Int(3))]);
    let start = model.posterior_mean();
    let mut chain = Chain::<SgldCv>::start(model.clone(), Some(anchor), &given, &start, 6);
    let draws = chain.draws(200, 100_000, 1);
    for j in 0..3 {
        let variance = model.posterior_variance()[j] / (1.0 - 0.5 * h);
        let what = format!("coordinate {j}");
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            variance,
            1.0 - h,
            &what,
        );
    }
}

/// The noise that the default step reckons with is the noise of each scheme. Stretches of rows see one order of rows only,
/// so the variance is averaged over orders.
#[test]
fn every_scheme_has_the_predicted_noise() {
    let (n, batch, orders, draws) = (400, 80, 60, 200);
    for scheme in Scheme::WORDS {
        let minibatch = MinibatchSettings {
            batch,
            scheme: Scheme::from_word(scheme),
        };
        let mut ratios = Vec::new();
        for order in 0..orders {
            let model = Arc::new(GaussianRows::simulated(n, 1, 100 + order));
            let mean = model.posterior_mean();
            let noise = minibatch.noise_factor(n) * n as f64 * model.score_variance()[0];
            let mut oracle = Oracle::new(model, None, false, Arc::default());
            oracle.set_estimator(Estimator::Plain, batch, minibatch.scheme);
            let mut streams = Streams::new(order, 0);
            let mut square = 0.0;
            for _ in 0..draws {
                // At the mode the exact gradient is zero.
                let mut grad = [0.0];
                oracle.grad(&mean, &mut streams.batch, &mut grad);
                square += grad[0] * grad[0] / f64::from(draws);
            }
            ratios.push(square / noise);
        }
        let moments = Moments::of(&ratios);
        let error = (moments.variance / moments.count).sqrt();
        assert!(
            (moments.mean - 1.0).abs() < 4.0 * error && error < 0.1,
            "{scheme}: {} ± {error}",
            moments.mean
        );
    }
}

#[test]
fn the_default_step_has_the_promised_excess() {
    for (excess, noise) in [(0.04, 0.0), (0.04, 0.5), (0.10, 100.0)] {
        let h = step_for_excess(excess, noise);
        let variance = (2.0 * h + h * h * noise) / (1.0 - (1.0 - h) * (1.0 - h));
        assert!((variance - 1.0 - excess).abs() < 1e-12);
    }
}

/// The defaults end to end: draws half or one unit of Langevin time apart, variance too large by what was promised.
#[test]
fn defaults_give_the_promised_bias_and_useful_draws() {
    let model = Arc::new(GaussianRows::balanced(5000, 2, 34));
    let anchor = anchored(&model);
    let start = model.posterior_mean();
    let none = Settings::default();
    let mut plain =
        Chain::<Sgld>::start(model.clone(), Some(Arc::clone(&anchor)), &none, &start, 8);
    let steps = Sgld::steps_per_draw(&plain.config);
    let draws = plain.draws(100, 3000, steps);
    let phi = (1.0 - plain.config.step_size).powi(steps as i32);
    assert!((phi - (-0.5_f64).exp()).abs() < 0.01, "{phi}");
    for j in 0..2 {
        // ρ is measured on a sample of rows and is the largest over directions: each direction has at most that noise.
        let moments = Moments::of(&draws[j]);
        let variance = 1.10 * model.posterior_variance()[j];
        moments.assert_autoregressive(model.posterior_mean()[j], variance, phi, "plain");
    }
    assert!(
        plain.info[1] > 0.04 && plain.info[1] < 0.1,
        "{:?}",
        plain.info
    );

    let mut centred = Chain::<SgldCv>::start(model.clone(), Some(anchor), &none, &start, 9);
    let steps = SgldCv::steps_per_draw(&centred.config);
    let draws = centred.draws(100, 10_000, steps);
    let phi = (1.0 - centred.config.step_size).powi(steps as i32);
    assert!((phi - (-1.0_f64).exp()).abs() < 0.03, "{phi}");
    for j in 0..2 {
        let variance = 1.04 * model.posterior_variance()[j];
        let what = "centred";
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            variance,
            phi,
            what,
        );
    }
}

#[test]
fn unusable_settings_are_refused_in_one_sentence() {
    let known = Target {
        num_obs: 10_000,
        dim: 3,
        noise_ratio: Some(1.0),
        difference_rows: Some(5.0),
        curvature_range: Some((10.0, 1000.0)),
        ..Target::default()
    };
    let unknown = Target {
        noise_ratio: None,
        difference_rows: None,
        curvature_range: None,
        ..known
    };
    let too_large = settings(&[("step_size", real(2.5))]);
    let message = Sgld::configure(&too_large, &known).unwrap_err().0;
    assert!(message.contains("below 2 "), "{message}");
    let raw = settings(&[("step_size", real(0.01)), ("precondition", text("none"))]);
    assert!(
        Sgld::configure(&raw, &known)
            .unwrap_err()
            .0
            .contains("0.002")
    );
    let message = SgldCv::configure(&Settings::default(), &unknown)
        .unwrap_err()
        .0;
    assert!(
        message.contains("`sgld-cv` needs the posterior mode"),
        "{message}"
    );
    assert!(Sgld::configure(&Settings::default(), &unknown).is_err());
    let own = settings(&[
        ("step_size", real(1e-4)),
        ("steps_per_draw", Value::Int(10)),
    ]);
    assert!(Sgld::configure(&own, &unknown).is_ok());
}

#[test]
fn a_gradient_that_is_not_finite_is_an_error_not_a_draw() {
    let model = Arc::new(GaussianRows::simulated(100, 2, 35));
    let anchor = anchored(&model);
    let none = Settings::default();
    let mut chain = Chain::<Sgld>::start(model, Some(anchor), &none, &[f64::NAN, 0.0], 1);
    let at = Tick {
        iter: 3,
        phase: Phase::Draw,
    };
    let mut streams = Streams::new(1, 0);
    let result = Sgld::step(
        &chain.config,
        at,
        &mut chain.state,
        &mut chain.oracle,
        &mut streams,
        &mut [0.0; 2],
    );
    assert_eq!(
        result,
        Err(StepError::NonFinite {
            what: "the gradient",
            iter: 3
        })
    );
}
