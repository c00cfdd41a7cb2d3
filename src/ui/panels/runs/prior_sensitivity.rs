//! The pane that says how much the prior matters: sensitivities by power scaling.

use std::sync::Arc;

use eframe::egui::{ScrollArea, Ui};

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::prior_sensitivity::refusal;
use crate::app::{Question, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, badge_with, number};
use ergodic_analysis::{BayesFactor, Sensitivity};
use ergodic_diagnostics::power_scaling::{Diagnosis, SensitivityRow, THRESHOLD};

/// How much the prior matters.
#[derive(Default)]
pub(super) struct PriorSensitivity;

impl Pane for PriorSensitivity {
    const ID: &'static str = "prior";
    const TITLE: &'static str = "Sensitivity";
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
        table_ui(ui, sensitivity, entry.bayes_factors.as_ref());
    } else if let Some(why) = entry.prior_sensitivity.refusal() {
        widgets::empty_state(ui, icons::SCALES, why, None);
    } else {
        let why = refusal(entry);
        let text = why.unwrap_or(
            "How far would the posterior move if the prior, or the likelihood, counted a little more or less, and how \
             much do the data speak against coefficients of 0? Power scaling and Bayes factors tell, without another run",
        );
        let act = why.is_none().then_some("Check the prior");
        if widgets::empty_state(ui, icons::SCALES, text, act) {
            out.send(Question::FindPriorSensitivity(entry.id));
        }
    }
}

type Factors = Result<Arc<Vec<BayesFactor>>, String>;

fn table_ui(ui: &mut Ui, sensitivity: &Sensitivity, factors: Option<&Factors>) {
    let t = tokens();
    ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
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
            match factors {
                Some(Ok(factors)) => factors_ui(ui, factors),
                Some(Err(why)) => {
                    widgets::hint(ui, why);
                }
                None => {}
            }
        });
    });
}

/// Bayes factors of coefficients against 0.
fn factors_ui(ui: &mut Ui, factors: &[BayesFactor]) {
    let t = tokens();
    ui.add_space(t.space.x3);
    widgets::heading(ui, "Not 0 against 0");
    widgets::hint(
        ui,
        "Bayes factors by the Savage-Dickey ratio, the prior density at 0 over the posterior density there, with their Monte Carlo \
         errors. They depend on the width of the prior",
    );
    let number_of = |head, width, of: fn(&BayesFactor) -> Option<f64>, digits| {
        let value = move |k: usize| of(&factors[k]).unwrap_or(f64::NAN);
        Column::number(head, width, move |k| {
            let value = value(k);
            let text = match value.is_nan() {
                true => number::NOT_AVAILABLE.to_owned(),
                false => number::significant(value, digits),
            };
            Cell::number(text, Tone::Primary)
        })
        .by(value)
    };
    let name = |k: usize| factors[k].variable.as_str();
    Table::new(
        "bayes factors",
        "Bayes factors of coefficients against 0",
        factors.len(),
    )
    .whole()
    .column(Column::names(ui, "coefficient", factors.len(), name))
    .column(number_of("factor", 72.0, BayesFactor::factor, 3))
    .column(number_of("MCSE", 64.0, BayesFactor::factor_mcse, 2))
    .gap(t.space.x3)
    .column(
        Column::new("evidence", 132.0, |k| {
            let row = &factors[k];
            Cell::drawn(move |ui| {
                let words = row.missing.map_or(row.words(), |_| "none");
                let why = row.missing.map(|why| why.to_string());
                let label = ui.label(words);
                if let Some(why) = why {
                    label.on_hover_text(why);
                }
            })
        })
        .fills(),
    )
    .show(ui);
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
    !row.variable.is_varying() || row.diagnosis != Diagnosis::None
}

/// The diagnosis in as many words as a narrow pane holds.
fn short_words(diagnosis: Diagnosis) -> &'static str {
    match diagnosis {
        Diagnosis::None => "",
        Diagnosis::Conflict => "conflict?",
        Diagnosis::StrongPrior => "strong prior?",
    }
}
