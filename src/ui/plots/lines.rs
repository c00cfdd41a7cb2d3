//! A few named curves over one axis, with a legend above them.

use eframe::egui::{Color32, Margin, Shape, Stroke, Ui};

use super::axes::{Axes, Shown, YAxis, show};
use super::data_table::{PlotData, data_table_ui};
use super::legend::{Sign, legend_line};
use super::marks::{Marks, curve};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::paint;

/// One curve: pairs of x and y in order of x, broken where a value is not finite.
#[derive(Clone, Copy, Debug)]
pub struct NamedLine<'a> {
    /// Words of the curve in the legend.
    pub name: &'a str,
    /// The pairs.
    pub points: &'a [[f64; 2]],
    /// Colour of the curve.
    pub color: Color32,
    /// Dashes of the curve; none for a whole line.
    pub dash: &'a [f32],
}

/// What the plot shows.
#[derive(Clone, Copy, Debug)]
pub struct LinesData<'a> {
    /// Tells plots of one window apart.
    pub id: &'a str,
    /// The curves.
    pub lines: &'a [NamedLine<'a>],
    /// Range of x; `None` for that of the curves.
    pub x: Option<(f64, f64)>,
    /// Title of the x axis.
    pub x_title: &'a str,
    /// How the y axis is labelled; it begins at 0.
    pub y_axis: YAxis,
    /// A height that is wanted, with its words.
    pub limit: Option<(f64, &'a str)>,
    /// One sentence for screen readers.
    pub summary: &'a str,
}

impl LinesData<'_> {
    fn values(&self, of: usize) -> impl Iterator<Item = f64> {
        let points = self.lines.iter().flat_map(|line| line.points);
        points
            .map(move |point| point[of])
            .filter(|value| value.is_finite())
    }

    fn x_range(&self) -> (f64, f64) {
        self.x.unwrap_or_else(|| {
            let low = self.values(0).fold(f64::INFINITY, f64::min);
            let high = self.values(0).fold(f64::NEG_INFINITY, f64::max);
            match low < high {
                true => (low, high),
                false => (0.0, 1.0),
            }
        })
    }

    fn top(&self) -> f64 {
        let limit = self.limit.map_or(0.0, |(limit, _)| limit);
        let top = 1.06 * self.values(1).fold(limit, f64::max);
        if top > 0.0 { top } else { 1.0 }
    }
}

/// Shows legend and plot over the available width, together `height` points high.
pub fn lines_ui(ui: &mut Ui, p: &Palette, data: LinesData<'_>, height: f32) -> Shown {
    let t = tokens();
    let stroke = |color| Stroke::new(t.stroke.curve_pooled, color);
    let threshold = Stroke::new(t.stroke.threshold, p.threshold);
    let mut entries: Vec<(Sign<'_>, &str)> = (data.lines.iter())
        .map(|line| (Sign::Line(stroke(line.color), line.dash), line.name))
        .collect();
    entries.extend(
        data.limit
            .map(|(_, words)| (Sign::Line(threshold, &t.dash.warmup_edge), words)),
    );
    ui.spacing_mut().item_spacing.y = 0.0;
    legend_line(ui, &entries);
    let mut axes = Axes::new(
        ui.make_persistent_id(data.id),
        data.summary,
        data.x_range(),
        (0.0, data.top()),
    );
    axes.x_title = data.x_title;
    axes.y_axis = data.y_axis;
    if data.y_axis == YAxis::None {
        axes.margin = Margin {
            left: 14,
            right: 14,
            ..axes.margin
        };
    }
    let height = (height - t.size.min_target).max(40.0);
    let shown = show(ui, p, &axes, height, |plot_ui| {
        plot_ui.add(Marks::new(
            move |_ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                if let Some((limit, _)) = data.limit {
                    let frame = *transform.frame();
                    let y = transform.position_from_point_y(limit);
                    let ends = vec![frame.left_top(), frame.right_top()]
                        .into_iter()
                        .map(|end| eframe::egui::pos2(end.x, y))
                        .collect();
                    paint::dashed(ends, threshold, &t.dash.warmup_edge, shapes);
                }
                for line in data.lines {
                    let stroke = stroke(line.color);
                    curve(
                        line.points,
                        stroke,
                        line.dash,
                        f64::INFINITY,
                        transform,
                        shapes,
                    );
                }
            },
        ));
    });
    data_table_ui(ui, &shown.response, data.summary, || {
        // Curves need not share their x: each has its own columns.
        let heads = data.lines.iter().flat_map(|line| {
            let x = if data.x_title.is_empty() {
                "x"
            } else {
                data.x_title
            };
            [format!("{x}, {}", line.name), line.name.to_owned()]
        });
        let longest = data.lines.iter().map(|line| line.points.len()).max();
        PlotData::new(heads, longest.unwrap_or(0), |row, column| {
            let points = data.lines[column / 2].points;
            points.get(row).map_or(f64::NAN, |point| point[column % 2])
        })
    });
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn curves_are_named_and_none_is_no_trouble() {
        let points = [[0.0, 1.0], [0.5, f64::NAN], [1.0, 3.0]];
        let mut harness = harness([400.0, 500.0], (), move |ui, ()| {
            let p = Palette::of(ui);
            let line = NamedLine {
                name: "bulk",
                points: &points,
                color: p.accent,
                dash: &[],
            };
            let some = LinesData {
                id: "some",
                lines: &[line],
                x: None,
                x_title: "quantile",
                y_axis: YAxis::Linear,
                limit: Some((2.0, "wanted")),
                summary: "Some curves",
            };
            assert_eq!((some.x_range(), some.top()), ((0.0, 1.0), 1.06 * 3.0));
            lines_ui(ui, p, some, 200.0);
            let none = LinesData {
                id: "none",
                lines: &[],
                y_axis: YAxis::None,
                limit: None,
                summary: "No curves",
                ..some
            };
            assert_eq!((none.x_range(), none.top()), ((0.0, 1.0), 1.0));
            lines_ui(ui, p, none, 200.0);
        });
        harness.run();
        for name in ["bulk", "wanted", "Some curves", "No curves"] {
            harness.get_by_label(name);
        }
    }
}
