//! How long a run is, and when it ends.

use std::collections::BTreeMap;

use super::keep;
use super::start::{MOST_SPREAD, SPREAD, Start};

use ergodic_base::settings::{Numbers, is_default};
use ergodic_diagnostics::zero_variance::Order;
use ergodic_diagnostics::{Precision, RHAT_LIMIT};

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

fn is_usual(spread: &f64) -> bool {
    *spread == SPREAD
}

fn is_all(keep: &str) -> bool {
    keep == keep::ALL
}

ergodic_base::section! {
    /// Chains, draws, seed and when to stop: the section `[run]` of a recipe.
    #[serde(deny_unknown_fields, default)]
    pub struct RunSection in "run." {
        /// Chains, each with a thread of its own
        pub chains: usize = DEFAULT_CHAINS, in Numbers::FromTo(1, MAX_CHAINS as i64), such as "4";
        /// Groups of neighbouring chains that begin at one point each: for many short chains, which nested R-hat judges
        pub superchains?: Option<usize>, takes "whole number from 2 that divides run.chains",
            default "none: each chain begins at a point of its own", such as "2";
        /// Iterations before draws are kept
        pub warmup?: Option<u64>, takes "whole number", default "by the sampler", such as "50";
        // The plan, by which samplers adapt, stays `warmup`.
        /// Where the warm-up of each chain was ended by hand
        pub warmup_of_chains?: Option<Vec<u64>>, takes "a list of whole numbers", such as "[3, 3, 3, 3]", listed last;
        /// Kept draws per chain; the most, where another rule stops the run
        pub draws: u64 = DEFAULT_DRAWS, in Numbers::From(1), default "1000; 10000 or more with a target", such as "70";
        /// Kept draws of each chain of a run that was stopped: replays it exactly
        pub draws_of_chains?: Option<Vec<u64>>, takes "a list of whole numbers", such as "[3, 3, 3, 3]", listed last;
        /// Reported quantities whose draws are kept, in memory and on disk; of the others means and standard deviations are
        /// accumulated while the chains run
        #[serde(skip_serializing_if = "is_all")]
        pub keep: String = keep::ALL.to_owned(), takes "all, or names and patterns such as b[*], sigma", such as "b[*], sigma";
        // Recipes of earlier versions, which do not say, stop at their draws.
        /// Whether a run of 1000 draws or more that is not precise enough goes on, where that is cheap
        #[serde(default, skip_serializing_if = "is_default")]
        pub until_precise: bool = true, takes "true | false", default "true, unless draws or targets are named", such as "false";
        /// Control variates by which means and standard deviations are corrected while the run goes on, from exact gradients that
        /// are kept with its draws: linear ones are exact for means of normal posteriors, quadratic ones also for variances
        pub zero_variance?: Option<Order>, takes "linear | quadratic", such as Order::Linear.word();
        /// Seed of all random numbers
        pub seed: u64 = 1, in Numbers::FromTo(0, i64::MAX), such as "7";
        /// Stop after this many seconds
        pub max_seconds?: Option<f64>, in Numbers::Above(0.0), such as "9";
        /// Stop once every variable has this effective sample size, bulk and tail
        pub target_ess?: Option<f64>, in Numbers::Above(0.0), such as "500";
        /// Stop once every R-hat is at most this
        pub target_rhat?: Option<f64>, in Numbers::Above(1.0), default "1.01 with target_ess", such as "1.02";
        /// Where chains start: around the mode; each at a draw of the prior; at values, for all chains or with `;` between those
        /// of each, other parameters around the mode; or at the last draws of a run
        pub start?: Start, takes "mode | prior | values such as b[age]=1, intercept=0 | a run folder", default "mode", such as "prior";
        /// Posterior standard deviations around the mode at which chains start; a sampler that decides itself when its warm-up
        /// ends needs them far away, such as 10
        #[serde(skip_serializing_if = "is_usual")]
        pub start_spread: f64 = SPREAD, in Numbers::AboveTo(0.0, MOST_SPREAD), such as "5";
        /// The last draws of the run that run.start names, one per chain: written by the program, so that the recipe replays
        /// without that run
        pub start_draws.NAME?: BTreeMap<String, Vec<f64>>, takes "a list of numbers", default "read from the run folder",
            such as "[0.5, 1, 1, 1]";
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
