//! Gradients of single rows at earlier positions, the control variates of SAGA and SVRG (Baker 2018, section 3.3.1).
//!
//! ĝ = ∇ log p(θ) + Σ_i g_i + (N/B) Σ_{i∈S} [∇ℓ_i(θ) − g_i]
//!
//! where g_i is row i's gradient at an earlier position. Where a row depends on θ through one linear predictor, its gradient
//! is a number times a_i, and the number is all that is kept: 8 N bytes instead of 8 N D.

use super::{Oracle, StepError};
use crate::models::{Model, RowLikelihood, Rows, Scratch};
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;

/// Rows whose gradients are computed together when all are needed.
const CHUNK_ROWS: usize = 4096;

/// How the earlier gradients are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// One number per row.
    Slopes,
    /// One vector per row.
    Scores,
    /// Only the position, the same for all rows: gradients are computed anew.
    Position,
}

/// What [`Oracle::grad_by_table`] does with the rows it has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The table takes their new gradients (SAGA).
    New,
    /// The table stays (SVRG).
    Old,
}

/// Gradients of all rows at earlier positions, with their sum.
#[derive(Clone, Debug)]
pub struct RowTable {
    kept: Kept,
    /// Σ_i g_i, length D.
    sum: Vec<f64>,
    /// g_i as kept: N numbers, N×D numbers, or none.
    rows: Vec<f64>,
    /// The position of the last [`Self::renew`], length D.
    position: Vec<f64>,
    /// New gradients of the present minibatch, B or B×D numbers; none where only the position is kept.
    fresh: Vec<f64>,
    /// The sum of old gradients of the present minibatch where they are not kept (D); of linear rows by how much slopes have changed (B).
    stale: Vec<f64>,
    scratch: Scratch,
}

impl RowTable {
    /// Memory for a table whose rows may each have their own position: what a table of `model` needs, in bytes.
    pub fn bytes(model: &dyn Model) -> f64 {
        let width = if model.linear_rows().is_some() {
            1
        } else {
            model.dim()
        };
        8.0 * model.num_obs() as f64 * width as f64
    }

    /// Memory for the gradients of all rows, for minibatches of `oracle`; `per_row`: whether each row may have its own
    /// position. Nothing is known until [`Self::renew`].
    ///
    /// # Errors
    /// The model has no rows.
    pub fn empty(oracle: &Oracle, per_row: bool) -> Result<Self, StepError> {
        let model = oracle.rows()?;
        let (dim, num_obs, batch) = (oracle.dim(), oracle.num_obs(), oracle.batch());
        let (kept, width) = match (model.linear_rows(), per_row) {
            (Some(_), _) => (Kept::Slopes, 1),
            (None, true) => (Kept::Scores, dim),
            (None, false) => (Kept::Position, dim),
        };
        let on = |wanted: bool| usize::from(wanted);
        Ok(Self {
            kept,
            sum: vec![0.0; dim],
            rows: vec![0.0; num_obs * width * on(kept != Kept::Position)],
            position: vec![0.0; dim],
            fresh: vec![0.0; batch * width * on(kept != Kept::Position)],
            stale: match kept {
                Kept::Slopes => vec![0.0; batch],
                Kept::Scores => Vec::new(),
                Kept::Position => vec![0.0; dim],
            },
            scratch: model.scratch(),
        })
    }

    /// Computes all gradients at `u`.
    ///
    /// # Errors
    /// The model has no rows.
    pub fn renew(&mut self, oracle: &mut Oracle, u: &[f64]) -> Result<(), StepError> {
        let (dim, num_obs) = (u.len(), oracle.num_obs());
        oracle.datum_grads += num_obs as u64;
        let model = oracle.rows()?;
        self.position.copy_from_slice(u);
        self.sum.fill(0.0);
        let mut start = 0;
        while start < num_obs {
            let len = CHUNK_ROWS.min(num_obs - start);
            let rows = Rows::Span { start, len };
            match (self.kept, model.linear_rows()) {
                (Kept::Slopes, Some(linear)) => {
                    let slopes = &mut self.rows[start..start + len];
                    linear.slopes(u, rows, &mut self.scratch, slopes);
                    linear.add_weighted_covariates(rows, slopes, &mut self.sum);
                }
                (Kept::Scores, _) => {
                    let scores = &mut self.rows[start * dim..(start + len) * dim];
                    model.scores(u, rows, &mut self.scratch, scores);
                    for score in scores.chunks_exact(dim) {
                        axpy(1.0, score, &mut self.sum);
                    }
                }
                _ => model.grad_log_lik(u, rows, &mut self.scratch, &mut self.sum),
            }
            start += len;
        }
        Ok(())
    }

    /// ADDS Σ_{i∈S} [∇ℓ_i(u) − g_i] to `out`; with `keep` new, row by row, so that a row drawn twice changes the sum
    /// once.
    fn differences(
        &mut self,
        model: &dyn RowLikelihood,
        u: &[f64],
        rows: Rows<'_>,
        keep: Keep,
        out: &mut [f64],
    ) {
        let (dim, len) = (u.len(), rows.len(model.num_obs()));
        if let (Kept::Slopes, Some(linear)) = (self.kept, model.linear_rows()) {
            let fresh = &mut self.fresh[..len];
            let changes = &mut self.stale[..len];
            linear.slopes(u, rows, &mut self.scratch, fresh);
            for (k, (change, slope)) in changes.iter_mut().zip(&*fresh).enumerate() {
                *change = slope - self.rows[rows.get(k)];
            }
            linear.add_weighted_covariates(rows, changes, out);
            if keep == Keep::New {
                for (k, (change, slope)) in changes.iter_mut().zip(&*fresh).enumerate() {
                    let known = &mut self.rows[rows.get(k)];
                    *change = slope - *known;
                    *known = *slope;
                }
                linear.add_weighted_covariates(rows, changes, &mut self.sum);
            }
            return;
        }
        if self.kept == Kept::Position {
            model.grad_log_lik(u, rows, &mut self.scratch, out);
            self.stale.fill(0.0);
            model.grad_log_lik(&self.position, rows, &mut self.scratch, &mut self.stale);
            axpy(-1.0, &self.stale, out);
            return;
        }
        let fresh = &mut self.fresh[..len * dim];
        model.scores(u, rows, &mut self.scratch, fresh);
        for score in fresh.chunks_exact(dim) {
            axpy(1.0, score, out);
        }
        for k in 0..len {
            axpy(-1.0, &self.rows[rows.get(k) * dim..][..dim], out);
        }
        if keep == Keep::New {
            for (k, score) in fresh.chunks_exact(dim).enumerate() {
                let old = &mut self.rows[rows.get(k) * dim..][..dim];
                axpy(1.0, score, &mut self.sum);
                axpy(-1.0, old, &mut self.sum);
                old.copy_from_slice(score);
            }
        }
    }

    /// Every number that the next estimate needs, with names: for saving and restoring.
    pub(crate) fn numbers_mut(&mut self) -> [(&'static str, &mut [f64]); 3] {
        [
            ("table_sum", &mut self.sum),
            ("table_position", &mut self.position),
            ("table_rows", &mut self.rows),
        ]
    }
}

impl Oracle {
    /// Unbiased estimate of ∇ log posterior at `u` from a minibatch, centred at the gradients of `table`; overwrites
    /// `grad` (D).
    pub fn grad_by_table(
        &mut self,
        u: &[f64],
        rng: &mut ChainRng,
        table: &mut RowTable,
        keep: Keep,
        grad: &mut [f64],
    ) {
        let Some(model) = self.model.rows() else {
            return super::no_estimate(grad);
        };
        let rows = self.estimation.minibatch.draw(rng);
        let len = rows.len(0);
        let scale = self.model.num_obs() as f64 / len as f64;
        self.datum_grads += len as u64;
        self.batch_grad.fill(0.0);
        model.log_prior(u, grad);
        axpy(1.0, &table.sum, grad);
        table.differences(model, u, rows, keep, &mut self.batch_grad);
        axpy(scale, &self.batch_grad, grad);
    }
}
