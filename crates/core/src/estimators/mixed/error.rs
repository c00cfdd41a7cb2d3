//! Why a mixed model could not be fitted.

use super::Method;
use super::integral::{LEAST_DRAWS, MOST_DRAWS, MOST_NODES, MOST_POINTS};
use crate::models::mixed::MAX_EFFECTS;
use ergodic_base::numerals::thousands;

/// Why a mixed model could not be fitted: one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MixedError {
    /// Somebody cancelled.
    #[error("the likelihood fit was cancelled")]
    Cancelled,
    /// The data, the formula or the method do not fit together.
    #[error(transparent)]
    Data(#[from] Misfit),
    /// The computation failed.
    #[error(transparent)]
    Failed(#[from] Breakdown),
}

/// Data, a formula and a method that do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// A method for Gaussian outcomes alone.
    #[error(
        "{} is for Gaussian outcomes; use the method `laplace` or `aghq`, or `em-aghq` for EM",
        .0.spec().title
    )]
    GaussianOnly(Method),
    /// A method for outcomes that are not Gaussian.
    #[error(
        "{} is for yes-no outcomes, counts and positive numbers; the likelihood of a Gaussian outcome is exact: use the method \
         `profile`",
        .0.spec().title
    )]
    NotGaussian(Method),
    /// A method that does not know the restricted likelihood.
    #[error(
        "{} maximises the likelihood, not the restricted one; use the method `profile` for REML, or ML",
        .0.spec().title
    )]
    Restricted(Method),
    /// Ordered levels, under Monte Carlo EM.
    #[error(
        "Monte Carlo EM has no cut points between levels; use the method `laplace`, `aghq` or `em-aghq`"
    )]
    CutPoints,
    /// Ordered levels without an intercept, or fewer than three.
    #[error(
        "Ordered levels need an intercept and at least three levels; leave `0 +` or `- 1` out of the formula"
    )]
    Levels,
    /// An ordered level without rows.
    #[error(
        "No row has the level `{level}` of `{response}`, so its chance has no largest likelihood above 0; leave the level out"
    )]
    EmptyLevel {
        /// The level.
        level: String,
        /// The outcome.
        response: String,
    },
    /// Columns of fixed effects that depend on each other, under EM.
    #[error("Fixed-effect columns are combinations of each other; take one out")]
    Dependent,
    /// Columns of fixed effects that depend on each other, or a column of zeros.
    #[error(
        "Fixed-effect columns are combinations of each other, or 0 in all rows; take one out of the formula"
    )]
    DependentOrZero,
    /// A column of fixed effects that depends on those before it.
    #[error(
        "The column `{0}` is a combination of the columns before it (or 0 in all rows), so its coefficient is not determined; \
         take it out of the formula"
    )]
    DependentColumn(String),
    /// As many fixed effects as the weights of all rows add up to, or more, under the restricted likelihood.
    #[error(
        "The weights add up to {sum:.3} rows, not more than the {effects} fixed effects; take predictors out of the formula, or \
         use ML"
    )]
    Weights {
        /// Sum of the weights.
        sum: f64,
        /// Fixed effects.
        effects: usize,
    },
    /// As many fixed effects as rows, or more, under the restricted likelihood.
    #[error(
        "There are {rows} rows, not more than the {effects} fixed effects; take predictors out of the formula, or use ML"
    )]
    Rows {
        /// Rows.
        rows: usize,
        /// Fixed effects.
        effects: usize,
    },
    /// No group term, for a method that is about them.
    #[error(
        "The formula has no group term, which {} is about; add one such as (1 | group), or leave the method to the program",
        .0.spec().title
    )]
    NoGroups(Method),
    /// A smooth curve, for a method that has none.
    #[error(
        "{} fits no smooth curves such as {curve}; leave the method to the program",
        .method.spec().title
    )]
    Curve {
        /// The method.
        method: Method,
        /// The curve, as the formula has it.
        curve: String,
    },
    /// Two grouping factors, for a method that takes one.
    #[error(
        "{} integrates over the effects of one group at a time, but groups of `{one}` and of `{other}` meet in rows, so that \
         their effects cannot be integrated apart; use the method `laplace` or `em-laplace`",
        .method.spec().title
    )]
    Crossed {
        /// The method.
        method: Method,
        /// The first factor.
        one: String,
        /// Another.
        other: String,
    },
    /// A factor with one group.
    #[error(
        "All rows have the same value of `{group}`, so nothing can vary by it; take ({effects} | {group}) out"
    )]
    OneGroup {
        /// The factor.
        group: String,
        /// What varies by it.
        effects: String,
    },
    /// A slope of zeros.
    #[error(
        "The column `{column}` is 0 in all rows, so its slope cannot vary by `{group}`; take it out of the group term"
    )]
    ZeroSlope {
        /// The column.
        column: String,
        /// The factor.
        group: String,
    },
    /// A column that does not vary within any group.
    #[error(
        "`{column}` has a single value within every group of `{group}`, so its slope cannot vary by `{group}`; take it out of the \
         group term"
    )]
    ConstantSlope {
        /// The column.
        column: String,
        /// The factor.
        group: String,
    },
    /// As many effects as rows, or more.
    #[error(
        "({effects} | {group}) has {count} effects for {rows} rows, so they cannot be told from the residuals; group by something \
         with more rows per group, or take slopes out"
    )]
    ManyEffects {
        /// What varies by the factor.
        effects: String,
        /// The factor.
        group: String,
        /// Effects of all groups.
        count: usize,
        /// Rows.
        rows: usize,
    },
    /// No variance within groups.
    #[error(
        "The outcome `{response}` is constant within every group of `{group}`, so there is no residual variance; use one row per \
         group and a model without group terms"
    )]
    NoResidual {
        /// The outcome.
        response: String,
        /// The factor.
        group: String,
    },
    /// More effects of one group than Monte Carlo EM takes.
    #[error(
        "The group term of `{group}` has {effects} effects, more than the {MAX_EFFECTS} that Monte Carlo EM takes; use the method \
         `laplace`"
    )]
    WideGroups {
        /// The factor.
        group: String,
        /// Effects of one group.
        effects: usize,
    },
    /// Crossed factors whose sparse factor is too large.
    #[error(
        "The {0} group effects are tied together too densely for memory; use fewer crossed grouping factors or fewer groups"
    )]
    Dense(usize),
    /// A number of draws out of range.
    #[error(
        "The number of draws must be from {LEAST_DRAWS} to {most}, not {0}",
        most = thousands(MOST_DRAWS as u64)
    )]
    Draws(usize),
    /// A number of quadrature nodes out of range.
    #[error("The number of quadrature nodes must be from 1 to {MOST_NODES}, not {0}")]
    Nodes(usize),
    /// More quadrature points per group than allowed.
    #[error(
        "{nodes} nodes for each of {effects} effects are {} points per group, more than the {} allowed; take at most {most} nodes, \
         fewer effects per group, or the method `laplace` or `monte-carlo`",
        .points.map_or_else(|| "too many".to_owned(), |it| thousands(it as u64)),
        thousands(MOST_POINTS as u64)
    )]
    Points {
        /// Nodes in each direction.
        nodes: usize,
        /// Effects of one group.
        effects: usize,
        /// Points per group; none where a number cannot hold them.
        points: Option<usize>,
        /// Most nodes that would do.
        most: usize,
    },
}

/// A computation that did not come to an end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Breakdown {
    /// No likelihood where the search begins.
    #[error("The likelihood is not finite at the start; rescale the columns")]
    Start,
    /// No likelihood where the search begins, which has an offset.
    #[error("The likelihood is not finite at the start; rescale the columns or the offset")]
    StartWithOffset,
    /// No step improves the likelihood.
    #[error(
        "The search for the largest likelihood stopped early: no step improves it; rescale columns or simplify the group terms"
    )]
    NoStep,
    /// Too many steps.
    #[error(
        "The largest likelihood was not reached in the allowed number of iterations; rescale columns or simplify the group terms"
    )]
    Iterations,
    /// EM overflowed.
    #[error("EM stopped where numbers overflow; use the method `profile`, or rescale the columns")]
    Overflow,
    /// EM reached a singular covariance, or overflowed.
    #[error(
        "EM stopped where the covariance of group effects became singular or numbers overflow; use the method `laplace`, or || for \
         independent effects"
    )]
    SingularOrOverflow,
    /// The covariance of the effects of a factor became singular.
    #[error(
        "The covariance of the effects of `{0}` became singular; use the method `laplace`, or || for independent effects"
    )]
    Singular(String),
    /// The mean of the covariances on the way is singular.
    #[error("The averaged covariance of group effects is singular; use the method `laplace`")]
    SingularMean,
    /// The effects of a factor have no peak to step by.
    #[error(
        "The curvature of the effects of `{0}` is not positive definite; use the method `laplace`"
    )]
    Curvature(String),
    /// Fixed effects without an error.
    #[error(
        "The fixed effects are not determined by the data: predictors may separate the outcomes, or be combinations of each other"
    )]
    Undetermined,
}
