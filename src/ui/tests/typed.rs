//! What is typed in a field is what runs and what is saved, also where the field has not been left.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::testing::Session;
use crate::app::{AppState, Command, DraftChange, Page, PathCommand, Product};
use crate::ui::outbox::Outbox;
use crate::ui::panels::Views;
use crate::ui::testing::{Shown, page_harness};
use crate::ui::{shell, shortcuts};
use ergodic_analysis::Recipe;
use ergodic_core::engine::RunSection;
use ergodic_export::project::Project;

/// The whole window, keyboard included.
fn whole_ui(ui: &mut eframe::egui::Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    shortcuts::read(ui.ctx(), state, views, out);
    shell::window_ui(ui, state, views, out);
}

/// A window that shows the model page over a draft of the first sample under `template`, whose runs are short.
fn window(template: Option<&str>) -> Harness<'static, Shown<Views>> {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age".to_owned()));
    if let Some(template) = template {
        session.send(DraftChange::Template(template.to_owned()));
    }
    session.send(DraftChange::Run(RunSection {
        chains: 1,
        warmup: Some(20),
        draws: 30,
        until_precise: false,
        ..RunSection::default()
    }));
    let mut harness = page_harness(session, whole_ui);
    harness.run_steps(3);
    harness
}

/// Types `text` at the end of the field called `label` and stays there.
fn type_into(harness: &mut Harness<'_, Shown<Views>>, label: &str, text: &str) {
    harness.get_by_label(label).focus();
    harness.run_steps(2);
    harness.get_by_label(label).type_text(text);
    harness.run_steps(2);
}

fn press(harness: &mut Harness<'_, Shown<Views>>, key: Key) {
    harness.key_press_modifiers(Modifiers::COMMAND, key);
    harness.run_steps(3);
}

fn draft(harness: &Harness<'_, Shown<Views>>) -> Recipe {
    let document = harness.state().session.state.document.as_ref();
    document.unwrap().recipe.clone()
}

/// The text of a model that is written as text.
fn program(recipe: &Recipe) -> &str {
    recipe.model.settings.text("program").unwrap()
}

/// The recipe that the only run was started with, which is that of the draft.
fn recipe_of_run(harness: &mut Harness<'_, Shown<Views>>) -> Recipe {
    harness.state_mut().session.wait_for_runs();
    let now = draft(harness);
    let runs = &harness.state().session.state.runs;
    assert_eq!(runs.len(), 1);
    assert!(!runs[0].is_stale(&now));
    runs[0].recipe.clone().unwrap()
}

#[test]
fn the_formula_in_sight_is_the_one_that_runs() {
    for by_key in [true, false] {
        let mut harness = window(None);
        type_into(&mut harness, "Formula", " + support_calls");
        // Typing alone changes nothing.
        assert_eq!(draft(&harness).model.formula, "churned ~ age");
        if by_key {
            press(&mut harness, Key::Enter);
        } else {
            harness.get_by_role_and_label(Role::Button, "Run").click();
            harness.run_steps(3);
        }
        let run = recipe_of_run(&mut harness);
        assert_eq!(run.model.formula, "churned ~ age + support_calls");
    }
}

#[test]
fn the_text_in_sight_is_the_one_that_runs() {
    let mut harness = window(Some("own"));
    type_into(&mut harness, "Text of the model", "# typed\n");
    assert!(!program(&draft(&harness)).contains("# typed"));
    press(&mut harness, Key::Enter);
    assert_eq!(harness.state().session.state.page, Page::Runs);
    let run = recipe_of_run(&mut harness);
    assert!(program(&run).ends_with("# typed\n"), "{}", program(&run));
}

#[test]
fn a_text_in_sight_that_cannot_be_read_does_not_run() {
    let mut harness = window(Some("own"));
    type_into(&mut harness, "Text of the model", "  age ~ (\n");
    let run = harness.get_by_role_and_label(Role::Button, "Run");
    assert!(run.accesskit_node().is_disabled());
    press(&mut harness, Key::Enter);
    let state = &harness.state().session.state;
    assert!(state.runs.is_empty());
    let error = state.document.clone().unwrap().formula_error.unwrap();
    let said = state.toast.clone().unwrap().text;
    assert!(said.contains(&error), "{said}");
    assert!(program(&draft(&harness)).ends_with("  age ~ (\n"));
}

#[test]
fn the_text_in_sight_is_the_one_that_is_saved() {
    let mut harness = window(Some("own"));
    let session = &mut harness.state_mut().session;
    let path = session.folder.path().join("own.ergodic");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    harness.run_steps(2);
    type_into(&mut harness, "Text of the model", "# typed\n");
    press(&mut harness, Key::S);
    let saved = Project::read(&path).unwrap().draft.unwrap();
    assert!(program(&saved).ends_with("# typed\n"));
    // What is typed then is typed into the same field.
    harness
        .get_by_label("Text of the model")
        .type_text("# more\n");
    harness.run_steps(2);
    press(&mut harness, Key::Num3);
    assert_eq!(harness.state().session.state.page, Page::Sampler);
    assert!(program(&draft(&harness)).ends_with("# typed\n# more\n"));
}

#[test]
fn the_names_of_kept_draws_in_sight_are_those_of_the_run() {
    let mut harness = window(None);
    let page = Command::GoTo(Page::Sampler);
    harness.state_mut().session.send(page);
    // So that the field is in sight.
    harness.set_size(vec2(1280.0, 3000.0));
    harness.run_steps(3);
    let (role, name) = (Role::TextInput, "Keep draws of");
    harness.get_by_role_and_label(role, name).click();
    harness.run_steps(2);
    press(&mut harness, Key::A);
    harness.get_by_role_and_label(role, name).type_text("b[*]");
    harness.run_steps(2);
    assert_eq!(draft(&harness).run.keep, "all");
    press(&mut harness, Key::Enter);
    assert_eq!(recipe_of_run(&mut harness).run.keep, "b[*]");
}
