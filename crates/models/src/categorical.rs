//! Probabilities of categories, the Dirichlet-categorical model: z_i ~ Categorical(p), p ~ Dirichlet(α).
//!
//! | parameter | space | default prior |
//! |---|---|---|
//! | `p[level]` | simplex: positive, sum 1 | dirichlet(0.1), that is α_j = 0.1 for each of K categories |
//!
//! Source of model and default: Baker, Fearnhead, Fox and Nemeth, "Large-scale stochastic sampling from the probability
//! simplex" (2018), section 2; their density of the Dirichlet prints the exponent α_j where α_j − 1 is meant. A row
//! with weight w counts as w observations, so that a table of counts is `category | weights(n) ~ 1` and a category with
//! n = 0 is one that was never seen.
//!
//! The posterior is Dirichlet(α + C) with the counts C. Sampling happens on u_k = log p_k − log Σ_{j>k} p_j (K−1 of them):
//! the sticks σ(u_k) are independent Beta(a_k, A_k), a = α + C, A_k = Σ_{j>k} a_j, so that with the Jacobian the log density is
//! Σ_k a_k log σ(u_k) + A_k log σ(−u_k): log-concave, mode log(a_k/A_k), curvature a_k A_k/(a_k + A_k) there, diagonal.
//! Score of a row of category c: w (1[k = c] − 1[k ≤ c] σ(u_k)).
//!
//! Identifiability: always; a category that was never seen has its prior, which the default puts near zero.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Gamma};
use statrs::function::gamma::ln_gamma;

use super::prior_text::{PriorError, PriorProblem, PriorText};
use super::simplex::{SimplexCounts, log_probabilities, position};
use super::translation::{self, Context, NoTranslation, Program, Translation};
use super::{
    CentreRows, LogDensity, Marginal, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws,
    ParamInfo, Posterior, PriorDraws, PriorSource, PriorSpec, RowLikelihood, Rows, Scratch,
    Template, sum_of_rows,
};
use crate::design::{Design, ResponseKind, ResponseUse};
use ergodic_base::special::{log_logistic, logistic};
use ergodic_base::{ChainRng, Class, ParamId};

/// α of every category where the user sets none: that of the paper's experiments, which expects few common categories.
const DEFAULT_CONCENTRATION: f64 = 0.1;
/// Key of the prior of all categories.
const CLASS: &str = "probabilities";
/// The forms of a prior, for people.
const FORMS: &str = "dirichlet(a) with one a above 0 for each category";

/// The template `categorical`.
pub struct Categorical;

impl Template for Categorical {
    const SPEC: ModelSpec = ModelSpec {
        id: "categorical",
        title: "Probabilities of categories",
        about: "How probable each category of a column is, those never seen included",
        fields: &[],
        response: |_settings| ResponseUse::Categories,
        priors: PriorSpec {
            classes: &[(CLASS, "All probabilities")],
            check: |text| Ok(concentration_of(text, FORMS).map(|_a| ())?),
            forms: FORMS,
            example: "dirichlet(0.1)",
        },
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(CategoricalModel::new(&design, options)?))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        describe(context)
    }
}

fn describe(context: &Context<'_>) -> Result<Translation, ModelError> {
    let design = context.design;
    let ResponseKind::Categories { levels } = &design.response.kind else {
        return Err(unfit("needs an outcome of categories"));
    };
    let (concentration, _) = choose_concentration(levels, &context.options.priors)?;
    let name = &design.response.name;
    let (k, all) = (levels.len(), levels.join(", "));
    let (a, all) = (
        translation::numbers(&concentration),
        translation::comment(&all),
    );
    // Weights need not be whole numbers.
    let weighted = design.weights.is_some();
    let (counts, likelihood) = if weighted {
        (
            format!("vector<lower=0>[{k}] n;  // sums of weights of {all}"),
            "target += sum(lmultiply(n, p));",
        )
    } else {
        (
            format!("array[{k}] int<lower=0> n;  // rows of {all}"),
            "n ~ multinomial(p);",
        )
    };
    let program = Program {
        data: vec![counts],
        parameters: vec![format!("simplex[{k}] p;")],
        model: vec![format!("p ~ dirichlet([{a}]');"), likelihood.to_owned()],
        ..Program::default()
    };
    Ok(Translation {
        words: format!(
            "Each of the {k} categories of `{name}` has its own probability, the same in all rows; together they make \
             1.{} Their prior is a Dirichlet distribution with {}. {}",
            context.weights(),
            words_of(&concentration),
            context.rows(),
        ),
        equation: format!(
            "{name}[i] ~ categorical(p)\np ~ dirichlet({a})\ni = 1 … {}",
            design.rows_used
        ),
        stan: Ok(program.text()),
        brms: Err(NoTranslation::Absent(
            "brms has no Dirichlet prior for the probabilities of categories: its family categorical() takes priors of log odds",
        )),
    })
}

/// The numbers of a Dirichlet distribution in words.
fn words_of(concentration: &[f64]) -> String {
    match concentration {
        [a, rest @ ..] if rest.iter().all(|other| other == a) => {
            format!("concentration {a} for each category")
        }
        all => format!("concentrations {}", translation::numbers(all)),
    }
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit("categorical", why)
}

/// a of the text `dirichlet(a)`.
pub(super) fn concentration_of(text: &str, forms: &'static str) -> Result<f64, PriorError> {
    let written = PriorText::read(text, forms)?;
    match written.positive("dirichlet")? {
        Some([a]) => Ok(a),
        None => Err(written.refuse(PriorProblem::Unknown)),
    }
}

/// The logarithm of a Gamma(`shape`, 1) variable: G(a) has the distribution of G(a + 1) U^(1/a).
pub(super) fn log_gamma_draw(shape: f64, rng: &mut ChainRng) -> f64 {
    let power: f64 = rng.sample(rand_distr::Exp1);
    Gamma::new(shape + 1.0, 1.0).map_or(f64::NAN, |gamma| gamma.sample(rng).ln()) - power / shape
}

/// The posterior of the probabilities of K categories.
struct CategoricalModel {
    params: Vec<ParamInfo>,
    /// Category of each row (N).
    category: Vec<u32>,
    /// Observations per row (N); without it one each.
    weights: Option<Vec<f64>>,
    /// α (K).
    concentration: Vec<f64>,
    /// Σ_{j>k} α_j (K).
    concentration_after: Vec<f64>,
    totals: Vec<f64>,
    squares: Vec<f64>,
}

impl CategoricalModel {
    fn new(design: &Design, options: &ModelOptions) -> Result<Self, ModelError> {
        let ResponseKind::Categories { levels } = &design.response.kind else {
            return Err(unfit("needs an outcome of categories"));
        };
        let name = &design.response.name;
        let plain = design.has_intercept
            && design.terms.len() == 1
            && design.groups.is_empty()
            && design.offset.is_none();
        if !plain {
            let extra = if design.has_intercept {
                "takes no predictors, groups or offsets"
            } else {
                "cannot leave the intercept out"
            };
            let name = crate::formula::quote_name(name);
            return Err(unfit(format!("{extra}; write `{name} ~ 1`")));
        }
        let (concentration, sources) = choose_concentration(levels, &options.priors)?;
        let total: f64 = concentration.iter().sum();
        let params = levels
            .iter()
            .zip(concentration.iter().zip(sources))
            .map(|(level, (&a, source))| ParamInfo {
                name: ParamId::of(Class::Probability, [level]),
                meaning: format!("probability that {name} is {level}"),
                prior: format!("dirichlet({a})").into(),
                prior_source: source
                    .remarked(&format!("; alone it is beta({a}, {})", rounded(total - a))),
            })
            .collect();
        let mut after = 0.0;
        let mut concentration_after = vec![0.0; levels.len()];
        for (out, a) in concentration_after.iter_mut().zip(&concentration).rev() {
            *out = after;
            after += a;
        }
        let mut model = Self {
            params,
            category: design.y.iter().map(|&code| code as u32).collect(),
            weights: design.weights.clone(),
            totals: vec![0.0; levels.len()],
            squares: vec![0.0; levels.len()],
            concentration,
            concentration_after,
        };
        for (row, &category) in model.category.iter().enumerate() {
            let weight = model.weight(row);
            model.totals[category as usize] += weight;
            model.squares[category as usize] += weight * weight;
        }
        Ok(model)
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Counts of `rows`, into the scratch.
    fn counts<'a>(&self, rows: Rows<'_>, scratch: &'a mut Scratch) -> &'a [f64] {
        scratch.vector.fill(0.0);
        self.add_counts(rows, &mut scratch.vector);
        &scratch.vector
    }
}

/// 0.9 instead of 0.8999999999999999: sums of few decimals, for people.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// α in the order of levels and where each comes from.
fn choose_concentration(
    levels: &[String],
    given: &[(String, String)],
) -> Result<(Vec<f64>, Vec<PriorSource>), ModelError> {
    let names: Vec<ParamId> = (levels.iter())
        .map(|level| ParamId::of(Class::Probability, [level]))
        .collect();
    let mut chosen = vec![(DEFAULT_CONCENTRATION, PriorSource::DEFAULT); levels.len()];
    for (_, text) in given.iter().filter(|(key, _)| key == CLASS) {
        chosen.fill((concentration_of(text, FORMS)?, PriorSource::USER));
    }
    for (key, text) in given.iter().filter(|(key, _)| key != CLASS) {
        let Some(level) = names.iter().position(|name| name == key) else {
            let known = format!("{CLASS}, {}", names.join(", "));
            return Err(ModelError::unknown_parameter(key, known));
        };
        chosen[level] = (concentration_of(text, FORMS)?, PriorSource::USER);
    }
    Ok(chosen.into_iter().unzip())
}

impl SimplexCounts for CategoricalModel {
    fn concentration(&self) -> &[f64] {
        &self.concentration
    }

    fn totals(&self) -> &[f64] {
        &self.totals
    }

    fn squares(&self) -> &[f64] {
        &self.squares
    }

    fn add_counts(&self, rows: Rows<'_>, counts: &mut [f64]) {
        for k in 0..rows.len(self.category.len()) {
            let row = rows.get(k);
            counts[self.category[row] as usize] += self.weight(row);
        }
    }
}

impl Model for CategoricalModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn simplex(&self) -> Option<&dyn SimplexCounts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        log_probabilities(u, theta);
        for p in theta {
            *p = p.exp();
        }
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        // The smallest number stands for a probability too small to be written.
        let log: Vec<f64> = theta
            .iter()
            .map(|p| p.max(f64::MIN_POSITIVE).ln())
            .collect();
        position(&log, u);
    }

    fn prior_range(&self, _index: usize) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    /// The marginal Beta(α_j, Σα − α_j).
    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        if value <= 0.0 || value >= 1.0 {
            return Some(0.0);
        }
        let a = self.concentration[index];
        let b = self.concentration.iter().sum::<f64>() - a;
        let log_constant = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
        let log_density = (a - 1.0) * value.ln() + (b - 1.0) * (-value).ln_1p();
        Some((log_constant + log_density).exp())
    }

    fn marginal(&self, index: usize) -> Option<Marginal> {
        let after = |k: usize| self.concentration[k] + self.totals[k];
        let all: f64 = (0..self.totals.len()).map(after).sum();
        Some(Marginal::Beta {
            a: after(index),
            b: all - after(index),
        })
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl LogDensity for CategoricalModel {
    fn dim(&self) -> usize {
        self.params.len() - 1
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        // Around equal probabilities, whose sticks are 1/K, 1/(K−1), …
        let dim = u.len();
        for (k, u) in u.iter_mut().enumerate() {
            *u = rng.random_range(-2.0..2.0) - ((dim - k) as f64).ln();
        }
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for CategoricalModel {
    fn num_obs(&self) -> usize {
        self.category.len()
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            vector: vec![0.0; self.params.len()],
            ..Scratch::default()
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut log_density = 0.0;
        for (k, (&u, grad)) in u.iter().zip(grad).enumerate() {
            let (a, after) = (self.concentration[k], self.concentration_after[k]);
            log_density += a * log_logistic(u) + after * log_logistic(-u);
            *grad = a * logistic(-u) - after * logistic(u);
        }
        log_density
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let mut log_p = vec![0.0; self.concentration.len()];
        log_probabilities(u, &mut log_p);
        let terms = self.concentration.iter().zip(&log_p);
        Some(terms.map(|(a, log)| (a - 1.0) * log).sum())
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let counts = self.counts(rows, scratch);
        let mut after = counts[u.len()];
        let mut log_lik = 0.0;
        for k in (0..u.len()).rev() {
            log_lik += counts[k] * log_logistic(u[k]) + after * log_logistic(-u[k]);
            grad[k] += counts[k] * logistic(-u[k]) - after * logistic(u[k]);
            after += counts[k];
        }
        log_lik
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        let counts = self.counts(rows, scratch);
        let mut after = counts[u.len()];
        for k in (0..u.len()).rev() {
            grad[k] += counts[k] * logistic(-u[k]) - after * logistic(u[k]);
            after += counts[k];
        }
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        log_probabilities(u, &mut scratch.vector);
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            *out = self.weight(row) * scratch.vector[self.category[row] as usize];
        }
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let dim = u.len();
        for (sigma, &u) in scratch.vector.iter_mut().zip(u) {
            *sigma = logistic(u);
        }
        for (i, score) in out.chunks_exact_mut(dim).enumerate() {
            let row = rows.get(i);
            let (category, weight) = (self.category[row] as usize, self.weight(row));
            score.fill(0.0);
            for (score, sigma) in score.iter_mut().zip(&scratch.vector).take(category) {
                *score = -weight * sigma;
            }
            if category < dim {
                score[category] = weight * logistic(-u[category]);
            }
        }
    }

    /// A row's score at u minus that at û is w (σ(û_k) − σ(u_k)) for k ≤ c.
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        let counts = self.counts(rows, scratch);
        let mut from = counts[u.len()];
        for k in (0..u.len()).rev() {
            from += counts[k];
            grad[k] += from * (logistic(centre.u[k]) - logistic(u[k]));
        }
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let dim = u.len();
        for (difference, (&u, &at)) in scratch.vector.iter_mut().zip(u.iter().zip(&centre.u)) {
            *difference = logistic(at) - logistic(u);
        }
        for (i, score) in out.chunks_exact_mut(dim).enumerate() {
            let row = rows.get(i);
            let (category, weight) = (self.category[row] as usize, self.weight(row));
            for (k, score) in score.iter_mut().enumerate() {
                *score = if k <= category {
                    weight * scratch.vector[k]
                } else {
                    0.0
                };
            }
        }
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = u.len();
        let counts = self.counts(rows, scratch);
        let mut from = counts[dim];
        for k in (0..dim).rev() {
            from += counts[k];
            hessian[k * dim + k] += from * logistic(u[k]) * logistic(-u[k]);
        }
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = u.len();
        for (k, &u) in u.iter().enumerate() {
            let from = self.concentration[k] + self.concentration_after[k];
            hessian[k * dim + k] += from * logistic(u) * logistic(-u);
        }
    }
}

impl PriorDraws for CategoricalModel {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        // A stick is Beta(α_k, A_k): the share of the first of two independent gamma variables. In logarithms nothing
        // vanishes, however small α is.
        for (k, u) in u.iter_mut().enumerate() {
            let [first, rest] = [self.concentration[k], self.concentration_after[k]]
                .map(|shape| log_gamma_draw(shape, rng));
            *u = first - rest;
        }
        Ok(())
    }

    fn simulate(&self, u: &[f64], _rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        for y in y {
            // One stick after another breaks or does not.
            let category = u.iter().position(|&u| rng.random::<f64>() < logistic(u));
            *y = category.unwrap_or(u.len()) as f64;
        }
    }
}

#[cfg(test)]
mod tests;
