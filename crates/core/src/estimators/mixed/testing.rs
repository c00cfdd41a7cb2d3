//! Data sets and fits of lme4, from `tests/reference/lme4.R` and `satterthwaite.R`.

use std::collections::BTreeMap;

use super::MixedData;
use crate::design::{Design, ModelFrame, ResponseUse};
use crate::testing::tables::{load_csv, reference};

/// The data of a set under a formula.
pub fn data(set: &str, formula: &str, response: ResponseUse) -> MixedData {
    let path = reference("lme4").join(format!("{set}.csv"));
    let table = load_csv(&path);
    let frame = ModelFrame {
        response_use: response,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    Design::build(&table, &frame).unwrap().0.into()
}

/// A set with numbers for a response.
pub fn numbers(set: &str, formula: &str) -> MixedData {
    data(set, formula, ResponseUse::Number)
}

/// Designs of every structure: one term, slopes, crossed, nested.
pub fn all_designs() -> Vec<MixedData> {
    vec![
        numbers("unbalanced", "y ~ x + f + (1 | g)"),
        numbers("slopes", "y ~ day + (day | subject)"),
        numbers("slopes", "y ~ day + (day || subject)"),
        numbers("slopes", "y ~ day + (1 | subject) + (0 + day | subject)"),
        numbers("crossed", "y ~ x + (1 + x | subject) + (1 | item)"),
        numbers("crossed", "y ~ x + (1 | item) + (1 + x | subject)"),
        numbers("nested", "y ~ x + (1 + x | school/class)"),
    ]
}

/// Numbers of lme4's fits by `fit,quantity,name`.
pub struct Reference(BTreeMap<(String, String, String), f64>);

impl Reference {
    /// Reads them.
    pub fn read() -> Self {
        Self::read_from("fits.csv")
    }

    /// Reads another file of the same form.
    pub fn read_from(file: &str) -> Self {
        Self::of("lme4", file)
    }

    /// Reads one of another folder.
    pub fn of(folder: &str, file: &str) -> Self {
        let text = std::fs::read_to_string(reference(folder).join(file)).unwrap();
        let rows = text.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let [fit, quantity, name, value] = cells[..] else {
                panic!("{line}");
            };
            let key = (fit.to_owned(), quantity.to_owned(), name.to_owned());
            (key, value.parse().unwrap())
        });
        Self(rows.collect())
    }

    /// One number.
    pub fn get(&self, fit: &str, quantity: &str, name: &str) -> f64 {
        let key = (fit.to_owned(), quantity.to_owned(), name.to_owned());
        *self.0.get(&key).unwrap_or_else(|| panic!("{key:?}"))
    }
}
