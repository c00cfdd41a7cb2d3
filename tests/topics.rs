//! Topics of documents on the command line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use support::{program, text};

mod support;

/// Documents about trees and documents about fish, and some about both; every row is a word and its count.
fn documents() -> String {
    let trees = ["oak", "elm", "ash", "fir"];
    let fish = ["cod", "eel", "ray", "tuna"];
    let mut csv = "document,word,count\n".to_owned();
    for document in 0..40 {
        for k in 0..4 {
            let count = 1 + (document * 7 + k * 3) % 4;
            if document % 4 != 1 {
                csv.push_str(&format!("d{document},{},{count}\n", trees[k]));
            }
            if document % 4 != 0 {
                csv.push_str(&format!("d{document},{},{count}\n", fish[k]));
            }
        }
    }
    csv
}

fn ergodic(folder: &Path, line: &[&str]) -> String {
    let done = program(folder, line).output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{line:?}: {said}");
    assert!(!said.contains("panicked"), "{line:?}: {said}");
    text(&done.stdout)
}

#[test]
fn topics_are_found_summarised_exported_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("words.csv"), documents()).unwrap();
    for sampler in ["topics-gibbs", "topics-scir"] {
        let out = format!("of-{sampler}");
        #[rustfmt::skip]
        ergodic(folder, &[
            "fit", "--data", "words.csv", "--template", "topics", "--formula", "~ word + count + (1 | document)",
            "--set", "model.topics=2", "--set", "model.held_out=0.2", "--sampler", sampler,
            "--chains", "2", "--warmup", "60", "--draws", "60", "--out", &out,
        ]);
        let said = ergodic(folder, &["summarise", &out]);
        assert!(
            said.contains("perplexity") && said.contains("Topics of 32 documents"),
            "{said}"
        );
        // Each topic has its four words before all others.
        let csv = ergodic(folder, &["export", &out, "--format", "top-words"]);
        let of_topic = |topic: &str| -> Vec<&str> {
            let rows = csv.lines().filter(|line| line.starts_with(topic)).take(4);
            let mut words: Vec<&str> = rows.map(|line| line.split(',').nth(3).unwrap()).collect();
            words.sort_unstable();
            words
        };
        let mut found = [of_topic("1,"), of_topic("2,")];
        found.sort_unstable();
        let expected = [["ash", "elm", "fir", "oak"], ["cod", "eel", "ray", "tuna"]];
        assert_eq!(
            found.map(|words| words.join(" ")),
            expected.map(|words| words.join(" "))
        );
        let again = format!("{out}-again");
        ergodic(
            folder,
            &["fit", &format!("{out}/recipe.toml"), "--out", &again],
        );
        for file in ["draws.csv", "topics.csv", "topics.json"] {
            let read = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
            assert_eq!(read(&out), read(&again), "{sampler}: {file}");
        }
        let report = ergodic(folder, &["report", &out, "--out", "report.html"]);
        drop(report);
        let html = fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(html.contains("<h3>Topics</h3>"), "{sampler}");
        // Damaged, they are told and left out.
        fs::write(folder.join(&out).join("topics.json"), "{}").unwrap();
        let done = program(folder, ["summarise", &out]).output().unwrap();
        let (said, notes) = (text(&done.stdout), text(&done.stderr));
        assert!(notes.contains("; the topics are left out"), "{notes}");
        assert!(!said.contains("Topics of 32 documents"), "{said}");
    }
    let done = program(
        folder,
        ["bench", "topics", "--quick", "--data", "words.csv"],
    )
    .output();
    let done = done.unwrap();
    let (table, notes) = (text(&done.stdout), text(&done.stderr));
    assert!(
        table.contains("topics-sgrld") && table.contains("perplexity_mean"),
        "{table}{notes}"
    );
    assert!(
        notes.contains("Claim: With the source's prior for each,"),
        "{notes}"
    );
}
