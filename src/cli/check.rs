//! `check`: whether data that a fitted model makes look like the data that it was fitted to.

use std::path::PathBuf;

use clap::Parser;

use super::trimmed::name;
use super::{Failure, output, progress, results};
use ergodic_analysis::check::{Check, CheckError, DRAWS, MOST_BINS, Resolution};
use ergodic_analysis::predict::log_lik::LogLikError;
use ergodic_base::Control;
use ergodic_base::numerals::{brief, fixed, thousands};
use ergodic_export::label::names_of;
use ergodic_export::{Results, RunFolder, check as files, check_place};

/// `check`.
#[derive(Debug, Parser)]
#[command(args_override_self = true)]
pub struct CheckArgs {
    /// Run folder
    pub run: PathBuf,
    /// Most draws used, evenly spaced; each makes a data set
    #[arg(long, default_value_t = DRAWS as u64, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub draws: u64,
    /// Bins of about equally many rows that each number is divided in; as many as suit the rows if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_BINS as u64))]
    pub bins: Option<u64>,
    /// Print predicted and realised shares of yes by these predictors, groupings, or `expected`, comma separated
    #[arg(long, value_delimiter = ',', value_parser = name(), value_name = "NAME,NAME")]
    pub by: Vec<String>,
    /// File for statistics, curves, bars and residuals as CSV
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print JSON, with all curves, bars and residuals, instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Checks and prints.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path, [&args.run]).map_err(Failure::request)?;
    }
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let results = results::to_compute_from(&folder)?;
    let check = run(args, &folder, &results)?;
    let shares = shares(&check, &args.by)?;
    if let Some(path) = &args.out {
        files::save(&check, path).map_err(Failure::run)?;
    }
    if args.json {
        let mut json = files::to_json(&check);
        results::add_verdict(&mut json, results.manifest.as_ref());
        return output::json(&json);
    }
    print(&names_of(&[&args.run]).concat(), &check);
    output::result(&shares);
    Ok(())
}

/// Predicted and realised shares by each of the columns called `names`, as tables.
fn shares(check: &Check, names: &[String]) -> Result<String, Failure> {
    if !names.is_empty() && !check.is_of_shares() {
        return Err(Failure::request(
            "--by takes outcomes that are yes or no, or successes among trials; --json and --out have the mean residuals of others",
        ));
    }
    let mut text = String::new();
    for name in names {
        let mut all = check.residuals.iter();
        let found = all.find(|it| it.along.name() == name).ok_or_else(|| {
            let names = check.residuals.iter().map(|it| it.along.name());
            Failure::request(format!(
                "There are no shares by `{name}`; there are those by {}",
                names.collect::<Vec<_>>().join(", ")
            ))
        })?;
        let rows: Vec<Vec<String>> = (found.means.iter())
            .map(|it| {
                let range = it.shares();
                let is_outside = !it.replicated.holds(it.observed);
                vec![
                    it.label(),
                    it.rows.to_string(),
                    fixed(it.expected, 3),
                    fixed(range.lower, 3),
                    fixed(range.upper, 3),
                    fixed(it.share(), 3),
                    if is_outside { "*" } else { "" }.to_owned(),
                ]
            })
            .collect();
        let heads = [name, "rows", "predicted", "5 %", "95 %", "realised", ""];
        text.push_str(&format!("\n{}", output::table(&heads, &rows)));
    }
    if !text.is_empty() {
        text.push_str(
            "predicted: mean probability, with the central 90 % of shares in replicated data; *: realised shares outside\n",
        );
    }
    Ok(text)
}

fn print(name: &str, check: &Check) {
    output::result(&format!(
        "{name}: {} rows, {} replicated data sets\n",
        thousands(check.rows as u64),
        thousands(check.draws.0 as u64)
    ));
    let rows: Vec<Vec<String>> = (check.statistics.iter())
        .map(|it| {
            vec![
                it.statistic.name().to_owned(),
                brief(it.observed),
                brief(it.replicated.median),
                brief(it.replicated.lower),
                brief(it.replicated.upper),
                it.p_in_words(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let heads = ["", "observed", "median", "5 %", "95 %", ""];
        output::result(&output::table(&heads, &rows));
        output::result("\n");
    }
    for finding in check.findings() {
        output::result(&format!("{finding}\n"));
    }
    if let Some(r2) = &check.r2 {
        for sentence in r2.sentences() {
            output::result(&format!("{sentence}\n"));
        }
    }
    if !rows.is_empty() {
        output::note("p: share of replicated data sets at least as far out on the same side");
    }
    output::note(&check.picture_in_words());
    if let Some(pit) = &check.pit {
        output::note(&pit.summary());
    }
    for residuals in &check.residuals {
        output::note(&residuals.summary());
    }
    for remark in check.remarks() {
        output::note(&remark);
    }
}

/// Checks on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &CheckArgs, folder: &RunFolder, results: &Results) -> Result<Check, Failure> {
    let control = Control::default();
    let work = || -> Result<Check, CheckError> {
        let fitted = folder
            .fitted(results, &control)
            .map_err(LogLikError::from)?;
        let (draws, weights) = results.usable();
        let resolution = Resolution {
            draws: args.draws as usize,
            bins: args.bins.map(|bins| bins as usize),
        };
        fitted.check(&draws, &weights, resolution, &control)
    };
    progress::over_rows("checks", "replicated", &control, work)
}
