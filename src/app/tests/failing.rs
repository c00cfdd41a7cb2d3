//! Data and settings that make fits fail: each makes the right warning fire, and the click beside it helps. Good data raise none.

use crate::app::command::Command;
use crate::app::draft_change::DraftChange;
use crate::app::fixes::quick_fix;
use crate::app::opening::DataCommand;
use crate::app::page::Page;
use crate::app::running::RunCommand;
use crate::app::testing::Session;
use ergodic_base::Severity;
use ergodic_base::settings::Value;
use ergodic_diagnostics::Verdict;

/// A draft of `text` under a template with settings.
fn draft(text: &str, template: &str, settings: &[(&str, Value)], formula: &str) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::with_file(&folder, "t.csv", text);
    assert!(session.state.data.is_some(), "{:?}", session.state.problem);
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Template(template.to_owned()));
    for (key, value) in settings {
        session.send(DraftChange::ModelSetting(
            (*key).to_owned(),
            Some(value.clone()),
        ));
    }
    session.send(DraftChange::Formula(formula.to_owned()));
    session
}

fn run(session: &mut Session) {
    let check = session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    session.send(RunCommand::Start);
    session.wait_for_runs();
}

/// Verdict, and the codes of all warnings, of the run on screen.
fn outcome(session: &Session) -> (Verdict, Vec<String>) {
    let report = session.state.selected().unwrap().report().unwrap();
    let codes = report.warnings.iter().map(|it| it.code.clone());
    (report.verdict, codes.collect())
}

/// Clicks on what stands beside the warning `code` of the run on screen, and waits for what comes of it.
#[track_caller]
fn click(session: &mut Session, code: &str, label: &str) {
    let entry = session.state.selected().unwrap();
    let report = entry.report().unwrap();
    let warning = report.warnings.iter().find(|it| it.code == code);
    let warning = warning.unwrap_or_else(|| panic!("no {code}: {:?}", outcome(session)));
    let fix = quick_fix(entry, warning).unwrap_or_else(|| panic!("no click beside {code}"));
    assert_eq!(fix.label, label);
    for command in fix.commands {
        session.send(command);
    }
    session.wait_for_runs();
}

/// Clicks on the first thing that stands beside the remark `code` on the draft.
#[track_caller]
fn click_draft(session: &mut Session, code: &str, label: &str) {
    let check = session.state.check.clone().unwrap();
    let at = check.warnings.iter().position(|it| it.code == code);
    let at = at.unwrap_or_else(|| panic!("no {code}: {:?}", check.warnings));
    let fix = check.quick_fixes[at].first().unwrap();
    assert_eq!(fix.label, label);
    for command in fix.commands.clone() {
        session.send(command);
    }
}

fn codes_of_draft(session: &Session) -> Vec<String> {
    let check = session.state.check.as_ref().unwrap();
    check.warnings.iter().map(|it| it.code.clone()).collect()
}

/// Numbers between −1 and 1 without a pattern that a model could find.
fn noise(i: u32) -> f64 {
    f64::from((i * 7919 + 13) % 101) / 50.0 - 1.0
}

/// Which of two clusters is the first is nowhere in the data.
#[test]
fn two_modes_are_never_good_and_shown() {
    let mut text = "x\n".to_owned();
    for i in 0..60 {
        let centre = if i % 2 == 0 { -4.0 } else { 4.0 };
        text.push_str(&format!("{}\n", centre + noise(i)));
    }
    let mut session = draft(&text, "gaussian-mixture", &[], "~ x");
    run(&mut session);
    let (verdict, codes) = outcome(&session);
    assert_eq!(verdict, Verdict::Bad, "{codes:?}");
    let report = session.state.selected().unwrap().report().unwrap();
    let mut warnings = report.warnings.iter();
    let parted = warnings.find(|it| it.code == "chains-in-different-modes");
    let variable = parted.unwrap().subject.clone().unwrap();
    let label = format!("Select `{variable}`, whose trace shows the modes");
    click(&mut session, "chains-in-different-modes", &label);
    let entry = session.state.selected().unwrap();
    let selected = &entry.variables()[session.state.selected_variable];
    assert_eq!(*selected, *variable);
}

/// Standard deviations of few small groups, sampled with the effects themselves.
#[test]
fn a_funnel_diverges_and_other_coordinates_mend_it() {
    let mut text = "y,g\n".to_owned();
    for i in 0..24 {
        text.push_str(&format!("{:.3},g{}\n", noise(i), i % 8));
    }
    let centred = [("parametrisation", Value::Text("centred".to_owned()))];
    let mut session = draft(&text, "mixed", &centred, "y ~ 1 + (1 | g)");
    session.send(DraftChange::Sampler("nuts".to_owned()));
    run(&mut session);
    let (verdict, codes) = outcome(&session);
    assert_ne!(verdict, Verdict::Good, "{codes:?}");
    let divergences = |session: &Session| {
        session
            .state
            .selected()
            .unwrap()
            .report()
            .unwrap()
            .divergences
    };
    let before = divergences(&session);
    click(
        &mut session,
        "divergences",
        "Run again with effects in units of their spread",
    );
    assert!(divergences(&session) < before / 4, "{before}");
    if outcome(&session).0 != Verdict::Good {
        let label = "Run again with target acceptance 0.95";
        click(&mut session, "divergences", label);
    }
    let (verdict, codes) = outcome(&session);
    let after = divergences(&session);
    assert_eq!((verdict, after), (Verdict::Good, 0), "{codes:?}");
}

/// A predictor that tells the outcome without fail.
#[test]
fn separation_is_told_and_a_narrower_prior_bounds_it() {
    let mut text = "ill,x,z\n".to_owned();
    for i in 0..60 {
        let x = noise(i);
        text.push_str(&format!("{},{x},{}\n", u32::from(x > 0.1), noise(i + 500)));
    }
    let mut session = draft(&text, "logistic", &[], "ill ~ x + z");
    let spread = |session: &mut Session| {
        run(session);
        let report = session.state.selected().unwrap().report().unwrap();
        let row = report.summary.iter().find(|row| row.variable == "b[x]");
        row.unwrap().sd.unwrap()
    };
    let wide = spread(&mut session);
    session.send(Command::GoTo(Page::Model));
    click_draft(
        &mut session,
        "separation",
        "Use the prior normal(0, 1) for coefficients",
    );
    let narrow = spread(&mut session);
    assert!(narrow < 0.7 * wide, "{narrow} {wide}");
    assert_eq!(outcome(&session).0, Verdict::Good);
}

/// One number with a slip of its decimal point.
#[test]
fn a_lost_outlier_is_told_and_heavy_tails_take_its_weight() {
    let table = |rows: &mut dyn Iterator<Item = u32>| {
        let mut text = "y,x\n".to_owned();
        for i in rows {
            let (x, e) = (noise(i), noise(i + 321));
            let y = if i == 40 { 95.0 } else { 2.0 + x + 0.5 * e };
            text.push_str(&format!("{y:.3},{x:.3}\n"));
        }
        text
    };
    let of_table =
        |rows: &mut dyn Iterator<Item = u32>| draft(&table(rows), "linear", &[], "y ~ x");
    let slope = |session: &mut Session| {
        run(session);
        let report = session.state.selected().unwrap().report().unwrap();
        let row = report.summary.iter().find(|row| row.variable == "b[x]");
        let row = row.unwrap();
        (row.mean.unwrap(), row.sd.unwrap())
    };
    let (without, _) = slope(&mut of_table(&mut (0..80).filter(|&i| i != 40)));
    let mut session = of_table(&mut (0..80));
    let (_, wide) = slope(&mut session);
    session.send(Command::GoTo(Page::Model));
    click_draft(&mut session, "outliers", "Use robust regression");
    let (with, narrow) = slope(&mut session);
    assert!(narrow < 0.1 * wide, "{narrow} {wide}");
    assert!((with - without).abs() < narrow, "{with} {without} {narrow}");
    assert!(!codes_of_draft(&session).contains(&"outliers".to_owned()));
    assert_eq!(outcome(&session).0, Verdict::Good);
}

/// Steps so long that the draws of a stochastic-gradient sampler are far too wide: without noise of gradients
/// the variance of a normal posterior is too large by 1/(1 - h/2), here 2.5 times.
#[test]
fn too_long_a_step_is_found_by_the_check_and_halving_it_helps() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age".to_owned()));
    session.send(DraftChange::Sampler("sgld-cv".to_owned()));
    for (key, value) in [("step_size", Value::Real(1.2)), ("batch", Value::Int(1000))] {
        session.send(DraftChange::Setting(key.to_owned(), Some(value)));
    }
    run(&mut session);
    let id = session.state.selected_run.unwrap();
    session.send(RunCommand::CheckBias(id));
    session.wait_for_runs();
    let (verdict, codes) = outcome(&session);
    assert_eq!(verdict, Verdict::NotCertified, "{codes:?}");
    let spread = |session: &Session| {
        let report = session.state.selected().unwrap().report().unwrap();
        let row = report.summary.iter().find(|row| row.variable == "b[age]");
        row.unwrap().sd.unwrap()
    };
    let wide = spread(&session);
    click(&mut session, "biased", "Run again with half the step");
    let narrower = spread(&session);
    // 1/(1 - 0.6) against 1/(1 - 0.3), of which the roots.
    assert!((wide / narrower - 1.32).abs() < 0.1, "{wide} {narrower}");
}

/// Bundled data under the model that goes with them.
#[test]
fn good_data_raise_nothing() {
    for sample in ["churn", "schools", "reaction", "clusters", "fish"] {
        let mut session = Session::with_draft(sample);
        run(&mut session);
        let (verdict, codes) = outcome(&session);
        assert_eq!(verdict, Verdict::Good, "{sample}: {codes:?}");
        let report = session.state.selected().unwrap().report().unwrap();
        let loud = report
            .warnings
            .iter()
            .filter(|it| it.severity != Severity::Info);
        let loud: Vec<&str> = loud.map(|it| it.message.as_str()).collect();
        assert!(loud.is_empty(), "{sample}: {loud:?}");
    }
}
