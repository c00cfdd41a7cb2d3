//! Documents whose topics are known: what samplers can be compared on without a collection of texts.

use rand_distr::{Distribution as _, Poisson};

use super::simulate::Drawn;
use ergodic_base::ChainRng;

/// What documents are made like.
#[derive(Clone, Copy, Debug)]
pub struct SyntheticShape {
    /// K, at least 1.
    pub topics: usize,
    /// V, at least 1: words that there are to choose from.
    pub vocabulary: usize,
    /// Documents.
    pub documents: usize,
    /// Mean number of words of a document; the number is a Poisson variable, at least 2.
    pub length: f64,
    /// Parameter of the Dirichlet distribution of a document's shares of topics.
    pub alpha: f64,
    /// Parameter of the Dirichlet distribution of a topic's words: far below 1 topics are sparse.
    pub beta: f64,
}

/// Documents and the topics that they were drawn from.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Probability of each word in each topic (V×K), K of a word beside each other.
    pub phi: Vec<f64>,
    /// Words of each document in the order in which they were drawn.
    pub documents: Vec<Vec<u32>>,
}

impl Synthetic {
    /// Draws topics, and documents of them.
    pub fn draw(shape: SyntheticShape, rng: &mut ChainRng) -> Self {
        let drawn = Drawn::draw(
            (shape.topics, shape.alpha),
            (shape.vocabulary, shape.beta),
            shape.documents,
            rng,
        );
        let documents = (0..shape.documents)
            .map(|document| {
                let length = Poisson::new(shape.length).map_or(0.0, |poisson| poisson.sample(rng));
                (0..(length as usize).max(2))
                    .map(|_| drawn.word(document, rng) as u32)
                    .collect()
            })
            .collect();
        Self {
            phi: drawn.phi,
            documents,
        }
    }
}
