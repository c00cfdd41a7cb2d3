//! Points.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// What stands at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A dot.
    Dot,
    /// A dot that stands alone.
    Disc,
    /// A cross.
    Cross,
    /// A triangle that points to the right.
    Triangle,
}

/// Points.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Where.
    pub at: Vec<[f64; 2]>,
    /// The area of each dot over the usual one; empty where all are alike.
    pub sizes: Vec<f64>,
    /// What stands there.
    pub sign: Sign,
}

impl Points {
    /// Signs that are all alike.
    pub fn alike(at: Vec<[f64; 2]>, sign: Sign) -> Self {
        let sizes = Vec::new();
        Self { at, sizes, sign }
    }
}

/// Radius of a dot, and half the width of a cross, in points.
const DOT: f64 = 1.1;
const CROSS: f64 = 2.2;
/// Radius of a dot that stands alone.
const DISC: f64 = 1.9;
/// Half the height of a triangle.
const TRIANGLE: f64 = 2.4;
/// Opacity of dots: where many lie over each other it is darker.
const OPACITY: f64 = 0.4;

impl Shape for Points {
    fn kind(&self) -> &'static str {
        match self.sign {
            Sign::Dot | Sign::Disc => "point",
            Sign::Cross => "cross",
            Sign::Triangle => "triangle",
        }
    }

    fn extent(&self) -> Extent {
        Extent::of(self.at.iter().copied())
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let finite = |(_, [x, y]): &(usize, &[f64; 2])| x.is_finite() && y.is_finite();
        let points = self.at.iter().enumerate().filter(finite);
        let points = points.map(|(i, &[x, y])| (i, [place.at_x(x), place.at_y(y)]));
        match self.sign {
            Sign::Dot => {
                let area = |i: usize| self.sizes.get(i).map_or(1.0, |size| size.max(0.0));
                let dots = points.map(|(i, at)| (at, DOT * area(i).sqrt()));
                out.dots(dots, ink, OPACITY);
            }
            Sign::Disc => out.dots(points.map(|(_, at)| (at, DISC)), ink, 1.0),
            Sign::Cross => {
                let (a, b) = (number(CROSS * 2.0), number(-CROSS * 2.0));
                let cross = |(_, [x, y]): (usize, [f64; 2])| {
                    let (left, top) = (number(x - CROSS), number(y - CROSS));
                    format!("M{left} {top}l{a} {a}m0 {b}l{b} {a}")
                };
                out.path(&points.map(cross).collect::<String>(), ink, 0.8, "");
            }
            Sign::Triangle => {
                let half = number(TRIANGLE);
                let whole = number(2.0 * TRIANGLE);
                let triangle = |(_, [x, y]): (usize, [f64; 2])| {
                    let top = number(y - TRIANGLE);
                    format!("M{} {top}l{whole} {half}l-{whole} {half}z", number(x))
                };
                out.area(&points.map(triangle).collect::<String>(), ink, 1.0);
            }
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for (i, &[x, y]) in self.at.iter().enumerate() {
            out(Drawn {
                size: self.sizes.get(i).copied(),
                ..Drawn::at(x, y)
            });
        }
    }
}
