//! `predict`: expected outcomes and outcomes of rows, from a finished run.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::args::{EffectsUsed, PredictArgs};
use super::estimate::significant;
use super::{Failure, fit, output, results};
use ergodic_analysis::predict::{
    Fitted, PredictControl, PredictError, PredictOptions, Predictions,
};
use ergodic_base::numerals::{about, fixed};
use ergodic_core::design::response::ResponseKind;
use ergodic_export::{RunFolder, check_place, predictions as files};

/// How often the terminal looks for an interruption.
const LOOK_TIME: Duration = Duration::from_millis(5);
/// Time between lines of progress.
const LINE_TIME: Duration = Duration::from_secs(5);
/// Rows printed where all are in a file.
const ROWS_PRINTED: usize = 10;

/// Predicts and prints.
pub fn predict(args: &PredictArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path).map_err(Failure::request)?;
    }
    let predictions = run(args)?;
    if let Some(path) = &args.out {
        files::save(&predictions, path).map_err(Failure::run)?;
    }
    if args.json {
        let json = files::to_json(&predictions);
        let text = serde_json::to_string_pretty(&json).map_err(Failure::run)?;
        output::json(&(text + "\n"));
    } else if let Some(path) = &args.out {
        let rows: Vec<Vec<String>> = predictions
            .rows
            .iter()
            .take(ROWS_PRINTED)
            .map(|row| files::cells(&predictions, row, significant))
            .collect();
        output::result(&output::table(&files::header(&predictions), &rows));
        let more = predictions.rows.len() - rows.len();
        if more > 0 {
            output::result(&format!("and {more} more in {}\n", path.display()));
        }
    } else {
        output::stream(|out| files::write_csv(&predictions, out));
    }
    note(&predictions);
    Ok(())
}

/// What the columns are, what was left out, how many outcomes are in their intervals.
fn note(predictions: &Predictions) {
    let percent = fixed(100.0 * predictions.options.interval, 0);
    output::note(&format!(
        "mean, sd, lower, upper: {}, {percent} % interval; outcome_lower, outcome_upper: {percent} % interval of {}",
        predictions.quantity,
        match predictions.response.kind {
            ResponseKind::Successes => "the number of successes",
            ResponseKind::Binary { .. } => "an outcome, 0 or 1",
            _ => "an outcome",
        }
    ));
    for remark in predictions.remarks() {
        output::note(&remark);
    }
    let (inside, observed) = predictions.coverage();
    if observed > 0 && !matches!(predictions.response.kind, ResponseKind::Binary { .. }) {
        output::note(&format!(
            "{inside} of {observed} observed outcomes lie inside their {percent} % intervals ({} %)",
            fixed(100.0 * inside as f64 / observed as f64, 1)
        ));
    }
}

/// Predicts on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &PredictArgs) -> Result<Predictions, Failure> {
    let interrupted = fit::interrupt_flag();
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let recipe = folder.recipe().map_err(Failure::request)?;
    let results = results::of_folder(&folder)?;
    let options = PredictOptions {
        with_groups: args.effects == EffectsUsed::With,
        interval: args.interval,
        draws: args.draws,
    };
    let control = PredictControl::default();
    let work = || -> Result<Predictions, PredictError> {
        let fitted = Fitted::open(&recipe, folder.path(), &control)?;
        let table = args.data.as_deref();
        let table = table.map(|path| fitted.read(path, &control)).transpose()?;
        let (draws, weights) = results.usable();
        fitted.predict(&draws, &weights, table.as_ref(), options, &control)
    };
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let mut told = Instant::now();
        let mut began = None;
        while !worker.is_finished() {
            if interrupted.load(Ordering::Relaxed) {
                control.cancel();
            }
            let done = f64::from(control.progress());
            if done > 0.0 && began.is_none() {
                began = Some(Instant::now());
            }
            if told.elapsed() >= LINE_TIME {
                told = Instant::now();
                let left = began.map(|began| began.elapsed().as_secs_f64() * (1.0 / done - 1.0));
                output::note(&match left {
                    Some(left) => format!(
                        "{:.0} % of rows predicted ({} left)",
                        100.0 * done,
                        about(left)
                    ),
                    None => "Reading data and draws".to_owned(),
                });
            }
            std::thread::sleep(LOOK_TIME);
        }
        worker.join()
    });
    match result {
        Ok(Ok(predictions)) => Ok(predictions),
        Ok(Err(error)) if interrupted.load(Ordering::Relaxed) => {
            Err(Failure::interrupted(error.to_string()))
        }
        Ok(Err(error)) => Err(Failure::request(error)),
        Err(_panic) => Err(Failure::run("The predictions ended unexpectedly")),
    }
}
