//! The stochastic Cox-Ingersoll-Ross process on the probability simplex, plain (`scir`) and with control variates
//! (`scir-cv`).
//!
//! Source: Baker, Fearnhead, Fox and Nemeth, "Large-scale stochastic sampling from the probability simplex" (2018),
//! algorithm 1 and (3.3); Baker (2018), chapter 5, whose outlook (5.6) asks for the control variates.
//!
//! | | update of each category's weight θ_j, p = θ/Σθ |
//! |---|---|
//! | ours, paper | over time h exactly along dθ = (â − θ) dt + sqrt(2θ) dW, â = α + Ĉ, Ĉ = (N/\|S\|) Σ_S w_i z_i |
//! | with control variates | over time h exactly along dθ = (1 + δ)(a − θ) dt + sqrt(2θ) dW, δ = (Ĉ − C)/a, a = α + C |
//!
//! h is Langevin time in both. The second follows from centring the gradient of the counts' log likelihood, Σ C_j log θ_j,
//! at θ = a, the mean: the drift α + Ĉ − θ + (C − Ĉ) θ/a is linear in θ again, so the process stays one of
//! Cox-Ingersoll-Ross ([`crate::samplers::cir`]) and is simulated without error too. Its rate 1 + δ is at least α/a > 0. (The mode
//! a − 1 cannot be the centre: categories that were never seen have none.)
//!
//! **Bias.** Neither has a discretisation error at any h, the mean of θ is exact, and a category that was never seen has no
//! noise at all. Minibatches inflate the variance a of θ_j by
//!
//! * `scir`: tanh(h/2) Var[Ĉ_j] (paper, corollary 4.2), relative to a about (h/2)(N/|S|)(1 − p_j) where it was seen;
//! * `scir-cv`: a (E[(1 − e^{−2bh})/b]/(1 − E e^{−2bh}) − 1) with b = 1 + δ, relative to a about h Var[Ĉ_j]/a², which is
//!   small in frequent categories and as large as above in rare ones.
//!
//! Variances of probabilities are inflated by the same share at most.
//!
//! **Defaults.** h: predicted inflation of the variance by 4 % (2 % of the standard deviation) in the worst category;
//! steps may decrease ([`crate::samplers::schedule`]), whose last ones then hardly inflate anything;
//! a draw is 1 unit of time after the one before: correlation e⁻¹. Cost of a step: |S| rows and 2K random variables.
//!
//! Not for: categories that are simply observed, where `conjugate` is exact and costs less. They are for categories that
//! are drawn themselves, as in mixtures, and for comparison with the paper.

use std::marker::PhantomData;

use crate::models::Model;
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::cir::Transition;
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::{MinibatchSettings, PlainRows, Rows as _};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::schedule::{Decay, StepsAlong, WEIGHT_OF_STEP};
use crate::samplers::simplex::{self, CountNoise, Weights};
use crate::samplers::{
    InfoColumn, NOISE_SHARE, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target,
    Tick, Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// Predicted inflation of a weight's variance at the default step.
const EXCESS: f64 = 0.04;
/// Langevin time between draws.
const TIME: f64 = 1.0;
/// Longest default step: states so far apart are as good as independent (correlation e⁻⁵).
const LONGEST: f64 = 5.0;

ergodic_base::settings! {
    /// Settings of `scir`, `scir-cv` and `exact-transition`.
    pub struct ScirSettings {
        step_size: Option<f64> = Field::real("Time per minibatch", 1e-9, 100.0, None)
            .help("Langevin time h along which the process moves exactly before the next minibatch is drawn")
            .why("the longest time for which minibatches inflate standard deviations by a predicted 2 % at most");
        rows: PlainRows;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        steps: StepsAlong;
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(STEP_SIZE, "Langevin time per minibatch"),
    InfoColumn::new(
        NOISE_SHARE,
        "predicted share of minibatch noise in the variance of a weight, worst category",
    ),
    WEIGHT_OF_STEP,
];

/// The sampler `scir`.
pub type Scir = Process<Plain>;

/// The sampler `scir-cv`.
pub type ScirCv = Process<Centred>;

/// `scir` and `scir-cv`, which differ in the drift `V`.
pub struct Process<V>(PhantomData<fn() -> V>);

/// The drift of a sampler, and its description.
pub trait Variant: 'static {
    /// The description.
    const SPEC: SamplerSpec;
    /// See [`Sampler::ADVICE`].
    const ADVICE: Traits = Traits::ORDINARY;
    /// The rate b and drift a' of dθ = (a' − bθ) dt + sqrt(2θ) dW for a category with `estimate` Ĉ and `count` C.
    fn drift(alpha: f64, count: f64, estimate: f64) -> (f64, f64);
    /// What minibatch noise is measured by: its variance relative to the posterior's is this times that of the batch.
    fn noise(noise: &CountNoise) -> f64;
    /// Predicted relative inflation of a weight's variance at step h where Var[Ĉ]/a or Var[Ĉ]/a² is `noise`.
    fn excess(step: f64, noise: f64) -> f64;
    /// The longest step with that inflation.
    fn step(excess: f64, noise: f64) -> f64;
}

/// The estimate of counts from the minibatch.
pub struct Plain;

/// The estimate of the gradient centred at the mean.
pub struct Centred;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct ScirConfig {
    pub(in crate::samplers) step_size: f64,
    pub(in crate::samplers) minibatch: MinibatchSettings,
    pub(in crate::samplers) steps_per_draw: u64,
    pub(in crate::samplers) decay: Decay,
    pub(in crate::samplers) noise_share: f64,
}

impl ScirSettings {
    /// Settles what is open for `target`. The noise of a minibatch is `noise` times its [`MinibatchSettings::noise_factor`], and what it
    /// inflates a variance by is said by `V`.
    ///
    /// # Errors
    /// See [`super::minibatch_settings::Rows::settle`].
    pub(in crate::samplers) fn settle<V: Variant>(
        &mut self,
        target: &Target,
        noise: f64,
    ) -> Result<ScirConfig, SettingError> {
        let minibatch = self.rows.settle(target)?;
        let noise = noise * minibatch.noise_factor(target.num_obs);
        let step_size =
            *(self.step_size).get_or_insert_with(|| V::step(EXCESS, noise).min(LONGEST));
        let steps = (TIME / step_size).ceil().max(1.0);
        let excess = V::excess(step_size, noise);
        let steps_per_draw =
            *(self.steps_per_draw).get_or_insert_with(|| capped_steps(steps as u64, &minibatch));
        Ok(ScirConfig {
            step_size,
            minibatch,
            steps_per_draw,
            decay: self.steps.settle(steps_per_draw),
            noise_share: excess / (1.0 + excess),
        })
    }
}

impl<V: Variant> Sampler for Process<V> {
    type Settings = ScirSettings;
    type Config = ScirConfig;
    type State = Weights;
    const SPEC: SamplerSpec = V::SPEC;
    const ADVICE: Traits = V::ADVICE;
    const ON_SIMPLEX: bool = true;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        simplex::suits(model)
    }

    fn configure(settings: &mut ScirSettings, target: &Target) -> Result<ScirConfig, SettingError> {
        let noise = CountNoise::of(target).as_ref().map_or(1.0, V::noise);
        settings.settle::<V>(target, noise)
    }

    fn steps_per_draw(config: &ScirConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &ScirConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<Weights, StepError> {
        config.minibatch.install(Estimator::Plain, oracle);
        let view = simplex::view(oracle)?;
        // The sum of all weights is Gamma(Σa) a posteriori.
        let total = view.totals().iter().sum::<f64>() + view.concentration().iter().sum::<f64>();
        Ok(Weights::at(u0, total, view))
    }

    fn step(
        config: &ScirConfig,
        at: Tick,
        state: &mut Weights,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.counts(&mut streams.batch, &mut state.counts);
        let view = simplex::view(oracle)?;
        let (alpha, totals) = (view.concentration(), view.totals());
        let weight = config.decay.share(state.steps);
        let step_size = weight * config.step_size;
        for j in 0..alpha.len() {
            let (rate, drift) = V::drift(alpha[j], totals[j], state.counts[j]);
            let transition = Transition::new(rate, step_size);
            state.log[j] = transition.sample(&mut streams.noise, state.log[j], drift);
        }
        state.steps += 1;
        info[0] = step_size;
        info[1] = config.noise_share;
        info[2] = weight;
        state.settle(view, at.iter)
    }

    fn position(state: &Weights) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut Weights, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
}

impl Variant for Plain {
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "scir",
        family: SamplerFamily::Simplex,
        title: "SCIR",
        about: "Probabilities from minibatches without discretisation error, however rare a category is",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Large-scale stochastic sampling from the probability simplex\", NeurIPS 2018",
        formula: "θ_j' = (1 − e^{−h}) Gamma(â_j + M_j), M_j ~ Poisson(θ_j e^{−h}/(1 − e^{−h})), â = α + (N/|S|) Σ_S z_i, p = θ/Σθ",
        fields: ScirSettings::FIELDS,
        info: INFO,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with longer steps; categories that \
             were never seen are sampled exactly",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn drift(alpha: f64, _count: f64, estimate: f64) -> (f64, f64) {
        (1.0, alpha + estimate)
    }

    fn noise(noise: &CountNoise) -> f64 {
        noise.of_counts
    }

    fn excess(step: f64, noise: f64) -> f64 {
        (0.5 * step).tanh() * noise
    }

    fn step(excess: f64, noise: f64) -> f64 {
        if noise <= excess {
            return f64::INFINITY;
        }
        2.0 * (excess / noise).atanh()
    }
}

impl Variant for Centred {
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "scir-cv",
        family: SamplerFamily::Simplex,
        title: "SCIR with control variates",
        about: "SCIR with gradients centred at the mean: little noise in frequent categories, longer steps",
        cite: "Baker (2018), \"Large-scale Bayesian computation using SGMCMC\", thesis, Lancaster, section 5.6, worked out here",
        formula: "dθ_j = (1 + δ_j)(a_j − θ_j) dt + sqrt(2θ_j) dW over time h exactly, δ = ((N/|S|) Σ_S z_i − C)/a, p = θ/Σθ",
        fields: ScirSettings::FIELDS,
        info: INFO,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations of rare categories come out about 2 % too large at the default step, more with longer steps; \
             categories that were never seen are sampled exactly",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn drift(alpha: f64, count: f64, estimate: f64) -> (f64, f64) {
        let a = alpha + count;
        // (α + Ĉ)/a instead of 1 + (Ĉ − C)/a, which could round to 0.
        let rate = (alpha + estimate) / a;
        (rate, rate * a)
    }

    fn noise(noise: &CountNoise) -> f64 {
        noise.of_rates
    }

    /// To first order in the variance of the rate b = 1 + δ: Var(b) (1 − 2h/(e^{2h} − 1)).
    fn excess(step: f64, noise: f64) -> f64 {
        (1.0 - 2.0 * step / (2.0 * step).exp_m1()) * noise
    }

    fn step(excess: f64, noise: f64) -> f64 {
        if noise <= excess {
            return f64::INFINITY;
        }
        // 1 − 2h/(e^{2h} − 1) is below h.
        excess / noise
    }
}

#[cfg(test)]
mod tests;
