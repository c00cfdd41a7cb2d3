//! One effect of many groups, sorted by its mean: dots with 50% and 90% intervals.

use eframe::egui::{Rect, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::axes::{linear_ticks, padded, x_target};
use super::data_table::{PlotData, picture_table_ui};
use super::legend::DOT;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::{name_chars, name_width};
use crate::ui::widgets::{name, number, paint};
use ergodic_base::ParamId;
use ergodic_base::numerals::plural;

/// The effect of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct CaterpillarRow {
    /// Name of the group.
    pub name: String,
    /// Posterior mean.
    pub mean: f64,
    /// 50% interval.
    pub inner: (f64, f64),
    /// 90% interval.
    pub outer: (f64, f64),
}

impl CaterpillarRow {
    fn sentence(&self) -> String {
        format!(
            "{}: {}, 90% from {} to {}",
            self.name,
            number::significant(self.mean, 3),
            number::significant(self.outer.0, 3),
            number::significant(self.outer.1, 3)
        )
    }
}

/// What the plot shows.
#[derive(Clone, Copy, Debug)]
pub struct CaterpillarData<'a> {
    /// In the order from top to bottom.
    pub rows: &'a [CaterpillarRow],
    /// A value to compare with: the mean of groups, or 0.
    pub reference: Option<f64>,
    /// The row that stands out.
    pub selected: Option<usize>,
    /// Title of the axis.
    pub title: &'a str,
}

/// What the pointer did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CaterpillarShown {
    /// The row clicked.
    pub clicked: Option<usize>,
}

/// Rows are not lower than this, so that each has its name.
const LEAST_ROW: f32 = 18.0;
/// Above the rows: how many there are.
const HEAD: f32 = 20.0;
/// Below the rows: axis, numbers, title.
const FOOT: f32 = 44.0;

/// Height of a row where `height` is there for `count` of them.
fn row_height(height: f32, count: usize) -> f32 {
    let room = (height - HEAD - FOOT) / count.max(1) as f32;
    room.clamp(LEAST_ROW, tokens().size.row_tree)
}

/// What is said about the rows in sight, from `first` to before `last`.
fn seen(first: usize, last: usize, count: usize) -> String {
    let [from, to, all] = [first + 1, last, count].map(|n| number::integer(n as u64));
    match last.saturating_sub(first) {
        shown if shown >= count => format!("{}, sorted by mean", plural(count, "group")),
        _ => format!("{from} to {to} of {all} groups, sorted by mean"),
    }
}

/// Shows the plot over the width there is, `height` points high; rows that do not fit are scrolled to, their axis stays.
pub fn caterpillar_ui(
    ui: &mut Ui,
    p: &Palette,
    data: CaterpillarData<'_>,
    height: f32,
) -> CaterpillarShown {
    let t = tokens();
    let count = data.rows.len();
    let step = row_height(height, count);
    let (outer, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let mut shown = CaterpillarShown::default();
    let id = ui.make_persistent_id("caterpillar");
    picture_table_ui(ui, (outer, id), data.title, || table(data.rows));
    let full: Vec<ParamId> = (data.rows.iter())
        .map(|row| ParamId::named(&row.name))
        .collect();
    let full: Vec<&ParamId> = full.iter().collect();
    let names = name::short_names(&full, name_chars(ui, outer.width() / 3.0));
    let longest = names.iter().map(|name| name.chars().count()).max();
    let name_width = name_width(ui, longest.unwrap_or(0)) + t.space.x1;
    let frame = Rect::from_min_max(
        pos2(outer.left() + t.space.x4 + name_width, outer.top() + HEAD),
        pos2(outer.right() - t.space.x4, outer.bottom() - FOOT),
    );
    if frame.width() < 20.0 || frame.height() < 1.0 {
        return shown;
    }
    let (low, high) = range(&data);
    let x = |value: f64| frame.left() + ((value - low) / (high - low)) as f32 * frame.width();
    let place = Rect::from_x_y_ranges(outer.x_range(), frame.y_range());
    let builder = UiBuilder::new().max_rect(place);
    let rows = ui
        .scope_builder(builder, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ScrollArea::vertical()
                .id_salt("groups")
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let size = vec2(place.width(), step * count as f32);
                    let (all, response) = ui.allocate_exact_size(size, Sense::click());
                    let top = all.top();
                    let clip = ui.clip_rect().intersect(place);
                    let at = |y: f32| ((y - top) / step).clamp(0.0, count as f32);
                    let (first, last) = (at(clip.top()), at(clip.bottom()));
                    if let Some(reference) =
                        data.reference.filter(|value| (low..high).contains(value))
                    {
                        let hair = Stroke::new(t.stroke.hair, p.axis);
                        let end = clip.bottom().min(all.bottom());
                        ui.painter()
                            .vline(x(reference).floor() + 0.5, clip.top()..=end, hair);
                    }
                    let pointed = response
                        .hover_pos()
                        .map(|pos| ((pos.y - top) / step).floor());
                    let pointed = pointed
                        .filter(|row| *row >= 0.0 && (*row as usize) < count)
                        .map(|row| row as usize);
                    // Only what can be seen.
                    let visible = first.floor() as usize..(last.ceil() as usize).min(count);
                    for i in visible {
                        let y = top + (i as f32 + 0.5) * step;
                        let band =
                            Rect::from_x_y_ranges(outer.x_range(), y - step / 2.0..=y + step / 2.0);
                        let stands_out = data.selected == Some(i);
                        if stands_out || pointed == Some(i) {
                            ui.painter().rect_filled(band, 0.0, p.band);
                        }
                        let row = &data.rows[i];
                        ui.interact(band, response.id.with(i), Sense::hover())
                            .widget_info(|| {
                                WidgetInfo::labeled(Role::ListItem, true, row.sentence())
                            });
                        row_ui(ui, p, row, (y, step), x, stands_out);
                        let text =
                            paint::line(ui, &names[i], Text::Code, p.text_primary, f32::INFINITY);
                        paint::right_center(ui.painter(), frame.left() - t.space.x2, y, text);
                    }
                    shown.clicked = pointed.filter(|_row| response.clicked());
                    if let Some(row) = pointed {
                        response.on_hover_text_at_pointer(data.rows[row].sentence());
                    }
                    // Rows of which less than half shows do not count.
                    (first.round() as usize, last.round() as usize)
                })
                .inner
        })
        .inner;
    let line = paint::line(
        ui,
        &seen(rows.0, rows.1, count),
        Text::Caption,
        p.text_secondary,
        outer.width() - 2.0 * t.space.x4,
    );
    paint::left_center(
        ui.painter(),
        outer.left() + t.space.x4,
        outer.top() + 0.5 * HEAD,
        line,
    );
    axis_ui(ui, p, (frame, outer), (low, high), data.title);
    shown
}

fn table(rows: &[CaterpillarRow]) -> PlotData<'_> {
    let names = rows.iter().map(|row| row.name.as_str()).collect();
    let heads = ["mean", "5%", "25%", "75%", "95%"];
    PlotData::new(heads, rows.len(), |row, column| {
        let row = &rows[row];
        let (inner, outer) = (row.inner, row.outer);
        [row.mean, outer.0, inner.0, inner.1, outer.1][column]
    })
    .named("group", names)
}

/// Intervals and mean of one group at the height `y`.
fn row_ui(
    ui: &Ui,
    p: &Palette,
    row: &CaterpillarRow,
    (y, step): (f32, f32),
    x: impl Fn(f64) -> f32,
    stands_out: bool,
) {
    let t = tokens();
    let color = if stands_out { p.accent } else { p.posterior };
    let bar = |(from, to): (f64, f64), width: f32| {
        if from.is_finite() && to.is_finite() {
            let stroke = Stroke::new(width.min(step - 1.0), color);
            ui.painter().hline(x(from)..=x(to), y, stroke);
        }
    };
    bar(row.outer, t.stroke.interval_90);
    bar(row.inner, t.stroke.interval_50);
    if row.mean.is_finite() {
        ui.painter()
            .circle_filled(pos2(x(row.mean), y), DOT, p.accent);
    }
}

/// The axis below the rows, with its title.
fn axis_ui(
    ui: &Ui,
    p: &Palette,
    (frame, outer): (Rect, Rect),
    (low, high): (f64, f64),
    title: &str,
) {
    let t = tokens();
    let axis = Stroke::new(t.stroke.hair, p.axis);
    let bottom = frame.bottom().floor() + 0.5;
    ui.painter().hline(frame.x_range(), bottom, axis);
    let x = |value: f64| frame.left() + ((value - low) / (high - low)) as f32 * frame.width();
    for (value, text) in linear_ticks(low, high, x_target(frame.width())) {
        ui.painter().vline(x(value), bottom..=bottom + 4.0, axis);
        let galley = paint::line(ui, &text, Text::Caption, p.text_secondary, f32::INFINITY);
        let left = x(value) - galley.size().x / 2.0;
        paint::left_center(ui.painter(), left, bottom + 12.0, galley);
    }
    let room = outer.width() - 2.0 * t.space.x4;
    let galley = paint::line(ui, title, Text::Caption, p.text_secondary, room);
    let most = outer.right() - t.space.x4 - galley.size().x;
    let left = (frame.center().x - galley.size().x / 2.0).min(most);
    paint::left_center(ui.painter(), left, bottom + 29.0, galley);
}

fn range(data: &CaterpillarData<'_>) -> (f64, f64) {
    let ends = data
        .rows
        .iter()
        .flat_map(|row| [row.outer.0, row.outer.1, row.mean]);
    let (low, high) = ends
        .chain(data.reference)
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
    match (low.is_finite(), high > low) {
        (true, true) => padded((low, high), 0.05),
        (true, false) => (low - 1.0, low + 1.0),
        _ => (-1.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{harness, press_t_over};
    use egui_kittest::kittest::Queryable as _;

    fn rows(count: usize) -> Vec<CaterpillarRow> {
        (0..count)
            .map(|i| {
                let mean = i as f64 - 0.5;
                CaterpillarRow {
                    name: format!("school {i}"),
                    mean,
                    inner: (mean - 0.1, mean + 0.1),
                    outer: (mean - 0.3, mean + 0.3),
                }
            })
            .collect()
    }

    #[test]
    fn rows_shrink_and_then_scroll() {
        let size = tokens().size.row_tree;
        assert_eq!(row_height(400.0, 3), size);
        assert!(row_height(400.0, 16) < size);
        assert_eq!(row_height(400.0, 5000), LEAST_ROW);
    }

    #[test]
    fn many_groups_say_how_many_are_in_sight_and_keep_their_axis() {
        let mut harness = harness([500.0, 300.0], (), |ui, ()| {
            let rows = rows(85);
            let data = CaterpillarData {
                rows: &rows,
                reference: Some(0.0),
                selected: None,
                title: "effect",
            };
            let p = Palette::of(ui);
            caterpillar_ui(ui, p, data, 280.0);
            // The plot takes what it is given: its axis is inside of it.
            assert_eq!(ui.min_rect().height(), 280.0);
        });
        harness.run();
        let rows = harness.get_all_by_label_contains("school ").count();
        assert!((10..=14).contains(&rows), "{rows} rows are drawn");
        assert_eq!(seen(0, 12, 85), "1 to 12 of 85 groups, sorted by mean");
        assert_eq!(seen(0, 3, 3), "3 groups, sorted by mean");
    }

    #[test]
    fn groups_read_with_their_interval_and_a_click_selects() {
        let mut harness = harness([500.0, 300.0], None, |ui, clicked| {
            let rows = rows(3);
            let data = CaterpillarData {
                rows: &rows,
                reference: Some(0.0),
                selected: Some(1),
                title: "effect",
            };
            let p = Palette::of(ui);
            let shown = caterpillar_ui(ui, p, data, 300.0);
            *clicked = shown.clicked.or(*clicked);
            let nothing = CaterpillarData {
                rows: &[],
                title: "nothing",
                ..data
            };
            ui.push_id("nothing", |ui| caterpillar_ui(ui, p, nothing, 60.0));
        });
        harness.run();
        let row = harness.get_by_label("school 2: 1.50, 90% from 1.20 to 1.80");
        let at = row.rect().center();
        harness.event(eframe::egui::Event::PointerMoved(at));
        for pressed in [true, false] {
            harness.event(eframe::egui::Event::PointerButton {
                pos: at,
                button: eframe::egui::PointerButton::Primary,
                pressed,
                modifiers: eframe::egui::Modifiers::default(),
            });
        }
        harness.run();
        assert_eq!(*harness.state(), Some(2));
        press_t_over(&mut harness, "effect");
        harness.get_by_label("75%");
        harness.get_by_label("school 2");
        harness.get_by_label("1.6000");
    }
}
