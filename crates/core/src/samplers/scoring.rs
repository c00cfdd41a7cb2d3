//! What samplers of the Fisher-scoring family keep: a chain with its step and its burn-in criterion (`osgfs`, `osgfs-cv`),
//! and the running covariance of row gradients (`osgfs`, `sgfs`).

use super::StateVisitor;
use super::osgfs_burn_in::{Criterion, CriterionSettings};
use crate::numerics::fisher_step::FisherStep;
use crate::oracle::StepError;
use ergodic_base::linalg::axpy;
use ergodic_base::rng::ChainRng;

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
    Err(StepError::NonFinite {
        what: "the gradient",
        iter,
    })
}

/// C, the running average over minibatches of the covariance of their row gradients.
#[derive(Debug)]
pub struct ScoreCovariance {
    /// C, row-major D×D.
    pub matrix: Vec<f64>,
    /// Minibatches seen, i of the algorithm.
    pub minibatches: u64,
    mean: Vec<f64>,
    batch: Vec<f64>,
}

impl ScoreCovariance {
    /// Before the first minibatch.
    pub fn new(dim: usize) -> Self {
        Self {
            matrix: vec![0.0; dim * dim],
            minibatches: 0,
            mean: vec![0.0; dim],
            batch: vec![0.0; dim * dim],
        }
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
        add_products(scores, dim, &mut self.batch);
        self.minibatches += 1;
        let share = 1.0 / self.minibatches as f64;
        for i in 0..dim {
            for j in 0..=i {
                let new = self.batch[i * dim + j] / (count - 1.0);
                let old = self.matrix[i * dim + j];
                let average = (1.0 - share) * old + share * new;
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

/// Rows whose products are added while a sum stands in a register.
const TOGETHER: usize = 8;

/// ADDS Σ s s' over the rows s of `scores` (B×D) to the lower half of `out` (D×D), one row after another in every sum.
fn add_products(scores: &[f64], dim: usize, out: &mut [f64]) {
    let groups = scores.chunks_exact(TOGETHER * dim);
    let rest = groups.remainder();
    for group in groups {
        let rows: [&[f64]; TOGETHER] = std::array::from_fn(|k| &group[k * dim..][..dim]);
        for (i, line) in out.chunks_exact_mut(dim).enumerate() {
            let factors = rows.map(|row| row[i]);
            let line = &mut line[..=i];
            let rows = rows.map(|row| &row[..=i]);
            for j in 0..line.len() {
                let mut sum = line[j];
                for k in 0..TOGETHER {
                    sum += factors[k] * rows[k][j];
                }
                line[j] = sum;
            }
        }
    }
    for row in rest.chunks_exact(dim) {
        for i in 0..dim {
            axpy(row[i], row, &mut out[i * dim..=i * dim + i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_one_row_after_another() {
        for (rows, dim) in [(3, 2), (8, 5), (29, 7), (40, 1)] {
            let scores: Vec<f64> = (0..rows * dim).map(|i| (i as f64 * 1.7).sin()).collect();
            let mut expected = vec![0.5; dim * dim];
            for row in scores.chunks_exact(dim) {
                for i in 0..dim {
                    axpy(row[i], row, &mut expected[i * dim..=i * dim + i]);
                }
            }
            let mut out = vec![0.5; dim * dim];
            add_products(&scores, dim, &mut out);
            assert_eq!(out, expected);
        }
    }
}
