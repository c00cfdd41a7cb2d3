//! Runs: starting, steering, continuing, certifying.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checking::request_check;
use super::command::Page;
use super::correcting;
use super::document::Document;
use super::entry::{RunEntry, RunPhase, Saved};
use super::influence;
use super::opening::start_loading;
use super::state::AppState;
use super::tasks::{Effects, Origin, Outcome};
use super::writing::begin_folder;
use crate::base::draws::DrawList;
use crate::data::load::Loaded;
use crate::engine::{Job, JobError, PrepareControl, Recipe, Run, anchor_check, bias_check};
use crate::export::journal::Journal;
use crate::export::{ExportError, RunFolder};

pub(super) fn with_run(state: &AppState, id: u64, act: impl FnOnce(&Run)) {
    if let Some(run) = state.run(id).and_then(RunEntry::run) {
        act(run);
    }
}

pub(super) fn start_run(state: &mut AppState, fx: &mut dyn Effects) {
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        state.say(
            "There is nothing to run yet: open data and choose a response",
            true,
        );
        return;
    };
    if !document.is_runnable() {
        let why = document
            .formula_error
            .clone()
            .unwrap_or_else(|| "choose a response and predictors first".to_owned());
        state.say(format!("The model is not complete: {why}"), true);
        return;
    }
    let recipe = document.recipe.clone();
    launch(state, recipe, Arc::clone(&data.loaded), fx);
}

/// Starts a run of the same recipe whose peak is looked for from the mean of the draws of run `id`.
pub(super) fn refresh_anchor(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let start = entry.view().and_then(|view| {
        let draws: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        anchor_check::start(&draws)
    });
    let (Some(mut recipe), Some(start)) = (entry.recipe.clone(), start) else {
        return;
    };
    recipe.mode.start = Some(start);
    let data = state.data.as_ref();
    match data.filter(|data| data.source == recipe.data.source) {
        Some(data) => {
            let loaded = Arc::clone(&data.loaded);
            launch(state, recipe, loaded, fx);
        }
        None => state.say(
            "The run is of other data than the open ones; open them to refresh its anchor",
            true,
        ),
    }
}

fn launch(state: &mut AppState, recipe: Recipe, loaded: Arc<Loaded>, fx: &mut dyn Effects) {
    let control = Arc::new(PrepareControl::default());
    state.next_run += 1;
    let id = state.next_run;
    let phase = RunPhase::Preparing(Arc::clone(&control));
    state
        .runs
        .push(RunEntry::new(id, Some(recipe.clone()), phase));
    state.selected_run = Some(id);
    state.selected_variable = 0;
    state.page = Page::Runs;
    let home = state.runs_home.clone();
    fx.spawn(
        "prepare-run",
        Box::new(move || {
            let result = Job::prepare(&recipe, Path::new(""), Some(loaded), &control).map(Box::new);
            let folder = result.as_deref().ok().map(|job| begin_folder(job, &home));
            Outcome::Prepared {
                run: id,
                result,
                folder,
            }
        }),
    );
}

pub(super) fn prepared(
    state: &mut AppState,
    id: u64,
    result: Result<Box<Job>, JobError>,
    folder: Option<Result<RunFolder, ExportError>>,
    fx: &mut dyn Effects,
) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let started = result.map_err(|error| error.to_string()).and_then(|job| {
        Run::start(Arc::from(job), None, waker).map_err(|error| format!("No threads ({error})"))
    });
    match started {
        Ok(run) => {
            let mut trouble = None;
            match folder {
                Some(Ok(folder)) => {
                    entry.journal = Some(Journal::start(folder.path(), &run));
                    entry.folder = Some(folder);
                }
                Some(Err(error)) => trouble = Some(error),
                None => {}
            }
            entry.phase = RunPhase::Live(Box::new(run));
            if let Some(error) = trouble {
                state.say(
                    format!("{error}; until the run ends, its draws are in memory only"),
                    true,
                );
            }
        }
        Err(message) => {
            entry.phase = RunPhase::Refused(message.clone());
            state.say(message, true);
        }
    }
}

pub(super) fn stop(state: &mut AppState, id: u64) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if let Some(control) = &entry.control {
        control.stop();
    }
    match &entry.phase {
        RunPhase::Preparing(control) => control.cancel(),
        RunPhase::Live(run) => run.stop(),
        RunPhase::Refused(_) | RunPhase::Read(_) => {}
    }
}

pub(super) fn add_draws(state: &mut AppState, id: u64, draws: u64, fx: &mut dyn Effects) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let RunPhase::Live(run) = &mut entry.phase else {
        state.say(
            "Open the run's recipe and data to add draws, or use `ergodic resume`",
            true,
        );
        return;
    };
    if !run.is_finished() {
        run.add_draws(draws);
        return;
    }
    if entry.saved == Saved::Writing {
        state.say("The run is being saved; add draws when it is", true);
        return;
    }
    correcting::forget(&mut entry.correction);
    influence::forget(&mut entry.influence);
    let mut job = (**run.job()).clone();
    let wanted: Vec<u64> = run
        .view()
        .chains
        .iter()
        .map(|chain| chain.draws.draws.len() as u64 + draws)
        .collect();
    job.recipe.run.draws = wanted.iter().copied().max().unwrap_or(draws);
    job.recipe.run.draws_of_chains = Some(wanted);
    job.recipe.run.warmup_of_chains = run.view().warmup_of_chains();
    let continuation = run.continuation();
    match Run::start(Arc::new(job), Some(continuation), waker) {
        Ok(more) => {
            entry.journal = entry
                .folder
                .as_ref()
                .map(|folder| Journal::start(folder.path(), &more));
            entry.phase = RunPhase::Live(Box::new(more));
            entry.saved = Saved::No;
        }
        Err(error) => state.say(format!("The run could not be continued ({error})"), true),
    }
}

pub(super) fn check_bias(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let Some(job) = entry.job().cloned() else {
        state.say(
            "The bias of a run read from a folder is checked by `ergodic fit --check-bias`",
            true,
        );
        return;
    };
    if entry.control.is_some() {
        return;
    }
    let started = bias_check::control_job(&job)
        .map_err(|error| error.to_string())
        .and_then(|control| {
            Run::start(Arc::new(control), None, waker).map_err(|error| error.to_string())
        });
    match started {
        Ok(control) => entry.control = Some(Box::new(control)),
        Err(message) => state.say(message, true),
    }
}

pub(super) fn use_recipe_of(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(recipe) = state.run(id).and_then(|entry| entry.recipe.clone()) else {
        return;
    };
    if state
        .data
        .as_ref()
        .is_some_and(|data| data.source == recipe.data.source)
    {
        if let Some(before) = state.document.replace(Document::of_recipe(recipe)) {
            state.history.note(before);
        }
        state.page = Page::Model;
        request_check(state, fx);
        return;
    }
    let folder = match state.run(id).map(|entry| &entry.saved) {
        Some(Saved::At(path)) => path.clone(),
        _ => PathBuf::new(),
    };
    let options = recipe.data.import.clone();
    start_loading(state, Origin::Recipe(Box::new(recipe), folder), options, fx);
}
