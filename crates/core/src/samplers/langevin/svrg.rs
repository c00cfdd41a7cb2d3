//! SVRG-LD (`svrg-ld`): Langevin dynamics whose control variates are all gradients at a position that is renewed now and
//! then.
//!
//! Source: Dubey, Reddi, Póczos, Smola, Xing, Williamson, "Variance reduction in stochastic gradient Langevin dynamics"
//! (2016), algorithm 2; Baker (2018), section 6.2, asks for such a relative of `sgld-cv`.
//!
//! | | gradient |
//! |---|---|
//! | ours | ĝ = ∇log p(θ) + ∇ℓ(θ̃) + (N/B) Σ_{i∈S} (∇ℓ_i(θ) − ∇ℓ_i(θ̃)); every m steps θ̃ = θ, with a pass over all rows |
//! | Dubey et al. | the same for −log π; their step h_t/2 with noise N(0, h_t), so h = h_t/2 ([`crate::samplers::convention`]) |
//!
//! The move, decreasing steps and temperatures are those of [`crate::samplers::langevin`].
//!
//! **Bias.** Positions k steps apart differ, in squares, by 1 − (1−h)^k of twice the distance of a draw from the mode, so
//! gradient noise is V = (2κ/B) times the mean of that over k < m: less than that of `sgld-cv` (κ/B) while hm is small, twice
//! as much where it is large. The default step has an excess of variance of 4 %.
//!
//! **Default m.** N/B: a pass costs as much as the minibatches between two passes. Cost of a step: B + N/m row gradients,
//! and B more where rows have no linear predictor, because then gradients at θ̃ are not kept.
//!
//! Not for: posteriors whose mode is known and near which they are normal; `sgld-cv` is then cheaper.

use crate::models::Block;
use crate::oracle::{Estimator, Keep, Oracle, RowTable, StepError};
use crate::samplers::langevin::saga::{TABLE_SPEC, table_batch, table_rule};
use crate::samplers::langevin::{Config, Langevin, LangevinSettings, Noise, Preconditioning};
use crate::samplers::minibatch_settings::PlainRows;
use crate::samplers::{Sampler, SamplerSpec, StateVisitor, Target, Tick};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};

ergodic_base::settings! {
    /// What `svrg-ld` has beside the settings of all Langevin samplers.
    pub struct Own {
        renew_every: Option<u64> = Field::int("Steps between passes", 1, 1_000_000_000, None)
            .help(
                "m of the source: after this many steps the centre of the control variates moves to the present position, which takes \
                 a pass over all rows",
            )
            .why("N/B: passes then cost as much as the minibatches between them");
        preconditioning: Preconditioning;
    }
}

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
    type Settings = LangevinSettings<PlainRows, Own>;
    type Config = SvrgConfig;
    type State = SvrgState;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "svrg-ld",
        title: "SVRG Langevin dynamics",
        about: "Langevin dynamics with minibatch gradients centred at a position that follows the chain, at the price of a pass \
                over all rows now and then",
        formula: "θ' = θ + h M [∇log p(θ) + ∇ℓ(θ̃) + (N/B) Σ_S (∇ℓ_i(θ) − ∇ℓ_i(θ̃))] + sqrt(2h) M^{1/2} ξ, θ̃ = θ every m steps",
        fields: Self::Settings::FIELDS,
        ..TABLE_SPEC
    };

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<SvrgConfig, SettingError> {
        let minibatch = settings.rows.settle_with(target, table_batch(target)?);
        let Own {
            renew_every,
            preconditioning,
        } = &mut settings.own;
        let renew_every = *renew_every
            .get_or_insert_with(|| target.num_obs.div_ceil(minibatch.batch).max(1) as u64);
        let noise = Noise::Periodic {
            period: renew_every as f64,
        };
        let rule = table_rule(
            Self::SPEC.id,
            preconditioning.settle(settings.step_size, target)?,
        );
        let core = Config::settle(&rule, noise, minibatch, settings, target)?;
        Ok(SvrgConfig { core, renew_every })
    }

    fn check(config: &SvrgConfig, parts: &[Block]) -> Result<(), SettingError> {
        config.core.block_steps.check(parts)
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
        config.core.minibatch.install(Estimator::Plain, oracle);
        Ok(SvrgState {
            core: Langevin::start(u0, &config.core, oracle),
            centre: RowTable::empty(oracle, false)?,
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
            centre.renew(oracle, &core.u)?;
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
