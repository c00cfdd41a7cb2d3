//! NUTS on the example models, against closed forms and grids.

use std::sync::Arc;

use crate::design::Design;
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions, find};
use crate::samplers::testing::{Chain, Run, assert_moments, exact_oracle, grid_moments};
use ergodic_base::Control;
use ergodic_base::settings::{Settings, Value};

/// A column of numbers, or two as rows of two; those of no response are called x1 and x2.
pub(in crate::samplers) fn model(
    id: &str,
    settings: &[(&str, f64)],
    columns: &[&[f64]],
) -> Arc<dyn Model> {
    use crate::design::{MemoryColumns, Values};
    let entry = find(id).unwrap();
    let mut chosen = Settings::default();
    for (key, value) in settings {
        chosen.set(key, Value::Real(*value));
    }
    if id == "gaussian-mixture" {
        chosen.set("parameters", Value::Text("shift".to_owned()));
    }
    let named = columns.iter().enumerate();
    let named = named.map(|(j, values)| (format!("x{}", j + 1), Values::Numbers(values.to_vec())));
    let table = MemoryColumns::new("t", named.collect()).unwrap();
    let formula = match (id, columns.len()) {
        ("gaussian-mixture" | "multivariate-t", 1) => "~ x1",
        ("gaussian-mixture" | "multivariate-t", _) => "~ x1 + x2",
        _ => "x1 ~ 1",
    };
    let frame = crate::design::ModelFrame {
        response_use: entry.response_use(&chosen),
        ..crate::design::ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let options = ModelOptions {
        settings: entry.resolve(&chosen).unwrap(),
        ..ModelOptions::default()
    };
    (entry.build)(Arc::new(design), &options).unwrap()
}

/// Draws of each coordinate of u by four chains of NUTS.
fn chains(model: &Arc<dyn Model>) -> Vec<Vec<Vec<f64>>> {
    // Two arms of equal height have a saddle between them, where the search may end without a mode.
    let mode = find_mode(model.as_ref(), &Control::default()).ok();
    let centre = mode.map(|mode| Arc::new(mode.centre));
    let chains: Vec<Chain> = (1..=4)
        .map(|seed| {
            let oracle = exact_oracle(Arc::clone(model), centre.clone());
            Run::new("nuts").seed(seed).go(oracle, 500, 4000)
        })
        .collect();
    (0..model.dim())
        .map(|j| chains.iter().map(|chain| chain.coordinate(j)).collect())
        .collect()
}

const X: [f64; 12] = [1.9, -0.3, 0.8, 2.4, 1.1, 0.2, 3.0, 1.6, -1.2, 0.9, 1.4, 2.2];
const Z: [f64; 12] = [
    0.1, 0.7, -1.3, 0.4, 9.0, -0.6, 0.3, 1.2, -0.2, 0.8, -0.9, 0.5,
];

#[test]
fn the_normal_mean_has_its_posterior() {
    let model = model("normal-mean", &[], &[&X]);
    let precision = 12.0 + 0.1;
    let mean = X.iter().sum::<f64>() / precision;
    assert_moments("theta", &chains(&model)[0], mean, 1.0 / precision);
}

#[test]
fn the_normal_gamma_posterior_has_its_marginals() {
    let model = model("normal-gamma", &[], &[&X]);
    let n = 12.0;
    let mean = X.iter().sum::<f64>() / n;
    let squares: f64 = X.iter().map(|x| (x - mean).powi(2)).sum();
    let shape = 5.0 + n / 2.0;
    let rate = 1.0 + 0.5 * squares + n * mean * mean / (2.0 * (n + 1.0));
    // μ: a Student t with 2·shape degrees of freedom and squared scale rate/(shape (n + 1)).
    let variance = rate / ((shape - 1.0) * (n + 1.0));
    let draws = chains(&model);
    assert_moments("mu", &draws[0], mean * n / (n + 1.0), variance);
    let precision: Vec<Vec<f64>> = draws[1]
        .iter()
        .map(|chain| chain.iter().map(|tau| tau.exp()).collect())
        .collect();
    assert_moments("tau", &precision, shape / rate, shape / (rate * rate));
}

#[test]
fn curved_heavy_and_mixed_posteriors_agree_with_grids() {
    let far: Vec<f64> = X.iter().map(|x| x + 1.5).collect();
    for (model, centre, half_width) in [
        (
            model("warped-gaussian", &[], &[&X[..4]]),
            [0.0, 0.0],
            [6.0, 5.0],
        ),
        (
            model("multivariate-t", &[("correlation", 0.6)], &[&X, &Z]),
            [1.0, 0.3],
            [3.0, 3.0],
        ),
        (
            model(
                "gaussian-mixture",
                &[("variance", 2.0), ("second_prior_variance", 1.0)],
                &[&far],
            ),
            [2.5, 0.0],
            [4.0, 5.0],
        ),
    ] {
        let [mean, second_mean, variance, second_variance, _] =
            grid_moments(model.as_ref(), centre, half_width);
        let draws = chains(&model);
        assert_moments("first", &draws[0], mean, variance);
        assert_moments("second", &draws[1], second_mean, second_variance);
    }
}
