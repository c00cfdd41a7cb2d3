//! Gibbs sampling of a hierarchical model with stochastic gradient Fisher scoring in each group (`gibbs-osgfs`).
//!
//! Reference: El Hanchi (2018), section 3.2: θ_g moves by steps of OSGFS ([`crate::samplers::fisher_scoring::osgfs`]) on its conditional, whose prior
//! N(μ, Σ) is the report's "strong prior", G = Σ⁻¹; (μ, Σ) come from their conjugate conditional.
//!
//! **Step of a group** of n rows with a minibatch S: θ' = θ + D ĝ(θ) + N(0, 2D − (n²/|S|) D C D − D H D), the source's (8)
//! (Algorithm 1 names (7)), with ĝ = (n/|S|) Σ_S ∇log p(y_i|θ) − Σ⁻¹(θ − μ), H = n C + Σ⁻¹ and D = ½ V diag(k) V'
//! in the directions V of noise and curvature. C is the covariance of row gradients, averaged over warm-up, from its
//! second half alone where its length is known. Groups of at most |S| rows use all of them: no gradient noise, and n C is
//! the curvature of the rows, averaged in the same way, because so few rows do not make a covariance. A group begins at the
//! mode of its first conditional: where rows are fitted badly their curvature vanishes, and steps of size H⁻¹ run away.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `batch` | rows of a group per step, \|S\| | one in 25 of an average group, at least 50 and 5 per coefficient |
//! | `k_bound` | bound on k, as for `osgfs` | directions: N(μ, Σ) is a strong prior, under which k may be larger |
//! | `steps` | steps per group and draw | 1, as in the source |
//!
//! **Cost.** \|S\| rows per group and draw. **Bias.** That of OSGFS: conditionals are taken to be normal with curvature
//! n C + Σ⁻¹. **Not for** groups of few rows, which gain nothing; there `gibbs-groups` is exact at the same cost.

use crate::models::Model;
use crate::numerics::fisher_step::FisherStep;
use crate::oracle::minibatch::below;
use crate::oracle::{Oracle, StepError};
use crate::samplers::fisher_scoring::osgfs::{BOUND, Bound, ROWS_PER_PARAMETER, choose_k};
use crate::samplers::fisher_scoring::{ScoreCovariance, check_gradient};
use crate::samplers::groups::laplace::Laplace;
use crate::samplers::groups::{self, GroupGibbs, GroupTarget, GroupUpdate, Report};
use crate::samplers::minibatch_settings::BATCH;
use crate::samplers::recommend::Traits;
use crate::samplers::{
    InfoColumn, NOISE_SHARE, Phase, ROWS_SHARE, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick, Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::{Declared as _, Field, SettingError};

/// Rows of an average group for each row of a minibatch, as `osgfs` takes of all rows.
const BATCH_SHARE: usize = 25;
/// Rows from which a mean of scores counts as normal.
const BATCH_NORMAL: usize = 50;

ergodic_base::settings! {
    /// Settings of samplers that go group by group by Fisher scoring.
    pub struct GroupScoringSettings {
        batch: Option<usize> = Field::int(BATCH.label, 2, 1_000_000_000, None)
            .help("Rows of a group in a minibatch, |S| in the report; smaller groups use all of their rows")
            .why("one in 25 of an average group, at least 50 and 5 per coefficient");
        k_bound: Bound = Bound::field(BOUND.label, Some(Bound::Directions))
            .help(BOUND.help)
            .why("the spread of groups is a strong prior, under which directions without much noise can take larger steps");
        steps: u64 = Field::int("Steps per group", 1, 1_000_000, Some(1))
            .help("Steps of each group between two draws of means and spread of groups")
            .why("as in the report");
    }
}

/// The sampler `gibbs-osgfs`.
pub struct GibbsOsgfs;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// Rows of a group per step.
    pub batch: usize,
    /// Which bound gives k.
    pub bound: Bound,
    /// Steps of each group per draw.
    pub steps: u64,
}

impl GroupScoringSettings {
    /// The settings for `target`, which has `groups` groups of `width` coefficients each.
    pub fn settle(&mut self, target: &Target, groups: usize, width: usize) -> Config {
        Config {
            batch: *self.batch.get_or_insert(
                (target.num_obs / groups.max(1) / BATCH_SHARE)
                    .max(BATCH_NORMAL)
                    .max(ROWS_PER_PARAMETER * width),
            ),
            bound: self.k_bound,
            steps: self.steps,
        }
    }
}

/// Memory of one group.
pub(in crate::samplers) struct Memory {
    /// Where the group begins: far from the mode a step of Newton's size could run away.
    start: Laplace,
    /// 1 once it has begun.
    started: u64,
    /// C, or in its `matrix` the curvature of the rows over n, where all are used.
    covariance: ScoreCovariance,
    step: FisherStep,
    picks: Vec<u32>,
    scores: Vec<f64>,
    grad: Vec<f64>,
    hessian: Vec<f64>,
    sigma: Vec<f64>,
}

/// The update of a group.
pub(in crate::samplers) struct FisherScoringStep;

impl GroupUpdate for FisherScoringStep {
    type Shared = Config;
    type Memory = Memory;

    fn memory(config: &Config, num_rows: usize, theta: &[f64]) -> Memory {
        let dim = theta.len();
        let batch = config.batch.min(num_rows);
        Memory {
            start: Laplace::at(theta),
            started: 0,
            covariance: ScoreCovariance::new(dim),
            step: FisherStep::empty(dim),
            picks: Vec::with_capacity(batch),
            scores: vec![0.0; batch * dim],
            grad: vec![0.0; dim],
            hessian: vec![0.0; dim * dim],
            sigma: vec![0.0; dim * dim],
        }
    }

    fn update(
        config: &Config,
        at: Tick,
        target: &mut GroupTarget<'_>,
        memory: &mut Memory,
        theta: &mut [f64],
        streams: &mut Streams,
    ) -> Result<Report, StepError> {
        if let Phase::Warmup {
            length: Some(length),
        } = at.phase
            && at.iter == length / 2
        {
            memory.covariance.minibatches = 0;
        }
        if memory.started == 0 {
            memory.start.find(target, at.iter)?;
            theta.copy_from_slice(&memory.start.mode);
            memory.started = 1;
        }
        let mut report = Report::default();
        for _ in 0..config.steps {
            report = memory.advance(config, at, target, theta, streams)?;
        }
        Ok(report)
    }

    fn visit(memory: &mut Memory, visitor: &mut dyn StateVisitor) {
        memory.covariance.visit(visitor);
        visitor.counter("started", &mut memory.started);
    }
}

impl Memory {
    fn advance(
        &mut self,
        config: &Config,
        at: Tick,
        target: &mut GroupTarget<'_>,
        theta: &mut [f64],
        streams: &mut Streams,
    ) -> Result<Report, StepError> {
        let (n, dim) = (target.num_rows, theta.len());
        let all = n <= config.batch;
        let learns = at.phase != Phase::Draw;
        let factor = if all {
            if learns || self.covariance.minibatches == 0 {
                target.curvature_of_rows(theta, &mut self.hessian);
                self.learn_curvature(n);
            }
            target.value(theta, &mut self.grad);
            0.0
        } else {
            self.picks.clear();
            for _ in 0..config.batch {
                let row = below(&mut streams.batch, n as u32);
                self.picks.push(target.first() as u32 + row);
            }
            let factor = n as f64 / config.batch as f64;
            target.scores(theta, &self.picks, &mut self.scores);
            self.grad.fill(0.0);
            for score in self.scores.chunks_exact(dim) {
                axpy(factor, score, &mut self.grad);
            }
            target.log_prior(theta, &mut self.grad);
            if learns || !self.knows_covariance(config, dim) {
                self.covariance.learn(&mut self.scores);
            }
            factor
        };
        check_gradient(&self.grad, at.iter)?;
        let share = config.batch.min(n) as f64 / n.max(1) as f64;
        if !all && !self.knows_covariance(config, dim) {
            return Ok(Report {
                own: [f64::NAN, share],
                ..Report::default()
            });
        }
        self.hessian.copy_from_slice(target.precision());
        axpy(n as f64, &self.covariance.matrix, &mut self.hessian);
        self.sigma.fill(0.0);
        axpy(factor * n as f64, &self.covariance.matrix, &mut self.sigma);
        let Self {
            step,
            hessian,
            sigma,
            ..
        } = self;
        choose_k(step, hessian, sigma, (config.bound, 0.0), factor).map_err(|_not_positive| {
            StepError::not_positive(
                "the curvature N C + G of the Fisher scoring step of a group, or its noise,",
                at.iter,
            )
        })?;
        step.advance(&self.grad, &mut streams.noise, theta);
        Ok(Report {
            own: [step.slowest_k(), share],
            accept: step.noise_share(),
            ..Report::default()
        })
    }

    /// Whether enough rows were seen for a covariance away from singular.
    fn knows_covariance(&self, config: &Config, dim: usize) -> bool {
        self.covariance.minibatches as usize * config.batch >= ROWS_PER_PARAMETER * dim
    }

    /// The running average of the curvature of all `n` rows, which stands in `hessian`, over n.
    fn learn_curvature(&mut self, n: usize) {
        self.covariance.minibatches += 1;
        let share = 1.0 / self.covariance.minibatches as f64;
        for (old, new) in self.covariance.matrix.iter_mut().zip(&self.hessian) {
            *old += share * (new / n.max(1) as f64 - *old);
        }
    }
}

/// State of [`GibbsOsgfs`].
pub struct State(GroupGibbs<FisherScoringStep>);

/// What Fisher scoring in each group reports.
pub(in crate::samplers) const INFO: &[InfoColumn] = &[
    InfoColumn::new(
        "k",
        "Step constant k of a group's slowest direction, mean over groups; 2 would give independent draws",
    ),
    InfoColumn::new(
        NOISE_SHARE,
        "Largest share of gradient noise in all noise of a step, mean over groups; it replaces injected noise",
    ),
    InfoColumn::new(
        ROWS_SHARE,
        "Rows used per step as a share of a group's rows, mean over groups",
    ),
];

/// Why the sampler is approximate.
pub(in crate::samplers) const BIAS: &str = "The conditional of each group is taken to be normal, and the spread of its row gradients to equal its \
     curvature: standard deviations are off where the model fits badly or groups are small";

impl Sampler for GibbsOsgfs {
    type Settings = GroupScoringSettings;
    type Config = Config;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.row_passes(1.5, 0.0).normal();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs-osgfs",
        title: "Gibbs, OSGFS groups",
        about: "Group by group by Fisher scoring with minibatches of its rows, means and spread of groups exactly: for groups of \
                thousands of rows",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, section 3.2",
        formula: "θ_g' = θ_g + D ĝ(θ_g) + N(0, 2D − (n²/|S|) D C D − D H D), H = n C + Σ⁻¹, for each group g; (μ, Σ) ~ \
                  normal-inverse-Wishart given θ",
        family: SamplerFamily::Groups,
        fields: GroupScoringSettings::FIELDS,
        info: INFO,
        minibatch: true,
        bias: Some(BIAS),
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        groups::suits(model)
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let view = target.hierarchy();
        let shape = view.map(|view| (view.num_groups(), view.num_terms()));
        let (groups, terms) = shape.unwrap_or((1, target.dim));
        Ok(settings.settle(target, groups, terms))
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        GroupGibbs::new(config, u0, oracle).map(State)
    }

    fn step(
        config: &Config,
        at: Tick,
        State(chain): &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let report = chain.step(config, at, oracle, streams)?;
        info.copy_from_slice(&[report.own[0], report.accept, report.own[1]]);
        Ok(())
    }

    fn position(State(chain): &State) -> &[f64] {
        &chain.u
    }

    fn visit(State(chain): &mut State, visitor: &mut dyn StateVisitor) {
        chain.visit(visitor);
    }
}
