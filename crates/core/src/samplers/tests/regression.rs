//! Regression templates sampled by NUTS: against a closed form, and against posteriors of numpyro for the same data
//! (`tests/reference/regressions.py`).

use std::sync::Arc;

use crate::design::{MemoryColumns, ResponseUse};
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions};
use crate::samplers::testing::{Run, assert_moments_near, estimate, exact_oracle};
use crate::testing::{built_by, table_of};
use ergodic_base::Control;

/// Reported quantities of `chains` chains by NUTS: per chain one series per quantity.
pub(in crate::samplers) fn reported(
    model: &Arc<dyn Model>,
    chains: u64,
    draws: usize,
) -> Vec<Vec<Vec<f64>>> {
    reported_by(&Run::new("nuts"), model, chains, draws)
}

/// Reported quantities of `chains` chains by the sampler of `run`.
pub(in crate::samplers) fn reported_by(
    run: &Run,
    model: &Arc<dyn Model>,
    chains: u64,
    draws: usize,
) -> Vec<Vec<Vec<f64>>> {
    let mode = find_mode(model.as_ref(), &Control::default());
    let centre = mode.ok().map(|mode| Arc::new(mode.centre));
    (1..=chains)
        .map(|seed| {
            let oracle = exact_oracle(Arc::clone(model), centre.clone());
            let chain = run.clone().seed(seed).go(oracle, 300, draws);
            let mut series = vec![Vec::with_capacity(draws); model.params().len()];
            let mut theta = vec![0.0; series.len()];
            for u in chain.draws.chunks_exact(model.dim()) {
                model.constrain(u, &mut theta);
                for (series, &theta) in series.iter_mut().zip(&theta) {
                    series.push(theta);
                }
            }
            series
        })
        .collect()
}

/// With priors flat in β and σ the posterior of a slope is Student-t with n − p − 1 degrees of freedom (flat σ, not flat
/// log σ, costs one), whatever the scale priors hold on.
#[test]
fn under_flat_priors_the_slope_is_student_t() {
    let n = 20;
    let x: Vec<f64> = (0..n)
        .map(|i| 100.0 + (i as f64 * 1.7).sin() * 7.0)
        .collect();
    let y: Vec<f64> = (0..n)
        .map(|i| 500.0 + 3.0 * x[i] + 20.0 * (i as f64 * 2.3).cos())
        .collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let sxx: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = sxy / sxx;
    let rss: f64 = x
        .iter()
        .zip(&y)
        .map(|(x, y)| (y - my - slope * (x - mx)).powi(2))
        .sum();
    let df = n as f64 - 3.0;
    let variance = rss / df / sxx * df / (df - 2.0);
    let table = table_of(vec![("x", x), ("y", y)]);
    for standardize in [true, false] {
        let options = ModelOptions {
            priors: ["intercept", "b", "sigma"]
                .map(|key| (key.into(), "flat".into()))
                .into(),
            standardize,
            ..ModelOptions::default()
        };
        let model = built_by("linear", &table, "y ~ x", ResponseUse::Number, &options).unwrap();
        let draws = reported(&model, 1, 6000);
        let slopes = draws
            .iter()
            .map(|chain| chain[1].clone())
            .collect::<Vec<_>>();
        let (found, error) = estimate(&slopes);
        assert!(
            (found - slope).abs() < 4.0 * error,
            "{found} {slope} {error}"
        );
        let squares: Vec<f64> = slopes[0].iter().map(|s| (s - slope).powi(2)).collect();
        let (found, error) = estimate(&[squares]);
        assert!(
            (found - variance).abs() < 4.0 * error,
            "{found} {variance} {error}"
        );
        assert!(error < 0.1 * variance);
    }
}

/// Rows of a committed CSV file of numbers, with its header.
pub(in crate::samplers) fn read(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

fn table() -> MemoryColumns {
    let (names, rows) = read(include_str!(
        "../../../../../tests/reference/regressions_data.csv"
    ));
    let column = |j: usize| rows.iter().map(|row| row[j].parse().unwrap()).collect();
    table_of(
        names
            .into_iter()
            .enumerate()
            .map(|(j, name)| (name, column(j)))
            .collect(),
    )
}

#[test]
fn posteriors_are_those_of_numpyro() {
    let table = table();
    let options = ModelOptions {
        standardize: true,
        ..ModelOptions::default()
    };
    let counts = |response: &str| format!("{response} ~ x1 + x2 + offset(log(exposure))");
    let numbers = "number ~ x1 + x2";
    let (count, number) = (ResponseUse::Count, ResponseUse::Number);
    let models = [
        (
            "poisson",
            built_by("poisson", &table, &counts("count"), count, &options),
        ),
        (
            "negative-binomial",
            built_by(
                "negative-binomial",
                &table,
                &counts("over"),
                count,
                &options,
            ),
        ),
        (
            "student",
            built_by("student", &table, numbers, number, &options),
        ),
        (
            "linear",
            built_by("linear", &table, numbers, number, &options),
        ),
    ];
    let (_names, reference) = read(include_str!(
        "../../../../../tests/reference/regressions.csv"
    ));
    for (id, model) in models {
        let model = model.unwrap();
        let chains = reported(&model, 3, 1500);
        let expected: Vec<_> = reference.iter().filter(|row| row[0] == id).collect();
        assert_eq!(expected.len(), model.params().len(), "{id}");
        for (j, (param, row)) in model.params().iter().zip(expected).enumerate() {
            assert_eq!(param.name, row[1], "{id}");
            let number = |k: usize| row[k].parse::<f64>().unwrap();
            let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain[j].clone()).collect();
            assert_moments_near(
                &format!("{id} {}", row[1]),
                &series,
                number(2),
                number(3),
                number(4),
            );
        }
    }
}
