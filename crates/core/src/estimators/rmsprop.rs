//! RMSProp: gradient steps divided by the root mean square of recent gradients (Chen 2016, slide "Preconditioned SGLD").
//!
//! Source: V' = α V + (1 − α) ḡ⊙ḡ, G = 1 ⊘ (λ + sqrt(V')), θ' = θ + h G ḡ. Ours is the same; ḡ includes the prior, divided
//! by N as the rows are, and a is h. The slides give no values of α and λ; these are the customary ones.

use super::registry::OptimiserSpec;
use super::stochastic::{Moment, Optimiser, SCALED_RATE, StochasticSettings, Update};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

/// The memory of squared gradients.
pub(super) const DECAY: Field =
    Field::real("Memory of squared gradients", 0.0, 0.99999, Some(0.99))
        .help("α (σ in Santa): the share of the mean square that the next step keeps")
        .why("remembers about a hundred minibatches");

ergodic_base::settings! {
    /// Settings of [`RmsProp`].
    pub struct RmsPropSettings {
        learning_rate: f64 = SCALED_RATE;
        decay: f64 = DECAY;
        offset: f64 = Field::real("Offset", 0.0, 1e6, Some(1e-5))
            .help("λ, added to the root mean square so that steps stay finite where gradients vanish")
            .why("far below the gradients of single rows");
    }
}

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
        fields: StochasticSettings::<RmsPropSettings>::FIELDS,
    };

    type Own = RmsPropSettings;

    fn new(own: &RmsPropSettings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: own.learning_rate,
            decay: own.decay,
            offset: own.offset,
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
