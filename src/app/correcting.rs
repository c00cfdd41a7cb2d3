//! Correcting a run's estimates by zero-variance control variates, on a thread of its own.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{Correction, RunEntry, RunPhase, Saved};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::zero_variance::{CorrectControl, Corrected, zero_variance};
use ergodic_analysis::{Job, PrepareControl, Recipe};
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
    if entry.correction.order() == order {
        return;
    }
    forget(&mut entry.correction);
    let Some(order) = order else { return };
    match refusal(entry) {
        Some(why) => state.say(why, true),
        None => start(entry, order, fx),
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
    pub fn job(self) -> Result<Arc<Job>, String> {
        match self {
            Self::Job(job) => Ok(job),
            Self::Recipe(recipe, folder) => {
                let job = Job::prepare(&recipe, &folder, None, &PrepareControl::default());
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
        act: impl FnOnce(&Job, &[&DrawList], &[Vec<f64>]) -> Result<T, E>,
    ) -> Result<T, String> {
        let job = self.source.job()?;
        let chains = self.view.usable();
        let lists: Vec<&DrawList> = chains.map(|chain| &chain.draws.draws).collect();
        act(&job, &lists, &self.weights).map_err(|error| error.to_string())
    }
}

fn start(entry: &mut RunEntry, order: Order, fx: &mut dyn Effects) {
    let Some(drawn) = Drawn::of(entry) else {
        return;
    };
    let control = Arc::new(CorrectControl::default());
    entry.correction = Correction::Working(order, Arc::clone(&control));
    let run = entry.id;
    fx.spawn(
        "control-variates",
        Box::new(move || {
            let result = drawn.give(|job, draws, weights| {
                zero_variance(job, draws, weights, order, &control).map(Box::new)
            });
            Outcome::Corrected {
                run,
                control,
                result,
            }
        }),
    );
}

/// Takes a result, unless the work was cancelled or overtaken.
pub(super) fn corrected(
    state: &mut AppState,
    id: u64,
    control: &Arc<CorrectControl>,
    result: Result<Box<Corrected>, String>,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let Correction::Working(_, mine) = &entry.correction else {
        return;
    };
    if !Arc::ptr_eq(mine, control) {
        return;
    }
    match result {
        Ok(corrected) => entry.correction = Correction::Done(Arc::from(corrected)),
        Err(why) => {
            entry.correction = Correction::No;
            state.say(why, true);
        }
    }
}

/// Drops a correction; one that is being made is cancelled.
pub(super) fn forget(correction: &mut Correction) {
    if let Correction::Working(_, control) = correction {
        control.cancel();
    }
    *correction = Correction::No;
}
