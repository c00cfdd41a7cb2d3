//! Tests of reading, changing and writing recipes.

use super::*;
use crate::recipe_keys::recipe_keys;
use ergodic_core::engine::{DEFAULT_DRAWS, PRECISION_DRAWS};

const TEXT: &str =
    "[data]\nsource = \"a.csv\"\n[model]\ntemplate = \"logistic\"\nformula = \"y ~ x\"\n";

#[test]
fn settings_of_the_template_stand_in_the_model_section() {
    let mut recipe = Recipe::new("a.csv", "mixed", "y ~ x");
    recipe
        .model
        .settings
        .set("family", Value::Text("poisson".to_owned()));
    recipe
        .model
        .reference
        .insert("f".to_owned(), "b".to_owned());
    let text = recipe.to_toml();
    assert!(text.contains("family = \"poisson\""), "{text}");
    assert_eq!(Recipe::parse(&text, &[]).unwrap(), recipe);
    let changed = Recipe::parse(&text, &["model.family=gaussian".to_owned()]).unwrap();
    assert_eq!(changed.model.settings.text("family"), Some("gaussian"));
}

/// A key of another template is told with that template; one of none with the keys that there are.
#[test]
fn settings_of_other_templates_name_them() {
    let error = |change: &str| {
        let changed = Recipe::parse(TEXT, &[change.to_owned()]);
        changed.unwrap_err().to_string()
    };
    assert_eq!(
        error("model.family=weibull"),
        "Template `logistic` has no setting `family`, which belongs to `mixed`; choose such a template, as by --template mixed \
         (`template` in section `[model]`)"
    );
    let none = error("model.famly=weibull");
    assert!(
        none.contains("Section `[model]` has no setting `famly`; it has template"),
        "{none}"
    );
}

/// Levels that are numbers need no quotes, and a list where one value belongs is refused by the name of the setting.
#[test]
fn levels_may_be_numbers_and_lists_are_refused_by_name() {
    let read = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&it| it.to_owned()).collect();
        Recipe::parse(TEXT, &changes)
    };
    for (list, levels) in [
        ("[1, 2, 3]", ["1", "2", "3"]),
        ("[\"low\", 2.5, true]", ["low", "2.5", "true"]),
    ] {
        let recipe = read(&[&format!("model.levels={list}")]).unwrap();
        assert_eq!(recipe.model.levels, levels);
    }
    let refused = |changes: &[&str]| read(changes).unwrap_err().to_string();
    for (changes, key) in [
        (&["model.nu=[1]"][..], "nu"),
        (&["sampler.id=nuts", "sampler.step_size=[1]"], "step_size"),
    ] {
        let said = refused(changes);
        let expected = format!("expected a number, a text, or true or false for `{key}`");
        assert!(said.contains(&expected), "{said}");
    }
    let nested = refused(&["model.levels=[[1]]"]);
    assert!(nested.contains("a text, or true or false"), "{nested}");
}

#[test]
fn a_renamed_value_is_read_and_written_with_its_new_name() {
    let change = ["model.parametrisation=noncentred".to_owned()];
    let recipe = Recipe::new("sample:schools", "hierarchical", "passed ~ hours | school")
        .changed(&change)
        .unwrap();
    assert!(
        recipe
            .to_toml()
            .contains("parametrisation = \"non-centred\"")
    );
    assert_eq!(recipe.changed(&[]).unwrap(), recipe);
}

#[test]
fn another_sampler_takes_no_settings_of_the_first() {
    let mut recipe = Recipe::parse(TEXT, &[]).unwrap();
    recipe.run.warmup = Some(70);
    let change = |recipe: &Recipe, changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        recipe.changed(&changes).unwrap()
    };
    // Nothing was said of a sampler yet, so the length of warm-up is the user's.
    let mut nuts = change(&recipe, &["sampler.id=nuts"]);
    assert_eq!(nuts.run.warmup, Some(70));
    nuts.sampler.settings.set("max_depth", Value::Int(8));
    assert_eq!(change(&nuts, &["sampler.id=nuts"]), nuts);
    let sgld = change(&nuts, &["sampler.batch=50", "sampler.id=sgld"]);
    assert_eq!(sgld.sampler.id, "sgld");
    assert_eq!(sgld.sampler.settings.int("batch"), Some(50));
    assert_eq!(sgld.sampler.settings.int("max_depth"), None);
    assert_eq!(sgld.run.warmup, None);
}

#[test]
fn a_run_goes_on_unless_its_length_is_named() {
    let goes_on = |text: &str, changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&it| it.to_owned()).collect();
        Recipe::parse(text, &changes).unwrap().run.until_precise
    };
    assert!(goes_on(TEXT, &[]));
    for length in [
        "draws = 1000",
        "target_ess = 500.0",
        "draws_of_chains = [1, 1, 1, 1]",
    ] {
        let named = format!("{TEXT}[run]\n{length}\n");
        assert!(!goes_on(&named, &[]), "{length}");
        assert!(
            goes_on(&format!("{named}until_precise = true\n"), &[]),
            "{length}"
        );
    }
    assert!(goes_on(&format!("{TEXT}[run]\nseed = 3\n"), &[]));
    assert!(!goes_on(
        &format!("{TEXT}[run]\nuntil_precise = false\n"),
        &[]
    ));
    for change in [
        "run.draws=1000",
        "run.draws = 1000",
        "run.target_rhat=1.02",
        "run.until_precise=false",
    ] {
        assert!(!goes_on(TEXT, &[change]), "{change}");
    }
    assert!(goes_on(TEXT, &["run.draws=2000", "run.until_precise=true"]));
    // Writing and reading change nothing.
    let drafted = Recipe::new("a.csv", "linear", "y ~ x");
    assert!(goes_on(&drafted.to_toml(), &[]));
    assert!(goes_on(&drafted.to_toml(), &["run.seed=3"]));
    assert!(!goes_on(&drafted.to_toml(), &["run.draws=500"]));
}

#[test]
fn a_precision_leaves_room_unless_the_draws_are_named() {
    let of = |text: &str, changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        Recipe::parse(text, &changes).unwrap().run.draws
    };
    assert_eq!(of(TEXT, &[]), DEFAULT_DRAWS);
    let with_target = format!("{TEXT}[run]\ntarget_ess = 500.0\n");
    assert_eq!(of(&with_target, &[]), PRECISION_DRAWS);
    assert_eq!(of(&format!("{with_target}draws = 70\n"), &[]), 70);
    // A complete recipe names its draws, but not for this.
    let complete = Recipe::parse(TEXT, &[]).unwrap().to_toml();
    assert_eq!(of(&complete, &["run.target_rhat=1.005"]), PRECISION_DRAWS);
    assert_eq!(of(&complete, &["run.target_ess=400", "run.draws=80"]), 80);
    assert_eq!(of(&complete, &["run.target_ess=40000"]), 100_000);
}

#[test]
fn a_recipe_survives_a_round_trip() {
    let mut recipe = Recipe::parse(TEXT, &[]).unwrap();
    recipe.priors.insert("b[age]".into(), "normal(0, 1)".into());
    recipe.sampler.settings.set("step_size", Value::Real(0.1));
    recipe.run.draws_of_chains = Some(vec![1, 2, 3, 4]);
    assert_eq!(Recipe::parse(&recipe.to_toml(), &[]).unwrap(), recipe);
}

#[test]
fn changes_reach_every_section() {
    let changes: Vec<String> = [
        "sampler.id=sgld",
        "sampler.step_size=0.2",
        "priors.\"b[age]\"=normal(0, 1)",
        "priors.b[x.y]=flat",
        "run.seed=9",
    ]
    .map(str::to_owned)
    .to_vec();
    let recipe = Recipe::parse(TEXT, &changes).unwrap();
    assert_eq!(recipe.sampler.id, "sgld");
    assert_eq!(recipe.sampler.settings.real("step_size"), Some(0.2));
    assert_eq!(recipe.priors["b[age]"], "normal(0, 1)");
    assert_eq!(recipe.priors["b[x.y]"], "flat");
    assert_eq!(recipe.run.seed, 9);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let error = |text: &str, change: &[String]| {
        let error = Recipe::parse(text, change).unwrap_err();
        error.to_string()
    };
    assert!(error("[data]\nsource = \n", &[]).contains("line 2"));
    assert!(error(&TEXT.replace("formula", "fromula"), &[]).contains("fromula"));
    assert!(error(TEXT, &["run.chains=0".into()]).contains("run.chains"));
    assert!(error(TEXT, &["nonsense".into()]).contains("key=value"));
    assert!(error(TEXT, &["run.draws=many".into()]).contains("many"));
    assert!(error(&format!("format = 9\n{TEXT}"), &[]).contains("format 9"));
}

/// Runs know what they were made with by this text, so neither the order of entries nor what is left out may change.
#[test]
fn entries_are_written_in_order_and_left_out_where_nobody_chose() {
    let plain = Recipe::parse(TEXT, &[]).unwrap();
    let full: Vec<String> = (recipe_keys().iter())
        .map(|entry| format!("{}={}", entry.key.replace("NAME", "b"), entry.example))
        .collect();
    let full = plain.changed(&full).unwrap();
    let written = plain.to_toml() + "# With every entry:\n" + &full.to_toml();
    assert_eq!(written, include_str!("tests/written.toml"));
}

#[test]
fn numbers_out_of_range_are_refused_in_words() {
    let seconds = "a number above 0";
    let spread = "a number above 0, at most 1000000";
    for (key, value, takes) in [
        ("run.chains", "0", "1 to 256"),
        ("run.chains", "257", "1 to 256"),
        ("run.draws", "0", "at least 1"),
        ("run.start_spread", "0", spread),
        ("run.start_spread", "1000000.5", spread),
        ("run.start_spread", "NaN", spread),
        ("run.max_seconds", "0", seconds),
        ("run.max_seconds", "inf", seconds),
        ("run.max_seconds", "NaN", seconds),
        ("run.target_ess", "-1", seconds),
        // Room for infinitely many draws is not what is wrong.
        ("run.target_ess", "inf", seconds),
        ("run.target_rhat", "1", "a number above 1"),
        ("model.top_levels.x", "0", "at least 1"),
    ] {
        let refused = Recipe::parse(TEXT, &[format!("{key}={value}")]).unwrap_err();
        let sentence = format!("Setting `{key}` takes {takes}, not `{value}`");
        assert_eq!(refused.to_string(), sentence);
    }
    for taken in ["run.chains=256", "run.draws=1", "run.start_spread=1000000"] {
        Recipe::parse(TEXT, &[taken.to_owned()]).unwrap();
    }
    let seeded = |run: u64, hold_out: Option<u64>| {
        let mut recipe = Recipe::parse(TEXT, &[]).unwrap();
        recipe.run.seed = run;
        recipe.model.hold_out_seed = hold_out;
        recipe.changed(&[]).map_err(|error| error.to_string())
    };
    let most = i64::MAX as u64;
    seeded(most, Some(most)).unwrap();
    for (key, refused) in [
        ("run.seed", seeded(most + 1, None)),
        ("model.hold_out_seed", seeded(1, Some(most + 1))),
    ] {
        let sentence = format!("Setting `{key}` takes 0 to {most}, not `{}`", most + 1);
        assert_eq!(refused.unwrap_err(), sentence);
    }
}
