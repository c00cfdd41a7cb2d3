//! Langevin dynamics on all rows: with the Metropolis correction (`mala`) and without (`ula`).
//!
//! Sources: Roberts and Tweedie (1996); Roberts and Rosenthal (1998), Optimal scaling of discrete approximations to
//! Langevin diffusions (acceptance 0.574, step h ~ D^{-1/3}); Baker (2018), (2.3.9), (4.2.1) and (4.2.2).
//!
//! | | proposal |
//! |---|---|
//! | ours | θ* = θ + h M ∇log π(θ) + sqrt(2h) M^{1/2} ξ |
//! | Baker (4.2.2) | θ* = θ + (ε/2) ∇log π(θ) + N(0, ε), so h = ε/2 |
//! | Baker (2.3.9) | θ* = θ − h ∇f(θ) + sqrt(2h) ξ with f = −log π (printed with + by mistake) |
//!
//! `mala` accepts θ* with probability min(1, π(θ*) q(θ|θ*) / (π(θ) q(θ*|θ))); `ula` always does. The proposal is one
//! leapfrog step of size sqrt(2h) from fresh momentum, and the ratio is exp(H₀ − H) of [`crate::samplers::full_data::hamiltonian`], which is
//! how both are computed.
//!
//! **Bias.** `mala`: none. `ula`: on N(û, H⁻¹) with M = H⁻¹ a first-order autoregression with coefficient 1 − h whose
//! variance is 1/(1 − h/2) instead of 1, so sds are too large by h/4; on other
//! posteriors the mean is off too, by O(h).
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `step_size` | h | `mala`: adapted to the acceptance; `ula`: 2 % predicted excess of sds, h = 0.077 |
//! | `precondition` | M | H⁻¹ at the mode; without a mode (`mala` only) variances learnt in warm-up |
//! | `target_accept` | `mala`: goal of dual averaging | 0.574 |
//! | `steps_per_draw` | steps for each recorded draw | `mala`: ⌈D^{1/3}⌉; `ula`: one unit of Langevin time, 1/h |
//!
//! **Cost.** N row gradients per step. **Not for** posteriors far from normal, where `nuts` adapts the length of its
//! trajectories; `ula` is for seeing what the missing correction does, or where an error of 2 % is nothing.

use std::marker::PhantomData;

use rand::RngExt as _;

use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::hamiltonian::{MetricKind, Point};
use crate::samplers::full_data::tuning::{Plan, Tuned};
use crate::samplers::langevin::{
    self, PRECONDITION, Precondition, STEPS_CAP, STEPS_PER_DRAW, step_for_excess,
};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    ACCEPT, Conditional, InfoColumn, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// The most efficient acceptance rate in many dimensions (Roberts and Rosenthal).
const BEST_ACCEPT: f64 = 0.574;
/// Predicted excess of variance of `ula` at the default step.
const EXCESS: f64 = 0.04;

const STEP_SIZE_FIELD: Field = Field::real("Step size", 1e-15, 1e6, None).help(
    "Langevin time h per step: with a preconditioner it has no unit, and 1 is one Newton step",
);

ergodic_base::choice! {
    /// What M is for `mala`.
    pub enum AdjustedPrecondition {
        /// H⁻¹ at the mode.
        Curvature = "curvature",
        /// Variances of draws.
        Diagonal = "diagonal",
        /// Covariances of draws.
        Dense = "dense",
    }
}

ergodic_base::settings! {
    /// Settings of [`Mala`].
    pub struct MalaSettings {
        step_size: Option<f64> = STEP_SIZE_FIELD.why("adapted to the target acceptance");
        precondition: Option<AdjustedPrecondition> =
            AdjustedPrecondition::field("Preconditioner", None)
                .help(
                    "curvature: steps are scaled by the inverse curvature at the mode; diagonal or dense: by variances or \
                     covariances of draws, learnt in warm-up",
                )
                .why("curvature where a mode was found: its correlations are known without learning; else diagonal");
        target_accept: f64 = Field::real("Target acceptance", 0.05, 0.999, Some(BEST_ACCEPT))
            .help("Mean acceptance probability that the step size is adapted to")
            .why("the most efficient rate in many dimensions");
        steps_per_draw: Option<u64> = STEPS_PER_DRAW
            .why("the cube root of the dimension: correlation between steps grows with it");
    }
}

ergodic_base::settings! {
    /// Settings of [`Ula`].
    pub struct UlaSettings {
        step_size: Option<f64> =
            STEP_SIZE_FIELD.why("the largest step whose predicted excess of the standard deviation is 2 %");
        precondition: Precondition = PRECONDITION;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW
            .why("one unit of Langevin time, after which draws are correlated by about 0.37");
    }
}

/// Columns of `mala`; `ula` has all but the first.
const INFO: &[InfoColumn] = &[
    InfoColumn::new(
        ACCEPT,
        "Mean acceptance probability over the steps of the draw",
    ),
    InfoColumn::new(STEP_SIZE, "Langevin time per step"),
    InfoColumn::LOG_DENSITY,
];

/// The sampler `mala`.
pub type Mala = FullLangevin<Adjusted>;

/// The sampler `ula`.
pub type Ula = FullLangevin<Unadjusted>;

/// `mala` and `ula`, which differ in the accept step and in what it makes possible.
pub struct FullLangevin<V>(PhantomData<fn() -> V>);

/// What one of the samplers is.
pub trait Variant: 'static {
    /// Whether steps are accepted or rejected.
    const ADJUSTED: bool;
    /// The description.
    const SPEC: SamplerSpec;
    /// See [`Sampler::ADVICE`].
    const ADVICE: Traits;
    /// See [`Sampler::Settings`].
    type Settings: Declared;
    /// See [`Sampler::configure`].
    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError>;
}

/// With the accept step.
pub struct Adjusted;

/// Without.
pub struct Unadjusted;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    plan: Plan,
    /// h where it is fixed.
    step_size: Option<f64>,
}

/// State of both samplers.
pub struct State {
    tuned: Tuned,
    /// Steps since the last recorded draw, and the sum of their acceptance probabilities.
    steps: u64,
    sum_accept: f64,
    /// Working memory: the proposal.
    point: Point,
}

/// ε of the leapfrog step that is a Langevin step of time h.
fn leapfrog_size(step_size: f64) -> f64 {
    (2.0 * step_size).sqrt()
}

/// h of a leapfrog step of size ε.
fn langevin_time(epsilon: f64) -> f64 {
    0.5 * epsilon * epsilon
}

impl<V: Variant> Sampler for FullLangevin<V> {
    type Settings = V::Settings;
    type Config = Config;
    type State = State;
    const SPEC: SamplerSpec = V::SPEC;
    const ADVICE: Traits = V::ADVICE;

    fn configure(settings: &mut V::Settings, target: &Target) -> Result<Config, SettingError> {
        V::configure(settings, target)
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.plan.steps_per_draw
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
            steps: 0,
            sum_accept: 0.0,
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
        let (tuned, point, rng) = (&mut state.tuned, &mut state.point, &mut streams.noise);
        let epsilon = tuned.step_size;
        point.launch(&tuned.place, &tuned.metric, rng);
        let start = point.energy();
        point.leapfrog(&tuned.metric, epsilon, oracle)?;
        let end = point.energy();
        let accept = (start - end).exp().min(1.0);
        if !V::ADJUSTED && !end.is_finite() {
            return Err(StepError::not_finite(
                "the density or its gradient",
                at.iter,
            ));
        }
        if !V::ADJUSTED || rng.random::<f64>() < accept {
            std::mem::swap(&mut tuned.place, &mut point.at);
        }
        if state.steps == config.plan.steps_per_draw {
            state.steps = 0;
            state.sum_accept = 0.0;
        }
        state.steps += 1;
        state.sum_accept += accept;
        let all = [
            state.sum_accept / state.steps as f64,
            config.step_size.unwrap_or_else(|| langevin_time(epsilon)),
            tuned.place.log_density,
        ];
        info.copy_from_slice(&all[INFO.len() - info.len()..]);
        if V::ADJUSTED {
            tuned.learn(&config.plan, at, accept, oracle, rng, point)?;
        }
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
        visitor.counter("steps", &mut state.steps);
        visitor.scalar("sum_accept", &mut state.sum_accept);
    }
}

impl<V: Variant> Conditional for FullLangevin<V> {
    fn refresh(state: &mut State, oracle: &mut Oracle) -> Result<(), StepError> {
        state.tuned.place.refresh(oracle)
    }
}

impl Variant for Adjusted {
    const ADJUSTED: bool = true;
    const ADVICE: Traits = Traits::ORDINARY.passes(20.0, 0.34);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "mala",
        family: SamplerFamily::FullData,
        title: "MALA",
        about: "Langevin steps on all rows, accepted or rejected: exact, one pass per step",
        cite: "Roberts and Tweedie 1996, Bernoulli 2; Roberts and Rosenthal 1998, JRSS B 60",
        formula: "θ* = θ + h M ∇log π(θ) + sqrt(2h) M^{1/2} ξ; accept with min(1, π(θ*) q(θ|θ*) / (π(θ) q(θ*|θ)))",
        fields: MalaSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    type Settings = MalaSettings;

    fn configure(settings: &mut MalaSettings, target: &Target) -> Result<Config, SettingError> {
        use AdjustedPrecondition::{Curvature, Diagonal};
        let has_mode = target.has_mode();
        let precondition =
            *(settings.precondition).get_or_insert(if has_mode { Curvature } else { Diagonal });
        if precondition == Curvature && !has_mode {
            return Err(SettingError::unfit(
                "precondition",
                "cannot be `curvature` because no mode was found; choose diagonal, dense or auto",
            ));
        }
        Ok(Config {
            plan: Plan {
                metric: if precondition == Diagonal {
                    MetricKind::Diagonal
                } else {
                    MetricKind::Dense
                },
                from_curvature: has_mode,
                learns_metric: precondition != Curvature,
                target_accept: settings.target_accept,
                step_size: settings.step_size.map(leapfrog_size),
                steps_per_draw: *(settings.steps_per_draw)
                    .get_or_insert((target.dim as f64).cbrt().ceil().max(1.0) as u64),
            },
            step_size: settings.step_size,
        })
    }
}

impl Variant for Unadjusted {
    const ADJUSTED: bool = false;
    const ADVICE: Traits = Traits::FULL_DATA;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "ula",
        family: SamplerFamily::FullData,
        title: "ULA",
        about: "Langevin steps on all rows without correction: shows the bias of a step size, free of gradient noise",
        cite: "Roberts and Tweedie 1996, Bernoulli 2",
        formula: "θ' = θ + h M ∇log π(θ) + sqrt(2h) M^{1/2} ξ, M = H⁻¹",
        fields: UlaSettings::FIELDS,
        info: INFO.split_at(1).1,
        needs_mode: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with larger steps or where the posterior \
             is far from normal",
        ),
        bias_order: Some(1),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    type Settings = UlaSettings;

    fn configure(settings: &mut UlaSettings, target: &Target) -> Result<Config, SettingError> {
        let preconditioned = settings.precondition == Precondition::Curvature;
        let given = settings.step_size.zip(settings.steps_per_draw);
        let (slow, stiff) = match (target.curvature_range(), given) {
            (Some(_), _) if preconditioned => (1.0, 1.0),
            (Some(range), _) => range,
            // Nothing is known: what was given is taken.
            (None, Some(_)) if !preconditioned => (0.0, 0.0),
            (None, _) => {
                return Err(SettingError::no_mode(
                    "ula",
                    "set `precondition` to none and give `step_size` and `steps_per_draw`, or use `mala`",
                ));
            }
        };
        let step_size =
            *(settings.step_size).get_or_insert_with(|| step_for_excess(EXCESS, 0.0) / stiff);
        if step_size * stiff >= 2.0 {
            return Err(langevin::explodes(2.0 / stiff, step_size));
        }
        Ok(Config {
            plan: Plan {
                metric: if preconditioned {
                    MetricKind::Dense
                } else {
                    MetricKind::Diagonal
                },
                from_curvature: preconditioned,
                learns_metric: false,
                target_accept: BEST_ACCEPT,
                step_size: Some(leapfrog_size(step_size)),
                steps_per_draw: *(settings.steps_per_draw).get_or_insert_with(|| {
                    ((1.0 / (step_size * slow)).ceil() as u64).clamp(1, STEPS_CAP)
                }),
            },
            step_size: Some(step_size),
        })
    }
}

#[cfg(test)]
mod tests;
