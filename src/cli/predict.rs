//! `predict`: expected outcomes and outcomes of rows, from a finished run.

use super::args::{EffectsUsed, PredictArgs};
use super::estimate::significant;
use super::{Failure, output, progress, results};
use ergodic_analysis::predict::{PredictError, PredictOptions, Predictions};
use ergodic_base::Control;
use ergodic_base::numerals::fixed;
use ergodic_core::design::ResponseKind;
use ergodic_export::{Results, RunFolder, check_place, predictions as files};

/// Rows printed where all are in a file.
const ROWS_PRINTED: usize = 10;

/// Predicts and prints.
pub fn predict(args: &PredictArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path, [&args.run].into_iter().chain(&args.data)).map_err(Failure::request)?;
    }
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let results = results::to_compute_from(&folder)?;
    let predictions = run(args, &folder, &results)?;
    if let Some(path) = &args.out {
        files::save(&predictions, path).map_err(Failure::run)?;
    }
    if args.json {
        let mut json = files::to_json(&predictions);
        results::add_verdict(&mut json, results.manifest.as_ref());
        output::json(&json)?;
    } else if let Some(path) = &args.out {
        let printed = ROWS_PRINTED.min(predictions.rows.len());
        let rows: Vec<Vec<String>> = (0..printed)
            .map(|place| files::cells(&predictions, place, significant))
            .collect();
        let names = files::header(&predictions);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        output::result(&output::table(&names, &rows));
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
    let (inside, observed) = predictions.coverage();
    if let ResponseKind::Unordered { .. } = predictions.response.kind {
        let name = &predictions.response.name;
        output::note(&format!(
            "mean, sd, lower, upper: {}, {percent} % interval; most_probable: that level; p[level]: the probability of each",
            predictions.quantity
        ));
        for remark in predictions.remarks() {
            output::note(&remark);
        }
        if observed > 0 {
            output::note(&format!(
                "{inside} of {observed} rows have their most probable {name} ({} %)",
                fixed(100.0 * inside as f64 / observed as f64, 1)
            ));
        }
        return;
    }
    output::note(&format!(
        "mean, sd, lower, upper: {}, {percent} % interval; outcome_lower, outcome_upper: {percent} % interval of {}",
        predictions.quantity,
        match predictions.response.kind {
            ResponseKind::Successes => "the number of successes",
            ResponseKind::Binary { .. } => "an outcome, 0 or 1",
            ResponseKind::Ordered { .. } => "the level of an outcome; p[level]: its probability",
            _ => "an outcome",
        }
    ));
    for remark in predictions.remarks() {
        output::note(&remark);
    }
    if observed > 0 && !matches!(predictions.response.kind, ResponseKind::Binary { .. }) {
        output::note(&format!(
            "{inside} of {observed} observed outcomes lie inside their {percent} % intervals ({} %)",
            fixed(100.0 * inside as f64 / observed as f64, 1)
        ));
    }
}

/// Predicts on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &PredictArgs, folder: &RunFolder, results: &Results) -> Result<Predictions, Failure> {
    let options = PredictOptions {
        with_groups: args.effects == EffectsUsed::With,
        interval: args.interval,
        draws: args.draws,
    };
    let control = Control::default();
    let work = || -> Result<Predictions, PredictError> {
        let fitted = folder.fitted(results, &control)?;
        let table = args.data.as_deref();
        let table = table.map(|path| fitted.read(path, &control)).transpose()?;
        let (draws, weights) = results.usable();
        fitted.predict(&draws, &weights, table.as_ref(), options, &control)
    };
    progress::over_rows("predictions", "predicted", &control, work)
}
