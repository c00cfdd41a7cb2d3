//! Positive parameters, such as standard deviations: their priors and the map to the real line.
//!
//! A parameter θ > l is sampled as u = log(θ − l); densities of u carry the Jacobian e^u.

use super::prior::{Prior, significant};
use super::{ModelError, ModelOptions, ParamInfo, PriorSource};
use ergodic_base::{ChainRng, ParamId};

/// What a template says about one of its positive parameters.
#[derive(Clone, Debug)]
pub struct PositiveSpec {
    /// Name of the parameter.
    pub name: ParamId,
    /// Key of the prior of all parameters of this kind.
    pub class: &'static str,
    /// What the parameter says, in words.
    pub meaning: String,
    /// Smallest value.
    pub lower: f64,
    /// Internal units are these on the original scale; 1 where the parameter has no unit of the data.
    pub unit: f64,
    /// The unit in words for the source of the prior, such as "sd of `y`"; empty where there is none.
    pub unit_words: String,
    /// Prior where the user sets none, in internal units.
    pub default: Prior,
}

/// A positive parameter of a model. Its value is in internal units, those of the standardised response, where it has any.
#[derive(Clone, Copy, Debug)]
pub struct Positive {
    prior: Prior,
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
            Some(text) => (Prior::parse_positive(text)?, PriorSource::USER),
            None if prior_unit == 1.0 => (spec.default, PriorSource::DEFAULT),
            None => (
                spec.default.scaled(significant(prior_unit)),
                PriorSource::DEFAULT,
            ),
        };
        let place = match spec.unit_words.as_str() {
            "" => String::new(),
            _ if !options.standardize => "in units of the data".to_owned(),
            words if words.starts_with("per ") => words.to_owned(),
            words => format!("in {words}"),
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
            prior: prior.positive_text().into(),
            prior_source: source.at(place),
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
            // Symmetric about 0 where it is one of the whole line.
            let value = self.prior.draw(rng)?.abs();
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
        let share = self.prior.positive_survival(self.lower * self.prior_unit)?;
        if internal < self.lower {
            return Some(0.0);
        }
        let density = self.prior.positive_density(internal * self.prior_unit)?;
        Some(density / share * self.prior_unit / self.report_unit)
    }

    /// The interval of reported values that a picture of the prior shows; `None` for the flat prior.
    pub fn range(&self) -> Option<(f64, f64)> {
        let (from, to) = self.prior.positive_range(self.lower * self.prior_unit)?;
        let unit = self.report_unit / self.prior_unit;
        Some((from * unit, to * unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prior::TAIL;

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
            let prior = Prior::parse_positive(text).unwrap();
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
            let prior = Prior::parse_positive(text).unwrap();
            // On a logarithmic grid, which heavy tails need.
            let (step, from) = (1e-3, 0.6_f64.ln());
            let total: f64 = (0..40_000)
                .map(|i| {
                    let x = (from + (f64::from(i) + 0.5) * step).exp();
                    prior.positive_density(x).unwrap() * x * step
                })
                .sum();
            let expected = prior.positive_survival(0.6).unwrap();
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
                prior: Prior::parse_positive(text).unwrap(),
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
            assert_eq!(Prior::parse_positive(text).unwrap().positive_text(), text);
        }
        for (text, half) in [
            ("normal(0, 2)", "half_normal(2)"),
            ("half_normal(0, 2)", "half_normal(2)"),
            ("student_t(3, 0, 2.5)", "half_student_t(3, 0, 2.5)"),
            ("cauchy(0, 1)", "half_cauchy(1)"),
        ] {
            assert_eq!(Prior::parse_positive(text).unwrap().positive_text(), half);
        }
        for text in [
            "half_normal(1, 2)",
            "half_gamma(1, 2)",
            "gamma(0, 1)",
            "laplace(0, 1)",
            "",
        ] {
            let message = Prior::parse_positive(text).unwrap_err().to_string();
            assert!(
                message.contains("half_student_t(df, 0, scale)"),
                "{message}"
            );
        }
    }

    #[test]
    fn scaling_a_prior_is_a_change_of_units() {
        for text in &ALL[..7] {
            let prior = Prior::parse_positive(text).unwrap();
            let scaled = prior.scaled(2.5).positive_density(3.0).unwrap();
            let expected = prior.positive_density(3.0 / 2.5).unwrap() / 2.5;
            assert!((scaled / expected - 1.0).abs() < 1e-12, "{text}");
        }
    }
}
