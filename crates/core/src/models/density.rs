//! A log density of one's own: whatever can be computed at a point of R^D with its gradient.
//!
//! Samplers that look at a posterior as a whole need no more than a [`LogDensity`]; those that estimate gradients from rows of
//! data, or use the structure of a likelihood, refuse it with a reason.

use super::{CentreRows, Model, ParamInfo, Rows, Scratch};
use ergodic_base::rng::ChainRng;
use rand::RngExt as _;

/// A log density on R^D: all that somebody else's model must bring.
///
/// ```
/// use ergodic_core::models::LogDensity;
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
}

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

/// A [`LogDensity`] as a [`Model`]: one row that is the whole density, and no prior apart.
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
            prior: "part of the density".to_owned(),
            prior_source: "the density".to_owned(),
        });
        Self {
            params: params.collect(),
            density,
        }
    }
}

/// Relative step of central differences of a gradient: the cube root of the precision of binary64.
const RELATIVE_STEP: f64 = 6e-6;

impl<L: LogDensity> Model for DensityModel<L> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn dim(&self) -> usize {
        self.density.dim()
    }

    fn num_obs(&self) -> usize {
        1
    }

    fn has_rows(&self) -> bool {
        false
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            vector: vec![0.0; self.dim()],
            ..Scratch::default()
        }
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(u);
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        u.copy_from_slice(theta);
    }

    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        self.density.init(rng, u);
    }

    fn log_prior(&self, _u: &[f64], grad: &mut [f64]) -> f64 {
        grad.fill(0.0);
        0.0
    }

    fn prior_density(&self, _index: usize, _value: f64) -> Option<f64> {
        None
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let own = &mut scratch.vector;
        let value = self.density.log_density(u, own);
        let times = rows.len(1) as f64;
        for (grad, own) in grad.iter_mut().zip(own) {
            *grad += times * *own;
        }
        times * value
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.log_lik(u, rows, scratch, grad);
    }

    fn pointwise(&self, u: &[f64], _rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        out.fill(self.density.log_density(u, &mut scratch.vector));
    }

    fn scores(&self, u: &[f64], _rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for score in out.chunks_exact_mut(self.dim()) {
            self.density.log_density(u, score);
        }
    }

    fn simulate(&self, _u: &[f64], _rows: Rows<'_>, _rng: &mut ChainRng, y: &mut [f64]) {
        y.fill(f64::NAN);
    }

    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        let mut at_centre = vec![0.0; self.dim()];
        self.log_lik(u, rows, scratch, grad);
        self.log_lik(&centre.u, rows, scratch, &mut at_centre);
        for (grad, at_centre) in grad.iter_mut().zip(at_centre) {
            *grad -= at_centre;
        }
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.scores(u, rows, scratch, out);
        self.density.log_density(&centre.u, &mut scratch.vector);
        for score in out.chunks_exact_mut(self.dim()) {
            for (score, at_centre) in score.iter_mut().zip(&scratch.vector) {
                *score -= at_centre;
            }
        }
    }

    /// Central differences of the gradient: 2D of them.
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        _scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let (dim, times) = (self.dim(), rows.len(1) as f64);
        let (mut place, mut above, mut below) = (u.to_vec(), vec![0.0; dim], vec![0.0; dim]);
        for j in 0..dim {
            let step = RELATIVE_STEP * u[j].abs().max(1.0);
            place[j] = u[j] + step;
            self.density.log_density(&place, &mut above);
            place[j] = u[j] - step;
            self.density.log_density(&place, &mut below);
            place[j] = u[j];
            for k in 0..dim {
                // Half to each of the two places that ought to agree.
                let second = -times * (above[k] - below[k]) / (2.0 * step);
                hessian[j * dim + k] += 0.5 * second;
                hessian[k * dim + j] += 0.5 * second;
            }
        }
    }

    fn add_neg_hessian_log_prior(&self, _u: &[f64], _hessian: &mut [f64]) {}
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
        model.add_neg_hessian_log_lik(&u, Rows::All, &mut model.scratch(), &mut hessian);
        let expected = [3.0 + 0.7_f64.sin(), 1.0, 1.0, 2.0];
        for (found, expected) in hessian.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{hessian:?}");
        }
        let mut grad = vec![0.0; 2];
        let value = model.log_lik(&u, Rows::All, &mut model.scratch(), &mut grad);
        assert!((value - (-0.5 * (1.47 - 1.68 + 2.88) + 0.7_f64.sin())).abs() < 1e-12);
        assert_eq!(model.params()[1].name, "u[2]");
    }
}
