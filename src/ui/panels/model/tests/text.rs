//! Models as text on the model page: what they begin with, and how the keyboard goes through the editor.

use eframe::egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::DataCommand;
use crate::app::testing::Session;
use crate::ui::panels::model::*;
use crate::ui::testing::{Shown, page_harness};

#[test]
fn a_text_of_categories_begins_with_the_chance_of_the_commonest() {
    let mut session = Session::with_draft("churn");
    for change in [
        DraftChange::Formula("plan ~ age".to_owned()),
        DraftChange::Template("multinomial".to_owned()),
        DraftChange::Template("own".to_owned()),
    ] {
        session.send(change);
    }
    let check = session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    let document = session.state.document.as_ref().unwrap();
    let text = document.recipe.model.settings.text("program").unwrap();
    assert!(
        text.contains("(plan == \"basic\") ~ bernoulli_logit(a)"),
        "{text}"
    );
}

#[test]
fn tab_takes_the_first_word_on_offer_and_leaves_the_text_where_there_is_none() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("own".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    harness.get_by_label("Text of the model").focus();
    harness.run_steps(3);
    let editor = harness.get_by_label("Text of the model");
    editor.type_text("  age ~ student_");
    harness.run_steps(3);
    harness.get_by_label("Tab takes the first");
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    let is_in_text = |harness: &Harness<'_, Shown<ModelView>>| {
        let editor = harness.get_by_label("Text of the model");
        editor.accesskit_node().is_focused()
    };
    let text = harness.state().view.program.text.clone();
    assert!(text.ends_with("age ~ student_t("), "{text}");
    assert!(is_in_text(&harness));
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    assert!(!is_in_text(&harness));
    assert_eq!(harness.state().view.program.text, text);
}

#[test]
fn an_example_takes_the_place_of_the_text_and_undo_brings_it_back() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("own".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    let drafted = |harness: &Harness<'_, Shown<ModelView>>| {
        let document = harness.state().session.state.document.as_ref().unwrap();
        let text = document.recipe.model.settings.text("program");
        text.unwrap_or_default().to_owned()
    };
    let begun = drafted(&harness);
    let churn = include_str!("../../../../../examples/models/churn.model");
    assert_ne!(begun, churn);
    harness.get_by_label("Examples").click();
    harness.run();
    // Models of other tables say what is missing.
    let missing = "There is no parameter, definition or column species";
    assert!(harness.query_all_by_label_contains(missing).count() >= 1);
    harness
        .get_by_label("Customers who leave, by region and plan")
        .click();
    harness.run();
    assert_eq!(harness.state().view.program.text, churn);
    assert_eq!(drafted(&harness), churn);
    // Its equation stands below the editor.
    harness.get_by_label("Equation of the text");
    let line = "b[region] ~ Normal(0, s), for each region";
    assert!(harness.query_all_by_label_contains(line).count() >= 1);
    let check = harness.state().session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    harness.get_by_label("Undo").click();
    harness.run();
    assert_eq!(drafted(&harness), begun);
    assert_eq!(harness.state().view.program.text, begun);
}

#[test]
fn a_model_without_data_is_not_told_of_rows_and_columns() {
    let mut session = Session::default();
    session.send(DataCommand::BeginWithoutData);
    session.send(DataCommand::AcceptImport);
    let check = session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    let mut harness = page_harness(session, model_ui);
    harness.run();
    harness.get_by_label_contains("No data needed");
    harness.get_by_label_contains("this model needs no data");
    for words in ["Uses all", "rows used", "redundant predictor", "Not used"] {
        let told = harness.query_all_by_label_contains(words).count();
        assert_eq!(told, 0, "{words}");
    }
}

/// What was said of the text before would contradict what is wrong with this one.
#[test]
fn a_wrong_text_has_neither_rows_nor_translations() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("own".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    let told = |harness: &Harness<'_, Shown<ModelView>>, words: &str| {
        harness.query_all_by_label_contains(words).count() > 0
    };
    let both = ["Uses all", "Translations of this model"];
    assert!(both.iter().all(|words| told(&harness, words)));
    let program = &mut harness.state_mut().view.program;
    program.text = program.text.replace("normal", "nrmal");
    harness.run();
    assert!(told(&harness, "nrmal"));
    assert!(!both.iter().any(|words| told(&harness, words)));
}
