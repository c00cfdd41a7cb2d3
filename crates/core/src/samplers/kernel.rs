//! A sampler with its settings and its state, as the engine runs it.

use super::{Conditional, Output, OutputSpec, Refusal, Sampler, StateVisitor, Tick, Trajectory};
use crate::oracle::{Oracle, StepError};
use ergodic_base::settings::SettingError;
use ergodic_base::{ChainRng, Streams};

/// A sampler bound to its settings and state: what the engine holds.
pub trait Kernel: Send {
    /// See [`Sampler::step`].
    fn step(
        &mut self,
        at: Tick,
        o: &mut Oracle,
        r: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError>;
    /// See [`Sampler::steps_per_draw`].
    fn steps_per_draw(&self) -> u64;
    /// See [`Sampler::position`].
    fn position(&self) -> &[f64];
    /// See [`Sampler::gradient`].
    fn gradient(&self) -> Option<&[f64]>;
    /// See [`Sampler::ready`].
    fn ready(&self) -> bool;
    /// See [`Sampler::OUTPUTS`].
    fn outputs(&self) -> &'static [OutputSpec];
    /// See [`Sampler::output`].
    fn output(&self, k: usize) -> Output<'_>;
    /// See [`Sampler::visit`].
    fn visit(&mut self, visitor: &mut dyn StateVisitor);
    /// See [`Sampler::FOLLOW`]; `None` for samplers that follow no trajectory.
    fn follow(
        &mut self,
        steps: usize,
        o: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Option<Result<Trajectory, StepError>>;
}

/// A [`Kernel`] of a [`Conditional`] sampler.
pub(crate) trait ConditionalKernel: Kernel {
    /// See [`Conditional::refresh`].
    ///
    /// # Errors
    /// See there.
    fn refresh(&mut self, oracle: &mut Oracle) -> Result<(), StepError>;
}

/// A sampler with what its settings come to and its state.
pub(super) struct Bound<S: Sampler> {
    pub config: S::Config,
    pub state: S::State,
}

impl<S: Sampler> Kernel for Bound<S> {
    fn step(
        &mut self,
        at: Tick,
        o: &mut Oracle,
        r: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        S::step(&self.config, at, &mut self.state, o, r, info)
    }
    fn steps_per_draw(&self) -> u64 {
        S::steps_per_draw(&self.config)
    }
    fn position(&self) -> &[f64] {
        S::position(&self.state)
    }
    fn gradient(&self) -> Option<&[f64]> {
        S::gradient(&self.state)
    }
    fn ready(&self) -> bool {
        S::ready(&self.state)
    }
    fn outputs(&self) -> &'static [OutputSpec] {
        S::OUTPUTS
    }
    fn output(&self, k: usize) -> Output<'_> {
        S::output(&self.state, k)
    }
    fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        S::visit(&mut self.state, visitor);
    }
    fn follow(
        &mut self,
        steps: usize,
        o: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Option<Result<Trajectory, StepError>> {
        S::FOLLOW.map(|follow| follow(&self.config, &mut self.state, steps, o, rng))
    }
}

impl<S: Conditional> ConditionalKernel for Bound<S> {
    fn refresh(&mut self, oracle: &mut Oracle) -> Result<(), StepError> {
        S::refresh(&mut self.state, oracle)
    }
}

/// Why a kernel could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The model is not for this sampler.
    #[error(transparent)]
    Unsuitable(#[from] Refusal),
    /// A checkpoint of another sampler, or of other settings.
    #[error("the checkpoint does not fit this sampler and its settings")]
    Checkpoint,
    /// A setting was refused.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The start failed.
    #[error(transparent)]
    Start(#[from] StepError),
}
