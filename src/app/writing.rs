//! Saving runs, exporting results, saving the draft.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::correcting::source;
use super::entry::{RunEntry, RunPhase, Saved};
use super::project;
use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_analysis::{Job, Run, SAMPLE_PREFIX};
use ergodic_base::Control;
use ergodic_core::engine::checkpoint::ChainMark;
use ergodic_core::engine::{Report, RunView};
use ergodic_export::{Claim, ExportError, Journal, Needs, Results, RunFolder, files, starts_of};

/// Where a run is saved.
pub(super) enum Place {
    /// In the folder it has.
    Folder(RunFolder),
    /// In a new one; of bundled data under this folder.
    Under(PathBuf),
}

/// A run that ended, to be saved.
pub(super) struct Ending {
    id: u64,
    title: String,
    job: Arc<Job>,
    view: Arc<RunView>,
    report: Arc<Report>,
    marks: Vec<Option<ChainMark>>,
}

impl Ending {
    /// The run of entry `id` as it is now.
    pub fn of((id, title): (u64, String), run: &mut Run) -> Self {
        Self {
            id,
            title,
            marks: run.join().to_vec(),
            job: Arc::clone(run.job()),
            view: run.view(),
            report: run.report(),
        }
    }
}

/// Saves a run that ended; `journal` has its draws so far.
pub(super) fn save_run(
    state: &mut AppState,
    run: Ending,
    (place, journal): (Place, Option<Journal>),
    fx: &mut dyn Effects,
) {
    let (id, title) = (run.id, run.title.clone());
    state.begin_surely(
        fx,
        ("Saving", &title),
        move |_control| {
            let results = Results::of(&run.job, &run.view, &run.report);
            save(&run.job, &results, &run.marks, place, journal)
        },
        move |state, ended, _fx| saved(state, id, ended),
    );
}

/// Notes where a run was saved, or that it was not.
fn saved(state: &mut AppState, id: u64, ended: Ended<RunFolder>) {
    let (saved, folder) = match ended {
        Ended::Done(done) => {
            let path = done.path().to_owned();
            project::forget_going(state, &path);
            (Saved::At(path), Some(done))
        }
        Ended::Failed(message) => {
            state.say(
                format!("{message}; the draws are still here and can be exported"),
                true,
            );
            (Saved::Failed(message), None)
        }
        Ended::Cancelled => (Saved::No, None),
    };
    // One that was taken out of the list meanwhile can be brought back.
    let mut known = state
        .runs
        .iter_mut()
        .chain(state.removed.iter_mut().map(|removed| &mut removed.entry));
    if let Some(entry) = known.find(|entry| entry.id == id) {
        let again = std::mem::take(&mut entry.save_again) && folder.is_some();
        entry.saved = if again { Saved::No } else { saved };
        if folder.is_some() {
            entry.folder = folder;
        }
    }
}

fn save(
    job: &Job,
    results: &Results,
    marks: &[Option<ChainMark>],
    place: Place,
    journal: Option<Journal>,
) -> Result<RunFolder, ExportError> {
    let quietly = &mut |_file: &str| {};
    let (folder, claim) = match (place, journal) {
        (Place::Folder(folder), Some(mut journal)) => {
            let saved = folder.save_or_rescue(&mut journal, (job, results, marks), quietly)?;
            return match saved.remark(&folder) {
                None => Ok(folder),
                Some(remark) => Err(remark),
            };
        }
        (Place::Folder(folder), None) => RunFolder::claim(folder.path())?,
        (Place::Under(home), _) => folder_for(job, &home)?,
    };
    folder.save_all(&claim, job, results, marks, quietly)?;
    Ok(folder)
}

/// A new folder for a run that begins.
pub(super) fn begin_folder(job: &Job, home: &Path) -> Result<(RunFolder, Claim), ExportError> {
    let (folder, claim) = folder_for(job, home)?;
    folder.begin(&claim, job)?;
    Ok((folder, claim))
}

/// A new folder beside the data, or under `home` for bundled data.
fn folder_for(job: &Job, home: &Path) -> Result<(RunFolder, Claim), ExportError> {
    let source = Path::new(job.table.source());
    let bundled = job.recipe.data.source.starts_with(SAMPLE_PREFIX);
    let parent = if bundled { None } else { source.parent() }
        .unwrap_or(home)
        .join("runs");
    RunFolder::create_numbered(&parent, &RunFolder::stem_of(job))
}

/// The results of a run as it stands; `None` before it has draws.
pub(super) fn results_of(entry: &RunEntry) -> Option<Results> {
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
            starts: starts_of(&read.view),
            info_names: read.info_names.clone(),
            info: read
                .view
                .chains
                .iter()
                .map(|chain| chain.draws.info.clone())
                .collect(),
            summary: read.report.summary.clone(),
            moments: (read.view.chains.iter())
                .map(|chain| Arc::clone(&chain.draws.unkept))
                .collect(),
            estimates: Arc::clone(&read.report.estimates),
            manifest: read.manifest.clone(),
            corrected: read.report.corrected.clone(),
            extras: None,
            sensitivity: None,
            bayes_factors: None,
            log_lik: None,
            found: read.report.found.clone(),
            labels: Vec::new(),
            units_kept: Vec::new(),
            remarks: Vec::new(),
        },
        RunPhase::Preparing(_) | RunPhase::Refused(_) => return None,
    };
    results.corrected = entry.corrected();
    results.sensitivity = entry.prior_sensitivity.done().cloned();
    Some(results)
}

/// Tables of the data and of all runs.
pub(super) fn files_read(state: &AppState) -> Vec<PathBuf> {
    let data = state.data.iter().filter_map(|data| data.path.clone());
    let of_runs = state
        .runs
        .iter()
        .filter_map(|entry| source(entry)?.data_path());
    data.chain(of_runs).collect()
}

pub(super) fn export_run(
    state: &mut AppState,
    id: u64,
    format: &'static str,
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let Some(mut results) = results_of(entry) else {
        state.refuse("This run has no draws to export");
        return;
    };
    let (title, source) = (entry.title(), source(entry));
    let export = move |control: &Control| {
        let found = ergodic_export::find(format).map_err(|error| error.to_string())?;
        if let Some(source) = source.filter(|_| matches!(found.needs, Needs::LogLik)) {
            let fitted = source.fitted(control).map_err(|error| error.to_string())?;
            let (draws, weights) = results.usable();
            let log_lik = fitted.log_lik(&draws, &weights, usize::MAX, control);
            results.log_lik = Some(Arc::new(log_lik.map_err(|error| error.to_string())?));
        }
        ergodic_export::write_watched(found, &results, &path, control)
            .map(|()| format!("Exported to {}", path.display()))
            .map_err(|error| error.to_string())
    };
    let say = |state: &mut AppState, ended, _fx: &mut dyn Effects| state.say_ended(ended);
    state.begin(fx, ("Exporting", &title), export, say).keep();
}

pub(super) fn save_recipe(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    let Some(document) = &state.document else {
        state.refuse("There is no model to save yet");
        return;
    };
    let (recipe, path) = (document.recipe.clone(), path.to_owned());
    state.begin_surely(
        fx,
        ("Saving the recipe", ""),
        move |_control| {
            files::replace(&path, |out| out.write_all(recipe.to_toml().as_bytes()))
                .map(|()| {
                    format!(
                        "Saved; the same run on the command line: ergodic fit {}",
                        path.display()
                    )
                })
                .map_err(|error| ExportError::at("The recipe could not be saved", error, &path))
        },
        |state, ended, _fx| state.say_ended(ended),
    );
}
