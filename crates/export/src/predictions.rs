//! Predictions as files.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::number::shortest;
use super::spreadsheet::inert;
use super::{ExportError, write_file};
use ergodic_analysis::predict::Predictions;
use ergodic_base::{Class, ParamId};
use ergodic_core::design::ResponseKind;

/// File name of predictions.
pub const FILE: &str = "predictions.csv";

/// Whether outcomes are levels without an order, which have names in files and no intervals.
fn is_unordered(predictions: &Predictions) -> bool {
    matches!(predictions.response.kind, ResponseKind::Unordered { .. })
}

/// The name of a level whose place is known, from 1.
fn level_of(predictions: &Predictions, place: f64) -> Option<&String> {
    let levels = predictions.response.levels();
    levels.get((place as usize).checked_sub(1)?)
}

/// The columns of a table of predictions; rows count from 1, `observed` is `NA` where there is none.
pub fn header(predictions: &Predictions) -> Vec<String> {
    let outcome: &[&str] = match is_unordered(predictions) {
        true => &["most_probable"],
        false => &["outcome_lower", "outcome_upper"],
    };
    let names = ["row", "mean", "sd", "lower", "upper"];
    let names = names.iter().chain(outcome).chain(&["observed"]);
    let mut names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
    if predictions.response.kind == ResponseKind::Successes {
        names.push("trials".to_owned());
    }
    if !predictions.new_groups.is_empty() {
        names.push("new_group".to_owned());
    }
    if !predictions.chances.is_empty() {
        names.extend(predictions.response.levels().iter().map(level_name));
    }
    names
}

/// The column of the probability of a level.
fn level_name(level: &String) -> String {
    ParamId::of(Class::Probability, [level]).to_string()
}

/// The cells of the `place`-th row, with numbers as `number` writes them.
pub fn cells(
    predictions: &Predictions,
    place: usize,
    number: impl Fn(f64) -> String,
) -> Vec<String> {
    let row = &predictions.rows[place];
    let level = |place: f64| {
        let name = level_of(predictions, place);
        name.map_or_else(|| "NA".to_owned(), |name| inert(name).into_owned())
    };
    let unordered = is_unordered(predictions);
    let observed = match row.observed.is_nan() {
        true => "NA".to_owned(),
        false if unordered => level(row.observed),
        false => shortest(row.observed),
    };
    let mut cells = vec![
        (row.row + 1).to_string(),
        number(row.mean),
        number(row.sd),
        number(row.expected[0]),
        number(row.expected[1]),
    ];
    if unordered {
        cells.push(level(predictions.called(place).unwrap_or(f64::NAN)));
    } else {
        cells.extend(row.outcome.map(&number));
    }
    cells.push(observed);
    if predictions.response.kind == ResponseKind::Successes {
        cells.push(shortest(row.trials));
    }
    if !predictions.new_groups.is_empty() {
        cells.push(if row.new_group { "yes" } else { "no" }.to_owned());
    }
    if let Some(chances) = predictions.chances.get(place) {
        cells.extend(chances.iter().map(|chance| number(*chance)));
    }
    cells
}

/// One line per row.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(predictions: &Predictions, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(header(predictions))?;
    for place in 0..predictions.rows.len() {
        out.write_record(cells(predictions, place, shortest))?;
    }
    out.flush()
}

/// Writes the table to `path`.
///
/// # Errors
/// The path cannot be written.
pub fn save(predictions: &Predictions, path: &Path) -> Result<(), ExportError> {
    write_file("The predictions could not be written", path, |out| {
        write_csv(predictions, out)
    })
}

/// Everything; numbers that are not finite are null.
pub fn to_json(predictions: &Predictions) -> Json {
    let (inside, observed) = predictions.coverage();
    let rows: Vec<Json> = predictions
        .rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let mut json = json!({
                "row": row.row + 1,
                "mean": row.mean,
                "sd": row.sd,
                "lower": row.expected[0],
                "upper": row.expected[1],
                "outcome_lower": row.outcome[0],
                "outcome_upper": row.outcome[1],
                "observed": row.observed,
                "trials": row.trials,
                "new_group": row.new_group,
            });
            if is_unordered(predictions) {
                let called = predictions.called(place);
                json["most_probable"] = json!(called.and_then(|it| level_of(predictions, it)));
                json["observed"] = json!(level_of(predictions, row.observed));
            }
            if let Some(chances) = predictions.chances.get(place) {
                let levels = predictions.response.levels().iter().cloned();
                let chances = chances.iter().map(|chance| json!(chance));
                json["probabilities"] = Json::Object(levels.zip(chances).collect());
            }
            json
        })
        .collect();
    json!({
        "quantity": predictions.quantity,
        "response": predictions.response.column(),
        "group_effects": predictions.has_groups && predictions.options.with_groups,
        "interval": predictions.options.interval,
        "draws_used": predictions.draws.0,
        "draws": predictions.draws.1,
        "rows_left_out": predictions.rows_total - predictions.rows.len(),
        "observed": observed,
        (if is_unordered(predictions) { "observed_most_probable" } else { "observed_in_interval" }): inside,
        "remarks": predictions.remarks(),
        "rows": rows,
    })
}

/// Expected outcomes by point estimates, one line per row: its place in the data from 0, the outcome from fixed effects alone and with
/// group effects, and of ordered levels the chance of each.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_plug_in<C: AsRef<[f64]>>(
    levels: &[String],
    rows: impl IntoIterator<Item = (u32, [f64; 2], C)>,
    out: impl Write,
) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let names = ["row", "fitted_fixed", "fitted"].map(str::to_owned);
    out.write_record(names.into_iter().chain(levels.iter().map(level_name)))?;
    for (row, fitted, chances) in rows {
        let numbers = fitted.iter().chain(chances.as_ref()).copied();
        let cells = std::iter::once((row + 1).to_string()).chain(numbers.map(shortest));
        out.write_record(cells)?;
    }
    out.flush()
}
