//! Clicks and keys on the model page, and the commands they send.

mod text;

use eframe::egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::app::testing::Session;
use crate::app::{DataCommand, DraftCommand};
use crate::ui::testing::{Shown, page_harness};
use ergodic_analysis::Scale;
use ergodic_data::{ColumnKindOverride, Conversion, Role};

#[test]
fn the_formula_is_taken_with_enter_and_the_roles_follow() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.state_mut().view.formula = "churned ~ age + plan".to_owned();
    harness.run();
    harness.get_by_label("Formula").focus();
    harness.run();
    harness.get_by_label("Formula").type_text(" + region");
    harness.run();
    assert!(harness.state().sent.is_empty());
    harness.key_press(Key::Enter);
    harness.run();
    let document = harness.state().session.state.document.clone().unwrap();
    let predictors = document.roles.predictors.iter();
    let predictors: Vec<String> = predictors.map(ToString::to_string).collect();
    assert_eq!(predictors, ["age", "plan", "region"]);
    harness.get_by_label("Remove region");
    harness.get_by_label("Undo").click();
    harness.run();
    assert_eq!(
        harness.state().sent.last(),
        Some(&DraftCommand::Undo.into())
    );
    assert_ne!(
        harness.state().session.state.document.as_ref(),
        Some(&document)
    );
}

#[test]
fn a_formula_that_cannot_be_read_has_its_sentence_and_blocks_the_run() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age +".to_owned()));
    let error = session
        .state
        .document
        .as_ref()
        .and_then(|document| document.formula_error.clone())
        .unwrap();
    let harness = page_harness(session, model_ui);
    harness.get_by_label_contains(&error);
    assert!(
        harness
            .get_by_label("Choose sampler")
            .accesskit_node()
            .is_disabled()
    );
    assert!(harness.get_by_label("Run").accesskit_node().is_disabled());
}

#[test]
fn a_group_chosen_before_the_outcome_is_no_longer_among_the_columns_not_used() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Remove("churned".to_owned()));
    session.send(DraftChange::Remove("region".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    let listed = |harness: &egui_kittest::Harness<'_, _>| {
        let rows = harness.get_all_by_role(eframe::egui::Role::TreeItem);
        rows.filter_map(|row| row.accesskit_node().label())
            .any(|label| label.starts_with("region"))
    };
    assert!(listed(&harness));
    let assign = DraftChange::Assign("region".to_owned(), Role::Group);
    harness.state_mut().session.send(assign);
    harness.run();
    harness.get_by_label("Remove region");
    assert!(!listed(&harness));
}

#[test]
fn only_a_setting_that_is_not_the_default_offers_the_way_back() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("mixed".to_owned()));
    let set = |key: &str, word: &str| {
        let value = ergodic_base::settings::Value::Text(word.to_owned());
        DraftChange::ModelSetting(key.to_owned(), Some(value))
    };
    // The family of the outcome, which has two values.
    session.send(set("family", "bernoulli"));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    let resets = |harness: &egui_kittest::Harness<'_, _>| {
        harness.query_all_by_label_contains("Reset to").count()
    };
    assert_eq!(resets(&harness), 0);
    let centred = set("parametrisation", "centred");
    harness.state_mut().session.send(centred);
    harness.run();
    let way_back = harness.get_by_label("Reset to auto").rect();
    let preview = harness.get_by_label("Before seeing outcomes").rect();
    assert!(way_back.right() < preview.left(), "nothing is cut off");
}

/// No click on a link of the program's own leads from a model that fits its outcome to one that does not.
#[test]
fn the_default_family_of_a_mixed_model_is_that_of_its_outcome() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("mixed".to_owned()));
    let family = |word: &str| {
        let value = ergodic_base::settings::Value::Text(word.to_owned());
        DraftChange::ModelSetting("family".to_owned(), Some(value))
    };
    session.send(family("gaussian"));
    assert!(session.state.check.as_ref().unwrap().error.is_some());
    let mut harness = page_harness(session, model_ui);
    harness.run();
    harness.get_by_label_contains("Default Yes/no: churned has two values");
    harness.get_by_label("Reset to Yes/no").click();
    harness.run();
    let sent = harness.state().sent.last();
    assert_eq!(sent, Some(&Command::Change(family("bernoulli"))));
    let state = &harness.state().session.state;
    assert_eq!(state.check.as_ref().unwrap().error, None);
    assert!(harness.query_by_label_contains("Reset to").is_none());
}

#[test]
fn a_valid_model_leads_on_to_the_sampler() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.get_by_label_contains("The chance that churned is yes depends on");
    harness.get_by_label("Choose sampler").click();
    harness.run();
    assert_eq!(harness.state().sent, [Command::GoTo(Page::Sampler)]);
}

#[test]
fn a_column_is_removed_and_another_added() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.get_by_label("Remove age").click();
    harness.run();
    harness.get_by_label("Add to Predictors").click();
    harness.run();
    harness
        .get_all_by_label("age")
        .find(|node| node.accesskit_node().role() == eframe::egui::accesskit::Role::MenuItem)
        .unwrap()
        .click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [
            Command::Change(DraftChange::Remove("age".to_owned())),
            Command::Change(DraftChange::Assign("age".to_owned(), Role::Predictor))
        ]
    );
}

#[test]
fn a_refused_role_says_why_and_offers_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::with_file(
        &folder,
        "s.csv",
        "y,x,word\n0,1,7\n1,2,b\n0,3,b\n1,4,a\n0,5,c\n1,6,c\n",
    );
    session.send(DataCommand::AcceptImport);
    let mut harness = page_harness(session, model_ui);
    harness.get_by_label("Add to Weights").click();
    harness.run();
    harness.get_by_label_contains("Column word holds text, but weights must be numbers");
    harness.get_by_label("Read word as numbers").click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [DraftCommand::Convert(
            "word".to_owned(),
            Conversion::Import(ColumnKindOverride::Number),
            Role::Weight
        )
        .into()]
    );
}

#[test]
fn success_and_reference_levels_are_chosen_from_their_chips() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.get_by_label_contains("Success: yes").click();
    harness.run();
    harness.get_by_label("no").click();
    harness.run();
    let chip = "Reference level of plan: against basic";
    harness.get_by_label(chip).scroll_to_me();
    harness.run();
    harness.get_by_label(chip).click();
    harness.run();
    harness.run();
    harness.get_by_label("pro").click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [
            Command::Change(DraftChange::Success("no".to_owned())),
            Command::Change(DraftChange::Reference("plan".to_owned(), "pro".to_owned()))
        ]
    );
    harness.get_by_label_contains("The chance that churned is no");
}

#[test]
fn an_outcome_that_the_template_cannot_explain_brings_one_that_can() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    for (column, template, words) in [
        (
            "monthly_fee",
            "linear",
            "The mean of monthly_fee depends on",
        ),
        ("churned", "logistic", "The chance that churned is"),
        (
            "support_calls",
            "poisson",
            "The expected count support_calls depends on",
        ),
    ] {
        let session = &mut harness.state_mut().session;
        session.send(DraftChange::Assign(column.to_owned(), Role::Response));
        let document = session.state.document.clone().unwrap();
        assert_eq!(document.recipe.model.template, template);
        let check = session.state.check.clone().unwrap();
        assert_eq!(check.error, None);
        assert!(check.prior_curves.iter().all(|curve| curve.len() > 100));
        harness.run();
        harness.get_by_label_contains(words);
    }
}

/// A variance between groups has a density that vanishes at 0 and has its peak far from there.
#[test]
fn priors_of_variances_have_curves() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age".to_owned()));
    session.send(DraftChange::Template("hierarchical".to_owned()));
    session.send(DraftChange::Assign("region".to_owned(), Role::Group));
    let check = session.state.check.clone().unwrap();
    assert_eq!(check.error, None);
    for name in ["Sigma[Intercept,Intercept]", "Sigma[age,age]"] {
        let index = check
            .params
            .iter()
            .position(|param| param.name == name)
            .unwrap();
        let curve = &check.prior_curves[index];
        let peak = curve.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!(curve.len() > 50 && peak > 0.0, "{name}");
        assert!(
            curve[0].1 < 0.5 * peak && curve[curve.len() - 1].1 < 0.5 * peak,
            "{name}"
        );
    }
}

#[test]
fn the_template_is_chosen_and_any_column_can_be_the_categories() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness
        .get_by_label("Template: Logistic regression")
        .click();
    harness.run();
    harness.get_by_label("Probabilities of categories").click();
    harness.run();
    let categorical = DraftChange::Template("categorical".to_owned());
    assert_eq!(harness.state().sent, [categorical.into()]);
    let session = &mut harness.state_mut().session;
    let formula = |session: &Session| {
        let document = session.state.document.clone().unwrap();
        document.recipe.model.formula
    };
    assert_eq!(formula(session), "churned ~ 1");
    session.send(DraftChange::Assign("plan".to_owned(), Role::Response));
    session.send(DraftChange::Levels(vec!["trial".to_owned()]));
    assert_eq!(formula(session), "plan ~ 1");
    let check = session.state.check.clone().unwrap();
    assert_eq!(check.error, None);
    let names: Vec<&str> = check.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["p[basic]", "p[plus]", "p[pro]", "p[trial]"]);
    assert!(check.prior_curves.iter().all(|curve| {
        curve.len() > 100
            && curve
                .iter()
                .all(|(x, y)| *x > 0.0 && *x < 1.0 && y.is_finite())
    }));
    assert!(check.unsuitable.iter().any(|it| it.sampler == "sgld"));
    harness.run();
    harness.get_by_label_contains("Each value of plan has its own probability");
    harness.get_by_label("Prior of All probabilities: default");
    harness.get_by_label_contains("Unseen categories: 1 category named");
    harness.state_mut().session.send(DraftCommand::Undo);
    harness.state_mut().session.send(DraftCommand::Undo);
    harness.state_mut().session.send(DraftCommand::Undo);
    assert!(formula(&harness.state().session).contains("age"));
}

#[test]
fn numbers_can_be_treated_as_categories() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness
        .get_by_label("Treat support_calls as categories")
        .click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [Command::Change(DraftChange::Categorical(
            "support_calls".to_owned(),
            true
        ))]
    );
}

#[test]
fn a_prior_is_typed_refused_put_right_and_reset() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.get_by_label("Prior of Intercept: default").click();
    harness.run();
    harness
        .get_by_label("Prior of Intercept")
        .type_text("normal(0)");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.state().sent.is_empty());
    harness.get_by_label_contains("normal(mean, sd)");
    harness.state_mut().view.priors = Default::default();
    harness.run();
    harness.get_by_label("Prior of Intercept: default").click();
    harness.run();
    harness
        .get_by_label("Prior of Intercept")
        .type_text("normal(0, 1.5)");
    harness.run();
    // What it expects is shown while it is typed.
    harness.get_by_label_contains("If the prior of intercept were normal(0, 1.5)");
    harness.key_press(Key::Enter);
    harness.run();
    harness.get_by_label("Prior of Intercept: normal(0, 1.5)");
    assert!(harness.query_by_label_contains("If the prior of").is_none());
    harness.get_by_label("Default prior of Intercept").click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [
            DraftCommand::PreviewPrior(Some(("intercept".to_owned(), "normal(0, 1.5)".to_owned())))
                .into(),
            Command::Change(DraftChange::Prior(
                "intercept".to_owned(),
                Some("normal(0, 1.5)".to_owned())
            )),
            Command::Change(DraftChange::Prior("intercept".to_owned(), None))
        ]
    );
}

/// A picture and a sentence for each kind of response, and a reason where there is none.
#[test]
fn what_the_priors_expect_is_shown_in_outcomes() {
    let shown = |session: Session, words: &[&str]| {
        let harness = page_harness(session, model_ui);
        harness.get_by_label("Before seeing outcomes");
        for words in words {
            assert!(
                harness.query_all_by_label_contains(words).next().is_some(),
                "{words}"
            );
        }
    };
    let churn = [
        "Plausible",
        "With all predictors but one at their average, the prior expects between",
        "What the prior expects: Share of rows where churned = yes",
        "What the prior expects: Chance of a single row",
        "Outcomes of 200 rows, each with average predictors but one, from 400 draws",
    ];
    shown(Session::with_draft("churn"), &churn);
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..30).map(|i| format!("{},{},{}\n", i % 7, 20, i % 5));
    let text = rows.fold("cases,tests,x\n".to_owned(), |text, row| text + &row);
    let mut trials = Session::with_file(&folder, "tests.csv", &text);
    trials.send(DataCommand::AcceptImport);
    trials.send(DraftChange::Template("logistic".to_owned()));
    trials.send(DraftChange::Formula("cases | trials(tests) ~ x".to_owned()));
    let words = [
        "of trials to be successes",
        "What the prior expects: Share of trials that are successes (cases)",
        "What the prior expects: Chance of a trial in a single row",
    ];
    shown(trials, &words);
    let mut numbers = Session::with_draft("churn");
    numbers.send(DraftChange::Template("linear".to_owned()));
    numbers.send(DraftChange::Formula("age ~ tenure_months".to_owned()));
    shown(
        numbers,
        &[
            "Plausible",
            "The prior expects half of the values of age",
            "What the prior expects: age",
        ],
    );
    let mut categories = Session::with_draft("churn");
    categories.send(DraftChange::Template("categorical".to_owned()));
    categories.send(DraftChange::Formula("plan ~ 1".to_owned()));
    shown(categories, &["the commonest in the data", "typically"]);
    let mut flat = Session::with_draft("churn");
    flat.send(DraftChange::Prior("b".to_owned(), Some("flat".to_owned())));
    shown(flat, &["a flat prior cannot be drawn from"]);
}

#[test]
fn the_papers_priors_are_one_click_away_and_judged() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.get_by_label("Default priors");
    harness.get_by_label("Papers' priors").click();
    harness.run();
    let sent = harness.state().sent.clone();
    let papers = Command::from(DraftChange::Prior(
        "default".to_owned(),
        Some("papers".to_owned()),
    ));
    assert_eq!(sent, std::slice::from_ref(&papers));
    let mut session = Session::with_draft("churn");
    let because = |session: &Session| {
        let params = &session.state.check.as_ref().unwrap().params;
        (
            params[1].prior.to_string(),
            params[1].prior_source.to_string(),
        )
    };
    assert_eq!(because(&session).0, "normal(0, 2.5)");
    session.send(papers);
    assert_eq!(
        because(&session),
        (
            "normal(0, 10)".to_owned(),
            "the papers' default, per standard deviation".to_owned()
        )
    );
    let harness = page_harness(session, model_ui);
    harness.get_by_label("Very wide");
}

#[test]
fn scales_are_switched() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness
        .get_by_label("Priors per standard deviation")
        .click();
    harness.run();
    harness.get_by_label("per sd").click();
    harness.run();
    assert_eq!(
        harness.state().sent,
        [
            Command::Change(DraftChange::Standardize(false)),
            Command::Change(DraftChange::Scale(Scale::Standardised))
        ]
    );
}

#[test]
fn the_word_beside_the_scale_stays_clear_of_the_chip() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    let mut is_shown = false;
    for width in [1280.0, 1080.0, 1040.0, 1000.0, 960.0, 920.0, 880.0] {
        harness.set_size(vec2(width, 600.0));
        harness.run_steps(3);
        let chip = harness.get_by_label("Priors per standard deviation").rect();
        if let Some(word) = harness.query_by_label("report") {
            is_shown = true;
            assert!(word.rect().left() >= chip.right(), "{width}");
        }
    }
    assert!(is_shown);
}

#[test]
fn without_a_draft_the_page_points_to_the_data() {
    let mut harness = page_harness(Session::with_sample("churn"), model_ui);
    harness.get_by_label("Go to the data").click();
    harness.run();
    assert_eq!(harness.state().sent, [Command::GoTo(Page::Data)]);
}

#[test]
fn the_model_is_written_down_for_other_programs() {
    let mut harness = page_harness(Session::with_draft("churn"), model_ui);
    harness.run_steps(3);
    harness.get_by_label("Translations of this model");
    for (notation, words) in [
        ("Equation", "~ bernoulli(p[i])"),
        ("Stan", "bernoulli_logit"),
        ("brms", "family = bernoulli()"),
        ("R formula", "churned ~"),
        ("Words", "log odds that"),
    ] {
        harness.get_by_label(notation).click_accesskit();
        harness.run_steps(3);
        assert!(
            harness.query_all_by_label_contains(words).next().is_some(),
            "{notation}: {words}"
        );
    }
    harness.get_by_label("Copy");
}

#[test]
fn remarks_and_refusals_have_buttons_that_act() {
    let folder = tempfile::tempdir().unwrap();
    let text = "y,x,twice,n\n1,1,2,3\n4,3,6,0\n2,2,4,-1\n7,6,12,2\n5,5,10,4\n";
    let mut session = Session::with_file(&folder, "t.csv", text);
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Template("linear".to_owned()));
    session.send(DraftChange::Formula("y ~ x + twice".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run_steps(3);
    harness.get_by_label("Leave twice out").click_accesskit();
    harness.run_steps(3);
    let formula = DraftChange::Formula("y ~ x".to_owned());
    assert_eq!(harness.state().sent, [formula.into()]);
    for command in [
        DraftChange::Template("poisson".to_owned()),
        DraftChange::Formula("n ~ x".to_owned()),
    ] {
        harness.state_mut().session.send(command);
    }
    harness.run_steps(3);
    harness
        .get_by_label("Use Linear regression")
        .click_accesskit();
    harness.run_steps(3);
    let document = harness.state().session.state.document.clone().unwrap();
    assert_eq!(document.recipe.model.template, "linear");
    let check = harness.state().session.state.check.clone().unwrap();
    assert_eq!(check.error, None);
}

#[test]
fn a_level_is_explained_against_its_reference() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age + plan".to_owned()));
    let check = session.state.check.as_ref().unwrap();
    let meaning = |name: &str| {
        let param = check.params.iter().find(|param| param.name == name);
        param.unwrap().meaning.clone()
    };
    assert_eq!(
        meaning("b[age]"),
        "change in log odds of churned per unit of age"
    );
    assert_eq!(
        meaning("b[plan=plus]"),
        "change in log odds of churned for plan plus instead of basic"
    );
}

/// What only varies by groups is part of the model: it is not listed as unused, and a template in which all varies keeps it.
#[test]
fn effects_of_groups_survive_a_change_of_template() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula(
        "churned ~ (1 + age + plan | region)".to_owned(),
    ));
    let document = session.state.document.clone().unwrap();
    let table = &session.state.data.as_ref().unwrap().loaded.table;
    let unused = document.roles.ignored(table);
    assert!(
        !unused.contains(&"age") && !unused.contains(&"plan"),
        "{unused:?}"
    );
    session.send(DraftChange::Template("hierarchical".to_owned()));
    let document = session.state.document.clone().unwrap();
    assert_eq!(
        document.recipe.model.formula,
        "churned ~ age + plan + (1 + age + plan | region)"
    );
    assert_eq!(session.state.check.clone().unwrap().error, None);
    // A predictor that is removed does not come back.
    session.send(DraftChange::Remove("age".to_owned()));
    assert_eq!(
        session.state.document.unwrap().recipe.model.formula,
        "churned ~ plan + (1 + plan | region)"
    );
}

/// What has no prior of its own offers no editor, and an empty field is no error.
#[test]
fn only_priors_that_can_be_set_can_be_edited() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("linear".to_owned()));
    session.send(DraftChange::Formula("age ~ tenure_months".to_owned()));
    let mut harness = page_harness(session, model_ui);
    harness.run();
    harness
        .get_by_label("Prior of Residual standard deviation: default")
        .click();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Write a prior").is_none());
    let mut mixture = Session::with_draft("churn");
    mixture.send(DraftChange::Template("dp-mixture".to_owned()));
    mixture.send(DraftChange::Formula("~ age + tenure_months".to_owned()));
    let mut harness = page_harness(mixture, model_ui);
    harness.run();
    harness.get_by_label("Prior of alpha: gamma(2, 4)");
    assert!(
        harness
            .query_by_label_contains("Prior of entropy")
            .is_none()
    );
}

fn type_text(harness: &mut Harness<'_, Shown<ModelView>>, text: &str) {
    text.clone_into(&mut harness.state_mut().view.program.text);
    harness.run();
}

#[test]
fn a_model_as_text_is_typed_with_its_errors_and_then_drafted() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Template("own".to_owned()));
    // What it begins with is a model of the outcome.
    let check = session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    let mut harness = page_harness(session, model_ui);
    harness.run();
    let begun = &harness.state().view.program.text;
    assert!(
        begun.contains("(churned == \"yes\") ~ bernoulli_logit(a)"),
        "{begun}"
    );
    harness.get_by_label("Named by the text");
    assert!(harness.query_by_label("Add to Predictors").is_none());
    type_text(
        &mut harness,
        "parameters\n  a ~ normal(0, 10)\nrows\n  agee ~ normal(a, 1)\n",
    );
    harness.get_by_label_contains("did you mean age?");
    // The table says what a pattern may choose.
    let vector = |columns: &str| {
        format!(
            "data\n  x: vector = {columns}\nparameters\n  w: vector(length(x)) ~ normal(0, 1)\nrows\n  age ~ normal(dot(w, x), 1)\n"
        )
    };
    type_text(&mut harness, &vector("q*"));
    harness.get_by_label_contains("no column whose name is like");
    type_text(&mut harness, &vector("[tenure_*, region]"));
    harness.get_by_label_contains("the columns of a vector are numbers");
    type_text(&mut harness, &vector("[tenure_*, support_calls]"));
    for fault in [
        "no column whose name is like",
        "the columns of a vector are numbers",
    ] {
        assert!(harness.query_by_label_contains(fault).is_none());
    }
    type_text(
        &mut harness,
        "parameters\n  a ~ normal(0, 10)\nrows\n  age ~ normal(a, 1)\n",
    );
    assert!(harness.query_by_label_contains("did you mean").is_none());
    // The draft takes it when the editor is left.
    harness.get_by_label("Text of the model").focus();
    harness.run();
    harness.key_press(Key::Escape);
    harness.run();
    harness.get_by_label("Undo").focus();
    harness.run();
    let document = harness.state().session.state.document.clone().unwrap();
    let text = document.recipe.model.settings.text("program");
    assert!(
        text.is_some_and(|text| text.contains("age ~ normal(a, 1)")),
        "{text:?}"
    );
    assert_eq!(document.recipe.model.formula, "~ age");
    assert_eq!(document.formula_error, None);
}

#[test]
fn no_level_of_an_order_is_a_success() {
    let folder = tempfile::tempdir().unwrap();
    let levels = ["poor", "fair", "good"];
    let rows = (0..60).map(|i| format!("{},{}\n", levels[i % 3], i % 7));
    let text = rows.fold("rating,x\n".to_owned(), |text, row| text + &row);
    for template in ["ordered", "multinomial"] {
        let mut session = Session::with_file(&folder, "ratings.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Formula("rating ~ x".to_owned()));
        session.send(DraftChange::Template(template.to_owned()));
        let check = session.state.check.as_ref().unwrap();
        assert_eq!(check.response_levels.len(), 3, "{:?}", check.error);
        let mut harness = page_harness(session, model_ui);
        harness.run();
        harness.get_by_label_contains("good: 20");
        assert!(harness.query_by_label_contains("(success)").is_none());
    }
}
