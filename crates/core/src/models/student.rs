//! Robust regression: y_i = x_i'β + o_i + σ t_i with t_i Student-t of ν degrees of freedom, so that outliers count less.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 2.5) | at centred predictors, in sd(y) from the mean of y |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor, in sd(y) |
//! | `sigma` | positive | half_student_t(3, 0, 2.5) | in sd(y) |
//! | `nu` (ν) | above 1 | gamma(2, 0.1), cut off at 1 (Juárez and Steel 2010) | none |
//!
//! `model.nu` fixes ν instead. The response is standardised internally as in `linear.rs`. σ is the scale of the t distribution,
//! not its standard deviation, which is σ sqrt(ν/(ν − 2)) for ν > 2.
//!
//! With t = (y − z)/σ and a = log σ, log p = f(t) − a + c(ν) where f(t) = −(ν + 1)/2 log(1 + t²/ν) and
//! c(ν) = ln Γ((ν + 1)/2) − ln Γ(ν/2) − log(νπ)/2. The coordinate of ν is b = log(ν − 1). Rows are not log-concave in z. A row of
//! weight w counts as w rows.

use std::f64::consts::PI;
use std::sync::Arc;

use super::coefficients::{INTERCEPT, ResponseScale, SLOPES};
use super::glm::{Curvature, Family, LANES, Lane, Terms};
use super::linear::{self, check_numbers, number_row, sigma};
use super::outcome::Outcome;
use super::positive::{PositivePrior, PositiveSpec};
use super::regression::{Parts, Regression, Respond, priors_with, rows_with};
use super::translation::{self, Auxiliary, Context, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Template};
use crate::design::matrix::Design;
use crate::design::response::ResponseUse;
use ergodic_base::settings::{Field, Kind};
use ergodic_base::special::{digamma_difference, ln_gamma_difference, trigamma_difference};

/// Smallest ν where it is estimated: below it the noise has no mean.
const LEAST_NU: f64 = 1.0;

/// Rows with response, weight and constant; ν is the second auxiliary coordinate.
#[derive(Clone, Copy, Debug)]
struct FreeNu;

/// Rows with response, weight and constant where ν is given.
#[derive(Clone, Copy, Debug)]
struct FixedNu {
    nu: f64,
}

/// σ, ν and functions of them that all rows need.
#[derive(Clone, Copy, Debug)]
struct Scales {
    log_sigma: f64,
    /// 1/σ.
    inverse: f64,
    nu: f64,
    /// c(ν) without the constant −log(π)/2, and its first two derivatives.
    constant: [f64; 3],
    /// dν/db; 0 where ν is given.
    step: f64,
}

impl Scales {
    fn new(log_sigma: f64, nu: f64, step: f64) -> Self {
        // ln Γ(h + 1/2) − ln Γ(h) with h = ν/2, and derivatives in ν.
        let half = 0.5 * nu;
        Self {
            log_sigma,
            inverse: (-log_sigma).exp(),
            nu,
            constant: [
                ln_gamma_difference(half, 0.5) - 0.5 * nu.ln(),
                0.5 * digamma_difference(half, 0.5) - 0.5 / nu,
                0.25 * trigamma_difference(half, 0.5) + 0.5 / (nu * nu),
            ],
            step,
        }
    }
}

#[inline(always)]
fn terms<const VALUE: bool, const FREE: bool>(
    z: &Lane,
    [y, weight, constant, _]: &[Lane; 4],
    s: &Scales,
) -> Terms {
    let (mut residual, mut aux, mut sum) = ([0.0; LANES], [[0.0; LANES]; 2], [0.0; LANES]);
    for k in 0..LANES {
        let t = (y[k] - z[k]) * s.inverse;
        let square = t * t;
        // −f'(t)/t.
        let pull = (s.nu + 1.0) / (s.nu + square);
        residual[k] = weight[k] * pull * t * s.inverse;
        aux[0][k] = weight[k] * (pull * square - 1.0);
        if VALUE || FREE {
            let log = (square / s.nu).ln_1p();
            if FREE {
                let slope = s.constant[1] - 0.5 * log + 0.5 * pull * square / s.nu;
                aux[1][k] = weight[k] * slope * s.step;
            }
            if VALUE {
                let log_p = s.constant[0] - s.log_sigma - 0.5 * (s.nu + 1.0) * log;
                sum[k] = constant[k] + weight[k] * log_p;
            }
        }
    }
    Terms {
        residual,
        aux,
        sum,
        factor: [1.0; LANES],
    }
}

#[inline(always)]
fn curvature(z: &Lane, [y, weight, _constant, _]: &[Lane; 4], s: &Scales) -> Curvature {
    let mut out = Curvature::default();
    for k in 0..LANES {
        let (w, nu) = (weight[k], s.nu);
        let t = (y[k] - z[k]) * s.inverse;
        let square = t * t;
        let below = nu + square;
        let first = -(nu + 1.0) * t / below;
        let second = -(nu + 1.0) * (nu - square) / (below * below);
        // ∂f'/∂ν.
        let mixed = -t * (square - 1.0) / (below * below);
        out.zz[k] = -w * second * s.inverse * s.inverse;
        out.za[0][k] = -w * (second * t + first) * s.inverse;
        out.aa[0][k] = -w * t * (first + t * second);
        out.za[1][k] = w * mixed * s.inverse * s.step;
        out.aa[1][k] = w * t * mixed * s.step;
        let slope =
            s.constant[1] - 0.5 * (square / nu).ln_1p() + 0.5 * (nu + 1.0) * square / (nu * below);
        let change = s.constant[2]
            + 0.5 * square / (nu * below)
            + 0.5 * square * (nu * below - (nu + 1.0) * (nu + below)) / (nu * below).powi(2);
        out.aa[2][k] = -w * s.step * (slope + s.step * change);
    }
    out
}

impl Family for FreeNu {
    const EXTRA: usize = 3;
    const AUX: usize = 2;
    type Shared = Scales;

    fn shared(&self, aux: &[f64]) -> Scales {
        let step = aux[1].exp();
        Scales::new(aux[0], LEAST_NU + step, step)
    }

    #[inline(always)]
    fn predictor(_z: &mut Lane, _extra: &[Lane; 4]) {}

    #[inline(always)]
    fn terms<const VALUE: bool>(z: &Lane, extra: &[Lane; 4], scales: &Scales) -> Terms {
        terms::<VALUE, true>(z, extra, scales)
    }

    #[inline(always)]
    fn curvature(z: &Lane, extra: &[Lane; 4], scales: &Scales) -> Curvature {
        curvature(z, extra, scales)
    }
}

impl Family for FixedNu {
    const EXTRA: usize = 3;
    const AUX: usize = 1;
    type Shared = Scales;

    fn shared(&self, aux: &[f64]) -> Scales {
        Scales::new(aux[0], self.nu, 0.0)
    }

    #[inline(always)]
    fn predictor(_z: &mut Lane, _extra: &[Lane; 4]) {}

    #[inline(always)]
    fn terms<const VALUE: bool>(z: &Lane, extra: &[Lane; 4], scales: &Scales) -> Terms {
        terms::<VALUE, false>(z, extra, scales)
    }

    #[inline(always)]
    fn curvature(z: &Lane, extra: &[Lane; 4], scales: &Scales) -> Curvature {
        curvature(z, extra, scales)
    }
}

fn outcome(scales: &Scales) -> Outcome {
    Outcome::StudentT {
        nu: scales.nu,
        scale: scales.log_sigma.exp(),
    }
}

impl Respond for FreeNu {
    fn outcome(&self, scales: &Scales) -> Outcome {
        outcome(scales)
    }
}

impl Respond for FixedNu {
    fn outcome(&self, scales: &Scales) -> Outcome {
        outcome(scales)
    }
}

/// The template `student`.
pub struct Student;

impl Template for Student {
    const SPEC: ModelSpec = ModelSpec {
        id: "student",
        title: "Robust regression",
        about: "How the middle of a number depends on predictors, with Student-t noise in which outliers count less",
        fields: &[Field {
            key: "nu",
            label: "Degrees of freedom",
            help: "ν of the noise: small values allow more and farther outliers, 30 and more are hardly different from \
                   normal noise; auto estimates it as parameter `nu`",
            kind: Kind::Real { min: 0.5, max: 1e6 },
            default: None,
            why: "the data tell how heavy the tails are",
        }],
        response: |_settings| ResponseUse::Number,
        priors: priors_with(&[
            INTERCEPT,
            SLOPES,
            ("sigma", "Scale of the noise"),
            ("nu", "Degrees of freedom"),
        ]),
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        check_numbers(&design, Self::SPEC.id)?;
        let response = ResponseScale::of(&design)?;
        let constant = -0.5 * PI.ln();
        let name = design.response.name.clone();
        let data = rows_with(&design, |i| number_row(&design, response, constant, i));
        let quantity = format!("middle of {name}");
        let sigma = sigma(
            &design,
            response,
            format!("scale of the Student-t noise of {name}"),
        );
        if let Some(nu) = options.settings.real("nu") {
            let parts = Parts {
                design,
                family: FixedNu { nu },
                data,
                response,
                quantity,
                auxiliaries: vec![sigma],
            };
            return Regression::model(parts, &Self::SPEC.priors, options);
        }
        let nu = PositiveSpec {
            name: "nu".to_owned(),
            class: "nu",
            meaning: format!(
                "degrees of freedom of the Student-t noise of {name}: the smaller, the heavier its tails"
            ),
            lower: LEAST_NU,
            unit: 1.0,
            unit_words: String::new(),
            default: PositivePrior::Gamma {
                shape: 2.0,
                rate: 0.1,
            },
        };
        let parts = Parts {
            design,
            family: FreeNu,
            data,
            response,
            quantity,
            auxiliaries: vec![sigma, nu],
        };
        Regression::model(parts, &Self::SPEC.priors, options)
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let name = &context.design.response.name;
        let mut regression = linear::described(context)?;
        let nu = match context.options.settings.real("nu") {
            Some(nu) => {
                let nu = translation::number(nu);
                let fixed = format!("set_prior(\"constant({nu})\", class = \"nu\")");
                regression.brms_priors.push(fixed);
                nu
            }
            None => {
                regression.auxiliaries.push(Auxiliary {
                    name: "nu",
                    what: "degrees of freedom",
                    lower: LEAST_NU,
                    has_unit: false,
                });
                "nu".to_owned()
            }
        };
        regression.predicted = format!("The middle of `{name}`");
        regression.given = format!(
            "`{name}` varies around it as a Student t with {nu} degrees of freedom and scale `sigma`, so that outliers \
             count less than with normal noise."
        );
        regression.response = vec![format!("{name}[i] ~ student_t({nu}, eta[i], sigma)")];
        regression.stan_density = "student_t";
        regression.stan_arguments.insert(0, nu);
        regression.brms_family = "student()";
        Ok(regression.describe())
    }
}

#[cfg(test)]
mod tests;
