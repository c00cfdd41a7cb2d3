//! Adaptive Gauss-Hermite quadrature of the likelihood, for one group term with one effect.
//!
//! For group g with mode u_g and τ_g = M_gg^(−1/2), nodes x_k and weights w_k of ∫ e^(−x²) f(x) dx:
//!
//! ```text
//! ∫ p(y_g|u) φ(u) du ≈ τ_g π^(−1/2) Σ_k w_k e^(x_k²) p(y_g|u_k) e^(−u_k²/2),   u_k = u_g + √2 τ_g x_k
//! ```
//!
//! One node gives Laplace's approximation; n nodes are exact where the integrand is a Gaussian around the mode times a
//! polynomial of degree at most 2n − 1. Derivatives are taken by differences of fourth order: the nodes move with the
//! parameters.

use super::MixedError;
use super::laplace::Laplace;
use crate::numerics::quadrature::gauss_hermite;
use ergodic_base::control::Control;

/// Most nodes.
pub const MOST_NODES: usize = 100;
/// Step of the differences, in units of scaled columns and of θ: rounding and neglected terms are both below 1e-7.
const STEP: f64 = 1e-3;

/// The deviance by quadrature.
pub struct Quadrature<'l, 'a> {
    /// Finds the modes.
    pub laplace: &'l mut Laplace<'a>,
    nodes: Vec<f64>,
    /// log w_k + x_k² − ½ log π.
    log_weights: Vec<f64>,
    /// log p of each group at each node.
    log_p: Vec<f64>,
}

impl<'l, 'a> Quadrature<'l, 'a> {
    /// With `n` nodes.
    ///
    /// # Errors
    /// Several group terms, several effects per group, or a number of nodes that makes no sense.
    pub fn new(laplace: &'l mut Laplace<'a>, n: usize) -> Result<Self, MixedError> {
        let terms = &laplace.data.terms;
        if terms.len() != 1 || terms[0].width() != 1 {
            return Err(MixedError::data(
                "Quadrature is for one group term with one effect, such as (1 | group); use the method `laplace`",
            ));
        }
        if n == 0 || n > MOST_NODES {
            return Err(MixedError::Data(format!(
                "The number of quadrature nodes must be from 1 to {MOST_NODES}, not {n}"
            )));
        }
        let (nodes, weights) = gauss_hermite(n);
        let half_log_pi = 0.5 * std::f64::consts::PI.ln();
        let log_weights = nodes
            .iter()
            .zip(&weights)
            .map(|(x, w)| w.ln() + x * x - half_log_pi)
            .collect();
        Ok(Self {
            log_p: vec![0.0; n * terms[0].levels.len()],
            laplace,
            nodes,
            log_weights,
        })
    }

    /// The deviance at the parameters of [`Laplace::deviance`].
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance(&mut self, parameters: &[f64], control: &Control) -> Result<f64, MixedError> {
        if !self.laplace.deviance(parameters, control)?.is_finite() {
            return Ok(f64::INFINITY);
        }
        self.laplace
            .factor
            .selected_inverse(&mut self.laplace.inverse);
        let laplace = &*self.laplace;
        let (term, k) = (&laplace.data.terms[0], self.nodes.len());
        let lambda = laplace.lambda[0][0];
        self.log_p.fill(0.0);
        for row in 0..laplace.data.num_obs() {
            let group = term.index[row] as usize;
            let (y, trials, weight) = laplace.row(row);
            let center = laplace.base[row] + term.z[row] * laplace.b[group];
            // M is diagonal for one effect per group.
            let spread = term.z[row] * lambda * (2.0 * laplace.inverse[group]).sqrt();
            let log_p = &mut self.log_p[group * k..(group + 1) * k];
            for (log_p, node) in log_p.iter_mut().zip(&self.nodes) {
                *log_p += weight * laplace.outcome.at(center + spread * node, y, trials).log_p;
            }
        }
        let mut log_lik = laplace.constants();
        for (group, log_p) in self.log_p.chunks_exact(k).enumerate() {
            let scale = laplace.inverse[group].sqrt();
            let terms = || {
                (0..k).map(|j| {
                    let u = laplace.u[group] + std::f64::consts::SQRT_2 * scale * self.nodes[j];
                    self.log_weights[j] + log_p[j] - 0.5 * u * u
                })
            };
            let largest = terms().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = terms().map(|term| (term - largest).exp()).sum();
            log_lik += scale.ln() + largest + sum.ln();
        }
        Ok(-2.0 * log_lik)
    }

    /// The deviance and its gradient by differences.
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance_and_gradient(
        &mut self,
        parameters: &[f64],
        grad: &mut [f64],
        control: &Control,
    ) -> Result<f64, MixedError> {
        let deviance = self.deviance(parameters, control)?;
        if !deviance.is_finite() {
            grad.fill(0.0);
            return Ok(f64::INFINITY);
        }
        let mut moved = parameters.to_vec();
        for k in 0..moved.len() {
            let mut at = |h: f64| {
                moved[k] = parameters[k] + h;
                let value = self.deviance(&moved, control);
                moved[k] = parameters[k];
                value
            };
            let near = at(STEP)? - at(-STEP)?;
            let far = at(2.0 * STEP)? - at(-2.0 * STEP)?;
            grad[k] = (8.0 * near - far) / (12.0 * STEP);
        }
        Ok(deviance)
    }
}
