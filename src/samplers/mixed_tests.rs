//! Template `mixed` sampled by NUTS, against posteriors of numpyro for the same data (`tests/reference/mixed.py`).

use std::sync::Arc;

use super::regression_tests::{read, reported};
use super::testing::assert_moments_near;
use crate::base::settings::{Settings, Value};
use crate::data::response::ResponseUse;
use crate::models::ModelOptions;
use crate::models::mixed::Mixed;
use crate::models::testing::{built, table_of};

fn agrees_with_numpyro(family: &str, formula: &str, response: ResponseUse, parametrisation: &str) {
    let (names, rows) = read(include_str!("../../tests/reference/mixed_data.csv"));
    let column = |j: usize| rows.iter().map(|row| row[j].parse().unwrap()).collect();
    let columns = names.into_iter().enumerate();
    let table = table_of(columns.map(|(j, name)| (name, column(j))).collect());
    let mut settings = Settings::default();
    settings.set("family", Value::Text(family.to_owned()));
    settings.set("parametrisation", Value::Text(parametrisation.to_owned()));
    let options = ModelOptions {
        settings,
        standardize: true,
        ..ModelOptions::default()
    };
    let model = built::<Mixed>(&table, formula, response, &options).unwrap();
    let chains = reported(&Arc::clone(&model), 2, 1500);
    let (_names, reference) = reference();
    let expected: Vec<_> = reference.iter().filter(|row| row[0] == family).collect();
    assert!(expected.len() > 4);
    for row in expected {
        // Names with commas are quoted.
        let name = row[1].as_str();
        let j = model.params().iter().position(|param| param.name == name);
        let j = j.unwrap_or_else(|| panic!("{family} has no {name}"));
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain[j].clone()).collect();
        assert_moments_near(
            &format!("{family} {name}"),
            &series,
            number(2),
            number(3),
            number(4),
        );
    }
}

/// Rows of the reference: model, variable, mean, its error, sd.
fn reference() -> (Vec<String>, Vec<Vec<String>>) {
    let text = include_str!("../../tests/reference/mixed.csv");
    let mut lines = text.lines().map(|line| {
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
    });
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn correlated_slopes_of_a_gaussian_response_are_those_of_numpyro() {
    let formula = "reaction ~ x + (1 + x | g)";
    agrees_with_numpyro("gaussian", formula, ResponseUse::Number, "non-centred");
}

#[test]
fn intercepts_of_a_yes_no_response_are_those_of_numpyro() {
    let formula = "ill ~ x + (1 | g)";
    agrees_with_numpyro("bernoulli", formula, ResponseUse::Outcome, "non-centred");
}

#[test]
fn crossed_intercepts_of_counts_are_those_of_numpyro() {
    let formula = "calls ~ x + (1 | g) + (1 | h)";
    agrees_with_numpyro("poisson", formula, ResponseUse::Count, "non-centred");
}
