//! Box plots in rows under each other.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};
use ergodic_diagnostics::BoxPlot;

/// Box plots with the names of what they are of, the first in the row at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxes {
    /// One per row.
    pub rows: Vec<(String, BoxPlot)>,
}

/// Thickness of lines and of the median, half the height of a box and of the end of a whisker, and radius of a draw beyond, in points.
const LINE: f64 = 0.9;
const MEDIAN: f64 = 1.8;
const HALF: f64 = 3.6;
const END: f64 = 1.8;
const DOT: f64 = 0.8;
/// Opacity of draws beyond the whiskers: where many lie over each other it is darker.
const OPACITY: f64 = 0.5;

impl Shape for Boxes {
    fn kind(&self) -> &'static str {
        "box"
    }

    fn extent(&self) -> Extent {
        let rows = self.rows.iter().enumerate();
        Extent::of(rows.flat_map(|(k, (_, it))| {
            let ends = it.whiskers.iter().chain(&it.outside);
            ends.map(move |&x| [x, k as f64 + 0.5])
        }))
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        for (k, (_, row)) in self.rows.iter().enumerate() {
            let y = place.at_y(k as f64 + 0.5);
            let [left, median, right] = row.quartiles.map(|x| place.at_x(x));
            let [from, to] = row.whiskers.map(|x| place.at_x(x));
            let upright = |x: f64, half: f64| {
                format!("M{} {}V{}", number(x), number(y - half), number(y + half))
            };
            let along = |from: f64, to: f64, y: f64| {
                format!("M{} {}H{}", number(from), number(y), number(to))
            };
            let lines = [
                along(from, left, y),
                along(right, to, y),
                along(left, right, y - HALF),
                along(left, right, y + HALF),
                upright(left, HALF),
                upright(right, HALF),
                upright(from, END),
                upright(to, END),
            ];
            out.path(&lines.concat(), ink, LINE, "");
            out.path(&upright(median, HALF), ink, MEDIAN, "");
            let dots = row.outside.iter().map(|&x| ([place.at_x(x), y], DOT));
            out.dots(dots, ink, OPACITY);
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for (k, (name, row)) in self.rows.iter().enumerate() {
            let y = k as f64 + 0.5;
            let [left, median, right] = row.quartiles;
            for (what, [from, to]) in [("whiskers", row.whiskers), ("box", [left, right])] {
                out(Drawn {
                    label: format!("{name} {what}"),
                    x_to: Some(to),
                    ..Drawn::at(from, y)
                });
            }
            let points = std::iter::once(("median", median));
            for (what, x) in points.chain(row.outside.iter().map(|&x| ("beyond", x))) {
                out(Drawn {
                    label: format!("{name} {what}"),
                    ..Drawn::at(x, y)
                });
            }
        }
    }
}
