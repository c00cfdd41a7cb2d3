//! What is worked out of a run in the background.

use super::answering::AnswersAsked;
use super::command::Act;
use super::correcting::correct;
use super::entry::RunEntry;
use super::extras::ColumnsAsked;
use super::state::AppState;
use super::tasks::Effects;
use super::{
    answering, comparing_runs, extras, following, held_out, kfold, likelihood, predicting,
    prior_sensitivity, replicating, scoring,
};
use ergodic_analysis::likelihood::LikelihoodOptions;
use ergodic_diagnostics::zero_variance::Order;

/// What is asked of the draws and the recipe of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Look at how much the prior of a run matters, by power scaling.
    FindPriorSensitivity(u64),
    /// Compute the further columns of a run's summary from the draws that there are.
    ComputeColumns(u64),
    /// Compute them with another interval or another range that counts as 0.
    AskColumns(u64, ColumnsAsked),
    /// Leave the rows of a run out, one at a time, by importance weights.
    Score(u64),
    /// Leaves a sample of the rows of a run out.
    ScoreSample(u64),
    /// Fits a run again without each row whose Pareto k is not good, and takes the scores of these rows from there.
    Refit(u64),
    /// Move the draws of a run for each row whose Pareto k is not good, and score these rows by them.
    MatchMoments(u64),
    /// Fit a run again without each of a number of parts of its rows, the second, and score every row by the fit that does not know it.
    ScoreInFolds(u64, u32),
    /// Compare a run, the first, with another, the second.
    Compare(u64, u64),
    /// Correct the estimates of a run by control variates of this order, or go back to the plain ones.
    Correct(u64, Option<Order>),
    /// Predict the rows of a run, with group effects or without.
    Predict(u64, bool),
    /// Find what a run says of its outcome, predictor by predictor.
    FindAnswers(u64),
    /// Find it again, with more asked or less.
    AskAnswers(u64, AnswersAsked),
    /// Check a run by data that its model makes, with numbers in that number of bins, or as many as suit the rows.
    Replicate(u64, Option<usize>),
    /// Score the predictions of the rows that a run holds out.
    ScoreHeldOut(u64),
    /// Follow trajectories from where the chains of a run ended.
    FollowTrajectories(u64),
    /// Fit the data and formula of a run by likelihood, with these options or those that its recipe says.
    Estimate(u64, Option<LikelihoodOptions>),
    /// Compare the model of a run with one of this formula, which has fewer or more terms, by their likelihood ratio.
    TestAgainst(u64, String),
    /// Stop working something out of a run.
    Cancel(u64, Analysis),
}

impl Act for Question {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::FindPriorSensitivity(id) => prior_sensitivity::look(state, id, fx),
            Self::ComputeColumns(id) => extras::compute(state, id, fx),
            Self::AskColumns(id, asked) => extras::ask(state, id, asked, fx),
            Self::Score(id) => scoring::score(state, id, fx),
            Self::ScoreSample(id) => scoring::score_sample(state, id, fx),
            Self::Refit(id) => scoring::refit(state, id, fx),
            Self::MatchMoments(id) => scoring::match_moments(state, id, fx),
            Self::ScoreInFolds(id, parts) => kfold::score(state, id, parts, fx),
            Self::Compare(id, with) => comparing_runs::compare(state, id, with, fx),
            Self::Correct(id, order) => correct(state, id, order, fx),
            Self::Predict(id, with_groups) => predicting::predict(state, id, with_groups, fx),
            Self::FindAnswers(id) => answering::answer(state, id, fx),
            Self::AskAnswers(id, asked) => answering::ask(state, id, asked, fx),
            Self::Replicate(id, bins) => replicating::replicate(state, (id, bins), fx),
            Self::ScoreHeldOut(id) => held_out::score(state, id, fx),
            Self::FollowTrajectories(id) => following::follow(state, id, fx),
            Self::Estimate(id, options) => likelihood::estimate(state, id, options, fx),
            Self::TestAgainst(id, formula) => likelihood::test_against(state, id, formula, fx),
            Self::Cancel(id, analysis) => {
                if let Some(entry) = state.run_mut(id) {
                    analysis.cancel(entry);
                }
            }
        }
    }
}

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
