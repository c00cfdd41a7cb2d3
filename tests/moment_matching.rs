//! Leave-one-out scores by draws that are moved, on the command line.

use serde_json::Value;
use support::{program, text};

mod support;

/// Rows whose Pareto k is not good are scored by draws that were moved, as a fit without them does.
#[test]
fn moment_matching_scores_doubtful_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // A line with one row far off, which few draws of the posterior explain.
    let mut table = String::from("x,y\n");
    for i in 0..20 {
        let x = f64::from(i) / 5.0 - 2.0;
        let y = 1.0 + 2.0 * x + f64::from((i * 7) % 5) * 0.1;
        let y = if i == 19 { y + 0.7 } else { y };
        table.push_str(&format!("{x},{y}\n"));
    }
    std::fs::write(at.join("line.csv"), table).unwrap();
    let run = |args: &str| {
        let done = program(at, args.split(' ')).output().unwrap();
        assert!(done.status.success(), "{args}: {}", text(&done.stderr));
        text(&done.stdout)
    };
    run(
        "fit --data line.csv --formula y~x --template linear --chains 2 --draws 1000 --seed 3 --out run",
    );
    let json = |args: &str| -> Value { serde_json::from_str(&run(args)).unwrap() };
    let (plain, matched) = (
        json("loo run --json"),
        json("loo run --moment-match --json"),
    );
    let rows = |json: &Value| json["runs"][0]["rows"].as_array().unwrap().clone();
    let k = |row: &Value| row["pareto_k"].as_f64().unwrap();
    let worst = rows(&plain).iter().map(k).fold(0.0, f64::max);
    let left = rows(&matched).iter().map(k).fold(0.0, f64::max);
    assert!(worst > 0.7, "{worst}");
    assert!(left < 0.7 && left < worst, "{left} {worst}");
    // The same rows are left as they were.
    for (before, after) in rows(&plain).iter().zip(rows(&matched)) {
        if k(before) < 0.5 {
            assert_eq!(before["elpd_loo"], after["elpd_loo"]);
        }
    }
    // A fit without the row says the same, to what the draws of both leave open.
    let refitted = json("loo run --refit --json");
    let elpd = |json: &Value| rows(json)[19]["elpd_loo"].as_f64().unwrap();
    assert!((elpd(&matched) - elpd(&refitted)).abs() < 0.2);
}
