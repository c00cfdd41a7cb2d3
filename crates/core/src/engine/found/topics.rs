//! What a run says about topics: their most probable words.
//!
//! Numbers of topics mean nothing and differ between chains, so that probabilities are not averaged over these: the table is that of
//! the newest draw of the first chain that has one.

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::engine::{RunView, Sampling};
use crate::models::Corpus;
use crate::samplers::{TOPIC_SHARES, TOPICS};

/// Words of a topic that are kept.
const MOST_WORDS: usize = 20;
/// Words of a topic in a sentence.
const FEW_WORDS: usize = 10;

/// Topics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopWords {
    /// The chain that they are of, from 1.
    pub chain: usize,
    /// Documents that they were found in.
    pub documents: usize,
    /// Topics, that with the most words first.
    pub topics: Vec<Topic>,
}

/// A topic by its most probable words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Share of all words.
    pub share: f64,
    /// Words and their probabilities, the most probable first.
    pub words: Vec<(String, f64)>,
}

impl Topic {
    /// The first words, with commas.
    pub fn sentence(&self) -> String {
        let words = self.words.iter().take(FEW_WORDS);
        let words: Vec<&str> = words.map(|(word, _probability)| word.as_str()).collect();
        words.join(", ")
    }
}

impl Summary for TopWords {
    const OUTPUT: &'static str = TOPICS;
    const FILE: Option<&'static str> = Some("topics.json");

    fn of(job: &dyn Sampling, view: &RunView) -> Option<Self> {
        let corpus = job.model().corpus()?;
        let mut chains = view.chains.iter().enumerate();
        chains.find_map(|(index, chain)| {
            let phi = chain.numbers_called(TOPICS);
            let shares = chain.numbers_called(TOPIC_SHARES);
            (!phi.is_empty()).then(|| Self::new(corpus, index + 1, phi, shares))
        })
    }
}

impl TopWords {
    /// The topics with probabilities `phi` (V×K) and `shares` (K).
    fn new(corpus: &Corpus, chain: usize, phi: &[f64], shares: &[f64]) -> Self {
        let names = corpus.vocabulary_words();
        let mut topics: Vec<Topic> = (shares.iter().enumerate())
            .map(|(k, &share)| {
                let own = phi.iter().skip(k).step_by(shares.len());
                let mut words: Vec<(usize, f64)> = own.copied().enumerate().collect();
                let before = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1);
                let most = MOST_WORDS.min(words.len());
                if most < words.len() {
                    words.select_nth_unstable_by(most, before);
                    words.truncate(most);
                }
                words.sort_by(|a, b| before(a, b).then(a.0.cmp(&b.0)));
                let named = |(w, p): (usize, f64)| (names[w].clone(), p);
                Topic {
                    share,
                    words: words.into_iter().map(named).collect(),
                }
            })
            .collect();
        topics.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self {
            chain,
            documents: corpus.num_documents(),
            topics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::topics::corpus;

    #[test]
    fn words_stand_by_their_probability_and_topics_by_their_share() {
        let corpus = corpus(&[&[0, 1, 2], &[2, 2]], 3, 2, [0.5, 0.5], 0);
        let phi = [0.2, 0.3, 0.5, 0.1, 0.3, 0.6];
        let found = TopWords::new(&corpus, 2, &phi, &[0.25, 0.75]);
        assert_eq!((found.chain, found.documents), (2, 2));
        let words = |k: usize| -> Vec<(&str, f64)> {
            let words = found.topics[k].words.iter();
            words.map(|(word, p)| (word.as_str(), *p)).collect()
        };
        assert_eq!(words(0), [("3", 0.6), ("1", 0.3), ("2", 0.1)]);
        assert_eq!(words(1), [("2", 0.5), ("3", 0.3), ("1", 0.2)]);
        assert_eq!(found.topics[0].sentence(), "3, 1, 2");
    }
}
