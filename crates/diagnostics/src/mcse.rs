//! Monte Carlo standard errors: how much an estimate would move if the chains were run again.

use statrs::function::beta::inv_beta_reg;

use super::pooled::{Pooled, View};
use super::{Estimate, Missing};

/// One standard deviation to either side on the normal scale, with the digits posterior uses.
const ONE_SD: [f64; 2] = [0.158_655_3, 0.841_344_7];

/// Of the mean: sd / sqrt(ess_mean). In the unit of the draws.
pub fn mcse_mean(chains: &[&[f64]]) -> Estimate {
    pooled_mcse_mean(&mut Pooled::of(chains))
}

/// Of the standard deviation, from the fourth central moment and the effective sample size of the squares.
pub fn mcse_sd(chains: &[&[f64]]) -> Estimate {
    pooled_mcse_sd(&mut Pooled::of(chains))
}

/// Of the quantile of probability `prob` in [0, 1]: half the distance between the order statistics at the
/// quantiles 0.16 and 0.84 of Beta(ess p + 1, ess (1 - p) + 1).
pub fn mcse_quantile(chains: &[&[f64]], prob: f64) -> Estimate {
    pooled_mcse_order(&mut Pooled::of(chains), prob)
}

/// Monte Carlo error of a quantile as in posterior, with places rounded to order statistics; without rounding of weighted draws,
/// which have no such places.
pub(super) fn pooled_mcse_order(pooled: &mut Pooled, prob: f64) -> Estimate {
    if pooled.is_weighted() {
        return pooled_mcse_quantile(pooled, prob);
    }
    let ess = pooled.ess(View::Below(prob))?;
    let draws = pooled.num_draws();
    let [low, high] = ONE_SD.map(|p| {
        let place = inv_beta_reg(ess * prob + 1.0, ess * (1.0 - prob) + 1.0, p) * draws as f64;
        place.clamp(0.0, draws as f64)
    });
    let sorted = pooled.sorted();
    let low = (low.floor() as usize).max(1);
    let high = (high.ceil() as usize).clamp(1, draws);
    Ok((sorted[high - 1] - sorted[low - 1]) / 2.0)
}

/// Monte Carlo error of a quantile, of weighted draws too: half the distance between the quantiles at these places, which are
/// not rounded to order statistics.
pub(super) fn pooled_mcse_quantile(pooled: &mut Pooled, prob: f64) -> Estimate {
    let ess = pooled.ess(View::Below(prob))?;
    let [low, high] = ONE_SD.map(|p| inv_beta_reg(ess * prob + 1.0, ess * (1.0 - prob) + 1.0, p));
    Ok((pooled.quantile(high)? - pooled.quantile(low)?) / 2.0)
}

pub(super) fn pooled_mcse_mean(pooled: &mut Pooled) -> Estimate {
    Ok(pooled.sd()? / pooled.ess(View::Raw)?.sqrt())
}

pub(super) fn pooled_mcse_sd(pooled: &mut Pooled) -> Estimate {
    let ess = pooled.ess(View::SquaredDeviation)?;
    let variance = pooled.central_moment(2);
    let of_variance = (pooled.central_moment(4) - variance * variance) / ess;
    let of_sd = of_variance / variance / 4.0;
    if of_sd.is_nan() {
        Err(Missing::NotFinite)
    } else {
        Ok(of_sd.max(0.0).sqrt())
    }
}
