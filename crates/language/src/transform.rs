//! From unbounded coordinates to parameters within their bounds, with the Jacobian, and back.
//!
//! | bounds | θ | log of the Jacobian |
//! |---|---|---|
//! | none | u | 0 |
//! | above a | a + e^u | u |
//! | below b | b − e^u | u |
//! | between a and b | a + (b − a) p, p = 1/(1 + e^−u) | log(b − a) + log p + log(1 − p) |
//! | ascending x_1 < … < x_K | x_1 = u_1, x_k = x_{k−1} + e^u_k | Σ_{k>1} u_k |
//! | shares x_1, …, x_K of a whole | x_k = r_k z_k with r_k = 1 − Σ_{l<k} x_l, z_k = 1/(1 + (K − k) e^−u_k) | Σ log r_k + log z_k + log(1 − z_k) |
//!
//! The last is the breaking of a stick, as in Stan before 2.37: at u = 0 all shares are equal.

use std::ops::Range;

use crate::lower::{Bounds, Parameter};
use ergodic_base::special::{logistic, softplus};

/// Where the coordinates of a parameter stand.
#[derive(Clone, Debug)]
struct Piece {
    bounds: Bounds,
    /// Elements of the parameter among those of all parameters.
    elements: Range<usize>,
    /// Coordinates of the parameter.
    coordinates: Range<usize>,
    /// K of a simplex or of ascending numbers.
    shares: usize,
}

/// The transforms of all parameters.
#[derive(Clone, Debug)]
pub(crate) struct Transform {
    pieces: Vec<Piece>,
}

impl Transform {
    pub fn of(parameters: &[Parameter]) -> Self {
        let mut next = 0;
        let pieces = parameters.iter().map(|parameter| {
            let len = parameter.len();
            let shares = parameter.sizes().last().copied().unwrap_or(1);
            let coordinates = match parameter.bounds {
                Bounds::Simplex => len / shares * (shares - 1),
                _ => len,
            };
            next += coordinates;
            Piece {
                bounds: parameter.bounds,
                elements: parameter.offset..parameter.offset + len,
                coordinates: next - coordinates..next,
                shares,
            }
        });
        Self {
            pieces: pieces.collect(),
        }
    }

    /// D.
    pub fn dim(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.coordinates.end)
    }

    /// Number of elements of all parameters.
    pub fn num_elements(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.elements.end)
    }

    /// Coordinates of each parameter.
    pub fn coordinates(&self) -> impl Iterator<Item = Range<usize>> {
        self.pieces.iter().map(|piece| piece.coordinates.clone())
    }

    /// The element that each coordinate is, where it is one without bounds.
    pub fn plain_elements(&self) -> Vec<Option<usize>> {
        let mut plain = Vec::new();
        for piece in &self.pieces {
            let is_plain = piece.bounds == Bounds::Real;
            let elements = piece.coordinates.clone().zip(piece.elements.clone());
            plain.extend(elements.map(|(_, element)| is_plain.then_some(element)));
        }
        plain
    }

    /// Parameters at `u`.
    pub fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        for piece in &self.pieces {
            let (u, theta) = (
                &u[piece.coordinates.clone()],
                &mut theta[piece.elements.clone()],
            );
            if piece.bounds == Bounds::Simplex {
                let groups = u.chunks_exact(piece.shares - 1);
                for (u, x) in groups.zip(theta.chunks_exact_mut(piece.shares)) {
                    break_stick(u, x);
                }
                continue;
            }
            if piece.bounds == Bounds::Ordered {
                let groups = u.chunks_exact(piece.shares);
                for (u, x) in groups.zip(theta.chunks_exact_mut(piece.shares)) {
                    climb(u, x);
                }
                continue;
            }
            for (theta, &u) in theta.iter_mut().zip(u) {
                *theta = match piece.bounds {
                    Bounds::Above(a) => a + u.exp(),
                    Bounds::Below(b) => b - u.exp(),
                    Bounds::Between(a, b) if u < 0.0 => a + (b - a) * logistic(u),
                    Bounds::Between(a, b) => b - (b - a) * logistic(-u),
                    Bounds::Real | Bounds::Simplex | Bounds::Ordered => u,
                };
            }
        }
    }

    /// Coordinates whose parameters are `theta`.
    pub fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        for piece in &self.pieces {
            let (u, theta) = (
                &mut u[piece.coordinates.clone()],
                &theta[piece.elements.clone()],
            );
            if piece.bounds == Bounds::Simplex {
                let groups = u.chunks_exact_mut(piece.shares - 1);
                for (u, x) in groups.zip(theta.chunks_exact(piece.shares)) {
                    let mut rest = x[u.len()];
                    for k in (0..u.len()).rev() {
                        u[k] = x[k].ln() - rest.ln() + ((u.len() - k) as f64).ln();
                        rest += x[k];
                    }
                }
                continue;
            }
            if piece.bounds == Bounds::Ordered {
                let groups = u.chunks_exact_mut(piece.shares);
                for (u, x) in groups.zip(theta.chunks_exact(piece.shares)) {
                    u[0] = x[0];
                    for k in 1..x.len() {
                        u[k] = (x[k] - x[k - 1]).ln();
                    }
                }
                continue;
            }
            for (u, &theta) in u.iter_mut().zip(theta) {
                *u = match piece.bounds {
                    Bounds::Above(a) => (theta - a).ln(),
                    Bounds::Below(b) => (b - theta).ln(),
                    Bounds::Between(a, b) => (theta - a).ln() - (b - theta).ln(),
                    Bounds::Real | Bounds::Simplex | Bounds::Ordered => theta,
                };
            }
        }
    }

    /// ADDS to `grad` (D) the derivative of a function whose derivative by the parameters is `by_theta`. With `jacobian` the
    /// function has log|∂θ/∂u| added, which is returned, up to nothing; otherwise returns 0.
    pub fn pull_back(
        &self,
        u: &[f64],
        theta: &[f64],
        by_theta: &[f64],
        jacobian: bool,
        grad: &mut [f64],
    ) -> f64 {
        let one = f64::from(u8::from(jacobian));
        let mut log_jacobian = 0.0;
        for piece in &self.pieces {
            let u = &u[piece.coordinates.clone()];
            let grad = &mut grad[piece.coordinates.clone()];
            let by_theta = &by_theta[piece.elements.clone()];
            if piece.bounds == Bounds::Simplex {
                let theta = &theta[piece.elements.clone()];
                let shares = piece.shares;
                let groups = u.chunks_exact(shares - 1).zip(theta.chunks_exact(shares));
                let back = by_theta
                    .chunks_exact(shares)
                    .zip(grad.chunks_exact_mut(shares - 1));
                for ((u, x), (by_x, grad)) in groups.zip(back) {
                    log_jacobian += unbreak_stick(u, x, by_x, one, grad);
                }
                continue;
            }
            if piece.bounds == Bounds::Ordered {
                let len = piece.shares;
                let groups = u.chunks_exact(len).zip(by_theta.chunks_exact(len));
                for ((u, by_x), grad) in groups.zip(grad.chunks_exact_mut(len)) {
                    log_jacobian += unclimb(u, by_x, one, grad);
                }
                continue;
            }
            for ((grad, &by_theta), &u) in grad.iter_mut().zip(by_theta).zip(u) {
                match piece.bounds {
                    Bounds::Above(_) | Bounds::Below(_) => {
                        let slope = match piece.bounds {
                            Bounds::Below(_) => -u.exp(),
                            _ => u.exp(),
                        };
                        *grad += by_theta * slope + one;
                        log_jacobian += u;
                    }
                    Bounds::Between(a, b) => {
                        let (p, q) = (logistic(u), logistic(-u));
                        *grad += by_theta * (b - a) * p * q + one * (q - p);
                        log_jacobian += (b - a).ln() - softplus(u) - softplus(-u);
                    }
                    Bounds::Real | Bounds::Simplex | Bounds::Ordered => *grad += by_theta,
                }
            }
        }
        if jacobian { log_jacobian } else { 0.0 }
    }
}

/// Ascending numbers `x` at `u`.
fn climb(u: &[f64], x: &mut [f64]) {
    let mut last = u[0];
    x[0] = last;
    for (x, u) in x.iter_mut().zip(u).skip(1) {
        last += u.exp();
        *x = last;
    }
}

/// See [`Transform::pull_back`].
fn unclimb(u: &[f64], by_x: &[f64], one: f64, grad: &mut [f64]) -> f64 {
    // What a step changes is all that comes after it.
    let (mut after, mut log_jacobian) = (0.0, 0.0);
    for k in (1..u.len()).rev() {
        after += by_x[k];
        grad[k] += after * u[k].exp() + one;
        log_jacobian += u[k];
    }
    grad[0] += after + by_x[0];
    log_jacobian
}

/// Shares `x` (K) at `u` (K − 1).
fn break_stick(u: &[f64], x: &mut [f64]) {
    let mut rest = 1.0;
    for (k, &u_k) in u.iter().enumerate() {
        let v = u_k - ((u.len() - k) as f64).ln();
        x[k] = rest * logistic(v);
        rest *= logistic(-v);
    }
    x[u.len()] = rest;
}

/// See [`Transform::pull_back`].
fn unbreak_stick(u: &[f64], x: &[f64], by_x: &[f64], one: f64, grad: &mut [f64]) -> f64 {
    let last = u.len();
    let (mut rest, mut by_rest) = (x[last], by_x[last]);
    let mut log_jacobian = 0.0;
    for k in (0..last).rev() {
        let v = u[k] - ((last - k) as f64).ln();
        let (z, w) = (logistic(v), logistic(-v));
        rest += x[k];
        let by_z = rest * (by_x[k] - by_rest);
        grad[k] += by_z * z * w + one * (w - z);
        by_rest = by_x[k] * z + by_rest * w + one / rest;
        log_jacobian += rest.ln() - softplus(-v) - softplus(v);
    }
    log_jacobian
}
