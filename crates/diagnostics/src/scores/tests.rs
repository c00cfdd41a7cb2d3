//! Scores against those of scikit-learn, from `tests/reference/scores.py`, and closed forms.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

fn table(file: &str) -> Vec<Vec<String>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let cells = lines.map(|line| line.split(',').map(str::to_owned).collect());
    cells.collect()
}

/// Outcomes, probabilities and weights.
fn data() -> [Vec<f64>; 3] {
    let rows = table("scores_data.csv");
    [0, 1, 2].map(|j| rows.iter().map(|row| row[j].parse().unwrap()).collect())
}

/// Values by the name of a quantity, in order.
fn reference() -> BTreeMap<String, Vec<f64>> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in table("scores.csv") {
        let value = row[1].parse().unwrap();
        found.entry(row[0].clone()).or_default().push(value);
    }
    found
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let close = found == expected || (found - expected).abs() < 1e-8 * expected.abs().max(1.0);
    assert!(close, "{what}: {found} here, {expected} there");
}

#[test]
fn scores_are_those_of_scikit_learn() {
    let [y, p, w] = data();
    let reference = reference();
    for (weights, end) in [(None, ""), (Some(w.as_slice()), "_weighted")] {
        let is = |what: &str, found: f64| {
            let name = format!("{what}{end}");
            assert_close(found, reference[&name][0], &name);
        };
        let log: Vec<f64> = y
            .iter()
            .zip(&p)
            .map(|(y, p)| if *y == 1.0 { p.ln() } else { (-p).ln_1p() })
            .collect();
        is("log_loss", Score::mean(&log, weights).negated().value);
        is("brier", Score::mean(&brier(&p, &y), weights).value);
        let roc = roc(&p, &y, weights).unwrap();
        is("auc", roc.area.value);
        for (what, pick) in [
            ("roc_threshold", (|it| it.threshold) as fn(&RocPoint) -> f64),
            ("roc_false_positives", |it| it.false_positives),
            ("roc_true_positives", |it| it.true_positives),
        ] {
            let name = format!("{what}{end}");
            let expected = &reference[&name];
            assert_eq!(roc.points.len(), expected.len(), "{name}");
            for (point, expected) in roc.points.iter().zip(expected) {
                assert_close(pick(point), *expected, &name);
            }
        }
    }
    assert_close(
        Score::mean(&brier(&p, &y), None).se.unwrap(),
        reference["brier_se"][0],
        "brier_se",
    );
    assert_close(
        roc(&p, &y, None).unwrap().area.se.unwrap(),
        reference["auc_se"][0],
        "auc_se",
    );
}

#[test]
fn means_have_the_errors_of_samples() {
    let score = Score::mean(&[1.0, 2.0, 6.0], None);
    // Variance 7, of three.
    assert_eq!(score.value, 3.0);
    assert_close(score.se.unwrap(), (7.0_f64 / 3.0).sqrt(), "of 3");
    // Equal weights are none, whatever their size.
    assert_eq!(Score::mean(&[1.0, 2.0, 6.0], Some(&[4.0; 3])), score);
    let weighted = Score::mean(&[1.0, 5.0], Some(&[3.0, 1.0]));
    assert_eq!(weighted.value, 2.0);
    assert_eq!(
        Score::mean(&[4.0], None),
        Score {
            value: 4.0,
            se: None
        }
    );
    let root = Score {
        value: 9.0,
        se: Some(1.2),
    }
    .root();
    assert_eq!(root.value, 3.0);
    assert_close(root.se.unwrap(), 0.2, "of a root");
    assert!(Score::mean(&[], None).value.is_nan());
}

#[test]
fn the_curve_of_one_kind_of_outcome_does_not_exist() {
    assert_eq!(roc(&[0.1, 0.2], &[1.0, 1.0], None), None);
    assert_eq!(roc(&[0.1, 0.2], &[1.0, 0.0], Some(&[1.0, 0.0])), None);
    let area = |p: &[f64]| roc(p, &[0.0, 1.0, 0.0, 1.0], None).unwrap().area.value;
    assert_eq!(area(&[0.1, 0.9, 0.2, 0.8]), 1.0);
    assert_eq!(area(&[0.5; 4]), 0.5);
    assert_eq!(area(&[0.9, 0.1, 0.8, 0.2]), 0.0);
}
