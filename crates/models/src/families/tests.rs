use super::*;
use crate::design::censoring::Censoring;
use crate::testing::tables::reference;
use ergodic_base::special::logistic;
use ergodic_base::{Purpose, stream};

/// Every family at other parameters than those where a search starts.
fn outcomes() -> Vec<Outcome> {
    let moved = |family: &Family| match family.outcome() {
        Outcome::Gaussian(_) => Outcome::Gaussian(gaussian::Outcome { sd: 1.5 }),
        Outcome::Student(_) => Outcome::Student(student::Outcome {
            nu: 9.0,
            scale: 2.0,
        }),
        Outcome::ZeroInflatedPoisson(_) => family.outcome().with_coordinates(&[-0.7]),
        Outcome::ZeroInflatedNegativeBinomial(_) => family.outcome().with_coordinates(&[0.7, -0.4]),
        // Draws of a lognormal of a larger variance say little about it.
        Outcome::Lognormal(_) => family.outcome().with_coordinates(&[-0.7]),
        // Shares next to 1 are few there: they are as good as 1 in arithmetic.
        Outcome::Beta(_) => family.outcome().with_coordinates(&[2.0]),
        other => {
            let mut at = other.coordinates();
            at.iter_mut().take(1).for_each(|at| *at = 0.7);
            other.with_coordinates(&at)
        }
    };
    Family::ALL.iter().map(moved).collect()
}

/// Responses that the family can have, and trials.
fn responses(outcome: Outcome) -> [[f64; 2]; 3] {
    match outcome.family().definition().response {
        ResponseUse::Outcome => [[1.0, 1.0], [0.0, 1.0], [3.0, 7.0]],
        ResponseUse::Count => [[0.0, 1.0], [4.0, 1.0], [0.0, 1.0]],
        ResponseUse::Ordered => [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]],
        _ if outcome.family() == Family::Beta => [[0.2, 1.0], [0.9, 1.0], [0.5, 1.0]],
        _ => [[1.0, 1.0], [4.0, 1.0], [3.0, 1.0]],
    }
}

#[test]
fn identifiers_are_unique_and_found() {
    for &family in Family::ALL {
        assert_eq!(Family::find(family.id()), Some(family));
    }
    assert_eq!(Family::named("poisson"), Ok(Family::Poisson));
    let refused = Family::named("pareto").unwrap_err().to_string();
    assert!(
        refused
            .starts_with("There is no family `pareto`; there are gaussian, gaussian_se, bernoulli"),
        "{refused}"
    );
}

#[test]
fn models_are_mixed_where_there_are_groups() {
    for (family, has_groups, words) in [
        (Family::Weibull, false, "Weibull regression"),
        (Family::Weibull, true, "Weibull mixed model"),
        (Family::Gaussian, true, "Linear mixed model"),
        (
            Family::GaussianSe,
            false,
            "Known-variance linear regression",
        ),
        (Family::Bernoulli, true, "Logistic mixed model"),
    ] {
        assert_eq!(family.definition().model(has_groups), words);
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    for outcome in outcomes() {
        for (z, [y, trials]) in [-1.3, 0.4, 1.1].into_iter().zip(responses(outcome)) {
            assert_derivatives(outcome, z, y, trials);
        }
    }
    // More levels than a row has neighbours.
    let levels = Outcome::Ordered(ordered::Outcome::with_gaps([0.4, 1.3, 0.7]));
    for (z, y) in [(-1.3, 1.0), (0.4, 2.0), (1.1, 3.0), (0.1, 4.0), (2.0, 5.0)] {
        assert_derivatives(levels, z, y, 1.0);
    }
    let censored = outcomes().into_iter();
    for outcome in censored.filter(|it| it.family().takes_censoring()) {
        for status in [Censoring::Right, Censoring::Left] {
            for (z, y) in [(-1.3, 0.2), (0.4, 1.0), (1.1, 4.0), (1.0, 0.1)] {
                assert_derivatives(outcome, z, y, status.known());
            }
        }
    }
}

fn assert_derivatives(outcome: Outcome, z: f64, y: f64, trials: f64) {
    // Of fourth order: derivatives of powers of a response are large.
    const H: f64 = 5e-4;
    let slope = |of: &dyn Fn(f64) -> f64| {
        let central = |h: f64| (of(h) - of(-h)) / (2.0 * h);
        (4.0 * central(H) - central(2.0 * H)) / 3.0
    };
    let d = outcome.at(z, y, trials);
    let at = |h: f64| outcome.at(z + h, y, trials);
    for (here, there) in [
        (d.score, slope(&|h| at(h).log_p)),
        (-d.weight, slope(&|h| at(h).score)),
        (d.slope, slope(&|h| at(h).weight)),
    ] {
        assert!((here - there).abs() < 1e-8, "{outcome:?} {z}");
    }
    for j in 0..outcome.num_coordinates() {
        let moved = |h: f64| {
            let mut at = outcome.coordinates();
            at[j] += h;
            let moved = outcome.with_coordinates(&at);
            let d = moved.at(z, y, trials);
            [d.log_p + moved.constant(y, trials), d.score, d.weight]
        };
        let mut exact = vec![[0.0; 3]; outcome.num_coordinates()];
        outcome.in_coordinates(z, y, trials, &mut exact);
        let exact = exact[j];
        for (k, exact) in exact.into_iter().enumerate() {
            let there = slope(&|h| moved(h)[k]);
            assert!((exact - there).abs() < 1e-8, "{outcome:?} {z} {j} {k}");
        }
    }
}

/// What is above a value and what is below it are everything, and so they are far out.
#[test]
fn chances_of_censored_outcomes_sum_to_one() {
    let [right, left] = [Censoring::Right, Censoring::Left].map(Censoring::known);
    for family in Family::ALL {
        if !family.takes_censoring() {
            continue;
        }
        let outcome = family.outcome();
        for y in [1e-300_f64, 0.1, 1.0, 7.0, 1e300] {
            let [above, below] = [right, left].map(|known| outcome.at(0.3, y, known));
            let sum = above.log_p.exp() + below.log_p.exp();
            assert!((sum - 1.0).abs() < 1e-14, "{family:?} {y} {sum}");
            for number in [above.score, above.weight, below.score, below.weight] {
                assert!(!number.is_nan(), "{family:?} {y} {above:?} {below:?}");
            }
        }
    }
}

#[test]
fn probabilities_sum_to_one() {
    for outcome in outcomes() {
        let p = |y: f64, trials: f64| {
            (outcome.at(0.8, y, trials).log_p + outcome.constant(y, trials)).exp()
        };
        let definition = outcome.family().definition();
        let sum: f64 = match (definition.is_whole, definition.response) {
            (true, ResponseUse::Outcome) => (0..=9).map(|y| p(f64::from(y), 9.0)).sum(),
            (true, _) => (0..=400).map(|y| p(f64::from(y), 1.0)).sum(),
            // By the trapezoidal rule in s with y = e^s, or with y = sinh(s), which reaches far into both tails.
            (false, _) if definition.link == Link::Log => (-20_000..=20_000)
                .map(|k| {
                    let y = (f64::from(k) * 1e-3).exp();
                    p(y, 1.0) * y * 1e-3
                })
                .sum(),
            // With y = 1/(1 + e^−s).
            (false, _) if definition.link == Link::Logit => (-30_000..=30_000)
                .map(|k| {
                    let s = f64::from(k) * 1e-3;
                    let y = logistic(s);
                    p(y, 1.0) * y * logistic(-s) * 1e-3
                })
                .sum(),
            (false, _) => (-20_000..=20_000)
                .map(|k| {
                    let s = f64::from(k) * 1e-3;
                    p(s.sinh(), 1.0) * s.cosh() * 1e-3
                })
                .sum(),
        };
        assert!((sum - 1.0).abs() < 1e-9, "{outcome:?} {sum}");
    }
}

/// Mean and variance against those of draws.
#[test]
fn drawn_responses_have_the_mean_and_the_variance_of_their_distribution() {
    const DRAWS: usize = 40_000;
    let z = 0.7_f64;
    for outcome in outcomes() {
        let trials = match outcome.family() {
            Family::Binomial => 6.0,
            // A standard error.
            Family::GaussianSe => 2.0,
            _ => 1.0,
        };
        // Of successes the mean is their share.
        let factor = match outcome.family() {
            Family::Binomial => trials,
            _ => 1.0,
        };
        let variance = outcome.variance(z, trials);
        let mut rng = stream(1, 0, Purpose::Predictive);
        let drawn: Vec<f64> = (0..DRAWS)
            .map(|_| outcome.draw(z, trials, &mut rng))
            .collect();
        let n = DRAWS as f64;
        let mean = drawn.iter().sum::<f64>() / n;
        let square = |y: &f64| (y - mean).powi(2);
        let spread = drawn.iter().map(square).sum::<f64>() / n;
        let fourth = drawn.iter().map(|y| square(y).powi(2)).sum::<f64>() / n;
        let z_mean = (mean - factor * outcome.mean(z)) / (variance / n).sqrt();
        let z_variance = (spread - variance) / ((fourth - spread * spread) / n).sqrt();
        assert!(z_mean.abs() < 4.0 && z_variance.abs() < 4.0, "{outcome:?}");
    }
}

#[test]
fn extreme_predictors_give_numbers() {
    let mut rng = stream(1, 0, Purpose::Predictive);
    for outcome in [
        Family::Poisson.outcome(),
        Outcome::NegativeBinomial(negative_binomial::Outcome::new(1e-3)),
    ] {
        assert_eq!(outcome.draw(-800.0, 1.0, &mut rng), 0.0);
        assert!(!outcome.draw(60.0, 1.0, &mut rng).is_nan());
    }
    for z in [-800.0, 800.0] {
        let y = Family::Beta.outcome().draw(z, 1.0, &mut rng);
        assert!(y > 0.0 && y < 1.0, "{y}");
        let d = Family::Beta.outcome().at(z, 0.3, 1.0);
        let numbers = [d.log_p, d.score, d.weight, d.slope];
        assert!(numbers.iter().all(|it| it.is_finite()), "{d:?}");
    }
    for family in [Family::Gamma, Family::Lognormal, Family::Weibull] {
        for z in [-800.0, 800.0] {
            let y = family.outcome().draw(z, 1.0, &mut rng);
            assert!(y > 0.0 && y.is_finite(), "{family:?} {y}");
        }
    }
    assert_eq!(Family::Binomial.outcome().mean(-800.0), 0.0);
    assert_eq!(Family::Binomial.outcome().mean(800.0), 1.0);
}

/// scipy's density with shape and rate as the translation to Stan has them, and Stan's own.
#[test]
fn the_density_of_a_gamma_is_that_of_scipy_and_stan() {
    let read = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
    let data = read("gamma_data.csv");
    let rows: Vec<&str> = data.lines().skip(1).collect();
    let outcome = Family::Gamma.outcome().with_coordinates(&[2.5_f64.ln()]);
    let mut compared = 0;
    let (scipy, stan) = (read("gamma.csv"), read("gamma_r.csv"));
    for line in scipy.lines().chain(stan.lines()) {
        let Some((row, value)) = line
            .strip_prefix("density:")
            .or_else(|| line.strip_prefix("stan:"))
            .and_then(|rest| rest.split_once(','))
        else {
            continue;
        };
        let cells: Vec<&str> = rows[row.parse::<usize>().unwrap()].split(',').collect();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let (z, y) = (0.3 + 0.5 * number(cells[0]), number(cells[2]));
        let log_p = outcome.at(z, y, 1.0).log_p + outcome.constant(y, 1.0);
        assert!((log_p - number(value)).abs() < 1e-12, "{row}: {log_p}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// R's density and Stan's, of what the translation writes, from `families.R`, `zero_inflated.R` and `censoring.R`.
#[test]
fn densities_are_those_of_r_and_stan() {
    for (set, values) in [("families", 36), ("zero_inflated", 72), ("censoring", 36)] {
        let read = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
        let data = read(&format!("{set}_data.csv"));
        let expected = read(&format!("{set}_r.csv"));
        let mut lines = data.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let rows: Vec<Vec<&str>> = lines.collect();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let mut compared = 0;
        for line in expected.lines().skip(1) {
            let (name, value) = line.split_once(',').unwrap();
            let parts: Vec<&str> = name.split(':').collect();
            if !["density", "stan"].contains(&parts[1]) {
                continue;
            }
            let column = names.iter().position(|name| *name == parts[0]).unwrap();
            let row = &rows[parts[2].parse::<usize>().unwrap()];
            let (z, y) = (0.3 + 0.2 * number(row[0]), number(row[column]));
            let outcome = Family::find(parts[0]).unwrap().outcome();
            let mut at = outcome.coordinates();
            for (at, one) in at.iter_mut().zip(outcome.family().definition().auxiliaries) {
                *at = one.support.coordinate(match one.support {
                    Support::Chance => 0.3,
                    Support::Above(_) => 1.7,
                });
            }
            let outcome = outcome.with_coordinates(&at);
            let status = format!("s_{}", parts[0]);
            let status = names.iter().position(|name| *name == status);
            let known = status.map_or(1.0, |at| match row[at] {
                "right" => Censoring::Right.known(),
                "left" => Censoring::Left.known(),
                _ => Censoring::Seen.known(),
            });
            let log_p = outcome.at(z, y, known).log_p + outcome.constant(y, known);
            assert!((log_p - number(value)).abs() < 1e-12, "{name}: {log_p}");
            compared += 1;
        }
        assert_eq!(compared, values);
    }
}
