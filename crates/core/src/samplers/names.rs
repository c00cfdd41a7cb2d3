//! Identifiers of samplers by which other parts of the program choose; each stands in the file of its sampler.

use super::Sampler;
use super::full_data::hmc::Hmc;
use super::full_data::nuts::Nuts;
use super::groups::gibbs_mixed::GibbsMixed;
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
/// The No-U-Turn sampler.
pub const NUTS: &str = Nuts::SPEC.id;
/// Collapsed Gibbs sampling of topics.
pub const TOPICS_GIBBS: &str = TopicsGibbs::SPEC.id;
