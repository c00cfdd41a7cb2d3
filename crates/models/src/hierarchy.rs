//! The view of models in which every group has parameters of its own around common ones.

use std::ops::Range;

use super::{Rows, Scratch};
use crate::numerics::wishart::NormalInverseWishart;

/// The view of a posterior in which the rows of group g depend on θ_g (P) alone, θ_g ~ N(μ, Σ), and (μ, Σ) has a
/// normal-inverse-Wishart prior: given θ the population is conjugate, and given (μ, Σ) groups are independent.
///
/// Samplers that update group by group need this structure ([`super::Model::hierarchy`]). All on the scale on which
/// sampling happens. Rows of groups are named by their place in the order of groups, as [`Self::group_rows`] says.
pub trait Hierarchy: Send + Sync {
    /// G.
    fn num_groups(&self) -> usize;
    /// P.
    fn num_terms(&self) -> usize;
    /// Places of the rows of group `g`, possibly none.
    fn group_rows(&self, g: usize) -> Range<usize>;
    /// The prior of (μ, Σ).
    fn prior(&self) -> &NormalInverseWishart;

    /// Reads μ (P), the lower factor of Σ (P×P) and all θ (G×P) at the position `u`.
    fn read(&self, u: &[f64], mu: &mut [f64], lower: &mut [f64], theta: &mut [f64]);
    /// The position `u` of these.
    fn write(&self, mu: &[f64], lower: &[f64], theta: &[f64], u: &mut [f64]);

    /// Working memory for one group's passes.
    fn group_scratch(&self) -> Scratch;
    /// Unscaled Σ log p(y_i|θ) over `places`; ADDS its gradient to `grad` (P).
    fn group_log_lik(
        &self,
        theta: &[f64],
        places: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64;
    /// One gradient per row, row-major (B×P).
    fn group_scores(&self, theta: &[f64], places: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]);
    /// −∂²/∂θ² of Σ log p(y_i|θ) over `places`, ADDED to the row-major P×P `hessian`.
    fn add_group_neg_hessian(
        &self,
        theta: &[f64],
        places: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    );
}
