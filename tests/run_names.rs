//! Names of runs on the command line: where they stand, and who shows them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use support::{program, text};

mod support;

#[track_caller]
fn ergodic(folder: &Path, args: &[&str]) -> String {
    let done = program(folder, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn a_name_stands_in_the_folder_and_is_shown_instead_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (out, formula) in [("a", "churned ~ age + plan"), ("b", "churned ~ age")] {
        let fit = [
            "fit",
            "--data",
            "sample:churn",
            "--formula",
            formula,
            "--hold-out",
            "0.2",
            "--chains",
            "2",
            "--warmup",
            "80",
            "--draws",
            "60",
            "--sampler",
            "nuts",
            "--out",
            out,
        ];
        ergodic(folder, &fit);
    }
    let recipe = fs::read_to_string(folder.join("a/recipe.toml")).unwrap();
    assert_eq!(ergodic(folder, &["name", "a"]), "a has no name\n");
    let named = ergodic(
        folder,
        &["name", "a", "wide <priors>", "--note", "as in the paper"],
    );
    assert_eq!(named, "a: wide <priors>\nas in the paper\n");
    // One that is not given stays.
    ergodic(folder, &["name", "a", "--note", "as & in the paper"]);
    assert_eq!(
        ergodic(folder, &["name", "a"]),
        "a: wide <priors>\nas & in the paper\n"
    );
    assert_eq!(
        fs::read_to_string(folder.join("a/recipe.toml")).unwrap(),
        recipe
    );

    for args in [
        &["score", "a", "b"][..],
        &["score", "a"],
        &["loo", "a", "b"],
        &["compare-runs", "a", "b"],
        &["check", "a"],
    ] {
        let shown = ergodic(folder, args);
        assert!(shown.contains("wide <priors>"), "{args:?}: {shown}");
    }
    let json: Json = serde_json::from_str(&ergodic(folder, &["loo", "a", "b", "--json"])).unwrap();
    let names: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["run"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["wide <priors>", "b"]);
    let html = ergodic(folder, &["report", "a"]);
    assert!(html.contains("<h1>wide &lt;priors&gt;: "), "{html}");
    assert!(html.contains("<p>as &amp; in the paper</p>"));

    // A run with a name goes on, and one that is renamed to nothing is shown by its folder.
    ergodic(folder, &["resume", "a", "--draws", "10"]);
    assert_eq!(
        ergodic(folder, &["name", "a", ""]),
        "a has no name\nas & in the paper\n"
    );
    assert!(ergodic(folder, &["score", "a"]).starts_with("a: "));
    let refused = program(folder, ["name", "nowhere", "x"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
