//! Why a sampler cannot sample a model.

use super::simplex::NORMAL_FROM;
use ergodic_base::numerals::thousands;

/// What a model lacks, or has too much of, for a sampler; as text it follows "Sampler `id` ".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsuitable {
    /// The model is a partition or one of topics, without a density of parameters.
    #[error("needs a density of the parameters, which this model does not have")]
    NoDensity,
    /// Gradients are estimated from rows, and there are none.
    #[error("estimates gradients from rows of data, and this density has none")]
    NoRows,
    /// A row depends on the parameters through more than one number.
    #[error("needs a likelihood with one linear predictor per row, as in logistic regression")]
    NoLinearPredictor,
    /// A row's log likelihood has neither a bounded slope nor a bounded curvature.
    #[error(
        "needs rows whose log likelihood has a bounded slope or curvature, as in logistic regression"
    )]
    UnboundedRows,
    /// A prior is not a sum over coefficients, or has neither a bounded slope nor a bounded curvature.
    #[error("needs priors of bounded slope or curvature for single coefficients")]
    UnboundedPriors,
    /// The outcome is not normal, which exact conditional draws need.
    #[error("needs a normal outcome, family gaussian; others take `nuts` or `gibbs-mixed-osgfs`")]
    NotNormal,
    /// No groups with parameters of their own.
    #[error("needs groups that have parameters of their own, as in template `hierarchical`")]
    NoGroups,
    /// No effects of groups around common coefficients.
    #[error("needs effects of groups around common coefficients, as in template `mixed`")]
    NoMixedEffects,
    /// Ordered levels, whose cut points have a prior together with the intercept.
    #[error(
        "needs priors of single parameters, and those of cut points between levels belong together; use `nuts`"
    )]
    CutPoints,
    /// Smooth curves, whose coefficients share a spread.
    #[error(
        "needs coefficients with priors of their own, and those that bend a smooth curve have a spread in common; use `nuts`"
    )]
    Curves,
    /// A mixed model without a group term.
    #[error("needs a group term such as (1 | group) in the formula")]
    NoGroupTerm,
    /// Not a model of probabilities of categories.
    #[error("needs a model of probabilities of categories, as template `categorical`")]
    NoSimplex,
    /// Categories so rare that their probabilities are far from normal.
    #[error(
        "takes a posterior near normal, and {rare} of the {categories} categories have fewer than {NORMAL_FROM} observations, \
         so that their probabilities are not; use `conjugate`, `nuts` or `scir`"
    )]
    RareCategories {
        /// Categories with too few observations.
        rare: usize,
        /// All categories.
        categories: usize,
    },
    /// Parameters that are not independent, or whose distribution has no known form.
    #[error(
        "needs parameters that are independent given the data, each normal, lognormal, gamma or a power of a gamma variable, as the \
         mean of normal rows or the rate of Poisson rows under such a prior"
    )]
    NoKnownForms,
    /// Not a mixture, so that there are no clusters.
    #[error("finds clusters, which only a mixture has, as template `dp-mixture`")]
    NoClusters,
    /// Not a topic model.
    #[error("finds topics of documents, which only template `topics` has")]
    NoTopics,
    /// A mixture with numeric columns, for a sampler of categories.
    #[error(
        "knows categories only, and the formula has numeric columns; use `dp-gibbs` or `dp-slice`"
    )]
    NumericColumns,
    /// What is kept of every row does not fit in memory.
    #[error(
        "would keep {gibibytes:.1} GiB of row gradients for each chain; `svrg-ld` needs no such table"
    )]
    TableTooLarge {
        /// Size of the table.
        gibibytes: f64,
    },
    /// Draws that are combined by their covariances, of too many parameters.
    #[error(
        "combines draws of shards by their covariances, of at most {most} parameters, and this model has {dim}"
    )]
    TooManyParameters {
        /// Parameters of the model.
        dim: usize,
        /// The most that there may be.
        most: usize,
    },
    /// Bounds of rows around a mode, of more parameters than a matrix of curvature is made for.
    #[error(
        "bounds rows around the mode by its matrix of curvature, which is not made of {dim} parameters; choose one that needs no mode, \
         such as `nuts`"
    )]
    NoCurvature {
        /// Parameters of the model.
        dim: usize,
    },
    /// An estimate of the likelihood that takes as many rows as there are, or more.
    #[error(
        "would estimate the likelihood from {} rows each time, and there are {}; use `nuts` or `hmc`, which look at each row once{}",
        thousands(*.rows), thousands(*.num_obs), unequal(*.weighted)
    )]
    TooManyRows {
        /// Rows of an estimate.
        rows: u64,
        /// Rows of the data.
        num_obs: u64,
        /// Whether rows that matter are drawn more often.
        weighted: bool,
    },
    /// A reason that only a sampler from elsewhere knows.
    #[error("{0}")]
    Other(String),
}

/// What helps besides, where rows have equal chances.
fn unequal(weighted: bool) -> &'static str {
    if weighted {
        ""
    } else {
        ", or draw the rows that matter more often (`sampler.scheme=differences`)"
    }
}

/// A sampler that refuses a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("Sampler `{sampler}` {reason}")]
pub struct Refusal {
    /// Id of the sampler.
    pub sampler: &'static str,
    /// What is in the way.
    pub reason: Unsuitable,
}
