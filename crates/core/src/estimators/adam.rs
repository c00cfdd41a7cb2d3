//! Adam: RMSProp with momentum and without the bias of empty averages (Kingma and Ba 2015, algorithm 1; a competitor of
//! Santa in Chen 2016).
//!
//! m' = β₁ m + (1 − β₁) ḡ; v' = β₂ v + (1 − β₂) ḡ⊙ḡ; θ' = θ + a m̂ ⊘ (sqrt(v̂) + ε), m̂ = m'/(1 − β₁ᵗ), v̂ = v'/(1 − β₂ᵗ).

use super::registry::OptimiserSpec;
use super::stochastic::{
    BATCH_FIELD, Moment, Optimiser, POLISH_FIELD, SCALED_RATE_FIELD, STEPS_FIELD, Update, real,
};
use ergodic_base::rng::ChainRng;
use ergodic_base::settings::{Default, Field, Kind, Settings};

const BETA1_FIELD: Field = Field {
    key: "beta1",
    label: "Memory of gradients",
    help: "β₁: the share of the mean gradient that the next step keeps",
    kind: Kind::Real {
        min: 0.0,
        max: 0.99999,
    },
    default: Some(Default::Real(0.9)),
    why: "the authors' value",
};

const BETA2_FIELD: Field = Field {
    key: "beta2",
    label: "Memory of squared gradients",
    help: "β₂: the share of the mean square that the next step keeps",
    kind: Kind::Real {
        min: 0.0,
        max: 0.99999,
    },
    default: Some(Default::Real(0.999)),
    why: "the authors' value",
};

/// ε, the authors' value: against a division by zero only.
const EPSILON: f64 = 1e-8;

/// See the module's header.
pub(super) struct Adam {
    rate: f64,
    beta1: f64,
    beta2: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Optimiser for Adam {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "adam",
        title: "Adam",
        about: "RMSProp with momentum: the usual choice where nothing is known about a posterior's scales",
        cite: "Kingma and Ba (2015), Adam: a method for stochastic optimization, algorithm 1",
        formula: "m' = β₁ m + (1 − β₁) ḡ; v' = β₂ v + (1 − β₂) ḡ²; θ' = θ + a m̂ / (sqrt(v̂) + ε)",
        fields: &[
            STEPS_FIELD,
            BATCH_FIELD,
            SCALED_RATE_FIELD,
            BETA1_FIELD,
            BETA2_FIELD,
            POLISH_FIELD,
        ],
    };

    fn new(settings: &Settings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: real(settings, SCALED_RATE_FIELD.key),
            beta1: real(settings, BETA1_FIELD.key),
            beta2: real(settings, BETA2_FIELD.key),
            mean: vec![0.0; dim],
            squares: vec![0.0; dim],
        }
    }
}

impl Update for Adam {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        let full = |beta: f64| 1.0 - beta.powf(at.step as f64);
        let (full1, full2) = (full(self.beta1), full(self.beta2));
        let rate = at.share * self.rate;
        let averages = self.mean.iter_mut().zip(&mut self.squares);
        for ((u, (m, v)), grad) in u.iter_mut().zip(averages).zip(grad) {
            *m = self.beta1 * *m + (1.0 - self.beta1) * grad;
            *v = self.beta2 * *v + (1.0 - self.beta2) * grad * grad;
            *u += rate * (*m / full1) / ((*v / full2).sqrt() + EPSILON);
        }
    }
}
