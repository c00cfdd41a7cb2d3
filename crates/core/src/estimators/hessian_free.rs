//! Newton's method without a matrix of curvature: each step by conjugate gradients, which need products of the curvature with vectors only.
//!
//! Sources: Martens (2010), "Deep learning via Hessian-free optimization", sections 3 and 4.4; Nocedal and Wright, Numerical Optimization, 2nd
//! edition, algorithm 7.1 (line search Newton-CG).
//!
//! With H = −∇²log π at θ and g = ∇log π, the step p is where conjugate gradients for H p = g end, begun at 0: after the products that make
//! the residual vanish; where the gain of the quadratic model, φ(p) = g'p − ½ p'H p, grew by less than a share kε of itself over the last
//! k = max(10, i/10) of i products, ε = 0.0005, which is Martens' rule; or at a direction d in which the curvature d'H d is not positive. Then the
//! step is halved until log π rises by Armijo's condition, as that of Newton.
//!
//! Here H is that of the log posterior itself, not Martens' Gauss-Newton matrix with damping, because densities of any kind are climbed and the
//! line search keeps steps in bounds. H d is a central difference of gradients, (∇log π(θ − εd) − ∇log π(θ + εd))/(2ε), two passes over the
//! rows; nothing of the size D² is made. **Cost** of an iteration: two passes per product, of which there are a few tens, where Newton's takes one
//! pass with D² operations per row and D³ more. **For** models with hundreds of parameters and more; with few, Newton is faster.

use super::mode::{ModeError, Objective, tick};
use super::newton::climb_along;
use super::registry::OptimiserSpec;
use super::trace::Recorder;
use ergodic_base::Control;
use ergodic_base::linalg::{axpy, dot};

/// Most products for one step, as Martens.
const MOST_PRODUCTS: usize = 250;
/// Least products over which the gain of the quadratic model is looked at.
const LOOK_BACK: usize = 10;
/// ε of Martens' rule.
const LEAST_GAIN: f64 = 5e-4;
/// Length of the residual, as a share of the gradient's, that is 0 but for rounding.
const VANISHED: f64 = 1e-12;
/// Half the distance of a central difference, the cube root of rounding, relative to the position.
const DIFFERENCE: f64 = 6e-6;

pub(super) const SPEC: OptimiserSpec = OptimiserSpec {
    id: "hessian-free",
    title: "Hessian-free",
    about: "Newton steps by conjugate gradients, whose curvature comes from differences of gradients of all rows; for models with many parameters",
    cite: "Martens (2010), ICML; Nocedal and Wright, Numerical Optimization, 2nd edition, algorithm 7.1",
    formula: "θ' = θ + s p, H(θ) p ≈ ∇log π(θ) by conjugate gradients, s halved until log π rises by Armijo's condition",
    fields: &[],
};

/// Climbs from `u` to a local maximum, in place.
pub(super) fn maximise(
    objective: Objective<'_>,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
) -> Result<u64, ModeError> {
    let mut curvature = Curvature::of(objective, u.len());
    climb_along(objective, u, control, recorder, |u, step, recorder| {
        curvature.solve(u, step, control, recorder)
    })
}

/// Products of H with vectors, and working memory (D each).
struct Curvature<'a> {
    objective: Objective<'a>,
    at: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
    work: Vec<f64>,
}

impl<'a> Curvature<'a> {
    fn of(objective: Objective<'a>, dim: usize) -> Self {
        Self {
            at: vec![0.0; dim],
            above: vec![0.0; dim],
            below: vec![0.0; dim],
            work: vec![0.0; dim],
            objective,
        }
    }

    /// H d at `u` into `out`.
    fn times(&mut self, u: &[f64], d: &[f64], out: &mut [f64], recorder: &mut Recorder) {
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let step = DIFFERENCE * largest(u).max(1.0) / largest(d);
        for (sign, grad) in [(1.0, &mut self.above), (-1.0, &mut self.below)] {
            self.at.copy_from_slice(u);
            axpy(sign * step, d, &mut self.at);
            self.objective.value(&self.at, grad, &mut self.work);
            recorder.spend(self.objective.num_rows());
        }
        for ((out, above), below) in out.iter_mut().zip(&self.above).zip(&self.below) {
            *out = 0.5 * (below - above) / step;
        }
    }

    /// Overwrites the gradient at `u` by the step p of the header.
    fn solve(
        &mut self,
        u: &[f64],
        step: &mut [f64],
        control: &Control,
        recorder: &mut Recorder,
    ) -> Result<(), ModeError> {
        let grad = step.to_vec();
        let first = dot(&grad, &grad);
        // Where nothing is uphill there is no step.
        step.fill(0.0);
        if first == 0.0 {
            return Ok(());
        }
        let (mut residual, mut direction) = (grad.clone(), grad.clone());
        let mut product = vec![0.0; u.len()];
        let mut gains = Vec::new();
        let mut square = first;
        for count in 1..=(2 * u.len()).min(MOST_PRODUCTS) {
            tick(control)?;
            self.times(u, &direction, &mut product, recorder);
            let curvature = dot(&direction, &product);
            // NaN, where the density ends, counts as no curvature.
            if curvature.is_nan() || curvature <= 0.0 {
                if count == 1 {
                    let length = match square / curvature.abs() {
                        length if length.is_finite() => length,
                        _ => square.sqrt().recip(),
                    };
                    axpy(length, &direction, step);
                }
                break;
            }
            let length = square / curvature;
            axpy(length, &direction, step);
            axpy(-length, &product, &mut residual);
            let before = square;
            square = dot(&residual, &residual);
            if square <= VANISHED * VANISHED * first {
                break;
            }
            // φ = ½ p'(g + r), because H p = g − r.
            let gain = 0.5 * (dot(step, &grad) + dot(step, &residual));
            gains.push(gain);
            let back = LOOK_BACK.max(count / 10);
            if count > back && gain - gains[count - 1 - back] < back as f64 * LEAST_GAIN * gain {
                break;
            }
            for (direction, residual) in direction.iter_mut().zip(&residual) {
                *direction = residual + square / before * *direction;
            }
        }
        Ok(())
    }
}
