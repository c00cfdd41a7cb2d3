//! Hamiltonian Monte Carlo with trajectories of fixed length.
//!
//! References: Duane, Kennedy, Pendleton and Roweth (1987); Neal (2011), MCMC using Hamiltonian dynamics (jitter, section
//! 5.4.2.2); Dang et al. (2019), section 6.3: fixed εL, acceptance 0.8, dual averaging in burn-in.
//!
//! | | update |
//! |---|---|
//! | Dang et al. and Chen | p ~ N(0, M); L leapfrog steps of size ε; accept with min(1, exp(H₀ − H_L)) |
//! | ours | the same with t = `length` (1 + `jitter` V), V ~ U(−1, 1), L = ⌈t/ε⌉ steps of size t/L ≤ ε |
//!
//! Dang et al. print M = −Σ⁻¹ with a Hessian Σ; with K = p'M⁻¹p/2 the useful M is the precision, so M⁻¹ starts
//! at H⁻¹. Steps that divide t evenly make the length of a trajectory exact whatever ε is: the step size only decides how
//! well it is followed.
//!
//! **Step size.** ε of [`crate::samplers::full_data::hamiltonian`]; in Langevin time h = ε²/2. Warm-up as in `nuts` ([`crate::samplers::full_data::tuning`]).
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `length` | t, in units in which the metric makes standard deviations 1 | 1.5 |
//! | `jitter` | relative range of t | 0.2 |
//! | `metric`, `start_metric`, `target_accept`, `step_size` | as in `nuts` | as in `nuts` |
//!
//! **Why 1.5.** A direction of a normal posterior with sd s (1 if the metric is right) turns as cos(t/s): a quarter of its
//! period, π/2, forgets the position. Without jitter a direction whose period divides t would return to where it
//! was.
//!
//! **Before the metric is known**, with an identity start until the first window of warm-up ends, `length` has no unit
//! yet and a trajectory takes ten steps of size ε.
//!
//! **Cost.** N row gradients per leapfrog step: 2 or 3 steps per draw of a nearly normal posterior, which makes the draws
//! nearly independent. **Bias.** None. **Not for** targets whose scale varies much from place to place (a fixed length is
//! too long here and too short there: `nuts`), jumps, or data so tall that one pass takes seconds.

use rand::RngExt as _;

use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::hamiltonian::{Point, Trajectory, divide};
use crate::samplers::full_data::tuning::{LeapfrogSettings, Plan, Tuned};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    ACCEPT, Conditional, Follow, InfoColumn, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec,
    StateVisitor, Target, Tick,
};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Streams};

/// Steps of a trajectory while the unit of length is not known.
const BLIND_STEPS: f64 = 10.0;

ergodic_base::settings! {
    /// Settings of [`Hmc`].
    pub struct HmcSettings {
        length: f64 = Field::real("Trajectory length", 1e-6, 1e4, Some(1.5))
            .help(
                "Time that a trajectory travels, step size times steps, in units in which the metric makes standard \
                 deviations 1",
            )
            .why("about a quarter of the period 2π of a normal direction, after which the position is forgotten");
        jitter: f64 = Field::real("Jitter", 0.0, 0.99, Some(0.2))
            .help(
                "The length of each trajectory is drawn within this share of it, so that none is in step with a direction \
                 of the posterior",
            )
            .why("20 %, as Neal advises");
        leapfrog: LeapfrogSettings<()>;
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(ACCEPT, "Acceptance probability of the trajectory's end"),
    InfoColumn::new(
        STEP_SIZE,
        "Longest leapfrog step; those of a trajectory are a little shorter, so that they divide its length",
    ),
    InfoColumn::N_LEAPFROG,
    InfoColumn::DIVERGENT,
    InfoColumn::ENERGY,
    InfoColumn::LOG_DENSITY,
];

/// The sampler `hmc`.
pub struct Hmc;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    plan: Plan,
    length: f64,
    jitter: f64,
}

/// State of [`Hmc`].
pub struct State {
    tuned: Tuned,
    /// 1 once lengths have a unit: the metric came from the curvature or from draws.
    scaled: u64,
    /// Working memory: the end of the trajectory.
    point: Point,
}

/// What a transition did.
struct Summary {
    accept: f64,
    step_size: f64,
    num_leapfrog: u64,
    divergent: bool,
    energy: f64,
}

impl Sampler for Hmc {
    type Settings = HmcSettings;
    type Config = Config;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.passes(8.0, 0.25);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "hmc",
        family: SamplerFamily::FullData,
        title: "HMC",
        about: "Hamiltonian Monte Carlo with trajectories of fixed length: exact, few passes per draw where the posterior is \
                nearly normal",
        cite: "Duane et al. 1987, Physics Letters B 195; Neal 2011, arXiv:1206.1901",
        formula: "p ~ N(0, M); L = t/ε leapfrog steps; accept with min(1, exp(H0 - H))",
        fields: HmcSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };
    const FOLLOW: Option<Follow<Config, State>> = Some(follow);

    fn configure(settings: &mut HmcSettings, target: &Target) -> Result<Config, SettingError> {
        Ok(Config {
            plan: Plan::settle(&mut settings.leapfrog, target)?,
            length: settings.length,
            jitter: settings.jitter,
        })
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let mut point = Point::empty(u0.len());
        let rng = &mut streams.noise;
        let tuned = Tuned::start(&config.plan, u0, oracle, rng, &mut point)?;
        Ok(State {
            tuned,
            scaled: u64::from(config.plan.from_curvature),
            point,
        })
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
        let summary = transition(config, state, oracle, &mut streams.noise)?;
        info.copy_from_slice(&[
            summary.accept,
            summary.step_size,
            summary.num_leapfrog as f64,
            f64::from(u8::from(summary.divergent)),
            summary.energy,
            state.tuned.place.log_density,
        ]);
        let (rng, spare) = (&mut streams.noise, &mut state.point);
        let accept = summary.accept;
        let replaced = (state.tuned).learn(&config.plan, at, accept, oracle, rng, spare)?;
        state.scaled |= u64::from(replaced);
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
        visitor.counter("scaled", &mut state.scaled);
    }
}

/// See [`Sampler::FOLLOW`]: by steps as trajectories without jitter have them.
fn follow(
    config: &Config,
    state: &mut State,
    steps: usize,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
) -> Result<Trajectory, StepError> {
    let (length, longest) = lengths(config, state);
    let (_, step_size) = divide(length, longest);
    let (spare, along) = (&mut state.point, (steps, step_size));
    state.tuned.follow(along, oracle, rng, spare)
}

impl Conditional for Hmc {
    fn refresh(state: &mut State, oracle: &mut Oracle) -> Result<(), StepError> {
        state.tuned.place.refresh(oracle)
    }
}

/// How long trajectories are but for jitter, and the longest step.
fn lengths(config: &Config, state: &State) -> (f64, f64) {
    let step_size = state.tuned.step_size;
    if state.scaled == 1 {
        // Beyond the longest trajectory a step size means nothing.
        let most = config.length * (1.0 + config.jitter);
        (config.length, step_size.min(most))
    } else {
        (BLIND_STEPS * step_size, step_size)
    }
}

/// Moves by one trajectory. After an error the position is as before.
fn transition(
    config: &Config,
    state: &mut State,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
) -> Result<Summary, StepError> {
    let (length, longest) = lengths(config, state);
    let time = length * (1.0 + config.jitter * (2.0 * rng.random::<f64>() - 1.0));
    let State { tuned, point, .. } = state;
    point.launch(&tuned.place, &tuned.metric, rng);
    let travel = point.travel(&tuned.metric, divide(time, longest), oracle)?;
    let accept = travel.acceptance();
    let accepted = rng.random::<f64>() < accept;
    if accepted {
        std::mem::swap(&mut tuned.place, &mut point.at);
    }
    Ok(Summary {
        accept,
        step_size: longest,
        num_leapfrog: travel.num_leapfrog,
        divergent: travel.divergent,
        energy: if accepted { travel.end } else { travel.start },
    })
}

#[cfg(test)]
mod tests;
