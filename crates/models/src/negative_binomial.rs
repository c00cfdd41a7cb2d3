//! Negative binomial regression: y_i has mean μ_i and variance μ_i + μ_i²/φ, log μ_i = x_i'β + o_i; a Poisson count whose mean
//! varies as Gamma(φ, φ/μ_i).
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(log mean, 2.5) | at centred predictors; the mean is that of counts per exposure |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//! | `shape` (φ) | positive | lognormal(2, 2) | none; 95 % of it between 0.15 and 400 |
//!
//! Why this prior of φ: where counts are not overdispersed the likelihood is flat for large φ, so a prior with a heavy tail
//! leaves a posterior without moments, and gamma(0.01, 0.01) puts most of its mass next to 0, at extreme overdispersion. The
//! lognormal has all moments, spans all overdispersion that matters, and is normal for the coordinate a = log φ.

use std::sync::Arc;

use super::coefficients::{INTERCEPT, SLOPES};
use super::regression::{priors_with, regression};
use super::translation::{Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::Family;
use ergodic_base::settings::Settings;

/// The template `negative-binomial`.
pub struct NegativeBinomial;

impl Template for NegativeBinomial {
    const SPEC: ModelSpec = ModelSpec {
        id: "negative-binomial",
        title: "Negative binomial regression",
        about: "How the expected count depends on predictors, for counts that vary more than Poisson counts",
        fields: &[],
        response: |_settings| ResponseUse::Count,
        priors: priors_with(&[INTERCEPT, SLOPES, ("shape", "Shape of the overdispersion")]),
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::NegativeBinomial)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::check_response(&design, ResponseUse::Count, Self::SPEC.id)?;
        regression(
            Family::NegativeBinomial,
            design,
            &Self::SPEC.priors,
            options,
        )
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, Family::NegativeBinomial)?.describe())
    }
}

#[cfg(test)]
mod tests;
