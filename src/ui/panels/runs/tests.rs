//! The page over real runs of the bundled data.

mod groups;
mod mixing;
mod steady;

use std::time::{Duration, Instant};

use eframe::egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{RunsView, runs_ui};
use crate::app::testing::Session;
use crate::app::{
    Command, Depth, DraftChange, PathCommand, Preference, Product, Question, RunCommand,
    ViewCommand,
};
use crate::ui::testing::{Shown, page_harness, press_t_over};
use ergodic_core::engine::RunSection;
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::FORMATS;

pub(super) const WAIT: Duration = Duration::from_secs(120);

/// A session with a run of few draws of `sampler`.
fn session(sampler: &str, draws: u64) -> Session {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler(sampler.to_owned()));
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(100),
        draws,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    session
}

fn finished(sampler: &str) -> Session {
    finished_after(sampler, 120)
}

fn finished_after(sampler: &str, draws: u64) -> Session {
    let session = session(sampler, draws);
    let begun = Instant::now();
    let entry = session.state.selected().unwrap();
    while !entry.run().unwrap().is_finished() {
        assert!(begun.elapsed() < WAIT, "the run does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    session
}

/// Beside a verdict that is not good there is a message for every cause, and a click that mends it.
#[test]
fn a_doubtful_run_has_messages_with_quick_fixes() {
    let mut harness = page(finished("metropolis"));
    let report = harness.state().session.state.selected().unwrap().report();
    let report = report.unwrap();
    assert_ne!(report.verdict, ergodic_diagnostics::Verdict::Good);
    assert!(!report.warnings.is_empty());
    for warning in &report.warnings {
        let words = crate::ui::widgets::paint::words(&warning.message);
        harness.get_by_label_contains(&words);
    }
    harness
        .get_by_label_contains("Run again with 4 chains")
        .click();
    harness.run_steps(2);
    let sent = &harness.state().sent;
    let again = |command: &Command| match command {
        Command::Run(RunCommand::Again(_, changes)) => changes == &["run.chains=4".to_owned()],
        _ => false,
    };
    assert!(sent.iter().any(again), "{sent:?}");
}

#[test]
fn a_stale_run_says_so_instead_of_its_verdict() {
    let mut session = finished("nuts");
    let formula = DraftChange::Formula("churned ~ age".to_owned());
    session.send(formula);
    let harness = page(session);
    harness.get_by_label("Stale");
    harness.get_by_label_contains("These results are out of date: the model was changed since");
}

pub(super) fn page(session: Session) -> Harness<'static, Shown<RunsView>> {
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    forget_panes(&mut harness);
    harness
}

/// Forgets what the pane in front asked for by itself: no act of a user.
fn forget_panes(harness: &mut Harness<'_, Shown<RunsView>>) {
    let by_user = |command: &Command| !matches!(command, Command::Ask(Question::FindAnswers(_)));
    harness.state_mut().sent.retain(by_user);
}

/// Names of the table's cells from top to bottom.
fn names(harness: &Harness<'_, Shown<RunsView>>) -> Vec<String> {
    let mut cells: Vec<(f32, String)> = harness
        .get_all_by_role(Role::Cell)
        .filter_map(|cell| {
            let label = cell.accesskit_node().label()?;
            label
                .starts_with("b[")
                .then(|| (cell.rect().top(), label.clone()))
        })
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    cells.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn a_finished_run_shows_its_variables_sorts_and_selects() {
    let mut harness = page(finished("nuts"));
    let mut sorted = names(&harness);
    let entry = harness.state().session.state.selected().unwrap();
    let variables = entry.variables();
    let report = entry.report().unwrap();
    sorted.sort();
    let mut expected = variables.clone();
    expected.sort();
    assert!(expected.iter().eq(&sorted), "{sorted:?}");

    harness
        .get_by_role_and_label(Role::ColumnHeader, "mean")
        .click();
    harness.run_steps(3);
    let mut by_mean: Vec<_> = report.summary.iter().collect();
    by_mean.sort_by(|a, b| b.mean.unwrap().total_cmp(&a.mean.unwrap()));
    let by_mean: Vec<String> = by_mean.iter().map(|row| row.variable.to_string()).collect();
    assert_eq!(names(&harness), by_mean);

    let last = by_mean.last().unwrap().clone();
    harness.get_by_role_and_label(Role::Cell, &last).click();
    harness.run_steps(3);
    let index = variables.iter().position(|name| *name == last).unwrap();
    assert_eq!(
        harness.state().sent.last(),
        Some(&ViewCommand::SelectVariable(index).into())
    );
    assert_eq!(harness.state().session.state.selected_variable, index);
}

#[test]
fn the_filter_hides_rows_and_says_how_many() {
    let mut harness = page(finished("nuts"));
    let all = names(&harness).len();
    harness
        .get_by_role_and_label(Role::TextInput, "Filter parameters")
        .click();
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::TextInput, "Filter parameters")
        .type_text("REGION");
    harness.run_steps(3);
    let shown = names(&harness);
    assert!(!shown.is_empty() && shown.len() < all);
    assert!(
        shown.iter().all(|name| name.contains("region")),
        "{shown:?}"
    );
    harness.get_by_label(&format!("{} of {all} parameters", shown.len()));
    harness.get_by_label("Show all").click();
    harness.run_steps(3);
    assert_eq!(names(&harness).len(), all);
}

#[test]
fn a_live_run_is_paused_resumed_and_stopped() {
    // More draws than a test could wait for.
    let mut harness = page(session("metropolis", 1_000_000));
    harness.get_by_label("Pause").click();
    harness.run_steps(2);
    assert_eq!(harness.state().sent, [RunCommand::Pause(1).into()]);
    let begun = Instant::now();
    while harness.query_by_label("Resume").is_none() {
        assert!(begun.elapsed() < WAIT, "the run does not pause");
        std::thread::sleep(Duration::from_millis(20));
        harness.step();
    }
    // Chains stop at their next iteration, each by itself.
    for chain in ["Chain 1: paused", "Chain 2: paused"] {
        while harness.query_by_label(chain).is_none() {
            assert!(begun.elapsed() < WAIT, "{chain}");
            std::thread::sleep(Duration::from_millis(20));
            harness.step();
        }
    }
    harness.get_by_label("Resume").click();
    harness.run_steps(2);
    assert_eq!(
        harness.state().sent.last(),
        Some(&RunCommand::Resume(1).into())
    );
    harness.get_by_label("Stop and keep").click();
    harness.run_steps(2);
    forget_panes(&mut harness);
    assert_eq!(
        harness.state().sent.last(),
        Some(&RunCommand::Stop(1).into())
    );
    let begun = Instant::now();
    while harness.query_by_label("Stop and keep").is_some() {
        assert!(begun.elapsed() < WAIT, "the run does not stop");
        std::thread::sleep(Duration::from_millis(20));
        harness.step();
    }
    harness.get_by_label("Export");
}

#[test]
fn the_export_menu_writes_where_it_was_told_without_a_dialog() {
    let mut harness = page(finished("nuts"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    harness.get_by_label("Export").click();
    harness.run_steps(3);
    for format in FORMATS {
        // What this run does not have is not offered.
        let of_others = ["partition", "density", "top-words"].contains(&format.id);
        let offered = harness.query_by_label_contains(format.title).is_some();
        assert_eq!(offered, !of_others, "{}", format.title);
    }
    harness.get_by_label(FORMATS[1].title).click();
    harness.run_steps(2);
    harness.state_mut().view.export.path = path.display().to_string();
    harness.step();
    harness.get_by_label("Write the file").click();
    harness.run_steps(2);
    assert_eq!(
        harness.state().sent,
        [PathCommand::Write(Product::Results(1, FORMATS[1].id), path.clone()).into()]
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("variable,mean"), "{text}");
}

#[test]
fn every_pane_and_depth_shows_a_run() {
    let mut harness = page(finished("sgld-cv"));
    for tab in [
        "Answers",
        "Rank",
        "Autocorrelation",
        "Trace",
        "Bias",
        "Sensitivity",
        "Sampler",
        "Mode",
        "Convergence",
    ] {
        harness
            .get_all_by_label(tab)
            .find(|node| node.accesskit_node().role() == Role::Tab)
            .unwrap_or_else(|| panic!("no tab {tab}"))
            // It may stand beyond the end of its strip.
            .click_accesskit();
        harness.run_steps(3);
    }
    harness.get_by_label("Check bias");
    for depth in [Depth::Verdict, Depth::Everything, Depth::Standard] {
        harness.state_mut().session.send(Preference::Depth(depth));
        harness.run_steps(3);
        assert!(!names(&harness).is_empty(), "{depth:?}");
    }
    // More draws than it could have ended before it is looked at.
    let more = RunCommand::AddDraws(1, 1_000_000);
    harness.state_mut().session.send(more);
    harness.run_steps(2);
    assert!(harness.query_by_label("Stop and keep").is_some());
    harness.state_mut().session.send(RunCommand::Stop(1));
}

#[test]
fn what_the_outcome_does_stands_beside_the_verdict() {
    let mut session = finished("nuts");
    session.send(Preference::Depth(Depth::Verdict));
    let mut harness = page(session);
    harness.run_steps(4);
    let told = |harness: &Harness<'_, Shown<RunsView>>| {
        let sentences = harness.query_all_by_label_contains("the probability that churned is yes");
        sentences.count()
    };
    assert!(told(&harness) > 0);
    // Before the run has ended there is nothing to tell, and the density has the room.
    let more = RunCommand::AddDraws(1, 1_000_000);
    harness.state_mut().session.send(more);
    harness.run_steps(2);
    assert_eq!(told(&harness), 0);
    harness.state_mut().session.send(RunCommand::Stop(1));
}

#[test]
fn a_click_shows_the_trace_of_what_the_sampler_reports() {
    let mut harness = page(finished("nuts"));
    // Its tab may stand beyond the end of the strip.
    harness
        .get_all_by_label("Sampler")
        .find(|node| node.accesskit_node().role() == Role::Tab)
        .unwrap()
        .click_accesskit();
    harness.run_steps(3);
    let entry = harness.state().session.state.selected().unwrap();
    let names = entry.info_names();
    harness.get_by_label(&format!(
        "Trace of what the sampler reports as {}",
        names[0]
    ));
    harness
        .get_by_label_contains(&format!("{}: ", names[1]))
        .click();
    harness.run_steps(3);
    harness.get_by_label(&format!(
        "Trace of what the sampler reports as {}",
        names[1]
    ));
}

#[test]
fn the_warm_up_is_ended_by_a_button() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler("nuts".to_owned()));
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(10_000_000),
        draws: 50,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    let mut harness = page(session);
    // It stands outermost: nothing moves under the pointer when it goes.
    let place = |label| harness.get_by_label(label).rect();
    assert!(place("End warm-up").right() <= place("Pause").left());
    harness.get_by_label("End warm-up").click();
    let begun = Instant::now();
    let ended = |harness: &Harness<'_, Shown<RunsView>>| {
        let entry = harness.state().session.state.selected().unwrap();
        entry.run().unwrap().is_finished()
    };
    while !ended(&harness) {
        assert!(begun.elapsed() < WAIT, "the warm-up does not end");
        harness.step();
        std::thread::sleep(Duration::from_millis(10));
    }
    harness.run_steps(2);
    forget_panes(&mut harness);
    assert_eq!(harness.state().sent, [RunCommand::Freeze(1).into()]);
    assert!(harness.query_by_label("End warm-up").is_none());
    let entry = harness.state().session.state.selected().unwrap();
    assert_eq!(entry.view().unwrap().draws_per_chain(), 50);
}

#[test]
fn a_refused_run_says_why_and_where_to_go() {
    let mut session = Session::with_draft("churn");
    // The model is complete; what is refused is a sampler of clusters, of which it has none.
    session.send(DraftChange::Sampler("dp-gibbs".to_owned()));
    session.send(RunCommand::Start);
    let mut harness = page(session);
    harness.get_by_label("Run 1 could not be started");
    harness.get_by_label("Change the model").click();
    harness.run_steps(2);
    assert_eq!(
        harness.state().sent,
        [Command::GoTo(crate::app::Page::Model)]
    );
}

#[test]
fn without_runs_the_page_offers_to_run() {
    let mut harness = page(Session::with_draft("churn"));
    harness.get_by_label("Run the model").click();
    harness.run_steps(2);
    assert_eq!(harness.state().sent, [RunCommand::Start.into()]);
    assert_eq!(harness.state().session.state.runs.len(), 1);
}

#[test]
fn estimates_are_corrected_by_control_variates_and_exported() {
    // Many draws for the coefficients of all squares and products.
    let mut session = finished_after("nuts", 600);
    session.send(Preference::Depth(Depth::Everything));
    let mut harness = page(session);
    harness
        .get_by_role_and_label(Role::RadioButton, "Quadratic")
        .click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent,
        [Question::Correct(1, Some(Order::Quadratic)).into()]
    );
    let state = &harness.state().session.state;
    let entry = state.selected().unwrap();
    let corrected = entry.correction.done().expect("tasks are done at once");
    let plain = entry.report().unwrap();
    for (row, plain) in corrected.estimates.rows.iter().zip(&plain.summary) {
        assert_eq!(row.variable, plain.variable);
        let far = (row.mean.unwrap() - plain.mean.unwrap()).abs();
        assert!(far < 4.0 * plain.mcse_mean.unwrap(), "{row:?} {plain:?}");
        assert!(row.gain.unwrap() > 2.0, "{row:?}");
    }
    harness.get_by_role_and_label(Role::ColumnHeader, "gain");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.csv");
    let export = PathCommand::Write(Product::Results(1, "summary-csv"), path.clone());
    harness.state_mut().session.send(export);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(",rhat,zv_mean,zv_mcse_mean,zv_gain,"),
        "{text}"
    );
    harness
        .get_by_role_and_label(Role::RadioButton, "Plain")
        .click();
    harness.run_steps(3);
    let entry = harness.state().session.state.selected().unwrap();
    assert!(entry.correction.done().is_none());
    assert!(harness.query_by_label("gain").is_none());
}

#[test]
fn prior_sensitivity_is_looked_at_once_the_run_has_ended() {
    let mut harness = page(finished_after("nuts", 300));
    harness
        .get_by_role_and_label(Role::Tab, "Sensitivity")
        .click();
    harness.run_steps(3);
    harness.get_by_label("Check the prior").click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent.last(),
        Some(&Question::FindPriorSensitivity(1).into())
    );
    let state = &harness.state().session.state;
    let Some(found) = state.selected().unwrap().prior_sensitivity.done() else {
        panic!("tasks are done at once");
    };
    // Thousands of rows say much more than default priors do.
    assert!(
        found
            .rows
            .iter()
            .all(|row| row.prior < 0.05 && row.likelihood > 0.05)
    );
    harness.get_by_label("How much the prior matters");
    harness.get_by_label_contains("The prior hardly moves any parameter");
    let mut harness = page(finished_after("nuts", 20));
    harness
        .state_mut()
        .session
        .send(Question::FindPriorSensitivity(1));
    harness
        .get_by_role_and_label(Role::Tab, "Sensitivity")
        .click();
    harness.run_steps(3);
    harness.get_by_label_contains("too few to tell");
}

/// Draws of another program with a column `weight`: everything shown is weighted.
#[test]
fn weighted_draws_are_shown_weighted() {
    use std::fmt::Write as _;
    let mut text = String::from(".chain,.iteration,.draw,x,weight\n");
    for i in 0..400_u32 {
        // Even numbers count three times, and some draws count against.
        let x = f64::from(i.wrapping_mul(2_654_435_761) % 1000) / 1000.0;
        let (x, weight) = match i % 4 {
            0 => (1.0 + x, 3.0),
            1 => (1.0 + x, -1.0),
            _ => (x, 0.5),
        };
        writeln!(
            text,
            "{},{},{},{x},{weight}",
            1 + i / 200,
            1 + i % 200,
            i + 1
        )
        .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let session = Session::with_file(&folder, "draws.csv", &text);
    let entry = session.state.selected().unwrap();
    assert_eq!(entry.variables(), ["x"]);
    assert_eq!(entry.info_names(), ["weight"]);
    let row = entry.report().unwrap().summary[0].clone();
    // Two thirds of the weight lie on [1, 2], one third on [0, 1].
    assert!((row.mean.unwrap() - 7.0 / 6.0).abs() < 0.1, "{row:?}");
    let report = entry.report().unwrap();
    assert_eq!(report.running.points(0).last().unwrap().draws, 196);
    let mut harness = page(session);
    for tab in ["Rank", "Autocorrelation", "Convergence", "Sampler", "Trace"] {
        harness
            .get_all_by_label(tab)
            .find(|node| node.accesskit_node().role() == Role::Tab)
            .unwrap_or_else(|| panic!("no tab {tab}"))
            // It may stand beyond the end of its strip.
            .click_accesskit();
        harness.run_steps(3);
    }
    harness.get_by_label("1 parameter, weighted");
    // Without a recipe there are no gradients.
    let quadratic = harness.get_by_role_and_label(Role::RadioButton, "Quadratic");
    quadratic.click();
    harness.run_steps(2);
    assert!(
        harness
            .state()
            .sent
            .iter()
            .all(|command| matches!(command, Command::View(ViewCommand::KeepPanes(_)))),
        "{:?}",
        harness.state().sent
    );
}

#[test]
fn clusters_of_a_mixture_are_listed() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("dp-mixture".to_owned()));
    session.send(DraftChange::Formula(
        "~ age + tenure_months + plan".to_owned(),
    ));
    session.send(DraftChange::Sampler("dp-slice".to_owned()));
    session.run(2, 20, 60);
    let entry = session.state.selected().unwrap();
    let found = &entry.report().unwrap().found;
    let clusters = found.get::<Clusters>().unwrap();
    let size = clusters.profiles[0].size;
    let mut harness = page(session);
    harness
        .get_all_by_label("Clusters")
        .find(|node| node.accesskit_node().role() == Role::Tab)
        .unwrap()
        .click();
    harness.run_steps(3);
    harness.get_by_label("Cluster 1");
    let cells = labels(&harness, Role::Cell);
    let has = |text: &str| cells.iter().any(|cell| cell.starts_with(text));
    assert!(has(&size.to_string()) && has("age "), "{cells:?}");
    let names: Vec<String> = clusters
        .densities
        .iter()
        .map(|density| density.column.clone())
        .collect();
    assert_eq!(names, ["age", "tenure_months"]);
    harness
        .get_by_role_and_label(Role::RadioButton, "Together")
        .click();
    harness.run_steps(3);
    let words = format!(
        "How often {} units were together, by cluster",
        clusters.pairs.units.len()
    );
    let matrix = harness.get_by_label(&words).rect();
    assert!((matrix.width() - matrix.height()).abs() < 0.5, "{matrix}");
    press_t_over(&mut harness, &words);
    harness.get_by_role_and_label(Role::ColumnHeader, "unit");
    harness
        .get_by_role_and_label(Role::RadioButton, "Predictive")
        .click();
    harness.run_steps(3);
    harness.get_by_label("Predictive density of age with its 90% band over the data's histogram");
}

/// The tab that is in front in the group of the trace.
fn front(harness: &Harness<'_, Shown<RunsView>>) -> Vec<String> {
    ["Answers", "Trace", "Rank", "Summary"]
        .into_iter()
        .filter(|label| {
            harness.get_all_by_role(Role::Tab).any(|tab| {
                let node = tab.accesskit_node();
                node.label().as_deref() == Some(*label) && node.toggled() == Some(Toggled::True)
            })
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_live_run_shows_its_trace_and_a_finished_one_its_answers() {
    let harness = page(session("metropolis", 1_000_000));
    assert!(front(&harness).contains(&"Trace".to_owned()));
    let harness = page(finished("nuts"));
    assert!(front(&harness).contains(&"Answers".to_owned()));
    assert!(!front(&harness).contains(&"Trace".to_owned()));
    // Tabs of other models stay away.
    for tab in ["Clusters", "Groups"] {
        assert!(
            harness.query_by_role_and_label(Role::Tab, tab).is_none(),
            "{tab}"
        );
    }
}

#[test]
fn arrows_move_through_the_table() {
    use eframe::egui::Key;
    let mut harness = page(finished("nuts"));
    let order = names(&harness);
    let variables = harness
        .state()
        .session
        .state
        .selected()
        .unwrap()
        .variables();
    let selected = |harness: &Harness<'_, Shown<RunsView>>| {
        variables[harness.state().session.state.selected_variable].clone()
    };
    harness.get_by_role_and_label(Role::Cell, &order[0]).click();
    harness.run_steps(3);
    assert_eq!(selected(&harness), order[0]);
    for (key, expected) in [
        (Key::ArrowDown, 1),
        (Key::ArrowDown, 2),
        (Key::ArrowUp, 1),
        (Key::End, order.len() - 1),
        (Key::ArrowDown, order.len() - 1),
        (Key::Home, 0),
    ] {
        harness.key_press(key);
        harness.run_steps(3);
        assert_eq!(selected(&harness), order[expected], "{key:?}");
        let read = harness
            .get_all_by_role(Role::Cell)
            .find(|cell| cell.accesskit_node().is_focused());
        let read = read.and_then(|cell| cell.accesskit_node().label());
        assert_eq!(read.as_ref(), Some(&order[expected]), "{key:?}");
    }
}

#[test]
fn a_narrow_window_has_the_table_as_a_tab_and_the_layout_goes_back() {
    let mut harness = page(finished("nuts"));
    assert!(!names(&harness).is_empty());
    harness.set_size(eframe::egui::vec2(1040.0, 760.0));
    harness.run_steps(3);
    let rows = |harness: &Harness<'_, Shown<RunsView>>| {
        harness.query_all_by_role(Role::Cell).next().is_some()
    };
    assert!(!rows(&harness), "the panel has given way");
    harness.get_by_label("Show the summary table").click();
    harness.run_steps(4);
    assert!(front(&harness).contains(&"Summary".to_owned()));
    assert!(!names(&harness).is_empty());
    harness.set_size(eframe::egui::vec2(970.0, 760.0));
    harness.run_steps(3);
    harness.get_by_label("Runs");
    harness.state_mut().view.reset_layout();
    harness.run_steps(3);
    assert!(front(&harness).contains(&"Answers".to_owned()));
    harness.set_size(eframe::egui::vec2(1280.0, 760.0));
    harness.run_steps(3);
    assert!(!names(&harness).is_empty());
}

/// Labels of nodes of a role.
pub(super) fn labels(harness: &Harness<'_, Shown<RunsView>>, role: Role) -> Vec<String> {
    let nodes = harness.get_all_by_role(role);
    nodes
        .filter_map(|node| {
            let node = node.accesskit_node();
            node.label().or_else(|| node.value())
        })
        .collect()
}

#[test]
fn predictions_stand_against_what_was_observed_and_are_exported() {
    let mut harness = page(finished("nuts"));
    harness
        .get_by_role_and_label(Role::Tab, "Predictions")
        .click();
    harness.run_steps(4);
    let id = harness.state().session.state.selected().unwrap().id;
    assert!(harness.state().has_sent(Question::Predict(id, true)));
    harness.get_by_label_contains("of 10 groups lie inside the");
    let picture = "Observed shares against the predicted probability that churned is yes in 10 groups of rows";
    press_t_over(&mut harness, picture);
    harness.get_by_role_and_label(Role::ColumnHeader, "observed");
    // Without groups there is nothing to switch.
    assert!(harness.query_by_label("Effects of groups").is_none());
    let asked = harness.state().sent.len();
    harness.run_steps(3);
    assert_eq!(harness.state().sent.len(), asked, "asked once");
    let path = harness.state().session.folder.path().join("p.csv");
    let session = &mut harness.state_mut().session;
    session.send(PathCommand::Pick(Product::Predictions(id)));
    assert_eq!(session.fx.picks.len(), 1);
    session.send(PathCommand::Write(Product::Predictions(id), path.clone()));
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 1001);
    assert!(text.starts_with("row,mean,sd,lower,upper,outcome_lower,outcome_upper,observed\n1,"));
}

#[test]
fn a_pane_that_was_chosen_is_kept_with_the_project() {
    let mut harness = page(finished("nuts"));
    assert_eq!(harness.state().session.state.panes, None);
    harness
        .get_by_role_and_label(Role::Tab, "Autocorrelation")
        .click();
    harness.run_steps(4);
    let kept = harness.state().session.state.panes.clone();
    let text = toml::to_string(&kept).unwrap();
    assert!(text.contains("front = 3"), "{text}");
    let project = harness.state().session.state.to_project();
    assert_eq!(project.view.panes, kept);
    // Another window that opens it shows the same pane.
    let mut session = finished("nuts");
    session.state.panes = kept;
    let again = page(session);
    let tab = again.get_by_role_and_label(Role::Tab, "Autocorrelation");
    assert_eq!(tab.accesskit_node().toggled(), Some(Toggled::True));
}
