//! The export menu: a format, a report or a picture, and a place either typed or chosen with the system's dialog.

use std::path::PathBuf;

use eframe::egui::{ScrollArea, Ui, vec2};

use crate::app::reporting::Picture;
use crate::app::{AppState, PathCommand, Product, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::{self, Button, Chip, Field, TreeRow};
use ergodic_export::FORMATS;
use ergodic_report::FIGURES;

/// Most height of the list of pictures, of which there are more than fit into a window: six rows and half of the next, which shows
/// that there are more.
const FIGURES_HEIGHT: f32 = 206.0;

/// What the menu keeps.
#[derive(Default)]
pub struct ExportView {
    format: usize,
    /// The figure of a picture.
    figure: usize,
    /// What the path was proposed for.
    proposed: Option<Product>,
    /// Where the file is to go.
    pub path: String,
}

/// An entry of the menu.
struct Entry {
    product: Product,
    icon: char,
    title: &'static str,
    about: &'static str,
}

/// The formats of results, and what else there is of a run by now.
fn formats(entry: &RunEntry, picture: Picture) -> Vec<Entry> {
    let offered = FORMATS.iter().filter(|format| entry.has(format));
    let results = offered.map(|format| Entry {
        product: Product::Results(entry.id, format.id),
        icon: icons::FILE_CSV,
        title: format.title,
        about: format.about,
    });
    let mut all: Vec<Entry> = results.collect();
    if entry.predicted.done().is_some() {
        all.push(Entry {
            product: Product::Predictions(entry.id),
            icon: icons::FILE_CSV,
            title: "Predictions, CSV",
            about: "One row per row of the data: expected outcome, its interval, and that of an outcome",
        });
    }
    if entry.fitting.done().is_some() {
        all.push(Entry {
            product: Product::Fit(Some(entry.id)),
            icon: icons::FILE_CSV,
            title: "Likelihood fit, folder",
            about: "Estimates, group effects and fitted values as fit.json, effects.csv and fitted.csv in a new folder",
        });
    }
    // Draws of unknown origin have no model to report on.
    if entry.recipe.is_some() {
        all.extend(ergodic_report::report::FORMATS.iter().map(|format| Entry {
            product: Product::Report(entry.id, format.id),
            icon: icons::FILE,
            title: format.title,
            about: format.about,
        }));
    }
    all.push(Entry {
        product: Product::Picture(entry.id, picture),
        icon: icons::CHART_LINE,
        title: "Picture, SVG or PNG",
        about: "A vector picture; with a name that ends in .png dots, 300 to the inch, in .csv a table of what is drawn",
    });
    all
}

/// The contents of the menu; pictures are of the parameter that is selected.
pub fn export_ui(
    ui: &mut Ui,
    (state, entry): (&AppState, &RunEntry),
    view: &mut ExportView,
    out: &mut Outbox,
) {
    let t = tokens();
    ui.set_width(344.0);
    ui.spacing_mut().item_spacing.y = 0.0;
    view.figure = view.figure.min(FIGURES.len() - 1);
    let picture = Picture {
        figure: FIGURES[view.figure].id,
        variable: state.selected_variable,
    };
    let formats = formats(entry, picture);
    for (index, format) in formats.iter().enumerate() {
        let row = TreeRow::new(format.title)
            .icon(format.icon)
            .selected(view.format == index)
            .show(ui)
            .on_hover_text(format.about);
        if row.clicked() {
            view.format = index;
        }
    }
    view.format = view.format.min(formats.len() - 1);
    let format = &formats[view.format];
    ui.add_space(t.space.x2);
    let about = match format.product {
        Product::Picture(..) => figure_ui(ui, &mut view.figure),
        _ => format.about,
    };
    if view.proposed != Some(format.product) {
        view.proposed = Some(format.product);
        view.path = format.product.file_name(state).unwrap_or_default();
    }
    widgets::hint(ui, about);
    ui.add_space(t.space.x2);
    Field::new("Path", &mut view.path).mono().show(ui);
    ui.add_space(t.space.x2);
    let empty = view.path.trim().is_empty();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let write = ui.add_enabled(!empty, Button::new("Write the file").primary());
        let write = write.on_disabled_hover_text("Type where the file is to go");
        if write.clicked() {
            let path = PathBuf::from(view.path.trim());
            out.send(PathCommand::Write(format.product, path));
            ui.close();
        }
        let choose = Button::new("Choose a location…").icon(icons::FOLDER_OPEN);
        if ui.add(choose).clicked() {
            out.send(PathCommand::Pick(format.product));
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

/// Lets a figure be chosen; what it shows.
fn figure_ui(ui: &mut Ui, chosen: &mut usize) -> &'static str {
    let t = tokens();
    let list = ScrollArea::vertical().max_height(FIGURES_HEIGHT);
    list.show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(t.space.x1, t.space.x1);
            for (index, figure) in FIGURES.iter().enumerate() {
                if ui
                    .add(Chip::toggle(figure.title, *chosen == index))
                    .clicked()
                {
                    *chosen = index;
                }
            }
        });
    });
    ui.add_space(t.space.x1);
    FIGURES[*chosen].about
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ViewCommand;
    use crate::app::testing::Session;
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn reports_and_pictures_of_the_selected_parameter_are_offered() {
        let mut session = Session::with_draft("churn");
        session.run(1, 20, 30);
        session.send(ViewCommand::SelectVariable(1));
        let folder = tempfile::tempdir().unwrap();
        let mut harness = page_harness::<ExportView>(session, |ui, state, view, out| {
            let entry = state.selected().unwrap();
            export_ui(ui, (state, entry), view, out);
        });
        harness.run_steps(2);
        for format in ergodic_report::report::FORMATS {
            harness.get_by_label(format.title).click();
            harness.run_steps(2);
            let proposed = harness.state().view.path.clone();
            assert_eq!(proposed, format!("run-1-{}", format.file_name));
        }
        harness.get_by_label("Choose a location…").click();
        harness.run_steps(2);
        harness.get_by_label("Picture, SVG or PNG").click();
        harness.run_steps(2);
        harness.get_by_label("Density").click();
        harness.run_steps(2);
        assert_eq!(harness.state().view.path, "run-1-density.svg");
        let path = folder.path().join("p.svg");
        harness.state_mut().view.path = path.display().to_string();
        harness.step();
        harness.get_by_label("Write the file").click();
        harness.run_steps(2);
        let picture = Picture {
            figure: "density",
            variable: 1,
        };
        assert_eq!(
            harness.state().sent,
            [
                PathCommand::Pick(Product::Report(1, "latex")).into(),
                PathCommand::Write(Product::Picture(1, picture), path.clone()).into()
            ]
        );
        assert!(std::fs::read_to_string(path).unwrap().contains("b[age]"));
    }
}
