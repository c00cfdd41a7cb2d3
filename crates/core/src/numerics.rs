//! Numerical methods that several samplers and estimators share.

pub(crate) mod fisher_step;
pub(crate) mod grad_window;
pub(crate) mod quadrature;
