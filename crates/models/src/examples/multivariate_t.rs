//! The location of rows with heavy tails: x_i ~ t_ν(θ, Σ) in C dimensions, ν and Σ known.
//!
//! | parameter | space | prior |
//! |---|---|---|
//! | `theta[column]` | real, one per column | flat |
//!
//! log p = const − (ν + C)/2 log(1 + q), q = (x − θ)'P(x − θ)/ν with P = Σ⁻¹. Score (ν + C)/ν P(x − θ)/(1 + q). Σ has variances
//! s² and equal correlations ρ, so that P = (I − κ 11')/(s²(1 − ρ)), κ = ρ/(1 + (C − 1)ρ). Source: Baker
//! (2018), section 2.4.2, which prints neither ν nor Σ.
//!
//! Identifiability: always, with at least one row; the likelihood is not log-concave far from the rows.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};
use statrs::function::gamma::ln_gamma;

use super::described::{Described, brms, columns};
use super::{Example, PRIORS_ARE_SETTINGS, model, param, positive};
use crate::design::{Design, ResponseUse};
use crate::translation::{Context, NoTranslation, Translation, listed, number as text};
use crate::{Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo, Template};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Class, ParamId};

/// The template `multivariate-t`.
pub struct MultivariateT;

ergodic_base::settings! {
    /// Settings of [`MultivariateT`].
    struct MultivariateTSettings {
        df: f64 = positive("Degrees of freedom", 5.0).help("ν, known").why("the source prints no value");
        scale: f64 = positive("Scale", 1.0)
            .help("s, the square root of the diagonal of Σ")
            .why("the source prints no value");
        correlation: f64 = Field::real("Correlation", -0.999, 0.999, Some(0.0))
            .help("ρ, the correlation of any two columns in Σ")
            .why("the source prints no value");
    }
}

impl Template for MultivariateT {
    const SPEC: ModelSpec = ModelSpec {
        id: "multivariate-t",
        title: "Location of a multivariate t",
        about: "The centre of rows of one or more columns with heavy tails of known shape",
        fields: MultivariateTSettings::FIELDS,
        response: |_settings| ResponseUse::Absent,
        priors: PRIORS_ARE_SETTINGS,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let MultivariateTSettings {
            df,
            scale,
            correlation: rho,
        } = MultivariateTSettings::read(&options.settings)?;
        model::<Self, _>(&design, options, |names| {
            let width = names.len();
            let width_real = width as f64;
            let common = 1.0 + (width_real - 1.0) * rho;
            if common <= 0.0 {
                let least = -1.0 / (width_real - 1.0);
                let why = format!("must be above {least} with {width} columns, not {rho}");
                return Err(SettingError::unfit("correlation", why).into());
            }
            let log_det =
                width_real * 2.0 * scale.ln() + (width_real - 1.0) * (1.0 - rho).ln() + common.ln();
            Ok(Location {
                names,
                df,
                spread: scale * (1.0 - rho).sqrt(),
                kappa: rho / common,
                stretch: (common / (1.0 - rho)).sqrt() - 1.0,
                log_constant: ln_gamma(0.5 * (df + width_real))
                    - ln_gamma(0.5 * df)
                    - 0.5 * (width_real * (df * std::f64::consts::PI).ln() + log_det),
            })
        })
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let settings = MultivariateTSettings::read(&context.options.settings)?;
        let names = columns(context.design);
        let (width, df, scale) = (names.len(), text(settings.df), text(settings.scale));
        let (variance, rho) = (settings.scale.powi(2), settings.correlation);
        let together = if width > 1 {
            format!(" and all correlations {}", text(rho))
        } else {
            String::new()
        };
        let matrix = format!(
            "add_diag(rep_matrix({}, {width}, {width}), {})",
            text(rho * variance),
            text((1.0 - rho) * variance)
        );
        let described = Described {
            words: format!(
                "Rows of {} are multivariate Student t with {df} degrees of freedom around an unknown centre `theta`, with the \
                 known scale {scale} in every column{together}. The prior of `theta` is flat.",
                listed(&names)
            ),
            equation: vec![
                format!("x[i] ~ multi_student_t({df}, theta, Sigma)"),
                format!(
                    "Sigma has {} on its diagonal{}",
                    text(variance),
                    match width {
                        1 => String::new(),
                        _ => format!(" and {} elsewhere", text(rho * variance)),
                    }
                ),
                "theta has a flat prior".to_owned(),
            ],
            vectors: true,
            parameters: vec![format!("vector[{width}] theta;")],
            priors: vec!["// theta: flat".to_owned()],
            row: format!("multi_student_t_lpdf(x[i] | {df}, theta, {matrix})"),
            brms: if width == 1 {
                Ok(brms(
                    context,
                    "x ~ 1",
                    "student()",
                    &[
                        "\"\", class = \"Intercept\"",
                        &format!("\"constant({scale})\", class = \"sigma\""),
                        &format!("\"constant({df})\", class = \"nu\""),
                    ],
                ))
            } else {
                Err(NoTranslation::Absent(
                    "brms estimates the correlations of several columns; here they are known",
                ))
            },
        };
        Ok(described.all(context))
    }
}

struct Location {
    names: Vec<String>,
    df: f64,
    /// s sqrt(1 − ρ).
    spread: f64,
    /// κ of the header.
    kappa: f64,
    /// What the mean of independent numbers is added times to correlate them.
    stretch: f64,
    log_constant: f64,
}

impl Location {
    /// The sum of x − θ, and q.
    fn distance(&self, x: &[f64], u: &[f64]) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (x, u) in x.iter().zip(u) {
            sum += x - u;
            squares += (x - u) * (x - u);
        }
        let scale = self.spread * self.spread * self.df;
        (sum, (squares - self.kappa * sum * sum) / scale)
    }

    /// Entry j of P(x − θ), given the sum of x − θ.
    fn pull(&self, x: &[f64], u: &[f64], j: usize, sum: f64) -> f64 {
        (x[j] - u[j] - self.kappa * sum) / (self.spread * self.spread)
    }

    fn power(&self) -> f64 {
        self.df + self.names.len() as f64
    }
}

impl Example for Location {
    fn params(&self) -> Vec<ParamInfo> {
        self.names
            .iter()
            .map(|name| {
                param(
                    ParamId::of(Class::GroupCoefficient, [name]),
                    &format!("centre of {name}"),
                    "flat".to_owned(),
                )
            })
            .collect()
    }

    fn log_prior(&self, _u: &[f64], grad: &mut [f64]) -> f64 {
        grad.fill(0.0);
        0.0
    }

    fn add_prior_curvature(&self, _u: &[f64], _hessian: &mut [f64]) {}

    fn prior_density(&self, _index: usize, _value: f64) -> Option<f64> {
        None
    }

    fn draw_prior(&self, _rng: &mut ChainRng, _u: &mut [f64]) -> Result<(), NoPriorDraws> {
        Err(NoPriorDraws::Flat)
    }

    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64 {
        let (sum, q) = self.distance(x, u);
        let factor = weight * self.power() / (self.df * (1.0 + q));
        for (j, grad) in grad.iter_mut().enumerate() {
            *grad += factor * self.pull(x, u, j, sum);
        }
        self.log_constant - 0.5 * self.power() * q.ln_1p()
    }

    fn log_density(&self, x: &[f64], u: &[f64]) -> f64 {
        self.log_constant - 0.5 * self.power() * self.distance(x, u).1.ln_1p()
    }

    fn add_curvature(&self, x: &[f64], u: &[f64], weight: f64, hessian: &mut [f64]) {
        let (sum, q) = self.distance(x, u);
        let factor = weight * self.power() / (self.df * (1.0 + q));
        let dim = u.len();
        for i in 0..dim {
            for j in 0..dim {
                let unit = f64::from(u8::from(i == j));
                let p = (unit - self.kappa) / (self.spread * self.spread);
                let outer = self.pull(x, u, i, sum) * self.pull(x, u, j, sum);
                hessian[i * dim + j] += factor * (p - 2.0 * outer / (self.df * (1.0 + q)));
            }
        }
    }

    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]) {
        let mut mean = 0.0;
        for x in x.iter_mut() {
            *x = rng.sample(StandardNormal);
            mean += *x / u.len() as f64;
        }
        let chi_squared = ChiSquared::new(self.df).map_or(f64::NAN, |chi| chi.sample(rng));
        let scale = self.spread / (chi_squared / self.df).sqrt();
        for (x, u) in x.iter_mut().zip(u) {
            *x = u + scale * (*x + self.stretch * mean);
        }
    }
}
