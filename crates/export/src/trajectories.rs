//! Trajectories from where the chains of a saved run ended.

use super::{ExportError, RunFolder};
use ergodic_analysis::{Job, JobError};
use ergodic_base::Control;
use ergodic_core::engine::checkpoint::ChainMark;
use ergodic_core::engine::trajectories::{FromChain, TrajectoryError, trajectories as followed};

/// Why there are no trajectories of a run: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum TrajectoriesError {
    /// The run's folder.
    #[error(transparent)]
    Folder(#[from] ExportError),
    /// The run's data or recipe.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The run's sampler, or where its chains ended.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
}

impl TrajectoriesError {
    /// Whether somebody cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            Self::Job(JobError::Cancelled) | Self::Trajectory(TrajectoryError::Cancelled)
        )
    }
}

/// Follows trajectories from where the chains of the run in `folder` ended; its data are read again.
///
/// # Errors
/// The folder is damaged, the data are gone or others, the run keeps no checkpoint, its sampler follows no trajectories, or somebody
/// cancelled.
pub fn trajectories(
    folder: &RunFolder,
    control: &Control,
) -> Result<Vec<FromChain>, TrajectoriesError> {
    let job = Job::prepare(&folder.recipe()?, folder.path(), None, control)?;
    let ends = folder.ends(&job)?;
    let marks: Vec<Option<&ChainMark>> = ends.iter().map(Option::as_ref).collect();
    Ok(followed(&job, &marks, control)?)
}
