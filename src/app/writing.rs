//! Saving runs, exporting results, saving the draft.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{Influence, RunPhase};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use crate::engine::recipe::SAMPLE_PREFIX;
use crate::engine::{Job, Run};
use crate::export::journal::{self, Journal};
use crate::export::{self, Results, RunFolder};

/// Where a run is saved.
pub(super) enum Place {
    /// In the folder it has.
    Folder(RunFolder),
    /// In a new one; of bundled data under this folder.
    Under(PathBuf),
}

/// Saves a run that ended; `journal` has its draws so far.
pub(super) fn save_run(
    id: u64,
    run: &mut Run,
    place: Place,
    journal: Option<Journal>,
    fx: &mut dyn Effects,
) {
    let marks = run.join().to_vec();
    let (job, view, report) = (Arc::clone(run.job()), run.view(), run.report());
    fx.spawn(
        "save-run",
        Box::new(move || {
            let results = Results::of(&job, &view, &report);
            // What it has still to write must not come after the results.
            let mut journal = journal;
            let kept = journal.as_mut().is_some_and(Journal::finish);
            let folder = match place {
                Place::Folder(folder) => Ok(folder),
                Place::Under(home) => folder_for(&job, &home),
            };
            let result = folder
                .and_then(|folder| {
                    let mut saved = folder.save_all(&job, &results, &marks);
                    if saved.is_err() && !kept {
                        // Half a journal may take the room that the whole results need.
                        drop(journal::remove(folder.path()));
                        saved = folder.save_all(&job, &results, &marks);
                    }
                    saved.map(|()| folder)
                })
                .map_err(|error| error.to_string());
            drop(journal);
            Outcome::RunSaved { run: id, result }
        }),
    );
}

/// A new folder for a run that begins.
pub(super) fn begin_folder(job: &Job, home: &Path) -> Result<RunFolder, export::ExportError> {
    let folder = folder_for(job, home)?;
    folder.begin(job)?;
    Ok(folder)
}

/// A new folder beside the data, or under `home` for bundled data.
fn folder_for(job: &Job, home: &Path) -> Result<RunFolder, export::ExportError> {
    let source = Path::new(job.table.source());
    let bundled = job.recipe.data.source.starts_with(SAMPLE_PREFIX);
    let parent = if bundled { None } else { source.parent() }
        .unwrap_or(home)
        .join("runs");
    let stem = if bundled {
        job.recipe.data.source[SAMPLE_PREFIX.len()..].to_owned()
    } else {
        source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    RunFolder::create_numbered(&parent, &format!("{stem}-{}", job.sampler.spec.id))
}

pub(super) fn export_run(
    state: &mut AppState,
    id: u64,
    format: &'static str,
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let mut results = match &entry.phase {
        RunPhase::Live(run) => Results::of(run.job(), &run.view(), &run.report()),
        RunPhase::Read(read) => Results {
            warmup_of_chains: None,
            variables: read.variables.clone(),
            draws: read
                .view
                .chains
                .iter()
                .map(|chain| chain.draws.draws.clone())
                .collect(),
            info_names: read.info_names.clone(),
            info: read
                .view
                .chains
                .iter()
                .map(|chain| chain.draws.info.clone())
                .collect(),
            summary: read.report.summary.clone(),
            manifest: read.manifest.clone(),
            corrected: None,
            sensitivity: None,
            clusters: read.report.clusters.clone(),
            labels: Vec::new(),
            units_kept: Vec::new(),
        },
        RunPhase::Preparing(_) | RunPhase::Refused(_) => {
            state.say("This run has no draws to export", true);
            return;
        }
    };
    results.corrected = entry.correction.done().cloned();
    if let Influence::Done(sensitivity) = &entry.influence {
        results.sensitivity = Some(Arc::clone(sensitivity));
    }
    fx.spawn(
        "export",
        Box::new(move || {
            let written = export::find(format)
                .and_then(|format| export::write(format, &results, &path))
                .map(|()| format!("Exported to {}", path.display()))
                .map_err(|error| error.to_string());
            Outcome::Written(written)
        }),
    );
}

pub(super) fn save_recipe(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    let Some(document) = &state.document else {
        state.say("There is no model to save yet", true);
        return;
    };
    let (recipe, path) = (document.recipe.clone(), path.to_owned());
    fx.spawn(
        "save-recipe",
        Box::new(move || {
            let written = std::fs::write(&path, recipe.to_toml())
                .map(|()| {
                    format!(
                        "Saved; the same run on the command line: ergodic fit {}",
                        path.display()
                    )
                })
                .map_err(|error| {
                    export::ExportError::at("The recipe could not be saved", &error, &path)
                        .to_string()
                });
            Outcome::Written(written)
        }),
    );
}
