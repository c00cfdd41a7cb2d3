//! One run in the history: being prepared, live, finished, or read from a folder.

use std::path::PathBuf;
use std::sync::Arc;

use super::answering::{Answered, AnswersAsked};
use super::comparing_runs::Compared;
use super::extras::{ColumnsAsked, FurtherColumns};
use super::following::Followed;
use super::from_draws::draws_of;
use super::held_out::HeldOutScores;
use super::replicating::Replicated;
use super::tasks::{Handle, Task};
use ergodic_analysis::likelihood::LikelihoodFit;
use ergodic_analysis::likelihood_ratio::LikelihoodRatio;
use ergodic_analysis::loo::CrossValidation;
use ergodic_analysis::loo::subsample::Subsampled;
use ergodic_analysis::predict::Predictions;
use ergodic_analysis::predict::picture::Picture;
use ergodic_analysis::predict::scores::folds::Folded;
use ergodic_analysis::zero_variance::Corrected;
use ergodic_analysis::{BayesFactor, Job, Recipe, Run, Sensitivity, templates};
use ergodic_base::ParamId;
use ergodic_core::engine::keep::Keep;
use ergodic_core::engine::{ChainState, ChainView, Report, RunState, RunView, Sampling as _};
use ergodic_core::estimators::Search;
use ergodic_core::formula::Formula;
use ergodic_core::models::Model;
use ergodic_core::oracle::GradientNoise;
use ergodic_core::samplers::{self, SamplerSpec};
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::label::Label;
use ergodic_export::{Format, Journal, Manifest, Needs, RunFolder};
use ergodic_language::Own;
use ergodic_report::report::head;

/// What state a run is in.
pub enum RunPhase {
    /// Data, model and mode are being prepared.
    Preparing(Handle),
    /// The run could not be prepared, with the sentence why.
    Refused(String),
    /// The run has chains, working or ended.
    Live(Box<Run>),
    /// The run was read from a folder or a file of draws.
    Read(Box<ReadRun>),
}

/// A run that was not run here.
pub struct ReadRun {
    /// Reported quantities.
    pub variables: Vec<ParamId>,
    /// Names of the sampler's information columns.
    pub info_names: Vec<String>,
    /// Draws.
    pub view: Arc<RunView>,
    /// Diagnostics.
    pub report: Arc<Report>,
    /// What was run, if known.
    pub manifest: Option<Manifest>,
}

/// Whether a run's results are on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Not yet.
    No,
    /// Being written.
    Writing,
    /// Saved in this folder.
    At(PathBuf),
    /// Saving failed, with the sentence why; the draws are in memory.
    Failed(String),
}

/// One entry of the run history.
pub struct RunEntry {
    /// Identifies the run in this window.
    pub id: u64,
    /// Number of the run in the project, which people see.
    pub number: u64,
    /// Name and note that somebody gave the run.
    pub label: Label,
    /// The recipe it was started with, defaults not filled in; for read runs the folder's.
    pub recipe: Option<Recipe>,
    /// What its model says of rows.
    pub(super) rows: OfRows,
    /// State of the run.
    pub phase: RunPhase,
    /// Whether the run is on disk.
    pub saved: Saved,
    /// Whether more was found while the run was being saved, so that it must be saved once more.
    pub(super) save_again: bool,
    /// The control run of the bias check, while that goes on.
    pub control: Option<Box<Run>>,
    /// Whether the bias is to be checked when the run has the draws that a check needs.
    pub check_when_drawn: bool,
    /// Draws per chain of the last control run, of which the next makes twice as many.
    pub control_draws: Option<u64>,
    /// Estimates corrected by control variates.
    pub correction: Task<Arc<Corrected>>,
    /// The control variates that were asked for.
    pub corrected_by: Option<Order>,
    /// Predictions of the run's rows.
    pub predicted: Task<Arc<Prediction>>,
    /// Whether those that are being made are with group effects.
    pub predicts_with_groups: bool,
    /// What is asked of effects on the scale of the outcome.
    pub answers_asked: AnswersAsked,
    /// Effects on the scale of the outcome.
    pub answered: Task<Arc<Answered>>,
    /// Predictive checks.
    pub replicated: Task<Arc<Replicated>>,
    /// Data and formula fitted by likelihood.
    pub fitting: Task<Arc<LikelihoodFit>>,
    /// The run's model compared with one of fewer or more terms, by likelihood.
    pub likelihood_ratio: Task<Arc<LikelihoodRatio>>,
    /// How much the prior of the run matters.
    pub prior_sensitivity: Task<Arc<Sensitivity>>,
    /// Bayes factors of its coefficients against 0, looked at with that, or why there are none.
    pub bayes_factors: Option<Result<Arc<Vec<BayesFactor>>, String>>,
    /// Further columns of the summary.
    pub extras: Task<Arc<FurtherColumns>>,
    /// What is asked of them.
    pub columns_asked: ColumnsAsked,
    /// Kept draws per chain that those were asked for with.
    pub extras_of: usize,
    /// How well the run predicts rows that it has not seen.
    pub scores: Task<Arc<CrossValidation>>,
    /// Scores from a sample of rows.
    pub sampled_scores: Task<Arc<Subsampled>>,
    /// How well fits without parts of its rows predict these.
    pub folded: Task<Arc<Folded>>,
    /// How the run compares with another.
    pub compared: Task<Arc<Compared>>,
    /// How good predictions of the run are of the rows that it holds out.
    pub held_out: Task<Arc<HeldOutScores>>,
    /// Trajectories from where the chains ended.
    pub followed: Task<Arc<Followed>>,
    /// Where the files of the run are, once there is a place for them.
    pub folder: Option<RunFolder>,
    /// Model of the run, if it was read from a folder and its data are there.
    pub recalled: Task<Arc<dyn Model>>,
    /// A run that was read is being made ready to go on.
    pub resuming: Option<Handle>,
    /// What keeps its draws there while it goes on.
    pub journal: Option<Journal>,
    /// What the journal's owner was told last.
    pub(super) journal_trouble: Option<String>,
}

/// Predictions of a run's own rows.
#[derive(Debug)]
pub struct Prediction {
    /// The rows.
    pub predictions: Predictions,
    /// Predicted against observed.
    pub picture: Picture,
    /// How the two agree, in one sentence.
    pub agreement: Option<String>,
    /// For each ordered level, its chance predicted against observed, and how the two agree.
    pub levels: Vec<(Picture, Option<String>)>,
    /// What to know about the predictions.
    pub remarks: Vec<String>,
    /// Draws of the run when they were made.
    pub draws: usize,
}

/// What a model says of rows, found once: panes ask in every frame, and a model as text has to be parsed for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfRows {
    /// Whether an outcome is explained.
    predicted: bool,
    /// Whether rows have a density.
    have_densities: bool,
    /// Whether nothing explains the outcome: the formula has neither predictors nor groups, or the text names no other column.
    explained_by_nothing: bool,
}

impl OfRows {
    fn of(recipe: &Recipe) -> Self {
        let model = &recipe.model;
        if model.template == Own::ID {
            let program = Own::program(&model.settings);
            return program.map_or_else(
                |_error| Self::default(),
                |program| Self {
                    predicted: program.has_one_outcome(),
                    have_densities: program.has_rows(),
                    explained_by_nothing: program.has_one_outcome()
                        && (program.columns().iter())
                            .all(|it| program.outcome_column() == Some(it.name.as_str())),
                },
            );
        }
        let entry = templates::find(&model.template);
        let predicted = entry.is_ok_and(|entry| entry.predicts(&model.settings));
        Self {
            predicted,
            have_densities: predicted,
            explained_by_nothing: (model.formula.parse::<Formula>())
                .is_ok_and(|formula| formula.terms.is_empty() && formula.groups.is_empty()),
        }
    }
}

impl RunEntry {
    /// Predictions of the draws as they are, with group effects or without, once they are there.
    pub fn predictions(&self, with_groups: bool) -> Option<&Arc<Prediction>> {
        self.predicted.done().filter(|done| {
            done.predictions.options.with_groups == with_groups && done.draws == draws_of(self)
        })
    }

    /// Whether the run's model explains an outcome, so that rows can be predicted.
    pub fn can_predict(&self) -> bool {
        self.has_draws() && self.rows.predicted
    }

    /// Whether nothing explains the outcome of the run's model, so that there are no effects to report.
    pub fn explains_nothing(&self) -> bool {
        self.rows.explained_by_nothing
    }

    /// Whether the run's model says how likely rows are, so that they can be left out.
    pub fn has_row_densities(&self) -> bool {
        self.has_draws() && self.rows.have_densities
    }

    fn has_draws(&self) -> bool {
        matches!(self.phase, RunPhase::Live(_) | RunPhase::Read(_))
    }

    /// An entry with nothing but its state.
    pub(super) fn new(id: u64, number: u64, recipe: Option<Recipe>, phase: RunPhase) -> Self {
        Self {
            id,
            number,
            label: Label::default(),
            rows: recipe.as_ref().map(OfRows::of).unwrap_or_default(),
            recipe,
            phase,
            saved: Saved::No,
            save_again: false,
            control: None,
            check_when_drawn: false,
            control_draws: None,
            correction: Task::default(),
            corrected_by: None,
            predicted: Task::default(),
            predicts_with_groups: true,
            answers_asked: AnswersAsked::default(),
            answered: Task::default(),
            replicated: Task::default(),
            held_out: Task::default(),
            followed: Task::default(),
            fitting: Task::default(),
            likelihood_ratio: Task::default(),
            prior_sensitivity: Task::default(),
            bayes_factors: None,
            extras: Task::default(),
            columns_asked: ColumnsAsked::default(),
            extras_of: 0,
            scores: Task::default(),
            sampled_scores: Task::default(),
            folded: Task::default(),
            compared: Task::default(),
            folder: None,
            recalled: Task::default(),
            resuming: None,
            journal: None,
            journal_trouble: None,
        }
    }

    /// Drops the correction of its estimates, and ends the work where one is being made.
    pub(super) fn forget_correction(&mut self) {
        self.correction.forget();
        self.corrected_by = None;
    }

    /// Drops the further columns of its summary, and ends the work where they are being computed.
    pub(super) fn forget_extras(&mut self) {
        self.extras.forget();
        self.extras_of = 0;
    }

    /// Forgets what was computed from draws that are no longer all.
    pub(super) fn forget_analyses(&mut self) {
        self.forget_correction();
        self.prior_sensitivity.forget();
        self.bayes_factors = None;
        self.scores.forget();
        self.sampled_scores.forget();
        self.folded.forget();
        self.compared.forget();
    }

    /// "Run 4", or "Run 4 (wide priors)" with its name.
    pub fn title(&self) -> String {
        match &self.label.name {
            Some(name) => format!("Run {} ({name})", self.number),
            None => format!("Run {}", self.number),
        }
    }

    /// The engine's handle, for live runs.
    pub fn run(&self) -> Option<&Run> {
        match &self.phase {
            RunPhase::Live(run) => Some(run),
            _ => None,
        }
    }

    /// The job, for live runs.
    pub fn job(&self) -> Option<&Arc<Job>> {
        self.run().map(Run::job)
    }

    /// The template of the model; empty where it is not known.
    pub fn template(&self) -> &str {
        let recipe = self.job().map(|job| &job.recipe).or(self.recipe.as_ref());
        match (recipe, &self.phase) {
            (Some(recipe), _) => &recipe.model.template,
            (None, RunPhase::Read(read)) => {
                read.manifest.as_ref().map_or("", |it| it.template.as_str())
            }
            (None, _) => "",
        }
    }

    /// What was fitted, in lines; none where that is not known.
    pub fn head(&self) -> Vec<String> {
        let of = |manifest: &Manifest| head(manifest, &self.variables());
        match &self.phase {
            RunPhase::Live(run) => of(&Manifest::of(run.job(), &run.view(), &run.report())),
            RunPhase::Read(read) => read.manifest.as_ref().map_or_else(Vec::new, of),
            _ => Vec::new(),
        }
    }

    /// The sampler, where it is known.
    pub fn sampler(&self) -> Option<&'static SamplerSpec> {
        match &self.phase {
            RunPhase::Live(run) => Some(&run.job().sampler.spec),
            RunPhase::Read(read) => {
                let id = read
                    .manifest
                    .as_ref()
                    .map(|manifest| manifest.sampler.as_str())?;
                samplers::find(id).map(|entry| &entry.spec)
            }
            _ => {
                let id = self
                    .recipe
                    .as_ref()
                    .map(|recipe| recipe.sampler.id.as_str())?;
                samplers::find(id).map(|entry| &entry.spec)
            }
        }
    }

    /// What the bias check of a run that was read said, if it had run: sentences that its folder holds.
    pub fn saved_bias_check(&self) -> Option<&str> {
        match &self.phase {
            RunPhase::Read(read) => read.manifest.as_ref()?.bias_check.as_deref(),
            _ => None,
        }
    }

    /// The formula of its model; empty where that is not known.
    pub fn formula(&self) -> &str {
        let recipe = self.recipe.as_ref();
        recipe.map_or("", |recipe| recipe.model.formula.as_str())
    }

    /// Whether a run that was read from its folder ended before the precision that it was asked for.
    pub fn has_unmet_rule(&self) -> bool {
        match &self.phase {
            RunPhase::Read(read) => {
                (read.manifest.as_ref()).is_some_and(|it| it.unmet_rule().is_some())
            }
            _ => false,
        }
    }

    /// How the mode was found, if one was.
    pub fn mode(&self) -> Option<&Search> {
        match &self.phase {
            RunPhase::Live(run) => run.job().mode.as_deref(),
            RunPhase::Read(read) => read.manifest.as_ref()?.mode.as_ref(),
            _ => None,
        }
    }

    /// Noise of the sampler's gradients from minibatches, plain and with control variates, where its steps have it.
    pub fn gradient_noise(&self) -> Option<GradientNoise> {
        match &self.phase {
            RunPhase::Live(run) => run.job().gradient_noise(),
            RunPhase::Read(read) => read.manifest.as_ref()?.gradient_noise,
            _ => None,
        }
    }

    /// The newest draws, if there are chains.
    pub fn view(&self) -> Option<Arc<RunView>> {
        match &self.phase {
            RunPhase::Live(run) => Some(run.view()),
            RunPhase::Read(read) => Some(Arc::clone(&read.view)),
            _ => None,
        }
    }

    /// The newest diagnostics, if there are chains.
    pub fn report(&self) -> Option<Arc<Report>> {
        match &self.phase {
            RunPhase::Live(run) => Some(run.report()),
            RunPhase::Read(read) => Some(Arc::clone(&read.report)),
            _ => None,
        }
    }

    /// Estimates corrected by control variates: those that were asked for, else those of a run that keeps gradients for them.
    pub fn corrected(&self) -> Option<Arc<Corrected>> {
        let asked = self.correction.done().cloned();
        asked.or_else(|| self.report()?.corrected.clone())
    }

    /// Changes whenever the view, the report or what is known of the model changed.
    pub fn version(&self) -> u64 {
        let recalled = u64::from(self.recalled.done().is_some());
        self.run().map_or(recalled, Run::version)
    }

    /// The model, where it is known, and the place among its reported quantities of the variable in column `index` of the draws.
    pub fn reported(&self, index: usize) -> Option<(&Arc<dyn Model>, usize)> {
        let (model, recipe) = (self.model()?, self.recipe.as_ref()?);
        let keep = Keep::of(&recipe.run.keep, model.params()).ok()?;
        Some((model, *keep.kept().get(index)?))
    }

    /// Names of the reported quantities whose draws are kept.
    pub fn variables(&self) -> Vec<ParamId> {
        match &self.phase {
            RunPhase::Live(run) => run.job().variables(),
            RunPhase::Read(read) => read.variables.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether the run has what `format` writes.
    pub fn has(&self, format: &Format) -> bool {
        match format.needs {
            Needs::Draws | Needs::Starts => true,
            Needs::LogLik => self.has_row_densities(),
            Needs::Found(in_found) => {
                (self.report()).is_some_and(|report| in_found(&report.found).is_ok())
            }
        }
    }

    /// Names of the sampler's information columns.
    pub fn info_names(&self) -> Vec<String> {
        match &self.phase {
            RunPhase::Live(run) => run.job().info_names(),
            RunPhase::Read(read) => read.info_names.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether a chain is warming up, and nobody has told it to end that.
    pub fn is_warming_up(&self) -> bool {
        self.run().is_some_and(|run| {
            let view = run.view();
            let warming = |chain: &ChainView| {
                chain.warmup_end.is_none()
                    && matches!(
                        chain.state,
                        ChainState::Starting | ChainState::Warmup | ChainState::Paused
                    )
            };
            !view.frozen && !view.is_finished() && view.chains.iter().any(warming)
        })
    }

    /// Whether chains are working or waiting.
    pub fn is_active(&self) -> bool {
        match &self.phase {
            RunPhase::Preparing(_) => true,
            RunPhase::Live(run) => {
                !run.is_finished() || !matches!(run.view().state, RunState::Finished(_))
            }
            RunPhase::Refused(_) | RunPhase::Read(_) => false,
        }
    }

    /// Whether the draft `recipe` no longer is what this run was run with, so that its results are of something else.
    pub fn is_stale(&self, recipe: &Recipe) -> bool {
        let mine = self.recipe.as_ref();
        mine.is_some_and(|mine| !mine.gives_the_same_results_as(recipe))
    }

    /// Fingerprint of the data it was run with, if known.
    pub fn data_fingerprint(&self) -> Option<&str> {
        match &self.phase {
            RunPhase::Live(run) => Some(run.job().table.fingerprint()),
            RunPhase::Read(read) => Some(read.manifest.as_ref()?.data_fingerprint.as_str()),
            _ => None,
        }
    }
}
