//! Preconditioned SGLD (`psgld`): each coordinate is scaled by the size of its own recent gradients, as RMSprop does.
//!
//! Sources: Li, Chen, Carlson, Carin, "Preconditioned stochastic gradient Langevin dynamics for deep neural networks" (2016);
//! Chen (2016), slide "Preconditioned SGLD".
//!
//! | | update |
//! |---|---|
//! | Chen | V' = αV + (1−α) ḡ∘ḡ, G = diag(1/(λ + sqrt V')), θ' = θ + h (G ĝ + Γ) + sqrt(2h) G^{1/2} ξ |
//! | ours | the same with c G for G and without Γ |
//!
//! with ḡ the mean over the minibatch of ∇log p(y_i|θ), without the prior and not multiplied by N, and ĝ the plain estimate of
//! ∇log π. Decreasing steps and temperatures are those of [`crate::samplers::langevin`].
//!
//! **Step size.** c makes the largest eigenvalue of cG^{1/2} H G^{1/2} at the mode 1, so that h has no unit and 1 is a Newton
//! step in the stiffest direction. Without a mode c is 1.
//!
//! **Γ**, the derivative Σ_j ∂G_ij/∂θ_j (with a plus sign), would be
//! (1−α) ḡ_i (H_ii/N)/(sqrt(V_i) (λ + sqrt V_i)²): of order 1 − α, and left out as in the source's experiments, where its
//! share of the error is shown to be O((1−α)²). What matters is that G does not follow the position, so
//! **α** averages over ten units of Langevin time by default, α = 1 − h/10 (Li et al.: 0.99), and V starts where a long average
//! would end, at the variance of ḡ at the mode.
//!
//! **Bias.** That of plain gradients ([`crate::samplers::langevin::sgld`]) in the stiffest direction, less in the others. The metric is diagonal and
//! only goes half the way: where V is mostly gradient noise, sqrt V grows as the square root of the curvature.
//!
//! Cost of a step: B row gradients. Not for: posteriors whose mode is known, where `sgld` takes the whole curvature.

use crate::oracle::centre::scaled_range;
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::langevin::{
    Config, EXCESS_PLAIN, INFO, Langevin, LangevinSettings, Noise, Rates, Rule, TIME_PLAIN,
};
use crate::samplers::minibatch_settings::{PlainRows, Rows as _};
use crate::samplers::{Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// Units of Langevin time over which squares of gradients are averaged by default.
const AVERAGE_TIME: f64 = 10.0;
/// Li et al.'s choices: λ, and α where no curvature says how long a unit of time is.
const FLOOR: f64 = 1e-5;
const DECAY: f64 = 0.99;

ergodic_base::settings! {
    /// What `psgld` has beside the settings of all Langevin samplers.
    pub struct Own {
        rms_decay: Option<f64> = Field::real("Decay of squares", 0.0, 1.0, None)
            .help("α: how much of the running mean of squared gradients is kept per step; 1 keeps the metric fixed")
            .why("an average over ten units of Langevin time, so that the metric does not follow the position");
        rms_floor: f64 = Field::real("Floor of the metric", 0.0, 1e6, Some(FLOOR))
            .help(
                "λ, added to the root mean square of the mean gradient of a row: limits how far coordinates without gradient move",
            )
            .why("the source's value: no effect unless a coordinate has nearly no gradient");
    }
}

/// The sampler `psgld`.
pub struct Psgld;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct PsgldConfig {
    core: Config,
    decay: f64,
    floor: f64,
}

/// Position, running mean of squares, and working memory.
#[derive(Debug)]
pub struct PsgldState {
    core: Langevin,
    /// V, length D; NaN until the first step where no mode says where to start.
    squares: Vec<f64>,
    prior: Vec<f64>,
    /// c.
    scale: f64,
}

impl Sampler for Psgld {
    type Settings = LangevinSettings<PlainRows, Own>;
    type Config = PsgldConfig;
    type State = PsgldState;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "psgld",
        family: SamplerFamily::Langevin,
        title: "Preconditioned SGLD",
        about: "Langevin dynamics with minibatch gradients, each coordinate scaled by the size of its recent gradients as in RMSprop",
        cite: "Li, Chen, Carlson, Carin, \"Preconditioned stochastic gradient Langevin dynamics for deep neural networks\", \
               AAAI 2016",
        formula: "V' = αV + (1−α) ḡ∘ḡ, θ' = θ + h G ĝ(θ) + sqrt(2h) G^{1/2} ξ, G = c diag(1/(λ + sqrt V'))",
        fields: Self::Settings::FIELDS,
        info: INFO,
        needs_mode: true,
        own_steps: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out too large because gradient noise is not corrected for: by up to about 5 % at the default \
             step, more with larger steps or smaller minibatches; at a temperature other than 1 the target is not the posterior",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<PsgldConfig, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let condition = target.noise().map(|noise| noise.rms_condition);
        let rule = Rule {
            id: Self::SPEC.id,
            needs_mode: false,
            rates: Rates::Own(1.0 / condition.unwrap_or(1.0)),
            excess: EXCESS_PLAIN,
            time: TIME_PLAIN,
        };
        let core = Config::settle(&rule, Noise::Plain, minibatch, settings, target)?;
        let decay = *(settings.own.rms_decay).get_or_insert(match condition {
            Some(_) => (1.0 - core.step_size / AVERAGE_TIME).max(0.0),
            None => DECAY,
        });
        Ok(PsgldConfig {
            decay,
            floor: settings.own.rms_floor,
            core,
        })
    }

    fn steps_per_draw(config: &PsgldConfig) -> u64 {
        config.core.steps_per_draw
    }

    fn init(
        config: &PsgldConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<PsgldState, StepError> {
        config.core.minibatch.install(Estimator::Plain, oracle);
        let (mut squares, mut scale) = (vec![f64::NAN; u0.len()], 1.0);
        if let Some(centre) = oracle.centre() {
            squares = centre
                .noise(oracle.model().rows())
                .score_variance
                .iter()
                .map(|variance| variance / config.core.minibatch.batch as f64)
                .collect();
            let roots: Vec<f64> = squares
                .iter()
                .map(|square| metric(config, *square).sqrt())
                .collect();
            if let Some((_slowest, stiffest)) = scaled_range(&centre.hessian, &roots) {
                scale = 1.0 / stiffest;
            }
        }
        Ok(PsgldState {
            core: Langevin::at(u0),
            squares,
            prior: vec![0.0; u0.len()],
            scale,
        })
    }

    fn step(
        config: &PsgldConfig,
        at: Tick,
        state: &mut PsgldState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let core = &mut state.core;
        oracle.grad(&core.u, &mut streams.batch, &mut core.grad);
        oracle.rows()?.log_prior(&core.u, &mut state.prior);
        let n = oracle.num_obs() as f64;
        let h = core.draw_noise(&config.core, streams);
        for (j, square) in state.squares.iter_mut().enumerate() {
            let mean = (core.grad[j] - state.prior[j]) / n;
            *square = if square.is_nan() {
                mean * mean
            } else {
                config.decay * *square + (1.0 - config.decay) * mean * mean
            };
            let metric = state.scale * metric(config, *square);
            core.jump[j] = h * metric * core.grad[j] + metric.sqrt() * core.jump[j];
        }
        core.finish(&config.core, at, info)
    }

    fn position(state: &PsgldState) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut PsgldState, visitor: &mut dyn StateVisitor) {
        state.core.visit(visitor);
        visitor.slice("squares", &mut state.squares);
    }
}

/// G without c where the running mean of squares is `square`.
fn metric(config: &PsgldConfig, square: f64) -> f64 {
    1.0 / (config.floor + square.sqrt())
}

#[cfg(test)]
mod tests;
