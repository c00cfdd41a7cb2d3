//! The only place where commands and outcomes change the state.

use super::advising::advise;
use super::command::{Command, Page};
use super::correcting::correct;
use super::drafting::{change_document, convert, step};
use super::entry::{RunPhase, Saved};
use super::opening::{
    self, Origin, accept_import, open, origin_of, read_again, run_lesson, start_loading,
};
use super::project::{self, Then};
use super::running::{
    Check, add_draws, certify, check_bias, check_bias_against, refresh_centre, run_again,
    run_control, start_run, stop, use_recipe_of, with_run,
};
use super::state::AppState;
use super::tasks::{Effects, Pick};
use super::writing::{self, Ending, Place, save_run};
use super::{
    answering, calibrating, comparing, comparing_runs, examples, extras, file_change, following,
    held_out, kfold, likelihood, naming, picking, predicting, prior_preview, prior_sensitivity,
    recalling, removing, replicating, resuming, scoring, trials,
};
use ergodic_analysis::Run;
use ergodic_data::sniff::ImportOptions;
use ergodic_export::check_spares;
use ergodic_export::journal::Journal;
use ergodic_export::resume::Further;

/// Applies a command.
pub fn update(state: &mut AppState, command: impl Into<Command>, fx: &mut dyn Effects) {
    let command = command.into();
    if let Command::Write(_, path) = &command
        && let Err(why) = check_spares(path, writing::files_read(state))
    {
        state.after_save = None;
        state.refuse(why.to_string());
        return;
    }
    match command {
        Command::GoTo(page) => {
            if page != state.page && state.toast.as_ref().is_some_and(|toast| toast.is_error) {
                state.toast = None;
            }
            state.page = page;
            predicting::cancel_hidden(state);
        }
        Command::Open(path) => open(state, &path, fx),
        Command::OpenSample(id) => {
            start_loading(state, Origin::Sample(id), ImportOptions::default(), fx);
        }
        Command::BeginWithoutData => opening::without_data(state, fx),
        Command::RunLesson => run_lesson(state, fx),
        Command::PickOpen => fx.pick(Pick::Open),
        Command::TypeOpen => picking::type_path(state, Pick::Open, false),
        Command::TypedPath(path) => picking::typed(state, path, fx),
        Command::CancelTyping => picking::cancel(state),
        Command::CancelLoad => {
            opening::give_up(state);
            state.opening.clear();
        }
        Command::SetImport(options) => {
            if let Some(data) = &state.data {
                start_loading(state, origin_of(data), options, fx);
            }
        }
        Command::ReadAgain(options) => read_again(state, options, fx),
        Command::AcceptImport => accept_import(state, fx),
        Command::LookAtFile => file_change::look(state, fx),
        Command::CloseData => {
            state.data = None;
            state.document = None;
            state.check = None;
            state.history = Default::default();
            state.page = if state.runs.is_empty() {
                Page::Start
            } else {
                Page::Runs
            };
        }
        Command::Draft(change) => change_document(state, change, fx),
        Command::Convert(column, conversion, role) => {
            convert(state, &column, &conversion, role, fx);
        }
        Command::Undo if removing::is_next_to_undo(state) => removing::undo(state),
        Command::Undo => step(state, true, fx),
        Command::Redo => step(state, false, fx),
        Command::PreviewPrior(prior) => prior_preview::preview(state, prior, fx),
        Command::Advise => advise(state, fx),
        Command::CancelAdvice => state.advice.cancel(),
        Command::CompareSamplers(variants) => comparing::compare(state, variants, fx),
        Command::CancelComparison => comparing::cancel(state),
        Command::RunTrials => trials::start(state, fx),
        Command::CancelTrials => state.tuned.cancel(),
        Command::Calibrate => calibrating::start(state, fx),
        Command::CancelCalibration => calibrating::stop(state),
        Command::Estimate(options) => likelihood::start(state, options, fx),
        Command::CancelEstimate => state.estimated.cancel(),
        Command::StartRun => start_run(state, fx),
        Command::Pause(id) => with_run(state, id, Run::pause),
        Command::Resume(id) => with_run(state, id, Run::resume),
        Command::Freeze(id) => with_run(state, id, Run::freeze),
        Command::Stop(id) => stop(state, id),
        Command::AddDraws(id, draws) => add_draws(state, id, draws, fx),
        Command::ContinueRun(id) => resuming::resume(state, id, Further::Usual, fx),
        Command::RefreshCentre(id) => refresh_centre(state, id, fx),
        Command::RunAgain(id, changes) => run_again(state, id, &changes, fx),
        Command::CheckBias(id) => check_bias(state, id, fx),
        Command::CheckBiasAgainst(id, control) => check_bias_against(state, id, control, fx),
        Command::FindPriorSensitivity(id) => prior_sensitivity::look(state, id, fx),
        Command::ComputeColumns(id) => extras::compute(state, id, fx),
        Command::AskColumns(id, asked) => extras::ask(state, id, asked, fx),
        Command::Score(id) => scoring::score(state, id, fx),
        Command::ScoreSample(id) => scoring::score_sample(state, id, fx),
        Command::Refit(id) => scoring::refit(state, id, fx),
        Command::MatchMoments(id) => scoring::match_moments(state, id, fx),
        Command::ScoreInFolds(id, parts) => kfold::score(state, id, parts, fx),
        Command::CompareRuns(id, with) => comparing_runs::compare(state, id, with, fx),
        Command::ShowRow(row) => scoring::show_row(state, row),
        Command::Correct(id, order) => correct(state, id, order, fx),
        Command::Predict(id, with_groups) => predicting::predict(state, id, with_groups, fx),
        Command::FindAnswers(id) => answering::answer(state, id, fx),
        Command::AskAnswers(id, asked) => answering::ask(state, id, asked, fx),
        Command::Replicate(id, bins) => replicating::replicate(state, (id, bins), fx),
        Command::ScoreHeldOut(id) => held_out::score(state, id, fx),
        Command::FollowTrajectories(id) => following::follow(state, id, fx),
        Command::EstimateRun(id, options) => likelihood::estimate(state, id, options, fx),
        Command::TestAgainst(id, formula) => likelihood::test_against(state, id, formula, fx),
        Command::CancelAnalysis(id, analysis) => {
            if let Some(entry) = state.run_mut(id) {
                analysis.cancel(entry);
            }
        }
        Command::SelectRun(id) => {
            state.selected_run = Some(id);
            state.page = Page::Runs;
            predicting::cancel_hidden(state);
            let count = state.run(id).map_or(0, |entry| entry.variables().len());
            state.selected_variable = state.selected_variable.min(count.saturating_sub(1));
        }
        Command::RemoveRun(id) => removing::remove(state, id, fx),
        Command::BringBackRun(id) => removing::bring_back(state, id),
        Command::AskRunName(id) => state.naming = id,
        Command::NameRun(id, name, note) => naming::name(state, id, &name, &note),
        Command::UseRecipeOf(id) => use_recipe_of(state, id, fx),
        Command::SelectVariable(index) => {
            state.selected_variable = index;
            state.variable_is_chosen = true;
        }
        Command::KeepPanes(panes) => state.panes = panes,
        Command::DrawExamples => examples::draw(state, fx),
        Command::PickPlace(product) => product.pick(state, fx),
        Command::TypePlace(product) => picking::type_place(state, product),
        Command::Write(product, path) => product.write(state, path, fx),
        Command::SaveProject => project::save(state, fx),
        Command::NewProject => project::ask(state, Then::New, fx),
        Command::Quit => project::ask(state, Then::Quit, fx),
        Command::Answer { save } => project::answer(state, save, fx),
        Command::CancelQuestion => state.asking = None,
        Command::SetTheme(theme) => state.preferences.theme = theme,
        Command::SetDecimalComma(on) => state.preferences.decimal_comma = on,
        Command::SetDepth(depth) => state.preferences.depth = depth,
        Command::SetMoreColumns(on) => state.preferences.more_columns = on,
        Command::SetZoom(zoom) => state.preferences.zoom = zoom,
        Command::CancelTask(id) => state.tasks.cancel(id),
        Command::DismissToast => state.toast = None,
        Command::DismissProblem => state.problem = None,
    }
}

/// Looks at runs once per frame: saves those that ended, certifies those whose control ended.
pub fn tick(state: &mut AppState, fx: &mut dyn Effects) {
    if state.page == Page::Runs {
        recalling::recall_shown(state, fx);
    }
    state.tasks.look();
    let (mut troubles, mut checks, mut endings) = (Vec::new(), Vec::new(), Vec::new());
    let mut controls = Vec::new();
    let removed = state.removed.iter_mut().map(|removed| &mut removed.entry);
    for entry in state.runs.iter_mut().chain(removed) {
        let known = (entry.id, entry.title());
        let RunPhase::Live(run) = &entry.phase else {
            continue;
        };
        let trouble = entry.journal.as_ref().and_then(Journal::trouble);
        if trouble != entry.journal_trouble {
            troubles.extend(trouble.clone());
            entry.journal_trouble = trouble;
        }
        if !run.is_finished() {
            continue;
        }
        if entry.saved != Saved::Writing
            && let Some(mut control) = entry.control.take_if(|control| control.is_finished())
        {
            control.join();
            checks.push(Check::of(entry, &control));
        }
        if std::mem::take(&mut entry.check_when_drawn) {
            controls.push(entry.id);
            continue;
        }
        if entry.saved == Saved::No && entry.control.is_none() {
            entry.saved = Saved::Writing;
            let place = match &entry.folder {
                Some(folder) => Place::Folder(folder.clone()),
                None => Place::Under(state.runs_home.clone()),
            };
            let journal = entry.journal.take();
            if let RunPhase::Live(run) = &mut entry.phase {
                endings.push((Ending::of(known, run), (place, journal)));
            }
        }
    }
    for id in controls {
        run_control(state, id, fx);
    }
    for check in checks.into_iter().flatten() {
        certify(state, check, fx);
    }
    for (run, place) in endings {
        save_run(state, run, place, fx);
    }
    for trouble in troubles {
        state.say(trouble, true);
    }
}
