//! How the energy changes along leapfrog trajectories from where the chains of a run stand, with the step size and the metric that they
//! ended with.
//!
//! The exact flow keeps the energy, and a leapfrog step does not: the error says how well the step size and the metric follow the
//! posterior there. It swings and stays small where they do; it grows without bound, to a divergence, where a step is longer than the
//! least scale allows.

use super::chain::{Begun, ChainError, begin};
use super::checkpoint::ChainMark;
use super::sampling::Sampling;
use crate::oracle::StepError;
use crate::samplers::{KernelError, Trajectory};
use ergodic_base::{Control, Purpose, stream};

/// Leapfrog steps of a trajectory: a few turns of a normal direction at usual step sizes.
pub const STEPS: usize = 60;
/// Momenta drawn for each chain.
pub const MOMENTA: usize = 4;

/// Trajectories from where a chain stands.
#[derive(Clone, Debug, PartialEq)]
pub struct FromChain {
    /// Number of the chain, 0-based.
    pub chain: usize,
    /// One for each momentum.
    pub trajectories: Vec<Trajectory>,
}

impl FromChain {
    /// The largest size of an energy error, by the posterior of all rows as well where that is another.
    pub fn largest(&self) -> f64 {
        let all = self.trajectories.iter();
        let errors = all.flat_map(|it| it.errors.iter().chain(it.of_all_rows.iter().flatten()));
        errors.fold(0.0, |largest, error| largest.max(error.abs()))
    }
}

/// Why there are no trajectories: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum TrajectoryError {
    /// Somebody cancelled.
    #[error("Following trajectories was cancelled")]
    Cancelled,
    /// The sampler follows none.
    #[error(
        "{0} follows no trajectories; HMC and NUTS do, and those with energy conserving subsampling"
    )]
    Sampler(&'static str),
    /// No chain has kept a draw and where it stood.
    #[error(
        "Nothing says where the chains of this run ended, so that no trajectory can start there; run it again"
    )]
    NoPlace,
    /// A chain that cannot be put where it stood, or followed from there.
    #[error("Trajectories of a chain cannot be followed: {0}")]
    Chain(ChainError),
}

impl From<ChainError> for TrajectoryError {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::Kernel(KernelError::Start(StepError::Interrupted)) => Self::Cancelled,
            other => Self::Chain(other),
        }
    }
}

/// Follows [`MOMENTA`] trajectories of [`STEPS`] steps from each of `marks` that has one, by chain. The same run gives the same ones.
///
/// # Errors
/// The sampler follows none, no chain stands anywhere, or somebody cancelled.
pub fn trajectories(
    job: &dyn Sampling,
    marks: &[Option<&ChainMark>],
    control: &Control,
) -> Result<Vec<FromChain>, TrajectoryError> {
    let sampler = job.sampler();
    let refused = || TrajectoryError::Sampler(sampler.spec.title);
    if !sampler.follows {
        return Err(refused());
    }
    let standing = marks.iter().enumerate();
    let standing: Vec<(usize, &ChainMark)> = standing
        .filter_map(|(chain, mark)| Some((chain, mark.filter(|mark| mark.draws > 0)?)))
        .collect();
    if standing.is_empty() {
        return Err(TrajectoryError::NoPlace);
    }
    control.enter("following trajectories");
    control.expect((standing.len() * MOMENTA) as u64);
    let mut found = Vec::with_capacity(standing.len());
    for (chain, mark) in standing {
        let Begun {
            mut kernel,
            mut oracle,
            ..
        } = begin(job, chain, true, control.flag())?;
        mark.restore(kernel.as_mut(), &mut oracle)
            .ok_or(ChainError::Kernel(KernelError::Checkpoint))?;
        let mut rng = stream(job.run_section().seed, chain, Purpose::Diagnostics);
        let mut trajectories = Vec::with_capacity(MOMENTA);
        for _ in 0..MOMENTA {
            control.check(TrajectoryError::Cancelled)?;
            let followed = kernel.follow(STEPS, &mut oracle, &mut rng);
            let followed = followed.ok_or_else(refused)?;
            trajectories.push(followed.map_err(ChainError::from)?);
            control.advance(1);
        }
        found.push(FromChain {
            chain,
            trajectories,
        });
    }
    Ok(found)
}
