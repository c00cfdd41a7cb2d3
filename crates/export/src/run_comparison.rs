//! Comparisons of two runs as files.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::number::or_na;
use super::{ExportError, loo, write_file};
use ergodic_analysis::loo::{Comparison, CrossValidation};
use ergodic_analysis::run_comparison::{Change, ParameterRow, RunComparison};
use ergodic_base::ParamId;
use ergodic_diagnostics::bias::Interval;
use ergodic_diagnostics::distance::Distances;

/// The columns of a table of parameters, those that change most first; `NA` where there is no number.
pub const HEADER: [&str; 12] = [
    "variable",
    "mean_a",
    "sd_a",
    "mean_b",
    "sd_b",
    "shift_sd",
    "mcse_shift",
    "sd_ratio",
    "ks",
    "tv",
    "tv_halves",
    "differs",
];

/// Whether the runs score the same rows, and how they compare then; or why they cannot be compared by leaving rows out.
pub type LooCompared<'a> = Result<(&'a [(String, &'a CrossValidation)], &'a Comparison), &'a str>;

/// What is beyond Monte Carlo error about a parameter, in one word.
fn word(change: Option<Change>) -> &'static str {
    match change {
        None => "no",
        Some(Change::Shift(_)) => "mean",
        Some(Change::Width(_)) => "sd",
        Some(Change::Shape(_)) => "shape",
        Some(Change::Constant) => "constant",
    }
}

/// A line per parameter of both runs.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(found: &RunComparison, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    out.write_record(HEADER)?;
    for k in found.by_size() {
        let row = &found.parameters[k];
        let numbers = [
            row.means[0],
            row.sds[0],
            row.means[1],
            row.sds[1],
            row.shift.map(|shift| shift.value),
            row.shift.map(|shift| shift.error()),
            row.sd_ratio.map(|ratio| ratio.value),
            row.ks,
            row.total_variation.map(|it| it.value),
            row.total_variation.and_then(|it| it.halves),
        ];
        let mut cells = vec![row.variable.as_str().to_owned()];
        cells.extend(numbers.map(or_na));
        cells.push(word(row.change).to_owned());
        out.write_record(cells)?;
    }
    out.flush()
}

/// Writes the table to `path`.
///
/// # Errors
/// The path cannot be written.
pub fn save(found: &RunComparison, path: &Path) -> Result<(), ExportError> {
    write_file("The comparison could not be written", path, |out| {
        write_csv(found, out)
    })
}

fn interval(interval: Interval) -> Json {
    json!({ "value": interval.value, "lower": interval.low, "upper": interval.high })
}

fn parameter(row: &ParameterRow) -> Json {
    json!({
        "variable": row.variable.as_str(),
        "mean": row.means,
        "sd": row.sds,
        "shift_sd": row.shift.map(interval),
        "mcse_shift": row.shift.map(|shift| shift.error()),
        "sd_ratio": row.sd_ratio.map(interval),
        "ks": row.ks,
        "tv": row.total_variation.map(|it| it.value),
        "tv_halves": row.total_variation.and_then(|it| it.halves),
        "differs": word(row.change),
    })
}

fn distances(found: &Distances) -> Json {
    json!({
        "energy": found.energy,
        "energy_share": found.energy_share,
        "wasserstein": found.wasserstein,
        "wasserstein_means": found.wasserstein_means,
        "wasserstein_sliced": found.sliced,
        "rosenblatt": found.rosenblatt,
        "divergence": found.divergence,
    })
}

/// Everything; numbers that are not finite are null. `scores` is how the runs compare by leaving rows out, if somebody asked.
pub fn to_json(found: &RunComparison, scores: Option<LooCompared<'_>>) -> Json {
    let settings = found.settings.as_ref().map(|settings| {
        let settings = settings
            .iter()
            .map(|it| json!({ "key": it.key, "values": it.values }));
        settings.collect::<Vec<Json>>()
    });
    let names = |names: &[ParamId]| {
        names
            .iter()
            .map(|it| json!(it.as_str()))
            .collect::<Vec<Json>>()
    };
    let joint = match &found.joint {
        Ok(apart) => json!({
            "parameters": apart.dim,
            "draws_paired": apart.paired,
            "distances": distances(&apart.distances),
            "halves_of_one_run": apart.halves.as_ref().map(distances),
        }),
        Err(why) => json!({ "not_computed": why.to_string() }),
    };
    let rows = found
        .by_size()
        .into_iter()
        .map(|k| parameter(&found.parameters[k]));
    json!({
        "runs": found.names,
        "verdict": found.sentence(),
        "agree": found.agrees(),
        "subject": found.subject,
        "one_posterior": found.has_one_posterior,
        "settings": settings,
        "parameters": rows.collect::<Vec<Json>>(),
        "only_in": [names(&found.only[0]), names(&found.only[1])],
        "joint": joint,
        "loo": scores.map(|scores| match scores {
            Ok((runs, comparison)) => loo::comparison_json(runs, comparison),
            Err(why) => json!({ "not_compared": why }),
        }),
        "remarks": found.remarks,
    })
}
