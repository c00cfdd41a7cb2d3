//! The ranking of samplers for the draft, made in the background when it is asked for: it needs the posterior mode.

use std::path::Path;

use super::state::{Advised, AppState};
use super::tasks::Effects;
use ergodic_analysis::Job;

pub(super) fn advise(state: &mut AppState, fx: &mut dyn Effects) {
    state.advice.cancel();
    let Some((recipe, loaded)) = state.complete_draft("samplers cannot be compared") else {
        return;
    };
    let going = state.begin(
        fx,
        ("Ranking samplers", ""),
        move |control| {
            let mut any = recipe.clone();
            any.sampler = Default::default();
            let job = Job::prepare(&any, Path::new(""), Some(loaded), control)?;
            let advice = job.measured_advice();
            Ok::<_, ergodic_analysis::JobError>(Advised { recipe, advice })
        },
        |state, ended, _fx| {
            if let Some(why) = state.advice.end(ended) {
                state.say(why, true);
            }
        },
    );
    state.advice.begin(going);
}
