//! Numerical methods that several models share.

pub(crate) mod arithmetic;
pub(crate) mod elementary;
pub(crate) mod pages;
pub(crate) mod vector;
pub(crate) mod wishart;
