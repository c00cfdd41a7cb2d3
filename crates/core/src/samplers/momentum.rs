//! Underdamped Langevin dynamics with minibatch gradients: what `sghmc`, `sghmc-naive` and `sgnht` share.
//!
//! In whitened coordinates z, in which the curvature at the mode is 1 (mass matrix M = H), with momentum r, friction ξ_i and
//! injected noise A_i per direction:
//!
//! dz = r dt, dr = ∇log π dt − ξ r dt + sqrt(2A) dW, and for thermostats dξ = (r² − 1) dt.
//!
//! Directions are the common eigenvectors of the gradient noise at the mode and the curvature, so that noise of different
//! directions is independent: ĝ_i = ∇_i + N(0, v_i). A step of time ε with one minibatch, in the letters of Chen (2016; A moves,
//! B damps, O kicks) where they are its own:
//!
//! | integrator | a step |
//! |---|---|
//! | `euler` | z' = z + ε r; r' = (1 − ξε) r + ε ĝ(z') + sqrt(2Aε) n, as the sources of [`super::sghmc`] print it |
//! | `aboba` | z½ = z + ½ε r; r₁ = e^{−ξε/2} r; r₂ = r₁ + ε ĝ(z½) + sqrt(2Aε) n; r' = e^{−ξε/2} r₂; z' = z½ + ½ε r' |
//! | `baoab` | z½ = z + ½ε r; r₁ = e^{−ξε} r + sqrt(A (1 − e^{−2ξε})/ξ) n; z' = z½ + ½ε r₁; r' = r₁ + ε ĝ(z') |
//!
//! The last is the scheme of Leimkuhler and Matthews with neighbouring half kicks joined, so that each gradient is used once;
//! without gradient noise its positions have exactly the right variance on a Gaussian. Thermostats are advanced where momenta
//! are in equilibrium: at the end of an Euler step, half before and half after the damping of the others.
//!
//! **Gradient noise** adds ε² v to the 2Aε of a step, as if A were larger by B̂ = ½ε v. With A = ξ − B̂ the two balance.

use rand_distr::{Distribution as _, StandardNormal};

use super::minibatch_settings::MinibatchSettings;
use super::{StateVisitor, Target, Tick};
use crate::oracle::{Centre, Estimator, Oracle, StepError};
use ergodic_base::linalg::{axpy, dot, symmetric_eigen};
use ergodic_base::rng::{ChainRng, Streams};
use ergodic_base::settings::{Field, SettingError};

/// Predicted error of a variance at the default step: 2 % of a standard deviation.
const EXCESS: f64 = 0.04;
/// How far the noise measured at the mode is trusted: it is a mean over the posterior and has an error itself.
const NOISE_ERROR: f64 = 0.10;
/// Longest default step: half the time in which a chain crosses a posterior standard deviation, a quarter of what is stable.
const LONGEST_STEP: f64 = 0.5;
/// Below it rounding rules: for noise that is not finite, which the first step will notice.
const SHORTEST_STEP: f64 = 1e-12;
/// The default is the first that will do of steps that shrink by this factor.
const SHRINK: f64 = 0.95;
/// Critical damping, where curvature is 1: the fastest return to the mode without swinging.
pub const CRITICAL: f64 = 2.0;
/// Time between recorded draws by default, in units of the larger of 1 and half the friction: draws of a normal posterior
/// are then correlated by 3 e⁻² = 0.4.
const TIME_BETWEEN_DRAWS: f64 = 2.0;

/// The time of a step.
pub const STEP: Field = Field::real("Step size", 1e-12, 1e3, None)
    .help(
        "Time ε per step of the dynamics, as in HMC, in units in which the posterior has curvature 1 at the mode: h of 003, \
         the root of ε in SGD with momentum; 1 crosses about a standard deviation",
    )
    .why("the longest step, at most 0.5, whose predicted error of a standard deviation is 2 %");

/// How a step is made.
pub const INTEGRATOR: Field = Integrator::field("Integrator", Some(Integrator::Baoab))
.help(
    "euler: as first published, momenta off by order ε, and with thermostats positions too; aboba: symmetric splitting \
     of order ε²; baoab: another one, exact on normal posteriors",
)
.why("allows the longest steps for the same error");

ergodic_base::choice! {
    /// How a step is made; see the module.
    pub enum Integrator {
        /// As first published: order one in the momenta.
        Euler = "euler",
        /// Symmetric, order two.
        Aboba = "aboba",
        /// Symmetric, order two, exact positions on Gaussians.
        Baoab = "baoab",
    }
}

impl Integrator {
    /// The step from which on a normal posterior with this friction makes the dynamics explode.
    fn limit(self, friction: f64) -> f64 {
        match self {
            // ε² + 2ξε < 4, written without cancellation.
            Self::Euler => 4.0 / (friction + (friction * friction + 4.0).sqrt()),
            Self::Aboba | Self::Baoab => 2.0,
        }
    }
}

ergodic_base::choice! {
    /// What is adapted so that momenta have variance 1.
    pub enum Thermostat {
        /// One friction for all directions.
        Scalar = "scalar",
        /// One friction per direction.
        PerParameter = "per-parameter",
    }
}

/// The rule of a step.
#[derive(Clone, Copy, Debug)]
pub struct Dynamics {
    /// How a step is made.
    pub integrator: Integrator,
    /// ε.
    pub step: f64,
    /// `None`: friction stays.
    pub thermostat: Option<Thermostat>,
}

impl Dynamics {
    /// The variance of momenta that a thermostat holds at 1, given that at the end of a step: `baoab` looks before and after
    /// damping, which follows the kick that ends a step.
    fn regulated(&self, friction: f64, injected: f64, rr: f64) -> f64 {
        match self.integrator {
            Integrator::Euler | Integrator::Aboba => rr,
            Integrator::Baoab => {
                let kept = (-2.0 * friction * self.step).exp();
                0.5 * (rr + kept * rr + damped_noise(injected, friction, self.step))
            }
        }
    }
}

/// Variance that damping e^{−ξt} with injected noise A adds to a momentum: A (1 − e^{−2ξt})/ξ, with the right limit 2At; ξ may
/// be negative.
fn damped_noise(injected: f64, friction: f64, time: f64) -> f64 {
    let x = 2.0 * friction * time;
    let share = if x.abs() < 1e-8 {
        1.0
    } else {
        -(-x).exp_m1() / x
    };
    2.0 * injected * time * share
}

/// Stationary covariance (z z, z r, r r) after a step on a standard normal, for friction ξ, injected noise A and gradient noise
/// v: the solution P = T P T' + Q of the discrete Lyapunov equation of the linear recursion. Not finite where there is none.
pub fn stationary(dynamics: &Dynamics, friction: f64, injected: f64, noise: f64) -> [f64; 3] {
    let step = dynamics.step;
    let kick = step * step * noise;
    let still = 1.0;
    // Parts of a step: entries (z r), (r z), (r r) of a matrix with 1 at (z z), and variance added to r.
    let half_move = [0.5 * step, 0.0, still, 0.0];
    let parts: &[[f64; 4]] = match dynamics.integrator {
        Integrator::Euler => &[
            [step, 0.0, still, 0.0],
            [
                0.0,
                -step,
                1.0 - friction * step,
                2.0 * injected * step + kick,
            ],
        ],
        Integrator::Aboba => {
            let damp = [0.0, 0.0, (-0.5 * friction * step).exp(), 0.0];
            let push = [0.0, -step, still, 2.0 * injected * step + kick];
            &[half_move, damp, push, damp, half_move]
        }
        Integrator::Baoab => {
            let noise = damped_noise(injected, friction, step);
            let damp = [0.0, 0.0, (-friction * step).exp(), noise];
            &[half_move, damp, half_move, [0.0, -step, still, kick]]
        }
    };
    let mut total = [1.0, 0.0, 0.0, 1.0];
    let mut covariance = [0.0; 3];
    for &[zr, rz, rr, added] in parts {
        let part = [1.0, zr, rz, rr];
        total = product(&part, &total);
        covariance = congruence(&part, &covariance);
        covariance[2] += added;
    }
    // P = Q + TQT' + T²QT²' + …, by doubling the number of terms: 2^40 are enough for the smallest step.
    for _ in 0..40 {
        let more = congruence(&total, &covariance);
        for (sum, more) in covariance.iter_mut().zip(more) {
            *sum += more;
        }
        total = product(&total, &total);
    }
    covariance
}

fn product(a: &[f64; 4], b: &[f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    ]
}

/// T P T' of a symmetric P given by its three entries.
fn congruence(t: &[f64; 4], p: &[f64; 3]) -> [f64; 3] {
    let [zz, zr, rr] = *p;
    [
        t[0] * t[0] * zz + 2.0 * t[0] * t[1] * zr + t[1] * t[1] * rr,
        t[0] * t[2] * zz + (t[0] * t[3] + t[1] * t[2]) * zr + t[1] * t[3] * rr,
        t[2] * t[2] * zz + 2.0 * t[2] * t[3] * zr + t[3] * t[3] * rr,
    ]
}

/// What default settings reckon with.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Largest variance of gradient noise over whitened directions.
    pub noise: f64,
    /// Whether noise is corrected for or absorbed direction by direction; otherwise all of it heats or cools.
    pub corrected: bool,
    /// Whether momenta are kept at variance 1.
    pub thermostat: bool,
}

impl Plan {
    /// Largest share of gradient noise in all noise that the allowed error leaves.
    fn share(&self) -> f64 {
        if self.corrected {
            EXCESS / NOISE_ERROR
        } else {
            EXCESS
        }
    }

    /// Friction for a step the user chose: critical, or as much as gradient noise needs.
    pub fn friction(&self, step: Option<f64>) -> f64 {
        step.map_or(CRITICAL, |step| {
            CRITICAL.max(0.5 * step * self.noise / self.share())
        })
    }

    /// B̂ = ½ε v.
    pub fn noise_friction(&self, step: f64) -> f64 {
        0.5 * step * self.noise
    }

    /// The longest step on a grid whose predicted error is at most [`EXCESS`], both with more gradient noise than measured
    /// and without any.
    pub fn longest_step(&self, integrator: Integrator, friction: f64) -> f64 {
        let mut step = LONGEST_STEP.min(0.5 * integrator.limit(friction));
        let will_do = |step| {
            self.noise_friction(step) <= self.share() * friction
                && self.is_accurate(integrator, step, friction)
        };
        while step > SHORTEST_STEP && !will_do(step) {
            step *= SHRINK;
        }
        step
    }

    fn is_accurate(&self, integrator: Integrator, step: f64, friction: f64) -> bool {
        let dynamics = Dynamics {
            integrator,
            step,
            thermostat: None,
        };
        let variance = |injected, noise| {
            let [zz, _zr, rr] = stationary(&dynamics, friction, injected, noise);
            if self.thermostat {
                zz / dynamics.regulated(friction, injected, rr)
            } else {
                zz
            }
        };
        let noisy = if self.corrected {
            let injected = friction - self.noise_friction(step);
            variance(injected, (1.0 + NOISE_ERROR) * self.noise)
        } else {
            variance(friction, self.noise)
        };
        // Rounding must not shorten a step whose error is exactly the allowed one.
        [noisy, variance(friction, 0.0)]
            .iter()
            .all(|v| (v - 1.0).abs() <= EXCESS * 1.001)
    }
}

/// Largest variance of gradient noise over whitened directions; the error says what `id` lacks.
pub fn largest_noise(
    id: &'static str,
    estimator: Estimator,
    minibatch: &MinibatchSettings,
    target: &Target,
) -> Result<f64, SettingError> {
    let n = target.num_obs;
    let factor = minibatch.noise_factor(n);
    let noise = match estimator {
        Estimator::Plain => target.noise_ratio,
        Estimator::ControlVariate => {
            (target.centred_rows(minibatch.scheme)).map(|rows| rows / n as f64)
        }
    };
    let noise = noise.map(|noise| factor * noise);
    noise.ok_or(SettingError::NoMode {
        sampler: id,
        instead: "use `nuts`, or `sgld` with your own `step_size`",
    })
}

/// Refuses a step with which the dynamics explode.
pub fn check_step(integrator: Integrator, step: f64, friction: f64) -> Result<(), SettingError> {
    let limit = integrator.limit(friction);
    if step < limit {
        return Ok(());
    }
    Err(SettingError::StepTooLong {
        limit,
        given: step,
        why: format!("with friction {friction}, or the chain explodes"),
    })
}

/// Steps between recorded draws, before caps.
pub fn steps_between_draws(step: f64, friction: f64) -> u64 {
    (TIME_BETWEEN_DRAWS * (0.5 * friction).max(1.0) / step).ceil() as u64
}

/// Directions d_i (row i) with d_i'H d_j = 1 for i = j, else 0, in which gradient noise of `estimator` at the mode is
/// independent, and its variances.
fn directions(
    centre: &Centre,
    estimator: Estimator,
    minibatch: &MinibatchSettings,
    num_obs: usize,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let factor = minibatch.noise_factor(num_obs);
    let (whitened, scale) = match estimator {
        Estimator::Plain => (centre.score_noise.as_slice(), factor),
        Estimator::ControlVariate => {
            let noise = centre.centred_noise(minibatch.scheme);
            (noise, factor / num_obs as f64)
        }
    };
    let dim = centre.u.len();
    let (values, mut vectors) = symmetric_eigen(whitened, dim)?;
    for direction in vectors.chunks_exact_mut(dim) {
        centre.factor.solve_lower_transpose(direction);
    }
    // A covariance has no negative eigenvalue but for rounding.
    let noise = values.iter().map(|value| scale * value.max(0.0)).collect();
    Some((vectors, noise))
}

/// Position, momentum and frictions, with the working memory of a step.
#[derive(Clone, Debug)]
pub struct PhaseSpace {
    /// Position, in the model's coordinates.
    pub u: Vec<f64>,
    /// r per direction.
    pub momentum: Vec<f64>,
    /// ξ per direction.
    pub friction: Vec<f64>,
    /// A per direction.
    pub injected: Vec<f64>,
    /// v per direction: as measured at the mode, and by [`Self::observe_noise`].
    pub noise: Vec<f64>,
    /// Estimates that `noise` is the mean of.
    observed: u64,
    /// Mean of r² in the last step where it should be 1.
    pub temperature: f64,
    /// Steps of the draw that is being made, where momenta are drawn anew before the first of them.
    since_draw: Option<u64>,
    directions: Vec<f64>,
    grad: Vec<f64>,
    force: Vec<f64>,
    jump: Vec<f64>,
    displacement: Vec<f64>,
    scores: Vec<f64>,
    sums: Vec<[f64; 2]>,
}

impl PhaseSpace {
    /// At `u0` with momenta from their equilibrium and no friction or noise yet. Sets the oracle to minibatches.
    ///
    /// # Errors
    /// There is no mode, or nothing finite is known about it.
    pub fn start(
        u0: &[f64],
        estimator: Estimator,
        minibatch: &MinibatchSettings,
        oracle: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Result<Self, StepError> {
        oracle.set_estimator(estimator, minibatch.batch, minibatch.scheme);
        let n = oracle.num_obs();
        let basis = oracle
            .centre()
            .and_then(|centre| directions(centre, estimator, minibatch, n));
        let Some((directions, noise)) = basis else {
            return Err(StepError::NotPositiveDefinite {
                what: "the curvature at the mode",
                iter: 0,
            });
        };
        let dim = u0.len();
        Ok(Self {
            u: u0.to_vec(),
            momentum: (0..dim).map(|_| StandardNormal.sample(rng)).collect(),
            friction: vec![0.0; dim],
            injected: vec![0.0; dim],
            noise,
            observed: 1,
            temperature: f64::NAN,
            since_draw: None,
            directions,
            grad: vec![0.0; dim],
            force: vec![0.0; dim],
            jump: vec![0.0; dim],
            displacement: vec![0.0; dim],
            scores: Vec::new(),
            sums: vec![[0.0; 2]; dim],
        })
    }

    /// From now on momenta are drawn anew before each draw.
    pub fn take_fresh_momenta(&mut self) {
        self.since_draw = Some(0);
    }

    /// Counts a step of a draw that takes `steps`, and draws momenta from their equilibrium before the first of them, if they are to be
    /// drawn anew. Those of `baoab` run half a kick ahead of the positions, which costs a gradient: without it, variances would be
    /// off by order ε.
    pub fn renew_momenta(
        &mut self,
        dynamics: &Dynamics,
        steps: u64,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<(), StepError> {
        let Some(since_draw) = self.since_draw else {
            return Ok(());
        };
        if since_draw == 0 {
            let momenta = self.momentum.iter_mut();
            momenta.for_each(|r| *r = StandardNormal.sample(&mut streams.noise));
            if dynamics.integrator == Integrator::Baoab {
                self.evaluate(false, at, oracle, &mut streams.batch)?;
                self.kick(0.5 * dynamics.step, false, &mut streams.noise);
            }
        }
        self.since_draw = Some((since_draw + 1) % steps);
        Ok(())
    }

    /// One step; with `observe`, [`Self::observe_noise`] may follow.
    pub fn advance(
        &mut self,
        dynamics: &Dynamics,
        observe: bool,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<(), StepError> {
        let step = dynamics.step;
        let dim = self.u.len();
        self.temperature = 0.0;
        self.jump.fill(0.0);
        match dynamics.integrator {
            Integrator::Euler => {
                self.plan_move(step);
                self.make_move(at)?;
                self.evaluate(observe, at, oracle, &mut streams.batch)?;
                for i in 0..dim {
                    self.momentum[i] *= 1.0 - self.friction[i] * step;
                }
                self.kick(step, true, &mut streams.noise);
                self.regulate(dynamics, 1.0);
            }
            Integrator::Aboba => {
                self.plan_move(0.5 * step);
                self.make_move(at)?;
                self.evaluate(observe, at, oracle, &mut streams.batch)?;
                self.regulate(dynamics, 0.5);
                self.damp(0.5 * step);
                self.kick(step, true, &mut streams.noise);
                self.damp(0.5 * step);
                self.regulate(dynamics, 0.5);
                self.plan_move(0.5 * step);
                self.make_move(at)?;
            }
            Integrator::Baoab => {
                self.plan_move(0.5 * step);
                self.regulate(dynamics, 0.5);
                self.damp(step);
                for i in 0..dim {
                    let normal: f64 = StandardNormal.sample(&mut streams.noise);
                    let variance = damped_noise(self.injected[i], self.friction[i], step);
                    self.momentum[i] += variance.sqrt() * normal;
                }
                self.regulate(dynamics, 0.5);
                self.plan_move(0.5 * step);
                self.make_move(at)?;
                self.evaluate(observe, at, oracle, &mut streams.batch)?;
                self.kick(step, false, &mut streams.noise);
            }
        }
        Ok(())
    }

    /// Adds a motion for `time` to the next move.
    fn plan_move(&mut self, time: f64) {
        axpy(time, &self.momentum, &mut self.jump);
    }

    fn make_move(&mut self, at: Tick) -> Result<(), StepError> {
        self.displacement.fill(0.0);
        for (direction, jump) in self.directions.chunks_exact(self.u.len()).zip(&self.jump) {
            axpy(*jump, direction, &mut self.displacement);
        }
        self.jump.fill(0.0);
        check_finite(&self.displacement, "the momentum", at)?;
        axpy(1.0, &self.displacement, &mut self.u);
        Ok(())
    }

    /// The estimated gradient at `u`, per direction.
    fn evaluate(
        &mut self,
        observe: bool,
        at: Tick,
        oracle: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        if observe {
            oracle.grad_scores(&self.u, rng, &mut self.grad, &mut self.scores);
        } else {
            oracle.grad(&self.u, rng, &mut self.grad);
        }
        let rows = self.directions.chunks_exact(self.u.len());
        for (force, direction) in self.force.iter_mut().zip(rows) {
            *force = dot(direction, &self.grad);
        }
        check_finite(&self.force, "the gradient", at)
    }

    fn kick(&mut self, step: f64, with_noise: bool, rng: &mut ChainRng) {
        axpy(step, &self.force, &mut self.momentum);
        if with_noise {
            for (r, injected) in self.momentum.iter_mut().zip(&self.injected) {
                let normal: f64 = StandardNormal.sample(rng);
                *r += (2.0 * injected * step).sqrt() * normal;
            }
        }
    }

    fn damp(&mut self, time: f64) {
        for (r, friction) in self.momentum.iter_mut().zip(&self.friction) {
            *r *= (-friction * time).exp();
        }
    }

    /// Lets the thermostat see the momenta for `share` of a step.
    fn regulate(&mut self, dynamics: &Dynamics, share: f64) {
        let mean = dot(&self.momentum, &self.momentum) / self.momentum.len() as f64;
        self.temperature += share * mean;
        let time = share * dynamics.step;
        for (friction, r) in self.friction.iter_mut().zip(&self.momentum) {
            match dynamics.thermostat {
                Some(Thermostat::Scalar) => *friction += time * (mean - 1.0),
                Some(Thermostat::PerParameter) => *friction += time * (r * r - 1.0),
                None => return,
            }
        }
    }

    /// Improves `noise` by what the rows of the last step (at least 2, by [`Self::advance`] with `observe`) say: the variance of
    /// their scores along each direction times `factor` N ([`MinibatchSettings::noise_factor`]).
    pub fn observe_noise(&mut self, factor: f64, num_obs: usize) {
        let dim = self.u.len();
        let rows = (self.scores.len() / dim) as f64;
        self.sums.fill([0.0; 2]);
        for score in self.scores.chunks_exact(dim) {
            for (sums, direction) in self.sums.iter_mut().zip(self.directions.chunks_exact(dim)) {
                let along = dot(direction, score);
                sums[0] += along;
                sums[1] += along * along;
            }
        }
        self.observed += 1;
        for (noise, [first, second]) in self.noise.iter_mut().zip(&self.sums) {
            let variance = (second - first * first / rows).max(0.0) / (rows - 1.0);
            let estimate = factor * num_obs as f64 * variance;
            *noise += (estimate - *noise) / self.observed as f64;
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut self.u);
        visitor.slice("momentum", &mut self.momentum);
        visitor.slice("friction", &mut self.friction);
        visitor.slice("injected", &mut self.injected);
        visitor.slice("noise", &mut self.noise);
        visitor.counter("observed", &mut self.observed);
        if let Some(since_draw) = &mut self.since_draw {
            visitor.counter("since_draw", since_draw);
        }
    }
}

fn check_finite(values: &[f64], what: &'static str, at: Tick) -> Result<(), StepError> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(StepError::NonFinite {
        what,
        iter: at.iter,
    })
}

#[cfg(test)]
mod tests;
