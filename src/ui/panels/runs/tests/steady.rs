//! What stays as it is while the window, the run or the choice of a run changes.

use eframe::egui::{Event, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::state::Opening;
use crate::app::testing::Session;
use crate::app::{DataCommand, DraftChange, RunCommand, ViewCommand};
use crate::ui::panels::runs::*;
use crate::ui::testing::{Shown, page_harness};
use ergodic_core::design::Columns as _;
use ergodic_core::engine::{ChainState, RunSection, RunState, RunView};

type Page<'a> = Harness<'a, Shown<RunsView>>;
type Window<'a> = Harness<'a, Shown<crate::ui::panels::Views>>;

fn page(session: Session) -> Page<'static> {
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    harness
}

fn draft(formula: &str, sampler: &str, run: RunSection) -> Session {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula(formula.to_owned()));
    session.send(DraftChange::Sampler(sampler.to_owned()));
    session.send(DraftChange::Run(run));
    session
}

fn short() -> RunSection {
    RunSection {
        chains: 2,
        warmup: Some(60),
        draws: 120,
        ..RunSection::default()
    }
}

/// A run that warms up for ever.
fn warming() -> Session {
    let run = RunSection {
        chains: 1,
        warmup: Some(5_000_000),
        draws: 1000,
        ..RunSection::default()
    };
    let mut session = draft("churned ~ age", "metropolis", run);
    session.send(RunCommand::Start);
    session
}

fn wait(session: &mut Session, until: impl Fn(&RunView) -> bool) {
    let begun = std::time::Instant::now();
    while !until(&session.state.selected().unwrap().view().unwrap()) {
        assert!(begun.elapsed().as_secs() < 60, "the run does not get there");
        std::thread::sleep(std::time::Duration::from_millis(10));
        session.tick();
    }
}

fn has(harness: &Page<'_>, words: &str) -> bool {
    harness.query_all_by_label_contains(words).next().is_some()
}

#[test]
fn adding_draws_keeps_report_and_verdict_until_there_are_newer_ones_and_counts_all() {
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let id = session.state.runs[0].id;
    let before = session.state.runs[0].report().unwrap();
    let first = words::took(&session.state.runs[0].view().unwrap());
    session.send(RunCommand::AddDraws(id, 200_000));
    let after = session.state.runs[0].report().unwrap();
    assert_eq!(after.summary.len(), before.summary.len());
    assert!(!after.summary.is_empty());
    assert!(after.draws_per_chain >= before.draws_per_chain);
    assert_ne!(after.sentence, "Starting");
    let mut harness = page(session);
    assert!(!has(&harness, "appears with the first draws"));
    let session = &mut harness.state_mut().session;
    session.send(RunCommand::Stop(id));
    session.wait_for_runs();
    let view = session.state.runs[0].view().unwrap();
    assert!(view.draws_per_chain() > 120);
    assert!(words::took(&view) > first);
    assert!(words::took(&view) > view.elapsed_secs);
}

#[test]
fn pauses_and_stops_during_the_warmup_are_told() {
    let mut session = warming();
    let id = session.state.runs[0].id;
    session.send(RunCommand::Pause(id));
    // The run is paused as soon as that is asked for, its chain once it has heard of it.
    wait(&mut session, |view| {
        view.chains[0].state == ChainState::Paused
    });
    let mut harness = page(session);
    assert!(has(&harness, "Paused during warm-up, then"));
    harness.get_by_label("Chain 1: paused");
    let session = &mut harness.state_mut().session;
    session.send(RunCommand::Resume(id));
    session.send(RunCommand::Stop(id));
    session.wait_for_runs();
    let entry = &session.state.runs[0];
    let view = entry.view().unwrap();
    assert!(words::ended_in_warmup(&view));
    assert!(words::progress(entry, &view).done < 0.9);
    harness.run_steps(3);
    assert!(has(&harness, "Stopped during warm-up: no draws"));
    assert!(!has(&harness, "4 chains of 0 draws"));
}

#[test]
fn height_of_the_bottom_and_tab_in_front_survive_a_small_window() {
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let mut harness = page(session);
    // Somebody looks at another tab than the first.
    let tab = |harness: &Page<'_>, name: &str| {
        let mut tabs = harness.get_all_by_role_and_label(eframe::egui::Role::Tab, name);
        let tab = tabs.next().unwrap();
        tab.accesskit_node().toggled() == Some(eframe::egui::accesskit::Toggled::True)
    };
    assert!(tab(&harness, "Answers"));
    let before = harness.state().view.bottom_height;
    assert!(before > 100.0);
    harness.set_size(vec2(960.0, 560.0));
    harness.run_steps(6);
    assert!(tab(&harness, "Answers"));
    harness.set_size(vec2(1280.0, 760.0));
    harness.run_steps(6);
    assert!(tab(&harness, "Answers"));
    assert_eq!(harness.state().view.bottom_height, before);
}

#[test]
fn the_list_of_runs_stays_where_it_is_whichever_run_is_shown() {
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let long =
        "churned ~ age + monthly_fee + region + calls + age:monthly_fee + region:monthly_fee";
    session.send(DraftChange::Formula(long.to_owned()));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let ids: Vec<u64> = session.state.runs.iter().map(|run| run.id).collect();
    let mut harness = page(session);
    let at = |harness: &Page<'_>| harness.get_by_label_contains("Run 1").rect();
    let shown = at(&harness);
    harness
        .state_mut()
        .session
        .send(ViewCommand::SelectRun(ids[0]));
    harness.run_steps(3);
    assert_eq!(at(&harness), shown);
}

#[test]
fn an_exact_run_of_the_same_model_serves_as_the_control_of_a_bias_check() {
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    session.send(DraftChange::Sampler("sgld".to_owned()));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    session.send(DraftChange::Formula("churned ~ monthly_fee".to_owned()));
    session.send(DraftChange::Sampler("nuts".to_owned()));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let ids: Vec<u64> = session.state.runs.iter().map(|run| run.id).collect();
    session.send(ViewCommand::SelectRun(ids[1]));
    let mut harness = page(session);
    harness.get_by_label("Check bias").click();
    harness.run_steps(3);
    assert!(!has(&harness, "Compare with Run 3"));
    harness.get_by_label("Compare with Run 1").click();
    harness.run_steps(3);
    let session = &mut harness.state_mut().session;
    let report = session.state.run(ids[1]).unwrap().report().unwrap();
    assert!(report.bias.is_some());
    // What is on disk says the same.
    session.wait_for_runs();
    let folder = session.state.run(ids[1]).unwrap().place().unwrap();
    let manifest = std::fs::read_to_string(folder.join("run.json")).unwrap();
    assert!(!manifest.contains("\"bias_check\": null"), "{manifest}");
    // Read from there it has the numbers of each parameter.
    let folder = folder.to_owned();
    session.send(DataCommand::Open(folder));
    let read = session.state.selected().unwrap();
    assert_ne!(read.id, ids[1]);
    let [read, made] = [&read.report().unwrap(), &report].map(|it| it.bias.clone().unwrap());
    assert_eq!(read.rows.len(), made.rows.len());
}

/// As many as on the command line.
#[test]
fn a_run_makes_the_draws_that_a_bias_check_needs_unless_their_number_was_named() {
    for (draws, checked) in [(1000, 4000), (1001, 4000), (120, 120)] {
        let run = RunSection {
            chains: 2,
            draws,
            ..RunSection::default()
        };
        let mut session = draft("churned ~ age", "sgld-cv", run);
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let id = session.state.runs[0].id;
        session.send(RunCommand::CheckBias(id));
        session.wait_for_runs();
        let entry = &session.state.runs[0];
        assert_eq!(entry.view().unwrap().draws_per_chain(), checked);
        assert!(entry.report().unwrap().bias.is_some());
        let recipe = std::fs::read_to_string(entry.place().unwrap().join("recipe.toml")).unwrap();
        assert!(recipe.contains(&format!("draws = {checked}")), "{recipe}");
        // A second check needs no more.
        session.send(RunCommand::CheckBias(id));
        assert!(session.state.runs[0].control.is_some());
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
    }
}

#[test]
fn a_run_stopped_while_it_draws_for_a_bias_check_is_not_checked() {
    let run = RunSection {
        chains: 2,
        ..RunSection::default()
    };
    let mut session = draft("churned ~ age", "sgld-cv", run);
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let id = session.state.runs[0].id;
    session.send(RunCommand::CheckBias(id));
    assert!(session.state.runs[0].control.is_none());
    session.send(RunCommand::Stop(id));
    session.wait_for_runs();
    let entry = &session.state.runs[0];
    assert!(entry.control.is_none());
    assert!(entry.report().unwrap().bias.is_none());
    assert!(entry.place().is_some());
}

#[test]
fn a_bias_check_says_how_much_time_is_left() {
    let mut session = draft("churned ~ age", "sgld", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let id = session.state.runs[0].id;
    // A control of twice as many draws, which does not end before it is looked at.
    session.state.runs[0].control_draws = Some(5_000);
    session.send(RunCommand::CheckBias(id));
    assert_eq!(words::control_left(&session.state.runs[0]), None);
    let begun = std::time::Instant::now();
    let entry = &session.state.runs[0];
    while words::control_left(entry).is_none() {
        assert!(begun.elapsed().as_secs() < 100, "the control does not move");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let control = entry.control.as_ref().unwrap();
    control.pause();
    while control.view().state != RunState::Paused {
        assert!(
            begun.elapsed().as_secs() < 100,
            "the control does not pause"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // What is left takes as long as what was made, in proportion; the clock goes on.
    let done = f64::from(words::control_progress(entry).unwrap());
    let secs = || control.view().elapsed_secs * (1.0 - done) / done;
    let (least, left, most) = (secs(), words::control_left(entry).unwrap(), secs());
    assert!(least > 0.0 && (least..=most).contains(&left), "{left}");
    let expected = format!("bias check: NUTS as control, {:.0}%, about ", 100.0 * done);
    let mut harness = page(session);
    let caption = harness.get_by_label_contains(&expected).accesskit_node();
    let caption = caption.label().or_else(|| caption.value()).unwrap();
    let after = caption.split_once(&expected).unwrap().1;
    assert!(after.ends_with(" left"), "{caption}");
    let session = &mut harness.state_mut().session;
    let control = session.state.runs[0].control.as_ref();
    control.unwrap().resume();
    session.send(RunCommand::Stop(id));
    session.wait_for_runs();
}

#[test]
fn runs_that_are_being_opened_are_announced_and_can_be_given_up() {
    let mut session = Session::default();
    session.state.page = crate::app::Page::Runs;
    for serial in [7, 8] {
        session.state.opening.push(Opening {
            name: "churn-nuts-1".to_owned(),
            serial,
            ..Opening::default()
        });
    }
    let waiting = &session.state.opening;
    waiting[0].control.expect(2);
    waiting[0].control.advance(1);
    let flags: Vec<_> = waiting
        .iter()
        .map(|opening| opening.control.flag())
        .collect();
    let mut harness = page(session);
    harness.get_by_label("Opening 2 runs… 25%");
    assert!(!has(&harness, "Runs appear here"));
    harness.state_mut().session.send(DataCommand::CancelLoad);
    harness.run_steps(3);
    assert!(!has(&harness, "Opening"));
    assert!(
        flags
            .iter()
            .all(|flag| flag.load(std::sync::atomic::Ordering::Relaxed))
    );
}

/// A file is read over the page that shows other things: how far it is, and a button that stops it.
#[test]
fn a_file_being_read_tells_how_far_it_is_and_can_be_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.csv");
    std::fs::write(&path, format!("a,b\n{}", "1,2\n".repeat(1500))).unwrap();
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(Command::GoTo(crate::app::Page::Runs));
    let mut harness = page_harness(
        session,
        |ui, state, views: &mut crate::ui::panels::Views, out| {
            crate::ui::shell::window_ui(ui, state, views, out);
        },
    );
    let open = |harness: &mut Window<'_>| {
        let command = DataCommand::Open(path.clone());
        let mut work = harness.state_mut().session.begin(command);
        assert_eq!(work.len(), 1);
        harness.run_steps(3);
        work.remove(0)
    };
    let share = |harness: &Window<'_>| {
        let bar = harness.get_by_label("Share of the file read");
        bar.accesskit_node().numeric_value().unwrap()
    };
    let work = open(&mut harness);
    harness.get_by_label_contains("Reading visits.csv · 0 rows so far");
    assert_eq!(share(&harness), 0.0);
    let outcome = work();
    harness.run_steps(3);
    harness.get_by_label_contains("1\u{202f}500 rows so far");
    assert!(share(&harness) > 0.5);
    harness.state_mut().session.end(outcome);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Reading").is_none());
    let read = |harness: &Window<'_>| {
        let data = harness.state().session.state.data.as_ref();
        data.map(|data| data.loaded.table.name().to_owned())
    };
    assert_eq!(read(&harness).as_deref(), Some("visits.csv"));

    std::fs::write(&path, "c,d\n1,2\n3,4\n").unwrap();
    let print = |harness: &Window<'_>| {
        let data = harness.state().session.state.data.as_ref().unwrap();
        data.loaded.table.fingerprint().to_owned()
    };
    let before = print(&harness);
    let session = &mut harness.state_mut().session;
    session.send(Command::GoTo(crate::app::Page::Runs));
    let work = open(&mut harness);
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Reading").is_none());
    harness.state_mut().session.end(work());
    harness.run_steps(3);
    let state = &harness.state().session.state;
    assert!(state.problem.is_none(), "{:?}", state.problem);
    assert_eq!(print(&harness), before);
}

#[test]
fn f6_goes_round_the_parts_of_the_page_and_panels_fold() {
    let mut session = draft("churned ~ age", "nuts", short());
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let mut harness = page_harness(
        session,
        |ui, state, views: &mut crate::ui::panels::Views, out| {
            crate::ui::shortcuts::read(ui.ctx(), state, views, out);
            crate::ui::shell::window_ui(ui, state, views, out);
        },
    );
    harness.run_steps(3);
    let mut seen = Vec::new();
    for _ in 0..8 {
        harness.event(Event::Key {
            key: eframe::egui::Key::F6,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        });
        harness.run_steps(3);
        let parts = harness.get_all_by_role(eframe::egui::Role::Region);
        let here = parts
            .filter(|part| part.accesskit_node().is_focused())
            .find_map(|part| part.accesskit_node().label());
        seen.extend(here);
    }
    let all = [
        "Top bar",
        "Run",
        "Data, model and runs",
        "Summary, parameter and chains",
        "Messages",
        "Plots",
    ];
    assert_eq!(seen[..6], all, "{seen:?}");
    assert_eq!(seen[6], "Top bar");
    let folded =
        |views: &crate::ui::panels::Views| (views.runs.left_folded, views.runs.bottom_folded);
    for key in [eframe::egui::Key::B, eframe::egui::Key::J] {
        harness.key_press_modifiers(Modifiers::COMMAND, key);
        harness.run_steps(2);
    }
    assert_eq!(folded(&harness.state().view), (true, true));
}
