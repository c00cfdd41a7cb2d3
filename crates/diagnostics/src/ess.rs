//! Effective sample size: how many independent draws would estimate this as well?
//!
//! Autocovariances of the split chains by Fourier transform, averaged over chains, summed by Geyer's initial
//! monotone positive sequence; at most S log10(S) for S draws. Missing with fewer than 6 draws per chain.

use super::Estimate;
use super::pooled::{Pooled, View};

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

pub(super) fn pooled_ess_tail(pooled: &mut Pooled) -> Estimate {
    let low = pooled.ess(View::Below(0.05))?;
    Ok(low.min(pooled.ess(View::Below(0.95))?))
}
