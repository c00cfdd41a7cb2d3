//! Effects on the command line: what sentences and tables say together.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use serde_json::Value;
use support::{program, text};

mod support;

fn ergodic(folder: &Path, args: &[&str]) -> String {
    let done = program(folder, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ergodic(folder, args)).unwrap()
}

/// A logistic run with a number whose unit people read, `age`, and one whose unit no row differs by, `share`.
fn shares() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = "age,share,y\n".to_owned();
    for i in 0..120_u32 {
        let (age, share) = (20 + i * 7 % 40, 0.001 * f64::from(i * 13 % 60));
        let is_yes = f64::from(age) + 300.0 * share + f64::from(i * 29 % 31) > 62.0;
        rows.push_str(&format!("{age},{share},{}\n", u8::from(is_yes)));
    }
    std::fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let fit = "fit --data rows.csv --template logistic --chains 2 --warmup 200 --draws 200 --seed 3 --out run --formula";
    let mut args: Vec<&str> = fit.split(' ').collect();
    args.push("y ~ age + share");
    ergodic(folder.path(), &args);
    folder
}

/// The lines of a printed table whose first cell is `name`, by cells of two spaces or more between them.
fn lines<'a>(text: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| -> Vec<&'a str> {
        (line.split("  ").map(str::trim))
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let all = text.lines().map(cells);
    all.filter(|cells| cells.len() > 3 && cells[0] == name)
        .collect()
}

#[test]
fn the_table_of_effects_has_the_change_that_its_sentences_tell() {
    let folder = shares();
    let at = folder.path();
    let told = ergodic(at, &["effects", "run"]);
    assert!(told.contains("With age one unit higher"), "{told}");
    assert!(
        told.contains("With share one standard deviation ("),
        "{told}"
    );
    let table = told.split("\n\n").nth(1).unwrap();
    let change = |name: &str| {
        lines(table, name)
            .iter()
            .map(|it| it[1])
            .collect::<Vec<_>>()
    };
    assert_eq!(change("age"), ["1 more"], "{told}");
    assert_eq!(change("share"), ["1 sd more"], "{told}");
    // A report has the same sentences.
    let report = ergodic(at, &["report", "run", "--format", "markdown"]);
    for sentence in told.lines().filter(|line| line.starts_with("With ")) {
        if sentence.contains(" on average ") {
            assert!(report.contains(&format!("- {sentence}.\n")), "{report}");
        }
    }
    // Asked for slopes, both tell slopes.
    let slopes = ergodic(at, &["effects", "run", "--change", "slope"]);
    assert!(
        slopes.contains("Per unit of share at the margin"),
        "{slopes}"
    );
    assert!(!slopes.contains("standard deviation"), "{slopes}");
    assert_eq!(lines(&slopes, "age")[0][1], "slope");
    // Data say which they are.
    let all = json(at, &["effects", "run", "--json"]);
    let all = all["effects"].as_array().unwrap().clone();
    let told: Vec<&Value> = all.iter().filter(|it| it["told"] == true).collect();
    assert_eq!((all.len(), told.len()), (6, 2));
    assert_eq!(told[1]["contrast"], "1 sd more");
}

/// A ratio per unit of a number that no row differs by is astronomical, and the mean of its draws is their largest.
#[test]
fn ratios_are_medians_of_the_change_that_people_read() {
    let folder = shares();
    let at = folder.path();
    let told = ergodic(at, &["effects", "run"]);
    let (_, table) = told
        .split_once("\nWith a term higher: odds ratio, median\n")
        .unwrap();
    assert!(!table.contains("mean"), "{table}");
    let share = &lines(table, "share")[0];
    assert_eq!(
        (share[1], lines(table, "age")[0][1]),
        ("1 sd more", "1 more")
    );
    let all = json(at, &["effects", "run", "--json"]);
    let summary = json(at, &["summarise", "run", "--json"]);
    let of = |rows: &Value, key: &str, name: &str, number: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row[key] == name);
        row.unwrap()[number].as_f64().unwrap()
    };
    let shares = (0..120_u32).map(|i| 0.001 * f64::from(i * 13 % 60));
    let mean = shares.clone().sum::<f64>() / 120.0;
    let sd = (shares.map(|x| (x - mean).powi(2)).sum::<f64>() / 119.0).sqrt();
    for (name, by) in [("age", 1.0), ("share", sd)] {
        let b = of(
            &summary["variables"],
            "variable",
            &format!("b[{name}]"),
            "q50",
        );
        let ratio = of(&all["ratios"], "term", name, "median");
        assert!(
            (ratio / (by * b).exp() - 1.0).abs() < 0.01,
            "{name}: {ratio}"
        );
    }
    let printed: f64 = share[2].parse().unwrap();
    let ratio = of(&all["ratios"], "term", "share", "median");
    assert!((printed / ratio - 1.0).abs() < 0.01, "{printed} {ratio}");
}

/// Sleep-deprived subjects are compared with each other, and what is expected of each is told.
#[test]
fn groups_are_compared_and_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let slopes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/lme4/slopes.csv");
    std::fs::copy(slopes, at.join("slopes.csv")).unwrap();
    let fit = "fit --data slopes.csv --template mixed --chains 2 --warmup 100 --draws 100 --seed 3 --out run --formula";
    let mut args: Vec<&str> = fit.split(' ').collect();
    args.push("y ~ day + (day | subject)");
    ergodic(at, &args);
    let pairs = ergodic(at, &["effects", "run", "--contrasts", "subject"]);
    assert!(pairs.starts_with("With subject "), "{pairs}");
    assert!(
        pairs.contains("\nand 133 more of subject, in the table\n"),
        "{pairs}"
    );
    assert_eq!(lines(&pairs, "subject").len(), 153, "{pairs}");
    let by = ergodic(at, &["effects", "run", "--by", "subject"]);
    assert!(by.contains("Expected mean of y along subject"), "{by}");
    assert_eq!(lines(&by, "day").len(), 18, "{by}");
    let refused = program(at, ["effects", "run", "--of", "subject"]).output();
    let refused = text(&refused.unwrap().stderr);
    assert!(refused.contains("is a grouping factor"), "{refused}");
}
