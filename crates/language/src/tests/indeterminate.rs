//! Values and derivatives where a chance or a rate is exactly 0 or 1.

use super::*;

/// A model of one number z and a line of `target`.
fn at_limit(line: &str, z: f64) -> (f64, Vec<f64>) {
    let text = format!("parameters\n z: real\ntarget\n {line}\n");
    density(model(&text, &[]).as_ref(), &[z])
}

#[test]
fn limits_of_densities_and_sums_are_those_of_calculus() {
    let z = 0.4_f64;
    let (q, rate) = (1.0 / (1.0 + (-z).exp()), z.exp());
    let log_share = (q.ln(), 1.0 - q);
    for (line, (value, slope)) in [
        ("log_sum_exp(-inf, log(logistic(z)))", log_share),
        ("log_sum_exp([log(logistic(z)), -inf, -inf])", log_share),
        ("log_sum_exp(log(0 * exp(z)), log(logistic(z)))", log_share),
        ("log_sum_exp(log(logistic(z)), log(0 * exp(z)))", log_share),
        ("log_mix(0, 0, log(logistic(z)))", log_share),
        ("log_mix(1, log(logistic(z)), 0)", log_share),
        ("log_mix(0 * z, 0, log(logistic(z)))", log_share),
        (
            "[0, 3] ~ poisson(exp(z) * [0, 1])",
            (3.0 * z - rate - 6.0_f64.ln(), 3.0 - rate),
        ),
        (
            "[0, 3] ~ binomial([4, 4], logistic(z) * [0, 1])",
            (
                4.0_f64.ln() + 3.0 * q.ln() + (1.0 - q).ln(),
                3.0 * (1.0 - q) - q,
            ),
        ),
        ("4 ~ binomial(4, 1 + 0 * z)", (0.0, 0.0)),
        ("[1, 0] ~ bernoulli([1, 0] + 0 * z)", (0.0, 0.0)),
        ("0 ~ neg_binomial_2(0 * exp(z), exp(z))", (0.0, 0.0)),
        ("0 ~ geometric(1 + 0 * z)", (0.0, 0.0)),
        // What is not chosen has no part in the derivative.
        ("where(1 < 0 * z, sqrt(0 * z), z)", (z, 1.0)),
    ] {
        let (found, grad) = at_limit(line, z);
        near(&[found], &[value], 1e-13, line);
        near(&grad, &[slope], 1e-13, line);
    }
    // A count above 0 is still impossible.
    assert_eq!(at_limit("3 ~ poisson(0 * exp(z))", z).0, f64::NEG_INFINITY);
}

#[test]
fn rows_at_a_limit_count_for_what_they_are() {
    let exposure: [f64; 4] = [0.0, 1.0, 2.0, 0.5];
    let count = [0.0, 2.0, 3.0, 0.0];
    let columns = [
        numbers("y", &count),
        numbers("t", &exposure),
        numbers("b", &[0.0, 1.0, 1.0, 0.0]),
    ];
    let z = 0.3_f64;
    let rows = |line: &str| {
        let text = format!("parameters\n z: real\nrows\n {line}\n");
        density(model(&text, &columns).as_ref(), &[z])
    };
    let (value, grad) = rows("y ~ poisson(exp(z) * t)");
    // 2! and 3! of the counts.
    let mut wanted = -(2.0_f64.ln() + 6.0_f64.ln()) - z.exp() * 3.5;
    for (y, t) in count.iter().zip(exposure).filter(|(y, _)| **y > 0.0) {
        wanted += y * (z + t.ln());
    }
    near(&[value], &[wanted], 1e-13, "counts");
    near(&grad, &[5.0 - 3.5 * z.exp()], 1e-13, "slope of counts");
    let (value, grad) = rows("b ~ bernoulli(where(b == 1, logistic(z), 0))");
    let q = 1.0 / (1.0 + (-z).exp());
    near(&[value], &[2.0 * q.ln()], 1e-13, "chances");
    near(&grad, &[2.0 * (1.0 - q)], 1e-13, "slope of chances");
}

/// What a text says is infinite is taken as it is; what comes out so in a row is not.
#[test]
fn rows_may_choose_what_is_impossible() {
    let columns = [numbers("y", &[0.0, 2.0, 0.0, 5.0])];
    let rows = |line: &str| {
        let text =
            format!("parameters\n z ~ normal(0, 1)\n p in (0, 1) ~ beta(1, 1)\nrows\n {line}\n");
        density(model(&text, &columns).as_ref(), &[0.7, -0.4])
    };
    let (found, grad) = rows("log_mix(p, where(y == 0, 0, -inf), poisson_log_lpmf(y, z))");
    let known =
        "where(y == 0, log_mix(p, 0, poisson_log_lpmf(y, z)), log1p(-p) + poisson_log_lpmf(y, z))";
    let (value, slopes) = rows(known);
    near(&[found], &[value], 1e-13, "value");
    near(&grad, &slopes, 1e-13, "slopes");
    let text = "parameters\n z ~ normal(0, 1)\nrows\n z * log(y)\n";
    let said = refusal(text, &columns);
    assert!(
        said.contains("A finite number is needed, but this is -inf"),
        "{said}"
    );
}
