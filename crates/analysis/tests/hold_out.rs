//! A fit that keeps rows out is the fit of a file that never had them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::path::Path;

use ergodic_analysis::{Job, Recipe};
use ergodic_base::Control;
use support::{draws, start};

/// A file of `rows`, each with the number of its line in the whole file, so that rows know where they come from.
fn file(folder: &Path, name: &str, rows: impl Iterator<Item = usize>) -> String {
    let mut text = "line,split,x,f,g,y,k,b\n".to_owned();
    for i in rows {
        let x = match i % 11 {
            // Far out, and missing, so that scales and counts would show it.
            7 if i % 3 == 0 => "1000".to_owned(),
            5 => String::new(),
            left => (left as f64 - 4.5).to_string(),
        };
        // A level and a group that only every third row has.
        let f = if i % 9 == 0 {
            "rare"
        } else {
            ["a", "b"][i % 2]
        };
        let g = if i % 3 == 0 { i % 4 } else { 4 + i % 5 };
        let split = if i % 3 == 0 { "test" } else { "train" };
        let (y, k, b) = (
            (i * 7 % 13) as f64 + 0.25,
            i * 5 % 7,
            ["no", "yes"][i * i % 5 % 2],
        );
        text.push_str(&format!("{i},{split},{x},{f},g{g},{y},{k},{b}\n"));
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn prepared(
    source: &str,
    (template, formula): (&str, &str),
    sampler: &str,
    hold_out: Option<&str>,
) -> Job {
    let mut recipe = Recipe::new(source, template, formula);
    sampler.clone_into(&mut recipe.sampler.id);
    recipe.run.chains = 2;
    recipe.run.warmup = Some(40);
    recipe.run.draws = 30;
    recipe.run.until_precise = false;
    recipe.model.hold_out = hold_out.map(|text| text.parse().unwrap());
    Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap()
}

fn drawn(job: Job) -> Vec<Vec<Vec<f64>>> {
    let mut run = start(job);
    run.join();
    draws(&run.view())
}

#[test]
fn draws_are_those_of_a_file_without_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let all = file(folder.path(), "all.csv", 1..121);
    let train = file(folder.path(), "train.csv", (1..121).filter(|i| i % 3 != 0));
    for (template, formula, sampler) in [
        ("logistic", "b ~ x + f", "nuts"),
        ("logistic", "b ~ x + f", "sgld-cv"),
        ("linear", "y ~ poly(x, 2) + f", "nuts"),
        ("poisson", "k ~ x", "mala"),
        ("mixed", "y ~ x + (1 | g)", "nuts"),
    ] {
        let model = (template, formula);
        let held = prepared(&all, model, sampler, Some("split=test"));
        let without = prepared(&train, model, sampler, None);
        assert_eq!((held.design.held_out, held.design.rows_total), (40, 80));
        assert_eq!(held.design.dropped, without.design.dropped);
        assert_eq!(held.design.terms, without.design.terms);
        let priors = |job: &Job| -> Vec<String> {
            let params = job.model.params().iter();
            params.map(|param| param.prior.to_string()).collect()
        };
        assert_eq!(priors(&held), priors(&without));
        // The shuffled rows are the same lines of the whole file.
        let of_train: Vec<u32> = (1..121).filter(|i| i % 3 != 0).map(|i| i - 1).collect();
        let lines: Vec<u32> = (without.design.row.iter())
            .map(|&row| of_train[row as usize])
            .collect();
        assert_eq!(held.design.row, lines);
        let all_rows = drawn(prepared(&all, model, sampler, None));
        let held = drawn(held);
        assert!(held == drawn(without), "{template} {sampler}: bits differ");
        assert!(
            held != all_rows,
            "{template} {sampler}: nothing was held out"
        );
    }
}

#[test]
fn what_is_drawn_replays_with_another_seed_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let all = file(folder.path(), "all.csv", 1..121);
    let model = ("linear", "y ~ .");
    let job = prepared(&all, model, "nuts", Some("0.3"));
    assert_eq!(job.recipe.model.hold_out_seed, Some(1));
    let toml = job.recipe.to_toml();
    assert!(
        toml.contains("hold_out = 0.3\nhold_out_seed = 1\n"),
        "{toml}"
    );
    let rows = |job: &Job| {
        let mut rows = job.design.row.clone();
        rows.sort_unstable();
        rows
    };
    let again = Recipe::parse(&toml, &["run.seed=77".to_owned()]).unwrap();
    let again = Job::prepare(&again, Path::new(""), None, &Control::default()).unwrap();
    assert_eq!(rows(&job), rows(&again));
    let other = Recipe::parse(&toml, &["model.hold_out_seed=2".to_owned()]).unwrap();
    let other = Job::prepare(&other, Path::new(""), None, &Control::default()).unwrap();
    assert_ne!(rows(&job), rows(&other));
    // The column that says which rows explains nothing, unless it is asked to.
    let terms = |formula: &str, hold_out: &str| -> String {
        let job = prepared(&all, ("linear", formula), "nuts", Some(hold_out));
        job.recipe.model.formula
    };
    assert_eq!(terms("y ~ .", "g=g4"), "y ~ line + split + x + f + k + b");
    assert_eq!(terms("y ~ x + g", "g=g4"), "y ~ x + g");
}

#[test]
fn rows_held_out_are_said_and_may_not_be_all() {
    let folder = tempfile::tempdir().unwrap();
    let all = file(folder.path(), "all.csv", 1..121);
    let job = prepared(&all, ("linear", "y ~ x"), "nuts", Some("split=test"));
    let said: Vec<&str> = job.warnings.iter().map(|it| it.message.as_str()).collect();
    assert!(
        said.contains(&"40 of 120 rows are held out of the fit, to score its predictions by"),
        "{said:?}"
    );
    assert!(
        said.iter()
            .any(|it| it.starts_with("Using 72 of 80 rows; 8 have no `x`")),
        "{said:?}"
    );
    let mut recipe = job.recipe.clone();
    recipe.model.hold_out = Some("split=tset".parse().unwrap());
    let error = Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("No row has `tset`"), "{error}");
}

/// What has no outcome cannot be scored by rows; mixtures and topics have a setting of their own.
#[test]
fn rows_are_held_out_only_where_there_is_an_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let all = file(folder.path(), "all.csv", 1..121);
    for (template, formula, of_units) in [
        ("dp-mixture", "~ y", true),
        ("topics", "~ f + (1 | g)", true),
        ("categorical", "f ~ 1", false),
    ] {
        let mut recipe = Recipe::new(&all, template, formula);
        let prepare =
            |recipe: &Recipe| Job::prepare(recipe, Path::new(""), None, &Control::default());
        assert!(prepare(&recipe).is_ok(), "{template}");
        recipe.model.hold_out = Some("0.2".parse().unwrap());
        let error = prepare(&recipe).unwrap_err().to_string();
        let start = format!(
            "Template `{template}` explains no outcome, so rows held out could not be scored; leave out `model.hold_out` (--hold-out)"
        );
        assert!(error.starts_with(&start), "{error}");
        let named = error.contains("--set model.held_out=0.2 ");
        assert_eq!(named, of_units, "{error}");
    }
}
