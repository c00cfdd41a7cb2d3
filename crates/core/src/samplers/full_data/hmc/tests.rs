use crate::samplers::{configure, configured};
use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Moments, settings};
use crate::samplers::testing::{
    Density, Run, correlated, exact_oracle, gaussian_with_centre, mean,
};
use ergodic_base::settings::{Settings, Value};

const STEP_SIZE_AT: usize = 1;
const LEAPFROG_AT: usize = 2;
const DIVERGENT_AT: usize = 3;
const ENERGY_AT: usize = 4;
const LOG_DENSITY_AT: usize = 5;

#[test]
fn steps_divide_a_trajectory() {
    assert_eq!(divide(1.5, 0.5), (3, 0.5));
    let (steps, size) = divide(1.5, 0.4);
    assert_eq!(steps, 4);
    assert!((size - 0.375).abs() < 1e-15);
    assert_eq!(divide(1.5, 7.0), (1, 1.5));
    // A trajectory without end is cut, not its steps stretched.
    assert_eq!(divide(1.5, 1e-6), (1023, 1e-6));
}

#[test]
fn draws_of_a_normal_posterior_are_nearly_independent_after_few_steps() {
    for dim in [1, 3, 10, 30] {
        let (model, centre) = gaussian_with_centre(40, dim, 3);
        let chain = Run::new("hmc").go(exact_oracle(model, Some(centre)), 1000, 2000);
        let accept = mean(&chain.info(0));
        assert!((0.75..0.97).contains(&accept), "{dim}: {accept}");
        let steps = mean(&chain.info(LEAPFROG_AT));
        assert!((1.0..5.0).contains(&steps), "{dim}: {steps}");
        assert_eq!(mean(&chain.info(DIVERGENT_AT)), 0.0);
        for j in 0..dim {
            let correlation = Moments::of(&chain.coordinate(j)).correlation;
            assert!(correlation.abs() < 0.35, "{dim} {j}: {correlation}");
        }
    }
}

#[test]
fn the_acceptance_reaches_its_goal_in_warmup() {
    let (model, centre) = gaussian_with_centre(40, 10, 3);
    for goal in [0.7, 0.8, 0.95] {
        let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        let run = Run::new("hmc")
            .set("target_accept", Value::Real(goal))
            .set("length", Value::Real(4.0));
        let accept = mean(&run.go(oracle, 1000, 10).warmup_info(0)[500..949]);
        assert!((accept - goal).abs() < 0.03, "{accept} {goal}");
    }
}

#[test]
fn jitter_breaks_the_step_of_a_period() {
    // A trajectory of a whole period 2π of N(0, 1) ends where it began.
    let model = correlated(&[1.0], 1);
    let run = |jitter: f64| {
        let chain = Run::new("hmc")
            .set("length", Value::Real(2.0 * std::f64::consts::PI))
            .set("jitter", Value::Real(jitter))
            .set("step_size", Value::Real(0.05));
        let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0]).unwrap());
        let chain = chain.go(exact_oracle(Arc::clone(&model), Some(centre)), 0, 3000);
        Moments::of(&chain.coordinate(0)).correlation
    };
    let (fixed, jittered) = (run(0.0), run(0.2));
    assert!(fixed > 0.99, "{fixed}");
    // E cos(2π(1 + 0.2 V)) = sin(0.4π)/(0.4π).
    let expected = 0.756_83;
    assert!((jittered - expected).abs() < 0.05, "{jittered}");
}

#[test]
fn a_trajectory_is_as_long_as_asked_whatever_the_step() {
    // On N(0, 1) the correlation of neighbours is cos(length) but for the error of the steps.
    let model = correlated(&[1.0], 1);
    for step_size in [0.01, 0.11, 0.19] {
        let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0]).unwrap());
        let run = Run::new("hmc")
            .set("length", Value::Real(1.0))
            .set("jitter", Value::Real(0.0))
            .set("step_size", Value::Real(step_size));
        let chain = run.go(exact_oracle(Arc::clone(&model), Some(centre)), 0, 4000);
        let steps = (1.0 / step_size).ceil();
        assert!(chain.info(LEAPFROG_AT).iter().all(|&k| k == steps));
        let expected = 1.0_f64.cos();
        Moments::of(&chain.coordinate(0)).assert_autoregressive(0.0, 1.0, expected, "cos");
    }
}

#[test]
fn before_the_metric_is_known_a_trajectory_takes_about_ten_steps() {
    let model = Density::model(2, |u, grad| {
        grad[0] = -u[0] * 400.0;
        grad[1] = -u[1] / 400.0;
        0.5 * (u[0] * grad[0] + u[1] * grad[1])
    });
    let chain = Run::new("hmc").go(exact_oracle(model, None), 1000, 100);
    let blind = &chain.warmup_info(LEAPFROG_AT)[..100];
    assert!(
        blind.iter().all(|&k| (8.0..=12.0).contains(&k)),
        "{blind:?}"
    );
    // Afterwards sds of 0.05 and 20 are both 1 in the metric.
    assert!(mean(&chain.info(LEAPFROG_AT)) < 6.0);
    assert!(chain.info(STEP_SIZE_AT)[0] > 0.3);
}

#[test]
fn divergences_are_reported_and_energies_consistent() {
    let model = Density::model(1, |u, grad| {
        let over = (u[0].abs() - 1.0).max(0.0);
        grad[0] = -2e6 * over * u[0].signum();
        -1e6 * over * over
    });
    let run = Run::new("hmc").set("step_size", Value::Real(0.5));
    let chain = run.go(exact_oracle(model, None), 0, 500);
    assert!(mean(&chain.info(DIVERGENT_AT)) > 0.3);
    assert!(chain.draws.iter().all(|u| u.abs() < 1.1));

    let (model, centre) = gaussian_with_centre(30, 3, 4);
    let mut oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let chain = Run::new("hmc").go(exact_oracle(model, Some(centre)), 200, 1000);
    let (energy, log_density) = (chain.info(ENERGY_AT), chain.info(LOG_DENSITY_AT));
    let mut grad = [0.0; 3];
    let mut kinetic = Vec::new();
    for (k, u) in chain.draws.chunks_exact(3).enumerate() {
        let exact = oracle.exact(u, &mut grad).unwrap();
        assert!((exact - log_density[k]).abs() < 1e-9 * exact.abs());
        kinetic.push(energy[k] + log_density[k]);
    }
    assert!(kinetic.iter().all(|&k| k > 0.0));
    // Half a chi-square with 3 degrees of freedom, or a little more, since what is rejected had little.
    assert!((mean(&kinetic) - 1.5).abs() < 0.25, "{}", mean(&kinetic));
}

#[test]
fn curvature_without_a_mode_is_refused_by_name() {
    let (model, _centre) = gaussian_with_centre(10, 2, 1);
    let target = Target::new(&model, None);
    let given = settings(&[("start_metric", Value::Text("curvature".to_owned()))]);
    assert!(
        configure::<Hmc>(&given, &target)
            .unwrap_err()
            .to_string()
            .contains("start_metric")
    );
    let (_config, values) = configured::<Hmc>(&Settings::default(), &target).unwrap();
    assert!(values.contains(&("start_metric", Value::Text("identity".to_owned()))));
}
