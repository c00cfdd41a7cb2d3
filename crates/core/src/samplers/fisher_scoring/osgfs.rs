//! Optimized stochastic gradient Fisher scoring (`osgfs`): plain minibatch gradients whose noise replaces most of the
//! injected noise.
//!
//! Source: El Hanchi (2018), algorithm 1. |S| rows are drawn with replacement, C is the running average of the
//! covariance of their gradients, C ← (1 − 1/i) C + (1/i) cov, and
//!
//! θ' = θ + D ĝ + N(0, 2D − (N²/|S|) D C D − D H D), H = N C + G, D = (k/2) H⁻¹,
//!
//! with G the curvature of the log prior. Where the print contradicts itself, this file follows the derivations: the
//! prior is not multiplied by N in (3); H has the likelihood's information in (9); the update is (8), not (7), which would
//! inflate the covariance by 1/(1 − k/4); the limit (17) has its second C; and k may go to 2, not only to 1. In Langevin
//! time, h = k/2 ([`super`]).
//!
//! | `k_bound` | k |
//! |---|---|
//! | `paper` | 4|S|/(N+|S|), (13): used for the report's logistic experiments |
//! | `capped` | min(0.1, 4 max(|S|/(N+|S|), r/(r+N/|S|))), (16): for strong priors |
//! | `exact` | 4/(1 + (N/|S|) ρ), ρ the largest eigenvalue of H^{-1/2} N C H^{-1/2}: the largest k that is possible |
//! | `directions` | that bound in each direction of the eigenbasis for itself |
//!
//! None exceeds 2. Under a weak prior all four agree.
//!
//! **Rotation** (`rotation` = t, Q ≠ 0 of the report's section 2.1.1, which leaves it open). Pairs of directions are turned against each other,
//! θ' = θ + (D + Q) ĝ + N(0, 2D − (D + Q)(N²/|S| C + H)(D + Q)') ([`crate::numerics::fisher_step`]), with k over 1 + t². It gains
//! nothing: with Q = q J in a pair of equal noise v the bound is k ≥ (1 + v)(k²/4 + q²), and the integrated autocorrelation time of
//! means is k/(k²/4 + q²) − 1 ≥ v, which t = 0 reaches too.
//!
//! **Memory** (`memory` = M). C is a running average for ever, as in the algorithm, or over about the last M minibatches,
//! C ← (1 − w) C + w cov with w = max(1/i, 1/M), so that it is C(θ) where the chain is and not its mean over the posterior (the report's
//! section 2.2). H and D then depend on where the
//! chain has been, which biases draws the more the shorter M is; sensible are M much longer than N/|S|.
//!
//! **Burn-in** ends by itself ([`crate::samplers::fisher_scoring::osgfs_burn_in`]). G stays as it was at the end of the burn-in, so that D does not depend on the position. From then on D is made anew whenever C has seen a 64th more
//! minibatches, not after each of them.
//!
//! **Defaults.** |S| = 10,000 from 100,000 rows on, as in the report, below that N/25, at least 50 (normal limit) and
//! 5D (so that the first C is invertible). The integrated autocorrelation time is N/|S| steps, so that an independent
//! draw costs N row gradients whatever |S| is; a recorded draw is half of that time after the one before. Cost of a step: |S|
//! scores, |S| D²/2 for their covariance, and about 10 D³ where it is made anew.
//!
//! **Bias.** N C must equal the curvature of the likelihood (a well-specified model), and the posterior be normal.

use crate::numerics::fisher_step::{FisherStep, K_INDEPENDENT, k_limit};
use crate::oracle::{Estimator, Oracle, Scheme, StepError};
use crate::samplers::fisher_scoring::osgfs_burn_in::{self, BurnIn, CriterionSettings};
use crate::samplers::fisher_scoring::{ScoreCovariance, Scoring, check_gradient};
use crate::samplers::langevin::{STEPS_PER_DRAW, capped_steps};
use crate::samplers::minibatch_settings::{BATCH, MinibatchSettings, Size};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{
    InfoColumn, NOISE_SHARE, Output, OutputSpec, Phase, Sampler, SamplerFamily, SamplerSpec,
    StateVisitor, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::linalg::{NotPositiveDefinite, axpy};
use ergodic_base::settings::{Declared as _, Field, SettingError};

/// Rows from which the report's batch is used.
const MANY_ROWS: usize = 100_000;
/// The report's batch for many rows.
const BATCH_MANY: usize = 10_000;
/// Rows of the table for each row of a minibatch, below [`MANY_ROWS`].
const BATCH_SHARE: usize = 25;
/// Rows from which a mean of scores counts as normal (the report's first assumption).
const BATCH_NORMAL: usize = 50;
/// Rows of a minibatch whose gradients make a covariance.
const LEAST_ROWS: usize = 2;
/// Rows per parameter before the first move, so that C is well away from singular.
pub(in crate::samplers) const ROWS_PER_PARAMETER: usize = 5;
/// After the burn-in a step is made anew when C has seen one minibatch for every n before: what it learns meanwhile is an
/// eighth of its own error.
const MINIBATCHES_PER_NEWS: u64 = 64;
/// c of (16).
const CAP: f64 = 0.1;

ergodic_base::settings! {
    /// Minibatches of at least two rows, which make a covariance, by schemes whose noise is that of independent rows: passes
    /// without repeats would cancel noise that the update counts on, and the means of long stretches vary by more or less
    /// than that, depending on the one order in which rows are stored.
    pub struct IndependentRows {
        batch: Option<Size> = BATCH
            .why("10\u{202f}000 from 100\u{202f}000 rows on, as in the report; below that one in 25, at least 50");
        scheme: Scheme = Field::choice("Choice of rows", &["iid", "blocks"], Some("iid"))
            .help("iid: independent rows with replacement, as the report assumes; blocks: random blocks of 8 rows")
            .why("the papers' formulas hold exactly");
    }
}

impl IndependentRows {
    /// The minibatches for `target`.
    ///
    /// # Errors
    /// Fewer rows than [`LEAST_ROWS`] of a table that has more.
    pub fn settle(&mut self, target: &Target) -> Result<MinibatchSettings, SettingError> {
        let default = default_batch(target);
        let settled = MinibatchSettings::settle(&mut self.batch, self.scheme, target, default);
        if settled.batch < LEAST_ROWS.min(target.num_obs) {
            return Err(SettingError::unfit(
                "batch",
                format!("must be at least {LEAST_ROWS} rows, whose gradients make a covariance"),
            ));
        }
        Ok(settled)
    }
}

/// The setting `k_bound`.
pub(in crate::samplers) const BOUND: Field = Bound::field("Bound on k", Some(Bound::Paper))
    .help(
        "paper: k = 4|S|/(N+|S|); capped: (16) with c = 0.1; exact: the largest k possible; directions: the same for each \
         direction by itself",
    )
    .why("the report's choice under weak priors, for which no larger k is possible");

ergodic_base::choice! {
    /// Which bound gives k.
    pub enum Bound {
        /// (13).
        Paper = "paper",
        /// (16).
        Capped = "capped",
        /// The largest.
        Exact = "exact",
        /// The largest in each direction.
        Directions = "directions",
    }
}

ergodic_base::settings! {
    /// Settings of [`Osgfs`].
    pub struct OsgfsSettings {
        rows: IndependentRows;
        k_bound: Bound = BOUND;
        rotation: f64 = Field::real("Rotation", 0.0, 10.0, Some(0.0))
            .help(
                "t: pairs of directions are turned against each other by a skew-symmetric Q of t times the size of D, and k falls to \
                 k/(1 + t²)",
            )
            .why("Q = 0 as in the report: means of draws are as precise with any other");
        memory: Option<u64> = Field::int("Memory of C", 2, 1_000_000_000, None)
            .help("Minibatches over which the covariance C of gradients is averaged, the newest ones; all where it is left out")
            .why("all, as in the report");
        burn_in: BurnIn;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
    }
}

/// The sampler `osgfs`.
pub struct Osgfs;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct OsgfsConfig {
    minibatch: MinibatchSettings,
    bound: Bound,
    rotation: f64,
    memory: Option<u64>,
    criterion: CriterionSettings,
    steps_per_draw: u64,
}

/// The chain, C, G, and working memory.
#[derive(Debug)]
pub struct OsgfsState {
    scoring: Scoring,
    /// C.
    covariance: ScoreCovariance,
    /// G.
    prior_curvature: Vec<f64>,
    hessian: Vec<f64>,
    /// C of the step, and the minibatches in it.
    step_covariance: Vec<f64>,
    step_minibatches: u64,
    /// Whether the step is that of these.
    step_is_made: bool,
}

/// The report's batch, and fewer rows of smaller data.
pub(in crate::samplers) fn default_batch(target: &Target) -> usize {
    if target.num_obs >= MANY_ROWS {
        return BATCH_MANY;
    }
    (target.num_obs / BATCH_SHARE)
        .max(BATCH_NORMAL)
        .max(ROWS_PER_PARAMETER * target.dim)
}

/// Steps after which the correlation with the start has fallen to 1/e in a direction of step constant `k`.
pub(in crate::samplers) fn steps_for(k: f64) -> u64 {
    if k >= 1.0 {
        // 1 − k/2 is small: from two steps on draws are nearly independent.
        return if k >= 1.9 { 1 } else { 2 };
    }
    (-1.0 / (1.0 - 0.5 * k).ln()).ceil() as u64
}

impl Sampler for Osgfs {
    type Settings = OsgfsSettings;
    type Config = OsgfsConfig;
    type State = OsgfsState;
    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(13.0, 0.0)
        .normal()
        .standing(Standing::Comparison);
    const OUTPUTS: &'static [OutputSpec] = osgfs_burn_in::OUTPUTS;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "osgfs",
        family: SamplerFamily::FisherScoring,
        title: "OSGFS",
        about: "Fisher scoring with minibatch gradients: their noise does the sampling, and burn-in ends by a criterion",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, algorithm 1",
        formula: "θ' = θ + D ĝ(θ) + N(0, 2D − (N²/|S|) D C D − D H D), H = N C + G, D = (k/2) H⁻¹",
        fields: OsgfsSettings::FIELDS,
        info: &[
            osgfs_burn_in::COLUMNS[0],
            osgfs_burn_in::COLUMNS[1],
            InfoColumn::new(
                "k",
                "step constant k of the slowest direction; 2 would give independent draws",
            ),
            InfoColumn::new(
                NOISE_SHARE,
                "largest share of gradient noise in all noise of a step, 0 to 1; here it replaces injected noise",
            ),
        ],
        minibatch: true,
        bias: Some(
            "The posterior is taken to be normal, and the spread of row gradients to equal the curvature: standard deviations \
             are off where the model fits badly or predictors are skewed, and tails are those of a normal distribution",
        ),
        default_warmup: 2_000,
        decides_warmup: true,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut OsgfsSettings,
        target: &Target,
    ) -> Result<OsgfsConfig, SettingError> {
        let minibatch = settings.rows.settle(target)?;
        let bound = settings.k_bound;
        // What k will be, as far as it is known before C is: with ρ of the mode where there is one.
        let factor = minibatch.noise_factor(target.num_obs);
        let paper = k_limit(factor).min(K_INDEPENDENT);
        let k = match bound {
            Bound::Paper => paper,
            Bound::Capped => paper.min(CAP),
            Bound::Exact | Bound::Directions => {
                k_limit(factor * target.noise_ratio().unwrap_or(1.0)).min(K_INDEPENDENT)
            }
        };
        let k = k / (1.0 + settings.rotation.powi(2));
        Ok(OsgfsConfig {
            minibatch,
            bound,
            rotation: settings.rotation,
            memory: settings.memory,
            criterion: settings.burn_in.settle(k),
            steps_per_draw: *(settings.steps_per_draw)
                .get_or_insert_with(|| capped_steps(steps_for(k), &minibatch)),
        })
    }

    fn steps_per_draw(config: &OsgfsConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &OsgfsConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<OsgfsState, StepError> {
        let dim = u0.len();
        config.minibatch.install(Estimator::Plain, oracle);
        let mut state = OsgfsState {
            scoring: Scoring::new(u0, config.criterion),
            covariance: ScoreCovariance::remembering(config.memory, dim),
            prior_curvature: vec![0.0; dim * dim],
            hessian: vec![0.0; dim * dim],
            step_covariance: vec![0.0; dim * dim],
            step_minibatches: 0,
            step_is_made: false,
        };
        oracle
            .rows()?
            .add_neg_hessian_log_prior(u0, &mut state.prior_curvature);
        Ok(state)
    }

    fn step(
        config: &OsgfsConfig,
        at: Tick,
        state: &mut OsgfsState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let OsgfsState {
            scoring,
            covariance,
            prior_curvature,
            hessian,
            step_covariance,
            step_minibatches,
            step_is_made,
        } = state;
        let (u, grad) = (&scoring.u, &mut scoring.grad);
        covariance.learn_at(oracle, u, &mut streams.batch, grad);
        check_gradient(grad, at.iter)?;
        if at.phase != Phase::Draw {
            prior_curvature.fill(0.0);
            oracle
                .rows()?
                .add_neg_hessian_log_prior(&scoring.u, prior_curvature);
        }
        info.fill(f64::NAN);
        let rows_seen = covariance.minibatches * config.minibatch.batch as u64;
        if rows_seen < (ROWS_PER_PARAMETER * scoring.u.len()) as u64 {
            return Ok(());
        }
        let news = covariance.minibatches - *step_minibatches;
        let known =
            (config.memory).map_or(*step_minibatches, |memory| memory.min(*step_minibatches));
        if at.phase != Phase::Draw || news > known / MINIBATCHES_PER_NEWS {
            step_covariance.copy_from_slice(&covariance.matrix);
            *step_minibatches = covariance.minibatches;
            *step_is_made = false;
        }
        if !*step_is_made {
            let num_obs = oracle.num_obs() as f64;
            let factor = config.minibatch.noise_factor(oracle.num_obs());
            hessian.copy_from_slice(prior_curvature);
            axpy(num_obs, step_covariance, hessian);
            scoring.sigma.fill(0.0);
            axpy(factor * num_obs, step_covariance, &mut scoring.sigma);
            let Scoring { step, sigma, .. } = scoring;
            choose_k(
                step,
                hessian,
                sigma,
                (config.bound, config.rotation),
                factor,
            )
            .map_err(|_not_positive| {
                StepError::not_positive(
                    "the curvature N C + G of the Fisher scoring step, or its noise,",
                    at.iter,
                )
            })?;
            *step_is_made = true;
        }
        scoring.advance(hessian, &mut streams.noise, info);
        Ok(())
    }

    fn position(state: &OsgfsState) -> &[f64] {
        &state.scoring.u
    }

    fn ready(state: &OsgfsState) -> bool {
        state.scoring.criterion.passed()
    }

    fn output(state: &OsgfsState, _k: usize) -> Output<'_> {
        Output::Numbers(state.scoring.criterion.ratios())
    }

    fn visit(state: &mut OsgfsState, visitor: &mut dyn StateVisitor) {
        state.scoring.visit(visitor);
        state.covariance.visit(visitor);
        visitor.slice("prior_curvature", &mut state.prior_curvature);
        visitor.slice("step_covariance", &mut state.step_covariance);
        visitor.counter("step_minibatches", &mut state.step_minibatches);
        // These may have been replaced; what follows from them is the same otherwise.
        state.step_is_made = false;
    }
}

/// Recomputes the step from H, Σ = `factor` N C, the bound and the rotation.
pub(in crate::samplers) fn choose_k(
    step: &mut FisherStep,
    hessian: &[f64],
    sigma: &[f64],
    (bound, turn): (Bound, f64),
    factor: f64,
) -> Result<(), NotPositiveDefinite> {
    step.set_basis(hessian, sigma)?;
    let paper = k_limit(factor);
    let k = match bound {
        Bound::Directions => return step.set_turned(turn, |v| k_limit(v).min(K_INDEPENDENT)),
        Bound::Paper => paper,
        Bound::Capped => {
            let r = step.strength_of_prior(hessian, factor);
            // 4r/(r + N/|S|), written so that an infinite r gives 4.
            paper.max(k_limit(factor / r)).min(CAP)
        }
        Bound::Exact => {
            let largest = step.noise().last().copied().unwrap_or(0.0);
            k_limit(largest)
        }
    };
    step.set_turned(turn, |_| k.min(K_INDEPENDENT))
}

#[cfg(test)]
mod tests;
