//! Against quadrature, closed forms and simulation.

use super::*;
use crate::design::Predictor;
use crate::testing::factorization::{options, some_ratings};
use ergodic_base::{Purpose, stream};

const PRIORS: [(&str, &str); 4] = [
    ("user", "constant(4)"),
    ("item", "constant(2)"),
    ("user_factor", "gamma(3, 2)"),
    ("item_factor", "constant(0.8)"),
];

fn model(design: Design, options: &ModelOptions) -> Arc<dyn Model> {
    Factorization::build(Arc::new(design), options).unwrap()
}

/// The marginal prior is the mixture of normal distributions over the precision.
#[test]
fn precisions_are_integrated_out() {
    let prior = BlockPrior(PrecisionPrior::Gamma {
        shape: 1.5,
        rate: 0.7,
    });
    let mixture = |x: &[f64]| {
        let (steps, width) = (40_000, 60.0);
        let squares = dot(x, x);
        (0..steps)
            .map(|step| {
                let lambda: f64 = width * (f64::from(step) + 0.5) / f64::from(steps);
                let power = 0.5 * x.len() as f64 + 0.5;
                lambda.powf(power) * (-lambda * (0.7 + 0.5 * squares)).exp()
            })
            .sum::<f64>()
            .ln()
    };
    let (near, far) = ([0.2, -0.4, 0.1], [2.0, -3.0, 1.0]);
    let found = prior.log_density(&near) - prior.log_density(&far);
    assert!(
        (found - mixture(&near) + mixture(&far)).abs() < 1e-6,
        "{found}"
    );
    // The density of one coordinate integrates to one and is the marginal of the block.
    let total: f64 = (0..200_000)
        .map(|step| 0.01 * prior.density(0.01 * (f64::from(step) + 0.5) - 1000.0))
        .sum();
    // The tails of three degrees of freedom hold less than 1e-8 there.
    assert!((total - 1.0).abs() < 1e-7, "{total}");
    let ratio = prior.density(0.3) / prior.density(2.0);
    let expected = (mixture(&[0.3]) - mixture(&[2.0])).exp();
    assert!((ratio / expected - 1.0).abs() < 1e-6, "{ratio} {expected}");
}

#[test]
fn rotations_of_all_factors_change_nothing() {
    let model = model(some_ratings(60, true), &options(2, 3.0, &[]));
    let density = model.density().unwrap();
    let dim = model.dim();
    let mut rng = stream(5, 0, Purpose::Data);
    let mut u = vec![0.0; dim];
    density.init(&mut rng, &mut u);
    let (sin, cos) = 0.7_f64.sin_cos();
    let mut rotated = u.clone();
    for pair in rotated[11..].chunks_exact_mut(2) {
        let [x, y] = [pair[0], pair[1]];
        (pair[0], pair[1]) = (cos * x - sin * y, sin * x + cos * y);
    }
    let mut grad = vec![0.0; dim];
    let here = density.log_density(&u, &mut grad);
    let there = density.log_density(&rotated, &mut grad);
    assert!((here - there).abs() < 1e-10, "{here} {there}");
}

/// A minibatch changes the gradient at the users and the films of its rows alone.
#[test]
fn minibatches_touch_the_users_and_items_of_their_rows() {
    let model = model(some_ratings(50, false), &options(2, 3.0, &[]));
    let rows = model.rows().unwrap();
    let mut grad = vec![0.0; model.dim()];
    let u: Vec<f64> = (1..=model.dim()).map(|j| 0.1 * j as f64).collect();
    // Row 6 is of user 2 and film 1.
    rows.grad_log_lik(&u, Rows::Pick(&[6]), &mut rows.scratch(), &mut grad);
    let touched: Vec<&str> = (model.params().iter().zip(&grad))
        .filter(|(_, grad)| **grad != 0.0)
        .map(|(param, _)| param.name.as_str())
        .collect();
    let expected = [
        "user[user2]",
        "item[film1]",
        "user_factor[user2,1]",
        "user_factor[user2,2]",
        "item_factor[film1,1]",
        "item_factor[film1,2]",
    ];
    assert_eq!(touched, expected);
    let blocks: Vec<String> = (model.blocks().iter())
        .map(|block| format!("{} {}", block.name, block.coordinates.len()))
        .collect();
    assert_eq!(
        blocks,
        ["user 6", "item 5", "user_factor 12", "item_factor 10"]
    );
    assert!(!model.density().unwrap().has_dense_curvature());
}

/// Mean and variance of the rating of a user or a film that the fit did not have, against draws of it.
#[test]
fn new_users_and_items_are_of_the_population() {
    let model = model(some_ratings(60, false), &options(2, 3.0, &PRIORS));
    let observation = model.observation().unwrap();
    let u: Vec<f64> = (0..model.dim()).map(|j| (0.7 * j as f64).sin()).collect();
    let draws = observation.prepare(u.iter().map(|u| vec![*u]).collect());
    let column = |name: &str, codes: Vec<u32>| {
        let column = Predictor::Categorical {
            codes,
            levels: Vec::new(),
            reference: 0,
        };
        (name.to_owned(), column)
    };
    // Known and new, in all combinations.
    let columns = [
        column("user", vec![1, 6, 1, 6]),
        column("film", vec![2, 2, 5, 7]),
        (
            "y".to_owned(),
            Predictor::Numeric(vec![2.0, f64::NAN, 3.0, 4.0]),
        ),
    ];
    let rows = observation
        .code(&columns, &[true, false, true, true])
        .unwrap();
    assert!(rows.observed()[1].is_nan() && rows.observed()[3] == 4.0);
    let layout = Layout {
        groups: [6, 5],
        factors: 2,
    };
    let mean = some_ratings(60, false).response_units()[0];
    let mut rng = stream(6, 0, Purpose::Data);
    for (i, groups) in [(0, [1, 2]), (1, [6, 2]), (2, [1, 5]), (3, [6, 7])] {
        let (mut sum, mut squares) = (0.0, 0.0);
        let count = 200_000;
        for _ in 0..count {
            let mut normal = |kind: usize| {
                rng.sample::<f64, _>(StandardNormal) / draws[layout.dim() + kind][0].sqrt()
            };
            let mut side = |side: usize, group: usize| {
                let is_known = group < layout.groups[side];
                let known = |place: usize| u[place];
                let alone = if is_known {
                    known(layout.block(side).start + group)
                } else {
                    normal(side)
                };
                let first = layout.block(2 + side).start + 2 * group;
                let factors = [0, 1].map(|k| {
                    if is_known {
                        known(first + k)
                    } else {
                        normal(2 + side)
                    }
                });
                (alone, factors)
            };
            let (a, f) = side(0, groups[0]);
            let (b, g) = side(1, groups[1]);
            let noise = rng.sample::<f64, _>(StandardNormal) / 3.0_f64.sqrt();
            let rating = mean + a + b + f[0] * g[0] + f[1] * g[1] + noise;
            sum += rating;
            squares += rating * rating;
        }
        let n = f64::from(count);
        let (found, variance) = (sum / n, squares / n - (sum / n) * (sum / n));
        let mut out = [0.0; 2];
        rows.distribution(i, &draws, 0, &mut out);
        assert!(
            (out[0] - found).abs() < 4.0 * (variance / n).sqrt(),
            "{i}: {out:?} {found}"
        );
        // Products of normal numbers have heavier tails: fourth moments of at most nine squared variances.
        let error = (8.0 / n).sqrt();
        let ratio = out[1] * out[1] / variance;
        assert!((ratio - 1.0).abs() < 4.0 * error, "{i}: {ratio}");
        let mut log = [0.0];
        if i != 1 {
            rows.log_density(i, &draws, 0, &mut log);
            let z = (rows.observed()[i] - out[0]) / out[1];
            let expected = -0.5 * z * z - out[1].ln() - LOG_NORMAL;
            assert!((log[0] - expected).abs() < 1e-12);
        }
    }
    // Draws have the same two moments.
    let (mut drawn, many) = (vec![0.0; 100_000], 100_000);
    let mut out = [0.0; 2];
    rows.distribution(3, &draws, 0, &mut out);
    let wide: Vec<f64> = [vec![out[0]; many], vec![out[1]; many]].concat();
    rows.draw(&wide, &mut rng, &mut drawn);
    let found = drawn.iter().sum::<f64>() / many as f64;
    assert!((found - out[0]).abs() < 4.0 * out[1] / (many as f64).sqrt());
}

#[test]
fn what_the_template_does_not_take_is_named() {
    let refuse = |change: &dyn Fn(&mut Design), words: &str| {
        let mut design = some_ratings(30, false);
        change(&mut design);
        let error = Factorization::build(Arc::new(design), &options(2, 3.0, &[]));
        let error = error
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            error.starts_with("Template `factorization` ") && error.contains(words),
            "{words}: {error}"
        );
    };
    refuse(
        &|design| {
            design.group_terms.pop();
        },
        "write `rating ~ (1 | user) + (1 | item)`",
    );
    refuse(
        &|design| design.group_terms[1].names = vec!["Intercept".to_owned(), "age".to_owned()],
        "write `(1 | film)`",
    );
    refuse(
        &|design| design.group_terms[1].factor = 0,
        "has `user` twice",
    );
    refuse(&|design| design.terms.push("age".into()), "leave `age` out");
    refuse(
        &|design| design.offset = Some(vec![0.0; 30]),
        "takes no offsets",
    );
    let priors = options(2, 3.0, &[("user", "normal(0, 1)")]);
    let error = Factorization::build(Arc::new(some_ratings(30, false)), &priors);
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("gamma(shape, rate) or constant(value)"),
        "{error}"
    );
}

/// Without an intercept ratings are around 0.
#[test]
fn the_mean_goes_with_the_intercept() {
    let mut design = some_ratings(30, false);
    let mean = design.response_units()[0];
    let with = model(design.clone(), &options(1, 3.0, &[]));
    design.has_intercept = false;
    design.terms.clear();
    let without = model(design, &options(1, 3.0, &[]));
    let u = vec![0.0; with.dim()];
    let [mut first, mut second] = [vec![0.0; 30], vec![0.0; 30]];
    for (model, out) in [(&with, &mut first), (&without, &mut second)] {
        let rows = model.rows().unwrap();
        rows.pointwise(&u, Rows::All, &mut rows.scratch(), out);
    }
    let y = &some_ratings(30, false).y;
    for i in 0..30 {
        let expected = 1.5 * (y[i] * y[i] - (y[i] - mean).powi(2));
        assert!((first[i] - second[i] - expected).abs() < 1e-10);
    }
}
