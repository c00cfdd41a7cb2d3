//! Why effects cannot be told.

use super::ExpressionError;
use crate::predict::PredictError;
use ergodic_base::numerals::plural;
use ergodic_core::design::DesignError;

/// Why there are no answers: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum EffectsError {
    /// Somebody cancelled.
    #[error("The effects were cancelled")]
    Cancelled,
    /// The model, its data or its draws.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Rows that cannot be coded.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// An expression that is none.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// There is nothing to compute from.
    #[error("There are no draws to compute from")]
    NoDraws,
    /// A name that is none of a predictor.
    #[error("`{name}` is no predictor of this model; {hint}")]
    NoPredictor {
        /// Name that was asked for.
        name: String,
        /// Names that are near, or all.
        hint: String,
    },
    /// An effect of a grouping factor.
    #[error(
        "`{0}` is a grouping factor; compare its groups by --contrasts {0}, or ask what is expected of each by --along {0}"
    )]
    Grouping(String),
    /// Groups without their effects.
    #[error(
        "Without the effects of groups all groups of `{0}` are the same; take them with --effects with"
    )]
    NoGroups(String),
    /// Groups that the fit did not have.
    #[error(
        "The change makes {} of `{group}` that the fit did not have; choose a value that occurs with the others, or leave the effects \
         of groups out with --effects without",
        plural(*count, "group")
    )]
    NewGroups {
        /// The grouping factor.
        group: String,
        /// Groups it would have.
        count: usize,
    },
    /// A predictor compared while all rows have it at one value.
    #[error("`{0}` cannot be compared while {1} sets it; set another column, or compare another")]
    Set(String, &'static str),
    /// Pairs of levels of a number.
    #[error("`{0}` is a number and has no levels to compare; ask for its effect with --of {0}")]
    NoLevels(String),
    /// A value that is none.
    #[error("`{column}` cannot be set to `{value}`: {why}")]
    NoValue {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// What the value can be.
        why: String,
    },
    /// A probability that is none.
    #[error("The interval must be a probability between 0 and 1, not {0}")]
    Interval(f64),
    /// A range whose ends are the wrong way round.
    #[error("The range of no effect must begin below its end, not {0} to {1}")]
    Rope(f64, f64),
    /// Weights that cancel.
    #[error(
        "The sum of the draws' weights is not positive beyond doubt, so no average over them can be trusted; draw more"
    )]
    Weights,
    /// The model has no predictors.
    #[error("The model has no predictors, so there are no effects to report")]
    NoPredictors,
}

impl EffectsError {
    /// Whether what was asked is at fault, or somebody cancelled: not the model, its data or its draws, of which nothing can be told
    /// whatever is asked.
    pub fn is_of_question(&self) -> bool {
        match self {
            Self::Cancelled
            | Self::Expression(_)
            | Self::NoPredictor { .. }
            | Self::Grouping(_)
            | Self::NoGroups(_)
            | Self::Set(..)
            | Self::NoLevels(_)
            | Self::NoValue { .. }
            | Self::Interval(_)
            | Self::Rope(..) => true,
            Self::Predict(_)
            | Self::Design(_)
            | Self::NewGroups { .. }
            | Self::NoDraws
            | Self::Weights
            | Self::NoPredictors => false,
        }
    }
}
