//! One group term: effects of groups, their standard deviations and correlations.
//!
//! The effects of group g are r_g = D L z_g with D = diag(sd), L the Cholesky factor of the correlation matrix and
//! z_g ~ N(0, I). Non-centred, the coordinates are z_g; centred, they are r_g ~ N(0, D L L' D), turned as
//! [`super::frame`] says; each group is one or the other.
//!
//! L is made of canonical partial correlations y_jk = tanh(c_jk), k < j (Lewandowski, Kurowicka and Joe 2009):
//! L_jk = y_jk Π_{l<k} sqrt(1 − y_jl²), L_jj = Π_{l<j} sqrt(1 − y_jl²). Under LKJ(η) the y_jk are independent, symmetric
//! beta with both parameters η + (q − 2 − k)/2 on (−1, 1), counted from k = 0; with the Jacobian of tanh the log density of c_jk is
//! −2 (η + (q − 2 − k)/2) log cosh c_jk.

use std::ops::Range;

use rand::RngExt as _;
use rand_distr::{Gamma, StandardNormal};
use statrs::function::gamma::ln_gamma;

use crate::positive::Positive;
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;

/// Most effects per group of one term: matrices of this size live on the stack.
pub const MAX_EFFECTS: usize = 8;
/// Correlations of [`MAX_EFFECTS`] effects.
pub const MAX_CORRELATIONS: usize = MAX_EFFECTS * (MAX_EFFECTS - 1) / 2;

/// A q×q lower triangle, row-major with stride [`MAX_EFFECTS`].
pub type Lower = [[f64; MAX_EFFECTS]; MAX_EFFECTS];

/// A group term of a mixed model.
#[derive(Clone, Debug)]
pub struct GroupTerm {
    /// Name of the grouping.
    pub group: String,
    /// Names of the q effects.
    pub names: Vec<String>,
    /// Names of the groups.
    pub levels: Vec<String>,
    /// Group of each row (N).
    pub index: Vec<u32>,
    /// Row-major N×q.
    pub z: Vec<f64>,
    /// Reported effects are internal ones times these (q).
    pub units: Vec<f64>,
    /// Whether effects of a group are correlated.
    pub correlated: bool,
    /// By group: whether its coordinates are the effects themselves.
    pub centred: Vec<bool>,
    /// Parameter η of the prior of correlations.
    pub eta: f64,
    /// Standard deviations (q).
    pub sds: Vec<Positive>,
    /// Where the term's q log sds and correlations are in u.
    pub scales: Range<usize>,
    /// Where the term's coordinates of effects are in u, group by group.
    pub effects: Range<usize>,
    /// Where the term's effects are among those of all terms.
    pub start: usize,
}

/// log cosh x without overflow.
fn log_cosh(x: f64) -> f64 {
    let x = x.abs();
    x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2
}

/// How the effects of a group may depend on each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// q.
    pub width: usize,
    /// Whether the effects are correlated.
    pub correlated: bool,
}

/// The covariance of the effects of a group, D L L' D.
pub(super) struct Factor {
    shape: Shape,
    /// Standard deviations.
    pub sds: [f64; MAX_EFFECTS],
    /// L.
    pub lower: Lower,
    /// tanh and cosh of the correlations' coordinates.
    hyperbolic: [[f64; 2]; MAX_CORRELATIONS],
}

impl Shape {
    /// At the coordinates `scales` of a term.
    pub fn factor(self, scales: &[f64]) -> Factor {
        let q = self.width;
        let mut sds = [0.0; MAX_EFFECTS];
        for (sd, u) in sds.iter_mut().zip(&scales[..q]) {
            *sd = u.exp();
        }
        let mut hyperbolic = [[0.0; 2]; MAX_CORRELATIONS];
        for (pair, c) in hyperbolic.iter_mut().zip(&scales[q..]) {
            *pair = [c.tanh(), c.cosh()];
        }
        let mut lower = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        let mut next = hyperbolic.iter();
        for (j, row) in lower.iter_mut().enumerate().take(q) {
            let mut rest = 1.0;
            if self.correlated {
                for (entry, [tanh, cosh]) in row[..j].iter_mut().zip(&mut next) {
                    *entry = tanh * rest;
                    // 1 − tanh² = 1/cosh², which keeps its digits.
                    rest /= cosh;
                }
            }
            row[j] = rest;
        }
        Factor {
            shape: self,
            sds,
            lower,
            hyperbolic,
        }
    }
}

impl Factor {
    /// Turns the gradient in the entries of L into that in the correlations' coordinates, ADDED to `grad` (that of scales).
    pub(crate) fn pull_back(&self, by_entry: &Lower, grad: &mut [f64]) {
        let Shape { width, correlated } = self.shape;
        if !correlated {
            return;
        }
        let lower = &self.lower;
        let mut slopes = grad[width..].iter_mut().zip(&self.hyperbolic);
        for j in 1..width {
            // Σ over entries to the right of k of gradient times entry.
            let mut right: [f64; MAX_EFFECTS] = [0.0; MAX_EFFECTS];
            let mut sum = by_entry[j][j] * lower[j][j];
            for k in (0..j).rev() {
                right[k] = sum;
                sum += by_entry[j][k] * lower[j][k];
            }
            let mut rest = 1.0;
            for ((by_entry, right), (slope, [tanh, cosh])) in
                by_entry[j][..j].iter().zip(right).zip(&mut slopes)
            {
                let sech = 1.0 / cosh;
                *slope += by_entry * rest * sech * sech - tanh * right;
                rest *= sech;
            }
        }
    }

    /// log N(r | 0, D L L' D) without its constant; ADDS its gradients in scales and r.
    fn log_density_of_group(
        &self,
        scales: &[f64],
        r: &[f64],
        by_scale: &mut [f64],
        by_effect: &mut [f64],
    ) -> f64 {
        let q = self.shape.width;
        let Self { sds, lower, .. } = self;
        // w = L⁻¹ D⁻¹ r, t = L⁻ᵀ w.
        let mut w = [0.0; MAX_EFFECTS];
        let mut value = 0.0;
        for j in 0..q {
            let sum: f64 = (0..j).map(|k| lower[j][k] * w[k]).sum();
            w[j] = (r[j] / sds[j] - sum) / lower[j][j];
            value -= 0.5 * w[j] * w[j] + scales[j] + lower[j][j].ln();
        }
        let mut t = [0.0; MAX_EFFECTS];
        for j in (0..q).rev() {
            let sum: f64 = (j + 1..q).map(|k| lower[k][j] * t[k]).sum();
            t[j] = (w[j] - sum) / lower[j][j];
        }
        let mut by_entry = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        for j in 0..q {
            let slope = t[j] / sds[j];
            by_effect[j] -= slope;
            by_scale[j] += slope * r[j] - 1.0;
            for k in 0..=j {
                by_entry[j][k] = t[j] * w[k];
            }
            by_entry[j][j] -= 1.0 / lower[j][j];
        }
        self.pull_back(&by_entry, by_scale);
        value
    }
}

impl GroupTerm {
    /// q.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Groups whose coordinates are the effects themselves.
    pub fn num_centred(&self) -> usize {
        self.centred.iter().filter(|&&centred| centred).count()
    }

    /// Number of correlations.
    pub(crate) fn num_correlations(&self) -> usize {
        if self.correlated {
            self.width() * (self.width() - 1) / 2
        } else {
            0
        }
    }

    /// The effect columns of row `i` and where its effects are among those of all terms.
    #[inline]
    pub fn row(&self, i: usize) -> (&[f64], usize) {
        let q = self.width();
        (
            &self.z[i * q..(i + 1) * q],
            self.start + self.index[i] as usize * q,
        )
    }

    /// Pairs (j, k), k < j, in the order of correlations in u and in reports.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let q = if self.correlated { self.width() } else { 0 };
        (1..q).flat_map(|j| (0..j).map(move |k| (j, k)))
    }

    /// Exponent of 1 − y² in the prior of the partial correlation (j, k), with the Jacobian.
    fn exponent(&self, k: usize) -> f64 {
        self.eta + 0.5 * (self.width() as f64 - 2.0 - k as f64)
    }

    /// Standard deviations and L at the coordinates `scales`.
    pub fn factor(&self, scales: &[f64]) -> ([f64; MAX_EFFECTS], Lower) {
        let factor = self.shape().factor(scales);
        (factor.sds, factor.lower)
    }

    /// How effects of a group may depend on each other.
    pub(super) fn shape(&self) -> Shape {
        Shape {
            width: self.width(),
            correlated: self.correlated,
        }
    }

    /// D L at u, q × q, row-major: the factor of the effects' covariance.
    pub(crate) fn covariance_factor(&self, u: &[f64]) -> Vec<f64> {
        let q = self.width();
        let (sds, lower) = self.factor(&u[self.scales.clone()]);
        let rows = sds.iter().zip(&lower).take(q);
        rows.flat_map(|(sd, row)| row[..q].iter().map(move |entry| sd * entry))
            .collect()
    }

    /// Effects of all groups from u, into their place among those of all terms.
    pub fn write_effects(&self, u: &[f64], effects: &mut [f64]) {
        let q = self.width();
        let out = &mut effects[self.start..][..self.effects.len()];
        let coordinates = &u[self.effects.clone()];
        let (sds, lower) = self.factor(&u[self.scales.clone()]);
        let groups = out.chunks_exact_mut(q).zip(coordinates.chunks_exact(q));
        for ((r, z), centred) in groups.zip(&self.centred) {
            if *centred {
                r.copy_from_slice(z);
                continue;
            }
            for j in 0..q {
                let sum: f64 = (0..=j).map(|k| lower[j][k] * z[k]).sum();
                r[j] = sds[j] * sum;
            }
        }
    }

    /// Coordinates of effects in u from the effects of all terms; scales must be in place.
    pub fn read_effects(&self, effects: &[f64], u: &mut [f64]) {
        let q = self.width();
        let given = &effects[self.start..][..self.effects.len()];
        let (sds, lower) = self.factor(&u[self.scales.clone()]);
        let coordinates = u[self.effects.clone()].chunks_exact_mut(q);
        for ((z, r), centred) in coordinates.zip(given.chunks_exact(q)).zip(&self.centred) {
            if *centred {
                z.copy_from_slice(r);
                continue;
            }
            for j in 0..q {
                let sum: f64 = (0..j).map(|k| lower[j][k] * z[k]).sum();
                z[j] = (r[j] / sds[j] - sum) / lower[j][j];
            }
        }
    }

    /// Draws scales and effects from the prior into their places in `u`; `None` where a prior is flat.
    pub(crate) fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Option<()> {
        let (q, at) = (self.width(), self.scales.start);
        for (u, sd) in u[at..].iter_mut().zip(&self.sds) {
            *u = sd.draw(rng)?;
        }
        for (m, (_j, k)) in self.pairs().enumerate() {
            // With y = 2b − 1 and b ~ Beta(a, a), c = artanh y is half the log odds of b.
            let gamma = Gamma::new(self.exponent(k), 1.0).ok()?;
            let [up, down]: [f64; 2] = [rng.sample(gamma), rng.sample(gamma)];
            u[at + q + m] = 0.5 * (up.ln() - down.ln());
        }
        for z in &mut u[self.effects.clone()] {
            *z = rng.sample(StandardNormal);
        }
        if self.num_centred() > 0 {
            let (sds, lower) = self.factor(&u[self.scales.clone()]);
            let groups = u[self.effects.clone()].chunks_exact_mut(q);
            for (group, _) in groups.zip(&self.centred).filter(|(_, centred)| **centred) {
                // From the last effect, which needs all others as they were drawn.
                for j in (0..q).rev() {
                    let sum: f64 = (0..=j).map(|k| lower[j][k] * group[k]).sum();
                    group[j] = sds[j] * sum;
                }
            }
        }
        Some(())
    }

    /// ADDS `factor` times the gradient in u to `grad`, given the gradient `by_effect` in the effects of all terms.
    pub(crate) fn pull_back(&self, u: &[f64], by_effect: &[f64], factor: f64, grad: &mut [f64]) {
        let q = self.width();
        let slopes = &by_effect[self.start..][..self.effects.len()];
        let covariance = self.shape().factor(&u[self.scales.clone()]);
        let Factor { sds, lower, .. } = &covariance;
        let mut by_entry = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        let mut by_scale = [0.0; MAX_EFFECTS + MAX_CORRELATIONS];
        for (((out, slope), z), centred) in grad[self.effects.clone()]
            .chunks_exact_mut(q)
            .zip(slopes.chunks_exact(q))
            .zip(u[self.effects.clone()].chunks_exact(q))
            .zip(&self.centred)
        {
            if *centred {
                axpy(factor, slope, out);
                continue;
            }
            for j in 0..q {
                let scaled = factor * slope[j] * sds[j];
                for k in 0..=j {
                    out[k] += scaled * lower[j][k];
                    by_entry[j][k] += scaled * z[k];
                    by_scale[j] += scaled * lower[j][k] * z[k];
                }
            }
        }
        covariance.pull_back(&by_entry, &mut by_scale);
        for (grad, slope) in grad[self.scales.clone()].iter_mut().zip(by_scale) {
            *grad += slope;
        }
    }

    /// The log prior of the coordinates `scales`, up to a constant.
    pub fn log_prior_of_scales(&self, scales: &[f64]) -> f64 {
        let q = self.width();
        let sds = self.sds.iter().zip(scales);
        let mut value: f64 = sds.map(|(sd, &u)| sd.log_prior(u)[0]).sum();
        for ((_j, k), &c) in self.pairs().zip(&scales[q..]) {
            value -= 2.0 * self.exponent(k) * log_cosh(c);
        }
        value
    }

    /// The log prior of scales and effects; overwrites its gradient in their coordinates.
    pub fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let q = self.width();
        let mut value = 0.0;
        let at = self.scales.start;
        for (j, sd) in self.sds.iter().enumerate() {
            let [log_p, slope, _second] = sd.log_prior(u[at + j]);
            value += log_p;
            grad[at + j] = slope;
        }
        for (m, (_j, k)) in self.pairs().enumerate() {
            let (c, exponent) = (u[at + q + m], 2.0 * self.exponent(k));
            value -= exponent * log_cosh(c);
            grad[at + q + m] = -exponent * c.tanh();
        }
        let scales = &u[self.scales.clone()];
        let factor = self.shape().factor(scales);
        let (before, after) = grad.split_at_mut(self.effects.start);
        let by_scale = &mut before[self.scales.clone()];
        for ((slope, r), centred) in after[..self.effects.len()]
            .chunks_exact_mut(q)
            .zip(u[self.effects.clone()].chunks_exact(q))
            .zip(&self.centred)
        {
            if !centred {
                for (slope, z) in slope.iter_mut().zip(r) {
                    value -= 0.5 * z * z;
                    *slope = -z;
                }
                continue;
            }
            slope.fill(0.0);
            value += factor.log_density_of_group(scales, r, by_scale, slope);
        }
        value
    }

    /// Log density of the priors of standard deviations and of the correlation matrix R, which is |R|^(η − 1).
    pub fn log_prior_density(&self, u: &[f64]) -> f64 {
        let at = self.scales.start;
        let of_sds: f64 = (self.sds.iter().zip(&u[at..]))
            .map(|(sd, &u)| sd.log_prior(u)[0] - u)
            .sum();
        // |R| is the product of all 1 − y².
        let correlations = &u[at + self.width()..self.scales.end];
        let log_det: f64 = correlations.iter().map(|&c| -2.0 * log_cosh(c)).sum();
        of_sds + (self.eta - 1.0) * log_det
    }

    /// −∂²/∂u² of the log prior, ADDED to `hessian` (`dim` × `dim`). That of centred effects by central differences.
    pub fn add_neg_hessian_log_prior(&self, u: &[f64], dim: usize, hessian: &mut [f64]) {
        let q = self.width();
        let at = self.scales.start;
        for (j, sd) in self.sds.iter().enumerate() {
            hessian[(at + j) * (dim + 1)] -= sd.log_prior(u[at + j])[2];
        }
        for (m, (_j, k)) in self.pairs().enumerate() {
            let j = at + q + m;
            hessian[j * (dim + 1)] += 2.0 * self.exponent(k) / u[j].cosh().powi(2);
        }
        const LOCAL: usize = MAX_EFFECTS + MAX_CORRELATIONS + MAX_EFFECTS;
        const STEP: f64 = 1e-5;
        let s = self.scales.len();
        for (first, centred) in self.effects.clone().step_by(q).zip(&self.centred) {
            if !centred {
                for j in first..first + q {
                    hessian[j * (dim + 1)] += 1.0;
                }
                continue;
            }
            let place = |a: usize| if a < s { at + a } else { first + a - s };
            let mut local = [0.0; LOCAL];
            for (a, value) in local.iter_mut().enumerate().take(s + q) {
                *value = u[place(a)];
            }
            let slopes = |local: &[f64; LOCAL]| {
                let mut out = [0.0; LOCAL];
                let (by_scale, by_effect) = out.split_at_mut(s);
                let factor = self.shape().factor(&local[..s]);
                factor.log_density_of_group(&local[..s], &local[s..s + q], by_scale, by_effect);
                out
            };
            for a in 0..s + q {
                let centre = local[a];
                local[a] = centre + STEP;
                let above = slopes(&local);
                local[a] = centre - STEP;
                let below = slopes(&local);
                local[a] = centre;
                for b in 0..s + q {
                    let second = 0.25 * (below[b] - above[b]) / STEP;
                    hessian[place(a) * dim + place(b)] += second;
                    hessian[place(b) * dim + place(a)] += second;
                }
            }
        }
    }

    /// Correlations in the order of [`Self::pairs`].
    pub(crate) fn write_correlations(&self, u: &[f64], out: &mut [f64]) {
        let (_sds, lower) = self.factor(&u[self.scales.clone()]);
        for (out, (j, k)) in out.iter_mut().zip(self.pairs()) {
            *out = (0..=k).map(|l| lower[j][l] * lower[k][l]).sum();
        }
    }

    /// Coordinates of correlations in u from the correlations; not finite where they are not those of a distribution that
    /// varies in all directions.
    pub(crate) fn read_correlations(&self, correlations: &[f64], u: &mut [f64]) {
        let mut lower = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        lower[0][0] = 1.0;
        let mut next = 0;
        let at = self.scales.start + self.width();
        for j in 1..if self.correlated { self.width() } else { 0 } {
            let mut rest: f64 = 1.0;
            for k in 0..j {
                let known: f64 = (0..k).map(|l| lower[j][l] * lower[k][l]).sum();
                lower[j][k] = (correlations[next] - known) / lower[k][k];
                u[at + next] = (lower[j][k] / rest.sqrt()).atanh();
                rest -= lower[j][k] * lower[j][k];
                next += 1;
            }
            lower[j][j] = rest.sqrt();
        }
    }

    /// Prior density of a correlation: every correlation of LKJ(η) is symmetric beta on (−1, 1).
    pub(crate) fn correlation_density(&self, value: f64) -> f64 {
        if value.abs() >= 1.0 {
            return 0.0;
        }
        let a = self.eta - 1.0 + 0.5 * self.width() as f64;
        let log_constant =
            ln_gamma(2.0 * a) - 2.0 * ln_gamma(a) - (2.0 * a - 1.0) * std::f64::consts::LN_2;
        (log_constant + (a - 1.0) * (-value * value).ln_1p()).exp()
    }
}
