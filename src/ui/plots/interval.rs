//! Intervals of many variables under each other: estimates, priors, shifts against a tolerance.

use eframe::egui::{Color32, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::axes::{linear_ticks, padded, x_target};
use super::data_table::{PlotData, picture_table_ui};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::name_chars;
use crate::ui::widgets::{name, number, paint};
use ergodic_base::ParamId;

/// One variable.
#[derive(Clone, Debug)]
pub struct IntervalRow {
    /// Name of the variable.
    pub name: ParamId,
    /// Where the dot stands: the median or the estimate.
    pub center: f64,
    /// The thick part, such as the 50% interval.
    pub inner: Option<(f64, f64)>,
    /// The thin part, such as the 90% interval.
    pub outer: (f64, f64),
    /// What the row says about a verdict, if it is about one.
    pub verdict: Option<VerdictKind>,
    /// A number at the right end.
    pub value: String,
}

/// Shows the rows, each 26 high, over a common axis titled `words`. `band` is the tolerance around zero.
pub fn interval_ui(
    ui: &mut Ui,
    p: &Palette,
    rows: &[IntervalRow],
    band: Option<(f64, f64)>,
    words: &str,
) {
    let t = tokens();
    let row_height = t.size.row_tree;
    let width = ui.available_width();
    // A long title takes more lines rather than lose its end.
    let room = width - 2.0 * t.space.x4;
    let title = paint::paragraph(ui, words, Text::Caption, p.text_secondary, room);
    let foot = LABELS + title.size().y + t.space.x1;
    let height = t.space.x1 + rows.len() as f32 * row_height + foot;
    let (outer, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let id = ui.make_persistent_id(("intervals", words));
    picture_table_ui(ui, (outer, id), words, || table(rows));
    let line = |ui: &Ui, text: &str, role: Text, color: Color32| {
        paint::line(ui, text, role, color, outer.width() / 3.0)
    };
    let full: Vec<&ParamId> = rows.iter().map(|row| &row.name).collect();
    let short = name::short_names(&full, name_chars(ui, outer.width() / 3.0));
    let name_width = short
        .iter()
        .map(|name| line(ui, name, Text::Code, p.text_primary).size().x)
        .fold(0.0, f32::max);
    let value_width = rows
        .iter()
        .map(|row| {
            line(ui, &row.value, Text::NumberStrong, p.text_primary)
                .size()
                .x
        })
        .fold(0.0, f32::max);
    let frame = Rect::from_min_max(
        pos2(
            outer.left() + t.space.x4 + name_width + t.space.x2,
            outer.top() + t.space.x1,
        ),
        pos2(
            outer.right() - t.space.x4 - value_width - t.space.x4,
            outer.bottom() - foot,
        ),
    );
    if frame.width() < 20.0 {
        return;
    }
    let (low, high) = range(rows, band);
    let x = |value: f64| frame.left() + ((value - low) / (high - low)) as f32 * frame.width();
    if let Some((from, to)) = band {
        let rect = Rect::from_min_max(pos2(x(from), frame.top()), pos2(x(to), frame.bottom()));
        ui.painter().rect_filled(rect, 0.0, p.band);
    }
    if low < 0.0 && high > 0.0 {
        ui.painter().vline(
            x(0.0).floor() + 0.5,
            frame.y_range(),
            Stroke::new(t.stroke.hair, p.axis),
        );
    }
    for (i, row) in rows.iter().enumerate() {
        let y = frame.top() + (i as f32 + 0.5) * row_height;
        let place =
            Rect::from_x_y_ranges(outer.x_range(), y - row_height / 2.0..=y + row_height / 2.0);
        let response = ui.interact(
            place,
            ui.make_persistent_id(("interval", i)),
            Sense::hover(),
        );
        response.widget_info(|| {
            let verdict = row
                .verdict
                .map_or(String::new(), |kind| format!(", {}", p.verdict(kind).word));
            WidgetInfo::labeled(
                Role::ListItem,
                true,
                format!("{}: {}{verdict}", row.name, row.value),
            )
        });
        let color = row
            .verdict
            .map_or(p.posterior, |kind| p.verdict(kind).color);
        let name = line(ui, &short[i], Text::Code, p.text_primary);
        paint::right_center(ui.painter(), frame.left() - t.space.x2, y, name);
        let painter = ui.painter().with_clip_rect(frame.expand2(vec2(4.0, 0.0)));
        if row.outer.0.is_finite() && row.outer.1.is_finite() {
            painter.hline(
                x(row.outer.0)..=x(row.outer.1),
                y,
                Stroke::new(t.stroke.interval_90, color),
            );
        }
        if let Some((from, to)) = row.inner {
            painter.hline(x(from)..=x(to), y, Stroke::new(t.stroke.interval_50, color));
        }
        if row.center.is_finite() {
            let dot = if row.inner.is_some() { p.accent } else { color };
            painter.circle_filled(pos2(x(row.center), y), 4.0, dot);
        }
        let strong = matches!(
            row.verdict,
            Some(VerdictKind::Bad | VerdictKind::Watch | VerdictKind::NotCertified)
        );
        let (role, color) = if strong {
            (Text::NumberStrong, color)
        } else {
            (Text::Number, p.text_secondary)
        };
        paint::right_center(
            ui.painter(),
            outer.right() - t.space.x4,
            y,
            line(ui, &row.value, role, color),
        );
    }
    let axis = Stroke::new(t.stroke.hair, p.axis);
    let bottom = frame.bottom().floor() + 0.5;
    ui.painter().hline(frame.x_range(), bottom, axis);
    for (value, text) in ticks(frame.width(), (low, high), band) {
        ui.painter().vline(x(value), bottom..=bottom + 4.0, axis);
        let galley = paint::line(ui, &text, Text::Caption, p.text_secondary, f32::INFINITY);
        paint::left_center(
            ui.painter(),
            x(value) - galley.size().x / 2.0,
            bottom + 12.0,
            galley,
        );
    }
    let least = outer.left() + t.space.x4;
    let most = outer.right() - t.space.x4 - title.size().x;
    let left = (frame.center().x - title.size().x / 2.0)
        .min(most)
        .max(least);
    ui.painter()
        .galley(pos2(left, bottom + LABELS), title, p.text_secondary);
}

fn table(rows: &[IntervalRow]) -> PlotData<'_> {
    let inner = rows.iter().any(|row| row.inner.is_some());
    let mut heads = vec!["centre", "low", "high"];
    if inner {
        heads.extend(["inner low", "inner high"]);
    }
    let names = rows.iter().map(|row| row.name.as_str()).collect();
    PlotData::new(heads, rows.len(), |row, column| {
        let row = &rows[row];
        let (from, to) = row.inner.unwrap_or((f64::NAN, f64::NAN));
        [row.center, row.outer.0, row.outer.1, from, to][column]
    })
    .named("name", names)
}

/// Room for the labels of ticks below the axis.
const LABELS: f32 = 22.0;

/// Ticks of an axis `width` points wide: the ends of the tolerance first, then those that do not touch them.
fn ticks(width: f32, (low, high): (f64, f64), band: Option<(f64, f64)>) -> Vec<(f64, String)> {
    let target = x_target(width).max(3);
    let near = (high - low) * f64::from(LABEL / width.max(1.0));
    let mut ticks: Vec<(f64, String)> = Vec::new();
    if let Some((from, to)) = band.filter(|(from, to)| to - from >= near) {
        ticks.extend([from, to].map(|end| (end, number::significant(end, 1))));
    }
    for tick in linear_ticks(low, high, target) {
        if ticks
            .iter()
            .all(|(value, _)| (value - tick.0).abs() >= near)
        {
            ticks.push(tick);
        }
    }
    ticks
}

/// Width that the label of a tick takes with a gap.
const LABEL: f32 = 30.0;

fn range(rows: &[IntervalRow], band: Option<(f64, f64)>) -> (f64, f64) {
    let ends = rows
        .iter()
        .flat_map(|row| [row.outer.0, row.outer.1, row.center]);
    let all = ends
        .chain(band.into_iter().flat_map(|(low, high)| [low, high]))
        .filter(|value| value.is_finite());
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    if low.is_finite() && high > low {
        padded((low, high), 0.05)
    } else if low.is_finite() {
        (low - 1.0, low + 1.0)
    } else {
        (-1.0, 1.0)
    }
}

/// How a shift in posterior sd reads: `−0.41 sd`.
pub fn shift_text(shift: f64) -> String {
    format!("{}{}sd", number::signed(shift, 2), number::NARROW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{harness, press_t_over};
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn the_axis_numbers_its_tolerance_and_more() {
        let values = |width, range, band| -> Vec<f64> {
            ticks(width, range, band)
                .into_iter()
                .map(|(value, _)| value)
                .collect()
        };
        assert_eq!(
            values(300.0, (-0.6, 0.6), Some((-0.2, 0.2))),
            [-0.2, 0.2, -0.5, 0.0, 0.5]
        );
        assert!(values(90.0, (-0.25, 0.25), Some((-0.2, 0.2))).len() >= 2);
        // A tolerance too narrow to be numbered beside zero.
        assert!(!values(90.0, (-40.0, 40.0), Some((-0.2, 0.2))).contains(&0.2));
    }

    #[test]
    fn rows_read_with_value_and_verdict() {
        let mut harness = harness([600.0, 300.0], (), |ui, ()| {
            let p = Palette::of(ui);
            let row = |name: &str, center: f64, verdict| IntervalRow {
                name: name.into(),
                center,
                inner: None,
                outer: (center - 0.1, center + 0.1),
                verdict: Some(verdict),
                value: shift_text(center),
            };
            let rows = [
                row("b[age]", -0.41, VerdictKind::NotCertified),
                row("b[x]", f64::NAN, VerdictKind::TooEarly),
            ];
            interval_ui(ui, p, &rows, Some((-0.2, 0.2)), "shift, in posterior sd");
            interval_ui(ui, p, &[], None, "nothing");
        });
        harness.run();
        harness.get_by_label("b[age]: −0.41\u{202f}sd, Not certified");
        harness.get_by_label("b[x]: n/a\u{202f}sd, Too early");
        press_t_over(&mut harness, "shift, in posterior sd");
        harness.get_by_label("−0.51000");
    }
}
