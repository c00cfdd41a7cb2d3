//! Panes and columns that say how well chains mix.

use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::testing::Session;
use crate::app::{Command, DataCommand, DraftChange, Preference, Question, RunCommand, RunPhase};
use crate::ui::panels::runs::{RunsView, runs_ui};
use crate::ui::testing::{Shown, page_harness};
use ergodic_core::engine::RunSection;

fn finished(sampler: &str) -> Harness<'static, Shown<RunsView>> {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler(sampler.to_owned()));
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(100),
        draws: 200,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    let begun = Instant::now();
    let entry = session.state.selected().unwrap();
    while !entry.run().unwrap().is_finished() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "the run does not end"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    harness
}

#[test]
fn energies_are_shown_where_there_are_any() {
    let mut harness = finished("nuts");
    harness.get_by_role_and_label(Role::Tab, "Energy").click();
    harness.run_steps(3);
    harness.get_by_label_contains("Densities of the energy and of its changes; E-BFMI ");
    harness.get_by_label("change from draw to draw");
    let harness = finished("mala");
    assert!(
        harness
            .query_by_role_and_label(Role::Tab, "Energy")
            .is_none()
    );
}

#[test]
fn effective_sizes_are_shown_across_the_distribution() {
    let mut harness = finished("nuts");
    harness.get_by_role_and_label(Role::Tab, "ESS").click();
    harness.run_steps(3);
    harness.get_by_label_contains("Effective sample sizes of ");
    for words in ["quantiles", "intervals of 5%"] {
        harness.get_by_label(words);
    }
}

#[test]
fn further_columns_come_when_somebody_wants_them_and_go() {
    let mut harness = finished("nuts");
    let heads = |harness: &Harness<'_, Shown<RunsView>>| -> Vec<String> {
        let heads = harness.get_all_by_role(Role::ColumnHeader);
        heads
            .filter_map(|head| head.accesskit_node().label())
            .collect()
    };
    let usual = heads(&harness);
    harness
        .state_mut()
        .session
        .send(Preference::MoreColumns(true));
    harness.run_steps(4);
    let asked = harness
        .state()
        .sent
        .iter()
        .filter(|it| matches!(it, Command::Ask(Question::ComputeColumns(_))));
    assert_eq!(asked.count(), 1);
    let entry = harness.state().session.state.selected().unwrap();
    let extras = &entry.extras.done().unwrap().extras;
    // All but nested R-hat, the usual interval and the share in a range that nobody has named; three for each of two chains.
    assert_eq!(extras.columns.len(), 12 + 3 + 6);
    assert_eq!(extras.rows.len(), entry.report().unwrap().summary.len());
    let more = heads(&harness);
    for head in ["MCSE, sd", "inefficiency", "bulk ESS, 2"] {
        assert!(more.iter().any(|it| it == head), "{head}: {more:?}");
    }
    harness
        .state_mut()
        .session
        .send(Preference::MoreColumns(false));
    harness.run_steps(2);
    assert_eq!(heads(&harness), usual);
}

/// The interval and the range of further columns are chosen, and the columns and the line below have the numbers of the command line.
#[test]
fn intervals_and_the_range_that_counts_as_0_are_chosen() {
    use ergodic_diagnostics::extra::Extra;
    use ergodic_export::RunFolder;
    let mut session = Session::with_draft("churn");
    session.run(2, 100, 200);
    session.send(Preference::MoreColumns(true));
    let mut harness = page_harness(session, runs_ui);
    harness.set_size(eframe::egui::vec2(1600.0, 1000.0));
    harness.run_steps(4);
    harness
        .get_by_label("Intervals of further columns: 90% intervals")
        .click();
    harness.run_steps(3);
    harness
        .get_by_role_and_label(Role::MenuItem, "80% intervals")
        .click();
    harness.run_steps(4);
    let range = "Values that count as 0";
    for text in ["1, 0", "-0.1, 0.1"] {
        harness.get_by_label(range).focus();
        harness.run_steps(2);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.run_steps(2);
        harness.get_by_label(range).type_text(text);
        harness.run_steps(2);
        harness.key_press(Key::Enter);
        harness.run_steps(4);
        let is_wrong = harness
            .query_all_by_label_contains("Write the smaller of two numbers first")
            .next();
        assert_eq!(is_wrong.is_some(), text == "1, 0");
    }
    let entry = harness.state().session.state.selected().unwrap();
    let further = entry.extras.done().unwrap();
    let folder = RunFolder::open(entry.place().unwrap()).unwrap();
    let mut results = folder.results().unwrap();
    let wanted = [Extra::Low, Extra::High, Extra::HdiLow, Extra::InRope];
    results.add_extras(&wanted, None, (0.8, Some([-0.1, 0.1])));
    let there = results.extras.as_ref().unwrap();
    for (at, extra) in wanted.into_iter().enumerate() {
        let mut columns = further.extras.columns.iter();
        let here = columns.position(|column| column.extra == extra).unwrap();
        assert_eq!(further.extras.rows.len(), there.rows.len());
        for (a, b) in further.extras.rows.iter().zip(&there.rows) {
            let (a, b) = (a[here].unwrap(), b[at].unwrap());
            assert!(
                (a - b).abs() <= 1e-9 * (1.0 + b.abs()),
                "{extra:?}: {a} {b}"
            );
        }
    }
    for head in ["80% low", "80% high", "80% HDI from", "in ROPE"] {
        harness.get_by_role_and_label(Role::ColumnHeader, head);
    }
    let lines = further.inefficiency.unwrap().lines();
    assert_eq!(lines[0], results.inefficiency().unwrap().lines()[0]);
    for line in &lines {
        harness.get_by_label(line);
    }
    // The usual table has neither.
    let usual = Preference::MoreColumns(false);
    harness.state_mut().session.send(usual);
    harness.run_steps(3);
    assert!(harness.query_by_label(range).is_none());
    assert!(harness.query_by_label(&lines[0]).is_none());
}

/// Chains that begin in groups are judged together, and the column of it needs no number of groups.
#[test]
fn many_short_chains_show_nested_rhat() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age".to_owned()));
    session.send(DraftChange::Run(RunSection {
        chains: 8,
        superchains: Some(4),
        warmup: Some(60),
        draws: 40,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let id = session.state.runs[0].id;
    session.send(Question::ComputeColumns(id));
    let entry = session.state.selected().unwrap();
    let words: Vec<String> = entry
        .extras
        .done()
        .unwrap()
        .extras
        .columns
        .iter()
        .map(|it| it.name())
        .collect();
    assert!(words.iter().any(|word| word == "rhat_nested"), "{words:?}");
    let mut harness = page_harness(session, runs_ui);
    harness.set_size(eframe::egui::vec2(1600.0, 1000.0));
    harness.run_steps(3);
    harness
        .get_by_role_and_label(Role::Tab, "Convergence")
        .click();
    harness.run_steps(3);
    let shown = harness.query_all_by_label_contains("Nested R-hat").next();
    assert!(shown.is_some());
}

#[test]
fn the_bias_of_a_run_read_from_its_folder_can_be_checked() {
    let mut harness = finished("sgld");
    let session = &mut harness.state_mut().session;
    session.wait_for_runs();
    let folder = session.state.runs[0].place().unwrap().to_owned();
    session.send(DataCommand::Open(folder));
    let read = session.state.selected_run.unwrap();
    assert!(session.state.run(read).unwrap().run().is_none());
    harness.run_steps(3);
    harness.get_by_label("Check bias").click();
    harness.run_steps(3);
    let session = &mut harness.state_mut().session;
    session.wait_for_runs();
    let report = session.state.run(read).unwrap().report().unwrap();
    assert!(report.bias.is_some());
}

#[test]
fn a_bias_check_that_a_folder_tells_of_is_not_denied() {
    let mut harness = finished("sgld");
    let session = &mut harness.state_mut().session;
    session.wait_for_runs();
    let folder = session.state.runs[0].place().unwrap().to_owned();
    session.send(DataCommand::Open(folder));
    let read = session.state.selected_run.unwrap();
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Tab, "Bias").click();
    harness.run_steps(3);
    let denied = harness
        .query_all_by_label_contains("Its bias was not checked")
        .next();
    assert!(denied.is_some());
    // As `fit --check-bias` leaves it.
    let said = "means and sds were compared, the worst is b[age]: mean off by 0.03 ± 0.04 sd";
    let runs = &mut harness.state_mut().session.state.runs;
    let entry = runs.iter_mut().find(|entry| entry.id == read).unwrap();
    let RunPhase::Read(run) = &mut entry.phase else {
        panic!("the run was not read");
    };
    run.manifest.as_mut().unwrap().bias_check = Some(said.to_owned());
    harness.run_steps(3);
    harness.get_by_label(said);
    assert!(
        harness
            .query_all_by_label_contains("was not checked")
            .next()
            .is_none()
    );
    let told = harness
        .query_all_by_label_contains("its bias was checked")
        .next();
    assert!(told.is_some());
}
