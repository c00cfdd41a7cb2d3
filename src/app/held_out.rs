//! Scores of the predictions of rows that finished runs hold out, on threads of their own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::entry::RunEntry;
use super::from_draws::{FromDraws, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::predict::scores::{ChainTime, PredictionScores, ScoresError};
use ergodic_core::engine::RunView;

/// Evaluations of rows at draws that the pane may take: a second or so. Where rows are many, fewer draws are used.
const MOST_WORK: usize = 20_000_000;
/// Draws that are used however many rows there are.
const LEAST_DRAWS: usize = 400;
/// Evaluations that the pane may take while the run goes on, where scores are found again and again.
const WORK_ALONG: usize = 2_000_000;
const LEAST_DRAWS_ALONG: usize = 50;
/// Draws of all chains from which a run that goes on is scored.
const FIRST_DRAWS: usize = 20;
/// Time between two findings while the run goes on, at least, and over what the last one took: a twentieth of the time.
const BETWEEN: Duration = Duration::from_secs(3);
const OVER_COST: u32 = 20;

/// The scores of a run.
#[derive(Debug)]
pub struct HeldOutScores {
    /// Scores of the predictions.
    pub scores: PredictionScores,
    /// Draws of the run when they were made.
    pub draws: usize,
    /// When they were there, and how long they took.
    made: (Instant, Duration),
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

    /// Scores by the draws that there were a few seconds ago, while the run goes on.
    pub fn held_out_scores_so_far(&self) -> Option<&Arc<HeldOutScores>> {
        self.held_out.done()
    }

    /// How long until a run that goes on is scored again; `None` while that is being done, and before there are draws.
    pub fn scored_again_in(&self) -> Option<Duration> {
        if self.held_out.working().is_some() || draws_of(self) < FIRST_DRAWS {
            return None;
        }
        let wait = self.held_out.done().map_or(Duration::ZERO, |done| {
            let (at, took) = done.made;
            BETWEEN.max(OVER_COST * took).saturating_sub(at.elapsed())
        });
        Some(wait)
    }
}

const QUESTION: FromDraws<HeldOutScores> = FromDraws {
    kept: |entry| &mut entry.held_out,
    what: "Scoring",
    without_recipe: "Draws without a recipe have no model that could predict rows",
    cancelled: "Scoring the predictions was cancelled",
    earlier_stays: false,
};

/// Scores a run, unless that is done or being done; one that goes on not too often and from fewer draws.
pub(super) fn score(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let is_there = entry.held_out_scores().is_some() || entry.held_out.working().is_some();
    let is_active = entry.is_active();
    let is_due = entry.scored_again_in() == Some(Duration::ZERO);
    if is_there || is_active && !is_due {
        return;
    }
    let (work, least) = match is_active {
        true => (WORK_ALONG, LEAST_DRAWS_ALONG),
        false => (MOST_WORK, LEAST_DRAWS),
    };
    let times = entry.view().map_or_else(Vec::new, |view| times(&view));
    find(state, id, &QUESTION, fx, move |draws, control| {
        let begun = Instant::now();
        let fitted = draws.source.fitted(control)?;
        let most = (work / fitted.num_held_out().max(1)).max(least);
        let mut scores = fitted.scores(draws.lists, draws.weights, None, most, control)?;
        scores.time(&times);
        Ok::<_, ScoresError>(HeldOutScores {
            scores,
            draws: draws.count,
            made: (Instant::now(), begun.elapsed()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DraftChange, Question, RunCommand};
    use ergodic_analysis::hold_out::HoldOut;
    use ergodic_core::engine::RunSection;

    #[test]
    fn a_run_that_goes_on_is_scored_along_the_way_and_not_too_often() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::HoldOut(Some(HoldOut::Share(0.2))));
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            warmup: Some(50),
            draws: 5_000_000,
            until_precise: false,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        let id = session.state.runs[0].id;
        let begun = Instant::now();
        while session.state.runs[0].scored_again_in().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        let work = session.begin(Question::ScoreHeldOut(id)).remove(0);
        session.end(work());
        let entry = &session.state.runs[0];
        assert!(entry.is_active());
        let first = entry.held_out_scores_so_far().unwrap().clone();
        assert!(first.draws >= FIRST_DRAWS && first.scores.rows.len() == 200);
        // At once again is too soon.
        assert!(entry.scored_again_in().unwrap() > Duration::from_secs(1));
        assert!(session.begin(Question::ScoreHeldOut(id)).is_empty());
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
        // When it has ended it is scored by all its draws.
        session.send(Question::ScoreHeldOut(id));
        let last = session.state.runs[0].held_out_scores().unwrap();
        assert!(last.draws >= first.draws);
    }
}
