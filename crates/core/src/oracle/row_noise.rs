//! What minibatches add to gradients at a centre: the noise of single rows, plain and with control variates.
//!
//! Measured only where it is asked for: samplers that look at all rows, or whose subsamples are of another kind, do without.

use std::thread;

use rand::RngExt as _;

use super::Centre;
use super::centre::{largest_eigenvalue, scaled_range, submatrix};
use super::lipschitz::weighted_difference_noise;
use super::minibatch::Scheme;
use crate::models::{RowLikelihood, Rows};
use ergodic_base::linalg::{Cholesky, add_outer_products, axpy};
use ergodic_base::{ChainRng, Purpose, stream};

/// Rows from which the covariance of scores is estimated; its relative error is then about 1 %.
const SCORE_ROWS: usize = 20_000;

/// Rows from which the covariance of score differences is estimated, over all points together.
pub(super) const DIFFERENCE_ROWS: usize = 40_000;
/// Rows from which the covariance of score differences is estimated at one point, at least.
pub(super) const DIFFERENCE_ROWS_LEAST: usize = 50;
/// Points times squared coordinates at most: a few seconds of work. Up to 400 coordinates all 2D points are within it.
const POINTS_WORK: usize = 800 * 400 * 400;

/// The noise of single rows at a centre û with curvature H = L L'.
#[derive(Clone, Debug)]
pub struct RowNoise {
    /// H^{-1/2} N C H^{-1/2} as L⁻¹ N C L⁻ᵀ, with C the covariance of one row's score at û, row-major D×D: times N/B it is the noise
    /// covariance of a plain minibatch gradient in whitened units.
    pub scores: Vec<f64>,
    /// ρ = largest eigenvalue of [`Self::scores`]: 1 for a well-specified model with a weak prior. A minibatch of B rows adds gradient
    /// noise (N/B) ρ in whitened units.
    pub ratio: f64,
    /// Variance over rows of one row's score at û, per coordinate, length D.
    pub score_variance: Vec<f64>,
    /// Largest over smallest eigenvalue of G^{1/2} H G^{1/2}, G = diag(score variance)^{-1/2}: how much slower the slowest
    /// direction is than the stiffest one where each coordinate is scaled by the spread of its own gradients.
    pub rms_condition: f64,
    /// Noise of control-variate gradients at a typical distance from û, row-major D×D, in rows: with the average over
    /// N(û, H⁻¹) of the covariance C_Δ of one row's score difference this is N² L⁻¹ C_Δ L⁻ᵀ. Divided by B it is the noise
    /// covariance of a minibatch gradient in whitened units.
    pub differences: Vec<f64>,
    /// κ = largest eigenvalue of [`Self::differences`], in rows: with that many rows per minibatch the noise of
    /// control-variate gradients has variance 1 in whitened units. About D for well-behaved predictors; infinite where scores at a
    /// typical distance are no numbers.
    pub difference_rows: f64,
    /// [`Self::differences`] with rows chosen by the Lipschitz constants of their gradients ([`super::AliasTable`]); `None` for
    /// models that do not tell them.
    pub weighted_differences: Option<Vec<f64>>,
    /// Largest eigenvalue of [`Self::weighted_differences`], in rows.
    pub weighted_difference_rows: Option<f64>,
}

impl RowNoise {
    /// Of the rows of `model` at its `centre`.
    pub(super) fn measured(model: &dyn RowLikelihood, centre: &Centre) -> Self {
        // Threads of their own: one of a pool that waits here could take up a chain that waits for the same noise.
        let (weighted, (differences, scores)) = thread::scope(|scope| {
            let weighted = scope.spawn(|| weighted_difference_noise(model, centre));
            let rest = (model.num_obs() > 1)
                .then(|| (difference_noise(model, centre), score_noise(model, centre)))
                .unzip();
            let weighted = weighted
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (weighted, rest)
        });
        let weighted_difference_rows = (weighted.as_deref()).and_then(largest);
        let weighted = Self {
            weighted_differences: weighted,
            weighted_difference_rows,
            ..Self::of_one_row(&centre.hessian)
        };
        let (Some(differences), Some((scores, score_variance))) = (differences, scores) else {
            return weighted;
        };
        Self {
            ratio: largest(&scores).map_or(1.0, |value| value.max(f64::MIN_POSITIVE)),
            scores,
            rms_condition: rms_condition(&centre.hessian, &score_variance),
            score_variance,
            difference_rows: largest(&differences).unwrap_or(f64::INFINITY),
            differences,
            ..weighted
        }
    }

    /// Where rows are too few to tell: the noise of a well-specified model of curvature `hessian`.
    pub(crate) fn of_one_row(hessian: &[f64]) -> Self {
        let dim = hessian.len().isqrt();
        let mut scores = vec![0.0; dim * dim];
        for diagonal in scores.iter_mut().step_by(dim + 1) {
            *diagonal = 1.0;
        }
        let score_variance = vec![1.0; dim];
        Self {
            scores,
            ratio: 1.0,
            rms_condition: rms_condition(hessian, &score_variance),
            score_variance,
            differences: vec![0.0; dim * dim],
            difference_rows: 0.0,
            weighted_differences: None,
            weighted_difference_rows: None,
        }
    }

    /// Of the block `coordinates` with curvature `hessian`. The figures that bound those of a block stay as they are.
    pub(super) fn of_block(&self, hessian: &[f64], coordinates: &[usize]) -> Self {
        let cut = |matrix: &Vec<f64>| submatrix(matrix, coordinates);
        let score_variance: Vec<f64> = coordinates
            .iter()
            .map(|&j| self.score_variance[j])
            .collect();
        Self {
            scores: cut(&self.scores),
            rms_condition: rms_condition(hessian, &score_variance),
            score_variance,
            differences: cut(&self.differences),
            weighted_differences: self.weighted_differences.as_ref().map(cut),
            ..*self
        }
    }

    /// [`Self::differences`] or, for minibatches with unequal chances of rows, [`Self::weighted_differences`].
    pub(crate) fn centred(&self, scheme: Scheme) -> &[f64] {
        match (scheme, &self.weighted_differences) {
            (Scheme::Lipschitz, Some(noise)) => noise,
            _ => &self.differences,
        }
    }

    /// κ of gradients centred at the mode whose minibatches are drawn by `scheme`; `None` of a scheme that the model does not allow.
    pub(crate) fn centred_rows(&self, scheme: Scheme) -> Option<f64> {
        match scheme {
            Scheme::Lipschitz => self.weighted_difference_rows,
            _ => Some(self.difference_rows),
        }
    }
}

/// Largest eigenvalue of a covariance.
fn largest(noise: &[f64]) -> Option<f64> {
    largest_eigenvalue(noise, noise.len().isqrt()).map(|value| value.max(0.0))
}

/// See [`RowNoise::rms_condition`].
fn rms_condition(hessian: &[f64], score_variance: &[f64]) -> f64 {
    let scales: Vec<f64> = score_variance.iter().map(|v| v.powf(-0.25)).collect();
    scaled_range(hessian, &scales).map_or(1.0, |(slowest, stiffest)| stiffest / slowest)
}

/// See [`RowNoise::scores`]. The second value is the variance of the score itself, per coordinate.
fn score_noise(model: &dyn RowLikelihood, centre: &Centre) -> (Vec<f64>, Vec<f64>) {
    let Centre { u, factor, .. } = centre;
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut covariance = vec![0.0; dim * dim];
    let mut rng = stream(0, 0, Purpose::Data);
    let rows = spread_rows(num_obs, SCORE_ROWS, &mut rng);
    let mut scores = vec![0.0; rows.len() * dim];
    model.scores(u, Rows::Pick(&rows), &mut model.scratch(), &mut scores);
    let count = rows.len() as f64;
    let variances = (0..dim)
        .map(|j| {
            let column = || scores.iter().skip(j).step_by(dim);
            let mean = column().sum::<f64>() / count;
            column().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0)
        })
        .collect();
    add_whitened_covariance(factor, &mut scores, num_obs as f64, &mut covariance);
    (covariance, variances)
}

/// See [`RowNoise::differences`]. The average over the quadratic approximation N(û, H⁻¹) uses the 2D points
/// û ± sqrt(D) L⁻ᵀ e_j, which are exact for functions of degree three, and score differences grow linearly.
fn difference_noise(model: &dyn RowLikelihood, centre: &Centre) -> Vec<f64> {
    let Centre { u, factor, .. } = centre;
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut noise = vec![0.0; dim * dim];
    let per_point = (DIFFERENCE_ROWS / (2 * dim)).max(DIFFERENCE_ROWS_LEAST);
    let mut rng = stream(0, 1, Purpose::Data);
    let mut scratch = model.scratch();
    let mut scores = Vec::new();
    let points = typical_points(dim);
    let weight = (num_obs as f64).powi(2) / points.len() as f64;
    for k in points {
        let point = typical_point(u, factor, k);
        let rows = spread_rows(num_obs, per_point, &mut rng);
        scores.clear();
        scores.resize(rows.len() * dim, 0.0);
        let rows = Rows::Pick(&rows);
        model.score_differences(&point, rows, &centre.rows, &mut scratch, &mut scores);
        add_whitened_covariance(factor, &mut scores, weight, &mut noise);
    }
    noise
}

/// Numbers of the 2D points of [`typical_point`] that an average takes: all of them or, with many coordinates, as many as
/// [`POINTS_WORK`] allows, evenly spread. The largest of many directions is then rather over- than underestimated.
pub(super) fn typical_points(dim: usize) -> impl ExactSizeIterator<Item = usize> {
    let all = 2 * dim;
    let count = (POINTS_WORK / (dim * dim).max(1))
        .clamp(1, all.max(1))
        .min(all);
    (0..count).map(move |k| k * all / count)
}

/// Point `k` of the 2D points û ± sqrt(D) L⁻ᵀ e_j.
pub(super) fn typical_point(u: &[f64], factor: &Cholesky, k: usize) -> Vec<f64> {
    let dim = u.len();
    let mut point = vec![0.0; dim];
    point[k / 2] = (dim as f64).sqrt() * if k.is_multiple_of(2) { 1.0 } else { -1.0 };
    factor.solve_lower_transpose(&mut point);
    axpy(1.0, u, &mut point);
    point
}

/// At most `count` different rows, evenly spread. Evenly spaced rows could follow a period of the data, so the
/// offset within each stretch is random.
pub fn spread_rows(num_obs: usize, count: usize, rng: &mut ChainRng) -> Vec<u32> {
    let count = count.min(num_obs);
    (0..count)
        .map(|k| {
            let (from, to) = (k * num_obs / count, (k + 1) * num_obs / count);
            rng.random_range(from..to) as u32
        })
        .collect()
}

/// ADDS `weight` times the covariance of whitened scores L⁻¹ s to `out`; `scores` (B×D) are overwritten.
pub(super) fn add_whitened_covariance(
    factor: &Cholesky,
    scores: &mut [f64],
    weight: f64,
    out: &mut [f64],
) {
    let dim = factor.dim();
    let count = (scores.len() / dim) as f64;
    factor.solve_lower_rows(scores);
    let mut mean = vec![0.0; dim];
    for score in scores.chunks_exact(dim) {
        axpy(1.0 / count, score, &mut mean);
    }
    for score in scores.chunks_exact_mut(dim) {
        axpy(-1.0, &mean, score);
    }
    let mut products = vec![0.0; dim * dim];
    add_outer_products(scores, dim, &mut products);
    for i in 0..dim {
        for j in 0..dim {
            let product = products[i.max(j) * dim + i.min(j)];
            out[i * dim + j] += weight / (count - 1.0) * product;
        }
    }
}
