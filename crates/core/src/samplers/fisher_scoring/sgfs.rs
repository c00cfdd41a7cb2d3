//! Stochastic gradient processes with a constant preconditioner (`sgfs`): the family that OSGFS is the best member
//! of, with its other members for comparison, down to stochastic gradient descent that samples by its own noise.
//!
//! Source: El Hanchi (2018), section 2.3. With D constant, C the covariance of one row's gradient, H = N C + G the curvature
//! with that of the prior, and Σ = (N²/|S|) C the noise of a minibatch gradient,
//!
//! θ' = θ + D ĝ + N(0, Q), D = (k/2) P.
//!
//! | `form` | Q | |
//! |---|---|---|
//! | `corrected` | 2D − D Σ D − D H D | (8): H⁻¹ is stationary for every D |
//! | `uncorrected` | 2D − D Σ D | (7): leaves out the error of discretisation |
//! | `sgd` | 0 | (14): no injected noise at all |
//!
//! | `preconditioner` | P | |
//! |---|---|---|
//! | `curvature` | H⁻¹ | (10) |
//! | `information` | (N C)⁻¹ | (14), and stochastic gradient Fisher scoring |
//! | `diagonal` | diag(H)⁻¹ | |
//! | `none` | I/λ, λ the largest eigenvalue of H | plain stochastic gradients |
//!
//! (14) is `sgd` with `information`: D = 2|S|/((N + |S|) N) C⁻¹ is k = 4|S|/(N + |S|), and for |S| ≪ N the process of Mandt,
//! Hoffman and Blei (2017). Errata as in [`crate::samplers::fisher_scoring::osgfs`]: no N before the prior in (3), the likelihood's information in (9).
//!
//! **k** by default is the largest for which Q of (8) is positive semi-definite, 4/λ with λ the largest eigenvalue of
//! P(H + Σ) (for `curvature` the exact bound of OSGFS), and such that no direction overshoots, D H ≤ I. In (14) under a weak
//! prior it is the report's; under a strong one the report's k diverges and this one does not.
//!
//! **Estimation.** C is the average over the minibatches of warm-up, G the prior's curvature where warm-up ended; then both
//! are constant, as the derivation has it. In Langevin time h = k/2. Cost of a step: |S| row gradients and 2 D² operations,
//! in warm-up |S| D²/2 and some 10 D³ more. Draws are at the distance in which the slowest direction forgets to 1/e.
//!
//! **Bias.** In a direction in which P⁻¹ is 1, H is a and Σ is s, the stationary variance is q + ¼k²s over ka(1 − ¼ka), with q
//! the variance of injected noise: 1/a for (8), (1/a)/(1 − ¼ka) for (7), and ks/(a(4 − ka)) for (14), which is 1/a only at the
//! k of a weak prior. All take the posterior to be normal and C to tell the curvature. **Not for** more than comparison:
//! `osgfs-cv` has less noise, and `nuts` is exact.

use rand_distr::{Distribution as _, StandardNormal};

use crate::numerics::fisher_step::{K_INDEPENDENT, k_limit};
use crate::oracle::{Estimator, Oracle, StepError};
use crate::samplers::fisher_scoring::osgfs::{IndependentRows, ROWS_PER_PARAMETER, steps_for};
use crate::samplers::fisher_scoring::{ScoreCovariance, check_gradient};
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::MinibatchSettings;
use crate::samplers::recommend::Traits;
use crate::samplers::{
    InfoColumn, NOISE_SHARE, Phase, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, SymmetricEigen, axpy, whiten};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Streams};

/// Rounding allowed before a negative variance counts as one, relative to k.
const ROUNDING: f64 = 1e-9;

ergodic_base::choice! {
    /// Which noise is injected.
    pub enum Form {
        /// (8).
        Corrected = "corrected",
        /// (7).
        Uncorrected = "uncorrected",
        /// None, (14).
        Sgd = "sgd" => "gradient steps",
    }
}

ergodic_base::choice! {
    /// Which P.
    pub enum Preconditioner {
        /// (N C + G)⁻¹.
        Curvature = "curvature",
        /// (N C)⁻¹.
        Information = "information",
        /// Scales of single coordinates.
        Diagonal = "diagonal",
        /// One step for all.
        None = "none",
    }
}

ergodic_base::settings! {
    /// Settings of [`FisherScoring`]; without k it is found in warm-up.
    pub struct SgfsSettings {
        rows: IndependentRows;
        form: Form = Form::field("Injected noise", Some(Form::Corrected))
            .help("corrected: update (8) of the report; uncorrected: (7), which inflates variances; sgd: (14), gradient noise alone")
            .why("the one whose covariance is the posterior's under any prior");
        preconditioner: Preconditioner = Preconditioner::field("Preconditioner", Some(Preconditioner::Curvature))
            .help(
                "curvature: (N C + G)⁻¹; information: (N C)⁻¹, without the prior, as in (14); diagonal: scales of single \
                 coordinates; none: one step for all",
            )
            .why("all directions then move equally fast");
        k: Option<f64> = Field::real("Step constant k", 1e-9, 4.0, None)
            .help(
                "Twice the Langevin time of a step, D = (k/2) P: draws of a direction whose curvature is that of P are correlated \
                 by 1 − k/2 per step",
            )
            .why("the largest for which gradient noise leaves room for a corrected step, found in warm-up");
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
    }
}

/// The sampler `sgfs`.
pub struct FisherScoring;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    minibatch: MinibatchSettings,
    form: Form,
    preconditioner: Preconditioner,
    k: Option<f64>,
    steps_per_draw: u64,
}

/// Position, what is known of the noise, the step made of it, and working memory.
#[derive(Debug)]
pub struct State {
    u: Vec<f64>,
    covariance: ScoreCovariance,
    step: ConstantStep,
    grad: Vec<f64>,
    hessian: Vec<f64>,
    sigma: Vec<f64>,
}

/// D and a root of Q, in coordinates in which P is the identity: P⁻¹ = L L'.
#[derive(Debug)]
struct ConstantStep {
    /// L.
    factor: Cholesky,
    k: f64,
    /// Row i is the i-th direction of injected noise times its standard deviation.
    noise: Vec<f64>,
    /// Share of gradient noise in the trace of all noise.
    noise_share: f64,
    eigen: SymmetricEigen,
    square: Vec<f64>,
    whitened_hessian: Vec<f64>,
    whitened_sigma: Vec<f64>,
    jump: Vec<f64>,
}

impl ConstantStep {
    fn empty(dim: usize) -> Self {
        let square = || vec![0.0; dim * dim];
        Self {
            factor: Cholesky::empty(dim),
            k: 0.0,
            noise: square(),
            noise_share: f64::NAN,
            eigen: SymmetricEigen::empty(dim),
            square: square(),
            whitened_hessian: square(),
            whitened_sigma: square(),
            jump: vec![0.0; dim],
        }
    }

    fn is_known(&self) -> bool {
        self.k > 0.0
    }

    /// Makes the step for curvature H, noise Σ and information N C (all D×D).
    fn set(
        &mut self,
        config: &Config,
        hessian: &[f64],
        sigma: &[f64],
        information: (f64, &[f64]),
    ) -> Result<(), NotPositiveDefinite> {
        let dim = self.jump.len();
        self.square.fill(0.0);
        match config.preconditioner {
            Preconditioner::Curvature => self.square.copy_from_slice(hessian),
            Preconditioner::Information => axpy(information.0, information.1, &mut self.square),
            Preconditioner::Diagonal => {
                for i in (0..dim * dim).step_by(dim + 1) {
                    self.square[i] = hessian[i];
                }
            }
            Preconditioner::None => {
                let largest = largest(&mut self.eigen, hessian)?;
                for i in (0..dim * dim).step_by(dim + 1) {
                    self.square[i] = largest;
                }
            }
        }
        self.factor.factor(&self.square)?;
        self.whitened_hessian.copy_from_slice(hessian);
        whiten(&self.factor, &mut self.whitened_hessian);
        self.whitened_sigma.copy_from_slice(sigma);
        whiten(&self.factor, &mut self.whitened_sigma);

        let stiffest = largest(&mut self.eigen, &self.whitened_hessian)?;
        // Of P(H + Σ), from which both k and the noise of (8) follow.
        self.square.copy_from_slice(&self.whitened_sigma);
        axpy(1.0, &self.whitened_hessian, &mut self.square);
        let both = largest(&mut self.eigen, &self.square)?;
        let k = config.k.unwrap_or((4.0 / both).min(2.0 / stiffest));
        // Beyond it 1 − (k/2) P H has an eigenvalue below −1 and the chain explodes.
        if k * stiffest >= 4.0 {
            return Err(NotPositiveDefinite);
        }
        if config.form == Form::Uncorrected {
            largest(&mut self.eigen, &self.whitened_sigma)?;
        }
        let mut injected = 0.0;
        for i in 0..dim {
            let variance = match config.form {
                Form::Sgd => 0.0,
                Form::Corrected | Form::Uncorrected => k - 0.25 * k * k * self.eigen.values()[i],
            };
            if variance < -ROUNDING * k {
                return Err(NotPositiveDefinite);
            }
            let variance = variance.max(0.0);
            injected += variance;
            let row = &mut self.noise[i * dim..(i + 1) * dim];
            row.fill(0.0);
            axpy(variance.sqrt(), self.eigen.vector(i), row);
        }
        let trace: f64 = self.whitened_sigma.iter().step_by(dim + 1).sum();
        let gradient_noise = 0.25 * k * k * trace;
        self.noise_share = if gradient_noise > 0.0 {
            gradient_noise / (gradient_noise + injected)
        } else {
            0.0
        };
        self.k = k;
        Ok(())
    }

    /// u ← u + D `grad` + N(0, Q); overwrites the gradient.
    fn advance(&mut self, grad: &mut [f64], rng: &mut ChainRng, u: &mut [f64]) {
        self.factor.solve_lower(grad);
        self.jump.fill(0.0);
        axpy(0.5 * self.k, grad, &mut self.jump);
        for direction in self.noise.chunks_exact(u.len()) {
            let normal: f64 = StandardNormal.sample(rng);
            axpy(normal, direction, &mut self.jump);
        }
        self.factor.solve_lower_transpose(&mut self.jump);
        axpy(1.0, &self.jump, u);
    }

    fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("preconditioner_factor", self.factor.lower_mut());
        visitor.slice("injected_noise", &mut self.noise);
        visitor.scalar("k", &mut self.k);
        visitor.scalar("noise_share", &mut self.noise_share);
    }
}

/// The largest eigenvalue; leaves the decomposition in `eigen`.
fn largest(eigen: &mut SymmetricEigen, a: &[f64]) -> Result<f64, NotPositiveDefinite> {
    eigen
        .decompose(a)
        .map_err(|_not_finite| NotPositiveDefinite)?;
    Ok(eigen.values().last().copied().unwrap_or(0.0))
}

impl Sampler for FisherScoring {
    type Settings = SgfsSettings;
    type Config = Config;
    type State = State;
    const ADVICE: Traits = Traits::ORDINARY.normal();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sgfs",
        family: SamplerFamily::FisherScoring,
        title: "Stochastic gradient Fisher scoring",
        about: "Minibatch gradients with a constant preconditioner, with and without injected noise: the family of OSGFS, \
                for comparison",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, updates (7), (8) and \
               (14); Ahn, Korattikara, Welling, ICML 2012; Mandt, Hoffman, Blei, JMLR 18 (2017)",
        formula: "θ' = θ + D ĝ(θ) + N(0, Q), D = (k/2) P; Q = 2D − (N²/|S|) D C D − D H D (corrected), \
                  2D − (N²/|S|) D C D (uncorrected), 0 (sgd); H = N C + G",
        fields: SgfsSettings::FIELDS,
        info: &[
            InfoColumn::new(
                "k",
                "step constant k; 2 would give independent draws where the preconditioner is the curvature",
            ),
            InfoColumn::new(
                NOISE_SHARE,
                "share of gradient noise in all noise of a step, 0 to 1; it is counted on, not corrected for",
            ),
        ],
        minibatch: true,
        bias: Some(
            "The posterior is taken to be normal, and the spread of row gradients to equal the curvature, so standard \
             deviations are off where the model fits badly or predictors are skewed; without the correction they are too \
             large by 1/sqrt(1 − k/4) besides, and without injected noise they are wrong under all but weak priors",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn configure(settings: &mut SgfsSettings, target: &Target) -> Result<Config, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let SgfsSettings {
            form,
            preconditioner,
            k,
            ..
        } = *settings;
        // What k will be, as far as it is known before C is, and the slowest direction's share of it.
        let factor = minibatch.noise_factor(target.num_obs);
        let expected = k.unwrap_or_else(|| {
            k_limit(factor * target.noise_ratio().unwrap_or(1.0)).min(K_INDEPENDENT)
        });
        let slowest = match (preconditioner, target.curvature_range()) {
            (Preconditioner::Diagonal | Preconditioner::None, Some((slowest, stiffest))) => {
                slowest / stiffest
            }
            _ => 1.0,
        };
        Ok(Config {
            minibatch,
            form,
            preconditioner,
            k,
            steps_per_draw: *settings
                .steps_per_draw
                .get_or_insert_with(|| capped_steps(steps_for(expected * slowest), &minibatch)),
        })
    }

    fn steps_per_draw(config: &Config) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        config.minibatch.install(Estimator::Plain, oracle);
        Ok(State {
            u: u0.to_vec(),
            covariance: ScoreCovariance::new(dim),
            step: ConstantStep::empty(dim),
            grad: vec![0.0; dim],
            hessian: vec![0.0; dim * dim],
            sigma: vec![0.0; dim * dim],
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let State {
            u,
            covariance,
            step,
            grad,
            hessian,
            sigma,
        } = state;
        if at.phase == Phase::Draw && step.is_known() {
            oracle.grad(u, &mut streams.batch, grad);
            check_gradient(grad, at.iter)?;
        } else {
            covariance.learn_at(oracle, u, &mut streams.batch, grad);
            check_gradient(grad, at.iter)?;
            let rows_seen = covariance.minibatches * config.minibatch.batch as u64;
            if rows_seen < (ROWS_PER_PARAMETER * u.len()) as u64 {
                info.fill(f64::NAN);
                return Ok(());
            }
            let num_obs = oracle.num_obs() as f64;
            let factor = config.minibatch.noise_factor(oracle.num_obs());
            hessian.fill(0.0);
            oracle.rows()?.add_neg_hessian_log_prior(u, hessian);
            axpy(num_obs, &covariance.matrix, hessian);
            sigma.fill(0.0);
            axpy(factor * num_obs, &covariance.matrix, sigma);
            step.set(config, hessian, sigma, (num_obs, &covariance.matrix))
                .map_err(|_not_positive| {
                    StepError::not_positive(
                        "the curvature of the Fisher scoring step, or its noise for so large a k,",
                        at.iter,
                    )
                })?;
        }
        step.advance(grad, &mut streams.noise, u);
        info[0] = step.k;
        info[1] = step.noise_share;
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
        state.covariance.visit(visitor);
        state.step.visit(visitor);
    }
}

#[cfg(test)]
mod tests;
