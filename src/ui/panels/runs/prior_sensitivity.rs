//! The pane that says how much the prior matters: sensitivities by power scaling.

use eframe::egui::{Frame, Margin, ScrollArea, Sense, Ui};
use egui_extras::{Column, TableRow};

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::prior_sensitivity::refusal;
use crate::app::{Command, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Side, Tone, head_cell, name_cell, name_width, number_cell, table};
use crate::ui::widgets::{self, badge_with, number};
use ergodic_analysis::sensitivity::Sensitivity;
use ergodic_diagnostics::power_scaling::{Diagnosis, SensitivityRow, THRESHOLD};

/// Longer names are cut.
const NAMES_MOST: f32 = 280.0;

/// How much the prior matters.
#[derive(Default)]
pub(super) struct Prior;

impl Pane for Prior {
    const ID: &'static str = "prior";
    const TITLE: &'static str = "Prior";
    const ICON: char = icons::SCALES;
    const ABOUT: &'static str = "How far the posterior moves with the prior";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        prior_sensitivity_pane(ui, of.entry, out);
    }
}

fn prior_sensitivity_pane(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    if let Some(going) = entry.prior_sensitivity.working() {
        let text = format!(
            "Prior and likelihood are computed at the draws, {:.0}% done",
            100.0 * going.fraction().unwrap_or(0.0)
        );
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &text, None);
        ui.ctx()
            .request_repaint_after(super::super::page::PROGRESS_TIME);
    } else if let Some(sensitivity) = entry.prior_sensitivity.done() {
        table_ui(ui, sensitivity);
    } else if let Some(why) = entry.prior_sensitivity.refusal() {
        widgets::empty_state(ui, icons::SCALES, why, None);
    } else {
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

fn table_ui(ui: &mut Ui, sensitivity: &Sensitivity) {
    let t = tokens();
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
            let rows: Vec<&SensitivityRow> =
                sensitivity.rows.iter().filter(|row| is_shown(row)).collect();
            let longest = rows.iter().map(|row| row.variable.chars().count());
            let names = name_width(ui, longest.max().unwrap_or(0)).clamp(96.0, NAMES_MOST);
            table(ui)
                .id_salt("prior sensitivity")
                .vscroll(false)
                .sense(Sense::hover())
                .column(Column::exact(names))
                .column(Column::exact(72.0))
                .column(Column::exact(84.0))
                .column(Column::exact(t.space.x3))
                .column(Column::remainder().at_least(132.0))
                .header(t.size.row_table, |mut line| {
                    for (head, side) in [
                        ("parameter", Side::Left),
                        ("prior", Side::Right),
                        ("likelihood", Side::Right),
                        ("", Side::Left),
                        ("", Side::Left),
                    ] {
                        line.col(|ui| {
                            head_cell(ui, head, side, None);
                        });
                    }
                })
                .body(|body| {
                    body.rows(t.size.row_table, rows.len(), |mut line| {
                        let row = rows[line.index()];
                        row_ui(&mut line, row);
                    });
                });
        });
    });
}

/// Effects of groups, of which there may be thousands, only where something is to be said.
fn is_shown(row: &SensitivityRow) -> bool {
    row.variable.group_effect().is_none() || row.diagnosis != Diagnosis::None
}

/// The diagnosis in as many words as a narrow pane holds.
fn short_words(diagnosis: Diagnosis) -> &'static str {
    match diagnosis {
        Diagnosis::None => "",
        Diagnosis::Conflict => "conflict?",
        Diagnosis::StrongPrior => "strong prior?",
    }
}

fn row_ui(line: &mut TableRow<'_, '_>, row: &SensitivityRow) {
    line.col(|ui| {
        name_cell(ui, &row.variable, &row.variable);
    });
    for value in [row.prior, row.likelihood] {
        let tone = if value >= THRESHOLD {
            Tone::Primary
        } else {
            Tone::Secondary
        };
        let text = if (0.0..0.0005).contains(&value) {
            "< 0.001".to_owned()
        } else {
            number::fixed(value, 3)
        };
        line.col(|ui| {
            number_cell(ui, &text, tone);
        });
    }
    line.col(|_ui| {});
    line.col(|ui| {
        if row.diagnosis != Diagnosis::None {
            badge_with(ui, VerdictKind::Watch, short_words(row.diagnosis))
                .on_hover_text(row.diagnosis.words());
        }
    });
}
