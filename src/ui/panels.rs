//! The pages of the window. Each is a function of the state and its own view; it draws and sends commands.

mod columns;
pub mod compare;
pub mod data;
mod draft_picture;
mod likelihood_method;
pub mod menu;
pub mod model;
pub(in crate::ui) mod page;
mod ragged;
pub mod runs;
pub mod sampler;
pub mod start;

use super::command_palette::PaletteView;
use super::run_name::RunNameView;
use super::typed_path::TypedPathView;

/// What panels keep for themselves: text being typed, sort orders, open sections. Never part of a result.
#[derive(Default)]
pub struct Views {
    /// Start page.
    pub start: start::StartView,
    /// Data page.
    pub data: data::DataView,
    /// Model page.
    pub model: model::ModelView,
    /// Sampler page.
    pub sampler: sampler::SamplerView,
    /// Comparison page.
    pub compare: compare::CompareView,
    /// Runs page.
    pub runs: runs::RunsView,
    /// Command palette.
    pub palette: PaletteView,
    /// The help is open.
    pub help: bool,
    /// The name of a run being typed.
    pub run_name: RunNameView,
    /// A path being typed.
    pub typed_path: TypedPathView,
    /// Start a run as soon as the data are there.
    pub demo: bool,
}
