//! Parts of Gibbs samplers of mixed models: sums over rows, mixtures of normals, moves that leave predictors alone.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::marginal::{Block, CoefficientPrior, Division, divide};
use super::statistics::Statistics;
use super::testing::nested_mixed;
use super::{Spread, nesting, normal_given, shifts};
use crate::models::Prior;
use crate::models::mixed::MixedEffects;
use crate::samplers::testing::estimate;
use ergodic_base::linalg::{Cholesky, dot};
use ergodic_base::{ChainRng, Purpose, stream};

fn random_state(view: &dyn MixedEffects, dim: usize, rng: &mut ChainRng) -> (Vec<f64>, Vec<f64>) {
    let u = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let effects = (0..view.num_effects()).map(|_| rng.random_range(-1.0..1.0));
    (u, effects.collect())
}

/// x'β and z'r of a row by term.
fn parts(view: &dyn MixedEffects, row: usize, beta: &[f64], effects: &[f64]) -> (f64, Vec<f64>) {
    let by_term = view.terms().iter().map(|term| {
        let (z, at) = term.row(row);
        dot(z, &effects[at..at + z.len()])
    });
    (dot(view.covariates(row), beta), by_term.collect())
}

#[test]
fn sums_over_rows_are_those_of_the_rows() {
    let model = nested_mixed("gaussian", &[], true);
    let (view, n) = (model.mixed_effects().unwrap(), model.num_obs());
    let p = view.num_coefficients();
    let statistics = Statistics::of(view, n).unwrap();
    let mut rng = stream(3, 0, Purpose::Data);
    let (u, effects) = random_state(view, model.dim(), &mut rng);
    let mut expected = 0.0;
    for row in 0..n {
        let (fixed, varying) = parts(view, row, &u[..p], &effects);
        let [y, weight] = view.normal_row(row).unwrap();
        expected += weight * (y - fixed - varying.iter().sum::<f64>()).powi(2);
    }
    let found = statistics.residual_sum(&u[..p], &effects).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
    for (t, term) in view.terms().iter().enumerate() {
        let mut zy = vec![0.0; term.effects.len()];
        let mut zy_found = zy.clone();
        for row in 0..n {
            let varying = parts(view, row, &u[..p], &effects).1;
            let others = varying.iter().sum::<f64>() - varying[t];
            let [y, weight] = view.normal_row(row).unwrap();
            let (z, at) = term.row(row);
            for (k, z) in z.iter().enumerate() {
                zy[at - term.start + k] += weight * z * (y - others);
            }
        }
        statistics.response_without(t, &effects, &mut zy_found);
        for (found, expected) in zy_found.iter().zip(&zy) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}

/// The log density of scales and σ with coefficients and effects integrated out is that of rows with the covariance
/// σ²W⁻¹ + X Λ⁻¹ X' + Z Σ Z', in blocks of one term and of all.
#[test]
fn the_marginal_density_of_scales_is_that_of_the_rows() {
    let model = nested_mixed("gaussian", &[], true);
    let (view, n) = (model.mixed_effects().unwrap(), model.num_obs());
    let (p, terms) = (view.num_coefficients(), view.terms());
    let statistics = Statistics::of(view, n).unwrap();
    let mut rng = stream(8, 0, Purpose::Data);
    let (mut u, effects) = random_state(view, model.dim(), &mut rng);
    let mut lambda = vec![0.0; p * p];
    lambda
        .iter_mut()
        .step_by(p + 1)
        .for_each(|entry| *entry = 0.3);
    let linear: Vec<f64> = (0..p).map(|j| 0.1 * (1.0 + j as f64)).collect();
    let prior = CoefficientPrior {
        precision: &lambda,
        linear: &linear,
    };
    // Log density of y less the effects that stand still, and the priors of scales.
    let by_rows = |u: &[f64], block: &[usize]| {
        let mut covariance = vec![0.0; n * n];
        let mut rest = vec![0.0; n];
        let spreads: Vec<Spread> = terms
            .iter()
            .map(|term| Spread::at(term, &u[term.scales.clone()]))
            .collect();
        for i in 0..n {
            let [y, weight] = view.normal_row(i).unwrap();
            rest[i] = y;
            for j in 0..p {
                rest[i] -= view.covariates(i)[j] * linear[j] / 0.3;
            }
            covariance[i * n + i] += (2.0 * u[p]).exp() / weight;
            for k in 0..n {
                let (a, b) = (view.covariates(i), view.covariates(k));
                covariance[i * n + k] += dot(a, b) / 0.3;
            }
            for (t, term) in terms.iter().enumerate() {
                let (z, at) = term.row(i);
                if !block.contains(&t) {
                    rest[i] -= dot(z, &effects[at..at + z.len()]);
                    continue;
                }
                let lower = &spreads[t].lower;
                for k in 0..n {
                    let (other, there) = term.row(k);
                    if at == there {
                        for c in 0..z.len() {
                            let sum =
                                |z: &[f64]| (c..z.len()).map(|j| z[j] * lower[j][c]).sum::<f64>();
                            covariance[i * n + k] += sum(z) * sum(other);
                        }
                    }
                }
            }
        }
        let factor = Cholesky::of(&covariance, n).unwrap();
        factor.solve_lower(&mut rest);
        let priors = block
            .iter()
            .map(|&t| terms[t].log_prior_of_scales(&u[terms[t].scales.clone()]));
        view.auxiliary_prior(0, u[p])[0] + priors.sum::<f64>()
            - 0.5 * (dot(&rest, &rest) + factor.log_det())
    };
    assert_eq!(
        divide(view),
        Division {
            blocks: vec![vec![1, 0]],
            single: Vec::new()
        }
    );
    for block in [vec![1, 0], vec![0, 1], vec![0], vec![1]] {
        let mut marginal = Block::new(view, &statistics, &block).unwrap();
        let squares = statistics.residual_sum(&u[..p], &effects).unwrap();
        marginal.prepare(view, &statistics, squares, &u, &effects);
        let here = marginal.log_density(view, &statistics, prior, &u, &effects);
        let expected_here = by_rows(&u, &block);
        let before = u.clone();
        for trial in 0..5 {
            u[p] = rng.random_range(-1.5..0.5);
            for term in terms {
                u[term.scales.clone()].fill_with(|| rng.random_range(-1.5..1.0));
            }
            // Terms outside of the block stand still.
            for (t, term) in terms.iter().enumerate() {
                if !block.contains(&t) {
                    u[term.scales.clone()].copy_from_slice(&before[term.scales.clone()]);
                }
            }
            let found = marginal.log_density(view, &statistics, prior, &u, &effects) - here;
            let expected = by_rows(&u, &block) - expected_here;
            assert!(
                (found - expected).abs() < 1e-8 * (1.0 + expected.abs()),
                "{block:?} {trial}: {found} {expected}"
            );
        }
        u.copy_from_slice(&before);
    }
}

/// Drawing a value given its precision and the precision given the value leaves the prior as it is.
#[test]
fn mixtures_of_normals_have_the_prior() {
    let laplace = Prior::Laplace {
        location: 0.3,
        scale: 2.0,
    };
    let student = Prior::StudentT {
        df: 3.0,
        location: -1.0,
        scale: 0.5,
    };
    // Distances from the centre that half of all draws, and nine in ten, do not exceed.
    let cases = [
        (laplace, 2.0, [2.0_f64.ln(), 10.0_f64.ln()]),
        (student, 0.5, [0.764_892, 2.353_363]),
    ];
    for (prior, scale, quantiles) in cases {
        let mut rng = stream(4, 0, Purpose::Noise);
        let mut z = prior.location();
        let mut inside = vec![Vec::new(); 2];
        for _ in 0..40_000 {
            let [precision, location] = normal_given(&prior, z, &mut rng);
            let normal: f64 = StandardNormal.sample(&mut rng);
            z = location + normal / precision.sqrt();
            for (inside, quantile) in inside.iter_mut().zip(quantiles) {
                let distance = (z - location).abs() / scale;
                inside.push(f64::from(u8::from(distance < quantile)));
            }
        }
        for (inside, share) in inside.into_iter().zip([0.5, 0.9]) {
            let (found, error) = estimate(&[inside]);
            assert!(
                (found - share).abs() < 4.0 * error && error < 0.02,
                "{prior}: {found} ± {error}"
            );
        }
    }
}

#[test]
fn moves_between_parameters_leave_all_predictors_as_they_are() {
    let model = nested_mixed("bernoulli", &[("b", "student_t(3, 0, 1)")], false);
    let (view, n) = (model.mixed_effects().unwrap(), model.num_obs());
    let (p, terms) = (view.num_coefficients(), view.terms());
    let mut rng = stream(5, 0, Purpose::Noise);
    let (mut u, mut effects) = random_state(view, model.dim(), &mut rng);
    let spreads: Vec<Spread> = terms
        .iter()
        .map(|term| Spread::at(term, &u[term.scales.clone()]))
        .collect();
    let predictors = |u: &[f64], effects: &[f64]| -> Vec<f64> {
        (0..n)
            .map(|row| {
                let (fixed, varying) = parts(view, row, &u[..p], effects);
                fixed + varying.iter().sum::<f64>()
            })
            .collect()
    };
    let before = predictors(&u, &effects);
    let unchanged = |u: &[f64], effects: &[f64]| {
        let after = predictors(u, effects);
        let largest = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
        assert!(largest.fold(0.0, f64::max) < 1e-9);
    };
    let prior = view.coefficient_prior();
    let mut shifts = shifts::find(view);
    // Intercept and w with both terms, x with the slopes.
    assert_eq!(shifts.len(), 5);
    for shift in &mut shifts {
        let old = effects.clone();
        shift
            .draw(terms, &spreads, &prior, &mut u[..p], &mut effects, &mut rng)
            .unwrap();
        assert_ne!(old, effects);
        unchanged(&u, &effects);
    }
    let mut nested = nesting::find(view);
    assert_eq!(nested.len(), 1);
    let old = effects.clone();
    nested[0].draw(terms, &spreads, &mut effects, &mut rng);
    assert_ne!(old, effects);
    unchanged(&u, &effects);
}
