//! `bench`: experiments of the papers, one command each.

use std::path::PathBuf;

use clap::Parser;
use serde_json::{Map, Value as Json, json};

use super::args::seeds;
use super::{Failure, output};
use ergodic_base::numerals;
use ergodic_experiments::{BenchOptions, BenchTable, Cell};
use ergodic_export::check_place;

/// `bench`.
#[derive(Debug, Parser)]
pub struct BenchArgs {
    /// Experiment; `ergodic list benches` shows them
    pub id: String,
    /// Data file, for experiments that read one
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1, value_parser = seeds())]
    pub seed: u64,
    /// A small version, in seconds
    #[arg(long)]
    pub quick: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// File for the table as CSV
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// Runs an experiment, prints its table and saves it.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let Some(entry) = ergodic_experiments::find(&args.id) else {
        let known: Vec<&str> = ergodic_experiments::REGISTRY
            .iter()
            .map(|entry| entry.id)
            .collect();
        return Err(Failure::request(format!(
            "There is no experiment `{}`; there are {}",
            args.id,
            known.join(", ")
        )));
    };
    if let Some(path) = &args.out {
        check_place(path).map_err(Failure::request)?;
    }
    output::note(&format!("{}: {}", entry.title, entry.about));
    if !entry.source.is_empty() {
        output::note(&format!("Source: {}", entry.source));
    }
    let options = BenchOptions {
        seed: args.seed,
        quick: args.quick,
        data: args.data.clone(),
    };
    let table = (entry.run)(&options).map_err(Failure::run)?;
    if args.json {
        let text = serde_json::to_string_pretty(&json(entry.id, &options, &table))
            .map_err(Failure::run)?;
        output::json(&(text + "\n"));
    } else {
        output::result(&plain(&table));
    }
    for note in &table.notes {
        output::note(note);
    }
    for finding in &table.findings {
        output::note(&finding.to_string());
    }
    if let Some(path) = &args.out {
        std::fs::write(path, table.to_csv()).map_err(|error| {
            Failure::run(format!(
                "The table cannot be saved ({error}): {}",
                path.display()
            ))
        })?;
        output::note(&format!("Table: {}", path.display()));
    }
    Ok(())
}

/// Rows as objects; numbers that are not finite are null.
fn json(id: &str, options: &BenchOptions, table: &BenchTable) -> Json {
    let rows: Vec<Json> = table
        .rows
        .iter()
        .map(|row| {
            let pairs = table.columns.iter().zip(row);
            Json::Object(
                pairs
                    .map(|(name, cell)| ((*name).to_owned(), json!(cell)))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect();
    json!({ "id": id, "seed": options.seed, "quick": options.quick, "rows": rows, "notes": table.notes, "findings": table.findings })
}

fn plain(table: &BenchTable) -> String {
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => text.clone(),
                Cell::Count(count) => count.to_string(),
                Cell::Number(value) => significant(*value),
            });
            cells.collect()
        })
        .collect();
    output::table(&table.columns, &rows)
}

/// Three significant digits, without trailing zeros.
fn significant(value: f64) -> String {
    let text = numerals::significant(value, 3);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zeros_are_left_out() {
        for (value, text) in [
            (0.5, "0.5"),
            (0.012_34, "0.0123"),
            (30.0, "30"),
            (100.0, "100"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
