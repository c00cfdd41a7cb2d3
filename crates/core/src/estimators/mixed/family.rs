//! Responses that are not Gaussian: log p(y|η) and its derivatives in the linear predictor.

use statrs::function::gamma::{digamma, ln_gamma};

use ergodic_base::special::{logistic, softplus};

/// Largest count whose rising factorial is summed.
const MOST_SUMMED: f64 = 200.0;

/// Distribution of the response with its canonical or log link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// Yes or no, logit link.
    Bernoulli,
    /// Successes among trials, logit link.
    Binomial,
    /// Counts, log link.
    Poisson,
    /// Counts with variance μ + μ²/shape, log link.
    NegativeBinomial {
        /// Logarithm of the shape.
        log_shape: f64,
    },
}

/// log p of a row and derivatives in η: the score s, the weight w = −s', and w'.
#[derive(Clone, Copy, Debug)]
pub struct Derivatives {
    /// log p without the constant of [`Family::constant`].
    pub log_p: f64,
    /// ∂ log p/∂η.
    pub score: f64,
    /// −∂² log p/∂η², positive.
    pub weight: f64,
    /// ∂ weight/∂η.
    pub slope: f64,
}

impl Family {
    /// Identifier in settings and files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Bernoulli => "bernoulli",
            Self::Binomial => "binomial",
            Self::Poisson => "poisson",
            Self::NegativeBinomial { .. } => "negative_binomial",
        }
    }

    /// Residual variance on the scale of the linear predictor, if that has one free of the mean: π²/3 for the logit.
    pub fn level_variance(self) -> Option<f64> {
        match self {
            Self::Bernoulli | Self::Binomial => Some(std::f64::consts::PI.powi(2) / 3.0),
            Self::Poisson | Self::NegativeBinomial { .. } => None,
        }
    }

    /// Expected response per trial at η.
    pub fn mean(self, eta: f64) -> f64 {
        match self {
            Self::Bernoulli | Self::Binomial => logistic(eta),
            Self::Poisson | Self::NegativeBinomial { .. } => eta.exp(),
        }
    }

    /// The part of log p that does not depend on η.
    pub fn constant(self, y: f64, trials: f64) -> f64 {
        match self {
            Self::Bernoulli => 0.0,
            Self::Binomial => {
                ln_gamma(trials + 1.0) - ln_gamma(y + 1.0) - ln_gamma(trials - y + 1.0)
            }
            Self::Poisson => -ln_gamma(y + 1.0),
            Self::NegativeBinomial { log_shape } => {
                rising(log_shape.exp(), y)[0] - ln_gamma(y + 1.0)
            }
        }
    }

    /// log p and derivatives at η for response `y` among `trials`.
    #[inline]
    pub fn at(self, eta: f64, y: f64, trials: f64) -> Derivatives {
        match self {
            Self::Bernoulli | Self::Binomial => {
                let p = logistic(eta);
                let weight = trials * p * logistic(-eta);
                Derivatives {
                    log_p: y * eta - trials * softplus(eta),
                    score: y - trials * p,
                    weight,
                    slope: weight * (1.0 - 2.0 * p),
                }
            }
            Self::Poisson => {
                let mean = eta.exp();
                Derivatives {
                    log_p: y * eta - mean,
                    score: y - mean,
                    weight: mean,
                    slope: mean,
                }
            }
            Self::NegativeBinomial { log_shape } => {
                // With p = μ/(μ + shape) = logistic(η − log shape).
                let shape = log_shape.exp();
                let p = logistic(eta - log_shape);
                let weight = (y + shape) * p * (1.0 - p);
                Derivatives {
                    log_p: y * (eta - log_shape) - (y + shape) * softplus(eta - log_shape),
                    score: y - (y + shape) * p,
                    weight,
                    slope: weight * (1.0 - 2.0 * p),
                }
            }
        }
    }

    /// Derivatives of log p (constant included), score and weight in the log of the shape; zeros without a shape.
    pub fn in_log_shape(self, eta: f64, y: f64) -> [f64; 3] {
        let Self::NegativeBinomial { log_shape } = self else {
            return [0.0; 3];
        };
        let shape = log_shape.exp();
        let p = logistic(eta - log_shape);
        let (spread, total) = (p * (1.0 - p), y + shape);
        [
            shape * (digamma(y + shape) - digamma(shape) - softplus(eta - log_shape)) - y
                + total * p,
            total * spread - shape * p,
            shape * spread - total * spread * (1.0 - 2.0 * p),
        ]
    }
}

/// log Γ(shape + y) − log Γ(shape) and its derivative in the shape. As a sum for the counts one meets: the difference of two
/// large logarithms would lose the digits that tell large shapes apart.
fn rising(shape: f64, y: f64) -> [f64; 2] {
    if y > MOST_SUMMED {
        return [
            ln_gamma(shape + y) - ln_gamma(shape),
            digamma(shape + y) - digamma(shape),
        ];
    }
    (0..y as u32).fold([0.0, 0.0], |[log, slope], j| {
        let factor = shape + f64::from(j);
        [log + factor.ln(), slope + 1.0 / factor]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_differences() {
        let h = 1e-5;
        for family in [
            Family::Bernoulli,
            Family::Binomial,
            Family::Poisson,
            Family::NegativeBinomial { log_shape: 0.7 },
        ] {
            for (eta, y, trials) in [(-1.3, 1.0, 1.0), (0.4, 0.0, 1.0), (1.1, 3.0, 7.0)] {
                let d = family.at(eta, y, trials);
                let (up, down) = (family.at(eta + h, y, trials), family.at(eta - h, y, trials));
                for (here, there) in [
                    (d.score, up.log_p - down.log_p),
                    (-d.weight, up.score - down.score),
                    (d.slope, up.weight - down.weight),
                ] {
                    assert!((here - there / (2.0 * h)).abs() < 1e-8, "{family:?} {eta}");
                }
            }
        }
        let at = |log_shape: f64| {
            let family = Family::NegativeBinomial { log_shape };
            let d = family.at(0.6, 4.0, 1.0);
            [d.log_p + family.constant(4.0, 1.0), d.score, d.weight]
        };
        let exact = Family::NegativeBinomial { log_shape: 0.7 }.in_log_shape(0.6, 4.0);
        for k in 0..3 {
            let central = (at(0.7 + h)[k] - at(0.7 - h)[k]) / (2.0 * h);
            assert!((exact[k] - central).abs() < 1e-8, "{k}");
        }
    }

    #[test]
    fn probabilities_sum_to_one() {
        for family in [
            Family::Poisson,
            Family::NegativeBinomial { log_shape: 0.7 },
            Family::Binomial,
        ] {
            let last = if family == Family::Binomial { 9 } else { 400 };
            let sum: f64 = (0..=last)
                .map(|y| {
                    let y = f64::from(y);
                    (family.at(0.8, y, 9.0).log_p + family.constant(y, 9.0)).exp()
                })
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{family:?} {sum}");
        }
    }
}
