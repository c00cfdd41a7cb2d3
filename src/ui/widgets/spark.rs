//! Pictures as small as a word: a column's histogram, a prior's shape, an interval against zero.

use eframe::egui::{
    Color32, Mesh, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, pos2,
    vec2,
};

use super::{number, paint};
use crate::ui::theme::{Palette, Text, tokens};

/// Bars of `heights` (any unit, not negative), as wide as `size`. `name` says what they are of.
/// Bars from `pale_from` on are drawn paler: a second part, such as the other level of a response.
pub fn mini_histogram(
    ui: &mut Ui,
    size: Vec2,
    heights: &[f64],
    pale_from: Option<usize>,
    name: &str,
) -> Response {
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
    let highest = heights
        .iter()
        .copied()
        .filter(|h| h.is_finite())
        .fold(0.0, f64::max);
    if highest <= 0.0 {
        return response;
    }
    let step = rect.width() / heights.len() as f32;
    let gap = if step >= 3.0 { 1.0 } else { 0.0 };
    let color = p.accent.gamma_multiply(tokens().alpha.histogram);
    for (i, &height) in heights.iter().enumerate() {
        if !(height.is_finite() && height > 0.0) {
            continue;
        }
        let left = rect.left() + i as f32 * step;
        // A bar that is there is seen: at least one point high.
        let top = rect.bottom() - ((height / highest) as f32 * rect.height()).max(1.0);
        let pale = pale_from.is_some_and(|from| i >= from);
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + step - gap, rect.bottom()));
        ui.painter().rect_filled(
            bar,
            0.0,
            if pale {
                color.gamma_multiply(0.4)
            } else {
                color
            },
        );
    }
    response
}

/// The shape of a density: line, soft fill and base line, with the ends of its axis below. `points` are x and density, in
/// order of x; `axis` is what the width stands for, at least their range.
pub fn small_curve(
    ui: &mut Ui,
    size: Vec2,
    points: &[[f64; 2]],
    axis: (f64, f64),
    name: &str,
) -> Response {
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let (from, to) = axis;
    let ends = [from, to].map(|end| number::significant(end, 2));
    response.widget_info(|| {
        let [from, to] = &ends;
        WidgetInfo::labeled(Role::Image, true, format!("{name}, {from} to {to}"))
    });
    let finite: Vec<[f64; 2]> = points
        .iter()
        .copied()
        .filter(|[x, y]| x.is_finite() && y.is_finite())
        .collect();
    let highest = finite.iter().map(|point| point[1]).fold(0.0, f64::max);
    if finite.is_empty() || to <= from || highest <= 0.0 {
        return response;
    }
    let foot = Text::CodeSmall.font().size;
    let inner = Rect::from_min_max(rect.min + vec2(1.0, 2.0), rect.max - vec2(1.0, foot + 2.0));
    let [left, right] =
        ends.map(|end| paint::line(ui, &end, Text::Caption, p.text_secondary, rect.width()));
    let y = rect.bottom() - 0.5 * foot - 1.0;
    paint::left_center(ui.painter(), inner.left(), y, left);
    paint::right_center(ui.painter(), inner.right(), y, right);
    let at = |[x, y]: [f64; 2]| {
        pos2(
            inner.left() + ((x - from) / (to - from)) as f32 * inner.width(),
            inner.bottom() - (y / highest) as f32 * inner.height(),
        )
    };
    let line: Vec<Pos2> = finite.iter().copied().map(at).collect();
    ui.painter().add(area(&line, inner.bottom(), p.accent_soft));
    ui.painter()
        .hline(inner.x_range(), inner.bottom(), Stroke::new(1.0, p.accent));
    ui.painter().line(line, Stroke::new(1.5, p.accent));
    response
}

/// The area between a line, in order of x, and the level `y`.
pub fn area(line: &[Pos2], y: f32, color: Color32) -> Shape {
    let floor: Vec<Pos2> = line.iter().map(|point| pos2(point.x, y)).collect();
    between(line, &floor, color)
}

/// The area between two lines of as many points.
pub fn between(one: &[Pos2], other: &[Pos2], color: Color32) -> Shape {
    let mut mesh = Mesh::default();
    for (i, (&point, &facing)) in one.iter().zip(other).enumerate() {
        mesh.colored_vertex(point, color);
        mesh.colored_vertex(facing, color);
        if i > 0 {
            let at = 2 * i as u32;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    Shape::mesh(mesh)
}

/// A 90% interval and its median against a tick at zero, scaled for this row alone: it compares sign and width
/// with zero, not rows with each other.
pub fn interval_bar(ui: &mut Ui, size: Vec2, low: f64, median: f64, high: f64) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let known = low.is_finite() && median.is_finite() && high.is_finite();
    response.widget_info(|| {
        let text = if known {
            let [low, median, high] =
                [low, median, high].map(|value| number::significant(value, 2));
            format!("median {median}, 90% interval {low} to {high}")
        } else {
            number::NOT_AVAILABLE.to_owned()
        };
        WidgetInfo::labeled(Role::Image, true, text)
    });
    if !known {
        return response;
    }
    let (from, to) = (low.min(0.0), high.max(0.0));
    let span = if to > from { to - from } else { 1.0 };
    let inner = rect.shrink2(vec2(6.0, 0.0));
    let x = |value: f64| inner.left() + ((value - from) / span) as f32 * inner.width();
    let y = rect.center().y;
    ui.painter()
        .vline(x(0.0), y - 5.0..=y + 5.0, Stroke::new(1.0, p.axis));
    ui.painter().hline(
        x(low)..=x(high),
        y,
        Stroke::new(t.stroke.interval_90, p.posterior),
    );
    ui.painter()
        .circle_filled(pos2(x(median), y), 3.0, p.posterior);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn small_pictures_have_names_and_survive_odd_values() {
        let harness = harness([300.0, 300.0], (), |ui, ()| {
            mini_histogram(
                ui,
                vec2(80.0, 36.0),
                &[1.0, 5.0, f64::NAN, 0.0],
                Some(2),
                "age, 18 to 92",
            );
            mini_histogram(ui, vec2(80.0, 36.0), &[], None, "empty");
            small_curve(
                ui,
                vec2(96.0, 28.0),
                &[[0.0, 0.1], [1.0, 0.5], [2.0, f64::INFINITY]],
                (0.0, 2.0),
                "normal(0, 1)",
            );
            small_curve(ui, vec2(96.0, 28.0), &[], (0.0, 1.0), "flat");
            interval_bar(ui, vec2(66.0, 24.0), -0.52, -0.31, -0.1);
            interval_bar(ui, vec2(66.0, 24.0), 0.0, 0.0, 0.0);
            interval_bar(ui, vec2(66.0, 24.0), f64::NAN, 0.0, 0.0);
        });
        harness.get_by_label("age, 18 to 92");
        harness.get_by_label("normal(0, 1), 0 to 2.0");
        harness.get_by_label("flat, 0 to 1.0");
        harness.get_by_label("median −0.31, 90% interval −0.52 to −0.10");
        harness.get_by_label("n/a");
    }
}
