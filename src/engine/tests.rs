//! Steering runs: pause, stop, continue, limits, and chains that fail.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::protocol::{ChainState, RunState, StopReason};
use super::run::Run;
use super::{Job, PrepareControl, Recipe, RunView};
use crate::base::rng::ChainRng;
use crate::models::{AnchorRows, Model, ParamInfo, Rows, Scratch};

/// Long enough for anything here on a busy machine; passing it means a hang.
const PATIENCE: Duration = Duration::from_secs(120);
/// More draws than any test waits for.
const ENDLESS: u64 = 10_000_000;

fn job(sampler: &str, draws: u64, change: impl FnOnce(&mut Recipe)) -> Job {
    let mut recipe = Recipe::new("sample:churn", "logistic", "churned ~ age + plan");
    sampler.clone_into(&mut recipe.sampler.id);
    recipe.run.chains = 3;
    recipe.run.warmup = Some(60);
    recipe.run.draws = draws;
    change(&mut recipe);
    Job::prepare(&recipe, Path::new(""), None, &PrepareControl::default()).unwrap()
}

fn start(job: Job) -> Run {
    Run::start(Arc::new(job), None, Arc::new(|| {})).unwrap()
}

/// Waits until the newest view is as wanted.
#[track_caller]
fn wait(run: &Run, what: &str, wanted: impl Fn(&RunView) -> bool) -> Arc<RunView> {
    let begun = Instant::now();
    loop {
        let view = run.view();
        if wanted(&view) {
            return view;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "waited in vain for {what}: {:?}",
            view.state
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn draws(view: &RunView) -> Vec<Vec<Vec<f64>>> {
    let columns = |chain: &super::protocol::ChainView| {
        (0..chain.draws.draws.width())
            .map(|j| chain.draws.draws.column(j))
            .collect()
    };
    view.chains.iter().map(columns).collect()
}

#[test]
fn a_paused_run_stands_still_and_goes_on() {
    let mut run = start(job("metropolis", ENDLESS, |_| {}));
    wait(&run, "draws", |view| view.draws_per_chain() > 10);
    run.pause();
    let paused = wait(&run, "pause", |view| {
        view.chains
            .iter()
            .all(|chain| chain.state == ChainState::Paused)
    });
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(draws(&paused), draws(&run.view()));
    run.resume();
    let least = paused.draws_per_chain();
    wait(&run, "more draws", |view| view.draws_per_chain() > least);
    run.pause();
    // A stop reaches chains that wait.
    run.stop();
    let marks = run.join().to_vec();
    let view = run.view();
    assert_eq!(view.state, RunState::Finished(StopReason::User));
    for (chain, mark) in view.chains.iter().zip(&marks) {
        assert_eq!(
            chain.draws.draws.len() as u64,
            mark.as_ref().unwrap().draws,
            "every draw arrived"
        );
        assert_eq!(chain.draws.draws.len(), chain.draws.info.len());
    }
}

#[test]
fn a_run_stopped_at_any_time_continues_to_the_same_draws() {
    for sampler in ["nuts", "sgld-cv"] {
        let mut whole = start(job(sampler, 300, |_| {}));
        whole.join();
        let expected = draws(&whole.view());
        let mut part = start(job(sampler, 300, |_| {}));
        wait(&part, "draws", |view| {
            view.chains
                .iter()
                .any(|chain| !chain.draws.draws.is_empty())
        });
        part.stop();
        let continuation = part.continuation();
        let mut rest =
            Run::start(Arc::clone(part.job()), Some(continuation), Arc::new(|| {})).unwrap();
        rest.join();
        assert!(draws(&rest.view()) == expected, "{sampler}");
    }
}

#[test]
fn a_run_stopped_before_it_began_continues_to_the_same_draws() {
    let mut whole = start(job("nuts", 20, |_| {}));
    whole.join();
    let expected = draws(&whole.view());
    // The stop meets chains that wait for a thread, make their first pass, or already draw.
    for _ in 0..20 {
        let mut part = start(job("nuts", 20, |_| {}));
        part.stop();
        let continuation = part.continuation();
        assert!(continuation.marks.iter().all(Option::is_some));
        let mut rest =
            Run::start(Arc::clone(part.job()), Some(continuation), Arc::new(|| {})).unwrap();
        rest.join();
        assert!(draws(&rest.view()) == expected);
    }
}

#[test]
fn draws_can_be_added_while_a_run_goes_on() {
    let mut run = start(job("metropolis", 2000, |_| {}));
    run.add_draws(500);
    run.join();
    assert!(
        run.view()
            .chains
            .iter()
            .all(|chain| chain.draws.draws.len() == 2500)
    );
}

#[test]
fn a_run_stops_by_time_and_by_precision() {
    let mut by_time = start(job("metropolis", ENDLESS, |recipe| {
        recipe.run.max_seconds = Some(0.2);
    }));
    by_time.join();
    assert_eq!(by_time.view().state, RunState::Finished(StopReason::Time));
    let mut by_precision = start(job("nuts", ENDLESS, |recipe| {
        recipe.run.target_ess = Some(400.0);
    }));
    by_precision.join();
    assert_eq!(
        by_precision.view().state,
        RunState::Finished(StopReason::Precision)
    );
    for row in &by_precision.report().summary {
        assert!(
            row.ess_bulk.unwrap() >= 400.0
                && row.ess_tail.unwrap() >= 400.0
                && row.rhat.unwrap() <= 1.01
        );
    }
}

#[test]
fn a_precision_that_was_not_reached_is_told() {
    for by_time in [false, true] {
        let mut run = start(job("nuts", if by_time { ENDLESS } else { 150 }, |recipe| {
            recipe.run.chains = 4;
            recipe.run.target_ess = Some(1e9);
            recipe.run.max_seconds = by_time.then_some(1.0);
        }));
        run.join();
        let report = run.report();
        assert_eq!(report.warnings.len(), 1, "{}", report.sentence);
        let warning = &report.warnings[0];
        assert_eq!(warning.code, super::monitor::TARGET_MISSED);
        assert!(warning.message.contains("asked for"), "{}", warning.message);
        assert!(warning.remedy.as_ref().unwrap().starts_with("add "));
        assert!(!report.sentence.starts_with("Good"), "{}", report.sentence);
    }
}

#[test]
fn an_early_stop_before_the_first_draw_is_no_accident() {
    let mut run = start(job("nuts", ENDLESS, |recipe| {
        recipe.run.warmup = Some(1_000_000);
    }));
    wait(&run, "warm-up", |view| {
        view.chains
            .iter()
            .all(|chain| chain.state == ChainState::Warmup)
    });
    run.stop();
    run.join();
    assert_eq!(run.view().state, RunState::Finished(StopReason::User));
    assert_eq!(run.view().draws_per_chain(), 0);
}

#[test]
fn a_warm_up_ended_by_hand_replays_bit_for_bit() {
    for (sampler, planned) in [
        ("nuts", Some(1_000_000)),
        ("metropolis", Some(1_000_000)),
        ("osgfs", None),
    ] {
        let mut run = start(job(sampler, 150, |recipe| {
            recipe.run.warmup = planned;
        }));
        if planned.is_some() {
            // Some windows of adaptation, and chains at different iterations.
            wait(&run, "warm-up", |view| {
                view.chains.iter().all(|chain| chain.iterations > 120)
            });
        }
        run.freeze();
        let marks = run.join().to_vec();
        let view = run.view();
        assert_eq!(
            view.state,
            RunState::Finished(StopReason::Draws),
            "{sampler}"
        );
        assert_eq!(view.draws_per_chain(), 150);
        let ends = view.warmup_of_chains().unwrap();
        for ((chain, mark), end) in view.chains.iter().zip(&marks).zip(&ends) {
            assert_eq!(mark.as_ref().unwrap().warmup_end, Some(*end), "{sampler}");
            assert_eq!(chain.draws.warmup.len() as u64, *end);
        }
        let mut replayed = start(job(sampler, 150, |recipe| {
            recipe.run.warmup = planned;
            recipe.run.warmup_of_chains = Some(ends.clone());
        }));
        replayed.join();
        assert!(draws(&replayed.view()) == draws(&view), "{sampler}");
        assert_eq!(replayed.view().warmup_of_chains(), Some(ends));
        // The samplers really stopped adapting: the step size of a frozen chain is one number.
        let columns = run.job().sampler.spec.info;
        if let Some(column) = columns
            .iter()
            .position(|c| c.name == crate::samplers::STEP_SIZE)
        {
            let steps = view.chains[0].draws.info.column(column);
            assert!(sampler == "osgfs" || steps.iter().all(|step| *step == steps[0]));
        }
    }
}

#[test]
fn a_frozen_run_is_saved_continued_and_replayed() {
    use crate::export::{Results, RunFolder};
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
    let place = RunFolder::create(&folder.path().join("run")).unwrap();
    place
        .save(&job, &Results::of(&job, &view, &run.report()))
        .unwrap();
    place.save_checkpoint(&job, run.join()).unwrap();
    let recipe = place.recipe().unwrap();
    assert_eq!(recipe.run.warmup_of_chains, view.warmup_of_chains());
    let prepare = |recipe: &Recipe| {
        Job::prepare(recipe, place.path(), None, &PrepareControl::default()).unwrap()
    };
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
    let continuation = place.continuation(&job).unwrap();
    let mut more = Run::start(Arc::new(job), Some(continuation), Arc::new(|| {})).unwrap();
    more.join();
    assert_eq!(more.view().warmup_of_chains(), view.warmup_of_chains());
    let mut whole = start(prepare(&longer));
    whole.join();
    assert!(draws(&more.view()) == draws(&whole.view()));
}

#[test]
fn draws_that_left_the_anchor_are_told_and_the_anchor_is_refreshed() {
    use super::anchor_check;
    use crate::oracle::Anchor;
    let long = |recipe: &mut Recipe| {
        recipe.run.warmup = Some(300);
        recipe
            .sampler
            .settings
            .set("batch", crate::base::settings::Value::Int(500));
    };
    let near = job("sgld-cv", 400, long);
    let mut run = start(near.clone());
    run.join();
    assert!(
        run.report().warnings.is_empty(),
        "{:?}",
        run.report().warnings
    );
    // The same with an anchor eight standard deviations away.
    let mut far = near.clone();
    let mode = near.anchor.as_ref().unwrap();
    let sds = mode.sds();
    let u: Vec<f64> = mode
        .u
        .iter()
        .zip(&sds)
        .map(|(u, sd)| u + 4.0 * sd)
        .collect();
    far.anchor = Some(Arc::new(Anchor::at(far.model.as_ref(), &u).unwrap()));
    let mut run = start(far);
    run.join();
    let report = run.report();
    assert_eq!(report.warnings.len(), 1, "{}", report.sentence);
    assert_eq!(report.warnings[0].code, anchor_check::CODE);
    assert!(report.warnings[0].remedy.is_some());
    assert!(
        report.sentence.contains("refresh the anchor"),
        "{}",
        report.sentence
    );
    assert!(report.sentence.chars().count() <= crate::diagnostics::verdict::SENTENCE_LIMIT);
    // From the mean of those draws the search ends at the mode.
    let view = run.view();
    let lists: Vec<_> = view.usable().map(|chain| &chain.draws.draws).collect();
    let again = job("sgld-cv", 400, |recipe| {
        long(recipe);
        recipe.mode.start = anchor_check::start(&lists);
    });
    let refreshed = again.anchor.as_ref().unwrap();
    for ((found, mode), sd) in refreshed.u.iter().zip(&mode.u).zip(&sds) {
        assert!((found - mode).abs() < 1e-6 * sd);
    }
    let first = &again.mode.as_ref().unwrap().trace[0];
    assert!(
        first.gradient_norm > 0.0 && first.gradient_norm < 2.0,
        "{first:?}"
    );
    // NUTS has no anchor to leave.
    let nuts = job("nuts", 10, |_| {});
    assert_eq!(anchor_check::distance(&nuts, &lists), None);
}

#[test]
fn the_criterion_of_each_component_is_published() {
    for (sampler, components) in [("osgfs", 4), ("osgfs-cv", 4), ("nuts", 0)] {
        let mut run = start(job(sampler, 100, |_| {}));
        run.join();
        for chain in &run.view().chains {
            assert_eq!(chain.criterion.len(), components, "{sampler}");
            assert!(
                chain
                    .criterion
                    .iter()
                    .all(|ratio| ratio.is_finite() && *ratio >= 0.0)
            );
        }
    }
}

/// What goes wrong on the thread of one chain.
#[derive(Clone, Copy)]
enum Fault {
    NotANumber,
    Panic,
}

/// A model that misbehaves on the thread called `chain-2`, which runs exactly one chain.
struct Faulty(Arc<dyn Model>, Fault);

impl Faulty {
    fn strike(&self, grad: &mut [f64]) {
        if std::thread::current().name() == Some("chain-2") {
            match self.1 {
                Fault::NotANumber => grad.fill(f64::NAN),
                Fault::Panic => panic!("a model's bug"),
            }
        }
    }
}

impl Model for Faulty {
    fn params(&self) -> &[ParamInfo] {
        self.0.params()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn num_obs(&self) -> usize {
        self.0.num_obs()
    }
    fn scratch(&self) -> Scratch {
        self.0.scratch()
    }
    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.0.constrain(u, theta);
    }
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.0.unconstrain(theta, u);
    }
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        self.0.init(rng, u);
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.0.log_prior(u, grad)
    }
    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        self.0.prior_density(index, value)
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.0.log_lik(u, rows, scratch, grad)
    }
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.0.grad_log_lik(u, rows, scratch, grad);
        self.strike(grad);
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.0.pointwise(u, rows, scratch, out);
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.0.scores(u, rows, scratch, out);
    }
    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        self.0.simulate(u, rows, rng, y);
    }
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        a: &AnchorRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.0.grad_difference(u, rows, a, s, grad);
        self.strike(grad);
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        a: &AnchorRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.0.score_differences(u, rows, a, s, out);
    }
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        s: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.0.add_neg_hessian_log_lik(u, rows, s, hessian);
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.0.add_neg_hessian_log_prior(u, hessian);
    }
}

#[test]
fn a_failing_chain_is_reported_and_the_others_go_on() {
    for (fault, words) in [
        (Fault::NotANumber, "not a finite number"),
        (Fault::Panic, "internal error"),
    ] {
        let mut job = job("sgld-cv", 200, |_| {});
        let sound = Arc::clone(&job.model);
        job.model = Arc::new(Faulty(Arc::clone(&sound), fault));
        let mut run = start(job);
        let marks = run.join().to_vec();
        let view = run.view();
        let failed: Vec<&ChainState> = view
            .chains
            .iter()
            .map(|chain| &chain.state)
            .filter(|state| matches!(state, ChainState::Failed(_)))
            .collect();
        assert_eq!(failed.len(), 1);
        assert!(
            matches!(failed[0], ChainState::Failed(why) if why.contains(words)),
            "{failed:?}"
        );
        assert_eq!(view.state, RunState::Finished(StopReason::Draws));
        assert_eq!(view.draws_per_chain(), 200);
        assert_eq!(marks.iter().flatten().count(), 2);
        assert!(
            view.log
                .iter()
                .any(|entry| entry.warning.message.contains(words))
        );
        // Continued, the failed chain stays failed and the others make more draws.
        let mut job = (**run.job()).clone();
        job.model = sound;
        job.recipe.run.draws = 250;
        let mut more =
            Run::start(Arc::new(job), Some(run.continuation()), Arc::new(|| {})).unwrap();
        more.join();
        assert_eq!(more.view().draws_per_chain(), 250);
        assert_eq!(more.view().usable().count(), 2);
    }
}

/// Partitions of a run, by chain: draw and labels.
fn partitions(view: &RunView) -> Vec<Vec<(u64, Vec<u32>)>> {
    let list = |chain: &super::protocol::ChainView| {
        let labels = chain.draws.labels.iter();
        labels.map(|(k, labels)| (k, labels.to_vec())).collect()
    };
    view.chains.iter().map(list).collect()
}

#[test]
fn partitions_are_kept_saved_and_continued() {
    use crate::export::{Results, RunFolder};
    let mixture = |draws| {
        let mut recipe = Recipe::new("sample:churn", "dp-mixture", "~ age + plan");
        recipe.run.chains = 2;
        recipe.run.warmup = Some(5);
        recipe.run.draws = draws;
        recipe.sampler.id = "dp-slice".to_owned();
        let control = PrepareControl::default();
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
    let place = RunFolder::create(&folder.path().join("run")).unwrap();
    let job = Arc::clone(part.job());
    place
        .save(&job, &Results::of(&job, &part.view(), &part.report()))
        .unwrap();
    let marks = part.continuation().marks;
    place.save_checkpoint(&job, &marks).unwrap();
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
    let job = Job::prepare(&recipe, place.path(), None, &PrepareControl::default()).unwrap();
    let continuation = place.continuation(&job).unwrap();
    let mut rest = Run::start(Arc::new(job), Some(continuation), Arc::new(|| {})).unwrap();
    rest.join();
    assert!(partitions(&rest.view()) == expected);
    assert!(draws(&rest.view()) == draws(&whole.view()));
}
