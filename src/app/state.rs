//! The whole state of the window, plain data that panels read.

use std::path::PathBuf;
use std::sync::Arc;

use super::calibrating::{Calibrated, CalibrationTask};
use super::command::{Command, Page};
use super::comparing::Comparison;
use super::document::{Document, History};
use super::entry::{Correction, Influence, RunEntry};
use super::examples::Example;
use super::foreseeing::PriorPreview;
use super::preferences::Preferences;
use super::project::{OpenProject, Then};
use super::remedies::Remedy;
use super::trials::{TrialsTask, Tuned};
use crate::base::reporter::{Severity, Warning};
use crate::data::load::{LoadControl, Loaded};
use crate::data::profile::Profile;
use crate::data::roles::Role;
use crate::data::sniff::ImportOptions;
use crate::engine::likelihood::{LikelihoodControl, LikelihoodFit};
use crate::engine::prior_predictive::{Outlook, PriorPredictive};
use crate::engine::{PrepareControl, Recipe};
use crate::export::project::PaneLayout;
use crate::models::ParamInfo;
use crate::models::elsewhere::Elsewhere;
use crate::samplers::advise::Advice;

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
    /// Profiles of the columns, once they are known.
    pub profiles: Option<Arc<Vec<Profile>>>,
    /// Seconds that reading took.
    pub read_secs: f64,
}

/// What a check of the draft model found; made on a background thread whenever the draft changes.
#[derive(Clone, Debug, Default)]
pub struct ModelCheck {
    /// Why it cannot be fitted, if it cannot.
    pub error: Option<String>,
    /// The response with its success level and counts.
    pub response: String,
    /// Whether the response is any number of categories, none of which is a success.
    pub categories: bool,
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
    pub outlook: Option<Arc<Outlook>>,
    /// What the priors expect in outcome units, or why that is not known.
    pub expected: Option<Result<PriorPredictive, String>>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// What helps against each of them.
    pub remedies: Vec<Vec<Remedy>>,
    /// What helps against the error.
    pub ways_out: Vec<Remedy>,
    /// The same model in other notations, or why it is not written down.
    pub elsewhere: Option<Result<Elsewhere, String>>,
    /// Its coordinates by name, which settings of samplers may name.
    pub parts: Vec<crate::models::Block>,
    /// Samplers that cannot sample this model, and why: identifier and what follows "Sampler `id` ".
    pub unsuitable: Vec<(&'static str, String)>,
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
    /// Whether it holds for `recipe`: what decides it is the same.
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
    pub control: Arc<LoadControl>,
    /// Counts loads, so that a result that was overtaken is dropped.
    pub generation: u64,
}

/// A short message at the bottom of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    /// The sentence.
    pub text: String,
    /// Errors stay longer than news, but not on another page.
    pub is_error: bool,
    /// What could be done about it: words of a button and its command.
    pub act: Option<(String, Command)>,
    /// Counts toasts, so that a view can time each.
    pub serial: u64,
}

/// A problem with a file, shown as a page.
#[derive(Clone, Debug, PartialEq)]
pub struct FileProblem {
    /// What and where.
    pub message: String,
    /// The file.
    pub path: Option<PathBuf>,
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
    /// What is wrong with the file that was opened last.
    pub problem: Option<FileProblem>,
    /// The draft.
    pub document: Option<Document>,
    /// Its history.
    pub history: History,
    /// The newest check of the draft's model.
    pub check: Option<Arc<ModelCheck>>,
    /// Counts checks asked for.
    pub check_generation: u64,
    /// Whether a check is being made.
    pub checking: bool,
    /// A prior being typed.
    pub preview: Option<PriorPreview>,
    /// How samplers rank for a draft, as far as it was asked for.
    pub advice: Option<Advised>,
    /// The ranking that is being made.
    pub advising: Option<Arc<PrepareControl>>,
    /// Samplers compared by running them, as far as it was asked for.
    pub comparison: Option<Comparison>,
    /// Step sizes that are being tried.
    pub trials: Option<Arc<TrialsTask>>,
    /// What the last trials said.
    pub tuned: Option<Tuned>,
    /// The calibration that is running.
    pub calibrating: Option<Arc<CalibrationTask>>,
    /// What the last calibration said.
    pub calibrated: Option<Calibrated>,
    /// The likelihood fit that is being made.
    pub estimating: Option<Arc<LikelihoodControl>>,
    /// The last likelihood fit.
    pub estimated: Option<Arc<LikelihoodFit>>,
    /// Runs, oldest first.
    pub runs: Vec<RunEntry>,
    /// The run shown.
    pub selected_run: Option<u64>,
    /// The variable shown.
    pub selected_variable: usize,
    /// How the panes of runs are arranged, if not as at first.
    pub panes: Option<PaneLayout>,
    /// Pictures of the bundled data sets, once they are drawn.
    pub examples: Option<Arc<Vec<Example>>>,
    /// Messages of the window itself, oldest first.
    pub messages: Vec<Warning>,
    /// The present toast.
    pub toast: Option<Toast>,
    /// Remembered choices.
    pub preferences: Preferences,
    /// The project that is open.
    pub project: Option<OpenProject>,
    /// What waits for an answer about unsaved changes.
    pub asking: Option<Then>,
    /// The window is to close now.
    pub closing: bool,
    /// Where runs of bundled data go; the working folder if empty.
    pub runs_home: PathBuf,
    /// Fingerprint of the data that the project was saved with.
    pub(super) expected_fingerprint: Option<String>,
    pub(super) after_save: Option<Then>,
    pub(super) reading_project: Option<u64>,
    /// A role to give once the column has been read with another type.
    pub(super) pending_role: Option<(String, Role)>,
    pub(super) next_run: u64,
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

    /// Whether a run is being prepared or has working chains.
    pub fn is_busy(&self) -> bool {
        self.loading.is_some()
            || self.reading_project.is_some()
            || self
                .comparison
                .as_ref()
                .is_some_and(|comparison| comparison.working)
            || self.runs.iter().any(|entry| {
                entry.is_active()
                    || entry.control.is_some()
                    || matches!(entry.correction, Correction::Working(..))
                    || matches!(entry.influence, Influence::Working(_))
            })
    }

    /// Shows a toast; errors also go into the messages.
    pub fn say(&mut self, text: impl Into<String>, is_error: bool) {
        let text = text.into();
        if is_error {
            self.messages
                .push(Warning::new(Severity::Bad, "error", text.clone()));
        }
        self.next_serial += 1;
        self.toast = Some(Toast {
            text,
            is_error,
            act: None,
            serial: self.next_serial,
        });
    }

    /// Adds a button with `words` to the present toast.
    pub fn offer(&mut self, words: String, command: Command) {
        if let Some(toast) = &mut self.toast {
            toast.act = Some((words, command));
        }
    }
}
