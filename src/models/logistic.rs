//! Logistic regression, Bernoulli or binomial: y_i ~ Binomial(n_i, p_i), logit p_i = x_i'β + o_i.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 10) | at centred predictors |
//! | `b[term]` | real | normal(0, 10) | per standard deviation of the predictor |
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

use rand::RngExt as _;
use rand_distr::{Binomial, Distribution as _};

use super::elsewhere::{self, Context, Elsewhere, Regression};
use super::glm::{Family, GlmRows, LANES, Lane, Terms, exp_negative};
use super::prior::{self, Prior, PriorRows};
use super::{
    AnchorRows, LinearRows, Model, ModelError, ModelOptions, ModelSpec, ParamInfo, PriorSpec, Rows,
    Scratch, Template,
};
use crate::base::linalg::dot;
use crate::base::rng::ChainRng;
use crate::data::design::Design;
use crate::data::response::{ResponseKind, ResponseUse};

/// Prior of the intercept and of coefficients where the user sets none: the papers' N(0, 100 I).
const DEFAULT_PRIOR: Prior = Prior::Normal {
    mean: 0.0,
    sd: 10.0,
};

/// Largest |σ''|, 1/(6 sqrt 3), at σ = (1 ± 1/sqrt 3)/2.
const LARGEST_THIRD: f64 = 0.096_225_044_864_937_63;

/// σ(z) from e = exp(−|z|), without overflow.
#[inline(always)]
fn sigmoid_of(z: f64, e: f64) -> f64 {
    let numerator = if z >= 0.0 { 1.0 } else { e };
    numerator / (1.0 + e)
}

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
struct SignedBernoulli;

impl Family for SignedBernoulli {
    const EXTRA: usize = 0;
    const LOG_CONCAVE: bool = true;

    #[inline(always)]
    fn predictor(_z: &mut Lane, _extra: &[Lane; 4]) {}

    #[inline(always)]
    fn terms<const VALUE: bool>(z: &Lane, _extra: &[Lane; 4]) -> Terms {
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
            sum,
            factor,
        }
    }

    #[inline(always)]
    fn curvature(z: &Lane, _extra: &[Lane; 4]) -> Lane {
        let mut out = exp_minus_abs(z);
        for e in &mut out {
            *e /= (1.0 + *e) * (1.0 + *e);
        }
        out
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
struct WeightedBinomial;

impl Family for WeightedBinomial {
    const EXTRA: usize = 4;
    const LOG_CONCAVE: bool = true;

    #[inline(always)]
    fn predictor(z: &mut Lane, extra: &[Lane; 4]) {
        for k in 0..LANES {
            z[k] += extra[0][k];
        }
    }

    #[inline(always)]
    fn terms<const VALUE: bool>(z: &Lane, [_offset, y, trials, weight]: &[Lane; 4]) -> Terms {
        let e = exp_minus_abs(z);
        let (mut residual, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            residual[k] = weight[k] * (y[k] - trials[k] * sigmoid_of(z[k], e[k]));
            if VALUE {
                let log_one_plus_exp = z[k].max(0.0) + e[k].ln_1p();
                sum[k] = weight[k] * (y[k] * z[k] - trials[k] * log_one_plus_exp);
            }
        }
        Terms {
            residual,
            sum,
            factor: [1.0; LANES],
        }
    }

    #[inline(always)]
    fn curvature(z: &Lane, [_offset, _y, trials, weight]: &[Lane; 4]) -> Lane {
        let mut out = exp_minus_abs(z);
        for k in 0..LANES {
            let e = out[k];
            out[k] = weight[k] * trials[k] * e / ((1.0 + e) * (1.0 + e));
        }
        out
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
        priors: PriorSpec {
            classes: &[("intercept", "Intercept"), ("b", "All other coefficients")],
            check: |text| Prior::parse(text).map(|_prior| ()),
            forms: prior::FORMS,
            example: "normal(0, 2.5)",
        },
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::refuse_group_terms(&design, Self::SPEC.id)?;
        if !matches!(
            design.response.kind,
            ResponseKind::Binary { .. } | ResponseKind::Successes
        ) {
            return Err(ModelError(
                "Template `logistic` needs a response of two values or a count of successes"
                    .to_owned(),
            ));
        }
        let plain = design.trials.is_none() && design.weights.is_none() && design.offset.is_none();
        if plain {
            let rows = GlmRows::<SignedBernoulli>::new(design.terms.len(), signed_rows(&design));
            Ok(Arc::new(LogisticModel::new(design, rows, options)?))
        } else {
            let rows = GlmRows::<WeightedBinomial>::new(design.terms.len(), weighted_rows(&design));
            Ok(Arc::new(LogisticModel::new(design, rows, options)?))
        }
    }

    fn elsewhere(context: &Context<'_>) -> Result<Elsewhere, ModelError> {
        describe(context)
    }
}

fn describe(context: &Context<'_>) -> Result<Elsewhere, ModelError> {
    let design = context.design;
    let (priors, _) = choose_priors(design, &context.options.priors)?;
    let name = &design.response.name;
    let quoted_name = crate::data::formula::quote_name(name);
    let binary = match &design.response.kind {
        ResponseKind::Binary { success, .. } if design.trials.is_none() => Some(success),
        _ => None,
    };
    let mut regression = Regression {
        context: *context,
        priors: priors.iter().map(ToString::to_string).collect(),
        predicted: format!("The log odds of a success among the trials that `{name}` counts"),
        response: vec![
            format!("{name}[i] ~ binomial(trials[i], p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ],
        stan_data: vec![
            format!("array[N] int<lower=0> y;  // successes: {name}"),
            "array[N] int<lower=1> trials;".to_owned(),
        ],
        stan_density: "binomial_logit",
        stan_before: &["trials"],
        stan_after: &[],
        continuous: false,
        stan_parameters: Vec::new(),
        r_response: Vec::new(),
        brms_family: "binomial()",
    };
    if let Some(success) = binary {
        regression.predicted = format!("The log odds that `{name}` is `{success}`");
        regression.response = vec![
            format!("[{name}[i] = {success}] ~ bernoulli(p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ];
        regression.stan_data = vec![format!(
            "array[N] int<lower=0, upper=1> y;  // 1 where {name} is {success}"
        )];
        regression.stan_density = "bernoulli_logit";
        regression.stan_before = &[];
        regression.r_response = vec![format!(
            "data${quoted_name} <- as.integer(data${quoted_name} == {})",
            elsewhere::quoted(success)
        )];
        regression.brms_family = "bernoulli()";
    }
    Ok(regression.describe())
}

fn signed_rows(design: &Design) -> Vec<f64> {
    let mut data = Vec::with_capacity(design.x.len());
    for (x, &y) in design.x.rows().into_iter().zip(&design.y) {
        let sign = 2.0 * y - 1.0;
        data.extend(x.iter().map(|x| sign * x));
    }
    data
}

fn weighted_rows(design: &Design) -> Vec<f64> {
    let mut data = Vec::with_capacity(design.x.len() + 4 * design.y.len());
    let at = |values: &Option<Vec<f64>>, i: usize, absent: f64| {
        values.as_ref().map_or(absent, |values| values[i])
    };
    for (i, (x, &y)) in design.x.rows().into_iter().zip(&design.y).enumerate() {
        data.extend(x.iter());
        data.extend([
            at(&design.offset, i, 0.0),
            y,
            at(&design.trials, i, 1.0),
            at(&design.weights, i, 1.0),
        ]);
    }
    data
}

/// The posterior of a logistic regression.
struct LogisticModel<F> {
    design: Arc<Design>,
    rows: GlmRows<F>,
    params: Vec<ParamInfo>,
    priors: Vec<Prior>,
    prior_rows: PriorRows,
    /// Priors hold for raw coefficients instead of standardised ones.
    priors_on_raw: bool,
    /// Reported coefficients are u itself.
    report_standardized: bool,
}

impl<F: Family> LogisticModel<F> {
    fn new(
        design: Arc<Design>,
        rows: GlmRows<F>,
        options: &ModelOptions,
    ) -> Result<Self, ModelError> {
        let (priors, sources) = choose_priors(&design, &options.priors)?;
        let names: Vec<String> = design
            .terms
            .iter()
            .map(|term| format!("b[{term}]"))
            .collect();
        let params = names
            .into_iter()
            .enumerate()
            .map(|(j, name)| ParamInfo {
                name,
                meaning: meaning(&design, j, options.report_standardized),
                prior: priors[j].to_string(),
                prior_source: format!(
                    "{}, {}",
                    sources[j],
                    prior_scale(&design, j, options.standardize)
                ),
            })
            .collect();
        let mut model = Self {
            prior_rows: PriorRows::independent(priors.clone()),
            design,
            rows,
            params,
            priors,
            priors_on_raw: !options.standardize,
            report_standardized: options.report_standardized,
        };
        if model.priors_on_raw {
            let priors = model.priors.clone();
            model.prior_rows =
                PriorRows::mapped(priors, |u, raw| model.raw_from_standardized(u, raw));
        }
        Ok(model)
    }

    fn is_intercept(&self, j: usize) -> bool {
        self.design.has_intercept && j == 0
    }

    /// Raw coefficients from standardised ones.
    fn raw_from_standardized(&self, u: &[f64], raw: &mut [f64]) {
        let design = &self.design;
        for j in 0..u.len() {
            raw[j] = u[j] / design.raw_scale[j];
        }
        if design.has_intercept {
            raw[0] = u[0] - dot(&raw[1..], &design.raw_center[1..]);
        }
    }

    /// Prior of the intercept on the scale that priors do not hold on, where it is normal: there it is the sum of the
    /// intercept and of all coefficients times their centres, and other sums have no closed form.
    fn prior_of_other_intercept(&self) -> Option<Prior> {
        let design = &self.design;
        let (mut mean, mut variance) = (0.0, 0.0);
        for (j, prior) in self.priors.iter().enumerate() {
            let Prior::Normal { mean: m, sd } = *prior else {
                return None;
            };
            let factor = match (j, self.priors_on_raw) {
                (0, _) => 1.0,
                (_, true) => design.raw_center[j],
                (_, false) => -design.raw_center[j] / design.raw_scale[j],
            };
            mean += factor * m;
            variance += (factor * sd).powi(2);
        }
        Some(Prior::Normal {
            mean,
            sd: variance.sqrt(),
        })
    }

    /// T' g for the linear map raw = T u.
    fn pull_back(&self, g: &mut [f64]) {
        let design = &self.design;
        let intercept = if design.has_intercept { g[0] } else { 0.0 };
        for j in usize::from(design.has_intercept)..g.len() {
            g[j] = (g[j] - intercept * design.raw_center[j]) / design.raw_scale[j];
        }
    }
}

/// Priors in the order of terms and where each comes from.
fn choose_priors(
    design: &Design,
    given: &[(String, String)],
) -> Result<(Vec<Prior>, Vec<&'static str>), ModelError> {
    let terms = &design.terms;
    for (key, _text) in given {
        let of_term = key
            .strip_prefix("b[")
            .and_then(|rest| rest.strip_suffix(']'));
        let known = matches!(key.as_str(), "b" | "intercept")
            || of_term.is_some_and(|term| terms.iter().any(|known| known == term));
        if !known {
            return Err(ModelError(format!(
                "There is no parameter `{key}` to set a prior for; there are intercept, b, {}",
                terms
                    .iter()
                    .map(|term| format!("b[{term}]"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        }
    }
    let look_up = |key: &str| {
        given
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, text)| text.as_str())
    };
    let mut priors = Vec::with_capacity(terms.len());
    let mut sources = Vec::with_capacity(terms.len());
    for (j, term) in terms.iter().enumerate() {
        let class = if design.has_intercept && j == 0 {
            "intercept"
        } else {
            "b"
        };
        let (prior, source) = match look_up(&format!("b[{term}]")).or_else(|| look_up(class)) {
            Some(text) => (Prior::parse(text)?, "set by you"),
            None => (DEFAULT_PRIOR, "default"),
        };
        priors.push(prior);
        sources.push(source);
    }
    Ok((priors, sources))
}

fn meaning(design: &Design, j: usize, standardized: bool) -> String {
    let response = &design.response.name;
    if design.has_intercept && j == 0 {
        let at = if standardized {
            "at average predictors"
        } else {
            "when all predictors are 0"
        };
        return format!("log odds of {response} {at}");
    }
    let unit = if standardized {
        "standard deviation"
    } else {
        "unit"
    };
    format!(
        "change in log odds of {response} per {unit} of {}",
        design.terms[j]
    )
}

fn prior_scale(design: &Design, j: usize, standardize: bool) -> &'static str {
    match (design.has_intercept && j == 0, standardize) {
        (true, true) => "at average predictors",
        (true, false) => "at x = 0",
        (false, true) => "per standard deviation",
        (false, false) => "per unit",
    }
}

impl<F: Family> Model for LogisticModel<F> {
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        Some(&self.rows)
    }

    fn prior_rows(&self) -> Option<&PriorRows> {
        Some(&self.prior_rows)
    }

    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn dim(&self) -> usize {
        self.rows.num_columns()
    }

    fn num_obs(&self) -> usize {
        self.rows.num_obs()
    }

    fn scratch(&self) -> Scratch {
        self.rows.scratch()
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        if self.report_standardized {
            theta.copy_from_slice(u);
        } else {
            self.raw_from_standardized(u, theta);
        }
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        u.copy_from_slice(theta);
        if self.report_standardized {
            return;
        }
        let design = &self.design;
        for j in usize::from(design.has_intercept)..u.len() {
            u[j] = theta[j] * design.raw_scale[j];
        }
        if design.has_intercept {
            u[0] = theta[0] + dot(&theta[1..], &design.raw_center[1..]);
        }
    }

    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for u in u {
            *u = rng.random_range(-2.0..2.0);
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut log_density = 0.0;
        if self.priors_on_raw {
            // `grad` holds the raw coefficients until each is replaced by its derivative.
            self.raw_from_standardized(u, grad);
            for (g, prior) in grad.iter_mut().zip(&self.priors) {
                let (value, slope) = prior.log_density(*g);
                log_density += value;
                *g = slope;
            }
            self.pull_back(grad);
        } else {
            for ((g, prior), &u) in grad.iter_mut().zip(&self.priors).zip(u) {
                let (value, slope) = prior.log_density(u);
                log_density += value;
                *g = slope;
            }
        }
        log_density
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let prior = self.priors[index];
        let same_scale = self.priors_on_raw != self.report_standardized;
        if same_scale {
            return prior.density(value);
        }
        if self.is_intercept(index) {
            return self.prior_of_other_intercept()?.density(value);
        }
        let scale = self.design.raw_scale[index];
        let factor = if self.priors_on_raw {
            scale
        } else {
            1.0 / scale
        };
        prior.scaled(factor).density(value)
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.rows.value_gradient(u, rows, scratch, grad)
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.rows.gradient(u, rows, scratch, grad);
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.rows.pointwise(u, rows, scratch, out);
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.rows.scores(u, rows, None, scratch, out);
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let design = &self.design;
        for (k, y) in y.iter_mut().enumerate() {
            let i = rows.get(k);
            let offset = design.offset.as_ref().map_or(0.0, |offset| offset[i]);
            let x = design.x.row(i);
            let z = offset + x.iter().zip(u).map(|(x, u)| x * u).sum::<f64>();
            let p = sigmoid_of(z, (-z.abs()).exp());
            let trials = design.trials.as_ref().map_or(1.0, |trials| trials[i]);
            *y = Binomial::new(trials as u64, p)
                .map_or(f64::NAN, |binomial| binomial.sample(rng) as f64);
        }
    }

    fn anchor_rows(&self, u: &[f64]) -> AnchorRows {
        let mut per_row = vec![0.0; self.num_obs()];
        self.rows
            .residuals(u, Rows::All, &mut self.scratch(), &mut per_row);
        AnchorRows {
            u: u.to_vec(),
            per_row,
        }
    }

    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        anchor: &AnchorRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.rows
            .gradient_difference(u, rows, &anchor.per_row, s, grad);
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        anchor: &AnchorRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.rows.scores(u, rows, Some(&anchor.per_row), s, out);
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.rows.add_neg_hessian(u, rows, scratch, hessian);
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = u.len();
        if !self.priors_on_raw {
            for j in 0..dim {
                hessian[j * dim + j] += self.priors[j].curvature(u[j]);
            }
            return;
        }
        // raw = T u, with T diagonal but for its first row, the intercept's: raw_0 = Σ_j t_j u_j.
        let design = &self.design;
        let first = usize::from(design.has_intercept);
        for j in first..dim {
            let scale = design.raw_scale[j];
            hessian[j * dim + j] += self.priors[j].curvature(u[j] / scale) / (scale * scale);
        }
        if design.has_intercept {
            let t = |j: usize| {
                if j == 0 {
                    1.0
                } else {
                    -design.raw_center[j] / design.raw_scale[j]
                }
            };
            let raw = (0..dim).map(|j| t(j) * u[j]).sum::<f64>();
            let curvature = self.priors[0].curvature(raw);
            for a in 0..dim {
                for b in 0..dim {
                    hessian[a * dim + b] += curvature * t(a) * t(b);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
