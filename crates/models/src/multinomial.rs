//! Multinomial regression, also called softmax or categorical regression: Pr(y_i = k) = e^{η_ik} / Σ_j e^{η_ij}, η_ik = x_i'β_k, for
//! levels k = 1 … K without an order, of which the first is the reference, β_1 = 0 (McFadden 1974, "Conditional logit analysis of
//! qualitative choice behavior").
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `logit[level,Intercept]` | real | normal(0, 2.5) | at average predictors |
//! | `logit[level,term]` | real | normal(0, 2.5) | per standard deviation of the predictor |
//!
//! A coefficient says how the log odds of its level against the reference change; e^β is the factor of these odds. Coordinates are
//! those of one level after the other, each as in the other regressions ([`super::coefficients`]). With chances p_ik, a row of weight
//! w has the score w (1[y_i = k] − p_ik) x_i in β_k and the curvature w (1[k = l] p_ik − p_ik p_il) x_i x_i' in β_k and β_l.
//!
//! Identifiability: with the reference fixed as in any regression; the posterior depends a little on which level that is, because
//! priors hold for differences from it. A level without rows, or one that predictors tell without error, has its prior to hold it.

use std::sync::Arc;

use super::coefficients::Coefficients;
use super::predicts::{Law, Point, Predicts};
use super::regression::COEFFICIENT_PRIORS;
use super::translation::{Context, Translation};
use super::{
    CentreRows, LogDensity, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo,
    Posterior, PriorDraws, PriorOf, RowLikelihood, Rows, Scratch, Template, sum_of_rows,
    unordered_levels,
};
use crate::design::{Design, DesignTerm, ResponseUse};
use crate::families::rows::ResponseScale;
use crate::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::{ChainRng, Class, ParamId};

mod described;

/// The template `multinomial`.
pub struct Multinomial;

impl Template for Multinomial {
    const SPEC: ModelSpec = ModelSpec {
        id: "multinomial",
        title: "Multinomial regression",
        about: "How the chances of three or more levels without an order, such as species or parties, depend on predictors",
        fields: &[],
        response: |_settings| ResponseUse::Unordered,
        priors: COEFFICIENT_PRIORS,
    };
    const EXPLAINS_ROWS: bool = true;

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(MultinomialModel::new(design, options)?))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        described::describe(context)
    }
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit(Multinomial::SPEC.id, why)
}

/// What is reported as the coefficient of a term in the log odds of `level`.
fn name_of(level: &str, term: &DesignTerm) -> ParamId {
    ParamId::of(Class::LevelCoefficient, [level, term.as_str()])
}

/// The levels of a response: the reference and the others.
fn levels_of(design: &Design) -> Result<(&String, &[String]), ModelError> {
    let levels = unordered_levels(design, Multinomial::SPEC.id)?;
    levels.split_first().ok_or_else(|| unfit("needs levels"))
}

/// Refuses flat priors where a level has no rows: its chances are the more likely the smaller they are, without an end.
fn check_proper(
    design: &Design,
    params: &[ParamInfo],
    num_columns: usize,
) -> Result<(), ModelError> {
    for (place, level) in design.response.levels().iter().enumerate() {
        let has_rows = design.y.contains(&((place + 1) as f64));
        // Without the reference all other levels grow.
        let own = match place.checked_sub(1) {
            Some(k) => &params[k * num_columns..][..num_columns],
            None => params,
        };
        if !has_rows && own.iter().any(|param| param.prior == PriorOf::Flat) {
            return Err(ModelError::Data(format!(
                "The level `{level}` of the outcome `{}` has no rows, and with a flat prior its coefficients have no bound; give them \
                 another prior, such as normal(0, 2.5), or leave the level out",
                design.response.name
            )));
        }
    }
    Ok(())
}

/// The posterior of a multinomial regression.
struct MultinomialModel {
    design: Arc<Design>,
    levels: Unordered,
    params: Vec<ParamInfo>,
    /// Of each level but the first, P coordinates each.
    coefficients: Vec<Coefficients>,
    /// Covariates of rows (N × P).
    x: Vec<f64>,
    /// Level of each row, from 0 (N).
    place: Vec<u8>,
    /// P.
    num_columns: usize,
}

impl MultinomialModel {
    fn new(design: Arc<Design>, options: &ModelOptions) -> Result<Self, ModelError> {
        let (reference, others) = levels_of(&design)?;
        let name = &design.response.name;
        if let Some(group) = design.groups.first() {
            return Err(unfit(format!(
                "has no effects that vary by group, but the formula has some by `{}`; leave them out, or take the group as a predictor",
                group.name
            )));
        }
        if design.offset.is_some() {
            return Err(unfit(
                "takes no offset, because there is a linear predictor for each level but the first; leave it out of the formula",
            ));
        }
        if design.terms.is_empty() {
            return Err(unfit(
                "needs an intercept or a predictor; leave `0 +` or `- 1` out of the formula",
            ));
        }
        let (mut coefficients, mut params) = (Vec::new(), Vec::new());
        for level in others {
            let quantity = format!("log odds of {name} {level} against {reference}");
            let named = |term: &DesignTerm| name_of(level, term);
            let of_design = Arc::clone(&design);
            let (of_level, told) =
                Coefficients::named(of_design, ResponseScale::LINK, (&quantity, named), options)?;
            coefficients.push(of_level);
            params.extend(told);
        }
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        options.check_priors(Multinomial::SPEC.priors.classes, &names)?;
        let (levels, num_columns) = (Unordered::new(others.len() + 1), design.terms.len());
        check_proper(&design, &params, num_columns)?;
        Ok(Self {
            levels,
            params,
            coefficients,
            x: design.x.iter().copied().collect(),
            place: design.y.iter().map(|&y| y as u8 - 1).collect(),
            num_columns,
            design,
        })
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.num_columns..][..self.num_columns]
    }

    fn weight(&self, i: usize) -> f64 {
        self.design
            .weights
            .as_ref()
            .map_or(1.0, |weights| weights[i])
    }

    /// Working memory for what there is one of for each level but the first.
    fn per_predictor(&self) -> PerPredictor {
        PerPredictor {
            values: [0.0; MAX_PREDICTORS],
            len: self.levels.num_predictors(),
        }
    }

    /// Linear predictors of row `i`.
    fn predictors(&self, u: &[f64], i: usize, out: &mut [f64]) {
        let x = self.row(i);
        for (z, beta) in out.iter_mut().zip(u.chunks_exact(self.num_columns)) {
            *z = dot(x, beta);
        }
    }

    /// Derivatives of the log likelihood of row `i` in its linear predictors; that itself.
    fn residuals(&self, u: &[f64], i: usize, out: &mut [f64]) -> f64 {
        self.predictors(u, i, out);
        let own = (self.place[i] as usize).checked_sub(1);
        let z = own.map_or(0.0, |own| out[own]);
        let log_total = self.levels.chances(out);
        let weight = self.weight(i);
        out.iter_mut().for_each(|p| *p *= -weight);
        if let Some(own) = own {
            out[own] += weight;
        }
        weight * (z - log_total)
    }

    /// Adds the gradient of row `i`, of which these are the derivatives in its linear predictors.
    fn add_gradient(&self, i: usize, residuals: &[f64], grad: &mut [f64]) {
        let x = self.row(i);
        for (grad, residual) in grad.chunks_exact_mut(self.num_columns).zip(residuals) {
            axpy(*residual, x, grad);
        }
    }

    /// Writes the score of row `i`.
    fn write_score(&self, i: usize, residuals: &[f64], score: &mut [f64]) {
        score.fill(0.0);
        self.add_gradient(i, residuals, score);
    }

    fn stretch<'a>(&self, of_levels: &'a [f64], level: usize) -> &'a [f64] {
        &of_levels[level * self.num_columns..][..self.num_columns]
    }

    fn stretch_mut<'a>(&self, of_levels: &'a mut [f64], level: usize) -> &'a mut [f64] {
        &mut of_levels[level * self.num_columns..][..self.num_columns]
    }
}

/// A number for each level but the first.
struct PerPredictor {
    values: [f64; MAX_PREDICTORS],
    len: usize,
}

impl PerPredictor {
    fn get(&mut self) -> &mut [f64] {
        &mut self.values[..self.len]
    }
}

impl Predicts for MultinomialModel {
    fn point(&self, theta: &[f64]) -> Option<Point> {
        if theta.len() != self.params.len() {
            return None;
        }
        let mut u = vec![0.0; self.dim()];
        self.unconstrain(theta, &mut u);
        let of_levels = self.coefficients.iter().enumerate();
        Some(Point {
            coefficients: of_levels
                .flat_map(|(k, coefficients)| coefficients.raw(self.stretch(&u, k)))
                .collect(),
            law: Law::Levels(self.levels),
            terms: Vec::new(),
            layer: None,
        })
    }
}

impl Model for MultinomialModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn predicts(&self) -> Option<&dyn Predicts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        for (k, coefficients) in self.coefficients.iter().enumerate() {
            coefficients.report(self.stretch(u, k), self.stretch_mut(theta, k));
        }
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        for (k, coefficients) in self.coefficients.iter().enumerate() {
            coefficients.position(self.stretch(theta, k), self.stretch_mut(u, k));
        }
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let coefficients = &self.coefficients[index / self.num_columns];
        coefficients.prior(index % self.num_columns)?.density(value)
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let coefficients = &self.coefficients[index / self.num_columns];
        coefficients.prior(index % self.num_columns)?.span()
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl LogDensity for MultinomialModel {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for MultinomialModel {
    fn num_obs(&self) -> usize {
        self.place.len()
    }

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let of_levels = self.coefficients.iter().enumerate();
        of_levels
            .map(|(k, coefficients)| {
                coefficients.log_prior(self.stretch(u, k), self.stretch_mut(grad, k))
            })
            .sum()
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        Some(self.log_prior(u, &mut vec![0.0; u.len()]))
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let mut residuals = self.per_predictor();
        let residuals = residuals.get();
        let mut sum = 0.0;
        for k in 0..rows.len(self.num_obs()) {
            let i = rows.get(k);
            sum += self.residuals(u, i, residuals);
            self.add_gradient(i, residuals, grad);
        }
        sum
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        let mut residuals = self.per_predictor();
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.residuals(u, rows.get(k), residuals.get());
        }
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        let mut residuals = self.per_predictor();
        let residuals = residuals.get();
        for (k, score) in out.chunks_exact_mut(self.dim()).enumerate() {
            let i = rows.get(k);
            self.residuals(u, i, residuals);
            self.write_score(i, residuals, score);
        }
    }

    fn centre_rows(&self, u: &[f64]) -> CentreRows {
        let mut per_row = vec![0.0; self.num_obs() * self.levels.num_predictors()];
        let of_rows = per_row.chunks_exact_mut(self.levels.num_predictors());
        for (i, residuals) in of_rows.enumerate() {
            self.residuals(u, i, residuals);
        }
        CentreRows {
            u: u.to_vec(),
            per_row,
        }
    }

    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        _scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        let mut residuals = self.per_predictor();
        let residuals = residuals.get();
        for k in 0..rows.len(self.num_obs()) {
            let i = rows.get(k);
            self.difference(u, i, centre, residuals);
            self.add_gradient(i, residuals, grad);
        }
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        _scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let mut residuals = self.per_predictor();
        let residuals = residuals.get();
        for (k, score) in out.chunks_exact_mut(self.dim()).enumerate() {
            let i = rows.get(k);
            self.difference(u, i, centre, residuals);
            self.write_score(i, residuals, score);
        }
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        _scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let (dim, columns) = (self.dim(), self.num_columns);
        let mut chances = self.per_predictor();
        let chances = chances.get();
        for k in 0..rows.len(self.num_obs()) {
            let i = rows.get(k);
            let (x, weight) = (self.row(i), self.weight(i));
            self.predictors(u, i, chances);
            self.levels.chances(chances);
            for (a, line) in hessian.chunks_exact_mut(dim).enumerate() {
                let (own, column) = (a / columns, a % columns);
                for (other, block) in line.chunks_exact_mut(columns).enumerate() {
                    let both = -chances[own] * chances[other];
                    let curvature = if own == other {
                        chances[own] + both
                    } else {
                        both
                    };
                    axpy(weight * curvature * x[column], x, block);
                }
            }
        }
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = self.dim();
        for (k, coefficients) in self.coefficients.iter().enumerate() {
            let first = k * self.num_columns;
            coefficients.add_neg_hessian(
                self.stretch(u, k),
                dim,
                &mut hessian[first * dim + first..],
            );
        }
    }
}

impl MultinomialModel {
    /// [`Self::residuals`] less those at a centre.
    fn difference(&self, u: &[f64], i: usize, centre: &CentreRows, out: &mut [f64]) {
        self.residuals(u, i, out);
        let there = &centre.per_row[i * out.len()..];
        for (residual, there) in out.iter_mut().zip(there) {
            *residual -= there;
        }
    }
}

impl PriorDraws for MultinomialModel {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        for (k, coefficients) in self.coefficients.iter().enumerate() {
            coefficients.draw_prior(rng, self.stretch_mut(u, k))?;
        }
        Ok(())
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let mut chances = self.per_predictor();
        let chances = chances.get();
        for (k, y) in y.iter_mut().enumerate() {
            self.predictors(u, rows.get(k), chances);
            self.levels.chances(chances);
            *y = self.levels.draw(chances, rng);
        }
    }
}

#[cfg(test)]
mod tests;
