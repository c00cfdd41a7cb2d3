//! Values that a distribution never has, and rows that choose between distributions of other values.

use super::*;
use crate::distributions::{Distribution, Support};
use std::f64::consts::PI;

fn log_normal_density(y: f64, mu: f64, sigma: f64) -> f64 {
    -0.5 * ((y - mu) / sigma).powi(2) - sigma.ln() - 0.5 * (2.0 * PI).ln()
}

fn log_lognormal_density(y: f64, mu: f64, sigma: f64) -> f64 {
    log_normal_density(y.ln(), mu, sigma) - y.ln()
}

fn log_gamma_density(y: f64, shape: f64, rate: f64) -> f64 {
    shape * rate.ln() - statrs::function::gamma::ln_gamma(shape) + (shape - 1.0) * y.ln() - rate * y
}

/// Parameters that depend on `z`.
fn arguments(it: &Distribution) -> String {
    let of = |parameter: &&str| match (it.name, *parameter) {
        (_, "n") => "10",
        (_, "p") | ("beta_proportion", "mu") => "logistic(z)",
        (_, "zero") => "0",
        (_, "lower") => "z - 1",
        (_, "upper") => "z + 1",
        (_, "thresholds") => "[z, z + 1]",
        _ => "exp(z)",
    };
    let arguments = it.parameters.iter().map(of);
    arguments.map(|argument| format!(", {argument}")).collect()
}

/// Values that a distribution with these parameters does not have where `z` is 0.3.
fn outside(support: Support) -> &'static [f64] {
    match support {
        // Categories are refused where they are numbered.
        Support::Real | Support::Simplex | Support::Categories => &[],
        Support::Positive => &[-1.0, -0.2],
        Support::Above => &[-1.0, 1.2],
        Support::Unit => &[-0.3, 0.0, 1.0, 1.2],
        Support::Between => &[-2.0, 2.5],
        Support::Binary => &[-1.0, 2.0, 0.5],
        Support::Counts => &[-1.0, 1.5],
        Support::Trials => &[-1.0, 11.0, 2.5],
        Support::Levels => &[0.0, 4.0, 1.5],
    }
}

/// Values stand as columns, as constants and, where parameters may stand, as what depends on parameters, also beside values that the
/// distribution has.
#[test]
fn outside_its_values_a_density_is_zero() {
    let z = 0.3;
    let of_numbers =
        |it: &&Distribution| !matches!(it.support, Support::Simplex | Support::Categories);
    for it in DISTRIBUTIONS.iter().filter(of_numbers) {
        let values = outside(it.support);
        let function = format!("{}_lpdf", it.name);
        let arguments = arguments(it);
        let inside = match it.support {
            Support::Unit => 0.5,
            Support::Above => 3.0,
            _ => 1.0,
        };
        let column = [values, &[inside]].concat();
        let text = format!(
            "parameters\n z ~ normal(0, 1)\nrows\n log_sum_exp(z, {function}(y{arguments}))\n"
        );
        let of_rows = model(&text, &[numbers("y", &column)]);
        let rows = of_rows.rows().unwrap();
        let (mut each, mut scores) = (vec![0.0; column.len()], vec![0.0; column.len()]);
        let scratch = &mut rows.scratch();
        rows.pointwise(&[z], Rows::All, scratch, &mut each);
        rows.scores(&[z], Rows::All, scratch, &mut scores);
        for (at, y) in values.iter().enumerate() {
            let what = format!("{} at {y}", it.name);
            assert_eq!([each[at], scores[at]], [z, 1.0], "{what}");
            let text = format!(
                "parameters\n z: real\ntarget\n log_sum_exp(z, {function}({y}{arguments}))\n"
            );
            let (value, grad) = density(model(&text, &[]).as_ref(), &[z]);
            assert_eq!([value, grad[0]], [z, 1.0], "{what}");
            if !it.support.is_discrete() {
                let text = format!(
                    "parameters\n z: real\ntarget\n {function}(z + ({}){arguments})\n",
                    y - z
                );
                let (value, grad) = density(model(&text, &[]).as_ref(), &[z]);
                assert_eq!([value, grad[0]], [f64::NEG_INFINITY, 0.0], "{what}");
            }
        }
        assert!(each[values.len()] > z, "{} at {inside}", it.name);
    }
}

/// The ends of the values count where the density has a value there.
#[test]
fn ends_of_values_are_as_the_density_has_them() {
    for (line, wanted) in [
        ("exponential_lpdf(0, 2)", 2.0_f64.ln()),
        ("half_normal_lpdf(0, 1)", 0.5 * (2.0 / PI).ln()),
        ("uniform_lpdf(3, 1, 3)", -(2.0_f64.ln())),
        ("lognormal_lpdf(0, 0, 1)", f64::NEG_INFINITY),
        ("gamma_lpdf(0, 0.5, 1)", f64::NEG_INFINITY),
        ("inv_gamma_lpdf(0, 2, 1)", f64::NEG_INFINITY),
    ] {
        let text = format!("parameters\n z: real\ntarget\n {line} + 0 * z\n");
        let (value, _) = density(model(&text, &[]).as_ref(), &[0.7]);
        let same = value == wanted || (value - wanted).abs() < 1e-14;
        assert!(same, "{line}: {value}");
    }
    // Parameters that are none stay without a density.
    let text = "parameters\n z: real\ntarget\n lognormal_lpdf(1.5, 0, z)\n";
    assert!(density(model(text, &[]).as_ref(), &[-0.4]).0.is_nan());
}

const ZERO_OR_MORE: [f64; 6] = [0.0, 1.3, 0.0, 2.7, 0.4, 0.0];
const SLOPE: [f64; 6] = [0.5, -1.0, 2.0, 0.3, 1.1, -0.7];

/// The rows of a model whose parameters are h, m, b, s, k and r: values per row against a closed form, and derivatives against
/// differences, for all rows, for single rows and by row.
fn check_rows(row: &str, y: &[f64], wanted: impl Fn(&[f64], f64, f64) -> f64) {
    let text = format!(
        "parameters\n h in (0, 1) ~ beta(1, 1)\n m ~ normal(0, 1)\n b ~ normal(0, 1)\n s ~ exponential(1)\n k ~ exponential(1)\n r ~ exponential(1)\nrows\n {row}\n"
    );
    let x = &SLOPE[..y.len()];
    let model = model(&text, &[numbers("y", y), numbers("x", x)]);
    let rows = model.rows().unwrap();
    let (dim, scratch) = (model.dim(), &mut rows.scratch());
    for seed in 0..3 {
        let u = position(dim, seed);
        let mut theta = vec![0.0; dim];
        model.constrain(&u, &mut theta);
        let expected: Vec<f64> = y
            .iter()
            .zip(x)
            .map(|(y, x)| wanted(&theta, *y, *x))
            .collect();
        let (mut each, mut scores) = (vec![0.0; y.len()], vec![0.0; y.len() * dim]);
        rows.pointwise(&u, Rows::All, scratch, &mut each);
        rows.scores(&u, Rows::All, scratch, &mut scores);
        near(&each, &expected, 1e-12, row);
        let mut grad = vec![0.0; dim];
        let value = rows.log_lik(&u, Rows::All, scratch, &mut grad);
        near(&[value], &[expected.iter().sum()], 1e-12, row);
        let numeric = slopes(&u, |u| {
            rows.log_lik(u, Rows::All, &mut rows.scratch(), &mut vec![0.0; dim])
        });
        near(&grad, &numeric, 1e-6, row);
        let mut sums = vec![0.0; dim];
        for score in scores.chunks_exact(dim) {
            ergodic_base::linalg::axpy(1.0, score, &mut sums);
        }
        near(&sums, &grad, 1e-12, row);
        let mut picked = vec![0.0; dim];
        for i in (0..y.len() as u32).rev() {
            rows.log_lik(&u, Rows::Pick(&[i]), scratch, &mut picked);
        }
        near(&picked, &grad, 1e-12, row);
    }
}

type Density = fn(&[f64], f64, f64) -> f64;

/// 0 with the chance h, otherwise something with this density.
fn hurdle(density: Density) -> impl Fn(&[f64], f64, f64) -> f64 {
    move |theta, y, x| {
        if y == 0.0 {
            return theta[0].ln();
        }
        (-theta[0]).ln_1p() + density(theta, y, x)
    }
}

#[test]
fn hurdles_choose_by_row_what_counts() {
    let lognormal =
        hurdle(|theta, y, x| log_lognormal_density(y, theta[1] + theta[2] * x, theta[3]));
    let gamma = hurdle(|theta, y, _x| log_gamma_density(y, theta[4], theta[5]));
    for row in [
        "where(y == 0, log(h), log1p(-h) + lognormal_lpdf(y, m + b * x, s))",
        "where(y > 0, log1p(-h) + lognormal_lpdf(y, m + b * x, s), log(h))",
        "where(y == 0, log(h), log1p(-h) + normal_lpdf(log(y), m + b * x, s) - log(y))",
        "log_mix(h, where(y == 0, 0, -inf), lognormal_lpdf(y, m + b * x, s))",
        // Derivatives by b of log(y) in place of x are infinite where y is 0.
        "where(y == 0, log(h), log1p(-h) + lognormal_lpdf(y, m + b * x, s) + b * log(y) - b * log(y))",
    ] {
        check_rows(row, &ZERO_OR_MORE, &lognormal);
    }
    for row in [
        "where(y == 0, log(h), log1p(-h) + gamma_lpdf(y, k, r))",
        "log_mix(h, where(y == 0, 0, -inf), gamma_lpdf(y, k, r))",
        "log_mix(h, where(y == 0, 0, -inf), where(y > 0, gamma_lpdf(y, k, r), -inf))",
    ] {
        check_rows(row, &ZERO_OR_MORE, &gamma);
    }
    let weibull = hurdle(|theta, y, _x| {
        let (k, r) = (theta[4], theta[5]);
        (k / r).ln() + (k - 1.0) * (y / r).ln() - (y / r).powf(k)
    });
    check_rows(
        "where(y == 0, log(h), log1p(-h) + weibull_lpdf(y, k, r))",
        &ZERO_OR_MORE,
        weibull,
    );
    let shares = [0.0, 0.3, 0.0, 0.9];
    let share = hurdle(|theta, y, _x| {
        let (mu, kappa) = (1.0 / (1.0 + (-theta[1]).exp()), theta[4]);
        let (a, b) = (mu * kappa, (1.0 - mu) * kappa);
        let log_gamma = statrs::function::gamma::ln_gamma;
        log_gamma(kappa) - log_gamma(a) - log_gamma(b)
            + (a - 1.0) * y.ln()
            + (b - 1.0) * (-y).ln_1p()
    });
    check_rows(
        "where(y == 0, log(h), log1p(-h) + beta_proportion_lpdf(y, logistic(m), k))",
        &shares,
        share,
    );
}

#[test]
fn mixtures_are_of_what_can_be() {
    let both = [-1.2, 0.4, 2.5, -0.1, 0.0];
    let mixed = |theta: &[f64], y: f64, x: f64| {
        let normal = (-theta[0]).ln_1p() + log_normal_density(y, theta[1], 2.0);
        if y <= 0.0 {
            return normal;
        }
        let other = log_lognormal_density(y, theta[1] + theta[2] * x, theta[3]);
        ((theta[0].ln() + other).exp() + normal.exp()).ln()
    };
    for row in [
        "log_mix(h, lognormal_lpdf(y, m + b * x, s), normal_lpdf(y, m, 2))",
        "log_sum_exp(log1p(-h) + normal_lpdf(y, m, 2), log(h) + lognormal_lpdf(y, m + b * x, s))",
        "where(y > -5, log_mix(h, lognormal_lpdf(y, m + b * x, s), normal_lpdf(y, m, 2)), -inf)",
        "where(y > 0, log_mix(h, lognormal_lpdf(y, m + b * x, s), normal_lpdf(y, m, 2)), log1p(-h) + normal_lpdf(y, m, 2))",
    ] {
        check_rows(row, &both, mixed);
    }
    check_rows(
        "where(y > 0, normal_lpdf(log(y), m, s), normal_lpdf(y, m + b * x, 2))",
        &both,
        |theta, y, x| match y > 0.0 {
            true => log_normal_density(y.ln(), theta[1], theta[3]),
            false => log_normal_density(y, theta[1] + theta[2] * x, 2.0),
        },
    );
}

#[test]
fn outcomes_that_a_distribution_never_has_are_named() {
    let y = [numbers("y", &[1.0, 0.5, 0.0, 2.0])];
    for (line, sentence) in [
        (
            "y ~ lognormal(a, 1)",
            "`lognormal` is of numbers above 0, but this is 0 in row 3",
        ),
        (
            "where(y > 0.5, a * log(y), 0)\n a * log(y)",
            "A finite number is needed, but this is -inf in row 3",
        ),
        (
            "where(y < 1, a * log(y), 0)",
            "A finite number is needed, but this is -inf in row 3",
        ),
    ] {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n {line}\n");
        let why = refusal(&text, &y);
        assert!(why.contains(sentence), "{why}");
    }
}
