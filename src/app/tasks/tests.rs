//! Tasks by themselves, and all that the window has.

use super::*;
use crate::app::testing::{Held, Session};
use crate::app::{
    Command, DataCommand, DraftChange, DraftCommand, NoticeCommand, PathCommand, Product,
    ProjectCommand, Question, RunCommand,
};
use ergodic_analysis::likelihood::LikelihoodOptions;
use ergodic_core::engine::RunSection;
use ergodic_diagnostics::zero_variance::Order;

/// The thread that does the work.
fn worker(work: Work) -> std::thread::JoinHandle<Outcome> {
    let thread = std::thread::Builder::new().name("work".to_owned());
    thread.spawn(work).unwrap()
}

/// A state whose slot "tuned" is a number, and work that waits to be done.
struct Slot {
    session: Session,
    held: Held,
    task: Arc<Mutex<Task<u32>>>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Slot {
    fn new() -> Self {
        Self {
            session: Session::default(),
            held: Held::default(),
            task: Arc::default(),
            said: Arc::default(),
        }
    }

    fn begin(&mut self, work: impl FnOnce(&Control) -> Result<u32, String> + Send + 'static) {
        let (task, said) = (Arc::clone(&self.task), Arc::clone(&self.said));
        let title = ("Counting", "sheep");
        let state = &mut self.session.state;
        let handle = state.begin(&mut self.held, title, work, move |_, ended, _| {
            let why = task.lock().unwrap().end(ended);
            said.lock().unwrap().extend(why);
        });
        self.task.lock().unwrap().begin(handle);
    }

    /// Does the oldest work on another thread, as the window does, and takes what it ended with.
    fn finish(&mut self) {
        let work = self.held.0.remove(0);
        let outcome = worker(work).join().unwrap();
        self.session.end(outcome);
    }

    fn cancel_from_the_list(&mut self) {
        let id = self.session.state.tasks.running()[0].id;
        self.session.send(NoticeCommand::CancelTask(id));
    }
}

/// Counts until it is cancelled.
fn endless(control: &Control) -> Result<u32, String> {
    control.enter("counting");
    let begun = Instant::now();
    while begun.elapsed().as_secs() < 60 {
        control.check("cancelled".to_owned())?;
        control.count(1);
    }
    Ok(0)
}

#[test]
fn a_task_is_listed_until_it_has_ended_and_gives_its_result() {
    let mut slot = Slot::new();
    slot.begin(|control| {
        control.expect(2);
        control.advance(1);
        Ok(7)
    });
    assert!(slot.session.state.is_busy() && slot.task.lock().unwrap().working().is_some());
    assert_eq!(
        slot.session.state.tasks.running()[0].title,
        "Counting sheep"
    );
    slot.finish();
    assert!(!slot.session.state.is_busy() && slot.session.state.tasks.running().is_empty());
    let task = slot.task.lock().unwrap();
    assert_eq!(
        (task.done(), task.refusal(), task.working().is_none()),
        (Some(&7), None, true)
    );
}

#[test]
fn a_task_cancelled_from_the_list_stops_and_keeps_what_was_there() {
    let mut slot = Slot::new();
    slot.begin(|_| Ok(7));
    slot.finish();
    slot.begin(endless);
    slot.cancel_from_the_list();
    assert!(slot.session.state.is_busy(), "it has not ended yet");
    slot.finish();
    let task = slot.task.lock().unwrap();
    assert_eq!((task.done(), task.refusal()), (Some(&7), None));
    assert!(task.working().is_none() && !slot.session.state.is_busy());
}

#[test]
fn a_newer_request_cancels_the_older_one_whose_result_is_dropped() {
    let mut slot = Slot::new();
    slot.begin(endless);
    slot.begin(|_| Ok(2));
    assert_eq!(slot.session.state.tasks.running().len(), 2);
    slot.finish();
    assert_eq!(slot.task.lock().unwrap().done(), None);
    assert!(slot.session.state.is_busy());
    slot.finish();
    assert_eq!(slot.task.lock().unwrap().done(), Some(&2));
    // Work that ends well all the same is too late as well.
    slot.begin(|_| Ok(3));
    slot.task.lock().unwrap().cancel();
    assert!(!slot.session.state.is_busy());
    slot.finish();
    assert_eq!(slot.task.lock().unwrap().done(), Some(&2));
}

#[test]
fn errors_and_panics_are_sentences() {
    let mut slot = Slot::new();
    slot.begin(|_| Err("The disk is full".to_owned()));
    slot.finish();
    assert_eq!(
        slot.task.lock().unwrap().refusal(),
        Some("The disk is full")
    );
    slot.begin(|_| panic!("index 3 out of range"));
    slot.finish();
    let said = slot.said.lock().unwrap().clone();
    assert_eq!(said[0], "The disk is full");
    assert_eq!(
        said[1],
        "An internal error ended this work (Counting: index 3 out of range); please report it"
    );
    assert!(!slot.session.state.is_busy());
}

#[test]
fn work_that_must_arrive_cannot_be_cancelled() {
    let mut slot = Slot::new();
    let state = &mut slot.session.state;
    let save = |control: &Control| Ok::<_, String>(control.is_cancelled());
    state.begin_surely(&mut slot.held, ("Saving", ""), save, |state, ended, _| {
        let Ended::Done(false) = ended else {
            panic!("{ended:?}")
        };
        state.say("saved", false);
    });
    slot.cancel_from_the_list();
    slot.finish();
    assert_eq!(slot.session.state.toast.as_ref().unwrap().text, "saved");
}

#[test]
fn threads_bring_outcomes_back_and_wake_the_window() {
    let woken = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&woken);
    let threads = Threads::new(Arc::new(move || flag.store(true, Ordering::Relaxed)));
    threads.spawn(
        "test",
        Box::new(|| Box::new(|state, _| state.say("done", false))),
    );
    let begun = Instant::now();
    while !woken.load(Ordering::Relaxed) {
        assert!(begun.elapsed().as_secs() < 60);
        std::thread::yield_now();
    }
    let mut session = Session::default();
    session.end(threads.poll().unwrap());
    assert_eq!(session.state.toast.as_ref().unwrap().text, "done");
}

/// A session with a finished run of a mixed model of bundled data, whose draft could be run again.
fn with_run() -> Session {
    let mut session = Session::with_draft("schools");
    session.send(DraftChange::Sampler("ula".to_owned()));
    session.run(2, 30, 220);
    session
}

/// Every act of a user that begins work that may be cancelled.
fn acts(session: &Session) -> Vec<Command> {
    let entry = &session.state.runs[0];
    let folder = entry.place().unwrap().to_owned();
    let options = LikelihoodOptions::of(&session.state.document.as_ref().unwrap().recipe);
    vec![
        DataCommand::OpenSample("churn".to_owned()).into(),
        DataCommand::Open(folder).into(),
        DraftCommand::PreviewPrior(Some(("b".to_owned(), "normal(0, 3)".to_owned()))).into(),
        DraftChange::Formula("passed ~ 1 + (1 | school)".to_owned()).into(),
        DraftCommand::Advise.into(),
        DraftCommand::CompareSamplers(vec!["nuts".parse().unwrap()]).into(),
        DraftCommand::RunTrials.into(),
        DraftCommand::Calibrate.into(),
        DraftCommand::Estimate(options).into(),
        RunCommand::Start.into(),
        Question::Predict(entry.id, true).into(),
        Question::FindAnswers(entry.id).into(),
        Question::Estimate(entry.id, None).into(),
        Question::TestAgainst(entry.id, "passed ~ 1 + (1 | school)".to_owned()).into(),
        Question::FindPriorSensitivity(entry.id).into(),
        Question::Correct(entry.id, Some(Order::Linear)).into(),
    ]
}

/// Tasks that can be cancelled, by identifier.
fn cancellable(session: &Session) -> Vec<u64> {
    let running = session.state.tasks.running().iter();
    running
        .filter(|task| task.can_be_cancelled)
        .map(|task| task.id)
        .collect()
}

#[test]
fn whatever_goes_on_is_listed_and_leaves_nothing_behind_when_it_is_cancelled() {
    let mut session = with_run();
    for act in acts(&session) {
        let works = session.begin(act.clone());
        let ids = cancellable(&session);
        assert_eq!((works.len(), ids.len()), (1, 1), "{act:?}");
        assert!(session.state.is_busy(), "{act:?}");
        session.state.toast = None;
        session.send(NoticeCommand::CancelTask(ids[0]));
        for work in works {
            session.end(work());
        }
        let state = &session.state;
        assert!(
            !state.is_busy() && state.tasks.running().is_empty(),
            "{act:?}"
        );
        assert!(state.loading.is_none() && state.opening.is_empty() && state.checking.is_none());
        let said = state.toast.as_ref().map(|toast| toast.text.clone());
        let may_say = act == RunCommand::Start.into();
        assert_eq!(said.is_some(), may_say, "{act:?}: {said:?}");
        assert!(
            state
                .data
                .as_ref()
                .is_some_and(|data| data.source == "sample:schools")
        );
    }
    let state = &session.state;
    assert!(state.advice.is_idle() && state.tuned.is_idle() && state.calibrated.is_idle());
    assert!(state.comparison.as_ref().unwrap().is_cancelled);
    let entry = &state.runs[0];
    assert!(
        entry.corrected_by.is_none()
            && entry.prior_sensitivity.is_idle()
            && entry.fitting.is_idle()
            && entry.likelihood_ratio.is_idle()
    );
    assert_eq!(
        entry.predicted.refusal(),
        Some("The predictions were cancelled")
    );
    assert_eq!(
        entry.answered.refusal(),
        Some("Finding the answers was cancelled")
    );
    // What was cancelled can be asked for again, of the model that was; all but what makes whole runs.
    session.send(DraftCommand::Undo);
    for act in acts(&session).split_off(4) {
        let makes_runs = matches!(
            act,
            Command::Draft(
                DraftCommand::CompareSamplers(_)
                    | DraftCommand::RunTrials
                    | DraftCommand::Calibrate
            ) | Command::Run(RunCommand::Start)
        );
        if makes_runs {
            continue;
        }
        session.send(act);
        session.wait_for_runs();
    }
    let state = &session.state;
    assert!(state.advice.done().is_some(), "{:?}", state.advice);
    assert!(
        state.estimated.done().is_some(),
        "{:?}",
        state.estimated.refusal()
    );
    let entry = &state.runs[0];
    assert!(entry.predicted.done().is_some() && entry.fitting.done().is_some());
    assert!(
        entry.likelihood_ratio.done().is_some(),
        "{:?}",
        entry.likelihood_ratio.refusal()
    );
    assert!(entry.answered.done().is_some());
    assert!(entry.prior_sensitivity.done().is_some() && entry.correction.done().is_some());
}

#[test]
fn the_newest_request_counts_and_the_older_one_is_told_to_stop() {
    let mut session = with_run();
    let runs = session.state.runs.len();
    for act in acts(&session) {
        // A second run folder or run is no newer request for the first, and what is being made is not begun twice.
        let is_one_more = matches!(
            act,
            Command::Run(RunCommand::Start)
                | Command::Data(DataCommand::Open(_))
                | Command::Ask(
                    Question::FindPriorSensitivity(_)
                        | Question::Correct(..)
                        | Question::Predict(..)
                        | Question::FindAnswers(_)
                )
        );
        if is_one_more {
            continue;
        }
        let (act, again) = match act {
            Command::Data(DataCommand::OpenSample(_)) => {
                (DataCommand::OpenSample("schools".to_owned()).into(), None)
            }
            Command::Change(DraftChange::Formula(_)) => {
                let again = DraftChange::Formula("passed ~ hours".to_owned());
                (act, Some(again.into()))
            }
            act => (act, None),
        };
        let mut works = session.begin(act.clone());
        let older = Arc::clone(&session.state.tasks.running()[0].control);
        works.extend(session.begin(again.unwrap_or_else(|| act.clone())));
        assert_eq!(works.len(), 2, "{act:?}");
        assert!(older.is_cancelled(), "{act:?}");
        assert!(
            !session.state.tasks.running()[1].control.is_cancelled(),
            "{act:?}"
        );
        // The older one ends last.
        let older = works.remove(0);
        session.end(works.remove(0)());
        let page = session.state.page;
        session.end(older());
        assert_eq!(session.state.page, page);
        assert!(!session.state.is_busy(), "{act:?}");
    }
    assert_eq!(session.state.runs.len(), runs);
}

#[test]
fn a_new_project_ends_all_that_was_going_on_for_the_old_one() {
    let mut session = with_run();
    let mut works = Vec::new();
    for act in acts(&session).split_off(2) {
        works.extend(session.begin(act));
    }
    assert!(works.len() > 10);
    let controls: Vec<_> = (session.state.tasks.running().iter())
        .map(|task| Arc::clone(&task.control))
        .collect();
    session.send(ProjectCommand::New);
    session.send(ProjectCommand::Answer { save: false });
    assert!(controls.iter().all(|control| control.is_cancelled()));
    assert!(!session.state.is_busy() && session.state.runs.is_empty());
    for work in works {
        session.end(work());
    }
    let state = &session.state;
    assert!(state.tasks.running().is_empty() && state.runs.is_empty() && state.check.is_none());
    assert!(state.advice.is_idle() && state.estimated.is_idle() && state.messages.is_empty());
}

/// Cancelled in the middle of it, the longest work ends within seconds.
#[test]
fn cancelling_stops_work_that_goes_on() {
    let mut session = with_run();
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        draws: 100_000_000,
        ..RunSection::default()
    }));
    for act in [
        Command::from(DraftCommand::CompareSamplers(vec![
            "nuts".parse().unwrap(),
            "mala".parse().unwrap(),
        ])),
        DraftCommand::Calibrate.into(),
        DraftCommand::RunTrials.into(),
        Question::Predict(session.state.runs[0].id, true).into(),
    ] {
        let work = session.begin(act.clone()).remove(0);
        let control = Arc::clone(&session.state.tasks.running()[0].control);
        let worker = worker(work);
        let begun = Instant::now();
        while control.fraction().is_none() && !worker.is_finished() {
            assert!(
                begun.elapsed().as_secs() < 100,
                "{act:?}: {}",
                control.stage()
            );
            std::thread::yield_now();
        }
        session.send(NoticeCommand::CancelTask(cancellable(&session)[0]));
        let cancelled = Instant::now();
        session.end(worker.join().unwrap());
        assert!(cancelled.elapsed().as_secs() < 20, "{act:?} did not stop");
        assert!(!session.state.is_busy(), "{act:?}");
    }
}

/// An export that is given up leaves what stood there before, and no part of itself.
#[test]
fn an_export_can_be_given_up() {
    let mut session = with_run();
    let path = session.folder.path().join("old.csv");
    std::fs::write(&path, "what stood there").unwrap();
    let id = session.state.runs[0].id;
    let before = std::fs::read_dir(session.folder.path()).unwrap().count();
    let work = session
        .begin(PathCommand::Write(
            Product::Results(id, "draws-csv"),
            path.clone(),
        ))
        .remove(0);
    session.send(NoticeCommand::CancelTask(cancellable(&session)[0]));
    session.end(work());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what stood there");
    assert_eq!(
        std::fs::read_dir(session.folder.path()).unwrap().count(),
        before
    );
    session.send(PathCommand::Write(
        Product::Results(id, "draws-csv"),
        path.clone(),
    ));
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .starts_with(".chain,")
    );
    assert!(!session.state.is_busy());
}
