//! Tuning the draft's sampler by trial runs, in the background; the winner becomes a setting of the draft.

use std::path::Path;

use super::draft_change::DraftChange;
use super::drafting::change_document;
use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_analysis::tuning::{KEY, Tuning, tune};
use ergodic_analysis::{Job, JobError, Recipe};
use ergodic_base::settings::Value;

/// What the trials for a sampler said.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The draft they were run for.
    pub recipe: Recipe,
    /// What was tried.
    pub tuning: Tuning,
}

impl Tuned {
    /// Whether the trials hold for `recipe`: the same posterior, sampler and settings but for the step size.
    pub fn holds_for(&self, recipe: &Recipe) -> bool {
        let of = |recipe: &Recipe| {
            let mut sampler = recipe.sampler.clone();
            sampler.settings.unset(KEY);
            (
                recipe.data.clone(),
                recipe.model.clone(),
                recipe.priors.clone(),
                sampler,
            )
        };
        of(&self.recipe) == of(recipe)
    }
}

pub(super) fn start(state: &mut AppState, fx: &mut dyn Effects) {
    state.tuned.cancel();
    let Some((recipe, loaded)) = state.complete_draft("nothing can be tuned") else {
        return;
    };
    let going = state.begin(
        fx,
        ("Tuning by trial", ""),
        move |control| {
            let mut untuned = recipe.clone();
            untuned.sampler.settings.unset(KEY);
            let job = Job::prepare(&untuned, Path::new(""), Some(loaded), control)?;
            let tuning = tune(&job, control)?;
            Ok::<_, JobError>(Tuned { recipe, tuning })
        },
        finished,
    );
    state.tuned.begin(going);
}

fn finished(state: &mut AppState, ended: Ended<Tuned>, fx: &mut dyn Effects) {
    if let Ended::Done(tuned) = &ended {
        let draft = state.document.as_ref().map(|document| &document.recipe);
        if draft.is_some_and(|draft| tuned.holds_for(draft)) {
            let value = Value::Real(tuned.tuning.chosen);
            let change = DraftChange::Setting(KEY.to_owned(), Some(value));
            change_document(state, change, fx);
        }
    }
    if let Some(why) = state.tuned.end(ended) {
        state.say(why, true);
    }
}
