//! Control variates of counts of words in topics, for `topics-sgld`.
//!
//! The gradient of a document is linear in the expected counts n_d(φ) of its words in topics, so that control variates of gradients are
//! those of counts:
//!
//! ĉ = Σ_d m_d + (N/|S|) Σ_{d∈S} (n̄_d(φ) − m_d)
//!
//! with n̄_d(φ) by Gibbs sampling and m_d kept for each document. Over minibatches its mean is Σ_d E n̄_d(φ) **whatever the m_d are**, as
//! long as both sums have the same: an error of m_d makes noise and no bias. A full sum at the centre beside differences of fresh
//! counts there would have another: Gibbs sampling is random, the error of the full sum stays for the whole chain as a
//! force, and the shift of the posterior that it makes does not fall with the number of documents. It does not go away with the step
//! size, either.
//!
//! | `control` | m_d |
//! |---|---|
//! | none | 0: plain SGLD |
//! | centre | counts at the topics where the warm-up ended (SGLD-CV); in warm-up it is plain |
//! | table | counts when d was last in a minibatch (SAGA), all of them at the start first |
//!
//! Noise of Gibbs sampling in n̄_d does not cancel: what control variates leave has (N/|S|) Σ_d Var n̄_d, which falls with `sweeps`.
//! **Memory.** K numbers for each different word of each document and chain.

use crate::models::Corpus;
use crate::models::topics::document::DocumentGibbs;
use crate::samplers::topics::mean_counts;
use crate::samplers::{Phase, StateVisitor};
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::SettingError;

/// Most numbers kept by one chain: half a gibibyte.
const MOST_NUMBERS: usize = 67_108_864;

ergodic_base::choice! {
    /// What counts of a minibatch are compared with.
    pub enum Control {
        /// Nothing.
        None = "none",
        /// Counts at the end of the warm-up.
        Centre = "centre",
        /// The last counts of each document.
        Table = "table",
    }
}

ergodic_base::settings! {
    /// The setting of [`Control`].
    pub struct ControlSettings {
        pub control: Control = Control::field("Control variates", Some(Control::Centre))
            .help(
                "What counts of a document's words in topics are compared with: none: plain SGLD; centre: those at the end of the warm-up, \
                 SGLD-CV; table: those when it was last looked at, SAGA",
            )
            .why("less noise than plain SGLD, and no table that lags behind");
    }
}

impl Control {
    /// Refuses collections whose counts do not fit in memory.
    ///
    /// # Errors
    /// How large they would be.
    pub fn check(self, corpus: &Corpus) -> Result<(), SettingError> {
        let numbers = corpus.num_topics() * num_entries(corpus);
        if self == Self::None || numbers <= MOST_NUMBERS {
            return Ok(());
        }
        let gibibytes = 0.5 * numbers as f64 / MOST_NUMBERS as f64;
        Err(SettingError::unfit(
            "control",
            format!(
                "would keep {gibibytes:.1} GiB of counts for each chain of so many documents; set it to none"
            ),
        ))
    }
}

/// Different words of all documents.
fn num_entries(corpus: &Corpus) -> usize {
    (0..corpus.num_documents())
        .map(|document| corpus.document(document).len())
        .sum()
}

/// Counts of the words of each document in topics, with their sum.
#[derive(Clone, Debug)]
pub struct KeptCounts {
    control: Control,
    /// m_d, K for each different word, document by document.
    counts: Vec<f64>,
    /// Where the counts of each document begin.
    starts: Vec<usize>,
    /// Σ_d m_d, topic by topic (V each).
    sum: Vec<f64>,
    /// 1 where they are known.
    filled: u64,
    /// Working memory: counts of the documents of a minibatch.
    fresh: Vec<f64>,
    /// Place of each word of the vocabulary in a document.
    places: Vec<u32>,
}

impl KeptCounts {
    /// Before the first of them are known; `None` where none are kept.
    pub fn of(control: Control, corpus: &Corpus, batch: usize) -> Option<Self> {
        if control == Control::None {
            return None;
        }
        let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
        let mut starts = vec![0];
        let mut longest = 0;
        for document in 0..corpus.num_documents() {
            let width = corpus.document(document).len() * topics;
            longest = longest.max(width);
            starts.push(starts[document] + width);
        }
        Some(Self {
            control,
            counts: vec![0.0; num_entries(corpus) * topics],
            starts,
            sum: vec![0.0; topics * words],
            filled: 0,
            fresh: vec![0.0; batch.max(1) * longest],
            places: vec![0; words],
        })
    }

    /// Whether counts are known.
    pub fn is_filled(&self) -> bool {
        self.filled > 0
    }

    /// Whether counts are to be made of all documents now.
    pub fn is_due(&self, phase: Phase) -> bool {
        !self.is_filled() && (self.control == Control::Table || phase == Phase::Draw)
    }

    /// Makes the counts of all documents at `phi` (V×K).
    pub fn fill(
        &mut self,
        corpus: &Corpus,
        phi: &[f64],
        gibbs: &mut DocumentGibbs,
        sweeps: u64,
        rng: &mut ChainRng,
    ) {
        self.sum.fill(0.0);
        for document in 0..corpus.num_documents() {
            let own = &mut self.counts[self.starts[document]..self.starts[document + 1]];
            count(
                corpus,
                document,
                phi,
                gibbs,
                sweeps,
                rng,
                (&mut self.places, own),
            );
            add(corpus, document, 1.0, own, &mut self.sum);
        }
        self.filled = 1;
    }

    /// ĉ of the documents `rows`, topic by topic (V each), into zeros; `each` is N/|S|.
    pub fn estimate(
        &mut self,
        corpus: &Corpus,
        rows: &[u32],
        phi: &[f64],
        gibbs: &mut DocumentGibbs,
        (sweeps, each): (u64, f64),
        rng: &mut ChainRng,
        out: &mut [f64],
    ) {
        axpy(1.0, &self.sum, out);
        let longest = self.fresh.len() / rows.len().max(1);
        for (&row, fresh) in rows.iter().zip(self.fresh.chunks_exact_mut(longest.max(1))) {
            let document = row as usize;
            let kept = &self.counts[self.starts[document]..self.starts[document + 1]];
            let fresh = &mut fresh[..kept.len()];
            count(
                corpus,
                document,
                phi,
                gibbs,
                sweeps,
                rng,
                (&mut self.places, fresh),
            );
            add(corpus, document, each, fresh, out);
            add(corpus, document, -each, kept, out);
        }
        if self.control != Control::Table {
            return;
        }
        // One after the other, so that a document drawn twice changes the sum once.
        for (&row, fresh) in rows.iter().zip(self.fresh.chunks_exact(longest.max(1))) {
            let document = row as usize;
            let kept = &mut self.counts[self.starts[document]..self.starts[document + 1]];
            let fresh = &fresh[..kept.len()];
            add(corpus, document, 1.0, fresh, &mut self.sum);
            add(corpus, document, -1.0, kept, &mut self.sum);
            kept.copy_from_slice(fresh);
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("kept_counts", &mut self.counts);
        visitor.slice("kept_sum", &mut self.sum);
        visitor.counter("kept_filled", &mut self.filled);
    }
}

/// By how much minibatches of `batch` documents widen the logarithms of weights at the topics `phi` (V×K), per unit of the step h: half
/// the variance of ĉ_kw, with which the stationary variance is 1 + h V/2 times that of the posterior, averaged over the words of all
/// documents. First of plain minibatches, then with control variates counted at the same topics, whose noise is that of Gibbs sampling.
pub fn excess_of_minibatches(
    corpus: &Corpus,
    phi: &[f64],
    (sweeps, batch): (u64, usize),
    rng: &mut ChainRng,
) -> [f64; 2] {
    let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
    let documents = corpus.num_documents() as f64;
    let mut gibbs = corpus.document_gibbs();
    let mut places = vec![0; words];
    // Sums over documents of counts, and of squares of counts and of their differences.
    let mut sums = vec![[0.0; 3]; topics * words];
    for document in 0..corpus.num_documents() {
        let entries = corpus.document(document);
        let [first, second] = [(); 2].map(|()| {
            let mut counts = vec![0.0; entries.len() * topics];
            let out = (places.as_mut_slice(), counts.as_mut_slice());
            count(corpus, document, phi, &mut gibbs, sweeps, rng, out);
            counts
        });
        let pairs = first.chunks_exact(topics).zip(second.chunks_exact(topics));
        for (entry, (first, second)) in entries.iter().zip(pairs) {
            for (k, (a, b)) in first.iter().zip(second).enumerate() {
                let [sum, square, difference] = &mut sums[k * words + entry.item as usize];
                *sum += a;
                *square += a * a;
                *difference += (a - b).powi(2);
            }
        }
    }
    let total: f64 = sums.iter().map(|[sum, ..]| sum).sum();
    let times = documents / batch as f64;
    let mut excess = [0.0; 2];
    for [sum, square, difference] in sums {
        let share = sum / total;
        excess[0] += share * 0.5 * times * (square - sum * sum / documents);
        excess[1] += share * 0.5 * times * difference;
    }
    excess
}

/// Mean counts of a document's words in topics, K for each different word, by `sweeps` sweeps, of which the first half is forgotten.
fn count(
    corpus: &Corpus,
    document: usize,
    phi: &[f64],
    gibbs: &mut DocumentGibbs,
    sweeps: u64,
    rng: &mut ChainRng,
    (places, out): (&mut [u32], &mut [f64]),
) {
    let (words, topics) = (corpus.document(document), corpus.num_topics());
    for (place, entry) in (0..).zip(words) {
        places[entry.item as usize] = place;
    }
    out.fill(0.0);
    mean_counts(
        words,
        phi,
        gibbs,
        (sweeps, 1.0),
        rng,
        |word, topic, share| {
            out[places[word] as usize * topics + topic] += share;
        },
    );
}

/// ADDS `factor` times the `counts` of a document's words to `out`, topic by topic (V each).
fn add(corpus: &Corpus, document: usize, factor: f64, counts: &[f64], out: &mut [f64]) {
    let (topics, vocabulary) = (corpus.num_topics(), corpus.vocabulary());
    for (entry, counts) in corpus
        .document(document)
        .iter()
        .zip(counts.chunks_exact(topics))
    {
        for (k, count) in counts.iter().enumerate() {
            out[k * vocabulary + entry.item as usize] += factor * count;
        }
    }
}
