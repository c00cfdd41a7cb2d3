//! The log likelihood from a subsample: expansion, difference estimator, block-Poisson estimator, blocks of rows.
//!
//! With z_i the linear predictor of row i, ẑ_i that at the control-variate centre û, and ℓ_i(z) = log p of the row, the control
//! variate of order two is q_i = ℓ_i(ẑ_i) + ℓ_i'(ẑ_i)(z_i − ẑ_i) + ½ ℓ_i''(ẑ_i)(z_i − ẑ_i)²; orders one and zero drop
//! its last terms (Dang et al. 2019, (11)). Its sum over all rows is A'(u − û) − ½ (u − û)'C(u − û) up to the constant Σ
//! ℓ_i(ẑ_i), which is left out everywhere. A row's difference d_i = ℓ_i − q_i has the gradient (ℓ_i'(z_i) − q_i'(z_i)) a_i.
//! Rows without a linear predictor are expanded in u itself, by their scores: [`rows`].
//!
//! Rows are drawn with probabilities p_i ([`Centre::difference_chances`]). Wherever differences of drawn rows appear below
//! they are those of their rows times 1/(N p_i), so that each has the mean Σ d_i/N.

use std::ops::Range;
use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson};

use super::MetricRows;
use crate::models::{RowLikelihood, Rows, Scratch};
use crate::oracle::{AliasTable, Centre, StepError};
use crate::samplers::StateVisitor;
use crate::samplers::full_data::hamiltonian::{LogDensity, Place};
use ergodic_base::linalg::{axpy, dot, matvec};
use ergodic_base::settings::SettingError;
use ergodic_base::{ChainRng, Streams};
use rows::RowMemory;
pub use rows::evaluations;

mod rows;

/// Standard deviations that the memory for a Poisson number of minibatches lies above its mean, and what is added for
/// small means: a number beyond has probability below 1e-15.
const POISSON_DEVIATIONS: f64 = 10.0;
const POISSON_EXTRA: f64 = 20.0;

/// Bytes of a gibibyte.
const GIBIBYTE: f64 = (1_u64 << 30) as f64;
/// Most bytes for the gradients of a chain's subsample: what `saga-ld` may keep, too.
const MOST_BYTES: f64 = 0.5 * GIBIBYTE;

/// Most minibatches that are kept room for where `mean` are expected.
fn most_batches(mean: f64) -> usize {
    (mean + POISSON_DEVIATIONS * mean.sqrt() + POISSON_EXTRA).ceil() as usize
}

/// The quadratic expansion of the log likelihood of all rows.
pub struct Expansion {
    /// The control-variate centre û (D).
    pub u: Vec<f64>,
    /// A: gradient of the log likelihood at û (D).
    pub grad: Vec<f64>,
    /// C: −∂² of the log likelihood at û, row-major D×D.
    pub curvature: Vec<f64>,
    order: usize,
    /// Chances of rows; `None` where all are the same.
    chances: Option<Arc<AliasTable>>,
    delta: Vec<f64>,
    product: Vec<f64>,
}

impl Expansion {
    /// The expansion of `order` 0, 1 or 2 at the centre, which knows gradient and curvature already; rows are drawn by their
    /// departures from it if `weighted`, and with equal chances else.
    pub fn new(order: usize, weighted: bool, model: &dyn RowLikelihood, centre: &Centre) -> Self {
        let dim = centre.u.len();
        Self {
            u: centre.u.clone(),
            grad: centre.grad_log_lik.clone(),
            curvature: centre.likelihood_curvature(model),
            order,
            chances: (weighted.then(|| centre.difference_chances(model, order))).flatten(),
            delta: vec![0.0; dim],
            product: vec![0.0; dim],
        }
    }

    /// The order of the expansion.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Expands at `u` instead: one pass for A, one for C; does not allocate. Chances of rows stay.
    pub fn move_to(&mut self, model: &dyn RowLikelihood, u: &[f64], scratch: &mut Scratch) {
        self.u.copy_from_slice(u);
        self.grad.fill(0.0);
        self.curvature.fill(0.0);
        model.grad_log_lik(u, Rows::All, scratch, &mut self.grad);
        model.add_neg_hessian_log_lik(u, Rows::All, scratch, &mut self.curvature);
    }

    /// Σ q_i − Σ ℓ_i(ẑ_i) at `u`; ADDS its gradient to `grad` (D).
    pub fn sum(&mut self, u: &[f64], grad: &mut [f64]) -> f64 {
        for ((delta, u), centre) in self.delta.iter_mut().zip(u).zip(&self.u) {
            *delta = u - centre;
        }
        let mut sum = 0.0;
        if self.order > 0 {
            sum += dot(&self.grad, &self.delta);
            axpy(1.0, &self.grad, grad);
        }
        if self.order > 1 {
            matvec(&self.curvature, &self.delta, &mut self.product);
            sum -= 0.5 * dot(&self.delta, &self.product);
            axpy(-1.0, &self.product, grad);
        }
        sum
    }

    /// A row.
    fn draw(&self, num_obs: u32, rng: &mut ChainRng) -> u32 {
        match &self.chances {
            Some(chances) => chances.draw(rng),
            None => rng.random_range(0..num_obs),
        }
    }

    /// 1/(N p_i) of a row.
    fn weight(&self, row: u32) -> f64 {
        (self.chances.as_ref()).map_or(1.0, |chances| chances.weight(row))
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("expansion_point", &mut self.u);
        visitor.slice("expansion_gradient", &mut self.grad);
        visitor.slice("expansion_curvature", &mut self.curvature);
    }
}

/// How differences of the subsample's rows make an estimate of the likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimator {
    /// exp(d̂ − σ̂²/2) with d̂ = (N/m) Σ d_i and σ̂² = N²/(m(m − 1)) Σ (d_i − d̄)² (Dang et al. 2019, (8), (10), (12)); m rows.
    /// They divide by m², whose mean is too small by σ²/m and leaves the log likelihood half of that too large.
    Difference {
        /// m.
        rows: usize,
    },
    /// e^{a+λ} Π (d̂_b − a)/λ over a Poisson(λ) number of minibatches b (Dang et al. 2019, (15); the λ products of a
    /// Poisson(1) number of factors each are one product of a Poisson(λ) number).
    BlockPoisson {
        /// Rows per minibatch.
        batch: usize,
        /// λ.
        factors: f64,
        /// a, from which estimates are counted.
        shift: f64,
    },
}

/// What squared departures of `count` differences are multiplied by to estimate the variance of `scale` times their sum without
/// bias. One difference has no departure.
fn variance_scale(scale: f64, count: usize) -> f64 {
    scale * scale * count as f64 / count.saturating_sub(1).max(1) as f64
}

/// An estimate of the log likelihood's part that the expansion leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// log of its absolute value.
    pub log: f64,
    /// Estimated variance of `log`.
    pub variance: f64,
    /// Sign of the estimated likelihood.
    pub sign: f64,
}

impl Estimator {
    /// Rows of a block of a fresh subsample of `blocks` blocks.
    fn draw_rows(&self, blocks: usize, rng: &mut ChainRng) -> usize {
        match *self {
            Self::Difference { rows } => rows / blocks,
            Self::BlockPoisson { batch, factors, .. } => {
                // A mean that is positive and finite is all the distribution asks for.
                let count = Poisson::new(factors / blocks as f64).map_or(0.0, |p| p.sample(rng));
                count as usize * batch
            }
        }
    }

    /// Most rows of `blocks` blocks, and of one block.
    fn most_rows(&self, blocks: usize) -> [usize; 2] {
        match *self {
            Self::Difference { rows } => [rows, rows / blocks],
            Self::BlockPoisson { batch, factors, .. } => {
                [factors, factors / blocks as f64].map(|mean| batch * most_batches(mean))
            }
        }
    }

    /// The estimate that differences `d` of the subsample make, with `num_obs` rows in all.
    pub fn estimate(&self, d: &[f64], num_obs: f64) -> Estimate {
        match *self {
            Self::Difference { .. } => {
                let scale = num_obs / d.len() as f64;
                let sum: f64 = d.iter().sum();
                let mean = sum / d.len() as f64;
                let squares: f64 = d.iter().map(|d| (d - mean) * (d - mean)).sum();
                let variance = variance_scale(scale, d.len()) * squares;
                Estimate {
                    log: scale * sum - 0.5 * variance,
                    variance,
                    sign: 1.0,
                }
            }
            Self::BlockPoisson {
                batch,
                factors,
                shift,
            } => {
                let mut estimate = Estimate {
                    log: shift + factors,
                    variance: 0.0,
                    sign: 1.0,
                };
                for d in d.chunks_exact(batch) {
                    let sum: f64 = d.iter().sum();
                    let factor = (num_obs / batch as f64 * sum - shift) / factors;
                    let log = factor.abs().ln();
                    estimate.log += log;
                    // The variance of a sum of a Poisson number of terms is the mean of their summed squares.
                    estimate.variance += log * log;
                    estimate.sign *= factor.signum();
                }
                estimate
            }
        }
    }

    /// ∂ log|estimate|/∂d_i for each row (m).
    pub fn weights(&self, d: &[f64], num_obs: f64, out: &mut [f64]) {
        match *self {
            Self::Difference { .. } => {
                let scale = num_obs / d.len() as f64;
                let slope = variance_scale(scale, d.len());
                let mean = d.iter().sum::<f64>() / d.len() as f64;
                for (out, d) in out.iter_mut().zip(d) {
                    *out = scale - slope * (d - mean);
                }
            }
            Self::BlockPoisson { batch, shift, .. } => {
                let scale = num_obs / batch as f64;
                for (out, d) in out.chunks_exact_mut(batch).zip(d.chunks_exact(batch)) {
                    out.fill(scale / (scale * d.iter().sum::<f64>() - shift));
                }
            }
        }
    }
}

/// The rows u in use, in blocks of which one is replaced at a time: the oldest stands first, so that the rows before and
/// after a replacement are two overlapping stretches of the same memory.
pub struct Subsample {
    estimator: Estimator,
    /// Rows in each block, the first to be replaced next (G).
    blocks: Vec<u64>,
    picks: Vec<u32>,
    /// What is kept of each besides.
    memory: RowMemory,
    /// Rows proposed, which stand after those in use.
    fresh: usize,
    /// Working memory, per row: d; weights.
    differences: Vec<f64>,
    weights: Vec<f64>,
    /// `picks` as the numbers that visitors take.
    visited: Vec<f64>,
}

impl Subsample {
    /// A first subsample of `num_blocks` blocks.
    pub fn draw(
        estimator: Estimator,
        num_blocks: usize,
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
        rng: &mut ChainRng,
    ) -> Self {
        let [all, one] = estimator.most_rows(num_blocks);
        let size = all + one;
        let mut new = Self {
            estimator,
            blocks: vec![0; num_blocks],
            picks: vec![0; size],
            memory: RowMemory::new(model, expansion.order, size),
            fresh: 0,
            differences: vec![0.0; size],
            weights: vec![0.0; size],
            visited: vec![0.0; size],
        };
        for _ in 0..num_blocks {
            if new.propose(expansion, model, scratch, rng) {
                new.accept();
            }
        }
        new
    }

    /// Refuses subsamples of `num_blocks` blocks whose scores, where those are kept, take more memory than a chain may have.
    ///
    /// # Errors
    /// More than [`MOST_BYTES`].
    pub fn check_size(
        estimator: Estimator,
        num_blocks: usize,
        model: &dyn RowLikelihood,
    ) -> Result<(), StepError> {
        let rows = estimator.most_rows(num_blocks).iter().sum();
        let bytes = RowMemory::bytes(model, rows);
        if bytes <= MOST_BYTES {
            return Ok(());
        }
        let why = format!(
            "comes to {rows} rows, whose gradients would take {:.1} GiB for each chain; choose fewer rows, or a sampler of all rows",
            bytes / GIBIBYTE
        );
        Err(StepError::Setting(SettingError::unfit("batch", why)))
    }

    /// Gradients of rows that evaluating one row costs.
    pub fn evaluations(&self) -> u64 {
        self.memory.evaluations()
    }

    /// Rows in use.
    pub fn len(&self) -> usize {
        self.blocks.iter().sum::<u64>() as usize
    }

    /// Rows of the block that was renewed last.
    pub fn block_rows(&self) -> usize {
        self.blocks.last().map_or(0, |&rows| rows as usize)
    }

    /// The rows in use.
    pub fn current(&self) -> Range<usize> {
        0..self.len()
    }

    /// Chooses the rows in use.
    #[cfg(test)]
    pub fn set_rows(&mut self, rows: &[u32]) {
        self.picks[..rows.len()].copy_from_slice(rows);
    }

    /// The rows in use.
    #[cfg(test)]
    pub fn rows(&self) -> &[u32] {
        &self.picks[self.current()]
    }

    /// The rows that would be in use if the proposal were accepted.
    pub fn proposed(&self) -> Range<usize> {
        self.blocks[0] as usize..self.len() + self.fresh
    }

    /// Draws rows to replace the oldest block; false if there is no memory for their number, which has probability below
    /// 1e-15.
    pub fn propose(
        &mut self,
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
        rng: &mut ChainRng,
    ) -> bool {
        let len = self.len();
        self.fresh = self.estimator.draw_rows(self.blocks.len(), rng);
        let range = len..len + self.fresh;
        if range.end > self.picks.len() {
            self.fresh = 0;
            return false;
        }
        let num_obs = model.num_obs() as u32;
        for pick in &mut self.picks[range.clone()] {
            *pick = expansion.draw(num_obs, rng);
        }
        self.expand(range, expansion, model, scratch);
        true
    }

    /// The proposed rows take the place of the oldest block.
    pub fn accept(&mut self) {
        let Range { start, end } = self.proposed();
        self.picks.copy_within(start..end, 0);
        self.memory.copy_to_front(start..end);
        self.differences.copy_within(start..end, 0);
        self.blocks.rotate_left(1);
        if let Some(last) = self.blocks.last_mut() {
            *last = self.fresh as u64;
        }
        self.fresh = 0;
    }

    /// The oldest block stays; it is the turn of the next.
    pub fn reject(&mut self) {
        let (len, first) = (self.len(), self.blocks[0] as usize);
        self.picks[..len].rotate_left(first);
        self.memory.rotate_left(len, first);
        self.differences[..len].rotate_left(first);
        self.blocks.rotate_left(1);
        self.fresh = 0;
    }

    /// Computes again what is known about rows at the control-variate centre.
    pub fn expand(
        &mut self,
        range: Range<usize>,
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
    ) {
        let rows = (range.start, &self.picks[range]);
        self.memory.expand(rows, expansion, model, scratch);
    }

    /// The subsample with values of rows alone, without gradients: [`Self::add_gradient`] then means nothing.
    pub fn of_values(self) -> Self {
        Self {
            memory: self.memory.of_values(),
            ..self
        }
    }

    /// Weighed differences and their gradients at `u` of the rows in `range`.
    pub fn evaluate(
        &mut self,
        range: Range<usize>,
        u: &[f64],
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
    ) {
        let rows = (range.start, &self.picks[range.clone()]);
        let differences = &mut self.differences[range];
        self.memory
            .evaluate(rows, u, expansion, model, scratch, differences);
    }

    /// The estimate from the rows in `range`, which were evaluated.
    pub fn estimate(&self, range: Range<usize>, num_obs: usize) -> Estimate {
        self.estimator
            .estimate(&self.differences[range], num_obs as f64)
    }

    /// ADDS the gradient of the log of the present estimate to `grad` (D); the rows in use were evaluated.
    pub fn add_gradient(&mut self, model: &dyn RowLikelihood, grad: &mut [f64]) {
        let len = self.len();
        let weights = &mut self.weights[..len];
        self.estimator
            .weights(&self.differences[..len], model.num_obs() as f64, weights);
        self.memory
            .add_weighted_gradients(&self.picks[..len], weights, model, grad);
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        for block in &mut self.blocks {
            visitor.counter("block_rows", block);
        }
        for (number, pick) in self.visited.iter_mut().zip(&self.picks) {
            *number = f64::from(*pick);
        }
        visitor.slice("subsample", &mut self.visited);
        for (number, pick) in self.visited.iter().zip(&mut self.picks) {
            *pick = *number as u32;
        }
        self.memory.visit(visitor);
    }
}

/// The estimated log posterior given a subsample: what trajectories follow.
pub struct EstimatedPosterior<'a> {
    model: &'a dyn RowLikelihood,
    expansion: &'a mut Expansion,
    subsample: &'a mut Subsample,
    scratch: &'a mut Scratch,
    /// Rows evaluated so far.
    pub rows: u64,
    /// The estimate of the last evaluation.
    pub last: Estimate,
}

impl LogDensity for EstimatedPosterior<'_> {
    fn log_density(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        let range = self.subsample.current();
        self.rows += range.len() as u64 * self.subsample.evaluations();
        self.subsample
            .evaluate(range, u, self.expansion, self.model, self.scratch);
        Ok(self.finish(u, grad))
    }
}

impl<'a> EstimatedPosterior<'a> {
    /// Nothing is evaluated yet.
    pub fn new(
        model: &'a dyn RowLikelihood,
        expansion: &'a mut Expansion,
        subsample: &'a mut Subsample,
        scratch: &'a mut Scratch,
    ) -> Self {
        Self {
            model,
            expansion,
            subsample,
            scratch,
            rows: 0,
            last: Estimate {
                log: 0.0,
                variance: 0.0,
                sign: 1.0,
            },
        }
    }

    /// Draws one block of the subsample anew given the position of `place` and accepts or rejects it (Dang et al. 2019, (5));
    /// sets density and gradient of `place` for the subsample that results. Returns the acceptance probability.
    ///
    /// # Errors
    /// [`StepError::NonFinite`] where the density or its gradient is not a finite number.
    pub fn renew(
        &mut self,
        place: &mut Place,
        iter: u64,
        streams: &mut Streams,
    ) -> Result<f64, StepError> {
        let (model, num_obs, expansion) = (self.model, self.model.num_obs(), &*self.expansion);
        let (subsample, scratch) = (&mut *self.subsample, &mut *self.scratch);
        let proposed = subsample.propose(expansion, model, scratch, &mut streams.batch);
        let all = 0..subsample.len() + subsample.fresh;
        // A fresh row is also evaluated at the control-variate centre.
        self.rows += all.len() as u64 * subsample.evaluations() + subsample.fresh as u64;
        subsample.evaluate(all, &place.u, expansion, model, scratch);
        let before = subsample.estimate(subsample.current(), num_obs).log;
        let after = subsample.estimate(subsample.proposed(), num_obs).log;
        let accept = if proposed && after.is_finite() {
            (after - before).exp().min(1.0)
        } else {
            0.0
        };
        if streams.noise.random::<f64>() < accept {
            subsample.accept();
        } else {
            subsample.reject();
        }
        place.log_density = self.finish(&place.u, &mut place.grad);
        let refuse = |what| Err(StepError::not_finite(what, iter));
        if !place.log_density.is_finite() {
            return refuse("the estimated log density");
        }
        if !place.grad.iter().all(|g| g.is_finite()) {
            return refuse("the gradient of the estimated log density");
        }
        Ok(accept)
    }

    /// Whether the curvature of the estimate at the control-variate centre depends on the rows in use.
    pub fn has_own_curvature(&self) -> bool {
        self.expansion.order < 2
    }

    /// Writes −∇² of the log posterior at the control-variate centre to `hessian` (D×D): of all rows, or of what those in use estimate,
    /// that of the estimate's variance left out. `of_row` (D×D) is working memory for the latter.
    pub fn curvature(&mut self, rows: MetricRows, hessian: &mut [f64], of_row: &mut [f64]) {
        let (model, expansion, subsample) = (self.model, &*self.expansion, &*self.subsample);
        if rows == MetricRows::All {
            hessian.copy_from_slice(&expansion.curvature);
        } else {
            let picks = &subsample.picks[subsample.current()];
            let scale = model.num_obs() as f64 / picks.len() as f64;
            hessian.fill(0.0);
            for row in picks {
                of_row.fill(0.0);
                let one = Rows::Pick(std::slice::from_ref(row));
                model.add_neg_hessian_log_lik(&expansion.u, one, self.scratch, of_row);
                axpy(scale * expansion.weight(*row), of_row, hessian);
            }
            self.rows += picks.len() as u64;
        }
        model.add_neg_hessian_log_prior(&expansion.u, hessian);
    }

    /// Log density and gradient at `u`, where the rows in use were evaluated.
    fn finish(&mut self, u: &[f64], grad: &mut [f64]) -> f64 {
        let num_obs = self.model.num_obs();
        self.last = self.subsample.estimate(self.subsample.current(), num_obs);
        let log_prior = self.model.log_prior(u, grad);
        let expanded = self.expansion.sum(u, grad);
        self.subsample.add_gradient(self.model, grad);
        log_prior + expanded + self.last.log
    }
}
