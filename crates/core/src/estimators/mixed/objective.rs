//! The deviances that a likelihood fit can minimise.

use super::MixedError;
use super::integral::Integral;
use super::laplace::Laplace;
use ergodic_base::Control;

/// Laplace's approximation of the deviance, or the deviance by integrals of groups.
pub enum Objective<'l, 'a> {
    /// By Laplace's approximation.
    Laplace(&'l mut Laplace<'a>),
    /// By points.
    Integral(Box<Integral<'l, 'a>>),
}

impl<'a> Objective<'_, 'a> {
    /// What finds the modes, and holds the parameters.
    pub fn laplace(&mut self) -> &mut Laplace<'a> {
        match self {
            Self::Laplace(laplace) => laplace,
            Self::Integral(integral) => integral.laplace,
        }
    }

    /// The deviance at θ, β and the coordinates of the family, in one vector; infinite where there is none.
    ///
    /// # Errors
    /// Cancelled.
    pub fn value(&mut self, at: &[f64], control: &Control) -> Result<f64, MixedError> {
        match self {
            Self::Laplace(laplace) => laplace.deviance(at, control),
            Self::Integral(integral) => integral.deviance(at, control),
        }
    }

    /// The deviance and its gradient.
    ///
    /// # Errors
    /// Cancelled.
    pub fn gradient(
        &mut self,
        at: &[f64],
        grad: &mut [f64],
        control: &Control,
    ) -> Result<f64, MixedError> {
        match self {
            Self::Laplace(laplace) => laplace.deviance_and_gradient(at, grad, control),
            Self::Integral(integral) => integral.deviance_and_gradient(at, grad, control),
        }
    }
}
