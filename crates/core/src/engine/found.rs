//! What runs find besides draws of numbers: summaries of outputs of their samplers ([`crate::samplers::OutputSpec`]).
//!
//! To add a summary, write a file with a type that implements [`Summary`], and add its `mod` and its line to [`KINDS`]: diagnostics,
//! run folders and recovered journals have it then. Who shows it asks for its type ([`Found::get`]).

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::RunView;
use super::sampling::Sampling;
use crate::samplers::SamplerEntry;
use ergodic_diagnostics::{Finding, SummaryRow};

pub mod clusters;
mod shards;
pub mod topics;

/// All summaries, in the order of their findings and files.
pub static KINDS: &[Kind] = &[
    Kind::of::<clusters::Clusters>(),
    Kind::of::<topics::TopWords>(),
    Kind::of::<shards::Disagreement>(),
];

/// What an output of a sampler comes to in a run.
pub trait Summary: Any + Debug + Send + Sync + Serialize + DeserializeOwned {
    /// Name of the output, by which sentences call the summary.
    const OUTPUT: &'static str;
    /// Name of its file in a run folder; `None` where its finding is all that there is to keep.
    const FILE: Option<&'static str> = None;
    /// Which variables count for the verdict of a run with the output, where these are not the usual ones ([`criterion`]).
    const DECIDES: Option<fn(&SummaryRow) -> bool> = None;

    /// The summary of a run as it stands; `None` before the first draws, and where there is nothing to tell.
    fn of(job: &dyn Sampling, view: &RunView) -> Option<Self>;

    /// What `draws` with one label for each of `units` tell without the model, of a run that was cut short.
    fn of_labels(_units: &[String], _draws: &[&[u32]]) -> Option<Self> {
        None
    }

    /// What it adds to the verdict of a run of `chains` working chains with these rows.
    fn finding(&self, _rows: &[SummaryRow], _chains: usize) -> Option<Finding> {
        None
    }
}

/// A summary without its type.
pub trait Told: Any + Debug + Send + Sync {
    /// Which one it is.
    fn kind(&self) -> &'static Kind;

    /// See [`Summary::finding`].
    fn finding(&self, rows: &[SummaryRow], chains: usize) -> Option<Finding>;

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<S: Summary> Told for S {
    fn kind(&self) -> &'static Kind {
        const { &Kind::of::<S>() }
    }

    fn finding(&self, rows: &[SummaryRow], chains: usize) -> Option<Finding> {
        Summary::finding(self, rows, chains)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

type Recover = fn(&[String], &[&[u32]]) -> Option<Arc<dyn Told>>;

/// A registered summary.
#[derive(Debug)]
pub struct Kind {
    /// See [`Summary::OUTPUT`].
    pub output: &'static str,
    /// See [`Summary::FILE`].
    pub file: Option<&'static str>,
    /// Reads what [`Told::write`] wrote; `None` if it is damaged.
    pub read: fn(&mut dyn Read) -> Option<Arc<dyn Told>>,
    decides: Option<fn(&SummaryRow) -> bool>,
    find: fn(&dyn Sampling, &RunView) -> Option<Arc<dyn Told>>,
    recover: Recover,
}

impl Kind {
    const fn of<S: Summary>() -> Self {
        Self {
            output: S::OUTPUT,
            file: S::FILE,
            read: |input| Some(Arc::new(serde_json::from_reader::<_, S>(input).ok()?)),
            decides: S::DECIDES,
            find: |job, view| Some(Arc::new(S::of(job, view)?)),
            recover: |units, draws| Some(Arc::new(S::of_labels(units, draws)?)),
        }
    }
}

/// Summaries of the outputs of a sampler.
pub fn kinds_of(sampler: &SamplerEntry) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| sampler.makes(kind.output))
}

/// Summaries with a file in run folders, by its name.
pub fn files() -> impl Iterator<Item = (&'static str, &'static Kind)> {
    KINDS.iter().filter_map(|kind| Some((kind.file?, kind)))
}

/// Which variables count for the verdict of a run with summaries of these kinds: all but those of units that may change their numbers,
/// unless one of the kinds says otherwise.
pub fn criterion(mut kinds: impl Iterator<Item = &'static Kind>) -> fn(&SummaryRow) -> bool {
    let own = kinds.find_map(|kind| kind.decides);
    own.unwrap_or(|row| !row.variable.is_exchangeable())
}

/// All summaries of a run.
#[derive(Clone, Debug, Default)]
pub struct Found(pub Vec<Arc<dyn Told>>);

impl Found {
    /// Those of a run as it stands.
    pub fn of(job: &dyn Sampling, view: &RunView) -> Self {
        let kinds = kinds_of(job.sampler());
        Self(kinds.filter_map(|kind| (kind.find)(job, view)).collect())
    }

    /// The one of type `S`.
    pub fn get<S: Summary>(&self) -> Option<Arc<S>> {
        let mut all = self.0.iter().cloned();
        all.find_map(|one| (one as Arc<dyn Any + Send + Sync>).downcast().ok())
    }

    /// Kinds of those that there are.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.0.iter().map(|one| one.kind())
    }

    /// Adds those that `draws` with one label for each of `units` tell of a run of `sampler` that was cut short.
    /// A sampler that this version does not know may have made any of them.
    pub fn recover(&mut self, sampler: Option<&SamplerEntry>, units: &[String], draws: &[&[u32]]) {
        let may_be = |kind: &&Kind| sampler.is_none_or(|it| it.makes(kind.output));
        for kind in KINDS.iter().filter(may_be) {
            if self.kinds().all(|known| known.output != kind.output) {
                self.0.extend((kind.recover)(units, draws));
            }
        }
    }

    /// What they add to the verdict of a run of `chains` working chains with these rows.
    pub fn findings(&self, rows: &[SummaryRow], chains: usize) -> impl Iterator<Item = Finding> {
        let findings = self.0.iter();
        findings.filter_map(move |one| one.finding(rows, chains))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::REGISTRY;

    #[test]
    fn kinds_are_of_outputs_that_samplers_make_and_have_files_of_their_own() {
        for (place, kind) in KINDS.iter().enumerate() {
            assert!(REGISTRY.iter().any(|it| it.makes(kind.output)), "{kind:?}");
            for other in &KINDS[..place] {
                assert_ne!(kind.output, other.output);
                assert!(kind.file.is_none() || kind.file != other.file);
            }
        }
    }
}
