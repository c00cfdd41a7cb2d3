//! The elementary functions against sums of two numbers, about 31 digits, on dense grids, in both classes of arithmetic.

use super::*;
use crate::families::bernoulli::SignedBernoulli;
use crate::families::rows::RowFamily;
use crate::numerics::arithmetic::{Class, SimdLevel, at_level};
use proptest::prelude::*;

/// Largest error of an exponential in units of the last place, in both classes: three million points had 1.0001.
const MOST_ULPS: f64 = 1.02;
/// Largest error of a logarithm.
const MOST_ULPS_OF_LOGARITHMS: f64 = 1.5;
/// Largest error of ln(1 + exp(x)): that of the exponential, and that of the logarithm.
const MOST_ULPS_OF_SOFTPLUS: f64 = 3.0;
/// Largest error of 1/(1 + exp(z)): a sum and a division round once more each.
const MOST_ULPS_OF_CHANCES: f64 = 3.0;
/// Largest error of log p in units of 2^-52 max(1, |log p|).
const MOST_OF_LOGARITHMS: f64 = 2.25;

/// A number as an unevaluated sum of two, the second of which is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
struct Wide(f64, f64);

/// The sum and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> Wide {
    let sum = a + b;
    let of_b = sum - a;
    Wide(sum, (a - (sum - of_b)) + (b - of_b))
}

impl Wide {
    const ONE: Self = Self(1.0, 0.0);
    /// log 2: its digits beyond those of the first number are the second.
    const LN_2: Self = Self(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);

    fn plus(self, other: Self) -> Self {
        let Self(high, low) = two_sum(self.0, other.0);
        two_sum(high, low + self.1 + other.1)
    }

    fn times(self, other: Self) -> Self {
        let high = self.0 * other.0;
        let low = self.0.mul_add(other.0, -high);
        two_sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }

    fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self.plus(other.times(Self(-first, 0.0)));
        let second = rest.0 / other.0;
        let rest = rest.plus(other.times(Self(-second, 0.0)));
        two_sum(first, second).plus(Self(rest.0 / other.0, 0.0))
    }

    /// By its power series at x/1024, less the power of two that is nearest, squared ten times.
    fn exp(x: f64) -> Self {
        const HALVINGS: i32 = 10;
        let whole = (x / std::f64::consts::LN_2).round();
        let rest = Self(x, 0.0).plus(Self::LN_2.times(Self(-whole, 0.0)));
        let scale = 0.5_f64.powi(HALVINGS);
        let small = Self(rest.0 * scale, rest.1 * scale);
        // exp(x) − 1, which keeps its digits when it is squared: (1 + s)² − 1 = 2s + s².
        let (mut sum, mut term) = (Self(0.0, 0.0), Self::ONE);
        for n in 1..16 {
            term = term.times(small).over(Self(f64::from(n), 0.0));
            sum = sum.plus(term);
        }
        for _ in 0..HALVINGS {
            sum = sum.plus(sum).plus(sum.times(sum));
        }
        // In two steps, because 2^1023 is the largest power that there is.
        let scale = 2.0_f64.powi(whole as i32 / 2);
        let rest = 2.0_f64.powi(whole as i32 - whole as i32 / 2);
        let sum = sum.plus(Self::ONE);
        Self(sum.0 * scale * rest, sum.1 * scale * rest)
    }

    /// The distance of `got` in units of the last place of this.
    fn ulps(self, got: f64) -> f64 {
        let place = f64::from_bits(self.0.abs().to_bits() + 1) - self.0.abs();
        (((got - self.0) - self.1) / place).abs()
    }
}

/// The widest level of each class that this machine has.
fn levels() -> Vec<SimdLevel> {
    let all = SimdLevel::available();
    let of = |class| all.iter().rfind(|level| level.class() == class).copied();
    Class::ALL.into_iter().filter_map(of).collect()
}

/// Points from `first` to `last`, as dense as `count` says, none of which is a round number.
fn grid(first: f64, last: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    (0..count).map(move |i| first + (last - first) * ((f64::from(i) + 0.37) / f64::from(count)))
}

/// The largest error of `function` at these points, in units of the last place.
fn worst(
    function: impl Fn(SimdLevel, f64) -> f64,
    exact: impl Fn(f64) -> Wide,
    points: &(impl Iterator<Item = f64> + Clone),
) -> f64 {
    let mut worst = 0.0_f64;
    for level in levels() {
        for x in points.clone() {
            worst = worst.max(exact(x).ulps(function(level, x)));
        }
    }
    worst
}

fn exp_at(level: SimdLevel, x: f64) -> f64 {
    at_level!(level, A => exp::<A>(&[x; LANES]))[5]
}

fn exp_negative_at(level: SimdLevel, x: f64) -> f64 {
    at_level!(level, A => exp_negative::<A>(&[x; LANES]))[3]
}

/// 1/(1 + exp(z)).
fn residual_at(level: SimdLevel, z: f64) -> f64 {
    at_level!(level, A => SignedBernoulli::terms::<A, true>(&[z; LANES], [&[0.0; LANES]; 4], &()))
        .residual[2]
}

/// The error of log p(z) = −log(1 + exp(−z)), which is what its exponential is off by.
fn log_error(level: SimdLevel, z: f64) -> f64 {
    let terms = at_level!(level, A => {
        SignedBernoulli::terms::<A, true>(&[z; LANES], [&[0.0; LANES]; 4], &())
    });
    let got = terms.sum[1] - terms.factor[1].ln();
    let ratio = Wide::exp(got).over(exact_residual(-z));
    let off = (ratio.0 - 1.0) + ratio.1;
    off.abs() / (f64::EPSILON * got.abs().max(1.0))
}

fn ln_1p_at(level: SimdLevel, x: f64) -> f64 {
    at_level!(level, A => ln_1p::<A>(&[x; LANES]))[6]
}

/// The error of ln(1 + x) in units of the last place.
fn ln_1p_error(level: SimdLevel, x: f64) -> f64 {
    let got = ln_1p_at(level, x);
    let wide = |x: f64| Wide(x, 0.0);
    if x < 1e-5 {
        // x − x²/2 + x³/3 − x⁴/4, by Horner's scheme.
        let terms = [-4.0, 3.0, -2.0].map(|n| wide(1.0).over(wide(n)));
        let sum = terms
            .into_iter()
            .fold(wide(0.0), |sum, term| sum.plus(term).times(wide(x)));
        return sum.plus(Wide::ONE).times(wide(x)).ulps(got);
    }
    // What its exponential is off by, as a share, is what it is off by itself.
    let ratio = Wide::exp(got).over(two_sum(1.0, x));
    let off = (ratio.0 - 1.0) + ratio.1;
    off.abs() / (got.next_up() - got)
}

#[test]
fn logarithms_are_accurate() {
    let near_one = grid(0.0, 3.0, 30_000);
    let all = grid(-690.0, 690.0, 20_000).map(f64::exp);
    for level in levels() {
        for x in near_one.clone().chain(all.clone()) {
            let error = ln_1p_error(level, x);
            assert!(error < MOST_ULPS_OF_LOGARITHMS, "{level:?}, {x}: {error}");
        }
        assert_eq!(ln_1p_at(level, 0.0), 0.0);
        assert!((690.0..691.0).contains(&ln_1p_at(level, f64::INFINITY)));
    }
}

/// The error of ln(1 + exp(x)) in units of the last place.
fn softplus_error(level: SimdLevel, x: f64) -> f64 {
    let (got, _) = softplus_at(level, x);
    if x < -40.0 {
        // exp(x)²/2 and what follows is less than a hundredth of a unit.
        return Wide::exp(x).ulps(got);
    }
    let ratio = Wide::exp(got).over(Wide::exp(x).plus(Wide::ONE));
    let off = (ratio.0 - 1.0) + ratio.1;
    off.abs() / (got.next_up() - got)
}

fn softplus_at(level: SimdLevel, x: f64) -> (f64, f64) {
    at_level!(level, A => {
        let (log, exponential) = softplus_of(<A as Arithmetic>::V::load(&[x; LANES]));
        (log.lane()[4], exponential.lane()[4])
    })
}

#[test]
fn logarithms_of_one_and_an_exponential_are_accurate() {
    let everywhere = || grid(-700.0, 700.0, 20_000).chain(grid(-40.0, 40.0, 20_000));
    for level in levels() {
        for x in everywhere() {
            let error = softplus_error(level, x);
            assert!(error < MOST_ULPS_OF_SOFTPLUS, "{level:?}, {x}: {error}");
            let (_, exponential) = softplus_at(level, x);
            assert_eq!(exponential, exp_at(level, x.min(300.0)), "{level:?}, {x}");
        }
        // Far out it is its argument; products with the exponential are finite.
        assert_eq!(softplus_at(level, 1e9).0, 1e9);
        assert!(softplus_at(level, 1e9).1 < 1e131);
    }
}

fn exact_residual(z: f64) -> Wide {
    Wide::ONE.over(Wide::exp(z).plus(Wide::ONE))
}

#[test]
fn the_reference_is_exact() {
    // e, 1/e and e^100 to 35 digits.
    let near = |Wide(a, b): Wide, Wide(c, d): Wide| ((a - c) + (b - d)).abs() < 1e-29 * c;
    let e = Wide(std::f64::consts::E, 1.445_646_891_729_250_2e-16);
    assert!(near(Wide::exp(1.0), e));
    assert!(near(Wide::exp(-1.0), Wide::ONE.over(e)));
    let ten = (0..9).fold(e, |power, _| power.times(e));
    assert!(near(Wide::exp(10.0), ten));
}

#[test]
fn exponentials_are_accurate() {
    let everywhere = || grid(-708.0, 708.0, 30_000).chain(grid(-2.0, 2.0, 10_000));
    let error = worst(exp_at, Wide::exp, &everywhere());
    assert!(error < MOST_ULPS, "{error}");
    let below = everywhere().filter(|x| *x <= 0.0);
    let error = worst(exp_negative_at, Wide::exp, &below);
    assert!(error < MOST_ULPS, "{error}");
    for level in levels() {
        assert_eq!(exp_at(level, 0.0), 1.0);
        assert_eq!(exp_negative_at(level, 0.0), 1.0);
        assert!((1e-308..1e-300).contains(&exp_negative_at(level, -1e4)));
        assert!((1e300..f64::MAX).contains(&exp_at(level, 1e4)));
    }
}

#[test]
fn chances_and_their_logarithms_are_accurate() {
    let points = || grid(-700.0, 700.0, 20_000).chain(grid(-40.0, 40.0, 20_000));
    let error = worst(residual_at, exact_residual, &points());
    assert!(error < MOST_ULPS_OF_CHANCES, "{error}");
    for level in levels() {
        for z in points() {
            let error = log_error(level, z);
            assert!(error < MOST_OF_LOGARITHMS, "{level:?}, {z}: {error}");
        }
    }
}

proptest! {
    #[test]
    fn functions_are_accurate_anywhere(x in -700.0..700.0_f64, tiny in -1e-3..1e-3_f64) {
        for level in levels() {
            for x in [x, tiny, tiny * 1e-9] {
                prop_assert!(Wide::exp(x).ulps(exp_at(level, x)) < MOST_ULPS);
                prop_assert!(Wide::exp(-x.abs()).ulps(exp_negative_at(level, -x.abs())) < MOST_ULPS);
                prop_assert!(exact_residual(x).ulps(residual_at(level, x)) < MOST_ULPS_OF_CHANCES);
                prop_assert!(log_error(level, x) < MOST_OF_LOGARITHMS);
                prop_assert!(softplus_error(level, x) < MOST_ULPS_OF_SOFTPLUS);
                prop_assert!(ln_1p_error(level, x.abs()) < MOST_ULPS_OF_LOGARITHMS);
                prop_assert!(ln_1p_error(level, x.min(690.0).exp()) < MOST_ULPS_OF_LOGARITHMS);
            }
        }
    }
}
