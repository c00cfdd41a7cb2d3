//! Models and draws that tests of shares of variance have in common.

use std::path::{Path, PathBuf};

use super::Fitted;
use crate::Recipe;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;

/// The models that `tests/reference/r2.py` and `loo_r2.py` are about, by name, template and formula: normal, Student-t, yes or no,
/// successes among trials, counts, groups.
pub const REFERENCE_MODELS: [[&str; 3]; 6] = [
    ["linear", "linear", "y ~ x"],
    ["student", "student", "y ~ x"],
    ["logistic", "logistic", "yes ~ x"],
    ["successes", "logistic", "wins | trials(n) ~ x"],
    ["poisson", "poisson", "count ~ x"],
    ["mixed", "mixed", "y ~ x + (1 | g)"],
];

/// A file of the reference numbers.
pub fn reference(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/reference")
        .join(name)
}

/// A model of the table at `path`.
pub fn opened(path: &Path, template: &str, formula: &str) -> Fitted {
    let recipe = Recipe::new(path.to_str().unwrap(), template, formula);
    Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap()
}

/// Draws of all reported quantities.
pub fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

/// The `count` draws of the model called `name` in the text of a reference file (model, draw, value, parameter). Spreads of groups, of
/// which it has none, are 0.5: they say nothing of groups that are known.
pub fn reference_draws(fitted: &Fitted, text: &str, name: &str, count: usize) -> Vec<Vec<f64>> {
    let params = fitted.model.params();
    let mut draws = vec![vec![0.5; params.len()]; count];
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.splitn(4, ',').collect();
        if cells[0] == name {
            let mut all = params.iter();
            let place = all.position(|it| it.name.as_str() == cells[3]).unwrap();
            draws[cells[1].parse::<usize>().unwrap()][place] = cells[2].parse().unwrap();
        }
    }
    draws
}
