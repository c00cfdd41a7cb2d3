//! Draws of subposteriors, combined into draws of an approximation to their product.
//!
//! With draws θ_{s1} … θ_{sM} of shard s, their mean μ_s and covariance Σ_s, and S shards:
//!
//! | method | rule | source |
//! |---|---|---|
//! | consensus | θ_i = (Σ W_s)⁻¹ Σ W_s θ_{si}, W_s = Σ_s⁻¹ | Scott et al. 2016, equation 4; Baker 2018, equation 2.4.5 |
//! | normal | θ_i ~ N(μ, Σ), Σ⁻¹ = Σ Σ_s⁻¹, μ = Σ (Σ Σ_s⁻¹ μ_s) | Neiswanger, Wang and Xing 2014, section 3.1 |
//! | nonparametric, semiparametric | a product of kernel density estimates | [`super::kernel_product`] |
//! | weierstrass | pairs of draws that lie close together, averaged | [`super::weierstrass`] |
//!
//! The first two are exact for normal subposteriors as M grows; consensus keeps some of the shape of the draws. Baker (2018,
//! section 2.4.2) says that the product of densities has O(SM) components; it has M^S (Neiswanger et al. 2014, equation 3.4).
//!
//! Of skewed subposteriors, averages and products of normal densities are off also as M grows. Where each shard has the S-th root of the
//! posterior, as if their rows were alike, its mean is S times as far from the common mode as that of the posterior, to
//! first order: the combination is off by S − 1 times the distance of mean and mode. Shards whose modes differ as their rows do by chance
//! cancel this on average, and leave errors of the order √(2(S − 1)) times that distance.
//!
//! Everything happens on the unconstrained scale, in memory that is made once.

use rand_distr::{Distribution as _, StandardNormal};

use super::kernel_product::KernelProduct;
use super::moments::{Moments, split_rhat};
use super::weierstrass::Weierstrass;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot};

ergodic_base::choice! {
    /// How draws of subposteriors are combined.
    pub enum Combine {
        /// Averages weighted by inverse covariances.
        Consensus = "consensus",
        /// The product of normal approximations.
        Normal = "normal",
        /// The product of kernel density estimates.
        Nonparametric = "nonparametric",
        /// The product of normal approximations, corrected by kernel density estimates.
        Semiparametric = "semiparametric",
        /// Averages of pairs of draws that lie close together, shard by shard.
        Weierstrass = "weierstrass",
    }
}

/// A method with its settings.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    /// The method.
    pub method: Combine,
    /// Width of kernels, in units of the rule for normal densities.
    pub bandwidth: f64,
    /// Passes over the indices of all shards for a draw from a product of kernel density estimates.
    pub sweeps: usize,
    /// Share of pairs that the Weierstrass sampler keeps.
    pub accept: f64,
}

/// Combines draws of `shards` subposteriors of D dimensions, at most `most` of each.
pub(crate) struct Combiner {
    dim: usize,
    shards: usize,
    /// Draws of each shard that there is room for.
    most: usize,
    method: Combine,
    /// Shards one after the other, each row-major M×D; overwritten while they are combined.
    draws: Vec<f64>,
    moments: Vec<Moments>,
    /// Inverse of the covariance of the product of normal approximations, and its factor.
    precision: Vec<f64>,
    factor: Cholesky,
    /// Mean of that product.
    mean: Vec<f64>,
    /// Of each shard the mean and the variance of every coordinate (S×2×D).
    told: Vec<f64>,
    product: Option<KernelProduct>,
    weierstrass: Option<Weierstrass>,
}

/// What combining tells besides draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Combined {
    /// Largest split R-hat over coordinates and shards of the draws that were combined.
    pub rhat: f64,
    /// Share of proposals accepted; NaN for methods without proposals.
    pub accept: f64,
}

impl Combiner {
    /// Memory for `most` draws of each of `shards` shards in `dim` dimensions.
    pub fn new(combination: &Combination, shards: usize, dim: usize, most: usize) -> Self {
        let product = match combination.method {
            Combine::Nonparametric => Some(false),
            Combine::Semiparametric => Some(true),
            Combine::Consensus | Combine::Normal | Combine::Weierstrass => None,
        };
        let product = product.map(|corrected| {
            let Combination {
                bandwidth, sweeps, ..
            } = *combination;
            KernelProduct::new(corrected, bandwidth, sweeps, (shards, dim, most))
        });
        let weierstrass = (combination.method == Combine::Weierstrass)
            .then(|| Weierstrass::new(combination.accept, dim, most));
        Self {
            dim,
            shards,
            most,
            method: combination.method,
            draws: vec![0.0; shards * most * dim],
            moments: (0..shards).map(|_| Moments::empty(dim)).collect(),
            precision: vec![0.0; dim * dim],
            factor: Cholesky::empty(dim),
            mean: vec![0.0; dim],
            told: vec![0.0; 2 * shards * dim],
            product,
            weierstrass,
        }
    }

    /// Mean (D) and variance (D) of the draws of each shard that were combined last, into `out` (S×2×D).
    pub(crate) fn write_moments(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.told);
    }

    /// Writes draws of the product into `out` (row-major M×D), as many as there are of each shard. `of_shard` gives the draws of a shard,
    /// row-major M×D, M at least D + 2 and at most what there is room for. Does not allocate.
    ///
    /// # Errors
    /// The draws of a shard lie in fewer than D directions.
    pub fn combine<'a>(
        &mut self,
        of_shard: impl Fn(usize) -> &'a [f64],
        rng: &mut ChainRng,
        out: &mut [f64],
    ) -> Result<Combined, NotPositiveDefinite> {
        let (dim, stride) = (self.dim, self.most * self.dim);
        let mut rhat = 0.0_f64;
        self.precision.fill(0.0);
        self.mean.fill(0.0);
        for (s, moments) in self.moments.iter_mut().enumerate() {
            let draws = of_shard(s);
            self.draws[s * stride..][..draws.len()].copy_from_slice(draws);
            rhat = rhat.max(split_rhat(draws, dim));
            moments.estimate(draws)?;
            axpy(1.0, &moments.precision, &mut self.precision);
            add_product(&moments.precision, &moments.mean, &mut self.mean);
            let (means, variances) = self.told[2 * s * dim..][..2 * dim].split_at_mut(dim);
            means.copy_from_slice(&moments.mean);
            for (variance, entry) in variances
                .iter_mut()
                .zip(moments.covariance.iter().step_by(dim + 1))
            {
                *variance = *entry;
            }
        }
        self.factor.factor(&self.precision)?;
        self.factor.solve(&mut self.mean);
        let mut accept = f64::NAN;
        match self.method {
            Combine::Consensus => {
                for (i, out) in out.chunks_exact_mut(dim).enumerate() {
                    out.fill(0.0);
                    for (s, moments) in self.moments.iter().enumerate() {
                        let draw = &self.draws[s * stride + i * dim..][..dim];
                        add_product(&moments.precision, draw, out);
                    }
                    self.factor.solve(out);
                }
            }
            Combine::Normal => {
                for out in out.chunks_exact_mut(dim) {
                    fill_with_normals(rng, out);
                    self.factor.solve_lower_transpose(out);
                    axpy(1.0, &self.mean, out);
                }
            }
            Combine::Nonparametric | Combine::Semiparametric => {
                if let Some(product) = &mut self.product {
                    let (draws, moments) = (&mut self.draws, &mut self.moments);
                    accept = product.sample(draws, moments, rng, out)?;
                }
            }
            Combine::Weierstrass => {
                if let Some(weierstrass) = &mut self.weierstrass {
                    weierstrass.combine(&mut self.draws, self.shards, rng, out)?;
                    accept = weierstrass.accept();
                }
            }
        }
        Ok(Combined { rhat, accept })
    }
}

/// out += A x, A row-major D×D.
pub(super) fn add_product(a: &[f64], x: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(a.chunks_exact(x.len())) {
        *out += dot(row, x);
    }
}

pub(super) fn fill_with_normals(rng: &mut ChainRng, out: &mut [f64]) {
    for z in out {
        *z = StandardNormal.sample(rng);
    }
}

#[cfg(test)]
mod posteriors;
#[cfg(test)]
mod tests;
