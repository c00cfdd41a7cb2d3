//! `loo`: how well finished runs predict rows that they have not seen, and how they compare.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use super::{Failure, fit, output, progress, results};
use ergodic_analysis::hold_out::SEED;
use ergodic_analysis::loo::subsample::{SampledTotal, Subsampled, subsample};
use ergodic_analysis::loo::{
    Comparison, CrossValidation, LooError, compare, cross_validate, job_without,
};
use ergodic_analysis::predict::log_lik::LogLikError;
use ergodic_analysis::predict::scores::folds::time_of_fits;
use ergodic_base::Control;
use ergodic_base::numerals::{fixed, thousands};
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::loo::{Total, VERY_BAD};
use ergodic_export::label::names_of;
use ergodic_export::{Manifest, Results, RunFolder, loo as files};

/// Rows with a Pareto k that is not good that are printed; JSON has all.
const ROWS_PRINTED: usize = 20;

/// `loo`.
#[derive(Debug, Parser)]
pub struct LooArgs {
    /// Run folders; several of the same rows are compared
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Most draws used of each run, evenly spaced, at least 100; all if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..))]
    pub draws: Option<u64>,
    /// Leave out this many rows of each run, drawn at random, and estimate the sum over all from them: for tall data
    #[arg(long, value_name = "ROWS", conflicts_with_all = ["refit", "draws"], value_parser = clap::value_parser!(u64).range(10..))]
    pub subsample: Option<u64>,
    /// Move draws towards the posterior without each row whose Pareto k is not good, and score it by them: seconds where --refit
    /// takes a run for each row; with both, only rows that stay doubtful are left out of fits
    #[arg(long, conflicts_with_all = ["subsample", "draws"])]
    pub moment_match: bool,
    /// Fit each run again without each row whose Pareto k is not good, so that no score rests on weights that cannot be trusted
    #[arg(long)]
    pub refit: bool,
    /// Print JSON, with the scores of all rows, instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Scores runs, compares them, and prints.
pub fn loo(args: &LooArgs) -> Result<(), Failure> {
    if let Some(rows) = args.subsample {
        return sampled(args, rows as usize);
    }
    let most = args.draws.map_or(usize::MAX, |draws| draws as usize);
    // One handler for all runs.
    let interrupted = args.refit.then(fit::interrupt_flag);
    let scored = args.runs.iter().map(|path| {
        let (mut scored, manifest) = run(path, most, args.moment_match)?;
        if let Some(interrupted) = &interrupted {
            refit(path, (&mut scored, manifest.as_ref()), interrupted)?;
        }
        Ok((scored, manifest))
    });
    let scored = scored.collect::<Result<Vec<_>, Failure>>()?;
    let (scored, manifests): (Vec<CrossValidation>, Vec<Option<Manifest>>) =
        scored.into_iter().unzip();
    let runs: Vec<(String, &CrossValidation)> = names(args).into_iter().zip(&scored).collect();
    let comparison = match runs.len() {
        1 => None,
        _ => Some(compare(&runs).map_err(Failure::request)?),
    };
    if args.json {
        let mut json = files::to_json(&runs, comparison.as_ref());
        for (index, manifest) in manifests.iter().enumerate() {
            results::add_verdict(&mut json["runs"][index], manifest.as_ref());
        }
        return output::json(&json);
    }
    for (name, run) in &runs {
        print(name, run);
    }
    if let Some(comparison) = &comparison {
        print_comparison(&runs, comparison);
    }
    Ok(())
}

/// What the runs are called.
fn names(args: &LooArgs) -> Vec<String> {
    let paths: Vec<&Path> = args.runs.iter().map(PathBuf::as_path).collect();
    names_of(&paths)
}

/// Scores runs by a sample of their rows, the same seed for all.
fn sampled(args: &LooArgs, rows: usize) -> Result<(), Failure> {
    let mut runs: Vec<(String, Subsampled)> = Vec::new();
    let mut manifests: Vec<Option<Manifest>> = Vec::new();
    for (path, name) in args.runs.iter().zip(names(args)) {
        let folder = RunFolder::open(path).map_err(Failure::request)?;
        let results = results::to_compute_from(&folder)?;
        let control = Control::default();
        let work = || -> Result<Subsampled, LooError> {
            let fitted = folder
                .fitted(&results, &control)
                .map_err(LogLikError::from)?;
            let (draws, weights) = results.usable();
            subsample(&fitted, (&draws, &weights), rows, SEED, &control)
        };
        let sampled = progress::over_rows("scores", "left out", &control, work)?;
        let sampled = match &results.manifest {
            Some(manifest) => sampled.of_run(manifest.verdict, &manifest.verdict_sentence),
            None => sampled,
        };
        runs.push((name, sampled));
        manifests.push(results.manifest);
    }
    if args.json {
        let mut json = files::sampled_json(&runs);
        for (index, manifest) in manifests.iter().enumerate() {
            results::add_verdict(&mut json["runs"][index], manifest.as_ref());
        }
        return output::json(&json);
    }
    for (name, run) in &runs {
        let line = |name: &str, it: SampledTotal| {
            let numbers = [it.estimate, it.se, it.se_of_sample].map(|value| fixed(value, 1));
            std::iter::once(name.to_owned())
                .chain(numbers)
                .collect::<Vec<String>>()
        };
        output::result(&format!("{name}\n"));
        let rows = [line("elpd_loo", run.elpd), line("p_loo", run.p)];
        let heads = ["", "estimate", "SE", "SE of the sample"];
        output::result(&output::table(&heads, &rows));
        output::result(&format!("{}\n\n", run.sentence()));
    }
    Ok(())
}

/// Scores a run on a thread of its own, so that Ctrl-C ends the work, and moves draws for rows that weights cannot score if
/// `matching`; with what was run.
fn run(
    path: &Path,
    most: usize,
    matching: bool,
) -> Result<(CrossValidation, Option<Manifest>), Failure> {
    let folder = RunFolder::open(path).map_err(Failure::request)?;
    let results = results::to_compute_from(&folder)?;
    let scored = score(&folder, &results, most)?;
    if !matching || scored.doubtful().is_empty() {
        return Ok((scored, results.manifest));
    }
    let control = Control::default();
    let mut matched = scored;
    let work = || -> Result<CrossValidation, LooError> {
        let fitted = folder
            .fitted(&results, &control)
            .map_err(LogLikError::from)?;
        let (draws, _) = results.usable();
        matched.match_moments(&fitted, &draws, &control)?;
        Ok(matched)
    };
    let matched = progress::over_rows("scores", "left out", &control, work)?;
    Ok((matched, results.manifest))
}

/// Fits a run again without each row whose Pareto k is not good, one after the other, and takes their scores from there.
fn refit(
    path: &Path,
    (scored, manifest): (&mut CrossValidation, Option<&Manifest>),
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let folder = RunFolder::open(path).map_err(Failure::request)?;
    let recipe = folder.recipe().map_err(Failure::request)?;
    let control = Control::default();
    let doubtful = scored.doubtful();
    if let Some(manifest) = manifest.filter(|_| !doubtful.is_empty()) {
        let time = time_of_fits(doubtful.len(), manifest.elapsed_secs);
        output::note(&format!("{}: {time}", path.display()));
    }
    for (number, (row, k)) in doubtful.iter().enumerate() {
        output::note(&format!(
            "{}: fitting without row {}, whose Pareto k is {} ({} of {})",
            path.display(),
            row + 1,
            fixed(*k, 2),
            number + 1,
            doubtful.len()
        ));
        let job = job_without(&recipe, folder.path(), None, *row, &control);
        let job = Arc::new(job.map_err(Failure::request)?);
        let (mut run, _) = fit::watch(&job, None, None, interrupted)?;
        run.join();
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::interrupted(
                "Interrupted; fits without single rows keep nothing",
            ));
        }
        let report = run.report();
        if report.verdict != Verdict::Good {
            output::note(&format!(
                "note: without row {}: {}",
                row + 1,
                report.sentence
            ));
        }
        let exact = scored.take_exact(*row, (&job, &run.view()), &control);
        exact.map_err(Failure::request)?;
    }
    Ok(())
}

/// Scores the `results` of a folder, from at most `most` draws.
pub(super) fn score(
    folder: &RunFolder,
    results: &Results,
    most: usize,
) -> Result<CrossValidation, Failure> {
    let manifest = results.manifest.as_ref();
    let approximation = manifest.and_then(|manifest| manifest.approximation.clone());
    let control = Control::default();
    let work = || -> Result<CrossValidation, LooError> {
        let fitted = folder
            .fitted(results, &control)
            .map_err(LogLikError::from)?;
        let (draws, weights) = results.usable();
        cross_validate(&fitted, (&draws, &weights), most, approximation, &control)
    };
    let scored = progress::over_rows("scores", "left out", &control, work)?;
    Ok(match manifest {
        Some(manifest) => scored.of_run(manifest.verdict, &manifest.verdict_sentence),
        None => scored,
    })
}

/// The scores of a run, and the rows that they cannot be trusted for.
fn print(name: &str, run: &CrossValidation) {
    let loo = &run.loo;
    output::result(&format!(
        "{name}: {} rows, {} draws\n",
        thousands(loo.rows.len() as u64),
        thousands(loo.draws as u64)
    ));
    let line = |name: &str, total: Total| {
        vec![
            name.to_owned(),
            fixed(total.estimate, 1),
            fixed(total.se, 1),
        ]
    };
    let rows = [
        line("elpd_loo", loo.elpd()),
        line("p_loo", loo.p()),
        line("looic", loo.looic()),
        line("elpd_waic", loo.elpd_waic()),
        line("p_waic", loo.p_waic()),
    ];
    output::result(&output::table(&["", "estimate", "SE"], &rows));
    if let Some(error) = loo.mcse() {
        output::result(&format!(
            "Monte Carlo error of elpd_loo: {}\n",
            fixed(error, 2)
        ));
    }
    output::result("\n");
    let (counts, limit) = (loo.reliability(), fixed(loo.threshold(), 2));
    let share = |count: usize| {
        let share = 100.0 * count as f64 / loo.rows.len() as f64;
        vec![thousands(count as u64), format!("{} %", fixed(share, 1))]
    };
    let line = |range: String, word: &str, count: usize| {
        let mut cells = vec![range, word.to_owned()];
        cells.extend(share(count));
        cells
    };
    let very = fixed(VERY_BAD, 0);
    let rows = [
        line(format!("up to {limit}"), "good", counts.good),
        line(format!("{limit} to {very}"), "bad", counts.bad),
        line(format!("above {very}"), "very bad", counts.very_bad),
    ];
    output::result(&output::table(&["Pareto k", "", "rows", ""], &rows));
    let doubtful = run.doubtful();
    if !doubtful.is_empty() {
        let rows: Vec<Vec<String>> = doubtful
            .iter()
            .take(ROWS_PRINTED)
            .map(|(row, k)| vec![(row + 1).to_string(), fixed(*k, 2)])
            .collect();
        output::result("\n");
        output::result(&output::table(&["row", "Pareto k"], &rows));
        let more = doubtful.len() - rows.len();
        if more > 0 {
            output::result(&format!("and {more} more, which --json lists\n"));
        }
    }
    output::result(&format!("{}\n\n", run.reliability()));
    for remark in run.remarks() {
        output::note(&format!("{name}: {remark}"));
    }
}

fn print_comparison(runs: &[(String, &CrossValidation)], comparison: &Comparison) {
    let rows: Vec<Vec<String>> = comparison
        .models
        .iter()
        .map(|model| {
            let number = |value: f64| fixed(value, 1);
            vec![
                runs[model.index].0.clone(),
                number(model.elpd.estimate),
                number(model.elpd.se),
                number(model.p.estimate),
                number(model.difference.estimate),
                number(model.difference.se),
                fixed(model.weight, 3),
            ]
        })
        .collect();
    let heads = [
        "run",
        "elpd_loo",
        "SE",
        "p_loo",
        "difference",
        "SE of difference",
        "stacking weight",
    ];
    output::result(&output::table(&heads, &rows));
    output::result("\n");
    for sentence in &comparison.sentences {
        output::result(&format!("{sentence}\n"));
    }
    for remark in &comparison.remarks {
        output::note(remark);
    }
}
