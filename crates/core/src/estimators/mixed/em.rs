//! Expectation maximisation for Gaussian mixed models.
//!
//! With b ~ N(0, σ²G), G block diagonal with one G_t per term repeated for all its groups (El Hanchi 2018, section 3.3, as
//! corrected; an unstructured G is not identified by one data set), a = Λu and V = σ²ΛM⁻¹Λ' the mean and covariance of b given y:
//!
//! ```text
//! β'  = (X'X)⁻¹ X'(y − Za)                                                              (27), printed (XX')⁻¹
//! G_t' = mean over groups g of (V_gg + a_g a_g') / σ²;  diagonal only for independent effects        (28)
//! σ²' = (|y − Xβ'|² − 2(y − Xβ')'Za + Tr[(V + aa')(Z'Z + G'⁻¹)]) / (N + q)     (29), trace inside the bracket of (26)
//! ```
//!
//! Since Λ'Z'ZΛM⁻¹ = I − M⁻¹ and (V + aa') has the blocks σ²G' on average, the trace is a'Z'Za + σ²(2q − Tr M⁻¹). Each
//! update maximises the expected log density given the others, so the likelihood never falls. Convergence is linear, and
//! slow where groups say little about their effects.

use super::ascent::{Climb, Course, Point, plain, squared};
use super::profile::Profile;
use super::{Breakdown, Misfit, MixedError};
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, dot};

/// Variance relative to σ² below which a term's covariance is at the edge, where EM cannot arrive.
const EDGE: f64 = 1e-12;

/// How a run of EM went.
#[derive(Clone, Debug)]
pub struct EmCourse {
    /// θ at the end.
    pub theta: Vec<f64>,
    /// −2 log likelihood at every point visited, from the start on.
    pub deviances: Vec<f64>,
    /// EM steps, those of extrapolations included.
    pub iterations: u64,
    /// Whether the expected further gain was small enough.
    pub converged: bool,
}

/// Points are θ with logarithms on diagonals, log σ², β.
struct Em<'p, 'a> {
    profile: &'p mut Profile<'a>,
    /// Factor of X'WX.
    fixed: Cholesky,
    diagonal: Vec<usize>,
}

impl<'p, 'a> Em<'p, 'a> {
    fn new(profile: &'p mut Profile<'a>) -> Result<Self, MixedError> {
        let (p, width) = (profile.cross.num_columns, profile.cross.num_columns + 1);
        let mut xx = vec![0.0; p * p];
        for i in 0..p {
            xx[i * p..(i + 1) * p].copy_from_slice(&profile.cross.xx[i * width..i * width + p]);
        }
        let fixed = Cholesky::of(&xx, p).map_err(|_dependent| Misfit::Dependent)?;
        let diagonal = profile.shape.diagonal();
        Ok(Self {
            profile,
            fixed,
            diagonal,
        })
    }

    fn start(&mut self) -> Point {
        let theta = self.profile.shape.start();
        self.profile.deviance(&theta);
        let mut point = theta;
        for &k in &self.diagonal {
            point[k] = point[k].ln();
        }
        point.push(self.profile.variance().ln());
        point.extend_from_slice(&self.profile.beta);
        point
    }

    fn theta(&self, point: &[f64]) -> Vec<f64> {
        let mut theta = point[..self.profile.shape.len()].to_vec();
        for &k in &self.diagonal {
            theta[k] = theta[k].exp();
        }
        theta
    }

    /// The deviance at `point`, and the next point. `None` where numbers overflow.
    fn next(&mut self, point: &[f64]) -> Option<(f64, Point)> {
        let theta = self.theta(point);
        let free = theta.len();
        let (variance, beta) = (point[free].exp(), &point[free + 1..]);
        let profile = &mut *self.profile;
        let (p, dim) = (profile.cross.num_columns, profile.blocks.dim);
        let width = p + 1;
        profile.shape.lambda(&theta, &mut profile.lambda);
        profile
            .factor
            .factor(&profile.blocks, &profile.cross.zz, &profile.lambda)
            .ok()?;
        // Λ'Z'e with e = y − Xβ, and u.
        let combine = |coefficients: &[f64], out: &mut [f64]| {
            out.copy_from_slice(&profile.cross.zx[p * dim..]);
            for (j, beta) in coefficients.iter().enumerate() {
                let column = &profile.cross.zx[j * dim..(j + 1) * dim];
                for (out, zx) in out.iter_mut().zip(column) {
                    *out -= beta * zx;
                }
            }
        };
        let square = |coefficients: &[f64]| {
            let mut line = coefficients.iter().map(|b| -b).collect::<Vec<_>>();
            line.push(1.0);
            (0..width)
                .map(|i| line[i] * dot(&profile.cross.xx[i * width..(i + 1) * width], &line))
                .sum::<f64>()
        };
        let mut scaled = vec![0.0; dim];
        combine(beta, &mut scaled);
        profile
            .blocks
            .scale_transposed(&profile.lambda, &mut scaled);
        let mut u = scaled.clone();
        profile.factor.solve(&mut u);
        let n = profile.cross.num_obs;
        let deviance = profile.factor.log_det()
            + n * (std::f64::consts::TAU * variance).ln()
            + (square(beta) - dot(&scaled, &u)) / variance;

        profile.factor.selected_inverse(&mut profile.inverse);
        let mut a = u;
        profile.blocks.scale(&profile.lambda, &mut a);
        // G' per term, and Tr M⁻¹.
        let mut sums = profile.shape.zeros();
        profile.blocks.add_outer(1.0 / variance, &a, &a, &mut sums);
        let mut trace = 0.0;
        for (t, sums) in sums.iter_mut().enumerate() {
            let (q, own) = (profile.blocks.width[t], profile.blocks.own(t));
            let mut inverse = vec![0.0; q * q];
            for block in 0..own.groups.len() {
                let from = own.offset + block * q * q;
                for (sum, value) in inverse.iter_mut().zip(&profile.inverse[from..]) {
                    *sum += value;
                }
            }
            trace += (0..q).map(|i| inverse[i * q + i]).sum::<f64>();
            let lambda = &profile.lambda[t];
            for i in 0..q {
                for j in 0..q {
                    for k in 0..q {
                        for l in 0..q {
                            sums[i * q + j] +=
                                lambda[i * q + k] * inverse[k * q + l] * lambda[j * q + l];
                        }
                    }
                }
            }
            let groups = own.groups.len() as f64;
            for sum in sums.iter_mut() {
                *sum /= groups;
            }
            if !profile.data().terms[t].correlated {
                for i in 0..q {
                    for j in 0..q {
                        if i != j {
                            sums[i * q + j] = 0.0;
                        }
                    }
                }
            }
            for i in 0..q {
                sums[i * q + i] = sums[i * q + i].max(EDGE);
            }
        }
        // β' from X'(y − Za); the p-th row of xx is X'y.
        let mut next_beta: Vec<f64> = profile.cross.xx[p * width..p * width + p].to_vec();
        for (j, out) in next_beta.iter_mut().enumerate() {
            *out -= dot(&profile.cross.zx[j * dim..(j + 1) * dim], &a);
        }
        self.fixed.solve(&mut next_beta);
        let mut ze = vec![0.0; dim];
        combine(&next_beta, &mut ze);
        let mut aa = vec![0.0; dim];
        profile.blocks.multiply(&profile.cross.zz, &a, &mut aa);
        let expected = square(&next_beta) - 2.0 * dot(&ze, &a)
            + dot(&a, &aa)
            + variance * (2.0 * dim as f64 - trace);
        let next_variance = expected / (n + dim as f64);

        let mut lambda = profile.shape.zeros();
        for (t, g) in sums.iter().enumerate() {
            let factor = Cholesky::of(g, profile.blocks.width[t]).ok()?;
            lambda[t].copy_from_slice(factor.lower());
        }
        let mut next = vec![0.0; free];
        profile.shape.pick(&lambda, &mut next);
        for &k in &self.diagonal {
            next[k] = next[k].ln();
        }
        next.push(next_variance.ln());
        next.extend_from_slice(&next_beta);
        (deviance.is_finite() && next.iter().all(|v| v.is_finite())).then_some((deviance, next))
    }
}

impl Climb for Em<'_, '_> {
    const MOST: u64 = 100_000;

    fn step(
        &mut self,
        point: &[f64],
        _control: &Control,
    ) -> Result<Option<(f64, Point)>, MixedError> {
        Ok(self.next(point))
    }

    /// Of steps between points whose residual variance comes after the entries of θ.
    fn length(&self, step: &[f64], point: &[f64]) -> f64 {
        let free = self.profile.shape.len();
        let (covariance, beta) = step.split_at(free + 1);
        (dot(covariance, covariance) + dot(beta, beta) / point[free].exp()).sqrt()
    }

    fn broken(&self) -> MixedError {
        Breakdown::Overflow.into()
    }
}

impl EmCourse {
    fn of(em: &Em<'_, '_>, course: Course) -> Self {
        Self {
            theta: em.theta(&course.point),
            deviances: course.deviances,
            iterations: course.iterations,
            converged: course.converged,
        }
    }
}

/// Plain EM.
///
/// # Errors
/// Cancelled, or numbers overflow.
pub fn em(profile: &mut Profile<'_>, control: &Control) -> Result<EmCourse, MixedError> {
    let mut em = Em::new(profile)?;
    let start = em.start();
    let course = plain(&mut em, start, control)?;
    Ok(EmCourse::of(&em, course))
}

/// EM with squared extrapolation.
///
/// # Errors
/// As [`em`].
pub fn squarem(profile: &mut Profile<'_>, control: &Control) -> Result<EmCourse, MixedError> {
    let mut em = Em::new(profile)?;
    let start = em.start();
    let course = squared(&mut em, start, control)?;
    Ok(EmCourse::of(&em, course))
}
