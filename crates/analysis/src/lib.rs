//! From a recipe to a run, and what is asked of it.
//!
//! A [`Recipe`] is the human-readable record of every choice; [`Job::prepare`] reads its data, builds its model and finds
//! its mode; a [`Run`] draws. Around a run stand predictions, the prior preview, likelihood fits, calibration, comparisons
//! of samplers, comparisons of two runs and the bias check.
//!
//! ```
//! use ergodic_data::{Control, ImportOptions, samples};
//!
//! let control = Control::default();
//! let churn = samples::load_source("sample:churn", &ImportOptions::default(), &control)?.table;
//! let fit = ergodic_analysis::fit("churned ~ age + plan", &churn)?;
//! println!("{}", fit.summary());
//! let effect = fit.draws("b[age]").expect("a coefficient of age");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bayes_factor;
pub mod bias_check;
pub mod calibration;
pub mod check;
pub mod choice;
pub mod comparison;
mod description;
pub mod effects;
mod exchangeable;
mod fit;
mod gradient_noise;
pub mod hold_out;
pub mod job;
pub mod lesson;
pub mod likelihood;
mod likelihood_comparison;
pub mod likelihood_ratio;
pub mod loo;
mod outset;
pub mod predict;
pub mod prior_predictive;
mod recipe;
mod recipe_differences;
mod recipe_keys;
mod remark;
pub mod run_comparison;
mod scored_points;
mod sensitivity;
pub mod templates;
pub mod tuning;
pub mod zero_variance;

pub use bayes_factor::{BayesFactor, BayesFactorError, NoFactor, bayes_factors};
pub use description::Description;
pub use ergodic_base::Control;
pub use fit::{FormulaFitError, fit};
pub use job::{Job, JobError, RUN_RECIPE};
pub use likelihood_comparison::{ComparedRow, NotComparable, compared_rows};
pub use outset::Outset;
pub use recipe::{AUTO, DataSection, ModelSection, Recipe, RecipeError, SAMPLE_PREFIX, Scale};
pub use recipe_differences::SettingDifference;
pub use recipe_keys::recipe_keys;
pub use sensitivity::{Sensitivity, SensitivityError, sensitivity};

/// A run of a job, see [`ergodic_core::engine::Run`].
pub type Run = ergodic_core::engine::Run<Job>;
