//! Calibrating the draft by simulation, in the background.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::calibration::{Calibration, CalibrationControl, Extent, calibrate};
use ergodic_analysis::{Job, JobError, PrepareControl, Recipe};

/// What the window simulates: enough to see what is clearly wrong; the command line takes other numbers.
pub const EXTENT: Extent = Extent {
    simulations: 100,
    draws: 99,
};

/// Progress and cancellation of a calibration: first the job is prepared, then data are simulated.
#[derive(Debug, Default)]
pub struct CalibrationTask {
    prepare: PrepareControl,
    simulations: CalibrationControl,
}

impl CalibrationTask {
    fn cancel(&self) {
        self.prepare.cancel();
        self.simulations.cancel.store(true, Ordering::Relaxed);
    }

    /// What is being done, in words.
    pub fn progress(&self) -> String {
        match self.simulations.done.load(Ordering::Relaxed) {
            0 => self.prepare.stage().to_owned(),
            done => format!("{done} of {} simulations", EXTENT.simulations),
        }
    }
}

/// What a calibration said.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The draft it was run for.
    pub recipe: Recipe,
    /// Ranks and tests.
    pub calibration: Calibration,
}

pub(super) fn start(state: &mut AppState, fx: &mut dyn Effects) {
    forget(state);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    if !document.is_runnable() {
        state.refuse("The model is not complete, so nothing can be calibrated");
        return;
    }
    let recipe = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let control = Arc::new(CalibrationTask::default());
    state.calibrating = Some(Arc::clone(&control));
    fx.spawn(
        "calibrate",
        Box::new(move || {
            let given = &recipe.sampler.settings;
            let result = Job::prepare(&recipe, Path::new(""), Some(loaded), &control.prepare)
                .and_then(|job| calibrate(&job, given, EXTENT, &control.simulations));
            Outcome::Calibrated {
                recipe: Box::new(recipe),
                control,
                result,
            }
        }),
    );
}

/// Ends the simulations; those that are done will be shown.
pub(super) fn cancel(state: &AppState) {
    if let Some(control) = &state.calibrating {
        control.cancel();
    }
}

/// Ends the simulations and forgets them.
fn forget(state: &mut AppState) {
    cancel(state);
    state.calibrating = None;
}

pub(super) fn finished(
    state: &mut AppState,
    recipe: Recipe,
    control: &Arc<CalibrationTask>,
    result: Result<Calibration, JobError>,
) {
    let mine = state.calibrating.as_ref();
    if !mine.is_some_and(|mine| Arc::ptr_eq(mine, control)) {
        return;
    }
    state.calibrating = None;
    match result {
        Ok(calibration) => {
            state.say(calibration.sentence(), calibration.has_failed());
            state.calibrated = Some(Calibrated {
                recipe,
                calibration,
            });
        }
        Err(JobError::Cancelled) => {}
        Err(error) => state.say(error.to_string(), true),
    }
}
