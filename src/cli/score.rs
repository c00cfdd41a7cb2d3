//! `score`: how good the predictions of finished runs are for rows that they were not fitted to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use super::{Failure, fit, output, progress, results};
use ergodic_analysis::Run;
use ergodic_analysis::predict::scores::folds::{self, HOLDS_OUT, time_of_fits};
use ergodic_analysis::predict::scores::{
    Measure, PredictionScores, ScoresCompared, ScoresError, compare,
};
use ergodic_base::Control;
use ergodic_base::numerals::{fixed, thousands};
use ergodic_diagnostics::scores::Score;
use ergodic_export::label::names_of;
use ergodic_export::{Manifest, Results, RunFolder, check_place, scores as files};
use ergodic_report::{PictureFormat, courses, save_figure};

/// Decimals of scores: the third of a log loss of a thousand rows is noise.
const DECIMALS: usize = 4;
const KFOLD: &str = "elpd_kfold: sum of the log densities, to compare with elpd_loo";

/// `score`.
#[derive(Debug, Parser)]
#[command(args_override_self = true)]
pub struct ScoreArgs {
    /// Run folders; several stand in one table
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Data file with rows to score, coded as those of the run; the rows that the run held out if absent
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Fit each run again without each of this many parts of its rows, drawn at random, and score every row by the fit that does not
    /// know it: cross-validation without approximation
    #[arg(long, value_name = "K", conflicts_with = "data", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub folds: Option<u32>,
    /// Most draws used of each run, evenly spaced; all if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub draws: Option<u64>,
    /// File for scores, courses and ROC curves as CSV
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// File for a picture of the courses of all runs: .svg, .png or .csv
    #[arg(long, value_name = "PATH", conflicts_with = "folds")]
    pub plot: Option<PathBuf>,
    /// Print JSON, with courses, curves and all rows, instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Scores and prints.
pub fn score(args: &ScoreArgs) -> Result<(), Failure> {
    for path in args.out.iter().chain(&args.plot) {
        check_place(path, args.runs.iter().chain(&args.data)).map_err(Failure::request)?;
    }
    if let Some(path) = &args.plot {
        PictureFormat::of(path).map_err(Failure::request)?;
    }
    // One handler for all runs.
    let folds = args.folds.map(|folds| (folds, fit::interrupt_flag()));
    let scored = args.runs.iter().map(|path| match &folds {
        // Each fit without a part is judged for itself.
        Some((folds, interrupted)) => Ok((refits(path, *folds, args, interrupted)?, None)),
        None => run(path, args.data.as_deref(), most_draws(args)).map_err(|mut failure| {
            if args.runs.len() > 1 {
                failure.message = format!("{}: {}", path.display(), failure.message);
            }
            failure
        }),
    });
    let scored = scored.collect::<Result<Vec<_>, Failure>>()?;
    let (scored, manifests): (Vec<PredictionScores>, Vec<Option<Manifest>>) =
        scored.into_iter().unzip();
    let paths: Vec<&Path> = args.runs.iter().map(PathBuf::as_path).collect();
    let names = names_of(&paths).into_iter();
    let runs: Vec<(String, &PredictionScores)> = names.zip(&scored).collect();
    if let Some(path) = &args.out {
        files::save(&runs, path).map_err(Failure::run)?;
    }
    if let Some(path) = &args.plot {
        let caption = save_figure(&courses(&runs), path).map_err(Failure::run)?;
        output::note(&caption);
    }
    if args.json {
        let mut json = files::to_json(&runs);
        for (index, manifest) in manifests.iter().enumerate().filter(|_| folds.is_none()) {
            results::add_verdict(&mut json[index], manifest.as_ref());
        }
        return output::json(&json);
    }
    match runs.as_slice() {
        [(name, scores)] => print(name, scores, args.folds),
        _ => print_all(&runs, args.folds),
    }
    for (name, scores) in &runs {
        for remark in scores.remarks() {
            output::note(&format!("{name}: {remark}"));
        }
    }
    Ok(())
}

/// Scores a run by the rows that it held out, or by those of `data`, and says what was run.
fn run(
    path: &Path,
    data: Option<&Path>,
    most: usize,
) -> Result<(PredictionScores, Option<Manifest>), Failure> {
    let folder = RunFolder::open(path).map_err(Failure::request)?;
    let results = results::to_compute_from(&folder)?;
    let scores = of_results(&folder, &results, data, most)?;
    Ok((scores, results.manifest))
}

/// Scores the `results` of a folder on a thread of its own, so that Ctrl-C ends the work.
pub(super) fn of_results(
    folder: &RunFolder,
    results: &Results,
    data: Option<&Path>,
    most: usize,
) -> Result<PredictionScores, Failure> {
    let control = Control::default();
    let work = || -> Result<PredictionScores, ScoresError> {
        let fitted = folder.fitted(results, &control)?;
        let table = data.map(|path| fitted.read(path, &control)).transpose()?;
        let (draws, weights) = results.usable();
        let mut scores = fitted.scores(&draws, &weights, table.as_ref(), most, &control)?;
        scores.time(&files::times(results));
        Ok(scores)
    };
    let tell = progress::rows("scored");
    progress::work("scores", &control, work, tell, |error, interrupted| {
        if interrupted {
            Failure::interrupted(error.to_string())
        } else if matches!(error, ScoresError::NothingHeldOut) {
            Failure::request(format!("{error}, or name another table with --data"))
        } else {
            Failure::request(error)
        }
    })
}

/// Fits a run again without each of `folds` parts of its rows, and scores each part by the fit that does not know it.
fn refits(
    path: &Path,
    folds: u32,
    args: &ScoreArgs,
    interrupted: &AtomicBool,
) -> Result<PredictionScores, Failure> {
    let folder = RunFolder::open(path).map_err(Failure::request)?;
    let recipe = folder.recipe().map_err(Failure::request)?;
    if recipe.model.hold_out.is_some() {
        return Err(Failure::request(format!(
            "{HOLDS_OUT}; leave out --folds, or name a run of all rows: {}",
            path.display()
        )));
    }
    if let Some(manifest) = folder.results().map_err(Failure::request)?.manifest {
        let time = time_of_fits(folds as usize, manifest.elapsed_secs);
        output::note(&format!("{}: {time}", path.display()));
    }
    let most = most_draws(args);
    let (of, control) = ((&recipe, folder.path()), Control::default());
    let fit = |number, job, _control: &Control| -> Result<Run, Failure> {
        output::note(&format!("{}: part {number} of {folds}", path.display()));
        let (run, _) = fit::watch(&Arc::new(job), None, None, interrupted)?;
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::interrupted(
                "Interrupted; cross-validation keeps nothing",
            ));
        }
        Ok(run)
    };
    let folded = folds::run(of, None, (folds, most), &control, fit)?;
    for remark in &folded.remarks {
        output::note(&format!("{}: {remark}", path.display()));
    }
    Ok(folded.scores)
}

fn most_draws(args: &ScoreArgs) -> usize {
    args.draws.map_or(usize::MAX, |draws| draws as usize)
}

fn se(score: Score) -> String {
    score
        .se
        .map_or_else(|| "-".to_owned(), |se| fixed(se, DECIMALS))
}

/// One run, a line per score.
fn print(name: &str, scores: &PredictionScores, folds: Option<u32>) {
    output::result(&format!(
        "{name}: {} rows scored, {} draws\n",
        thousands(scores.rows.len() as u64),
        thousands(scores.draws.0 as u64)
    ));
    let mut rows: Vec<Vec<String>> = (scores.measures.iter())
        .map(|(measure, score)| {
            vec![
                measure.name().to_owned(),
                fixed(score.value, DECIMALS),
                se(*score),
            ]
        })
        .collect();
    if folds.is_some() {
        let elpd = scores.elpd();
        rows.push(vec![
            "elpd_kfold".to_owned(),
            fixed(elpd.estimate, 1),
            fixed(elpd.se, 1),
        ]);
    }
    output::result(&output::table(&["", "score", "SE"], &rows));
    if folds.is_some() {
        output::note(KFOLD);
    }
    for (measure, _) in &scores.measures {
        output::note(&format!("{}: {}", measure.name(), measure.about()));
    }
}

/// Several runs, a line each, with what all of them have; where they score the same rows, by how much each falls behind the best.
fn print_all(runs: &[(String, &PredictionScores)], folds: Option<u32>) {
    let (_, first) = &runs[0];
    let of_all = |measure: &Measure| runs.iter().all(|(_, it)| it.score(*measure).is_some());
    let measures: Vec<Measure> = (first.measures.iter())
        .map(|(measure, _)| *measure)
        .filter(of_all)
        .collect();
    let compared = compare(runs);
    let best = compared.as_ref().map(|compared| runs[compared.best].1);
    let mut header = vec!["run", "rows"];
    for measure in &measures {
        header.extend([measure.name(), "SE"]);
    }
    if best.is_some() {
        header.extend(["behind the best", "SE"]);
    }
    if folds.is_some() {
        header.extend(["elpd_kfold", "SE"]);
    }
    let rows: Vec<Vec<String>> = (runs.iter())
        .map(|(name, scores)| {
            let mut cells = vec![name.clone(), thousands(scores.rows.len() as u64)];
            let found = measures.iter().filter_map(|it| scores.score(*it));
            for score in found.chain(best.map(|best| best.difference(scores))) {
                cells.extend([fixed(score.value, DECIMALS), se(score)]);
            }
            if folds.is_some() {
                let elpd = scores.elpd();
                cells.extend([fixed(elpd.estimate, 1), fixed(elpd.se, 1)]);
            }
            cells
        })
        .collect();
    output::result(&output::table(&header, &rows));
    if folds.is_some() {
        output::note(KFOLD);
    }
    match &compared {
        Some(compared) => {
            output::result("\n");
            print_compared(compared, first.rows.len());
            output::note(
                "behind the best: by how much the log density is lower than the highest, row by row, with the standard error of that",
            );
        }
        None => output::note(
            "The runs are scored by different rows, so these numbers do not compare them; hold out the same rows in all, or name a \
             table with --data",
        ),
    }
}

/// How much better the best run predicts than each of the others.
pub(super) fn print_compared(compared: &ScoresCompared, rows: usize) {
    output::result(&format!(
        "Log predictive density of {} rows together\n",
        thousands(rows as u64)
    ));
    for behind in &compared.behind {
        output::result(&format!("{}\n", behind.sentence));
    }
    for remark in &compared.remarks {
        output::note(remark);
    }
}
