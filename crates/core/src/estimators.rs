//! Point estimators: where the posterior has its mode, for control variates, preconditioners and starting points.
//!
//! A stochastic optimiser is one file with a type that implements `stochastic::Optimiser`, and a
//! line in [`REGISTRY`]; the loop, the schedule of the learning rate, the convergence trace and the final check are shared.

mod adadelta;
mod adagrad;
mod adam;
mod ascent;
pub(crate) mod hessian_free;
pub(crate) mod lbfgs;
pub mod mixed;
mod mode;
pub mod modes;
pub(crate) mod newton;
pub(crate) mod registry;
mod rmsprop;
pub mod rounding;
mod santa;
mod sgd;
pub(crate) mod smoothing;
mod stochastic;
#[cfg(test)]
mod tests;
pub(crate) mod trace;

pub use ascent::ascend;
pub use mode::{GOOD_ENOUGH, Mode, ModeError, find_mode, find_mode_by};
pub use modes::find_modes;
pub use registry::{AUTO, OptimiserEntry, OptimiserSpec, Plan, REGISTRY, find};
pub use trace::{Search, TracePoint};
