//! Predictive checks as files.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::number::shortest;
use super::spreadsheet::inert;
use super::{ExportError, write_file};
use ergodic_analysis::check::residuals::{Along, ResidualMean, Residuals};
use ergodic_analysis::check::{Band, Check, INTERVAL, Picture};

/// The columns of a table of checks; `NA` where a check has no such number.
pub const HEADER: [&str; 8] = [
    "check", "of", "observed", "lower", "median", "upper", "expected", "p",
];

/// A line of the table: check, of what, observed, replicated, expected, p.
struct Line {
    check: &'static str,
    of: String,
    observed: f64,
    replicated: Option<Band>,
    expected: Option<f64>,
    p: Option<f64>,
}

fn lines(check: &Check) -> Vec<Line> {
    let line = |check, of, observed, replicated| Line {
        check,
        of,
        observed,
        replicated: Some(replicated),
        expected: None,
        p: None,
    };
    let mut lines: Vec<Line> = (check.statistics.iter())
        .map(|it| Line {
            p: Some(it.p()),
            ..line(
                "statistic",
                it.statistic.name().to_owned(),
                it.observed,
                it.replicated,
            )
        })
        .collect();
    match &check.picture {
        Picture::Overlay(overlay) => {
            let ecdf = overlay.ecdf.iter();
            lines.extend(ecdf.map(|it| line("ecdf", shortest(it.at), it.observed, it.replicated)));
            lines.extend(overlay.density.iter().map(|it| {
                let middle = 0.5 * (it.ends[0] + it.ends[1]);
                line("density", shortest(middle), it.observed, it.replicated)
            }));
        }
        Picture::Rootogram(rootogram) => {
            lines.extend(rootogram.bars.iter().map(|it| Line {
                expected: Some(it.expected),
                ..line("rootogram", it.label(), it.observed, it.replicated)
            }));
        }
        Picture::Survival(survival) => {
            let points = survival.points.iter();
            lines.extend(
                points.map(|it| line("survival", shortest(it.at), it.observed, it.replicated)),
            );
        }
        Picture::Calibration(calibration) => {
            lines.extend(calibration.points.iter().map(|it| {
                let of = check.response.name.clone();
                Line {
                    expected: Some(it.predicted),
                    ..line("calibration", of, it.observed, it.consistent)
                }
            }));
            lines.push(Line {
                replicated: None,
                p: Some(calibration.p),
                ..line(
                    "calibration",
                    "miscalibration".to_owned(),
                    calibration.miscalibration,
                    Band::default(),
                )
            });
        }
    }
    if let Some(pit) = &check.pit {
        lines.push(Line {
            replicated: None,
            p: Some(pit.p),
            ..line(
                "loo-pit",
                "distance from uniform".to_owned(),
                pit.distance,
                Band::default(),
            )
        });
    }
    for residuals in &check.residuals {
        let means = residuals.means.iter();
        lines.extend(means.map(|it| {
            line(
                "residuals",
                place(residuals, it),
                it.observed,
                it.replicated,
            )
        }));
        if check.is_of_shares() {
            lines.extend(residuals.means.iter().map(|it| Line {
                expected: Some(it.expected),
                ..line("shares", place(residuals, it), it.share(), it.shares())
            }));
        }
    }
    lines
}

/// Which rows a mean is of: "age: 31.5", "plan: premium".
fn place(residuals: &Residuals, mean: &ResidualMean) -> String {
    let along = residuals.along.name();
    match &mean.level {
        Some(level) => format!("{along}: {level}"),
        None => format!("{along}: {}", shortest(mean.at)),
    }
}

/// One line per statistic, place of a curve, and bar.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(HEADER)?;
    let number = |value: Option<f64>| value.map_or_else(|| "NA".to_owned(), shortest);
    for line in lines(check) {
        let band = |pick: fn(Band) -> f64| number(line.replicated.map(pick));
        out.write_record([
            line.check.to_owned(),
            inert(&line.of).into_owned(),
            shortest(line.observed),
            band(|band| band.lower),
            band(|band| band.median),
            band(|band| band.upper),
            number(line.expected),
            number(line.p),
        ])?;
    }
    out.flush()
}

/// Writes the table to `path`.
///
/// # Errors
/// The path cannot be written.
pub fn save(check: &Check, path: &Path) -> Result<(), ExportError> {
    write_file("The checks could not be written", path, |out| {
        write_csv(check, out)
    })
}

fn band(band: Band) -> Json {
    json!({ "lower": band.lower, "median": band.median, "upper": band.upper })
}

/// Mean residuals along one column, and shares where outcomes have them.
fn residuals(residuals: &Residuals, of_shares: bool) -> Json {
    let means = residuals.means.iter().map(|it| {
        let mut mean = json!({
            "level": it.level,
            "from": it.level.is_none().then_some(it.ends[0]),
            "to": it.level.is_none().then_some(it.ends[1]),
            "at": it.level.is_none().then_some(it.at),
            "rows": it.rows,
            "observed": it.observed,
            "replicated": band(it.replicated),
        });
        if of_shares {
            mean["share"] = json!({
                "predicted": it.expected,
                "realised": it.share(),
                "replicated": band(it.shares()),
            });
        }
        mean
    });
    json!({
        "along": residuals.along.name(),
        "kind": match residuals.along {
            Along::Expected => "expected",
            Along::Predictor(_) => "predictor",
            Along::Grouping(_) => "grouping",
        },
        "means": means.collect::<Vec<Json>>(),
        "outside": residuals.outside(),
        "p": residuals.p,
        "levels_left_out": residuals.left_out,
    })
}

/// Everything; numbers that are not finite are null.
pub fn to_json(check: &Check) -> Json {
    let statistics = check.statistics.iter().map(|it| {
        json!({
            "statistic": it.statistic.name(),
            "observed": it.observed,
            "replicated": band(it.replicated),
            "p": it.p(),
            "p_at_least": it.at_least,
            "p_at_most": it.at_most,
        })
    });
    let mut json = json!({
        "outcome": check.response.column(),
        "rows_used": check.rows,
        "draws_used": check.draws.0,
        "draws": check.draws.1,
        "interval": INTERVAL,
        "statistics": statistics.collect::<Vec<Json>>(),
        "findings": check.findings(),
        "remarks": check.remarks(),
        "loo_pit": check.pit.as_ref().map(|pit| json!({
            "values": pit.values,
            "curve": pit.curve,
            "distance": pit.distance,
            "p": pit.p,
            "doubtful_rows": pit.doubtful,
        })),
        "r2": check.r2.as_ref().map(|r2| json!({
            "median": r2.median,
            "lower": r2.interval[0],
            "upper": r2.interval[1],
            "draws_used": r2.values.len(),
            "sentence": r2.sentence(),
        })),
        "loo_r2": check.r2.as_ref().and_then(|r2| r2.loo.as_ref()).map(|loo| json!({
            "median": loo.median,
            "lower": loo.interval[0],
            "upper": loo.interval[1],
            "draws_used": loo.draws,
            "doubtful_rows": loo.doubtful,
            "sentence": loo.sentence(),
        })),
        "residuals": check.residuals.iter().map(|it| residuals(it, check.is_of_shares())).collect::<Vec<Json>>(),
    });
    match &check.picture {
        Picture::Overlay(overlay) => {
            let ecdf = overlay.ecdf.iter().map(|it| {
                json!({ "at": it.at, "observed": it.observed, "replicated": band(it.replicated) })
            });
            let density = overlay.density.iter().map(|it| {
                json!({ "from": it.ends[0], "to": it.ends[1], "observed": it.observed, "replicated": band(it.replicated) })
            });
            json["ecdf"] = ecdf.collect();
            json["density"] = density.collect();
        }
        Picture::Rootogram(rootogram) => {
            let bars = rootogram.bars.iter().map(|it| {
                json!({
                    "from": it.from,
                    "to": it.to,
                    "level": it.level,
                    "observed": it.observed,
                    "expected": it.expected,
                    "replicated": band(it.replicated),
                })
            });
            json["rootogram"] = bars.collect();
        }
        Picture::Survival(survival) => {
            let points = survival.points.iter().map(|it| {
                json!({ "at": it.at, "observed": it.observed, "replicated": band(it.replicated) })
            });
            json["censored"] = json!(survival.right + survival.left);
            json["left_censored"] = json!(survival.left);
            json["curve"] = json!(survival.curve());
            json["survival"] = points.collect();
        }
        Picture::Calibration(calibration) => {
            let points = calibration.points.iter().map(|it| {
                json!({ "predicted": it.predicted, "observed": it.observed, "consistent": band(it.consistent) })
            });
            json["calibration"] = json!({
                "points": points.collect::<Vec<Json>>(),
                "miscalibration": calibration.miscalibration,
                "p": calibration.p,
            });
        }
    }
    json
}
