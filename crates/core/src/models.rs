//! Models: a log prior and a log likelihood over any set of rows, with gradients, on an unconstrained vector u.
//!
//! One file per template. To add one:
//!
//! 1. Write `models/my_model.rs` with a unit struct that implements [`Template`] and a struct that implements
//!    [`Model`]; the header states the generative story, the parameters, the gradient, and the source.
//! 2. Add `mod my_model;` here and `ModelEntry::of::<my_model::MyTemplate>(),` to [`REGISTRY`].
//! 3. Run `cargo test conformance`: gradients, sums over minibatches and transforms are covered at once.
//!
//! The window's form, `--set`, `ergodic list` and the reference pages are made from [`ModelSpec`].

use std::ops::Range;
use std::sync::Arc;

use crate::design::matrix::Design;
use crate::design::response::ResponseUse;
use crate::families::{Family, FamilyError};
use ergodic_base::linalg::axpy;
use ergodic_base::param::ParamId;
use ergodic_base::reporter::Reporter;
use ergodic_base::rng::ChainRng;
use ergodic_base::settings::{Field, SettingError, Settings};

pub(crate) mod categorical;
mod coefficients;
#[cfg(test)]
mod conformance;
pub mod default_priors;
mod density;
pub(crate) mod dp_mixture;
pub(crate) mod examples;
pub(crate) mod glm;
pub(crate) mod hierarchical;
mod hierarchy;
pub(crate) mod linear;
pub(crate) mod logistic;
pub(crate) mod mixed;
pub(crate) mod negative_binomial;
pub(crate) mod poisson;
pub(crate) mod positive;
pub mod predicts;
pub(crate) mod prior;
mod prior_text;
mod regression;
mod simplex;
pub(crate) mod student;
#[cfg(test)]
pub mod testing;
pub mod translation;

pub use default_priors::DefaultPriors;
pub use density::{DensityModel, LogDensity, density_of};
pub use dp_mixture::Mixture;
pub use hierarchy::Hierarchy;
pub use mixed::{MixedEffects, WorkingRows, has_intercepts_of_groups};
pub use predicts::Predicts;
pub use prior_text::{PriorError, PriorProblem};
pub use simplex::SimplexCounts;

/// Which rows of the design a call concerns.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// All N rows.
    All,
    /// `len` rows from `start`.
    Span {
        /// First row.
        start: usize,
        /// Number of rows.
        len: usize,
    },
    /// The listed rows, repeats allowed.
    Pick(&'a [u32]),
}

impl Rows<'_> {
    /// Number of rows, given that there are `num_obs` in all.
    pub fn len(&self, num_obs: usize) -> usize {
        match self {
            Self::All => num_obs,
            Self::Span { len, .. } => *len,
            Self::Pick(rows) => rows.len(),
        }
    }

    /// The `k`-th row.
    #[inline]
    pub fn get(&self, k: usize) -> usize {
        match self {
            Self::All => k,
            Self::Span { start, .. } => start + k,
            Self::Pick(rows) => rows[k] as usize,
        }
    }
}

/// Working memory of one chain, reused for ever so that steps do not allocate. Models size it themselves.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Rows of the current tile, or whatever the model keeps per tile.
    pub tile: Vec<f64>,
    /// Accumulators of the gradient.
    pub lanes: Vec<f64>,
    /// A vector of length D or Q.
    pub vector: Vec<f64>,
    /// Counts and places of rows, for models that sort them.
    pub index: Vec<u32>,
}

/// One reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamInfo {
    /// Which it is, such as `b[age]`.
    pub name: ParamId,
    /// What it says, on the scale it is reported on, in words.
    pub meaning: String,
    /// Prior in Stan's notation with the scale it holds on, for people.
    pub prior: String,
    /// Where the prior comes from: "default …" or "set by the recipe".
    pub prior_source: String,
}

/// Coordinates of u that belong together, such as the coefficients or the effects of one group, and are updated together
/// by block samplers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What they are: the quantity, the word or the first keys that they have in common.
    pub name: ParamId,
    /// Which they are.
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

/// Centre data that a model keeps per row, so that a difference of gradients costs one pass.
#[derive(Clone, Debug, Default)]
pub struct CentreRows {
    /// The centre û, length D.
    pub u: Vec<f64>,
    /// Model-specific numbers per row at û, such as residuals; may be empty.
    pub per_row: Vec<f64>,
}

/// Most coordinates for which a dense matrix of curvature is made unless a model says otherwise: its eigenvalues, and the
/// noise of row gradients in all directions, take seconds up to here and many minutes at three times as many.
pub const MAX_DENSE_DIM: usize = 1000;
/// The same for models with effects of groups, whose samplers need no mode: noise of row gradients is measured in all
/// directions, whose time grows with the third power.
const MAX_DENSE_DIM_OF_GROUPS: usize = 400;

/// A posterior: immutable, shared by all chains.
///
/// The likelihood is never scaled here: only the oracle multiplies by N/B, and prior and likelihood are separate
/// calls, so that a prior multiplied by N/B (an erratum of the literature) cannot be written by accident.
pub trait Model: Send + Sync {
    /// The Q reported quantities.
    fn params(&self) -> &[ParamInfo];
    /// D, the unconstrained dimension.
    fn dim(&self) -> usize;
    /// N, the number of rows.
    fn num_obs(&self) -> usize;
    /// Whether the likelihood is made of rows, so that few of them tell something of all.
    fn has_rows(&self) -> bool {
        true
    }
    /// Working memory for one chain.
    fn scratch(&self) -> Scratch;

    /// Reported quantities at `u` (D → Q).
    fn constrain(&self, u: &[f64], theta: &mut [f64]);
    /// The position whose reported quantities are `theta` (Q → D).
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]);
    /// Whether there is a density on u. Models of which only summaries are reported, such as mixtures with a varying
    /// number of clusters, have none: they have no mode, and only samplers made for them can sample them
    /// (`Sampler::NEEDS_DENSITY`).
    fn has_density(&self) -> bool {
        true
    }
    /// Whether D×D matrices of curvature are cheap enough to be made. Without them no mode is searched for, and samplers
    /// start from [`Self::init`] and learn the scales themselves.
    fn has_dense_curvature(&self) -> bool {
        self.dim() <= MAX_DENSE_DIM
    }
    /// A crude starting point for models whose mode is not known.
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]);

    /// log p(θ(u)) + log|∂θ/∂u|, dropping constants; overwrites `grad` (D).
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64;
    /// log p(θ) of the parameters that have a prior of their own, on the scale on which it is stated: without |∂θ/∂u|, and
    /// without the distribution of effects of groups, which is part of the model; constants dropped. Power scaling of the
    /// prior raises this. `None` for a model that does not say.
    fn log_prior_density(&self, _u: &[f64]) -> Option<f64> {
        None
    }
    /// The interval that a picture of the prior of reported quantity `index` shows; `None` if it has no density, or one
    /// that is symmetric about 0.
    fn prior_range(&self, _index: usize) -> Option<(f64, f64)> {
        None
    }
    /// Prior density of reported quantity `index` at `value`, for plots; `None` if it has no marginal in closed form.
    fn prior_density(&self, index: usize, value: f64) -> Option<f64>;

    /// Unscaled Σ log p(y_i|θ(u)) over `rows`; ADDS its gradient to `grad` (D).
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64;
    /// ADDS the gradient of Σ log p(y_i|θ(u)) over `rows` to `grad` (D); cheaper than [`Self::log_lik`].
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]);
    /// One log likelihood per row (B).
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]);
    /// One gradient per row, row-major (B×D).
    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]);
    /// Numbers that [`Self::simulate`] gives per row: 1, the response; without a response the columns of the row, C.
    fn values_per_row(&self) -> usize {
        1
    }
    /// Draws a position from the prior.
    ///
    /// # Errors
    /// Why it cannot be done, in words that can follow "template `id` cannot, because ".
    fn draw_prior(&self, _rng: &mut ChainRng, _u: &mut [f64]) -> Result<(), &'static str> {
        Err("it does not say how to draw from its prior")
    }
    /// Draws a position from the prior, and what [`Self::simulate`] gives for all rows of the design at it (N×C): numeric columns,
    /// then positions of the levels of categorical ones.
    ///
    /// # Errors
    /// As for [`Self::draw_prior`].
    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), &'static str> {
        self.draw_prior(rng, u)?;
        self.simulate(u, Rows::All, rng, values);
        Ok(())
    }
    /// Simulated responses for `rows` (B), or rows as they are in the data, without scaling, where there is no response (B×C).
    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]);

    /// What [`Self::grad_difference`] and [`Self::score_differences`] need to know about the centre `u`.
    fn centre_rows(&self, u: &[f64]) -> CentreRows {
        CentreRows {
            u: u.to_vec(),
            per_row: Vec::new(),
        }
    }
    /// ADDS Σ (∇log p(y_i|u) − ∇log p(y_i|û)) over `rows` to `grad` (D).
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        grad: &mut [f64],
    );
    /// Differences of scores from those at the centre, one per row (B×D).
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    );

    /// −∂²/∂u² of the log likelihood over `rows`, ADDED to the row-major D×D `hessian`.
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    );
    /// −∂²/∂u² of the log prior, ADDED to `hessian` (D×D). Where the prior has a kink, its best quadratic stand-in.
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]);

    /// The natural blocks, none of them empty, in order, every coordinate in exactly one of them. By default neighbours
    /// whose names agree up to a bracket, such as `b[age]` and `b[plan]`; a single block where parameters are not
    /// coordinates.
    fn blocks(&self) -> Vec<Block> {
        let dim = self.dim();
        if self.params().len() != dim {
            return vec![Block {
                name: "all".into(),
                coordinates: 0..dim,
            }];
        }
        let mut blocks: Vec<Block> = Vec::new();
        for (j, param) in self.params().iter().enumerate() {
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

    /// Remarks on how the model fits at its mode `u`, for people.
    fn remark(&self, _u: &[f64], _reporter: &mut Reporter) {}

    /// The linear structure of the likelihood, where it has one.
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        None
    }
    /// The log prior as rows of the same kind, where it is a sum of functions of one linear combination of u each.
    fn prior_rows(&self) -> Option<&prior::PriorRows> {
        None
    }
    /// The view of a model whose unknown is a partition of units into clusters.
    fn partition(&self) -> Option<&Mixture> {
        None
    }
    /// The view of a model whose only parameters are the probabilities of categories.
    fn simplex(&self) -> Option<&dyn SimplexCounts> {
        None
    }
    /// The view of a model whose groups of rows have parameters of their own around common ones.
    fn hierarchy(&self) -> Option<&dyn Hierarchy> {
        None
    }
    /// The view of a model that predicts outcomes of new rows.
    fn predicts(&self) -> Option<&dyn Predicts> {
        None
    }

    /// The view of a mixed model by its parts.
    fn mixed_effects(&self) -> Option<&dyn MixedEffects> {
        None
    }
}

/// The view of a likelihood in which row i depends on u through one number, its linear predictor z_i = a_i'u + o_i.
///
/// Samplers that bound or expand the likelihood row by row need this structure ([`Model::linear_rows`]).
pub trait LinearRows {
    /// a_i (D), up to a sign that log p of the row takes into account.
    fn covariates(&self, row: usize) -> &[f64];
    /// z_i at `u`.
    fn predictor(&self, row: usize, u: &[f64]) -> f64;
    /// log p of row i, its first and its second derivative in z, at `z`.
    fn derivatives(&self, row: usize, z: f64) -> [f64; 3];
    /// ∂ log p/∂z at `u`, one per row (B).
    fn slopes(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            *out = self.derivatives(row, self.predictor(row, u))[1];
        }
    }
    /// The largest |∂ log p/∂z| over all z, infinite if there is none.
    fn slope_bound(&self, row: usize) -> f64;
    /// The largest |∂² log p/∂z²| over all z, infinite if there is none.
    fn curvature_bound(&self, row: usize) -> f64;

    /// z, log p and ∂ log p/∂z at `u`, one triple per row of `rows` (B). A row's triple does not depend on its
    /// neighbours.
    fn row_terms(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = rows.get(k);
            let z = self.predictor(row, u);
            let [log_p, slope, _second] = self.derivatives(row, z);
            *out = [z, log_p, slope];
        }
    }
    /// ADDS Σ w_k a_k over `rows` to `grad` (D), with one weight per row (B).
    fn add_weighted_covariates(&self, rows: Rows<'_>, weights: &[f64], grad: &mut [f64]) {
        for (k, &weight) in weights.iter().enumerate() {
            axpy(weight, self.covariates(rows.get(k)), grad);
        }
    }
    /// The smallest and the largest −∂² log p/∂z² over all z; rows that are log-concave can say more than the bound does.
    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let bound = self.curvature_bound(row);
        [-bound, bound]
    }
    /// The largest |∂³ log p/∂z³| over all z, infinite if there is none or it is not known.
    fn third_bound(&self, _row: usize) -> f64 {
        f64::INFINITY
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
    /// What priors its parameters can have.
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
    /// One of them.
    pub example: &'static str,
}

/// Why a model could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No template of this name.
    #[error("There is no template `{id}`; there are {known}")]
    UnknownTemplate {
        /// What was written.
        id: String,
        /// The templates that there are.
        known: String,
    },
    /// A prior for a parameter that the model does not have.
    #[error("There is no parameter `{key}` to set a prior for; there are {known}")]
    UnknownParameter {
        /// What was written.
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
        /// What was written.
        text: String,
        /// What is wrong with it and what to write.
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
        /// What it needs and what to write.
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
    /// The same in more detail, for models in which groups vary by intercepts alone: the parabolas of all rows at estimates.
    pub working: Option<Arc<WorkingRows>>,
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

/// A kind of model that users choose from a list.
pub trait Template: 'static {
    /// Description of the template.
    const SPEC: ModelSpec;
    /// Whether every coefficient varies by the column with the role of the group: what clicks write then.
    const ALL_VARY: bool = false;
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

/// A registered template.
pub struct ModelEntry {
    /// Description of the template.
    pub spec: ModelSpec,
    /// See [`Template::ALL_VARY`].
    pub all_vary: bool,
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
            all_vary: T::ALL_VARY,
            family: T::family,
            build: T::build,
            group: "Regression",
            translate: T::translate,
        }
    }

    /// This entry under another heading.
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
    ModelEntry::of::<hierarchical::Hierarchical>().in_group(GROUPS),
    ModelEntry::of::<mixed::Mixed>().in_group(GROUPS),
    ModelEntry::of::<categorical::Categorical>().in_group("Categories"),
    ModelEntry::of::<dp_mixture::DpMixture>().in_group("Clusters"),
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
