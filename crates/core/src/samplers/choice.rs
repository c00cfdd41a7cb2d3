//! Whether a sampler can be run as it was asked for, and every setting that it then has.

use super::{Refusal, SamplerEntry, Target};
use crate::estimators::ModeError;
use crate::models::{Model, parts};
use ergodic_base::settings::{SettingError, Settings};

/// Why a sampler cannot be run as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// The sampler cannot sample this model.
    #[error(transparent)]
    Unsuitable(#[from] Refusal),
    /// The sampler needs the mode, and none was found.
    #[error("Sampler `{sampler}` needs the posterior mode, and {error}{remedy}", remedy = remedy(.error))]
    NoMode {
        /// Id of the sampler.
        sampler: &'static str,
        /// Why there is none.
        error: ModeError,
    },
    /// A setting that the sampler does not have, or a value that it does not take.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

fn remedy(error: &ModeError) -> &'static str {
    match error {
        // It names its own.
        ModeError::TooFar(_) => "",
        ModeError::TooMany(_) => "; choose a sampler that needs none",
        _ => "; choose nuts, or set a proper prior",
    }
}

impl SamplerEntry {
    /// `given` with the defaults of all settings that are absent, for a `model` without a mode for the reason `no_mode`, if so.
    ///
    /// # Errors
    /// The sampler refuses the model, needs a mode and there is none, or refuses a setting.
    pub fn settle(
        &self,
        given: &Settings,
        model: &dyn Model,
        target: &Target,
        no_mode: Option<&ModeError>,
    ) -> Result<Settings, ChoiceError> {
        let sampler = self.spec.id;
        (self.suits)(model)?;
        // Without a mode one that needs it is refused for that, whatever its settings.
        if let Some(error) = no_mode.filter(|_error| self.spec.needs_mode).cloned() {
            return Err(ChoiceError::NoMode { sampler, error });
        }
        (self.check)(given, target, &parts(model))?;
        let mut settings = given.clone();
        for (key, value) in (self.resolve)(given, target)? {
            settings.set(key, value);
        }
        Ok(settings)
    }
}
