//! Application logic without egui: what is open, what is drafted, what runs, and the commands that change it.
//!
//! Panels read [`AppState`] and send [`Command`]s; they come in by [`update::update`] alone, and
//! what each does stands with its group ([`command`]). Long work is a task of [`tasks`]: it runs on a named thread, is listed while it goes on, and comes back as an
//! [`Outcome`].

mod advising;
mod analysis;
pub mod answering;
pub mod calibrating;
mod checking;
pub mod command;
pub mod comparing;
pub mod comparing_runs;
pub mod correcting;
pub mod document;
mod draft_change;
pub mod draft_pictures;
mod drafting;
pub mod entry;
pub mod examples;
pub mod extras;
mod file_change;
pub mod fixes;
pub mod following;
mod from_draws;
pub mod held_out;
pub mod kfold;
pub mod likelihood;
mod naming;
mod notices;
mod opening;
pub mod outcome;
mod page;
mod picking;
mod predicting;
pub mod preferences;
pub mod prior_preview;
pub mod prior_sensitivity;
mod product;
pub mod project;
pub mod quick_fixes;
mod reading;
pub mod recalling;
mod removing;
pub mod replicating;
pub mod reporting;
pub mod resuming;
pub mod running;
pub mod scoring;
pub mod state;
pub mod tasks;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod trials;
pub mod update;
mod writing;

pub use analysis::{Analysis, Question};
pub use command::Command;
pub use document::Document;
pub use draft_change::DraftChange;
pub use drafting::DraftCommand;
pub use entry::{RunEntry, RunPhase};
pub use notices::NoticeCommand;
pub use opening::DataCommand;
pub use page::{Page, ViewCommand};
pub use picking::{PathCommand, Picked};
pub use preferences::{Depth, Preference, Preferences, Theme};
pub use product::Product;
pub use project::ProjectCommand;
pub use quick_fixes::QuickFix;
pub use running::RunCommand;
pub use state::{AppState, DataState, ModelCheck};
pub use tasks::{Effects, Outcome, Pick};
