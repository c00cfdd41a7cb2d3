//! Where chains start, as a user meets it: given, recorded, replayed, drawn.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{program, text};

mod support;

/// A short fit of the bundled data into `out`, with further arguments; what it says on standard error, if it fails.
fn fit(folder: &Path, out: &str, more: &[&str]) -> Result<(), String> {
    let mut args = vec![
        "fit",
        "--data",
        "sample:churn",
        "--formula",
        "churned ~ age + plan",
    ];
    args.extend([
        "--out", out, "--chains", "2", "--warmup", "60", "--draws", "40",
    ]);
    args.extend(["--seed", "7"]);
    args.extend(more);
    ended(&program(folder, args).output().unwrap())
}

fn ended(output: &Output) -> Result<(), String> {
    let told = text(&output.stderr);
    assert!(!told.contains("panicked"), "{told}");
    (output.status.code() == Some(0)).then_some(()).ok_or(told)
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

/// The numbers of each row of a table of draws, without the three columns of the index.
fn rows(table: &str) -> Vec<Vec<f64>> {
    let lines = table.lines().skip(1);
    lines
        .map(|line| {
            line.split(',')
                .skip(3)
                .map(|cell| cell.parse().unwrap())
                .collect()
        })
        .collect()
}

#[test]
fn given_values_are_where_chains_start_and_a_recipe_replays_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(
        folder,
        "a",
        &["--start", "b[age]=0.25, intercept=-1; b=0.125"],
    )
    .unwrap();
    let starts = read(folder, "a/starts.csv");
    assert!(
        starts.starts_with(".chain,.iteration,.draw,b[Intercept],b[age],"),
        "{starts}"
    );
    let at = rows(&starts);
    assert_eq!(at.len(), 2);
    let close = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{starts}");
    close(at[0][0], -1.0);
    close(at[0][1], 0.25);
    at[1][1..].iter().for_each(|value| close(*value, 0.125));
    let again = program(folder, ["fit", "a/recipe.toml", "--out", "b"])
        .output()
        .unwrap();
    ended(&again).unwrap();
    for file in ["draws.csv", "starts.csv", "recipe.toml"] {
        assert_eq!(
            read(folder, &format!("a/{file}")),
            read(folder, &format!("b/{file}")),
            "{file}"
        );
    }
    // Nothing is said where nothing is chosen, so that recipes of earlier versions and of this one are one.
    fit(folder, "usual", &[]).unwrap();
    fit(
        folder,
        "said",
        &["--start", "mode", "--set", "run.start_spread=2"],
    )
    .unwrap();
    for file in ["draws.csv", "starts.csv", "recipe.toml"] {
        let [usual, said] = ["usual", "said"].map(|run| read(folder, &format!("{run}/{file}")));
        assert_eq!(usual, said, "{file}");
    }
    let usual = read(folder, "usual/recipe.toml");
    assert!(!usual.contains("\nstart =") && !usual.contains("\nstart_spread"));
    // The export of a run and its picture tell where it started.
    let args = ["plot", "a", "--what", "trace", "--out", "trace.csv"];
    ended(&program(folder, args).output().unwrap()).unwrap();
    let drawn = read(folder, "trace.csv");
    let starts: Vec<&str> = drawn
        .lines()
        .filter(|line| line.contains(",triangle,"))
        .collect();
    assert_eq!(starts.len(), 2 * at[0].len(), "{drawn}");
}

#[test]
fn a_run_goes_on_from_the_last_draws_of_another_even_when_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder, "first", &[]).unwrap();
    fit(folder, "second", &["--start", "first"]).unwrap();
    let draws = rows(&read(folder, "first/draws.csv"));
    let starts = rows(&read(folder, "second/starts.csv"));
    for (chain, start) in starts.iter().enumerate() {
        for (start, last) in start.iter().zip(&draws[40 * chain + 39]) {
            assert!((start - last).abs() < 1e-9, "chain {chain}: {start} {last}");
        }
    }
    fs::remove_dir_all(folder.join("first")).unwrap();
    let again = program(folder, ["fit", "second", "--out", "third"])
        .output()
        .unwrap();
    ended(&again).unwrap();
    assert_eq!(
        read(folder, "second/draws.csv"),
        read(folder, "third/draws.csv")
    );
    // A change of where to start forgets those draws.
    let args = ["fit", "second", "--start", "prior", "--out", "fourth"];
    ended(&program(folder, args).output().unwrap()).unwrap();
    assert!(!read(folder, "fourth/recipe.toml").contains("start_draws"));
    let continued = program(folder, ["resume", "second", "--draws", "10"])
        .output()
        .unwrap();
    ended(&continued).unwrap();
    assert_eq!(rows(&read(folder, "second/starts.csv")), starts);
}

#[test]
fn chains_that_cannot_start_there_are_refused_before_they_begin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder, "other", &["--formula", "churned ~ age"]).unwrap();
    let wrong = [
        ("b[weight]=1", "There is no parameter `b[weight]`"),
        (
            "b[age]=one",
            "`b[age]=one` in `run.start` is not NAME=NUMBER",
        ),
        (
            "b[age]=1; b[age]=2; b[age]=3",
            "one set of values for all chains",
        ),
        ("nowhere", "nowhere"),
        ("other", "it has no `b[plan=plus]`"),
    ];
    for (start, told) in wrong {
        let refused = fit(folder, "x", &["--start", start]).unwrap_err();
        assert!(
            refused.contains("error: ") && refused.contains(told),
            "{start}: {refused}"
        );
        assert!(!folder.join("x/draws.csv").exists());
    }
    let flat = ["--start", "prior", "--set", "priors.b=flat"];
    let refused = fit(folder, "x", &flat).unwrap_err();
    assert!(refused.contains("draws of the prior"), "{refused}");
}
