//! The ranking of samplers for the draft, made in the background when it is asked for: it needs the posterior mode.

use std::path::Path;
use std::sync::Arc;

use super::state::{Advised, AppState};
use super::tasks::{Effects, Outcome};
use ergodic_analysis::{Job, JobError, PrepareControl, Recipe};
use ergodic_core::samplers::recommend::Advice;

pub(super) fn advise(state: &mut AppState, fx: &mut dyn Effects) {
    cancel(state);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    if !document.is_runnable() {
        state.refuse("The model is not complete, so samplers cannot be compared");
        return;
    }
    let draft = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let control = Arc::new(PrepareControl::default());
    state.advising = Some(Arc::clone(&control));
    fx.spawn(
        "advise",
        Box::new(move || {
            let mut recipe = draft.clone();
            recipe.sampler = Default::default();
            let result = Job::prepare(&recipe, Path::new(""), Some(loaded), &control)
                .map(|job| Box::new(job.advice()));
            Outcome::Advised {
                recipe: Box::new(draft),
                control,
                result,
            }
        }),
    );
}

pub(super) fn cancel(state: &mut AppState) {
    if let Some(control) = state.advising.take() {
        control.cancel();
    }
}

pub(super) fn advised(
    state: &mut AppState,
    recipe: Recipe,
    control: &Arc<PrepareControl>,
    result: Result<Box<Advice>, JobError>,
) {
    // A request that was cancelled or overtaken has nothing to say.
    if !state
        .advising
        .as_ref()
        .is_some_and(|mine| Arc::ptr_eq(mine, control))
    {
        return;
    }
    state.advising = None;
    match result {
        Ok(advice) => {
            state.advice = Some(Advised {
                recipe,
                advice: *advice,
            });
        }
        Err(error) => state.say(error.to_string(), true),
    }
}
