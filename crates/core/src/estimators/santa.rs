//! Santa: stochastic annealing thermostats with adaptive momentum, an optimiser that starts as a sampler and can leave local
//! modes (Chen 2016, equation (1) and "The Santa algorithm", with ⊘ where the print lost it).
//!
//! Source, with f = ∇Ũ(θ) on a minibatch and inverse temperatures β_t → ∞:
//!
//! ```text
//! v' = σ v + (1 − σ)/N² f⊙f;  g' = 1 ⊘ sqrt(λ + sqrt(v'))
//! exploration:  α' = α + (u⊙u − η/β_t);  w = (η/β_t)(1 − g⊘g')⊘u + sqrt((2η/β_t) g)⊙ζ
//! refinement:   α' = α;                  w = 0
//! u' = w + (1 − α')⊙u − η g'⊙f;  θ' = θ + g'⊙u'
//! ```
//!
//! Ours: −f/N is ḡ, so η f = −a ḡ with the learning rate a = N η per row, and α_0 = 1 − μ with a momentum μ (C = α_0/sqrt(η)).
//! Two deviations. The term (1 − g⊘g')⊘u is dropped, as in the authors' program: it divides by a velocity that passes zero,
//! and it vanishes as g settles. The noise has the variance (2 η^{3/2}/β_t) g: u is sqrt(η) p and a step is sqrt(η) of the
//! time of (1), so its dp = sqrt(2 G₂/β) dw gives that, while the printed (2η/β_t) g lacks a factor sqrt(η) and lets the
//! thermostat find no equilibrium (it would need α ≈ g, and a velocity diverges beyond α = 2). In refinement, where α no
//! longer adapts, it is kept within [1 − μ, 1] so that velocities neither grow nor turn around at every step; the learning
//! rate falls to zero there, as for all optimisers here.
//!
//! Temperature: β_t = t^γ, from 1 (the posterior itself) upwards, as in the authors' program with γ = 1/2.

use rand_distr::{Distribution as _, StandardNormal};

use super::registry::OptimiserSpec;
use super::rmsprop::DECAY;
use super::sgd::MOMENTUM;
use super::stochastic::{Moment, Optimiser, StochasticSettings, Update};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// Settings of [`Santa`].
    pub struct SantaSettings {
        learning_rate: f64 = Field::real("Learning rate", 0.0, 1e9, Some(0.002))
            .help("a = N η: the step that a gradient per row of size 1 causes")
            .why("with gradients per row of a few per cent, moves a standardised coefficient by about 0.01 per step");
        momentum: f64 = MOMENTUM;
        decay: f64 = DECAY;
        annealing: f64 = Field::real("Annealing", 0.0, 4.0, Some(0.5))
            .help("γ in the inverse temperature β_t = t^γ of the exploration: the first half of the steps")
            .why("the authors' schedule");
    }
}

/// λ: against a division by zero where gradients vanish; the authors' value during exploration.
const OFFSET: f64 = 1e-4;

/// See the module's header.
pub(super) struct Santa {
    rate: f64,
    num_obs: f64,
    decay: f64,
    annealing: f64,
    least_friction: f64,
    squares: Vec<f64>,
    scale: Vec<f64>,
    friction: Vec<f64>,
    velocity: Vec<f64>,
}

impl Optimiser for Santa {
    const SPEC: OptimiserSpec = OptimiserSpec {
        id: "santa",
        title: "Santa",
        about: "Starts as a thermostat sampler and cools down: an optimiser that can leave local modes",
        cite: "Chen et al. (2016), Bridging the gap between SG-MCMC and stochastic optimization; Chen (2016), slides",
        formula: "g' = 1/sqrt(λ + sqrt(v')); α' = α + u² − η/β; u' = (1 − α') u + a g' ḡ + sqrt(2 η^{3/2} g/β) ζ; \
                  θ' = θ + g' u'; afterwards α' = α, β = ∞",
        fields: StochasticSettings::<SantaSettings>::FIELDS,
    };

    type Own = SantaSettings;

    fn new(own: &SantaSettings, num_obs: usize, dim: usize) -> Self {
        let friction = 1.0 - own.momentum;
        Self {
            rate: own.learning_rate,
            num_obs: num_obs.max(1) as f64,
            decay: own.decay,
            annealing: own.annealing,
            least_friction: friction,
            squares: vec![0.0; dim],
            scale: Vec::new(),
            friction: vec![friction; dim],
            velocity: Vec::new(),
        }
    }
}

impl Update for Santa {
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], noise: &mut ChainRng) {
        let rate = at.share * self.rate;
        // η, and the temperature η/β of the velocities.
        let eta = rate / self.num_obs;
        let heat = eta / (at.step as f64).powf(self.annealing);
        let mut normal = || -> f64 { StandardNormal.sample(noise) };
        if self.velocity.is_empty() {
            self.velocity = u.iter().map(|_| eta.sqrt() * normal()).collect();
            // g_0 is that of the first gradient: that of no gradient, 1/sqrt(λ), would kick.
            self.scale = grad
                .iter()
                .map(|grad| scale((1.0 - self.decay) * grad * grad))
                .collect();
        }
        for j in 0..u.len() {
            let velocity = self.velocity[j];
            self.squares[j] = self.decay * self.squares[j] + (1.0 - self.decay) * grad[j] * grad[j];
            let scale = scale(self.squares[j]);
            let kick = if at.exploring {
                self.friction[j] += velocity * velocity - heat;
                (2.0 * eta.sqrt() * heat * self.scale[j]).sqrt() * normal()
            } else {
                self.friction[j] = self.friction[j].clamp(self.least_friction, 1.0);
                0.0
            };
            self.velocity[j] = kick + (1.0 - self.friction[j]) * velocity + rate * scale * grad[j];
            self.scale[j] = scale;
            u[j] += scale * self.velocity[j];
        }
    }
}

/// g of a mean square.
fn scale(square: f64) -> f64 {
    1.0 / (OFFSET + square.sqrt()).sqrt()
}
