//! Numbers of the R package loo (`tests/reference/loo.R`), closed forms, and the conditions of the best mixture.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

const MODELS: [&str; 3] = ["mean", "line", "tight"];
const TOLERANCE: f64 = 1e-6;

fn lines(file: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Log densities of a model: rows × draws, and the draws of each chain.
fn log_lik(model: &str) -> (Vec<Vec<f64>>, Vec<usize>) {
    let (mut rows, mut lengths) = (vec![Vec::new(); 10], vec![0; 2]);
    for line in lines("loo_log_lik.csv") {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] != model {
            continue;
        }
        lengths[cells[1].parse::<usize>().unwrap() - 1] += 1;
        for (row, cell) in rows.iter_mut().zip(&cells[2..]) {
            row.push(cell.parse().unwrap());
        }
    }
    (rows, lengths)
}

fn scored(rows: &[Vec<f64>], lengths: &[usize], weights: Option<&[f64]>) -> Loo {
    let chains = Chains::new(lengths, weights).unwrap();
    let mut scorer = Scorer::new(&chains);
    Loo {
        rows: rows.iter().map(|row| scorer.score(row).unwrap()).collect(),
        draws: chains.num_draws(),
    }
}

fn loo(model: &str) -> Loo {
    let (rows, lengths) = log_lik(model);
    scored(&rows, &lengths, None)
}

/// Value by model, row and quantity.
fn reference() -> BTreeMap<(String, usize, String), f64> {
    let value = |line: &String| {
        let cells: Vec<&str> = line.split(',').collect();
        let key = (
            cells[0].to_owned(),
            cells[1].parse().unwrap(),
            cells[2].to_owned(),
        );
        (key, cells[3].parse().unwrap())
    };
    lines("loo.csv").iter().skip(1).map(value).collect()
}

fn assert_near(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= TOLERANCE * expected.abs().max(1.0),
        "{what}: {found} {expected}"
    );
}

#[test]
fn rows_and_totals_are_those_of_the_package_loo() {
    let reference = reference();
    let mut compared = 0;
    let best = loo("line");
    for model in MODELS {
        let found = loo(model);
        let mut check = |row: usize, quantity: &str, value: f64| {
            let key = (model.to_owned(), row, quantity.to_owned());
            assert_near(value, reference[&key], &format!("{key:?}"));
            compared += 1;
        };
        for (i, row) in found.rows.iter().enumerate() {
            check(i + 1, "elpd", row.elpd);
            check(i + 1, "p", row.p());
            check(i + 1, "k", row.k);
            check(i + 1, "p_waic", row.p_waic);
            check(i + 1, "mc_variance", row.mc_variance);
        }
        let mut total = |quantity: &str, total: Total| {
            check(0, quantity, total.estimate);
            check(0, &format!("se_{quantity}"), total.se);
        };
        total("elpd_loo", found.elpd());
        total("p_loo", found.p());
        total("looic", found.looic());
        total("elpd_waic", found.elpd_waic());
        total("p_waic", found.p_waic());
        total("waic", found.waic());
        let difference = found.difference(&best);
        check(0, "elpd_diff", difference.estimate);
        check(0, "se_diff", difference.se);
    }
    assert_eq!(compared, 3 * (5 * 10 + 14));
}

#[test]
fn pareto_k_sorts_rows_by_what_their_estimates_are_worth() {
    let tight = loo("tight");
    // 300 draws are fewer than the 2,200 from which the threshold is 0.7.
    assert_near(
        tight.threshold(),
        1.0 - 1.0 / 300.0_f64.log10(),
        "threshold",
    );
    assert_eq!(threshold(10_000), LIMIT);
    let expected = Reliability {
        good: 7,
        bad: 2,
        very_bad: 1,
    };
    assert_eq!(tight.reliability(), expected);
    assert_eq!(tight.doubtful(), [9, 7, 8]);
    assert_eq!(tight.mcse(), None);
    let mean = loo("mean");
    assert_eq!(mean.reliability().good, 10);
    let variance: f64 = mean.rows.iter().map(|row| row.mc_variance).sum();
    assert_eq!(mean.mcse(), Some(variance.sqrt()));
}

/// Removing row i from n normal rows with known σ and a flat prior leaves N(mean of the others, σ²(1 + 1/(n − 1))).
#[test]
fn a_normal_mean_has_the_exact_answer() {
    use rand_distr::{Distribution as _, StandardNormal};
    const DRAWS: usize = 40_000;
    let y = [-1.2, -0.4, 0.0, 0.3, 0.9, 1.4, 0.1, -0.6];
    let n = y.len() as f64;
    let normal = |x: f64, mean: f64, variance: f64| {
        -0.5 * ((std::f64::consts::TAU * variance).ln() + (x - mean).powi(2) / variance)
    };
    let total: f64 = y.iter().sum();
    let mut rng = ergodic_base::stream(11, 0, ergodic_base::Purpose::Noise);
    let draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let z: f64 = StandardNormal.sample(&mut rng);
            total / n + z / n.sqrt()
        })
        .collect();
    let rows: Vec<Vec<f64>> = y
        .iter()
        .map(|&y| draws.iter().map(|&mean| normal(y, mean, 1.0)).collect())
        .collect();
    let found = scored(&rows, &[DRAWS / 2, DRAWS / 2], None);
    for (row, &y) in found.rows.iter().zip(&y) {
        let exact = normal(y, (total - y) / (n - 1.0), 1.0 + 1.0 / (n - 1.0));
        let error = row.mc_variance.sqrt();
        assert!(
            (row.elpd - exact).abs() < 4.5 * error,
            "{} {exact}",
            row.elpd
        );
        assert!(error < 0.01);
        let with = normal(y, total / n, 1.0 + 1.0 / n);
        assert!((row.lpd - with).abs() < 0.01, "{} {with}", row.lpd);
    }
}

/// A draw of weight 2 is that draw twice, as far as no tail is smoothed: with few draws there is none.
#[test]
fn weights_count_draws_and_signed_ones_are_refused() {
    let weighted = scored(&[vec![-1.0, -2.5, -0.7]], &[3], Some(&[2.0, 1.0, 1.0]));
    let repeated = scored(&[vec![-1.0, -1.0, -2.5, -0.7]], &[4], None);
    assert_near(weighted.rows[0].elpd, repeated.rows[0].elpd, "elpd");
    assert_near(weighted.rows[0].lpd, repeated.rows[0].lpd, "lpd");
    assert_eq!(weighted.rows[0].k, f64::INFINITY);
    // Weights that are all equal change nothing, in any unit.
    let (rows, lengths) = log_lik("line");
    let even = scored(&rows, &lengths, Some(&[0.25; 300]));
    for (row, plain) in even.rows.iter().zip(&loo("line").rows) {
        assert_near(row.elpd, plain.elpd, "elpd");
        assert_near(row.k, plain.k, "k");
        assert_near(row.p_waic, plain.p_waic, "p_waic");
    }
    // A draw of weight 0 is none.
    let none = scored(&[vec![-1.0, -2.5, 9.0]], &[3], Some(&[1.0, 1.0, 0.0]));
    let without = scored(&[vec![-1.0, -2.5]], &[2], None);
    assert_near(none.rows[0].elpd, without.rows[0].elpd, "elpd");
    for wrong in [[1.0, -0.5, 1.0], [0.0, 0.0, 0.0], [1.0, f64::NAN, 1.0]] {
        assert_eq!(
            Chains::new(&[3], Some(&wrong)).err(),
            Some(Missing::Weights)
        );
    }
}

#[test]
fn rows_without_an_estimate_say_why_and_rows_that_never_vary_are_exact() {
    let chains = Chains::new(&[4], None).unwrap();
    let mut scorer = Scorer::new(&chains);
    let constant = scorer.score(&[-0.25; 4]).unwrap();
    assert_near(constant.elpd, -0.25, "elpd");
    assert_near(constant.lpd, -0.25, "lpd");
    assert_eq!((constant.k, constant.p_waic), (f64::NEG_INFINITY, 0.0));
    let broken = [-1.0, f64::NEG_INFINITY, -2.0, -1.0];
    assert_eq!(scorer.score(&broken), Err(Missing::NotFinite));
    let one = Chains::new(&[1], None).unwrap();
    assert_eq!(Scorer::new(&one).score(&[-1.0]), Err(Missing::TooFew));
    // Densities beyond what a number holds cancel.
    let far = scorer.score(&[-1e4, -1.0001e4, -1.0002e4, -1e4]).unwrap();
    assert!(far.elpd.is_finite() && far.elpd < -1e4);
}

/// The weights are best where no model's gradient is above 1, and that of every model used is 1.
#[test]
fn stacked_models_are_the_best_mixture() {
    let reference = reference();
    let value =
        |model: &str, quantity: &str| reference[&(model.to_owned(), 0, quantity.to_owned())];
    let models = MODELS.map(loo);
    let all = models.each_ref();
    let two = stacking(&all[1..]);
    assert_near(two[0], value("line", "stacking_of_two"), "two");
    let three = stacking(&all);
    let by_loo: Vec<f64> = MODELS.map(|m| value(m, "stacking_loo")).to_vec();
    assert_near(three.iter().sum(), 1.0, "sum");
    let score = |w: &[f64]| -> f64 {
        let row = |i: usize| -> f64 { (0..3).map(|k| w[k] * all[k].rows[i].elpd.exp()).sum() };
        (0..10).map(|i| row(i).ln()).sum()
    };
    assert!(score(&three) >= score(&by_loo), "loo's are better");
    for (ours, theirs) in three.iter().zip(&by_loo) {
        // loo's search ends at a relative tolerance of 1e-8 in the score, which is flat there.
        assert!((ours - theirs).abs() < 1e-3, "{three:?} {by_loo:?}");
    }
    for k in 0..3 {
        let share = |i: usize| {
            let mix: f64 = (0..3).map(|k| three[k] * all[k].rows[i].elpd.exp()).sum();
            all[k].rows[i].elpd.exp() / mix
        };
        let gradient = (0..10).map(share).sum::<f64>() / 10.0;
        assert!(gradient < 1.0 + 1e-9, "{gradient}");
        assert!(
            three[k] < 1e-9 || (gradient - 1.0).abs() < 1e-6,
            "{gradient}"
        );
    }
    assert_eq!(stacking(&all[..1]), [1.0]);
    let same = stacking(&[all[1], all[1]]);
    assert_near(same[0], 0.5, "the same model twice");
}
