//! Gibbs sampling of hierarchical models, group by group: what `gibbs-groups`, `gibbs-gaussian` and `gibbs-osgfs` share.
//!
//! Reference: El Hanchi (2018), section 3.2. One step, with the view [`Hierarchy`]:
//!
//! 1. for every group g: θ_g by some update of π(θ_g | μ, Σ, y_g) ∝ p(y_g|θ_g) N(θ_g; μ, Σ) ([`GroupUpdate`]);
//! 2. (μ, Σ) | θ from the conjugate normal-inverse-Wishart distribution
//!    ([`NormalInverseWishart::update`]).
//!
//! Groups are independent given (μ, Σ), so idle threads may help. Each group draws from streams of its own, keyed by
//! two numbers that the chain draws at the start of a step: the result does not depend on threads, and no stream has a
//! position that must be saved.

pub(super) mod gibbs_gaussian;
pub(super) mod gibbs_groups;
pub(super) mod gibbs_mixed;
pub(super) mod gibbs_mixed_osgfs;
pub(super) mod gibbs_osgfs;
pub(super) mod mixed;

use super::{StateVisitor, Tick, Unsuitable};
use crate::models::{Hierarchy, Model, NormalInverseWishart, Rows, Scratch};
use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::hamiltonian::LogDensity;
use ergodic_base::linalg::{Cholesky, axpy, dot, matvec};
use ergodic_base::{ChainRng, Streams, substream};

pub(super) mod laplace;
#[cfg(test)]
mod tests;

use rand::RngExt as _;

/// Refuses models without groups.
pub(super) fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
    model
        .hierarchy()
        .map(|_view| ())
        .ok_or(Unsuitable::NoGroups)
}

/// μ and Σ as a group sees them.
#[derive(Clone, Debug)]
pub(super) struct Population {
    /// μ (P).
    pub mu: Vec<f64>,
    /// Σ⁻¹ (P×P).
    pub precision: Vec<f64>,
}

/// The conditional of one group's θ.
pub(super) struct GroupTarget<'a> {
    view: &'a dyn Hierarchy,
    population: &'a Population,
    first: usize,
    /// Rows of the group.
    pub num_rows: usize,
    scratch: &'a mut Scratch,
    /// θ − μ and Σ⁻¹(θ − μ).
    work: &'a mut [f64],
    /// Row gradients computed.
    pub datum_grads: u64,
    /// Log likelihood at the last evaluation.
    pub log_lik: f64,
}

impl<'a> GroupTarget<'a> {
    /// Places of all rows of the group.
    pub fn all(&self) -> Rows<'static> {
        Rows::Span {
            start: self.first,
            len: self.num_rows,
        }
    }

    /// Place of the first row.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Σ⁻¹.
    pub fn precision(&self) -> &'a [f64] {
        &self.population.precision
    }

    /// log N(θ; μ, Σ) up to a constant; ADDS its gradient to `grad` (P).
    pub fn log_prior(&mut self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let (deviation, pull) = self.work.split_at_mut(theta.len());
        for (d, (t, mu)) in deviation
            .iter_mut()
            .zip(theta.iter().zip(&self.population.mu))
        {
            *d = t - mu;
        }
        matvec(&self.population.precision, deviation, pull);
        axpy(-1.0, pull, grad);
        -0.5 * dot(deviation, pull)
    }

    /// Log density up to a constant; overwrites `grad` (P).
    pub fn value(&mut self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.fill(0.0);
        self.datum_grads += self.num_rows as u64;
        self.log_lik = self
            .view
            .group_log_lik(theta, self.all(), self.scratch, grad);
        self.log_lik + self.log_prior(theta, grad)
    }

    /// −∇² of the log likelihood, overwriting `hessian` (P×P).
    pub fn curvature_of_rows(&mut self, theta: &[f64], hessian: &mut [f64]) {
        hessian.fill(0.0);
        self.datum_grads += self.num_rows as u64;
        self.view
            .add_group_neg_hessian(theta, self.all(), self.scratch, hessian);
    }

    /// One score per row of `places` (B×P).
    pub fn scores(&mut self, theta: &[f64], places: &[u32], out: &mut [f64]) {
        self.datum_grads += places.len() as u64;
        self.view
            .group_scores(theta, Rows::Pick(places), self.scratch, out);
    }
}

impl LogDensity for GroupTarget<'_> {
    fn log_density(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        Ok(self.value(u, grad))
    }
}

/// What a group's update reports, averaged over groups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Acceptance probability.
    pub accept: f64,
    /// 1 where a trajectory diverged.
    pub divergent: f64,
    /// Log likelihood of the group at its new θ, where it is known.
    pub log_lik: f64,
    /// Cost or state in numbers of the update's own.
    pub own: [f64; 2],
}

/// How θ_g is updated.
pub(super) trait GroupUpdate: Send + Sync + 'static {
    /// What an update needs to know: settings and what is adapted for all groups together.
    type Shared: Sync;
    /// Of one group, kept between steps.
    type Memory: Send;

    /// Memory of a group of `num_rows` rows that stands at `theta` (P).
    fn memory(shared: &Self::Shared, num_rows: usize, theta: &[f64]) -> Self::Memory;
    /// Moves `theta`. Must not allocate once buffers have grown.
    ///
    /// # Errors
    /// What ends the chain.
    fn update(
        shared: &Self::Shared,
        at: Tick,
        target: &mut GroupTarget<'_>,
        memory: &mut Self::Memory,
        theta: &mut [f64],
        streams: &mut Streams,
    ) -> Result<Report, StepError>;
    /// Visits what the next update needs.
    fn visit(memory: &mut Self::Memory, visitor: &mut dyn StateVisitor);
}

/// One group at work.
struct Group<M> {
    theta: Vec<f64>,
    scratch: Scratch,
    work: Vec<f64>,
    report: Report,
    memory: M,
}

/// A chain.
pub(super) struct GroupGibbs<U: GroupUpdate> {
    /// Position (D).
    pub u: Vec<f64>,
    lower: Vec<f64>,
    population: Population,
    groups: Vec<Group<U::Memory>>,
    /// All θ, G×P.
    points: Vec<f64>,
    posterior: NormalInverseWishart,
    factor: Cholesky,
    grad: Vec<f64>,
}

/// What [`suits`] refuses.
const NO_GROUPS: StepError = StepError::Lacks("groups with parameters of their own");

impl<U: GroupUpdate> GroupGibbs<U> {
    /// A chain at `u0`.
    ///
    /// # Errors
    /// The model has no groups.
    pub fn new(shared: &U::Shared, u0: &[f64], oracle: &Oracle) -> Result<Self, StepError> {
        let view = oracle.model().hierarchy().ok_or(NO_GROUPS)?;
        let (p, num_groups) = (view.num_terms(), view.num_groups());
        let mut chain = Self {
            u: u0.to_vec(),
            lower: vec![0.0; p * p],
            population: Population {
                mu: vec![0.0; p],
                precision: vec![0.0; p * p],
            },
            groups: Vec::with_capacity(num_groups),
            points: vec![0.0; p * num_groups],
            posterior: view.prior().clone(),
            factor: Cholesky::empty(p),
            grad: vec![0.0; u0.len()],
        };
        let (mu, points) = (&mut chain.population.mu, &mut chain.points);
        view.read(u0, mu, &mut chain.lower, points);
        for (g, theta) in chain.points.chunks_exact(p).enumerate() {
            chain.groups.push(Group {
                theta: theta.to_vec(),
                scratch: view.group_scratch(),
                work: vec![0.0; 2 * p],
                report: Report::default(),
                memory: U::memory(shared, view.group_rows(g).len(), theta),
            });
        }
        Ok(chain)
    }

    /// One step; the reports of groups, averaged, with the largest `divergent` and the sum of `log_lik`.
    ///
    /// # Errors
    /// Errors of updates; [`StepError::NonFinite`] for a position, [`StepError::NotPositiveDefinite`] for the scatter of
    /// groups, [`StepError::Interrupted`].
    pub fn step(
        &mut self,
        shared: &U::Shared,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<Report, StepError> {
        self.factor.lower_mut().copy_from_slice(&self.lower);
        self.factor.write_inverse(&mut self.population.precision);
        let keys: [u64; 2] = [streams.batch.random(), streams.noise.random()];
        let population = &self.population;
        oracle.for_each_group(&mut self.groups, |model, g, group| {
            let view = model.hierarchy().ok_or(NO_GROUPS)?;
            let rows = view.group_rows(g);
            let mut target = GroupTarget {
                view,
                population,
                first: rows.start,
                num_rows: rows.len(),
                scratch: &mut group.scratch,
                work: &mut group.work,
                datum_grads: 0,
                log_lik: f64::NAN,
            };
            let [batch, noise]: [ChainRng; 2] = keys.map(|key| substream(key, g as u64));
            let mut streams = Streams { batch, noise };
            let (memory, theta) = (&mut group.memory, &mut group.theta);
            group.report = U::update(shared, at, &mut target, memory, theta, &mut streams)?;
            Ok(target.datum_grads)
        })?;
        let p = self.population.mu.len();
        for (group, point) in self.groups.iter().zip(self.points.chunks_exact_mut(p)) {
            point.copy_from_slice(&group.theta);
        }
        let view = oracle.model().hierarchy().ok_or(NO_GROUPS)?;
        view.prior().update(&self.points, &mut self.posterior);
        self.posterior
            .draw(
                &mut self.factor,
                &mut streams.noise,
                &mut self.population.mu,
                &mut self.lower,
            )
            .map_err(|_not_positive| StepError::not_positive("the scatter of groups", at.iter))?;
        view.write(&self.population.mu, &self.lower, &self.points, &mut self.u);
        if self.u.iter().any(|u| !u.is_finite()) {
            return Err(StepError::not_finite("the position", at.iter));
        }
        Ok(self.report())
    }

    fn report(&self) -> Report {
        let mut total = Report::default();
        let share = 1.0 / self.groups.len().max(1) as f64;
        for Group { report, .. } in &self.groups {
            total.accept += share * report.accept;
            total.divergent = total.divergent.max(report.divergent);
            total.log_lik += report.log_lik;
            for (total, own) in total.own.iter_mut().zip(report.own) {
                *total += share * own;
            }
        }
        total
    }

    /// Log density of the joint posterior at the position, given the log likelihood there.
    ///
    /// # Errors
    /// The model has no rows.
    pub fn log_density(&mut self, log_lik: f64, oracle: &Oracle) -> Result<f64, StepError> {
        Ok(log_lik + oracle.rows()?.log_prior(&self.u, &mut self.grad))
    }

    /// Visits everything that the next step needs.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut self.u);
        visitor.slice("mu", &mut self.population.mu);
        visitor.slice("sigma_factor", &mut self.lower);
        for group in &mut self.groups {
            visitor.slice("theta", &mut group.theta);
            U::visit(&mut group.memory, visitor);
        }
    }
}
