//! The area between two curves.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// The area between two curves over the same places.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Place, lower and upper value.
    pub points: Vec<[f64; 3]>,
}

impl Shape for Band {
    fn kind(&self) -> &'static str {
        "band"
    }

    fn extent(&self) -> Extent {
        Extent::of(
            self.points
                .iter()
                .flat_map(|&[x, low, high]| [[x, low], [x, high]]),
        )
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let upper = self.points.iter().map(|&[x, _, high]| [x, high]);
        let lower = self.points.iter().rev().map(|&[x, low, _]| [x, low]);
        let edge = upper
            .chain(lower)
            .filter(|[x, y]| x.is_finite() && y.is_finite());
        let mut path = String::new();
        for [x, y] in edge {
            let command = if path.is_empty() { "M" } else { "L" };
            path.push_str(&format!(
                "{command}{} {}",
                number(place.at_x(x)),
                number(place.at_y(y))
            ));
        }
        if !path.is_empty() {
            path.push('Z');
            out.area(&path, ink, 1.0);
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for &[x, low, high] in &self.points {
            out(Drawn {
                y_to: Some(high),
                ..Drawn::at(x, low)
            });
        }
    }
}
