//! Numbers of the R package loo (`tests/reference/loo_moment_match.R`) for the same draws.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;

use super::*;

const LIMIT: f64 = 0.7;

fn lines(file: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// A regression on one column with flat priors.
struct Line {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Of yes or no, otherwise normal with the logarithm of its noise as third parameter.
    logistic: bool,
    points: Vec<f64>,
    left_out: usize,
}

impl Line {
    fn read(model: &str) -> Self {
        let numbers = |file: &str| -> Vec<Vec<f64>> {
            let rows = lines(file).into_iter().filter_map(|line| {
                let cells = line.strip_prefix(model)?.strip_prefix(',')?.to_owned();
                Some(cells.split(',').map(|it| it.parse().unwrap()).collect())
            });
            rows.collect()
        };
        let data = numbers("loo_moment_match_data.csv");
        let logistic = model == "logistic";
        let dim = if logistic { 2 } else { 3 };
        Self {
            x: data.iter().map(|row| row[0]).collect(),
            y: data.iter().map(|row| row[1]).collect(),
            logistic,
            points: numbers("loo_moment_match_draws.csv")
                .iter()
                .flat_map(|row| row[..dim].to_vec())
                .collect(),
            left_out: 0,
        }
    }

    fn dim(&self) -> usize {
        if self.logistic { 2 } else { 3 }
    }

    fn row(&self, u: &[f64], i: usize) -> f64 {
        let eta = u[0] + u[1] * self.x[i];
        if self.logistic {
            let signed = (2.0 * self.y[i] - 1.0) * eta;
            return signed.min(0.0) - (-signed.abs()).exp().ln_1p();
        }
        let z = (self.y[i] - eta) / u[2].exp();
        -0.5 * z * z - u[2] - 0.5 * std::f64::consts::TAU.ln()
    }

    fn at_draws(&mut self) -> (Vec<f64>, Vec<f64>) {
        let points = self.points.clone();
        let count = points.len() / self.dim();
        let (mut density, mut log_lik) = (vec![0.0; count], vec![0.0; count]);
        let Ok(()) = self.evaluate(&points, &mut density, &mut log_lik);
        (density, log_lik)
    }
}

impl Target for Line {
    type Error = Infallible;

    fn evaluate(
        &mut self,
        points: &[f64],
        log_density: &mut [f64],
        log_lik: &mut [f64],
    ) -> Result<(), Infallible> {
        for (s, u) in points.chunks_exact(self.dim()).enumerate() {
            log_density[s] = (0..self.x.len()).map(|i| self.row(u, i)).sum();
            log_lik[s] = self.row(u, self.left_out);
        }
        Ok(())
    }
}

/// Value by model, row and quantity.
fn reference() -> BTreeMap<(String, usize), BTreeMap<String, f64>> {
    let mut out: BTreeMap<(String, usize), BTreeMap<String, f64>> = BTreeMap::new();
    for line in lines("loo_moment_match.csv").iter().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let key = (cells[0].to_owned(), cells[1].parse().unwrap());
        let value = cells[3].parse().unwrap();
        out.entry(key)
            .or_default()
            .insert(cells[2].to_owned(), value);
    }
    out
}

#[test]
fn moved_draws_score_rows_as_those_of_the_package_loo() {
    let reference = reference();
    assert_eq!(reference.len(), 2);
    for ((model, row), there) in reference {
        let mut line = Line::read(&model);
        line.left_out = row - 1;
        let (density, log_lik) = line.at_draws();
        let points = line.points.clone();
        let draws = Draws {
            points: &points,
            dim: line.dim(),
            log_density: &density,
        };
        let efficiency = there["efficiency"];
        let before = smoothed(log_lik.iter().map(|it| -it), efficiency);
        let near = |found: f64, quantity: &str| {
            let expected = there[quantity];
            println!("{model} {row} {quantity}: {found} {expected}");
            let error = (found - expected).abs();
            assert!(
                error < 1e-6 * expected.abs().max(1.0),
                "{model} {row} {quantity}: {found} {expected}"
            );
        };
        near(before.k, "k_before");
        let Ok(found) = adapt(&mut line, draws, &log_lik, (efficiency, LIMIT));
        let (moved, _, maps) = found.unwrap();
        near(moved.smoothed.k, "k");
        near(moved.mean(efficiency).0, "elpd_whole");
        let Ok(matched) = moment_match(&mut line, draws, &log_lik, (efficiency, LIMIT));
        let matched = matched.unwrap();
        near(matched.elpd, "elpd_split");
        assert_eq!((matched.k, matched.maps), (moved.smoothed.k, maps));
        // What weights alone said was too good, by more than what is left.
        let error = (matched.elpd - there["elpd_exact"]).abs();
        assert!(error < 0.2 * (there["elpd_before"] - there["elpd_exact"]).abs());
        assert!(
            error < 4.0 * matched.mc_variance.sqrt(),
            "{error} {matched:?}"
        );
    }
}

/// Points around the same mean go back to where they were.
#[test]
fn maps_are_undone() {
    let map = Map {
        shift: vec![0.3, -1.0],
        scale: vec![2.0, 0.5],
        mixing: Some(vec![1.2, 0.0, -0.7, 0.8]),
    };
    let points = [0.3, 1.0, -1.0, 2.0, 0.5, -0.5, 0.2, -2.5];
    let centre = plain_mean(&points, 2);
    for (after, before) in map
        .applied(&points)
        .chunks_exact(2)
        .zip(points.chunks_exact(2))
    {
        let back = map.back(after, &centre);
        for (a, b) in back.iter().zip(before) {
            assert!((a - b).abs() < 1e-12);
        }
    }
    assert!((map.log_volume() - 0.96_f64.ln()).abs() < 1e-12);
}

/// Draws whose weights are good stay where they are.
#[test]
fn rows_whose_weights_are_good_are_left_alone() {
    let mut line = Line::read("line");
    line.left_out = 9;
    let (density, log_lik) = line.at_draws();
    let points = line.points.clone();
    let draws = Draws {
        points: &points,
        dim: 3,
        log_density: &density,
    };
    let Ok(found) = moment_match(&mut line, draws, &log_lik, (1.0, LIMIT));
    assert_eq!(found, None);
}

#[test]
fn maps_one_after_the_other_are_one_map() {
    let points = [0.3, -1.0, 2.0, 0.5, -0.7, 1.9, 1.1, 0.2];
    let first = |mixing: Option<Vec<f64>>| Map {
        shift: vec![0.4, -0.2],
        scale: vec![1.5, 0.7],
        mixing,
    };
    let second = |mixing: Option<Vec<f64>>| Map {
        shift: vec![-1.0, 0.3],
        scale: vec![0.5, 2.0],
        mixing,
    };
    let (a, b) = (vec![1.2, 0.0, -0.8, 0.6], vec![0.9, 0.0, 0.4, 1.3]);
    for before in [None, Some(a)] {
        for after in [None, Some(b.clone())] {
            let mut whole = first(before.clone());
            let (first, second) = (first(before.clone()), second(after));
            let apart = second.applied(&first.applied(&points));
            whole.follow(&second);
            for (together, apart) in whole.applied(&points).iter().zip(&apart) {
                assert!((together - apart).abs() < 1e-12, "{together} {apart}");
            }
            let volumes = first.log_volume() + second.log_volume();
            assert!((whole.log_volume() - volumes).abs() < 1e-12);
        }
    }
}
