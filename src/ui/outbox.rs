//! Commands that panels send during a frame; applied after it.

use crate::app::Command;

/// Collects commands.
#[derive(Debug, Default)]
pub struct Outbox {
    commands: Vec<Command>,
}

impl Outbox {
    /// Sends a command.
    pub fn send(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Takes all commands, in order.
    pub fn take(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }
}
