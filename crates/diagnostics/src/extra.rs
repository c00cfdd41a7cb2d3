//! Columns of the summary that are computed when somebody asks for them.

use std::sync::Arc;

use rayon::prelude::*;

use super::ess::pooled_ess_local;
use super::mcse::{pooled_mcse_order, pooled_mcse_sd};
use super::pooled::{Pooled, Tables, View};
use super::summary::{append_column, shortest};
use ergodic_base::draws::DrawList;

/// One column, or one per chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extra {
    /// Monte Carlo error of the standard deviation.
    McseSd,
    /// Monte Carlo error of the 5 % quantile.
    McseQ5,
    /// Monte Carlo error of the median.
    McseQ50,
    /// Monte Carlo error of the 95 % quantile.
    McseQ95,
    /// Effective sample size for the mean.
    EssMean,
    /// Effective sample size for the standard deviation.
    EssSd,
    /// Effective sample size for the 5 % quantile.
    EssQ5,
    /// Effective sample size for the median.
    EssQ50,
    /// Effective sample size for the 95 % quantile.
    EssQ95,
    /// The smallest over small intervals of probability.
    EssLocal,
    /// Draws per effective draw of the mean.
    Inefficiency,
    /// Seconds per effective draw of the mean.
    ComputationalTime,
    /// Nested R-hat of groups of chains.
    RhatNested,
    /// Lower end of the interval between quantiles that leaves as much out on both sides.
    Low,
    /// Upper end of the interval between quantiles.
    High,
    /// Lower end of the shortest interval of the same probability.
    HdiLow,
    /// Upper end of the shortest interval.
    HdiHigh,
    /// Probability of being above 0.
    PPositive,
    /// Probability of lying in the range that counts as 0.
    InRope,
    /// Mean of each chain.
    ChainMean,
    /// Standard deviation of each chain.
    ChainSd,
    /// Bulk effective sample size of each chain.
    ChainEssBulk,
}

impl Extra {
    /// All, in the order of their columns.
    pub const ALL: [Self; 22] = [
        Self::McseSd,
        Self::McseQ5,
        Self::McseQ50,
        Self::McseQ95,
        Self::EssMean,
        Self::EssSd,
        Self::EssQ5,
        Self::EssQ50,
        Self::EssQ95,
        Self::EssLocal,
        Self::Inefficiency,
        Self::ComputationalTime,
        Self::RhatNested,
        Self::Low,
        Self::High,
        Self::HdiLow,
        Self::HdiHigh,
        Self::PPositive,
        Self::InRope,
        Self::ChainMean,
        Self::ChainSd,
        Self::ChainEssBulk,
    ];

    /// The column's name in files; those of chains have the chain's number in brackets behind it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::McseSd => "mcse_sd",
            Self::McseQ5 => "mcse_q5",
            Self::McseQ50 => "mcse_q50",
            Self::McseQ95 => "mcse_q95",
            Self::EssMean => "ess_mean",
            Self::EssSd => "ess_sd",
            Self::EssQ5 => "ess_q5",
            Self::EssQ50 => "ess_q50",
            Self::EssQ95 => "ess_q95",
            Self::EssLocal => "ess_local",
            Self::Inefficiency => "inefficiency",
            Self::ComputationalTime => "computational_time",
            Self::RhatNested => "rhat_nested",
            Self::Low => "low",
            Self::High => "high",
            Self::HdiLow => "hdi_low",
            Self::HdiHigh => "hdi_high",
            Self::PPositive => "p_positive",
            Self::InRope => "in_rope",
            Self::ChainMean => "chain_mean",
            Self::ChainSd => "chain_sd",
            Self::ChainEssBulk => "chain_ess_bulk",
        }
    }

    /// What the column says, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::McseSd => "Monte Carlo standard error of the standard deviation",
            Self::McseQ5 => "Monte Carlo standard error of the 5% quantile",
            Self::McseQ50 => "Monte Carlo standard error of the median",
            Self::McseQ95 => "Monte Carlo standard error of the 95% quantile",
            Self::EssMean => "Effective sample size for the mean",
            Self::EssSd => "Effective sample size for the standard deviation",
            Self::EssQ5 => "Effective sample size for the 5% quantile",
            Self::EssQ50 => "Effective sample size for the median",
            Self::EssQ95 => "Effective sample size for the 95% quantile",
            Self::EssLocal => {
                "Smallest effective sample size for the share of draws in one of 20 intervals of equal probability"
            }
            Self::Inefficiency => "Inefficiency factor: draws per effective draw of the mean",
            Self::ComputationalTime => "Seconds of sampling per effective draw of the mean",
            Self::RhatNested => {
                "Nested R-hat of groups of chains that began at the same points, for many short chains"
            }
            Self::Low => "Lower end of the interval that leaves as much out below as above",
            Self::High => "Upper end of that interval",
            Self::HdiLow => "Lower end of the shortest interval (highest density)",
            Self::HdiHigh => "Upper end of the shortest interval (highest density)",
            Self::PPositive => "Probability of being above 0",
            Self::InRope => "Probability of lying in the range that counts as 0",
            Self::ChainMean => "Mean of each chain",
            Self::ChainSd => "Standard deviation of each chain",
            Self::ChainEssBulk => "Bulk effective sample size of each chain",
        }
    }

    /// What kind of number it is.
    pub const fn measure(self) -> Measure {
        match self {
            Self::McseSd | Self::McseQ5 | Self::McseQ50 | Self::McseQ95 => Measure::Error,
            Self::EssMean
            | Self::EssSd
            | Self::EssQ5
            | Self::EssQ50
            | Self::EssQ95
            | Self::EssLocal
            | Self::ChainEssBulk => Measure::Size,
            Self::Inefficiency => Measure::Factor,
            Self::ComputationalTime => Measure::Time,
            Self::RhatNested => Measure::Rhat,
            Self::Low | Self::High | Self::HdiLow | Self::HdiHigh => Measure::Quantile,
            Self::PPositive | Self::InRope => Measure::Probability,
            Self::ChainMean | Self::ChainSd => Measure::Estimate,
        }
    }

    /// Whether there is one column per chain.
    pub(crate) const fn is_of_chains(self) -> bool {
        matches!(self, Self::ChainMean | Self::ChainSd | Self::ChainEssBulk)
    }
}

/// Kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A location or scale, in the unit of the draws.
    Estimate,
    /// A place among the draws, as well known as their mean.
    Quantile,
    /// A share of the posterior.
    Probability,
    /// A Monte Carlo error, in the unit of the draws.
    Error,
    /// An effective sample size.
    Size,
    /// A ratio.
    Factor,
    /// Seconds.
    Time,
    /// An R-hat.
    Rhat,
}

/// A column that was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExtraColumn {
    /// What the column holds.
    pub extra: Extra,
    /// The chain that it is of, from 1; `None` for all chains together.
    pub chain: Option<usize>,
}

impl ExtraColumn {
    /// Name of the column in files.
    pub fn name(self) -> String {
        let word = self.extra.word();
        self.chain
            .map_or(word.to_owned(), |chain| format!("{word}[{chain}]"))
    }
}

/// Columns of all variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extras {
    /// What was computed.
    pub columns: Vec<ExtraColumn>,
    /// A row per variable, a number per column; `None` where there is none.
    pub rows: Vec<Vec<Option<f64>>>,
}

/// Draws to be looked at, and what is known of them.
#[derive(Clone, Copy, Debug)]
pub struct ExtraInputs<'a> {
    /// Kept draws, one list per chain, of equal width; cut to the shortest.
    pub chains: &'a [&'a DrawList],
    /// Numbers of the chains in the run, from 1; as many as chains.
    pub numbers: &'a [usize],
    /// Weights of the draws, one vector per chain, or none.
    pub weights: &'a [Vec<f64>],
    /// Seconds of sampling, 0 if unknown.
    pub seconds: f64,
    /// Groups of neighbouring chains that began at the same points; without them there is no nested R-hat.
    pub superchains: Option<usize>,
    /// Probability in intervals.
    pub interval: f64,
    /// The range that counts as 0; without it there is no share in it.
    pub rope: Option<[f64; 2]>,
}

impl Extras {
    /// Computes the columns `wanted` for every column of the draws, in parallel.
    pub fn of(wanted: &[Extra], inputs: &ExtraInputs<'_>) -> Self {
        let (chains, weights) = (inputs.chains, inputs.weights);
        let draws = shortest(chains);
        let tables = Tables::new(chains.len(), draws, weights);
        let each = wanted.iter().any(|extra| extra.is_of_chains());
        let of_chain = |index: usize| {
            let weights = weights.get(index).map_or(&[][..], std::slice::from_ref);
            Tables::new(1, draws, weights)
        };
        let tables_of_chains: Vec<Arc<Tables>> = match each {
            true => (0..chains.len()).map(of_chain).collect(),
            false => Vec::new(),
        };
        let columns = wanted.iter().flat_map(|&extra| {
            let of_chains = inputs.numbers.iter().copied().map(Some);
            let chains: Vec<Option<usize>> = match extra.is_of_chains() {
                true => of_chains.collect(),
                false => vec![None],
            };
            let column = move |chain| ExtraColumn { extra, chain };
            chains.into_iter().map(column)
        });
        let memory = || {
            let of_chains = tables_of_chains.iter();
            let of_chains = of_chains.map(|tables| Pooled::new(Arc::clone(tables)));
            (
                Pooled::new(Arc::clone(&tables)),
                of_chains.collect::<Vec<_>>(),
            )
        };
        let width = chains.first().map_or(0, |chain| chain.width());
        let row = |(pooled, of_chains): &mut (Pooled, Vec<Pooled>), column: usize| {
            pooled.load(|values| append_column(values, chains, column, draws));
            for (of_chain, draws) in of_chains.iter_mut().zip(pooled.chains()) {
                of_chain.load(|values| values.extend_from_slice(draws));
            }
            let numbers = wanted.iter().flat_map(|&extra| {
                if extra.is_of_chains() {
                    let of_chains = of_chains.iter_mut();
                    of_chains
                        .map(|chain| of_chain_value(extra, chain))
                        .collect()
                } else {
                    vec![value(extra, pooled, inputs)]
                }
            });
            numbers.collect()
        };
        Self {
            columns: columns.collect(),
            rows: (0..width).into_par_iter().map_init(memory, row).collect(),
        }
    }
}

fn of_chain_value(extra: Extra, chain: &mut Pooled) -> Option<f64> {
    match extra {
        Extra::ChainMean => chain.mean().ok(),
        Extra::ChainSd => chain.sd().ok(),
        _ => chain.ess(View::Bulk).ok(),
    }
}

/// The number of the loaded variable.
fn value(extra: Extra, pooled: &mut Pooled, inputs: &ExtraInputs<'_>) -> Option<f64> {
    let estimate = match extra {
        Extra::McseSd => pooled_mcse_sd(pooled),
        Extra::McseQ5 => pooled_mcse_order(pooled, 0.05),
        Extra::McseQ50 => pooled_mcse_order(pooled, 0.5),
        Extra::McseQ95 => pooled_mcse_order(pooled, 0.95),
        Extra::EssMean => pooled.ess(View::Raw),
        Extra::EssSd => pooled.ess(View::Deviation),
        Extra::EssQ5 => pooled.ess(View::Below(0.05)),
        Extra::EssQ50 => pooled.ess(View::Below(0.5)),
        Extra::EssQ95 => pooled.ess(View::Below(0.95)),
        Extra::EssLocal => {
            let local = pooled_ess_local(pooled).into_iter().flatten();
            return local.reduce(f64::min);
        }
        Extra::Inefficiency => (pooled.ess(View::Raw)).map(|ess| pooled.num_draws() as f64 / ess),
        Extra::ComputationalTime if inputs.seconds <= 0.0 => return None,
        Extra::ComputationalTime => pooled.ess(View::Raw).map(|ess| inputs.seconds / ess),
        Extra::RhatNested => pooled.rhat_nested(inputs.superchains?),
        Extra::Low => pooled.quantile(0.5 - 0.5 * inputs.interval),
        Extra::High => pooled.quantile(0.5 + 0.5 * inputs.interval),
        Extra::HdiLow => pooled.shortest(inputs.interval).map(|[low, _]| low),
        Extra::HdiHigh => pooled.shortest(inputs.interval).map(|[_, high]| high),
        Extra::PPositive => pooled.share(|x| x > 0.0),
        Extra::InRope => {
            let [from, to] = inputs.rope?;
            pooled.share(|x| (from..=to).contains(&x))
        }
        Extra::ChainMean | Extra::ChainSd | Extra::ChainEssBulk => return None,
    };
    estimate.ok()
}

#[cfg(test)]
mod tests;
