//! Points with the gradient of the log posterior there, both whitened by the curvature at the mode, so that a kernel of their
//! distances does not depend on the scales of parameters.

use super::Job;
use ergodic_base::{ChainRng, Purpose, stream};
use ergodic_core::engine::Sampling as _;
use ergodic_core::oracle::{Centre, Estimator, Oracle, Scheme};

/// Rows of the estimate of a score; fewer rows in all are all used.
pub(crate) const SCORE_ROWS: usize = 5000;

/// Finds the scores of points. Where the data are tall they come from minibatches with control variates, whose errors are
/// independent with mean 0.
pub(crate) struct Scorer<'a> {
    oracle: &'a mut Oracle,
    centre: &'a Centre,
    rng: ChainRng,
    score: Vec<f64>,
}

/// What a [`Scorer`] found: points and scores (n×D each, row-major).
#[derive(Debug, Default)]
pub(crate) struct ScoredPoints {
    pub points: Vec<f64>,
    pub scores: Vec<f64>,
}

impl<'a> Scorer<'a> {
    /// One that always takes the same rows in the same order; `None` without a mode.
    pub fn new(job: &'a Job, oracle: &'a mut Oracle) -> Option<Self> {
        let rows = SCORE_ROWS.min(oracle.num_obs());
        oracle.set_estimator(Estimator::ControlVariate, rows, Scheme::Iid);
        Some(Self {
            score: vec![0.0; oracle.dim()],
            oracle,
            centre: job.centre.as_deref()?,
            rng: stream(job.recipe.run.seed, 1, Purpose::Diagnostics),
        })
    }

    /// Adds the position `u`; `None` where the density is not finite.
    pub fn add(&mut self, u: &[f64], to: &mut ScoredPoints) -> Option<()> {
        if self.oracle.num_obs() <= SCORE_ROWS {
            self.oracle.exact(u, &mut self.score).ok()?;
        } else {
            self.oracle.grad(u, &mut self.rng, &mut self.score);
        }
        // With H = LL' at the mode û: w = L'(u − û), whose score is L⁻¹ ∇ log p.
        let from_mode: Vec<f64> = u
            .iter()
            .zip(&self.centre.u)
            .map(|(u, mode)| u - mode)
            .collect();
        let at = to.points.len();
        to.points.resize(at + u.len(), 0.0);
        let factor = &self.centre.factor;
        factor.lower_transpose_mul(&from_mode, &mut to.points[at..]);
        factor.solve_lower(&mut self.score);
        to.scores.extend_from_slice(&self.score);
        Some(())
    }
}

/// An oracle of the job's model.
pub(crate) fn oracle_of(job: &Job) -> Oracle {
    let model = std::sync::Arc::clone(job.model());
    Oracle::new(model, job.centre.clone(), true, std::sync::Arc::default())
}
