//! In which precision rows are held in memory.

use eframe::egui::Ui;
use ergodic_analysis::templates;

use super::run_control::row_ui;
use crate::app::{AppState, Depth, DraftChange};
use crate::ui::outbox::Outbox;
use crate::ui::theme::tokens;
use crate::ui::widgets::{self, Segments};
use ergodic_analysis::Recipe;
use ergodic_core::models::Storage;

/// Shows the section where there is something to choose, at full depth; what is chosen already shows always.
pub fn storage_ui(ui: &mut Ui, state: &AppState, recipe: &Recipe, out: &mut Outbox) {
    let mut storage = recipe.data.storage;
    let entry = templates::find(&recipe.model.template);
    let choice = entry.is_ok_and(|entry| entry.storage.len() > 1);
    let shown = choice && state.preferences.depth == Depth::Everything;
    if !shown && storage.is_default() {
        return;
    }
    ui.add_space(tokens().space.x2);
    widgets::heading(ui, "Memory");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        let hint = "Single precision takes half the memory of predictors; arithmetic stays in double precision, and the run says \
                    by how much estimates move";
        row_ui(ui, "Rows stored in", hint, |ui| {
            let segments = Segments::new("Rows stored in", &mut storage)
                .option(Storage::F64, "Double precision")
                .option(Storage::F32, "Single precision");
            if segments.show(ui).changed() {
                out.send(DraftChange::Storage(storage));
            }
        });
    });
}
