//! Against the stationary distributions of discretised dynamics on Gaussians, which are known in closed form.

use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::langevin::saga::SagaLd;
use crate::samplers::langevin::sgld::Sgld;
use crate::samplers::langevin::svrg::SvrgLd;
use crate::samplers::momentum::sghmc::Sghmc;
use crate::samplers::momentum::sgnht::Sgnht;
use crate::samplers::momentum::{Dynamics, Integrator, stationary};
use crate::samplers::testing::assert_moments;
use crate::samplers::{Sampler, Target, configure};
use crate::testing::GaussianRows;
use ergodic_base::settings::Value;

const NUM_OBS: usize = 1000;

/// Blocks `a`, of one coordinate, and `b`, whose curvatures are four and nine times as large.
fn model() -> Arc<GaussianRows> {
    let model = GaussianRows::simulated(NUM_OBS, 3, 71).with_prior_precision(400.0);
    Arc::new(model.with_names(&["a", "b[1]", "b[2]"]))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Per coordinate θ' = θ + c h (−H θ + e) + sqrt(2 c h) ξ with Var e = v, an autoregression with φ = 1 − c h H.
fn assert_langevin(draws: &[f64], model: &GaussianRows, j: usize, m: f64, v: f64, what: &str) {
    let phi = 1.0 - m / model.posterior_variance()[j];
    let variance = (2.0 * m + m * m * v) / (1.0 - phi * phi);
    let what = format!("{what}, coordinate {j}");
    Moments::of(draws).assert_autoregressive(model.posterior_mean()[j], variance, phi, &what);
}

fn noise(model: &GaussianRows, batch: f64, j: usize) -> f64 {
    (NUM_OBS * NUM_OBS) as f64 / batch * model.score_variance()[j]
}

#[test]
fn written_steps_are_those_of_their_coordinates() {
    let (model, h, batch) = (model(), 2e-4, 100);
    let given = settings(&[
        ("step_size", Value::Real(h)),
        ("batch", Value::Int(batch)),
        ("block_steps", text("a: 2; b[2]: 0.3")),
    ]);
    let start = model.posterior_mean();
    let centre = Arc::new(Centre::at(model.as_ref(), &start).unwrap());
    // With and without a mode: the user's steps are those in force.
    for centre in [None, Some(centre)] {
        let mut chain = Chain::<Sgld>::start(model.clone(), centre, &given, &start, 8);
        let draws = chain.draws(500, 150_000, 1);
        for (j, factor) in [2.0, 1.0, 0.3].into_iter().enumerate() {
            let v = noise(&model, batch as f64, j);
            assert_langevin(&draws[j], &model, j, factor * h, v, "sgld");
        }
        assert_eq!(chain.info[0], h);
    }
}

/// Gradients centred at earlier positions have no noise on a Gaussian of unit weights: variances are those of exact gradients.
#[test]
fn centred_gradients_take_steps_of_blocks_too() {
    fn check<S: Sampler>(seed: u64) {
        let (model, h) = (model(), 4e-4);
        let given = settings(&[
            ("step_size", Value::Real(h)),
            ("batch", Value::Int(NUM_OBS as i64)),
            ("block_steps", text("a: 1.5; b[*]: 0.2")),
        ]);
        let start = model.posterior_mean();
        let mut chain = Chain::<S>::start(model.clone(), None, &given, &start, seed);
        let draws = chain.draws(200, 20_000, 1);
        for (j, factor) in [1.5, 0.2, 0.2].into_iter().enumerate() {
            assert_langevin(&draws[j], &model, j, factor * h, 0.0, S::SPEC.id);
        }
    }
    check::<SagaLd>(9);
    check::<SvrgLd>(10);
}

/// S is the mean of |ĝ_b|²/d_b over the warm-up, near its expectation, and steps stand still afterwards.
#[test]
fn steps_by_gradients_are_fixed_after_warm_up() {
    let (model, h, batch) = (model(), 0.05, 50);
    let given = settings(&[
        ("step_size", Value::Real(h)),
        ("batch", Value::Int(batch)),
        ("block_steps", text("gradient")),
    ]);
    let start = model.posterior_mean();
    let mut chain = Chain::<Sgld>::start(model.clone(), None, &given, &start, 11);
    chain.draws(2000, 1, 1);
    let factors = |chain: &Chain<Sgld>| chain.state.core.scales().unwrap().factors.clone();
    let settled = factors(&chain);
    assert_eq!(settled[1], settled[2]);
    // E ĝ² = H² Var θ + Var e, with Var θ itself that of the chain; the mean over a block, its root the factor.
    let mean_square = |j: usize, m: f64| {
        let (curvature, v) = (
            1.0 / model.posterior_variance()[j],
            noise(&model, batch as f64, j),
        );
        let phi = 1.0 - m * curvature;
        curvature * curvature * (2.0 * m + m * m * v) / (1.0 - phi * phi) + v
    };
    let expected = [
        mean_square(0, settled[0] * h),
        0.5 * (mean_square(1, settled[1] * h) + mean_square(2, settled[1] * h)),
    ];
    for (factor, expected) in settled.iter().zip(expected) {
        // The relative error of a mean of 2,000 squares is at most √(2/2000) times the root of the correlation time of
        // squares, which gradient noise, half of all, keeps below 4.
        let ratio = factor.powi(-2) / expected;
        assert!((ratio - 1.0).abs() < 4.0 * 0.032 * 2.0, "{ratio}");
    }
    let draws = chain.draws(0, 150_000, 1);
    assert_eq!(factors(&chain), settled);
    for (j, column) in draws.iter().enumerate() {
        let v = noise(&model, batch as f64, j);
        assert_langevin(column, &model, j, settled[j] * h, v, "gradient");
    }
}

/// In units in which the curvature is 1 and its time, coordinate j with the step c_j ε has the step w ε, the friction γ/w, and the
/// noise c_j² Var e/w², w² = c_j² H_j: a diagonal mass matrix, whose stationary variance is known.
#[test]
fn steps_in_time_are_a_diagonal_mass_matrix() {
    let (model, step, friction, batch) = (model(), 0.01, 20.0, 100);
    let start = model.posterior_mean();
    let given = settings(&[
        ("step_size", Value::Real(step)),
        ("friction", Value::Real(friction)),
        ("batch", Value::Int(batch)),
        ("integrator", text("euler")),
        ("friction_correction", text("off")),
        ("block_steps", text("a: 2; b[2]: 0.5")),
    ]);
    let chains: Vec<Vec<Vec<f64>>> = (0..4)
        .map(|seed| {
            Chain::<Sghmc>::start(model.clone(), None, &given, &start, seed).draws(500, 40_000, 1)
        })
        .collect();
    for (j, factor) in [2.0, 1.0, 0.5].into_iter().enumerate() {
        let posterior = model.posterior_variance()[j];
        let w = factor / posterior.sqrt();
        let dynamics = Dynamics {
            integrator: Integrator::Euler,
            step: w * step,
            thermostat: None,
            temperature: 1.0,
        };
        let v = noise(&model, batch as f64, j) * posterior;
        let [zz, ..] = stationary(&dynamics, friction / w, friction / w, v);
        assert!(zz > 1.05, "{zz}");
        let own: Vec<Vec<f64>> = chains.iter().map(|chain| chain[j].clone()).collect();
        let what = format!("sghmc, coordinate {j}");
        assert_moments(&what, &own, model.posterior_mean()[j], zz * posterior);
    }
}

/// A thermostat for each coordinate takes the noise of minibatches away, whatever the steps.
#[test]
fn thermostats_take_steps_of_blocks() {
    let model = model();
    let start = model.posterior_mean();
    let given = settings(&[
        ("step_size", Value::Real(0.01)),
        ("diffusion", Value::Real(20.0)),
        ("batch", Value::Int(NUM_OBS as i64)),
        ("block_steps", text("a: 2; b[2]: 0.5")),
    ]);
    let chains: Vec<Vec<Vec<f64>>> = (0..4)
        .map(|seed| {
            Chain::<Sgnht>::start(model.clone(), None, &given, &start, seed).draws(2000, 40_000, 1)
        })
        .collect();
    for j in 0..3 {
        let own: Vec<Vec<f64>> = chains.iter().map(|chain| chain[j].clone()).collect();
        let (mean, variance) = (model.posterior_mean()[j], model.posterior_variance()[j]);
        assert_moments(&format!("sgnht, coordinate {j}"), &own, mean, variance);
    }
}

#[test]
fn what_is_wrong_with_steps_of_blocks_is_said() {
    let model = model();
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let shared: Arc<dyn Model> = model;
    let target = Target::new(&shared, Some(&centre));
    let error = |pairs: &[(&str, Value)]| {
        let config = configure::<Sgld>(&settings(pairs), &target);
        config
            .and_then(|config| Sgld::check(&config, &parts(shared.as_ref())))
            .unwrap_err()
            .to_string()
    };
    let step = ("step_size", Value::Real(1e-4));
    for (pairs, words) in [
        (
            vec![("block_steps", text("gradient"))],
            "needs a `step_size` of yours",
        ),
        (
            vec![
                ("block_steps", text("gradient")),
                ("precondition", text("curvature")),
                step.clone(),
            ],
            "`precondition` = curvature does; choose one of both",
        ),
        (
            vec![("block_steps", text("gradiant")), step.clone()],
            "equal | gradient | a text such as b[*]: 0.1; sigma: 2",
        ),
        (
            vec![("block_steps", text("a: hmc")), step.clone()],
            "a factor from 1e-12 to 1e12, not `a: hmc`",
        ),
        (
            vec![("block_steps", text("c: 2")), step],
            "Setting `block_steps` names `c`, which the model does not have; it has `a`, `b[1]`, `b[2]`",
        ),
    ] {
        let error = error(&pairs);
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
    let error =
        configure::<Sghmc>(&settings(&[("block_steps", text("gradient"))]), &target).unwrap_err();
    assert!(error.to_string().contains("block_steps"), "{error}");
}
