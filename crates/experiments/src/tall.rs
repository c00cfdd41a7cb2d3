//! Rows with a yes-or-no outcome: those of a file, or simulated in their place.

use std::path::Path;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::BenchOptions;
use super::problem::table;
use crate::error::BenchError;
use ergodic_base::special::logistic;
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Values};
use ergodic_core::formula::quote_name;
use ergodic_data::{ImportOptions, Table, load};

/// A table whose last column is the outcome.
pub struct Tall {
    /// The rows.
    pub table: Table,
    /// Explains the last column by all others.
    pub formula: String,
    /// Where the rows come from, for people.
    pub source: String,
}

/// What simulated predictors are like.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Rows.
    pub rows: usize,
    /// Predictors that are correlated normal numbers.
    pub numbers: usize,
    /// Predictors that are 1 in a few rows and 0 in others, the `k`-th in one row in 4 + 4k.
    pub flags: usize,
    /// Log odds of the outcome in the middle.
    pub intercept: f64,
}

impl Tall {
    /// The rows of the file that the caller names, or simulated ones of this shape.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(options: &BenchOptions, shape: Shape) -> Result<Self, BenchError> {
        match &options.data {
            Some(path) => Self::of_file(path),
            None => Self::simulated(shape, options.seed),
        }
    }

    fn of_file(path: &Path) -> Result<Self, BenchError> {
        let table = load(path, &ImportOptions::default(), &Control::default())?.table;
        let last = table.columns().last().ok_or(BenchError::NoColumns)?;
        Ok(Self {
            formula: format!("{} ~ .", quote_name(&last.name)),
            source: format!("rows of {}", path.display()),
            table,
        })
    }

    fn simulated(shape: Shape, seed: u64) -> Result<Self, BenchError> {
        let width = shape.numbers + shape.flags;
        let mut rng = stream(seed, width, Purpose::Data);
        let mut columns = vec![Vec::with_capacity(shape.rows); width];
        let mut y = Vec::with_capacity(shape.rows);
        for _ in 0..shape.rows {
            let (mut eta, mut before) = (shape.intercept, 0.0);
            for (j, column) in columns.iter_mut().enumerate() {
                let x = if j < shape.numbers {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    before = 0.6 * before + noise;
                    before
                } else {
                    let share = 1.0 / (4.0 + 4.0 * (j - shape.numbers) as f64);
                    f64::from(u8::from(rng.random::<f64>() < share))
                };
                eta += if j % 2 == 0 { 0.8 } else { -0.5 } * x;
                column.push(x);
            }
            y.push(f64::from(u8::from(rng.random::<f64>() < logistic(eta))));
        }
        let columns = columns.into_iter().enumerate();
        let mut columns: Vec<_> = columns.map(|(j, x)| (format!("x{}", j + 1), x)).collect();
        columns.push(("y".to_owned(), y));
        Ok(Self {
            table: table("rows", columns)?,
            formula: "y ~ .".to_owned(),
            source: "simulated rows of the source's numbers of rows and predictors".to_owned(),
        })
    }

    /// `count` of the rows, evenly spaced; all where there are no more.
    ///
    /// # Errors
    /// None: columns of one length make a table.
    pub fn thinned(&self, count: usize) -> Result<Self, BenchError> {
        let all = self.table.num_rows();
        let rows: Vec<usize> = (0..count.min(all))
            .map(|k| k * all / count.min(all))
            .collect();
        let columns = self.table.columns().iter().enumerate();
        let columns = columns.map(|(j, column)| {
            let values = match self.table.numbers(j) {
                Some(numbers) => Values::Numbers(rows.iter().map(|row| numbers[*row]).collect()),
                None => {
                    let texts: Vec<Option<&str>> =
                        self.table.texts(j).into_iter().flatten().collect();
                    let texts = rows.iter().map(|row| texts[*row].map(str::to_owned));
                    Values::Texts(texts.collect())
                }
            };
            (column.name.clone(), values)
        });
        Ok(Self {
            table: Table::from_columns(self.table.name(), columns.collect())?,
            formula: self.formula.clone(),
            source: self.source.clone(),
        })
    }
}
