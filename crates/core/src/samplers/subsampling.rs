//! Samplers that look at few rows and correct their estimate of the likelihood.

pub(super) mod energy_conserving;
pub(super) mod hmc_ecs;
pub(super) mod hmc_ecs_signed;
pub(super) mod nuts_ecs;
pub(super) mod pseudo_marginal;
