//! A sampler with settings of its own among those compared.

use std::fmt;

use ergodic_base::settings::{Settings, Value};
use ergodic_core::samplers::{self, SamplerEntry};

/// A sampler and the settings in which it is not as by default. As text: `hmc-ecs`, `hmc-ecs:order=1`,
/// `sgld:batch=100:scheme=blocks`.
#[derive(Clone)]
pub struct Variant {
    /// The sampler.
    pub entry: &'static SamplerEntry,
    /// Settings that are not left to defaults.
    pub settings: Settings,
}

/// Why a text is no variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// No sampler of this name.
    #[error("There is no sampler `{0}`; `ergodic list samplers` shows them")]
    Unknown(String),
    /// A part without `=`.
    #[error("`{0}` is no setting: write settings after the sampler as `hmc-ecs:order=1:blocks=50`")]
    NoSetting(String),
    /// A setting that the sampler does not have, or a value that it does not take.
    #[error("{0}")]
    Refused(String),
}

impl From<&'static SamplerEntry> for Variant {
    fn from(entry: &'static SamplerEntry) -> Self {
        Self {
            entry,
            settings: Settings::default(),
        }
    }
}

impl std::str::FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let mut parts = text.split(':').map(str::trim);
        let id = parts.next().unwrap_or_default();
        let entry = samplers::find(id).ok_or_else(|| VariantError::Unknown(id.to_owned()))?;
        let mut settings = Settings::default();
        for part in parts {
            let (key, value) =
                (part.split_once('=')).ok_or_else(|| VariantError::NoSetting(part.to_owned()))?;
            settings.set(key.trim(), Value::parse(value));
        }
        let owner = format!("Sampler `{id}`");
        (settings.check(&owner, entry.spec.fields))
            .map_err(|error| VariantError::Refused(error.to_string()))?;
        Ok(Self { entry, settings })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.spec.id)?;
        (self.settings.iter()).try_for_each(|(key, value)| write!(f, ":{key}={value}"))
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({self})")
    }
}

impl PartialEq for Variant {
    fn eq(&self, other: &Self) -> bool {
        self.entry.spec.id == other.entry.spec.id && self.settings == other.settings
    }
}

impl Variant {
    /// For people: "Energy-conserving HMC, order = 1".
    pub fn title(&self) -> String {
        let mut title = self.entry.spec.title.to_owned();
        for (key, value) in self.settings.iter() {
            title.push_str(&format!(", {key} = {value}"));
        }
        title
    }

    /// Whether all settings are the defaults.
    pub fn is_plain(&self) -> bool {
        self.settings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_read_and_written() {
        for text in ["nuts", "hmc-ecs:order=1", "sgld:batch=100:scheme=blocks"] {
            let variant: Variant = text.parse().unwrap();
            assert_eq!(variant.to_string(), text);
        }
        let variant: Variant = " sgld : batch = 100 ".parse().unwrap();
        assert_eq!(variant.settings.int("batch"), Some(100));
        assert!(!variant.is_plain() && variant.title().ends_with(", batch = 100"));
        let refused = |text: &str| text.parse::<Variant>().unwrap_err().to_string();
        assert!(refused("sgdl").contains("`sgdl`"));
        assert!(refused("sgld:batch").contains("`batch`"));
        assert!(refused("sgld:bacth=3").contains("bacth"));
        assert!(refused("sgld:batch=none").contains("number"));
        assert!(refused("hmc-ecs:order=none").contains("whole number"));
    }
}
