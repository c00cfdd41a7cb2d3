//! Opening files: what kind they are, reading tables, taking them into use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::checking::request_check;
use super::command::Act;
use super::document::Document;
use super::draft_change::DraftChange;
use super::entry::{ReadRun, RunPhase, Saved};
use super::file_change::{self, Stamp};
use super::outcome::{self, FIRST_TEMPLATE};
use super::page::Page;
use super::project::{self, Then};
use super::reading;
use super::running::RunCommand;
use super::state::{AppState, DataState, FileProblem, Loading, Opening};
use super::tasks::{Effects, Ended};
use super::update::update;
use ergodic_analysis::{DataSection, Recipe, SAMPLE_PREFIX, lesson};
use ergodic_base::settings::Value;
use ergodic_core::engine::Start;
use ergodic_data::suggest::Suggestions;
use ergodic_data::{DataError, ImportOptions, Loaded, load, nothing, profile, samples};
use ergodic_export::ExportError;
use ergodic_export::label::Label;
use ergodic_export::project::{EXTENSION, Project};
use ergodic_language::Own;

/// The text that a model without data begins with.
const FIRST_TEXT: &str = include_str!("../../examples/models/eight_schools.model");

/// What is done with files and with the data.
#[derive(Clone, Debug, PartialEq)]
pub enum DataCommand {
    /// Open a data file, recipe, project, run folder or file of draws; the kind is found out.
    Open(PathBuf),
    /// Open a bundled data set.
    OpenSample(String),
    /// Begin a model as text that needs no data.
    BeginWithoutData,
    /// Run the bundled recipe that ends badly, to see what that looks like.
    RunLesson,
    /// Stop reading the file.
    CancelLoad,
    /// Read the file again with these options.
    SetImport(ImportOptions),
    /// Read the file that was refused again with these options.
    ReadAgain(ImportOptions),
    /// Use the table as it was read and go on to the model.
    AcceptImport,
    /// Look whether the file of the open data has changed since it was read.
    LookAtFile,
    /// Close the data and the draft; runs stay.
    Close,
}

impl Act for DataCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::Open(path) => open(state, &path, fx),
            Self::OpenSample(id) => {
                start_loading(state, Origin::Sample(id), ImportOptions::default(), fx);
            }
            Self::BeginWithoutData => without_data(state, fx),
            Self::RunLesson => run_lesson(state, fx),
            Self::CancelLoad => {
                give_up(state);
                state.opening.clear();
            }
            Self::SetImport(options) => {
                if let Some(data) = &state.data {
                    start_loading(state, origin_of(data), options, fx);
                }
            }
            Self::ReadAgain(options) => read_again(state, options, fx),
            Self::AcceptImport => accept_import(state, fx),
            Self::LookAtFile => file_change::look(state, fx),
            Self::Close => {
                state.data = None;
                state.document = None;
                state.check = None;
                state.history = Default::default();
                state.page = if state.runs.is_empty() {
                    Page::Start
                } else {
                    Page::Runs
                };
            }
        }
    }

    fn takes_what_is_typed(&self) -> bool {
        !matches!(self, Self::LookAtFile)
    }
}

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Origin {
    /// A file.
    File(PathBuf),
    /// A bundled data set.
    Sample(String),
    /// The data of a recipe that was opened.
    Recipe(Box<Recipe>, PathBuf),
    /// The data of a project, whose draft is there already.
    Project(Box<DataSection>),
}

fn open(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    state.problem = None;
    if let Some(id) = path
        .to_str()
        .and_then(|path| path.strip_prefix(SAMPLE_PREFIX))
    {
        let origin = Origin::Sample(id.to_owned());
        start_loading(state, origin, ImportOptions::default(), fx);
        return;
    }
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    if path.is_dir() {
        start_reading(state, path, fx);
    } else if extension == EXTENSION || (extension == "toml" && Project::read(path).is_ok()) {
        project::ask(state, Then::Open(path.to_owned()), fx);
    } else if extension == "toml" {
        match Recipe::read(path, &[]) {
            Ok(mut recipe) => {
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                if let Start::Run(run) = &mut recipe.run.start
                    && let Some(path) = folder.join(&*run).to_str()
                {
                    *run = path.to_owned();
                }
                state.preferences.remember(path);
                let options = recipe.data.import.clone();
                start_loading(state, Origin::Recipe(Box::new(recipe), folder), options, fx);
            }
            Err(error) => {
                state.problem = Some(FileProblem {
                    message: error.to_string(),
                    path: Some(path.to_owned()),
                    ragged: None,
                });
            }
        }
    } else if has_draws_header(path) {
        start_reading(state, path, fx);
    } else {
        start_loading(
            state,
            Origin::File(path.to_owned()),
            ImportOptions::default(),
            fx,
        );
    }
}

/// Begins a model as text without data, with one that can be run and changed.
fn without_data(state: &mut AppState, fx: &mut dyn Effects) {
    let source = format!("{SAMPLE_PREFIX}{}", nothing::ID);
    let mut recipe = Recipe::new(&source, Own::ID, "");
    let program = Value::Text(FIRST_TEXT.to_owned());
    recipe.model.settings.set(Own::PROGRAM, program);
    let origin = Origin::Recipe(Box::new(recipe), PathBuf::new());
    start_loading(state, origin, ImportOptions::default(), fx);
}

/// Reads the results of a folder or file.
fn start_reading(state: &mut AppState, path: &Path, fx: &mut dyn Effects) {
    state.next_serial += 1;
    let serial = state.next_serial;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let (path, place) = (path.to_owned(), path.to_owned());
    let control = state.begin(
        fx,
        ("Opening the run", &name),
        move |control| {
            control.enter("reading draws");
            control.expect(reading::STEPS);
            let read = reading::read_place(&path, &|share| reading::tell(control, share))?;
            // One that was given up has only a part of its history.
            control.check(ExportError::Cancelled)?;
            Ok::<_, ExportError>(read)
        },
        move |state, ended, _fx| {
            state.opening.retain(|it| it.serial != serial);
            was_read(state, place, ended);
        },
    );
    state.opening.push(Opening {
        name,
        serial,
        control,
    });
}

/// Shows a run that was read, or why it cannot be shown.
fn was_read(state: &mut AppState, path: PathBuf, ended: Ended<(Option<Recipe>, ReadRun)>) {
    match ended {
        Ended::Done((recipe, read)) => {
            let phase = RunPhase::Read(Box::new(read));
            let entry = state.add_run(recipe, phase);
            entry.label = Label::read(&path).unwrap_or_default();
            entry.saved = Saved::At(path.clone());
            state.preferences.remember(&path);
        }
        Ended::Failed(message) => {
            state.problem = Some(FileProblem {
                message,
                path: Some(path),
                ragged: None,
            });
        }
        Ended::Cancelled => {}
    }
}

/// Whether a file begins like a table of draws.
fn has_draws_header(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0_u8; 16];
    let read = std::fs::File::open(path)
        .and_then(|mut file| file.read(&mut start))
        .unwrap_or(0);
    start[..read].starts_with(b".chain,") || start[..read].starts_with(b"\".chain\",")
}

/// Reads the file that was refused again with these options.
fn read_again(state: &mut AppState, options: ImportOptions, fx: &mut dyn Effects) {
    let path = state
        .problem
        .as_ref()
        .and_then(|problem| problem.path.clone());
    if let Some(path) = path {
        start_loading(state, Origin::File(path), options, fx);
    }
}

fn origin_of(data: &DataState) -> Origin {
    match &data.path {
        Some(path) => Origin::File(path.clone()),
        None => Origin::Sample(data.source.trim_start_matches(SAMPLE_PREFIX).to_owned()),
    }
}

/// Ends the reading of a file that is no longer wanted.
fn give_up(state: &mut AppState) {
    state.pending_role = None;
    if let Some(loading) = state.loading.take() {
        keep_options(state, loading);
    }
}

/// The open data stay as they were read.
fn keep_options(state: &mut AppState, loading: Loading) {
    if let Some((before, data)) = loading.before.zip(state.data.as_mut()) {
        data.options = before;
    }
}

pub(super) fn start_loading(
    state: &mut AppState,
    origin: Origin,
    options: ImportOptions,
    fx: &mut dyn Effects,
) {
    state.problem = None;
    state.run_when_read = false;
    give_up(state);
    let name = match &origin {
        Origin::File(path) => path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        Origin::Sample(id) => id.clone(),
        Origin::Recipe(recipe, _) => recipe.data.source.clone(),
        Origin::Project(data) => data.source.clone(),
    };
    // What is read again shows at once how; another file leaves what is known of this one alone.
    let again = state.data.as_mut().filter(|data| origin_of(data) == origin);
    let before = again.map(|data| std::mem::replace(&mut data.options, options.clone()));
    let (from, given, place) = (origin.clone(), options.clone(), path_of(&origin));
    let control = state.begin(
        fx,
        ("Reading", &name),
        move |control| {
            let begun = Instant::now();
            let stamp = place.as_deref().and_then(Stamp::of);
            let result = match &from {
                Origin::File(path) => load(path, &given, control),
                Origin::Sample(id) => samples::load(id, &given, control),
                Origin::Recipe(recipe, folder) => match recipe.data_path(folder) {
                    Some(path) => load(&path, &given, control),
                    None => samples::load(recipe.sample().unwrap_or_default(), &given, control),
                },
                Origin::Project(data) => match data.source.strip_prefix(SAMPLE_PREFIX) {
                    Some(id) => samples::load(id, &given, control),
                    None => load(Path::new(&data.source), &given, control),
                },
            };
            // What is wrong with a file is more than a sentence.
            match result {
                Err(DataError::Cancelled) => Err(DataError::Cancelled),
                Err(error) => Ok(Err(error)),
                Ok(loaded) => Ok(Ok(Read {
                    suggestions: Arc::new(Suggestions::of(&loaded.table)),
                    loaded: Arc::new(loaded),
                    secs: begun.elapsed().as_secs_f64(),
                    stamp,
                })),
            }
        },
        |state, ended, fx| loaded(state, origin, ended, fx),
    );
    state.loading = Some(Loading {
        name,
        control,
        options,
        before,
    });
}

/// A table that was read.
struct Read {
    loaded: Arc<Loaded>,
    /// What its columns could be in a model.
    suggestions: Arc<Suggestions>,
    /// How long reading took.
    secs: f64,
    /// The file when reading began.
    stamp: Option<Stamp>,
}

/// The file that data come from; `None` of bundled data.
fn path_of(origin: &Origin) -> Option<PathBuf> {
    match origin {
        Origin::File(path) => Some(path.clone()),
        Origin::Sample(_) => None,
        Origin::Recipe(recipe, folder) => recipe.data_path(folder),
        Origin::Project(data) => {
            (!data.source.starts_with(SAMPLE_PREFIX)).then(|| PathBuf::from(&data.source))
        }
    }
}

/// Shows a table that was read, or what is wrong with the file.
fn loaded(
    state: &mut AppState,
    origin: Origin,
    ended: Ended<Result<Read, DataError>>,
    fx: &mut dyn Effects,
) {
    let Some(loading) = state.loading.take() else {
        return;
    };
    let result = match ended {
        Ended::Done(result) => result,
        Ended::Cancelled => {
            state.pending_role = None;
            keep_options(state, loading);
            return;
        }
        Ended::Failed(message) => {
            state.pending_role = None;
            keep_options(state, loading);
            state.say(message, true);
            return;
        }
    };
    let given = loading.options.clone();
    let path = path_of(&origin);
    let Read {
        loaded,
        suggestions,
        secs,
        stamp,
    } = match result {
        Ok(read) => read,
        Err(error) => {
            let message = match &origin {
                Origin::Project(_) => format!(
                    "The project's data cannot be read, its results can; open the data where they are now, or put them \
                     back ({error})"
                ),
                _ => error.to_string(),
            };
            // Only a file by itself is read again at once: a recipe or a project says how theirs is.
            let ragged = match (error, &origin) {
                (DataError::Ragged { lines, .. }, Origin::File(_)) => Some((*lines, given)),
                _ => None,
            };
            state.problem = Some(FileProblem {
                message,
                path,
                ragged,
            });
            state.pending_role = None;
            keep_options(state, loading);
            return;
        }
    };
    let source = match (&origin, &path) {
        (Origin::Sample(id), _) => format!("{SAMPLE_PREFIX}{id}"),
        (Origin::Recipe(recipe, _), None) => recipe.data.source.clone(),
        (Origin::Project(data), _) => data.source.clone(),
        (_, Some(path)) => std::path::absolute(path)
            .unwrap_or_else(|_bad| path.clone())
            .display()
            .to_string(),
        (_, None) => String::new(),
    };
    let options = match &origin {
        Origin::Recipe(recipe, _) => recipe.data.import.clone(),
        Origin::Project(data) => data.import.clone(),
        _ => given,
    };
    let same_source = state
        .data
        .as_ref()
        .is_some_and(|data| data.source == source);
    if let Origin::File(path) = &origin {
        state.preferences.remember(path);
    }
    let table = Arc::clone(&loaded);
    let profiled = table.table.fingerprint().to_owned();
    state.begin_surely(
        fx,
        ("Profiling the columns", ""),
        move |_control| Ok::<_, DataError>(Arc::new(profile(&table.table))),
        move |state, ended, _fx| match ended {
            Ended::Done(profiles) => {
                let data = state.data.as_mut();
                let same = data.filter(|data| data.loaded.table.fingerprint() == profiled);
                if let Some(data) = same {
                    data.profiles = Some(profiles);
                }
            }
            Ended::Failed(why) => state.say(why, true),
            Ended::Cancelled => {}
        },
    );
    let had_data = state.data.is_some();
    state.data = Some(DataState {
        path,
        source: source.clone(),
        loaded: Arc::clone(&loaded),
        options: options.clone(),
        suggestions,
        profiles: None,
        read_secs: secs,
        stamp,
    });
    match origin {
        Origin::Recipe(recipe, _) => {
            let mut recipe = *recipe;
            recipe.data.source = source;
            state.document = Some(Document::of_recipe(recipe));
            state.history = Default::default();
            state.page = Page::Model;
        }
        Origin::Project(_) => {
            let changed = |expected: &String| expected != loaded.table.fingerprint();
            if state.expected_fingerprint.as_ref().is_some_and(changed) {
                state.say(
                    "The data have changed since the project was saved; its results are marked stale",
                    true,
                );
            }
            if state.page == Page::Start {
                state.page = Page::Data;
            }
        }
        Origin::File(_) if state.document.is_some() && !had_data => {
            // The data of a project whose place has changed: its draft goes on with them.
            if let Some(document) = &mut state.document {
                document.recipe.data.source.clone_from(&source);
            }
        }
        _ if same_source && state.document.is_some() => {
            // The same file read differently: the draft stays, and is checked against the new columns.
            if let Some(document) = &mut state.document {
                document.recipe.data.import = options;
            }
            state.page = Page::Data;
        }
        _ => {
            state.document = None;
            state.check = None;
            state.history = Default::default();
            state.page = Page::Data;
        }
    }
    request_check(state, fx);
    if std::mem::take(&mut state.run_when_read) {
        update(state, RunCommand::Start, fx);
    }
    if let Some((column, role)) = state.pending_role.take()
        && state.document.is_some()
    {
        update(state, DraftChange::Assign(column, role), fx);
    }
}

/// Reads the data of the lesson and runs its recipe.
fn run_lesson(state: &mut AppState, fx: &mut dyn Effects) {
    match lesson::recipe() {
        Ok(recipe) => {
            let options = recipe.data.import.clone();
            let origin = Origin::Recipe(Box::new(recipe), PathBuf::new());
            start_loading(state, origin, options, fx);
            state.run_when_read = true;
        }
        Err(error) => state.say(error.to_string(), true),
    }
}

fn accept_import(state: &mut AppState, fx: &mut dyn Effects) {
    let Some(data) = &state.data else { return };
    if state.document.is_none() {
        let mut document = Document::new(&data.source, FIRST_TEMPLATE);
        document.recipe.data.import = data.options.clone();
        let suggestion = data
            .source
            .strip_prefix(SAMPLE_PREFIX)
            .and_then(samples::find);
        match suggestion {
            Some(sample) => {
                sample
                    .template
                    .clone_into(&mut document.recipe.model.template);
                document.set_formula(sample.formula);
            }
            // What is not plain from a name is asked.
            None => {
                let guess = data.suggestions.guess.as_ref().filter(|guess| guess.sure);
                let guessed = guess.and_then(|guess| {
                    let table = &data.loaded.table;
                    outcome::explain(&document, &data.suggestions, table, &guess.column).ok()
                });
                if let Some((guessed, _)) = guessed {
                    document = guessed;
                }
            }
        }
        state.document = Some(document);
    }
    state.page = Page::Model;
    request_check(state, fx);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::DraftCommand;
    use crate::app::testing::Session;
    use ergodic_data::{ColumnKindOverride, Conversion, Role};

    #[test]
    fn open_data_keep_the_options_they_were_read_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "a.csv", "x,y\n1,2\n9,3\n");
        session.send(DataCommand::SetImport(ImportOptions {
            missing: Some(vec!["9".to_owned()]),
            ..ImportOptions::default()
        }));
        let options = |session: &Session| session.state.data.as_ref().unwrap().options.clone();
        let as_read = options(&session);
        assert_eq!(as_read.missing.as_deref(), Some(&["9".to_owned()][..]));

        // Another file, given up.
        let other = folder.path().join("b.csv");
        std::fs::write(&other, "u,v\n1,2\n").unwrap();
        session.begin(DataCommand::Open(other));
        assert_eq!(options(&session), as_read);
        session.send(DataCommand::CancelLoad);
        assert_eq!(options(&session), as_read);

        // The same file in another way, given up and refused.
        let column = "y".to_owned();
        let kind = Conversion::Import(ColumnKindOverride::Category);
        session.begin(DraftCommand::Convert(column, kind, Role::Predictor));
        assert_ne!(options(&session), as_read);
        session.send(DataCommand::CancelLoad);
        assert_eq!(options(&session), as_read);
        assert_eq!(session.state.pending_role, None);
        session.send(DataCommand::SetImport(ImportOptions {
            encoding: Some("klingon".to_owned()),
            ..as_read.clone()
        }));
        assert!(session.state.problem.is_some());
        assert_eq!(options(&session), as_read);
    }
}
