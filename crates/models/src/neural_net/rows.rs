//! The likelihood of rows, by tiles of them.

use super::Network;
use super::network::{TILE_ROWS, Tile};
use crate::{RowLikelihood, Rows, Scratch, add_differences};
use ergodic_base::linalg::dot;

/// Weights and their gradient.
fn halves(memory: &mut [f64]) -> (&mut [f64], &mut [f64]) {
    memory.split_at_mut(memory.len() / 2)
}

impl Network {
    /// ADDS the gradient in u, of which `of_weights` is that in `weights`.
    fn add_to(&self, u: &[f64], weights: &[f64], of_weights: &[f64], grad: &mut [f64]) {
        for (group, at) in self.groups() {
            let own = group.weights.clone();
            let scale = (-0.5 * u[at]).exp();
            ergodic_base::linalg::axpy(scale, &of_weights[own.clone()], &mut grad[own.clone()]);
            grad[at] -= 0.5 * dot(&weights[own.clone()], &of_weights[own]);
        }
    }

    /// ADDS the gradient of the log likelihood of `rows`; that itself.
    fn pass(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let (data, activation) = (self.data(), self.activation);
        let (weights, of_weights) = halves(&mut scratch.lanes);
        self.weights(u, weights);
        of_weights.fill(0.0);
        let mut tile = Tile::of(&self.shape, &mut scratch.tile);
        let mut value = 0.0;
        for first in (0..rows.len(self.num_obs())).step_by(TILE_ROWS) {
            tile.score(&data, activation, weights, (rows, first));
            value += tile.judge(&data, (rows, first)).iter().sum::<f64>();
            tile.pull_back(activation, weights);
            tile.add_gradient(of_weights);
        }
        self.add_to(u, weights, of_weights, grad);
        value
    }
}

impl RowLikelihood for Network {
    fn num_obs(&self) -> usize {
        self.place.len()
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            tile: vec![0.0; self.shape.tile_len()],
            lanes: vec![0.0; 2 * self.shape.num_weights()],
            ..Scratch::default()
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let weights = self.shape.num_weights();
        let mut value = -0.5 * dot(&u[..weights], &u[..weights]);
        for (grad, z) in grad[..weights].iter_mut().zip(u) {
            *grad = -z;
        }
        for (group, at) in self.groups() {
            let [log_p, slope, _second] = group.precision.log_prior(u[at]);
            value += log_p;
            grad[at] = slope;
        }
        value
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let value = self.log_prior(u, &mut vec![0.0; u.len()]);
        // The volume of the map: every weight changes by 1/sqrt(λ) with its coordinate, and λ by itself.
        let volume =
            |(group, at): (&super::Group, usize)| (1.0 - 0.5 * group.weights.len() as f64) * u[at];
        Some(value - self.groups().map(volume).sum::<f64>())
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.pass(u, rows, scratch, grad)
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let data = self.data();
        let (weights, _of_weights) = halves(&mut scratch.lanes);
        self.weights(u, weights);
        let mut tile = Tile::of(&self.shape, &mut scratch.tile);
        for (t, out) in out.chunks_mut(TILE_ROWS).enumerate() {
            let at = (rows, t * TILE_ROWS);
            tile.score(&data, self.activation, weights, at);
            out.copy_from_slice(&tile.judge(&data, at)[..out.len()]);
        }
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        out.fill(0.0);
        let (data, activation) = (self.data(), self.activation);
        let (weights, of_weights) = halves(&mut scratch.lanes);
        self.weights(u, weights);
        let mut tile = Tile::of(&self.shape, &mut scratch.tile);
        let dim = u.len();
        for (t, out) in out.chunks_mut(TILE_ROWS * dim).enumerate() {
            let at = (rows, t * TILE_ROWS);
            tile.score(&data, activation, weights, at);
            tile.judge(&data, at);
            tile.pull_back(activation, weights);
            for (k, score) in out.chunks_exact_mut(dim).enumerate() {
                of_weights.fill(0.0);
                tile.add_gradient_of(k, of_weights);
                self.add_to(u, weights, of_weights, score);
            }
        }
    }

    /// By differences of the gradient, 2D passes: nothing asks for it but checks of small networks.
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = u.len();
        let mut memory = std::mem::take(&mut scratch.products);
        memory.resize(3 * dim, 0.0);
        let (at, rest) = memory.split_at_mut(dim);
        at.copy_from_slice(u);
        add_differences(at, rest, hessian, |u, grad| {
            self.pass(u, rows, scratch, grad);
        });
        scratch.products = memory;
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = u.len();
        for j in 0..self.shape.num_weights() {
            hessian[j * dim + j] += 1.0;
        }
        for (group, at) in self.groups() {
            let [_log_p, _slope, second] = group.precision.log_prior(u[at]);
            hessian[at * dim + at] -= second;
        }
    }
}
