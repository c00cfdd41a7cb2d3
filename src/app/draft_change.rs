//! What a user can change in the draft.

use ergodic_analysis::Scale;
use ergodic_analysis::comparison::Variant;
use ergodic_analysis::hold_out::HoldOut;
use ergodic_base::settings::Value;
use ergodic_core::engine::RunSection;
use ergodic_core::models::Storage;
use ergodic_data::Role;

/// A change of the draft: each is one step that can be taken back.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftChange {
    /// Replace the formula.
    Formula(String),
    /// Give a column a role.
    Assign(String, Role),
    /// Take a column out of the model.
    Remove(String),
    /// Explain no column: look for groups of rows that are alike.
    NoOutcome,
    /// Let every column that can explain the outcome do so.
    AllPredictors,
    /// Choose the response value that counts as success.
    Success(String),
    /// Name categories of the response that may have no rows.
    Levels(Vec<String>),
    /// Choose a predictor's reference level.
    Reference(String, String),
    /// Treat a numeric predictor as categorical, or not.
    Categorical(String, bool),
    /// Keep a number of a predictor's most frequent values and merge the others, or keep all.
    TopLevels(String, Option<usize>),
    /// Let priors hold for coefficients of standardised predictors, or of predictors as they are.
    Standardize(bool),
    /// Report coefficients on this scale.
    Scale(Scale),
    /// Stores rows in this precision.
    Storage(Storage),
    /// Choose which rows are kept out of the fit.
    HoldOut(Option<HoldOut>),
    /// Set the prior of a class or parameter, or go back to the default.
    Prior(String, Option<String>),
    /// Choose the template.
    Template(String),
    /// Set a setting of the template, or leave it to its default.
    ModelSetting(String, Option<Value>),
    /// Choose the sampler, or `auto`.
    Sampler(String),
    /// Choose a sampler with these settings, all others at their defaults.
    Variant(Variant),
    /// Set one of its settings, or go back to the default.
    Setting(String, Option<Value>),
    /// Choose how the posterior mode is found: an optimiser, or `auto`.
    Method(String),
    /// Set one of that optimiser's settings, or go back to the default.
    MethodSetting(String, Option<Value>),
    /// Replace chains, draws, seed and stop rules.
    Run(RunSection),
    /// Draw a new seed from the present one.
    NewSeed,
}
