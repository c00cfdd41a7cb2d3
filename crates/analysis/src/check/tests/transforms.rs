//! LOO-PIT of discrete outcomes: predictive distributions without a row in closed form, uniformity where the model is right.

use rand_distr::{Beta, Gamma};
use statrs::distribution::NegativeBinomial;

use super::*;

const ROWS: usize = 40;
const DRAWS: usize = 4000;

/// Rows with one of two values, and draws of the intercept whose probability has the posterior beta(1 + successes, 1 + failures).
fn coins(seed: u64, rows: usize, truth: f64, draws: usize) -> (String, Vec<Vec<f64>>, usize) {
    let mut rng = stream(seed, 0, Purpose::Data);
    let outcomes: Vec<bool> = (0..rows).map(|_| rng.random::<f64>() < truth).collect();
    let successes = outcomes.iter().filter(|it| **it).count();
    let (a, b) = (1.0 + successes as f64, 1.0 + (rows - successes) as f64);
    let posterior = Beta::new(a, b).unwrap();
    let draw = |rng: &mut ChainRng| {
        let p: f64 = posterior.sample(rng);
        vec![(p / (1.0 - p)).ln(), 0.0]
    };
    let draws = (0..draws).map(|_| draw(&mut rng)).collect();
    let rows = outcomes.iter().enumerate();
    let rows: String = rows
        .map(|(i, y)| format!("{i},{}\n", if *y { "yes" } else { "no" }))
        .collect();
    (format!("x,y\n{rows}"), draws, successes)
}

/// Without a row that is a success the posterior is beta(successes, 1 + failures), and the next is one with its mean.
#[test]
fn transforms_of_yes_or_no_are_those_of_the_posterior_without_the_row() {
    let (text, draws, successes) = coins(1, ROWS, 0.3, DRAWS);
    let (_folder, fitted) = opened(&text, "logistic", "y ~ x");
    let pit = checked(&fitted, &draws).pit.unwrap();
    let n = (ROWS - 1) as f64;
    let of_success = successes as f64 / (n + 2.0);
    let of_failure = (successes as f64 + 1.0) / (n + 2.0);
    let share = successes as f64 / ROWS as f64;
    // The curve is the mean of distribution functions that are uniform above 1 − p and below 1 − p.
    for (k, found) in pit.curve.iter().enumerate() {
        let u = k as f64 / pit::STEPS as f64;
        let above = ((u - (1.0 - of_success)) / of_success).clamp(0.0, 1.0);
        let below = (u / (1.0 - of_failure)).clamp(0.0, 1.0);
        let exact = share * above + (1.0 - share) * below;
        assert!((found - exact).abs() < 0.01, "{u}: {found} {exact}");
    }
    assert_eq!(pit.values.len(), ROWS);
    let high = pit
        .values
        .iter()
        .filter(|value| **value > 1.0 - of_success)
        .count();
    assert!(high.abs_diff(successes) <= 1, "{high} of {successes}");
    assert_eq!(pit.doubtful, 0);
    // The same seed gives the same places.
    assert_eq!(checked(&fitted, &draws).pit, Some(pit));
}

/// With a gamma prior the next count without a row is negative binomial.
#[test]
fn transforms_of_counts_are_those_of_the_posterior_without_the_row() {
    let mut rng = stream(2, 0, Purpose::Data);
    let law = rand_distr::Poisson::new(3.0).unwrap();
    let counts: Vec<f64> = (0..ROWS).map(|_| law.sample(&mut rng)).collect();
    let sum: f64 = counts.iter().sum();
    let (shape, rate) = (2.0, 0.5);
    let posterior = Gamma::new(shape + sum, 1.0 / (rate + ROWS as f64)).unwrap();
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            let mean: f64 = posterior.sample(&mut rng);
            vec![mean.ln(), 0.0]
        })
        .collect();
    let rows: String = (counts.iter().enumerate())
        .map(|(i, y)| format!("{i},{y}\n"))
        .collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "poisson", "y ~ x");
    let pit = checked(&fitted, &draws).pit.unwrap();
    let ends: Vec<[f64; 2]> = (counts.iter())
        .map(|&y| {
            let rate = rate + (ROWS - 1) as f64;
            let law = NegativeBinomial::new(shape + sum - y, rate / (rate + 1.0)).unwrap();
            let below = if y > 0.0 { law.cdf(y as u64 - 1) } else { 0.0 };
            [below, law.cdf(y as u64)]
        })
        .collect();
    for (k, found) in pit.curve.iter().enumerate() {
        let u = k as f64 / pit::STEPS as f64;
        let each = ends
            .iter()
            .map(|[below, upto]| ((u - below) / (upto - below)).clamp(0.0, 1.0));
        let exact = each.sum::<f64>() / ROWS as f64;
        // Shares of 4,000 replicated outcomes have standard errors of up to 0.008, independent between rows.
        assert!((found - exact).abs() < 0.015, "{u}: {found} {exact}");
    }
}

#[test]
fn transforms_of_discrete_outcomes_are_uniform_where_the_model_is_right_and_not_where_it_is_wrong()
{
    const SEEDS: u64 = 30;
    let known = |p: f64| vec![vec![(p / (1.0 - p)).ln(), 0.0]; 100];
    let of_coins = |truth: f64, draws: Option<Vec<Vec<f64>>>| -> Vec<Pit> {
        let of = |seed: u64| {
            let (text, fitted, _) = coins(seed, 300, truth, 400);
            let (_folder, model) = opened(&text, "logistic", "y ~ x");
            checked(&model, draws.as_ref().unwrap_or(&fitted))
                .pit
                .unwrap()
        };
        (0..SEEDS).map(of).collect()
    };
    let rejected = |pits: &[Pit]| pits.iter().filter(|pit| pit.p < SURPRISING).count();
    // More than 5 of 30 have a chance of 0.3 % if each has one of 5 %.
    let right = of_coins(0.3, Some(known(0.3)));
    assert!(rejected(&right) <= 5, "{}", rejected(&right));
    let high = right.iter().filter(|pit| pit.p > 0.5).count();
    assert!((6..=24).contains(&high), "{high}");
    assert!(rejected(&of_coins(0.3, None)) <= 5);
    for pit in of_coins(0.5, Some(known(0.3))) {
        assert!(pit.p < 0.01);
        assert!(
            pit.finding()
                .unwrap()
                .ends_with("outcomes are larger than predicted")
        );
    }
    // Counts of twice the variance.
    let counts = |spread: f64| -> Vec<Pit> {
        let of = |seed: u64| {
            let mut rng = stream(seed, 1, Purpose::Data);
            let rows: String = (0..300)
                .map(|i| {
                    let mean = match spread > 0.0 {
                        true => Gamma::new(4.0 / spread, spread).unwrap().sample(&mut rng),
                        false => 4.0,
                    };
                    let y: f64 = match mean > 0.0 {
                        true => rand_distr::Poisson::new(mean).unwrap().sample(&mut rng),
                        false => 0.0,
                    };
                    format!("{i},{y}\n")
                })
                .collect();
            let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "poisson", "y ~ x");
            checked(&fitted, &vec![vec![4_f64.ln(), 0.0]; 1000])
                .pit
                .unwrap()
        };
        (0..SEEDS).map(of).collect()
    };
    let right = counts(0.0);
    assert!(rejected(&right) <= 5, "{}", rejected(&right));
    for pit in counts(2.0) {
        assert!(pit.p < 0.05);
        assert!(pit.finding().unwrap().ends_with("too narrow"));
    }
}
