//! Against the probabilities written out, at extremes, and by simulation.

use crate::Rows;
use crate::testing::regressions::{Shape, measured_design};
use crate::testing::{log_lik, pointwise};
use ergodic_base::{Purpose, stream};

use super::*;

fn model(design: &Arc<Design>) -> Arc<dyn Model> {
    NegativeBinomial::build(Arc::clone(design), &ModelOptions::default()).unwrap()
}

#[test]
fn values_per_row_are_logarithms_of_probabilities() {
    let design = Arc::new(measured_design(true, Shape::default(), 60));
    let model = model(&design);
    for shape in [0.05_f64, 1.3, 40.0] {
        let u = [0.4, -0.2, 0.3, 0.1, shape.ln()];
        let values = pointwise(model.as_ref(), &u);
        for (i, value) in values.iter().enumerate() {
            let z: f64 = design.x.row(i).iter().zip(&u).map(|(x, u)| x * u).sum();
            let mean = z.exp();
            let chance = mean / (shape + mean);
            // Γ(y + φ)/(Γ(φ) y!) (1 − p)^φ p^y, factor by factor.
            let mut log_p = shape * (shape / (shape + mean)).ln();
            for k in 0..design.y[i] as u32 {
                log_p += ((shape + f64::from(k)) / f64::from(k + 1) * chance).ln();
            }
            assert!(
                (value - log_p).abs() < 1e-11 * log_p.abs().max(1.0),
                "{value} {log_p}"
            );
        }
    }
}

/// With growing shape the counts become Poisson counts, and values and slopes stay accurate on the way.
#[test]
fn large_shapes_approach_poisson_counts() {
    let design = Arc::new(measured_design(true, Shape::default(), 60));
    let model = model(&design);
    let poisson =
        crate::poisson::Poisson::build(Arc::clone(&design), &ModelOptions::default()).unwrap();
    let beta = [0.4, -0.2, 0.3, 0.1];
    let mut grad = [0.0; 4];
    let limit = log_lik(poisson.as_ref(), &beta, &mut grad);
    let mut last = f64::INFINITY;
    for exponent in [2.0, 5.0, 8.0, 11.0] {
        let shape = 10_f64.powf(exponent);
        let u = [0.4, -0.2, 0.3, 0.1, shape.ln()];
        let mut slope = [0.0; 5];
        let value = log_lik(model.as_ref(), &u, &mut slope);
        let gap = (value - limit).abs();
        assert!(gap < 1e-2 * last + 1e-9, "{shape}: {gap}");
        // The gap falls like 1/φ, so its slope in log φ is its own size.
        let rounding = 1e-9;
        assert!(
            (slope[4].abs() - gap).abs() < 0.3 * gap + rounding,
            "{shape}: {slope:?} {gap}"
        );
        last = gap;
    }
}

#[test]
fn simulated_counts_have_mean_and_variance() {
    let design = Arc::new(measured_design(true, Shape::default(), 40));
    let model = model(&design);
    let u = [1.0, 0.2, -0.1, 0.2, 0.5];
    let z: f64 = design.x.row(3).iter().zip(&u).map(|(x, u)| x * u).sum();
    let (mean, shape) = (z.exp(), 0.5_f64.exp());
    let variance = mean + mean * mean / shape;
    let mut rng = stream(66, 0, Purpose::Predictive);
    let rounds = 40_000;
    let draws: Vec<f64> = (0..rounds)
        .map(|_| {
            let mut y = [0.0];
            model
                .prior_draws()
                .unwrap()
                .simulate(&u, Rows::Pick(&[3]), &mut rng, &mut y);
            y[0]
        })
        .collect();
    let n = f64::from(rounds);
    let found = draws.iter().sum::<f64>() / n;
    assert!(
        (found - mean).abs() < 4.0 * (variance / n).sqrt(),
        "{found} {mean}"
    );
    let spread = draws.iter().map(|y| (y - mean).powi(2));
    let found = spread.clone().sum::<f64>() / n;
    let fourth = spread.map(|s| (s - variance).powi(2)).sum::<f64>() / n;
    assert!(
        (found - variance).abs() < 4.0 * (fourth / n).sqrt(),
        "{found} {variance}"
    );
}
