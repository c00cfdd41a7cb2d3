//! Rows under draws: log densities against passes over rows, draws and means against densities, and what cannot be predicted.

use ergodic_base::{Purpose, stream};
use ergodic_core::design::ObservationRows;
use ergodic_core::models::Scratch;
use rand::RngExt as _;

use super::densities::{arguments, expectation};
use super::*;
use crate::distributions::Support;

/// Draws of the reported quantities (Q × S), and the positions that they are.
fn draws(model: &dyn Model, count: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut rng = stream(4, 0, Purpose::Noise);
    let mut theta = vec![0.0; model.params().len()];
    let mut all = vec![Vec::new(); theta.len()];
    let mut positions = Vec::new();
    for _ in 0..count {
        let u: Vec<f64> = (0..model.dim())
            .map(|_| rng.random::<f64>() - 0.5)
            .collect();
        model.constrain(&u, &mut theta);
        for (all, theta) in all.iter_mut().zip(&theta) {
            all.push(*theta);
        }
        positions.push(u);
    }
    (all, positions)
}

fn columns() -> Vec<(String, Predictor)> {
    let x: Vec<f64> = (0..150).map(|i| f64::from(i * 7 % 11) - 4.5).collect();
    let y: Vec<f64> = (0..150).map(|i| f64::from(i % 3 % 2)).collect();
    let n: Vec<f64> = (0..150).map(|i| f64::from(i % 5)).collect();
    let codes: Vec<u32> = (0..150).map(|i| i % 3).collect();
    vec![
        numbers("x", &x),
        numbers("y", &y),
        numbers("n", &n),
        group("g", &["u", "v", "w"], &codes),
    ]
}

/// The rows of `columns` as the model reads them.
fn read(
    model: &dyn Model,
    columns: &[(String, Predictor)],
    rows: usize,
) -> Arc<dyn ObservationRows> {
    let observation = model.observation().unwrap();
    observation.code(columns, &vec![true; rows]).unwrap()
}

/// The log density of a row under a draw is that of a pass over the rows, to the last bit, whatever the rows are made of.
#[test]
fn one_row_under_many_draws_is_many_rows_under_one() {
    for text in [
        "parameters\n a ~ normal(0, 1)\n b[g] ~ normal(0, 1)\n w[g]: vector(2) ~ normal(0, 1)\n s ~ gamma(2, 1)\nrows\n half = x / 2\n y ~ normal(a + b[g] + dot(w[g], [half, n]) + s * x, exp(s))\n",
        "parameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\n c ~ normal(0, 1)\n d ~ normal(0, 1)\n e ~ normal(0, 1)\nrows\n y ~ bernoulli_logit(a + b * x + c * n + d * x * n + e * (g == \"v\"))\n",
        "parameters\n a ~ normal(0, 1)\n p ~ beta(1, 1)\nrows\n n ~ poisson_log(a + 0.1 * x)\n y ~ bernoulli(p)\n log_mix(p, -a * x^2 / 100, normal_lpdf(x, a, 3))\n",
        "parameters\n c: ordered(4) ~ normal(0, 1)\n b ~ normal(0, 1)\nrows\n level = n + 1\n level ~ ordered_logistic(b * x, c)\nreport\n first = c[1]\n",
    ] {
        let model = model(text, &columns());
        let observation = model.observation().unwrap();
        let (draws, positions) = draws(model.as_ref(), 300);
        let prepared = observation.prepare(draws);
        let rows = read(model.as_ref(), &columns(), 150);
        let likelihood = model.rows().unwrap();
        let mut wanted = vec![0.0; 150];
        let mut found = vec![0.0; 299];
        let mut by_row = Vec::new();
        for i in 0..150 {
            rows.log_density(i, &prepared, 1, &mut found);
            by_row.push(found.clone());
        }
        for (s, u) in positions.iter().enumerate().skip(1) {
            likelihood.pointwise(u, Rows::All, &mut Scratch::default(), &mut wanted);
            for (i, wanted) in wanted.iter().enumerate() {
                assert_eq!(by_row[i][s - 1].to_bits(), wanted.to_bits(), "{text}");
            }
        }
    }
}

/// A value that a distribution can have.
fn possible(support: Support) -> f64 {
    match support {
        Support::Real => -0.4,
        Support::Positive | Support::Unit | Support::Between => 0.7,
        Support::Above => 2.5,
        _ => 1.0,
    }
}

/// What is drawn has the distribution whose density is written down, and so does what is expected: g(y) = y/(1 + |y|) and the
/// square of it have expectations under every distribution.
#[test]
fn draws_and_means_are_those_of_the_density() {
    const DRAWS: usize = 40_000;
    for it in DISTRIBUTIONS {
        if it.support == Support::Simplex || it.support.is_of_levels() {
            continue;
        }
        let text = format!(
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ {}({})\n",
            it.name,
            arguments(it.name, it.parameters).join(", ")
        );
        let columns = [numbers("y", &[possible(it.support)])];
        let model = model(&text, &columns);
        let observation = model.observation().unwrap();
        if it.mean.is_empty() {
            let why = observation.refusal().unwrap();
            assert!(why.contains("has no mean"), "{why}");
            assert!(it.name.ends_with("cauchy"), "{}", it.name);
            continue;
        }
        let rows = read(model.as_ref(), &columns, 1);
        let prepared = observation.prepare(vec![vec![0.0; DRAWS]]);
        let mut distribution = vec![0.0; rows.width() * DRAWS];
        rows.distribution(0, &prepared, 0, &mut distribution);
        let trials = rows.trials().map_or(1.0, |trials| trials[0]);
        let mean = expectation(it, |y| y);
        let told = distribution[0] * trials;
        assert!(
            (told - mean).abs() < 1e-6 * mean.abs().max(1.0),
            "{}: {told} {mean}",
            it.name
        );
        let mut drawn = vec![0.0; DRAWS];
        let mut rng = stream(8, 0, Purpose::Predictive);
        rows.draw(&distribution, &mut rng, &mut drawn);
        let bounded = |y: f64| y / (1.0 + y.abs());
        for power in [1, 2] {
            let of = |y: f64| bounded(y).powi(power);
            let average = drawn.iter().copied().map(of).sum::<f64>() / DRAWS as f64;
            let wanted = expectation(it, of);
            let square = expectation(it, |y| of(y).powi(2));
            let error = ((square - wanted * wanted).max(0.0) / DRAWS as f64).sqrt();
            assert!(
                (average - wanted).abs() <= 4.0 * error + 1e-12,
                "{}: {average} {wanted} ± {error}",
                it.name
            );
        }
        assert_eq!(observation.is_whole(), it.support.is_discrete());
    }
}

#[test]
fn chances_of_levels_are_those_of_the_density_and_of_draws() {
    let level: Vec<f64> = (0..4).map(f64::from).map(|it| it + 1.0).collect();
    let text = "parameters\n c: ordered(3) ~ normal(0, 1)\n b ~ normal(0, 1)\nrows\n level ~ ordered_logistic(b, c)\n";
    let columns = [numbers("level", &level)];
    let model = model(text, &columns);
    let rows = read(model.as_ref(), &columns, 4);
    let prepared = model.observation().unwrap().prepare(
        [-0.7, 0.2, 1.4, 0.3]
            .iter()
            .map(|it| vec![*it; 40_000])
            .collect(),
    );
    let mut distribution = vec![0.0; rows.width() * 40_000];
    rows.distribution(0, &prepared, 0, &mut distribution);
    let mut drawn = vec![0.0; 40_000];
    rows.draw(
        &distribution,
        &mut stream(3, 0, Purpose::Predictive),
        &mut drawn,
    );
    let (mut chance, mut log_p) = (vec![0.0; 40_000], [0.0]);
    let mut mean = 0.0;
    for (i, level) in level.iter().enumerate() {
        rows.chance(&distribution, i + 1, &mut chance);
        rows.log_density(i, &prepared, 7, &mut log_p);
        near(&[chance[7].ln()], &log_p, 1e-12, "chance of a level");
        let share = drawn.iter().filter(|y| *y == level).count() as f64 / 40_000.0;
        let error = (chance[0] * (1.0 - chance[0]) / 40_000.0).sqrt();
        assert!(
            (share - chance[0]).abs() < 4.0 * error,
            "{share} {}",
            chance[0]
        );
        mean += level * chance[0];
    }
    near(&[distribution[0]], &[mean], 1e-12, "mean level");
}

/// The outcome is known by its column, its category or its function; what only it needs may be missing from new rows.
#[test]
fn outcomes_are_known_by_what_they_are_made_of() {
    use ergodic_core::design::ResponseKind;
    let of = |rows: &str| {
        let text = format!("parameters\n a ~ normal(0, 1)\n s ~ gamma(2, 1)\nrows\n{rows}\n");
        model(&text, &columns())
    };
    let two = of(" (g == \"v\") ~ bernoulli_logit(a * x)");
    let observation = two.observation().unwrap();
    let response = observation.response();
    assert_eq!((response.name.as_str(), observation.refusal()), ("g", None));
    assert_eq!(
        response.kind,
        ResponseKind::Binary {
            success: "v".to_owned(),
            failure: "not v".to_owned()
        }
    );
    assert_eq!(observation.outcome_columns(), ["g"]);
    // The first row has an outcome, the second none.
    let new = [
        numbers("x", &[1.0, 2.0]),
        group("g", &["u", "v", "w"], &[1, 0]),
    ];
    let rows = observation.code(&new, &[true, false]).unwrap();
    assert_eq!(rows.observed()[0], 1.0);
    assert!(rows.observed()[1].is_nan());

    let logarithm = of(" log(n + 1) ~ normal(a, s)");
    let response = logarithm.observation().unwrap().response().clone();
    assert_eq!(
        (response.name.as_str(), response.kind.function()),
        ("log(n + 1)", None)
    );
    let root = of(" sqrt(n) ~ normal(a, s)");
    let response = root.observation().unwrap().response().clone();
    assert_eq!(
        (response.name.as_str(), response.column()),
        ("sqrt(n)", "n")
    );
    let rows = read(root.as_ref(), &columns(), 150);
    assert_eq!(rows.observed()[4], 4.0);
    let successes = of(" k = min(n, 2)\n k ~ binomial_logit(3, a * x)");
    let rows = read(successes.as_ref(), &columns(), 150);
    assert_eq!(rows.trials().unwrap()[0], 3.0);
    // An outcome that the distribution never has is refused in new rows as well.
    let count = of(" n ~ poisson_log(a)");
    let refused = count
        .observation()
        .unwrap()
        .code(&[numbers("n", &[1.5])], &[true]);
    let why = refused.unwrap_err();
    assert_eq!(why.row, Some(0));
    assert!(
        (why.message).contains("whole numbers from 0, but the outcome is 1.5"),
        "{why}"
    );
}

/// What is expected of a function of a column is its median, half of the probability below it; without a median, or where not every
/// outcome is a value of the function, the function itself is the outcome.
#[test]
fn functions_of_an_outcome_are_taken_back_by_medians() {
    for it in DISTRIBUTIONS {
        if it.support.is_discrete() || it.support == Support::Simplex {
            continue;
        }
        let text = format!(
            "parameters\n a ~ normal(0, 1)\nrows\n log(y) ~ {}({})\n",
            it.name,
            arguments(it.name, it.parameters).join(", ")
        );
        let columns = [numbers("y", &[possible(it.support).exp()])];
        let model = model(&text, &columns);
        let observation = model.observation().unwrap();
        let function = observation.response().kind.function();
        assert_eq!(function.is_some(), !it.median.is_empty(), "{}", it.name);
        if function.is_none() {
            assert_eq!(observation.response().name, "log(y)");
            continue;
        }
        let rows = read(model.as_ref(), &columns, 1);
        let prepared = observation.prepare(vec![vec![0.0]]);
        let mut distribution = vec![0.0; rows.width()];
        rows.distribution(0, &prepared, 0, &mut distribution);
        let below = expectation(it, |y| f64::from(u8::from(y < distribution[0])));
        // The integral of a step is off by a node of its mesh.
        assert!((below - 0.5).abs() < 5e-3, "{}: {below}", it.name);
    }
    let function = |rows: &str| {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n {rows}\n");
        let model = model(&text, &columns());
        let response = model.observation().unwrap().response().clone();
        (response.name.clone(), response.kind.function().is_some())
    };
    assert_eq!(
        function("exp(x) ~ lognormal(a, 1)"),
        ("exp(x)".to_owned(), true)
    );
    assert_eq!(
        function("exp(x) ~ normal(a, 1)"),
        ("exp(x)".to_owned(), false)
    );
}

#[test]
fn what_cannot_be_predicted_says_why() {
    for (rows, sentence) in [
        (
            " poisson_log_lpmf(n, a)",
            "no line `outcome ~ distribution(…)`",
        ),
        (" n ~ poisson_log(a)\n y ~ bernoulli_logit(a)", "2 outcomes"),
        (
            " n ~ poisson_log(a)\n -a * x",
            "summands besides the line of `n`",
        ),
        (" (y - a) ~ normal(0, 1)", "no column alone"),
        (
            " x ~ cauchy(a, 1)",
            "`cauchy` has no mean, so nothing is expected of `x`",
        ),
    ] {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n{rows}\n");
        let model = model(&text, &columns());
        let why = model.observation().unwrap().refusal().unwrap().to_owned();
        assert!(why.contains(sentence), "{why}");
    }
    let plain = model("parameters\n a ~ normal(0, 1)\n", &[]);
    assert!(plain.observation().is_none());
}

/// Priors that depend on others are drawn after these, within bounds, with the moments of their distributions.
#[test]
fn priors_are_drawn_in_the_order_in_which_they_depend_on_each_other() {
    const DRAWS: usize = 4000;
    let text = "parameters\n b[g] ~ normal(m, s)\n m ~ normal(1, 2)\n s ~ gamma(4, 2)\n p: simplex(3) ~ dirichlet([1, 2, 3])\n \
                c: ordered(3) ~ normal(0, 1)\n t in (0, 1) ~ normal(0.8, 1)\n z: vector(20) ~ normal(2 * m, 1)\nrows\n \
                y ~ normal(b[g] + z[1], s)\n";
    let model = model(text, &columns());
    let mut rng = stream(6, 0, Purpose::Predictive);
    let mut theta = vec![0.0; model.params().len()];
    let (mut sums, mut squares) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
    for _ in 0..DRAWS {
        model.draw_parameters(&mut rng, &mut theta).unwrap();
        assert!(theta[8] < theta[9] && theta[9] < theta[10], "{theta:?}");
        assert!((theta[5] + theta[6] + theta[7] - 1.0).abs() < 1e-12);
        assert!(theta[11] > 0.0 && theta[11] < 1.0);
        for (j, x) in theta.iter().enumerate() {
            sums[j] += x / DRAWS as f64;
            squares[j] += x * x / DRAWS as f64;
        }
    }
    // Of the largest of three normal numbers the mean is 3/(2 √π); of the normal number between 0 and 1 that of its density.
    let normal = |x: f64| (-0.5 * (x - 0.8) * (x - 0.8)).exp();
    let cells = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0);
    let between =
        cells.clone().map(|x| x * normal(x)).sum::<f64>() / cells.map(normal).sum::<f64>();
    let means = [
        (0, 1.0),
        (2, 1.0),
        (3, 1.0),
        (4, 2.0),
        (5, 1.0 / 6.0),
        (7, 0.5),
        (9, 0.0),
        (10, 1.5 / std::f64::consts::PI.sqrt()),
        (11, between),
        (12, 2.0),
        (31, 2.0),
    ];
    for (j, mean) in means {
        let error = ((squares[j] - sums[j] * sums[j]) / DRAWS as f64).sqrt();
        assert!(
            (sums[j] - mean).abs() < 4.0 * error,
            "{j}: {} {mean} ± {error}",
            sums[j]
        );
    }
    // Var b = Var m + E s², and Var z = 4 Var m + 1; four standard errors of variances of nearly normal numbers.
    for (j, variance) in [(1, 4.0 + 5.0), (20, 17.0)] {
        let found: f64 = squares[j] - sums[j] * sums[j];
        assert!(
            (found / variance - 1.0).abs() < 0.15,
            "{j}: {found} {variance}"
        );
    }
}

/// What a bound cuts off of a prior that depends on another parameter makes values likely of which little is cut off.
#[test]
fn bounds_of_a_prior_tell_about_what_it_depends_on() {
    const DRAWS: usize = 20_000;
    let text =
        "parameters\n m ~ normal(0, 1)\n t: positive ~ normal(m, 1)\nrows\n y ~ normal(m, t)\n";
    let model = model(text, &columns());
    let mut rng = stream(7, 0, Purpose::Predictive);
    let mut theta = vec![0.0; model.params().len()];
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..DRAWS {
        model.draw_parameters(&mut rng, &mut theta).unwrap();
        assert!(theta[1] > 0.0);
        sum += theta[0] / DRAWS as f64;
        squares += theta[0] * theta[0] / DRAWS as f64;
    }
    // p(m) ∝ φ(m) Φ(m): skew normal with slant 1.
    let mean = 1.0 / std::f64::consts::PI.sqrt();
    let error = ((squares - sum * sum) / DRAWS as f64).sqrt();
    assert!((sum - mean).abs() < 4.0 * error, "{sum} {mean} ± {error}");
}
