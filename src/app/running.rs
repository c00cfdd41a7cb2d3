//! Runs: starting, steering, continuing, certifying.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checking::request_check;
use super::command::Act;
use super::document::Document;
use super::entry::{RunEntry, RunPhase, Saved};
use super::opening::{Origin, start_loading};
use super::page::Page;
use super::state::AppState;
use super::tasks::{Effects, Ended, Handle};
use super::writing::begin_folder;
use super::{naming, project, removing, resuming};
use ergodic_analysis::{Job, JobError, Recipe, Run, bias_check};
use ergodic_base::draws::DrawList;
use ergodic_core::engine::{
    Report, RunState, RunView, Sampling as _, StopReason, keep, mode_drift,
};
use ergodic_data::Loaded;
use ergodic_export::resume::Further;
use ergodic_export::{Claim, ExportError, Journal, RunFolder, read_start};

/// What is done with runs.
#[derive(Clone, Debug, PartialEq)]
pub enum RunCommand {
    /// Start a run of the draft.
    Start,
    /// Let the chains of a run wait.
    Pause(u64),
    /// Let them go on.
    Resume(u64),
    /// End the warm-up of all chains now, keeping what they have learnt.
    Freeze(u64),
    /// End a run, or its preparation; everything drawn is kept.
    Stop(u64),
    /// Make more draws per chain, without new warm-up.
    AddDraws(u64, u64),
    /// Go on with a run that was read from its folder: with what was planned if it was cut short, else with as many draws.
    Continue(u64),
    /// Run again with the mode looked for from the mean of this run's draws.
    RefreshCentre(u64),
    /// Run a run's recipe again with these changes, written as for `--set`.
    Again(u64, Vec<String>),
    /// Run NUTS as a control of an approximate run.
    CheckBias(u64),
    /// Check the bias of an approximate run, the first, against an exact run that is there, the second.
    CheckBiasAgainst(u64, u64),
    /// Use a run's recipe as the draft.
    UseRecipe(u64),
    /// Ask for the name and the note of a run, or no longer.
    AskName(Option<u64>),
    /// Give a run a name and a note; empty ones are none.
    Name(u64, String, String),
    /// Take a run out of the list; its folder stays.
    Remove(u64),
    /// Put it back.
    BringBack(u64),
}

impl Act for RunCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::Start => start_run(state, fx),
            Self::Pause(id) => with_run(state, id, Run::pause),
            Self::Resume(id) => with_run(state, id, Run::resume),
            Self::Freeze(id) => with_run(state, id, Run::freeze),
            Self::Stop(id) => stop(state, id),
            Self::AddDraws(id, draws) => add_draws(state, id, draws, fx),
            Self::Continue(id) => resuming::resume(state, id, Further::Usual, fx),
            Self::RefreshCentre(id) => refresh_centre(state, id, fx),
            Self::Again(id, changes) => run_again(state, id, &changes, fx),
            Self::CheckBias(id) => check_bias(state, id, fx),
            Self::CheckBiasAgainst(id, control) => check_bias_against(state, id, control, fx),
            Self::UseRecipe(id) => use_recipe_of(state, id, fx),
            Self::AskName(id) => state.naming = id,
            Self::Name(id, name, note) => naming::name(state, id, &name, &note),
            Self::Remove(id) => removing::remove(state, id, fx),
            Self::BringBack(id) => removing::bring_back(state, id),
        }
    }
}

fn with_run(state: &AppState, id: u64, act: impl FnOnce(&Run)) {
    if let Some(run) = state.run(id).and_then(RunEntry::run) {
        act(run);
    }
}

fn start_run(state: &mut AppState, fx: &mut dyn Effects) {
    let Some(data) = &state.data else {
        state.refuse("There is nothing to run yet: open data and choose an outcome");
        return;
    };
    let Some(document) = &state.document else {
        state.refuse("There is no model yet: import the table first");
        return;
    };
    // A check that is being made has yet to say what it finds; the run then finds the same.
    let check = state.check.as_ref().filter(|_| state.checking.is_none());
    let refusal = check.and_then(|check| check.refusal());
    let why = match (&document.formula_error, refusal) {
        (Some(error), _) => Some(error.clone()),
        (None, _) if !document.is_runnable() => {
            Some("choose an outcome and predictors first".to_owned())
        }
        (None, refusal) => refusal.map(str::to_owned),
    };
    if let Some(why) = why {
        state.refuse(format!("The model is not complete: {why}"));
        return;
    }
    let recipe = document.recipe.clone();
    launch(state, recipe, Arc::clone(&data.loaded), fx);
}

/// Starts a run of the same recipe whose mode is looked for from the mean of the draws of run `id`.
fn refresh_centre(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    if entry.report().is_some_and(|it| !it.estimates.is_empty()) {
        state.refuse(keep::NotKept("A centre needs").to_string());
        return;
    }
    let start = entry.view().and_then(|view| {
        let draws: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        mode_drift::start(&draws)
    });
    let (Some(mut recipe), Some(start)) = (entry.recipe.clone(), start) else {
        return;
    };
    recipe.mode.start = Some(start);
    launch_of_open(state, recipe, fx);
}

/// Starts a run of the recipe of run `id` with `changes`. The sampler is the one that the run had, also where it was chosen.
fn run_again(state: &mut AppState, id: u64, changes: &[String], fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else { return };
    let Some(mut recipe) = entry.recipe.clone() else {
        return;
    };
    if let Some(job) = entry.job() {
        recipe.sampler = job.recipe.sampler.clone();
    }
    match recipe.changed(changes) {
        Ok(recipe) => launch_of_open(state, recipe, fx),
        Err(error) => state.say(error.to_string(), true),
    }
}

/// Starts a run of the open data, if they are those of the recipe.
fn launch_of_open(state: &mut AppState, recipe: Recipe, fx: &mut dyn Effects) {
    let data = state.data.as_ref();
    match data.filter(|data| data.source == recipe.data.source) {
        Some(data) => {
            let loaded = Arc::clone(&data.loaded);
            launch(state, recipe, loaded, fx);
        }
        None => {
            state.refuse("The run is of other data than the open ones; open them to run it again");
        }
    }
}

fn launch(state: &mut AppState, recipe: Recipe, loaded: Arc<Loaded>, fx: &mut dyn Effects) {
    let entry = state.add_run(Some(recipe.clone()), RunPhase::Preparing(Handle::default()));
    let (id, title) = (entry.id, entry.title());
    let home = state.runs_home.clone();
    let going = state.begin(
        fx,
        ("Preparing", &title),
        move |control| {
            let mut recipe = recipe;
            read_start(&mut recipe, Path::new("")).map_err(|error| error.to_string())?;
            let prepared = Job::prepare(&recipe, Path::new(""), Some(loaded), control);
            let job = prepared.map_err(|error| error.to_string())?;
            job.check_starts().map_err(|error| error.to_string())?;
            job.measure_noise();
            let folder = begin_folder(&job, &home);
            Ok::<_, String>((Box::new(job), folder))
        },
        move |state, ended, fx| prepared(state, id, ended, fx),
    );
    if let Some(entry) = state.run_mut(id) {
        entry.phase = RunPhase::Preparing(going);
    }
}

/// A job that is ready, with the place where its files go and the right to write there, or why there is no place.
type Prepared = (Box<Job>, Result<(RunFolder, Claim), ExportError>);

fn prepared(state: &mut AppState, id: u64, ended: Ended<Prepared>, fx: &mut dyn Effects) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let result = match ended {
        Ended::Done(prepared) => Ok(prepared),
        Ended::Cancelled => Err(JobError::Cancelled.to_string()),
        Ended::Failed(why) => Err(why),
    };
    let started = result.and_then(|(job, folder)| {
        let run = Run::start(Arc::from(job), None, Some(waker));
        let run = run.map_err(|error| format!("No threads ({error})"))?;
        Ok((run, folder))
    });
    match started {
        Ok((run, folder)) => {
            let mut trouble = None;
            match folder {
                Ok((folder, claim)) => {
                    entry.journal = Some(Journal::start(claim, &run));
                    entry.folder = Some(folder);
                }
                Err(error) => trouble = Some(error),
            }
            entry.phase = RunPhase::Live(Box::new(run));
            project::remember_going(state, id);
            project::name_going(state);
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

fn stop(state: &mut AppState, id: u64) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if let Some(control) = &entry.control {
        control.stop();
    }
    entry.check_when_drawn = false;
    entry.resuming = None;
    match &entry.phase {
        RunPhase::Preparing(control) => control.cancel(),
        RunPhase::Live(run) => run.stop(),
        RunPhase::Refused(_) | RunPhase::Read(_) => {}
    }
}

fn add_draws(state: &mut AppState, id: u64, draws: u64, fx: &mut dyn Effects) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let RunPhase::Live(run) = &mut entry.phase else {
        resuming::resume(state, id, Further::Draws(draws), fx);
        return;
    };
    if !run.is_finished() {
        run.add_draws(draws);
        return;
    }
    if entry.saved == Saved::Writing {
        state.refuse("The run is being saved; add draws when it is");
        return;
    }
    // The journal of the part that has just ended holds the right to the folder until the run is saved.
    drop(entry.journal.take());
    let claim = match entry.folder.as_ref().map(|it| RunFolder::claim(it.path())) {
        Some(Err(error)) => {
            state.say(error.to_string(), true);
            return;
        }
        claimed => claimed.and_then(Result::ok).map(|(_folder, claim)| claim),
    };
    let mut job = (**run.job()).clone();
    let wanted: Vec<u64> = run
        .view()
        .chains
        .iter()
        .map(|chain| chain.draws.draws.len() as u64 + draws)
        .collect();
    job.recipe.run.draws = wanted.iter().copied().max().unwrap_or(draws);
    job.recipe.run.draws_of_chains = Some(wanted);
    // A number of draws goes before what was to decide on it.
    job.recipe.run.target_ess = None;
    job.recipe.run.target_rhat = None;
    job.recipe.run.warmup_of_chains = run.view().warmup_of_chains();
    let before = before_more(&run.report());
    let continuation = run.continuation();
    match Run::start_after(Arc::new(job), Some(continuation), before, Some(waker)) {
        Ok(more) => {
            entry.journal = claim.map(|claim| Journal::start(claim, &more));
            entry.phase = RunPhase::Live(Box::new(more));
            entry.forget_analyses();
            entry.saved = Saved::No;
        }
        Err(error) => state.say(format!("The run could not be continued ({error})"), true),
    }
}

/// What is known of a run that goes on, until its first new report.
pub(super) fn before_more(report: &Report) -> Report {
    Report {
        eta_secs: None,
        ..report.clone()
    }
}

/// Runs that can be the control of run `entry`, so that none has to be made: ended runs of this window with an exact sampler, and the
/// same model, priors and data.
pub fn controls_at_hand<'a>(
    state: &'a AppState,
    entry: &RunEntry,
) -> impl Iterator<Item = &'a RunEntry> + use<'a> {
    let job = entry.job().cloned();
    let recipe = entry.recipe.clone();
    let id = entry.id;
    state.runs.iter().filter(move |other| {
        let (Some(job), Some(theirs)) = (&job, other.job()) else {
            return false;
        };
        other.id != id
            && !other.is_active()
            && theirs.sampler.spec.bias.is_none()
            && !theirs.sampler.spec.negative_control
            && recipe.as_ref().is_some_and(|mine| !other.is_stale(mine))
            && theirs.table.fingerprint() == job.table.fingerprint()
            && theirs.variables() == job.variables()
            && theirs.recipe.report == job.recipe.report
            && other
                .report()
                .is_some_and(|report| report.draws_per_chain >= report.limits.least_draws())
    })
}

/// Checks the bias of run `id` against the draws of a run that is there.
fn check_bias_against(state: &mut AppState, id: u64, control: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id).filter(|entry| entry.control.is_none()) else {
        return;
    };
    let Some(other) = controls_at_hand(state, entry).find(|other| other.id == control) else {
        state.refuse("That run is of another model or other data; run a control instead");
        return;
    };
    if let Some(check) = other.run().and_then(|control| Check::of(entry, control)) {
        certify(state, check, fx);
    }
}

/// A run and the control that it is compared with.
pub(super) struct Check {
    id: u64,
    title: String,
    job: Arc<Job>,
    of_control: Arc<Job>,
    views: [Arc<RunView>; 2],
    report: Arc<Report>,
}

impl Check {
    /// Compares the run of `entry` as it is now.
    pub fn of(entry: &RunEntry, control: &Run) -> Option<Self> {
        let run = entry.run()?;
        Some(Self {
            id: entry.id,
            title: entry.title(),
            job: Arc::clone(run.job()),
            of_control: Arc::clone(control.job()),
            views: [run.view(), control.view()],
            report: run.report(),
        })
    }
}

/// Compares a run with its control, on another thread.
pub(super) fn certify(state: &mut AppState, check: Check, fx: &mut dyn Effects) {
    let (id, job) = (check.id, Arc::clone(&check.job));
    let title = check.title.clone();
    state.begin_surely(
        fx,
        ("Checking the bias of", &title),
        move |control| {
            let [view, made] = &check.views;
            let half = bias_check::half_step_job(&check.job, view);
            let half = half.map(|job| {
                control.enter("running at half the step");
                bias_check::finished(job, control)
            });
            let half = half
                .transpose()?
                .map(|run| (Arc::clone(run.job()), run.view()));
            control.enter("comparing with the control");
            let made = bias_check::Made {
                control: (check.of_control.as_ref(), made.as_ref()),
                half_step: half
                    .as_ref()
                    .map(|(job, view)| (job.as_ref(), view.as_ref())),
            };
            Ok::<_, JobError>(bias_check::certify(&check.job, view, &check.report, &made))
        },
        move |state, ended, _fx| match ended {
            Ended::Done(report) => certified(state, id, &job, report),
            Ended::Failed(why) => state.say(why, true),
            Ended::Cancelled => {}
        },
    );
}

/// Takes the report of a bias check, unless the run has gone on since.
fn certified(state: &mut AppState, id: u64, job: &Arc<Job>, report: Report) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if let RunPhase::Live(run) = &entry.phase
        && Arc::ptr_eq(run.job(), job)
    {
        run.set_report(report);
        // The verdict changed: what is on disk must say the same.
        match entry.saved {
            Saved::At(_) => entry.saved = Saved::No,
            Saved::Writing => entry.save_again = true,
            Saved::No | Saved::Failed(_) => {}
        }
    }
}

/// Checks the bias of run `id` by a new control, after more draws of its own where the check needs them. A run that was read is made ready
/// to go on first: a check needs its model and where its chains stood.
fn check_bias(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let Some(entry) = state.run(id) else {
        return;
    };
    let Some(run) = entry.run() else {
        if let Some(why) = resuming::check_refusal(entry) {
            state.refuse(why);
            return;
        }
        resuming::resume(state, id, Further::Nothing, fx);
        if let Some(entry) = state.run_mut(id) {
            entry.check_when_drawn = entry.resuming.is_some();
        }
        return;
    };
    if entry.control.is_some() || !run.is_finished() {
        return;
    }
    let missing = draws_before_check(entry);
    if missing == 0 {
        run_control(state, id, fx);
    } else if entry.saved == Saved::Writing {
        state.refuse("The run is being saved; check its bias when it is");
    } else {
        add_draws(state, id, missing, fx);
        if let Some(entry) = state.run_mut(id) {
            // Not if they cannot be made, which was said.
            entry.check_when_drawn = entry.is_active();
        }
    }
}

/// Draws per chain that a run makes before its bias is checked: none if it was stopped, or its length was named.
pub fn draws_before_check(entry: &RunEntry) -> u64 {
    let Some(run) = entry.run() else {
        return 0;
    };
    let view = run.view();
    match view.state {
        RunState::Finished(StopReason::Draws) => {
            bias_check::checked_draws(run.job()).saturating_sub(view.draws_per_chain() as u64)
        }
        _ => 0,
    }
}

/// Runs the control of run `id`.
pub(super) fn run_control(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let waker = fx.waker();
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let Some(job) = entry.job().cloned() else {
        return;
    };
    // Repeated with the same control the check would say the same.
    let before = entry.control_draws.map(|draws| 2 * draws);
    let started = bias_check::control_job(&job, before)
        .map_err(|error| error.to_string())
        .and_then(|control| {
            Run::start(Arc::new(control), None, Some(waker)).map_err(|error| error.to_string())
        });
    match started {
        Ok(control) => {
            entry.control_draws = Some(control.job().recipe.run.draws);
            entry.control = Some(Box::new(control));
        }
        Err(message) => state.say(message, true),
    }
}

fn use_recipe_of(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
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

#[cfg(test)]
mod tests {

    use super::super::draft_change::DraftChange;
    use super::super::opening::DataCommand;
    use super::super::testing::Session;
    use super::*;
    use ergodic_base::Warning;
    use ergodic_core::engine::RunSection;

    #[test]
    fn a_run_has_no_remarks_about_columns_that_it_does_not_use() {
        let folder = tempfile::tempdir().unwrap();
        let text = "y,x,nothing\n1,2,\n2,3.5,\n3,4,\n4,3,\n";
        let mut session = Session::with_file(&folder, "t.csv", text);
        let codes = |warnings: &[Warning]| -> Vec<String> {
            warnings.iter().map(|it| it.code.clone()).collect()
        };
        let data = session.state.data.as_ref().unwrap();
        let of_file = codes(&data.loaded.reporter.warnings);
        assert!(of_file.contains(&"no-values".to_owned()), "{of_file:?}");
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Template("linear".to_owned()));
        session.send(DraftChange::Formula("y ~ x".to_owned()));
        session.run(1, 20, 30);
        let said = codes(&session.state.runs[0].job().unwrap().warnings);
        assert!(!said.contains(&"no-values".to_owned()), "{said:?}");
    }

    #[test]
    fn a_draft_that_its_check_refuses_makes_no_run() {
        let mut session = Session::with_draft("schools");
        let unknown = "passed ~ hours + nosuch".to_owned();
        session.send(DraftChange::Formula(unknown));
        let error = session.state.check.as_ref().unwrap().error.clone().unwrap();
        session.send(RunCommand::Start);
        assert!(session.state.runs.is_empty());
        let toast = session.state.toast.as_ref().unwrap();
        assert_eq!(toast.text, format!("The model is not complete: {error}"));
    }

    /// Groups of chains are judged together: few draws of each chain are enough for a control, and as few of chains on their own are not.
    #[test]
    fn runs_of_groups_of_chains_can_be_controls() {
        let mut session = Session::with_draft("churn");
        let mut run = |sampler: &str, superchains: Option<usize>| {
            session.send(DraftChange::Sampler(sampler.to_owned()));
            session.send(DraftChange::Run(RunSection {
                chains: 4,
                superchains,
                warmup: Some(100),
                draws: 60,
                until_precise: false,
                ..RunSection::default()
            }));
            session.send(RunCommand::Start);
            session.wait_for_runs();
            session.state.runs.last().unwrap().id
        };
        run("nuts", None);
        let grouped = run("nuts", Some(2));
        let checked = run("sgld", None);
        let entry = session.state.run(checked).unwrap();
        let at_hand: Vec<u64> = controls_at_hand(&session.state, entry)
            .map(|other| other.id)
            .collect();
        assert_eq!(at_hand, [grouped]);
    }
}
