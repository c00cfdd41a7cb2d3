//! Runs: from a recipe to draws, on background threads.
//!
//! ```text
//! owner ── Run::{pause, resume, stop} ──► control word (atomic) ──► chain-0 … chain-(C−1)  (rayon pool)
//! owner ◄─ Published<RunView>, waker() ≤ 25 Hz ── collector ◄── blocks, events (bounded) ──┘
//!                                                     └── empty blocks back (bounded, recycled)
//! owner ◄─ Published<Report> ── monitor (diagnostics about once a second)
//! ```
//!
//! Draws are never lost: a full channel blocks the chain. Pictures may be: only the newest view is kept.
//! The engine does not know egui; it calls a waker when there is something new.

pub mod anchor_check;
pub mod bench;
pub mod beside;
pub mod bias_check;
pub mod calibration;
pub mod chain;
pub mod checkpoint;
pub mod clusters;
pub mod collector;
pub mod comparison;
pub mod job;
pub mod lesson;
pub mod likelihood;
pub mod monitor;
pub mod outset;
pub mod predict;
pub mod prior_predictive;
pub mod protocol;
pub mod publish;
pub mod recipe;
pub mod recipe_keys;
pub mod run;
pub mod sensitivity;
pub mod stages;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod textbook_tests;
pub mod tuning;
pub mod zero_variance;

pub use job::{Job, JobError, PrepareControl};
pub use monitor::Report;
pub use protocol::{ChainState, RunState, RunView, StopReason};
pub use publish::Published;
pub use recipe::{Recipe, RecipeError};
pub use run::Run;
