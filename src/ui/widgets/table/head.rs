//! The head of a column: its word, and an arrow where the rows are sorted by it; and headings between rows.

use eframe::egui::{Id, Rect, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2};

use super::Column;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::paint;

/// Room that the arrow takes beyond its size.
const ARROW_GAP: f32 = 2.0;

/// Shows a head over `rect`: `sorted` says whether the rows are sorted by it, and upwards. Returns whether it was clicked.
pub(super) fn show(ui: &Ui, rect: Rect, id: Id, column: &Column<'_>, sorted: Option<bool>) -> bool {
    let t = tokens();
    let p = Palette::of(ui);
    let sense = if column.sorts {
        Sense::click()
    } else {
        Sense::hover()
    };
    let response = ui.interact(rect, id, sense);
    if column.head.is_empty() {
        return false;
    }
    response.widget_info(|| {
        let order = match sorted {
            Some(true) => ", ascending",
            Some(false) => ", descending",
            None => "",
        };
        WidgetInfo::labeled(
            Role::ColumnHeader,
            ui.is_enabled(),
            format!("{}{order}", column.head),
        )
    });
    let (role, color) = match sorted {
        Some(_) => (Text::CaptionStrong, p.text_primary),
        None if column.sorts && response.hovered() => (Text::Caption, p.text_primary),
        None => (Text::Caption, p.text_secondary),
    };
    let arrow = if sorted.is_some() {
        t.icon.tiny + ARROW_GAP
    } else {
        0.0
    };
    let pad = t.space.x1;
    let room = (rect.width() - 2.0 * pad - arrow).max(0.0);
    let galley = paint::line(ui, column.head, role, color, room);
    let y = rect.center().y;
    let x = if column.is_right {
        rect.right() - pad - arrow - galley.size().x
    } else {
        rect.left() + pad
    };
    let text = paint::left_center(ui.painter(), x, y, galley);
    if let Some(ascending) = sorted {
        let icon = if ascending {
            icons::CARET_UP
        } else {
            icons::CARET_DOWN
        };
        let center = pos2(text.right() + 7.0, y);
        icons::paint(ui.painter(), center, icon, t.icon.tiny, false, color);
    }
    paint::focus_ring_inside(ui, &response, rect);
    let clicked = response.clicked();
    if !column.help.is_empty() {
        response.on_hover_text(column.help);
    }
    clicked
}

/// Shows a heading over the row at `rect`, which stands at `place`.
pub(super) fn heading(ui: &mut Ui, rect: Rect, id: Id, words: &str, place: usize) {
    let builder = UiBuilder::new()
        .scope_id(id)
        .max_rect(rect)
        .accessibility_role(Role::Row);
    let mut row = ui.new_child(builder);
    row.expand_to_include_rect(rect);
    ui.ctx().accesskit_node_builder(row.unique_id(), |node| {
        node.set_row_index(place + 1);
        node.set_bounds(super::bounds(rect));
    });
    let response = row.interact(rect, id.with("words"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::RowHeader, true, words));
    let p = Palette::of(ui);
    let pad = tokens().space.x2;
    let room = rect.width() - 2.0 * pad;
    let galley = paint::line(ui, words, Text::CaptionStrong, p.text_secondary, room);
    paint::left_center(row.painter(), rect.left() + pad, rect.center().y, galley);
    paint::hair_below(&row, rect);
}
