//! What to look at in the run that is bad on purpose.

use eframe::egui::{Align, Layout, Ui};

use crate::app::{AppState, DraftChange, RunCommand, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::strip;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, sentence};
use ergodic_analysis::lesson;

/// Shows the text above the run, if it is that of the lesson.
pub fn lesson_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, out: &mut Outbox) {
    if !entry.recipe.as_ref().is_some_and(lesson::is_lesson) {
        return;
    }
    let t = tokens();
    let p = Palette::of(ui);
    strip(ui, "lesson", p.accent_soft, t.space.x2, |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        ui.horizontal(|ui| {
            icons::icon_ui(ui, icons::INFO, t.icon.medium, false, p.accent);
            sentence(
                ui,
                "This run is bad on purpose. What to look at:",
                Text::Button,
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let mine = (state.document.as_ref())
                    .is_some_and(|document| lesson::is_lesson(&document.recipe));
                let again = Button::new("Run it again with auto").small();
                let again = ui.add_enabled(mine, again);
                if again
                    .on_disabled_hover_text("The draft is another model now")
                    .clicked()
                {
                    out.send(DraftChange::Sampler("auto".to_owned()));
                    out.send(RunCommand::Start);
                }
            });
        });
        for point in lesson::POINTS {
            sentence(ui, point, Text::Body);
        }
        sentence(ui, lesson::CAUSE, Text::Body);
    });
}
