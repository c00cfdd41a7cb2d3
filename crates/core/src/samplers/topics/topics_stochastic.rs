//! Topics by minibatches of documents: with exact Cox-Ingersoll-Ross transitions (`topics-scir`), with Riemannian Langevin steps
//! (`topics-sgrld`), with which the former is compared, and with Langevin steps of logarithms (`topics-sgld`), which may have control
//! variates ([`crate::samplers::topics::topics_control`]).
//!
//! Sources: Patterson and Teh (2013); Baker, Fearnhead, Fox and Nemeth (2018), section 5.1 and appendix E.3; Baker (2018), section
//! 5.5.1; of `topics-sgld` Baker (2018), section 3.5.3 and appendix A.3.
//!
//! **One step with a minibatch S of n documents.** Gibbs sampling of the topics of their words given φ, shares of topics integrated
//! out ([`DocumentGibbs`](crate::models::topics::document::DocumentGibbs)): `sweeps` sweeps, of which the first half is forgotten and
//! the others give mean counts n̄_kw; ĉ_kw = (N/n) Σ_S n̄_kw. Then T_kw is stepped over time h_m = h (1 + m/τ)^(−κ) by a
//! process whose stationary distribution, were ĉ fixed, is Gamma(β + ĉ_kw, 1), and φ_k = T_k/ΣT_k ([`crate::samplers::process`]).
//!
//! | setting | SCIR | SGRLD | SGLD | |
//! |---|---|---|---|---|
//! | `step_size` h | 0.5 | 0.005 | that of `sgld` at the curvature W/(4K) of W words | Langevin time; the sources' ε is 2h |
//! | `decay_offset` τ | 10 | 1000 | 1000 | steps |
//! | `decay_exponent` κ | 0.33 | 0.6 | 0 | 0: steps stay as they are |
//! | `batch` n, `sweeps` | 50, 40 | 50, 40 | 50, 40 | the sources take 200 sweeps |
//!
//! **Bias.** SCIR has no error of discretisation while counts are fixed, but they are those of the φ before the step, and noise of
//! minibatches widens φ: both go to 0 with h. SGLD has the error of a step besides. SGRLD also holds probabilities away from 0. Few sweeps leave counts near
//! those of the first sweep. **Cost.** `sweeps` times the words of n documents times K, and K V random variables. **Not for**
//! collections that `topics-gibbs` can sweep.

use std::marker::PhantomData;

use crate::models::{Corpus, Model};
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::cir::log_gamma;
use crate::samplers::langevin::{EXCESS_PLAIN, STEPS_PER_DRAW, step_for_excess};
use crate::samplers::minibatch_settings::{MinibatchSettings, PlainRows};
use crate::samplers::process::{CoxIngersollRoss, Natural, Process, Riemann};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::schedule::Decay;
use crate::samplers::topics::topics_control::{Control, ControlSettings, KeptCounts};
use crate::samplers::topics::{self, SWEEPS, Topics};
use crate::samplers::{
    InfoColumn, Output, OutputSpec, STEP_SIZE, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick, Unsuitable,
};
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_base::{ChainRng, Streams};
use ergodic_diagnostics::Remedy;

/// Documents per minibatch, those of the paper's experiment.
const DOCUMENTS: usize = 50;
/// Minibatches per draw, those between two of the paper's evaluations.
const STEPS: u64 = 5;

const STEP: Field = Field::real("Time per minibatch", 1e-12, 100.0, None)
    .help("Langevin time h of the probabilities of words per minibatch, before it decays")
    .why("that of the paper's experiment");
pub(in crate::samplers) const OFFSET: Field = Field::real("Decay offset", 1e-3, 1e12, None)
    .help("τ in h (1 + m/τ)^(−κ), the time of minibatch m")
    .why("that of the paper's experiment");
pub(in crate::samplers) const EXPONENT: Field = Field::real("Decay exponent", 0.0, 1.0, None)
    .help("κ in h (1 + m/τ)^(−κ), the time of minibatch m; with 0 it does not decay")
    .why("that of the paper's experiment");

ergodic_base::settings! {
    /// Settings of [`TopicsScir`] and [`TopicsSgrld`], and of [`TopicsSgld`] with its own `O`.
    pub struct StochasticSettings<O> {
        step_size: Option<f64> = STEP;
        decay_offset: Option<f64> = OFFSET;
        decay_exponent: Option<f64> = EXPONENT;
        sweeps: u64 = SWEEPS;
        rows: PlainRows;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        own: O;
    }
}

const INFO: &[InfoColumn] = &[InfoColumn::new(
    STEP_SIZE,
    "Langevin time of the last minibatch",
)];

/// The sampler `topics-scir`.
pub type TopicsScir = Stochastic<CoxIngersollRoss>;

/// The sampler `topics-sgrld`.
pub type TopicsSgrld = Stochastic<Riemann>;

/// The sampler `topics-sgld`.
pub type TopicsSgld = Stochastic<Natural>;

/// `topics-scir`, `topics-sgrld` and `topics-sgld`, which differ in the process `P`.
pub struct Stochastic<P>(PhantomData<fn() -> P>);

/// A [`Process`] that moves probabilities of words.
pub trait Minibatches: Process {
    /// The description.
    const DESCRIPTION: SamplerSpec;
    /// What the sampler is for.
    const STANDING: Standing;
    /// Settings that the others have not got.
    type Own: Declared + 'static;

    /// h, τ and κ where the user sets none, for minibatches of `batch` documents of the target.
    fn default_steps(target: &Target, batch: usize) -> [f64; 3];

    /// What counts of a minibatch are compared with.
    fn control(_own: &Self::Own) -> Control {
        Control::None
    }
}

impl Minibatches for CoxIngersollRoss {
    const STANDING: Standing = Standing::Alternative;
    type Own = ();
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "topics-scir",
        family: SamplerFamily::Topics,
        title: "SCIR for topics",
        about: "Topics by minibatches of documents, probabilities of words by the Cox-Ingersoll-Ross process: for large collections",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Large-scale stochastic sampling from the probability simplex\", NeurIPS 2018",
        formula: "T_kw by CIR of shape β + ĉ_kw over time h (1 + m/τ)^(−κ), ĉ = (N/|S|) Σ_S n̄; z | φ by Gibbs sampling for documents in S",
        fields: StochasticSettings::<()>::FIELDS,
        info: INFO,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Noise of minibatches widens topics, and counts of words lag behind them by a step; both vanish with the step size",
        ),
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn default_steps(_target: &Target, _batch: usize) -> [f64; 3] {
        [0.5, 10.0, 0.33]
    }
}

impl Minibatches for Riemann {
    const STANDING: Standing = Standing::Comparison;
    type Own = ();
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "topics-sgrld",
        title: "SGRLD for topics",
        about: "The same with Riemannian Langevin steps: what SCIR is compared with, wrong near 0",
        cite: "Patterson, Teh, \"Stochastic gradient Riemannian Langevin dynamics on the probability simplex\", NeurIPS 2013",
        formula: "as topics-scir with T' = |T + h (β + ĉ − (1 + Σĉ/ΣT) T) + sqrt(2hT) ξ|",
        bias: Some(
            "Probabilities of rare words are held away from 0, and noise of minibatches widens topics",
        ),
        ..<CoxIngersollRoss as Minibatches>::DESCRIPTION
    };

    fn default_steps(_target: &Target, _batch: usize) -> [f64; 3] {
        [0.005, 1000.0, 0.6]
    }
}

impl Minibatches for Natural {
    type Own = ControlSettings;
    const STANDING: Standing = Standing::Comparison;
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "topics-sgld",
        title: "SGLD for topics",
        about: "The same with Langevin steps of logarithms, plain, with control variates at the end of the warm-up, or with those of SAGA",
        cite: "Baker, \"Large-scale Bayesian computation using stochastic gradient Markov chain Monte Carlo\", 2018, section 3.5.3",
        formula: "θ' = θ + h (β + ĉ − (1 + Σĉ/Σe^θ) e^θ) + sqrt(2h) ξ, φ = e^θ/Σe^θ, ĉ = Σ_d m_d + (N/|S|) Σ_S (n̄_d − m_d), m_d counts kept",
        fields: StochasticSettings::<ControlSettings>::FIELDS,
        bias: Some(
            "Steps of logarithms and noise of minibatches widen topics, less so with control variates; both vanish with the step size",
        ),
        bias_order: Some(1),
        ..<CoxIngersollRoss as Minibatches>::DESCRIPTION
    };

    fn default_steps(target: &Target, batch: usize) -> [f64; 3] {
        let corpus = target.model.as_ref().and_then(|model| model.corpus());
        // A word that stands for half of a topic's words has the curvature of a quarter of them.
        let curvature = corpus.map_or(1.0, |corpus| {
            corpus.num_words() as f64 / (4 * corpus.num_topics()) as f64
        });
        let noise = target.num_obs as f64 / batch as f64;
        let size = step_for_excess(EXCESS_PLAIN, noise) / curvature.max(1.0);
        [size, 1000.0, 0.0]
    }

    fn control(own: &ControlSettings) -> Control {
        own.control
    }
}

/// Settings in force.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// h.
    size: f64,
    decay: Decay,
    control: Control,
    sweeps: u64,
    minibatch: MinibatchSettings,
    steps_per_draw: u64,
}

/// Probabilities of words, as logarithms of weights.
#[derive(Clone, Debug)]
pub struct State {
    /// Logarithms of T, topic by topic (V each).
    log_t: Vec<f64>,
    /// Estimated counts, topic by topic (V each).
    counts: Vec<f64>,
    /// Estimated words of each topic since the last draw (K).
    seen: Vec<f64>,
    /// Documents of the minibatch.
    rows: Vec<u32>,
    /// What counts are compared with.
    kept: Option<KeptCounts>,
    /// Minibatches so far, and since the last draw.
    minibatches: u64,
    steps: u64,
    topics: Topics,
}

impl<P: Minibatches> Sampler for Stochastic<P> {
    type Settings = StochasticSettings<P::Own>;
    type Config = Config;
    type State = State;
    const NEEDS_DENSITY: bool = false;
    const ADVICE: Traits = Traits::ORDINARY.standing(P::STANDING);
    const ON_SIMPLEX: bool = true;
    const OUTPUTS: &'static [OutputSpec] = topics::OUTPUTS;
    const SPEC: SamplerSpec = P::DESCRIPTION;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        topics::suits(model)
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let minibatch = (settings.rows).settle_with(target, DOCUMENTS.min(target.num_obs));
        let [size, offset, exponent] = P::default_steps(target, minibatch.batch);
        let control = P::control(&settings.own);
        if let Some(corpus) = target.model.as_ref().and_then(|model| model.corpus()) {
            control.check(corpus)?;
        }
        Ok(Config {
            size: *settings.step_size.get_or_insert(size),
            decay: Decay::falling(
                *settings.decay_offset.get_or_insert(offset),
                *settings.decay_exponent.get_or_insert(exponent),
            ),
            control,
            sweeps: settings.sweeps,
            minibatch,
            steps_per_draw: *settings.steps_per_draw.get_or_insert(STEPS),
        })
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        config.minibatch.install(Estimator::Plain, oracle);
        let batch = oracle.batch();
        let corpus = topics::corpus(oracle)?;
        let state = State::new::<P>(corpus, u0.len(), batch, &mut streams.noise)?;
        Ok(State {
            kept: KeptCounts::of(config.control, corpus, batch),
            ..state
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.draw_rows(&mut streams.batch, &mut state.rows);
        let is_due = (state.kept.as_ref()).is_some_and(|kept| kept.is_due(at.phase));
        if is_due {
            oracle.datum_grads += oracle.num_obs() as u64;
        }
        let corpus = topics::corpus(oracle)?;
        let rng = &mut streams.noise;
        if let Some(kept) = state.kept.as_mut().filter(|_| is_due) {
            let Topics { phi, document, .. } = &mut state.topics;
            kept.fill(corpus, phi, document, config.sweeps, rng);
        }
        state.count(corpus, config.sweeps, rng);
        info[0] = config.size * config.decay.share(state.minibatches);
        state.minibatches += 1;
        state.move_topics::<P>(corpus, info[0], at.iter, rng)?;
        state.steps += 1;
        if state.steps == config.steps_per_draw {
            state.steps = 0;
            state.report(corpus, rng);
        }
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.topics.position
    }

    fn output(state: &State, k: usize) -> Output<'_> {
        state.topics.output(k)
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("log_weights", &mut state.log_t);
        visitor.slice("seen", &mut state.seen);
        visitor.counter("minibatches", &mut state.minibatches);
        visitor.counter("steps", &mut state.steps);
        if let Some(kept) = &mut state.kept {
            kept.visit(visitor);
        }
        state.topics.visit(visitor);
    }
}

impl State {
    /// Topics that are uniform on the simplex, so that they differ.
    fn new<P: Minibatches>(
        corpus: &Corpus,
        dim: usize,
        batch: usize,
        rng: &mut ChainRng,
    ) -> Result<Self, StepError> {
        let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
        let prior = corpus.beta() * words as f64;
        // Each topic has its share of all words.
        let sum = P::shape_of_sum(prior, corpus.num_words() as f64 / topics as f64);
        let mut state = Self {
            log_t: (0..topics * words).map(|_| log_gamma(rng, 1.0)).collect(),
            counts: vec![0.0; topics * words],
            seen: vec![0.0; topics],
            rows: Vec::with_capacity(batch),
            kept: None,
            minibatches: 0,
            steps: 0,
            topics: Topics::new(corpus, dim),
        };
        for log in &mut state.log_t {
            *log += (sum / words as f64).ln();
        }
        state.normalise(0)?;
        state.topics.report(corpus, rng);
        Ok(state)
    }

    /// Estimates counts of words in topics from the minibatch.
    fn count(&mut self, corpus: &Corpus, sweeps: u64, rng: &mut ChainRng) {
        let each = corpus.num_documents() as f64 / self.rows.len() as f64;
        self.counts.fill(0.0);
        let Topics { phi, document, .. } = &mut self.topics;
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.is_filled()) {
            let how = (sweeps, each);
            return kept.estimate(
                corpus,
                &self.rows,
                phi,
                document,
                how,
                rng,
                &mut self.counts,
            );
        }
        for &row in &self.rows {
            let how = (sweeps, each);
            topics::add_counts(
                corpus,
                row as usize,
                phi,
                document,
                how,
                rng,
                &mut self.counts,
            );
        }
    }

    /// Moves probabilities of words over time `h`, given the counts.
    fn move_topics<P: Minibatches>(
        &mut self,
        corpus: &Corpus,
        h: f64,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let (words, beta) = (corpus.vocabulary(), corpus.beta());
        let topics = self.log_t.chunks_exact_mut(words);
        let counts = self.counts.chunks_exact(words);
        for ((logs, counts), seen) in topics.zip(counts).zip(&mut self.seen) {
            P::step(logs, |w| [beta, counts[w]], h, 1.0, rng);
            *seen += counts.iter().sum::<f64>();
        }
        self.normalise(iter)
    }

    /// Makes probabilities of weights.
    fn normalise(&mut self, iter: u64) -> Result<(), StepError> {
        if self.topics.set_all(&self.log_t) {
            return Ok(());
        }
        Err(StepError::not_finite("the probability of a word", iter))
    }

    /// What is reported of the present draw.
    fn report(&mut self, corpus: &Corpus, rng: &mut ChainRng) {
        self.topics.share(&mut self.seen);
        self.topics.report(corpus, rng);
    }
}
