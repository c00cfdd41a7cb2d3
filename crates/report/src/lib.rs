//! Pictures and reports to take away from a finished run.
//!
//! A [`figure::Figure`] is axes and marks in the units of the data; [`figure::svg`] writes it as vector graphics, [`figure::drawn`]
//! as a table of exactly what is drawn. [`FIGURES`] lists the pictures of a run. A [`Report`] is what there is to say about a run
//! in words, tables and pictures, and [`report::FORMATS`] are the ways of writing it.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use ergodic_report::{Chains, Figure, find};
//!
//! let results = ergodic_export::RunFolder::open(Path::new("tour"))?.results()?;
//! let chains = Chains::of(&results)?;
//! let figure: Figure = find("trace")?.draw(&chains, &[])?;
//! std::fs::write("trace.svg", figure.to_svg())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calibration;
mod chains;
mod choice;
mod comparison;
mod error;
pub mod figure;
mod figure_inputs;
mod figures;
mod picture;
pub mod report;
mod thin;
mod xml;

pub use calibration::calibration_ranks;
pub use chains::Chains;
pub use choice::choose;
pub use comparison::density_overlay;
pub use error::ReportError;
pub use figure::Figure;
pub use figure_inputs::{Access, FigureInputs, FollowChains, Needs, OtherRun, ReadModel};
pub use figures::{
    FIGURES, FigureEntry, OtherShown, Takes, courses, find, group_intervals, outcomes_of_priors,
};
pub use picture::{PictureFormat, Pictured, save_figure, write_picture};
pub use report::Report;
