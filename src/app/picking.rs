//! Paths for opening, saving and exporting: from the system's dialog, or typed in the window.

use std::path::{Path, PathBuf};

use super::command::{Act, Command};
use super::opening::DataCommand;
use super::product::Product;
use super::state::{AppState, Typing};
use super::tasks::{Effects, Outcome, Pick};
use super::update::update;
use super::writing::files_read;
use ergodic_export::check_spares;

/// What is asked about paths, and done with them.
#[derive(Clone, Debug, PartialEq)]
pub enum PathCommand {
    /// Ask for a file to open with the system's dialog.
    PickOpen,
    /// Ask for its path in the window.
    TypeOpen,
    /// Ask by the system's dialog where to write something.
    Pick(Product),
    /// Ask for it in the window.
    Type(Product),
    /// Use the path that was typed.
    Typed(PathBuf),
    /// Stop typing a path.
    Cancel,
    /// Write it here.
    Write(Product, PathBuf),
}

impl Act for PathCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::PickOpen => fx.pick(Pick::Open),
            Self::TypeOpen => type_path(state, Pick::Open, false),
            Self::Pick(product) => product.pick(state, fx),
            Self::Type(product) => type_place(state, product),
            Self::Typed(path) => typed(state, path, fx),
            Self::Cancel => {
                state.typing = None;
                state.after_save = None;
            }
            Self::Write(product, path) => match check_spares(&path, files_read(state)) {
                Ok(()) => product.write(state, path, fx),
                Err(why) => {
                    state.after_save = None;
                    state.refuse(why.to_string());
                }
            },
        }
    }
}

/// A file dialog that was closed.
#[derive(Debug, PartialEq)]
pub struct Picked {
    /// What the file was asked for.
    pub purpose: Pick,
    /// The chosen path; `None` if cancelled or if the system has no dialogs.
    pub path: Option<PathBuf>,
    /// The system has no file dialogs.
    pub unavailable: bool,
}

impl From<Picked> for Outcome {
    fn from(picked: Picked) -> Self {
        Box::new(
            move |state: &mut AppState, fx: &mut dyn Effects| match picked.path {
                Some(path) => update(state, command(&picked.purpose, path), fx),
                None if picked.unavailable => type_path(state, picked.purpose, true),
                None => state.after_save = None,
            },
        )
    }
}

/// What a path for `purpose` is used for.
fn command(purpose: &Pick, path: PathBuf) -> Command {
    match purpose {
        Pick::Open => DataCommand::Open(path).into(),
        Pick::Save(product, _) => PathCommand::Write(*product, path).into(),
    }
}

/// Asks in the window where to write something.
fn type_place(state: &mut AppState, product: Product) {
    if let Some(name) = product.file_name(state) {
        type_path(state, Pick::Save(product, name), false);
    }
}

/// Asks for a path in the window.
fn type_path(state: &mut AppState, purpose: Pick, no_dialog: bool) {
    let proposed = folder(state).join(match &purpose {
        Pick::Open => "",
        Pick::Save(_, name) => name,
    });
    state.typing = Some(Typing {
        purpose,
        proposed,
        no_dialog,
    });
}

/// Where files are looked for and written at first: beside the project, else beside the data, else where the program was
/// started.
fn folder(state: &AppState) -> PathBuf {
    let project = state.project.as_ref().map(|open| open.path.as_path());
    let data = state.data.as_ref().and_then(|data| data.path.as_deref());
    let parent = project.or(data).and_then(Path::parent);
    // A file named without its folder is where the program was started.
    let parent = parent.filter(|folder| !folder.as_os_str().is_empty());
    std::path::absolute(parent.unwrap_or(Path::new(".")))
        .unwrap_or_else(|_no_place| PathBuf::from("/"))
}

/// Uses the path that was typed.
fn typed(state: &mut AppState, path: PathBuf, fx: &mut dyn Effects) {
    if let Some(typing) = state.typing.take() {
        update(state, command(&typing.purpose, path), fx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DraftChange, ProjectCommand};

    #[test]
    fn without_a_dialog_a_path_is_asked_for_in_the_window() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "t.csv", "y,x\n0,1\n1,2\n0,3\n1,4\n");
        session.send(DataCommand::AcceptImport);
        session.send(ProjectCommand::Save);
        let purpose = session.fx.picks.pop().unwrap();
        let failed = Picked {
            purpose: purpose.clone(),
            path: None,
            unavailable: true,
        };
        session.end(failed.into());
        let typing = session.state.typing.clone().unwrap();
        assert!(typing.no_dialog);
        assert_eq!(typing.purpose, purpose);
        assert_eq!(typing.proposed, folder.path().join("t.ergodic"));
        session.send(PathCommand::Typed(typing.proposed.clone()));
        assert!(typing.proposed.is_file());
        assert_eq!(session.state.typing, None);
        assert!(session.state.project.is_some());
    }

    #[test]
    fn a_file_named_without_its_folder_is_where_the_program_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "t.csv", "y,x\n0,1\n1,2\n0,3\n1,4\n");
        session.state.data.as_mut().unwrap().path = Some("t.csv".into());
        session.send(PathCommand::Type(Product::Recipe));
        let started = std::env::current_dir().unwrap();
        let proposed = session.state.typing.unwrap().proposed;
        assert_eq!(proposed, started.join("recipe.toml"));
    }

    #[test]
    fn a_cancelled_dialog_asks_for_nothing_and_forgets_what_waited_for_it() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        session.send(ProjectCommand::New);
        session.send(ProjectCommand::Answer { save: true });
        let purpose = session.fx.picks.pop().unwrap();
        let cancelled = Picked {
            purpose,
            path: None,
            unavailable: false,
        };
        session.end(cancelled.into());
        assert_eq!(session.state.typing, None);
        // The same with the typed path: nothing happens later because of an old answer.
        session.send(ProjectCommand::New);
        session.send(ProjectCommand::Answer { save: true });
        session.send(PathCommand::Type(Product::Project));
        session.send(PathCommand::Cancel);
        let path = session.folder.path().join("later.ergodic");
        session.send(PathCommand::Write(Product::Project, path));
        assert!(session.state.document.is_some());
    }
}
