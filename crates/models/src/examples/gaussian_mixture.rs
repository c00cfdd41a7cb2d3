//! Two normal clusters with unknown locations, equal weights and known variance, in C dimensions.
//!
//! x_i ~ ½ N(m_1, σ² I) + ½ N(m_2, σ² I), with m_1 = θ_1 and m_2 = θ_2 (`parameters = "locations"`) or m_2 = θ_1 + θ_2
//! (`"shift"`); θ_1 ~ N(0, v_1 I), θ_2 ~ N(0, v_2 I).
//!
//! | parameter | space | default prior |
//! |---|---|---|
//! | `theta1[column]`, `theta2[column]` | real, one each per column | N(0, 10), variance 10 |
//!
//! With the share r_k of cluster k in a row and a_k = (x − m_k)/σ², the score in m_k is r_k a_k; curvature r_k I/σ² −
//! r_k(1 − r_k) a_k a_k' within and r_1 r_2 a_1 a_2' between the clusters.
//!
//! Sources: Baker (2018), section 4.6.1 (two columns, σ² = 1, v = 10; its code takes 10
//! for the standard deviation), the defaults; and Welling and Teh (2011): one column, `parameters = "shift"`,
//! `variance = 2`, `prior_variance = 10`, `second_prior_variance = 1`, 100 rows.
//!
//! Identifiability: the two clusters can be exchanged, so that the posterior has two modes.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::described::{Described, brms, columns};
use super::{Example, LOG_NORMAL, NormalPrior, PRIORS_ARE_SETTINGS, model, param, positive};
use crate::design::{Design, ResponseUse};
use crate::translation::{Context, NoTranslation, Translation, listed, number as text};
use crate::{Model, ModelError, ModelOptions, ModelSpec, ParamInfo, Template};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// The template `gaussian-mixture`.
pub struct GaussianMixture;

ergodic_base::choice! {
    /// What θ_2 is.
    enum Parameters {
        /// The second centre.
        Locations = "locations",
        /// Distance of the second centre from the first.
        Shift = "shift",
    }
}

ergodic_base::settings! {
    /// Settings of [`GaussianMixture`].
    struct GaussianMixtureSettings {
        parameters: Parameters = Parameters::field("Parameters", Some(Parameters::Locations))
            .help("locations: θ_1 and θ_2 are the centres of the clusters; shift: the second centre is θ_1 + θ_2")
            .why("the simpler one; the other has two modes of different shape");
        variance: f64 = positive("Variance of a cluster", 1.0)
            .help("σ², known")
            .why("that of the source with two columns");
        prior_variance: f64 = positive("Prior variance of θ_1", 10.0)
            .help("v_1 of the prior N(0, v_1 I)")
            .why("that of the sources");
        second_prior_variance: f64 = positive("Prior variance of θ_2", 10.0)
            .help("v_2 of the prior N(0, v_2 I)")
            .why("that of the source with two columns");
    }
}

impl Template for GaussianMixture {
    const SPEC: ModelSpec = ModelSpec {
        id: "gaussian-mixture",
        title: "Two normal clusters",
        about: "The centres of two equally large clusters of known width: a posterior with two modes",
        fields: GaussianMixtureSettings::FIELDS,
        response: |_settings| ResponseUse::Absent,
        priors: PRIORS_ARE_SETTINGS,
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let settings = GaussianMixtureSettings::read(&options.settings)?;
        model::<Self, _>(&design, options, |names| {
            let width = names.len();
            let prior = |variance| NormalPrior {
                mean: 0.0,
                variance,
            };
            let mut priors = vec![prior(settings.prior_variance); width];
            priors.extend(vec![prior(settings.second_prior_variance); width]);
            Ok(Clusters {
                names,
                variance: settings.variance,
                constant: -std::f64::consts::LN_2
                    + width as f64 * (LOG_NORMAL - 0.5 * settings.variance.ln()),
                shift: f64::from(u8::from(settings.parameters == Parameters::Shift)),
                priors,
            })
        })
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let settings = GaussianMixtureSettings::read(&context.options.settings)?;
        let root = |variance: f64| text(variance.sqrt());
        let names = columns(context.design);
        let width = names.len();
        let sd = root(settings.variance);
        let sds = [settings.prior_variance, settings.second_prior_variance].map(root);
        let shift = settings.parameters == Parameters::Shift;
        let (second, what) = if shift {
            ("theta1 + theta2", "`theta1` + `theta2`")
        } else {
            ("theta2", "`theta2`")
        };
        let priors: Vec<String> = (sds.iter().enumerate())
            .map(|(k, sd)| format!("theta{} ~ normal(0, {sd})", k + 1))
            .collect();
        let in_brms = || {
            let centre = |k: usize| {
                format!(
                    "\"normal(0, {})\", class = \"Intercept\", dpar = \"mu{k}\"",
                    sds[k - 1]
                )
            };
            let spread = |k: usize| format!("\"constant({sd})\", class = \"sigma{k}\"");
            brms(
                context,
                "bf(x ~ 1, theta1 = 1, theta2 = 1)",
                "mixture(gaussian, gaussian, order = \"none\")",
                &[&centre(1), &centre(2), &spread(1), &spread(2)],
            )
        };
        let described = Described {
            words: format!(
                "Rows of {} come from two equally large normal clusters with the known standard deviation {sd} in every \
                 column. The centre of the first is `theta1`, that of the second {what}. Priors are {}, in every column.",
                listed(&names),
                priors.join(" and ")
            ),
            equation: [
                vec![format!(
                    "x[i] ~ 1/2 normal(theta1, {sd}) + 1/2 normal({second}, {sd}), all columns of one cluster"
                )],
                priors.clone(),
            ]
            .concat(),
            vectors: true,
            parameters: [1, 2]
                .map(|k| format!("vector[{width}] theta{k};"))
                .to_vec(),
            priors: priors.iter().map(|prior| format!("{prior};")).collect(),
            row: format!(
                "log_mix(0.5, normal_lpdf(x[i] | theta1, {sd}), normal_lpdf(x[i] | {second}, {sd}))"
            ),
            brms: match (width, shift) {
                (1, false) => Ok(in_brms()),
                (1, true) => Err(NoTranslation::Absent(
                    "brms gives the centres of clusters independent priors; here the second depends on the first",
                )),
                _ => Err(NoTranslation::Absent("brms mixes distributions of one column, not of several")),
            },
        };
        Ok(described.all(context))
    }
}

struct Clusters {
    names: Vec<String>,
    variance: f64,
    /// log of ½ N(m_k; m_k, σ² I).
    constant: f64,
    /// What θ_1 counts in the second centre: 0 or 1.
    shift: f64,
    priors: Vec<NormalPrior>,
}

impl Clusters {
    /// Entry j of the centre of cluster k (0 or 1).
    fn centre(&self, u: &[f64], k: usize, j: usize) -> f64 {
        let width = self.names.len();
        match k {
            0 => u[j],
            _ => self.shift * u[j] + u[width + j],
        }
    }

    /// log of ½ N(x; m_k, σ² I) for both clusters.
    fn logs(&self, x: &[f64], u: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| {
            let squares: f64 = (0..x.len())
                .map(|j| (x[j] - self.centre(u, k, j)).powi(2))
                .sum();
            self.constant - 0.5 * squares / self.variance
        })
    }

    /// log p of a row and the share of each cluster in it.
    fn shares(&self, x: &[f64], u: &[f64]) -> (f64, [f64; 2]) {
        let [a, b] = self.logs(x, u);
        // One exponential serves all three: most of the time of a row goes into them.
        let odds = (-(a - b).abs()).exp();
        let larger = 1.0 / (1.0 + odds);
        let smaller = odds * larger;
        let shares = if a >= b {
            [larger, smaller]
        } else {
            [smaller, larger]
        };
        (a.max(b) + odds.ln_1p(), shares)
    }
}

impl Example for Clusters {
    fn params(&self) -> Vec<ParamInfo> {
        let width = self.names.len();
        (0..2 * width)
            .map(|i| {
                let (name, prior) = (&self.names[i % width], self.priors[i].text());
                let meaning = match (i < width, self.shift > 0.0) {
                    (true, _) => format!("centre of the first cluster in {name}"),
                    (false, false) => format!("centre of the second cluster in {name}"),
                    (false, true) => format!("step from the first to the second cluster in {name}"),
                };
                param(format!("theta{}[{name}]", 1 + i / width), &meaning, prior)
            })
            .collect()
    }

    fn priors(&self) -> &[NormalPrior] {
        &self.priors
    }

    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64 {
        let (log_p, share) = self.shares(x, u);
        let width = x.len();
        for j in 0..width {
            let [first, second] =
                [0, 1].map(|k| weight * share[k] * (x[j] - self.centre(u, k, j)) / self.variance);
            grad[j] += first + self.shift * second;
            grad[width + j] += second;
        }
        log_p
    }

    fn log_density(&self, x: &[f64], u: &[f64]) -> f64 {
        self.shares(x, u).0
    }

    fn add_curvature(&self, x: &[f64], u: &[f64], weight: f64, hessian: &mut [f64]) {
        let (_, share) = self.shares(x, u);
        let (width, dim) = (x.len(), u.len());
        let both = share[0] * share[1];
        for i in 0..width {
            for j in 0..width {
                let unit = f64::from(u8::from(i == j)) / self.variance;
                let a = |k, j| (x[j] - self.centre(u, k, j)) / self.variance;
                let first = weight * (share[0] * unit - both * a(0, i) * a(0, j));
                let second = weight * (share[1] * unit - both * a(1, i) * a(1, j));
                let across = weight * both * a(0, i) * a(1, j);
                let back = weight * both * a(1, i) * a(0, j);
                // From (m_1, m_2) to (θ_1, θ_2), of which m_2 = s θ_1 + θ_2.
                let s = self.shift;
                hessian[i * dim + j] += first + s * (across + back + s * second);
                hessian[i * dim + width + j] += across + s * second;
                hessian[(width + i) * dim + j] += back + s * second;
                hessian[(width + i) * dim + width + j] += second;
            }
        }
    }

    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]) {
        let k = usize::from(rng.random::<bool>());
        for (j, x) in x.iter_mut().enumerate() {
            let noise: f64 = rng.sample(StandardNormal);
            *x = self.centre(u, k, j) + self.variance.sqrt() * noise;
        }
    }
}
