//! The density of draws at one point, with its Monte Carlo error.
//!
//! The logarithm of the density is taken for a parabola near the point, and its three coefficients follow from the weight, mean and
//! variance of the draws under a Gaussian kernel K of bandwidth h around the point x (Hjort and Jones 1996, Annals of Statistics 24,
//! sections 2 and 5.4): with m and v the kernel's mean and variance of the draws,
//!
//! ```text
//! f(x) = mean K((x_i − x)/h)/h · (h/√v) · exp(−(m − x)²/(2v))
//! ```
//!
//! This is exact for normal densities whatever h is, far from their centre too, and its bias elsewhere is of order h⁴ where that of the
//! kernel estimate is of order h².

use std::f64::consts::PI;

use super::mcse::mcse_mean;
use super::moments::mean_and_variance;
use super::{Estimate, Missing};

/// Bandwidth for one draw, in standard deviations of all draws (divisor n); it falls with the ninth root of their effective number, as bias of
/// order h⁴ and variance of order 1/(n h) ask for. At 1.5 the density of a gamma distribution of shape 5 would be 8 % too small below its
/// mode with 100,000 draws.
const BANDWIDTH: f64 = 1.0;
/// Draws near the point, each counted by its kernel over the kernel's peak, from which a parabola can be told.
const LEAST_NEAR: f64 = 20.0;

/// The logarithm of a density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDensity {
    /// The estimate.
    pub value: f64,
    /// Monte Carlo standard error of the logarithm, which is the relative error of the density.
    pub mcse: f64,
}

/// The logarithm of the density at `at` of the draws of `chains`, of which `ess` are worth as many independent ones.
///
/// # Errors
/// [`Missing::TooFew`] where fewer than about twenty draws lie near the point, besides those of the Monte Carlo error.
pub fn log_density_at(chains: &[&[f64]], at: f64, ess: f64) -> Result<LogDensity, Missing> {
    let all = chains.concat();
    if !all.iter().all(|x| x.is_finite()) {
        return Err(Missing::NotFinite);
    }
    let (_, variance) = mean_and_variance(&all);
    let sd = variance.sqrt();
    if !(sd > 0.0 && ess >= 1.0) {
        return Err(Missing::Constant);
    }
    let h = BANDWIDTH * sd * ess.powf(-1.0 / 9.0);
    let kernel = |x: f64| {
        let z = (x - at) / h;
        (-0.5 * z * z).exp()
    };
    let n = all.len() as f64;
    let near: f64 = all.iter().map(|&x| kernel(x)).sum();
    if near < LEAST_NEAR {
        return Err(Missing::TooFew);
    }
    // Relative to the point: with the mean far away squares would lose digits.
    let m = all.iter().map(|&x| kernel(x) * (x - at)).sum::<f64>() / near;
    let square = |x: f64| (x - at - m) * (x - at - m);
    let v = all.iter().map(|&x| kernel(x) * square(x)).sum::<f64>() / near;
    if v <= 0.0 {
        return Err(Missing::Constant);
    }
    let mean_kernel = near / n;
    let value = mean_kernel.ln() - 0.5 * (2.0 * PI).ln() - 0.5 * v.ln() - m * m / (2.0 * v);
    // What a draw moves the estimate by: its share of the weight, of m and of v, each times the slope in it.
    let slope_v = 0.5 * (m * m / v - 1.0) / v;
    let influence = |&x: &f64| {
        let weight = kernel(x) / mean_kernel;
        weight * (1.0 - m / v * (x - at - m) + slope_v * (square(x) - v))
    };
    let influences: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.iter().map(influence).collect())
        .collect();
    let slices: Vec<&[f64]> = influences.iter().map(Vec::as_slice).collect();
    let mcse: Estimate = mcse_mean(&slices);
    Ok(LogDensity { value, mcse: mcse? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::{Distribution as _, Gamma, StandardNormal};

    fn chains(
        draws: usize,
        mut draw: impl FnMut(&mut ergodic_base::ChainRng) -> f64,
    ) -> Vec<Vec<f64>> {
        (0..4)
            .map(|chain| {
                let mut rng = stream(11, chain, Purpose::Diagnostics);
                (0..draws).map(|_| draw(&mut rng)).collect()
            })
            .collect()
    }

    fn estimate(chains: &[Vec<f64>], at: f64) -> Result<LogDensity, Missing> {
        let slices: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        let ess = chains.iter().map(Vec::len).sum::<usize>() as f64;
        log_density_at(&slices, at, ess)
    }

    #[test]
    fn a_normal_density_is_right_within_its_error_also_in_the_tail() {
        let normal = |z: f64| -0.5 * (2.0 * PI).ln() - 2.5_f64.ln() - 0.5 * z * z;
        let chains = chains(2000, |rng| {
            40.0 + 2.5 * rng.sample::<f64, _>(StandardNormal)
        });
        for z in [0.0, 0.5, -1.0, 2.0, -2.5] {
            let found = estimate(&chains, 40.0 + 2.5 * z).unwrap();
            let off = (found.value - normal(z)) / found.mcse;
            assert!(off.abs() < 3.5 && found.mcse < 0.2, "{z}: {found:?}, {off}");
        }
        // Where no draw is, nothing is told.
        assert_eq!(estimate(&chains, 0.0), Err(Missing::TooFew));
    }

    /// The error that is told is that which repeated runs show.
    #[test]
    fn the_error_is_the_spread_over_runs() {
        let mut errors = Vec::new();
        let mut told = 0.0;
        for run in 0..200 {
            let mut rng = stream(100 + run, 0, Purpose::Diagnostics);
            let mut chain =
                || -> Vec<f64> { (0..500).map(|_| rng.sample(StandardNormal)).collect() };
            let chains = [chain(), chain()];
            let found = estimate(&chains, 1.5).unwrap();
            errors.push(found.value + 0.5 * (2.0 * PI).ln() + 1.125);
            told += found.mcse / 200.0;
        }
        let (mean, variance) = mean_and_variance(&errors);
        let sd = variance.sqrt();
        // A standard deviation of 200 has a relative error of 5 %, and the mean one of sd / 14.
        assert!((sd / told - 1.0).abs() < 0.2, "{sd} {told}");
        assert!(
            mean.abs() < 4.0 * sd / 200.0_f64.sqrt() + 0.01,
            "{mean} {sd}"
        );
    }

    #[test]
    fn the_bias_of_a_skewed_density_is_small() {
        let gamma = Gamma::new(5.0, 1.0).unwrap();
        let chains = chains(25_000, |rng| gamma.sample(rng));
        for x in [2.0_f64, 4.0, 8.0] {
            // x^4 exp(−x)/4!
            let truth = 4.0 * x.ln() - x - 24.0_f64.ln();
            let found = estimate(&chains, x).unwrap();
            let bound = 4.0 * found.mcse + 0.01;
            assert!(
                (found.value - truth).abs() < bound,
                "{x}: {found:?} {truth}"
            );
        }
    }

    /// Chains that move slowly are worth fewer draws, and their error says so.
    #[test]
    fn slow_chains_have_larger_errors() {
        let fast = chains(4000, |rng| rng.sample(StandardNormal));
        let mut state = 0.0;
        let slow = chains(4000, |rng| {
            state = 0.95 * state
                + (1.0 - 0.95_f64 * 0.95).sqrt() * rng.sample::<f64, _>(StandardNormal);
            state
        });
        let [fast, slow] = [fast, slow].map(|chains| estimate(&chains, 0.5).unwrap());
        assert!(slow.mcse > 2.0 * fast.mcse, "{fast:?} {slow:?}");
    }
}
