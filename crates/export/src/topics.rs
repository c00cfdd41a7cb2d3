//! Topics on disk: their most probable words, as a table.

use std::io::{self, Write};
use std::sync::Arc;

use super::Results;
use super::number::shortest;
use super::spreadsheet::inert;
use ergodic_core::engine::found::Found;
use ergodic_core::engine::found::topics::TopWords;

/// The words of topics as a table.
pub const WORDS: &str = "topics.csv";

/// The topics; otherwise what the run lacks.
pub(super) fn top_words(found: &Found) -> Result<Arc<TopWords>, &'static str> {
    let topics = found.get();
    topics.ok_or("has no topics, which only template `topics` finds")
}

/// One row per word of each topic: topic from 1, that with the most words first, its share of words, rank, word, probability.
pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let topics = top_words(&results.found).map_err(io::Error::other)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::draws::DrawList;
    use ergodic_core::engine::found::topics::Topic;
    use ergodic_core::engine::found::{self, Told as _};

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
            found: Found(vec![Arc::new(topics.clone())]),
            ..Results::new(Vec::new(), vec![DrawList::new(0)], empty, 0.0)
        };
        let mut bytes = Vec::new();
        write(&results, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "topic,share,rank,word,probability\n1,0.75,1,oak,0.5\n1,0.75,2,'=1+1,0.125\n"
        );
        let mut json = Vec::new();
        topics.write(&mut json).unwrap();
        let (_, kind) = found::files()
            .find(|(file, _)| *file == "topics.json")
            .unwrap();
        let read = |json: &[u8]| Found((kind.read)(&mut &*json).into_iter().collect()).get();
        assert_eq!(read(&json), Some(Arc::new(topics)));
        assert_eq!(read(b"{}"), None);
        let without = Results {
            found: Found::default(),
            ..results
        };
        let error = write(&without, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("template `topics`"));
    }
}
