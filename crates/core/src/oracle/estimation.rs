//! How gradients are estimated from few rows.

use std::sync::Arc;

use super::second_order::SecondOrder;
use super::{AliasTable, Centre, Minibatch, Scheme};
use crate::models::{CentreRows, RowLikelihood, Rows, Scratch};

/// How gradients are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// ∇ log p(θ) + (N/B) Σ ∇ℓ_i(θ).
    Plain,
    /// ∇ log p(θ) + ∇ℓ(θ̂) + (N/B) Σ [∇ℓ_i(θ) − ∇ℓ_i(θ̂)] with the centre θ̂ (Baker 2018, equation (3.3.1)).
    ControlVariate,
}

/// An estimator with the rows that it draws and its working memory.
pub struct Estimation {
    /// What is estimated from rows.
    pub estimator: Estimator,
    /// Which rows.
    pub minibatch: Minibatch,
    /// Chances of rows ([`Scheme::Lipschitz`] only).
    pub chances: Option<Arc<AliasTable>>,
    /// Where control variates are centred without a mode, if they are.
    pub centre: Option<GradientCentre>,
    /// B×D score differences, where rows have chances of their own; else empty.
    pub weighted_scores: Vec<f64>,
    /// What makes control variates those of second order, where they are.
    pub second_order: Option<SecondOrder>,
}

impl Estimation {
    /// From all of `num_obs` rows, as long as nothing else is chosen.
    pub fn of_all_rows(num_obs: usize) -> Self {
        Self {
            estimator: Estimator::Plain,
            minibatch: Minibatch::new(num_obs, num_obs, Scheme::Iid),
            chances: None,
            centre: None,
            weighted_scores: Vec::new(),
            second_order: None,
        }
    }
}

/// A control-variate centre of which gradients alone are known, without a curvature: all that control variates of first order need.
pub struct GradientCentre {
    /// Σ ∇ log p(y_i|û) over all rows, length D.
    grad_log_lik: Vec<f64>,
    /// The point û and per-row data of the model there.
    rows: CentreRows,
}

impl GradientCentre {
    /// At `u` (D), by passes over all rows.
    pub fn at(model: &dyn RowLikelihood, u: &[f64], scratch: &mut Scratch) -> Self {
        let mut grad_log_lik = vec![0.0; u.len()];
        model.grad_log_lik(u, Rows::All, scratch, &mut grad_log_lik);
        Self {
            grad_log_lik,
            rows: model.centre_rows(u),
        }
    }

    /// Whether this is the point `u`.
    pub fn is_at(&self, u: &[f64]) -> bool {
        self.rows.u == u
    }
}

/// Per-row data and the gradient of the log likelihood at the control-variate centre: at `centre`, else at the mode; `None` of plain
/// gradients.
pub fn centred_at<'a>(
    estimator: Estimator,
    centre: Option<&'a GradientCentre>,
    mode: Option<&'a Centre>,
) -> Option<(&'a CentreRows, &'a [f64])> {
    match (estimator, centre, mode) {
        (Estimator::Plain, ..) | (_, None, None) => None,
        (_, Some(centre), _) => Some((&centre.rows, &centre.grad_log_lik)),
        (_, None, Some(mode)) => Some((&mode.rows, &mode.grad_log_lik)),
    }
}
