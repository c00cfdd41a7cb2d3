//! Control variates of second order: what a row's gradient is compared with is not that at the centre û alone but its linear expansion
//! there (Dang et al. 2019, section 6.2, "SGLD with control variates"),
//!
//! ĝ = ∇ log p(θ) + ∇ℓ(û) − C δ + (N/B) Σ_S [∇ℓ_i(θ) − ∇ℓ_i(û) + C_i δ], δ = θ − û, C_i = −∇²ℓ_i(û), C = Σ C_i,
//!
//! whose expectation is the gradient for any C_i. A row's difference is of the second order in δ instead of the first. Costs D² more per
//! gradient, and as much as a pass over the batch again where rows have a linear predictor, B D² where they have none.

use rand_distr::{Distribution as _, StandardNormal};

use super::Centre;
use super::row_noise::{
    DIFFERENCE_ROWS, DIFFERENCE_ROWS_LEAST, add_whitened_covariance, spread_rows, typical_points,
};
use crate::models::{RowLikelihood, Rows, Scratch};
use ergodic_base::linalg::{axpy, matvec};
use ergodic_base::{Purpose, stream};

/// The expansion of the gradients of rows at a centre, with working memory.
pub struct SecondOrder {
    /// û (D).
    u: Vec<f64>,
    /// C (D×D).
    curvature: Vec<f64>,
    /// δ (D).
    delta: Vec<f64>,
    product: Vec<f64>,
    /// Curvature of some rows, where rows have no linear predictor (D×D).
    part: Vec<f64>,
    /// One per row of a batch.
    weights: Vec<f64>,
}

impl SecondOrder {
    /// At `centre`, for batches of at most `batch` rows.
    pub fn at(centre: &Centre, model: &dyn RowLikelihood, batch: usize) -> Self {
        let dim = centre.u.len();
        let is_linear = model.linear_rows().is_some();
        Self {
            u: centre.u.clone(),
            curvature: centre.likelihood_curvature(model),
            delta: vec![0.0; dim],
            product: vec![0.0; dim],
            part: vec![0.0; if is_linear { 0 } else { dim * dim }],
            weights: vec![0.0; if is_linear { batch } else { 0 }],
        }
    }

    /// From now on at `u`; ADDS −C δ, the expansion's share of all rows, to `grad` (D).
    pub fn stand_at(&mut self, u: &[f64], grad: &mut [f64]) {
        for ((delta, u), centre) in self.delta.iter_mut().zip(u).zip(&self.u) {
            *delta = u - centre;
        }
        matvec(&self.curvature, &self.delta, &mut self.product);
        axpy(-1.0, &self.product, grad);
    }

    /// ADDS Σ C_i δ over `rows` to `grad` (D).
    pub fn add_rows(
        &mut self,
        model: &dyn RowLikelihood,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        let Some(linear) = model.linear_rows() else {
            self.part.fill(0.0);
            model.add_neg_hessian_log_lik(&self.u, rows, scratch, &mut self.part);
            matvec(&self.part, &self.delta, &mut self.product);
            return axpy(1.0, &self.product, grad);
        };
        let count = rows.len(model.num_obs());
        self.weights.resize(count, 0.0);
        linear.curvatures(&self.u, rows, scratch, &mut self.weights);
        for (k, weight) in self.weights.iter_mut().enumerate() {
            *weight *= linear.covariates(rows.get(k)).dot(&self.delta);
        }
        linear.add_weighted_covariates(rows, &self.weights, grad);
    }

    /// ADDS C_i δ of each row to its line of `scores` (B×D).
    pub fn add_each(
        &mut self,
        model: &dyn RowLikelihood,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
    ) {
        for (k, score) in scores.chunks_exact_mut(self.u.len()).enumerate() {
            let row = [rows.get(k) as u32];
            self.add_rows(model, Rows::Pick(&row), scratch, score);
        }
    }
}

/// Least points over which the noise is averaged: squares of second-order terms have heavy tails.
const LEAST_POINTS: usize = 100;

/// What [`super::RowNoise::differences`] is for control variates of second order, over random points of N(û, H⁻¹).
pub fn second_order_noise(model: &dyn RowLikelihood, centre: &Centre) -> Vec<f64> {
    let (dim, num_obs) = (centre.u.len(), model.num_obs());
    let mut noise = vec![0.0; dim * dim];
    if num_obs < 2 {
        return noise;
    }
    let mut second = SecondOrder::at(centre, model, 1);
    let points = typical_points(dim).len().max(LEAST_POINTS);
    let per_point = (DIFFERENCE_ROWS / points).max(DIFFERENCE_ROWS_LEAST);
    let mut rng = stream(0, 2, Purpose::Data);
    let (mut scratch, mut unused) = (model.scratch(), vec![0.0; dim]);
    let weight = (num_obs as f64).powi(2) / points as f64;
    for _ in 0..points {
        let mut point: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        centre.factor.solve_lower_transpose(&mut point);
        axpy(1.0, &centre.u, &mut point);
        let rows = spread_rows(num_obs, per_point, &mut rng);
        let mut scores = vec![0.0; rows.len() * dim];
        let rows = Rows::Pick(&rows);
        model.score_differences(&point, rows, &centre.rows, &mut scratch, &mut scores);
        second.stand_at(&point, &mut unused);
        second.add_each(model, rows, &mut scratch, &mut scores);
        add_whitened_covariance(&centre.factor, &mut scores, weight, &mut noise);
    }
    noise
}
