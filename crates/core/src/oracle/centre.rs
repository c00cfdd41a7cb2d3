//! The centre of control variates and preconditioners: a point near the mode with all that is known about it.

use std::sync::{Arc, OnceLock};

use rand::RngExt as _;

use super::lipschitz::{AliasTable, weighted_difference_noise};
use super::minibatch::Scheme;
use super::row_sampling::difference_chances;
use super::second_order::second_order_noise;
use crate::models::{CentreRows, LogDensity, RowLikelihood, Rows};
use ergodic_base::linalg::{
    Cholesky, NotPositiveDefinite, add_outer_products, axpy, symmetric_eigen,
};
use ergodic_base::rng::{ChainRng, Purpose, stream};

/// Rows from which the covariance of scores is estimated; its relative error is then about 1 %.
const NOISE_ROWS: usize = 20_000;
/// Rows from which the covariance of score differences is estimated, over all points together.
pub(super) const DIFFERENCE_ROWS: usize = 40_000;
/// Rows from which the covariance of score differences is estimated at one point, at least.
pub(super) const DIFFERENCE_ROWS_LEAST: usize = 50;
/// Points times squared coordinates at most: a few seconds of work. Up to 400 coordinates all 2D points are within it.
const POINTS_WORK: usize = 800 * 400 * 400;

/// A point û, the gradient of the log likelihood there, and the curvature of the log posterior.
#[derive(Clone, Debug)]
pub struct Centre {
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
    pub rows: CentreRows,
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
    /// [`Self::difference_noise`] with rows chosen by the Lipschitz constants of their gradients ([`AliasTable`]); `None` for
    /// models that do not tell them.
    pub weighted_difference_noise: Option<Vec<f64>>,
    /// Largest eigenvalue of [`Self::weighted_difference_noise`], in rows.
    pub weighted_difference_rows: Option<f64>,
    /// Variance over rows of one row's score at û, per coordinate, length D.
    pub score_variance: Vec<f64>,
    /// Largest over smallest eigenvalue of G^{1/2} H G^{1/2}, G = diag(score variance)^{-1/2}: how much slower the slowest
    /// direction is than the stiffest one where each coordinate is scaled by the spread of its own gradients.
    pub rms_condition: f64,
    /// Largest over smallest eigenvalue of H with every coordinate in units of its posterior standard deviation: what a
    /// metric of scales alone leaves.
    pub scaled_condition: f64,
    chances: OnceLock<Option<Arc<AliasTable>>>,
    /// By order of the expansion.
    difference_chances: [OnceLock<Option<Arc<AliasTable>>>; 3],
    second_order_noise: OnceLock<Vec<f64>>,
}

impl Centre {
    /// Everything about `u`: one pass for the gradient, one for the curvature, one for per-row data.
    ///
    /// # Errors
    /// The curvature is not positive definite: the posterior has no proper mode there.
    pub fn at(density: &dyn LogDensity, u: &[f64]) -> Result<Self, NotPositiveDefinite> {
        let dim = u.len();
        let mut grad_log_lik = vec![0.0; dim];
        match density.rows() {
            Some(rows) => {
                rows.grad_log_lik(u, Rows::All, &mut rows.scratch(), &mut grad_log_lik);
            }
            None => {
                density.log_density(u, &mut grad_log_lik);
            }
        }
        let mut hessian = vec![0.0; dim * dim];
        density.add_neg_hessian(u, &mut hessian);
        let factor = Cholesky::of(&hessian, dim)?;
        let noise = match density.rows() {
            Some(model) => RowNoise::at(model, u, &factor),
            None => RowNoise::of_one_row(u),
        };
        let RowNoise {
            rows,
            difference_noise,
            weighted_difference_noise,
            score_noise,
            score_variance,
        } = noise;
        let largest = |noise: &[f64]| largest_eigenvalue(noise, dim).map(|value| value.max(0.0));
        let (curvatures, _directions) =
            symmetric_eigen(&hessian, dim).ok_or(NotPositiveDefinite)?;
        let covariance = factor.inverse();
        Ok(Self {
            scaled_condition: scaled_condition(&hessian, &covariance),
            covariance,
            noise_ratio: largest_eigenvalue(&score_noise, dim)
                .map_or(1.0, |value| value.max(f64::MIN_POSITIVE)),
            score_noise,
            rms_condition: rms_condition(&hessian, &score_variance),
            score_variance,
            weighted_difference_rows: weighted_difference_noise.as_deref().and_then(largest),
            weighted_difference_noise,
            chances: OnceLock::new(),
            difference_chances: Default::default(),
            second_order_noise: OnceLock::new(),
            curvature_range: (curvatures[0], curvatures[dim - 1]),
            difference_rows: largest(&difference_noise).unwrap_or(0.0),
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
    pub fn block(&self, coordinates: &[usize]) -> Result<Self, NotPositiveDefinite> {
        let whole = self.u.len();
        let dim = coordinates.len();
        let cut = |matrix: &[f64]| -> Vec<f64> {
            let row = |&i: &usize| coordinates.iter().map(move |&j| matrix[i * whole + j]);
            coordinates.iter().flat_map(row).collect()
        };
        let pick =
            |vector: &[f64]| -> Vec<f64> { coordinates.iter().map(|&j| vector[j]).collect() };
        let score_variance = pick(&self.score_variance);
        let hessian = cut(&self.hessian);
        let factor = Cholesky::of(&hessian, dim)?;
        let (curvatures, _directions) =
            symmetric_eigen(&hessian, dim).ok_or(NotPositiveDefinite)?;
        let covariance = factor.inverse();
        Ok(Self {
            u: pick(&self.u),
            grad_log_lik: pick(&self.grad_log_lik),
            scaled_condition: scaled_condition(&hessian, &covariance),
            covariance,
            factor,
            hessian,
            rows: CentreRows::default(),
            noise_ratio: self.noise_ratio,
            curvature_range: (curvatures[0], curvatures[dim - 1]),
            score_noise: cut(&self.score_noise),
            rms_condition: rms_condition(&cut(&self.hessian), &score_variance),
            score_variance,
            weighted_difference_rows: self.weighted_difference_rows,
            weighted_difference_noise: self.weighted_difference_noise.as_deref().map(cut),
            chances: OnceLock::new(),
            difference_chances: Default::default(),
            second_order_noise: OnceLock::new(),
            difference_noise: cut(&self.difference_noise),
            difference_rows: self.difference_rows,
        })
    }

    /// [`Self::difference_noise`] or, for minibatches with unequal chances of rows, [`Self::weighted_difference_noise`].
    pub(crate) fn centred_noise(&self, scheme: Scheme) -> &[f64] {
        match (scheme, &self.weighted_difference_noise) {
            (Scheme::Lipschitz, Some(noise)) => noise,
            _ => &self.difference_noise,
        }
    }

    /// [`Self::difference_noise`] of control variates of second order, measured at the first call and shared by all chains.
    pub(crate) fn second_order_noise(&self, model: &dyn RowLikelihood) -> &[f64] {
        self.second_order_noise
            .get_or_init(|| second_order_noise(model, self))
    }

    /// −∂² of the log likelihood of all rows at û, row-major D×D: [`Self::hessian`] without the prior's share.
    pub(crate) fn likelihood_curvature(&self, model: &dyn RowLikelihood) -> Vec<f64> {
        let mut prior = vec![0.0; self.hessian.len()];
        model.add_neg_hessian_log_prior(&self.u, &mut prior);
        let mut curvature = self.hessian.clone();
        axpy(-1.0, &prior, &mut curvature);
        curvature
    }

    /// Chances of rows by the Lipschitz constants of their gradients, made at the first call and shared by all chains.
    pub(super) fn chances(&self, model: &dyn RowLikelihood) -> Option<Arc<AliasTable>> {
        self.chances
            .get_or_init(|| AliasTable::of_model(model, &self.factor))
            .clone()
    }

    /// Chances of rows by their departures from expansions of `order` 0, 1 or 2, made at the first call and shared by all
    /// chains; `None` where nothing speaks for unequal chances.
    pub(crate) fn difference_chances(
        &self,
        model: &dyn RowLikelihood,
        order: usize,
    ) -> Option<Arc<AliasTable>> {
        let table = self.difference_chances.get(order)?;
        table
            .get_or_init(|| difference_chances(model, &self.u, &self.factor, order).map(Arc::new))
            .clone()
    }

    /// Standard deviations of the quadratic approximation, length D.
    pub fn sds(&self) -> Vec<f64> {
        let dim = self.u.len();
        (0..dim)
            .map(|j| self.covariance[j * dim + j].sqrt())
            .collect()
    }
}

/// Smallest and largest eigenvalue of diag(`scales`) A diag(`scales`); `None` where they are not positive numbers.
pub fn scaled_range(a: &[f64], scales: &[f64]) -> Option<(f64, f64)> {
    let dim = scales.len();
    let mut scaled = a.to_vec();
    for (row, scale) in scaled.chunks_exact_mut(dim).zip(scales) {
        for (value, other) in row.iter_mut().zip(scales) {
            *value *= scale * other;
        }
    }
    if scaled.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (values, _vectors) = symmetric_eigen(&scaled, dim)?;
    (values[0] > 0.0).then(|| (values[0], values[dim - 1]))
}

/// See [`Centre::scaled_condition`].
fn scaled_condition(hessian: &[f64], covariance: &[f64]) -> f64 {
    let dim = covariance.len().isqrt();
    let sds: Vec<f64> = (0..dim).map(|j| covariance[j * (dim + 1)].sqrt()).collect();
    scaled_range(hessian, &sds).map_or(1.0, |(slowest, stiffest)| stiffest / slowest)
}

/// See [`Centre::rms_condition`].
fn rms_condition(hessian: &[f64], score_variance: &[f64]) -> f64 {
    let scales: Vec<f64> = score_variance.iter().map(|v| v.powf(-0.25)).collect();
    scaled_range(hessian, &scales).map_or(1.0, |(slowest, stiffest)| stiffest / slowest)
}

/// What is known of single rows at a centre.
struct RowNoise {
    rows: CentreRows,
    difference_noise: Vec<f64>,
    weighted_difference_noise: Option<Vec<f64>>,
    score_noise: Vec<f64>,
    score_variance: Vec<f64>,
}

impl RowNoise {
    fn at(model: &dyn RowLikelihood, u: &[f64], factor: &Cholesky) -> Self {
        let rows = model.centre_rows(u);
        let weighted = || weighted_difference_noise(model, u, factor, &rows);
        if model.num_obs() < 2 {
            return Self {
                weighted_difference_noise: weighted(),
                rows,
                ..Self::of_one_row(u)
            };
        }
        let (weighted_difference_noise, (difference_noise, (score_noise, score_variance))) =
            rayon::join(weighted, || {
                rayon::join(
                    || difference_noise(model, u, factor, &rows),
                    || score_noise(model, u, factor),
                )
            });
        Self {
            difference_noise,
            weighted_difference_noise,
            score_noise,
            score_variance,
            rows,
        }
    }

    /// Where rows are too few to tell: the noise of a well-specified model.
    fn of_one_row(u: &[f64]) -> Self {
        let dim = u.len();
        let mut score_noise = vec![0.0; dim * dim];
        for diagonal in score_noise.iter_mut().step_by(dim + 1) {
            *diagonal = 1.0;
        }
        Self {
            rows: CentreRows {
                u: u.to_vec(),
                per_row: Vec::new(),
            },
            difference_noise: vec![0.0; dim * dim],
            weighted_difference_noise: None,
            score_noise,
            score_variance: vec![1.0; dim],
        }
    }
}

/// See [`Centre::score_noise`]. The second value is the variance of the score itself, per coordinate.
fn score_noise(model: &dyn RowLikelihood, u: &[f64], factor: &Cholesky) -> (Vec<f64>, Vec<f64>) {
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut covariance = vec![0.0; dim * dim];
    let mut rng = stream(0, 0, Purpose::Data);
    let rows = spread_rows(num_obs, NOISE_ROWS, &mut rng);
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

/// See [`Centre::difference_noise`]. The average over the quadratic approximation N(û, H⁻¹) uses the 2D points
/// û ± sqrt(D) L⁻ᵀ e_j, which are exact for functions of degree three, and score differences grow linearly.
fn difference_noise(
    model: &dyn RowLikelihood,
    u: &[f64],
    factor: &Cholesky,
    centre_rows: &CentreRows,
) -> Vec<f64> {
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
        model.score_differences(&point, rows, centre_rows, &mut scratch, &mut scores);
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

pub(super) fn largest_eigenvalue(a: &[f64], dim: usize) -> Option<f64> {
    symmetric_eigen(a, dim).map(|(values, _vectors)| values[dim - 1])
}
