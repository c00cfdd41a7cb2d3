//! The summary table as CSV and JSON: not-available is `NA` in CSV and `null` in JSON. Estimates corrected by control
//! variates, and columns that somebody asked for, follow as further columns, or as objects of their own. Quantities whose draws were
//! not kept have rows behind the others, with two columns of their own, or a list of their own.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::manifest::Manifest;
use super::{Results, number};
use ergodic_analysis::zero_variance::Corrected;
use ergodic_analysis::{BayesFactor, Sensitivity};
use ergodic_base::ParamId;
use ergodic_diagnostics::estimates::Estimate;
use ergodic_diagnostics::zero_variance::ZeroVarianceRow;
use ergodic_diagnostics::{Inefficiency, SummaryRow};

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

/// Further columns where estimates were corrected by control variates, in order.
pub(crate) const CORRECTED_COLUMNS: [&str; 6] = [
    "zv_mean",
    "zv_mcse_mean",
    "zv_gain",
    "zv_sd",
    "zv_mcse_sd",
    "zv_gain_sd",
];

/// The numbers of a corrected row in the order of [`CORRECTED_COLUMNS`].
pub(crate) fn corrected_values(row: &ZeroVarianceRow) -> [Option<f64>; 6] {
    [
        row.mean,
        row.mcse_mean,
        row.gain,
        row.sd,
        row.mcse_sd,
        row.gain_sd,
    ]
}

/// Further columns where draws of some quantities were not kept: draws behind a mean, and R-hat of whole chains.
pub(crate) const NOT_KEPT_COLUMNS: [&str; 2] = ["draws", "rhat_unsplit"];

/// `summary.csv`.
///
/// # Errors
/// The writer fails.
pub fn write_csv(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    let corrected = results
        .corrected
        .as_ref()
        .map(|corrected| &corrected.estimates.rows);
    let more = corrected.map_or(&[][..], |_| &CORRECTED_COLUMNS[..]);
    let extras = results.extras.as_deref();
    let names: Vec<String> = extras
        .iter()
        .flat_map(|extras| extras.columns.iter().map(|column| column.name()))
        .collect();
    let further = more.len() + names.len();
    let names = names.iter().map(String::as_str);
    let not_kept = match results.estimates.is_empty() {
        true => &[][..],
        false => &NOT_KEPT_COLUMNS[..],
    };
    let names = names.chain(not_kept.iter().copied());
    out.write_record(COLUMNS.iter().chain(more).copied().chain(names))?;
    let lists = results.usable().0;
    let shortest = lists.iter().map(|list| list.len()).min().unwrap_or(0);
    let draws = (shortest * lists.len()).to_string();
    for (index, row) in results.summary.iter().enumerate() {
        out.write_field(row.variable.as_str())?;
        for value in values(row) {
            out.write_field(number::or_na(value))?;
        }
        let corrected = corrected.and_then(|rows| rows.get(index));
        for value in corrected.into_iter().flat_map(corrected_values) {
            out.write_field(number::or_na(value))?;
        }
        let extras = extras.and_then(|extras| extras.rows.get(index));
        for &value in extras.into_iter().flatten() {
            out.write_field(number::or_na(value))?;
        }
        if !not_kept.is_empty() {
            out.write_field(&draws)?;
            out.write_field(number::or_na(None))?;
        }
        out.write_record(None::<&[u8]>)?;
    }
    for row in results.estimates.iter() {
        out.write_field(row.variable.as_str())?;
        for value in values(&unjudged(&row.variable, row.mean, row.sd)) {
            out.write_field(number::or_na(value))?;
        }
        for _ in 0..further {
            out.write_field(number::or_na(None))?;
        }
        out.write_field(row.draws.to_string())?;
        out.write_field(number::or_na(row.rhat_unsplit))?;
        out.write_record(None::<&[u8]>)?;
    }
    out.flush()
}

/// A row of the summary with the moments of a quantity alone.
pub fn unjudged(variable: &ParamId, mean: Option<f64>, sd: Option<f64>) -> SummaryRow {
    SummaryRow {
        variable: variable.clone(),
        mean,
        mcse_mean: None,
        sd,
        mad: None,
        q5: None,
        q50: None,
        q95: None,
        ess_bulk: None,
        ess_tail: None,
        ess_bulk_per_s: None,
        rhat: None,
        rhat_nested: None,
        missing: None,
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    variables: &'a [SummaryRow],
    /// Quantities whose draws were not kept.
    #[serde(skip_serializing_if = "<[Estimate]>::is_empty")]
    not_kept: &'a [Estimate],
    /// A row per variable with the further columns, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    extras: Option<Vec<Map<String, Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inefficiency: Option<Inefficiency>,
    /// One per chain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ebfmi: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zero_variance: Option<&'a Corrected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<&'a Sensitivity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bayes_factors: Option<&'a Vec<BayesFactor>>,
    run: Option<&'a Manifest>,
}

/// The estimates corrected by control variates that a `summary.json` has, if any; `None` where it is no such file.
pub(crate) fn read_corrected(input: impl Read) -> Option<Option<Corrected>> {
    #[derive(Deserialize)]
    struct Saved {
        #[serde(default)]
        zero_variance: Option<Corrected>,
    }
    let read: Saved = serde_json::from_reader(input).ok()?;
    Some(read.zero_variance)
}

/// `summary.json`.
///
/// # Errors
/// The writer fails.
pub fn write_json(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let summary = Summary {
        variables: &results.summary,
        not_kept: &results.estimates,
        extras: results.extras.as_deref().map(|extras| {
            let rows = results.summary.iter().zip(&extras.rows);
            let object = |(row, values): (&SummaryRow, &Vec<Option<f64>>)| {
                let name = ("variable".to_owned(), Value::from(row.variable.as_str()));
                let columns = extras.columns.iter().zip(values);
                let numbers = columns.map(|(column, value)| (column.name(), (*value).into()));
                [name].into_iter().chain(numbers).collect()
            };
            rows.map(object).collect()
        }),
        inefficiency: results.inefficiency(),
        ebfmi: results.ebfmi(),
        zero_variance: results.corrected.as_deref(),
        sensitivity: results.sensitivity.as_deref(),
        bayes_factors: results.bayes_factors.as_deref(),
        run: results.manifest.as_ref(),
    };
    serde_json::to_writer_pretty(&mut *out, &summary)?;
    writeln!(out)
}
