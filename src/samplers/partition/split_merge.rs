//! Moves that split a cluster or merge two at once, where one unit at a time cannot get from one partition to the other.
//!
//! Jain and Neal (2004): two units are drawn. If they share a cluster, a split is proposed, otherwise the merger of their
//! clusters. The split's proposal comes from restricted Gibbs scans over the units concerned: after [`SCANS`] scans, which
//! make a good launching place, one more gives the proposal and its probability q. With C the union of A and B the split is
//! accepted with probability min(1, α Γ(|A|)Γ(|B|)/Γ(|C|) · m(A)m(B)/m(C) / q), m the marginal likelihood of a cluster, and
//! the merger with the inverse ratio, q being the probability of the scan that would undo it.
//!
//! Any start of the scans will do that knows nothing but the union and the two units drawn. One half of the proposals starts
//! at random sides, as in the source. The other half starts where units have joined the two drawn ones in turn, each given
//! those before it (Dahl 2005): two random halves of thousands of numbers look the same, and scans take long to tell them
//! apart.

use rand::RngExt as _;
use statrs::function::gamma::ln_gamma;

use super::{Clusters, Partition};
use crate::base::rng::ChainRng;
use crate::models::Mixture;

/// Restricted scans before the one that proposes.
const SCANS: usize = 3;

/// Memory of a proposal.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Units of the clusters concerned, but the two drawn.
    members: Vec<u32>,
    /// On which side each is.
    sides: Vec<bool>,
}

/// Both sides of a split while it is being made.
struct Sides {
    slots: [u32; 2],
}

impl Sides {
    /// Log odds d that a unit outside both belongs to the first side, and log(1 + e^d).
    #[inline]
    fn odds(&self, mixture: &Mixture, clusters: &Clusters, unit: usize) -> (f64, f64) {
        let [first, second] = self.slots.map(|slot| {
            let record = clusters.record(slot);
            record[0].ln() + mixture.log_predictive(unit, record)
        });
        let odds = first - second;
        (odds, odds.max(0.0) + (-odds.abs()).exp().ln_1p())
    }
}

impl Workspace {
    /// For `num_units` units, so that no proposal allocates.
    pub fn new(num_units: usize) -> Self {
        Self {
            members: Vec::with_capacity(num_units),
            sides: Vec::with_capacity(num_units),
        }
    }

    /// One proposal; true if it was accepted. The partition must be ready; its labels are slots afterwards.
    pub fn propose(
        &mut self,
        mixture: &Mixture,
        partition: &mut Partition,
        rng: &mut ChainRng,
    ) -> bool {
        let n = partition.labels.len();
        let i = rng.random_range(0..n);
        let j = (i + rng.random_range(1..n)) % n;
        let of = [partition.labels[i], partition.labels[j]];
        let split = of[0] == of[1];
        self.members.clear();
        self.sides.clear();
        for (unit, label) in partition.labels.iter().enumerate() {
            if of.contains(label) && unit != i && unit != j {
                self.members.push(unit as u32);
            }
        }
        let clusters = &mut partition.clusters;
        let sides = Sides {
            slots: [clusters.open(), clusters.open()],
        };
        for (unit, slot) in [i, j].into_iter().zip(sides.slots) {
            clusters.add(mixture, unit, slot);
        }
        let in_turn = rng.random::<bool>();
        for &unit in &self.members {
            let side = if in_turn {
                let (odds, log_sum) = sides.odds(mixture, clusters, unit as usize);
                rng.random::<f64>().ln() >= odds - log_sum
            } else {
                rng.random()
            };
            self.sides.push(side);
            clusters.add(mixture, unit as usize, sides.slots[usize::from(side)]);
        }
        for _ in 0..SCANS {
            self.scan(mixture, clusters, &sides, None, rng);
        }
        let goal = (!split).then_some((partition.labels.as_slice(), of[1]));
        let log_q = self.scan(mixture, clusters, &sides, goal, rng);
        // The union: the cluster to be split, or the one that a merger would make.
        let merged = if split {
            of[0]
        } else {
            let union = clusters.open();
            for unit in self.members.iter().map(|&unit| unit as usize).chain([i, j]) {
                mixture.add(unit, clusters.record_mut(union));
            }
            mixture.settle(clusters.record_mut(union));
            union
        };
        let term = |slot: u32| {
            let record = clusters.record(slot);
            ln_gamma(record[0]) + mixture.log_marginal(record)
        };
        let log_split =
            partition.alpha.ln() + term(sides.slots[0]) + term(sides.slots[1]) - term(merged);
        let log_ratio = if split {
            log_split - log_q
        } else {
            log_q - log_split
        };
        let accepted = rng.random::<f64>().ln() < log_ratio;
        let members = self.members.iter().map(|&unit| unit as usize);
        let [first, second] = sides.slots;
        if accepted && split {
            for (unit, &side) in members.zip(&self.sides) {
                partition.labels[unit] = sides.slots[usize::from(side)];
            }
            partition.labels[i] = first;
            partition.labels[j] = second;
            clusters.close(merged);
            return true;
        }
        if accepted {
            for unit in members.chain([i, j]) {
                partition.labels[unit] = merged;
            }
            clusters.close(of[0]);
            clusters.close(of[1]);
        } else if !split {
            clusters.close(merged);
        }
        clusters.close(first);
        clusters.close(second);
        accepted
    }

    /// A restricted Gibbs scan: each member goes to one of two sides. Returns the log probability of what it did. With a goal
    /// (labels and the label of the second side) members go where the goal has them.
    fn scan(
        &mut self,
        mixture: &Mixture,
        clusters: &mut Clusters,
        sides: &Sides,
        goal: Option<(&[u32], u32)>,
        rng: &mut ChainRng,
    ) -> f64 {
        let mut log_q = 0.0;
        for (&unit, side) in self.members.iter().zip(&mut self.sides) {
            let unit = unit as usize;
            clusters.remove(mixture, unit, sides.slots[usize::from(*side)]);
            let (odds, log_sum) = sides.odds(mixture, clusters, unit);
            *side = match goal {
                Some((labels, second)) => labels[unit] == second,
                None => rng.random::<f64>().ln() >= odds - log_sum,
            };
            log_q += if *side { -log_sum } else { odds - log_sum };
            clusters.add(mixture, unit, sides.slots[usize::from(*side)]);
        }
        log_q
    }
}
