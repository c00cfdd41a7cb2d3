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
}

/// Farthest beyond the frame that anything is written at, in frames: viewers compute with single precision.
const FARTHEST: f64 = 50.0;

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
        }
    }

    /// Where the value `x` is.
    pub fn at_x(&self, x: f64) -> f64 {
        let share = (x - self.x.0) / (self.x.1 - self.x.0);
        self.left + share.clamp(-FARTHEST, FARTHEST) * self.width
    }

    /// Where the value `y` is.
    pub fn at_y(&self, y: f64) -> f64 {
        let share = (y - self.y.0) / (self.y.1 - self.y.0);
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
