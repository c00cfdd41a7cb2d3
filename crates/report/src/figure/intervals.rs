//! Intervals in rows under each other.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// An interval within a wider one, and a point: of a parameter its quartiles, its 90 % interval and its median.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// What the interval is of, for the table of what is drawn.
    pub name: String,
    /// The thick part; not numbers where there is none.
    pub inner: [f64; 2],
    /// The thin part.
    pub outer: [f64; 2],
    /// The point.
    pub centre: f64,
}

/// Intervals, the first in the row at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// One per row.
    pub rows: Vec<Interval>,
    /// What the points are.
    pub centre: &'static str,
}

/// Thickness of the wide and of the narrow interval, and radius of the point, in points.
const OUTER: f64 = 1.1;
const INNER: f64 = 3.2;
const POINT: f64 = 2.4;

impl Shape for Intervals {
    fn kind(&self) -> &'static str {
        "interval"
    }

    fn extent(&self) -> Extent {
        let rows = self.rows.iter().enumerate();
        Extent::of(rows.flat_map(|(k, row)| row.outer.map(|x| [x, k as f64 + 0.5])))
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        for (k, row) in self.rows.iter().enumerate() {
            let y = place.at_y(k as f64 + 0.5);
            for (ends, thickness) in [(row.outer, OUTER), (row.inner, INNER)] {
                if ends.iter().all(|end| end.is_finite()) {
                    let [from, to] = ends.map(|end| number(place.at_x(end)));
                    out.path(&format!("M{from} {}H{to}", number(y)), ink, thickness, "");
                }
            }
            if row.centre.is_finite() {
                out.ring([place.at_x(row.centre), y], POINT, ink);
            }
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for (k, row) in self.rows.iter().enumerate() {
            let y = k as f64 + 0.5;
            let parts = [("outer", row.outer), ("inner", row.inner)].into_iter();
            for (what, ends) in parts.filter(|(_, ends)| !ends.iter().all(|end| end.is_nan())) {
                out(Drawn {
                    label: format!("{} {what}", row.name),
                    x_to: Some(ends[1]),
                    ..Drawn::at(ends[0], y)
                });
            }
            out(Drawn {
                label: format!("{} {}", row.name, self.centre),
                ..Drawn::at(row.centre, y)
            });
        }
    }
}
