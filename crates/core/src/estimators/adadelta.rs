//! AdaDelta: gradients in units of their own size, times the size of recent steps, so that no learning rate is asked for (Zeiler
//! 2012, algorithm 1; a competitor of Santa in Chen 2016).
//!
//! v' = ρ v + (1 − ρ) ḡ⊙ḡ; Δ = sqrt(d + ε) ⊘ sqrt(v' + ε) ⊙ ḡ; d' = ρ d + (1 − ρ) Δ⊙Δ; θ' = θ + Δ.

use super::registry::OptimiserSpec;
use super::stochastic::{Moment, Optimiser, StochasticSettings, Update};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// Settings of [`AdaDelta`].
    pub struct AdaDeltaSettings {
        memory: f64 = Field::real("Memory", 0.0, 0.99999, Some(0.95))
            .help("ρ: the share of the mean squares of gradients and of steps that the next step keeps")
            .why("the author's value");
        first_step: f64 = Field::real("First step", 1e-15, 1e6, Some(1e-3))
            .help("sqrt(ε): the size of steps before any was taken, from which they grow or shrink")
            .why("the author's ε is 1e-6");
    }
}

/// See the module's header.
pub(super) struct AdaDelta {
    memory: f64,
    epsilon: f64,
    gradients: Vec<f64>,
    steps: Vec<f64>,
}

impl Optimiser for AdaDelta {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "adadelta",
        title: "AdaDelta",
        about: "Steps as long as recent ones, scaled per parameter by recent gradients: asks for no learning rate",
        cite: "Zeiler (2012), ADADELTA: an adaptive learning rate method, algorithm 1",
        formula: "v' = ρ v + (1 − ρ) ḡ²; Δ = ḡ sqrt(d + ε) / sqrt(v' + ε); d' = ρ d + (1 − ρ) Δ²; θ' = θ + Δ",
        fields: StochasticSettings::<AdaDeltaSettings>::FIELDS,
    };

    type Own = AdaDeltaSettings;

    fn new(own: &AdaDeltaSettings, _num_obs: usize, dim: usize) -> Self {
        Self {
            memory: own.memory,
            epsilon: own.first_step * own.first_step,
            gradients: vec![0.0; dim],
            steps: vec![0.0; dim],
        }
    }
}

impl Update for AdaDelta {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], _noise: &mut ChainRng) {
        let keep = self.memory;
        let sizes = self.gradients.iter_mut().zip(&mut self.steps);
        for ((u, (v, d)), grad) in u.iter_mut().zip(sizes).zip(grad) {
            *v = keep * *v + (1.0 - keep) * grad * grad;
            let step = grad * ((*d + self.epsilon) / (*v + self.epsilon)).sqrt();
            *d = keep * *d + (1.0 - keep) * step * step;
            *u += at.share * step;
        }
    }
}
