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
//!
//! log p = ln Γ(y + φ) − ln Γ(φ) − log y! − φ log(1 + μ/φ) + y (log μ − log(φ + μ)). With c = φ/(φ + μ):
//! ∂/∂z = c (y − μ), ∂/∂φ = ψ(y + φ) − ψ(φ) − log(1 + μ/φ) + (μ − y)/(φ + μ), ∂/∂a = φ ∂/∂φ;
//! −∂²/∂z² = c (y + φ) μ/(φ + μ), −∂²/∂z∂a = −c (y − μ) μ/(φ + μ). A row of weight w counts as w rows.

use std::sync::Arc;

use super::coefficients::{INTERCEPT, ResponseScale, SLOPES};
use super::glm::{Curvature, Family, LANES, Lane, Terms, exp};
use super::outcome::Outcome;
use super::poisson::{self, check_counts, count_row};
use super::positive::{PositivePrior, PositiveSpec};
use super::regression::{Parts, Regression, Respond, priors_with, rows_with};
use super::translation::{Auxiliary, Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Template};
use crate::design::matrix::Design;
use crate::design::response::ResponseUse;
use ergodic_base::special::{digamma_difference, ln_gamma_difference, trigamma_difference};

/// Rows with offset, count, weight and −w log y! after the covariates.
#[derive(Clone, Copy, Debug)]
pub(super) struct NegativeBinomialCounts;

impl Family for NegativeBinomialCounts {
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    const LOG_CONCAVE: bool = true;
    /// φ.
    type Shared = f64;

    fn shared(&self, aux: &[f64]) -> f64 {
        aux[0].exp()
    }

    #[inline(always)]
    fn predictor(z: &mut Lane, extra: &[Lane; 4]) {
        for k in 0..LANES {
            z[k] += extra[0][k];
        }
    }

    #[inline(always)]
    fn terms<const VALUE: bool>(
        z: &Lane,
        [_offset, y, weight, constant]: &[Lane; 4],
        &shape: &f64,
    ) -> Terms {
        let mean = exp(z);
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            let (y, mean, weight) = (y[k], mean[k], weight[k]);
            let total = shape + mean;
            let log_ratio = (mean / shape).ln_1p();
            residual[k] = weight * (y - mean) * (shape / total);
            let slope = digamma_difference(shape, y) - log_ratio + (mean - y) / total;
            aux[k] = weight * shape * slope;
            if VALUE {
                let log_chance = y * (z[k] - total.ln()) - shape * log_ratio;
                sum[k] = weight * (ln_gamma_difference(shape, y) + log_chance) + constant[k];
            }
        }
        Terms {
            residual,
            aux: [aux, [0.0; LANES]],
            sum,
            factor: [1.0; LANES],
        }
    }

    #[inline(always)]
    fn curvature(z: &Lane, [_offset, y, weight, _constant]: &[Lane; 4], &shape: &f64) -> Curvature {
        let mean = exp(z);
        let mut out = Curvature::default();
        for k in 0..LANES {
            let (y, mean, weight) = (y[k], mean[k], weight[k]);
            let total = shape + mean;
            let (c, share) = (shape / total, mean / total);
            out.zz[k] = weight * c * (y + shape) * share;
            out.za[0][k] = -weight * c * (y - mean) * share;
            let slope = digamma_difference(shape, y) - (mean / shape).ln_1p() + (mean - y) / total;
            let second =
                trigamma_difference(shape, y) + share / shape - (mean - y) / (total * total);
            out.aa[0][k] = -weight * shape * (slope + shape * second);
        }
        out
    }
}

impl Respond for NegativeBinomialCounts {
    fn outcome(&self, &shape: &f64) -> Outcome {
        Outcome::NegativeBinomial { shape }
    }
}

/// The parameter `shape` of counts called `name`.
pub(super) fn shape(name: &str) -> PositiveSpec {
    PositiveSpec {
        name: "shape".to_owned(),
        class: "shape",
        meaning: format!(
            "shape of the overdispersion of {name}: its variance is mean + mean²/shape"
        ),
        lower: 0.0,
        unit: 1.0,
        unit_words: String::new(),
        default: PositivePrior::LogNormal { mean: 2.0, sd: 2.0 },
    }
}

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

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        check_counts(&design, Self::SPEC.id)?;
        let parts = Parts {
            family: NegativeBinomialCounts,
            data: rows_with(&design, |i| count_row(&design, i)),
            response: ResponseScale::log_of(&design),
            quantity: format!("log of the expected {}", design.response.name),
            auxiliaries: vec![shape(&design.response.name)],
            design,
        };
        Regression::model(parts, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(described(context).describe())
    }
}

/// The regression in other notations.
pub(super) fn described<'a>(context: &Context<'a>) -> Glm<'a> {
    let name = &context.design.response.name;
    Glm {
        given: format!(
            "`{name}` is a negative binomial count, whose variance is mean + mean²/`shape`."
        ),
        response: vec![
            format!("{name}[i] ~ neg_binomial_2(mu[i], shape), with variance mu[i] + mu[i]²/shape"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_density: "neg_binomial_2_log",
        stan_arguments: vec!["eta[]".to_owned(), "shape".to_owned()],
        auxiliaries: vec![Auxiliary {
            name: "shape",
            what: "shape of the overdispersion",
            lower: 0.0,
            has_unit: false,
        }],
        brms_family: "negbinomial()",
        ..poisson::described(context)
    }
}

#[cfg(test)]
mod tests;
