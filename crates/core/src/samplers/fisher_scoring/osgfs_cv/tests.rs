//! Against closed forms, the noise measured at the mode against the noise of a chain, burn-in, refusals.

use crate::samplers::configure;
use std::sync::Arc;

use super::*;
use crate::estimators::find_mode;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::testing::{Density, Run, assert_moments, correlated, estimate, exact_oracle};
use crate::samplers::{Phase, Unsuitable, find};
use crate::testing::GaussianRows;
use ergodic_base::Control;
use ergodic_base::settings::{Settings, Value};

fn start_chain(
    model: &Arc<GaussianRows>,
    pairs: &[(&str, Value)],
    start: &[f64],
    seed: u64,
) -> Chain<OsgfsCv> {
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    Chain::start(model.clone(), Some(centre), &settings(pairs), start, seed)
}

/// A Gaussian has no noise in centred gradients: exact covariance and correlation 1 − k_max/2, for one row per step.
#[test]
fn a_gaussian_posterior_is_sampled_exactly() {
    let model = Arc::new(GaussianRows::simulated(500, 3, 51));
    for k_max in [0.4, 1.0, 2.0] {
        let given = [("k_max", Value::Real(k_max)), ("batch", Value::Int(1))];
        let mut chain = start_chain(&model, &given, &model.posterior_mean(), 21);
        let draws = chain.draws(100, 60_000, 1);
        for j in 0..3 {
            let what = format!("k_max {k_max}, coordinate {j}");
            Moments::of(&draws[j]).assert_autoregressive(
                model.posterior_mean()[j],
                model.posterior_variance()[j],
                1.0 - 0.5 * k_max,
                &what,
            );
        }
        assert!((chain.info[2] - k_max).abs() < 1e-12);
        assert!(chain.info[3].abs() < 1e-9);
    }
}

#[test]
fn burn_in_ends_by_itself_when_the_chain_has_arrived() {
    let model = Arc::new(GaussianRows::simulated(2000, 2, 52));
    let sds: Vec<f64> = model
        .posterior_variance()
        .iter()
        .map(|v| v.sqrt())
        .collect();
    for seed in 0..20 {
        let start: Vec<f64> = (0..2)
            .map(|j| model.posterior_mean()[j] - 40.0 * sds[j])
            .collect();
        let mut chain = start_chain(&model, &[("k_max", Value::Real(0.2))], &start, seed);
        let mut steps = 0;
        while !OsgfsCv::ready(&chain.state) {
            chain.step(Phase::Warmup { length: None });
            steps += 1;
            assert!(steps < 2000, "seed {seed}: never ready");
        }
        assert!(steps > 15, "seed {seed}: ready after {steps} steps");
        for j in 0..2 {
            let away = (OsgfsCv::position(&chain.state)[j] - model.posterior_mean()[j]) / sds[j];
            assert!(
                away.abs() < 4.5,
                "seed {seed}: ready {away} standard deviations away"
            );
        }
    }
}

#[test]
fn without_a_mode_it_is_refused_with_an_alternative() {
    let target = Target {
        num_obs: 100,
        dim: 2,
        ..Target::default()
    };
    let message = configure::<OsgfsCv>(&Settings::default(), &target)
        .unwrap_err()
        .to_string();
    assert!(message.contains("needs the posterior mode"), "{message}");
}

#[test]
fn unwhitening_undoes_whitening() {
    let h = [4.0, 2.0, 2.0, 3.0];
    let factor = Cholesky::of(&h, 2).unwrap();
    let mut a = [2.0, -0.5, -0.5, 1.0];
    let original = a;
    ergodic_base::linalg::whiten(&factor, &mut a);
    for (x, y) in unwhiten(&factor, &a, 3.0).iter().zip(original) {
        assert!((x - 3.0 * y).abs() < 1e-12);
    }
}

/// A normal density without rows, whose curvature comes from differences of its gradient: exact covariance and correlation 1 − k_max/2.
#[test]
fn a_normal_density_without_rows_is_sampled_exactly() {
    let covariance = [2.0, 1.0, -0.3, 1.0, 3.0, 0.5, -0.3, 0.5, 0.4];
    let model = correlated(&covariance, 3);
    let centre = Arc::new(
        find_mode(model.as_ref(), &Control::default())
            .unwrap()
            .centre,
    );
    for k_max in [0.4, 1.0, 2.0] {
        let mut chain = Chain::<OsgfsCv>::start(
            Arc::clone(&model),
            Some(Arc::clone(&centre)),
            &settings(&[("k_max", Value::Real(k_max))]),
            &[0.0; 3],
            31,
        );
        let draws = chain.draws(100, 60_000, 1);
        for i in 0..3 {
            let what = format!("k_max {k_max}, coordinate {i}");
            let phi = 1.0 - 0.5 * k_max;
            Moments::of(&draws[i]).assert_autoregressive(0.0, covariance[4 * i], phi, &what);
            for j in 0..i {
                let products = draws[i].iter().zip(&draws[j]).map(|(x, y)| x * y).collect();
                let (found, mcse) = estimate(&[products]);
                let expected = covariance[3 * i + j];
                let what = format!("{what} and {j}: {found} ± {mcse} against {expected}");
                assert!(
                    (found - expected).abs() < 4.0 * mcse && mcse < 0.1,
                    "{what}"
                );
            }
        }
        assert_eq!((chain.info[2], chain.info[3]), (k_max, 0.0));
        // One evaluation per step.
        assert_eq!(chain.oracle.datum_grads, 60_100);
    }
}

/// The logarithm of a gamma variable of shape 20 and rate 20: log π(u) = 20 u − 20 e^u, mode 0, H = 20, mean ψ(20) − log 20 and variance
/// ψ'(20). The transition u' ~ N(u + (k/2)(1 − e^u), (k − ¼k²)/20), iterated on a grid by an independent program, has the stationary
/// moments below; and as it moves by the gradient, E e^u = 1 at every k, as under the density.
#[test]
fn a_skewed_density_without_rows_is_sampled_nearly_and_the_better_the_smaller_k() {
    const SHAPE: f64 = 20.0;
    let model = Density::model(1, |u, grad| {
        grad[0] = SHAPE - SHAPE * u[0].exp();
        SHAPE * (u[0] - u[0].exp())
    });
    let centre = Arc::new(
        find_mode(model.as_ref(), &Control::default())
            .unwrap()
            .centre,
    );
    assert!(centre.u[0].abs() < 1e-6 && (centre.hessian[0] - SHAPE).abs() < 1e-4);
    let chains = |k_max: f64, draws: usize| -> Vec<Vec<f64>> {
        let chain = |seed| {
            let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
            Run::new("osgfs-cv")
                .set("k_max", Value::Real(k_max))
                .set("steps_per_draw", Value::Int((2.0 / k_max) as i64))
                .seed(seed)
                .go(oracle, 500, draws)
                .coordinate(0)
        };
        (1..=4).map(chain).collect()
    };
    // At k = 1 the variance is between those of the density and of its normal approximation, 1/20.
    let draws = chains(1.0, 60_000);
    assert_moments("k = 1", &draws, -0.025_212_5, 0.050_787_8);
    let powers: Vec<Vec<f64>> = (draws.iter())
        .map(|chain| chain.iter().map(|u| u.exp()).collect())
        .collect();
    let (found, mcse) = estimate(&powers);
    assert!(
        (found - 1.0).abs() < 4.0 * mcse && mcse < 2e-3,
        "{found} ± {mcse}"
    );
    // At k = 0.1 it is 0.05120739, which cannot be told from that of the density.
    let (mean, variance) = (-0.025_208_28, 0.051_270_82);
    assert_moments("k = 0.1", &chains(0.1, 20_000), mean, variance);
}

#[test]
fn densities_without_rows_are_refused_by_those_that_need_rows_only() {
    let model = correlated(&[1.0, 0.2, 0.2, 1.0], 2);
    let refusal = |id: &str| (find(id).unwrap().suits)(model.as_ref()).err();
    assert_eq!(refusal(OsgfsCv::SPEC.id), None);
    for id in ["osgfs", "sgfs", "sgld", "sgld-cv", "gibbs-stochastic"] {
        assert_eq!(refusal(id).unwrap().reason, Unsuitable::NoRows, "{id}");
    }
    let target = Target::new(&model, None);
    let message = configure::<OsgfsCv>(&Settings::default(), &target)
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("use `nuts`"), "{message}");
}

/// Where a density ends, an approximate chain ends with the reason, whatever the gradient there.
#[test]
fn a_step_out_of_the_density_is_an_error() {
    let model = Density::model(1, |u, grad| {
        grad[0] = -u[0];
        if u[0] > 0.5 {
            f64::NEG_INFINITY
        } else {
            -0.5 * u[0] * u[0]
        }
    });
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0]).unwrap());
    let mut session = Run::new("osgfs-cv").start(exact_oracle(model, Some(centre)));
    let ended = (0..100).any(|_| session.draw().is_err());
    assert!(ended, "it went on");
}
