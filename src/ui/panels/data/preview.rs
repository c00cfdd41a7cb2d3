//! The table as it is in the file, with a head that says what each column holds.

use eframe::egui::{
    Align, Id, Layout, Rect, Role, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, vec2,
};

use crate::app::{DataCommand, DataState};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::plain_line;
use crate::ui::panels::{columns, menu};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Shown, Tone, name_width};
use crate::ui::widgets::{self, Chip, column_name, mini_histogram, number, paint, sentence_line};
use ergodic_core::design::{ColumnInfo, ColumnKind, Columns as _};
use ergodic_data::{ColumnKindOverride, Profile, ProfileKind, Table};

/// Height of the head: name, kind, picture, fact.
const HEAD_HEIGHT: f32 = 116.0;
/// Size of a column's picture.
const PICTURE_HEIGHT: f32 = 34.0;
/// Widths of a column at first: all fit if they can. Then the least it can be made.
const COLUMN_WIDTHS: std::ops::RangeInclusive<f32> = 96.0..=176.0;
const MIN_WIDTH: f32 = 64.0;
/// Characters of a cell that are laid out: more never fit.
const MAX_CHARS: usize = 200;

/// Draws the table over all its rows, with the cell of `go_to` (row and column) in sight.
pub fn preview_ui(ui: &mut Ui, data: &DataState, go_to: Option<(usize, usize)>, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    let table = &data.loaded.table;
    let foot = Text::Caption.line() + t.space.x2;
    let room = ui.available_rect_before_wrap();
    let frame = Rect::from_min_max(room.min, room.max - vec2(0.0, foot));
    let numbers = number_width(table);
    // Icon, gap and insets stand beside the name.
    let around = t.icon.small + t.space.x1 + 2.0 * t.space.x2 + 2.0;
    let wanted: Vec<Wanted> = table
        .columns()
        .iter()
        .enumerate()
        .map(|(col, info)| {
            let name = name_width(ui, info.name.chars().count()) + around;
            let profile = data.profiles.as_ref().and_then(|all| all.get(col));
            let kind = columns::kind_word(info, profile);
            let kind = paint::line(ui, &kind, Text::Number, p.text_primary, f32::INFINITY);
            // The chip of the kind: its insets, its caret and the insets of the head.
            let chip = kind.size().x.ceil() + 4.0 * t.space.x2 + t.space.x1 + t.icon.small + 2.0;
            Wanted {
                least: chip.max(MIN_WIDTH),
                whole: name.max(chip),
            }
        })
        .collect();
    let columns = widths(&wanted, frame.width() - 2.0 - numbers);
    let width = (numbers + columns.iter().sum::<f32>() + 2.0).min(frame.width());
    let frame = Rect::from_min_size(frame.min, vec2(width, frame.height()));
    ui.painter().rect_filled(frame, t.radius.card, p.bg_surface);
    let mut child = ui.new_child(
        UiBuilder::new()
            .max_rect(frame.shrink(1.0))
            .layout(Layout::top_down(Align::Min)),
    );
    // What was made for another window, or before the columns were known, would cut chips and waste room.
    let made_for = (table.source(), data.profiles.is_some(), room.width() as u32);
    let key = Id::unique(("widths of the preview", made_for));
    let mut columns = ui
        .data(|data| data.get_temp::<Vec<f32>>(key))
        .unwrap_or(columns);
    let shown = table_ui(&mut child, data, &columns, go_to, out);
    if let Some((at, by)) = shown.widened {
        let column = &mut columns[at - 1];
        *column = (*column + by).max(wanted[at - 1].least.min(*column));
        ui.data_mut(|data| data.insert_temp(key, columns));
    }
    ui.painter().rect_stroke(
        frame,
        t.radius.card,
        Stroke::new(t.stroke.hair, p.border_subtle),
        StrokeKind::Inside,
    );
    ui.advance_cursor_after_rect(frame);
    ui.add_space(t.space.x1);
    let total = number::integer(table.num_rows() as u64);
    let rows = if shown.seen.is_empty() {
        format!("{total} rows")
    } else {
        format!(
            "Rows {} to {} of {total}, raw text as in the file",
            number::integer(shown.seen.start as u64 + 1),
            number::integer(shown.seen.end as u64)
        )
    };
    sentence_line(ui, &rows, Text::Caption, true);
}

/// Widths that a column asks for.
struct Wanted {
    /// The chip of its kind, which is never cut.
    least: f32,
    /// Width that the whole name would need.
    whole: f32,
}

/// Widths of columns. Where all names have room the rest goes to all alike, where not it goes to those that want it; where
/// not even the least widths have room the table scrolls, and names are whole.
fn widths(wanted: &[Wanted], room: f32) -> Vec<f32> {
    let (low, most) = (*COLUMN_WIDTHS.start(), *COLUMN_WIDTHS.end());
    let least = |w: &Wanted| w.least.max(low);
    let whole = |w: &Wanted| w.whole.min(1.5 * most).max(least(w));
    let sum: f32 = wanted.iter().map(whole).sum();
    let least_sum: f32 = wanted.iter().map(least).sum();
    let count = wanted.len().max(1) as f32;
    let width = |w: &Wanted| {
        if sum <= room {
            (whole(w) + (room - sum) / count).min(whole(w).max(most))
        } else if room > least_sum {
            least(w) + (whole(w) - least(w)) * (room - least_sum) / (sum - least_sum)
        } else {
            whole(w)
        }
    };
    wanted.iter().map(|w| width(w).floor()).collect()
}

/// Width of the row numbers: a digit is about 6 points wide.
fn number_width(table: &Table) -> f32 {
    let digits = table.num_rows().to_string().len() as f32;
    24.0 + 7.0 * digits
}

fn table_ui(
    ui: &mut Ui,
    data: &DataState,
    widths: &[f32],
    go_to: Option<(usize, usize)>,
    out: &mut Outbox,
) -> Shown {
    let table = &data.loaded.table;
    let infos = table.columns();
    let profile = |col: usize| data.profiles.as_ref().and_then(|all| all.get(col));
    let head = |ui: &mut Ui, at: usize| match at.checked_sub(1) {
        None => head_back(ui),
        Some(col) => head_ui(ui, data, &infos[col], profile(col), out),
    };
    let mut rows = widgets::table::Table::new(table.source(), "Rows of the file", table.num_rows())
        .striped()
        .heads(HEAD_HEIGHT, head)
        .scroll_to(go_to.map(|(row, col)| (row, col + 1)))
        .column(Column::number("row", number_width(table), |row| {
            Cell::number(number::integer(row as u64 + 1), Tone::Faint)
        }));
    for (col, (info, &width)) in infos.iter().zip(widths).enumerate() {
        let cell = move |row: usize| {
            Cell::drawn(move |ui| cell_ui(ui, table, row, col, info, profile(col)))
        };
        rows = rows.column(Column::new(&info.name, width, cell).resizes());
    }
    rows.show(ui)
}

fn head_back(ui: &mut Ui) {
    let p = Palette::of(ui);
    let rect = ui.max_rect();
    ui.painter().rect_filled(rect, 0.0, p.bg_panel);
    paint::hair_below(ui, rect);
}

fn head_ui(
    ui: &mut Ui,
    data: &DataState,
    info: &ColumnInfo,
    profile: Option<&Profile>,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    head_back(ui);
    let rect = ui.max_rect();
    let edge = Stroke::new(t.stroke.hair, p.border_subtle);
    ui.painter().vline(rect.left() + 0.5, rect.y_range(), edge);
    let mut child = ui.new_child(
        UiBuilder::new()
            .max_rect(rect.shrink2(vec2(t.space.x2, t.space.x2)))
            .layout(Layout::top_down(Align::Min)),
    );
    let ui = &mut child;
    ui.spacing_mut().item_spacing = vec2(t.space.x1, t.space.x1);
    ui.horizontal(|ui| {
        ui.set_height(16.0);
        let icon = columns::icon(info, profile);
        icons::icon_ui(ui, icon, t.icon.small, false, p.text_secondary);
        column_name(ui, &info.name, Text::Label);
    });
    kind_ui(ui, data, info, profile, out);
    let width = ui.available_width();
    let heights = profile.map(columns::heights).unwrap_or_default();
    if heights.is_empty() {
        let (rect, _) = ui.allocate_exact_size(vec2(width, PICTURE_HEIGHT), Sense::hover());
        let text = if profile.is_some() {
            "no chart"
        } else {
            "Profiling…"
        };
        let text = paint::line(ui, text, Text::Caption, p.text_disabled, width);
        paint::left_center(ui.painter(), rect.left(), rect.center().y, text);
    } else {
        let name = format!("Distribution of {}", info.name);
        mini_histogram(ui, vec2(width, PICTURE_HEIGHT), &heights, None, &name);
    }
    let fact = columns::fact(info, profile);
    let color = if info.num_missing > 0 {
        p.watch
    } else {
        p.text_secondary
    };
    let galley = paint::line(ui, &fact, Text::Caption, color, width);
    let (rect, response) =
        ui.allocate_exact_size(vec2(width, Text::Caption.line()), Sense::hover());
    paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
    response.on_hover_text(about(info, profile));
}

/// Everything known about a column, for the tooltip of its facts.
fn about(info: &ColumnInfo, profile: Option<&Profile>) -> String {
    let mut lines = vec![info.name.clone()];
    match profile {
        Some(profile) => {
            lines.push(paint::words(&profile.reason));
            if let Some(place) = &profile.first_missing {
                lines.push(format!("{}, first in {place}", columns::missing(info)));
            }
            if let Some(numbers) = &profile.numbers {
                lines.push(format!(
                    "Mean {}, standard deviation {}, {}",
                    number::significant(numbers.mean, 4),
                    number::significant(numbers.sd, 3),
                    columns::range(profile)
                ));
            }
        }
        None => lines.push(paint::words(&info.reason)),
    }
    lines.join("\n")
}

fn kind_ui(
    ui: &mut Ui,
    data: &DataState,
    info: &ColumnInfo,
    profile: Option<&Profile>,
    out: &mut Outbox,
) {
    let word = columns::kind_word(info, profile);
    let name = format!("Kind of {}", info.name);
    let reason = profile.map_or(&info.reason, |profile| &profile.reason);
    let chip = ui
        .add(Chip::choice(&word).named(&name))
        .on_hover_text(paint::words(reason));
    menu::menu(&chip, menu::NORMAL, |ui| {
        let given = data.options.column_types.get(&info.name).copied();
        let choices = [
            (None, "Guess"),
            (Some(ColumnKindOverride::Number), "Numbers"),
            (Some(ColumnKindOverride::Category), "Categories"),
        ];
        for (kind, word) in choices {
            if menu::item(ui, word, "", given == kind).clicked() && given != kind {
                let mut options = data.options.clone();
                match kind {
                    Some(kind) => options.column_types.insert(info.name.clone(), kind),
                    None => options.column_types.remove(&info.name),
                };
                out.send(DataCommand::SetImport(options));
            }
        }
        menu::note(ui, reason);
    });
}

fn cell_ui(
    ui: &mut Ui,
    table: &Table,
    row: usize,
    col: usize,
    info: &ColumnInfo,
    profile: Option<&Profile>,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let rect = ui.max_rect();
    let missing = info.num_missing > 0 && table.is_missing(row, col);
    if missing {
        ui.painter().rect_filled(rect, 0.0, p.watch_soft);
    }
    let edge = Stroke::new(t.stroke.hair, p.border_subtle);
    ui.painter().vline(rect.left() + 0.5, rect.y_range(), edge);
    let full = table.cell_text(row, col);
    let text: String = full
        .chars()
        .take(MAX_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let aside = profile
        .is_some_and(|profile| matches!(profile.kind, ProfileKind::Identifier | ProfileKind::Text));
    let color = match (missing, aside) {
        (true, _) => p.watch,
        (false, true) => p.text_secondary,
        (false, false) => p.text_primary,
    };
    // Backticks mean nothing here: the cell is shown as it is.
    let room = rect.width() - 2.0 * t.space.x2;
    let galley = plain_line(ui, &text, Text::Number, color, room);
    let cut = galley.elided;
    let y = rect.center().y;
    if info.kind == ColumnKind::Number && !cut {
        paint::right_center(ui.painter(), rect.right() - t.space.x2, y, galley);
    } else {
        paint::left_center(ui.painter(), rect.left() + t.space.x2, y, galley);
    }
    let response = ui.interact(rect, ui.scope_id().with("cell"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, full.as_str()));
    if cut {
        response.on_hover_text(full);
    } else if missing {
        response.on_hover_text("Missing: this row is left out of models that use the column");
    }
}

#[cfg(test)]
mod tests {
    use super::{Wanted, widths};

    #[test]
    fn names_are_whole_where_there_is_room_for_them() {
        let widths = |names: &[f32], room: f32| {
            let wanted = |&whole: &f32| Wanted { least: 60.0, whole };
            widths(&names.iter().map(wanted).collect::<Vec<_>>(), room)
        };
        // Room for all: the rest is shared.
        assert_eq!(widths(&[60.0, 134.0], 300.0), [131.0, 169.0]);
        assert_eq!(widths(&[60.0, 134.0], 900.0), [176.0, 176.0]);
        // Not for all: the long ones share what the short ones leave.
        assert_eq!(widths(&[60.0, 136.0, 136.0], 328.0), [96.0, 116.0, 116.0]);
        // The table scrolls: nothing is cut.
        assert_eq!(widths(&[60.0, 144.0, 400.0], 200.0), [96.0, 144.0, 264.0]);
    }

    #[test]
    fn chips_are_whole_where_names_are_cut() {
        let wanted = |least, whole| Wanted { least, whole };
        let columns = [
            wanted(120.0, 130.0),
            wanted(70.0, 300.0),
            wanted(130.0, 130.0),
        ];
        for room in [360.0, 400.0, 900.0, 100.0] {
            for (width, column) in widths(&columns, room).iter().zip(&columns) {
                assert!(*width >= column.least, "{room}: {width}");
            }
        }
    }
}
