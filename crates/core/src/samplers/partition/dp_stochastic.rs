//! Stochastic slice sampling of a Dirichlet-process mixture of multinomials: with exact Cox-Ingersoll-Ross transitions
//! (`dp-scir`), and with Riemannian Langevin steps (`dp-sgrld`), with which the former is compared.
//!
//! Sources: Baker, Fearnhead, Fox and Nemeth (2018), section 5.2 and appendix D.3; Baker (2018), chapter 5 and appendix B.4.
//!
//! | | one step with a minibatch S of n units, m̂_j = (N/n) Σ_S 1(z_i = j), ĉ_j likewise for counts of items |
//! |---|---|
//! | weights | v_j = X_j/(X_j + Y_j), X_j ← 1 + m̂_j, Y_j ← α + Σ_{l>j} m̂_l, ω_j = v_j Π_{l<j} (1 − v_l), j up to the last occupied |
//! | parameters | θ_j = T_j/ΣT_j, T_jk ← a + ĉ_jk |
//! | slices | u_i ~ U(0, ω_{z_i}), i in S |
//! | concentration | α ~ Gamma(b₁ + Z, b₂ − Σ_{j≤Z} log(1 − v_j)) |
//! | extension | further ω, θ from the prior until Σω > 1 − min u (the sources print this inequality reversed) |
//! | labels | P(z_i = j) ∝ 1(ω_j > u_i) f(x_i given θ_j), i in S; all others stay |
//!
//! "← b" is a step of a process whose stationary distribution is Gamma(b, 1): for `dp-scir` the transition of [`crate::samplers::cir`]
//! over time h, for `dp-sgrld` that of [`crate::samplers::simplex::sgrld_simplex`] in the expanded mean. The sources leave open how v_j, which is
//! Beta, is simulated by SCIR, and that counts of a minibatch are scaled by N/n: two gamma variables, and yes. Ours
//! besides: chains start from the exact conditional distributions given a first partition, components in order of size.
//!
//! `step_size` and `stick_step` are Langevin times h of θ and v in which the process relaxes at rate 1; for `dp-sgrld` the
//! sources' step times 1 + (observations)/(prior sum) of each component, so that 1 is a Newton step here too. With `pace` =
//! `common` it takes the sources' one step for all components: then large ones bound it and small ones hardly move.
//!
//! Both may decay as h (1 + m/τ)^(−κ) at minibatch m (Baker 2018, section 5.5.1), by `decay_offset` τ and `decay_exponent` κ; draws count alike.
//!
//! **Bias.** Noise of minibatches inflates the variances of v and θ as in `scir`; `dp-sgrld` also holds probabilities away
//! from 0. Labels outside S wait, and with noisy θ clusters neither split nor die as they should: both get stuck, as Baker et al.
//! (2018) say in appendix E.1. **Components** are cut off at 128. **Cost.** n densities and Z·V random variables a step.
//! **Not for** anything an exact sampler can do; they are here to reproduce and to compare.

use std::marker::PhantomData;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Gamma};

use crate::models::dp_mixture::AlphaPrior;
use crate::models::dp_mixture::counts::Counts;
use crate::models::dp_mixture::mixture::LogSum;
use crate::models::{Mixture, Model};
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::cir::log_gamma;
use crate::samplers::langevin::STEPS_PER_DRAW;
use crate::samplers::minibatch_settings::{MinibatchSettings, PlainRows};
use crate::samplers::partition::components::normalise;
use crate::samplers::partition::{self, Partition, Start, pick_log};
use crate::samplers::process::{CoxIngersollRoss, Process, Riemann};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::schedule::Decay;
use crate::samplers::topics::topics_stochastic::{EXPONENT, OFFSET};
use crate::samplers::{
    InfoColumn, Output, OutputSpec, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick, Unsuitable,
};
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_base::{ChainRng, Streams};
use ergodic_diagnostics::Remedy;

/// Most components; what is left of the stick beyond them is given up.
const MOST: usize = 128;
/// Units per minibatch, those of the paper's experiment.
const UNITS: usize = 1000;
/// Minibatches per draw.
const STEPS: u64 = 5;
/// Both step sizes of the paper's experiment with SCIR.
const TIME: f64 = 0.1;

const STEP: Field = Field::real("Time per minibatch", 1e-9, 100.0, Some(TIME))
    .help("Langevin time h of the components' probabilities per minibatch, in units of the time in which they relax")
    .why("that of the paper's experiment");

ergodic_base::settings! {
    /// Settings, with the process's own `O`.
    pub struct StochasticSettings<O> {
        step_size: f64 = STEP;
        stick_step: f64 = Field { label: "Time of weights", ..STEP }.help("The same for the weights of components");
        pub own: O;
        decay_offset: f64 = Field::real(OFFSET.label, 1e-3, 1e12, Some(1000.0))
            .help(OFFSET.help)
            .why("without effect while nothing decays");
        decay_exponent: f64 = Field::real(EXPONENT.label, 0.0, 1.0, Some(0.0))
            .help(EXPONENT.help)
            .why("the steps of the paper's experiment stay as they are");
        rows: PlainRows;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        start: Start;
    }
}

ergodic_base::choice! {
    /// What step sizes are for a component.
    pub enum Speed {
        /// In units of the time in which it relaxes.
        Own = "own",
        /// Langevin times.
        Common = "common",
    }
}

ergodic_base::settings! {
    /// What [`DpSgrld`] has beside; the exact transitions of [`DpScir`] relax at the same rate all.
    pub struct Pace {
        pace: Speed = Speed::field("Pace of components", Some(Speed::Own))
            .help(
                "own: step sizes are in units of the time in which each component relaxes; common: they are the Langevin times \
                 themselves, as in the source, so that small components crawl where large ones keep up",
            )
            .why("clusters differ in size by orders of magnitude, and so do the times in which they relax");
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(
        "components",
        "Components up to the last occupied one, empty ones included",
    ),
    InfoColumn::new(STEP_SIZE, "Langevin time of the last minibatch"),
];

/// The sampler `dp-scir`.
pub type DpScir = Stochastic<CoxIngersollRoss>;

/// The sampler `dp-sgrld`.
pub type DpSgrld = Stochastic<Riemann>;

/// `dp-scir` and `dp-sgrld`, which differ in the process `P`.
pub struct Stochastic<P>(PhantomData<fn() -> P>);

/// A [`Process`] with which sticks and components move.
pub trait Slicing: Process {
    /// The description.
    const SPEC: SamplerSpec;
    /// Settings of its own.
    type Own: Declared;
    /// Whether step sizes are Langevin times of all components.
    fn is_common(settings: &Self::Own) -> bool;
}

impl Slicing for CoxIngersollRoss {
    const SPEC: SamplerSpec = SamplerSpec {
        id: "dp-scir",
        title: "Stochastic slice sampler, SCIR",
        about: "Clusters by minibatches of units, probabilities by the Cox-Ingersoll-Ross process: the paper's experiment",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Large-scale stochastic sampling from the probability simplex\", NeurIPS 2018",
        formula: "v_j by two CIR gammas of shapes 1 + m̂_j and α + Σ_{l>j} m̂_l, θ_j by CIR of shapes a + ĉ_j; u_i, z_i for i in S",
        family: SamplerFamily::Mixture,
        fields: StochasticSettings::<()>::FIELDS,
        info: INFO,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Noise of minibatches widens components, and chains get stuck in partitions with too many or too few clusters",
        ),
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    type Own = ();

    fn is_common((): &()) -> bool {
        false
    }
}

impl Slicing for Riemann {
    const SPEC: SamplerSpec = SamplerSpec {
        id: "dp-sgrld",
        title: "Stochastic slice sampler, SGRLD",
        about: "The same with Riemannian Langevin steps: what SCIR is compared with, wrong near 0",
        cite: "Patterson, Teh, NeurIPS 2013; Baker, Fearnhead, Fox, Nemeth, NeurIPS 2018, section 5.2",
        fields: StochasticSettings::<Pace>::FIELDS,
        formula: "as dp-scir with T' = |T + τ (a + ĉ − (1 + Σĉ/ΣT) T) + sqrt(2τT) ξ|, τ = h A/(A + observations)",
        bias: Some(
            "Probabilities of rare items are held away from 0, noise of minibatches widens components, and chains get stuck",
        ),
        ..<CoxIngersollRoss as Slicing>::SPEC
    };

    type Own = Pace;

    fn is_common(settings: &Pace) -> bool {
        settings.pace == Speed::Common
    }
}

/// Settings in force.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    step_size: f64,
    stick_step: f64,
    /// Whether step sizes are Langevin times of all components.
    common: bool,
    /// Decay of both step sizes.
    decay: Decay,
    minibatch: MinibatchSettings,
    steps_per_draw: u64,
    start: Start,
}

/// Sticks, components and labels.
#[derive(Clone, Debug)]
pub struct State {
    /// What is reported, labels by first appearance.
    partition: Partition,
    /// Component of each unit (N).
    z: Vec<f64>,
    /// Units of each component, and components up to the last occupied one.
    sizes: Vec<f64>,
    count: usize,
    /// Logarithms of X and Y, two per component.
    sticks: Vec<f64>,
    /// Logarithms of T, component by component (V each).
    log_t: Vec<f64>,
    /// Logarithms of the sums of T, component by component (one for each block).
    log_sums: Vec<f64>,
    /// Logarithms of weights ω, and of what is left of the stick.
    log_weights: Vec<f64>,
    log_rest: f64,
    /// Steps since the last draw.
    steps: u64,
    /// Working memory: the minibatch, estimated counts of units and items, slices, densities.
    rows: Vec<u32>,
    units: Vec<f64>,
    items: Vec<f64>,
    slices: Vec<f64>,
    logs: Vec<f64>,
}

/// The categories of a mixture that the samplers [`Sampler::suits`].
fn counts_of(mixture: &Mixture) -> Result<&Counts, StepError> {
    (mixture.counts.as_ref()).ok_or(StepError::Lacks("counts of items"))
}

impl<P: Slicing> Sampler for Stochastic<P> {
    type Settings = StochasticSettings<P::Own>;
    type Config = Config;
    type State = State;
    const NEEDS_DENSITY: bool = false;
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const ON_SIMPLEX: bool = true;
    const OUTPUTS: &'static [OutputSpec] = partition::OUTPUTS;
    const SPEC: SamplerSpec = P::SPEC;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        let mixture = partition::suits(model)?;
        if mixture.numeric.is_some() || mixture.counts.is_none() {
            return Err(Unsuitable::NumericColumns);
        }
        Ok(())
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        Ok(Config {
            step_size: settings.step_size,
            stick_step: settings.stick_step,
            common: P::is_common(&settings.own),
            decay: Decay::falling(settings.decay_offset, settings.decay_exponent),
            minibatch: (settings.rows).settle_with(target, UNITS.min(target.num_obs)),
            steps_per_draw: *settings.steps_per_draw.get_or_insert(STEPS),
            start: settings.start,
        })
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        config.minibatch.install(Estimator::Plain, oracle);
        let batch = oracle.batch();
        let mixture = partition::mixture(oracle)?;
        let partition = Partition::start(mixture, config.start, u0.len(), &mut streams.noise);
        State::new::<P>(mixture, partition, batch, &mut streams.noise)
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.draw_rows(&mut streams.batch, &mut state.rows);
        let mixture = partition::mixture(oracle)?;
        let rng = &mut streams.noise;
        let minibatch = at.iter * config.steps_per_draw + state.steps;
        let share = config.decay.share(minibatch);
        let config = &Config {
            step_size: share * config.step_size,
            stick_step: share * config.stick_step,
            ..*config
        };
        state.step::<P>(config, mixture, at.iter, rng)?;
        info.copy_from_slice(&[state.count as f64, config.step_size]);
        state.steps += 1;
        if state.steps == config.steps_per_draw {
            state.steps = 0;
            state.report(mixture)?;
        }
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.partition.position
    }

    fn output(state: &State, k: usize) -> Output<'_> {
        state.partition.output(k)
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        state.partition.visit(visitor);
        let mut count = state.count as u64;
        visitor.counter("count", &mut count);
        state.count = count as usize;
        visitor.counter("steps", &mut state.steps);
        visitor.slice("components", &mut state.z);
        visitor.slice("sizes", &mut state.sizes);
        visitor.slice("sticks", &mut state.sticks);
        visitor.slice("log_theta", &mut state.log_t);
    }
}

impl State {
    /// The state at a partition: sticks and components from their exact conditional distributions.
    fn new<P: Process>(
        mixture: &Mixture,
        partition: Partition,
        batch: usize,
        rng: &mut ChainRng,
    ) -> Result<Self, StepError> {
        let part = counts_of(mixture)?;
        let (items, blocks) = (part.num_items(), part.blocks.len());
        // Heaviest first, as sticks like it; clusters beyond the last component join it.
        let mut order: Vec<u32> = partition.clusters.active().to_vec();
        let size = |slot: &u32| partition.clusters.record(*slot)[0];
        order.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
        let mut component = vec![0_usize; order.len()];
        for (j, &slot) in order.iter().enumerate() {
            component[slot as usize] = j.min(MOST - 1);
        }
        let mut state = Self {
            z: Vec::with_capacity(partition.labels.len()),
            sizes: vec![0.0; MOST],
            count: order.len().min(MOST),
            sticks: vec![0.0; 2 * MOST],
            log_t: vec![0.0; MOST * items],
            log_sums: vec![0.0; MOST * blocks],
            log_weights: vec![f64::NEG_INFINITY; MOST],
            log_rest: 0.0,
            steps: 0,
            rows: Vec::with_capacity(batch),
            units: vec![0.0; MOST],
            items: vec![0.0; MOST * items],
            slices: Vec::with_capacity(batch),
            logs: Vec::with_capacity(MOST),
            partition,
        };
        for unit in 0..state.partition.labels.len() {
            let j = component[state.partition.labels[unit] as usize];
            state.z.push(j as f64);
            state.sizes[j] += 1.0;
            for entry in part.unit(unit) {
                state.items[j * items + entry.item as usize] += f64::from(entry.count);
            }
        }
        let mut after: f64 = state.sizes.iter().sum();
        for j in 0..state.count {
            let m = state.sizes[j];
            after -= m;
            state.draw::<P>(
                part,
                j,
                [1.0 + m, state.partition.alpha + after],
                m + after,
                true,
                rng,
            );
        }
        Ok(state)
    }

    /// Draws stick and probabilities of component `j` from gamma distributions: the conditional ones given its counts of
    /// items in working memory, or the prior.
    fn draw<P: Process>(
        &mut self,
        part: &Counts,
        j: usize,
        shapes: [f64; 2],
        units: f64,
        given: bool,
        rng: &mut ChainRng,
    ) {
        let sticks = &mut self.sticks[2 * j..2 * j + 2];
        for (log, shape) in sticks.iter_mut().zip(shapes) {
            *log = log_gamma(rng, shape);
        }
        let sum = log_gamma(rng, P::shape_of_sum(shapes[0] + shapes[1] - units, units));
        rescale(sticks, sum);
        let items = part.num_items();
        for block in &part.blocks {
            let range = j * items + block.items.start..j * items + block.items.end;
            let counts = self.items[range.clone()].iter();
            let (logs, mut seen) = (&mut self.log_t[range.clone()], 0.0);
            for (log, &count) in logs.iter_mut().zip(counts) {
                let count = if given { count } else { 0.0 };
                seen += count;
                *log = log_gamma(rng, block.concentration + count);
            }
            let prior = block.concentration * logs.len() as f64;
            let sum = log_gamma(rng, P::shape_of_sum(prior, seen));
            rescale(logs, sum);
        }
    }

    /// One minibatch.
    fn step<P: Process>(
        &mut self,
        config: &Config,
        mixture: &Mixture,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let part = counts_of(mixture)?;
        let items = part.num_items();
        let scale = mixture.num_units() as f64 / self.rows.len() as f64;
        self.units[..self.count].fill(0.0);
        self.items[..self.count * items].fill(0.0);
        for &row in &self.rows {
            let j = self.z[row as usize] as usize;
            self.units[j] += scale;
            for entry in part.unit(row as usize) {
                self.items[j * items + entry.item as usize] += scale * f64::from(entry.count);
            }
        }
        let alpha = self.partition.alpha;
        let total = mixture.num_units() as f64;
        let mut after: f64 = self.units[..self.count].iter().sum();
        let mut exact_after = total;
        let pace = |relax: f64| if config.common { 1.0 } else { relax };
        for j in 0..self.count {
            let m = self.units[j];
            after = (after - m).max(0.0);
            // Of exactly known sizes, so that the step does not depend on the minibatch's noise.
            let relax = (1.0 + alpha) / (1.0 + alpha + exact_after);
            exact_after -= self.sizes[j];
            let sticks = &mut self.sticks[2 * j..2 * j + 2];
            let shapes = |k: usize| [[1.0, m], [alpha, after]][k];
            P::step(sticks, shapes, config.stick_step, pace(relax), rng);
            for (b, block) in part.blocks.iter().enumerate() {
                let range = j * items + block.items.start..j * items + block.items.end;
                let counts = &self.items[range.clone()];
                let logs = &mut self.log_t[range.clone()];
                let prior = block.concentration * counts.len() as f64;
                let observed = part.mean_observations(b) * self.sizes[j];
                let shapes = |k: usize| [block.concentration, counts[k]];
                P::step(
                    logs,
                    shapes,
                    config.step_size,
                    pace(prior / (prior + observed)),
                    rng,
                );
            }
        }
        self.weigh(part);
        self.update_alpha::<P>(mixture, rng);
        self.extend::<P>(part, rng);
        self.move_units(part, rng);
        let finite = self.log_weights[..self.count].iter().all(|w| !w.is_nan())
            && self.log_sums[..self.count * part.blocks.len()]
                .iter()
                .all(|s| s.is_finite());
        if finite {
            Ok(())
        } else {
            Err(StepError::not_finite("the weight of a component", iter))
        }
    }

    /// Logarithms of weights and of sums from sticks and components.
    fn weigh(&mut self, part: &Counts) {
        self.log_rest = 0.0;
        for j in 0..self.count {
            self.weigh_one(part, j);
        }
    }

    fn weigh_one(&mut self, part: &Counts, j: usize) {
        let mut sticks = [self.sticks[2 * j], self.sticks[2 * j + 1]];
        normalise(&mut sticks);
        self.log_weights[j] = self.log_rest + sticks[0];
        self.log_rest += sticks[1];
        let (items, blocks) = (part.num_items(), part.blocks.len());
        for (b, block) in part.blocks.iter().enumerate() {
            let range = j * items + block.items.start..j * items + block.items.end;
            let logs = &self.log_t[range];
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
            self.log_sums[j * blocks + b] = largest + sum.ln();
        }
    }

    /// α | v (Escobar and West 1995). Given v the sums X + Y depend on α and are drawn again: the sources forget them.
    fn update_alpha<P: Process>(&mut self, mixture: &Mixture, rng: &mut ChainRng) {
        let AlphaPrior::Gamma { shape, rate } = mixture.alpha else {
            return;
        };
        // Σ log(1 − v) is the logarithm of what is left.
        let gamma = Gamma::new(shape + self.count as f64, 1.0 / (rate - self.log_rest));
        if let Ok(gamma) = gamma {
            self.partition.alpha = gamma.sample(rng).max(f64::MIN_POSITIVE);
        }
        let mut from = mixture.num_units() as f64;
        for j in 0..self.count {
            let shape = P::shape_of_sum(1.0 + self.partition.alpha, from);
            rescale(&mut self.sticks[2 * j..2 * j + 2], log_gamma(rng, shape));
            from -= self.sizes[j];
        }
    }

    /// Slices of the minibatch's units, and components from the prior until the rest cannot hold one of them.
    fn extend<P: Process>(&mut self, part: &Counts, rng: &mut ChainRng) {
        self.slices.clear();
        let mut least = f64::INFINITY;
        for &row in &self.rows {
            let log_weight = self.log_weights[self.z[row as usize] as usize];
            let slice = log_weight + (1.0 - rng.random::<f64>()).ln();
            least = least.min(slice);
            self.slices.push(slice);
        }
        while self.log_rest > least && self.count < MOST {
            let j = self.count;
            self.sizes[j] = 0.0;
            self.draw::<P>(part, j, [1.0, self.partition.alpha], 0.0, false, rng);
            self.weigh_one(part, j);
            self.count += 1;
        }
    }

    /// Labels of the minibatch's units; components after the last occupied one are given up.
    fn move_units(&mut self, part: &Counts, rng: &mut ChainRng) {
        for k in 0..self.rows.len() {
            let (unit, slice) = (self.rows[k] as usize, self.slices[k]);
            self.logs.clear();
            for j in 0..self.count {
                let inside = self.log_weights[j] >= slice;
                let log = if inside {
                    self.log_density(part, unit, j)
                } else {
                    f64::NEG_INFINITY
                };
                self.logs.push(log);
            }
            let to = pick_log(&mut self.logs, rng);
            let from = self.z[unit] as usize;
            self.sizes[from] -= 1.0;
            self.sizes[to] += 1.0;
            self.z[unit] = to as f64;
        }
        while self.count > 1 && self.sizes[self.count - 1] == 0.0 {
            self.count -= 1;
        }
    }

    /// Log probability of a unit's items under component `j`.
    #[inline]
    fn log_density(&self, part: &Counts, unit: usize, j: usize) -> f64 {
        let (items, blocks) = (part.num_items(), part.blocks.len());
        let (logs, sums) = (&self.log_t[j * items..], &self.log_sums[j * blocks..]);
        let terms = part.unit(unit).iter().map(|entry| {
            f64::from(entry.count) * (logs[entry.item as usize] - sums[entry.block as usize])
        });
        terms.sum()
    }

    /// What is reported of the present draw; units held out are predicted by its own weights and components.
    fn report(&mut self, mixture: &Mixture) -> Result<(), StepError> {
        let part = counts_of(mixture)?;
        self.weigh(part);
        for (label, z) in self.partition.labels.iter_mut().zip(&self.z) {
            *label = *z as u32;
        }
        self.partition.renew(mixture);
        let n = mixture.num_units();
        for t in 0..mixture.num_held_out() {
            let mut sum = LogSum::of(self.log_rest + mixture.log_alone(n + t));
            for j in 0..self.count {
                sum.add(self.log_weights[j] + self.log_density(part, n + t, j));
            }
            self.partition.held_out[t] = sum.value();
        }
        self.partition.report(mixture);
        Ok(())
    }
}

/// Shifts logarithms so that the sum of their exponentials is that of `log_sum`.
fn rescale(logs: &mut [f64], log_sum: f64) {
    normalise(logs);
    for log in logs {
        *log += log_sum;
    }
}

#[cfg(test)]
mod tests;
