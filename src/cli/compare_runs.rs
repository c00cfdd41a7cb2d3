//! `compare-runs`: what differs between two runs, and whether Monte Carlo error explains it.

use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::{Value as Json, json};

use super::results::{decimals, significant};
use super::{Failure, loo, output, progress, results, score};
use ergodic_analysis::Recipe;
use ergodic_analysis::loo::{Comparison, CrossValidation, compare};
use ergodic_analysis::predict::scores::{
    PredictionScores, ScoresCompared, compare as compare_held_out,
};
use ergodic_analysis::run_comparison::{ComparedRun, DataUsed, RunComparison, compare_runs as of};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{self, decimals_by_error};
use ergodic_base::{Control, ParamId};
use ergodic_export::label::names_of;
use ergodic_export::scores::compared_json;
use ergodic_export::{Results, RunFolder, check_place, run_comparison as files};

/// Parameters printed, those that change most first; `--json` and `--out` have all.
const PRINTED: usize = 40;
/// Names of parameters of one run printed.
const NAMES_PRINTED: usize = 12;

/// `compare-runs`.
#[derive(Debug, Parser)]
#[command(args_override_self = true)]
pub struct CompareRunsArgs {
    /// Run folder, or a file of draws
    #[arg(value_name = "A")]
    pub one: PathBuf,
    /// Run folder, or a file of draws, that is compared with it
    #[arg(value_name = "B")]
    pub other: PathBuf,
    /// Leave no rows out and score none that are held out: say nothing of how well both predict
    #[arg(long)]
    pub no_loo: bool,
    /// File for the parameters as CSV
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of sentences and tables
    #[arg(long)]
    pub json: bool,
}

/// A run as it was read.
struct Read {
    name: String,
    folder: Option<RunFolder>,
    recipe: Option<Recipe>,
    data: Option<DataUsed>,
    results: Results,
}

impl Read {
    fn of(path: &Path, name: String) -> Result<Self, Failure> {
        if path.is_file() {
            return Ok(Self {
                name,
                folder: None,
                recipe: None,
                data: None,
                results: results::any(path)?,
            });
        }
        let folder = RunFolder::open(path).map_err(Failure::request)?;
        let results = results::to_compute_from(&folder)?;
        let data = results.manifest.as_ref().map(|manifest| DataUsed {
            fingerprint: manifest.data_fingerprint.clone(),
            source: manifest.data_source.clone(),
            rows: (manifest.rows_total, manifest.rows_used),
        });
        Ok(Self {
            name,
            recipe: Some(folder.recipe().map_err(Failure::request)?),
            folder: Some(folder),
            data,
            results,
        })
    }
}

/// Scores of both runs and how they compare, or why they do not.
type Scores = Result<([(String, CrossValidation); 2], Comparison), String>;

/// Compares and prints.
pub fn compare_runs(args: &CompareRunsArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path, [&args.one, &args.other]).map_err(Failure::request)?;
    }
    let mut names = names_of(&[&args.one, &args.other]).into_iter();
    let mut read = |path: &Path| Read::of(path, names.next().unwrap_or_default());
    let runs = [read(&args.one)?, read(&args.other)?];
    let found = run(&runs)?;
    let scores = match args.no_loo {
        true => None,
        false => Some(scores(&runs, &found)?),
    };
    let held_out = match args.no_loo || found.has_one_posterior {
        true => None,
        false => held_out(&runs)?,
    };
    if let Some(path) = &args.out {
        files::save(&found, path).map_err(Failure::run)?;
    }
    if args.json {
        let lent = scores.as_ref().map(|scores| {
            let scores = scores.as_ref();
            scores.map(|(runs, comparison)| {
                let runs = runs.each_ref().map(|(name, run)| (name.clone(), run));
                (runs, comparison)
            })
        });
        let lent = lent.as_ref().map(|lent| match lent {
            Ok((runs, comparison)) => Ok((runs.as_slice(), *comparison)),
            Err(why) => Err(why.as_str()),
        });
        let mut json = files::to_json(&found, lent);
        let verdicts = runs.iter().map(|run| {
            let mut json = json!({ "run": run.name });
            results::add_verdict(&mut json, run.results.manifest.as_ref());
            json
        });
        json["run_verdicts"] = verdicts.collect();
        json["held_out"] = held_out
            .as_ref()
            .map_or(Json::Null, |held_out| match held_out {
                Ok((scored, compared)) => {
                    let mut json = compared_json(&lend(scored), compared);
                    for (k, run) in runs.iter().enumerate() {
                        let manifest = run.results.manifest.as_ref();
                        results::add_verdict(&mut json["runs"][k], manifest);
                    }
                    json
                }
                Err(why) => json!({ "not_compared": why }),
            });
        return output::json(&json);
    }
    print(&found);
    if let Some(scores) = &scores {
        print_scores(scores);
    }
    match &held_out {
        None => {}
        Some(Err(why)) => output::result(&format!("Not compared by rows held out: {why}\n")),
        Some(Ok((scored, compared))) => {
            output::result("\nRows held out of both fits\n");
            score::print_compared(compared, scored[0].1.rows.len());
        }
    }
    for remark in found.remarks.iter().chain([&found.level()]) {
        output::note(remark);
    }
    Ok(())
}

/// Compares on a thread of its own, so that Ctrl-C ends the work.
fn run(runs: &[Read; 2]) -> Result<RunComparison, Failure> {
    let control = Control::default();
    let usable = runs.each_ref().map(|run| run.results.usable());
    let lent = |k: usize| {
        let (run, (draws, weights)) = (&runs[k], &usable[k]);
        let manifest = run.results.manifest.as_ref();
        ComparedRun {
            name: &run.name,
            recipe: run.recipe.as_ref(),
            data: run.data.as_ref(),
            variables: &run.results.variables,
            summary: &run.results.summary,
            draws: draws as &[&DrawList],
            weights,
            approximation: manifest.and_then(|manifest| manifest.approximation.as_deref()),
        }
    };
    let work = || of([&lent(0), &lent(1)], &control);
    let tell = |_done: Option<f64>| Some(control.stage().into_owned());
    progress::work("comparison", &control, work, tell, |error, _interrupted| {
        Failure::interrupted(error.to_string())
    })
}

/// Leaves the rows of both out, where both have a model of the same rows.
fn scores(runs: &[Read; 2], found: &RunComparison) -> Result<Scores, Failure> {
    if found.has_one_posterior {
        return Ok(Err(
            "both are runs of one model of the same data, which predict equally well up to Monte Carlo error"
                .to_owned(),
        ));
    }
    let mut scored = Vec::new();
    for run in runs {
        let Some(folder) = &run.folder else {
            return Ok(Err(format!(
                "{} has no model, so no rows can be left out",
                run.name
            )));
        };
        match loo::score(folder, &run.results, usize::MAX) {
            Ok(found) => scored.push((run.name.clone(), found)),
            Err(failure) if failure.is_interrupted() => return Err(failure),
            Err(failure) => return Ok(Err(failure.message)),
        }
    }
    let lent: Vec<(String, &CrossValidation)> = scored
        .iter()
        .map(|(name, found)| (name.clone(), found))
        .collect();
    let comparison = compare(&lent).map_err(|why| why.to_string());
    let pair = <[_; 2]>::try_from(scored);
    Ok(comparison.and_then(|comparison| match pair {
        Ok(pair) => Ok((pair, comparison)),
        Err(_other) => Err("Two runs are compared".to_owned()),
    }))
}

/// Scores of the rows that both runs hold out and how they compare, or why they do not.
type HeldOut = Result<(Vec<(String, PredictionScores)>, ScoresCompared), String>;

/// Scores both by the rows that they hold out; `None` where one holds out none.
fn held_out(runs: &[Read; 2]) -> Result<Option<HeldOut>, Failure> {
    let mut scored = Vec::new();
    for run in runs {
        let holds_out = |recipe: &Recipe| recipe.model.hold_out.is_some();
        let holding = run.recipe.as_ref().filter(|recipe| holds_out(recipe));
        let (Some(folder), Some(_)) = (&run.folder, holding) else {
            return Ok(None);
        };
        match score::of_results(folder, &run.results, None, usize::MAX) {
            Ok(found) => scored.push((run.name.clone(), found)),
            Err(failure) if failure.is_interrupted() => return Err(failure),
            Err(failure) => return Ok(Some(Err(failure.message))),
        }
    }
    let compared = compare_held_out(&lend(&scored));
    let compared = compared.ok_or_else(|| "they hold out different rows".to_owned());
    Ok(Some(compared.map(|compared| (scored, compared))))
}

fn lend(scored: &[(String, PredictionScores)]) -> Vec<(String, &PredictionScores)> {
    let runs = scored.iter();
    runs.map(|(name, scores)| (name.clone(), scores)).collect()
}

fn print(found: &RunComparison) {
    output::result(&format!("{}\n\n", found.sentence()));
    let [one, other] = &found.names;
    output::result(&format!("A: {one}\nB: {other}\n{}\n", found.subject));
    match found.settings.as_deref() {
        None => {}
        Some([]) => output::result("No setting differs\n"),
        Some(settings) => {
            let rows: Vec<Vec<String>> = settings
                .iter()
                .map(|it| {
                    let value = |k: usize| it.values[k].clone().unwrap_or("not set".to_owned());
                    vec![it.key.clone(), value(0), value(1)]
                })
                .collect();
            output::result("\n");
            output::result(&output::table(&["setting", "A", "B"], &rows));
        }
    }
    if !found.parameters.is_empty() {
        output::result("\n");
        output::result(&parameters(found));
    }
    for (k, names) in found.only.iter().enumerate() {
        if !names.is_empty() {
            output::result(&format!(
                "Draws only in {}: {}\n",
                ["A", "B"][k],
                listed(names)
            ));
        }
    }
    output::result("\n");
    match &found.joint {
        Err(why) => output::result(&format!("{why}\n")),
        Ok(apart) => {
            let number = |value: f64| numerals::significant(value, 2);
            let rows: Vec<Vec<String>> = found
                .distances()
                .into_iter()
                .map(|it| {
                    let chance = it.chance.map_or("NA".to_owned(), number);
                    vec![it.name, number(it.value), chance]
                })
                .collect();
            output::result(&format!(
                "Joint posterior of {}\n",
                ergodic_base::numerals::plural(apart.dim, "parameter")
            ));
            output::result(&output::table(&["", "A and B", "halves of one"], &rows));
            for it in found.distances() {
                output::result(&format!("{}: {}\n", it.name, it.meaning));
            }
        }
    }
    output::result("\n");
}

/// The parameters, those that change most first.
fn parameters(found: &RunComparison) -> String {
    let order = found.by_size();
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(PRINTED)
        .map(|&k| {
            let row = &found.parameters[k];
            // Two digits of the smaller spread: differences are seen beside it.
            let sd = row.sds.into_iter().flatten().reduce(f64::min);
            let digits = decimals_by_error(sd);
            let shift = row.shift.map(|it| (it.value, it.error()));
            let mut cells = vec![row.variable.as_str().to_owned()];
            for run in [0, 1] {
                cells.push(decimals(row.means[run], digits));
                cells.push(significant(row.sds[run], 3));
            }
            cells.push(decimals(shift.map(|it| it.0), 3));
            cells.push(decimals(shift.map(|it| it.1), 3));
            cells.push(decimals(row.sd_ratio.map(|it| it.value), 3));
            cells.push(decimals(row.ks, 3));
            cells.push(decimals(row.total_variation.map(|it| it.value), 3));
            cells.push(decimals(row.total_variation.and_then(|it| it.halves), 3));
            cells.push(row.change.map_or("", |_| "*").to_owned());
            cells
        })
        .collect();
    let heads = [
        "parameter",
        "mean A",
        "sd A",
        "mean B",
        "sd B",
        "shift, sd",
        "MCSE",
        "sd ratio",
        "KS",
        "TV",
        "TV halves",
        "",
    ];
    let mut text = output::table(&heads, &rows);
    if rows
        .iter()
        .any(|row| row.last().is_some_and(|cell| !cell.is_empty()))
    {
        text.push_str("*: beyond Monte Carlo error\n");
    }
    if (found.parameters.iter()).any(|row| row.total_variation.is_some()) {
        text.push_str(
            "TV: total variation distance, the largest difference of the probabilities of being in a set of values; TV halves: the largest \
             between halves of one of the runs, which chance makes with half of the draws\n",
        );
    }
    if order.len() > rows.len() {
        let more = order.len() - rows.len();
        text.push_str(&format!("and {more} more; --json and --out have all\n"));
    }
    text
}

fn listed(names: &[ParamId]) -> String {
    let shown: Vec<&str> = names
        .iter()
        .take(NAMES_PRINTED)
        .map(ParamId::as_str)
        .collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn print_scores(scores: &Scores) {
    match scores {
        Err(why) => output::result(&format!("Not compared by leaving rows out: {why}\n")),
        Ok((_, comparison)) => {
            for sentence in &comparison.sentences {
                output::result(&format!("{sentence}\n"));
            }
            for remark in &comparison.remarks {
                output::note(remark);
            }
        }
    }
}
