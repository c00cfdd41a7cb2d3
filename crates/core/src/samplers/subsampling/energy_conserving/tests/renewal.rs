//! Renewal of the centre and the metric at fixed times of warm-up.

use std::sync::Arc;

use crate::oracle::Centre;
use crate::samplers::StateVisitor;
use crate::samplers::testing::{Run, exact_oracle, logistic_with_centre};
use ergodic_base::settings::Value;

const WARMUP: u64 = 300;
const EVERY: u64 = 60;

#[derive(Default)]
struct Parts {
    point: Vec<f64>,
    metric: Vec<f64>,
}

impl StateVisitor for Parts {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        match name {
            "expansion_point" => self.point = values.to_vec(),
            "inverse_metric" => self.metric = values.to_vec(),
            _ => {}
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// At each due time the centre is the mean of the positions since the last one, and the inverse metric the inverse curvature there;
/// in between, late in warm-up and afterwards both stay.
#[test]
fn centre_and_metric_are_renewed_when_due() {
    let (model, centre) = logistic_with_centre();
    for id in ["hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        let run = Run::new(id).set("renew_every", Value::Int(EVERY as i64));
        let mut session = run.start(exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))));
        let (mut sum, mut last) = (vec![0.0; 2], centre.u.clone());
        let mut renewals = 0;
        while session.iter < WARMUP + 100 {
            session.advance(WARMUP).unwrap();
            for (sum, u) in sum.iter_mut().zip(session.kernel.position()) {
                *sum += u;
            }
            let mut now = Parts::default();
            session.kernel.visit(&mut now);
            if session.iter.is_multiple_of(EVERY) && session.iter < WARMUP {
                let mean: Vec<f64> = sum.iter().map(|sum| sum / EVERY as f64).collect();
                for (found, mean) in now.point.iter().zip(&mean) {
                    assert!((found - mean).abs() < 1e-12 * (1.0 + mean.abs()), "{id}");
                }
                let there = Centre::at(model.density().unwrap(), &now.point).unwrap();
                for (found, expected) in now.metric.iter().zip(&there.covariance) {
                    assert!(
                        (found / expected - 1.0).abs() < 1e-8,
                        "{id}: {found} {expected}"
                    );
                }
                assert_ne!(now.point, last);
                (sum, last) = (vec![0.0; 2], now.point);
                renewals += 1;
            } else {
                assert_eq!(now.point, last, "{id}, iteration {}", session.iter);
            }
        }
        assert_eq!(renewals, 4);
    }
}

#[test]
fn too_few_draws_for_a_mean_are_refused() {
    let (model, centre) = logistic_with_centre();
    let run = Run::new("hmc-ecs").set("renew_every", Value::Int(5));
    let error = run
        .try_start(exact_oracle(model, Some(centre)))
        .err()
        .unwrap();
    assert!(error.to_string().contains("`renew_every` is 5"), "{error}");
}
