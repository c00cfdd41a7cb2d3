//! Closed forms: stationary covariances of each integrator on a Gaussian with gradient noise, orders of accuracy, default steps.

use std::sync::Arc;

use super::plan::{EXCESS, LONGEST_STEP, Plan, SHORTEST_STEP};
use super::*;
use crate::models::Model;
use crate::oracle::{Centre, RowNoise};
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::momentum::sghmc::{Sghmc, SghmcCv};
use crate::samplers::momentum::sghmc_naive::SghmcNaive;
use crate::samplers::momentum::sgnht::{Sgnht, SgnhtCv};
use crate::samplers::testing::{
    assert_moments, assert_moments_known_to, estimate, known_target, mean,
};
use crate::samplers::{Phase, Sampler, Target, recommend};
use crate::testing::GaussianRows;
use ergodic_base::settings::Value;

const ALL: [Integrator; 3] = [Integrator::Euler, Integrator::Aboba, Integrator::Baoab];

fn dynamics(integrator: Integrator, step: f64) -> Dynamics {
    Dynamics {
        integrator,
        step,
        thermostat: None,
        temperature: 1.0,
    }
}

/// The matrix T of one step on a standard normal and the covariance Q of its noise, written out from the table of the module.
fn written_out(
    integrator: Integrator,
    step: f64,
    friction: f64,
    injected: f64,
    noise: f64,
) -> ([f64; 4], [f64; 3]) {
    let e = step;
    let push = 2.0 * injected * e + e * e * noise;
    match integrator {
        Integrator::Euler => ([1.0, e, -e, 1.0 - friction * e - e * e], [0.0, 0.0, push]),
        Integrator::Aboba => {
            let c = (-0.5 * friction * e).exp();
            let rr = c * c - 0.5 * c * e * e;
            (
                [1.0 - 0.5 * c * e * e, 0.5 * e * (1.0 + rr), -c * e, rr],
                [0.25 * e * e, 0.5 * e, 1.0].map(|q| q * c * c * push),
            )
        }
        Integrator::Baoab => {
            let c = (-friction * e).exp();
            let s2 = injected / friction * (1.0 - c * c);
            let back = 1.0 - 0.5 * e * e;
            (
                [1.0, 0.5 * e * (1.0 + c), -e, c - 0.5 * e * e * (1.0 + c)],
                [
                    0.25 * e * e * s2,
                    0.5 * e * s2 * back,
                    s2 * back * back + e * e * noise,
                ],
            )
        }
    }
}

/// P = T P T' + Q with T and Q derived by hand.
#[test]
fn the_stationary_covariance_solves_the_lyapunov_equation_of_each_integrator() {
    for integrator in ALL {
        for (step, friction, injected, noise) in [
            (0.3, 2.0, 2.0, 0.0),
            (0.5, 0.4, 1.1, 3.0),
            (0.01, 2.0, 1.2, 100.0),
            (1e-4, 5.0, 3.0, 1e4),
        ] {
            let rule = dynamics(integrator, step);
            let p = stationary(&rule, friction, injected, noise);
            let (t, q) = written_out(integrator, step, friction, injected, noise);
            let next = congruence(&t, &p);
            for k in 0..3 {
                let residual = next[k] + q[k] - p[k];
                // Relative to what a step changes at most.
                assert!(
                    residual.abs() < 1e-9 * step * p[0].max(p[2]),
                    "{integrator:?} {step}: {residual} of {p:?}"
                );
            }
        }
    }
}

/// Without gradient noise the second moments of `aboba` are right to order ε², the momentum of `euler` and its correlation with
/// the position only to order ε, and the variances of `baoab` exactly. Higher orders change a ratio of errors by order ε. Euler's
/// positions are right to order ε² too: a move before a kick is half a move away from a symmetric splitting.
#[test]
fn splitting_is_of_order_two_and_euler_of_order_one() {
    let errors = |integrator, step| {
        let [zz, zr, rr] = stationary(&dynamics(integrator, step), 2.0, 2.0, 0.0);
        [zz - 1.0, zr, rr - 1.0]
    };
    for step in [0.2, 0.05] {
        let [long, short] = [step, 0.5 * step].map(|step| errors(Integrator::Euler, step));
        for k in [1, 2] {
            assert!(
                (long[k] / short[k] - 2.0).abs() < 2.0 * step,
                "{long:?} {short:?}"
            );
        }
        let [long, short] = [step, 0.5 * step].map(|step| errors(Integrator::Aboba, step));
        for k in [0, 2] {
            assert!(
                (long[k] / short[k] - 4.0).abs() < step,
                "{long:?} {short:?}"
            );
        }
        assert!(long[1].abs() < 1e-12, "{long:?}");
        // The momentum of `baoab` is seen half a kick late, which is its correlation of −½ε.
        let [zz, zr, rr] = errors(Integrator::Baoab, step);
        assert!(zz.abs() < 1e-12 && (zr + 0.5 * step).abs() < 1e-12 && rr.abs() < 1e-12);
    }
}

/// Chains of `sghmc` with every integrator, with and without correction, against the closed form: position, momentum and their
/// product along each direction of independent gradient noise. Step, friction, N/B, injected and gradient noise all enter.
#[test]
fn chains_have_the_stationary_covariance_of_their_integrator() {
    let (n, batch, step, friction) = (500, 50, 0.3, 1.7);
    let model = Arc::new(GaussianRows::simulated(n, 2, 41).with_prior_precision(300.0));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    for integrator in ALL {
        for correction in ["off", "mode"] {
            let given = settings(&[
                ("step_size", Value::Real(step)),
                ("friction", Value::Real(friction)),
                ("integrator", Value::Text(integrator.word().into())),
                ("friction_correction", Value::Text(correction.into())),
                ("batch", Value::Int(batch)),
            ]);
            let start = model.posterior_mean();
            let mut chain =
                Chain::<Sghmc>::start(model.clone(), Some(centre.clone()), &given, &start, 7);
            let series = follow(&mut chain, &model, 500, 60_000);
            for (i, direction) in series.iter().enumerate() {
                // What the estimate of a covariance divides by n − 1 the minibatch divides by n.
                let noise = chain.state.noise[i] * (n as f64 - 1.0) / n as f64;
                let injected = match correction {
                    "off" => friction,
                    _ => friction - 0.5 * step * chain.state.noise[i],
                };
                let rule = dynamics(integrator, step);
                let [zz, zr, rr] = stationary(&rule, friction, injected, noise);
                let what = format!("{integrator:?} {correction} {i}");
                assert!(
                    noise > 2.0,
                    "{what}: the noise {noise} would not be noticed"
                );
                let [z, r, product] = direction;
                assert_moments(&what, std::slice::from_ref(z), 0.0, zz);
                assert_moments(&what, std::slice::from_ref(r), 0.0, rr);
                let (found, mcse) = estimate(std::slice::from_ref(product));
                assert!(
                    (found - zr).abs() < 4.0 * mcse && mcse < 0.03,
                    "{what}: {found} against {zr}, mcse {mcse}"
                );
            }
        }
    }
}

/// Series of z, r and z r per direction.
fn follow<S: Sampler<State = PhaseSpace>>(
    chain: &mut Chain<S>,
    model: &GaussianRows,
    warmup: usize,
    steps: usize,
) -> Vec<[Vec<f64>; 3]> {
    let dim = chain.state.u.len();
    for _ in 0..warmup {
        chain.step(Phase::Warmup { length: None });
    }
    let mut series = vec![[const { Vec::new() }; 3]; dim];
    for _ in 0..steps {
        chain.step(Phase::Draw);
        for (i, z) in whitened(&chain.state, model).into_iter().enumerate() {
            let r = chain.state.momentum[i];
            for (series, value) in series[i].iter_mut().zip([z, r, z * r]) {
                series.push(value);
            }
        }
    }
    series
}

/// z_i = d_i'H (u − û).
fn whitened(space: &PhaseSpace, model: &GaussianRows) -> Vec<f64> {
    let (mean, variance) = (model.posterior_mean(), model.posterior_variance());
    let dim = mean.len();
    let scaled: Vec<f64> = (0..dim)
        .map(|j| (space.u[j] - mean[j]) / variance[j])
        .collect();
    let mut z = vec![0.0; dim];
    space.directions.project(&scaled, &mut z);
    z
}

/// Without friction the covariance is that of the same recursion after n steps: it grows without end, and as predicted;
/// `sghmc` started the same way stays where it belongs. `auto` never means it.
#[test]
fn without_friction_the_variance_grows_as_predicted_and_with_it_not() {
    let (n, batch, step, chains, steps) = (200, 20, 0.1, 300, 400);
    let model = Arc::new(GaussianRows::simulated(n, 2, 42));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let given = settings(&[
        ("step_size", Value::Real(step)),
        ("batch", Value::Int(batch)),
    ]);
    let start = model.posterior_mean();
    let (mut ratios, mut energies, mut damped) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..chains {
        let mut naive =
            Chain::<SghmcNaive>::start(model.clone(), Some(centre.clone()), &given, &start, seed);
        let mut sghmc =
            Chain::<Sghmc>::start(model.clone(), Some(centre.clone()), &given, &start, seed);
        for _ in 0..steps {
            naive.step(Phase::Draw);
            sghmc.step(Phase::Draw);
        }
        damped.extend(whitened(&sghmc.state, &model).iter().map(|z| z * z));
        for (i, z) in whitened(&naive.state, &model).into_iter().enumerate() {
            let noise = naive.state.noise[i] * (n as f64 - 1.0) / n as f64;
            let (t, q) = written_out(Integrator::Euler, step, 0.0, 1.0, noise);
            let mut predicted = [0.0, 0.0, 1.0];
            for _ in 0..steps {
                predicted = congruence(&t, &predicted);
                for (p, q) in predicted.iter_mut().zip(q) {
                    *p += q;
                }
            }
            // The variance is about (1 + ½εv) times the time.
            let time = step * steps as f64;
            assert!((predicted[0] / ((1.0 + 0.5 * step * noise) * time) - 1.0).abs() < 0.05);
            ratios.push(z * z / predicted[0]);
            energies.push(z * z);
        }
    }
    // Of squares of independent normals.
    let error = (2.0 / ratios.len() as f64).sqrt();
    assert!(
        (mean(&ratios) - 1.0).abs() < 4.0 * error,
        "{}",
        mean(&ratios)
    );
    assert!(
        (mean(&damped) - 1.0).abs() < 4.0 * error + EXCESS,
        "{}",
        mean(&damped)
    );
    assert!(mean(&energies) > 30.0);

    for num_obs in [50, 100_000, 50_000_000] {
        let known = known_target(num_obs, 5, 10.0, (1.0, 10.0));
        let unknown = Target {
            mode: None,
            ..known.clone()
        };
        for target in [unknown, known] {
            let advice = recommend::recommend(&recommend::Facts {
                target,
                ..recommend::Facts::default()
            });
            assert_ne!(advice.sampler, SghmcNaive::SPEC.id);
            let naive = advice.alternatives.iter();
            let naive = naive
                .clone()
                .find(|a| a.sampler == SghmcNaive::SPEC.id)
                .unwrap();
            assert!(
                naive.reason.contains("comparison") || !naive.fits,
                "{}",
                naive.reason
            );
        }
    }
}

/// Default steps keep their promise, and a step longer by 6 % would not, unless it is the longest allowed.
#[test]
fn the_default_step_is_the_longest_that_keeps_the_promise() {
    for noise in [0.0, 0.3, 10.0, 1e4] {
        for (corrected, thermostat) in [(true, false), (false, false), (true, true)] {
            let plan = Plan::whitened(noise, corrected, thermostat);
            for integrator in ALL {
                let step = plan.longest_step(integrator, CRITICAL);
                assert!(plan.is_accurate(integrator, step, CRITICAL));
                let longer = step / 0.94;
                let allowed = LONGEST_STEP.min(0.5 * integrator.limit(CRITICAL));
                let breaks = plan.noise_friction(longer) > plan.share() * CRITICAL
                    || !plan.is_accurate(integrator, longer, CRITICAL);
                assert!(breaks || step == allowed, "{plan:?} {integrator:?} {step}");
            }
            // With a given step friction takes the place of the step.
            let friction = plan.friction(Some(0.2));
            assert!(plan.noise_friction(0.2) <= plan.share() * friction * (1.0 + 1e-12));
            assert!(friction >= CRITICAL);
        }
    }
    // Noise that is not a number must not search for ever.
    let broken = Plan::whitened(f64::NAN, true, false);
    assert!(broken.longest_step(Integrator::Baoab, CRITICAL) <= SHORTEST_STEP);
}

/// a centre that says there is no gradient noise at all.
fn ignorant(centre: &Centre) -> Arc<Centre> {
    let mut noise = RowNoise::of_one_row(&centre.hessian);
    noise.scores.fill(0.0);
    noise.ratio = 0.0;
    Arc::new(centre.clone().with_noise(noise))
}

/// Thermostats absorb noise nobody told them of: the variance of the target stays right and friction settles at A + ½εv, while
/// the same dynamics without thermostat get hot by that share.
#[test]
fn thermostats_absorb_unknown_noise() {
    let (n, batch, step, a) = (500, 25, 0.1, 1.0);
    let model = Arc::new(GaussianRows::balanced(n, 2, 43));
    let known = Centre::at(model.as_ref(), &model.posterior_mean()).unwrap();
    let noise = n as f64 / batch as f64;
    let hot = 1.0 + 0.5 * step * noise / a;
    let start = model.posterior_mean();
    let common = [
        ("step_size", Value::Real(step)),
        ("batch", Value::Int(batch)),
    ];
    for thermostat in ["scalar", "per-parameter"] {
        let mut given = settings(&common);
        given.set("diffusion", Value::Real(a));
        given.set("thermostat", Value::Text(thermostat.into()));
        let mut chain =
            Chain::<Sgnht>::start(model.clone(), Some(ignorant(&known)), &given, &start, 3);
        assert_eq!(chain.state.noise, [0.0, 0.0]);
        let (mut frictions, mut temperatures) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            chain.step(Phase::Warmup { length: None });
        }
        let mut z = vec![Vec::new(); 2];
        for _ in 0..150_000 {
            chain.step(Phase::Draw);
            temperatures.push(chain.info[2]);
            frictions.push(chain.info[3]);
            for (series, z) in z.iter_mut().zip(whitened(&chain.state, &model)) {
                series.push(z);
            }
        }
        for series in &z {
            assert_moments(thermostat, std::slice::from_ref(series), 0.0, 1.0);
        }
        // E ξ: noise A + ½εv is taken out by ξ at temperature 1, up to order ε.
        let (found, mcse) = estimate(&[frictions]);
        assert!(
            (found - a * hot).abs() < 4.0 * mcse + 0.1 && mcse < 0.1,
            "{thermostat}: friction {found} ± {mcse}"
        );
        let (found, mcse) = estimate(&[temperatures]);
        assert!(
            (found - 1.0).abs() < 4.0 * mcse && mcse < 0.01,
            "{found} ± {mcse}"
        );
    }
    let mut given = settings(&common);
    given.set("friction", Value::Real(a));
    let mut chain = Chain::<Sghmc>::start(model.clone(), Some(ignorant(&known)), &given, &start, 3);
    let series = follow(&mut chain, &model, 500, 60_000);
    let [z, ..] = &series[0];
    let square = z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
    assert!(square > 0.9 * hot && hot > 1.9, "{square} {hot}");
}

/// Where noise differs between directions one thermostat is a compromise: T_i = (A + ½εv_i) over its mean. One per direction
/// is right in each.
#[test]
fn only_a_thermostat_per_parameter_absorbs_noise_that_differs_between_directions() {
    let (n, batch, step, a) = (500, 25, 0.1, 0.5);
    // Scores of the first direction matter less beside the prior.
    let model = Arc::new(GaussianRows::balanced(n, 2, 44).with_prior_precision(2000.0));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    for thermostat in ["scalar", "per-parameter"] {
        let given = settings(&[
            ("step_size", Value::Real(step)),
            ("batch", Value::Int(batch)),
            ("diffusion", Value::Real(a)),
            ("thermostat", Value::Text(thermostat.into())),
        ]);
        let mut chain =
            Chain::<Sgnht>::start(model.clone(), Some(centre.clone()), &given, &start, 5);
        let total: Vec<f64> = chain
            .state
            .noise
            .iter()
            .map(|v| a + 0.5 * step * v)
            .collect();
        let series = follow(&mut chain, &model, 2000, 120_000);
        for i in 0..2 {
            let temperature = match thermostat {
                "scalar" => total[i] / mean(&total),
                _ => 1.0,
            };
            let what = format!("{thermostat} {i}");
            let squares: Vec<f64> = series[i][0].iter().map(|z| z * z).collect();
            let (found, mcse) = estimate(&[squares]);
            // Where ξ varies the compromise is met on average only, which matters to the second order.
            let allowed = if thermostat == "scalar" { 0.05 } else { 0.0 };
            assert!(
                (found - temperature).abs() < 4.0 * mcse + allowed && mcse < 0.03,
                "{what}: {found} ± {mcse} against {temperature}"
            );
            assert!((total[i] / mean(&total) - 1.0).abs() > 0.1, "{total:?}");
        }
    }
}

/// The running estimate mends a wrong one: it starts as one estimate among those of the minibatches.
#[test]
fn running_minibatches_find_the_noise() {
    let (n, batch, steps) = (400, 40, 3000);
    let model = Arc::new(GaussianRows::simulated(n, 2, 45));
    let known = Centre::at(model.as_ref(), &model.posterior_mean()).unwrap();
    let start = model.posterior_mean();
    let given = settings(&[
        ("friction_correction", Value::Text("running".into())),
        ("batch", Value::Int(batch)),
        ("step_size", Value::Real(0.05)),
    ]);
    let chain = Chain::<Sghmc>::start(
        model.clone(),
        Some(Arc::new(known.clone())),
        &given,
        &start,
        1,
    );
    let truth = chain.state.noise;
    let mut noise = known.noise(Some(&*model)).clone();
    for value in &mut noise.scores {
        *value *= 3.0;
    }
    let wrong = known.with_noise(noise);
    let mut chain = Chain::<Sghmc>::start(model, Some(Arc::new(wrong)), &given, &start, 1);
    assert!(chain.state.noise[0] > 2.9 * truth[0]);
    for _ in 0..steps {
        chain.step(Phase::Warmup { length: None });
    }
    let friction = chain.state.friction[0];
    for (i, truth) in truth.iter().enumerate() {
        let noise = chain.state.noise[i];
        // A variance from B rows has relative variance 2/B for normal scores; the wrong start weighs one step in 3000.
        let error = (2.0 / (batch as f64 * f64::from(steps))).sqrt() + 2.0 / f64::from(steps);
        assert!((noise / truth - 1.0).abs() < 4.0 * error, "{noise} {truth}");
        assert_eq!(chain.state.injected[i], friction - 0.5 * 0.05 * noise);
    }
    let before = chain.state.noise.clone();
    chain.step(Phase::Draw);
    assert_eq!(chain.state.noise, before, "nothing adapts after warm-up");
}

/// The steps of `mass` with their settled settings, where only what is given matters.
fn resolved(id: &str, given: &[(&str, Value)], target: &Target) -> Vec<(&'static str, Value)> {
    (crate::samplers::find(id).unwrap().resolve)(&settings(given), target).unwrap()
}

fn word(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// At temperature T all of phase space has T times its variance, noise of gradients included; thermostats hold momenta there.
#[test]
fn a_temperature_multiplies_the_variance() {
    let (n, batch, step) = (500, 100, 0.1);
    let model = Arc::new(GaussianRows::balanced(n, 2, 48));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    for temperature in [0.25, 4.0] {
        let given = settings(&[
            ("step_size", Value::Real(step)),
            ("batch", Value::Int(batch)),
            ("temperature", Value::Real(temperature)),
        ]);
        let centre = || Some(centre.clone());
        let mut sghmc = Chain::<Sghmc>::start(model.clone(), centre(), &given, &start, 3);
        let mut sgnht = Chain::<Sgnht>::start(model.clone(), centre(), &given, &start, 4);
        let space = &sghmc.state;
        let (friction, injected, noise) = (space.friction[0], space.injected[0], space.noise[0]);
        let predicted = stationary(
            &dynamics(Integrator::Baoab, step),
            friction,
            injected,
            noise,
        );
        for (what, variance, series) in [
            (
                "sghmc",
                predicted[0],
                follow(&mut sghmc, &model, 2000, 150_000),
            ),
            (
                "sgnht",
                temperature,
                follow(&mut sgnht, &model, 4000, 150_000),
            ),
        ] {
            assert!((variance / temperature - 1.0).abs() < 0.02, "{variance}");
            for [z, ..] in &series {
                let what = format!("{what} {temperature}");
                assert_moments_known_to(0.2, &what, std::slice::from_ref(z), 0.0, variance);
            }
        }
    }
}

/// Step k is ε (1 + k/a)^(−b), draws weigh as much, and the injected noise follows the step: with exact gradients the covariance after
/// each step is known, T P T' + Q with that step's matrices.
#[test]
fn decreasing_steps_follow_their_formula_and_have_their_closed_form_covariance() {
    let model = Arc::new(GaussianRows::simulated(300, 2, 49));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    let (step, friction, steps, chains) = (0.8, 1.5, 60, 2000);
    for integrator in ALL {
        let given = settings(&[
            ("step_size", Value::Real(step)),
            ("friction", Value::Real(friction)),
            ("integrator", word(integrator.word())),
            ("batch", Value::Int(300)),
            ("scheme", word("epoch")),
            ("schedule", word("decreasing")),
            ("decay_offset", Value::Real(10.0)),
            ("decay_exponent", Value::Real(0.5)),
        ]);
        let (mut expected, mut total, mut p) = (0.0, 0.0, [0.0, 0.0, 1.0]);
        for k in 0..steps {
            let weight = (1.0 + f64::from(k) / 10.0).powf(-0.5);
            let (t, q) = written_out(integrator, step * weight, friction, friction, 0.0);
            p = congruence(&t, &p);
            for (p, q) in p.iter_mut().zip(q) {
                *p += q;
            }
            expected += weight * p[0];
            total += weight;
        }
        let mut found = Vec::new();
        for seed in 0..chains {
            let centre = Some(centre.clone());
            let mut chain = Chain::<Sghmc>::start(model.clone(), centre, &given, &start, seed);
            let mut sum = 0.0;
            for k in 0..steps {
                chain.step(Phase::Draw);
                let weight = (1.0 + f64::from(k) / 10.0).powf(-0.5);
                assert!((chain.info[0] - step * weight).abs() < 1e-12);
                assert!((chain.info[3] - weight).abs() < 1e-12);
                let z = whitened(&chain.state, &model);
                sum += weight * 0.5 * dot(&z, &z);
            }
            found.push(sum / total);
        }
        let expected = expected / total;
        let variance = found
            .iter()
            .map(|x| (x - mean(&found)).powi(2))
            .sum::<f64>()
            / (found.len() as f64 - 1.0);
        let error = (variance / found.len() as f64).sqrt();
        assert!(
            (mean(&found) - expected).abs() < 4.0 * error && error < 0.05 * expected,
            "{integrator:?}: {} ± {error} against {expected}",
            mean(&found)
        );
    }
}

/// Whatever the mass matrix, a normal posterior with unequal scales comes out right, and steps stay where the dynamics are stable.
#[test]
fn every_mass_matrix_leaves_the_posterior_alone() {
    let model = Arc::new(GaussianRows::simulated(400, 3, 50).with_prior_precision(900.0));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    let dynamic: Arc<dyn Model> = model.clone();
    let target = Target::new(&dynamic, Some(&centre));
    let (slow, stiff) = target.curvature_range().unwrap();
    assert!(stiff > 1.2 * slow, "{slow} {stiff}");
    for mass in ["curvature", "diagonal", "identity"] {
        let given = settings(&[("mass", word(mass)), ("batch", Value::Int(80))]);
        let centre = || Some(centre.clone());
        let mut sghmc = Chain::<Sghmc>::start(model.clone(), centre(), &given, &start, 5);
        let mut sgnht = Chain::<Sgnht>::start(model.clone(), centre(), &given, &start, 6);
        let thin = [
            Sghmc::steps_per_draw(&sghmc.config),
            Sgnht::steps_per_draw(&sgnht.config),
        ];
        for (what, draws) in [
            ("sghmc", sghmc.draws(500, 4000, thin[0])),
            ("sgnht", sgnht.draws(500, 4000, thin[1])),
        ] {
            for j in 0..3 {
                let what = format!("{what} {mass} {j}");
                let series = std::slice::from_ref(&draws[j]);
                let variance = model.posterior_variance()[j];
                assert_moments_known_to(0.2, &what, series, start[j], variance);
            }
        }
    }
    // In raw coordinates times have a unit: that of the stiffest direction.
    let step = |mass: &str| {
        let given = [("mass", word(mass)), ("integrator", word("baoab"))];
        let settled = resolved("sghmc-cv", &given, &target);
        let step = settled.iter().find(|(key, _)| *key == "step_size").unwrap();
        match step.1 {
            Value::Real(step) => step,
            _ => f64::NAN,
        }
    };
    assert!((step("identity") * stiff.sqrt() - step("curvature")).abs() < 1e-9);
}

/// Without a mode a step of the user's own will do: no matrix is made, and momenta know their temperature. The variance is that of the
/// closed form for the noise that is there.
#[test]
fn steps_of_the_users_own_do_without_a_mode() {
    let (n, batch, step, friction) = (500, 100, 0.01, 30.0);
    let model = Arc::new(GaussianRows::balanced(n, 2, 51));
    let start = model.posterior_mean();
    for id in ["sghmc", "sgnht"] {
        let dynamic: Arc<dyn Model> = model.clone();
        let unknown = Target::new(&dynamic, None);
        let message = (crate::samplers::find(id).unwrap().resolve)(&settings(&[]), &unknown)
            .unwrap_err()
            .to_string();
        assert!(message.contains("`step_size`"), "{message}");
    }
    let given = settings(&[
        ("step_size", Value::Real(step)),
        ("friction", Value::Real(friction)),
        ("integrator", word("euler")),
        ("batch", Value::Int(batch)),
    ]);
    let mut chain = Chain::<Sghmc>::start(model.clone(), None, &given, &start, 7);
    assert_eq!(Sghmc::steps_per_draw(&chain.config), 1);
    let draws = chain.draws(2000, 200_000, 1);
    assert!(chain.info[1].is_nan(), "{:?}", chain.info);
    for j in 0..2 {
        // In units of the standard deviation s times are longer by 1/s, and noise of gradients is s times itself.
        let s = model.posterior_variance()[j].sqrt();
        let noise = (n * n) as f64 / batch as f64 * model.score_variance()[j] * s * s;
        let [zz, ..] = stationary(
            &dynamics(Integrator::Euler, step / s),
            friction * s,
            friction * s,
            noise,
        );
        assert!(zz > 1.2, "{zz}: the noise would not be noticed");
        let series = std::slice::from_ref(&draws[j]);
        assert_moments_known_to(0.2, "raw", series, start[j], zz * s * s);
    }
    // A thermostat absorbs it, but for what is of the second order in the step, a fifth of the one above.
    let given = settings(&[
        ("step_size", Value::Real(0.2 * step)),
        ("diffusion", Value::Real(friction)),
        ("batch", Value::Int(batch)),
    ]);
    let mut chain = Chain::<Sgnht>::start(model.clone(), None, &given, &start, 8);
    let draws = chain.draws(20_000, 200_000, 1);
    for j in 0..2 {
        let series = std::slice::from_ref(&draws[j]);
        let variance = model.posterior_variance()[j];
        assert_moments_known_to(0.2, "thermostat", series, start[j], variance);
    }
}

/// The correlation of draws of a normal posterior with those two before, with momenta that are drawn anew before each draw or not; a draw is
/// ten steps of 0.1. With fresh momenta draws have the moments of the posterior.
fn correlation_two_draws_on<S: Sampler>(friction: (&str, f64), fresh: bool) -> f64 {
    let model = Arc::new(GaussianRows::balanced(2000, 2, 46));
    let start = model.posterior_mean();
    let centre = Arc::new(Centre::at(model.as_ref(), &start).unwrap());
    let given = settings(&[
        ("step_size", Value::Real(0.1)),
        (friction.0, Value::Real(friction.1)),
        ("steps_per_draw", Value::Int(10)),
        ("fresh_momenta", Value::Bool(fresh)),
    ]);
    let mut chain = Chain::<S>::start(model.clone(), Some(centre), &given, &start, 3);
    let draws = chain.draws(200, 20_000, 10);
    if fresh {
        let (mean, variance) = (start[0], model.posterior_variance()[0]);
        assert_moments_known_to(0.15, "fresh momenta", &draws[..1], mean, variance);
    }
    let second: Vec<f64> = draws[0].iter().copied().step_by(2).collect();
    Moments::of(&second).correlation
}

/// Ten steps of 0.1 with hardly any friction turn phase space by one radian: two draws on, the correlation is cos² 1 with fresh momenta
/// and cos 2 without.
#[test]
fn fresh_momenta_forget_the_last_trajectory() {
    let correlation = |fresh| correlation_two_draws_on::<SghmcCv>(("friction", 0.01), fresh);
    let (fresh, kept) = (correlation(true), correlation(false));
    // The error of a correlation of 10,000 pairs is about 0.01.
    let turned = 1.0_f64.cos();
    assert!((fresh - turned * turned).abs() < 0.04, "{fresh}");
    assert!(kept < -0.3, "{kept}");
}

/// The same with thermostats, whose equilibrium fresh momenta leave alone; what they add to friction turns phase space by less.
#[test]
fn fresh_momenta_leave_the_equilibrium_of_thermostats_alone() {
    let correlation = |fresh| correlation_two_draws_on::<SgnhtCv>(("diffusion", 0.1), fresh);
    let (fresh, kept) = (correlation(true), correlation(false));
    assert!((0.2..0.4).contains(&fresh), "{fresh}");
    assert!(kept < fresh - 0.2, "{kept}");
}
