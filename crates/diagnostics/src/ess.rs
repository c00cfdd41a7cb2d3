//! Effective sample size: how many independent draws would estimate this as well?
//!
//! Autocovariances of the split chains by Fourier transform, averaged over chains, summed by Geyer's initial
//! monotone positive sequence; at most S log10(S) for S draws. Missing with fewer than 6 draws per chain.

use super::pooled::{Pooled, View};
use super::{Estimate, Missing};

/// For the bulk of the distribution: of the normal scores of the ranks. Also right for infinite variance.
pub fn ess_bulk(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).ess(View::Bulk)
}

/// For the tails: the smaller of those of the 5 % and the 95 % quantile.
///
/// Missing (constant) for a discrete variable whose 95 % quantile is its maximum, as in posterior.
pub fn ess_tail(chains: &[&[f64]]) -> Estimate {
    pooled_ess_tail(&mut Pooled::of(chains))
}

/// For the mean.
pub fn ess_mean(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).ess(View::Raw)
}

/// For the standard deviation: of |x - mean|.
pub fn ess_sd(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).ess(View::Deviation)
}

/// For the quantile of probability `prob` in [0, 1].
pub fn ess_quantile(chains: &[&[f64]], prob: f64) -> Estimate {
    Pooled::of(chains).ess(View::Below(prob))
}

/// For the share of draws above the quantile of probability `low` and up to that of probability `high` (local efficiency, figures 5 and 6
/// of Vehtari et al. 2021); from `low` = 0 on with the smallest draw.
///
/// Missing (constant) for an interval without draws, as between the values of a discrete variable.
pub fn ess_between(chains: &[&[f64]], low: f64, high: f64) -> Estimate {
    Pooled::of(chains).ess(View::Between(low, high))
}

/// Effective sample sizes across the distribution: of quantiles, and of the small intervals between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Across {
    /// For the quantile of each probability k / [`INTERVALS`], k = 1, …, [`INTERVALS`] - 1.
    pub quantiles: Vec<Option<f64>>,
    /// For the share of draws in each of [`INTERVALS`] intervals of equal probability, from the lowest to the highest.
    pub local: Vec<Option<f64>>,
}

/// Intervals of equal probability that [`Across`] looks at, as in Vehtari et al. (2021).
pub const INTERVALS: usize = 20;

impl Across {
    /// Of chains with one slice of weights per chain, or none.
    ///
    /// # Errors
    /// Why there is no effective sample size at all.
    pub fn of(chains: &[&[f64]], weights: &[&[f64]]) -> Result<Self, Missing> {
        let pooled = &mut Pooled::weighted(chains, weights);
        pooled.defect().map_or(Ok(()), Err)?;
        Ok(Self {
            quantiles: (1..INTERVALS)
                .map(|k| pooled.ess(View::Below(share(k))).ok())
                .collect(),
            local: pooled_ess_local(pooled),
        })
    }
}

/// k intervals of all.
fn share(k: usize) -> f64 {
    k as f64 / INTERVALS as f64
}

pub(super) fn pooled_ess_local(pooled: &mut Pooled) -> Vec<Option<f64>> {
    (0..INTERVALS)
        .map(|k| pooled.ess(View::Between(share(k), share(k + 1))).ok())
        .collect()
}

pub(super) fn pooled_ess_tail(pooled: &mut Pooled) -> Estimate {
    let low = pooled.ess(View::Below(0.05))?;
    Ok(low.min(pooled.ess(View::Below(0.95))?))
}
