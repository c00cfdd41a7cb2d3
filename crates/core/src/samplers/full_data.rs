//! Samplers whose every step looks at all rows, and what they share: adaptation, the leapfrog step, tuning.

pub(crate) mod adaptation;
pub(crate) mod hamiltonian;
pub(super) mod hmc;
pub(super) mod mala;
pub(super) mod metropolis;
pub(super) mod nuts;
pub(super) mod slice;
pub(super) mod tuning;
pub(super) mod walk;
