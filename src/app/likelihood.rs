//! Likelihood fits of the draft's mixed model, in the background.

use std::path::Path;
use std::sync::Arc;

use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::Recipe;
use ergodic_analysis::likelihood::{
    LikelihoodControl, LikelihoodError, LikelihoodFit, LikelihoodOptions, fit,
};

/// Fits the draft with these options.
pub(super) fn start(state: &mut AppState, options: LikelihoodOptions, fx: &mut dyn Effects) {
    cancel(state);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    let recipe = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let control = Arc::new(LikelihoodControl::default());
    state.estimating = Some(Arc::clone(&control));
    fx.spawn(
        "likelihood",
        Box::new(move || Outcome::Estimated {
            result: fit(&recipe, Path::new(""), Some(&loaded), &options, &control).map(Box::new),
            control,
        }),
    );
}

pub(super) fn cancel(state: &mut AppState) {
    if let Some(control) = state.estimating.take() {
        control.cancel();
    }
}

pub(super) fn finished(
    state: &mut AppState,
    control: &Arc<LikelihoodControl>,
    result: Result<Box<LikelihoodFit>, LikelihoodError>,
) {
    // A request that was cancelled or overtaken has nothing to say.
    if !state
        .estimating
        .as_ref()
        .is_some_and(|mine| Arc::ptr_eq(mine, control))
    {
        return;
    }
    state.estimating = None;
    match result {
        Ok(done) => state.estimated = Some(Arc::from(done)),
        Err(error) => state.say(error.to_string(), true),
    }
}

/// Whether a fit is of `recipe`'s data and formula.
pub fn holds_for(done: &LikelihoodFit, recipe: &Recipe) -> bool {
    done.recipe.data == recipe.data && done.recipe.model == recipe.model
}
