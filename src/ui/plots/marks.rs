//! Things painted in a plot. None has a say in the range of the axes: the frame decides that.

use std::ops::RangeInclusive;

use eframe::egui::{Color32, Mesh, Pos2, Shape, Stroke, Ui, pos2};
use egui_plot::{PlotBounds, PlotGeometry, PlotItem, PlotItemBase, PlotTransform};

use super::legend::ChainFilter;
use crate::ui::theme::{Palette, chain_dash, tokens};
use crate::ui::widgets::{paint, spark};

/// Shapes made by a function that knows where values are on the screen.
pub struct Marks<F> {
    base: PlotItemBase,
    draw: F,
}

impl<F: Fn(&Ui, &PlotTransform, &mut Vec<Shape>)> Marks<F> {
    /// Shapes from `draw`, which gets the transform of this frame.
    pub fn new(draw: F) -> Self {
        Self {
            base: PlotItemBase::new(String::new()),
            draw,
        }
    }
}

impl<F: Fn(&Ui, &PlotTransform, &mut Vec<Shape>)> PlotItem for Marks<F> {
    fn shapes(&self, ui: &Ui, transform: &PlotTransform, shapes: &mut Vec<Shape>) {
        (self.draw)(ui, transform, shapes);
    }

    fn initialize(&mut self, _x_range: RangeInclusive<f64>) {}

    fn color(&self) -> Color32 {
        Color32::TRANSPARENT
    }

    fn allow_hover(&self) -> bool {
        false
    }

    fn geometry(&self) -> PlotGeometry<'_> {
        PlotGeometry::None
    }

    fn bounds(&self) -> PlotBounds {
        PlotBounds::NOTHING
    }

    fn base(&self) -> &PlotItemBase {
        &self.base
    }

    fn base_mut(&mut self) -> &mut PlotItemBase {
        &mut self.base
    }
}

/// A smooth curve with a dash pattern, broken where a value is not finite or above `top`.
pub fn curve(
    points: &[[f64; 2]],
    stroke: Stroke,
    dash: &[f32],
    top: f64,
    transform: &PlotTransform,
    shapes: &mut Vec<Shape>,
) {
    let shown = |point: &[f64; 2]| point[0].is_finite() && point[1].is_finite() && point[1] <= top;
    for piece in points.split(|point| !shown(point)) {
        if piece.len() > 1 {
            paint::dashed(
                piece.iter().map(|&[x, y]| at(transform, x, y)).collect(),
                stroke,
                dash,
                shapes,
            );
        }
    }
}

/// The curves of the chains that `filter` shows, each in its colour and dash.
pub fn chain_curves(
    curves: &[Vec<[f64; 2]>],
    filter: &ChainFilter,
    p: &Palette,
    transform: &PlotTransform,
    shapes: &mut Vec<Shape>,
) {
    for (chain, points) in curves.iter().enumerate() {
        if filter.shows(chain) {
            let stroke = Stroke::new(tokens().stroke.curve_chain, p.chain(chain));
            let dash = chain_dash(chain);
            curve(points, stroke, dash, f64::INFINITY, transform, shapes);
        }
    }
}

/// The area under a curve between the x values `from` and `to`, down to y = 0.
pub fn area_between(
    points: &[[f64; 2]],
    (from, to): (f64, f64),
    color: Color32,
    transform: &PlotTransform,
    shapes: &mut Vec<Shape>,
) {
    let inside = between(points, from, to);
    if inside.len() > 1 {
        let line: Vec<Pos2> = inside
            .into_iter()
            .map(|[x, y]| at(transform, x, y))
            .collect();
        shapes.push(spark::area(
            &line,
            transform.position_from_point_y(0.0),
            color,
        ));
    }
}

/// The area between two lines: lower and upper end at each place.
pub fn band(ends: impl Iterator<Item = [Pos2; 2]>, color: Color32) -> Shape {
    let mut mesh = Mesh::default();
    for (k, [low, high]) in ends.enumerate() {
        mesh.colored_vertex(low, color);
        mesh.colored_vertex(high, color);
        if k > 0 {
            let first = 2 * (k as u32 - 1);
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    Shape::mesh(mesh)
}

/// The part of a polygonal line with x from `from` to `to`, with points put in at both ends.
fn between(points: &[[f64; 2]], from: f64, to: f64) -> Vec<[f64; 2]> {
    let mut out = Vec::with_capacity(points.len() + 2);
    for pair in points.windows(2) {
        let ([x0, y0], [x1, y1]) = (pair[0], pair[1]);
        // Also leaves out what is not a number.
        if !(x1 > x0 && x1 > from && x0 < to && y0.is_finite() && y1.is_finite()) {
            continue;
        }
        let height = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        if out.is_empty() {
            let start = x0.max(from);
            out.push([start, height(start)]);
        }
        let end = x1.min(to);
        out.push([end, height(end)]);
    }
    out
}

/// Where a point of the plot is on the screen.
pub fn at(transform: &PlotTransform, x: f64, y: f64) -> Pos2 {
    pos2(
        transform.position_from_point_x(x),
        transform.position_from_point_y(y),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_curve_ends_exactly_at_the_limits() {
        let line = [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]];
        assert_eq!(
            between(&line, 0.5, 1.25),
            [[0.5, 1.0], [1.0, 2.0], [1.25, 1.5]]
        );
        assert_eq!(between(&line, -1.0, 3.0), line);
        assert!(between(&line, 3.0, 4.0).is_empty());
        assert!(between(&[[0.0, f64::NAN], [1.0, 1.0]], 0.0, 1.0).is_empty());
        assert!(between(&[], 0.0, 1.0).is_empty());
    }
}
