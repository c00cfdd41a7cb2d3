//! A session without window and threads, for tests: work is done at once and its outcomes are fed back.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::Command;
use super::draft_change::DraftChange;
use super::opening::DataCommand;
use super::page::Page;
use super::running::RunCommand;
use super::state::AppState;
use super::tasks::{Effects, Outcome, Pick, Work};
use super::update::update;
use ergodic_core::engine::RunSection;

/// Does work when it is spawned and keeps what it ended with.
#[derive(Default)]
pub(crate) struct Synchronous {
    outcomes: VecDeque<Outcome>,
    /// Dialogs that were asked for.
    pub picks: Vec<Pick>,
}

impl Effects for Synchronous {
    fn spawn(&mut self, _name: &str, work: Work) {
        self.outcomes.push_back(work());
    }

    fn pick(&mut self, purpose: Pick) {
        self.picks.push(purpose);
    }

    fn waker(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| {})
    }
}

/// Keeps work instead of doing it.
#[derive(Default)]
pub(crate) struct Held(pub Vec<Work>);

impl Effects for Held {
    fn spawn(&mut self, _name: &str, work: Work) {
        self.0.push(work);
    }

    fn pick(&mut self, _purpose: Pick) {}

    fn waker(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| {})
    }
}

/// A state that is driven by commands alone, as the window drives it.
pub(crate) struct Session {
    /// The state.
    pub state: AppState,
    /// What was asked of the outside world.
    pub fx: Synchronous,
    /// Where runs are saved.
    pub folder: tempfile::TempDir,
}

impl Default for Session {
    fn default() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = AppState {
            runs_home: folder.path().to_owned(),
            ..AppState::default()
        };
        Self {
            state,
            fx: Synchronous::default(),
            folder,
        }
    }
}

impl Session {
    /// Applies a command and everything that follows from it, except what runs of chains do.
    pub fn send(&mut self, command: impl Into<Command>) {
        update(&mut self.state, command, &mut self.fx);
        self.finish();
    }

    /// Applies a command and leaves its work to be done.
    pub fn begin(&mut self, command: impl Into<Command>) -> Vec<Work> {
        let mut held = Held::default();
        update(&mut self.state, command, &mut held);
        held.0
    }

    /// Applies what work ended with and everything that follows from it.
    pub fn end(&mut self, outcome: Outcome) {
        self.fx.outcomes.push_back(outcome);
        self.finish();
    }

    fn finish(&mut self) {
        while let Some(outcome) = self.fx.outcomes.pop_front() {
            outcome(&mut self.state, &mut self.fx);
        }
    }

    /// Looks at the runs, as every frame does, and applies what follows.
    pub fn tick(&mut self) {
        super::update::tick(&mut self.state, &mut self.fx);
        self.finish();
    }

    /// Waits until no run goes on and all are saved.
    pub fn wait_for_runs(&mut self) {
        let begun = std::time::Instant::now();
        while self.state.is_busy()
            || self
                .state
                .runs
                .iter()
                .any(|entry| entry.run().is_some() && entry.saved == super::entry::Saved::No)
        {
            assert!(begun.elapsed().as_secs() < 120, "the runs do not end");
            std::thread::sleep(std::time::Duration::from_millis(10));
            self.tick();
        }
    }

    /// Runs the draft with `chains` chains, each with this warm-up and `draws` draws, to their end.
    pub fn run(&mut self, chains: usize, warmup: u64, draws: u64) {
        self.send(DraftChange::Run(RunSection {
            chains,
            warmup: Some(warmup),
            draws,
            until_precise: false,
            ..RunSection::default()
        }));
        self.send(RunCommand::Start);
        self.wait_for_runs();
    }

    /// A session with a bundled data set read but not yet accepted.
    pub fn with_sample(id: &str) -> Self {
        let mut session = Self::default();
        session.send(DataCommand::OpenSample(id.to_owned()));
        assert!(session.state.data.is_some(), "{:?}", session.state.problem);
        session
    }

    /// A session with a draft for a bundled data set.
    pub fn with_draft(id: &str) -> Self {
        let mut session = Self::with_sample(id);
        session.send(DataCommand::AcceptImport);
        session
    }

    /// A session that shows a finished run of one chain of 30 draws on a bundled data set, with its identifier.
    pub fn with_run(sample: &str) -> (Self, u64) {
        let mut session = Self::with_draft(sample);
        session.run(1, 20, 30);
        session.send(Command::GoTo(Page::Runs));
        let id = session.state.runs[0].id;
        (session, id)
    }

    /// A session that has opened a file with this text; the folder must outlive the session.
    pub fn with_file(folder: &tempfile::TempDir, name: &str, text: &str) -> Self {
        let path: PathBuf = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut session = Self::default();
        session.send(DataCommand::Open(path));
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_of_the_first_sample_is_checked_at_once() {
        let session = Session::with_draft("churn");
        assert_eq!(session.state.page, Page::Model);
        let check = session.state.check.as_ref().unwrap();
        assert_eq!(check.error, None);
        assert!(!check.params.is_empty());
        assert!(session.state.checking.is_none());
        assert!(session.state.data.unwrap().profiles.is_some());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::with_file(&folder, "bad.csv", "a,b\n1,2\n3\n");
        assert!(session.state.data.is_none());
        assert!(session.state.problem.unwrap().message.contains("Line 3"));
    }
}
