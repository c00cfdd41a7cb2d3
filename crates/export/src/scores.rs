//! Scores of predictions as files.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::number::{or_na, shortest};
use super::spreadsheet::inert;
use super::{ExportError, Results, write_file};
use ergodic_analysis::predict::scores::{
    ChainTime, INTERVALS, PredictionScores, ScoresCompared, compare,
};
use ergodic_core::design::ResponseKind;

/// The columns of a table of scores. `part` says what a line is of: `score` with its name in `of` and its value and standard
/// error; `course` with what `x` counts, draws or seconds, in `of`, and the mean log density as its value; `roc` with the threshold
/// in `of`, false positives in `x` and true positives as its value. `NA` where there is no such number.
pub const HEADER: [&str; 6] = ["run", "part", "of", "x", "value", "se"];

/// What the chains of a run took whose draws are used; nothing where that is not known.
pub fn times(results: &Results) -> Vec<ChainTime> {
    let working = results.working();
    let manifest = results.manifest.as_ref();
    let chains = working
        .iter()
        .filter_map(|&chain| manifest?.chains.get(chain));
    let time = chains.map(|chain| ChainTime {
        warmup: chain.warmup_secs,
        draws: chain.draw_secs,
    });
    time.collect()
}

/// The lines of one run, after its name.
fn lines(scores: &PredictionScores) -> Vec<[String; 5]> {
    let na = || or_na(None);
    let mut lines: Vec<[String; 5]> = (scores.measures.iter())
        .map(|(measure, score)| {
            let (value, se) = (shortest(score.value), or_na(score.se));
            [
                "score".to_owned(),
                measure.word().to_owned(),
                na(),
                value,
                se,
            ]
        })
        .collect();
    let place = |of: &str, x: f64, value: f64| {
        [
            "course".to_owned(),
            of.to_owned(),
            shortest(x),
            shortest(value),
            na(),
        ]
    };
    let course = &scores.course;
    lines.extend(
        course
            .iter()
            .map(|it| place("draws", it.draws as f64, it.lpd)),
    );
    let timed = course.iter().filter_map(|it| Some((it.seconds?, it.lpd)));
    lines.extend(timed.map(|(seconds, lpd)| place("seconds", seconds, lpd)));
    let points = scores.roc.iter().flat_map(|roc| &roc.points);
    lines.extend(points.map(|it| {
        let [of, x, y] = [it.threshold, it.false_positives, it.true_positives].map(shortest);
        ["roc".to_owned(), of, x, y, na()]
    }));
    lines
}

/// One line per score, place of a course and point of a curve, for each run with its name.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(runs: &[(String, &PredictionScores)], out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(HEADER)?;
    for (name, scores) in runs {
        let name = inert(name);
        for line in lines(scores) {
            out.write_record(
                std::iter::once(name.as_ref()).chain(line.iter().map(String::as_str)),
            )?;
        }
    }
    out.flush()
}

/// Writes the table to `path`.
///
/// # Errors
/// The path cannot be written.
pub fn save(runs: &[(String, &PredictionScores)], path: &Path) -> Result<(), ExportError> {
    write_file("The scores could not be written", path, |out| {
        write_csv(runs, out)
    })
}

/// Everything, one entry per run; numbers that are not finite are null.
pub fn to_json(runs: &[(String, &PredictionScores)]) -> Json {
    let compared = compare(runs);
    let run = |(k, (name, scores)): (usize, &(String, &PredictionScores))| {
        let mut json = run(name, scores);
        let compared = compared.as_ref();
        json["behind_the_best"] = json!(compared.map(|it| behind_json(runs, it, k)));
        json
    };
    runs.iter().enumerate().map(run).collect()
}

/// The log densities of runs of the same rows, and how they compare.
pub fn compared_json(runs: &[(String, &PredictionScores)], compared: &ScoresCompared) -> Json {
    let run = |(k, (name, scores)): (usize, &(String, &PredictionScores))| {
        json!({
            "run": name,
            "rows_scored": scores.rows.len(),
            "elpd": { "estimate": scores.elpd().estimate, "se": scores.elpd().se },
            "behind_the_best": behind_json(runs, compared, k),
        })
    };
    json!({
        "runs": runs.iter().enumerate().map(run).collect::<Vec<Json>>(),
        "remarks": compared.remarks,
    })
}

/// How far the `k`-th run falls behind the best; null of the best.
fn behind_json(runs: &[(String, &PredictionScores)], compared: &ScoresCompared, k: usize) -> Json {
    let behind = compared.behind.iter().find(|it| it.index == k);
    json!(behind.map(|it| json!({
        "best": runs[compared.best].0,
        "elpd_diff": { "estimate": it.difference.estimate, "se": it.difference.se },
        "sentence": it.sentence,
    })))
}

fn run(name: &str, scores: &PredictionScores) -> Json {
    let measures = scores.measures.iter().map(|(measure, score)| {
        let value = json!({ "value": score.value, "se": score.se });
        (measure.word().to_owned(), value)
    });
    let course = scores
        .course
        .iter()
        .map(|it| json!({ "draws": it.draws, "seconds": it.seconds, "lpd": it.lpd }));
    let roc = scores.roc.as_ref().map(|roc| -> Json {
        let points = roc.points.iter();
        let point = points.map(|it| {
            json!({
                "threshold": it.threshold,
                "false_positives": it.false_positives,
                "true_positives": it.true_positives,
            })
        });
        point.collect()
    });
    let observed = |place: f64| match &scores.response.kind {
        // Places of levels without an order mean nothing.
        ResponseKind::Unordered { levels } => json!(levels.get((place - 1.0) as usize)),
        _ => json!(place),
    };
    let rows = scores.rows.iter().enumerate().map(|(i, it)| {
        json!({
            "row": it.row + 1,
            "observed": observed(it.observed),
            "predicted": it.predicted,
            "most_probable": scores.response.levels().get((it.called - 1.0) as usize),
            "lpd": it.lpd,
            "interval_50": it.intervals[0],
            "interval_90": it.intervals[1],
            "weight": scores.weights.as_ref().map(|weights| weights[i]),
        })
    });
    json!({
        "run": name,
        "outcome": scores.response.column(),
        "rows_total": scores.rows_total,
        "rows_scored": scores.rows.len(),
        "draws_used": scores.draws.0,
        "draws": scores.draws.1,
        "intervals": INTERVALS,
        "elpd": { "estimate": scores.elpd().estimate, "se": scores.elpd().se },
        "scores": measures.collect::<serde_json::Map<String, Json>>(),
        "course": course.collect::<Vec<Json>>(),
        "roc": roc,
        "rows": rows.collect::<Vec<Json>>(),
        "remarks": scores.remarks(),
    })
}
