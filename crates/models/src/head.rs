//! Coordinates that all rows of a regression share: coefficients, and then parameters of the family or gaps between cut points.
//!
//! Where levels are ordered the intercept is no parameter of its own: the first cut point is what is reported of it
//! ([`CutPoints`]). Reported are then the other coefficients and all cut points; there are as many of both as coordinates.

use super::auxiliary::Parameter;
use super::coefficients::Coefficients;
use super::cut_points::CutPoints;
use super::{Block, NoPriorDraws, ParamInfo};
use ergodic_base::{ChainRng, Class, ParamId};

/// See the module.
pub(super) struct Head {
    pub coefficients: Coefficients,
    rest: Rest,
}

/// What follows the coefficients.
pub(super) enum Rest {
    /// Parameters of the family, a coordinate each.
    Parameters(Vec<Parameter>),
    /// Gaps between cut points.
    Cuts(CutPoints),
}

impl Head {
    pub fn new(coefficients: Coefficients, rest: Rest) -> Self {
        Self { coefficients, rest }
    }

    /// Number of coordinates, and of reported quantities.
    pub fn len(&self) -> usize {
        self.coefficients.len() + self.num_auxiliaries()
    }

    /// Coordinates after the coefficients.
    pub fn num_auxiliaries(&self) -> usize {
        match &self.rest {
            Rest::Parameters(parameters) => parameters.len(),
            Rest::Cuts(cuts) => cuts.num_gaps(),
        }
    }

    /// The parameters of the family, of which there are none where there are cut points.
    pub fn parameters(&self) -> &[Parameter] {
        match &self.rest {
            Rest::Parameters(parameters) => parameters,
            Rest::Cuts(_) => &[],
        }
    }

    /// Whether there are cut points.
    pub fn has_cuts(&self) -> bool {
        matches!(self.rest, Rest::Cuts(_))
    }

    /// Natural blocks of coordinates where they differ from those of reported quantities.
    pub fn blocks(&self) -> Option<Vec<Block>> {
        let first = self.coefficients.len();
        let block = |name: &str, coordinates| Block {
            name: ParamId::named(name),
            coordinates,
        };
        self.has_cuts()
            .then(|| vec![block("b", 0..first), block("cut", first..self.len())])
    }

    /// Reported quantities from u, into the first of `theta`.
    pub fn report(&self, u: &[f64], theta: &mut [f64]) {
        let first = self.coefficients.len();
        self.coefficients.report(u, theta);
        match &self.rest {
            Rest::Parameters(parameters) => {
                let rest = parameters.iter().zip(&u[first..]);
                for (theta, (parameter, &a)) in theta[first..].iter_mut().zip(rest) {
                    *theta = parameter.report(a);
                }
            }
            Rest::Cuts(_) => {
                let intercept = theta[0];
                theta.copy_within(1..first, 0);
                CutPoints::write(intercept, &u[first..self.len()], &mut theta[first - 1..]);
            }
        }
    }

    /// The inverse of [`Self::report`].
    pub fn position(&self, theta: &[f64], u: &mut [f64]) {
        let first = self.coefficients.len();
        match &self.rest {
            Rest::Parameters(parameters) => {
                self.coefficients.position(theta, u);
                let rest = parameters.iter().zip(&theta[first..]);
                for (a, (parameter, &theta)) in u[first..].iter_mut().zip(rest) {
                    *a = parameter.position(theta);
                }
            }
            Rest::Cuts(_) => {
                let cuts = &theta[first - 1..self.len()];
                let mut own = vec![-cuts[0]];
                own.extend_from_slice(&theta[..first - 1]);
                self.coefficients.position(&own, u);
                for (a, pair) in u[first..].iter_mut().zip(cuts.windows(2)) {
                    *a = (pair[1] - pair[0]).ln();
                }
            }
        }
    }

    /// The log prior of u with the Jacobian; overwrites its gradient.
    pub fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let first = self.coefficients.len();
        let mut value = self.coefficients.log_prior(u, grad);
        match &self.rest {
            Rest::Parameters(parameters) => {
                let rest = parameters.iter().zip(&u[first..]);
                for (grad, (parameter, &a)) in grad[first..].iter_mut().zip(rest) {
                    let [log_p, slope, _second] = parameter.log_prior(a);
                    value += log_p;
                    *grad = slope;
                }
            }
            Rest::Cuts(cuts) => value += cuts.add_log_prior(&self.coefficients, u, grad),
        }
        value
    }

    /// The log of the Jacobian in [`Self::log_prior`], up to a constant.
    pub fn log_jacobian(&self, u: &[f64]) -> f64 {
        let rest = &u[self.coefficients.len()..self.len()];
        match &self.rest {
            Rest::Parameters(parameters) => {
                let each = parameters.iter().zip(rest);
                each.map(|(parameter, &a)| parameter.log_jacobian(a)).sum()
            }
            Rest::Cuts(_) => rest.iter().sum(),
        }
    }

    /// −∂²/∂u² of the log prior, ADDED to the row-major `hessian` (`dim` × `dim`).
    pub fn add_neg_hessian(&self, u: &[f64], dim: usize, hessian: &mut [f64]) {
        self.coefficients.add_neg_hessian(u, dim, hessian);
        match &self.rest {
            Rest::Parameters(parameters) => {
                for (k, parameter) in parameters.iter().enumerate() {
                    let j = self.coefficients.len() + k;
                    let [_value, _slope, second] = parameter.log_prior(u[j]);
                    hessian[j * dim + j] -= second;
                }
            }
            Rest::Cuts(cuts) => cuts.add_neg_hessian(&self.coefficients, u, dim, hessian),
        }
    }

    /// Draws u from the prior.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        let first = self.coefficients.len();
        match &self.rest {
            Rest::Parameters(parameters) => {
                self.coefficients.draw_prior(rng, u)?;
                for (a, parameter) in u[first..].iter_mut().zip(parameters) {
                    *a = parameter.draw(rng).ok_or(NoPriorDraws::HasFlat)?;
                }
                Ok(())
            }
            Rest::Cuts(cuts) => {
                u[0] = cuts
                    .draw(rng, &mut u[first..])
                    .ok_or(NoPriorDraws::HasFlat)?;
                self.coefficients.draw_prior(rng, u)
            }
        }
    }

    /// See [`super::Model::prior_range`], for the first reported quantities.
    pub fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        match (&self.rest, index.checked_sub(self.coefficients.len())) {
            (Rest::Parameters(_), None) => self.coefficients.prior(index)?.span(),
            (Rest::Parameters(parameters), Some(k)) => parameters[k].range(),
            (Rest::Cuts(_), _) if index + 1 < self.coefficients.len() => {
                self.coefficients.prior(index + 1)?.span()
            }
            (Rest::Cuts(_), _) => None,
        }
    }

    /// See [`super::Model::prior_density`], for the first reported quantities.
    pub fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        match (&self.rest, index.checked_sub(self.coefficients.len())) {
            (Rest::Parameters(_), None) => self.coefficients.prior(index)?.density(value),
            (Rest::Parameters(parameters), Some(k)) => parameters[k].density(value),
            (Rest::Cuts(_), _) if index + 1 < self.coefficients.len() => {
                self.coefficients.prior(index + 1)?.density(value)
            }
            (Rest::Cuts(_), _) => None,
        }
    }
}

/// Names of parameters that can have a prior of their own.
pub(super) fn names_of(params: &[ParamInfo]) -> Vec<&str> {
    let own = params.iter().map(|param| &param.name);
    let own = own.filter(|name| name.class() != Class::CutPoint);
    own.map(ParamId::as_str).collect()
}
