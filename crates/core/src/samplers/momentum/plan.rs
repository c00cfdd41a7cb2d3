//! What a chain with momentum moves in, and the defaults that follow from it: friction, step, time between draws.

use super::{CRITICAL, Dynamics, Integrator, Mass, stationary};
use crate::oracle::Estimator;
use crate::samplers::Target;
use crate::samplers::minibatch_settings::MinibatchSettings;
use ergodic_base::settings::SettingError;

/// Predicted error of a variance at the default step: 2 % of a standard deviation.
pub(super) const EXCESS: f64 = 0.04;
/// How far the noise measured at the mode is trusted: it is a mean over the posterior and has an error itself.
const NOISE_ERROR: f64 = 0.10;
/// Longest default step: half the time in which a chain crosses a posterior standard deviation, a quarter of what is stable.
pub(super) const LONGEST_STEP: f64 = 0.5;
/// Below it rounding rules: for noise that is not finite, which the first step will notice.
pub(super) const SHORTEST_STEP: f64 = 1e-12;
/// The default is the first that will do of steps that shrink by this factor.
const SHRINK: f64 = 0.95;
/// Time between recorded draws by default, in units of the larger of 1 and half the friction: draws of a normal posterior
/// are then correlated by 3 e⁻² = 0.4.
const TIME_BETWEEN_DRAWS: f64 = 2.0;

/// What gradients a chain has, and in which coordinates and at which temperature it moves.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// Kind of gradients.
    pub estimator: Estimator,
    /// Rows of a gradient.
    pub minibatch: MinibatchSettings,
    /// M.
    pub mass: Mass,
    /// T.
    pub temperature: f64,
}

impl Medium {
    /// With `mass` settled: the curvature where it is known.
    pub fn settle(
        estimator: Estimator,
        minibatch: MinibatchSettings,
        mass: &mut Option<Mass>,
        temperature: f64,
        target: &Target,
    ) -> Self {
        Self {
            estimator,
            minibatch,
            mass: *mass.get_or_insert(match target.has_mode() {
                true => Mass::Curvature,
                false => Mass::Identity,
            }),
            temperature,
        }
    }

    /// What default settings reckon with; `None` without a mode, where a user gives the steps.
    ///
    /// # Errors
    /// What `id` lacks: the mode, or a step of the user's own.
    pub fn plan(
        &self,
        id: &'static str,
        step_size: Option<f64>,
        corrected: bool,
        thermostat: bool,
        target: &Target,
    ) -> Result<Option<Plan>, SettingError> {
        let n = target.num_obs;
        let noise = match self.estimator {
            // In units of the tempered variance; centred gradients get noisier as it grows.
            Estimator::Plain => target.noise_ratio().map(|ratio| ratio / self.temperature),
            Estimator::ControlVariate => {
                (target.centred_rows(self.minibatch.scheme)).map(|rows| rows / n as f64)
            }
        };
        let Some(noise) = noise else {
            if self.mass == Mass::Identity && step_size.is_some() {
                return Ok(None);
            }
            return Err(SettingError::no_mode(
                id,
                "set `mass` to identity and give `step_size`",
            ));
        };
        let (slow, stiff) = match self.mass {
            Mass::Curvature => (1.0, 1.0),
            Mass::Diagonal => (target.scaled_condition().unwrap_or(1.0).recip(), 1.0),
            Mass::Identity => target.curvature_range().unwrap_or((1.0, 1.0)),
        };
        Ok(Some(Plan {
            noise: self.minibatch.noise_factor(n) * noise,
            corrected,
            thermostat,
            slow: slow.sqrt(),
            stiff: stiff.sqrt(),
        }))
    }
}

/// What default settings reckon with.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Largest variance of gradient noise over directions, in units in which the stiffest direction has curvature 1.
    pub noise: f64,
    /// Whether noise is corrected for or absorbed direction by direction; otherwise all of it heats or cools.
    pub corrected: bool,
    /// Whether momenta are kept at their variance.
    pub thermostat: bool,
    /// Frequency of the slowest direction: the root of its curvature.
    pub slow: f64,
    /// Frequency of the stiffest direction.
    pub stiff: f64,
}

impl Plan {
    /// Where all directions have curvature 1.
    pub fn whitened(noise: f64, corrected: bool, thermostat: bool) -> Self {
        Self {
            noise,
            corrected,
            thermostat,
            slow: 1.0,
            stiff: 1.0,
        }
    }

    /// Largest share of gradient noise in all noise that the allowed error leaves.
    pub(super) fn share(&self) -> f64 {
        if self.corrected {
            EXCESS / NOISE_ERROR
        } else {
            EXCESS
        }
    }

    /// Friction for a step the user chose: critical in the slowest direction, or as much as gradient noise needs.
    pub fn friction(&self, step: Option<f64>) -> f64 {
        let critical = CRITICAL * self.slow;
        step.map_or(critical, |step| {
            critical.max(self.noise_friction(step) / self.share())
        })
    }

    /// B̂ = ½ε v.
    pub fn noise_friction(&self, step: f64) -> f64 {
        0.5 * step * (self.noise * self.stiff * self.stiff)
    }

    /// The longest step on a grid whose predicted error is at most [`EXCESS`], both with more gradient noise than measured
    /// and without any.
    pub fn longest_step(&self, integrator: Integrator, friction: f64) -> f64 {
        // In the units of the stiffest direction.
        let friction = friction / self.stiff;
        let mut step = LONGEST_STEP.min(0.5 * integrator.limit(friction));
        let will_do = |step| {
            0.5 * step * self.noise <= self.share() * friction
                && self.is_accurate(integrator, step, friction)
        };
        while step > SHORTEST_STEP && !will_do(step) {
            step *= SHRINK;
        }
        step / self.stiff
    }

    /// Refuses a step with which the dynamics explode.
    ///
    /// # Errors
    /// The longest one.
    pub fn check_step(
        &self,
        integrator: Integrator,
        step: f64,
        friction: f64,
    ) -> Result<(), SettingError> {
        let limit = integrator.limit(friction / self.stiff) / self.stiff;
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
    pub fn steps_between_draws(&self, step: f64, friction: f64) -> u64 {
        let time = TIME_BETWEEN_DRAWS * (0.5 * friction / self.slow).max(1.0) / self.slow;
        (time / step).ceil() as u64
    }

    /// Whether a step does, with step and friction in the units of the stiffest direction.
    pub(super) fn is_accurate(&self, integrator: Integrator, step: f64, friction: f64) -> bool {
        let dynamics = Dynamics {
            integrator,
            step,
            thermostat: None,
            temperature: 1.0,
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
            let injected = friction - 0.5 * step * self.noise;
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
