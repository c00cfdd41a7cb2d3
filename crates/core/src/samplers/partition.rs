//! What samplers of partitions share: labels of units, statistics of clusters, the concentration, and what they report.

pub(super) mod dp_gibbs;
pub(super) mod dp_slice;
pub(super) mod dp_stochastic;

use rand::RngExt as _;
use rand_distr::{Beta, Distribution as _, Gamma};

use super::{CLUSTERS, HELD_OUT, Output, OutputSpec, StateVisitor, Unsuitable};
use crate::models::dp_mixture::AlphaPrior;
use crate::models::{Mixture, Model};
use crate::oracle::{Oracle, StepError};
use ergodic_base::settings::Field;
use ergodic_base::{ChainRng, chain_of};

pub(crate) mod components;
pub(super) mod exact;
pub(crate) mod split_merge;

/// Clusters for which memory is there at once; more are made when they are needed.
const ROOM: usize = 64;

ergodic_base::choice! {
    /// How chains start.
    pub enum First {
        /// Chains 1, 3, … with one cluster, the others with many.
        Auto = "auto",
        /// With one cluster.
        One = "one",
        /// With many.
        Many = "many",
    }
}

ergodic_base::settings! {
    /// Settings of a start.
    #[derive(Copy)]
    pub struct Start {
        pub start: First = First::field("Start", Some(First::Auto))
            .help(
                "one: a single cluster; many: several clusters around random units; auto: chains 1, 3, … start with one cluster, \
                 the others with many, so that R-hat sees chains that have not forgotten their start",
            )
            .why("a start with one cluster can be a trap that only another start reveals");
        pub start_clusters: usize = Field::int("Clusters at the start", 1, 10_000, Some(30))
            .help("Number of clusters of chains that start with many, at most one for each unit")
            .why("more than most data have, so that clusters merge rather than wait to be born");
    }
}

/// What samplers of partitions make beside summaries, in the order of [`Partition::output`].
pub const OUTPUTS: &[OutputSpec] = &[
    OutputSpec {
        name: CLUSTERS,
        help: "Cluster of each unit, numbered by first appearance",
    },
    OutputSpec {
        name: HELD_OUT,
        help: "Log predictive density of each unit held out",
    },
];

/// Refuses models that are no mixtures.
pub fn suits(model: &dyn Model) -> Result<&Mixture, Unsuitable> {
    model.partition().ok_or(Unsuitable::NoClusters)
}

/// The mixture of a model that [`suits`].
pub fn mixture(oracle: &Oracle) -> Result<&Mixture, StepError> {
    (oracle.model().partition()).ok_or(StepError::Lacks("clusters"))
}

/// Records of clusters ([`Mixture::width`]) in slots that are used again.
#[derive(Clone, Debug)]
pub struct Clusters {
    width: usize,
    records: Vec<f64>,
    /// Slots in use, in no particular order, and where each stands among them.
    active: Vec<u32>,
    place: Vec<u32>,
    free: Vec<u32>,
}

impl Clusters {
    fn new(width: usize) -> Self {
        Self {
            width,
            records: Vec::with_capacity(ROOM * width),
            active: Vec::with_capacity(ROOM),
            place: Vec::with_capacity(ROOM),
            free: Vec::with_capacity(ROOM),
        }
    }

    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Slots in use.
    pub fn active(&self) -> &[u32] {
        &self.active
    }

    /// The record in a slot.
    #[inline]
    pub fn record(&self, slot: u32) -> &[f64] {
        let start = slot as usize * self.width;
        &self.records[start..start + self.width]
    }

    #[inline]
    fn record_mut(&mut self, slot: u32) -> &mut [f64] {
        let start = slot as usize * self.width;
        &mut self.records[start..start + self.width]
    }

    /// Records of all clusters.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.active.iter().map(|&slot| self.record(slot))
    }

    fn clear(&mut self) {
        self.records.clear();
        self.active.clear();
        self.place.clear();
        self.free.clear();
    }

    /// An empty cluster, which holds the prior once it is settled.
    pub fn open(&mut self) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.record_mut(slot).fill(0.0);
                slot
            }
            None => {
                let slot = self.place.len() as u32;
                self.records.resize(self.records.len() + self.width, 0.0);
                self.place.push(0);
                slot
            }
        };
        self.place[slot as usize] = self.active.len() as u32;
        self.active.push(slot);
        slot
    }

    /// Gives the slot of an empty cluster back.
    pub fn close(&mut self, slot: u32) {
        let place = self.place[slot as usize] as usize;
        self.active.swap_remove(place);
        if let Some(&moved) = self.active.get(place) {
            self.place[moved as usize] = place as u32;
        }
        self.free.push(slot);
    }

    /// Adds a unit and settles.
    #[inline]
    pub fn add(&mut self, mixture: &Mixture, unit: usize, slot: u32) {
        let record = self.record_mut(slot);
        mixture.add(unit, record);
        mixture.settle(record);
    }

    /// Removes a unit and settles; true if none is left.
    #[inline]
    pub fn remove(&mut self, mixture: &Mixture, unit: usize, slot: u32) -> bool {
        let record = self.record_mut(slot);
        mixture.remove(unit, record);
        let empty = record[0] == 0.0;
        if !empty {
            mixture.settle(record);
        }
        empty
    }
}

/// A partition of units, its concentration, and what is reported of it.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Cluster of each unit (N); between steps numbered from 0 by first appearance.
    pub labels: Vec<u32>,
    /// α.
    pub alpha: f64,
    /// Statistics of the clusters.
    pub clusters: Clusters,
    /// Labels that the statistics were built from.
    built: Vec<u32>,
    /// Labels on their way to and from a checkpoint.
    mirror: Vec<f64>,
    /// Reported quantities (Q).
    pub position: Vec<f64>,
    /// Log predictive density of each unit held out.
    pub held_out: Vec<f64>,
    /// Working memory: one number per cluster and one more.
    pub weights: Vec<f64>,
    new_label: Vec<u32>,
}

impl Partition {
    /// The start of a chain, told by its noise stream.
    pub fn start(mixture: &Mixture, start: Start, dim: usize, rng: &mut ChainRng) -> Self {
        let n = mixture.num_units();
        let mut partition = Self {
            labels: vec![0; n],
            alpha: mixture.alpha.mean(),
            clusters: Clusters::new(mixture.width()),
            built: Vec::with_capacity(n),
            mirror: Vec::new(),
            position: vec![f64::NAN; dim],
            held_out: vec![f64::NAN; mixture.num_held_out()],
            weights: Vec::with_capacity(ROOM),
            new_label: Vec::with_capacity(ROOM),
        };
        let many = match start.start {
            First::Auto => chain_of(rng) % 2 == 1,
            First::One => false,
            First::Many => true,
        };
        if many {
            partition.scatter(mixture, start.start_clusters.min(n), rng);
        }
        partition.finish(mixture);
        partition
    }

    /// Clusters around random units, each other unit where it fits: with as many clusters as units all stand alone.
    fn scatter(&mut self, mixture: &Mixture, clusters: usize, rng: &mut ChainRng) {
        let n = self.labels.len();
        // The first of a shuffled list, without shuffling the rest.
        let mut units: Vec<u32> = (0..n as u32).collect();
        for k in 0..clusters {
            units.swap(k, rng.random_range(k..n));
        }
        self.clusters.clear();
        self.labels.fill(u32::MAX);
        for &unit in &units[..clusters] {
            let slot = self.clusters.open();
            self.clusters.add(mixture, unit as usize, slot);
            self.labels[unit as usize] = slot;
        }
        for unit in 0..n {
            if self.labels[unit] == u32::MAX {
                self.weights.clear();
                let records = self.clusters.iter();
                self.weights
                    .extend(records.map(|record| mixture.log_predictive(unit, record)));
                self.labels[unit] = self.clusters.active[pick_log(&mut self.weights, rng)];
            }
        }
    }

    /// Makes the statistics those of the labels.
    pub fn ready(&mut self, mixture: &Mixture) {
        if self.built == self.labels {
            return;
        }
        self.clusters.clear();
        for (unit, &label) in self.labels.iter().enumerate() {
            while self.clusters.len() <= label as usize {
                self.clusters.open();
            }
            mixture.add(unit, self.clusters.record_mut(label));
        }
        for slot in 0..self.clusters.len() as u32 {
            mixture.settle(self.clusters.record_mut(slot));
        }
        self.built.clone_from(&self.labels);
    }

    /// Draws α given the number of clusters (Escobar and West 1995, section 6).
    pub fn update_alpha(&mut self, mixture: &Mixture, rng: &mut ChainRng) {
        self.alpha = draw_alpha(
            &mixture.alpha,
            self.alpha,
            self.clusters.len(),
            self.labels.len(),
            rng,
        );
    }

    /// Numbers labels by first appearance.
    fn number(&mut self) {
        self.new_label.clear();
        let mut next = 0;
        for label in &mut self.labels {
            let old = *label as usize;
            if old >= self.new_label.len() {
                self.new_label.resize(old + 1, u32::MAX);
            }
            if self.new_label[old] == u32::MAX {
                self.new_label[old] = next;
                next += 1;
            }
            *label = self.new_label[old];
        }
    }

    /// Numbers labels and builds the statistics anew, so that rounding does not add up over steps.
    pub fn renew(&mut self, mixture: &Mixture) {
        self.number();
        // Labels may be those of statistics that were changed unit by unit.
        self.built.clear();
        self.ready(mixture);
    }

    /// Numbers labels, renews the statistics, and reports with the components integrated out.
    pub fn finish(&mut self, mixture: &Mixture) {
        self.renew(mixture);
        let n = mixture.num_units();
        for (t, log) in self.held_out.iter_mut().enumerate() {
            *log = mixture.log_next(n + t, self.alpha, self.clusters.iter());
        }
        self.report(mixture);
    }

    /// Writes what is reported of partition, α and densities held out.
    pub fn report(&mut self, mixture: &Mixture) {
        self.weights.clear();
        self.weights
            .extend(self.clusters.iter().map(|record| record[0]));
        self.weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let log_density = mixture.log_density(self.alpha, self.clusters.iter());
        let mean = self.held_out.iter().sum::<f64>() / self.held_out.len() as f64;
        mixture.report(
            self.alpha,
            &self.weights,
            log_density,
            mean,
            &mut self.position,
        );
    }

    /// Output `k` of [`OUTPUTS`].
    pub fn output(&self, k: usize) -> Output<'_> {
        match k {
            0 => Output::Labels(&self.labels),
            _ => Output::Numbers(&self.held_out),
        }
    }

    /// Visits what the next step needs.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        self.mirror.clear();
        self.mirror
            .extend(self.labels.iter().map(|&label| f64::from(label)));
        visitor.slice("labels", &mut self.mirror);
        for (label, value) in self.labels.iter_mut().zip(&self.mirror) {
            *label = *value as u32;
        }
        visitor.scalar("alpha", &mut self.alpha);
        visitor.slice("position", &mut self.position);
        visitor.slice("held_out", &mut self.held_out);
    }
}

/// α given K clusters of N units.
pub fn draw_alpha(
    prior: &AlphaPrior,
    alpha: f64,
    clusters: usize,
    units: usize,
    rng: &mut ChainRng,
) -> f64 {
    let AlphaPrior::Gamma { shape, rate } = *prior else {
        return alpha;
    };
    let (k, n) = (clusters as f64, units as f64);
    let log_eta = Beta::new(alpha + 1.0, n).map_or(0.0, |beta| beta.sample(rng).ln());
    let rate = rate - log_eta;
    let odds = (shape + k - 1.0) / (n * rate);
    let shape = shape + k - f64::from(u8::from(rng.random::<f64>() * (1.0 + odds) >= odds));
    // A draw that rounds to 0 could never leave it.
    Gamma::new(shape, 1.0 / rate).map_or(alpha, |gamma| gamma.sample(rng).max(f64::MIN_POSITIVE))
}

/// Draws an index with probabilities ∝ `weights`.
pub fn pick(weights: &[f64], rng: &mut ChainRng) -> usize {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (k, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return k;
        }
    }
    weights.len() - 1
}

/// Draws an index with probabilities ∝ exp of the values, which are replaced.
pub fn pick_log(logs: &mut [f64], rng: &mut ChainRng) -> usize {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for log in logs.iter_mut() {
        *log = (*log - largest).exp();
    }
    pick(logs, rng)
}

#[cfg(test)]
pub mod tests;
