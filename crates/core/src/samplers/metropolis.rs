//! Random-walk Metropolis with an adapted scale: needs no gradient, serves as baseline and as check.
//!
//! References: Metropolis et al. (1953); Baker (2018), section 2.2.3; El Hanchi (2018), section 3.1, whose baseline it is;
//! Gelman, Roberts and Gilks (1996), Efficient Metropolis jumping rules (scale 2.38/sqrt(D) and acceptance rates); Robbins and
//! Monro (1951) with averaging after Polyak and Juditsky (1992).
//!
//! **Step.** u* = u + s L ξ with L L' = Σ = H⁻¹, the covariance guessed from the curvature at the mode (identity if no mode
//! was found); accept with probability min(1, π(u*)/π(u)). A proposal whose density is not a finite number is rejected.
//! There is no step size in Langevin time: without the gradient, s² takes the place of 2h.
//!
//! **Warm-up.** After step t: log s ← log s + min(1, 2 t^{-0.6}) (α − target). What is kept afterwards is the average of
//! log s in which later steps weigh more (weight of step t proportional to t).
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `step_scale` | fixes s instead of adapting it | adapted from 2.38/sqrt(D) |
//! | `target_accept` | acceptance that s is adapted to | 0.234 + 0.206/D: 0.44 in one dimension, 0.234 in many |
//! | `steps_per_draw` | steps for each recorded draw | D |
//!
//! **Why D steps per draw.** On a normal target with the right Σ the autocorrelation time is about 3 D steps, so that
//! neighbouring steps say nearly the same. Recording each D-th one keeps about 97 % of what recording all would tell
//! (a geometric autocorrelation with time 3 D, summed over each D-th lag) at 1/D of the memory and of the work of
//! diagnostics, and three draws are worth about one independent draw whatever D is.
//!
//! **Cost.** N row likelihoods per step (the oracle's exact pass computes the gradient along with them; per-row values
//! alone would need a logarithm each and are not faster). **Bias.** None. **Not for** more than some ten dimensions.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::hamiltonian::{Place, start_density};
use super::recommend::Traits;
use super::{
    ACCEPT, Conditional, Family, InfoColumn, Phase, STEP_SIZE, Sampler, SamplerSpec, StateVisitor,
    Target, Tick,
};
use crate::oracle::{Oracle, StepError};
use ergodic_base::rng::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};

/// Best scale times sqrt(D) on a normal target in many dimensions.
const BEST_SCALE: f64 = 2.38;
/// Best acceptance rate in many dimensions.
const BEST_ACCEPT: f64 = 0.234;
/// What one dimension adds to it: 0.44. With 1/D in between, within 0.02 of the rates Gelman, Roberts and Gilks list.
const ONE_DIM_ACCEPT: f64 = 0.206;
/// Decay and size of the Robbins-Monro gain: slow enough to cross several powers of ten in scale within a warm-up.
const GAIN_DECAY: f64 = 0.6;
const GAIN: f64 = 2.0;

ergodic_base::settings! {
    /// Settings of [`Metropolis`].
    pub struct MetropolisSettings {
        step_scale: Option<f64> = Field::real("Proposal scale", 1e-9, 1e3, None)
            .help(
                "Standard deviation s of proposals in units of the posterior standard deviations at the mode; a number \
                 fixes it, auto adapts it in warm-up",
            )
            .why("adapted to the target acceptance");
        target_accept: Option<f64> = Field::real("Target acceptance", 0.05, 0.95, None)
            .help("Acceptance rate that the proposal scale is adapted to")
            .why("0.234 + 0.206/D, the most efficient rate on normal targets: 0.44 in one dimension, 0.234 in many");
        steps_per_draw: Option<u64> = Field::int("Steps per draw", 1, 1_000_000, None)
            .help("Metropolis steps for each recorded draw (thinning)")
            .why("one per dimension: keeps nearly all information at a fraction of the memory");
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn {
        name: ACCEPT,
        help: "Mean acceptance probability over the steps of the draw",
    },
    InfoColumn {
        name: STEP_SIZE,
        help: "Proposal scale s",
    },
    InfoColumn::LOG_DENSITY,
];

/// The sampler `metropolis`.
pub struct Metropolis;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    step_scale: Option<f64>,
    target_accept: f64,
    steps_per_draw: u64,
}

/// State of [`Metropolis`].
pub struct State {
    u: Vec<f64>,
    log_density: f64,
    log_scale: f64,
    /// Average of log s over warm-up.
    average: f64,
    /// Steps of warm-up done.
    warmup_steps: u64,
    /// 1 once warm-up is over.
    frozen: u64,
    /// Steps since the last recorded draw, and the sum of their acceptance probabilities.
    steps: u64,
    sum_accept: f64,
    /// Working memory: the proposal.
    proposal: Place,
}

impl Sampler for Metropolis {
    type Settings = MetropolisSettings;
    type Config = Config;
    type State = State;

    // At the best scale 3 D steps make an independent draw (Roberts, Gelman and Gilks 1997); adaptation takes the rest.
    const ADVICE: Traits = Traits::ORDINARY.passes(4.0, 1.0);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "metropolis",
        family: Family::FullData,
        title: "Random-walk Metropolis",
        about: "Proposes normal steps and accepts or rejects them: exact, slow in many dimensions, a check on the others",
        cite: "Metropolis et al. 1953; Gelman, Roberts and Gilks 1996",
        formula: "u* = u + s N(0, Sigma), Sigma = curvature at the mode inverted; accept with min(1, pi(u*)/pi(u))",
        fields: MetropolisSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let dim = target.dim.max(1);
        Ok(Config {
            step_scale: settings.step_scale,
            target_accept: *(settings.target_accept)
                .get_or_insert(BEST_ACCEPT + ONE_DIM_ACCEPT / dim as f64),
            steps_per_draw: *settings.steps_per_draw.get_or_insert(dim as u64),
        })
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
        let dim = u0.len();
        let mut proposal = Place::empty(dim);
        let log_density = start_density(u0, oracle, &mut proposal.grad)?;
        let scale = config
            .step_scale
            .unwrap_or(BEST_SCALE / (dim as f64).sqrt());
        Ok(State {
            u: u0.to_vec(),
            log_density,
            log_scale: scale.ln(),
            average: scale.ln(),
            warmup_steps: 0,
            frozen: 0,
            steps: 0,
            sum_accept: 0.0,
            proposal,
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
            if config.step_scale.is_none() {
                state.log_scale = state.average;
            }
        }
        let scale = config.step_scale.unwrap_or(state.log_scale.exp());
        let accept = propose(scale, state, oracle, streams)?;

        if state.steps == config.steps_per_draw {
            state.steps = 0;
            state.sum_accept = 0.0;
        }
        state.steps += 1;
        state.sum_accept += accept;
        info.copy_from_slice(&[
            state.sum_accept / state.steps as f64,
            scale,
            state.log_density,
        ]);
        if state.frozen == 0 && config.step_scale.is_none() {
            state.warmup_steps += 1;
            let t = state.warmup_steps as f64;
            let gain = (GAIN * t.powf(-GAIN_DECAY)).min(1.0);
            state.log_scale += gain * (accept - config.target_accept);
            state.average += 2.0 / (t + 1.0) * (state.log_scale - state.average);
        }
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        visitor.scalar("log_density", &mut state.log_density);
        visitor.scalar("log_scale", &mut state.log_scale);
        visitor.scalar("average_log_scale", &mut state.average);
        visitor.counter("warmup_steps", &mut state.warmup_steps);
        visitor.counter("frozen", &mut state.frozen);
        visitor.counter("steps", &mut state.steps);
        visitor.scalar("sum_accept", &mut state.sum_accept);
    }
}

impl Conditional for Metropolis {
    fn refresh(state: &mut State, oracle: &mut Oracle) -> Result<(), StepError> {
        state.log_density = start_density(&state.u, oracle, &mut state.proposal.grad)?;
        Ok(())
    }
}

/// One Metropolis step; returns the acceptance probability. After an error the position is as before.
fn propose(
    scale: f64,
    state: &mut State,
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<f64, StepError> {
    let proposal = &mut state.proposal;
    for u in &mut proposal.u {
        *u = StandardNormal.sample(&mut streams.noise);
    }
    if let Some(centre) = oracle.centre() {
        centre.factor.solve_lower_transpose(&mut proposal.u);
    }
    for (proposal, u) in proposal.u.iter_mut().zip(&state.u) {
        *proposal = u + scale * *proposal;
    }
    let log_density = oracle.exact(&proposal.u, &mut proposal.grad)?;
    let usable = log_density.is_finite() && proposal.u.iter().all(|u| u.is_finite());
    let accept = if usable {
        (log_density - state.log_density).exp().min(1.0)
    } else {
        0.0
    };
    if streams.noise.random::<f64>() < accept {
        std::mem::swap(&mut state.u, &mut proposal.u);
        state.log_density = log_density;
    }
    Ok(accept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::testing::{Density, Run, exact_oracle, gaussian_with_centre, mean};
    use ergodic_base::settings::Value;

    const ACCEPT_COLUMN: usize = 0;

    #[test]
    fn the_scale_is_adapted_to_the_target_and_near_theory() {
        // On a normal target the adapted scale must be the theoretical best within the flatness of its optimum.
        for (dim, best) in [(1, 2.4), (3, 2.38 / 3.0_f64.sqrt())] {
            let (model, centre) = gaussian_with_centre(50, dim, 1);
            let target_accept = BEST_ACCEPT + ONE_DIM_ACCEPT / dim as f64;
            let run = Run::new("metropolis").go(exact_oracle(model, Some(centre)), 1000, 2000);
            let accept = mean(&run.info(ACCEPT_COLUMN));
            assert!(
                (accept - target_accept).abs() < 0.05,
                "{accept} {target_accept}"
            );
            let scale = run.info(1)[0];
            assert!((scale / best).ln().abs() < 0.25, "{scale} {best}");
        }
    }

    #[test]
    fn the_scale_travels_several_powers_of_ten_without_a_mode() {
        let model = Density::model(1, |u, grad| {
            grad[0] = -u[0] * 1e8;
            0.5 * u[0] * grad[0]
        });
        let run = Run::new("metropolis").go(exact_oracle(model, None), 1000, 2000);
        let scale = run.info(1)[0];
        assert!(scale > 1e-4 && scale < 4e-4, "{scale}");
    }

    #[test]
    fn a_given_scale_stays() {
        let (model, centre) = gaussian_with_centre(50, 2, 1);
        let run = Run::new("metropolis")
            .set("step_scale", Value::Real(0.5))
            .go(exact_oracle(model, Some(centre)), 100, 10);
        assert!(run.info(1).iter().all(|&scale| scale == 0.5));
    }

    #[test]
    fn d_steps_per_draw_make_three_draws_worth_about_one() {
        let (model, centre) = gaussian_with_centre(50, 6, 1);
        let num_draws = 20_000;
        let run = Run::new("metropolis").go(exact_oracle(model, Some(centre)), 500, num_draws);
        for j in 0..6 {
            let series = run.coordinate(j);
            let time =
                num_draws as f64 * (run.mcse(j) / crate::samplers::testing::sd(&series)).powi(2);
            assert!(time > 1.5 && time < 6.0, "{time}");
        }
    }
}
