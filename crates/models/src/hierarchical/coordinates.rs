//! The unconstrained coordinates of the hierarchical model, and its prior on them.
//!
//! u = (μ, L, w_1, …, w_G): μ (P); the lower factor of Σ = L L' by rows with logarithms on the diagonal, ℓ_i = log L_ii
//! (P(P+1)/2); and P numbers per group. Non-centred: w_g = z_g ~ N(0, I) with θ_g = μ + L z_g. Centred: w_g = θ_g.
//!
//! Volume of Σ ↦ L ↦ (ℓ, off-diagonal): |∂Σ/∂L| = 2^P Π L_ii^{P−i} (i from 0), and dL_ii = L_ii dℓ_i. With the
//! inverse-Wishart density |L|^{−(ν+P+1)} exp(−‖L⁻¹C‖²/2), Φ = C C', the exponent of L_ii is −(ν + i).
//!
//! Every other part is −½‖L⁻¹v‖² for a vector v: the columns of C, sqrt(λ)(μ − m), and θ_g − μ where centred. With
//! a = L⁻¹v and s = L⁻ᵀa its gradient is s a' in L and −s in v; its curvature is in [`Layout::add_neg_hessian`].

use std::ops::Range;

use crate::numerics::wishart::NormalInverseWishart;
use ergodic_base::linalg::{Cholesky, dot};

/// Most terms that vary by group: working memory of densities is on the stack, and a covariance of this many would need
/// thousands of groups.
pub(super) const MAX_TERMS: usize = 64;

/// A vector of at most [`MAX_TERMS`] numbers.
type Terms = [f64; MAX_TERMS];
/// A matrix of at most as many rows, each in one of these.
type Matrix = [Terms; MAX_TERMS];

/// Where what stands in u.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// P.
    pub terms: usize,
    /// G.
    pub groups: usize,
    /// Whether w_g is θ_g itself.
    pub centred: bool,
}

/// The prior with what its density needs.
#[derive(Clone, Debug)]
pub(super) struct PopulationPrior {
    /// m, λ, ν, Φ.
    pub niw: NormalInverseWishart,
    /// C with Φ = C C', row-major P×P.
    scale_factor: Vec<f64>,
}

impl PopulationPrior {
    /// `None` where Φ is not positive definite.
    pub fn new(niw: NormalInverseWishart) -> Option<Self> {
        let factor = Cholesky::of(&niw.scale, niw.dim()).ok()?;
        Some(Self {
            scale_factor: factor.lower().to_vec(),
            niw,
        })
    }
}

/// L as it stands in u, with the exponentials of its diagonal.
struct Lower<'a> {
    /// The P(P+1)/2 coordinates.
    entries: &'a [f64],
    diagonal: Terms,
    dim: usize,
}

impl Lower<'_> {
    /// Entries of row i below the diagonal.
    fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * (i + 1) / 2..][..i]
    }

    /// x ← L⁻¹ x.
    fn solve(&self, x: &mut [f64]) {
        for i in 0..self.dim {
            x[i] = (x[i] - dot(self.row(i), &x[..i])) / self.diagonal[i];
        }
    }

    /// x ← L⁻ᵀ x.
    fn solve_transpose(&self, x: &mut [f64]) {
        for i in (0..self.dim).rev() {
            x[i] /= self.diagonal[i];
            let x_i = x[i];
            for (x, l) in x.iter_mut().zip(self.row(i)) {
                *x -= x_i * l;
            }
        }
    }

    /// Turns v in `v` into a = L⁻¹v and returns s = L⁻ᵀa; ADDS s a' to the gradient of the coordinates of L.
    fn whiten(&self, v: &mut [f64], weight: f64, grad: &mut [f64]) -> Terms {
        self.solve(v);
        let mut s = [0.0; MAX_TERMS];
        s[..self.dim].copy_from_slice(v);
        self.solve_transpose(&mut s[..self.dim]);
        for i in 0..self.dim {
            let row = &mut grad[i * (i + 1) / 2..][..=i];
            for (grad, a) in row.iter_mut().zip(&*v).take(i) {
                *grad += weight * s[i] * a;
            }
            row[i] += weight * s[i] * v[i] * self.diagonal[i];
        }
        s
    }
}

impl Layout {
    /// Coordinates of L.
    pub fn factor_len(&self) -> usize {
        self.terms * (self.terms + 1) / 2
    }

    /// D.
    pub fn dim(&self) -> usize {
        self.terms + self.factor_len() + self.groups * self.terms
    }

    /// Where the coordinates of L are.
    pub fn factor(&self) -> Range<usize> {
        self.terms..self.terms + self.factor_len()
    }

    /// Where L_ij (j ≤ i) is.
    pub fn entry(&self, i: usize, j: usize) -> usize {
        self.terms + i * (i + 1) / 2 + j
    }

    /// Where w_g is.
    pub fn group(&self, g: usize) -> Range<usize> {
        let start = self.terms + self.factor_len() + g * self.terms;
        start..start + self.terms
    }

    fn lower<'a>(&self, u: &'a [f64]) -> Lower<'a> {
        let mut diagonal = [0.0; MAX_TERMS];
        for (i, diagonal) in diagonal.iter_mut().enumerate().take(self.terms) {
            *diagonal = u[self.entry(i, i)].exp();
        }
        Lower {
            entries: &u[self.factor()],
            diagonal,
            dim: self.terms,
        }
    }

    /// Writes L at `u` (P×P, zeros above the diagonal).
    pub fn write_lower(&self, u: &[f64], lower: &mut [f64]) {
        for (i, row) in lower.chunks_exact_mut(self.terms).enumerate() {
            row.fill(0.0);
            row[..=i].copy_from_slice(&u[self.entry(i, 0)..][..=i]);
            row[i] = row[i].exp();
        }
    }

    /// Writes θ_g (P) from w_g and the `lower` factor.
    pub fn write_theta(&self, u: &[f64], lower: &[f64], g: usize, theta: &mut [f64]) {
        let w = &u[self.group(g)];
        if self.centred {
            theta.copy_from_slice(w);
            return;
        }
        for (i, row) in lower.chunks_exact(self.terms).enumerate() {
            theta[i] = u[i] + dot(&row[..=i], &w[..=i]);
        }
    }

    /// Writes μ and L (as for [`Self::write_lower`]) into `u`.
    pub fn read_population(&self, mu: &[f64], lower: &[f64], u: &mut [f64]) {
        u[..self.terms].copy_from_slice(mu);
        for (i, row) in lower.chunks_exact(self.terms).enumerate() {
            let out = &mut u[self.entry(i, 0)..][..=i];
            out.copy_from_slice(&row[..=i]);
            out[i] = row[i].ln();
        }
    }

    /// Writes w_g into `u`, in which μ and L stand already.
    pub fn read_theta(&self, g: usize, theta: &[f64], u: &mut [f64]) {
        let mut w = [0.0; MAX_TERMS];
        let w = &mut w[..self.terms];
        w.copy_from_slice(theta);
        if !self.centred {
            for (w, mu) in w.iter_mut().zip(&*u) {
                *w -= mu;
            }
            self.lower(u).solve(w);
        }
        u[self.group(g)].copy_from_slice(w);
    }

    /// Turns z_g, standing in the places of w_g, into w_g.
    pub fn read_deviations(&self, u: &mut [f64]) {
        let (mut lower, mut theta) = (vec![0.0; self.terms * self.terms], vec![0.0; self.terms]);
        self.write_lower(u, &mut lower);
        let non_centred = Self {
            centred: false,
            ..*self
        };
        for g in 0..self.groups {
            non_centred.write_theta(u, &lower, g, &mut theta);
            self.read_theta(g, &theta, u);
        }
    }

    /// ADDS to `grad` (D) what the gradient `slope` (P) in θ_g means for u; `lower` is L.
    pub fn pull_back(
        &self,
        u: &[f64],
        lower: &[f64],
        g: usize,
        slope: &[f64],
        sign: f64,
        grad: &mut [f64],
    ) {
        let group = self.group(g);
        if self.centred {
            for (grad, slope) in grad[group].iter_mut().zip(slope) {
                *grad += sign * slope;
            }
            return;
        }
        let w = &u[group.clone()];
        for (i, row) in lower.chunks_exact(self.terms).enumerate() {
            let slope = sign * slope[i];
            grad[i] += slope;
            let entries = &mut grad[self.entry(i, 0)..][..=i];
            for (entry, w) in entries.iter_mut().zip(w).take(i) {
                *entry += slope * w;
            }
            entries[i] += slope * w[i] * row[i];
            for (grad, l) in grad[group.clone()].iter_mut().zip(&row[..=i]) {
                *grad += slope * l;
            }
        }
    }

    /// Log prior of u; overwrites `grad` (D).
    pub fn log_prior(&self, prior: &PopulationPrior, u: &[f64], grad: &mut [f64]) -> f64 {
        let (p, niw) = (self.terms, &prior.niw);
        let lower = self.lower(u);
        grad.fill(0.0);
        let (population, per_group) = grad.split_at_mut(p + self.factor_len());
        let (grad_mu, grad_l) = population.split_at_mut(p);
        // One factor 1/|L| for μ, and one per group where centred.
        let densities = 1.0
            + if self.centred {
                self.groups as f64
            } else {
                0.0
            };
        let mut value = 0.0;
        for i in 0..p {
            let power = niw.dof + i as f64 + densities;
            value -= power * u[self.entry(i, i)];
            grad_l[i * (i + 1) / 2 + i] -= power;
        }
        let mut v = [0.0; MAX_TERMS];
        let v = &mut v[..p];
        for k in 0..p {
            for (i, v) in v.iter_mut().enumerate() {
                *v = prior.scale_factor[i * p + k];
            }
            lower.whiten(v, 1.0, grad_l);
            value -= 0.5 * dot(v, v);
        }
        for (v, (mu, m)) in v.iter_mut().zip(u.iter().zip(&niw.mean)) {
            *v = mu - m;
        }
        let s = lower.whiten(v, niw.strength, grad_l);
        value -= 0.5 * niw.strength * dot(v, v);
        for (grad, s) in grad_mu.iter_mut().zip(&s) {
            *grad -= niw.strength * s;
        }
        for (g, grad_w) in per_group.chunks_exact_mut(p).enumerate() {
            let w = &u[self.group(g)];
            if self.centred {
                for (v, (w, mu)) in v.iter_mut().zip(w.iter().zip(u)) {
                    *v = w - mu;
                }
                let s = lower.whiten(v, 1.0, grad_l);
                value -= 0.5 * dot(v, v);
                for ((grad_w, grad_mu), s) in grad_w.iter_mut().zip(&mut *grad_mu).zip(&s) {
                    *grad_w -= s;
                    *grad_mu += s;
                }
            } else {
                value -= 0.5 * dot(w, w);
                for (grad, w) in grad_w.iter_mut().zip(w) {
                    *grad = -w;
                }
            }
        }
        value
    }

    /// Log density of (μ, Σ) under the prior, without constants.
    pub fn log_prior_density(&self, prior: &PopulationPrior, u: &[f64]) -> f64 {
        let (p, niw) = (self.terms, &prior.niw);
        let lower = self.lower(u);
        let mut v = [0.0; MAX_TERMS];
        let v = &mut v[..p];
        // |Σ| has the power −(ν + P + 1)/2 from Σ and −1/2 from μ.
        let log_det: f64 = (0..p).map(|i| 2.0 * u[self.entry(i, i)]).sum();
        let mut value = -0.5 * (niw.dof + p as f64 + 2.0) * log_det;
        for k in 0..p {
            for (i, v) in v.iter_mut().enumerate() {
                *v = prior.scale_factor[i * p + k];
            }
            lower.solve(v);
            value -= 0.5 * dot(v, v);
        }
        for (v, (mu, m)) in v.iter_mut().zip(u.iter().zip(&niw.mean)) {
            *v = mu - m;
        }
        lower.solve(v);
        value - 0.5 * niw.strength * dot(v, v)
    }

    /// ADDS −∇² of the log prior to `hessian` (D×D).
    ///
    /// For −½‖L⁻¹v‖² with a, s as above, S = Σ⁻¹, K = L⁻¹ and ∂/∂L_ab, ∂/∂L_cd it is
    /// s_a a_d K_bc + a_b a_d S_ac + s_c a_b K_da, with v it is −(s_a K_bj + a_b S_aj), and S in v alone. A logarithm on
    /// the diagonal multiplies by L_aa, and takes s_a a_a L_aa away from its own second derivative.
    pub fn add_neg_hessian(&self, prior: &PopulationPrior, u: &[f64], hessian: &mut [f64]) {
        let (p, dim, niw) = (self.terms, self.dim(), &prior.niw);
        let lower = self.lower(u);
        let mut nothing = [0.0; MAX_TERMS * (MAX_TERMS + 1) / 2];
        let nothing = &mut nothing[..self.factor_len()];
        let (mut inverse, mut precision) =
            ([[0.0; MAX_TERMS]; MAX_TERMS], [[0.0; MAX_TERMS]; MAX_TERMS]);
        for j in 0..p {
            // Column j of L⁻¹ and of Σ⁻¹, kept as rows.
            let mut column = [0.0; MAX_TERMS];
            column[j] = 1.0;
            lower.solve(&mut column[..p]);
            for i in 0..p {
                inverse[i][j] = column[i];
            }
            lower.solve_transpose(&mut column[..p]);
            precision[j] = column;
        }
        let factor_scale = |i: usize, j: usize| if i == j { lower.diagonal[i] } else { 1.0 };
        // Σ weight a a' and Σ weight s a' over all v.
        let (mut aa, mut sa): (Matrix, Matrix) =
            ([[0.0; MAX_TERMS]; MAX_TERMS], [[0.0; MAX_TERMS]; MAX_TERMS]);
        let mut add = |v: &mut [f64], weight: f64| {
            let s = lower.whiten(v, 0.0, nothing);
            for i in 0..p {
                for j in 0..p {
                    aa[i][j] += weight * v[i] * v[j];
                    sa[i][j] += weight * s[i] * v[j];
                }
            }
            s
        };
        // −(s_a K_bj + a_b S_aj), for v at the coordinates from `at`.
        let mixed = |s: &Terms, a: &[f64], weight: f64, at: usize, hessian: &mut [f64]| {
            for i in 0..p {
                for j in 0..=i {
                    let row = self.entry(i, j);
                    for k in 0..p {
                        let entry = -weight
                            * factor_scale(i, j)
                            * (s[i] * inverse[j][k] + a[j] * precision[i][k]);
                        hessian[row * dim + at + k] += entry;
                        hessian[(at + k) * dim + row] += entry;
                    }
                }
            }
        };
        let mut v = [0.0; MAX_TERMS];
        let v = &mut v[..p];
        for k in 0..p {
            for (i, v) in v.iter_mut().enumerate() {
                *v = prior.scale_factor[i * p + k];
            }
            add(v, 1.0);
        }
        for (v, (mu, m)) in v.iter_mut().zip(u.iter().zip(&niw.mean)) {
            *v = mu - m;
        }
        let s = add(v, niw.strength);
        mixed(&s, v, niw.strength, 0, hessian);
        let mut curvature_of_mu = niw.strength;
        for g in 0..self.groups {
            let at = self.group(g);
            if !self.centred {
                for k in at {
                    hessian[k * dim + k] += 1.0;
                }
                continue;
            }
            for (v, (w, mu)) in v.iter_mut().zip(u[at.clone()].iter().zip(u)) {
                *v = w - mu;
            }
            let s = add(v, 1.0);
            mixed(&s, v, 1.0, at.start, hessian);
            mixed(&s, v, -1.0, 0, hessian);
            curvature_of_mu += 1.0;
            for i in 0..p {
                for j in 0..p {
                    hessian[(at.start + i) * dim + at.start + j] += precision[i][j];
                    hessian[(at.start + i) * dim + j] -= precision[i][j];
                    hessian[i * dim + at.start + j] -= precision[i][j];
                }
            }
        }
        for i in 0..p {
            for j in 0..p {
                hessian[i * dim + j] += curvature_of_mu * precision[i][j];
            }
        }
        for a in 0..p {
            for b in 0..=a {
                let row = self.entry(a, b);
                for c in 0..p {
                    for d in 0..=c {
                        let sum = sa[a][d] * inverse[b][c]
                            + aa[b][d] * precision[a][c]
                            + sa[c][b] * inverse[d][a];
                        hessian[row * dim + self.entry(c, d)] +=
                            factor_scale(a, b) * factor_scale(c, d) * sum;
                    }
                }
            }
            let row = self.entry(a, a);
            hessian[row * dim + row] -= sa[a][a] * lower.diagonal[a];
        }
    }
}
