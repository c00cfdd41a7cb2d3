//! Divide and conquer: shards of the rows are sampled apart, and their draws are combined into draws of the posterior
//! (`divide-and-conquer`).
//!
//! References: Scott et al., "Bayes and big data: the consensus Monte Carlo algorithm" (2016; circulated 2013); Neiswanger, Wang
//! and Xing (2014); Wang and Dunson (2013); Baker (2018), section 2.4.2, which compares them with stochastic gradients.
//!
//! **Subposteriors.** With S shards that of shard s is p(θ)^{1/S} Π_{i in s} p(y_i|θ) ([`Shard`]), sampled by `kernel`: any sampler that
//! suits it and whose draws count alike, with settings of its own. Their product is the posterior; how draws of all are combined into draws of it is the business of
//! [`combine`], on the unconstrained scale.
//!
//! **Draws come in batches.** Warm-up of L iterations adapts the samplers of shards and makes, at its end, the first M =
//! `shard_draws` draws of each shard (at most L/2). They are combined into as many draws. While these are recorded one by one,
//! every iteration makes a draw of each shard for the next batch, and so on: each batch is the published procedure once more, so
//! that what it estimates (covariances, densities) errs anew in every batch, and R-hat and standard errors see it. M is at least
//! 10 (D + 1) and 100, also where the warm-up was shorter. The draws of shards after the last batch are not used.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `shards` | S | 10, or N with fewer rows |
//! | `combine` | rule by which draws are combined ([`combine`]) | consensus |
//! | `kernel` | sampler of shards, with its settings in parentheses where they are not left to defaults | nuts |
//! | `shard_draws` | M, draws of each shard that are combined at a time | 500, or 10 (D + 1) |
//! | `bandwidth` | width of kernels beside the rule for normal densities (nonparametric, semiparametric) | 1 |
//! | `sweeps` | passes over the indices of shards for a draw (nonparametric, semiparametric) | 10 |
//! | `accept` | share of pairs that is kept (weierstrass) | 0.1 |
//!
//! **Cost.** For a draw one of each shard: as many row gradients as a draw of `kernel` from all rows, without being exact. It pays
//! where shards are on different machines; here it is for seeing what such a combination does. **Bias.** None for normal
//! subposteriors, as M grows; large where the posterior has several modes or is curved, where shards do not overlap, and for
//! products of kernel density estimates in more than a few dimensions. **Not for** shards of so few rows that their likelihood
//! hardly tells the parameters: p(θ)^{1/S} is then all that holds them.
//!
//! **Groups.** Shards divide the rows of every group, and what the model says of its effects, p(θ_g|μ, Σ), is raised to 1/S with the prior.
//! Where groups have many rows in every shard this is sound, but the root of the skewed posterior of Σ makes averages of shards broad: of
//! eight groups in two shards they have 1.8 times the variance of a mean μ, and ln sd 0.7 standard deviations too large.
//! Where they have few, it is not: the root of the density of an effect that a shard's rows do not hold grows with Σ as
//! |Σ|^{(1 − 1/S)/2}, and with many such groups the subposterior of centred effects has no integral. Scott et al. (2016) give whole groups to
//! shards instead and combine what groups have in common alone, which is not done here.

use std::sync::Arc;

use rand::RngExt as _;

use super::gibbs::{GENERAL, PartSampler};
use super::recommend::{LEAPFROGS, Standing, Traits};
use super::schedule::weighs_draws;
use super::{
    COMBINE_ACCEPT, DIVERGENT, InfoColumn, Kernel, KernelError, Output, OutputSpec, Phase,
    SHARD_MOMENTS, SHARD_RHAT, SIGN, Sampler, SamplerEntry, SamplerFamily, SamplerSpec,
    StateVisitor, Target, Tick, Unsuitable, registry, written,
};
use crate::estimators::{Plan, find_mode_by};
use crate::models::{Model, Shard};
use crate::oracle::{Centre, Oracle, StepError};
use combine::{Combination, Combine, Combiner};
use ergodic_base::settings::{Declared as _, Field, SettingError, Settings};
use ergodic_base::{ChainRng, Control, Streams, substream};
use ergodic_diagnostics::Remedy;

pub mod combine;
mod kernel_product;
mod moments;
#[cfg(test)]
mod tests;
mod weierstrass;

/// Default number of shards: enough that combining them is put to the test, and few enough that each tells something.
const SHARDS: usize = 10;
/// Draws of each shard that are combined at least, also after a warm-up that was cut short: covariances from fewer are noise.
const LEAST_DRAWS: usize = 100;
/// Draws of each shard that are combined at least for every parameter and one more.
const DRAWS_PER_DIM: usize = 10;
/// Default number of draws of each shard.
const DRAWS: usize = 500;
/// Combinations that use kernels.
const KERNELS: &[&str] = &[
    Combine::Nonparametric.word(),
    Combine::Semiparametric.word(),
];
/// The combination of pairs.
const PAIRS: &[&str] = &[Combine::Weierstrass.word()];
/// Most parameters: a chain keeps the draws of all shards, S M D numbers, and copies them before every step.
const MOST_DIM: usize = 200;

ergodic_base::settings! {
    /// Settings of [`DivideAndConquer`].
    pub struct DivideSettings {
        shards: Option<usize> = Field::int("Shards", 1, 10_000, None)
            .help("Parts of equal size that the rows are divided into, S: each is sampled with the S-th root of the prior")
            .why("10, or one for every row where there are fewer");
        combine: Combine = Combine::field("Combination", Some(Combine::Consensus))
            .help(
                "How draws of shards become draws of the posterior: averages weighted by inverse covariances (consensus), the \
                 product of normal approximations (normal) or of kernel density estimates (nonparametric), of both \
                 (semiparametric), or averages of pairs that lie close together (weierstrass)",
            )
            .why("needs no tuning, and is exact where subposteriors are normal");
        kernel: String = Field::text(
            "Sampler of shards",
            GENERAL,
            "sgld(batch=200, step_size=0.1)",
            PartSampler::Nuts.word(),
        )
            .help(
                "Sampler of each shard: any that suits rows and parameters without weights of draws, with settings in parentheses \
                 where they are not left to defaults, as in sgld(batch=200, step_size=0.1)",
            )
            .why("exact, so that all bias is that of the combination");
        shard_draws: Option<usize> = Field::int("Draws per shard", LEAST_DRAWS as i64, 100_000, None)
            .help("Draws of each shard that are combined at a time, M; at most half of the warm-up makes the first ones")
            .why("500, or ten for every parameter where these are more");
        bandwidth: f64 = Field::real("Bandwidth", 0.01, 100.0, Some(1.0))
            .help("Width of kernels beside that of the rule for normal densities; for nonparametric and semiparametric")
            .why("the rule suits subposteriors that are near normal")
            .when("combine", KERNELS);
        sweeps: usize = Field::int("Sweeps", 1, 10_000, Some(10))
            .help("Passes over the shards, in each of which every one proposes another of its draws; for nonparametric and semiparametric")
            .why("costs little beside the draws of shards")
            .when("combine", KERNELS);
        accept: f64 = Field::real("Pairs kept", 0.001, 1.0, Some(0.1))
            .help("Share of random pairs of draws that are close enough to be combined; for weierstrass")
            .why("the default of the authors' R package")
            .when("combine", PAIRS);
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(
        SHARD_RHAT,
        "Largest split R-hat over shards and unconstrained coordinates, of the draws of shards that this draw was combined from",
    ),
    InfoColumn::new(
        COMBINE_ACCEPT,
        "Share of proposals accepted, or of pairs kept, when the draws were combined",
    ),
    InfoColumn::new(
        "divergent_shards",
        "Shards whose trajectory diverged in this iteration",
    ),
];

/// The sampler `divide-and-conquer`.
pub struct DivideAndConquer;

/// Settings in force.
#[derive(Clone)]
pub struct Config {
    shards: usize,
    kernel: ShardSampler,
    /// Draws of each shard that there is room for, and the least that are combined.
    draws: usize,
    least_draws: usize,
    combination: Combination,
}

/// A shard at work.
struct Part {
    oracle: Oracle,
    kernel: Box<dyn Kernel>,
    /// Working memory: information columns of the kernel, and where one of them is.
    info: Vec<f64>,
    divergent: Option<usize>,
    /// Draws for the next batch, row-major.
    draws: Vec<f64>,
}

/// State of [`DivideAndConquer`].
pub struct State {
    u: Vec<f64>,
    parts: Vec<Part>,
    combiner: Combiner,
    /// The present batch of draws, row-major, and what combining it told.
    batch: Vec<f64>,
    rhat: f64,
    accept: f64,
    /// Output [`SHARD_MOMENTS`].
    moments: Vec<f64>,
    /// Draws of a batch; 0 before the first one.
    length: u64,
    /// Draws of each shard for the next batch, which are as many as were recorded of the present one.
    place: u64,
}

/// The sampler of shards, and its settings that are not left to defaults.
#[derive(Clone)]
struct ShardSampler {
    entry: &'static SamplerEntry,
    settings: Settings,
}

impl ShardSampler {
    /// The one of `text` for shards of which `target` is one.
    ///
    /// # Errors
    /// No sampler that is known, one that does not suit the target or whose draws do not count alike, or a setting that it does not take.
    fn read(text: &str, target: &Target) -> Result<Self, SettingError> {
        let unknown = || SettingError::Value {
            key: "kernel".to_owned(),
            takes: format!(
                "a sampler such as {}, with settings as in sgld(batch=200, step_size=0.1)",
                GENERAL.join(", ")
            ),
            value: text.to_owned(),
        };
        let (id, settings) = written::read(text).ok_or_else(unknown)?;
        let entry = registry::find(id).ok_or_else(unknown)?;
        let unfit = |why: String| SettingError::unfit("kernel", why);
        if id == DivideAndConquer::SPEC.id {
            return Err(unfit(
                "takes a sampler that does not divide its rows again; raise `shards` instead"
                    .to_owned(),
            ));
        }
        if let Some(model) = &target.model {
            (entry.suits)(model.as_ref())
                .map_err(|refusal| unfit(format!("asks for one that no shard takes: {refusal}")))?;
            let wants_mode = entry.spec.needs_mode && !entry.spec.own_steps;
            if wants_mode && !target.has_mode() {
                return Err(unfit(format!(
                    "takes {id} only where the mode was found; choose nuts"
                )));
            }
        }
        let in_force = (entry.resolve)(&settings, target)?;
        let has_signs = entry.spec.info.iter().any(|column| column.name == SIGN);
        if has_signs || weighs_draws(&in_force) {
            return Err(unfit(format!(
                "takes samplers whose draws count alike, and those of `{text}` have weights; choose another sampler, or fixed steps"
            )));
        }
        Ok(Self { entry, settings })
    }
}

impl Sampler for DivideAndConquer {
    type Settings = DivideSettings;
    type Config = Config;
    type State = State;

    const SPEC: SamplerSpec = SamplerSpec {
        id: "divide-and-conquer",
        family: SamplerFamily::DivideAndConquer,
        title: "Divide and conquer",
        about: "Samples parts of the rows apart and combines their draws: consensus Monte Carlo, products of densities, Weierstrass",
        cite: "Scott et al. 2016, International Journal of Management Science and Engineering Management 11; Neiswanger, Wang, \
               Xing 2014, UAI; Wang, Dunson 2013, arXiv 1312.4605; Baker 2018, section 2.4.2",
        formula: "θ_s ~ p(θ)^{1/S} Π_{i in s} p(y_i|θ) for each shard s; θ = combination of θ_1 … θ_S",
        fields: DivideSettings::FIELDS,
        info: INFO,
        remedy: Some(Remedy::FewerShards),
        bias: Some(
            "Draws of shards are combined by a rule that is not exact: consensus and products of normal densities are only where every \
             shard gives a normal posterior, products of kernel densities and Weierstrass only as their bandwidths shrink; with several \
             modes, curved posteriors, shards that do not overlap or groups with few rows in a shard the result can be far off",
        ),
        default_warmup: 1500,
        ..SamplerSpec::ORDINARY
    };
    const OUTPUTS: &'static [OutputSpec] = &[OutputSpec {
        name: SHARD_MOMENTS,
        help: "Number of draws of each shard that were last combined, then for each shard mean and variance of every coordinate",
    }];
    // As many rows as its kernel takes, and not exact.
    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(2.0 * LEAPFROGS, 0.0)
        .standing(Standing::Comparison);

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        if model.rows().is_none() {
            return Err(Unsuitable::NoRows);
        }
        match model.dim() {
            dim if dim > MOST_DIM => Err(Unsuitable::TooManyParameters {
                dim,
                most: MOST_DIM,
            }),
            _ => Ok(()),
        }
    }

    fn configure(settings: &mut DivideSettings, target: &Target) -> Result<Config, SettingError> {
        let rows = target.num_obs.max(1);
        let shards = *settings.shards.get_or_insert(SHARDS.min(rows));
        if shards > rows {
            let why = format!("must not exceed the number of rows, which is {rows}");
            return Err(SettingError::unfit("shards", why));
        }
        let whole = target.model.as_ref();
        let first = whole.and_then(|whole| shard(whole, 0, shards).ok());
        let of_shard = Target {
            model: first,
            num_obs: rows / shards,
            ..target.clone()
        };
        let kernel = ShardSampler::read(&settings.kernel, &of_shard)?;
        let least_draws = LEAST_DRAWS.max(DRAWS_PER_DIM * (target.dim + 1));
        let draws = *settings.shard_draws.get_or_insert(DRAWS.max(least_draws));
        if draws < least_draws {
            let why = format!(
                "must be at least {least_draws} with {} parameters",
                target.dim
            );
            return Err(SettingError::unfit("shard_draws", why));
        }
        Ok(Config {
            shards,
            kernel,
            draws,
            least_draws,
            combination: Combination {
                method: settings.combine,
                bandwidth: settings.bandwidth,
                sweeps: settings.sweeps,
                accept: settings.accept,
            },
        })
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = oracle.dim();
        let centres = centres(config.shards, oracle)?;
        let parts = centres
            .into_iter()
            .enumerate()
            .map(|(index, centre)| {
                let shard = shard(oracle.shared_model(), index, config.shards)?;
                let view = oracle.for_model(shard, centre);
                Part::new(config, view, u0, streams)
            })
            .collect::<Result<_, StepError>>()?;
        Ok(State {
            u: u0.to_vec(),
            parts,
            combiner: Combiner::new(&config.combination, config.shards, dim, config.draws),
            batch: vec![0.0; config.draws * dim],
            rhat: f64::NAN,
            accept: f64::NAN,
            moments: vec![0.0; 1 + 2 * config.shards * dim],
            length: 0,
            place: 0,
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
        let rng = &mut streams.noise;
        if let Phase::Warmup { length } = at.phase {
            let length = length.unwrap_or(Self::SPEC.default_warmup);
            let first = length - (config.draws as u64).min(length / 2);
            let adapts = at.iter < first;
            let phase = if adapts {
                Phase::Warmup {
                    length: Some(first),
                }
            } else {
                Phase::Draw
            };
            state.advance(Tick { phase, ..at }, oracle, rng)?;
            if !adapts {
                state.keep();
            }
            state.stand_between();
        } else {
            let short = |state: &State| state.place < config.least_draws as u64;
            while state.length == 0 && short(state) {
                state.advance(at, oracle, rng)?;
                state.keep();
            }
            if state.length == 0 || state.place == state.length {
                state.combine(at.iter, rng)?;
            }
            let (dim, place) = (state.u.len(), state.place as usize);
            state.u.copy_from_slice(&state.batch[place * dim..][..dim]);
            state.advance(at, oracle, rng)?;
            state.keep();
        }
        let divergent = state.parts.iter().filter_map(|part| part.divergence());
        info.copy_from_slice(&[state.rhat, state.accept, divergent.sum()]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn output(state: &State, _k: usize) -> Output<'_> {
        Output::Numbers(if state.length == 0 {
            &[]
        } else {
            &state.moments
        })
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        visitor.slice("shard_moments", &mut state.moments);
        visitor.slice("batch", &mut state.batch);
        visitor.scalar("shard_rhat", &mut state.rhat);
        visitor.scalar("combine_accept", &mut state.accept);
        visitor.counter("length", &mut state.length);
        visitor.counter("place", &mut state.place);
        for part in &mut state.parts {
            part.kernel.visit(visitor);
            for position in part.oracle.minibatch_mut().position_mut() {
                visitor.counter("minibatch", position);
            }
            visitor.slice("draws", &mut part.draws);
        }
    }
}

impl State {
    /// One draw of every shard. Shards draw from streams of their own, keyed by a number that the chain draws: the result does not
    /// depend on threads, and no stream has a position that must be saved.
    fn advance(
        &mut self,
        at: Tick,
        oracle: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let key: u64 = rng.random();
        oracle.for_each_group(&mut self.parts, |_whole, s, part: &mut Part| {
            let stream = |purpose: u64| substream(key, 2 * s as u64 + purpose);
            let mut streams = Streams {
                batch: stream(0),
                noise: stream(1),
            };
            part.advance(at, &mut streams)
        })
    }

    /// Keeps where the shards are for the next batch.
    fn keep(&mut self) {
        let place = self.place as usize;
        for part in &mut self.parts {
            let u = part.kernel.position();
            part.draws[place * u.len()..][..u.len()].copy_from_slice(u);
        }
        self.place += 1;
    }

    /// Makes a batch of the draws that were kept.
    fn combine(&mut self, iter: u64, rng: &mut ChainRng) -> Result<(), StepError> {
        self.length = self.place;
        self.place = 0;
        let length = self.length as usize * self.u.len();
        let key: u64 = rng.random();
        let Self {
            parts,
            combiner,
            batch,
            moments,
            ..
        } = self;
        let combined = combiner
            .combine(
                |s| &parts[s].draws[..length],
                &mut substream(key, 0),
                &mut batch[..length],
            )
            .map_err(|_not_positive| {
                StepError::not_positive("the covariance of the draws of a shard", iter)
            })?;
        moments[0] = self.length as f64;
        combiner.write_moments(&mut moments[1..]);
        self.rhat = combined.rhat;
        self.accept = combined.accept;
        Ok(())
    }

    /// While nothing is combined yet, the position is the mean over shards.
    fn stand_between(&mut self) {
        let share = 1.0 / self.parts.len() as f64;
        self.u.fill(0.0);
        for part in &self.parts {
            ergodic_base::linalg::axpy(share, part.kernel.position(), &mut self.u);
        }
    }
}

impl Part {
    fn new(
        config: &Config,
        mut oracle: Oracle,
        u0: &[f64],
        streams: &mut Streams,
    ) -> Result<Self, StepError> {
        let ShardSampler { entry, settings } = &config.kernel;
        let target = Target::of(&oracle);
        let kernel = (entry.build)(settings, &target, u0, &mut oracle, streams);
        let kernel = kernel.map_err(|error| match error {
            KernelError::Start(error) => error,
            // A step may be too long for the curvature of this shard.
            KernelError::Setting(error) if oracle.centre().is_some() => StepError::Setting(error),
            _ => StepError::Lacks("mode in every shard"),
        })?;
        let columns = entry.spec.info;
        Ok(Self {
            oracle,
            kernel,
            info: vec![f64::NAN; columns.len()],
            divergent: columns.iter().position(|column| column.name == DIVERGENT),
            draws: vec![0.0; config.draws * u0.len()],
        })
    }

    /// One draw; returns the row gradients that it took.
    fn advance(&mut self, at: Tick, streams: &mut Streams) -> Result<u64, StepError> {
        self.oracle.datum_grads = 0;
        for _ in 0..self.kernel.steps_per_draw() {
            self.kernel
                .step(at, &mut self.oracle, streams, &mut self.info)?;
        }
        Ok(self.oracle.datum_grads)
    }

    /// 1 where its last trajectory diverged, for kernels that tell.
    fn divergence(&self) -> Option<f64> {
        self.divergent.map(|k| self.info[k])
    }
}

fn shard(whole: &Arc<dyn Model>, index: usize, count: usize) -> Result<Arc<dyn Model>, StepError> {
    let shard = Shard::of(whole, index, count);
    Ok(Arc::new(shard.ok_or(StepError::Lacks("rows of data"))?))
}

/// The mode of each shard with its curvature, searched for from that of all rows; `None` where there is none of these. A shard may
/// have none although the whole has one.
fn centres(count: usize, oracle: &mut Oracle) -> Result<Vec<Option<Arc<Centre>>>, StepError> {
    let mut centres = vec![None; count];
    let Some(centre) = oracle.centre().cloned() else {
        return Ok(centres);
    };
    let whole = Arc::clone(oracle.shared_model());
    oracle.for_each_group(&mut centres, |_whole, index, found| {
        let shard = shard(&whole, index, count)?;
        let mut plan = Plan::auto();
        plan.start = Some(centre.u.clone());
        let mode = find_mode_by(shard.as_ref(), &plan, &Control::default());
        *found = mode.ok().map(|mode| Arc::new(mode.centre));
        Ok(0)
    })?;
    Ok(centres)
}
