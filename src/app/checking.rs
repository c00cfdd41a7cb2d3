//! The check of the draft's model, made in the background whenever the draft changes.

use ergodic_analysis::templates;
use std::sync::Arc;

use super::document::Document;
use super::state::{AppState, ModelCheck};
use super::tasks::{Effects, Ended};
use super::{outcome, quick_fixes};
use ergodic_analysis::prior_predictive::PreviewRows;
use ergodic_analysis::{JobError, Recipe, job};
use ergodic_base::{Control, Reporter};
use ergodic_core::design::{Design, ResponseKind, checks};
use ergodic_core::models::translation::Context;
use ergodic_core::samplers::recommend;
use ergodic_core::{estimators, models};
use ergodic_data::Loaded;

/// Rows times squared coordinates up to which a mode is found while the draft is checked: about a tenth of a second.
const MOST_WORK: usize = 20_000_000;
/// Points of a prior's curve.
const CURVE_POINTS: usize = 121;

/// Checks the draft's model in the background; a newer request overtakes older ones.
pub(super) fn request_check(state: &mut AppState, fx: &mut dyn Effects) {
    state.checking = None;
    // What was typed is in the draft by now, or given up.
    state.preview = None;
    // What was refused was so because of the model as it was.
    state.toast.take_if(|toast| toast.is_refusal);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        state.check = None;
        return;
    };
    let (loaded, suggestions) = (Arc::clone(&data.loaded), Arc::clone(&data.suggestions));
    let recipe = document.recipe.clone();
    let formula_error = document.formula_error.clone();
    let going = state.begin(
        fx,
        ("Checking the model", ""),
        move |control| -> Result<Arc<ModelCheck>, JobError> {
            let refused = |error: String| ModelCheck {
                error: Some(error),
                ..ModelCheck::default()
            };
            let check = match formula_error {
                Some(error) => refused(error),
                None if recipe.model.formula.is_empty() => {
                    refused("Choose what you want to explain".to_owned())
                }
                None => match check_model(&loaded, &recipe, control) {
                    Ok(check) => check,
                    Err(JobError::Cancelled) => return Err(JobError::Cancelled),
                    Err(error) => ModelCheck {
                        ways_out: quick_fixes::of_refusal(
                            &Document::of_recipe(recipe.clone()),
                            &loaded,
                            &suggestions,
                            |draft| {
                                !control.is_cancelled()
                                    && build_model(&loaded, &draft.recipe).is_ok()
                            },
                        ),
                        ..refused(error.to_string())
                    },
                },
            };
            Ok(Arc::new(ModelCheck {
                family: outcome::family(&recipe, &loaded.table),
                ..check
            }))
        },
        |state, ended, _fx| {
            state.checking = None;
            let why = match ended {
                Ended::Done(check) => {
                    state.check = Some(check);
                    return;
                }
                Ended::Cancelled => "The check of the model was cancelled".to_owned(),
                Ended::Failed(why) => why,
            };
            state.check = Some(Arc::new(ModelCheck {
                error: Some(why),
                is_unfinished: true,
                ..ModelCheck::default()
            }));
        },
    );
    state.checking = Some(going);
}

/// A model, its design, and what was remarked while that was made.
type Built = (Arc<dyn models::Model>, Arc<Design>, Reporter);

fn build_model(loaded: &Loaded, recipe: &Recipe) -> Result<Built, JobError> {
    let entry = templates::find(&recipe.model.template)?;
    let (design, mut reporter) =
        Design::build(&loaded.table, &job::model_frame(recipe, &loaded.table)?)?;
    let design = Arc::new(design);
    let model = job::build_model(entry, &design, &job::model_options(recipe)?)?;
    model.remark_on_data(&mut reporter);
    Ok((model, design, reporter))
}

/// What a model of counts or numbers says of itself at its mode, where that is quickly found.
fn remarks_at_mode(model: &dyn models::Model, design: &Design, control: &Control) -> Reporter {
    let mut reporter = Reporter::default();
    let quick = design.num_obs() * model.dim().pow(2) <= MOST_WORK
        && model.density().is_some_and(|it| it.has_dense_curvature());
    if quick
        && matches!(
            design.response.kind,
            ResponseKind::Count { .. } | ResponseKind::Number { .. }
        )
        && let Ok(mode) = estimators::find_mode(model, control)
    {
        model.remark(&mode.centre.u, &mut reporter);
    }
    reporter
}

fn check_model(
    loaded: &Loaded,
    recipe: &Recipe,
    control: &Control,
) -> Result<ModelCheck, JobError> {
    let entry = templates::find(&recipe.model.template)?;
    let frame = job::model_frame(recipe, &loaded.table)?;
    let (model, design, reporter) = build_model(loaded, recipe)?;
    let mut warnings = reporter.warnings;
    warnings.extend(checks::check(&design).warnings);
    warnings.extend(remarks_at_mode(model.as_ref(), &design, control).warnings);
    let document = Document::of_recipe(recipe.clone());
    let rows = Arc::new(PreviewRows::new(&design, model.observation()));
    let expected = rows.expect(recipe, control);
    control.check(JobError::Cancelled)?;
    let response = match model.observation() {
        Some(reads) => reads.response(),
        None => &design.response,
    };
    Ok(ModelCheck {
        ways_out: Vec::new(),
        quick_fixes: (warnings.iter())
            .map(|warning| quick_fixes::of_warning(warning, &document, loaded))
            .collect(),
        error: None,
        is_unfinished: false,
        preview_rows: Some(rows),
        expected: Some(expected.map_err(|error| error.to_string())),
        completed: Some(job::complete_model(recipe, loaded, &design)?),
        family: None,
        chosen: outcome::because(&document, &loaded.table),
        response: match model.observation() {
            Some(reads) => match reads.refusal() {
                Some(why) => why.to_owned(),
                None => format!(
                    "Explains {}: {}",
                    reads.response().name,
                    response.sentence()
                ),
            },
            None => response.sentence(),
        },
        categories: matches!(design.response.kind, ResponseKind::Categories { .. }),
        has_success: matches!(
            response.kind,
            ResponseKind::Binary { .. } | ResponseKind::Successes
        ),
        response_levels: response.counts.clone(),
        rows: (design.rows_used, design.rows_total),
        dropped: design.dropped.clone(),
        references: design.reference_levels.clone(),
        // Effects of groups, of which there may be thousands, have their prior in common, and no row in the table.
        prior_curves: (model.params().iter().enumerate())
            .map(|(index, param)| match param.name.is_varying() {
                true => Vec::new(),
                false => prior_curve(model.as_ref(), index),
            })
            .collect(),
        translation: Some((entry.translate)(&Context {
            design: &design,
            formula: &design.formula_of(&frame.formula),
            options: &job::model_options(recipe)?,
            params: model.params(),
        })),
        params: model.params().to_vec(),
        parts: models::parts(model.as_ref()),
        unsuitable: recommend::refusals(model.as_ref()),
        warnings,
    })
}

/// The density of a prior over the range that holds most of it.
fn prior_curve(model: &dyn models::Model, index: usize) -> Vec<(f64, f64)> {
    let Some((from, to)) = model.prior_range(index) else {
        return Vec::new();
    };
    // In the middle of equal cells: at its ends a density may be infinite.
    let cells = (0..CURVE_POINTS).map(|i| {
        let x = from + (to - from) * (i as f64 + 0.5) / CURVE_POINTS as f64;
        Some((x, model.prior_density(index, x)?))
    });
    cells.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::DraftChange;
    use crate::app::testing::Session;

    fn curve_of(prior: &str, standardised: bool) -> Vec<(f64, f64)> {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Prior(
            "b[age]".to_owned(),
            Some(prior.to_owned()),
        ));
        if standardised {
            session.send(DraftChange::Scale(ergodic_analysis::Scale::Standardised));
        }
        let check = session.state.check.unwrap();
        assert_eq!(check.error, None);
        let index = check
            .params
            .iter()
            .position(|param| param.name == "b[age]")
            .unwrap();
        check.prior_curves[index].clone()
    }

    #[test]
    fn a_prior_of_positive_numbers_is_drawn_from_zero_on() {
        let check = Session::with_draft("clusters").state.check.unwrap();
        let index = (check.params.iter())
            .position(|param| param.name == "alpha")
            .unwrap();
        let curve = &check.prior_curves[index];
        assert!(curve.len() >= CURVE_POINTS - 1);
        assert!(curve[0].0 >= 0.0 && curve[0].0 < 0.05, "{:?}", curve[0]);
    }

    #[test]
    fn a_prior_far_from_zero_is_drawn_where_it_is() {
        for prior in [
            "normal(50, 0.1)",
            "normal(-3, 2)",
            "student_t(3, 1000, 1)",
            "laplace(0, 1)",
        ] {
            for standardised in [true, false] {
                let curve = curve_of(prior, standardised);
                assert_eq!(curve.len(), CURVE_POINTS, "{prior}");
                let top = curve.iter().map(|point| point.1).fold(0.0, f64::max);
                let at = curve.iter().position(|point| point.1 == top).unwrap();
                // The peak is in the middle half, and the ends are where little is left.
                assert!((30..=90).contains(&at), "{prior}: peak at point {at}");
                assert!(
                    curve[0].1 < top / 20.0 && curve[CURVE_POINTS - 1].1 < top / 20.0,
                    "{prior}"
                );
                if standardised && prior.starts_with("normal(50") {
                    assert!((curve[at].0 - 50.0).abs() < 0.05, "{}", curve[at].0);
                }
            }
        }
    }
}
