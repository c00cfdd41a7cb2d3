use std::collections::BTreeMap;

use rand::RngExt as _;
use rayon::prelude::*;
use statrs::function::gamma::ln_gamma;

use crate::models::Corpus;
use crate::samplers::testing::{Run, estimate, exact_oracle};
use crate::samplers::topics::topics_control::{Control, KeptCounts, excess_of_minibatches};
use crate::samplers::{Output, StateVisitor, TOPIC_SHARES, TOPICS, WORDS_HELD_OUT, find};
use crate::testing::topics::corpus;
use crate::testing::{thirty_documents, two_topics};
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};

/// Reads the topics of words from a state.
#[derive(Default)]
struct Assignments(Vec<u32>);

impl StateVisitor for Assignments {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        if name == "z" {
            self.0 = values.iter().map(|z| *z as u32).collect();
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// Log p(z, w), shares of topics and probabilities of words integrated out.
fn log_joint(corpus: &Corpus, z: &[u32]) -> f64 {
    let (topics, words) = (corpus.num_topics(), corpus.vocabulary());
    let (alpha, beta) = (corpus.alpha(), corpus.beta());
    let mut of_word = vec![0.0; topics * words];
    let (mut log, mut place) = (0.0, 0);
    for document in 0..corpus.num_documents() {
        let mut own = vec![0.0; topics];
        for entry in corpus.document(document) {
            for _ in 0..entry.count {
                own[z[place] as usize] += 1.0;
                of_word[z[place] as usize * words + entry.item as usize] += 1.0;
                place += 1;
            }
        }
        log += own.iter().map(|n| ln_gamma(alpha + n)).sum::<f64>();
    }
    for own in of_word.chunks_exact(words) {
        log += own.iter().map(|n| ln_gamma(beta + n)).sum::<f64>();
        log -= ln_gamma(beta * words as f64 + own.iter().sum::<f64>());
    }
    log
}

/// With two topics: the same whichever of them is called the first.
fn unlabelled(z: &[u32]) -> u64 {
    let bits = z.iter().map(|&topic| u64::from(topic != z[0]));
    bits.enumerate().map(|(place, bit)| bit << place).sum()
}

/// Griffiths and Steyvers (2004): assignments are visited as often as their posterior says, by enumeration of all of them.
#[test]
fn gibbs_visits_assignments_as_often_as_their_posterior_says() {
    let documents: [&[u32]; 3] = [&[0, 0, 1], &[1, 2, 2], &[0, 2]];
    let corpus = corpus(&documents, 3, 2, [0.6, 0.4], 0);
    let words = corpus.num_words() as usize;
    let mut posterior: BTreeMap<u64, f64> = BTreeMap::new();
    for code in 0..1_u32 << words {
        let z: Vec<u32> = (0..words).map(|place| code >> place & 1).collect();
        *posterior.entry(unlabelled(&z)).or_default() += log_joint(&corpus, &z).exp();
    }
    let total: f64 = posterior.values().sum();
    let chains: Vec<Vec<u64>> = (1..=2)
        .map(|seed| {
            let run = Run::new("topics-gibbs").seed(seed);
            let mut session = run.start(exact_oracle(corpus.clone().into_model(), None));
            (0..40_000)
                .map(|_| {
                    session.draw().unwrap();
                    let mut z = Assignments::default();
                    session.kernel.visit(&mut z);
                    unlabelled(&z.0)
                })
                .collect()
        })
        .collect();
    let check = |wanted: &[u64], p: f64| {
        let series: Vec<Vec<f64>> = (chains.iter())
            .map(|chain| {
                let seen = chain.iter().map(|z| wanted.contains(z));
                seen.map(|seen| f64::from(u8::from(seen))).collect()
            })
            .collect();
        let (found, mcse) = estimate(&series);
        assert!(
            (found - p).abs() < 4.5 * mcse,
            "{wanted:?}: {found} against {p}, mcse {mcse}"
        );
        assert!(mcse < 0.1 * p, "{wanted:?}: mcse {mcse} of {p}");
    };
    let (common, rare): (Vec<_>, Vec<_>) = posterior.iter().partition(|(_, p)| **p > 0.01 * total);
    assert!(common.len() > 15 && rare.len() > 15);
    for (z, p) in common {
        check(&[*z], p / total);
    }
    let (rare, p): (Vec<u64>, Vec<f64>) = rare.into_iter().unzip();
    check(&rare, p.iter().sum::<f64>() / total);
}

/// Draws of topics after warm-up: probabilities of words in the topic of the first words, and in the other.
fn matched(run: &Run, corpus: &Corpus, warmup: u64, draws: usize) -> Vec<Vec<f64>> {
    let (words, topics) = (corpus.vocabulary(), corpus.num_topics());
    let mut session = run.start(exact_oracle(corpus.clone().into_model(), None));
    for _ in 0..warmup {
        session.warm_up(warmup).unwrap();
    }
    let mut series = vec![Vec::with_capacity(draws); words * topics];
    for _ in 0..draws {
        session.draw().unwrap();
        let Some(Output::Numbers(phi)) = session.kernel.output_called(TOPICS) else {
            panic!("no topics")
        };
        let first: f64 = (0..words / 2).map(|w| phi[w * topics]).sum();
        let turned = usize::from(first < 0.5);
        for (w, word) in phi.chunks_exact(topics).enumerate() {
            for k in 0..topics {
                series[w * topics + k].push(word[(k + turned) % topics]);
            }
        }
    }
    series
}

const SEPARATED: [f64; 2] = [0.3, 0.2];
const VOCABULARY: u32 = 8;

fn separated() -> Corpus {
    let documents = two_topics(16, 24, VOCABULARY);
    let documents: Vec<&[u32]> = documents.iter().map(Vec::as_slice).collect();
    corpus(&documents, VOCABULARY as usize, 2, SEPARATED, 0)
}

fn stochastic(id: &'static str, step: f64, batch: i64) -> Run {
    Run::new(id)
        .set("step_size", Value::Real(step))
        .set("decay_exponent", Value::Real(0.0))
        .set("sweeps", Value::Int(12))
        .set("batch", Value::Int(batch))
}

/// All documents at every step and a small time: SCIR's long-run means of probabilities, and of logarithms of those of words that
/// a topic has not got, are those of collapsed Gibbs sampling. SGRLD's logarithms are not: it holds them away from minus infinity.
#[test]
#[ignore = "long: run by .ci/long"]
fn long_runs_of_scir_agree_with_gibbs_and_those_of_sgrld_do_not_near_zero() {
    let corpus = separated();
    let chains = |run: &Run, warmup, draws| -> Vec<Vec<Vec<f64>>> {
        (1..=3)
            .map(|seed| matched(&run.clone().seed(seed), &corpus, warmup, draws))
            .collect()
    };
    let means = |chains: &[Vec<Vec<f64>>], f: fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..chains[0].len())
            .map(|place| {
                let series: Vec<Vec<f64>> = (chains.iter())
                    .map(|chain| chain[place].iter().map(|&p| f(p)).collect())
                    .collect();
                estimate(&series)
            })
            .collect()
    };
    let all = corpus.num_documents() as i64;
    let gibbs = chains(&Run::new("topics-gibbs"), 200, 3000);
    let scir = chains(&stochastic("topics-scir", 0.05, all), 200, 3000);
    let sgrld = chains(&stochastic("topics-sgrld", 0.005, all), 400, 3000);
    for (what, f) in [("p", (|p| p) as fn(f64) -> f64), ("log p", f64::ln)] {
        let (exact, found) = (means(&gibbs, f), means(&scir, f));
        for (place, ((a, mcse_a), (b, mcse_b))) in exact.iter().zip(&found).enumerate() {
            let mcse = mcse_a.hypot(*mcse_b);
            assert!(
                (a - b).abs() < 4.0 * mcse,
                "{what} {place}: {b} against {a}, mcse {mcse}"
            );
        }
    }
    // The last word of either half stands in no document.
    let (exact, held) = (means(&gibbs, f64::ln), means(&sgrld, f64::ln));
    for word in [3_usize, 7] {
        for k in 0..2 {
            let place = word * 2 + k;
            let mcse = exact[place].1.hypot(held[place].1);
            assert!(
                held[place].0 - exact[place].0 > 6.0 * mcse,
                "{place}: {:?} {:?}",
                held[place],
                exact[place]
            );
        }
    }
}

/// What noise of minibatches does goes to 0 with the step: means stay, within what is known of them.
#[test]
fn minibatches_of_few_documents_leave_means_of_topics_as_they_are() {
    let corpus = separated();
    let series = |run: &Run| -> Vec<Vec<Vec<f64>>> {
        (1..=3)
            .map(|seed| matched(&run.clone().seed(seed), &corpus, 500, 4000))
            .collect()
    };
    let gibbs = series(&Run::new("topics-gibbs"));
    let few = series(&stochastic("topics-scir", 0.02, 4));
    for place in 0..gibbs[0].len() {
        let of = |chains: &[Vec<Vec<f64>>]| {
            let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain[place].clone()).collect();
            estimate(&series)
        };
        let ((a, mcse_a), (b, mcse_b)) = (of(&gibbs), of(&few));
        let mcse = mcse_a.hypot(mcse_b);
        assert!(
            (a - b).abs() < 4.0 * mcse,
            "{place}: {b} against {a}, mcse {mcse}"
        );
    }
}

/// Langevin steps of logarithms with small steps: means of probabilities are those of collapsed Gibbs sampling, with whatever control
/// variates, where they are at least `least`, in chains a `share`th of the long ones. With β = 1 logarithms have tails that chains of that
/// length cross many times, shorter ones too seldom for small probabilities.
fn means_are_those_of_gibbs(share: usize, least: f64) {
    let documents = two_topics(16, 24, VOCABULARY);
    let documents: Vec<&[u32]> = documents.iter().map(Vec::as_slice).collect();
    let corpus = corpus(&documents, VOCABULARY as usize, 2, [0.3, 1.0], 0);
    let series = |run: &Run, draws: usize| -> Vec<Vec<Vec<f64>>> {
        (1..=4_u64)
            .into_par_iter()
            .map(|seed| matched(&run.clone().seed(seed), &corpus, 1000, draws))
            .collect()
    };
    let of = |chains: &[Vec<Vec<f64>>], place: usize| {
        let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain[place].clone()).collect();
        estimate(&series)
    };
    let gibbs = series(&Run::new("topics-gibbs"), 8000 / share);
    for control in ["none", "centre", "table"] {
        let run = stochastic("topics-sgld", 5e-4, 4)
            .set("control", Value::Text(control.to_owned()))
            .set("steps_per_draw", Value::Int(30));
        let found = series(&run, 4000 / share);
        for place in 0..gibbs[0].len() {
            let ((a, mcse_a), (b, mcse_b)) = (of(&gibbs, place), of(&found, place));
            let mcse = mcse_a.hypot(mcse_b);
            assert!(
                a < least || (a - b).abs() < 4.0 * mcse,
                "{control}, {place}: {b} against {a}, mcse {mcse}"
            );
        }
    }
}

#[test]
fn control_variates_leave_means_of_topics_as_they_are() {
    means_are_those_of_gibbs(6, 0.05);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn control_variates_leave_means_of_topics_as_they_are_in_long_chains() {
    means_are_those_of_gibbs(1, 0.0);
}

/// Mean counts of a document's words in topics given φ, shares integrated out, by enumeration of all assignments; topic by topic.
fn expected_counts(corpus: &Corpus, document: usize, phi: &[f64], out: &mut [f64]) {
    let (topics, vocabulary) = (corpus.num_topics(), corpus.vocabulary());
    let words: Vec<usize> = (corpus.document(document).iter())
        .flat_map(|entry| vec![entry.item as usize; entry.count as usize])
        .collect();
    let all: Vec<(f64, Vec<usize>)> = (0..topics.pow(words.len() as u32))
        .map(|code| {
            let z: Vec<usize> = (0..words.len() as u32)
                .map(|place| code / topics.pow(place) % topics)
                .collect();
            let mut own = vec![0.0; topics];
            let mut weight = 1.0;
            for (&word, &k) in words.iter().zip(&z) {
                weight *= phi[word * topics + k] * (corpus.alpha() + own[k]);
                own[k] += 1.0;
            }
            (weight, z)
        })
        .collect();
    let total: f64 = all.iter().map(|(weight, _)| weight).sum();
    for (weight, z) in all {
        for (&word, k) in words.iter().zip(z) {
            out[k * vocabulary + word] += weight / total;
        }
    }
}

/// Whatever counts are kept, as wrong as may be, estimates have the mean of exact counts: the sum over all documents and the
/// differences have the same ones. Fresh counts at the centre in the differences would leave the error of the sum in every step.
#[test]
fn errors_of_kept_counts_are_noise_and_no_bias() {
    let documents: [&[u32]; 4] = [&[0, 0, 1], &[1, 2, 2], &[0, 2], &[1, 1, 0, 2]];
    let corpus = corpus(&documents, 3, 2, [0.6, 0.4], 0);
    let phi = [0.6, 0.2, 0.3, 0.3, 0.1, 0.5];
    let other_topics = [0.1, 0.5, 0.1, 0.3, 0.8, 0.2];
    let mut exact = vec![0.0; 6];
    for document in 0..4 {
        expected_counts(&corpus, document, &phi, &mut exact);
    }
    for control in [Control::Centre, Control::Table] {
        let mut rng = stream(17, 0, Purpose::Noise);
        let mut gibbs = corpus.document_gibbs();
        let mut kept = KeptCounts::of(control, &corpus, 2).unwrap();
        // Two sweeps at other topics: counts that are far off.
        kept.fill(&corpus, &other_topics, &mut gibbs, 2, &mut rng);
        let count = 20_000;
        let (mut sums, mut squares) = (vec![0.0; 6], vec![0.0; 6]);
        for _ in 0..count {
            let rows = [(); 2].map(|()| rng.random_range(0..4_u32));
            let mut out = vec![0.0; 6];
            kept.estimate(
                &corpus,
                &rows,
                &phi,
                &mut gibbs,
                (60, 2.0),
                &mut rng,
                &mut out,
            );
            for (j, value) in out.iter().enumerate() {
                sums[j] += value;
                squares[j] += value * value;
            }
        }
        let n = f64::from(count);
        for j in 0..6 {
            let mean = sums[j] / n;
            let error = ((squares[j] / n - mean * mean) / n).sqrt();
            assert!(
                (mean - exact[j]).abs() < 4.5 * error && error < 0.05,
                "{control:?} {j}: {mean} against {}, {error}",
                exact[j]
            );
        }
    }
}

/// Where every word has one topic alone, counts are known: minibatches of two of four documents have the variance of draws with
/// replacement, and control variates leave nothing of it. Where words are shared they leave the noise of Gibbs sampling.
#[test]
fn noise_of_minibatches_is_that_of_documents_drawn() {
    let documents: [&[u32]; 4] = [&[0, 0, 1], &[2, 3], &[0, 2], &[1, 1, 3, 3]];
    let corpus = corpus(&documents, 4, 2, [0.6, 0.4], 0);
    let excess = |phi: &[f64]| {
        let mut rng = stream(5, 0, Purpose::Diagnostics);
        excess_of_minibatches(&corpus, phi, (40, 2), &mut rng)
    };
    let [plain, centred] = excess(&[0.5, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.5]);
    // Σ (c/11) (N/n) (Σ n² − c²/N)/2 over words with c = 3, 3, 2, 3 in all and Σ n² = 5, 5, 2, 5.
    assert!(
        (plain - (3.0 * 3.0 * 2.75 + 2.0) / 11.0).abs() < 1e-12,
        "{plain}"
    );
    assert!(centred.abs() < 1e-12, "{centred}");
    let [plain, centred] = excess(&[0.4, 0.1, 0.3, 0.2, 0.2, 0.3, 0.1, 0.4]);
    assert!(0.0 < centred && centred < 0.5 * plain, "{plain} {centred}");
}

#[test]
fn what_is_made_beside_draws_fits_the_corpus() {
    let model = thirty_documents();
    let corpus = model.corpus().unwrap();
    for id in ["topics-gibbs", "topics-scir", "topics-sgrld", "topics-sgld"] {
        let entry = find(id).unwrap();
        assert!(
            [TOPICS, TOPIC_SHARES, WORDS_HELD_OUT]
                .iter()
                .all(|name| entry.makes(name))
        );
        let mut session = Run::new(id).start(exact_oracle(std::sync::Arc::clone(&model), None));
        for _ in 0..60 {
            session.draw().unwrap();
        }
        let numbers = |name: &str| match session.kernel.output_called(name) {
            Some(Output::Numbers(numbers)) => numbers.to_vec(),
            other => panic!("{name}: {other:?}"),
        };
        let (phi, shares) = (numbers(TOPICS), numbers(TOPIC_SHARES));
        let topics = shares.len();
        assert_eq!((topics, phi.len()), (3, 3 * corpus.vocabulary()));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{id}");
        for k in 0..topics {
            let total: f64 = phi.iter().skip(k).step_by(topics).sum();
            assert!((total - 1.0).abs() < 1e-9, "{id}");
        }
        // What was learnt predicts better than words that are equally likely.
        let perplexity = corpus.perplexity(&numbers(WORDS_HELD_OUT));
        assert_eq!(session.kernel.position()[0], perplexity);
        assert!(
            perplexity < corpus.vocabulary() as f64,
            "{id}: {perplexity}"
        );
    }
}
