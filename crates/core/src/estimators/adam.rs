//! Adam: RMSProp with momentum and without the bias of empty averages (Kingma and Ba 2015, algorithm 1; a competitor of
//! Santa in Chen 2016).
//!
//! m' = β₁ m + (1 − β₁) ḡ; v' = β₂ v + (1 − β₂) ḡ⊙ḡ; θ' = θ + a m̂ ⊘ (sqrt(v̂) + ε), m̂ = m'/(1 − β₁ᵗ), v̂ = v'/(1 − β₂ᵗ).

use super::registry::OptimiserSpec;
use super::stochastic::{Moment, Optimiser, SCALED_RATE, StochasticSettings, Update};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// Settings of [`Adam`].
    pub struct AdamSettings {
        learning_rate: f64 = SCALED_RATE;
        beta1: f64 = Field::real("Memory of gradients", 0.0, 0.99999, Some(0.9))
            .help("β₁: the share of the mean gradient that the next step keeps")
            .why("the authors' value");
        beta2: f64 = Field::real("Memory of squared gradients", 0.0, 0.99999, Some(0.999))
            .help("β₂: the share of the mean square that the next step keeps")
            .why("the authors' value");
    }
}

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
        fields: StochasticSettings::<AdamSettings>::FIELDS,
    };

    type Own = AdamSettings;

    fn new(own: &AdamSettings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: own.learning_rate,
            beta1: own.beta1,
            beta2: own.beta2,
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
