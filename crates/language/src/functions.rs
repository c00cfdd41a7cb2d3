//! Functions of one number, with their derivatives: of single numbers, and of eight at a time for rows.

use ergodic_base::special::{log_normal_cdf, logistic, normal_cdf, scaled_erfc, softplus};
use ergodic_core::arithmetic::{Arithmetic, LANES, Lane, exp, exp_negative, ln_1p};
use statrs::function::gamma::{digamma, ln_gamma};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Exp,
    Log,
    Log1p,
    Expm1,
    Sqrt,
    Square,
    Abs,
    Logistic,
    Softplus,
    Sin,
    Cos,
    Tanh,
    Atan,
    Lgamma,
    /// No function of the language: which numbers are whole.
    Floor,
    Erf,
    Erfc,
    /// The normal distribution function Φ.
    Phi,
    /// The logarithm of Φ.
    LogPhi,
    /// log(1 − eˣ) of a number below 0.
    Log1mExp,
}

/// Names of functions; the first of each is the one that messages use.
pub(crate) const FUNCTIONS: [(&str, Function); 23] = [
    ("exp", Function::Exp),
    ("log", Function::Log),
    ("log1p", Function::Log1p),
    ("expm1", Function::Expm1),
    ("sqrt", Function::Sqrt),
    ("square", Function::Square),
    ("abs", Function::Abs),
    ("logistic", Function::Logistic),
    ("inv_logit", Function::Logistic),
    ("softplus", Function::Softplus),
    ("log1p_exp", Function::Softplus),
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tanh", Function::Tanh),
    ("atan", Function::Atan),
    ("lgamma", Function::Lgamma),
    ("ln", Function::Log),
    ("sigmoid", Function::Logistic),
    ("erf", Function::Erf),
    ("erfc", Function::Erfc),
    ("Phi", Function::Phi),
    ("std_normal_lcdf", Function::LogPhi),
    ("log1m_exp", Function::Log1mExp),
];

impl Function {
    /// The function called `name`.
    pub fn find(name: &str) -> Option<Self> {
        let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
        found.map(|(_, function)| *function)
    }

    /// Value and derivative of the function at `x`.
    pub fn at(self, x: f64) -> [f64; 2] {
        match self {
            Self::Exp => [x.exp(); 2],
            Self::Log => [x.ln(), 1.0 / x],
            Self::Log1p => [x.ln_1p(), 1.0 / (1.0 + x)],
            Self::Expm1 => [x.exp_m1(), x.exp()],
            Self::Sqrt => {
                let root = x.sqrt();
                [root, 0.5 / root]
            }
            Self::Square => [x * x, 2.0 * x],
            // At the kink the derivative is taken as 0.
            Self::Abs => [x.abs(), if x == 0.0 { 0.0 } else { x.signum() }],
            Self::Logistic => {
                let p = logistic(x);
                [p, p * logistic(-x)]
            }
            Self::Softplus => [softplus(x), logistic(x)],
            Self::Sin => [x.sin(), x.cos()],
            Self::Cos => [x.cos(), -x.sin()],
            Self::Tanh => {
                let t = x.tanh();
                [t, (1.0 - t) * (1.0 + t)]
            }
            Self::Atan => [x.atan(), 1.0 / (1.0 + x * x)],
            // Elsewhere than above 0 the library would panic or answer with a reflection, which no density means.
            Self::Lgamma if x > 0.0 && x.is_finite() => [ln_gamma(x), digamma(x)],
            Self::Lgamma => [f64::NAN; 2],
            Self::Floor => [x.floor(), 0.0],
            Self::Erf => [erf(x), slope_of_erf(x)],
            Self::Erfc => [erfc(x), -slope_of_erf(x)],
            Self::Phi => {
                use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};
                let slope = 0.5 * FRAC_1_SQRT_2 * FRAC_2_SQRT_PI * (-0.5 * x * x).exp();
                [normal_cdf(x), slope]
            }
            Self::LogPhi => log_normal_cdf(x),
            Self::Log1mExp => {
                // Whichever of both keeps its digits.
                let value = match x > -std::f64::consts::LN_2 {
                    true => (-x.exp_m1()).ln(),
                    false => (-x.exp()).ln_1p(),
                };
                [value, -1.0 / (-x).exp_m1()]
            }
        }
    }

    /// Values of eight numbers and, if `SLOPES`, their derivatives; without, these mean nothing.
    #[inline(always)]
    pub fn of_lane<A: Arithmetic, const SLOPES: bool>(self, x: &Lane) -> (Lane, Lane) {
        match self {
            Self::Exp => {
                let value = exp_of::<A>(x);
                (value, value)
            }
            Self::Square => {
                let (mut value, mut slope) = ([0.0; LANES], [0.0; LANES]);
                for k in 0..LANES {
                    value[k] = x[k] * x[k];
                    slope[k] = 2.0 * x[k];
                }
                (value, slope)
            }
            Self::Logistic => {
                let (p, q) = shares::<A>(x);
                let mut slope = [0.0; LANES];
                for k in 0..LANES {
                    slope[k] = p[k] * q[k];
                }
                (p, slope)
            }
            Self::Softplus => {
                let e = exp_of_distance::<A>(x);
                let log = ln_1p::<A>(&e);
                let (mut value, mut slope) = ([0.0; LANES], [0.0; LANES]);
                for k in 0..LANES {
                    value[k] = if x[k] > 0.0 { x[k] + log[k] } else { log[k] };
                    let numerator = if x[k] >= 0.0 { 1.0 } else { e[k] };
                    slope[k] = numerator / (1.0 + e[k]);
                }
                (keep_nan(value, x), slope)
            }
            Self::Log1p => {
                let mut from = [0.0; LANES];
                for k in 0..LANES {
                    from[k] = if x[k] > 0.0 { x[k] } else { 0.0 };
                }
                let (mut value, mut slope) = (ln_1p::<A>(&from), [0.0; LANES]);
                for k in 0..LANES {
                    slope[k] = 1.0 / (1.0 + x[k]);
                }
                // Elsewhere by the library, one by one.
                if x.iter().any(|x| !(0.0..1e300).contains(x)) {
                    for k in 0..LANES {
                        if !(0.0..1e300).contains(&x[k]) {
                            value[k] = x[k].ln_1p();
                        }
                    }
                }
                (value, slope)
            }
            _ => self.one_by_one::<SLOPES>(x),
        }
    }

    #[inline(never)]
    fn one_by_one<const SLOPES: bool>(self, x: &Lane) -> (Lane, Lane) {
        let (mut value, mut slope) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            // The derivative of this one costs more than its value.
            if !SLOPES && self == Self::Lgamma && x[k] > 0.0 && x[k].is_finite() {
                value[k] = ln_gamma(x[k]);
            } else {
                [value[k], slope[k]] = self.at(x[k]);
            }
        }
        (value, slope)
    }
}

/// erfc(x) to all digits, also where it is small.
fn erfc(x: f64) -> f64 {
    let beyond = (-x * x).exp() * scaled_erfc(x.abs());
    if x < 0.0 { 2.0 - beyond } else { beyond }
}

/// erf(x) to all digits: near 0 by the series 2/√π e^(−x²) Σ 2ⁿ x^(2n+1)/(2n+1)!!.
fn erf(x: f64) -> f64 {
    // Up to here 15 terms leave less than rounding.
    const NEAR: f64 = 0.5;
    const TERMS: u32 = 15;
    if x.abs() >= NEAR {
        return (1.0 - erfc(x.abs())).copysign(x);
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..=TERMS {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    slope_of_erf(x) * sum
}

/// The derivative of the error function.
fn slope_of_erf(x: f64) -> f64 {
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp()
}

/// exp(x), infinite and 0 where it is too large or too small for a number.
#[inline(always)]
fn exp_of<A: Arithmetic>(x: &Lane) -> Lane {
    let mut value = exp::<A>(x);
    for k in 0..LANES {
        // The vector function stops at ±708.
        value[k] = if x[k] > 708.0 {
            f64::INFINITY
        } else if x[k] < -708.0 {
            0.0
        } else {
            value[k]
        };
    }
    keep_nan(value, x)
}

/// exp(−|x|).
#[inline(always)]
fn exp_of_distance<A: Arithmetic>(x: &Lane) -> Lane {
    let mut negative = [0.0; LANES];
    for k in 0..LANES {
        negative[k] = -x[k].abs();
    }
    exp_negative::<A>(&negative)
}

/// The logistic function at x and at −x.
#[inline(always)]
fn shares<A: Arithmetic>(x: &Lane) -> (Lane, Lane) {
    let e = exp_of_distance::<A>(x);
    let (mut p, mut q) = ([0.0; LANES], [0.0; LANES]);
    for k in 0..LANES {
        let large = 1.0 / (1.0 + e[k]);
        let small = e[k] * large;
        (p[k], q[k]) = if x[k] >= 0.0 {
            (large, small)
        } else {
            (small, large)
        };
    }
    (keep_nan(p, x), q)
}

/// `value`, and NaN where `x` is: vector functions clamp it away.
#[inline(always)]
fn keep_nan(mut value: Lane, x: &Lane) -> Lane {
    for k in 0..LANES {
        value[k] = if x[k].is_nan() { x[k] } else { value[k] };
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::arithmetic::{RowLoop, SimdLevel, run_loop};

    struct Both(Function, Lane);

    impl RowLoop for Both {
        type Output = (Lane, Lane);

        #[inline(always)]
        fn run<A: Arithmetic>(self) -> (Lane, Lane) {
            self.0.of_lane::<A, true>(&self.1)
        }
    }

    #[test]
    fn eight_numbers_at_a_time_are_as_one_by_one() {
        let points = [
            -800.0,
            -40.0,
            -1.3,
            -0.2,
            0.0,
            1e-9,
            0.7,
            3.0,
            35.0,
            800.0,
            f64::NAN,
            f64::INFINITY,
            0.5,
            1.0,
            2.0,
            9.0,
        ];
        for (name, function) in FUNCTIONS {
            for chunk in points.as_chunks::<LANES>().0 {
                for level in SimdLevel::available() {
                    let (value, slope) = run_loop(level, Both(function, *chunk));
                    for k in 0..LANES {
                        let [v, s] = function.at(chunk[k]);
                        for (got, wanted) in [(value[k], v), (slope[k], s)] {
                            let same = got == wanted
                                || got.is_nan() && wanted.is_nan()
                                // A slope of a number that is none, or at infinity, is never used.
                                || !chunk[k].is_finite()
                                || (got - wanted).abs() <= 1e-14 * wanted.abs().max(1e-290);
                            assert!(same, "{name}({}): {got} against {wanted}", chunk[k]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_values() {
        for (name, function) in FUNCTIONS {
            for x in [0.3, 0.9, 2.7] {
                // This one is of numbers below 0.
                let x = if function == Function::Log1mExp {
                    -x
                } else {
                    x
                };
                let step = 1e-6;
                let numeric = (function.at(x + step)[0] - function.at(x - step)[0]) / (2.0 * step);
                let [_, slope] = function.at(x);
                assert!(
                    (slope - numeric).abs() < 1e-8 * slope.abs().max(1.0),
                    "{name}"
                );
            }
        }
    }
}
