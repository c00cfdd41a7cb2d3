//! The concentration α of a Dirichlet process: its prior, and the probability of a partition given it.

use rand::RngExt as _;
use statrs::function::gamma::ln_gamma;

use crate::prior_text::{PriorError, PriorProblem, PriorText};
use ergodic_base::ChainRng;

/// The forms of [`AlphaPrior`], for people.
pub(crate) const FORMS: &str = "gamma(shape, rate) or constant(value), all above 0";

/// Prior of α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaPrior {
    /// α is known.
    Constant(f64),
    /// α ~ Gamma(shape, rate).
    Gamma {
        /// b₁ of Baker et al. (2018), appendix D.3.
        shape: f64,
        /// b₂.
        rate: f64,
    },
}

impl AlphaPrior {
    /// Reads `gamma(2, 4)` or `constant(1)`.
    ///
    /// # Errors
    /// The text is neither; the error says what is understood.
    pub fn parse(text: &str) -> Result<Self, PriorError> {
        let written = PriorText::read(text, FORMS)?;
        if let Some([shape, rate]) = written.positive("gamma")? {
            return Ok(Self::Gamma { shape, rate });
        }
        match written.positive("constant")? {
            Some([value]) => Ok(Self::Constant(value)),
            None => Err(written.refuse(PriorProblem::Unknown)),
        }
    }

    /// Stan's notation.
    pub fn text(&self) -> String {
        match self {
            Self::Constant(value) => format!("constant({value})"),
            Self::Gamma { shape, rate } => format!("gamma({shape}, {rate})"),
        }
    }

    /// A draw; `None` where the numbers are out of range.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        match *self {
            Self::Constant(value) => Some(value),
            Self::Gamma { shape, rate } => {
                Some(rng.sample(rand_distr::Gamma::new(shape, 1.0 / rate).ok()?))
            }
        }
    }

    /// Mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Gamma { shape, rate } => shape / rate,
        }
    }

    /// Log density at `alpha`, 0 if α is known.
    pub fn log_density(&self, alpha: f64) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Gamma { shape, rate } => {
                shape * rate.ln() - ln_gamma(*shape) + (shape - 1.0) * alpha.ln() - rate * alpha
            }
        }
    }
}

/// Log probability of a partition of N units into clusters of `sizes` given α (Antoniak 1974):
/// α^K Π Γ(m_k) Γ(α)/Γ(α + N).
pub fn log_partition(alpha: f64, sizes: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut log) = (0.0, 0.0);
    for size in sizes {
        total += size;
        log += alpha.ln() + ln_gamma(size);
    }
    log + ln_gamma(alpha) - ln_gamma(alpha + total)
}
