//! RMSProp: gradient steps divided by the root mean square of recent gradients (Chen 2016, slide "Preconditioned SGLD").
//!
//! Source: V' = α V + (1 − α) ḡ⊙ḡ, G = 1 ⊘ (λ + sqrt(V')), θ' = θ + h G ḡ. Ours is the same; ḡ includes the prior, divided
//! by N as the rows are, and a is h. The slides give no values of α and λ; these are the customary ones.

use super::registry::OptimiserSpec;
use super::stochastic::{
    BATCH_FIELD, Moment, Optimiser, POLISH_FIELD, SCALED_RATE_FIELD, STEPS_FIELD, Update, real,
};
use ergodic_base::rng::ChainRng;
use ergodic_base::settings::{Default, Field, Kind, Settings};

/// The memory of squared gradients.
pub(super) const DECAY_FIELD: Field = Field {
    key: "decay",
    label: "Memory of squared gradients",
    help: "α (σ in Santa): the share of the mean square that the next step keeps",
    kind: Kind::Real {
        min: 0.0,
        max: 0.99999,
    },
    default: Some(Default::Real(0.99)),
    why: "remembers about a hundred minibatches",
};

const OFFSET_FIELD: Field = Field {
    key: "offset",
    label: "Offset",
    help: "λ, added to the root mean square so that steps stay finite where gradients vanish",
    kind: Kind::Real { min: 0.0, max: 1e6 },
    default: Some(Default::Real(1e-5)),
    why: "far below the gradients of single rows",
};

/// See the module's header.
pub(super) struct RmsProp {
    rate: f64,
    decay: f64,
    offset: f64,
    squares: Vec<f64>,
}

impl Optimiser for RmsProp {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "rmsprop",
        title: "RMSProp",
        about: "Steps scaled per parameter by recent gradients: needs no knowledge of scales",
        cite: "Tieleman and Hinton (2012), lecture 6.5; Chen (2016), slides, Preconditioned SGLD",
        formula: "V' = α V + (1 − α) ḡ²; θ' = θ + a ḡ / (λ + sqrt(V'))",
        fields: &[
            STEPS_FIELD,
            BATCH_FIELD,
            SCALED_RATE_FIELD,
            DECAY_FIELD,
            OFFSET_FIELD,
            POLISH_FIELD,
        ],
    };

    fn new(settings: &Settings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: real(settings, SCALED_RATE_FIELD.key),
            decay: real(settings, DECAY_FIELD.key),
            offset: real(settings, OFFSET_FIELD.key),
            squares: vec![0.0; dim],
        }
    }
}

impl Update for RmsProp {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        let rate = at.share * self.rate;
        for ((u, v), grad) in u.iter_mut().zip(&mut self.squares).zip(grad) {
            *v = self.decay * *v + (1.0 - self.decay) * grad * grad;
            // Where every gradient so far vanished there is nothing to divide, and nothing to do.
            let size = self.offset + v.sqrt();
            if size > 0.0 {
                *u += rate * grad / size;
            }
        }
    }
}
