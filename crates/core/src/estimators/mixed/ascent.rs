//! Expectation maximisation as a map from point to point, and its acceleration.
//!
//! SQUAREM (Varadhan and Roland 2008, scheme S3) extrapolates: with r = F(x) − x, v = F(F(x)) − F(x) − r and
//! s = −|r|/|v|, x ← F(x − 2s r + s² v); s goes halfway to −1 (plain EM) while the likelihood would fall.

use super::{MixedError, tick};
use ergodic_base::Control;

/// Expected further way at which to stop, in logarithms of Λ's diagonal and of σ², and coefficients in units of σ.
const TOLERANCE: f64 = 1e-8;
/// Shortenings of an extrapolation before falling back to EM's own step.
const MAX_SHORTENINGS: u32 = 8;

/// Coordinates of a point on the real line.
pub type Point = Vec<f64>;

/// A model on which EM climbs.
pub trait Climb {
    /// Iterations before giving up.
    const MOST: u64;

    /// One step: the deviance at `point`, and the next point. `None` where numbers overflow.
    ///
    /// # Errors
    /// Cancelled.
    fn step(
        &mut self,
        point: &[f64],
        control: &Control,
    ) -> Result<Option<(f64, Point)>, MixedError>;

    /// Length of a step from `point`, without units.
    fn length(&self, step: &[f64], point: &[f64]) -> f64;

    /// Why numbers overflow, and what to do.
    fn broken(&self) -> MixedError;
}

/// How a run of EM went.
#[derive(Clone, Debug)]
pub struct Course {
    /// The end.
    pub point: Point,
    /// −2 log likelihood at every point visited, from the start on.
    pub deviances: Vec<f64>,
    /// EM steps, those of extrapolations included.
    pub iterations: u64,
    /// Whether the expected further gain was small enough.
    pub converged: bool,
}

/// The way still to go if the last step was `length` and steps shrink by `rate`: a geometric series.
fn remaining(length: f64, rate: f64) -> f64 {
    if rate < 1.0 {
        length / (1.0 - rate)
    } else {
        f64::INFINITY
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn step<C: Climb>(
    of: &mut C,
    point: &[f64],
    control: &Control,
) -> Result<(f64, Point), MixedError> {
    of.step(point, control)?.ok_or_else(|| of.broken())
}

/// Plain EM from `point`.
///
/// # Errors
/// Cancelled, or numbers overflow.
pub fn plain<C: Climb>(
    of: &mut C,
    mut point: Point,
    control: &Control,
) -> Result<Course, MixedError> {
    let mut deviances: Vec<f64> = Vec::new();
    let mut last_move = f64::NAN;
    for iteration in 0..C::MOST {
        tick(control)?;
        let (deviance, next) = step(of, &point, control)?;
        let moved = of.length(&difference(&next, &point), &point);
        deviances.push(deviance);
        if moved == 0.0 || remaining(moved, moved / last_move) < TOLERANCE {
            return Ok(Course {
                point,
                deviances,
                iterations: iteration + 1,
                converged: true,
            });
        }
        last_move = moved;
        point = next;
    }
    Ok(Course {
        point,
        deviances,
        iterations: C::MOST,
        converged: false,
    })
}

/// EM with squared extrapolation from `point`.
///
/// # Errors
/// As [`plain`].
pub fn squared<C: Climb>(
    of: &mut C,
    mut point: Point,
    control: &Control,
) -> Result<Course, MixedError> {
    let mut deviances: Vec<f64> = Vec::new();
    let mut iterations = 0;
    let (mut deviance, mut first) = step(of, &point, control)?;
    deviances.push(deviance);
    while iterations < C::MOST {
        tick(control)?;
        let (first_deviance, second) = step(of, &first, control)?;
        iterations += 2;
        let r = difference(&first, &point);
        let mut v = difference(&second, &first);
        let (r_norm, next_norm) = (of.length(&r, &point), of.length(&v, &point));
        for (v, r) in v.iter_mut().zip(&r) {
            *v -= r;
        }
        let v_norm = of.length(&v, &point);
        if v_norm == 0.0 || remaining(next_norm, next_norm / r_norm) < TOLERANCE {
            deviances.push(first_deviance);
            return Ok(Course {
                point: first,
                deviances,
                iterations,
                converged: true,
            });
        }
        let mut reach = (-r_norm / v_norm).min(-1.0);
        let mut shortenings = 0;
        loop {
            let candidate: Point = if shortenings == MAX_SHORTENINGS {
                second.clone()
            } else {
                (0..point.len())
                    .map(|i| point[i] - 2.0 * reach * r[i] + reach * reach * v[i])
                    .collect()
            };
            tick(control)?;
            let here = of.step(&candidate, control)?;
            iterations += 1;
            if let Some((candidate_deviance, next)) = here
                && (candidate_deviance <= first_deviance || shortenings == MAX_SHORTENINGS)
            {
                point = candidate;
                deviance = candidate_deviance;
                first = next;
                break;
            }
            if shortenings == MAX_SHORTENINGS {
                return Err(of.broken());
            }
            shortenings += 1;
            reach = (reach - 1.0) / 2.0;
        }
        deviances.push(deviance);
    }
    Ok(Course {
        point,
        deviances,
        iterations,
        converged: false,
    })
}
