//! Scores of rows held out, clusters of a mixture and topics of documents: a heading, a sentence, and a list, in which names stand
//! between backticks.

use super::Report;
use ergodic_base::numerals::plural;
use ergodic_base::numerals::{decimals_by_error, fixed, significant, thousands};
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_core::engine::found::topics::TopWords;

/// Clusters whose profiles are listed.
const MOST_CLUSTERS: usize = 20;

/// What a run found besides its parameters.
pub struct Found {
    /// Heading.
    pub title: &'static str,
    /// What the list is of.
    pub sentence: String,
    /// One line for each score, cluster or topic.
    pub lines: Vec<String>,
}

/// All that a report may have, in its order.
const ALL: [fn(&Report) -> Option<Found>; 3] = [scores, clusters, topics];

/// All that a report has.
pub fn of(report: &Report) -> Vec<Found> {
    ALL.iter().filter_map(|find| find(report)).collect()
}

fn scores(report: &Report) -> Option<Found> {
    report.held_out.as_ref().map(|scores| {
        let lines = scores.measures.iter().map(|(measure, score)| {
            let (name, about) = (measure.name(), measure.about());
            match score.se {
                Some(se) => format!(
                    "{name} {}, standard error {}: {about}",
                    fixed(score.value, decimals_by_error(score.se)),
                    significant(se, 2)
                ),
                None => format!("{name} {}: {about}", significant(score.value, 3)),
            }
        });
        Found {
            title: "Rows held out",
            sentence: format!(
                "How well {} are predicted that the model was not fitted to.",
                plural(scores.rows.len(), "row")
            ),
            lines: lines.chain(scores.remarks()).collect(),
        }
    })
}

fn clusters(report: &Report) -> Option<Found> {
    report.found.get::<Clusters>().map(|clusters| {
        let total = clusters.profiles.len();
        let profiles = clusters.profiles.iter().take(MOST_CLUSTERS);
        let lines = profiles.map(|profile| {
            let units = thousands(profile.size as u64);
            format!("{units} units: {}", profile.sentence())
        });
        let more = total.saturating_sub(MOST_CLUSTERS);
        let more = (more > 0).then(|| format!("and {} smaller ones", thousands(more as u64)));
        Found {
            title: "Clusters",
            sentence: format!(
                "The point partition has {} of {} units; its mean variation of information to {} draws is {:.3}.",
                plural(total, "cluster"),
                thousands(clusters.partition.len() as u64),
                thousands(clusters.draws as u64),
                clusters.distance
            ),
            lines: lines.chain(more).collect(),
        }
    })
}

fn topics(report: &Report) -> Option<Found> {
    report.found.get::<TopWords>().map(|topics| {
        let lines = topics.topics.iter().map(|topic| {
            format!(
                "{:.1} % of words: {}",
                100.0 * topic.share,
                topic.sentence()
            )
        });
        Found {
            title: "Topics",
            sentence: format!(
                "Shares and most probable words of topics at the newest draw of chain {}.",
                topics.chain
            ),
            lines: lines.collect(),
        }
    })
}
