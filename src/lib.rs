//! Ergodic fits Bayesian models and shows the chains while they run.
//!
//! This package is the program: a window and a command line on top of the crates below; each uses only those under it.
//!
//! | crate or module | what it holds |
//! |---|---|
//! | [`ui`] (feature `gui`), [`cli`] | the two faces: window and command line |
//! | [`app`] | application state and commands, without egui |
//! | [`ergodic_report`] | figures, and reports as HTML, Markdown and LaTeX |
//! | [`ergodic_export`] | run folders, projects, file formats of results |
//! | [`ergodic_experiments`] | the experiments of `ergodic bench` |
//! | [`ergodic_analysis`] | recipes, jobs, and what is asked of a run |
//! | [`ergodic_data`] | tables, roles, bundled data sets |
//! | [`ergodic_language`] | models as text |
//! | [`ergodic_core`] | gradients, optimisers, samplers, the engine |
//! | `ergodic_models` | formulas, designs, response families, models |
//! | [`ergodic_diagnostics`] | arrays in, numbers out |
//! | [`ergodic_base`] | random streams, linear algebra, draws, settings |

pub mod app;
pub mod cli;
#[cfg(feature = "gui")]
pub mod ui;
