//! A posterior bent like a banana: x_i ~ N(θ_1 + θ_2², σ²), θ_1, θ_2 ~ N(0, v).
//!
//! | parameter | space | default prior |
//! |---|---|---|
//! | `theta[1]`, `theta[2]` | real | N(0, 1) each |
//!
//! With e = (x − θ_1 − θ_2²)/σ² the score of a row is (e, 2 θ_2 e), its curvature 1/σ² (1, 2θ_2; 2θ_2, 4θ_2²) − 2e at θ_2.
//! Source: Baker (2018), section 2.4.2, which prints no scales; σ² = 4 and v = 1 give a
//! crescent.
//!
//! Identifiability: the data tell θ_1 + θ_2² only, and θ_2 up to its sign; the prior does the rest, so that the posterior has
//! two arms.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::described::{Described, brms, columns};
use super::{Example, NormalPrior, PRIORS_ARE_SETTINGS, log_normal, model, param, positive};
use crate::design::{Design, ResponseUse};
use crate::translation::{Context, Translation, listed, number as text};
use crate::{Model, ModelError, ModelOptions, ModelSpec, ParamInfo, Template};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// The template `warped-gaussian`.
pub struct WarpedGaussian;

ergodic_base::settings! {
    /// Settings of [`WarpedGaussian`].
    struct WarpedGaussianSettings {
        variance: f64 = positive("Variance of a row", 4.0)
            .help("σ², known")
            .why("the source prints no value; this one gives a crescent");
        prior_variance: f64 = positive("Prior variance", 1.0)
            .help("v of the prior N(0, v) of θ_1 and θ_2")
            .why("the source prints no value");
    }
}

impl Template for WarpedGaussian {
    const SPEC: ModelSpec = ModelSpec {
        id: "warped-gaussian",
        title: "Warped Gaussian",
        about: "Two parameters of which the data tell only the sum of the first and the square of the second: a curved posterior",
        fields: WarpedGaussianSettings::FIELDS,
        response: |_settings| ResponseUse::Number,
        priors: PRIORS_ARE_SETTINGS,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let settings = WarpedGaussianSettings::read(&options.settings)?;
        model::<Self, _>(&design, options, |_names| {
            let prior = NormalPrior {
                mean: 0.0,
                variance: settings.prior_variance,
            };
            Ok(Warped {
                variance: settings.variance,
                priors: [prior; 2],
            })
        })
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let settings = WarpedGaussianSettings::read(&context.options.settings)?;
        let [sd, prior_sd] =
            [settings.variance, settings.prior_variance].map(|variance| text(variance.sqrt()));
        let of = |parameter: &str| {
            format!("\"normal(0, {prior_sd})\", class = \"b\", nlpar = \"{parameter}\"")
        };
        let described = Described {
            words: format!(
                "Values of {} are normal with the known standard deviation {sd} around `theta[1]` plus the square of \
                 `theta[2]`. The priors of both are normal(0, {prior_sd}).",
                listed(&columns(context.design))
            ),
            equation: vec![
                format!("x[i] ~ normal(theta[1] + theta[2]², {sd})"),
                format!("theta[1], theta[2] ~ normal(0, {prior_sd})"),
            ],
            vectors: false,
            parameters: vec!["vector[2] theta;".to_owned()],
            priors: vec![format!("theta ~ normal(0, {prior_sd});")],
            row: format!("normal_lpdf(x[i] | theta[1] + square(theta[2]), {sd})"),
            brms: Ok(brms(
                context,
                "bf(x ~ a + b^2, a + b ~ 1, nl = TRUE)",
                "gaussian()",
                &[
                    &of("a"),
                    &of("b"),
                    &format!("\"constant({sd})\", class = \"sigma\""),
                ],
            )),
        };
        Ok(described.all(context))
    }
}

struct Warped {
    variance: f64,
    priors: [NormalPrior; 2],
}

impl Example for Warped {
    fn params(&self) -> Vec<ParamInfo> {
        let [first, second] = self.priors;
        vec![
            param(
                "theta[1]",
                "the part of the mean that enters as it is",
                first.text(),
            ),
            param(
                "theta[2]",
                "the part of the mean that enters squared",
                second.text(),
            ),
        ]
    }

    fn priors(&self) -> &[NormalPrior] {
        &self.priors
    }

    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64 {
        let e = weight * (x[0] - u[0] - u[1] * u[1]) / self.variance;
        grad[0] += e;
        grad[1] += 2.0 * u[1] * e;
        self.log_density(x, u)
    }

    fn log_density(&self, x: &[f64], u: &[f64]) -> f64 {
        log_normal(x[0], u[0] + u[1] * u[1], self.variance)
    }

    fn add_curvature(&self, x: &[f64], u: &[f64], weight: f64, hessian: &mut [f64]) {
        let scale = weight / self.variance;
        let e = scale * (x[0] - u[0] - u[1] * u[1]);
        hessian[0] += scale;
        hessian[1] += 2.0 * u[1] * scale;
        hessian[2] += 2.0 * u[1] * scale;
        hessian[3] += 4.0 * u[1] * u[1] * scale - 2.0 * e;
    }

    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]) {
        let noise: f64 = rng.sample(StandardNormal);
        x[0] = u[0] + u[1] * u[1] + self.variance.sqrt() * noise;
    }
}
