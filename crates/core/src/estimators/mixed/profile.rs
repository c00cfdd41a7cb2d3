//! The profiled deviance of a Gaussian mixed model and its exact gradient in θ, from crossproducts alone.
//!
//! With b = σΛu, u ~ N(0, I), A = Z'Z, M = Λ'AΛ + I and r² = min over β, u of |y − Xβ − ZΛu|² + |u|²:
//!
//! ```text
//! ML:    d(θ) = log|M| + n (1 + log(2π r²/n))
//! REML:  d(θ) = log|M| + log|X'V⁻¹X| + (n − p)(1 + log(2π r²/(n − p))),   V = I + ZΛΛ'Z'
//! ```
//!
//! (Bates, Mächler, Bolker and Walker 2015, equations (32)-(42); half of it is (23) of El Hanchi 2018.) The gradient with respect
//! to an entry (r, c) of the whole Λ, his (24) in sparse form: |M| gives 2 (AΛM⁻¹)_rc, for which M⁻¹ is needed on the pattern of
//! A only; r² gives −2 (Z'e)_r u_c with e = y − Xβ − ZΛu, because β and u minimise it; and with B = M⁻¹Λ'Z'X and W = Z'X − AΛB =
//! Z'V⁻¹X, log|X'V⁻¹X| gives −2 (W (X'V⁻¹X)⁻¹ B')_rc. Rows are read once, for the crossproducts; an evaluation costs one
//! factorisation and its selected inverse.

use super::blocks::Blocks;
use super::covariance::Shape;
use super::data::MixedData;
use super::factor::Factor;
use super::{Misfit, MixedError};
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, dot};

/// Pivot of a scaled column below which it is a combination of the others.
const DEPENDENT: f64 = 1e-10;

/// Crossproducts of a Gaussian model: everything its likelihood depends on.
#[derive(Clone, Debug)]
pub struct Crossproducts {
    /// n: rows, each counted as often as its weight says.
    pub num_obs: f64,
    /// p.
    pub num_columns: usize,
    /// Mean of the response that was taken off.
    pub shift: f64,
    /// Z'WZ in blocks.
    pub zz: Vec<f64>,
    /// Z'W[X y], (p + 1) columns of all effects.
    pub zx: Vec<f64>,
    /// [X y]'W[X y], (p + 1)², row-major.
    pub xx: Vec<f64>,
}

impl Crossproducts {
    /// Reads all rows once.
    pub fn new(data: &MixedData, blocks: &Blocks) -> Self {
        let (n, p) = (data.num_obs(), data.num_columns());
        let width = p + 1;
        let weight = |row: usize| data.weight(row);
        let offset = |row: usize| data.offset.as_ref().map_or(0.0, |o| o[row]);
        // The mean goes into the intercept: less is lost when squares are subtracted.
        let shift = if data.scaling.has_intercept {
            (0..n).map(|row| data.y[row] - offset(row)).sum::<f64>() / n as f64
        } else {
            0.0
        };
        let mut zz = vec![0.0; blocks.len];
        blocks.crossproduct(&data.terms, weight, &mut zz);
        let (mut zx, mut xx) = (vec![0.0; blocks.dim * width], vec![0.0; width * width]);
        let mut line = vec![0.0; width];
        for row in 0..n {
            let w = weight(row);
            line[..p].copy_from_slice(data.row(row));
            line[p] = data.y[row] - offset(row) - shift;
            for i in 0..width {
                let factor = w * line[i];
                for (out, v) in xx[i * width..=i * width + i].iter_mut().zip(&line) {
                    *out += factor * v;
                }
            }
            for (t, term) in data.terms.iter().enumerate() {
                let q = blocks.width[t];
                let first = blocks.start[t] + term.index[row] as usize * q;
                for (k, z) in term.row(row).iter().enumerate() {
                    // By effects while reading, turned below: one place in memory per row.
                    let to = (first + k) * width;
                    for (out, v) in zx[to..to + width].iter_mut().zip(&line) {
                        *out += w * z * v;
                    }
                }
            }
        }
        for i in 0..width {
            for j in 0..i {
                xx[j * width + i] = xx[i * width + j];
            }
        }
        let mut by_columns = vec![0.0; zx.len()];
        for (effect, line) in zx.chunks_exact(width).enumerate() {
            for (j, v) in line.iter().enumerate() {
                by_columns[j * blocks.dim + effect] = *v;
            }
        }
        Self {
            num_obs: data.total_weight(),
            num_columns: p,
            shift,
            zz,
            zx: by_columns,
            xx,
        }
    }

    /// Refuses columns that are combinations of others.
    ///
    /// # Errors
    /// The sentence names the first such column.
    pub fn check_columns(&self, names: &[String]) -> Result<(), MixedError> {
        let (p, width) = (self.num_columns, self.num_columns + 1);
        let mut scaled = vec![0.0; p * p];
        for i in 0..p {
            for j in 0..p {
                let norm = (self.xx[i * width + i] * self.xx[j * width + j]).sqrt();
                scaled[i * p + j] = self.xx[i * width + j] / norm;
            }
        }
        for j in 0..p {
            for k in 0..j {
                let l_jk = scaled[j * p + k];
                scaled[j * p + j] -= l_jk * l_jk;
            }
            let pivot = scaled[j * p + j];
            if pivot.is_nan() || pivot < DEPENDENT {
                return Err(Misfit::DependentColumn(names[j].clone()).into());
            }
            let root = pivot.sqrt();
            for i in j + 1..p {
                let mut sum = scaled[i * p + j];
                for k in 0..j {
                    sum -= scaled[i * p + k] * scaled[j * p + k];
                }
                scaled[i * p + j] = sum / root;
            }
        }
        Ok(())
    }
}

/// Maximum likelihood, or restricted maximum likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Fixed effects maximised.
    Ml,
    /// Fixed effects integrated over a flat prior.
    Reml,
}

impl Criterion {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ml => "ML",
            Self::Reml => "REML",
        }
    }
}

/// The profiled deviance with the solution at the θ it was last evaluated at.
pub struct Profile<'a> {
    data: &'a MixedData,
    /// Crossproducts.
    pub cross: Crossproducts,
    /// Pattern.
    pub blocks: Blocks,
    /// Free entries of Λ.
    pub shape: Shape,
    /// What is minimised.
    pub criterion: Criterion,
    /// Factor of M.
    pub factor: Factor,
    /// Λ per term.
    pub lambda: Vec<Vec<f64>>,
    /// M⁻¹Λ'Z'[X y].
    solved: Vec<f64>,
    /// Factor of X'V⁻¹X.
    pub fixed: Cholesky,
    /// β (p).
    pub beta: Vec<f64>,
    /// u, all effects in units of σΛ.
    pub u: Vec<f64>,
    /// r².
    pub residual: f64,
    /// M⁻¹ on the pattern.
    pub inverse: Vec<f64>,
}

impl<'a> Profile<'a> {
    /// Reads the data.
    ///
    /// # Errors
    /// Fixed-effect columns are dependent, or the factor does not fit into memory.
    pub fn new(
        data: &'a MixedData,
        criterion: Criterion,
        control: &Control,
    ) -> Result<Self, MixedError> {
        data.check()?;
        data.check_gaussian()?;
        let blocks = Blocks::of(&data.terms);
        control.check(MixedError::Cancelled)?;
        let cross = Crossproducts::new(data, &blocks);
        cross.check_columns(&data.columns)?;
        control.check(MixedError::Cancelled)?;
        let factor = Factor::new(&blocks)?;
        let shape = Shape::of(&data.terms);
        let p = data.num_columns();
        Ok(Self {
            data,
            lambda: shape.zeros(),
            solved: vec![0.0; cross.zx.len()],
            fixed: Cholesky::empty(p),
            beta: vec![0.0; p],
            u: vec![0.0; blocks.dim],
            residual: f64::NAN,
            inverse: vec![0.0; blocks.len],
            cross,
            blocks,
            shape,
            criterion,
            factor,
        })
    }

    /// The data.
    pub fn data(&self) -> &'a MixedData {
        self.data
    }

    /// n, or n − p for REML.
    pub fn degrees(&self) -> f64 {
        match self.criterion {
            Criterion::Ml => self.cross.num_obs,
            Criterion::Reml => self.cross.num_obs - self.cross.num_columns as f64,
        }
    }

    /// σ² at the present θ.
    pub fn variance(&self) -> f64 {
        self.residual / self.degrees()
    }

    /// d(θ), with β, u and r²; infinite where rounding spoils the factor.
    pub fn deviance(&mut self, theta: &[f64]) -> f64 {
        self.evaluate(theta).unwrap_or(f64::INFINITY)
    }

    fn evaluate(&mut self, theta: &[f64]) -> Result<f64, NotPositiveDefinite> {
        let (p, dim) = (self.cross.num_columns, self.blocks.dim);
        let width = p + 1;
        self.shape.lambda(theta, &mut self.lambda);
        self.factor
            .factor(&self.blocks, &self.cross.zz, &self.lambda)?;
        // Λ'Z'[X y], and M⁻¹ times it.
        let mut scaled = self.cross.zx.clone();
        // Without effects there are no columns.
        for column in scaled.chunks_exact_mut(dim.max(1)) {
            self.blocks.scale_transposed(&self.lambda, column);
        }
        self.solved.copy_from_slice(&scaled);
        self.factor.solve(&mut self.solved);
        let mut schur = self.cross.xx.clone();
        for i in 0..width {
            for j in 0..=i {
                let part = dot(
                    &scaled[i * dim..(i + 1) * dim],
                    &self.solved[j * dim..(j + 1) * dim],
                );
                schur[i * width + j] -= part;
            }
        }
        let mut xvx = vec![0.0; p * p];
        for i in 0..p {
            for j in 0..=i {
                xvx[i * p + j] = schur[i * width + j];
                xvx[j * p + i] = schur[i * width + j];
            }
        }
        self.fixed.factor(&xvx)?;
        let xvy = &schur[p * width..p * width + p];
        self.beta.copy_from_slice(xvy);
        self.fixed.solve(&mut self.beta);
        self.residual = schur[p * width + p] - dot(xvy, &self.beta);
        if self.residual.is_nan() || self.residual <= 0.0 {
            return Err(NotPositiveDefinite);
        }
        self.u.copy_from_slice(&self.solved[p * dim..]);
        for (j, beta) in self.beta.iter().enumerate() {
            for (u, b) in self.u.iter_mut().zip(&self.solved[j * dim..(j + 1) * dim]) {
                *u -= beta * b;
            }
        }
        let degrees = self.degrees();
        let mut deviance = self.factor.log_det()
            + degrees * (1.0 + (std::f64::consts::TAU * self.residual / degrees).ln());
        if self.criterion == Criterion::Reml {
            // Of the columns as they are: the criterion depends on their units.
            let units: f64 = self.data.scaling.scale.iter().map(|s| 2.0 * s.ln()).sum();
            deviance += self.fixed.log_det() + units;
        }
        Ok(deviance)
    }

    /// d(θ) and its gradient.
    pub(crate) fn deviance_and_gradient(&mut self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let deviance = self.deviance(theta);
        if !deviance.is_finite() {
            grad.fill(0.0);
            return f64::INFINITY;
        }
        let (p, dim) = (self.cross.num_columns, self.blocks.dim);
        let mut sums = self.shape.zeros();
        self.factor.selected_inverse(&mut self.inverse);
        add_trace(
            &self.blocks,
            &self.cross.zz,
            &self.lambda,
            &self.inverse,
            &mut sums,
        );
        let score = self.score();
        let degrees = self.degrees();
        self.blocks
            .add_outer(-2.0 * degrees / self.residual, &score, &self.u, &mut sums);
        if self.criterion == Criterion::Reml {
            // Columns of W and of (X'V⁻¹X)⁻¹B' = rows, one fixed effect at a time.
            let covariance = self.fixed.inverse();
            let (mut scaled, mut product) = (vec![0.0; dim], vec![0.0; dim]);
            for j in 0..p {
                scaled.copy_from_slice(&self.solved[j * dim..(j + 1) * dim]);
                self.blocks.scale(&self.lambda, &mut scaled);
                self.blocks.multiply(&self.cross.zz, &scaled, &mut product);
                for (w, zx) in product.iter_mut().zip(&self.cross.zx[j * dim..]) {
                    *w = zx - *w;
                }
                scaled.fill(0.0);
                for k in 0..p {
                    let factor = covariance[j * p + k];
                    for (out, b) in scaled.iter_mut().zip(&self.solved[k * dim..(k + 1) * dim]) {
                        *out += factor * b;
                    }
                }
                self.blocks.add_outer(-2.0, &product, &scaled, &mut sums);
            }
        }
        self.shape.pick(&sums, grad);
        deviance
    }

    /// Z'We at the present solution, e the residuals.
    fn score(&self) -> Vec<f64> {
        let (p, dim) = (self.cross.num_columns, self.blocks.dim);
        let b = self.effects();
        let mut out = vec![0.0; dim];
        self.blocks.multiply(&self.cross.zz, &b, &mut out);
        for (out, zy) in out.iter_mut().zip(&self.cross.zx[p * dim..]) {
            *out = zy - *out;
        }
        for (j, beta) in self.beta.iter().enumerate() {
            let column = &self.cross.zx[j * dim..(j + 1) * dim];
            for (out, zx) in out.iter_mut().zip(column) {
                *out -= beta * zx;
            }
        }
        out
    }

    /// b = Λu, the conditional modes of all effects for scaled columns.
    pub fn effects(&self) -> Vec<f64> {
        let mut b = self.u.clone();
        self.blocks.scale(&self.lambda, &mut b);
        b
    }
}

/// ADDS 2 Σ_groups (AΛM⁻¹) at the groups' own blocks, the gradient of log|M| in Λ, to one matrix per term.
pub(super) fn add_trace(
    blocks: &Blocks,
    a: &[f64],
    lambda: &[Vec<f64>],
    inverse: &[f64],
    out: &mut [Vec<f64>],
) {
    for pair in &blocks.pairs {
        let (s, t) = (pair.s, pair.t);
        let (q_s, q_t) = (blocks.width[s], blocks.width[t]);
        // Σ_blocks A_ki M⁻¹_lj for all (k, i, l, j); Λ does not change from group to group.
        for block in 0..pair.groups.len() {
            let from = pair.offset + block * q_s * q_t;
            let (a, inverse) = (&a[from..from + q_s * q_t], &inverse[from..from + q_s * q_t]);
            // Rows of t: A_ts Λ_s (M⁻¹)_st.
            for i in 0..q_t {
                for k in 0..q_s {
                    let scaled: f64 = (k..q_s)
                        .map(|l| a[i * q_s + l] * lambda[s][l * q_s + k])
                        .sum();
                    for j in 0..q_t {
                        out[t][i * q_t + j] += 2.0 * scaled * inverse[j * q_s + k];
                    }
                }
            }
            if s != t {
                // Rows of s: A_st Λ_t (M⁻¹)_ts.
                for i in 0..q_s {
                    for k in 0..q_t {
                        let scaled: f64 = (k..q_t)
                            .map(|l| a[l * q_s + i] * lambda[t][l * q_t + k])
                            .sum();
                        for j in 0..q_s {
                            out[s][i * q_s + j] += 2.0 * scaled * inverse[k * q_s + j];
                        }
                    }
                }
            }
        }
    }
}
