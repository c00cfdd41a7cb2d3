//! Draws of topics and words from the prior.

use rand::RngExt as _;

use super::Corpus;
use super::corpus::LEAST;
use super::document::pick_by_sums;
use crate::categorical::log_gamma_draw;
use ergodic_base::ChainRng;

/// A draw from a symmetric Dirichlet distribution of parameter `concentration`.
fn dirichlet(concentration: f64, out: &mut [f64], rng: &mut ChainRng) {
    // In logarithms nothing vanishes, however small the concentration is.
    let mut most = f64::NEG_INFINITY;
    for log in out.iter_mut() {
        *log = log_gamma_draw(concentration, rng);
        most = most.max(*log);
    }
    let mut total = 0.0;
    for value in out.iter_mut() {
        *value = (*value - most).exp();
        total += *value;
    }
    for value in out {
        *value /= total;
    }
}

fn running_sums(values: &mut [f64]) {
    let mut total = 0.0;
    for value in values {
        total += *value;
        *value = total;
    }
}

/// `count` draws from a symmetric Dirichlet distribution over `width` shares, one after the other (`count`×`width`).
fn dirichlets(count: usize, width: usize, concentration: f64, rng: &mut ChainRng) -> Vec<f64> {
    let mut all = vec![0.0; count * width];
    for one in all.chunks_exact_mut(width) {
        dirichlet(concentration, one, rng);
    }
    all
}

/// Topics and shares of them in documents, from their priors.
pub(super) struct Drawn {
    topics: usize,
    vocabulary: usize,
    /// Running sums of probabilities of words, topic by topic (V each), and of shares of topics, document by document (K each).
    words: Vec<f64>,
    shares: Vec<f64>,
    /// φ (V×K).
    pub phi: Vec<f64>,
}

impl Drawn {
    pub(super) fn draw(
        (topics, alpha): (usize, f64),
        (vocabulary, beta): (usize, f64),
        documents: usize,
        rng: &mut ChainRng,
    ) -> Self {
        let mut words = dirichlets(topics, vocabulary, beta, rng);
        let mut phi = vec![0.0; vocabulary * topics];
        for (k, own) in words.chunks_exact_mut(vocabulary).enumerate() {
            for (w, p) in own.iter().enumerate() {
                phi[w * topics + k] = p.max(LEAST);
            }
            running_sums(own);
        }
        let mut shares = dirichlets(documents, topics, alpha, rng);
        shares.chunks_exact_mut(topics).for_each(running_sums);
        Self {
            topics,
            vocabulary,
            words,
            shares,
            phi,
        }
    }

    /// A word of a document.
    pub(super) fn word(&self, document: usize, rng: &mut ChainRng) -> usize {
        let shares = &self.shares[document * self.topics..][..self.topics];
        let own = &self.words[pick_by_sums(shares, rng) * self.vocabulary..][..self.vocabulary];
        // A binary search: vocabularies are long.
        let at = rng.random::<f64>() * own[self.vocabulary - 1];
        own.partition_point(|sum| *sum <= at)
            .min(self.vocabulary - 1)
    }
}

/// Draws probabilities of words from the prior and reports them into `reported` (Q), and a word for each row, whose documents are
/// `of_row`, by `word`.
pub(super) fn draw(
    corpus: &Corpus,
    of_row: &[u32],
    rng: &mut ChainRng,
    reported: &mut [f64],
    mut word: impl FnMut(usize, usize),
) {
    let drawn = Drawn::draw(
        (corpus.num_topics(), corpus.alpha()),
        (corpus.vocabulary(), corpus.beta()),
        corpus.num_documents(),
        rng,
    );
    for (row, &document) in of_row.iter().enumerate() {
        word(row, drawn.word(document as usize, rng));
    }
    corpus.report(&drawn.phi, &[], reported);
}
