//! Likelihood fits as files: `fit.json` with everything, and tables of effects and of fitted values as CSV.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::number::shortest;
use super::spreadsheet::inert;
use super::{ExportError, files, predictions, write_file};
use ergodic_analysis::ComparedRow;
use ergodic_analysis::likelihood::LikelihoodFit;
use ergodic_analysis::predict::plug_in::PlugIn;
use ergodic_core::estimators::mixed::FixedEffect;
use ergodic_core::families::Outcome;

/// Everything but fitted values, numbers that are not finite as null.
pub fn to_json(done: &LikelihoodFit) -> Json {
    let fit = &done.fit;
    let effects_json = |effects: &[FixedEffect]| -> Vec<Json> {
        effects.iter().map(|e| json!({"term": e.name, "estimate": e.estimate, "se": e.se, "z": e.z(), "df": e.df, "p": e.p_value()})).collect()
    };
    let components: Vec<Json> = fit
        .components
        .iter()
        .map(|c| {
            let q = c.names.len();
            let sd: Map<String, Json> = c
                .names
                .iter()
                .zip(&c.sd)
                .map(|(name, sd)| (name.clone(), json!(sd)))
                .collect();
            let mut correlations = Vec::new();
            for i in 0..q {
                for j in 0..i {
                    if c.correlated {
                        correlations.push(json!({"terms": [c.names[j], c.names[i]], "correlation": c.correlation[i * q + j]}));
                    }
                }
            }
            json!({"group": c.group, "groups": c.num_groups, "sd": sd, "correlations": correlations, "icc": c.icc})
        })
        .collect();
    let effects: Vec<Json> = fit
        .effects
        .iter()
        .flat_map(|e| {
            let q = e.names.len();
            (0..e.mode.len()).map(move |k| {
                json!({"group": e.group, "level": e.levels[k / q], "term": e.names[k % q], "mode": e.mode[k], "sd": e.sd[k]})
            })
        })
        .collect();
    let mut json = json!({
        "formula": done.recipe.model.formula,
        "data": done.recipe.data.source,
        "response": done.response.name,
        "family": fit.family.id(),
        "method": fit.method.spec().id,
        "criterion": fit.criterion,
        "rows": fit.num_obs,
        "fixed": effects_json(&fit.fixed),
        "covariance": fit.covariance,
        "components": components,
        "curves": fit.curves,
        "sigma": null,
        "shape": null,
        "log_lik": fit.log_lik,
        "log_lik_mcse": fit.log_lik_error,
        "deviance": fit.deviance(),
        "parameters": fit.num_params,
        "aic": fit.aic,
        "bic": fit.bic,
        "singular": fit.is_singular(),
        "effects": effects,
        "iterations": fit.iterations,
        "monte_carlo": fit.monte_carlo,
        "evaluations": fit.evaluations,
        "seconds": done.seconds,
        "warnings": done.warnings,
    });
    for (one, value) in fit.parameters() {
        json[one.name] = value.into();
    }
    if !fit.cuts.is_empty() {
        json["cut_points"] = effects_json(&fit.cuts).into();
    }
    json
}

/// A parameter of a fit beside its posterior.
pub fn compared_json(row: &ComparedRow) -> Json {
    json!({
        "variable": row.variable,
        "estimate": row.estimate,
        "se": row.se,
        "interval": row.interval(),
        "mean": row.mean,
        "sd": row.sd,
        "q5": row.posterior[0],
        "q95": row.posterior[1],
        "difference": row.difference(),
    })
}

/// The predicted rows.
pub fn plug_in_json(predicted: &PlugIn) -> Json {
    let rows = predicted.rows.iter().enumerate().map(|(i, row)| {
        let mut json =
            json!({"row": row.row + 1, "fitted_fixed": row.fixed, "fitted": row.with_groups});
        if let Some(chances) = predicted.chances.get(i) {
            let pairs = predicted
                .levels
                .iter()
                .cloned()
                .zip(chances.iter().map(|it| json!(it)));
            json["probabilities"] = Json::Object(pairs.collect());
        }
        json
    });
    rows.collect()
}

/// Writes predictions beside the files of a fit.
///
/// # Errors
/// The folder cannot be written.
pub fn save_predictions(predicted: &PlugIn, folder: &Path) -> Result<(), ExportError> {
    let what = "The predictions could not be written";
    write_file(what, &folder.join(predictions::FILE), |out| {
        let rows = predicted.rows.iter().enumerate().map(|(i, row)| {
            let chances = predicted.chances.get(i).map_or(&[][..], Vec::as_slice);
            (row.row, [row.fixed, row.with_groups], chances)
        });
        predictions::write_plug_in(&predicted.levels, rows, out)
    })
}

/// Effects of all groups: `group,level,term,mode,sd`; names that begin as a formula of spreadsheets have `'` before them.
///
/// # Errors
/// The table cannot be made.
pub(crate) fn effects_csv(done: &LikelihoodFit) -> csv::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["group", "level", "term", "mode", "sd"])?;
    for e in &done.fit.effects {
        let q = e.names.len();
        for k in 0..e.mode.len() {
            out.write_record([
                inert(&e.group).as_ref(),
                inert(&e.levels[k / q]).as_ref(),
                inert(&e.names[k % q]).as_ref(),
                &shortest(e.mode[k]),
                &shortest(e.sd[k]),
            ])?;
        }
    }
    out.into_inner().map_err(|error| error.into_error().into())
}

/// Expected responses per row of the data, 1-based, from fixed effects alone and with group effects: for binomial responses
/// per trial; for functions of a column the medians of that column; for ordered levels mean levels, and the chance of each.
///
/// # Errors
/// The table cannot be made.
pub(crate) fn fitted_csv(done: &LikelihoodFit) -> io::Result<Vec<u8>> {
    let function = done.response.kind.function();
    let outcome = done.fit.outcome();
    let mean = |eta: f64| {
        let mean = outcome.mean(eta);
        function.map_or(mean, |function| function.inverse(mean))
    };
    let predictors = &done.fit.predictors;
    let mut rows: Vec<usize> = (0..done.row.len()).collect();
    rows.sort_by_key(|&i| done.row[i]);
    let rows = rows.into_iter().map(|i| {
        let [fixed, with_groups] = [predictors.fixed[i], predictors.with_groups[i]];
        let chances: Vec<f64> = match outcome {
            Outcome::Ordered(levels) => levels.chances(with_groups).collect(),
            _ => Vec::new(),
        };
        (done.row[i], [fixed, with_groups].map(mean), chances)
    });
    let mut out = Vec::new();
    predictions::write_plug_in(done.response.levels(), rows, &mut out)?;
    Ok(out)
}

/// Writes `fit.json`, `effects.csv` and `fitted.csv` into a new or empty folder: all of them, or none.
///
/// # Errors
/// The folder is not empty, or cannot be written.
pub fn save(done: &LikelihoodFit, folder: &Path) -> Result<(), ExportError> {
    let what = "The fit could not be saved";
    let trouble = |error| ExportError::at(what, error, folder);
    std::fs::create_dir_all(folder).map_err(trouble)?;
    if std::fs::read_dir(folder).map_err(trouble)?.next().is_some() {
        return Err(ExportError::NotEmpty(folder.to_owned()));
    }
    let json =
        serde_json::to_string_pretty(&to_json(done)).map_err(|error| trouble(error.into()))?;
    let effects = effects_csv(done).map_err(|error| trouble(error.into()))?;
    let mut written: Vec<PathBuf> = Vec::new();
    for (name, bytes) in [
        ("fit.json", (json + "\n").into_bytes()),
        ("effects.csv", effects),
        ("fitted.csv", fitted_csv(done).map_err(trouble)?),
    ] {
        let path = folder.join(name);
        let saved = files::write_new(&path, |out| out.write_all(&bytes));
        if let Err(error) = saved {
            // Best effort, so that the same folder can be tried again.
            written.iter().for_each(|path| drop(files::remove(path)));
            return Err(ExportError::at(what, error, &path));
        }
        written.push(path);
    }
    files::sync_folder(folder).map_err(trouble)
}
