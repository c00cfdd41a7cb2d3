//! Run folders of real runs: what was saved is continued and replayed to the last bit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../analysis/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::control::Control;
use ergodic_base::settings::Value;
use ergodic_core::arithmetic::Class;
use ergodic_core::engine::RunView;
use ergodic_core::engine::protocol::{RunState, StopReason};
use ergodic_export::{Results, RunFolder, resume};
use support::{ENDLESS, draws, job, start, wait};

/// Partitions of a run, by chain: draw and labels.
fn partitions(view: &RunView) -> Vec<Vec<(u64, Vec<u32>)>> {
    let list = |chain: &ergodic_core::engine::protocol::ChainView| {
        let labels = chain.draws.labels.iter();
        labels.map(|(k, labels)| (k, labels.to_vec())).collect()
    };
    view.chains.iter().map(list).collect()
}

/// A run that is not precise after its draws goes on by stages, the same on every machine; its folder replays it.
#[test]
fn a_run_goes_on_until_it_is_precise() {
    let unsure = || {
        // Steps so short that 1,000 draws are worth few.
        job("mala", 1000, |recipe| {
            recipe.sampler.settings.set("step_size", Value::Real(0.1));
            recipe.run.until_precise = true;
        })
    };
    let mut run = start(unsure());
    run.join();
    let view = run.view();
    let made = view.draws_per_chain();
    assert!([2000, 4000, 8000, 16_000].contains(&made), "{made}");
    let told: Vec<&str> = view
        .log
        .iter()
        .filter(|entry| entry.warning.code == "going-on")
        .map(|entry| entry.warning.message.as_str())
        .collect();
    assert_eq!(1000 << told.len(), made, "{told:?}");
    assert!(
        told[0].starts_with("After 1\u{202f}000 draws per chain"),
        "{told:?}"
    );
    if made < 16_000 {
        assert_eq!(view.state, RunState::Finished(StopReason::Precision));
    }
    let mut again = start(unsure());
    again.join();
    assert_eq!(draws(&view), draws(&again.view()));

    let folder = tempfile::tempdir().unwrap();
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let job = Arc::clone(run.job());
    let results = Results::of(&job, &view, &run.report());
    place
        .save_all(&claim, &job, &results, &[], &mut |_file| {})
        .unwrap();
    let recipe = place.recipe().unwrap();
    assert_eq!(
        (recipe.run.draws, recipe.run.until_precise),
        (made as u64, false)
    );

    // Named draws are all there are.
    let mut named = start(self::job("metropolis", 1000, |recipe| {
        *recipe = recipe.changed(&["run.draws=1000".to_owned()]).unwrap();
    }));
    named.join();
    assert_eq!(named.view().draws_per_chain(), 1000);
}

#[test]
fn a_frozen_run_is_saved_continued_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = start(job("nuts", ENDLESS, |recipe| {
        recipe.run.warmup = Some(1_000_000);
    }));
    wait(&run, "warm-up", |view| {
        view.chains.iter().all(|chain| chain.iterations > 30)
    });
    run.freeze();
    wait(&run, "draws", |view| view.draws_per_chain() > 20);
    run.stop();
    run.join();
    let (job, view) = (Arc::clone(run.job()), run.view());
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let results = Results::of(&job, &view, &run.report());
    place
        .save_all(&claim, &job, &results, run.join(), &mut |_file| {})
        .unwrap();
    let recipe = place.recipe().unwrap();
    assert_eq!(recipe.run.warmup_of_chains, view.warmup_of_chains());
    let prepare =
        |recipe: &Recipe| Job::prepare(recipe, place.path(), None, &Control::default()).unwrap();
    let mut replayed = start(prepare(&recipe));
    replayed.join();
    assert!(draws(&replayed.view()) == draws(&view));
    // Continued from its checkpoint it goes on drawing, and its recipe still knows where the warm-up ended.
    let mut longer = recipe;
    let wanted = |view: &RunView| -> Vec<u64> {
        let chains = view.chains.iter();
        chains
            .map(|chain| chain.draws.draws.len() as u64 + 25)
            .collect()
    };
    longer.run.draws_of_chains = Some(wanted(&view));
    let job = prepare(&longer);
    let standing = place.standing().unwrap().unwrap();
    let continuation = place.continuation(&job, standing).unwrap().continuation;
    let mut more = Run::start(Arc::new(job), continuation, Arc::new(|| {})).unwrap();
    more.join();
    assert_eq!(more.view().warmup_of_chains(), view.warmup_of_chains());
    let mut whole = start(prepare(&longer));
    whole.join();
    assert!(draws(&more.view()) == draws(&whole.view()));
}

#[test]
fn partitions_are_kept_saved_and_continued() {
    let mixture = |draws| {
        let mut recipe = Recipe::new("sample:churn", "dp-mixture", "~ age + plan");
        recipe.run.chains = 2;
        recipe.run.warmup = Some(5);
        recipe.run.draws = draws;
        recipe.sampler.id = "dp-slice".to_owned();
        let control = Control::default();
        Job::prepare(&recipe, Path::new(""), None, &control).unwrap()
    };
    // More draws than partitions that a chain keeps, so that they are thinned.
    let mut whole = start(mixture(130));
    whole.join();
    let expected = partitions(&whole.view());
    assert!(expected.iter().all(|chain| chain.len() == 65));
    assert!(expected[0].iter().all(|(_, labels)| labels.len() == 1000));

    let folder = tempfile::tempdir().unwrap();
    let mut part = start(mixture(40));
    part.join();
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let job = Arc::clone(part.job());
    let results = Results::of(&job, &part.view(), &part.report());
    let marks = part.continuation().marks;
    place
        .save_all(&claim, &job, &results, &marks, &mut |_file| {})
        .unwrap();
    let back = place.results().unwrap();
    let clusters = back.clusters.unwrap();
    let made = part.report().clusters.clone().unwrap();
    assert!(clusters.partition == made.partition && clusters.together == made.together);
    assert!(clusters.units == made.units && clusters.pairs == made.pairs);
    assert_eq!((clusters.partition.len(), clusters.draws), (1000, 80));
    let sizes: usize = clusters.profiles.iter().map(|profile| profile.size).sum();
    assert_eq!(sizes, 1000);
    assert!(clusters.profiles[0].sentence().starts_with("age "));
    for file in ["partition.csv", "partitions.csv", "clusters.json"] {
        assert!(place.path().join(file).is_file(), "{file}");
    }

    let mut recipe = place.recipe().unwrap();
    recipe.run.draws = 130;
    let job = Job::prepare(&recipe, place.path(), None, &Control::default()).unwrap();
    let standing = place.standing().unwrap().unwrap();
    let continuation = place.continuation(&job, standing).unwrap().continuation;
    let mut rest = Run::start(Arc::new(job), continuation, Arc::new(|| {})).unwrap();
    rest.join();
    assert!(partitions(&rest.view()) == expected);
    assert!(draws(&rest.view()) == draws(&whole.view()));
}

/// What a processor without fused multiply-add has drawn is continued and replayed by one that has it, which says so.
#[test]
fn a_run_of_another_class_of_processor_is_told() {
    if Class::in_use() == Class::Separate {
        return;
    }
    let small = || {
        job("sgld-cv", 40, |recipe| {
            recipe.run.warmup = Some(30);
            *recipe = recipe.changed(&["run.draws=40".to_owned()]).unwrap();
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str| {
        let mut run = start(small());
        run.join();
        let (place, claim) = RunFolder::create(&folder.path().join(name)).unwrap();
        let job = Arc::clone(run.job());
        let results = Results::of(&job, &run.view(), &run.report());
        let marks = run.continuation().marks;
        place
            .save_all(&claim, &job, &results, &marks, &mut |_file| {})
            .unwrap();
        (place, draws(&run.view()))
    };
    let (here, fused) = saved("here");
    Class::choose(Some(Class::Separate));
    let (there, separate) = saved("there");
    Class::choose(None);
    // The same but for rounding.
    assert_ne!(fused, separate);
    let manifest = there.results().unwrap().manifest.unwrap();
    assert_eq!(manifest.arithmetic, Some(Class::Separate));
    let resumed = |place: &RunFolder| {
        let resumed = resume::resume(place.path(), Some(5), None, &Control::default()).unwrap();
        resumed.remarks
    };
    assert_eq!(resumed(&here), Vec::<String>::new());
    let told = resumed(&there);
    assert_eq!(
        told,
        [
            "The run was made on a processor without fused multiply-add and this one has it, so draws made here agree with those \
             made there within Monte Carlo error, not digit for digit"
        ]
    );
    assert_eq!(there.replay_remark(&small()).as_ref(), told.first());
    assert_eq!(here.replay_remark(&small()), None);
}
