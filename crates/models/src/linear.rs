//! Linear regression: y_i ~ Normal(x_i'β + o_i, σ²).
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 2.5) | at centred predictors, in sd(y) from the mean of y |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor, in sd(y) |
//! | `sigma` | positive | half_student_t(3, 0, 2.5) | in sd(y) |
//!
//! The response less its offset is standardised internally: mean and sd(y) (divisor n; without an intercept it is scaled only).
//! With `standardize = false` priors hold in the units of the data, and the defaults are these converted to them.
//!
//! Identifiability: σ needs more rows than coefficients, or its prior; a response that is the same in all rows is refused.

use std::sync::Arc;

use super::coefficients::{INTERCEPT, SLOPES};
use super::regression::{priors_with, regression};
use super::translation::{Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::Family;
use ergodic_base::settings::Settings;

/// The template `linear`.
pub struct Linear;

impl Template for Linear {
    const SPEC: ModelSpec = ModelSpec {
        id: "linear",
        title: "Linear regression",
        about: "How the mean of a number depends on predictors, with normal noise",
        fields: &[],
        response: |_settings| ResponseUse::Number,
        priors: priors_with(&[INTERCEPT, SLOPES, ("sigma", "Residual standard deviation")]),
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Gaussian)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::check_response(&design, ResponseUse::Number, Self::SPEC.id)?;
        regression(Family::Gaussian, design, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, Family::Gaussian)?.describe())
    }
}

#[cfg(test)]
mod tests;
