//! Predictive checks of finished runs, on threads of their own.

use std::sync::Arc;

use super::entry::RunEntry;
use super::from_draws::{FromDraws, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::check::{Check, CheckError, Resolution};
use ergodic_analysis::predict::log_lik::LogLikError;

/// The predictive checks of a run.
#[derive(Debug)]
pub struct Replicated {
    /// The checks.
    pub check: Check,
    /// Draws of the run when they were made.
    pub draws: usize,
    /// Bins that were asked for.
    pub bins: Option<usize>,
}

impl RunEntry {
    /// Predictive checks by the draws as they are, once they are there.
    pub fn replicates(&self) -> Option<&Arc<Replicated>> {
        let done = self.replicated.done();
        done.filter(|done| done.draws == draws_of(self))
    }
}

const QUESTION: FromDraws<Replicated> = FromDraws {
    kept: |entry| &mut entry.replicated,
    what: "Checking",
    without_recipe: "Draws without a recipe have no model that could make data",
    cancelled: "The predictive checks were cancelled",
    earlier_stays: false,
};

/// Checks a run with numbers in `bins` bins, unless that is done or a check is being made.
pub(super) fn replicate(
    state: &mut AppState,
    (id, bins): (u64, Option<usize>),
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let is_done = entry.replicates().is_some_and(|done| done.bins == bins);
    let is_there = is_done || entry.replicated.working().is_some();
    if entry.is_active() || is_there {
        return;
    }
    find(state, id, &QUESTION, fx, move |draws, control| {
        let fitted = draws.source.fitted(control).map_err(LogLikError::from)?;
        let resolution = Resolution {
            bins,
            ..Resolution::default()
        };
        let check = fitted.check(draws.lists, draws.weights, resolution, control)?;
        Ok::<_, CheckError>(Replicated {
            check,
            draws: draws.count,
            bins,
        })
    });
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{Command, DataCommand, Page, Question, ViewCommand};

    #[test]
    fn checks_are_of_the_draws_that_a_run_has_and_end_when_it_is_not_shown() {
        let (mut session, id) = Session::with_run("churn");
        let work = session.begin(Question::Replicate(id, None)).remove(0);
        // Asked twice is asked once.
        assert!(session.begin(Question::Replicate(id, None)).is_empty());
        let flag = session.state.runs[0].replicated.working().unwrap().flag();
        session.send(Command::GoTo(Page::Data));
        assert!(flag.load(std::sync::atomic::Ordering::Relaxed));
        session.end(work());
        assert!(session.state.runs[0].replicated.is_idle() && !session.state.is_busy());
        session.send(ViewCommand::SelectRun(id));
        session.send(Question::Replicate(id, None));
        let made = session.state.runs[0].replicates().unwrap().clone();
        assert_eq!((made.draws, made.check.draws), (30, (30, 30)));
        // A run read from its folder reads its data again and says the same.
        let folder = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(folder));
        let read = session.state.selected().unwrap().id;
        session.send(Question::Replicate(read, None));
        let again = session.state.run(read).unwrap().replicates().unwrap();
        assert_eq!(again.check, made.check);
    }
}
