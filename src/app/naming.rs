//! Names and notes of runs, which stand in their folders; a project keeps them too.

use super::state::AppState;
use ergodic_export::label::Label;

/// Gives a run a name and a note; empty ones are none.
pub(super) fn name(state: &mut AppState, id: u64, name: &str, note: &str) {
    state.naming = None;
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    entry.label = Label::new(name, note);
    // A file of draws has no place for them.
    let folder = entry.place().filter(|place| place.is_dir());
    if let Some(Err(error)) = folder.map(|folder| entry.label.write(folder)) {
        state.say(error.to_string(), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, PathCommand, Product, ProjectCommand, RunCommand};

    #[test]
    fn a_name_and_a_note_are_kept_by_the_folder_and_the_project() {
        let (mut session, id) = Session::with_run("churn");
        session.send(RunCommand::AskName(Some(id)));
        assert_eq!(session.state.naming, Some(id));
        let path = session.folder.path().join("p.ergodic");
        session.send(PathCommand::Write(Product::Project, path.clone()));
        assert!(!session.state.has_unsaved_changes());
        let (name, note) = (" wide\n priors ".to_owned(), "as in the paper\n".to_owned());
        session.send(RunCommand::Name(id, name, note));
        assert_eq!(session.state.naming, None);
        assert_eq!(session.state.runs[0].title(), "Run 1 (wide priors)");
        assert!(session.state.has_unsaved_changes());
        session.send(ProjectCommand::Save);
        let mut again = Session::default();
        again.send(DataCommand::Open(path));
        let run = &again.state.runs[0];
        assert_eq!(run.title(), "Run 1 (wide priors)");
        assert_eq!(run.label.note.as_deref(), Some("as in the paper"));
        let (id, place) = (run.id, run.place().unwrap().to_owned());
        // The folder knows them without the project.
        let mut alone = Session::default();
        alone.send(DataCommand::Open(place.clone()));
        assert_eq!(alone.state.runs[0].label, again.state.runs[0].label);
        again.send(RunCommand::Name(id, String::new(), String::new()));
        assert_eq!(again.state.runs[0].title(), "Run 1");
        assert_eq!(again.state.runs[0].label.note, None);
        assert_eq!(Label::read(&place), Some(Label::default()));
    }
}
