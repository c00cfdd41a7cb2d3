//! Runs: from a model, a sampler and a plan to draws, on background threads.
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

mod chain;
pub mod checkpoint;
mod collector;
pub mod found;
pub mod gradients;
pub mod keep;
pub mod labels;
pub mod mode_drift;
mod monitor;
mod protocol;
pub(crate) mod publish;
mod remark;
mod run;
mod run_section;
pub(crate) mod sampling;
pub mod stages;
pub mod start;
pub mod trajectories;
mod unvisited;

pub use chain::{ChainError, Warmup, dispersed_start};
pub use monitor::{Report, is_stuck, nest, report};
pub use protocol::{ChainState, ChainView, LogEntry, RunState, RunView, StopReason};
pub use publish::Published;
pub use remark::Remark;
pub use run::{Continuation, Run};
pub use run_section::{DEFAULT_DRAWS, MAX_CHAINS, PRECISION_DRAWS, RunSection};
pub use sampling::Sampling;
pub use start::{Start, StartError};
