//! Mean residuals: bins and means of bayesplot, ranges of closed forms, how often what is right is found wrong, words.

use super::*;
use crate::check::residuals::{Along, Residuals};

const DATA: &str = include_str!("../../../../../tests/reference/residuals_data.csv");
const EXPECTED: &str = include_str!("../../../../../tests/reference/residuals.csv");
/// Draws, all the same: parameters are known.
const SETS: usize = 1000;

fn along<'a>(check: &'a Check, name: &str) -> &'a Residuals {
    let mut all = check.residuals.iter();
    all.find(|it| it.along.name() == name).unwrap()
}

/// The checks of one outcome of the reference data.
fn reference(outcome: &str) -> Check {
    let (template, draw) = match outcome {
        "yes" => ("logistic", vec![-0.4, 0.8, 0.0, 0.0, 0.0]),
        _ => ("linear", vec![1.0, 2.0, 0.0, 0.0, 0.0, 1.5]),
    };
    let (_folder, fitted) = opened(DATA, template, &format!("{outcome} ~ x + g"));
    checked(&fitted, &vec![draw; SETS])
}

#[test]
fn bins_and_means_are_those_of_bayesplot_and_ranges_those_of_the_model() {
    for outcome in ["yes", "z"] {
        let check = reference(outcome);
        let mut seen = 0;
        let lines = EXPECTED
            .lines()
            .skip(1)
            .map(|line| line.split(',').collect());
        for cells in lines.filter(|cells: &Vec<&str>| cells[0] == outcome) {
            let residuals = along(&check, cells[1]);
            let mean = match cells[2].parse::<usize>() {
                Ok(place) => &residuals.means[place],
                Err(_) => {
                    let mut means = residuals.means.iter();
                    means
                        .find(|it| it.level.as_deref() == Some(cells[2]))
                        .unwrap()
                }
            };
            if mean.level.is_none() {
                let at: f64 = cells[3].parse().unwrap();
                assert!((mean.at - at).abs() < 1e-10, "{cells:?} {}", mean.at);
            }
            let [observed, sd] = [4, 5].map(|k| cells[k].parse::<f64>().unwrap());
            assert!((mean.observed - observed).abs() < 1e-10, "{cells:?}");
            // A quantile at 5 % of 1,000 values has a standard error of 0.067 standard deviations; steps of shares are 1 in the rows.
            let step = if outcome == "yes" {
                1.0 / mean.rows as f64
            } else {
                0.0
            };
            let room = ERRORS * 0.067 * sd + step;
            let band = mean.replicated;
            assert!((band.upper - 1.645 * sd).abs() < room, "{cells:?} {band:?}");
            assert!((band.lower + 1.645 * sd).abs() < room, "{cells:?} {band:?}");
            assert!(band.median.abs() < room);
            seen += 1;
        }
        assert_eq!(seen, 34);
        assert_eq!(check.residuals.len(), 3);
        assert_eq!(check.residuals[0].along, Along::Expected);
        // The data are of other parameters, and this is said.
        let findings = check.findings().join("\n");
        assert!(
            findings.contains("Residuals follow `x` (p < 0.001): where `x` is from "),
            "{findings}"
        );
        assert!(along(&check, "x").p == 0.0 && along(&check, "x").outside() > 3);
    }
}

/// The bent data of other tests, which no replicated data set of few resembles: that alone is no finding along any of two columns.
#[test]
fn few_replicated_data_sets_find_nothing() {
    let rows: String = (0..200)
        .map(|i| {
            let x = f64::from(i) / 100.0 - 1.0;
            format!("{x},{}\n", 3.0 * x * x + 0.1 * f64::from(i % 3))
        })
        .collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "linear", "y ~ x");
    let found = |sets: usize| -> (f64, bool) {
        let check = checked(&fitted, &vec![vec![1.0, 0.0, 1.3]; sets]);
        let follow = |finding: &String| finding.starts_with("Residuals follow `x` (p < ");
        (along(&check, "x").p, check.findings().iter().any(follow))
    };
    // 1 in 21 data sets with the observed one, for the expected outcome and for `x`.
    assert_eq!(found(20), (0.0, false));
    assert_eq!(found(400), (0.0, true));
}

#[test]
fn groups_and_their_combinations_have_their_means() {
    let rows: String = (0..120)
        .map(|i| {
            let (g, h) = (["a", "b", "c"][i % 3], ["u", "v"][i / 60]);
            let y = f64::from(i as u32 % 5) + if g == "b" { 9.0 } else { 0.0 };
            format!("{g},{h},{y}\n")
        })
        .collect();
    let text = format!("g,h,y\n{rows}");
    let (_folder, fitted) = opened(&text, "mixed", "y ~ 1 + (1 | g) + (1 | g:h)");
    let width = fitted.model.params().len();
    // All groups alike: mean 2, noise 1.4.
    let names: Vec<String> = fitted
        .model
        .params()
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    let draw: Vec<f64> = (names.iter())
        .map(|name| match name.as_str() {
            "b[Intercept]" => 2.0,
            name if name == "sigma" || name.starts_with("sd[") => 1.4,
            _ => 0.0,
        })
        .collect();
    assert_eq!(draw.len(), width);
    let check = checked(&fitted, &vec![draw; 200]);
    let of_g = along(&check, "g");
    assert_eq!(of_g.along, Along::Grouping("g".to_owned()));
    let labels: Vec<String> = of_g.means.iter().map(|it| it.label()).collect();
    assert_eq!(labels, ["a", "b", "c"]);
    for (mean, expected) in of_g.means.iter().zip([0.0, 9.0, 0.0]) {
        assert_eq!(mean.rows, 40);
        assert!((mean.observed - expected).abs() < 1e-12);
        assert!(mean.replicated.holds(mean.observed) == (expected == 0.0));
    }
    assert_eq!(along(&check, "g:h").means.len(), 6);
    let findings = check.findings().join("\n");
    let sentence = "Residuals follow `g` (p < 0.005): where `g` is b, the mean of y is 9 above what is expected";
    assert!(findings.contains(sentence), "{findings}");
}

#[test]
fn what_is_right_is_seldom_found_wrong_and_what_is_bent_is_found() {
    const SEEDS: u64 = 40;
    let mut found = 0;
    for seed in 0..SEEDS {
        let (text, mut draws) = line(seed, 1.0, normal);
        draws.fill(vec![1.0, 2.0, 1.0]);
        let (_folder, fitted) = opened(&text, "linear", "y ~ x");
        let check = checked(&fitted, &draws);
        found += usize::from(along(&check, "x").p < SURPRISING);
    }
    // More than 6 of 40 have a chance of 1.4 % if each has one of 5 %.
    assert!(found <= 6, "{found}");
    let mut rng = stream(3, 0, Purpose::Data);
    let rows: String = (0..200)
        .map(|i| {
            let x = f64::from(i) / 100.0 - 1.0;
            format!("{x},{}\n", 3.0 * x * x + normal(&mut rng))
        })
        .collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "linear", "y ~ x");
    let check = checked(&fitted, &vec![vec![1.0, 0.0, 1.3]; 400]);
    assert_eq!(along(&check, "x").p, 0.0);
    assert_eq!(along(&check, "x").means.len(), 14);
}

#[test]
fn successes_among_trials_have_residuals_of_shares_and_functions_those_of_the_function() {
    let rows: String = (0..60)
        .map(|i| format!("{},{},4\n", i % 2, 1 + 2 * (i % 2)))
        .collect();
    let (_folder, fitted) = opened(&format!("x,y,n\n{rows}"), "logistic", "y | trials(n) ~ x");
    let check = checked(&fitted, &vec![vec![0.0, 0.0]; 300]);
    let of_x = along(&check, "x");
    let observed: Vec<f64> = of_x.means.iter().map(|it| it.observed).collect();
    assert_eq!(observed, [-0.25, 0.25]);
    assert_eq!(of_x.means[0].label(), "0");
    // The standard deviation of the mean of 30 shares of 4 trials at one half.
    let sd = (0.25_f64 / 4.0 / 30.0).sqrt();
    assert!((of_x.means[1].replicated.upper - 1.645 * sd).abs() < 0.2 * sd + 1.0 / 120.0);

    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i % 2, 1 + 9 * (i % 2)))
        .collect();
    let (_folder, fitted) = opened(&format!("x,y\n{rows}"), "linear", "log(y) ~ x");
    let check = checked(&fitted, &vec![vec![0.0, 0.0, 1.0]; 300]);
    let observed: Vec<f64> = along(&check, "x")
        .means
        .iter()
        .map(|it| it.observed)
        .collect();
    assert!(observed[0].abs() < 1e-12 && (observed[1] - 10_f64.ln()).abs() < 1e-12);
    let drawing = check.residuals_drawn(along(&check, "x"));
    assert_eq!(drawing.name, "Mean residuals of log(y) along `x`");
}

#[test]
fn shares_of_yes_by_a_predictor_stand_beside_their_probabilities_in_as_many_bins_as_asked_for() {
    // Probability 0.2 below 0 and 0.6 above; one in five and three in five come true.
    let rows: String = (0..200)
        .map(|i| {
            let x = f64::from(i) - 99.5;
            let is_yes = if x < 0.0 { i % 5 == 0 } else { i % 5 < 3 };
            let y = ["no", "yes"][usize::from(is_yes)];
            format!("{x},{},{y}\n", i32::from(x > 0.0))
        })
        .collect();
    let text = format!("x,side,y\n{rows}");
    let (_folder, fitted) = opened(&text, "logistic", "y ~ side + x");
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let draw = vec![logit(0.2), logit(0.6) - logit(0.2), 0.0];
    let draws = list(&vec![draw; SETS]);
    let checked = |bins| {
        let resolution = Resolution {
            bins,
            ..Resolution::default()
        };
        fitted
            .check(&[&draws], &[], resolution, &Control::default())
            .unwrap()
    };
    let check = checked(Some(4));
    let of_x = along(&check, "x");
    assert_eq!(of_x.means.len(), 4);
    for (mean, p) in of_x.means.iter().zip([0.2, 0.2, 0.6, 0.6]) {
        assert_eq!(mean.rows, 50);
        assert!((mean.expected - p).abs() < 1e-10, "{}", mean.expected);
        assert!((mean.share() - p).abs() < 1e-10, "{}", mean.share());
        // Shares of 50 rows: binomial, to a step of one row.
        let sd = (p * (1.0 - p) / 50.0).sqrt();
        let room = ERRORS * 0.067 * sd + 0.02;
        assert!((mean.shares().upper - p - 1.645 * sd).abs() < room);
        assert!((mean.shares().lower - p + 1.645 * sd).abs() < room);
    }
    let drawing = check.shares_drawn(of_x).unwrap();
    assert_eq!(drawing.name, "Realised shares of y along `x`");
    assert_eq!(drawing.middle, "predicted");
    assert!((drawing.places[3].middle - 0.6).abs() < 1e-10);
    // As many as suit the rows without being asked, and no more than there are rows.
    assert_eq!(along(&checked(None), "x").means.len(), 14);
    assert_eq!(along(&checked(Some(1000)), "x").means.len(), 200);
    // Numbers have no shares.
    let (text, draws) = line(9, 1.0, normal);
    let (_folder, fitted) = opened(&text, "linear", "y ~ x");
    let check = super::checked(&fitted, &draws);
    assert_eq!(check.shares_drawn(along(&check, "x")), None);
}
