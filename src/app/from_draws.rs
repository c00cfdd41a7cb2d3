//! What panes ask of the draws of a finished run: found on a thread of its own, once for the draws that there are.

use std::fmt::Display;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::{Effects, Ended, Task};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::weight_column;

/// How something is found from the draws of a run.
pub(super) struct FromDraws<T: 'static> {
    /// Where the answer is kept.
    pub kept: fn(&mut RunEntry) -> &mut Task<Arc<T>>,
    /// What finding it is called, before the title of the run.
    pub what: &'static str,
    /// Why draws without a recipe have no answer.
    pub without_recipe: &'static str,
    /// Message that finding the answer was cancelled.
    pub cancelled: &'static str,
    /// Whether an answer to an earlier question stays until there is a newer one.
    pub earlier_stays: bool,
}

/// What an answer is found from.
pub(super) struct Draws<'a, S = Source> {
    /// Where the posterior comes from.
    pub source: &'a S,
    /// Of each working chain.
    pub lists: &'a [&'a DrawList],
    /// Weights of the draws, where they have some.
    pub weights: &'a [Vec<f64>],
    /// Draws of all chains: an answer from fewer is old.
    pub count: usize,
}

/// Draws of all chains of a run.
pub(super) fn draws_of(entry: &RunEntry) -> usize {
    entry.view().map_or(0, |view| {
        view.chains.iter().map(|c| c.draws.draws.len()).sum()
    })
}

/// Finds the answer to `question` for a run, in place of what is being found.
pub(super) fn find<T: Send + Sync + 'static, E: Display>(
    state: &mut AppState,
    id: u64,
    question: &'static FromDraws<T>,
    fx: &mut dyn Effects,
    answer: impl FnOnce(&Draws<'_>, &Control) -> Result<T, E> + Send + 'static,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    match source(entry) {
        Some(source) => find_from(state, (id, source), question, fx, answer),
        None => {
            let kept = (question.kept)(entry);
            kept.forget();
            kept.refuse(question.without_recipe);
        }
    }
}

/// As [`find`], of a run whose posterior comes from `source`, or may not be known.
pub(super) fn find_from<S: Send + 'static, T: Send + Sync + 'static, E: Display>(
    state: &mut AppState,
    (id, source): (u64, S),
    question: &'static FromDraws<T>,
    fx: &mut dyn Effects,
    answer: impl FnOnce(&Draws<'_, S>, &Control) -> Result<T, E> + Send + 'static,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    // What was found of fewer draws stays as well.
    match question.earlier_stays || entry.is_active() {
        true => (question.kept)(entry).supersede(),
        false => (question.kept)(entry).forget(),
    }
    let (title, Some(view)) = (entry.title(), entry.view()) else {
        (question.kept)(entry).refuse(question.without_recipe);
        return;
    };
    let count = draws_of(entry);
    let weights = view.weights(weight_column(&entry.info_names()));
    let going = state.begin(
        fx,
        (question.what, &title),
        move |control| {
            let lists: Vec<&DrawList> = view.usable().map(|c| &c.draws.draws).collect();
            let draws = Draws {
                source: &source,
                lists: &lists,
                weights: &weights,
                count,
            };
            answer(&draws, control).map(Arc::new)
        },
        move |state, ended, _fx| {
            let Some(entry) = state.run_mut(id) else {
                return;
            };
            // The pane asks for what nobody asked for yet.
            let is_cancelled = matches!(ended, Ended::Cancelled);
            let kept = (question.kept)(entry);
            kept.end(ended);
            if is_cancelled {
                kept.refuse(question.cancelled);
            }
        },
    );
    if let Some(entry) = state.run_mut(id) {
        (question.kept)(entry).begin(going);
    }
}
