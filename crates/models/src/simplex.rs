//! The view of models whose parameters are the probabilities of categories, and their coordinates.
//!
//! Probabilities of rare categories are far below what a number can hold, so they are carried as logarithms. The
//! unconstrained coordinates are the log odds of breaking a stick: u_k = log p_k − log Σ_{j>k} p_j for k < K, which lose
//! nothing however small a probability is, and in which a Dirichlet distribution factorises.

use super::Rows;
use ergodic_base::special::{log_logistic, log_sum_exp};

/// The view of a posterior p | z ~ Dirichlet(α + Σ_i w_i z_i), in which row i is w_i observations of one category z_i.
///
/// Samplers made for the simplex need this structure ([`super::Model::simplex`]).
pub trait SimplexCounts {
    /// α, one number per category (K).
    fn concentration(&self) -> &[f64];
    /// Σ w_i z_i over all rows (K).
    fn totals(&self) -> &[f64];
    /// Σ w_i² z_i over all rows (K): with the totals the variance of the counts of a minibatch.
    fn squares(&self) -> &[f64];
    /// ADDS Σ w_i z_i over `rows` to `counts` (K).
    fn add_counts(&self, rows: Rows<'_>, counts: &mut [f64]);
    /// The position u (K−1) of the probabilities ∝ exp(`log_weights`) (K).
    fn position(&self, log_weights: &[f64], u: &mut [f64]) {
        position(log_weights, u);
    }
    /// Logarithms of the probabilities (K) at `u` (K−1).
    fn log_probabilities(&self, u: &[f64], out: &mut [f64]) {
        log_probabilities(u, out);
    }
}

/// See [`SimplexCounts::position`].
pub(super) fn position(log_weights: &[f64], u: &mut [f64]) {
    let mut rest = log_weights[u.len()];
    for k in (0..u.len()).rev() {
        u[k] = log_weights[k] - rest;
        rest = log_sum_exp(log_weights[k], rest);
    }
}

/// See [`SimplexCounts::log_probabilities`].
pub(super) fn log_probabilities(u: &[f64], out: &mut [f64]) {
    let mut rest = 0.0;
    for (u, out) in u.iter().zip(out.iter_mut()) {
        *out = rest + log_logistic(*u);
        rest += log_logistic(-u);
    }
    out[u.len()] = rest;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_lose_nothing_where_probabilities_underflow() {
        let log_p = [-1e-12, -2000.0, -800.0, -5.0e6, -30.0];
        let (mut u, mut back) = ([0.0; 4], [0.0; 5]);
        position(&log_p, &mut u);
        assert!(u.iter().all(|u| u.is_finite()));
        log_probabilities(&u, &mut back);
        for (a, b) in back.iter().zip(&log_p) {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
        }
    }
}
