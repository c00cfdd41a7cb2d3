//! Models as text on the model page: what they begin with, and how the keyboard goes through the editor.

use eframe::egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::app::testing::Session;
use crate::ui::testing::{Shown, page_harness};

#[test]
fn a_text_of_categories_begins_with_the_chance_of_the_commonest() {
    let mut session = Session::with_draft("churn");
    for change in [
        DraftChange::Formula("plan ~ age".to_owned()),
        DraftChange::Template("multinomial".to_owned()),
        DraftChange::Template("own".to_owned()),
    ] {
        session.send(Command::Draft(change));
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
    session.send(Command::Draft(DraftChange::Template("own".to_owned())));
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
