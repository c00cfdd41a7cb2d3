use crate::samplers::configure;
use std::sync::Arc;

use super::*;
use crate::samplers::autoregressive::settings;
use crate::samplers::testing::{
    Density, Run, assert_moments, correlated, exact_oracle, gaussian_with_centre, mean,
};
use ergodic_base::settings::Value;

#[test]
fn about_five_evaluations_per_direction_whatever_the_scale() {
    for scale in [1e-4, 1.0, 1e4] {
        let model = correlated(&[scale * scale], 1);
        let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0]).unwrap());
        for centre in [None, Some(centre)] {
            let chain = Run::new("slice").go(exact_oracle(Arc::clone(&model), centre), 200, 2000);
            let evaluations = mean(&chain.info(0));
            assert!((4.0..5.6).contains(&evaluations), "{scale}: {evaluations}");
        }
    }
}

#[test]
fn any_width_is_exact() {
    let model = correlated(&[1.0, 0.5, 0.5, 1.0], 2);
    for width in [0.1, 1.0, 30.0] {
        let chains: Vec<Vec<f64>> = (1..=4)
            .map(|seed| {
                let run = Run::new("slice")
                    .set("width", Value::Real(width))
                    .seed(seed);
                run.go(exact_oracle(Arc::clone(&model), None), 100, 5000)
                    .coordinate(1)
            })
            .collect();
        assert_moments(&format!("width {width}"), &chains, 0.0, 1.0);
    }
}

#[test]
fn a_region_without_density_is_never_entered() {
    // Exponential(1), undefined for negative u; its gradient is of no interest.
    let model = Density::model(1, |u, grad| {
        grad[0] = f64::NAN;
        if u[0] > 0.0 { -u[0] } else { f64::NAN }
    });
    let chains: Vec<Vec<f64>> = (0..)
        .filter_map(|seed| {
            let mut session = Run::new("slice")
                .seed(seed)
                .try_start(exact_oracle(Arc::clone(&model), None))
                .ok()?;
            let mut draws = Vec::new();
            for iter in 0..9000 {
                session.advance(1000).unwrap();
                if iter >= 1000 {
                    draws.push(session.kernel.position()[0]);
                }
            }
            Some(draws)
        })
        .take(4)
        .collect();
    assert!(chains.iter().flatten().all(|&u| u > 0.0));
    assert_moments("exponential", &chains, 1.0, 1.0);
}

#[test]
fn eigen_directions_are_conjugate_and_make_draws_nearly_independent() {
    let covariance = [1.0, 0.95, 0.0, 0.95, 1.0, 0.0, 0.0, 0.0, 4.0];
    let model = correlated(&covariance, 3);
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0; 3]).unwrap());
    let rows = directions(Some(Directions::Eigen), Some(&centre), 3).unwrap();
    for (i, a) in rows.chunks_exact(3).enumerate() {
        let mut image = [0.0; 3];
        ergodic_base::linalg::matvec(&centre.hessian, a, &mut image);
        for (j, b) in rows.chunks_exact(3).enumerate() {
            let product = ergodic_base::linalg::dot(&image, b);
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-6);
        }
    }
    let correlation = |word: &str| {
        let run = Run::new("slice").set("directions", Value::Text(word.to_owned()));
        let chain = run.go(
            exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))),
            200,
            3000,
        );
        crate::samplers::autoregressive::Moments::of(&chain.coordinate(0)).correlation
    };
    let (eigen, axes) = (correlation("eigen"), correlation("coordinates"));
    assert!(eigen < 0.25 && axes > 0.8, "{eigen} {axes}");
}

#[test]
fn eigen_directions_without_a_mode_are_refused_by_name() {
    let (model, _centre) = gaussian_with_centre(10, 2, 1);
    let target = Target::new(&model, None);
    let given = settings(&[("directions", Value::Text("eigen".to_owned()))]);
    assert!(
        configure::<Slice>(&given, &target)
            .unwrap_err()
            .to_string()
            .contains("directions")
    );
}
