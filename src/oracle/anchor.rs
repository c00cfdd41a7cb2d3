//! The anchor of control variates and preconditioners: a point near the mode with all that is known about it.

use std::ops::Range;

use rand::RngExt as _;

use crate::base::linalg::{Cholesky, NotPositiveDefinite, axpy, symmetric_eigen};
use crate::base::rng::{ChainRng, Purpose, stream};
use crate::models::{AnchorRows, Model, Rows};

/// Rows from which the covariance of scores is estimated; its relative error is then about 1 %.
const NOISE_ROWS: usize = 20_000;
/// Rows from which the covariance of score differences is estimated, over all points together.
const DIFFERENCE_ROWS: usize = 40_000;
/// The same for one point, at least.
const DIFFERENCE_ROWS_LEAST: usize = 50;

/// A point û, the gradient of the log likelihood there, and the curvature of the log posterior.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// û, length D.
    pub u: Vec<f64>,
    /// Σ ∇ log p(y_i|û) over all rows, length D.
    pub grad_log_lik: Vec<f64>,
    /// H = −∇² log posterior at û, row-major D×D.
    pub hessian: Vec<f64>,
    /// Cholesky factor of H.
    pub factor: Cholesky,
    /// Posterior covariance of the quadratic approximation, H⁻¹.
    pub covariance: Vec<f64>,
    /// Per-row data of the model at û.
    pub rows: AnchorRows,
    /// ρ = largest eigenvalue of H^{-1/2} N C H^{-1/2}, with C the covariance of one row's score at û: 1 for a
    /// well-specified model with a weak prior. A minibatch of B rows adds gradient noise (N/B) ρ in whitened units.
    pub noise_ratio: f64,
    /// H^{-1/2} N C H^{-1/2} itself as L⁻¹ N C L⁻ᵀ with H = L L', row-major D×D: times N/B it is the noise covariance of a
    /// plain minibatch gradient in whitened units.
    pub score_noise: Vec<f64>,
    /// Smallest and largest eigenvalue of H.
    pub curvature_range: (f64, f64),
    /// Noise of control-variate gradients at a typical distance from û, row-major D×D, in rows: with the average over
    /// N(û, H⁻¹) of the covariance C_Δ of one row's score difference this is N² L⁻¹ C_Δ L⁻ᵀ, with H = L L'. Divided
    /// by B it is the noise covariance of a minibatch gradient in whitened units.
    pub difference_noise: Vec<f64>,
    /// Largest eigenvalue of [`Self::difference_noise`], in rows: with so many rows per minibatch the noise of
    /// control-variate gradients has variance 1 in whitened units. About D for well-behaved predictors.
    pub difference_rows: f64,
}

impl Anchor {
    /// Everything about `u`: one pass for the gradient, one for the curvature, one for per-row data.
    ///
    /// # Errors
    /// The curvature is not positive definite: the posterior has no proper peak there.
    pub fn at(model: &dyn Model, u: &[f64]) -> Result<Self, NotPositiveDefinite> {
        let dim = u.len();
        let mut scratch = model.scratch();
        let mut grad_log_lik = vec![0.0; dim];
        model.grad_log_lik(u, Rows::All, &mut scratch, &mut grad_log_lik);
        let mut hessian = vec![0.0; dim * dim];
        model.add_neg_hessian_log_lik(u, Rows::All, &mut scratch, &mut hessian);
        model.add_neg_hessian_log_prior(u, &mut hessian);
        let factor = Cholesky::of(&hessian, dim)?;
        let rows = model.anchor_rows(u);
        let difference_noise = difference_noise(model, u, &factor, &rows);
        let score_noise = score_noise(model, u, &factor);
        let (curvatures, _directions) =
            symmetric_eigen(&hessian, dim).ok_or(NotPositiveDefinite)?;
        Ok(Self {
            covariance: factor.inverse(),
            noise_ratio: largest_eigenvalue(&score_noise, dim)
                .map_or(1.0, |value| value.max(f64::MIN_POSITIVE)),
            score_noise,
            curvature_range: (curvatures[0], curvatures[dim - 1]),
            difference_rows: largest_eigenvalue(&difference_noise, dim).map_or(0.0, |v| v.max(0.0)),
            difference_noise,
            rows,
            u: u.to_vec(),
            grad_log_lik,
            hessian,
            factor,
        })
    }

    /// What is known about the block `coordinates` given the others: for a normal posterior the curvature H_bb of the
    /// conditional is the same wherever the others are. Data per row stay behind, and the figures of gradient noise,
    /// which bound those of a block, stay as they are: blocks are sampled with exact passes.
    ///
    /// # Errors
    /// H_bb is not positive definite, for lack of precision.
    pub fn block(&self, coordinates: Range<usize>) -> Result<Self, NotPositiveDefinite> {
        let whole = self.u.len();
        let dim = coordinates.len();
        let cut = |matrix: &[f64]| -> Vec<f64> {
            coordinates
                .clone()
                .flat_map(|i| &matrix[i * whole..][coordinates.clone()])
                .copied()
                .collect()
        };
        let hessian = cut(&self.hessian);
        let factor = Cholesky::of(&hessian, dim)?;
        let (curvatures, _directions) =
            symmetric_eigen(&hessian, dim).ok_or(NotPositiveDefinite)?;
        Ok(Self {
            u: self.u[coordinates.clone()].to_vec(),
            grad_log_lik: self.grad_log_lik[coordinates.clone()].to_vec(),
            covariance: factor.inverse(),
            factor,
            hessian,
            rows: AnchorRows::default(),
            noise_ratio: self.noise_ratio,
            curvature_range: (curvatures[0], curvatures[dim - 1]),
            score_noise: cut(&self.score_noise),
            difference_noise: cut(&self.difference_noise),
            difference_rows: self.difference_rows,
        })
    }

    /// Standard deviations of the quadratic approximation, length D.
    pub fn sds(&self) -> Vec<f64> {
        let dim = self.u.len();
        (0..dim)
            .map(|j| self.covariance[j * dim + j].sqrt())
            .collect()
    }
}

/// See [`Anchor::score_noise`]; the identity, that of a well-specified model, where rows are too few to tell.
fn score_noise(model: &dyn Model, u: &[f64], factor: &Cholesky) -> Vec<f64> {
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut covariance = vec![0.0; dim * dim];
    if num_obs < 2 {
        for diagonal in covariance.iter_mut().step_by(dim + 1) {
            *diagonal = 1.0;
        }
        return covariance;
    }
    let mut rng = stream(0, 0, Purpose::Data);
    let rows = spread_rows(num_obs, NOISE_ROWS, &mut rng);
    let mut scores = vec![0.0; rows.len() * dim];
    model.scores(u, Rows::Pick(&rows), &mut model.scratch(), &mut scores);
    add_whitened_covariance(factor, &mut scores, num_obs as f64, &mut covariance);
    covariance
}

/// See [`Anchor::difference_noise`]. The average over the quadratic approximation N(û, H⁻¹) uses the 2D points
/// û ± sqrt(D) L⁻ᵀ e_j, which are exact for functions of degree three, and score differences grow linearly.
fn difference_noise(
    model: &dyn Model,
    u: &[f64],
    factor: &Cholesky,
    anchor_rows: &AnchorRows,
) -> Vec<f64> {
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut noise = vec![0.0; dim * dim];
    if num_obs < 2 {
        return noise;
    }
    let points = 2 * dim;
    let per_point = (DIFFERENCE_ROWS / points).max(DIFFERENCE_ROWS_LEAST);
    let mut rng = stream(0, 1, Purpose::Data);
    let mut scratch = model.scratch();
    let mut scores = Vec::new();
    let mut point = vec![0.0; dim];
    let weight = (num_obs as f64).powi(2) / points as f64;
    for j in 0..points {
        point.fill(0.0);
        point[j / 2] = (dim as f64).sqrt() * if j % 2 == 0 { 1.0 } else { -1.0 };
        factor.solve_lower_transpose(&mut point);
        axpy(1.0, u, &mut point);
        let rows = spread_rows(num_obs, per_point, &mut rng);
        scores.clear();
        scores.resize(rows.len() * dim, 0.0);
        let rows = Rows::Pick(&rows);
        model.score_differences(&point, rows, anchor_rows, &mut scratch, &mut scores);
        add_whitened_covariance(factor, &mut scores, weight, &mut noise);
    }
    noise
}

/// At most `count` different rows, evenly spread. Evenly spaced rows could follow a period of the data, so the
/// offset within each stretch is random.
fn spread_rows(num_obs: usize, count: usize, rng: &mut ChainRng) -> Vec<u32> {
    let count = count.min(num_obs);
    (0..count)
        .map(|k| {
            let (from, to) = (k * num_obs / count, (k + 1) * num_obs / count);
            rng.random_range(from..to) as u32
        })
        .collect()
}

/// ADDS `weight` times the covariance of whitened scores L⁻¹ s to `out`; `scores` (B×D) are overwritten.
fn add_whitened_covariance(factor: &Cholesky, scores: &mut [f64], weight: f64, out: &mut [f64]) {
    let dim = factor.dim();
    let count = (scores.len() / dim) as f64;
    for score in scores.chunks_exact_mut(dim) {
        factor.solve_lower(score);
    }
    let mut mean = vec![0.0; dim];
    for score in scores.chunks_exact(dim) {
        axpy(1.0 / count, score, &mut mean);
    }
    for score in scores.chunks_exact_mut(dim) {
        axpy(-1.0, &mean, score);
        for i in 0..dim {
            let row = &mut out[i * dim..(i + 1) * dim];
            axpy(weight * score[i] / (count - 1.0), score, row);
        }
    }
}

fn largest_eigenvalue(a: &[f64], dim: usize) -> Option<f64> {
    symmetric_eigen(a, dim).map(|(values, _vectors)| values[dim - 1])
}
