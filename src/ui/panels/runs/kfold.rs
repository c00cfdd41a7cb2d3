//! Exact K-fold cross-validation of a run, and how it compares with that of other runs of the same rows.

use eframe::egui::{ScrollArea, Ui};

use super::words;
use crate::app::kfold::refusal;
use crate::app::{Analysis, AppState, Question, RunEntry};
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, NumberField, number};
use ergodic_analysis::predict::scores::folds::Folded;
use ergodic_analysis::predict::scores::{PredictionScores, compare, folds};

/// Highest that sentences on single fits stand before they scroll.
const REMARKS: f32 = 120.0;

/// Least width of the column of formulas.
pub(super) const FORMULA: f32 = 160.0;

/// What the section keeps.
pub(super) struct FoldsView {
    /// How many parts the rows are to be divided in.
    parts: f64,
}

impl Default for FoldsView {
    fn default() -> Self {
        Self {
            parts: f64::from(folds::USUAL),
        }
    }
}

/// The section: what there is, and the way to it.
pub(super) fn folds_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut FoldsView,
    out: &mut Outbox,
) {
    widgets::heading(ui, "K-fold cross-validation");
    if let Some(going) = entry.folded.working() {
        widgets::hint(ui, &tasks::words(going, state.tasks.secs_left(going)));
        if ui.add(Button::new("Cancel").small()).clicked() {
            out.send(Question::Cancel(entry.id, Analysis::Folds));
        }
        ui.ctx()
            .request_repaint_after(super::super::page::PROGRESS_TIME);
        return;
    }
    if let Some(done) = entry.folded.done() {
        done_ui(ui, state, entry, done);
    } else {
        widgets::hint(
            ui,
            "Divides the rows into this many folds, fits the model once without each, and scores every row by the fit that has not seen it: \
             no approximation, but as many runs as folds",
        );
    }
    if let Some(why) = entry.folded.refusal() {
        widgets::hint(ui, why);
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x2;
        widgets::hint(ui, "Folds");
        let range = f64::from(folds::FEWEST)..=f64::from(folds::MOST);
        NumberField::new("Folds", &mut view.parts, range)
            .integer()
            .without_slider()
            .label_hidden()
            .show(ui);
        let why = refusal(entry);
        let button = ui
            .add_enabled(why.is_none(), Button::new("Run K-fold").small())
            .on_hover_text(words::time_of_fits(entry, view.parts as usize))
            .on_disabled_hover_text(why.unwrap_or_default());
        if button.clicked() {
            out.send(Question::ScoreInFolds(entry.id, view.parts as u32));
        }
    });
}

/// The sum over rows of this run and of others in as many parts, and the differences in words.
fn done_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, done: &Folded) {
    let others = state.runs.iter().filter(|other| other.id != entry.id);
    let others = others.filter_map(|other| Some((other, other.folded.done()?)));
    let alike =
        |folded: &Folded| folded.folds == done.folds && folded.scores.has_the_rows_of(&done.scores);
    let mut runs: Vec<(String, &PredictionScores)> = vec![(entry.title(), &done.scores)];
    let mut formulas = vec![entry.formula()];
    for (other, folded) in others.filter(|(_, folded)| alike(folded)) {
        runs.push((other.title(), &folded.scores));
        formulas.push(other.formula());
    }
    let elpds: Vec<_> = runs.iter().map(|(_, scores)| scores.elpd()).collect();
    Table::new("kfold", "Runs by elpd_kfold", runs.len())
        .whole()
        .column(Column::names(ui, "run", runs.len(), |k| &runs[k].0))
        .column(
            Column::number("elpd_kfold", 100.0, |k| {
                Cell::number(number::fixed(elpds[k].estimate, 1), Tone::Primary)
            })
            .help("Sum of the log densities of rows, to compare with elpd_loo"),
        )
        .column(Column::number("se", 68.0, |k| {
            Cell::number(number::fixed(elpds[k].se, 1), Tone::Secondary)
        }))
        .gap(tokens().space.x3)
        .column(Column::new("model", FORMULA, |k| Cell::text(formulas[k], Tone::Faint)).fills())
        .show(ui);
    if let Some(compared) = compare(&runs) {
        for behind in &compared.behind {
            widgets::sentence(ui, &behind.sentence, Text::Body);
        }
        for remark in &compared.remarks {
            widgets::hint(ui, remark);
        }
    }
    widgets::hint(
        ui,
        &format!("{} folds, each scored by a fit without it", done.folds),
    );
    ScrollArea::vertical()
        .id_salt("kfold remarks")
        .max_height(REMARKS)
        .show(ui, |ui| {
            for remark in done.scores.remarks().iter().chain(&done.remarks) {
                widgets::hint(ui, remark);
            }
        });
}
