//! Collapsed Gibbs sampling of a Dirichlet-process mixture (`dp-gibbs`), with split-merge moves.
//!
//! References: Escobar and West (1995); MacEachern (1994); Neal (2000), algorithm 3; Jain and Neal (2004); Dahl (2005). It is
//! the exact sampler that Baker et al. (2018), appendix E.1, compare with.
//!
//! **One step.** [`crate::samplers::partition::split_merge`] proposals; then each unit in turn leaves its cluster and joins cluster k
//! with probability ∝ m_k p(x_i | x of cluster k), or a new one ∝ α p(x_i), components integrated out; then α given the number
//! of clusters.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `split_merge` | proposals per draw | 1, fewer beyond 100,000 units |
//! | `start`, `start_clusters` | one cluster or many | chains alternate; 30 |
//!
//! **Cost.** N K predictive densities and 2N updates of statistics a step. **Bias.** None. **Not for** hundreds of thousands of
//! units, where a step of `dp-slice` costs less, though it needs more of them.

use crate::models::Mixture;
use crate::samplers::partition::exact::{Exact, INFO, Moves, PartitionSettings};
use crate::samplers::partition::{Partition, pick};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{SamplerFamily, SamplerSpec};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// The sampler `dp-gibbs`.
pub type DpGibbs = Exact<OneByOne>;

/// One unit after the other.
pub struct OneByOne;

impl Moves for OneByOne {
    const ADVICE: Traits = Traits::ORDINARY
        .standing(Standing::Auto)
        .because("of the samplers of partitions it mixes best");
    const SPEC: SamplerSpec = SamplerSpec {
        id: "dp-gibbs",
        title: "Collapsed Gibbs for mixtures",
        about: "Moves one unit after the other between clusters, and splits and merges clusters: exact, mixes best",
        cite: "Neal 2000, JCGS 9; Jain and Neal 2004, JCGS 13; Escobar and West 1995, JASA 90",
        formula: "P(z_i = k | rest) ∝ m_k p(x_i | x_k), new cluster ∝ α p(x_i); α | K; split-merge with restricted Gibbs proposals",
        family: SamplerFamily::Mixture,
        fields: PartitionSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn new(_mixture: &Mixture) -> Self {
        Self
    }

    fn sweep(&mut self, mixture: &Mixture, partition: &mut Partition, rng: &mut ChainRng) {
        for unit in 0..mixture.num_units() {
            move_unit(mixture, partition, unit, rng);
        }
        partition.update_alpha(mixture, rng);
    }
}

/// One unit leaves its cluster and joins one.
fn move_unit(mixture: &Mixture, partition: &mut Partition, unit: usize, rng: &mut ChainRng) {
    let Partition {
        labels,
        clusters,
        weights,
        alpha,
        ..
    } = partition;
    if clusters.remove(mixture, unit, labels[unit]) {
        clusters.close(labels[unit]);
    }
    weights.clear();
    let alone = mixture.log_alone(unit);
    let mut largest = alone;
    for record in clusters.iter() {
        let log = mixture.log_predictive(unit, record);
        largest = largest.max(log);
        weights.push(log);
    }
    for (weight, record) in weights.iter_mut().zip(clusters.iter()) {
        *weight = record[0] * (*weight - largest).exp();
    }
    weights.push(*alpha * (alone - largest).exp());
    let choice = pick(weights, rng);
    let slot = match clusters.active().get(choice) {
        Some(&slot) => slot,
        None => clusters.open(),
    };
    clusters.add(mixture, unit, slot);
    labels[unit] = slot;
}
