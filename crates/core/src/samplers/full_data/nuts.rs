//! The No-U-Turn sampler with multinomial weights, as in current Stan.
//!
//! References: Hoffman and Gelman (2014), JMLR 15, 1593-1623 (doubling, dual averaging); Betancourt (2017),
//! arXiv:1701.02434, appendix A (multinomial weights, generalised criterion); Stan 2.21 and later (criterion also
//! between neighbouring subtrees, after Betancourt's note of 2019).
//!
//! **Transition.** Fresh momentum p ~ N(0, M); a trajectory of leapfrog steps of size ε is doubled in a random direction
//! until it turns back on itself or has 2^`max_depth` points; a point is chosen with weight exp(H₀ − H), favouring later
//! doublings ([`tree`]). Warm-up as in [`crate::samplers::full_data::adaptation`].
//!
//! **Step size.** ε of [`crate::samplers::full_data::hamiltonian`], as Stan prints it; in Langevin time h = ε²/2.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `metric` | diagonal or dense M⁻¹ | dense up to 100 dimensions, above where correlation at the mode makes its D² per step pay |
//! | `start_metric` | M⁻¹ at the start | curvature: H⁻¹ at the mode, if one was found; else identity as in Stan |
//! | `target_accept` | mean acceptance that dual averaging aims at (Stan's `adapt_delta`) | 0.8 |
//! | `max_depth` | doublings at most | 10 |
//! | `step_size` | fixes ε instead of adapting it | adapted |
//!
//! **Start at the curvature.** With H⁻¹ as inverse metric a posterior near its normal limit is close to N(0, I) in the
//! first iteration already, so that warm-up costs about three leapfrog steps per iteration instead of hundreds. The
//! windows still replace it by the covariance of draws, because a skewed posterior differs from its curvature; they
//! shrink towards H⁻¹ instead of towards 0.001 I ([`crate::samplers::full_data::adaptation::RunningCovariance::regularised`]).
//!
//! **Cost.** N row gradients per leapfrog step, usually 3 to 15 steps per draw. **Bias.** None.
//! **Not for** targets without gradients or with jumps, and not for data so tall that one pass takes seconds.

use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::hamiltonian::Trajectory;
use crate::samplers::full_data::tuning::{LeapfrogSettings, Plan, Tuned};
use crate::samplers::recommend::{LEAPFROGS, Standing, Traits};
use crate::samplers::{
    ACCEPT, Conditional, Follow, InfoColumn, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec,
    StateVisitor, Target, Tick,
};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Streams};
use tree::Tree;

pub(in crate::samplers) mod tree;

ergodic_base::settings! {
    /// What `nuts` has beside the settings of all samplers with leapfrog steps.
    pub struct Depth {
        max_depth: usize = Field::int("Most doublings", 1, 20, Some(10))
            .help("A trajectory has at most 2 to this power leapfrog steps (max_treedepth in Stan)")
            .why("Stan's default: 1023 leapfrog steps mean a badly scaled target");
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(ACCEPT, "Mean acceptance probability over the trajectory"),
    InfoColumn::new(STEP_SIZE, "Leapfrog step size"),
    InfoColumn::TREE_DEPTH,
    InfoColumn::N_LEAPFROG,
    InfoColumn::DIVERGENT,
    InfoColumn::ENERGY,
    InfoColumn::LOG_DENSITY,
];

/// The sampler `nuts`.
pub struct Nuts;

/// Settings of [`Nuts`].
#[derive(Clone, Debug)]
pub struct Config {
    plan: Plan,
    max_depth: usize,
}

/// State of [`Nuts`].
pub struct State {
    tuned: Tuned,
    /// Working memory.
    tree: Tree,
}

impl Sampler for Nuts {
    type Settings = LeapfrogSettings<Depth>;
    type Config = Config;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY
        .passes(LEAPFROGS, 0.0)
        .standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "nuts",
        family: SamplerFamily::FullData,
        title: "NUTS",
        about: "The No-U-Turn sampler of Stan: exact, tunes itself, the reference for every other sampler",
        cite: "Hoffman and Gelman 2014, JMLR 15; Betancourt 2017, arXiv:1701.02434",
        formula: "p ~ N(0, M); double a leapfrog trajectory until it turns back; choose a point with weight exp(H0 - H)",
        fields: Self::Settings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };
    const FOLLOW: Option<Follow<Config, State>> = Some(follow);

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        Ok(Config {
            plan: Plan::settle(settings, target)?,
            max_depth: settings.own.max_depth,
        })
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let mut tree = Tree::new(u0.len(), config.max_depth);
        let rng = &mut streams.noise;
        let tuned = Tuned::start(&config.plan, u0, oracle, rng, tree.spare())?;
        Ok(State { tuned, tree })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        state.tuned.settle(&config.plan, at);
        let step_size = state.tuned.step_size;
        let summary = state.tree.transition(
            &mut state.tuned.place,
            &state.tuned.metric,
            step_size,
            oracle,
            &mut streams.noise,
        )?;
        info.copy_from_slice(&[
            summary.accept,
            step_size,
            summary.depth as f64,
            summary.num_leapfrog as f64,
            f64::from(u8::from(summary.divergent)),
            summary.energy,
            state.tuned.place.log_density,
        ]);
        let (rng, spare) = (&mut streams.noise, state.tree.spare());
        let accept = summary.accept;
        (state.tuned).learn(&config.plan, at, accept, oracle, rng, spare)?;
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.tuned.place.u
    }

    fn gradient(state: &State) -> Option<&[f64]> {
        Some(&state.tuned.place.grad)
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        state.tuned.visit(visitor);
    }
}

/// See [`Sampler::FOLLOW`].
fn follow(
    _config: &Config,
    state: &mut State,
    steps: usize,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
) -> Result<Trajectory, StepError> {
    let (spare, along) = (state.tree.spare(), (steps, state.tuned.step_size));
    state.tuned.follow(along, oracle, rng, spare)
}

impl Conditional for Nuts {
    fn refresh(state: &mut State, oracle: &mut Oracle) -> Result<(), StepError> {
        state.tuned.place.refresh(oracle)
    }
}

#[cfg(test)]
mod tests;
