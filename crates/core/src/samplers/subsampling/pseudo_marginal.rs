//! Block pseudo-marginal Metropolis (`pseudo-marginal`): a random walk that knows the likelihood only by an estimate from a few rows.
//!
//! References: Andrieu and Roberts (2009); Tran, Kohn, Quiroz and Villani (2016) for blocks; Dang, Quiroz, Kohn, Tran and Villani (2019),
//! sections 3.1 and 3.3, whose baseline it is.
//!
//! **Target.** L̂(u; S) p(u) p(S) over position and subsample S, as that of [`crate::samplers::subsampling::hmc_ecs`], with its estimate, its expansions and its
//! bias. **Step.** u* = u + s L ξ ([`crate::samplers::full_data::walk`]) and one of the G blocks of S drawn anew, accepted together with probability
//! min(1, L̂(u*; S*) p(u*)/(L̂(u; S) p(u))). The old estimate is kept, not computed again, or the target would be another.
//!
//! **Blocks.** With `blocks` = 1 the whole subsample is new in each step: plain pseudo-marginal Metropolis, for which a variance near 1 of
//! log L̂ is best (Pitt, Silva, Giordani and Kohn 2012). With G blocks the two estimates correlate by about 1 − 1/G, and what counts is
//! the variance of their difference, which the default G keeps near 0.1.
//!
//! **Cost.** m rows and D² per step, without gradients but for those of expansions of order 2 where rows have no linear predictor; a step moves as far as one of `metropolis`. **Not for** more than some ten
//! dimensions, or whenever `hmc-ecs` and `nuts-ecs` suit, which they do for the same models: a baseline to set beside them.

use rand::RngExt as _;

use crate::models::{RowLikelihood, Scratch};
use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::walk::{self, Walk, WalkSettings};
use crate::samplers::recommend::Traits;
use crate::samplers::subsampling::energy_conserving::calibration::{Calibrated, calibrate};
use crate::samplers::subsampling::energy_conserving::estimate::{Expansion, Subsample};
use crate::samplers::subsampling::energy_conserving::{
    ORDER, Order, SubsampleConfig, SubsampleSettings, indefinite,
};
use crate::samplers::subsampling::hmc_ecs::BIAS;
use crate::samplers::{
    InfoColumn, LOG_LIK_VARIANCE, ROWS_SHARE, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_diagnostics::Remedy;

ergodic_base::settings! {
    /// Settings of [`PseudoMarginal`].
    pub struct PseudoMarginalSettings {
        expansion: Order;
        rows: SubsampleSettings<()>;
        walk: WalkSettings;
    }
}

const INFO: &[InfoColumn] = &[
    walk::INFO[0],
    walk::INFO[1],
    InfoColumn::new(
        LOG_LIK_VARIANCE,
        "Estimated variance of the estimated log likelihood at the draw",
    ),
    InfoColumn::new(ROWS_SHARE, "Rows of the subsample as a share of all rows"),
    InfoColumn::LOG_DENSITY,
    ORDER,
];

/// The sampler `pseudo-marginal`.
pub struct PseudoMarginal;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    order: Option<usize>,
    subsample: SubsampleConfig,
    walk: walk::Config,
}

/// State of [`PseudoMarginal`].
pub struct State {
    u: Vec<f64>,
    /// The estimates at `u` from the subsample: of the log posterior, and of their own variance.
    log_density: f64,
    variance: f64,
    expansion: Expansion,
    subsample: Subsample,
    walk: Walk,
    /// Working memory.
    proposal: Vec<f64>,
    grad: Vec<f64>,
    scratch: Scratch,
}

impl State {
    /// Log posterior and its variance at `proposal`, estimated from the rows proposed.
    fn estimate(&mut self, model: &dyn RowLikelihood) -> (f64, f64) {
        let rows = self.subsample.proposed();
        let u = &self.proposal;
        let log_prior = model.log_prior(u, &mut self.grad);
        let expanded = self.expansion.sum(u, &mut self.grad);
        let scratch = &mut self.scratch;
        (self.subsample).evaluate(rows.clone(), u, &self.expansion, model, scratch);
        let estimate = self.subsample.estimate(rows, model.num_obs());
        (log_prior + expanded + estimate.log, estimate.variance)
    }

    /// Draws a block anew; false where there is no memory for it.
    fn propose_rows(&mut self, model: &dyn RowLikelihood, streams: &mut Streams) -> bool {
        let rng = &mut streams.batch;
        (self.subsample).propose(&self.expansion, model, &mut self.scratch, rng)
    }
}

impl Sampler for PseudoMarginal {
    type Settings = PseudoMarginalSettings;
    type Config = Config;
    type State = State;

    // Steps of `metropolis`, each on a subsample.
    const ADVICE: Traits = Traits::ORDINARY.centred(100.0);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "pseudo-marginal",
        family: SamplerFamily::SubsamplingHmc,
        title: "Block pseudo-marginal Metropolis",
        about: "A random walk on a likelihood estimated from few rows, which are renewed block by block: a baseline for HMC-ECS",
        cite: "Andrieu and Roberts 2009, Annals of Statistics 37; Tran, Kohn, Quiroz and Villani 2016; Dang, Quiroz, Kohn, Tran and Villani \
               2019, JMLR 20",
        formula: "u* = u + s N(0, Sigma) and one block of S anew; accepted together with min(1, L̂(u*; S*) p(u*) / (L̂(u; S) p(u))); \
                  log L̂ = Σ q + Σ_S d/(m p) - σ̂²/2",
        fields: PseudoMarginalSettings::FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        remedy: Some(Remedy::MoreRows),
        bias: Some(BIAS),
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut PseudoMarginalSettings,
        target: &Target,
    ) -> Result<Config, SettingError> {
        target.require_mode(Self::SPEC.id, "use `metropolis`")?;
        Ok(Config {
            order: settings.expansion.order,
            subsample: settings.rows.settle(false, target)?,
            walk: settings.walk.settle(target),
        })
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.walk.steps_per_draw
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let (dim, num_obs) = (u0.len(), oracle.num_obs());
        let model = oracle.rows()?;
        let Some(centre) = oracle.centre() else {
            return Err(indefinite(0));
        };
        let SubsampleConfig { batch, blocks, .. } = config.subsample;
        let mut scratch = model.scratch();
        let Calibrated {
            expansion,
            spread,
            variance,
            cost,
        } = calibrate(config.order, &config.subsample, model, centre, &mut scratch);
        let (estimator, blocks) = spread.difference(variance, batch, blocks, num_obs);
        Subsample::check_size(estimator, blocks, model)?;
        let rng = &mut streams.batch;
        let subsample = Subsample::draw(estimator, blocks, &expansion, model, &mut scratch, rng);
        let subsample = subsample.of_values();
        let mut state = State {
            u: u0.to_vec(),
            log_density: f64::NAN,
            variance: f64::NAN,
            expansion,
            subsample,
            walk: Walk::start(&config.walk, dim),
            proposal: u0.to_vec(),
            grad: vec![0.0; dim],
            scratch,
        };
        // The first estimate is that of the first rows with one block renewed.
        if state.propose_rows(model, streams) {
            (state.log_density, state.variance) = state.estimate(model);
            state.subsample.accept();
        }
        if !state.log_density.is_finite() {
            return Err(StepError::not_finite("the estimated log density", 0));
        }
        let evaluations = state.subsample.evaluations();
        oracle.datum_grads += cost + state.subsample.len() as u64 * (evaluations + 1);
        Ok(state)
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let scale = state.walk.scale(&config.walk, at.phase);
        let centre = oracle.centre().map(|centre| &**centre);
        walk::propose(
            scale,
            &state.u,
            centre,
            &mut streams.noise,
            &mut state.proposal,
        );
        let model = oracle.rows()?;
        let proposed = state.propose_rows(model, streams);
        let (log_density, variance) = state.estimate(model);
        let usable =
            proposed && log_density.is_finite() && state.proposal.iter().all(|u| u.is_finite());
        let accept = if usable {
            (log_density - state.log_density).exp().min(1.0)
        } else {
            0.0
        };
        if streams.noise.random::<f64>() < accept {
            state.subsample.accept();
            std::mem::swap(&mut state.u, &mut state.proposal);
            (state.log_density, state.variance) = (log_density, variance);
        } else {
            state.subsample.reject();
        }
        let num_obs = model.num_obs() as f64;
        let rows = state.subsample.len();
        info.copy_from_slice(&[
            state.walk.record(&config.walk, accept),
            scale,
            state.variance,
            rows as f64 / num_obs,
            state.log_density,
            state.expansion.order() as f64,
        ]);
        // A fresh row is also evaluated at the control-variate centre.
        oracle.datum_grads +=
            rows as u64 * state.subsample.evaluations() + state.subsample.block_rows() as u64;
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        visitor.scalar("log_density", &mut state.log_density);
        visitor.scalar("variance", &mut state.variance);
        state.expansion.visit(visitor);
        state.subsample.visit(visitor);
        state.walk.visit(visitor);
    }
}
