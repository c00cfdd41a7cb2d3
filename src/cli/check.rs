//! `check`: whether data that a fitted model makes look like the data that it was fitted to.

use std::path::PathBuf;

use clap::Parser;

use super::{Failure, output, progress, results};
use ergodic_analysis::check::{Check, CheckError, DRAWS};
use ergodic_analysis::predict::Fitted;
use ergodic_analysis::predict::log_lik::LogLikError;
use ergodic_base::control::Control;
use ergodic_base::numerals::{brief, thousands};
use ergodic_export::{RunFolder, check as files, check_place};

/// `check`.
#[derive(Debug, Parser)]
#[command(args_override_self = true)]
pub struct CheckArgs {
    /// Run folder
    pub run: PathBuf,
    /// Most draws used, evenly spaced; each makes a data set
    #[arg(long, default_value_t = DRAWS as u64, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub draws: u64,
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
        check_place(path).map_err(Failure::request)?;
    }
    let check = run(args)?;
    if let Some(path) = &args.out {
        files::save(&check, path).map_err(Failure::run)?;
    }
    if args.json {
        let json = files::to_json(&check);
        let text = serde_json::to_string_pretty(&json).map_err(Failure::run)?;
        output::json(&(text + "\n"));
        return Ok(());
    }
    print(&args.run.display().to_string(), &check);
    Ok(())
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
    if !rows.is_empty() {
        output::note("p: share of replicated data sets at least as far out on the same side");
    }
    output::note(&check.picture_in_words());
    for residuals in &check.residuals {
        output::note(&residuals.summary());
    }
    for remark in check.remarks() {
        output::note(&remark);
    }
}

/// Checks on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &CheckArgs) -> Result<Check, Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let recipe = folder.recipe().map_err(Failure::request)?;
    let results = results::of_folder(&folder)?;
    let control = Control::default();
    let work = || -> Result<Check, CheckError> {
        let fitted = Fitted::open(&recipe, folder.path(), &control).map_err(LogLikError::from)?;
        let (draws, weights) = results.usable();
        fitted.check(&draws, &weights, args.draws as usize, &control)
    };
    let tell = |done: Option<f64>| {
        let rows = done.map(|done| format!("{:.0} % of rows replicated", 100.0 * done));
        Some(rows.unwrap_or_else(|| "Reading data and draws".to_owned()))
    };
    progress::work("checks", &control, work, tell, |error, interrupted| {
        if interrupted {
            Failure::interrupted(error.to_string())
        } else {
            Failure::request(error)
        }
    })
}
