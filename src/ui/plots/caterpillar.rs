//! One effect of many groups, sorted by its mean: dots with 50% and 90% intervals, thinner the more groups there are.

use eframe::egui::{Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::axes::{linear_ticks, padded};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{number, paint};

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

/// Rows are not lower than this: a dot and a gap.
const LEAST_ROW: f32 = 4.0;
/// Rows have their names from here on.
const NAMED_ROW: f32 = 15.0;
/// Below the rows: axis, numbers, title.
const FOOT: f32 = 44.0;

/// Height of a row where `height` is there for `count` of them.
fn row_height(height: f32, count: usize) -> f32 {
    ((height - FOOT) / count.max(1) as f32).clamp(LEAST_ROW, tokens().size.row_tree)
}

/// Shows the plot over the width there is; it is higher than `height` where so many rows need it, to be scrolled.
pub fn caterpillar_ui(
    ui: &mut Ui,
    p: &Palette,
    data: CaterpillarData<'_>,
    height: f32,
) -> CaterpillarShown {
    let t = tokens();
    let step = row_height(height, data.rows.len());
    let named = step >= NAMED_ROW;
    let size = vec2(ui.available_width(), step * data.rows.len() as f32 + FOOT);
    let (outer, response) = ui.allocate_exact_size(size, Sense::click());
    let mut shown = CaterpillarShown::default();
    let name_width = if named {
        let widths = data.rows.iter().map(|row| {
            paint::line(
                ui,
                &row.name,
                Text::Code,
                p.text_primary,
                outer.width() / 4.0,
            )
            .size()
            .x
        });
        widths.fold(0.0, f32::max) + t.space.x2
    } else {
        0.0
    };
    let frame = Rect::from_min_max(
        pos2(outer.left() + t.space.x4 + name_width, outer.top()),
        pos2(outer.right() - t.space.x4, outer.bottom() - FOOT),
    );
    if frame.width() < 20.0 {
        return shown;
    }
    let (low, high) = range(&data);
    let x = |value: f64| frame.left() + ((value - low) / (high - low)) as f32 * frame.width();
    if let Some(reference) = data.reference.filter(|value| (low..high).contains(value)) {
        let hair = Stroke::new(t.stroke.hair, p.axis);
        ui.painter()
            .vline(x(reference).floor() + 0.5, frame.y_range(), hair);
    }
    let pointed = response.hover_pos().and_then(|at| {
        let index = ((at.y - frame.top()) / step).floor();
        (index >= 0.0 && (index as usize) < data.rows.len()).then_some(index as usize)
    });
    let dot = (step / 2.0 - 0.5).clamp(1.5, 4.0);
    // Only what can be seen.
    let clip = ui.clip_rect();
    let first = (((clip.top() - frame.top()) / step).floor().max(0.0)) as usize;
    let last = (((clip.bottom() - frame.top()) / step).ceil().max(0.0)) as usize;
    for (i, row) in data.rows.iter().enumerate().take(last).skip(first) {
        let y = frame.top() + (i as f32 + 0.5) * step;
        let place = Rect::from_x_y_ranges(outer.x_range(), y - step / 2.0..=y + step / 2.0);
        let stands_out = data.selected == Some(i);
        if stands_out || pointed == Some(i) {
            ui.painter().rect_filled(place, 0.0, p.band);
        }
        ui.interact(place, response.id.with(i), Sense::hover())
            .widget_info(|| WidgetInfo::labeled(Role::ListItem, true, row.sentence()));
        let color = if stands_out { p.accent } else { p.posterior };
        let bar = |(from, to): (f64, f64), width: f32| {
            if from.is_finite() && to.is_finite() {
                ui.painter().hline(
                    x(from)..=x(to),
                    y,
                    Stroke::new(width.min(step - 1.0), color),
                );
            }
        };
        bar(row.outer, t.stroke.interval_90);
        bar(row.inner, t.stroke.interval_50);
        if row.mean.is_finite() {
            ui.painter()
                .circle_filled(pos2(x(row.mean), y), dot, p.accent);
        }
        if named {
            let name = paint::line(
                ui,
                &row.name,
                Text::Code,
                p.text_primary,
                outer.width() / 4.0,
            );
            paint::right_center(ui.painter(), frame.left() - t.space.x2, y, name);
        }
    }
    let axis = Stroke::new(t.stroke.hair, p.axis);
    let bottom = frame.bottom().floor() + 0.5;
    ui.painter().hline(frame.x_range(), bottom, axis);
    let target = (frame.width() / 60.0).clamp(2.0, 8.0) as usize;
    for (value, text) in linear_ticks(low, high, target) {
        ui.painter().vline(x(value), bottom..=bottom + 4.0, axis);
        let galley = paint::line(ui, &text, Text::Caption, p.text_secondary, f32::INFINITY);
        let left = x(value) - galley.size().x / 2.0;
        paint::left_center(ui.painter(), left, bottom + 12.0, galley);
    }
    let galley = paint::line(
        ui,
        data.title,
        Text::Caption,
        p.text_secondary,
        frame.width(),
    );
    let left = frame.center().x - galley.size().x / 2.0;
    paint::left_center(ui.painter(), left, bottom + 29.0, galley);
    shown.clicked = pointed.filter(|_row| response.clicked());
    if let Some(row) = pointed {
        response.on_hover_text_at_pointer(data.rows[row].sentence());
    }
    shown
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
    use crate::ui::testing::harness;
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
        assert!(row_height(400.0, 40) < NAMED_ROW);
        assert_eq!(row_height(400.0, 5000), LEAST_ROW);
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
            let nothing = CaterpillarData { rows: &[], ..data };
            caterpillar_ui(ui, p, nothing, 60.0);
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
    }
}
