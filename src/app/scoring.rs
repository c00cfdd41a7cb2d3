//! Leave-one-out cross-validation of finished runs, on a thread of its own.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::{RunEntry, RunPhase};
use super::from_draws::{FromDraws, find};
use super::page::Page;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::hold_out::SEED;
use ergodic_analysis::loo::subsample::{self, Subsampled};
use ergodic_analysis::loo::{CrossValidation, LooError, cross_validate, job_without};
use ergodic_analysis::predict::log_lik::LogLikError;
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::weight_column;

/// Why the rows of a run cannot be left out now, if so.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if entry.is_active() {
        Some("Rows are left out once the run has ended")
    } else if source(entry).is_none() || !entry.has_row_densities() {
        Some("Draws without a model that explains rows have none to leave out")
    } else {
        None
    }
}

/// Leaves the rows of a run out, unless that is being done.
pub(super) fn score(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    if entry.scores.working().is_some() {
        return;
    }
    if let Some(why) = refusal(entry) {
        state.refuse(why);
        return;
    }
    let (title, Some(source), Some(view)) = (entry.title(), source(entry), entry.view()) else {
        return;
    };
    let weights = view.weights(weight_column(&entry.info_names()));
    let approximation = entry
        .sampler()
        .and_then(|spec| spec.bias)
        .map(str::to_owned);
    let report = entry.report();
    state.begin_of(
        fx,
        ("Leaving out the rows of", &title),
        move |control| {
            let fitted = source.fitted(control).map_err(LogLikError::from)?;
            let lists: Vec<&DrawList> = view.usable().map(|c| &c.draws.draws).collect();
            let scores = cross_validate(
                &fitted,
                (&lists, &weights),
                usize::MAX,
                approximation,
                control,
            );
            let judged = |scores: CrossValidation| match &report {
                Some(report) => scores.of_run(report.verdict, &report.sentence),
                None => scores,
            };
            scores.map(|scores| Arc::new(judged(scores)))
        },
        (id, |entry| &mut entry.scores),
    );
}

/// Rows from which a sample of them is left out first: all take minutes.
const TALL: usize = 100_000;

/// Whether a run has so many rows that a sample of them is left out first.
pub fn is_tall(entry: &RunEntry) -> bool {
    let rows = match &entry.phase {
        RunPhase::Live(run) => run.job().design.rows_used,
        RunPhase::Read(read) => read.manifest.as_ref().map_or(0, |it| it.rows_used),
        _ => 0,
    };
    rows > TALL
}

/// How a sample of rows is scored.
const QUESTION: FromDraws<Subsampled> = FromDraws {
    kept: |entry| &mut entry.sampled_scores,
    what: "Leaving out some rows of",
    without_recipe: "Draws without a recipe have no rows to leave out",
    cancelled: "Leaving rows out was cancelled",
    earlier_stays: false,
};

/// Leaves a sample of the rows of a run out, unless that is being done.
pub(super) fn score_sample(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    if entry.is_active() || entry.sampled_scores.working().is_some() {
        return;
    }
    let report = entry.report();
    find(state, id, &QUESTION, fx, move |draws, control| {
        let fitted = draws.source.fitted(control).map_err(LogLikError::from)?;
        let of = (draws.lists, draws.weights);
        let sampled = subsample::subsample(&fitted, of, subsample::ROWS, SEED, control)?;
        Ok::<_, LooError>(match &report {
            Some(report) => sampled.of_run(report.verdict, &report.sentence),
            None => sampled,
        })
    });
}

/// Fits a run again without each row whose Pareto k is not good, unless rows are being left out.
pub(super) fn refit(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(entry) = state.run(id) else { return };
    let (None, Some(scored)) = (entry.scores.working(), entry.scores.done()) else {
        return;
    };
    let (title, Some(source)) = (entry.title(), source(entry)) else {
        return;
    };
    let fingerprint = entry.data_fingerprint();
    let loaded = open.filter(|open| Some(open.table.fingerprint()) == fingerprint);
    let mut scored = CrossValidation::clone(scored);
    state.begin_of(
        fx,
        ("Fitting without single rows of", &title),
        move |control| {
            let (recipe, folder) = match source {
                Source::Job(job) => (job.recipe.clone(), PathBuf::new()),
                Source::Recipe(recipe, folder, _) => (*recipe, folder),
            };
            for (row, _) in scored.doubtful() {
                let job = job_without(&recipe, &folder, loaded.clone(), row, control)?;
                control.enter("fitting without a row");
                let run = finished(job, control)?;
                scored.take_exact(row, (run.job(), &run.view()), control)?;
            }
            Ok::<_, Box<dyn Error>>(Arc::new(scored))
        },
        (id, |entry| &mut entry.scores),
    );
}

/// Moves the draws of a run for each row whose Pareto k is not good, unless rows are being left out.
pub(super) fn match_moments(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let (None, Some(scored)) = (entry.scores.working(), entry.scores.done()) else {
        return;
    };
    let (title, Some(source), Some(view)) = (entry.title(), source(entry), entry.view()) else {
        return;
    };
    let mut scored = CrossValidation::clone(scored);
    state.begin_of(
        fx,
        ("Moving draws for single rows of", &title),
        move |control| {
            let fitted = source.fitted(control).map_err(LogLikError::from)?;
            let lists: Vec<&DrawList> = view.usable().map(|c| &c.draws.draws).collect();
            scored.match_moments(&fitted, &lists, control)?;
            Ok::<_, LooError>(Arc::new(scored))
        },
        (id, |entry| &mut entry.scores),
    );
}

/// Shows row `row` of the open table, 0-based.
pub(super) fn show_row(state: &mut AppState, row: usize) {
    let times = state.row_asked.map_or(0, |(times, _)| times);
    state.row_asked = Some((times + 1, row));
    state.page = Page::Data;
}
