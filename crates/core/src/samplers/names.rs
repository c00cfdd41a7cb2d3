//! Identifiers of samplers by which other parts of the program choose; each stands in the file of its sampler.

use super::Sampler;
use super::full_data::hmc::Hmc;
use super::full_data::mala::Mala;
use super::full_data::metropolis::Metropolis;
use super::full_data::nuts::Nuts;
use super::full_data::slice::Slice;
use super::groups::gibbs_mixed::GibbsMixed;
use super::langevin::sgld::{Sgld, SgldCv};
use super::momentum::sghmc::{Sghmc, SghmcCv};
use super::partition::dp_gibbs::DpGibbs;
use super::simplex::conjugate::Conjugate;
use super::subsampling::hmc_ecs::HmcEcs;
use super::topics::topics_gibbs::TopicsGibbs;

/// Independent draws of probabilities, and of conditionals of known form.
pub const CONJUGATE: &str = Conjugate::SPEC.id;
/// Gibbs sampling of mixtures.
pub const DP_GIBBS: &str = DpGibbs::SPEC.id;
/// Gibbs sampling of mixed models.
pub const GIBBS_MIXED: &str = GibbsMixed::SPEC.id;
/// Hamiltonian Monte Carlo.
pub const HMC: &str = Hmc::SPEC.id;
/// Hamiltonian Monte Carlo with energy-conserving subsampling.
pub const HMC_ECS: &str = HmcEcs::SPEC.id;
/// Adjusted Langevin steps.
pub const MALA: &str = Mala::SPEC.id;
/// Random-walk Metropolis.
pub const METROPOLIS: &str = Metropolis::SPEC.id;
/// The No-U-Turn sampler.
pub const NUTS: &str = Nuts::SPEC.id;
/// Stochastic gradient Hamiltonian Monte Carlo.
pub const SGHMC: &str = Sghmc::SPEC.id;
/// Stochastic gradient Hamiltonian Monte Carlo with control variates.
pub const SGHMC_CV: &str = SghmcCv::SPEC.id;
/// Stochastic gradient Langevin dynamics.
pub const SGLD: &str = Sgld::SPEC.id;
/// Stochastic gradient Langevin dynamics with control variates.
pub const SGLD_CV: &str = SgldCv::SPEC.id;
/// Slice sampling.
pub const SLICE: &str = Slice::SPEC.id;
/// Collapsed Gibbs sampling of topics.
pub const TOPICS_GIBBS: &str = TopicsGibbs::SPEC.id;
