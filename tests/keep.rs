//! Runs that keep draws of some quantities only, on the command line: what they keep, what they say of the rest, and what they refuse.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use outcomes::{done, refused};
use serde_json::Value as Json;

#[path = "support/outcomes.rs"]
mod outcomes;
mod support;

/// A run of the bundled table of schools into `out`, with further arguments.
fn fit(folder: &Path, out: &str, more: &[&str]) -> String {
    let mut args = vec!["fit", "--data", "sample:schools", "--out", out];
    args.extend(["--formula", "passed ~ hours + (1 | school)"]);
    args.extend(["--chains", "2", "--warmup", "150", "--draws", "200"]);
    args.extend(["--sampler", "nuts", "--seed", "5"]);
    args.extend(more);
    done(folder, &args)
}

/// Head and rows of a table.
fn table(folder: &Path, name: &str) -> (Vec<String>, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    let head = reader.headers().unwrap().iter().map(str::to_owned);
    let head: Vec<String> = head.collect();
    let rows = reader.records().map(Result::unwrap).collect();
    (head, rows)
}

fn json(folder: &Path, name: &str) -> Json {
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn some_draws_are_kept_and_of_the_others_means_and_standard_deviations() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fit(at, "all", &[]);
    let printed = fit(at, "some", &["--keep", "b[*],sd[*]"]);
    assert!(printed.contains("Draws not kept (run.keep)"), "{printed}");
    assert!(printed.contains("rhat_unsplit"), "{printed}");

    // Kept draws are those of the run that keeps all, to the last digit.
    let ((all, all_rows), (some, some_rows)) =
        (table(at, "all/draws.csv"), table(at, "some/draws.csv"));
    let is_quantity = |name: &&String| name.contains('[');
    let kept: Vec<&String> = some.iter().filter(is_quantity).collect();
    assert!(!kept.is_empty() && kept.len() < all.iter().filter(is_quantity).count());
    assert_eq!(all_rows.len(), some_rows.len());
    for name in &kept {
        assert!(name.starts_with("b[") || name.starts_with("sd["), "{name}");
        let column = |head: &[String]| head.iter().position(|it| it == *name).unwrap();
        let (a, b) = (column(&all), column(&some));
        assert!((all_rows.iter().zip(&some_rows)).all(|(all, some)| all[a] == some[b]));
    }

    // The others have a mean and a standard deviation in every summary.
    let (all, some) = (json(at, "all/summary.json"), json(at, "some/summary.json"));
    let rows = all["variables"].as_array().unwrap();
    let estimates = some["not_kept"].as_array().unwrap();
    assert_eq!(rows.len(), kept.len() + estimates.len());
    assert_eq!(all["not_kept"], Json::Null);
    for estimate in estimates {
        let same = |row: &&Json| row["variable"] == estimate["variable"];
        let row = rows.iter().find(same).unwrap();
        for key in ["mean", "sd"] {
            let (found, exact) = (estimate[key].as_f64().unwrap(), row[key].as_f64().unwrap());
            assert!(
                (found - exact).abs() <= 1e-12 * exact.abs().max(1.0),
                "{estimate} {row}"
            );
        }
        assert_eq!(estimate["draws"], 400);
        assert!(estimate["rhat_unsplit"].as_f64().unwrap() < 1.2);
    }
    let (head, rows) = table(at, "some/summary.csv");
    assert_eq!(head[12..], ["draws", "rhat_unsplit"]);
    let of = |name: &Json| {
        let name = name.as_str().unwrap();
        rows.iter().find(|row| &row[0] == name).unwrap()
    };
    let row = of(&estimates[0]["variable"]);
    let (rhat, ess) = (
        head.iter().position(|it| it == "rhat").unwrap(),
        head.iter().position(|it| it == "ess_bulk").unwrap(),
    );
    assert_eq!([&row[rhat], &row[ess], &row[12]], ["NA", "NA", "400"]);
    let names = json(at, "some/run.json")["not_kept"].clone();
    assert_eq!(names.as_array().unwrap().len(), estimates.len());
    let recipe = fs::read_to_string(at.join("some/recipe.toml")).unwrap();
    assert!(recipe.contains("keep = \"b[*],sd[*]\""), "{recipe}");

    // Replayed and continued, it keeps the same, and estimates are those of a longer run.
    done(at, &["fit", "some", "--out", "again"]);
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(read("some/draws.csv"), read("again/draws.csv"));
    done(at, &["resume", "again", "--draws", "50"]);
    fit(at, "long", &["--keep", "b[*],sd[*]", "--draws", "250"]);
    let not_kept = |run: &str| json(at, &format!("{run}/summary.json"))["not_kept"].clone();
    assert_eq!(not_kept("again"), not_kept("long"));
    assert_eq!(read("again/draws.csv"), read("long/draws.csv"));
    let shown = done(at, &["summarise", "again"]);
    assert!(shown.contains("Draws not kept (run.keep)"), "{shown}");
    let report = done(at, &["report", "again", "--format", "markdown"]);
    assert!(report.contains("Draws not kept"), "{report}");
}

#[test]
fn what_needs_other_draws_is_refused_in_a_sentence_that_names_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fit(at, "some", &["--keep", "b[*]"]);
    fit(at, "all", &[]);
    for command in [
        &["predict", "some"][..],
        &["check", "some"],
        &["loo", "some"],
        &["effects", "some"],
        &["summarise", "some", "--zero-variance", "linear"],
        &["summarise", "some", "--bayes-factor"],
        &["fit", "all", "--centre-from", "some", "--out", "other"],
    ] {
        let said = refused(at, command);
        assert!(
            said.contains("did not keep") && said.contains("`run.keep`"),
            "{command:?}: {said}"
        );
    }
    let said = refused(at, &["fit", "all", "--set", "run.start=some", "--out", "c"]);
    assert!(said.contains("it kept no draws of"), "{said}");
    let said = refused(at, &["fit", "all", "--keep", "b[*], tau", "--out", "d"]);
    assert!(
        said.contains("Setting `run.keep` names `tau`, which the model does not have"),
        "{said}"
    );
}

/// Functions of the report block alone, or parameters alone: predictions take what they need.
#[test]
fn models_as_text_keep_reported_functions_or_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models/churn.model");
    fs::copy(gallery, at.join("churn.model")).unwrap();
    let fit = |out: &str, keep: &str| {
        let args = ["fit", "--data", "sample:churn", "--model", "churn.model"];
        let more = ["--chains", "2", "--draws", "60", "--warmup", "60"];
        let last = ["--sampler", "nuts", "--keep", keep, "--out", out];
        done(at, &[&args[..], &more, &last].concat())
    };
    fit("functions", "odds");
    let (head, _) = table(at, "functions/draws.csv");
    assert!(head.contains(&"odds".to_owned()), "{head:?}");
    assert!(!head.contains(&"a".to_owned()), "{head:?}");
    let said = refused(at, &["predict", "functions"]);
    assert!(said.contains("`run.keep`"), "{said}");
    fit("all", "all");
    fit("parameters", "a, s, b[*], w[*]");
    let (head, _) = table(at, "parameters/draws.csv");
    assert!(!head.contains(&"odds".to_owned()), "{head:?}");
    for run in ["parameters", "all"] {
        done(at, &["predict", run, "--out", &format!("{run}.csv")]);
    }
    let predicted = |run: &str| fs::read_to_string(at.join(format!("{run}.csv"))).unwrap();
    assert_eq!(predicted("parameters"), predicted("all"));
}
