//! A quasi-Newton minimiser for few parameters: BFGS with the whole inverse curvature and backtracking.

use super::{Breakdown, MixedError};
use ergodic_base::linalg::{axpy, dot, matvec};

/// Iterations before giving up.
const MAX_ITERATIONS: u64 = 500;
/// Predicted further decrease at which to stop: in units of a deviance, far below what any standard error shows.
const TOLERANCE: f64 = 1e-12;
/// Predicted decrease below which a step that brings nothing is taken for rounding.
const ROUNDING: f64 = 1e-5;
/// Share of the predicted decrease that a step must bring.
const SUFFICIENT: f64 = 1e-4;
/// Shortenings of a step before giving up.
const MAX_HALVINGS: u32 = 40;

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// Value there.
    pub value: f64,
    /// Iterations.
    pub iterations: u64,
}

/// Minimises `objective` from `x`, in place. It writes the gradient and returns the value, infinite where there is none.
/// `inverse` is a first guess of the inverse curvature (dim × dim).
///
/// # Errors
/// Those of the objective; the value is not finite at the start; no minimum was reached.
pub fn minimise(
    x: &mut [f64],
    mut inverse: Vec<f64>,
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Result<f64, MixedError>,
) -> Result<Minimum, MixedError> {
    let dim = x.len();
    let (mut grad, mut trial_grad) = (vec![0.0; dim], vec![0.0; dim]);
    let (mut step, mut trial, mut hy) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    let first_guess = inverse.clone();
    let mut fresh = true;
    let mut value = objective(x, &mut grad)?;
    if !value.is_finite() {
        return Err(Breakdown::Start.into());
    }
    if dim == 0 {
        // There is one point.
        return Ok(Minimum {
            value,
            iterations: 0,
        });
    }
    for iteration in 0..MAX_ITERATIONS {
        matvec(&inverse, &grad, &mut step);
        let decrement = dot(&grad, &step);
        let done = Minimum {
            value,
            iterations: iteration,
        };
        if decrement.abs() <= TOLERANCE {
            return Ok(done);
        }
        let mut length = 1.0;
        let mut halvings = 0;
        let accepted = loop {
            trial.copy_from_slice(x);
            axpy(-length, &step, &mut trial);
            let trial_value = objective(&trial, &mut trial_grad)?;
            // A large sum rounds: allow for it.
            if trial_value <= value - SUFFICIENT * length * decrement + 1e-14 * value.abs() {
                break Some(trial_value);
            }
            halvings += 1;
            if halvings > MAX_HALVINGS {
                break None;
            }
            // The minimum of the parabola through value, slope and trial, if that is a reduction.
            let rise = trial_value - value + length * decrement;
            let best = length * length * decrement / (2.0 * rise);
            length = if best.is_finite() {
                best.clamp(0.1 * length, 0.5 * length)
            } else {
                0.25 * length
            };
        };
        let Some(trial_value) = accepted else {
            if decrement < ROUNDING {
                return Ok(done);
            }
            if fresh {
                return Err(Breakdown::NoStep.into());
            }
            inverse.copy_from_slice(&first_guess);
            fresh = true;
            continue;
        };
        // s and y of the textbook; `step` and `grad` become them.
        for i in 0..dim {
            step[i] = trial[i] - x[i];
            grad[i] = trial_grad[i] - grad[i];
        }
        let curvature = dot(&step, &grad);
        if curvature > 0.0 {
            matvec(&inverse, &grad, &mut hy);
            let spread = dot(&grad, &hy);
            let factor = (1.0 + spread / curvature) / curvature;
            for i in 0..dim {
                for j in 0..dim {
                    inverse[i * dim + j] += factor * step[i] * step[j]
                        - (hy[i] * step[j] + step[i] * hy[j]) / curvature;
                }
            }
            fresh = false;
        }
        x.copy_from_slice(&trial);
        std::mem::swap(&mut grad, &mut trial_grad);
        value = trial_value;
    }
    Err(Breakdown::Iterations.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banana_valley_is_followed_to_its_end() {
        let mut x = [-1.2, 1.0, 3.0];
        let mut identity = vec![0.0; 9];
        for i in 0..3 {
            identity[4 * i] = 1.0;
        }
        let end = minimise(&mut x, identity, |x, grad| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            grad[0] = -2.0 * a - 400.0 * b * x[0];
            grad[1] = 200.0 * b;
            grad[2] = 2.0 * x[2];
            Ok(a * a + 100.0 * b * b + x[2] * x[2])
        })
        .unwrap();
        assert!(end.value < 1e-12 && end.iterations < 60, "{end:?}");
        assert!((x[0] - 1.0).abs() < 1e-5 && (x[1] - 1.0).abs() < 1e-5 && x[2].abs() < 1e-5);
    }
}
