//! The list of samplers: order here is order in every list shown to people.

use super::SamplerEntry;
use super::divide::DivideAndConquer;
use super::fisher_scoring::osgfs::Osgfs;
use super::fisher_scoring::osgfs_cv::OsgfsCv;
use super::fisher_scoring::sgfs::FisherScoring;
use super::full_data::hmc::Hmc;
use super::full_data::mala::{Mala, Ula};
use super::full_data::metropolis::Metropolis;
use super::full_data::nuts::Nuts;
use super::full_data::slice::Slice;
use super::gibbs::{Gibbs, GibbsStochastic};
use super::groups::gibbs_gaussian::GibbsGaussian;
use super::groups::gibbs_groups::GibbsGroups;
use super::groups::gibbs_mixed::GibbsMixed;
use super::groups::gibbs_mixed_osgfs::GibbsMixedOsgfs;
use super::groups::gibbs_osgfs::GibbsOsgfs;
use super::langevin::complete_recipe::CompleteRecipe;
use super::langevin::exact_transition::ExactTransition;
use super::langevin::psgld::Psgld;
use super::langevin::saga::SagaLd;
use super::langevin::sgld::{Sgld, SgldCv};
use super::langevin::sgrld::Sgrld;
use super::langevin::svrg::SvrgLd;
use super::momentum::sghmc::{Sghmc, SghmcCv};
use super::momentum::sghmc_naive::SghmcNaive;
use super::momentum::sgnht::{Sgnht, SgnhtCv};
use super::partition::dp_gibbs::DpGibbs;
use super::partition::dp_slice::DpSlice;
use super::partition::dp_stochastic::{DpScir, DpSgrld};
use super::piecewise::bouncy_particle::BouncyParticle;
use super::piecewise::zig_zag::ZigZag;
use super::simplex::conjugate::Conjugate;
use super::simplex::scir::{Scir, ScirCv};
use super::simplex::sgrld_simplex::SgrldSimplex;
use super::subsampling::hmc_ecs::HmcEcs;
use super::subsampling::hmc_ecs_signed::HmcEcsSigned;
use super::subsampling::nuts_ecs::NutsEcs;
use super::subsampling::pseudo_marginal::PseudoMarginal;
use super::topics::topics_gibbs::TopicsGibbs;
use super::topics::topics_stochastic::{TopicsScir, TopicsSgld, TopicsSgrld};

/// All samplers.
pub static REGISTRY: &[SamplerEntry] = &[
    SamplerEntry::of::<Nuts>(),
    SamplerEntry::of::<Hmc>(),
    SamplerEntry::of::<Mala>(),
    SamplerEntry::of::<Slice>(),
    SamplerEntry::of::<Gibbs>(),
    SamplerEntry::of::<GibbsStochastic>(),
    SamplerEntry::of::<GibbsGroups>(),
    SamplerEntry::of::<GibbsGaussian>(),
    SamplerEntry::of::<GibbsOsgfs>(),
    SamplerEntry::of::<GibbsMixed>(),
    SamplerEntry::of::<GibbsMixedOsgfs>(),
    SamplerEntry::of::<Metropolis>(),
    SamplerEntry::of::<Ula>(),
    SamplerEntry::of::<Sgld>(),
    SamplerEntry::of::<SgldCv>(),
    SamplerEntry::of::<Sghmc>(),
    SamplerEntry::of::<SghmcCv>(),
    SamplerEntry::of::<Sgnht>(),
    SamplerEntry::of::<SgnhtCv>(),
    SamplerEntry::of::<SghmcNaive>(),
    SamplerEntry::of::<SagaLd>(),
    SamplerEntry::of::<SvrgLd>(),
    SamplerEntry::of::<Psgld>(),
    SamplerEntry::of::<Sgrld>(),
    SamplerEntry::of::<CompleteRecipe>(),
    SamplerEntry::of::<ExactTransition>(),
    SamplerEntry::of::<Osgfs>(),
    SamplerEntry::of::<OsgfsCv>(),
    SamplerEntry::of::<HmcEcs>(),
    SamplerEntry::of::<HmcEcsSigned>(),
    SamplerEntry::of::<NutsEcs>(),
    SamplerEntry::of::<PseudoMarginal>(),
    SamplerEntry::of::<FisherScoring>(),
    SamplerEntry::of::<ZigZag>(),
    SamplerEntry::of::<BouncyParticle>(),
    SamplerEntry::of::<DivideAndConquer>(),
    SamplerEntry::of::<Conjugate>(),
    SamplerEntry::of::<Scir>(),
    SamplerEntry::of::<ScirCv>(),
    SamplerEntry::of::<SgrldSimplex>(),
    SamplerEntry::of::<DpGibbs>(),
    SamplerEntry::of::<DpSlice>(),
    SamplerEntry::of::<DpScir>(),
    SamplerEntry::of::<DpSgrld>(),
    SamplerEntry::of::<TopicsGibbs>(),
    SamplerEntry::of::<TopicsScir>(),
    SamplerEntry::of::<TopicsSgrld>(),
    SamplerEntry::of::<TopicsSgld>(),
];

/// The sampler called `id`, if there is one.
pub fn find(id: &str) -> Option<&'static SamplerEntry> {
    REGISTRY.iter().find(|entry| entry.spec.id == id)
}
