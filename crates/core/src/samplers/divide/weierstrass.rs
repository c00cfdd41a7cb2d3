//! The Weierstrass sampler: rejection sampling of pairs of draws.
//!
//! Reference: Wang and Dunson, "Parallelizing MCMC via Weierstrass sampler" (2013, arXiv 1312.4605), the rejection sampler, which
//! works on the draws of shards alone; Baker (2018), section 2.4.2, uses it by the authors' R package `weierstrass`, whose variant
//! this is: shards are combined in pairs, the results in pairs again, and so on.
//!
//! **A pair.** For draws θ_1, θ_2 of two densities with covariances Σ_1, Σ_2: the pair is kept if it lies within a uniform kernel,
//! (θ_1 − θ_2)'(Σ_1 + Σ_2)⁻¹(θ_1 − θ_2) ≤ c, and gives (Σ_1⁻¹ + Σ_2⁻¹)⁻¹(Σ_1⁻¹ θ_1 + Σ_2⁻¹ θ_2). c is the quantile of its left side
//! that keeps the share `accept` of pairs; ⌈1/accept⌉ random matchings give as many pairs as there were draws.
//!
//! For normal densities average and difference are independent, so that the result is exact whatever c is. For others the error
//! vanishes with `accept`, and the draws that are left repeat the more. The package's cutoff is of the largest component of
//! Σ_1⁻¹ + Σ_2⁻¹ times |θ_1 − θ_2|; ours is a distance that does not depend on the choice of coordinates.

use rand::RngExt as _;

use super::combine::add_product;
use super::moments::Moments;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot};

/// Memory for combining pairs.
pub(super) struct Weierstrass {
    matchings: usize,
    dim: usize,
    most: usize,
    one: Moments,
    other: Moments,
    /// Σ_1 + Σ_2, or Σ_1⁻¹ + Σ_2⁻¹.
    sum: Vec<f64>,
    between: Cholesky,
    joint: Cholesky,
    /// The partner of each draw, and squared distances with the draw that they are of.
    partner: Vec<usize>,
    distances: Vec<(f64, usize)>,
    gap: Vec<f64>,
    /// Combined draws of a pair, `most`×D.
    result: Vec<f64>,
}

impl Weierstrass {
    /// Memory for `most` draws in `dim` dimensions, of which pairs the share `accept` is kept.
    pub fn new(accept: f64, dim: usize, most: usize) -> Self {
        Self {
            matchings: (1.0 / accept).ceil() as usize,
            dim,
            most,
            one: Moments::empty(dim),
            other: Moments::empty(dim),
            sum: vec![0.0; dim * dim],
            between: Cholesky::empty(dim),
            joint: Cholesky::empty(dim),
            partner: (0..most).collect(),
            distances: vec![(0.0, 0); most],
            gap: vec![0.0; dim],
            result: vec![0.0; most * dim],
        }
    }

    /// Share of pairs that is kept.
    pub fn accept(&self) -> f64 {
        1.0 / self.matchings as f64
    }

    /// Combines the draws of all `shards` into `out` (M×D); `draws` are overwritten.
    pub fn combine(
        &mut self,
        draws: &mut [f64],
        shards: usize,
        rng: &mut ChainRng,
        out: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        let (stride, length) = (self.most * self.dim, out.len());
        let mut left = shards;
        while left > 1 {
            for pair in 0..left / 2 {
                let (one, other) = draws[2 * pair * stride..].split_at(stride);
                self.combine_pair(&one[..length], &other[..length], rng)?;
                draws[pair * stride..][..length].copy_from_slice(&self.result[..length]);
            }
            if left % 2 == 1 {
                let last = (left - 1) * stride;
                draws.copy_within(last..last + length, left / 2 * stride);
            }
            left = left.div_ceil(2);
        }
        out.copy_from_slice(&draws[..length]);
        Ok(())
    }

    /// Writes draws of the product into the memory for results, as many as there are of both.
    fn combine_pair(
        &mut self,
        one: &[f64],
        other: &[f64],
        rng: &mut ChainRng,
    ) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim;
        let count = one.len() / dim;
        self.one.estimate(one)?;
        self.other.estimate(other)?;
        self.sum.copy_from_slice(&self.one.covariance);
        axpy(1.0, &self.other.covariance, &mut self.sum);
        self.between.factor(&self.sum)?;
        self.sum.copy_from_slice(&self.one.precision);
        axpy(1.0, &self.other.precision, &mut self.sum);
        self.joint.factor(&self.sum)?;
        let place = |i: usize| i * dim..(i + 1) * dim;
        for (i, partner) in self.partner[..count].iter_mut().enumerate() {
            *partner = i;
        }
        let mut kept = 0;
        for matching in 1..=self.matchings {
            let partner = &mut self.partner[..count];
            for i in (1..count).rev() {
                partner.swap(i, rng.random_range(0..=i));
            }
            let distances = &mut self.distances[..count];
            for (i, distance) in distances.iter_mut().enumerate() {
                self.gap.copy_from_slice(&one[place(i)]);
                axpy(-1.0, &other[place(partner[i])], &mut self.gap);
                self.between.solve_lower(&mut self.gap);
                *distance = (dot(&self.gap, &self.gap), i);
            }
            // Those of all matchings together are as many as there were draws.
            let keep = matching * count / self.matchings - kept;
            if keep == 0 {
                continue;
            }
            distances
                .select_nth_unstable_by(keep - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let nearest = &mut distances[..keep];
            // In an order that does not depend on how they were selected.
            nearest.sort_unstable_by_key(|&(_, i)| i);
            for &mut (_, i) in nearest {
                let result = &mut self.result[kept * dim..(kept + 1) * dim];
                result.fill(0.0);
                add_product(&self.one.precision, &one[place(i)], result);
                add_product(&self.other.precision, &other[place(partner[i])], result);
                self.joint.solve(result);
                kept += 1;
            }
        }
        Ok(())
    }
}
