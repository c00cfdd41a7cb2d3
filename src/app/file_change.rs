//! Whether the file of the open data has changed since it was read: looked at when somebody comes back to the window.

use std::path::Path;
use std::time::SystemTime;

use super::opening::DataCommand;
use super::state::AppState;
use super::tasks::{Effects, Outcome};

/// What tells a file from another version of it without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    /// When it was written, where the system knows.
    written: Option<SystemTime>,
}

impl Stamp {
    /// Of the file as it is now; `None` where it cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path).ok()?;
        Some(Self {
            bytes: about.len(),
            written: about.modified().ok(),
        })
    }
}

/// Looks at the file on a thread, which a slow disk may hold up, and offers to read it again if it has changed. A change is told once.
pub(super) fn look(state: &AppState, fx: &mut dyn Effects) {
    let Some((path, known)) = (state.data.as_ref())
        .and_then(|data| Some((data.path.clone()?, data.stamp?)))
        .filter(|_| state.loading.is_none())
    else {
        return;
    };
    let work = move || {
        let now = Stamp::of(&path);
        let told: Outcome = Box::new(move |state: &mut AppState, _fx: &mut dyn Effects| {
            let Some(data) = &mut state.data else { return };
            let is_same = data.path.as_ref() == Some(&path) && data.stamp == Some(known);
            if !is_same || now.is_none() || now == Some(known) {
                return;
            }
            data.stamp = now;
            let options = data.options.clone();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            state.say(format!("{name} has changed since it was read"), false);
            state.offer("Read again".to_owned(), DataCommand::SetImport(options));
        });
        told
    };
    fx.spawn("file change", Box::new(work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use ergodic_core::design::Columns as _;

    #[test]
    fn a_file_that_has_changed_is_offered_once_to_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let text = "y,x\n0,1\n1,2\n0,3\n1,4\n";
        let mut session = Session::with_file(&folder, "t.csv", text);
        let look = |session: &mut Session| {
            session.state.toast = None;
            session.send(DataCommand::LookAtFile);
            session.state.toast.clone()
        };
        assert_eq!(look(&mut session), None);
        std::fs::write(folder.path().join("t.csv"), format!("{text}0,5\n")).unwrap();
        let toast = look(&mut session).unwrap();
        assert_eq!(toast.text, "t.csv has changed since it was read");
        assert_eq!(look(&mut session), None);
        let (_words, command) = toast.act.unwrap();
        session.send(command);
        assert_eq!(
            session.state.data.as_ref().unwrap().loaded.table.num_rows(),
            5
        );
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
        assert_eq!(look(&mut session), None);
    }
}
