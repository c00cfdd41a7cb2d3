//! Stochastic gradient Hamiltonian Monte Carlo without friction (`sghmc-naive`): a negative control, not a sampler.
//!
//! Source: Chen (2016), "naive SGHMC", also discussed by Chen, Fox and Guestrin (2014), section 3.1: it "would not work", because
//! nothing takes out again what noise puts in.
//!
//! | | update |
//! |---|---|
//! | ours | z' = z + ε r; r' = r + ε ĝ(z') + sqrt(2ε) n |
//! | Chen | θ' = θ + h p; p' = p − h∇Ũ(θ') + sqrt(2h) N(0, I): h = ε |
//!
//! in whitened coordinates (mass matrix H). Per direction with gradient noise v the energy ½z² + ½r² of a normal posterior
//! grows by ½(2ε + ε²v) per step without end, so that the variance of draws grows as (1 + ½εv) times the time since the start:
//! draws tend to a uniform distribution. There is no stationary distribution and no number of draws that helps.
//!
//! The sampler is here to be seen failing next to [`crate::samplers::momentum::sghmc`], which differs by its friction only, and to check that
//! diagnostics notice. Never for results. Steps, batches and cost are those of `sghmc` with `integrator` = euler.

use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::{PlainRows, Rows as _};
use crate::samplers::momentum::sghmc::INFO;
use crate::samplers::momentum::{CRITICAL, Dynamics, Integrator, Mass, Medium, PhaseSpace, STEP};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError};

/// The sampler `sghmc-naive`.
pub struct SghmcNaive;

ergodic_base::settings! {
    /// Settings of [`SghmcNaive`].
    pub struct SghmcNaiveSettings {
        step_size: Option<f64> = STEP;
        rows: PlainRows;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
    }
}

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SghmcNaiveConfig {
    dynamics: Dynamics,
    medium: Medium,
    steps_per_draw: u64,
    noise_share: f64,
}

impl Sampler for SghmcNaive {
    type Settings = SghmcNaiveSettings;
    type Config = SghmcNaiveConfig;
    type State = PhaseSpace;
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sghmc-naive",
        family: SamplerFamily::Momentum,
        title: "Naive SGHMC",
        about: "Hamiltonian dynamics with noise and without friction: does NOT sample the posterior; for seeing how that looks",
        cite: "the method that Chen, Fox, Guestrin, \"Stochastic gradient Hamiltonian Monte Carlo\", ICML 2014, warn of",
        formula: "z' = z + ε r; r' = r + ε ĝ(z') + sqrt(2ε) n, mass matrix H",
        fields: Self::Settings::FIELDS,
        info: &INFO,
        needs_mode: true,
        minibatch: true,
        bias: Some(
            "It does not target the posterior at all: standard deviations grow with the length of the run without limit, so no \
             number of it means anything",
        ),
        default_warmup: 200,
        negative_control: true,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<SghmcNaiveConfig, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let medium = Medium {
            estimator: Estimator::Plain,
            minibatch,
            mass: Mass::Curvature,
            temperature: 1.0,
        };
        let Some(plan) = medium.plan(Self::SPEC.id, None, true, false, target)? else {
            return Err(SettingError::no_mode(Self::SPEC.id, "use `nuts`"));
        };
        let integrator = Integrator::Euler;
        let step =
            *(settings.step_size).get_or_insert_with(|| plan.longest_step(integrator, CRITICAL));
        plan.check_step(integrator, step, 0.0)?;
        let gradient_noise = plan.noise_friction(step);
        let steps_per_draw = *settings.steps_per_draw.get_or_insert_with(|| {
            capped_steps(plan.steps_between_draws(step, CRITICAL), &minibatch)
        });
        Ok(SghmcNaiveConfig {
            dynamics: Dynamics {
                integrator,
                step,
                thermostat: None,
                temperature: 1.0,
            },
            medium,
            steps_per_draw,
            noise_share: gradient_noise / (1.0 + gradient_noise),
        })
    }

    fn steps_per_draw(config: &SghmcNaiveConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &SghmcNaiveConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<PhaseSpace, StepError> {
        let rng = &mut streams.noise;
        let mut space = PhaseSpace::start(u0, &config.medium, oracle, rng)?;
        space.injected.fill(1.0);
        Ok(space)
    }

    fn step(
        config: &SghmcNaiveConfig,
        at: Tick,
        space: &mut PhaseSpace,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        space.advance(&config.dynamics, false, at, oracle, streams)?;
        info[0] = config.dynamics.step;
        info[1] = config.noise_share;
        info[2] = space.temperature;
        Ok(())
    }

    fn position(space: &PhaseSpace) -> &[f64] {
        &space.u
    }

    fn visit(space: &mut PhaseSpace, visitor: &mut dyn StateVisitor) {
        space.visit(visitor);
    }
}
