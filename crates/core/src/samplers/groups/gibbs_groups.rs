//! Exact Gibbs sampling of a hierarchical model, group by group (`gibbs-groups`).
//!
//! References: El Hanchi (2018), section 3.2, for the scheme; Tierney (1994), Annals of Statistics 22, for Metropolis steps
//! within Gibbs sampling, section 2.3.3 of it for independence chains.
//!
//! **One step.** For each group θ_g by one of the updates below, each of which leaves π(θ_g | μ, Σ, y_g) unchanged; then
//! (μ, Σ) from their conjugate conditional ([`groups`]).
//!
//! * independence: a proposal from the multivariate t with 6 degrees of freedom at the mode of the conditional, with its
//!   curvature. Its tails are heavier than those of any conditional, which end like N(μ, Σ), so that the ratio of densities
//!   is bounded and no draw is stuck.
//! * nuts, hmc: one trajectory with the metric H_g + Σ⁻¹, where H_g is the curvature of the group's rows, averaged over
//!   warm-up; one step size for all groups, adapted to the target acceptance. The first one starts at the mode of the
//!   conditional: where all chances of a group are 0 or 1 its rows have no curvature, every step along their gradient is
//!   refused, and what the other groups accept keeps the step size from falling.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `update` | nuts, hmc or independence | nuts: the cheapest effective draws, with 15 rows per group as with 10,000 |
//! | `target_accept` | mean acceptance that the step size of nuts and hmc is adapted to | 0.8 |
//!
//! **Cost.** Four to ten passes over all rows per draw with trajectories, six with independence. **Bias.** None.
//! **Not for** groups of few rows each: θ and (μ, Σ) then depend strongly on each other, and `nuts`, which moves both at
//! once, mixes better.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use crate::models::Model;
use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::adaptation::DualAveraging;
use crate::samplers::full_data::hamiltonian::{
    LogDensity as _, Metric, MetricKind, Place, Point, divide,
};
use crate::samplers::full_data::nuts::tree::Tree;
use crate::samplers::full_data::tuning::TARGET_ACCEPT;
use crate::samplers::groups::laplace::Laplace;
use crate::samplers::groups::{self, GroupGibbs, GroupTarget, GroupUpdate, Report};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{
    ACCEPT, DIVERGENT, InfoColumn, N_LEAPFROG, Phase, STEP_SIZE, Sampler, SamplerFamily,
    SamplerSpec, StateVisitor, Target, Tick, Unsuitable, names,
};
use ergodic_base::linalg::{Cholesky, axpy};
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_base::{ChainRng, Streams};

/// Degrees of freedom of proposals: few enough for heavy tails, enough to be accepted nine times in ten where the
/// conditional is normal.
const PROPOSAL_DOF: f64 = 6.0;
/// Doublings of a trajectory at most: conditionals are scaled by their curvature, so that three are usual.
const MAX_DEPTH: usize = 8;
/// Length of trajectories of hmc, a quarter of a period, and the share by which it varies.
const LENGTH: f64 = 1.5;
const JITTER: f64 = 0.2;
/// Least weight of the newest curvature in the average over warm-up: what was before some tens of steps is forgotten.
const LEAST_SHARE: f64 = 0.05;

ergodic_base::choice! {
    /// How the coefficients of a group move.
    pub enum Update {
        /// A trajectory until it turns back.
        Nuts = names::NUTS,
        /// A trajectory of a quarter of a period.
        Hmc = names::HMC,
        /// Proposals from an approximation at the mode.
        Independence = "independence",
    }
}

ergodic_base::settings! {
    /// Settings of [`GibbsGroups`].
    pub struct GroupSettings {
        update: Update = Update::field("Update of groups", Some(Update::Nuts))
            .help(
                "How the coefficients of a group move: one trajectory (nuts, hmc), or proposals from a normal-like approximation \
                 at the mode (independence)",
            )
            .why("the cheapest effective draws, with few rows per group as with many");
        target_accept: f64 = TARGET_ACCEPT;
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(ACCEPT, "Acceptance probability, mean over groups"),
    InfoColumn::new(STEP_SIZE, "Leapfrog step size of all groups"),
    InfoColumn::new(
        N_LEAPFROG,
        "Leapfrog steps, or Newton iterations, per group",
    ),
    InfoColumn::new(DIVERGENT, "1 where a trajectory of a group diverged"),
    InfoColumn::LOG_DENSITY,
];

/// The sampler `gibbs-groups`.
pub struct GibbsGroups;

/// What all groups share.
pub(in crate::samplers) struct Shared {
    update: Update,
    step_size: f64,
}

/// Memory of one group.
pub(in crate::samplers) enum Memory {
    Independence {
        laplace: Box<Laplace>,
        work: Vec<f64>,
        proposal: Vec<f64>,
        /// Log likelihood at θ.
        log_lik: f64,
        /// 1 once it is known.
        started: u64,
    },
    Trajectory(Box<Trajectory>),
}

/// What trajectories need.
pub(in crate::samplers) struct Trajectory {
    metric: Metric,
    factor: Cholesky,
    precision: Vec<f64>,
    place: Place,
    tree: Tree,
    point: Point,
    grad: Vec<f64>,
    /// Average curvature of the rows over warm-up, and how many are in it.
    curvature: Vec<f64>,
    newest: Vec<f64>,
    averaged: u64,
}

/// An update that leaves the conditional unchanged.
pub(in crate::samplers) struct ExactUpdate;

impl GroupUpdate for ExactUpdate {
    type Shared = Shared;
    type Memory = Memory;

    fn memory(shared: &Shared, _num_rows: usize, theta: &[f64]) -> Memory {
        let dim = theta.len();
        if shared.update == Update::Independence {
            return Memory::Independence {
                laplace: Box::new(Laplace::at(theta)),
                work: vec![0.0; dim],
                proposal: vec![0.0; dim],
                log_lik: 0.0,
                started: 0,
            };
        }
        Memory::Trajectory(Box::new(Trajectory {
            metric: Metric::identity(MetricKind::Dense, dim),
            factor: Cholesky::empty(dim),
            precision: vec![0.0; dim * dim],
            place: Place::empty(dim),
            tree: Tree::new(dim, MAX_DEPTH),
            point: Point::empty(dim),
            grad: vec![0.0; dim],
            curvature: vec![0.0; dim * dim],
            newest: vec![0.0; dim * dim],
            averaged: 0,
        }))
    }

    fn update(
        shared: &Shared,
        at: Tick,
        target: &mut GroupTarget<'_>,
        memory: &mut Memory,
        theta: &mut [f64],
        streams: &mut Streams,
    ) -> Result<Report, StepError> {
        match memory {
            Memory::Independence {
                laplace,
                work,
                proposal,
                log_lik,
                started,
            } => {
                if *started == 0 {
                    target.value(theta, work);
                    (*log_lik, *started) = (target.log_lik, 1);
                }
                laplace.find(target, at.iter)?;
                let rng = &mut streams.noise;
                propose(laplace, rng, proposal);
                let dim = theta.len() as f64;
                let log_q =
                    |distance: f64| -0.5 * (PROPOSAL_DOF + dim) * (distance / PROPOSAL_DOF).ln_1p();
                let mut log_ratio =
                    log_q(laplace.distance(theta, work)) - log_q(laplace.distance(proposal, work));
                work.fill(0.0);
                log_ratio -= *log_lik + target.log_prior(theta, work);
                log_ratio += target.value(proposal, work);
                // A density that is not a number is refused.
                let accept = if log_ratio.is_nan() {
                    0.0
                } else {
                    log_ratio.exp().min(1.0)
                };
                if rng.random::<f64>() < accept {
                    theta.copy_from_slice(proposal);
                    *log_lik = target.log_lik;
                }
                Ok(Report {
                    accept,
                    log_lik: *log_lik,
                    own: [laplace.iterations as f64, 0.0],
                    ..Report::default()
                })
            }
            Memory::Trajectory(trajectory) => {
                trajectory.update(shared, at, target, theta, &mut streams.noise)
            }
        }
    }

    fn visit(memory: &mut Memory, visitor: &mut dyn StateVisitor) {
        match memory {
            Memory::Independence {
                laplace,
                log_lik,
                started,
                ..
            } => {
                laplace.visit(visitor);
                visitor.scalar("log_lik", log_lik);
                visitor.counter("started", started);
            }
            Memory::Trajectory(trajectory) => {
                visitor.slice("curvature", &mut trajectory.curvature);
                visitor.counter("averaged", &mut trajectory.averaged);
            }
        }
    }
}

/// A draw of the multivariate t.
fn propose(laplace: &Laplace, rng: &mut ChainRng, out: &mut [f64]) {
    for z in out.iter_mut() {
        *z = StandardNormal.sample(rng);
    }
    let chi2 = ChiSquared::new(PROPOSAL_DOF).map_or(f64::NAN, |chi2| chi2.sample(rng));
    laplace.factor.solve_lower_transpose(out);
    let stretch = (PROPOSAL_DOF / chi2).sqrt();
    for (out, mode) in out.iter_mut().zip(&laplace.mode) {
        *out = mode + stretch * *out;
    }
}

impl Trajectory {
    fn update(
        &mut self,
        shared: &Shared,
        at: Tick,
        target: &mut GroupTarget<'_>,
        theta: &mut [f64],
        rng: &mut ChainRng,
    ) -> Result<Report, StepError> {
        if self.averaged == 0 {
            let mut laplace = Laplace::at(theta);
            laplace.find(target, at.iter)?;
            theta.copy_from_slice(&laplace.mode);
        }
        // The metric may depend on Σ, which stands still meanwhile, but after warm-up not on θ.
        if at.phase != Phase::Draw || self.averaged == 0 {
            target.curvature_of_rows(theta, &mut self.newest);
            self.averaged += 1;
            let share = (1.0 / self.averaged as f64).max(LEAST_SHARE);
            for (old, new) in self.curvature.iter_mut().zip(&self.newest) {
                *old += share * (new - *old);
            }
        }
        let not_positive =
            |_| StepError::not_positive("the curvature of a group's conditional", at.iter);
        self.precision.copy_from_slice(&self.curvature);
        axpy(1.0, target.precision(), &mut self.precision);
        self.factor.factor(&self.precision).map_err(not_positive)?;
        let factor = &self.factor;
        self.metric
            .replace_inverse(|inverse| factor.write_inverse(inverse))
            .map_err(not_positive)?;
        self.place.u.copy_from_slice(theta);
        self.place.log_density = target.log_density(theta, &mut self.place.grad)?;
        if !self.place.log_density.is_finite() {
            return Err(StepError::not_finite("the log density of a group", at.iter));
        }
        let report = if shared.update == Update::Nuts {
            let summary = self.tree.transition(
                &mut self.place,
                &self.metric,
                shared.step_size,
                target,
                rng,
            )?;
            Report {
                accept: summary.accept,
                divergent: f64::from(u8::from(summary.divergent)),
                own: [summary.num_leapfrog as f64, 0.0],
                ..Report::default()
            }
        } else {
            self.fixed_length(shared.step_size, target, rng)?
        };
        theta.copy_from_slice(&self.place.u);
        self.grad.fill(0.0);
        let log_prior = target.log_prior(theta, &mut self.grad);
        Ok(Report {
            log_lik: self.place.log_density - log_prior,
            ..report
        })
    }

    /// One trajectory of hmc.
    fn fixed_length(
        &mut self,
        longest: f64,
        target: &mut GroupTarget<'_>,
        rng: &mut ChainRng,
    ) -> Result<Report, StepError> {
        let length = LENGTH * (1.0 + JITTER * (2.0 * rng.random::<f64>() - 1.0));
        let point = &mut self.point;
        point.launch(&self.place, &self.metric, rng);
        let travel = point.travel(&self.metric, divide(length, longest), target)?;
        let accept = travel.acceptance();
        if rng.random::<f64>() < accept {
            std::mem::swap(&mut self.place, &mut point.at);
        }
        Ok(Report {
            accept,
            divergent: f64::from(u8::from(travel.divergent)),
            own: [travel.num_leapfrog as f64, 0.0],
            ..Report::default()
        })
    }
}

/// State of [`GibbsGroups`].
pub struct State {
    chain: GroupGibbs<ExactUpdate>,
    shared: Shared,
    averaging: DualAveraging,
    /// 1 once warm-up is over.
    frozen: u64,
}

impl Sampler for GibbsGroups {
    type Settings = GroupSettings;
    type Config = GroupSettings;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(9.0, 0.0)
        .grouped()
        .standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs-groups",
        title: "Gibbs by groups",
        about: "Group by group, then means and spread of groups directly: exact, and fast where groups have many rows",
        cite: "El Hanchi, report, 2018, section 3.2; Tierney 1994, Annals of Statistics 22",
        formula: "θ_g ~ K_g(θ_g, ·) for each group g, K_g leaves π(θ_g | μ, Σ, y_g) unchanged; (μ, Σ) ~ \
                  normal-inverse-Wishart given θ",
        family: SamplerFamily::Groups,
        fields: GroupSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        groups::suits(model)
    }

    fn configure(
        settings: &mut GroupSettings,
        _target: &Target,
    ) -> Result<GroupSettings, SettingError> {
        Ok(settings.clone())
    }

    fn init(
        config: &GroupSettings,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        // The right order for a target scaled by its metric.
        let step_size = 1.0;
        let shared = Shared {
            update: config.update,
            step_size,
        };
        Ok(State {
            chain: GroupGibbs::new(&shared, u0, oracle)?,
            shared,
            averaging: DualAveraging::new(config.target_accept, step_size),
            frozen: 0,
        })
    }

    fn step(
        _config: &GroupSettings,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let State {
            chain,
            shared,
            averaging,
            frozen,
        } = state;
        let moves = shared.update != Update::Independence;
        if at.phase == Phase::Draw && *frozen == 0 {
            *frozen = 1;
            if moves {
                shared.step_size = averaging.averaged();
            }
        }
        let step_size = if moves { shared.step_size } else { f64::NAN };
        let report = chain.step(shared, at, oracle, streams)?;
        let log_density = chain.log_density(report.log_lik, oracle)?;
        info.copy_from_slice(&[
            report.accept,
            step_size,
            report.own[0],
            report.divergent,
            log_density,
        ]);
        if moves && *frozen == 0 {
            shared.step_size = averaging.learn(report.accept);
        }
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.chain.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        state.chain.visit(visitor);
        visitor.scalar("step_size", &mut state.shared.step_size);
        state.averaging.visit(visitor);
        visitor.counter("frozen", &mut state.frozen);
    }
}
