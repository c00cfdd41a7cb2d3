//! Run folders that an earlier version has written are still summarised, continued and replayed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use support::{program, text};

mod support;

const SAVED: [&str; 5] = ["logistic", "sgld-cv", "hierarchical", "mixed", "mixture"];

fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// The output of a command that must succeed.
#[track_caller]
fn done(folder: &Path, args: &[&str]) -> String {
    let output = ergodic(folder, args);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A copy of an earlier version's folder, to be written to.
fn copy(name: &str, into: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/reference/earlier_runs")
        .join(name);
    let to = into.join(name);
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to
}

fn draws(folder: &Path) -> String {
    fs::read_to_string(folder.join("draws.csv")).unwrap()
}

#[test]
fn they_are_summarised_with_the_numbers_that_they_were_saved_with() {
    let folder = tempfile::tempdir().unwrap();
    for name in SAVED {
        let run = copy(name, folder.path());
        let shown = done(folder.path(), &["summarise", name, "--json"]);
        let saved = fs::read_to_string(run.join("summary.json")).unwrap();
        let (shown, saved): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(&shown).unwrap(),
            serde_json::from_str(&saved).unwrap(),
        );
        assert_same(&shown["variables"], &saved["variables"], name);
    }
}

/// Fails unless everything is equal but the last digits of effective sample sizes and Monte Carlo errors, which the order of additions
/// in a Fourier transform decides.
fn assert_same(shown: &serde_json::Value, saved: &serde_json::Value, name: &str) {
    let (shown, saved) = (shown.as_array().unwrap(), saved.as_array().unwrap());
    assert_eq!(shown.len(), saved.len(), "{name}");
    for (shown, saved) in shown.iter().zip(saved) {
        let (shown, saved) = (shown.as_object().unwrap(), saved.as_object().unwrap());
        assert!(shown.keys().eq(saved.keys()), "{name}");
        for (key, shown) in shown {
            let saved = &saved[key];
            match (shown.as_f64(), saved.as_f64()) {
                (Some(shown), Some(saved))
                    if key.starts_with("ess_") || key.starts_with("mcse_") =>
                {
                    assert!(
                        (shown - saved).abs() <= 1e-12 * saved.abs(),
                        "{name} {key}: {shown}, saved {saved}"
                    );
                }
                _ => assert_eq!(shown, saved, "{name} {key}"),
            }
        }
    }
}

#[test]
fn they_go_on_after_their_last_draw() {
    let folder = tempfile::tempdir().unwrap();
    for name in SAVED {
        let run = copy(name, folder.path());
        let before = draws(&run);
        done(folder.path(), &["resume", name, "--draws", "20"]);
        let after = draws(&run);
        // The rows of the first chain stand first in both.
        let rows = |text: &str| {
            let first = text.lines().skip(1).filter(|row| row.starts_with("1,"));
            first.map(str::to_owned).collect::<Vec<_>>()
        };
        let (before, after) = (rows(&before), rows(&after));
        assert_eq!(after.len(), before.len() + 20, "{name}");
        assert_eq!(after[..before.len()], before, "{name}");
    }
}

/// Numbers of draws.csv, row by row.
fn numbers(draws: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    draws.lines().skip(1).map(row).collect()
}

/// Versions differ in the last digits of what they compute, so that draws part: slowly where a step forgets where it came from, and
/// within the warm-up where trajectories are long and curved, as those of a hierarchical model, whose differences grow tenfold every
/// two iterations. Chains of a mixed model start about a mode that is known up to the tolerance of its search, and slices keep that
/// difference. Means of these agree as those of two seeds do.
#[test]
fn they_replay_to_the_same_numbers() {
    /// First draws of each chain that are compared, and how near they are.
    const COMPARED: f64 = 20.0;
    const NEAR: f64 = 1e-6;
    const SOON_PART: [&str; 2] = ["hierarchical", "mixed"];
    /// Monte Carlo standard errors, which are rough themselves with so few draws.
    const ERRORS: f64 = 6.0;
    let folder = tempfile::tempdir().unwrap();
    for name in SAVED {
        let run = copy(name, folder.path());
        let recipe = run.join("recipe.toml");
        let again = format!("{name}-again");
        done(
            folder.path(),
            &["fit", recipe.to_str().unwrap(), "--out", &again],
        );
        let (found, saved) = (draws(&folder.path().join(&again)), draws(&run));
        assert_eq!(found.lines().next(), saved.lines().next(), "{name}");
        let (found, saved) = (numbers(&found), numbers(&saved));
        assert_eq!(found.len(), saved.len(), "{name}");
        for (found, saved) in found.iter().zip(&saved) {
            // Chain, iteration, draw.
            assert_eq!(found[..3], saved[..3], "{name}");
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= NEAR * b.abs().max(1.0);
            let near = found[3..].iter().zip(&saved[3..]).all(near);
            let is_late = saved[1] > COMPARED || SOON_PART.contains(&name);
            assert!(near || is_late, "{name}: {found:?}, {saved:?}");
        }
    }
    let means = |name: &str| -> Vec<[f64; 2]> {
        let shown = done(folder.path(), &["summarise", name, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let rows = shown["variables"].as_array().unwrap().iter();
        rows.map(|row| ["mean", "mcse_mean"].map(|key| row[key].as_f64().unwrap()))
            .collect()
    };
    for name in SOON_PART {
        let again = means(&format!("{name}-again"));
        for ([found, one], [saved, other]) in again.iter().zip(means(name)) {
            let error = one.hypot(other);
            assert!(
                (found - saved).abs() < ERRORS * error,
                "{name}: {found} {saved}"
            );
        }
    }
    // In the words of today.
    let recipe = fs::read_to_string(folder.path().join("hierarchical-again/recipe.toml")).unwrap();
    assert!(
        recipe.contains("parametrisation = \"non-centred\""),
        "{recipe}"
    );
}

#[test]
fn an_interrupted_one_keeps_its_draws_and_goes_on() {
    /// As many as the version that wrote the journal recovers.
    const RECOVERED: usize = 1776;
    let folder = tempfile::tempdir().unwrap();
    let run = copy("interrupted", folder.path());
    done(folder.path(), &["resume", "interrupted", "--draws", "5"]);
    let draws = draws(&run);
    assert_eq!(draws.lines().skip(1).count(), RECOVERED + 5);
    assert!(draws.starts_with(".chain,.iteration,.draw,b[Intercept],b[load]\n"));
}
