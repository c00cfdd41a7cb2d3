//! Stochastic gradient Nosé-Hoover thermostats, plain (`sgnht`) and with control variates (`sgnht-cv`).
//!
//! Sources: Ding et al. (2014) as printed by Baker (2018), (4.3.3) to (4.3.5), and Chen (2016), algorithm 3; control variates:
//! Baker (4.3.6); one thermostat per parameter: Chen, Ding and Carin (2015); splitting: Leimkuhler and Shang (2016).
//!
//! | | update |
//! |---|---|
//! | ours, `euler` | z' = z + ε r; r' = (1 − ξε) r + ε ĝ(z') + N(0, 2Aε); ξ' = ξ + ε (r'·r'/D − 1) |
//! | Chen | θ' = θ + h p; p' = p − h∇Ũ(θ') − ξ h p + sqrt(2Ah) N; ξ' = ξ + h (p'·p'/D − 1): h = ε |
//! | Baker | θ' = θ + ν; ν' = (1 − α)ν + ε∇ + N(0, 2aε); α' = α + ν'·ν'/D − ε: their ε is ε², a = Aε, α = ξε |
//!
//! in whitened coordinates z (mass matrix M = H, the curvature at the mode); conversions in
//! [`super`], splittings in [`crate::samplers::momentum`]. The variable ξ starts at A, as in the authors' code
//! for Baker, and its stationary distribution is normal around A + ½ε v with variance 1/D, or 1 for each of one per direction
//! ((ξ − A)², where Chen prints (ξ − D)²).
//!
//! **Thermostat.** `scalar`, as in both sources, holds the mean of r² over directions at 1: right if gradient noise is the same
//! in all directions, otherwise noisy directions come out too wide and the others too narrow. `per-parameter` holds each at 1, with
//! directions along which gradient noise is independent, and absorbs any constant noise.
//!
//! **Defaults.** A = 2 − ½εv, so that friction comes out critical; ε the longest step, at most 0.5, whose predicted error of a
//! variance is 4 % if 10 % of gradient noise were not absorbed (`scalar`: if none were). No estimate of noise enters otherwise:
//! a wrong one only changes the friction. Draws are 2 units of time apart. With `euler` the variance is too small by ε at
//! friction 2, whence short steps.
//!
//! Mass matrices, temperature and runs without a mode: [`crate::samplers::momentum`]; decreasing steps: [`crate::samplers::schedule`].
//!
//! Cost of a step: B row gradients and 2 D² (`aboba` 3 D²). Bias: noise that varies over the posterior, and O(ε²).
//! Not for: posteriors with several modes or far from normal, or whenever `nuts` is affordable, which is exact.

use std::marker::PhantomData;

use crate::models::Block;
use crate::oracle::{Oracle, StepError};
use crate::samplers::block_steps::{BLOCK_TIMES, BlockSteps};
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::{CentredRows, Described, PlainRows, Rows};
use crate::samplers::momentum::sghmc::INFO;
use crate::samplers::momentum::{
    Dynamics, FRESH_MOMENTA, INTEGRATOR, Integrator, MASS, Mass, Medium, PACKAGE_SHARE, PhaseSpace,
    STEP, Thermostat,
};
use crate::samplers::recommend::Traits;
use crate::samplers::schedule::{Decay, StepsAlong, TEMPERED, WEIGHT_OF_STEP};
use crate::samplers::{
    InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// Least injected noise by default, as a share of friction: keeps momenta mixing where gradient noise of a given step would
/// do for all.
const LEAST_INJECTED: f64 = 0.1;

ergodic_base::settings! {
    /// Settings, with those of rows `R`.
    pub struct SgnhtSettings<R> {
        step_size: Option<f64> = STEP;
        diffusion: Option<f64> = Field::real("Injected noise", 1e-12, 1e12, None)
            .help("Injected noise A per unit of time, a/ε of SGD with momentum: friction settles at A plus what balances gradient noise")
            .why("friction is then critical: 2 less the predicted gradient noise; without a mode 0.01/ε, the a of the R package sgmcmc");
        mass: Option<Mass> = MASS;
        block_steps: String = BLOCK_TIMES;
        integrator: Integrator = INTEGRATOR;
        thermostat: Thermostat = Thermostat::field("Thermostat", Some(Thermostat::PerParameter))
            .help(
                "scalar: one friction for all parameters, right where gradient noise is the same in all directions; per-parameter: \
                 one for each direction",
            )
            .why("absorbs gradient noise that differs between directions");
        rows: R;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        fresh_momenta: bool = FRESH_MOMENTA.why("injected noise renews them already");
        steps: StepsAlong;
        temperature: f64 = TEMPERED;
    }
}

const COLUMNS: &[InfoColumn] = &[
    INFO[0],
    INFO[1],
    INFO[2],
    InfoColumn::new(
        "thermostat",
        "friction that the thermostat has set, mean over directions",
    ),
    WEIGHT_OF_STEP,
];

/// The sampler `sgnht`.
pub type Sgnht = NoseHoover<PlainRows>;

/// The sampler `sgnht-cv`.
pub type SgnhtCv = NoseHoover<CentredRows>;

/// `sgnht` and `sgnht-cv`, which differ in the minibatches `R`.
pub struct NoseHoover<R>(PhantomData<fn() -> R>);

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SgnhtConfig {
    dynamics: Dynamics,
    injected: f64,
    medium: Medium,
    block_steps: BlockSteps,
    decay: Decay,
    steps_per_draw: u64,
    fresh_momenta: bool,
    noise_share: f64,
}

impl<R: Rows> Sampler for NoseHoover<R>
where
    Self: Described,
{
    type Settings = SgnhtSettings<R>;
    type Config = SgnhtConfig;
    type State = PhaseSpace;
    const SPEC: SamplerSpec = Self::DESCRIPTION;
    const ADVICE: Traits = Self::FOR_ADVISER;

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<SgnhtConfig, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let (integrator, thermostat) = (settings.integrator, settings.thermostat);
        let temperature = settings.temperature;
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
        let corrected = thermostat == Thermostat::PerParameter;
        let plan = medium.plan(Self::SPEC.id, settings.step_size, corrected, true, target)?;
        // Of scales that a user changes nothing is known.
        let plan = plan.filter(|_| !block_steps.differ());
        let (step, injected, noise_share, steps) = match (plan, settings.step_size) {
            (None, Some(step)) => {
                let injected = *(settings.diffusion).get_or_insert(PACKAGE_SHARE / step);
                (step, injected, f64::NAN, 1)
            }
            (None, None) => {
                return Err(SettingError::no_mode(Self::SPEC.id, "give `step_size`"));
            }
            (Some(plan), given) => {
                let friction = plan.friction(given);
                let step = given.unwrap_or_else(|| plan.longest_step(integrator, friction));
                let absorbed = plan.noise_friction(step);
                let injected = *(settings.diffusion)
                    .get_or_insert((friction - absorbed).max(LEAST_INJECTED * friction));
                let friction = injected + absorbed;
                plan.check_step(integrator, step, friction)?;
                let steps = plan.steps_between_draws(step, friction);
                (step, injected, absorbed / friction, steps)
            }
        };
        settings.step_size = Some(step);
        let steps_per_draw =
            *(settings.steps_per_draw).get_or_insert_with(|| capped_steps(steps, &minibatch));
        Ok(SgnhtConfig {
            dynamics: Dynamics {
                integrator,
                step,
                thermostat: Some(thermostat),
                temperature,
            },
            injected,
            medium,
            block_steps,
            decay: settings.steps.settle(steps_per_draw),
            steps_per_draw,
            fresh_momenta: settings.fresh_momenta,
            noise_share,
        })
    }

    fn check(config: &SgnhtConfig, parts: &[Block]) -> Result<(), SettingError> {
        config.block_steps.check(parts)
    }

    fn steps_per_draw(config: &SgnhtConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &SgnhtConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<PhaseSpace, StepError> {
        let rng = &mut streams.noise;
        let mut space = PhaseSpace::start(u0, &config.medium, oracle, rng)?;
        if config.block_steps.differ() {
            space.scale_steps(&config.block_steps.factors(oracle.model()));
        }
        space.friction.fill(config.injected);
        (space.injected).fill(config.injected * config.dynamics.temperature);
        if config.fresh_momenta {
            space.take_fresh_momenta();
        }
        Ok(space)
    }

    fn step(
        config: &SgnhtConfig,
        at: Tick,
        space: &mut PhaseSpace,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let weight = config.decay.share(space.steps());
        let dynamics = config.dynamics.with_step(weight * config.dynamics.step);
        space.renew_momenta(&dynamics, config.steps_per_draw, at, oracle, streams)?;
        space.advance(&dynamics, false, at, oracle, streams)?;
        info[0] = dynamics.step;
        info[1] = config.noise_share;
        info[2] = space.temperature;
        info[3] = space.friction.iter().sum::<f64>() / space.friction.len() as f64;
        info[4] = weight;
        Ok(())
    }

    fn position(space: &PhaseSpace) -> &[f64] {
        &space.u
    }

    fn visit(space: &mut PhaseSpace, visitor: &mut dyn StateVisitor) {
        space.visit(visitor);
    }
}

impl Described for Sgnht {
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sgnht",
        family: SamplerFamily::Momentum,
        title: "SGNHT",
        about: "Hamiltonian dynamics with minibatch gradients and thermostats that absorb their noise, whatever its size",
        cite: "Ding, Fang, Babbush, Chen, Skeel, Neven, \"Bayesian sampling using stochastic gradient thermostats\", NIPS 2014, with \
               a thermostat per parameter (Chen, Ding, Carin 2015) and splitting (Leimkuhler, Shang 2016)",
        formula: "dz = r dt, dr = ĝ dt − ξ r dt + sqrt(2A) dW, dξ = (r² − 1) dt, mass matrix H",
        fields: SgnhtSettings::<PlainRows>::FIELDS,
        info: COLUMNS,
        needs_mode: true,
        own_steps: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out within about 2 % at the default settings, more with larger steps, with one thermostat for \
             all parameters, or where the posterior is far from normal; at a temperature other than 1 the target is not the posterior",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };
}

impl Described for SgnhtCv {
    const FOR_ADVISER: Traits = Traits::ORDINARY.centred(25.0);
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sgnht-cv",
        title: "SGNHT with control variates",
        about: "Hamiltonian dynamics with thermostats and minibatch gradients centred at the mode: long steps, for tall data",
        cite: "Ding, Fang, Babbush, Chen, Skeel, Neven, \"Bayesian sampling using stochastic gradient thermostats\", NIPS 2014, with \
               the control variates of Baker, Fearnhead, Fox, Nemeth, Statistics and Computing 29 (2019)",
        formula: "as sgnht, with ĝ = ∇log π(û) + difference of gradients at θ and û",
        fields: SgnhtSettings::<CentredRows>::FIELDS,
        bias: Some(
            "Standard deviations come out within about 2 % at the default settings, more with larger steps or where the posterior \
             is far from normal; at a temperature other than 1 the target is not the posterior",
        ),
        centres_at_start: true,
        ..Sgnht::DESCRIPTION
    };
}

#[cfg(test)]
mod tests;
