//! Long work on named threads; results come back as outcomes that the window hands to `update`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::calibrating::CalibrationTask;
use super::comparing::CompareControl;
use super::entry::{Prediction, ReadRun};
use super::examples::Example;
use super::state::ModelCheck;
use super::trials::TrialsTask;
use ergodic_analysis::calibration::Calibration;
use ergodic_analysis::likelihood::{LikelihoodControl, LikelihoodError, LikelihoodFit};
use ergodic_analysis::predict::PredictControl;
use ergodic_analysis::prior_predictive::PriorPredictive;
use ergodic_analysis::recipe::DataSection;
use ergodic_analysis::sensitivity::Sensitivity;
use ergodic_analysis::tuning::Tuning;
use ergodic_analysis::zero_variance::{CorrectControl, Corrected};
use ergodic_analysis::{Job, JobError, PrepareControl, Recipe};
use ergodic_core::engine::Report;
use ergodic_core::models::Model;
use ergodic_core::samplers::recommend::Advice;
use ergodic_data::DataError;
use ergodic_data::load::Loaded;
use ergodic_data::profile::Profile;
use ergodic_data::suggest::Suggestions;
use ergodic_export::project::Project;
use ergodic_export::resume::{ResumeError, Resumed};
use ergodic_export::{Claim, ExportError, RunFolder};

/// Outcomes that may wait; each is small or behind a pointer.
const MAX_WAITING: usize = 64;

/// What a task ends with.
pub enum Outcome {
    /// A file was read, or not.
    Loaded {
        /// Which load this was.
        generation: u64,
        /// Where it came from.
        origin: Origin,
        /// The table with what its columns could be in a model, or what is wrong.
        result: Result<(Arc<Loaded>, Arc<Suggestions>), DataError>,
        /// Seconds it took.
        secs: f64,
    },
    /// Column profiles of the table with this fingerprint.
    Profiled {
        /// Of the table.
        fingerprint: String,
        /// In order of columns.
        profiles: Arc<Vec<Profile>>,
    },
    /// The draft's model was checked.
    Checked {
        /// Which check this was.
        generation: u64,
        /// What was found.
        check: Arc<ModelCheck>,
    },
    /// A prior being typed was looked at, or not.
    PriorPreviewed {
        /// Which look this was.
        control: Arc<AtomicBool>,
        /// What it expects or what is wrong.
        result: Result<Arc<PriorPredictive>, JobError>,
    },
    /// Samplers were ranked for a draft, or not.
    Advised {
        /// The draft.
        recipe: Box<Recipe>,
        /// Which request this was.
        control: Arc<PrepareControl>,
        /// The ranking or what is wrong.
        result: Result<Box<Advice>, JobError>,
    },
    /// Samplers were compared by running them: rows of the data, or why not.
    Compared {
        /// Which comparison this was.
        control: Arc<CompareControl>,
        /// Rows of the data or what is wrong.
        result: Result<usize, String>,
    },
    /// Step sizes were tried for a draft, or not.
    Tuned {
        /// The draft.
        recipe: Box<Recipe>,
        /// Which request this was.
        control: Arc<TrialsTask>,
        /// What they said or what is wrong.
        result: Result<Tuning, JobError>,
    },
    /// A draft was calibrated by simulation, or not.
    Calibrated {
        /// The draft.
        recipe: Box<Recipe>,
        /// Which request this was.
        control: Arc<CalibrationTask>,
        /// What the ranks said or what is wrong.
        result: Result<Calibration, JobError>,
    },
    /// The draft was fitted by likelihood, or not.
    Estimated {
        /// Which request this was.
        control: Arc<LikelihoodControl>,
        /// The fit or what is wrong.
        result: Result<Box<LikelihoodFit>, LikelihoodError>,
    },
    /// A run is ready to start, or not.
    Prepared {
        /// The run.
        run: u64,
        /// The job or what is wrong.
        result: Result<Box<Job>, JobError>,
        /// Where its files go and the right to write there, or why there is no place; `None` without a job.
        folder: Option<Result<(RunFolder, Claim), ExportError>>,
    },
    /// A run folder or file of draws was read, or not.
    RunRead {
        /// The folder's recipe, if it has one.
        recipe: Option<Box<Recipe>>,
        /// Where it is.
        path: PathBuf,
        /// Which reading this was.
        generation: u64,
        /// The results or what is wrong.
        result: Result<Box<ReadRun>, String>,
    },
    /// Results were saved, or not.
    RunSaved {
        /// The run.
        run: u64,
        /// The folder or what is wrong.
        result: Result<RunFolder, String>,
    },
    /// The model of a run that was read was made again, or could not be.
    Recalled {
        /// The run.
        run: u64,
        /// The model, if its data are there and the same.
        model: Option<Arc<dyn Model>>,
    },
    /// A run that was read is ready to go on, or cannot.
    Resumed {
        /// The run.
        run: u64,
        /// Which request this was.
        control: Arc<PrepareControl>,
        /// The job and where it goes on, or what is wrong.
        result: Result<Box<Resumed>, ResumeError>,
    },
    /// A run was compared with its control.
    Certified {
        /// The run.
        run: u64,
        /// Job of the run when the comparison began.
        job: Arc<Job>,
        /// Report of the run with the comparison.
        report: Box<Report>,
    },
    /// Estimates were corrected by control variates, or not.
    Corrected {
        /// The run.
        run: u64,
        /// Which work this was, so that a result that was overtaken is dropped.
        control: Arc<CorrectControl>,
        /// The estimates or what is wrong.
        result: Result<Box<Corrected>, String>,
    },
    /// The rows of a run were predicted, or not.
    Predicted {
        /// The run.
        run: u64,
        /// Which request this was.
        control: Arc<PredictControl>,
        /// The predictions or what is wrong.
        result: Result<Box<Prediction>, String>,
    },
    /// The data and formula of a run were fitted by likelihood, or not.
    RunEstimated {
        /// The run.
        run: u64,
        /// Which request this was.
        control: Arc<LikelihoodControl>,
        /// The fit or what is wrong.
        result: Result<Box<LikelihoodFit>, String>,
    },
    /// Prior sensitivity of a run was computed, or not.
    PowerScaled {
        /// The run.
        run: u64,
        /// Which work this was.
        control: Arc<CorrectControl>,
        /// The sensitivities or what is wrong.
        result: Result<Arc<Sensitivity>, String>,
    },
    /// The runs of a project were read.
    ProjectRead {
        /// Which reading this was.
        generation: u64,
        /// Runs that were found, in order.
        runs: Vec<ProjectRunRead>,
        /// A sentence for each that is not.
        problems: Vec<String>,
    },
    /// A project was saved, or not.
    ProjectSaved {
        /// Where.
        path: PathBuf,
        /// What the file says.
        project: Box<Project>,
        /// What is wrong.
        result: Result<(), String>,
    },
    /// Pictures of the bundled data sets.
    Examples(Arc<Vec<Example>>),
    /// Something was written, or not: the sentence to show.
    Written(Result<String, String>),
    /// A dialog was closed; `None` if cancelled or if the system has no dialogs.
    Picked {
        /// What it was for.
        purpose: Pick,
        /// The chosen path.
        path: Option<PathBuf>,
        /// The system has no file dialogs.
        unavailable: bool,
    },
}

/// A run of a project: its number, its place, the draft it was started from, its results.
pub type ProjectRunRead = (u64, PathBuf, Option<Recipe>, Box<ReadRun>);

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A bundled data set.
    Sample(String),
    /// The data of a recipe that was opened.
    Recipe(Box<Recipe>, PathBuf),
    /// The data of a project, whose draft is there already.
    Project(Box<DataSection>),
}

/// What a file dialog is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    /// A file to open.
    Open,
    /// Where to save the project, with a proposed file name.
    SaveProject(String),
    /// Where to save the draft.
    SaveRecipe,
    /// Where to export the predictions of a run, with a proposed file name.
    ExportPredictions(u64, String),
    /// Where to export the likelihood fit of a run, or of the draft: a new folder.
    ExportFit(Option<u64>),
    /// Where to export a run in a format, with a proposed file name.
    Export(u64, &'static str, String),
}

/// What `update` may do to the outside world.
pub trait Effects {
    /// Runs `work` on a thread called `name`; its outcome comes back later.
    fn spawn(&mut self, name: &str, work: Box<dyn FnOnce() -> Outcome + Send>);
    /// Opens a file dialog, without waiting for it.
    fn pick(&mut self, purpose: Pick);
    /// What runs call when there is something new to show.
    fn waker(&self) -> Arc<dyn Fn() + Send + Sync>;
}

/// Spawns threads and collects their outcomes.
pub struct Tasks {
    sender: Sender<Outcome>,
    receiver: Receiver<Outcome>,
    waker: Arc<dyn Fn() + Send + Sync>,
}

impl Tasks {
    /// Calls `waker` whenever an outcome is there.
    pub fn new(waker: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = bounded(MAX_WAITING);
        Self {
            sender,
            receiver,
            waker,
        }
    }

    /// Runs `work` on a thread called `name`. If the system gives no thread, the work is done at once: late is better
    /// than never.
    pub fn spawn(&self, name: &str, work: Box<dyn FnOnce() -> Outcome + Send>) {
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let slot = Arc::new(std::sync::Mutex::new(Some(work)));
        let mine = Arc::clone(&slot);
        let body = move || {
            let work = mine
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .take();
            if let Some(work) = work {
                // Nobody listens only when the window has closed.
                drop(sender.send(work()));
                waker();
            }
        };
        if std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .is_err()
        {
            let work = slot
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .take();
            if let Some(work) = work {
                drop(self.sender.try_send(work()));
            }
        }
    }

    /// What calls back when there is something new.
    pub fn waker(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::clone(&self.waker)
    }

    /// The next outcome, if one is there.
    pub fn poll(&self) -> Option<Outcome> {
        self.receiver.try_recv().ok()
    }
}
