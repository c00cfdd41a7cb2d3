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
//! | `euler` | z' = z + ε r; r' = (1 − ξε) r + ε ĝ(z') + sqrt(2Aε) n, as the sources of [`super::momentum::sghmc`] print it |
//! | `aboba` | z½ = z + ½ε r; r₁ = e^{−ξε/2} r; r₂ = r₁ + ε ĝ(z½) + sqrt(2Aε) n; r' = e^{−ξε/2} r₂; z' = z½ + ½ε r' |
//! | `baoab` | z½ = z + ½ε r; r₁ = e^{−ξε} r + sqrt(A (1 − e^{−2ξε})/ξ) n; z' = z½ + ½ε r₁; r' = r₁ + ε ĝ(z') |
//!
//! The last is the scheme of Leimkuhler and Matthews with neighbouring half kicks joined, so that each gradient is used once;
//! without gradient noise its positions have exactly the right variance on a Gaussian. Thermostats are advanced where momenta
//! are in equilibrium: at the end of an Euler step, half before and half after the damping of the others.
//!
//! **Gradient noise** adds ε² v to the 2Aε of a step, as if A were larger by B̂ = ½ε v. With A = ξ − B̂ the two balance.
//!
//! **Mass matrices.** Besides M = H there is M = diag, coordinates in units of their posterior standard deviations by a common factor that
//! makes the stiffest direction 1, and M = I, the model's own coordinates, in which ε has the unit of time of the sources. Rates of
//! directions then differ between `slow` and `stiff`: steps follow the stiffest, friction and the time between draws the slowest, and
//! gradient noise is known coordinate by coordinate, without its correlations. Without a mode M = I, and nothing is known of noise.
//! Gradients with control variates are then centred where the chain starts, which needs a pass over the rows and no curvature; chains of
//! such samplers start where an optimiser has climbed to, unless the run says otherwise ([`super::SamplerSpec::centres_at_start`]).
//!
//! **Temperature** T: momenta have variance T, and A is T times what it is otherwise, so that draws follow π^{1/T}.

pub(super) mod sghmc;
pub(super) mod sghmc_naive;
pub(super) mod sgnht;

use rand_distr::{Distribution as _, StandardNormal};

use super::minibatch_settings::OwnCentre;
use super::{StateVisitor, Tick};
use crate::models::RowLikelihood;
use crate::oracle::centre::scaled_range;
use crate::oracle::{Centre, Estimator, Oracle, StepError};
use ergodic_base::linalg::{axpy, dot, matvec, symmetric_eigen};
use ergodic_base::settings::Field;
use ergodic_base::{ChainRng, Streams};

mod plan;

pub use plan::Medium;

/// Critical damping, where curvature is 1: the fastest return to the mode without swinging.
pub const CRITICAL: f64 = 2.0;

/// Friction per step without a mode, and injected noise likewise: what the R package `sgmcmc` (Baker et al. 2019) takes for α and a.
pub const PACKAGE_SHARE: f64 = 0.01;

/// The time of a step.
pub const STEP: Field = Field::real("Step size", 1e-12, 1e9, None)
    .help(
        "Time ε per step of the dynamics, as in HMC, in units in which the posterior has curvature 1 at the mode: h of Chen (2016), \
         the root of ε in SGD with momentum; 1 crosses about a standard deviation. With `mass` = identity in the model's own \
         coordinates",
    )
    .why("the longest step, at most 0.5, whose predicted error of a standard deviation is 2 %");

/// M.
pub const MASS: Field = Mass::field("Mass matrix", None)
    .help(
        "curvature: the curvature at the mode, so that all directions are equally fast; diagonal: scales of single parameters; \
         identity: none, as in the sources, so that step size and friction are in the model's own coordinates",
    )
    .why("curvature where the mode was found, identity elsewhere");

/// Whether momenta are drawn anew before each draw.
pub(super) const FRESH_MOMENTA: Field = Field::bool("Fresh momenta", false).help(
    "Draw momenta anew before the steps of each draw, as after the L steps of SGHMC in Baker (2018): L is `steps_per_draw`",
);

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
        /// Of order one in the momenta, as first published.
        Euler = "euler" => "Euler",
        /// Symmetric, order two.
        Aboba = "aboba" => "ABOBA",
        /// Symmetric, order two, exact positions on Gaussians.
        Baoab = "baoab" => "BAOAB",
    }
}

ergodic_base::choice! {
    /// What M is; see the module.
    pub enum Mass {
        /// The curvature at the mode.
        Curvature = "curvature",
        /// Scales of coordinates.
        Diagonal = "diagonal",
        /// The identity.
        Identity = "identity",
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
        PerParameter = "per-parameter" => "per parameter",
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
    /// T.
    pub temperature: f64,
}

impl Dynamics {
    /// With a step of another length.
    pub fn with_step(self, step: f64) -> Self {
        Self { step, ..self }
    }

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

/// Directions d_i in which momenta move, with d_i'M d_j = 1 for i = j, else 0.
#[derive(Clone, Debug)]
enum Directions {
    /// d_i is row i.
    Dense(Vec<f64>),
    /// d_i is coordinate i times this.
    Scales(Vec<f64>),
}

impl Directions {
    /// ADDS Σ x_i d_i to `out` (D).
    fn combine(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(rows) => {
                for (direction, x) in rows.chunks_exact(x.len()).zip(x) {
                    axpy(*x, direction, out);
                }
            }
            Self::Scales(scales) => {
                for ((out, x), scale) in out.iter_mut().zip(x).zip(scales) {
                    *out += scale * x;
                }
            }
        }
    }

    /// d_i'g of every direction, into `out` (D).
    fn project(&self, gradient: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(rows) => {
                for (out, direction) in out.iter_mut().zip(rows.chunks_exact(gradient.len())) {
                    *out = dot(direction, gradient);
                }
            }
            Self::Scales(scales) => {
                for ((out, g), scale) in out.iter_mut().zip(gradient).zip(scales) {
                    *out = scale * g;
                }
            }
        }
    }
}

/// The directions of `medium` and the variances of gradient noise along them at the mode, at temperature 1: with M = H those in which
/// noise is independent.
fn directions(
    centre: &Centre,
    medium: &Medium,
    rows: Option<&dyn RowLikelihood>,
    num_obs: usize,
) -> Option<(Directions, Vec<f64>)> {
    let factor = medium.minibatch.noise_factor(num_obs);
    let (whitened, scale) = match medium.estimator {
        Estimator::Plain => (centre.noise(rows).scores.as_slice(), factor),
        Estimator::ControlVariate => {
            let noise = match rows.filter(|_| medium.minibatch.second_order) {
                Some(rows) => centre.second_order_noise(rows),
                None => centre.noise(rows).centred(medium.minibatch.scheme),
            };
            (noise, factor / num_obs as f64)
        }
    };
    let dim = centre.u.len();
    let scales = match medium.mass {
        Mass::Curvature => {
            let (values, mut vectors) = symmetric_eigen(whitened, dim)?;
            for direction in vectors.chunks_exact_mut(dim) {
                centre.factor.solve_lower_transpose(direction);
            }
            // A covariance has no negative eigenvalue but for rounding.
            let noise = values.iter().map(|value| scale * value.max(0.0)).collect();
            return Some((Directions::Dense(vectors), noise));
        }
        Mass::Diagonal => {
            let mut sds = centre.sds();
            let (_slowest, stiffest) = scaled_range(&centre.hessian, &sds)?;
            for sd in &mut sds {
                *sd /= stiffest.sqrt();
            }
            sds
        }
        Mass::Identity => vec![1.0; dim],
    };
    // With H = L L' the noise of gradients is L W L', W that of whitened ones.
    let (mut unit, mut row, mut product) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    let mut noise = Vec::with_capacity(dim);
    for (j, direction) in scales.iter().enumerate() {
        unit[j] = 1.0;
        centre.factor.lower_transpose_mul(&unit, &mut row);
        unit[j] = 0.0;
        matvec(whitened, &row, &mut product);
        noise.push(scale * direction * direction * dot(&row, &product).max(0.0));
    }
    Some((Directions::Scales(scales), noise))
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
    /// Estimates that `noise` is the mean of; 0 where nothing is known of it.
    observed: u64,
    /// Mean of r²/T in the last step where it should be 1.
    pub temperature: f64,
    /// Steps of the draw that is being made, where momenta are drawn anew before the first of them.
    since_draw: Option<u64>,
    /// Steps since the start of the chain.
    steps: u64,
    directions: Directions,
    centre: OwnCentre,
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
    /// `medium` needs the mode, and there is none, or nothing finite is known about it; gradients are to be centred, and the model has no
    /// rows.
    pub fn start(
        u0: &[f64],
        medium: &Medium,
        oracle: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Result<Self, StepError> {
        let Medium {
            estimator,
            minibatch,
            mass,
            temperature,
        } = *medium;
        minibatch.install(estimator, oracle);
        let centre = OwnCentre::of_start(u0, estimator, oracle)?;
        let (n, dim) = (oracle.num_obs(), u0.len());
        let rows = oracle.model().rows();
        let known = oracle
            .centre()
            .and_then(|centre| directions(centre, medium, rows, n));
        let observed = u64::from(known.is_some());
        let unknown = || {
            let scales = Directions::Scales(vec![1.0; dim]);
            (mass == Mass::Identity).then(|| (scales, vec![0.0; dim]))
        };
        let Some((directions, mut noise)) = known.or_else(unknown) else {
            let what = match oracle.centre() {
                Some(_) => "the covariance of gradient noise around the mode",
                None => "the curvature at the mode",
            };
            return Err(StepError::not_positive(what, 0));
        };
        if estimator == Estimator::ControlVariate {
            // Differences from the mode grow with the spread of draws, those from expansions with its square.
            let growth = temperature.powi(if minibatch.second_order { 2 } else { 1 });
            noise.iter_mut().for_each(|v| *v *= growth);
        }
        let sd = temperature.sqrt();
        Ok(Self {
            u: u0.to_vec(),
            momentum: (0..dim)
                .map(|_| {
                    let normal: f64 = StandardNormal.sample(rng);
                    sd * normal
                })
                .collect(),
            friction: vec![0.0; dim],
            injected: vec![0.0; dim],
            noise,
            observed,
            temperature: f64::NAN,
            since_draw: None,
            steps: 0,
            directions,
            centre,
            grad: vec![0.0; dim],
            force: vec![0.0; dim],
            jump: vec![0.0; dim],
            displacement: vec![0.0; dim],
            scores: Vec::new(),
            sums: vec![[0.0; 2]; dim],
        })
    }

    /// Multiplies the steps of coordinates by `factors` (D); of a mass matrix that scales nothing else.
    pub fn scale_steps(&mut self, factors: &[f64]) {
        if let Directions::Scales(scales) = &mut self.directions {
            for ((scale, noise), factor) in scales.iter_mut().zip(&mut self.noise).zip(factors) {
                *scale *= factor;
                *noise *= factor * factor;
            }
        }
    }

    /// Steps since the start of the chain.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The largest variance of gradient noise over directions; NaN where nothing is known of it.
    pub fn largest_noise(&self) -> f64 {
        if self.observed == 0 {
            return f64::NAN;
        }
        self.noise.iter().copied().fold(0.0, f64::max)
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
            let sd = dynamics.temperature.sqrt();
            for r in &mut self.momentum {
                let normal: f64 = StandardNormal.sample(&mut streams.noise);
                *r = sd * normal;
            }
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
        self.steps += 1;
        Ok(())
    }

    /// Adds a motion for `time` to the next move.
    fn plan_move(&mut self, time: f64) {
        axpy(time, &self.momentum, &mut self.jump);
    }

    fn make_move(&mut self, at: Tick) -> Result<(), StepError> {
        self.displacement.fill(0.0);
        self.directions.combine(&self.jump, &mut self.displacement);
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
        self.centre.hold(oracle)?;
        if observe {
            oracle.grad_scores(&self.u, rng, &mut self.grad, &mut self.scores);
        } else {
            oracle.grad(&self.u, rng, &mut self.grad);
        }
        self.directions.project(&self.grad, &mut self.force);
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
        let heat = dynamics.temperature;
        let mean = dot(&self.momentum, &self.momentum) / (heat * self.momentum.len() as f64);
        self.temperature += share * mean;
        let time = share * dynamics.step;
        for (friction, r) in self.friction.iter_mut().zip(&self.momentum) {
            match dynamics.thermostat {
                Some(Thermostat::Scalar) => *friction += time * (mean - 1.0),
                Some(Thermostat::PerParameter) => *friction += time * (r * r / heat - 1.0),
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
            // The force has done its work in the step.
            self.directions.project(score, &mut self.force);
            for (sums, &along) in self.sums.iter_mut().zip(&self.force) {
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
        visitor.counter("steps", &mut self.steps);
        if let Some(since_draw) = &mut self.since_draw {
            visitor.counter("since_draw", since_draw);
        }
        self.centre.visit(visitor);
    }
}

fn check_finite(values: &[f64], what: &'static str, at: Tick) -> Result<(), StepError> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(StepError::not_finite(what, at.iter))
}

#[cfg(test)]
mod tests;
