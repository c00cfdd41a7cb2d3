//! A line through points.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// A line through points in their order; it breaks where one is not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Points.
    pub points: Vec<[f64; 2]>,
    /// Thickness in points.
    pub thickness: f64,
    /// Whether the line has the dash of its ink: not where a line is so dense that a dash cannot be seen.
    pub dashed: bool,
}

impl Line {
    /// A line of a chain's draws.
    pub fn dense(points: Vec<[f64; 2]>) -> Self {
        Self {
            points,
            thickness: 0.5,
            dashed: false,
        }
    }

    /// A smooth curve.
    pub fn curve(points: Vec<[f64; 2]>, thickness: f64) -> Self {
        Self {
            points,
            thickness,
            dashed: true,
        }
    }
}

impl Shape for Line {
    fn kind(&self) -> &'static str {
        "line"
    }

    fn extent(&self) -> Extent {
        Extent::of(self.points.iter().copied())
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let finite = |point: &&[f64; 2]| point[0].is_finite() && point[1].is_finite();
        let pieces = self.points.split(|point| !finite(&point));
        let mut path = String::new();
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            for (i, [x, y]) in piece.iter().enumerate() {
                let command = if i == 0 { "M" } else { "L" };
                path.push_str(&format!(
                    "{command}{} {}",
                    number(place.at_x(*x)),
                    number(place.at_y(*y))
                ));
            }
            // A single draw between gaps is a dot.
            if piece.len() == 1 {
                path.push_str("m-0.4 0h0.8");
            }
        }
        if !path.is_empty() {
            let dash = if self.dashed { ink.dash() } else { "" };
            out.path(&path, ink, self.thickness, dash);
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for &[x, y] in &self.points {
            out(Drawn::at(x, y));
        }
    }
}
