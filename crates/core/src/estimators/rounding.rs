//! By how much the mode moves where covariates are stored in single precision.
//!
//! Let û be the mode with rounded covariates, H = L L' the curvature there, and g the gradient at û of the posterior of the
//! covariates as they are minus that of the rounded ones. One Newton step H⁻¹ g leads to the mode of the former, up to the square
//! of the step. In whitened coordinates it is w = L⁻¹ g, and a reported quantity θ_j moves by t_j'w, where t_j = L⁻¹ ∂θ_j/∂u is as
//! long as its posterior standard deviation.

use crate::models::{Model, RowLikelihood, Rows};
use crate::oracle::Centre;
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::numerals::{brief, to_digits};
use ergodic_base::{ParamId, Warning};

/// Rows whose scores are computed together: little memory, and no tiles of all rows are kept for one pass.
const CHUNK_ROWS: usize = 1024;
/// Step of the differences of reported quantities, in posterior standard deviations.
const STEP: f64 = 1e-3;
/// Posterior standard deviations from which a shift is worth a warning: as much as the Monte Carlo error of a mean leaves with an
/// effective sample size of 10 000.
pub(crate) const WORTH_A_WARNING: f64 = 0.01;

/// How a shift is told.
fn told(sds: f64) -> String {
    brief(to_digits(sds, 2))
}

/// What is to be done about a shift that matters.
const ADVICE: &str = "Leave `data.storage` out, so that rows are stored in double precision";

ergodic_base::remarks! {
    /// What is remarkable about rows in single precision.
    pub enum Remark {
        /// Estimates hardly move.
        Harmless {
            /// The largest shift.
            shift: Shift,
        }
        Info "single-precision" (
            "Rows are stored in single precision: it moves estimates by at most {} posterior standard deviations ({})",
            told(shift.sds), shift.parameter
        );

        /// Estimates move by more than Monte Carlo errors may be.
        Moves {
            /// The largest shift.
            shift: Shift,
        }
        Watch "single-precision-moves" (
            "Rows are stored in single precision, which moves the estimate of `{}` by {} posterior standard deviations",
            shift.parameter, told(shift.sds)
        ) advice ("{ADVICE}");

        /// Nobody knows by how much estimates move.
        Unknown {}
        Watch "single-precision-unknown" (
            "Rows are stored in single precision; by how much this moves estimates is not known, because the posterior's mode was \
             not found"
        ) advice ("{ADVICE}");
    }
}

/// The largest shift of a reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The parameter.
    pub parameter: ParamId,
    /// Shift in the parameter's posterior standard deviations, without sign.
    pub sds: f64,
}

/// What to tell about `rounded`, whose mode is `centre` if it was found. `exact` makes the model of the covariates as they are.
///
/// # Errors
/// That of `exact`.
pub fn remark<E>(
    rounded: &dyn Model,
    centre: Option<&Centre>,
    exact: impl FnOnce() -> Result<std::sync::Arc<dyn Model>, E>,
) -> Result<Warning, E> {
    let shift = match centre {
        Some(centre) => largest_shift(rounded, exact()?.as_ref(), centre),
        None => None,
    };
    Ok(match shift {
        Some(shift) if shift.sds < WORTH_A_WARNING => Remark::Harmless { shift },
        Some(shift) => Remark::Moves { shift },
        None => Remark::Unknown {},
    }
    .into())
}

/// By how much the mode of `rounded`, which `centre` is about, moves with the covariates of `exact`; `None` where rows are unknown
/// or numbers are not finite.
fn largest_shift(rounded: &dyn Model, exact: &dyn Model, centre: &Centre) -> Option<Shift> {
    let dim = centre.u.len();
    let mut step = gradient(exact.rows()?, &centre.u);
    axpy(-1.0, &gradient(rounded.rows()?, &centre.u), &mut step);
    centre.factor.solve_lower(&mut step);
    let slopes = whitened_slopes(rounded, centre);
    let mut largest: Option<Shift> = None;
    for (param, slopes) in rounded.params().iter().zip(slopes.chunks_exact(dim)) {
        let sd = dot(slopes, slopes).sqrt();
        let sds = if sd > 0.0 {
            dot(slopes, &step).abs() / sd
        } else {
            0.0
        };
        if !sds.is_finite() {
            return None;
        }
        if largest.as_ref().is_none_or(|largest| sds > largest.sds) {
            largest = Some(Shift {
                parameter: param.name.clone(),
                sds,
            });
        }
    }
    largest
}

/// The gradient of the log likelihood of all rows at `u` (D).
fn gradient(model: &dyn RowLikelihood, u: &[f64]) -> Vec<f64> {
    let (dim, num_obs) = (u.len(), model.num_obs());
    let (mut scratch, mut scores) = (model.scratch(), vec![0.0; CHUNK_ROWS * dim]);
    let mut sum = vec![0.0; dim];
    for start in (0..num_obs).step_by(CHUNK_ROWS) {
        let len = CHUNK_ROWS.min(num_obs - start);
        let scores = &mut scores[..len * dim];
        model.scores(u, Rows::Span { start, len }, &mut scratch, scores);
        for score in scores.chunks_exact(dim) {
            axpy(1.0, score, &mut sum);
        }
    }
    sum
}

/// L⁻¹ ∂θ_j/∂u of all reported quantities at the mode, row-major Q×D.
fn whitened_slopes(model: &dyn Model, centre: &Centre) -> Vec<f64> {
    let (dim, count) = (centre.u.len(), model.params().len());
    let [mut above, mut below] = [vec![0.0; count], vec![0.0; count]];
    let mut slopes = vec![0.0; count * dim];
    for k in 0..dim {
        let mut direction = vec![0.0; dim];
        direction[k] = 1.0;
        centre.factor.solve_lower_transpose(&mut direction);
        for (sign, theta) in [(1.0, &mut above), (-1.0, &mut below)] {
            let mut u = centre.u.clone();
            axpy(sign * STEP, &direction, &mut u);
            model.constrain(&u, theta);
        }
        for j in 0..count {
            slopes[j * dim + k] = (above[j] - below[j]) / (2.0 * STEP);
        }
    }
    slopes
}

#[cfg(test)]
mod tests;
