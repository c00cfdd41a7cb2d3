//! Reports and pictures of runs, on threads of their own.

use std::path::PathBuf;

use super::correcting::{Source, source};
use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::{Effects, Pick};
use super::writing::results_of;
use ergodic_analysis::description::Description;
use ergodic_analysis::{JobError, Recipe};
use ergodic_base::control::Control;
use ergodic_export::{Results, RunFolder};
use ergodic_report::report::{Format, find as find_format};
use ergodic_report::{Chains, Report, ReportError, find, write_picture};

/// A picture of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Which figure.
    pub figure: &'static str,
    /// The parameter that it is of, or around.
    pub variable: usize,
}

impl Picture {
    /// Name for its file.
    pub fn file_name(self, entry: &RunEntry) -> String {
        format!("run-{}-{}.svg", entry.number, self.figure)
    }
}

/// Name for the file of a report.
pub fn report_name(entry: &RunEntry, format: &Format) -> String {
    format!("run-{}-{}", entry.number, format.file_name)
}

pub(super) fn pick_report(
    state: &AppState,
    (id, format): (u64, &'static str),
    fx: &mut dyn Effects,
) {
    if let (Some(entry), Ok(format)) = (state.run(id), find_format(format)) {
        let name = report_name(entry, format);
        fx.pick(Pick::Report(id, format.id, name));
    }
}

pub(super) fn pick_picture(state: &AppState, (id, picture): (u64, Picture), fx: &mut dyn Effects) {
    if let Some(entry) = state.run(id) {
        fx.pick(Pick::Picture(id, picture, picture.file_name(entry)));
    }
}

/// Saves a report of a run as it stands.
pub(super) fn save_report(
    state: &mut AppState,
    (id, format): (u64, &'static str),
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let Some(results) = results_of(entry) else {
        state.refuse("This run has no draws to report");
        return;
    };
    let Some(source) = source(entry) else {
        state.refuse(&ReportError::OtherOrigin.to_string());
        return;
    };
    let (title, place) = (entry.title(), entry.place().map(ToOwned::to_owned));
    let work = move |control: &Control| -> Result<String, ReportError> {
        let format = find_format(format)?;
        let report = report_of(&results, source, place, control)?;
        let text = (format.write)(&report);
        control.check(ReportError::Cancelled)?;
        ergodic_export::write_file("The report could not be written", &path, |out| {
            out.write_all(text.as_bytes())
        })?;
        Ok(format!("Saved as {}", path.display()))
    };
    let say = |state: &mut AppState, ended, _fx: &mut dyn Effects| state.say_ended(ended);
    state
        .begin(fx, ("Writing the report of", &title), work, say)
        .keep();
}

/// The report of a run, whose folder is at `place` if it has one.
fn report_of(
    results: &Results,
    source: Source,
    place: Option<PathBuf>,
    control: &Control,
) -> Result<Report, ReportError> {
    let (recipe, description) = match source {
        Source::Job(job) => (job.recipe.clone(), Description::of(&job.recipe, &job.table)),
        Source::Recipe(recipe, folder) => {
            let description = Description::read(&recipe, &folder, control);
            (*recipe, description)
        }
    };
    let description = match description {
        Err(JobError::Cancelled) => return Err(ReportError::Cancelled),
        other => other.map_err(|error| error.to_string()),
    };
    // The recipe that was saved has the draws that were made, where those were others than planned.
    let saved = |place: PathBuf| -> Option<Recipe> { RunFolder::open(&place).ok()?.recipe().ok() };
    let recipe = place.and_then(saved).unwrap_or(recipe);
    Report::of(results, &recipe, description, control)
}

/// Saves a picture of a run as it stands.
pub(super) fn save_picture(
    state: &mut AppState,
    (id, picture): (u64, Picture),
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let Some(results) = results_of(entry) else {
        state.refuse("This run has no draws to draw");
        return;
    };
    let title = entry.title();
    let work = move |control: &Control| -> Result<String, ReportError> {
        let entry = find(picture.figure)?;
        let around = entry.around(&Chains::of(&results)?, picture.variable);
        write_picture(entry, (&results, &around), &path, control)?;
        Ok(format!("Saved as {}", path.display()))
    };
    let say = |state: &mut AppState, ended, _fx: &mut dyn Effects| state.say_ended(ended);
    state
        .begin(fx, ("Drawing a picture of", &title), work, say)
        .keep();
}
