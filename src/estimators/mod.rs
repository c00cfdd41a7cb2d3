//! Point estimators: where the posterior peaks, for control variates, preconditioners and starting points.

pub mod lbfgs;
pub mod mode;
pub mod newton;

pub use mode::{Mode, ModeControl, ModeError, find_mode};
