//! What the window tells by itself: toasts and messages.

use super::command::{Act, Command};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_base::{Severity, Warning};

/// A message of the window itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What the message says.
    pub warning: Warning,
    /// How often the message was said.
    pub count: usize,
}

/// A short message at the bottom of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    /// The sentence.
    pub text: String,
    /// Errors stay longer than news, but not on another page.
    pub is_error: bool,
    /// Answers to commands that could not be obeyed go when the model changes.
    pub is_refusal: bool,
    /// What could be done about it: words of a button and its command.
    pub act: Option<(String, Command)>,
    /// Counts toasts, so that a view can time each.
    pub serial: u64,
}

/// What is done with what the window tells and with the list of what goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeCommand {
    /// Stop a task of the list of what goes on.
    CancelTask(u64),
    /// Take the toast away.
    DismissToast,
    /// Take the sentence about a file away.
    DismissProblem,
}

impl Act for NoticeCommand {
    fn apply(self, state: &mut AppState, _fx: &mut dyn Effects) {
        match self {
            Self::CancelTask(id) => state.tasks.cancel(id),
            Self::DismissToast => state.toast = None,
            Self::DismissProblem => state.problem = None,
        }
    }

    fn takes_what_is_typed(&self) -> bool {
        false
    }
}

impl AppState {
    /// Shows a toast; errors also go into the messages.
    pub fn say(&mut self, text: impl Into<String>, is_error: bool) {
        let text = text.into();
        if is_error {
            self.note(Warning::new(Severity::Bad, "error", text.clone()));
        }
        self.toast(text, is_error);
    }

    fn toast(&mut self, text: String, is_error: bool) {
        self.next_serial += 1;
        self.toast = Some(Toast {
            text,
            is_error,
            is_refusal: false,
            act: None,
            serial: self.next_serial,
        });
    }

    /// Answers a command that cannot be obeyed as things are now. It is no message: it says nothing about a run, and stops
    /// being true with the next change of the draft.
    pub fn refuse(&mut self, text: impl Into<String>) {
        self.toast(text.into(), true);
        if let Some(toast) = &mut self.toast {
            toast.is_refusal = true;
        }
    }

    /// Adds a message; one that is there already is counted.
    pub fn note(&mut self, warning: Warning) {
        let known = self
            .messages
            .iter()
            .position(|message| message.warning == warning);
        let count = known.map_or(0, |index| self.messages.remove(index).count);
        self.messages.push(Message {
            warning,
            count: count + 1,
        });
    }

    /// Adds a button with `words` to the present toast.
    pub fn offer(&mut self, words: String, command: impl Into<Command>) {
        if let Some(toast) = &mut self.toast {
            toast.act = Some((words, command.into()));
        }
    }
}
