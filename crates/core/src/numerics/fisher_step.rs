//! One step of stochastic gradient Fisher scoring with a step constant per direction: what the samplers of that family
//! and Monte Carlo EM share.
//!
//! The update (8) of the OSGFS report is θ' = θ + D ĝ + N(0, 2D − B − D H D), where B = D Σ D is what the gradient
//! noise Σ adds to the step. In the generalised eigenbasis V of Σ and H, with V'HV = I and V'ΣV = diag(v_i), and
//! with D = ½ V diag(k_i) V', the covariance is V diag(k_i − ¼ k_i² (1 + v_i)) V'. So it is positive semi-definite
//! exactly when k_i ≤ 4/(1 + v_i) for every i, and a step needs no factorisation. D = (k/2) H⁻¹ of the report, (10), is
//! the case k_i = k.
//!
//! **Rotation.** With a skew-symmetric Q the update is θ' = θ + (D + Q) ĝ + N(0, 2D − (D + Q)(Σ + H)(D + Q)'), which leaves the
//! same posterior stationary. Here Q turns pairs of directions: D + Q = (k/2) (1, t; −t, 1) in the basis V, whose covariance is positive
//! semi-definite where k (1 + t²) ≤ 4/(1 + v) for both. Eigenvalues of the step are then 1 − (k/2)(1 ± it).

use rand_distr::{Distribution as _, StandardNormal};

use super::grad_window::variance_ratio;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, SymmetricEigen, axpy, dot, whiten};

/// Beyond k = 2, which makes draws of a normal posterior independent, draws only become negatively correlated.
pub const K_INDEPENDENT: f64 = 2.0;

/// Rounding allowed before a negative variance counts as one, relative to k.
const ROUNDING: f64 = 1e-9;

/// The largest k that leaves a positive semi-definite covariance in a direction with gradient noise `v`.
pub fn k_limit(v: f64) -> f64 {
    4.0 / (1.0 + v)
}

/// D, the noise covariance and the working memory to recompute both without allocation.
#[derive(Debug)]
pub struct FisherStep {
    dim: usize,
    factor: Cholesky,
    eigen: SymmetricEigen,
    whitened: Vec<f64>,
    /// Direction i is row i; V transposed.
    directions: Vec<f64>,
    /// v_i.
    noise: Vec<f64>,
    /// k_i.
    k: Vec<f64>,
    /// Standard deviation of injected noise per direction; in the second direction of a pair of what the first does not explain.
    injected: Vec<f64>,
    /// t: directions 0 and 1, 2 and 3, … are turned in pairs.
    turn: f64,
    /// Injected noise of the second direction of each pair per unit of that of the first (⌊D/2⌋).
    cross: Vec<f64>,
}

impl FisherStep {
    /// Memory for D dimensions; [`Self::set_basis`] and [`Self::set_k`] must follow.
    pub fn empty(dim: usize) -> Self {
        Self {
            dim,
            factor: Cholesky::empty(dim),
            eigen: SymmetricEigen::empty(dim),
            whitened: vec![0.0; dim * dim],
            directions: vec![0.0; dim * dim],
            noise: vec![0.0; dim],
            k: vec![0.0; dim],
            injected: vec![0.0; dim],
            turn: 0.0,
            cross: vec![0.0; dim / 2],
        }
    }

    /// Takes the curvature H and the gradient noise covariance Σ (both D×D), and finds the directions.
    pub fn set_basis(&mut self, hessian: &[f64], sigma: &[f64]) -> Result<(), NotPositiveDefinite> {
        self.factor.factor(hessian)?;
        self.whitened.copy_from_slice(sigma);
        whiten(&self.factor, &mut self.whitened);
        let dim = self.dim;
        self.eigen
            .decompose(&self.whitened)
            .map_err(|_not_finite| NotPositiveDefinite)?;
        for (i, direction) in self.directions.chunks_exact_mut(dim).enumerate() {
            direction.copy_from_slice(self.eigen.vector(i));
            self.factor.solve_lower_transpose(direction);
        }
        for (noise, &value) in self.noise.iter_mut().zip(self.eigen.values()) {
            // A covariance has no negative eigenvalue but for rounding.
            *noise = value.max(0.0);
        }
        Ok(())
    }

    /// Gradient noise v_i per direction in ascending order (D).
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Sets k_i = `choose(v_i)`; fails where injected noise would need a negative variance.
    pub fn set_k(&mut self, choose: impl Fn(f64) -> f64) -> Result<(), NotPositiveDefinite> {
        for i in 0..self.dim {
            let (v, k) = (self.noise[i], choose(self.noise[i]));
            let variance = k - 0.25 * k * k * (1.0 + v);
            // NaN is refused too.
            if variance.is_nan() || variance < -ROUNDING * k {
                return Err(NotPositiveDefinite);
            }
            self.k[i] = k;
            self.injected[i] = variance.max(0.0).sqrt();
        }
        Ok(())
    }

    /// Sets steps as [`Self::set_k`] does, and turns pairs of directions by `turn`, t of the module: both then have the
    /// smaller k of the two over 1 + t².
    pub fn set_turned(
        &mut self,
        turn: f64,
        choose: impl Fn(f64) -> f64,
    ) -> Result<(), NotPositiveDefinite> {
        self.turn = turn;
        self.set_k(&choose)?;
        if turn == 0.0 {
            return Ok(());
        }
        for (pair, cross) in self.cross.iter_mut().enumerate() {
            let (i, j) = (2 * pair, 2 * pair + 1);
            let k = self.k[i].min(self.k[j]) / (1.0 + turn * turn);
            let (a, b) = (1.0 + self.noise[i], 1.0 + self.noise[j]);
            // The covariance of injected noise, k I − (k²/4) (1, t; −t, 1) diag(a, b) (1, −t; t, 1), and its factor.
            let taken = 0.25 * k * k;
            let first = k - taken * (a + turn * turn * b);
            let second = k - taken * (turn * turn * a + b);
            let both = -taken * turn * (b - a);
            if first.is_nan() || first.min(second) < -ROUNDING * k {
                return Err(NotPositiveDefinite);
            }
            let sd = first.max(0.0).sqrt();
            let shared = if first > ROUNDING * k { both / sd } else { 0.0 };
            *cross = shared;
            self.injected[i] = sd;
            self.injected[j] = (second - shared * shared).max(0.0).sqrt();
            (self.k[i], self.k[j]) = (k, k);
        }
        Ok(())
    }

    /// t of direction i, 0 where it has no partner.
    fn turn_of(&self, i: usize) -> f64 {
        if i < 2 * self.cross.len() {
            self.turn
        } else {
            0.0
        }
    }

    /// Direction i (D): column i of V.
    pub fn direction(&self, i: usize) -> &[f64] {
        &self.directions[i * self.dim..(i + 1) * self.dim]
    }

    /// Variance in direction i of the mean of `len` consecutive gradients of a stationary chain.
    pub fn mean_variance(&self, i: usize, len: usize) -> f64 {
        let (k, v) = (self.k[i], self.noise[i]);
        (1.0 + v) * variance_ratio(len, k, v, self.turn_of(i)) / len as f64
    }

    /// Smallest k_i: that of the slowest direction.
    pub fn slowest_k(&self) -> f64 {
        self.k.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Largest share over directions of gradient noise in all noise of a step, 0 to 1.
    pub fn noise_share(&self) -> f64 {
        (0..self.dim)
            .map(|i| {
                let square = self.turn_of(i).powi(2);
                // The partner of a turned direction.
                let j = if square > 0.0 { i ^ 1 } else { i };
                let noise = self.noise[i] + square * self.noise[j];
                0.25 * self.k[i] * noise / (1.0 - 0.25 * self.k[i] * (1.0 + square))
            })
            .fold(0.0, f64::max)
    }

    /// u ← u + (D + Q) `grad` + injected noise.
    pub fn advance(&self, grad: &[f64], rng: &mut ChainRng, u: &mut [f64]) {
        if self.turn != 0.0 {
            return self.advance_turned(grad, rng, u);
        }
        for (i, direction) in self.directions.chunks_exact(self.dim).enumerate() {
            let normal: f64 = StandardNormal.sample(rng);
            let move_by = 0.5 * self.k[i] * dot(direction, grad) + self.injected[i] * normal;
            axpy(move_by, direction, u);
        }
    }

    fn advance_turned(&self, grad: &[f64], rng: &mut ChainRng, u: &mut [f64]) {
        let draw = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
        for (pair, cross) in self.cross.iter().enumerate() {
            let (i, j) = (2 * pair, 2 * pair + 1);
            let (first, second) = (self.direction(i), self.direction(j));
            let forces = [dot(first, grad), dot(second, grad)];
            let normals = [draw(rng), draw(rng)];
            let half = 0.5 * self.k[i];
            let along_first =
                half * (forces[0] + self.turn * forces[1]) + self.injected[i] * normals[0];
            let along_second = half * (forces[1] - self.turn * forces[0])
                + cross * normals[0]
                + self.injected[j] * normals[1];
            axpy(along_first, first, u);
            axpy(along_second, second, u);
        }
        for i in 2 * self.cross.len()..self.dim {
            let along =
                0.5 * self.k[i] * dot(self.direction(i), grad) + self.injected[i] * draw(rng);
            axpy(along, self.direction(i), u);
        }
    }

    /// r of (15): the smallest eigenvalue of H⁻¹ over the largest of H⁻¹ N C H⁻¹, where Σ = `factor` N C. Infinite
    /// without gradient noise.
    pub fn strength_of_prior(&mut self, hessian: &[f64], factor: f64) -> f64 {
        let dim = self.dim;
        let mut largest_curvature = f64::NAN;
        if self.eigen.decompose(hessian).is_ok() {
            largest_curvature = self.eigen.values()[dim - 1];
        }
        // H⁻¹ Σ H⁻¹ = Σ_i v_i d_i d_i' with the directions d_i.
        self.whitened.fill(0.0);
        for (i, direction) in self.directions.chunks_exact(dim).enumerate() {
            for (row, &d) in self.whitened.chunks_exact_mut(dim).zip(direction) {
                axpy(self.noise[i] * d, direction, row);
            }
        }
        match self.eigen.decompose(&self.whitened) {
            Ok(()) => factor / (largest_curvature * self.eigen.values()[dim - 1]),
            Err(_not_finite) => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::linalg::symmetric_eigen;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;

    /// a b for D×D matrices.
    fn product(a: &[f64], b: &[f64], dim: usize) -> Vec<f64> {
        let mut out = vec![0.0; dim * dim];
        for i in 0..dim {
            for l in 0..dim {
                let row = &mut out[i * dim..(i + 1) * dim];
                axpy(a[i * dim + l], &b[l * dim..(l + 1) * dim], row);
            }
        }
        out
    }

    /// Σ_i weight_i d_i d_i' over the directions of a step.
    fn over_directions(step: &FisherStep, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut out = vec![0.0; step.dim * step.dim];
        for (i, direction) in step.directions.chunks_exact(step.dim).enumerate() {
            for (row, &x) in out.chunks_exact_mut(step.dim).zip(direction) {
                axpy(weight(i) * x, direction, row);
            }
        }
        out
    }

    /// A positive definite matrix with eigenvalues over several orders of magnitude.
    fn random_definite(dim: usize, rng: &mut ChainRng) -> Vec<f64> {
        let mut out = vec![0.0; dim * dim];
        for _ in 0..dim {
            let scale = 10_f64.powf(rng.random_range(-1.0..1.0));
            let x: Vec<f64> = (0..dim)
                .map(|_| scale * rng.sample::<f64, _>(StandardNormal))
                .collect();
            for (row, &x_i) in out.chunks_exact_mut(dim).zip(&x) {
                axpy(x_i, &x, row);
            }
        }
        out
    }

    fn smallest_eigenvalue(a: &[f64], dim: usize) -> f64 {
        symmetric_eigen(a, dim).unwrap().0[0]
    }

    /// 2D − DΣD − DHD written out.
    fn noise_covariance(d: &[f64], sigma: &[f64], hessian: &[f64], dim: usize) -> Vec<f64> {
        let taken: Vec<f64> = sigma.iter().zip(hessian).map(|(s, h)| s + h).collect();
        let taken = product(&product(d, &taken, dim), d, dim);
        d.iter()
            .zip(&taken)
            .map(|(d, taken)| 2.0 * d - taken)
            .collect()
    }

    /// Equal but for rounding of numbers as large as those of `scale`.
    fn assert_near(a: &[f64], b: &[f64], scale: &[f64], what: &str) {
        let scale = scale.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() <= 1e-9 * scale, "{what}: {a:?} {b:?}");
        }
    }

    /// D + Q of the module written out, D×D.
    fn drift(step: &FisherStep) -> Vec<f64> {
        let dim = step.dim;
        let mut out = over_directions(step, |i| 0.5 * step.k[i]);
        for pair in 0..dim / 2 {
            let (first, second) = (step.direction(2 * pair), step.direction(2 * pair + 1));
            let q = 0.5 * step.k[2 * pair] * step.turn;
            for i in 0..dim {
                for j in 0..dim {
                    out[i * dim + j] += q * (first[i] * second[j] - second[i] * first[j]);
                }
            }
        }
        out
    }

    fn transposed(a: &[f64], dim: usize) -> Vec<f64> {
        let mut out = a.to_vec();
        for i in 0..dim {
            for j in 0..dim {
                out[i * dim + j] = a[j * dim + i];
            }
        }
        out
    }

    /// Turned steps: (I − (D+Q)H) H⁻¹ (I − (D+Q)H)' + (D+Q)Σ(D+Q)' + injected = H⁻¹, the step that is taken is that of D + Q, and the
    /// variance of means of gradients is the sum over autocovariances, which follow from powers of I − (D+Q)H.
    #[test]
    fn turned_steps_keep_the_posterior_covariance() {
        let mut rng = stream(23, 0, Purpose::Noise);
        for dim in [1, 2, 3, 6] {
            for round in 0..20 {
                let hessian = random_definite(dim, &mut rng);
                let sigma = random_definite(dim, &mut rng);
                let turn = [0.0, 0.4, 1.0, 3.0][round % 4];
                let mut step = FisherStep::empty(dim);
                step.set_basis(&hessian, &sigma).unwrap();
                step.set_turned(turn, |v| k_limit(v).min(K_INDEPENDENT))
                    .unwrap();
                let d = drift(&step);
                // What is injected: L L' with L in the basis of directions.
                let mut factor = vec![0.0; dim * dim];
                for i in 0..dim {
                    factor[i * dim + i] = step.injected[i];
                }
                for (pair, cross) in step.cross.iter().enumerate() {
                    if turn != 0.0 {
                        factor[(2 * pair + 1) * dim + 2 * pair] = *cross;
                    }
                }
                let in_basis = product(&factor, &transposed(&factor, dim), dim);
                let basis = transposed(&step.directions, dim);
                let injected = product(&product(&basis, &in_basis, dim), &step.directions, dim);
                let target = Cholesky::of(&hessian, dim).unwrap().inverse();
                let mut keep = product(&d, &hessian, dim);
                for (index, entry) in keep.iter_mut().enumerate() {
                    *entry = f64::from(u8::from(index % (dim + 1) == 0)) - *entry;
                }
                let kept = product(&product(&keep, &target, dim), &transposed(&keep, dim), dim);
                let noise = product(&product(&d, &sigma, dim), &transposed(&d, dim), dim);
                let next: Vec<f64> = (0..dim * dim)
                    .map(|i| kept[i] + noise[i] + injected[i])
                    .collect();
                assert_near(&target, &next, &target, "stationary covariance");

                // Without noise of its own the move is (D + Q) g.
                let grad: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
                let mut quiet = FisherStep {
                    injected: vec![0.0; dim],
                    cross: vec![0.0; dim / 2],
                    ..step
                };
                let mut u = vec![0.0; dim];
                quiet.advance(&grad, &mut rng, &mut u);
                let expected: Vec<f64> = (d.chunks_exact(dim)).map(|row| dot(row, &grad)).collect();
                assert_near(&u, &expected, &expected, "move");
                quiet.turn = turn;

                // γ_0 = H + Σ, γ_l = H K^l H⁻¹ H − H K^(l−1) (D+Q) Σ, in direction i by d_i' γ d_i.
                let len = 7;
                for i in 0..dim {
                    let direction = quiet.direction(i).to_vec();
                    let along = |matrix: &[f64]| {
                        let mut out = 0.0;
                        for (row, &x) in matrix.chunks_exact(dim).zip(&direction) {
                            out += x * dot(row, &direction);
                        }
                        out
                    };
                    let mut power = over_directions(&quiet, |_| 1.0);
                    // Σ d d' over all directions is H⁻¹; the identity is H times that.
                    power = product(&hessian, &power, dim);
                    let mut sum = len as f64 * (along(&hessian) + along(&sigma));
                    for lag in 1..len {
                        let before = power.clone();
                        power = product(&power, &transposed(&transposed(&keep, dim), dim), dim);
                        let theta = product(&hessian, &power, dim);
                        let noise = product(
                            &product(&product(&hessian, &before, dim), &d, dim),
                            &sigma,
                            dim,
                        );
                        sum += 2.0 * (len - lag) as f64 * (along(&theta) - along(&noise));
                    }
                    let expected = sum / (len * len) as f64;
                    let found = quiet.mean_variance(i, len);
                    assert!(
                        (found / expected - 1.0).abs() < 1e-6,
                        "{dim} {turn}: {found} {expected}"
                    );
                }
            }
        }
    }

    /// Injected noise must be the matrix of update (8), and together with gradient noise make H⁻¹ stationary:
    /// (I − DH) H⁻¹ (I − DH)' + DΣD + injected = H⁻¹.
    #[test]
    fn the_posterior_covariance_is_stationary_for_every_choice_of_k() {
        let mut rng = stream(21, 0, Purpose::Noise);
        for dim in [1, 2, 5] {
            for round in 0..50 {
                let hessian = random_definite(dim, &mut rng);
                let sigma = random_definite(dim, &mut rng);
                let mut step = FisherStep::empty(dim);
                step.set_basis(&hessian, &sigma).unwrap();
                if round % 2 == 0 {
                    step.set_k(|v| k_limit(v).min(1.3)).unwrap();
                } else {
                    let k = 0.9 * k_limit(step.noise()[dim - 1]);
                    step.set_k(|_| k).unwrap();
                }
                let d = over_directions(&step, |i| 0.5 * step.k[i]);
                let injected = over_directions(&step, |i| step.injected[i].powi(2));
                let written_out = noise_covariance(&d, &sigma, &hessian, dim);
                assert_near(&injected, &written_out, &d, "injected noise");

                let target = Cholesky::of(&hessian, dim).unwrap().inverse();
                let mut keep = product(&d, &hessian, dim);
                for (index, entry) in keep.iter_mut().enumerate() {
                    *entry = f64::from(u8::from(index % (dim + 1) == 0)) - *entry;
                }
                let mut transposed = keep.clone();
                for i in 0..dim {
                    for j in 0..dim {
                        transposed[i * dim + j] = keep[j * dim + i];
                    }
                }
                let mut next = product(&product(&keep, &target, dim), &transposed, dim);
                axpy(1.0, &product(&product(&d, &sigma, dim), &d, dim), &mut next);
                axpy(1.0, &injected, &mut next);
                assert_near(&target, &next, &target, "stationary covariance");
            }
        }
    }

    /// The exact bound is necessary and sufficient, and never below the two of El Hanchi (2018), (13) and (15).
    #[test]
    fn the_bound_on_k_is_exact_and_beats_those_of_the_report() {
        let mut rng = stream(22, 0, Purpose::Noise);
        let dim = 2;
        let mut gains = Vec::new();
        for _ in 0..20_000 {
            let information = random_definite(dim, &mut rng);
            let mut hessian = random_definite(dim, &mut rng);
            axpy(1.0, &information, &mut hessian);
            let factor = 10_f64.powf(rng.random_range(0.0..3.0));
            let sigma: Vec<f64> = information.iter().map(|x| factor * x).collect();
            let mut step = FisherStep::empty(dim);
            step.set_basis(&hessian, &sigma).unwrap();
            let exact = k_limit(step.noise()[dim - 1]);
            step.set_k(|_| exact).unwrap();
            assert!(step.set_k(|_| 1.001 * exact).is_err());

            let inverse = Cholesky::of(&hessian, dim).unwrap().inverse();
            for (share, definite) in [(0.999, true), (1.001, false)] {
                let d: Vec<f64> = inverse.iter().map(|x| 0.5 * share * exact * x).collect();
                let covariance = noise_covariance(&d, &sigma, &hessian, dim);
                assert_eq!(smallest_eigenvalue(&covariance, dim) > 0.0, definite);
            }
            let r = {
                let sandwich = product(&product(&inverse, &information, dim), &inverse, dim);
                smallest_eigenvalue(&inverse, dim)
                    / symmetric_eigen(&sandwich, dim).unwrap().0[dim - 1]
            };
            let own_r = step.strength_of_prior(&hessian, factor);
            assert!((own_r / r - 1.0).abs() < 1e-6, "{own_r} {r}");
            let report = k_limit(factor).max(4.0 * r / (r + factor));
            assert!(exact >= report * (1.0 - 1e-9), "{exact} {report}");
            gains.push(exact / report);
        }
        // The gain is real for some strong priors.
        assert!(gains.iter().copied().fold(0.0, f64::max) > 1.5);
    }

    /// With update (7) of El Hanchi (2018), that is without the term DHD, the covariance is inflated by 1/(1 − k/4); with (8) it
    /// is H⁻¹; either way draws are correlated by 1 − k/2.
    #[test]
    fn update_7_inflates_the_covariance_and_update_8_does_not() {
        let hessian = [5.0, 2.0, 2.0, 3.0];
        let sigma = [15.0, 1.0, 1.0, 8.0];
        let target = Cholesky::of(&hessian, 2).unwrap().inverse();
        for corrected in [true, false] {
            let mut step = FisherStep::empty(2);
            step.set_basis(&hessian, &sigma).unwrap();
            let k = 0.8 * k_limit(step.noise()[1]);
            step.set_k(|_| k).unwrap();
            if !corrected {
                for i in 0..2 {
                    step.injected[i] = (k - 0.25 * k * k * step.noise[i]).sqrt();
                }
            }
            let noise = Cholesky::of(&sigma, 2).unwrap();
            let mut rng = stream(23, 0, Purpose::Noise);
            let (mut u, mut grad) = ([0.0; 2], [0.0; 2]);
            let (mut squares, mut lagged) = ([0.0; 3], [0.0; 2]);
            let steps = 400_000;
            for _ in 0..steps {
                let old = u;
                noise.lower_mul(
                    &[rng.sample(StandardNormal), rng.sample(StandardNormal)],
                    &mut grad,
                );
                for i in 0..2 {
                    grad[i] -= dot(&hessian[2 * i..2 * i + 2], &u);
                }
                step.advance(&grad, &mut rng, &mut u);
                squares[0] += u[0] * u[0];
                squares[1] += u[1] * u[1];
                squares[2] += u[0] * u[1];
                lagged[0] += old[0] * u[0];
                lagged[1] += old[1] * u[1];
            }
            let inflation = if corrected {
                1.0
            } else {
                1.0 / (1.0 - 0.25 * k)
            };
            let correlation = 1.0 - 0.5 * k;
            let [s00, s11, s01] = squares.map(|s| s / f64::from(steps));
            // Of a variance estimated from an autoregressive chain: sqrt(2/n_eff), n_eff = n (1 − φ²)/(1 + φ²).
            let phi2 = correlation * correlation;
            let error = (2.0 * (1.0 + phi2) / ((1.0 - phi2) * f64::from(steps))).sqrt();
            for (got, expected, scale) in [
                (s00, target[0], target[0]),
                (s11, target[3], target[3]),
                (s01, target[1], (target[0] * target[3]).sqrt()),
            ] {
                let difference = (got - inflation * expected) / (inflation * scale);
                assert!(
                    difference.abs() < 4.0 * error,
                    "{corrected}: {difference} ± {error}"
                );
            }
            assert!(
                inflation == 1.0 || inflation - 1.0 > 8.0 * error,
                "the test can tell the two apart"
            );
            let error = ((1.0 - phi2) / f64::from(steps)).sqrt();
            for (lagged, square) in lagged.iter().zip([s00, s11]) {
                let got = lagged / f64::from(steps) / square;
                assert!(
                    (got - correlation).abs() < 4.0 * error,
                    "{got} {correlation} ± {error}"
                );
            }
        }
    }

    #[test]
    fn a_curvature_that_is_not_positive_definite_is_refused() {
        let mut step = FisherStep::empty(2);
        assert!(
            step.set_basis(&[1.0, 2.0, 2.0, 1.0], &[1.0, 0.0, 0.0, 1.0])
                .is_err()
        );
        assert!(
            step.set_basis(&[1.0, 0.0, 0.0, 1.0], &[f64::NAN; 4])
                .is_err()
        );
    }
}
