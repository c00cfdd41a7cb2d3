//! Models: what is unknown, as a log density of an unconstrained vector u, a partition or topics, and what is reported of it.
//!
//! A density is known in steps, each of which lets more samplers in: its value and gradient at a point ([`LogDensity`], all that
//! somebody else's model must bring); its parts by rows of data ([`RowLikelihood`]); and views of its structure ([`Model`]).
//!
//! ```
//! use ergodic_models::design::{Design, MemoryColumns, ModelFrame, ResponseUse, Values};
//! use ergodic_models::{Model, ModelOptions, find};
//!
//! let columns = vec![
//!     ("y".to_owned(), Values::Numbers(vec![1.0, 2.5, 2.9, 4.2])),
//!     ("x".to_owned(), Values::Numbers(vec![0.0, 1.0, 2.0, 3.0])),
//! ];
//! let table = MemoryColumns::new("four rows", columns)?;
//! let frame = ModelFrame {
//!     response_use: ResponseUse::Number,
//!     ..ModelFrame::new("y ~ x".parse()?)
//! };
//! let (design, _) = Design::build(&table, &frame)?;
//! let model = (find("linear").expect("a template").build)(design.into(), &ModelOptions::default())?;
//! let names: Vec<String> = model.params().iter().map(|it| it.name.to_string()).collect();
//! assert_eq!(names, ["b[Intercept]", "b[x]", "sigma"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One file per template. To add one:
//!
//! 1. Write `my_model.rs` with a unit struct that implements [`Template`] and a struct that implements
//!    [`Model`], [`LogDensity`] and [`RowLikelihood`]; the header states the generative story, the parameters, the gradient, and the source.
//! 2. Add `mod my_model;` here and `ModelEntry::of::<my_model::MyTemplate>(),` to [`REGISTRY`].
//! 3. Run `cargo test conformance`: gradients, sums over minibatches and transforms are covered at once.
//!
//! The window's form, `--set`, `ergodic list` and the reference pages are made from [`ModelSpec`].

use std::ops::Range;
use std::sync::Arc;

use crate::design::{Design, ObservationModel, ResponseKind, ResponseUse};
use crate::families::{Family, FamilyError};
use crate::formula::quote_name;
use ergodic_base::settings::{Field, SettingError, Settings};
use ergodic_base::{ChainRng, ParamId, Reporter};

#[cfg(test)]
mod allocations;
mod auxiliary;
pub(crate) mod categorical;
mod chance;
mod coefficients;
mod conditional;
#[cfg(test)]
mod conformance;
mod covariates;
mod cut_points;
pub mod default_priors;
mod density;
pub mod design;
pub mod dp_mixture;
pub(crate) mod examples;
pub(crate) mod factorization;
pub mod families;
pub mod formula;
pub(crate) mod glm;
mod head;
pub(crate) mod hierarchical;
mod hierarchy;
mod likelihood;
pub(crate) mod linear;
pub(crate) mod logistic;
mod marginal;
pub mod mixed;
pub(crate) mod multinomial;
pub mod names;
pub(crate) mod negative_binomial;
pub(crate) mod neural_net;
mod numerics;
pub(crate) mod ordered;
pub(crate) mod poisson;
pub(crate) mod positive;
pub mod predicts;
mod prior;
mod prior_of;
mod prior_text;
mod regression;
mod row_kernel;
mod shard;
mod simplex;
mod simulation;
mod storage;
pub(crate) mod student;
pub mod synthetic;
#[cfg(test)]
mod testing;
pub mod topics;
pub mod translation;
mod units;

pub use conditional::{Form, KnownConditional, form_of, independent_forms};
pub use covariates::Covariates;
pub use default_priors::DefaultPriors;
pub use density::{
    DensityModel, LogDensity, MAX_DENSE_DIM, MAX_DENSE_DIM_OF_GROUPS, add_differences, density_of,
};
pub use dp_mixture::Mixture;
pub use hierarchy::Hierarchy;
pub(crate) use likelihood::moments_of_scores;
pub use likelihood::{
    BLOCK_ROWS, CentreRows, LinearRows, RowLikelihood, Rows, Scratch, sum_of_rows,
};
pub use marginal::Marginal;
pub use mixed::{MixedEffects, WorkingRows, suits_whitening};
pub use numerics::wishart::NormalInverseWishart;
pub use predicts::Predicts;
pub use prior::{Prior, PriorRows};
pub use prior_of::{ChosenBy, PriorOf, PriorSource};
pub use prior_text::{PriorError, PriorProblem};
pub use row_kernel::{RowKernel, count_rows, logit_rows};
pub use shard::Shard;
pub use simplex::SimplexCounts;
pub use simulation::{NoPriorDraws, PriorDraws, Simulation};
pub use storage::Storage;
pub use topics::Corpus;

/// How products are added, which decides the last digits of draws, and what loops over rows are made of.
pub mod arithmetic {
    pub use crate::numerics::arithmetic::{
        Arithmetic, Class, RowLoop, Separate, SimdLevel, run_loop,
    };
    pub use crate::numerics::elementary::{LANES, Lane, exp, exp_negative, ln_1p};
}

/// The words by which tests of the samplers call this crate, so that they can include [`testing`].
#[cfg(test)]
use crate as models;

/// One reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamInfo {
    /// Name of the quantity, such as `b[age]`.
    pub name: ParamId,
    /// What the quantity says, on the scale it is reported on, in words.
    pub meaning: String,
    /// Prior in Stan's notation.
    pub prior: PriorOf,
    /// Where the prior comes from, and for which scale it holds.
    pub prior_source: PriorSource,
}

/// Coordinates of u that belong together, such as the coefficients or the effects of one group, and are updated together
/// by block samplers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What the coordinates are: the quantity, the word or the first keys that they have in common.
    pub name: ParamId,
    /// Places of the coordinates in u.
    pub coordinates: Range<usize>,
}

/// The coordinates of `model` by the names that people know: a block ([`Model::blocks`]) with as many coordinates as there are
/// parameters of its name, such as `b[age]` in `b`, is taken apart into these; others stay whole.
pub fn parts(model: &dyn Model) -> Vec<Block> {
    let mut parts = Vec::new();
    for block in model.blocks() {
        let names = model.params().iter().map(|param| &param.name);
        let own: Vec<&ParamId> = names
            .filter(|name| *name.word() == *block.name && !name.keys().is_empty())
            .collect();
        if own.len() != block.coordinates.len() {
            parts.push(block);
            continue;
        }
        parts.extend(
            own.into_iter()
                .zip(block.coordinates)
                .map(|(name, j)| Block {
                    name: name.clone(),
                    coordinates: j..j + 1,
                }),
        );
    }
    parts
}

/// What a model leaves unknown: numbers with a density, which units belong together, or what documents are about.
#[derive(Clone, Copy)]
pub enum Posterior<'a> {
    /// A vector u with a log density.
    Density(&'a dyn LogDensity),
    /// A partition of units into clusters. Only summaries of it are reported, and a position is these summaries.
    Partition(&'a Mixture),
    /// Topics, whose numbers mean nothing. Only summaries of them are reported, and a position is these summaries.
    Topics(&'a Corpus),
}

/// What is sampled: a posterior, the quantities that are reported of it, and views of its structure. Immutable, shared by all
/// chains.
///
/// What samplers can do with it follows from [`Self::posterior`]: every density can be climbed and explored
/// ([`LogDensity`]), one over rows of data also estimated from few of them ([`RowLikelihood`]). Views say what else is known;
/// samplers made for one refuse models without it.
pub trait Model: Send + Sync {
    /// The Q reported quantities.
    fn params(&self) -> &[ParamInfo];
    /// What is unknown.
    fn posterior(&self) -> Posterior<'_>;

    /// Reported quantities at `u` (D → Q). By default they are the coordinates.
    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(u);
    }
    /// The position whose reported quantities are `theta` (Q → D).
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        u.copy_from_slice(theta);
    }
    /// The interval that a picture of the prior of reported quantity `index` shows; `None` if it has no density.
    fn prior_range(&self, _index: usize) -> Option<(f64, f64)> {
        None
    }
    /// Prior density of reported quantity `index` at `value`, for plots; `None` if it has no marginal in closed form.
    fn prior_density(&self, _index: usize, _value: f64) -> Option<f64> {
        None
    }
    /// The marginal posterior of reported quantity `index`; `None` where it is not known in closed form.
    fn marginal(&self, _index: usize) -> Option<Marginal> {
        None
    }
    /// Remarks on how the model fits at its mode `u`, for people.
    fn remark(&self, _u: &[f64], _reporter: &mut Reporter) {}

    /// Says what is remarkable about how the template reads the data.
    fn remark_on_data(&self, _reporter: &mut Reporter) {}
    /// The natural blocks, none of them empty, in order, every coordinate in exactly one of them. By default neighbours
    /// whose names agree up to a bracket, such as `b[age]` and `b[plan]`; a single block where parameters are not
    /// coordinates.
    fn blocks(&self) -> Vec<Block> {
        let dim = match self.posterior() {
            Posterior::Density(density) => density.dim(),
            Posterior::Partition(_) | Posterior::Topics(_) => self.params().len(),
        };
        blocks_by_name(self.params(), dim)
    }

    /// Blocks whose distribution given all other coordinates has a known form.
    fn known_conditionals(&self) -> Vec<KnownConditional> {
        Vec::new()
    }
    /// The view of a model whose only parameters are the probabilities of categories.
    fn simplex(&self) -> Option<&dyn SimplexCounts> {
        None
    }
    /// The view of a model whose groups of rows have parameters of their own around common ones.
    fn hierarchy(&self) -> Option<&dyn Hierarchy> {
        None
    }
    /// The view of a mixed model by its parts.
    fn mixed_effects(&self) -> Option<&dyn MixedEffects> {
        None
    }
    /// The view of a model that predicts outcomes of new rows from one linear predictor.
    fn predicts(&self) -> Option<&dyn Predicts> {
        None
    }
    /// The view of a model whose rows do not follow from one linear predictor.
    fn observation(&self) -> Option<&Arc<dyn ObservationModel>> {
        None
    }
    /// The view of a model that draws from its prior, and rows for what it drew.
    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        None
    }
    /// Draws the parameters from the prior; `theta` (Q) begins with them. Also for a model that makes no data.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn draw_parameters(&self, rng: &mut ChainRng, theta: &mut [f64]) -> Result<(), NoPriorDraws> {
        let (Some(draws), Posterior::Density(density)) = (self.prior_draws(), self.posterior())
        else {
            return Err(NoPriorDraws::NotSaid);
        };
        let mut u = vec![0.0; density.dim()];
        draws.draw_prior(rng, &mut u)?;
        self.constrain(&u, theta);
        Ok(())
    }
    /// Rows of the design that take no part in the fit, because a setting of the template holds their units out.
    fn rows_held_out(&self) -> usize {
        0
    }
    /// The view of a model that makes data by its prior.
    fn simulation(&self) -> Option<&dyn Simulation> {
        self.prior_draws().map(|draws| draws as &dyn Simulation)
    }
}

/// Neighbours among `dim` coordinates whose parameters have names that agree up to a bracket; a single block where parameters are not
/// coordinates.
fn blocks_by_name(params: &[ParamInfo], dim: usize) -> Vec<Block> {
    if params.len() != dim {
        return vec![Block {
            name: "all".into(),
            coordinates: 0..dim,
        }];
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (j, param) in params.iter().enumerate() {
        let class = param.name.word();
        match blocks.last_mut() {
            Some(last) if last.name == *class => last.coordinates.end = j + 1,
            _ => blocks.push(Block {
                name: ParamId::named(class),
                coordinates: j..j + 1,
            }),
        }
    }
    blocks
}

impl<'a> dyn Model + 'a {
    /// The density of u; partitions and topics have none.
    pub fn density(&self) -> Option<&dyn LogDensity> {
        match self.posterior() {
            Posterior::Density(density) => Some(density),
            Posterior::Partition(_) | Posterior::Topics(_) => None,
        }
    }
    /// The density by its rows, where it has some.
    pub fn rows(&self) -> Option<&dyn RowLikelihood> {
        self.density()?.rows()
    }
    /// The mixture whose unknown is a partition, where that is what is unknown.
    pub fn partition(&self) -> Option<&Mixture> {
        match self.posterior() {
            Posterior::Partition(mixture) => Some(mixture),
            Posterior::Density(_) | Posterior::Topics(_) => None,
        }
    }
    /// The documents whose topics are unknown, where these are.
    pub fn corpus(&self) -> Option<&Corpus> {
        match self.posterior() {
            Posterior::Topics(corpus) => Some(corpus),
            Posterior::Density(_) | Posterior::Partition(_) => None,
        }
    }
    /// The linear structure of the likelihood, where it has one.
    pub fn linear_rows(&self) -> Option<&dyn LinearRows> {
        self.rows()?.linear_rows()
    }
    /// The log prior as rows of the same kind, where it is a sum of functions of one linear combination of u each.
    pub fn prior_rows(&self) -> Option<&prior::PriorRows> {
        self.rows()?.prior_rows()
    }
    /// D, the length of a position.
    pub fn dim(&self) -> usize {
        match self.posterior() {
            Posterior::Density(density) => density.dim(),
            Posterior::Partition(_) | Posterior::Topics(_) => self.params().len(),
        }
    }
    /// N, the number of rows, of units of a partition, or of documents. A density without rows is evaluated as one.
    pub fn num_obs(&self) -> usize {
        match self.posterior() {
            Posterior::Density(density) => density.rows().map_or(1, RowLikelihood::num_obs),
            Posterior::Partition(mixture) => mixture.num_units(),
            Posterior::Topics(corpus) => corpus.num_documents(),
        }
    }
}

/// What a template is, for lists, forms and checks.
#[derive(Clone, Copy, Debug)]
pub struct ModelSpec {
    /// Identifier in recipes and on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence: what question it answers.
    pub about: &'static str,
    /// Settings besides priors and formula.
    pub fields: &'static [Field],
    /// How the response column is read under these settings ([`ModelEntry::resolve`]).
    pub response: fn(&Settings) -> ResponseUse,
    /// Priors that parameters of the template can have.
    pub priors: PriorSpec,
}

/// What priors the parameters of a template can have.
#[derive(Clone, Copy, Debug)]
pub struct PriorSpec {
    /// Keys that set the prior of several parameters at once, with words for them.
    pub classes: &'static [(&'static str, &'static str)],
    /// Whether a text is such a prior; the error says which forms are known.
    pub check: fn(&str) -> Result<(), ModelError>,
    /// The forms, for people.
    pub forms: &'static str,
    /// One prior of these forms.
    pub example: &'static str,
}

/// Why a model could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No template of this name.
    #[error("There is no template `{id}`; there are {known}")]
    UnknownTemplate {
        /// Id that was written.
        id: String,
        /// The templates that there are.
        known: String,
    },
    /// A prior for a parameter that the model does not have.
    #[error("There is no parameter `{key}` to set a prior for; there are {known}")]
    UnknownParameter {
        /// Key that was written.
        key: String,
        /// The parameters and classes that there are.
        known: String,
    },
    /// A prior that is not understood.
    #[error(transparent)]
    PriorText(#[from] PriorError),
    /// A prior that is not one for its parameter.
    #[error("Prior `{text}` {why}")]
    Prior {
        /// Text of the prior.
        text: String,
        /// What is wrong with the text and what to write.
        why: String,
    },
    /// A setting of the template, or `priors.default`.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A formula or data that the template is not for.
    #[error("Template `{template}` {why}")]
    Unfit {
        /// Id of the template.
        template: &'static str,
        /// What the template needs and what to write.
        why: String,
    },
    /// Outcomes that the response family cannot have.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// Rows or columns that tell nothing, which no formula mends: one sentence, as there is nothing to be told apart.
    #[error("{0}")]
    Data(String),
}

impl ModelError {
    pub(crate) fn unfit(template: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Unfit { template, why }
    }

    pub(crate) fn prior(text: &str, why: impl Into<String>) -> Self {
        let (text, why) = (text.trim().to_owned(), why.into());
        Self::Prior { text, why }
    }

    pub(crate) fn unknown_parameter(key: &str, known: impl Into<String>) -> Self {
        let (key, known) = (key.to_owned(), known.into());
        Self::UnknownParameter { key, known }
    }
}

/// What a template needs besides the design.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// Values of [`ModelSpec::fields`], each present that has a default.
    pub settings: Settings,
    /// Priors by class or parameter, in Stan's notation: `b`, `intercept`, `b[age]`.
    pub priors: Vec<(String, String)>,
    /// Priors of the others.
    pub defaults: DefaultPriors,
    /// Whether priors hold for coefficients of standardised predictors (decided by the recipe, default true).
    pub standardize: bool,
    /// Whether reported coefficients are on the standardised scale instead of the original one.
    pub report_standardized: bool,
    /// By group term and group, for models whose parametrisation is left to the program: whether the data tell the
    /// group's effects much better than the spread of groups does. Empty where nobody knows.
    pub well_known: Vec<Vec<bool>>,
    /// Parabolas of all rows at estimates: `well_known` in more detail.
    pub working: Option<Arc<WorkingRows>>,
    /// The precision in which the covariates of rows are stored.
    pub storage: Storage,
}

impl ModelOptions {
    /// The prior set for a class or parameter.
    pub fn prior(&self, key: &str) -> Option<&str> {
        let mut given = self.priors.iter().rev();
        given
            .find(|(name, _)| name == key)
            .map(|(_, text)| text.as_str())
    }

    /// Refuses priors for anything but the `classes` and the parameters called `names`.
    fn check_priors(&self, classes: &[(&str, &str)], names: &[&str]) -> Result<(), ModelError> {
        for (key, _text) in &self.priors {
            // A class of one parameter has its name.
            let is_class = |name: &&&str| classes.iter().any(|(class, _)| class == *name);
            let classes = classes.iter().map(|(class, _)| class);
            let known = classes.chain(names.iter().filter(|name| !is_class(name)));
            if !known.clone().any(|known| known == key) {
                let known: Vec<&str> = known.copied().collect();
                return Err(ModelError::unknown_parameter(key, known.join(", ")));
            }
        }
        Ok(())
    }
}

/// How exactly [`Model::unconstrain`] gives back the position that [`Model::constrain`] reported: the largest error of a coordinate
/// in units of the largest coordinate, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// Where coordinates are of the size that priors expect.
    pub near: f64,
    /// Several times as far out.
    pub far: f64,
    /// Why digits are lost; empty where none are.
    pub reason: &'static str,
}

impl RoundTrip {
    /// Up to rounding.
    pub const EXACT: Self = Self {
        near: 1e-12,
        far: 1e-12,
        reason: "",
    };
}

/// A kind of model that users choose from a list.
pub trait Template: 'static {
    /// Description of the template.
    const SPEC: ModelSpec;
    /// How exactly transforms of the template's models undo each other.
    const ROUND_TRIP: RoundTrip = RoundTrip::EXACT;
    /// Whether every coefficient varies by the column with the role of the group: what clicks write then.
    const ALL_VARY: bool = false;
    /// Precisions in which the template's models can store the covariates of rows.
    const STORAGE: &'static [Storage] = &[Storage::F64];
    /// Whether the template's models say how likely rows are, though no response family does.
    const EXPLAINS_ROWS: bool = false;
    /// The response family that the settings choose; `None` where rows are not explained by one linear predictor.
    fn family(_settings: &Settings) -> Option<Family> {
        None
    }
    /// Builds the model.
    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError>;
    /// The model in words, as an equation and as code of other programs.
    ///
    /// # Errors
    /// Priors that are not understood.
    fn translate(
        context: &translation::Context<'_>,
    ) -> Result<translation::Translation, ModelError>;
}

/// A function that builds a model, see [`Template::build`].
pub type BuildModel = fn(Arc<Design>, &ModelOptions) -> Result<Arc<dyn Model>, ModelError>;

/// The levels of a response without an order, two or more.
fn unordered_levels<'a>(
    design: &'a Design,
    template: &'static str,
) -> Result<&'a [String], ModelError> {
    match &design.response.kind {
        ResponseKind::Unordered { levels } if levels.len() > 1 => Ok(levels),
        _ => Err(ModelError::unfit(template, "needs an outcome of levels")),
    }
}

/// Refuses group terms, for templates without effects that vary by group.
fn refuse_group_terms(design: &Design, template: &'static str) -> Result<(), ModelError> {
    match design.groups.first() {
        None => Ok(()),
        Some(group) => Err(ModelError::unfit(
            template,
            format!(
                "has no effects that vary by group, but the formula has some by `{}`; leave them out or choose template `mixed`",
                group.name
            ),
        )),
    }
}

/// Refuses group terms and responses that are not numbers, counts, or two values, whichever is `wanted`.
fn check_response(
    design: &Design,
    wanted: ResponseUse,
    template: &'static str,
) -> Result<(), ModelError> {
    refuse_group_terms(design, template)?;
    match (wanted, &design.response.kind) {
        (ResponseUse::Number, ResponseKind::Number { .. })
        | (ResponseUse::Count, ResponseKind::Count { .. })
        | (ResponseUse::Outcome, ResponseKind::Binary { .. } | ResponseKind::Successes) => Ok(()),
        (wanted, _) => {
            let what = match wanted {
                ResponseUse::Number => "numbers",
                ResponseUse::Count => "counts",
                _ => "two values or a count of successes",
            };
            Err(ModelError::unfit(
                template,
                format!("needs an outcome of {what}"),
            ))
        }
    }
}

/// Refuses smooth curves, for templates whose coefficients have no spread of their own.
fn refuse_curves(design: &Design, template: &'static str) -> Result<(), ModelError> {
    let mut functions = design.transforms.iter().map(|function| &function.factor);
    match functions.find(|factor| factor.is_smooth()) {
        Some(curve) if template != mixed::Mixed::SPEC.id => Err(ModelError::unfit(
            template,
            format!(
                "has no smooth curves, but the formula has `{curve}`; choose template `mixed`, or write a spline such as `ns({}, 4)`",
                quote_name(curve.column())
            ),
        )),
        _ => Ok(()),
    }
}

/// [`Template::build`], where the template offers the storage that is asked for.
fn build_stored<T: Template>(
    design: Arc<Design>,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, ModelError> {
    if !T::STORAGE.contains(&options.storage) {
        let why = "keeps its numbers in double precision alone; leave `data.storage` out";
        return Err(ModelError::unfit(T::SPEC.id, why));
    }
    refuse_curves(&design, T::SPEC.id)?;
    let errors = design.se.is_some();
    if errors && T::family(&options.settings) != Some(Family::GaussianSe) {
        let why = format!(
            "does not take the standard errors of `{}` into account here; leave `se()` out, or choose template `mixed` with \
             model.family = \"gaussian_se\"",
            design.response.name
        );
        return Err(ModelError::unfit(T::SPEC.id, why));
    }
    if design.censoring.is_some()
        && !T::family(&options.settings).is_some_and(|family| family.takes_censoring())
    {
        let why = format!(
            "does not take into account here that some outcomes `{}` are censored; leave `cens()` out, or choose template `mixed` \
             with model.family = \"{}\"",
            design.response.name,
            Family::ids_for_censoring().join("\" or \"")
        );
        return Err(ModelError::unfit(T::SPEC.id, why));
    }
    T::build(design, options)
}

/// A registered template.
pub struct ModelEntry {
    /// Description of the template.
    pub spec: ModelSpec,
    /// See [`Template::ROUND_TRIP`].
    pub round_trip: RoundTrip,
    /// See [`Template::ALL_VARY`].
    pub all_vary: bool,
    /// See [`Template::STORAGE`].
    pub storage: &'static [Storage],
    /// See [`Template::EXPLAINS_ROWS`].
    explains_rows: bool,
    /// See [`Template::family`].
    pub family: fn(&Settings) -> Option<Family>,
    /// Builds the model.
    pub build: BuildModel,
    /// The heading under which lists show it.
    pub group: &'static str,
    /// See [`Template::translate`].
    pub translate: TranslateModel,
}

/// A function that describes a model, see [`Template::translate`].
pub type TranslateModel =
    fn(&translation::Context<'_>) -> Result<translation::Translation, ModelError>;

impl ModelEntry {
    /// The entry of template `T`.
    pub const fn of<T: Template>() -> Self {
        Self {
            spec: T::SPEC,
            round_trip: T::ROUND_TRIP,
            all_vary: T::ALL_VARY,
            storage: T::STORAGE,
            explains_rows: T::EXPLAINS_ROWS,
            family: T::family,
            build: build_stored::<T>,
            group: "Regression",
            translate: T::translate,
        }
    }

    /// Whether models with these settings say how likely rows are: whether rows can be predicted and left out.
    pub fn predicts(&self, settings: &Settings) -> bool {
        self.explains_rows || (self.family)(settings).is_some()
    }

    /// The entry under another heading.
    #[must_use]
    pub const fn in_group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// `settings` with the defaults of those that are absent.
    ///
    /// # Errors
    /// A setting that the template does not have, or a value that it does not take.
    pub fn resolve(&self, settings: &Settings) -> Result<Settings, SettingError> {
        let owner = format!("Template `{}`", self.spec.id);
        settings.check(&owner, self.spec.fields)?;
        let mut resolved = settings.clone();
        for field in self.spec.fields {
            if let (None, Some(default)) = (settings.get(field.key), field.default) {
                resolved.set(field.key, default.into());
            }
        }
        Ok(resolved)
    }

    /// How the response is read under `settings`, which may lack some or be wrong.
    pub fn response_use(&self, settings: &Settings) -> ResponseUse {
        let resolved = self
            .resolve(settings)
            .or_else(|_wrong| self.resolve(&Settings::default()));
        (self.spec.response)(&resolved.unwrap_or_default())
    }
}

/// Heading of small models for teaching and tests.
pub const EXAMPLES: &str = "Examples";
/// Heading of the templates for rows in groups.
pub const GROUPS: &str = "Groups";

/// All templates, in the order in which lists show them; those of a group stand together.
pub static REGISTRY: &[ModelEntry] = &[
    ModelEntry::of::<logistic::Logistic>(),
    ModelEntry::of::<linear::Linear>(),
    ModelEntry::of::<student::Student>(),
    ModelEntry::of::<poisson::Poisson>(),
    ModelEntry::of::<negative_binomial::NegativeBinomial>(),
    ModelEntry::of::<ordered::Ordered>(),
    ModelEntry::of::<multinomial::Multinomial>(),
    ModelEntry::of::<neural_net::NeuralNet>(),
    ModelEntry::of::<hierarchical::Hierarchical>().in_group(GROUPS),
    ModelEntry::of::<mixed::Mixed>().in_group(GROUPS),
    ModelEntry::of::<factorization::Factorization>().in_group(GROUPS),
    ModelEntry::of::<categorical::Categorical>().in_group("Categories"),
    ModelEntry::of::<dp_mixture::DpMixture>().in_group("Clusters"),
    ModelEntry::of::<topics::TopicModel>().in_group("Texts"),
    ModelEntry::of::<examples::NormalMean>().in_group(EXAMPLES),
    ModelEntry::of::<examples::NormalGamma>().in_group(EXAMPLES),
    ModelEntry::of::<examples::MultivariateT>().in_group(EXAMPLES),
    ModelEntry::of::<examples::WarpedGaussian>().in_group(EXAMPLES),
    ModelEntry::of::<examples::GaussianMixture>().in_group(EXAMPLES),
];

/// The template called `id`; the error lists the known ones.
pub fn find(id: &str) -> Result<&'static ModelEntry, ModelError> {
    REGISTRY
        .iter()
        .find(|entry| entry.spec.id == id)
        .ok_or_else(|| {
            let known: Vec<&str> = REGISTRY.iter().map(|entry| entry.spec.id).collect();
            ModelError::UnknownTemplate {
                id: id.to_owned(),
                known: known.join(", "),
            }
        })
}
