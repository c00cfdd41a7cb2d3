//! Likelihood fits of the draft's mixed model, in the background.

use std::path::Path;
use std::sync::Arc;

use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::Recipe;
use ergodic_analysis::likelihood::{LikelihoodFit, LikelihoodOptions, fit};

/// Fits the draft with these options.
pub(super) fn start(state: &mut AppState, options: LikelihoodOptions, fx: &mut dyn Effects) {
    state.estimated.cancel();
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    let recipe = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let going = state.begin(
        fx,
        ("Fitting the draft by likelihood", ""),
        move |control| fit(&recipe, Path::new(""), Some(&loaded), &options, control).map(Arc::new),
        |state, ended, _fx| {
            if let Some(why) = state.estimated.end(ended) {
                state.say(why, true);
            }
        },
    );
    state.estimated.begin(going);
}

/// Whether a fit is of `recipe`'s data and formula.
pub fn holds_for(done: &LikelihoodFit, recipe: &Recipe) -> bool {
    done.recipe.data == recipe.data && done.recipe.model == recipe.model
}
