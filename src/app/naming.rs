//! Names and notes of runs, which a project keeps.

use super::state::AppState;

/// Characters of a name, at most: it stands in lists and sentences.
const LONGEST_NAME: usize = 40;

/// Gives a run a name and a note; empty ones are none.
pub(super) fn name(state: &mut AppState, id: u64, name: &str, note: &str) {
    state.naming = None;
    let kept = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    // On one line, whatever was pasted.
    let name: Vec<&str> = name.split_whitespace().collect();
    let name: String = name.join(" ").chars().take(LONGEST_NAME).collect();
    if let Some(entry) = state.run_mut(id) {
        entry.name = kept(name.trim_end());
        entry.note = kept(note.trim());
    }
}

#[cfg(test)]
mod tests {
    use crate::app::Command;
    use crate::app::testing::Session;

    #[test]
    fn a_name_and_a_note_are_kept_by_the_project() {
        let (mut session, id) = Session::with_run("churn");
        session.send(Command::AskRunName(Some(id)));
        assert_eq!(session.state.naming, Some(id));
        let path = session.folder.path().join("p.ergodic");
        session.send(Command::SaveProjectAs(path.clone()));
        assert!(!session.state.has_unsaved_changes());
        let (name, note) = (" wide\n priors ".to_owned(), "as in the paper\n".to_owned());
        session.send(Command::NameRun(id, name, note));
        assert_eq!(session.state.naming, None);
        assert_eq!(session.state.runs[0].title(), "Run 1 (wide priors)");
        assert!(session.state.has_unsaved_changes());
        session.send(Command::SaveProject);
        let mut again = Session::default();
        again.send(Command::Open(path));
        let run = &again.state.runs[0];
        assert_eq!(run.title(), "Run 1 (wide priors)");
        assert_eq!(run.note.as_deref(), Some("as in the paper"));
        let id = run.id;
        again.send(Command::NameRun(id, String::new(), String::new()));
        assert_eq!(again.state.runs[0].title(), "Run 1");
        assert_eq!(again.state.runs[0].note, None);
    }
}
