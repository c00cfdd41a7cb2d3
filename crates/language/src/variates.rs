//! Random numbers that draws of distributions are made of.
//!
//! Parameters that no distribution has, such as a standard deviation that has overflowed, give NaN.

use ergodic_base::ChainRng;
pub(crate) use ergodic_base::special::logistic as share;
use rand::RngExt as _;
use rand_distr::{
    Beta, Binomial, Distribution as _, Exp1, Gamma, Poisson, StandardNormal, StudentT,
};

/// Normal, of mean 0 and standard deviation 1.
pub(crate) fn normal(rng: &mut ChainRng) -> f64 {
    StandardNormal.sample(rng)
}

/// Exponential, of mean 1.
pub(crate) fn exponential(rng: &mut ChainRng) -> f64 {
    Exp1.sample(rng)
}

/// Logistic, around 0 with scale 1.
pub(crate) fn logistic(rng: &mut ChainRng) -> f64 {
    let share: f64 = rng.random();
    share.ln() - (-share).ln_1p()
}

/// Student's t, around 0 with scale 1.
pub(crate) fn student_t(nu: f64, rng: &mut ChainRng) -> f64 {
    StudentT::new(nu).map_or(f64::NAN, |it| it.sample(rng))
}

/// Gamma, of rate 1. One of a small shape may be 0 to rounding, which has no density.
pub(crate) fn gamma(shape: f64, rng: &mut ChainRng) -> f64 {
    Gamma::new(shape, 1.0).map_or(f64::NAN, |it| it.sample(rng).max(f64::MIN_POSITIVE))
}

/// Beta; neither 0 nor 1 has a density.
pub(crate) fn beta(a: f64, b: f64, rng: &mut ChainRng) -> f64 {
    let drawn = Beta::new(a, b).map_or(f64::NAN, |it| it.sample(rng));
    drawn.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
}

/// Successes among `n` trials.
pub(crate) fn binomial(n: f64, p: f64, rng: &mut ChainRng) -> f64 {
    Binomial::new(n as u64, p).map_or(f64::NAN, |it| it.sample(rng) as f64)
}

/// A count of this mean; of one too large to be drawn the mean itself, from which it hardly differs.
pub(crate) fn poisson(mean: f64, rng: &mut ChainRng) -> f64 {
    if mean < 0.0 {
        return f64::NAN;
    }
    Poisson::new(mean).map_or(mean, |it| it.sample(rng))
}

/// An ordered level, from 1: `numbers` are the linear predictor and the thresholds.
pub(crate) fn level(numbers: &[f64], rng: &mut ChainRng) -> f64 {
    let Some((z, thresholds)) = numbers.split_first() else {
        return f64::NAN;
    };
    let latent = z + logistic(rng);
    let below = thresholds.iter().filter(|&&threshold| threshold < latent);
    1.0 + below.count() as f64
}

/// Skew normal, around 0 with scale 1: what |u| and v, both normal, are together with the correlation δ = α/√(1 + α²).
pub(crate) fn skew_normal(alpha: f64, rng: &mut ChainRng) -> f64 {
    let root = alpha.hypot(1.0);
    (alpha * normal(rng).abs() + normal(rng)) / root
}

/// A category, from 1: `shares` are their probabilities.
pub(crate) fn category(shares: &[f64], rng: &mut ChainRng) -> f64 {
    let mut left = rng.random::<f64>() * shares.iter().sum::<f64>();
    for (k, share) in shares.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return k as f64 + 1.0;
        }
    }
    if left.is_nan() {
        return f64::NAN;
    }
    // Rounding has left something of the whole; the last one that can be.
    let last = shares.iter().rposition(|share| *share > 0.0);
    last.map_or(f64::NAN, |k| k as f64 + 1.0)
}

/// A category, from 1: `logits` are logarithms of multiples of the probabilities.
pub(crate) fn category_by_logits(logits: &[f64], rng: &mut ChainRng) -> f64 {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = logits.iter().map(|it| (it - largest).exp()).collect();
    category(&shares, rng)
}
