//! Scores of outcomes of several levels against those of scikit-learn, from `tests/reference/scores_levels.py`.

use std::path::PathBuf;

use super::{NONE, fitted, list, scores};
use crate::predict::scores::*;

/// The templates, their outcomes, and what their draws in the reference are of.
const TEMPLATES: [(&str, &str, &[&str]); 2] = [
    (
        "multinomial",
        "party",
        &[
            "logit[green,Intercept]",
            "logit[green,x]",
            "logit[green,f=b]",
            "logit[green,f=c]",
            "logit[none,Intercept]",
            "logit[none,x]",
            "logit[none,f=b]",
            "logit[none,f=c]",
            "logit[red,Intercept]",
            "logit[red,x]",
            "logit[red,f=b]",
            "logit[red,f=c]",
        ],
    ),
    (
        "ordered",
        "rating",
        &[
            "b[x]", "b[f=b]", "b[f=c]", "cut[1|2]", "cut[2|3]", "cut[3|4]",
        ],
    ),
];

fn reference(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/reference")
        .join(file)
}

fn lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(reference(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let cells = lines.map(|line| line.split(',').map(str::to_owned).collect());
    cells.collect()
}

/// Draws of two chains, and their weights.
type Chains = ([DrawList; 2], Vec<Vec<f64>>);

/// The draws of a template in the order of the parameters of `fitted`.
fn draws(fitted: &Fitted, template: &str, names: &[&str]) -> Chains {
    let params = fitted.model.params();
    assert_eq!(params.len(), names.len(), "{template}");
    let place = |name: &&str| params.iter().position(|it| it.name == **name).unwrap();
    let places: Vec<usize> = names.iter().map(place).collect();
    let (mut rows, mut weights) = ([vec![], vec![]], vec![vec![], vec![]]);
    for line in lines("scores_levels_draws.csv") {
        if line[0] != template {
            continue;
        }
        let chain = line[1].parse::<usize>().unwrap() - 1;
        weights[chain].push(line[2].parse().unwrap());
        let mut theta = vec![f64::NAN; names.len()];
        for (place, value) in places.iter().zip(&line[3..]) {
            theta[*place] = value.parse().unwrap();
        }
        rows[chain].push(theta);
    }
    (rows.map(|rows| list(&rows)), weights)
}

#[test]
fn scores_of_levels_are_those_of_scikit_learn() {
    let expected = lines("scores_levels.csv");
    let mut compared = 0;
    for (template, outcome, names) in TEMPLATES {
        for rows in ["alike", "weighted"] {
            let weights = if rows == "weighted" {
                " | weights(n)"
            } else {
                ""
            };
            let formula = format!("{outcome}{weights} ~ x + f");
            let path = reference("scores_levels_data.csv");
            let fitted = fitted(&path, template, &formula, Some("split=test"));
            let ([one, other], draw_weights) = draws(&fitted, template, names);
            assert_eq!((one.len(), other.len()), (5, 3));
            for (how, given) in [("alike", NONE), ("weighted", draw_weights.as_slice())] {
                let found = scores(&fitted, &[&one, &other], given);
                assert_eq!(found.rows.len(), 75);
                assert_eq!(found.weighted, how == "weighted");
                let of_case = expected
                    .iter()
                    .filter(|line| line[..3] == [template, how, rows]);
                for line in of_case {
                    let (word, is_error) = match line[3].strip_suffix("_se") {
                        Some(word) => (word, true),
                        None => (line[3].as_str(), false),
                    };
                    let mut measures = found.measures.iter();
                    let (_, score) = measures.find(|(it, _)| it.word() == word).unwrap();
                    let value = if is_error {
                        score.se.unwrap()
                    } else {
                        score.value
                    };
                    let expected: f64 = line[4].parse().unwrap();
                    assert!(
                        (value - expected).abs() < 1e-10 * expected.abs().max(1.0),
                        "{}: {value} here",
                        line.join(",")
                    );
                    compared += 1;
                }
                // All measures but intervals, which are of outcomes drawn at random.
                let is_exact = |it: &&(Measure, Score)| !matches!(it.0, Measure::Coverage(_));
                let exact = found.measures.iter().filter(is_exact).count();
                assert_eq!(exact, if template == "ordered" { 6 } else { 4 });
            }
        }
    }
    assert_eq!(compared, expected.len());
}
