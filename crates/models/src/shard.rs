//! A model over a part of its rows, with its share of the log prior: what divide and conquer samples.
//!
//! With S shards the subposterior of shard s is p(θ)^{1/S} Π_{i in s} p(y_i|θ), so that the product over shards is the posterior
//! (Scott et al. 2016, equation 3; Baker 2018, equation 2.4.4). Coordinates, columns and their scales are those of the whole
//! model, so that draws of all shards are of one vector.

use std::ops::Range;
use std::sync::Arc;

use super::{
    CentreRows, LogDensity, Model, ParamInfo, Posterior, PriorRows, RowLikelihood, Rows, Scratch,
    sum_of_rows,
};
use ergodic_base::rng::ChainRng;

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

    /// Calls `act` with the places of `rows` among those of the whole model.
    fn among_all<T>(
        &self,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        act: impl FnOnce(&dyn RowLikelihood, Rows<'_>, &mut Scratch) -> T,
    ) -> T {
        let first = self.rows.start;
        let span = |start, len| Rows::Span { start, len };
        match rows {
            Rows::All => act(self.whole(), span(first, self.rows.len()), scratch),
            Rows::Span { start, len } => act(self.whole(), span(first + start, len), scratch),
            Rows::Pick(picks) => {
                let mut places = std::mem::take(&mut scratch.places);
                places.clear();
                places.extend(picks.iter().map(|&row| first as u32 + row));
                let result = act(self.whole(), Rows::Pick(&places), scratch);
                scratch.places = places;
                result
            }
        }
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
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

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
    // Numbers that the whole model keeps of its rows at a centre would be kept of all rows for every shard: the gradient at the
    // centre is computed again instead.
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        grad.iter_mut().for_each(|slope| *slope = -*slope);
        self.grad_log_lik(&centre.u, rows, scratch, grad);
        grad.iter_mut().for_each(|slope| *slope = -*slope);
        self.grad_log_lik(u, rows, scratch, grad);
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let mut at_centre = vec![0.0; out.len()];
        self.scores(&centre.u, rows, scratch, &mut at_centre);
        self.scores(u, rows, scratch, out);
        for (out, centre) in out.iter_mut().zip(at_centre) {
            *out -= centre;
        }
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
        ergodic_base::linalg::axpy(self.share, &of_whole, hessian);
    }
    fn prior_rows(&self) -> Option<&PriorRows> {
        self.prior_rows.as_ref()
    }
}
