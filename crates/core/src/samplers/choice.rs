//! Whether a sampler can be run as it was asked for, and every setting that it then has.

use super::{Refusal, SamplerEntry, Target};
use crate::estimators::ModeError;
use crate::models::{Model, parts};
use crate::oracle::Centre;
use ergodic_base::settings::{SettingError, Settings};

/// Why a sampler cannot be run as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// The sampler cannot sample this model.
    #[error(transparent)]
    Unsuitable(#[from] Refusal),
    /// The sampler needs the mode, and none was found.
    #[error("Sampler `{sampler}` needs the posterior mode, and {error}{advice}", advice = advice(.error))]
    NoMode {
        /// Id of the sampler.
        sampler: &'static str,
        /// Why there is none.
        error: ModeError,
    },
    /// The sampler takes its steps from the mode, none was found, and the settings do not say enough without.
    #[error("Sampler `{sampler}` takes its steps from the posterior mode, and {error}; {instead}{advice}", advice = advice(.error))]
    NoSteps {
        /// Id of the sampler.
        sampler: &'static str,
        /// Why there is no mode.
        error: ModeError,
        /// Which settings would do.
        instead: &'static str,
    },
    /// A setting that the sampler does not have, or a value that it does not take.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

fn advice(error: &ModeError) -> &'static str {
    match error {
        // It names its own.
        ModeError::TooFar(_) => "",
        ModeError::TooMany(_) | ModeError::NoneSought => "; or choose a sampler that needs no mode",
        _ => {
            "; choose nuts, start the search at another place (mode.start), or set a proper prior where one is flat"
        }
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
        if let Some(error) = no_mode.filter(|_error| self.spec.needs_mode).cloned() {
            // Without a mode one that needs it is refused for that, whatever its settings.
            if !self.spec.own_steps {
                return Err(ChoiceError::NoMode { sampler, error });
            }
            if let Err(SettingError::NoMode { instead, .. }) = (self.resolve)(given, target) {
                return Err(ChoiceError::NoSteps {
                    sampler,
                    error,
                    instead,
                });
            }
        }
        (self.check)(given, target, &parts(model))?;
        let mut settings = given.clone();
        for (key, value) in (self.resolve)(given, target)? {
            settings.set(key, value);
        }
        Ok(settings)
    }

    /// Refuses a run that would cost more than one of all rows, as measured around the mode, where one was found; `settled` are all
    /// settings.
    ///
    /// # Errors
    /// What it would cost.
    pub fn afford(
        &self,
        settled: &Settings,
        model: &dyn Model,
        target: &Target,
        centre: Option<&Centre>,
    ) -> Result<(), ChoiceError> {
        let Some(centre) = centre else {
            return Ok(());
        };
        Ok((self.affords)(settled, target, model, centre)?)
    }
}
