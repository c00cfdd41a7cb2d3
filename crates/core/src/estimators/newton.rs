//! Newton's method with backtracking: few passes, quadratic convergence near the mode.

use super::mode::{ModeError, Objective, tick};
use super::registry::OptimiserSpec;
use super::trace::Recorder;
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, axpy, dot};

/// Stop when another step would gain less than half of this, in nats: far below Monte Carlo error, above rounding.
const DECREMENT: f64 = 1e-12;
/// Log-concave problems take about ten; more means that the mode runs away (separation without a prior).
const MAX_ITERATIONS: u64 = 100;
/// Halvings of a step before the direction is given up; 2^-40 is below rounding.
const MAX_HALVINGS: u32 = 40;
/// Share of the expected gain that a step must reach (Armijo's condition, the usual small value).
const SUFFICIENT: f64 = 1e-4;
/// Why a climb that takes its most iterations finds nothing.
pub(super) const RUNS_AWAY: &str = "it runs away, as under separation with a flat prior";

pub(super) const SPEC: OptimiserSpec = OptimiserSpec {
    id: "newton",
    title: "Newton",
    about: "Few passes over all rows and quadratic convergence; needs curvature that is positive definite on the way",
    cite: "Nocedal and Wright, Numerical Optimization, 2nd edition, section 3.3",
    formula: "θ' = θ + s H(θ)⁻¹ ∇log π(θ), s halved until log π rises by Armijo's condition",
    fields: &[],
};

/// Climbs from `u` to a local maximum, in place.
pub(super) fn maximise(
    objective: Objective<'_>,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
) -> Result<u64, ModeError> {
    let dim = u.len();
    let mut hessian = vec![0.0; dim * dim];
    let mut factor = Cholesky::empty(dim);
    climb_along(objective, u, control, recorder, |u, step, recorder| {
        objective.neg_hessian(u, &mut hessian);
        recorder.spend(objective.num_rows());
        factor
            .factor(&hessian)
            .map_err(|_indefinite| ModeError::NotFound("the curvature is not positive definite"))?;
        factor.solve(step);
        Ok(())
    })
}

/// Climbs from `u` to a local maximum, in place, along steps that `make_step` makes of the position and the gradient there (D each): it
/// overwrites the gradient by a step uphill, that of Newton or nearly so, which is halved until the density rises enough.
pub(super) fn climb_along(
    objective: Objective<'_>,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
    mut make_step: impl FnMut(&[f64], &mut [f64], &mut Recorder) -> Result<(), ModeError>,
) -> Result<u64, ModeError> {
    let dim = u.len();
    let (mut grad, mut work) = (vec![0.0; dim], vec![0.0; dim]);
    let (mut trial, mut trial_grad) = (vec![0.0; dim], vec![0.0; dim]);
    let mut value = objective.value(u, &mut grad, &mut work);
    recorder.spend(objective.num_rows());
    if !value.is_finite() {
        return Err(ModeError::NotFound(
            "the density is not finite at the start",
        ));
    }
    for iteration in 0..MAX_ITERATIONS {
        tick(control)?;
        recorder.note(value, &grad);
        let mut step = grad.clone();
        make_step(u, &mut step, recorder)?;
        let decrement = dot(&grad, &step);
        if decrement <= DECREMENT {
            // The last step is free and makes the gradient vanish to rounding.
            axpy(1.0, &step, u);
            return Ok(iteration);
        }
        let mut length = 1.0;
        let mut accepted = false;
        for _ in 0..MAX_HALVINGS {
            tick(control)?;
            trial.copy_from_slice(u);
            axpy(length, &step, &mut trial);
            let trial_value = objective.value(&trial, &mut trial_grad, &mut work);
            recorder.spend(objective.num_rows());
            // Near the mode the gain drowns in the rounding of a large sum: allow for it.
            let rounding = 1e-13 * value.abs();
            if trial_value >= value + SUFFICIENT * length * decrement - rounding {
                u.copy_from_slice(&trial);
                std::mem::swap(&mut grad, &mut trial_grad);
                value = trial_value;
                accepted = true;
                break;
            }
            length *= 0.5;
        }
        if !accepted {
            return Err(ModeError::NotFound("no step improves the density"));
        }
    }
    Err(ModeError::NotFound(RUNS_AWAY))
}
