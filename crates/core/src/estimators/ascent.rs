//! Places to start from in densities that are too large for a mode: where a stochastic search climbs to.

use super::adam::Adam;
use super::mode::{ModeError, Objective, num_obs};
use super::registry::{Plan, Way};
use super::trace::Recorder;
use super::{hessian_free, newton, stochastic};
use crate::models::{Model, Rows};
use ergodic_base::Control;
use ergodic_base::settings::Settings;

/// Climbs from `u`, in place, by the stochastic or Hessian-free method of `plan`, Adam where it is `auto`. Nothing of the size D² is made,
/// and where it ends is no mode: nobody has looked how far that is.
///
/// # Errors
/// [`ModeError::Cancelled`], or [`ModeError::NotFound`] where steps grow without bound or the method needs a curvature.
pub fn ascend(
    model: &dyn Model,
    plan: &Plan,
    u: &mut [f64],
    control: &Control,
) -> Result<(), ModeError> {
    let density = model
        .density()
        .ok_or(ModeError::NotFound("this model has no density to climb"))?;
    let mut recorder = Recorder::new(num_obs(density));
    let full = Objective::new(density, Rows::All);
    let search = match &plan.way {
        Some((Way::HessianFree, _spec)) => {
            return match hessian_free::maximise(full, u, control, &mut recorder) {
                // Where its most iterations end is a place to start from, too.
                Ok(_) | Err(ModeError::NotFound(newton::RUNS_AWAY)) => Ok(()),
                Err(error) => Err(error),
            };
        }
        Some((Way::Stochastic(search), _spec)) => search.clone(),
        Some(_) => {
            return Err(ModeError::NotFound(
                "the model is too large for the curvature that the method needs; choose mode.method = hessian-free, or a stochastic one such as adam",
            ));
        }
        None => {
            let (search, _settings) = stochastic::plan::<Adam>(&Settings::default(), model)
                .map_err(|_refused| ModeError::NotFound("Adam has no defaults here"))?;
            search
        }
    };
    stochastic::maximise(full, u, search.as_ref(), control, &mut recorder).map(|_steps| ())
}
