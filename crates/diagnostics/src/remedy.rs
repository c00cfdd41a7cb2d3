//! What makes the draws of an approximate sampler less biased.

/// What helps where a bias check finds draws that are off; each approximate sampler says its own, where one is known.
///
/// A remedy is a property of the sampler, which advice tells in words. The quick fixes that the application offers are changes of one run:
/// most remedies have one, with values from the run's settings, where these leave room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The bias falls with the step of the sampler.
    SmallerStep,
    /// The bias is that of the samplers of some blocks, and falls with their steps.
    SmallerStepInBlocks,
    /// The bias falls with the number of rows of a subsample.
    MoreRows,
    /// The bias comes of combining draws of shards.
    FewerShards,
}

impl Remedy {
    /// A few words for a sentence.
    pub fn few(self) -> &'static str {
        match self {
            Self::SmallerStep => "take a smaller step",
            Self::SmallerStepInBlocks => "take a smaller step in its blocks",
            Self::MoreRows => "take more rows",
            Self::FewerShards => "take fewer shards or another combination",
        }
    }

    /// What to run again with.
    pub(crate) fn with(self) -> &'static str {
        match self {
            Self::SmallerStep => "a smaller step",
            Self::SmallerStepInBlocks => {
                "a smaller step in its blocks with minibatches (`sampler.blocks`)"
            }
            Self::MoreRows => "more rows (`sampler.batch`, or a smaller `sampler.variance`)",
            Self::FewerShards => {
                "fewer shards (`sampler.shards`) or another combination (`sampler.combine`)"
            }
        }
    }
}
