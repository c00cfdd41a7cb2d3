//! AdaGrad: gradient steps divided by the root of the sum of all squared gradients so far (Duchi, Hazan and Singer 2011,
//! figure 1 with a diagonal matrix; a competitor of Santa in Chen 2016).
//!
//! G' = G + ḡ⊙ḡ; θ' = θ + a ḡ ⊘ (δ + sqrt(G')). Steps shorten by themselves, as 1/sqrt(steps) where gradients keep their size.

use super::registry::OptimiserSpec;
use super::stochastic::{Moment, Optimiser, StochasticSettings, Update};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// Settings of [`AdaGrad`].
    pub struct AdaGradSettings {
        learning_rate: f64 = Field::real("Learning rate", 0.0, 1e9, Some(0.1))
            .help("a: how far a standardised coefficient moves in the first step; later steps are shorter")
            .why("reaches coefficients of size 10 in 2500 steps");
    }
}

/// δ, customary: against a division by zero only.
const OFFSET: f64 = 1e-10;

/// See the module's header.
pub(super) struct AdaGrad {
    rate: f64,
    squares: Vec<f64>,
}

impl Optimiser for AdaGrad {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "adagrad",
        title: "AdaGrad",
        about: "Steps scaled per parameter by all gradients so far, so that they shorten without a schedule",
        cite: "Duchi, Hazan and Singer (2011), Journal of Machine Learning Research 12, figure 1",
        formula: "G' = G + ḡ²; θ' = θ + a ḡ / (δ + sqrt(G'))",
        fields: StochasticSettings::<AdaGradSettings>::FIELDS,
    };

    type Own = AdaGradSettings;

    fn new(own: &AdaGradSettings, _num_obs: usize, dim: usize) -> Self {
        Self {
            rate: own.learning_rate,
            squares: vec![0.0; dim],
        }
    }
}

impl Update for AdaGrad {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        let rate = at.share * self.rate;
        for ((u, sum), grad) in u.iter_mut().zip(&mut self.squares).zip(grad) {
            *sum += grad * grad;
            *u += rate * grad / (OFFSET + sum.sqrt());
        }
    }
}
