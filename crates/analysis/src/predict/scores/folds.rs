//! Cross-validation without approximation: a model is fitted again without each of several parts of its rows, drawn at random, and every
//! row is scored by the fit that does not know it.

use std::path::Path;
use std::sync::Arc;

use super::{PredictionScores, ScoresError};
use crate::hold_out::HoldOut;
use crate::predict::Fitted;
use crate::{Job, JobError, Recipe};
use ergodic_base::control::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::duration;
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_data::load::Loaded;

/// Parts that are usual: with more, fits know nearly all rows, and there are more of them to make.
pub const USUAL: u32 = 10;
/// Fewest parts.
pub const FEWEST: u32 = 2;
/// Most parts.
pub const MOST: u32 = 1000;
/// Why a run has no folds that keeps rows out of its fit.
pub const HOLDS_OUT: &str =
    "The run keeps rows out of its fit already, and folds are parts of all rows";

/// The fit of `recipe`, which stands in `folder`, without part `number` of `of`. Which rows are in it depends on the data alone.
///
/// # Errors
/// See [`Job::prepare`].
pub fn job_without(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<Arc<Loaded>>,
    (number, of): (u32, u32),
    control: &Control,
) -> Result<Job, JobError> {
    let mut recipe = recipe.clone();
    recipe.model.hold_out = Some(HoldOut::Part { number, of });
    Job::prepare(&recipe, folder, loaded, control)
}

/// How long it takes to fit a run again `times` times that took `secs` seconds, in words that can stand alone.
pub fn time_of_fits(times: usize, secs: f64) -> String {
    let each = duration(secs);
    match times {
        1 => format!("One fit as long as this run: about {each}"),
        _ => format!(
            "{times} fits as long as this run, about {each} each: about {} in all",
            duration(secs * times as f64)
        ),
    }
}

/// Scores the rows that `job` keeps out by its draws, of which at most `most` are used.
///
/// # Errors
/// See [`Fitted::scores`].
pub fn score(
    job: &Job,
    view: &RunView,
    most: usize,
    control: &Control,
) -> Result<PredictionScores, ScoresError> {
    let draws: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let weights = view.weights(job.weight_column());
    Fitted::of(job)?.scores(&draws, &weights, None, most, control)
}
