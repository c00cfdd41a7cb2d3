//! Mixed models by likelihood: what lme4's `lmer` and `glmer` do.
//!
//! ```text
//! y_i | b ~ family(x_i'β + z_i'b + o_i),   b_t,g ~ N(0, Σ_t) for every group g of term t, all independent
//! ```
//!
//! Without group terms the likelihood is that of a plain regression, which the methods `profile` and `laplace` then maximise
//! without approximation. Coordinates besides θ and β are the parameters of the family; of ordered levels they are the logarithms
//! of gaps between cut points, and β has the intercept in the place of the first cut point.
//!
//! | id | for | what it does |
//! |---|---|---|
//! | `profile` | Gaussian | quasi-Newton on the profiled ML or REML deviance with its exact gradient |
//! | `em`, `squarem` | Gaussian, ML | EM with corrected updates, and accelerated |
//! | `laplace` | others | quasi-Newton on Laplace's approximation of the deviance with its exact gradient |
//! | `aghq`, `ghq` | others, one grouping factor | Gauss-Hermite quadrature around the modes or around 0 |
//! | `monte-carlo` | others, one grouping factor | averages over draws of the effects |
//! | `em-aghq`, `em-laplace` | others | EM with expectations by quadrature or by Laplace's approximation, accelerated |
//! | `mcem` | others | Monte Carlo EM with OSGFS drawing the effects |
//!
//! Nothing here knows priors: the Bayesian counterpart is the template `mixed`.

mod ascent;
mod bfgs;
pub(crate) mod blocks;
pub(crate) mod covariance;
pub(crate) mod data;
pub(crate) mod em;
mod error;
mod expectation;
mod factor;
mod fit;
mod gaussian;
mod generalised;
mod integral;
pub(crate) mod laplace;
pub(crate) mod mcem;
mod objective;
pub(crate) mod profile;
mod remark;
mod satterthwaite;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod units;

use ergodic_base::Control;

pub use data::{MixedData, RandomTerm};
pub use error::{Breakdown, Misfit, MixedError};
pub use fit::{
    FittedCurve, FixedEffect, GroupEffects, METHODS, Method, MethodSpec, MixedFit, Predictors,
    VarianceComponent,
};
pub use gaussian::fit_gaussian;
pub use generalised::fit_generalised;
pub use integral::{Fineness, LEAST_DRAWS, MOST_DRAWS, MOST_NODES};
pub use mcem::MonteCarlo;
pub use profile::Criterion;
pub use remark::{Edge, Remark};

/// The stage of a [`Control`] during a fit, which counts evaluations.
pub(crate) const EVALUATING: &str = "evaluating the likelihood";

/// One more evaluation of the likelihood is begun, unless somebody cancelled.
fn tick(control: &Control) -> Result<(), MixedError> {
    control.count(1);
    control.check(MixedError::Cancelled)
}
