//! L-BFGS with backtracking, for models whose curvature is not positive definite on the way to the mode.

use std::collections::VecDeque;

use super::mode::{ModeError, Objective, tick};
use super::registry::OptimiserSpec;
use super::trace::Recorder;
use ergodic_base::Control;
use ergodic_base::linalg::{axpy, dot};

/// Pairs kept; the customary 10.
const MEMORY: usize = 10;
/// Iterations before giving up.
const MAX_ITERATIONS: u64 = 2000;
/// Relative size of gradient · step at which to stop.
const TOLERANCE: f64 = 1e-13;

pub(super) const SPEC: OptimiserSpec = OptimiserSpec {
    id: "lbfgs",
    title: "L-BFGS",
    about: "Curvature from the last ten gradients of all rows; for models whose own curvature is not positive definite",
    cite: "Nocedal (1980), Mathematics of Computation 35; Nocedal and Wright, algorithm 7.4",
    formula: "θ' = θ + s B ∇log π(θ), B from the last 10 pairs of steps and changes of gradient",
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
    let (mut grad, mut work) = (vec![0.0; dim], vec![0.0; dim]);
    let (mut trial, mut trial_grad) = (vec![0.0; dim], vec![0.0; dim]);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(MEMORY);
    let mut value = objective.value(u, &mut grad, &mut work);
    recorder.spend(objective.num_rows());
    if !value.is_finite() {
        return Err(ModeError::NotFound(
            "the density is not finite at the start",
        ));
    }
    for iteration in 0..MAX_ITERATIONS {
        recorder.note(value, &grad);
        let step = direction(&grad, &pairs);
        let slope = dot(&grad, &step);
        if slope <= TOLERANCE * value.abs().max(1.0) {
            return Ok(iteration);
        }
        let reach = dot(&step, &step).sqrt();
        // Where the density is infinite no step is too short.
        if !(value.is_finite() && slope.is_finite() && reach.is_finite()) {
            return Err(ModeError::NotFound("the density has no bound"));
        }
        // The first direction is the bare gradient, whose length means nothing: start with a unit step.
        let mut length = if pairs.is_empty() { 1.0 / reach } else { 1.0 };
        loop {
            tick(control)?;
            trial.copy_from_slice(u);
            axpy(length, &step, &mut trial);
            let trial_value = objective.value(&trial, &mut trial_grad, &mut work);
            recorder.spend(objective.num_rows());
            if trial_value >= value + 1e-4 * length * slope {
                value = trial_value;
                break;
            }
            length *= 0.5;
            if length * reach < 1e-14 {
                return if slope < 1e-6 {
                    Ok(iteration)
                } else {
                    Err(ModeError::NotFound("no step improves the density"))
                };
            }
        }
        let moved: Vec<f64> = trial
            .iter()
            .zip(u.iter())
            .map(|(new, old)| new - old)
            .collect();
        let change: Vec<f64> = grad
            .iter()
            .zip(&trial_grad)
            .map(|(old, new)| old - new)
            .collect();
        let curvature = dot(&moved, &change);
        if curvature > 0.0 {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((moved, change, curvature));
        }
        u.copy_from_slice(&trial);
        std::mem::swap(&mut grad, &mut trial_grad);
    }
    Err(ModeError::NotFound(
        "it was not reached in the allowed number of iterations",
    ))
}

/// The two-loop recursion: approximate inverse curvature times gradient.
fn direction(grad: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q = grad.to_vec();
    let mut weights = vec![0.0; pairs.len()];
    for (k, (moved, change, curvature)) in pairs.iter().enumerate().rev() {
        weights[k] = dot(moved, &q) / curvature;
        axpy(-weights[k], change, &mut q);
    }
    if let Some((_, change, curvature)) = pairs.back() {
        let scale = curvature / dot(change, change);
        for q in &mut q {
            *q *= scale;
        }
    }
    for (k, (moved, change, curvature)) in pairs.iter().enumerate() {
        let back = dot(change, &q) / curvature;
        axpy(weights[k] - back, moved, &mut q);
    }
    q
}
