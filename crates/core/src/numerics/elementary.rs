//! Elementary functions of eight numbers at a time, by arithmetic that compilers make vector instructions of.

use super::arithmetic::Arithmetic;

/// Numbers handled together.
pub const LANES: usize = 8;
/// One number for each of [`LANES`] rows.
pub type Lane = [f64; LANES];

/// The exponentials of this and of its negative are normal numbers.
const LARGEST_EXPONENT: f64 = 708.0;

/// ln 2 in two parts, the first of which has so few digits that small multiples of it are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// exp(x) for x ≤ 0; below −708 it returns exp(−708) instead of a subnormal. Within 1.02 ulp.
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

/// exp(x); beyond ±708 that of ±708, so that it is never infinite. Within 1.02 ulp.
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
    // Taylor coefficients 1/2!, …, 1/13!: the remainder on |r| ≤ ln(2)/2 is below 1e-17.
    const COEFFICIENTS: [f64; 12] = [
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
    // Estrin's scheme: pairs, fours, eights. A chain of twelve steps would wait for each of them.
    let pair = |i: usize| A::mul_add(COEFFICIENTS[i + 1], rest, COEFFICIENTS[i]);
    let rest_2 = rest * rest;
    let rest_4 = rest_2 * rest_2;
    let low = A::mul_add(pair(2), rest_2, pair(0));
    let middle = A::mul_add(pair(6), rest_2, pair(4));
    let high = A::mul_add(pair(10), rest_2, pair(8));
    let curved = A::mul_add(A::mul_add(high, rest_4, middle), rest_4, low);
    // 1 is added last, so that the roundings of all else are of less than half the result.
    let sum = 1.0 + A::mul_add(curved, rest_2, rest);
    // The exponent field moves by `whole`; the result stays a normal number for |x| ≤ 708.
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// ln(1 + x) for x ≥ 0; above 1e300 that of 1e300. Within 1.5 ulp.
#[inline(always)]
pub fn ln_1p<A: Arithmetic>(x: &Lane) -> Lane {
    /// Beyond it 2^-k below would be no normal number.
    const LARGEST: f64 = 1e300;
    /// Bits of a number's mantissa.
    const MANTISSA: u32 = 52;
    /// Bits of 1 less those of √½: the mantissa then lies between √½ and √2.
    const UP_TO_ONE: u64 = 1.0_f64.to_bits() - std::f64::consts::FRAC_1_SQRT_2.to_bits();
    /// 2^52, whose last bits are a whole number.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    const BIAS: u64 = 1023;
    /// 2/3, 2/5, …, 2/21: the rest of the series of 2 atanh(s)/s for |s| ≤ 0.172 is below 1e-18.
    const COEFFICIENTS: [f64; 10] = [
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
    ];
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] < LARGEST { x[k] } else { LARGEST };
        // 1 + x = sum + lost exactly (Knuth).
        let sum = 1.0 + x;
        let of_x = sum - 1.0;
        let lost = (1.0 - (sum - of_x)) + (x - of_x);
        // sum = 2^e m.
        let bits = sum.to_bits() + UP_TO_ONE;
        let biased = bits >> MANTISSA;
        let exponent = f64::from_bits(biased | WHOLE.to_bits()) - (WHOLE + BIAS as f64);
        let mantissa = f64::from_bits(sum.to_bits() - ((biased - BIAS) << MANTISSA));
        let shrink = f64::from_bits((2 * BIAS - biased) << MANTISSA);
        let f = A::mul_add(lost, shrink, mantissa - 1.0);
        // ln(1 + f) = 2 atanh(s) = f − s (f − R) with s = f/(2 + f), R = 2/3 s² + 2/5 s⁴ + …
        let s = f / (2.0 + f);
        let s_2 = s * s;
        let s_4 = s_2 * s_2;
        let pair = |i: usize| A::mul_add(COEFFICIENTS[i + 1], s_2, COEFFICIENTS[i]);
        let low = A::mul_add(pair(2), s_4, pair(0));
        let high = A::mul_add(A::mul_add(pair(8), s_4, pair(6)), s_4, pair(4));
        let r = s_2 * A::mul_add(high, s_4 * s_4, low);
        let bent = A::mul_add(s, f - r, -(exponent * LN_2_LOW));
        out[k] = A::mul_add(exponent, LN_2_HIGH, f - bent);
    }
    out
}

#[cfg(test)]
mod tests;
