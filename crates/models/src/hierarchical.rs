//! Hierarchical logistic regression (El Hanchi 2018, section 3.2): every coefficient varies by group around a common mean.
//!
//! y_gj ~ Binomial(n_gj, σ(x_gj'θ_g + o_gj)), θ_g ~ N(μ, Σ), μ | Σ ~ N(m, Σ/λ), Σ ~ W⁻¹(Φ, ν).
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `mu[term]` | real | normal(0, Sigma/0.16) | per standard deviation of the predictor, intercept at average predictors |
//! | `Sigma[term,term]` | positive definite | inv_wishart(P + 2, 1): mean I | the same |
//! | `theta[group,term]` | real | normal(mu, Sigma) | the same |
//!
//! λ = 0.16 says that the prior of μ counts as 0.16 groups, whatever the spread of groups: 2.5 of its standard deviations, and
//! ten for λ = 0.01 of `priors.default = "papers"`. ν = P + 2 is the least whole number with a mean. The inverse-Wishart keeps variances away from 0: where
//! groups hardly differ, a smaller scale lets Σ be smaller. The source gives no values.
//!
//! The formula says twice what varies: `y ~ x1 + x2 + (1 + x1 + x2 | g)`. In brms and lme4 this is a fixed part and
//! deviations from it; here μ is the fixed part and θ_g is fixed part plus deviation.
//!
//! Sampling happens on standardised predictors; the linear map T to the scale of the columns takes θ to Tθ, μ to Tμ and Σ
//! to TΣT', and the prior to the one with Tm and TΦT', so that neither the scale of reports nor that of the prior
//! (`standardize`) needs a density of its own. Coordinates, their Jacobian and curvature: [`coordinates`]. Gradients are
//! sparse in groups: a row touches w_g and the population.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `parametrisation` | what stands for θ_g in joint sampling: z_g with θ_g = μ + L z_g (non-centred), or θ_g (centred) | by the rows per group |
//!
//! Identifiability: groups without rows, of one row or of one class are carried by N(μ, Σ). With few groups Σ is little
//! more than its prior.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::hierarchy::Hierarchy;
use super::predicts::Predicts;
use super::prior::Prior;
use super::translation::{Context, Translation};
use super::{
    Block, CentreRows, LogDensity, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws,
    ParamInfo, Posterior, PriorDraws, RoundTrip, RowLikelihood, Rows, Scratch, Template,
    sum_of_rows,
};
use crate::design::{Design, ResponseUse, Scaling};
use crate::families::binomial::weighted_rows;
use crate::families::rows::{FamilyRows, RowFamily};
use crate::families::{Family, bernoulli};
use crate::numerics::wishart::NormalInverseWishart;
use coordinates::{Layout, MAX_TERMS, PopulationPrior};
use ergodic_base::linalg::{Cholesky, dot};
use ergodic_base::settings::{Declared as _, Settings};
use ergodic_base::{ChainRng, Class, ParamId};
use rows::{GroupedRows, SEGMENT};

mod coordinates;
mod described;
mod options;
mod predicts;
mod prior_draws;
mod rows;
#[cfg(test)]
mod tests;

/// Rows per group and term from which the rows say more about θ_g than N(μ, Σ) does: a row has information p(1 − p), about
/// 0.15, and Σ about 1 where nothing is known.
const ROWS_FOR_CENTRED: f64 = 20.0;

ergodic_base::choice! {
    /// Coordinates of samplers that move everything at once.
    enum Parametrisation {
        /// Deviations from the mean of groups in units of their spread.
        NonCentred = "non-centred",
        /// The groups' coefficients.
        Centred = "centred",
    }
}

ergodic_base::settings! {
    /// Settings of [`Hierarchical`].
    struct HierarchicalSettings {
        parametrisation: Option<Parametrisation> = Parametrisation::field("Parametrisation", None)
            .help(
                "For samplers that move everything at once: deviations from the mean of groups in units of their spread \
                 (non-centred, for small groups), or the groups' coefficients themselves (centred, for large ones)",
            )
            .why("centred from 20 rows per group and coefficient on, where rows say more about a group than others do");
    }
}

/// The template `hierarchical`.
pub struct Hierarchical;

impl Template for Hierarchical {
    const ALL_VARY: bool = true;
    const SPEC: ModelSpec = ModelSpec {
        id: "hierarchical",
        title: "Hierarchical logistic regression",
        about: "How the chance of a yes/no outcome depends on predictors in each group, and how groups differ",
        fields: HierarchicalSettings::FIELDS,
        response: |_settings| ResponseUse::Outcome,
        priors: options::PRIORS,
    };
    const ROUND_TRIP: RoundTrip = RoundTrip {
        near: 1e-9,
        far: 1e-9,
        reason: "a covariance loses digits of its factor, by its condition number",
    };

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Bernoulli)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        options::check_design(&design)?;
        let plain = design.trials.is_none() && design.weights.is_none() && design.offset.is_none();
        if plain {
            build(bernoulli::signed(&design)?, design, options)
        } else {
            build(weighted_rows(&design), design, options)
        }
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        described::describe(context)
    }
}

fn build<F: RowFamily>(
    FamilyRows { family, data, .. }: FamilyRows<F>,
    design: Arc<Design>,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, ModelError> {
    let factor = &design.groups[design.group_terms[0].factor];
    let (terms, groups) = (design.terms.len(), factor.levels.len());
    let rows = GroupedRows::new(family, terms, &data, &factor.index, groups);
    let weight = |i: usize| {
        let at = |values: &Option<Vec<f64>>| values.as_ref().map_or(1.0, |values| values[i]);
        at(&design.trials) * at(&design.weights)
    };
    let observations: f64 = (0..design.y.len()).map(weight).sum();
    let settings = HierarchicalSettings::read(&options.settings)?;
    let centred = match settings.parametrisation {
        Some(chosen) => chosen == Parametrisation::Centred,
        None => observations >= ROWS_FOR_CENTRED * (terms * groups) as f64,
    };
    let scaling = design.scaling();
    let chosen = options::choose(&design, options)?;
    let (sampled, reported) = options::on_both_scales(&chosen, &scaling, options);
    let prior = PopulationPrior::new(sampled).ok_or_else(|| {
        ModelError::Data(
            "The scale of the prior of `Sigma` is not positive definite; use positive numbers"
                .to_owned(),
        )
    })?;
    let params = options::params(&design, &chosen, options);
    Ok(Arc::new(HierarchicalModel {
        layout: Layout {
            terms,
            groups,
            centred,
        },
        scaling: (!options.report_standardized).then_some(scaling),
        design,
        rows,
        params,
        prior,
        reported,
    }))
}

/// The posterior.
struct HierarchicalModel<F> {
    design: Arc<Design>,
    rows: GroupedRows<F>,
    params: Vec<ParamInfo>,
    layout: Layout,
    /// On the scale of u.
    prior: PopulationPrior,
    /// The prior on the scale of reports.
    reported: NormalInverseWishart,
    /// From the scale of u to that of reports, where they differ.
    scaling: Option<Scaling>,
}

/// What a reported quantity is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Mean(usize),
    /// Row and column, the first not after the second.
    Covariance(usize, usize),
    Effect {
        term: usize,
    },
}

/// Working memory of a pass, cut from one vector.
struct Memory<'a> {
    lower: &'a mut [f64],
    theta: &'a mut [f64],
    /// ∂/∂θ of a stretch of rows.
    slope: &'a mut [f64],
    /// Curvature in θ.
    curvature: &'a mut [f64],
    /// ∂θ/∂(μ, L, w), P×K.
    jacobian: &'a mut [f64],
    /// Curvature times that, P×K.
    product: &'a mut [f64],
    /// A number, or a score, per row of a segment.
    per_row: &'a mut [f64],
}

impl<F: RowFamily> HierarchicalModel<F> {
    /// K: coordinates that the θ of one group depends on.
    fn local_len(&self) -> usize {
        2 * self.layout.terms + self.layout.factor_len()
    }

    fn memory_len(&self) -> usize {
        let p = self.layout.terms;
        2 * p * p + 2 * p + 2 * p * self.local_len() + SEGMENT * p
    }

    fn memory<'a>(&self, vector: &'a mut [f64]) -> Memory<'a> {
        let p = self.layout.terms;
        let mut rest = vector;
        let mut cut = |len: usize| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            part
        };
        Memory {
            lower: cut(p * p),
            theta: cut(p),
            slope: cut(p),
            curvature: cut(p * p),
            jacobian: cut(p * self.local_len()),
            product: cut(p * self.local_len()),
            per_row: cut(SEGMENT * p),
        }
    }

    /// Lets `act` use the working memory beside the rest of `scratch`.
    fn with_memory<T>(
        &self,
        u: &[f64],
        scratch: &mut Scratch,
        act: impl FnOnce(&mut Memory<'_>, &mut [u32], &mut Scratch) -> T,
    ) -> T {
        let (mut vector, mut index) = (
            std::mem::take(&mut scratch.vector),
            std::mem::take(&mut scratch.index),
        );
        let mut memory = self.memory(&mut vector);
        self.layout.write_lower(u, memory.lower);
        let result = act(&mut memory, &mut index, scratch);
        scratch.vector = vector;
        scratch.index = index;
        result
    }

    /// Σ log p over `rows`, if `VALUE`; ADDS its gradient to `grad` (D).
    fn pass<const VALUE: bool>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let layout = &self.layout;
        self.with_memory(u, scratch, |memory, index, scratch| {
            let Memory {
                lower,
                theta,
                slope,
                ..
            } = memory;
            let mut value = 0.0;
            self.rows.visit(rows, index, |g, places| {
                layout.write_theta(u, lower, g, theta);
                slope.fill(0.0);
                let glm = &self.rows.rows;
                if VALUE {
                    value += glm.value_gradient(theta, places, scratch, slope);
                } else {
                    glm.gradient(theta, places, scratch, slope);
                }
                layout.pull_back(u, lower, g, slope, 1.0, grad);
            });
            value
        })
    }

    /// `sign` times the score of each row, ADDED to `out` (B×D).
    fn add_scores(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        sign: f64,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let (layout, dim, p) = (&self.layout, self.layout.dim(), self.layout.terms);
        self.with_memory(u, scratch, |memory, index, scratch| {
            let Memory {
                lower,
                theta,
                per_row,
                ..
            } = memory;
            self.rows.visit_single(rows, index, |g, places, slots| {
                layout.write_theta(u, lower, g, theta);
                let scores = &mut per_row[..places.len() * p];
                let pick = Rows::Pick(places);
                self.rows.rows.scores(theta, pick, None, scratch, scores);
                for (score, &slot) in scores.chunks_exact(p).zip(slots) {
                    let out = &mut out[slot as usize * dim..][..dim];
                    layout.pull_back(u, lower, g, score, sign, out);
                }
            });
        });
    }

    /// To the scale of reports, in place.
    fn report(&self, values: &mut [f64]) {
        let Some(scaling) = &self.scaling else { return };
        let intercept = values[0];
        let mut at_centre = 0.0;
        for j in usize::from(scaling.has_intercept)..values.len() {
            values[j] /= scaling.scale[j];
            at_centre += values[j] * scaling.center[j];
        }
        if scaling.has_intercept {
            values[0] = intercept - at_centre;
        }
    }

    /// Row i of T L: what Σ on the scale of reports is made of; `lower` is L in u.
    fn reported_row(&self, u: &[f64], i: usize, row: &mut [f64]) {
        let layout = &self.layout;
        let entry = |i: usize, j: usize| {
            let value = u[layout.entry(i, j)];
            if i == j { value.exp() } else { value }
        };
        row.fill(0.0);
        for (j, out) in row.iter_mut().enumerate().take(i + 1) {
            *out = entry(i, j);
        }
        let Some(scaling) = &self.scaling else { return };
        for out in row.iter_mut() {
            *out /= scaling.scale[i];
        }
        if scaling.has_intercept && i == 0 {
            for k in 1..layout.terms {
                let shift = scaling.center[k] / scaling.scale[k];
                for (j, out) in row.iter_mut().enumerate().take(k + 1) {
                    *out -= shift * entry(k, j);
                }
            }
        }
    }

    /// μ_j and θ_gj are Student-t with ν − P + 1 degrees of freedom, Σ_jj is inverse-gamma; covariances have no closed form.
    fn marginal_prior(&self, index: usize) -> Option<Prior> {
        let (p, niw) = (self.layout.terms, &self.reported);
        let df = niw.dof - p as f64 + 1.0;
        let student = |term: usize, spread: f64| Prior::StudentT {
            df,
            location: niw.mean[term],
            scale: (spread * niw.scale[term * p + term] / df).sqrt(),
        };
        match self.quantity(index) {
            Quantity::Mean(term) => Some(student(term, 1.0 / niw.strength)),
            Quantity::Effect { term } => Some(student(term, 1.0 + 1.0 / niw.strength)),
            Quantity::Covariance(i, j) if i == j => {
                let (shape, scale) = (0.5 * df, 0.5 * niw.scale[i * p + i]);
                Some(Prior::InvGamma { shape, scale })
            }
            Quantity::Covariance(..) => None,
        }
    }

    fn quantity(&self, index: usize) -> Quantity {
        let p = self.layout.terms;
        let after_means = match index.checked_sub(p) {
            None => return Quantity::Mean(index),
            Some(rest) => rest,
        };
        match after_means.checked_sub(self.layout.factor_len()) {
            Some(rest) => Quantity::Effect { term: rest % p },
            None => options::upper_triangle(p)
                .nth(after_means)
                .map_or(Quantity::Mean(0), |(i, j)| Quantity::Covariance(i, j)),
        }
    }
}

impl<F: RowFamily> Hierarchy for HierarchicalModel<F> {
    fn num_groups(&self) -> usize {
        self.layout.groups
    }

    fn num_terms(&self) -> usize {
        self.layout.terms
    }

    fn group_rows(&self, g: usize) -> std::ops::Range<usize> {
        let (start, len) = self.rows.span(g);
        start..start + len
    }

    fn prior(&self) -> &NormalInverseWishart {
        &self.prior.niw
    }

    fn read(&self, u: &[f64], mu: &mut [f64], lower: &mut [f64], theta: &mut [f64]) {
        let p = self.layout.terms;
        mu.copy_from_slice(&u[..p]);
        self.layout.write_lower(u, lower);
        for (g, theta) in theta.chunks_exact_mut(p).enumerate() {
            self.layout.write_theta(u, lower, g, theta);
        }
    }

    fn write(&self, mu: &[f64], lower: &[f64], theta: &[f64], u: &mut [f64]) {
        self.layout.read_population(mu, lower, u);
        for (g, theta) in theta.chunks_exact(self.layout.terms).enumerate() {
            self.layout.read_theta(g, theta, u);
        }
    }

    fn group_scratch(&self) -> Scratch {
        self.rows.rows.scratch()
    }

    fn group_log_lik(
        &self,
        theta: &[f64],
        places: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.rows.rows.value_gradient(theta, places, scratch, grad)
    }

    fn group_scores(
        &self,
        theta: &[f64],
        places: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.rows.rows.scores(theta, places, None, scratch, out);
    }

    fn add_group_neg_hessian(
        &self,
        theta: &[f64],
        places: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.rows
            .rows
            .add_neg_hessian(theta, places, scratch, hessian);
    }
}

impl<F: RowFamily> Model for HierarchicalModel<F> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn hierarchy(&self) -> Option<&dyn Hierarchy> {
        Some(self)
    }

    fn predicts(&self) -> Option<&dyn Predicts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], out: &mut [f64]) {
        let (p, layout) = (self.layout.terms, &self.layout);
        let (mu, rest) = out.split_at_mut(p);
        let (sigma, theta) = rest.split_at_mut(layout.factor_len());
        mu.copy_from_slice(&u[..p]);
        let (mut row_i, mut row_j) = ([0.0; MAX_TERMS], [0.0; MAX_TERMS]);
        let mut last = usize::MAX;
        for (out, (i, j)) in sigma.iter_mut().zip(options::upper_triangle(p)) {
            if i != last {
                self.reported_row(u, i, &mut row_i[..p]);
                last = i;
            }
            self.reported_row(u, j, &mut row_j[..p]);
            *out = dot(&row_i[..p], &row_j[..p]);
        }
        for (g, theta) in theta.chunks_exact_mut(p).enumerate() {
            let w = &u[layout.group(g)];
            if layout.centred {
                theta.copy_from_slice(w);
            } else {
                for i in 0..p {
                    let row = &u[layout.entry(i, 0)..][..i];
                    theta[i] = u[i] + dot(row, &w[..i]) + u[layout.entry(i, i)].exp() * w[i];
                }
            }
            self.report(theta);
        }
        self.report(mu);
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        let p = self.layout.terms;
        let scaled = |raw: &[f64]| -> Vec<f64> {
            let mut out = raw.to_vec();
            if let Some(scaling) = &self.scaling {
                scaling.to_scaled(raw, &mut out);
            }
            out
        };
        let mu = scaled(&theta[..p]);
        let mut sigma = vec![0.0; p * p];
        for (value, (i, j)) in theta[p..].iter().zip(options::upper_triangle(p)) {
            sigma[i * p + j] = *value;
            sigma[j * p + i] = *value;
        }
        options::map_both_sides(&mut sigma, p, scaled);
        // A matrix that is no covariance has no position; NaN is refused where positions are used.
        let lower = Cholesky::of(&sigma, p).map_or_else(
            |_not_positive| vec![f64::NAN; p * p],
            |factor| factor.lower().to_vec(),
        );
        self.layout.read_population(&mu, &lower, u);
        let effects = &theta[p + self.layout.factor_len()..];
        for (g, effect) in effects.chunks_exact(p).enumerate() {
            self.layout.read_theta(g, &scaled(effect), u);
        }
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        self.marginal_prior(index)?.density(value)
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let prior = self.marginal_prior(index)?;
        prior.span().or_else(|| prior.positive_range(0.0))
    }

    /// The population, and each group.
    fn blocks(&self) -> Vec<Block> {
        let population = Block {
            name: "population".into(),
            coordinates: 0..self.layout.factor().end,
        };
        let levels = &self.design.groups[self.design.group_terms[0].factor].levels;
        let groups = levels.iter().enumerate().map(|(g, level)| Block {
            name: ParamId::of(Class::GroupCoefficient, [level]),
            coordinates: self.layout.group(g),
        });
        std::iter::once(population).chain(groups).collect()
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl<F: RowFamily> LogDensity for HierarchicalModel<F> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn has_dense_curvature(&self) -> bool {
        self.dim() <= super::MAX_DENSE_DIM_OF_GROUPS
    }

    /// μ near 0, Σ near I, groups from N(μ, Σ).
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for (j, u) in u.iter_mut().enumerate() {
            *u = if self.layout.factor().contains(&j) {
                rng.random_range(-0.5..0.5)
            } else {
                rng.sample(StandardNormal)
            };
        }
        self.layout.read_deviations(u);
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl<F: RowFamily> RowLikelihood for HierarchicalModel<F> {
    fn num_obs(&self) -> usize {
        self.rows.rows.num_obs()
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            vector: vec![0.0; self.memory_len()],
            index: vec![0; self.rows.index_len()],
            ..self.rows.rows.scratch()
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.layout.log_prior(&self.prior, u, grad)
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        Some(self.layout.log_prior_density(&self.prior, u))
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.pass::<true>(u, rows, scratch, grad)
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.pass::<false>(u, rows, scratch, grad);
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.with_memory(u, scratch, |memory, index, scratch| {
            let Memory {
                lower,
                theta,
                per_row,
                ..
            } = memory;
            self.rows.visit_single(rows, index, |g, places, slots| {
                self.layout.write_theta(u, lower, g, theta);
                let values = &mut per_row[..places.len()];
                let pick = Rows::Pick(places);
                self.rows.rows.pointwise(theta, pick, scratch, values);
                for (value, &slot) in values.iter().zip(slots) {
                    out[slot as usize] = *value;
                }
            });
        });
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        out.fill(0.0);
        self.add_scores(u, rows, 1.0, scratch, out);
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        out.fill(0.0);
        self.add_scores(u, rows, 1.0, scratch, out);
        self.add_scores(&centre.u, rows, -1.0, scratch, out);
    }

    /// J'HJ − Σ_i r_i ∇²θ_i per group, with J = ∂θ/∂(μ, L, w), H the curvature and r the gradient in θ.
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let (layout, p) = (&self.layout, self.layout.terms);
        let (dim, local, factor_len) = (layout.dim(), self.local_len(), layout.factor_len());
        self.with_memory(u, scratch, |memory, index, scratch| {
            let Memory {
                lower,
                theta,
                slope,
                curvature,
                jacobian,
                product,
                ..
            } = memory;
            self.rows.visit(rows, index, |g, places| {
                layout.write_theta(u, lower, g, theta);
                let glm = &self.rows.rows;
                curvature.fill(0.0);
                glm.add_neg_hessian(theta, places, scratch, curvature);
                let group = layout.group(g);
                if layout.centred {
                    for (i, row) in curvature.chunks_exact(p).enumerate() {
                        let at = (group.start + i) * dim + group.start;
                        for (entry, h) in hessian[at..at + p].iter_mut().zip(row) {
                            *entry += h;
                        }
                    }
                    return;
                }
                slope.fill(0.0);
                glm.gradient(theta, places, scratch, slope);
                let w = &u[group.clone()];
                // Local coordinate k is coordinate `at(k)` of u.
                let at = |k: usize| {
                    if k < p + factor_len {
                        k
                    } else {
                        group.start + k - p - factor_len
                    }
                };
                jacobian.fill(0.0);
                for (i, row) in jacobian.chunks_exact_mut(local).enumerate() {
                    row[i] = 1.0;
                    let first = layout.entry(i, 0);
                    for j in 0..=i {
                        let l = lower[i * p + j];
                        row[first + j] = if i == j { l * w[i] } else { w[j] };
                        row[p + factor_len + j] = l;
                    }
                }
                product.fill(0.0);
                for (h, out) in curvature
                    .chunks_exact(p)
                    .zip(product.chunks_exact_mut(local))
                {
                    for (h, row) in h.iter().zip(jacobian.chunks_exact(local)) {
                        ergodic_base::linalg::axpy(*h, row, out);
                    }
                }
                for a in 0..local {
                    for b in 0..local {
                        let sum: f64 = (0..p)
                            .map(|i| jacobian[i * local + a] * product[i * local + b])
                            .sum();
                        hessian[at(a) * dim + at(b)] += sum;
                    }
                }
                // θ_i is bilinear in row i of L and w.
                for i in 0..p {
                    for j in 0..=i {
                        let (l, w_j) = (layout.entry(i, j), group.start + j);
                        let by_both = if i == j { lower[i * p + i] } else { 1.0 };
                        hessian[l * dim + w_j] -= slope[i] * by_both;
                        hessian[w_j * dim + l] -= slope[i] * by_both;
                    }
                    let l = layout.entry(i, i);
                    hessian[l * dim + l] -= slope[i] * lower[i * p + i] * w[i];
                }
            });
        });
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.layout.add_neg_hessian(&self.prior, u, hessian);
    }
}
