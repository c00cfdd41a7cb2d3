//! Draws from Wishart and inverse-Wishart distributions by Bartlett's decomposition, and the normal-inverse-Wishart
//! family with its conjugate update.
//!
//! Matrices are row-major slices of length P², and draws are written as lower Cholesky factors with zeros above the
//! diagonal: that is what comes out and what is needed next. Densities, with Γ_P and constants left out:
//!
//! * W(V, ν): |W|^{(ν−P−1)/2} exp(−tr(V⁻¹W)/2), mean νV;
//! * W⁻¹(Φ, ν): |Σ|^{−(ν+P+1)/2} exp(−tr(ΦΣ⁻¹)/2), mean Φ/(ν−P−1) where ν > P + 1.
//!
//! Both need ν > P − 1, which need not be a whole number. Source: W. B. Smith and R. R. Hocking, "Algorithm AS 53:
//! Wishart variate generator", Applied Statistics 21, 1972. No function here allocates.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot};

/// Writes a lower triangle with independent standard normals below the diagonal and roots of χ² draws on it, of
/// `dof(i)` degrees of freedom in row i.
fn bartlett(dim: usize, dof: impl Fn(usize) -> f64, rng: &mut ChainRng, lower: &mut [f64]) {
    for (i, row) in lower.chunks_exact_mut(dim).enumerate() {
        for entry in &mut row[..i] {
            *entry = rng.sample(StandardNormal);
        }
        // Fewer degrees of freedom than the distribution needs give NaN, which every factorisation refuses.
        row[i] = ChiSquared::new(dof(i)).map_or(f64::NAN, |chi2| chi2.sample(rng).sqrt());
        row[i + 1..].fill(0.0);
    }
}

/// Draws Σ ~ W⁻¹(L L', ν) with L the factor `scale` and ν = `dof`; writes the lower factor of Σ (P×P).
///
/// With T T' = W(I, ν) reversed, so that T' comes first, Σ = L (T' T)⁻¹ L' = (L T⁻¹)(L T⁻¹)'. Reversing the order of
/// coordinates turns the degrees of freedom ν − i of row i into ν − P + 1 + i, and L T⁻¹ is lower triangular as it is.
pub fn inverse_wishart(scale: &Cholesky, dof: f64, rng: &mut ChainRng, lower: &mut [f64]) {
    let dim = scale.dim();
    bartlett(dim, |i| dof - (dim - 1 - i) as f64, rng, lower);
    // Row i of M with M T = L, in place: it needs rows of T at and above it, and within a row columns at and after j.
    for i in (0..dim).rev() {
        for j in (0..=i).rev() {
            let later: f64 = (j + 1..=i)
                .map(|k| lower[i * dim + k] * lower[k * dim + j])
                .sum();
            // Row i's own T_ij is still in its place, as is T_jj above.
            lower[i * dim + j] = (scale.lower()[i * dim + j] - later) / lower[j * dim + j];
        }
    }
}

/// The family Σ ~ W⁻¹(Φ, ν), μ | Σ ~ N(m, Σ/λ), conjugate to points θ_g ~ N(μ, Σ).
#[derive(Clone, Debug, PartialEq)]
pub struct NormalInverseWishart {
    /// m (P).
    pub mean: Vec<f64>,
    /// λ > 0: what m counts for, in points.
    pub strength: f64,
    /// ν > P − 1.
    pub dof: f64,
    /// Φ (P×P).
    pub scale: Vec<f64>,
}

impl NormalInverseWishart {
    /// P.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Writes the posterior after K `points` (row-major K×P): λ + K, ν + K, (λm + Kθ̄)/(λ + K) and
    /// Φ + Σ (θ_g − θ̄)(θ_g − θ̄)' + λK/(λ + K) (θ̄ − m)(θ̄ − m)'. Without points it is the prior.
    pub fn update(&self, points: &[f64], out: &mut Self) {
        let dim = self.dim();
        let count = (points.len() / dim) as f64;
        out.strength = self.strength + count;
        out.dof = self.dof + count;
        out.scale.copy_from_slice(&self.scale);
        if points.is_empty() {
            out.mean.copy_from_slice(&self.mean);
            return;
        }
        // θ̄ for now.
        out.mean.fill(0.0);
        for point in points.chunks_exact(dim) {
            axpy(1.0 / count, point, &mut out.mean);
        }
        for point in points.chunks_exact(dim) {
            for i in 0..dim {
                let from_mean = point[i] - out.mean[i];
                for j in 0..dim {
                    out.scale[i * dim + j] += from_mean * (point[j] - out.mean[j]);
                }
            }
        }
        let shrunk = self.strength * count / out.strength;
        for i in 0..dim {
            let from_prior = shrunk * (out.mean[i] - self.mean[i]);
            for j in 0..dim {
                out.scale[i * dim + j] += from_prior * (out.mean[j] - self.mean[j]);
            }
        }
        for (mean, prior) in out.mean.iter_mut().zip(&self.mean) {
            *mean = (self.strength * prior + count * *mean) / out.strength;
        }
    }

    /// Draws μ into `mu` (P) and the lower factor of Σ into `lower` (P×P); `factor` is working memory for P×P.
    ///
    /// # Errors
    /// Φ is not positive definite.
    pub fn draw(
        &self,
        factor: &mut Cholesky,
        rng: &mut ChainRng,
        mu: &mut [f64],
        lower: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim();
        factor.factor(&self.scale)?;
        inverse_wishart(factor, self.dof, rng, lower);
        for z in mu.iter_mut() {
            *z = rng.sample(StandardNormal);
        }
        let sd = self.strength.sqrt().recip();
        // From the last coordinate, so that the normals that others need are still there.
        for i in (0..dim).rev() {
            let row = &lower[i * dim..=i * dim + i];
            mu[i] = self.mean[i] + sd * dot(row, &mu[..=i]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocations::count_during;
    use ergodic_base::{Purpose, stream};

    const DIM: usize = 3;
    const DRAWS: usize = 40_000;
    const V: [f64; 9] = [2.0, 0.8, -0.3, 0.8, 1.0, 0.1, -0.3, 0.1, 0.5];

    /// The mean of each number of `draw` (into a slice of `len`), and its Monte Carlo standard error.
    fn means(len: usize, mut draw: impl FnMut(&mut [f64])) -> Vec<[f64; 2]> {
        let mut values = vec![0.0; len];
        let mut sums = vec![[0.0; 2]; len];
        for _ in 0..DRAWS {
            draw(&mut values);
            for (sum, value) in sums.iter_mut().zip(&values) {
                sum[0] += value;
                sum[1] += value * value;
            }
        }
        let n = DRAWS as f64;
        sums.iter()
            .map(|[sum, squares]| {
                let mean = sum / n;
                [mean, ((squares / n - mean * mean) / n).sqrt()]
            })
            .collect()
    }

    fn product(lower: &[f64], out: &mut [f64]) {
        for i in 0..DIM {
            for j in 0..DIM {
                let (a, b) = (&lower[i * DIM..][..DIM], &lower[j * DIM..][..DIM]);
                out[i * DIM + j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
            }
        }
    }

    fn assert_means(got: &[[f64; 2]], expected: impl Fn(usize) -> f64, what: &str) {
        for (k, [mean, error]) in got.iter().enumerate() {
            let expected = expected(k);
            assert!(
                (mean - expected).abs() < 4.5 * error + 1e-12,
                "{what} {k}: {mean} ± {error} against {expected}"
            );
        }
    }

    /// W_ij and, after them, squared deviations from the exact means.
    fn with_squares(w: &[f64], mean: impl Fn(usize) -> f64, out: &mut [f64]) {
        for (k, w) in w.iter().enumerate() {
            out[k] = *w;
            out[k + w_len()] = (w - mean(k)).powi(2);
        }
    }

    fn w_len() -> usize {
        DIM * DIM
    }

    #[test]
    fn inverse_wishart_draws_have_the_moments_of_the_distribution() {
        let p = DIM as f64;
        for dof in [14.5, 40.0] {
            let scale = Cholesky::of(&V, DIM).unwrap();
            let mut rng = stream(2, 0, Purpose::Noise);
            let (mut lower, mut w) = ([0.0; 9], [0.0; 9]);
            let mean = |k: usize| V[k] / (dof - p - 1.0);
            let got = means(18, |out| {
                inverse_wishart(&scale, dof, &mut rng, &mut lower);
                product(&lower, &mut w);
                with_squares(&w, mean, out);
            });
            assert_means(&got[..9], mean, "mean");
            let variance = |k: usize| {
                let (i, j) = (k / DIM, k % DIM);
                let both = V[i * DIM + i] * V[j * DIM + j];
                ((dof - p + 1.0) * V[k].powi(2) + (dof - p - 1.0) * both)
                    / ((dof - p) * (dof - p - 1.0).powi(2) * (dof - p - 3.0))
            };
            assert_means(&got[9..], variance, "variance");
        }
    }

    /// Where the inverse-Wishart has no mean, its inverse has: E Σ⁻¹ = ν Φ⁻¹.
    #[test]
    fn inverses_of_heavy_tailed_draws_are_wishart() {
        let dof = 2.5;
        let scale = Cholesky::of(&V, DIM).unwrap();
        let inverse = scale.inverse();
        let mut rng = stream(3, 0, Purpose::Noise);
        let (mut lower, mut sigma) = ([0.0; 9], [0.0; 9]);
        let mut factor = Cholesky::empty(DIM);
        let got = means(9, |out| {
            inverse_wishart(&scale, dof, &mut rng, &mut lower);
            product(&lower, &mut sigma);
            // The draw itself is the factor.
            factor.lower_mut().copy_from_slice(&lower);
            factor.write_inverse(out);
        });
        assert_means(&got, |k| dof * inverse[k], "mean of the inverse");
    }

    fn prior() -> NormalInverseWishart {
        NormalInverseWishart {
            mean: vec![1.0, -0.5, 0.0],
            strength: 0.7,
            dof: 9.0,
            scale: V.to_vec(),
        }
    }

    #[test]
    fn draws_of_the_family_have_its_moments() {
        let prior = prior();
        let mut rng = stream(4, 0, Purpose::Noise);
        let mut factor = Cholesky::empty(DIM);
        let (mut mu, mut lower) = ([0.0; 3], [0.0; 9]);
        let covariance = |k: usize| V[k] / (prior.dof - DIM as f64 - 1.0) / prior.strength;
        let got = means(12, |out| {
            prior
                .draw(&mut factor, &mut rng, &mut mu, &mut lower)
                .unwrap();
            out[..3].copy_from_slice(&mu);
            for i in 0..DIM {
                for j in 0..DIM {
                    out[3 + i * DIM + j] = (mu[i] - prior.mean[i]) * (mu[j] - prior.mean[j]);
                }
            }
        });
        assert_means(&got[..3], |k| prior.mean[k], "mean");
        assert_means(&got[3..], covariance, "covariance");
    }

    /// The update point by point, whose formula has no scatter, gives the update by all points.
    #[test]
    fn updating_by_all_points_is_updating_by_one_after_the_other() {
        let points = [0.3, 1.2, -2.0, 0.1, 0.0, 1.0, -3.0, 2.0, 0.4, 1.0, 1.0, 1.1];
        let mut all = prior();
        prior().update(&points, &mut all);
        let mut one_by_one = prior();
        for point in points.chunks_exact(DIM) {
            let before = one_by_one.clone();
            before.update(point, &mut one_by_one);
        }
        assert_eq!((all.dof, all.strength), (13.0, 4.7));
        for (a, b) in all.mean.iter().zip(&one_by_one.mean) {
            assert!((a - b).abs() < 1e-12);
        }
        for (a, b) in all.scale.iter().zip(&one_by_one.scale) {
            assert!((a - b).abs() < 1e-12);
        }
        // And the last of these by hand.
        let mut single = prior();
        prior().update(&points[..3], &mut single);
        let by_hand = V[1] + 0.7 / 1.7 * (0.3 - 1.0) * (1.2 + 0.5);
        assert!((single.scale[1] - by_hand).abs() < 1e-14);
        prior().update(&[], &mut single);
        assert_eq!(single, prior());
    }

    #[test]
    fn draws_do_not_allocate_and_too_few_degrees_of_freedom_are_not_a_number() {
        let mut prior = prior();
        let mut rng = stream(5, 0, Purpose::Noise);
        let mut factor = Cholesky::empty(DIM);
        let (mut mu, mut lower) = ([0.0; 3], [0.0; 9]);
        let count = count_during(|| {
            prior
                .draw(&mut factor, &mut rng, &mut mu, &mut lower)
                .unwrap();
        });
        assert_eq!(count, 0);
        prior.dof = 1.9;
        prior
            .draw(&mut factor, &mut rng, &mut mu, &mut lower)
            .unwrap();
        assert!(lower[0].is_nan());
    }
}
