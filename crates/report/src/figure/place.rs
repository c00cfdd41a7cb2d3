//! Where a panel stands on the page, and where its values are.

/// The frame of a panel in points, and the ranges that it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Values at the left and at the right edge.
    pub x: (f64, f64),
    /// Values at the lower and at the upper edge.
    pub y: (f64, f64),
    /// Whether equal ratios of x, and of y, are equally far apart, not equal differences.
    pub logarithmic: [bool; 2],
}

/// Farthest beyond the frame that anything is written at, in frames: viewers compute with single precision.
const FARTHEST: f64 = 50.0;

/// Where a value is from one edge, 0, to the other, 1.
fn share(value: f64, (from, to): (f64, f64), is_logarithmic: bool) -> f64 {
    match is_logarithmic {
        // What is not above 0 is far below everything.
        true => (value.max(f64::MIN_POSITIVE) / from).ln() / (to / from).ln(),
        false => (value - from) / (to - from),
    }
}

impl Place {
    /// Around one point of the page, where the values are both a half.
    pub fn of_one([x, y]: [f64; 2]) -> Self {
        Self {
            left: x - 1.0,
            top: y - 1.0,
            width: 2.0,
            height: 2.0,
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            logarithmic: [false; 2],
        }
    }

    /// Where the value `x` is.
    pub fn at_x(&self, x: f64) -> f64 {
        let share = share(x, self.x, self.logarithmic[0]);
        self.left + share.clamp(-FARTHEST, FARTHEST) * self.width
    }

    /// Where the value `y` is.
    pub fn at_y(&self, y: f64) -> f64 {
        let share = share(y, self.y, self.logarithmic[1]);
        self.bottom() - share.clamp(-FARTHEST, FARTHEST) * self.height
    }

    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equally_far_apart_on_logarithmic_axes() {
        let place = Place {
            left: 0.0,
            top: 0.0,
            width: 100.0,
            height: 100.0,
            x: (1.0, 100.0),
            y: (0.0, 100.0),
            logarithmic: [true, false],
        };
        for (value, x, y) in [(1.0, 0.0, 99.0), (10.0, 50.0, 90.0), (100.0, 100.0, 0.0)] {
            assert!((place.at_x(value) - x).abs() < 1e-9, "{value}");
            assert!((place.at_y(value) - y).abs() < 1e-9, "{value}");
        }
        // Nothing is written where it could not be drawn.
        for value in [0.0, -1.0] {
            assert!((-5000.0..0.0).contains(&place.at_x(value)), "{value}");
        }
    }
}
