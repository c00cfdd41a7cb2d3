//! Correcting a run's estimates by zero-variance control variates, on a thread of its own.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{RunEntry, RunPhase, Saved};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::zero_variance::zero_variance;
use ergodic_analysis::{Job, Recipe};
use ergodic_base::control::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::RunView;
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::zero_variance::Order;

/// Where the posterior of a run comes from.
pub(super) enum Source {
    /// The job in memory.
    Job(Arc<Job>),
    /// The recipe of a folder, whose data must be read again.
    Recipe(Box<Recipe>, PathBuf),
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
    if let Some(why) = refusal(entry) {
        state.say(why, true);
        return;
    }
    let (title, Some(drawn)) = (entry.title(), Drawn::of(entry)) else {
        return;
    };
    let going = state.begin(
        fx,
        ("Correcting the estimates of", &title),
        move |control| {
            drawn.give(control, |job, draws, weights| {
                zero_variance(job, draws, weights, order, control).map(Arc::new)
            })
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
    );
    if let Some(entry) = state.run_mut(id) {
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

impl Source {
    /// The job, read again where it is not in memory.
    pub fn job(self, control: &Control) -> Result<Arc<Job>, String> {
        match self {
            Self::Job(job) => Ok(job),
            Self::Recipe(recipe, folder) => {
                let job = Job::prepare(&recipe, &folder, None, control);
                Ok(Arc::new(job.map_err(|error| error.to_string())?))
            }
        }
    }
}

/// Where the posterior of a run comes from, if it is known.
pub(super) fn source(entry: &RunEntry) -> Option<Source> {
    match (&entry.phase, &entry.recipe, &entry.saved) {
        (RunPhase::Live(run), _, _) => Some(Source::Job(Arc::clone(run.job()))),
        (RunPhase::Read(_), Some(recipe), Saved::At(folder)) => {
            Some(Source::Recipe(Box::new(recipe.clone()), folder.clone()))
        }
        _ => None,
    }
}

/// The draws of a run with the posterior that they are of, for work on another thread.
pub(super) struct Drawn {
    source: Source,
    view: Arc<RunView>,
    weights: Vec<Vec<f64>>,
}

impl Drawn {
    /// Draws of a run, if its posterior is known.
    pub fn of(entry: &RunEntry) -> Option<Self> {
        let view = entry.view()?;
        Some(Self {
            source: source(entry)?,
            weights: view.weights(weight_column(&entry.info_names())),
            view,
        })
    }

    /// What `act` makes of the job, the draws of the chains that work, and their weights.
    pub fn give<T, E: Display>(
        self,
        control: &Control,
        act: impl FnOnce(&Job, &[&DrawList], &[Vec<f64>]) -> Result<T, E>,
    ) -> Result<T, String> {
        let job = self.source.job(control)?;
        let chains = self.view.usable();
        let lists: Vec<&DrawList> = chains.map(|chain| &chain.draws.draws).collect();
        act(&job, &lists, &self.weights).map_err(|error| error.to_string())
    }
}
