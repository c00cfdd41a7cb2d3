//! Matrix factorisation: what users think of items, from the ratings that there are.
//!
//! r_i = m + a_u + b_v + U_u·V_v + ε_i, ε_i ~ N(0, 1/τ), for row i in which user u rates item v. a_u ~ N(0, 1/λ_a), b_v ~ N(0, 1/λ_b),
//! U_u ~ N(0, I/λ_U), V_v ~ N(0, I/λ_V), each λ ~ Gamma(1, 300) in shape and rate; τ is known, and m is the mean of the ratings (0
//! without an intercept in the formula). Rows are `rating ~ (1 | user) + (1 | item)`.
//!
//! | parameter | meaning | prior |
//! |---|---|---|
//! | `user[u]`, `item[v]` | a_u and b_v | normal(0, 1/sqrt(λ)) |
//! | `user_factor[u,k]`, `item_factor[v,k]` | U_uk and V_vk, k = 1 … K | normal(0, 1/sqrt(λ)) |
//!
//! | prior | of | default |
//! |---|---|---|
//! | `user`, `item`, `user_factor`, `item_factor` | λ of a block: gamma(shape, rate), or constant(λ) | gamma(1, 300) |
//!
//! **Precisions are integrated out.** λ | x ~ Gamma(α + n/2, β + |x|²/2) for a block x of n coordinates, so that
//! p(x) ∝ (β + |x|²/2)^{−(α + n/2)}, whose score −E[λ|x] x is that of the known precision E[λ|x]: posteriors of a, b, U and V are those of
//! the source, which draws λ by Gibbs steps, and four blocks are left. A coordinate alone is Student-t with 2α degrees of freedom
//! and scale sqrt(β/α).
//!
//! Score of a row with residual e: τ e for a_u and b_v, τ e V_v for U_u, τ e U_u for V_v; a minibatch touches the users and items of its
//! rows alone.
//!
//! **Identifiability.** A rotation of all factors, U O and V O, changes no prediction and no density: what is said of single factors,
//! criteria of convergence among it, means nothing; predictions and the density mean something. No mode is sought, since there is
//! none without such neighbours, and samplers of stochastic gradients take steps of the user's (`block_steps`).
//!
//! Sources: Chen, Fox and Guestrin (2014), appendix H.2; Baker (2018), section 3.5.2 and appendix A.3.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;
use statrs::function::gamma::ln_gamma;

use super::dp_mixture::AlphaPrior as PrecisionPrior;
use super::translation::{Context, Translation};
use super::{
    ChosenBy, LogDensity, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo,
    Posterior, Prior, PriorDraws, PriorOf, PriorSource, PriorSpec, RowLikelihood, Rows, Scratch,
    Template, sum_of_rows,
};
use crate::design::{Design, ObservationModel, ResponseUse};
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::settings::{Declared as _, Field};
use ergodic_base::{ChainRng, ParamId};

mod described;
mod observation;
mod reading;
#[cfg(test)]
mod tests;

use observation::Ratings;
use reading::Table;

/// Id of the template.
const TEMPLATE: &str = "factorization";
/// The prior of each λ where the user sets none: Gamma(1, 300) of Baker (2018), in shape and rate.
const DEFAULT_PRECISION: PrecisionPrior = PrecisionPrior::Gamma {
    shape: 1.0,
    rate: 300.0,
};
/// The forms of the priors, for people.
const FORMS: &str = "gamma(shape, rate) or constant(value), all above 0";
/// Chains start where coordinates are at most so far from 0: where all are 0 the factors have no gradient.
const START: f64 = 0.5;
/// ln(2π)/2.
const LOG_NORMAL: f64 = 0.918_938_533_204_672_8;

ergodic_base::settings! {
    /// Settings of [`Factorization`].
    struct FactorizationSettings {
        factors: usize = Field::int("Factors", 1, 1000, Some(5))
            .help("K, the length of the vector of each user and each item; it is not learnt, so compare scores of several")
            .why("few enough for small tables; the source has 20 for 100,000 ratings");
        precision: f64 = Field::real("Precision of ratings", 1e-12, 1e12, Some(3.0))
            .help("τ, one over the variance of a rating around what is expected of it, in units of the ratings")
            .why("that of the source, for ratings from 1 to 5");
    }
}

/// The template `factorization`.
pub struct Factorization;

impl Template for Factorization {
    const SPEC: ModelSpec = ModelSpec {
        id: TEMPLATE,
        title: "Matrix factorisation",
        about: "What users think of items that they have not rated: a vector of factors for each user and each item",
        fields: FactorizationSettings::FIELDS,
        response: |_settings| ResponseUse::Number,
        priors: PriorSpec {
            classes: &[
                ("user", "Precision of what users add"),
                ("item", "Precision of what items add"),
                ("user_factor", "Precision of factors of users"),
                ("item_factor", "Precision of factors of items"),
            ],
            check: |text| Ok(PrecisionPrior::parse(text).map(|_prior| ())?),
            forms: FORMS,
            example: "gamma(1, 300)",
        },
    };
    const EXPLAINS_ROWS: bool = true;

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(FactorizationModel::new(&design, options)?))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let model = FactorizationModel::new(context.design, context.options)?;
        Ok(described::describe(context, &model))
    }
}

/// What a block is, in the order of the coordinates.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// Word of the block.
    word: &'static str,
    /// Which of the two groupings.
    side: usize,
    /// Whether the block has K coordinates per group instead of one.
    is_factor: bool,
}

/// The four blocks.
const KINDS: [Kind; 4] = [
    Kind {
        word: "user",
        side: 0,
        is_factor: false,
    },
    Kind {
        word: "item",
        side: 1,
        is_factor: false,
    },
    Kind {
        word: "user_factor",
        side: 0,
        is_factor: true,
    },
    Kind {
        word: "item_factor",
        side: 1,
        is_factor: true,
    },
];

/// Where the coordinates are.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Users and items.
    groups: [usize; 2],
    /// K.
    factors: usize,
}

impl Layout {
    /// Coordinates of the block `k` of [`KINDS`].
    fn block(self, k: usize) -> std::ops::Range<usize> {
        let [users, items] = self.groups;
        let ends = [
            0,
            users,
            users + items,
            users + items + users * self.factors,
            self.dim(),
        ];
        ends[k]..ends[k + 1]
    }

    fn dim(self) -> usize {
        (self.groups[0] + self.groups[1]) * (1 + self.factors)
    }

    /// Where a_u and b_v, and where U_u and V_v begin, for `groups` (u, v).
    fn places(self, groups: [usize; 2]) -> ([usize; 2], [usize; 2]) {
        let side = |side: usize| {
            let (alone, factor) = (self.block(side).start, self.block(2 + side).start);
            (alone + groups[side], factor + groups[side] * self.factors)
        };
        let ((a, u), (b, v)) = (side(0), side(1));
        ([a, b], [u, v])
    }
}

/// The prior of the precision λ of a block of n coordinates, λ integrated out.
#[derive(Clone, Copy, Debug)]
struct BlockPrior(PrecisionPrior);

impl BlockPrior {
    /// E[λ|x] of a block `x`; the precision itself where it is known.
    fn precision(self, x: &[f64]) -> f64 {
        self.precision_given(x.len(), dot(x, x))
    }

    /// E[λ|x] of `n` coordinates with this sum of squares.
    fn precision_given(self, n: usize, squares: f64) -> f64 {
        match self.0 {
            PrecisionPrior::Constant(value) => value,
            PrecisionPrior::Gamma { shape, rate } => {
                (shape + 0.5 * n as f64) / (rate + 0.5 * squares)
            }
        }
    }

    /// Log density of a block without its constant.
    fn log_density(self, x: &[f64]) -> f64 {
        let squares = dot(x, x);
        match self.0 {
            PrecisionPrior::Constant(value) => -0.5 * value * squares,
            PrecisionPrior::Gamma { shape, rate } => {
                -(shape + 0.5 * x.len() as f64) * (rate + 0.5 * squares).ln()
            }
        }
    }

    /// ADDS the negative second derivatives of [`Self::log_density`] of the coordinates from `first` on to `hessian` (D×D).
    fn add_curvature(self, x: &[f64], first: usize, dim: usize, hessian: &mut [f64]) {
        let precision = self.precision(x);
        // −∂²: λ̄ I − (λ̄²/(α + n/2)) x x'.
        let outer = match self.0 {
            PrecisionPrior::Constant(_) => 0.0,
            PrecisionPrior::Gamma { shape, .. } => {
                precision * precision / (shape + 0.5 * x.len() as f64)
            }
        };
        for (i, x_i) in x.iter().enumerate() {
            let row = &mut hessian[(first + i) * dim + first..][..x.len()];
            axpy(-outer * x_i, x, row);
            row[i] += precision;
        }
    }

    /// The density of one coordinate.
    fn density(self, x: f64) -> f64 {
        let log = match self.0 {
            PrecisionPrior::Constant(value) => 0.5 * value.ln() - LOG_NORMAL - 0.5 * value * x * x,
            PrecisionPrior::Gamma { shape, rate } => {
                ln_gamma(shape + 0.5)
                    - ln_gamma(shape)
                    - LOG_NORMAL
                    - 0.5 * rate.ln()
                    - (shape + 0.5) * (0.5 * x * x / rate).ln_1p()
            }
        };
        log.exp()
    }

    /// The prior of one coordinate.
    fn marginal(self) -> Prior {
        match self.0 {
            PrecisionPrior::Constant(value) => Prior::Normal {
                mean: 0.0,
                sd: value.sqrt().recip(),
            },
            PrecisionPrior::Gamma { shape, rate } => Prior::StudentT {
                df: 2.0 * shape,
                location: 0.0,
                scale: (rate / shape).sqrt(),
            },
        }
    }

    /// A block drawn from the prior.
    fn draw(self, rng: &mut ChainRng, x: &mut [f64]) -> Result<(), NoPriorDraws> {
        let precision = self.0.draw(rng);
        let precision = precision.ok_or(NoPriorDraws::Precision)?;
        for x in x {
            *x = rng.sample::<f64, _>(StandardNormal) / precision.sqrt();
        }
        Ok(())
    }
}

/// A posterior of factors.
struct FactorizationModel {
    params: Vec<ParamInfo>,
    layout: Layout,
    priors: [BlockPrior; 4],
    /// τ.
    precision: f64,
    /// log τ.
    log_precision: f64,
    table: Table,
    observation: Arc<dyn ObservationModel>,
}

impl FactorizationModel {
    fn new(design: &Design, options: &ModelOptions) -> Result<Self, ModelError> {
        let settings = FactorizationSettings::read(&options.settings)?;
        options.check_priors(Factorization::SPEC.priors.classes, &[])?;
        let table = Table::read(design)?;
        let layout = Layout {
            groups: [0, 1].map(|side| table.levels[side].len()),
            factors: settings.factors,
        };
        let mut priors = [BlockPrior(DEFAULT_PRECISION); 4];
        for (prior, kind) in priors.iter_mut().zip(KINDS) {
            if let Some(text) = options.prior(kind.word) {
                *prior = BlockPrior(PrecisionPrior::parse(text)?);
            }
        }
        let params = params(&table, layout, &priors, options);
        let rule = observation::Rule {
            layout,
            priors,
            precision: settings.precision,
            mean: table.mean,
        };
        Ok(Self {
            observation: Arc::new(Ratings::new(rule, design, &table)),
            params,
            layout,
            priors,
            precision: settings.precision,
            log_precision: settings.precision.ln(),
            table,
        })
    }

    fn block<'u>(&self, k: usize, u: &'u [f64]) -> &'u [f64] {
        &u[self.layout.block(k)]
    }

    /// Calls `visit` with the weight times τ, the residual, and the places of user and item of each of `rows`.
    #[inline]
    fn each_row(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        mut visit: impl FnMut(usize, f64, f64, [usize; 2], [usize; 2]),
    ) {
        for k in 0..rows.len(self.table.y.len()) {
            let row = rows.get(k);
            let ([a, b], [f, g]) = self.layout.places(self.table.groups_of(row));
            let width = self.layout.factors;
            let product = dot(&u[f..f + width], &u[g..g + width]);
            let residual = self.table.y[row] - self.table.mean - u[a] - u[b] - product;
            visit(
                k,
                self.precision * self.table.weight(row),
                residual,
                [a, b],
                [f, g],
            );
        }
    }

    /// ADDS the score of a row, whose residual times its precision is `pull`, to `out` (D).
    #[inline]
    fn add_score(
        &self,
        u: &[f64],
        pull: f64,
        alone: [usize; 2],
        factors: [usize; 2],
        out: &mut [f64],
    ) {
        for place in alone {
            out[place] += pull;
        }
        let width = self.layout.factors;
        let [f, g] = factors;
        axpy(pull, &u[g..g + width], &mut out[f..f + width]);
        axpy(pull, &u[f..f + width], &mut out[g..g + width]);
    }

    /// Log density of a rating with this residual, for a row that counts `weight`.
    fn log_density_of(&self, weighted_precision: f64, residual: f64) -> f64 {
        let weight = weighted_precision / self.precision;
        weight * (0.5 * self.log_precision - LOG_NORMAL)
            - 0.5 * weighted_precision * residual * residual
    }
}

/// The reported quantities, which are the coordinates.
fn params(
    table: &Table,
    layout: Layout,
    priors: &[BlockPrior; 4],
    options: &ModelOptions,
) -> Vec<ParamInfo> {
    let mut params = Vec::with_capacity(layout.dim());
    for (kind, prior) in KINDS.iter().zip(priors) {
        let prior = PriorOf::from(prior.marginal());
        let source = match options.prior(kind.word) {
            Some(_) => PriorSource::new(ChosenBy::User, "set by the recipe"),
            None => PriorSource::by_default("default of the source"),
        };
        for level in &table.levels[kind.side] {
            let info = |name: ParamId, meaning: String| ParamInfo {
                name,
                meaning,
                prior: prior.clone(),
                prior_source: source.clone(),
            };
            let column = &table.names[kind.side];
            if !kind.is_factor {
                let meaning = format!("what `{column}` {level} adds to the mean");
                params.push(info(ParamId::keyed(kind.word, [level.as_str()]), meaning));
                continue;
            }
            for k in 1..=layout.factors {
                let name = ParamId::keyed(kind.word, [level.clone(), k.to_string()]);
                let meaning =
                    format!("factor {k} of `{column}` {level}; means nothing without the others");
                params.push(info(name, meaning));
            }
        }
    }
    params
}

impl Model for FactorizationModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let block = (0..KINDS.len()).find(|&k| self.layout.block(k).contains(&index))?;
        Some(self.priors[block].density(value))
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let block = (0..KINDS.len()).find(|&k| self.layout.block(k).contains(&index))?;
        self.priors[block].marginal().span()
    }

    fn observation(&self) -> Option<&Arc<dyn ObservationModel>> {
        Some(&self.observation)
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl LogDensity for FactorizationModel {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for u in u {
            *u = rng.random_range(-START..START);
        }
    }

    /// Rotations leave the density as it is.
    fn has_equal_modes(&self) -> bool {
        true
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for FactorizationModel {
    fn num_obs(&self) -> usize {
        self.table.y.len()
    }

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (k, prior) in self.priors.iter().enumerate() {
            let x = self.block(k, u);
            let precision = prior.precision(x);
            for (grad, x) in grad[self.layout.block(k)].iter_mut().zip(x) {
                *grad = -precision * x;
            }
            sum += prior.log_density(x);
        }
        sum
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let of = |(k, prior): (usize, &BlockPrior)| prior.log_density(self.block(k, u));
        Some(self.priors.iter().enumerate().map(of).sum())
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        self.each_row(u, rows, |_k, precision, residual, alone, factors| {
            self.add_score(u, precision * residual, alone, factors, grad);
            sum += self.log_density_of(precision, residual);
        });
        sum
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        self.each_row(u, rows, |k, precision, residual, _alone, _factors| {
            out[k] = self.log_density_of(precision, residual);
        });
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        let dim = u.len();
        out.fill(0.0);
        self.each_row(u, rows, |k, precision, residual, alone, factors| {
            let out = &mut out[k * dim..][..dim];
            self.add_score(u, precision * residual, alone, factors, out);
        });
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        _scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let (dim, width) = (u.len(), self.layout.factors);
        self.each_row(u, rows, |_k, precision, residual, [a, b], [f, g]| {
            // The row's prediction has the derivative 1 in a and b, V in U, and U in V.
            let slope = |part: usize| match part {
                0 => (a, 1.0),
                1 => (b, 1.0),
                _ if part < 2 + width => (f + part - 2, u[g + part - 2]),
                _ => (g + part - 2 - width, u[f + part - 2 - width]),
            };
            for i in 0..2 + 2 * width {
                let (row, first) = slope(i);
                for j in 0..2 + 2 * width {
                    let (column, second) = slope(j);
                    hessian[row * dim + column] += precision * first * second;
                }
            }
            for k in 0..width {
                hessian[(f + k) * dim + g + k] -= precision * residual;
                hessian[(g + k) * dim + f + k] -= precision * residual;
            }
        });
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        for (k, prior) in self.priors.iter().enumerate() {
            let first = self.layout.block(k).start;
            prior.add_curvature(self.block(k, u), first, u.len(), hessian);
        }
    }
}

impl PriorDraws for FactorizationModel {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        for (k, prior) in self.priors.iter().enumerate() {
            prior.draw(rng, &mut u[self.layout.block(k)])?;
        }
        Ok(())
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, values: &mut [f64]) {
        let sd = self.precision.sqrt().recip();
        let y = &self.table.y;
        self.each_row(u, rows, |k, _precision, residual, _alone, _factors| {
            let expected = y[rows.get(k)] - residual;
            values[k] = expected + sd * rng.sample::<f64, _>(StandardNormal);
        });
    }
}
