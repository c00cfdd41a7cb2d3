//! The list of samplers: order here is order in every list shown to people.

use super::SamplerEntry;
use super::bouncy_particle::BouncyParticle;
use super::conjugate::Conjugate;
use super::divide::DivideAndConquer;
use super::dp_gibbs::DpGibbs;
use super::dp_slice::DpSlice;
use super::dp_stochastic::{DpScir, DpSgrld};
use super::gibbs::{Gibbs, GibbsStochastic};
use super::gibbs_gaussian::GibbsGaussian;
use super::gibbs_groups::GibbsGroups;
use super::gibbs_mixed::GibbsMixed;
use super::gibbs_mixed_osgfs::GibbsMixedOsgfs;
use super::gibbs_osgfs::GibbsOsgfs;
use super::hmc::Hmc;
use super::hmc_ecs::HmcEcs;
use super::hmc_ecs_signed::HmcEcsSigned;
use super::mala::{Mala, Ula};
use super::metropolis::Metropolis;
use super::nuts::Nuts;
use super::nuts_ecs::NutsEcs;
use super::osgfs::Osgfs;
use super::osgfs_cv::OsgfsCv;
use super::pseudo_marginal::PseudoMarginal;
use super::psgld::Psgld;
use super::saga::SagaLd;
use super::scir::{Scir, ScirCv};
use super::sgfs::FisherScoring;
use super::sghmc::{Sghmc, SghmcCv};
use super::sghmc_naive::SghmcNaive;
use super::sgld::{Sgld, SgldCv};
use super::sgnht::{Sgnht, SgnhtCv};
use super::sgrld::Sgrld;
use super::sgrld_simplex::SgrldSimplex;
use super::slice::Slice;
use super::svrg::SvrgLd;
use super::topics_gibbs::TopicsGibbs;
use super::topics_stochastic::{TopicsScir, TopicsSgld, TopicsSgrld};
use super::zig_zag::ZigZag;

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
