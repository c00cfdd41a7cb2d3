//! Eight numbers as one value, which stands in vector registers as wide as the [`Arithmetic`](super::arithmetic::Arithmetic) allows.
//!
//! Compilers make vector instructions of loops over lanes only where they see through all that is around them, and which they see
//! through changes with every line; sums that are reduced at the end of a pass made them handle two rows at a time. What is
//! written with these types is what is executed. All of them round alike, so they give the same bits.

use std::fmt::Debug;
use std::ops::{Add, BitOr, Div, Mul, Neg, Sub};

use super::elementary::{LANES, Lane};

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub use x86::{Halves, Whole};

/// Bytes of a cache line: a lane that starts at one is read at once.
const LINE: usize = 64;

/// A number for each of [`LANES`] rows.
pub trait Vector:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Bits of the numbers.
    type Bits: Bits;

    /// The numbers of a lane.
    fn load(lane: &Lane) -> Self;
    /// The numbers of several lanes. A loop: what the standard library calls is not compiled for vector instructions.
    #[inline(always)]
    fn load_all<const N: usize>(lanes: [&Lane; N]) -> [Self; N] {
        let mut out = [Self::splat(0.0); N];
        for (out, lane) in out.iter_mut().zip(lanes) {
            *out = Self::load(lane);
        }
        out
    }

    /// The numbers as a lane.
    fn lane(self) -> Lane;
    /// One number for all rows.
    fn splat(x: f64) -> Self;
    /// self × b + c, rounded as the class of arithmetic does.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Row by row: `then` where `self` is less than `other`, else `otherwise`.
    fn where_less(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// Row by row: `self` where it is less than `other`, else `other`.
    fn smaller(self, other: Self) -> Self;
    /// Row by row: `self` where it is greater than `other`, else `other`.
    fn larger(self, other: Self) -> Self;
    /// The numbers' bits.
    fn bits(self) -> Self::Bits;
    /// The numbers with these bits.
    fn of_bits(bits: Self::Bits) -> Self;
}

/// The bits of numbers as whole numbers; sums and differences wrap.
pub trait Bits: Copy + Add<Output = Self> + Sub<Output = Self> + BitOr<Output = Self> {
    /// One pattern of bits for all rows.
    fn splat(x: u64) -> Self;
    /// Up by the [`MANTISSA`]: whole numbers become exponents.
    fn raised(self) -> Self;
    /// Down by the [`MANTISSA`]: exponents become whole numbers.
    fn lowered(self) -> Self;
    /// The patterns, row by row.
    fn words(self) -> [u64; LANES];
}

/// Bits of a number's mantissa.
pub const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;

/// Row by row, as compilers find it, for processors whose vector instructions are not named here; `FUSED` as
/// [`Class::Fused`](super::arithmetic::Class).
#[derive(Clone, Copy, Debug)]
pub struct Plain<const FUSED: bool>(Lane);

/// The bits of [`Plain`].
#[derive(Clone, Copy, Debug)]
pub struct PlainBits([u64; LANES]);

macro_rules! row_by_row {
    ($($trait:ident $method:ident $operator:tt),*) => {$(
        impl<const FUSED: bool> $trait for Plain<FUSED> {
            type Output = Self;

            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for k in 0..LANES {
                    self.0[k] $operator other.0[k];
                }
                self
            }
        }
    )*};
}

row_by_row!(Add add +=, Sub sub -=, Mul mul *=, Div div /=);

impl<const FUSED: bool> Neg for Plain<FUSED> {
    type Output = Self;

    #[inline(always)]
    fn neg(mut self) -> Self {
        for k in 0..LANES {
            self.0[k] = -self.0[k];
        }
        self
    }
}

impl<const FUSED: bool> Vector for Plain<FUSED> {
    type Bits = PlainBits;

    #[inline(always)]
    fn load(lane: &Lane) -> Self {
        Self(*lane)
    }

    #[inline(always)]
    fn lane(self) -> Lane {
        self.0
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn mul_add(mut self, b: Self, c: Self) -> Self {
        for k in 0..LANES {
            self.0[k] = if FUSED {
                self.0[k].mul_add(b.0[k], c.0[k])
            } else {
                self.0[k] * b.0[k] + c.0[k]
            };
        }
        self
    }

    #[inline(always)]
    fn where_less(mut self, other: Self, then: Self, otherwise: Self) -> Self {
        for k in 0..LANES {
            self.0[k] = if self.0[k] < other.0[k] {
                then.0[k]
            } else {
                otherwise.0[k]
            };
        }
        self
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.where_less(other, self, other)
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        other.where_less(self, self, other)
    }

    #[inline(always)]
    fn bits(self) -> PlainBits {
        let mut out = [0; LANES];
        for k in 0..LANES {
            out[k] = self.0[k].to_bits();
        }
        PlainBits(out)
    }

    #[inline(always)]
    fn of_bits(bits: PlainBits) -> Self {
        let mut out = [0.0; LANES];
        for k in 0..LANES {
            out[k] = f64::from_bits(bits.0[k]);
        }
        Self(out)
    }
}

macro_rules! bits_row_by_row {
    ($($trait:ident $method:ident $of_words:path),*) => {$(
        impl $trait for PlainBits {
            type Output = Self;

            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for k in 0..LANES {
                    self.0[k] = $of_words(self.0[k], other.0[k]);
                }
                self
            }
        }
    )*};
}

bits_row_by_row!(Add add u64::wrapping_add, Sub sub u64::wrapping_sub, BitOr bitor BitOr::bitor);

impl Bits for PlainBits {
    #[inline(always)]
    fn splat(x: u64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn words(self) -> [u64; LANES] {
        self.0
    }

    #[inline(always)]
    fn raised(mut self) -> Self {
        for k in 0..LANES {
            self.0[k] <<= MANTISSA;
        }
        self
    }

    #[inline(always)]
    fn lowered(mut self) -> Self {
        for k in 0..LANES {
            self.0[k] >>= MANTISSA;
        }
        self
    }
}

/// Lanes of `numbers` from the first that starts a cache line on: memory for n of them has n + 1 lanes of numbers.
pub fn aligned(numbers: &mut [f64]) -> &mut [Lane] {
    let first = first_aligned(numbers);
    numbers[first..].as_chunks_mut().0
}

/// The place in `numbers`, less than [`LANES`], where a cache line starts, if any does.
fn first_aligned(numbers: &[f64]) -> usize {
    let first = numbers.as_ptr().align_offset(LINE);
    if first < LANES.min(numbers.len()) {
        first
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::arithmetic::{Arithmetic, SimdLevel, at_level};

    /// Every operation on numbers of all kinds.
    fn everything<A: Arithmetic>(a: &Lane, b: &Lane) -> [Lane; 12] {
        let (x, y) = (A::V::load(a), A::V::load(b));
        let bits = <A::V as Vector>::Bits::splat(5);
        [
            (x + y).lane(),
            (x - y).lane(),
            (x * y).lane(),
            (x / y).lane(),
            (-x).lane(),
            x.where_less(y, x, A::V::splat(0.5)).lane(),
            x.smaller(y).lane(),
            x.larger(y).lane(),
            A::V::of_bits((x.bits() + y.bits()) | bits).lane(),
            A::V::of_bits(x.bits() - y.bits()).lane(),
            A::V::of_bits(x.bits().lowered()).lane(),
            A::V::of_bits(y.bits().raised()).lane(),
        ]
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        let a = [1.0, -2.5, 0.0, 1e300, f64::NAN, -1e-310, 7.0, f64::INFINITY];
        let b = [3.0, -2.5, -0.0, 1e300, 1.0, 4.0, f64::NAN, -1.0];
        let bits = |lanes: [Lane; 12]| lanes.map(|lane| lane.map(f64::to_bits));
        let plain = bits(everything::<crate::numerics::arithmetic::Separate>(&a, &b));
        for level in SimdLevel::available() {
            let got = at_level!(level, A => everything::<A>(&a, &b));
            for (got, expected) in bits(got).iter().zip(&plain) {
                for (got, expected) in got.iter().zip(expected) {
                    // Which NaN it is differs between instructions.
                    let both_nan =
                        f64::from_bits(*got).is_nan() && f64::from_bits(*expected).is_nan();
                    assert!(
                        got == expected || both_nan,
                        "{level:?}: {got:x} {expected:x}"
                    );
                }
            }
        }
    }

    fn product_and_sum<A: Arithmetic>(a: f64, c: f64) -> Lane {
        A::V::splat(a)
            .mul_add(A::V::splat(a), A::V::splat(c))
            .lane()
    }

    #[test]
    fn sums_of_products_are_rounded_by_class() {
        let (a, rest) = (1.0 + 0.5_f64.powi(30), 1.0 + 0.5_f64.powi(29));
        for level in SimdLevel::available() {
            let got = at_level!(level, A => product_and_sum::<A>(a, -rest));
            let expected = at_level!(level, A => A::mul_add(a, a, -rest));
            assert_eq!(got, [expected; LANES], "{level:?}");
        }
    }

    #[test]
    fn lanes_start_cache_lines() {
        let mut numbers = vec![0.0; 5 * LANES];
        for first in 0..LANES {
            let lanes = aligned(&mut numbers[first..]);
            assert!(lanes.len() >= 3);
            assert_eq!(lanes.as_ptr().align_offset(LINE), 0);
        }
        assert!(aligned(&mut []).is_empty());
    }
}
