//! SAGA-LD (`saga-ld`): Langevin dynamics whose control variates are the last gradients of each row.
//!
//! Sources: Dubey, Reddi, Póczos, Smola, Xing, Williamson, "Variance reduction in stochastic gradient Langevin dynamics"
//! (2016), algorithm 1; Baker (2018), sections 3.3.1 and 3.5, which compare it with `sgld-cv`.
//!
//! | | gradient |
//! |---|---|
//! | ours | ĝ = ∇log p(θ) + (N/B) Σ_{i∈S} (∇ℓ_i(θ) − g_i) + Σ_i g_i, then g_i = ∇ℓ_i(θ) for i ∈ S |
//! | Dubey et al. | the same for −log π; their step h_t/2 with noise N(0, h_t), so h = h_t/2 ([`super`]) |
//!
//! The move, decreasing steps and temperatures are those of [`crate::samplers::langevin`]. The table starts with all gradients at the
//! start of the chain: one pass.
//!
//! **Bias.** g_i is N/B steps old on average. Two positions t units of Langevin time apart differ, in squares, by 1 − e^{−t}
//! of twice the distance of a draw from the mode, so gradient noise is V = ((2κ + 1)/B) r/(1 + r), r = hN/B: less than that of
//! `sgld-cv` (κ/B) while h < B/N, about twice as much otherwise. The default step has an excess of variance of 4 %.
//!
//! **Memory.** One number per row and chain where a row has one linear predictor, D numbers otherwise; models that would need
//! more than half a gibibyte are refused. Checkpoints hold the table.
//!
//! Cost of a step: B row gradients and their second reading. Not for: posteriors whose mode is known and near which they are
//! normal, where `sgld-cv` does the same without a table. It follows a chain away from the mode, which `sgld-cv` cannot.

use crate::models::{Block, Model};
use crate::oracle::{Estimator, Keep, Oracle, RowTable, StepError};
use crate::samplers::langevin::{
    Config, EXCESS_CENTRED, INFO, Langevin, LangevinSettings, Noise, Preconditioning, Rates, Rule,
    TIME_CENTRED, centred_batch, plain_batch,
};
use crate::samplers::minibatch_settings::PlainRows;
use crate::samplers::{
    Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_diagnostics::Remedy;

/// Most memory for the table of one chain, in bytes: four chains then need two gibibytes.
const TABLE_LIMIT: f64 = 536_870_912.0;

/// The sampler `saga-ld`.
pub struct SagaLd;

/// Position and table.
#[derive(Debug)]
pub struct SagaState {
    core: Langevin,
    table: RowTable,
}

/// Default batch for gradients centred at older positions: these may be twice as noisy as those centred at the mode.
///
/// # Errors
/// See [`centred_batch`].
pub(in crate::samplers) fn table_batch(target: &Target) -> Result<usize, SettingError> {
    let n = target.num_obs;
    target
        .difference_rows()
        .map_or_else(|| Ok(plain_batch(n)), |rows| centred_batch(2.0 * rows))
}

/// What samplers centred at older positions say of themselves alike.
pub(in crate::samplers) const TABLE_SPEC: SamplerSpec = SamplerSpec {
    family: SamplerFamily::Langevin,
    cite: "Dubey, Reddi, Póczos, Smola, Xing, Williamson, \"Variance reduction in stochastic gradient Langevin dynamics\", \
           NIPS 2016",
    info: INFO,
    needs_mode: true,
    own_steps: true,
    minibatch: true,
    remedy: Some(Remedy::SmallerStep),
    bias: Some(
        "Standard deviations come out about 2 % too large at the default step, more with larger steps; at a temperature other \
         than 1 the target is not the posterior",
    ),
    bias_order: Some(1),
    default_warmup: 200,
    ..SamplerSpec::ORDINARY
};

/// How samplers centred at older positions resolve the shared settings.
pub(in crate::samplers) fn table_rule(id: &'static str, rates: Rates) -> Rule {
    Rule {
        id,
        needs_mode: false,
        rates,
        excess: EXCESS_CENTRED,
        time: TIME_CENTRED,
    }
}

fn check_size(bytes: f64) -> Result<(), Unsuitable> {
    if bytes <= TABLE_LIMIT {
        return Ok(());
    }
    Err(Unsuitable::TableTooLarge {
        gibibytes: bytes / (2.0 * TABLE_LIMIT),
    })
}

impl Sampler for SagaLd {
    type Settings = LangevinSettings<PlainRows, Preconditioning>;
    type Config = Config;
    type State = SagaState;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "saga-ld",
        title: "SAGA Langevin dynamics",
        about: "Langevin dynamics with minibatch gradients centred at the last gradient of each row: no mode as centre, a table \
                instead",
        formula: "θ' = θ + h M [∇log p(θ) + (N/B) Σ_S (∇ℓ_i(θ) − g_i) + Σ_i g_i] + sqrt(2h) M^{1/2} ξ, then g_i = ∇ℓ_i(θ) on S",
        fields: Self::Settings::FIELDS,
        ..TABLE_SPEC
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        check_size(RowTable::bytes(model))
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let minibatch = settings.rows.settle_with(target, table_batch(target)?);
        let noise = Noise::Geometric {
            age: target.num_obs as f64 / minibatch.batch as f64,
        };
        let rule = table_rule(
            Self::SPEC.id,
            settings.own.settle(settings.step_size, target)?,
        );
        Config::settle(&rule, noise, minibatch, settings, target)
    }

    fn check(config: &Config, parts: &[Block]) -> Result<(), SettingError> {
        config.block_steps.check(parts)
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<SagaState, StepError> {
        config.minibatch.install(Estimator::Plain, oracle);
        let mut table = RowTable::empty(oracle, true)?;
        table.renew(oracle, u0)?;
        Ok(SagaState {
            core: Langevin::start(u0, config, oracle),
            table,
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        SagaState { core, table }: &mut SagaState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.grad_by_table(
            &core.u,
            &mut streams.batch,
            table,
            Keep::New,
            &mut core.grad,
        );
        core.advance(config, at, oracle, streams, info)
    }

    fn position(state: &SagaState) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut SagaState, visitor: &mut dyn StateVisitor) {
        state.core.visit(visitor);
        for (name, numbers) in state.table.numbers_mut() {
            visitor.slice(name, numbers);
        }
    }
}

#[cfg(test)]
mod tests;
