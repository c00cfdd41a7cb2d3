//! Numbers of arviz, and normal posteriors whose power-scaled forms are known.

use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::*;
use ergodic_base::{Purpose, stream};

#[derive(Deserialize)]
struct Smoothing {
    log_ratios: Vec<f64>,
    weights: Vec<f64>,
    k: f64,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    draws: Vec<f64>,
    prior: f64,
    likelihood: f64,
}

#[derive(Deserialize)]
struct Reference {
    smoothing: Vec<Smoothing>,
    log_prior: Vec<f64>,
    log_lik: Vec<f64>,
    variables: Vec<Variable>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!(
        "../../../../tests/reference/power_scaling.json"
    ))
    .unwrap()
}

fn assert_near(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= 1e-9 * expected.abs().max(1e-9),
        "{what}: {found} {expected}"
    );
}

#[test]
fn smoothed_weights_are_those_of_arviz() {
    for (i, case) in reference().smoothing.iter().enumerate() {
        let found = smooth(&case.log_ratios, 1.0);
        assert_near(found.k, case.k, &format!("k of case {i}"));
        for (j, (found, expected)) in found.weights.iter().zip(&case.weights).enumerate() {
            assert_near(*found, *expected, &format!("weight {j} of case {i}"));
        }
    }
    // Too few draws for a tail: as they are.
    let few = smooth(&[0.0, 1.0, 0.5], 1.0);
    assert_eq!(few.k, f64::INFINITY);
    assert_near(
        few.weights[1],
        1.0 / (1.0 + (-1.0_f64).exp() + (-0.5_f64).exp()),
        "few",
    );
}

#[test]
fn sensitivities_are_those_of_arviz() {
    let reference = reference();
    let mut scaling = PowerScaling::new(&reference.log_prior, &reference.log_lik);
    for variable in &reference.variables {
        let found = scaling.of(variable.name.as_str(), &variable.draws);
        // Divergences of nearly equal samples keep half of the digits.
        for (found, expected) in [
            (found.prior, variable.prior),
            (found.likelihood, variable.likelihood),
        ] {
            let error = (found - expected).abs();
            assert!(
                error < 1e-6 * expected,
                "{}: {found} {expected}",
                variable.name
            );
        }
    }
}

const DRAWS: usize = 20_000;

/// A normal posterior of a mean with prior N(m, t²) and likelihood N(y, s²).
struct Conjugate {
    prior: [f64; 2],
    data: [f64; 2],
}

impl Conjugate {
    /// Mean and standard deviation with prior and likelihood raised to powers.
    fn posterior(&self, prior: f64, likelihood: f64) -> [f64; 2] {
        let [a, b] = [
            prior / self.prior[1].powi(2),
            likelihood / self.data[1].powi(2),
        ];
        [
            (a * self.prior[0] + b * self.data[0]) / (a + b),
            (a + b).powf(-0.5),
        ]
    }

    fn draws(&self) -> Vec<f64> {
        let [mean, sd] = self.posterior(1.0, 1.0);
        let mut rng = stream(8, 0, Purpose::Noise);
        (0..DRAWS)
            .map(|_| mean + sd * rng.sample::<f64, _>(StandardNormal))
            .collect()
    }

    fn scaling(&self, draws: &[f64]) -> PowerScaling {
        let log = |[mean, sd]: [f64; 2]| -> Vec<f64> {
            let log = |x: &f64| -0.5 * ((x - mean) / sd).powi(2);
            draws.iter().map(log).collect()
        };
        PowerScaling::new(&log(self.prior), &log(self.data))
    }

    /// The distance between the exact distribution functions over the range of the draws, per doubling.
    fn sensitivity(&self, draws: &[f64], powers: impl Fn(f64) -> [f64; 2]) -> f64 {
        const STEPS: usize = 20_000;
        let (low, high) = draws.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| {
            (low.min(x), high.max(x))
        });
        let normal = |[mean, sd]: [f64; 2]| Normal::new(mean, sd).unwrap();
        let base = normal(self.posterior(1.0, 1.0));
        let total: f64 = POWERS
            .iter()
            .map(|&power| {
                let [prior, likelihood] = powers(power);
                let scaled = normal(self.posterior(prior, likelihood));
                let side = |flip: bool| {
                    let (mut divergence, mut bound) = (0.0, 0.0);
                    for k in 0..STEPS {
                        let x = low + (high - low) * (k as f64 + 0.5) / STEPS as f64;
                        let at = |normal: &Normal| if flip { normal.sf(x) } else { normal.cdf(x) };
                        let (p, q) = (at(&base), at(&scaled));
                        let m = 0.5 * (p + q);
                        divergence += p * (p / m).log2() + q * (q / m).log2();
                        bound += p + q;
                    }
                    (divergence / bound).sqrt()
                };
                side(false).max(side(true))
            })
            .sum();
        total / (2.0 * POWERS[1].log2())
    }
}

#[test]
fn a_power_scaled_normal_posterior_is_the_exact_one() {
    let model = Conjugate {
        prior: [0.0, 1.0],
        data: [2.0, 0.7],
    };
    let draws = model.draws();
    let mut scaling = model.scaling(&draws);
    assert!(!scaling.prior.is_unreliable() && !scaling.likelihood.is_unreliable());
    let plain = draws.iter().sum::<f64>() / DRAWS as f64;
    let [mean, _sd] = model.posterior(1.0, 1.0);
    for (scaled, is_prior) in [(&scaling.prior, true), (&scaling.likelihood, false)] {
        for (weights, power) in scaled.weights.iter().zip(POWERS) {
            let moved: f64 = weights.iter().zip(&draws).map(|(w, x)| w * x).sum::<f64>() - plain;
            let exact = if is_prior {
                model.posterior(power, 1.0)[0] - mean
            } else {
                model.posterior(1.0, power)[0] - mean
            };
            // The shift is a mean of (n w − 1) (x − mean).
            let squares: f64 = weights
                .iter()
                .zip(&draws)
                .map(|(w, x)| ((DRAWS as f64 * w - 1.0) * (x - mean)).powi(2))
                .sum();
            let error = squares.sqrt() / DRAWS as f64;
            assert!(
                (moved - exact).abs() < 4.0 * error,
                "{power}: {moved} {exact} ± {error}"
            );
            assert!(error < 0.05 * exact.abs(), "the test could not fail");
        }
    }
    let found = scaling.of("mu", &draws);
    let prior = model.sensitivity(&draws, |power| [power, 1.0]);
    let likelihood = model.sensitivity(&draws, |power| [1.0, power]);
    assert!(
        (found.prior / prior - 1.0).abs() < 0.05,
        "{found:?} {prior}"
    );
    assert!(
        (found.likelihood / likelihood - 1.0).abs() < 0.05,
        "{found:?} {likelihood}"
    );
}

#[test]
fn conflicts_and_strong_priors_are_told_apart() {
    for (prior, data, diagnosis) in [
        ([0.0, 10.0], [2.0, 1.0], Diagnosis::None),
        ([0.0, 1.0], [6.0, 1.0], Diagnosis::Conflict),
        ([0.0, 1.0], [0.1, 20.0], Diagnosis::StrongPrior),
    ] {
        let model = Conjugate { prior, data };
        let draws = model.draws();
        let found = model.scaling(&draws).of("mu", &draws);
        assert_eq!(found.diagnosis, diagnosis, "{found:?}");
        // Neither unit nor sign matters.
        let others: Vec<f64> = draws.iter().map(|x| -1e6 * x).collect();
        let other = model.scaling(&draws).of("mu", &others);
        assert!(
            (other.prior / found.prior - 1.0).abs() < 1e-6,
            "{other:?} {found:?}"
        );
    }
    // A flat prior and a quantity that never moves.
    let mut flat = PowerScaling::new(&[0.0; 100], &[1.0; 100]);
    assert!(!flat.prior.is_unreliable());
    let found = flat.of("constant", &[3.0; 100]);
    assert_eq!(
        (found.prior, found.likelihood, found.diagnosis),
        (0.0, 0.0, Diagnosis::None)
    );
}
