//! Everything a user can do, as data: menus, palette, shortcuts, buttons and tests send the same commands. Each group of them stands in
//! the file of its feature, with what they do.

use super::analysis::Question;
use super::draft_change::DraftChange;
use super::drafting::DraftCommand;
use super::notices::NoticeCommand;
use super::opening::DataCommand;
use super::page::{Page, ViewCommand};
use super::picking::PathCommand;
use super::preferences::Preference;
use super::project::ProjectCommand;
use super::running::RunCommand;
use super::state::AppState;
use super::tasks::Effects;

/// A group of commands.
pub(super) trait Act {
    /// Does what the command says.
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects);

    /// Whether what stands typed in fields is taken before the command: whatever runs, saves, leaves or changes something is about what is
    /// on the screen. Only looks, and what the window sends by itself, are not.
    fn takes_what_is_typed(&self) -> bool {
        true
    }
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($group:ty),)*) => {
        /// A user's act.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Command {
            $($(#[$doc])* $name($group),)*
        }

        $(impl From<$group> for Command {
            fn from(command: $group) -> Self {
                Self::$name(command)
            }
        })*

        impl Command {
            /// Whether what stands typed in fields is taken before the command.
            pub fn takes_what_is_typed(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.takes_what_is_typed(),)*
                }
            }

            /// Does what the command says.
            pub(super) fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
                match self {
                    $(Self::$name(command) => command.apply(state, fx),)*
                }
            }
        }
    };
}

commands! {
    /// Show a page.
    GoTo(Page),
    /// Choose what is shown on it.
    View(ViewCommand),
    /// Open files, and use the data.
    Data(DataCommand),
    /// Ask for a path, and use it.
    Path(PathCommand),
    /// Change the draft, which can be taken back.
    Change(DraftChange),
    /// Try the draft.
    Draft(DraftCommand),
    /// Start runs, steer them and keep them in order.
    Run(RunCommand),
    /// Work something out of a run.
    Ask(Question),
    /// Save the project or leave it.
    Project(ProjectCommand),
    /// Choose what is remembered about the user.
    Prefer(Preference),
    /// Put away what the window tells.
    Notice(NoticeCommand),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Depth, Product, Theme};

    #[test]
    fn only_looks_and_what_the_window_sends_leave_what_is_typed() {
        let leave: [Command; 10] = [
            DraftCommand::PreviewPrior(None).into(),
            DataCommand::LookAtFile.into(),
            ViewCommand::KeepPanes(None).into(),
            ViewCommand::DrawExamples.into(),
            Preference::Theme(Theme::Dark).into(),
            Preference::DecimalComma(true).into(),
            Preference::Zoom(1.5).into(),
            NoticeCommand::CancelTask(1).into(),
            NoticeCommand::DismissToast.into(),
            NoticeCommand::DismissProblem.into(),
        ];
        for command in leave {
            assert!(!command.takes_what_is_typed(), "{command:?}");
        }
        let take = [
            Command::GoTo(Page::Data),
            DataCommand::Close.into(),
            PathCommand::Pick(Product::Project).into(),
            DraftChange::NewSeed.into(),
            DraftCommand::Undo.into(),
            DraftCommand::Advise.into(),
            RunCommand::Start.into(),
            Question::Score(1).into(),
            ProjectCommand::Quit.into(),
            Preference::Depth(Depth::Everything).into(),
            Preference::MoreColumns(true).into(),
            ViewCommand::SelectRun(1).into(),
        ];
        for command in take {
            assert!(command.takes_what_is_typed(), "{command:?}");
        }
    }
}
