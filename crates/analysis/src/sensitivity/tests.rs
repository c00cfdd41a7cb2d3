//! A conjugate model whose densities are known, and what is refused.

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::*;
use crate::Recipe;
use crate::calibration::built_in_job;
use ergodic_base::{Control, Purpose, stream};

fn job(template: &str, changes: &[&str]) -> Job {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let recipe = Recipe::new("built-in", template, "")
        .changed(&changes)
        .unwrap();
    built_in_job(&recipe, &Control::default()).unwrap()
}

/// Independent draws of the posterior of a normal mean with prior N(m, v) and rows of variance 4.
fn normal_mean(m: f64, v: f64) -> (Job, Vec<f64>) {
    let job = job(
        "normal-mean",
        &[
            &format!("model.prior_mean={m}"),
            &format!("model.prior_variance={v}"),
            "model.variance=4.0",
        ],
    );
    let n = job.design.y.len() as f64;
    let precision = 1.0 / v + n / 4.0;
    let mean = (m / v + job.design.y.iter().sum::<f64>() / 4.0) / precision;
    let mut rng = stream(4, 0, Purpose::Noise);
    let draws = (0..2000)
        .map(|_| mean + rng.sample::<f64, _>(StandardNormal) / precision.sqrt())
        .collect();
    (job, draws)
}

fn list(columns: &[&[f64]]) -> DrawList {
    let mut list = DrawList::new(columns.len());
    for i in 0..columns[0].len() {
        let row: Vec<f64> = columns.iter().map(|column| column[i]).collect();
        list.push(&row);
    }
    list
}

#[test]
fn densities_at_the_draws_are_those_of_prior_and_likelihood() {
    for (m, v, diagnosis, words) in [
        (0.0, 100.0, Diagnosis::None, "hardly moves any parameter"),
        (
            4.0,
            0.05,
            Diagnosis::Conflict,
            "Prior and data may disagree about `theta`",
        ),
    ] {
        let (job, draws) = normal_mean(m, v);
        let (first, second) = draws.split_at(700);
        let chains = [list(&[first]), list(&[second])];
        let chains: Vec<&DrawList> = chains.iter().collect();
        let control = Control::default();
        let found = sensitivity(&job, &chains, &[], &control).unwrap();
        let log_prior: Vec<f64> = draws.iter().map(|x| -0.5 * (x - m).powi(2) / v).collect();
        let log_lik: Vec<f64> = draws
            .iter()
            .map(|x| job.design.y.iter().map(|y| -0.125 * (y - x).powi(2)).sum())
            .collect();
        let expected = PowerScaling::new(&log_prior, &log_lik).of("mu", &draws);
        let row = &found.rows[0];
        assert!(
            (row.prior / expected.prior - 1.0).abs() < 1e-6,
            "{row:?} {expected:?}"
        );
        assert!((row.likelihood / expected.likelihood - 1.0).abs() < 1e-6);
        assert_eq!((row.diagnosis, found.draws), (diagnosis, 2000));
        assert!(found.sentence().contains(words), "{}", found.sentence());
        assert_eq!(control.fraction(), Some(1.0));
    }
}

#[test]
fn what_cannot_be_power_scaled_is_refused_in_words() {
    let (job, draws) = normal_mean(0.0, 1.0);
    let control = Control::default();
    let of = |job: &Job, columns: &[&[f64]], weights: &[Vec<f64>]| {
        sensitivity(job, &[&list(columns)], weights, &control).unwrap_err()
    };
    let signed: Vec<f64> = (0..2000)
        .map(|i| if i % 9 == 0 { -1.0 } else { 1.0 })
        .collect();
    assert_eq!(of(&job, &[&draws], &[signed]), SensitivityError::Weighted);
    assert_eq!(
        of(&job, &[&draws, &draws], &[]),
        SensitivityError::Variables
    );
    assert_eq!(of(&job, &[&draws[..50]], &[]), SensitivityError::TooFew(50));
    let mut wrong = draws.clone();
    wrong[7] = f64::NAN;
    assert_eq!(of(&job, &[&wrong], &[]), SensitivityError::NotFinite(8));
    let mixture = self::job("dp-mixture", &[]);
    assert_eq!(of(&mixture, &[&draws], &[]), SensitivityError::NoDensity);
    control.cancel();
    assert_eq!(of(&job, &[&draws], &[]), SensitivityError::Cancelled);
}
