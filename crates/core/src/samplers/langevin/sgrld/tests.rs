//! The metric's derivative against finite differences, and a skewed posterior against its moments on a grid.

use std::sync::Arc;

use super::*;
use crate::estimators::find_mode;
use crate::models::Rows;
use crate::samplers::autoregressive::{Chain, settings};
use crate::samplers::testing::{assert_moments_known_to, logistic_with_centre, small_logistic};
use crate::testing::GaussianRows;
use ergodic_base::Control;
use ergodic_base::settings::Value;

#[test]
fn gamma_is_the_derivative_of_the_metric() {
    let (model, centre) = logistic_with_centre();
    let linear = model.linear_rows().unwrap();
    let mut metric = Metric::new(model.rows().unwrap(), linear, &centre).unwrap();
    let at = |eta: [f64; 2]| {
        let mut u = eta.to_vec();
        centre.factor.solve_lower_transpose(&mut u);
        axpy(1.0, &centre.u, &mut u);
        u
    };
    // At the mode the metric is the curvature, which is the identity in whitened coordinates.
    metric.update(linear, &centre.u).unwrap();
    for (got, expected) in metric.inverse().iter().zip([1.0, 0.0, 0.0, 1.0]) {
        assert!((got - expected).abs() < 1e-12);
    }
    let (eta, step) = ([1.1, -0.8], 1e-5);
    let mut expected = [0.0; 2];
    for j in 0..2 {
        let mut inverse = |sign: f64| {
            let mut moved = eta;
            moved[j] += sign * step;
            metric.update(linear, &at(moved)).unwrap();
            metric.inverse()
        };
        let (above, below) = (inverse(1.0), inverse(-1.0));
        for i in 0..2 {
            expected[i] += (above[2 * i + j] - below[2 * i + j]) / (2.0 * step);
        }
    }
    metric.update(linear, &at(eta)).unwrap();
    assert!(expected[0].abs() > 0.01, "the metric changes: {expected:?}");
    for j in 0..2 {
        assert!(
            (metric.gamma()[j] - expected[j]).abs() < 1e-6,
            "{:?} {expected:?}",
            metric.gamma()
        );
    }
}

/// Twelve rows, three successes, a wide prior: a skewed posterior, whose moments a grid knows. With small steps and exact
/// gradients only a right Γ gives these moments.
#[test]
fn a_skewed_posterior_is_found() {
    let x: Vec<f64> = (0..12).map(|i| f64::from(i) / 3.0 - 11.0 / 6.0).collect();
    let y: Vec<f64> = (0..12)
        .map(|i| f64::from(u8::from([5, 9, 11].contains(&i))))
        .collect();
    let model = small_logistic(&x, &y, 4.0);
    let centre = Arc::new(
        find_mode(model.as_ref(), &Control::default())
            .unwrap()
            .centre,
    );
    // Truth, in coordinates whitened at the mode.
    let (mut scratch, mut grad) = (model.rows().unwrap().scratch(), [0.0; 2]);
    let (mut total, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
    for a in -60..=60 {
        for b in -60..=60 {
            let eta = [0.12 * f64::from(a), 0.12 * f64::from(b)];
            let mut u = eta.to_vec();
            centre.factor.solve_lower_transpose(&mut u);
            axpy(1.0, &centre.u, &mut u);
            let prior = model.rows().unwrap().log_prior(&u, &mut grad);
            let weight = (prior
                + model
                    .rows()
                    .unwrap()
                    .log_lik(&u, Rows::All, &mut scratch, &mut grad))
            .exp();
            total += weight;
            for j in 0..2 {
                first[j] += weight * eta[j];
                second[j] += weight * eta[j] * eta[j];
            }
        }
    }
    let means = first.map(|sum| sum / total);
    assert!(means[0].abs() + means[1].abs() > 0.3, "skewed: {means:?}");
    // Minibatches of half the rows have centred gradients, whose noise adds less than 1 %.
    for batch in [12, 6] {
        let given = settings(&[
            ("batch", Value::Int(batch)),
            ("step_size", Value::Real(0.02)),
        ]);
        let mut etas = vec![Vec::new(); 2];
        for seed in 0..4 {
            let mut chain = Chain::<Sgrld>::start(
                Arc::clone(&model),
                Some(centre.clone()),
                &given,
                &centre.u,
                seed,
            );
            let draws = chain.draws(500, 1500, 50);
            let whitened: Vec<Vec<f64>> = (0..1500)
                .map(|k| {
                    let difference = [draws[0][k] - centre.u[0], draws[1][k] - centre.u[1]];
                    let mut eta = vec![0.0; 2];
                    centre.factor.lower_transpose_mul(&difference, &mut eta);
                    eta
                })
                .collect();
            for j in 0..2 {
                etas[j].push(whitened.iter().map(|eta| eta[j]).collect::<Vec<f64>>());
            }
        }
        for j in 0..2 {
            let variance = second[j] / total - means[j] * means[j];
            // Euler steps of 0.02 have an excess of variance of about 1 %.
            // A draw takes fifty steps.
            assert_moments_known_to(
                0.12,
                &format!("coordinate {j}, {batch} rows"),
                &etas[j],
                means[j],
                1.01 * variance,
            );
        }
    }
}

#[test]
fn models_without_linear_rows_are_refused() {
    let suits = Sgrld::suits(&GaussianRows::simulated(10, 2, 1));
    assert_eq!(suits, Err(Unsuitable::NoLinearPredictor));
}
