//! Correcting a run's estimates by zero-variance control variates, on a thread of its own.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{RunEntry, RunPhase, Saved};
use super::following::Ends;
use super::state::AppState;
use super::tasks::{Effects, Ended, Handle};
use ergodic_analysis::predict::{Fitted, PredictError};
use ergodic_analysis::zero_variance::zero_variance;
use ergodic_analysis::{Job, Recipe};
use ergodic_base::draws::DrawList;
use ergodic_base::{Control, ParamId};
use ergodic_core::engine::checkpoint::ChainMark;
use ergodic_core::engine::trajectories::{FromChain, trajectories};
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::{RunFolder, TrajectoriesError, trajectories as of_folder};

/// Where the posterior of a run comes from.
pub(super) enum Source {
    /// The job in memory.
    Job(Arc<Job>),
    /// The recipe of a folder, whose data must be read again, and what there are draws of.
    Recipe(Box<Recipe>, PathBuf, Vec<ParamId>),
}

impl Source {
    /// The file that the data are in; `None` for bundled data.
    pub fn data_path(&self) -> Option<PathBuf> {
        match self {
            Self::Job(job) => (job.recipe.sample().is_none()).then(|| job.table.source().into()),
            Self::Recipe(recipe, folder, _) => recipe.data_path(folder),
        }
    }

    /// The model that predicts rows.
    ///
    /// # Errors
    /// Its data cannot be read; it is not the model of the draws; it predicts nothing.
    pub fn fitted(&self, control: &Control) -> Result<Fitted, PredictError> {
        match self {
            Self::Job(job) => Fitted::of(job),
            Self::Recipe(recipe, folder, variables) => {
                Fitted::of_draws(recipe, folder, variables, control)
            }
        }
    }

    /// Trajectories from where the chains ended: at `ends` those in memory.
    ///
    /// # Errors
    /// The run's folder or its data cannot be read; its sampler follows no trajectories.
    pub fn trajectories(
        &self,
        ends: &Ends,
        control: &Control,
    ) -> Result<Vec<FromChain>, TrajectoriesError> {
        match self {
            Self::Job(job) => {
                let marks: Vec<Option<&ChainMark>> = ends.iter().map(Option::as_deref).collect();
                Ok(trajectories(job.as_ref(), &marks, control)?)
            }
            Self::Recipe(_, folder, _) => of_folder(&RunFolder::open(folder)?, control),
        }
    }
}

/// Starts correcting, or drops a correction and cancels one that is being made.
pub(super) fn correct(state: &mut AppState, id: u64, order: Option<Order>, fx: &mut dyn Effects) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if entry.corrected_by == order {
        return;
    }
    entry.forget_correction();
    let Some(order) = order else { return };
    let Some(view) = entry.view() else { return };
    let going = begin_on_draws(
        state,
        (id, "Correcting the estimates of"),
        refusal,
        move |job, draws, weights, control| {
            let info: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.info).collect();
            zero_variance(job, draws, &info, weights, order, control).map(Arc::new)
        },
        move |state, ended, _fx| {
            let Some(entry) = state.run_mut(id) else {
                return;
            };
            let why = entry.correction.end(ended);
            if entry.correction.done().is_none() {
                entry.forget_correction();
            }
            if let Some(why) = why {
                state.say(why, true);
            }
        },
        fx,
    );
    if let (Some(going), Some(entry)) = (going, state.run_mut(id)) {
        entry.corrected_by = Some(order);
        entry.correction.begin(going);
    }
}

/// Why the estimates of a run cannot be corrected now, if so.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if entry.is_active() {
        Some("Estimates are corrected once the run has ended")
    } else if source(entry).is_none() {
        Some("Draws without a recipe have no gradients to correct estimates with")
    } else {
        None
    }
}

/// Where the posterior of a run comes from, if it is known.
pub(super) fn source(entry: &RunEntry) -> Option<Source> {
    match (&entry.phase, &entry.recipe, &entry.saved) {
        (RunPhase::Live(run), _, _) => Some(Source::Job(Arc::clone(run.job()))),
        (RunPhase::Read(_), Some(recipe), Saved::At(folder)) => {
            let mut recipe = recipe.clone();
            // The draft of a project does not name its data, and its draws say nothing of others.
            if let Some(fingerprint) = entry.data_fingerprint() {
                recipe.data.fingerprint = Some(fingerprint.to_owned());
            }
            Some(Source::Recipe(
                Box::new(recipe),
                folder.clone(),
                entry.variables(),
            ))
        }
        _ => None,
    }
}

/// Begins `act` on the job of run `id`, the draws of the chains that work, and their weights, unless `refusal` says why not.
pub(super) fn begin_on_draws<T: Send + 'static, E: Display>(
    state: &mut AppState,
    (id, what): (u64, &'static str),
    refusal: impl FnOnce(&RunEntry) -> Option<&'static str>,
    act: impl FnOnce(&Job, &[&DrawList], &[Vec<f64>], &Control) -> Result<T, E> + Send + 'static,
    then: impl FnOnce(&mut AppState, Ended<T>, &mut dyn Effects) + Send + 'static,
    fx: &mut dyn Effects,
) -> Option<Handle> {
    let entry = state.run(id)?;
    if let Some(why) = refusal(entry) {
        state.say(why, true);
        return None;
    }
    let (title, source, view) = (entry.title(), source(entry)?, entry.view()?);
    let weights = view.weights(weight_column(&entry.info_names()));
    let work = move |control: &Control| {
        let job = match source {
            Source::Job(job) => Ok(job),
            Source::Recipe(recipe, folder, _) => {
                Job::prepare(&recipe, &folder, None, control).map(Arc::new)
            }
        };
        let job = job.map_err(|error| error.to_string())?;
        let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        act(&job, &lists, &weights, control).map_err(|error| error.to_string())
    };
    Some(state.begin(fx, (what, &title), work, then))
}
