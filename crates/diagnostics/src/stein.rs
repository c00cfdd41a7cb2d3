//! The kernel Stein discrepancy: how far draws are from a target of which only the scores ∇ log p are known.
//!
//! Kernel: inverse multiquadric k(x, y) = (1 + |x − y|²/D)^(−1/2), which sees also draws that miss the tails (Gorham and
//! Mackey 2017, "Measuring sample quality with kernels", Theorem 8). With s the score,
//! k₀(x, y) = s(x)'s(y) k + s(x)'∇_y k + s(y)'∇_x k + ∇_x'∇_y k.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::bias::or_nan;
use super::quantiles;
use ergodic_base::ChainRng;
use ergodic_base::linalg::dot;

/// Replicates of the bootstrap: a chance of 1 % is known to within 0.3 %.
const REPLICATES: usize = 1000;
/// Probability of the quantile that is told of the reference distribution.
const LIMIT: f64 = 0.95;

/// A squared discrepancy with its distribution for draws from the target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// Points it is of.
    pub points: usize,
    /// The squared discrepancy, 0 on average for draws from the target.
    #[serde(deserialize_with = "or_nan")]
    pub squared: f64,
    /// What 95 % of those of draws from the target are below.
    #[serde(deserialize_with = "or_nan")]
    pub limit: f64,
    /// Chance that draws from the target have one as large.
    #[serde(deserialize_with = "or_nan")]
    pub p_value: f64,
}

/// The squared discrepancy of independent `points` (n×D, row-major) with `scores` (n×D) and `weights` (n, or none), tested against
/// the wild bootstrap: each replicate gives every point a random sign, Σ ε_i ε_j w_i w_j k₀(x_i, x_j), which has the distribution
/// of the statistic where the points are from the target (Chwialkowski, Strathmann and Gretton 2016, "A kernel test of goodness of
/// fit", with signs that are independent as the points are). Errors of scores that are independent with mean 0 widen
/// both alike. `None` with fewer than two points, or where a number is not finite. Costs n² (D + 1000) operations.
pub fn tested_discrepancy(
    (points, scores): (&[f64], &[f64]),
    dim: usize,
    weights: &[f64],
    rng: &mut ChainRng,
) -> Option<Discrepancy> {
    let n = points.len() / dim;
    let total: f64 = weights.iter().sum();
    let weight = |i: usize| match weights.get(i) {
        Some(weight) => weight / total,
        None => 1.0 / n as f64,
    };
    let row = |i: usize| i * dim..(i + 1) * dim;
    // Below the diagonal, row by row.
    let mut kernel = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for i in 0..n {
        for j in 0..i {
            let (x, y) = (&points[row(i)], &points[row(j)]);
            let value = stein_kernel(x, &scores[row(i)], y, &scores[row(j)]);
            kernel.push(weight(i) * weight(j) * value);
        }
    }
    let squares: f64 = (0..n).map(|i| weight(i) * weight(i)).sum();
    let scale = 2.0 / (1.0 - squares);
    let squared = scale * kernel.iter().sum::<f64>();
    if n < 2 || !squared.is_finite() {
        return None;
    }
    let mut signs = vec![0.0; n];
    let mut replicates: Vec<f64> = (0..REPLICATES)
        .map(|_| {
            signs.fill_with(|| if rng.random::<bool>() { 1.0 } else { -1.0 });
            let mut rest = kernel.as_slice();
            let mut sum = 0.0;
            for i in 0..n {
                let (line, after) = rest.split_at(i);
                sum += signs[i] * dot(line, &signs[..i]);
                rest = after;
            }
            scale * sum
        })
        .collect();
    replicates.sort_by(f64::total_cmp);
    let as_large = REPLICATES - replicates.partition_point(|it| *it < squared);
    Some(Discrepancy {
        points: n,
        squared,
        limit: quantiles::of_sorted(&replicates, LIMIT),
        p_value: (1 + as_large) as f64 / (1 + REPLICATES) as f64,
    })
}

/// The squared discrepancy of `points` (n×D, row-major) with `scores` (n×D): the mean of k₀ over pairs of different points
/// (the U-statistic). It is 0 on average for independent draws from the target and may be negative. Each score enters
/// each pair once, so that scores with independent errors of mean 0 leave it unbiased. Not a number with fewer than two
/// points.
pub fn squared_discrepancy(points: &[f64], scores: &[f64], dim: usize) -> f64 {
    let n = points.len() / dim;
    let row = |i: usize| i * dim..(i + 1) * dim;
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..i {
            let (x, y) = (&points[row(i)], &points[row(j)]);
            sum += stein_kernel(x, &scores[row(i)], y, &scores[row(j)]);
        }
    }
    2.0 * sum / (n as f64 * (n as f64 - 1.0))
}

/// k₀ of two points with their scores.
fn stein_kernel(x: &[f64], score_x: &[f64], y: &[f64], score_y: &[f64]) -> f64 {
    let dim = x.len() as f64;
    let (mut square, mut slope) = (0.0, 0.0);
    for k in 0..x.len() {
        let gap = x[k] - y[k];
        square += gap * gap;
        slope += gap * (score_x[k] - score_y[k]);
    }
    // ∇_y k = (x − y)/D q^(−3/2) = −∇_x k, and ∇_x'∇_y k = q^(−3/2) − 3 |x − y|²/D² q^(−5/2).
    let q = 1.0 + square / dim;
    let root = q.sqrt();
    let third = 1.0 / (q * root);
    dot(score_x, score_y) / root + slope / dim * third + third
        - 3.0 * square / (dim * dim) * third / q
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use ergodic_base::{Purpose, stream};

    /// k₀ by finite differences of the kernel.
    #[test]
    fn the_kernel_is_what_its_derivatives_say() {
        let kernel = |x: &[f64], y: &[f64]| {
            let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            (1.0 + square / x.len() as f64).powf(-0.5)
        };
        let (x, y) = ([0.3, -1.2, 0.7], [1.1, 0.4, -0.2]);
        let (sx, sy) = ([0.5, -2.0, 1.5], [-1.0, 0.3, 2.0]);
        let h = 1e-4;
        let moved = |v: &[f64; 3], k: usize, by: f64| {
            let mut v = *v;
            v[k] += by;
            v
        };
        let mut expected = dot(&sx, &sy) * kernel(&x, &y);
        for k in 0..3 {
            let slope_y =
                (kernel(&x, &moved(&y, k, h)) - kernel(&x, &moved(&y, k, -h))) / (2.0 * h);
            let slope_x =
                (kernel(&moved(&x, k, h), &y) - kernel(&moved(&x, k, -h), &y)) / (2.0 * h);
            let mixed = [(h, h, 1.0), (h, -h, -1.0), (-h, h, -1.0), (-h, -h, 1.0)]
                .map(|(a, b, sign)| sign * kernel(&moved(&x, k, a), &moved(&y, k, b)))
                .iter()
                .sum::<f64>()
                / (4.0 * h * h);
            expected += sx[k] * slope_y + sy[k] * slope_x + mixed;
        }
        assert!((stein_kernel(&x, &sx, &y, &sy) - expected).abs() < 1e-6);
    }

    /// A case of `tests/reference/stein.py`.
    #[derive(Deserialize)]
    struct Case {
        dim: usize,
        points: Vec<f64>,
        scores: Vec<f64>,
        weights: Vec<f64>,
        u: f64,
        weighted: f64,
    }

    /// Numbers of jax, whose derivatives of the kernel are automatic.
    #[test]
    fn discrepancies_are_those_of_derivatives_by_another_program() {
        let text = include_str!("../../../tests/reference/stein.json");
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        assert_eq!(cases.len(), 3);
        let mut rng = stream(7, 0, Purpose::Data);
        for case in &cases {
            let near = |found: f64, expected: f64| {
                let error = (found - expected).abs();
                let dim = case.dim;
                assert!(
                    error < 1e-10 * expected.abs().max(1.0),
                    "{dim}: {found} {expected}"
                );
            };
            let of = (case.points.as_slice(), case.scores.as_slice());
            near(squared_discrepancy(of.0, of.1, case.dim), case.u);
            for (weights, expected) in [(&[][..], case.u), (case.weights.as_slice(), case.weighted)]
            {
                let found = tested_discrepancy(of, case.dim, weights, &mut rng);
                near(found.unwrap().squared, expected);
            }
        }
    }

    /// p-values of draws from the target are uniform, also where scores are noisy; those of others are small. Weights that turn one
    /// law into the target make its draws as good.
    #[test]
    fn the_reference_distribution_is_that_of_the_target() {
        const DIM: usize = 2;
        const POINTS: usize = 80;
        let mut rng = stream(6, 0, Purpose::Data);
        let mut p_values = |shift: f64, noise: f64, weigh: bool| -> Vec<f64> {
            (0..200)
                .map(|_| {
                    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
                    let points: Vec<f64> = (0..POINTS * DIM).map(|_| shift + normal()).collect();
                    let scores: Vec<f64> = points.iter().map(|x| noise * normal() - x).collect();
                    let weights: Vec<f64> = match weigh {
                        true => (points.chunks(DIM))
                            .map(|x| {
                                (-shift * x.iter().map(|x| x - 0.5 * shift).sum::<f64>()).exp()
                            })
                            .collect(),
                        false => Vec::new(),
                    };
                    let of = (points.as_slice(), scores.as_slice());
                    let found = tested_discrepancy(of, DIM, &weights, &mut rng).unwrap();
                    if !weigh {
                        let plain = squared_discrepancy(&points, &scores, DIM);
                        assert!((found.squared - plain).abs() < 1e-12);
                    }
                    assert_eq!(found.points, POINTS);
                    let is_beyond = found.squared > found.limit;
                    assert!(is_beyond || found.p_value > 0.045, "{found:?}");
                    assert!(!is_beyond || found.p_value < 0.055, "{found:?}");
                    found.p_value
                })
                .collect()
        };
        let share = |values: &[f64], below: f64| {
            values.iter().filter(|p| **p <= below).count() as f64 / values.len() as f64
        };
        for (shift, noise, weigh) in [(0.0, 0.0, false), (0.0, 0.7, false), (0.4, 0.0, true)] {
            let values = p_values(shift, noise, weigh);
            for level in [0.1_f64, 0.5] {
                // Three standard errors of a share of 200.
                let error = 3.0 * (level * (1.0 - level) / 200.0).sqrt();
                let found = share(&values, level);
                assert!(
                    (found - level).abs() < error,
                    "{shift} {noise}: {found} for {level}"
                );
            }
        }
        assert!(share(&p_values(0.6, 0.3, false), 0.01) > 0.8);
    }

    /// Mean 0 for the target within Monte Carlo error, with noisy scores too, and clearly above for other laws.
    #[test]
    fn it_tells_the_target_from_other_laws() {
        const DIM: usize = 3;
        let mut rng = stream(5, 0, Purpose::Data);
        let mut discrepancy = |shift: f64, spread: f64, noise: f64| {
            let repeats: Vec<f64> = (0..40)
                .map(|_| {
                    let mut normal = |_| -> f64 { StandardNormal.sample(&mut rng) };
                    let points: Vec<f64> = (0..100 * DIM)
                        .map(&mut normal)
                        .map(|z| shift + spread * z)
                        .collect();
                    let scores: Vec<f64> = points.iter().map(|x| noise * normal(0) - x).collect();
                    squared_discrepancy(&points, &scores, DIM)
                })
                .collect();
            let mean = repeats.iter().sum::<f64>() / repeats.len() as f64;
            let square: f64 = repeats.iter().map(|r| (r - mean).powi(2)).sum();
            (mean, (square / 39.0 / 40.0).sqrt())
        };
        for noise in [0.0, 0.5] {
            let (mean, error) = discrepancy(0.0, 1.0, noise);
            assert!(mean.abs() < 3.0 * error, "noise {noise}: {mean} ± {error}");
        }
        for (shift, spread) in [(0.5, 1.0), (0.0, 1.4), (0.0, 0.6)] {
            let (mean, error) = discrepancy(shift, spread, 0.5);
            assert!(mean > 5.0 * error, "{shift} {spread}: {mean} ± {error}");
        }
    }
}
