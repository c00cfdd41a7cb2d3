//! Positive parameters, such as standard deviations: their priors in Stan's notation and the map to the real line.
//!
//! A parameter θ > l is sampled as u = log(θ − l); densities of u carry the Jacobian e^u.

use std::f64::consts::{LN_2, PI};
use std::fmt;

use rand::RngExt as _;
use rand_distr::{Exp1, Gamma, StandardNormal};
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};

use super::prior_text::{Argument, PriorError, PriorProblem, PriorText};
use super::{ModelError, ModelOptions, ParamInfo};
use ergodic_base::param::ParamId;
use ergodic_base::rng::ChainRng;

/// The forms of [`PositivePrior`], for people.
pub const FORMS: &str = "half_normal(sd), half_student_t(df, 0, scale), half_cauchy(scale), exponential(rate), \
                         gamma(shape, rate), inv_gamma(shape, scale), lognormal(mean, sd) or flat";

/// Share of a prior that pictures leave out at its upper end.
const TAIL: f64 = 0.02;

/// A density on the positive half of the real line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PositivePrior {
    /// Improper, constant.
    Flat,
    /// |x| with x ~ normal(0, sd).
    HalfNormal {
        /// Standard deviation of x.
        sd: f64,
    },
    /// |x| with x ~ student_t(df, 0, scale).
    HalfStudentT {
        /// Degrees of freedom.
        df: f64,
        /// Scale.
        scale: f64,
    },
    /// Density ∝ exp(−rate x).
    Exponential {
        /// One over the mean.
        rate: f64,
    },
    /// Density ∝ x^(shape − 1) exp(−rate x).
    Gamma {
        /// Shape.
        shape: f64,
        /// Rate.
        rate: f64,
    },
    /// Density ∝ x^(−shape − 1) exp(−scale/x).
    InvGamma {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// log x ~ normal(mean, sd).
    LogNormal {
        /// Mean of log x.
        mean: f64,
        /// Standard deviation of log x.
        sd: f64,
    },
}

impl PositivePrior {
    /// A draw; `None` from the flat prior, which is no distribution.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        match *self {
            Self::Flat => None,
            Self::HalfNormal { sd } => Some(sd * rng.sample::<f64, _>(StandardNormal).abs()),
            Self::HalfStudentT { df, scale } => {
                let t: f64 = rng.sample(rand_distr::StudentT::new(df).ok()?);
                Some(scale * t.abs())
            }
            Self::Exponential { rate } => Some(rng.sample::<f64, _>(Exp1) / rate),
            Self::Gamma { shape, rate } => Some(rng.sample(Gamma::new(shape, 1.0 / rate).ok()?)),
            Self::InvGamma { shape, scale } => {
                let gamma: f64 = rng.sample(Gamma::new(shape, 1.0).ok()?);
                Some(scale / gamma)
            }
            Self::LogNormal { mean, sd } => {
                Some((mean + sd * rng.sample::<f64, _>(StandardNormal)).exp())
            }
        }
    }

    /// Reads Stan's notation. `normal`, `student_t` and `cauchy` with location 0 mean their upper halves, as in Stan for a
    /// parameter that is declared positive. The error says which forms are known.
    pub fn parse(text: &str) -> Result<Self, PriorError> {
        use Argument::Number;
        let written = PriorText::read(text, FORMS)?;
        let (halved, name) = match written.name.strip_prefix("half_") {
            Some(name) => (true, name),
            None => (false, written.name),
        };
        let (prior, location, least) = match (name, written.arguments.as_slice()) {
            ("flat", []) if !halved => return Ok(Self::Flat),
            ("normal", &[Number(sd)]) if halved => (Self::HalfNormal { sd }, 0.0, sd),
            ("normal", &[Number(location), Number(sd)]) => (Self::HalfNormal { sd }, location, sd),
            ("student_t", &[Number(df), Number(location), Number(scale)]) => {
                (Self::HalfStudentT { df, scale }, location, df.min(scale))
            }
            ("cauchy", &[Number(scale)]) if halved => {
                (Self::HalfStudentT { df: 1.0, scale }, 0.0, scale)
            }
            ("cauchy", &[Number(location), Number(scale)]) => {
                (Self::HalfStudentT { df: 1.0, scale }, location, scale)
            }
            ("exponential", &[Number(rate)]) if !halved => (Self::Exponential { rate }, 0.0, rate),
            ("gamma", &[Number(shape), Number(rate)]) if !halved => {
                (Self::Gamma { shape, rate }, 0.0, shape.min(rate))
            }
            ("inv_gamma", &[Number(shape), Number(scale)]) if !halved => {
                (Self::InvGamma { shape, scale }, 0.0, shape.min(scale))
            }
            ("lognormal", &[Number(mean), Number(sd)]) if !halved => {
                (Self::LogNormal { mean, sd }, 0.0, sd)
            }
            _ => return Err(written.refuse(PriorProblem::OfPositive)),
        };
        if location != 0.0 {
            return Err(written.refuse(PriorProblem::Location));
        }
        if least <= 0.0 {
            return Err(written.refuse(PriorProblem::Arguments));
        }
        Ok(prior)
    }

    /// Log density at x > 0, its first and its second derivative; constants dropped.
    pub fn derivatives(&self, x: f64) -> [f64; 3] {
        match *self {
            Self::Flat => [0.0; 3],
            Self::HalfNormal { sd } => {
                let z = x / sd;
                [-0.5 * z * z, -z / sd, -1.0 / (sd * sd)]
            }
            Self::HalfStudentT { df, scale } => {
                let z = x / scale;
                let (q, c) = (z * z / df, df + 1.0);
                [
                    -0.5 * c * q.ln_1p(),
                    -c * z / (df * scale * (1.0 + q)),
                    -c * (1.0 - q) / (df * scale * scale * (1.0 + q) * (1.0 + q)),
                ]
            }
            Self::Exponential { rate } => [-rate * x, -rate, 0.0],
            Self::Gamma { shape, rate } => {
                let a = shape - 1.0;
                [a * x.ln() - rate * x, a / x - rate, -a / (x * x)]
            }
            Self::InvGamma { shape, scale } => {
                let (a, r) = (shape + 1.0, 1.0 / x);
                [
                    -a * x.ln() - scale * r,
                    (scale * r - a) * r,
                    (a - 2.0 * scale * r) * r * r,
                ]
            }
            Self::LogNormal { mean, sd } => {
                let z = (x.ln() - mean) / sd;
                [
                    -x.ln() - 0.5 * z * z,
                    -(1.0 + z / sd) / x,
                    (1.0 + z / sd - 1.0 / (sd * sd)) / (x * x),
                ]
            }
        }
    }

    /// Normalised density at `x`, 0 below 0; `None` for the flat prior.
    pub fn density(&self, x: f64) -> Option<f64> {
        let log_constant = match *self {
            Self::Flat => return None,
            Self::HalfNormal { sd } => LN_2 - sd.ln() - 0.5 * (2.0 * PI).ln(),
            Self::HalfStudentT { df, scale } => {
                LN_2 + ln_gamma(0.5 * (df + 1.0))
                    - ln_gamma(0.5 * df)
                    - 0.5 * (df * PI).ln()
                    - scale.ln()
            }
            Self::Exponential { rate } => rate.ln(),
            Self::Gamma { shape, rate } => shape * rate.ln() - ln_gamma(shape),
            Self::InvGamma { shape, scale } => shape * scale.ln() - ln_gamma(shape),
            Self::LogNormal { sd, .. } => -sd.ln() - 0.5 * (2.0 * PI).ln(),
        };
        if x <= 0.0 {
            return Some(0.0);
        }
        Some((self.derivatives(x)[0] + log_constant).exp())
    }

    /// The chance of a value above `x`; `None` for the flat prior.
    pub fn survival(&self, x: f64) -> Option<f64> {
        let share = match *self {
            Self::Flat => return None,
            _ if x <= 0.0 => 1.0,
            Self::HalfNormal { sd } => erfc(x / (sd * std::f64::consts::SQRT_2)),
            Self::HalfStudentT { df, scale } => {
                let z = x / scale;
                beta_reg(0.5 * df, 0.5, df / (df + z * z))
            }
            Self::Exponential { rate } => (-rate * x).exp(),
            Self::Gamma { shape, rate } => gamma_ur(shape, rate * x),
            Self::InvGamma { shape, scale } => gamma_lr(shape, scale / x),
            Self::LogNormal { mean, sd } => {
                0.5 * erfc((x.ln() - mean) / (sd * std::f64::consts::SQRT_2))
            }
        };
        Some(share)
    }

    /// This prior for `x/factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Flat => Self::Flat,
            Self::HalfNormal { sd } => Self::HalfNormal { sd: sd * factor },
            Self::HalfStudentT { df, scale } => Self::HalfStudentT {
                df,
                scale: scale * factor,
            },
            Self::Exponential { rate } => Self::Exponential {
                rate: rate / factor,
            },
            Self::Gamma { shape, rate } => Self::Gamma {
                shape,
                rate: rate / factor,
            },
            Self::InvGamma { shape, scale } => Self::InvGamma {
                shape,
                scale: scale * factor,
            },
            Self::LogNormal { mean, sd } => Self::LogNormal {
                mean: mean + factor.ln(),
                sd,
            },
        }
    }
}

impl fmt::Display for PositivePrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => write!(f, "flat"),
            Self::HalfNormal { sd } => write!(f, "half_normal({sd})"),
            Self::HalfStudentT { df, scale } if *df == 1.0 => write!(f, "half_cauchy({scale})"),
            Self::HalfStudentT { df, scale } => write!(f, "half_student_t({df}, 0, {scale})"),
            Self::Exponential { rate } => write!(f, "exponential({rate})"),
            Self::Gamma { shape, rate } => write!(f, "gamma({shape}, {rate})"),
            Self::InvGamma { shape, scale } => write!(f, "inv_gamma({shape}, {scale})"),
            Self::LogNormal { mean, sd } => write!(f, "lognormal({mean}, {sd})"),
        }
    }
}

/// What a template says about one of its positive parameters.
#[derive(Clone, Debug)]
pub struct PositiveSpec {
    /// Which it is.
    pub name: ParamId,
    /// Key of the prior of all parameters of this kind.
    pub class: &'static str,
    /// What it says, in words.
    pub meaning: String,
    /// Smallest value.
    pub lower: f64,
    /// Internal units are these on the original scale; 1 where the parameter has no unit of the data.
    pub unit: f64,
    /// The unit in words for the source of the prior, such as "sd of `y`"; empty where there is none.
    pub unit_words: String,
    /// Prior where the user sets none, in internal units.
    pub default: PositivePrior,
}

/// A positive parameter of a model. Its value is in internal units, those of the standardised response, where it has any.
#[derive(Clone, Copy, Debug)]
pub struct Positive {
    prior: PositivePrior,
    lower: f64,
    /// Units of the scale that the prior holds on, per internal unit.
    prior_unit: f64,
    /// Units of the reported scale, per internal unit.
    report_unit: f64,
}

impl Positive {
    /// The parameter with its prior of `options`, and how it is reported.
    ///
    /// # Errors
    /// The prior is not one of positive parameters.
    pub fn new(
        spec: PositiveSpec,
        options: &ModelOptions,
    ) -> Result<(Self, ParamInfo), ModelError> {
        let prior_unit = if options.standardize { 1.0 } else { spec.unit };
        let given = options
            .prior(&spec.name)
            .or_else(|| options.prior(spec.class));
        let (prior, source) = match given {
            Some(text) => (PositivePrior::parse(text)?, "set by you"),
            None if prior_unit == 1.0 => (spec.default, "default"),
            None => (
                spec.default.scaled(super::prior::significant(prior_unit)),
                "default",
            ),
        };
        let prior_source = match spec.unit_words.as_str() {
            "" => source.to_owned(),
            _ if !options.standardize => format!("{source}, in units of the data"),
            words if words.starts_with("per ") => format!("{source}, {words}"),
            words => format!("{source}, in {words}"),
        };
        let positive = Self {
            prior,
            lower: spec.lower,
            prior_unit,
            report_unit: if options.report_standardized {
                1.0
            } else {
                spec.unit
            },
        };
        let info = ParamInfo {
            name: spec.name,
            meaning: spec.meaning,
            prior: prior.to_string(),
            prior_source,
        };
        Ok((positive, info))
    }

    /// The reported value at `u`.
    pub fn report(&self, u: f64) -> f64 {
        (self.lower + u.exp()) * self.report_unit
    }

    /// The coordinate whose reported value is `theta`.
    pub fn position(&self, theta: f64) -> f64 {
        (theta / self.report_unit - self.lower).ln()
    }

    /// A draw of u from the prior, above the lower bound; `None` where there is none.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        /// Attempts to draw above the lower bound.
        const ATTEMPTS: usize = 1000;
        let lower = self.lower * self.prior_unit;
        for _ in 0..ATTEMPTS {
            let value = self.prior.draw(rng)?;
            if value > lower {
                return Some(((value - lower) / self.prior_unit).ln());
            }
        }
        None
    }

    /// Log prior of u with the Jacobian, its first and its second derivative; constants dropped.
    pub fn log_prior(&self, u: f64) -> [f64; 3] {
        let step = u.exp() * self.prior_unit;
        let [value, slope, second] = self.prior.derivatives(self.lower * self.prior_unit + step);
        [
            value + u,
            slope * step + 1.0,
            second * step * step + slope * step,
        ]
    }

    /// Density of the prior of the reported value.
    pub fn density(&self, theta: f64) -> Option<f64> {
        let internal = theta / self.report_unit;
        let share = self.prior.survival(self.lower * self.prior_unit)?;
        if internal < self.lower {
            return Some(0.0);
        }
        let density = self.prior.density(internal * self.prior_unit)?;
        Some(density / share * self.prior_unit / self.report_unit)
    }

    /// The interval of reported values that a picture of the prior shows; `None` for the flat prior.
    pub fn range(&self) -> Option<(f64, f64)> {
        let from = self.lower * self.prior_unit;
        let share = self.prior.survival(from)?;
        // Doubling, then halving the interval: survival falls with x.
        let mut to = 1e-6_f64.max(from);
        while self.prior.survival(to)? > TAIL * share && to < 1e300 {
            to *= 2.0;
        }
        let mut below = 0.5 * to;
        for _ in 0..20 {
            let middle = 0.5 * (below + to);
            if self.prior.survival(middle)? > TAIL * share {
                below = middle;
            } else {
                to = middle;
            }
        }
        let unit = self.report_unit / self.prior_unit;
        Some((from * unit, to * unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 8] = [
        "half_normal(2)",
        "half_student_t(3, 0, 2.5)",
        "half_cauchy(1.5)",
        "exponential(0.7)",
        "gamma(2, 0.1)",
        "inv_gamma(3, 1.3)",
        "lognormal(0.4, 0.8)",
        "flat",
    ];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let step = 1e-5;
        for text in ALL {
            let prior = PositivePrior::parse(text).unwrap();
            let parameter = Positive {
                prior,
                lower: 0.7,
                prior_unit: 1.7,
                report_unit: 3.0,
            };
            for x in [0.05, 0.7, 2.0, 9.0] {
                for k in 0..2 {
                    let at = |x: f64| prior.derivatives(x)[k];
                    let numeric = (at(x + step) - at(x - step)) / (2.0 * step);
                    let exact = prior.derivatives(x)[k + 1];
                    assert!(
                        (numeric - exact).abs() < 1e-5 * (1.0 + exact.abs()),
                        "{text} at {x}"
                    );
                    let at = |u: f64| parameter.log_prior(u)[k];
                    let u = x.ln();
                    let numeric = (at(u + step) - at(u - step)) / (2.0 * step);
                    let exact = parameter.log_prior(u)[k + 1];
                    assert!(
                        (numeric - exact).abs() < 1e-5 * (1.0 + exact.abs()),
                        "{text} at {u}"
                    );
                }
                let u = parameter.position(parameter.report(x.ln()));
                assert!((u - x.ln()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn densities_integrate_to_the_survival() {
        for text in &ALL[..7] {
            let prior = PositivePrior::parse(text).unwrap();
            // On a logarithmic grid, which heavy tails need.
            let (step, from) = (1e-3, 0.6_f64.ln());
            let total: f64 = (0..40_000)
                .map(|i| {
                    let x = (from + (f64::from(i) + 0.5) * step).exp();
                    prior.density(x).unwrap() * x * step
                })
                .sum();
            let expected = prior.survival(0.6).unwrap();
            assert!(
                (total - expected).abs() < 1e-6,
                "{text}: {total} {expected}"
            );
        }
    }

    #[test]
    fn the_density_of_the_reported_value_is_that_of_the_truncated_prior() {
        for text in &ALL[..7] {
            let parameter = Positive {
                prior: PositivePrior::parse(text).unwrap(),
                lower: 1.0,
                prior_unit: 1.0,
                report_unit: 4.0,
            };
            let (from, to) = parameter.range().unwrap();
            assert!((from - 4.0).abs() < 1e-12 && to > from);
            let points = 200_000;
            let step = (to - from) / f64::from(points);
            let total: f64 = (0..points)
                .map(|i| {
                    parameter
                        .density(from + (f64::from(i) + 0.5) * step)
                        .unwrap()
                        * step
                })
                .sum();
            assert!((total - 1.0 + TAIL).abs() < 1e-4, "{text}: {total}");
            assert_eq!(parameter.density(3.9), Some(0.0));
        }
    }

    #[test]
    fn text_survives_a_round_trip_and_halves_may_be_written_whole() {
        for text in ALL {
            assert_eq!(PositivePrior::parse(text).unwrap().to_string(), text);
        }
        for (text, half) in [
            ("normal(0, 2)", "half_normal(2)"),
            ("half_normal(0, 2)", "half_normal(2)"),
            ("student_t(3, 0, 2.5)", "half_student_t(3, 0, 2.5)"),
            ("cauchy(0, 1)", "half_cauchy(1)"),
        ] {
            assert_eq!(PositivePrior::parse(text).unwrap().to_string(), half);
        }
        for text in [
            "half_normal(1, 2)",
            "half_gamma(1, 2)",
            "gamma(0, 1)",
            "laplace(0, 1)",
            "",
        ] {
            let message = PositivePrior::parse(text).unwrap_err().to_string();
            assert!(
                message.contains("half_student_t(df, 0, scale)"),
                "{message}"
            );
        }
    }

    #[test]
    fn scaling_a_prior_is_a_change_of_units() {
        for text in &ALL[..7] {
            let prior = PositivePrior::parse(text).unwrap();
            let scaled = prior.scaled(2.5).density(3.0).unwrap();
            let expected = prior.density(3.0 / 2.5).unwrap() / 2.5;
            assert!((scaled / expected - 1.0).abs() < 1e-12, "{text}");
        }
    }
}
