//! What `auto` chooses, how the other samplers rank, and why, in a sentence each.
//!
//! The rule: an exact sampler as long as one is affordable, those that pass over all rows before those that do not, then
//! the one with the smallest bias. What is affordable is
//! decided by counting work, never by a clock, so that the same data get the same advice on every machine.
//!
//! A sampler says what the adviser must know in its [`SamplerSpec`] and, where the ordinary does not fit, in
//! [`Sampler::ADVICE`](super::Sampler::ADVICE); nothing here names a sampler.

use super::groups::mixed::marginal::draw_work;
use super::langevin::centred_batch;
use super::{REGISTRY, Refusal, SamplerEntry, SamplerSpec, Target};
use crate::models::mixed::GroupTerm;
use crate::models::{MixedEffects, Model};
use crate::oracle::Centre;
use ergodic_base::numerals::{thousands, time_range};
use ergodic_base::settings::Settings;

/// Effective draws of an ordinary run, all chains and warm-up: 4 × (1000 + 1000).
const DRAWS: f64 = 8000.0;
/// Gradients per NUTS transition after adaptation on a posterior that is near normal: trees of 7 or 15 leaves.
pub(super) const LEAPFROGS: f64 = 10.0;
/// Cost of one row of a full gradient per column, in nanoseconds, on one core of an ordinary machine.
const COLUMN_NANOS: f64 = 0.8;
/// Cost of one row of a full gradient besides its columns, in nanoseconds.
const ROW_NANOS: f64 = 4.0;
/// Cost of one row of a full gradient per group term, in nanoseconds: effects are gathered and their slopes scattered.
const GROUP_TERM_NANOS: f64 = 20.0;
/// Cost of a step besides its rows, in nanoseconds: the same, and per coordinate.
const PASS_NANOS: f64 = 1500.0;
const COORDINATE_NANOS: f64 = 10.0;
/// Cost of an entry of a dense metric, in nanoseconds.
const METRIC_NANOS: f64 = 0.4;
/// Largest D with a dense metric whatever the curvature: learning D(D+1)/2 covariances from 500 draws makes sense up to
/// there.
const DENSE_UP_TO: usize = 100;
/// Cost of a multiplication and addition in small matrices, in nanoseconds.
const OPERATION_NANOS: f64 = 0.7;
/// Cores that an ordinary machine gives to a run.
const CORES: f64 = 4.0;
/// Longest time for an exact run, in seconds of that machine, before a stochastic-gradient sampler is recommended, where
/// the user gives no limit.
const PATIENCE_SECS: f64 = 60.0;
/// Rows per parameter from which a posterior is as good as normal.
const ROWS_FOR_NORMAL: f64 = 1000.0;
/// Rows per coefficient of a group from which groups are nearly independent of their means and spread, so that samplers
/// that go group by group mix: a row has information about 0.15, and the spread of groups is about 1 where nothing is known.
const ROWS_FOR_GROUPS: f64 = 20.0;
/// Share of the rows that κ may be for control variates to pay: centred gradients must be better than plain ones, κ < ρ N.
const CENTRED_SHARE: f64 = 0.1;

/// Work for one effective draw of a posterior near normal: orders of magnitude, for choosing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// A number of exact passes, times D to a power: each is over all rows or, where the model has such, over sums that say all of
    /// them. Passes follow a path, which is longer where the posterior is far from normal.
    Passes {
        /// Passes with one parameter.
        passes: f64,
        /// Power of D.
        by_dim: f64,
    },
    /// Gradients of single rows, counted in passes over all rows, times D to a power: sums do not help.
    Rows {
        /// Passes with one parameter.
        passes: f64,
        /// Power of D.
        by_dim: f64,
    },
    /// Operations on effects of groups, whatever the number of rows.
    Effects,
    /// A number of steps with minibatches centred at the mode, whose size does not grow with the rows.
    Centred {
        /// Steps.
        steps: f64,
    },
}

/// What a sampler is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// `auto` may take it.
    Auto,
    /// `auto` may take it after those of [`Self::Auto`] that are as good: exact without passes over all rows, for tall data.
    Tall,
    /// A choice for those who want it; `auto` takes it only where it may take nothing else.
    Alternative,
    /// For comparison with others; never recommended.
    Comparison,
}

/// What the adviser knows about a sampler besides its description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Work for an effective draw.
    pub work: Work,
    /// What the sampler is for.
    pub standing: Standing,
    /// Whether the sampler takes the posterior to be nearly normal.
    pub normal: bool,
    /// Whether the sampler goes group by group, which mixes well where groups have many rows.
    pub grouped: bool,
    /// Whether the point that it expands around follows the draws in warm-up.
    pub recentres: bool,
    /// Passes over the rows that each chain makes before its first step, with D² operations per row.
    pub passes_first: f64,
    /// Why the sampler is chosen where it is, after "it is exact, and", where that is not how many rows there are.
    pub because: Option<&'static str>,
}

impl Traits {
    /// Default traits of a sampler: an alternative that sees as many rows as some tens of passes per effective draw.
    pub const ORDINARY: Self = Self {
        work: Work::Rows {
            passes: 30.0,
            by_dim: 0.5,
        },
        standing: Standing::Alternative,
        normal: false,
        grouped: false,
        recentres: false,
        passes_first: 0.0,
        because: None,
    };

    /// Default traits of a sampler that sees all rows at each step: as many, by exact passes.
    pub const FULL_DATA: Self = Self::ORDINARY.passes(30.0, 0.5);

    /// The traits with `passes` · D^`by_dim` exact passes for an effective draw.
    #[must_use]
    pub const fn passes(self, passes: f64, by_dim: f64) -> Self {
        Self {
            work: Work::Passes { passes, by_dim },
            ..self
        }
    }

    /// The traits with the rows of `passes` · D^`by_dim` passes, one by one, for an effective draw.
    #[must_use]
    pub const fn row_passes(self, passes: f64, by_dim: f64) -> Self {
        Self {
            work: Work::Rows { passes, by_dim },
            ..self
        }
    }

    /// The traits with `steps` minibatches centred at the mode for an effective draw.
    #[must_use]
    pub const fn centred(self, steps: f64) -> Self {
        Self {
            work: Work::Centred { steps },
            ..self
        }
    }

    /// The traits of a sampler whose draws cost operations on effects of groups.
    #[must_use]
    pub const fn by_effects(self) -> Self {
        Self {
            work: Work::Effects,
            ..self
        }
    }

    /// The traits with another standing.
    #[must_use]
    pub const fn standing(self, standing: Standing) -> Self {
        Self { standing, ..self }
    }

    /// The traits of a sampler that goes group by group.
    #[must_use]
    pub const fn grouped(self) -> Self {
        Self {
            grouped: true,
            ..self
        }
    }

    /// The traits of a sampler whose point of expansion follows the draws in warm-up.
    #[must_use]
    pub const fn recentring(self) -> Self {
        Self {
            recentres: true,
            ..self
        }
    }

    /// The traits of a sampler whose chains each pass over all rows once before their first step.
    #[must_use]
    pub const fn expanding_rows(self) -> Self {
        Self {
            passes_first: 1.0,
            ..self
        }
    }

    /// The traits of a sampler that is chosen because of what follows "it is exact, and".
    #[must_use]
    pub const fn because(self, reason: &'static str) -> Self {
        Self {
            because: Some(reason),
            ..self
        }
    }

    /// The traits of a sampler that takes the posterior to be nearly normal.
    #[must_use]
    pub const fn normal(self) -> Self {
        Self {
            normal: true,
            ..self
        }
    }
}

/// How times are known before a run.
const COUNTED: &str = "by a count of operations; the run itself tells more";

/// Why conjugate draws are taken where there are such.
pub const CONJUGATE: &str =
    "Conjugate draws: they are exact and independent, at one pass over the rows";

/// A sampler in order of recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Identifier.
    pub sampler: &'static str,
    /// One sentence: why, or why not.
    pub reason: String,
    /// Whether the sampler can sample this posterior at all.
    pub fits: bool,
}

/// What to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Identifier of the sampler that `auto` means.
    pub sampler: &'static str,
    /// Why, in one sentence.
    pub reason: String,
    /// All others, best first; those that cannot sample this posterior last.
    pub alternatives: Vec<Candidate>,
}

impl Advice {
    /// All samplers in order, the recommended one first.
    pub fn ranking(&self) -> impl Iterator<Item = Candidate> {
        let first = Candidate {
            sampler: self.sampler,
            reason: self.reason.clone(),
            fits: true,
        };
        std::iter::once(first).chain(self.alternatives.iter().cloned())
    }
}

/// What advice is made from.
#[derive(Clone, Default)]
pub struct Facts {
    /// Size and curvature.
    pub target: Target,
    /// Samplers that refuse the model, and why.
    pub refusals: Vec<Refusal>,
    /// Seconds that the user has, if there is a limit.
    pub max_seconds: Option<f64>,
    /// Cores of this machine, for the times that are told; the choice does not depend on them.
    pub cores: Option<usize>,
}

impl Facts {
    /// What `model` and its `target` tell, with the user's time limit.
    pub fn new(model: &dyn Model, target: &Target, max_seconds: Option<f64>) -> Self {
        Self {
            target: target.clone(),
            refusals: refusals(model),
            max_seconds,
            cores: None,
        }
    }
}

/// Samplers that refuse `model`, and why.
pub fn refusals(model: &dyn Model) -> Vec<Refusal> {
    let refusals = REGISTRY
        .iter()
        .filter_map(|entry| (entry.suits)(model).err());
    refusals.collect()
}

/// Samplers that take `model` and would cost more than passes over all rows by default, as measured around its mode.
pub fn too_dear(model: &dyn Model, target: &Target, centre: &Centre) -> Vec<Refusal> {
    let suited = REGISTRY.iter().filter(|entry| (entry.suits)(model).is_ok());
    suited
        .filter_map(|entry| (entry.affords)(&Settings::default(), target, model, centre).err())
        .collect()
}

/// How far a posterior is from the near-normal one that [`Work`] is told for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wander {
    /// Length of trajectories relative to those of a near-normal posterior: the least, the usual and the most seen.
    lengths: [f64; 3],
}

impl Wander {
    fn of(target: &Target) -> Self {
        // Effects of groups and their standard deviations: trajectories of 20 to 500 steps where ten would do, unless the
        // coordinates of effects are nearly independent of these.
        if let Some(view) = target.mixed_effects() {
            let lengths = if view.is_whitened() {
                [1.0, 1.0, 4.0]
            } else {
                [2.0, 12.0, 50.0]
            };
            return Self { lengths };
        }
        // Without a mode nothing is known of scales and correlations before the warm-up.
        if !target.has_mode() {
            return Self {
                lengths: [1.0, 1.0, 100.0],
            };
        }
        let long = longer_trajectories(target);
        Self {
            lengths: [0.5 * long, long, 2.0 * long],
        }
    }

    /// Factors on the cost of `entry`: samplers that go step by step need the square of a trajectory's length.
    fn factors(self, entry: &SamplerEntry) -> [f64; 3] {
        match entry.advice.work {
            Work::Passes { by_dim, .. } => {
                let power = if by_dim > 0.0 { 2 } else { 1 };
                self.lengths.map(|length| length.powi(power))
            }
            Work::Rows { .. } | Work::Effects | Work::Centred { .. } => [0.5, 1.0, 2.0],
        }
    }
}

/// How much longer trajectories get that know the scales of single coordinates alone: by the square root of the condition
/// number that is left, of which a near-normal posterior has about 9; 1 where the whole covariance is known.
pub(super) fn longer_trajectories(target: &Target) -> f64 {
    match target.scaled_condition() {
        Some(condition) if !dense_pays(target) => (condition.sqrt() / 3.0).max(1.0),
        _ => 1.0,
    }
}

/// Whether a dense metric is worth its D² operations per step: always where there are few coordinates; above, where the
/// curvature at the mode tells that trajectories with scales alone would cost more.
pub(super) fn dense_pays(target: &Target) -> bool {
    let dim = target.dim as f64;
    if target.dim <= DENSE_UP_TO {
        return true;
    }
    let Some(condition) = target.scaled_condition() else {
        return false;
    };
    let gradient = target.rows_of_pass() * row_nanos(columns(target)) + PASS_NANOS;
    let metric = 2.0 * dim * dim * METRIC_NANOS;
    gradient + metric < gradient * (condition.sqrt() / 3.0)
}

/// Seconds that a NUTS run of ordinary length takes on an ordinary machine: an order of magnitude, for choosing.
pub fn nuts_secs(num_obs: usize, dim: usize) -> f64 {
    DRAWS * LEAPFROGS * row_secs(num_obs as f64, row_nanos(dim))
}

/// Seconds that a NUTS run of ordinary length takes on a machine with `cores` cores, of which each chain uses one.
pub fn nuts_secs_on(num_obs: usize, dim: usize, cores: usize) -> f64 {
    nuts_secs(num_obs, dim) * CORES / (cores as f64).clamp(1.0, CORES)
}

/// Seconds that gradients of `rows` rows take.
pub(crate) fn pass_secs(rows: f64, target: &Target) -> f64 {
    row_secs(rows, nanos(target))
}

/// Coefficients and effects that a row depends on.
fn columns(target: &Target) -> usize {
    if let Some(view) = target.hierarchy() {
        return view.num_terms();
    }
    let of_effects = |view: &dyn MixedEffects| {
        view.num_coefficients() + view.terms().iter().map(GroupTerm::width).sum::<usize>()
    };
    target.mixed_effects().map_or(target.dim, of_effects)
}

/// Seconds of an ordinary machine for an effective draw of a near-normal posterior, all its cores at work.
pub(crate) fn work_secs(entry: &SamplerEntry, target: &Target) -> f64 {
    let Some(rows) = work_rows(entry, target) else {
        let operations = target.mixed_effects().map_or(f64::INFINITY, draw_work);
        return operations * OPERATION_NANOS * 1e-9 / CORES;
    };
    let mut rest = 0.0;
    if let Work::Passes { .. } = entry.advice.work {
        let passes = rows / target.rows_of_pass();
        rest = passes * (PASS_NANOS + COORDINATE_NANOS * target.dim as f64);
    }
    row_secs(rows, nanos(target)) + rest * 1e-9 / CORES
}

/// Gradients of rows for an effective draw of a near-normal posterior; `None` where the cost does not lie in rows.
fn work_rows(entry: &SamplerEntry, target: &Target) -> Option<f64> {
    let (n, dim) = (target.num_obs as f64, target.dim);
    let times = |passes, by_dim| passes * (dim.max(1) as f64).powf(by_dim);
    match entry.advice.work {
        Work::Passes { passes, by_dim } => Some(times(passes, by_dim) * target.rows_of_pass()),
        Work::Rows { passes, by_dim } => Some(times(passes, by_dim) * n),
        Work::Centred { steps } => {
            let kappa = target.difference_rows().unwrap_or(n);
            Some(steps * centred_batch(kappa).map_or(n, |batch| (batch as f64).min(n)))
        }
        Work::Effects => None,
    }
}

/// Seconds of an ordinary machine for one gradient of `rows` rows of `nanos` nanoseconds each.
fn row_secs(rows: f64, nanos: f64) -> f64 {
    rows * nanos * 1e-9 / CORES
}

/// Nanoseconds for one row of `target` on one core.
fn nanos(target: &Target) -> f64 {
    let terms = (target.mixed_effects()).map_or(0, |view| view.terms().len());
    row_nanos(columns(target)) + GROUP_TERM_NANOS * terms as f64
}

fn row_nanos(columns: usize) -> f64 {
    ROW_NANOS + COLUMN_NANOS * columns as f64
}

/// One registered sampler as the adviser sees it.
struct Judged {
    spec: &'static SamplerSpec,
    traits: Traits,
    /// Why the sampler cannot be used.
    refusal: Option<String>,
    /// Seconds of an ordinary run: the least, the usual, the most.
    secs: [f64; 3],
    /// Cores that these are meant for: those of an ordinary machine, and those that there are.
    cores: f64,
    affordable: bool,
    /// What the sampler is for with this posterior.
    standing: Standing,
    /// Whether its minibatch gradients are better than plain ones here.
    centred_works: bool,
    /// Whether the posterior is as normal as it needs.
    normal_enough: bool,
}

impl Judged {
    fn of(entry: &'static SamplerEntry, facts: &Facts) -> Self {
        let (spec, traits, target) = (&entry.spec, entry.advice, &facts.target);
        let (n, dim) = (target.num_obs as f64, target.dim);
        let refused = facts.refusals.iter().find(|it| it.sampler == spec.id);
        let refusal = match (refused, target.has_mode()) {
            (Some(it), _) => Some(format!("not for this model: it {}", it.reason)),
            (None, false) if spec.own_steps => Some(
                "it takes its steps from the posterior mode, which was not found; with a `step_size` of your own it does without"
                    .to_owned(),
            ),
            (None, false) if spec.needs_mode => {
                Some("it starts from the posterior mode, which was not found".to_owned())
            }
            _ => None,
        };
        let near_normal = DRAWS * work_secs(entry, target);
        let factors = Wander::of(target).factors(entry);
        let small_groups = target.hierarchy().is_some_and(|view| {
            n < ROWS_FOR_GROUPS * (view.num_groups() * view.num_terms()) as f64
        });
        let standing = match traits.standing {
            Standing::Auto if traits.grouped && small_groups => Standing::Alternative,
            standing => standing,
        };
        Self {
            spec,
            standing,
            traits,
            refusal,
            secs: factors.map(|factor| factor * near_normal),
            cores: facts.cores.map_or(CORES, |cores| cores as f64),
            // The choice of a class of samplers rests on what is counted, not on how long trajectories may get.
            affordable: near_normal <= facts.max_seconds.unwrap_or(PATIENCE_SECS),
            centred_works: !matches!(traits.work, Work::Centred { .. })
                || target
                    .difference_rows()
                    .is_some_and(|kappa| kappa < CENTRED_SHARE * n),
            normal_enough: !traits.normal || n >= ROWS_FOR_NORMAL * dim as f64,
        }
    }

    fn exact(&self) -> bool {
        self.spec.bias.is_none()
    }

    /// The smaller the better; ties are decided by the time.
    fn tier(&self) -> u8 {
        let comparison = self.standing == Standing::Comparison;
        match () {
            () if self.refusal.is_some() => 5,
            () if comparison => 4,
            () if self.exact() && self.affordable => 0,
            () if self.exact() => 2,
            () if self.centred_works && self.normal_enough => 1,
            () => 3,
        }
    }

    /// The smaller the better for `auto`.
    fn order_of_auto(&self) -> (u8, u8, bool, bool) {
        let standing = match self.standing {
            Standing::Auto | Standing::Tall => 0,
            Standing::Alternative => 1,
            Standing::Comparison => 2,
        };
        // A sampler without a refusal comes before all that have one.
        (
            standing + 3 * u8::from(self.refusal.is_some()),
            self.tier(),
            self.standing == Standing::Tall,
            // Of samplers that are as good the one made for the model: its draws are nearly independent.
            self.traits.work != Work::Effects || !self.affordable,
        )
    }

    fn time(&self) -> String {
        // A run has four chains: more cores help it little.
        let cores = self.cores.clamp(1.0, CORES);
        let [least, _usual, most] = self.secs.map(|secs| secs * CORES / cores);
        let cores = match cores {
            1.0 => "one core".to_owned(),
            CORES => "four cores".to_owned(),
            cores => format!("{cores:.0} cores"),
        };
        format!("{} on {cores}", time_range(least, most))
    }

    /// Why, or why not, for one that is not recommended.
    fn sentence(&self) -> String {
        if let Some(refusal) = &self.refusal {
            return refusal.clone();
        }
        let time = self.time();
        let mut text = match (self.exact(), self.affordable) {
            (true, true) => format!("exact; {time}"),
            (true, false) => format!("exact, but it would take {time}"),
            (false, _) => format!("approximate; {time}"),
        };
        if !self.centred_works {
            text.push_str(", and single rows weigh too much for its minibatches");
        }
        if self.traits.normal {
            text.push_str(if self.normal_enough {
                "; takes the posterior to be nearly normal"
            } else {
                "; takes the posterior to be nearly normal, which so few rows per parameter do not promise"
            });
        }
        if self.standing == Standing::Comparison {
            text = format!("for comparison only: {text}");
        }
        text
    }
}

/// The exact sampler that makes an ordinary run for least.
#[derive(Clone, Debug, PartialEq)]
pub struct Cheapest {
    /// Identifier.
    pub sampler: &'static str,
    /// Passes over the rows that the run takes at most, as far as the posterior is near normal; `None` where its cost does not lie
    /// in rows.
    pub passes: Option<f64>,
    /// How long it takes, in words.
    pub time: String,
}

/// The exact sampler that makes an ordinary run for least, of those that `auto` may take: those that pass over all rows, those made
/// for the model, and, where there are enough rows for a posterior that is near normal, those for tall data. `None` where all refuse.
pub fn cheapest_exact(facts: &Facts) -> Option<Cheapest> {
    let target = &facts.target;
    let tall = target.num_obs as f64 >= ROWS_FOR_NORMAL * target.dim as f64;
    let may_be = |judged: &Judged| match judged.standing {
        Standing::Auto => true,
        Standing::Tall => tall,
        Standing::Alternative | Standing::Comparison => false,
    };
    let candidates = REGISTRY.iter().filter_map(|entry| {
        let mut judged = Judged::of(entry, facts);
        let fits = judged.exact() && judged.refusal.is_none() && judged.centred_works;
        if !fits || !may_be(&judged) {
            return None;
        }
        let first = CORES * entry.advice.passes_first * target.num_obs as f64;
        let squares = (target.dim * target.dim) as f64;
        let per_row = nanos(target) + OPERATION_NANOS * squares;
        judged.secs = judged.secs.map(|secs| secs + row_secs(first, per_row));
        Some((entry, judged, first))
    });
    let (entry, judged, first) = candidates.min_by(|a, b| a.1.secs[1].total_cmp(&b.1.secs[1]))?;
    let [_least, usual, _most] = Wander::of(target).factors(entry);
    // Moves of units between clusters are no gradients of rows.
    let is_partition = (target.model.as_ref()).is_some_and(|model| model.partition().is_some());
    let rows = work_rows(entry, target).filter(|_| !is_partition);
    Some(Cheapest {
        sampler: entry.spec.id,
        passes: rows.map(|rows| (first + DRAWS * usual * rows) / target.num_obs.max(1) as f64),
        time: judged.time(),
    })
}

/// The sampler for `facts`, and the rank of all others.
pub fn recommend(facts: &Facts) -> Advice {
    let mut judged: Vec<Judged> = REGISTRY
        .iter()
        .map(|entry| Judged::of(entry, facts))
        .collect();
    judged.sort_by(|a, b| {
        let by_rank = a.tier().cmp(&b.tier());
        by_rank.then(a.secs[1].total_cmp(&b.secs[1]))
    });
    // The registry is not empty, and a stable minimum keeps the order of time within a tier.
    let best = (0..judged.len())
        .min_by_key(|&k| judged[k].order_of_auto())
        .unwrap_or(0);
    let chosen = judged.remove(best);
    let reason = reason(&chosen, &judged, facts);
    Advice {
        sampler: chosen.spec.id,
        reason,
        alternatives: judged
            .iter()
            .map(|judged| Candidate {
                sampler: judged.spec.id,
                reason: judged.sentence(),
                fits: judged.refusal.is_none(),
            })
            .collect(),
    }
}

/// Why the recommended sampler.
fn reason(chosen: &Judged, others: &[Judged], facts: &Facts) -> String {
    let title = chosen.spec.title;
    let rows = thousands(facts.target.num_obs as u64);
    let time = chosen.time();
    if let Some(refusal) = &chosen.refusal {
        return format!("{title}, though no sampler suits: {refusal}");
    }
    if chosen.exact() && facts.target.simplex().is_some() {
        return CONJUGATE.to_owned();
    }
    if let (true, Some(because)) = (chosen.exact(), chosen.traits.because) {
        return format!("{title}: it is exact, and {because}");
    }
    if chosen.exact() && chosen.traits.grouped {
        return format!(
            "{title}: it is exact, and groups of so many rows depend little on each other ({time}, {COUNTED})"
        );
    }
    if chosen.exact() && !facts.target.has_mode() {
        return format!(
            "{title}: it is exact, and no posterior mode was found, which the faster samplers start from"
        );
    }
    let has_sums = facts.target.rows_of_pass() < facts.target.num_obs as f64;
    if chosen.exact() && has_sums && matches!(chosen.traits.work, Work::Passes { .. }) {
        return format!(
            "{title}: it is exact, and needs the {rows} rows only once, for sums of squares that say all of them ({time}, {COUNTED})"
        );
    }
    if chosen.exact() && chosen.affordable {
        let model = facts.target.model.as_ref();
        let affordable = match model.is_some_and(|model| model.rows().is_none()) {
            true => "it is exact and affordable".to_owned(),
            false => format!("it is exact, and with {rows} rows affordable"),
        };
        return format!("{title}: {affordable} ({time}, {COUNTED})");
    }
    if chosen.exact() {
        return format!(
            "{title}: it is exact, and single rows weigh too much for minibatch gradients; with {rows} rows it takes {time}"
        );
    }
    let exact = others
        .iter()
        .find(|other| other.exact() && other.tier() == 2);
    match exact {
        Some(exact) => format!(
            "{title}: a step uses few of the {rows} rows, {time}, while {}, which is exact, would take {}; check its bias \
             after the run",
            exact.spec.title,
            exact.time()
        ),
        None => format!(
            "{title}: no exact sampler suits, and it takes {time}; check its bias after the run"
        ),
    }
}

#[cfg(test)]
mod tests;
