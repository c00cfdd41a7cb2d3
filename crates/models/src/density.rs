//! A log density of one's own: whatever can be computed at a point of R^D with its gradient.
//!
//! Samplers that look at a posterior as a whole need no more than a [`LogDensity`]; those that estimate gradients from rows of
//! data, or use the structure of a likelihood, refuse it with a reason.

use super::{ChosenBy, Model, ParamInfo, Posterior, PriorSource, RowLikelihood, Rows};
use ergodic_base::ChainRng;
use rand::RngExt as _;

/// A log density on R^D: all that somebody else's model must bring.
///
/// ```
/// use ergodic_models::LogDensity;
///
/// /// Independent normal coordinates with standard deviations 1 and 10.
/// struct Uneven;
///
/// impl LogDensity for Uneven {
///     fn dim(&self) -> usize {
///         2
///     }
///
///     fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
///         grad[0] = -u[0];
///         grad[1] = -u[1] / 100.0;
///         -0.5 * (u[0] * u[0] + u[1] * u[1] / 100.0)
///     }
/// }
/// ```
pub trait LogDensity: Send + Sync {
    /// D, the number of coordinates.
    fn dim(&self) -> usize;
    /// The log density at `u` (D) in nats, up to a constant; overwrites `grad` (D) with its gradient. −∞ or NaN where there is
    /// no density.
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64;
    /// Why there is no density at `u` (D): a sentence that says what to change, where that is known.
    fn why_undefined(&self, _u: &[f64]) -> Option<String> {
        None
    }
    /// Names of the coordinates, as they are reported; `u[1]`, `u[2]`, … by default.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|j| format!("u[{j}]")).collect()
    }
    /// A place where a chain can start, where no mode is known: uniform between −2 and 2 in every coordinate by default, as in
    /// Stan.
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for u in u {
            *u = rng.random_range(-2.0..2.0);
        }
    }
    /// −∂²/∂u² of the log density, ADDED to the row-major D×D `hessian`. By default that of prior and rows where there are rows,
    /// otherwise central differences of the gradient, 2D of them.
    fn add_neg_hessian(&self, u: &[f64], hessian: &mut [f64]) {
        match self.rows() {
            Some(rows) => {
                rows.add_neg_hessian_log_lik(u, Rows::All, &mut rows.scratch(), hessian);
                rows.add_neg_hessian_log_prior(u, hessian);
            }
            None => {
                let (mut at, mut memory) = (u.to_vec(), vec![0.0; 2 * u.len()]);
                add_differences(&mut at, &mut memory, hessian, |u, grad| {
                    self.log_density(u, grad);
                });
            }
        }
    }
    /// Whether D×D matrices of curvature are cheap enough to be made. Without them no mode is searched for, and samplers
    /// start from [`Self::init`] and learn the scales themselves.
    fn has_dense_curvature(&self) -> bool {
        !self.has_equal_modes() && self.dim() <= MAX_DENSE_DIM
    }
    /// Whether the density is known to have many places that are equally high, so that there is no one mode to search for.
    fn has_equal_modes(&self) -> bool {
        false
    }
    /// Whether chains start where a stochastic search climbs to from [`Self::init`], although no curvature is known there: for densities
    /// that are far from where they start and too large for a mode.
    fn wants_ascent(&self) -> bool {
        false
    }
    /// The density by its prior and rows of data, where it is made of these.
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        None
    }
}

/// Most coordinates for which a dense matrix of curvature is made unless a density says otherwise: its eigenvalues, and the
/// noise of row gradients in all directions, take seconds up to here and many minutes at three times as many.
pub const MAX_DENSE_DIM: usize = 1000;
/// Most coordinates for a dense matrix of curvature in models with effects of groups, whose samplers need no mode: noise of row
/// gradients is measured in all directions, whose time grows with the third power.
pub const MAX_DENSE_DIM_OF_GROUPS: usize = 400;

/// The log density on R^`dim` that `log_density` computes: at `u` (D) up to a constant, overwriting the gradient (D).
pub fn density_of<F>(dim: usize, log_density: F) -> impl LogDensity
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync,
{
    Closure { dim, log_density }
}

struct Closure<F> {
    dim: usize,
    log_density: F,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> LogDensity for Closure<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        (self.log_density)(u, grad)
    }
}

/// A [`LogDensity`] as a [`Model`] that reports its coordinates.
pub struct DensityModel<L> {
    density: L,
    params: Vec<ParamInfo>,
}

impl<L: LogDensity> DensityModel<L> {
    /// The model of `density`.
    pub fn new(density: L) -> Self {
        let params = density.names().into_iter().map(|name| ParamInfo {
            name: name.into(),
            meaning: "coordinate of a log density".to_owned(),
            prior: "part of the density".into(),
            prior_source: PriorSource::new(ChosenBy::Model, "the density"),
        });
        Self {
            params: params.collect(),
            density,
        }
    }
}

impl<L: LogDensity> Model for DensityModel<L> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(&self.density)
    }
}

/// ADDS the negative derivative of `gradient`, which adds to zeros, by central differences around `at` to the symmetric
/// `hessian`. `memory` are 2 D numbers.
pub fn add_differences(
    at: &mut [f64],
    memory: &mut [f64],
    hessian: &mut [f64],
    mut gradient: impl FnMut(&[f64], &mut [f64]),
) {
    // The cube root of rounding.
    const STEP: f64 = 6e-6;
    let dim = at.len();
    let (above, below) = memory.split_at_mut(dim);
    for j in 0..dim {
        let centre = at[j];
        let step = STEP * centre.abs().max(1.0);
        above.fill(0.0);
        at[j] = centre + step;
        gradient(at, above);
        below.fill(0.0);
        at[j] = centre - step;
        gradient(at, below);
        at[j] = centre;
        for i in 0..dim {
            let second = 0.25 * (below[i] - above[i]) / step;
            hessian[i * dim + j] += second;
            hessian[j * dim + i] += second;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curvature_is_that_of_the_gradient() {
        // −½ (3 x² + 2 x y + 2 y²) + sin x
        let model = DensityModel::new(density_of(2, |u: &[f64], grad: &mut [f64]| {
            let (x, y) = (u[0], u[1]);
            grad[0] = -3.0 * x - y + x.cos();
            grad[1] = -x - 2.0 * y;
            -0.5 * (3.0 * x * x + 2.0 * x * y + 2.0 * y * y) + x.sin()
        }));
        let u = [0.7, -1.2];
        let mut hessian = vec![0.0; 4];
        let Posterior::Density(density) = model.posterior() else {
            panic!("a density");
        };
        density.add_neg_hessian(&u, &mut hessian);
        let expected = [3.0 + 0.7_f64.sin(), 1.0, 1.0, 2.0];
        for (found, expected) in hessian.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{hessian:?}");
        }
        let mut grad = vec![0.0; 2];
        let value = density.log_density(&u, &mut grad);
        assert!((value - (-0.5 * (1.47 - 1.68 + 2.88) + 0.7_f64.sin())).abs() < 1e-12);
        assert_eq!(model.params()[1].name, "u[2]");
    }
}
