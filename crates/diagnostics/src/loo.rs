//! Leave-one-out cross-validation from pointwise log likelihoods: how well a model predicts a row that it has not seen.
//!
//! Source: Vehtari, Gelman and Gabry (2017), Statistics and Computing 27:1413, and its R package loo. With ℓ_s = log p(y_i | θ_s)
//! the draws get importance weights exp(−ℓ_s), smoothed by [`super::psis`], so that they stand for the posterior without row i;
//! elpd_i is the logarithm of the weighted mean of exp(ℓ_s). Its sum over rows is elpd_loo, and p_loo is by how much the plain
//! mean is larger: the effective number of parameters. Standard errors are those of a sum of independent rows, sqrt(n var).
//!
//! | quantity | definition |
//! |---|---|
//! | relative efficiency | effective sample size of exp(ℓ) by [`super::ess::ess_mean`] per draw, as in later versions of loo |
//! | Pareto k | shape of the weights' tail; good up to min(1 − 1/log10(S), 0.7) (Vehtari et al. 2024) |
//! | elpd_waic | lpd less the variance of ℓ over draws, Watanabe (2010); for those who know it, LOO is more robust |
//! | Monte Carlo error | variance Σ w² (p − p̄)² / r of the weighted mean p̄, on the scale of logarithms by the log-normal with these moments |
//!
//! Draws with weights of their own, none negative, get the product of both; their efficiency is that of the draws as they are.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::moment_match::{Draws, Matched, Target};
use super::Missing;
use super::pooled::{Pooled, Tables, View};
use super::psis::{LIMIT, Smoothed, smooth};

pub mod moment_match;
mod stacking;

pub use stacking::stacking;

/// Pareto k above which weights have no mean and an estimate is worth nothing.
pub const VERY_BAD: f64 = 1.0;

/// What cross-validation says of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowScore {
    /// Expected log predictive density of the row by a posterior without it.
    pub elpd: f64,
    /// Log predictive density of the row by the posterior with it.
    pub lpd: f64,
    /// Variance of the log density over draws: what WAIC takes from `lpd`.
    pub p_waic: f64,
    /// Pareto k of the weights: −∞ where the row says the same at every draw, so that nothing is to be smoothed; ∞ where
    /// there are too few draws to fit a tail.
    pub k: f64,
    /// Variance of `elpd` that comes from the finite number of draws.
    pub mc_variance: f64,
}

impl RowScore {
    /// The row's part of the effective number of parameters.
    pub fn p(&self) -> f64 {
        self.lpd - self.elpd
    }

    /// The row's part of elpd_waic.
    pub fn elpd_waic(&self) -> f64 {
        self.lpd - self.p_waic
    }
}

/// A sum over rows with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// The sum.
    pub estimate: f64,
    /// sqrt(n var): NaN with one row.
    pub se: f64,
}

impl Total {
    /// The sum of these values.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count() as f64;
        let estimate: f64 = values.clone().sum();
        let mean = estimate / n;
        let squares: f64 = values.map(|v| (v - mean) * (v - mean)).sum();
        Self {
            estimate,
            se: (n * squares / (n - 1.0)).sqrt(),
        }
    }

    /// The total in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            estimate: factor * self.estimate,
            se: factor.abs() * self.se,
        }
    }
}

/// Scores rows one after the other; each thread has one of its own.
pub struct Scorer {
    chains: Arc<Chains>,
    pooled: Pooled,
    ratios: Vec<f64>,
}

/// The shape of the draws, shared by the scorers of all threads.
pub struct Chains {
    /// Draws of each chain.
    lengths: Vec<usize>,
    /// Of the shortest.
    shortest: usize,
    /// Logarithms of the draws' own weights, chain after chain.
    log_weights: Option<Vec<f64>>,
    tables: Arc<Tables>,
}

impl Chains {
    /// For chains of these lengths, whose draws have these `weights`, chain after chain, if any.
    ///
    /// # Errors
    /// Weights that are negative or not finite, of other draws, or all 0.
    pub fn new(lengths: &[usize], weights: Option<&[f64]>) -> Result<Arc<Self>, Missing> {
        let total: usize = lengths.iter().sum();
        let log_weights = match weights {
            None => None,
            Some(weights) => {
                let usable = |w: &f64| w.is_finite() && *w >= 0.0;
                let sum: f64 = weights.iter().sum();
                if weights.len() != total || !weights.iter().all(usable) || sum <= 0.0 {
                    return Err(Missing::Weights);
                }
                Some(weights.iter().map(|w| (w / sum).ln()).collect())
            }
        };
        let shortest = lengths.iter().copied().min().unwrap_or(0);
        Ok(Arc::new(Self {
            tables: Tables::new::<&[f64]>(lengths.len(), shortest, &[]),
            lengths: lengths.to_vec(),
            shortest,
            log_weights,
        }))
    }

    /// Draws of all chains.
    pub fn num_draws(&self) -> usize {
        self.lengths.iter().sum()
    }
}

impl Scorer {
    /// For draws of this shape.
    pub fn new(chains: &Arc<Chains>) -> Self {
        Self {
            pooled: Pooled::new(Arc::clone(&chains.tables)),
            chains: Arc::clone(chains),
            ratios: Vec::new(),
        }
    }

    /// The score of the row whose log density at every draw is `log_lik`, chain after chain.
    ///
    /// # Errors
    /// Too few draws, or a log density that is not finite.
    pub fn score(&mut self, log_lik: &[f64]) -> Result<RowScore, Missing> {
        let draws = log_lik.len();
        assert_eq!(draws, self.chains.num_draws(), "one value per draw");
        if draws < 2 {
            return Err(Missing::TooFew);
        }
        if !log_lik.iter().all(|value| value.is_finite()) {
            return Err(Missing::NotFinite);
        }
        let largest = log_lik.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let even = -(draws as f64).ln();
        let log_weight = |s: usize| self.chains.log_weights.as_ref().map_or(even, |w| w[s]);
        let lik = || log_lik.iter().map(|value| (value - largest).exp());
        let plain: f64 = lik()
            .enumerate()
            .map(|(s, lik)| log_weight(s).exp() * lik)
            .sum();
        let mean: f64 = (log_lik.iter().enumerate())
            .map(|(s, value)| log_weight(s).exp() * value)
            .sum();
        let squares: f64 = (log_lik.iter().enumerate())
            .map(|(s, value)| log_weight(s).exp() * (value - mean) * (value - mean))
            .sum();
        let lpd = largest + plain.ln();
        let s = draws as f64;
        let p_waic = squares * s / (s - 1.0);
        let first = log_lik[0];
        if log_lik.iter().all(|&value| value == first) {
            // Every draw says the same: nothing is uncertain, and no weight differs because of this row.
            return Ok(RowScore {
                elpd: lpd,
                lpd,
                p_waic: 0.0,
                k: f64::NEG_INFINITY,
                mc_variance: 0.0,
            });
        }
        let efficiency = self.efficiency(log_lik, largest);
        let smoothed = self.smoothed(log_lik, efficiency);
        let weighted: f64 = lik().zip(&smoothed.weights).map(|(lik, w)| w * lik).sum();
        let spread: f64 = (lik().zip(&smoothed.weights))
            .map(|(lik, w)| (w * (lik - weighted)).powi(2))
            .sum();
        let relative = spread / efficiency / (weighted * weighted);
        Ok(RowScore {
            elpd: largest + weighted.ln(),
            lpd,
            p_waic,
            k: if smoothed.k.is_nan() {
                f64::INFINITY
            } else {
                smoothed.k
            },
            mc_variance: relative.ln_1p(),
        })
    }

    /// Importance weights of the draws, so that they stand for the posterior without the row whose log density at every draw
    /// is `log_lik`, chain after chain; finite all.
    pub fn weights(&mut self, log_lik: &[f64]) -> Smoothed {
        let largest = log_lik.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let efficiency = self.efficiency(log_lik, largest);
        self.smoothed(log_lik, efficiency)
    }

    /// The score of a row by moment matching, whose log density at every draw of `draws` is `log_lik`, chain after chain; `None` where
    /// its Pareto k is at most `limit` already, or nothing lowers it.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn moment_match<T: Target>(
        &mut self,
        target: &mut T,
        draws: Draws<'_>,
        log_lik: &[f64],
        limit: f64,
    ) -> Result<Option<Matched>, T::Error> {
        let largest = log_lik.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let efficiency = self.efficiency(log_lik, largest);
        moment_match::moment_match(target, draws, log_lik, (efficiency, limit))
    }

    fn smoothed(&mut self, log_lik: &[f64], efficiency: f64) -> Smoothed {
        let even = -(log_lik.len() as f64).ln();
        let log_weight = |s: usize| self.chains.log_weights.as_ref().map_or(even, |w| w[s]);
        // Draws of weight 0 are none.
        let ratios =
            (log_lik.iter().enumerate()).map(|(s, value)| (log_weight(s) - value).max(f64::MIN));
        self.ratios.clear();
        self.ratios.extend(ratios);
        smooth(&self.ratios, efficiency)
    }

    /// Effective draws per draw for the mean of exp(ℓ), 1 where it has none: chains that are too short, or all but constant.
    fn efficiency(&mut self, log_lik: &[f64], largest: f64) -> f64 {
        let chains = &self.chains;
        self.pooled.load(|values| {
            let mut rest = log_lik;
            for &length in &chains.lengths {
                let (chain, after) = rest.split_at(length);
                let lik = chain[..chains.shortest].iter();
                values.extend(lik.map(|value| (value - largest).exp()));
                rest = after;
            }
        });
        let draws = self.pooled.num_draws() as f64;
        let ess = self.pooled.ess(View::Raw);
        ess.map_or(1.0, |ess| ess / draws)
    }
}

/// How many rows have a Pareto k that is good, bad and very bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reliability {
    /// Up to the threshold.
    pub good: usize,
    /// Above it, up to [`VERY_BAD`].
    pub bad: usize,
    /// Above that.
    pub very_bad: usize,
}

/// The Pareto k up to which `draws` draws are enough for an estimate, min(1 − 1/log10(S), 0.7).
pub fn threshold(draws: usize) -> f64 {
    (1.0 - 1.0 / (draws as f64).log10()).min(LIMIT)
}

/// Cross-validation of a model: one score per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Loo {
    /// One per row.
    pub rows: Vec<RowScore>,
    /// Draws they were made from.
    pub draws: usize,
}

impl Loo {
    /// Expected log predictive density of new data like these.
    pub fn elpd(&self) -> Total {
        Total::of(self.rows.iter().map(|row| row.elpd))
    }

    /// Effective number of parameters.
    pub fn p(&self) -> Total {
        Total::of(self.rows.iter().map(RowScore::p))
    }

    /// −2 elpd, on the scale of deviances.
    pub fn looic(&self) -> Total {
        self.elpd().times(-2.0)
    }

    /// What WAIC estimates in the place of [`Self::elpd`].
    pub fn elpd_waic(&self) -> Total {
        Total::of(self.rows.iter().map(RowScore::elpd_waic))
    }

    /// Effective number of parameters by WAIC.
    pub fn p_waic(&self) -> Total {
        Total::of(self.rows.iter().map(|row| row.p_waic))
    }

    /// −2 elpd_waic.
    pub fn waic(&self) -> Total {
        self.elpd_waic().times(-2.0)
    }

    /// Monte Carlo standard error of [`Self::elpd`]; `None` where a Pareto k says that there is none.
    pub fn mcse(&self) -> Option<f64> {
        let limit = self.threshold();
        let usable = self.rows.iter().all(|row| row.k <= limit);
        let variance = || self.rows.iter().map(|row| row.mc_variance).sum::<f64>();
        usable.then(|| variance().sqrt())
    }

    /// See [`threshold`].
    pub fn threshold(&self) -> f64 {
        threshold(self.draws)
    }

    /// Rows by their Pareto k.
    pub fn reliability(&self) -> Reliability {
        let limit = self.threshold();
        let mut counts = Reliability::default();
        for row in &self.rows {
            if row.k <= limit {
                counts.good += 1;
            } else if row.k <= VERY_BAD {
                counts.bad += 1;
            } else {
                counts.very_bad += 1;
            }
        }
        counts
    }

    /// Positions of rows whose Pareto k is not good, the largest first.
    pub fn doubtful(&self) -> Vec<usize> {
        let limit = self.threshold();
        let mut found: Vec<usize> = (0..self.rows.len())
            .filter(|&i| self.rows[i].k > limit)
            .collect();
        found.sort_by(|&a, &b| self.rows[b].k.total_cmp(&self.rows[a].k));
        found
    }

    /// elpd of this model less that of `other`, of the same rows in the same order, with the standard error of differences
    /// row by row.
    pub fn difference(&self, other: &Self) -> Total {
        let pairs = self.rows.iter().zip(&other.rows);
        Total::of(pairs.map(|(mine, theirs)| mine.elpd - theirs.elpd))
    }
}

#[cfg(test)]
mod tests;
