//! The gradient noise of a run's sampler.

use super::Job;
use ergodic_core::oracle::GradientNoise;

impl Job {
    /// The noise of gradients from minibatches as the sampler takes them, plain and with control variates; `None` of samplers whose
    /// steps have none, and where no mode was found that it could be measured around.
    pub fn gradient_noise(&self) -> Option<GradientNoise> {
        let centre = self.centre.as_deref()?;
        let settings = &self.recipe.sampler.settings;
        (self.sampler.spec).gradient_noise(settings, self.model.as_ref(), centre)
    }
}
