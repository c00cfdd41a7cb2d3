//! What a sampler makes beside draws: vectors that a run carries without knowing them.

use super::Kernel;

/// A vector that a sampler makes beside its position and information columns. A run carries it under its name and knows no
/// more of it: of numbers the newest vector, of labels a thinned list with the draws they belong to.
#[derive(Clone, Copy, Debug)]
pub struct OutputSpec {
    /// Name by which the vector is found.
    pub name: &'static str,
    /// What the vector says.
    pub help: &'static str,
}

/// The value of an output of a sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// One label per unit. Which units share one counts, not which label it is.
    Labels(&'a [u32]),
}

impl<'a> dyn Kernel + 'a {
    /// The output called `name`, where the sampler makes one.
    pub fn output_called(&self, name: &str) -> Option<Output<'_>> {
        let k = self.outputs().iter().position(|spec| spec.name == name)?;
        Some(self.output(k))
    }

    /// The labels that the sampler gives to units, where it does.
    pub fn labels(&self) -> Option<&[u32]> {
        let mut outputs = (0..self.outputs().len()).map(|k| self.output(k));
        outputs.find_map(|output| match output {
            Output::Labels(labels) => Some(labels),
            Output::Numbers(_) => None,
        })
    }
}

/// Name of the output with the ratio of the OSGFS criterion (17) of each component of u, limit 1.
pub const CRITERION_OF_COMPONENTS: &str = "criterion_of_components";
/// Name of the output with what the draws of each shard come to that were last combined: their number, and for each shard the mean
/// and the variance of every coordinate.
pub const SHARD_MOMENTS: &str = "shard_moments";
/// Name of the output with the cluster of each unit.
pub const CLUSTERS: &str = "clusters";
/// Name of the output with the log predictive density of each unit held out.
pub const HELD_OUT: &str = "held_out";

/// Name of the output with the probability of each word in each topic (V×K), K of a word beside each other.
pub const TOPICS: &str = "topics";
/// Name of the output with the share of words that each topic has (K).
pub(crate) const TOPIC_SHARES: &str = "topic_shares";
/// Name of the output with the log probability of each different word scored of the documents held out.
pub const WORDS_HELD_OUT: &str = "words_held_out";
