//! Runs that go on where they ended: what `ergodic resume` and the window do alike.

use std::path::Path;
use std::sync::Arc;

use super::folder::Standing;
use super::manifest::{Manifest, other_arithmetic};
use super::{Claim, ExportError, RunFolder};
use ergodic_analysis::{Job, JobError, Recipe};
use ergodic_base::Control;
use ergodic_core::engine::{Continuation, StopReason};
use ergodic_data::Loaded;

/// A run of a folder, ready to go on.
pub struct Resumed {
    /// What the run is made of, with the draws that each chain is to have.
    pub job: Job,
    /// Where the run goes on; `None` if it begins again.
    pub continuation: Option<Continuation>,
    /// Folder of the run.
    pub folder: RunFolder,
    /// The right to write there.
    pub claim: Claim,
    /// What there is to say about it: one sentence each.
    pub remarks: Vec<String>,
}

/// Which draws a run that goes on makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// What was planned if it was cut short or stopped, otherwise as many again; fewer where the run was to end at a precision that it
    /// has not reached, and reaches it before.
    Usual,
    /// This number of further draws per chain.
    Draws(u64),
    /// None but those that were planned of a run that was cut short: what there is is to be looked at.
    Nothing,
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The run's folder.
    #[error(transparent)]
    Folder(#[from] ExportError),
    /// The run's data or recipe.
    #[error(transparent)]
    Job(#[from] JobError),
}

/// Makes the run in the folder at `path` ready to go on, to make `further` draws. `loaded` are its data if they are in memory; otherwise
/// they are read, and they must be the same as those it was run with.
///
/// # Errors
/// The folder holds no run, is damaged or is being written; the data are gone or others; the recipe cannot be prepared.
pub fn resume(
    path: &Path,
    further: Further,
    loaded: Option<Arc<Loaded>>,
    control: &Control,
) -> Result<Resumed, ResumeError> {
    let (folder, claim) = RunFolder::claim(path)?;
    let mut recipe = folder.recipe()?;
    let (standing, mut remarks) = folder.standing_to_continue(&claim)?;
    let Some(standing) = standing else {
        remarks.push("The run was cut short before its first draw; it begins again".to_owned());
        if let Further::Draws(draws) = further {
            recipe.run.draws = draws;
            recipe.run.draws_of_chains = None;
        }
        return Ok(Resumed {
            job: Job::prepare(&recipe, folder.path(), loaded, control)?,
            continuation: None,
            folder,
            claim,
            remarks,
        });
    };
    remarks.extend(standing.results().remarks.iter().cloned());
    if standing.is_cut_short {
        remarks.push(format!(
            "The run was cut short; {} draws were recovered",
            standing.results().total_draws()
        ));
        let ends = &standing.results().warmup_of_chains;
        recipe.run.warmup_of_chains.clone_from(ends);
    }
    plan(&mut recipe, &standing, further);
    let mut job = Job::prepare(&recipe, folder.path(), loaded, control)?;
    if let Some(manifest) = &standing.results().manifest {
        // Who chose it is not told by the recipe.
        job.sampler_reason.clone_from(&manifest.sampler_reason);
        remarks.extend(other_arithmetic(manifest.arithmetic, job.arithmetic));
    }
    let onward = folder.continuation(&job, standing)?;
    remarks.extend(onward.remarks);
    Ok(Resumed {
        job,
        continuation: onward.continuation,
        folder,
        claim,
        remarks,
    })
}

/// Says in the recipe how many draws each chain is to have.
fn plan(recipe: &mut Recipe, standing: &Standing, further: Further) {
    let of_recipe = |chain: usize| {
        let of_chains = recipe.run.draws_of_chains.as_ref();
        let of_chain = of_chains.and_then(|draws| draws.get(chain).copied());
        of_chain.unwrap_or(recipe.run.draws)
    };
    let planned = |chain: usize| {
        let plan = standing.plan.as_ref();
        let of_chain = plan.and_then(|draws| draws.get(chain).copied());
        of_chain.unwrap_or_else(|| of_recipe(chain))
    };
    let usual = recipe.run.draws;
    // The recipe of a run that was saved has its draws instead of its rule; one that was cut short has the rule still.
    let saved = standing.results().manifest.as_ref();
    let saved = saved.filter(|_| !standing.is_cut_short);
    let unmet = saved.and_then(Manifest::unmet_rule);
    let unmet = unmet.filter(|_| further == Further::Usual);
    let rule = match further {
        Further::Usual => unmet,
        // What decided on the draws is still what did.
        Further::Nothing => saved.and_then(|manifest| manifest.stop_rule.as_ref()),
        Further::Draws(_) => None,
    };
    if rule.is_some() || matches!(further, Further::Draws(_)) {
        recipe.run.target_ess = rule.and_then(|rule| rule.ess);
        recipe.run.target_rhat = rule.map(|rule| rule.rhat);
    }
    let is_as_asked = standing.is_cut_short && recipe.run.draws_of_chains.is_none();
    let has_rule = is_as_asked && recipe.run.precision().is_some();
    let ends_by_rule = further == Further::Usual && (unmet.is_some() || has_rule);
    // Who lets a run go on allows more time.
    recipe.run.max_seconds = None;
    let of_user = |manifest: &Manifest| manifest.stop_reason == Some(StopReason::User);
    let is_short = standing.reach.iter().any(|&reach| reach < recipe.run.draws);
    let is_stopped = is_short && standing.results().manifest.as_ref().is_some_and(of_user);
    let chains = standing.reach.iter().enumerate();
    let wanted: Vec<u64> = chains
        .map(|(chain, &reach)| match further {
            Further::Draws(more) => reach.saturating_add(more),
            // What was planned is still to be done.
            _ if standing.is_cut_short => planned(chain).max(reach),
            Further::Nothing => reach,
            // Its recipe has the draws that it was stopped at for each chain, and those that it was to make for all.
            Further::Usual if is_stopped => usual.max(reach),
            Further::Usual => reach.saturating_add(usual),
        })
        .collect();
    // A recipe has one draw at least, also where no chain has come so far.
    let most = wanted.iter().copied().max().unwrap_or(usual).max(1);
    recipe.run.draws = match further {
        // What the run was to make is still what it is to make when it goes on.
        Further::Nothing => most.max(usual),
        Further::Usual | Further::Draws(_) => most,
    };
    // With numbers for each chain no rule holds.
    recipe.run.draws_of_chains = (!ends_by_rule).then_some(wanted);
}
