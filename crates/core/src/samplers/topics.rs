//! What samplers of topics share: whom they suit, and what they report.

pub(super) mod topics_control;
pub(super) mod topics_gibbs;
pub(super) mod topics_stochastic;

use super::{Output, OutputSpec, StateVisitor, TOPIC_SHARES, TOPICS, Unsuitable, WORDS_HELD_OUT};
use crate::models::dp_mixture::counts::Entry;
use crate::models::topics::corpus::LEAST;
use crate::models::topics::document::DocumentGibbs;
use crate::models::{Corpus, Model};
use crate::oracle::{Oracle, StepError};
use ergodic_base::ChainRng;
use ergodic_base::settings::Field;

/// Sweeps over each document of a minibatch.
pub const SWEEPS: Field = Field::int("Sweeps per document", 2, 100_000, Some(40))
    .help(
        "Gibbs sweeps over the words of each document of a minibatch; the first half is forgotten",
    )
    .why("a document forgets its start in some ten sweeps; the paper takes 200");

/// Adds `each` times the mean counts n̄_kw of a document's words in topics to `counts` (topic by topic, V each), given the probabilities
/// `phi` (V×K), by Gibbs sampling of the topics of its words in `sweeps` sweeps, of which the first half is forgotten.
pub fn add_counts(
    corpus: &Corpus,
    document: usize,
    phi: &[f64],
    gibbs: &mut DocumentGibbs,
    (sweeps, each): (u64, f64),
    rng: &mut ChainRng,
    counts: &mut [f64],
) {
    let (words, vocabulary) = (corpus.document(document), corpus.vocabulary());
    mean_counts(
        words,
        phi,
        gibbs,
        (sweeps, each),
        rng,
        |word, topic, share| {
            counts[topic * vocabulary + word] += share;
        },
    );
}

/// Tells `seen` words of a document with a topic and the share that they have in `each` times the mean counts of [`add_counts`].
pub fn mean_counts(
    words: &[Entry],
    phi: &[f64],
    gibbs: &mut DocumentGibbs,
    (sweeps, each): (u64, f64),
    rng: &mut ChainRng,
    mut seen: impl FnMut(usize, usize, f64),
) {
    let forgotten = sweeps / 2;
    let each = each / (sweeps - forgotten) as f64;
    gibbs.begin(words, phi, rng);
    for _ in 0..forgotten {
        gibbs.sweep(words, phi, rng, |_word, _topic| {});
    }
    for _ in forgotten..sweeps {
        gibbs.sweep(words, phi, rng, |word, topic| seen(word, topic, each));
    }
}

/// What samplers of topics make beside summaries, in the order of [`Topics::output`].
pub const OUTPUTS: &[OutputSpec] = &[
    OutputSpec {
        name: TOPICS,
        help: "Probability of each word in each topic",
    },
    OutputSpec {
        name: TOPIC_SHARES,
        help: "Share of words that each topic has",
    },
    OutputSpec {
        name: WORDS_HELD_OUT,
        help: "Log probability of each different word scored of the documents held out",
    },
];

/// Refuses models without topics.
pub fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
    let corpus = model.corpus().ok_or(Unsuitable::NoTopics)?;
    debug_assert!(corpus.num_topics() > 0);
    Ok(())
}

/// The corpus of a model that [`suits`].
pub fn corpus(oracle: &Oracle) -> Result<&Corpus, StepError> {
    (oracle.model().corpus()).ok_or(StepError::Lacks("topics"))
}

/// A draw of the probabilities of words in topics, and what is reported of it.
#[derive(Clone, Debug)]
pub struct Topics {
    /// φ (V×K).
    pub phi: Vec<f64>,
    /// Shares of words (K).
    pub shares: Vec<f64>,
    /// Topics of one document's words at a time.
    pub document: DocumentGibbs,
    /// Log probabilities of words scored.
    held_out: Vec<f64>,
    /// Reported quantities (Q).
    pub position: Vec<f64>,
}

impl Topics {
    /// Memory for the topics of `corpus`, all alike, and `dim` reported quantities.
    pub fn new(corpus: &Corpus, dim: usize) -> Self {
        let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
        Self {
            phi: vec![1.0 / words as f64; words * topics],
            shares: vec![1.0 / topics as f64; topics],
            document: corpus.document_gibbs(),
            held_out: vec![f64::NAN; corpus.scored().count()],
            position: vec![f64::NAN; dim],
        }
    }

    /// Sets the probabilities of topic `k` to the shares that exp of `logs` (V) have of their sum. False if one is not a number.
    pub fn set(&mut self, k: usize, logs: &[f64]) -> bool {
        let topics = self.shares.len();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let column = || (k..logs.len() * topics).step_by(topics);
        let mut total = 0.0;
        for (place, log) in column().zip(logs) {
            let weight = (log - largest).exp();
            self.phi[place] = weight;
            total += weight;
        }
        for place in column() {
            self.phi[place] = (self.phi[place] / total).max(LEAST);
        }
        total.is_finite()
    }

    /// [`Self::set`] for all topics, `logs` of one after those of the other.
    pub fn set_all(&mut self, logs: &[f64]) -> bool {
        let words = logs.len() / self.shares.len();
        let mut topics = logs.chunks_exact(words).enumerate();
        topics.all(|(k, logs)| self.set(k, logs))
    }

    /// Makes shares of the words `seen` of each topic, which are then forgotten.
    pub fn share(&mut self, seen: &mut [f64]) {
        let total: f64 = seen.iter().sum();
        if total > 0.0 {
            for (share, seen) in self.shares.iter_mut().zip(&*seen) {
                *share = seen / total;
            }
        }
        seen.fill(0.0);
    }

    /// Reports the present probabilities; documents held out are completed.
    pub fn report(&mut self, corpus: &Corpus, rng: &mut ChainRng) {
        corpus.complete(&self.phi, &mut self.document, rng, &mut self.held_out);
        corpus.report(&self.phi, &self.held_out, &mut self.position);
    }

    /// Output `k` of [`OUTPUTS`].
    pub fn output(&self, k: usize) -> Output<'_> {
        Output::Numbers(match k {
            0 => &self.phi,
            1 => &self.shares,
            _ => &self.held_out,
        })
    }

    /// Visits what is reported.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("phi", &mut self.phi);
        visitor.slice("shares", &mut self.shares);
        visitor.slice("held_out", &mut self.held_out);
        visitor.slice("position", &mut self.position);
    }
}

#[cfg(test)]
mod tests;
