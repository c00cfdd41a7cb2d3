//! The summary table as CSV and JSON: not-available is `NA` in CSV and `null` in JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::manifest::Manifest;
use super::{Results, number};
use crate::diagnostics::SummaryRow;

/// Column names, in order.
pub const COLUMNS: [&str; 12] = [
    "variable",
    "mean",
    "mcse_mean",
    "sd",
    "mad",
    "q5",
    "q50",
    "q95",
    "ess_bulk",
    "ess_tail",
    "ess_bulk_per_s",
    "rhat",
];

/// The numbers of a row in the order of [`COLUMNS`] after the first.
pub fn values(row: &SummaryRow) -> [Option<f64>; 11] {
    [
        row.mean,
        row.mcse_mean,
        row.sd,
        row.mad,
        row.q5,
        row.q50,
        row.q95,
        row.ess_bulk,
        row.ess_tail,
        row.ess_bulk_per_s,
        row.rhat,
    ]
}

/// `summary.csv`.
///
/// # Errors
/// The writer fails.
pub fn write_csv(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    out.write_record(COLUMNS)?;
    for row in &results.summary {
        out.write_field(&row.variable)?;
        for value in values(row) {
            out.write_field(number::or_na(value))?;
        }
        out.write_record(None::<&[u8]>)?;
    }
    out.flush()
}

#[derive(Serialize)]
struct Summary<'a> {
    variables: &'a [SummaryRow],
    run: Option<&'a Manifest>,
}

/// `summary.json`.
///
/// # Errors
/// The writer fails.
pub fn write_json(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let summary = Summary {
        variables: &results.summary,
        run: results.manifest.as_ref(),
    };
    serde_json::to_writer_pretty(&mut *out, &summary)?;
    writeln!(out)
}
