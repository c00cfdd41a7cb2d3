use crate::samplers::{Phase, configure};
use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::testing::{
    Run, exact_oracle, gaussian_with_centre, logistic_with_centre, mean, sd,
};
use ergodic_base::linalg::{axpy, matvec, quadratic_form};
use ergodic_base::settings::{Settings, Value};

#[test]
fn ula_is_the_autoregression_of_the_closed_form() {
    // Without gradient noise, in whitened units: coefficient 1 − h, variance 1/(1 − h/2).
    let (model, centre) = gaussian_with_centre(60, 3, 2);
    for h in [0.3, 0.8, 1.4] {
        for word in ["curvature", "none"] {
            let scale = if word == "none" {
                centre.curvature_range.1
            } else {
                1.0
            };
            let given = [
                ("step_size", Value::Real(h / scale)),
                ("precondition", Value::Text(word.to_owned())),
                ("steps_per_draw", Value::Int(1)),
            ];
            let mut chain = Chain::<Ula>::start(
                Arc::clone(&model),
                Some(Arc::clone(&centre)),
                &settings(&given),
                &centre.u,
                5,
            );
            let draws = chain.draws(400, 20_000, 1);
            for j in 0..3 {
                let curvature = centre.hessian[4 * j];
                // The posterior of the test model is independent over coordinates.
                let rate = if word == "none" { curvature } else { 1.0 } * h / scale;
                let variance = 1.0 / (curvature * (1.0 - 0.5 * rate));
                let moments = Moments::of(&draws[j]);
                moments.assert_autoregressive(centre.u[j], variance, 1.0 - rate, word);
            }
        }
    }
}

#[test]
fn the_default_step_of_ula_makes_sds_two_per_cent_too_large() {
    let (model, centre) = gaussian_with_centre(60, 3, 2);
    let target = Target::new(&model, Some(&centre));
    let config = configure::<Ula>(&Settings::default(), &target).unwrap();
    let h = config.step_size.unwrap();
    assert!((1.0 / (1.0 - 0.5 * h) - 1.04).abs() < 1e-12);
    assert!(((1.04_f64).sqrt() - 1.0 - 0.02).abs() < 5e-4);
    assert_eq!(Ula::steps_per_draw(&config), 13);
}

#[test]
fn ula_says_what_it_needs() {
    let (model, centre) = gaussian_with_centre(60, 3, 2);
    let blind = Target::new(&model, None);
    let error = configure::<Ula>(&Settings::default(), &blind).unwrap_err();
    assert!(error.to_string().contains("`ula`") && error.to_string().contains("steps_per_draw"));
    let given = [
        ("step_size", Value::Real(1e-3)),
        ("precondition", Value::Text("none".to_owned())),
        ("steps_per_draw", Value::Int(7)),
    ];
    assert_eq!(
        configure::<Ula>(&settings(&given), &blind)
            .unwrap()
            .plan
            .steps_per_draw,
        7
    );
    let target = Target::new(&model, Some(&centre));
    let long = settings(&[("step_size", Value::Real(2.5))]);
    let error = configure::<Ula>(&long, &target).unwrap_err();
    assert!(error.to_string().contains("step_size"));
    let curved = settings(&[("precondition", Value::Text("curvature".to_owned()))]);
    let error = configure::<Mala>(&curved, &blind).unwrap_err();
    assert!(error.to_string().contains("precondition"));
}

/// log q(to | from) of the proposal, up to a constant: mean from + h M ∇log π(from), covariance 2h M.
fn log_proposal(
    centre: &Centre,
    h: f64,
    from: &[f64],
    to: &[f64],
    oracle: &mut Oracle,
) -> (f64, f64) {
    let (mut grad, mut drift) = ([0.0; 2], [0.0; 2]);
    let log_density = oracle.exact(from, &mut grad).unwrap();
    matvec(&centre.covariance, &grad, &mut drift);
    let mut off = [to[0] - from[0], to[1] - from[1]];
    axpy(-h, &drift, &mut off);
    let log_q = -quadratic_form(&centre.hessian, &off) / (4.0 * h);
    (log_density, log_q)
}

#[test]
fn the_acceptance_probability_is_the_ratio_of_metropolis_and_hastings() {
    let (model, centre) = logistic_with_centre();
    let h = 0.6;
    let given = [
        ("step_size", Value::Real(h)),
        ("steps_per_draw", Value::Int(1)),
    ];
    let mut chain = Chain::<Mala>::start(
        Arc::clone(&model),
        Some(Arc::clone(&centre)),
        &settings(&given),
        &centre.u,
        6,
    );
    let mut oracle = exact_oracle(model, Some(Arc::clone(&centre)));
    let (mut moved, mut below_one) = (0, 0);
    for _ in 0..300 {
        let from = Mala::position(&chain.state).to_vec();
        let to = chain.step(Phase::Draw).to_vec();
        if from == to {
            continue;
        }
        moved += 1;
        let (here, there_from_here) = log_proposal(&centre, h, &from, &to, &mut oracle);
        let (there, here_from_there) = log_proposal(&centre, h, &to, &from, &mut oracle);
        let ratio = (there + here_from_there - here - there_from_here).exp();
        below_one += u32::from(ratio < 0.99);
        let found = chain.info[0];
        assert!((found - ratio.min(1.0)).abs() < 1e-8, "{found} {ratio}");
        assert_eq!(chain.info[1], h);
    }
    assert!(moved > 150 && below_one > 50, "{moved} {below_one}");
}

#[test]
fn the_step_is_adapted_to_the_acceptance() {
    for dim in [1, 3, 10, 30] {
        let (model, centre) = gaussian_with_centre(40, dim, 3);
        let oracle = |known: bool| {
            exact_oracle(
                Arc::clone(&model),
                Some(Arc::clone(&centre)).filter(|_| known),
            )
        };
        for known in [true, false] {
            let chain = Run::new("mala").go(oracle(known), 1000, 2000);
            let accept = mean(&chain.info(0));
            // Where the metric is learnt, 50 steps remain for the step size after the last window, and the average of log h
            // is then on the short side, as with NUTS.
            let most = if known { 0.06 } else { 0.25 };
            assert!(
                accept > BEST_ACCEPT - 0.06 && accept < BEST_ACCEPT + most,
                "{dim} {known}: {accept}"
            );
            let late = mean(&chain.warmup_info(0)[600..949]);
            assert!((late - BEST_ACCEPT).abs() < 0.03, "{dim} {known}: {late}");
            // ⌈D^{1/3}⌉ steps are worth at least a quarter of an independent draw.
            for j in 0..dim {
                let effective = (sd(&chain.coordinate(j)) / chain.mcse(j)).powi(2);
                assert!(effective > 0.25 * 2000.0, "{dim} {known} {j}: {effective}");
            }
        }
    }
}

#[test]
fn a_dense_preconditioner_is_learnt_without_a_mode() {
    // Correlation 0.98: with variances only, steps must be as short as the narrow direction.
    let model = crate::samplers::testing::correlated(&[1.0, 0.98, 0.98, 1.0], 2);
    let step = |word: &str| {
        let run = Run::new("mala").set("precondition", Value::Text(word.to_owned()));
        let chain = run.go(exact_oracle(Arc::clone(&model), None), 1000, 100);
        chain.info(1)[0]
    };
    let (dense, diagonal) = (step("dense"), step("diagonal"));
    assert!(dense > 8.0 * diagonal, "{dense} {diagonal}");
}
