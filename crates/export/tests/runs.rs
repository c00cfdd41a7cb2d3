//! Run folders of real runs: what was saved is continued and replayed to the last bit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../analysis/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::Control;
use ergodic_base::settings::Value;
use ergodic_core::arithmetic::Class;
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_core::engine::{RunState, RunView, Sampling as _, StopReason};
use ergodic_export::resume::{self, Further};
use ergodic_export::{Claim, Journal, Manifest, Results, RunFolder};
use support::{ENDLESS, draws, job, start, wait};

/// Partitions of a run, by chain: draw and labels.
fn partitions(view: &RunView) -> Vec<Vec<(u64, Vec<u32>)>> {
    let list = |chain: &ergodic_core::engine::ChainView| {
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
    let manifest = Manifest::of(run.job(), &view, &run.report());
    let rule = manifest.stop_rule.unwrap();
    let extended: Vec<u64> = (0..told.len()).map(|k| 1000 << k).collect();
    assert_eq!(rule.extended_at, extended);
    assert_eq!((rule.ess, rule.rhat), (Some(300.0), 1.01));
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

/// Without a number of draws a stopped run makes those that it was to make, a complete one as many again.
#[test]
fn a_run_that_was_stopped_goes_on_to_the_draws_that_were_asked() {
    let next = |planned: u64, is_stopped: bool| {
        let folder = tempfile::tempdir().unwrap();
        let mut run = start(job("nuts", planned, |_recipe| {}));
        if is_stopped {
            wait(&run, "draws", |view| view.draws_per_chain() > 20);
            run.stop();
        }
        run.join();
        let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
        let results = Results::of(run.job(), &run.view(), &run.report());
        let job = Arc::clone(run.job());
        place
            .save_all(&claim, &job, &results, run.join(), &mut |_file| {})
            .unwrap();
        drop(claim);
        let again =
            resume::resume(place.path(), Further::Usual, None, &Control::default()).unwrap();
        again.job.recipe.run.draws_of_chains.unwrap()
    };
    assert!(next(ENDLESS, true).iter().all(|&draws| draws == ENDLESS));
    assert!(next(30, false).iter().all(|&draws| draws == 60));
}

/// A run that was stopped before the precision that it was asked for ends there when it goes on, unless a number of draws is named;
/// once it has, as many draws are made again.
#[test]
fn a_stopped_run_goes_on_to_the_precision_that_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = start(job("nuts", ENDLESS, |recipe| {
        recipe.run.target_ess = Some(10_000.0);
    }));
    wait(&run, "draws", |view| view.draws_per_chain() > 20);
    run.stop();
    run.join();
    assert_eq!(run.view().state, RunState::Finished(StopReason::User));
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let save = |claim: &Claim, run: &mut Run| {
        let results = Results::of(run.job(), &run.view(), &run.report());
        let job = Arc::clone(run.job());
        (place.save_all(claim, &job, &results, run.join(), &mut |_file| {})).unwrap();
    };
    save(&claim, &mut run);
    drop(claim);
    let ready = |further| resume::resume(place.path(), further, None, &Control::default()).unwrap();
    // Looking at its draws, as a bias check does, changes nothing of that.
    let looked_at = ready(Further::Nothing);
    let mut run = Run::start(Arc::new(looked_at.job), looked_at.continuation, None).unwrap();
    run.join();
    save(&looked_at.claim, &mut run);
    drop(looked_at.claim);
    let rule = place
        .results()
        .unwrap()
        .manifest
        .unwrap()
        .stop_rule
        .unwrap();
    assert_eq!(rule.ess, Some(10_000.0));
    let named = ready(Further::Draws(10)).job.recipe.run;
    assert_eq!(
        (named.precision(), named.draws_of_chains.is_some()),
        (None, true)
    );
    let usual = ready(Further::Usual);
    assert_eq!(usual.job.recipe.run.target_ess, Some(10_000.0));
    let mut more = Run::start(Arc::new(usual.job), usual.continuation, None).unwrap();
    more.join();
    assert_eq!(more.view().state, RunState::Finished(StopReason::Precision));
    let made = more.view().draws_per_chain();
    assert!((made as u64) < ENDLESS, "{made}");
    save(&usual.claim, &mut more);
    drop(usual.claim);
    let manifest = place.results().unwrap().manifest.unwrap();
    assert_eq!(manifest.stop_rule.unwrap().ess, Some(10_000.0));
    assert_eq!(ready(Further::Usual).job.recipe.run.precision(), None);
}

/// A run that is made ready to look at its draws, as a bias check does, stays the run that was stopped.
#[test]
fn a_stopped_run_that_makes_no_more_draws_stays_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = start(job("nuts", ENDLESS, |_recipe| {}));
    wait(&run, "draws", |view| view.draws_per_chain() > 20);
    run.stop();
    run.join();
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let save = |claim: &Claim, run: &mut Run| {
        let results = Results::of(run.job(), &run.view(), &run.report());
        let job = Arc::clone(run.job());
        (place.save_all(claim, &job, &results, run.join(), &mut |_file| {})).unwrap();
    };
    save(&claim, &mut run);
    drop(claim);
    let before = place.recipe().unwrap();
    let go_on = |further| {
        let ready = resume::resume(place.path(), further, None, &Control::default()).unwrap();
        let mut more = Run::start(Arc::new(ready.job), ready.continuation, None).unwrap();
        more.join();
        (more, ready.claim)
    };
    let (mut looked_at, claim) = go_on(Further::Nothing);
    let stopped = RunState::Finished(StopReason::User);
    assert_eq!(looked_at.view().state, stopped);
    assert_eq!(draws(&looked_at.view()), draws(&run.view()));
    save(&claim, &mut looked_at);
    drop(claim);
    let manifest = place.results().unwrap().manifest.unwrap();
    assert_eq!(manifest.stop_reason, Some(StopReason::User));
    // It still goes on to the draws that it was to make.
    assert_eq!(place.recipe().unwrap().run, before.run);
    // One that did make draws ended as planned.
    let (more, _claim) = go_on(Further::Draws(10));
    assert_eq!(more.view().state, RunState::Finished(StopReason::Draws));
    // In memory it is known, too.
    let continuation = run.continuation();
    assert_eq!(continuation.ended, Some(StopReason::User));
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
    let mut more = Run::start(Arc::new(job), continuation, None).unwrap();
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
    let mut told = Vec::new();
    place
        .save_all(&claim, &job, &results, &marks, &mut |file| {
            told.push(file.to_owned());
        })
        .unwrap();
    let files = [
        "draws.csv",
        "info.csv",
        "summary.csv",
        "summary.json",
        "partitions.csv",
    ];
    assert_eq!(told, files);
    let back = place.results().unwrap();
    let clusters = back.found.get::<Clusters>().unwrap();
    let made = part.report().found.get::<Clusters>().unwrap();
    let written = std::fs::read(place.path().join("clusters.json")).unwrap();
    let mut text = serde_json::to_vec(&*made).unwrap();
    text.push(b'\n');
    assert!(written == text);
    assert!(clusters.partition == made.partition && clusters.together == made.together);
    assert!(clusters.units == made.units && clusters.pairs == made.pairs);
    assert_eq!((clusters.partition.len(), clusters.draws), (1000, 80));
    let sizes: usize = clusters.profiles.iter().map(|profile| profile.size).sum();
    assert_eq!(sizes, 1000);
    assert!(clusters.profiles[0].sentence().starts_with("age "));
    for file in [
        "partition.csv",
        "partitions.csv",
        "density.csv",
        "clusters.json",
    ] {
        let path = place.path().join(file);
        assert!(path.is_file(), "{file}");
        let over = ergodic_export::check_spares(&path, [""; 0]).unwrap_err();
        assert!(over.to_string().contains("is one of a run"), "{over}");
    }

    // Damaged, they are told and left out; what decides is asked of the clusters.
    std::fs::write(place.path().join("clusters.json"), "{}").unwrap();
    let damaged = place.results().unwrap();
    assert!(damaged.found.0.is_empty() && damaged.labels == back.labels);
    let [remark] = &damaged.remarks[..] else {
        panic!("{:?}", damaged.remarks)
    };
    assert!(remark.contains("clusters.json"), "{remark}");
    assert!(remark.ends_with("; the clusters are left out"), "{remark}");
    std::fs::write(place.path().join("clusters.json"), &written).unwrap();

    let mut recipe = place.recipe().unwrap();
    recipe.run.draws = 130;
    let job = Job::prepare(&recipe, place.path(), None, &Control::default()).unwrap();
    let standing = place.standing().unwrap().unwrap();
    let continuation = place.continuation(&job, standing).unwrap().continuation;
    let mut rest = Run::start(Arc::new(job), continuation, None).unwrap();
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
        let resumed =
            resume::resume(place.path(), Further::Draws(5), None, &Control::default()).unwrap();
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

/// Estimates of what is not kept are the same interrupted or not, saved or recovered, and are read as they were.
#[test]
fn moments_of_what_is_not_kept_are_exact_however_a_run_is_interrupted() {
    let some = |draws| {
        job("nuts", draws, |recipe| {
            "b[age]".clone_into(&mut recipe.run.keep);
        })
    };
    let all = |draws| job("nuts", draws, |_recipe| {});
    let estimates = |view: &RunView| -> Vec<_> {
        let chains = view.chains.iter();
        chains.map(|it| it.draws.unkept.as_ref().clone()).collect()
    };

    // Copied while it goes on, as after a crash.
    let folder = tempfile::tempdir().unwrap();
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    let endless = start(some(ENDLESS));
    place.begin(&claim, endless.job()).unwrap();
    let journal = Journal::start(claim, &endless);
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    // Checkpoints are some way behind the draws: one that all chains have draws before is waited for.
    wait(&endless, "moments on disk", |_view| {
        if journal.written() < 300 || !place.path().join("journal.checkpoint").is_file() {
            return false;
        }
        // The checkpoint first, which is never ahead of the draws.
        for name in ["journal.checkpoint", "journal.dat", "recipe.toml"] {
            std::fs::copy(place.path().join(name), copy.join(name)).unwrap();
        }
        let read = RunFolder::open(&copy).and_then(|folder| folder.results());
        let is_known = |read: &Results| {
            let mut estimates = read.estimates.iter();
            !read.estimates.is_empty() && estimates.all(|it| it.mean.is_some())
        };
        read.is_ok_and(|read| is_known(&read))
    });
    endless.stop();
    drop(journal);
    let copied = RunFolder::open(&copy).unwrap();
    let recovered = copied.results().unwrap();
    assert_eq!(recovered.variables, ["b[age]"]);
    assert!(recovered.estimates.iter().all(|it| it.mean.is_some()));
    assert!(recovered.estimates[0].draws <= recovered.total_draws() as u64);
    assert!(recovered.check_all_kept("A test needs").is_err());
    let made = recovered
        .draws
        .iter()
        .map(ergodic_base::draws::DrawList::len);
    let wanted = made.max().unwrap() as u64 + 40;

    let standing = copied.standing().unwrap().unwrap();
    let onward = copied.continuation(&some(wanted), standing).unwrap();
    let continuation = onward.continuation.unwrap();
    let mut more = Run::start(Arc::new(some(wanted)), Some(continuation), None).unwrap();
    more.join();
    let mut whole = start(some(wanted));
    whole.join();
    assert!(draws(&more.view()) == draws(&whole.view()));
    assert_eq!(estimates(&more.view()), estimates(&whole.view()));

    // Saved and read, they are what the run said.
    let (saved, claim) = RunFolder::create(&folder.path().join("saved")).unwrap();
    let (job, view) = (Arc::clone(more.job()), more.view());
    let results = Results::of(&job, &view, &more.report());
    saved
        .save_all(&claim, &job, &results, more.join(), &mut |_file| {})
        .unwrap();
    let read = saved.results().unwrap();
    assert_eq!(read.estimates, results.estimates);
    assert_eq!(read.manifest.unwrap().not_kept, job.unkept_variables());
    assert_eq!(saved.recipe().unwrap().run.keep, "b[age]");

    // And the mean and standard deviation of all draws.
    let mut full = start(all(wanted));
    full.join();
    let (full, found) = (full.report(), &read.estimates);
    let others = full.summary.iter().filter(|row| row.variable != "b[age]");
    assert_eq!(found.len(), full.summary.len() - 1);
    for (row, estimate) in others.zip(found.iter()) {
        assert_eq!(row.variable, estimate.variable);
        for (exact, found) in [(row.mean, estimate.mean), (row.sd, estimate.sd)] {
            let (exact, found) = (exact.unwrap(), found.unwrap());
            assert!((found - exact).abs() < 1e-12 * exact.abs().max(1.0));
        }
    }

    // A checkpoint that is damaged costs the estimates, not the draws.
    let path = saved.path().join("checkpoint.dat");
    std::fs::write(&path, "nothing of the kind").unwrap();
    let read = saved.results().unwrap();
    assert_eq!(read.remarks.len(), 1, "{:?}", read.remarks);
    assert!(read.remarks[0].contains("left out"), "{:?}", read.remarks);
    assert!(read.estimates.iter().all(|it| it.mean.is_none()));
}
