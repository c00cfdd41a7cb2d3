//! Following trajectories from where the chains of a finished run ended, on a thread of its own.

use std::sync::Arc;

use super::entry::RunEntry;
use super::from_draws::{FromDraws, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_core::engine::RunView;
use ergodic_core::engine::checkpoint::ChainMark;
use ergodic_core::engine::trajectories::FromChain;
use ergodic_core::samplers;

/// Trajectories of a run.
#[derive(Debug)]
pub struct Followed {
    /// By chain.
    pub chains: Vec<FromChain>,
    /// Draws of the run when they were followed.
    draws: usize,
}

impl RunEntry {
    /// Trajectories from where the chains stand now, once they are there.
    pub fn trajectories(&self) -> Option<&Arc<Followed>> {
        let done = self.followed.done();
        done.filter(|done| done.draws == draws_of(self))
    }

    /// Whether the run's sampler has trajectories to follow.
    pub fn has_trajectories(&self) -> bool {
        let entry = self.sampler().and_then(|spec| samplers::find(spec.id));
        entry.is_some_and(|entry| entry.follows)
    }
}

/// Where the chains of a run in memory stand.
pub(super) type Ends = Vec<Option<Arc<ChainMark>>>;

/// Where the chains of `view` stand; those of a run that was read are in its folder.
pub(super) fn ends(view: &RunView) -> Ends {
    view.chains.iter().map(|chain| chain.mark.clone()).collect()
}

const QUESTION: FromDraws<Followed> = FromDraws {
    kept: |entry| &mut entry.followed,
    what: "Following trajectories of",
    without_recipe: "Draws without a recipe have no model whose energy could be followed",
    cancelled: "Following trajectories was cancelled",
    earlier_stays: false,
};

/// Follows trajectories of a finished run, unless that is done or being done.
pub(super) fn follow(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let is_there = entry.trajectories().is_some() || entry.followed.working().is_some();
    if is_there || entry.is_active() {
        return;
    }
    let ends = entry.view().map_or_else(Vec::new, |view| ends(&view));
    find(state, id, &QUESTION, fx, move |draws, control| {
        let chains = draws.source.trajectories(&ends, control);
        chains.map(|chains| Followed {
            chains,
            draws: draws.count,
        })
    });
}
