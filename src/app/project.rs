//! Projects in the window: what is open, drafted and run as a file, and back.

use super::product::Product;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::command::Act;
use super::document::Document;
use super::entry::{ReadRun, RunEntry, RunPhase, Saved};
use super::opening::{Origin, start_loading};
use super::page::Page;
use super::reading;
use super::state::{AppState, FileProblem, Opening};
use super::tasks::{Effects, Ended};
use ergodic_analysis::DataSection;
use ergodic_base::Control;
use ergodic_core::design::Columns as _;
use ergodic_export::ExportError;
use ergodic_export::label::Label;
use ergodic_export::project::{EXTENSION, Project, ProjectRun, ProjectView};

/// What is done with the project.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectCommand {
    /// Save the project, asking for a file if it has none.
    Save,
    /// Close the project and begin with nothing.
    New,
    /// Close the window, asking about unsaved changes first.
    Quit,
    /// Save the changes that were asked about, or not, and go on.
    Answer {
        /// Save them.
        save: bool,
    },
    /// Do neither.
    CancelQuestion,
}

impl Act for ProjectCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::Save => save(state, fx),
            Self::New => ask(state, Then::New, fx),
            Self::Quit => ask(state, Then::Quit, fx),
            Self::Answer { save } => answer(state, save, fx),
            Self::CancelQuestion => state.asking = None,
        }
    }
}

/// The project that is open.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenProject {
    /// File of the project.
    pub path: PathBuf,
    /// What the file says.
    pub written: Project,
}

/// What waits until the user has said what becomes of unsaved changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// Close the window.
    Quit,
    /// Open this project.
    Open(PathBuf),
    /// Begin with nothing.
    New,
}

impl AppState {
    /// The project as it would be saved now, with absolute paths.
    pub fn to_project(&self) -> Project {
        let mut project = Project::new();
        project.view = ProjectView {
            page: self.page.id().to_owned(),
            run: self.selected().map(|entry| entry.number),
            variable: self.selected_variable,
            panes: self.panes.clone(),
        };
        let fingerprint = |source: &str| {
            let open = self.data.as_ref().filter(|data| data.source == source);
            open.map(|data| data.loaded.table.fingerprint().to_owned())
                .or_else(|| self.expected_fingerprint.clone())
        };
        project.draft = self
            .document
            .as_ref()
            .map(|document| document.recipe.clone());
        project.data = match (&self.data, &project.draft) {
            (Some(data), draft) => Some(DataSection {
                fingerprint: fingerprint(&data.source),
                source: data.source.clone(),
                import: data.options.clone(),
                storage: draft
                    .as_ref()
                    .map(|draft| draft.data.storage)
                    .unwrap_or_default(),
            }),
            (None, Some(draft)) => Some(DataSection {
                fingerprint: fingerprint(&draft.data.source),
                ..draft.data.clone()
            }),
            (None, None) => None,
        };
        project.runs = self.runs.iter().filter_map(RunEntry::in_project).collect();
        project
    }

    /// Whether there is something that a save would keep: changes of an open project, or of a draft that has no project.
    pub fn has_unsaved_changes(&self) -> bool {
        match &self.project {
            // Its runs are not all there yet.
            Some(_) if self.reading_project.is_some() => false,
            Some(open) => !self.to_project().says_the_same_as(&open.written),
            None => (self.document.is_some() && self.history.can_undo()) || self.made_runs() > 0,
        }
    }

    /// Runs whose chains would be stopped by closing.
    pub fn active_runs(&self) -> usize {
        self.runs.iter().filter(|entry| entry.is_active()).count()
    }

    /// Runs that were made in this window and ended. In a project they are part of what is saved.
    pub fn made_runs(&self) -> usize {
        let made = |entry: &&RunEntry| entry.run().is_some() && !entry.is_active();
        self.runs.iter().filter(made).count()
    }

    /// Name of the open project.
    pub fn project_name(&self) -> Option<String> {
        let stem = self.project.as_ref()?.path.file_stem()?;
        Some(stem.to_string_lossy().into_owned())
    }
}

impl RunEntry {
    /// What a project says of the run, once it has a place.
    fn in_project(&self) -> Option<ProjectRun> {
        Some(ProjectRun {
            number: self.number,
            name: self.label.name.clone(),
            note: self.label.note.clone(),
            path: std::path::absolute(self.place()?).ok()?,
            started: self.recipe.clone(),
        })
    }

    /// Folder of the run, or the file of draws it was read from.
    pub fn place(&self) -> Option<&Path> {
        match (&self.saved, &self.folder) {
            (Saved::At(path), _) => Some(path),
            (_, Some(folder)) => Some(folder.path()),
            _ => None,
        }
    }
}

/// Does `then` at once, or asks first if something would be lost.
pub(super) fn ask(state: &mut AppState, then: Then, fx: &mut dyn Effects) {
    let runs_stop = state.active_runs() > 0;
    if state.has_unsaved_changes() || runs_stop {
        state.asking = Some(then);
    } else {
        proceed(state, then, fx);
    }
}

/// What was asked about is to be done.
pub(super) fn proceed(state: &mut AppState, then: Then, fx: &mut dyn Effects) {
    state.asking = None;
    state.after_save = None;
    match then {
        Then::Quit => {
            remember_runs(state);
            state.closing = true;
        }
        Then::Open(path) => open(state, &path, fx),
        Then::New => {
            let runs = state.made_runs() > 0 && state.project.is_none();
            clear(state);
            if runs {
                state.say(
                    "The earlier runs are in their folders; open them from Recent",
                    false,
                );
            }
        }
    }
}

/// Saves to the project's file, or asks for one.
fn save(state: &mut AppState, fx: &mut dyn Effects) {
    match state.project.as_ref().map(|open| open.path.clone()) {
        Some(path) => save_to(state, path, fx),
        None => Product::Project.pick(state, fx),
    }
}

/// A file name for a project without one.
pub fn proposed_name(state: &AppState) -> String {
    let stem = state.project_name().or_else(|| {
        let name = state.data.as_ref()?.loaded.table.name();
        Some(name.split('.').next().unwrap_or(name).to_owned())
    });
    format!("{}.{EXTENSION}", stem.as_deref().unwrap_or("project"))
}

/// The file that a project is saved to under the name `path`: projects are known by their ending, which is added to every other one.
pub fn file_of(path: &Path) -> PathBuf {
    let has_it = |ending: &OsStr| ending.eq_ignore_ascii_case(EXTENSION);
    match path.file_name() {
        Some(name) if !path.extension().is_some_and(has_it) => {
            let mut name = name.to_owned();
            name.push(format!(".{EXTENSION}"));
            path.with_file_name(name)
        }
        _ => path.to_owned(),
    }
}

/// Saves under the name `path`.
pub(super) fn save_as(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    save_to(state, file_of(path), fx);
}

fn save_to(state: &mut AppState, path: PathBuf, fx: &mut dyn Effects) {
    let project = state.to_project();
    let written = project.clone();
    let place = path.clone();
    state.begin_surely(
        fx,
        ("Saving the project", ""),
        move |_control| project.write(&path),
        move |state, ended, fx| saved(state, (place, written), ended, fx),
    );
}

fn saved(
    state: &mut AppState,
    (path, project): (PathBuf, Project),
    ended: Ended<()>,
    fx: &mut dyn Effects,
) {
    if let Ended::Failed(message) = ended {
        state.after_save = None;
        state.say(message, true);
        return;
    }
    let missing = state.runs.len() - project.runs.len();
    state.preferences.remember(&path);
    state.runs_home = path.parent().unwrap_or(Path::new("")).to_owned();
    state.say(
        match missing {
            0 => format!("Saved {}", path.display()),
            1 => format!(
                "Saved {}; one run has no folder and is not in it",
                path.display()
            ),
            n => format!(
                "Saved {}; {n} runs have no folder and are not in it",
                path.display()
            ),
        },
        false,
    );
    state.project = Some(OpenProject {
        path,
        written: project,
    });
    // One may have begun while the file was written.
    name_going(state);
    if let Some(then) = state.after_save.take() {
        proceed(state, then, fx);
    }
}

/// Names runs that go on in the file of the open project, which after a crash leads to their draws. Nothing else in it changes.
/// It is written at once, so that a save that was asked for later is the later one.
pub(super) fn name_going(state: &mut AppState) {
    let Some(open) = &mut state.project else {
        return;
    };
    let named = |run: &ProjectRun| open.written.runs.iter().any(|it| it.number == run.number);
    let going = state.runs.iter().filter(|entry| entry.is_active());
    let new: Vec<ProjectRun> = (going.filter_map(RunEntry::in_project))
        .filter(|run| !named(run))
        .collect();
    if new.is_empty() {
        return;
    }
    open.written.runs.extend(new);
    open.written.runs.sort_by_key(|run| run.number);
    if let Err(error) = open.written.write(&open.path) {
        state.say(error.to_string(), true);
    }
}

/// Run folders that a closed project leaves among the recent files: its last ones, so that other files stay there too.
const RECENT_RUNS: usize = 4;

/// Keeps folders of runs that no project file names at hand among the recent files.
fn remember_runs(state: &mut AppState) {
    if state.project.is_some() {
        return;
    }
    let made = state.runs.iter().filter(|entry| entry.run().is_some());
    let places: Vec<PathBuf> = made
        .filter_map(|entry| std::path::absolute(entry.place()?).ok())
        .collect();
    for place in places.iter().rev().take(RECENT_RUNS).rev() {
        state.preferences.remember(place);
    }
}

/// Keeps the folder of a run that goes on among the recent files: after a crash nothing else would name it where no project does.
pub(super) fn remember_going(state: &mut AppState, id: u64) {
    let folder = state.run(id).and_then(|entry| entry.folder.as_ref());
    if let Some(Ok(place)) = folder.map(|folder| std::path::absolute(folder.path())) {
        state.preferences.remember(&place);
    }
}

/// Takes the folder of a run that is saved out of them again; the window shows it, and says where it is when it closes.
pub(super) fn forget_going(state: &mut AppState, folder: &Path) {
    if let Ok(place) = std::path::absolute(folder) {
        state.preferences.forget(&place);
    }
}

/// Everything goes but preferences; running chains stop, their folders keep what they drew.
pub(super) fn clear(state: &mut AppState) {
    remember_runs(state);
    *state = AppState {
        preferences: std::mem::take(&mut state.preferences),
        examples: state.examples.take(),
        // Work that nobody waits for any more is cancelled with what held it, and is known until it has ended.
        tasks: std::mem::take(&mut state.tasks),
        // These go on, so that what is still on its way belongs to nothing.
        next_run: state.next_run,
        next_serial: state.next_serial,
        ..AppState::default()
    };
}

/// Opens a project: its draft and finished results at once, its data as soon as they are read.
pub(super) fn open(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    let project = match Project::read(path) {
        Ok(project) => project,
        Err(error) => {
            state.problem = Some(FileProblem {
                message: error.to_string(),
                path: Some(path.to_owned()),
                ragged: None,
            });
            return;
        }
    };
    clear(state);
    let path = std::path::absolute(path).unwrap_or_else(|_bad| path.to_owned());
    state.preferences.remember(&path);
    state.runs_home = path.parent().unwrap_or(Path::new("")).to_owned();
    let numbers = project.runs.iter().map(|run| run.number);
    state.last_number = numbers.max().unwrap_or(0);
    state.document = project.draft.clone().map(Document::of_recipe);
    state.panes.clone_from(&project.view.panes);
    state.expected_fingerprint = project
        .data
        .as_ref()
        .and_then(|data| data.fingerprint.clone());
    state.page = match Page::find(&project.view.page) {
        Some(page) if page != Page::Start => page,
        _ if !project.runs.is_empty() => Page::Runs,
        _ if project.draft.is_some() => Page::Model,
        _ => Page::Start,
    };
    if let Some(data) = project.data.clone() {
        let options = data.import.clone();
        start_loading(state, Origin::Project(Box::new(data)), options, fx);
    }
    let work = project.clone();
    let name = path.display().to_string();
    let control = state.begin(
        fx,
        ("Opening the project", &name),
        move |control| read_runs(work.runs, control),
        runs_read,
    );
    state.reading_project = Some(Opening {
        name,
        serial: 0,
        control,
    });
    state.project = Some(OpenProject {
        path,
        written: project,
    });
}

/// A run of a project with the draft it was started from, and its results.
type ProjectRunRead = (ProjectRun, Box<ReadRun>);

/// The runs of a project that are found, and a sentence for each that is not.
type RunsRead = (Vec<ProjectRunRead>, Vec<String>);

fn read_runs(runs: Vec<ProjectRun>, control: &Control) -> Result<RunsRead, ExportError> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let count = runs.len() as f64;
    control.enter("reading draws");
    control.expect(reading::STEPS);
    for (index, run) in runs.into_iter().enumerate() {
        let told = |share: f64| reading::tell(control, (index as f64 + share) / count);
        match reading::read_place(&run.path, &told) {
            Ok((recipe, read)) => {
                let started = run.started.clone().or(recipe);
                found.push((ProjectRun { started, ..run }, Box::new(read)));
            }
            Err(error) => problems.push(format!(
                "Run {} of the project cannot be shown; put its folder back, or save the project without it \
                 ({error})",
                run.number
            )),
        }
        control.check(ExportError::Cancelled)?;
    }
    Ok((found, problems))
}

/// Shows the runs of a project that was read.
fn runs_read(state: &mut AppState, ended: Ended<RunsRead>, _fx: &mut dyn Effects) {
    state.reading_project = None;
    let (runs, problems) = match ended {
        Ended::Done(read) => read,
        ended => {
            // Saving now would lose the runs.
            state.project = None;
            let text =
                "The runs of the project were not read; open it again to see them".to_owned();
            let why = match ended {
                Ended::Failed(why) => format!("{text} ({why})"),
                _ => text,
            };
            (Vec::new(), vec![why])
        }
    };
    for (run, read) in runs {
        let number = run.number;
        state.next_run += 1;
        // Runs that were started meanwhile stand after those of the project.
        let at = state.runs.partition_point(|entry| entry.number < number);
        // What stands in the folder is newer than what the project was saved with.
        let label = Label::read(&run.path).unwrap_or(Label {
            name: run.name,
            note: run.note,
        });
        state.runs.insert(
            at,
            RunEntry {
                saved: Saved::At(run.path),
                label,
                ..RunEntry::new(state.next_run, number, run.started, RunPhase::Read(read))
            },
        );
    }
    for problem in problems {
        state.say(problem, true);
    }
    let view = state.project.as_ref().map(|open| open.written.view.clone());
    if let Some(view) = view {
        let shown = view.run.and_then(|number| {
            let mut runs = state.runs.iter();
            runs.find(|entry| entry.number == number)
        });
        state.selected_run = shown
            .map(|entry| entry.id)
            .or(state.selected_run)
            .or(state.runs.last().map(|entry| entry.id));
        let count = state.selected().map_or(0, |entry| entry.variables().len());
        state.selected_variable = view.variable.min(count.saturating_sub(1));
        // The first one is where every run begins.
        state.variable_is_chosen = state.selected_variable > 0;
    }
    if state.page == Page::Runs && state.runs.is_empty() {
        state.page = if state.document.is_some() {
            Page::Model
        } else {
            Page::Start
        };
    }
}

/// The answer to the question about unsaved changes.
fn answer(state: &mut AppState, keep: bool, fx: &mut dyn Effects) {
    let Some(then) = state.asking.take() else {
        return;
    };
    if keep {
        state.after_save = Some(then);
        save(state, fx);
    } else {
        proceed(state, then, fx);
    }
}

#[cfg(test)]
mod tests;
