//! What a pane shows that is found from the draws of a run when somebody looks: that it comes when the run has ended, what was found,
//! why nothing was, how far it is, or nothing in the frame in which the pane asks for it.

use std::sync::Arc;

use eframe::egui::{Rect, Sense, Ui, vec2};

use super::run_bar::MORE;
use super::words;
use crate::app::tasks::Task;
use crate::app::{Command, Question, RunCommand, RunEntry, resuming};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, progress};

/// What a pane asks for.
pub(super) struct Asked<'a, T> {
    /// The run.
    pub entry: &'a RunEntry,
    /// What is made of the run's draws.
    pub task: &'a Task<Arc<T>>,
    /// The result made of the draws that there are now; while another is made, what shows below its progress.
    pub done: Option<&'a Arc<T>>,
    /// Sentence that the result appears when the run has ended, without its period.
    pub later: &'static str,
    /// The icon of the pane.
    pub icon: char,
    /// What asks for the result.
    pub ask: Question,
}

impl<T> Asked<'_, T> {
    /// Shows what there is to show: what was found by `done_ui`.
    pub fn show(self, ui: &mut Ui, out: &mut Outbox, done_ui: impl FnOnce(&mut Ui, &T)) {
        if self.entry.is_active() {
            widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, self.later, None);
        } else if let Some(going) = self.task.working() {
            let size = vec2(ui.available_width(), tokens().size.row_table);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let bar = Rect::from_center_size(rect.center(), vec2(240.0, 4.0));
            let share = going.fraction().unwrap_or(0.0);
            progress::bar(ui, bar, share as f32, Palette::of(ui).accent);
            ui.vertical_centered(|ui| widgets::hint(ui, &tasks::words(going, None)));
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
            if let Some(done) = self.done {
                done_ui(ui, done);
            }
        } else if let Some(done) = self.done {
            done_ui(ui, done);
        } else if let Some(why) = self.task.refusal() {
            let no_draws = self
                .entry
                .view()
                .is_none_or(|view| words::is_before_draws(&view));
            let (words, command): (_, Command) =
                if no_draws && resuming::refusal(self.entry).is_none() {
                    (
                        "Add draws",
                        RunCommand::AddDraws(self.entry.id, MORE[0]).into(),
                    )
                } else {
                    ("Try again", self.ask.into())
                };
            if widgets::empty_state(ui, self.icon, why, Some(words)) {
                out.send(command);
            }
        } else {
            out.send(self.ask);
        }
    }
}
