//! Ranges around points.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// Straight lines from one place to another, such as from the least number to the greatest.
#[derive(Clone, Debug, PartialEq)]
pub struct Spans {
    /// Both ends of each.
    pub ends: Vec<[[f64; 2]; 2]>,
}

/// Thickness in points.
const THICKNESS: f64 = 0.7;

impl Shape for Spans {
    fn kind(&self) -> &'static str {
        "span"
    }

    fn extent(&self) -> Extent {
        Extent::of(self.ends.iter().flatten().copied())
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let mut path = String::new();
        let is_finite = |ends: &&[[f64; 2]; 2]| ends.iter().flatten().all(|it| it.is_finite());
        for ends in self.ends.iter().filter(is_finite) {
            for (command, [x, y]) in ["M", "L"].into_iter().zip(ends) {
                let (x, y) = (number(place.at_x(*x)), number(place.at_y(*y)));
                path.push_str(&format!("{command}{x} {y}"));
            }
        }
        if !path.is_empty() {
            out.path(&path, ink, THICKNESS, "");
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for &[[x, y], [x_to, y_to]] in &self.ends {
            let differs = |from: f64, to: f64| (from != to).then_some(to);
            out(Drawn {
                x_to: differs(x, x_to),
                y_to: differs(y, y_to),
                ..Drawn::at(x, y)
            });
        }
    }
}
