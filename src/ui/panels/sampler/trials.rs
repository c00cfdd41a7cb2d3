//! Tuning by trial: the button, its progress, and what each trial said.

use eframe::egui::{Grid, Ui};

use crate::app::{AppState, Command};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Button, number};
use ergodic_analysis::Recipe;
use ergodic_analysis::tuning::{Fate, KEY, Trial};
use ergodic_base::settings::Kind;
use ergodic_core::samplers::SamplerEntry;

/// Shows the section, for samplers with a step size that does not adapt itself.
pub fn trials_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &'static SamplerEntry,
    recipe: &Recipe,
    out: &mut Outbox,
) {
    let spec = &entry.spec;
    let has_step = |field: &ergodic_base::settings::Field| {
        field.key == KEY && matches!(field.kind, Kind::Real { .. })
    };
    if spec.bias.is_none() || !spec.fields.iter().any(has_step) {
        return;
    }
    let t = tokens();
    widgets::heading(ui, "Tune by trial");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x3;
        widgets::hint(
            ui,
            "Runs step sizes side by side, drops the worse half by the Stein discrepancy of their draws, and sets the \
             best. The default comes from the curvature at the mode and needs no tuning",
        );
        if let Some(task) = &state.trials {
            let (stage, done) = task.progress();
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                    out.send(Command::CancelTrials);
                }
                widgets::hint(ui, &format!("Tuning: {stage}, {:.0} %", 100.0 * done));
            });
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        } else if ui
            .add(Button::new("Tune step size").icon(icons::SCALES))
            .clicked()
        {
            out.send(Command::RunTrials);
        }
        let tuned = state.tuned.as_ref().filter(|tuned| tuned.holds_for(recipe));
        if let Some(tuned) = tuned {
            table_ui(ui, &tuned.tuning.trials);
        }
    });
}

fn table_ui(ui: &mut Ui, trials: &[Trial]) {
    let p = Palette::of(ui);
    let t = tokens();
    Grid::new("trials")
        .num_columns(3)
        .spacing([t.space.x4, t.space.x1])
        .show(ui, |ui| {
            for head in ["step size", "discrepancy, last round", "outcome"] {
                ui.label(Text::Caption.rich(head, p.text_secondary));
            }
            ui.end_row();
            for trial in trials {
                let last = trial.discrepancies.last();
                let color = match trial.fate {
                    Fate::Chosen => p.text_primary,
                    _ => p.text_secondary,
                };
                ui.label(Text::Number.rich(number::significant(trial.value, 3), color));
                let last =
                    last.map_or_else(|| "–".to_owned(), |value| number::significant(*value, 3));
                ui.label(Text::Number.rich(last, color));
                ui.label(Text::Number.rich(trial.fate.to_string(), color));
                ui.end_row();
            }
        });
}
