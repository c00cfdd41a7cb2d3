//! Logistic regression, Bernoulli or binomial: y_i ~ Binomial(n_i, p_i), logit p_i = x_i'β + o_i.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 2.5) | at centred predictors |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//!
//! Sampling happens on standardised predictors (u); reported coefficients are on the original scale unless asked
//! otherwise. With `standardize = false` the priors hold for the reported, raw coefficients and the intercept at
//! x = 0; the linear map between the two scales then carries the prior, so scaling never changes the model.
//!
//! Rows of a plain Bernoulli model are stored multiplied by their sign (`families::bernoulli::SignedBernoulli`).
//!
//! Identifiability: complete separation leaves the likelihood without a maximum; a proper prior keeps the posterior
//! proper. Perfectly collinear columns are separated by the prior alone.

use std::sync::Arc;

use super::regression::{COEFFICIENT_PRIORS, Parts, Regression, regression};
use super::translation::{Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::{Family, bernoulli};
use ergodic_base::settings::Settings;

/// The template `logistic`.
pub struct Logistic;

impl Template for Logistic {
    const SPEC: ModelSpec = ModelSpec {
        id: "logistic",
        title: "Logistic regression",
        about: "How the chance of a yes/no outcome, or the share of successes in trials, depends on predictors",
        fields: &[],
        response: |_settings| ResponseUse::Outcome,
        priors: COEFFICIENT_PRIORS,
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Bernoulli)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::check_response(&design, ResponseUse::Outcome, Self::SPEC.id)?;
        let plain = design.trials.is_none() && design.weights.is_none() && design.offset.is_none();
        if !plain {
            return regression(of_trials(&design), design, &Self::SPEC.priors, options);
        }
        let parts = Parts::of(Family::Bernoulli, design, bernoulli::signed)?;
        Regression::model(parts, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, of_trials(context.design))?.describe())
    }
}

/// Yes or no, or successes among trials.
pub(super) fn of_trials(design: &Design) -> Family {
    match design.trials {
        Some(_) => Family::Binomial,
        None => Family::Bernoulli,
    }
}

#[cfg(test)]
mod tests;
