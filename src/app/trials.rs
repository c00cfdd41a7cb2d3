//! Tuning the draft's sampler by trial runs, in the background; the winner becomes a setting of the draft.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::drafting::{DocumentChange, change_document};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::tuning::{KEY, Tuning, TuningControl, tune};
use ergodic_analysis::{Job, JobError, PrepareControl, Recipe};
use ergodic_base::settings::Value;

/// Progress and cancellation of a tuning: first the job is prepared, then trials are run.
#[derive(Debug, Default)]
pub struct TrialsTask {
    prepare: PrepareControl,
    trials: TuningControl,
}

impl TrialsTask {
    fn cancel(&self) {
        self.prepare.cancel();
        self.trials.cancel.store(true, Ordering::Relaxed);
    }

    /// What is being done, and the share of it that is done once trials run.
    pub fn progress(&self) -> (&'static str, f64) {
        let total = self.trials.total.load(Ordering::Relaxed);
        if total == 0 {
            return (self.prepare.stage(), 0.0);
        }
        let done = self.trials.done.load(Ordering::Relaxed);
        ("running trials", done as f64 / total as f64)
    }
}

/// What the trials for a sampler said.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The draft they were run for.
    pub recipe: Recipe,
    /// What was tried.
    pub tuning: Tuning,
}

impl Tuned {
    /// Whether it holds for `recipe`: the same posterior, sampler and settings but for the step size.
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
    cancel(state);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    if !document.is_runnable() {
        state.refuse("The model is not complete, so nothing can be tuned");
        return;
    }
    let recipe = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let control = Arc::new(TrialsTask::default());
    state.trials = Some(Arc::clone(&control));
    fx.spawn(
        "tune",
        Box::new(move || {
            let mut untuned = recipe.clone();
            untuned.sampler.settings.unset(KEY);
            let result = Job::prepare(&untuned, Path::new(""), Some(loaded), &control.prepare)
                .and_then(|job| tune(&job, &control.trials));
            Outcome::Tuned {
                recipe: Box::new(recipe),
                control,
                result,
            }
        }),
    );
}

pub(super) fn cancel(state: &mut AppState) {
    if let Some(control) = state.trials.take() {
        control.cancel();
    }
}

pub(super) fn finished(
    state: &mut AppState,
    recipe: Recipe,
    control: &Arc<TrialsTask>,
    result: Result<Tuning, JobError>,
    fx: &mut dyn Effects,
) {
    // A request that was cancelled or overtaken has nothing to say.
    if !state
        .trials
        .as_ref()
        .is_some_and(|mine| Arc::ptr_eq(mine, control))
    {
        return;
    }
    state.trials = None;
    match result {
        Ok(tuning) => {
            let tuned = Tuned { recipe, tuning };
            let draft = state.document.as_ref().map(|document| &document.recipe);
            if draft.is_some_and(|draft| tuned.holds_for(draft)) {
                let value = Value::Real(tuned.tuning.chosen);
                let change = DocumentChange::Setting(KEY.to_owned(), Some(value));
                change_document(state, change, fx);
            }
            state.tuned = Some(tuned);
        }
        Err(error) => state.say(error.to_string(), true),
    }
}
