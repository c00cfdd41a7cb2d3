//! Levels with an order: chances, derivatives, and the numbers of R.

use std::path::Path;

use super::*;
use ergodic_core::Fit;

const MODEL: &str = "parameters
   b: vector(2) ~ normal(0, 2.5)
   c: ordered(3) ~ student_t(3, 0, 2.5)
 rows
   rating ~ ordered_logistic(b[1] * x + b[2] * w, c)
";

fn reference(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A number of `ordered_r.csv`.
fn expected(name: &str) -> f64 {
    let text = reference("ordered_r.csv");
    let start = format!("{name},");
    let value = text.lines().find_map(|line| line.strip_prefix(&*start));
    value.unwrap_or_else(|| panic!("{name}")).parse().unwrap()
}

fn ratings() -> Vec<(String, Predictor)> {
    let text = reference("ordered_data.csv");
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().unwrap().collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, cell) in columns.iter_mut().zip(line) {
            column.push(cell.parse::<f64>().unwrap());
        }
    }
    names
        .iter()
        .zip(columns)
        .map(|(name, column)| numbers(name, &column))
        .collect()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Of 2 to 6 levels, by differences of distribution functions.
#[test]
fn chances_of_levels_are_differences_and_sum_to_one() {
    for levels in 2..=6 {
        let cuts: Vec<f64> = (1..levels).map(|k| -1.2 + 0.7 * f64::from(k)).collect();
        let written: Vec<String> = cuts.iter().map(ToString::to_string).collect();
        let chance = |level: i32| {
            let text = format!(
                "parameters\n z: real\ntarget\n ordered_logistic_lpmf({level}, z, [{}])\n",
                written.join(", ")
            );
            density(model(&text, &[]).as_ref(), &[0.4]).0.exp()
        };
        let below = |k: i32| match k {
            0 => 0.0,
            k if k == levels => 1.0,
            k => logistic(cuts[k as usize - 1] - 0.4),
        };
        for level in 1..=levels {
            let (here, there) = (chance(level), below(level) - below(level - 1));
            assert!(
                (here - there).abs() < 1e-14,
                "{level} of {levels}: {here} {there}"
            );
        }
        let sum: f64 = (1..=levels).map(chance).sum();
        assert!((sum - 1.0).abs() < 1e-14, "{levels}: {sum}");
    }
}

#[test]
fn slopes_of_levels_are_those_of_differences() {
    let model = model(MODEL, &ratings());
    for u in [[0.3, -0.2, -1.0, 0.2, 0.4], [-1.5, 0.8, 2.0, -1.3, 1.1]] {
        let (_, grad) = density(model.as_ref(), &u);
        let wanted = slopes(&u, |u| density(model.as_ref(), u).0);
        near(&grad, &wanted, 1e-7, "slopes");
    }
}

/// Ordered numbers go to coordinates and back, and stand in order.
#[test]
fn ordered_numbers_ascend() {
    let model = model("parameters\n c: ordered(4) ~ normal(0, 1)\n", &[]);
    let u = [0.7, -2.0, 0.1, 1.3];
    let (mut theta, mut back) = ([0.0; 4], [0.0; 4]);
    model.constrain(&u, &mut theta);
    assert!(theta.is_sorted_by(|a, b| a < b), "{theta:?}");
    model.unconstrain(&theta, &mut back);
    near(&back, &u, 1e-14, "back");
    let names: Vec<&str> = model.params().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["c[1]", "c[2]", "c[3]", "c[4]"]);
}

/// With flat priors the density is highest at the estimates of `polr`, where its height is the logarithm of their likelihood.
#[test]
fn the_mode_of_levels_is_that_of_polr() {
    let text = "parameters\n b: vector(2)\n c: ordered(3)\nrows\n rating ~ ordered_logistic(b[1] * x + b[2] * w, c)\n";
    let model = model(text, &ratings());
    let names = ["x", "w", "c[1]", "c[2]", "c[3]"];
    let theta = names.map(|name| expected(&format!("polr:{name}")));
    let mut u = [0.0; 5];
    model.unconstrain(&theta, &mut u);
    let density = model.density().unwrap();
    let rows = density.rows().unwrap();
    let (mut scratch, mut grad) = (rows.scratch(), vec![0.0; 5]);
    let value = rows.log_lik(&u, Rows::All, &mut scratch, &mut grad);
    let log_lik = expected("polr:log_lik");
    assert!(
        (value - log_lik).abs() < 1e-9 * log_lik.abs(),
        "{value} {log_lik}"
    );
    assert!(grad.iter().all(|slope| slope.abs() < 1e-5), "{grad:?}");
}

/// Against importance sampling in R.
#[test]
fn the_posterior_of_levels_is_that_of_r() {
    let model = model(MODEL, &ratings());
    let fit = Fit::of_model(model).chains(4).draws(2000).run().unwrap();
    let summary = fit.summary();
    for (ours, theirs) in [
        ("b[1]", "x"),
        ("b[2]", "w"),
        ("c[1]", "c[1]"),
        ("c[2]", "c[2]"),
        ("c[3]", "c[3]"),
    ] {
        let row = summary
            .rows()
            .iter()
            .find(|row| row.variable == *ours)
            .unwrap();
        let (mean, error) = (row.mean.unwrap(), row.mcse_mean.unwrap());
        let [there, of_there, sd] =
            ["", ":mcse", ":sd"].map(|end| expected(&format!("posterior:{theirs}{end}")));
        assert!(
            (mean - there).abs() < 4.0 * error.hypot(of_there),
            "{ours}: {mean} {there}"
        );
        assert!(
            error < 0.05 * sd && row.rhat.unwrap() < 1.02,
            "{ours}: {error} {sd}"
        );
    }
}

#[test]
fn what_is_no_level_is_refused() {
    let columns = [
        numbers("y", &[1.0, 2.0, 3.0, 0.0]),
        numbers("x", &[1.0, 2.0, 0.5, 0.1]),
    ];
    for (text, part) in [
        (
            "parameters\n c: ordered(2)\nrows\n y ~ ordered_logistic(x, c)\n",
            "numbered from 1 to 3, but this is 0 in row 4 of the data",
        ),
        (
            "parameters\n c: real\nrows\n y ~ ordered_logistic(x, c)\n",
            "A vector of thresholds is needed here",
        ),
        (
            "parameters\n c: ordered(2) in (0, 1)\nrows\n y ~ normal(c[1], 1)\n",
            "Ordered numbers bound each other",
        ),
        (
            "parameters\n c: ordered(2) ~ gamma(1, 1)\nrows\n y ~ normal(c[1], 1)\n",
            "give them a prior of numbers",
        ),
        (
            "parameters\n c: ordered(2) ~ ordered_logistic(0, [0, 1])\nrows\n y ~ normal(c[1], 1)\n",
            "parameters are numbers with a density",
        ),
    ] {
        let refused = refusal(text, &columns);
        assert!(refused.contains(part), "{refused}");
    }
}
