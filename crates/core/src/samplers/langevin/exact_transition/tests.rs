//! Normal posteriors in closed form; those of other forms are tried with models as text, in their crate.

use std::sync::Arc;

use super::*;
use crate::models::LogDensity as _;
use crate::oracle::Centre;
use crate::samplers::find;
use crate::samplers::testing::{
    Run, assert_moments, exact_oracle, logistic_with_centre, mean, sd, target_of,
};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

const ROWS: usize = 60;
const DIM: usize = 2;

fn gaussian() -> (GaussianRows, Arc<Centre>) {
    let model = GaussianRows::simulated(ROWS, DIM, 3);
    let centre = Centre::at(&model, &model.posterior_mean()).unwrap();
    (model, Arc::new(centre))
}

fn oracle() -> Oracle {
    let (model, centre) = gaussian();
    exact_oracle(Arc::new(model), Some(centre))
}

/// A stationary mean that is exact, and the variance 1 + tanh(h/2) Var δ̂ in units of the exact one.
#[test]
fn normal_parameters_have_the_closed_form_moments() {
    let (model, _) = gaussian();
    for (h, batch) in [(1.0, 6), (0.25, 3), (3.0, 20), (1.0, ROWS)] {
        let run = Run::new("exact-transition")
            .set("step_size", Value::Real(h))
            .set("batch", Value::Int(batch as i64))
            .set("steps_per_draw", Value::Int(1));
        let chains: Vec<_> = (1..=2)
            .map(|seed| run.clone().seed(seed).go(oracle(), 100, 20_000))
            .collect();
        for j in 0..DIM {
            let exact = model.posterior_variance()[j];
            let noise = match batch {
                ROWS => 0.0,
                _ => (ROWS * ROWS) as f64 / batch as f64 * model.score_variance()[j],
            };
            let variance = exact * (1.0 + (0.5 * h).tanh() * noise * exact);
            let series: Vec<_> = chains.iter().map(|chain| chain.coordinate(j)).collect();
            let what = format!("h {h}, {batch} rows, {j}");
            assert_moments(&what, &series, model.posterior_mean()[j], variance);
        }
    }
}

/// Numbers of a state by their names.
#[derive(Default)]
struct Read(Vec<(&'static str, Vec<f64>)>);

impl StateVisitor for Read {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        self.0.push((name, values.to_vec()));
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// From the mode and without one, from far away.
#[test]
fn the_exact_posterior_is_found_before_the_first_step() {
    let (model, _) = gaussian();
    let (means, variances) = (model.posterior_mean(), model.posterior_variance());
    let far = exact_oracle(Arc::new(gaussian().0), None);
    for oracle in [oracle(), far] {
        let mut session = Run::new("exact-transition").start(oracle);
        let mut read = Read::default();
        session.kernel.visit(&mut read);
        let found = |wanted| {
            (read.0.iter().find(|(name, _)| *name == wanted).unwrap())
                .1
                .clone()
        };
        for j in 0..DIM {
            let (mode, s) = (found("mode")[j], found("scale")[j]);
            let exact = variances[j].sqrt();
            assert!((mode - means[j]).abs() < 1e-12 * exact.max(1.0), "{mode}");
            assert!((s / exact - 1.0).abs() < 1e-12, "{s} {exact}");
        }
    }
}

/// Both gradients are of the same rows, or their difference would not be free of noise.
#[test]
fn a_pair_of_gradients_is_of_one_minibatch() {
    let (model, _) = gaussian();
    let mut oracle = oracle();
    oracle.set_estimator(Estimator::Plain, 5, crate::oracle::Scheme::Iid);
    let mut rng = stream(4, 0, Purpose::Batch);
    let (at, beside) = ([0.3, -0.2], [1.3, 0.8]);
    let (mut a, mut b) = ([0.0; DIM], [0.0; DIM]);
    oracle.grad_pair([&at, &beside], &mut rng, [&mut a, &mut b]);
    let mut exact = [0.0; DIM];
    model.log_density(&at, &mut exact);
    for j in 0..DIM {
        let precision = 1.0 / model.posterior_variance()[j];
        assert!((a[j] - b[j] - precision).abs() < 1e-9 * precision);
        assert!((a[j] - exact[j]).abs() > 1e-3, "five rows are not all rows");
    }
    assert_eq!(oracle.datum_grads, 10);
}

#[test]
fn default_steps_have_the_predicted_inflation() {
    let oracle = oracle();
    let target = target_of(&oracle);
    let noise = target.noise_ratio().unwrap();
    for (batch, most) in [(4, 0.04), (ROWS, 0.0)] {
        let run = Run::new("exact-transition").set("batch", Value::Int(batch as i64));
        let mut session = run.start(self::oracle());
        session.draw().unwrap();
        let [h, share] = [session.info[0], session.info[1]];
        let noise = if batch == ROWS {
            0.0
        } else {
            noise * (ROWS / batch) as f64
        };
        let excess = (0.5 * h).tanh() * noise;
        assert!((excess - most).abs() < 1e-12, "{excess}");
        assert!((share - excess / (1.0 + excess)).abs() < 1e-12, "{share}");
    }
    let resolved = (find("exact-transition").unwrap().resolve)(&Settings::default(), &target);
    assert_eq!(resolved.unwrap()[0].0, "step_size");
}

/// A rate that is 0, positive or negative over a given time: mean and variance of the transition.
#[test]
fn transitions_have_the_closed_form_moments() {
    let (x, drift, time) = (0.7, -0.4, 0.8);
    for rate in [0.0, 1e-9, 0.6, 2.5, -0.3] {
        let mut rng = stream(9, 0, Purpose::Noise);
        let draws: Vec<f64> = (0..40_000)
            .map(|_| ornstein_uhlenbeck(x, drift, rate, time, &mut rng))
            .collect();
        // In small steps: m' = δ − rm, v' = 2 − 2rv.
        let (mut m, mut v, steps) = (x, 0.0, 200_000);
        let dt = time / f64::from(steps);
        for _ in 0..steps {
            m += dt * (drift - rate * m);
            v += dt * (2.0 - 2.0 * rate * v);
        }
        let error = sd(&draws) / 200.0;
        assert!(
            (mean(&draws) - m).abs() < 4.0 * error,
            "{rate}: {}",
            mean(&draws)
        );
        let found = sd(&draws).powi(2);
        assert!(
            (found / v - 1.0).abs() < 4.0 * (2.0_f64 / 40_000.0).sqrt(),
            "{rate}: {found} {v}"
        );
    }
}

#[test]
fn models_of_other_forms_are_refused_with_a_reason() {
    let entry = find("exact-transition").unwrap();
    (entry.suits)(&gaussian().0).unwrap();
    let refusal = (entry.suits)(logistic_with_centre().0.as_ref()).unwrap_err();
    assert_eq!(refusal.reason, Unsuitable::NoKnownForms);
    assert_eq!(refusal.sampler, "exact-transition");
    assert!(refusal.to_string().contains("independent given the data"));
    // Precision and mean are known given each other, not by themselves.
    let y: Vec<f64> = (0..20).map(f64::from).collect();
    let columns = crate::design::MemoryColumns::new(
        "t",
        vec![("y".to_owned(), crate::design::Values::Numbers(y))],
    );
    let columns = columns.unwrap();
    let fit = |template| {
        let fit = crate::Fit::of_columns(template, "y ~ 1", &columns).unwrap();
        let fit = fit.sampler_called("exact-transition").unwrap();
        fit.chains(1).draws(10).plan().map(|_plan| ())
    };
    fit("normal-mean").unwrap();
    let refused = fit("normal-gamma").unwrap_err().to_string();
    assert!(refused.contains("independent given the data"), "{refused}");
}
