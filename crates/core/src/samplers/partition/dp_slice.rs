//! Slice sampling of a Dirichlet-process mixture (`dp-slice`), with split-merge moves: exact, and all units at once.
//!
//! References: Walker (2007); Papaspiliopoulos (2008); Kalli, Griffin and Walker (2011); Baker (2018), appendix B.4, and Baker et
//! al. (2018), appendix D.2, whose rule for the number of components prints the inequality reversed.
//!
//! | | weights ω of components given clusters of sizes m_1, …, m_K |
//! |---|---|
//! | sources | v_j ~ Beta(1 + m_j, α + Σ_{l>j} m_l), ω_j = v_j Π_{l<j} (1 − v_l), in the order of labels |
//! | ours | (ω_1, …, ω_K, rest) ~ Dirichlet(m_1, …, m_K, α), the rest broken by v ~ Beta(1, α) |
//!
//! Both are the posterior of the random measure G given the partition, the sources' with labels as a part of the state. Labels
//! in the order of sticks mix slowly and need moves of their own; without them there is nothing to mix (Pitman 1996).
//!
//! **One step.** Split-merge proposals; α given K; weights of clusters; u_i ~ U(0, ω_{z_i}); the rest is broken until less than
//! min u is left; parameters of all components, those without units from the prior; z_i ∝ 1(ω_j > u_i) f(x_i | θ_j), for
//! eight units at once over components in order of weight.
//!
//! **Cost.** One density for each unit and component heavier than u_i. **Bias.** None. **Not for** components with many
//! categories: new clusters are born from the prior, where they hardly fit any unit; `dp-gibbs` knows the unit first.

use rand::RngExt as _;
use rand_distr::{Beta, Distribution as _};

use crate::models::Mixture;
use crate::models::arithmetic::{LANES, Lane, Separate, exp_negative};
use crate::samplers::cir::log_gamma;
use crate::samplers::partition::Partition;
use crate::samplers::partition::components::{Components, normalise};
use crate::samplers::partition::exact::{Exact, INFO, Moves, PartitionSettings};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{SamplerFamily, SamplerSpec};
use ergodic_base::ChainRng;
use ergodic_base::settings::Declared as _;

/// Components for which memory is there at once.
const ROOM: usize = 64;
/// A rest of the stick that is nothing beside any u.
const NOTHING: f64 = 1e-300;

/// The sampler `dp-slice`.
pub type DpSlice = Exact<Slices>;

/// All units at once.
pub struct Slices {
    components: Components,
    /// Weight of each component and the slot of its cluster, heaviest first; `NEW` without a cluster.
    weights: Vec<(f64, u32)>,
    /// Logarithms of weights while they are drawn.
    log_weights: Vec<f64>,
    slices: Vec<f64>,
    logs: Vec<Lane>,
    /// The settled record of an empty cluster.
    empty: Vec<f64>,
}

/// Slot of a component without a cluster.
const NEW: u32 = u32::MAX;

impl Moves for Slices {
    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(10.0, 0.5)
        .standing(Standing::Alternative);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "dp-slice",
        title: "Slice sampler for mixtures",
        about: "Moves all units between clusters at once: exact, and the fastest step for very many rows",
        cite: "Walker 2007; Kalli, Griffin, Walker 2011, Statistics and Computing 21",
        formula: "u_i ~ U(0, ω_{z_i}); P(z_i = j) ∝ 1(ω_j > u_i) f(x_i | θ_j); (ω, rest) ~ Dirichlet(m, α); θ_j | x_j; α | K",
        family: SamplerFamily::Mixture,
        fields: PartitionSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn new(mixture: &Mixture) -> Self {
        let mut empty = vec![0.0; mixture.width()];
        mixture.settle(&mut empty);
        Self {
            components: Components::new(mixture, ROOM),
            weights: Vec::with_capacity(ROOM),
            log_weights: Vec::with_capacity(ROOM),
            slices: vec![0.0; mixture.num_units()],
            logs: Vec::with_capacity(ROOM),
            empty,
        }
    }

    fn sweep(&mut self, mixture: &Mixture, partition: &mut Partition, rng: &mut ChainRng) {
        partition.update_alpha(mixture, rng);
        self.break_sticks(partition, rng);
        self.draw_components(mixture, partition, rng);
        self.move_units(mixture, partition, rng);
    }
}

impl Slices {
    /// Weights of clusters, slices, and new components until what is left cannot hold a unit; heaviest first.
    fn break_sticks(&mut self, partition: &Partition, rng: &mut ChainRng) {
        let Partition {
            clusters,
            labels,
            alpha,
            ..
        } = partition;
        self.log_weights.clear();
        for record in clusters.iter() {
            self.log_weights.push(log_gamma(rng, record[0]));
        }
        self.log_weights.push(log_gamma(rng, *alpha));
        normalise(&mut self.log_weights);
        self.weights.clear();
        for (log, &slot) in self.log_weights.iter().zip(clusters.active()) {
            self.weights.push((log.exp(), slot));
        }
        let mut rest = self.log_weights[clusters.len()].exp();
        // By slot, to find the weight of a unit.
        let slots = clusters.active().iter().copied().max().unwrap_or(0) as usize;
        self.log_weights.clear();
        self.log_weights.resize(slots + 1, 0.0);
        for &(weight, slot) in &self.weights {
            self.log_weights[slot as usize] = weight;
        }
        let mut least = f64::INFINITY;
        for (slice, &label) in self.slices.iter_mut().zip(labels) {
            // In (0, ω].
            *slice = (1.0 - rng.random::<f64>()) * self.log_weights[label as usize];
            least = least.min(*slice);
        }
        if let Ok(beta) = Beta::new(1.0, *alpha) {
            while rest > least.max(NOTHING) {
                let v = beta.sample(rng);
                self.weights.push((rest * v, NEW));
                rest *= 1.0 - v;
            }
        }
        // Ties cannot matter: slots differ, and new components are alike.
        self.weights
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }

    fn draw_components(&mut self, mixture: &Mixture, partition: &Partition, rng: &mut ChainRng) {
        self.components.resize(mixture, self.weights.len());
        for (j, &(_, slot)) in self.weights.iter().enumerate() {
            let record = match slot {
                NEW => &self.empty[..],
                slot => partition.clusters.record(slot),
            };
            self.components.draw(mixture, j, record, rng);
        }
    }

    /// Draws the component of every unit, eight at a time.
    fn move_units(&mut self, mixture: &Mixture, partition: &mut Partition, rng: &mut ChainRng) {
        let n = mixture.num_units();
        for first in (0..n).step_by(LANES) {
            let last = (first + LANES).min(n);
            let mut slice = [f64::INFINITY; LANES];
            let mut uniform = [0.0; LANES];
            for unit in first..last {
                slice[unit - first] = self.slices[unit];
                uniform[unit - first] = rng.random::<f64>();
            }
            let least = slice.iter().copied().fold(f64::INFINITY, f64::min);
            let heavy = self.weights.partition_point(|&(weight, _)| weight >= least);
            self.logs.resize(heavy, [0.0; LANES]);
            self.components
                .log_densities(mixture, first, &mut self.logs);
            let mut largest = [f64::NEG_INFINITY; LANES];
            for (log, &(weight, _)) in self.logs.iter_mut().zip(&self.weights) {
                for lane in 0..LANES {
                    let inside = weight >= slice[lane];
                    log[lane] = if inside { log[lane] } else { f64::NEG_INFINITY };
                    largest[lane] = largest[lane].max(log[lane]);
                }
            }
            // Sums so far: a component outside the slice adds e⁻⁷⁰⁸, which is nothing.
            let mut sum = [0.0; LANES];
            for log in &mut self.logs {
                let mut below = [0.0; LANES];
                for lane in 0..LANES {
                    below[lane] = log[lane] - largest[lane];
                }
                // Compiled for every processor, so never fused.
                let densities = exp_negative::<Separate>(&below);
                for lane in 0..LANES {
                    sum[lane] += densities[lane];
                }
                *log = sum;
            }
            for (lane, unit) in (first..last).enumerate() {
                let target = uniform[lane] * sum[lane];
                let passed = self.logs.iter().filter(|log| log[lane] <= target).count();
                partition.labels[unit] = passed.min(heavy - 1) as u32;
            }
        }
    }
}
