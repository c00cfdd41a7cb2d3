//! Programs in Stan: the code that is written, and Stan's own densities of it (`tests/reference/own_stan.R`).

use std::path::{Path, PathBuf};

use super::{density, group, model, numbers};
use crate::Program;
use ergodic_core::design::matrix::Predictor;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/own_stan")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The columns of `data.csv`, categories in the order of the alphabet.
fn columns() -> Vec<(String, Predictor)> {
    let text = read("data.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    (heads.iter().enumerate())
        .map(|(k, head)| {
            let values: Vec<&str> = rows.iter().map(|row| row[k]).collect();
            match values.iter().map(|value| value.parse()).collect() {
                Ok(all) => numbers(head, &Vec::<f64>::clone(&all)),
                Err(_) => {
                    let mut levels = values.clone();
                    levels.sort_unstable();
                    levels.dedup();
                    let code = |value| levels.iter().position(|level| level == value).unwrap();
                    let codes: Vec<u32> = values.iter().map(|value| code(value) as u32).collect();
                    group(head, &levels, &codes)
                }
            }
        })
        .collect()
}

#[test]
fn stan_has_the_same_density() {
    let columns = columns();
    for name in ["rows", "schools", "counts"] {
        let text = read(&format!("{name}.model"));
        let program = Program::parse(&text).unwrap();
        let stan = program
            .stan_of(&columns, 8)
            .unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt()));
        assert_eq!(
            stan.trim_end(),
            read(&format!("{name}.stan")).trim_end(),
            "{name}"
        );
        let model = model(&text, &columns);
        let table = read(&format!("{name}.csv"));
        let points: Vec<Vec<f64>> = table
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|x| x.trim().parse().unwrap()).collect())
            .collect();
        let apart = |point: &Vec<f64>| {
            let (log_density, u) = point.split_last().unwrap();
            assert_eq!(u.len(), model.dim());
            density(model.as_ref(), u).0 - log_density
        };
        assert_eq!(points.len(), 4);
        let constant = apart(&points[0]);
        for point in &points {
            let size = 1.0 + point.last().unwrap().abs();
            assert!(
                (apart(point) - constant).abs() < 1e-10 * size,
                "{name}: {} for {constant}",
                apart(point)
            );
        }
    }
}

#[test]
fn names_of_stan_are_left_to_it() {
    let text = "parameters\n  lower ~ normal(0, 1)\n  `fee (monthly)`__ ~ normal(lower, 2)\n";
    let program = Program::parse(
        "parameters\n  lower ~ normal(0, 1)\n  real_2 ~ normal(lower, 2)\ntarget\n  exp(real_2)",
    );
    let stan = program.unwrap().stan_of(&[], 0).unwrap();
    assert!(
        stan.contains("real lower_2;") && stan.contains("real_2 ~ normal(lower_2, 2.0);"),
        "{stan}"
    );
    assert!(!stan.contains("data {"), "{stan}");
    assert!(Program::parse(text).is_err());
    // What is too long to be written out is refused, with its place.
    let long = "parameters\n  x: vector(2000) ~ normal(0, 1)\ntarget\n  -log_sum_exp(x)";
    let stan = Program::parse(long).unwrap().stan_of(&[], 0);
    assert!(stan.is_err_and(|error| error.line == 4 && error.message.contains("too long")));
}
