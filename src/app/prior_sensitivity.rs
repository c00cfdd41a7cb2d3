//! Prior sensitivity of a finished run by power scaling, on a thread of its own.

use std::sync::Arc;

use super::correcting::{Drawn, source};
use super::entry::{PriorSensitivity, RunEntry};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::sensitivity::{Sensitivity, sensitivity};
use ergodic_analysis::zero_variance::CorrectControl;

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
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if matches!(entry.prior_sensitivity, PriorSensitivity::Working(_)) {
        return;
    }
    if let Some(why) = refusal(entry) {
        state.say(why, true);
        return;
    }
    let Some(drawn) = Drawn::of(entry) else {
        return;
    };
    let control = Arc::new(CorrectControl::default());
    entry.prior_sensitivity = PriorSensitivity::Working(Arc::clone(&control));
    fx.spawn(
        "power-scaling",
        Box::new(move || {
            let result = drawn.give(|job, draws, weights| {
                sensitivity(job, draws, weights, &control).map(Arc::new)
            });
            Outcome::PowerScaled {
                run: id,
                control,
                result,
            }
        }),
    );
}

/// Takes a result, unless the work was cancelled or overtaken.
pub(super) fn looked(
    state: &mut AppState,
    id: u64,
    control: &Arc<CorrectControl>,
    result: Result<Arc<Sensitivity>, String>,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let PriorSensitivity::Working(mine) = &entry.prior_sensitivity else {
        return;
    };
    if Arc::ptr_eq(mine, control) {
        entry.prior_sensitivity = match result {
            Ok(sensitivity) => PriorSensitivity::Done(sensitivity),
            Err(why) => PriorSensitivity::Refused(why),
        };
    }
}

/// Drops what is known; work that is being done is cancelled.
pub(super) fn forget(sensitivity: &mut PriorSensitivity) {
    if let PriorSensitivity::Working(control) = sensitivity {
        control.cancel();
    }
    *sensitivity = PriorSensitivity::No;
}
