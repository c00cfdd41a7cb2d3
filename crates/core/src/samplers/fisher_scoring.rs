//! What samplers of the Fisher-scoring family keep: a chain with its step and its burn-in criterion (`osgfs`, `osgfs-cv`),
//! and the running covariance of row gradients (`osgfs`, `sgfs`).

pub(super) mod osgfs;
pub(super) mod osgfs_burn_in;
pub(super) mod osgfs_cv;
pub(super) mod sgfs;

use super::StateVisitor;
use super::fisher_scoring::osgfs_burn_in::{Criterion, CriterionSettings};
use crate::numerics::fisher_step::FisherStep;
use crate::oracle::{Oracle, StepError};
use ergodic_base::ChainRng;
use ergodic_base::linalg::{add_outer_products, axpy};

/// Position, gradient, step and criterion of a chain.
#[derive(Debug)]
pub struct Scoring {
    /// Position (D).
    pub u: Vec<f64>,
    /// Stochastic gradient there (D).
    pub grad: Vec<f64>,
    /// Covariance of its noise, D×D.
    pub sigma: Vec<f64>,
    /// The step.
    pub step: FisherStep,
    /// The criterion.
    pub criterion: Criterion,
}

impl Scoring {
    /// A chain at `u0`.
    pub fn new(u0: &[f64], criterion: CriterionSettings) -> Self {
        let dim = u0.len();
        Self {
            u: u0.to_vec(),
            grad: vec![0.0; dim],
            sigma: vec![0.0; dim * dim],
            step: FisherStep::empty(dim),
            criterion: Criterion::new(dim, criterion),
        }
    }

    /// Shows the gradient to the criterion, takes the step, and writes the four information columns: those of the criterion,
    /// k of the slowest direction, the share of gradient noise.
    pub fn advance(&mut self, hessian: &[f64], rng: &mut ChainRng, info: &mut [f64]) {
        self.criterion
            .observe(&self.grad, hessian, &self.sigma, &self.step);
        self.step.advance(&self.grad, rng, &mut self.u);
        self.criterion.report(&mut info[..2]);
        info[2] = self.step.slowest_k();
        info[3] = self.step.noise_share();
    }

    /// Visits what the next step needs besides the step itself.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut self.u);
        self.criterion.visit(visitor);
    }
}

/// Refuses a gradient that is not finite.
pub fn check_gradient(grad: &[f64], iter: u64) -> Result<(), StepError> {
    if grad.iter().all(|g| g.is_finite()) {
        return Ok(());
    }
    Err(StepError::not_finite("the gradient", iter))
}

/// C, the running average over minibatches of the covariance of their row gradients.
#[derive(Debug)]
pub struct ScoreCovariance {
    /// C, row-major D×D.
    pub matrix: Vec<f64>,
    /// Minibatches seen, i of the algorithm.
    pub minibatches: u64,
    /// Minibatches that C is an average of at most.
    memory: Option<u64>,
    mean: Vec<f64>,
    /// The covariance of the newest minibatch in the lower half.
    batch: Vec<f64>,
    scores: Vec<f64>,
}

impl ScoreCovariance {
    /// Before the first minibatch of all that come.
    pub fn new(dim: usize) -> Self {
        Self::remembering(None, dim)
    }

    /// Before the first minibatch; older ones than `memory` fade away.
    pub fn remembering(memory: Option<u64>, dim: usize) -> Self {
        Self {
            matrix: vec![0.0; dim * dim],
            minibatches: 0,
            memory,
            mean: vec![0.0; dim],
            batch: vec![0.0; dim * dim],
            scores: Vec::new(),
        }
    }

    /// The gradient estimate of a minibatch at `u`, into `grad`; C ← (1 − 1/i) C + (1/i) cov of its scores.
    pub fn learn_at(
        &mut self,
        oracle: &mut Oracle,
        u: &[f64],
        rng: &mut ChainRng,
        grad: &mut [f64],
    ) {
        oracle.grad_covariance(u, rng, grad, &mut self.batch, &mut self.scores);
        self.average();
    }

    /// C ← (1 − 1/i) C + (1/i) cov(`scores`); overwrites the scores (B×D).
    pub fn learn(&mut self, scores: &mut [f64]) {
        let dim = self.mean.len();
        let count = (scores.len() / dim) as f64;
        self.mean.fill(0.0);
        for score in scores.chunks_exact(dim) {
            axpy(1.0 / count, score, &mut self.mean);
        }
        for score in scores.chunks_exact_mut(dim) {
            axpy(-1.0, &self.mean, score);
        }
        self.batch.fill(0.0);
        add_outer_products(scores, dim, &mut self.batch);
        for product in &mut self.batch {
            *product /= count - 1.0;
        }
        self.average();
    }

    fn average(&mut self) {
        let dim = self.mean.len();
        self.minibatches += 1;
        let counted = (self.memory).map_or(self.minibatches, |memory| memory.min(self.minibatches));
        let share = 1.0 / counted as f64;
        for i in 0..dim {
            for j in 0..=i {
                let old = self.matrix[i * dim + j];
                let average = (1.0 - share) * old + share * self.batch[i * dim + j];
                self.matrix[i * dim + j] = average;
                self.matrix[j * dim + i] = average;
            }
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.counter("iterations", &mut self.minibatches);
        visitor.slice("score_covariance", &mut self.matrix);
    }
}
