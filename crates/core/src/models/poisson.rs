//! Poisson regression: y_i ~ Poisson(μ_i), log μ_i = x_i'β + o_i. An offset `offset(log(exposure))` makes it one of rates.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(log mean, 2.5) | at centred predictors; the mean is that of counts per exposure |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//!
//! Score of a row: w (y − μ) x; curvature: w μ x x'. The log likelihood holds log y! too, so values per row are those of the
//! distribution. A row of weight w counts as w rows.
//!
//! Variance and mean of a count are assumed equal. Where the variance is larger, intervals are too narrow: after the search for
//! the mode Pearson's statistic is compared with its degrees of freedom, and a remark names template `negative-binomial`.

use std::sync::Arc;

use statrs::function::gamma::ln_gamma;

use super::coefficients::ResponseScale;
use super::glm::{Curvature, Family, LANES, Lane, MAX_AUX, Terms, exp};
use super::outcome::Outcome;
use super::regression::{COEFFICIENT_PRIORS, Fit, Parts, Regression, Respond, rows_with, value_or};
use super::translation::{Context, Glm, Translation, comment};
use super::{Model, ModelError, ModelOptions, ModelSpec, Template};
use crate::design::matrix::Design;
use crate::design::response::{ResponseKind, ResponseUse};
use ergodic_base::reporter::{Reporter, Severity, Warning};

/// Pearson's statistic per degree of freedom from which a remark is made: intervals are then a fifth too narrow.
const OVERDISPERSED: f64 = 1.5;

/// Rows with offset, count, weight and −w log y! after the covariates.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoissonCounts;

impl Family for PoissonCounts {
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
        [_offset, y, weight, constant]: &[Lane; 4],
        (): &(),
    ) -> Terms {
        let mean = exp(z);
        let (mut residual, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            residual[k] = weight[k] * (y[k] - mean[k]);
            if VALUE {
                sum[k] = weight[k] * (y[k] * z[k] - mean[k]) + constant[k];
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
    fn curvature(z: &Lane, [_offset, _y, weight, _constant]: &[Lane; 4], (): &()) -> Curvature {
        let mut zz = exp(z);
        for k in 0..LANES {
            zz[k] *= weight[k];
        }
        Curvature {
            zz,
            ..Curvature::default()
        }
    }
}

impl Respond for PoissonCounts {
    fn outcome(&self, (): &()) -> Outcome {
        Outcome::Poisson
    }

    fn remark(fit: &Fit<'_>, reporter: &mut Reporter) {
        let design = fit.design;
        let (mut statistic, mut rows) = (0.0, 0.0);
        for (i, (z, y)) in fit.predictors.iter().zip(&design.y).enumerate() {
            let (mean, weight) = (z.exp(), value_or(&design.weights, i, 1.0));
            statistic += weight * (y - mean).powi(2) / mean;
            rows += weight;
        }
        let ratio = statistic / (rows - design.num_columns() as f64);
        if rows > design.num_columns() as f64 && ratio > OVERDISPERSED {
            let message = format!(
                "The counts `{}` vary {ratio:.1} times as much as Poisson counts would, so intervals are too narrow",
                design.response.name
            );
            reporter.report(
                Warning::new(Severity::Watch, "overdispersion", message)
                    .about(design.response.name.clone())
                    .with_remedy("Choose template `negative-binomial`"),
            );
        }
    }
}

/// Refuses designs whose response is not counts.
pub(super) fn check_counts(design: &Design, template: &str) -> Result<(), ModelError> {
    super::refuse_group_terms(design, template)?;
    if matches!(design.response.kind, ResponseKind::Count { .. }) {
        Ok(())
    } else {
        Err(ModelError(format!(
            "Template `{template}` needs an outcome of counts"
        )))
    }
}

/// Offset, count, weight and −w log y! of row `i`.
pub(super) fn count_row(design: &Design, i: usize) -> [f64; 4] {
    let (y, weight) = (design.y[i], value_or(&design.weights, i, 1.0));
    let offset = value_or(&design.offset, i, 0.0);
    [offset, y, weight, -weight * ln_gamma(y + 1.0)]
}

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

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        check_counts(&design, Self::SPEC.id)?;
        let parts = Parts {
            family: PoissonCounts,
            data: rows_with(&design, |i| count_row(&design, i)),
            response: ResponseScale::log_of(&design),
            quantity: format!("log of the expected {}", design.response.name),
            auxiliaries: Vec::new(),
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
        context: *context,
        predicted: format!("The logarithm of the expected `{name}`"),
        given: format!("`{name}` is a Poisson count, whose variance is its mean."),
        response: vec![
            format!("{name}[i] ~ poisson(mu[i])"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        scale: ResponseScale::log_of(context.design),
        stan_data: vec![format!("array[N] int<lower=0> y;  // {}", comment(name))],
        stan_density: "poisson_log",
        stan_arguments: vec!["eta[]".to_owned()],
        continuous: false,
        auxiliaries: Vec::new(),
        r_response: Vec::new(),
        brms_family: "poisson()",
        brms_priors: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
