//! Translations of the model: in words, as an equation, as a formula, as code of other programs, to read and to copy.

use eframe::egui::{Frame, Label, Margin, Role, Stroke, Ui, WidgetInfo};

use crate::app::{Document, ModelCheck};
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, Segments, hint, paint};

/// Which notation shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Notation {
    #[default]
    Words,
    Equation,
    Formula,
    Stan,
    Brms,
}

/// What the section keeps.
#[derive(Default)]
pub struct TranslationView {
    notation: Notation,
}

/// Draws the section.
pub fn translation_ui(
    ui: &mut Ui,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut TranslationView,
) {
    let p = Palette::of(ui);
    let Some(found) = check.and_then(|check| check.translation.as_ref()) else {
        return;
    };
    let title = "Translations of this model";
    let label = ui.label(Text::Label.rich(title, p.text_primary));
    label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, title));
    let text = match (found, view.notation) {
        (_, Notation::Formula) => Ok(document.recipe.model.formula.clone()),
        (Err(why), _) => Err(why.to_string()),
        (Ok(all), Notation::Words) => Ok(all.words.clone()),
        (Ok(all), Notation::Equation) => Ok(all.equation.clone()),
        (Ok(all), Notation::Stan) => all.stan.clone().map_err(|why| why.to_string()),
        (Ok(all), Notation::Brms) => all.brms.clone().map_err(|why| why.to_string()),
    };
    ui.horizontal(|ui| {
        Segments::new("Notation", &mut view.notation)
            .option(Notation::Words, "Words")
            .option(Notation::Equation, "Equation")
            .option(Notation::Formula, "R formula")
            .option(Notation::Stan, "Stan")
            .option(Notation::Brms, "brms")
            .show(ui);
        let copy = Button::new("Copy").icon(icons::COPY).small();
        if ui.add_enabled(text.is_ok(), copy).clicked()
            && let Ok(text) = &text
        {
            ui.ctx().copy_text(text.clone());
        }
    });
    match text {
        Ok(text) => {
            let role = match view.notation {
                Notation::Words => Text::Body,
                _ => Text::CodeSmall,
            };
            framed(ui, &text, role);
        }
        Err(why) => {
            hint(ui, &why);
        }
    }
}

/// A text to read and to select, in a frame.
pub(super) fn framed(ui: &mut Ui, text: &str, role: Text) {
    let t = tokens();
    let p = Palette::of(ui);
    Frame::NONE
        .fill(p.bg_strip)
        .stroke(Stroke::new(t.stroke.hair, p.border_subtle))
        .corner_radius(t.radius.control)
        .inner_margin(Margin::same(t.space.x2 as i8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            // The galley of a label can be selected; in words, names between backticks are set in mono.
            let (text, width) = (text.trim_end(), ui.available_width());
            if role == Text::Body {
                let galley = paint::paragraph(ui, text, role, p.text_primary, width);
                ui.add(Label::new(galley));
            } else {
                ui.add(Label::new(role.rich(text, p.text_primary)).wrap());
            }
        });
}
