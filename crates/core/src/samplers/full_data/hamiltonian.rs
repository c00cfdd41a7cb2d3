//! What Hamiltonian samplers share: the metric, points of phase space, the leapfrog step, a first step size.
//!
//! H(u, p) = −log π(u) + p'M⁻¹p/2 with momentum p ~ N(0, M). The metric M is kept as its inverse, which has the scale of
//! the posterior covariance. One leapfrog step of size ε:
//! p ← p + (ε/2)∇log π(u); u ← u + ε M⁻¹p; p ← p + (ε/2)∇log π(u).
//!
//! ε is what Stan calls the step size. In the Langevin time of the other samplers it is h = ε²/2: one leapfrog step from
//! fresh momentum is u' = u + (ε²/2) M⁻¹∇log π + ε M^{-1/2} ξ.

use rand_distr::{Distribution as _, StandardNormal};

use crate::oracle::{Oracle, StepError};
use crate::samplers::StateVisitor;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot, matvec};

/// Log acceptance probability of one leapfrog step that the first step size is brought to (Stan's: log 0.8).
const FIRST_STEP_ACCEPT: f64 = 0.8;
/// Doubling ends here (Stan's limit): a step this long means that the density is flat.
const LONGEST_STEP: f64 = 1e7;
/// Halving ends here: the density is not finite however close one stays.
const SHORTEST_STEP: f64 = 1e-300;
/// A rise of the energy beyond this is a divergence (Stan's limit): such a point has weight exp(−1000).
pub const MAX_ENERGY_ERROR: f64 = 1000.0;

/// A log density with its gradient: what a trajectory follows.
pub trait LogDensity {
    /// log π at `u`, constants dropped; overwrites `grad` (D).
    ///
    /// # Errors
    /// [`StepError::Interrupted`] when the run is stopped meanwhile.
    fn log_density(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError>;
}

/// The posterior of all rows.
impl LogDensity for Oracle {
    fn log_density(&mut self, u: &[f64], grad: &mut [f64]) -> Result<f64, StepError> {
        self.exact(u, grad)
    }
}

ergodic_base::choice! {
    /// Which entries of the inverse metric are free.
    pub enum MetricKind {
        /// Scales of single coordinates.
        Diagonal = "diagonal",
        /// Scales and correlations.
        Dense = "dense",
    }
}

/// The metric of a Hamiltonian sampler.
#[derive(Clone, Debug)]
pub struct Metric {
    /// M⁻¹: its D diagonal entries, or row-major D×D.
    inverse: Vec<f64>,
    /// L with M⁻¹ = L L', for a dense metric.
    factor: Option<Cholesky>,
}

impl Metric {
    /// M = I in D dimensions.
    pub fn identity(kind: MetricKind, dim: usize) -> Self {
        match kind {
            MetricKind::Diagonal => Self {
                inverse: vec![1.0; dim],
                factor: None,
            },
            MetricKind::Dense => {
                let factor = Cholesky::empty(dim);
                Self {
                    inverse: factor.lower().to_vec(),
                    factor: Some(factor),
                }
            }
        }
    }

    /// The metric whose inverse is the D×D `covariance`, or its diagonal.
    ///
    /// # Errors
    /// `covariance` is not positive definite.
    pub fn from_covariance(
        kind: MetricKind,
        covariance: &[f64],
        dim: usize,
    ) -> Result<Self, NotPositiveDefinite> {
        let mut metric = Self::identity(kind, dim);
        metric.replace_inverse(|inverse| match kind {
            MetricKind::Dense => inverse.copy_from_slice(covariance),
            MetricKind::Diagonal => {
                for (j, inverse) in inverse.iter_mut().enumerate() {
                    *inverse = covariance[j * dim + j];
                }
            }
        })?;
        Ok(metric)
    }

    /// Lets `write` overwrite the inverse (D diagonal entries, or D×D) and factors it again; does not allocate.
    ///
    /// # Errors
    /// The new inverse is not positive definite; the metric must not be used then.
    pub fn replace_inverse(
        &mut self,
        write: impl FnOnce(&mut [f64]),
    ) -> Result<(), NotPositiveDefinite> {
        write(&mut self.inverse);
        match &mut self.factor {
            Some(factor) => factor.factor(&self.inverse),
            None if self.inverse.iter().all(|v| *v > 0.0 && v.is_finite()) => Ok(()),
            None => Err(NotPositiveDefinite),
        }
    }

    /// v ← M⁻¹ p.
    pub fn velocity(&self, p: &[f64], v: &mut [f64]) {
        if self.factor.is_some() {
            matvec(&self.inverse, p, v);
        } else {
            for ((v, p), inverse) in v.iter_mut().zip(p).zip(&self.inverse) {
                *v = inverse * p;
            }
        }
    }

    /// p ~ N(0, M).
    pub fn draw_momentum(&self, rng: &mut ChainRng, p: &mut [f64]) {
        for p in p.iter_mut() {
            *p = StandardNormal.sample(rng);
        }
        match &self.factor {
            Some(factor) => factor.solve_lower_transpose(p),
            None => {
                for (p, inverse) in p.iter_mut().zip(&self.inverse) {
                    *p /= inverse.sqrt();
                }
            }
        }
    }

    /// Visits every number of the metric, the factor included.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("inverse_metric", &mut self.inverse);
        if let Some(factor) = &mut self.factor {
            visitor.slice("inverse_metric_factor", factor.lower_mut());
        }
    }
}

/// Exact log density at a point to start from; `grad` (D) receives the gradient, which may be anything.
///
/// # Errors
/// [`StepError::NoStart`] where the density is not finite, [`StepError::Interrupted`].
pub fn start_density(u: &[f64], oracle: &mut Oracle, grad: &mut [f64]) -> Result<f64, StepError> {
    let log_density = oracle.exact(u, grad)?;
    if log_density.is_finite() {
        Ok(log_density)
    } else {
        Err(StepError::NoStart {
            what: "the log density",
        })
    }
}

/// A position with its density and gradient.
#[derive(Clone, Debug)]
pub struct Place {
    /// Position, length D.
    pub u: Vec<f64>,
    /// ∇log π, length D.
    pub grad: Vec<f64>,
    /// log π.
    pub log_density: f64,
}

impl Place {
    /// Memory for D dimensions.
    pub fn empty(dim: usize) -> Self {
        Self {
            u: vec![0.0; dim],
            grad: vec![0.0; dim],
            log_density: 0.0,
        }
    }

    /// The starting point `u0` of a chain.
    ///
    /// # Errors
    /// [`StepError::NoStart`] where the density or its gradient is not finite, [`StepError::Interrupted`].
    pub fn start(u0: &[f64], oracle: &mut Oracle) -> Result<Self, StepError> {
        let mut place = Self::empty(u0.len());
        place.u.copy_from_slice(u0);
        place.refresh(oracle)?;
        Ok(place)
    }

    /// Computes density and gradient again, after the target has changed.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn refresh(&mut self, oracle: &mut Oracle) -> Result<(), StepError> {
        self.log_density = start_density(&self.u, oracle, &mut self.grad)?;
        if self.grad.iter().all(|g| g.is_finite()) {
            Ok(())
        } else {
            Err(StepError::NoStart {
                what: "the gradient",
            })
        }
    }

    /// Becomes a copy of `other`.
    pub fn copy_from(&mut self, other: &Self) {
        self.u.copy_from_slice(&other.u);
        self.grad.copy_from_slice(&other.grad);
        self.log_density = other.log_density;
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut self.u);
        visitor.slice("gradient", &mut self.grad);
        visitor.scalar("log_density", &mut self.log_density);
    }
}

/// A point of phase space.
#[derive(Clone, Debug)]
pub struct Point {
    /// Position, density, gradient.
    pub at: Place,
    /// Momentum, length D.
    pub p: Vec<f64>,
    /// Velocity M⁻¹p, length D.
    pub v: Vec<f64>,
}

impl Point {
    /// Memory for D dimensions.
    pub fn empty(dim: usize) -> Self {
        Self {
            at: Place::empty(dim),
            p: vec![0.0; dim],
            v: vec![0.0; dim],
        }
    }

    /// Becomes a copy of `other`.
    pub fn copy_from(&mut self, other: &Self) {
        self.at.copy_from(&other.at);
        self.p.copy_from_slice(&other.p);
        self.v.copy_from_slice(&other.v);
    }

    /// Moves to `place` with fresh momentum.
    pub fn launch(&mut self, place: &Place, metric: &Metric, rng: &mut ChainRng) {
        self.at.copy_from(place);
        metric.draw_momentum(rng, &mut self.p);
        metric.velocity(&self.p, &mut self.v);
    }

    /// H; +∞ where it, or any coordinate, is not a finite number, so that such a point has no weight.
    pub fn energy(&self) -> f64 {
        let energy = 0.5 * dot(&self.p, &self.v) - self.at.log_density;
        if energy.is_finite() && self.at.u.iter().all(|u| u.is_finite()) {
            energy
        } else {
            f64::INFINITY
        }
    }

    /// One leapfrog step of size `step_size`, negative to go back in time.
    ///
    /// # Errors
    /// [`StepError::Interrupted`].
    pub fn leapfrog(
        &mut self,
        metric: &Metric,
        step_size: f64,
        target: &mut impl LogDensity,
    ) -> Result<(), StepError> {
        axpy(0.5 * step_size, &self.at.grad, &mut self.p);
        metric.velocity(&self.p, &mut self.v);
        axpy(step_size, &self.v, &mut self.at.u);
        self.at.log_density = target.log_density(&self.at.u, &mut self.at.grad)?;
        axpy(0.5 * step_size, &self.at.grad, &mut self.p);
        metric.velocity(&self.p, &mut self.v);
        Ok(())
    }
}

/// Most steps of a trajectory of fixed length, as with NUTS of depth 10: more mean a badly scaled target, and would never end.
const MOST_STEPS: f64 = 1023.0;

/// Number and size of the steps of a trajectory of length `time` when steps may be `longest` long.
pub fn divide(time: f64, longest: f64) -> (u64, f64) {
    let steps = (time / longest).ceil().clamp(1.0, MOST_STEPS);
    (steps as u64, (time / steps).min(longest))
}

/// How a trajectory of fixed length went.
#[derive(Clone, Copy, Debug)]
pub struct Travel {
    /// H where it began, and where it ended.
    pub start: f64,
    pub end: f64,
    /// Steps taken.
    pub num_leapfrog: u64,
    /// Whether the energy rose by more than [`MAX_ENERGY_ERROR`] on the way.
    pub divergent: bool,
}

impl Travel {
    /// The probability that its end is accepted.
    pub fn acceptance(&self) -> f64 {
        (self.start - self.end).exp().min(1.0)
    }
}

impl Point {
    /// Takes that many leapfrog steps of that size. A divergence does not end the trajectory, because the way back might not diverge: only
    /// what is undefined, whichever way it is met, may end it without losing detailed balance.
    ///
    /// # Errors
    /// [`StepError::Interrupted`].
    pub fn travel(
        &mut self,
        metric: &Metric,
        (steps, step_size): (u64, f64),
        target: &mut impl LogDensity,
    ) -> Result<Travel, StepError> {
        let start = self.energy();
        let mut travel = Travel {
            start,
            end: start,
            num_leapfrog: 0,
            divergent: false,
        };
        while travel.num_leapfrog < steps && travel.end.is_finite() {
            self.leapfrog(metric, step_size, target)?;
            travel.num_leapfrog += 1;
            travel.end = self.energy();
            travel.divergent |= travel.end - start > MAX_ENERGY_ERROR;
        }
        Ok(travel)
    }
}

/// How the energy changes along a leapfrog trajectory, which the exact flow would not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Leapfrog step ε.
    pub step_size: f64,
    /// H less its value at the start, after 0, 1, … steps. They end with a divergence, and before an energy that is no finite number.
    pub errors: Vec<f64>,
    /// Errors of the energy under the posterior of all rows, at the points of [`Self::errors`], where the trajectory follows an
    /// estimate of it.
    pub of_all_rows: Option<Vec<f64>>,
}

/// Moves `point` by `steps` leapfrog steps and gives [`Trajectory::errors`]; `look` is shown each point, the start included.
///
/// # Errors
/// [`StepError::Interrupted`].
pub fn energy_errors(
    point: &mut Point,
    metric: &Metric,
    (steps, step_size): (usize, f64),
    target: &mut impl LogDensity,
    mut look: impl FnMut(&Point),
) -> Result<Vec<f64>, StepError> {
    let start = point.energy();
    let mut errors = vec![0.0];
    look(point);
    while errors.len() <= steps {
        point.leapfrog(metric, step_size, target)?;
        let error = point.energy() - start;
        if !error.is_finite() {
            break;
        }
        errors.push(error);
        look(point);
        if error > MAX_ENERGY_ERROR {
            break;
        }
    }
    Ok(errors)
}

/// Doubles or halves `step_size` until the acceptance probability of one leapfrog step from `place` crosses 0.8, with
/// fresh momentum for each trial, as Stan does. `point` is working memory.
///
/// # Errors
/// [`StepError::NonFinite`] when no step is short enough, [`StepError::Interrupted`].
pub fn first_step_size(
    mut step_size: f64,
    place: &Place,
    metric: &Metric,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
    point: &mut Point,
) -> Result<f64, StepError> {
    let threshold = FIRST_STEP_ACCEPT.ln();
    let mut longer = None;
    loop {
        point.launch(place, metric, rng);
        let before = point.energy();
        point.leapfrog(metric, step_size, oracle)?;
        let accepts = before - point.energy() > threshold;
        let longer = *longer.get_or_insert(accepts);
        if accepts != longer || (longer && step_size > LONGEST_STEP) {
            return Ok(step_size);
        }
        step_size *= if longer { 2.0 } else { 0.5 };
        if step_size < SHORTEST_STEP {
            return Err(StepError::not_finite(
                "the energy after even the shortest leapfrog step",
                0,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::testing::{Density, exact_oracle};
    use ergodic_base::{Purpose, stream};

    const COVARIANCE: [f64; 4] = [2.0, 0.6, 0.6, 0.5];

    #[test]
    fn momentum_has_the_metric_as_covariance() {
        // M⁻¹ p has covariance M⁻¹, the given matrix, for the dense metric; its diagonal for the diagonal one.
        let mut rng = stream(3, 0, Purpose::Noise);
        let rounds = 40_000;
        for kind in [MetricKind::Dense, MetricKind::Diagonal] {
            let metric = Metric::from_covariance(kind, &COVARIANCE, 2).unwrap();
            let (mut p, mut v) = ([0.0; 2], [0.0; 2]);
            let mut sums = [0.0; 3];
            for _ in 0..rounds {
                metric.draw_momentum(&mut rng, &mut p);
                metric.velocity(&p, &mut v);
                sums[0] += v[0] * v[0];
                sums[1] += v[0] * v[1];
                sums[2] += v[1] * v[1];
            }
            let cross = if kind == MetricKind::Dense { 0.6 } else { 0.0 };
            for (sum, expected) in sums.iter().zip([2.0, cross, 0.5]) {
                // sd of a product of two normals is at most sqrt(2) times the larger variance.
                let bound = 4.0 * 2.0_f64.sqrt() * 2.0 / f64::from(rounds).sqrt();
                let found = sum / f64::from(rounds);
                assert!((found - expected).abs() < bound, "{found} {expected}");
            }
        }
    }

    #[test]
    fn leapfrog_is_reversible_and_of_second_order() {
        let model = Density::model(2, |u, grad| {
            grad[0] = -u[0].powi(3);
            grad[1] = -u[1] + 0.1 * u[1].cos();
            -0.25 * u[0].powi(4) - 0.5 * u[1] * u[1] + 0.1 * u[1].sin()
        });
        let mut oracle = exact_oracle(model, None);
        let metric = Metric::from_covariance(MetricKind::Dense, &COVARIANCE, 2).unwrap();
        let start = Place::start(&[0.7, -0.4], &mut oracle).unwrap();
        let mut launched = Point::empty(2);
        launched.launch(&start, &metric, &mut stream(5, 0, Purpose::Noise));
        let error = |step_size: f64, steps: u32, oracle: &mut Oracle| {
            let mut point = launched.clone();
            for _ in 0..steps {
                point.leapfrog(&metric, step_size, oracle).unwrap();
            }
            let error = point.energy() - launched.energy();
            for _ in 0..steps {
                point.leapfrog(&metric, -step_size, oracle).unwrap();
            }
            for j in 0..2 {
                assert!((point.at.u[j] - launched.at.u[j]).abs() < 1e-12);
                assert!((point.p[j] - launched.p[j]).abs() < 1e-12);
            }
            error
        };
        let (coarse, fine) = (error(0.1, 8, &mut oracle), error(0.05, 16, &mut oracle));
        let order = (coarse / fine).log2();
        assert!((order - 2.0).abs() < 0.2, "{order}");
    }

    /// For H = (p² + q²)/2 a leapfrog step is a turn by θ with cos θ = 1 − ε²/2 that keeps (p² + q²(1 − ε²/4))/2,
    /// its modified energy, so that H differs from its start by (q² − q₀²)ε²/8.
    #[test]
    fn energy_errors_of_a_harmonic_oscillator_have_their_closed_form() {
        let model = Density::model(1, |u, grad| {
            grad[0] = -u[0];
            -0.5 * u[0] * u[0]
        });
        let mut oracle = exact_oracle(model, None);
        let metric = Metric::identity(MetricKind::Diagonal, 1);
        let (q, p, steps) = (0.7, -1.3, 200);
        for step_size in [0.1, 0.9, 1.9] {
            let mut point = Point {
                at: Place::start(&[q], &mut oracle).unwrap(),
                p: vec![p],
                v: vec![p],
            };
            let kept = 0.25 * step_size * step_size;
            let mut conserved = Vec::new();
            let errors = energy_errors(
                &mut point,
                &metric,
                (steps, step_size),
                &mut oracle,
                |point| {
                    let (q, p) = (point.at.u[0], point.p[0]);
                    conserved.push(0.5 * (p * p + q * q * (1.0 - kept)));
                },
            )
            .unwrap();
            assert_eq!((errors.len(), errors[0]), (steps + 1, 0.0));
            for value in &conserved {
                assert!((value - conserved[0]).abs() < 1e-10, "{value}");
            }
            let turn = (1.0 - 2.0 * kept).acos();
            for (n, error) in errors.iter().enumerate() {
                let (sin, cos) = (turn * n as f64).sin_cos();
                let at = q * cos + p * sin / (1.0 - kept).sqrt();
                let expected = 0.5 * kept * (at * at - q * q);
                assert!((error - expected).abs() < 1e-10, "{n}: {error} {expected}");
            }
            // The error oscillates and does not grow.
            let largest = errors.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
            assert!(largest <= kept / (1.0 - kept) * conserved[0] + 1e-10);
        }
        // Beyond ε = 2 it grows without bound, and the trajectory ends as a divergence.
        let mut point = Point {
            at: Place::start(&[q], &mut oracle).unwrap(),
            p: vec![p],
            v: vec![p],
        };
        let errors = energy_errors(&mut point, &metric, (steps, 2.2), &mut oracle, |_| {}).unwrap();
        let last = errors[errors.len() - 1];
        assert!(errors.len() < 30 && last > MAX_ENERGY_ERROR, "{errors:?}");
    }

    #[test]
    fn the_first_step_size_has_the_scale_of_the_target() {
        // N(0, s²) with unit metric: one step of size about s is where acceptance crosses 0.8.
        for scale in [1e-4, 1.0, 1e3] {
            let model = Density::model(1, move |u, grad| {
                grad[0] = -u[0] / (scale * scale);
                0.5 * u[0] * grad[0]
            });
            let mut oracle = exact_oracle(model, None);
            let start = Place::start(&[0.5 * scale], &mut oracle).unwrap();
            let metric = Metric::identity(MetricKind::Diagonal, 1);
            let mut rng = stream(8, 0, Purpose::Noise);
            let found = first_step_size(
                1.0,
                &start,
                &metric,
                &mut oracle,
                &mut rng,
                &mut Point::empty(1),
            )
            .unwrap();
            assert!(
                found / scale > 0.1 && found / scale < 10.0,
                "{found} {scale}"
            );
        }
    }

    #[test]
    fn a_start_without_a_finite_density_is_refused() {
        let model = Density::model(1, |u, grad| {
            grad[0] = 1.0;
            u[0].ln()
        });
        let mut oracle = exact_oracle(model, None);
        assert!(Place::start(&[1.0], &mut oracle).is_ok());
        for bad in [-1.0, 0.0] {
            assert!(matches!(
                Place::start(&[bad], &mut oracle),
                Err(StepError::NoStart { .. })
            ));
        }
    }
}
