//! Five analyses of well-known data by the command line, from the table to the answer: coefficients, effects on the outcome scale, means at typical
//! predictors and leave-one-out scores are those of other programs (`tests/reference/answers/answers.R`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{program, text};

mod support;

/// An answer of the other programs.
#[derive(serde::Deserialize)]
struct Reference {
    set: String,
    what: String,
    of: String,
    at: String,
    mean: f64,
    /// Monte Carlo error of the mean; a score whose importance weights failed has none.
    mcse: Option<f64>,
    sd: f64,
    /// Monte Carlo error of the standard deviation; the standard error of a score has none.
    mcse_sd: Option<f64>,
}

fn references() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/answers")
}

/// The score of a row by two models in which the effects of groups were integrated out (`tests/reference/answers/scores.py`).
#[derive(serde::Deserialize)]
struct RowReference {
    set: String,
    row: u64,
    full: f64,
    mcse_full: f64,
    other: f64,
    mcse_other: f64,
}

/// An analysis in a folder of its own.
struct Analysis {
    set: &'static str,
    folder: tempfile::TempDir,
    settings: &'static [&'static str],
    answers: Vec<Reference>,
}

impl Analysis {
    fn new(set: &'static str, settings: &'static [&'static str]) -> Self {
        let rows: Vec<Reference> = csv_rows("answers.csv");
        Self {
            set,
            folder: tempfile::tempdir().unwrap(),
            settings,
            answers: rows.into_iter().filter(|row| row.set == set).collect(),
        }
    }

    #[track_caller]
    fn ergodic(&self, args: &[&str]) -> String {
        let done = program(self.folder.path(), args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
        text(&done.stdout)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ergodic(args)).unwrap()
    }

    /// Fits `formula` into the folder `out`; says so where the verdict is not Good.
    fn fit(&self, out: &str, template: &str, formula: &str) {
        let data = references().join(format!("{}.csv", self.set));
        let data = data.to_str().unwrap();
        let mut args = vec![
            "fit",
            "--data",
            data,
            "--template",
            template,
            "--formula",
            formula,
        ];
        args.extend([
            "--chains", "4", "--draws", "2000", "--seed", "1", "--out", out,
        ]);
        args.extend(self.settings.iter().flat_map(|setting| ["--set", setting]));
        self.ergodic(&args);
        let summary =
            std::fs::read_to_string(self.folder.path().join(out).join("run.json")).unwrap();
        let manifest: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(manifest["verdict"], "good", "{manifest}");
    }

    /// Compares what is known of `what` with the numbers that `found` has of it.
    #[track_caller]
    fn agrees(&self, what: &str, found: impl Fn(&str, &str) -> Option<Found>) {
        let mut count = 0;
        for known in self.answers.iter().filter(|row| row.what == what) {
            let (of, at) = (known.of.as_str(), known.at.as_str());
            let name = format!("{}: {what} of {of} {at}", self.set);
            let ours = found(of, at).unwrap_or_else(|| panic!("no {name}"));
            let Some(mcse) = known.mcse else { continue };
            // Where weights failed here alone, the other program knows the error.
            let allowed = 4.0 * ours.mcse.unwrap_or(mcse).hypot(mcse);
            assert!(
                allowed < 0.3 * known.sd,
                "{name} is hardly known: {allowed}"
            );
            let off = (ours.mean - known.mean).abs();
            assert!(
                off < allowed,
                "{name}: {} against {}, allowed {allowed}",
                ours.mean,
                known.mean
            );
            // 8,000 draws here, 24,000 there, both by NUTS. The standard error of a score hardly has an error.
            let allowed = known.mcse_sd.map_or(0.06 * known.sd, |mcse| {
                4.0 * mcse * (1.0_f64 + 24_000.0 / 8_000.0).sqrt()
            });
            let off = (ours.sd - known.sd).abs();
            assert!(
                off < allowed,
                "{name}: sd {} against {}, allowed {allowed}",
                ours.sd,
                known.sd
            );
            count += 1;
        }
        assert!(count > 0, "{what}");
    }

    fn coefficients_agree(&self) {
        let summary =
            std::fs::read_to_string(self.folder.path().join("full/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        self.agrees("coefficient", |of, _| {
            let rows = summary["variables"].as_array()?;
            rows.iter()
                .find(|row| row["variable"] == of)
                .and_then(Found::read)
        });
    }

    /// Effects of all predictors, with all pairs of levels of `contrasts`.
    fn effects_agree(&self, contrasts: &str) {
        let mut args = vec!["effects", "full", "--json"];
        if !contrasts.is_empty() {
            args.extend(["--contrasts", contrasts]);
        }
        let mut all = self.json(&args)["effects"].as_array().unwrap().clone();
        all.extend(
            self.json(&["effects", "full", "--json"])["effects"]
                .as_array()
                .unwrap()
                .clone(),
        );
        self.agrees("effect", |of, at| {
            let mut effects = all.iter();
            let found = effects.find(|row| row["predictor"] == of && row["contrast"] == at);
            found.and_then(Found::read)
        });
    }

    /// Means along `of` with the other predictors typical.
    fn typical_agrees(&self, of: &str) {
        let said = self.json(&["effects", "full", "--along", of, "--json"]);
        let points = &said["along"][0]["curves"][0]["points"];
        self.agrees("typical", |_, at| {
            let mut points = points.as_array()?.iter();
            points.find(|point| point["at"] == at).and_then(Found::read)
        });
    }

    /// The difference of both models, over the rows whose scores have a Monte Carlo error by both, with draws moved for doubtful rows. Weights of
    /// rows that decide much of the effect of their group have a heavy tail, and sums over all rows err by 1 and more in any program that
    /// weighs draws.
    fn difference_agrees_where_weights_are_good(&self) {
        let said = self.json(&["loo", "full", "other", "--moment-match", "--json"]);
        let rows = |name: &str| {
            let mut runs = said["runs"].as_array().unwrap().iter();
            let run = runs.find(|run| run["run"] == name).unwrap();
            run["rows"].as_array().unwrap().clone()
        };
        let known: Vec<RowReference> = csv_rows("scores.csv");
        let known: Vec<_> = known.iter().filter(|row| row.set == self.set).collect();
        let (full, other) = (rows("full"), rows("other"));
        assert_eq!([full.len(), other.len()], [known.len(); 2]);
        let number = |row: &Value, what: &str| row[what].as_f64();
        let is_good = |row: &Value| number(row, "pareto_k").is_some_and(|k| k < FINITE_VARIANCE);
        let (mut count, mut sum, mut expected, mut variance) = (0, 0.0, 0.0, 0.0);
        for (known, (full, other)) in known.iter().zip(full.iter().zip(&other)) {
            assert_eq!(full["row"], known.row);
            if !(is_good(full) && is_good(other)) {
                continue;
            }
            count += 1;
            expected += known.other - known.full;
            variance += known.mcse_full.powi(2) + known.mcse_other.powi(2);
            for (row, sign) in [(full, -1.0), (other, 1.0)] {
                sum += sign * number(row, "elpd_loo").unwrap();
                variance += number(row, "mcse_elpd_loo").unwrap().powi(2);
            }
        }
        assert!(
            f64::from(count) > LEAST_SHARE * known.len() as f64,
            "{count}"
        );
        let allowed = 4.0 * variance.sqrt();
        assert!(
            (sum - expected).abs() < allowed,
            "{}: {sum} against {expected} over {count} rows, allowed {allowed}",
            self.set
        );
    }

    /// Scores of both models and their difference.
    fn scores_agree(&self) {
        let said = self.json(&["loo", "full", "other", "--json"]);
        let of_run = |name: &str| {
            said["runs"]
                .as_array()?
                .iter()
                .find(|run| run["run"] == name)
        };
        let error = |name: &str| of_run(name)?["mcse_elpd_loo"].as_f64();
        let elpd = |row: &Value| Some((row["estimate"].as_f64()?, row["se"].as_f64()?));
        self.agrees("score", |of, at| {
            let (full, other) = (of_run("full")?, of_run("other")?);
            let ((mean, sd), mcse) = match (of, at) {
                (_, "difference") => {
                    let rows = |run: &Value| run["rows"].as_array().cloned();
                    let (a, b) = (rows(full)?, rows(other)?);
                    let pairs = a.iter().zip(&b);
                    let each =
                        pairs.map(|(a, b)| Some(b["elpd_loo"].as_f64()? - a["elpd_loo"].as_f64()?));
                    let each: Vec<f64> = each.collect::<Option<_>>()?;
                    let compared = said["comparison"]["models"].as_array()?;
                    let worse = compared.iter().map(|model| &model["elpd_diff"]);
                    let (diff, se) = worse.filter_map(elpd).find(|(_, se)| *se > 0.0)?;
                    let sum: f64 = each.iter().sum();
                    assert!((sum.abs() - diff.abs()).abs() < 1e-9, "{sum} {diff}");
                    (
                        (sum, se),
                        error("full").zip(error("other")).map(|(a, b)| a.hypot(b)),
                    )
                }
                ("full", _) => (elpd(&full["elpd_loo"])?, error("full")),
                _ => (elpd(&other["elpd_loo"])?, error("other")),
            };
            Some(Found { mean, mcse, sd })
        });
    }
}

/// Pareto k below which importance weights have a variance, so that a score has a Monte Carlo error.
const FINITE_VARIANCE: f64 = 0.5;
/// Least share of rows with such weights: fewer say little of a difference.
const LEAST_SHARE: f64 = 0.7;

/// A mean, its Monte Carlo error and the standard deviation.
struct Found {
    mean: f64,
    mcse: Option<f64>,
    sd: f64,
}

impl Found {
    fn read(row: &Value) -> Option<Self> {
        Some(Self {
            mean: row["mean"].as_f64()?,
            mcse: row["mcse_mean"].as_f64(),
            sd: row["sd"].as_f64()?,
        })
    }
}

/// The rows of a table of reference answers, whose texts hold commas.
fn csv_rows<T: serde::de::DeserializeOwned>(file: &str) -> Vec<T> {
    let mut reader = csv::Reader::from_path(references().join(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn low_birth_weight() {
    let a = Analysis::new("birthwt", &["model.categorical=[\"race\"]"]);
    a.fit(
        "full",
        "logistic",
        "low ~ age + lwt + race + smoke + ptl + ht + ui",
    );
    a.fit(
        "other",
        "logistic",
        "low ~ age + lwt + smoke + ptl + ht + ui",
    );
    a.coefficients_agree();
    a.effects_agree("race");
    a.scores_agree();
}

#[test]
fn miles_per_gallon() {
    let a = Analysis::new(
        "mtcars",
        &["model.categorical=[\"cyl\"]", "priors.sigma=exponential(1)"],
    );
    a.fit("full", "linear", "mpg ~ wt + hp + cyl");
    a.fit("other", "linear", "mpg ~ wt + cyl");
    a.coefficients_agree();
    a.effects_agree("cyl");
    a.typical_agrees("cyl");
    a.scores_agree();
}

#[test]
#[ignore = "long: run by .ci/long"]
fn seizures() {
    let a = Analysis::new(
        "epil",
        &["model.family=poisson", "priors.sd=exponential(1)"],
    );
    a.fit(
        "full",
        "mixed",
        "y ~ lbase * trt + lage + V4 + (1 | subject)",
    );
    a.fit("other", "mixed", "y ~ lbase + lage + V4 + (1 | subject)");
    a.coefficients_agree();
    a.effects_agree("");
    a.typical_agrees("trt");
    a.difference_agrees_where_weights_are_good();
}

#[test]
fn infected_herds() {
    let a = Analysis::new(
        "cbpp",
        &[
            "model.categorical=[\"period\"]",
            "model.family=binomial",
            "priors.sd=exponential(1)",
        ],
    );
    a.fit("full", "mixed", "incidence / size ~ period + (1 | herd)");
    a.fit("other", "mixed", "incidence / size ~ 1 + (1 | herd)");
    a.coefficients_agree();
    a.effects_agree("period");
    a.typical_agrees("period");
    a.scores_agree();
    a.difference_agrees_where_weights_are_good();
}

/// A meta-analysis has no predictors: what is expected in each study is the answer.
#[test]
fn studies_of_a_meta_analysis() {
    let folder = tempfile::tempdir().unwrap();
    let done = |args: &[&str]| -> String {
        let done = program(folder.path(), args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
        text(&done.stdout)
    };
    let means = [12.1, 7.9, 10.4, 13.3, 8.8, 9.6, 11.2, 6.7];
    let rows = means.iter().enumerate();
    let rows: String = rows.map(|(k, y)| format!("study {k},{y},0.8\n")).collect();
    std::fs::write(
        folder.path().join("studies.csv"),
        format!("study,y,s\n{rows}"),
    )
    .unwrap();
    let fit = "fit --data studies.csv --template mixed --set model.family=gaussian_se --chains 2 --draws 500 --seed 1 --out run --formula";
    let mut fit: Vec<&str> = fit.split(' ').collect();
    fit.push("y | se(s) ~ 1 + (1 | study)");
    done(&fit);
    let head = "Known-variance linear mixed model: y | se(s) ~ 1 + (1 | study)";
    let summary = done(&["summarise", "run"]);
    assert!(summary.contains(head), "{summary}");
    let told = done(&["effects", "run"]);
    assert!(told.contains(" along study\n"), "{told}");
    assert_eq!(told, done(&["effects", "run", "--along", "study"]));
    let json: Value = serde_json::from_str(&done(&["effects", "run", "--json"])).unwrap();
    let points = json["along"][0]["curves"][0]["points"].as_array().unwrap();
    let found: Vec<f64> = points
        .iter()
        .map(|it| it["mean"].as_f64().unwrap())
        .collect();
    assert_eq!(found.len(), means.len());
    // The order of the studies is that of their means.
    for (a, b) in [(7, 1), (1, 4), (2, 0), (0, 3)] {
        assert!(means[a] < means[b] && found[a] < found[b], "{found:?}");
    }
}

#[test]
fn reaction_times() {
    let a = Analysis::new("sleepstudy", &["priors.sigma=exponential(1)"]);
    a.fit("full", "mixed", "Reaction ~ Days + (Days | Subject)");
    a.fit("other", "mixed", "Reaction ~ Days + (1 | Subject)");
    a.coefficients_agree();
    a.effects_agree("");
    a.scores_agree();
}
