//! Moves that split a cluster or merge two at once, where one unit at a time cannot get from one partition to the other.
//!
//! Two units are drawn. If they share a cluster, a split is proposed, otherwise the merger of their clusters. With C the union
//! of A and B and q the probability that the split's proposal makes them, the split is accepted with probability
//! min(1, α Γ(|A|)Γ(|B|)/Γ(|C|) · m(A)m(B)/m(C) / q), m the marginal likelihood of a cluster, and the merger with the inverse
//! ratio, q being the probability of the split that would undo it.
//!
//! There are two ways to propose a split, chosen by a coin. Jain and Neal (2004): restricted Gibbs scans over the units
//! concerned from random sides; after [`SCANS`] scans, which make a good launching place, one more gives the proposal and q.
//! It finds what scans find, but two random halves of thousands of numbers look the same, and of two clusters that tile what
//! should be one the scans come back with other tiles, so that mergers fail. Dahl (2005): the units join the two drawn ones
//! in turn, each given those before it. Sides differ from the first unit on, and q follows the very tiles that are to merge.

use rand::RngExt as _;
use statrs::function::gamma::ln_gamma;

use super::{Clusters, Partition};
use crate::models::Mixture;
use ergodic_base::ChainRng;
use ergodic_base::special::softplus;

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

/// Labels of a partition and the label of the second side in it.
type Goal<'a> = (&'a [u32], u32);

/// Both sides of a split while it is being made.
struct Sides {
    slots: [u32; 2],
}

impl Sides {
    /// The slot of the second side or the first.
    #[inline]
    fn slot(&self, second: bool) -> u32 {
        self.slots[usize::from(second)]
    }

    /// Whether a unit that is on neither side goes to the second, by chance or as the goal has it, and the log probability of
    /// that chance.
    #[inline]
    fn choose(
        &self,
        mixture: &Mixture,
        clusters: &Clusters,
        unit: usize,
        goal: Option<Goal<'_>>,
        rng: &mut ChainRng,
    ) -> (bool, f64) {
        let [first, second] = self.slots.map(|slot| {
            let record = clusters.record(slot);
            record[0].ln() + mixture.log_predictive(unit, record)
        });
        // log(1 + e^d), d the log odds of the first side.
        let odds = first - second;
        let log_sum = softplus(odds);
        let side = match goal {
            Some((labels, second)) => labels[unit] == second,
            None => rng.random::<f64>().ln() >= odds - log_sum,
        };
        (side, if side { -log_sum } else { odds - log_sum })
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
        let goal = (!split).then_some((partition.labels.as_slice(), of[1]));
        let log_q = if rng.random() {
            self.in_turn(mixture, clusters, &sides, goal, rng)
        } else {
            self.scatter(mixture, clusters, &sides, rng);
            for _ in 0..SCANS {
                self.scan(mixture, clusters, &sides, None, rng);
            }
            self.scan(mixture, clusters, &sides, goal, rng)
        };
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

    /// Puts members on random sides.
    fn scatter(
        &mut self,
        mixture: &Mixture,
        clusters: &mut Clusters,
        sides: &Sides,
        rng: &mut ChainRng,
    ) {
        for &unit in &self.members {
            let side = rng.random();
            self.sides.push(side);
            mixture.add(unit as usize, clusters.record_mut(sides.slot(side)));
        }
        for slot in sides.slots {
            mixture.settle(clusters.record_mut(slot));
        }
    }

    /// Members join one of two sides in turn. Returns the log probability of what they did. With a goal (labels and the label
    /// of the second side) they go where the goal has them.
    fn in_turn(
        &mut self,
        mixture: &Mixture,
        clusters: &mut Clusters,
        sides: &Sides,
        goal: Option<Goal<'_>>,
        rng: &mut ChainRng,
    ) -> f64 {
        let mut log_q = 0.0;
        for &unit in &self.members {
            let (side, log) = sides.choose(mixture, clusters, unit as usize, goal, rng);
            log_q += log;
            self.sides.push(side);
            clusters.add(mixture, unit as usize, sides.slot(side));
        }
        log_q
    }

    /// A restricted Gibbs scan: each member leaves its side and goes to one of two, as in [`Self::in_turn`].
    fn scan(
        &mut self,
        mixture: &Mixture,
        clusters: &mut Clusters,
        sides: &Sides,
        goal: Option<Goal<'_>>,
        rng: &mut ChainRng,
    ) -> f64 {
        let mut log_q = 0.0;
        for (&unit, side) in self.members.iter().zip(&mut self.sides) {
            clusters.remove(mixture, unit as usize, sides.slot(*side));
            let (next, log) = sides.choose(mixture, clusters, unit as usize, goal, rng);
            log_q += log;
            *side = next;
            clusters.add(mixture, unit as usize, sides.slot(next));
        }
        log_q
    }
}
