//! The kernel Stein discrepancy: how far draws are from a target of which only the scores ∇ log p are known.
//!
//! Kernel: inverse multiquadric k(x, y) = (1 + |x − y|²/D)^(−1/2), which sees also draws that miss the tails (Gorham and
//! Mackey 2017, "Measuring sample quality with kernels", Theorem 8). With s the score,
//! k₀(x, y) = s(x)'s(y) k + s(x)'∇_y k + s(y)'∇_x k + ∇_x'∇_y k.

use ergodic_base::linalg::dot;

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
    use ergodic_base::rng::{Purpose, stream};

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
