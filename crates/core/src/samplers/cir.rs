//! The Cox-Ingersoll-Ross process, simulated without error: what `scir` is made of.
//!
//! | | equation |
//! |---|---|
//! | ours | dθ = (a − bθ) dt + sqrt(2θ) dW, stationary Gamma(a, rate b) |
//! | Baker, Fearnhead, Fox and Nemeth (2018), (3.1) | the same with b = 1 |
//! | Baker (2018), (B.3.1) | dθ = b'(a' − θ) dt + σ sqrt(θ) dW, whose time is fixed here by σ² = 2: b = b', a = a'b' |
//!
//! The transition over time h, (3.2) of the paper, is (s/2) χ²(2a, 2θe^{−bh}/s) with s = (1 − e^{−bh})/b. A noncentral
//! chi-square is a central one with a Poisson number of further degrees of freedom, so that
//!
//! θ' = s G(a + M), M ~ Poisson(θe^{−bh}/s), G(k) ~ Gamma(k, 1),
//!
//! for whatever a > 0 and h > 0. States are logarithms: for a = 0.01 half of all θ are below 1e-30, and a = 0.0001 puts
//! most of them below the smallest number there is.
//!
//! To target a gamma with another scale, multiply θ by it; powers of θ target generalised gammas (paper, section 3.3).

use rand_distr::{Distribution as _, Exp1, Gamma, Poisson, StandardNormal};

use ergodic_base::ChainRng;

/// Beyond this mean a Poisson count is as good as normal and its unit is lost in rounding.
const LARGE_MEAN: f64 = 1e15;

/// The logarithm of a Gamma(`shape`, 1) variable; NaN for a shape that is not positive.
pub fn log_gamma(rng: &mut ChainRng, shape: f64) -> f64 {
    // For small shapes G(a) = G(a + 1) U^{1/a}, whose logarithm does not underflow.
    let small = shape < 1.0;
    let Ok(gamma) = Gamma::new(if small { shape + 1.0 } else { shape }, 1.0) else {
        return f64::NAN;
    };
    let log: f64 = gamma.sample(rng).ln();
    if small {
        let exponential: f64 = Exp1.sample(rng);
        log - exponential / shape
    } else {
        log
    }
}

/// A transition over a fixed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transition {
    /// s = (1 − e^{−bh})/b.
    scale: f64,
    /// bh.
    decay: f64,
}

impl Transition {
    /// Over `time` h > 0 with `rate` b > 0.
    pub fn new(rate: f64, time: f64) -> Self {
        let decay = rate * time;
        Self {
            scale: -(-decay).exp_m1() / rate,
            decay,
        }
    }

    /// log θ' given log θ, for the drift `a`; NaN where the result is not a number.
    pub fn sample(&self, rng: &mut ChainRng, log_theta: f64, a: f64) -> f64 {
        let log_scale = self.scale.ln();
        let mean = (log_theta - self.decay - log_scale).exp();
        let further = if mean > LARGE_MEAN {
            let z: f64 = StandardNormal.sample(rng);
            mean + mean.sqrt() * z
        } else {
            // A mean that underflowed to 0 means no further degrees of freedom.
            Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(rng))
        };
        log_scale + log_gamma(rng, a + further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::testing::assert_moments;
    use ergodic_base::{Purpose, stream};
    use ergodic_diagnostics::kolmogorov::distance_from_uniform;
    use statrs::function::gamma::gamma_lr;

    impl Transition {
        /// E[θ' | θ] = θe^{−bh} + s a.
        fn mean(&self, theta: f64, a: f64) -> f64 {
            theta * (-self.decay).exp() + self.scale * a
        }

        /// Var[θ' | θ] = 2 s θe^{−bh} + s² a.
        fn variance(&self, theta: f64, a: f64) -> f64 {
            2.0 * self.scale * theta * (-self.decay).exp() + self.scale * self.scale * a
        }
    }

    fn rng(seed: u64) -> ChainRng {
        stream(seed, 0, Purpose::Noise)
    }

    /// Mean and variance of a transition, for small and large a, θ and h, and for rates other than 1.
    #[test]
    fn transitions_have_the_closed_form_moments() {
        for (k, (rate, time, a, theta)) in [
            (1.0, 0.5, 0.1, 0.3),
            (1.0, 1.0, 800.1, 700.0),
            (1.0, 0.01, 100.1, 120.0),
            (1.0, 5.0, 2.0, 50.0),
            (0.3, 0.7, 1.5, 4.0),
            (40.0, 0.1, 60.0, 2.0),
        ]
        .into_iter()
        .enumerate()
        {
            let transition = Transition::new(rate, time);
            let mut rng = rng(k as u64);
            let draws: Vec<f64> = (0..40_000)
                .map(|_| transition.sample(&mut rng, f64::ln(theta), a).exp())
                .collect();
            let (mean, variance) = (transition.mean(theta, a), transition.variance(theta, a));
            assert_moments(&format!("case {k}"), &[draws], mean, variance);
        }
        let e = f64::exp(-0.5);
        let transition = Transition::new(1.0, 0.5);
        assert!((transition.mean(3.0, 2.0) - (3.0 * e + 2.0 * (1.0 - e))).abs() < 1e-14);
        let variance = 6.0 * (e - e * e) + 2.0 * (1.0 - e).powi(2);
        assert!((transition.variance(3.0, 2.0) - variance).abs() < 1e-14);
    }

    /// Distance of `draws` from the distribution function `cdf`.
    fn distance(draws: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
        let mut probabilities: Vec<f64> = draws.iter().map(|&x| cdf(x)).collect();
        distance_from_uniform(&mut probabilities)
    }

    /// The stationary distribution is Gamma(a, b), and a start from it is kept by one transition of any length.
    #[test]
    fn the_stationary_gamma_is_kept() {
        for (k, (rate, time, a)) in [(1.0, 0.3, 0.1), (1.0, 2.0, 3.0), (2.5, 0.05, 40.0)]
            .into_iter()
            .enumerate()
        {
            let transition = Transition::new(rate, time);
            let mut rng = rng(100 + k as u64);
            let draws: Vec<f64> = (0..10_000)
                .map(|_| {
                    let start = log_gamma(&mut rng, a) - f64::ln(rate);
                    rate * transition.sample(&mut rng, start, a).exp()
                })
                .collect();
            // Smirnov's bound 1.95/sqrt(n) is passed by chance once in a thousand.
            let found = distance(&draws, |x| if x > 0.0 { gamma_lr(a, x) } else { 0.0 });
            assert!(found < 1.95 / 100.0, "case {k}: {found}");
        }
    }

    #[test]
    fn shapes_that_underflow_stay_finite_and_right() {
        // a (−log G(a)) tends to a standard exponential variable as a → 0.
        for a in [1e-3, 1e-6] {
            let mut rng = rng(7);
            let draws: Vec<f64> = (0..10_000).map(|_| -a * log_gamma(&mut rng, a)).collect();
            assert!(draws.iter().all(|x| x.is_finite()));
            let found = distance(&draws, |x| 1.0 - (-x).exp());
            assert!(found < 1.95 / 100.0 + a, "{a}: {found}");
        }
        let mut rng = rng(8);
        let mut log_theta = -1e6;
        for _ in 0..100 {
            log_theta = Transition::new(1.0, 0.1).sample(&mut rng, log_theta, 1e-5);
            assert!(log_theta.is_finite());
        }
        assert!(log_gamma(&mut rng, f64::NAN).is_nan() && log_gamma(&mut rng, -1.0).is_nan());
        let huge = Transition::new(1.0, 1e-9).sample(&mut rng, 60.0, 1.0);
        assert!((huge - 60.0).abs() < 1e-6, "{huge}");
    }
}
