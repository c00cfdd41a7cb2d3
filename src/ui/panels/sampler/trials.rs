//! Tuning by trial: the button, its progress, and what each trial said.

use eframe::egui::Ui;

use crate::app::{AppState, DraftCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
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
        if let Some(going) = state.tuned.working() {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                    out.send(DraftCommand::CancelTrials);
                }
                let left = state.tasks.secs_left(going);
                widgets::hint(ui, &tasks::words(going, left));
            });
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        } else if ui
            .add(Button::new("Tune step size").icon(icons::SCALES))
            .clicked()
        {
            out.send(DraftCommand::RunTrials);
        }
        let tuned = state.tuned.done().filter(|tuned| tuned.holds_for(recipe));
        if let Some(tuned) = tuned {
            table_ui(ui, &tuned.tuning.trials);
        }
    });
}

fn table_ui(ui: &mut Ui, trials: &[Trial]) {
    let t = tokens();
    if let Some(best) = trials.iter().find(|trial| trial.fate == Fate::Chosen) {
        let text = format!(
            "Step size set to {}, the best of {}",
            number::significant(best.value, 3),
            trials.len()
        );
        widgets::sentence(ui, &text, Text::Body);
    }
    let tone = |k: usize| match trials[k].fate {
        Fate::Chosen => Tone::Primary,
        _ => Tone::Secondary,
    };
    let last = |k: usize| trials[k].discrepancies.last().copied().unwrap_or(f64::NAN);
    let significant = |value: f64| number::significant(value, 3);
    Table::new("trials", "Step sizes tried", trials.len())
        .whole()
        .column(
            Column::number("step size", 88.0, |k| {
                Cell::number(significant(trials[k].value), tone(k))
            })
            .by(|k| trials[k].value),
        )
        .column(
            Column::number("discrepancy, last round", 152.0, |k| {
                Cell::number(significant(last(k)), tone(k))
            })
            .by(last),
        )
        .gap(t.space.x4)
        .column(
            Column::new("result", 0.0, |k| {
                Cell::text(trials[k].fate.to_string(), tone(k))
            })
            .fills(),
        )
        .show(ui);
}
