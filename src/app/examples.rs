//! Small pictures of the bundled data sets, drawn from their own columns.

use std::sync::Arc;

use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_base::Control;
use ergodic_core::design::Columns as _;
use ergodic_core::formula::{Factor, Formula};
use ergodic_data::samples::{self, Sample};
use ergodic_data::{ImportOptions, Table};

/// Bars of a histogram.
const BINS: usize = 24;
/// Most bars of counts.
const MOST_BARS: usize = 60;

/// What a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Identifier of the data set.
    pub id: &'static str,
    /// In words.
    pub words: String,
    /// Per bar the rows with a success, and those without.
    pub bars: Vec<[f64; 2]>,
}

/// Draws all pictures in the background.
pub(super) fn draw(state: &mut AppState, fx: &mut dyn Effects) {
    if state.examples.is_none() {
        state.begin_surely(
            fx,
            ("Drawing the examples", ""),
            |_control| Ok::<_, String>(all()),
            |state, ended, _fx| {
                if let Ended::Done(made) = ended {
                    state.examples = Some(made);
                }
            },
        );
    }
}

fn all() -> Arc<Vec<Example>> {
    let made = samples::all().iter().filter_map(example);
    Arc::new(made.collect())
}

/// The first predictor that is a number by the outcome of two values, the values of a numeric outcome, or the counts of one of
/// many values.
fn example(sample: &'static Sample) -> Option<Example> {
    let (options, control) = (ImportOptions::default(), Control::default());
    let table = samples::load(sample.id, &options, &control).ok()?.table;
    let formula: Formula = sample.formula.parse().ok()?;
    let column = |name: &str| table.names().position(|column| column == name);
    let predictors = formula.terms.iter().flatten().filter_map(Factor::as_column);
    let mut numeric = predictors.filter_map(|name| Some((name, table.numbers(column(name)?)?)));
    let Some(response) = formula.response.as_ref() else {
        let (name, values) = numeric.next()?;
        return Some(Example {
            id: sample.id,
            words: format!("values of {name}"),
            bars: histogram(values, |_row| true)?,
        });
    };
    let y = column(&response.column)?;
    let success = sample.info.suggestion.success;
    let (words, bars) = match (success, numeric.next(), table.numbers(y)) {
        (Some(success), Some((name, values)), _) => {
            let labels = table.labels(y);
            let success = labels.levels.iter().position(|level| level == success)? as u32;
            (
                format!("{} by {name}", response.column),
                histogram(values, |row| labels.codes[row] == success)?,
            )
        }
        (None, _, Some(values)) => (
            format!("values of {}", response.column),
            histogram(values, |_row| true)?,
        ),
        _ => {
            let weights = response.weights.as_deref();
            let weights = weights.and_then(|name| table.numbers(column(name)?));
            (
                format!("counts of {}", response.column),
                counts(&table, y, weights),
            )
        }
    };
    Some(Example {
        id: sample.id,
        words,
        bars,
    })
}

/// Rows per bin of `values`, those with a success first.
fn histogram(values: &[f64], is_success: impl Fn(usize) -> bool) -> Option<Vec<[f64; 2]>> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let width = (high - low) / BINS as f64;
    if width.is_nan() || width <= 0.0 {
        return None;
    }
    let mut bars = vec![[0.0; 2]; BINS];
    for (row, value) in values.iter().enumerate() {
        if value.is_finite() {
            let bin = (((value - low) / width) as usize).min(BINS - 1);
            bars[bin][usize::from(!is_success(row))] += 1.0;
        }
    }
    Some(bars)
}

/// Totals per category, the largest first.
fn counts(table: &Table, y: usize, weights: Option<&[f64]>) -> Vec<[f64; 2]> {
    let labels = table.labels(y);
    let mut totals = vec![0.0; labels.levels.len()];
    for (i, &code) in labels.codes.iter().enumerate() {
        if let Some(total) = totals.get_mut(code as usize) {
            *total += weights.map_or(1.0, |weights| weights[i]);
        }
    }
    totals.sort_by(|a, b| b.total_cmp(a));
    totals.truncate(MOST_BARS);
    totals.into_iter().map(|total| [total, 0.0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_has_a_picture_of_its_own_rows() {
        for id in [
            "churn", "awkward", "fish", "schools", "reaction", "clusters",
        ] {
            let sample = samples::find(id).unwrap();
            let made = example(sample).unwrap();
            let total: f64 = made.bars.iter().flatten().sum();
            assert!(made.bars.len() > 5 && total > 0.0, "{id}");
            if id == "churn" {
                assert_eq!(made.words, "churned by age");
                let successes: f64 = made.bars.iter().map(|bar| bar[0]).sum();
                assert_eq!((successes, total), (293.0, 1000.0));
            }
        }
    }
}
