//! Going on with runs that were read from their folders, as `ergodic resume` does.

use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{RunEntry, RunPhase, Saved};
use super::running::before_more;
use super::state::AppState;
use super::tasks::{Effects, Ended};
use ergodic_analysis::Run;
use ergodic_base::{Severity, Warning};
use ergodic_core::engine::{Report, Sampling as _};
use ergodic_export::Journal;
use ergodic_export::resume::{self, Further, ResumeError, Resumed};

/// The folder that a reopened run can go on in.
fn folder_of(entry: &RunEntry) -> Option<PathBuf> {
    match (&entry.phase, &entry.recipe, &entry.saved) {
        (RunPhase::Read(_), Some(_), Saved::At(folder)) => Some(folder.clone()),
        _ => None,
    }
}

/// Why a run that was read cannot go on, if it cannot.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if folder_of(entry).is_none() && entry.run().is_none() {
        return Some("Draws from a file have no chains that could go on");
    }
    entry
        .resuming
        .is_some()
        .then_some("The run is being made ready to go on")
}

/// Why the bias of a run cannot be checked now, if it cannot.
pub fn check_refusal(entry: &RunEntry) -> Option<&'static str> {
    if entry.check_when_drawn {
        return Some("The check begins when the draws that it needs are there");
    }
    if entry.is_active() {
        return Some("The check needs the run's draws: it can start once the run has ended");
    }
    if entry.run().is_some() {
        return None;
    }
    if folder_of(entry).is_none() {
        return Some("These draws have no folder with the recipe that a control run is made from");
    }
    if entry.recalled.refusal().is_some() {
        return Some(
            "The run's model could not be made again: its data are gone or others, or reading them was cancelled",
        );
    }
    refusal(entry)
}

/// Makes a run that was read ready to go on, in the background, to make `further` draws.
pub(super) fn resume(state: &mut AppState, id: u64, further: Further, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if entry.run().is_some() || entry.resuming.is_some() {
        return;
    }
    let Some(folder) = folder_of(entry) else {
        state.say("Draws from a file have no chains that could go on", true);
        return;
    };
    let title = entry.title();
    let fingerprint = entry.data_fingerprint();
    let open = open.filter(|open| Some(open.table.fingerprint()) == fingerprint);
    let going = state.begin(
        fx,
        ("Making ready to go on:", &title),
        move |control| {
            let resumed = resume::resume(&folder, further, open, control)?;
            resumed.job.measure_noise();
            Ok::<_, ResumeError>(Box::new(resumed))
        },
        move |state, ended, fx| resumed(state, id, ended, fx),
    );
    if let Some(entry) = state.run_mut(id) {
        entry.resuming = Some(going);
    }
}

/// Starts the chains of a run that is ready to go on.
fn resumed(state: &mut AppState, id: u64, ended: Ended<Box<Resumed>>, fx: &mut dyn Effects) {
    let waker = fx.waker();
    // One that was removed meanwhile stays as it is: its folder was only read.
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    entry.resuming = None;
    let title = entry.title();
    let Resumed {
        job,
        continuation,
        folder,
        claim,
        remarks,
    } = match ended {
        Ended::Done(resumed) => *resumed,
        Ended::Cancelled => {
            entry.check_when_drawn = false;
            return;
        }
        Ended::Failed(error) => {
            let what = match std::mem::take(&mut entry.check_when_drawn) {
                true => "cannot be checked",
                false => "cannot go on",
            };
            state.say(format!("{title} {what}. {error}"), true);
            return;
        }
    };
    let before = match (entry.report(), &continuation) {
        (Some(report), Some(_)) => before_more(&report),
        _ => Report::empty(job.keep().kept().len()),
    };
    match Run::start_after(Arc::new(job), continuation, before, Some(waker)) {
        Ok(run) => {
            entry.forget_analyses();
            entry.journal = Some(Journal::start(claim, &run));
            entry.folder = Some(folder);
            entry.phase = RunPhase::Live(Box::new(run));
            entry.saved = Saved::No;
        }
        Err(error) => {
            entry.check_when_drawn = false;
            state.say(format!("{title} could not be continued ({error})"), true);
        }
    }
    for remark in remarks {
        state.note(Warning::new(Severity::Info, "resumed", remark));
    }
}

#[cfg(test)]
mod tests {
    use super::check_refusal;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange, RunCommand};
    use ergodic_core::engine::RunSection;
    use ergodic_export::RunFolder;

    fn table() -> String {
        let mut text = String::from("y,x\n");
        for i in 0..60 {
            text.push_str(&format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
        }
        text
    }

    fn run_of(folder: &tempfile::TempDir, draws: u64) -> Session {
        let mut session = Session::with_file(folder, "t.csv", &table());
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Formula("y ~ x".to_owned()));
        session.send(DraftChange::Run(RunSection {
            chains: 2,
            warmup: Some(60),
            draws,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        session
    }

    #[test]
    fn a_reopened_run_goes_on_as_one_longer_run() {
        let (short, long) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = run_of(&short, 50);
        let place = first.state.runs[0].place().unwrap().to_owned();
        drop(first);
        let mut session = Session::default();
        session.send(DataCommand::Open(place.clone()));
        let id = session.state.runs[0].id;
        let before = session.state.runs[0].report().unwrap();
        session.send(RunCommand::AddDraws(id, 30));
        let entry = &session.state.runs[0];
        assert!(entry.run().is_some(), "{:?}", session.state.messages);
        // What was known stays until there is more.
        assert_eq!(entry.report().unwrap().summary.len(), before.summary.len());
        session.wait_for_runs();
        assert_eq!(session.state.runs[0].place(), Some(place.as_path()));
        let whole = run_of(&long, 80);
        let read = |path: &std::path::Path| std::fs::read(path.join("draws.csv")).unwrap();
        assert_eq!(read(&place), read(whole.state.runs[0].place().unwrap()));
        // And once more, with as many as it has.
        let mut again = Session::default();
        again.send(DataCommand::Open(place.clone()));
        again.send(RunCommand::Continue(again.state.runs[0].id));
        again.wait_for_runs();
        let results = RunFolder::open(&place).unwrap().results().unwrap();
        assert!(results.draws.iter().all(|chain| chain.len() == 160));
    }

    #[test]
    fn the_bias_of_a_reopened_run_is_checked_from_its_draws() {
        let mut first = Session::with_draft("churn");
        first.send(DraftChange::Formula("churned ~ age".to_owned()));
        first.send(DraftChange::Sampler("sgld-cv".to_owned()));
        first.run(2, 60, 120);
        let place = first.state.runs[0].place().unwrap().to_owned();
        let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
        let draws = read("draws.csv");
        assert!(read("run.json").contains("\"bias_check\": null"));
        let mut session = Session::default();
        session.send(DataCommand::Open(place.clone()));
        assert_eq!(check_refusal(&session.state.runs[0]), None);
        session.send(RunCommand::CheckBias(session.state.runs[0].id));
        session.wait_for_runs();
        let entry = &session.state.runs[0];
        let report = entry.report().unwrap();
        assert!(report.bias.is_some(), "{:?}", session.state.messages);
        assert!(!entry.check_when_drawn);
        // The folder says so too, of the same draws.
        assert_eq!(read("draws.csv"), draws);
        assert!(!read("run.json").contains("\"bias_check\": null"));
    }

    #[test]
    fn the_bias_of_a_run_whose_data_are_gone_is_not_checked_and_it_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let place = run_of(&folder, 50).state.runs[0]
            .place()
            .unwrap()
            .to_owned();
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
        let mut session = Session::default();
        session.send(DataCommand::Open(place));
        let id = session.state.runs[0].id;
        // Until that is known the command finds it out.
        session.send(RunCommand::CheckBias(id));
        let toast = session.state.toast.clone().unwrap();
        assert!(
            toast.is_error && toast.text.starts_with("Run 1 cannot be checked."),
            "{toast:?}"
        );
        assert!(!session.state.runs[0].check_when_drawn);
        session.tick();
        let why = check_refusal(&session.state.runs[0]).unwrap();
        assert!(why.contains("its data are gone"), "{why}");
    }

    #[test]
    fn a_run_whose_data_are_gone_or_others_stays_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let place = run_of(&folder, 50).state.runs[0]
            .place()
            .unwrap()
            .to_owned();
        let data = folder.path().join("t.csv");
        for change in [Some(table() + "1,2\n"), None] {
            match &change {
                Some(text) => std::fs::write(&data, text).unwrap(),
                None => std::fs::remove_file(&data).unwrap(),
            }
            let mut session = Session::default();
            session.send(DataCommand::Open(place.clone()));
            let id = session.state.runs[0].id;
            session.send(RunCommand::Continue(id));
            let toast = session.state.toast.clone().unwrap();
            assert!(
                toast.is_error && toast.text.starts_with("Run 1 cannot go on."),
                "{toast:?}"
            );
            let reason = if change.is_some() {
                "fingerprint"
            } else {
                "t.csv"
            };
            assert!(toast.text.contains(reason), "{}", toast.text);
            let entry = &session.state.runs[0];
            assert!(entry.resuming.is_none() && entry.report().is_some());
            assert!(!session.state.is_busy());
        }
    }
}
