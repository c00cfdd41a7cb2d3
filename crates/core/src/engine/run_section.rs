//! How long a run is, and when it ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::keep;
use super::start::{SPREAD, Start};

use ergodic_diagnostics::verdict::{Precision, RHAT_LIMIT};
use ergodic_diagnostics::zero_variance::Order;

/// Default of kept draws per chain: with four chains they give R-hat and tails enough to work with.
pub const DEFAULT_DRAWS: u64 = 1000;
/// Default of the most kept draws per chain of a run that ends by its precision: ten times the usual. The run
/// nearly always ends before; a sampler with one effective draw in a hundred still gets to what is usually asked for.
pub const PRECISION_DRAWS: u64 = 10_000;
/// Default of the most kept draws for each effective draw that one chain is asked for, where many are.
const DRAWS_PER_EFFECTIVE: f64 = 10.0;
/// Default number of chains (Vehtari et al. 2021).
pub(crate) const DEFAULT_CHAINS: usize = 4;
/// Most chains: each is a thread.
pub const MAX_CHAINS: usize = 256;
fn no() -> bool {
    false
}

fn is_no(value: &bool) -> bool {
    !value
}

fn is_usual(spread: &f64) -> bool {
    *spread == SPREAD
}

fn is_all(keep: &str) -> bool {
    keep == keep::ALL
}

/// Chains, draws, seed and when to stop: the section `[run]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Number of chains.
    pub chains: usize,
    /// Groups of neighbouring chains, of equal size, that begin at one point each: for many short chains, which nested R-hat judges.
    /// Absent: each chain begins at a point of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superchains: Option<usize>,
    /// Iterations of warm-up; absent: the sampler's own rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u64>,
    /// Iteration at which the warm-up of each chain was ended by hand; its plan, by which samplers adapt, stays `warmup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_of_chains: Option<Vec<u64>>,
    /// Kept draws per chain (the most, when another stop rule is set).
    pub draws: u64,
    /// Kept draws of each chain of a run that was stopped early: replays exactly, other stop rules are then ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws_of_chains: Option<Vec<u64>>,
    /// Reported quantities whose draws are kept ([`keep::Keep`]); of the others means and standard deviations are accumulated.
    #[serde(skip_serializing_if = "is_all")]
    pub keep: String,
    /// Whether a run that is not precise enough after `draws` goes on, where that is cheap ([`ergodic_core::engine::stages`]).
    #[serde(default = "no", skip_serializing_if = "is_no")]
    pub until_precise: bool,
    /// Degree of the control variates by which means and standard deviations are corrected while the run goes on: gradients at its draws
    /// are then kept with them ([`super::gradients`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_variance: Option<Order>,
    /// Seed of all random numbers, 0 to 2^63 − 1.
    pub seed: u64,
    /// Stop after this many seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Stop when every variable has this bulk and tail effective sample size …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ess: Option<f64>,
    /// … and this R-hat (1.01 if only `target_ess` is set).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_rhat: Option<f64>,
    /// Where chains start.
    #[serde(skip_serializing_if = "Start::is_mode")]
    pub start: Start,
    /// Posterior standard deviations around the mode at which chains start that nobody tells to start elsewhere, above 0.
    #[serde(skip_serializing_if = "is_usual")]
    pub start_spread: f64,
    /// The last draws, by reported quantity, of the chains of the run that [`Start::Run`] names, one number per chain: with them
    /// a recipe replays whatever becomes of that run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub start_draws: BTreeMap<String, Vec<f64>>,
}

impl Default for RunSection {
    fn default() -> Self {
        Self {
            chains: DEFAULT_CHAINS,
            superchains: None,
            warmup: None,
            warmup_of_chains: None,
            draws: DEFAULT_DRAWS,
            draws_of_chains: None,
            keep: keep::ALL.to_owned(),
            until_precise: true,
            zero_variance: None,
            seed: 1,
            max_seconds: None,
            target_ess: None,
            target_rhat: None,
            start: Start::Mode,
            start_spread: SPREAD,
            start_draws: BTreeMap::new(),
        }
    }
}

impl RunSection {
    /// The precision that ends the run, where one is set.
    pub fn precision(&self) -> Option<Precision> {
        match (self.target_ess, self.target_rhat) {
            (None, None) => None,
            (ess, rhat) => Some(Precision {
                ess,
                rhat: rhat.unwrap_or(RHAT_LIMIT),
            }),
        }
    }

    /// The number of the point at which chain `chain` (0-based) begins.
    pub fn start_of(&self, chain: usize) -> usize {
        match self.superchains {
            Some(groups) => chain / (self.chains / groups.max(1)).max(1),
            None => chain,
        }
    }

    /// Drops all rules by which a run ends but its number of draws, and what was recorded of chains.
    pub fn stop_by_draws_alone(&mut self) {
        self.until_precise = false;
        self.draws_of_chains = None;
        self.warmup_of_chains = None;
        self.max_seconds = None;
        self.target_ess = None;
        self.target_rhat = None;
    }

    /// Draws enough to reach the precision that is set, where nobody has named their number.
    pub fn leave_room(&mut self) {
        let Some(precision) = self.precision() else {
            return;
        };
        let of_chain = precision.ess.unwrap_or_default() / self.chains.max(1) as f64;
        let room = (DRAWS_PER_EFFECTIVE * of_chain).ceil() as u64;
        self.draws = self.draws.max(room).max(PRECISION_DRAWS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_a_group_begin_at_one_point() {
        let starts = |chains: usize, superchains: Option<usize>| -> Vec<usize> {
            let run = RunSection {
                chains,
                superchains,
                ..RunSection::default()
            };
            (0..chains).map(|chain| run.start_of(chain)).collect()
        };
        assert_eq!(starts(6, Some(3)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(starts(6, Some(2)), [0, 0, 0, 1, 1, 1]);
        assert_eq!(starts(4, None), [0, 1, 2, 3]);
    }
}
