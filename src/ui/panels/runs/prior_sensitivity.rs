//! The pane that says how much the prior matters: sensitivities by power scaling.

use eframe::egui::{Frame, Margin, ScrollArea, Ui};

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::prior_sensitivity::refusal;
use crate::app::{Command, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, badge_with, number};
use ergodic_analysis::sensitivity::Sensitivity;
use ergodic_diagnostics::power_scaling::{Diagnosis, SensitivityRow, THRESHOLD};

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
            let shown = sensitivity.rows.iter().filter(|row| is_shown(row));
            let rows = &shown.collect::<Vec<&SensitivityRow>>();
            let name = |k: usize| rows[k].variable.as_str();
            let value = |head, width, of: fn(&SensitivityRow) -> f64| {
                Column::number(head, width, move |k| value_cell(of(rows[k]))).by(move |k| of(rows[k]))
            };
            Table::new("prior sensitivity", "Sensitivities of the parameters", rows.len())
                .whole()
                .column(Column::names(ui, "parameter", rows.len(), name))
                .column(value("prior", 72.0, |row| row.prior))
                .column(value("likelihood", 84.0, |row| row.likelihood))
                .gap(t.space.x3)
                .column(
                    Column::new("", 132.0, |k| {
                        let diagnosis = rows[k].diagnosis;
                        Cell::drawn(move |ui| diagnosis_ui(ui, diagnosis))
                    })
                    .fills(),
                )
                .show(ui);
        });
    });
}

fn value_cell(value: f64) -> Cell<'static> {
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
    Cell::number(text, tone)
}

fn diagnosis_ui(ui: &mut Ui, diagnosis: Diagnosis) {
    if diagnosis != Diagnosis::None {
        badge_with(ui, VerdictKind::Watch, short_words(diagnosis)).on_hover_text(diagnosis.words());
    }
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
