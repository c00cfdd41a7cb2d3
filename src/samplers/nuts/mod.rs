//! The No-U-Turn sampler with multinomial weights, as in current Stan.
//!
//! References: Hoffman and Gelman (2014), JMLR 15, 1593-1623 (doubling, dual averaging); Betancourt (2017),
//! arXiv:1701.02434, appendix A (multinomial weights, generalised criterion); Stan 2.21 and later (criterion also
//! between neighbouring subtrees, after Betancourt's note of 2019).
//!
//! **Transition.** Fresh momentum p ~ N(0, M); a trajectory of leapfrog steps of size ε is doubled in a random direction
//! until it turns back on itself or has 2^`max_depth` points; a point is chosen with weight exp(H₀ − H), favouring later
//! doublings ([`tree`]). Warm-up as in [`super::adaptation`].
//!
//! **Step size.** ε of [`super::hamiltonian`], as Stan prints it; in Langevin time h = ε²/2.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `metric` | diagonal or dense M⁻¹ | dense up to 100 dimensions: its D² per step is small beside N·D |
//! | `start_metric` | M⁻¹ at the start | curvature: H⁻¹ at the mode, if one was found; else identity as in Stan |
//! | `target_accept` | mean acceptance that dual averaging aims at (Stan's `adapt_delta`) | 0.8 |
//! | `max_depth` | doublings at most | 10 |
//! | `step_size` | fixes ε instead of adapting it | adapted |
//!
//! **Start at the curvature.** With H⁻¹ as inverse metric a posterior near its normal limit is close to N(0, I) in the
//! first iteration already, so that warm-up costs about three leapfrog steps per iteration instead of hundreds. The
//! windows still replace it by the covariance of draws, because a skewed posterior differs from its curvature; they
//! shrink towards H⁻¹ instead of towards 0.001 I ([`super::adaptation::RunningCovariance::regularised`]).
//!
//! **Cost.** N row gradients per leapfrog step, usually 3 to 15 steps per draw. **Bias.** None.
//! **Not for** targets without gradients or with jumps, and not for data so tall that one pass takes seconds.

use super::adaptation::{DualAveraging, RunningCovariance, Windows};
use super::advise::{LEAPFROGS, Standing, Traits};
use super::hamiltonian::{Metric, MetricKind, Place, first_step_size};
use super::{
    ACCEPT, DIVERGENT, ENERGY, InfoColumn, LOG_DENSITY, N_LEAPFROG, Phase, STEP_SIZE, Sampler,
    SamplerSpec, StateVisitor, TREE_DEPTH, Target, Tick,
};
use crate::base::rng::Streams;
use crate::base::settings::{Default, Field, Kind, SettingError, Settings, Value};
use crate::oracle::{Oracle, StepError};
use tree::Tree;

mod tree;

/// Largest D with a dense metric by default: learning D(D+1)/2 covariances from 500 draws makes sense up to there.
const DENSE_UP_TO: usize = 100;
/// Where the search for the first step size starts: the right order for a target scaled by its metric.
const FIRST_TRIAL: f64 = 1.0;

const METRIC_WORDS: [&str; 2] = ["diagonal", "dense"];
const START_WORDS: [&str; 2] = ["curvature", "identity"];

const FIELDS: &[Field] = &[
    Field {
        key: "metric",
        label: "Metric",
        help: "Inverse mass matrix: scales only (diagonal), or scales and correlations (dense)",
        kind: Kind::Choice(&METRIC_WORDS),
        default: None,
        why: "dense up to 100 dimensions, where it costs little and removes correlation; diagonal above",
    },
    Field {
        key: "start_metric",
        label: "First metric",
        help: "Inverse mass matrix before the first window of warm-up: posterior covariance guessed from the curvature at \
               the mode, or identity as in Stan",
        kind: Kind::Choice(&START_WORDS),
        default: None,
        why: "curvature where a mode was found, because warm-up then starts at the right scale; else identity",
    },
    Field {
        key: "target_accept",
        label: "Target acceptance",
        help: "Mean acceptance probability that the step size is adapted to (adapt_delta in Stan); nearer to 1 means \
               smaller steps and fewer divergences",
        kind: Kind::Real {
            min: 0.05,
            max: 0.999,
        },
        default: Some(Default::Real(0.8)),
        why: "Stan's default, near the cheapest for most targets",
    },
    Field {
        key: "max_depth",
        label: "Most doublings",
        help: "A trajectory has at most 2 to this power leapfrog steps (max_treedepth in Stan)",
        kind: Kind::Int { min: 1, max: 20 },
        default: Some(Default::Int(10)),
        why: "Stan's default: 1023 leapfrog steps mean a badly scaled target",
    },
    Field {
        key: "step_size",
        label: "Step size",
        help: "Leapfrog step in units of the metric; a number fixes it, auto adapts it in warm-up",
        kind: Kind::Real {
            min: 1e-9,
            max: 1e3,
        },
        default: None,
        why: "adapted to the target acceptance",
    },
];

const INFO: &[InfoColumn] = &[
    InfoColumn {
        name: ACCEPT,
        help: "Mean acceptance probability over the trajectory",
    },
    InfoColumn {
        name: STEP_SIZE,
        help: "Leapfrog step size",
    },
    InfoColumn {
        name: TREE_DEPTH,
        help: "Doublings of the trajectory",
    },
    InfoColumn {
        name: N_LEAPFROG,
        help: "Leapfrog steps of the trajectory",
    },
    InfoColumn {
        name: DIVERGENT,
        help: "1 where the energy rose by more than 1000: the step is too long for the curvature met there",
    },
    InfoColumn {
        name: ENERGY,
        help: "Energy of the draw: minus log density plus kinetic energy",
    },
    InfoColumn {
        name: LOG_DENSITY,
        help: "Log posterior of the draw up to a constant",
    },
];

/// The sampler `nuts`.
pub struct Nuts;

/// Settings of [`Nuts`].
#[derive(Clone, Debug)]
pub struct Config {
    metric: MetricKind,
    from_curvature: bool,
    target_accept: f64,
    max_depth: usize,
    step_size: Option<f64>,
}

/// State of [`Nuts`].
pub struct State {
    place: Place,
    metric: Metric,
    step_size: f64,
    averaging: DualAveraging,
    window: RunningCovariance,
    /// Iterations of warm-up done.
    warmup_iter: u64,
    /// 1 once warm-up is over.
    frozen: u64,
    /// Working memory.
    tree: Tree,
}

impl Sampler for Nuts {
    type Config = Config;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY
        .passes(LEAPFROGS, 0.0)
        .standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "nuts",
        title: "NUTS",
        about: "The No-U-Turn sampler of Stan: exact, tunes itself, the reference for every other sampler",
        cite: "Hoffman and Gelman 2014, JMLR 15; Betancourt 2017, arXiv:1701.02434",
        formula: "p ~ N(0, M); double a leapfrog trajectory until it turns back; choose a point with weight exp(H0 - H)",
        fields: FIELDS,
        info: INFO,
        needs_mode: false,
        minibatch: false,
        bias: None,
        default_warmup: 1000,
        decides_warmup: false,
    };

    fn configure(settings: &Settings, target: &Target) -> Result<Config, SettingError> {
        let word = |key| settings.text(key).filter(|word| *word != "auto");
        let has_mode = target.noise_ratio.is_some();
        let from_curvature = word("start_metric").map_or(has_mode, |word| word == START_WORDS[0]);
        if from_curvature && !has_mode {
            return Err(SettingError(
                "Setting `start_metric` cannot be `curvature` because no mode was found; choose identity or auto"
                    .to_owned(),
            ));
        }
        let dense =
            word("metric").map_or(target.dim <= DENSE_UP_TO, |word| word == METRIC_WORDS[1]);
        Ok(Config {
            metric: if dense {
                MetricKind::Dense
            } else {
                MetricKind::Diagonal
            },
            from_curvature,
            target_accept: settings.real("target_accept").unwrap_or(0.8),
            max_depth: settings.int("max_depth").unwrap_or(10) as usize,
            step_size: settings.real("step_size"),
        })
    }

    fn resolved(config: &Config) -> Vec<(&'static str, Value)> {
        let text = |word: &str| Value::Text(word.to_owned());
        vec![
            (
                "metric",
                text(METRIC_WORDS[usize::from(config.metric == MetricKind::Dense)]),
            ),
            (
                "start_metric",
                text(START_WORDS[usize::from(!config.from_curvature)]),
            ),
            ("target_accept", Value::Real(config.target_accept)),
            ("max_depth", Value::Int(config.max_depth as i64)),
            (
                "step_size",
                config.step_size.map_or_else(|| text("auto"), Value::Real),
            ),
        ]
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        let place = Place::start(u0, oracle)?;
        let metric = match start_covariance(config, oracle) {
            Some(covariance) => Metric::from_covariance(config.metric, covariance, dim)
                .map_err(|_not_positive| not_positive_definite(0))?,
            None => Metric::identity(config.metric, dim),
        };
        let mut tree = Tree::new(dim, config.max_depth);
        let step_size = match config.step_size {
            Some(step_size) => step_size,
            None => first_step_size(
                FIRST_TRIAL,
                &place,
                &metric,
                oracle,
                &mut streams.noise,
                tree.spare(),
            )?,
        };
        Ok(State {
            place,
            metric,
            step_size,
            averaging: DualAveraging::new(config.target_accept, step_size),
            window: RunningCovariance::new(dim, config.metric == MetricKind::Dense),
            warmup_iter: 0,
            frozen: 0,
            tree,
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
        if at.phase == Phase::Draw && state.frozen == 0 {
            state.frozen = 1;
            if config.step_size.is_none() {
                state.step_size = state.averaging.averaged();
            }
        }
        let step_size = state.step_size;
        let summary = state.tree.transition(
            &mut state.place,
            &state.metric,
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
            state.place.log_density,
        ]);
        match at.phase {
            Phase::Warmup { length } if state.frozen == 0 => adapt(
                config,
                at.iter,
                length,
                summary.accept,
                state,
                oracle,
                streams,
            ),
            _ => Ok(()),
        }
    }

    fn position(state: &State) -> &[f64] {
        &state.place.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        state.place.visit(visitor);
        state.metric.visit(visitor);
        visitor.scalar("step_size", &mut state.step_size);
        state.averaging.visit(visitor);
        state.window.visit(visitor);
        visitor.counter("warmup_iter", &mut state.warmup_iter);
        visitor.counter("frozen", &mut state.frozen);
    }
}

fn not_positive_definite(iter: u64) -> StepError {
    StepError::NotPositiveDefinite {
        what: "the metric",
        iter,
    }
}

/// The covariance that the metric starts from and shrinks to, if it is not the identity.
fn start_covariance<'a>(config: &Config, oracle: &'a Oracle) -> Option<&'a [f64]> {
    let anchor = oracle.anchor().filter(|_anchor| config.from_curvature)?;
    Some(&anchor.covariance)
}

/// What Stan does after each transition of warm-up.
fn adapt(
    config: &Config,
    iter: u64,
    length: Option<u64>,
    accept: f64,
    state: &mut State,
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<(), StepError> {
    if config.step_size.is_none() {
        state.step_size = state.averaging.learn(accept);
    }
    let warmup_iter = state.warmup_iter;
    state.warmup_iter += 1;
    let Some(windows) = Windows::of(length).filter(|windows| windows.contains(warmup_iter)) else {
        return Ok(());
    };
    state.window.add(&state.place.u);
    if !windows.ends_at(warmup_iter) {
        return Ok(());
    }
    let (window, metric) = (&mut state.window, &mut state.metric);
    let start = start_covariance(config, oracle);
    metric
        .replace_inverse(|inverse| window.regularised(start, inverse))
        .map_err(|_not_positive| not_positive_definite(iter))?;
    window.restart();
    if config.step_size.is_none() {
        state.step_size = first_step_size(
            state.step_size,
            &state.place,
            &state.metric,
            oracle,
            &mut streams.noise,
            state.tree.spare(),
        )?;
        state.averaging.restart(state.step_size);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
