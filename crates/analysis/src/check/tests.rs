//! Closed forms of replicated data at known parameters, right and wrong models by simulation, threads, weights, words.

use std::path::{Path, PathBuf};

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use statrs::distribution::{
    Binomial, ContinuousCDF as _, Discrete as _, DiscreteCDF as _, Normal, Poisson,
};

use super::calibration::isotonic;
use super::statistic::Statistic;
use super::*;
use crate::Recipe;
use ergodic_base::{ChainRng, Purpose, stream};

mod references;
mod residual_means;
mod transforms;

/// Standard errors that a Monte Carlo estimate may be away from what it estimates.
const ERRORS: f64 = 4.5;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn opened(text: &str, template: &str, formula: &str) -> (tempfile::TempDir, Fitted) {
    let (folder, path) = file(text);
    let recipe = Recipe::new(path.to_str().unwrap(), template, formula);
    let fitted = Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap();
    (folder, fitted)
}

fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

/// A check by at most `draws` draws.
fn by(draws: usize) -> Resolution {
    Resolution { draws, bins: None }
}

fn checked(fitted: &Fitted, draws: &[Vec<f64>]) -> Check {
    fitted
        .check(&[&list(draws)], &[], by(usize::MAX), &Control::default())
        .unwrap()
}

fn of(check: &Check, statistic: Statistic) -> &TestStatistic {
    let mut all = check.statistics.iter();
    all.find(|it| it.statistic == statistic).unwrap()
}

fn normal(rng: &mut ChainRng) -> f64 {
    StandardNormal.sample(rng)
}

#[test]
fn isotonic_regression_of_small_examples() {
    let ones = [1.0; 6];
    let of = |values: &[f64]| isotonic(values, &ones[..values.len()]);
    assert_eq!(
        of(&[1.0, 3.0, 2.0, 4.0, 3.5, 5.0]),
        [1.0, 2.5, 2.5, 3.75, 3.75, 5.0]
    );
    assert_eq!(of(&[5.0, 4.0, 3.0, 2.0, 1.0]), [3.0; 5]);
    assert_eq!(of(&[0.0, 0.0, 1.0]), [0.0, 0.0, 1.0]);
    assert_eq!(isotonic(&[3.0, 1.0], &[1.0, 3.0]), [1.5, 1.5]);
    assert!(of(&[]).is_empty());
}

/// Numbers of scikit-learn, by `tests/reference/scores.py`: yes and no by predicted probability, with ties.
#[test]
fn isotonic_regression_is_that_of_scikit_learn() {
    let table = |file: &str| -> Vec<Vec<f64>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
        let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
        lines.map(numbers).collect()
    };
    let (rows, curves) = (table("scores_data.csv"), table("calibration.csv"));
    assert_eq!(rows.len(), curves.len());
    for (which, weight) in [
        (0, (|_| 1.0) as fn(&[f64]) -> f64),
        // Rows of no weight have no part in it.
        (1, |row| row[2]),
    ] {
        let mut counted: Vec<usize> = (0..rows.len())
            .filter(|&i| weight(&rows[i]) > 0.0)
            .collect();
        counted.sort_by(|&i, &j| rows[i][1].total_cmp(&rows[j][1]));
        let groups: Vec<&[usize]> = counted
            .chunk_by(|&i, &j| rows[i][1] == rows[j][1])
            .collect();
        let sums = |value: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
            let sum = |group: &&[usize]| group.iter().map(|&i| value(&rows[i])).sum();
            groups.iter().map(sum).collect()
        };
        let weights = sums(&|row| weight(row));
        let successes = sums(&|row| weight(row) * row[0]);
        let shares: Vec<f64> = successes.iter().zip(&weights).map(|(s, w)| s / w).collect();
        for (group, fitted) in groups.iter().zip(isotonic(&shares, &weights)) {
            for &i in *group {
                let expected = curves[i][which];
                assert!((fitted - expected).abs() < 1e-9, "{i}: {fitted} {expected}");
            }
        }
    }
}

/// The regression at i is the largest, over starts up to i, of the smallest mean of a stretch from there to an end at or after i.
#[test]
fn isotonic_regression_is_the_maximum_of_minima_of_means() {
    let mut rng = stream(4, 0, Purpose::Data);
    for _ in 0..20 {
        let values: Vec<f64> = (0..12).map(|_| rng.random()).collect();
        let weights: Vec<f64> = (0..12).map(|_| 1.0 + 3.0 * rng.random::<f64>()).collect();
        let mean = |from: usize, to: usize| {
            let sum = |f: &dyn Fn(usize) -> f64| (from..=to).map(f).sum::<f64>();
            sum(&|j| weights[j] * values[j]) / sum(&|j| weights[j])
        };
        for (i, fitted) in isotonic(&values, &weights).into_iter().enumerate() {
            let least = |from: usize| {
                let means = (i..values.len()).map(|to| mean(from, to));
                means.fold(f64::INFINITY, f64::min)
            };
            let expected = (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max);
            assert!((fitted - expected).abs() < 1e-12, "{fitted} {expected}");
        }
    }
}

/// At one known probability the number of successes is binomial.
#[test]
fn the_p_value_of_successes_is_the_binomial_tail() {
    const ROWS: usize = 20;
    const SETS: usize = 20_000;
    let p = 0.3_f64;
    let law = Binomial::new(p, ROWS as u64).unwrap();
    for successes in [4_usize, 9, 13] {
        let rows: String = (0..ROWS)
            .map(|i| format!("{i},{}\n", ["no", "yes"][usize::from(i < successes)]))
            .collect();
        let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "logistic", "y ~ x");
        let check = checked(&fitted, &vec![vec![(p / (1.0 - p)).ln(), 0.0]; SETS]);
        let found = of(&check, Statistic::Successes);
        let (at_least, at_most) = (law.sf(successes as u64 - 1), law.cdf(successes as u64));
        for (found, exact) in [(found.at_least, at_least), (found.at_most, at_most)] {
            let error = (exact * (1.0 - exact) / SETS as f64).sqrt();
            assert!((found - exact).abs() < ERRORS * error, "{found} {exact}");
        }
        assert_eq!(found.observed, successes as f64 / ROWS as f64);
        assert_eq!(found.p(), found.at_least.min(found.at_most));
        assert_eq!(found.replicated.median, 0.3);
        assert_eq!(found.is_surprising(), successes == 13);
    }
}

#[test]
fn expected_counts_are_those_of_the_probability_mass() {
    const ROWS: usize = 50;
    const SETS: usize = 4000;
    let rows: String = (0..ROWS).map(|i| format!("{i},{}\n", i % 7)).collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "poisson", "y ~ x");
    let mean = 2.5_f64;
    let check = checked(&fitted, &vec![vec![mean.ln(), 0.0]; SETS]);
    let Picture::Rootogram(rootogram) = &check.picture else {
        panic!("counts have a rootogram");
    };
    let law = Poisson::new(mean).unwrap();
    assert_eq!(rootogram.bars.len(), 8);
    let mut all = 0.0;
    for (k, bar) in rootogram.bars.iter().enumerate() {
        let share = if k < 7 { law.pmf(k as u64) } else { law.sf(6) };
        let (expected, n) = (ROWS as f64 * share, ROWS as f64);
        let error = (n * share * (1.0 - share) / COUNTED as f64).sqrt();
        assert!((bar.expected - expected).abs() < ERRORS * error);
        // Quantiles over 1,000 data sets are those of the binomial up to one.
        let law = Binomial::new(share, ROWS as u64).unwrap();
        for (found, prob) in [(bar.replicated.lower, 0.05), (bar.replicated.upper, 0.95)] {
            assert!((found - law.inverse_cdf(prob) as f64).abs() <= 1.0);
        }
        let observed = (0..ROWS).filter(|i| i % 7 == k).count();
        assert_eq!(bar.observed, observed as f64);
        all += bar.expected;
    }
    assert!((all - ROWS as f64).abs() < 1e-9);
    assert_eq!(rootogram.bars[3].label(), "3");
    assert_eq!(rootogram.bars[7].label(), "above 6");
    // n Poisson counts sum to a Poisson count: their mean and the share of zeros have known laws.
    let total = Poisson::new(mean * ROWS as f64).unwrap();
    let sum: usize = (0..ROWS).map(|i| i % 7).sum();
    let zeros = Binomial::new(law.pmf(0), ROWS as u64).unwrap();
    for (statistic, exact) in [
        (Statistic::Mean, total.sf(sum as u64 - 1)),
        (Statistic::Zeros, zeros.sf(7)),
        (Statistic::Largest, 1.0 - law.cdf(5).powi(ROWS as i32)),
    ] {
        let error = (exact * (1.0 - exact) / SETS as f64).sqrt();
        let found = of(&check, statistic).at_least;
        assert!((found - exact).abs() < ERRORS * error, "{statistic:?}");
    }
}

#[test]
fn large_counts_stand_together() {
    let rows: String = (0..30).map(|i| format!("{i},{}\n", 10 * i)).collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "poisson", "y ~ x");
    let check = checked(&fitted, &vec![vec![100_f64.ln(), 0.0]; 50]);
    let Picture::Rootogram(rootogram) = &check.picture else {
        panic!("counts have a rootogram");
    };
    assert_eq!(rootogram.bars[0].label(), "0 to 4");
    assert_eq!(rootogram.bars.last().unwrap().label(), "above 294");
    let observed: f64 = rootogram.bars.iter().map(|bar| bar.observed).sum();
    assert_eq!(observed, 30.0);
}

/// x from 0 to 1 and y = 1 + 2 x + noise; the rows and draws of the posterior where σ is known to be 1 and the prior is flat,
/// with `sigma` reported.
fn line(seed: u64, sigma: f64, noise: impl Fn(&mut ChainRng) -> f64) -> (String, Vec<Vec<f64>>) {
    const ROWS: usize = 200;
    const DRAWS: usize = 1000;
    let mut rng = stream(seed, 0, Purpose::Data);
    let x: Vec<f64> = (0..ROWS).map(|i| i as f64 / (ROWS - 1) as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + noise(&mut rng)).collect();
    let mean = y.iter().sum::<f64>() / ROWS as f64;
    let squares: f64 = x.iter().map(|x| (x - 0.5).powi(2)).sum();
    let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - 0.5) * y).sum();
    let draws = (0..DRAWS).map(|_| {
        let slope = products / squares + normal(&mut rng) / squares.sqrt();
        let middle = mean + normal(&mut rng) / (ROWS as f64).sqrt();
        vec![middle - 0.5 * slope, slope, sigma]
    });
    let draws = draws.collect();
    let rows: String = x
        .iter()
        .zip(&y)
        .map(|(x, y)| format!("{x},{y}\n"))
        .collect();
    (format!("x,y\n{rows}"), draws)
}

#[test]
fn transforms_are_uniform_where_the_model_is_right_and_found_where_it_is_wrong() {
    const SEEDS: u64 = 20;
    let found = |sigma: f64, known: bool| -> Vec<Pit> {
        let of = |seed: u64| {
            let (text, mut draws) = line(seed, sigma, normal);
            if known {
                draws.fill(vec![1.0, 2.0, sigma]);
            }
            let (_folder, fitted) = opened(&text, "linear", "y ~ x");
            checked(&fitted, &draws).pit.unwrap()
        };
        (0..SEEDS).map(of).collect()
    };
    let rejected = |pits: &[Pit]| pits.iter().filter(|pit| pit.p < SURPRISING).count();
    // Of known parameters the values are independent. More than 3 of 20 have a chance of 1.6 % if each has one of 5 %.
    let known = found(1.0, true);
    assert!(rejected(&known) <= 3);
    let high = known.iter().filter(|pit| pit.p > 0.5).count();
    assert!((4..=16).contains(&high), "{high}");
    let right = found(1.0, false);
    assert!(rejected(&right) <= 3);
    assert!(right.iter().all(|pit| pit.doubtful == 0));
    for (sigma, word) in [(2.0, "too wide"), (0.5, "too narrow")] {
        for pit in found(sigma, false) {
            assert!(pit.p < 0.01);
            assert!(pit.finding().unwrap().ends_with(word));
        }
    }
}

#[test]
fn numbers_have_the_distribution_of_the_model() {
    let (text, _) = line(1, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    let check = checked(&fitted, &vec![vec![2.0, 0.0, 1.0]; 2000]);
    let Picture::Overlay(overlay) = &check.picture else {
        panic!("numbers have an overlay");
    };
    let law = Normal::new(2.0, 1.0).unwrap();
    for point in &overlay.ecdf {
        let share = law.cdf(point.at);
        let sd = (share * (1.0 - share) / 200.0).sqrt();
        // Quantiles of a binomial share by the normal approximation, whose steps are 1/200.
        let room = 0.2 * sd + 1.0 / 200.0;
        assert!((point.replicated.median - share).abs() < room);
        if share > 0.05 && share < 0.95 {
            assert!((point.replicated.lower - share + 1.645 * sd).abs() < room);
            assert!((point.replicated.upper - share - 1.645 * sd).abs() < room);
        }
    }
    assert_eq!(overlay.ecdf[0].observed, 0.0);
    assert_eq!(overlay.ecdf.last().unwrap().observed, 1.0);
    let width = |bar: &overlay::DensityBar| bar.ends[1] - bar.ends[0];
    let bars = overlay.density.iter();
    let area: f64 = bars.map(|bar| width(bar) * bar.observed).sum();
    assert!((area - 1.0).abs() < 1e-12);
    for bar in &overlay.density {
        let height = (law.cdf(bar.ends[1]) - law.cdf(bar.ends[0])) / width(bar);
        let share = height * width(bar);
        let room = (share * (1.0 - share) / 200.0).sqrt() + 1.0 / 200.0;
        assert!((bar.replicated.median - height).abs() * width(bar) < room);
    }
    // The slope that the draws leave out widens what is observed.
    assert_eq!(check.statistics.len(), 4);
    let mean = of(&check, Statistic::Mean);
    assert!((mean.replicated.median - 2.0).abs() < 0.01);
    let half = 1.645 / 200_f64.sqrt();
    assert!((mean.replicated.upper - 2.0 - half).abs() < 0.02);
}

#[test]
fn an_outlier_is_found_and_said() {
    let (text, draws) = line(2, 1.0, normal);
    let (_folder, fitted) = opened(&format!("{text}0.5,46.9\n"), "linear", "y ~ x");
    let check = checked(&fitted, &draws);
    let findings = check.findings();
    let sentence = "The largest outcome, 46.9, is larger than in all 1\u{202f}000 replicated data sets: p < 0.001";
    assert!(findings.contains(&sentence.to_owned()), "{findings:?}");
    let (text, draws) = line(2, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    assert_eq!(
        checked(&fitted, &draws).findings(),
        ["Nothing that was checked of y sets the observed data apart from data of the model"]
    );
    let some = TestStatistic::of(
        Statistic::Least,
        2.5,
        (0..1000).map(f64::from).collect::<Vec<_>>(),
    );
    assert_eq!(some.p(), 0.003);
    assert_eq!(
        some.sentence(&check.response),
        "The smallest outcome, 2.5, is smaller than in 99.7 % of replicated data sets: p = 0.003"
    );
}

/// Successes whose log odds are `slope` x, the model saying x.
fn successes(seed: u64, slope: f64, trials: Option<u64>) -> Check {
    const ROWS: usize = 400;
    let mut rng = stream(seed, 0, Purpose::Data);
    let rows: String = (0..ROWS)
        .map(|i| {
            let x = 6.0 * (i as f64 + 0.5) / ROWS as f64 - 3.0;
            let p = 1.0 / (1.0 + (-slope * x).exp());
            let y = (0..trials.unwrap_or(1))
                .filter(|_| rng.random::<f64>() < p)
                .count();
            match trials {
                None => format!("{x},{}\n", ["no", "yes"][y]),
                Some(n) => format!("{x},{y},{n}\n"),
            }
        })
        .collect();
    let (text, template, formula) = match trials {
        None => (format!("x,y\n{rows}"), "logistic", "y ~ x"),
        Some(_) => (format!("x,y,n\n{rows}"), "logistic", "y | trials(n) ~ x"),
    };
    let (_folder, fitted) = opened(&text, template, formula);
    checked(&fitted, &vec![vec![0.0, 1.0]; 200])
}

#[test]
fn probabilities_are_calibrated_where_they_are_right_and_not_where_they_are_too_sure() {
    for trials in [None, Some(5)] {
        let of = |slope: f64| -> Vec<Calibration> {
            let made = (0..20).map(|seed| match successes(seed, slope, trials).picture {
                Picture::Calibration(calibration) => calibration,
                _ => panic!("successes have a calibration curve"),
            });
            made.collect()
        };
        let right = of(1.0);
        let rejected = right.iter().filter(|it| it.p < SURPRISING).count();
        assert!(rejected <= 3, "{rejected}");
        let (mut inside, mut points) = (0.0, 0.0);
        for calibration in &right {
            let rising = |pair: &[calibration::CalibrationPoint]| {
                pair[0].observed <= pair[1].observed && pair[0].predicted < pair[1].predicted
            };
            assert!(calibration.points.windows(2).all(rising));
            assert!(calibration.miscalibration >= 0.0);
            let held =
                |point: &&calibration::CalibrationPoint| point.consistent.holds(point.observed);
            inside += calibration.points.iter().filter(held).count() as f64;
            points += calibration.points.len() as f64;
        }
        // Nine in ten, up to the error of 20 curves.
        assert!((inside / points - 0.9).abs() < 0.08, "{}", inside / points);
        for wrong in of(0.4) {
            assert!(wrong.p < 0.01);
            let sentence = wrong.finding().unwrap();
            assert!(sentence.starts_with("The predicted probabilities are not calibrated (p "));
        }
    }
}

#[test]
fn successes_among_trials_have_statistics_of_shares() {
    let check = successes(3, 1.0, Some(5));
    assert_eq!(check.statistics.len(), 4);
    let found = of(&check, Statistic::Largest);
    assert_eq!((found.observed, found.replicated.median), (1.0, 1.0));
    assert_eq!((found.at_least, found.at_most), (1.0, 1.0));
    assert!(!found.is_surprising());
}

#[test]
fn threads_change_nothing() {
    let (text, draws) = line(5, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| checked(&fitted, &draws))
    };
    assert_eq!(on(1), on(3));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| successes(1, 1.0, Some(4)))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn draws_are_used_as_often_as_they_weigh() {
    let draws = list(&[vec![0.0], vec![1.0], vec![2.0]]);
    let at = |weights: &[f64], most: usize| -> Vec<usize> {
        let places = places(&[&draws], &[weights.to_vec()], most).unwrap();
        places.into_iter().map(|(_, i)| i).collect()
    };
    assert_eq!(at(&[1.0, 1.0, 1.0], 9), [0, 1, 2]);
    assert_eq!(at(&[0.0, 1.0, 2.0], 9), [1, 2, 2]);
    assert_eq!(at(&[1.0, 0.0, 1.0], 2), [0, 2]);
    let refused = places(&[&draws], &[vec![1.0, -0.5, 1.0]], 9).unwrap_err();
    assert!(matches!(refused, CheckError::SignedWeights));
    // Draws that weigh nothing change nothing but the streams of those after them.
    let (text, mut draws) = line(6, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    let plain = checked(&fitted, &draws);
    let count = draws.len();
    draws.extend(vec![vec![50.0, 0.0, 1.0]; count]);
    let weights = [[vec![1.0; count], vec![0.0; count]].concat()];
    let weighted = fitted
        .check(&[&list(&draws)], &weights, by(count), &Control::default())
        .unwrap();
    assert_eq!(plain.statistics, weighted.statistics);
    assert!(weighted.weighted && weighted.remarks()[1].contains("weights of their own"));
}

#[test]
fn a_function_of_the_outcome_is_checked_on_the_scale_of_the_outcome() {
    let rows: String = (0..40)
        .map(|i| format!("{i},{}\n", 1.0 + f64::from(i % 8)))
        .collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "linear", "log(y) ~ x");
    let check = checked(&fitted, &vec![vec![1.3, 0.0, 0.6]; 400]);
    assert_eq!(of(&check, Statistic::Largest).observed, 8.0);
    assert_eq!(of(&check, Statistic::Mean).observed, 4.5);
    // The mean of a log-normal.
    let expected = (1.3_f64 + 0.18).exp();
    assert!((of(&check, Statistic::Mean).replicated.median - expected).abs() < 0.25);
    assert!(check.remarks()[0].ends_with("are taken back to y"));
}

#[test]
fn cancelling_and_too_few_draws_are_said() {
    let (text, draws) = line(7, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    let draws = list(&draws);
    let one = fitted.check(&[&draws], &[], by(1), &Control::default());
    assert!(matches!(one, Err(CheckError::TooFew)));
    let control = Control::default();
    control.cancel();
    let cancelled = fitted.check(&[&draws], &[], by(100), &control);
    assert!(matches!(cancelled, Err(CheckError::Cancelled)));
}

/// A Weibull model of `t | cens(s) ~ 1` and its 400 rows, exponential with mean 3: each outcome is seen between the ends that `watched`
/// gives.
fn watched(seed: u64, watched: impl Fn(&mut ChainRng) -> [f64; 2]) -> (tempfile::TempDir, Fitted) {
    let mut rng: ChainRng = stream(seed, 0, Purpose::Data);
    let mut text = "t,s,x\n".to_owned();
    for i in 0..400 {
        let time: f64 = rand_distr::Exp1.sample(&mut rng);
        let (time, [begin, end]) = (3.0 * time, watched(&mut rng));
        let status = match time {
            _ if time < begin => "left",
            _ if time > end => "right",
            _ => "none",
        };
        text.push_str(&format!("{},{status},{}\n", time.clamp(begin, end), i % 7));
    }
    let (folder, path) = file(&text);
    let recipe = Recipe::new(path.to_str().unwrap(), "mixed", "t | cens(s) ~ 1");
    let recipe = recipe
        .changed(&["model.family=weibull".to_owned()])
        .unwrap();
    let fitted = Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap();
    (folder, fitted)
}

/// The curve of censored outcomes at a known mean of an exponential distribution, and the share of it outside of the band.
fn curve(fitted: &Fitted, mean: f64, name: &str) -> (Survival, f64) {
    let check = checked(fitted, &vec![vec![mean.ln(), 1.0]; 200]);
    assert!(check.statistics.is_empty() && check.pit.is_none() && check.residuals.is_empty());
    let Picture::Survival(survival) = &check.picture else {
        panic!("{:?}", check.picture);
    };
    let of_t = format!("{name} of t");
    assert!(
        check.findings()[0].contains(&of_t),
        "{:?}",
        check.findings()
    );
    let title = check.survival_drawn().unwrap().name;
    assert!(title[1..].starts_with(&of_t[1..]), "{title}");
    assert!(check.picture_in_words().contains(name));
    let remarks = check.remarks();
    assert!(remarks[0].contains(name) && remarks[1].starts_with("Test statistics, LOO-PIT"));
    let middle = survival.points.iter().find(|it| it.at > mean).unwrap();
    // Replicated outcomes are not censored, and the estimator is of what would be seen in the end.
    let error = |rows: f64| ERRORS * (0.25 / rows).sqrt();
    for (found, mean, error) in [
        (middle.replicated.median, mean, error(400.0)),
        // Of at least 150 rows it is known whether they are larger.
        (middle.observed, 3.0, error(150.0)),
    ] {
        let expected = (-middle.at / mean).exp();
        assert!((found - expected).abs() < error, "{middle:?} {expected}");
    }
    let points = survival.points.iter();
    let outside = points.filter(|it| !it.replicated.holds(it.observed));
    let share = outside.count() as f64 / survival.points.len() as f64;
    (survival.clone(), share)
}

/// The share that is larger, of a model that is right and of one that is not, where some outcomes are not watched to the end.
#[test]
fn censored_outcomes_are_compared_by_their_kaplan_meier_curve() {
    let (_folder, fitted) = watched(41, |rng| {
        let end: f64 = rand_distr::Exp1.sample(rng);
        [0.0, 4.0 * end]
    });
    let outside = |mean: f64| {
        let (survival, outside) = curve(&fitted, mean, "Kaplan-Meier curve");
        assert!(survival.right > 100 && survival.left == 0);
        outside
    };
    // Censored times taken for seen ones would have a mean of 12/7.
    let (right, wrong) = (outside(3.0), outside(12.0 / 7.0));
    assert!(right < 0.3 && wrong > 0.6, "{right} {wrong}");
}

/// Checks of outcomes of which some are known only to be smaller, and of which some are smaller and some larger.
#[test]
fn left_censored_outcomes_are_compared_in_reverse_or_by_turnbull() {
    let (_folder, fitted) = watched(42, |rng| [6.0 * rng.random::<f64>(), f64::INFINITY]);
    let outside = |mean: f64| {
        let (survival, outside) = curve(&fitted, mean, "reverse Kaplan-Meier curve");
        assert!(survival.left > 100 && survival.right == 0);
        outside
    };
    // Those taken for seen ones would have a mean of 6 − 3 (1 + e⁻²)/2.
    let (right, wrong) = (outside(3.0), outside(4.3));
    assert!(right < 0.3 && wrong > 0.6, "{right} {wrong}");

    let (_folder, fitted) = watched(43, |rng| {
        let begin = 3.0 * rng.random::<f64>();
        let length: f64 = rand_distr::Exp1.sample(rng);
        [begin, begin + 6.0 * length]
    });
    let outside = |mean: f64| {
        let (survival, outside) = curve(&fitted, mean, "Turnbull curve");
        assert!(survival.left > 80 && survival.right > 60);
        outside
    };
    // Estimates scatter more than outcomes that were all seen, so the curve of a model that is right may leave the band.
    outside(3.0);
    let (short, long) = (outside(1.5), outside(6.0));
    assert!(short > 0.8 && long > 0.8, "{short} {long}");
}
