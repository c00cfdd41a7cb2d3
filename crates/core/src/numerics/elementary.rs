//! Elementary functions of eight numbers at a time, by arithmetic that compilers make vector instructions of.

use super::arithmetic::Arithmetic;

/// Numbers handled together.
pub const LANES: usize = 8;
/// One number for each of [`LANES`] rows.
pub type Lane = [f64; LANES];

/// The exponentials of this and of its negative are normal numbers.
const LARGEST_EXPONENT: f64 = 708.0;

/// exp(x) for x ≤ 0; below −708 it returns exp(−708) instead of a subnormal. Within 2.25 ulp.
#[inline(always)]
pub fn exp_negative<A: Arithmetic>(x: &Lane) -> Lane {
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] > -LARGEST_EXPONENT {
            x[k]
        } else {
            -LARGEST_EXPONENT
        };
        out[k] = exp_of_moderate::<A>(x);
    }
    out
}

/// exp(x); beyond ±708 that of ±708, so that it is never infinite. Within 2.25 ulp.
#[inline(always)]
pub fn exp<A: Arithmetic>(x: &Lane) -> Lane {
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] > -LARGEST_EXPONENT {
            x[k]
        } else {
            -LARGEST_EXPONENT
        };
        out[k] = exp_of_moderate::<A>(if x < LARGEST_EXPONENT {
            x
        } else {
            LARGEST_EXPONENT
        });
    }
    out
}

/// exp(x) for |x| ≤ [`LARGEST_EXPONENT`].
#[inline(always)]
fn exp_of_moderate<A: Arithmetic>(x: f64) -> f64 {
    // 1.5·2^52: adding it rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Taylor coefficients 1/0!, …, 1/13!: the remainder on |r| ≤ ln(2)/2 is below 1e-17.
    const COEFFICIENTS: [f64; 14] = [
        1.0,
        1.0,
        0.5,
        1.666_666_666_666_666_6e-1,
        4.166_666_666_666_666_4e-2,
        8.333_333_333_333_333e-3,
        1.388_888_888_888_889e-3,
        1.984_126_984_126_984e-4,
        2.480_158_730_158_73e-5,
        2.755_731_922_398_589_3e-6,
        2.755_731_922_398_589e-7,
        2.505_210_838_544_172e-8,
        2.087_675_698_786_809_8e-9,
        1.605_904_383_682_161_3e-10,
    ];
    let shifted = A::mul_add(x, std::f64::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    let rest = A::mul_add(-whole, LN_2_LOW, A::mul_add(-whole, LN_2_HIGH, x));
    // Estrin's scheme: pairs, fours, eights. A chain of thirteen steps would wait for each of them.
    let pair = |i: usize| A::mul_add(COEFFICIENTS[i + 1], rest, COEFFICIENTS[i]);
    let rest_2 = rest * rest;
    let rest_4 = rest_2 * rest_2;
    let low = A::mul_add(
        A::mul_add(pair(6), rest_2, pair(4)),
        rest_4,
        A::mul_add(pair(2), rest_2, pair(0)),
    );
    let high = A::mul_add(pair(12), rest_4, A::mul_add(pair(10), rest_2, pair(8)));
    let sum = A::mul_add(high, rest_4 * rest_4, low);
    // The exponent field moves by `whole`; the result stays a normal number for |x| ≤ 708.
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

#[cfg(test)]
mod tests;
