//! Which sampler a job takes, and how all of them rank for it.

use super::Job;
use crate::JobError;
use crate::recipe::{AUTO, Recipe, RecipeError};
use ergodic_core::engine::Sampling as _;
use ergodic_core::models::Model;
use ergodic_core::samplers::recommend::{self, Advice, Cheapest, Facts};
use ergodic_core::samplers::{self, SamplerEntry, Target};

impl Job {
    /// How all samplers rank for this posterior, as far as counts of work tell.
    pub fn advice(&self) -> Advice {
        recommend::recommend(&facts(self.model.as_ref(), &self.target(), &self.recipe))
    }

    /// The exact sampler that the bias of an approximate one is checked by, where there is one.
    pub fn control(&self) -> Option<&Cheapest> {
        let cheapest = || {
            let is_checked = self.sampler.spec.bias.is_some();
            let target = is_checked.then(|| self.target())?;
            recommend::cheapest_exact(&facts(self.model.as_ref(), &target, &self.recipe))
        };
        self.control.get_or_init(cheapest).as_ref()
    }

    /// Measures what minibatches add to gradients at the mode, if there is one, so that [`Self::advice`], [`Self::control`] and
    /// [`Job::gradient_noise`] need not do so when they are first asked: a window would wait for them.
    pub fn measure_noise(&self) {
        let _measured = self.target().noise();
    }

    /// [`Self::advice`] once it is measured which samplers would cost more than passes over all rows, which takes some passes itself.
    pub fn measured_advice(&self) -> Advice {
        let (model, target) = (self.model.as_ref(), self.target());
        let mut facts = facts(model, &target, &self.recipe);
        if let Some(centre) = &self.centre {
            facts
                .refusals
                .extend(recommend::too_dear(model, &target, centre));
        }
        recommend::recommend(&facts)
    }
}

/// What the adviser is told, with the cores of this machine.
fn facts(model: &dyn Model, target: &Target, recipe: &Recipe) -> Facts {
    Facts {
        cores: std::thread::available_parallelism()
            .ok()
            .map(std::num::NonZero::get),
        ..Facts::new(model, target, recipe.run.max_seconds)
    }
}

pub(super) fn choose_sampler(
    recipe: &Recipe,
    model: &dyn Model,
    target: &Target,
) -> Result<(&'static SamplerEntry, String), JobError> {
    let id = recipe.sampler.id.as_str();
    if id == AUTO {
        let advice = recommend::recommend(&facts(model, target, recipe));
        return Ok((find_sampler(advice.sampler)?, advice.reason));
    }
    Ok((find_sampler(id)?, "as asked for".to_owned()))
}

fn find_sampler(id: &str) -> Result<&'static SamplerEntry, RecipeError> {
    samplers::find(id).ok_or_else(|| {
        let known = samplers::REGISTRY.iter().map(|entry| entry.spec.id);
        RecipeError::UnknownSampler {
            id: id.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    })
}
