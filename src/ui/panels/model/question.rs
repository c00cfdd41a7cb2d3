//! The first question about a table: what is to be explained? Every column with what it would be, the likeliest first.

use eframe::egui::{
    Align, Frame, Layout, Margin, Response, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2,
};
use ergodic_analysis::templates;

use crate::app::{DataState, DraftChange};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::columns;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Field, heading, hint, list_card, number, paint};
use ergodic_analysis::choice::template_of;
use ergodic_core::design::Columns as _;
use ergodic_core::models::names;
use ergodic_data::Role as ColumnRole;
use ergodic_data::suggest::{NoOutcome, OutcomeKind, Part};

/// Columns from which a field finds one by its name.
const MANY: usize = 12;
/// Height of a row.
const ROW: f32 = 32.0;
/// Rows shown before the list scrolls.
const MOST_SHOWN: usize = 12;

/// What the question keeps for itself.
#[derive(Default)]
pub struct QuestionView {
    wanted: String,
}

/// Draws the question with its answers.
pub fn question_ui(ui: &mut Ui, data: &DataState, view: &mut QuestionView, out: &mut Outbox) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x2;
    heading(ui, "What do you want to explain?");
    hint(
        ui,
        "Choose a column: what it holds decides the kind of model, and both can be changed afterwards",
    );
    let suggestions = &data.suggestions;
    if suggestions.names.len() > MANY {
        Field::new("Find a column", &mut view.wanted)
            .label_hidden()
            .hint("Find a column")
            .icon(icons::MAGNIFYING_GLASS)
            .width(ui.available_width())
            .show(ui);
    }
    let wanted = view.wanted.trim().to_lowercase();
    let guess = suggestions.guess.as_ref();
    let mut rows: Vec<usize> = (0..suggestions.names.len())
        .filter(|&col| suggestions.names[col].to_lowercase().contains(&wanted))
        .collect();
    // The likeliest first, then the others in the order of the table, at the end identifiers and those that cannot be explained.
    rows.sort_by_key(|&col| {
        let is_guess = guess.is_some_and(|guess| guess.column == suggestions.names[col]);
        let offer = &suggestions.offers[col];
        let aside = matches!(offer.part, Part::Aside(..));
        (!is_guess, offer.outcome.is_err(), aside)
    });
    list_card(ui, |ui| {
        ScrollArea::vertical()
            .id_salt("outcomes")
            .max_height(ROW * MOST_SHOWN as f32)
            .auto_shrink([false, true])
            .show_rows(ui, ROW, rows.len(), |ui, shown| {
                for &col in &rows[shown] {
                    let name = &suggestions.names[col];
                    let from = guess.filter(|guess| guess.column == *name);
                    let from = from.map_or("", |guess| guess.from);
                    let answer = Answer {
                        data,
                        col,
                        name,
                        outcome: suggestions.offers[col].outcome.as_ref(),
                        from,
                    };
                    if answer.show(ui).clicked() {
                        out.send(DraftChange::Assign(name.clone(), ColumnRole::Response));
                    }
                }
            });
        if rows.is_empty() {
            Frame::NONE
                .inner_margin(Margin::symmetric(t.space.x3 as i8, t.space.x2 as i8))
                .show(ui, |ui| hint(ui, "No column name contains these letters"));
        }
    });
    list_card(ui, |ui| {
        let title = templates::find(names::DP_MIXTURE).map_or("", |entry| entry.spec.title);
        let row = row_ui(
            ui,
            icons::INTERSECT,
            "Nothing: find groups of rows",
            "rows that are alike",
            title,
            true,
        );
        if row.clicked() {
            out.send(DraftChange::NoOutcome);
        }
    });
}

/// A column as an answer.
struct Answer<'a> {
    data: &'a DataState,
    col: usize,
    name: &'a str,
    outcome: Result<&'a OutcomeKind, &'a NoOutcome>,
    from: &'static str,
}

impl Answer<'_> {
    fn show(self, ui: &mut Ui) -> Response {
        let info = &self.data.loaded.table.columns()[self.col];
        let profile = self
            .data
            .profiles
            .as_ref()
            .and_then(|all| all.get(self.col));
        let icon = columns::icon(info, profile);
        match self.outcome {
            Ok(kind) => {
                let mut what = what(kind);
                if !self.from.is_empty() {
                    what.push_str(&format!(", guessed {}", self.from));
                }
                let title =
                    templates::find(template_of(kind).0).map_or("", |entry| entry.spec.title);
                row_ui(ui, icon, &format!("`{}`", self.name), &what, title, true)
            }
            Err(reason) => {
                let row = ui.add_enabled_ui(false, |ui| {
                    row_ui(
                        ui,
                        icon,
                        &format!("`{}`", self.name),
                        "cannot be explained",
                        "",
                        false,
                    )
                });
                row.inner
                    .on_disabled_hover_text(paint::words(&reason.to_string()))
            }
        }
    }
}

/// "yes or no", "number, 60 different".
fn what(kind: &OutcomeKind) -> String {
    match kind {
        OutcomeKind::Number(Some(different)) => {
            format!("number, {} different", number::integer(*different as u64))
        }
        kind => kind.label(),
    }
}

/// A row: icon, name, what it is, and the kind of model at the right end.
fn row_ui(ui: &mut Ui, icon: char, name: &str, what: &str, model: &str, able: bool) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        let mut label = format!("{}: {what}", paint::words(name));
        if !model.is_empty() {
            label = format!("{label}, {model}");
        }
        WidgetInfo::labeled(Role::Button, ui.is_enabled(), label)
    });
    if response.hovered() && able {
        ui.painter().rect_filled(rect, t.radius.control, p.bg_hover);
    }
    let y = rect.center().y;
    let x = rect.left() + t.space.x3;
    let color = if able { p.accent } else { p.text_disabled };
    let center = eframe::egui::pos2(x + t.icon.small / 2.0, y);
    icons::paint(ui.painter(), center, icon, t.icon.small, false, color);
    let color = if able {
        p.text_primary
    } else {
        p.text_disabled
    };
    let secondary = if able {
        p.text_secondary
    } else {
        p.text_disabled
    };
    let left = x + t.icon.small + t.space.x2;
    // Three columns, so that kinds stand below each other.
    let width = rect.right() - t.space.x3 - left;
    let name = paint::line(ui, name, Text::Body, color, 0.38 * width);
    paint::left_center(ui.painter(), left, y, name);
    let middle = left + 0.4 * width;
    let kind = paint::line(ui, what, Text::Number, secondary, 0.345 * width);
    paint::left_center(ui.painter(), middle, y, kind);
    let model = paint::line(ui, model, Text::Caption, secondary, 0.25 * width);
    paint::right_center(ui.painter(), rect.right() - t.space.x3, y, model);
    paint::focus_ring_inside(ui, &response, rect);
    response
}

/// What stands below the answers: the formula can be typed instead.
pub fn or_ui(ui: &mut Ui, chip: impl FnOnce(&mut Ui)) {
    let p = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.label(Text::Caption.rich("or type a formula", p.text_secondary));
        ui.with_layout(Layout::right_to_left(Align::Center), chip);
    });
}
