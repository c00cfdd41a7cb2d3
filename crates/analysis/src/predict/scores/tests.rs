//! Scores against densities of another library and sums by hand.

mod levels;

use std::path::{Path, PathBuf};

use statrs::distribution::{
    Continuous as _, ContinuousCDF as _, Discrete as _, Normal, Poisson, Weibull,
};

use super::*;
use crate::Recipe;

pub(super) const NONE: &[Vec<f64>] = &[];

pub(super) fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

pub(super) fn fitted(path: &Path, template: &str, formula: &str, hold_out: Option<&str>) -> Fitted {
    let mut recipe = Recipe::new(path.to_str().unwrap(), template, formula);
    recipe.model.hold_out = hold_out.map(|text| text.parse().unwrap());
    Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap()
}

pub(super) fn scores(
    fitted: &Fitted,
    draws: &[&DrawList],
    weights: &[Vec<f64>],
) -> PredictionScores {
    fitted
        .scores(draws, weights, None, usize::MAX, &Control::default())
        .unwrap()
}

/// Lines 1 to 40 of x, y, k, b and split; every fourth is held out.
const LINES: &str = "x,f,y,k,b,n,split\n";

fn line(i: usize) -> String {
    format!(
        "{},{},{},{},{},{},{}\n",
        (i * 7 % 11) as f64 / 2.0,
        ["a", "b", "c"][i % 3],
        (i * 5 % 13) as f64 / 4.0,
        i * 3 % 5,
        ["no", "yes"][(i * i + i / 3) % 3 % 2],
        1 + i % 3,
        if i.is_multiple_of(4) { "test" } else { "train" }
    )
}

fn lines(pick: impl Fn(usize) -> bool) -> String {
    let lines = (1..41).filter(|i| pick(*i)).map(line);
    LINES.to_owned() + &lines.collect::<String>()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-10 * expected.abs().max(1.0),
        "{found} for {expected}"
    );
}

#[test]
fn numbers_have_the_scores_of_their_mixture_of_normals() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.csv", &lines(|_| true));
    let fitted = fitted(&path, "linear", "y ~ x", Some("split=test"));
    let draws: Vec<Vec<f64>> = (0..6)
        .map(|s| vec![1.0 + 0.1 * f64::from(s), 0.2, 0.7 + 0.2 * f64::from(s)])
        .collect();
    let found = scores(&fitted, &[&list(&draws[..3]), &list(&draws[3..])], NONE);
    let held: Vec<(f64, f64)> = (1..41)
        .filter(|i| i % 4 == 0)
        .map(|i| ((i * 7 % 11) as f64 / 2.0, (i * 5 % 13) as f64 / 4.0))
        .collect();
    assert_eq!((found.rows.len(), found.rows_total), (10, 10));
    // After s draws of both chains.
    let lpd = |s: usize| -> f64 {
        let used = || draws[..s].iter().chain(&draws[3..3 + s]);
        let of = |(x, y): &(f64, f64)| {
            let densities = used().map(|d| Normal::new(d[0] + d[1] * x, d[2]).unwrap().pdf(*y));
            (densities.sum::<f64>() / (2 * s) as f64).ln()
        };
        held.iter().map(of).sum::<f64>() / 10.0
    };
    for (point, s) in found.course.iter().zip(1..) {
        assert_eq!(point.draws, s);
        assert_close(point.lpd, lpd(s));
    }
    assert_eq!(found.course.len(), 3);
    assert_close(found.score(Measure::Lpd).unwrap().value, lpd(3));
    let mean = |x: f64| 1.25 + 0.2 * x;
    let errors = held.iter().map(|(x, y)| y - mean(*x));
    let squares: f64 = errors.clone().map(|error| error * error).sum();
    let sizes: f64 = errors.map(f64::abs).sum();
    assert_close(
        found.score(Measure::Rmse).unwrap().value,
        (squares / 10.0).sqrt(),
    );
    assert_close(found.score(Measure::Mae).unwrap().value, sizes / 10.0);
    let words: Vec<&str> = found.measures.iter().map(|(it, _)| it.word()).collect();
    assert_eq!(words, ["lpd", "rmse", "mae", "coverage_50", "coverage_90"]);
    assert_eq!(found.remarks(), Vec::<String>::new());
}

/// Chances of three levels without an order by hand: scores of held-out rows, predictions, LOO's log densities and frequencies.
#[test]
fn levels_without_an_order_have_the_loss_of_their_chances() {
    let folder = tempfile::tempdir().unwrap();
    let text = "r,x,split\nred,0,train\nblue,1,train\ngreen,2,train\nblue,0,train\ngreen,1,train\nred,2,train\nred,-2,test\n\
                green,1,test\nblue,0.5,test\ngreen,3,test\n";
    let path = file(folder.path(), "levels.csv", text);
    let fitted = fitted(&path, "multinomial", "r ~ x", Some("split=test"));
    // Intercept and slope of green and of red against blue.
    let draws = [[0.3, 0.9, 0.2, -0.8], [-0.1, 0.5, 0.4, -1.1]];
    let found = scores(&fitted, &[&list(&draws.map(Vec::from))], NONE);
    let chances_of = |[a, b, c, d]: [f64; 4], x: f64| -> [f64; 3] {
        let all = [0.0, a + b * x, c + d * x].map(f64::exp);
        all.map(|e| e / all.iter().sum::<f64>())
    };
    let chances = |x: f64| -> [f64; 3] {
        let [a, b] = draws.map(|draw| chances_of(draw, x));
        [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
    };
    let called_of = |p: &[f64; 3]| (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
    let rows = [(-2.0, 2), (1.0, 1), (0.5, 0), (3.0, 1)];
    let (mut loss, mut wrong) = (0.0, 0.0);
    for ((x, level), row) in rows.into_iter().zip(&found.rows) {
        let chances = chances(x);
        let called = called_of(&chances);
        assert_eq!(
            (row.observed, row.called),
            ((level + 1) as f64, (called + 1) as f64)
        );
        assert_close(row.predicted, chances[called]);
        assert_close(row.lpd, chances[level].ln());
        loss -= chances[level].ln() / 4.0;
        wrong += f64::from(called != level) / 4.0;
    }
    let words: Vec<&str> = found.measures.iter().map(|(it, _)| it.word()).collect();
    assert_eq!(words, ["lpd", "log_loss", "error_rate", "perplexity"]);
    let value = |measure| found.score(measure).unwrap().value;
    assert_close(value(Measure::LogLoss), loss);
    assert_close(value(Measure::ErrorRate), wrong);
    assert!(0.0 < wrong && wrong < 1.0);

    let chain = list(&draws.map(Vec::from));
    let control = Control::default();
    let predicted = fitted.predict(
        &[&chain],
        &[],
        None,
        crate::predict::PredictOptions::default(),
        &control,
    );
    let predicted = predicted.unwrap();
    assert_eq!(predicted.quantity, "probability of the most probable r");
    let train = [(0.0, 2), (1.0, 0), (2.0, 1), (0.0, 0), (1.0, 1), (2.0, 2)];
    let mut right = 0;
    for (place, (x, level)) in train.into_iter().enumerate() {
        let (row, expected) = (&predicted.rows[place], chances(x));
        let called = called_of(&expected);
        for (found, expected) in predicted.chances[place].iter().zip(expected) {
            assert_close(*found, expected);
        }
        assert_eq!(predicted.called(place), Some((called + 1) as f64));
        let [a, b] = draws.map(|draw| chances_of(draw, x)[called]);
        assert_close(row.mean, 0.5 * (a + b));
        assert_close(row.sd, (a - b).abs() / f64::sqrt(2.0));
        assert!(row.outcome.iter().all(|end| end.is_nan()));
        right += usize::from(called == level);
    }
    assert_eq!(predicted.coverage(), (right, 6));

    // The pointwise log likelihood, in stretches of draws.
    let log_lik = fitted
        .log_lik(&[&chain], &[], usize::MAX, &control)
        .unwrap();
    for (i, (x, level)) in train.into_iter().enumerate() {
        let mut both = [0.0; 2];
        log_lik.row(i, 0, &mut both);
        for (s, found) in both.into_iter().enumerate() {
            assert_close(found, chances_of(draws[s], x)[level].ln());
            let mut one = [0.0];
            log_lik.row(i, s, &mut one);
            assert_eq!(one[0], found);
        }
    }
}

/// Chances of three levels by hand: two draws, held-out rows with and without the level that both together call.
#[test]
fn levels_have_the_loss_and_errors_of_their_chances() {
    let folder = tempfile::tempdir().unwrap();
    let text = "r,x,split\n1,0,train\n2,1,train\n3,2,train\n2,0,train\n3,1,train\n1,2,train\n1,-2,test\n\
                3,1,test\n2,0.5,test\n3,3,test\n";
    let path = file(folder.path(), "levels.csv", text);
    let fitted = fitted(&path, "ordered", "r ~ x", Some("split=test"));
    // Slope and cut points.
    let draws = [[1.0, -0.5, 1.2], [0.4, 0.1, 0.9]];
    let found = scores(&fitted, &[&list(&draws.map(Vec::from))], NONE);
    let sigma = |t: f64| 1.0 / (1.0 + (-t).exp());
    let chances = |x: f64| -> [f64; 3] {
        let of = |[b, first, second]: [f64; 3]| {
            let [low, mid] = [sigma(first - b * x), sigma(second - b * x)];
            [low, mid - low, 1.0 - mid]
        };
        let [a, b] = draws.map(of);
        [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
    };
    let rows = [(-2.0, 0), (1.0, 2), (0.5, 1), (3.0, 2)];
    let (mut loss, mut wrong) = (0.0, 0.0);
    for ((x, level), row) in rows.into_iter().zip(&found.rows) {
        let chances = chances(x);
        let largest = chances.iter().copied().fold(0.0, f64::max);
        let called = chances.iter().position(|p| *p == largest).unwrap();
        assert_eq!(row.called, (called + 1) as f64);
        assert_close(row.lpd, chances[level].ln());
        loss -= chances[level].ln() / 4.0;
        wrong += f64::from(called != level) / 4.0;
    }
    let value = |measure| found.score(measure).unwrap().value;
    assert_close(value(Measure::LogLoss), loss);
    assert_close(value(Measure::Perplexity), loss.exp());
    assert_close(value(Measure::ErrorRate), wrong);
    assert!(0.0 < wrong && wrong < 1.0);
    let se = found.score(Measure::LogLoss).unwrap().se.unwrap();
    assert_close(
        found.score(Measure::Perplexity).unwrap().se.unwrap(),
        se * loss.exp(),
    );
    assert_eq!(found.course_measure(), ("log loss", -1.0));
    // The same chance twice calls the lower level.
    assert_eq!(most_probable(&[0.2, 0.4, 0.4]), 2.0);
    assert!(most_probable(&[]).is_nan());
}

/// What is known of a row is scored, not the value at which it was lost sight of, and nothing is told that needs outcomes seen.
#[test]
fn censored_outcomes_are_scored_by_what_is_known_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "t,s,x,split\n1.5,0,1,train\n2.5,1,2,train\n0.5,0,3,train\n2,0,1,train\n1,1,2,test\n3,0,1,test\n0.7,-1,3,test\n";
    let path = file(folder.path(), "times.csv", text);
    let mut recipe = Recipe::new(path.to_str().unwrap(), "mixed", "t | cens(s) ~ x");
    recipe.model.hold_out = Some("split=test".parse().unwrap());
    let recipe = recipe
        .changed(&["model.family=weibull".to_owned()])
        .unwrap();
    let fitted = Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap();
    let (intercept, slope, shape) = (0.4, 0.3, 1.7_f64);
    let draws = list(&vec![vec![intercept, slope, shape]; 4]);
    let found = scores(&fitted, &[&draws], NONE);
    let scale =
        |x: f64| (intercept + slope * x).exp() / statrs::function::gamma::gamma(1.0 + 1.0 / shape);
    let of = |x: f64| Weibull::new(shape, scale(x)).unwrap();
    let expected = [
        of(2.0).sf(1.0).ln(),
        of(1.0).ln_pdf(3.0),
        of(3.0).cdf(0.7).ln(),
    ];
    for (row, expected) in found.rows.iter().zip(expected) {
        assert_close(row.lpd, expected);
    }
    let seen: Vec<bool> = found
        .rows
        .iter()
        .map(|row| row.observed.is_finite())
        .collect();
    assert_eq!(seen, [false, true, false]);
    let words: Vec<&str> = found.measures.iter().map(|(it, _)| it.word()).collect();
    assert_eq!(words, ["lpd"]);
    assert!(
        found.remarks()[0].starts_with("2 outcomes censored"),
        "{:?}",
        found.remarks()
    );
    let options = super::super::PredictOptions::default();
    let predicted = fitted
        .predict(&[&draws], NONE, None, options, &Control::default())
        .unwrap();
    let observed: Vec<f64> = predicted.rows.iter().map(|row| row.observed).collect();
    assert_eq!(
        observed.iter().filter(|y| y.is_nan()).count(),
        1,
        "{observed:?}"
    );
    for row in &predicted.rows {
        // Of the time until the event, however long it was watched.
        assert!(row.mean > 1.5, "{row:?}");
    }
}

#[test]
fn intervals_hold_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    // Standard normal outcomes by their quantiles, in an order that no column tells.
    let normal = Normal::new(0.0, 1.0).unwrap();
    use statrs::distribution::ContinuousCDF as _;
    let mut text = "x,y,split\n".to_owned();
    for i in 0..400 {
        let y = normal.inverse_cdf((f64::from(i) + 0.5) / 400.0);
        let split = if i % 2 == 0 { "train" } else { "test" };
        text.push_str(&format!("{},{y},{split}\n", i % 7));
    }
    let path = file(folder.path(), "a.csv", &text);
    let fitted = fitted(&path, "linear", "y ~ x", Some("split=test"));
    let found = scores(&fitted, &[&list(&vec![vec![0.0, 0.0, 1.0]; 2000])], NONE);
    for (k, probability) in INTERVALS.into_iter().enumerate() {
        let score = found.score(Measure::Coverage(k)).unwrap();
        // Outcomes are spaced evenly; the ends of intervals have the error of quantiles of 2,000 draws, alike for no two rows.
        assert!(
            (score.value - probability).abs() < 0.03,
            "{probability}: {}",
            score.value
        );
    }
}

#[test]
fn yes_and_no_are_scored_by_mean_probabilities_of_weighted_draws() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.csv", &lines(|_| true));
    let fitted = fitted(&path, "logistic", "b ~ x", Some("split=test"));
    let draws = [vec![-0.5, 0.1], vec![0.7, -0.4], vec![0.1, 0.3]];
    let weighted = scores(&fitted, &[&list(&draws)], &[vec![1.0, 3.0, 2.0]]);
    let held: Vec<(f64, f64)> = (1..41)
        .filter(|i| i % 4 == 0)
        .map(|i| {
            (
                (i * 7 % 11) as f64 / 2.0,
                f64::from((i * i + i / 3) % 3 % 2 == 1),
            )
        })
        .collect();
    let probability = |x: f64| {
        let of = |d: &[f64]| 1.0 / (1.0 + (-d[0] - d[1] * x).exp());
        (of(&draws[0]) + 3.0 * of(&draws[1]) + 2.0 * of(&draws[2])) / 6.0
    };
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        held.iter()
            .map(|(x, y)| of(probability(*x), *y))
            .sum::<f64>()
            / 10.0
    };
    let value = |measure| weighted.score(measure).unwrap().value;
    let log_loss = mean(&|p, y| -(if y == 1.0 { p } else { 1.0 - p }).ln());
    assert_close(value(Measure::LogLoss), log_loss);
    assert_close(value(Measure::Lpd), -log_loss);
    assert_close(value(Measure::Brier), mean(&|p, y| (p - y) * (p - y)));
    assert_close(
        value(Measure::ErrorRate),
        mean(&|p, y| f64::from((p > 0.5) != (y == 1.0))),
    );
    assert!((0.0..=1.0).contains(&value(Measure::Auc)));
    assert_eq!(weighted.roc.as_ref().unwrap().points[0].true_positives, 0.0);
    assert_eq!(
        weighted.remarks(),
        ["Draws are weighted by their column `weight`"]
    );
    // The same draws as often as they weigh.
    let [a, b, c] = draws.clone();
    let repeated = [a, b.clone(), b.clone(), b, c.clone(), c];
    let repeated = scores(&fitted, &[&list(&repeated)], NONE);
    for ((measure, one), (_, other)) in weighted.measures.iter().zip(&repeated.measures) {
        assert!((one.value - other.value).abs() < 1e-12, "{measure:?}");
    }
}

#[test]
fn rows_held_out_are_scored_as_those_of_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let all = file(folder.path(), "all.csv", &lines(|_| true));
    let train = file(folder.path(), "train.csv", &lines(|i| i % 4 != 0));
    let test = file(folder.path(), "test.csv", &lines(|i| i % 4 == 0));
    let held = fitted(&all, "poisson", "k ~ x + f", Some("split=test"));
    let other = fitted(&train, "poisson", "k ~ x + f", None);
    let draws = list(&[vec![0.3, 0.1, 0.2, -0.3], vec![0.2, 0.05, 0.1, 0.4]]);
    let here = scores(&held, &[&draws], NONE);
    let table = other.read(&test, &Control::default()).unwrap();
    let control = Control::default();
    let there = other.scores(&[&draws], NONE, Some(&table), usize::MAX, &control);
    let there = there.unwrap();
    assert_eq!(here.rows.len(), 10);
    for (a, b) in here.rows.iter().zip(&there.rows) {
        assert_eq!(
            (a.lpd, a.predicted, a.observed),
            (b.lpd, b.predicted, b.observed)
        );
    }
    assert_eq!(here.course, there.course);
    let first = here.rows[0];
    let (x, f) = ((4 * 7 % 11) as f64 / 2.0, 4 % 3);
    let rate = |d: [f64; 4]| (d[0] + d[1] * x + [0.0, d[2], d[3]][f]).exp();
    let rates = [rate([0.3, 0.1, 0.2, -0.3]), rate([0.2, 0.05, 0.1, 0.4])];
    let density: f64 = rates
        .iter()
        .map(|r| Poisson::new(*r).unwrap().pmf(12 % 5))
        .sum();
    assert_close(first.lpd, (density / 2.0).ln());
    assert_close(first.predicted, (rates[0] + rates[1]) / 2.0);
    let refused = other.scores(&[&draws], NONE, None, usize::MAX, &control);
    assert!(refused.unwrap_err().to_string().contains("--hold-out 0.2"));

    let of_other_level = fitted(&all, "poisson", "k ~ x + f", Some("f=c"));
    let draws = list(&[vec![0.3, 0.1, 0.2], vec![0.2, 0.05, 0.1]]);
    let refused = of_other_level.scores(&[&draws], NONE, None, usize::MAX, &control);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("None of 13 rows held out can be scored"),
        "{refused}"
    );
}

#[test]
fn a_row_of_some_weight_counts_as_many_rows() {
    let folder = tempfile::tempdir().unwrap();
    let weighted = file(folder.path(), "a.csv", &lines(|_| true));
    let repeated: String = (1..41).map(|i| line(i).repeat(1 + i % 3)).collect();
    let repeated = file(folder.path(), "b.csv", &(LINES.to_owned() + &repeated));
    let draws = list(&[vec![-0.5, 0.1], vec![0.7, -0.4]]);
    let one = fitted(
        &weighted,
        "logistic",
        "b | weights(n) ~ x",
        Some("split=test"),
    );
    let other = fitted(&repeated, "logistic", "b ~ x", Some("split=test"));
    let (one, other) = (
        scores(&one, &[&draws], NONE),
        scores(&other, &[&draws], NONE),
    );
    assert!(one.weights.is_some() && other.rows.len() > one.rows.len());
    for ((measure, one), (_, other)) in one.measures.iter().zip(&other.measures) {
        assert_close(one.value, other.value);
        assert!(one.se.is_some() || *measure == Measure::Auc);
    }
    for (one, other) in one.course.iter().zip(&other.course) {
        assert_close(one.lpd, other.lpd);
    }
}

#[test]
fn rows_that_cannot_be_scored_are_counted_and_new_groups_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "x,f,g,y,split\n".to_owned();
    for i in 1..31 {
        let split = if i % 3 == 0 { "test" } else { "train" };
        let f = match i {
            6 => "rare",
            9 => "",
            _ => ["a", "b"][i % 2],
        };
        let g = if i % 3 == 0 { 7 } else { i % 4 };
        text.push_str(&format!("{},{f},g{g},{},{split}\n", i % 5, i * 7 % 11));
    }
    let path = file(folder.path(), "a.csv", &text);
    let fitted = fitted(&path, "mixed", "y ~ x + f + (1 | g)", Some("split=test"));
    let params = fitted.model.params();
    let at = |name: &str| params.iter().position(|it| it.name == *name).unwrap();
    let mut theta = vec![0.0; params.len()];
    theta[at("b[Intercept]")] = 5.0;
    theta[at("sigma")] = 1.5;
    theta[at("sd[g,Intercept]")] = 2.0;
    let draws = list(&vec![theta; 20_000]);
    let found = scores(&fitted, &[&draws], NONE);
    assert_eq!((found.rows.len(), found.rows_total), (8, 10));
    assert_eq!(
        found.remarks(),
        [
            "2 rows of 10 not scored: 1 without `f`, 1 whose `f` is `rare` or another value that no row of the fit has",
            "1 group of `g` not in the fit: their effects are drawn from the population of groups",
        ]
    );
    // The effect of the new group is integrated over: variance 1.5² + 2².
    let normal = Normal::new(5.0, 2.5).unwrap();
    for row in &found.rows {
        assert!(
            (row.lpd - normal.ln_pdf(row.observed)).abs() < 0.05,
            "{row:?}"
        );
    }
    // Nothing that the fit knows.
    let new = file(folder.path(), "b.csv", "x,f,g,y\n1,z,g1,2\n,a,g1,3\n");
    let control = Control::default();
    let table = fitted.read(&new, &control).unwrap();
    let error = fitted.scores(&[&draws], NONE, Some(&table), 10, &control);
    assert_eq!(
        error.unwrap_err().to_string(),
        "None of 2 rows can be scored: 1 without `x`, 1 whose `f` is `z` or another value that no row of the fit has"
    );
}

#[test]
fn functions_of_outcomes_are_scored_on_the_scale_of_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (1..21)
        .map(|i| format!("{},{}\n", i % 5, 1 + i * 7 % 9))
        .collect();
    let path = file(folder.path(), "a.csv", &format!("x,y\n{text}"));
    let fitted = fitted(&path, "linear", "log(y) ~ x", Some("1/4"));
    let found = scores(&fitted, &[&list(&[vec![0.9, 0.1, 0.6]])], NONE);
    for row in &found.rows {
        let i = row.row as usize + 1;
        let (x, y) = ((i % 5) as f64, (1 + i * 7 % 9) as f64);
        let normal = Normal::new(0.9 + 0.1 * x, 0.6).unwrap();
        assert_close(row.lpd, normal.ln_pdf(y.ln()) - y.ln());
        assert_close(row.predicted, (0.9 + 0.1 * x).exp());
        assert_eq!(row.observed, y);
    }
    assert_eq!(found.rows.len(), 5);
    assert!(found.remarks()[0].contains("medians instead of means"));
}

#[test]
fn a_course_knows_when_its_places_were_reached() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.csv", &lines(|_| true));
    let fitted = fitted(&path, "logistic", "b ~ x", Some("0.25"));
    let long: Vec<Vec<f64>> = (0..120).map(|s| vec![0.01 * f64::from(s), 0.1]).collect();
    let mut found = scores(&fitted, &[&list(&long), &list(&long[..60])], NONE);
    assert_eq!(found.course.len(), PLACES);
    assert_eq!(found.course[0].draws, 3);
    assert_eq!(found.course[PLACES - 1].draws, 120);
    assert_eq!(found.course[0].seconds, None);
    let time = |warmup, draws| ChainTime { warmup, draws };
    found.time(&[time(1.0, 6.0), time(2.0, 3.0)]);
    // 3 of 120 draws: 1.15 and 2.075 seconds.
    assert_close(found.course[0].seconds.unwrap(), 2.075);
    assert_close(found.course[PLACES - 1].seconds.unwrap(), 7.0);
    // Threads change nothing.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let mut one = pool.install(|| scores(&fitted, &[&list(&long), &list(&long[..60])], NONE));
    one.time(&[time(1.0, 6.0), time(2.0, 3.0)]);
    assert!(one.measures == found.measures && one.course == found.course);
}
