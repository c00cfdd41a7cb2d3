//! The mean of normal numbers with known variance: x_i ~ N(θ, σ²), θ ~ N(m, v).
//!
//! | parameter | space | default prior |
//! |---|---|---|
//! | `theta` | real | N(0, 10), variance 10 |
//!
//! Score of a row: (x − θ)/σ²; curvature 1/σ². The posterior is N((m/v + Σx/σ²)/p, 1/p) with p = 1/v + N/σ². Source: the
//! example of Baker (2018), section 4.2, with σ² = 1 and the prior N(0, 10).

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::described::{Described, brms, columns};
use super::{
    Example, NormalPrior, PRIOR_MEAN, PRIORS_ARE_SETTINGS, log_normal, model, param, positive,
};
use crate::design::{Design, ResponseUse};
use crate::translation::{Context, Translation, listed, number as text};
use crate::{
    Form, KnownConditional, Marginal, Model, ModelError, ModelOptions, ModelSpec, ParamInfo,
    Template,
};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// The template `normal-mean`.
pub struct NormalMean;

ergodic_base::settings! {
    /// Settings of [`NormalMean`].
    struct NormalMeanSettings {
        variance: f64 = positive("Variance of a row", 1.0).help("σ², known").why("that of the source");
        prior_mean: f64 = PRIOR_MEAN.help("m of the prior N(m, v) of θ").why("that of the source");
        prior_variance: f64 = positive("Prior variance", 10.0)
            .help("v of the prior N(m, v) of θ")
            .why("that of the source");
    }
}

impl Template for NormalMean {
    const SPEC: ModelSpec = ModelSpec {
        id: "normal-mean",
        title: "Mean of normal numbers",
        about: "The mean of numbers that are normal with a known variance",
        fields: NormalMeanSettings::FIELDS,
        response: |_settings| ResponseUse::Number,
        priors: PRIORS_ARE_SETTINGS,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let settings = NormalMeanSettings::read(&options.settings)?;
        model::<Self, _>(&design, options, |_names| {
            Ok(Mean {
                variance: settings.variance,
                prior: NormalPrior {
                    mean: settings.prior_mean,
                    variance: settings.prior_variance,
                },
            })
        })
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let settings = NormalMeanSettings::read(&context.options.settings)?;
        let sd = text(settings.variance.sqrt());
        let (mean, prior_sd) = (
            text(settings.prior_mean),
            text(settings.prior_variance.sqrt()),
        );
        let described = Described {
            words: format!(
                "Values of {} are normal around an unknown mean `theta` with the known standard deviation {sd}. The prior \
                 of `theta` is normal({mean}, {prior_sd}).",
                listed(&columns(context.design))
            ),
            equation: vec![
                format!("x[i] ~ normal(theta, {sd})"),
                format!("theta ~ normal({mean}, {prior_sd})"),
            ],
            vectors: false,
            parameters: vec!["real theta;".to_owned()],
            priors: vec![format!("theta ~ normal({mean}, {prior_sd});")],
            row: format!("normal_lpdf(x[i] | theta, {sd})"),
            brms: Ok(brms(
                context,
                "x ~ 1",
                "gaussian()",
                &[
                    &format!("\"normal({mean}, {prior_sd})\", class = \"Intercept\""),
                    &format!("\"constant({sd})\", class = \"sigma\""),
                ],
            )),
        };
        Ok(described.all(context))
    }
}

struct Mean {
    variance: f64,
    prior: NormalPrior,
}

impl Example for Mean {
    fn params(&self) -> Vec<ParamInfo> {
        vec![param("theta", "mean of the rows", self.prior.text())]
    }

    fn priors(&self) -> &[NormalPrior] {
        std::slice::from_ref(&self.prior)
    }

    fn known_conditionals(&self) -> Vec<KnownConditional> {
        vec![KnownConditional {
            coordinates: 0..1,
            form: Form::Normal,
            independent: true,
        }]
    }

    fn marginal(
        &self,
        _index: usize,
        rows: &mut dyn Iterator<Item = (&[f64], f64)>,
    ) -> Option<Marginal> {
        let NormalPrior { mean, variance } = self.prior;
        let (mut precision, mut sum) = (1.0 / variance, mean / variance);
        for (x, weight) in rows {
            precision += weight / self.variance;
            sum += weight * x[0] / self.variance;
        }
        Some(Marginal::Normal {
            mean: sum / precision,
            sd: precision.recip().sqrt(),
        })
    }

    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64 {
        grad[0] += weight * (x[0] - u[0]) / self.variance;
        self.log_density(x, u)
    }

    fn log_density(&self, x: &[f64], u: &[f64]) -> f64 {
        log_normal(x[0], u[0], self.variance)
    }

    fn add_curvature(&self, _x: &[f64], _u: &[f64], weight: f64, hessian: &mut [f64]) {
        hessian[0] += weight / self.variance;
    }

    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]) {
        x[0] = u[0] + self.variance.sqrt() * rng.sample::<f64, _>(StandardNormal);
    }
}
