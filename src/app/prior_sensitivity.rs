//! Prior sensitivity of a finished run by power scaling, on a thread of its own.

use std::sync::Arc;

use super::correcting::{Drawn, source};
use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::sensitivity::sensitivity;

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
    if let Some(why) = refusal(entry) {
        state.say(why, true);
        return;
    }
    let (title, Some(drawn)) = (entry.title(), Drawn::of(entry)) else {
        return;
    };
    let going = state.begin(
        fx,
        ("Prior sensitivity of", &title),
        move |control| {
            drawn.give(control, |job, draws, weights| {
                sensitivity(job, draws, weights, control).map(Arc::new)
            })
        },
        move |state, ended, _fx| {
            if let Some(entry) = state.run_mut(id) {
                entry.prior_sensitivity.end(ended);
            }
        },
    );
    if let Some(entry) = state.run_mut(id) {
        entry.prior_sensitivity.begin(going);
    }
}
