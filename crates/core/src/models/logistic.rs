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
//! Score of a row: w (y − n σ(z)) x; curvature: w n σ(z)(1 − σ(z)) x x'.
//! Rows of a plain Bernoulli model are stored multiplied by their sign s = 2y − 1, so that log p = −log(1 + exp(−s z))
//! needs no response: one stretch of memory per row.
//!
//! Identifiability: complete separation leaves the likelihood without a maximum; a proper prior keeps the posterior
//! proper. Perfectly collinear columns are separated by the prior alone.

use std::sync::Arc;

use super::coefficients::ResponseScale;
use super::glm::{Curvature, Family, LANES, Lane, MAX_AUX, Terms, exp_negative};
use super::outcome::Outcome;
use super::regression::{COEFFICIENT_PRIORS, Parts, Regression, Respond, rows_with, value_or};
use super::translation::{self, Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Template};
use crate::design::matrix::Design;
use crate::design::response::{ResponseKind, ResponseUse};
use ergodic_base::special::logistic_with;

/// Largest |σ''|, 1/(6 sqrt 3), at σ = (1 ± 1/sqrt 3)/2.
const LARGEST_THIRD: f64 = 0.096_225_044_864_937_63;

#[inline(always)]
fn exp_minus_abs(z: &Lane) -> Lane {
    // Loops over lanes instead of `map`: closures of the standard library stay calls where vector features differ.
    let mut minus_abs = [0.0; LANES];
    for k in 0..LANES {
        minus_abs[k] = -z[k].abs();
    }
    exp_negative(&minus_abs)
}

/// Bernoulli rows multiplied by s = 2y − 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignedBernoulli;

impl Family for SignedBernoulli {
    const EXTRA: usize = 0;
    const LOG_CONCAVE: bool = true;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn predictor(_z: &mut Lane, _extra: &[Lane; 4]) {}

    #[inline(always)]
    fn terms<const VALUE: bool>(z: &Lane, _extra: &[Lane; 4], (): &()) -> Terms {
        let e = exp_minus_abs(z);
        let (mut residual, mut sum, mut factor) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            factor[k] = 1.0 + e[k];
            let numerator = if z[k] >= 0.0 { e[k] } else { 1.0 };
            residual[k] = numerator / factor[k];
            sum[k] = if z[k] < 0.0 { z[k] } else { 0.0 };
        }
        Terms {
            residual,
            aux: [[0.0; LANES]; MAX_AUX],
            sum,
            factor,
        }
    }

    #[inline(always)]
    fn curvature(z: &Lane, _extra: &[Lane; 4], (): &()) -> Curvature {
        let mut out = exp_minus_abs(z);
        for e in &mut out {
            *e /= (1.0 + *e) * (1.0 + *e);
        }
        Curvature {
            zz: out,
            ..Curvature::default()
        }
    }

    fn bounds(_extra: &[f64]) -> [f64; 2] {
        [1.0, 0.25]
    }

    fn third_bound(_extra: &[f64]) -> f64 {
        LARGEST_THIRD
    }
}

/// Rows with offset, successes, trials and weight after the covariates.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedBinomial;

impl Family for WeightedBinomial {
    const EXTRA: usize = 4;
    const LOG_CONCAVE: bool = true;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn predictor(z: &mut Lane, extra: &[Lane; 4]) {
        for k in 0..LANES {
            z[k] += extra[0][k];
        }
    }

    #[inline(always)]
    fn terms<const VALUE: bool>(
        z: &Lane,
        [_offset, y, trials, weight]: &[Lane; 4],
        (): &(),
    ) -> Terms {
        let e = exp_minus_abs(z);
        let (mut residual, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            residual[k] = weight[k] * (y[k] - trials[k] * logistic_with(z[k], e[k]));
            if VALUE {
                let log_one_plus_exp = z[k].max(0.0) + e[k].ln_1p();
                sum[k] = weight[k] * (y[k] * z[k] - trials[k] * log_one_plus_exp);
            }
        }
        Terms {
            residual,
            aux: [[0.0; LANES]; MAX_AUX],
            sum,
            factor: [1.0; LANES],
        }
    }

    #[inline(always)]
    fn curvature(z: &Lane, [_offset, _y, trials, weight]: &[Lane; 4], (): &()) -> Curvature {
        let mut out = exp_minus_abs(z);
        for k in 0..LANES {
            let e = out[k];
            out[k] = weight[k] * trials[k] * e / ((1.0 + e) * (1.0 + e));
        }
        Curvature {
            zz: out,
            ..Curvature::default()
        }
    }

    fn bounds(extra: &[f64]) -> [f64; 2] {
        let (y, trials, weight) = (extra[1], extra[2], extra[3]);
        [weight * y.max(trials - y), 0.25 * weight * trials]
    }

    fn third_bound(extra: &[f64]) -> f64 {
        LARGEST_THIRD * extra[2] * extra[3]
    }
}

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

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::refuse_group_terms(&design, Self::SPEC.id)?;
        if !matches!(
            design.response.kind,
            ResponseKind::Binary { .. } | ResponseKind::Successes
        ) {
            return Err(ModelError(
                "Template `logistic` needs an outcome of two values or a count of successes"
                    .to_owned(),
            ));
        }
        let plain = design.trials.is_none() && design.weights.is_none() && design.offset.is_none();
        if plain {
            let data = signed_rows(&design);
            model_of(design, SignedBernoulli, data, options)
        } else {
            let data = weighted_rows(&design);
            model_of(design, WeightedBinomial, data, options)
        }
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(described(context).describe())
    }
}

/// The regression in other notations.
pub(super) fn described<'a>(context: &Context<'a>) -> Glm<'a> {
    let design = context.design;
    let name = &design.response.name;
    let quoted_name = crate::formula::quote_name(name);
    let binary = match &design.response.kind {
        ResponseKind::Binary { success, .. } if design.trials.is_none() => Some(success),
        _ => None,
    };
    let mut regression = Glm {
        context: *context,
        predicted: format!("The log odds of a success among the trials that `{name}` counts"),
        given: "Successes among trials are binomial.".to_owned(),
        response: vec![
            format!("{name}[i] ~ binomial(trials[i], p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ],
        scale: ResponseScale::LINK,
        stan_data: vec![
            format!(
                "array[N] int<lower=0> y;  // successes: {}",
                translation::comment(name)
            ),
            "array[N] int<lower=1> trials;".to_owned(),
        ],
        stan_density: "binomial_logit",
        stan_arguments: vec!["trials[]".to_owned(), "eta[]".to_owned()],
        continuous: false,
        auxiliaries: Vec::new(),
        r_response: Vec::new(),
        brms_family: "binomial()",
        brms_priors: Vec::new(),
    };
    if let Some(success) = binary {
        regression.predicted = format!("The log odds that `{name}` is `{success}`");
        regression.given = String::new();
        regression.response = vec![
            format!("[{name}[i] = {success}] ~ bernoulli(p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ];
        regression.stan_data = vec![format!(
            "array[N] int<lower=0, upper=1> y;  // {}",
            translation::comment(&format!("1 where {name} is {success}"))
        )];
        regression.stan_density = "bernoulli_logit";
        regression.stan_arguments = vec!["eta[]".to_owned()];
        regression.r_response = vec![format!(
            "data${quoted_name} <- as.integer(data${quoted_name} == {})",
            translation::quoted(success)
        )];
        regression.brms_family = "bernoulli()";
    }
    regression
}

fn model_of<F: Respond>(
    design: Arc<Design>,
    family: F,
    data: Vec<f64>,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, ModelError> {
    let parts = Parts {
        family,
        data,
        response: ResponseScale::LINK,
        quantity: format!("log odds of {}", design.response.name),
        auxiliaries: Vec::new(),
        design,
    };
    Regression::model(parts, &Logistic::SPEC.priors, options)
}

pub(super) fn signed_rows(design: &Design) -> Vec<f64> {
    let mut data = Vec::with_capacity(design.x.len());
    for (x, &y) in design.x.rows().into_iter().zip(&design.y) {
        let sign = 2.0 * y - 1.0;
        data.extend(x.iter().map(|x| sign * x));
    }
    data
}

pub(super) fn weighted_rows(design: &Design) -> Vec<f64> {
    rows_with(design, |i| {
        [
            value_or(&design.offset, i, 0.0),
            design.y[i],
            value_or(&design.trials, i, 1.0),
            value_or(&design.weights, i, 1.0),
        ]
    })
}

impl Respond for SignedBernoulli {
    fn outcome(&self, (): &()) -> Outcome {
        Outcome::Binomial
    }
}

impl Respond for WeightedBinomial {
    fn outcome(&self, (): &()) -> Outcome {
        Outcome::Binomial
    }
}

#[cfg(test)]
mod tests;
