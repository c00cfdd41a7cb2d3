//! Small collections of documents for tests.

use super::mixtures::counts;
use crate::models::Corpus;

/// A corpus of documents given by their words, out of `vocabulary`.
pub fn corpus(
    documents: &[&[u32]],
    vocabulary: usize,
    topics: usize,
    [alpha, beta]: [f64; 2],
    held_out: usize,
) -> Corpus {
    let words = counts(&[vocabulary], beta, documents);
    Corpus::new(documents.len(), words, topics, alpha, held_out)
}
