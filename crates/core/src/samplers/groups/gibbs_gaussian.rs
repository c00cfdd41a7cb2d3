//! Gibbs sampling of a hierarchical model with a normal approximation in each group (`gibbs-gaussian`).
//!
//! Reference: El Hanchi (2018), section 3.2 and figure 3, whose yardstick it is: θ_g is drawn from N(θ̂_g, H_g⁻¹), where θ̂_g is
//! the mode of its conditional and H_g the curvature there; (μ, Σ) from their conjugate conditional. Nothing corrects the
//! approximation; `gibbs-groups` with `update = independence` does, at little more cost.
//!
//! No settings. **Cost.** Two or three Newton iterations per group, each a gradient and a curvature: five passes over all
//! rows per draw. **Bias.** That of a normal approximation: none for groups of many rows, and the skewness of groups of few
//! rows or of one class is lost.
//! **Not for** results that matter where groups are small.

use rand_distr::{Distribution as _, StandardNormal};

use crate::models::Model;
use crate::oracle::{Oracle, StepError};
use crate::samplers::groups::laplace::Laplace;
use crate::samplers::groups::{self, GroupGibbs, GroupTarget, GroupUpdate, Report};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::SettingError;

/// The sampler `gibbs-gaussian`.
pub struct GibbsGaussian;

/// The update of a group.
pub(in crate::samplers) struct NormalDraw;

impl GroupUpdate for NormalDraw {
    type Shared = ();
    type Memory = Laplace;

    fn memory((): &(), _num_rows: usize, theta: &[f64]) -> Laplace {
        Laplace::at(theta)
    }

    fn update(
        (): &(),
        at: Tick,
        target: &mut GroupTarget<'_>,
        laplace: &mut Laplace,
        theta: &mut [f64],
        streams: &mut Streams,
    ) -> Result<Report, StepError> {
        laplace.find(target, at.iter)?;
        for z in theta.iter_mut() {
            *z = StandardNormal.sample(&mut streams.noise);
        }
        laplace.factor.solve_lower_transpose(theta);
        axpy(1.0, &laplace.mode, theta);
        Ok(Report {
            own: [laplace.iterations as f64, 0.0],
            ..Report::default()
        })
    }

    fn visit(laplace: &mut Laplace, visitor: &mut dyn StateVisitor) {
        laplace.visit(visitor);
    }
}

/// State of [`GibbsGaussian`].
pub struct State(GroupGibbs<NormalDraw>);

impl Sampler for GibbsGaussian {
    type Settings = ();
    type Config = ();
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.row_passes(10.0, 0.0).normal();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs-gaussian",
        title: "Gibbs, normal groups",
        about: "Group by group from a normal approximation at the mode, means and spread of groups exactly: for groups of many \
                rows",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, section 3.2",
        formula: "θ_g ~ N(θ̂_g, H_g⁻¹) for each group g; (μ, Σ) ~ normal-inverse-Wishart given θ",
        family: SamplerFamily::Groups,
        fields: &[],
        info: &[InfoColumn::new(
            "newton_iterations",
            "Iterations of the search for a group's mode, mean over groups",
        )],
        bias: Some(
            "The conditional of each group is taken to be normal: groups of few rows, or of one class, lose their skewness",
        ),
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        groups::suits(model)
    }

    fn configure((): &mut (), _target: &Target) -> Result<(), SettingError> {
        Ok(())
    }

    fn init(
        (): &(),
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        GroupGibbs::new(&(), u0, oracle).map(State)
    }

    fn step(
        (): &(),
        at: Tick,
        State(chain): &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        info[0] = chain.step(&(), at, oracle, streams)?.own[0];
        Ok(())
    }

    fn position(State(chain): &State) -> &[f64] {
        &chain.u
    }

    fn visit(State(chain): &mut State, visitor: &mut dyn StateVisitor) {
        chain.visit(visitor);
    }
}
