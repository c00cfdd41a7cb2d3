//! The further columns of a run's summary, computed on a thread of their own while somebody looks at them.

use std::convert::Infallible;
use std::sync::Arc;

use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::predict::INTERVAL;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::ChainState;
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::Inefficiency;
use ergodic_diagnostics::extra::{Extra, ExtraInputs, Extras};

/// Probabilities of intervals that can be chosen.
pub const PROBABILITIES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// What is asked of the further columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnsAsked {
    /// Probability in intervals.
    pub interval: f64,
    /// The range that counts as 0: from, to.
    pub rope: Option<[f64; 2]>,
}

impl Default for ColumnsAsked {
    fn default() -> Self {
        Self {
            interval: INTERVAL,
            // Which differences matter is nobody's to guess.
            rope: None,
        }
    }
}

/// Further columns, and what they come to over all variables.
#[derive(Debug)]
pub struct FurtherColumns {
    /// The columns.
    pub extras: Extras,
    /// What independent draws cost; `None` where no variable has an effective sample size.
    pub inefficiency: Option<Inefficiency>,
}

/// Growth of the draws of a run that goes on, after which the columns are computed again: by a tenth, which moves a Monte Carlo error by
/// a twentieth.
const GROWTH: usize = 10;

/// Whether the columns are to be computed, for `draws` draws per chain.
pub fn are_due(entry: &RunEntry, draws: usize) -> bool {
    let before = entry.extras_of;
    let grown = match entry.is_active() {
        true => draws >= before + before.div_ceil(GROWTH).max(1),
        false => draws != before,
    };
    entry.extras.working().is_none() && draws > 0 && grown
}

/// Computes them anew as they are asked for.
pub(super) fn ask(state: &mut AppState, id: u64, asked: ColumnsAsked, fx: &mut dyn Effects) {
    if let Some(entry) = state.run_mut(id) {
        entry.forget_extras();
        entry.columns_asked = asked;
    }
    compute(state, id, fx);
}

/// Starts computing them, unless that goes on.
pub(super) fn compute(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let Some(view) = entry.view().filter(|_| entry.extras.working().is_none()) else {
        return;
    };
    let (title, draws) = (entry.title(), view.draws_per_chain());
    let weights = view.weights(weight_column(&entry.info_names()));
    // Of groups that have lost a chain nothing is known.
    let superchains = entry
        .recipe
        .as_ref()
        .and_then(|recipe| recipe.run.superchains);
    let superchains = superchains.filter(|_| view.usable().count() == view.chains.len());
    let (asked, report) = (entry.columns_asked, entry.report());
    let work = move |_control: &Control| {
        let chains = view.chains.iter().enumerate();
        let usable = chains.filter(|(_, chain)| !matches!(chain.state, ChainState::Failed(_)));
        let (numbers, lists): (Vec<usize>, Vec<&DrawList>) = usable
            .map(|(index, chain)| (index + 1, &chain.draws.draws))
            .unzip();
        let seconds = view.usable().map(|chain| chain.draw_secs);
        let seconds = seconds.fold(0.0, f64::max);
        let inputs = ExtraInputs {
            chains: &lists,
            numbers: &numbers,
            weights: &weights,
            seconds,
            superchains,
            interval: asked.interval,
            rope: asked.rope,
        };
        // The summary has the ends of the usual interval.
        let is_wanted = |it: &Extra| match it {
            Extra::RhatNested => superchains.is_some(),
            Extra::InRope => asked.rope.is_some(),
            Extra::Low | Extra::High => asked.interval != INTERVAL,
            _ => true,
        };
        let wanted: Vec<Extra> = Extra::ALL.into_iter().filter(is_wanted).collect();
        let inefficiency = report.and_then(|report| {
            let draws = report.draws_per_chain * lists.len();
            Inefficiency::of(&report.summary, draws, seconds)
        });
        Ok::<_, Infallible>(Arc::new(FurtherColumns {
            extras: Extras::of(&wanted, &inputs),
            inefficiency,
        }))
    };
    if let Some(entry) = state.run_mut(id) {
        entry.extras_of = draws;
    }
    state.begin_of(
        fx,
        ("Further columns of", &title),
        work,
        (id, |entry| &mut entry.extras),
    );
}
