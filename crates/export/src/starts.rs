//! Chains that start where those of another run ended.

use std::path::Path;

use super::{ExportError, RunFolder};
use ergodic_analysis::Recipe;
use ergodic_core::engine::keep;
use ergodic_core::engine::start::last_draws;
use ergodic_core::engine::{Start, StartError};

/// Why the last draws of a run cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StartsError {
    /// The run's folder.
    #[error(transparent)]
    Folder(#[from] ExportError),
    /// The run is of another kind.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Gives `recipe`, which stands in `folder`, the last draws of the run that its chains are to start from, so that it replays
/// whatever becomes of that run. Nothing happens where it has them or names no run.
///
/// # Errors
/// There is no such run, or it is on another scale.
pub fn read_start(recipe: &mut Recipe, folder: &Path) -> Result<(), StartsError> {
    let Start::Run(run) = &recipe.run.start else {
        return Ok(());
    };
    if !recipe.run.start_draws.is_empty() {
        return Ok(());
    }
    let other = RunFolder::open(&folder.join(run))?;
    let scale = other.recipe()?.report.scale;
    if scale != recipe.report.scale {
        return Err(StartsError::Start(StartError::OtherParameters {
            run: run.clone(),
            why: "it reports coefficients on another scale (report.scale)".to_owned(),
        }));
    }
    let results = other.results()?;
    let manifest = results.manifest.as_ref();
    if let Some(not_kept) = manifest.and_then(|it| it.not_kept.first()) {
        return Err(StartsError::Start(StartError::OtherParameters {
            run: run.clone(),
            why: format!("it kept no draws of `{not_kept}` ({})", keep::KEY),
        }));
    }
    recipe.run.start_draws = last_draws(&results.variables, &results.usable().0);
    Ok(())
}
