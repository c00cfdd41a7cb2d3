//! Plots: plain data in, a picture and what the pointer does out.

pub mod autocorrelation;
pub mod axes;
pub mod caterpillar;
pub mod convergence;
mod cursor;
pub mod data_table;
pub mod decimate;
pub mod density;
pub mod interval;
pub mod legend;
pub mod lines;
pub mod marks;
pub mod overlay;
pub mod rank;
pub mod row_names;
pub mod trace;

pub use autocorrelation::{AutocorrelationData, autocorrelation_ui};
pub use axes::Shown;
pub use convergence::{ConvergenceRow, ConvergenceSpan, convergence_ui};
pub use density::{DensityData, density_ui};
pub use interval::{IntervalRow, interval_ui};
pub use legend::{ChainFilter, chain_legend};
pub use rank::{RankData, rank_ui};
pub use row_names::RowNames;
pub use trace::{TraceCache, TraceChain, TraceData, TraceSpan, trace_ui};
