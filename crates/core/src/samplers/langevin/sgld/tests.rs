//! Against closed forms of Gaussian posteriors with known gradient noise, defaults, and refusals.

use crate::samplers::{Phase, configure};
use std::sync::Arc;

use super::*;
use crate::estimators::{ModeError, find_mode};
use crate::models::Model;
use crate::oracle::{Centre, Scheme};
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::langevin::saga::SagaLd;
use crate::samplers::langevin::step_for_excess;
use crate::samplers::minibatch_settings::MinibatchSettings;
use crate::samplers::momentum::sghmc::SghmcCv;
use crate::samplers::testing::{known_target, logistic_with_centre, small_logistic};
use crate::testing::GaussianRows;
use ergodic_base::Control;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::{Settings, Value};

fn centred(model: &Arc<GaussianRows>) -> Arc<Centre> {
    Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap())
}

fn real(value: f64) -> Value {
    Value::Real(value)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// Independent rows: per coordinate θ' = θ + h m (−H θ + e) + sqrt(2hm) ξ with Var e = (N²/B) c, so the variance
/// is (2hm + h²m² N² c/B)/(1 − φ²), φ = 1 − h m H. Step size, the factor N/B, both noises and the prior all enter.
#[test]
fn stationary_variance_with_minibatch_noise_matches_the_closed_form() {
    let (n, dim) = (2000, 2);
    let model = Arc::new(GaussianRows::simulated(n, dim, 31).with_prior_precision(700.0));
    let centre = centred(&model);
    for (h, batch, precondition) in [
        (0.3, 20, "curvature"),
        (0.05, 500, "curvature"),
        (4e-5, 100, "none"),
    ] {
        let given = settings(&[
            ("step_size", real(h)),
            ("batch", Value::Int(batch)),
            ("precondition", text(precondition)),
        ]);
        let dyn_model = Arc::clone(&model) as Arc<dyn Model>;
        let start = model.posterior_mean();
        let mut chain =
            Chain::<Sgld>::start(dyn_model, Some(Arc::clone(&centre)), &given, &start, 5);
        let draws = chain.draws(1000, 150_000, 1);
        for j in 0..dim {
            let curvature = 1.0 / model.posterior_variance()[j];
            let m = if precondition == "none" {
                1.0
            } else {
                1.0 / curvature
            };
            let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j];
            let phi = 1.0 - h * m * curvature;
            let variance = (2.0 * h * m + h * h * m * m * noise) / (1.0 - phi * phi);
            let what = format!("h {h}, batch {batch}, coordinate {j}");
            Moments::of(&draws[j]).assert_autoregressive(
                model.posterior_mean()[j],
                variance,
                phi,
                &what,
            );
        }
    }
}

/// Centred gradients of a Gaussian have no noise: the variance is that of exact gradients, 1/(1 − h/2), however small
/// the minibatch.
#[test]
fn control_variates_remove_gradient_noise_on_a_gaussian() {
    let model = Arc::new(GaussianRows::simulated(1000, 3, 32));
    let centre = centred(&model);
    assert!(centre.noise(Some(&*model)).difference_rows < 1e-9);
    let h = 0.4;
    let given = settings(&[("step_size", real(h)), ("batch", Value::Int(3))]);
    let start = model.posterior_mean();
    let mut chain = Chain::<SgldCv>::start(model.clone(), Some(centre), &given, &start, 6);
    let draws = chain.draws(200, 100_000, 1);
    for j in 0..3 {
        let variance = model.posterior_variance()[j] / (1.0 - 0.5 * h);
        let what = format!("coordinate {j}");
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            variance,
            1.0 - h,
            &what,
        );
    }
}

/// The noise that the default step reckons with is the noise of each scheme. Stretches of rows see one order of rows only,
/// so the variance is averaged over orders.
#[test]
fn every_scheme_has_the_predicted_noise() {
    let (n, batch, orders, draws) = (400, 80, 60, 200);
    for scheme in [Scheme::Iid, Scheme::Blocks, Scheme::Spans, Scheme::Epoch] {
        let minibatch = MinibatchSettings {
            batch,
            scheme,
            second_order: false,
        };
        let mut ratios = Vec::new();
        for order in 0..orders {
            let model = Arc::new(GaussianRows::simulated(n, 1, 100 + order));
            let mean = model.posterior_mean();
            let noise = minibatch.noise_factor(n) * n as f64 * model.score_variance()[0];
            let mut oracle = Oracle::new(model, None, false, Arc::default());
            oracle.set_estimator(Estimator::Plain, batch, minibatch.scheme);
            let mut streams = Streams::new(order, 0);
            let mut square = 0.0;
            for _ in 0..draws {
                // At the mode the exact gradient is zero.
                let mut grad = [0.0];
                oracle.grad(&mean, &mut streams.batch, &mut grad);
                square += grad[0] * grad[0] / f64::from(draws);
            }
            ratios.push(square / noise);
        }
        let moments = Moments::of(&ratios);
        let error = (moments.variance / moments.count).sqrt();
        assert!(
            (moments.mean - 1.0).abs() < 4.0 * error && error < 0.1,
            "{scheme:?}: {} ± {error}",
            moments.mean
        );
    }
}

#[test]
fn the_default_step_has_the_promised_excess() {
    for (excess, noise) in [(0.04, 0.0), (0.04, 0.5), (0.10, 100.0)] {
        let h = step_for_excess(excess, noise);
        let variance = (2.0 * h + h * h * noise) / (1.0 - (1.0 - h) * (1.0 - h));
        assert!((variance - 1.0 - excess).abs() < 1e-12);
    }
}

/// The defaults end to end: draws half or one unit of Langevin time apart, variance too large by what was promised.
#[test]
fn defaults_give_the_promised_bias_and_useful_draws() {
    let model = Arc::new(GaussianRows::balanced(5000, 2, 34));
    let centre = centred(&model);
    let start = model.posterior_mean();
    let none = Settings::default();
    let mut plain =
        Chain::<Sgld>::start(model.clone(), Some(Arc::clone(&centre)), &none, &start, 8);
    let steps = Sgld::steps_per_draw(&plain.config);
    let draws = plain.draws(100, 3000, steps);
    let phi = (1.0 - plain.config.step_size).powi(steps as i32);
    assert!((phi - (-0.5_f64).exp()).abs() < 0.01, "{phi}");
    for j in 0..2 {
        // ρ is measured on a sample of rows and is the largest over directions: each direction has at most that noise.
        let moments = Moments::of(&draws[j]);
        let variance = 1.10 * model.posterior_variance()[j];
        moments.assert_autoregressive(model.posterior_mean()[j], variance, phi, "plain");
    }
    assert!(
        plain.info[1] > 0.04 && plain.info[1] < 0.1,
        "{:?}",
        plain.info
    );

    let mut centred = Chain::<SgldCv>::start(model.clone(), Some(centre), &none, &start, 9);
    let steps = SgldCv::steps_per_draw(&centred.config);
    let draws = centred.draws(100, 10_000, steps);
    let phi = (1.0 - centred.config.step_size).powi(steps as i32);
    assert!((phi - (-1.0_f64).exp()).abs() < 0.03, "{phi}");
    for j in 0..2 {
        let variance = 1.04 * model.posterior_variance()[j];
        let what = "centred";
        Moments::of(&draws[j]).assert_autoregressive(
            model.posterior_mean()[j],
            variance,
            phi,
            what,
        );
    }
}

#[test]
fn unusable_settings_are_refused_in_one_sentence() {
    let known = known_target(10_000, 3, 5.0, (10.0, 1000.0));
    let unknown = Target {
        mode: None,
        ..known.clone()
    };
    let too_large = settings(&[("step_size", real(2.5))]);
    let message = configure::<Sgld>(&too_large, &known)
        .unwrap_err()
        .to_string();
    assert!(message.contains("below 2 "), "{message}");
    let raw = settings(&[("step_size", real(0.01)), ("precondition", text("none"))]);
    assert!(
        configure::<Sgld>(&raw, &known)
            .unwrap_err()
            .to_string()
            .contains("0.002")
    );
    let message = configure::<SgldCv>(&Settings::default(), &unknown)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`sgld-cv` needs the posterior mode"),
        "{message}"
    );
    assert!(configure::<Sgld>(&Settings::default(), &unknown).is_err());
    let own = settings(&[
        ("step_size", real(1e-4)),
        ("steps_per_draw", Value::Int(10)),
    ]);
    assert!(configure::<Sgld>(&own, &unknown).is_ok());
}

#[test]
fn gradients_centred_at_the_mode_are_refused_where_rows_have_none() {
    let undefined = known_target(10_000, 3, f64::INFINITY, (10.0, 1000.0));
    let own_batch = settings(&[("batch", Value::Int(100))]);
    for settings in [Settings::default(), own_batch] {
        for refused in [
            configure::<SgldCv>(&settings, &undefined).err(),
            configure::<SagaLd>(&settings, &undefined).err(),
            configure::<SghmcCv>(&settings, &undefined).err(),
        ] {
            let message = refused.unwrap().to_string();
            assert!(message.contains("gradient is not a number"), "{message}");
        }
        assert!(configure::<Sgld>(&settings, &undefined).is_ok());
    }
}

/// Without a mode and in raw coordinates the variance is that of the closed form, for SGLD and for tables of gradients, whose noise on a
/// Gaussian is nothing.
#[test]
fn steps_of_the_users_own_do_without_a_mode() {
    let (n, batch, h) = (1000, 100, 2e-4);
    let model = Arc::new(GaussianRows::simulated(n, 2, 39).with_prior_precision(300.0));
    let start = model.posterior_mean();
    let given = settings(&[("step_size", real(h)), ("batch", real(0.1))]);
    let mut chain = Chain::<Sgld>::start(model.clone(), None, &given, &start, 7);
    assert_eq!(Sgld::steps_per_draw(&chain.config), 1);
    assert_eq!(chain.config.minibatch.batch, batch);
    let draws = chain.draws(1000, 100_000, 1);
    assert!(chain.info[1].is_nan());
    for j in 0..2 {
        let curvature = 1.0 / model.posterior_variance()[j];
        let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j];
        let phi = 1.0 - h * curvature;
        let variance = (2.0 * h + h * h * noise) / (1.0 - phi * phi);
        let what = format!("raw {j}");
        Moments::of(&draws[j]).assert_autoregressive(start[j], variance, phi, &what);
    }
    let dynamic = Arc::clone(&model) as Arc<dyn Model>;
    let unknown = Target::new(&dynamic, None);
    for id in ["sgld", "saga-ld", "svrg-ld", "psgld"] {
        let entry = crate::samplers::find(id).unwrap();
        let error = ModeError::TooMany(2000);
        let settle = |given: &Settings| entry.settle(given, model.as_ref(), &unknown, Some(&error));
        let message = settle(&Settings::default()).unwrap_err().to_string();
        assert!(message.contains("give `step_size`"), "{message}");
        let settled = settle(&given).unwrap();
        assert_eq!(settled.int("steps_per_draw"), Some(1));
        assert_eq!(settled.int("batch"), Some(batch as i64));
    }
}

#[test]
fn a_gradient_that_is_not_finite_is_an_error_not_a_draw() {
    let model = Arc::new(GaussianRows::simulated(100, 2, 35));
    let centre = centred(&model);
    let none = Settings::default();
    let mut chain = Chain::<Sgld>::start(model, Some(centre), &none, &[f64::NAN, 0.0], 1);
    let at = Tick {
        iter: 3,
        phase: Phase::Draw,
    };
    let mut streams = Streams::new(1, 0);
    let result = Sgld::step(
        &chain.config,
        at,
        &mut chain.state,
        &mut chain.oracle,
        &mut streams,
        &mut [0.0; 3],
    );
    assert_eq!(result, Err(StepError::not_finite("the gradient", 3)));
}

/// A decreasing schedule is h (1 + k/a)^(−b) in steps since the start, warm-up included, and the weights are the steps.
#[test]
fn decreasing_steps_follow_their_formula_and_weigh_their_draws() {
    let model = Arc::new(GaussianRows::simulated(500, 2, 36));
    let centre = centred(&model);
    let given = settings(&[
        ("step_size", real(0.5)),
        ("schedule", text("decreasing")),
        ("decay_offset", real(10.0)),
        ("decay_exponent", real(0.6)),
    ]);
    let start = model.posterior_mean();
    let mut chain = Chain::<SgldCv>::start(model, Some(centre), &given, &start, 6);
    for k in 0..50 {
        chain.step(Phase::Draw);
        let decay = (1.0 + f64::from(k) / 10.0).powf(-0.6);
        assert!((chain.info[0] - 0.5 * decay).abs() < 1e-15);
        assert!((chain.info[2] - decay).abs() < 1e-15);
    }
}

/// With exact gradients of a Gaussian the variance after step k is known: v_{k+1} = (1−h_k)² v_k + 2h_k. The weighted mean of
/// squares over many chains has the expectation Σ h_k v_{k+1} / Σ h_k, and decreasing steps beat the fixed one.
#[test]
fn decreasing_steps_have_their_closed_form_variance() {
    let model = Arc::new(GaussianRows::simulated(300, 3, 37));
    let centre = centred(&model);
    let h = 1.0;
    let given = settings(&[
        ("step_size", real(h)),
        ("batch", Value::Int(2)),
        ("schedule", text("decreasing")),
        ("decay_offset", real(20.0)),
        ("decay_exponent", real(0.33)),
    ]);
    let start = model.posterior_mean();
    let (steps, chains) = (1500, 60);
    let (mut expected, mut total, mut v) = (0.0, 0.0, 0.0);
    for k in 0..steps {
        let step = h * (1.0 + f64::from(k) / 20.0).powf(-0.33);
        v = (1.0 - step).powi(2) * v + 2.0 * step;
        expected += step * v;
        total += step;
    }
    expected /= total;
    assert!(expected < 1.3 && 1.0 / (1.0 - 0.5 * h) > 1.9, "{expected}");
    let mut found = Vec::new();
    for seed in 0..chains {
        let centre = Some(Arc::clone(&centre));
        let mut chain = Chain::<SgldCv>::start(model.clone(), centre, &given, &start, seed);
        let (mut square, mut weight) = (0.0, 0.0);
        for _ in 0..steps {
            let u = chain.step(Phase::Draw).to_vec();
            let z2: f64 = (0..3)
                .map(|j| (u[j] - start[j]).powi(2) / model.posterior_variance()[j] / 3.0)
                .sum();
            square += chain.info[2] * z2;
            weight += chain.info[2];
        }
        found.push(square / weight);
    }
    let moments = Moments::of(&found);
    let error = (moments.variance / moments.count).sqrt();
    assert!(
        (moments.mean - expected).abs() < 4.0 * error && error < 0.02,
        "{} ± {error} against {expected}",
        moments.mean
    );
}

/// At temperature T: variance (2hT + h²V)/(1 − (1−h)²), so π^{1/T} up to the bias.
#[test]
fn a_temperature_multiplies_the_variance() {
    let model = Arc::new(GaussianRows::simulated(1000, 2, 38));
    let centre = centred(&model);
    let start = model.posterior_mean();
    for temperature in [0.25, 4.0] {
        let h = 0.2;
        let given = settings(&[
            ("step_size", real(h)),
            ("batch", Value::Int(5)),
            ("temperature", real(temperature)),
        ]);
        let centre = Some(Arc::clone(&centre));
        let mut chain = Chain::<SgldCv>::start(model.clone(), centre, &given, &start, 6);
        let draws = chain.draws(200, 60_000, 1);
        for j in 0..2 {
            let variance = temperature * model.posterior_variance()[j] / (1.0 - 0.5 * h);
            Moments::of(&draws[j]).assert_autoregressive(start[j], variance, 1.0 - h, "tempered");
        }
        assert_eq!(chain.info[2], 1.0);
    }
    // The default step keeps the relative excess: plain gradient noise counts less at a high temperature.
    let model: Arc<dyn Model> = model;
    let target = Target::new(&model, Some(&centre));
    let step = |temperature| {
        let given = settings(&[("temperature", real(temperature))]);
        configure::<Sgld>(&given, &target).unwrap().step_size
    };
    let plain = target.noise_ratio().unwrap() * 1000.0 / 500.0;
    assert!((step(4.0) - step_for_excess(0.1, plain / 4.0)).abs() < 1e-12);
}

/// A logistic posterior in which a few rows far out carry most of the curvature: predictors are quantiles of a Cauchy.
fn heavy_tailed() -> (Arc<dyn Model>, Arc<Centre>) {
    let x: Vec<f64> = (0..400)
        .map(|i| (std::f64::consts::PI * ((f64::from(i) + 0.5) / 400.0 - 0.5)).tan())
        .collect();
    let y: Vec<f64> = (0..400)
        .map(|i| f64::from(u8::from(i * 37 % 100 < 40)))
        .collect();
    let model = small_logistic(&x, &y, 2.5);
    let centre = find_mode(model.as_ref(), &Control::default())
        .unwrap()
        .centre;
    (model, Arc::new(centre))
}

/// Rows drawn with p_i ∝ L_i: estimates stay unbiased, their noise falls by a lot on heavy tails, it obeys the bound of
/// Lemma 3.3.3, and the number measured at the mode predicts it.
#[test]
fn heavy_rows_are_drawn_more_often_and_noise_falls() {
    let (model, centre) = heavy_tailed();
    let (batch, draws) = (20, 20_000);
    // Two whitened standard deviations off the mode, in the direction of the slope.
    let mut u = vec![0.5, 2.0];
    let distance2: f64 = u.iter().map(|z| z * z).sum();
    centre.factor.solve_lower_transpose(&mut u);
    axpy(1.0, &centre.u, &mut u);
    let mut noise = Vec::new();
    for scheme in [Scheme::Iid, Scheme::Lipschitz] {
        let mut oracle = Oracle::new(model.clone(), Some(centre.clone()), false, Arc::default());
        oracle.set_estimator(Estimator::ControlVariate, batch, scheme);
        let mut exact = [0.0; 2];
        oracle.exact(&u, &mut exact).unwrap();
        let (mut streams, mut twin) = (Streams::new(3, 0), Streams::new(3, 0));
        let (mut mean, mut square, mut scores) = ([0.0; 2], 0.0, Vec::new());
        for _ in 0..draws {
            let (mut grad, mut same) = ([0.0; 2], [0.0; 2]);
            oracle.grad(&u, &mut streams.batch, &mut grad);
            oracle.grad_scores(&u, &mut twin.batch, &mut same, &mut scores);
            let mut error = [grad[0] - exact[0], grad[1] - exact[1]];
            assert!((0..2).all(|j| (grad[j] - same[j]).abs() < 1e-9 * exact[j].abs().max(1.0)));
            centre.factor.solve_lower(&mut error);
            for j in 0..2 {
                mean[j] += error[j] / f64::from(draws);
                square += error[j] * error[j] / f64::from(draws);
            }
        }
        let standard_error = (square / f64::from(draws)).sqrt();
        assert!(
            mean.iter().all(|m| m.abs() < 4.0 * standard_error),
            "{scheme:?}: {mean:?} ± {standard_error}"
        );
        noise.push(square);
    }
    assert!(noise[1] < 0.2 * noise[0], "{noise:?}");
    let linear = model.linear_rows().unwrap();
    let bound: f64 = (0..400)
        .map(|row| {
            let mut a = linear.covariates(row).to_vec();
            centre.factor.solve_lower(&mut a);
            linear.curvature_bound(row) * a.iter().map(|a| a * a).sum::<f64>()
        })
        .sum();
    assert!(noise[1] < bound * bound / batch as f64 * distance2);
    let noise = centre.noise(model.rows());
    let (predicted, plain) = (
        noise.weighted_difference_rows.unwrap(),
        noise.difference_rows,
    );
    assert!(predicted < 0.2 * plain, "{predicted} {plain}");
}

/// The noise matrix that samplers with momentum and Fisher scoring correct for is that of their gradients, whatever the chances.
#[test]
fn noise_of_centred_gradients_is_known_for_each_scheme() {
    let (model, centre) = heavy_tailed();
    let (batch, draws) = (20, 20_000);
    for scheme in [Scheme::Iid, Scheme::Lipschitz] {
        let mut oracle = Oracle::new(
            Arc::clone(&model),
            Some(Arc::clone(&centre)),
            false,
            Arc::default(),
        );
        oracle.set_estimator(Estimator::ControlVariate, batch, scheme);
        let mut streams = Streams::new(5, 0);
        let (mut exact, mut grad) = ([0.0; 2], [0.0; 2]);
        let mut covariance = [0.0; 4];
        // The points û ± sqrt(D) L⁻ᵀ e_j over which the matrix is an average.
        for (j, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
            let mut u = vec![0.0; 2];
            u[j] = sign * f64::sqrt(2.0);
            centre.factor.solve_lower_transpose(&mut u);
            axpy(1.0, &centre.u, &mut u);
            oracle.exact(&u, &mut exact).unwrap();
            for _ in 0..draws {
                oracle.grad(&u, &mut streams.batch, &mut grad);
                let mut error = [grad[0] - exact[0], grad[1] - exact[1]];
                centre.factor.solve_lower(&mut error);
                for (k, entry) in covariance.iter_mut().enumerate() {
                    *entry += error[k / 2] * error[k % 2] / f64::from(4 * draws);
                }
            }
        }
        let expected = centre.noise(model.rows()).centred(scheme);
        let scale = expected[0].max(expected[3]) / batch as f64;
        for (found, expected) in covariance.iter().zip(expected) {
            let expected = expected / batch as f64;
            assert!(
                (found - expected).abs() < 0.05 * scale,
                "{scheme:?}: {covariance:?} {expected}"
            );
        }
    }
}

/// The default step reckons with the smaller noise, and models without Lipschitz constants refuse the word.
#[test]
fn unequal_chances_give_longer_steps_or_are_refused() {
    let (model, centre) = heavy_tailed();
    let target = Target::new(&model, Some(&centre));
    let step = |scheme| {
        let given = settings(&[("scheme", text(scheme)), ("batch", Value::Int(20))]);
        configure::<SgldCv>(&given, &target).unwrap().step_size
    };
    assert!(step("lipschitz") > 1.2 * step("iid"));
    let scheme = |target: &Target| {
        let config = configure::<SgldCv>(&Settings::default(), target).unwrap();
        config.minibatch.scheme
    };
    assert_eq!(scheme(&target), Scheme::Lipschitz);
    for id in ["osgfs-cv", "sghmc-cv", "sgnht-cv"] {
        let entry = crate::samplers::find(id).unwrap();
        let resolved = (entry.resolve)(&Settings::default(), &target).unwrap();
        assert!(resolved.contains(&("scheme", text("lipschitz"))), "{id}");
    }
    let (model, centre) = logistic_with_centre();
    let calm = Target::new(&model, Some(&centre));
    assert_eq!(scheme(&calm), Scheme::Iid);
    let given = settings(&[("scheme", text("lipschitz"))]);
    let gaussian = Arc::new(GaussianRows::simulated(100, 2, 39));
    let centre = centred(&gaussian);
    let gaussian: Arc<dyn Model> = gaussian;
    let target = Target::new(&gaussian, Some(&centre));
    let message = configure::<SgldCv>(&given, &target)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`scheme` takes lipschitz only"),
        "{message}"
    );
    assert!(given.check("sampler `sgld`", Sgld::SPEC.fields).is_err());
}
