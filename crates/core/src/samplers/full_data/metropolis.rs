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
//! **Warm-up** and settings of proposals: [`crate::samplers::full_data::walk`].
//!
//! **Why D steps per draw.** On a normal target with the right Σ the autocorrelation time is about 3 D steps, so that
//! neighbouring steps say nearly the same. Recording each D-th one keeps about 97 % of what recording all would tell
//! (a geometric autocorrelation with time 3 D, summed over each D-th lag) at 1/D of the memory and of the work of
//! diagnostics, and three draws are worth about one independent draw whatever D is.
//!
//! **Cost.** N row likelihoods per step (the oracle's exact pass computes the gradient along with them; per-row values
//! alone would need a logarithm each and are not faster). **Bias.** None. **Not for** more than some ten dimensions.

use rand::RngExt as _;

use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::hamiltonian::{Place, start_density};
use crate::samplers::full_data::walk::{self, Walk, WalkSettings};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    Conditional, InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError};

const INFO: &[InfoColumn] = &[walk::INFO[0], walk::INFO[1], InfoColumn::LOG_DENSITY];

/// The sampler `metropolis`.
pub struct Metropolis;

/// State of [`Metropolis`].
pub struct State {
    u: Vec<f64>,
    log_density: f64,
    walk: Walk,
    /// Working memory: the proposal.
    proposal: Place,
}

impl Sampler for Metropolis {
    type Settings = WalkSettings;
    type Config = walk::Config;
    type State = State;

    // At the best scale 3 D steps make an independent draw (Roberts, Gelman and Gilks 1997); adaptation takes the rest.
    const ADVICE: Traits = Traits::ORDINARY.passes(4.0, 1.0);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "metropolis",
        family: SamplerFamily::FullData,
        title: "Random-walk Metropolis",
        about: "Proposes normal steps and accepts or rejects them: exact, slow in many dimensions, a check on the others",
        cite: "Metropolis et al. 1953; Gelman, Roberts and Gilks 1996",
        formula: "u* = u + s N(0, Sigma), Sigma = curvature at the mode inverted; accept with min(1, pi(u*)/pi(u))",
        fields: WalkSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut WalkSettings,
        target: &Target,
    ) -> Result<walk::Config, SettingError> {
        Ok(settings.settle(target))
    }

    fn steps_per_draw(config: &walk::Config) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &walk::Config,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        let mut proposal = Place::empty(dim);
        let log_density = start_density(u0, oracle, &mut proposal.grad)?;
        Ok(State {
            u: u0.to_vec(),
            log_density,
            walk: Walk::start(config, dim),
            proposal,
        })
    }

    fn step(
        config: &walk::Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let scale = state.walk.scale(config, at.phase);
        let accept = propose(scale, state, oracle, streams)?;
        let mean = state.walk.record(config, accept);
        info.copy_from_slice(&[mean, scale, state.log_density]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        visitor.scalar("log_density", &mut state.log_density);
        state.walk.visit(visitor);
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
    walk::propose(
        scale,
        &state.u,
        oracle.centre().map(|centre| &**centre),
        &mut streams.noise,
        &mut proposal.u,
    );
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
            let target_accept = walk::best_accept(dim);
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
