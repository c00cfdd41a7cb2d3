//! Stochastic gradient ascent, plain and with momentum: the optimisers behind SGLD and SGHMC (Chen 2016, table of optimisers).
//!
//! Plain (Robbins and Monro 1951): θ' = θ + a ḡ. With momentum (Polyak 1964, "SGD-M" in Chen 2016): v' = μ v + a ḡ, θ' = θ + v';
//! a is chosen so that a/(1 − μ) is the learning rate of the plain method.

use super::registry::OptimiserSpec;
use super::stochastic::{Moment, Optimiser, RATE, StochasticSettings, Update, plain_rate};
use crate::models::Model;
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::{Declared as _, Field};

/// The share of the last step that is kept.
pub(super) const MOMENTUM: Field = Field::real("Momentum", 0.0, 0.999, Some(0.9))
    .help("μ: the share of the last step that the next one keeps")
    .why("the customary value: a step remembers about ten gradients");

ergodic_base::settings! {
    /// Settings of [`Sgd`].
    pub struct SgdSettings {
        learning_rate: Option<f64> = RATE;
    }
}

ergodic_base::settings! {
    /// Settings of [`Momentum`].
    pub struct MomentumSettings {
        plain: SgdSettings;
        momentum: f64 = MOMENTUM;
    }
}

impl SgdSettings {
    fn settle(&mut self, model: &dyn Model) {
        self.learning_rate.get_or_insert_with(|| plain_rate(model));
    }

    /// The learning rate, which is settled when a search starts.
    fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or(f64::NAN)
    }
}

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
        fields: StochasticSettings::<SgdSettings>::FIELDS,
    };

    type Own = SgdSettings;

    fn settle(own: &mut SgdSettings, model: &dyn Model) {
        own.settle(model);
    }

    fn new(own: &SgdSettings, _num_obs: usize, _dim: usize) -> Self {
        Self { rate: own.rate() }
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
        fields: StochasticSettings::<MomentumSettings>::FIELDS,
    };

    type Own = MomentumSettings;

    fn settle(own: &mut MomentumSettings, model: &dyn Model) {
        own.plain.settle(model);
    }

    fn new(own: &MomentumSettings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: own.plain.rate(),
            momentum: own.momentum,
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
