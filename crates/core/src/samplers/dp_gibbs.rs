//! Collapsed Gibbs sampling of a Dirichlet-process mixture (`dp-gibbs`), with split-merge moves.
//!
//! References: Escobar and West (1995); MacEachern (1994); Neal (2000), algorithm 3; Jain and Neal (2004); Dahl (2005). It is
//! the exact sampler that Baker et al. (2018), appendix E.1, compare with.
//!
//! **One step.** [`super::partition::split_merge`] proposals; then each unit in turn leaves its cluster and joins cluster k
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

use super::partition::split_merge::Workspace;
use super::partition::{self, Partition, Start, default_split_merge, pick};
use super::recommend::{Standing, Traits};
use super::{
    ACCEPT, Family, InfoColumn, Output, OutputSpec, Sampler, SamplerSpec, StateVisitor, Target,
    Tick, Unsuitable,
};
use crate::models::{Mixture, Model};
use crate::oracle::{Oracle, StepError};
use ergodic_base::rng::{ChainRng, Streams};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use rand::RngExt as _;

/// Information that exact samplers of partitions give.
pub const INFO: &[InfoColumn] = &[InfoColumn {
    name: ACCEPT,
    help: "Share of split-merge proposals accepted in this step",
}];

/// The sampler `dp-gibbs`.
pub struct DpGibbs;

ergodic_base::settings! {
    /// Settings of exact samplers of partitions.
    pub struct PartitionSettings {
        start: Start;
        split_merge: Option<f64> = Field::real("Split-merge moves", 0.0, 1000.0, None)
            .help("Proposals per draw to split a cluster or to merge two (Jain and Neal 2004); a fraction is a chance")
            .why("one, fewer beyond 100\u{202f}000 units because a proposal looks at every unit of a cluster");
    }
}

/// Settings in force.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Start of chains.
    pub start: Start,
    /// Split-merge proposals per draw.
    pub split_merge: f64,
}

impl PartitionSettings {
    /// The settings for `target`.
    pub fn settle(&mut self, target: &Target) -> Config {
        Config {
            start: self.start,
            split_merge: *(self.split_merge).get_or_insert(default_split_merge(target.num_obs)),
        }
    }
}

/// A partition and the memory of proposals.
#[derive(Clone, Debug)]
pub struct State {
    partition: Partition,
    workspace: Workspace,
}

/// Split-merge proposals of one step; returns the share accepted.
pub fn split_merge(
    config: &Config,
    mixture: &Mixture,
    partition: &mut Partition,
    workspace: &mut Workspace,
    rng: &mut ChainRng,
) -> f64 {
    let whole = config.split_merge.floor();
    let further = rng.random::<f64>() < config.split_merge - whole;
    let proposals = whole as usize + usize::from(further);
    let mut accepted = 0;
    for _ in 0..proposals {
        accepted += usize::from(workspace.propose(mixture, partition, rng));
    }
    accepted as f64 / proposals as f64
}

impl Sampler for DpGibbs {
    type Settings = PartitionSettings;
    type Config = Config;
    type State = State;
    const NEEDS_DENSITY: bool = false;
    const ADVICE: Traits = Traits::ORDINARY.standing(Standing::Auto);
    const OUTPUTS: &'static [OutputSpec] = partition::OUTPUTS;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "dp-gibbs",
        title: "Collapsed Gibbs for mixtures",
        about: "Moves one unit after the other between clusters, and splits and merges clusters: exact, mixes best",
        cite: "Neal 2000, JCGS 9; Jain and Neal 2004, JCGS 13; Escobar and West 1995, JASA 90",
        formula: "P(z_i = k | rest) ∝ m_k p(x_i | x_k), new cluster ∝ α p(x_i); α | K; split-merge with restricted Gibbs proposals",
        family: Family::Mixture,
        fields: PartitionSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        partition::suits(model).map(|_mixture| ())
    }

    fn configure(
        settings: &mut PartitionSettings,
        target: &Target,
    ) -> Result<Config, SettingError> {
        Ok(settings.settle(target))
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let mixture = partition::mixture(oracle)?;
        Ok(State {
            partition: Partition::start(mixture, config.start, u0.len(), &mut streams.noise),
            workspace: Workspace::new(mixture.num_units()),
        })
    }

    fn step(
        config: &Config,
        _at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let mixture = partition::mixture(oracle)?;
        let State {
            partition,
            workspace,
        } = state;
        let rng = &mut streams.noise;
        partition.ready(mixture);
        info[0] = split_merge(config, mixture, partition, workspace, rng);
        for unit in 0..mixture.num_units() {
            move_unit(mixture, partition, unit, rng);
        }
        partition.update_alpha(mixture, rng);
        partition.finish(mixture);
        oracle.datum_grads += oracle.num_obs() as u64;
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
