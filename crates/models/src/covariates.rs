//! The covariates of one row, in the precision in which they are kept.

use ergodic_base::linalg::{widening_axpy, widening_dot};

/// a_i (D) of a row: a view that costs nothing. Its arithmetic is in double precision.
#[derive(Clone, Copy, Debug)]
pub enum Covariates<'a> {
    /// Covariates in double precision.
    Double(&'a [f64]),
    /// In single precision.
    Single(&'a [f32]),
}

impl<'a> Covariates<'a> {
    /// a'u.
    #[inline]
    pub fn dot(self, u: &[f64]) -> f64 {
        match self {
            Self::Double(a) => widening_dot(a, u),
            Self::Single(a) => widening_dot(a, u),
        }
    }

    /// ADDS `weight` a to `out` (D).
    #[inline]
    pub fn add_to(self, weight: f64, out: &mut [f64]) {
        match self {
            Self::Double(a) => widening_axpy(weight, a, out),
            Self::Single(a) => widening_axpy(weight, a, out),
        }
    }

    /// Writes a into `out` (D).
    #[inline]
    pub fn write_to(self, out: &mut [f64]) {
        match self {
            Self::Double(a) => out.copy_from_slice(a),
            Self::Single(a) => {
                for (out, &a) in out.iter_mut().zip(a) {
                    *out = f64::from(a);
                }
            }
        }
    }

    /// a as a slice: itself, or written into `buffer`, which is at least D long.
    #[inline]
    pub fn widened(self, buffer: &'a mut [f64]) -> &'a [f64] {
        match self {
            Self::Double(a) => a,
            Self::Single(a) => {
                let buffer = &mut buffer[..a.len()];
                self.write_to(buffer);
                buffer
            }
        }
    }

    /// a in memory of its own.
    pub fn to_vec(self) -> Vec<f64> {
        match self {
            Self::Double(a) => a.to_vec(),
            Self::Single(a) => a.iter().copied().map(f64::from).collect(),
        }
    }
}
