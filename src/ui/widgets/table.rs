//! The table of the window: columns are declared once, and only the rows in sight are made.
//!
//! Heads stay above, columns that stay do so at the left, and what does not fit is scrolled. A table is one stop of the
//! keyboard: arrows, Page Up, Page Down, Home and End choose a row, Ctrl C copies rows as text with tabs. Screen readers find
//! a table with rows and cells.

use std::cmp::Ordering;
use std::ops::Range;

use eframe::egui::{
    Align, CursorIcon, Event, EventFilter, Id, Key, Layout, Modifiers, Rect, Role, ScrollArea,
    Sense, Stroke, Ui, UiBuilder, WidgetInfo, accesskit, pos2, vec2,
};

mod cell;
mod head;
#[cfg(test)]
mod tests;

pub use cell::{Cell, Tone, name_chars, name_room, name_width};

use super::{number, paint};
use crate::ui::theme::{Palette, tokens};

/// Rows that Page Up and Page Down move.
const PAGE: usize = 10;
/// Rows and columns up to which all are there for screen readers, also those out of sight.
const MANY: usize = 100;
/// Rows that are copied: more would take longer than a frame may.
const COPIED: usize = 1000;
/// Room for the scroll bar at the right end.
const EDGE: f32 = 8.0;
/// Widths of names, at least and at most.
const NAMES: [f32; 2] = [96.0, 280.0];

/// What rows are ordered by.
enum SortKey<'a> {
    Number(f64),
    Text(&'a str),
}

type Keys<'a> = Box<dyn Fn(usize) -> SortKey<'a> + 'a>;

/// A column: its head, tooltip, width, order and cells. Rows are known by their index.
pub struct Column<'a> {
    head: &'a str,
    help: &'a str,
    width: f32,
    is_right: bool,
    fills: bool,
    stays: bool,
    resizes: bool,
    sorts: bool,
    names_rows: bool,
    key: Option<Keys<'a>>,
    cell: Box<dyn Fn(usize) -> Cell<'a> + 'a>,
}

impl<'a> Column<'a> {
    /// A column of words, pictures or buttons, `width` points wide.
    pub fn new(head: &'a str, width: f32, cell: impl Fn(usize) -> Cell<'a> + 'a) -> Self {
        Self {
            head,
            help: "",
            width,
            is_right: false,
            fills: false,
            stays: false,
            resizes: false,
            sorts: false,
            names_rows: false,
            key: None,
            cell: Box::new(cell),
        }
    }

    /// A column of numbers: its head stands at the right.
    pub fn number(head: &'a str, width: f32, cell: impl Fn(usize) -> Cell<'a> + 'a) -> Self {
        let mut column = Self::new(head, width, cell);
        column.is_right = true;
        column
    }

    /// A column of names, sorted by name and as wide as the longest of the `count` names needs, within reason.
    pub fn names(
        ui: &Ui,
        head: &'a str,
        count: usize,
        name: impl Fn(usize) -> &'a str + Clone + 'a,
    ) -> Self {
        let longest = (0..count).map(|row| name(row).chars().count()).max();
        let width = name_width(ui, longest.unwrap_or(0)).clamp(NAMES[0], NAMES[1]);
        let key = name.clone();
        Self::new(head, width, move |row| Cell::name(name(row)))
            .by_text(key)
            .names_rows()
    }

    /// Tells screen readers which row was chosen.
    pub fn names_rows(mut self) -> Self {
        self.names_rows = true;
        self
    }

    /// A tooltip of the head.
    pub fn help(mut self, help: &'a str) -> Self {
        self.help = help;
        self
    }

    /// Takes the room that other columns leave.
    pub fn fills(mut self) -> Self {
        self.fills = true;
        self
    }

    /// Stays in sight where the others are scrolled. Columns that stay come first.
    pub fn stays(mut self, stays: bool) -> Self {
        self.stays = stays;
        self
    }

    /// Lets the right edge of the head be dragged; [`Shown::widened`] says by how much.
    pub fn resizes(mut self) -> Self {
        self.resizes = true;
        self
    }

    /// Lets a click on the head sort by a number; what is not a number stands last.
    pub fn by(mut self, key: impl Fn(usize) -> f64 + 'a) -> Self {
        self.key = Some(Box::new(move |row| SortKey::Number(key(row))));
        self.sorts = true;
        self
    }

    /// Lets a click on the head sort by words.
    pub fn by_text(mut self, key: impl Fn(usize) -> &'a str + 'a) -> Self {
        self.key = Some(Box::new(move |row| SortKey::Text(key(row))));
        self.sorts = true;
        self
    }

    /// Lets a click on the head be told by [`Shown::sort`]: the rows' owner sorts them.
    pub fn sorted_outside(mut self) -> Self {
        self.key = None;
        self.sorts = true;
        self
    }
}

/// What the table remembers between frames.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// Column that the rows are sorted by, and whether upwards.
    sort: Option<(usize, bool)>,
    /// The row that was chosen last, where the rows' owner does not know.
    chosen: Option<usize>,
    /// How far the columns are scrolled.
    offset: f32,
}

/// What somebody did with a table. Rows are told by their index, whatever the order.
#[derive(Debug, Default)]
pub struct Shown {
    /// A row was clicked, or moved to by the keyboard.
    pub chosen: Option<usize>,
    /// Whether that was by the keyboard.
    pub by_keys: bool,
    /// Right or Enter was pressed on the chosen row.
    pub opened: Option<usize>,
    /// Left was pressed on the chosen row.
    pub closed: Option<usize>,
    /// The button of a row was pressed.
    pub pressed: Option<usize>,
    /// The head of a column that is sorted outside was clicked.
    pub sort: Option<usize>,
    /// The right edge of a column was dragged by n points.
    pub widened: Option<(usize, f32)>,
    /// Places of the rows of which more than half is in sight.
    pub seen: Range<usize>,
}

type Heads<'a> = Box<dyn FnMut(&mut Ui, usize) + 'a>;

/// A table of `count` rows.
pub struct Table<'a> {
    salt: &'a str,
    name: &'a str,
    count: usize,
    columns: Vec<Column<'a>>,
    row_height: f32,
    head_height: f32,
    heads: Option<Heads<'a>>,
    is_whole: bool,
    is_striped: bool,
    inset: f32,
    sort: Option<(usize, bool)>,
    chosen: Option<Option<usize>>,
    is_stop: Box<dyn Fn(usize) -> bool + 'a>,
    heading: Box<dyn Fn(usize) -> Option<&'a str> + 'a>,
    scroll_to: Option<(usize, usize)>,
}

impl<'a> Table<'a> {
    /// A table called `name` by screen readers; `salt` tells tables of one place apart.
    pub fn new(salt: &'a str, name: &'a str, count: usize) -> Self {
        let t = tokens();
        Self {
            salt,
            name,
            count,
            columns: Vec::new(),
            row_height: t.size.row_table,
            head_height: t.size.row_table,
            heads: None,
            is_whole: false,
            is_striped: false,
            inset: 0.0,
            sort: None,
            chosen: None,
            is_stop: Box::new(|_| true),
            heading: Box::new(|_| None),
            scroll_to: None,
        }
    }

    /// Adds a column.
    pub fn column(mut self, column: Column<'a>) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds room between columns.
    pub fn gap(self, width: f32) -> Self {
        self.column(Column::new("", width, |_| Cell::empty()))
    }

    /// Height of rows.
    pub fn row_height(mut self, height: f32) -> Self {
        self.row_height = height;
        self
    }

    /// Heads of another height, each drawn by `head`.
    pub fn heads(mut self, height: f32, head: impl FnMut(&mut Ui, usize) + 'a) -> Self {
        self.head_height = height;
        self.heads = Some(Box::new(head));
        self
    }

    /// As high as all its rows, in a page that scrolls; otherwise it fills what is left of its pane.
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Every other row has another ground: helps to follow many columns.
    pub fn striped(mut self) -> Self {
        self.is_striped = true;
        self
    }

    /// Room at the left, for a table that touches the edge of a pane.
    pub fn inset(mut self, inset: f32) -> Self {
        self.inset = inset;
        self
    }

    /// The column that the rows' owner has sorted them by, and whether upwards.
    pub fn sorted(mut self, sort: Option<(usize, bool)>) -> Self {
        self.sort = sort;
        self
    }

    /// The chosen row, where the rows' owner keeps it.
    pub fn chosen(mut self, row: Option<usize>) -> Self {
        self.chosen = Some(row);
        self
    }

    /// Rows that the keyboard passes over are those that `is_stop` denies.
    pub fn stops(mut self, is_stop: impl Fn(usize) -> bool + 'a) -> Self {
        self.is_stop = Box::new(is_stop);
        self
    }

    /// Rows that are headings of those below them, with their words: they have no cells, and nobody chooses them. Their owner sorts the rows.
    pub fn headings(mut self, heading: impl Fn(usize) -> Option<&'a str> + 'a) -> Self {
        self.heading = Box::new(heading);
        self
    }

    /// Brings a cell, told by its row and column, into sight.
    pub fn scroll_to(mut self, cell: Option<(usize, usize)>) -> Self {
        self.scroll_to = cell;
        self
    }

    /// Shows the table over the available width.
    pub fn show(mut self, ui: &mut Ui) -> Shown {
        let id = ui.make_persistent_id(("table", self.salt));
        let mut kept: Kept = ui.data(|data| data.get_temp(id)).unwrap_or_default();
        let mut shown = Shown::default();
        let room = ui.available_rect_before_wrap();
        let rows_height = self.count as f32 * self.row_height;
        let height = if self.is_whole {
            rows_height
        } else {
            (room.height() - self.head_height).max(self.row_height)
        };
        let area = Rect::from_min_size(room.min, vec2(room.width(), self.head_height + height));
        let focus = ui.interact(area, id, Sense::focusable_noninteractive());
        focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, self.name));
        let columns = self.columns.len();
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_row_count(self.count + 1);
            node.set_column_count(columns);
        });
        let places = self.places(area.width());
        let order = self.order(kept.sort);
        let mut chosen = self.chosen.unwrap_or(kept.chosen);
        let mut scroll_to = self
            .scroll_to
            .and_then(|(row, column)| Some((order.place(row)?, Some(column))));
        if focus.has_focus() {
            paint::focus_ring_above(ui, &focus, area);
            let at = chosen.and_then(|row| order.place(row));
            self.read_keys(ui, id, &order, at, &mut shown);
            if let Some(row) = shown.chosen {
                chosen = Some(row);
                scroll_to = order.place(row).map(|place| (place, None));
            }
        }
        let builder = UiBuilder::new()
            .scope_id(id.with("parts"))
            .max_rect(area)
            .layout(Layout::top_down(Align::Min))
            .accessibility_parent(id);
        let mut inner = ui.new_child(builder);
        inner.spacing_mut().item_spacing = vec2(0.0, 0.0);
        let frame = Frame {
            id,
            area,
            places: &places,
            offset: kept.offset,
            chosen,
            scroll_to,
        };
        self.heads_ui(&mut inner, &frame, &mut kept, &mut shown);
        let output = ScrollArea::both()
            .id_salt("rows")
            .max_height(height)
            .min_scrolled_height(height)
            .auto_shrink([false, false])
            .show_viewport(&mut inner, |ui, view| {
                ui.set_width(places.total.max(view.width()));
                ui.set_height(rows_height);
                self.rows_ui(ui, &frame, &order, view, &mut shown);
            });
        // The heads follow what was scrolled.
        if output.state.clamped_offset().x != kept.offset {
            kept.offset = output.state.clamped_offset().x;
            ui.ctx().request_repaint();
        }
        if places.fixed > 0.0 && places.total > area.width() {
            let edge = Stroke::new(tokens().stroke.hair, Palette::of(ui).border_subtle);
            let x = area.left() + places.fixed;
            ui.painter().vline(x, area.y_range(), edge);
        }
        if shown.chosen.is_some() {
            kept.chosen = shown.chosen;
        }
        ui.data_mut(|data| data.insert_temp(id, kept));
        ui.advance_cursor_after_rect(area);
        shown
    }

    fn places(&self, room: f32) -> Places {
        let edge = if self.is_whole { 0.0 } else { EDGE };
        let taken: f32 = self.columns.iter().map(|column| column.width).sum();
        let rest = (room - taken - self.inset - edge).max(0.0);
        let mut x = self.inset;
        let mut fixed = 0.0;
        let columns = self.columns.iter().map(|column| {
            let width = column.width + if column.fills { rest } else { 0.0 };
            let place = (x, width);
            x += width;
            if column.stays {
                fixed = x;
            }
            place
        });
        Places {
            columns: columns.collect(),
            total: if x > room { x + edge } else { x },
            fixed,
        }
    }

    /// The rows in the order that somebody asked for.
    fn order(&self, sort: Option<(usize, bool)>) -> Order {
        let wanted =
            sort.and_then(|(column, up)| Some((self.columns.get(column)?.key.as_ref()?, up)));
        let Some((key, up)) = wanted else {
            return Order::AsGiven(self.count);
        };
        let keys: Vec<SortKey<'_>> = (0..self.count).map(key).collect();
        let mut rows: Vec<usize> = (0..self.count).collect();
        let turned = |order: Ordering| if up { order } else { order.reverse() };
        rows.sort_by(|&a, &b| match (&keys[a], &keys[b]) {
            (SortKey::Text(a), SortKey::Text(b)) => turned(a.cmp(b)),
            (SortKey::Number(a), SortKey::Number(b)) if !a.is_nan() && !b.is_nan() => {
                turned(a.total_cmp(b))
            }
            // What is missing stands last either way.
            (SortKey::Number(a), SortKey::Number(b)) => a.is_nan().cmp(&b.is_nan()),
            _ => Ordering::Equal,
        });
        Order::By(rows)
    }

    fn read_keys(&self, ui: &Ui, id: Id, order: &Order, at: Option<usize>, shown: &mut Shown) {
        if ui.input(|input| input.events.contains(&Event::Copy)) {
            ui.copy_text(self.text(order));
        }
        let Some(last) = self.count.checked_sub(1) else {
            return;
        };
        let filter = EventFilter {
            vertical_arrows: true,
            horizontal_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let here = at.unwrap_or(0);
        let moves = [
            (Key::ArrowDown, at.map_or(0, |at| (at + 1).min(last)), true),
            (Key::ArrowUp, here.saturating_sub(1), false),
            (Key::PageDown, (here + PAGE).min(last), true),
            (Key::PageUp, here.saturating_sub(PAGE), false),
            (Key::Home, 0, true),
            (Key::End, last, false),
        ];
        for (key, place, down) in moves {
            if pressed(key) {
                let stops = |place: &usize| {
                    let row = order.row(*place);
                    (self.heading)(row).is_none() && (self.is_stop)(row)
                };
                let found = if down {
                    (place..=last).find(stops)
                } else {
                    (0..=place)
                        .rev()
                        .find(stops)
                        .or_else(|| (place..=last).find(stops))
                };
                shown.chosen = found.map(|place| order.row(place));
                shown.by_keys = true;
                return;
            }
        }
        let row = at.map(|place| order.row(place));
        if pressed(Key::ArrowRight) || pressed(Key::Enter) {
            shown.opened = row;
        } else if pressed(Key::ArrowLeft) {
            shown.closed = row;
        }
    }

    /// Heads and rows as lines of text with tabs between the cells.
    fn text(&self, order: &Order) -> String {
        let columns = || self.columns.iter().filter(|column| !column.head.is_empty());
        let mut lines = vec![
            columns()
                .map(|column| column.head)
                .collect::<Vec<_>>()
                .join("\t"),
        ];
        for place in 0..self.count.min(COPIED) {
            if let Some(words) = (self.heading)(order.row(place)) {
                lines.push(words.to_owned());
                continue;
            }
            let cells = columns().map(|column| {
                let cell = (column.cell)(order.row(place));
                cell.copied().replace(['\t', '\n'], " ")
            });
            lines.push(cells.collect::<Vec<_>>().join("\t"));
        }
        if self.count > COPIED {
            let left = number::integer((self.count - COPIED) as u64);
            lines.push(format!("({left} more rows are not copied; export them)"));
        }
        lines.join("\n")
    }

    fn heads_ui(&mut self, ui: &mut Ui, frame: &Frame<'_>, kept: &mut Kept, shown: &mut Shown) {
        let area = Rect::from_min_size(frame.area.min, vec2(frame.area.width(), self.head_height));
        ui.advance_cursor_after_rect(area);
        let builder = UiBuilder::new()
            .scope_id(frame.id.with("heads"))
            .max_rect(area)
            .accessibility_role(Role::Row);
        let mut row = ui.new_child(builder);
        if self.heads.is_none() {
            row.painter()
                .rect_filled(area, 0.0, Palette::of(ui).bg_strip);
        }
        let sort = self.sort.or(kept.sort);
        let whole = row.clip_rect();
        for (at, column) in self.columns.iter().enumerate() {
            let (rect, clip) = frame.cell(area, at, column.stays);
            row.set_clip_rect(whole.intersect(clip));
            if let Some(draw) = &mut self.heads {
                draw(
                    &mut row.new_child(UiBuilder::new().id_salt(at).max_rect(rect)),
                    at,
                );
            } else {
                let id = frame.id.with(("head", at));
                let sorted = sort.filter(|(by, _)| *by == at).map(|(_, up)| up);
                if head::show(&row, rect, id, column, sorted) {
                    if column.key.is_some() {
                        kept.sort = match kept.sort {
                            Some((by, true)) if by == at => Some((at, false)),
                            Some((by, false)) if by == at => None,
                            _ => Some((at, true)),
                        };
                    } else {
                        shown.sort = Some(at);
                    }
                }
            }
            if column.resizes
                && let Some(by) = edge_ui(&row, frame.id.with(("edge", at)), rect, column.head)
            {
                shown.widened = Some((at, by));
            }
        }
    }

    fn rows_ui(
        &self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        order: &Order,
        view: Rect,
        shown: &mut Shown,
    ) {
        let origin = ui.max_rect().min;
        let left = origin.x + view.left();
        let top = |place: usize| origin.y + place as f32 * self.row_height;
        let line = |place: usize| {
            Rect::from_min_size(
                pos2(left, top(place)),
                vec2(frame.area.width(), self.row_height),
            )
        };
        if let Some((place, column)) = frame.scroll_to {
            let line = line(place);
            let x = column.map_or(line.x_range(), |at| {
                let (x, width) = frame.places.columns[at];
                (origin.x + x..=origin.x + x + width).into()
            });
            let align = self.scroll_to.map(|_| Align::Center);
            ui.scroll_to_rect(Rect::from_x_y_ranges(x, line.y_range()), align);
        }
        let clip = ui.clip_rect();
        let place_at = |y: f32| ((y - origin.y) / self.row_height).max(0.0);
        let (first, end) = if self.is_whole && self.count <= MANY {
            (0, self.count)
        } else {
            let end = place_at(clip.bottom()).ceil() as usize;
            (place_at(clip.top()).floor() as usize, end.min(self.count))
        };
        let half = |y: f32| (place_at(y) + 0.5) as usize;
        shown.seen = half(clip.top()).min(self.count)..half(clip.bottom()).min(self.count);
        let frame = Frame {
            offset: view.left(),
            area: Rect::from_min_size(pos2(left, frame.area.top()), frame.area.size()),
            ..*frame
        };
        let visuals = ui.visuals().clone();
        for place in first..end {
            let index = order.row(place);
            let rect = line(place);
            if let Some(words) = (self.heading)(index) {
                head::heading(ui, rect, frame.id.with(("heading", index)), words, place);
                continue;
            }
            let builder = UiBuilder::new()
                .scope_id(frame.id.with(("row", index)))
                .max_rect(rect)
                .sense(Sense::CLICK)
                .accessibility_role(Role::Row);
            let mut row = ui.new_child(builder);
            row.expand_to_include_rect(rect);
            let response = row.response();
            let is_chosen = frame.chosen == Some(index);
            if is_chosen {
                ui.painter()
                    .rect_filled(rect, 0.0, visuals.selection.bg_fill);
            } else if response.contains_pointer() {
                ui.painter()
                    .rect_filled(rect, 0.0, visuals.widgets.hovered.bg_fill);
            } else if self.is_striped && place % 2 == 1 {
                ui.painter()
                    .rect_filled(rect, 0.0, Palette::of(ui).bg_panel);
            }
            ui.ctx().accesskit_node_builder(response.id, |node| {
                node.set_row_index(place + 1);
                node.set_selected(is_chosen);
                node.set_bounds(bounds(rect));
                node.add_action(accesskit::Action::Click);
            });
            // Screen readers read the name of the row that keys moved to, although the table as a whole has the focus.
            if is_chosen {
                let name = self.columns.iter().position(|column| column.names_rows);
                let read = name.map_or(response.id, |at| response.id.with(at));
                ui.ctx().accesskit_node_builder(frame.id, |node| {
                    node.set_active_descendant(read.accesskit_id());
                });
            }
            let whole = row.clip_rect();
            for (at, column) in self.columns.iter().enumerate() {
                let (rect, clip) = frame.cell(rect, at, column.stays);
                row.set_clip_rect(whole.intersect(clip));
                if self.columns.len() > MANY && !row.is_rect_visible(rect) {
                    continue;
                }
                let id = response.id.with(at);
                if (column.cell)(index).show(&mut row, rect, id, at) {
                    shown.pressed = Some(index);
                }
            }
            // The whole row takes clicks, not what its last cell leaves.
            row.set_clip_rect(whole);
            if response.clicked() {
                shown.chosen = Some(index);
                shown.by_keys = false;
                ui.memory_mut(|memory| memory.request_focus(frame.id));
            }
        }
    }
}

/// The rows by their places.
enum Order {
    AsGiven(usize),
    By(Vec<usize>),
}

impl Order {
    fn row(&self, place: usize) -> usize {
        match self {
            Self::AsGiven(_) => place,
            Self::By(rows) => rows[place],
        }
    }

    fn place(&self, row: usize) -> Option<usize> {
        match self {
            Self::AsGiven(count) => (row < *count).then_some(row),
            Self::By(rows) => rows.iter().position(|other| *other == row),
        }
    }
}

/// Where the columns stand: left edge and width of each, all of them, and those that stay.
struct Places {
    columns: Vec<(f32, f32)>,
    total: f32,
    fixed: f32,
}

/// What heads and rows share.
struct Frame<'p> {
    id: Id,
    area: Rect,
    places: &'p Places,
    /// How far the columns are scrolled.
    offset: f32,
    chosen: Option<usize>,
    scroll_to: Option<(usize, Option<usize>)>,
}

impl Frame<'_> {
    /// The cell of a column in a row at `line`, and what clips it.
    fn cell(&self, line: Rect, at: usize, stays: bool) -> (Rect, Rect) {
        let (x, width) = self.places.columns[at];
        let left = self.area.left() + x - if stays { 0.0 } else { self.offset };
        let rect = Rect::from_x_y_ranges(left..=left + width, line.y_range());
        let from = if stays { 0.0 } else { self.places.fixed };
        let clip = Rect::from_min_max(pos2(self.area.left() + from, line.top()), line.max);
        (rect, clip)
    }
}

fn bounds(rect: Rect) -> accesskit::Rect {
    let [x0, y0, x1, y1] = [rect.left(), rect.top(), rect.right(), rect.bottom()].map(f64::from);
    accesskit::Rect { x0, y0, x1, y1 }
}

/// The right edge of a head, which can be dragged. Returns by how many points it was.
fn edge_ui(ui: &Ui, id: Id, head: Rect, name: &str) -> Option<f32> {
    let reach = tokens().space.x1;
    let rect = Rect::from_min_max(
        pos2(head.right() - reach, head.top()),
        pos2(head.right() + reach, head.bottom()),
    );
    let response = ui.interact(rect, id, Sense::DRAG);
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, format!("Width of {name}")));
    let response = response.on_hover_cursor(CursorIcon::ResizeHorizontal);
    if response.hovered() || response.dragged() {
        let stroke = Stroke::new(2.0, Palette::of(ui).accent);
        ui.painter().vline(head.right(), head.y_range(), stroke);
    }
    response.dragged().then(|| response.drag_delta().x)
}
