//! What samplers of topics need: words of documents, priors, and how documents held out are scored.
//!
//! **Document completion** (Wallach, Murray, Salakhutdinov and Mimno 2009; Patterson and Teh 2013). Half of the words of a document
//! held out are shown, the other half are scored: p(w | shown, φ) = E[Σ_k θ_k φ_kw | shown, φ], by Gibbs sampling of the topics
//! of the words shown, with θ integrated out given these. Perplexity is exp(−mean log p) over all words scored.

use rand::seq::SliceRandom as _;

use super::document::DocumentGibbs;
use crate::dp_mixture::counts::{Counts, Entry};
use ergodic_base::{ChainRng, Purpose, stream};

/// Sweeps over the words shown of a document before those that are averaged: a document forgets its start in a few.
const FORGOTTEN: usize = 10;
/// Sweeps that are averaged.
const AVERAGED: usize = 20;
/// Probabilities of words below this count as this: draws of words that were never seen can be smaller than any number.
pub const LEAST: f64 = 1e-300;

/// A document held out.
#[derive(Clone, Debug)]
struct Completion {
    /// Words that tell its topics.
    shown: Vec<Entry>,
    /// Words to be predicted.
    scored: Vec<Entry>,
}

/// Documents as counts of words, and the priors of a topic model.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Words of all documents, those held out last; one block, the vocabulary.
    words: Counts,
    /// Documents that take part.
    num_documents: usize,
    num_topics: usize,
    alpha: f64,
    completions: Vec<Completion>,
    num_words: u64,
    longest: usize,
}

impl Corpus {
    /// The corpus of the `total` documents of `words`, whose concentration is β, with K = `num_topics` topics and θ ~ Dir(`alpha`); the
    /// last `held_out` documents take no part and are predicted.
    pub fn new(
        total: usize,
        words: Counts,
        num_topics: usize,
        alpha: f64,
        held_out: usize,
    ) -> Self {
        let num_documents = total - held_out;
        let mut rng = stream(0, 1, Purpose::Data);
        let completions = (num_documents..total)
            .map(|document| Completion::of(words.unit(document), &mut rng))
            .collect();
        let lengths = (0..total).map(|document| words.observations(document));
        Self {
            num_words: lengths.clone().take(num_documents).sum(),
            longest: lengths.max().unwrap_or(0) as usize,
            words,
            num_documents,
            num_topics,
            alpha,
            completions,
        }
    }

    /// N, the documents that take part.
    pub fn num_documents(&self) -> usize {
        self.num_documents
    }

    /// Documents held out.
    pub fn num_held_out(&self) -> usize {
        self.completions.len()
    }

    /// K.
    pub fn num_topics(&self) -> usize {
        self.num_topics
    }

    /// V, the words of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.words.num_items()
    }

    /// Words of the vocabulary (V).
    pub fn vocabulary_words(&self) -> &[String] {
        self.words
            .blocks
            .first()
            .map_or(&[], |block| block.levels.as_slice())
    }

    /// α, the parameter of the Dirichlet prior of a document's shares of topics.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// β, the parameter of the Dirichlet prior of a topic's probabilities of words.
    pub fn beta(&self) -> f64 {
        let vocabulary = self.words.blocks.first();
        vocabulary.map_or(f64::NAN, |block| block.concentration)
    }

    /// Words of all documents that take part, repeats included.
    pub fn num_words(&self) -> u64 {
        self.num_words
    }

    /// The different words of a document with their counts.
    #[inline]
    pub fn document(&self, document: usize) -> &[Entry] {
        self.words.unit(document)
    }

    /// Memory for the topics of one document at a time.
    pub fn document_gibbs(&self) -> DocumentGibbs {
        DocumentGibbs::new(self.num_topics, self.alpha, self.longest)
    }

    /// The counts of the words scored, repeats together, in the order of [`Self::complete`].
    pub fn scored(&self) -> impl Iterator<Item = f64> + '_ {
        let entries = self.completions.iter().flat_map(|it| &it.scored);
        entries.map(|entry| f64::from(entry.count))
    }

    /// Writes log probabilities of the different words scored, document after document, given `phi` (V×K).
    pub fn complete(
        &self,
        phi: &[f64],
        gibbs: &mut DocumentGibbs,
        rng: &mut ChainRng,
        logs: &mut [f64],
    ) {
        let mut from = 0;
        for document in &self.completions {
            let to = from + document.scored.len();
            self.complete_one(document, phi, gibbs, rng, &mut logs[from..to]);
            from = to;
        }
    }

    fn complete_one(
        &self,
        document: &Completion,
        phi: &[f64],
        gibbs: &mut DocumentGibbs,
        rng: &mut ChainRng,
        logs: &mut [f64],
    ) {
        let topics = self.num_topics;
        let shown: f64 = document.shown.iter().map(|it| f64::from(it.count)).sum();
        let total = shown + self.alpha * topics as f64;
        logs.fill(0.0);
        gibbs.begin(&document.shown, phi, rng);
        for sweep in 0..FORGOTTEN + AVERAGED {
            gibbs.sweep(&document.shown, phi, rng, |_word, _topic| {});
            if sweep < FORGOTTEN {
                continue;
            }
            for (sum, entry) in logs.iter_mut().zip(&document.scored) {
                let phi = &phi[entry.item as usize * topics..][..topics];
                let shares = gibbs.counts().iter().map(|count| self.alpha + count);
                *sum += shares.zip(phi).map(|(share, phi)| share * phi).sum::<f64>();
            }
        }
        for log in logs {
            *log = (*log / (total * AVERAGED as f64)).max(LEAST).ln();
        }
    }

    /// exp of minus the mean of log probabilities of the words scored, as [`Self::complete`] writes them.
    pub fn perplexity(&self, logs: &[f64]) -> f64 {
        let (mut sum, mut words) = (0.0, 0.0);
        for (log, count) in logs.iter().zip(self.scored()) {
            sum += count * log;
            words += count;
        }
        (-sum / words).exp()
    }

    /// Writes the reported quantities of `phi` (V×K) and of the log probabilities of words scored into `out` (Q).
    pub fn report(&self, phi: &[f64], logs: &[f64], out: &mut [f64]) {
        let perplexity = (self.num_held_out() > 0).then(|| self.perplexity(logs));
        let [breadth, divergence] = spread(phi, self.num_topics);
        let values = perplexity.into_iter().chain([breadth, divergence]);
        for (out, value) in out.iter_mut().zip(values) {
            *out = value;
        }
    }
}

impl Completion {
    /// Half of the words of a document, chosen at random, are scored; of an odd number the larger half.
    fn of(words: &[Entry], rng: &mut ChainRng) -> Self {
        let mut all: Vec<Entry> = (words.iter())
            .flat_map(|entry| vec![Entry { count: 1, ..*entry }; entry.count as usize])
            .collect();
        all.shuffle(rng);
        let (shown, scored) = all.split_at(all.len() / 2);
        Self {
            shown: together(shown),
            scored: together(scored),
        }
    }
}

/// Single words as counts, in order.
fn together(words: &[Entry]) -> Vec<Entry> {
    let mut words = words.to_vec();
    words.sort_unstable_by_key(|entry| entry.item);
    let same = words.chunk_by(|a, b| a.item == b.item);
    same.map(|same| Entry {
        count: same.len() as u32,
        ..same[0]
    })
    .collect()
}

/// −p ln p, 0 at 0.
fn entropy_term(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

/// How broad topics are and how far apart: the mean over topics of exp H(φ_k), the number of words in effect, and the
/// Jensen-Shannon divergence H(mean φ) − mean H(φ_k) in nats, for `phi` (V×K).
fn spread(phi: &[f64], topics: usize) -> [f64; 2] {
    let (mut breadth, mut divergence) = (0.0, 0.0);
    for k in 0..topics {
        let own = phi.iter().skip(k).step_by(topics);
        let entropy: f64 = own.map(|&p| entropy_term(p)).sum();
        breadth += entropy.exp() / topics as f64;
        divergence -= entropy / topics as f64;
    }
    for word in phi.chunks_exact(topics) {
        divergence += entropy_term(word.iter().sum::<f64>() / topics as f64);
    }
    [breadth, divergence]
}

#[cfg(test)]
mod tests;
