//! The fixed metric against its closed form, the running mean of squares, defaults.

use std::sync::Arc;

use super::*;
use crate::models::{RowLikelihood, Rows};
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

fn centred(model: &Arc<GaussianRows>) -> Arc<Centre> {
    Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap())
}

/// With α = 1 the metric stays G_j = c/(λ + sqrt(s_j/B)), s_j the variance of a score, and a Gaussian posterior has the variance
/// of a first-order autoregression in each coordinate; c makes the stiffest one move at rate h.
#[test]
fn a_fixed_metric_has_its_closed_form_variance() {
    let (n, batch, dim) = (1000, 50, 3);
    let model = Arc::new(GaussianRows::simulated(n, dim, 61));
    let centre = centred(&model);
    let h = 0.2;
    let given = settings(&[
        ("step_size", Value::Real(h)),
        ("batch", Value::Int(batch)),
        ("rms_decay", Value::Real(1.0)),
    ]);
    let start = model.posterior_mean();
    let mut chain = Chain::<Psgld>::start(model.clone(), Some(centre.clone()), &given, &start, 5);
    let draws = chain.draws(1000, 100_000, 1);
    let curvature = |j: usize| 1.0 / model.posterior_variance()[j];
    let known = centre.noise(Some(&*model));
    let metric = |j: usize| 1.0 / (1e-5 + (known.score_variance[j] / batch as f64).sqrt());
    let stiffest = (0..dim)
        .map(|j| metric(j) * curvature(j))
        .fold(0.0, f64::max);
    for j in 0..dim {
        let m = metric(j) / stiffest;
        let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j];
        let phi = 1.0 - h * m * curvature(j);
        let variance = (2.0 * h * m + h * h * m * m * noise) / (1.0 - phi * phi);
        let what = format!("coordinate {j}");
        Moments::of(&draws[j]).assert_autoregressive(start[j], variance, phi, &what);
        assert!(phi >= 1.0 - h - 1e-12);
    }
    // Half the way: curvatures 1 : 4 : 9 become rates 1 : 2 : 3.
    assert!(
        (known.rms_condition - 3.0).abs() < 0.1,
        "{}",
        known.rms_condition
    );
}

/// V is the running mean of squares of the mean gradient of a row, without prior and without N.
#[test]
fn squares_are_those_of_the_mean_row_gradient() {
    let model = Arc::new(GaussianRows::simulated(80, 2, 62).with_prior_precision(50.0));
    let centre = centred(&model);
    let given = settings(&[
        ("batch", Value::Int(80)),
        ("rms_decay", Value::Real(0.7)),
        ("step_size", Value::Real(0.1)),
    ]);
    let start = [0.4, -0.3];
    for centre in [Some(centre), None] {
        let mut given = given.clone();
        if centre.is_none() {
            given.set("steps_per_draw", Value::Int(1));
            given.set("step_size", Value::Real(1e-4));
        }
        let mut chain = Chain::<Psgld>::start(model.clone(), centre.clone(), &given, &start, 5);
        let mut expected: Option<Vec<f64>> = centre.map(|centre| {
            let noise = centre.noise(Some(&*model));
            noise.score_variance.iter().map(|v| v / 80.0).collect()
        });
        for _ in 0..5 {
            let mut mean = [0.0; 2];
            let u = Psgld::position(&chain.state).to_vec();
            model.grad_log_lik(&u, Rows::All, &mut model.scratch(), &mut mean);
            let squares = mean.map(|g| (g / 80.0) * (g / 80.0));
            expected = Some(match expected {
                None => squares.to_vec(),
                Some(old) => (0..2).map(|j| 0.7 * old[j] + 0.3 * squares[j]).collect(),
            });
            chain.step(crate::samplers::Phase::Draw);
            for (got, expected) in chain.state.squares.iter().zip(expected.as_ref().unwrap()) {
                assert!((got / expected - 1.0).abs() < 1e-9, "{got} {expected}");
            }
        }
    }
}

/// Defaults end to end on a Gaussian: the stiffest direction has the promised excess of variance at most, no direction less
/// than exact gradients would give.
#[test]
fn defaults_give_the_promised_bias() {
    let model = Arc::new(GaussianRows::balanced(5000, 2, 63));
    let centre = centred(&model);
    let start = model.posterior_mean();
    let none = Settings::default();
    let mut chain = Chain::<Psgld>::start(model.clone(), Some(centre), &none, &start, 8);
    let steps = Psgld::steps_per_draw(&chain.config);
    let draws = chain.draws(200, 4000, steps);
    for j in 0..2 {
        let moments = Moments::of(&draws[j]);
        let phi2 = moments.correlation * moments.correlation;
        let error = (2.0 * (1.0 + phi2) / ((1.0 - phi2) * moments.count)).sqrt();
        let ratio = moments.variance / model.posterior_variance()[j];
        assert!(
            ratio > 1.0 - 3.0 * error && ratio < 1.10 + 3.0 * error,
            "{j}: {ratio} ± {error}"
        );
        assert!(moments.correlation < 0.7, "{}", moments.correlation);
    }
}
