//! Against closed forms, and what is refused.

use std::f64::consts::PI;

use crate::Rows;
use crate::design::ResponseUse;
use crate::testing::regressions::{Shape, measured_design};
use crate::testing::{built, pointwise, table_of};

use super::*;

/// Values per row are logarithms of the normal density of the response as it is.
#[test]
fn values_per_row_are_those_of_the_normal_density() {
    let shape = Shape {
        offset: true,
        ..Shape::default()
    };
    let design = Arc::new(measured_design(false, shape, 50));
    let model = Linear::build(Arc::clone(&design), &ModelOptions::default()).unwrap();
    let u = [0.2, -0.3, 0.5, 0.1, -0.4];
    let mut theta = [0.0; 5];
    model.constrain(&u, &mut theta);
    let values = pointwise(model.as_ref(), &u);
    for (i, value) in values.iter().enumerate() {
        let mut mean = theta[0] + design.offset.as_ref().unwrap()[i];
        for j in 1..4 {
            mean += theta[j] * (design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j]);
        }
        let z = (design.y[i] - mean) / theta[4];
        let expected = -0.5 * z * z - theta[4].ln() - 0.5 * (2.0 * PI).ln();
        assert!(
            (value - expected).abs() < 1e-10 * expected.abs().max(1.0),
            "{value} {expected}"
        );
    }
}

#[test]
fn simulated_responses_have_mean_and_spread() {
    let design = Arc::new(measured_design(false, Shape::default(), 40));
    let model = Linear::build(Arc::clone(&design), &ModelOptions::default()).unwrap();
    let u = [0.1, 0.2, -0.3, 0.4, -0.5];
    let mut theta = [0.0; 5];
    model.constrain(&u, &mut theta);
    let mut rng = ergodic_base::stream(1, 0, ergodic_base::Purpose::Predictive);
    let row = [7_u32];
    let rounds = 20_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..rounds {
        let mut y = [0.0];
        model
            .prior_draws()
            .unwrap()
            .simulate(&u, Rows::Pick(&row), &mut rng, &mut y);
        sum += y[0];
        squares += y[0] * y[0];
    }
    let mean = sum / f64::from(rounds);
    let sd = (squares / f64::from(rounds) - mean * mean).sqrt();
    let mut expected = theta[0];
    for j in 1..4 {
        expected += theta[j] * (design.x[[7, j]] * design.raw_scale[j] + design.raw_center[j]);
    }
    assert!((mean - expected).abs() < 4.0 * theta[4] / f64::from(rounds).sqrt());
    assert!((sd / theta[4] - 1.0).abs() < 4.0 / (2.0 * f64::from(rounds)).sqrt());
}

#[test]
fn what_cannot_be_fitted_is_refused_in_one_sentence() {
    let table = table_of(vec![("x", vec![1.0, 2.0, 3.0]), ("c", vec![4.0; 3])]);
    let refuse = |formula: &str, priors: &[(&str, &str)]| {
        let options = ModelOptions {
            priors: priors.iter().map(|&(k, v)| (k.into(), v.into())).collect(),
            standardize: true,
            ..ModelOptions::default()
        };
        built::<Linear>(&table, formula, ResponseUse::Number, &options)
            .err()
            .unwrap()
    };
    assert_eq!(
        refuse("c ~ x", &[]),
        "The outcome `c` has the single value `4` in all 3 rows used, so there is nothing to explain; choose another \
         outcome"
    );
    assert_eq!(
        refuse("x ~ offset(x)", &[]),
        "The outcome `x` less its offset is 0 in all 3 rows used, so there is nothing to explain; choose another \
         outcome"
    );
    let message = refuse("x ~ 1", &[("sigma", "normal(1, 2)")]);
    assert!(
        message.contains("location 0") && message.contains("half_normal(sd)"),
        "{message}"
    );
    let message = refuse("x ~ 1", &[("shape", "exponential(1)")]);
    assert_eq!(
        message,
        "There is no parameter `shape` to set a prior for; there are intercept, b, sigma, b[Intercept]"
    );
}
