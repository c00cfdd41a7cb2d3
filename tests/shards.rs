//! Divide and conquer on the command line: recipes, replay, the bias check, refusals.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{program, text};

mod support;

fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// A fit of the bundled customers by divide and conquer.
fn fit(folder: &Path, out: &str, more: &[&str]) -> Output {
    let mut args = vec!["fit", "--data", "sample:churn", "--out", out];
    args.extend(["--formula", "churned ~ age + plan", "--sampler"]);
    args.extend(["divide-and-conquer", "--seed", "7"]);
    args.extend(more);
    ergodic(folder, &args)
}

#[test]
fn a_run_records_every_setting_replays_and_is_not_certified() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let settings = [
        "--set",
        "sampler.shards=4",
        "--set",
        "sampler.combine=weierstrass",
        "--draws",
        "300",
    ];
    let first = fit(folder, "a", &settings);
    let told = text(&first.stderr);
    assert_eq!(first.status.code(), Some(0), "{told}");
    assert!(told.contains("Divide and conquer"), "{told}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let recipe = read("a/recipe.toml");
    for line in [
        "shards = 4",
        "combine = \"weierstrass\"",
        "kernel = \"nuts\"",
        "shard_draws = 500",
    ] {
        assert!(recipe.contains(line), "{line}: {recipe}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&read("a/run.json")).unwrap();
    assert_eq!(manifest["verdict"], "not_certified");
    assert!(
        read("a/info.csv")
            .lines()
            .next()
            .unwrap()
            .contains("shard_rhat,combine_accept,divergent_shards")
    );
    let again = ergodic(folder, &["fit", "a/recipe.toml", "--out", "b"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert_eq!(read("a/draws.csv"), read("b/draws.csv"));
}

/// A sampler of shards with settings of its own stands in the recipe as it was written, and one that bounds rows one by one takes shards too.
#[test]
fn shards_are_sampled_by_any_sampler_with_settings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let few = ["--draws", "200", "--set", "sampler.shards=4"];
    for (out, kernel) in [("a", "sgnht(batch=50)"), ("b", "hmc-ecs"), ("c", "zig-zag")] {
        let setting = format!("sampler.kernel={kernel}");
        let output = fit(folder, out, &[&few[..], &["--set", &setting]].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        let recipe = fs::read_to_string(folder.join(out).join("recipe.toml")).unwrap();
        assert!(
            recipe.contains(&format!("kernel = \"{kernel}\"")),
            "{recipe}"
        );
    }
    let again = ergodic(folder, &["fit", "a/recipe.toml", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("a/draws.csv"), read("again/draws.csv"));
    let output = fit(folder, "x", &["--set", "sampler.kernel=sgld(rows=50)"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("`sgld` has no setting `rows`"), "{error}");
}

/// 1,000 customers in five shards give subposteriors that are near normal; in forty they do not.
#[test]
fn the_bias_check_tells_few_shards_from_many() {
    let folder = tempfile::tempdir().unwrap();
    let bias = |shards: &str| {
        let shards = format!("sampler.shards={shards}");
        let output = fit(
            folder.path(),
            &shards,
            &["--set", &shards, "--check-bias", "--json"],
        );
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{}",
            text(&output.stderr)
        );
        let path = folder.path().join(&shards).join("run.json");
        let manifest: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        manifest["verdict"].clone()
    };
    assert_eq!(bias("40"), "not_certified");
    assert_eq!(bias("2"), "good");
}

#[test]
fn what_cannot_be_divided_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let output = fit(folder.path(), "x", more);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let error = refused(&["--set", "sampler.shards=100000"]);
    assert!(error.contains("shards"), "{error}");
    let error = refused(&["--set", "sampler.combine=average"]);
    assert!(
        error.contains("consensus, normal, nonparametric"),
        "{error}"
    );
    let output = ergodic(
        folder.path(),
        &[
            "fit",
            "--model",
            &format!(
                "{}/examples/models/double_well.model",
                env!("CARGO_MANIFEST_DIR")
            ),
            "--sampler",
            "divide-and-conquer",
        ],
    );
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("from rows of data, and this density has none"),
        "{error}"
    );
}
