//! What the prior means for a finished run, on a thread of its own: its sensitivity by power scaling, and Bayes factors of
//! coefficients against 0.

use std::sync::Arc;

use super::correcting::{begin_on_draws, source};
use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_analysis::{SensitivityError, bayes_factors, sensitivity};

/// Why the prior sensitivity of a run cannot be computed now, if so.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if entry.is_active() {
        Some("Whether the prior matters is looked at once the run has ended")
    } else if source(entry).is_none() {
        Some("Draws without a recipe have no prior and no likelihood to scale")
    } else {
        None
    }
}

/// Starts the work, unless it is being done.
pub(super) fn look(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    if entry.prior_sensitivity.working().is_some() {
        return;
    }
    let going = begin_on_draws(
        state,
        (id, "Prior sensitivity of"),
        refusal,
        |job, draws, weights, control| {
            let found = sensitivity(job, draws, weights, control)?;
            let factors = bayes_factors(job.model.as_ref(), draws, weights);
            let factors = factors.map(Arc::new).map_err(|why| why.to_string());
            Ok::<_, SensitivityError>((Arc::new(found), factors))
        },
        move |state, ended, _fx| {
            if let Some(entry) = state.run_mut(id) {
                let ended = match ended {
                    Ended::Done((found, factors)) => {
                        entry.bayes_factors = Some(factors);
                        Ended::Done(found)
                    }
                    Ended::Cancelled => Ended::Cancelled,
                    Ended::Failed(why) => Ended::Failed(why),
                };
                entry.prior_sensitivity.end(ended);
            }
        },
        fx,
    );
    if let (Some(going), Some(entry)) = (going, state.run_mut(id)) {
        entry.prior_sensitivity.begin(going);
    }
}
