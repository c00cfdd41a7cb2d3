//! Potential scale reduction: do the chains agree about where the mass is?

use super::Estimate;
use super::pooled::{Pooled, View};

/// Rank-normalised split R-hat: the larger of the values for location (ranks) and for scale (ranks of the
/// distance from the median). 1 is perfect, more than 1.01 is too much.
///
/// Infinite when every half chain stands still and they differ. Missing with fewer than 4 draws per chain, for
/// constant draws, and when the distances from the median are constant (such as half zeros, half ones).
pub fn rhat(chains: &[&[f64]]) -> Estimate {
    pooled_rhat(&mut Pooled::of(chains))
}

/// Split R-hat of the draws themselves: infinite variances mislead it, so prefer [`rhat`].
pub fn rhat_basic(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).split_rhat(View::Raw)
}

/// Nested R-hat of many short chains: do `superchains` groups of neighbouring chains agree, the chains of each having begun at the same
/// point? Such groups forget their starts together, so that chains too short for R-hat can be judged (Margossian, Hoffman, Sountsov,
/// Riou-Durand, Vehtari, Gelman 2024, arXiv 2110.13017): sqrt(1 + B / W) with the variance B of the means of groups, and the mean W
/// over groups of the variance within chains plus that of the means of chains.
///
/// Missing for constant draws, with fewer than two groups, and where the chains do not divide into groups of equal size.
pub fn rhat_nested(chains: &[&[f64]], superchains: usize) -> Estimate {
    Pooled::of(chains).rhat_nested(superchains)
}

pub(super) fn pooled_rhat(pooled: &mut Pooled) -> Estimate {
    // The ranks come last, because the bulk effective sample size wants them next.
    let folded = pooled.split_rhat(View::Folded)?;
    Ok(folded.max(pooled.split_rhat(View::Bulk)?))
}
