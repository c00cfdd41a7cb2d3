//! The choice of `auto`, the rank of the others, and what is told of them.

use std::sync::Arc;

use super::*;
use crate::design::ResponseUse;
use crate::models::mixed::Mixed;
use crate::models::{ModelOptions, WorkingRows};
use crate::samplers::Unsuitable;
use crate::samplers::testing::{
    categorical_with_centre, groups_with_centre, known_target, logistic_with_centre,
};
use crate::testing::{GaussianRows, built, built_by, table_of};
use ergodic_base::settings::{Settings, Value};

fn refusal(sampler: &'static str, reason: Unsuitable) -> Refusal {
    Refusal { sampler, reason }
}

fn target(num_obs: usize, dim: usize) -> Target {
    known_target(num_obs, dim, dim as f64 + 2.0, (1.0, 10.0))
}

/// Facts of a regression with the rows of `target`: what a logistic model refuses is refused.
fn facts(target: &Target) -> Facts {
    let (model, _centre) = logistic_with_centre();
    Facts::new(model.as_ref(), target, None)
}

fn all_targets() -> Vec<Target> {
    let mut all = Vec::new();
    for num_obs in [50, 5000, 100_000, 1_000_000, 50_000_000] {
        for dim in [1, 10, 200] {
            all.push(target(num_obs, dim));
            all.push(Target {
                num_obs,
                dim,
                ..Target::default()
            });
            all.push(known_target(num_obs, dim, num_obs as f64, (1.0, 10.0)));
        }
    }
    all
}

#[test]
fn small_data_get_the_exact_sampler_and_tall_data_the_fast_one() {
    assert_eq!(recommend(&facts(&target(5000, 10))).sampler, "nuts");
    assert_eq!(recommend(&facts(&target(100_000, 3))).sampler, "nuts");
    let tall = recommend(&facts(&target(5_000_000, 10)));
    assert_eq!(tall.sampler, "zig-zag");
    assert!(tall.reason.contains("exact"), "{}", tall.reason);
    // Where nothing exact suits but what takes hours, the smallest bias.
    let mut facts = facts(&target(5_000_000, 10));
    facts
        .refusals
        .push(refusal("zig-zag", Unsuitable::UnboundedRows));
    assert_eq!(recommend(&facts).sampler, "sgld-cv");
}

#[test]
fn a_time_limit_decides_what_is_affordable() {
    let mut facts = facts(&target(245_057, 4));
    assert_eq!(recommend(&facts).sampler, "nuts");
    facts.max_seconds = Some(5.0);
    assert_eq!(recommend(&facts).sampler, "zig-zag");
    facts.max_seconds = Some(1e-3);
    assert_eq!(recommend(&facts).sampler, "sgld-cv");
    facts.target = target(5_000_000, 10);
    facts.max_seconds = Some(1e5);
    assert_eq!(recommend(&facts).sampler, "nuts");
}

#[test]
fn without_a_mode_or_with_heavy_rows_it_is_nuts_whatever_it_takes() {
    let tall = target(50_000_000, 10);
    let no_mode = Target {
        num_obs: tall.num_obs,
        dim: 10,
        ..Target::default()
    };
    assert_eq!(recommend(&facts(&no_mode)).sampler, "nuts");
    let heavy = known_target(tall.num_obs, 10, 4e7, (1.0, 10.0));
    let advice = recommend(&facts(&heavy));
    assert_eq!(advice.sampler, "nuts");
    assert!(
        advice.reason.contains("50\u{202f}000\u{202f}000 rows"),
        "{}",
        advice.reason
    );
    let undefined = known_target(tall.num_obs, 10, f64::INFINITY, (1.0, 10.0));
    assert_eq!(recommend(&facts(&undefined)).sampler, "nuts");
}

#[test]
fn every_registered_sampler_gets_one_place_and_one_sentence() {
    for target in all_targets() {
        let Facts {
            refusals: refused, ..
        } = facts(&target);
        let advice = recommend(&facts(&target));
        let ranking: Vec<Candidate> = advice.ranking().collect();
        assert_eq!(ranking.len(), REGISTRY.len());
        for entry in REGISTRY {
            let mine: Vec<&Candidate> = ranking
                .iter()
                .filter(|candidate| candidate.sampler == entry.spec.id)
                .collect();
            assert_eq!(mine.len(), 1, "{}", entry.spec.id);
            let reason = &mine[0].reason;
            assert!(!reason.is_empty() && !reason.contains(". ") && !reason.ends_with('.'));
            // A sampler that needs the mode is not offered without one.
            let lacks = entry.spec.needs_mode && !target.has_mode();
            let refused = refused.iter().any(|it| it.sampler == entry.spec.id);
            assert_eq!(mine[0].fits, !lacks && !refused, "{}", entry.spec.id);
        }
        // Those that cannot be used come last.
        let firsts = ranking.iter().take_while(|candidate| candidate.fits);
        let fitting = ranking.iter().filter(|candidate| candidate.fits);
        assert_eq!(firsts.count(), fitting.count());
    }
}

#[test]
fn comparisons_are_never_recommended_while_there_is_another() {
    for target in all_targets() {
        for max_seconds in [None, Some(1e-3), Some(1e9)] {
            let advice = recommend(&Facts {
                max_seconds,
                ..facts(&target)
            });
            let entry = crate::samplers::find(advice.sampler).unwrap();
            let standing = entry.advice.standing;
            assert!(
                matches!(standing, Standing::Auto | Standing::Tall),
                "{}",
                advice.sampler
            );
        }
    }
}

#[test]
fn samplers_that_refuse_the_model_are_last_with_their_reason_and_auto_goes_on() {
    let mut facts = facts(&target(5000, 10));
    facts.refusals = vec![refusal("nuts", Unsuitable::NoRows)];
    let advice = recommend(&facts);
    assert_ne!(advice.sampler, "nuts");
    let last = advice.alternatives.last().unwrap();
    assert_eq!((last.sampler, last.fits), ("nuts", false));
    let reason = Unsuitable::NoRows;
    assert_eq!(last.reason, format!("not for this model: it {reason}"));
    // Even where nothing suits there is an answer, and it says so.
    facts.refusals = REGISTRY
        .iter()
        .map(|entry| refusal(entry.spec.id, Unsuitable::NoRows))
        .collect();
    assert!(recommend(&facts).reason.contains("no sampler suits"));
}

#[test]
fn refusals_come_from_the_samplers() {
    let model = GaussianRows::simulated(100, 2, 1);
    let facts = Facts::new(&model, &target(100, 2), None);
    for entry in REGISTRY {
        let refused = facts.refusals.iter().any(|it| it.sampler == entry.spec.id);
        assert_eq!(refused, (entry.suits)(&model).is_err(), "{}", entry.spec.id);
    }
}

#[test]
fn probabilities_of_categories_are_drawn_directly() {
    let (model, _centre) = categorical_with_centre(&[50, 30, 20]);
    let advice = recommend(&Facts {
        target: Target {
            model: Some(model),
            ..target(5_000_000, 10)
        },
        ..Facts::default()
    });
    assert_eq!(advice.sampler, "conjugate");
    assert_eq!(advice.reason, CONJUGATE);
    for other in &advice.alternatives {
        assert!(crate::samplers::find(other.sampler).is_some());
    }
}

#[test]
fn large_groups_are_sampled_by_groups_and_small_ones_jointly() {
    // 4 groups with 2 coefficients each.
    let (model, _centre) = groups_with_centre();
    let advise_for = |num_obs| {
        let target = Target {
            model: Some(Arc::clone(&model)),
            ..target(num_obs, 114)
        };
        recommend(&Facts::new(model.as_ref(), &target, None)).sampler
    };
    assert_eq!(advise_for(150), "nuts");
    assert_eq!(advise_for(245_057), "gibbs-groups");
}

/// A mixed model of counts whose rows depend on n coefficients and effects in all, one of them per group term.
fn of_groups(columns: usize, terms: usize, whitened: bool) -> Arc<dyn Model> {
    const NUM_OBS: u32 = 118;
    let column = |value: &dyn Fn(u32) -> f64| (0..NUM_OBS).map(value).collect::<Vec<_>>();
    let mut table = vec![
        ("y", column(&|i| f64::from(i % 4))),
        ("g", column(&|i| f64::from(i / 2))),
        ("h", column(&|i| f64::from(i % 5))),
    ];
    let mut formula = "y ~ 1".to_owned();
    for (name, k) in ["a", "b", "c", "d", "e"]
        .into_iter()
        .zip(1..columns - terms)
    {
        table.push((name, column(&|i| f64::from(i * k as u32).sin())));
        formula += &format!(" + {name}");
    }
    for group in &["g", "h"][..terms] {
        formula += &format!(" + (1 | {group})");
    }
    let mut settings = Settings::default();
    settings.set("family", Value::Text("poisson".to_owned()));
    settings.set("parametrisation", Value::Text("auto".to_owned()));
    let working = WorkingRows {
        weights: vec![1.5; NUM_OBS as usize],
        scores: vec![0.5; NUM_OBS as usize],
    };
    let options = ModelOptions {
        settings,
        standardize: true,
        working: whitened.then(|| Arc::new(working)),
        ..ModelOptions::default()
    };
    built::<Mixed>(&table_of(table), &formula, ResponseUse::Count, &options).unwrap()
}

/// Nanoseconds that a row of a gradient took on one core, by coefficients and effects of a row and by group terms.
#[test]
fn passes_are_counted_at_what_they_took() {
    // Linear and logistic regression; mixed models with normal noise, of counts and of two values; with two terms,
    // of counts and of two values.
    for (columns, terms, took) in [
        (3, 0, 6.7),
        (3, 0, 5.7),
        (4, 1, 18.3),
        (4, 1, 25.8),
        (4, 1, 31.9),
        (5, 2, 43.5),
        (5, 2, 71.3),
    ] {
        let target = Target {
            model: (terms > 0).then(|| of_groups(columns, terms, true)),
            ..target(20_000, columns)
        };
        let counted = pass_secs(20_000.0, &target);
        let ratio = counted * CORES / (20_000.0 * took * 1e-9);
        assert!((0.5..2.0).contains(&ratio), "{columns} {terms}: {ratio}");
    }
}

/// Sums say all of normal rows, however many they are: an exact sampler is affordable.
#[test]
fn sums_of_normal_rows_make_exact_samplers_affordable() {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
    let y = (0..40).map(|i| f64::from(i * i % 11)).collect();
    let table = table_of(vec![("y", y), ("x", x)]);
    let options = ModelOptions::default();
    let model = built_by("linear", &table, "y ~ x", ResponseUse::Number, &options).unwrap();
    let tall = Target {
        model: Some(Arc::clone(&model)),
        ..target(50_000_000, 3)
    };
    let advice = recommend(&Facts::new(model.as_ref(), &tall, None));
    assert_eq!(advice.sampler, "nuts");
    let said = advice
        .reason
        .contains("needs the 50\u{202f}000\u{202f}000 rows only once");
    assert!(said, "{}", advice.reason);
    let of_rows = recommend(&Facts::new(model.as_ref(), &target(50_000_000, 3), None));
    assert_ne!(of_rows.sampler, "nuts");
}

/// Coordinates that are nearly independent of scales leave trajectories nearly as short as those of normal posteriors.
#[test]
fn whitened_effects_are_told_to_take_short_trajectories() {
    let with = |whitened| Target {
        model: Some(of_groups(4, 1, whitened)),
        ..target(20_000, 106)
    };
    let nuts = crate::samplers::find("nuts").unwrap();
    let secs = |whitened| Judged::of(nuts, &facts(&with(whitened))).secs;
    let (white, other) = (secs(true), secs(false));
    assert!(
        white[1] < other[0] && white[2] < other[1],
        "{white:?} {other:?}"
    );
    // The work for a normal posterior is the same.
    let near_normal = DRAWS * work_secs(nuts, &with(true));
    assert_eq!(white[0], near_normal);
    assert_eq!(near_normal, DRAWS * work_secs(nuts, &with(false)));
}

/// Effects of groups make trajectories long, so the time is a range that reaches far, and samplers that go step by step
/// are no longer told to be quick; the choice is the same.
#[test]
fn times_of_mixed_models_allow_for_long_trajectories() {
    let plain = target(236, 60);
    let mixed = Target {
        model: Some(of_groups(7, 1, false)),
        ..plain.clone()
    };
    let (plain, mixed) = (recommend(&facts(&plain)), recommend(&facts(&mixed)));
    assert_eq!((plain.sampler, mixed.sampler), ("nuts", "nuts"));
    assert!(
        plain.reason.contains("(about 1\u{202f}s on four cores"),
        "{}",
        plain.reason
    );
    assert!(mixed.reason.contains("(1 to "), "{}", mixed.reason);
    let of = |advice: &Advice, id: &str| {
        let mut all = advice.alternatives.iter();
        all.find(|other| other.sampler == id)
            .unwrap()
            .reason
            .clone()
    };
    for id in ["mala", "metropolis"] {
        assert!(
            !of(&plain, id).contains("\u{202f}min"),
            "{}",
            of(&plain, id)
        );
        let long = of(&mixed, id);
        let units = ["\u{202f}min", "\u{202f}h"];
        assert!(units.iter().any(|unit| long.contains(unit)), "{long}");
    }
    let two = recommend(&Facts {
        cores: Some(2),
        ..facts(&target(50_000, 20))
    });
    assert!(two.reason.contains(" on 2 cores"), "{}", two.reason);
}

/// More than 100 coordinates get a dense metric where they are so correlated that it pays.
#[test]
fn a_dense_metric_is_taken_where_it_pays() {
    let with = |dim, scaled_condition: Option<f64>| {
        let known = target(1000, dim);
        let mode = scaled_condition.zip(known.mode.clone());
        Target {
            mode: mode.map(|(scaled_condition, (model, centre))| {
                let mut centre = Centre::clone(&centre);
                centre.scaled_condition = scaled_condition;
                (model, Arc::new(centre))
            }),
            ..known
        }
    };
    assert!(dense_pays(&with(100, None)) && dense_pays(&with(100, Some(1.0))));
    assert!(dense_pays(&with(101, Some(100.0))));
    assert!(!dense_pays(&with(101, Some(2.0))) && !dense_pays(&with(101, None)));
    assert!(!dense_pays(&with(900, Some(20.0))));
}

/// The control of a bias check: what passes over all rows while that is cheap, what does not where rows are many enough for it, and
/// always one that is exact.
#[test]
fn the_cheapest_exact_sampler_is_told_with_its_passes() {
    let of = |target: &Target| cheapest_exact(&facts(target)).unwrap();
    let small = of(&target(1000, 5));
    assert_eq!(small.sampler, "nuts");
    assert!(small.passes.unwrap() > DRAWS, "{small:?}");
    let tall = of(&target(10_000_000, 10));
    assert_eq!(tall.sampler, "zig-zag");
    // A pass of each chain, and rows whose number does not grow with the table.
    assert!(tall.passes.unwrap() < 5.0, "{tall:?}");
    assert!(tall.time.contains("core"), "{tall:?}");
    for target in all_targets() {
        let facts = facts(&target);
        let found = cheapest_exact(&facts).unwrap();
        let entry = super::super::find(found.sampler).unwrap();
        assert!(entry.spec.bias.is_none() && entry.advice.standing != Standing::Comparison);
        assert!(facts.refusals.iter().all(|it| it.sampler != found.sampler));
    }
}
