//! The help: all actions with their keys, and the keys of tables and plots.

use eframe::egui::{Id, Key, Modal, Modifiers, Ui, vec2};

use super::actions::ACTIONS;
use super::icons;
use super::theme::{Palette, Text, tokens};
use super::widgets::table::{Cell, Column, Table, Tone};
use super::widgets::{Button, dialog_frame, heading, sentence};

/// Size of the list.
const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 420.0;

/// Keys that only what has the focus understands: where, what they do, the keys.
const LOCAL: &[(&str, &str, &str)] = &[
    (
        "Everywhere",
        "Go to the next control, or to the one before",
        "Tab, Shift Tab",
    ),
    (
        "Everywhere",
        "Press the button or choose the row",
        "Enter, Space",
    ),
    ("Everywhere", "Close what is open", "Esc"),
    (
        "Texts of models",
        "Take the first word that is offered below the text",
        "Tab",
    ),
    (
        "Texts of models",
        "Leave the text",
        "Esc, or Tab without offers",
    ),
    (
        "Tables",
        "Choose a row",
        "Up, Down, Page Up, Page Down, Home, End",
    ),
    ("Tables", "Unfold or fold a group of rows", "Right, Left"),
    ("Tables", "Copy the rows, with tabs between cells", "Ctrl C"),
    ("Tables", "Sort by a column", "Click on its head"),
    (
        "Plots",
        "Move the cursor, or by ten steps",
        "Left, Right, Shift Left, Shift Right",
    ),
    ("Plots", "Move the cursor to the ends", "Home, End"),
    (
        "Plots",
        "Show less or more around the cursor",
        "Page Up, Page Down",
    ),
    ("Plots", "Show the data as a table", "T"),
    ("Plots", "Zoom into a part", "Drag"),
    ("Plots", "Move what is shown", "Shift drag"),
    ("Plots", "Show all again", "Double click"),
];

/// Shows the help while `open` says so.
pub fn help_ui(ui: &Ui, open: &mut bool) {
    if !*open {
        return;
    }
    let actions = ACTIONS
        .iter()
        .map(|entry| (entry.group.title(), entry.text, entry.keys(), entry.about));
    let local = LOCAL
        .iter()
        .map(|&(place, text, keys)| (place, text, keys.to_owned(), ""));
    let rows: Vec<(&str, &str, String, &str)> = actions.chain(local).collect();
    let icon_ui = |ui: &mut Ui, k: usize| {
        if let Some(entry) = ACTIONS.get(k) {
            let color = Palette::of(ui).text_secondary;
            icons::icon_ui(ui, entry.icon, tokens().icon.small, false, color);
        }
    };
    let t = tokens();
    let shown = Modal::new(Id::unique("help"))
        .frame(dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH);
            ui.spacing_mut().item_spacing.y = t.space.x2;
            heading(ui, "Keys and actions");
            let text =
                "All actions are in the command palette as well, where a few letters find them";
            sentence(ui, text, Text::Body);
            ui.allocate_ui(vec2(WIDTH, HEIGHT), |ui| {
                ui.set_min_size(vec2(WIDTH, HEIGHT));
                Table::new("help", "Keys and actions", rows.len())
                    .column(Column::new("", 24.0, |k| {
                        Cell::drawn(move |ui| icon_ui(ui, k))
                    }))
                    .column(
                        Column::new("", 88.0, |k| Cell::text(rows[k].0, Tone::Secondary))
                            .by_text(|k| rows[k].0),
                    )
                    .column(
                        Column::new("action", 0.0, |k| {
                            Cell::text(rows[k].1, Tone::Primary).hover(rows[k].3)
                        })
                        .by_text(|k| rows[k].1)
                        .names_rows()
                        .fills(),
                    )
                    .column(Column::new("keys", 240.0, |k| {
                        Cell::text(rows[k].2.as_str(), Tone::Primary)
                    }))
                    .show(ui);
            });
            let closed = ui.add(Button::new("Close").key("Esc")).clicked();
            closed || ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
        });
    if shown.inner || shown.should_close() {
        *open = false;
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::Order;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::ui::panels::Views;
    use crate::ui::shell::window_ui;
    use crate::ui::shortcuts;
    use crate::ui::testing::page_harness;

    #[test]
    fn no_tooltip_of_what_is_below_stays_above_the_help() {
        let mut harness = page_harness(Session::default(), |ui, state, views: &mut Views, out| {
            shortcuts::read(ui.ctx(), state, views, out);
            window_ui(ui, state, views, out);
        });
        harness.run_steps(2);
        let button = harness.get_by_label("Theme").rect();
        let is_shown = |harness: &Harness<'_, _>| {
            harness.ctx.memory(|memory| {
                let mut layers = memory.layer_ids();
                layers.any(|layer| {
                    layer.order == Order::Tooltip && memory.areas().visible_last_frame(&layer)
                })
            })
        };
        harness.hover_at(button.center());
        // Until the pointer has rested long enough.
        harness.run_steps(60);
        assert!(is_shown(&harness));
        harness.key_press(Key::F1);
        harness.run_steps(4);
        harness.get_by_label("Ctrl Shift S");
        assert!(!is_shown(&harness));
        harness.key_press(Key::F1);
        harness.run_steps(60);
        assert!(is_shown(&harness));
    }

    #[test]
    fn f1_shows_the_keys_and_takes_them_away() {
        let mut harness = page_harness(Session::default(), |ui, state, views: &mut Views, out| {
            shortcuts::read(ui.ctx(), state, views, out);
            window_ui(ui, state, views, out);
        });
        harness.run_steps(2);
        assert!(harness.query_by_label("Ctrl Shift S").is_none());
        harness.key_press(Key::F1);
        harness.run_steps(3);
        harness.get_by_label("Ctrl Shift S");
        harness.get_by_label("Save the project as…");
        harness.key_press(Key::F1);
        harness.run_steps(3);
        assert!(!harness.state().view.help);
        harness.key_press(Key::F1);
        harness.run_steps(3);
        harness.key_press(Key::Escape);
        harness.run_steps(3);
        assert!(!harness.state().view.help);
    }
}
