//! Processes of positive variables whose shares of their sum are probabilities: exact Cox-Ingersoll-Ross transitions
//! ([`super::cir`]) and Riemannian Langevin steps in the expanded mean ([`super::simplex::sgrld_simplex`]), one of them at a time. Variables are
//! logarithms, since those of rare categories are smaller than any number.

use rand_distr::{Distribution as _, StandardNormal};

use super::cir::Transition;
use super::simplex::sgrld_simplex::mirrored_step;
use ergodic_base::ChainRng;

/// A process of positive variables that share a sum, one of them at a time.
pub trait Process: 'static {
    /// Shape of the gamma distribution of the sum of variables with `prior` as sum of their prior shapes.
    fn shape_of_sum(prior: f64, observations: f64) -> f64;
    /// Steps the logarithms of variables with prior shape and estimated count each over time h.
    fn step(
        logs: &mut [f64],
        shapes: impl Fn(usize) -> [f64; 2],
        h: f64,
        relax: f64,
        rng: &mut ChainRng,
    );
}

/// Exact transitions.
pub struct CoxIngersollRoss;

/// Langevin steps in the expanded mean.
pub struct Riemann;

/// Langevin steps of the logarithms themselves, the expanded natural parameters: θ' = θ + h (α + c − (1 + Σc/Σe^θ) e^θ) + sqrt(2h) ξ,
/// where the prior of e^θ is Gamma(α, 1) and counts c are of the shares of e^θ.
pub struct Natural;

impl Process for CoxIngersollRoss {
    fn shape_of_sum(prior: f64, observations: f64) -> f64 {
        prior + observations
    }

    fn step(
        logs: &mut [f64],
        shapes: impl Fn(usize) -> [f64; 2],
        h: f64,
        _relax: f64,
        rng: &mut ChainRng,
    ) {
        let transition = Transition::new(1.0, h);
        for (k, log) in logs.iter_mut().enumerate() {
            let [prior, count] = shapes(k);
            *log = transition.sample(rng, *log, prior + count);
        }
    }
}

impl Process for Natural {
    fn shape_of_sum(prior: f64, _observations: f64) -> f64 {
        prior
    }

    fn step(
        logs: &mut [f64],
        shapes: impl Fn(usize) -> [f64; 2],
        h: f64,
        relax: f64,
        rng: &mut ChainRng,
    ) {
        let time = h * relax;
        let total: f64 = logs.iter().map(|log| log.exp()).sum();
        let observations: f64 = (0..logs.len()).map(|k| shapes(k)[1]).sum();
        let pull = 1.0 + observations / total;
        for (k, log) in logs.iter_mut().enumerate() {
            let [prior, count] = shapes(k);
            let z: f64 = StandardNormal.sample(rng);
            *log += time * (prior + count - pull * log.exp()) + (2.0 * time).sqrt() * z;
        }
    }
}

impl Process for Riemann {
    fn shape_of_sum(prior: f64, _observations: f64) -> f64 {
        prior
    }

    fn step(
        logs: &mut [f64],
        shapes: impl Fn(usize) -> [f64; 2],
        h: f64,
        relax: f64,
        rng: &mut ChainRng,
    ) {
        let total: f64 = logs.iter().map(|log| log.exp()).sum();
        let observations: f64 = (0..logs.len()).map(|k| shapes(k)[1]).sum();
        let pull = 1.0 + observations / total;
        for (k, log) in logs.iter_mut().enumerate() {
            let [prior, count] = shapes(k);
            let z: f64 = StandardNormal.sample(rng);
            let theta = log.exp();
            *log = mirrored_step(theta, prior + count - pull * theta, h * relax, z).ln();
        }
    }
}
