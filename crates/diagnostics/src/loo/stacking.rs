//! Weights of models whose mixture predicts best.
//!
//! Source: Yao, Vehtari, Simpson and Gelman (2018), Bayesian Analysis 13:917: w maximises Σ_i log Σ_k w_k exp(elpd_ik) over the
//! simplex. Found as the minimum over w ≥ 0 of f(w) = Σ_k w_k − (1/n) Σ_i log (P w)_i, whose minimiser sums to 1 by itself (Kim,
//! Carbonetto, Stephens and Anitescu 2020), by a primal-dual interior-point method: f is convex, so what is found is the best.

use ergodic_base::linalg::Cholesky;

use super::Loo;

/// Steps that are enough many times over: each divides the gap by about ten.
const MOST_STEPS: usize = 200;
/// Gap in the mean log score up to which weights are the best.
const GAP: f64 = 1e-13;

/// Stacking weights of models of the same rows; they sum to 1.
pub fn stacking(models: &[&Loo]) -> Vec<f64> {
    let k = models.len();
    let n = models.first().map_or(0, |model| model.rows.len());
    // n × K, each row relative to its best model.
    let mut p = Vec::with_capacity(n * k);
    for i in 0..n {
        let elpd = || models.iter().map(|model| model.rows[i].elpd);
        let largest = elpd().fold(f64::NEG_INFINITY, f64::max);
        p.extend(elpd().map(|elpd| (elpd - largest).exp()));
    }
    best_mixture(&p, k)
}

/// The mixture of the K columns of `p` (n × K, row-major, none negative, no row of zeros) with the largest product.
fn best_mixture(p: &[f64], k: usize) -> Vec<f64> {
    let mut w = vec![1.0 / k as f64; k];
    if k < 2 || p.is_empty() {
        return w;
    }
    let mut z = vec![1.0; k];
    let mut factor = Cholesky::empty(k);
    for _ in 0..MOST_STEPS {
        let gap: f64 = w.iter().zip(&z).map(|(w, z)| w * z).sum::<f64>() / k as f64;
        let (gradient, curvature) = derivatives(p, &w);
        let residual = gradient.iter().zip(&z).map(|(g, z)| (g - z).abs());
        if gap <= GAP && residual.fold(0.0, f64::max) <= GAP.sqrt() {
            break;
        }
        let target = 0.1 * gap;
        let mut a = curvature;
        for j in 0..k {
            a[j * k + j] += z[j] / w[j];
        }
        if factor.factor(&a).is_err() {
            break;
        }
        let down: Vec<f64> = (0..k).map(|j| gradient[j] - target / w[j]).collect();
        let mut step: Vec<f64> = down.iter().map(|d| -d).collect();
        factor.solve(&mut step);
        let dual: Vec<f64> = (0..k)
            .map(|j| target / w[j] - z[j] - z[j] / w[j] * step[j])
            .collect();
        let barrier = |w: &[f64]| value(p, w) - target * w.iter().map(|w| w.ln()).sum::<f64>();
        let (before, slope) = (
            barrier(&w),
            down.iter().zip(&step).map(|(d, s)| d * s).sum::<f64>(),
        );
        let mut size = room(&w, &step);
        let moved =
            |size: f64| -> Vec<f64> { w.iter().zip(&step).map(|(w, s)| w + size * s).collect() };
        // Near the end the value does not change beyond rounding, and a full step is right.
        let slack = 1e-14 * before.abs().max(1.0);
        while size > 1e-10 && barrier(&moved(size)) > before + 1e-4 * size * slope + slack {
            size *= 0.5;
        }
        w = moved(size);
        let size = room(&z, &dual);
        z.iter_mut().zip(&dual).for_each(|(z, d)| *z += size * d);
    }
    let sum: f64 = w.iter().sum();
    w.iter_mut().for_each(|w| *w /= sum);
    w
}

/// The share of `step`, at most all of it, that leaves `x` positive.
fn room(x: &[f64], step: &[f64]) -> f64 {
    let limits = x.iter().zip(step).filter(|(_, step)| **step < 0.0);
    limits.fold(1.0, |size, (x, step)| f64::min(size, -0.995 * x / step))
}

fn value(p: &[f64], w: &[f64]) -> f64 {
    let n = (p.len() / w.len()) as f64;
    let rows = p.chunks_exact(w.len());
    let logs: f64 = rows.map(|row| mixture(row, w).ln()).sum();
    w.iter().sum::<f64>() - logs / n
}

fn mixture(row: &[f64], w: &[f64]) -> f64 {
    row.iter().zip(w).map(|(p, w)| p * w).sum()
}

/// Gradient (K) and Hessian (K × K) of f.
fn derivatives(p: &[f64], w: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let k = w.len();
    let n = (p.len() / k) as f64;
    let (mut gradient, mut curvature) = (vec![1.0; k], vec![0.0; k * k]);
    for row in p.chunks_exact(k) {
        let total = mixture(row, w);
        for a in 0..k {
            let share = row[a] / total;
            gradient[a] -= share / n;
            for b in 0..k {
                curvature[a * k + b] += share * (row[b] / total) / n;
            }
        }
    }
    (gradient, curvature)
}
