//! Stochastic gradient ascent, plain and with momentum: the optimisers behind SGLD and SGHMC (Chen 2016, table of optimisers).
//!
//! Plain (Robbins and Monro 1951): θ' = θ + a ḡ. With momentum (Polyak 1964, "SGD-M" in Chen 2016): v' = μ v + a ḡ, θ' = θ + v';
//! a is chosen so that a/(1 − μ) is the learning rate of the plain method.

use super::registry::OptimiserSpec;
use super::stochastic::{
    BATCH_FIELD, Moment, Optimiser, POLISH_FIELD, RATE_FIELD, STEPS_FIELD, Update, real,
};
use ergodic_base::linalg::axpy;
use ergodic_base::rng::ChainRng;
use ergodic_base::settings::{Default, Field, Kind, Settings};

/// The share of the last step that is kept.
pub(super) const MOMENTUM_FIELD: Field = Field {
    key: "momentum",
    label: "Momentum",
    help: "μ: the share of the last step that the next one keeps",
    kind: Kind::Real {
        min: 0.0,
        max: 0.999,
    },
    default: Some(Default::Real(0.9)),
    why: "the customary value: a step remembers about ten gradients",
};

/// Plain.
pub(super) struct Sgd {
    rate: f64,
}

impl Optimiser for Sgd {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "sgd",
        title: "SGD",
        about: "Stochastic gradient steps: the simplest way to a mode of tall data, slow where predictors are correlated",
        cite: "Robbins and Monro (1951), Annals of Mathematical Statistics 22",
        formula: "θ' = θ + a ḡ, ḡ the gradient of a minibatch per row",
        fields: &[STEPS_FIELD, BATCH_FIELD, RATE_FIELD, POLISH_FIELD],
    };

    fn new(settings: &Settings, _num_obs: usize, _dim: usize) -> Self {
        Self {
            rate: real(settings, RATE_FIELD.key),
        }
    }
}

impl Update for Sgd {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        axpy(at.share * self.rate, grad, u);
    }
}

/// With momentum.
pub(super) struct Momentum {
    rate: f64,
    momentum: f64,
    velocity: Vec<f64>,
}

impl Optimiser for Momentum {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "sgd-m",
        title: "SGD with momentum",
        about: "SGD whose steps remember the last ones: faster along narrow ridges",
        cite: "Polyak (1964), USSR Computational Mathematics 4; Chen (2016), slides, table of optimisers",
        formula: "v' = μ v + a (1 − μ) ḡ; θ' = θ + v'",
        fields: &[
            STEPS_FIELD,
            BATCH_FIELD,
            RATE_FIELD,
            MOMENTUM_FIELD,
            POLISH_FIELD,
        ],
    };

    fn new(settings: &Settings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: real(settings, RATE_FIELD.key),
            momentum: real(settings, MOMENTUM_FIELD.key),
            velocity: vec![0.0; dim],
        }
    }
}

impl Update for Momentum {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        let rate = at.share * self.rate * (1.0 - self.momentum);
        for ((u, v), grad) in u.iter_mut().zip(&mut self.velocity).zip(grad) {
            *v = self.momentum * *v + rate * grad;
            *u += *v;
        }
    }
}
