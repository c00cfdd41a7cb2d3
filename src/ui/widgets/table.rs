//! Cells of tables: heads with a sort arrow, numbers at the right, names in mono.

use eframe::egui::{
    Align, Color32, Layout, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2,
};
use egui_extras::TableBuilder;

use super::badge::paint_verdict;
use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// How the text of a cell looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tone {
    /// The main number of the row.
    Primary,
    /// A number that explains another.
    Secondary,
    /// A value past its limit: the verdict's colour and more weight.
    Past(VerdictKind),
}

/// Where the text of a head stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Over names.
    Left,
    /// Over numbers.
    Right,
}

/// A table without gaps between its cells; rows can be clicked. Text stands 4 points from the sides of its cell: put
/// an empty column of 8 points at a side that touches the edge of a pane.
pub fn table(ui: &mut Ui) -> TableBuilder<'_> {
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    TableBuilder::new(ui)
        .striped(false)
        .sense(Sense::click())
        .cell_layout(Layout::left_to_right(Align::Center))
}

/// A head: `sorted` says whether the table is sorted by it, and upwards. Returns the click that asks to sort.
pub fn head_cell(ui: &mut Ui, word: &str, side: Side, sorted: Option<bool>) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let rect = ui.max_rect();
    ui.painter().rect_filled(rect, 0.0, p.bg_strip);
    let sense = if word.is_empty() {
        Sense::hover()
    } else {
        Sense::click()
    };
    let (_, response) = ui.allocate_exact_size(rect.size(), sense);
    if word.is_empty() {
        return response;
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
            format!("{word}{order}"),
        )
    });
    let color = if sorted.is_some() || response.hovered() {
        p.text_primary
    } else {
        p.text_secondary
    };
    let role = if sorted.is_some() {
        Text::CaptionStrong
    } else {
        Text::Caption
    };
    let arrow = if sorted.is_some() {
        t.icon.tiny + 2.0
    } else {
        0.0
    };
    let pad = t.space.x1;
    let galley = paint::line(
        ui,
        word,
        role,
        color,
        (rect.width() - 2.0 * pad - arrow).max(0.0),
    );
    let y = rect.center().y;
    let x = match side {
        Side::Left => rect.left() + pad,
        Side::Right => rect.right() - pad - arrow - galley.size().x,
    };
    let text = paint::left_center(ui.painter(), x, y, galley);
    if let Some(ascending) = sorted {
        let icon = if ascending {
            icons::CARET_UP
        } else {
            icons::CARET_DOWN
        };
        icons::paint(
            ui.painter(),
            pos2(text.right() + 7.0, y),
            icon,
            t.icon.tiny,
            false,
            color,
        );
    }
    paint::focus_ring_inside(ui, &response, rect);
    response
}

/// A number at the right end of its cell.
pub fn number_cell(ui: &mut Ui, text: &str, tone: Tone) -> Response {
    let (role, color) = tone_of(ui, tone);
    cell(ui, text, role, color, Side::Right)
}

/// A word at the left end of its cell.
pub fn text_cell(ui: &mut Ui, text: &str, tone: Tone) -> Response {
    let (_, color) = tone_of(ui, tone);
    cell(ui, text, Text::Number, color, Side::Left)
}

/// A variable's name in the form `short` that the caller made with [`super::name::short_names`]; `full` is its
/// tooltip and its accessible name. A form that is still too wide loses its middle, never its end.
pub fn name_cell(ui: &mut Ui, short: &str, full: &str) -> Response {
    let color = Palette::of(ui).text_primary;
    let fitted = super::name::fit(short, name_chars(ui, ui.max_rect().width()));
    let response = cell_named(ui, &fitted, full, Text::Code, color, Side::Left);
    if fitted == full {
        response
    } else {
        response.on_hover_text(full)
    }
}

/// Characters of a name that fit a column `width` points wide.
pub fn name_chars(ui: &Ui, width: f32) -> usize {
    name_room(ui, width - 2.0 * tokens().space.x1)
}

/// Characters of a name that fit `width` points.
pub fn name_room(ui: &Ui, width: f32) -> usize {
    let one = ui
        .fonts_mut(|fonts| fonts.glyph_width(&Text::Code.font(), 'm'))
        .max(1.0);
    (width / one + 0.01).max(0.0) as usize
}

/// Points that a column needs for names of `chars` characters.
pub fn name_width(ui: &Ui, chars: usize) -> f32 {
    let one = ui.fonts_mut(|fonts| fonts.glyph_width(&Text::Code.font(), 'm'));
    (chars as f32 * one + 2.0 * tokens().space.x1).ceil()
}

/// The verdict's icon in the middle of its cell.
pub fn verdict_cell(ui: &mut Ui, kind: VerdictKind) -> Response {
    let rect = ui.max_rect();
    let (_, response) = ui.allocate_exact_size(rect.size(), Sense::hover());
    let word = Palette::of(ui).verdict(kind).word;
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, word));
    paint_verdict(ui, rect, kind);
    response.on_hover_text(word)
}

fn tone_of(ui: &Ui, tone: Tone) -> (Text, Color32) {
    let p = Palette::of(ui);
    match tone {
        Tone::Primary => (Text::Number, p.text_primary),
        Tone::Secondary => (Text::Number, p.text_secondary),
        Tone::Past(kind) => (Text::NumberStrong, p.verdict(kind).color),
    }
}

fn cell(ui: &mut Ui, text: &str, role: Text, color: Color32, side: Side) -> Response {
    cell_named(ui, text, text, role, color, side)
}

fn cell_named(
    ui: &mut Ui,
    text: &str,
    name: &str,
    role: Text,
    color: Color32,
    side: Side,
) -> Response {
    let rect: Rect = ui.max_rect();
    let (_, response) = ui.allocate_exact_size(rect.size(), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Cell, true, name));
    let pad = tokens().space.x1;
    // Words are cut with an ellipsis; a number never is, because a part of it is another number.
    let room = if side == Side::Left {
        (rect.width() - 2.0 * pad).max(0.0)
    } else {
        f32::INFINITY
    };
    let galley = paint::line(ui, text, role, color, room);
    let y = rect.center().y;
    match side {
        Side::Left => paint::left_center(ui.painter(), rect.left() + pad, y, galley),
        Side::Right => paint::right_center(ui.painter(), rect.right() - pad, y, galley),
    };
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_extras::Column;
    use egui_kittest::kittest::Queryable as _;

    #[derive(Default)]
    struct State {
        ascending: bool,
        selected: Option<usize>,
    }

    fn show(ui: &mut Ui, state: &mut State) {
        let t = tokens();
        table(ui)
            .column(Column::exact(24.0))
            .column(Column::exact(120.0))
            .column(Column::exact(80.0))
            .header(t.size.row_table, |mut row| {
                row.col(|ui| {
                    head_cell(ui, "", Side::Left, None);
                });
                row.col(|ui| {
                    head_cell(ui, "variable", Side::Left, None);
                });
                row.col(|ui| {
                    if head_cell(ui, "R-hat", Side::Right, Some(state.ascending)).clicked() {
                        state.ascending = !state.ascending;
                    }
                });
            })
            .body(|body| {
                body.rows(t.size.row_table, 3, |mut row| {
                    let i = row.index();
                    row.set_selected(state.selected == Some(i));
                    row.col(|ui| {
                        verdict_cell(ui, VerdictKind::Watch);
                    });
                    row.col(|ui| {
                        name_cell(ui, &format!("b[x{i}]"), &format!("b[x{i}]"));
                    });
                    row.col(|ui| {
                        number_cell(ui, &format!("1.01{i}"), Tone::Past(VerdictKind::Watch));
                    });
                    if row.response().clicked() {
                        state.selected = Some(i);
                    }
                });
            });
    }

    #[test]
    fn a_head_sorts_and_says_in_which_order() {
        let mut harness = harness([400.0, 200.0], State::default(), show);
        harness.get_by_label("R-hat, descending").click();
        harness.run();
        harness.get_by_label("R-hat, ascending");
    }

    #[test]
    fn a_click_on_any_cell_selects_the_row() {
        let mut harness = harness([400.0, 200.0], State::default(), show);
        harness.get_by_label("1.012").click();
        harness.run();
        assert_eq!(harness.state().selected, Some(2));
    }

    #[test]
    fn numbers_end_at_the_same_place() {
        let harness = harness([400.0, 200.0], State::default(), show);
        let a = harness.get_by_label("1.010").rect();
        let b = harness.get_by_label("1.011").rect();
        assert_eq!(a.right(), b.right());
        assert_eq!(a.height(), 24.0);
    }
}
