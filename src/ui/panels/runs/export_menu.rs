//! The export menu: a format, and a place either typed or chosen with the system's dialog.

use std::path::PathBuf;

use eframe::egui::Ui;

use crate::app::{Command, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::{self, Button, Field, TreeRow};
use ergodic_export::FORMATS;

/// What the menu keeps.
#[derive(Default)]
pub struct ExportView {
    format: usize,
    /// Run and format that the path was proposed for.
    proposed: Option<(u64, usize)>,
    /// Where the file is to go.
    pub path: String,
}

/// What can be written.
enum What {
    /// Results in a format.
    Results(&'static str),
    Predictions,
    Fit,
}

/// An entry of the menu.
struct Entry {
    what: What,
    title: &'static str,
    about: &'static str,
    file_name: &'static str,
}

/// The formats of results, and what else there is of a run by now.
fn formats(entry: &RunEntry) -> Vec<Entry> {
    let offered = FORMATS.iter().filter(|format| entry.has(format));
    let results = offered.map(|format| Entry {
        what: What::Results(format.id),
        title: format.title,
        about: format.about,
        file_name: format.file_name,
    });
    let mut all: Vec<Entry> = results.collect();
    if entry.predicted.done().is_some() {
        all.push(Entry {
            what: What::Predictions,
            title: "Predictions, CSV",
            about: "One row per row of the data: expected outcome, its interval, and that of an outcome",
            file_name: ergodic_export::predictions::FILE,
        });
    }
    if entry.fitting.done().is_some() {
        all.push(Entry {
            what: What::Fit,
            title: "Likelihood fit, folder",
            about: "Estimates, group effects and fitted values as fit.json, effects.csv and fitted.csv in a new folder",
            file_name: "likelihood-fit",
        });
    }
    all
}

/// The contents of the menu.
pub fn export_ui(ui: &mut Ui, entry: &RunEntry, view: &mut ExportView, out: &mut Outbox) {
    let t = tokens();
    ui.set_width(344.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    let formats = formats(entry);
    for (index, format) in formats.iter().enumerate() {
        let row = TreeRow::new(format.title)
            .icon(icons::FILE_CSV)
            .selected(view.format == index)
            .show(ui)
            .on_hover_text(format.about);
        if row.clicked() {
            view.format = index;
        }
    }
    view.format = view.format.min(formats.len() - 1);
    let format = &formats[view.format];
    if view.proposed != Some((entry.id, view.format)) {
        view.proposed = Some((entry.id, view.format));
        view.path = format!("run-{}-{}", entry.number, format.file_name);
    }
    ui.add_space(t.space.x2);
    widgets::hint(ui, format.about);
    ui.add_space(t.space.x2);
    Field::new("Path", &mut view.path).mono().show(ui);
    ui.add_space(t.space.x2);
    let empty = view.path.trim().is_empty();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let write = ui.add_enabled(!empty, Button::new("Write the file").primary());
        if write
            .on_disabled_hover_text("Type where the file is to go")
            .clicked()
        {
            let path = PathBuf::from(view.path.trim());
            out.send(match format.what {
                What::Results(id) => Command::Export(entry.id, id, path),
                What::Predictions => Command::ExportPredictions(entry.id, path),
                What::Fit => Command::ExportFit(Some(entry.id), path),
            });
            ui.close();
        }
        if ui
            .add(Button::new("Choose the place…").icon(icons::FOLDER_OPEN))
            .clicked()
        {
            out.send(match format.what {
                What::Results(id) => Command::PickExport(entry.id, id),
                What::Predictions => Command::PickExportPredictions(entry.id),
                What::Fit => Command::PickExportFit(Some(entry.id)),
            });
            ui.close();
        }
    });
    if let Some(spec) = entry.sampler().filter(|spec| spec.bias.is_some()) {
        ui.add_space(t.space.x2);
        let certified = entry
            .report()
            .is_some_and(|report| report.verdict == ergodic_diagnostics::Verdict::Good);
        if !certified {
            let text = format!(
                "The manifest of the run says that {} is approximate and not certified.",
                spec.title
            );
            widgets::sentence(ui, &text, Text::Caption);
        }
    }
}
