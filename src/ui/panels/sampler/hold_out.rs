//! Which rows are kept out of the fit, to score its predictions by.

use eframe::egui::Ui;

use super::run_control::row_ui;
use crate::app::{AppState, DraftChange};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::theme::tokens;
use crate::ui::widgets::{self, Button, NumberField, Segments, number};
use ergodic_analysis::Recipe;
use ergodic_analysis::hold_out::{HoldOut, USUAL_SHARE};
use ergodic_core::design::Columns as _;
use ergodic_core::formula::Formula;
use ergodic_data::Table;

/// Width of the field of a share.
const FIELD: f32 = 110.0;
/// Most values of a column that can say which rows.
const MOST_VALUES: usize = 20;
/// Names of columns that usually say which rows are for fitting and which for testing.
const USUAL: [&str; 4] = ["split", "train_or_test", "set", "fold"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    None,
    Share,
    Column,
}

/// Shows the section.
pub fn hold_out_ui(ui: &mut Ui, state: &AppState, recipe: &Recipe, out: &mut Outbox) {
    let t = tokens();
    let now = recipe.model.hold_out.as_ref();
    let table = state.data.as_ref().map(|data| &data.loaded.table);
    ui.add_space(t.space.x2);
    widgets::heading(ui, "Rows held out");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x2;
        let mut way = match now {
            None => Way::None,
            Some(HoldOut::Where { .. }) => Way::Column,
            Some(_) => Way::Share,
        };
        let hint =
            "Rows that the fit does not know; the run is scored by how well it predicts them";
        row_ui(ui, "Keep out of the fit", hint, |ui| {
            let segments = Segments::new("Keep out of the fit", &mut way)
                .option(Way::None, "No rows")
                .option(Way::Share, "A share")
                .option(Way::Column, "By a column");
            if segments.show(ui).changed() {
                let rows = match way {
                    Way::None => None,
                    Way::Share => Some(HoldOut::Share(USUAL_SHARE)),
                    Way::Column => {
                        table.and_then(|table| first_column(table, &recipe.model.formula))
                    }
                };
                out.send(DraftChange::HoldOut(rows));
            }
        });
        match (now, table) {
            (Some(HoldOut::Share(share)), _) => share_ui(ui, *share, out),
            (Some(HoldOut::Part { number, of }), _) => {
                let hint = format!("Part {number} of {of}, as the recipe says");
                widgets::hint(ui, &hint);
            }
            (Some(rows @ HoldOut::Rows(_)), _) => {
                widgets::hint(ui, &format!("The {rows}, as the recipe says"));
            }
            (Some(HoldOut::Where { column, value }), Some(table)) => {
                column_ui(ui, table, column, value, out);
            }
            (Some(HoldOut::Where { .. }), None) | (None, _) => {}
        }
    });
}

fn share_ui(ui: &mut Ui, share: f64, out: &mut Outbox) {
    let hint = "Drawn at random, the same rows for every seed of the run";
    row_ui(ui, "Share of the rows", hint, |ui| {
        let mut percent = 100.0 * share;
        let field = NumberField::new("Share of the rows", &mut percent, 0.1..=99.0)
            .without_slider()
            .field_width(FIELD)
            .unit("%")
            .label_hidden();
        if field.show(ui) {
            out.send(DraftChange::HoldOut(Some(HoldOut::Share(percent / 100.0))));
        }
    });
}

/// Values of column `col`, where they are few enough to choose from.
fn values(table: &Table, col: usize) -> Option<Vec<String>> {
    let levels = table.few_levels(col, MOST_VALUES)?;
    (levels.len() > 1).then_some(levels)
}

/// What is proposed: of the column with the most usual name, or the last with few values, those that the formula does not use
/// before others, the value `test`, or the last.
fn first_column(table: &Table, formula: &str) -> Option<HoldOut> {
    let formula = formula.parse::<Formula>().ok();
    let used = formula.as_ref().map_or_else(Vec::new, Formula::columns);
    let outcome = formula
        .as_ref()
        .and_then(|formula| formula.response.as_ref());
    let outcome = outcome.map(|response| response.column.as_str());
    let rank = |name: &str| {
        let usual = USUAL.iter().position(|usual| *usual == name.to_lowercase());
        (usual.unwrap_or(USUAL.len()), used.contains(&name))
    };
    let columns = (0..table.columns().len()).rev();
    let named = columns.map(|col| (table.columns()[col].name.as_str(), col));
    let able = named.filter(|(name, _)| Some(*name) != outcome);
    let able = able.filter_map(|(name, col)| Some((name, values(table, col)?)));
    let (column, levels) = able.min_by_key(|(name, _)| rank(name))?;
    let value = levels.iter().find(|level| level.to_lowercase() == "test");
    let value = value.or(levels.last())?;
    Some(HoldOut::Where {
        column: column.to_owned(),
        value: value.clone(),
    })
}

fn column_ui(ui: &mut Ui, table: &Table, column: &str, value: &str, out: &mut Outbox) {
    let mut send = |column: &str, value: &str| {
        out.send(DraftChange::HoldOut(Some(HoldOut::Where {
            column: column.to_owned(),
            value: value.to_owned(),
        })));
    };
    let hint = "Rows without a value there are in the fit; the column explains nothing unless the formula names it";
    row_ui(ui, "Rows where", hint, |ui| {
        let button = ui.add(Button::new(column).icon(icons::CARET_DOWN));
        menu::menu(&button, menu::NORMAL, |ui| {
            for (col, info) in table.columns().iter().enumerate() {
                let Some(levels) = values(table, col) else {
                    continue;
                };
                let fact = number::integer(levels.len() as u64);
                let row = menu::item(
                    ui,
                    &info.name,
                    &format!("{fact} values"),
                    info.name == column,
                );
                if row.clicked()
                    && let Some(last) = levels.last()
                {
                    send(&info.name, last);
                }
            }
        });
        widgets::hint(ui, "is");
        let button = ui.add(Button::new(value).icon(icons::CARET_DOWN));
        menu::menu(&button, menu::NORMAL, |ui| {
            let levels = table.position(column).and_then(|col| values(table, col));
            for level in levels.unwrap_or_default() {
                if menu::item(ui, &level, "", level == value).clicked() {
                    send(column, &level);
                }
            }
        });
    });
}
