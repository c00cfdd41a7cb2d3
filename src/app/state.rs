//! The whole state of the window, plain data that panels read.

use std::path::PathBuf;
use std::sync::Arc;

use super::calibrating::Calibrated;
use super::comparing::Comparison;
use super::document::{Document, History};
use super::entry::{RunEntry, RunPhase};
use super::examples::Example;
use super::file_change::Stamp;
use super::notices::{Message, Toast};
use super::page::Page;
use super::preferences::Preferences;
use super::prior_preview::PriorPreview;
use super::project::{OpenProject, Then};
use super::quick_fixes::QuickFix;
use super::tasks::{Handle, Pick, Task, Tasks};
use super::trials::Tuned;
use ergodic_analysis::Recipe;
use ergodic_analysis::likelihood::LikelihoodFit;
use ergodic_analysis::prior_predictive::{PreviewRows, PriorPredictive};
use ergodic_base::Warning;
use ergodic_core::families::Family;
use ergodic_core::models::translation::Translation;
use ergodic_core::models::{ModelError, ParamInfo};

use ergodic_core::samplers::Refusal;
use ergodic_core::samplers::recommend::Advice;
use ergodic_data::suggest::Suggestions;
use ergodic_data::{ImportOptions, Loaded, Profile, RaggedLines, Role};
use ergodic_export::project::PaneLayout;

/// An open table.
#[derive(Clone)]
pub struct DataState {
    /// File, or `None` for bundled data.
    pub path: Option<PathBuf>,
    /// Source as recipes write it.
    pub source: String,
    /// The table, how it was read, what was remarked.
    pub loaded: Arc<Loaded>,
    /// What the user changed about the reading.
    pub options: ImportOptions,
    /// What the columns could be in a model.
    pub suggestions: Arc<Suggestions>,
    /// Profiles of the columns, once they are known.
    pub profiles: Option<Arc<Vec<Profile>>>,
    /// Seconds that reading took.
    pub read_secs: f64,
    /// The file as it was when reading began, or when its change was told.
    pub(super) stamp: Option<Stamp>,
}

/// What a check of the draft model found; made on a background thread whenever the draft changes.
#[derive(Clone, Debug, Default)]
pub struct ModelCheck {
    /// Why the model cannot be fitted, if it cannot.
    pub error: Option<String>,
    /// Whether the check was cancelled or broken off, so that the error is none of the model.
    pub is_unfinished: bool,
    /// The draft with data, model and priors filled in as recipes of runs have them; none if it cannot be fitted.
    pub completed: Option<Recipe>,
    /// Family of the outcome under a mixed model, and why, as what follows "because"; known also where the model cannot be fitted.
    pub family: Option<(Family, String)>,
    /// Why the template is the one for its outcome, as what follows "because".
    pub chosen: Option<String>,
    /// The response with its success level and counts.
    pub response: String,
    /// Whether the response is any number of categories, none of which is a success.
    pub categories: bool,
    /// Whether the last level of the response is the one that counts as success.
    pub has_success: bool,
    /// Levels of the response, to choose success from.
    pub response_levels: Vec<(String, usize)>,
    /// Rows used and rows in the table.
    pub rows: (usize, usize),
    /// Columns with missing values and how many.
    pub dropped: Vec<(String, usize)>,
    /// Reference level per categorical predictor.
    pub references: Vec<(String, String)>,
    /// Parameters with priors.
    pub params: Vec<ParamInfo>,
    /// Density of each parameter's prior on a grid: value and density; empty where it has none.
    pub prior_curves: Vec<Vec<(f64, f64)>>,
    /// Rows to imagine outcomes of.
    pub preview_rows: Option<Arc<PreviewRows>>,
    /// What the priors expect in outcome units, or why that is not known.
    pub expected: Option<Result<PriorPredictive, String>>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// What helps against each remark.
    pub quick_fixes: Vec<Vec<QuickFix>>,
    /// What helps against the error.
    pub ways_out: Vec<QuickFix>,
    /// The draft's model in other notations, or why it is not written down.
    pub translation: Option<Result<Translation, ModelError>>,
    /// Coordinates of the model by name, which settings of samplers may name.
    pub parts: Vec<ergodic_core::models::Block>,
    /// Samplers that cannot sample this model, and why: identifier and what follows "Sampler `id` ".
    pub unsuitable: Vec<Refusal>,
}

impl ModelCheck {
    /// Why the model cannot be fitted, where the check has found that.
    pub fn refusal(&self) -> Option<&str> {
        let error = self.error.as_deref();
        error.filter(|_| !self.is_unfinished)
    }
}

/// How samplers rank for a draft.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The draft as it was then.
    pub recipe: Recipe,
    /// The ranking.
    pub advice: Advice,
}

impl Advised {
    /// Whether the ranking holds for `recipe`: what decides it is the same.
    pub fn holds_for(&self, recipe: &Recipe) -> bool {
        let mine = &self.recipe;
        mine.model == recipe.model
            && mine.priors == recipe.priors
            && mine.data == recipe.data
            && mine.mode == recipe.mode
            && mine.run.max_seconds == recipe.run.max_seconds
    }
}

/// Reading a file, while it lasts.
pub struct Loading {
    /// What is being read.
    pub name: String,
    /// Progress and cancellation.
    pub control: Handle,
    /// How the file is being read.
    pub options: ImportOptions,
    /// If the open data are being read again: how they were.
    pub before: Option<ImportOptions>,
}

/// Results being read.
#[derive(Debug, Default)]
pub struct Opening {
    /// Name of the folder or file.
    pub name: String,
    /// Counts readings.
    pub serial: u64,
    /// How far opening is.
    pub control: Handle,
}

/// A path that is being typed, where the system has no file dialog or somebody would rather type.
#[derive(Clone, Debug, PartialEq)]
pub struct Typing {
    /// What the path is for.
    pub purpose: Pick,
    /// What stands there at first.
    pub proposed: PathBuf,
    /// Whether the path was asked for because there is no file dialog.
    pub no_dialog: bool,
}

/// A problem with a file, shown as a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileProblem {
    /// What and where.
    pub message: String,
    /// The file.
    pub path: Option<PathBuf>,
    /// The lines of another length that it was refused for, and how it was read.
    pub ragged: Option<(RaggedLines, ImportOptions)>,
}

/// A run that was taken out of the list.
pub(super) struct Removed {
    pub entry: RunEntry,
    /// Place of the run in the list.
    pub index: usize,
    /// Changes of the draft that could be taken back then: it is brought back before any of those.
    pub steps: usize,
}

/// The whole state.
#[derive(Default)]
pub struct AppState {
    /// What is shown.
    pub page: Page,
    /// The open table.
    pub data: Option<DataState>,
    /// A file being read.
    pub loading: Option<Loading>,
    /// Run folders and files of draws being read.
    pub opening: Vec<Opening>,
    /// What is wrong with the file that was opened last.
    pub problem: Option<FileProblem>,
    /// The draft.
    pub document: Option<Document>,
    /// History of the draft.
    pub history: History,
    /// The newest check of the draft's model.
    pub check: Option<Arc<ModelCheck>>,
    /// The check that is being made.
    pub checking: Option<Handle>,
    /// A prior being typed.
    pub preview: Option<PriorPreview>,
    /// How samplers rank for a draft.
    pub advice: Task<Advised>,
    /// Samplers compared by running them, as far as it was asked for.
    pub comparison: Option<Comparison>,
    /// What trials of step sizes said.
    pub tuned: Task<Tuned>,
    /// What simulations said.
    pub calibrated: Task<Calibrated>,
    /// The likelihood fit of a draft.
    pub estimated: Task<Arc<LikelihoodFit>>,
    /// Everything that goes on in the background but chains.
    pub tasks: Tasks,
    /// Runs, oldest first.
    pub runs: Vec<RunEntry>,
    /// The run shown.
    pub selected_run: Option<u64>,
    /// The variable shown.
    pub selected_variable: usize,
    /// Whether somebody chose it; until then a pane may begin with another one that it has reason to show.
    pub variable_is_chosen: bool,
    /// A row of the open table, 0-based, that the data page is to show, and how often one was asked for.
    pub row_asked: Option<(u64, usize)>,
    /// How the panes of runs are arranged, if not as at first.
    pub panes: Option<PaneLayout>,
    /// Pictures of the bundled data sets, once they are drawn.
    pub examples: Option<Arc<Vec<Example>>>,
    /// Messages of the window itself, the one said last at the end; one that is said again is counted.
    pub messages: Vec<Message>,
    /// The present toast.
    pub toast: Option<Toast>,
    /// Remembered choices.
    pub preferences: Preferences,
    /// The project that is open.
    pub project: Option<OpenProject>,
    /// What waits for an answer about unsaved changes.
    pub asking: Option<Then>,
    /// The run whose name and note are asked for.
    pub naming: Option<u64>,
    /// What a path is being typed for.
    pub typing: Option<Typing>,
    /// The window is to close now.
    pub closing: bool,
    /// Where runs of bundled data go; the working folder if empty.
    pub runs_home: PathBuf,
    /// Fingerprint of the data that the project was saved with.
    pub(super) expected_fingerprint: Option<String>,
    pub(super) after_save: Option<Then>,
    pub(super) reading_project: Option<Opening>,
    /// A role to give once the column has been read with another type.
    pub(super) pending_role: Option<(String, Role)>,
    /// Runs that were taken out of the list, the last one at the end, and where each stood.
    pub(super) removed: Vec<Removed>,
    /// Run the draft once its data have been read.
    pub(super) run_when_read: bool,
    /// Identifies runs in this window; never used twice.
    pub(super) next_run: u64,
    /// Number of the last run of the project.
    pub(super) last_number: u64,
    pub(super) next_serial: u64,
}

impl AppState {
    /// The run shown.
    pub fn selected(&self) -> Option<&RunEntry> {
        self.selected_run.and_then(|id| self.run(id))
    }

    /// The run with this number.
    pub fn run(&self, id: u64) -> Option<&RunEntry> {
        self.runs.iter().find(|entry| entry.id == id)
    }

    pub(super) fn run_mut(&mut self, id: u64) -> Option<&mut RunEntry> {
        self.runs.iter_mut().find(|entry| entry.id == id)
    }

    /// Adds a run behind the others, under the next number, and shows it.
    pub(super) fn add_run(&mut self, recipe: Option<Recipe>, phase: RunPhase) -> &mut RunEntry {
        self.next_run += 1;
        self.last_number += 1;
        let entry = RunEntry::new(self.next_run, self.last_number, recipe, phase);
        self.selected_run = Some(entry.id);
        self.selected_variable = 0;
        self.variable_is_chosen = false;
        self.page = Page::Runs;
        let index = self.runs.len();
        self.runs.push(entry);
        &mut self.runs[index]
    }

    /// Runs of the project that are still being read, or that were opened and are being read.
    pub fn runs_being_opened(&self) -> usize {
        let of_project = match (&self.reading_project, &self.project) {
            (Some(_), Some(open)) => open.written.runs.len(),
            _ => 0,
        };
        of_project + self.opening.len()
    }

    /// Share of the reading of those runs that is done.
    pub fn share_opened(&self) -> f64 {
        let shares: Vec<f64> = (self.reading_project.iter().chain(&self.opening))
            .map(|opening| opening.control.fraction().unwrap_or(0.0))
            .collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    }

    /// Whether anything goes on: a task, or chains.
    pub fn is_busy(&self) -> bool {
        let has_chains = |entry: &RunEntry| entry.is_active() || entry.control.is_some();
        self.tasks.are_busy() || self.runs.iter().any(has_chains)
    }

    /// The recipe of the draft and its data. An incomplete draft is refused with what follows from that: "samplers cannot be compared".
    pub(super) fn complete_draft(&mut self, consequence: &str) -> Option<(Recipe, Arc<Loaded>)> {
        let (data, document) = (self.data.as_ref()?, self.document.as_ref()?);
        if document.is_runnable() {
            return Some((document.recipe.clone(), Arc::clone(&data.loaded)));
        }
        self.refuse(format!("The model is not complete, so {consequence}"));
        None
    }
}
