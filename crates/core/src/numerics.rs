//! Numerical methods that several models and samplers share.

pub mod fisher_step;
pub mod grad_window;
pub mod quadrature;
pub mod wishart;
