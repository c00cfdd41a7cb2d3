//! Optimisers against their formulas, against Newton, and against a double well.

use std::sync::Arc;

use super::mode::{GOOD_ENOUGH, Objective};
use super::stochastic::{Moment, Optimiser, Power, Schedule, Update, moment};
use super::trace::Recorder;
use super::{
    AUTO, ModeError, Plan, REGISTRY, adadelta, adagrad, adam, ascend, find_mode, find_mode_by,
    hessian_free, lbfgs, rmsprop, santa, sgd,
};
use crate::design::{Design, ModelFrame};
use crate::models::{self, DefaultPriors, LogDensity, Model, ModelOptions, Rows};
use crate::testing::GaussianRows;
use crate::testing::tables::read_csv;
use ergodic_base::settings::{Declared as _, Settings, Value};
use ergodic_base::{ChainRng, Control, Purpose, stream};

fn churn() -> Arc<dyn Model> {
    let table = read_csv(include_str!("../../../../sample_data/churn.csv"));
    let frame = ModelFrame {
        shuffle_seed: 1,
        ..ModelFrame::new("churned ~ age + support_calls + plan".parse().unwrap())
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let options = ModelOptions {
        defaults: DefaultPriors::default(),
        settings: Settings::default(),
        priors: Default::default(),
        standardize: true,
        report_standardized: false,
        ..ModelOptions::default()
    };
    (models::find("logistic").unwrap().build)(Arc::new(design), &options).unwrap()
}

fn own<U: Optimiser>(given: &Settings) -> U::Own {
    U::Own::read(given).unwrap()
}

fn settings(values: &[(&str, f64)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in values {
        settings.set(key, Value::Real(*value));
    }
    settings
}

fn noise() -> ChainRng {
    stream(1, 0, Purpose::Noise)
}

/// Positions after three steps of one parameter from 1 with the gradients 0.5, −0.25 and 1.
fn three_steps(update: &mut dyn Update, shares: [f64; 3], exploring: bool) -> [f64; 3] {
    let mut u = [1.0];
    let mut rng = noise();
    let mut at = [0.0; 3];
    for (k, grad) in [0.5, -0.25, 1.0].into_iter().enumerate() {
        let moment = Moment {
            step: k as u64 + 1,
            share: shares[k],
            exploring,
        };
        update.step(moment, &mut u, &[grad], &mut rng);
        at[k] = u[0];
    }
    at
}

#[track_caller]
fn assert_close(found: [f64; 3], expected: [f64; 3]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }
}

#[test]
fn sgd_steps_along_the_gradient() {
    let mut sgd = sgd::Sgd::new(
        &own::<sgd::Sgd>(&settings(&[("learning_rate", 0.2)])),
        10,
        1,
    );
    // 1 + 0.2·0.5; − 0.2·0.25; + 0.2·½·1.
    assert_close(
        three_steps(&mut sgd, [1.0, 1.0, 0.5], false),
        [1.1, 1.05, 1.15],
    );
}

#[test]
fn momentum_keeps_a_share_of_the_last_step() {
    let given = settings(&[("learning_rate", 0.2), ("momentum", 0.5)]);
    let mut momentum = sgd::Momentum::new(&own::<sgd::Momentum>(&given), 10, 1);
    // Velocities 0.1·0.5 = 0.05; 0.025 − 0.025 = 0; 0 + 0.1.
    assert_close(
        three_steps(&mut momentum, [1.0; 3], false),
        [1.05, 1.05, 1.15],
    );
}

#[test]
fn rmsprop_divides_by_the_root_mean_square() {
    let given = settings(&[("learning_rate", 0.1), ("decay", 0.75), ("offset", 0.25)]);
    let mut rmsprop = rmsprop::RmsProp::new(&own::<rmsprop::RmsProp>(&given), 10, 1);
    // V: 0.25·0.25 = 0.0625; 0.046875 + 0.015625 = 0.0625; 0.046875 + 0.25 = 0.296875.
    let first = 1.0 + 0.1 * 0.5 / 0.5;
    let second = first - 0.1 * 0.25 / 0.5;
    let third = second + 0.1 / (0.25 + 0.296_875_f64.sqrt());
    assert_close(
        three_steps(&mut rmsprop, [1.0; 3], false),
        [first, second, third],
    );
}

#[test]
fn adagrad_divides_by_the_root_of_all_squares() {
    let given = settings(&[("learning_rate", 0.1)]);
    let mut adagrad = adagrad::AdaGrad::new(&own::<adagrad::AdaGrad>(&given), 10, 1);
    // G: 0.25, 0.3125, 1.3125.
    let first = 1.0 + 0.1;
    let second = first - 0.1 * 0.25 / 0.3125_f64.sqrt();
    let third = second + 0.1 * 0.5 / 1.3125_f64.sqrt();
    let found = three_steps(&mut adagrad, [1.0, 1.0, 0.5], false);
    for (found, expected) in found.iter().zip([first, second, third]) {
        // δ is 1e-10.
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

#[test]
fn adadelta_steps_as_far_as_before() {
    let given = settings(&[("memory", 0.5), ("first_step", 0.5)]);
    let mut adadelta = adadelta::AdaDelta::new(&own::<adadelta::AdaDelta>(&given), 10, 1);
    // v: 0.125, 0.09375, 0.546875, and ε = 0.25.
    let step1 = 0.5 * (0.25_f64 / 0.375).sqrt();
    let d1 = 0.5 * step1 * step1;
    let step2 = -0.25 * ((d1 + 0.25) / 0.34375).sqrt();
    let d2 = 0.5 * d1 + 0.5 * step2 * step2;
    let step3 = ((d2 + 0.25) / 0.796_875).sqrt();
    let [first, second] = [1.0 + step1, 1.0 + step1 + step2];
    assert_close(
        three_steps(&mut adadelta, [1.0, 1.0, 0.5], false),
        [first, second, second + 0.5 * step3],
    );
}

/// Where −log π/N is m θ²/2 and a = 1/m, steps a/k make θ after k steps the mean of what single rows say (Baker 2018, lemma 3.3.9).
#[test]
fn the_schedule_of_the_papers_averages() {
    let power = Power::read(&Settings::default()).unwrap();
    let mut sgd = sgd::Sgd::new(
        &own::<sgd::Sgd>(&settings(&[("learning_rate", 0.5)])),
        10,
        1,
    );
    let (mut u, mut rng) = ([7.0], noise());
    let rows = [3.0, -1.0, 4.0, 2.0];
    for (k, row) in rows.into_iter().enumerate() {
        let at = moment(Schedule::Power, &power, k as u64 + 1, 4);
        let grad = [2.0 * (row - u[0])];
        sgd.step(at, &mut u, &grad, &mut rng);
    }
    assert!((u[0] - 2.0).abs() < 1e-12, "{u:?}");
}

#[test]
fn adam_corrects_its_averages() {
    let given = settings(&[("learning_rate", 0.1), ("beta1", 0.5), ("beta2", 0.75)]);
    let mut adam = adam::Adam::new(&own::<adam::Adam>(&given), 10, 1);
    // m: 0.25, 0, 0.5; divided by 0.5, 0.75, 0.875. v: 0.0625, 0.0625, 0.296875; by 0.25, 0.4375, 0.578125.
    let first = 1.0 + 0.1 * 0.5 / (0.5 + 1e-8);
    let second = first;
    let third = second + 0.1 * (0.5 / 0.875) / ((0.296_875_f64 / 0.578_125).sqrt() + 1e-8);
    assert_close(
        three_steps(&mut adam, [1.0; 3], false),
        [first, second, third],
    );
}

fn santa_for(rate: f64, num_obs: usize) -> santa::Santa {
    let given = settings(&[
        ("learning_rate", rate),
        ("momentum", 0.5),
        ("decay", 0.75),
        ("annealing", 1.0),
    ]);
    santa::Santa::new(&own::<santa::Santa>(&given), num_obs, 1)
}

#[test]
fn santa_explores_by_its_formula() {
    use rand_distr::{Distribution as _, StandardNormal};
    // η = 0.16/4 = 0.04; sqrt(V): 0.25, 0.25, sqrt(0.296875); β_t = t.
    let mut rng = noise();
    let mut zeta = || -> f64 { StandardNormal.sample(&mut rng) };
    let scale = |root: f64| 1.0 / (1e-4 + root).sqrt();
    let scales = [scale(0.25), scale(0.25), scale(0.296_875_f64.sqrt())];
    // The scale before the first step is that of the first gradient.
    let before = [scales[0], scales[0], scales[1]];
    let (mut u, mut alpha, mut theta) = (0.2 * zeta(), 0.5, 1.0);
    let mut expected = [0.0; 3];
    for (k, grad) in [0.5, -0.25, 1.0].into_iter().enumerate() {
        let heat = 0.04 / (k as f64 + 1.0);
        alpha += u * u - heat;
        // 2 η^{3/2} g / β = 2 · 0.2 · (0.04/β) · g.
        let kick = (0.4 * heat * before[k]).sqrt() * zeta();
        u = kick + (1.0 - alpha) * u + 0.16 * scales[k] * grad;
        theta += scales[k] * u;
        expected[k] = theta;
    }
    let found = three_steps(&mut santa_for(0.16, 4), [1.0; 3], true);
    assert_close(found, expected);
}

#[test]
fn santa_refines_without_noise_and_with_frozen_friction() {
    use rand_distr::{Distribution as _, StandardNormal};
    let first: f64 = StandardNormal.sample(&mut noise());
    let scale = |root: f64| 1.0 / (1e-4 + root).sqrt();
    let scales = [scale(0.25), scale(0.25), scale(0.296_875_f64.sqrt())];
    // u halves (α = 0.5) and takes up 0.16 g ḡ; nothing else moves it.
    let u1 = 0.5 * 0.2 * first + 0.16 * scales[0] * 0.5;
    let u2 = 0.5 * u1 - 0.16 * scales[1] * 0.25;
    let u3 = 0.5 * u2 + 0.16 * scales[2];
    let (t1, t2) = (1.0 + scales[0] * u1, scales[1] * u2);
    let expected = [t1, t1 + t2, t1 + t2 + scales[2] * u3];
    let found = three_steps(&mut santa_for(0.16, 4), [1.0; 3], false);
    assert_close(found, expected);
}

/// The double well of Chen (2016): U(θ) = (θ+4)(θ+1)(θ−1)(θ−3)/14 + 1/2, whose lower well is near −3 and whose higher one is near
/// 2.2.
#[test]
fn santa_leaves_the_local_mode_that_holds_rmsprop() {
    fn slope(x: f64) -> f64 {
        // Derivative of x⁴ + x³ − 13x² − x + 12, negated: uphill of −U.
        -(4.0 * x * x * x + 3.0 * x * x - 26.0 * x - 1.0) / 14.0
    }
    let run = |update: &mut dyn Update, seed: u64| {
        let (mut u, mut rng) = ([2.0], stream(seed, 0, Purpose::Noise));
        let power = Power::read(&Settings::default()).unwrap();
        for step in 1..=20_000 {
            let grad = [slope(u[0])];
            let at = moment(Schedule::Late, &power, step, 20_000);
            update.step(at, &mut u, &grad, &mut rng);
        }
        u[0]
    };
    let given = settings(&[("learning_rate", 0.01), ("decay", 0.99), ("offset", 1e-5)]);
    let local = run(
        &mut rmsprop::RmsProp::new(&own::<rmsprop::RmsProp>(&given), 1, 1),
        1,
    );
    assert!((local - 2.2).abs() < 0.2, "RMSProp ended at {local}");
    // One row: the temperature of the exploration is that of U itself.
    let given = settings(&[
        ("learning_rate", 0.01),
        ("momentum", 0.9),
        ("decay", 0.99),
        ("annealing", 0.1),
    ]);
    // Whether it is in the deeper well when it has cooled down is a matter of chance: an independent program found it there
    // in seven of eight runs.
    let ends: Vec<f64> = (1..=8)
        .map(|seed| {
            run(
                &mut santa::Santa::new(&own::<santa::Santa>(&given), 1, 1),
                seed,
            )
        })
        .collect();
    assert!(ends.iter().all(|&end| slope(end).abs() < 0.02), "{ends:?}");
    let global = ends.iter().filter(|&end| (end + 3.0).abs() < 0.3);
    assert!(global.count() >= 5, "Santa ended at {ends:?}");
}

#[test]
fn every_method_ends_at_the_mode_that_newton_finds() {
    let model = churn();
    let control = Control::default();
    let newton = find_mode(model.as_ref(), &control).unwrap();
    let sds = newton.centre.sds();
    for entry in REGISTRY {
        let plan = Plan::new(entry.spec.id, &Settings::default(), model.as_ref()).unwrap();
        let mode = find_mode_by(model.as_ref(), &plan, &control).unwrap();
        for ((found, expected), sd) in mode.centre.u.iter().zip(&newton.centre.u).zip(&sds) {
            assert!(
                (found - expected).abs() < 1e-6 * sd,
                "{}: {found} for {expected}",
                entry.spec.id
            );
        }
        let search = &mode.search;
        // The distance from the mode in standard deviations, over all parameters.
        let close = 1e-6 * (sds.len() as f64).sqrt();
        assert!(search.gradient_norm < close, "{}", search.gradient_norm);
        // A stochastic method alone comes close: 1000 rows, 100 per step.
        if let Some(distance) = search.stopped_at {
            eprintln!("{}", search.sentence());
            assert!(distance < 1.0, "{}", search.sentence());
            assert!(search.sentence().contains("finished by"));
        }
        let (first, last) = (&search.trace[0], search.trace.last().unwrap());
        assert!(first.log_density < last.log_density && last.gradient_norm < close);
        assert!(
            search
                .trace
                .windows(2)
                .all(|pair| pair[0].passes <= pair[1].passes)
        );
    }
}

#[test]
fn an_end_far_from_the_mode_is_refused_unless_newton_may_finish() {
    let model = churn();
    let mut few = Settings::default();
    few.set("steps", Value::Int(20));
    few.set("polish", Value::Bool(false));
    let plan = Plan::new("adam", &few, model.as_ref()).unwrap();
    let error = find_mode_by(model.as_ref(), &plan, &Control::default()).unwrap_err();
    let ModeError::TooFar(text) = error else {
        panic!("{error}")
    };
    assert!(text.contains("mode.polish"), "{text}");
    // With all rows at once there is no noise, and the end is good enough by itself.
    let mut enough = Settings::default();
    enough.set("batch", Value::Int(1_000_000));
    enough.set("polish", Value::Bool(false));
    let plan = Plan::new("sgd-m", &enough, model.as_ref()).unwrap();
    let mode = find_mode_by(model.as_ref(), &plan, &Control::default()).unwrap();
    assert!(mode.search.gradient_norm <= GOOD_ENOUGH && mode.search.polish.is_none());
}

#[test]
fn auto_takes_newton_and_notes_its_course() {
    for num_obs in [500, 100_000] {
        let model = GaussianRows::simulated(num_obs, 3, 1);
        let mode = find_mode(&model, &Control::default()).unwrap();
        assert_eq!(mode.search.method, "newton");
        assert_eq!(
            mode.search
                .trace
                .iter()
                .any(|point| point.method == "newton-subset"),
            num_obs > 80_000
        );
        assert!(mode.search.trace.len() >= 2);
    }
}

#[test]
fn plans_resolve_every_setting_and_refuse_unknown_ones() {
    let model = GaussianRows::simulated(1000, 3, 1);
    let none = Settings::default();
    for entry in REGISTRY {
        let plan = Plan::new(entry.spec.id, &none, &model).unwrap();
        assert_eq!(plan.settings.iter().count(), entry.spec.fields.len());
        // What was resolved is accepted again and means the same: recipes replay.
        let again = Plan::new(entry.spec.id, &plan.settings, &model).unwrap();
        assert_eq!(again.settings, plan.settings);
    }
    assert!(
        Plan::new("sgdd", &none, &model)
            .err()
            .unwrap()
            .to_string()
            .contains("rmsprop")
    );
    let mut odd = Settings::default();
    odd.set("steps", Value::Int(10));
    assert!(Plan::new(AUTO, &odd, &model).is_err());
    assert!(Plan::new("newton", &odd, &model).is_err());
    assert!(Plan::new("adam", &odd, &model).is_ok());
}

#[test]
fn a_learning_rate_that_diverges_is_named() {
    let model = GaussianRows::simulated(1000, 2, 1);
    let mut wild = Settings::default();
    wild.set("learning_rate", Value::Real(1e6));
    let plan = Plan::new("sgd", &wild, &model).unwrap();
    let error = find_mode_by(&model, &plan, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("learning_rate"), "{error}");
}

/// The log density e^u, which has no bound: a search that follows it ends where numbers do, and says so.
#[test]
fn a_density_without_bound_ends_the_search() {
    struct Boundless;
    impl LogDensity for Boundless {
        fn dim(&self) -> usize {
            1
        }
        fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
            grad[0] = u[0].exp();
            u[0].exp()
        }
    }
    let control = Arc::new(Control::default());
    let watch = Arc::clone(&control);
    let end = move || {
        std::thread::sleep(std::time::Duration::from_secs(20));
        watch.cancel();
    };
    let named = std::thread::Builder::new().name("watch".to_owned());
    named.spawn(end).unwrap();
    let found = lbfgs::maximise(
        Objective::new(&Boundless, Rows::All),
        &mut [0.0],
        &control,
        &mut Recorder::new(1),
    );
    assert_eq!(found, Err(ModeError::NotFound("the density has no bound")));
}

/// The independent normal coordinates of these precisions around 1, 2, …
struct Quadratic(Vec<f64>);

impl LogDensity for Quadratic {
    fn dim(&self) -> usize {
        self.0.len()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (j, precision) in self.0.iter().enumerate() {
            let away = u[j] - (j + 1) as f64;
            grad[j] = -precision * away;
            value -= 0.5 * precision * away * away;
        }
        value
    }
}

fn hessian_free_from(density: &dyn LogDensity, u: &mut [f64]) -> u64 {
    let objective = Objective::new(density, Rows::All);
    let mut recorder = Recorder::new(1);
    let found = hessian_free::maximise(objective, u, &Control::default(), &mut recorder);
    found.unwrap()
}

#[test]
fn a_quadratic_is_solved_in_one_hessian_free_step() {
    let quadratic = Quadratic(vec![1.0, 3.0, 0.5, 7.0, 2.0, 20.0]);
    let mut u = [0.0; 6];
    assert_eq!(hessian_free_from(&quadratic, &mut u), 1);
    for (j, u) in u.into_iter().enumerate() {
        assert!((u - (j + 1) as f64).abs() < 1e-8, "{j}: {u}");
    }
    // Of many parameters conjugate gradients stop early, and a few steps do.
    let quadratic = Quadratic((0..300).map(|j| 1.0 + f64::from(j % 50)).collect());
    let mut u = vec![0.0; 300];
    let steps = hessian_free_from(&quadratic, &mut u);
    assert!(steps <= 12, "{steps}");
    for (j, u) in u.into_iter().enumerate() {
        assert!((u - (j + 1) as f64).abs() < 1e-5, "{j}: {u}");
    }
}

/// log π = −Σ log(1 + u_j²) is not concave beyond 1, where conjugate gradients meet a direction of negative curvature.
#[test]
fn hessian_free_steps_climb_where_the_curvature_is_negative() {
    struct Heavy;
    impl LogDensity for Heavy {
        fn dim(&self) -> usize {
            2
        }
        fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
            let mut value = 0.0;
            for (grad, u) in grad.iter_mut().zip(u) {
                *grad = -2.0 * u / (1.0 + u * u);
                value -= (u * u).ln_1p();
            }
            value
        }
    }
    for start in [[3.0, -2.0], [0.3, 5.0], [0.1, 0.2]] {
        let mut u = start;
        hessian_free_from(&Heavy, &mut u);
        assert!(u.iter().all(|u| u.abs() < 1e-5), "{start:?}: {u:?}");
    }
}

#[test]
fn the_hessian_free_mode_of_a_logistic_regression_is_that_of_newton() {
    let (model, control) = (churn(), Control::default());
    let newton = find_mode(model.as_ref(), &control).unwrap();
    let plan = Plan::new("hessian-free", &Settings::default(), model.as_ref()).unwrap();
    let mode = find_mode_by(model.as_ref(), &plan, &control).unwrap();
    assert_eq!(mode.search.method, "hessian-free");
    for (found, expected) in mode.centre.u.iter().zip(&newton.centre.u) {
        assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
    }
}

#[test]
fn an_ascent_may_be_hessian_free_and_by_no_other_method_of_curvature() {
    let model = GaussianRows::simulated(500, 3, 1);
    let climb = |method: &str| {
        let plan = Plan::new(method, &Settings::default(), &model).unwrap();
        let mut u = vec![0.0; 3];
        ascend(&model, &plan, &mut u, &Control::default()).map(|()| u)
    };
    for (found, mean) in climb("hessian-free")
        .unwrap()
        .iter()
        .zip(model.posterior_mean())
    {
        assert!((found - mean).abs() < 1e-8, "{found} for {mean}");
    }
    let refused = climb("newton").unwrap_err().to_string();
    assert!(refused.contains("hessian-free"), "{refused}");
}
