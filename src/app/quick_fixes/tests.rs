//! Buttons: what they say, and that they make remarks and refusals go away.

use super::*;
use crate::app::DataCommand;
use crate::app::testing::Session;

/// A draft of `text` under a template with a setting.
fn draft(text: &str, template: &str, setting: Option<(&str, &str)>, formula: &str) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::with_file(&folder, "t.csv", text);
    assert!(session.state.data.is_some(), "{:?}", session.state.problem);
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Template(template.to_owned()));
    if let Some((key, value)) = setting {
        let value = Some(Value::Text(value.to_owned()));
        session.send(DraftChange::ModelSetting(key.to_owned(), value));
    }
    session.send(DraftChange::Formula(formula.to_owned()));
    session
}

fn formula_of(session: &Session) -> String {
    let document = session.state.document.as_ref().unwrap();
    format!(
        "{}: {}",
        document.recipe.model.template, document.recipe.model.formula
    )
}

/// The remark `code` is there with these buttons; the first of them makes it go away and leads to `after`.
fn helps(session: &mut Session, code: &str, labels: &[&str], after: &str) {
    let check = session.state.check.clone().unwrap();
    assert_eq!(check.error, None);
    let codes: Vec<&str> = check.warnings.iter().map(|it| it.code.as_str()).collect();
    let at = codes.iter().position(|it| *it == code);
    let fixes = &check.quick_fixes[at.unwrap_or_else(|| panic!("{code} is not in {codes:?}"))];
    let found: Vec<&str> = fixes.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(found, labels, "{code}");
    for command in fixes[0].commands.clone() {
        session.send(command);
    }
    let check = session.state.check.clone().unwrap();
    assert_eq!(check.error, None, "{code}");
    assert!(
        check.warnings.iter().all(|it| it.code != code),
        "{code} is still there"
    );
    assert_eq!(formula_of(session), after);
}

/// The draft is refused with these words and buttons; each leads to a model that can run, the first to `after`.
fn helps_out(session: &mut Session, words: &str, labels: &[&str], after: &str) {
    let check = session.state.check.clone().unwrap();
    let error = check.error.clone().unwrap_or_default();
    assert!(error.contains(words), "`{words}` is not in `{error}`");
    let found: Vec<&str> = check.ways_out.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(found, labels, "{error}");
    let refused = session.state.document.clone();
    for way in check.ways_out.iter().rev() {
        session.state.document.clone_from(&refused);
        for command in way.commands.clone() {
            session.send(command);
        }
        let error = session.state.check.clone().unwrap().error.clone();
        assert_eq!(error, None, "{}", way.label);
    }
    assert_eq!(formula_of(session), after);
}

/// 40 rows: y, x, z, groups g of 4, one, size (the same in a group), level (y the same in a group), many.
fn table() -> String {
    let mut text = String::from("y,ill,x,z,g,one,size,flat,pair,id,calls,twice\n");
    for i in 0..40_u32 {
        // Numbers without a pattern that a model could find.
        let a = f64::from((i * 7919 + 13) % 101) / 10.0;
        let b = f64::from((i * 104_729 + 5) % 97) / 10.0;
        let g = i % 8;
        let calls = if i % 9 == 0 { 60 } else { i % 3 };
        text.push_str(&format!(
            "{:.1},{},{b:.1},{a:.1},g{g},all,{},{},p{},id{i},{calls},{:.1}\n",
            a + f64::from(g),
            if (i * 31) % 7 > 3 { "yes" } else { "no" },
            g * g,
            10 * g,
            i / 2,
            2.0 * b
        ));
    }
    text
}

#[test]
fn remarks_on_groups_have_buttons_that_act() {
    let text = table();
    let mixed = |formula: &str| draft(&text, "mixed", None, formula);
    helps(
        &mut mixed("y ~ x + (1 | one)"),
        "few-groups",
        &["Leave the groups of one out"],
        "mixed: y ~ x",
    );
    helps(
        &mut mixed("y ~ x + (1 + size | g)"),
        "constant-in-groups",
        &["Make the effect of size the same in all groups"],
        "mixed: y ~ x + (1 | g)",
    );
    helps(
        &mut mixed("flat ~ x + (1 | g)"),
        "constant-response-in-groups",
        &["Leave the groups of g out"],
        "mixed: flat ~ x",
    );
    helps(
        &mut mixed("y ~ x + (1 + x | pair)"),
        "more-effects-than-rows",
        &["Let only the intercept vary by pair"],
        "mixed: y ~ x + (1 | pair)",
    );
    helps(
        &mut mixed("y ~ x + (1 | id)"),
        "one-row-groups",
        &["Leave the groups of id out"],
        "mixed: y ~ x",
    );
    // A template that needs a group gives way to one that does not.
    helps(
        &mut draft(&text, "hierarchical", None, "ill ~ x + (1 + x | one)"),
        "few-groups",
        &["Leave the groups of one out"],
        "logistic: ill ~ x",
    );
    helps(
        &mut draft(&text, "hierarchical", None, "ill ~ size + (1 + size | g)"),
        "constant-in-groups",
        &["Make the effect of size the same in all groups"],
        "mixed: ill ~ size + (1 | g)",
    );
}

#[test]
fn remarks_on_columns_and_counts_have_buttons_that_act() {
    let text = table();
    helps(
        &mut draft(&text, "linear", None, "y ~ x + z + twice"),
        "collinear",
        &["Leave twice out"],
        "linear: y ~ x + z",
    );
    helps(
        &mut draft(&text, "poisson", None, "calls ~ x"),
        "overdispersion",
        &["Use negative binomial counts"],
        "negative-binomial: calls ~ x",
    );
    let mut far = String::from("y,x,d\n");
    let mut bent = String::from("y,x,d\n");
    for i in 0..60_i32 {
        let (x, noise) = (i % 10, (i * 7919) % 11 - 5);
        far.push_str(&format!(
            "{},{x},3\n",
            if i == 7 { 900 } else { 2 * x + noise }
        ));
        bent.push_str(&format!("{},{x},3\n", (x - 5) * (x - 5) + noise));
    }
    helps(
        &mut draft(&far, "linear", None, "y ~ x"),
        "outliers",
        &["Use robust regression"],
        "student: y ~ x",
    );
    helps(
        &mut draft(&bent, "linear", None, "y ~ x"),
        "bend",
        &["Add the square of x"],
        "linear: y ~ x + I(x^2)",
    );
    helps(
        &mut draft(&far, "student", None, "y ~ x + d"),
        "constant-column",
        &["Leave d out"],
        "student: y ~ x",
    );
    let mut session = draft(
        "y,a,b,c\n1,1,5,2\n0,2,3,7\n1,4,4,1\n",
        "logistic",
        None,
        "y ~ a + b + c",
    );
    let check = session.state.check.clone().unwrap();
    let fix = check.quick_fixes[0][0].clone();
    assert_eq!(fix.label, "Use the prior normal(0, 1) for coefficients");
    session.send(fix.commands[0].clone());
    let document = session.state.document.unwrap();
    assert_eq!(document.recipe.priors["b"], "normal(0, 1)");
}

#[test]
fn refusals_have_buttons_that_lead_to_a_model() {
    let text = table();
    helps_out(
        &mut draft("n,x\n3,1\n-2,4\n0,2\n5,7\n", "poisson", None, "n ~ x"),
        "it is -2 in line 3",
        &["Use Linear regression"],
        "linear: n ~ x",
    );
    helps_out(
        &mut draft(
            "died,years,x\n1,2.5,1\n0,4,4\n2,3.1,2\n1,6,7\n",
            "logistic",
            None,
            "died | trials(years) ~ x",
        ),
        "The number of trials `years` must be whole and at least 1, but it is 2.5 in line 2",
        &["Use Poisson regression of died with years as exposure"],
        "poisson: died ~ x + offset(log(years))",
    );
    helps_out(
        &mut draft(&text, "linear", None, "y ~ x + (1 | g)"),
        "no effects that vary by group",
        &["Use Mixed model", "Leave the groups out"],
        "mixed: y ~ x + (1 | g)",
    );
    // A family is called as the page calls it.
    let two = "y,x,g\nno,1,a\nyes,2,a\nyes,4,b\nno,3,b\nyes,5,c\nno,6,c\n";
    helps_out(
        &mut draft(two, "mixed", Some(("family", "poisson")), "y ~ x + (1 | g)"),
        "The outcome `y` has 2 different values",
        &["Use the family Yes/no"],
        "mixed: y ~ x + (1 | g)",
    );
    helps_out(
        &mut draft(&text, "dp-mixture", None, "~ x + one"),
        "has the single value `all`",
        &["Leave one out"],
        "dp-mixture: ~ x",
    );
}

/// 2,600 rows: 40 frequent values and `rare` that occur once, or in `rare` below as many rows as there are.
fn agents(rare: u32) -> String {
    let mut text = String::from("y,agent\n");
    for i in 0..2600_u32 {
        let agent = match i % 2 {
            1 if i / 2 < rare => format!("u{i}"),
            _ => format!("a{}", (i / 2) % 40),
        };
        text.push_str(&format!("{},{agent}\n", (i * 7919) % 101));
    }
    text
}

#[test]
fn rare_values_of_a_predictor_can_be_merged_and_told_apart_again() {
    // Too many for a predictor.
    let mut session = draft(&agents(1300), "linear", None, "y ~ agent");
    let check = session.state.check.clone().unwrap();
    let labels: Vec<&str> = check.ways_out.iter().map(|it| it.label.as_str()).collect();
    let [group, keep, leave] = [
        "Use agent as a group",
        "Keep the 20 most frequent values of agent",
        "Leave agent out",
    ];
    assert_eq!(labels, [group, keep, leave]);
    session.send(check.ways_out[1].commands[0].clone());
    let check = session.state.check.clone().unwrap();
    assert_eq!(check.error, None);
    let merged = check
        .warnings
        .iter()
        .position(|it| it.code == "merged-levels");
    let merged = merged.unwrap();
    assert_eq!(
        check.warnings[merged].message,
        "Of `agent` the 20 most frequent values are kept, and 1320 others, 74.6 % of rows, are one value `other`"
    );
    // All values would be too many.
    assert!(check.quick_fixes[merged].is_empty());
    assert_eq!(check.params.len(), 22);
    assert_eq!(check.params[20].name, "b[agent=other]");
    session.send(DraftChange::TopLevels("agent".to_owned(), None));
    assert!(session.state.check.clone().unwrap().error.is_some());

    // Not too many, but too many of few rows.
    let mut session = draft(&agents(300), "linear", None, "y ~ agent");
    helps(
        &mut session,
        "rare-levels",
        &[keep, group],
        "linear: y ~ agent",
    );
    helps(
        &mut session,
        "merged-levels",
        &["Use all values of agent"],
        "linear: y ~ agent",
    );
    let check = session.state.check.unwrap();
    let mut warnings = check.warnings.iter();
    let rare = warnings.find(|it| it.code == "rare-levels").unwrap();
    // Priors of rare values are wide: it is not they that decide.
    let ending = "so each of their coefficients rests on few rows";
    assert!(rare.message.ends_with(ending), "{}", rare.message);
    assert_eq!(check.params.len(), 341);

    // A role that is refused offers the same.
    let mut session = draft(&agents(1300), "linear", None, "y ~ 1");
    session.send(DraftChange::Assign("agent".to_owned(), Role::Predictor));
    let (words, command) = session.state.toast.clone().unwrap().act.unwrap();
    assert_eq!(words, keep);
    session.send(command);
    assert_eq!(session.state.check.clone().unwrap().error, None);
    assert_eq!(formula_of(&session), "linear: y ~ agent");
}

#[test]
fn a_column_of_a_hundred_thousand_texts_is_refused_at_once_and_can_be_a_group() {
    let mut text = String::from("y,id\n");
    for i in 0..100_000_u32 {
        text.push_str(&format!("{},id{i}\n", (i * 7919) % 101));
    }
    let mut session = draft(&text, "linear", None, "y ~ id");
    let check = session.state.check.clone().unwrap();
    let error = check.error.clone().unwrap();
    assert!(
        error.starts_with("The predictor `id` has 100000 different values, more than the 1000"),
        "{error}"
    );
    helps_out(
        &mut session,
        "use it as a group",
        &["Use id as a group", "Leave id out"],
        "mixed: y ~ 1 + (1 | id)",
    );
}
