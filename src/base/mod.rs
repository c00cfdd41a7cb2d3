//! What every layer may use: random streams, small linear algebra, draws, settings, warnings.
//! Nothing here knows another layer of the project.

#[cfg(test)]
pub mod allocations;
pub mod checksum;
pub mod draws;
pub mod fisher_step;
pub mod grad_window;
pub mod linalg;
pub mod names;
pub mod numerals;
pub mod quadrature;
pub mod reporter;
pub mod rng;
pub mod settings;
pub mod shown;
pub mod special;
pub mod wishart;
