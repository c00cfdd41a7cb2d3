//! Steering runs: pause, stop, continue, limits, and chains that fail.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ergodic_analysis::zero_variance::zero_variance;
use ergodic_analysis::{Job, Recipe, Run, bias_check};
use ergodic_base::draws::DrawList;
use ergodic_base::{Control, Severity};
use ergodic_core::engine::{ChainState, Report, RunState, RunView, Sampling as _, StopReason};
use ergodic_core::models::{
    CentreRows, DefaultPriors, LogDensity, Model, ParamInfo, Posterior, RowLikelihood, Rows,
    Scratch, Storage, sum_of_rows,
};
use ergodic_diagnostics::zero_variance::Order;
use ergodic_diagnostics::{Limits, Verdict};
use support::{ENDLESS, draws, job, start, wait};

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
        let mut rest = Run::start(Arc::clone(part.job()), Some(continuation), None).unwrap();
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
        let mut rest = Run::start(Arc::clone(part.job()), Some(continuation), None).unwrap();
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
    // The run was precise enough when the monitor looked; what chains drew until they stopped moves these a little either way.
    for row in &by_precision.report().summary {
        assert!(
            row.ess_bulk.unwrap() >= 380.0
                && row.ess_tail.unwrap() >= 380.0
                && row.rhat.unwrap() <= 1.015
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
        let mut missed = report
            .warnings
            .iter()
            .filter(|it| it.code == "target-missed");
        let warning = missed.next().unwrap();
        assert!(missed.next().is_none());
        let wanted = "not 1\u{202f}000\u{202f}000\u{202f}000";
        assert!(warning.message.contains(wanted), "{}", warning.message);
        assert!(warning.advice.as_ref().unwrap().starts_with("Add "));
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
            .position(|c| c.name == ergodic_core::samplers::STEP_SIZE)
        {
            let steps = view.chains[0].draws.info.column(column);
            assert!(sampler == "osgfs" || steps.iter().all(|step| *step == steps[0]));
        }
    }
}

#[test]
fn draws_that_left_the_centre_are_told_and_the_centre_is_refreshed() {
    use ergodic_core::engine::mode_drift;
    use ergodic_core::oracle::Centre;
    let long = |recipe: &mut Recipe| {
        recipe.run.warmup = Some(300);
        recipe
            .sampler
            .settings
            .set("batch", ergodic_base::settings::Value::Int(500));
    };
    let near = job("sgld-cv", 400, long);
    let mut run = start(near.clone());
    run.join();
    let told = |report: &Report| {
        let mut warnings = report.warnings.iter();
        warnings.find(|it| it.code == "draws-left-centre").cloned()
    };
    assert_eq!(told(&run.report()), None);
    // The same with a centre eight standard deviations away.
    let mut far = near.clone();
    let mode = near.centre.as_ref().unwrap();
    let sds = mode.sds();
    let u: Vec<f64> = mode
        .u
        .iter()
        .zip(&sds)
        .map(|(u, sd)| u + 4.0 * sd)
        .collect();
    far.centre = Some(Arc::new(
        Centre::at(far.model.density().unwrap(), &u).unwrap(),
    ));
    // An exact sampler only wastes rows there, and one that moves its point of expansion is not there.
    let mut exact = far.with_sampler("zig-zag").unwrap();
    exact.recipe.run.draws = 400;
    let mut run = start(exact);
    run.join();
    let report = run.report();
    assert_eq!(told(&report).unwrap().severity, Severity::Info);
    assert_ne!(report.verdict, Verdict::NotCertified, "{}", report.sentence);
    let moving = far.with_sampler("hmc-ecs-signed").unwrap();
    let view = run.view();
    let lists: Vec<_> = view.usable().map(|chain| &chain.draws.draws).collect();
    let limits = Limits::of(lists.len());
    assert_eq!(mode_drift::distance(&moving, &lists, &limits), None);
    // Chains of a group have one mean, for which few draws of each are enough.
    let mut grouped = far.clone();
    grouped.recipe.run.draws = 60;
    (grouped.recipe.run.chains, grouped.recipe.run.superchains) = (4, Some(2));
    let mut run = start(grouped);
    run.join();
    assert!(told(&run.report()).is_some());
    let view = run.view();
    let short: Vec<_> = view.usable().map(|chain| &chain.draws.draws).collect();
    assert_eq!(
        mode_drift::distance(&far, &short, &Limits::of(short.len())),
        None
    );
    let mut run = start(far);
    run.join();
    let report = run.report();
    let warning = told(&report).unwrap();
    assert_eq!(warning.severity, Severity::Watch);
    assert!(warning.advice.is_some());
    assert!(
        report.sentence.contains("refresh the centre"),
        "{}",
        report.sentence
    );
    assert!(report.sentence.chars().count() <= ergodic_diagnostics::SENTENCE_LIMIT);
    // From the mean of those draws the search ends at the mode.
    let view = run.view();
    let lists: Vec<_> = view.usable().map(|chain| &chain.draws.draws).collect();
    let again = job("sgld-cv", 400, |recipe| {
        long(recipe);
        recipe.mode.start = mode_drift::start(&lists);
    });
    let refreshed = again.centre.as_ref().unwrap();
    for ((found, mode), sd) in refreshed.u.iter().zip(&mode.u).zip(&sds) {
        assert!((found - mode).abs() < 1e-6 * sd);
    }
    let first = &again.mode.as_ref().unwrap().trace[0];
    assert!(
        first.gradient_norm > 0.0 && first.gradient_norm < 2.0,
        "{first:?}"
    );
    // NUTS has no centre to leave.
    let nuts = job("nuts", 10, |_| {});
    assert_eq!(mode_drift::distance(&nuts, &lists, &limits), None);
}

/// Draws of NUTS stand for those of an approximate sampler without bias. What is wrong with its control is said of the control
/// run alone too, and certifies nothing.
#[test]
fn a_control_with_faults_of_its_own_certifies_nothing() {
    let mut exact = start(job("nuts", 4000, |recipe| {
        recipe.run.chains = 4;
        recipe.run.warmup = Some(300);
    }));
    exact.join();
    let mut approximate = (**exact.job()).clone();
    approximate.sampler = ergodic_core::samplers::find("sgld").unwrap();
    let control = bias_check::control_job(exact.job(), Some(4000)).unwrap();
    assert_eq!(control.recipe.run.seed, exact.job().recipe.run.seed + 1);
    let mut control = start(control);
    control.join();
    let certified = |view: &RunView| {
        let made = bias_check::Made {
            control: (control.job().as_ref(), view),
            half_step: None,
        };
        bias_check::certify(&approximate, &exact.view(), &exact.report(), &made)
    };
    let good = certified(&control.view());
    assert_eq!(good.verdict, Verdict::Good, "{}", good.sentence);
    let mut failed = (*control.view()).clone();
    failed.chains[1].state = ChainState::Failed("a reason".to_owned());
    let mut diverged = (*control.view()).clone();
    let columns = control.job().sampler.spec.info;
    let name = ergodic_core::samplers::DIVERGENT;
    let column = columns.iter().position(|it| it.name == name).unwrap();
    let info = &mut diverged.chains[2].draws.info;
    let mut changed = DrawList::new(info.width());
    for draw in 0..info.len() {
        let mut row: Vec<f64> = (0..info.width()).map(|j| info.value(draw, j)).collect();
        row[column] = f64::from(u8::from(draw < 50));
        changed.push(&row);
    }
    *info = changed;
    for bad in [failed, diverged] {
        let report = certified(&bad);
        assert_eq!(report.verdict, Verdict::NotCertified, "{}", report.sentence);
        assert!(report.bias.as_ref().unwrap().doubt.is_some());
        assert_eq!(report.warnings[0].code, "bias-unclear");
    }
}

/// Chains of a group begin at one point and go ways of their own; nested R-hat of all is in the reports.
#[test]
fn chains_that_begin_in_groups_have_a_nested_rhat() {
    let job = job("nuts", 60, |recipe| {
        (recipe.run.chains, recipe.run.superchains) = (6, Some(3));
        recipe.run.warmup = Some(30);
    });
    let starts: Vec<Vec<f64>> = (0..6)
        .map(|chain| job.start_position(chain))
        .collect::<Result<_, _>>()
        .unwrap();
    for (a, b) in [(0, 1), (2, 3), (4, 5)] {
        assert_eq!(starts[a], starts[b]);
    }
    assert_ne!(starts[1], starts[2]);
    let mut run = start(job);
    run.join();
    let (view, report) = (run.view(), run.report());
    let first = |chain: usize| view.chains[chain].draws.draws.value(0, 0);
    assert_ne!(first(0), first(1));
    // Groups of two chains are judged together: 60 draws of each chain are enough.
    assert_eq!(report.limits.superchains, Some(3));
    assert_eq!(report.limits.least_draws(), 50);
    assert_ne!(report.verdict, Verdict::TooEarly, "{}", report.sentence);
    let columns: Vec<Vec<f64>> = view
        .chains
        .iter()
        .map(|it| it.draws.draws.column(0))
        .collect();
    let chains: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let expected = ergodic_diagnostics::rhat_nested(&chains, 3).unwrap();
    assert_eq!(report.summary[0].rhat_nested, Some(expected));
    assert!(report.summary.iter().all(|row| row.rhat_nested.is_some()));
    let points = report.running.points(0);
    assert!(points.iter().all(|point| point.rhat_nested.is_some()) && points[0].draws < 60);
}

#[test]
fn the_criterion_of_each_component_is_published() {
    use ergodic_core::samplers::CRITERION_OF_COMPONENTS;
    for (sampler, components) in [("osgfs", 4), ("osgfs-cv", 4), ("nuts", 0)] {
        let mut run = start(job(sampler, 100, |_| {}));
        run.join();
        for chain in &run.view().chains {
            let ratios = chain.numbers_called(CRITERION_OF_COMPONENTS);
            assert_eq!(ratios.len(), components, "{sampler}");
            assert!(
                ratios
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
    fn sound(&self) -> &dyn RowLikelihood {
        self.0.rows().unwrap()
    }

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
    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }
    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.0.constrain(u, theta);
    }
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.0.unconstrain(theta, u);
    }
    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        self.0.prior_density(index, value)
    }
}

impl LogDensity for Faulty {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for Faulty {
    fn num_obs(&self) -> usize {
        self.sound().num_obs()
    }
    fn scratch(&self) -> Scratch {
        self.sound().scratch()
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.sound().log_prior(u, grad)
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.sound().log_lik(u, rows, scratch, grad)
    }
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.sound().grad_log_lik(u, rows, scratch, grad);
        self.strike(grad);
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.sound().pointwise(u, rows, scratch, out);
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.sound().scores(u, rows, scratch, out);
    }
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        a: &CentreRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.sound().grad_difference(u, rows, a, s, grad);
        self.strike(grad);
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        a: &CentreRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.sound().score_differences(u, rows, a, s, out);
    }
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        s: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.sound().add_neg_hessian_log_lik(u, rows, s, hessian);
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.sound().add_neg_hessian_log_prior(u, hessian);
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
        let mut more = Run::start(Arc::new(job), Some(run.continuation()), None).unwrap();
        more.join();
        assert_eq!(more.view().draws_per_chain(), 250);
        assert_eq!(more.view().usable().count(), 2);
    }
}

/// Chains stand in coordinates: a checkpoint made in others must not be continued.
#[test]
fn coordinates_are_part_of_what_a_continued_run_must_agree_with() {
    for formula in [
        "passed ~ hours + (1 | school)",
        "passed ~ hours + (hours | school)",
    ] {
        let recipe = Recipe::new("sample:schools", "mixed", formula);
        let mut recipe = recipe
            .changed(&["model.family=bernoulli".to_owned()])
            .unwrap();
        recipe.sampler.id = "nuts".to_owned();
        let prepare = || Job::prepare(&recipe, Path::new(""), None, &Control::default());
        let job = prepare().unwrap();
        assert!(job.outset.as_ref().unwrap().is_whitened(), "{formula}");
        let mut other = job.clone();
        other.outset = None;
        assert_ne!(other.fingerprint(), job.fingerprint());
        assert_eq!(prepare().unwrap().fingerprint(), job.fingerprint());
    }
}

/// Written before recipes named the priors of parameters that have none of their own.
#[test]
fn recipes_of_before_keep_their_priors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/earlier_recipe");
    for template in ["linear", "logistic", "poisson"] {
        let path = folder.join(format!("{template}.toml"));
        let recipe = Recipe::read(&path, &[]).unwrap();
        let job = Job::prepare(&recipe, &folder, None, &Control::default()).unwrap();
        for param in job.model.params() {
            let prior = match param.name.as_str() {
                "sigma" => "half_student_t(3, 0, 2.5)",
                _ => "normal(0, 10)",
            };
            assert_eq!(param.prior.as_str(), prior, "{template} {}", param.name);
        }
        // What such a run writes names them, and is continued as what was written before.
        assert_eq!(job.recipe.priors["default"], "papers");
        let mut unnamed = job.clone();
        unnamed.recipe.priors.clear();
        assert_eq!(unnamed.fingerprint(), job.fingerprint());
        assert!(unnamed.recipe.gives_the_same_results_as(&job.recipe));
        let mut narrower = job.clone();
        let defaults = DefaultPriors::WeaklyInformative;
        narrower.recipe.set_default_priors(defaults);
        assert_ne!(narrower.fingerprint(), job.fingerprint());
        assert!(!narrower.recipe.gives_the_same_results_as(&job.recipe));
    }
    let new = Recipe::new("sample:churn", "logistic", "churned ~ age");
    let again = Recipe::parse(&new.to_toml(), &[]).unwrap();
    assert_eq!(again.default_priors(), DefaultPriors::WeaklyInformative);
    let job = Job::prepare(&again, Path::new(""), None, &Control::default()).unwrap();
    assert_eq!(job.model.params()[1].prior.as_str(), "normal(0, 2.5)");
    assert_eq!(job.recipe.priors["default"], "weakly-informative");
}

#[test]
fn rows_in_single_precision_are_another_run_that_replays() {
    let single = job("nuts", 40, |recipe| recipe.data.storage = Storage::F32);
    let double = job("nuts", 40, |_| {});
    assert_ne!(single.fingerprint(), double.fingerprint());
    assert!(!single.recipe.gives_the_same_results_as(&double.recipe));
    let told = |job: &Job| job.warnings.iter().any(|it| it.code == "single-precision");
    assert!(told(&single) && !told(&double));
    let text = single.recipe.to_toml();
    assert!(text.contains("storage = \"f32\"") && !double.recipe.to_toml().contains("storage"));
    let again = Recipe::parse(&text, &[]).unwrap();
    let again = Job::prepare(&again, Path::new(""), None, &Control::default()).unwrap();
    assert_eq!(again.fingerprint(), single.fingerprint());
    let drawn = [single, again, double].map(|job| {
        let mut run = start(job);
        run.join();
        draws(&run.view())
    });
    assert_eq!(drawn[0], drawn[1]);
    // The posterior is another by rounding, which the last digits show.
    assert_ne!(drawn[0], drawn[2]);
}

#[test]
fn templates_without_a_choice_refuse_single_precision() {
    let mut recipe = Recipe::new("sample:reaction", "mixed", "reaction ~ day + (1 | driver)");
    recipe.data.storage = Storage::F32;
    let refused = Job::prepare(&recipe, Path::new(""), None, &Control::default());
    let words = refused.unwrap_err().to_string();
    let expected =
        "Template `mixed` keeps its numbers in double precision alone; leave `data.storage` out";
    assert_eq!(words, expected);
}

/// Gradients that a run keeps with its draws give the corrections of gradients computed afterwards, leave its draws alone, and are those of a run
/// that was never stopped after one that was; samplers that have a gradient anyway keep it as others compute it.
#[test]
fn kept_gradients_correct_as_those_computed_afterwards() {
    let control = Control::default();
    for (sampler, order) in [
        ("nuts", Order::Linear),
        ("nuts", Order::Quadratic),
        ("hmc", Order::Linear),
        ("mala", Order::Quadratic),
        ("sgld-cv", Order::Linear),
    ] {
        let made = |kept: Option<Order>, draws: u64| {
            job(sampler, draws, |recipe| {
                recipe.run.zero_variance = kept;
                recipe.run.until_precise = false;
            })
        };
        let mut whole = start(made(Some(order), 120));
        whole.join();
        let mut plain = start(made(None, 120));
        plain.join();
        let view = whole.view();
        assert_eq!(draws(&view), draws(&plain.view()), "{sampler}");
        let mut part = start(made(Some(order), 70));
        part.join();
        let continuation = part.continuation();
        let mut rest =
            Run::start(Arc::new(made(Some(order), 120)), Some(continuation), None).unwrap();
        rest.join();
        let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        let info: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.info).collect();
        let weights = view.weights(whole.job().weight_column());
        let afterwards =
            zero_variance(whole.job(), &lists, &[], &weights, order, &control).unwrap();
        let kept = zero_variance(whole.job(), &lists, &info, &weights, order, &control).unwrap();
        let (report, resumed) = (whole.report(), rest.report());
        let live = report.corrected.as_deref().unwrap();
        assert_eq!(*live, kept, "{sampler}: the report has the same numbers");
        let resumed = resumed.corrected.as_deref().unwrap();
        assert_eq!(resumed.estimates, kept.estimates, "{sampler}: resumed");
        let rows = (kept.estimates.rows.iter())
            .zip(&afterwards.estimates.rows)
            .zip(&report.summary);
        for ((kept, afterwards), plain) in rows {
            let sd = plain.sd.unwrap();
            for (a, b) in [
                (kept.mean, afterwards.mean),
                (kept.mcse_mean, afterwards.mcse_mean),
                (kept.sd, afterwards.sd),
                (kept.mcse_sd, afterwards.mcse_sd),
            ] {
                let off = (a.unwrap() - b.unwrap()).abs();
                assert!(off < 1e-10 * sd, "{sampler} {}: {off}", plain.variable);
            }
        }
        // Something has been corrected.
        assert!(
            kept.estimates
                .rows
                .iter()
                .any(|row| row.gain.unwrap() > 2.0)
        );
    }
}

/// Models without a gradient, and parameters too many for the degree, are refused before the run.
#[test]
fn control_variates_that_cannot_be_are_refused_before_the_run() {
    let mut recipe = Recipe::new(
        "sample:clusters",
        "dp-mixture",
        "~ petal_length + petal_width",
    );
    recipe.run.zero_variance = Some(Order::Linear);
    let error = Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("run.zero_variance"), "{message}");
}
