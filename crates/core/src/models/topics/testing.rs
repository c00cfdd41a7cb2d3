//! Small collections of documents for tests.

use std::sync::Arc;

use super::reading::Documents;
use super::{Corpus, Synthetic, SyntheticShape, TopicsOfDocuments, params};
use crate::models::Model;
use crate::models::dp_mixture::testing::{counts, names};
use ergodic_base::rng::{Purpose, stream};

/// A corpus of documents given by their words, out of `vocabulary`.
pub fn corpus(
    documents: &[&[u32]],
    vocabulary: usize,
    topics: usize,
    [alpha, beta]: [f64; 2],
    held_out: usize,
) -> Corpus {
    let words = counts(&[vocabulary], beta, documents);
    Corpus::new(names(documents.len()), words, topics, alpha, held_out)
}

/// The model of a corpus.
pub fn model_of(corpus: Corpus) -> Arc<dyn Model> {
    Arc::new(TopicsOfDocuments {
        params: params(&corpus),
        documents: Documents {
            corpus,
            of_row: Vec::new(),
            word: "word".to_owned(),
            counts: None,
        },
    })
}

/// Documents of two topics that share no word: the first half of `vocabulary` words, and the other; every topic leaves its last word out.
pub fn two_topics(documents: usize, length: usize, vocabulary: u32) -> Vec<Vec<u32>> {
    let half = vocabulary / 2;
    (0..documents)
        .map(|document| {
            // Of four documents two are of one topic, two mix.
            let of_first = [length, 0, length / 4, 3 * length / 4][document % 4];
            (0..length)
                .map(|i| {
                    let word = ((i * 5 + document * 3) as u32) % (half - 1);
                    if i < of_first { word } else { half + word }
                })
                .collect()
        })
        .collect()
}

/// Thirty documents, of which some are held out, of three topics.
pub fn medium() -> Arc<dyn Model> {
    let shape = SyntheticShape {
        topics: 3,
        vocabulary: 12,
        documents: 30,
        length: 15.0,
        alpha: 0.3,
        beta: 0.2,
    };
    let drawn = Synthetic::draw(shape, &mut stream(9, 0, Purpose::Data));
    let documents: Vec<&[u32]> = drawn.documents.iter().map(Vec::as_slice).collect();
    model_of(corpus(&documents, shape.vocabulary, 3, [0.3, 0.2], 5))
}
