//! A model and its data, on which samplers are tried, and what their draws come to.

use std::path::Path;
use std::sync::Arc;

use super::Cell;
use crate::error::BenchError;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::comparison::{Variant, quadratic_summary};
use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Reporter};
use ergodic_core::design::Values;
use ergodic_core::engine::{RunSection, Start};
use ergodic_data::{Guesses, Loaded, Table};
use ergodic_diagnostics::{SummaryRow, ess_bulk};
use ergodic_language::Own;

/// A model and its data, prepared once: samplers that are tried on it share its mode.
pub struct Problem {
    job: Job,
}

/// A table of these columns.
///
/// # Errors
/// Columns of different lengths.
pub fn table(name: &str, columns: Vec<(String, Vec<f64>)>) -> Result<Table, BenchError> {
    let columns = columns.into_iter();
    let columns = columns.map(|(name, values)| (name, Values::Numbers(values)));
    Ok(Table::from_columns(name, columns.collect())?)
}

impl Problem {
    /// `template` with `formula`, and whatever else `change` says of the recipe. Runs have this seed unless they say otherwise.
    ///
    /// # Errors
    /// Those of [`Job::prepare`].
    pub fn new(
        (template, formula): (&str, &str),
        table: Table,
        seed: u64,
        change: impl FnOnce(&mut Recipe),
    ) -> Result<Self, BenchError> {
        let mut recipe = Recipe::new(table.source(), template, formula);
        recipe.run.seed = seed;
        change(&mut recipe);
        let loaded = Arc::new(Loaded {
            table,
            guesses: Guesses::typed_file("the experiment"),
            reporter: Reporter::default(),
        });
        let job = ergodic_analysis::comparison::job(recipe, |recipe| {
            let loaded = Some(Arc::clone(&loaded));
            Job::prepare(recipe, Path::new(""), loaded, &Control::default())
        })?;
        Ok(Self { job })
    }

    /// A model that is written as text.
    ///
    /// # Errors
    /// Those of [`Job::prepare`].
    pub fn of_text(text: &str, table: Table, seed: u64) -> Result<Self, BenchError> {
        Self::new((Own::ID, ""), table, seed, |recipe| {
            let text = Value::Text(text.to_owned());
            recipe.model.settings.set(Own::PROGRAM, text);
        })
    }

    /// A model that is written as text and needs no data.
    ///
    /// # Errors
    /// Those of [`Job::prepare`].
    pub fn without_data(text: &str, seed: u64) -> Result<Self, BenchError> {
        Self::of_text(text, ergodic_data::nothing::load()?.table, seed)
    }

    /// The job of an exact sampler with default settings.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The value of setting `key` of the sampler that `variant` says, as it is settled for this problem.
    ///
    /// # Errors
    /// The sampler refuses the model or a setting.
    pub fn setting(&self, variant: &str, key: &str) -> Result<Option<f64>, BenchError> {
        Ok(self.variant(variant)?.recipe.sampler.settings.real(key))
    }

    fn variant(&self, variant: &str) -> Result<Job, BenchError> {
        let variant: Variant = variant.parse()?;
        let job = (self.job).with_settings(variant.entry.spec.id, variant.settings)?;
        Ok(job)
    }

    /// A run, to its end, of the sampler that `variant` says as `ergodic compare` takes it, such as `sgld:batch=100`; `change`
    /// says how long it is and where it starts.
    ///
    /// # Errors
    /// The sampler refuses the model or a setting.
    pub fn run(
        &self,
        variant: &str,
        change: impl FnOnce(&mut RunSection),
    ) -> Result<Run, BenchError> {
        run_of(self.variant(variant)?, change)
    }

    /// The same of the sampler called `id` with settings that a variant cannot say, because they have colons.
    ///
    /// # Errors
    /// The sampler refuses the model or a setting.
    pub fn run_with(
        &self,
        (id, settings): (&str, Settings),
        change: impl FnOnce(&mut RunSection),
    ) -> Result<Run, BenchError> {
        run_of(self.job.with_settings(id, settings)?, change)
    }
}

fn run_of(mut job: Job, change: impl FnOnce(&mut RunSection)) -> Result<Run, BenchError> {
    change(&mut job.recipe.run);
    Ok(finished(job, &Control::default())?)
}

/// What the quadratic approximation at the mode says of each quantity, as the truth about a posterior that is normal.
///
/// # Errors
/// No mode was found.
pub fn truth_at_mode(job: &Job) -> Result<Vec<SummaryRow>, BenchError> {
    quadratic_summary(job).ok_or(BenchError::NoMode)
}

/// The start of all chains at these values.
pub fn at(values: &[(&str, f64)]) -> Start {
    let values = values.iter();
    let values = values.map(|(name, value)| ((*name).to_owned(), *value));
    Start::Values(vec![values.collect()])
}

/// Draws of the quantity called `name`, chain by chain; none of a chain that failed.
pub fn draws(run: &Run, name: &str) -> Vec<Vec<f64>> {
    let params = run.job().model.params();
    let place = params.iter().position(|param| param.name == *name);
    let view = run.view();
    let chains = view.usable();
    place.map_or_else(Vec::new, |j| {
        chains.map(|chain| chain.draws.draws.column(j)).collect()
    })
}

/// The sampler's information column called `name`, chain by chain.
pub fn info(run: &Run, name: &str) -> Vec<Vec<f64>> {
    let columns = run.job().sampler.spec.info.iter();
    let place = columns.map(|it| it.name).position(|it| it == name);
    let view = run.view();
    let chains = view.usable();
    place.map_or_else(Vec::new, |j| {
        chains.map(|chain| chain.draws.info.column(j)).collect()
    })
}

/// Passes over the rows of all chains, warm-up included; evaluations of a density without rows.
pub fn passes(run: &Run) -> f64 {
    let view = run.view();
    let rows: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
    rows as f64 / run.job().model.num_obs().max(1) as f64
}

/// The bulk effective sample size of chains, 0 where there is none.
pub fn ess(chains: &[Vec<f64>]) -> f64 {
    let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
    ess_bulk(&chains).unwrap_or(0.0)
}

/// Places among `len` that get one of `lines`, from 0: as far from each other on the logarithmic scale.
pub fn lines_of(len: usize, lines: i32) -> Vec<usize> {
    let mut shown: Vec<usize> = (1..=lines)
        .map(|line| (len as f64).powf(f64::from(line) / f64::from(lines)))
        .map(|place| (place.round() as usize).clamp(1, len) - 1)
        .collect();
    shown.dedup();
    shown
}

/// Mean and standard deviation.
pub fn mean_and_sd(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    [mean, (squares / (n - 1.0)).sqrt()]
}

/// Mean of independent values and its standard error; NaN of fewer than two.
pub fn mean_and_error(values: &[f64]) -> [f64; 2] {
    let [mean, sd] = mean_and_sd(values);
    [mean, sd / (values.len() as f64).sqrt()]
}

/// Mean of independent values with its standard error, in words with as many decimals.
pub fn mean_with_error(values: &[f64], decimals: usize) -> String {
    let [mean, error] = mean_and_error(values);
    format!("{mean:.decimals$} (se {error:.decimals$})")
}

/// Whether the mean of `a` is above that of `b` by more than chance explains: by twice the standard error of the difference, of
/// independent chains of several seeds.
pub fn is_above(a: &[f64], b: &[f64]) -> bool {
    let ([mean_a, sd_a], [mean_b, sd_b]) = (mean_and_sd(a), mean_and_sd(b));
    let variance = sd_a.powi(2) / a.len() as f64 + sd_b.powi(2) / b.len() as f64;
    mean_a - mean_b > 2.0 * variance.sqrt()
}

/// The slope of log y on log x by least squares.
pub fn log_slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let [x, y] = [0, 1].map(|k| {
        let part = |it: &(f64, f64)| if k == 0 { it.0 } else { it.1 };
        logs.iter().map(part).sum::<f64>() / n
    });
    let across: f64 = logs.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
    across / logs.iter().map(|it| (it.0 - x).powi(2)).sum::<f64>()
}

/// A row of numbers behind some words.
pub fn row(words: &[&str], numbers: &[f64]) -> Vec<Cell> {
    let words = words.iter().map(|word| Cell::from(*word));
    words
        .chain(numbers.iter().copied().map(Cell::from))
        .collect()
}

#[cfg(test)]
pub mod testing {
    use super::super::{BenchOptions, BenchTable, Cell};
    use crate::error::BenchError;

    /// The quick version of an experiment, whose rows fit its columns and which judges a claim; prints what it found.
    pub fn quick(run: fn(&BenchOptions) -> Result<BenchTable, BenchError>) -> BenchTable {
        let table = quick_without_claims(run);
        assert!(!table.findings.is_empty());
        for finding in &table.findings {
            println!("{finding}");
        }
        table
    }

    /// The same of one that makes no claim.
    pub fn quick_without_claims(
        run: fn(&BenchOptions) -> Result<BenchTable, BenchError>,
    ) -> BenchTable {
        let options = BenchOptions {
            seed: 1,
            quick: true,
            ..BenchOptions::default()
        };
        let table = run(&options).unwrap();
        let (done, expected) = options.control.progress();
        assert!(
            done <= expected && (done > 0 || expected == 0),
            "{done} of {expected}"
        );
        let width = table.columns.len();
        assert!(table.rows.iter().all(|row| row.len() == width));
        println!("{}", table.to_csv());
        check_plots(&table);
        table
    }

    /// There is a picture, all its columns are there, and each shows numbers.
    #[track_caller]
    pub fn check_plots(table: &BenchTable) {
        assert!(!table.plots.is_empty());
        for plot in &table.plots {
            let (columns, rows) = table.drawn_by(plot).expect("a table of this name");
            let place = |name: &str| columns.iter().position(|it| *it == name);
            for name in plot.columns() {
                assert!(place(name).is_some(), "{name} of {plot:?}");
            }
            for name in plot.y.iter().chain(plot.ends.iter().flatten()) {
                let place = place(name).unwrap();
                let mut cells = rows.iter().map(|row| &row[place]);
                assert!(!cells.any(|it| matches!(it, Cell::Text(_))), "{name}");
            }
            let known = |row: &Vec<Cell>, name: &str| {
                let cell = &row[place(name).unwrap()];
                matches!(cell, Cell::Text(_)) || cell.number().is_some()
            };
            let mut pairs = plot
                .y
                .iter()
                .flat_map(|name| rows.iter().map(move |row| (row, *name)));
            assert!(
                pairs.any(|(row, name)| known(row, plot.x) && known(row, name)),
                "{plot:?} shows nothing"
            );
        }
    }

    /// The numbers in `column` of all rows that begin with `words`, none of which is missing.
    #[track_caller]
    pub fn numbers(table: &BenchTable, words: &[&str], column: &str) -> Vec<f64> {
        let rows = table.rows.iter().filter(|row| begins(row, words));
        let numbers: Vec<f64> = rows.map(|row| cell(table, row, column)).collect();
        assert!(
            numbers.iter().all(|it| !it.is_nan()),
            "{column}: {numbers:?}"
        );
        numbers
    }

    /// The number in `column` of the first row that begins with `words`.
    #[track_caller]
    pub fn number(table: &BenchTable, words: &[&str], column: &str) -> f64 {
        let row = table.rows.iter().find(|row| begins(row, words));
        cell(table, row.expect("a row of these words"), column)
    }

    fn begins(row: &[Cell], words: &[&str]) -> bool {
        let mut pairs = words.iter().zip(row);
        pairs.all(|(word, cell)| cell.plain() == **word)
    }

    fn cell(table: &BenchTable, row: &[Cell], column: &str) -> f64 {
        let place = table.columns.iter().position(|it| *it == column).unwrap();
        match &row[place] {
            Cell::Number(number) => *number,
            Cell::Count(count) => *count as f64,
            Cell::Text(text) => panic!("{text}"),
        }
    }
}
