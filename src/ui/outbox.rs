//! Commands that panels send during a frame; applied after it.

use crate::app::Command;

/// Collects commands, and what fields would send if they were left now.
#[derive(Debug, Default)]
pub struct Outbox {
    commands: Vec<Command>,
    typed: Vec<Command>,
}

impl Outbox {
    /// Sends a command.
    pub fn send(&mut self, command: impl Into<Command>) {
        self.commands.push(command.into());
    }

    /// Sends the change that stands typed in a field: in any case if the field `is_left`, else only together with a command that is
    /// about what is on the screen. So nothing runs or is saved that differs from the text in sight. A field calls it in every frame
    /// in which its text is not that of the draft.
    pub fn typed(&mut self, command: impl Into<Command>, is_left: bool) {
        if is_left {
            self.send(command);
        } else {
            self.typed.push(command.into());
        }
    }

    /// Takes all commands in order, behind the changes of the draft: a field that was left by the click on a button may stand below
    /// that button, and keys are read before what was typed in the same frame.
    pub fn take(&mut self) -> Vec<Command> {
        let commands = std::mem::take(&mut self.commands);
        let mut all = match commands.iter().any(Command::takes_what_is_typed) {
            true => self.take_typed(),
            false => Vec::new(),
        };
        let is_change = |command: &Command| matches!(command, Command::Change(_));
        let (changes, others): (Vec<_>, Vec<_>) = commands.into_iter().partition(is_change);
        all.extend(changes);
        all.extend(others);
        all
    }

    /// Takes what stands typed in fields and was not sent.
    pub fn take_typed(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{DraftChange, Preference, RunCommand, Theme};

    fn formula() -> Command {
        Command::Change(DraftChange::Formula("y ~ x".to_owned()))
    }

    #[test]
    fn what_is_typed_comes_before_what_is_about_it() {
        let mut out = Outbox::default();
        // The button stands above the field.
        out.send(RunCommand::Start);
        out.typed(formula(), false);
        assert_eq!(out.take(), [formula(), RunCommand::Start.into()]);
        assert_eq!(out.take_typed(), []);
    }

    #[test]
    fn what_is_typed_waits_until_the_field_is_left() {
        let mut out = Outbox::default();
        out.typed(formula(), false);
        out.send(Preference::Theme(Theme::Dark));
        assert_eq!(out.take(), [Preference::Theme(Theme::Dark).into()]);
        assert_eq!(out.take_typed(), [formula()]);
        out.send(RunCommand::Start);
        out.typed(formula(), true);
        assert_eq!(out.take(), [formula(), RunCommand::Start.into()]);
    }
}
