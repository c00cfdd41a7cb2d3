//! The page over a run whose coefficients vary by group.

use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{WAIT, labels, page};
use crate::app::testing::Session;
use crate::app::{DraftChange, PathCommand, Product, Question, RunCommand};
use crate::ui::panels::runs::RunsView;
use crate::ui::testing::Shown;
use ergodic_core::engine::RunSection;
use ergodic_report::report::{Section, sections};

/// The variables of the table from top to bottom, whatever their class.
fn all_names(harness: &Harness<'_, Shown<RunsView>>) -> Vec<String> {
    let mut cells: Vec<(f32, String)> = harness
        .get_all_by_role(Role::Cell)
        .filter_map(|cell| Some((cell.rect().top(), cell.accesskit_node().label()?)))
        .filter(|(_, label)| label.ends_with(']'))
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    cells.into_iter().map(|(_, label)| label).collect()
}

/// A finished hierarchical run of the bundled data in seven groups.
fn grouped() -> Session {
    let mut session = Session::with_draft("churn");
    let column = "support_calls".to_owned();
    for change in [
        DraftChange::Formula("churned ~ age".to_owned()),
        DraftChange::Template("hierarchical".to_owned()),
        DraftChange::Assign(column, ergodic_data::Role::Group),
    ] {
        session.send(change);
    }
    let document = session.state.document.as_ref().unwrap();
    assert_eq!(
        document.recipe.model.formula,
        "churned ~ age + (1 + age | support_calls)"
    );
    assert_eq!(session.state.check.as_ref().unwrap().error, None);
    let sampler = DraftChange::Sampler("gibbs-groups".to_owned());
    session.send(sampler);
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(50),
        draws: 100,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    let begun = Instant::now();
    while !session
        .state
        .selected()
        .unwrap()
        .run()
        .unwrap()
        .is_finished()
    {
        assert!(begun.elapsed() < WAIT, "the run does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    session
}

#[test]
fn effects_of_groups_come_last_and_stand_beside_each_other_in_their_pane() {
    let mut harness = page(grouped());
    // Two means and three covariances stand before the two effects of each of seven groups, but for those effects that are
    // what is wrong with so short a run.
    let names = all_names(&harness);
    let entry = harness.state().session.state.selected().unwrap();
    let report = entry.report().unwrap();
    let is_fine_effect = |name: &String| {
        let mut rows = report.summary.iter();
        let row = rows.find(|row| row.variable == *name).unwrap();
        name.starts_with("theta[") && report.limits.distance(row) <= 1.0
    };
    assert!(names.len() > 5, "{names:?}");
    assert!(names.is_sorted_by_key(is_fine_effect), "{names:?}");
    harness.get_by_role_and_label(Role::Tab, "Groups").click();
    harness.run_steps(3);
    let shown = |harness: &Harness<'_, Shown<RunsView>>| -> usize {
        let rows = harness.get_all_by_role(Role::ListItem);
        rows.filter_map(|row| row.accesskit_node().label())
            .filter(|label| label.contains("90% from"))
            .count()
    };
    assert_eq!(shown(&harness), 7);
}

/// The headings of the table from top to bottom.
fn headings(harness: &Harness<'_, Shown<RunsView>>) -> Vec<String> {
    let found = harness.query_all_by_role(Role::RowHeader);
    let mut found: Vec<(f32, String)> = found
        .filter_map(|it| Some((it.rect().top(), it.accesskit_node().label()?)))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, words)| words).collect()
}

#[test]
fn the_table_has_the_headings_of_reports_and_nobody_chooses_them() {
    let mut harness = page(grouped());
    harness.set_size(vec2(1280.0, 1800.0));
    harness.run_steps(3);
    let entry = harness.state().session.state.selected().unwrap();
    let report = entry.report().unwrap();
    // What was fitted stands above.
    let head = entry.head();
    assert!(head[1].ends_with(" rows, 7 groups"), "{head:?}");
    harness.get_by_label(&head[0]);
    harness.get_by_label(&head[1..].join(" · "));
    // In the order of the model the table is that of `ergodic summarise`.
    harness.get_by_label("Worst first").click();
    harness.run_steps(3);
    let told = sections(&report.summary, &[], "hierarchical", usize::MAX);
    let titles: Vec<&str> = told.iter().map(|section| section.title).collect();
    assert_eq!(headings(&harness), titles);
    assert_eq!(titles.len(), 3);
    let rows = |names: &[String]| -> Vec<Vec<String>> {
        let mut rest = names;
        let parts = told.iter().map(|section| {
            let (part, others) = rest.split_at(section.rows.len());
            rest = others;
            part.to_vec()
        });
        parts.collect()
    };
    let in_order = all_names(&harness);
    let variables = names_of(&told);
    assert_eq!(rows(&in_order), variables);
    // Keys pass over headings, and a click on one changes nothing.
    let selected = |harness: &Harness<'_, Shown<RunsView>>| {
        let state = &harness.state().session.state;
        state.selected().unwrap().variables()[state.selected_variable].to_string()
    };
    harness
        .get_by_role_and_label(Role::Cell, &in_order[3])
        .click();
    harness.run_steps(3);
    harness.key_press(Key::Home);
    harness.run_steps(3);
    for name in &in_order {
        assert_eq!(selected(&harness), *name);
        harness.key_press(Key::ArrowDown);
        harness.run_steps(3);
    }
    harness
        .get_by_role_and_label(Role::RowHeader, titles[1])
        .click();
    harness.run_steps(3);
    assert_eq!(Some(&selected(&harness)), in_order.last());
    // Sorted by a column, rows stay under what they are of.
    harness
        .get_by_role_and_label(Role::ColumnHeader, "parameter")
        .click();
    harness.run_steps(3);
    assert_eq!(headings(&harness), titles);
    let mut by_name = variables;
    by_name.iter_mut().for_each(|part| part.sort());
    assert_eq!(rows(&all_names(&harness)), by_name);
    // A filter leaves the headings of what it leaves.
    harness
        .get_by_role_and_label(Role::TextInput, "Filter parameters")
        .click();
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::TextInput, "Filter parameters")
        .type_text("Sigma");
    harness.run_steps(3);
    assert_eq!(headings(&harness), [titles[1]]);
}

/// The names of rows, section by section.
fn names_of(sections: &[Section]) -> Vec<Vec<String>> {
    let names = |section: &Section| {
        let rows = section.rows.iter();
        rows.map(|(row, _)| row.variable.to_string()).collect()
    };
    sections.iter().map(names).collect()
}

#[test]
fn a_grouped_run_predicts_without_its_groups_and_is_compared_with_its_likelihood_fit() {
    let mut harness = page(grouped());
    let id = harness.state().session.state.selected().unwrap().id;
    harness
        .get_by_role_and_label(Role::Tab, "Predictions")
        .click();
    harness.run_steps(4);
    harness.get_by_label("Without").click();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::Predict(id, false)));
    harness.get_by_label_contains("every row as in an average group");

    harness
        .get_by_role_and_label(Role::Tab, "Likelihood")
        .click();
    harness.run_steps(3);
    harness.get_by_label("Fit by likelihood").click();
    harness.run_steps(4);
    let cells = labels(&harness, Role::Cell);
    for name in ["mu[age]", "Sigma[Intercept,Intercept]"] {
        assert!(cells.iter().any(|cell| cell == name), "{name}: {cells:?}");
    }
    let images = labels(&harness, Role::Image);
    assert!(
        images
            .iter()
            .any(|text| text.starts_with("mu[age]: likelihood")),
        "{images:?}"
    );
    let session = &mut harness.state_mut().session;
    let folder = session.folder.path().join("fit");
    session.send(PathCommand::Write(Product::Fit(Some(id)), folder.clone()));
    for name in ["fit.json", "effects.csv", "fitted.csv"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}
