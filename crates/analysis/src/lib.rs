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

pub mod bayes_factor;
pub mod bias_check;
pub mod calibration;
pub mod check;
pub mod choice;
pub mod comparison;
pub mod description;
pub mod effects;
mod exchangeable;
mod fit;
mod gradient_noise;
pub mod hold_out;
pub mod job;
pub mod lesson;
pub mod likelihood;
pub mod likelihood_comparison;
pub mod likelihood_ratio;
pub mod loo;
mod outset;
pub mod predict;
pub mod prior_predictive;
pub mod recipe;
pub mod recipe_differences;
pub mod recipe_keys;
pub mod remark;
pub mod run_comparison;
mod scored_points;
pub mod sensitivity;
pub mod templates;
pub mod tuning;
pub mod zero_variance;

pub use ergodic_base::control::Control;
pub use fit::{FormulaFitError, fit};
pub use job::{Job, JobError, RUN_RECIPE};
pub use recipe::{Recipe, RecipeError};

/// A run of a job, see [`ergodic_core::engine::Run`].
pub type Run = ergodic_core::engine::Run<Job>;
