//! Random walks whose scale is adapted: what `metropolis` and `pseudo-marginal` share.
//!
//! u* = u + s L ξ with L L' = Σ = H⁻¹, the covariance guessed from the curvature at the mode (identity if no mode was found).
//!
//! **Warm-up** (Robbins and Monro 1951, with averaging after Polyak and Juditsky 1992). After step t: log s ← log s +
//! min(1, 2 t^{-0.6}) (α − target). What is kept afterwards is the average of log s in which later steps weigh more (weight of step t
//! proportional to t).
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `step_scale` | fixes s instead of adapting it | adapted from 2.38/sqrt(D) |
//! | `target_accept` | acceptance that s is adapted to | 0.234 + 0.206/D: 0.44 in one dimension, 0.234 in many |
//! | `steps_per_draw` | steps for each recorded draw | D |

use rand_distr::{Distribution as _, StandardNormal};

use crate::oracle::Centre;
use crate::samplers::{ACCEPT, InfoColumn, Phase, STEP_SIZE, StateVisitor, Target};
use ergodic_base::ChainRng;
use ergodic_base::settings::Field;

/// Best scale times sqrt(D) on a normal target in many dimensions.
const BEST_SCALE: f64 = 2.38;
/// Best acceptance rate in many dimensions.
const BEST_ACCEPT: f64 = 0.234;
/// What one dimension adds to it: 0.44. With 1/D in between, within 0.02 of the rates Gelman, Roberts and Gilks list.
const ONE_DIM_ACCEPT: f64 = 0.206;
/// Decay and size of the Robbins-Monro gain: slow enough to cross several powers of ten in scale within a warm-up.
const GAIN_DECAY: f64 = 0.6;
const GAIN: f64 = 2.0;

ergodic_base::settings! {
    /// Settings of a random walk.
    pub struct WalkSettings {
        step_scale: Option<f64> = Field::real("Proposal scale", 1e-9, 1e3, None)
            .help(
                "Standard deviation s of proposals in units of the posterior standard deviations at the mode; a number \
                 fixes it, auto adapts it in warm-up",
            )
            .why("adapted to the target acceptance");
        target_accept: Option<f64> = Field::real("Target acceptance", 0.05, 0.95, None)
            .help("Acceptance rate that the proposal scale is adapted to")
            .why("0.234 + 0.206/D, the most efficient rate on normal targets: 0.44 in one dimension, 0.234 in many");
        steps_per_draw: Option<u64> = Field::int("Steps per draw", 1, 1_000_000, None)
            .help("Metropolis steps for each recorded draw (thinning)")
            .why("one per dimension: keeps nearly all information at a fraction of the memory");
    }
}

/// Information columns of a random walk.
pub const INFO: [InfoColumn; 2] = [
    InfoColumn::new(
        ACCEPT,
        "Mean acceptance probability over the steps of the draw",
    ),
    InfoColumn::new(STEP_SIZE, "Proposal scale s"),
];

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    step_scale: Option<f64>,
    target_accept: f64,
    /// Steps of a draw.
    pub steps_per_draw: u64,
}

/// The most efficient acceptance rate on a normal target in `dim` dimensions.
pub fn best_accept(dim: usize) -> f64 {
    BEST_ACCEPT + ONE_DIM_ACCEPT / dim as f64
}

impl WalkSettings {
    /// Settles what is open.
    pub fn settle(&mut self, target: &Target) -> Config {
        let dim = target.dim.max(1);
        Config {
            step_scale: self.step_scale,
            target_accept: *self.target_accept.get_or_insert(best_accept(dim)),
            steps_per_draw: *self.steps_per_draw.get_or_insert(dim as u64),
        }
    }
}

/// The scale of a walk, and what the steps of a draw did.
pub struct Walk {
    log_scale: f64,
    /// Average of log s over warm-up.
    average: f64,
    /// Steps of warm-up done.
    warmup_steps: u64,
    /// 1 once warm-up is over.
    frozen: u64,
    /// Steps since the last recorded draw, and the sum of their acceptance probabilities.
    steps: u64,
    sum_accept: f64,
}

impl Walk {
    /// Before the first step in `dim` dimensions.
    pub fn start(config: &Config, dim: usize) -> Self {
        let scale = (config.step_scale).unwrap_or(BEST_SCALE / (dim as f64).sqrt());
        Self {
            log_scale: scale.ln(),
            average: scale.ln(),
            warmup_steps: 0,
            frozen: 0,
            steps: 0,
            sum_accept: 0.0,
        }
    }

    /// s of the next step.
    pub fn scale(&mut self, config: &Config, phase: Phase) -> f64 {
        if phase == Phase::Draw && self.frozen == 0 {
            self.frozen = 1;
            if config.step_scale.is_none() {
                self.log_scale = self.average;
            }
        }
        config.step_scale.unwrap_or(self.log_scale.exp())
    }

    /// Learns from a step with this acceptance probability; returns the mean over the steps of the draw.
    pub fn record(&mut self, config: &Config, accept: f64) -> f64 {
        if self.steps == config.steps_per_draw {
            self.steps = 0;
            self.sum_accept = 0.0;
        }
        self.steps += 1;
        self.sum_accept += accept;
        if self.frozen == 0 && config.step_scale.is_none() {
            self.warmup_steps += 1;
            let t = self.warmup_steps as f64;
            let gain = (GAIN * t.powf(-GAIN_DECAY)).min(1.0);
            self.log_scale += gain * (accept - config.target_accept);
            self.average += 2.0 / (t + 1.0) * (self.log_scale - self.average);
        }
        self.sum_accept / self.steps as f64
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.scalar("log_scale", &mut self.log_scale);
        visitor.scalar("average_log_scale", &mut self.average);
        visitor.counter("warmup_steps", &mut self.warmup_steps);
        visitor.counter("frozen", &mut self.frozen);
        visitor.counter("steps", &mut self.steps);
        visitor.scalar("sum_accept", &mut self.sum_accept);
    }
}

/// A step of scale `s` from `u`, into `out` (D).
pub fn propose(s: f64, u: &[f64], centre: Option<&Centre>, rng: &mut ChainRng, out: &mut [f64]) {
    for out in &mut *out {
        *out = StandardNormal.sample(rng);
    }
    if let Some(centre) = centre {
        centre.factor.solve_lower_transpose(out);
    }
    for (out, u) in out.iter_mut().zip(u) {
        *out = u + s * *out;
    }
}
