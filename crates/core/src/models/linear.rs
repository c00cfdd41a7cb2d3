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
//! With r = y − z and a = log σ: ∂/∂z = r/σ², ∂/∂a = r²/σ² − 1; −∂²/∂z² = 1/σ², −∂²/∂z∂a = 2r/σ², −∂²/∂a² = 2r²/σ². A row of
//! weight w counts as w rows.
//!
//! Identifiability: σ needs more rows than coefficients, or its prior; a response that is the same in all rows is refused.

use std::f64::consts::PI;
use std::sync::Arc;

use super::coefficients::{INTERCEPT, ResponseScale, SLOPES};
use super::glm::{Curvature, Family, LANES, Lane, Terms};
use super::outcome::Outcome;
use super::positive::{PositivePrior, PositiveSpec};
use super::regression::{Fit, Parts, Regression, Respond, priors_with, rows_with, value_or};
use super::translation::{Context, Glm, SIGMA, Translation, comment};
use super::{Model, ModelError, ModelOptions, ModelSpec, Template};
use crate::design::matrix::Design;
use crate::design::response::{ResponseKind, ResponseUse};
use ergodic_base::reporter::Reporter;

mod residuals;

/// Rows with response, weight and the logarithm of the normal density's constant, times the weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normal;

/// σ as the rows need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sigma {
    log: f64,
    /// 1/σ².
    precision: f64,
}

impl Family for Normal {
    const EXTRA: usize = 3;
    const AUX: usize = 1;
    type Shared = Sigma;

    fn shared(&self, aux: &[f64]) -> Sigma {
        Sigma {
            log: aux[0],
            precision: (-2.0 * aux[0]).exp(),
        }
    }

    #[inline(always)]
    fn predictor(_z: &mut Lane, _extra: &[Lane; 4]) {}

    #[inline(always)]
    fn terms<const VALUE: bool>(
        z: &Lane,
        [y, weight, constant, _]: &[Lane; 4],
        sigma: &Sigma,
    ) -> Terms {
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            let r = y[k] - z[k];
            let scaled = sigma.precision * r;
            let square = scaled * r;
            residual[k] = weight[k] * scaled;
            aux[k] = weight[k] * (square - 1.0);
            if VALUE {
                sum[k] = constant[k] - weight[k] * (sigma.log + 0.5 * square);
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
    fn curvature(z: &Lane, [y, weight, _constant, _]: &[Lane; 4], sigma: &Sigma) -> Curvature {
        let mut out = Curvature::default();
        for k in 0..LANES {
            let r = y[k] - z[k];
            let precision = weight[k] * sigma.precision;
            out.zz[k] = precision;
            out.za[0][k] = 2.0 * precision * r;
            out.aa[0][k] = 2.0 * precision * r * r;
        }
        out
    }
}

impl Respond for Normal {
    const NORMAL: bool = true;

    fn outcome(&self, sigma: &Sigma) -> Outcome {
        Outcome::Normal {
            sd: sigma.log.exp(),
        }
    }

    fn remark(fit: &Fit<'_>, reporter: &mut Reporter) {
        residuals::remark(fit, reporter);
    }
}

/// Refuses designs whose response is not numbers.
pub(super) fn check_numbers(design: &Design, template: &str) -> Result<(), ModelError> {
    super::refuse_group_terms(design, template)?;
    if matches!(design.response.kind, ResponseKind::Number { .. }) {
        Ok(())
    } else {
        Err(ModelError(format!(
            "Template `{template}` needs an outcome of numbers"
        )))
    }
}

/// Internal response, weight, and weight times `constant` less the logarithm of the response's scale, which makes the density
/// one of the response as it is.
pub(super) fn number_row(
    design: &Design,
    response: ResponseScale,
    constant: f64,
    i: usize,
) -> [f64; 3] {
    let weight = value_or(&design.weights, i, 1.0);
    let y = design.y[i] - value_or(&design.offset, i, 0.0) - response.centre;
    let constant = weight * (constant - response.scale.ln());
    [y / response.scale, weight, constant]
}

/// A residual scale `sigma` with the `meaning`.
pub(super) fn sigma(design: &Design, response: ResponseScale, meaning: String) -> PositiveSpec {
    PositiveSpec {
        name: "sigma".to_owned(),
        class: "sigma",
        meaning,
        lower: 0.0,
        unit: response.scale,
        unit_words: format!("sd of `{}`", design.response.name),
        default: PositivePrior::HalfStudentT {
            df: 3.0,
            scale: 2.5,
        },
    }
}

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

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        check_numbers(&design, Self::SPEC.id)?;
        let response = ResponseScale::of(&design)?;
        let constant = -0.5 * (2.0 * PI).ln();
        let name = &design.response.name;
        let parts = Parts {
            family: Normal,
            data: rows_with(&design, |i| number_row(&design, response, constant, i)),
            response,
            quantity: format!("mean of {name}"),
            auxiliaries: vec![sigma(
                &design,
                response,
                format!("standard deviation of {name} around its mean"),
            )],
            design,
        };
        Regression::model(parts, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(described(context)?.describe())
    }
}

/// The regression in other notations.
pub(super) fn described<'a>(context: &Context<'a>) -> Result<Glm<'a>, ModelError> {
    let name = &context.design.response.name;
    Ok(Glm {
        context: *context,
        predicted: format!("The mean of `{name}`"),
        given: format!(
            "`{name}` varies around this mean normally with standard deviation `sigma`."
        ),
        response: vec![format!("{name}[i] ~ normal(eta[i], sigma)")],
        scale: ResponseScale::of(context.design)?,
        stan_data: vec![format!("vector[N] y;  // {}", comment(name))],
        stan_density: "normal",
        stan_arguments: vec!["eta[]".to_owned(), SIGMA.name.to_owned()],
        continuous: true,
        auxiliaries: vec![SIGMA],
        r_response: Vec::new(),
        brms_family: "gaussian()",
        brms_priors: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
