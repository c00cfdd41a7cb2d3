//! Censored outcomes on the command line, from the table to the answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

/// Weeks of remission under 6-mercaptopurine (Freireich et al. 1963), as in Kalbfleisch and Prentice (2002).
const EVENTS: [f64; 9] = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
const WATCHED: [f64; 12] = [
    6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0,
];

fn ergodic(folder: &Path, args: &[&str]) -> String {
    let done = program(folder, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ergodic(folder, args)).unwrap()
}

#[test]
fn remissions_that_were_not_watched_to_the_end_are_longer_than_they_look() {
    let folder = tempfile::tempdir().unwrap();
    let rows = EVENTS.map(|weeks| format!("{weeks},none\n"));
    let rows = rows
        .into_iter()
        .chain(WATCHED.map(|weeks| format!("{weeks},right\n")));
    let table = rows.fold("weeks,status\n".to_owned(), |table, row| table + &row);
    std::fs::write(folder.path().join("remission.csv"), table).unwrap();
    let at = folder.path();
    let fit = |out: &str, formula: &str| {
        let fixed = "fit --data remission.csv --template mixed --set model.family=weibull --chains 2 --draws 1000 --seed 2 --out";
        let args: Vec<&str> = fixed
            .split(' ')
            .chain([out, "--formula", formula])
            .collect();
        ergodic(at, &args);
    };
    fit("censored", "weeks | cens(status) ~ 1");
    fit("seen", "weeks ~ 1");
    // The expected time; the longest was 35.
    let mean = |run: &str| -> f64 {
        ergodic(at, &["predict", run, "--out", "rows.csv"]);
        let mut rows = csv::Reader::from_path(at.join("rows.csv")).unwrap();
        let heads = rows.headers().unwrap().clone();
        let place = heads.iter().position(|name| name == "mean").unwrap();
        let first = rows.records().next().unwrap().unwrap();
        std::fs::remove_file(at.join("rows.csv")).unwrap();
        first[place].parse().unwrap()
    };
    let (censored, seen) = (mean("censored"), mean("seen"));
    assert!(seen < 20.0 && censored > 25.0, "{seen} {censored}");

    let check = json(at, &["check", "censored", "--json"]);
    assert_eq!(check["censored"], 12);
    assert!(check["statistics"].as_array().unwrap().is_empty() && check["loo_pit"].is_null());
    let curve = check["survival"].as_array().unwrap();
    let last = curve.last().unwrap()["observed"].as_f64().unwrap();
    // After 23 weeks, of the textbook.
    assert!((last - 0.448).abs() < 5e-4, "{last}");
    let said = ergodic(at, &["check", "censored"]);
    assert!(said.contains("Kaplan-Meier curve of weeks"), "{said}");

    // Pictures of other outcomes name the one that there is.
    for figure in ["ecdf", "outcomes", "rootogram", "calibration", "statistics"] {
        let plot = ["plot", "censored", "--what", figure, "--out", "p.svg"];
        let refused = text(&program(at, plot).output().unwrap().stderr);
        assert!(refused.contains("censored; `survival` shows"), "{refused}");
    }

    let loo = json(at, &["loo", "censored", "--json"]);
    assert_eq!(loo["runs"].as_array().map_or(1, Vec::len), 1);
    // What differs in how far rows were seen cannot be compared.
    let done = program(at, ["loo", "censored", "seen"]).output().unwrap();
    assert!(!done.status.success());
    let refused = text(&done.stderr);
    assert!(refused.contains("censored rows"), "{refused}");
    for (form, part) in [
        ("stan", "weibull_censored_lpdf"),
        ("brms", "weeks | cens(status) ~"),
    ] {
        let shown = ergodic(
            at,
            &[
                "show",
                "--data",
                "remission.csv",
                "--template",
                "mixed",
                "--set",
                "model.family=weibull",
                "--formula",
                "weeks | cens(status) ~ 1",
                "--as",
                form,
            ],
        );
        assert!(shown.contains(part), "{shown}");
    }
}

/// Concentrations with limits of detection, some of them beyond the range of the instrument: checks, their pictures and their words.
#[test]
fn outcomes_below_a_limit_of_detection_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let reference = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let read = |file: &str| std::fs::read_to_string(reference.join(file)).unwrap();
    let (data, shares) = (read("turnbull_data.csv"), read("turnbull_r.csv"));
    for (set, name, counts) in [
        ("left", "reverse Kaplan-Meier curve", [58, 58]),
        ("both", "Turnbull curve", [119, 63]),
    ] {
        let of_set = |line: &str| Some(line.strip_prefix(set)?.strip_prefix(',')?.to_owned());
        let rows: Vec<String> = data.lines().filter_map(of_set).collect();
        assert_eq!(rows.len(), 160);
        let table = format!("value,status\n{}\n", rows.join("\n"));
        std::fs::write(at.join("values.csv"), table).unwrap();
        let fit = "fit --data values.csv --template mixed --set model.family=weibull --chains 2 --draws 300 --seed 3 --out";
        let formula = ["--formula", "value | cens(status) ~ 1"];
        let fit: Vec<&str> = fit.split(' ').chain([set]).chain(formula).collect();
        ergodic(at, &fit);

        let check = json(at, &["check", set, "--json"]);
        assert_eq!(check["curve"], name);
        assert_eq!(
            [&check["censored"], &check["left_censored"]],
            counts.each_ref()
        );
        assert!(check["statistics"].as_array().unwrap().is_empty() && check["loo_pit"].is_null());
        // Values are multiples of a half, between which the share above is that at the next one.
        let expected: Vec<[f64; 2]> = (shares.lines().filter_map(of_set))
            .map(|line| {
                let (at, share) = line.split_once(',').unwrap();
                [at, share].map(|number| number.parse().unwrap())
            })
            .collect();
        let curve = check["survival"].as_array().unwrap();
        let mut compared = 0;
        for point in curve {
            let [place, observed] = ["at", "observed"].map(|key| point[key].as_f64().unwrap());
            let next = expected.iter().position(|[value, _]| *value >= place);
            let Some(next) = next.filter(|next| *next > 0) else {
                continue;
            };
            // Within a gap the share falls from one end to the other.
            let ends = [expected[next - 1][1], expected[next][1]];
            assert!(
                observed <= ends[0] + 1e-8 && observed >= ends[1] - 1e-8,
                "{set} {place} {observed} {ends:?}"
            );
            compared += 1;
        }
        assert!(compared > 60, "{compared}");

        let said = ergodic(at, &["check", set]);
        assert!(said.contains(&format!("{name} of value")), "{said}");
        ergodic(at, &["check", set, "--out", "checks.csv"]);
        let table = std::fs::read_to_string(at.join("checks.csv")).unwrap();
        assert_eq!(table.matches("\nsurvival,").count(), curve.len());
        for (file, start) in [("p.svg", "<svg"), ("p.csv", "")] {
            let plot = ["plot", set, "--what", "survival", "--out", file];
            ergodic(at, &plot);
            let text = std::fs::read_to_string(at.join(file)).unwrap();
            assert!(text.contains(start) && text.lines().count() > 5, "{text}");
        }
        let svg = std::fs::read_to_string(at.join("p.svg")).unwrap();
        assert!(svg.contains("of value, observed and replicated"));
        for name in ["checks.csv", "p.svg", "p.csv"] {
            std::fs::remove_file(at.join(name)).unwrap();
        }
    }
}

/// The numbers of `censoring.R`, with an intercept per group.
#[test]
fn likelihood_fits_of_censored_outcomes_are_those_of_r() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let expected = std::fs::read_to_string(folder.join("censoring_r.csv")).unwrap();
    let data = folder.join("censoring_data.csv");
    for family in ["weibull", "lognormal"] {
        let formula = format!("{family} | cens(s_{family}) ~ x + (1 | g)");
        let args = [
            "estimate",
            "--data",
            data.to_str().unwrap(),
            "--formula",
            &formula,
            "--family",
            family,
            "--method",
            "aghq",
            "--nodes",
            "25",
            "--json",
        ];
        let found = json(Path::new("."), &args);
        let sd = &found["components"][0]["sd"]["Intercept"];
        for (here, name) in [
            (&found["fixed"][0]["estimate"], "intercept"),
            (&found["fixed"][1]["estimate"], "x"),
            (sd, "sd"),
            (&found["log_lik"], "log_lik"),
        ] {
            let start = format!("{family}:mixed:{name},");
            let there = expected.lines().find_map(|line| line.strip_prefix(&*start));
            let there: f64 = there.unwrap().parse().unwrap();
            let here = here.as_f64().unwrap();
            assert!(
                (here - there).abs() < 1e-5 * there.abs(),
                "{family} {name} {here} {there}"
            );
        }
    }
}

#[test]
fn statuses_that_say_nothing_are_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("rows.csv"),
        "t,s,x\n1,0,1\n2,dead,2\n3,0,4\n",
    )
    .unwrap();
    let refused = |formula: &str, template: &str, family: &str| {
        let mut args = vec![
            "fit",
            "--data",
            "rows.csv",
            "--formula",
            formula,
            "--template",
            template,
        ];
        let family = format!("model.family={family}");
        if template == "mixed" {
            args.extend(["--set", &family]);
        }
        let done = program(folder.path(), &args).output().unwrap();
        assert!(!done.status.success(), "{}", text(&done.stdout));
        text(&done.stderr)
    };
    for (formula, template, family, part) in [
        (
            "t | cens(s) ~ x",
            "mixed",
            "weibull",
            "The censoring `s` is `dead` in line 3; write 0 or `none`",
        ),
        (
            "t | cens(x) ~ 1",
            "mixed",
            "weibull",
            "no models of outcomes between two values",
        ),
        ("Surv(t, s) ~ x", "mixed", "weibull", "write `t | cens(s)`"),
    ] {
        let said = refused(formula, template, family);
        assert!(said.contains(part), "{said}");
    }
    std::fs::write(
        folder.path().join("rows.csv"),
        "t,s,x\n1,0,1\n2,1,2\n3,0,4\n",
    )
    .unwrap();
    for (template, family, part) in [
        (
            "mixed",
            "gamma",
            "with model.family = \"lognormal\" or \"weibull\"",
        ),
        (
            "linear",
            "",
            "with model.family = \"lognormal\" or \"weibull\"",
        ),
    ] {
        let said = refused("t | cens(s) ~ x", template, family);
        assert!(said.contains(part), "{said}");
    }
}
