//! A model over a part of its rows, with its share of the log prior: what divide and conquer samples.
//!
//! With S shards the subposterior of shard s is p(θ)^{1/S} Π_{i in s} p(y_i|θ), so that the product over shards is the posterior
//! (Scott et al. 2016, equation 3; Baker 2018, equation 2.4.4). Coordinates, columns and their scales are those of the whole
//! model, so that draws of all shards are of one vector.

use std::ops::Range;
use std::sync::Arc;

use super::{
    Covariates, LinearRows, LogDensity, Model, ParamInfo, Posterior, PriorRows, RowLikelihood,
    Rows, Scratch, sum_of_rows,
};
use crate::numerics::elementary::Lane;
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;

/// A shard of a [`Model`] that has rows.
pub struct Shard {
    whole: Arc<dyn Model>,
    rows: Range<usize>,
    /// Share of the log prior.
    share: f64,
    /// The log prior by its parts, where the whole model has it so: searches for a mode must know where it has kinks.
    prior_rows: Option<PriorRows>,
}

impl Shard {
    /// Shard `index` of `count` of `whole`: a stretch of its rows, which a design has shuffled, as long as the others up to one
    /// row. `None` for a model without rows, or with fewer rows than shards.
    pub fn of(whole: &Arc<dyn Model>, index: usize, count: usize) -> Option<Self> {
        let num_obs = whole.rows()?.num_obs();
        let cut = |index: usize| (num_obs as u128 * index as u128 / count as u128) as usize;
        let share = 1.0 / count as f64;
        (index < count && count <= num_obs).then(|| Self {
            whole: Arc::clone(whole),
            rows: cut(index)..cut(index + 1),
            share,
            prior_rows: whole.prior_rows().map(|rows| rows.raised(share)),
        })
    }

    fn whole(&self) -> &dyn RowLikelihood {
        match self.whole.rows() {
            Some(rows) => rows,
            None => unreachable!("a shard is made of a model with rows only"),
        }
    }

    fn linear(&self) -> &dyn LinearRows {
        match self.whole().linear_rows() {
            Some(rows) => rows,
            None => unreachable!(
                "a shard says that its rows are linear only where those of the whole are"
            ),
        }
    }

    /// A stretch of rows by its place among those of the whole model; `None` of rows and blocks that are picked.
    fn stretch(&self, rows: Rows<'_>) -> Option<Rows<'static>> {
        let first = self.rows.start;
        match rows {
            Rows::All => Some((first, self.rows.len())),
            Rows::Span { start, len } => Some((first + start, len)),
            Rows::Pick(_) | Rows::Blocks(_) => None,
        }
        .map(|(start, len)| Rows::Span { start, len })
    }

    /// Calls `act` with the places of `rows` among those of the whole model.
    fn among_all<T>(
        &self,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        act: impl FnOnce(&dyn RowLikelihood, Rows<'_>, &mut Scratch) -> T,
    ) -> T {
        if let Some(stretch) = self.stretch(rows) {
            return act(self.whole(), stretch, scratch);
        }
        let mut places = std::mem::take(&mut scratch.places);
        places.clear();
        places.extend((0..rows.len(0)).map(|k| (self.rows.start + rows.get(k)) as u32));
        let result = act(self.whole(), Rows::Pick(&places), scratch);
        scratch.places = places;
        result
    }
}

impl Model for Shard {
    fn params(&self) -> &[ParamInfo] {
        self.whole.params()
    }
    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }
    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.whole.constrain(u, theta);
    }
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.whole.unconstrain(theta, u);
    }
}

impl LogDensity for Shard {
    fn dim(&self) -> usize {
        self.whole.dim()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        self.whole().init(rng, u);
    }
    fn has_dense_curvature(&self) -> bool {
        self.whole().has_dense_curvature()
    }
    fn has_equal_modes(&self) -> bool {
        self.whole().has_equal_modes()
    }
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

// Numbers that the whole model keeps of its rows at a centre would be kept of all rows for every shard: gradients at the centre are
// computed again instead.
impl RowLikelihood for Shard {
    fn num_obs(&self) -> usize {
        self.rows.len()
    }
    fn scratch(&self) -> Scratch {
        self.whole().scratch()
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let log_prior = self.whole().log_prior(u, grad);
        grad.iter_mut().for_each(|slope| *slope *= self.share);
        self.share * log_prior
    }
    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        Some(self.share * self.whole().log_prior_density(u)?)
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.log_lik(u, rows, scratch, grad)
        })
    }
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.grad_log_lik(u, rows, scratch, grad);
        });
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.pointwise(u, rows, scratch, out);
        });
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.scores(u, rows, scratch, out);
        });
    }
    fn score_moments(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        scores: &mut Vec<f64>,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.score_moments(u, rows, scratch, scores, sum, products);
        });
    }
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.among_all(rows, scratch, |whole, rows, scratch| {
            whole.add_neg_hessian_log_lik(u, rows, scratch, hessian);
        });
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let mut of_whole = vec![0.0; hessian.len()];
        self.whole().add_neg_hessian_log_prior(u, &mut of_whole);
        axpy(self.share, &of_whole, hessian);
    }
    fn prior_rows(&self) -> Option<&PriorRows> {
        self.prior_rows.as_ref()
    }
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        self.whole()
            .linear_rows()
            .map(|_rows| self as &dyn LinearRows)
    }
}

impl LinearRows for Shard {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        self.linear().covariates(self.rows.start + row)
    }
    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        self.linear().predictor(self.rows.start + row, u)
    }
    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        self.linear().derivatives(self.rows.start + row, z)
    }
    fn derivatives_at(&self, first: usize, z: &[Lane], out: &mut [[Lane; 3]]) {
        self.linear()
            .derivatives_at(self.rows.start + first, z, out);
    }
    fn slope_bound(&self, row: usize) -> f64 {
        self.linear().slope_bound(self.rows.start + row)
    }
    fn curvature_bound(&self, row: usize) -> f64 {
        self.linear().curvature_bound(self.rows.start + row)
    }
    fn curvature_range(&self, row: usize) -> [f64; 2] {
        self.linear().curvature_range(self.rows.start + row)
    }
    fn third_bound(&self, row: usize) -> f64 {
        self.linear().third_bound(self.rows.start + row)
    }
    fn slopes(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.among_all(rows, scratch, |_whole, rows, scratch| {
            self.linear().slopes(u, rows, scratch, out);
        });
    }
    fn curvatures(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.among_all(rows, scratch, |_whole, rows, scratch| {
            self.linear().curvatures(u, rows, scratch, out);
        });
    }
    fn row_terms(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        self.among_all(rows, scratch, |_whole, rows, scratch| {
            self.linear().row_terms(u, rows, scratch, out);
        });
    }
    fn add_weighted_covariates(&self, rows: Rows<'_>, weights: &[f64], grad: &mut [f64]) {
        if let Some(stretch) = self.stretch(rows) {
            return self
                .linear()
                .add_weighted_covariates(stretch, weights, grad);
        }
        // There is no working memory here in which picks could stand among all rows.
        for (k, &weight) in weights.iter().enumerate() {
            self.covariates(rows.get(k)).add_to(weight, grad);
        }
    }
}
