//! A job: a recipe with everything it refers to loaded, checked and prepared, ready to run.

use crate::templates;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::calibration::NotCalibrated;
use super::comparison::{NoYardstick, VariantError};
use super::exchangeable;
use super::hold_out::{self, HoldOut, NotHeldOut, SEED};
use super::outset::{self, Outset, OutsetError};
use super::recipe::{ANY_DATA, AUTO, Recipe, RecipeError, Scale};
use super::tuning::NotTuned;
use super::zero_variance;
use advice::choose_sampler;
use ergodic_base::numerals::hex;
use ergodic_base::settings::{SettingError, Settings};
use ergodic_base::{Class, Control, ParamId, Reporter, Warning};
use ergodic_core::arithmetic;
use ergodic_core::design::{Design, DesignError, ModelFrame, ReadError, Remark, checks};
use ergodic_core::engine::keep::Keep;
use ergodic_core::engine::{RunSection, Sampling, Start, StartError, dispersed_start};
use ergodic_core::estimators::{
    ModeError, Plan, Search, ascend, find_mode_by, find_modes, modes, rounding,
};
use ergodic_core::families::Link;
use ergodic_core::formula::{Factor, Formula};
use ergodic_core::models::{
    DefaultPriors, Model, ModelEntry, ModelError, ModelOptions, NoPriorDraws, PriorOf, Storage,
    default_priors,
};
use ergodic_core::oracle::Centre;
use ergodic_core::samplers::recommend::Cheapest;
use ergodic_core::samplers::{ChoiceError, KernelError, SamplerEntry, Target};
use ergodic_data::{DataError, Loaded, Table, expand_dot, load, samples};
use ergodic_diagnostics::zero_variance::ZeroVarianceError;
use ergodic_language::{Own, Program, ProgramError, Role};
use remarks::{large_draws, near_start, raw_steps, without_mode};

mod advice;
mod remarks;
mod units;

/// Why a job could not be prepared: the request was wrong, or was cancelled.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A run whose data are no longer where its recipe says.
    #[error(
        "The data file does not exist; if it or the run was moved, write where the file is as `source` in section `[data]` of {}: {}",
        recipe.display(), path.display()
    )]
    Moved {
        /// Where the file is missing.
        path: PathBuf,
        /// The recipe of the run.
        recipe: PathBuf,
    },
    /// The recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The formula, or a column that no design can be made of.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The text of a model of one's own.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A formula beside a text that names the columns.
    #[error("Template `own` takes no formula, because its text names the columns; leave `{0}` out")]
    Formula(String),
    /// Rows that cannot be held out.
    #[error(transparent)]
    HoldOut(#[from] NotHeldOut),
    /// Rows that the model cannot read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A prior without outcomes.
    #[error("The prior cannot be shown in outcomes, because {0}")]
    NotShown(NoPriorDraws),
    /// A text that names no sampler with its settings.
    #[error(transparent)]
    Variant(#[from] VariantError),
    /// Nothing to compare samplers with.
    #[error(transparent)]
    Comparison(#[from] NoYardstick),
    /// A step size that is not tuned.
    #[error(transparent)]
    Tuning(#[from] NotTuned),
    /// A model or a sampler that is not calibrated.
    #[error(transparent)]
    Calibration(#[from] NotCalibrated),
    /// Control variates that cannot be had.
    #[error(transparent)]
    ZeroVariance(#[from] ZeroVarianceError),
    /// Where chains are to start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No way from where chains would start to where they can.
    #[error("No place for chains to start was found: {0}")]
    NoStart(ModeError),
    /// Threads that the system does not give.
    #[error("The chains could not be started ({0})")]
    Threads(std::io::Error),
    /// A chain that could not be made or failed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The sampler refuses the model or a setting, or needs a mode that there is not.
    #[error(transparent)]
    Sampler(#[from] ChoiceError),
    /// Prior and data together do not bound the parameters.
    #[error(
        "There is no posterior, because the likelihood has no maximum and a flat prior does not bound it; give `{term}` a prior, \
         such as normal(0, 2.5), or leave it out. {evidence}"
    )]
    Improper {
        /// The coefficient.
        term: String,
        /// How the data show it.
        evidence: String,
    },
    /// The likelihood grows without bound, whatever the priors.
    #[error("There is no posterior to sample. {0}")]
    Degenerate(Warning),
    /// Somebody cancelled.
    #[error("Preparing the run was cancelled")]
    Cancelled,
}

/// The refusal of a model in which a predictor tells the outcome without error and its coefficient has a flat prior, or in
/// which effects of groups leave nothing for the residual.
fn unbounded(warnings: &[Warning], model: &dyn Model) -> Option<JobError> {
    let degenerate = |it: &&Warning| matches!(it.remark(), Some(Remark::NoResidualInGroups { .. }));
    if let Some(warning) = warnings.iter().find(degenerate) {
        return Some(JobError::Degenerate(warning.clone()));
    }
    let flat = |name: &ParamId| {
        let mut params = model.params().iter();
        params.any(|param| param.name == *name && param.prior == PriorOf::Flat)
    };
    let mut terms = warnings.iter().filter_map(|warning| {
        let (Remark::ValueSeparates { column, .. } | Remark::CutSeparates { column, .. }) =
            warning.remark()?
        else {
            return None;
        };
        let term = ParamId::of(Class::Coefficient, [column]);
        flat(&term).then(|| JobError::Improper {
            term: term.to_string(),
            evidence: warning.message.clone(),
        })
    });
    terms.next()
}

/// Everything a run needs; immutable and shared by its chains.
#[derive(Clone)]
pub struct Job {
    /// The recipe with every choice filled in.
    pub recipe: Recipe,
    /// The table it was made from.
    pub table: Arc<Table>,
    /// The design.
    pub design: Arc<Design>,
    /// The posterior.
    pub model: Arc<dyn Model>,
    /// The sampler.
    pub sampler: &'static SamplerEntry,
    /// Mode and curvature, where found.
    pub centre: Option<Arc<Centre>>,
    /// Modes that are far apart, in which chains start in turn; empty where there is but one.
    modes: Vec<Arc<Centre>>,
    /// Where chains start that climb to their starts, by group of chains; empty where they do not.
    ascents: Arc<Vec<Vec<f64>>>,
    /// How the mode was found.
    pub mode: Option<Arc<Search>>,
    /// The likelihood fit of a mixed model, where one was worth its time.
    pub outset: Option<Arc<Outset>>,
    /// Remarks on data, model and choice of sampler.
    pub warnings: Vec<Warning>,
    /// Why this sampler, in one sentence.
    pub sampler_reason: String,
    /// How the row loops of the model add products.
    pub arithmetic: arithmetic::Class,
    /// See [`Self::control`].
    control: OnceLock<Option<Cheapest>>,
    /// The settings of the sampler that the recipe named.
    named: Settings,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("recipe", &self.recipe)
            .finish_non_exhaustive()
    }
}

/// Name of the recipe in a run folder.
pub const RUN_RECIPE: &str = "recipe.toml";

/// Reads the data of a recipe that stands in `folder`, and checks the fingerprint if the recipe has one.
///
/// # Errors
/// The data cannot be read, or are not those the recipe was made with.
pub fn load_data(recipe: &Recipe, folder: &Path, control: &Control) -> Result<Loaded, JobError> {
    let loaded = match (recipe.sample(), recipe.data_path(folder)) {
        (Some(id), _) => samples::load(id, &recipe.data.import, control)?,
        (None, Some(path)) => {
            let of_run = folder.join(RUN_RECIPE);
            load(&path, &recipe.data.import, control).map_err(|error| match error {
                DataError::NotFound(path) if of_run.is_file() => JobError::Moved {
                    path,
                    recipe: of_run,
                },
                other => other.into(),
            })?
        }
        (None, None) => return Err(RecipeError::NoData.into()),
    };
    if let Some(expected) = &recipe.data.fingerprint
        && expected != ANY_DATA
        && expected != loaded.table.fingerprint()
    {
        return Err(RecipeError::OtherData {
            source_name: recipe.data.source.clone(),
            found: loaded.table.fingerprint().to_owned(),
            expected: expected.clone(),
        }
        .into());
    }
    Ok(loaded)
}

impl Job {
    /// Whether the linear predictor is on the scale of a link, so that its units are not those of the response.
    pub fn has_link(&self) -> bool {
        let model = &self.recipe.model;
        let entry = templates::find(&model.template).ok();
        let family = entry.and_then(|entry| (entry.family)(&model.settings));
        family.is_some_and(|family| family.definition().link != Link::Identity)
    }

    /// Prepares `recipe`, which stands in `folder`. `loaded` are its data if they are already in memory.
    ///
    /// # Errors
    /// One sentence for whatever makes the request impossible.
    pub fn prepare(
        recipe: &Recipe,
        folder: &Path,
        loaded: Option<Arc<Loaded>>,
        control: &Control,
    ) -> Result<Self, JobError> {
        let entry = templates::find(&recipe.model.template)?;
        control.check(JobError::Cancelled)?;
        control.enter("reading the data");
        let loaded = match loaded {
            Some(loaded) => loaded,
            None => Arc::new(load_data(recipe, folder, control)?),
        };
        control.check(JobError::Cancelled)?;
        control.enter("building the model");
        let table = Arc::new(loaded.table.clone());
        let frame = model_frame(recipe, &table)?;
        let (design, reporter) = Design::build(table.as_ref(), &frame)?;
        let mut used = frame.formula.columns();
        used.extend(recipe.model.hold_out.as_ref().and_then(HoldOut::column));
        let mut warnings = loaded.warnings_about(&used);
        warnings.extend(reporter.warnings);
        warnings.extend(checks::check(&design).warnings);
        let design = Arc::new(design);
        let mut options = model_options(recipe)?;
        let mut model = build_model(entry, &design, &options)?;
        hold_out::check(recipe, entry, model.as_ref())?;
        let mut reporter = Reporter::default();
        model.remark_on_data(&mut reporter);
        warnings.extend(reporter.warnings);
        let keep = Keep::of(&recipe.run.keep, model.params())?;
        if let Some(error) = unbounded(&warnings, model.as_ref()) {
            return Err(error);
        }
        zero_variance::check(recipe.run.zero_variance, model.as_ref(), &keep)?;
        let outset = if outset::is_wanted(recipe, &design) {
            let found = Outset::find(recipe, &design, entry, &mut options, control);
            found.map_err(|error| match error {
                OutsetError::Cancelled => JobError::Cancelled,
                OutsetError::Model(error) => error.into(),
            })?
        } else {
            None
        };
        control.check(JobError::Cancelled)?;
        control.enter("finding the posterior's mode");
        let mut plan = Plan::new(&recipe.mode.method, &recipe.mode.settings, model.as_ref())?;
        if let Some(outset) = &outset {
            let word = options.settings.text("parametrisation").unwrap_or_default();
            let is_auto = word == AUTO;
            if is_auto {
                model = (entry.build)(Arc::clone(&design), &options)?;
                warnings.extend(outset.remark());
            }
            if word == "centred" || is_auto && outset.knows_groups() {
                // With effects as they are the density has no bound where their spread vanishes: the mode is near the
                // estimates.
                plan.start = Some(outset.position());
            }
        }
        if let Some(start) = mode_start(recipe, model.as_ref())? {
            plan.start = Some(start);
        }
        let (centre, mode) = match find_mode_by(model.as_ref(), &plan, control) {
            Ok(mode) if outset::has_lost_spread(model.as_ref(), &mode.centre) => {
                let why =
                    ModeError::NotFound("the density is highest where groups do not differ at all");
                (Err(why), None)
            }
            Ok(mode) => {
                let mut reporter = Reporter::default();
                model.remark(&mode.centre.u, &mut reporter);
                warnings.extend(reporter.warnings);
                (Ok(Arc::new(mode.centre)), Some(Arc::new(mode.search)))
            }
            Err(ModeError::Cancelled) => return Err(JobError::Cancelled),
            Err(error) => (Err(error), None),
        };
        let modes =
            find_modes(model.as_ref(), control).map_err(|_cancelled| JobError::Cancelled)?;
        warnings.extend(modes::remark(&modes));
        let target = Target::new(&model, centre.as_ref().ok());
        let (sampler, sampler_reason) = choose_sampler(recipe, model.as_ref(), &target)?;
        let no_mode = centre.as_ref().err();
        let settings =
            sampler.settle(&recipe.sampler.settings, model.as_ref(), &target, no_mode)?;
        let found = centre.as_deref().ok();
        sampler.afford(&settings, model.as_ref(), &target, found)?;
        warnings.extend(ergodic_core::samplers::tempered(&settings));
        warnings.extend(ergodic_core::samplers::larger_than_table(
            &recipe.sampler.settings,
            model.num_obs(),
        ));
        if recipe.sampler.id == AUTO && (outset.is_none() || sampler.spec.minibatch) {
            // The run must be the one that its complete recipe makes, which names the sampler.
            let mut named = recipe.clone();
            sampler.spec.id.clone_into(&mut named.sampler.id);
            if outset::is_wanted(&named, &design) {
                let job = Self::prepare(&named, folder, Some(loaded), control)?;
                return Ok(Self {
                    sampler_reason,
                    ..job
                });
            }
        }
        if options.storage == Storage::F32 {
            let exact = ModelOptions {
                storage: Storage::F64,
                ..options.clone()
            };
            let exact = || (entry.build)(Arc::clone(&design), &exact);
            let found = centre.as_deref().ok();
            warnings.push(rounding::remark(model.as_ref(), found, exact)?);
        }
        let climbs = match &centre {
            Ok(_) => false,
            // Gradients will be centred where chains start.
            Err(_) if sampler.spec.centres_at_start => true,
            Err(ModeError::TooMany(_) | ModeError::NoneSought) => {
                model.density().is_some_and(|it| it.wants_ascent())
            }
            Err(_) => false,
        };
        let ascents = if climbs {
            ascents(model.as_ref(), recipe, &plan, control)?
        } else {
            Vec::new()
        };
        let around = match (&outset, modes.is_empty()) {
            _ if !ascents.is_empty() => "where each climbed by minibatches from a place of its own",
            (Some(_), _) => "around the estimates of a likelihood fit",
            (None, false) => "in modes that were found from elsewhere",
            (None, true) => "from random places",
        };
        warnings.extend(exchangeable::remark(model.params()));
        warnings.extend(large_draws(recipe, keep.kept().len(), model.dim()));
        let centre = match centre {
            Ok(centre) => Some(centre),
            Err(_error) if model.density().is_none() => None,
            Err(why) => {
                warnings.push(without_mode(&why, model.num_obs(), around));
                None
            }
        };
        if centre.is_none() && sampler.spec.own_steps {
            warnings.push(raw_steps(sampler));
        }
        warnings.extend(near_start(recipe, sampler));
        let mut recipe = complete_model(recipe, &loaded, &design)?;
        let named = std::mem::take(&mut recipe.sampler.settings);
        fill_sampler(&mut recipe, sampler, settings);
        recipe.model.settings = options.settings;
        recipe.mode.settings = plan.settings;
        Ok(Self {
            control: OnceLock::new(),
            recipe,
            table,
            design,
            model,
            sampler,
            centre,
            modes,
            ascents: Arc::new(ascents),
            mode,
            outset: outset.map(Arc::new),
            warnings,
            sampler_reason,
            arithmetic: arithmetic::Class::in_use(),
            named,
        })
    }

    /// The job with another sampler: what a bias check compares with.
    ///
    /// # Errors
    /// The sampler needs a mode and there is none, or refuses its settings.
    pub fn with_sampler(&self, id: &str) -> Result<Self, JobError> {
        self.with_settings(id, Settings::default())
    }

    /// The job with another sampler and these settings, all others at their defaults.
    ///
    /// # Errors
    /// Those of [`Self::with_sampler`].
    pub fn with_settings(&self, id: &str, settings: Settings) -> Result<Self, JobError> {
        let mut recipe = self.recipe.clone();
        recipe.sampler = super::recipe::SamplerSection {
            id: id.to_owned(),
            settings,
        };
        recipe.run.warmup = None;
        recipe.run.draws = ergodic_core::engine::DEFAULT_DRAWS;
        recipe.run.stop_by_draws_alone();
        recipe.run.start = Start::Mode;
        recipe.run.start_draws.clear();
        recipe.run.zero_variance = None;
        let target = self.target();
        let (sampler, sampler_reason) = choose_sampler(&recipe, self.model.as_ref(), &target)?;
        let no_mode = ModeError::NotFound("none was found");
        let no_mode = Some(&no_mode).filter(|_error| self.centre.is_none());
        let settings = sampler.settle(
            &recipe.sampler.settings,
            self.model.as_ref(),
            &target,
            no_mode,
        )?;
        let found = self.centre.as_deref();
        sampler.afford(&settings, self.model.as_ref(), &target, found)?;
        fill_sampler(&mut recipe, sampler, settings);
        Ok(Self {
            recipe,
            table: Arc::clone(&self.table),
            design: Arc::clone(&self.design),
            model: Arc::clone(&self.model),
            sampler,
            centre: self.centre.clone(),
            modes: self.modes.clone(),
            ascents: Arc::clone(&self.ascents),
            mode: self.mode.clone(),
            outset: self.outset.clone(),
            warnings: Vec::new(),
            sampler_reason,
            arithmetic: self.arithmetic,
            control: OnceLock::new(),
            named: Settings::default(),
        })
    }

    /// Refuses a run whose chains cannot start where they are told to, before any of them has begun.
    ///
    /// # Errors
    /// Why not.
    pub fn check_starts(&self) -> Result<(), StartError> {
        let chains = 0..self.recipe.run.chains;
        let mut told = chains.filter(|_| !self.recipe.run.start.is_mode());
        told.try_for_each(|chain| self.start_position(chain).map(drop))
    }

    /// Whether the job goes on with a run of this fingerprint. Settings that its recipe does not name may have come later than the run,
    /// which did what they do by default.
    pub fn continues(&self, fingerprint: &str) -> bool {
        let mut earlier = self.recipe.clone();
        for (key, _value) in self.recipe.sampler.settings.iter() {
            if self.named.get(key).is_none() {
                earlier.sampler.settings.unset(key);
            }
        }
        fingerprint == self.fingerprint() || fingerprint == self.fingerprint_of(earlier)
    }

    /// What a continued run must agree with: the recipe without its stop rules.
    pub fn fingerprint(&self) -> String {
        self.fingerprint_of(self.recipe.clone())
    }

    fn fingerprint_of(&self, mut recipe: Recipe) -> String {
        recipe.run.draws = 1;
        recipe.run.stop_by_draws_alone();
        // The same data may be reached by another path, and so may the run that chains start from, whose draws are here.
        recipe.data.source.clear();
        if let Start::Run(run) = &mut recipe.run.start {
            "run".clone_into(run);
        }
        // What a recipe means that does not say, as those of runs did that are continued now.
        if recipe.default_priors() == DefaultPriors::default() {
            recipe.priors.remove(default_priors::KEY);
        }
        let mut text = recipe.in_first_words().to_toml();
        // Positions of chains are in these coordinates.
        if self
            .outset
            .as_ref()
            .is_some_and(|outset| outset.is_whitened())
        {
            text.push_str("\n# coordinates of effects: whitened\n");
        }
        hex(&Sha256::digest(text))
    }
}

impl Sampling for Job {
    fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    fn sampler(&self) -> &'static SamplerEntry {
        self.sampler
    }

    fn settings(&self) -> &Settings {
        &self.recipe.sampler.settings
    }

    fn run_section(&self) -> &RunSection {
        &self.recipe.run
    }

    fn centre(&self) -> Option<&Arc<Centre>> {
        self.centre.as_ref()
    }

    fn modes(&self) -> &[Arc<Centre>] {
        &self.modes
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn around_mode(&self, chain: usize) -> Vec<f64> {
        let run = &self.recipe.run;
        let stream = (run.seed, run.start_of(chain));
        if let Some(climbed) = self.ascents.get(stream.1) {
            return climbed.clone();
        }
        match (self.centre_of_chain(chain), &self.outset) {
            (None, Some(outset)) => outset.start(run.start_spread, stream),
            (centre, _) => dispersed_start(self.model.as_ref(), centre, run.start_spread, stream),
        }
    }
}

/// The model of a design; what is wrong with a text says where.
///
/// # Errors
/// The design does not suit the template.
pub fn build_model(
    entry: &ModelEntry,
    design: &Arc<Design>,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, JobError> {
    (entry.build)(Arc::clone(design), options).map_err(|error| {
        let program = (entry.spec.id == Own::ID).then(|| Own::program(&options.settings));
        match program.map(|read| read.and_then(|program| program.model(design))) {
            Some(Err(placed)) => placed.into(),
            _ => error.into(),
        }
    })
}

/// The model of a recipe as text, where it is one of one's own.
///
/// # Errors
/// There is no text, or it cannot be read.
pub(crate) fn program_of(recipe: &Recipe) -> Result<Option<Program>, ProgramError> {
    let is_own = recipe.model.template == Own::ID;
    is_own
        .then(|| Own::program(&recipe.model.settings))
        .transpose()
}

/// The data layer's view of a recipe's model section for `table`.
///
/// # Errors
/// The formula, or the text of the model, is not understood.
pub fn model_frame(recipe: &Recipe, table: &Table) -> Result<ModelFrame, JobError> {
    let model = &recipe.model;
    let hold_out = model.hold_out.as_ref();
    let held_out = hold_out.map(|it| it.rows(table, model.hold_out_seed.unwrap_or(SEED)));
    let mut categorical = model.categorical.clone();
    if let Some(program) = program_of(recipe)? {
        program.check_columns(table)?;
        let groups = program.columns().iter().filter(|it| it.role == Role::Group);
        categorical.extend(groups.map(|it| it.name.clone()));
    }
    Ok(ModelFrame {
        formula: whole_formula(recipe, table)?,
        response_use: templates::find(&model.template)?.response_use(&model.settings),
        success: model.success.clone(),
        levels: model.levels.clone(),
        references: model.reference.clone(),
        categorical,
        top_levels: model.top_levels.clone(),
        standardize: model.standardize,
        shuffle_seed: recipe.run.seed,
        held_out: held_out.transpose()?.unwrap_or_default(),
    })
}

/// The formula with columns in the place of `.`; the one that says which rows are held out explains nothing unless it is named.
fn whole_formula(recipe: &Recipe, table: &Table) -> Result<Formula, JobError> {
    if let Some(program) = program_of(recipe)? {
        let own = parse_formula(&program.formula_for(table)?)?;
        let given = &recipe.model.formula;
        // A draft has the columns that the text names, for the others need the table.
        let is_own = |given: &Formula| -> Result<bool, JobError> {
            Ok(*given == own || *given == parse_formula(&program.formula())?)
        };
        if !given.is_empty() && !is_own(&parse_formula(given)?)? {
            return Err(JobError::Formula(given.clone()));
        }
        return Ok(own);
    }
    let mut formula = parse_formula(&recipe.model.formula)?;
    let is_named = |formula: &Formula, column: &str| formula.columns().contains(&column);
    let said = recipe.model.hold_out.as_ref().and_then(HoldOut::column);
    let said = said.filter(|column| !is_named(&formula, column));
    expand_dot(&mut formula, table);
    Ok(match said {
        Some(column) => formula.without(&[vec![Factor::Column(column.to_owned())]]),
        None => formula,
    })
}

fn parse_formula(text: &str) -> Result<Formula, JobError> {
    text.parse::<Formula>()
        .map_err(|error| DesignError::from(error).into())
}

/// The model layer's view of a recipe.
///
/// # Errors
/// There is no such template, or it does not take its settings.
pub fn model_options(recipe: &Recipe) -> Result<ModelOptions, JobError> {
    let entry = templates::find(&recipe.model.template)?;
    Ok(ModelOptions {
        well_known: Vec::new(),
        working: None,
        settings: entry.resolve(&recipe.model.settings)?,
        priors: (recipe.own_priors())
            .map(|(key, text)| (key.clone(), text.clone()))
            .collect(),
        defaults: recipe.default_priors(),
        standardize: recipe.model.standardize,
        storage: recipe.data.storage,
        report_standardized: recipe.report.scale == Scale::Standardised,
    })
}

/// Where the search for the mode starts in internal coordinates, if the recipe says.
fn mode_start(recipe: &Recipe, model: &dyn Model) -> Result<Option<Vec<f64>>, RecipeError> {
    let Some(start) = &recipe.mode.start else {
        return Ok(None);
    };
    let wanted = model.params().len();
    if start.len() != wanted || start.iter().any(|value| !value.is_finite()) {
        return Err(RecipeError::Setting(SettingError::Value {
            key: "mode.start".to_owned(),
            takes: format!("{wanted} finite numbers, one per variable"),
            value: start.len().to_string(),
        }));
    }
    let mut u = vec![0.0; model.dim()];
    model.unconstrain(start, &mut u);
    Ok(Some(u))
}

/// Where the chains of `recipe` climb to, by group of chains; nothing where they start elsewhere.
fn ascents(
    model: &dyn Model,
    recipe: &Recipe,
    plan: &Plan,
    control: &Control,
) -> Result<Vec<Vec<f64>>, JobError> {
    let run = &recipe.run;
    if !run.start.is_mode() {
        return Ok(Vec::new());
    }
    control.enter("climbing to where chains start");
    let groups = (0..run.chains).map(|chain| run.start_of(chain)).max();
    let groups = groups.map_or(0, |last| last + 1);
    (0..groups)
        .into_par_iter()
        .map(|group| {
            let mut u = dispersed_start(model, None, run.start_spread, (run.seed, group));
            match ascend(model, plan, &mut u, control) {
                Ok(()) => Ok(u),
                Err(ModeError::Cancelled) => Err(JobError::Cancelled),
                Err(error) => Err(JobError::NoStart(error)),
            }
        })
        .collect()
}

/// Fills in what was left to defaults of data, model and priors, so that a later version with other defaults replays the run.
///
/// # Errors
/// The formula is not understood.
pub fn complete_model(
    recipe: &Recipe,
    loaded: &Loaded,
    design: &Design,
) -> Result<Recipe, JobError> {
    let mut recipe = recipe.clone();
    recipe.data.fingerprint = Some(loaded.table.fingerprint().to_owned());
    if loaded.table.is_text() {
        recipe.data.import = loaded.guesses.to_options(&recipe.data.import);
    }
    let formula = whole_formula(&recipe, &loaded.table)?;
    recipe.model.formula = design.formula_of(&formula).to_string();
    if recipe
        .model
        .hold_out
        .as_ref()
        .is_some_and(HoldOut::is_drawn)
    {
        recipe.model.hold_out_seed.get_or_insert(SEED);
    }
    recipe.model.success = design.response.success().map(str::to_owned);
    recipe.model.reference = design.reference_levels.iter().cloned().collect();
    recipe.set_default_priors(recipe.default_priors());
    Ok(recipe)
}

/// Fills in the sampler, whose settings are settled.
fn fill_sampler(recipe: &mut Recipe, sampler: &'static SamplerEntry, settings: Settings) {
    sampler.spec.id.clone_into(&mut recipe.sampler.id);
    recipe.sampler.settings = settings;
    if !sampler.spec.decides_warmup && recipe.run.warmup.is_none() {
        recipe.run.warmup = Some(sampler.spec.default_warmup);
    }
}
