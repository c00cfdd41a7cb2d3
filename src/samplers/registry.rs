//! The list of samplers: order here is order in every list shown to people.

use super::SamplerEntry;
use super::nuts::Nuts;
use super::osgfs::Osgfs;
use super::osgfs_cv::OsgfsCv;
use super::psgld::Psgld;
use super::random_walk::Metropolis;
use super::saga::SagaLd;
use super::sgld::{Sgld, SgldCv};
use super::sgrld::Sgrld;
use super::svrg::SvrgLd;

/// All samplers.
pub static REGISTRY: &[SamplerEntry] = &[
    SamplerEntry::of::<Nuts>(),
    SamplerEntry::of::<Metropolis>(),
    SamplerEntry::of::<Sgld>(),
    SamplerEntry::of::<SgldCv>(),
    SamplerEntry::of::<SagaLd>(),
    SamplerEntry::of::<SvrgLd>(),
    SamplerEntry::of::<Psgld>(),
    SamplerEntry::of::<Sgrld>(),
    SamplerEntry::of::<Osgfs>(),
    SamplerEntry::of::<OsgfsCv>(),
];

/// The sampler called `id`, if there is one.
pub fn find(id: &str) -> Option<&'static SamplerEntry> {
    REGISTRY.iter().find(|entry| entry.spec.id == id)
}
