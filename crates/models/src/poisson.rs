//! Poisson regression: y_i ~ Poisson(μ_i), log μ_i = x_i'β + o_i. An offset `offset(log(exposure))` makes it one of rates.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(log mean, 2.5) | at centred predictors; the mean is that of counts per exposure |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//!
//! Variance and mean of a count are assumed equal. Where the variance is larger, intervals are too narrow: after the search for
//! the mode Pearson's statistic is compared with its degrees of freedom, and a remark names template `negative-binomial`.

use std::sync::Arc;

use super::regression::{COEFFICIENT_PRIORS, regression};
use super::translation::{Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::Family;
use ergodic_base::settings::Settings;

/// The template `poisson`.
pub struct Poisson;

impl Template for Poisson {
    const SPEC: ModelSpec = ModelSpec {
        id: "poisson",
        title: "Poisson regression",
        about: "How the expected count depends on predictors, for counts whose variance is their mean",
        fields: &[],
        response: |_settings| ResponseUse::Count,
        priors: COEFFICIENT_PRIORS,
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Poisson)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::check_response(&design, ResponseUse::Count, Self::SPEC.id)?;
        regression(Family::Poisson, design, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, Family::Poisson)?.describe())
    }
}

#[cfg(test)]
mod tests;
