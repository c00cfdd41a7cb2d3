//! EM of generalised mixed models whose expectations are integrals: by points of each group, or by Laplace's approximation.
//!
//! One step at β, Λ and the coordinates a of the family (El Hanchi 2018, equation 31):
//!
//! * **E.** The distribution of the effects b = Λu given y. By points: those of each group with their shares in its integral. By
//!   Laplace's approximation (Steele 1996), with a = M⁻¹Λ'Z't the skewness of [`super::laplace`], whose gradient is all that the M-step
//!   needs:
//!
//! ```text
//! E[u] ≈ û − a/2,   E[u u'] ≈ M⁻¹ + ûû' − (aû' + ûa')/2,   E[∂ log p/∂β] ≈ −½ ∂D/∂β
//! ```
//!
//! * **M.** Σ_t is the mean over groups of E[b b'], diagonal for independent effects. β and a move by a Newton step on their expected
//!   log likelihood (Lange 1995) with the curvature of rows in β, what of it is positive, and in a the square of the score, which has
//!   the same expectation.
//!
//! Steps are extrapolated as [`super::ascent`] does, since plain EM is slow where groups say little about their effects. By points
//! the end is the largest likelihood to the accuracy of the quadrature. By Laplace's approximation it is the maximum of Laplace's
//! approximation of the likelihood: Λ'∂D/∂Λ = 2 Σ_g (I − E[u u']) with the moments above. Without a it would be off by half a unit of
//! score per group for counts, however many rows a group has.

use super::ascent::{Climb, Point};
use super::integral::Summed;
use super::laplace::Laplace;
use super::objective::Objective;
use super::{Breakdown, MixedError, RandomTerm};
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, axpy, dot};

/// Variance of an effect below which it counts as absent, where EM cannot arrive.
const EDGE: f64 = 1e-12;
/// Longest step of a coefficient of a scaled column, or of a coordinate of the family.
const LONGEST_STEP: f64 = 1.0;

/// Points are θ with logarithms on diagonals, β, and the coordinates of the family.
pub struct Expectation<'o, 'l, 'a> {
    objective: &'o mut Objective<'l, 'a>,
    diagonal: Vec<usize>,
    /// Between which the coordinates of the family stay.
    bounds: Vec<[f64; 2]>,
}

/// What an M-step needs: sums over rows and groups of expectations.
struct Moments {
    /// E[b b'] summed over groups, per term (q×q).
    squares: Vec<Vec<f64>>,
    /// What is added to these where the sum is positive definite.
    corrections: Vec<Vec<f64>>,
    /// Of β and a.
    score: Vec<f64>,
    information: Vec<f64>,
    slopes: Vec<[f64; 3]>,
}

impl Moments {
    fn new(laplace: &Laplace<'_>) -> Self {
        let p = laplace.data.num_columns();
        let own = laplace.outcome.num_coordinates();
        Self {
            squares: laplace.shape.zeros(),
            corrections: laplace.shape.zeros(),
            score: vec![0.0; p + own],
            information: vec![0.0; (p + own) * (p + own)],
            slopes: vec![[0.0; 3]; own],
        }
    }

    /// Adds a row whose predictor is one of `etas` with these chances.
    fn add(&mut self, laplace: &Laplace<'_>, row: usize, etas: impl Iterator<Item = (f64, f64)>) {
        let (y, known, times) = laplace.row(row);
        let x = laplace.data.row(row);
        let (p, dim) = (x.len(), self.score.len());
        let (mut score, mut weight) = (0.0, 0.0);
        for (share, eta) in etas {
            let d = laplace.outcome.at(eta, y, known);
            let share = times * share;
            score += share * d.score;
            weight += share * d.weight.max(0.0);
            if self.slopes.is_empty() {
                continue;
            }
            laplace
                .outcome
                .in_coordinates(eta, y, known, &mut self.slopes);
            for (i, [slope, across, _]) in self.slopes.iter().enumerate() {
                self.score[p + i] += share * slope;
                let line = &mut self.information[(p + i) * dim..(p + i + 1) * dim];
                axpy(-share * across, x, &mut line[..p]);
                for (out, [other, _, _]) in line[p..].iter_mut().zip(&self.slopes) {
                    *out += share * slope * other;
                }
            }
        }
        axpy(score, x, &mut self.score[..p]);
        for i in 0..p {
            axpy(
                weight * x[i],
                x,
                &mut self.information[i * dim..i * dim + p],
            );
        }
    }

    /// Holds the coordinates of the family at `at` that their expected score pulls out of their bounds; there are `p` of β before.
    fn hold(&mut self, at: &[f64], bounds: &[[f64; 2]], p: usize) {
        let dim = self.score.len();
        for (j, (at, [least, most])) in (p..).zip(at.iter().zip(bounds)) {
            let outwards = match self.score[j] > 0.0 {
                true => at >= most,
                false => at <= least,
            };
            if outwards {
                self.score[j] = 0.0;
                for i in 0..dim {
                    self.information[i * dim + j] = 0.0;
                    self.information[j * dim + i] = 0.0;
                }
                self.information[j * dim + j] = 1.0;
            }
        }
    }

    /// The Newton step of β and a, whose first `p` are β.
    fn head_step(&mut self, p: usize) -> Option<Vec<f64>> {
        let dim = self.score.len();
        let mut step = self.score.clone();
        if dim == 0 {
            return Some(step);
        }
        for i in 0..p {
            for j in p..dim {
                self.information[i * dim + j] = self.information[j * dim + i];
            }
        }
        let factor = Cholesky::of(&self.information, dim).or_else(|_indefinite| {
            for i in 0..p {
                for j in p..dim {
                    self.information[i * dim + j] = 0.0;
                    self.information[j * dim + i] = 0.0;
                }
            }
            Cholesky::of(&self.information, dim)
        });
        factor.ok()?.solve(&mut step);
        let longest = step.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        if longest > LONGEST_STEP {
            step.iter_mut().for_each(|s| *s *= LONGEST_STEP / longest);
        }
        Some(step)
    }
}

impl<'o, 'l, 'a> Expectation<'o, 'l, 'a> {
    /// EM on `objective`.
    pub fn new(objective: &'o mut Objective<'l, 'a>, bounds: Vec<[f64; 2]>) -> Self {
        let diagonal = objective.laplace().shape.diagonal();
        Self {
            objective,
            diagonal,
            bounds,
        }
    }

    /// The point of parameters whose diagonals of Λ are positive.
    pub fn point(&self, parameters: &[f64]) -> Point {
        let mut point = parameters.to_vec();
        for &k in &self.diagonal {
            point[k] = point[k].ln();
        }
        point
    }

    /// θ, β and the coordinates of the family at a point.
    pub fn parameters(&self, point: &[f64]) -> Vec<f64> {
        let mut parameters = point.to_vec();
        for &k in &self.diagonal {
            parameters[k] = parameters[k].exp();
        }
        parameters
    }

    /// The E-step.
    fn moments(
        &mut self,
        parameters: &[f64],
        control: &Control,
    ) -> Result<(f64, Moments), MixedError> {
        match self.objective {
            Objective::Laplace(laplace) => {
                let mut gradient = vec![0.0; parameters.len()];
                let deviance = laplace.deviance_and_gradient(parameters, &mut gradient, control)?;
                let mut moments = Moments::new(laplace);
                if deviance.is_finite() {
                    moments_around_modes(laplace, &gradient, &mut moments);
                }
                Ok((deviance, moments))
            }
            Objective::Integral(integral) => {
                let mut moments = Moments::new(integral.laplace);
                let deviance = integral.visit(parameters, control, |laplace, group| {
                    add_group(&mut moments, laplace, group);
                })?;
                Ok((deviance, moments))
            }
        }
    }
}

/// Moments by Laplace's approximation; `gradient` is that of the deviance.
fn moments_around_modes(laplace: &Laplace<'_>, gradient: &[f64], moments: &mut Moments) {
    let blocks = &laplace.blocks;
    blocks.add_outer(1.0, &laplace.b, &laplace.b, &mut moments.squares);
    let mut skew = laplace.skew.clone();
    blocks.scale(&laplace.lambda, &mut skew);
    blocks.add_outer(-0.5, &skew, &laplace.b, &mut moments.corrections);
    blocks.add_outer(-0.5, &laplace.b, &skew, &mut moments.corrections);
    for (t, squares) in moments.squares.iter_mut().enumerate() {
        let (q, own, lambda) = (blocks.width[t], blocks.own(t), &laplace.lambda[t]);
        let mut inverse = vec![0.0; q * q];
        for block in laplace.inverse[own.offset..][..own.groups.len() * q * q].chunks_exact(q * q) {
            axpy(1.0, block, &mut inverse);
        }
        for i in 0..q {
            for j in 0..q {
                let line = &lambda[j * q..(j + 1) * q];
                squares[i * q + j] += (0..q)
                    .map(|k| lambda[i * q + k] * dot(&inverse[k * q..(k + 1) * q], line))
                    .sum::<f64>();
            }
        }
    }
    for row in 0..laplace.data.num_obs() {
        moments.add(laplace, row, std::iter::once((1.0, laplace.eta[row])));
    }
    // The information is that of the modes; the score is that of the deviance.
    for (score, slope) in (moments.score.iter_mut()).zip(&gradient[laplace.shape.len()..]) {
        *score = -0.5 * slope;
    }
}

/// Moments of the points of a group.
fn add_group(moments: &mut Moments, laplace: &Laplace<'_>, group: Summed<'_>) {
    let terms = &laplace.data.terms;
    let q: usize = laplace.blocks.width.iter().sum();
    let mut from = 0;
    for (squares, &width) in moments.squares.iter_mut().zip(&laplace.blocks.width) {
        for (share, effects) in group.shares.iter().zip(group.effects.chunks_exact(q)) {
            let b = &effects[from..from + width];
            for i in 0..width {
                axpy(share * b[i], b, &mut squares[i * width..(i + 1) * width]);
            }
        }
        from += width;
    }
    for &row in group.rows {
        let row = row as usize;
        let z: Vec<f64> = terms.iter().flat_map(|it| it.row(row)).copied().collect();
        let base = laplace.base[row];
        let points = group.shares.iter().zip(group.effects.chunks_exact(q));
        moments.add(
            laplace,
            row,
            points.map(|(share, b)| (*share, base + dot(&z, b))),
        );
    }
}

/// Root of the covariance of a term's effects whose squares, with a correction or without, have these sums over groups.
fn root(term: &RandomTerm, squares: &[f64], correction: Option<&Vec<f64>>) -> Option<Cholesky> {
    let q = term.width();
    let mut covariance = squares.to_vec();
    if let Some(correction) = correction {
        axpy(1.0, correction, &mut covariance);
    }
    for (k, value) in covariance.iter_mut().enumerate() {
        let (i, j) = (k / q, k % q);
        if i != j && !term.correlated {
            *value = 0.0;
        }
        *value /= term.levels.len() as f64;
        if i == j && *value < EDGE {
            if *value < 0.0 {
                return None;
            }
            *value = EDGE;
        }
    }
    Cholesky::of(&covariance, q).ok()
}

impl Climb for Expectation<'_, '_, '_> {
    const MOST: u64 = 2_000;

    fn step(
        &mut self,
        point: &[f64],
        control: &Control,
    ) -> Result<Option<(f64, Point)>, MixedError> {
        let parameters = self.parameters(point);
        let (deviance, mut moments) = self.moments(&parameters, control)?;
        if !deviance.is_finite() {
            return Ok(None);
        }
        let laplace = self.objective.laplace();
        let (p, free) = (laplace.data.num_columns(), laplace.shape.len());
        moments.hold(&parameters[free + p..], &self.bounds, p);
        let Some(step) = moments.head_step(p) else {
            return Ok(None);
        };
        let mut next = parameters;
        axpy(1.0, &step, &mut next[free..]);
        for (at, [least, most]) in next[free + p..].iter_mut().zip(&self.bounds) {
            *at = at.clamp(*least, *most);
        }
        let mut lambda = laplace.shape.zeros();
        for (t, squares) in moments.squares.iter().enumerate() {
            let term = &laplace.data.terms[t];
            let corrected = root(term, squares, Some(&moments.corrections[t]));
            let Some(factor) = corrected.or_else(|| root(term, squares, None)) else {
                return Ok(None);
            };
            lambda[t].copy_from_slice(factor.lower());
        }
        laplace.shape.pick(&lambda, &mut next[..free]);
        let next = self.point(&next);
        Ok(next
            .iter()
            .all(|v| v.is_finite())
            .then_some((deviance, next)))
    }

    fn length(&self, step: &[f64], _point: &[f64]) -> f64 {
        dot(step, step).sqrt()
    }

    fn broken(&self) -> MixedError {
        Breakdown::SingularOrOverflow.into()
    }
}
