//! What is worked out of a run in the background.

use super::entry::RunEntry;

/// Something that is worked out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// How well the run predicts rows that it has not seen, from all rows and from a sample of them.
    Scores,
    /// How well fits without parts of its rows predict these.
    Folds,
    /// How the run compares with another.
    Comparison,
    /// Predictions of the run's rows.
    Predictions,
    /// Effects on the scale of the outcome, and expressions of parameters.
    Answers,
    /// Predictive checks.
    Replicates,
    /// How good predictions are of the rows that the run holds out.
    HeldOutScores,
    /// Trajectories from where the chains ended.
    Trajectories,
    /// Data and formula fitted by likelihood.
    LikelihoodFit,
    /// The run's model compared with one of fewer or more terms, by likelihood.
    LikelihoodRatio,
}

impl Analysis {
    /// What goes on only while the pane is in front that shows it.
    pub(super) const OF_PANES: [Self; 5] = [
        Self::Predictions,
        Self::Answers,
        Self::Replicates,
        Self::HeldOutScores,
        Self::Trajectories,
    ];

    /// Stops working it out; what is there stays.
    pub(super) fn cancel(self, entry: &mut RunEntry) {
        match self {
            Self::Scores => {
                entry.scores.cancel();
                entry.sampled_scores.cancel();
            }
            Self::Folds => entry.folded.cancel(),
            Self::Comparison => entry.compared.cancel(),
            Self::Predictions => entry.predicted.cancel(),
            Self::Answers => entry.answered.cancel(),
            Self::Replicates => entry.replicated.cancel(),
            Self::HeldOutScores => entry.held_out.cancel(),
            Self::Trajectories => entry.followed.cancel(),
            Self::LikelihoodFit => entry.fitting.cancel(),
            Self::LikelihoodRatio => entry.likelihood_ratio.cancel(),
        }
    }
}
