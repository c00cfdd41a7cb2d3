//! `bench`: experiments of the papers, one command each.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use serde_json::{Map, Value as Json, json};

use super::args::seeds;
use super::{Failure, bench_plot, output, progress};
use ergodic_base::numerals;
use ergodic_experiments::{Bench, BenchOptions, BenchTable, Cell};
use ergodic_export::check_place;
use ergodic_report::PictureFormat;

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
    /// File for the table as CSV; further tables stand beside it, such as x-roc.csv beside x.csv
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// File for the pictures of the tables: .svg for a vector picture, .png for one of dots (300 per inch), .csv for a table of what is drawn
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
}

/// Runs an experiment, prints its table, saves and draws it.
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
    if args.data.is_some() && !entry.reads_data {
        let id = entry.id;
        return Err(Failure::request(format!(
            "Experiment `{id}` makes its own data; leave --data out"
        )));
    }
    if let Some(path) = &args.plot {
        PictureFormat::of(path).map_err(Failure::request)?;
    }
    for path in args.out.iter().chain(&args.plot) {
        check_place(path, &args.data).map_err(Failure::request)?;
    }
    if let (Some(out), Some(plot)) = (&args.out, &args.plot) {
        let same = match plot == out {
            true => Some("--out and --plot name the same file"),
            false => may_be_beside(plot, out).then_some("--plot names a file that --out may need"),
        };
        if let Some(same) = same {
            return Err(Failure::request(format!(
                "{same}; name another one for the picture: {}",
                plot.display()
            )));
        }
    }
    output::note(&format!("{}: {}", entry.title, entry.about));
    if !entry.source.is_empty() {
        output::note(&format!("Source: {}", entry.source));
    }
    let options = BenchOptions {
        seed: args.seed,
        quick: args.quick,
        data: args.data.clone(),
        control: Arc::default(),
    };
    let table = made(entry, &options)?;
    if args.json {
        output::json(&json(entry.id, &options, &table))?;
    } else {
        output::result(&plain(&table.columns, &table.rows));
        for further in &table.further {
            let text = plain(&further.columns, &further.rows);
            output::result(&format!("\n{}\n{text}", further.name));
        }
    }
    for note in &table.notes {
        output::note(note);
    }
    for finding in &table.findings {
        output::note(&finding.to_string());
    }
    if let Some(path) = &args.out {
        save(path, &table.to_csv())?;
        for further in &table.further {
            let path = beside(path, further.name);
            check_place(&path, &args.data).map_err(Failure::request)?;
            save(&path, &further.to_csv())?;
        }
    }
    if let Some(path) = &args.plot {
        let caption = bench_plot::save(entry, &table, path).map_err(Failure::run)?;
        let nothing = || {
            let id = entry.id;
            Failure::run(format!(
                "Experiment `{id}` found no number that can be drawn; leave --plot out"
            ))
        };
        output::note(&caption.ok_or_else(nothing)?);
    }
    Ok(())
}

/// The table of an experiment, which says now and then how far it is: once for every part that is done.
fn made(entry: &Bench, options: &BenchOptions) -> Result<BenchTable, Failure> {
    let control = &options.control;
    let told = RefCell::default();
    let tell = |_share| {
        let (done, total) = control.progress();
        let line = match (control.stage(), total) {
            (stage, 0) => stage.into_owned(),
            (stage, _) => format!("{stage}: {done} of {total}"),
        };
        let is_news = !line.is_empty() && *told.borrow() != line;
        is_news
            .then(|| told.replace(line.clone()))
            .map(|_before| line)
    };
    let work = || (entry.run)(options);
    progress::told("experiment", control, work, tell, Failure::run)
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::run(format!(
            "The table cannot be saved ({error}): {}",
            path.display()
        ))
    })?;
    output::note(&format!("Table: {}", path.display()));
    Ok(())
}

/// The file of the table called `name` beside that of the first table: `x-name.csv` beside `x.csv`.
fn beside(path: &Path, name: &str) -> PathBuf {
    let mut file = path.file_stem().unwrap_or_default().to_owned();
    file.push(format!("-{name}"));
    if let Some(extension) = path.extension() {
        file.push(".");
        file.push(extension);
    }
    path.with_file_name(file)
}

/// Whether `path` could be the file of a further table beside `first`.
fn may_be_beside(path: &Path, first: &Path) -> bool {
    let stem = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let name = stem(path);
    let name = name.strip_prefix(&format!("{}-", stem(first)));
    name.is_some_and(|name| beside(first, name) == path)
}

/// All tables and what is said of them.
fn json(id: &str, options: &BenchOptions, table: &BenchTable) -> Json {
    let further = table.further.iter();
    let further: Map<String, Json> = further
        .map(|it| (it.name.to_owned(), objects(&it.columns, &it.rows)))
        .collect();
    json!({
        "id": id,
        "seed": options.seed,
        "quick": options.quick,
        "rows": objects(&table.columns, &table.rows),
        "further": further,
        "notes": table.notes,
        "findings": table.findings,
    })
}

/// Rows as objects; numbers that are not finite are null.
fn objects(columns: &[&str], rows: &[Vec<Cell>]) -> Json {
    rows.iter()
        .map(|row| {
            let pairs = columns.iter().zip(row);
            Json::Object(
                pairs
                    .map(|(name, cell)| ((*name).to_owned(), json!(cell)))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect()
}

fn plain(columns: &[&str], rows: &[Vec<Cell>]) -> String {
    let rows: Vec<Vec<String>> = rows
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
    output::table(columns, &rows)
}

/// Three significant digits, without trailing zeros.
pub(super) fn significant(value: f64) -> String {
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
    use ergodic_experiments::FurtherTable;

    #[test]
    fn further_tables_have_names_in_json_and_files_beside_the_first() {
        let table = BenchTable {
            columns: vec!["sampler"],
            rows: vec![vec![Cell::from("a")]],
            further: vec![FurtherTable {
                name: "roc",
                columns: vec!["false_positives", "a"],
                rows: vec![vec![Cell::from(0.5), Cell::from(f64::NAN)]],
            }],
            ..BenchTable::default()
        };
        let json = json("subsampling", &BenchOptions::default(), &table);
        assert_eq!(json["rows"], json!([{ "sampler": "a" }]));
        let points = json!([{ "false_positives": 0.5, "a": null }]);
        assert_eq!(json["further"], json!({ "roc": points }));
        for (first, second) in [("a/x.csv", "a/x-roc.csv"), ("x", "x-roc")] {
            assert_eq!(beside(Path::new(first), "roc"), Path::new(second));
        }
    }

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
