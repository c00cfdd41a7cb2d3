//! Factors of ratings by samplers, against quadrature.

use std::sync::Arc;

use crate::models::{Model, find};
use crate::samplers::testing::{Run, assert_moments, exact_oracle};
use crate::testing::factorization::{options, rated};
use ergodic_base::settings::Value;

const TAU: f64 = 2.0;
const RATINGS: [f64; 2] = [4.1, 1.3];
const PRIORS: [(&str, &str); 4] = [
    ("user", "constant(4)"),
    ("item", "constant(2)"),
    ("user_factor", "gamma(3, 2)"),
    ("item_factor", "constant(0.8)"),
];

/// One user, two films, one factor.
fn tiny() -> Arc<dyn Model> {
    let ratings = [(0, 0, RATINGS[0]), (0, 1, RATINGS[1])];
    let design = Arc::new(rated(&ratings, [1, 2]));
    (find("factorization").unwrap().build)(design, &options(1, TAU, &PRIORS)).unwrap()
}

/// Posterior means and variances of what is expected of both ratings, and of U²/(1 + U²), whose moments all exist, by quadrature over U alone: given U ratings are normal
/// with the covariance Σ = (1/τ + 1/λ_b + U²/λ_V) I + 1/λ_a, and what is expected of them has the mean y − Σ⁻¹ y/τ and the
/// covariance I/τ − Σ⁻¹/τ².
fn by_quadrature() -> [[f64; 2]; 3] {
    let mean = 0.5 * (RATINGS[0] + RATINGS[1]);
    let y = RATINGS.map(|y| y - mean);
    let (steps, width) = (20_000, 30.0);
    let mut sums = [[0.0; 2]; 3];
    let mut total = 0.0;
    for step in 0..steps {
        let u = width * ((step as f64 + 0.5) / steps as f64 * 2.0 - 1.0);
        let (own, common) = (1.0 / TAU + 0.5 + u * u / 0.8, 0.25);
        // Σ = own I + common 11', its inverse (I − common/(own + 2 common) 11')/own.
        let (det, shared) = (own * (own + 2.0 * common), common / (own + 2.0 * common));
        let inverse = |y: [f64; 2]| y.map(|value| (value - shared * (y[0] + y[1])) / own);
        let z = inverse(y);
        let log = -0.5 * (y[0] * z[0] + y[1] * z[1]) - 0.5 * det.ln();
        let weight = log.exp() * (2.0 + 0.5 * u * u).powf(-3.5);
        let variance = 1.0 / TAU - (1.0 - shared) / own / (TAU * TAU);
        for i in 0..2 {
            let expected = y[i] - z[i] / TAU;
            sums[i][0] += weight * expected;
            sums[i][1] += weight * (variance + expected * expected);
        }
        let bounded = u * u / (1.0 + u * u);
        sums[2][0] += weight * bounded;
        sums[2][1] += weight * bounded * bounded;
        total += weight;
    }
    sums.map(|[first, second]| {
        let first = first / total;
        [first, second / total - first * first]
    })
}

/// What is expected of both ratings less the mean, and U²/(1 + U²), of a position a, b₁, b₂, U, V₁, V₂.
fn functions(u: &[f64]) -> [f64; 3] {
    [
        u[0] + u[1] + u[3] * u[4],
        u[0] + u[2] + u[3] * u[5],
        u[3] * u[3] / (1.0 + u[3] * u[3]),
    ]
}

fn assert_quadrature(what: &str, run: &Run, warmup: u64, draws: usize) {
    let truth = by_quadrature();
    let chains: Vec<Vec<[f64; 3]>> = (0..4)
        .map(|seed| {
            let chain = run
                .clone()
                .seed(seed)
                .go(exact_oracle(tiny(), None), warmup, draws);
            let columns: Vec<Vec<f64>> = (0..6).map(|j| chain.coordinate(j)).collect();
            (0..draws)
                .map(|i| {
                    let u: Vec<f64> = columns.iter().map(|column| column[i]).collect();
                    functions(&u)
                })
                .collect()
        })
        .collect();
    for (k, [mean, variance]) in truth.into_iter().enumerate() {
        let own: Vec<Vec<f64>> = (chains.iter())
            .map(|chain| chain.iter().map(|values| values[k]).collect())
            .collect();
        assert_moments(&format!("{what}, {k}"), &own, mean, variance);
    }
}

/// Likelihood, priors of known precision and with the precision integrated out, and both signs of the factors.
#[test]
fn exact_draws_are_those_of_quadrature() {
    assert_quadrature("nuts", &Run::new("nuts"), 1000, 20_000);
}

/// Samplers of stochastic gradients with steps of blocks come near quadrature where steps are small and gradients exact: the error of
/// a step h c is of the order of h c times the curvature, here at most 0.5 %, and chance hides less than 3 %.
#[test]
fn small_steps_of_blocks_come_near_quadrature() {
    let run = Run::new("sgld")
        .set("step_size", Value::Real(0.001))
        .set("batch", Value::Int(2))
        .set("steps_per_draw", Value::Int(200))
        .set(
            "block_steps",
            Value::Text("user[*]: 0.5; item[*]: 0.5".to_owned()),
        );
    assert_quadrature("sgld", &run, 200, 20_000);
}
