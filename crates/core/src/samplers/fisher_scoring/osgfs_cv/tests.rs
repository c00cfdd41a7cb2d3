//! Against closed forms, the noise measured at the mode against the noise of a chain, burn-in, refusals.

use crate::samplers::configure;
use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::Phase;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::testing::GaussianRows;
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
