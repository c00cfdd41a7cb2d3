//! The centre of control variates and preconditioners: a point near the mode with all that is known about it.

use std::sync::{Arc, OnceLock};

use super::lipschitz::AliasTable;
use super::passes;
use super::row_noise::RowNoise;
use super::row_sampling::difference_chances;
use super::second_order::second_order_noise;
use crate::models::{CentreRows, LogDensity, RowLikelihood, Rows};
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, symmetric_eigen};

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
    /// Smallest and largest eigenvalue of H.
    pub curvature_range: (f64, f64),
    /// Largest over smallest eigenvalue of H with every coordinate in units of its posterior standard deviation: what a
    /// metric of scales alone leaves.
    pub scaled_condition: f64,
    noise: OnceLock<RowNoise>,
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
        let (mut grad_log_lik, mut hessian) = (vec![0.0; dim], vec![0.0; dim * dim]);
        let mut per_row = CentreRows {
            u: u.to_vec(),
            per_row: Vec::new(),
        };
        match density.rows() {
            Some(rows) => {
                rows.grad_log_lik(u, Rows::All, &mut rows.scratch(), &mut grad_log_lik);
                passes::add_neg_hessian(rows, u, Rows::All, &mut hessian);
                rows.add_neg_hessian_log_prior(u, &mut hessian);
                per_row = rows.centre_rows(u);
            }
            None => {
                density.log_density(u, &mut grad_log_lik);
                density.add_neg_hessian(u, &mut hessian);
            }
        }
        let factor = Cholesky::of(&hessian, dim)?;
        let (curvatures, _directions) =
            symmetric_eigen(&hessian, dim).ok_or(NotPositiveDefinite)?;
        let covariance = factor.inverse();
        Ok(Self {
            scaled_condition: scaled_condition(&hessian, &covariance),
            covariance,
            rows: per_row,
            noise: OnceLock::new(),
            chances: OnceLock::new(),
            difference_chances: Default::default(),
            second_order_noise: OnceLock::new(),
            curvature_range: (curvatures[0], curvatures[dim - 1]),
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
    pub fn block(
        &self,
        rows: Option<&dyn RowLikelihood>,
        coordinates: &[usize],
    ) -> Result<Self, NotPositiveDefinite> {
        let dim = coordinates.len();
        let pick =
            |vector: &[f64]| -> Vec<f64> { coordinates.iter().map(|&j| vector[j]).collect() };
        let hessian = submatrix(&self.hessian, coordinates);
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
            rows: CentreRows::default(),
            curvature_range: (curvatures[0], curvatures[dim - 1]),
            noise: self.noise(rows).of_block(&hessian, coordinates).into(),
            hessian,
            chances: OnceLock::new(),
            difference_chances: Default::default(),
            second_order_noise: OnceLock::new(),
        })
    }

    /// What minibatches add to gradients, measured at the first call and shared by all chains; `rows` are those of the model that
    /// this is a centre of.
    pub fn noise(&self, rows: Option<&dyn RowLikelihood>) -> &RowNoise {
        self.noise.get_or_init(|| match rows {
            Some(model) => RowNoise::measured(model, self),
            None => RowNoise::of_one_row(&self.hessian),
        })
    }

    /// [`RowNoise::differences`] of control variates of second order, measured at the first call and shared by all chains.
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

#[cfg(test)]
impl Centre {
    /// With this noise instead of its own.
    #[must_use]
    pub fn with_noise(mut self, noise: RowNoise) -> Self {
        self.noise = noise.into();
        self
    }

    /// Whether anyone has asked for the noise.
    pub fn has_noise(&self) -> bool {
        self.noise.get().is_some()
    }
}

/// The rows and columns `coordinates` of a square matrix, row-major.
pub(super) fn submatrix(matrix: &[f64], coordinates: &[usize]) -> Vec<f64> {
    let dim = matrix.len().isqrt();
    let row = |&i: &usize| coordinates.iter().map(move |&j| matrix[i * dim + j]);
    coordinates.iter().flat_map(row).collect()
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

pub(super) fn largest_eigenvalue(a: &[f64], dim: usize) -> Option<f64> {
    symmetric_eigen(a, dim).map(|(values, _vectors)| values[dim - 1])
}
