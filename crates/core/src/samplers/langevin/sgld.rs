//! Stochastic gradient Langevin dynamics, plain (`sgld`) and with control variates (`sgld-cv`).
//!
//! Sources: Welling and Teh (2011); Baker, Fearnhead, Fox and Nemeth, "Control variates for stochastic gradient
//! MCMC" (2019), algorithm 1 and Baker (2018), equation (3.3.1).
//!
//! | | update |
//! |---|---|
//! | ours | θ' = θ + h M ĝ + sqrt(2h) M^{1/2} ξ |
//! | Welling and Teh; Baker, chapter 3 | θ' = θ + (ε/2) ĝ + N(0, ε), so h = ε/2 ([`super`]) |
//!
//! with ĝ the minibatch estimate of ∇log π (`sgld`) or the same estimate centred at the mode (`sgld-cv`). Decreasing steps,
//! temperatures and the bias as a function of gradient noise V are those of [`crate::samplers::langevin`]. Plain gradients have
//! V = (N/B) ρ with ρ about 1; centred ones V = κ/B with κ about the number of parameters, which does not grow with N. Both
//! ρ and κ are measured at the mode ([`crate::oracle::Centre`]).
//!
//! Centred gradients may draw rows with p_i ∝ L_i, the Lipschitz constants of their gradients (`scheme = lipschitz`; Baker's
//! Lemma 3.3.3; [`crate::oracle::AliasTable`]): then V ≤ (Σ L_i)² E|θ − û|²/B, and few heavy rows do no harm. They do so by
//! default where the V measured at the mode is four times smaller for it.
//!
//! With `order` = 2 a row's gradient is compared with its linear expansion at the mode ([`crate::oracle`], SGLD₁ of Dang et al. 2019): its
//! noise is of the second order in the distance from the mode. Defaults reckon with the noise of the first order, which bounds it near the
//! mode, so that what the information columns predict is too much.
//!
//! **Without a mode** `sgld-cv` centres gradients where the chain starts, by a pass over the rows: control variates of first order need no
//! curvature. Steps are then a user's own, as those of `sgld`, and chains start where an optimiser has climbed to, unless the run says
//! otherwise ([`SamplerSpec::centres_at_start`]).
//!
//! **Default step.** The h whose predicted excess of variance is ε: h = 2ε/(1 + ε + V). ε = 4 % (2 % of a standard
//! deviation) for centred gradients. For plain ones ε = 10 %: V is large, a chain needs 2/h steps of B rows to forget
//! its position, so an independent draw costs at least (1/ε) 2N row gradients for whatever batch; 4 % would cost 2.5
//! times as much and still not be exact.
//!
//! **Draws.** A recorded draw is 1 (`sgld-cv`) or ½ (`sgld`) unit of Langevin time after the one before: correlation
//! e⁻¹ or e^{−½}. Cost of a step: B row gradients and two triangular solves.
//!
//! Not for: posteriors with several modes or far from normal (`sgld-cv`: its gradients are noisy far from the mode), or
//! whenever `nuts` is affordable, which is exact.

use std::marker::PhantomData;

use crate::models::Block;
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::langevin::{
    Config, EXCESS_CENTRED, EXCESS_PLAIN, INFO, Langevin as Core, LangevinSettings, Noise,
    Preconditioning, Rule, TIME_CENTRED, TIME_PLAIN,
};
use crate::samplers::minibatch_settings::{CentredRows, Described, OwnCentre, PlainRows, Rows};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{
    Conditional, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_diagnostics::Remedy;

/// The sampler `sgld`.
pub type Sgld = Langevin<PlainRows>;

/// The sampler `sgld-cv`.
pub type SgldCv = Langevin<CentredRows>;

/// `sgld` and `sgld-cv`, which differ in the minibatches `R`.
pub struct Langevin<R>(PhantomData<fn() -> R>);

/// Position and centre of a chain.
#[derive(Clone, Debug)]
pub struct State {
    /// Position and working memory.
    pub core: Core,
    centre: OwnCentre,
}

impl<R: Rows> Sampler for Langevin<R>
where
    Self: Described,
{
    type Settings = LangevinSettings<R, Preconditioning>;
    type Config = Config;
    type State = State;
    const SPEC: SamplerSpec = Self::DESCRIPTION;
    const ADVICE: Traits = Self::FOR_ADVISER;

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let (noise, excess, time) = match R::ESTIMATOR {
            Estimator::ControlVariate => (Noise::Mode, EXCESS_CENTRED, TIME_CENTRED),
            Estimator::Plain => (Noise::Plain, EXCESS_PLAIN, TIME_PLAIN),
        };
        let rule = Rule {
            id: Self::SPEC.id,
            needs_mode: false,
            rates: settings.own.settle(settings.step_size, target)?,
            excess,
            time,
        };
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
    ) -> Result<State, StepError> {
        config.minibatch.install(R::ESTIMATOR, oracle);
        Ok(State {
            centre: OwnCentre::of_start(u0, R::ESTIMATOR, oracle)?,
            core: Core::start(u0, config, oracle),
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        State { core, centre }: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        centre.hold(oracle)?;
        oracle.grad(&core.u, &mut streams.batch, &mut core.grad);
        core.advance(config, at, oracle, streams, info)
    }

    fn position(state: &State) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        state.core.visit(visitor);
        state.centre.visit(visitor);
    }
}

impl<R: Rows> Conditional for Langevin<R>
where
    Self: Described,
{
    fn refresh(_state: &mut State, _oracle: &mut Oracle) -> Result<(), StepError> {
        // Nothing is remembered of the density.
        Ok(())
    }
}

impl Described for Sgld {
    // 2/h steps of B rows at h = 2ε B/N make an independent draw: 20 N rows at ε = 10 %, and draws that overlap.
    const FOR_ADVISER: Traits = Traits::ORDINARY
        .row_passes(40.0, 0.0)
        .standing(Standing::Comparison);
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sgld",
        family: SamplerFamily::Langevin,
        title: "SGLD",
        about: "Langevin dynamics with minibatch gradients: the baseline of its family, with a bias that it shows",
        cite: "Welling, Teh, \"Bayesian learning via stochastic gradient Langevin dynamics\", ICML 2011",
        formula: "θ' = θ + h M ĝ(θ) + sqrt(2h) M^{1/2} ξ, M = H⁻¹",
        fields: <LangevinSettings<PlainRows, Preconditioning>>::FIELDS,
        info: INFO,
        needs_mode: true,
        own_steps: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out too large because gradient noise is not corrected for: by about 5 to 10 % at the default \
             step, more with larger steps or smaller minibatches; at a temperature other than 1 the target is not the posterior",
        ),
        bias_order: Some(1),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };
}

impl Described for SgldCv {
    // Steps of h = 0.05: 20 for a unit of Langevin time, and two such for an effective draw.
    const FOR_ADVISER: Traits = Traits::ORDINARY.centred(40.0).standing(Standing::Auto);
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "sgld-cv",
        title: "SGLD with control variates",
        about: "Langevin dynamics with minibatch gradients centred at the mode: little noise near it, for tall data",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Control variates for stochastic gradient MCMC\", \
               Statistics and Computing 29 (2019)",
        formula: "θ' = θ + h M [∇log π(û) + difference of gradients at θ and û] + sqrt(2h) M^{1/2} ξ, M = H⁻¹",
        fields: <LangevinSettings<CentredRows, Preconditioning>>::FIELDS,
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with larger steps or where the posterior \
             is far from normal; at a temperature other than 1 the target is not the posterior",
        ),
        centres_at_start: true,
        ..Sgld::DESCRIPTION
    };
}

#[cfg(test)]
mod tests;
