//! Hamiltonian Monte Carlo with energy conserving subsampling: what `hmc-ecs`, `hmc-ecs-signed` and `nuts-ecs` share.
//!
//! Reference: Dang, Quiroz, Kohn, Tran and Villani (2019), JMLR 20, Algorithm 1 as corrected in docs/references.md.
//!
//! **Target.** L̂(u; S) p(u) p(S) N(p; 0, M) over position, subsample S and momentum (3): L̂ estimates the likelihood from
//! the rows of S only. **Iteration.** (1) One of the G blocks of S is drawn anew and accepted with probability
//! min(1, L̂(u; S')/L̂(u; S)) (5). (2) A Hamiltonian transition in u with S fixed; the same L̂ drives the trajectory and
//! decides on it (7), so that energy is conserved whatever the noise of L̂.
//!
//! **Estimate.** log L̂ = Σ q_i + an estimate of Σ d_i, with the Taylor expansions q_i of [`estimate`]: order two by default,
//! so that a row's difference d_i is of the third order in the distance from the control-variate centre, the mode. Σ q_i costs
//! D² whatever N. Any log likelihood that is a sum over rows has such expansions: rows with one linear predictor are expanded in it,
//! others in u by their scores. The estimators are those of the samplers' own files.
//!
//! **Step size.** ε of [`crate::samplers::full_data::hamiltonian`] with M = H, the curvature at the mode, adapted by dual averaging; the
//! source's ε is the same. The trajectory of the HMC variants has length t = 1.9 in whitened units, in the source 1.2: L = ⌈t/ε⌉ steps of t/L.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `order` | order of the expansions q_i: 0, 1 or 2; the signed variant always has 2 | 2, or the cheapest for rows without a linear predictor ([`calibration`]) |
//! | `scheme` | rows are drawn by their `differences` over N(û, H⁻¹) ([`crate::oracle::Centre::difference_chances`]), or `iid` with equal chances as in the source's examples | `differences` |
//! | `variance` | variance of the estimated log likelihood aimed at, averaged over N(û, H⁻¹); a tenth of it below order 2 where rows have no linear predictor | 1 |
//! | `batch` | rows of S (per minibatch for the signed variant) | from `variance`, see [`calibration`] |
//! | `blocks` | G | the fewest with which a block is accepted about 87 times in 100, 100 (Dang et al.) at most; 4 where rows add no noise |
//! | `metric_rows` | rows whose curvature at the centre is M: `all`, or those of the `subsample` | `all` |
//! | `target_accept` | acceptance that ε is adapted to | 0.8, with NUTS 0.7 |
//! | `step_size` | fixes ε | adapted |
//!
//! **Control-variate centre.** The mode. If the mean of the second quarter of warm-up lies more than half a posterior standard
//! deviation of some coefficient away from it, expansions and metric move there at half of warm-up: two passes over all rows
//! (Dang et al. move it, too, because they have no mode). Coefficients of rare levels ask for it: their posteriors are skewed,
//! and differences in the long tail are large. Warm-ups of less than 200 iterations keep the mode. `renew_every` moves both every so
//! many iterations of warm-up, whether the chain is elsewhere or not, as Dang et al. do every 200.
//!
//! **Metric.** M may depend on S, which a trajectory does not change: `metric_rows` = subsample has M(S), the curvature at the centre of the
//! log posterior that S estimates, that of σ̂² left out. Expansions of order 2 estimate none: their M(S) is that of all rows. The others'
//! is H of the prior plus (N/m) Σ_S C_i, where that is positive definite. It costs the curvature of m rows per draw, and D³.
//!
//! **Cost.** m rows per gradient, L + 1 of them per draw, and the rows of one block; besides that D² per gradient. Rows without a
//! linear predictor cost three gradients each under order 2, and memory for 2 m D numbers.
//! **Not for** data whose one pass is cheap (then `nuts`), or posteriors far from normal: differences are then large.

use std::marker::PhantomData;

use rand::RngExt as _;

use crate::models::{Model, Rows, Scratch};
use crate::oracle::{Centre, Oracle, StepError};
use crate::samplers::full_data::adaptation::DualAveraging;
use crate::samplers::full_data::hamiltonian::{
    LogDensity as _, Metric, MetricKind, Place, Trajectory, divide, energy_errors,
};
use crate::samplers::full_data::nuts::tree::Tree;
use crate::samplers::recommend::Traits;
use crate::samplers::{
    ACCEPT, ACCEPT_ROWS, ENERGY, Follow, InfoColumn, LOG_LIK_VARIANCE, Phase, ROWS_SHARE,
    STEP_SIZE, Sampler, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use calibration::{Calibrated, calibrate};
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot};
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_base::{ChainRng, Streams};
use estimate::{EstimatedPosterior, Expansion, Subsample};

pub(in crate::samplers) mod calibration;
pub(in crate::samplers) mod estimate;

/// The expansion moves if the mean of draws is farther away than this in some coordinate, in posterior standard deviations:
/// well beyond the error of a mean over a quarter of warm-up.
const MOVED: f64 = 0.5;

/// The mean of fewer draws says too little about where the chain is: shorter warm-ups keep the control-variate centre.
const LEAST_DRAWS: u64 = 50;

ergodic_base::choice! {
    /// How rows are chosen.
    pub enum Choice {
        /// By how far they depart from their expansions.
        Differences = "differences",
        /// With equal chances.
        Iid = "iid" => "random rows",
    }
}

ergodic_base::choice! {
    /// The rows whose curvature is the metric.
    pub enum MetricRows {
        /// All rows.
        All = "all",
        /// The rows of the present subsample.
        Subsample = "subsample",
    }
}

ergodic_base::settings! {
    /// Settings of the subsample that a likelihood is estimated from, with those of the estimate `F`.
    pub struct SubsampleSettings<F> {
        scheme: Choice = Choice::field("Choice of rows", Some(Choice::Differences))
            .help(
                "differences: the farther a row departs from its expansion over the posterior, the likelier it is drawn and the \
                 less it weighs; iid: all rows have equal chances",
            )
            .why("the least variance; where few rows carry the differences, as those of rare levels, equal chances miss them");
        variance: f64 = Field::real("Variance aimed at", 1e-6, 1e3, Some(1.0))
            .help("Variance of the estimated log likelihood at fixed parameters that the number of rows is chosen for")
            .why("near 1 a draw is cheapest; larger ones let the subsample get stuck");
        batch: Option<usize> = Field::int("Rows of the subsample", 1, 100_000_000, None)
            .help("m: rows that an estimate of the likelihood is made from (rows per minibatch in the signed variant)")
            .why("as many as the variance aimed at needs, measured at the mode, at least 100, or 8 where even so few leave a variance that \
                 nobody could see; 30 in the signed variant");
        pub estimate: F;
        blocks: Option<usize> = Field::int("Blocks", 1, 10_000, None)
            .help("G: the subsample is renewed one block at a time, so that successive estimates correlate by about 1 - 1/G")
            .why("as few as get accepted nine times in ten, 100 at most; 4 where the estimate has no noise that could be seen");
    }
}

ergodic_base::settings! {
    /// Settings of all variants, with those of the expansions `E`, the estimate `F` and the trajectory `T`.
    pub struct EcsSettings<E, F, T> {
        pub expansion: E;
        rows: SubsampleSettings<F>;
        pub trajectory: T;
        step_size: Option<f64> = Field::real("Step size", 1e-6, 1e3, None)
            .help("Leapfrog step in posterior standard deviations; a number fixes it, auto adapts it in warm-up")
            .why("adapted to the target acceptance");
        renew_every: u64 = Field::int("Renewal of centre and metric", 0, 1_000_000, Some(0))
            .help(
                "In warm-up, each time this many iterations have passed, the mean of the draws since the last time becomes the centre \
                 of the control variates, and the curvature there the metric (200 in Dang et al. 2019); 0: once at most, at half of warm-up",
            )
            .why("the mode is known and seldom far, and each renewal costs two passes over all rows");
    }
}

ergodic_base::settings! {
    /// The setting of variants whose expansions are not always of the second order.
    pub struct Order {
        pub order: Option<usize> = Field::int("Order of expansion", 0, 2, None)
            .help(
                "Order of the Taylor expansions that rows are compared with: 2 leaves the least noise, and costs three gradients per row \
                 instead of one where rows have no single linear predictor",
            )
            .why("2 where rows have a single linear predictor; else the one whose rows, as many as the variance aimed at needs, cost least");
    }
}

ergodic_base::settings! {
    /// Settings of expansions that may leave trajectories a curvature of their own.
    pub struct Expansions {
        pub order: Order;
        pub metric_rows: MetricRows = MetricRows::field("Rows of the metric", Some(MetricRows::All))
            .help(
                "all: the metric is the curvature of all rows; subsample: that of the posterior which the present subsample estimates, \
                 renewed with it, at a Hessian for each of its rows. Expansions of order 2 have the same curvature with any subsample",
            )
            .why("it costs nothing; that of a subsample pays where trajectories on few rows of order 1 or 0 are rejected");
    }
}

/// The setting of the acceptance that ε is adapted to, with a variant's own default.
pub(in crate::samplers) const fn target_accept(default: f64, why: &'static str) -> Field {
    Field::real("Target acceptance", 0.05, 0.999, Some(default))
        .help("Mean acceptance probability of trajectories that the step size is adapted to")
        .why(why)
}

/// Information columns that all variants begin with.
pub(in crate::samplers) const COLUMNS: [InfoColumn; 7] = [
    InfoColumn::new(ACCEPT, "Acceptance probability of the trajectory"),
    InfoColumn::new(
        ACCEPT_ROWS,
        "Acceptance probability of the new block of rows",
    ),
    InfoColumn::new(STEP_SIZE, "Leapfrog step size"),
    InfoColumn::N_LEAPFROG,
    InfoColumn::new(
        LOG_LIK_VARIANCE,
        "Estimated variance of the estimated log likelihood, where the trajectory began",
    ),
    InfoColumn::new(ROWS_SHARE, "Rows of the subsample as a share of all rows"),
    InfoColumn::new(
        ENERGY,
        "Energy of the draw given its subsample, up to a constant",
    ),
];

/// The information column of variants whose expansions are not always of the second order.
pub(in crate::samplers) const ORDER: InfoColumn = InfoColumn::new(
    "expansion_order",
    "Order of the expansions that rows are compared with",
);

/// How positions move given a subsample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dynamics {
    /// Trajectories of this length in whitened units.
    Fixed(f64),
    /// NUTS with this maximal number of doublings.
    Doubling(usize),
}

/// What sets the three samplers apart.
pub trait Variant: 'static {
    /// The description.
    const SPEC: SamplerSpec;
    /// See [`Sampler::ADVICE`].
    const ADVICE: Traits = Traits::ORDINARY;
    /// Whether the likelihood's estimate is the block-Poisson one, with signs.
    const SIGNED: bool;
    /// Settings of the expansions.
    type Expansion: Declared;
    /// Settings of the estimate.
    type Estimate: Declared;
    /// Settings of the trajectory.
    type Trajectory: Declared;
    /// Order of the expansions; `None` where it is left open.
    fn order(expansion: &Self::Expansion) -> Option<usize>;
    /// The rows whose curvature is the metric.
    fn metric_rows(_expansion: &Self::Expansion) -> MetricRows {
        MetricRows::All
    }
    /// λ, where the estimate has such factors and a user says how many.
    fn factors(_estimate: &Self::Estimate) -> Option<usize> {
        None
    }
    /// The dynamics that the settings ask for.
    fn dynamics(trajectory: &Self::Trajectory) -> Dynamics;
    /// Acceptance that ε is adapted to.
    fn target_accept(trajectory: &Self::Trajectory) -> f64;
}

/// `hmc-ecs`, `hmc-ecs-signed` and `nuts-ecs`, by their variant `V`.
pub struct EnergyConserving<V>(PhantomData<fn() -> V>);

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    order: Option<usize>,
    metric_rows: MetricRows,
    subsample: SubsampleConfig,
    /// λ.
    factors: Option<usize>,
    dynamics: Dynamics,
    target_accept: f64,
    step_size: Option<f64>,
    /// Iterations of warm-up between renewals of the centre, where there are such.
    renew_every: Option<u64>,
}

/// The subsample that settings ask for.
#[derive(Clone, Copy, Debug)]
pub struct SubsampleConfig {
    /// Whether rows are drawn by their differences.
    pub weighted: bool,
    /// The variance aimed at.
    pub variance: f64,
    /// m, or rows per minibatch of a signed estimate.
    pub batch: Option<usize>,
    /// G.
    pub blocks: Option<usize>,
}

impl<F: Declared> SubsampleSettings<F> {
    /// Refuses numbers of rows that make no estimate.
    ///
    /// # Errors
    /// More rows than there are, or one for an estimate that needs a variance.
    pub fn settle(&self, signed: bool, target: &Target) -> Result<SubsampleConfig, SettingError> {
        // Rows are drawn with replacement, so more than all of them cost memory and time and tell nothing more.
        if let Some(batch) = self.batch.filter(|&batch| batch > target.num_obs) {
            let why = format!(
                "is {batch}, but there are {} rows; choose at most as many, or leave it out",
                target.num_obs
            );
            return Err(SettingError::unfit("batch", why));
        }
        if !signed && self.batch == Some(1) && target.num_obs > 1 {
            return Err(SettingError::unfit(
                "batch",
                "is 1, but the variance of the estimate cannot be told from one row; choose at least 2, or leave it out",
            ));
        }
        Ok(SubsampleConfig {
            weighted: self.scheme == Choice::Differences,
            variance: self.variance,
            batch: self.batch,
            blocks: self.blocks,
        })
    }
}

/// Position, subsample, adaptation, working memory.
pub struct State {
    place: Place,
    expansion: Expansion,
    subsample: Subsample,
    metric: Metric,
    step_size: f64,
    averaging: DualAveraging,
    /// Iterations of warm-up done.
    warmup_iter: u64,
    /// 1 once warm-up is over.
    frozen: u64,
    /// Sum of draws of the second quarter of warm-up (D), and their number.
    sum: Vec<f64>,
    summed: u64,
    /// Working memory.
    scratch: Scratch,
    tree: Tree,
    factor: Cholesky,
    hessian: Vec<f64>,
    /// Curvature of one row (D×D), where the metric is that of a subsample.
    of_row: Vec<f64>,
}

/// What a trajectory did.
struct Outcome {
    accept: f64,
    step_size: f64,
    num_leapfrog: u64,
    energy: f64,
    /// Sign of the estimated likelihood at the draw; doublings and divergence of NUTS.
    sign: f64,
    depth: usize,
    divergent: bool,
}

impl<V: Variant> Sampler for EnergyConserving<V> {
    type Settings = EcsSettings<V::Expansion, V::Estimate, V::Trajectory>;
    type Config = Config;
    type State = State;
    const SPEC: SamplerSpec = V::SPEC;
    const ADVICE: Traits = V::ADVICE;
    const FOLLOW: Option<Follow<Config, State>> = Some(follow);

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        target.require_mode(V::SPEC.id, "use `nuts`")?;
        let subsample = settings.rows.settle(V::SIGNED, target)?;
        if (1..LEAST_DRAWS).contains(&settings.renew_every) {
            let why = format!(
                "is {}, but the mean of so few draws says too little; choose at least {LEAST_DRAWS}, or 0 for none",
                settings.renew_every
            );
            return Err(SettingError::unfit("renew_every", why));
        }
        Ok(Config {
            order: V::order(&settings.expansion),
            metric_rows: V::metric_rows(&settings.expansion),
            subsample,
            factors: V::factors(&settings.rows.estimate),
            dynamics: V::dynamics(&settings.trajectory),
            target_accept: V::target_accept(&settings.trajectory),
            step_size: settings.step_size,
            renew_every: Some(settings.renew_every).filter(|&every| every > 0),
        })
    }

    fn affords(config: &Config, model: &dyn Model, centre: &Centre) -> Result<(), Unsuitable> {
        let Some(rows) = model.rows() else {
            return Ok(());
        };
        // Other estimates take all rows at most, and factors of a user's own are a user's choice.
        if !V::SIGNED || config.factors.is_some() {
            return Ok(());
        }
        let (subsample, num_obs) = (&config.subsample, rows.num_obs());
        let Calibrated {
            spread, variance, ..
        } = calibrate(config.order, subsample, rows, centre, &mut rows.scratch());
        match spread.too_many_rows(variance, subsample.batch, num_obs) {
            None => Ok(()),
            Some(rows) => Err(Unsuitable::TooManyRows {
                rows: rows as u64,
                num_obs: num_obs as u64,
                weighted: subsample.weighted,
            }),
        }
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        let num_obs = oracle.num_obs();
        let model = oracle.rows()?;
        let Some(centre) = oracle.centre() else {
            return Err(indefinite(0));
        };
        let mut scratch = model.scratch();
        let SubsampleConfig { batch, blocks, .. } = config.subsample;
        let Calibrated {
            expansion,
            spread,
            variance,
            cost,
        } = calibrate(config.order, &config.subsample, model, centre, &mut scratch);
        let (estimator, blocks) = if V::SIGNED {
            spread.block_poisson(variance, batch, config.factors, blocks, num_obs)
        } else {
            spread.difference(variance, batch, blocks, num_obs)
        };
        Subsample::check_size(estimator, blocks, model)?;
        let subsample = Subsample::draw(
            estimator,
            blocks,
            &expansion,
            model,
            &mut scratch,
            &mut streams.batch,
        );
        let metric = Metric::from_covariance(MetricKind::Dense, &centre.covariance, dim)
            .map_err(|_not_positive| indefinite(0))?;
        let (first_step, max_depth) = match config.dynamics {
            Dynamics::Fixed(length) => (0.5 * length, 0),
            Dynamics::Doubling(most) => (1.0, most),
        };
        let step_size = config.step_size.unwrap_or(first_step);
        let mut place = Place::empty(dim);
        place.u.copy_from_slice(u0);
        // The pass that moves the expansion finds its memory made, for steps do not allocate.
        let mut hessian = vec![0.0; dim * dim];
        model.add_neg_hessian_log_lik(u0, Rows::Pick(&[]), &mut scratch, &mut hessian);
        oracle.datum_grads += cost + subsample.len() as u64;
        Ok(State {
            place,
            expansion,
            subsample,
            metric,
            step_size,
            averaging: DualAveraging::new(config.target_accept, step_size),
            warmup_iter: 0,
            frozen: 0,
            sum: vec![0.0; dim],
            summed: 0,
            scratch,
            tree: Tree::new(dim, max_depth),
            factor: Cholesky::empty(dim),
            hessian,
            of_row: match config.metric_rows {
                MetricRows::All => Vec::new(),
                MetricRows::Subsample => vec![0.0; dim * dim],
            },
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
        let model = oracle.rows()?;
        let mut posterior = EstimatedPosterior::new(
            model,
            &mut state.expansion,
            &mut state.subsample,
            &mut state.scratch,
        );
        let accept_rows = posterior.renew(&mut state.place, at.iter, streams)?;
        let variance = posterior.last.variance;
        if config.metric_rows == MetricRows::Subsample && posterior.has_own_curvature() {
            // Given the subsample, which stays as it is until the trajectory has ended, any metric that it determines leaves the target
            // invariant.
            let (hessian, of_row) = (&mut state.hessian, &mut state.of_row);
            posterior.curvature(MetricRows::Subsample, hessian, of_row);
            if set_metric(&mut state.metric, &mut state.factor, hessian).is_err() {
                posterior.curvature(MetricRows::All, hessian, of_row);
                set_metric(&mut state.metric, &mut state.factor, hessian)
                    .map_err(|_not_positive| indefinite(at.iter))?;
            }
        }
        let outcome = match config.dynamics {
            Dynamics::Fixed(length) => fixed_trajectory(
                length,
                state.step_size,
                &mut state.place,
                &state.metric,
                &mut state.tree,
                &mut posterior,
                &mut streams.noise,
            )?,
            Dynamics::Doubling(_) => {
                let step_size = state.step_size;
                let summary = state.tree.transition(
                    &mut state.place,
                    &state.metric,
                    step_size,
                    &mut posterior,
                    &mut streams.noise,
                )?;
                Outcome {
                    accept: summary.accept,
                    step_size,
                    num_leapfrog: summary.num_leapfrog,
                    energy: summary.energy,
                    sign: 1.0,
                    depth: summary.depth,
                    divergent: summary.divergent,
                }
            }
        };
        let (rows, num_obs) = (posterior.rows, model.num_obs());
        info[..COLUMNS.len()].copy_from_slice(&[
            outcome.accept,
            accept_rows,
            outcome.step_size,
            outcome.num_leapfrog as f64,
            variance,
            state.subsample.len() as f64 / num_obs as f64,
            outcome.energy,
        ]);
        let rest = &mut info[COLUMNS.len()..];
        let order = state.expansion.order() as f64;
        match config.dynamics {
            Dynamics::Fixed(_) if V::SIGNED => rest.fill(outcome.sign),
            Dynamics::Fixed(_) => rest.copy_from_slice(&[order]),
            Dynamics::Doubling(_) => rest.copy_from_slice(&[
                outcome.depth as f64,
                f64::from(u8::from(outcome.divergent)),
                order,
            ]),
        }
        oracle.datum_grads += rows;
        match at.phase {
            Phase::Warmup { length } if state.frozen == 0 => {
                adapt(config, length, at.iter, outcome.accept, state, oracle)
            }
            _ => Ok(()),
        }
    }

    fn position(state: &State) -> &[f64] {
        &state.place.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.place.u);
        state.expansion.visit(visitor);
        state.subsample.visit(visitor);
        state.metric.visit(visitor);
        visitor.scalar("step_size", &mut state.step_size);
        state.averaging.visit(visitor);
        visitor.counter("warmup_iter", &mut state.warmup_iter);
        visitor.counter("frozen", &mut state.frozen);
        visitor.slice("sum_of_draws", &mut state.sum);
        visitor.counter("summed_draws", &mut state.summed);
    }
}

pub(in crate::samplers) fn indefinite(iter: u64) -> StepError {
    StepError::not_positive("the curvature at the control-variate centre", iter)
}

/// Makes `metric` that of `curvature` (D×D).
fn set_metric(
    metric: &mut Metric,
    factor: &mut Cholesky,
    curvature: &[f64],
) -> Result<(), NotPositiveDefinite> {
    factor.factor(curvature)?;
    metric.replace_inverse(|inverse| factor.write_inverse(inverse))
}

/// A leapfrog trajectory of the given length, accepted or rejected.
fn fixed_trajectory(
    length: f64,
    step_size: f64,
    place: &mut Place,
    metric: &Metric,
    tree: &mut Tree,
    posterior: &mut EstimatedPosterior<'_>,
    rng: &mut ChainRng,
) -> Result<Outcome, StepError> {
    let steps = divide(length, step_size);
    let point = tree.spare();
    point.launch(place, metric, rng);
    let sign = posterior.last.sign;
    let travel = point.travel(metric, steps, posterior)?;
    let accept = travel.acceptance();
    let accepted = rng.random::<f64>() < accept;
    if accepted {
        place.copy_from(&point.at);
    }
    let (energy, sign) = match accepted {
        true => (travel.end, posterior.last.sign),
        false => (travel.start, sign),
    };
    Ok(Outcome {
        accept,
        step_size: steps.1,
        num_leapfrog: travel.num_leapfrog,
        energy,
        sign,
        depth: 0,
        divergent: false,
    })
}

/// See [`Sampler::FOLLOW`]: the subsample stays, and the energy with all rows is computed at the same points.
fn follow(
    config: &Config,
    state: &mut State,
    steps: usize,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
) -> Result<Trajectory, StepError> {
    let model = oracle.rows()?;
    let mut posterior = EstimatedPosterior::new(
        model,
        &mut state.expansion,
        &mut state.subsample,
        &mut state.scratch,
    );
    let place = &mut state.place;
    place.log_density = posterior.log_density(&place.u, &mut place.grad)?;
    let point = state.tree.spare();
    point.launch(place, &state.metric, rng);
    let step_size = match config.dynamics {
        Dynamics::Fixed(length) => divide(length, state.step_size).1,
        Dynamics::Doubling(_) => state.step_size,
    };
    // Positions with their kinetic energies.
    let mut points: Vec<(Vec<f64>, f64)> = Vec::new();
    let errors = energy_errors(
        point,
        &state.metric,
        (steps, step_size),
        &mut posterior,
        |point| points.push((point.at.u.clone(), 0.5 * dot(&point.p, &point.v))),
    )?;
    let mut grad = vec![0.0; state.place.u.len()];
    let mut of_all_rows = Vec::with_capacity(points.len());
    for (u, kinetic) in &points {
        of_all_rows.push(kinetic - oracle.exact(u, &mut grad)?);
    }
    let start = of_all_rows[0];
    for energy in &mut of_all_rows {
        *energy -= start;
    }
    Ok(Trajectory {
        step_size,
        errors,
        of_all_rows: Some(of_all_rows),
    })
}

/// After an iteration of warm-up: learns the step size, and moves the control-variate centre at half of warm-up if the chain is
/// elsewhere.
fn adapt(
    config: &Config,
    length: Option<u64>,
    iter: u64,
    accept: f64,
    state: &mut State,
    oracle: &mut Oracle,
) -> Result<(), StepError> {
    if config.step_size.is_none() {
        state.step_size = state.averaging.learn(accept);
    }
    state.warmup_iter += 1;
    let length = length.unwrap_or(0);
    let (window, due) = match config.renew_every {
        // The step size needs some time after the last renewal.
        Some(every) => {
            let due = state.warmup_iter.is_multiple_of(every);
            (true, due && state.warmup_iter + LEAST_DRAWS <= length)
        }
        None => {
            let half = length / 2;
            let window = state.warmup_iter > half / 2 && state.warmup_iter <= half;
            (window, window && state.warmup_iter == half)
        }
    };
    if window {
        axpy(1.0, &state.place.u, &mut state.sum);
        state.summed += 1;
    }
    if !due || state.summed < LEAST_DRAWS {
        return Ok(());
    }
    let dim = state.sum.len();
    let mean = &mut state.sum;
    for mean in mean.iter_mut() {
        *mean /= state.summed as f64;
    }
    let model = oracle.rows()?;
    let Some(centre) = oracle.centre() else {
        return Ok(());
    };
    let away = |j: usize| (mean[j] - state.expansion.u[j]).abs();
    let near = (0..dim).all(|j| away(j) <= MOVED * centre.covariance[j * dim + j].sqrt());
    if near && config.renew_every.is_none() {
        return Ok(());
    }
    state.expansion.move_to(model, mean, &mut state.scratch);
    if config.renew_every.is_some() {
        state.sum.fill(0.0);
        state.summed = 0;
    }
    state.hessian.copy_from_slice(&state.expansion.curvature);
    model.add_neg_hessian_log_prior(&state.expansion.u, &mut state.hessian);
    let rows = state.subsample.current();
    state
        .subsample
        .expand(rows, &state.expansion, model, &mut state.scratch);
    set_metric(&mut state.metric, &mut state.factor, &state.hessian)
        .map_err(|_not_positive| indefinite(iter))?;
    if config.step_size.is_none() {
        state.averaging.restart(state.step_size);
    }
    oracle.datum_grads += 2 * oracle.num_obs() as u64;
    Ok(())
}

#[cfg(test)]
mod tests;
