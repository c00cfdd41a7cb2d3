//! Likelihood fits by integrals over the effects of groups, on the command line, against the numbers of R.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

/// What R's lme4 has of a set (`tests/reference/integrals.R`).
fn reference(set: &str) -> BTreeMap<String, f64> {
    let mut rows = csv::Reader::from_path(file("integrals_r.csv")).unwrap();
    let rows = rows.records().map(Result::unwrap);
    rows.filter_map(|row| {
        let name = row[0].strip_prefix(&format!("{set}:"))?.to_owned();
        Some((name, row[1].parse().unwrap()))
    })
    .collect()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/reference")
        .join(name)
}

/// The fit of the incidence of disease in herds by `method`.
fn fit(method: &str, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let data = file("integrals_cbpp.csv");
    let formula = "incidence | trials(size) ~ factor(period) + (1 | herd)";
    let mut args = vec!["estimate", "--data", data.to_str().unwrap()];
    args.extend(["--formula", formula, "--family", "binomial", "--json"]);
    args.extend(["--method", method]);
    args.extend(more);
    let done = program(folder.path(), args).output().unwrap();
    assert!(done.status.success(), "{method}: {}", text(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn coefficients(fit: &Value) -> Vec<f64> {
    let fixed = fit["fixed"].as_array().unwrap().iter();
    fixed.map(|it| it["estimate"].as_f64().unwrap()).collect()
}

fn log_lik(fit: &Value) -> f64 {
    fit["log_lik"].as_f64().unwrap()
}

#[test]
fn quadrature_and_its_em_agree_with_r() {
    let reference = reference("cbpp");
    let named = ["intercept", "period2", "period3", "period4"].map(|name| reference[name]);
    // Nodes around 0 reach less far into the tails than those around each mode.
    for (method, digits) in [("aghq", 1e-6), ("em-aghq", 1e-6), ("ghq", 1e-4)] {
        let fit = fit(method, &["--nodes", "25"]);
        for (found, expected) in coefficients(&fit).iter().zip(named) {
            assert!(
                (found - expected).abs() < digits,
                "{method}: {found} {expected}"
            );
        }
        let off = log_lik(&fit) - reference["log_lik"];
        assert!(off.abs() < digits, "{method}: {off}");
        let sd = fit["components"][0]["sd"]["Intercept"].as_f64().unwrap();
        assert!((sd - reference["sd_intercept"]).abs() < digits, "{method}");
    }
}

#[test]
fn random_draws_agree_with_r_to_their_error() {
    let reference = reference("cbpp");
    let fit = fit("monte-carlo", &["--draws", "2000"]);
    let error = fit["log_lik_mcse"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.1);
    let off = log_lik(&fit) - reference["log_lik"];
    assert!(off.abs() < 3.0 * error, "{off} {error}");
}

/// Both look for the maximum of Laplace's approximation, and Monte Carlo EM for that of the likelihood.
#[test]
fn em_ends_where_the_search_by_gradients_ends() {
    let direct = fit("laplace", &[]);
    let steps = fit("em-laplace", &[]);
    for (a, b) in coefficients(&direct).iter().zip(coefficients(&steps)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    let exact = fit("aghq", &["--nodes", "25"]);
    let errors = exact["fixed"].as_array().unwrap().iter();
    let errors = errors.map(|it| it["se"].as_f64().unwrap());
    let drawn = fit("mcem", &[]);
    for ((a, b), se) in coefficients(&exact)
        .iter()
        .zip(coefficients(&drawn))
        .zip(errors)
    {
        assert!((a - b).abs() < 0.1 * se, "{a} {b} {se}");
    }
}

#[test]
fn integrals_that_do_not_suit_a_model_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = file("integrals_cbpp.csv");
    let data = data.to_str().unwrap();
    let refused = |formula: &str, more: &[&str]| {
        let args = [
            "estimate",
            "--data",
            data,
            "--family",
            "binomial",
            "--formula",
            formula,
        ];
        let done = program(folder.path(), args.iter().chain(more))
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(2), "{formula} {more:?}");
        text(&done.stderr)
    };
    let two = "incidence | trials(size) ~ 1 + (1 | herd) + (1 | period)";
    let said = refused(two, &["--method", "aghq"]);
    assert!(
        said.contains("herd") || said.contains("one grouping factor"),
        "{said}"
    );
    let one = "incidence | trials(size) ~ 1 + (1 | herd)";
    let said = refused(one, &["--method", "aghq", "--nodes", "0"]);
    assert!(said.contains("from 1 to 100"), "{said}");
}
