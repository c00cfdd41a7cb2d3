//! What `auto` chooses, how the other samplers rank, and why, in a sentence each.
//!
//! The rule: an exact sampler as long as one is affordable, those that pass over all rows before those that do not, then
//! the one with the smallest bias. What is affordable is
//! decided by counting work, never by a clock, so that the same data get the same advice on every machine.
//!
//! A sampler says what the adviser must know in its [`SamplerSpec`] and, where the ordinary does not fit, in
//! [`Sampler::ADVICE`](super::Sampler::ADVICE); nothing here names a sampler.

use super::langevin::centred_batch;
use super::{Family, REGISTRY, SamplerEntry, SamplerSpec, Target};
use crate::base::numerals::thousands;
use crate::models::Model;

/// Effective draws of an ordinary run, all chains and warm-up: 4 × (1000 + 1000).
const DRAWS: f64 = 8000.0;
/// Gradients per NUTS transition after adaptation on a posterior that is near normal: trees of 7 or 15 leaves.
pub(super) const LEAPFROGS: f64 = 10.0;
/// Cost of one row of a full gradient per column, in nanoseconds, on one core of an ordinary machine.
const COLUMN_NANOS: f64 = 0.8;
/// The same per row, whatever the number of columns.
const ROW_NANOS: f64 = 4.0;
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
    /// So many passes over all rows, times D to a power.
    Passes {
        /// Passes with one parameter.
        passes: f64,
        /// Power of D.
        by_dim: f64,
    },
    /// So many steps with minibatches centred at the mode, whose size does not grow with the rows.
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
    /// The same, after those of [`Self::Auto`] that are as good: exact without passes over all rows, for tall data.
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
    /// What it is for.
    pub standing: Standing,
    /// Whether it takes the posterior to be nearly normal.
    pub normal: bool,
    /// Whether it goes group by group, which mixes well where groups have many rows.
    pub grouped: bool,
}

impl Traits {
    /// Of a sampler that says nothing: an alternative at some tens of passes per effective draw.
    pub const ORDINARY: Self = Self {
        work: Work::Passes {
            passes: 30.0,
            by_dim: 0.5,
        },
        standing: Standing::Alternative,
        normal: false,
        grouped: false,
    };

    /// The same with `passes` · D^`by_dim` passes for an effective draw.
    #[must_use]
    pub const fn passes(self, passes: f64, by_dim: f64) -> Self {
        Self {
            work: Work::Passes { passes, by_dim },
            ..self
        }
    }

    /// The same with `steps` minibatches centred at the mode for an effective draw.
    #[must_use]
    pub const fn centred(self, steps: f64) -> Self {
        Self {
            work: Work::Centred { steps },
            ..self
        }
    }

    /// The same with another standing.
    #[must_use]
    pub const fn standing(self, standing: Standing) -> Self {
        Self { standing, ..self }
    }

    /// The same for a sampler that goes group by group.
    #[must_use]
    pub const fn grouped(self) -> Self {
        Self {
            grouped: true,
            ..self
        }
    }

    /// The same for a sampler that takes the posterior to be nearly normal.
    #[must_use]
    pub const fn normal(self) -> Self {
        Self {
            normal: true,
            ..self
        }
    }
}

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
    /// Whether it can sample this posterior at all.
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
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Size and curvature.
    pub target: Target,
    /// Samplers that refuse the model, and why: what follows "Sampler `id` ".
    pub refusals: Vec<(&'static str, String)>,
    /// Seconds that the user has, if there is a limit.
    pub max_seconds: Option<f64>,
}

impl Facts {
    /// What `model` and its `target` tell, with the user's time limit.
    pub fn new(model: &dyn Model, target: &Target, max_seconds: Option<f64>) -> Self {
        Self {
            target: *target,
            refusals: refusals(model),
            max_seconds,
        }
    }
}

/// Samplers that refuse `model`, and why: what follows "Sampler `id` ".
pub fn refusals(model: &dyn Model) -> Vec<(&'static str, String)> {
    REGISTRY
        .iter()
        .filter_map(|entry| Some((entry.spec.id, (entry.suits)(model).err()?)))
        .collect()
}

/// Seconds that a NUTS run of ordinary length takes on an ordinary machine: an order of magnitude, for choosing.
pub fn nuts_secs(num_obs: usize, dim: usize) -> f64 {
    DRAWS * LEAPFROGS * row_secs(num_obs as f64, dim)
}

/// Seconds of an ordinary machine for one gradient of `rows` rows.
fn row_secs(rows: f64, dim: usize) -> f64 {
    let row = ROW_NANOS + COLUMN_NANOS * dim as f64;
    rows * row * 1e-9 / CORES
}

/// One registered sampler as the adviser sees it.
struct Judged {
    spec: &'static SamplerSpec,
    traits: Traits,
    /// Why it cannot be used.
    refusal: Option<String>,
    /// Seconds of an ordinary run.
    secs: f64,
    affordable: bool,
    /// What it is for with this posterior.
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
        let refused = facts.refusals.iter().find(|(id, _why)| *id == spec.id);
        let refusal = match (refused, target.difference_rows) {
            (Some((_id, why)), _) => Some(format!("not for this model: it {why}")),
            (None, None) if spec.needs_mode => {
                Some("it starts from the posterior's peak, which was not found".to_owned())
            }
            _ => None,
        };
        let kappa = target.difference_rows.unwrap_or(n);
        let rows = match traits.work {
            Work::Passes { passes, by_dim } => passes * (dim.max(1) as f64).powf(by_dim) * n,
            Work::Centred { steps } => steps * (centred_batch(kappa) as f64).min(n),
        };
        // A row touches the coefficients of its group only.
        let columns = target.hierarchy.map_or(dim, |hierarchy| hierarchy.terms);
        let secs = DRAWS * row_secs(rows, columns);
        let small_groups = target.hierarchy.is_some_and(|hierarchy| {
            n < ROWS_FOR_GROUPS * (hierarchy.groups * hierarchy.terms) as f64
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
            secs,
            affordable: secs <= facts.max_seconds.unwrap_or(PATIENCE_SECS),
            centred_works: !matches!(traits.work, Work::Centred { .. })
                || kappa < CENTRED_SHARE * n,
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
    fn order_of_auto(&self) -> (u8, u8, bool) {
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
        )
    }

    fn time(&self) -> String {
        format!("about {} on four cores", duration(self.secs))
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

/// The sampler for `facts`, and the rank of all others.
pub fn advise(facts: &Facts) -> Advice {
    let mut judged: Vec<Judged> = REGISTRY
        .iter()
        .map(|entry| Judged::of(entry, facts))
        .collect();
    judged.sort_by(|a, b| {
        let by_rank = a.tier().cmp(&b.tier());
        by_rank.then(a.secs.total_cmp(&b.secs))
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
    if chosen.exact() && facts.target.simplex.is_some() {
        return CONJUGATE.to_owned();
    }
    if chosen.exact() && chosen.spec.family == Family::Mixture {
        return format!("{title}: it is exact, and of the samplers of partitions it mixes best");
    }
    if chosen.exact() && chosen.traits.grouped {
        return format!(
            "{title}: it is exact, and groups of so many rows depend little on each other ({time})"
        );
    }
    if chosen.exact() && facts.target.difference_rows.is_none() {
        return format!(
            "{title}: it is exact, and no posterior mode was found, which the faster samplers start from"
        );
    }
    if chosen.exact() && chosen.affordable {
        return format!("{title}: it is exact, and with {rows} rows affordable ({time})");
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
            duration(exact.secs)
        ),
        None => format!(
            "{title}: no exact sampler suits, and it takes {time}; check its bias after the run"
        ),
    }
}

/// Seconds in words, to one figure: an estimate deserves no more.
fn duration(secs: f64) -> String {
    match secs {
        s if s < 1.0 => "1 s".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 360_000.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::GaussianRows;
    use crate::samplers::testing::anchored_logistic;

    fn target(num_obs: usize, dim: usize) -> Target {
        Target {
            num_obs,
            dim,
            noise_ratio: Some(1.0),
            difference_rows: Some(dim as f64 + 2.0),
            curvature_range: Some((1.0, 10.0)),
            ..Target::default()
        }
    }

    /// Of a regression with so many rows: what a logistic model refuses is refused.
    fn facts(target: Target) -> Facts {
        let (model, _anchor) = anchored_logistic();
        Facts::new(model.as_ref(), &target, None)
    }

    fn all_targets() -> Vec<Target> {
        let mut all = Vec::new();
        for num_obs in [50, 5000, 100_000, 1_000_000, 50_000_000] {
            for dim in [1, 10, 200] {
                all.push(target(num_obs, dim));
                all.push(Target {
                    num_obs,
                    dim,
                    ..Target::default()
                });
                all.push(Target {
                    difference_rows: Some(num_obs as f64),
                    ..target(num_obs, dim)
                });
            }
        }
        all
    }

    #[test]
    fn small_data_get_the_exact_sampler_and_tall_data_the_fast_one() {
        assert_eq!(advise(&facts(target(5000, 10))).sampler, "nuts");
        assert_eq!(advise(&facts(target(100_000, 3))).sampler, "nuts");
        let tall = advise(&facts(target(5_000_000, 10)));
        assert_eq!(tall.sampler, "zig-zag");
        assert!(tall.reason.contains("exact"), "{}", tall.reason);
        // Where nothing exact suits but what takes hours, the smallest bias.
        let mut facts = facts(target(5_000_000, 10));
        facts.refusals.push(("zig-zag", "needs bounds".to_owned()));
        assert_eq!(advise(&facts).sampler, "sgld-cv");
    }

    #[test]
    fn a_time_limit_decides_what_is_affordable() {
        let mut facts = facts(target(245_057, 4));
        assert_eq!(advise(&facts).sampler, "nuts");
        facts.max_seconds = Some(5.0);
        assert_eq!(advise(&facts).sampler, "zig-zag");
        facts.max_seconds = Some(1e-3);
        assert_eq!(advise(&facts).sampler, "sgld-cv");
        facts.target = target(5_000_000, 10);
        facts.max_seconds = Some(1e5);
        assert_eq!(advise(&facts).sampler, "nuts");
    }

    #[test]
    fn without_a_mode_or_with_heavy_rows_it_is_nuts_whatever_it_takes() {
        let tall = target(50_000_000, 10);
        let no_mode = Target {
            num_obs: tall.num_obs,
            dim: 10,
            ..Target::default()
        };
        assert_eq!(advise(&facts(no_mode)).sampler, "nuts");
        let heavy = Target {
            difference_rows: Some(4e7),
            ..tall
        };
        let advice = advise(&facts(heavy));
        assert_eq!(advice.sampler, "nuts");
        assert!(
            advice.reason.contains("50\u{202f}000\u{202f}000 rows"),
            "{}",
            advice.reason
        );
    }

    #[test]
    fn every_registered_sampler_gets_one_place_and_one_sentence() {
        for target in all_targets() {
            let Facts {
                refusals: refused, ..
            } = facts(target);
            let advice = advise(&facts(target));
            let ranking: Vec<Candidate> = advice.ranking().collect();
            assert_eq!(ranking.len(), REGISTRY.len());
            for entry in REGISTRY {
                let mine: Vec<&Candidate> = ranking
                    .iter()
                    .filter(|candidate| candidate.sampler == entry.spec.id)
                    .collect();
                assert_eq!(mine.len(), 1, "{}", entry.spec.id);
                let reason = &mine[0].reason;
                assert!(!reason.is_empty() && !reason.contains(". ") && !reason.ends_with('.'));
                // A sampler that needs the mode is not offered without one.
                let lacks = entry.spec.needs_mode && target.difference_rows.is_none();
                let refused = refused.iter().any(|(id, _why)| *id == entry.spec.id);
                assert_eq!(mine[0].fits, !lacks && !refused, "{}", entry.spec.id);
            }
            // Those that cannot be used come last.
            let firsts = ranking.iter().take_while(|candidate| candidate.fits);
            let fitting = ranking.iter().filter(|candidate| candidate.fits);
            assert_eq!(firsts.count(), fitting.count());
        }
    }

    #[test]
    fn comparisons_are_never_recommended_while_there_is_another() {
        for target in all_targets() {
            for max_seconds in [None, Some(1e-3), Some(1e9)] {
                let advice = advise(&Facts {
                    max_seconds,
                    ..facts(target)
                });
                let entry = super::super::find(advice.sampler).unwrap();
                let standing = entry.advice.standing;
                assert!(
                    matches!(standing, Standing::Auto | Standing::Tall),
                    "{}",
                    advice.sampler
                );
            }
        }
    }

    #[test]
    fn samplers_that_refuse_the_model_are_last_with_their_reason_and_auto_goes_on() {
        let mut facts = facts(target(5000, 10));
        facts.refusals = vec![("nuts", "needs rows".to_owned())];
        let advice = advise(&facts);
        assert_ne!(advice.sampler, "nuts");
        let last = advice.alternatives.last().unwrap();
        assert_eq!((last.sampler, last.fits), ("nuts", false));
        assert_eq!(last.reason, "not for this model: it needs rows");
        // Even where nothing suits there is an answer, and it says so.
        facts.refusals = REGISTRY
            .iter()
            .map(|entry| (entry.spec.id, "needs rows".to_owned()))
            .collect();
        assert!(advise(&facts).reason.contains("no sampler suits"));
    }

    #[test]
    fn refusals_come_from_the_samplers() {
        let model = GaussianRows::simulated(100, 2, 1);
        let facts = Facts::new(&model, &target(100, 2), None);
        for entry in REGISTRY {
            let refused = facts.refusals.iter().any(|(id, _why)| *id == entry.spec.id);
            assert_eq!(refused, (entry.suits)(&model).is_err(), "{}", entry.spec.id);
        }
    }

    #[test]
    fn probabilities_of_categories_are_drawn_directly() {
        let simplex = Some(crate::samplers::SimplexTarget {
            count_noise: 1.0,
            rate_noise: 1.0,
        });
        let advice = advise(&Facts {
            target: Target {
                simplex,
                ..target(5_000_000, 10)
            },
            ..Facts::default()
        });
        assert_eq!(advice.sampler, "conjugate");
        assert_eq!(advice.reason, CONJUGATE);
        for other in &advice.alternatives {
            assert!(crate::samplers::find(other.sampler).is_some());
        }
    }

    #[test]
    fn large_groups_are_sampled_by_groups_and_small_ones_jointly() {
        let (model, _anchor) = crate::samplers::testing::anchored_groups();
        let hierarchy = Some(crate::samplers::HierarchyTarget {
            groups: 25,
            terms: 4,
        });
        let advise_for = |num_obs| {
            let target = Target {
                hierarchy,
                ..target(num_obs, 114)
            };
            advise(&Facts::new(model.as_ref(), &target, None)).sampler
        };
        assert_eq!(advise_for(500), "nuts");
        assert_eq!(advise_for(245_057), "gibbs-groups");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(duration(0.2), "1 s");
        assert_eq!(duration(170.0), "3 min");
        assert_eq!(duration(7300.0), "2 h");
        assert_eq!(duration(864_000.0), "10 days");
    }
}
