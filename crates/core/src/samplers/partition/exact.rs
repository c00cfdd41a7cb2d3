//! Exact samplers of partitions: split-merge proposals, and moves of units, in which they differ.

use std::marker::PhantomData;

use rand::RngExt as _;

use super::split_merge::Workspace;
use super::{Partition, Start};
use crate::models::{Mixture, Model};
use crate::oracle::{Oracle, StepError};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    ACCEPT, InfoColumn, Output, OutputSpec, Sampler, SamplerSpec, StateVisitor, Target, Tick,
    Unsuitable,
};
use ergodic_base::settings::{Field, SettingError};
use ergodic_base::{ChainRng, Streams};

/// Units up to which there is one split-merge proposal in every draw.
const MOST_PROPOSED: f64 = 100_000.0;

/// Information that exact samplers of partitions give.
pub const INFO: &[InfoColumn] = &[InfoColumn::new(
    ACCEPT,
    "Share of split-merge proposals accepted in this step",
)];

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
    start: Start,
    /// Split-merge proposals per draw.
    split_merge: f64,
}

/// How units move between clusters; the value is working memory.
pub trait Moves: Send + Sized + 'static {
    /// See [`Sampler::SPEC`].
    const SPEC: SamplerSpec;
    /// See [`Sampler::ADVICE`].
    const ADVICE: Traits;
    /// Memory for the units of `mixture`.
    fn new(mixture: &Mixture) -> Self;
    /// Moves every unit, and draws α.
    fn sweep(&mut self, mixture: &Mixture, partition: &mut Partition, rng: &mut ChainRng);
}

/// The samplers that move units by `M`.
pub struct Exact<M>(PhantomData<fn() -> M>);

/// A partition and working memory.
pub struct State<M> {
    partition: Partition,
    workspace: Workspace,
    moves: M,
}

/// Split-merge proposals of one step; returns the share accepted.
fn split_merge(
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

impl<M: Moves> Sampler for Exact<M> {
    type Settings = PartitionSettings;
    type Config = Config;
    type State = State<M>;
    const NEEDS_DENSITY: bool = false;
    const ADVICE: Traits = M::ADVICE;
    const OUTPUTS: &'static [OutputSpec] = super::OUTPUTS;
    const SPEC: SamplerSpec = M::SPEC;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        super::suits(model).map(|_mixture| ())
    }

    fn configure(
        settings: &mut PartitionSettings,
        target: &Target,
    ) -> Result<Config, SettingError> {
        Ok(Config {
            start: settings.start,
            split_merge: *(settings.split_merge)
                .get_or_insert((MOST_PROPOSED / target.num_obs as f64).min(1.0)),
        })
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State<M>, StepError> {
        let mixture = super::mixture(oracle)?;
        Ok(State {
            partition: Partition::start(mixture, config.start, u0.len(), &mut streams.noise),
            workspace: Workspace::new(mixture.num_units()),
            moves: M::new(mixture),
        })
    }

    fn step(
        config: &Config,
        _at: Tick,
        state: &mut State<M>,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let mixture = super::mixture(oracle)?;
        let State {
            partition,
            workspace,
            moves,
        } = state;
        let rng = &mut streams.noise;
        partition.ready(mixture);
        info[0] = split_merge(config, mixture, partition, workspace, rng);
        moves.sweep(mixture, partition, rng);
        partition.finish(mixture);
        oracle.datum_grads += oracle.num_obs() as u64;
        Ok(())
    }

    fn position(state: &State<M>) -> &[f64] {
        &state.partition.position
    }

    fn output(state: &State<M>, k: usize) -> Output<'_> {
        state.partition.output(k)
    }

    fn visit(state: &mut State<M>, visitor: &mut dyn StateVisitor) {
        state.partition.visit(visitor);
    }
}
