//! The page over a real draft.

use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::{SamplerView, sampler_ui};
use crate::app::Command;
use crate::app::testing::Session;
use crate::base::settings::Value;
use crate::samplers::REGISTRY;
use crate::ui::testing::{Shown, page_harness};

fn page(session: Session) -> Harness<'static, Shown<SamplerView>> {
    let mut harness = page_harness(session, sampler_ui);
    harness.run_steps(3);
    harness
}

#[test]
fn every_sampler_can_be_chosen_and_shows_all_its_settings() {
    let session = Session::with_draft("churn");
    let check = session.state.check.clone().unwrap();
    let mut harness = page(session);
    let unsuitable = |id: &str| check.unsuitable.iter().any(|(other, _why)| *other == id);
    for entry in REGISTRY.iter().filter(|entry| !unsuitable(entry.spec.id)) {
        harness
            .get_by_role_and_label(Role::RadioButton, entry.spec.title)
            .click_accesskit();
        harness.run_steps(3);
        assert_eq!(
            harness.state().sent.last(),
            Some(&Command::SetSampler(entry.spec.id.to_owned()))
        );
        harness.get_by_label(&format!("Settings of {}", entry.spec.title));
        for field in entry.spec.fields {
            assert!(
                harness.query_all_by_label(field.label).next().is_some(),
                "{}: {}",
                entry.spec.id,
                field.label
            );
        }
    }
}

#[test]
fn a_setting_is_typed_refused_and_reset() {
    let mut session = Session::with_draft("churn");
    session.send(Command::SetSampler("nuts".to_owned()));
    let mut harness = page(session);
    let label = "Target acceptance";
    let (role, name) = (Role::TextInput, label);
    harness.get_by_role_and_label(role, name).click();
    harness.run_steps(2);
    harness.get_by_role_and_label(role, name).type_text("2");
    harness.run_steps(2);
    harness.key_press(eframe::egui::Key::Enter);
    harness.run_steps(2);
    assert!(harness.state().sent.is_empty(), "2 is not a probability");
    harness.get_by_label_contains("Setting target_accept takes");

    harness.get_by_role_and_label(role, name).click();
    harness.run_steps(2);
    harness.key_combination_modifiers(eframe::egui::Modifiers::COMMAND, &[eframe::egui::Key::A]);
    harness.run_steps(2);
    harness.get_by_role_and_label(role, name).type_text("0.9");
    harness.run_steps(2);
    harness.key_press(eframe::egui::Key::Enter);
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent,
        [Command::SetSetting(
            "target_accept".to_owned(),
            Some(Value::Real(0.9))
        )]
    );
    harness.get_by_label_contains("Reset to").click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent.last(),
        Some(&Command::SetSetting("target_accept".to_owned(), None))
    );
}

#[test]
fn stop_rules_and_seed_change_the_run() {
    let mut harness = page(Session::with_draft("churn"));
    let run = |harness: &Harness<'_, Shown<SamplerView>>| {
        let state = &harness.state().session.state;
        state.document.as_ref().unwrap().recipe.run.clone()
    };
    let seed = run(&harness).seed;
    harness.get_by_label("New seed").click();
    harness.run_steps(2);
    assert_ne!(run(&harness).seed, seed);
    harness.get_by_label("Precision").click();
    harness.run_steps(3);
    assert_eq!(run(&harness).target_ess, Some(400.0));
    assert_eq!(run(&harness).target_rhat, Some(1.01));
    harness.get_by_label("Time").click();
    harness.run_steps(3);
    assert_eq!(run(&harness).target_ess, None);
    assert_eq!(run(&harness).max_seconds, Some(60.0));
    harness.get_by_role_and_label(Role::Button, "Run").click();
    harness.run_steps(2);
    assert_eq!(harness.state().sent.last(), Some(&Command::StartRun));
}
