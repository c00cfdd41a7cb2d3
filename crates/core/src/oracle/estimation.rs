//! How gradients are estimated from few rows.

use std::sync::Arc;

use super::second_order::SecondOrder;
use super::{AliasTable, Minibatch, Scheme};

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
            weighted_scores: Vec::new(),
            second_order: None,
        }
    }
}
