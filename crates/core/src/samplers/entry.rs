//! A sampler as lists and runs take it, without its type.

use super::kernel::Bound;
use super::{
    Kernel, KernelError, OutputSpec, Refusal, Sampler, SamplerSpec, Target, Unsuitable, recommend,
    simplex,
};
use crate::models::{Block, Model, parts};
use crate::oracle::{Centre, Oracle};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, SettingError, Settings, Value};

/// Makes a kernel that stands at the given position.
pub(super) type Build<K = dyn Kernel> =
    fn(&Settings, &Target, &[f64], &mut Oracle, &mut Streams) -> Result<Box<K>, KernelError>;

type ValuesInForce = Vec<(&'static str, Value)>;

/// The settings in force for a target, without starting anything.
pub(super) type Resolve = fn(&Settings, &Target) -> Result<ValuesInForce, SettingError>;

type Afford = fn(&Settings, &Target, &dyn Model, &Centre) -> Result<(), Refusal>;

type Check = fn(&Settings, &Target, &[Block]) -> Result<(), SettingError>;

/// A registered sampler.
pub struct SamplerEntry {
    /// Description of the sampler.
    pub spec: SamplerSpec,
    /// See [`Sampler::ADVICE`].
    pub advice: recommend::Traits,
    /// See [`Sampler::OUTPUTS`].
    pub outputs: &'static [OutputSpec],
    /// See [`Sampler::suits`].
    pub suits: fn(&dyn Model) -> Result<(), Refusal>,
    /// Makes a kernel that stands at the given position.
    pub build: Build,
    /// The settings in force for a target, without starting anything.
    pub resolve: Resolve,
    /// See [`Sampler::check`].
    pub check: Check,
    /// See [`Sampler::affords`]; settings that it does not take are refused elsewhere.
    pub affords: Afford,
    /// Whether the sampler has trajectories to follow ([`Sampler::FOLLOW`]).
    pub follows: bool,
}

impl SamplerEntry {
    /// The entry of sampler `S`.
    pub const fn of<S: Sampler>() -> Self {
        Self {
            spec: S::SPEC,
            suits: suits::<S>,
            advice: S::ADVICE,
            outputs: S::OUTPUTS,
            build: build::<S>,
            resolve: resolve::<S>,
            check: check::<S>,
            affords: affords::<S>,
            follows: S::FOLLOW.is_some(),
        }
    }

    /// Whether the sampler makes the output called `name`.
    pub fn makes(&self, name: &str) -> bool {
        self.outputs.iter().any(|spec| spec.name == name)
    }
}

/// What the sampler itself says; that nearly all need a density; and that approximations take a posterior to be near
/// normal, which that of a rare category is not.
fn suits<S: Sampler>(model: &dyn Model) -> Result<(), Refusal> {
    let checked = if S::NEEDS_DENSITY && model.density().is_none() {
        Err(Unsuitable::NoDensity)
    } else if S::NEEDS_DENSITY && S::NEEDS_ROWS && model.rows().is_none() {
        Err(Unsuitable::NoRows)
    } else if S::SPEC.bias.is_some() && !S::ON_SIMPLEX {
        S::suits(model).and_then(|()| simplex::refuse_sparse(model))
    } else {
        S::suits(model)
    };
    let sampler = S::SPEC.id;
    checked.map_err(|reason| Refusal { sampler, reason })
}

fn owner<S: Sampler>() -> String {
    format!("Sampler `{}`", S::SPEC.id)
}

/// What `settings` come to for `target`, and all settings with the values in force.
pub(crate) fn configured<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<(S::Config, ValuesInForce), SettingError> {
    settings.check(&owner::<S>(), S::SPEC.fields)?;
    let mut settings = S::Settings::read(settings)?;
    let config = S::configure(&mut settings, target)?;
    let mut values = Vec::new();
    settings.write(&mut values);
    Ok((config, values))
}

#[cfg(test)]
pub(crate) fn configure<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<S::Config, SettingError> {
    Ok(configured::<S>(settings, target)?.0)
}

fn build<S: Sampler>(
    settings: &Settings,
    target: &Target,
    u0: &[f64],
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<Box<dyn Kernel>, KernelError> {
    Ok(Box::new(bound::<S>(settings, target, u0, oracle, streams)?))
}

/// A sampler that stands at `u0`, once it is clear that it suits the model.
pub(super) fn bound<S: Sampler>(
    settings: &Settings,
    target: &Target,
    u0: &[f64],
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<Bound<S>, KernelError> {
    suits::<S>(oracle.model())?;
    let (config, _values) = configured::<S>(settings, target)?;
    S::check(&config, &parts(oracle.model()))?;
    let state = S::init(&config, u0, oracle, streams)?;
    Ok(Bound { config, state })
}

pub(super) fn resolve<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<Vec<(&'static str, Value)>, SettingError> {
    Ok(configured::<S>(settings, target)?.1)
}

fn check<S: Sampler>(
    settings: &Settings,
    target: &Target,
    parts: &[Block],
) -> Result<(), SettingError> {
    S::check(&configured::<S>(settings, target)?.0, parts)
}

fn affords<S: Sampler>(
    settings: &Settings,
    target: &Target,
    model: &dyn Model,
    centre: &Centre,
) -> Result<(), Refusal> {
    let Ok((config, _values)) = configured::<S>(settings, target) else {
        return Ok(());
    };
    let sampler = S::SPEC.id;
    S::affords(&config, model, centre).map_err(|reason| Refusal { sampler, reason })
}
