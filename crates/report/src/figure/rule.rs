//! A line across a panel.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// A line across the whole panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// At this y.
    Across(f64),
    /// At this x.
    Up(f64),
}

/// Thickness in points.
const THICKNESS: f64 = 0.8;

impl Shape for Rule {
    fn kind(&self) -> &'static str {
        "rule"
    }

    fn extent(&self) -> Extent {
        Extent::NONE
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let path = match *self {
            Self::Across(y) => {
                let y = number(place.at_y(y));
                format!("M{} {y}H{}", number(place.left), number(place.right()))
            }
            Self::Up(x) => {
                let x = number(place.at_x(x));
                format!("M{x} {}V{}", number(place.bottom()), number(place.top))
            }
        };
        out.path(&path, ink, THICKNESS, ink.dash());
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        out(match *self {
            Self::Across(y) => Drawn::at(f64::NAN, y),
            Self::Up(x) => Drawn::at(x, f64::NAN),
        });
    }
}
