//! Where commands come in, and what is looked at once per frame. What a command does stands with its group.

use super::command::Command;
use super::entry::{RunPhase, Saved};
use super::page::Page;
use super::recalling;
use super::running::{Check, certify, run_control};
use super::state::AppState;
use super::tasks::Effects;
use super::writing::{Ending, Place, save_run};
use ergodic_export::Journal;

/// Applies a command.
pub fn update(state: &mut AppState, command: impl Into<Command>, fx: &mut dyn Effects) {
    command.into().apply(state, fx);
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
