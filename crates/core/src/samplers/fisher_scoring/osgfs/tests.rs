//! Against the closed forms of Gaussian posteriors, the calibration of the criterion, automatic burn-in.

use crate::samplers::configure;
use std::sync::Arc;

use statrs::function::erf::erf;

use super::*;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

fn chain(
    model: &Arc<GaussianRows>,
    pairs: &[(&str, Value)],
    start: &[f64],
    seed: u64,
) -> Chain<Osgfs> {
    Chain::start(model.clone(), None, &settings(pairs), start, seed)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// Covariance H⁻¹, lag-one correlation 1 − k/2, and with k = 4|S|/(N+|S|) an integrated autocorrelation time of
/// 4/k − 1 = N/|S|, under a weak prior and under one as strong as the data.
#[test]
fn covariance_and_correlation_match_the_closed_form() {
    let (n, batch, dim) = (1000_usize, 50_usize, 2);
    let k = 4.0 * batch as f64 / (n + batch) as f64;
    assert!(((4.0 / k - 1.0) - (n / batch) as f64).abs() < 1e-9);
    for prior_precision in [0.01, 1500.0] {
        let model =
            Arc::new(GaussianRows::balanced(n, dim, 41).with_prior_precision(prior_precision));
        let start = model.posterior_mean();
        let mut chain = chain(&model, &[("batch", Value::Int(batch as i64))], &start, 11);
        let draws = chain.draws(5000, 150_000, 1);
        assert!((chain.info[2] - k).abs() < 1e-12);
        for j in 0..dim {
            let what = format!("prior {prior_precision}, coordinate {j}");
            Moments::of(&draws[j]).assert_autoregressive(
                model.posterior_mean()[j],
                model.posterior_variance()[j],
                1.0 - 0.5 * k,
                &what,
            );
        }
    }
}

/// All bounds but the first: same covariance, and correlation 1 − k_j/2 with the k of the table in the header.
#[test]
fn every_bound_keeps_the_covariance_and_has_its_k() {
    let (n, batch, dim) = (1000_usize, 50_usize, 2);
    let factor = (n / batch) as f64;
    let prior_precision = 2000.0;
    let model = Arc::new(GaussianRows::balanced(n, dim, 42).with_prior_precision(prior_precision));
    let start = model.posterior_mean();
    // Scores have covariance diag(1, 4): information N and 4N.
    let curvature: Vec<f64> = model.posterior_variance().iter().map(|v| 1.0 / v).collect();
    let rho: Vec<f64> = (0..dim)
        .map(|j| n as f64 * model.score_variance()[j] / curvature[j])
        .collect();
    let k_of = |v: f64| (4.0 / (1.0 + v)).min(2.0);
    let sandwich = rho[0].max(rho[1]);
    let r = {
        let smallest = 1.0 / curvature[0].max(curvature[1]);
        let largest = (0..dim).map(|j| rho[j] / curvature[j]).fold(0.0, f64::max);
        smallest / largest
    };
    let capped = (4.0 / (1.0 + factor)).max(4.0 * r / (r + factor)).min(0.1);
    for (word, expected) in [
        ("capped", [capped; 2]),
        ("exact", [k_of(factor * sandwich); 2]),
        ("directions", [k_of(factor * rho[0]), k_of(factor * rho[1])]),
    ] {
        let given = [("batch", Value::Int(batch as i64)), ("k_bound", text(word))];
        let mut chain = chain(&model, &given, &start, 12);
        let draws = chain.draws(5000, 100_000, 1);
        for j in 0..dim {
            let what = format!("{word}, coordinate {j}");
            Moments::of(&draws[j]).assert_autoregressive(
                model.posterior_mean()[j],
                model.posterior_variance()[j],
                1.0 - 0.5 * expected[j],
                &what,
            );
        }
    }
}

/// All rows at once have no gradient noise: k = 2 and independent draws.
#[test]
fn a_full_batch_gives_independent_draws() {
    let model = Arc::new(GaussianRows::balanced(200, 1, 43));
    let start = model.posterior_mean();
    let mut chain = chain(&model, &[("batch", Value::Int(200))], &start, 13);
    let draws = chain.draws(10, 50_000, 1);
    Moments::of(&draws[0]).assert_autoregressive(
        model.posterior_mean()[0],
        model.posterior_variance()[0],
        0.0,
        "full batch",
    );
}

/// The share of passes per component at stationarity is what the variance of a mean of n = 1/k dependent gradients
/// says, about 0.73.
#[test]
fn the_criterion_is_calibrated_at_stationarity() {
    let (n, batch, dim) = (2000_usize, 40_usize, 2);
    let model = Arc::new(GaussianRows::balanced(n, dim, 44));
    let start = model.posterior_mean();
    let mut chain = chain(&model, &[("batch", Value::Int(batch as i64))], &start, 14);
    let v = n as f64 / batch as f64;
    let k = 4.0 / (1.0 + v);
    let window = (1.0 / k).round();
    assert_eq!(chain.config.criterion.window, window as usize);
    let phi = 1.0 - 0.5 * k;
    let dependence: f64 = (1..window as i32)
        .map(|lag| (window - f64::from(lag)) * phi.powi(lag - 1))
        .sum();
    let ratio = 1.0 + 2.0 / window * dependence * (phi - 0.5 * k * v) / (1.0 + v);
    let expected = erf(1.0 / (2.0 * ratio).sqrt());
    assert!((expected - 0.73).abs() < 0.02, "{expected}");

    for _ in 0..3000 {
        chain.step(Phase::Warmup { length: None });
    }
    let (batches, steps) = (40, 2000);
    let mut shares = Vec::new();
    for _ in 0..batches {
        let mut within = 0.0;
        for _ in 0..steps {
            chain.step(Phase::Draw);
            within += chain.info[1];
            let Output::Numbers(ratios) = Osgfs::output(&chain.state, 0) else {
                panic!("numbers");
            };
            assert_eq!(chain.info[0], ratios.iter().copied().fold(0.0, f64::max));
        }
        shares.push(within / f64::from(steps));
    }
    let moments = Moments::of(&shares);
    let error = (moments.variance / f64::from(batches - 1)).sqrt();
    assert!(
        (moments.mean - expected).abs() < 4.0 * error && error < 0.01,
        "{} ± {error}, expected {expected}",
        moments.mean
    );
}

/// The corrected tests pass as often as a normal variable stays within b, whatever the window; the joint one in all
/// directions together.
#[test]
fn corrected_criteria_pass_as_often_as_they_say() {
    let (n, batch) = (2000_usize, 40_usize);
    let k = 4.0 * batch as f64 / (n + batch) as f64;
    let model = Arc::new(GaussianRows::balanced(n, 3, 46).with_prior_precision(500.0));
    let start = model.posterior_mean();
    for (test, windows, b) in [
        ("corrected", 1.0, 1.0),
        ("corrected", 10.0, 1.0),
        ("joint", 1.0, 1.0),
        ("joint", 5.0, 0.5),
    ] {
        let given = [
            ("batch", Value::Int(batch as i64)),
            ("criterion", text(test)),
            ("window", Value::Int((windows / k).round() as i64)),
            ("b", Value::Real(b)),
        ];
        let mut chain = chain(&model, &given, &start, 15);
        for _ in 0..1000 {
            chain.step(Phase::Warmup { length: None });
        }
        let (batches, steps) = (40, 1500);
        let mut shares = Vec::new();
        for _ in 0..batches {
            let mut within = 0.0;
            for _ in 0..steps {
                chain.step(Phase::Draw);
                within += match test {
                    "joint" => f64::from(u8::from(chain.info[0] <= 1.0)),
                    _ => chain.info[1],
                };
            }
            shares.push(within / f64::from(steps));
        }
        let moments = Moments::of(&shares);
        let error = (moments.variance / f64::from(batches - 1)).sqrt();
        let expected = erf(b * std::f64::consts::FRAC_1_SQRT_2);
        assert!(
            (moments.mean - expected).abs() < 4.0 * error && error < 0.02,
            "{test}, {windows}: {} ± {error}, expected {expected}",
            moments.mean
        );
    }
}

/// From 30 posterior standard deviations away burn-in must not end before the chain has come near, and must end soon after.
#[test]
fn burn_in_ends_by_itself_when_the_chain_has_arrived() {
    let (n, batch) = (2000_usize, 100_usize);
    let model = Arc::new(GaussianRows::balanced(n, 2, 45));
    let k = 4.0 * batch as f64 / (n + batch) as f64;
    // Steps until 30 standard deviations have shrunk to 2.
    let approach = ((2.0_f64 / 30.0).ln() / (1.0 - 0.5 * k).ln()) as usize;
    for seed in 0..20 {
        let sds: Vec<f64> = model
            .posterior_variance()
            .iter()
            .map(|v| v.sqrt())
            .collect();
        let start: Vec<f64> = (0..2)
            .map(|j| model.posterior_mean()[j] + 30.0 * sds[j])
            .collect();
        let mut chain = chain(&model, &[("batch", Value::Int(batch as i64))], &start, seed);
        let mut steps = 0;
        while !Osgfs::ready(&chain.state) {
            chain.step(Phase::Warmup { length: None });
            steps += 1;
            assert!(steps < 20 * approach, "seed {seed}: never ready");
        }
        assert!(
            steps > approach / 2,
            "seed {seed}: ready after {steps} of {approach} steps"
        );
        for j in 0..2 {
            let away = (Osgfs::position(&chain.state)[j] - model.posterior_mean()[j]) / sds[j];
            // The criterion sees 5 standard deviations as 2.5 of its own: now and then it lets them pass.
            assert!(
                away.abs() < 6.0,
                "seed {seed}: ready {away} standard deviations away"
            );
        }
    }
}

#[test]
fn defaults_follow_the_report_and_keep_draws_useful() {
    let target = |num_obs, dim| Target {
        num_obs,
        dim,
        ..Target::default()
    };
    let none = Settings::default();
    let config = configure::<Osgfs>(&none, &target(245_057, 4)).unwrap();
    assert_eq!(config.minibatch.batch, 10_000);
    // 1/k = (N + |S|)/(4|S|) and half of the autocorrelation time N/|S|.
    assert_eq!(config.criterion.window, 6);
    assert_eq!(config.steps_per_draw, 13);
    assert_eq!(
        configure::<Osgfs>(&none, &target(400, 4))
            .unwrap()
            .minibatch
            .batch,
        50
    );
    assert_eq!(
        configure::<Osgfs>(&none, &target(400, 30))
            .unwrap()
            .minibatch
            .batch,
        150
    );
    assert!(
        settings(&[("scheme", text("epoch"))])
            .check("x", Osgfs::SPEC.fields)
            .is_err()
    );
}

/// Whitened by the curvature, a turned chain is z' = (I − k/2 (I + tJ)) z + noise with z of covariance I and k = 4|S|/(N+|S|) over 1 + t²:
/// autocovariances of both coordinates are Re λ^l with λ = 1 − k/2 (1 + it), whose integrated time is that of t = 0, N/|S|.
#[test]
fn a_turned_chain_keeps_the_covariance() {
    let (n, batch, draws) = (1000_usize, 50_usize, 200_000_usize);
    // A prior as strong as the data, so that noise differs between directions. In three dimensions one has no partner.
    for (dim, turn) in [(2, 1.0), (3, 2.0)] {
        let model = Arc::new(GaussianRows::balanced(n, dim, 47).with_prior_precision(2000.0));
        let (mean, variance) = (model.posterior_mean(), model.posterior_variance());
        let given = [
            ("batch", Value::Int(batch as i64)),
            ("rotation", Value::Real(turn)),
        ];
        let mut chain = chain(&model, &given, &mean, 16);
        let columns = chain.draws(5000, draws, 1);
        let k = 4.0 * batch as f64 / (n + batch) as f64 / (1.0 + turn * turn);
        assert!((chain.info[2] - k).abs() < 1e-12, "{}", chain.info[2]);
        let z = |t: usize, i: usize| (columns[i][t] - mean[i]) / variance[i].sqrt();
        // Means over long batches are independent.
        let batches = 50;
        let length = (draws - 1) / batches;
        let check = |what: &str, wanted: f64, value: &dyn Fn(usize) -> f64| {
            let means: Vec<f64> = (0..batches)
                .map(|b| (b * length..(b + 1) * length).map(value).sum::<f64>() / length as f64)
                .collect();
            let moments = Moments::of(&means);
            let error = (moments.variance / (batches - 1) as f64).sqrt();
            assert!(
                (moments.mean - wanted).abs() < 4.0 * error && error < 0.05,
                "dimension {dim}, {what}: {} ± {error}, expected {wanted}",
                moments.mean
            );
        };
        for i in 0..dim {
            check(&format!("mean {i}"), 0.0, &|t| z(t, i));
            for j in 0..=i {
                let wanted = f64::from(u8::from(i == j));
                check(&format!("covariance {i}, {j}"), wanted, &|t| {
                    z(t, i) * z(t, j)
                });
            }
            if dim == 2 {
                check(&format!("lag one {i}"), 1.0 - 0.5 * k, &|t| {
                    z(t, i) * z(t + 1, i)
                });
            }
        }
        if dim == 2 {
            // What the first coordinate does to the second, the second does to the first with the other sign, t k/2 in size.
            let turned = |t: usize| z(t, 0) * z(t + 1, 1) - z(t, 1) * z(t + 1, 0);
            let way = (0..draws - 1).map(turned).sum::<f64>().signum();
            check("turn", turn * k, &|t| way * turned(t));
        }
    }
}
