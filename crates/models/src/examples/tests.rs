//! Against closed forms; what holds for every template is in `models/conformance.rs`.

use super::*;
use crate::conformance::example_design;
use crate::design::ResponseUse;
use crate::testing::pointwise;
use crate::{EXAMPLES, REGISTRY, find};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

const NUM_OBS: usize = 40;

fn build(id: &str, settings: &[(&str, Value)]) -> Arc<dyn Model> {
    let entry = find(id).unwrap();
    let mut chosen = Settings::default();
    for (key, value) in settings {
        chosen.set(key, value.clone());
    }
    let options = ModelOptions {
        settings: entry.resolve(&chosen).unwrap(),
        ..ModelOptions::default()
    };
    let response_use = entry.response_use(&options.settings);
    let design = example_design(response_use, false, NUM_OBS);
    (entry.build)(Arc::new(design), &options).unwrap()
}

fn data() -> Vec<f64> {
    example_design(ResponseUse::Number, false, NUM_OBS).y
}

fn log_posterior(model: &dyn Model, theta: &[f64]) -> f64 {
    let mut u = vec![0.0; model.dim()];
    let mut grad = u.clone();
    model.unconstrain(theta, &mut u);
    model.density().unwrap().log_density(&u, &mut grad)
}

#[test]
fn the_posterior_of_the_normal_mean_is_normal() {
    let model = build(
        "normal-mean",
        &[
            ("prior_mean", Value::Real(1.0)),
            ("variance", Value::Real(2.0)),
        ],
    );
    let x = data();
    let precision = 0.1 + NUM_OBS as f64 / 2.0;
    let mean = (0.1 + x.iter().sum::<f64>() / 2.0) / precision;
    let at = |theta: f64| log_posterior(model.as_ref(), &[theta]);
    for theta in [-2.0, 0.0, 3.5] {
        let expected = -0.5 * precision * ((theta - mean).powi(2) - mean * mean);
        assert!((at(theta) - at(0.0) - expected).abs() < 1e-9);
    }
}

/// The conditional distributions that are printed for Gibbs sampling.
#[test]
fn the_normal_gamma_posterior_has_its_conditionals() {
    let model = build("normal-gamma", &[("prior_mean", Value::Real(0.5))]);
    let (x, n) = (data(), NUM_OBS as f64);
    // Per unit of (μ, τ): the step to log τ adds log τ.
    let at = |mu: f64, tau: f64| log_posterior(model.as_ref(), &[mu, tau]) - tau.ln();
    let centre = (x.iter().sum::<f64>() + 0.5) / (n + 1.0);
    for (mu, tau) in [(0.0, 0.4), (1.0, 2.0)] {
        let expected = -0.5 * (n + 1.0) * tau * ((mu - centre).powi(2) - centre * centre);
        assert!((at(mu, tau) - at(0.0, tau) - expected).abs() < 1e-9);
        let squares: f64 = x.iter().map(|x| (x - mu).powi(2)).sum();
        let (shape, rate) = (
            5.0 + 0.5 * (n + 1.0),
            1.0 + 0.5 * (squares + (mu - 0.5).powi(2)),
        );
        let log_gamma = |tau: f64| (shape - 1.0) * tau.ln() - rate * tau;
        assert!((at(mu, tau) - at(mu, 1.0) - log_gamma(tau) + log_gamma(1.0)).abs() < 1e-9);
    }
}

/// The density of two correlated columns, written with the inverse of the 2 × 2 matrix.
#[test]
fn the_multivariate_t_is_that_of_its_matrix() {
    let (df, s, rho) = (3.0, 1.5, -0.4);
    let settings = [
        ("df", Value::Real(df)),
        ("scale", Value::Real(s)),
        ("correlation", Value::Real(rho)),
    ];
    let model = build("multivariate-t", &settings);
    let rows = rows_of(&example_design(ResponseUse::Absent, false, NUM_OBS), "")
        .unwrap()
        .1;
    let det = s.powi(4) * (1.0 - rho * rho);
    let log_p = |theta: [f64; 2]| -> f64 {
        rows.chunks_exact(2)
            .map(|x| {
                let (a, b) = (x[0] - theta[0], x[1] - theta[1]);
                let q = s * s * (a * a + b * b - 2.0 * rho * a * b) / det / df;
                // Γ((ν + 2)/2)/Γ(ν/2) = ν/2.
                (df / 2.0).ln()
                    - (df * std::f64::consts::PI).ln()
                    - 0.5 * det.ln()
                    - 0.5 * (df + 2.0) * q.ln_1p()
            })
            .sum()
    };
    for theta in [[0.0, 0.0], [1.0, -2.0]] {
        assert!((log_posterior(model.as_ref(), &theta) - log_p(theta)).abs() < 1e-9);
    }
}

#[test]
fn the_mixture_is_the_mean_of_two_normal_densities() {
    let settings = [
        ("parameters", Value::Text("shift".into())),
        ("variance", Value::Real(2.0)),
    ];
    let model = build("gaussian-mixture", &settings);
    let rows = rows_of(&example_design(ResponseUse::Absent, false, NUM_OBS), "")
        .unwrap()
        .1;
    let theta = [0.3, -0.2, 1.0, 0.5];
    let expected: f64 = rows
        .chunks_exact(2)
        .map(|x| {
            let normal = |m: [f64; 2]| {
                let squares = (x[0] - m[0]).powi(2) + (x[1] - m[1]).powi(2);
                (-0.25 * squares).exp() / (4.0 * std::f64::consts::PI)
            };
            (0.5 * normal([0.3, -0.2]) + 0.5 * normal([1.3, 0.3])).ln()
        })
        .sum();
    let values = pointwise(model.as_ref(), &theta);
    assert!((values.iter().sum::<f64>() - expected).abs() < 1e-9);
}

/// Prior curvature, prior densities and draws of every example say the same.
#[test]
fn priors_agree_with_their_draws() {
    const DRAWS: usize = 4000;
    let mut compared = 0;
    for entry in REGISTRY.iter().filter(|entry| entry.group == EXAMPLES) {
        let model = build(entry.spec.id, &[]);
        let dim = model.dim();
        let mut rng = stream(7, 0, Purpose::Data);
        let (mut u, mut theta) = (vec![0.0; dim], vec![0.0; dim]);
        if let Err(reason) = model.prior_draws().unwrap().draw_prior(&mut rng, &mut u) {
            assert_eq!(reason, NoPriorDraws::Flat, "{}", entry.spec.id);
            continue;
        }
        let mut draws = vec![Vec::new(); dim];
        for _ in 0..DRAWS {
            model
                .prior_draws()
                .unwrap()
                .draw_prior(&mut rng, &mut u)
                .unwrap();
            model.constrain(&u, &mut theta);
            draws
                .iter_mut()
                .zip(&theta)
                .for_each(|(draws, &theta)| draws.push(theta));
        }
        for (j, draws) in draws.iter_mut().enumerate() {
            draws.sort_unstable_by(f64::total_cmp);
            // The share of draws between two quantiles is the integral of the density between them.
            let (low, high) = (draws[DRAWS / 5], draws[DRAWS * 3 / 5]);
            let steps = 400;
            let width = (high - low) / f64::from(steps);
            let integral: f64 = (0..steps)
                .map(|k| low + width * (f64::from(k) + 0.5))
                .map(|at| model.prior_density(j, at).unwrap() * width)
                .sum();
            let sd = (0.4 * 0.6 / DRAWS as f64).sqrt();
            assert!(
                (integral - 0.4).abs() < 4.0 * sd,
                "{} {j}: {integral}",
                entry.spec.id
            );
            compared += 1;
        }
        let mut hessian = vec![0.0; dim * dim];
        model
            .rows()
            .unwrap()
            .add_neg_hessian_log_prior(&u, &mut hessian);
        let (mut above, mut below) = (vec![0.0; dim], vec![0.0; dim]);
        for j in 0..dim {
            let mut at = u.clone();
            at[j] = u[j] + 1e-5;
            model.rows().unwrap().log_prior(&at, &mut above);
            at[j] = u[j] - 1e-5;
            model.rows().unwrap().log_prior(&at, &mut below);
            for i in 0..dim {
                let numeric = -(above[i] - below[i]) / 2e-5;
                assert!((hessian[i * dim + j] - numeric).abs() < 1e-5 * (1.0 + numeric.abs()));
            }
        }
    }
    assert_eq!(compared, 1 + 2 + 2 + 4);
}

#[test]
fn refusals_name_the_template_and_what_to_do() {
    let refuse = |id: &str, design: Design, options: &ModelOptions| {
        let entry = find(id).unwrap();
        (entry.build)(Arc::new(design), options)
            .err()
            .unwrap()
            .to_string()
    };
    let plain = ModelOptions::default();
    let number = |weighted| example_design(ResponseUse::Number, weighted, 9);
    let offset = Design {
        offset: Some(vec![0.0; 9]),
        ..number(false)
    };
    assert!(refuse("normal-mean", offset, &plain).contains("`normal-mean` takes no offsets"));
    let predictors = Design {
        x: ndarray::Array2::ones((9, 2)),
        ..number(false)
    };
    assert!(refuse("warped-gaussian", predictors, &plain).contains("write `x ~ 1`"));
    let priors = ModelOptions {
        priors: vec![("b".to_owned(), "normal(0, 1)".to_owned())],
        ..ModelOptions::default()
    };
    assert!(refuse("normal-gamma", number(true), &priors).contains("remove `priors.b`"));
    let mut settings = Settings::default();
    settings.set("correlation", Value::Real(-0.9));
    let options = ModelOptions {
        settings,
        ..ModelOptions::default()
    };
    let mut wide = example_design(ResponseUse::Absent, false, 9);
    wide.columns.push(wide.columns[0].clone());
    assert!(refuse("multivariate-t", wide, &options).contains("must be above -0.5 with 3 columns"));
}
