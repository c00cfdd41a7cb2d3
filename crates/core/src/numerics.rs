//! Numerical methods that several models and samplers share.

pub(crate) mod arithmetic;
pub(crate) mod elementary;
pub(crate) mod fisher_step;
pub(crate) mod grad_window;
pub(crate) mod quadrature;
pub(crate) mod vector;
pub(crate) mod wishart;
