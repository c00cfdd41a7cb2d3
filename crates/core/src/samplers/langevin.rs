//! What Langevin samplers share: settings, step sizes that follow from a bias, decreasing steps, temperature, and the move
//!
//! θ' = θ + h M ĝ + sqrt(2hT) M^{1/2} ξ
//!
//! with ĝ an estimate of ∇log π, M = H⁻¹, the inverse curvature at the mode, or the identity (`precondition = none`).
//!
//! **Bias.** In a direction in which H is 1, gradient noise of variance V makes the stationary variance
//! (2h + h²V)/(1 − (1−h)²) = (1 + hV/2)/(1 − h/2) instead of 1. The default step is the h at which this is
//! 1 + ε. Where V depends on h, because rows remember gradients of older positions, h(1 + ε + V(h)) = 2ε is solved.
//!
//! **Decreasing steps** (`schedule = decreasing`): [`super::schedule`].
//!
//! **Without a mode** nothing is known of scales: M is the identity, and a user says `step_size`, in the model's own coordinates.
//! A draw is then one step by default, as in the sources. Blocks of coordinates may have steps of their own, M diagonal
//! ([`super::block_steps`]).
//!
//! **Temperature** T (Baker 2018, (2.4.3), as corrected; Chen 2016, "noise in SGLD", β = 1/T): draws are from π^{1/T}, which is
//! the posterior for T = 1 only.

pub(super) mod complete_recipe;
pub(super) mod exact_transition;
pub(super) mod psgld;
pub(super) mod saga;
pub(super) mod sgld;
pub(super) mod sgrld;
pub(super) mod svrg;

use rand_distr::{Distribution as _, StandardNormal};

use super::block_steps::{BLOCK_STEPS, BlockSteps, Scales};
use super::minibatch_settings::MinibatchSettings;
use super::schedule::{Decay, StepsAlong, TEMPERED, WEIGHT_OF_STEP};
use super::{InfoColumn, NOISE_SHARE, STEP_SIZE, StateVisitor, Target, Tick};
use crate::oracle::{Oracle, StepError};
use ergodic_base::Streams;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::{Field, SettingError};

/// Predicted excess of variance at the default step, plain gradients.
pub const EXCESS_PLAIN: f64 = 0.10;
/// Predicted excess of variance at the default step, with control variates.
pub const EXCESS_CENTRED: f64 = 0.04;
/// Langevin time between draws, plain: short, because time is expensive.
pub const TIME_PLAIN: f64 = 0.5;
/// Langevin time between draws, with control variates.
pub const TIME_CENTRED: f64 = 1.0;
/// Most steps per recorded draw by default: beyond it draws get correlated instead of a run endless.
pub const STEPS_CAP: u64 = 2_000;
/// Most rows per recorded draw by default: between draws a chain does not notice that it should stop, and this many take
/// some 50 ms.
const ROWS_CAP: u64 = 4_000_000;
/// Rows of the table for each row of the default batch.
const BATCH_SHARE: usize = 100;
/// Least rows of the default batch, below which overheads rule.
const BATCH_LEAST: usize = 500;
/// Most rows of the default batch, beyond which a step of control variates is already nearly noise-free.
const BATCH_MOST: usize = 5_000;

/// M.
pub const PRECONDITION: Field = Precondition::field("Preconditioner", Some(Precondition::Curvature))
.help("curvature: steps are scaled by the inverse curvature at the mode; none: one step size for all directions")
.why("all directions then move equally fast");

/// Kernel steps per recorded draw.
pub const STEPS_PER_DRAW: Field = Field::int("Steps per draw", 1, 10_000_000, None)
    .help("Steps between recorded draws; the steps between are not kept")
    .why("as many as it takes for draws to be worth keeping, at most 2000 and at most 4 million rows");

ergodic_base::choice! {
    /// What M is.
    pub enum Precondition {
        /// H⁻¹.
        Curvature = "curvature",
        /// The identity.
        None = "none",
    }
}

ergodic_base::settings! {
    /// Settings that Langevin samplers share, with those of rows `R` and a sampler's own `O`.
    pub struct LangevinSettings<R, O> {
        pub step_size: Option<f64> = Field::real("Step size", 1e-15, 1e6, None)
            .help(
                "Langevin time h per step, ε/2 of Welling and Teh: with the curvature as preconditioner it has no unit, 1 is one \
                 Newton step, and it must be below 2",
            )
            .why("the largest step whose predicted excess of the standard deviation is 2 % (5 % without control variates)");
        pub rows: R;
        pub own: O;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
        steps: StepsAlong;
        temperature: f64 = TEMPERED;
    }
}

ergodic_base::settings! {
    /// The settings of Langevin samplers that scale steps by the curvature, by blocks, or not at all.
    pub struct Preconditioning {
        precondition: Option<Precondition> = PRECONDITION;
        block_steps: String = BLOCK_STEPS;
    }
}

impl Preconditioning {
    /// What the settings make of the directions of `target`, where the user gave `step`: curvature by default where it is known and
    /// blocks have no steps of their own.
    ///
    /// # Errors
    /// Steps of blocks that are not understood, or stand beside the curvature or alone.
    pub fn settle(&mut self, step: Option<f64>, target: &Target) -> Result<Rates, SettingError> {
        let blocks = BlockSteps::read(&self.block_steps, &BLOCK_STEPS)?;
        let by_curvature = target.has_mode() && !blocks.differ();
        let precondition = *self.precondition.get_or_insert(if by_curvature {
            Precondition::Curvature
        } else {
            Precondition::None
        });
        let other =
            (precondition == Precondition::Curvature).then_some("`precondition` = curvature");
        blocks.check_alone(other, step)?;
        Ok(match blocks {
            BlockSteps::Equal => Rates::Of(precondition),
            blocks => Rates::Blocks(blocks),
        })
    }
}

/// Information columns of [`Langevin::report`].
pub const INFO: &[InfoColumn] = &[
    InfoColumn::new(STEP_SIZE, "Langevin time per step"),
    InfoColumn::new(
        NOISE_SHARE,
        "predicted share of gradient noise in all noise of a step; the nearer to 0 the smaller the bias",
    ),
    WEIGHT_OF_STEP,
];

/// Gradient noise of an estimate, with N/B ρ that of plain gradients and κ/B that of gradients centred at the mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// (N/B) ρ.
    Plain,
    /// (N/B) ρ, and so much less is injected.
    Corrected,
    /// κ/B.
    Mode,
    /// Centred at gradients of positions that are older by a geometric number of steps with mean `age`, each row its own: two
    /// draws of a posterior are twice as far apart, in squares, as a draw and the mode, and t units of Langevin time make
    /// 1 − e^{−t} of that; that positions differ between rows adds the noise of ½ row. V = ((2κ + 1)/B) h·age/(1 + h·age).
    Geometric {
        /// Mean age in steps.
        age: f64,
    },
    /// Centred as in [`Self::Geometric`], where the age grows from 0 to `period` − 1 and starts again.
    Periodic {
        /// Steps of a cycle.
        period: f64,
    },
}

impl Noise {
    /// V at step h (whitened), where centred gradients have noise `centred` and plain ones `plain`.
    fn at(self, h: f64, plain: f64, centred: f64) -> f64 {
        match self {
            Self::Plain | Self::Corrected => plain,
            Self::Mode => centred,
            Self::Geometric { age } => 2.0 * centred * h * age / (1.0 + h * age),
            Self::Periodic { period } => {
                // The mean of 1 − (1−h)^k over k = 0 … period − 1.
                let forgotten = 1.0 - (period * (-h).ln_1p()).exp();
                2.0 * centred * (1.0 - forgotten / (period * h)).max(0.0)
            }
        }
    }

    /// The step h at which the predicted stationary variance is 1 + `excess`.
    pub fn step(self, excess: f64, plain: f64, centred: f64) -> f64 {
        match self {
            Self::Plain => step_for_excess(excess, plain),
            // No more noise can be made up for than is injected: h²V < 2h.
            Self::Corrected => step_for_excess(excess, 0.0).min(2.0 / plain),
            Self::Mode => step_for_excess(excess, centred),
            Self::Geometric { .. } | Self::Periodic { .. } => {
                // h (1 + ε + V(h)) grows with h: bisection.
                let (mut low, mut high) = (0.0, step_for_excess(excess, 0.0));
                for _ in 0..f64::MANTISSA_DIGITS {
                    let middle = 0.5 * (low + high);
                    if middle < step_for_excess(excess, self.at(middle, plain, centred)) {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                high
            }
        }
    }
}

/// The step h at which the predicted stationary variance (1 + hV/2)/(1 − h/2) is 1 + `excess`.
pub fn step_for_excess(excess: f64, noise: f64) -> f64 {
    2.0 * excess / (1.0 + excess + noise)
}

/// Default batch for plain gradients.
pub fn plain_batch(num_obs: usize) -> usize {
    (num_obs / BATCH_SHARE).clamp(BATCH_LEAST, BATCH_MOST)
}

/// Default batch for gradients centred at the mode, given κ ([`crate::oracle::RowNoise::difference_rows`]): twice κ at least,
/// so that the gradient noise of a Newton step is at most half of the posterior's variance. The cost of an effective draw
/// grows with B + κ, and κ does not depend on N: neither does the batch, and with it the cost.
///
/// # Errors
/// κ is infinite: no batch is large enough.
pub fn centred_batch(difference_rows: f64) -> Result<usize, SettingError> {
    if difference_rows.is_infinite() {
        return Err(SettingError::unfit(
            "batch",
            "cannot be large enough for gradients centred at the mode: within the posterior there are rows whose gradient is not a \
             number; restrict the parameters of the model to where its density is defined, or use `nuts`",
        ));
    }
    Ok(((2.0 * difference_rows).ceil() as usize).max(BATCH_LEAST))
}

/// `steps` per recorded draw, or as many as a default may ask for.
pub fn capped_steps(steps: u64, minibatch: &MinibatchSettings) -> u64 {
    let by_rows = (ROWS_CAP / minibatch.batch as u64).max(1);
    steps.min(STEPS_CAP).min(by_rows)
}

/// Which direction is slowest and which is stiffest, per unit of `step_size`.
#[derive(Clone, Debug, PartialEq)]
pub enum Rates {
    /// The posterior's directions, scaled.
    Of(Precondition),
    /// The stiffest has rate 1, the slowest this one.
    Own(f64),
    /// The posterior's directions times what is between these factors; an infinite one says that nothing is known. They are exact where they
    /// are equal.
    Within {
        /// The slowest direction has this factor at least.
        slowest: f64,
        /// The stiffest has this one at most.
        stiffest: f64,
    },
    /// Nobody knows: blocks have steps of their own.
    Blocks(BlockSteps),
}

/// How a sampler resolves the shared settings.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Identifier of the sampler.
    pub id: &'static str,
    /// Whether the sampler cannot do without the mode.
    pub needs_mode: bool,
    /// Rates of directions.
    pub rates: Rates,
    /// Predicted excess of variance at the default step.
    pub excess: f64,
    /// Langevin time between draws.
    pub time: f64,
}

/// Shared settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// h.
    pub step_size: f64,
    /// Whether M = H⁻¹.
    pub preconditioned: bool,
    /// Batch and scheme.
    pub minibatch: MinibatchSettings,
    /// Kernel steps per recorded draw.
    pub steps_per_draw: u64,
    /// T.
    pub temperature: f64,
    /// Steps of blocks.
    pub block_steps: BlockSteps,
    noise_share: f64,
    decay: Decay,
}

/// Refuses a step with which the chain explodes.
pub fn explodes(limit: f64, given: f64) -> SettingError {
    SettingError::StepTooLong {
        limit,
        given,
        why: "for this posterior, or the chain explodes".to_owned(),
    }
}

impl Config {
    /// Settles `settings`; `noise` of the gradients with the minibatches `minibatch`.
    ///
    /// # Errors
    /// The mode is needed and unknown, the step is too long, or the scheme does not suit the model.
    pub fn settle<R, O>(
        rule: &Rule,
        noise: Noise,
        minibatch: MinibatchSettings,
        settings: &mut LangevinSettings<R, O>,
        target: &Target,
    ) -> Result<Self, SettingError> {
        let block_steps = match &rule.rates {
            Rates::Blocks(blocks) => blocks.clone(),
            Rates::Of(_) | Rates::Own(_) | Rates::Within { .. } => BlockSteps::Equal,
        };
        let known = target
            .noise_ratio()
            .zip(target.difference_rows())
            .zip(target.curvature_range());
        if rule.needs_mode && known.is_none() {
            return Err(SettingError::no_mode(
                rule.id,
                "use `nuts`, or `sgld` with your own `step_size`",
            ));
        }
        let preconditioned = rule.rates == Rates::Of(Precondition::Curvature);
        let temperature = settings.temperature;
        let is_unbounded =
            matches!(rule.rates, Rates::Within { stiffest, .. } if stiffest.is_infinite());
        let is_scaled = block_steps.differ() || is_unbounded;
        let finish =
            |settings: &mut LangevinSettings<R, O>, step_size, steps_per_draw, noise_share| {
                settings.step_size = Some(step_size);
                settings.steps_per_draw = Some(steps_per_draw);
                Self {
                    step_size,
                    preconditioned,
                    minibatch,
                    steps_per_draw,
                    temperature,
                    block_steps,
                    noise_share,
                    decay: settings.steps.settle(steps_per_draw),
                }
            };
        let Some(((rho, rows), (slowest, stiffest))) = known.filter(|_| !is_scaled) else {
            let (Some(step_size), false) = (settings.step_size, preconditioned) else {
                return Err(SettingError::NoMode {
                    sampler: rule.id,
                    instead: match rule.rates {
                        Rates::Of(_) => "set `precondition` to none and give `step_size`",
                        Rates::Own(_) | Rates::Blocks(_) | Rates::Within { .. } => {
                            "give `step_size`"
                        }
                    },
                });
            };
            let steps = settings.steps_per_draw.unwrap_or(1);
            return Ok(finish(settings, step_size, steps, f64::NAN));
        };
        let n = target.num_obs;
        let factor = minibatch.noise_factor(n);
        let rows = match noise {
            Noise::Geometric { .. } => rows + 0.5,
            _ => target.centred_rows(minibatch.scheme).unwrap_or(rows),
        };
        // In units of the tempered variance. Centred gradients get noisier in the same proportion as it grows.
        let plain = factor * rho / temperature;
        let centred = factor * (rows / n as f64);
        let (slow, stiff) = match rule.rates {
            Rates::Of(Precondition::Curvature) => (1.0, 1.0),
            Rates::Of(Precondition::None) => (slowest, stiffest),
            Rates::Own(slow) => (slow, 1.0),
            Rates::Within {
                slowest: least,
                stiffest: most,
            } => (slowest * least, stiffest * most),
            // Steps of blocks have left above.
            Rates::Blocks(_) => (1.0, 1.0),
        };
        let step_size = settings
            .step_size
            .unwrap_or_else(|| noise.step(rule.excess, plain, centred) / stiff);
        let is_bound =
            matches!(rule.rates, Rates::Within { slowest, stiffest } if slowest < stiffest);
        if step_size * stiff >= 2.0 && !is_bound {
            return Err(explodes(2.0 / stiff, step_size));
        }
        let steps = (rule.time / (step_size * slow)).ceil().max(1.0);
        let steps_per_draw = settings
            .steps_per_draw
            .unwrap_or_else(|| capped_steps(steps as u64, &minibatch));
        let variance = noise.at(step_size * stiff, plain, centred);
        let gradient_noise = 0.5 * step_size * stiff * variance;
        Ok(finish(
            settings,
            step_size,
            steps_per_draw,
            gradient_noise / (1.0 + gradient_noise),
        ))
    }

    /// h of step `k`, 0-based.
    pub fn step_at(&self, k: u64) -> f64 {
        self.step_size * self.decay.share(k)
    }
}

/// Position and working memory.
#[derive(Clone, Debug)]
pub struct Langevin {
    /// The position.
    pub u: Vec<f64>,
    /// The gradient estimate; used up by a move.
    pub grad: Vec<f64>,
    /// What the move adds to the position.
    pub jump: Vec<f64>,
    /// Steps taken since the start of the chain.
    steps: u64,
    /// Steps of blocks, where they differ.
    scales: Option<Scales>,
}

impl Langevin {
    /// At `u0`.
    pub fn at(u0: &[f64]) -> Self {
        Self {
            u: u0.to_vec(),
            grad: vec![0.0; u0.len()],
            jump: vec![0.0; u0.len()],
            steps: 0,
            scales: None,
        }
    }

    /// At `u0`, with the steps of blocks that `config` has for the model of `oracle`.
    pub fn start(u0: &[f64], config: &Config, oracle: &Oracle) -> Self {
        Self {
            scales: Scales::of(&config.block_steps, oracle.model()),
            ..Self::at(u0)
        }
    }

    /// Steps taken since the start of the chain.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Steps of blocks, where they differ.
    #[cfg(test)]
    pub fn scales(&self) -> Option<&Scales> {
        self.scales.as_ref()
    }

    /// The move of the module's header with [`Self::grad`] as ĝ, and the information columns [`INFO`].
    ///
    /// # Errors
    /// [`StepError::NonFinite`]; the position is then the old one.
    pub fn advance(
        &mut self,
        config: &Config,
        at: Tick,
        oracle: &Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let h = self.draw_noise(config, streams);
        let factor = oracle.centre().map(|centre| &centre.factor);
        match factor.filter(|_| config.preconditioned) {
            Some(factor) => {
                // With H = L L': h H⁻¹ ĝ + sqrt(2h) L⁻ᵀ ξ = L⁻ᵀ (h L⁻¹ ĝ + sqrt(2h) ξ).
                factor.solve_lower(&mut self.grad);
                axpy(h, &self.grad, &mut self.jump);
                factor.solve_lower_transpose(&mut self.jump);
            }
            None => match &mut self.scales {
                Some(scales) => {
                    let factors = scales.at(at, &self.grad);
                    for ((jump, grad), factor) in self.jump.iter_mut().zip(&self.grad).zip(factors)
                    {
                        *jump = factor * h * grad + factor.sqrt() * *jump;
                    }
                }
                None => axpy(h, &self.grad, &mut self.jump),
            },
        }
        self.finish(config, at, info)
    }

    /// Begins a move: [`Self::jump`] becomes sqrt(2hT) ξ. Returns h.
    pub fn draw_noise(&mut self, config: &Config, streams: &mut Streams) -> f64 {
        let h = config.step_at(self.steps);
        let noise_scale = (2.0 * h * config.temperature).sqrt();
        for jump in &mut self.jump {
            let normal: f64 = StandardNormal.sample(&mut streams.noise);
            *jump = noise_scale * normal;
        }
        h
    }

    /// Ends a move: adds [`Self::jump`] to the position and writes the information columns [`INFO`].
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn finish(&mut self, config: &Config, at: Tick, info: &mut [f64]) -> Result<(), StepError> {
        if self.jump.iter().any(|jump| !jump.is_finite()) {
            return Err(StepError::not_finite("the gradient", at.iter));
        }
        let h = config.step_at(self.steps);
        axpy(1.0, &self.jump, &mut self.u);
        self.steps += 1;
        info[0] = h;
        info[1] = config.noise_share;
        info[2] = h / config.step_size;
        Ok(())
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut self.u);
        visitor.counter("steps", &mut self.steps);
        if let Some(scales) = &mut self.scales {
            scales.visit(visitor);
        }
    }
}
