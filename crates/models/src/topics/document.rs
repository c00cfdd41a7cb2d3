//! The topics of one document's words, given the probabilities of words in topics.
//!
//! The document's own shares of topics θ ~ Dir(α) are integrated out, so that word i is of topic k with probability
//! ∝ (α + n_k) φ_kw, n the topics of its other words.

use rand::RngExt as _;

use crate::dp_mixture::counts::Entry;
use ergodic_base::ChainRng;

/// Gibbs sampling of the topics of one document's words.
#[derive(Clone, Debug)]
pub struct DocumentGibbs {
    /// α.
    alpha: f64,
    /// Topic of each word.
    topics: Vec<u32>,
    /// Words of each topic (K).
    counts: Vec<f64>,
    /// Running sums of weights (K).
    sums: Vec<f64>,
}

impl DocumentGibbs {
    /// For documents of at most `longest` words.
    pub fn new(num_topics: usize, alpha: f64, longest: usize) -> Self {
        Self {
            alpha,
            topics: Vec::with_capacity(longest),
            counts: vec![0.0; num_topics],
            sums: vec![0.0; num_topics],
        }
    }

    /// Words of each topic (K).
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The words of a document get topics one after the other, each given those before it; `phi` (V×K) has the probabilities of a
    /// word in all topics beside each other.
    pub fn begin(&mut self, words: &[Entry], phi: &[f64], rng: &mut ChainRng) {
        self.topics.clear();
        self.counts.fill(0.0);
        for entry in words {
            for _ in 0..entry.count {
                let topic = self.draw(entry, phi, rng);
                self.counts[topic] += 1.0;
                self.topics.push(topic as u32);
            }
        }
    }

    /// Every word gets a topic given those of all others; `seen` is told word and topic.
    pub fn sweep(
        &mut self,
        words: &[Entry],
        phi: &[f64],
        rng: &mut ChainRng,
        mut seen: impl FnMut(usize, usize),
    ) {
        let mut place = 0;
        for entry in words {
            for _ in 0..entry.count {
                self.counts[self.topics[place] as usize] -= 1.0;
                let topic = self.draw(entry, phi, rng);
                self.counts[topic] += 1.0;
                self.topics[place] = topic as u32;
                seen(entry.item as usize, topic);
                place += 1;
            }
        }
    }

    #[inline]
    fn draw(&mut self, entry: &Entry, phi: &[f64], rng: &mut ChainRng) -> usize {
        let topics = self.counts.len();
        let phi = &phi[entry.item as usize * topics..][..topics];
        let mut total = 0.0;
        for ((sum, count), phi) in self.sums.iter_mut().zip(&self.counts).zip(phi) {
            total += (self.alpha + count) * phi;
            *sum = total;
        }
        pick_by_sums(&self.sums, rng)
    }
}

/// Draws a position whose chance is the rise of the running `sums` there.
#[inline]
pub fn pick_by_sums(sums: &[f64], rng: &mut ChainRng) -> usize {
    let Some((total, before)) = sums.split_last() else {
        return 0;
    };
    let at = rng.random::<f64>() * total;
    before
        .iter()
        .position(|sum| at < *sum)
        .unwrap_or(before.len())
}
