//! Stochastic gradient Riemannian Langevin dynamics on the probability simplex (`sgrld-simplex`).
//!
//! Sources: Patterson and Teh, "Stochastic gradient Riemannian Langevin dynamics on the probability simplex" (2013), in the
//! expanded-mean coordinates with mirrored gamma prior that Baker, Fearnhead, Fox and Nemeth (2018), section 2.2, found to
//! be the best competitor of `scir`; the latter do not print the update.
//!
//! | | update of the weight θ_j ≥ 0, p = θ/Σθ, prior θ_j ~ Gamma(α_j, 1) |
//! |---|---|
//! | Patterson and Teh | θ_j' = \|θ_j + (ε/2)[α_j − θ_j + (N/\|S\|) Σ_S (z_ij − p_j)] + sqrt(θ_j) N(0, ε)\| |
//! | ours | the same with ε/2 = h Σα/(Σα + N), rows with weights w_i counting as w_i |
//!
//! The expected sum of all weights is Σα, and around it probabilities relax at the rate 1 + N/Σα, so that h has no unit and
//! 1 is one Newton step, as elsewhere.
//!
//! **Bias.** The metric diag(θ) and the mirror keep θ positive but not right: near 0 a step is as long as its noise
//! sqrt(2hθ) and as the drift hα, so that categories that were never seen are held away from 0 by about that. Minibatch
//! noise inflates variances by hV/2 as in `sgld`, and more while Σθ happens to be small, for the noise grows as 1/Σθ.
//!
//! **Defaults.** h and the time between draws are those of `sgld`: predicted excess of variance 10 %, half a unit of time.
//! Cost of a step: |S| rows and K normal variables.
//!
//! Not for: anything but comparison; `scir` has the same cost and no discretisation error.

use rand_distr::{Distribution as _, StandardNormal};

use crate::models::{Model, SimplexCounts};
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::langevin::{self, STEPS_PER_DRAW, capped_steps, step_for_excess};
use crate::samplers::minibatch_settings::{MinibatchSettings, PlainRows, Rows as _};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::schedule::{Decay, StepsAlong, WEIGHT_OF_STEP};
use crate::samplers::simplex::{self, CountNoise, Weights};
use crate::samplers::{
    InfoColumn, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
    Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// Predicted excess of variance at the default step.
const EXCESS: f64 = 0.10;
/// Langevin time between draws.
const TIME: f64 = 0.5;

ergodic_base::settings! {
    /// Settings of [`SgrldSimplex`].
    pub struct SgrldSimplexSettings {
        step_size: Option<f64> = Field::real("Step size", 1e-9, 1e9, None)
            .help(
                "Langevin time h per step in units of the time in which probabilities relax: ε/2 of Patterson and Teh times \
                 1 + N/Σα; it should be below 2",
            )
            .why("the largest step whose predicted excess of the standard deviation is 5 %");
        rows: PlainRows;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        steps: StepsAlong;
    }
}

/// The sampler `sgrld-simplex`.
pub struct SgrldSimplex;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SgrldConfig {
    step_size: f64,
    minibatch: MinibatchSettings,
    steps_per_draw: u64,
    decay: Decay,
    noise_share: f64,
}

/// Weights and the constants of the update.
#[derive(Debug)]
pub struct SgrldState {
    /// θ (K).
    theta: Vec<f64>,
    /// Logarithms of θ, and the model's coordinates.
    weights: Weights,
    /// ε/2.
    time: f64,
}

/// ε/2 of a step of one unit: Σα/(Σα + N), observations counted by their weights.
pub(in crate::samplers) fn unit_time(view: &dyn SimplexCounts) -> f64 {
    let prior: f64 = view.concentration().iter().sum();
    prior / (prior + view.totals().iter().sum::<f64>())
}

/// |θ + τ drift + sqrt(2τθ) z|.
pub(in crate::samplers) fn mirrored_step(theta: f64, drift: f64, time: f64, z: f64) -> f64 {
    (theta + time * drift + (2.0 * time * theta).sqrt() * z).abs()
}

impl Sampler for SgrldSimplex {
    type Settings = SgrldSimplexSettings;
    type Config = SgrldConfig;
    type State = SgrldState;
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sgrld-simplex",
        family: SamplerFamily::Simplex,
        title: "SGRLD on the simplex",
        about: "Riemannian Langevin dynamics for probabilities: what SCIR is compared with, wrong near 0",
        cite: "Patterson, Teh, \"Stochastic gradient Riemannian Langevin dynamics on the probability simplex\", NeurIPS 2013",
        formula: "θ_j' = |θ_j + τ [α_j − θ_j + (N/|S|) Σ_S (z_ij − p_j)] + sqrt(2τ θ_j) ξ_j|, τ = h Σα/(Σα + N), p = θ/Σθ",
        fields: SgrldSimplexSettings::FIELDS,
        info: &[
            InfoColumn::new(STEP_SIZE, "Langevin time per step, 1 is one Newton step"),
            langevin::INFO[1],
            WEIGHT_OF_STEP,
        ],
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Probabilities of rare categories are held away from 0 (those never seen have medians a hundred times too large), and \
             standard deviations of frequent ones come out 5 to 10 % too large at the default step",
        ),
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };
    const ON_SIMPLEX: bool = true;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        simplex::suits(model)
    }

    fn configure(
        settings: &mut SgrldSimplexSettings,
        target: &Target,
    ) -> Result<SgrldConfig, SettingError> {
        let n = target.num_obs;
        let minibatch = settings.rows.settle(target)?;
        let relative = CountNoise::of(target).map_or(1.0, |noise| noise.of_counts);
        let noise = relative * minibatch.noise_factor(n);
        let step_size = *(settings.step_size).get_or_insert_with(|| step_for_excess(EXCESS, noise));
        let steps = (TIME / step_size).ceil().max(1.0);
        let gradient_noise = 0.5 * step_size * noise;
        let steps_per_draw = *(settings.steps_per_draw)
            .get_or_insert_with(|| capped_steps(steps as u64, &minibatch));
        Ok(SgrldConfig {
            step_size,
            minibatch,
            steps_per_draw,
            decay: settings.steps.settle(steps_per_draw),
            noise_share: gradient_noise / (1.0 + gradient_noise),
        })
    }

    fn steps_per_draw(config: &SgrldConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &SgrldConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<SgrldState, StepError> {
        config.minibatch.install(Estimator::Plain, oracle);
        let view = simplex::view(oracle)?;
        let weights = Weights::at(u0, view.concentration().iter().sum(), view);
        Ok(SgrldState {
            theta: weights.log.iter().map(|log| log.exp()).collect(),
            time: config.step_size * unit_time(view),
            weights,
        })
    }

    fn step(
        config: &SgrldConfig,
        at: Tick,
        state: &mut SgrldState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let weights = &mut state.weights;
        let weight = config.decay.share(weights.steps);
        let time = weight * state.time;
        oracle.counts(&mut streams.batch, &mut weights.counts);
        let view = simplex::view(oracle)?;
        let observations: f64 = weights.counts.iter().sum();
        let pull = 1.0 + observations / state.theta.iter().sum::<f64>();
        let drifts = view.concentration().iter().zip(&weights.counts);
        for ((theta, log), (alpha, count)) in
            state.theta.iter_mut().zip(&mut weights.log).zip(drifts)
        {
            let z: f64 = StandardNormal.sample(&mut streams.noise);
            *theta = mirrored_step(*theta, alpha + count - pull * *theta, time, z);
            *log = theta.ln();
        }
        weights.steps += 1;
        info[0] = weight * config.step_size;
        info[1] = config.noise_share;
        info[2] = weight;
        weights.settle(view, at.iter)
    }

    fn position(state: &SgrldState) -> &[f64] {
        &state.weights.u
    }

    fn visit(state: &mut SgrldState, visitor: &mut dyn StateVisitor) {
        visitor.slice("theta", &mut state.theta);
        state.weights.visit(visitor);
    }
}
