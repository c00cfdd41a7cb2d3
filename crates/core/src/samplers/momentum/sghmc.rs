//! Stochastic gradient Hamiltonian Monte Carlo with friction, plain (`sghmc`) and with control variates (`sghmc-cv`).
//!
//! Sources: Chen, Fox and Guestrin (2014) as printed by Baker (2018), section 4.3.2, Dang et al. (2019), section 6.2, and Chen
//! (2016), algorithm 2; symmetric splitting: Chen, Ding and Carin (2015); control variates: Baker, section 3.3.1; the correction
//! for gradient noise by a Fisher-scoring estimate is what Baker, section 4.7, leaves open.
//!
//! | | update |
//! |---|---|
//! | ours, `euler` | z' = z + ε r; r' = (1 − γε) r + ε ĝ(z') + N(0, 2(γ − B̂)ε) |
//! | Chen | θ' = θ + h p; p' = p − h∇Ũ(θ') − A h p + sqrt(2Ah) N: h = ε, A = γ |
//! | Baker, SGD with momentum | θ' = θ + ν; ν' = (1 − α)ν + ε∇ + N(0, 2(α − β̂)ε): their ε is ε², α = γε |
//! | Dang et al. | θ' = θ + ε M⁻¹p; p' = p + ε∇ − εCM⁻¹p + N(0, 2(C − B̂)ε): γ = C M⁻¹ |
//!
//! in whitened coordinates z (mass matrix M = H, the curvature at the mode); [`crate::samplers::momentum`] has the splittings and
//! [`super`] the conversions. Friction renews the momentum; drawing it anew after every L steps, as Baker (2018) and the R package
//! `sgmcmc` do, is not needed: `fresh_momenta` does so before each draw, whose L are `steps_per_draw`.
//!
//! **Correction.** A minibatch adds N(0, ε² v) to the momentum per step. `friction_correction` takes B̂ = ½ε v̂ off the
//! injected noise: v̂ the noise of one row's score (`sghmc`) or score difference (`sghmc-cv`) measured at the mode, direction
//! by direction (`mode`), or the mean of that and of the minibatches of warm-up (`running`, which costs B D² per step of
//! warm-up). `off` is the source's B̂ = 0: the chain is then too hot by the factor 1 + εv/(2γ).
//!
//! **Defaults.** Friction γ = 2 is critical damping. ε is the longest step, at most 0.5, whose stationary variance, predicted in
//! closed form for a normal posterior, is off by at most 4 % even if v̂ is off by 10 %; so gradient noise makes up at most
//! 40 % of all noise. With a step of the user's own, friction grows until that holds again. Draws are 2 units of time apart,
//! correlation 0.4.
//!
//! Mass matrices, temperature and runs without a mode: [`crate::samplers::momentum`]; decreasing steps: [`crate::samplers::schedule`]. With a mass matrix other
//! than H noise is corrected coordinate by coordinate; without a mode only `running` knows any.
//!
//! Cost of a step: B row gradients and 2 D² (`aboba` 3 D²). Bias: what the correction misses, and O(ε²) of the splitting.
//! Not for: posteriors with several modes or far from normal, or whenever `nuts` is affordable, which is exact.

use std::marker::PhantomData;

use crate::models::Block;
use crate::oracle::{Oracle, StepError};
use crate::samplers::block_steps::{BLOCK_TIMES, BlockSteps};
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::{CentredRows, Described, PlainRows, Rows};
use crate::samplers::momentum::{
    Dynamics, FRESH_MOMENTA, INTEGRATOR, Integrator, MASS, Mass, Medium, PACKAGE_SHARE, PhaseSpace,
    STEP,
};
use crate::samplers::recommend::Traits;
use crate::samplers::schedule::{Decay, StepsAlong, TEMPERED, WEIGHT_OF_STEP};
use crate::samplers::{
    Conditional, InfoColumn, NOISE_SHARE, Phase, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec,
    StateVisitor, TEMPERATURE, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

ergodic_base::settings! {
    /// Settings, with those of rows `R`.
    pub struct SghmcSettings<R> {
        step_size: Option<f64> = STEP;
        friction: Option<f64> = Field::real("Friction", 1e-12, 1e12, None)
            .help(
                "Friction γ per unit of time: A of Chen (2016), α/ε of SGD with momentum; large values make the chain slow, small ones let \
                 it swing and heat up by gradient noise",
            )
            .why("critical damping, which is 2 with the curvature as mass, or more where gradient noise of a given step needs it; without a \
                  mode 0.01/ε, the α of the R package sgmcmc");
        mass: Option<Mass> = MASS;
        block_steps: String = BLOCK_TIMES;
        integrator: Integrator = INTEGRATOR;
        friction_correction: Correction = Correction::field("Noise correction", Some(Correction::Mode))
            .help(
                "How gradient noise is estimated that is then injected no more: mode: from rows at the mode; running: also from the \
                 minibatches of warm-up; off: not at all",
            )
            .why("removes most of the bias at no cost per step");
        rows: R;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        fresh_momenta: bool = FRESH_MOMENTA.why("friction renews them already");
        steps: StepsAlong;
        temperature: f64 = TEMPERED;
    }
}

/// Information that all samplers with momentum report.
pub(in crate::samplers) const INFO: [InfoColumn; 3] = [
    InfoColumn::new(STEP_SIZE, "time ε per step"),
    InfoColumn::new(
        NOISE_SHARE,
        "predicted share of gradient noise in all noise of a step, largest over directions",
    ),
    InfoColumn::new(
        TEMPERATURE,
        "mean over directions of the squared momentum over its variance on target; its average is 1 on target",
    ),
];

const COLUMNS: &[InfoColumn] = &[INFO[0], INFO[1], INFO[2], WEIGHT_OF_STEP];

ergodic_base::choice! {
    /// How gradient noise is estimated.
    enum Correction {
        /// From rows at the mode.
        Mode = "mode",
        /// From rows at the mode and from the minibatches of warm-up.
        Running = "running",
        /// Not at all.
        Off = "off",
    }
}

/// The sampler `sghmc`.
pub type Sghmc = Friction<PlainRows>;

/// The sampler `sghmc-cv`.
pub type SghmcCv = Friction<CentredRows>;

/// `sghmc` and `sghmc-cv`, which differ in the minibatches `R`.
pub struct Friction<R>(PhantomData<fn() -> R>);

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SghmcConfig {
    dynamics: Dynamics,
    friction: f64,
    correction: Correction,
    medium: Medium,
    block_steps: BlockSteps,
    decay: Decay,
    steps_per_draw: u64,
    fresh_momenta: bool,
}

impl SghmcConfig {
    /// 2(γT − B̂)ε, with B̂ = ½ε v̂ per direction, for the step of `dynamics`.
    fn correct(&self, dynamics: &Dynamics, space: &mut PhaseSpace) {
        let wanted = self.friction * dynamics.temperature;
        for (injected, noise) in space.injected.iter_mut().zip(&space.noise) {
            let known = match self.correction {
                Correction::Off => 0.0,
                Correction::Mode | Correction::Running => 0.5 * dynamics.step * noise,
            };
            *injected = (wanted - known).max(0.0);
        }
    }
}

impl<R: Rows> Sampler for Friction<R>
where
    Self: Described,
{
    type Settings = SghmcSettings<R>;
    type Config = SghmcConfig;
    type State = PhaseSpace;
    const SPEC: SamplerSpec = Self::DESCRIPTION;
    const ADVICE: Traits = Self::FOR_ADVISER;

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<SghmcConfig, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let correction = settings.friction_correction;
        if correction == Correction::Running && minibatch.batch < 2 {
            return Err(SettingError::unfit(
                "friction_correction",
                "= running needs a `batch` of at least 2 rows",
            ));
        }
        let (integrator, temperature) = (settings.integrator, settings.temperature);
        let block_steps = BlockSteps::read(&settings.block_steps, &BLOCK_TIMES)?;
        if block_steps.differ() {
            let mass = *settings.mass.get_or_insert(Mass::Identity);
            let other = (mass != Mass::Identity).then_some("a `mass` other than identity");
            block_steps.check_alone(other, settings.step_size)?;
        }
        let medium = Medium::settle(
            R::ESTIMATOR,
            minibatch,
            &mut settings.mass,
            temperature,
            target,
        );
        let corrected = correction != Correction::Off;
        let plan = medium.plan(Self::SPEC.id, settings.step_size, corrected, false, target)?;
        // Of scales that a user changes nothing is known.
        let plan = plan.filter(|_| !block_steps.differ());
        let (step, friction, steps) = match (plan, settings.step_size) {
            (None, Some(step)) => {
                let friction = *(settings.friction).get_or_insert(PACKAGE_SHARE / step);
                (step, friction, 1)
            }
            (None, None) => {
                return Err(SettingError::no_mode(Self::SPEC.id, "give `step_size`"));
            }
            (Some(plan), given) => {
                let friction = *(settings.friction).get_or_insert_with(|| plan.friction(given));
                let step = given.unwrap_or_else(|| plan.longest_step(integrator, friction));
                plan.check_step(integrator, step, friction)?;
                if plan.corrected && plan.noise_friction(step) > friction {
                    return Err(SettingError::StepTooLong {
                        limit: friction / plan.noise_friction(1.0),
                        given: step,
                        why: format!(
                            "with friction {friction}, or gradient noise exceeds what friction takes"
                        ),
                    });
                }
                (step, friction, plan.steps_between_draws(step, friction))
            }
        };
        settings.step_size = Some(step);
        let steps_per_draw =
            *(settings.steps_per_draw).get_or_insert_with(|| capped_steps(steps, &minibatch));
        Ok(SghmcConfig {
            dynamics: Dynamics {
                integrator,
                step,
                thermostat: None,
                temperature,
            },
            friction,
            correction,
            medium,
            block_steps,
            decay: settings.steps.settle(steps_per_draw),
            steps_per_draw,
            fresh_momenta: settings.fresh_momenta,
        })
    }

    fn check(config: &SghmcConfig, parts: &[Block]) -> Result<(), SettingError> {
        config.block_steps.check(parts)
    }

    fn steps_per_draw(config: &SghmcConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &SghmcConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<PhaseSpace, StepError> {
        let rng = &mut streams.noise;
        let mut space = PhaseSpace::start(u0, &config.medium, oracle, rng)?;
        if config.block_steps.differ() {
            space.scale_steps(&config.block_steps.factors(oracle.model()));
        }
        space.friction.fill(config.friction);
        if config.fresh_momenta {
            space.take_fresh_momenta();
        }
        config.correct(&config.dynamics, &mut space);
        Ok(space)
    }

    fn step(
        config: &SghmcConfig,
        at: Tick,
        space: &mut PhaseSpace,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let warm_up = matches!(at.phase, Phase::Warmup { .. });
        let observe = warm_up && config.correction == Correction::Running;
        let weight = config.decay.share(space.steps());
        let dynamics = config.dynamics.with_step(weight * config.dynamics.step);
        if dynamics.step < config.dynamics.step {
            config.correct(&dynamics, space);
        }
        space.renew_momenta(&dynamics, config.steps_per_draw, at, oracle, streams)?;
        space.advance(&dynamics, observe, at, oracle, streams)?;
        if observe {
            let n = oracle.num_obs();
            space.observe_noise(config.medium.minibatch.noise_factor(n), n);
            config.correct(&dynamics, space);
        }
        let gradient_noise = 0.5 * dynamics.step * space.largest_noise();
        let wanted = config.friction * dynamics.temperature;
        info[0] = dynamics.step;
        info[1] = match config.correction {
            Correction::Off => gradient_noise / (wanted + gradient_noise),
            Correction::Mode | Correction::Running => gradient_noise / wanted,
        };
        info[2] = space.temperature;
        info[3] = weight;
        Ok(())
    }

    fn position(space: &PhaseSpace) -> &[f64] {
        &space.u
    }

    fn visit(space: &mut PhaseSpace, visitor: &mut dyn StateVisitor) {
        space.visit(visitor);
    }
}

impl<R: Rows> Conditional for Friction<R>
where
    Self: Described,
{
    fn refresh(_state: &mut PhaseSpace, _oracle: &mut Oracle) -> Result<(), StepError> {
        // Nothing is remembered of the density.
        Ok(())
    }
}

impl Described for Sghmc {
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sghmc",
        family: SamplerFamily::Momentum,
        title: "SGHMC",
        about: "Hamiltonian dynamics with friction and minibatch gradients, whose noise is estimated and corrected for",
        cite: "Chen, Fox, Guestrin, \"Stochastic gradient Hamiltonian Monte Carlo\", ICML 2014, with symmetric splitting (Chen, \
               Ding, Carin 2015; Leimkuhler, Matthews 2013) and a Fisher-scoring estimate of gradient noise",
        formula: "dz = r dt, dr = ĝ dt − γ r dt + sqrt(2(γ − B̂)) dW, B̂ = ½ε v̂, mass matrix H",
        fields: SghmcSettings::<PlainRows>::FIELDS,
        info: COLUMNS,
        needs_mode: true,
        own_steps: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out within about 2 % at the default settings, more with larger steps, without the correction \
             for gradient noise, or where the posterior is far from normal; at a temperature other than 1 the target is not the posterior",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };
}

impl Described for SghmcCv {
    const FOR_ADVISER: Traits = Traits::ORDINARY.centred(25.0);
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sghmc-cv",
        title: "SGHMC with control variates",
        about: "Hamiltonian dynamics with friction and minibatch gradients centred at the mode: long steps, for tall data",
        cite: "Chen, Fox, Guestrin, \"Stochastic gradient Hamiltonian Monte Carlo\", ICML 2014, with the control variates of \
               Baker, Fearnhead, Fox, Nemeth, Statistics and Computing 29 (2019)",
        formula: "as sghmc, with ĝ = ∇log π(û) + difference of gradients at θ and û",
        fields: SghmcSettings::<CentredRows>::FIELDS,
        bias: Some(
            "Standard deviations come out within about 2 % at the default settings, more with larger steps or where the posterior \
             is far from normal; at a temperature other than 1 the target is not the posterior",
        ),
        centres_at_start: true,
        ..Sghmc::DESCRIPTION
    };
}

#[cfg(test)]
mod tests;
