//! Posteriors of known form by the exact transitions of processes that have them as stationary distributions: Ornstein-Uhlenbeck for
//! normal and lognormal parameters, Cox-Ingersoll-Ross for gamma variables and powers of them, with natural parameters that depend on
//! the data estimated from minibatches.
//!
//! Source: Baker, Fearnhead, Fox and Nemeth, "Large-scale stochastic sampling from the probability simplex" (2018), section 3.3,
//! which names gamma and lognormal targets as extensions of `scir`; Baker (2018), section 2.3.2, for the processes. The source's
//! lognormal process, geometric Brownian motion, has no stationary distribution; the exponential of Ornstein-Uhlenbeck has.
//!
//! The parameters must be independent given the data, each coordinate u with a log density of one of two forms
//! ([`crate::models::Form`]), natural parameters (η, λ) or (a, b):
//!
//! | log density of u | scaled | over time h exactly along |
//! |---|---|---|
//! | η u − λ u²/2, normal; lognormal where u = log θ | x = (u − m)/s, m = η/λ, s² = 1/λ | dx = (δ̂ − r̂x) dt + sqrt(2) dW, δ̂ = s(η̂ − λ̂m), r̂ = λ̂/λ |
//! | a u − b e^{cu}, where e^{cu} is gamma with shape α = a/c and rate b: gamma for c = 1 | x = b e^{cu} | dx = (α̂ − r̂x) dt + sqrt(2x) dW, α̂ = â/c, r̂ = b̂/b |
//!
//! Scaled, h is in units in which the exact posterior forgets at rate 1, as everywhere ([`super`]). The transitions are
//! x' = e^{−r̂h} x + t δ̂ + sqrt((1 − e^{−2r̂h})/r̂) ξ with t = (1 − e^{−r̂h})/r̂, and that of [`crate::samplers::cir`].
//!
//! **Natural parameters** are read off the gradient at two fixed places, which tell both without approximation: at the mode, where it
//! is (sizes exact) 0, and beside it, one s away, or where e^{cu} is twice as large and the gradient a − 2q with q = bce^{cu} = a. Passes over
//! all rows find the mode before the first step; then each step takes both gradients from one minibatch. What the data do not enter,
//! such as the number of rows of Poisson counts, is then estimated without noise.
//!
//! **Bias.** No discretisation error at any h, and none at all when a minibatch is all rows, or for a density without rows. Otherwise x has, where r̂ = 1, the exact mean and
//!
//! * variance 1 + tanh(h/2) Var δ̂ in place of 1 (normal),
//! * variance α + tanh(h/2) Var α̂ in place of α (gamma; Baker et al. 2018, corollary 4.2).
//!
//! Where r̂ is noisy, as with the rate of exponential waiting times, mean and variance are biased to first order in h; moments are then
//! those of linear recursions with random coefficients, which the tests compare with.
//!
//! **Defaults.** h: predicted inflation of the variance by 4 % (2 % of the standard deviation), for the noise of gradients at the mode; steps may
//! decrease ([`crate::samplers::schedule`]). A draw is 1 unit of time after the one before. Cost of a step: 2 |S| row gradients.
//!
//! Not for: other work than comparison with the source and with stepwise Langevin samplers. One pass over all rows tells the exact
//! natural parameters, and `nuts` or `gibbs` with `conjugate` blocks have no bias at the cost of a few passes per draw.

use crate::models::{Form, Model, independent_forms};
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::schedule::WEIGHT_OF_STEP;
use crate::samplers::simplex::scir::{Plain, ScirConfig, ScirSettings};
use crate::samplers::{
    InfoColumn, NOISE_SHARE, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target,
    Tick, Unsuitable, cir,
};
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_base::{ChainRng, Streams};
use ergodic_diagnostics::Remedy;
use rand_distr::{Distribution as _, StandardNormal};

/// Pairs of passes that find the mode: the first from where e^{cu} may be far smaller or larger than there, which costs digits.
const ROUNDS: usize = 3;

const INFO: &[InfoColumn] = &[
    InfoColumn::new(STEP_SIZE, "Langevin time per minibatch"),
    InfoColumn::new(
        NOISE_SHARE,
        "predicted share of minibatch noise in the variance of a parameter, worst direction",
    ),
    WEIGHT_OF_STEP,
];

/// The sampler `exact-transition`.
pub struct ExactTransition;

/// Position, the exact posterior, and working memory.
pub struct State {
    u: Vec<f64>,
    /// The mode of the exact posterior (D).
    mode: Vec<f64>,
    /// s of normal coordinates, a of the others (D); 1 before they are known.
    scale: Vec<f64>,
    steps: u64,
    forms: Vec<Form>,
    /// The place beside the mode, and gradients at both (D each).
    beside: Vec<f64>,
    grads: [Vec<f64>; 2],
}

impl Sampler for ExactTransition {
    type Settings = ScirSettings;
    type Config = ScirConfig;
    type State = State;
    // Without rows there is no noise, and every transition is exact.
    const NEEDS_ROWS: bool = false;
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "exact-transition",
        family: SamplerFamily::Langevin,
        title: "Exact transitions",
        about: "Normal, lognormal and gamma posteriors, and powers of gamma variables, from minibatches without discretisation error: \
                Ornstein-Uhlenbeck and Cox-Ingersoll-Ross processes",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Large-scale stochastic sampling from the probability simplex\", NeurIPS 2018, section 3.3, \
               worked out here",
        formula: "normal: dx = (δ̂ − r̂x) dt + sqrt(2) dW, gamma: dx = (α̂ − r̂x) dt + sqrt(2x) dW, over time h exactly, with natural \
                  parameters (N/|S|) Σ_S of the rows",
        fields: ScirSettings::FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with longer steps; nothing is wrong where a \
             minibatch is all rows",
        ),
        bias_order: Some(1),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        forms(model)
            .map(|_forms| ())
            .ok_or(Unsuitable::NoKnownForms)
    }

    fn configure(settings: &mut ScirSettings, target: &Target) -> Result<ScirConfig, SettingError> {
        settings.settle::<Plain>(target, target.noise_ratio().unwrap_or(1.0))
    }

    fn steps_per_draw(config: &ScirConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &ScirConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        (config.minibatch).install(Estimator::Plain, oracle);
        let forms = forms(oracle.model())
            .ok_or(StepError::Lacks("independent parameters of known form"))?;
        let start = (oracle.centre()).map_or_else(|| u0.to_vec(), |centre| centre.u.clone());
        let mut state = State {
            u: u0.to_vec(),
            mode: start,
            scale: vec![1.0; u0.len()],
            steps: 0,
            forms,
            beside: vec![0.0; u0.len()],
            grads: [vec![0.0; u0.len()], vec![0.0; u0.len()]],
        };
        for _ in 0..ROUNDS {
            state.stand_beside();
            oracle.exact(&state.mode, &mut state.grads[0])?;
            oracle.exact(&state.beside, &mut state.grads[1])?;
            state.find_mode()?;
        }
        state.stand_beside();
        Ok(state)
    }

    fn step(
        config: &ScirConfig,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let [here, beside] = &mut state.grads;
        oracle.grad_pair(
            [&state.mode, &state.beside],
            &mut streams.batch,
            [here, beside],
        );
        let weight = config.decay.share(state.steps);
        let step_size = weight * config.step_size;
        for j in 0..state.u.len() {
            state.u[j] = state.moved(j, step_size, &mut streams.noise);
        }
        state.steps += 1;
        info[0] = step_size;
        info[1] = config.noise_share;
        info[2] = weight;
        if state.u.iter().all(|u| u.is_finite()) {
            return Ok(());
        }
        Err(StepError::not_finite(
            "a parameter moved by estimates from a minibatch",
            at.iter,
        ))
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
        visitor.slice("mode", &mut state.mode);
        visitor.slice("scale", &mut state.scale);
        visitor.slice("beside", &mut state.beside);
        visitor.counter("steps", &mut state.steps);
    }
}

/// The form of each coordinate of `model`, where all are independent.
fn forms(model: &dyn Model) -> Option<Vec<Form>> {
    independent_forms(model.dim(), &model.known_conditionals())
}

/// The distance from the mode of the second place at which gradients are taken.
fn distance(form: Form, scale: f64) -> f64 {
    match form {
        Form::Normal => scale,
        Form::LogGamma { power } => std::f64::consts::LN_2 / power,
    }
}

impl State {
    fn stand_beside(&mut self) {
        for (j, beside) in self.beside.iter_mut().enumerate() {
            *beside = self.mode[j] + distance(self.forms[j], self.scale[j]);
        }
    }

    /// The mode and the scale of each coordinate from exact gradients at the present one and beside it.
    ///
    /// # Errors
    /// [`StepError::NotPositiveDefinite`] where a coordinate has no such distribution, as without a prior and with rows that say nothing.
    fn find_mode(&mut self) -> Result<(), StepError> {
        for (j, form) in self.forms.iter().enumerate() {
            let (slope, fall) = (self.grads[0][j], self.grads[0][j] - self.grads[1][j]);
            let (move_by, scale, is_proper) = match *form {
                Form::Normal => {
                    let precision = fall / self.scale[j];
                    (slope / precision, precision.recip().sqrt(), precision > 0.0)
                }
                Form::LogGamma { power } => {
                    let a = slope + fall;
                    let is_proper = a / power > 0.0 && fall / power > 0.0;
                    ((a / fall).ln() / power, a, is_proper)
                }
            };
            if !(is_proper && move_by.is_finite() && scale.is_finite()) {
                return Err(StepError::not_positive("the curvature of the posterior", 0));
            }
            self.mode[j] += move_by;
            self.scale[j] = scale;
        }
        Ok(())
    }

    /// Coordinate `j` after time `step_size` along its process, whose natural parameters follow from the estimated gradients.
    fn moved(&self, j: usize, step_size: f64, rng: &mut ChainRng) -> f64 {
        let (mode, scale) = (self.mode[j], self.scale[j]);
        let (slope, fall) = (self.grads[0][j], self.grads[0][j] - self.grads[1][j]);
        match self.forms[j] {
            Form::Normal => {
                let x = (self.u[j] - mode) / scale;
                mode + scale * ornstein_uhlenbeck(x, scale * slope, scale * fall, step_size, rng)
            }
            Form::LogGamma { power } => {
                let log_shape = (scale / power).ln();
                let log_x = log_shape + power * (self.u[j] - mode);
                let transition = cir::Transition::new(fall / scale, step_size);
                let moved = transition.sample(rng, log_x, (slope + fall) / power);
                mode + (moved - log_shape) / power
            }
        }
    }
}

/// The position after `time` h along dx = (δ − rx) dt + sqrt(2) dW from `x`, with `drift` δ and `rate` r of either sign.
fn ornstein_uhlenbeck(x: f64, drift: f64, rate: f64, time: f64, rng: &mut ChainRng) -> f64 {
    // (1 − e^{−rt})/r.
    let share = |time: f64| match rate {
        0.0 => time,
        rate => -(-rate * time).exp_m1() / rate,
    };
    let normal: f64 = StandardNormal.sample(rng);
    (-rate * time).exp() * x + share(time) * drift + share(2.0 * time).sqrt() * normal
}

#[cfg(test)]
mod tests;
