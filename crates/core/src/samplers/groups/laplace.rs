//! The normal approximation of a group's conditional: its mode, found by Newton's method, and the curvature there.

use super::GroupTarget;
use crate::oracle::StepError;
use crate::samplers::StateVisitor;
use ergodic_base::linalg::{Cholesky, axpy, dot, quadratic_form};

/// Stop when another step would gain less than half of this, in nats. The last step is taken all the same, after which
/// the mode is known to a millionth of a standard deviation, wherever the search started.
const DECREMENT: f64 = 1e-7;
/// Conditionals are log-concave and the start is the last mode: usually two or three.
const MOST_ITERATIONS: u64 = 100;
/// Halvings of a step; beyond this it is below rounding.
const MOST_HALVINGS: u32 = 40;

/// Mode and curvature of a group's conditional, with working memory.
#[derive(Clone, Debug)]
pub(in crate::samplers) struct Laplace {
    /// The mode (P).
    pub mode: Vec<f64>,
    /// Factor of the curvature there.
    pub factor: Cholesky,
    /// Iterations of the last search.
    pub iterations: u64,
    hessian: Vec<f64>,
    grad: Vec<f64>,
    trial: Vec<f64>,
    trial_grad: Vec<f64>,
    step: Vec<f64>,
}

impl Laplace {
    /// Before the first search, which starts at `theta`.
    pub fn at(theta: &[f64]) -> Self {
        let dim = theta.len();
        Self {
            mode: theta.to_vec(),
            factor: Cholesky::empty(dim),
            iterations: 0,
            hessian: vec![0.0; dim * dim],
            grad: vec![0.0; dim],
            trial: vec![0.0; dim],
            trial_grad: vec![0.0; dim],
            step: vec![0.0; dim],
        }
    }

    /// Finds the mode of `target`, starting from the last one.
    ///
    /// # Errors
    /// [`StepError::NonFinite`], [`StepError::NotPositiveDefinite`]: the rows' curvature or Σ is not what it should be.
    pub fn find(&mut self, target: &mut GroupTarget<'_>, iter: u64) -> Result<(), StepError> {
        let mut value = target.value(&self.mode, &mut self.grad);
        for iteration in 1..=MOST_ITERATIONS {
            self.iterations = iteration;
            if !value.is_finite() {
                break;
            }
            target.curvature_of_rows(&self.mode, &mut self.hessian);
            axpy(1.0, target.precision(), &mut self.hessian);
            self.factor.factor(&self.hessian).map_err(|_not_positive| {
                StepError::not_positive("the curvature of a group's conditional", iter)
            })?;
            self.step.copy_from_slice(&self.grad);
            self.factor.solve(&mut self.step);
            let decrement = dot(&self.grad, &self.step);
            if decrement <= DECREMENT {
                axpy(1.0, &self.step, &mut self.mode);
                return Ok(());
            }
            let mut length = 1.0;
            for _ in 0..MOST_HALVINGS {
                self.trial.copy_from_slice(&self.mode);
                axpy(length, &self.step, &mut self.trial);
                let trial_value = target.value(&self.trial, &mut self.trial_grad);
                // Not lower but for the rounding of a long sum.
                if trial_value >= value - 1e-12 * value.abs() {
                    value = trial_value;
                    std::mem::swap(&mut self.mode, &mut self.trial);
                    std::mem::swap(&mut self.grad, &mut self.trial_grad);
                    break;
                }
                length *= 0.5;
            }
        }
        Err(StepError::not_finite(
            "the mode of a group's conditional, which was not found,",
            iter,
        ))
    }

    /// (θ − mode)'H(θ − mode); `work` (P) is overwritten.
    pub fn distance(&self, theta: &[f64], work: &mut [f64]) -> f64 {
        for (d, (t, m)) in work.iter_mut().zip(theta.iter().zip(&self.mode)) {
            *d = t - m;
        }
        quadratic_form(&self.hessian, work)
    }

    /// Visits what the next search starts from.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("mode", &mut self.mode);
    }
}
