//! A Gaussian posterior in closed form.
//!
//! Rows x_i ~ N(θ, Σ) with known Σ = diag(1, 1/4, 1/9, …) and prior θ ~ N(0, s² I).

use rand_distr::{Distribution as _, StandardNormal};

use crate::models::{
    CentreRows, Form, KnownConditional, LogDensity, Model, ParamInfo, Posterior, RowLikelihood,
    Rows, Scratch, sum_of_rows,
};
use ergodic_base::linalg::{Cholesky, axpy};
use ergodic_base::{ChainRng, Purpose, stream};

/// The model of the module's header.
pub struct GaussianRows {
    params: Vec<ParamInfo>,
    /// Row-major N×D.
    x: Vec<f64>,
    /// 1/Σ_jj, length D.
    precision: Vec<f64>,
    prior_precision: f64,
    num_obs: usize,
}

impl GaussianRows {
    /// `num_obs` rows around θ = (0.1, 0.2, …) with prior sd 10.
    pub fn simulated(num_obs: usize, dim: usize, seed: u64) -> Self {
        let mut rng = stream(seed, 0, Purpose::Data);
        let precision: Vec<f64> = (1..=dim).map(|j| (j * j) as f64).collect();
        let mut x = Vec::with_capacity(num_obs * dim);
        for _ in 0..num_obs {
            for (j, precision) in precision.iter().enumerate() {
                let noise: f64 = StandardNormal.sample(&mut rng);
                x.push(0.1 * (j + 1) as f64 + noise / precision.sqrt());
            }
        }
        let params = (0..dim)
            .map(|j| ParamInfo {
                name: format!("theta[{}]", j + 1).into(),
                meaning: String::new(),
                prior: "normal(0, 10)".into(),
                prior_source: "fixed".into(),
            })
            .collect();
        Self {
            params,
            x,
            precision,
            prior_precision: 0.01,
            num_obs,
        }
    }

    /// Simulated rows, moved so that their covariance is exactly Σ: one row's score then has the covariance
    /// Σ⁻¹ exactly, and N C equals the curvature of the likelihood, as Fisher scoring assumes.
    pub fn balanced(num_obs: usize, dim: usize, seed: u64) -> Self {
        let mut model = Self::simulated(num_obs, dim, seed);
        let n = num_obs as f64;
        let mut mean = vec![0.0; dim];
        for x in model.x.chunks_exact(dim) {
            axpy(1.0 / n, x, &mut mean);
        }
        let mut covariance = vec![0.0; dim * dim];
        for x in model.x.chunks_exact_mut(dim) {
            axpy(-1.0, &mean, x);
            for i in 0..dim {
                axpy(x[i] / n, x, &mut covariance[i * dim..(i + 1) * dim]);
            }
        }
        let factor = Cholesky::of(&covariance, dim).unwrap();
        for x in model.x.chunks_exact_mut(dim) {
            factor.solve_lower(x);
            for j in 0..dim {
                x[j] = mean[j] + x[j] / model.precision[j].sqrt();
            }
        }
        model
    }

    /// The model with another prior: N(0, 1/`precision`) per coordinate.
    #[must_use]
    pub fn with_prior_precision(mut self, precision: f64) -> Self {
        self.prior_precision = precision;
        self
    }

    /// The model with coordinates of other names.
    #[must_use]
    pub fn with_names(mut self, names: &[&str]) -> Self {
        for (param, name) in self.params.iter_mut().zip(names) {
            param.name = (*name).into();
        }
        self
    }

    fn row_log_lik(&self, u: &[f64], row: usize) -> f64 {
        let dim = self.dim();
        let x = &self.x[row * dim..][..dim];
        let squares: f64 = (0..dim)
            .map(|j| self.precision[j] * (x[j] - u[j]).powi(2))
            .sum();
        -0.5 * squares
    }

    /// Exact posterior mean, which is also the mode.
    pub fn posterior_mean(&self) -> Vec<f64> {
        let dim = self.dim();
        (0..dim)
            .map(|j| {
                let sum: f64 = self.x.iter().skip(j).step_by(dim).sum();
                self.precision[j] * sum
                    / (self.num_obs as f64 * self.precision[j] + self.prior_precision)
            })
            .collect()
    }

    /// Exact posterior variances; the posterior is independent over coordinates.
    pub fn posterior_variance(&self) -> Vec<f64> {
        self.precision
            .iter()
            .map(|p| 1.0 / (self.num_obs as f64 * p + self.prior_precision))
            .collect()
    }

    /// Variance over rows of one row's score (population variance), per coordinate.
    pub fn score_variance(&self) -> Vec<f64> {
        let (dim, n) = (self.dim(), self.num_obs as f64);
        (0..dim)
            .map(|j| {
                let column = || self.x.iter().skip(j).step_by(dim);
                let mean = column().sum::<f64>() / n;
                self.precision[j].powi(2) * column().map(|x| (x - mean) * (x - mean)).sum::<f64>()
                    / n
            })
            .collect()
    }
}

impl Model for GaussianRows {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }
    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }
    fn known_conditionals(&self) -> Vec<KnownConditional> {
        vec![KnownConditional {
            coordinates: 0..self.dim(),
            form: Form::Normal,
            independent: true,
        }]
    }
}

impl LogDensity for GaussianRows {
    fn dim(&self) -> usize {
        self.params.len()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for u in u {
            *u = StandardNormal.sample(rng);
        }
    }
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for GaussianRows {
    fn num_obs(&self) -> usize {
        self.num_obs
    }
    fn scratch(&self) -> Scratch {
        let mut scratch = Scratch::default();
        scratch.vector = vec![0.0; self.dim()];
        scratch
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        for (g, u) in grad.iter_mut().zip(u) {
            *g = -self.prior_precision * u;
        }
        -0.5 * self.prior_precision * u.iter().map(|u| u * u).sum::<f64>()
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.grad_log_lik(u, rows, scratch, grad);
        (0..rows.len(self.num_obs))
            .map(|k| self.row_log_lik(u, rows.get(k)))
            .sum()
    }
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, grad: &mut [f64]) {
        let dim = self.dim();
        for k in 0..rows.len(self.num_obs) {
            let x = &self.x[rows.get(k) * dim..][..dim];
            for j in 0..dim {
                grad[j] += self.precision[j] * (x[j] - u[j]);
            }
        }
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.row_log_lik(u, rows.get(k));
        }
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        let dim = self.dim();
        for k in 0..rows.len(self.num_obs) {
            for j in 0..dim {
                out[k * dim + j] = self.precision[j] * (self.x[rows.get(k) * dim + j] - u[j]);
            }
        }
    }
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        _s: &mut Scratch,
        grad: &mut [f64],
    ) {
        let count = rows.len(self.num_obs) as f64;
        for j in 0..self.dim() {
            grad[j] += count * self.precision[j] * (centre.u[j] - u[j]);
        }
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        _s: &mut Scratch,
        out: &mut [f64],
    ) {
        let dim = self.dim();
        for k in 0..rows.len(self.num_obs) {
            for j in 0..dim {
                out[k * dim + j] = self.precision[j] * (centre.u[j] - u[j]);
            }
        }
    }
    fn add_neg_hessian_log_lik(
        &self,
        _u: &[f64],
        rows: Rows<'_>,
        _s: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = self.dim();
        for j in 0..dim {
            hessian[j * dim + j] += rows.len(self.num_obs) as f64 * self.precision[j];
        }
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        for j in 0..u.len() {
            hessian[j * u.len() + j] += self.prior_precision;
        }
    }
}
