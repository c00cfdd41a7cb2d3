//! The distribution of an outcome given its linear predictor, and the view of a model that predicts new rows.

use rand_distr::{Binomial, Distribution as _, Gamma, Poisson, StandardNormal, StudentT};

use ergodic_base::rng::ChainRng;
use ergodic_base::special::logistic;

/// How an outcome is distributed around a linear predictor z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// z plus normal noise.
    Normal {
        /// Standard deviation of the noise.
        sd: f64,
    },
    /// z plus Student-t noise.
    StudentT {
        /// Degrees of freedom of the noise.
        nu: f64,
        /// Scale of the noise.
        scale: f64,
    },
    /// Successes among trials whose log odds are z.
    Binomial,
    /// Counts whose mean has the logarithm z.
    Poisson,
    /// Counts with mean exp z and variance mean + mean²/shape.
    NegativeBinomial {
        /// The shape.
        shape: f64,
    },
}

impl Outcome {
    /// This outcome where a unit of the outcome is split into `scale` units; counts have no unit.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        match self {
            Self::Normal { sd } => Self::Normal { sd: sd * by },
            Self::StudentT { nu, scale } => Self::StudentT {
                nu,
                scale: scale * by,
            },
            counts => counts,
        }
    }

    /// The expected outcome at z: of successes their share. Student-t noise without a mean has its middle there.
    #[inline]
    pub fn mean(self, z: f64) -> f64 {
        match self {
            Self::Normal { .. } | Self::StudentT { .. } => z,
            Self::Binomial => logistic(z),
            Self::Poisson | Self::NegativeBinomial { .. } => z.exp(),
        }
    }

    /// An outcome at z, for successes among `trials`. Where a mean is too small or too large for a distribution, the mean.
    pub fn draw(self, z: f64, trials: f64, rng: &mut ChainRng) -> f64 {
        let count = |mean: f64, rng: &mut ChainRng| {
            Poisson::new(mean).map_or(mean, |poisson| poisson.sample(rng))
        };
        match self {
            Self::Normal { sd } => {
                let noise: f64 = StandardNormal.sample(rng);
                z + sd * noise
            }
            Self::StudentT { nu, scale } => {
                StudentT::new(nu).map_or(f64::NAN, |t| z + scale * t.sample(rng))
            }
            Self::Binomial => Binomial::new(trials as u64, self.mean(z))
                .map_or(f64::NAN, |binomial| binomial.sample(rng) as f64),
            Self::Poisson => count(z.exp(), rng),
            Self::NegativeBinomial { shape } => {
                let mean = z.exp();
                // A gamma variable of a small shape may be 0 to rounding.
                let varied = Gamma::new(shape, mean / shape).map_or(mean, |g| g.sample(rng));
                count(varied, rng)
            }
        }
    }

    /// Whether outcomes are whole numbers.
    pub fn is_whole(self) -> bool {
        !matches!(self, Self::Normal { .. } | Self::StudentT { .. })
    }
}

/// A draw on the scale of the data: with columns x as they are, the linear predictor of a row is x'b + offset + Σ_t z_t'r_t of
/// its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Coefficients b (P), of groups their population's.
    pub coefficients: Vec<f64>,
    /// Around the linear predictor.
    pub outcome: Outcome,
    /// One per group term of the design.
    pub terms: Vec<PointTerm>,
}

/// The effects of one group term in a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTerm {
    /// Deviations of groups from the population, groups × q, row-major.
    pub effects: Vec<f64>,
    /// L with LL' their covariance, q × q, row-major.
    pub factor: Vec<f64>,
}

/// The view of a model that predicts outcomes of new rows.
pub trait Predicts {
    /// A draw from its reported quantities (Q); `None` where these are no draw of this model.
    fn point(&self, theta: &[f64]) -> Option<Point>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::rng::{Purpose, stream};

    #[test]
    fn drawn_outcomes_have_the_mean_and_the_variance_of_their_distribution() {
        const DRAWS: usize = 40_000;
        let (z, trials) = (0.7_f64, 6.0);
        let p = 1.0 / (1.0 + (-z).exp());
        let count = z.exp();
        for (outcome, factor, variance) in [
            (Outcome::Normal { sd: 1.5 }, 1.0, 2.25),
            (
                Outcome::StudentT {
                    nu: 9.0,
                    scale: 2.0,
                },
                1.0,
                4.0 * 9.0 / 7.0,
            ),
            (Outcome::Binomial, trials, trials * p * (1.0 - p)),
            (Outcome::Poisson, 1.0, count),
            (
                Outcome::NegativeBinomial { shape: 3.0 },
                1.0,
                count + count * count / 3.0,
            ),
        ] {
            let mut rng = stream(1, 0, Purpose::Predictive);
            let drawn: Vec<f64> = (0..DRAWS)
                .map(|_| outcome.draw(z, trials, &mut rng))
                .collect();
            let n = DRAWS as f64;
            let mean = drawn.iter().sum::<f64>() / n;
            let square = |y: &f64| (y - mean).powi(2);
            let spread = drawn.iter().map(square).sum::<f64>() / n;
            let fourth = drawn.iter().map(|y| square(y).powi(2)).sum::<f64>() / n;
            let z_mean = (mean - factor * outcome.mean(z)) / (variance / n).sqrt();
            let z_variance = (spread - variance) / ((fourth - spread * spread) / n).sqrt();
            assert!(z_mean.abs() < 4.0 && z_variance.abs() < 4.0, "{outcome:?}");
        }
    }

    #[test]
    fn extreme_predictors_give_numbers() {
        let mut rng = stream(1, 0, Purpose::Predictive);
        for outcome in [Outcome::Poisson, Outcome::NegativeBinomial { shape: 1e-3 }] {
            assert_eq!(outcome.draw(-800.0, 1.0, &mut rng), 0.0);
            assert!(!outcome.draw(60.0, 1.0, &mut rng).is_nan());
        }
        assert_eq!(Outcome::Binomial.mean(-800.0), 0.0);
        assert_eq!(Outcome::Binomial.mean(800.0), 1.0);
    }
}
