//! Looking at the prior's influence on a finished run by power scaling, on a thread of its own.

use std::sync::Arc;

use super::correcting::{Drawn, source};
use super::entry::{Influence, RunEntry};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::sensitivity::{Sensitivity, sensitivity};
use ergodic_analysis::zero_variance::CorrectControl;

/// Why the influence of a run's prior cannot be looked at now, if so.
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
    if matches!(entry.influence, Influence::Working(_)) {
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
    entry.influence = Influence::Working(Arc::clone(&control));
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
    let Influence::Working(mine) = &entry.influence else {
        return;
    };
    if Arc::ptr_eq(mine, control) {
        entry.influence = match result {
            Ok(sensitivity) => Influence::Done(sensitivity),
            Err(why) => Influence::Refused(why),
        };
    }
}

/// Drops what is known; work that is being done is cancelled.
pub(super) fn forget(influence: &mut Influence) {
    if let Influence::Working(control) = influence {
        control.cancel();
    }
    *influence = Influence::No;
}
