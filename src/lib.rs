//! Ergodic fits Bayesian models and shows the chains while they run.
//!
//! Layers, each a directory; a layer uses only those below it (`tests/architecture.rs` enforces this):
//!
//! | layer | what it holds |
//! |---|---|
//! | [`ui`] (feature `gui`), [`cli`] | the two faces: window and command line |
//! | [`app`] | application state and commands, without egui |
//! | [`export`] | file formats of results |
//! | [`engine`] | jobs, chains on threads, the collector, published views |
//! | [`samplers`], [`estimators`] | one file per sampler; mode finders |
//! | [`oracle`] | how a sampler sees a model: exact and minibatch gradients |
//! | [`models`] | one file per template |
//! | [`data`] | tables, roles, formulas, designs |
//! | [`diagnostics`] | arrays in, numbers out |
//! | [`base`] | random streams, linear algebra, draws, settings |
//!
//! Notation used in code and documentation (densities in nats):
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | N | `num_obs` | rows of data |
//! | P | `num_columns` | columns of the design |
//! | D | `dim` | unconstrained dimension |
//! | Q | `num_params` | reported quantities |
//! | B, \|S\| | `batch` | rows in a minibatch |
//! | C | `chains` | chains of a run |
//! | u | `u` | unconstrained position, length D |
//! | θ | `theta` | reported position, length Q |
//! | g | `grad` | gradient of the log density in u, nats per unit of u |
//! | h | `step_size` | Langevin time: θ' = θ + h ∇log π + sqrt(2h) ξ |

pub mod app;
pub mod base;
pub mod cli;
pub mod data;
pub mod diagnostics;
pub mod engine;
pub mod estimators;
pub mod export;
pub mod models;
pub mod oracle;
pub mod samplers;
#[cfg(feature = "gui")]
pub mod ui;
