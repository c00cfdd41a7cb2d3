//! The check of the draft's model, made in the background whenever the draft changes.

use std::sync::Arc;

use super::state::{AppState, ModelCheck};
use super::tasks::{Effects, Outcome};
use crate::data::checks;
use crate::data::design::Design;
use crate::data::load::Loaded;
use crate::data::response::ResponseKind;
use crate::engine::{JobError, Recipe, job};
use crate::models;
use crate::samplers::advise;

/// Points of a prior's curve.
const CURVE_POINTS: usize = 121;

/// Checks the draft's model in the background; a newer request overtakes older ones.
pub(super) fn request_check(state: &mut AppState, fx: &mut dyn Effects) {
    state.check_generation += 1;
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        state.check = None;
        state.checking = false;
        return;
    };
    let generation = state.check_generation;
    let (loaded, recipe) = (Arc::clone(&data.loaded), document.recipe.clone());
    let formula_error = document.formula_error.clone();
    state.checking = true;
    fx.spawn(
        "check-model",
        Box::new(move || {
            let check = match formula_error {
                Some(error) => ModelCheck {
                    error: Some(error),
                    ..ModelCheck::default()
                },
                None if recipe.model.formula.is_empty() => ModelCheck {
                    error: Some(
                        "Choose what you want to explain: give a column the role response"
                            .to_owned(),
                    ),
                    ..ModelCheck::default()
                },
                None => check_model(&loaded, &recipe).unwrap_or_else(|error| ModelCheck {
                    error: Some(error.to_string()),
                    ..ModelCheck::default()
                }),
            };
            Outcome::Checked {
                generation,
                check: Arc::new(check),
            }
        }),
    );
}

fn check_model(loaded: &Loaded, recipe: &Recipe) -> Result<ModelCheck, JobError> {
    let entry = models::find(&recipe.model.template)?;
    let frame = job::model_frame(recipe)?;
    let (design, reporter) = Design::build(&loaded.table, &frame)?;
    let mut warnings = reporter.warnings;
    warnings.extend(checks::check(&design).warnings);
    let design = Arc::new(design);
    let model = (entry.build)(Arc::clone(&design), &job::model_options(recipe)?)?;
    Ok(ModelCheck {
        error: None,
        response: design.response.sentence(),
        categories: matches!(design.response.kind, ResponseKind::Categories { .. }),
        response_levels: design.response.counts.clone(),
        rows: (design.rows_used, design.rows_total),
        dropped: design.dropped.clone(),
        references: design.reference_levels.clone(),
        // Effects of groups, of which there may be thousands, have their prior in common, and no row in the table.
        prior_curves: (model.params().iter().enumerate())
            .map(|(index, param)| match models::effect_of(&param.name) {
                Some(_) => Vec::new(),
                None => prior_curve(model.as_ref(), index),
            })
            .collect(),
        params: model.params().to_vec(),
        unsuitable: advise::refusals(model.as_ref()),
        warnings,
    })
}

/// The same of a positive quantity whose density vanishes at 0, such as a variance.
fn positive_curve(density: &dyn Fn(f64) -> Option<f64>) -> Vec<(f64, f64)> {
    let grid = || (0..200).map(|k| 1e-6 * 1.25_f64.powi(k));
    let at = |x: f64| density(x).unwrap_or(0.0);
    let peak = grid().map(at).fold(0.0, f64::max);
    let Some(end) = grid().rfind(|&x| at(x) > peak / 20.0) else {
        return Vec::new();
    };
    (0..CURVE_POINTS)
        .map(|i| end * (i as f64 + 0.5) / CURVE_POINTS as f64)
        .filter_map(|x| Some((x, density(x)?)))
        .collect()
}

/// The density of a prior over the range that holds most of it.
fn prior_curve(model: &dyn models::Model, index: usize) -> Vec<(f64, f64)> {
    let density = |x: f64| model.prior_density(index, x);
    if let Some((from, to)) = model.prior_range(index) {
        // In the middle of equal cells: at its ends a density may be infinite.
        return (0..CURVE_POINTS)
            .filter_map(|i| {
                let x = from + (to - from) * (i as f64 + 0.5) / CURVE_POINTS as f64;
                Some((x, density(x)?))
            })
            .collect();
    }
    let Some(peak) = density(0.0) else {
        return Vec::new();
    };
    if peak == 0.0 {
        return positive_curve(&density);
    }
    // Priors here are unimodal: widen until the density has fallen to a hundredth of that at the centre.
    let mut half = 1e-6;
    while density(half).is_some_and(|value| value > peak / 100.0) && half < 1e12 {
        half *= 1.25;
    }
    (0..CURVE_POINTS)
        .filter_map(|i| {
            let x = half * (2.0 * i as f64 / (CURVE_POINTS - 1) as f64 - 1.0);
            Some((x, density(x)?))
        })
        .collect()
}
