//! Pareto-smoothed importance sampling: weights whose largest are replaced by quantiles of a fitted generalised Pareto
//! distribution, and its shape k̂, which says whether they can be trusted.
//!
//! Source: Vehtari, Simpson, Gelman, Yao and Gabry (2024), JMLR 25(72). The tail are the largest min(S/5, 3 sqrt(S/r)) of S
//! weights; the distribution is fitted by Zhang and Stephens (2009) with the weak prior of the source's appendix C, k around
//! 1/2 as strong as ten observations. Estimates with k̂ above [`LIMIT`] are not to be trusted.

/// Above this k̂ estimates need more draws than anybody has (the source's section 3).
pub const LIMIT: f64 = 0.7;
/// Weights that a tail must have more than, to be fitted.
const LEAST_TAIL: usize = 4;
/// What the prior of k counts for, in observations, and its mean.
const PRIOR: (f64, f64) = (10.0, 0.5);

/// Smoothed weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// Weights, in the order they came in; they sum to 1.
    pub weights: Vec<f64>,
    /// k̂, infinite where the tail is too short to be fitted.
    pub k: f64,
}

/// Smooths the weights with these logarithms, finite all; `efficiency` r is effective draws per draw.
pub fn smooth(log_weights: &[f64], efficiency: f64) -> Smoothed {
    let count = log_weights.len();
    let largest = log_weights
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = log_weights.iter().map(|log| log - largest).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
    let s = count as f64;
    let tail = (0.2 * s).min(3.0 * (s / efficiency).sqrt()).ceil() as usize;
    let cutoff = match count.checked_sub(tail + 1) {
        Some(place) => weights[order[place]].max(f64::MIN_POSITIVE.ln()),
        None => f64::INFINITY,
    };
    // Ties with the cutoff are no part of the tail.
    let tail: Vec<usize> = order.into_iter().filter(|&i| weights[i] > cutoff).collect();
    let mut k = f64::INFINITY;
    if tail.len() > LEAST_TAIL {
        let threshold = cutoff.exp();
        let excess: Vec<f64> = tail.iter().map(|&i| weights[i].exp() - threshold).collect();
        let pareto = Pareto::fit(&excess);
        k = pareto.k;
        if k.is_finite() {
            for (place, &i) in tail.iter().enumerate() {
                let p = (place as f64 + 0.5) / tail.len() as f64;
                // No weight exceeds the largest that there was.
                weights[i] = (pareto.quantile(p) + threshold).ln().min(0.0);
            }
        }
    }
    for weight in &mut weights {
        *weight = weight.exp();
    }
    let sum: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= sum;
    }
    Smoothed { weights, k }
}

/// A generalised Pareto distribution from 0.
#[derive(Clone, Copy, Debug)]
struct Pareto {
    k: f64,
    sigma: f64,
}

impl Pareto {
    /// Fits `values`, ascending and positive.
    fn fit(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let points = 30 + n.sqrt() as usize;
        let quartile = values[((n / 4.0 + 0.5) as usize).saturating_sub(1)];
        let top = values[values.len() - 1];
        // −k for given b = −k/σ, and the profile of the log likelihood.
        let shape = |b: f64| values.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
        let grid: Vec<(f64, f64)> = (0..points)
            .map(|j| {
                let spread = 1.0 - (points as f64 / (j as f64 + 0.5)).sqrt();
                let b = spread / (3.0 * quartile) + 1.0 / top;
                let k = shape(b);
                (b, n * ((-b / k).ln() - k - 1.0))
            })
            .collect();
        let weight = |&(_, mine): &(f64, f64)| {
            let sum: f64 = grid.iter().map(|(_, other)| (other - mine).exp()).sum();
            1.0 / sum
        };
        let (mut total, mut mean) = (0.0, 0.0);
        for point in &grid {
            let weight = weight(point);
            if weight >= 10.0 * f64::EPSILON {
                total += weight;
                mean += weight * point.0;
            }
        }
        let b = mean / total;
        let k = shape(b);
        Self {
            sigma: -k / b,
            k: (n * k + PRIOR.0 * PRIOR.1) / (n + PRIOR.0),
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        let log = -(-p).ln_1p();
        if self.k.abs() < f64::EPSILON {
            self.sigma * log
        } else {
            self.sigma * (self.k * log).exp_m1() / self.k
        }
    }
}
