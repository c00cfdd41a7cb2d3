//! Calibrating the draft by simulation, in the background.

use std::path::Path;

use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_analysis::calibration::{Calibration, Extent, calibrate};
use ergodic_analysis::{Job, JobError, Recipe};

/// What the window simulates: enough to see what is clearly wrong; the command line takes other numbers.
pub const EXTENT: Extent = Extent {
    simulations: 100,
    draws: 99,
};

/// What a calibration said.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The draft it was run for.
    pub recipe: Recipe,
    /// Ranks and tests.
    pub calibration: Calibration,
}

pub(super) fn start(state: &mut AppState, fx: &mut dyn Effects) {
    state.calibrated.cancel();
    let Some((recipe, loaded)) = state.complete_draft("nothing can be calibrated") else {
        return;
    };
    let going = state.begin(
        fx,
        ("Calibrating the draft", ""),
        move |control| {
            let job = Job::prepare(&recipe, Path::new(""), Some(loaded), control)?;
            let calibration = calibrate(&job, &recipe.sampler.settings, EXTENT, control)?;
            Ok::<_, JobError>(Calibrated {
                recipe,
                calibration,
            })
        },
        |state, ended, _fx| {
            if let Ended::Done(done) = &ended {
                state.say(done.calibration.sentence(), done.calibration.has_failed());
            }
            if let Some(why) = state.calibrated.end(ended) {
                state.say(why, true);
            }
        },
    );
    state.calibrated.begin(going);
}

/// Ends the simulations; those that are done will be shown.
pub(super) fn stop(state: &AppState) {
    if let Some(going) = state.calibrated.working() {
        going.cancel();
    }
}
