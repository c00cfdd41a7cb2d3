//! Unbiasedness over all minibatches of a tiny data set, identities at the centre, thread independence.

use super::*;
use crate::design::ResponseUse;
use crate::models::ModelOptions;
use crate::samplers::testing::logistic_with_centre;
use crate::testing::{GaussianRows, built_by, table_of};
use ergodic_base::{Purpose, stream};

fn oracle(model: &Arc<GaussianRows>, centred: bool, parallel: bool) -> Oracle {
    let centre =
        centred.then(|| Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap()));
    Oracle::new(
        Arc::clone(model) as Arc<dyn Model>,
        centre,
        parallel,
        Arc::default(),
    )
}

#[test]
fn full_batch_estimates_equal_the_exact_gradient() {
    let model = Arc::new(GaussianRows::simulated(50, 3, 1));
    let u = [0.3, -0.2, 0.1];
    for (centred, estimator) in [(false, Estimator::Plain), (true, Estimator::ControlVariate)] {
        let mut oracle = oracle(&model, centred, false);
        oracle.set_estimator(estimator, 50, Scheme::Iid);
        let (mut exact, mut estimate, mut scored) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        oracle.exact(&u, &mut exact).unwrap();
        let mut rng = stream(1, 0, Purpose::Batch);
        oracle.grad(&u, &mut rng, &mut estimate);
        oracle.grad_scores(&u, &mut rng, &mut scored, &mut Vec::new());
        for j in 0..3 {
            assert!((estimate[j] - exact[j]).abs() < 1e-9 * exact[j].abs().max(1.0));
            assert!((scored[j] - exact[j]).abs() < 1e-9 * exact[j].abs().max(1.0));
        }
    }
}

#[test]
fn one_row_estimates_average_to_the_exact_gradient() {
    // Unbiasedness for batch 1: the mean over all N equally likely batches, drawn as spans of one row.
    let model = Arc::new(GaussianRows::simulated(7, 2, 2));
    let u = [0.4, -1.0];
    let mut exact = [0.0; 2];
    oracle(&model, false, false).exact(&u, &mut exact).unwrap();
    for (centred, estimator) in [(false, Estimator::Plain), (true, Estimator::ControlVariate)] {
        let mut oracle = oracle(&model, centred, false);
        oracle.set_estimator(estimator, 1, Scheme::Epoch);
        let mut rng = stream(3, 0, Purpose::Batch);
        let mut mean = [0.0; 2];
        for _ in 0..7 {
            let mut estimate = [0.0; 2];
            oracle.grad(&u, &mut rng, &mut estimate);
            for j in 0..2 {
                mean[j] += estimate[j] / 7.0;
            }
        }
        for j in 0..2 {
            assert!((mean[j] - exact[j]).abs() < 1e-9, "{estimator:?}");
        }
    }
}

#[test]
fn control_variates_have_no_noise_at_the_centre() {
    let model = Arc::new(GaussianRows::simulated(1000, 2, 4));
    let mut oracle = oracle(&model, true, false);
    oracle.set_estimator(Estimator::ControlVariate, 5, Scheme::Iid);
    let mode = oracle.centre().unwrap().u.clone();
    let (mut exact, mut estimate) = ([0.0; 2], [0.0; 2]);
    oracle.exact(&mode, &mut exact).unwrap();
    oracle.grad(&mode, &mut stream(5, 0, Purpose::Batch), &mut estimate);
    for j in 0..2 {
        assert!((estimate[j] - exact[j]).abs() < 1e-8);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let model = Arc::new(GaussianRows::simulated(20_000, 3, 6));
    let u = [0.1, 0.2, 0.3];
    let (mut serial, mut threaded) = ([0.0; 3], [0.0; 3]);
    let value = oracle(&model, false, false).exact(&u, &mut serial).unwrap();
    let same = oracle(&model, false, true)
        .exact(&u, &mut threaded)
        .unwrap();
    assert_eq!(value.to_bits(), same.to_bits());
    assert_eq!(serial.map(f64::to_bits), threaded.map(f64::to_bits));
}

#[test]
fn a_raised_interrupt_ends_an_exact_pass() {
    let model = Arc::new(GaussianRows::simulated(100, 2, 7));
    let interrupt = Arc::new(AtomicBool::new(true));
    let mut oracle = Oracle::new(model as Arc<dyn Model>, None, false, interrupt);
    assert_eq!(
        oracle.exact(&[0.0, 0.0], &mut [0.0, 0.0]),
        Err(StepError::Interrupted)
    );
    assert_eq!(oracle.datum_grads, 0);
}

/// Where sums say all of the rows, the rows are not looked at, and what is said is the same.
#[test]
fn sums_over_rows_take_the_place_of_passes() {
    const ROWS: usize = 5000;
    let x: Vec<f64> = (0..ROWS).map(|i| (i as f64).sin()).collect();
    let y = (0..ROWS).map(|i| (1.7 * i as f64).cos() + x[i]).collect();
    let table = table_of(vec![("y", y), ("x", x)]);
    let options = ModelOptions::default();
    let model = built_by("linear", &table, "y ~ x", ResponseUse::Number, &options).unwrap();
    let u = [0.3, -0.4, 0.2];
    let mut grad = [0.0; 3];
    let mut oracle = Oracle::new(Arc::clone(&model), None, false, Arc::default());
    let value = oracle.exact(&u, &mut grad).unwrap();
    assert_eq!(oracle.datum_grads, 2);
    let rows = model.rows().unwrap();
    let (all, mut scratch) = (
        Rows::Span {
            start: 0,
            len: ROWS,
        },
        rows.scratch(),
    );
    let mut expected = [0.0; 3];
    let mut of_rows = rows.log_prior(&u, &mut expected);
    of_rows += rows.log_lik(&u, all, &mut scratch, &mut expected);
    assert!((value - of_rows).abs() < 1e-9 * of_rows.abs());
    for j in 0..3 {
        let off = (grad[j] - expected[j]).abs();
        assert!(
            off < 1e-9 * expected[j].abs().max(1.0),
            "{grad:?} {expected:?}"
        );
    }
}

#[test]
fn a_well_specified_gaussian_has_noise_ratio_one() {
    let model = GaussianRows::simulated(20_000, 2, 8);
    let centre = Centre::at(&model, &model.posterior_mean()).unwrap();
    // The largest of two eigenvalues estimated from 20,000 rows: relative error sqrt(2/20000), times three.
    let ratio = centre.noise(Some(&model)).ratio;
    assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
}

#[test]
fn noise_is_averaged_over_all_points_until_they_would_take_minutes() {
    let of = |dim| row_noise::typical_points(dim).collect::<Vec<_>>();
    for dim in [1, 3, 400] {
        assert_eq!(of(dim), (0..2 * dim).collect::<Vec<_>>());
    }
    for dim in [401, 1000, 3000] {
        let some = of(dim);
        assert!(some.len() * dim * dim <= 800 * 400 * 400 && !some.is_empty());
        assert!(some.is_sorted() && some[some.len() - 1] < 2 * dim);
        // From the whole range, not its beginning.
        assert!(some[some.len() - 1] > 2 * dim - 2 * (2 * dim / some.len()) - 1);
    }
}

/// Centred at a point of which nothing is known but gradients, estimates from single rows average to the exact gradient, calmer than plain ones;
/// at the point itself each is exact. The pass there is made once.
#[test]
fn gradients_are_centred_where_no_curvature_is_known() {
    let (model, _mode) = logistic_with_centre();
    let rows = model.num_obs();
    let (point, u) = ([0.5, -0.3], [0.2, 0.4]);
    let mut oracle = Oracle::new(Arc::clone(&model), None, false, Arc::default());
    // The mean of the estimates from each row, alone or with scores, and the mean of their squared distances from the exact gradient.
    let estimates = |oracle: &mut Oracle, u: &[f64; 2]| {
        let mut exact = [0.0; 2];
        oracle.exact(u, &mut exact).unwrap();
        let mut rng = stream(3, 0, Purpose::Batch);
        [false, true].map(|scored| {
            let mut square = 0.0;
            let mut error = [0.0; 2];
            for _ in 0..rows {
                let mut grad = [0.0; 2];
                if scored {
                    oracle.grad_scores(u, &mut rng, &mut grad, &mut Vec::new());
                } else {
                    oracle.grad(u, &mut rng, &mut grad);
                }
                for j in 0..2 {
                    let off = grad[j] - exact[j];
                    square += off * off / rows as f64;
                    error[j] += off / rows as f64;
                }
            }
            assert!(error.iter().all(|off| off.abs() < 1e-9), "{error:?}");
            square
        })
    };
    oracle.set_estimator(Estimator::ControlVariate, 1, Scheme::Epoch);
    let plain = estimates(&mut oracle, &u);
    oracle.set_estimator(Estimator::ControlVariate, 1, Scheme::Epoch);
    let before = oracle.datum_grads;
    oracle.centre_at(&point).unwrap();
    oracle.centre_at(&point).unwrap();
    assert_eq!(oracle.datum_grads, before + rows as u64);
    let centred = estimates(&mut oracle, &u);
    for (centred, plain) in centred.into_iter().zip(plain) {
        assert!(centred > 1e-6 && 4.0 * centred < plain, "{centred} {plain}");
    }
    assert!(estimates(&mut oracle, &point).iter().all(|s| *s < 1e-18));
}
