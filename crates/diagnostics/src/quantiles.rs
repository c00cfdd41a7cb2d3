//! Location, spread and quantiles of all draws together. Missing without draws or with a value that is not finite.

use super::Estimate;
use super::pooled::Pooled;

/// Mean.
pub fn mean(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).mean()
}

/// Standard deviation with divisor S - 1; at least two draws.
pub fn sd(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).sd()
}

/// Median.
pub fn median(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).median()
}

/// Median absolute deviation from the median times 1.4826, which is the sd for a normal distribution.
pub fn mad(chains: &[&[f64]]) -> Estimate {
    Pooled::of(chains).mad()
}

/// Quantile of probability `prob` (clamped to [0, 1]), linear between order statistics (type 7).
pub fn quantile(chains: &[&[f64]], prob: f64) -> Estimate {
    Pooled::of(chains).quantile(prob)
}
