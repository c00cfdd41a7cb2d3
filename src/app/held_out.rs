//! Scores of the predictions of rows that finished runs hold out, on threads of their own.

use std::sync::Arc;

use super::entry::RunEntry;
use super::from_draws::{Question, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::predict::scores::{ChainTime, PredictionScores, ScoresError};
use ergodic_core::engine::RunView;

/// Evaluations of rows at draws that the pane may take: a second or so. Where rows are many, fewer draws are used.
const MOST_WORK: usize = 20_000_000;
/// Draws that are used however many rows there are.
const LEAST_DRAWS: usize = 400;

/// The scores of a run.
#[derive(Debug)]
pub struct HeldOutScores {
    /// What they are.
    pub scores: PredictionScores,
    /// Draws of the run when they were made.
    pub draws: usize,
}

impl RunEntry {
    /// Whether the run keeps rows out of its fit.
    pub fn holds_out(&self) -> bool {
        let recipe = self.recipe.as_ref();
        recipe.is_some_and(|recipe| recipe.model.hold_out.is_some())
    }

    /// Scores by the draws as they are, once they are there.
    pub fn held_out_scores(&self) -> Option<&Arc<HeldOutScores>> {
        let done = self.held_out.done();
        done.filter(|done| done.draws == draws_of(self))
    }
}

const QUESTION: Question<HeldOutScores> = Question {
    kept: |entry| &mut entry.held_out,
    what: "Scoring",
    without_recipe: "Draws without a recipe have no model that could predict rows",
    cancelled: "Scoring the predictions was cancelled",
};

/// Scores a run, unless that is done or being done.
pub(super) fn score(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let is_there = entry.held_out_scores().is_some() || entry.held_out.working().is_some();
    if entry.is_active() || is_there {
        return;
    }
    let times = entry.view().map_or_else(Vec::new, |view| times(&view));
    find(state, id, &QUESTION, fx, move |draws, control| {
        let fitted = draws.source.fitted(control)?;
        let most = (MOST_WORK / fitted.num_held_out().max(1)).max(LEAST_DRAWS);
        let mut scores = fitted.scores(draws.lists, draws.weights, None, most, control)?;
        scores.time(&times);
        Ok::<_, ScoresError>(HeldOutScores {
            scores,
            draws: draws.count,
        })
    });
}

/// What the chains took whose draws are used.
fn times(view: &RunView) -> Vec<ChainTime> {
    let times = view.usable().map(|chain| ChainTime {
        warmup: chain.warmup_secs,
        draws: chain.draw_secs,
    });
    times.collect()
}
