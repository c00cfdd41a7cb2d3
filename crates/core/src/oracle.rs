//! How a sampler sees a model: exact gradients, minibatch estimates, control variates.
//!
//! A concrete struct with one `match` per step, not a trait: there are few estimators and they change slowly.
//! `datum_grads` counts gradients of single rows, the fair x-axis for comparing samplers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::models::{Model, RowLikelihood, Rows, Scratch};
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::SettingError;

mod block;
pub(crate) mod centre;
mod estimation;
mod gradient_noise;
mod groups;
pub(crate) mod lipschitz;
pub(crate) mod minibatch;
pub(crate) mod passes;
pub(crate) mod row_noise;
mod row_sampling;
pub(crate) mod row_table;
mod second_order;

pub use block::BlockView;
pub use centre::Centre;
pub use estimation::Estimator;
use estimation::{Estimation, GradientCentre, centred_at};
pub use gradient_noise::{GradientNoise, NoiseSize};
pub use lipschitz::AliasTable;
pub use minibatch::{Minibatch, Scheme};
pub use row_noise::RowNoise;
pub(crate) use row_sampling::passes_of_chances;
pub use row_table::{Keep, RowTable};
use second_order::SecondOrder;

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
    /// A density or gradient was not a finite number where a chain was to start.
    #[error(
        "{what} at the starting point was not a finite number; start elsewhere with `run.start`, or check the bounds of parameters"
    )]
    NoStart {
        /// What was not finite.
        what: &'static str,
    },
    /// A matrix that must be positive definite was not.
    #[error(
        "{what} was not positive definite at iteration {iter}; a stronger prior helps, and a larger minibatch if the sampler uses one"
    )]
    NotPositiveDefinite {
        /// Which matrix.
        what: &'static str,
        /// Iteration, 0-based.
        iter: u64,
    },
    /// A bound that makes a sampler exact did not hold.
    #[error(
        "{what} exceeded its bound at iteration {iter}; the model's bounds are wrong, use another sampler and report it"
    )]
    BoundExceeded {
        /// What exceeded the bound.
        what: &'static str,
        /// Iteration, 0-based.
        iter: u64,
    },
    /// The model lacks what the sampler needs; samplers refuse such models beforehand.
    #[error("the model has no {0}, which the sampler needs")]
    Lacks(&'static str),
    /// A sampler that works within another refused its settings.
    #[error(transparent)]
    Setting(SettingError),
    /// The run was stopped during the step; the step must be forgotten.
    #[error("the step was interrupted")]
    Interrupted,
}

impl StepError {
    /// [`Self::NonFinite`] of `what` at iteration `iter`.
    pub const fn not_finite(what: &'static str, iter: u64) -> Self {
        Self::NonFinite { what, iter }
    }

    /// [`Self::NotPositiveDefinite`] of `what` at iteration `iter`.
    pub const fn not_positive(what: &'static str, iter: u64) -> Self {
        Self::NotPositiveDefinite { what, iter }
    }
}

/// One chain's view of a model.
pub struct Oracle {
    model: Arc<dyn Model>,
    centre: Option<Arc<Centre>>,
    /// How gradients are estimated.
    estimation: Estimation,
    scratch: Scratch,
    batch_grad: Vec<f64>,
    chunk_sums: Vec<f64>,
    parallel: bool,
    interrupt: Arc<AtomicBool>,
    /// The block that is all that is seen, where there is one ([`Self::within`]).
    view: Option<BlockView>,
    /// Gradients of single rows computed so far.
    pub datum_grads: u64,
}

impl Oracle {
    /// A view of `model`. `centre` is the mode and its curvature where known; `parallel` allows exact passes to use
    /// idle threads (the result does not depend on it); raising `interrupt` ends an exact pass early.
    pub fn new(
        model: Arc<dyn Model>,
        centre: Option<Arc<Centre>>,
        parallel: bool,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        let dim = model.dim();
        let chunks = model.num_obs().div_ceil(CHUNK_ROWS);
        Self {
            scratch: model
                .rows()
                .map_or_else(Scratch::default, RowLikelihood::scratch),
            estimation: Estimation::of_all_rows(model.num_obs()),
            batch_grad: vec![0.0; dim],
            chunk_sums: vec![0.0; chunks * (dim + 1)],
            datum_grads: 0,
            view: None,
            model,
            centre,
            parallel,
            interrupt,
        }
    }

    /// A view of another model, such as a shard of this one, with its `centre` where known: it uses the same threads and ends when
    /// the same run is stopped.
    pub(crate) fn for_model(&self, model: Arc<dyn Model>, centre: Option<Arc<Centre>>) -> Self {
        Self::new(model, centre, self.parallel, Arc::clone(&self.interrupt))
    }

    /// The model.
    pub fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The model, to be kept beyond this oracle.
    pub(crate) fn shared_model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// The density by its rows.
    ///
    /// # Errors
    /// The model has none.
    pub fn rows(&self) -> Result<&dyn RowLikelihood, StepError> {
        self.model.rows().ok_or(StepError::Lacks("rows of data"))
    }

    /// The centre, if one was found.
    pub fn centre(&self) -> Option<&Arc<Centre>> {
        match &self.view {
            Some(view) => view.centre.as_ref(),
            None => self.centre.as_ref(),
        }
    }

    /// D; within a block, its length.
    pub fn dim(&self) -> usize {
        match &self.view {
            Some(view) => view.coordinates().len(),
            None => self.model.dim(),
        }
    }

    /// N.
    pub fn num_obs(&self) -> usize {
        self.model.num_obs()
    }

    /// Chooses how [`Self::grad`] estimates. Control variates need a centre; without one the estimate is plain until
    /// [`Self::centre_at`] says where they are centred. Unequal
    /// chances of rows need control variates and Lipschitz constants; without them all chances are equal.
    pub fn set_estimator(&mut self, estimator: Estimator, batch: usize, scheme: Scheme) {
        let estimator = if self.centre.is_some() {
            estimator
        } else {
            Estimator::Plain
        };
        let chances = match (&self.centre, estimator, scheme) {
            (Some(centre), Estimator::ControlVariate, Scheme::Lipschitz) => {
                self.model.rows().and_then(|rows| centre.chances(rows))
            }
            _ => None,
        };
        let minibatch = Minibatch::new(self.num_obs(), batch, scheme).with_chances(chances.clone());
        let weighed = match chances {
            Some(_) => minibatch.batch() * self.model.dim(),
            None => 0,
        };
        self.estimation = Estimation {
            estimator,
            minibatch,
            chances,
            centre: None,
            weighted_scores: vec![0.0; weighed],
            second_order: None,
        };
    }

    /// Centres gradients at `u` (D) where no mode is known, by control variates of first order, which need gradients alone. Costs a pass
    /// over the rows, and nothing where gradients are centred at `u` already.
    ///
    /// # Errors
    /// The model has no rows, or a block of the coordinates is seen.
    pub fn centre_at(&mut self, u: &[f64]) -> Result<(), StepError> {
        if self.view.is_some() {
            let lacks = "a mode, at which gradients within a block are centred";
            return Err(StepError::Lacks(lacks));
        }
        let estimation = &mut self.estimation;
        if !estimation.centre.as_ref().is_some_and(|it| it.is_at(u)) {
            let model = self.model.rows().ok_or(StepError::Lacks("rows of data"))?;
            estimation.centre = Some(GradientCentre::at(model, u, &mut self.scratch));
            estimation.estimator = Estimator::ControlVariate;
            self.datum_grads += self.model.num_obs() as u64;
        }
        Ok(())
    }

    /// Makes the control variates of [`Self::set_estimator`] those of second order, with equal chances of rows; without control variates
    /// nothing changes.
    pub fn expand_to_second_order(&mut self) {
        let estimation = &mut self.estimation;
        debug_assert!(estimation.chances.is_none(), "rows have equal chances");
        estimation.second_order = match (&self.centre, estimation.estimator, self.model.rows()) {
            (Some(centre), Estimator::ControlVariate, Some(rows)) => {
                Some(SecondOrder::at(centre, rows, estimation.minibatch.batch()))
            }
            _ => None,
        };
    }

    /// Rows per estimate.
    pub fn batch(&self) -> usize {
        self.estimation.minibatch.batch()
    }

    /// The minibatch scheme's own state, for saving and restoring.
    pub(crate) fn minibatch_mut(&mut self) -> &mut Minibatch {
        &mut self.estimation.minibatch
    }

    /// Draws a minibatch, whose rows replace those in `rows` and count as gradients.
    pub(crate) fn draw_rows(&mut self, rng: &mut ChainRng, rows: &mut Vec<u32>) {
        let num_obs = self.num_obs();
        let drawn = self.estimation.minibatch.draw(rng);
        rows.clear();
        rows.extend((0..drawn.len(num_obs)).map(|k| drawn.get(k) as u32));
        self.datum_grads += rows.len() as u64;
    }

    /// Unbiased estimate of ∇ log posterior at `u`; overwrites `grad` (D, or as long as the block that is seen). Of a density without
    /// rows it is the gradient itself, and NaN where there is no density.
    pub fn grad(&mut self, u: &[f64], rng: &mut ChainRng, grad: &mut [f64]) {
        let Some(mut view) = self.view.take() else {
            return self.grad_joint(u, rng, grad);
        };
        view.place(u);
        self.grad_joint(&view.u, rng, &mut view.grad);
        view.cut_grad(grad);
        self.view = Some(view);
    }

    fn grad_joint(&mut self, u: &[f64], rng: &mut ChainRng, grad: &mut [f64]) {
        let Some(model) = self.model.rows() else {
            return self.grad_of_whole(u, grad);
        };
        let rows = self.estimation.minibatch.draw(rng);
        let scale = self.model.num_obs() as f64 / rows.len(0) as f64;
        self.datum_grads += rows.len(0) as u64;
        self.batch_grad.fill(0.0);
        model.log_prior(u, grad);
        let estimator = self.estimation.estimator;
        match centred_at(
            estimator,
            self.estimation.centre.as_ref(),
            self.centre.as_deref(),
        ) {
            Some((centre, grad_log_lik)) => {
                match (&self.estimation.chances, rows) {
                    (Some(chances), Rows::Pick(picks)) => {
                        let scores = &mut self.estimation.weighted_scores;
                        let scratch = &mut self.scratch;
                        model.score_differences(u, rows, centre, scratch, scores);
                        for (score, &row) in scores.chunks_exact(grad.len()).zip(picks) {
                            axpy(chances.weight(row), score, &mut self.batch_grad);
                        }
                    }
                    _ => model.grad_difference(
                        u,
                        rows,
                        centre,
                        &mut self.scratch,
                        &mut self.batch_grad,
                    ),
                }
                axpy(1.0, grad_log_lik, grad);
                if let Some(second) = &mut self.estimation.second_order {
                    second.stand_at(u, grad);
                    second.add_rows(model, rows, &mut self.scratch, &mut self.batch_grad);
                }
            }
            None => model.grad_log_lik(u, rows, &mut self.scratch, &mut self.batch_grad),
        }
        axpy(scale, &self.batch_grad, grad);
    }

    /// The gradient of a density without rows, one evaluation.
    fn grad_of_whole(&mut self, u: &[f64], grad: &mut [f64]) {
        let Some(density) = self.model.density() else {
            return no_estimate(grad);
        };
        self.datum_grads += 1;
        if !density.log_density(u, grad).is_finite() {
            no_estimate(grad);
        }
    }

    /// Unbiased estimates of ∇ log posterior at two positions (D each) from the same minibatch, without control variates, which are exact for
    /// a density without rows; overwrites `grads` (D each).
    pub fn grad_pair(&mut self, at: [&[f64]; 2], rng: &mut ChainRng, grads: [&mut [f64]; 2]) {
        debug_assert!(self.view.is_none(), "pairs of gradients know no blocks");
        let Some(model) = self.model.rows() else {
            for (u, grad) in at.into_iter().zip(grads) {
                self.grad_of_whole(u, grad);
            }
            return;
        };
        let rows = self.estimation.minibatch.draw(rng);
        let scale = self.model.num_obs() as f64 / rows.len(0) as f64;
        for (u, grad) in at.into_iter().zip(grads) {
            self.datum_grads += rows.len(0) as u64;
            self.batch_grad.fill(0.0);
            model.log_prior(u, grad);
            model.grad_log_lik(u, rows, &mut self.scratch, &mut self.batch_grad);
            axpy(scale, &self.batch_grad, grad);
        }
    }

    /// Unbiased estimate (N/B) Σ w_i z_i of the counts of all categories; overwrites `counts` (K). NaN for models without
    /// the view [`Model::simplex`].
    pub fn counts(&mut self, rng: &mut ChainRng, counts: &mut [f64]) {
        let Some(view) = self.model.simplex() else {
            counts.fill(f64::NAN);
            return;
        };
        let rows = self.estimation.minibatch.draw(rng);
        let scale = self.model.num_obs() as f64 / rows.len(0) as f64;
        self.datum_grads += rows.len(0) as u64;
        counts.fill(0.0);
        view.add_counts(rows, counts);
        for count in counts {
            *count *= scale;
        }
    }

    /// The estimate of [`Self::grad`] and the B×D per-row scores (or score differences) it was made from, into `scores`,
    /// which is resized. With unequal chances of rows they are divided by N p_i, so that N/B times their sum is the estimate.
    pub fn grad_scores(
        &mut self,
        u: &[f64],
        rng: &mut ChainRng,
        grad: &mut [f64],
        scores: &mut Vec<f64>,
    ) {
        debug_assert!(self.view.is_none(), "scores of rows know no blocks");
        let dim = self.dim();
        let Some(model) = self.model.rows() else {
            return no_estimate(grad);
        };
        let rows = self.estimation.minibatch.draw(rng);
        let len = rows.len(0);
        let scale = self.model.num_obs() as f64 / len as f64;
        self.datum_grads += len as u64;
        scores.resize(len * dim, 0.0);
        model.log_prior(u, grad);
        let estimator = self.estimation.estimator;
        match centred_at(
            estimator,
            self.estimation.centre.as_ref(),
            self.centre.as_deref(),
        ) {
            Some((centre, grad_log_lik)) => {
                model.score_differences(u, rows, centre, &mut self.scratch, scores);
                if let (Some(chances), Rows::Pick(picks)) = (&self.estimation.chances, rows) {
                    for (score, &row) in scores.chunks_exact_mut(dim).zip(picks) {
                        let weight = chances.weight(row);
                        score.iter_mut().for_each(|s| *s *= weight);
                    }
                }
                axpy(1.0, grad_log_lik, grad);
                if let Some(second) = &mut self.estimation.second_order {
                    second.stand_at(u, grad);
                    second.add_each(model, rows, &mut self.scratch, scores);
                }
            }
            None => model.scores(u, rows, &mut self.scratch, scores),
        }
        self.batch_grad.fill(0.0);
        for score in scores.chunks_exact(dim) {
            axpy(1.0, score, &mut self.batch_grad);
        }
        axpy(scale, &self.batch_grad, grad);
    }

    /// The estimate of [`Self::grad`] by plain minibatches, and the covariance of the scores of its rows (divisor B − 1), into the
    /// lower half of the row-major D×D `covariance`; `scores` is working memory.
    pub fn grad_covariance(
        &mut self,
        u: &[f64],
        rng: &mut ChainRng,
        grad: &mut [f64],
        covariance: &mut [f64],
        scores: &mut Vec<f64>,
    ) {
        debug_assert!(self.view.is_none(), "scores of rows know no blocks");
        debug_assert!(
            self.estimation.estimator == Estimator::Plain,
            "of plain estimates only"
        );
        let dim = self.dim();
        let Some(model) = self.model.rows() else {
            return no_estimate(grad);
        };
        let rows = self.estimation.minibatch.draw(rng);
        let len = rows.len(0);
        self.datum_grads += len as u64;
        let count = len as f64;
        self.batch_grad.fill(0.0);
        covariance.fill(0.0);
        let (scratch, sum) = (&mut self.scratch, &mut self.batch_grad);
        model.score_moments(u, rows, scratch, scores, sum, covariance);
        for (i, line) in covariance.chunks_exact_mut(dim).enumerate() {
            for (product, other) in line[..=i].iter_mut().zip(&*sum) {
                *product = (*product - sum[i] * other / count) / (count - 1.0);
            }
        }
        model.log_prior(u, grad);
        axpy(self.model.num_obs() as f64 / count, sum, grad);
    }

    /// Exact log posterior (constants dropped) and gradient over all rows; overwrites `grad` (D).
    ///
    /// # Errors
    /// [`StepError::Interrupted`] when the run is stopped meanwhile.
    pub fn exact(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        let Some(mut view) = self.view.take() else {
            return self.exact_joint(u, grad);
        };
        view.place(u);
        let result = self.exact_joint(&view.u, &mut view.grad);
        view.cut_grad(grad);
        self.view = Some(view);
        result
    }

    /// −∂²/∂u² of the log posterior over all rows; overwrites the row-major `hessian` (D×D, or as long as the block that is seen).
    ///
    /// # Errors
    /// The model has no density.
    pub fn exact_curvature(&mut self, u: &[f64], hessian: &mut [f64]) -> Result<(), StepError> {
        self.datum_grads += self.num_obs() as u64;
        let density =
            (self.model.density()).ok_or(StepError::Lacks("density of its parameters"))?;
        let Some(view) = &mut self.view else {
            hessian.fill(0.0);
            density.add_neg_hessian(u, hessian);
            return Ok(());
        };
        view.place(u);
        let dim = self.model.dim();
        let mut whole = vec![0.0; dim * dim];
        density.add_neg_hessian(&view.u, &mut whole);
        let block = view.coordinates();
        let pairs = block
            .iter()
            .flat_map(|&i| block.iter().map(move |&j| i * dim + j));
        for (second, at) in hessian.iter_mut().zip(pairs) {
            *second = whole[at];
        }
        Ok(())
    }

    fn exact_joint(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        let (dim, num_obs) = (self.model.dim(), self.num_obs());
        let width = dim + 1;
        let density =
            (self.model.density()).ok_or(StepError::Lacks("density of its parameters"))?;
        let Some(model) = density.rows() else {
            self.datum_grads += 1;
            return Ok(density.log_density(u, grad));
        };
        let cost = model.cost_of_all();
        if cost < num_obs {
            self.datum_grads += cost as u64;
            let log_prior = model.log_prior(u, grad);
            return Ok(log_prior + model.log_lik(u, Rows::All, &mut self.scratch, grad));
        }
        let interrupt = &self.interrupt;
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
        let mut log_density = model.log_prior(u, grad);
        for sums in self.chunk_sums.chunks_exact(width) {
            log_density += sums[0];
            axpy(1.0, &sums[1..], grad);
        }
        Ok(log_density)
    }
}

/// Where there is nothing to estimate a gradient from: samplers refuse what is no number.
fn no_estimate(grad: &mut [f64]) {
    grad.fill(f64::NAN);
}

#[cfg(test)]
mod tests;
