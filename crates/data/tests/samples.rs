//! The bundled data sets are what their generator makes and what their side-cars say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/samples.rs"]
mod samples;

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use ergodic_base::Control;
use ergodic_base::numerals::hex;
use ergodic_core::design::terms::Predictor;
use ergodic_core::design::{Columns as _, Design, ModelFrame, ResponseKind, checks};
use ergodic_core::formula::Formula;
use ergodic_data::ImportOptions;
use ergodic_data::samples::{Sample, all, load};
use faer::linalg::solvers::{DenseSolveCore as _, Solve as _};
use faer::{Mat, Side};
use sha2::{Digest as _, Sha256};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample_data")
}

fn generated(id: &str) -> Vec<u8> {
    match id {
        "churn" => samples::churn().into_bytes(),
        "tall_logistic" => samples::tall_logistic().into_bytes(),
        "awkward" => samples::awkward(),
        "fish" => samples::fish().into_bytes(),
        "schools" => samples::schools().into_bytes(),
        "reaction" => samples::reaction().into_bytes(),
        "clusters" => samples::clusters().into_bytes(),
        other => panic!("no generator for {other}"),
    }
}

fn seed(id: &str) -> u64 {
    match id {
        "churn" => samples::CHURN_SEED,
        "tall_logistic" => samples::TALL_SEED,
        "fish" => samples::FISH_SEED,
        "schools" => samples::SCHOOLS_SEED,
        "reaction" => samples::REACTION_SEED,
        "clusters" => samples::CLUSTERS_SEED,
        _ => samples::AWKWARD_SEED,
    }
}

fn unpacked(file_name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if file_name.ends_with(".gz") {
        flate2::read::GzDecoder::new(bytes)
            .read_to_end(&mut out)
            .unwrap();
    } else {
        out.extend_from_slice(bytes);
    }
    out
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[test]
fn files_are_what_the_generator_makes() {
    for (id, file_name) in [
        ("churn", "churn.csv"),
        ("tall_logistic", "tall_logistic.csv.gz"),
        ("awkward", "awkward.csv"),
        ("fish", "fish.csv"),
        ("schools", "schools.csv"),
        ("reaction", "reaction.csv"),
        ("clusters", "clusters.csv"),
    ] {
        let made = generated(id);
        let path = folder().join(file_name);
        if std::env::var_os("ERGODIC_WRITE_SAMPLES").is_some() {
            let written = if file_name.ends_with(".gz") {
                let mut packer =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                packer.write_all(&made).unwrap();
                packer.finish().unwrap()
            } else {
                made.clone()
            };
            println!("{id} {}", sha256(&written));
            std::fs::write(&path, written).unwrap();
        }
        let committed = unpacked(file_name, &std::fs::read(&path).unwrap());
        assert!(
            committed == made,
            "{file_name} differs from what crates/data/tests/support/samples.rs makes"
        );
    }
}

#[test]
fn side_cars_say_what_is_in_the_files() {
    let index = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for sample in all() {
        let Sample { id, info, .. } = sample;
        let loaded = load(sample.id, &ImportOptions::default(), &Control::default()).unwrap();
        let table = &loaded.table;
        assert_eq!(info.file, sample.file_name);
        assert_eq!(info.sha256, sha256(sample.bytes), "{id}");
        assert_eq!(table.fingerprint(), info.sha256);
        assert_eq!(table.source(), format!("sample:{id}"));
        assert_eq!(info.rows, table.num_rows(), "{id}");
        let named: Vec<&str> = info.columns.iter().map(|column| column.name).collect();
        assert_eq!(named, table.names().collect::<Vec<_>>(), "{id}");
        assert!(
            info.columns
                .iter()
                .all(|column| !column.unit.is_empty() && !column.meaning.is_empty())
        );
        assert!(!info.licence.is_empty() && !info.source.is_empty() && !info.title.is_empty());
        let generator = info.generator.as_ref().unwrap();
        assert_eq!(
            (generator.file, generator.seed),
            ("crates/data/tests/support/samples.rs", seed(id))
        );
        assert!(
            index.contains(sample.file_name),
            "README.md lists {}",
            sample.file_name
        );
        assert!(sample.bytes.len() < 1_500_000);
    }
}

/// Maximum of the logistic likelihood by Newton's method, and the standard errors, on the raw scale.
fn fit(design: &Design) -> (Vec<f64>, Vec<f64>) {
    let (n, p) = (design.num_obs(), design.num_columns());
    let raw = Mat::from_fn(n, p, |i, j| {
        design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j]
    });
    let raw = Mat::from_fn(n, p, |i, j| {
        if design.has_intercept && j == 0 {
            1.0
        } else {
            raw[(i, j)]
        }
    });
    let mut beta = Mat::<f64>::zeros(p, 1);
    let mut hessian = Mat::<f64>::zeros(p, p);
    for _ in 0..20 {
        let eta = &raw * &beta;
        let mean: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + (-eta[(i, 0)]).exp())).collect();
        let residual = Mat::from_fn(n, 1, |i, _| design.y[i] - mean[i]);
        let weighted = Mat::from_fn(n, p, |i, j| raw[(i, j)] * mean[i] * (1.0 - mean[i]));
        hessian = raw.transpose() * weighted;
        let step = hessian
            .llt(Side::Lower)
            .unwrap()
            .solve(raw.transpose() * residual);
        beta += step;
    }
    let covariance = hessian.llt(Side::Lower).unwrap().inverse();
    (
        (0..p).map(|j| beta[(j, 0)]).collect(),
        (0..p).map(|j| covariance[(j, j)].sqrt()).collect(),
    )
}

#[test]
fn the_suggested_model_finds_the_truth() {
    for sample in all() {
        let loaded = load(sample.id, &ImportOptions::default(), &Control::default()).unwrap();
        let suggestion = &sample.info.suggestion;
        let formula: Formula = suggestion.formula.parse().unwrap();
        let frame = ModelFrame {
            success: suggestion.success.map(str::to_owned),
            response_use: ergodic_core::models::find(suggestion.template)
                .unwrap()
                .response_use(&Default::default()),
            ..ModelFrame::new(formula)
        };
        let (design, _) = Design::build(&loaded.table, &frame).unwrap();
        let found = checks::check(&design);
        assert_eq!(found.warnings, [], "{}", sample.id);
        if let ResponseKind::Categories { levels } = &design.response.kind {
            assert_eq!(sample.info.truth.len(), levels.len());
            let total: usize = design.response.counts.iter().map(|(_, count)| count).sum();
            assert!(design.response.counts.iter().any(|(_, count)| *count == 0));
            for (level, count) in &design.response.counts {
                let expected = total as f64 * sample.info.truth[&format!("p[{level}]")];
                let z = (*count as f64 - expected) / expected.sqrt().max(1.0);
                assert!(z.abs() < 3.5, "{level}: {count} against {expected}");
            }
            continue;
        }
        if design.response.kind == ResponseKind::Absent {
            kinds_of_flowers(&design, &sample.info.truth);
            continue;
        }
        if !design.groups.is_empty() {
            effects_of_groups(&design, &sample.info.truth);
            continue;
        }
        let (estimates, errors) = fit(&design);
        assert_eq!(sample.info.truth.len(), estimates.len(), "{}", sample.id);
        for ((term, estimate), error) in design.terms.iter().zip(&estimates).zip(&errors) {
            let truth = sample.info.truth[&format!("b[{term}]")];
            // The seeds are fixed; 3.5 standard errors would fail by chance once in 70 such sets.
            let z = (estimate - truth) / error;
            assert!(
                z.abs() < 3.5,
                "{}: {term} is {estimate:.4}, truth {truth}, {z:.1} standard errors",
                sample.id
            );
        }
        let share = design.y.iter().sum::<f64>() / design.num_obs() as f64;
        assert!((0.1..0.5).contains(&share), "{}: {share}", sample.id);
    }
}

/// The nearest true kind of each flower: their shares are the true ones.
fn kinds_of_flowers(design: &Design, truth: &std::collections::BTreeMap<String, f64>) {
    let mut counts = [0.0; samples::FLOWERS.len()];
    let [
        (_, Predictor::Numeric(lengths)),
        (_, Predictor::Numeric(widths)),
    ] = &design.columns[..]
    else {
        panic!("two numeric columns");
    };
    for i in 0..design.num_obs() {
        let far = |(_, length, width): &(f64, f64, f64)| {
            (lengths[i] - length).powi(2) + (widths[i] - width).powi(2)
        };
        let kinds = samples::FLOWERS.iter().map(far).enumerate();
        let nearest = kinds.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        counts[nearest] += 1.0;
    }
    let n = design.num_obs() as f64;
    for (k, (share, _, _)) in samples::FLOWERS.iter().enumerate() {
        assert_eq!(truth[&format!("weight[{}]", k + 1)], *share);
        let z = (counts[k] - n * share) / (n * share * (1.0 - share)).sqrt();
        assert!(z.abs() < 3.5, "{k}: {} of {n}", counts[k]);
    }
}

/// Intercept and slope of each group by least squares or logistic regression: their mean over groups is the true one within
/// 3.5 standard errors, which their scatter gives.
fn effects_of_groups(design: &Design, truth: &std::collections::BTreeMap<String, f64>) {
    let group = &design.groups[0];
    let raw = |i: usize| design.x[[i, 1]] * design.raw_scale[1] + design.raw_center[1];
    let yes_no = matches!(design.response.kind, ResponseKind::Binary { .. });
    let mut found = [Vec::new(), Vec::new()];
    for level in 0..group.levels.len() {
        let rows: Vec<usize> = (0..design.num_obs())
            .filter(|&i| group.index[i] as usize == level)
            .collect();
        // Newton's method for two coefficients; one step of it is least squares.
        let (mut a, mut b) = (0.0, 0.0);
        for _ in 0..if yes_no { 30 } else { 1 } {
            let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
            for &i in &rows {
                let (x, eta) = (raw(i), a + b * raw(i));
                let mean: f64 = if yes_no {
                    1.0 / (1.0 + (-eta).exp())
                } else {
                    eta
                };
                let weight = if yes_no { mean * (1.0 - mean) } else { 1.0 };
                let residual = design.y[i] - mean;
                g = [g[0] + residual, g[1] + residual * x];
                h = [h[0] + weight, h[1] + weight * x, h[2] + weight * x * x];
            }
            let det = h[0] * h[2] - h[1] * h[1];
            a += (h[2] * g[0] - h[1] * g[1]) / det;
            b += (h[0] * g[1] - h[1] * g[0]) / det;
        }
        found[0].push(a);
        found[1].push(b);
    }
    let class = if yes_no { "mu" } else { "b" };
    for (term, values) in ["Intercept", design.terms[1].as_str()].iter().zip(&found) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let scatter = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        let error = (scatter / (n - 1.0) / n).sqrt();
        let expected = truth[&format!("{class}[{term}]")];
        let z = (mean - expected) / error;
        assert!(
            z.abs() < 3.5,
            "{term}: {mean}, truth {expected}, {z:.1} standard errors"
        );
    }
}

#[test]
fn the_awkward_file_is_read_with_every_oddity_named() {
    let awkward = all().iter().find(|sample| sample.id == "awkward").unwrap();
    let loaded = load(awkward.id, &ImportOptions::default(), &Control::default()).unwrap();
    let guesses = &loaded.guesses;
    assert_eq!(
        (
            guesses.delimiter.value,
            guesses.decimal.value,
            guesses.header.value
        ),
        (';', ',', true)
    );
    assert_eq!(guesses.encoding.value, "windows-1252");
    assert_eq!(guesses.missing.value, ["NA", "-", "?"]);
    let codes: Vec<&str> = loaded
        .reporter
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(
        codes,
        ["encoding", "duplicate-name", "empty-name", "leading-zeros"]
    );
    let (again, _) = {
        let options = guesses.to_options(&ImportOptions::default());
        let loaded = load(awkward.id, &options, &Control::default()).unwrap();
        (loaded.table, loaded.guesses)
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    loaded.table.write_csv(&mut first).unwrap();
    again.write_csv(&mut second).unwrap();
    assert_eq!(first, second, "the resolved options read the same table");
    assert_eq!(loaded.table.columns(), again.columns());
}
