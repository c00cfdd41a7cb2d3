//! The numeric heart of Ergodic: gradient estimators, optimisers, samplers, and the engine that runs chains; with it the designs
//! and models of `ergodic_models`.
//!
//! ```
//! use ergodic_core::Fit;
//! use ergodic_core::models::density_of;
//! use ergodic_core::samplers::Nuts;
//!
//! // A normal density around 3 with standard deviation 2.
//! let density = density_of(1, |u: &[f64], grad: &mut [f64]| {
//!     grad[0] = -(u[0] - 3.0) / 4.0;
//!     -(u[0] - 3.0).powi(2) / 8.0
//! });
//! let fit = Fit::new(density).sampler::<Nuts>().chains(4).draws(500).run()?;
//! let mean = fit.draws("u[1]").expect("one coordinate").mean().expect("draws");
//! assert!((mean - 3.0).abs() < 0.5);
//! # Ok::<(), ergodic_core::FitError>(())
//! ```
//!
//! Nothing here reads files, opens windows or knows where a table came from: a design is made from anything that has
//! [`design::Columns`]. A layer uses only those below it:
//!
//! | layer | what it holds |
//! |---|---|
//! | [`fit`] | a fit in a few lines |
//! | [`engine`] | chains on threads, the collector, published views |
//! | [`samplers`], [`estimators`] | one file per sampler; mode finders |
//! | [`oracle`] | how a sampler sees a model: exact and minibatch gradients |
//! | `numerics` | numerical methods that several samplers share |
//! | [`models`] | one file per template |
//! | [`families`] | one file per response family |
//! | [`design`], [`formula`] | from columns and a formula to the plain matrix that models read |
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

#[cfg(test)]
#[path = "../../models/src/allocations.rs"]
mod allocations;
pub mod engine;
pub mod estimators;
pub mod fit;
mod numerics;
pub mod oracle;
pub mod samplers;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use ergodic_models as models;
pub use ergodic_models::{arithmetic, design, families, formula, synthetic};
pub use fit::{Fit, FitError, Fitted};
