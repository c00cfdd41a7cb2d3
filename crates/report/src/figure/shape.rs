//! What a mark can do: say how far it reaches, draw itself, and list what it draws.

use std::fmt::Debug;

use super::drawing::Drawing;
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;

/// Ranges of x and y; without points they are upside down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Smallest and largest x.
    pub x: (f64, f64),
    /// Smallest and largest y.
    pub y: (f64, f64),
}

impl Extent {
    /// Of nothing.
    pub const NONE: Self = Self {
        x: (f64::INFINITY, f64::NEG_INFINITY),
        y: (f64::INFINITY, f64::NEG_INFINITY),
    };

    /// Of points; those that are not finite do not count.
    pub fn of(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut extent = Self::NONE;
        for [x, y] in points {
            if x.is_finite() && y.is_finite() {
                extent.x = (extent.x.0.min(x), extent.x.1.max(x));
                extent.y = (extent.y.0.min(y), extent.y.1.max(y));
            }
        }
        extent
    }

    /// Of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            x: join(self.x, other.x),
            y: join(self.y, other.y),
        }
    }
}

/// A kind of mark.
pub trait Shape: Debug {
    /// One word for tables of what is drawn.
    fn kind(&self) -> &'static str;

    /// How far it reaches, for the ranges of axes; [`Extent::NONE`] for what follows them.
    fn extent(&self) -> Extent;

    /// Draws it.
    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing);

    /// Everything that is drawn, in the units of the data.
    fn drawn(&self, out: &mut dyn FnMut(Drawn));
}
