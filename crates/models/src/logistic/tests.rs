//! Against the formulas written naively, at extremes, across vector instructions, and by simulation. What holds for every
//! template is in `models/conformance.rs`.

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::*;
use crate::families::bernoulli::{SignedBernoulli, signed_rows};
use crate::families::binomial::{WeightedBinomial, weighted_rows};
use crate::families::rows::RowFamily;
use crate::glm::GlmRows;
use crate::numerics::arithmetic::{Class, SimdLevel};
use crate::prior::Prior;
use crate::testing::regressions::{NUM_OBS, Shape, design};
use crate::{LinearRows, Rows};
use ergodic_base::{Purpose, stream};

const FULL: Shape = Shape {
    trials: true,
    weights: true,
    offset: true,
    no_intercept: false,
};

fn model(design: &Arc<Design>, options: &ModelOptions) -> Arc<dyn Model> {
    Logistic::build(Arc::clone(design), options).unwrap()
}

fn at(values: &Option<Vec<f64>>, i: usize, absent: f64) -> f64 {
    values.as_ref().map_or(absent, |values| values[i])
}

/// Success probability of row `i`.
fn probability(design: &Design, u: &[f64], i: usize) -> f64 {
    let z: f64 = design.x.row(i).iter().zip(u).map(|(x, u)| x * u).sum();
    1.0 / (1.0 + (-z - at(&design.offset, i, 0.0)).exp())
}

#[test]
fn values_scores_and_curvature_are_those_of_the_formulas() {
    for shape in [Shape::default(), FULL] {
        let design = Arc::new(design(shape, NUM_OBS));
        let model = model(&design, &ModelOptions::default());
        let mut scratch = model.rows().unwrap().scratch();
        let u = [0.4, -1.1, 0.3, 0.8];
        let (mut values, mut scores) = (vec![0.0; NUM_OBS], vec![0.0; NUM_OBS * 4]);
        model
            .rows()
            .unwrap()
            .pointwise(&u, Rows::All, &mut scratch, &mut values);
        model
            .rows()
            .unwrap()
            .scores(&u, Rows::All, &mut scratch, &mut scores);
        for i in 0..NUM_OBS {
            let p = probability(&design, &u, i);
            let (n, w) = (at(&design.trials, i, 1.0), at(&design.weights, i, 1.0));
            let y = design.y[i];
            let value = w * (y * p.ln() + (n - y) * (-p).ln_1p());
            assert!((values[i] - value).abs() < 1e-12 * (1.0 + value.abs()));
            let mut curvature = [0.0; 16];
            let row = Rows::Span { start: i, len: 1 };
            model
                .rows()
                .unwrap()
                .add_neg_hessian_log_lik(&u, row, &mut scratch, &mut curvature);
            for j in 0..4 {
                let x = design.x[[i, j]];
                assert!((scores[4 * i + j] - w * (y - n * p) * x).abs() < 1e-12 * (1.0 + n));
                let c = w * n * p * (1.0 - p) * x * x;
                assert!((curvature[5 * j] - c).abs() < 1e-12 * (1.0 + n * x * x));
            }
        }
    }
}

/// Huge linear predictors: log likelihoods stay finite and right, residuals saturate.
#[test]
fn extreme_predictors_do_not_overflow() {
    for shape in [
        Shape::default(),
        Shape {
            weights: true,
            ..Shape::default()
        },
    ] {
        let mut design = design(shape, 4);
        design.weights = design.weights.map(|weights| vec![1.0; weights.len()]);
        for (i, (x, y)) in [(1000.0, 1.0), (1000.0, 0.0), (-1000.0, 1.0), (-1000.0, 0.0)]
            .into_iter()
            .enumerate()
        {
            design.x[[i, 1]] = x;
            design.y[i] = y;
        }
        let model = model(&Arc::new(design), &ModelOptions::default());
        let u = [0.0, 1.0, 0.0, 0.0];
        let mut scratch = model.rows().unwrap().scratch();
        let (mut values, mut scores) = ([0.0; 4], [0.0; 16]);
        model
            .rows()
            .unwrap()
            .pointwise(&u, Rows::All, &mut scratch, &mut values);
        let expected = [0.0, -1000.0, -1000.0, 0.0];
        assert!(
            values
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-300),
            "{values:?}"
        );
        model
            .rows()
            .unwrap()
            .scores(&u, Rows::All, &mut scratch, &mut scores);
        let intercept: Vec<f64> = scores.iter().step_by(4).copied().collect();
        let expected = [0.0, -1.0, 1.0, 0.0];
        for (got, expected) in intercept.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-15, "{intercept:?}");
        }
        let mut grad = [0.0; 4];
        assert_eq!(
            model
                .rows()
                .unwrap()
                .log_lik(&u, Rows::All, &mut scratch, &mut grad),
            -2000.0
        );
        // Thousands of rows at a predictor of zero: the product of factors is taken before it overflows.
        assert!(grad.iter().all(|g| g.is_finite()));
    }
    let rows = GlmRows::new(SignedBernoulli, 1, [1.0; 20_000][..].into());
    let value = rows.value_gradient(&[0.0], Rows::All, &mut rows.scratch(), &mut [0.0]);
    assert!((value + 20_000.0 * std::f64::consts::LN_2).abs() < 1e-9);
}

/// All levels of one class of arithmetic must give the same bits, with value, without, and centred, for all rows together and row by
/// row.
#[test]
fn vector_instructions_do_not_change_a_bit() {
    fn bits<F: RowFamily>(rows: &GlmRows<F>, picks: &[u32], centre: &[f64]) -> Vec<u64> {
        let u = [0.4, -1.1, 0.3, 0.8];
        let mut scratch = rows.scratch();
        let mut out = Vec::new();
        for which in [
            Rows::All,
            Rows::Span { start: 3, len: 77 },
            Rows::Pick(picks),
        ] {
            let mut grad = [0.0; 4];
            out.push(
                rows.value_gradient(&u, which, &mut scratch, &mut grad)
                    .to_bits(),
            );
            rows.gradient(&u, which, &mut scratch, &mut grad);
            rows.gradient_difference(&u, which, centre, &mut scratch, &mut grad);
            out.extend(grad.map(f64::to_bits));
            let mut scores = vec![0.0; 4 * which.len(NUM_OBS)];
            rows.scores(&u, which, Some(centre), &mut scratch, &mut scores);
            out.extend(scores.iter().map(|score| score.to_bits()));
        }
        for row in 0..NUM_OBS {
            out.extend(rows.derivatives(row, 0.1 * row as f64).map(f64::to_bits));
        }
        out
    }
    let picks: Vec<u32> = (0..101).map(|k| (k * 37) % NUM_OBS as u32).collect();
    let centre: Vec<f64> = (0..NUM_OBS).map(|i| (i as f64).sin() * 0.3).collect();
    let plain = signed_rows(&design(Shape::default(), NUM_OBS));
    let weighted = weighted_rows(&design(FULL, NUM_OBS)).data;
    for class in Class::ALL {
        let mut levels = SimdLevel::available();
        levels.retain(|level| level.class() == class);
        let of = |level: SimdLevel| {
            let plain = GlmRows::new(SignedBernoulli, 4, plain[..].into()).at_level(level);
            let weighted = GlmRows::new(WeightedBinomial, 4, weighted[..].into()).at_level(level);
            [
                bits(&plain, &picks, &centre),
                bits(&weighted, &picks, &centre),
            ]
        };
        let Some((first, others)) = levels.split_first() else {
            continue;
        };
        let expected = of(*first);
        for &level in others {
            assert_eq!(of(level), expected, "{level:?}");
        }
    }
}

#[test]
fn simulated_responses_have_the_right_frequency() {
    for shape in [Shape::default(), FULL] {
        let design = Arc::new(design(shape, NUM_OBS));
        let model = model(&design, &ModelOptions::default());
        let u = [-0.4, 0.5, 0.3, -0.8];
        let mut rng = stream(63, 0, Purpose::Predictive);
        let rows = [4_u32, 100, 9, 4];
        let rounds = 20_000;
        let (mut y, mut sums) = ([0.0; 4], [0.0; 4]);
        for _ in 0..rounds {
            model
                .prior_draws()
                .unwrap()
                .simulate(&u, Rows::Pick(&rows), &mut rng, &mut y);
            for (sum, y) in sums.iter_mut().zip(y) {
                *sum += y;
            }
        }
        for (k, &row) in rows.iter().enumerate() {
            let i = row as usize;
            let (p, n) = (probability(&design, &u, i), at(&design.trials, i, 1.0));
            let error = (n * p * (1.0 - p) / f64::from(rounds)).sqrt();
            let mean = sums[k] / f64::from(rounds);
            assert!(
                (mean - n * p).abs() < 5.0 * error,
                "row {i}: {mean} ± {error}, {}",
                n * p
            );
        }
    }
}

/// One model on two scales: with priors on raw coefficients the log prior is that of the reported values.
#[test]
fn priors_hold_on_the_scale_they_are_set_for() {
    let design = Arc::new(design(Shape::default(), NUM_OBS));
    let prior = Prior::parse("student_t(5, 1, 2)").unwrap();
    let u = [0.4, -1.1, 0.3, 0.8];
    for standardize in [true, false] {
        for report_standardized in [true, false] {
            let priors = vec![
                ("b".into(), prior.to_string()),
                ("intercept".into(), prior.to_string()),
            ];
            let options = ModelOptions {
                priors,
                standardize,
                report_standardized,
                ..ModelOptions::default()
            };
            let model = model(&design, &options);
            let mut theta = [0.0; 4];
            let on_scale = if standardize {
                u
            } else {
                design.scaling().to_raw(&u, &mut theta);
                theta
            };
            let expected: f64 = on_scale.iter().map(|&x| prior.log_density(x).0).sum();
            let got = model.rows().unwrap().log_prior(&u, &mut [0.0; 4]);
            assert!((got - expected).abs() < 1e-10 * expected.abs().max(1.0));

            // The plotted prior of a slope is the density of the reported quantity.
            model.constrain(&u, &mut theta);
            let scale = match (standardize, report_standardized) {
                (true, false) => 1.0 / design.raw_scale[2],
                (false, true) => design.raw_scale[2],
                _ => 1.0,
            };
            let expected = prior.density(theta[2] / scale).unwrap() / scale;
            let got = model.prior_density(2, theta[2]).unwrap();
            assert!(
                (got / expected - 1.0).abs() < 1e-12,
                "{standardize} {report_standardized}"
            );
        }
    }
}

#[test]
fn priors_of_unknown_parameters_are_refused_with_the_known_ones() {
    let design = Arc::new(design(Shape::default(), NUM_OBS));
    let options = ModelOptions {
        priors: vec![("b[agee]".into(), "normal(0, 1)".into())],
        ..ModelOptions::default()
    };
    let message = Logistic::build(design, &options).err().unwrap().to_string();
    assert!(
        message.contains("`b[agee]`") && message.contains("b[age]"),
        "{message}"
    );
}

/// The prior of the intercept on the scale where it is not set, against draws of all parameters from their priors.
#[test]
fn the_other_scales_intercept_has_the_prior_that_its_sum_implies() {
    const DRAWS: usize = 20_000;
    let design = Arc::new(design(Shape::default(), NUM_OBS));
    for (standardize, report_standardized) in [(true, false), (false, true)] {
        let options = ModelOptions {
            priors: vec![
                ("intercept".into(), "normal(1, 2)".into()),
                ("b".into(), "normal(0.5, 1.5)".into()),
            ],
            standardize,
            report_standardized,
            ..ModelOptions::default()
        };
        let model = Logistic::build(Arc::clone(&design), &options).unwrap();
        // The model that reports where priors hold gives the way from those values to u.
        let same = ModelOptions {
            report_standardized: standardize,
            ..options
        };
        let same = Logistic::build(Arc::clone(&design), &same).unwrap();
        let dim = model.dim();
        let mut rng = stream(63, 0, Purpose::Data);
        let (mut u, mut theta) = (vec![0.0; dim], vec![0.0; dim]);
        let intercepts: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let given: Vec<f64> = (0..dim)
                    .map(|j| {
                        let z: f64 = rng.sample(StandardNormal);
                        if j == 0 { 1.0 + 2.0 * z } else { 0.5 + 1.5 * z }
                    })
                    .collect();
                same.unconstrain(&given, &mut u);
                model.constrain(&u, &mut theta);
                theta[0]
            })
            .collect();
        // The sum is normal, so mean and variance say all; compare them with the density's peak and spread.
        let n = DRAWS as f64;
        let mean = intercepts.iter().sum::<f64>() / n;
        let variance = intercepts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let sd = variance.sqrt();
        let at = |z: f64| model.prior_density(0, mean + z * sd).unwrap() * sd;
        for z in [-1.0, 0.0, 1.5] {
            let expected = (-0.5_f64 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
            // A relative error of 1/√n in the mean and 1/√(2n) in the spread, four times, both.
            assert!(
                (at(z) / expected - 1.0).abs() < 8.0 / n.sqrt(),
                "{z}: {} {expected}",
                at(z)
            );
        }
    }
}

#[test]
fn the_other_scales_intercept_has_no_closed_prior_with_heavy_tails() {
    let design = Arc::new(design(Shape::default(), NUM_OBS));
    let options = ModelOptions {
        priors: vec![("b".into(), "laplace(0, 1)".into())],
        standardize: true,
        ..ModelOptions::default()
    };
    let model = Logistic::build(design, &options).unwrap();
    assert_eq!(model.prior_density(0, 0.0), None);
    assert!(model.prior_density(1, 0.0).is_some());
}
