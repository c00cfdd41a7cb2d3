//! Vectors of AVX2 with fused multiply-add, and of AVX-512.

#![expect(
    unsafe_code,
    reason = "instructions of processors that were detected: only a row loop of a detected level names these types"
)]

use std::arch::x86_64::*;
use std::ops::{Add, BitOr, Div, Mul, Neg, Sub};

use super::super::elementary::{LANES, Lane};
use super::{Bits, MANTISSA, Vector};

/// Eight numbers in one register of AVX-512.
#[derive(Clone, Copy, Debug)]
pub struct Whole(__m512d);

/// The bits of [`Whole`].
#[derive(Clone, Copy, Debug)]
pub struct WholeBits(__m512i);

/// Eight numbers in two registers of AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Halves(__m256d, __m256d);

/// The bits of [`Halves`].
#[derive(Clone, Copy, Debug)]
pub struct HalvesBits(__m256i, __m256i);

/// Operators that are one instruction a register.
macro_rules! operators {
    ($($trait:ident $method:ident: $vector:ident $whole:ident, $pair:ident $half:ident;)*) => {$(
        impl $trait for $vector {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the level was detected.
                unsafe { Self($whole(self.0, other.0)) }
            }
        }

        impl $trait for $pair {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the level was detected.
                unsafe { Self($half(self.0, other.0), $half(self.1, other.1)) }
            }
        }
    )*};
}

operators! {
    Add add: Whole _mm512_add_pd, Halves _mm256_add_pd;
    Sub sub: Whole _mm512_sub_pd, Halves _mm256_sub_pd;
    Mul mul: Whole _mm512_mul_pd, Halves _mm256_mul_pd;
    Div div: Whole _mm512_div_pd, Halves _mm256_div_pd;
    Add add: WholeBits _mm512_add_epi64, HalvesBits _mm256_add_epi64;
    Sub sub: WholeBits _mm512_sub_epi64, HalvesBits _mm256_sub_epi64;
    BitOr bitor: WholeBits _mm512_or_si512, HalvesBits _mm256_or_si256;
}

impl Neg for Whole {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_xor_pd(self.0, _mm512_set1_pd(-0.0))) }
    }
}

impl Vector for Whole {
    type Bits = WholeBits;

    #[inline(always)]
    fn load(lane: &Lane) -> Self {
        // SAFETY: the level was detected; a lane has eight numbers.
        unsafe { Self(_mm512_loadu_pd(lane.as_ptr())) }
    }

    #[inline(always)]
    fn lane(self) -> Lane {
        let mut lane = [0.0; LANES];
        // SAFETY: the level was detected; a lane has eight numbers.
        unsafe { _mm512_storeu_pd(lane.as_mut_ptr(), self.0) };
        lane
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_set1_pd(x)) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_fmadd_pd(self.0, b.0, c.0)) }
    }

    #[inline(always)]
    fn where_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        // SAFETY: the level was detected.
        unsafe {
            let less = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0);
            Self(_mm512_mask_blend_pd(less, otherwise.0, then.0))
        }
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: the level was detected. The second is the result where they are equal or one is NaN.
        unsafe { Self(_mm512_min_pd(self.0, other.0)) }
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: the level was detected. The second is the result where they are equal or one is NaN.
        unsafe { Self(_mm512_max_pd(self.0, other.0)) }
    }

    #[inline(always)]
    fn bits(self) -> WholeBits {
        // SAFETY: the level was detected.
        unsafe { WholeBits(_mm512_castpd_si512(self.0)) }
    }

    #[inline(always)]
    fn of_bits(bits: WholeBits) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_castsi512_pd(bits.0)) }
    }
}

impl Bits for WholeBits {
    #[inline(always)]
    fn splat(x: u64) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_set1_epi64(x.cast_signed())) }
    }

    #[inline(always)]
    fn words(self) -> [u64; LANES] {
        let mut words = [0; LANES];
        // SAFETY: the level was detected; there are eight words.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn raised(self) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_slli_epi64::<MANTISSA>(self.0)) }
    }

    #[inline(always)]
    fn lowered(self) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm512_srli_epi64::<MANTISSA>(self.0)) }
    }
}

impl Neg for Halves {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: the level was detected.
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            Self(_mm256_xor_pd(self.0, sign), _mm256_xor_pd(self.1, sign))
        }
    }
}

impl Vector for Halves {
    type Bits = HalvesBits;

    #[inline(always)]
    fn load(lane: &Lane) -> Self {
        let (low, high) = lane.split_at(LANES / 2);
        // SAFETY: the level was detected; half a lane has four numbers.
        unsafe {
            Self(
                _mm256_loadu_pd(low.as_ptr()),
                _mm256_loadu_pd(high.as_ptr()),
            )
        }
    }

    #[inline(always)]
    fn lane(self) -> Lane {
        let mut lane = [0.0; LANES];
        let (low, high) = lane.split_at_mut(LANES / 2);
        // SAFETY: the level was detected; half a lane has four numbers.
        unsafe {
            _mm256_storeu_pd(low.as_mut_ptr(), self.0);
            _mm256_storeu_pd(high.as_mut_ptr(), self.1);
        }
        lane
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm256_set1_pd(x), _mm256_set1_pd(x)) }
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the level was detected.
        unsafe {
            Self(
                _mm256_fmadd_pd(self.0, b.0, c.0),
                _mm256_fmadd_pd(self.1, b.1, c.1),
            )
        }
    }

    #[inline(always)]
    fn where_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        // SAFETY: the level was detected.
        unsafe {
            let low = _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0);
            let high = _mm256_cmp_pd::<_CMP_LT_OQ>(self.1, other.1);
            Self(
                _mm256_blendv_pd(otherwise.0, then.0, low),
                _mm256_blendv_pd(otherwise.1, then.1, high),
            )
        }
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: as of `Whole`.
        unsafe {
            Self(
                _mm256_min_pd(self.0, other.0),
                _mm256_min_pd(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: as of `Whole`.
        unsafe {
            Self(
                _mm256_max_pd(self.0, other.0),
                _mm256_max_pd(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn bits(self) -> HalvesBits {
        // SAFETY: the level was detected.
        unsafe { HalvesBits(_mm256_castpd_si256(self.0), _mm256_castpd_si256(self.1)) }
    }

    #[inline(always)]
    fn of_bits(bits: HalvesBits) -> Self {
        // SAFETY: the level was detected.
        unsafe { Self(_mm256_castsi256_pd(bits.0), _mm256_castsi256_pd(bits.1)) }
    }
}

impl Bits for HalvesBits {
    #[inline(always)]
    fn splat(x: u64) -> Self {
        // SAFETY: the level was detected.
        unsafe {
            let half = _mm256_set1_epi64x(x.cast_signed());
            Self(half, half)
        }
    }

    #[inline(always)]
    fn words(self) -> [u64; LANES] {
        let mut words = [0; LANES];
        let (low, high) = words.split_at_mut(LANES / 2);
        // SAFETY: the level was detected; half of them are four words.
        unsafe {
            _mm256_storeu_si256(low.as_mut_ptr().cast(), self.0);
            _mm256_storeu_si256(high.as_mut_ptr().cast(), self.1);
        }
        words
    }

    #[inline(always)]
    fn raised(self) -> Self {
        const BITS: i32 = MANTISSA as i32;
        // SAFETY: the level was detected.
        unsafe {
            Self(
                _mm256_slli_epi64::<BITS>(self.0),
                _mm256_slli_epi64::<BITS>(self.1),
            )
        }
    }

    #[inline(always)]
    fn lowered(self) -> Self {
        const BITS: i32 = MANTISSA as i32;
        // SAFETY: the level was detected.
        unsafe {
            Self(
                _mm256_srli_epi64::<BITS>(self.0),
                _mm256_srli_epi64::<BITS>(self.1),
            )
        }
    }
}
