//! Draws from a product of kernel density estimates of the subposteriors: nonparametric and semiparametric.
//!
//! Reference: Neiswanger, Wang and Xing, "Asymptotically exact, embarrassingly parallel MCMC" (UAI 2014), sections 3.2 and 3.3,
//! algorithm 1; Baker (2018), section 2.4.2, calls the first one KDEMC.
//!
//! With Gaussian kernels of variance h² the product of S estimates from M draws each is a mixture of M^S normal components, one
//! for every choice t = (t_1, …, t_S) of a draw of each shard, with θ̄_t the mean of the chosen draws:
//!
//! | | weight of t | component |
//! |---|---|---|
//! | nonparametric | w_t = Π_s N(θ_{s t_s}; θ̄_t, h² I) | N(θ̄_t, h²/S I) |
//! | semiparametric | W_t = w_t N(θ̄_t; μ, Σ + h²/S I) / Π_s N(θ_{s t_s}; μ_s, Σ_s) | precision S/h² I + Σ⁻¹, mean its inverse times S/h² θ̄_t + Σ⁻¹ μ |
//!
//! N(μ, Σ) is the product of the normal approximations N(μ_s, Σ_s). A component is chosen by independent Metropolis steps within
//! Gibbs sampling: each shard in turn proposes another of its draws, all alike, which is accepted with the ratio of weights.
//!
//! Ours: coordinates in which the covariance of a shard, averaged over shards, is the identity, so that one h suits all; h by the
//! rule for normal densities, (4/((D + 2) M))^{1/(D + 4)} (Silverman 1986, equation 4.14), times a setting, instead of i^{−1/(4 + D)}
//! at draw i, which is of the same order; several sweeps over the shards for a draw, because one changes few of many indices.
//!
//! The estimates are wider than the subposteriors, by the share h² of their variances, and few draws of many shards lie close
//! together: both grow quickly with D.

use rand::RngExt as _;

use super::combine::{add_product, fill_with_normals};
use super::moments::Moments;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot};

/// Sweeps before the first draw: indices begin anywhere.
const FIRST_SWEEPS: usize = 200;

/// A chain of choices of draws.
pub(super) struct KernelProduct {
    bandwidth: f64,
    sweeps: usize,
    dim: usize,
    most: usize,
    /// The draw chosen of each shard.
    index: Vec<usize>,
    /// Sum of the chosen draws, and of a proposal.
    sum: Vec<f64>,
    proposed: Vec<f64>,
    /// Average covariance of shards, its factor, and the average of their means.
    scale: Vec<f64>,
    factor: Cholesky,
    centre: Vec<f64>,
    normal: Option<Correction>,
}

/// What the semiparametric estimate needs besides.
struct Correction {
    /// log N(θ_{si}; μ_s, Σ_s) up to a constant of the shard, `most` of each shard.
    log_normal: Vec<f64>,
    /// Σ⁻¹ and its factor, μ, Σ⁻¹ μ.
    precision: Vec<f64>,
    factor: Cholesky,
    mean: Vec<f64>,
    pull: Vec<f64>,
    /// Σ + h²/S I and its factor.
    broad: Vec<f64>,
    broad_factor: Cholesky,
    /// Factor of S/h² I + Σ⁻¹.
    component: Cholesky,
    work: Vec<f64>,
}

impl KernelProduct {
    /// Memory for `most` draws of each of `shards` shards in `dim` dimensions; `corrected` for the semiparametric estimate.
    pub fn new(
        corrected: bool,
        bandwidth: f64,
        sweeps: usize,
        (shards, dim, most): (usize, usize, usize),
    ) -> Self {
        Self {
            bandwidth,
            sweeps,
            dim,
            most,
            index: vec![0; shards],
            sum: vec![0.0; dim],
            proposed: vec![0.0; dim],
            scale: vec![0.0; dim * dim],
            factor: Cholesky::empty(dim),
            centre: vec![0.0; dim],
            normal: corrected.then(|| Correction {
                log_normal: vec![0.0; shards * most],
                precision: vec![0.0; dim * dim],
                factor: Cholesky::empty(dim),
                mean: vec![0.0; dim],
                pull: vec![0.0; dim],
                broad: vec![0.0; dim * dim],
                broad_factor: Cholesky::empty(dim),
                component: Cholesky::empty(dim),
                work: vec![0.0; dim],
            }),
        }
    }

    /// Draws of the product into `out` (M×D) from as many `draws` of each shard, which are overwritten, with their `moments`;
    /// returns the share of proposals accepted.
    pub fn sample(
        &mut self,
        draws: &mut [f64],
        moments: &mut [Moments],
        rng: &mut ChainRng,
        out: &mut [f64],
    ) -> Result<f64, NotPositiveDefinite> {
        let (dim, shards) = (self.dim, moments.len() as f64);
        let (stride, count) = (self.most * dim, out.len() / dim);
        self.standardise(draws, moments, count)?;
        let rule = 4.0 / ((self.dim as f64 + 2.0) * count as f64);
        let width = self.bandwidth * rule.powf(1.0 / (self.dim as f64 + 4.0));
        let variance = width * width;
        if let Some(normal) = &mut self.normal {
            normal.prepare(draws, moments, stride, count, variance / shards)?;
        }
        for index in &mut self.index {
            *index = rng.random_range(0..count);
        }
        let mut accepted = 0;
        for _ in 0..FIRST_SWEEPS {
            self.sweep(draws, count, variance, rng);
        }
        for out in out.chunks_exact_mut(dim) {
            for _ in 0..self.sweeps {
                accepted += self.sweep(draws, count, variance, rng);
            }
            fill_with_normals(rng, out);
            match &mut self.normal {
                Some(normal) => normal.place(&self.sum, variance, out),
                None => {
                    let spread = (variance / shards).sqrt();
                    for (out, sum) in out.iter_mut().zip(&self.sum) {
                        *out = sum / shards + spread * *out;
                    }
                }
            }
            // Back from units of the average covariance.
            self.factor.lower_mul(out, &mut self.proposed);
            out.copy_from_slice(&self.centre);
            axpy(1.0, &self.proposed, out);
        }
        let proposals = count * self.sweeps * self.index.len();
        Ok(accepted as f64 / proposals as f64)
    }

    /// Puts draws in units of the average covariance of shards, around the average of their means.
    fn standardise(
        &mut self,
        draws: &mut [f64],
        moments: &[Moments],
        count: usize,
    ) -> Result<(), NotPositiveDefinite> {
        let share = 1.0 / moments.len() as f64;
        self.scale.fill(0.0);
        self.centre.fill(0.0);
        for moments in moments {
            axpy(share, &moments.covariance, &mut self.scale);
            axpy(share, &moments.mean, &mut self.centre);
        }
        self.factor.factor(&self.scale)?;
        let dim = self.dim;
        for shard in draws.chunks_exact_mut(self.most * dim) {
            for draw in shard[..count * dim].chunks_exact_mut(dim) {
                axpy(-1.0, &self.centre, draw);
                self.factor.solve_lower(draw);
            }
        }
        Ok(())
    }

    /// One Metropolis step for the index of each shard; returns how many were accepted.
    fn sweep(&mut self, draws: &[f64], count: usize, variance: f64, rng: &mut ChainRng) -> usize {
        let (dim, stride, shards) = (self.dim, self.most * self.dim, self.index.len());
        let draw = |s: usize, index: usize| &draws[s * stride + index * dim..][..dim];
        self.sum.fill(0.0);
        let mut squares = 0.0;
        for (s, &index) in self.index.iter().enumerate() {
            let draw = draw(s, index);
            axpy(1.0, draw, &mut self.sum);
            squares += dot(draw, draw);
        }
        let mut accepted = 0;
        // Σ |θ_s − θ̄|² = Σ |θ_s|² − |Σ θ_s|²/S.
        let log_weight =
            |squares: f64, sum: &[f64]| -0.5 * (squares - dot(sum, sum) / shards as f64) / variance;
        for s in 0..shards {
            let (old, proposal) = (self.index[s], rng.random_range(0..count));
            let (from, to) = (draw(s, old), draw(s, proposal));
            self.proposed.copy_from_slice(&self.sum);
            axpy(-1.0, from, &mut self.proposed);
            axpy(1.0, to, &mut self.proposed);
            let squares_there = squares - dot(from, from) + dot(to, to);
            let mut log_ratio =
                log_weight(squares_there, &self.proposed) - log_weight(squares, &self.sum);
            if let Some(normal) = &mut self.normal {
                let first = s * self.most;
                log_ratio += normal.log_factor(&self.proposed, shards)
                    - normal.log_factor(&self.sum, shards)
                    - normal.log_normal[first + proposal]
                    + normal.log_normal[first + old];
            }
            if rng.random::<f64>().ln() < log_ratio {
                self.index[s] = proposal;
                self.sum.copy_from_slice(&self.proposed);
                squares = squares_there;
                accepted += 1;
            }
        }
        accepted
    }
}

impl Correction {
    /// Normal approximations of `draws`, whose `moments` are replaced by those in the units of kernels; `variance` is h²/S.
    fn prepare(
        &mut self,
        draws: &[f64],
        moments: &mut [Moments],
        stride: usize,
        count: usize,
        variance: f64,
    ) -> Result<(), NotPositiveDefinite> {
        let dim = self.mean.len();
        self.precision.fill(0.0);
        self.pull.fill(0.0);
        for (s, moments) in moments.iter_mut().enumerate() {
            let draws = &draws[s * stride..][..count * dim];
            moments.estimate(draws)?;
            axpy(1.0, &moments.precision, &mut self.precision);
            add_product(&moments.precision, &moments.mean, &mut self.pull);
            let first = s * (stride / dim);
            for (log_normal, draw) in self.log_normal[first..]
                .iter_mut()
                .zip(draws.chunks_exact(dim))
            {
                self.work.copy_from_slice(draw);
                axpy(-1.0, &moments.mean, &mut self.work);
                moments.factor.solve_lower(&mut self.work);
                *log_normal = -0.5 * dot(&self.work, &self.work);
            }
        }
        self.factor.factor(&self.precision)?;
        self.mean.copy_from_slice(&self.pull);
        self.factor.solve(&mut self.mean);
        self.factor.write_inverse(&mut self.broad);
        self.broad
            .iter_mut()
            .step_by(dim + 1)
            .for_each(|v| *v += variance);
        self.broad_factor.factor(&self.broad)?;
        // The memory of Σ + h²/S I holds S/h² I + Σ⁻¹ from here on.
        self.broad.copy_from_slice(&self.precision);
        self.broad
            .iter_mut()
            .step_by(dim + 1)
            .for_each(|v| *v += 1.0 / variance);
        self.component.factor(&self.broad)
    }

    /// log N(θ̄; μ, Σ + h²/S I) up to a constant, where `sum` is S θ̄.
    fn log_factor(&mut self, sum: &[f64], shards: usize) -> f64 {
        for (work, (sum, mean)) in self.work.iter_mut().zip(sum.iter().zip(&self.mean)) {
            *work = sum / shards as f64 - mean;
        }
        self.broad_factor.solve_lower(&mut self.work);
        -0.5 * dot(&self.work, &self.work)
    }

    /// Turns the standard normals of `out` into a draw of the component of θ̄, where `sum` is S θ̄ and `variance` h².
    fn place(&mut self, sum: &[f64], variance: f64, out: &mut [f64]) {
        self.component.solve_lower_transpose(out);
        self.work.copy_from_slice(&self.pull);
        // S/h² θ̄.
        axpy(1.0 / variance, sum, &mut self.work);
        self.component.solve(&mut self.work);
        axpy(1.0, &self.work, out);
    }
}
