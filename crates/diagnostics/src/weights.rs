//! Weighted draws: averages are the ratio estimates Σ w g / Σ w, and everything else follows from them.
//!
//! Weights come as one slice per chain, beside the draws; no slices, or weights that are all equal, mean plain draws, and
//! then nothing here is used. Only the relative size of weights matters. They may be negative (signed estimators of a
//! likelihood) as long as their sum is positive beyond doubt; otherwise every measure is missing ([`Missing::Weights`]).
//! With v = w / w̄ over the S draws of all chains:
//!
//! | measure | definition |
//! |---|---|
//! | mean, sd | m = Σ v x / S; sd² = Σ v (x - m)² / (S - 1) |
//! | quantiles | inverse of the cdf of the weights at the draws ([`cdf`]), linear in between |
//! | shortest interval | between two draws over which that cdf rises by the interval's probability |
//! | MCSE of the mean of g | from the autocovariances of the influences z = v (g - m), as for plain draws: the delta method for a ratio |
//! | effective sample size for g | weighted variance of g / MCSE²: the independent unweighted draws with that error |
//! | bulk, tail, folded | g as for plain draws, with ranks S F + 1/2 from the cdf F of the weights |
//! | R-hat | from the weighted mean and variance of each half chain; see [`super::rhat`] |
//! | densities, ranks | every draw counts v times; negative parts of a curve or bar are cut off |

use super::Missing;
use super::ess::ess_mean;
use super::moments::{mean_of, sum};

/// How many standard errors the mean of signed weights must be away from zero.
const SIGNED_MARGIN: f64 = 3.0;

/// Weights of the first `draws` draws of every chain over their mean, chain after chain; `None` for plain draws.
///
/// Weights that are not finite, too few, or whose sum is not positive are [`Missing::Weights`]; signed weights must
/// have a mean of at least three standard errors, correlation along the chains included, since a ratio over less has no
/// usable error.
pub fn relative<W: AsRef<[f64]>>(weights: &[W], draws: usize) -> Option<Result<Vec<f64>, Missing>> {
    let mut all = Vec::with_capacity(weights.len() * draws);
    for chain in weights {
        let Some(chain) = chain.as_ref().get(..draws) else {
            return Some(Err(Missing::Weights));
        };
        all.extend_from_slice(chain);
    }
    let first = *all.first()?;
    if all.iter().all(|&w| w == first) {
        return None;
    }
    let mean = mean_of(&all);
    let margin = if all.iter().any(|&w| w < 0.0) {
        let variance = sum(&all, |w| (w - mean) * (w - mean)) / all.len() as f64;
        let chains: Vec<&[f64]> = all.chunks_exact(draws).collect();
        // Signs change block by block, so that draws near each other have the same. Too few to tell count as independent.
        let independent = all.len() as f64;
        let effective = ess_mean(&chains).map_or(independent, |ess| ess.min(independent));
        SIGNED_MARGIN * (variance / effective).sqrt()
    } else {
        0.0
    };
    if !(mean.is_finite() && mean > margin) {
        return Some(Err(Missing::Weights));
    }
    for w in &mut all {
        *w /= mean;
    }
    Some(Ok(all))
}

/// Whether averages over these draws are weighted at all.
pub fn matter(weights: &[Vec<f64>]) -> bool {
    let mut all = weights.iter().flatten();
    let first = all.next();
    all.any(|w| Some(w) != first)
}

/// Σ v f(x) / S for relative weights `v`.
pub(super) fn mean_with(v: &[f64], x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let total: f64 = v.iter().zip(x).map(|(v, &x)| v * f(x)).sum();
    total / x.len() as f64
}

/// Writes the cdf at the draws in ascending order, `order` being their positions: the weight below plus half of one's own,
/// over the weight of all.
///
/// Negative weights can make it fall; it is then replaced by the middle between its running maximum from below and its
/// running minimum from above, which both rise. Without negative weights that changes nothing.
pub fn cdf(v: &[f64], order: &[u32], out: &mut Vec<f64>) {
    out.clear();
    let scale = 1.0 / v.len() as f64;
    let mut below = 0.0;
    let mut highest = f64::NEG_INFINITY;
    let mut upper = Vec::with_capacity(order.len());
    for &position in order {
        let own = v[position as usize] * scale;
        let here = below + 0.5 * own;
        highest = highest.max(here);
        upper.push(highest);
        out.push(here);
        below += own;
    }
    let mut lowest = f64::INFINITY;
    for (here, upper) in out.iter_mut().zip(upper).rev() {
        lowest = lowest.min(*here);
        *here = 0.5 * (upper + lowest);
    }
}

/// The value at which the cdf at ascending `sorted` reaches `prob`, linear in between and constant beyond the ends.
pub fn quantile(sorted: &[f64], cdf: &[f64], prob: f64) -> f64 {
    let above = cdf.partition_point(|&c| c < prob);
    if above == 0 || above == sorted.len() {
        return sorted[above.min(sorted.len() - 1)];
    }
    let (low, high) = (sorted[above - 1], sorted[above]);
    if low == high {
        return low;
    }
    let share = (prob - cdf[above - 1]) / (cdf[above] - cdf[above - 1]);
    // Rises with the share to the last digit, which the sum of both in their shares does not.
    (low + share * (high - low)).min(high)
}

/// The shortest interval between two of the ascending values `sorted` over which their cdf rises by `share`; all of them where it
/// rises by less.
pub fn shortest(sorted: &[f64], cdf: &[f64], share: f64) -> [f64; 2] {
    let mut found = [sorted[0], sorted[sorted.len() - 1]];
    let mut above = 0;
    for (low, below) in sorted.iter().zip(cdf) {
        while above < cdf.len() && cdf[above] - below < share {
            above += 1;
        }
        let Some(high) = sorted.get(above) else {
            break;
        };
        if high - low < found[1] - found[0] {
            found = [*low, *high];
        }
    }
    found
}

/// Influence of every draw on the weighted mean, v (x - m), chain by chain, for the autocorrelation of a weighted run;
/// the draws themselves where weights do not matter. Chains are cut to the shortest.
pub fn influence(chains: &[Vec<f64>], weights: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, Missing> {
    let draws = chains.iter().map(Vec::len).min().unwrap_or(0);
    let Some(v) = relative(weights, draws).transpose()? else {
        return Ok(chains.to_vec());
    };
    let x: Vec<f64> = chains
        .iter()
        .flat_map(|chain| &chain[..draws])
        .copied()
        .collect();
    let mean = mean_with(&v, &x, |x| x);
    let z: Vec<f64> = v.iter().zip(&x).map(|(v, x)| v * (x - mean)).collect();
    Ok(z.chunks_exact(draws.max(1)).map(<[f64]>::to_vec).collect())
}

#[cfg(test)]
mod tests;
