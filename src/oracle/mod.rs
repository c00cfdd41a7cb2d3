//! How a sampler sees a model: exact gradients, minibatch estimates, control variates.
//!
//! A concrete struct with one `match` per step, not a trait: there are few estimators and they change slowly.
//! `datum_grads` counts gradients of single rows, the fair x-axis for comparing samplers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::base::linalg::axpy;
use crate::base::rng::ChainRng;
use crate::models::{Model, Rows, Scratch};

pub mod anchor;
pub mod minibatch;

pub use anchor::Anchor;
pub use minibatch::{Minibatch, Scheme};

/// Rows summed together in exact passes. Fixed, so that the order of additions, and with it every bit of the
/// result, does not depend on the number of threads.
const CHUNK_ROWS: usize = 4096;

/// Why a step could not be taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A density or gradient was not a finite number.
    #[error(
        "{what} was not a finite number at iteration {iter}; try a smaller step size or tighter priors"
    )]
    NonFinite {
        /// What was not finite.
        what: &'static str,
        /// Iteration, 0-based.
        iter: u64,
    },
    /// A matrix that must be positive definite was not.
    #[error(
        "{what} was not positive definite at iteration {iter}; a larger minibatch or a stronger prior helps"
    )]
    NotPositiveDefinite {
        /// Which matrix.
        what: &'static str,
        /// Iteration, 0-based.
        iter: u64,
    },
    /// The run was stopped during the step; the step must be forgotten.
    #[error("the step was interrupted")]
    Interrupted,
}

/// How gradients are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// ∇ log p(θ) + (N/B) Σ ∇ℓ_i(θ).
    Plain,
    /// ∇ log p(θ) + ∇ℓ(θ̂) + (N/B) Σ [∇ℓ_i(θ) − ∇ℓ_i(θ̂)] with the anchor θ̂ (000, eq. (3.3.1)).
    ControlVariate,
}

/// One chain's view of a model.
pub struct Oracle {
    model: Arc<dyn Model>,
    anchor: Option<Arc<Anchor>>,
    estimator: Estimator,
    minibatch: Minibatch,
    scratch: Scratch,
    batch_grad: Vec<f64>,
    chunk_sums: Vec<f64>,
    parallel: bool,
    interrupt: Arc<AtomicBool>,
    /// Gradients of single rows computed so far.
    pub datum_grads: u64,
}

impl Oracle {
    /// A view of `model`. `anchor` is the mode and its curvature where known; `parallel` allows exact passes to use
    /// idle threads (the result does not depend on it); raising `interrupt` ends an exact pass early.
    pub fn new(
        model: Arc<dyn Model>,
        anchor: Option<Arc<Anchor>>,
        parallel: bool,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        let dim = model.dim();
        let chunks = model.num_obs().div_ceil(CHUNK_ROWS);
        Self {
            scratch: model.scratch(),
            minibatch: Minibatch::new(model.num_obs(), model.num_obs(), Scheme::Iid),
            batch_grad: vec![0.0; dim],
            chunk_sums: vec![0.0; chunks * (dim + 1)],
            estimator: Estimator::Plain,
            datum_grads: 0,
            model,
            anchor,
            parallel,
            interrupt,
        }
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The anchor, if one was found.
    pub fn anchor(&self) -> Option<&Arc<Anchor>> {
        self.anchor.as_ref()
    }

    /// D.
    pub fn dim(&self) -> usize {
        self.model.dim()
    }

    /// N.
    pub fn num_obs(&self) -> usize {
        self.model.num_obs()
    }

    /// Chooses how [`Self::grad`] estimates. Control variates need an anchor; without one the estimate is plain.
    pub fn set_estimator(&mut self, estimator: Estimator, batch: usize, scheme: Scheme) {
        self.estimator = if self.anchor.is_some() {
            estimator
        } else {
            Estimator::Plain
        };
        self.minibatch = Minibatch::new(self.num_obs(), batch, scheme);
    }

    /// Rows per estimate.
    pub fn batch(&self) -> usize {
        self.minibatch.batch()
    }

    /// The minibatch scheme's own state, for saving and restoring.
    pub fn minibatch_mut(&mut self) -> &mut Minibatch {
        &mut self.minibatch
    }

    /// Unbiased estimate of ∇ log posterior at `u`; overwrites `grad` (D).
    pub fn grad(&mut self, u: &[f64], rng: &mut ChainRng, grad: &mut [f64]) {
        let rows = self.minibatch.draw(rng);
        let scale = self.model.num_obs() as f64 / rows.len(0) as f64;
        self.datum_grads += rows.len(0) as u64;
        self.batch_grad.fill(0.0);
        self.model.log_prior(u, grad);
        match (&self.anchor, self.estimator) {
            (Some(anchor), Estimator::ControlVariate) => {
                self.model.grad_difference(
                    u,
                    rows,
                    &anchor.rows,
                    &mut self.scratch,
                    &mut self.batch_grad,
                );
                axpy(1.0, &anchor.grad_log_lik, grad);
            }
            _ => self
                .model
                .grad_log_lik(u, rows, &mut self.scratch, &mut self.batch_grad),
        }
        axpy(scale, &self.batch_grad, grad);
    }

    /// Unbiased estimate (N/B) Σ w_i z_i of the counts of all categories; overwrites `counts` (K). NaN for models without
    /// the view [`Model::simplex`].
    pub fn counts(&mut self, rng: &mut ChainRng, counts: &mut [f64]) {
        let Some(view) = self.model.simplex() else {
            counts.fill(f64::NAN);
            return;
        };
        let rows = self.minibatch.draw(rng);
        let scale = self.model.num_obs() as f64 / rows.len(0) as f64;
        self.datum_grads += rows.len(0) as u64;
        counts.fill(0.0);
        view.add_counts(rows, counts);
        for count in counts {
            *count *= scale;
        }
    }

    /// The estimate of [`Self::grad`] and the B×D per-row scores (or score differences) it was made from, into `scores`,
    /// which is resized.
    pub fn grad_scores(
        &mut self,
        u: &[f64],
        rng: &mut ChainRng,
        grad: &mut [f64],
        scores: &mut Vec<f64>,
    ) {
        let dim = self.dim();
        let rows = self.minibatch.draw(rng);
        let len = rows.len(0);
        let scale = self.model.num_obs() as f64 / len as f64;
        self.datum_grads += len as u64;
        scores.resize(len * dim, 0.0);
        self.model.log_prior(u, grad);
        match (&self.anchor, self.estimator) {
            (Some(anchor), Estimator::ControlVariate) => {
                self.model
                    .score_differences(u, rows, &anchor.rows, &mut self.scratch, scores);
                axpy(1.0, &anchor.grad_log_lik, grad);
            }
            _ => self.model.scores(u, rows, &mut self.scratch, scores),
        }
        self.batch_grad.fill(0.0);
        for score in scores.chunks_exact(dim) {
            axpy(1.0, score, &mut self.batch_grad);
        }
        axpy(scale, &self.batch_grad, grad);
    }

    /// Exact log posterior (constants dropped) and gradient over all rows; overwrites `grad` (D).
    ///
    /// # Errors
    /// [`StepError::Interrupted`] when the run is stopped meanwhile.
    pub fn exact(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        let (dim, num_obs) = (self.dim(), self.num_obs());
        let width = dim + 1;
        let (model, interrupt) = (&self.model, &self.interrupt);
        let chunk = |index: usize, sums: &mut [f64], scratch: &mut Scratch| {
            if interrupt.load(Ordering::Relaxed) {
                return;
            }
            let start = index * CHUNK_ROWS;
            let rows = Rows::Span {
                start,
                len: CHUNK_ROWS.min(num_obs - start),
            };
            let (value, grad) = sums.split_at_mut(1);
            grad.fill(0.0);
            value[0] = model.log_lik(u, rows, scratch, grad);
        };
        if self.parallel && num_obs > 2 * CHUNK_ROWS {
            self.chunk_sums
                .par_chunks_mut(width)
                .enumerate()
                .for_each_init(
                    || model.scratch(),
                    |scratch, (index, sums)| chunk(index, sums, scratch),
                );
        } else {
            for (index, sums) in self.chunk_sums.chunks_exact_mut(width).enumerate() {
                chunk(index, sums, &mut self.scratch);
            }
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(StepError::Interrupted);
        }
        self.datum_grads += num_obs as u64;
        let mut log_density = self.model.log_prior(u, grad);
        for sums in self.chunk_sums.chunks_exact(width) {
            log_density += sums[0];
            axpy(1.0, &sums[1..], grad);
        }
        Ok(log_density)
    }
}

#[cfg(test)]
mod tests;
