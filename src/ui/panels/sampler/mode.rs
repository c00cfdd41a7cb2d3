//! How the posterior's mode is found: the method and its settings.

use eframe::egui::{Sense, Ui, vec2};

use super::form::{FormView, LABEL, Owner, setting_ui};
use crate::app::DraftChange;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Segments, paint};
use ergodic_analysis::{AUTO, Recipe};
use ergodic_core::estimators;

/// Shows the section.
pub fn mode_ui(ui: &mut Ui, recipe: &Recipe, view: &mut FormView, out: &mut Outbox) {
    let t = tokens();
    let colors = Palette::of(ui);
    widgets::heading(ui, "The posterior's mode");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x3;
        let entry = estimators::find(&recipe.mode.method);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = t.space.x3;
            let (rect, _) = ui.allocate_exact_size(vec2(LABEL, t.size.field), Sense::hover());
            let galley = paint::line(ui, "Found by", Text::Label, colors.text_primary, LABEL);
            paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
            let mut chosen = entry.map_or(AUTO, |entry| entry.spec.id);
            let mut segments = Segments::new("Found by", &mut chosen).wrapping();
            segments = segments.option(AUTO, "Automatic");
            for entry in estimators::REGISTRY {
                segments = segments.option_with(entry.spec.id, entry.spec.title, entry.spec.id);
            }
            if segments.show(ui).changed() {
                out.send(DraftChange::Method(chosen.to_owned()));
            }
        });
        let Some(entry) = entry else {
            let text = "Newton on all rows, after a start from a subset of tall data; L-BFGS where the curvature does not \
                        allow Newton. Control variates, preconditioners and starting points need the mode";
            widgets::hint(ui, text);
            return;
        };
        let spec = &entry.spec;
        widgets::hint(ui, spec.about);
        let owner = Owner {
            id: spec.id,
            section: "mode",
            settings: &recipe.mode.settings,
            send: DraftChange::MethodSetting,
            refuse: &|_| None,
            usual: None,
        };
        let shown =
            (spec.fields.iter()).filter(|field| field.is_shown(owner.settings, spec.fields));
        for field in shown {
            setting_ui(ui, &owner, field, view, out);
        }
        let width = ui.available_width();
        let galley = paint::paragraph(ui, spec.formula, Text::Code, colors.text_primary, width);
        ui.add(eframe::egui::Label::new(galley));
        let source = format!("Source: {}", spec.cite);
        widgets::hint(ui, &source);
    });
}
