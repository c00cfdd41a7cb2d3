//! What commands do with the results of runs that have ended: where they write, and what they say of runs that cannot be trusted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{program, text};

mod support;

fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// Standard output and standard error of a command that must succeed.
#[track_caller]
fn done(folder: &Path, args: &[&str]) -> [String; 2] {
    let output = ergodic(folder, args);
    let [out, err] = [text(&output.stdout), text(&output.stderr)];
    assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
    [out, err]
}

/// The sentence of a command that must be refused.
#[track_caller]
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = ergodic(folder, args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    said
}

/// A table `t.csv` of sixty rows with a yes-or-no outcome.
fn table(folder: &Path) -> String {
    let rows = (0..60).map(|i| format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
    let text = format!("y,x\n{}", rows.collect::<String>());
    fs::write(folder.join("t.csv"), &text).unwrap();
    text
}

/// A run of `y ~ x` over `t.csv` into `out`, with further arguments.
fn fit(folder: &Path, out: &str, more: &[&str]) {
    let mut args = vec!["fit", "--data", "t.csv", "--formula", "y ~ x", "--out", out];
    args.extend(["--chains", "2", "--warmup", "100", "--seed", "7"]);
    args.extend(more);
    done(folder, &args);
}

#[test]
fn no_command_writes_over_what_it_reads_or_over_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = table(folder);
    fit(folder, "a", &["--draws", "100"]);
    let draws = fs::read_to_string(folder.join("a/draws.csv")).unwrap();
    fs::write(folder.join("new.csv"), &rows).unwrap();
    for args in [
        &["predict", "a", "--out", "t.csv"][..],
        &["predict", "a", "--data", "new.csv", "--out", "new.csv"],
        &["effects", "a", "--out", "a/../t.csv"],
        &["check", "a", "--out", "a/draws.csv"],
        &["score", "a", "--data", "new.csv", "--out", "./new.csv"],
        &["score", "a", "--data", "new.csv", "--plot", "t.csv"],
        &[
            "export",
            "a",
            "--format",
            "starts-csv",
            "--out",
            "a/recipe.toml",
        ],
        &["plot", "a", "--what", "trace", "--out", "a/draws.csv"],
        &[
            "plot", "new.csv", "--what", "trace", "--with", "a", "--out", "t.csv",
        ],
        &["report", "a", "--out", "t.csv"],
        &["compare-runs", "a", "a", "--out", "t.csv"],
        &[
            "compare",
            "--data",
            "t.csv",
            "--formula",
            "y ~ x",
            "--densities",
            "t.csv",
        ],
    ] {
        let said = refused(folder, args);
        assert!(said.contains("name another one"), "{args:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.join("t.csv")).unwrap(), rows);
    assert_eq!(fs::read_to_string(folder.join("new.csv")).unwrap(), rows);
    assert_eq!(
        fs::read_to_string(folder.join("a/draws.csv")).unwrap(),
        draws
    );
    done(folder, &["predict", "a", "--out", "p.csv"]);
    done(folder, &["report", "a", "--out", "a/report.html"]);
}

#[test]
fn several_runs_are_summarised_one_by_one_and_several_files_as_chains_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    fit(folder, "a", &["--draws", "60"]);
    fit(
        folder,
        "b",
        &["--draws", "60", "--set", "priors.b=normal(0, 0.01)"],
    );
    let alone = ["a", "b"].map(|run| done(folder, &["summarise", run])[0].clone());
    let [both, _] = done(folder, &["summarise", "a", "b"]);
    assert_eq!(both, format!("a\n{}\nb\n{}", alone[0], alone[1]));
    let [json, _] = done(folder, &["summarise", "a", "b", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json[0]["folder"], &json[1]["folder"]),
        (&"a".into(), &"b".into())
    );
    assert_ne!(json[0]["variables"], json[1]["variables"]);

    let files = ["summarise", "a/draws.csv", "b/draws.csv"];
    let [pooled, said] = done(folder, &files);
    assert_eq!(pooled.matches("b[x]").count(), 1, "{pooled}");
    assert!(
        said.contains("The 2 files are summarised as chains of one run"),
        "{said}"
    );
}

#[test]
fn a_verdict_that_is_not_good_goes_with_everything_that_is_computed_from_the_draws() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    fit(folder, "a", &["--draws", "20"]);
    let [summary, _] = done(folder, &["summarise", "a"]);
    assert!(summary.starts_with("Too early: "), "{summary}");
    let sentence = summary.lines().next().unwrap();
    for args in [
        &["effects", "a"][..],
        &["predict", "a"],
        &["check", "a"],
        &["score", "a", "--data", "t.csv"],
        &["loo", "a"],
        &["loo", "a", "--subsample", "20"],
    ] {
        let [_, said] = done(folder, args);
        assert!(said.contains(sentence), "{args:?}: {said}");
        let [json, _] = done(folder, &[args, &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let json = match args[0] {
            "score" => &json[0],
            "loo" => &json["runs"][0],
            _ => &json,
        };
        assert_eq!(json["verdict"], "too_early", "{args:?}");
        assert_eq!(json["verdict_sentence"], sentence, "{args:?}");
    }
    let [sampled, _] = done(folder, &["loo", "a", "--subsample", "20"]);
    assert!(sampled.contains("so neither are these scores"), "{sampled}");
    let [compared, _] = done(folder, &["compare-runs", "a", "a", "--json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    for run in compared["run_verdicts"].as_array().unwrap() {
        assert_eq!(run["verdict"], "too_early");
        assert_eq!(run["verdict_sentence"], sentence);
    }
    let picture = ["plot", "a", "--what", "pareto-k", "--out", "k.svg"];
    let [_, said] = done(folder, &picture);
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains("so neither are these scores"), "{said}");
    let [markdown, _] = done(folder, &["report", "a", "--format", "markdown"]);
    assert!(markdown.starts_with("**Too early** · "), "{markdown}");
    let [latex, _] = done(folder, &["report", "a", "--format", "latex"]);
    assert!(latex.contains("\n\\textbf{Too early}: "), "{latex}");
}

#[test]
fn what_a_command_cannot_do_is_refused_instead_of_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    fit(folder, "a", &["--draws", "20"]);
    let rope = "write the smaller of two numbers first";
    for args in [
        &["summarise", "a", "--rope", "0.1,-0.1"][..],
        &["export", "a", "--format", "summary-csv", "--rope", "1,0"],
        &["effects", "a", "--rope", "1,0"],
    ] {
        let said = refused(folder, args);
        assert!(said.contains(rope), "{args:?}: {said}");
    }
    let said = refused(folder, &["loo", "a", "--draws", "5"]);
    assert!(
        said.contains("write a whole number of at least 100"),
        "{said}"
    );
    let said = refused(folder, &["fit", "a", "--formula", "y ~ x"]);
    assert!(said.contains("A recipe has its own model"), "{said}");
    for command in ["loo", "check"] {
        let said = refused(folder, &[command, "a/draws.csv"]);
        assert!(said.contains("A run is named by its folder"), "{said}");
    }
    let [_, said] = done(folder, &["check", "a"]);
    assert!(
        said.contains("LOO-PIT of 60 rows: largest distance"),
        "{said}"
    );
    let with = [
        "plot", "a", "--what", "trace", "--with", "a", "--out", "p.svg",
    ];
    let said = refused(folder, &with);
    assert!(
        said.contains("it shows one run alone; leave --with out"),
        "{said}"
    );
    assert!(!folder.join("p.svg").exists());
}

#[test]
fn draws_answer_for_no_other_data_and_no_other_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = table(folder);
    fit(folder, "a", &["--draws", "50"]);
    let recipe = fs::read_to_string(folder.join("a/recipe.toml")).unwrap();
    let commands = ["predict", "loo", "check", "effects", "score"];
    // One cell is another; with and without the fingerprint in the recipe.
    fs::write(folder.join("t.csv"), rows.replacen("1,", "0,", 1)).unwrap();
    let lines = recipe
        .lines()
        .filter(|line| !line.starts_with("fingerprint"));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    assert_ne!(recipe, without);
    for recipe in [&recipe, &without] {
        fs::write(folder.join("a/recipe.toml"), recipe).unwrap();
        for command in commands {
            let said = refused(folder, &[command, "a"]);
            assert!(said.contains("put the old data back"), "{command}: {said}");
        }
    }
    // The new data can be fitted as the sentence says.
    fs::write(folder.join("a/recipe.toml"), &recipe).unwrap();
    let again = ["fit", "a", "--set", "data.fingerprint=none", "--out", "b"];
    done(folder, &again);
    done(folder, &["predict", "b"]);
    // The table is back, the model is another.
    fs::write(folder.join("t.csv"), &rows).unwrap();
    let changed = recipe.replace("y ~ x", "y ~ log1p(x)");
    fs::write(folder.join("a/recipe.toml"), changed).unwrap();
    for command in &commands[..4] {
        let said = refused(folder, &[command, "a"]);
        assert!(
            said.contains(
                "The run has draws of `b[x]`, which the model of its recipe does not have"
            ),
            "{command}: {said}"
        );
    }
}

#[test]
fn what_would_do_nothing_is_refused_and_what_is_cut_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    table(folder);
    fs::write(folder.join("more.csv"), "x\n1\n").unwrap();
    let said = refused(
        folder,
        &["bench", "two-modes", "--quick", "--data", "more.csv"],
    );
    assert!(said.contains("makes its own data"), "{said}");
    let compare = [
        "compare",
        "t.csv",
        "--formula",
        "y ~ x",
        "--reference",
        "quadratic",
    ];
    let said = refused(
        folder,
        &[&compare[..], &["--zero-variance", "linear"]].concat(),
    );
    assert!(said.contains("--zero-variance does nothing here"), "{said}");
    let samplers = ["--samplers", "gibbs-mixed,dp-gibbs", "--draws", "20"];
    let said = refused(folder, &[&compare[..], &samplers].concat());
    assert!(
        said.contains("None of these samplers could be run"),
        "{said}"
    );
    fit(folder, "a", &["--draws", "20"]);
    let [shown, said] = done(folder, &["name", "a", &"n".repeat(50)]);
    assert!(
        shown.ends_with(&format!(": {}\n", "n".repeat(40))),
        "{shown}"
    );
    assert!(said.contains("at most 40 characters"), "{said}");
}
