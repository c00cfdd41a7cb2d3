//! Template `mixed` sampled by NUTS, against posteriors of numpyro for the same data (`tests/reference/mixed.py`).

use std::sync::Arc;

use super::mixed::testing::nested_mixed;
use super::regression_tests::{read, reported, reported_by};
use super::testing::{Run, assert_moments_near, estimate};
use crate::base::settings::{Settings, Value};
use crate::data::response::ResponseUse;
use crate::models::mixed::Mixed;
use crate::models::testing::{built, table_of};
use crate::models::{Model, ModelOptions};

/// A posterior that numpyro sampled too.
#[derive(Clone, Copy)]
struct Posterior {
    /// Also what the reference calls it.
    family: &'static str,
    formula: &'static str,
    response: ResponseUse,
}

const GAUSSIAN: Posterior = Posterior {
    family: "gaussian",
    formula: "reaction ~ x + (1 + x | g)",
    response: ResponseUse::Number,
};
const BERNOULLI: Posterior = Posterior {
    family: "bernoulli",
    formula: "ill ~ x + (1 | g)",
    response: ResponseUse::Outcome,
};
const POISSON: Posterior = Posterior {
    family: "poisson",
    formula: "calls ~ x + (1 | g) + (1 | h)",
    response: ResponseUse::Count,
};
/// Groups of 8 rows.
const DATA: &str = include_str!("../../tests/reference/mixed_data.csv");

impl Posterior {
    fn model(self, data: &str) -> Arc<dyn Model> {
        let (names, rows) = read(data);
        let column = |j: usize| rows.iter().map(|row| row[j].parse().unwrap()).collect();
        let columns = names.into_iter().enumerate();
        let table = table_of(columns.map(|(j, name)| (name, column(j))).collect());
        let mut settings = Settings::default();
        settings.set("family", Value::Text(self.family.to_owned()));
        let options = ModelOptions {
            settings,
            standardize: true,
            ..ModelOptions::default()
        };
        built::<Mixed>(&table, self.formula, self.response, &options).unwrap()
    }

    /// Place among the model's quantities, name, mean, its error, and sd, of every row of `reference`.
    fn expected(self, model: &dyn Model, reference: &str) -> Vec<(usize, String, [f64; 3])> {
        let rows = rows_of(reference);
        let own = rows.into_iter().filter(|row| row[0] == self.family);
        let found: Vec<_> = own
            .map(|row| {
                // Names with commas are quoted.
                let name = row[1].clone();
                let j = model.params().iter().position(|param| param.name == name);
                let j = j.unwrap_or_else(|| panic!("{} has no {name}", self.family));
                (j, name, [2, 3, 4].map(|k| row[k].parse().unwrap()))
            })
            .collect();
        assert!(found.len() > 4);
        found
    }

    /// Within Monte Carlo errors.
    fn agrees(self, run: &Run, chains: u64, draws: usize) {
        let model = self.model(DATA);
        let draws = reported_by(run, &model, chains, draws);
        for (j, name, [mean, error, sd]) in self.expected(model.as_ref(), REFERENCE) {
            let series: Vec<Vec<f64>> = draws.iter().map(|chain| chain[j].clone()).collect();
            let what = format!("{} {} {name}", run.id(), self.family);
            assert_moments_near(&what, &series, mean, error, sd);
        }
    }
}

/// By numpyro, for [`DATA`].
const REFERENCE: &str = include_str!("../../tests/reference/mixed.csv");

/// Rows of a reference: model, variable, mean, its error, sd.
fn rows_of(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .skip(1)
        .map(|line| {
            let mut cells = Vec::new();
            for (k, piece) in line.split('"').enumerate() {
                if k % 2 == 1 {
                    cells.push(piece.to_owned());
                } else {
                    let plain = piece.split(',').filter(|cell| !cell.is_empty());
                    cells.extend(plain.map(str::to_owned));
                }
            }
            cells
        })
        .collect()
}

#[test]
fn correlated_slopes_of_a_gaussian_response_are_those_of_numpyro() {
    GAUSSIAN.agrees(&Run::new("nuts"), 2, 1500);
    GAUSSIAN.agrees(&Run::new("gibbs-mixed"), 2, 4000);
}

#[test]
fn intercepts_of_a_yes_no_response_are_those_of_numpyro() {
    BERNOULLI.agrees(&Run::new("nuts"), 2, 1500);
}

#[test]
fn crossed_intercepts_of_counts_are_those_of_numpyro() {
    POISSON.agrees(&Run::new("nuts"), 2, 1500);
}

/// Means and variances of all quantities agree within Monte Carlo errors.
fn assert_same(what: &str, model: &Arc<dyn Model>, a: &[Vec<Vec<f64>>], b: &[Vec<Vec<f64>>]) {
    for (j, param) in model.params().iter().enumerate() {
        let series = |draws: &[Vec<Vec<f64>>], power: i32, centre: f64| -> Vec<Vec<f64>> {
            let of = |v: &f64| (v - centre).powi(power);
            draws
                .iter()
                .map(|chain| chain[j].iter().map(of).collect())
                .collect()
        };
        let (centre, _) = estimate(&series(a, 1, 0.0));
        for power in [1, 2] {
            let (first, second) = (
                estimate(&series(a, power, centre)),
                estimate(&series(b, power, centre)),
            );
            let error = first.1.hypot(second.1);
            assert!(
                (first.0 - second.0).abs() < 4.5 * error,
                "{what} {} to the {power}: {first:?} against {second:?}",
                param.name
            );
        }
    }
}

/// Whatever priors are set, wherever they hold: nested groups, correlated slopes.
#[test]
fn gibbs_samples_the_same_posterior_as_nuts_under_all_priors() {
    let all: [(&[(&str, &str)], bool); 3] = [
        (
            &[
                ("intercept", "normal(0, 1)"),
                ("b", "laplace(0.1, 0.05)"),
                ("sd", "exponential(3)"),
                ("cor", "lkj(2.5)"),
                ("sigma", "lognormal(-1, 0.3)"),
            ],
            true,
        ),
        (
            &[
                ("intercept", "student_t(4, 30, 1)"),
                ("b", "cauchy(0, 0.3)"),
                ("sd", "half_normal(1.5)"),
                ("sigma", "gamma(9, 2)"),
            ],
            false,
        ),
        (
            &[
                ("intercept", "flat"),
                ("b", "flat"),
                ("sd", "half_normal(0.5)"),
                ("sigma", "flat"),
            ],
            true,
        ),
    ];
    for (k, (priors, standardize)) in all.into_iter().enumerate() {
        let model = nested_mixed("gaussian", priors, standardize);
        let nuts = reported(&model, 2, 2500);
        let gibbs = reported_by(&Run::new("gibbs-mixed"), &model, 2, 6000);
        assert_same(&format!("priors {k}"), &model, &gibbs, &nuts);
    }
}
