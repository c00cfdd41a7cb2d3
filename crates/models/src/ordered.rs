//! Ordinal regression, the cumulative logit or proportional odds model: Pr(y_i ≤ k) = σ(c_k − η_i), η_i = x_i'β + o_i, for levels
//! 1 … K with an order (McCullagh 1980, "Regression models for ordinal data").
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//! | `cut[a\|b]` (c_k) | ordered | student_t(3, 0, 2.5) each | at centred predictors |
//!
//! A positive coefficient makes higher levels more probable; e^β is the factor of the odds of a higher level, the same at every cut
//! point. Sampled are the intercept −c_1 and the logarithms of the gaps between cut points ([`super::cut_points`]).

use std::sync::Arc;

use super::coefficients::SLOPES;
use super::cut_points::CUTS;
use super::regression::regression;
use super::translation::{Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, PriorSpec, RoundTrip, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::Family;
use ergodic_base::settings::Settings;

/// The template `ordered`.
pub struct Ordered;

impl Template for Ordered {
    const SPEC: ModelSpec = ModelSpec {
        id: "ordered",
        title: "Ordinal regression",
        about: "How the level of a rating, or of another outcome whose levels have an order, depends on predictors",
        fields: &[],
        response: |_settings| ResponseUse::Ordered,
        priors: PriorSpec {
            classes: &[SLOPES, CUTS],
            ..super::regression::COEFFICIENT_PRIORS
        },
    };
    const ROUND_TRIP: RoundTrip = RoundTrip {
        near: 1e-12,
        far: 1e-6,
        reason: "small gaps are differences of cut points",
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Ordered)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::refuse_group_terms(&design, Self::SPEC.id)?;
        regression(Family::Ordered, design, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, Family::Ordered)?.describe())
    }
}

#[cfg(test)]
mod tests;
