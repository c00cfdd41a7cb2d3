//! Against the stationary variances of the header, for every form with every preconditioner.

use std::sync::Arc;

use super::*;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::testing::GaussianRows;
use ergodic_base::settings::Value;

const NUM_OBS: usize = 1000;
const BATCH: usize = 50;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn chain(model: &Arc<GaussianRows>, pairs: &[(&str, Value)]) -> Chain<FisherScoring> {
    let mut pairs = pairs.to_vec();
    pairs.push(("batch", Value::Int(BATCH as i64)));
    let start = model.posterior_mean();
    Chain::start(model.clone(), None, &settings(&pairs), &start, 31)
}

/// Variance and correlation of each coordinate; curvatures H and noise Σ are diagonal in this model.
fn check(model: &Arc<GaussianRows>, form: &str, preconditioner: &str) {
    let h: Vec<f64> = model.posterior_variance().iter().map(|v| 1.0 / v).collect();
    let n = NUM_OBS as f64;
    let information: Vec<f64> = model.score_variance().iter().map(|c| n * c).collect();
    let factor = n / BATCH as f64;
    let stiffest = h.iter().copied().fold(0.0, f64::max);
    let p: Vec<f64> = (0..h.len())
        .map(|j| match preconditioner {
            "information" => 1.0 / information[j],
            "none" => 1.0 / stiffest,
            _ => 1.0 / h[j],
        })
        .collect();
    let limit = |f: &dyn Fn(usize) -> f64| (0..h.len()).map(f).fold(f64::INFINITY, f64::min);
    let k = limit(&|j| 4.0 / (p[j] * (h[j] + factor * information[j])))
        .min(limit(&|j| 2.0 / (p[j] * h[j])));

    let given = [
        ("form", text(form)),
        ("preconditioner", text(preconditioner)),
    ];
    let mut chain = chain(model, &given);
    let draws = chain.draws(20_000, 60_000, 1);
    assert!((chain.info[0] / k - 1.0).abs() < 0.01, "{}", chain.info[0]);
    for j in 0..h.len() {
        let (a, s) = (p[j] * h[j], p[j] * factor * information[j]);
        let injected = match form {
            "corrected" => k - 0.25 * k * k * (s + a),
            "uncorrected" => k - 0.25 * k * k * s,
            _ => 0.0,
        };
        let variance = p[j] * (injected + 0.25 * k * k * s) / (k * a - 0.25 * k * k * a * a);
        let what = format!("{form}, {preconditioner}, {j}");
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            variance,
            1.0 - 0.5 * k * a,
            &what,
        );
        let posterior = 1.0 / h[j];
        if form == "corrected" {
            assert!((variance / posterior - 1.0).abs() < 1e-9, "{what}");
        }
    }
}

#[test]
fn every_form_has_its_stationary_variance_with_every_preconditioner() {
    let model = Arc::new(GaussianRows::balanced(NUM_OBS, 2, 61).with_prior_precision(300.0));
    for form in ["corrected", "uncorrected", "sgd"] {
        for preconditioner in ["curvature", "information", "diagonal", "none"] {
            check(&model, form, preconditioner);
        }
    }
}

/// (14) under a weak prior: D = 2|S|/((N + |S|) N) C⁻¹, and gradient noise alone gives the posterior's covariance.
#[test]
fn stochastic_gradient_descent_samples_under_a_weak_prior() {
    let model = Arc::new(GaussianRows::balanced(NUM_OBS, 2, 62));
    let given = [
        ("form", text("sgd")),
        ("preconditioner", text("information")),
    ];
    let mut chain = chain(&model, &given);
    let draws = chain.draws(5_000, 100_000, 1);
    let k = 4.0 * BATCH as f64 / (NUM_OBS + BATCH) as f64;
    assert!((chain.info[0] - k).abs() < 1e-4 && chain.info[1] == 1.0);
    for j in 0..2 {
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            model.posterior_variance()[j],
            1.0 - 0.5 * k,
            "(14)",
        );
    }
}

/// With the k of (14) as printed the process has no stationary distribution under a strong prior.
#[test]
fn a_step_that_explodes_is_refused() {
    let model = Arc::new(GaussianRows::balanced(NUM_OBS, 2, 63).with_prior_precision(50_000.0));
    let printed = 4.0 * BATCH as f64 / (NUM_OBS + BATCH) as f64;
    let given = [
        ("form", text("sgd")),
        ("preconditioner", text("information")),
        ("k", Value::Real(printed)),
    ];
    let mut chain = chain(&model, &given);
    let at = Tick {
        iter: 0,
        phase: Phase::Draw,
    };
    let mut streams = Streams::new(1, 0);
    let outcome = FisherScoring::step(
        &chain.config,
        at,
        &mut chain.state,
        &mut chain.oracle,
        &mut streams,
        &mut [0.0; 2],
    );
    assert!(matches!(
        outcome,
        Err(StepError::NotPositiveDefinite { .. })
    ));
}
