//! Taking runs out of the list, and bringing them back.

use super::correcting;
use super::page::Page;
use super::running::RunCommand;
use super::state::{AppState, Removed};
use super::tasks::Effects;

/// Removed runs that can be brought back; their draws stay in memory.
const MAX_REMOVED: usize = 10;

/// Takes a run out of the list. It can be brought back, and its folder stays.
pub(super) fn remove(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(index) = state.runs.iter().position(|entry| entry.id == id) else {
        return;
    };
    if state.runs[index].is_active() {
        state.refuse("The run goes on; stop it before you remove it");
        return;
    }
    correcting::correct(state, id, None, fx);
    let mut entry = state.runs.remove(index);
    entry.predicted.cancel();
    entry.fitting.cancel();
    entry.likelihood_ratio.cancel();
    entry.prior_sensitivity.forget();
    entry.forget_extras();
    if state.selected_run == Some(id) {
        let next = state.runs.get(index).or(state.runs.last());
        state.selected_run = next.map(|entry| entry.id);
    }
    let title = entry.title();
    let folder = entry.place().map(|path| path.display().to_string());
    state.removed.push(Removed {
        entry,
        index,
        steps: state.history.steps(),
    });
    if state.removed.len() > MAX_REMOVED {
        state.removed.remove(0);
    }
    let stays = folder.map_or_else(String::new, |folder| {
        format!("; its folder stays: {folder}")
    });
    state.say(
        format!("{title} was removed from the project{stays}"),
        false,
    );
    state.offer("Undo".to_owned(), RunCommand::BringBack(id));
}

/// Puts a run back where it stood, and shows it.
pub(super) fn bring_back(state: &mut AppState, id: u64) {
    let Some(at) = state.removed.iter().position(|it| it.entry.id == id) else {
        return;
    };
    let Removed { entry, index, .. } = state.removed.remove(at);
    let index = index.min(state.runs.len());
    state.runs.insert(index, entry);
    state.selected_run = Some(id);
    state.page = Page::Runs;
}

/// Whether taking back the last act means bringing back a run: the draft was not changed since it was removed.
pub(super) fn is_next_to_undo(state: &AppState) -> bool {
    let last = state.removed.last();
    last.is_some_and(|removed| state.history.steps() <= removed.steps)
}

/// Brings back the run that was removed last.
pub(super) fn undo(state: &mut AppState) {
    if let Some(id) = state.removed.last().map(|removed| removed.entry.id) {
        bring_back(state, id);
    }
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{
        Command, DataCommand, DraftChange, DraftCommand, ProjectCommand, RunCommand, RunEntry,
    };
    use ergodic_core::engine::RunSection;
    use ergodic_data::Role;

    fn numbers(session: &Session) -> Vec<u64> {
        session.state.runs.iter().map(|run| run.number).collect()
    }

    fn with_runs(count: usize) -> Session {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            warmup: Some(20),
            draws: 20,
            ..RunSection::default()
        }));
        for _ in 0..count {
            session.send(RunCommand::Start);
            session.wait_for_runs();
        }
        session
    }

    #[test]
    fn a_removed_run_comes_back_with_undo_and_from_the_toast() {
        let mut session = with_runs(3);
        let id = session.state.runs[1].id;
        let folder = session.state.runs[1].place().unwrap().to_owned();
        session.send(RunCommand::Remove(id));
        assert_eq!(numbers(&session), [1, 3]);
        assert!(folder.join("draws.csv").is_file());
        let toast = session.state.toast.clone().unwrap();
        assert!(toast.text.contains("Run 2 was removed"), "{}", toast.text);
        let (words, command) = toast.act.unwrap();
        assert_eq!(words, "Undo");
        session.send(command);
        assert_eq!(numbers(&session), [1, 2, 3]);
        assert_eq!(session.state.selected_run, Some(id));
        assert!(
            session
                .state
                .run(id)
                .is_some_and(|run| run.report().is_some())
        );

        // The last act is taken back first, whichever it was.
        session.send(RunCommand::Remove(id));
        session.send(DraftChange::Formula("churned ~ monthly_fee".to_owned()));
        let formula = |session: &Session| {
            let document = session.state.document.as_ref().unwrap();
            document.recipe.model.formula.clone()
        };
        session.send(DraftCommand::Undo);
        assert_eq!(formula(&session), "churned ~ age");
        assert_eq!(numbers(&session), [1, 3]);
        session.send(DraftCommand::Undo);
        assert_eq!(numbers(&session), [1, 2, 3]);
        assert_eq!(formula(&session), "churned ~ age");
    }

    #[test]
    fn a_new_project_asks_for_finished_runs_keeps_their_folders_at_hand_and_counts_from_one() {
        let mut session = with_runs(2);
        assert_eq!(numbers(&session), [1, 2]);
        let folders: Vec<_> = (session.state.runs.iter())
            .map(|run| run.place().unwrap().to_owned())
            .collect();
        session.state.say("A message of the old project", true);
        // Nothing of the draft can be taken back: the runs alone are reason to ask.
        session.state.history = Default::default();
        session.send(ProjectCommand::New);
        assert!(session.state.asking.is_some());
        session.send(ProjectCommand::Answer { save: false });
        assert!(session.state.runs.is_empty());
        assert!(session.state.messages.is_empty());
        assert!(
            session
                .state
                .toast
                .as_ref()
                .is_none_or(|toast| !toast.is_error)
        );
        for folder in &folders {
            assert!(session.state.preferences.recent.contains(folder));
        }
        session.send(DataCommand::Open(folders[1].clone()));
        assert_eq!(numbers(&session), [1]);
        assert_eq!(session.state.runs[0].title(), "Run 1");
        // Runs that were only read are nowhere but in their folders: nothing is lost without them.
        session.send(ProjectCommand::New);
        assert_eq!(session.state.asking, None);
        assert!(session.state.runs.is_empty());
    }

    #[test]
    fn the_same_error_twice_is_one_message_with_a_count() {
        let mut session = Session::default();
        session.state.say("The disk is full", true);
        session.state.say("Something else", true);
        session.state.say("The disk is full", true);
        let said: Vec<(&str, usize)> = (session.state.messages.iter())
            .map(|message| (message.warning.message.as_str(), message.count))
            .collect();
        assert_eq!(said, [("Something else", 1), ("The disk is full", 2)]);
    }

    #[test]
    fn the_answer_to_a_command_that_cannot_be_obeyed_is_no_message_of_later_runs() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Remove("churned".to_owned()));
        for command in [
            Command::from(RunCommand::Start),
            DraftCommand::RunTrials.into(),
            DraftCommand::Calibrate.into(),
        ] {
            session.state.toast = None;
            session.send(command);
            let toast = session.state.toast.as_ref().unwrap();
            assert!(toast.is_error, "{}", toast.text);
            assert!(toast.text.starts_with("The model is not complete"));
        }
        assert_eq!(session.state.messages, []);
        // It is complete again.
        session.send(DraftChange::Assign("churned".to_owned(), Role::Response));
        assert_eq!(session.state.toast, None);
        session.send(RunCommand::Start);
        let id = session.state.runs[0].id;
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
        assert!((session.state.toast.iter()).all(|toast| !toast.is_error));
        assert_eq!(session.state.messages, []);
    }

    #[test]
    fn a_run_without_a_model_says_what_comes_first() {
        for (mut session, first) in [
            (Session::default(), "open data"),
            (Session::with_sample("churn"), "import the table first"),
        ] {
            session.send(RunCommand::Start);
            let toast = session.state.toast.as_ref().unwrap();
            assert!(toast.text.contains(first), "{}", toast.text);
        }
    }

    #[test]
    fn what_is_on_its_way_from_an_old_project_does_not_reach_the_runs_of_the_new_one() {
        let mut session = with_runs(1);
        let old = session.state.runs[0].id;
        session.send(ProjectCommand::New);
        session.send(ProjectCommand::Answer { save: false });
        session.state.runs_home = session.folder.path().to_owned();
        session.send(DataCommand::OpenSample("churn".to_owned()));
        session.send(DataCommand::AcceptImport);
        session.send(RunCommand::Start);
        let new: &RunEntry = &session.state.runs[0];
        assert_eq!(new.number, 1);
        assert_ne!(new.id, old);
        let id = new.id;
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
    }
}
