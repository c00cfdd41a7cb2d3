//! What is remarkable about a run while it goes on, beyond the causes of its verdict.

use ergodic_base::numerals::thousands;

use super::mode_drift::QUICK_FIX;

ergodic_base::remarks! {
    /// One thing that is remarkable.
    pub enum Remark {
        /// Draws are far from the centre of the control variates.
        ModeDrift {
            /// Posterior standard deviations.
            distance: f64,
            /// Whether the sampler is approximate.
            biased: bool,
            /// Whether the bias check has found its draws good all the same.
            proved: bool,
        }
        Watch "draws-left-centre" (
            "The draws are {distance:.1} posterior standard deviations from the centre of the control variates, whose gradients \
             are noisy so far away, {}",
            match (biased, proved) {
                (false, _) => "so draws cost more rows than they need",
                (true, true) => "which the bias check has found harmless so far",
                (true, false) => "which may bias the draws",
            }
        ) advice ("{QUICK_FIX}: run again from a mode that is looked for from the mean of these draws");

        /// Modes that were found before are in no draw.
        ModesUnvisited {
            /// How many.
            unvisited: usize,
            /// All that were found.
            modes: usize,
        }
        Bad "modes-unvisited" (
            "The search found {modes} modes that are far apart, and no chain visits {unvisited} of them: the draws leave out a part of \
             the posterior"
        ) advice ("Run more chains, which start in each mode in turn, and compare what they say");

        /// A chain began to keep draws although its criterion did not hold.
        CriterionNotMet {
            /// Which, from 1.
            chain: usize,
            /// Iterations of its warm-up.
            iterations: u64,
        }
        Watch "criterion-not-met" (
            "Chain {chain} began to keep draws after {iterations} iterations although its criterion did not hold"
        ) advice ("Allow a longer warm-up or a larger minibatch");

        /// A chain ended with an error.
        ChainFailed {
            /// Which, from 0.
            index: usize,
            /// The error.
            why: String,
        }
        Bad "chain-failed-{index}" ("Chain {} ended: {why}", index + 1);

        /// A chain does not move.
        ChainStuck {
            /// Which, from 1.
            chain: usize,
            /// Iteration of its last move.
            since: u64,
        }
        Bad "chain-stuck-{chain}" ("Chain {chain} has not moved since iteration {since}")
        advice ("Stop it and try a smaller step size or another seed");

        /// A run of no fixed length goes on.
        GoingOn {
            /// Draws per chain that it has.
            draws: u64,
            /// What the draws lack, as the rest of a sentence.
            lack: String,
            /// Draws per chain that it will have.
            more: u64,
        }
        Info "going-on" (
            "After {} draws per chain {lack}, so the run goes on to {}", thousands(*draws), thousands(*more)
        );
    }
}
