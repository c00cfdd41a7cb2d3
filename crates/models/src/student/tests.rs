//! Against the density written out, and its limits.

use std::f64::consts::PI;

use statrs::function::gamma::ln_gamma;

use crate::testing::pointwise;
use crate::testing::regressions::{Shape, measured_design};
use ergodic_base::settings::{Settings, Value};

use super::*;

fn with_nu(nu: Option<f64>) -> ModelOptions {
    let mut settings = Settings::default();
    if let Some(nu) = nu {
        settings.set("nu", Value::Real(nu));
    }
    ModelOptions {
        settings,
        standardize: true,
        ..ModelOptions::default()
    }
}

#[test]
fn values_per_row_are_those_of_the_t_density_with_free_and_with_given_nu() {
    let design = Arc::new(measured_design(false, Shape::default(), 50));
    let nu = 3.7_f64;
    let free = Student::build(Arc::clone(&design), &with_nu(None)).unwrap();
    let fixed = Student::build(Arc::clone(&design), &with_nu(Some(nu))).unwrap();
    assert_eq!((free.dim(), fixed.dim()), (6, 5));
    let u = [0.2, -0.3, 0.5, 0.1, -0.4, (nu - 1.0).ln()];
    let mut theta = [0.0; 6];
    free.constrain(&u, &mut theta);
    assert!((theta[5] - nu).abs() < 1e-12);
    let values = pointwise(free.as_ref(), &u);
    let others = pointwise(fixed.as_ref(), &u[..5]);
    for i in 0..50 {
        let mut middle = theta[0];
        for j in 1..4 {
            middle += theta[j] * (design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j]);
        }
        let t = (design.y[i] - middle) / theta[4];
        let expected = ln_gamma(0.5 * (nu + 1.0))
            - ln_gamma(0.5 * nu)
            - 0.5 * (nu * PI).ln()
            - theta[4].ln()
            - 0.5 * (nu + 1.0) * (t * t / nu).ln_1p();
        assert!((values[i] - expected).abs() < 1e-10 * expected.abs().max(1.0));
        assert!((others[i] - values[i]).abs() < 1e-12 * expected.abs().max(1.0));
    }
}

/// log t-density − log normal density = (t⁴ − 2t² − 1)/(4ν) to first order in 1/ν.
#[test]
fn many_degrees_of_freedom_are_nearly_normal_noise() {
    let design = Arc::new(measured_design(false, Shape::default(), 50));
    let nu = 1e6;
    let student = Student::build(Arc::clone(&design), &with_nu(Some(nu))).unwrap();
    let normal = crate::linear::Linear::build(design, &with_nu(None)).unwrap();
    let u = [0.2, -0.3, 0.5, 0.1, -0.4];
    let mut theta = [0.0; 5];
    normal.constrain(&u, &mut theta);
    let by_student = pointwise(student.as_ref(), &u);
    let by_normal = pointwise(normal.as_ref(), &u);
    for (a, b) in by_student.iter().zip(by_normal) {
        let square = -2.0 * (b + theta[4].ln() + 0.5 * (2.0 * PI).ln());
        let expected = (square * square - 2.0 * square - 1.0) / (4.0 * nu);
        assert!((a - b - expected).abs() < 1e-8, "{} {expected}", a - b);
    }
}
