use super::*;
use crate::testing::topics::corpus;

const PRIORS: [f64; 2] = [0.4, 0.5];

/// p(word | shown, φ) by the sum over topics of the words shown.
fn enumerated(corpus: &Corpus, phi: &[f64], document: usize, word: usize) -> f64 {
    let (topics, alpha) = (corpus.num_topics, corpus.alpha);
    let shown: Vec<usize> = (corpus.completions[document].shown.iter())
        .flat_map(|entry| vec![entry.item as usize; entry.count as usize])
        .collect();
    let (mut total, mut joint) = (0.0, 0.0);
    for code in 0..topics.pow(shown.len() as u32) {
        let (mut rest, mut weight, mut counts) = (code, 1.0, vec![0.0; topics]);
        for &shown in &shown {
            let k = rest % topics;
            rest /= topics;
            weight *= (alpha + counts[k]) * phi[shown * topics + k];
            counts[k] += 1.0;
        }
        let sum = shown.len() as f64 + alpha * topics as f64;
        let next = (0..topics).map(|k| (alpha + counts[k]) / sum * phi[word * topics + k]);
        total += weight;
        joint += weight * next.sum::<f64>();
    }
    joint / total
}

#[test]
fn completion_has_the_probabilities_of_an_enumeration() {
    // Words 1, 2, 3 in topics 1 and 2, 3.
    let phi = [0.7, 0.1, 0.1, 0.2, 0.3, 0.1, 0.1, 0.6, 0.8];
    let documents: [&[u32]; 5] = [&[0, 1], &[1, 2], &[0, 0, 1, 2, 0, 1, 1], &[2, 0, 1], &[1]];
    let corpus = corpus(&documents, 3, 3, PRIORS, 3);
    assert_eq!((corpus.num_documents(), corpus.num_held_out()), (2, 3));
    assert_eq!(corpus.num_words(), 4);
    // Of seven words four are scored, of three two, and the only one.
    assert_eq!(corpus.scored().sum::<f64>(), 7.0);
    let mut gibbs = corpus.document_gibbs();
    let mut rng = stream(3, 0, Purpose::Noise);
    let count = corpus.scored().count();
    let mut found = vec![Vec::new(); count];
    for _ in 0..3000 {
        let mut logs = vec![0.0; count];
        corpus.complete(&phi, &mut gibbs, &mut rng, &mut logs);
        for (found, log) in found.iter_mut().zip(&logs) {
            found.push(log.exp());
        }
    }
    let words = (corpus.completions.iter().enumerate())
        .flat_map(|(d, it)| it.scored.iter().map(move |entry| (d, entry.item as usize)));
    for ((document, word), found) in words.zip(found) {
        let exact = enumerated(&corpus, &phi, document, word);
        let n = found.len() as f64;
        let mean = found.iter().sum::<f64>() / n;
        let squares: f64 = found.iter().map(|value| (value - mean).powi(2)).sum();
        let mcse = (squares / (n - 1.0) / n).sqrt();
        assert!(
            (mean - exact).abs() < 4.0 * mcse + 1e-12,
            "{document} {word}: {mean} against {exact}, mcse {mcse}"
        );
        assert!(mcse < 0.01 * exact, "{mcse} {exact}");
    }
    // Nothing is shown of the last document: the mean of the prior, 1/3 of each topic.
    assert!((enumerated(&corpus, &phi, 2, 1) - 0.2).abs() < 1e-12);
}

#[test]
fn words_that_are_equally_likely_have_their_number_as_perplexity() {
    let documents: [&[u32]; 4] = [&[0, 1, 2], &[3, 4, 4], &[0, 4, 3, 3, 1], &[2, 2]];
    let corpus = corpus(&documents, 5, 2, PRIORS, 2);
    let mut logs = vec![0.0; corpus.scored().count()];
    let mut rng = stream(4, 0, Purpose::Noise);
    let phi = [0.2; 10];
    corpus.complete(&phi, &mut corpus.document_gibbs(), &mut rng, &mut logs);
    assert!((corpus.perplexity(&logs) - 5.0).abs() < 1e-12);
    let mut reported = [0.0; 3];
    corpus.report(&phi, &logs, &mut reported);
    // All words in effect, and topics that do not differ.
    let expected = [5.0, 5.0, 0.0];
    for (found, expected) in reported.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{reported:?}");
    }
    // Topics that share no word, of two words and of three.
    let apart = [
        0.5,
        0.0,
        0.5,
        0.0,
        0.0,
        1.0 / 3.0,
        0.0,
        1.0 / 3.0,
        0.0,
        1.0 / 3.0,
    ];
    let [breadth, divergence] = spread(&apart, 2);
    assert!((breadth - 2.5).abs() < 1e-12);
    assert!((divergence - 2.0_f64.ln()).abs() < 1e-12);
}

#[test]
fn halves_of_documents_make_them_up() {
    let documents: [&[u32]; 3] = [&[0, 1], &[1, 1], &[0, 0, 0, 3, 2, 2, 1, 3]];
    let corpus = corpus(&documents, 4, 2, PRIORS, 1);
    let one = &corpus.completions[0];
    let mut counts = [0; 4];
    for entry in one.shown.iter().chain(&one.scored) {
        counts[entry.item as usize] += entry.count;
    }
    assert_eq!(counts, [3, 1, 2, 2]);
    let length = |words: &[Entry]| words.iter().map(|entry| entry.count).sum::<u32>();
    assert_eq!((length(&one.shown), length(&one.scored)), (4, 4));
}
