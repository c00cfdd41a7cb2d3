//! SVRG-LD (`svrg-ld`): Langevin dynamics whose control variates are all gradients at a position that is renewed now and
//! then.
//!
//! Source: Dubey, Reddi, Póczos, Smola, Xing, Williamson, "Variance reduction in stochastic gradient Langevin dynamics"
//! (2016), algorithm 2; Baker (2018), section 6.2, asks for such a relative of `sgld-cv`.
//!
//! | | gradient |
//! |---|---|
//! | ours | ĝ = ∇log p(θ) + ∇ℓ(θ̃) + (N/B) Σ_{i∈S} (∇ℓ_i(θ) − ∇ℓ_i(θ̃)); every m steps θ̃ = θ, with a pass over all rows |
//! | Dubey et al. | the same for −log π; their step h_t/2 with noise N(0, h_t), so h = h_t/2 ([`super::convention`]) |
//!
//! The move, decreasing steps and temperatures are those of [`super::langevin`].
//!
//! **Bias.** Positions k steps apart differ, in squares, by 1 − (1−h)^k of twice the distance of a draw from the mode, so
//! gradient noise is V = (2κ/B) times the mean of that over k < m: less than that of `sgld-cv` (κ/B) while hm is small, twice
//! as much where it is large. The default step has an excess of variance of 4 %.
//!
//! **Default m.** N/B: a pass costs as much as the minibatches between two passes. Cost of a step: B + N/m row gradients,
//! and B more where rows have no linear predictor, because then gradients at θ̃ are not kept.
//!
//! Not for: posteriors whose mode is known and near which they are normal; `sgld-cv` is then cheaper.

use super::langevin::{
    Config, DECAY_EXPONENT, DECAY_OFFSET, INFO, Langevin, Noise, PRECONDITION, SCHEDULE, STEP,
    STEPS_PER_DRAW, TEMPERATURE,
};
use super::minibatch_settings::{BATCH, MinibatchSettings, SCHEME};
use super::saga::{table_batch, table_rule};
use super::{Family, Sampler, SamplerSpec, StateVisitor, Target, Tick};
use crate::oracle::{Estimator, Keep, Oracle, RowTable, StepError};
use ergodic_base::rng::Streams;
use ergodic_base::settings::{Field, Kind, SettingError, Settings, Value};

const RENEW_EVERY: Field = Field {
    key: "renew_every",
    label: "Steps between passes",
    help: "m of the source: after so many steps the centre of the control variates moves to the present position, which takes a \
           pass over all rows",
    kind: Kind::Int {
        min: 1,
        max: 1_000_000_000,
    },
    default: None,
    why: "N/B: passes then cost as much as the minibatches between them",
};

/// The sampler `svrg-ld`.
pub struct SvrgLd;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SvrgConfig {
    core: Config,
    renew_every: u64,
}

/// Position and the gradients at the centre.
#[derive(Debug)]
pub struct SvrgState {
    core: Langevin,
    centre: RowTable,
}

impl Sampler for SvrgLd {
    type Config = SvrgConfig;
    type State = SvrgState;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "svrg-ld",
        family: Family::Langevin,
        title: "SVRG Langevin dynamics",
        about: "Langevin dynamics with minibatch gradients centred at a position that follows the chain, at the price of a pass \
                over all rows now and then",
        cite: "Dubey, Reddi, Póczos, Smola, Xing, Williamson, \"Variance reduction in stochastic gradient Langevin dynamics\", \
               NIPS 2016",
        formula: "θ' = θ + h M [∇log p(θ) + ∇ℓ(θ̃) + (N/B) Σ_S (∇ℓ_i(θ) − ∇ℓ_i(θ̃))] + sqrt(2h) M^{1/2} ξ, θ̃ = θ every m steps",
        fields: &[
            STEP,
            BATCH,
            SCHEME,
            RENEW_EVERY,
            PRECONDITION,
            STEPS_PER_DRAW,
            SCHEDULE,
            DECAY_OFFSET,
            DECAY_EXPONENT,
            TEMPERATURE,
        ],
        info: INFO,
        needs_mode: true,
        minibatch: true,
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with larger steps; at a temperature other \
             than 1 the target is not the posterior",
        ),
        default_warmup: 200,
        decides_warmup: false,
        negative_control: false,
    };

    fn configure(settings: &Settings, target: &Target) -> Result<SvrgConfig, SettingError> {
        let minibatch = MinibatchSettings::read(settings, target, table_batch(target));
        let renew_every = settings.int("renew_every").map_or_else(
            || target.num_obs.div_ceil(minibatch.batch).max(1) as u64,
            |steps| steps as u64,
        );
        let noise = Noise::Periodic {
            period: renew_every as f64,
        };
        let rule = table_rule(Self::SPEC.id);
        let core = Config::read(rule, noise, minibatch, settings, target)?;
        Ok(SvrgConfig { core, renew_every })
    }

    fn resolved(config: &SvrgConfig) -> Vec<(&'static str, Value)> {
        let mut values = config.core.resolved_with_precondition();
        values.push(("renew_every", Value::Int(config.renew_every as i64)));
        values
    }

    fn steps_per_draw(config: &SvrgConfig) -> u64 {
        config.core.steps_per_draw
    }

    fn init(
        config: &SvrgConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<SvrgState, StepError> {
        let MinibatchSettings { batch, scheme } = config.core.minibatch;
        oracle.set_estimator(Estimator::Plain, batch, scheme);
        Ok(SvrgState {
            core: Langevin::at(u0),
            centre: RowTable::empty(oracle, false),
        })
    }

    fn step(
        config: &SvrgConfig,
        at: Tick,
        SvrgState { core, centre }: &mut SvrgState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        if core.steps().is_multiple_of(config.renew_every) {
            centre.renew(oracle, &core.u);
        }
        oracle.grad_by_table(
            &core.u,
            &mut streams.batch,
            centre,
            Keep::Old,
            &mut core.grad,
        );
        core.advance(&config.core, at, oracle, streams, info)
    }

    fn position(state: &SvrgState) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut SvrgState, visitor: &mut dyn StateVisitor) {
        state.core.visit(visitor);
        for (name, numbers) in state.centre.numbers_mut() {
            visitor.slice(name, numbers);
        }
    }
}
