//! Topics on disk: their most probable words, as a table and as panels show them.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::Results;
use super::number::shortest;
use super::spreadsheet::inert;
use ergodic_core::engine::topics::TopWords;

/// The words of topics as a table.
pub const WORDS: &str = "topics.csv";
/// The words of topics as panels read them.
pub const TOPICS: &str = "topics.json";

/// The topics; otherwise what the run lacks.
pub(super) fn top_words(results: &Results) -> Result<&TopWords, &'static str> {
    let topics = results.topics.as_deref();
    topics.ok_or("has no topics, which only template `topics` finds")
}

/// One row per word of each topic: topic from 1, that with the most words first, its share of words, rank, word, probability.
pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let topics = top_words(results).map_err(io::Error::other)?;
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["topic", "share", "rank", "word", "probability"])?;
    for (k, topic) in topics.topics.iter().enumerate() {
        for (rank, (word, probability)) in topic.words.iter().enumerate() {
            let [k, rank] = [k, rank].map(|place| (place + 1).to_string());
            let [share, probability] = [topic.share, *probability].map(shortest);
            writer.write_record([&k, &share, &rank, &*inert(word), &probability])?;
        }
    }
    writer.flush()
}

/// The topics of a run folder.
pub fn read(input: impl Read) -> Option<Arc<TopWords>> {
    serde_json::from_reader(input).ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::draws::DrawList;
    use ergodic_core::engine::topics::Topic;

    #[test]
    fn topics_read_back_as_they_were_written() {
        let topics = TopWords {
            chain: 1,
            documents: 7,
            topics: vec![Topic {
                share: 0.75,
                words: vec![("oak".to_owned(), 0.5), ("=1+1".to_owned(), 0.125)],
            }],
        };
        let empty = (Vec::new(), vec![DrawList::new(0)]);
        let results = Results {
            topics: Some(Arc::new(topics.clone())),
            ..Results::new(Vec::new(), vec![DrawList::new(0)], empty, 0.0)
        };
        let mut bytes = Vec::new();
        write(&results, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "topic,share,rank,word,probability\n1,0.75,1,oak,0.5\n1,0.75,2,'=1+1,0.125\n"
        );
        let json = serde_json::to_vec(&topics).unwrap();
        assert_eq!(*read(json.as_slice()).unwrap(), topics);
        assert_eq!(read(b"{}".as_slice()), None);
        let without = Results {
            topics: None,
            ..results
        };
        let error = write(&without, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("template `topics`"));
    }
}
