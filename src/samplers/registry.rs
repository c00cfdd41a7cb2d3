//! The list of samplers: order here is order in every list shown to people.

use super::SamplerEntry;
use super::bouncy_particle::BouncyParticle;
use super::fisher_scoring::FisherScoring;
use super::nuts::Nuts;
use super::osgfs::Osgfs;
use super::osgfs_cv::OsgfsCv;
use super::random_walk::Metropolis;
use super::sgld::{Sgld, SgldCv};
use super::zig_zag::ZigZag;

/// All samplers.
pub static REGISTRY: &[SamplerEntry] = &[
    SamplerEntry::of::<Nuts>(),
    SamplerEntry::of::<Metropolis>(),
    SamplerEntry::of::<Sgld>(),
    SamplerEntry::of::<SgldCv>(),
    SamplerEntry::of::<Osgfs>(),
    SamplerEntry::of::<OsgfsCv>(),
    SamplerEntry::of::<FisherScoring>(),
    SamplerEntry::of::<ZigZag>(),
    SamplerEntry::of::<BouncyParticle>(),
];

/// The sampler called `id`, if there is one.
pub fn find(id: &str) -> Option<&'static SamplerEntry> {
    REGISTRY.iter().find(|entry| entry.spec.id == id)
}
