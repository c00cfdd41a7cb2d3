//! Parameters of a family besides the linear predictor: positive ones and chances, each with its coordinate on the real line.

use super::chance::{self, Chance, ChanceSpec};
use super::positive::{Positive, PositiveSpec};
use super::prior::Prior;
use super::{ModelError, ModelOptions, ParamInfo};
use crate::design::Design;
use crate::families::rows::ResponseScale;
use crate::families::{Auxiliary, Support};
use ergodic_base::{ChainRng, ParamId};

/// What a template says about one of these parameters.
#[derive(Clone, Debug)]
pub enum ParameterSpec {
    /// A positive one.
    Positive(PositiveSpec),
    /// A chance.
    Chance(ChanceSpec),
}

/// A positive parameter or a chance, with its prior.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    /// A positive one.
    Positive(Positive),
    /// A chance.
    Chance(Chance),
}

impl ParameterSpec {
    /// What `auxiliary` is in a model of `design`.
    ///
    /// # Errors
    /// Its default prior does not fit it.
    pub fn of(
        auxiliary: &Auxiliary,
        design: &Design,
        response: ResponseScale,
    ) -> Result<Self, ModelError> {
        let (name, meaning) = (ParamId::named(auxiliary.name), (auxiliary.meaning)(design));
        let lower = match auxiliary.support {
            Support::Above(lower) => lower,
            Support::Chance => {
                return Ok(Self::Chance(ChanceSpec {
                    name,
                    meaning,
                    default: chance::parse(auxiliary.prior)?,
                }));
            }
        };
        let (unit, unit_words) = if auxiliary.has_unit {
            let words = format!("sd of `{}`", design.response.name);
            (response.scale, words)
        } else {
            (1.0, String::new())
        };
        Ok(Self::Positive(PositiveSpec {
            name,
            class: auxiliary.name,
            meaning,
            lower,
            unit,
            unit_words,
            default: Prior::parse_positive(auxiliary.prior)?,
        }))
    }

    /// The parameter with its prior of `options`, and how it is reported.
    ///
    /// # Errors
    /// The prior is not one of such parameters.
    pub fn with(&self, options: &ModelOptions) -> Result<(Parameter, ParamInfo), ModelError> {
        match self {
            Self::Positive(spec) => {
                let (parameter, info) = Positive::new(spec.clone(), options)?;
                Ok((Parameter::Positive(parameter), info))
            }
            Self::Chance(spec) => {
                let (parameter, info) = Chance::new(spec.clone(), options)?;
                Ok((Parameter::Chance(parameter), info))
            }
        }
    }
}

impl Parameter {
    /// The reported value at `u`.
    pub fn report(&self, u: f64) -> f64 {
        match self {
            Self::Positive(it) => it.report(u),
            Self::Chance(_) => Support::Chance.value(u),
        }
    }

    /// The coordinate whose reported value is `theta`.
    pub fn position(&self, theta: f64) -> f64 {
        match self {
            Self::Positive(it) => it.position(theta),
            Self::Chance(_) => Support::Chance.coordinate(theta),
        }
    }

    /// A draw of u from the prior; `None` where there is none.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        match self {
            Self::Positive(it) => it.draw(rng),
            Self::Chance(it) => it.draw(rng),
        }
    }

    /// Log prior of u with the Jacobian, its first and its second derivative; constants dropped.
    pub fn log_prior(&self, u: f64) -> [f64; 3] {
        match self {
            Self::Positive(it) => it.log_prior(u),
            Self::Chance(it) => it.log_prior(u),
        }
    }

    /// The logarithm of the Jacobian of [`Self::report`] at `u`, up to a constant.
    pub fn log_jacobian(&self, u: f64) -> f64 {
        match self {
            Self::Positive(_) => u,
            Self::Chance(_) => Chance::log_jacobian(u),
        }
    }

    /// Density of the prior of the reported value.
    pub fn density(&self, theta: f64) -> Option<f64> {
        match self {
            Self::Positive(it) => it.density(theta),
            Self::Chance(it) => Some(it.density(theta)),
        }
    }

    /// The interval of reported values that a picture of the prior shows; `None` for the flat prior.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Positive(it) => it.range(),
            Self::Chance(_) => Some((0.0, 1.0)),
        }
    }
}
