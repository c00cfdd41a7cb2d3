//! Elementary functions of eight numbers at a time.

use super::arithmetic::Arithmetic;
use super::vector::{Bits as _, Vector};

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
    exp_negative_of(A::V::load(x)).lane()
}

/// exp(x); beyond ±708 that of ±708, so that it is never infinite. Within 1.02 ulp.
#[inline(always)]
pub fn exp<A: Arithmetic>(x: &Lane) -> Lane {
    exp_of(A::V::load(x)).lane()
}

/// ln(1 + x) for x ≥ 0; above 1e300 that of 1e300. Within 1.5 ulp.
#[inline(always)]
pub fn ln_1p<A: Arithmetic>(x: &Lane) -> Lane {
    ln_1p_of(A::V::load(x)).lane()
}

/// See [`exp_negative`].
#[inline(always)]
pub fn exp_negative_of<V: Vector>(x: V) -> V {
    let least = V::splat(-LARGEST_EXPONENT);
    exp_of_moderate(x.larger(least))
}

/// See [`exp`].
#[inline(always)]
pub fn exp_of<V: Vector>(x: V) -> V {
    let [least, most] = [-LARGEST_EXPONENT, LARGEST_EXPONENT].map(V::splat);
    exp_of_moderate(x.larger(least).smaller(most))
}

/// ln(1 + exp(x)), within 3 ulp, and exp(x), which for x above 300 is that of 300: products with it are finite.
#[inline(always)]
pub fn softplus_of<V: Vector>(x: V) -> (V, V) {
    /// ln(1 + exp(x)) is x to all digits long before it.
    const MOST: f64 = 300.0;
    let [least, most] = [-LARGEST_EXPONENT, MOST].map(V::splat);
    let e = exp_of_moderate(x.larger(least).smaller(most));
    (ln_1p_of_moderate(e).larger(x), e)
}

/// exp(x) for |x| ≤ [`LARGEST_EXPONENT`].
#[inline(always)]
fn exp_of_moderate<V: Vector>(x: V) -> V {
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
    let number = V::splat;
    let shifted = x.mul_add(number(std::f64::consts::LOG2_E), number(ROUND));
    let whole = -(shifted - number(ROUND));
    let rest = whole.mul_add(number(LN_2_LOW), whole.mul_add(number(LN_2_HIGH), x));
    // Estrin's scheme: pairs, fours, eights. A chain of twelve steps would wait for each of them.
    let pair = |i: usize| number(COEFFICIENTS[i + 1]).mul_add(rest, number(COEFFICIENTS[i]));
    let rest_2 = rest * rest;
    let rest_4 = rest_2 * rest_2;
    let low = pair(2).mul_add(rest_2, pair(0));
    let middle = pair(6).mul_add(rest_2, pair(4));
    let high = pair(10).mul_add(rest_2, pair(8));
    let curved = high.mul_add(rest_4, middle).mul_add(rest_4, low);
    // 1 is added last, so that the roundings of all else are of less than half the result.
    let sum = number(1.0) + curved.mul_add(rest_2, rest);
    // The exponent field moves by `whole`; the result stays a normal number for |x| ≤ 708.
    V::of_bits(sum.bits() + shifted.bits().raised())
}

/// 2^52, whose last bits are a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// What is added to exponents in the bits of a number.
const BIAS: u64 = 1023;

/// e and m of normal positive numbers 2^e m with 1 ≤ m < 2.
#[inline(always)]
pub fn split<V: Vector>(x: V) -> (V, V) {
    let word = V::Bits::splat;
    let biased = x.bits().lowered();
    let mantissa = x.bits() - (biased - word(BIAS)).raised();
    (exponent_of(biased), V::of_bits(mantissa))
}

/// The number e of e + [`BIAS`].
#[inline(always)]
fn exponent_of<V: Vector>(biased: V::Bits) -> V {
    V::of_bits(biased | V::Bits::splat(WHOLE.to_bits())) - V::splat(WHOLE + BIAS as f64)
}

/// See [`ln_1p`].
#[inline(always)]
pub fn ln_1p_of<V: Vector>(x: V) -> V {
    /// Beyond it 2^-k below would be no normal number.
    const LARGEST: f64 = 1e300;
    ln_1p_of_moderate(x.smaller(V::splat(LARGEST)))
}

/// ln(1 + x) for 0 ≤ x ≤ 1e300.
#[inline(always)]
fn ln_1p_of_moderate<V: Vector>(x: V) -> V {
    /// Bits of 1 less those of √½: the mantissa then lies between √½ and √2.
    const UP_TO_ONE: u64 = 1.0_f64.to_bits() - std::f64::consts::FRAC_1_SQRT_2.to_bits();
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
    let (number, word) = (V::splat, V::Bits::splat);
    let one = number(1.0);
    // 1 + x = sum + lost exactly (Dekker).
    let sum = one + x;
    let lost = x.smaller(one) - (sum - x.larger(one));
    // sum = 2^e m.
    let biased = (sum.bits() + word(UP_TO_ONE)).lowered();
    let exponent = exponent_of::<V>(biased);
    let mantissa = V::of_bits(sum.bits() - (biased - word(BIAS)).raised());
    let shrink = V::of_bits((word(2 * BIAS) - biased).raised());
    let f = lost.mul_add(shrink, mantissa - one);
    // ln(1 + f) = 2 atanh(s) = f − s (f − R) with s = f/(2 + f), R = 2/3 s² + 2/5 s⁴ + …
    let s = f / (number(2.0) + f);
    let s_2 = s * s;
    let s_4 = s_2 * s_2;
    let pair = |i: usize| number(COEFFICIENTS[i + 1]).mul_add(s_2, number(COEFFICIENTS[i]));
    let low = pair(2).mul_add(s_4, pair(0));
    let high = pair(8).mul_add(s_4, pair(6)).mul_add(s_4, pair(4));
    let r = s_2 * high.mul_add(s_4 * s_4, low);
    let bent = s.mul_add(f - r, -(exponent * number(LN_2_LOW)));
    exponent.mul_add(number(LN_2_HIGH), f - bent)
}

#[cfg(test)]
mod tests;
