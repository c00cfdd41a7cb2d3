//! The row loops of the templates for models that are none: rows whose linear predictors were found in a text.

use super::glm::GlmRows;
use super::{Rows, Scratch};
use crate::families::bernoulli::{OffsetBernoulli, SignedBernoulli};
use crate::families::poisson::PoissonCounts;
use crate::families::rows::RowFamily;

/// Rows of one family, each with a linear predictor z = a'u + o of all coordinates u (D). Sums over rows alone: what is asked of single
/// rows their model has itself.
pub trait RowKernel: Send + Sync {
    /// Working memory of its passes.
    fn scratch(&self) -> Scratch;
    /// The summed log likelihood of `rows`; ADDS its gradient to `grad` (D).
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64;
    /// ADDS the gradient of the same to `grad` (D).
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]);
    /// ADDS −∇² of the summed log likelihood of `rows` to `hessian` (D×D).
    fn add_neg_hessian(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    );
}

impl<F: RowFamily> RowKernel for GlmRows<F> {
    fn scratch(&self) -> Scratch {
        Self::scratch(self)
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.value_gradient(u, rows, scratch, grad)
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.gradient(u, rows, scratch, grad);
    }

    fn add_neg_hessian(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        Self::add_neg_hessian(self, u, rows, scratch, hessian);
    }
}

/// Yes or no with the logit z: `data` are the D covariates of a row and, if `has_offset`, its offset (N×D or N×(D + 1), row-major);
/// `is_yes` says which rows are a yes.
pub fn logit_rows(
    dim: usize,
    has_offset: bool,
    mut data: Vec<f64>,
    is_yes: impl Fn(usize) -> bool,
) -> Box<dyn RowKernel> {
    let width = dim + usize::from(has_offset);
    for (row, numbers) in data.chunks_exact_mut(width).enumerate() {
        if !is_yes(row) {
            numbers.iter_mut().for_each(|x| *x = -*x);
        }
    }
    if has_offset {
        return Box::new(GlmRows::new(OffsetBernoulli, dim, data[..].into()));
    }
    Box::new(GlmRows::new(SignedBernoulli, dim, data[..].into()))
}

/// Counts whose mean has the logarithm z: `data` are the D covariates of a row and then its offset, count, weight, and what its log
/// likelihood has besides weight × (count z − e^z).
pub fn count_rows(dim: usize, data: &[f64]) -> Box<dyn RowKernel> {
    Box::new(GlmRows::new(PoissonCounts, dim, data.into()))
}
