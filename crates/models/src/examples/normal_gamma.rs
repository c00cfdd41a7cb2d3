//! Mean and precision of normal numbers: x_i ~ N(μ, 1/τ), μ|τ ~ N(m, 1/τ), τ ~ Gamma(α, β).
//!
//! | parameter | space | default prior |
//! |---|---|---|
//! | `mu` | real | N(0, 1/τ) |
//! | `tau` | positive, sampled as log τ | Gamma(5, 1), shape and rate |
//!
//! Score of a row in (μ, log τ): τ(x − μ), (1 − τ(x − μ)²)/2. Source: the example of
//! Chen (2016) with 1000 rows, where m is not printed. With n rows of mean x̄ the marginals are
//! τ|x ~ Gamma(α + n/2, β + Σ(x_i − x̄)²/2 + n(x̄ − m)²/(2(n + 1))) and μ|x a Student t with 2α + n degrees of freedom around
//! (Σx + m)/(n + 1).

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Gamma, StandardNormal};
use statrs::function::gamma::ln_gamma;

use super::described::{Described, columns};
use super::{Example, LOG_NORMAL, PRIOR_MEAN, PRIORS_ARE_SETTINGS, model, param, positive};
use crate::design::{Design, ResponseUse};
use crate::translation::{Context, NoTranslation, Translation, listed, number as text};
use crate::{
    Form, KnownConditional, Marginal, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws,
    ParamInfo, Prior, Template,
};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// The template `normal-gamma`.
pub struct NormalGamma;

ergodic_base::settings! {
    /// Settings of [`NormalGamma`].
    struct NormalGammaSettings {
        prior_mean: f64 = PRIOR_MEAN
            .help("m of the prior N(m, 1/τ) of μ")
            .why("the source prints no value");
        shape: f64 = positive("Prior shape", 5.0)
            .help("α of the prior Gamma(α, β) of τ")
            .why("that of the source");
        rate: f64 = positive("Prior rate", 1.0)
            .help("β of the prior Gamma(α, β) of τ")
            .why("that of the source");
    }
}

impl Template for NormalGamma {
    const SPEC: ModelSpec = ModelSpec {
        id: "normal-gamma",
        title: "Mean and precision of normal numbers",
        about: "The mean and the precision of normal numbers, with the conjugate normal-gamma prior",
        fields: NormalGammaSettings::FIELDS,
        response: |_settings| ResponseUse::Number,
        priors: PRIORS_ARE_SETTINGS,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let settings = NormalGammaSettings::read(&options.settings)?;
        model::<Self, _>(&design, options, |_names| {
            Ok(MeanPrecision {
                mean: settings.prior_mean,
                shape: settings.shape,
                rate: settings.rate,
            })
        })
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let settings = NormalGammaSettings::read(&context.options.settings)?;
        let [mean, shape, rate] = [settings.prior_mean, settings.shape, settings.rate].map(text);
        let described = Described {
            words: format!(
                "Values of {} are normal with unknown mean `mu` and precision `tau`, which is 1/variance. The prior of `tau` \
                 is gamma({shape}, {rate}), and that of `mu` given `tau` is normal with mean {mean} and the variance of one \
                 row.",
                listed(&columns(context.design))
            ),
            equation: vec![
                "x[i] ~ normal(mu, 1/sqrt(tau))".to_owned(),
                format!("mu ~ normal({mean}, 1/sqrt(tau))"),
                format!("tau ~ gamma({shape}, {rate})"),
            ],
            vectors: false,
            parameters: vec!["real mu;".to_owned(), "real<lower=0> tau;".to_owned()],
            priors: vec![
                format!("mu ~ normal({mean}, inv_sqrt(tau));"),
                format!("tau ~ gamma({shape}, {rate});"),
            ],
            row: "normal_lpdf(x[i] | mu, inv_sqrt(tau))".to_owned(),
            brms: Err(NoTranslation::Absent(
                "brms has priors of the standard deviation that are independent of the mean's; here the prior of the mean \
                 depends on the precision",
            )),
        };
        Ok(described.all(context))
    }
}

struct MeanPrecision {
    mean: f64,
    shape: f64,
    rate: f64,
}

impl MeanPrecision {
    fn prior_text(&self) -> String {
        format!("gamma({}, {})", self.shape, self.rate)
    }
}

impl Example for MeanPrecision {
    fn params(&self) -> Vec<ParamInfo> {
        vec![
            param(
                "mu",
                "mean of the rows",
                format!("normal({}, 1/sqrt(tau))", self.mean),
            ),
            param("tau", "precision of a row, 1/variance", self.prior_text()),
        ]
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        theta[0] = u[0];
        theta[1] = u[1].exp();
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        u[0] = theta[0];
        u[1] = theta[1].ln();
    }

    fn known_conditionals(&self) -> Vec<KnownConditional> {
        let known = |j, form| KnownConditional {
            coordinates: j..j + 1,
            form,
            independent: false,
        };
        vec![
            known(0, Form::Normal),
            known(1, Form::LogGamma { power: 1.0 }),
        ]
    }

    /// log N(μ; m, 1/τ) + log Gamma(τ) + log τ, the last for the step to log τ.
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let (tau, d) = (u[1].exp(), u[0] - self.mean);
        grad[0] = -tau * d;
        grad[1] = 0.5 + self.shape - tau * (0.5 * d * d + self.rate);
        (0.5 + self.shape) * u[1] - tau * (0.5 * d * d + self.rate)
    }

    fn log_jacobian(&self, u: &[f64]) -> f64 {
        u[1]
    }

    fn add_prior_curvature(&self, u: &[f64], hessian: &mut [f64]) {
        let (tau, d) = (u[1].exp(), u[0] - self.mean);
        hessian[0] += tau;
        hessian[1] += tau * d;
        hessian[2] += tau * d;
        hessian[3] += tau * (0.5 * d * d + self.rate);
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let (a, b) = (self.shape, self.rate);
        if index == 1 {
            if value <= 0.0 {
                return Some(0.0);
            }
            return Some((a * b.ln() - ln_gamma(a) + (a - 1.0) * value.ln() - b * value).exp());
        }
        // μ alone is a Student t with 2α degrees of freedom and scale sqrt(β/α).
        let q = (value - self.mean).powi(2) / (2.0 * b);
        let log_constant = ln_gamma(a + 0.5) - ln_gamma(a) + LOG_NORMAL - 0.5 * b.ln();
        Some((log_constant - (a + 0.5) * q.ln_1p()).exp())
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let (shape, rate) = (self.shape, self.rate);
        if index == 1 {
            return Prior::Gamma { shape, rate }.positive_range(0.0);
        }
        let mu = Prior::StudentT {
            df: 2.0 * shape,
            location: self.mean,
            scale: (rate / shape).sqrt(),
        };
        mu.span()
    }

    fn marginal(
        &self,
        index: usize,
        rows: &mut dyn Iterator<Item = (&[f64], f64)>,
    ) -> Option<Marginal> {
        // Mean and squares about it, row by row.
        let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for (x, weight) in rows.filter(|(_, weight)| *weight > 0.0) {
            n += weight;
            let off = x[0] - mean;
            mean += weight * off / n;
            squares += weight * off * (x[0] - mean);
        }
        let shape = self.shape + 0.5 * n;
        let rate = self.rate + 0.5 * squares + 0.5 * n * (mean - self.mean).powi(2) / (n + 1.0);
        Some(match index {
            0 => Marginal::StudentT {
                df: 2.0 * shape,
                location: (n * mean + self.mean) / (n + 1.0),
                scale: (rate / (shape * (n + 1.0))).sqrt(),
            },
            _ => Marginal::Gamma { shape, rate },
        })
    }

    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        let gamma =
            Gamma::new(self.shape, 1.0 / self.rate).map_err(|_outside| NoPriorDraws::Gamma)?;
        let tau: f64 = gamma.sample(rng);
        u[0] = self.mean + rng.sample::<f64, _>(StandardNormal) / tau.sqrt();
        u[1] = tau.ln();
        Ok(())
    }

    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64 {
        let (tau, d) = (u[1].exp(), x[0] - u[0]);
        grad[0] += weight * tau * d;
        grad[1] += weight * 0.5 * (1.0 - tau * d * d);
        self.log_density(x, u)
    }

    fn log_density(&self, x: &[f64], u: &[f64]) -> f64 {
        let d = x[0] - u[0];
        LOG_NORMAL + 0.5 * u[1] - 0.5 * u[1].exp() * d * d
    }

    fn add_curvature(&self, x: &[f64], u: &[f64], weight: f64, hessian: &mut [f64]) {
        let (tau, d) = (u[1].exp(), x[0] - u[0]);
        hessian[0] += weight * tau;
        hessian[1] -= weight * tau * d;
        hessian[2] -= weight * tau * d;
        hessian[3] += weight * 0.5 * tau * d * d;
    }

    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]) {
        x[0] = u[0] + (-0.5 * u[1]).exp() * rng.sample::<f64, _>(StandardNormal);
    }
}
