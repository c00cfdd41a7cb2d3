//! Answers of finished runs on the scale of the outcome, on threads of their own.

use std::sync::Arc;

use super::entry::RunEntry;
use super::from_draws::{Question, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::effects::{self, Conditional, EffectsError, EffectsOptions};
use ergodic_analysis::predict::r2::R2;

/// What a run says of the outcome, predictor by predictor.
#[derive(Debug)]
pub struct Answered {
    /// Effects of all predictors.
    pub effects: effects::Effects,
    /// The expected outcome along each predictor, in the order of the effects.
    pub curves: Vec<Conditional>,
    /// The share of the variance of the outcome that the model explains; `None` where it is not defined.
    pub r2: Option<R2>,
    /// Draws of the run when they were made.
    pub draws: usize,
}

impl RunEntry {
    /// Answers from the draws as they are, once they are there.
    pub fn answers(&self) -> Option<&Arc<Answered>> {
        let done = self.answered.done();
        done.filter(|done| done.draws == draws_of(self))
    }
}

const QUESTION: Question<Answered> = Question {
    kept: |entry| &mut entry.answered,
    what: "Finding the answers of",
    without_recipe: "Draws without a recipe have no predictors whose effects could be told",
    cancelled: "Finding the answers was cancelled",
};

/// Finds the answers of a run, unless that is done or being done.
pub(super) fn answer(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    if entry.is_active() || entry.answers().is_some() || entry.answered.working().is_some() {
        return;
    }
    find(state, id, &QUESTION, fx, |draws, control| {
        let fitted = draws.source.fitted(control)?;
        let (lists, weights) = (draws.lists, draws.weights);
        let options = EffectsOptions::default();
        let effects = fitted.effects(lists, weights, &options, control)?;
        let predictors = effects.predictors();
        let curves = fitted.along_each((lists, weights), &predictors, &options, control)?;
        let r2 = fitted.r2(lists, weights, control)?;
        Ok::<_, EffectsError>(Answered {
            r2,
            effects,
            curves,
            draws: draws.count,
        })
    });
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{Command, Page};

    #[test]
    fn answers_are_for_the_run_that_is_shown_and_for_the_draws_that_it_has() {
        let (mut session, id) = Session::with_run("churn");
        let work = session.begin(Command::FindAnswers(id)).remove(0);
        // Asked twice is asked once.
        assert!(session.begin(Command::FindAnswers(id)).is_empty());
        let flag = session.state.runs[0].answered.working().unwrap().flag();
        session.send(Command::GoTo(Page::Data));
        assert!(flag.load(std::sync::atomic::Ordering::Relaxed));
        session.end(work());
        assert!(session.state.runs[0].answered.is_idle() && !session.state.is_busy());
        session.send(Command::SelectRun(id));
        session.send(Command::FindAnswers(id));
        let answers = session.state.runs[0].answers().unwrap();
        assert_eq!(answers.draws, 30);
        assert_eq!(answers.curves.len(), answers.effects.predictors().len());
        let sentences = |session: &Session, id: u64| -> Vec<String> {
            let answers = session.state.run(id).unwrap().answers().unwrap();
            let effects = &answers.effects;
            effects
                .effects
                .iter()
                .map(|it| effects.sentence(it))
                .collect()
        };
        // A run read from its folder reads its data again and says the same.
        let folder = session.state.runs[0].place().unwrap().to_owned();
        session.send(Command::Open(folder));
        let read = session.state.selected().unwrap().id;
        session.send(Command::FindAnswers(read));
        assert_eq!(sentences(&session, id), sentences(&session, read));
    }
}
