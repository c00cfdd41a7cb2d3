//! What is estimated from the draws of one shard: mean, covariance and its inverse, and whether the draws agree with themselves.

use ergodic_base::linalg::{Cholesky, NotPositiveDefinite};

/// Mean and covariance of draws, with memory that is used again.
pub(super) struct Moments {
    /// Length D.
    pub mean: Vec<f64>,
    /// Divisor M − 1, row-major D×D.
    pub covariance: Vec<f64>,
    /// Factor of the covariance.
    pub factor: Cholesky,
    /// Inverse of the covariance.
    pub precision: Vec<f64>,
    gap: Vec<f64>,
}

impl Moments {
    pub fn empty(dim: usize) -> Self {
        Self {
            mean: vec![0.0; dim],
            covariance: vec![0.0; dim * dim],
            factor: Cholesky::empty(dim),
            precision: vec![0.0; dim * dim],
            gap: vec![0.0; dim],
        }
    }

    /// Replaces them by those of `draws`, row-major M×D.
    ///
    /// # Errors
    /// The draws lie in fewer than D directions.
    pub fn estimate(&mut self, draws: &[f64]) -> Result<(), NotPositiveDefinite> {
        let dim = self.mean.len();
        let count = (draws.len() / dim) as f64;
        self.mean.fill(0.0);
        self.covariance.fill(0.0);
        for draw in draws.chunks_exact(dim) {
            for (mean, x) in self.mean.iter_mut().zip(draw) {
                *mean += x / count;
            }
        }
        for draw in draws.chunks_exact(dim) {
            for (gap, (x, mean)) in self.gap.iter_mut().zip(draw.iter().zip(&self.mean)) {
                *gap = x - mean;
            }
            for (row, gap) in self.covariance.chunks_exact_mut(dim).zip(&self.gap) {
                for (entry, other) in row.iter_mut().zip(&self.gap) {
                    *entry += gap * other / (count - 1.0);
                }
            }
        }
        self.factor.factor(&self.covariance)?;
        self.factor.write_inverse(&mut self.precision);
        Ok(())
    }
}

/// The largest R-hat over coordinates of `draws` (row-major M×`dim`) of one chain, between its two halves (Gelman et al. 2013,
/// equation 11.4); infinite where draws stand still.
pub(super) fn split_rhat(draws: &[f64], dim: usize) -> f64 {
    let half = draws.len() / dim / 2;
    let n = half as f64;
    let of_coordinate = |j: usize| {
        let halves = [0, half].map(|from| {
            let values = || draws[from * dim..(from + half) * dim].chunks_exact(dim);
            let mean = values().map(|draw| draw[j]).sum::<f64>() / n;
            let squares: f64 = values().map(|draw| (draw[j] - mean).powi(2)).sum();
            (mean, squares / (n - 1.0))
        });
        let within = 0.5 * (halves[0].1 + halves[1].1);
        // n times the variance of two means.
        let between = 0.5 * n * (halves[0].0 - halves[1].0).powi(2);
        if within > 0.0 {
            ((n - 1.0) / n + between / (n * within)).sqrt()
        } else {
            f64::INFINITY
        }
    };
    (0..dim).map(of_coordinate).fold(0.0, f64::max)
}
