//! `summarise` and `export`, and the summary table of every command.

use std::path::Path;

use super::args::{ExportArgs, SummariseArgs};
use super::{Failure, output};
use crate::diagnostics::SummaryRow;
use crate::export::{self, Results, RunFolder, draws_csv, summary};

/// Prints summaries of run folders or files of draws. Several files are the chains of one run.
pub fn summarise(args: &SummariseArgs) -> Result<(), Failure> {
    let results = if let [folder] = args.sources.as_slice()
        && folder.is_dir()
    {
        RunFolder::open(folder)
            .and_then(|folder| folder.results())
            .map_err(Failure::request)?
    } else {
        let mut all: Option<draws_csv::ReadDraws> = None;
        for path in &args.sources {
            let read = read_draws(path)?;
            match &mut all {
                None => all = Some(read),
                Some(all)
                    if all.names == read.names
                        && all.weights.is_some() == read.weights.is_some() =>
                {
                    all.chains.extend(read.chains);
                    if let (Some(all), Some(more)) = (&mut all.weights, read.weights) {
                        all.extend(more);
                    }
                }
                Some(_) => {
                    return Err(Failure::request(format!(
                        "The files have different variables and cannot be chains of one run: {}",
                        path.display()
                    )));
                }
            }
        }
        Results::of_draws(all.ok_or_else(|| Failure::request("Nothing to summarise"))?)
    };
    if results.is_weighted() {
        output::note("Draws are weighted by their column `weight`");
    }
    print(&results, args.json)
}

fn read_draws(path: &Path) -> Result<draws_csv::ReadDraws, Failure> {
    if path.is_dir() {
        let results = RunFolder::open(path)
            .and_then(|folder| folder.results())
            .map_err(Failure::request)?;
        let weights = results.weight_lists();
        return Ok(draws_csv::ReadDraws {
            names: results.variables,
            chains: results.draws,
            weights,
        });
    }
    let file = std::fs::File::open(path).map_err(|error| {
        Failure::request(export::ExportError::at(
            "The draws cannot be read",
            &error,
            path,
        ))
    })?;
    draws_csv::read(std::io::BufReader::new(file))
        .map_err(|what| Failure::request(format!("{what}: {}", path.display())))
}

/// Writes a run folder's results in another format.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let format = export::find(&args.format).map_err(Failure::request)?;
    let results = RunFolder::open(&args.folder)
        .and_then(|folder| folder.results())
        .map_err(Failure::request)?;
    match &args.out {
        Some(path) => export::write(format, &results, path).map_err(Failure::run),
        None => {
            let mut bytes = Vec::new();
            (format.write)(&results, &mut bytes).map_err(Failure::run)?;
            output::result(&String::from_utf8_lossy(&bytes));
            Ok(())
        }
    }
}

/// Prints a summary as a table or as `summary.json`.
pub fn print(results: &Results, json: bool) -> Result<(), Failure> {
    if json {
        let mut bytes = Vec::new();
        summary::write_json(results, &mut bytes).map_err(Failure::run)?;
        output::result(&String::from_utf8_lossy(&bytes));
    } else {
        output::result(&summary_table(&results.summary));
    }
    Ok(())
}

/// The summary as text: digits by Monte Carlo error, R-hat with three decimals.
pub fn summary_table(rows: &[SummaryRow]) -> String {
    let header = [
        "variable",
        "mean",
        "mcse_mean",
        "sd",
        "q5",
        "q50",
        "q95",
        "ess_bulk",
        "ess_tail",
        "rhat",
    ];
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let by_error = |value| decimals(value, digits(row.mcse_mean));
            let missing = row
                .missing
                .map_or("NA".to_owned(), |missing| missing.to_string());
            vec![
                row.variable.clone(),
                by_error(row.mean),
                significant(row.mcse_mean, 2),
                significant(row.sd, 3),
                by_error(row.q5),
                by_error(row.q50),
                by_error(row.q95),
                decimals(row.ess_bulk, 0),
                decimals(row.ess_tail, 0),
                row.rhat.map_or(missing, |rhat| format!("{rhat:.3}")),
            ]
        })
        .collect();
    output::table(&header, &cells)
}

/// Decimals up to the first digit that the Monte Carlo error moves, and one more.
fn digits(mcse: Option<f64>) -> usize {
    match mcse {
        Some(error) if error > 0.0 && error.is_finite() => {
            (1.0 - error.log10().floor()).clamp(0.0, 12.0) as usize
        }
        _ => 3,
    }
}

fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.decimals$}"))
}

fn significant(value: Option<f64>, digits: i32) -> String {
    value.map_or_else(
        || "NA".to_owned(),
        |value| {
            if value == 0.0 || !value.is_finite() {
                return format!("{value}");
            }
            let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
            format!("{value:.decimals$}")
        },
    )
}
