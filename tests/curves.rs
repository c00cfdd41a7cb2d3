//! Smooth curves on the command line, from the table to the answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

fn waves() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference/smooths/waves.csv")
}

fn ergodic(folder: &Path, args: &[&str]) -> String {
    let done = program(folder, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ergodic(folder, args)).unwrap()
}

/// A curve beside groups: the posterior along x is near mgcv's REML fit, which a likelihood fit is.
#[test]
fn a_curve_is_fitted_summarised_and_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(waves(), at.join("waves.csv")).unwrap();
    let formula = "y ~ z + s(x) + (1 | g)";
    let data = ["--data", "waves.csv", "--formula", formula];
    let with = |first: &[&'static str], more: &[&'static str]| -> Vec<&'static str> {
        [first, &data, more].concat()
    };
    let run = [
        "--chains", "4", "--draws", "800", "--seed", "5", "--out", "run",
    ];
    ergodic(at, &with(&["fit"], &run));
    let recipe = std::fs::read_to_string(at.join("run/recipe.toml")).unwrap();
    assert!(recipe.contains("template = \"mixed\""), "{recipe}");
    let summary = ergodic(at, &["summarise", "run"]);
    for words in [
        "b[s(x)]",
        "sd[s(x)]",
        "What bends smooth curves",
        "bend[s(x),8]",
    ] {
        assert!(summary.contains(words), "{words}: {summary}");
    }

    let fit = json(at, &with(&["estimate"], &["--json"]));
    let curve = &fit["curves"][0];
    assert_eq!(
        (&curve["name"], &curve["along"]),
        (&"s(x)".into(), &"x".into())
    );
    assert_eq!(curve["bends"].as_array().unwrap().len(), 8);
    let shown = ergodic(at, &with(&["estimate"], &[]));
    assert!(shown.contains("around its line"), "{shown}");
    // Beside a run they have the same names.
    let compared = ergodic(at, &["estimate", "--compare-with", "run"]);
    assert!(compared.contains("sd[s(x)]"), "{compared}");

    // Of the same rows and of rows beyond them, the posterior mean and the estimate.
    std::fs::write(
        at.join("new.csv"),
        "x,z,g\n12,0,g1\n35,0,g1\n48,0,g2\n75,0,g2\n",
    )
    .unwrap();
    let predicted = json(at, &["predict", "run", "--data", "new.csv", "--json"]);
    let plugged = json(
        at,
        &with(&["estimate"], &["--predict", "new.csv", "--json"]),
    );
    for i in 0..4 {
        let mean = predicted["rows"][i]["mean"].as_f64().unwrap();
        let there = plugged["predictions"][i]["fitted"].as_f64().unwrap();
        // Standard errors of the curve are 0.2, beyond the data 1.
        let most = if i == 3 { 1.0 } else { 0.25 };
        assert!((mean - there).abs() < most, "{i}: {mean} {there}");
    }

    let along = json(at, &["effects", "run", "--along", "x", "--json"]);
    let points = along["along"][0]["curves"][0]["points"].as_array().unwrap();
    let means: Vec<f64> = points
        .iter()
        .map(|it| it["mean"].as_f64().unwrap())
        .collect();
    let turns = means
        .windows(3)
        .filter(|it| (it[1] - it[0]) * (it[2] - it[1]) < 0.0)
        .count();
    assert!((2..=6).contains(&turns), "{means:?}");
}

#[test]
fn curves_are_translated_and_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(waves(), at.join("waves.csv")).unwrap();
    let show = |target: &'static str| {
        ergodic(
            at,
            &[
                "show",
                "--data",
                "waves.csv",
                "--formula",
                "y ~ z + s(x, k = 7)",
                "--as",
                target,
            ],
        )
    };
    let stan = show("stan");
    for line in [
        "matrix[N, 5] c_1;",
        "vector[5] curve_1;",
        "c_1 * (tau_curve_1 * curve_1)",
    ] {
        assert!(stan.contains(line), "{line}: {stan}");
    }
    assert!(
        show("brms").contains("y ~ z + s(x, k = 7)"),
        "{}",
        show("brms")
    );
    for (formula, template, part) in [
        ("y ~ s(x)", "linear", "has no smooth curves"),
        ("y ~ s(g)", "mixed", "needs numbers, but `g` holds text"),
        ("y ~ s(x, k = 2)", "mixed", "from 3 to 100"),
        ("y ~ s(x):z", "mixed", "has no interactions here"),
    ] {
        let args = [
            "fit",
            "--data",
            "waves.csv",
            "--formula",
            formula,
            "--template",
            template,
        ];
        let done = program(at, args).output().unwrap();
        assert!(!done.status.success());
        let said = text(&done.stderr);
        // The sentence, and for what cannot be read the formula with a mark under the place.
        assert!(
            said.contains(part) && said.trim().lines().count() <= 3,
            "{said}"
        );
    }
}
