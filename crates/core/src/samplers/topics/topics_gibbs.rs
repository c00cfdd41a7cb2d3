//! Collapsed Gibbs sampling of topics (`topics-gibbs`).
//!
//! Reference: Griffiths and Steyvers, "Finding scientific topics", PNAS 101 (2004), equation 5. It is the exact sampler that Baker et
//! al. (2018), appendix E.1, compare with.
//!
//! **One step.** Each word in turn leaves its topic and joins topic k with probability ∝ (α + n_dk)(β + n_kw)/(βV + n_k), n
//! without the word, with shares of topics and probabilities of words integrated out. Then φ_k | z ~ Dir(β + n_k), so that what is
//! reported is a function of a draw of φ, as with the other samplers of topics.
//!
//! Chains start with words that join one after the other, each given those before it. **Cost.** Words times K a step, and K V
//! gamma variables. **Bias.** None; but like all samplers of topics it stays in the mode that it has found, and chains may
//! disagree for that. **Not for** collections of which one step takes minutes.

use crate::models::topics::document::pick_by_sums;
use crate::models::{Corpus, Model};
use crate::oracle::{Oracle, StepError};
use crate::samplers::cir::log_gamma;
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::topics::{self, Topics};
use crate::samplers::{
    InfoColumn, Output, OutputSpec, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target,
    Tick, Unsuitable,
};
use ergodic_base::settings::SettingError;
use ergodic_base::{ChainRng, Streams};

/// The sampler `topics-gibbs`.
pub struct TopicsGibbs;

/// Topics of all words.
#[derive(Clone, Debug)]
pub struct State {
    /// Topic of each word, document after document, as a number that a checkpoint can hold.
    z: Vec<f64>,
    /// Words of each topic in the document at hand (K).
    of_document: Vec<f64>,
    /// Counts of words in topics (V×K), and of all words of topics (K).
    of_word: Vec<f64>,
    of_topic: Vec<f64>,
    /// Running sums of weights (K), and logarithms of gamma variables (V).
    sums: Vec<f64>,
    logs: Vec<f64>,
    topics: Topics,
}

/// Topic of a word before it has got one.
const NONE: f64 = -1.0;

impl State {
    fn new(corpus: &Corpus, dim: usize) -> Self {
        let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
        Self {
            z: vec![NONE; corpus.num_words() as usize],
            of_document: vec![0.0; topics],
            of_word: vec![0.0; words * topics],
            of_topic: vec![0.0; topics],
            sums: vec![0.0; topics],
            logs: vec![0.0; words],
            topics: Topics::new(corpus, dim),
        }
    }

    /// Counts words of topics anew.
    fn count(&mut self, corpus: &Corpus) {
        let topics = corpus.num_topics();
        self.of_word.fill(0.0);
        self.of_topic.fill(0.0);
        let mut z = self.z.iter();
        for document in 0..corpus.num_documents() {
            for entry in corpus.document(document) {
                for topic in z.by_ref().take(entry.count as usize) {
                    if *topic != NONE {
                        self.of_word[entry.item as usize * topics + *topic as usize] += 1.0;
                        self.of_topic[*topic as usize] += 1.0;
                    }
                }
            }
        }
    }

    /// Every word leaves its topic, if it has one, and joins one. Returns how many changed theirs.
    fn sweep(&mut self, corpus: &Corpus, rng: &mut ChainRng) -> u64 {
        let (topics, alpha, beta) = (corpus.num_topics(), corpus.alpha(), corpus.beta());
        let prior = beta * corpus.vocabulary() as f64;
        let (mut place, mut changed) = (0, 0);
        for document in 0..corpus.num_documents() {
            let words = corpus.document(document);
            let length: usize = words.iter().map(|entry| entry.count as usize).sum();
            self.of_document.fill(0.0);
            for topic in &self.z[place..place + length] {
                if *topic != NONE {
                    self.of_document[*topic as usize] += 1.0;
                }
            }
            for entry in words {
                let own = &mut self.of_word[entry.item as usize * topics..][..topics];
                for _ in 0..entry.count {
                    let from = self.z[place];
                    if from != NONE {
                        let from = from as usize;
                        self.of_document[from] -= 1.0;
                        self.of_topic[from] -= 1.0;
                        own[from] -= 1.0;
                    }
                    let mut total = 0.0;
                    let counts = self.of_document.iter().zip(own.iter()).zip(&self.of_topic);
                    for (sum, ((in_document, of_word), of_topic)) in
                        self.sums.iter_mut().zip(counts)
                    {
                        total += (alpha + in_document) * (beta + of_word) / (prior + of_topic);
                        *sum = total;
                    }
                    let to = pick_by_sums(&self.sums, rng);
                    self.of_document[to] += 1.0;
                    self.of_topic[to] += 1.0;
                    own[to] += 1.0;
                    changed += u64::from(from != to as f64);
                    self.z[place] = to as f64;
                    place += 1;
                }
            }
        }
        changed
    }

    /// Draws probabilities of words given topics, and reports.
    fn report(&mut self, corpus: &Corpus, iter: u64, rng: &mut ChainRng) -> Result<(), StepError> {
        let topics = corpus.num_topics();
        for k in 0..topics {
            let counts = self.of_word.iter().skip(k).step_by(topics);
            for (log, count) in self.logs.iter_mut().zip(counts) {
                *log = log_gamma(rng, corpus.beta() + count);
            }
            if !self.topics.set(k, &self.logs) {
                return Err(StepError::not_finite("the probability of a word", iter));
            }
            self.topics.shares[k] = self.of_topic[k] / corpus.num_words() as f64;
        }
        self.topics.report(corpus, rng);
        Ok(())
    }
}

impl Sampler for TopicsGibbs {
    type Settings = ();
    type Config = ();
    type State = State;
    const NEEDS_DENSITY: bool = false;
    const ADVICE: Traits = Traits::ORDINARY
        .standing(Standing::Auto)
        .because("needs no step size");
    const OUTPUTS: &'static [OutputSpec] = topics::OUTPUTS;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "topics-gibbs",
        family: SamplerFamily::Topics,
        title: "Collapsed Gibbs for topics",
        about: "Moves one word after the other between topics: exact, passes over all documents at every step",
        cite: "Griffiths, Steyvers, \"Finding scientific topics\", PNAS 101, 2004",
        formula: "P(z_i = k | rest) ∝ (α + n_dk) (β + n_kw)/(β V + n_k); φ_k | z ~ Dir(β + n_k)",
        info: &[InfoColumn::new(
            "moved",
            "Share of words that changed their topic in this step",
        )],
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        topics::suits(model)
    }

    fn configure(_settings: &mut (), _target: &Target) -> Result<(), SettingError> {
        Ok(())
    }

    fn init(
        _config: &(),
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let corpus = topics::corpus(oracle)?;
        let mut state = State::new(corpus, u0.len());
        state.sweep(corpus, &mut streams.noise);
        state.report(corpus, 0, &mut streams.noise)?;
        Ok(state)
    }

    fn step(
        _config: &(),
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let corpus = topics::corpus(oracle)?;
        let rng = &mut streams.noise;
        // After a restart the topics of words are all that is known; and counting takes little beside the sweep.
        state.count(corpus);
        let changed = state.sweep(corpus, rng);
        info[0] = changed as f64 / corpus.num_words() as f64;
        state.report(corpus, at.iter, rng)?;
        oracle.datum_grads += oracle.num_obs() as u64;
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.topics.position
    }

    fn output(state: &State, k: usize) -> Output<'_> {
        state.topics.output(k)
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("z", &mut state.z);
        state.topics.visit(visitor);
    }
}
