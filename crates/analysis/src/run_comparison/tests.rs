//! Draws with known differences, runs of one model with other seeds and other priors, and the words.

use std::path::Path;
use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::Job;
use ergodic_base::{Purpose, stream};
use ergodic_core::engine::Sampling as _;
use ergodic_core::fit::Fitted;
use ergodic_diagnostics::summarise;

/// Draws of quantities, each with what is known of them.
struct Drawn {
    name: &'static str,
    variables: Vec<ParamId>,
    lists: Vec<DrawList>,
    weights: Vec<Vec<f64>>,
    recipe: Option<Recipe>,
    data: Option<DataUsed>,
}

impl Drawn {
    /// Independent normals of these names with mean and sd, 500 draws on four chains.
    fn normal(name: &'static str, seed: u64, columns: &[(&str, f64, f64)]) -> Self {
        let lists = (0..4).map(|chain| {
            let mut rng = stream(seed, chain, Purpose::Diagnostics);
            let mut list = DrawList::new(columns.len());
            for _ in 0..500 {
                let row = columns.iter().map(|(_, mean, sd)| {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    mean + sd * z
                });
                list.push(&row.collect::<Vec<_>>());
            }
            list
        });
        Self {
            name,
            variables: columns.iter().map(|(name, ..)| (*name).into()).collect(),
            lists: lists.collect(),
            weights: Vec::new(),
            recipe: None,
            data: None,
        }
    }

    /// A run of `recipe`.
    fn run(name: &'static str, recipe: &Recipe) -> Self {
        let control = Control::default();
        let job = Arc::new(Job::prepare(recipe, Path::new(""), None, &control).unwrap());
        let fitted = Fitted::of_job(Arc::clone(&job), None).unwrap();
        let lists = fitted.view().usable().map(|it| it.draws.draws.clone());
        Self {
            name,
            variables: job.variables(),
            lists: lists.collect(),
            weights: Vec::new(),
            recipe: Some(job.recipe.clone()),
            data: Some(DataUsed {
                fingerprint: job.table.fingerprint().to_owned(),
                source: job.recipe.data.source.clone(),
                rows: (job.design.rows_total, job.design.rows_used),
            }),
        }
    }
}

fn compared(one: &Drawn, other: &Drawn) -> RunComparison {
    let lists = [one, other].map(|run| run.lists.iter().collect::<Vec<&DrawList>>());
    let summaries: Vec<Vec<SummaryRow>> = ([one, other].iter().zip(&lists))
        .map(|(run, lists)| summarise(&run.variables, lists, &run.weights, 0.0))
        .collect();
    let run = |k: usize| {
        let run = [one, other][k];
        ComparedRun {
            name: run.name,
            recipe: run.recipe.as_ref(),
            data: run.data.as_ref(),
            variables: &run.variables,
            summary: &summaries[k],
            draws: &lists[k],
            weights: &run.weights,
            approximation: None,
        }
    };
    compare_runs([&run(0), &run(1)], &Control::default()).unwrap()
}

/// Hidden units may have other numbers in another chain, so that their R-hat says nothing of the chains.
#[test]
fn units_that_may_change_their_numbers_do_not_make_chains_disagree() {
    for (name, disagree) in [("hidden_weight[1,x]", false), ("b[x]", true)] {
        let columns = [(name, 0.0, 1.0), ("sigma", 1.0, 0.1)];
        let mut one = Drawn::normal("A", 1, &columns);
        let far = [(name, 20.0, 1.0), ("sigma", 1.0, 0.1)];
        one.lists[0] = Drawn::normal("A", 3, &far).lists.swap_remove(0);
        let found = compared(&one, &Drawn::normal("B", 2, &columns));
        let starts = "The chains of A do not agree with each other";
        let said = found.remarks.iter().any(|it| it.starts_with(starts));
        assert_eq!(said, disagree, "{name}: {:?}", found.remarks);
    }
}

#[test]
fn known_changes_are_found_and_told() {
    let one = Drawn::normal(
        "A",
        1,
        &[
            ("b[x]", 1.0, 0.5),
            ("b[y]", 0.0, 1.0),
            ("b[z]", 3.0, 2.0),
            ("sd", 1.0, 0.1),
        ],
    );
    let other = Drawn::normal(
        "B",
        2,
        &[
            ("b[y]", 0.0, 1.6),
            ("b[x]", 1.7, 0.5),
            ("b[z]", 3.0, 2.0),
            ("shape", 1.0, 0.1),
        ],
    );
    let found = compared(&one, &other);
    let row = |name: &str| {
        let mut rows = found.parameters.iter();
        rows.find(|row| row.variable == *name).unwrap()
    };
    // Four standard errors; the distances of Kolmogorov and Smirnov of normals are 2 Φ(δ/2) − 1 at equal widths.
    let shift = row("b[x]").shift.unwrap();
    assert!((shift.value - 1.4).abs() < 4.0 * shift.error(), "{shift:?}");
    let by_hand = (2.0_f64 / 2000.0 + 1.4 * 1.4 / 4000.0).sqrt();
    assert!((shift.error() / by_hand - 1.0).abs() < 0.2, "{shift:?}");
    assert!((row("b[x]").ks.unwrap() - 0.516).abs() < 4.0 * 0.016);
    assert!(matches!(row("b[x]").change, Some(Change::Shift(_))));
    // So is the total variation distance; halves of one run show what chance does.
    let apart = row("b[x]").total_variation.unwrap();
    assert!((apart.value - 0.516).abs() < 4.0 * 0.016, "{apart:?}");
    let same = row("b[z]").total_variation.unwrap();
    assert!(same.value < same.halves.unwrap(), "{same:?}");
    let ratio = row("b[y]").sd_ratio.unwrap();
    assert!((ratio.value - 1.6).abs() < 4.0 * ratio.error(), "{ratio:?}");
    assert!(matches!(row("b[y]").change, Some(Change::Width(_))));
    assert_eq!(row("b[z]").change, None);
    let names = |k: usize| {
        found.only[k]
            .iter()
            .map(ParamId::as_str)
            .collect::<Vec<_>>()
    };
    assert_eq!((names(0), names(1)), (vec!["sd"], vec!["shape"]));
    assert_eq!(found.by_size(), [0, 1, 2]);
    assert_eq!(
        found.sentence(),
        format!(
            "`b[x]` moves by {:.2} sd (± 0.04); 1 more of 3 parameters differs beyond Monte Carlo error",
            shift.value
        )
    );
    // The mean part of the Wasserstein distance is the shift, all of it √(1.4² + 0.6²).
    let joint = found.joint.as_ref().unwrap();
    assert_eq!(joint.dim, 3);
    assert!(
        (joint.distances.wasserstein - 1.52).abs() < 0.15,
        "{joint:?}"
    );
    assert_eq!(
        found.subject,
        "Of model and data of draws from a file nothing is known"
    );
    assert!(!found.agrees());
}

#[test]
fn a_run_agrees_with_itself_at_distance_zero() {
    let one = Drawn::normal("A", 3, &[("b[x]", 1.0, 0.5), ("b[y]", 0.0, 1.0)]);
    let found = compared(&one, &one);
    for row in &found.parameters {
        let (shift, ratio) = (row.shift.unwrap(), row.sd_ratio.unwrap());
        assert_eq!((shift.value, ratio.value, row.ks), (0.0, 1.0, Some(0.0)));
        assert_eq!(row.total_variation.unwrap().value, 0.0);
    }
    assert!(found.agrees(), "{:?}", found.verdict);
    let distances = found.distances();
    assert!(distances.iter().all(|it| it.value < 1e-6), "{distances:?}");
    assert!(
        distances
            .iter()
            .all(|it| it.meaning.contains("no more than halves"))
    );
}

#[test]
fn shapes_and_dependence_are_seen_where_means_and_widths_agree() {
    // Uniform with the mean and the sd of the normal.
    let one = Drawn::normal("A", 4, &[("b[x]", 0.0, 1.0), ("b[y]", 0.0, 1.0)]);
    let mut other = Drawn::normal("B", 5, &[("b[x]", 0.0, 1.0), ("b[y]", 0.0, 1.0)]);
    let change = |drawn: &mut Drawn, of: &dyn Fn(usize, f64, f64) -> [f64; 2]| {
        for list in &mut drawn.lists {
            let mut again = DrawList::new(2);
            for i in 0..list.len() {
                again.push(&of(i, list.value(i, 0), list.value(i, 1)));
            }
            *list = again;
        }
    };
    let even = |i: usize| 12.0_f64.sqrt() * ((i as f64 * 0.618_033_988_749_895).fract() - 0.5);
    change(&mut other, &|i, _, y| [even(i), y]);
    let found = compared(&one, &other);
    assert!(
        matches!(found.parameters[0].change, Some(Change::Shape(_))),
        "{found:?}"
    );
    assert!(
        found.sentence().contains("another shape"),
        "{}",
        found.sentence()
    );
    // A correlation moves no parameter by itself.
    let mut other = Drawn::normal("B", 6, &[("b[x]", 0.0, 1.0), ("b[y]", 0.0, 1.0)]);
    change(&mut other, &|_, x, y| {
        [x, 0.95 * x + (1.0_f64 - 0.95 * 0.95).sqrt() * y]
    });
    let found = compared(&one, &other);
    assert!(
        matches!(found.verdict, Verdict::Jointly { .. }),
        "{:?}",
        found.verdict
    );
}

#[test]
fn weights_count() {
    let one = Drawn::normal("A", 7, &[("b[x]", 0.5, 1.0)]);
    let mut other = Drawn::normal("B", 8, &[("b[x]", 0.0, 1.0)]);
    assert!(!compared(&one, &other).agrees());
    // Those that turn normal(0, 1) into normal(0.5, 1).
    let weights = |list: &DrawList| {
        let x = list.column(0).into_iter();
        x.map(|x| (0.5 * x).exp()).collect()
    };
    other.weights = other.lists.iter().map(weights).collect();
    let found = compared(&one, &other);
    assert!(found.agrees(), "{:?}", found.parameters);
    assert!(
        found
            .remarks
            .iter()
            .any(|it| it == "The draws of B are weighted")
    );
    assert!(found.parameters[0].ks.unwrap() < 0.06);
}

#[test]
fn constants_few_draws_and_nothing_in_common_have_words_of_their_own() {
    let one = Drawn::normal("A", 9, &[("b[x]", 0.0, 1.0), ("k", 2.0, 0.0)]);
    let same = compared(&one, &Drawn::normal("B", 10, &[("k", 2.0, 0.0)]));
    assert!(same.agrees(), "{:?}", same.verdict);
    assert_eq!(same.joint, Err(NoJoint::Nothing));
    let other = compared(&one, &Drawn::normal("B", 10, &[("k", 3.0, 0.0)]));
    assert!(
        other.sentence().contains("constant"),
        "{}",
        other.sentence()
    );
    let none = compared(&one, &Drawn::normal("B", 10, &[("q", 3.0, 1.0)]));
    assert_eq!(none.verdict, Verdict::NothingShared);
    let mut short = Drawn::normal("B", 10, &[("b[x]", 0.0, 1.0)]);
    short
        .lists
        .iter_mut()
        .for_each(|list| *list = list.first(3));
    assert_eq!(compared(&one, &short).verdict, Verdict::TooEarly);
    let cancelled = Control::default();
    cancelled.cancel();
    let run = ComparedRun {
        name: "A",
        recipe: None,
        data: None,
        variables: &[],
        summary: &[],
        draws: &[],
        weights: &[],
        approximation: None,
    };
    assert_eq!(
        compare_runs([&run, &run], &cancelled).unwrap_err(),
        Cancelled
    );
}

#[test]
fn many_effects_of_groups_are_left_out_of_joint_distances() {
    let groups: Vec<String> = (0..60)
        .map(|k| format!("r[school,{k},Intercept]"))
        .collect();
    let mut columns = vec![("b[x]", 0.0, 1.0)];
    columns.extend(groups.iter().map(|name| (name.as_str(), 0.0, 1.0)));
    let [one, other] =
        [("A", 11), ("B", 12)].map(|(name, seed)| Drawn::normal(name, seed, &columns));
    let found = compared(&one, &other);
    assert_eq!(found.joint.as_ref().unwrap().dim, 1);
    assert!(
        found.remarks[0].contains("60 effects"),
        "{:?}",
        found.remarks
    );
    assert!(found.agrees(), "{}", found.sentence());
}

/// Sixty rows with a slope.
fn recipe(folder: &Path, rows: usize) -> Recipe {
    let path = folder.join(format!("rows-{rows}.csv"));
    let text: String = (0..rows)
        .map(|i| {
            let x = 0.1 * (i as f64 - 30.0);
            format!(
                "{x},{}\n",
                1.0 + 0.5 * x + 0.2 * ((i * 7 % 11) as f64 - 5.0)
            )
        })
        .collect();
    std::fs::write(&path, format!("x,y\n{text}")).unwrap();
    let recipe = Recipe::new(path.to_str().unwrap(), "linear", "y ~ x");
    let changes = [
        "sampler.id=nuts",
        "run.draws=500",
        "run.until_precise=false",
    ];
    recipe.changed(&changes.map(str::to_owned)).unwrap()
}

#[test]
fn seeds_agree_and_priors_are_told_in_settings_and_shift() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(folder.path(), 60);
    let changed = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|it| (*it).to_owned()).collect();
        recipe.changed(&changes).unwrap()
    };
    let one = Drawn::run("A", &recipe);
    let seed = compared(&one, &Drawn::run("B", &changed(&["run.seed=2"])));
    assert_eq!(
        seed.sentence(),
        "The two posteriors agree within Monte Carlo error"
    );
    assert_eq!(seed.subject, "Same model and data");
    assert!(seed.has_one_posterior);
    let keys = |found: &RunComparison| -> Vec<String> {
        let settings = found.settings.as_ref().unwrap().iter();
        settings.map(|it| it.key.clone()).collect()
    };
    assert_eq!(keys(&seed), ["run.seed"]);
    assert!(
        seed.remarks.iter().all(|it| !it.contains("R-hat")),
        "{:?}",
        seed.remarks
    );

    // A prior that holds the slope near 0.
    let tight = Drawn::run("B", &changed(&["priors.b=normal(0, 0.1)"]));
    let prior = compared(&one, &tight);
    assert_eq!(keys(&prior), ["priors.b"]);
    assert_eq!(prior.subject, "Same data and model, other priors");
    assert!(!prior.has_one_posterior);
    let slope = prior.parameters.iter().find(|row| row.variable == *"b[x]");
    let shift = slope.unwrap().shift.unwrap();
    assert!(shift.high < -1.0, "{shift:?}");
    assert!(
        prior.sentence().contains("`b[x]` moves by -"),
        "{}",
        prior.sentence()
    );

    // Other rows are other data.
    let fewer = compared(&one, &Drawn::run("B", &self::recipe(folder.path(), 40)));
    assert!(
        fewer
            .subject
            .starts_with("Different data: A has 60 of 60 rows of "),
        "{}",
        fewer.subject
    );
    assert!(
        fewer.subject.contains("B has 40 of 40 rows"),
        "{}",
        fewer.subject
    );
}

#[test]
fn parameters_of_other_outcomes_are_not_compared() {
    let run = |name, seed, formula| Drawn {
        recipe: Some(Recipe::new("sample:churn", "linear", formula)),
        ..Drawn::normal(name, seed, &[("b[Intercept]", 1.0, 0.5)])
    };
    let one = run("A", 1, "age ~ plan");
    let found = compared(&one, &run("B", 2, "tenure ~ plan"));
    let sentence = found.sentence();
    assert!(
        sentence.contains("different outcomes (`age` and `tenure`)"),
        "{sentence}"
    );
    assert_eq!(found.joint.unwrap_err(), NoJoint::OtherOutcome);
    assert!(
        compared(&one, &run("C", 2, "age ~ plan + tenure"))
            .joint
            .is_ok()
    );
}
