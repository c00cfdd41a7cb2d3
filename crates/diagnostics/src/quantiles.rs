//! Location, spread and quantiles of all draws together. Missing without draws or with a value that is not finite.
//!
//! Every quantile of the project is of one definition: type 7 of Hyndman and Fan, linear between order statistics, the default
//! of R and of its package posterior.

use statrs::function::erf::erfc_inv;

use super::pooled::Pooled;
use super::{Estimate, Missing};

/// Half the width of a normal distribution's central interval of 50 %, in standard deviations.
pub const NORMAL_50: f64 = 0.674_489_750_196_082;
/// Half the width of a normal distribution's central interval of 90 %, in standard deviations.
pub const NORMAL_90: f64 = 1.644_853_626_951_472_6;
/// Half the width of a normal distribution's central interval of 95 %, in standard deviations.
pub const NORMAL_95: f64 = 1.959_963_984_540_054;

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

/// Quantile of probability `prob` (clamped to [0, 1]).
pub fn quantile(chains: &[&[f64]], prob: f64) -> Estimate {
    Pooled::of(chains).quantile(prob)
}

/// Quantiles of these probabilities of weighted draws, one slice of weights per chain or none for plain draws: the same numbers
/// as in the summary.
///
/// # Errors
/// Why there are none: no draws, one that is not finite, weights that cancel.
pub fn weighted<const N: usize>(
    chains: &[&[f64]],
    weights: &[&[f64]],
    probs: [f64; N],
) -> Result<[f64; N], Missing> {
    let mut pooled = Pooled::weighted(chains, weights);
    let mut found = [f64::NAN; N];
    for (out, prob) in found.iter_mut().zip(probs) {
        *out = pooled.quantile(prob)?;
    }
    Ok(found)
}

/// Quantile of the standard normal distribution for 0 < p < 1.
pub fn normal(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// Quantile of ascending values; NaN of none.
pub fn of_sorted(sorted: &[f64], prob: f64) -> f64 {
    let Some(place) = Place::among(sorted.len(), prob) else {
        return f64::NAN;
    };
    match sorted.get(place.below + 1) {
        Some(&above) => place.between(sorted[place.below], above),
        None => sorted[place.below],
    }
}

/// Quantile of values in any order, which is lost; NaN of none. Faster than sorting where few quantiles are wanted.
pub fn of_unsorted(values: &mut [f64], prob: f64) -> f64 {
    let Some(place) = Place::among(values.len(), prob) else {
        return f64::NAN;
    };
    let (_, &mut below, others) = values.select_nth_unstable_by(place.below, f64::total_cmp);
    match others.iter().copied().min_by(f64::total_cmp) {
        Some(above) => place.between(below, above),
        None => below,
    }
}

/// Where a quantile lies: between an order statistic, counted from 0, and the next one.
struct Place {
    below: usize,
    /// Weight of the next one.
    weight: f64,
}

impl Place {
    fn among(count: usize, prob: f64) -> Option<Self> {
        let last = count.checked_sub(1)?;
        // Counted from 1, so that it is rounded as in R.
        let index = 1.0 + last as f64 * prob.clamp(0.0, 1.0);
        let low = index.floor();
        Some(Self {
            below: low as usize - 1,
            weight: index - low,
        })
    }

    /// Equal neighbours are not interpolated, so that ties stay exact and infinite ones infinite. Between the two infinities,
    /// where R has no answer, the nearer one.
    fn between(&self, below: f64, above: f64) -> f64 {
        let weight = self.weight;
        if weight == 0.0 || below == above {
            below
        } else if below == f64::NEG_INFINITY && above == f64::INFINITY {
            if weight < 0.5 { below } else { above }
        } else {
            (1.0 - weight) * below + weight * above
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_interpolate_as_in_r() {
        let sorted = [1.0, 2.0, 4.0];
        for (prob, expected) in [(0.0, 1.0), (0.1, 1.2), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)] {
            assert_eq!(of_sorted(&sorted, prob), expected, "{prob}");
        }
        assert_eq!(of_sorted(&[7.0], 0.05), 7.0);
        assert!(of_sorted(&[], 0.5).is_nan());
        assert!(of_unsorted(&mut [], 0.5).is_nan());
    }

    #[test]
    fn half_widths_are_quantiles() {
        for (width, prob) in [(NORMAL_50, 0.75), (NORMAL_90, 0.95), (NORMAL_95, 0.975)] {
            assert!((normal(prob) - width).abs() < 1e-14, "{prob}");
        }
    }

    #[test]
    fn quantiles_of_infinite_values_are_numbers() {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(of_sorted(&[1.0, high, high], 0.75), high);
        assert_eq!(of_sorted(&[1.0, high], 0.25), high);
        assert_eq!(of_sorted(&[low, high], 0.25), low);
        assert_eq!(of_sorted(&[low, high], 0.75), high);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(any::<f64>(), 0..40), prob in 0.0..=1.0) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let (ours, expected) = (of_unsorted(&mut values, prob), of_sorted(&sorted, prob));
            prop_assert!(ours == expected || ours.is_nan() && expected.is_nan(), "{ours} {expected}");
        }
    }
}
