//! The posterior mode: a minibatch start for tall data, then Newton on all rows, L-BFGS where Newton fails.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{lbfgs, newton};
use crate::base::rng::{Purpose, stream};
use crate::models::{Model, Rows};
use crate::oracle::Anchor;

/// Above this many rows the first iterations use a subset: a Newton step on 20,000 rows brings the start within a few
/// posterior standard deviations of the subset's mode, from which two or three full passes finish.
const SUBSET_ROWS: usize = 20_000;

/// Progress and cancellation of a mode search, readable from another thread.
#[derive(Debug, Default)]
pub struct ModeControl {
    /// Raise to stop.
    pub cancel: AtomicBool,
    /// Full or subset passes done.
    pub passes: AtomicU64,
}

impl ModeControl {
    pub(super) fn tick(&self) -> Result<(), ModeError> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        if self.cancel.load(Ordering::Relaxed) {
            Err(ModeError::Cancelled)
        } else {
            Ok(())
        }
    }
}

/// The outcome of a mode search.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The mode with curvature and per-row data.
    pub anchor: Anchor,
    /// Newton decrement at the end: twice the expected gain of another step, in nats.
    pub decrement: f64,
    /// Newton or L-BFGS iterations.
    pub iterations: u32,
    /// `newton` or `lbfgs`.
    pub method: &'static str,
}

/// Why no mode was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// The search was cancelled.
    #[error("the search for the mode was cancelled")]
    Cancelled,
    /// The density has no usable peak.
    #[error("no mode was found: {0}")]
    NotFound(&'static str),
}

/// Which rows an objective uses; a subset is scaled up to all rows.
#[derive(Clone, Copy)]
pub(super) struct Objective<'a> {
    pub model: &'a dyn Model,
    pub rows: Rows<'a>,
}

impl Objective<'_> {
    /// Log posterior with the likelihood scaled to all rows; overwrites `grad`.
    pub fn value(
        &self,
        u: &[f64],
        scratch: &mut crate::models::Scratch,
        grad: &mut [f64],
        work: &mut [f64],
    ) -> f64 {
        let num_obs = self.model.num_obs();
        let scale = num_obs as f64 / self.rows.len(num_obs) as f64;
        let mut value = self.model.log_prior(u, grad);
        work.fill(0.0);
        value += scale * self.model.log_lik(u, self.rows, scratch, work);
        crate::base::linalg::axpy(scale, work, grad);
        value
    }

    /// −∇² of the same, overwriting `hessian`.
    pub fn neg_hessian(
        &self,
        u: &[f64],
        scratch: &mut crate::models::Scratch,
        hessian: &mut [f64],
    ) {
        let num_obs = self.model.num_obs();
        let scale = num_obs as f64 / self.rows.len(num_obs) as f64;
        hessian.fill(0.0);
        self.model
            .add_neg_hessian_log_lik(u, self.rows, scratch, hessian);
        for entry in hessian.iter_mut() {
            *entry *= scale;
        }
        self.model.add_neg_hessian_log_prior(u, hessian);
    }
}

/// Finds the mode of `model`, starting at u = 0.
///
/// # Errors
/// [`ModeError::Cancelled`], or [`ModeError::NotFound`] when the curvature stays indefinite or no progress is made.
pub fn find_mode(model: &dyn Model, control: &ModeControl) -> Result<Mode, ModeError> {
    let mut u = vec![0.0; model.dim()];
    if model.num_obs() > 4 * SUBSET_ROWS {
        // Rows were shuffled at import, so the first ones are a random subset; a random start avoids favouring them
        // over what other subsets of the project use.
        use rand::RngExt as _;
        let start = stream(0, 0, Purpose::Init).random_range(0..model.num_obs() - SUBSET_ROWS);
        let subset = Objective {
            model,
            rows: Rows::Span {
                start,
                len: SUBSET_ROWS,
            },
        };
        // A failure here costs nothing: the full search starts from wherever the subset ended.
        match newton::maximise(subset, &mut u, control) {
            Err(ModeError::Cancelled) => return Err(ModeError::Cancelled),
            Err(ModeError::NotFound(_)) => u.fill(0.0),
            Ok(_) => {}
        }
    }
    let full = Objective {
        model,
        rows: Rows::All,
    };
    let mut start = u.clone();
    let (outcome, method) = match newton::maximise(full, &mut u, control) {
        Ok(outcome) => (outcome, "newton"),
        Err(ModeError::Cancelled) => return Err(ModeError::Cancelled),
        Err(ModeError::NotFound(_)) => {
            let outcome = lbfgs::maximise(full, &mut start, control)?;
            u = start;
            (outcome, "lbfgs")
        }
    };
    let anchor = Anchor::at(model, &u).map_err(|_indefinite| {
        ModeError::NotFound("the curvature at the peak is not positive definite")
    })?;
    Ok(Mode {
        anchor,
        decrement: outcome.decrement,
        iterations: outcome.iterations,
        method,
    })
}

/// How a maximisation ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub decrement: f64,
    pub iterations: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::GaussianRows;

    #[test]
    fn a_gaussian_posterior_peaks_at_its_mean() {
        for num_obs in [500, 100_000] {
            let model = GaussianRows::simulated(num_obs, 3, 1);
            let mode = find_mode(&model, &ModeControl::default()).unwrap();
            for (found, mean) in mode.anchor.u.iter().zip(model.posterior_mean()) {
                assert!((found - mean).abs() < 1e-9);
            }
            for (sd, variance) in mode.anchor.sds().iter().zip(model.posterior_variance()) {
                assert!((sd * sd / variance - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn newton_and_lbfgs_agree() {
        let model = GaussianRows::simulated(300, 4, 2);
        let objective = Objective {
            model: &model,
            rows: Rows::All,
        };
        let (mut by_newton, mut by_lbfgs) = (vec![0.0; 4], vec![0.0; 4]);
        newton::maximise(objective, &mut by_newton, &ModeControl::default()).unwrap();
        lbfgs::maximise(objective, &mut by_lbfgs, &ModeControl::default()).unwrap();
        for (a, b) in by_newton.iter().zip(&by_lbfgs) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn a_cancelled_search_says_so() {
        let model = GaussianRows::simulated(300, 2, 2);
        let control = ModeControl::default();
        control.cancel.store(true, Ordering::Relaxed);
        assert_eq!(
            find_mode(&model, &control).unwrap_err(),
            ModeError::Cancelled
        );
    }
}
