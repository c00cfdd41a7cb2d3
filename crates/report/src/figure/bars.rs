//! Bars from zero.

use super::drawing::Drawing;
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// Bars of a histogram, each from one edge to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Edges, one more than heights, ascending.
    pub edges: Vec<f64>,
    /// Heights.
    pub heights: Vec<f64>,
}

/// Gap between bars in points.
const GAP: f64 = 0.75;
/// Opacity of bars.
const OPACITY: f64 = 0.75;

impl Bars {
    fn each(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let edges = self.edges.windows(2);
        edges
            .zip(&self.heights)
            .map(|(edge, &height)| (edge[0], edge[1], height))
    }
}

impl Shape for Bars {
    fn kind(&self) -> &'static str {
        "bar"
    }

    fn extent(&self) -> Extent {
        Extent::of(
            self.each()
                .flat_map(|(from, to, height)| [[from, 0.0], [to, height]]),
        )
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        for (from, to, height) in self.each().filter(|(.., height)| *height > 0.0) {
            let (left, right, top) = (place.at_x(from), place.at_x(to), place.at_y(height));
            let width = (right - left - GAP).max(GAP);
            out.rectangle([left, top, width, place.at_y(0.0) - top], ink, OPACITY);
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for (from, to, height) in self.each() {
            out(Drawn {
                x_to: Some(to),
                y_to: Some(height),
                ..Drawn::at(from, 0.0)
            });
        }
    }
}
