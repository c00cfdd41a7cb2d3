//! The pane that says how much the prior matters: sensitivities by power scaling.

use eframe::egui::{Frame, Grid, Margin, ScrollArea, Ui};

use crate::app::entry::Influence;
use crate::app::influence::refusal;
use crate::app::{Command, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, badge_with, number};
use ergodic_analysis::sensitivity::Sensitivity;
use ergodic_core::models::effect_of;
use ergodic_diagnostics::power_scaling::{Diagnosis, SensitivityRow, THRESHOLD};

/// Shows the pane.
pub fn influence_pane(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    match &entry.influence {
        Influence::Working(control) => {
            let text = format!(
                "Prior and likelihood are computed at the draws, {:.0}% done",
                100.0 * control.progress()
            );
            widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &text, None);
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        }
        Influence::Done(sensitivity) => table_ui(ui, sensitivity),
        Influence::Refused(why) => {
            widgets::empty_state(ui, icons::SCALES, why, None);
        }
        Influence::No => {
            let why = refusal(entry);
            let text = why.unwrap_or(
                "How far would the posterior move if the prior, or the likelihood, counted a little more or less? Power scaling \
                 tells from the draws there are, without another run",
            );
            let act = why.is_none().then_some("Check the prior");
            if widgets::empty_state(ui, icons::SCALES, text, act) {
                out.send(Command::CheckPrior(entry.id));
            }
        }
    }
}

fn table_ui(ui: &mut Ui, sensitivity: &Sensitivity) {
    let t = tokens();
    let p = Palette::of(ui);
    let inset = Margin::symmetric(t.space.x4 as i8, t.space.x3 as i8);
    ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        Frame::NONE.inner_margin(inset).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x2;
            widgets::heading(ui, "How much the prior matters");
            widgets::sentence(ui, &sensitivity.sentence(), Text::Body);
            widgets::hint(
                ui,
                &format!(
                    "Distance that each posterior moves per doubling of the power of prior or likelihood, from {} draws; \
                     {THRESHOLD} and more is worth a look",
                    number::integer(sensitivity.draws as u64)
                ),
            );
            Grid::new("influence")
                .num_columns(4)
                .spacing([t.space.x4, 0.0])
                .min_row_height(t.size.row_table)
                .show(ui, |ui| {
                    for head in ["parameter", "prior", "likelihood", ""] {
                        ui.label(Text::Caption.rich(head, p.text_secondary));
                    }
                    ui.end_row();
                    for row in sensitivity.rows.iter().filter(|row| is_shown(row)) {
                        row_ui(ui, row);
                    }
                });
        });
    });
}

/// Effects of groups, of which there may be thousands, only where something is to be said.
fn is_shown(row: &SensitivityRow) -> bool {
    effect_of(&row.variable).is_none() || row.diagnosis != Diagnosis::None
}

/// The diagnosis in as many words as a narrow pane holds.
fn short_words(diagnosis: Diagnosis) -> &'static str {
    match diagnosis {
        Diagnosis::None => "",
        Diagnosis::Conflict => "conflict?",
        Diagnosis::StrongPrior => "strong prior?",
    }
}

fn row_ui(ui: &mut Ui, row: &SensitivityRow) {
    let p = Palette::of(ui);
    ui.label(Text::CodeSmall.rich(&row.variable, p.text_primary));
    for value in [row.prior, row.likelihood] {
        let color = if value >= THRESHOLD {
            p.text_primary
        } else {
            p.text_secondary
        };
        let text = if (0.0..0.0005).contains(&value) {
            "< 0.001".to_owned()
        } else {
            number::fixed(value, 3)
        };
        ui.label(Text::Number.rich(text, color));
    }
    match row.diagnosis {
        Diagnosis::None => {
            ui.label("");
        }
        other => {
            badge_with(ui, VerdictKind::Watch, short_words(other)).on_hover_text(other.words());
        }
    }
    ui.end_row();
}
