//! Rows kept out of a fit and scored, on the command line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{program, text};

mod support;

#[track_caller]
fn ergodic(folder: &Path, line: &str, code: i32) -> Output {
    let done = program(folder, line.split_whitespace()).output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{line}: {said}");
    assert!(!said.contains("panicked"), "{line}: {said}");
    done
}

fn fit(folder: &Path, out: &str, more: &str) {
    let line = format!(
        "fit --data sample:churn --formula churned~age+plan --chains 2 --warmup 80 --draws 60 {more} --out {out}"
    );
    ergodic(folder, &line, 0);
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_run_is_scored_by_the_rows_it_holds_out_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(folder, "a", "--hold-out 0.2");
    let recipe = fs::read_to_string(folder.join("a/recipe.toml")).unwrap();
    assert!(
        recipe.contains("hold_out = 0.2\nhold_out_seed = 1\n"),
        "{recipe}"
    );
    ergodic(folder, "fit a/recipe.toml --out b", 0);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("a/draws.csv"), read("b/draws.csv"));
    assert_eq!(read("a/recipe.toml"), read("b/recipe.toml"));
    let manifest: serde_json::Value = serde_json::from_str(&read("a/run.json")).unwrap();
    assert_eq!(
        (&manifest["rows_total"], &manifest["rows_used"]),
        (&800.into(), &800.into())
    );
    assert_eq!(manifest["rows_held_out"], 200);

    let said = ergodic(folder, "score a", 0);
    let table = text(&said.stdout);
    assert!(
        table.starts_with("a: 200 rows scored, 120 draws\n"),
        "{table}"
    );
    for name in [
        "log density",
        "log loss",
        "error rate",
        "Brier score",
        "AUC",
    ] {
        assert!(
            table.lines().any(|line| line.starts_with(name)),
            "{name}: {table}"
        );
    }
    let found = json(&ergodic(folder, "score a --json --out scores.csv", 0));
    let run = &found[0];
    let score = |name: &str| run["scores"][name]["value"].as_f64().unwrap();
    assert_eq!(score("lpd"), -score("log_loss"));
    // 60 of the 200 rows are churned: guessing that share of all has a log loss of 0.611.
    assert!(score("log_loss") < 0.611 && score("brier") < 0.21);
    assert!(score("auc") > 0.5 && score("error_rate") == 0.3);
    assert_eq!(run["rows"].as_array().unwrap().len(), 200);
    let course = run["course"].as_array().unwrap();
    assert_eq!((course.len(), &course[49]["draws"]), (50, &60.into()));
    // The same rows, summed in another order.
    assert!((course[49]["lpd"].as_f64().unwrap() - score("lpd")).abs() < 1e-12);
    let seconds = |k: usize| course[k]["seconds"].as_f64().unwrap();
    assert!(0.0 < seconds(0) && seconds(0) < seconds(49));
    let csv = read("scores.csv");
    let lines = |start: &str| csv.lines().filter(|line| line.starts_with(start)).count();
    assert!(
        csv.starts_with("run,part,of,x,value,se\na,score,lpd,NA,-0."),
        "{csv}"
    );
    assert_eq!(
        (lines("a,course,draws,"), lines("a,course,seconds,")),
        (50, 50)
    );
    assert_eq!(lines("a,roc,"), run["roc"].as_array().unwrap().len());
}

#[test]
fn a_column_says_which_rows_and_several_runs_stand_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut rows = "x,y,z,split\n".to_owned();
    let mut test = rows.clone();
    for i in 0..160 {
        let x = f64::from(i % 13) - 6.0;
        let y = 2.0 * x + f64::from(i * 37 % 17) / 4.0;
        let split = if i % 4 == 1 { "test" } else { "train" };
        let line = format!("{x},{y},{},{split}\n", i % 3);
        if i % 4 == 1 {
            test.push_str(&line);
        }
        rows.push_str(&line);
    }
    fs::write(folder.join("rows.csv"), rows).unwrap();
    fs::write(folder.join("test.csv"), test).unwrap();
    let fit = |out: &str, formula: &str, more: &str| {
        let line = format!(
            "fit --data rows.csv --template linear --chains 2 --warmup 100 --draws 100 --formula {formula} {more} --out {out}"
        );
        ergodic(folder, &line, 0);
    };
    fit("slope", "y~x", "--hold-out split=test");
    fit("flat", "y~z", "--hold-out split=test --seed 5");
    fit("all", "y~x", "");
    let both = ergodic(folder, "score flat slope", 0);
    let table = text(&both.stdout);
    let cell = |line: usize, head: &str| -> String {
        let split = |line: &str| -> Vec<String> {
            let cells = line
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty());
            cells.map(str::to_owned).collect()
        };
        let lines: Vec<&str> = table.lines().collect();
        let at = split(lines[0]).iter().position(|it| it == head).unwrap();
        split(lines[line])[at].clone()
    };
    assert_eq!(
        (cell(1, "run"), cell(1, "rows")),
        ("flat".to_owned(), "40".to_owned())
    );
    assert_eq!(cell(2, "behind the best"), "0.0000");
    assert!(
        cell(1, "behind the best").parse::<f64>().unwrap() > 0.5,
        "{table}"
    );
    for head in ["RMSE", "MAE", "inside 50 %", "inside 90 %"] {
        assert!(
            cell(2, head).parse::<f64>().unwrap() > 0.0,
            "{head}: {table}"
        );
    }
    let said = "slope predicts better than flat by ";
    assert!(
        table.contains("Log predictive density of 40 rows together\n"),
        "{table}"
    );
    assert!(
        table.contains(said) && table.contains("slope clearly predicts new rows better"),
        "{table}"
    );
    let told = json(&ergodic(folder, "score flat slope --json", 0));
    let elpd = |k: usize| told[k]["elpd"]["estimate"].as_f64().unwrap();
    let behind = &told[0]["behind_the_best"];
    let difference = behind["elpd_diff"]["estimate"].as_f64().unwrap();
    assert!((difference - (elpd(0) - elpd(1))).abs() < 1e-9);
    assert!(told[1]["behind_the_best"].is_null() && behind["best"] == "slope");
    // Runs that are compared say it too.
    let compared = text(&ergodic(folder, "compare-runs flat slope", 0).stdout);
    assert!(
        compared.contains("Rows held out of both fits") && compared.contains(said),
        "{compared}"
    );
    let compared = json(&ergodic(folder, "compare-runs flat slope --json", 0));
    let first = &compared["held_out"]["runs"][0];
    assert_eq!(first["behind_the_best"], *behind);
    assert!(first["verdict"].is_string());
    assert_eq!(first["verdict"], told[0]["verdict"]);
    let compared = json(&ergodic(folder, "compare-runs all slope --json", 0));
    assert!(compared["held_out"].is_null());
    // The rows held out, as a table of their own.
    let held = json(&ergodic(folder, "score slope --json", 0));
    let there = json(&ergodic(folder, "score slope --data test.csv --json", 0));
    assert_eq!(held[0]["scores"]["lpd"], there[0]["scores"]["lpd"]);
    assert_eq!(held[0]["scores"]["rmse"], there[0]["scores"]["rmse"]);
    let mixed = ergodic(folder, "score slope all --data test.csv", 0);
    assert!(text(&mixed.stdout).contains("behind the best"));

    // Cross-validation: each part is scored as the run that holds it out alone.
    let scored = ergodic(folder, "score all --folds 4 --json", 0);
    let announced = text(&scored.stderr);
    assert!(
        announced.contains("4 fits as long as this run, about "),
        "{announced}"
    );
    let folds = json(&scored);
    ergodic(folder, "fit all/recipe.toml --hold-out 2/4 --out second", 0);
    let second = json(&ergodic(folder, "score second --json", 0));
    let rows = |found: &serde_json::Value| found[0]["rows"].as_array().unwrap().clone();
    let all = rows(&folds);
    assert_eq!((all.len(), rows(&second).len()), (160, 40));
    for row in rows(&second) {
        let at = row["row"].as_u64().unwrap() as usize - 1;
        assert_eq!(all[at], row);
    }
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let elpd = number(&folds[0]["elpd"]["estimate"]);
    let sum: f64 = all.iter().map(|row| number(&row["lpd"])).sum();
    assert!((elpd - sum).abs() < 1e-9);
    let loo = json(&ergodic(folder, "loo all --json", 0));
    let loo = number(&loo["runs"][0]["elpd_loo"]["estimate"]);
    // Both estimate the same; 3 parameters are fitted to a quarter fewer rows.
    assert!((elpd - loo).abs() < 2.0, "{elpd} {loo}");
    // Of several runs, too.
    let both = text(&ergodic(folder, "score all all --folds 4", 0).stdout);
    let printed = format!("{elpd:.1}");
    assert!(both.contains("elpd_kfold"), "{both}");
    let with = |line: &&str| line.starts_with("all ") && line.contains(&printed);
    assert_eq!(both.lines().filter(with).count(), 2, "{both}");
    let refused = text(&ergodic(folder, "score slope --folds 4", 2).stderr);
    assert!(
        refused.contains("keeps rows out of its fit already"),
        "{refused}"
    );

    let refused = text(&ergodic(folder, "score all", 2).stderr);
    assert!(
        refused.contains(
            "error: The run keeps no rows to score it by; fit it again with --hold-out 0.2"
        ),
        "{refused}"
    );
    assert!(
        refused.contains("or name another table with --data"),
        "{refused}"
    );
    // Of several runs the one that keeps none is named; pictures take no other table.
    let refused = text(&ergodic(folder, "score slope all", 2).stderr);
    assert!(
        refused.contains("error: all: The run keeps no rows"),
        "{refused}"
    );
    let refused = text(&ergodic(folder, "plot all --what roc --out roc.svg", 2).stderr);
    assert!(
        refused.contains("--hold-out 0.2") && !refused.contains("--data"),
        "{refused}"
    );
    let line = "fit --data rows.csv --formula y~x --hold-out split=tset --out no";
    let refused = text(&ergodic(folder, line, 2).stderr);
    assert!(
        refused.contains("No row has `tset` in the column `split`"),
        "{refused}"
    );
    let line = "fit --data rows.csv --formula y~x --hold-out 20% --out no";
    let refused = text(&ergodic(folder, line, 2).stderr);
    assert!(
        refused.contains("`20%` does not say which rows to hold out"),
        "{refused}"
    );
}
