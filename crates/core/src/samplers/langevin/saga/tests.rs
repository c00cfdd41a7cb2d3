//! Unbiasedness, closed forms on a Gaussian posterior, the predicted noise on a logistic one, and the table's two forms.

use std::sync::Arc;

use super::*;
use crate::models::Rows;
use crate::oracle::{Centre, Scheme};
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::conformance::Checkpoint;
use crate::samplers::langevin::svrg::SvrgLd;
use crate::samplers::testing::{Run, exact_oracle, logistic_with_centre};
use crate::testing::GaussianRows;
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};

/// Each row's gradient is subtracted and added once, so the mean over all minibatches of one row is the exact gradient,
/// whatever positions the table remembers; and the sum stays that of the rows.
#[test]
fn estimates_by_table_are_unbiased_and_the_sum_is_that_of_the_rows() {
    let gaussian = Arc::new(GaussianRows::simulated(40, 2, 51)) as Arc<dyn Model>;
    for (model, per_row) in [
        (logistic_with_centre().0, true),
        (Arc::clone(&gaussian), true),
        (gaussian, false),
    ] {
        let (n, dim) = (model.num_obs(), model.dim());
        let mut oracle = exact_oracle(Arc::clone(&model), None);
        oracle.set_estimator(Estimator::Plain, 7, Scheme::Iid);
        let mut table = RowTable::empty(&oracle, per_row).unwrap();
        table.renew(&mut oracle, &[0.3, -0.6]).unwrap();
        let mut rng = stream(52, 0, Purpose::Batch);
        let mut grad = vec![0.0; dim];
        if per_row {
            // Seven rows at a time, some of them twice, at different positions.
            for k in 0..30 {
                let u = [0.1 * f64::from(k), 0.5 - 0.03 * f64::from(k)];
                oracle.grad_by_table(&u, &mut rng, &mut table, Keep::New, &mut grad);
            }
        }
        let u = [-0.2, 0.4];
        let mut exact = vec![0.0; dim];
        oracle.exact(&u, &mut exact).unwrap();
        oracle.set_estimator(Estimator::Plain, 1, Scheme::Epoch);
        let mut mean = vec![0.0; dim];
        for _ in 0..n {
            oracle.grad_by_table(&u, &mut rng, &mut table, Keep::Old, &mut grad);
            for j in 0..dim {
                mean[j] += grad[j] / n as f64;
            }
        }
        for j in 0..dim {
            assert!((mean[j] - exact[j]).abs() < 1e-10, "{mean:?} {exact:?}");
        }
    }
}

/// A table of numbers (linear rows) and a table of vectors give the same estimates.
#[test]
fn slopes_are_scores_without_their_direction() {
    let model = logistic_with_centre().0;
    let u = [0.3, -0.6];
    let mut slopes = vec![0.0; 40];
    let mut scores = vec![0.0; 80];
    let mut scratch = model.rows().unwrap().scratch();
    let linear = model.linear_rows().unwrap();
    linear.slopes(&u, Rows::All, &mut scratch, &mut slopes);
    model
        .rows()
        .unwrap()
        .scores(&u, Rows::All, &mut scratch, &mut scores);
    for row in 0..40 {
        for j in 0..2 {
            let expected = slopes[row] * linear.covariates(row).to_vec()[j];
            assert!((scores[2 * row + j] - expected).abs() < 1e-14);
        }
        let z = linear.predictor(row, &u);
        assert!((slopes[row] - linear.derivatives(row, z)[1]).abs() < 1e-14);
    }
}

/// On a Gaussian, gradient differences are the same for all rows at the same age: with all rows as old as the renewal, SVRG
/// has no noise, and its chain has the variance of exact gradients, 1/(1 − h/2).
#[test]
fn svrg_has_no_gradient_noise_on_a_gaussian() {
    let model = Arc::new(GaussianRows::simulated(1000, 2, 53));
    let start = model.posterior_mean();
    let centre = Arc::new(Centre::at(model.as_ref(), &start).unwrap());
    let h = 0.4;
    let given = settings(&[("step_size", Value::Real(h)), ("batch", Value::Int(3))]);
    let mut chain = Chain::<SvrgLd>::start(model.clone(), Some(centre), &given, &start, 6);
    let draws = chain.draws(200, 60_000, 1);
    for j in 0..2 {
        let variance = model.posterior_variance()[j] / (1.0 - 0.5 * h);
        let mean = model.posterior_mean()[j];
        Moments::of(&draws[j]).assert_autoregressive(mean, variance, 1.0 - h, "svrg");
    }
}

/// On a Gaussian SAGA is linear in θ and the positions φ_i that rows remember. With g = hp/H (p the row's precision) and m_i
/// the times row i was drawn,
///
/// θ' = (1−h) θ + g Σ_i (N m_i/B − 1) φ_i + sqrt(2h/H) ξ,  φ_i' = θ where m_i > 0, else φ_i,
///
/// so the second moments of θ and φ solve a linear recursion, exactly.
#[test]
fn saga_has_its_closed_form_variance_on_a_gaussian() {
    let (n, batch, h) = (60, 2, 0.5);
    let model = Arc::new(GaussianRows::simulated(n, 1, 54));
    let start = model.posterior_mean();
    let centre = Arc::new(Centre::at(model.as_ref(), &start).unwrap());
    let given = settings(&[("step_size", Value::Real(h)), ("batch", Value::Int(batch))]);
    let mut chain = Chain::<SagaLd>::start(model.clone(), Some(centre), &given, &start, 7);
    let draws = chain.draws(500, 200_000, 1);

    let (n, b) = (n as f64, batch as f64);
    let variance = model.posterior_variance()[0];
    let g = h * variance;
    let out = (1.0 - 1.0 / n).powf(b);
    let none = (1.0 - 2.0 / n).powf(b);
    let one = 2.0 * (out - none);
    // E θ², E θφ_i, E φ_i², E φ_iφ_j.
    let (mut s, mut d, mut v, mut c) = (variance, 0.0, 0.0, 0.0);
    for _ in 0..5000 {
        (s, d, v, c) = (
            (1.0 - h).powi(2) * s + 2.0 * h * variance + g * g * n * (n - 1.0) / b * (v - c),
            (1.0 - out) * (1.0 - h) * s + out * ((1.0 - h) * d + g * (c - v)),
            (1.0 - out) * s + out * v,
            (1.0 - none - one) * s + one * d + none * c,
        );
    }
    let exact = variance / (1.0 - 0.5 * h);
    assert!(
        s > 1.1 * exact,
        "the noise of the table matters: {}",
        s / exact
    );
    let mean = model.posterior_mean()[0];
    Moments::of(&draws[0]).assert_autoregressive(mean, s, 1.0 - h, "saga");
    // The rule behind the default step agrees with the recursion; κ is 0 here.
    let age = h * n / b;
    let noise = age / (1.0 + age) / b;
    let predicted = variance * (1.0 + 0.5 * h * noise) / (1.0 - 0.5 * h);
    assert!((predicted / s - 1.0).abs() < 0.1, "{predicted} {s}");
}

#[test]
fn the_default_step_solves_its_equation() {
    let (plain, centred) = (f64::NAN, 0.5);
    for noise in [
        Noise::Geometric { age: 100.0 },
        Noise::Geometric { age: 2.0 },
        Noise::Periodic { period: 100.0 },
        Noise::Periodic { period: 1.0 },
    ] {
        let h = noise.step(0.04, plain, centred);
        let v = match noise {
            Noise::Geometric { age } => 2.0 * centred * h * age / (1.0 + h * age),
            Noise::Periodic { period } => {
                (0..period as i32)
                    .map(|k| 1.0 - (1.0 - h).powi(k))
                    .sum::<f64>()
                    / period
                    * 2.0
                    * centred
            }
            _ => unreachable!(),
        };
        let variance = (2.0 * h + h * h * v) / (1.0 - (1.0 - h) * (1.0 - h));
        assert!((variance - 1.04).abs() < 1e-9, "{noise:?}: {variance}");
    }
}

/// The conformance suite restores tables of vectors; here tables of numbers, which is what regressions have.
#[test]
fn chains_with_linear_rows_continue_bit_for_bit() {
    for id in ["saga-ld", "svrg-ld"] {
        let run = Run::new(id).set("batch", Value::Int(5));
        let start = |seed| {
            let (model, centre) = logistic_with_centre();
            run.clone()
                .seed(seed)
                .start(exact_oracle(model, Some(centre)))
        };
        let mut session = start(1);
        for _ in 0..13 {
            session.advance(5).unwrap();
        }
        let checkpoint = Checkpoint::of(&mut session);
        let mut other = start(99);
        for _ in 0..3 {
            other.advance(5).unwrap();
        }
        checkpoint.restore(&mut other);
        for _ in 0..20 {
            session.advance(5).unwrap();
            other.advance(5).unwrap();
            assert_eq!(session.bits(), other.bits(), "{id}");
        }
    }
}

/// A table that does not fit is refused, with its size and a way out.
#[test]
fn tables_that_would_not_fit_are_refused_with_their_size() {
    let message = check_size(1.6e10).unwrap_err().to_string();
    assert!(
        message.contains("14.9 GiB") && message.contains("svrg-ld"),
        "{message}"
    );
    let model = GaussianRows::simulated(1000, 2, 1);
    assert_eq!(RowTable::bytes(&model), 16_000.0);
    assert_eq!(RowTable::bytes(logistic_with_centre().0.as_ref()), 320.0);
    assert!(SagaLd::suits(&model).is_ok());
}
