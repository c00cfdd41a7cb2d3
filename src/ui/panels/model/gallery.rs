//! Models as text to begin with: those of `examples/models`, in a menu beside the editor.

use eframe::egui::Ui;

use crate::app::DataState;
use crate::ui::panels::menu;
use crate::ui::widgets::Button;
use ergodic_language::Program;

/// A model of the gallery.
struct Example {
    title: &'static str,
    text: &'static str,
}

/// The text of an example by its file.
macro_rules! example {
    ($title:literal, $file:literal) => {
        Example {
            title: $title,
            text: include_str!(concat!("../../../../examples/models/", $file, ".model")),
        }
    };
}

/// All models: those of columns first, then those that need no data.
const EXAMPLES: [Example; 15] = [
    example!("Customers who leave, by region and plan", "churn"),
    example!("Counts of fish with many zeros", "fish_counts"),
    example!("Rates of fish by species", "fish_rates"),
    example!("Regression on columns x1, x2, …", "many_columns"),
    example!("Eight schools", "eight_schools"),
    example!("Neal's funnel", "funnel"),
    example!("Double well", "double_well"),
    example!("Wells of unequal depth", "uneven_wells"),
    example!("Nine modes", "nine_modes"),
    example!("Mixture of correlated normals", "correlated_mixture"),
    example!("Bivariate t", "heavy_tails"),
    example!("Bent ridge", "banana"),
    example!("Valley of Rosenbrock", "rosenbrock"),
    example!("Posterior with two bent arms", "warped"),
    example!("Ornstein-Uhlenbeck process", "ornstein_uhlenbeck"),
];

/// The button with the menu; the text that was chosen there. Models of columns that the table does not have cannot be chosen.
pub fn gallery_ui(ui: &mut Ui, data: &DataState) -> Option<&'static str> {
    let button = ui
        .add(Button::new("Examples").small())
        .on_hover_text("Begin with a model of the gallery; Undo brings back what is here now");
    let mut chosen = None;
    menu::menu(&button, menu::WIDE, |ui| {
        for Example { title, text } in &EXAMPLES {
            let read = Program::parse(text);
            let checked = read.and_then(|program| {
                program.check_columns(&data.loaded.table)?;
                Ok(program.needs_no_data())
            });
            match checked {
                Ok(needs_no_data) => {
                    let fact = if needs_no_data { "no data" } else { "" };
                    if menu::item(ui, title, fact, false).clicked() {
                        chosen = Some(*text);
                    }
                }
                Err(error) => menu::refused(ui, title, &error.message),
            }
        }
    });
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_model_of_the_gallery_is_offered() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
        let files = std::fs::read_dir(folder).unwrap();
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let texts: BTreeSet<String> = texts.collect();
        let offered: BTreeSet<String> = EXAMPLES.iter().map(|it| it.text.to_owned()).collect();
        assert_eq!(texts, offered);
        let titles: BTreeSet<&str> = EXAMPLES.iter().map(|it| it.title).collect();
        assert_eq!(titles.len(), EXAMPLES.len());
    }
}
