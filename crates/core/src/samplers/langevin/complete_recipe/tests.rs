//! Against the linear recursion that the sampler is on a normal density, whose covariance solves a discrete Lyapunov equation.

use super::*;
use crate::models::Model;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, settings};
use crate::samplers::configure;
use crate::samplers::testing::{correlated, estimate};
use crate::testing::GaussianRows;
use ergodic_base::linalg::Cholesky;
use ergodic_base::settings::{Settings, Value};

/// Three coordinates: covariance, D and Q, row-major.
const COVARIANCE: [f64; 9] = [2.0, 1.0, -0.3, 1.0, 3.0, 0.5, -0.3, 0.5, 0.4];
const D: [f64; 9] = [1.0, 0.3, 0.0, 0.3, 0.5, 0.0, 0.0, 0.0, 0.2];
const Q: [f64; 9] = [0.0, -0.8, 0.3, 0.8, 0.0, 0.2, -0.3, -0.2, 0.0];

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// A matrix in the notation of the settings.
fn written(matrix: &[f64], dim: usize) -> Value {
    let row = |row: &[f64]| -> String {
        let words: Vec<String> = row.iter().map(f64::to_string).collect();
        words.join(" ")
    };
    let rows: Vec<String> = matrix.chunks_exact(dim).map(row).collect();
    Value::Text(rows.join("; "))
}

/// a b' for D×D matrices.
fn times_transposed(a: &[f64], b: &[f64], dim: usize) -> Vec<f64> {
    let rows = a.chunks_exact(dim);
    rows.flat_map(|row| b.chunks_exact(dim).map(move |other| dot(row, other)))
        .collect()
}

fn transposed(a: &[f64], dim: usize) -> Vec<f64> {
    (0..dim * dim)
        .map(|at| a[at % dim * dim + at / dim])
        .collect()
}

/// a b for D×D matrices.
fn times(a: &[f64], b: &[f64], dim: usize) -> Vec<f64> {
    times_transposed(a, &transposed(b, dim), dim)
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The solution of S = M S M' + G by doubling: S ← S + M S M', M ← M², from S = G.
fn lyapunov(m: &[f64], g: &[f64], dim: usize) -> Vec<f64> {
    let (mut power, mut solution) = (m.to_vec(), g.to_vec());
    for _ in 0..40 {
        let more = times_transposed(&times(&power, &solution, dim), &power, dim);
        solution = sum(&solution, &more);
        power = times(&power, &power, dim);
    }
    solution
}

/// The stationary covariance at step h for curvature H, drift matrix A = D + Q and covariance G of what is injected and brought by gradients.
fn stationary(h: f64, drift: &[f64], hessian: &[f64], noise: &[f64], dim: usize) -> Vec<f64> {
    let mut keep: Vec<f64> = times(drift, hessian, dim).iter().map(|x| -h * x).collect();
    for entry in keep.iter_mut().step_by(dim + 1) {
        *entry += 1.0;
    }
    lyapunov(&keep, noise, dim)
}

fn scaled(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|x| by * x).collect()
}

/// Fails unless means are those given and second moments about them those of `covariance`, all within four Monte Carlo standard errors,
/// those of variances at most `known` of them.
fn assert_covariance(
    draws: &[Vec<f64>],
    means: &[f64],
    covariance: &[f64],
    known: f64,
    what: &str,
) {
    let dim = means.len();
    for i in 0..dim {
        let (mean, mcse) = estimate(&[draws[i].clone()]);
        assert!(
            (mean - means[i]).abs() < 4.0 * mcse,
            "{what}: mean {i} is {mean} ± {mcse}, not {}",
            means[i]
        );
        for j in 0..=i {
            let products = draws[i].iter().zip(&draws[j]);
            let products = products.map(|(x, y)| (x - means[i]) * (y - means[j]));
            let (found, mcse) = estimate(&[products.collect()]);
            let expected = covariance[i * dim + j];
            assert!(
                (found - expected).abs() < 4.0 * mcse,
                "{what}: covariance of {i} and {j} is {found} ± {mcse}, not {expected}"
            );
            assert!(
                i != j || mcse < known * expected,
                "{what}: {expected} is known to {mcse}"
            );
        }
    }
}

/// Draws of a normal density without rows, around 0.
fn draws_of_normal(
    covariance: &[f64],
    (d, q): (&[f64], &[f64]),
    h: f64,
    (draws, thin): (usize, u64),
) -> Vec<Vec<f64>> {
    let dim = covariance.len().isqrt();
    let given = [
        ("diffusion", written(d, dim)),
        ("curl", written(q, dim)),
        ("step_size", Value::Real(h)),
    ];
    let model = correlated(covariance, dim);
    let start = vec![0.0; dim];
    Chain::<CompleteRecipe>::start(model, None, &settings(&given), &start, 5)
        .draws(2000, draws, thin)
}

#[test]
fn a_normal_density_has_the_covariance_of_the_linear_recursion() {
    let hessian = Cholesky::of(&COVARIANCE, 3).unwrap().inverse();
    for h in [0.3, 0.1] {
        let expected = stationary(h, &sum(&D, &Q), &hessian, &scaled(&D, 2.0 * h), 3);
        assert!(expected[0] > 2.0 * (1.0 + 0.5 * h));
        let draws = draws_of_normal(&COVARIANCE, (&D, &Q), h, (400_000, 1));
        assert_covariance(&draws, &[0.0; 3], &expected, 0.04, &format!("h = {h}"));
    }
    // The closed form itself, from an independent program.
    let expected = stationary(0.3, &sum(&D, &Q), &hessian, &scaled(&D, 0.6), 3);
    for (found, wanted) in expected
        .iter()
        .zip([2.7239, 1.4647, -0.252_52, 1.4647, 3.4262])
    {
        assert!((found - wanted).abs() < 1e-4, "{expected:?}");
    }
}

/// The second coordinate moves by Q alone.
#[test]
fn noise_along_one_direction_reaches_all_by_the_curl() {
    let (covariance, d, q) = (
        [1.0, 0.4, 0.4, 1.5],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, -1.0, 1.0, 0.0],
    );
    let hessian = Cholesky::of(&covariance, 2).unwrap().inverse();
    let h = 0.2;
    let expected = stationary(h, &sum(&d, &q), &hessian, &scaled(&d, 2.0 * h), 2);
    let draws = draws_of_normal(&covariance, (&d, &q), h, (300_000, 1));
    assert_covariance(&draws, &[0.0; 2], &expected, 0.04, "singular");
}

#[test]
fn small_steps_leave_the_density_alone_whatever_the_curl() {
    let hessian = Cholesky::of(&COVARIANCE, 3).unwrap().inverse();
    // What the Euler steps add is 1 % at most, less than is seen of it.
    let added = stationary(0.01, &sum(&D, &Q), &hessian, &scaled(&D, 0.02), 3);
    for (added, wanted) in added.iter().zip(COVARIANCE).step_by(4) {
        assert!(*added > wanted && *added < 1.012 * wanted, "{added}");
    }
    let draws = draws_of_normal(&COVARIANCE, (&D, &Q), 0.01, (400_000, 10));
    assert_covariance(&draws, &[0.0; 3], &COVARIANCE, 0.03, "h = 0.01");
}

/// Minibatches of rows whose gradients have a covariance that is known, 20 times that of the curvature for all rows: uncorrected it widens
/// the posterior, corrected it does not.
#[test]
fn gradient_noise_is_made_up_for_where_it_is_estimated() {
    let (num_obs, batch, h) = (1000, 50, 0.015);
    let model = Arc::new(GaussianRows::balanced(num_obs, 2, 9));
    let hessian: Vec<f64> = {
        let variances = model.posterior_variance();
        vec![1.0 / variances[0], 0.0, 0.0, 1.0 / variances[1]]
    };
    let factor = (num_obs / batch) as f64 * num_obs as f64;
    let sigma = diagonal(&scaled(&model.score_variance(), factor));
    let (d, q) = ([1e-3, 0.0, 0.0, 5e-4], [0.0, -8e-4, 8e-4, 0.0]);
    let drift = sum(&d, &q);
    let brought = times_transposed(&times(&drift, &sigma, 2), &drift, 2);
    let injected = scaled(&d, 2.0 * h);
    let mut variances = Vec::new();
    for (correction, noise) in [
        ("none", sum(&injected, &scaled(&brought, h * h))),
        ("estimated", injected),
    ] {
        let given = [
            ("diffusion", written(&d, 2)),
            ("curl", written(&q, 2)),
            ("step_size", Value::Real(h)),
            ("batch", Value::Int(batch as i64)),
            ("noise_correction", text(correction)),
        ];
        let start = model.posterior_mean();
        let mut chain =
            Chain::<CompleteRecipe>::start(model.clone(), None, &settings(&given), &start, 6);
        let draws = chain.draws(5000, 60_000, 10);
        let expected = stationary(h, &drift, &hessian, &noise, 2);
        assert_covariance(&draws, &start, &expected, 0.04, correction);
        variances.push(expected[0]);
        let share = chain.info[1];
        match correction {
            "none" => assert!(share.is_nan()),
            // The step is 0.015 of 0.0219, at which nothing would be left to inject.
            _ => assert!((share - 0.684).abs() < 0.02, "{share}"),
        }
    }
    assert!(variances[0] > 1.2 * variances[1], "{variances:?}");
}

/// Without D and Q of the user's own the sampler is SGLD without a preconditioner, up to rounding, draw for draw.
#[test]
fn by_default_it_is_sgld_in_the_coordinates_of_the_model() {
    use crate::samplers::langevin::sgld::Sgld;
    let model = Arc::new(GaussianRows::simulated(300, 2, 4));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    let given = [("batch", Value::Int(30))];
    let mut own = Chain::<CompleteRecipe>::start(
        model.clone(),
        Some(Arc::clone(&centre)),
        &settings(&given),
        &start,
        7,
    );
    let given = [given[0].clone(), ("precondition", text("none"))];
    let mut sgld = Chain::<Sgld>::start(model, Some(centre), &settings(&given), &start, 7);
    assert_eq!(own.config.core.step_size, sgld.config.step_size);
    assert_eq!(own.config.core.steps_per_draw, sgld.config.steps_per_draw);
    for (a, b) in own.draws(0, 200, 1).iter().zip(sgld.draws(0, 200, 1)) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }
    assert_eq!(own.info, sgld.info);
}

fn target(dim: usize) -> Target {
    let identity = diagonal(&vec![1.0; dim]);
    let model = correlated(&identity, dim);
    let density = model.density().unwrap();
    let centre = Arc::new(Centre::at(density, &vec![0.0; dim]).unwrap());
    Target::new(&model, Some(&centre))
}

/// The default step is that at which the bound on the excess of variance, which a Lyapunov equation checks, is 4 %.
#[test]
fn the_default_step_keeps_the_excess_of_variance_small() {
    let given = settings(&[("diffusion", written(&D, 3)), ("curl", written(&Q, 3))]);
    let hessian = Cholesky::of(&COVARIANCE, 3).unwrap().inverse();
    let model = correlated(&COVARIANCE, 3);
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0; 3]).unwrap());
    let config = configure::<CompleteRecipe>(&given, &Target::new(&model, Some(&centre))).unwrap();
    let h = config.core.step_size;
    let found = stationary(h, &sum(&D, &Q), &hessian, &scaled(&D, 2.0 * h), 3);
    for (found, variance) in found.iter().zip(COVARIANCE).step_by(4) {
        let excess = found / variance - 1.0;
        assert!(excess > 0.0 && excess < EXCESS_CENTRED, "{excess} at {h}");
    }
    // D = I and Q = 0 on curvature 1: (1 + ε) exactly.
    let config = configure::<CompleteRecipe>(&Settings::default(), &target(2)).unwrap();
    let h = config.core.step_size;
    assert!((1.0 / (1.0 - 0.5 * h) - 1.0 - EXCESS_CENTRED).abs() < 1e-6);
}

#[test]
fn short_forms_are_the_matrices_that_they_stand_for() {
    let drift = |diffusion: &str, curl: &str| Matrices::read(diffusion, curl, 2).unwrap().drift;
    assert_eq!(drift("identity", "zero"), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(drift("diag(2)", "zero"), [2.0, 0.0, 0.0, 2.0]);
    assert_eq!(drift("diag(1, 2)", "0 -1; 1 0"), [1.0, -1.0, 1.0, 2.0]);
    assert_eq!(
        drift(" 1, 0 ; 0, 2 ", "0,-0.5;0.5,0"),
        [1.0, -0.5, 0.5, 2.0]
    );
    // K K' = D, and ν of D = I is 1 + |Q|².
    let matrices = Matrices::read("2 1; 1 3", "0 -1; 1 0", 2).unwrap();
    let roots = transposed(&matrices.roots, 2);
    for (found, wanted) in times_transposed(&roots, &roots, 2)
        .iter()
        .zip([2.0, 1.0, 1.0, 3.0])
    {
        assert!((found - wanted).abs() < 1e-12);
    }
    let turned = Matrices::read("identity", "0 -3; 3 0", 2).unwrap();
    assert!((turned.stiffest - 10.0).abs() < 1e-9 && turned.slowest == 1.0);
}

#[test]
fn matrices_that_make_no_recipe_are_refused_by_name() {
    let refusal = |pairs: &[(&str, &str)]| -> String {
        let given: Vec<(&str, Value)> = pairs.iter().map(|(key, it)| (*key, text(it))).collect();
        let refused = configure::<CompleteRecipe>(&settings(&given), &target(2));
        refused.err().unwrap().to_string()
    };
    for (key, matrix, why) in [
        (
            "diffusion",
            "1 0; 0 2; 0 0",
            "must have 2 rows of 2 numbers, one for each unconstrained parameter, and has 3 rows",
        ),
        ("diffusion", "1 0; 0", "and has 1 in row 2"),
        ("diffusion", "diag(1, 2, 3)", "and has 3"),
        (
            "diffusion",
            "1 0.5; 0 2",
            "must be symmetric, but has 0 in row 2, column 1 and 0.5 in row 1, column 2",
        ),
        (
            "diffusion",
            "1 2; 2 1",
            "must be positive semi-definite, but has the eigenvalue -1.0000",
        ),
        ("diffusion", "0 0; 0 0", "must not be zero"),
        ("diffusion", "diag(1, 0)", "`curl` leaves out too"),
        (
            "curl",
            "0 1; 1 0",
            "must be skew-symmetric, but has 1 in row 2, column 1 and 1 in row 1, column 2",
        ),
        ("curl", "1 0; 0 0", "has 1 on its diagonal in row 1"),
        ("curl", "0 -1 0; 1 0 0", "and has 3 in row 1"),
        (
            "curl",
            "0 x; 1 0",
            "takes zero | a text such as 0 -1; 1 0, not",
        ),
        ("diffusion", "1 inf; 0 1", "takes identity | a text such as"),
        ("diffusion", "", "takes identity"),
    ] {
        let sentence = refusal(&[(key, matrix)]);
        assert!(
            sentence.starts_with(&format!("Setting `{key}` ")) && sentence.contains(why),
            "{sentence}"
        );
    }
    let singular = [("diffusion", "diag(1, 0)"), ("curl", "0 -1; 1 0")];
    let sentence = refusal(&singular);
    assert!(
        sentence.starts_with("Setting `step_size` must be given"),
        "{sentence}"
    );
}

#[test]
fn a_correction_needs_independent_rows_and_a_step_needs_a_mode() {
    let model: Arc<dyn Model> = Arc::new(GaussianRows::simulated(100, 2, 1));
    let refusal = |pairs: &[(&str, Value)]| {
        let target = Target::new(&model, None);
        let refused = configure::<CompleteRecipe>(&settings(pairs), &target);
        refused.err().unwrap().to_string()
    };
    let correction = ("noise_correction", text("estimated"));
    let step = ("step_size", Value::Real(1e-3));
    for (pair, why) in [
        (("batch", Value::Int(1)), "at least 2 rows"),
        (("scheme", text("epoch")), "independent rows"),
    ] {
        let sentence = refusal(&[correction.clone(), step.clone(), pair]);
        assert!(sentence.contains(why), "{sentence}");
    }
    assert!(refusal(&[]).contains("give `step_size`"));
    // More parameters than matrices are made for.
    let many = Target {
        dim: 1001,
        ..Target::default()
    };
    let refused = configure::<CompleteRecipe>(&Settings::default(), &many);
    assert!(refused.err().unwrap().to_string().contains("has 1001"));
}
