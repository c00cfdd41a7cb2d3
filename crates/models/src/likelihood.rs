//! Log densities that are a prior plus a sum over rows of data.

use super::prior::PriorRows;
use super::{Covariates, LogDensity};
use crate::numerics::elementary::{LANES, Lane};
use ergodic_base::linalg::{add_outer_products, axpy};

/// Rows in a block ([`Rows::Blocks`]): enough for memory to be read in order, few enough for the blocks of a shuffled table to be
/// independent.
pub const BLOCK_ROWS: usize = LANES;

/// Which rows of the design a call concerns.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// All N rows.
    All,
    /// `len` rows from `start`.
    Span {
        /// First row.
        start: usize,
        /// Number of rows.
        len: usize,
    },
    /// The listed rows, repeats allowed.
    Pick(&'a [u32]),
    /// Whole blocks of [`BLOCK_ROWS`] neighbours, repeats allowed: block b are the rows from b × [`BLOCK_ROWS`] on.
    Blocks(&'a [u32]),
}

impl Rows<'_> {
    /// Number of rows, given that there are `num_obs` in all.
    pub fn len(&self, num_obs: usize) -> usize {
        match self {
            Self::All => num_obs,
            Self::Span { len, .. } => *len,
            Self::Pick(rows) => rows.len(),
            Self::Blocks(blocks) => blocks.len() * BLOCK_ROWS,
        }
    }

    /// The first row of one stretch of neighbours; `None` of rows and blocks that are picked.
    #[inline]
    pub fn start(&self) -> Option<usize> {
        match self {
            Self::All => Some(0),
            Self::Span { start, .. } => Some(*start),
            Self::Pick(_) | Self::Blocks(_) => None,
        }
    }

    /// The `k`-th row.
    #[inline]
    pub fn get(&self, k: usize) -> usize {
        match self {
            Self::All => k,
            Self::Span { start, .. } => start + k,
            Self::Pick(rows) => rows[k] as usize,
            Self::Blocks(blocks) => row_of_block(blocks, k),
        }
    }

    /// The number of the block that the [`BLOCK_ROWS`] rows from the `k`-th on are, if they are one; `k` is a multiple of them.
    #[inline(always)]
    pub(crate) fn block(&self, k: usize) -> Option<usize> {
        match self {
            Self::Pick(rows) => whole_block(&rows[k..][..BLOCK_ROWS]),
            Self::Blocks(blocks) => Some(blocks[k / BLOCK_ROWS] as usize),
            Self::All | Self::Span { .. } => {
                let first = self.get(k);
                first
                    .is_multiple_of(BLOCK_ROWS)
                    .then_some(first / BLOCK_ROWS)
            }
        }
    }
}

/// The `k`-th row of these blocks.
#[inline(always)]
pub(crate) fn row_of_block(blocks: &[u32], k: usize) -> usize {
    blocks[k / BLOCK_ROWS] as usize * BLOCK_ROWS + k % BLOCK_ROWS
}

/// The number of the block of neighbours that these rows are, if they are one.
#[inline(always)]
pub(crate) fn whole_block(rows: &[u32]) -> Option<usize> {
    let first = rows[0];
    let neighbours = || rows.iter().zip(first..).all(|(&row, next)| row == next);
    (first.is_multiple_of(BLOCK_ROWS as u32) && neighbours()).then_some(first as usize / BLOCK_ROWS)
}

/// Working memory of one chain, reused for ever so that steps do not allocate. Models size it themselves.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Rows of the current tile, or whatever the model keeps per tile.
    pub tile: Vec<f64>,
    /// Accumulators of the gradient.
    pub lanes: Vec<f64>,
    /// Rows of a stretch that is passed over one by one.
    pub stretch: Vec<u32>,
    /// Accumulators of products of scores, made by the first pass that needs them.
    pub products: Vec<f64>,
    /// A vector of length D or Q.
    pub vector: Vec<f64>,
    /// Counts and places of rows, for models that sort them.
    pub index: Vec<u32>,
    /// Rows of a shard by their places among all rows.
    pub(super) places: Vec<u32>,
    /// Scores of rows at the centre.
    pub(super) at_centre: Vec<f64>,
}

/// Centre data that a model keeps per row, so that a difference of gradients costs one pass.
#[derive(Clone, Debug, Default)]
pub struct CentreRows {
    /// The centre û, length D.
    pub u: Vec<f64>,
    /// Model-specific numbers per row at û, such as residuals; may be empty.
    pub per_row: Vec<f64>,
}

/// A log density that is a log prior plus a log likelihood over any set of rows, with gradients.
///
/// The likelihood is never scaled here: only the oracle multiplies by N/B, and prior and likelihood are separate
/// calls, so that a prior multiplied by N/B (an erratum of the literature) cannot be written by accident.
pub trait RowLikelihood: LogDensity {
    /// N, the number of rows.
    fn num_obs(&self) -> usize;
    /// Working memory for one chain.
    fn scratch(&self) -> Scratch;

    /// log p(θ(u)) + log|∂θ/∂u|, dropping constants; overwrites `grad` (D).
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64;
    /// log p(θ) of the parameters that have a prior of their own, on the scale on which it is stated: without |∂θ/∂u|, and
    /// without the distribution of effects of groups, which is part of the model; constants dropped. Power scaling of the
    /// prior raises this. `None` for a model that does not say.
    fn log_prior_density(&self, _u: &[f64]) -> Option<f64> {
        None
    }

    /// Unscaled Σ log p(y_i|θ(u)) over `rows`; ADDS its gradient to `grad` (D).
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64;
    /// ADDS the gradient of Σ log p(y_i|θ(u)) over `rows` to `grad` (D), which can be cheaper than [`Self::log_lik`].
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.log_lik(u, rows, scratch, grad);
    }
    /// What [`Self::log_lik`] of [`Rows::All`] costs, in gradients of single rows: N, or less where sums over all rows say all of them.
    fn cost_of_all(&self) -> usize {
        self.num_obs()
    }
    /// One log likelihood per row (B).
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]);
    /// One gradient per row, row-major (B×D).
    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]);

    /// ADDS the sum of the scores s of `rows` to `sum` (D), and the lower half of Σ s s' to the row-major D×D `products`.
    /// `scores` is working memory.
    fn score_moments(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        scores: &mut Vec<f64>,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        moments_of_scores(self, u, rows, scratch, scores, sum, products);
    }

    /// What [`Self::grad_difference`] and [`Self::score_differences`] need to know about the centre `u`.
    fn centre_rows(&self, u: &[f64]) -> CentreRows {
        CentreRows {
            u: u.to_vec(),
            per_row: Vec::new(),
        }
    }
    /// ADDS Σ (∇log p(y_i|u) − ∇log p(y_i|û)) over `rows` to `grad` (D). By default from a pass at each of both.
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.grad_log_lik(u, rows, scratch, grad);
        grad.iter_mut().for_each(|slope| *slope = -*slope);
        self.grad_log_lik(&centre.u, rows, scratch, grad);
        grad.iter_mut().for_each(|slope| *slope = -*slope);
    }
    /// Differences of scores from those at the centre, one per row (B×D). By default from the scores at both.
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.scores(u, rows, scratch, out);
        let mut at_centre = std::mem::take(&mut scratch.at_centre);
        at_centre.resize(out.len(), 0.0);
        self.scores(&centre.u, rows, scratch, &mut at_centre);
        axpy(-1.0, &at_centre, out);
        scratch.at_centre = at_centre;
    }

    /// −∂²/∂u² of the log likelihood over `rows`, ADDED to the row-major D×D `hessian`.
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    );
    /// −∂²/∂u² of the log prior, ADDED to `hessian` (D×D). Where the prior has a kink, its best quadratic stand-in.
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]);

    /// The linear structure of the likelihood, where it has one.
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        None
    }
    /// The log prior as rows of the same kind, where it is a sum of functions of one linear combination of u each.
    fn prior_rows(&self) -> Option<&PriorRows> {
        None
    }
}

/// [`LogDensity::log_density`] of a density of rows: that of the prior plus those of all rows.
pub fn sum_of_rows(density: &dyn RowLikelihood, u: &[f64], grad: &mut [f64]) -> f64 {
    let log_prior = density.log_prior(u, grad);
    log_prior + density.log_lik(u, Rows::All, &mut density.scratch(), grad)
}

/// [`RowLikelihood::score_moments`] from all scores.
pub fn moments_of_scores<L: RowLikelihood + ?Sized>(
    density: &L,
    u: &[f64],
    rows: Rows<'_>,
    scratch: &mut Scratch,
    scores: &mut Vec<f64>,
    sum: &mut [f64],
    products: &mut [f64],
) {
    let dim = sum.len();
    scores.resize(rows.len(density.num_obs()) * dim, 0.0);
    density.scores(u, rows, scratch, scores);
    for score in scores.chunks_exact(dim) {
        axpy(1.0, score, sum);
    }
    add_outer_products(scores, dim, products);
}

/// The view of a likelihood in which row i depends on u through one number, its linear predictor z_i = a_i'u + o_i.
///
/// Samplers that bound or expand the likelihood row by row need this structure ([`RowLikelihood::linear_rows`]).
pub trait LinearRows: Sync {
    /// a_i (D), up to a sign that log p of the row takes into account.
    fn covariates(&self, row: usize) -> Covariates<'_>;
    /// z_i at `u`.
    fn predictor(&self, row: usize, u: &[f64]) -> f64;
    /// log p of row i, its first and its second derivative in z, at `z`.
    fn derivatives(&self, row: usize, z: f64) -> [f64; 3];
    /// log p of B rows from row `first` on and its derivatives ([`Self::derivatives`]) at each of eight `z` per row (B).
    fn derivatives_at(&self, first: usize, z: &[Lane], out: &mut [[Lane; 3]]) {
        for (row, (z, out)) in (first..).zip(z.iter().zip(out)) {
            *out = self.derivatives(row, z[0]).map(|value| [value; LANES]);
            for lane in 1..LANES {
                // Who asks for fewer fills up with the first.
                if z[lane] != z[0] {
                    for (out, value) in out.iter_mut().zip(self.derivatives(row, z[lane])) {
                        out[lane] = value;
                    }
                }
            }
        }
    }
    /// ∂ log p/∂z at `u`, one per row (B).
    fn slopes(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            *out = self.derivatives(row, self.predictor(row, u))[1];
        }
    }
    /// −∂² log p/∂z² at `u`, one per row (B).
    fn curvatures(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            *out = -self.derivatives(row, self.predictor(row, u))[2];
        }
    }
    /// The largest |∂ log p/∂z| over all z, infinite if there is none.
    fn slope_bound(&self, row: usize) -> f64;
    /// The largest |∂² log p/∂z²| over all z, infinite if there is none.
    fn curvature_bound(&self, row: usize) -> f64;

    /// z, log p and ∂ log p/∂z at `u`, one triple per row of `rows` (B). A row's triple does not depend on its
    /// neighbours.
    fn row_terms(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            let z = self.predictor(row, u);
            let [log_p, slope, _second] = self.derivatives(row, z);
            *out = [z, log_p, slope];
        }
    }
    /// ADDS Σ w_k a_k over `rows` to `grad` (D), with one weight per row (B).
    fn add_weighted_covariates(&self, rows: Rows<'_>, weights: &[f64], grad: &mut [f64]) {
        for (k, &weight) in weights.iter().enumerate() {
            self.covariates(rows.get(k)).add_to(weight, grad);
        }
    }
    /// The smallest and the largest −∂² log p/∂z² over all z; rows that are log-concave can say more than the bound does.
    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let bound = self.curvature_bound(row);
        [-bound, bound]
    }
    /// The largest |∂³ log p/∂z³| over all z, infinite if there is none or it is not known.
    fn third_bound(&self, _row: usize) -> f64 {
        f64::INFINITY
    }
}
