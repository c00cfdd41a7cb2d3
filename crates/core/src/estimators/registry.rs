//! The list of optimisers, and the plan of a search: which of them, with which settings.

use std::sync::Arc;

use super::{
    adadelta, adagrad, adam, hessian_free, lbfgs, newton, rmsprop, santa, sgd, stochastic,
};
use crate::models::Model;
use ergodic_base::settings::{Field, SettingError, Settings};

/// Method id that leaves the choice to the program.
pub const AUTO: &str = "auto";

/// What an optimiser is, for lists, forms and checks.
#[derive(Clone, Copy, Debug)]
pub struct OptimiserSpec {
    /// Identifier in recipes and on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence: what it does and what it is for.
    pub about: &'static str,
    /// Where the optimiser comes from.
    pub cite: &'static str,
    /// The update in plain text, as an ascent of the log posterior.
    pub formula: &'static str,
    /// Settings of the optimiser.
    pub fields: &'static [Field],
}

/// How a method is run.
#[derive(Clone, Copy)]
pub(super) enum Method {
    Newton,
    Lbfgs,
    HessianFree,
    Stochastic(stochastic::Planner),
}

/// A method with its settings.
#[derive(Clone)]
pub(super) enum Way {
    Newton,
    Lbfgs,
    HessianFree,
    Stochastic(Arc<dyn stochastic::Search>),
}

/// A registered optimiser.
pub struct OptimiserEntry {
    /// Description of the optimiser.
    pub spec: OptimiserSpec,
    pub(super) method: Method,
}

const fn stochastic<U: stochastic::Optimiser>() -> OptimiserEntry {
    OptimiserEntry {
        spec: U::SPEC,
        method: Method::Stochastic(stochastic::plan::<U>),
    }
}

/// All optimisers; order here is order in every list shown to people.
pub static REGISTRY: &[OptimiserEntry] = &[
    OptimiserEntry {
        spec: newton::SPEC,
        method: Method::Newton,
    },
    OptimiserEntry {
        spec: lbfgs::SPEC,
        method: Method::Lbfgs,
    },
    OptimiserEntry {
        spec: hessian_free::SPEC,
        method: Method::HessianFree,
    },
    stochastic::<sgd::Sgd>(),
    stochastic::<sgd::Momentum>(),
    stochastic::<adagrad::AdaGrad>(),
    stochastic::<adadelta::AdaDelta>(),
    stochastic::<rmsprop::RmsProp>(),
    stochastic::<adam::Adam>(),
    stochastic::<santa::Santa>(),
];

/// The optimiser called `id`, if there is one.
pub fn find(id: &str) -> Option<&'static OptimiserEntry> {
    REGISTRY.iter().find(|entry| entry.spec.id == id)
}

/// How a mode is to be looked for: a method with all its settings.
#[derive(Clone)]
pub struct Plan {
    /// The method; `None` for the choice of `auto`.
    pub(super) way: Option<(Way, &'static OptimiserSpec)>,
    /// Every setting, those left to defaults included.
    pub settings: Settings,
    /// Where the search starts (D); `None` for u = 0.
    pub start: Option<Vec<f64>>,
}

impl Plan {
    /// The program's own choice.
    pub fn auto() -> Self {
        Self {
            way: None,
            settings: Settings::default(),
            start: None,
        }
    }

    /// Reads `settings` of `method` (or [`AUTO`]) and resolves defaults for `model`.
    ///
    /// # Errors
    /// There is no such method, or it does not take a setting; the sentence names what there is.
    pub fn new(method: &str, settings: &Settings, model: &dyn Model) -> Result<Self, SettingError> {
        if method == AUTO {
            settings.check("Method `auto` of the mode", &[])?;
            return Ok(Self::auto());
        }
        let entry = find(method).ok_or_else(|| {
            let known: Vec<&str> = REGISTRY.iter().map(|entry| entry.spec.id).collect();
            SettingError::Value {
                key: "mode.method".to_owned(),
                takes: format!("one of auto, {}", known.join(", ")),
                value: method.to_owned(),
            }
        })?;
        settings.check(&format!("Optimiser `{method}`"), entry.spec.fields)?;
        let (way, settings) = match entry.method {
            Method::Newton => (Way::Newton, Settings::default()),
            Method::Lbfgs => (Way::Lbfgs, Settings::default()),
            Method::HessianFree => (Way::HessianFree, Settings::default()),
            Method::Stochastic(plan) => {
                let (search, settings) = plan(settings, model)?;
                (Way::Stochastic(search), settings)
            }
        };
        Ok(Self {
            way: Some((way, &entry.spec)),
            settings,
            start: None,
        })
    }
}
