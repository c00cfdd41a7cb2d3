//! Laplace's approximation of the deviance of a generalised mixed model, with its exact gradient.
//!
//! With b = Λu, u ~ N(0, I), η = Xβ + ZΛu + o, s and W the derivatives of log p in η and M = Λ'Z'WZΛ + I:
//!
//! ```text
//! D(θ, β) = min over u of {−2 Σ log p(y_i|η_i) + |u|²} + log|M|                         (error O(1/cluster size))
//! ```
//!
//! The mode solves Λ'Z's = u by Newton's method (for canonical links penalised iteratively reweighted least squares), with
//! the weights of the observed information; for the negative binomial lme4 takes the expected one, so that its
//! approximation differs by as much as Laplace's own error.
//!
//! Gradient: at the mode the first part has only its explicit derivatives. log|M| has 2(AΛM⁻¹) for Λ, A = Z'WZ, and changes
//! with η by t_i = w_i' z_i'ΛM⁻¹Λ'z_i, which needs M⁻¹ on the pattern of A only. η changes also because u does:
//! du = M⁻¹ d(Λ'Z's) at fixed u, so with a = M⁻¹Λ'Z't
//!
//! ```text
//! ∂D/∂β = X'(−2s + t − W ZΛa)
//! ∂D/∂Λ = −2 (Z's)u' + 2 AΛM⁻¹ + (Z't)u' + (Z's)a' − (Z'W ZΛa)u'      summed over groups, at Λ's entries
//! ∂D/∂a    = Σ −2 ∂log p + (z_i'ΛM⁻¹Λ'z_i) ∂w_i + (ZΛa)_i ∂s_i
//! ```

use std::ops::Range;

use super::blocks::Blocks;
use super::covariance::Shape;
use super::factor::Factor;
use super::profile::add_trace;
use super::{MixedData, MixedError, tick};
use crate::families::{Family, Outcome};
use ergodic_base::Control;
use ergodic_base::linalg::{NotPositiveDefinite, axpy, dot};

/// Newton steps for the mode before giving up.
const MAX_STEPS: usize = 100;
/// Newton decrement below which the next full step ends the search: its error is then of the size of rounding.
const DECREMENT: f64 = 1e-8;
/// Halvings of a step before giving up.
const MAX_HALVINGS: usize = 30;

/// The approximate deviance, with the mode at the parameters it was last evaluated at.
pub struct Laplace<'a> {
    /// The data.
    pub data: &'a MixedData,
    /// Distribution of the response; what it has besides the linear predictor is set by the parameters.
    pub outcome: Outcome,
    /// Pattern.
    pub blocks: Blocks,
    /// Free entries of Λ.
    pub shape: Shape,
    /// Factor of M.
    pub factor: Factor,
    /// Λ per term.
    pub lambda: Vec<Vec<f64>>,
    /// u at the mode.
    pub u: Vec<f64>,
    /// Λu.
    pub b: Vec<f64>,
    /// M⁻¹ on the pattern.
    pub inverse: Vec<f64>,
    /// a = M⁻¹Λ'Z't of the gradient: to first order the mean of u is the mode less a/2.
    pub skew: Vec<f64>,
    /// Xβ + o (n).
    pub base: Vec<f64>,
    /// w (n).
    pub weight: Vec<f64>,
    /// Z'WZ.
    weighted: Vec<f64>,
    /// Linear predictors at the mode (n).
    pub eta: Vec<f64>,
    score: Vec<f64>,
    slope: Vec<f64>,
    /// Sum of the constants of log p, where they do not depend on parameters.
    constant: Option<f64>,
}

impl<'a> Laplace<'a> {
    /// Prepares `data`.
    ///
    /// # Errors
    /// What [`MixedData::check`] refuses, or a factor that does not fit into memory.
    pub fn new(data: &'a MixedData, family: Family) -> Result<Self, MixedError> {
        data.check()?;
        let blocks = Blocks::of(&data.terms);
        let shape = Shape::of(&data.terms);
        let n = data.num_obs();
        let outcome = data.outcome(family)?;
        let mut laplace = Self {
            data,
            outcome,
            factor: Factor::new(&blocks)?,
            lambda: shape.zeros(),
            u: vec![0.0; blocks.dim],
            b: vec![0.0; blocks.dim],
            inverse: vec![0.0; blocks.len],
            skew: vec![0.0; blocks.dim],
            weighted: vec![0.0; blocks.len],
            base: vec![0.0; n],
            eta: vec![0.0; n],
            score: vec![0.0; n],
            weight: vec![0.0; n],
            slope: vec![0.0; n],
            constant: None,
            blocks,
            shape,
        };
        if outcome.num_coordinates() == 0 {
            laplace.constant = Some(laplace.sum_constants());
        }
        Ok(laplace)
    }

    /// Number of parameters: θ, β, and coordinates a of what the family has besides.
    pub fn dim(&self) -> usize {
        self.auxiliaries().end
    }

    /// Where coordinates of the family's parameters are among all parameters.
    pub fn auxiliaries(&self) -> Range<usize> {
        let first = self.shape.len() + self.data.num_columns();
        first..first + self.outcome.num_coordinates()
    }

    /// Response, trials and prior weight of a row.
    #[inline]
    pub fn row(&self, row: usize) -> (f64, f64, f64) {
        (
            self.data.y[row],
            self.data.known(row),
            self.data.weight(row),
        )
    }

    fn sum_constants(&self) -> f64 {
        (0..self.data.num_obs())
            .map(|row| {
                let (y, trials, weight) = self.row(row);
                weight * self.outcome.constant(y, trials)
            })
            .sum()
    }

    /// Σ of the constants of log p at the present parameters.
    pub fn constants(&self) -> f64 {
        self.constant.unwrap_or_else(|| self.sum_constants())
    }

    /// D at θ, β and a, in one vector; infinite where there is none.
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance(&mut self, parameters: &[f64], control: &Control) -> Result<f64, MixedError> {
        self.place(parameters);
        let mut found = self.find_mode(control)?;
        if found.is_err() {
            // The last mode may be a bad start: once more from the prior's.
            self.u.fill(0.0);
            found = self.find_mode(control)?;
        }
        Ok(match found {
            Ok(value) => value - 2.0 * self.constants() + self.factor.log_det(),
            Err(NotPositiveDefinite) => f64::INFINITY,
        })
    }

    /// Sets Λ, the response and the fixed part of predictors at parameters, and leaves the modes where they are.
    pub fn place(&mut self, parameters: &[f64]) {
        let free = self.shape.len();
        let p = self.data.num_columns();
        self.shape.lambda(&parameters[..free], &mut self.lambda);
        if self.outcome.num_coordinates() > 0 {
            let at = &parameters[self.auxiliaries()];
            self.outcome = self.outcome.with_coordinates(at);
        }
        let beta = &parameters[free..free + p];
        for row in 0..self.data.num_obs() {
            self.base[row] = dot(self.data.row(row), beta)
                + self.data.offset.as_ref().map_or(0.0, |offset| offset[row]);
        }
    }

    /// Moves u to the mode and leaves everything evaluated there; the value is −2 Σ log p + |u|² without constants.
    fn find_mode(
        &mut self,
        control: &Control,
    ) -> Result<Result<f64, NotPositiveDefinite>, MixedError> {
        let dim = self.blocks.dim;
        let (mut step, mut gradient) = (vec![0.0; dim], vec![0.0; dim]);
        let mut from = self.u.clone();
        let mut value = self.evaluate();
        for _ in 0..MAX_STEPS {
            tick(control)?;
            // Where log p is not concave, far from the mode the curvature may be indefinite; what of it is positive gives a step up.
            let factored = self
                .refactor()
                .or_else(|_indefinite| self.refactor_with(f64::max));
            if !value.is_finite() || factored.is_err() {
                return Ok(Err(NotPositiveDefinite));
            }
            gradient.fill(0.0);
            self.blocks
                .add_transposed(&self.data.terms, &self.score, &mut gradient);
            self.blocks.scale_transposed(&self.lambda, &mut gradient);
            axpy(-1.0, &self.u, &mut gradient);
            step.copy_from_slice(&gradient);
            self.factor.solve(&mut step);
            let decrement = dot(&gradient, &step);
            from.copy_from_slice(&self.u);
            let mut length = 1.0;
            let mut halvings = 0;
            loop {
                self.u.copy_from_slice(&from);
                axpy(length, &step, &mut self.u);
                let trial = self.evaluate();
                // Steps gain about half the decrement twice over; near the end that drowns in rounding.
                if trial <= value || (decrement < DECREMENT && trial <= value + 1e-9 * value.abs())
                {
                    value = trial;
                    break;
                }
                halvings += 1;
                length *= 0.5;
                if halvings > MAX_HALVINGS {
                    self.u.copy_from_slice(&from);
                    value = self.evaluate();
                    let settled = decrement < 1e-6 && self.refactor().is_ok();
                    return Ok(settled.then_some(value).ok_or(NotPositiveDefinite));
                }
            }
            if decrement < DECREMENT {
                return Ok(self.refactor().map(|()| value));
            }
        }
        Ok(Err(NotPositiveDefinite))
    }

    /// η, s, w, w' at u; −2 Σ log p + |u|² without constants.
    fn evaluate(&mut self) -> f64 {
        self.b.copy_from_slice(&self.u);
        self.blocks.scale(&self.lambda, &mut self.b);
        self.eta.copy_from_slice(&self.base);
        self.blocks
            .add_predictor(&self.data.terms, &self.b, &mut self.eta);
        let mut log_p = 0.0;
        for row in 0..self.eta.len() {
            let (y, trials, weight) = self.row(row);
            let d = self.outcome.at(self.eta[row], y, trials);
            log_p += weight * d.log_p;
            self.score[row] = weight * d.score;
            self.weight[row] = weight * d.weight;
            self.slope[row] = weight * d.slope;
        }
        -2.0 * log_p + dot(&self.u, &self.u)
    }

    fn refactor(&mut self) -> Result<(), NotPositiveDefinite> {
        self.refactor_with(|weight, _zero| weight)
    }

    /// Factors M with `of` each weight and 0 in the place of the weight.
    fn refactor_with(&mut self, of: fn(f64, f64) -> f64) -> Result<(), NotPositiveDefinite> {
        let weight = &self.weight;
        let weight = |row: usize| of(weight[row], 0.0);
        self.blocks
            .crossproduct(&self.data.terms, weight, &mut self.weighted);
        self.factor
            .factor(&self.blocks, &self.weighted, &self.lambda)
    }

    /// D and its gradient.
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance_and_gradient(
        &mut self,
        parameters: &[f64],
        grad: &mut [f64],
        control: &Control,
    ) -> Result<f64, MixedError> {
        let deviance = self.deviance(parameters, control)?;
        grad.fill(0.0);
        if !deviance.is_finite() {
            return Ok(f64::INFINITY);
        }
        let (free, p, n) = (
            self.shape.len(),
            self.data.num_columns(),
            self.data.num_obs(),
        );
        let dim = self.blocks.dim;
        self.factor.selected_inverse(&mut self.inverse);
        let leverage = self.leverage();
        let tilt: Vec<f64> = (0..n).map(|row| self.slope[row] * leverage[row]).collect();
        let mut zt = vec![0.0; dim];
        self.blocks.add_transposed(&self.data.terms, &tilt, &mut zt);
        let mut a = zt.clone();
        self.blocks.scale_transposed(&self.lambda, &mut a);
        self.factor.solve(&mut a);
        // ZΛa, and Z'WZΛa.
        let mut scaled = a.clone();
        self.blocks.scale(&self.lambda, &mut scaled);
        let mut moved = vec![0.0; n];
        self.blocks
            .add_predictor(&self.data.terms, &scaled, &mut moved);
        let mut zwa = vec![0.0; dim];
        self.blocks.multiply(&self.weighted, &scaled, &mut zwa);

        for row in 0..n {
            let pull = -2.0 * self.score[row] + tilt[row] - self.weight[row] * moved[row];
            axpy(pull, self.data.row(row), &mut grad[free..free + p]);
        }
        let mut sums = self.shape.zeros();
        add_trace(
            &self.blocks,
            &self.weighted,
            &self.lambda,
            &self.inverse,
            &mut sums,
        );
        let mut zs = vec![0.0; dim];
        self.blocks
            .add_transposed(&self.data.terms, &self.score, &mut zs);
        let mut by_u = zt;
        for k in 0..dim {
            by_u[k] += -2.0 * zs[k] - zwa[k];
        }
        self.blocks.add_outer(1.0, &by_u, &self.u, &mut sums);
        self.blocks.add_outer(1.0, &zs, &a, &mut sums);
        self.skew.copy_from_slice(&a);
        self.shape.pick(&sums, &mut grad[..free]);
        let auxiliaries = self.auxiliaries();
        if !auxiliaries.is_empty() {
            let mut slopes = vec![[0.0; 3]; auxiliaries.len()];
            for row in 0..n {
                let (y, known, weight) = self.row(row);
                self.outcome
                    .in_coordinates(self.eta[row], y, known, &mut slopes);
                for (grad, [log_p, score, w]) in grad[auxiliaries.clone()].iter_mut().zip(&slopes) {
                    *grad += weight * (-2.0 * log_p + leverage[row] * w + moved[row] * score);
                }
            }
        }
        Ok(deviance)
    }

    /// z_i'ΛM⁻¹Λ'z_i per row, the variance of its group effects at the mode; needs the selected inverse.
    fn leverage(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.data.num_obs()];
        let widest = self.blocks.width.iter().max().copied().unwrap_or(0);
        let (mut left, mut right) = (vec![0.0; widest], vec![0.0; widest]);
        for pair in &self.blocks.pairs {
            let (s, t) = (pair.s, pair.t);
            let (q_s, q_t) = (self.blocks.width[s], self.blocks.width[t]);
            let twice = if s == t { 1.0 } else { 2.0 };
            let project = |lambda: &[f64], z: &[f64], out: &mut [f64]| {
                let q = z.len();
                for j in 0..q {
                    out[j] = (j..q).map(|i| lambda[i * q + j] * z[i]).sum();
                }
            };
            for (row, &block) in pair.block_of_row.iter().enumerate() {
                project(&self.lambda[s], self.data.terms[s].row(row), &mut right);
                project(&self.lambda[t], self.data.terms[t].row(row), &mut left);
                let from = pair.offset + block as usize * q_s * q_t;
                for i in 0..q_t {
                    let line = &self.inverse[from + i * q_s..from + (i + 1) * q_s];
                    let inner: f64 = line.iter().zip(&right).map(|(v, r)| v * r).sum();
                    out[row] += twice * left[i] * inner;
                }
            }
        }
        out
    }

    /// The information about β given θ with the group effects at their modes: X'WX − X'WZΛM⁻¹Λ'Z'WX (p×p).
    pub fn information(&self) -> Vec<f64> {
        let (n, p, dim) = (
            self.data.num_obs(),
            self.data.num_columns(),
            self.blocks.dim,
        );
        let mut out = vec![0.0; p * p];
        for row in 0..n {
            let x = self.data.row(row);
            for i in 0..p {
                axpy(self.weight[row] * x[i], x, &mut out[i * p..(i + 1) * p]);
            }
        }
        if dim == 0 {
            return out;
        }
        let mut cross = vec![0.0; dim * p];
        let mut column = vec![0.0; n];
        for (j, cross) in cross.chunks_exact_mut(dim).enumerate() {
            for row in 0..n {
                column[row] = self.weight[row] * self.data.row(row)[j];
            }
            self.blocks.add_transposed(&self.data.terms, &column, cross);
            self.blocks.scale_transposed(&self.lambda, cross);
        }
        let mut solved = cross.clone();
        self.factor.solve(&mut solved);
        for i in 0..p {
            for j in 0..p {
                out[i * p + j] -= dot(
                    &cross[i * dim..(i + 1) * dim],
                    &solved[j * dim..(j + 1) * dim],
                );
            }
        }
        out
    }
}
