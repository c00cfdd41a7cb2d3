//! Models as text against closed forms, finite differences, and the templates.

use std::sync::Arc;

use ergodic_core::design::Predictor;
use ergodic_core::models::{Model, Rows};
use proptest::prelude::*;

use crate::Program;
use crate::distributions::DISTRIBUTIONS;

mod conditional;
mod densities;
mod exact_transition;
mod foreign;
mod further;
mod gallery;
mod indeterminate;
mod indices;
mod levels;
mod limits;
mod marks;
mod observation;
mod passes;
mod products;
mod reading;
mod stan;
mod subsampling;
mod support;
mod target_alone;
mod templates;
mod vectors;

/// A column of numbers.
fn numbers(name: &str, values: &[f64]) -> (String, Predictor) {
    (name.to_owned(), Predictor::Numeric(values.to_vec()))
}

/// A column of categories.
fn group(name: &str, levels: &[&str], codes: &[u32]) -> (String, Predictor) {
    let levels = levels.iter().map(|&it| it.to_owned()).collect();
    let (codes, reference) = (codes.to_vec(), 0);
    let values = Predictor::Categorical {
        levels,
        codes,
        reference,
    };
    (name.to_owned(), values)
}

fn model(text: &str, columns: &[(String, Predictor)]) -> Arc<dyn Model> {
    let rows = columns.first().map_or(0, |(_, values)| match values {
        Predictor::Numeric(values) => values.len(),
        Predictor::Categorical { codes, .. } => codes.len(),
        Predictor::Function(_) => 0,
    });
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let model = program.model_of(columns, rows);
    model.unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt()))
}

fn refusal(text: &str, columns: &[(String, Predictor)]) -> String {
    let rows = 4;
    let made = Program::parse(text).and_then(|program| program.model_of(columns, rows));
    made.err().map_or_else(
        || panic!("not refused: {text}"),
        |error| format!("{}:{}: {}", error.line, error.column, error.message),
    )
}

/// The log density at `u` and its gradient.
fn density(model: &dyn Model, u: &[f64]) -> (f64, Vec<f64>) {
    let mut grad = vec![0.0; u.len()];
    let density = model.density().unwrap();
    (density.log_density(u, &mut grad), grad)
}

/// Central differences of `f`.
fn slopes(u: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut at = u.to_vec();
    (0..u.len())
        .map(|j| {
            let step = 1e-5;
            at[j] = u[j] + step;
            let above = f(&at);
            at[j] = u[j] - step;
            let below = f(&at);
            at[j] = u[j];
            (above - below) / (2.0 * step)
        })
        .collect()
}

#[track_caller]
fn near(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in got.iter().zip(wanted) {
        let same = (a - b).abs() <= tolerance * scale;
        assert!(same, "{what}: {got:?} against {wanted:?}");
    }
}

#[test]
fn a_normal_has_its_closed_form() {
    let model = model("parameters\n a ~ normal(1, 2)\n", &[]);
    let (value, grad) = density(model.as_ref(), &[2.5]);
    let wanted = -0.5 * 0.5625 - 2.0_f64.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
    near(&[value], &[wanted], 1e-14, "value");
    near(&grad, &[-1.5 / 4.0], 1e-14, "slope");
}

/// Programs with everything that the language has, and columns for them.
fn programs() -> Vec<(&'static str, Vec<(String, Predictor)>)> {
    let n = 300;
    let at = |k: usize| (k as f64 * 0.7).sin();
    let age: Vec<f64> = (0..n).map(|k| 1.5 * at(k)).collect();
    let fee: Vec<f64> = (0..n).map(|k| 0.3 + at(3 * k + 1)).collect();
    let churned: Vec<f64> = (0..n)
        .map(|k| f64::from(u8::from(at(5 * k) > 0.1)))
        .collect();
    let count: Vec<f64> = (0..n).map(|k| (3.0 + 3.0 * at(2 * k)).floor()).collect();
    let share: Vec<f64> = (0..n).map(|k| 0.5 + 0.45 * at(7 * k)).collect();
    let rating: Vec<f64> = (0..n).map(|k| (1 + k * 13 % 4) as f64).collect();
    let region: Vec<u32> = (0..n as u32).map(|k| k * 7 % 4).collect();
    let plan: Vec<u32> = (0..n as u32).map(|k| k * 5 % 3).collect();
    let many: Vec<u32> = (0..n as u32).map(|k| k * 11 % 20).collect();
    let levels: Vec<String> = (0..20).map(|k| format!("g{k}")).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let table = vec![
        numbers("age", &age),
        numbers("fee", &fee),
        numbers("churned", &churned),
        numbers("count", &count),
        numbers("share", &share),
        numbers("rating", &rating),
        group("region", &["e", "n", "s", "w"], &region),
        group("plan", &["a", "b", "c"], &plan),
        group("many", &levels, &many),
    ];
    let texts = [
        "parameters
           a ~ normal(0, 10)
           s ~ half_student_t(3, 0, 2.5)
           b[region] ~ normal(0, s)
           w: matrix(3, 2) ~ normal(0, 1)
         rows
           churned ~ bernoulli_logit(a + b[region] + dot(w[plan], [age, fee]))
         report
           odds = exp(a)
           c = b - mean(b)",
        "parameters
           a ~ normal(0, 1)
           c: vector(3) ~ student_t(4, 0, 1)
         rows
           z = a + c[1] * age + c[2] * fee - c[3] * age * fee + 0.2
           churned ~ bernoulli_logit(z)",
        "parameters
           mu ~ normal(0, 1)
           tau ~ half_normal(1)
           z[many] ~ normal(0, 1)
           theta = mu + tau * z
           phi ~ exponential(1)
         rows
           count ~ neg_binomial_2_log(theta[many] + 0.1 * age, phi)",
        "parameters
           p: simplex(3) ~ dirichlet([1, 2, 3])
           q[region]: simplex(3) ~ dirichlet(2)
           m: vector(3)
           s ~ lognormal(0, 1)
         rows
           k = log_sum_exp([log(p[1]) + normal_lpdf(age | m[1], s), log(p[2]) + normal_lpdf(age, m[2], s), log(p[3]) + normal_lpdf(age, m[3], s)])
           k + 0.5 * log(q[region, 2])
         target
           m[1] ~ normal(-1, 1)
           [m[2], m[3]] ~ normal([0, 1], 0.5)",
        "parameters
           b: vector(2) ~ normal(0, 1)
           c: ordered(3) ~ student_t(3, 0, 2.5)
           d[region]: ordered(2) ~ normal(0, 2)
         rows
           rating ~ ordered_logistic(b[1] * age + b[2] * fee, c)
           ordered_logistic_lpmf(1 + (share > 0.3) + (share > 0.7), age, d[region])",
        "parameters
           r: real in (-1, 1) ~ uniform(-1, 1)
           lo: real in (-inf, 2) ~ normal(0, 1)
           g ~ gamma(2, 3)
           e ~ beta(2, 2)
           h: positive
         rows
           share ~ beta_proportion(logistic(r + e * age), 5 + g)
           age ~ student_t(3 + g, lo * fee, h)
         target
           -h - where(r > 0, r^2, 2 * r^2) + tanh(lo) / (1 + h) + min(r, lo) + max(r, lo) - abs(r)^1.5 + h^e
           log_mix(e, r, lo)",
        "parameters
           b[region, plan] ~ laplace(0, 1)
           v[region]: vector(2) ~ logistic(0, 1)
           k ~ weibull(2, 1)
         rows
           is_north = (region == \"n\") - (plan != \"a\") * (age < 0)
           age ~ normal(b[region, plan] * v[region][1] + k * is_north, 1 + k^2)
           count ~ poisson_log(v[region, 2] / (1 + k))",
        "parameters
           a ~ std_normal()
           d ~ double_exponential(0, 1)
           k ~ skew_normal(0, 1, 2)
           m in (1, inf) ~ pareto(1, 3)
           r ~ exponential(1)
           b: vector(2) ~ normal(0, 1)
           p: simplex(4) ~ dirichlet(2)
         rows
           plan ~ categorical_logit([0, a + b[1] * age, d + b[2] * fee])
           rating ~ categorical(p)
           count ~ beta_binomial(8, m, r)
           normal_lccdf(age | a, m) + log(Phi(k * fee)) + erf(a * age) * erfc(k)
           log_diff_exp(normal_lcdf(age + 1 | a, m), normal_lcdf(age | a, m)) + normal_cdf(fee, k, r)
           categorical_logit_lpmf(1 + (age > 0), [a, k]) + student_t_lpdf(age | 3 + r, a, m)
           count ~ neg_binomial_2(exp(a), m)
           fee ~ skew_normal(a, m, k)",
        "data
           x: vector = [age, fee, sh*]
         parameters
           a ~ normal(0, 1)
           w[plan]: vector(length(x)) ~ normal(0, 1)
           s ~ gamma(2, 1)
         rows
           x ~ normal(a, s)
           churned ~ bernoulli_logit(a + dot(w[plan], x) - mean(x)^2)",
        "data
           x: vector = [age, fee, sh*]
         parameters
           w: matrix(4, length(x)) ~ normal(0, 1)
           c: vector(4) ~ normal(0, 1)
           v: matrix(3, 4) ~ normal(0, 1)
           m = matmul(v, w)
         rows
           z = matmul(v, tanh(c + matmul(w, x)))
           z[1] - log_sum_exp(z) - 0.1 * sum(square(matmul(m, x)))
           rating ~ normal(z[2] * age, 1 + m[3, 1]^2)",
    ];
    texts
        .into_iter()
        .map(|text| (text, table.clone()))
        .collect()
}

/// Positions near 0, but not so near that a difference could step across a kink there.
fn position(dim: usize, seed: u64) -> Vec<f64> {
    use rand::RngExt as _;
    let mut rng = ergodic_base::stream(seed, 0, ergodic_base::Purpose::Data);
    (0..dim)
        .map(|_| {
            let size: f64 = rng.random_range(0.01..1.0);
            if rng.random::<bool>() { size } else { -size }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gradients_agree_with_finite_differences(seed in 0..1_000_000_u64) {
        for (text, columns) in programs() {
            let model = model(text, &columns);
            let u = position(model.dim(), seed);
            let (_, grad) = density(model.as_ref(), &u);
            let numeric = slopes(&u, |u| density(model.as_ref(), u).0);
            near(&grad, &numeric, 2e-6, text);
        }
    }
}

#[test]
fn rows_alone_and_together_say_the_same() {
    for (text, columns) in programs() {
        let model = model(text, &columns);
        let rows = model.rows().unwrap();
        let u = position(model.dim(), 3);
        let (mut grad, mut scratch) = (vec![0.0; u.len()], rows.scratch());
        let value = rows.log_lik(&u, Rows::All, &mut scratch, &mut grad);
        let mut each = vec![0.0; rows.num_obs()];
        rows.pointwise(&u, Rows::All, &mut scratch, &mut each);
        near(&[each.iter().sum()], &[value], 1e-12, text);
        let mut scores = vec![0.0; rows.num_obs() * u.len()];
        rows.scores(&u, Rows::All, &mut scratch, &mut scores);
        let sums: Vec<f64> = (0..u.len())
            .map(|j| scores.iter().skip(j).step_by(u.len()).sum())
            .collect();
        near(&sums, &grad, 1e-12, text);
        // Parts in any order.
        let picks: Vec<u32> = (0..rows.num_obs() as u32).rev().collect();
        let mut parts = vec![0.0; u.len()];
        let mut total = 0.0;
        for part in picks.chunks(37) {
            total += rows.log_lik(&u, Rows::Pick(part), &mut scratch, &mut parts);
        }
        near(&[total], &[value], 1e-12, text);
        near(&parts, &grad, 1e-12, text);
        let mut spans = vec![0.0; u.len()];
        for start in (0..rows.num_obs()).step_by(41) {
            let len = 41.min(rows.num_obs() - start);
            rows.log_lik(&u, Rows::Span { start, len }, &mut scratch, &mut spans);
        }
        near(&spans, &grad, 1e-12, text);
    }
}
