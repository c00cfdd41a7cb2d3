//! Outcomes of levels without an order on the command line, from the table to the answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

/// Levels of the outcome, the reference first.
const LEVELS: [&str; 4] = ["blue", "green", "none", "red"];

fn reference(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/reference")
        .join(name)
}

fn ergodic(folder: &Path, args: &[&str]) -> String {
    let done = program(folder, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ergodic(folder, args)).unwrap()
}

/// `ergodic` with arguments that have no spaces in them.
fn words<'a>(folder: &Path, args: &'a str, more: &[&'a str]) -> String {
    let args: Vec<&str> = args
        .split_whitespace()
        .chain(more.iter().copied())
        .collect();
    ergodic(folder, &args)
}

/// Mean, its Monte Carlo standard error and standard deviation of each parameter of a run.
fn summary(folder: &Path, run: &str) -> Vec<(String, [f64; 3])> {
    let mut rows = csv::Reader::from_path(folder.join(run).join("summary.csv")).unwrap();
    let heads = rows.headers().unwrap().clone();
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let places = [place("mean"), place("mcse_mean"), place("sd")];
    let parsed = rows.records().map(|row| {
        let row = row.unwrap();
        let numbers = places.map(|at| row[at].parse().unwrap_or(f64::NAN));
        (row[0].to_owned(), numbers)
    });
    parsed
        .filter(|(name, _)| name.starts_with("logit["))
        .collect()
}

fn data(folder: &Path) {
    std::fs::copy(reference("multinomial_data.csv"), folder.join("voters.csv")).unwrap();
}

const FORMULA: &str = "party ~ age + income + region";

/// `posterior:*` of `multinomial.R`, by Stan; and everything that a run of levels is asked afterwards.
#[test]
fn the_posterior_is_that_of_stan_and_answers_are_of_each_level() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    data(at);
    let fit = "fit --data voters.csv --chains 4 --draws 1500 --seed 6 --out run --formula";
    let fit: Vec<&str> = fit.split_whitespace().chain([FORMULA]).collect();
    let done = program(at, &fit).output().unwrap();
    let said = text(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(said.contains("has 4 categories"), "{said}");
    let recipe = std::fs::read_to_string(at.join("run/recipe.toml")).unwrap();
    assert!(recipe.contains("template = \"multinomial\""), "{recipe}");
    let expected = std::fs::read_to_string(reference("multinomial_r.csv")).unwrap();
    let number = |name: &str| -> f64 {
        let wanted = format!("posterior:{name},");
        let line = expected.lines().find_map(|line| line.strip_prefix(&wanted));
        line.unwrap_or_else(|| panic!("{name}")).parse().unwrap()
    };
    let found = summary(at, "run");
    assert_eq!(found.len(), 15);
    for (name, [mean, mcse, _]) in &found {
        let error = mcse.hypot(number(&format!("{name}:mcse")));
        let there = number(name);
        assert!(
            (mean - there).abs() < 4.0 * error,
            "{name}: {mean} {there} {error}"
        );
    }

    ergodic(at, &["predict", "run", "--out", "rows.csv"]);
    let mut rows = csv::Reader::from_path(at.join("rows.csv")).unwrap();
    let heads: Vec<String> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let chances = LEVELS.map(|level| place(&format!("p[{level}]")));
    let (mut count, mut right) = (0, 0);
    for row in rows.records() {
        let row = row.unwrap();
        let p = chances.map(|at| row[at].parse::<f64>().unwrap());
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{p:?}");
        let largest = p.iter().copied().fold(0.0, f64::max);
        let called = LEVELS[p.iter().position(|it| *it == largest).unwrap()];
        assert_eq!(&row[place("most_probable")], called);
        assert!((row[place("mean")].parse::<f64>().unwrap() - largest).abs() < 1e-9);
        right += usize::from(&row[place("observed")] == called);
        count += 1;
    }
    assert_eq!(count, 400);
    let done = program(at, ["predict", "run", "--json"]).output().unwrap();
    let said = text(&done.stderr);
    let sentence = format!("{right} of 400 rows have their most probable party");
    assert!(said.contains(&sentence), "{said}");
    let predicted: Value = serde_json::from_str(&text(&done.stdout)).unwrap();
    assert_eq!(predicted["observed_most_probable"], right);
    assert!(
        predicted["rows"][0]["probabilities"]["red"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    assert!(LEVELS.contains(&predicted["rows"][0]["observed"].as_str().unwrap()));

    let check = json(at, &["check", "run", "--json"]);
    let bars = check["rootogram"].as_array().unwrap();
    let names: Vec<&str> = (bars.iter().map(|bar| bar["level"].as_str().unwrap())).collect();
    assert_eq!(names, LEVELS);
    let observed: f64 = (bars.iter().map(|bar| bar["observed"].as_f64().unwrap())).sum();
    assert_eq!(observed, 400.0);
    ergodic(at, &["check", "run"]);
    for figure in ["statistics", "loo-pit"] {
        let args = ["plot", "run", "--what", figure, "--out", "p.svg"];
        let said = text(&program(at, args).output().unwrap().stderr);
        assert!(
            said.contains("levels of the outcome have no order"),
            "{said}"
        );
    }

    let loo = ergodic(at, &["loo", "run"]);
    assert!(loo.contains("elpd"), "{loo}");
    let effects = ergodic(at, &["effects", "run"]);
    let along = ergodic(at, &["effects", "run", "--along", "age"]);
    for (said, part) in [
        (
            &effects,
            "the probability that party is green is on average",
        ),
        (&effects, "odds ratio against the reference"),
        (&effects, "green: age"),
        (&along, "Expected probability of each party along age"),
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    ergodic(at, &["effects", "run", "--out", "effects.csv"]);
    let table = std::fs::read_to_string(at.join("effects.csv")).unwrap();
    assert!(table.contains("effect on p[green],age,slope,"), "{table}");
    let preview = words(
        at,
        "prior-predictive --data voters.csv --formula",
        &[FORMULA],
    );
    assert!(preview.contains("The prior expects between"), "{preview}");
    let brms = words(at, "show --data voters.csv --as brms --formula", &[FORMULA]);
    assert!(brms.contains("family = categorical()"), "{brms}");
    ergodic(at, &["report", "run", "--out", "report.html"]);
    let report = std::fs::read_to_string(at.join("report.html")).unwrap();
    assert!(report.contains("logit[green,age]"));
}

/// Held-out rows by log loss and error rate, and SGLD with control variates beside NUTS with the check of its bias.
#[test]
fn levels_are_scored_and_sampled_from_minibatches() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    data(at);
    words(
        at,
        "fit --data voters.csv --hold-out 0.25 --chains 2 --draws 400 --seed 3 --out held --formula",
        &[FORMULA],
    );
    let scored = json(at, &["score", "held", "--json"]);
    let run = &scored[0];
    let rows = run["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 100);
    let (mut loss, mut wrong) = (0.0, 0.0);
    for row in rows {
        let level = row["observed"].as_str().unwrap();
        assert!(LEVELS.contains(&level));
        loss -= row["lpd"].as_f64().unwrap() / 100.0;
        wrong += f64::from(row["most_probable"] != level) / 100.0;
    }
    let value = |name: &str| run["scores"][name]["value"].as_f64().unwrap();
    assert!((value("log_loss") - loss).abs() < 1e-12);
    assert!((value("error_rate") - wrong).abs() < 1e-12);
    // Better than guessing by the shares of all levels, and not perfect.
    assert!(
        0.2 < loss && loss < 4_f64.ln() && 0.0 < wrong && wrong < 0.75,
        "{loss} {wrong}"
    );

    words(
        at,
        "fit --data voters.csv --chains 4 --draws 2000 --seed 5 --out nuts --formula",
        &[FORMULA],
    );
    words(
        at,
        "fit --data voters.csv --sampler sgld-cv --set sampler.batch=40 --chains 4 --draws 4000 --seed 5 --out cv --formula",
        &[FORMULA],
    );
    for ((name, [exact, _, sd]), (_, [mean, mcse, _])) in
        summary(at, "nuts").into_iter().zip(summary(at, "cv"))
    {
        let apart = (mean - exact).abs();
        assert!(
            apart < 0.2 * sd + 4.0 * mcse,
            "{name}: {mean} {exact} {sd} {mcse}"
        );
    }
}
