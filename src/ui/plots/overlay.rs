//! Density curves of one parameter over each other.

use eframe::egui::{Id, Shape, Stroke, Ui};

use super::axes::{self, Axes, YAxis};
use super::data_table::{PlotData, data_table_ui};
use super::legend::{Sign, legend_line};
use super::marks::{Marks, curve};
use crate::ui::theme::{Palette, chain_dash, tokens};

/// A density curve.
#[derive(Clone, Copy)]
pub struct OverlaidCurve<'a> {
    /// What the curve is of.
    pub title: &'a str,
    /// Points (x, density).
    pub points: &'a [[f64; 2]],
    /// Chain whose colour and dash it has.
    pub sign: usize,
}

/// Draws `curves` of the parameter `name`, with a legend above and a table of what is drawn below.
pub fn overlay_ui(ui: &mut Ui, id: Id, name: &str, curves: &[OverlaidCurve<'_>], height: f32) {
    let t = tokens();
    let p = Palette::of(ui);
    let line = |curve: &OverlaidCurve<'_>| {
        let stroke = Stroke::new(t.stroke.curve_pooled, p.chain(curve.sign));
        (stroke, chain_dash(curve.sign))
    };
    let signs: Vec<(Sign<'_>, &str)> = curves
        .iter()
        .map(|curve| {
            let (stroke, dash) = line(curve);
            (Sign::Line(stroke, dash), curve.title)
        })
        .collect();
    legend_line(ui, &signs);
    let points = || curves.iter().flat_map(|curve| curve.points);
    let low = points().map(|it| it[0]).fold(f64::INFINITY, f64::min);
    let high = points().map(|it| it[0]).fold(f64::NEG_INFINITY, f64::max);
    let top = points().map(|it| it[1]).fold(0.0, f64::max);
    let titles: Vec<&str> = curves.iter().map(|curve| curve.title).collect();
    let summary = format!("Densities of {name} in {}", titles.join(" and "));
    let mut axes = Axes::new(
        id,
        &summary,
        (low, high),
        (0.0, if top > 0.0 { top * 1.06 } else { 1.0 }),
    );
    axes.y_axis = YAxis::None;
    axes.x_title = name;
    let shown = axes::show(ui, p, &axes, height, |plot| {
        plot.add(Marks::new(
            move |_ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                for one in curves {
                    let (stroke, dash) = line(one);
                    curve(one.points, stroke, dash, f64::INFINITY, transform, shapes);
                }
            },
        ));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let heads: Vec<String> = curves
            .iter()
            .flat_map(|curve| [curve.title.to_owned(), format!("density, {}", curve.title)])
            .collect();
        let count = curves.iter().map(|curve| curve.points.len()).max();
        PlotData::new(heads, count.unwrap_or(0), move |row, column| {
            let point = curves[column / 2].points.get(row);
            point.map_or(f64::NAN, |point| point[column % 2])
        })
    });
}
