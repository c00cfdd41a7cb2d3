//! Outcomes with ordered levels on the command line, from the table to the answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

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

/// A number of a reference file.
fn number(expected: &str, name: &str) -> f64 {
    let line = expected
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name},")));
    line.unwrap_or_else(|| panic!("{name}")).parse().unwrap()
}

/// Mean and its Monte Carlo standard error in the summary of a run.
fn summary(folder: &Path, run: &str) -> impl Fn(&str) -> [f64; 2] {
    let mut rows = csv::Reader::from_path(folder.join(run).join("summary.csv")).unwrap();
    let heads = rows.headers().unwrap().clone();
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let places = [place("mean"), place("mcse_mean")];
    let records: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    move |name: &str| {
        let row = records.iter().find(|row| &row[0] == name);
        let row = row.unwrap_or_else(|| panic!("{name}"));
        places.map(|at| row[at].parse().unwrap())
    }
}

/// `posterior:*` of `ordered.R`, by importance sampling.
#[test]
fn the_posterior_is_that_of_r() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let expected = std::fs::read_to_string(reference("ordered_r.csv")).unwrap();
    let data = reference("ordered_data.csv");
    let args = "--formula ordered(rating)~x+w --set model.standardize=false --set priors.b=normal(0,2.5) \
                --set priors.cut=student_t(3,0,2.5) --chains 4 --draws 2000 --seed 4 --out run";
    let data = data.to_str().unwrap();
    let all: Vec<&str> = ["fit", "--data", data]
        .into_iter()
        .chain(args.split_whitespace())
        .collect();
    ergodic(at, &all);
    let found = summary(at, "run");
    for (ours, theirs) in [
        ("b[x]", "x"),
        ("b[w]", "w"),
        ("cut[1|2]", "c[1]"),
        ("cut[2|3]", "c[2]"),
        ("cut[3|4]", "c[3]"),
    ] {
        let [mean, mcse] = found(ours);
        let there = number(&expected, &format!("posterior:{theirs}"));
        let error = mcse.hypot(number(&expected, &format!("posterior:{theirs}:mcse")));
        assert!(
            (mean - there).abs() < 4.0 * error,
            "{ours}: {mean} {there} {error}"
        );
    }
}

/// `mixed:*` of `ordinal.R`, by Stan; and everything that a run of levels in words is asked afterwards.
#[test]
fn a_mixed_model_of_levels_in_words_is_that_of_stan() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let expected = std::fs::read_to_string(reference("ordinal_r.csv")).unwrap();
    std::fs::copy(reference("ordinal_data.csv"), at.join("wine.csv")).unwrap();
    let formula = "taste ~ temp + contact + (1 | judge)";
    let fit = [
        "fit",
        "--data",
        "wine.csv",
        "--formula",
        formula,
        "--chains",
        "4",
        "--draws",
        "1500",
        "--seed",
        "6",
        "--out",
        "run",
    ];
    let done = program(at, fit).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    let recipe = std::fs::read_to_string(at.join("run/recipe.toml")).unwrap();
    assert!(recipe.contains("family = \"ordered\""), "{recipe}");
    let found = summary(at, "run");
    for (ours, theirs) in [
        ("b[temp=warm]", "b[1]"),
        ("b[contact=yes]", "b[2]"),
        ("cut[poor|fair]", "b_cut[1]"),
        ("cut[fair|good]", "b_cut[2]"),
        ("cut[good|very good]", "b_cut[3]"),
        ("cut[very good|excellent]", "b_cut[4]"),
        ("sd[judge,Intercept]", "sd_1[1]"),
    ] {
        let [mean, mcse] = found(ours);
        let there = number(&expected, &format!("mixed:{theirs}"));
        let error = mcse.hypot(number(&expected, &format!("mixed:{theirs}:mcse")));
        assert!(
            (mean - there).abs() < 4.0 * error,
            "{ours}: {mean} {there} {error}"
        );
    }

    ergodic(at, &["predict", "run", "--out", "rows.csv"]);
    let mut rows = csv::Reader::from_path(at.join("rows.csv")).unwrap();
    let heads = rows.headers().unwrap().clone();
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let levels = ["poor", "fair", "good", "very good", "excellent"];
    let chances = levels.map(|level| place(&format!("p[{level}]")));
    let mut count = 0;
    for row in rows.records() {
        let row = row.unwrap();
        let value = |at: usize| row[at].parse::<f64>().unwrap();
        let sum: f64 = chances.iter().map(|&at| value(at)).sum();
        let mean: f64 = (1..)
            .zip(chances)
            .map(|(k, at)| f64::from(k) * value(at))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert!((mean - value(place("mean"))).abs() < 1e-9, "{mean}");
        count += 1;
    }
    assert_eq!(count, 120);
    let predicted = json(at, &["predict", "run", "--json"]);
    assert_eq!(
        predicted["quantity"],
        "mean level of taste (poor is 1, excellent is 5)"
    );
    assert!(
        predicted["rows"][0]["probabilities"]["very good"]
            .as_f64()
            .unwrap()
            > 0.0
    );

    let check = json(at, &["check", "run", "--json"]);
    let bars = check["rootogram"].as_array().unwrap();
    let names: Vec<&str> = bars
        .iter()
        .map(|bar| bar["level"].as_str().unwrap())
        .collect();
    assert_eq!(names, levels);
    let observed: f64 = bars
        .iter()
        .map(|bar| bar["observed"].as_f64().unwrap())
        .sum();
    assert_eq!(observed, 120.0);
    let said = text(&program(at, ["check", "run"]).output().unwrap().stderr);
    assert!(said.contains("frequencies of levels lie"), "{said}");

    let loo = ergodic(at, &["loo", "run"]);
    assert!(loo.contains("elpd"), "{loo}");
    let effects = ergodic(at, &["effects", "run"]);
    assert!(effects.contains("odds ratio"), "{effects}");
    let preview = ergodic(
        at,
        &[
            "prior-predictive",
            "--data",
            "wine.csv",
            "--formula",
            formula,
        ],
    );
    assert!(preview.contains("student_t(3, 0, 2.5)"), "{preview}");
    ergodic(at, &["report", "run", "--out", "report.html"]);
    let report = std::fs::read_to_string(at.join("report.html")).unwrap();
    assert!(report.contains("cut[poor|fair]"));
}

/// `judges_laplace:*` of `likelihood.R`: cut points with standard errors in tables, files and predictions.
#[test]
fn likelihood_fits_of_levels_are_those_of_r() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let expected = std::fs::read_to_string(reference("likelihood_r.csv")).unwrap();
    std::fs::copy(reference("ordinal_data.csv"), at.join("wine.csv")).unwrap();
    let formula = "taste ~ temp + contact + (1 | judge)";
    let base = ["estimate", "--data", "wine.csv", "--family", "ordered"];
    let with = |formula: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        let all = base.into_iter().chain(["--formula", formula]);
        all.chain(more.iter().copied()).collect()
    };
    let fit = json(at, &with(formula, &["--json"]));
    let of_r = |name: &str| number(&expected, &format!("judges_laplace:{name}"));
    let close = |name: &str, found: &Value, there: f64| {
        let found = found.as_f64().unwrap();
        assert!(
            (found - there).abs() < 2e-5 * there.abs(),
            "{name}: {found} {there}"
        );
    };
    for name in ["temp=warm", "contact=yes"] {
        let effect = fit["fixed"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["term"] == name);
        close(name, &effect.unwrap()["estimate"], of_r(name));
        close(name, &effect.unwrap()["se"], of_r(&format!("{name}:se")));
    }
    assert_eq!(fit["fixed"].as_array().unwrap().len(), 2);
    let levels = ["poor", "fair", "good", "very good", "excellent"];
    let cuts = fit["cut_points"].as_array().unwrap();
    assert_eq!(cuts.len(), 4);
    for (k, cut) in cuts.iter().enumerate() {
        assert_eq!(cut["term"], format!("{}|{}", levels[k], levels[k + 1]));
        let name = format!("{}|{}", k + 1, k + 2);
        close(&name, &cut["estimate"], of_r(&name));
        close(&name, &cut["se"], of_r(&format!("{name}:se")));
    }
    assert_eq!(fit["covariance"].as_array().unwrap().len(), 36);
    let table = ergodic(
        at,
        &with(formula, &["--predict", "wine.csv", "--out", "fit"]),
    );
    assert!(
        table.contains("cut point") && table.contains("poor|fair"),
        "{table}"
    );
    for name in ["fitted.csv", "predictions.csv"] {
        let mut rows = csv::Reader::from_path(at.join("fit").join(name)).unwrap();
        let heads: Vec<String> = rows.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(
            heads[3..],
            levels.map(|level| format!("p[{level}]")),
            "{name}"
        );
        let mut count = 0;
        for row in rows.records() {
            let row: Vec<f64> = row.unwrap().iter().map(|it| it.parse().unwrap()).collect();
            let mean: f64 = (1..).zip(&row[3..]).map(|(k, p)| f64::from(k) * p).sum();
            assert!((row[3..].iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((mean - row[2]).abs() < 1e-12, "{mean} {}", row[2]);
            count += 1;
        }
        assert_eq!(count, 120);
    }
    // Without groups, and against the model with them.
    let ratio = json(
        at,
        &with("taste ~ temp + contact", &["--against", formula, "--json"]),
    );
    assert_eq!(ratio["likelihood_ratio"]["df"], 1);
    let smaller = ratio["likelihood_ratio"]["smaller"]["log_lik"]
        .as_f64()
        .unwrap();
    assert!(smaller < of_r("log_lik") - 1.0, "{smaller}");
}

/// Scores of rows held out are those that the rows of the file say.
#[test]
fn levels_held_out_are_scored_by_their_chances() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(reference("ordered_data.csv"), at.join("data.csv")).unwrap();
    let line = "fit --data data.csv --formula ordered(rating)~x+w --hold-out 0.25 --chains 2 --draws 150 --out run";
    ergodic(at, &line.split_whitespace().collect::<Vec<_>>());
    let found = &json(at, &["score", "run", "--json"])[0];
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 60);
    let score = |name: &str| found["scores"][name]["value"].as_f64().unwrap();
    let mean = |of: &dyn Fn(&Value) -> f64| rows.iter().map(of).sum::<f64>() / 60.0;
    let loss = mean(&|row| -row["lpd"].as_f64().unwrap());
    assert!((score("log_loss") - loss).abs() < 1e-12);
    assert!((score("perplexity") - loss.exp()).abs() < 1e-12);
    // Fewer than the levels there are, which guesses would have.
    assert!(score("perplexity") < 4.0);
    let is_wrong = |row: &Value| {
        let called: f64 = row["most_probable"].as_str().unwrap().parse().unwrap();
        f64::from(row["observed"].as_f64().unwrap() != called)
    };
    assert!((score("error_rate") - mean(&is_wrong)).abs() < 1e-12);
    let table = ergodic(at, &["score", "run"]);
    for name in ["log loss", "error rate", "perplexity", "RMSE"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{table}");
    }
}

#[test]
fn what_has_no_order_is_refused_in_one_sentence_and_named_levels_give_it_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let cells = [
        "red", "blue", "green", "red", "green", "blue", "red", "green",
    ];
    let rows: String = (0..40)
        .map(|k| format!("{},{}\n", cells[k % 8], k % 7))
        .collect();
    std::fs::write(at.join("rows.csv"), format!("mark,x\n{rows}")).unwrap();
    let fit = |formula: &str, more: &[&str]| {
        let fixed = [
            "fit",
            "--data",
            "rows.csv",
            "--draws",
            "200",
            "--formula",
            formula,
        ];
        let args: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
        program(at, &args).output().unwrap()
    };
    let done = fit("ordered(mark) ~ x", &["--out", "a"]);
    let said = text(&done.stderr);
    assert!(
        !done.status.success() && said.contains("write them from lowest to highest"),
        "{said}"
    );
    let done = fit("ordered(mark) ~ x", &["--template", "linear", "--out", "b"]);
    let said = text(&done.stderr);
    assert!(
        !done.status.success() && said.contains("choose template `ordered`"),
        "{said}"
    );
    let named = [
        "--set",
        "model.levels=[\"green\", \"blue\", \"red\"]",
        "--out",
        "c",
    ];
    let done = fit("ordered(mark) ~ x", &named);
    assert!(done.status.success(), "{}", text(&done.stderr));
    summary(at, "c")("cut[green|blue]");
}
