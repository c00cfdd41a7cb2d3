//! The page over a real draft.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{SamplerView, sampler_ui};
use crate::app::testing::Session;
use crate::app::{Command, DataCommand, DraftChange, DraftCommand, Preference, RunCommand};
use crate::ui::testing::{Shown, page_harness};
use ergodic_base::settings::{Settings, Value};
use ergodic_core::families::Family;
use ergodic_core::samplers::REGISTRY;

fn page(session: Session) -> Harness<'static, Shown<SamplerView>> {
    let mut harness = page_harness(session, sampler_ui);
    harness.run_steps(3);
    harness
}

#[test]
fn every_sampler_can_be_chosen_and_shows_all_its_settings() {
    let mut harness = page(Session::with_draft("churn"));
    let unsuitable: Vec<&str> = {
        let check = harness.state().session.state.check.as_ref().unwrap();
        check.unsuitable.iter().map(|it| it.sampler).collect()
    };
    assert!(unsuitable.contains(&"conjugate") && !unsuitable.contains(&"nuts"));
    let folded = format!("Not for this model: {}", unsuitable.len());
    assert!(
        harness
            .query_by_role_and_label(Role::RadioButton, "Conjugate draws")
            .is_none()
    );
    harness.get_by_label(&folded).click_accesskit();
    harness.run_steps(3);
    for entry in REGISTRY {
        let sent = harness.state().sent.len();
        harness
            .get_by_role_and_label(Role::RadioButton, entry.spec.title)
            .click_accesskit();
        harness.run_steps(3);
        if unsuitable.contains(&entry.spec.id) {
            assert_eq!(harness.state().sent.len(), sent, "{}", entry.spec.id);
            continue;
        }
        assert_eq!(
            harness.state().sent.last(),
            Some(&Command::Change(DraftChange::Sampler(
                entry.spec.id.to_owned()
            )))
        );
        harness.get_by_label(&format!("Settings of {}", entry.spec.title));
        let defaults = Settings::default();
        for field in entry.spec.fields {
            assert_eq!(
                harness.query_all_by_label(field.label).next().is_some(),
                field.is_shown(&defaults, entry.spec.fields),
                "{}: {}",
                entry.spec.id,
                field.label
            );
        }
    }
}

/// Settings of combinations that are not chosen stay away, unless they have a value.
#[test]
fn a_form_shows_the_settings_of_the_combination_that_is_chosen() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler("divide-and-conquer".to_owned()));
    let mut harness = page(session);
    let mut shown = |key: &str, value: &str| {
        let value = Some(ergodic_base::settings::Value::parse(value));
        let session = &mut harness.state_mut().session;
        session.send(DraftChange::Setting(key.to_owned(), value));
        harness.run_steps(3);
        ["Combination", "Bandwidth", "Sweeps", "Pairs kept"]
            .map(|label| harness.query_all_by_label(label).next().is_some())
    };
    assert_eq!(shown("combine", "consensus"), [true, false, false, false]);
    assert_eq!(
        shown("combine", "semiparametric"),
        [true, true, true, false]
    );
    assert_eq!(shown("combine", "weierstrass"), [true, false, false, true]);
    assert_eq!(shown("sweeps", "5"), [true, false, true, true]);
}

#[test]
fn samplers_stand_in_families_and_a_filter_finds_them() {
    use ergodic_core::samplers::SamplerFamily;
    let mut harness = page(Session::with_draft("churn"));
    let top = |harness: &Harness<'static, Shown<SamplerView>>, role, label: &str| {
        harness.get_by_role_and_label(role, label).rect().top()
    };
    let langevin = top(&harness, Role::Heading, SamplerFamily::Langevin.title());
    let momentum = top(&harness, Role::Heading, SamplerFamily::Momentum.title());
    assert!(top(&harness, Role::RadioButton, "NUTS") < langevin);
    let sgld = top(&harness, Role::RadioButton, "SGLD");
    assert!(langevin < sgld && sgld < momentum);
    // Families without a sampler for this model have no head.
    assert!(
        harness
            .query_by_label(SamplerFamily::Simplex.title())
            .is_none()
    );

    let field = harness.get_by_role_and_label(Role::TextInput, "Filter samplers");
    field.click();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(Role::TextInput, "Filter samplers");
    field.type_text("thermostat");
    harness.run_steps(3);
    assert!(
        harness
            .query_by_role_and_label(Role::RadioButton, "NUTS")
            .is_none()
    );
    assert!(
        harness
            .query_by_label(SamplerFamily::Langevin.title())
            .is_none()
    );
    harness.get_by_label(SamplerFamily::Momentum.title());
}

#[test]
fn every_method_for_the_mode_can_be_chosen_and_shows_its_settings() {
    let mut harness = page(Session::with_draft("churn"));
    harness.get_by_role_and_label(Role::RadioButton, "Automatic");
    for entry in ergodic_core::estimators::REGISTRY {
        let name = entry.spec.title;
        harness
            .get_by_role_and_label(Role::RadioButton, name)
            .click_accesskit();
        harness.run_steps(3);
        assert_eq!(
            harness.state().sent.last(),
            Some(&Command::Change(DraftChange::Method(
                entry.spec.id.to_owned()
            )))
        );
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
fn samplers_are_compared_before_any_run() {
    let mut harness = page(Session::with_draft("churn"));
    let button = "Rank for these data";
    harness.get_by_label(button).click();
    harness.run_steps(3);
    assert_eq!(harness.state().sent, [DraftCommand::Advise.into()]);
    let state = &harness.state().session.state;
    let advised = state.advice.done().unwrap();
    assert_eq!(advised.advice.sampler, "nuts");
    assert_eq!(advised.advice.alternatives.len() + 1, REGISTRY.len());
    assert!(state.advice.working().is_none());
    assert!(harness.query_by_label(button).is_none());
    harness.get_by_label("chosen automatically");
    // Another model is another posterior; a click on a sampler is not.
    let session = &mut harness.state_mut().session;
    session.send(DraftChange::Sampler("metropolis".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label(button).is_none());
    let session = &mut harness.state_mut().session;
    session.send(DraftChange::Formula("churned ~ age".to_owned()));
    harness.run_steps(3);
    harness.get_by_label(button);
    // A cancelled request leaves nothing behind.
    let session = &mut harness.state_mut().session;
    session.state.advice.begin(Default::default());
    session.send(DraftCommand::CancelAdvice);
    assert!(session.state.advice.working().is_none());
}

#[test]
fn a_setting_is_typed_refused_and_reset() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler("nuts".to_owned()));
    let mut harness = page(session);
    // The setting and what is said of it stand below what all samplers have.
    harness.set_size(eframe::egui::vec2(1280.0, 1200.0));
    harness.run_steps(2);
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
        [Command::Change(DraftChange::Setting(
            "target_accept".to_owned(),
            Some(Value::Real(0.9))
        ))]
    );
    harness.get_by_label_contains("Reset to").click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent.last(),
        Some(&Command::Change(DraftChange::Setting(
            "target_accept".to_owned(),
            None
        )))
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
    // As much room as the command line leaves, and in sight.
    assert_eq!(run(&harness).draws, 10_000);
    harness.get_by_label("Draws at most");
    harness.get_by_label("Time").click();
    harness.run_steps(3);
    assert_eq!(run(&harness).target_ess, None);
    assert_eq!(run(&harness).draws, 1000);
    assert_eq!(run(&harness).max_seconds, Some(60.0));
    harness.get_by_role_and_label(Role::Button, "Run").click();
    harness.run_steps(2);
    assert_eq!(harness.state().sent.last(), Some(&RunCommand::Start.into()));
}

#[test]
fn a_step_size_is_tuned_by_trial_and_set() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler("ula".to_owned()));
    let mut harness = page(session);
    harness.get_by_label("Tune step size").click_accesskit();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent.last(),
        Some(&DraftCommand::RunTrials.into())
    );
    harness.get_by_label("chosen");
    let state = &mut harness.state_mut().session.state;
    assert!(state.tuned.working().is_none());
    let chosen = state.tuned.done().unwrap().tuning.chosen;
    let settings = &state.document.as_ref().unwrap().recipe.sampler.settings;
    assert_eq!(settings.real("step_size"), Some(chosen));
    // Another model is another posterior, for which nothing was tried.
    harness
        .state_mut()
        .session
        .send(DraftChange::Formula("churned ~ age".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label("chosen").is_none());
    // Exact samplers adapt themselves.
    harness
        .state_mut()
        .session
        .send(DraftChange::Sampler("nuts".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label("Tune step size").is_none());
}

#[test]
fn families_of_a_likelihood_fit_do_not_run_out_of_the_window() {
    let harness = page(Session::with_draft("churn"));
    for family in [Family::Ordered, Family::ZeroInflatedNegativeBinomial] {
        let title = family.definition().title;
        let segment = harness.get_by_role_and_label(Role::RadioButton, title);
        assert!(segment.rect().right() <= 1280.0, "{title}");
    }
}

#[test]
fn a_formula_with_groups_can_be_fitted_by_likelihood() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("linear".to_owned()));
    session.send(DraftChange::Formula(
        "monthly_fee ~ age + (1 | region)".to_owned(),
    ));
    let mut harness = page(session);
    harness.get_by_label("Fit by likelihood").click_accesskit();
    harness.run_steps(3);
    assert!(matches!(
        harness.state().sent.last(),
        Some(Command::Draft(DraftCommand::Estimate(options))) if options.family == Family::Gaussian && options.reml
    ));
    let state = &harness.state().session.state;
    assert!(state.estimated.working().is_none());
    let done = state.estimated.done().unwrap();
    assert_eq!(done.fit.criterion, "REML");
    harness.get_by_label("residual");
    assert!(harness.query_all_by_label("region").next().is_some());
    harness.get_by_label("SQUAREM");
    // Another formula was not fitted.
    let send = |harness: &mut Harness<'static, Shown<SamplerView>>, formula: &str| {
        let command = DraftChange::Formula(formula.to_owned());
        harness.state_mut().session.send(command);
        harness.run_steps(3);
    };
    send(&mut harness, "monthly_fee ~ tenure_months + (1 | region)");
    assert!(harness.query_by_label("residual").is_none());
    // Without groups there is nothing for methods about them.
    send(&mut harness, "monthly_fee ~ age");
    assert!(harness.query_by_label("SQUAREM").is_none());
    harness.get_by_label("Fit by likelihood").click_accesskit();
    harness.run_steps(3);
    harness.get_by_label("residual");
    let state = &harness.state().session.state;
    let fit = &state.estimated.done().unwrap().fit;
    assert!(fit.components.is_empty() && fit.fixed.len() == 2);
}

/// Outcomes that are not Gaussian have integrals over the effects of groups, and how finely they are made is chosen beside them.
#[test]
fn integrals_of_the_likelihood_are_chosen_with_how_finely() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("logistic".to_owned()));
    session.send(DraftChange::Formula(
        "churned ~ age + (1 | region)".to_owned(),
    ));
    let mut harness = page(session);
    let choose = |harness: &mut Harness<'static, Shown<SamplerView>>, method: &str| {
        harness.get_by_label(method).click_accesskit();
        harness.run_steps(3);
    };
    assert!(harness.query_by_label("Nodes in each direction").is_none());
    choose(&mut harness, "Monte Carlo");
    harness.get_by_label("Draws for each group");
    choose(&mut harness, "Adaptive quadrature");
    harness.get_by_label("Nodes in each direction");
    assert!(harness.query_by_label("Draws for each group").is_none());
    harness.get_by_label("Fit by likelihood").click_accesskit();
    harness.run_steps(3);
    assert!(matches!(
        harness.state().sent.last(),
        Some(Command::Draft(DraftCommand::Estimate(options))) if options.method == "aghq" && options.fineness.nodes == 15
    ));
    let state = &harness.state().session.state;
    let done = state.estimated.done().unwrap();
    assert_eq!(
        done.fit.criterion,
        "adaptive Gauss-Hermite quadrature with 15 nodes"
    );
}

#[test]
fn levels_are_fitted_by_likelihood_with_their_cut_points() {
    let folder = tempfile::tempdir().unwrap();
    let level = |i: usize| ["low", "mid", "high"][(i * 7 % 5 + i % 4) / 3];
    let rows = (0..60).map(|i| format!("{},{}\n", level(i), i % 4));
    let text = rows.fold("size,x\n".to_owned(), |text, row| text + &row);
    let mut session = Session::with_file(&folder, "sizes.csv", &text);
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Template("ordered".to_owned()));
    session.send(DraftChange::Formula("size ~ x".to_owned()));
    let mut harness = page(session);
    harness.get_by_label("Fit by likelihood").click_accesskit();
    harness.run_steps(3);
    for name in ["low|mid", "mid|high"] {
        harness.get_by_role_and_label(Role::Cell, name);
    }
    // Templates without a family have no likelihood fit.
    harness
        .state_mut()
        .session
        .send(DraftChange::Template("dp-mixture".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label("Fit by likelihood").is_none());
}

#[test]
fn the_negative_control_has_a_badge_of_its_own() {
    let harness = page(Session::with_draft("churn"));
    let controls = REGISTRY.iter().filter(|entry| entry.spec.negative_control);
    let badges = harness.query_all_by_label("Negative control");
    assert_eq!(badges.count(), controls.count());
    harness.get_by_label("Negative control");
}

#[test]
fn blocks_are_typed_by_the_names_of_parameters() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Sampler("gibbs".to_owned()));
    let mut harness = page(session);
    let mut type_blocks = |text: &str| {
        harness
            .get_by_role_and_label(Role::TextInput, "Blocks")
            .scroll_to_me();
        harness.run();
        harness
            .get_by_role_and_label(Role::TextInput, "Blocks")
            .click();
        harness.run_steps(2);
        harness
            .key_combination_modifiers(eframe::egui::Modifiers::COMMAND, &[eframe::egui::Key::A]);
        harness.run_steps(2);
        harness
            .get_by_role_and_label(Role::TextInput, "Blocks")
            .type_text(text);
        harness.run_steps(2);
        harness.key_press(eframe::egui::Key::Enter);
        harness.run_steps(3);
        let refused = harness.query_by_label_contains("which the model does not have");
        (refused.is_some(), harness.state().sent.last().cloned())
    };
    assert_eq!(type_blocks("b[nope]: hmc"), (true, None));
    let blocks = "b[Intercept]: slice; b[*]: hmc";
    let sent = DraftChange::Setting("blocks".to_owned(), Some(Value::Text(blocks.to_owned())));
    assert_eq!(type_blocks(blocks), (false, Some(sent.into())));
}

#[test]
fn rows_are_stored_in_single_precision_where_everything_is_shown() {
    use crate::app::Depth;
    use ergodic_core::models::Storage;
    let mut harness = page(Session::with_draft("churn"));
    let single = "Single precision";
    assert!(harness.query_by_label(single).is_none());
    let session = &mut harness.state_mut().session;
    session.send(Preference::Depth(Depth::Everything));
    harness.run_steps(3);
    harness.get_by_label(single).click_accesskit();
    harness.run_steps(3);
    let sent = harness.state().sent.last();
    assert_eq!(
        sent,
        Some(&Command::Change(DraftChange::Storage(Storage::F32)))
    );
    // A choice that was made shows at every depth.
    let session = &mut harness.state_mut().session;
    session.send(Preference::Depth(Depth::Standard));
    harness.run_steps(3);
    harness.get_by_label(single);
    let document = harness.state().session.state.document.as_ref().unwrap();
    assert_eq!(document.recipe.data.storage, Storage::F32);
}

#[test]
fn rows_are_held_out_by_share_or_by_column() {
    use ergodic_analysis::hold_out::HoldOut;
    let mut harness = page(Session::with_draft("churn"));
    let held = |harness: &Harness<'_, Shown<SamplerView>>| {
        let document = harness.state().session.state.document.as_ref();
        document.unwrap().recipe.model.hold_out.clone()
    };
    assert_eq!(held(&harness), None);
    harness.get_by_label("A share").click_accesskit();
    harness.run_steps(3);
    assert_eq!(held(&harness), Some(HoldOut::Share(0.2)));
    harness.get_by_label("By a column").click_accesskit();
    harness.run_steps(3);
    // The last column with few values that is not the outcome.
    let plan = HoldOut::Where {
        column: "plan".to_owned(),
        value: "pro".to_owned(),
    };
    assert_eq!(held(&harness), Some(plan));
    harness.get_by_label("No rows").click_accesskit();
    harness.run_steps(3);
    assert_eq!(held(&harness), None);
}

#[test]
fn where_chains_start_is_part_of_the_run() {
    use ergodic_core::engine::Start;
    let mut harness = page(Session::with_draft("churn"));
    let sent = |harness: &Harness<'static, Shown<SamplerView>>| match harness.state().sent.last() {
        Some(Command::Change(DraftChange::Run(run))) => run.start.clone(),
        other => panic!("{other:?}"),
    };
    let choose = |harness: &mut Harness<'static, Shown<SamplerView>>, word: &str| {
        let option = harness.get_by_role_and_label(Role::RadioButton, word);
        option.click_accesskit();
        harness.run_steps(3);
    };
    // Nothing ran that chains could go on from.
    let option = harness.query_by_role_and_label(Role::RadioButton, "A run");
    assert!(option.is_none());
    choose(&mut harness, "Prior");
    assert_eq!(sent(&harness), Start::Prior);
    choose(&mut harness, "Values");
    assert_eq!(sent(&harness).to_string(), "b[Intercept]=0");
    choose(&mut harness, "Mode");
    assert_eq!(sent(&harness), Start::Mode);
    harness.get_by_label("Spread of starts");
}

#[test]
fn names_of_kept_draws_are_typed_and_control_variates_are_chosen() {
    use ergodic_core::engine::RunSection;
    use ergodic_diagnostics::zero_variance::Order;
    let mut harness = page(Session::with_draft("churn"));
    harness.set_size(eframe::egui::vec2(1280.0, 2400.0));
    harness.run_steps(3);
    let run = |harness: &Harness<'_, Shown<SamplerView>>| {
        let state = &harness.state().session.state;
        state.document.as_ref().unwrap().recipe.run.clone()
    };
    let (role, name) = (Role::TextInput, "Keep draws of");
    let shown = |harness: &Harness<'_, Shown<SamplerView>>| {
        let field = harness.get_by_role_and_label(role, name);
        field.accesskit_node().value()
    };
    let type_at_the_end = |harness: &mut Harness<'_, Shown<SamplerView>>, text: &str| {
        harness.get_by_role_and_label(role, name).click();
        harness.run_steps(2);
        harness.key_press(Key::End);
        harness.run_steps(2);
        harness.get_by_role_and_label(role, name).type_text(text);
        harness.run_steps(2);
    };
    let type_instead = |harness: &mut Harness<'_, Shown<SamplerView>>, text: &str| {
        harness.get_by_role_and_label(role, name).click();
        harness.run_steps(2);
        harness.key_combination_modifiers(Modifiers::COMMAND, &[Key::A]);
        harness.run_steps(2);
        harness.get_by_role_and_label(role, name).type_text(text);
        harness.run_steps(2);
        harness.key_press(Key::Enter);
        harness.run_steps(3);
    };
    assert_eq!(run(&harness).keep, "all");
    type_instead(&mut harness, "b[*]");
    assert_eq!(run(&harness).keep, "b[*]");
    // A letter that is taken back leaves nothing behind that another draft would show.
    type_at_the_end(&mut harness, "x");
    assert_eq!(shown(&harness).as_deref(), Some("b[*]x"));
    harness.key_press(Key::Backspace);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert_eq!(run(&harness).keep, "b[*]");
    let session = &mut harness.state_mut().session;
    session.send(DraftChange::Run(RunSection::default()));
    harness.run_steps(3);
    assert_eq!(shown(&harness).as_deref(), Some("all"));
    // Names alone can be used, and the reason stands below what cannot.
    type_instead(&mut harness, ",");
    assert_eq!(run(&harness).keep, "all");
    assert_eq!(shown(&harness).as_deref(), Some(","));
    type_instead(&mut harness, "all");

    let choose = |harness: &mut Harness<'_, Shown<SamplerView>>, word: &str| {
        let option = harness.get_by_role_and_label(Role::RadioButton, word);
        option.click_accesskit();
        harness.run_steps(3);
    };
    assert_eq!(run(&harness).zero_variance, None);
    choose(&mut harness, "Linear");
    assert_eq!(run(&harness).zero_variance, Some(Order::Linear));
    choose(&mut harness, "Plain");
    assert_eq!(run(&harness).zero_variance, None);
}
