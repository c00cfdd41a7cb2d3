//! What samplers on the probability simplex share: whom they suit, their target, the state they carry.

pub(super) mod conjugate;
pub(super) mod scir;
pub(super) mod sgrld_simplex;

use super::{StateVisitor, StepError, Target, Unsuitable};
use crate::models::{Model, SimplexCounts};
use crate::oracle::Oracle;
use ergodic_base::linalg::axpy;

/// Observations of a category, prior included, from which its posterior is near normal in log odds: the skewness of the
/// logarithm of a gamma variable of shape 10 is −0.33.
pub(super) const NORMAL_FROM: f64 = 10.0;

/// Noise of counts of rows relative to the posterior, whose parameter is a = α + C.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountNoise {
    /// Largest over categories of Σ w² z_j/a_j, at most 1 without weights. A minibatch that multiplies the covariance of
    /// rows by v N ([`super::minibatch_settings`]) estimates a_j, and a_j − p_j Σa, with a variance of at most v times
    /// this, relative to the posterior variance of θ_j, and of θ_j − p_j Σθ, which is that of the probability.
    pub of_counts: f64,
    /// Largest over categories of N Var(w z_j)/a_j² over rows: v times this is the variance of Ĉ_j/a_j.
    pub of_rates: f64,
}

impl CountNoise {
    /// The noise of counts of `target`, where its model is one of probabilities.
    pub fn of(target: &Target) -> Option<Self> {
        let view = target.simplex()?;
        let mut noise = Self::default();
        let counts = view.totals().iter().zip(view.squares());
        for ((count, squares), alpha) in counts.zip(view.concentration()) {
            let variance = squares - count * count / target.num_obs as f64;
            let a = alpha + count;
            noise.of_counts = noise.of_counts.max(squares / a);
            noise.of_rates = noise.of_rates.max(variance / (a * a));
        }
        Some(noise)
    }
}

/// Refuses models without the view of the simplex.
pub(super) fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
    model.simplex().map(|_view| ()).ok_or(Unsuitable::NoSimplex)
}

/// Refuses a posterior of probabilities that is far from normal in some category.
pub(super) fn refuse_sparse(model: &dyn Model) -> Result<(), Unsuitable> {
    let Some(view) = model.simplex() else {
        return Ok(());
    };
    let rare = view.totals().iter().zip(view.concentration());
    let rare = rare
        .filter(|(count, alpha)| *count + *alpha < NORMAL_FROM)
        .count();
    if rare == 0 {
        return Ok(());
    }
    Err(Unsuitable::RareCategories {
        rare,
        categories: view.totals().len(),
    })
}

/// Why a kernel cannot start or go on without the view; [`suits`] has refused such models before.
pub(super) fn view(oracle: &Oracle) -> Result<&dyn SimplexCounts, StepError> {
    (oracle.model().simplex()).ok_or(StepError::Lacks("probabilities of categories"))
}

/// Weights of categories as logarithms, p_j ∝ θ_j, and where that is in the model's coordinates.
#[derive(Clone, Debug)]
pub struct Weights {
    /// log θ (K).
    pub log: Vec<f64>,
    /// The model's coordinates (D).
    pub u: Vec<f64>,
    /// Estimated or exact counts (K).
    pub counts: Vec<f64>,
    /// Steps since the start of the chain, where somebody counts them.
    pub steps: u64,
}

impl Weights {
    /// The weights at `u0` with the sum `total`.
    pub fn at(u0: &[f64], total: f64, view: &dyn SimplexCounts) -> Self {
        let categories = view.totals().len();
        let mut log = vec![0.0; categories];
        view.log_probabilities(u0, &mut log);
        axpy(total.ln(), &vec![1.0; categories], &mut log);
        Self {
            log,
            u: u0.to_vec(),
            counts: vec![0.0; categories],
            steps: 0,
        }
    }

    /// Brings the coordinates up to date.
    ///
    /// # Errors
    /// A weight is not a number, or none is left.
    pub fn settle(&mut self, view: &dyn SimplexCounts, iter: u64) -> Result<(), StepError> {
        view.position(&self.log, &mut self.u);
        if self.u.iter().all(|u| u.is_finite()) {
            return Ok(());
        }
        Err(StepError::not_finite("the weight of a category", iter))
    }

    /// Visits what the next step needs.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("log_weights", &mut self.log);
        visitor.slice("u", &mut self.u);
        visitor.counter("steps", &mut self.steps);
    }
}
