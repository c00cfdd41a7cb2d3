//! What a model says on the scale of its outcome: how the expected outcome differs by predictors, how much is explained, and how well
//! rows held out are predicted.

use ergodic_analysis::effects::{Effect, Effects, EffectsError, EffectsOptions};
use ergodic_analysis::predict::Fitted;
use ergodic_analysis::predict::r2::R2;
use ergodic_analysis::predict::scores::PredictionScores;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_export::Results;

use super::Report;
use crate::{FigureInputs, ReadModel, ReportError};

/// Sentences of a predictor, which has one for each of its levels, and of all predictors.
const MOST_OF_ONE: usize = 20;
const MOST_SENTENCES: usize = 200;
/// Densities of rows held out under a draw that a report may take, a second or so; where there are many rows, fewer draws are used, but
/// no fewer than [`LEAST_DRAWS`].
const MOST_SCORING: usize = 20_000_000;
const LEAST_DRAWS: usize = 400;
/// Predictors whose curves are drawn.
const MOST_CURVES: usize = 12;

/// What is found with the model and its data; all of it is nothing for models that explain no outcome.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) effects: Option<Effects>,
    pub(super) no_effects: Option<String>,
    pub(super) curves: FigureInputs<'static>,
    pub(super) r2: Option<R2>,
    pub(super) held_out: Option<PredictionScores>,
}

impl Answers {
    /// Of a run whose model `read` reads.
    ///
    /// # Errors
    /// Somebody cancelled.
    pub(super) fn find(
        results: &Results,
        read: ReadModel<'_>,
        control: &Control,
    ) -> Result<Self, ReportError> {
        let (draws, weights) = results.usable();
        let draws = (draws.as_slice(), weights.as_slice());
        let found = read(control).map(|fitted| Self::of(&fitted, draws, control));
        control.check(ReportError::Cancelled)?;
        Ok(found.unwrap_or_default())
    }

    fn of(fitted: &Fitted, draws: (&[&DrawList], &[Vec<f64>]), control: &Control) -> Self {
        let options = EffectsOptions::default();
        let effects = match fitted.are_effects_quick(&options) {
            Ok(true) => fitted
                .effects(draws.0, draws.1, &options, control)
                .map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        let no_effects = matches!(effects, Ok(None)).then(|| {
            "Effects on the outcome are not told here, for they take long with so many rows and predictors; ask ergodic effects for some of \
             them."
                .to_owned()
        });
        let curves = match &effects {
            Ok(_) => FigureInputs::of_curves(fitted, draws, MOST_CURVES, control),
            Err(_) => Err(EffectsError::NoPredictors),
        };
        // Refused, without work, where no rows are held out.
        let most = (MOST_SCORING / fitted.num_held_out().max(1)).max(LEAST_DRAWS);
        let scores = fitted.scores(draws.0, draws.1, None, most, control);
        Self {
            effects: effects.ok().flatten(),
            no_effects,
            curves: curves.unwrap_or_default(),
            r2: fitted.r2(draws.0, draws.1, control).ok().flatten(),
            held_out: scores.ok(),
        }
    }
}

/// A sentence for each effect, with its period; names stand in it as they are.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    if let Some(effects) = &report.effects {
        for predictor in effects.predictors() {
            let of = |effect: &&Effect| effect.predictor == predictor && effects.is_told(effect);
            let mut told = effects.effects.iter().filter(of);
            let first = told.by_ref().take(MOST_OF_ONE);
            sentences.extend(first.map(|effect| format!("{}.", effects.sentence(effect))));
            match told.count() {
                0 => {}
                more => sentences.push(format!(
                    "And {more} more of {predictor}, which ergodic effects tells."
                )),
            }
        }
    }
    if sentences.len() > MOST_SENTENCES {
        let more = sentences.len() - MOST_SENTENCES;
        sentences.truncate(MOST_SENTENCES);
        sentences.push(format!("And {more} more, which ergodic effects tells."));
    }
    sentences.extend(report.no_effects.clone());
    sentences
}

/// What to know about them, a sentence each with its period; names stand between backticks.
pub(super) fn remarks(report: &Report) -> impl Iterator<Item = String> + '_ {
    let remarks = report.effects.iter().flat_map(|effects| &effects.remarks);
    remarks.map(|remark| format!("{remark}."))
}
