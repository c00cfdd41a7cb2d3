//! The convergence criterion of optimized stochastic gradient Fisher scoring and what passing it means.
//!
//! Near the mode the mean of the last n stochastic gradients has variance (1/n)(N C + G) + (N²/(n|S|)) C if they
//! were independent; the criterion asks every component of the mean to be within b standard deviations of zero.
//! The samplers test it on [`GradWindow`]; here is what is shown of it, and how often it passes at stationarity.
//!
//! Consecutive gradients are not independent: for a Gaussian target with curvature H, gradient noise of variance
//! V = vH and preconditioner D = k/(2H), the chain is θ' = φθ + …, φ = 1 - k/2, with stationary variance 1/H, and
//! Cov(Y_i, Y_{i+j}) = (φ - kv/2) φ^(j-1) H. With a weak prior v = N/|S| and k = 4|S|/(N+|S|) this is negative, so
//! a window of n = 1/k passes a little more often than a normal variable stays within b, and long windows are lax.

use statrs::function::erf::erf;

use crate::base::grad_window::{GradWindow, variance_ratio};

/// Gradients in the window for the step constant `k`: the nearest whole number to 1/k, at least 1.
pub fn window_len(k: f64) -> usize {
    // A k of zero or NaN has no window; the cast saturates, and the sampler refuses such a k before.
    (1.0 / k).round().max(1.0) as usize
}

/// Probability that one component passes at one iteration at stationarity; about 0.73 for n = 1/k and b = 1. For
/// all of d independent components it is the d-th power, therefore the criterion is tested at every iteration.
pub fn pass_probability(len: usize, k: f64, noise: f64, b: f64) -> f64 {
    erf(b / (2.0 * variance_ratio(len, k, noise)).sqrt())
}

/// The state of the criterion for display: ratios with limit 1.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionReading {
    /// |mean gradient| / (b × standard deviation) per component; the component is within its limit up to 1.
    pub ratios: Vec<f64>,
    /// Component with the largest ratio; `None` without components.
    pub worst: Option<usize>,
    /// Whether the window is full and all components are within the limit.
    pub passed: bool,
}

/// Reads the criterion off a window. `variance` as in [`GradWindow::ratios`].
pub fn read(window: &GradWindow, variance: &[f64], b: f64) -> CriterionReading {
    let mut ratios = vec![0.0; variance.len()];
    let passed = window.ratios(variance, b, &mut ratios);
    // NaN counts as the worst.
    let worst = (0..ratios.len()).max_by(|&i, &j| ratios[i].abs().total_cmp(&ratios[j].abs()));
    CriterionReading {
        ratios,
        worst,
        passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::grad_window::mean_gradient_variance;
    use crate::base::rng::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    /// Runs the corrected update at stationarity on N(0, 1/H) and gives the share of passes and the variance ratio,
    /// each with its standard error from batches.
    fn simulate(share: f64, windows: f64, seed: u64) -> [(f64, f64); 2] {
        let num_obs = 1000.0;
        // One observation's gradient has variance c; weak prior: curvature N c.
        let c = 0.7;
        let curvature = num_obs * c;
        let k = 4.0 * share / (1.0 + share);
        let noise = curvature / share;
        let d = k / (2.0 * curvature);
        // At this k, the largest, the gradient noise is all the noise there is; up to rounding.
        let injected = (2.0 * d - d * d * noise - d * d * curvature).max(0.0);
        let len = (windows / k).round() as usize;
        let mut variance = [0.0];
        let batch = (share * num_obs).round() as usize;
        mean_gradient_variance(len, num_obs as usize, batch, &[c], &[0.0], &mut variance);

        let mut rng = stream(seed, 0, Purpose::Diagnostics);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let mut theta = normal() / curvature.sqrt();
        let mut window = GradWindow::new(1, len);
        let mut ratio = [0.0];
        let (mut passes, mut squares) = (Vec::new(), Vec::new());
        let batches = 40;
        for _ in 0..batches {
            let (mut pass, mut square) = (0.0, 0.0);
            let steps = 400 * len;
            for _ in 0..steps {
                let grad = -curvature * theta + noise.sqrt() * normal();
                theta += d * grad + injected.sqrt() * normal();
                window.push(&[grad]);
                pass += f64::from(u8::from(window.ratios(&variance, 1.0, &mut ratio)));
                square += ratio[0] * ratio[0];
            }
            passes.push(pass / steps as f64);
            squares.push(square / steps as f64);
        }
        [passes, squares].map(|means| {
            let count = means.len() as f64;
            let mean = means.iter().sum::<f64>() / count;
            let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
            (mean, (variance / count).sqrt())
        })
    }

    #[test]
    fn the_formulas_agree_with_simulated_chains() {
        for (share, windows, seed) in [(0.04_f64, 1.0_f64, 11), (0.01, 1.0, 12), (0.01, 10.0, 13)] {
            let k = 4.0 * share / (1.0 + share);
            let len = (windows / k).round() as usize;
            let [(pass, pass_error), (ratio, ratio_error)] = simulate(share, windows, seed);
            let expected = pass_probability(len, k, 1.0 / share, 1.0);
            assert!(
                (pass - expected).abs() < 4.0 * pass_error,
                "{pass} ± {pass_error}, expected {expected}"
            );
            let expected = variance_ratio(len, k, 1.0 / share);
            assert!(
                (ratio - expected).abs() < 4.0 * ratio_error,
                "{ratio} ± {ratio_error}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_window_of_one_over_k_is_about_calibrated_and_longer_ones_are_lax() {
        for share in [0.04_f64, 0.01, 0.002] {
            let k = 4.0 * share / (1.0 + share);
            let noise = 1.0 / share;
            assert!((variance_ratio(window_len(k), k, noise) - 0.82).abs() < 0.04);
            assert!((pass_probability(window_len(k), k, noise, 1.0) - 0.73).abs() < 0.015);
            let long = (10.0 / k).round() as usize;
            assert!((variance_ratio(long, k, noise) - 0.19).abs() < 0.015);
            assert!(pass_probability(long, k, noise, 1.0) > 0.965);
        }
    }

    #[test]
    fn independent_gradients_need_no_correction() {
        assert!((variance_ratio(1, 0.3, 20.0) - 1.0).abs() < 1e-15);
        assert!((pass_probability(1, 0.3, 20.0, 1.0) - 0.682_689_492_137).abs() < 1e-9);
    }

    #[test]
    fn the_reading_names_the_worst_component() {
        let mut window = GradWindow::new(3, 1);
        window.push(&[0.1, -0.9, 0.5]);
        let reading = read(&window, &[1.0; 3], 0.5);
        assert_eq!(reading.worst, Some(1));
        assert!(!reading.passed);
        assert!((reading.ratios[1] - 1.8).abs() < 1e-15);
    }
}
