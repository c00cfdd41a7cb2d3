//! Special functions that crates lack in the form needed here: the logistic function and its logarithm without overflow,
//! the normal distribution function with both tails, the complementary error function without its exponential factor, differences of the gamma function's logarithm and of its derivatives, which lose no digits where the functions themselves
//! are large.

/// Steps of the recurrence Γ(x + 1) = x Γ(x) before Stirling's series is used: at 10 and above the terms below leave an
/// error of less than 1e-15.
const SHIFT: usize = 10;

/// The logistic function 1/(1 + e^−x), without overflow.
#[inline]
pub fn logistic(x: f64) -> f64 {
    logistic_with(x, (-x.abs()).exp())
}

/// The logistic function at x from e = exp(−|x|), for loops that have computed that already.
#[inline(always)]
pub fn logistic_with(x: f64, e: f64) -> f64 {
    let numerator = if x >= 0.0 { 1.0 } else { e };
    numerator / (1.0 + e)
}

/// The logarithm of [`logistic`].
#[inline]
pub fn log_logistic(x: f64) -> f64 {
    -softplus(-x)
}

/// ln(1 + e^x), without overflow.
#[inline]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// ln(e^a + e^b), without overflow; −∞ stands for nothing.
#[inline]
pub fn log_sum_exp(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

/// ln Γ(a + y) − ln Γ(a) for a > 0 and y ≥ 0.
#[inline]
pub fn ln_gamma_difference(a: f64, y: f64) -> f64 {
    // The tail of Stirling's series, B_2k/(2k (2k − 1) x^(2k − 1)).
    let tail = |x: f64| {
        let r = 1.0 / x;
        let q = r * r;
        r * (1.0 / 12.0
            - q * (1.0 / 360.0
                - q * (1.0 / 1260.0
                    - q * (1.0 / 1680.0 - q * (1.0 / 1188.0 - q * (691.0 / 360_360.0))))))
    };
    let mut ratio = 1.0;
    for k in 0..SHIFT {
        let k = k as f64;
        ratio *= (a + k) / (a + y + k);
    }
    let (low, high) = (a + SHIFT as f64, a + y + SHIFT as f64);
    (low - 0.5) * (y / low).ln_1p() + y * high.ln() - y + (tail(high) - tail(low)) + ratio.ln()
}

/// ψ(a + y) − ψ(a) for a > 0 and y ≥ 0, ψ being the derivative of ln Γ.
#[inline]
pub fn digamma_difference(a: f64, y: f64) -> f64 {
    // 1/(2x) + Σ B_2k/(2k x^2k), the negative of what ψ has besides the logarithm.
    let tail = |x: f64| {
        let r = 1.0 / x;
        let q = r * r;
        0.5 * r
            + q * (1.0 / 12.0
                - q * (1.0 / 120.0
                    - q * (1.0 / 252.0
                        - q * (1.0 / 240.0 - q * (1.0 / 132.0 - q * (691.0 / 32_760.0))))))
    };
    let mut sum = 0.0;
    for k in 0..SHIFT {
        let k = k as f64;
        sum += y / ((a + k) * (a + y + k));
    }
    let (low, high) = (a + SHIFT as f64, a + y + SHIFT as f64);
    (y / low).ln_1p() - (tail(high) - tail(low)) + sum
}

/// ψ'(a + y) − ψ'(a) for a > 0 and y ≥ 0.
#[inline]
pub fn trigamma_difference(a: f64, y: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..SHIFT {
        let k = k as f64;
        let (below, above) = (a + k, a + y + k);
        // 1/above² − 1/below² without cancellation.
        sum -= y * (below + above) / (below * below * above * above);
    }
    let (low, high) = (a + SHIFT as f64, a + y + SHIFT as f64);
    -y / (low * high) + (trigamma_tail(high) - trigamma_tail(low)) + sum
}

/// ψ'(a) for a > 0.
pub fn trigamma(a: f64) -> f64 {
    let high = a + SHIFT as f64;
    let below: f64 = (0..SHIFT).map(|k| (a + k as f64).powi(-2)).sum();
    1.0 / high + trigamma_tail(high) + below
}

/// e^(x²) erfc(x) for x ≥ 0, to all digits: quotients of polynomials up to 4 (Cody 1969, Mathematics of Computation 23), beyond it Laplace's
/// continued fraction.
pub fn scaled_erfc(x: f64) -> f64 {
    // From the constant on; both have the same degree in pairs.
    const NEAR: [[f64; 5]; 2] = [
        [
            3_209.377_589_138_469_4,
            377.485_237_685_302,
            113.864_154_151_050_16,
            3.161_123_743_870_565_5,
            0.185_777_706_184_603_15,
        ],
        [
            2_844.236_833_439_171,
            1_282.616_526_077_372_3,
            244.024_637_934_444_17,
            23.601_290_952_344_122,
            1.0,
        ],
    ];
    const FAR: [[f64; 9]; 2] = [
        [
            1_230.339_354_797_997_2,
            2_051.078_377_826_071_6,
            1_712.047_612_634_070_7,
            881.952_221_241_769,
            298.635_138_197_400_1,
            66.119_190_637_141_63,
            8.883_149_794_388_377,
            0.564_188_496_988_670_1,
            2.153_115_354_744_038_3e-8,
        ],
        [
            1_230.339_354_803_749_3,
            3_439.367_674_143_721_6,
            4_362.619_090_143_247,
            3_290.799_235_733_459_7,
            1_621.389_574_566_690_3,
            537.181_101_862_009_9,
            117.693_950_891_312_5,
            15.744_926_110_709_835,
            1.0,
        ],
    ];
    fn quotient<const N: usize>([above, below]: &[[f64; N]; 2], x: f64) -> f64 {
        let at = |terms: &[f64; N]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
        at(above) / at(below)
    }
    if x < 0.46875 {
        let square = x * x;
        return square.exp() * (1.0 - x * quotient(&NEAR, square));
    }
    if x > 4.0 {
        // From here on as many levels leave less than rounding.
        const LEVELS: usize = 30;
        let below = (1..=LEVELS)
            .rev()
            .fold(x, |below, k| x + 0.5 * k as f64 / below);
        return std::f64::consts::FRAC_2_SQRT_PI * 0.5 / below;
    }
    quotient(&FAR, x)
}

/// Φ(x), the probability below x of a standard normal variable; small ones keep their digits.
pub fn normal_cdf(x: f64) -> f64 {
    let beyond =
        0.5 * (-0.5 * x * x).exp() * scaled_erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
    if x > 0.0 { 1.0 - beyond } else { beyond }
}

/// ln Φ(x) and its derivative φ(x)/Φ(x), also where Φ(x) is too small for a number.
pub fn log_normal_cdf(x: f64) -> [f64; 2] {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2};
    let scaled = scaled_erfc(x.abs() * FRAC_1_SQRT_2);
    if x > 0.0 {
        let beyond = 0.5 * (-0.5 * x * x).exp() * scaled;
        let slope = 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * (-0.5 * x * x).exp() / (1.0 - beyond);
        return [(-beyond).ln_1p(), slope];
    }
    // Of x = −∞ nothing is left: its logarithm is −∞, its slope infinite.
    [
        -0.5 * x * x - LN_2 + scaled.ln(),
        FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / scaled,
    ]
}

/// ψ''(a) for a > 0.
pub fn tetragamma(a: f64) -> f64 {
    let high = a + SHIFT as f64;
    let below: f64 = (0..SHIFT).map(|k| (a + k as f64).powi(-3)).sum();
    // The derivative of Stirling's series.
    let r = 1.0 / high;
    let q = r * r;
    let tail = q
        * (1.0
            + r
            + q * (0.5
                - q * (1.0 / 6.0
                    - q * (1.0 / 6.0 - q * (0.3 - q * (5.0 / 6.0 - q * (691.0 / 210.0)))))));
    -tail - 2.0 * below
}

/// ψ'(x) − 1/x for large x.
#[inline]
fn trigamma_tail(x: f64) -> f64 {
    let r = 1.0 / x;
    let q = r * r;
    0.5 * q
        + r * q
            * (1.0 / 6.0
                - q * (1.0 / 30.0
                    - q * (1.0 / 42.0
                        - q * (1.0 / 30.0 - q * (5.0 / 66.0 - q * (691.0 / 2730.0))))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun (1964), 6.4.2 and 6.4.4: ψ''(1) = −2ζ(3), ψ''(½) = −14ζ(3); and slopes of ψ'.
    #[test]
    fn the_second_derivative_of_the_digamma_function_is_that_of_closed_forms() {
        const ZETA_3: f64 = 1.202_056_903_159_594_3;
        for (a, expected) in [
            (1.0, -2.0 * ZETA_3),
            (0.5, -14.0 * ZETA_3),
            (2.0, 2.0 - 2.0 * ZETA_3),
        ] {
            assert!((tetragamma(a) / expected - 1.0).abs() < 1e-14, "{a}");
        }
        for a in [0.03, 0.7, 4.0, 60.0, 5e4] {
            let h = 1e-3 * a;
            let central = |h: f64| (trigamma(a + h) - trigamma(a - h)) / (2.0 * h);
            let slope = (4.0 * central(h) - central(2.0 * h)) / 3.0;
            assert!((tetragamma(a) / slope - 1.0).abs() < 1e-10, "{a}");
        }
    }

    /// Sums of the recurrence, which are exact for whole y.
    fn by_recurrence(a: f64, y: u32) -> [f64; 3] {
        let mut out = [0.0; 3];
        for k in 0..y {
            let x = a + f64::from(k);
            out[0] += x.ln();
            out[1] += 1.0 / x;
            out[2] -= 1.0 / (x * x);
        }
        out
    }

    #[test]
    fn the_trigamma_function_has_its_known_values() {
        let squared = std::f64::consts::PI.powi(2);
        for (a, expected) in [
            (0.5, squared / 2.0),
            (1.0, squared / 6.0),
            (2.0, squared / 6.0 - 1.0),
        ] {
            assert!((trigamma(a) - expected).abs() < 1e-14 * expected, "{a}");
        }
        for a in [1e-3, 0.3, 40.0, 1e5] {
            let step = trigamma(a) - a.powi(-2) - trigamma(a + 1.0);
            assert!(step.abs() < 1e-14 * trigamma(a), "{a}: {step}");
        }
    }

    #[test]
    fn differences_are_those_of_the_recurrence() {
        for a in [1e-3, 0.3, 1.0, 2.5, 9.9, 40.0, 1e4, 1e9] {
            for y in [0, 1, 2, 7, 30, 500] {
                let expected = by_recurrence(a, y);
                let y = f64::from(y);
                let got = [
                    ln_gamma_difference(a, y),
                    digamma_difference(a, y),
                    trigamma_difference(a, y),
                ];
                for (got, expected) in got.iter().zip(expected) {
                    let scale = expected.abs().max(1e-300);
                    assert!(
                        (got - expected).abs() < 1e-13 * scale + 1e-15 * y,
                        "{a} {y}: {got} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_logistic_function_keeps_both_tails() {
        for x in [-40.0, -3.0, -1e-9, 0.0, 0.5, 7.0, 40.0] {
            let (p, q) = (logistic(x), logistic(-x));
            assert!((p + q - 1.0).abs() < 1e-15, "{x}");
            assert!(
                (log_logistic(x) - p.ln()).abs() < 1e-14 * p.ln().abs().max(1.0),
                "{x}"
            );
            assert!(
                (softplus(x) + q.ln()).abs() < 1e-14 * softplus(x).max(1.0),
                "{x}"
            );
            assert!(
                (log_sum_exp(x, 0.0) - softplus(x)).abs() < 1e-14 * (1.0 + x.abs()),
                "{x}"
            );
        }
        assert_eq!(logistic(-745.0), (-745.0_f64).exp());
        assert_eq!((logistic(800.0), logistic(-800.0)), (1.0, 0.0));
        assert_eq!(log_logistic(-1e300), -1e300);
        assert_eq!(softplus(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn log_sum_exp_keeps_the_extremes() {
        let nothing = f64::NEG_INFINITY;
        assert_eq!(log_sum_exp(nothing, nothing), nothing);
        assert_eq!(log_sum_exp(nothing, -3.0), -3.0);
        assert!((log_sum_exp(700.0, 700.0) - (700.0 + 2.0_f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn halves_agree_with_known_values() {
        // Γ(1/2) = √π; ψ(1) − ψ(1/2) = 2 ln 2; ψ'(1) − ψ'(1/2) = π²/6 − π²/2.
        let pi = std::f64::consts::PI;
        assert!((ln_gamma_difference(0.5, 0.5) + 0.5 * pi.ln()).abs() < 1e-15);
        assert!((digamma_difference(0.5, 0.5) - 2.0 * std::f64::consts::LN_2).abs() < 1e-15);
        assert!((trigamma_difference(0.5, 0.5) + pi * pi / 3.0).abs() < 1e-14);
    }

    /// The C library: `erfc(x) * exp(x * x)`.
    #[test]
    fn error_functions_have_all_digits() {
        for (x, expected) in [
            (0.0, 1.0),
            (0.1, 0.896_456_979_969_126_5),
            (0.46, 0.636_787_383_832_713),
            (0.47, 0.631_400_516_660_034_4),
            (1.0, 0.427_583_576_155_807),
            (2.0, 0.255_395_676_310_505_7),
            (3.0, 0.179_001_151_181_389_93),
            (4.0, 0.136_999_457_625_061_38),
            // Beyond, mpmath's with 50 digits.
            (4.25, 0.129_345_274_785_987_92),
            (5.5, 0.100_962_218_399_499_09),
            (8.0, 0.069_985_166_200_880_92),
            (30.0, 0.018_795_888_861_416_75),
            (1e6, 5.641_895_835_474_742e-7),
        ] {
            let found = scaled_erfc(x);
            assert!((found / expected - 1.0).abs() < 4e-15, "{x} {found}");
        }
    }
}
