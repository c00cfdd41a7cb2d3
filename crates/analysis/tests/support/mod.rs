//! Runs of a small logistic regression, for tests.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::Control;
use ergodic_core::engine::{ChainView, RunView};

/// Long enough for anything here on a busy machine; passing it means a hang.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// More draws than any test waits for.
pub const ENDLESS: u64 = 10_000_000;

/// A job of three short chains, changed by `change`.
pub fn job(sampler: &str, draws: u64, change: impl FnOnce(&mut Recipe)) -> Job {
    let mut recipe = Recipe::new("sample:churn", "logistic", "churned ~ age + plan");
    sampler.clone_into(&mut recipe.sampler.id);
    recipe.run.chains = 3;
    recipe.run.warmup = Some(60);
    recipe.run.draws = draws;
    change(&mut recipe);
    Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap()
}

/// Starts it, as for somebody who looks on.
pub fn start(job: Job) -> Run {
    Run::start(Arc::new(job), None, Some(Arc::new(|| {}))).unwrap()
}

/// Waits until the newest view is as wanted.
#[track_caller]
pub fn wait(run: &Run, what: &str, wanted: impl Fn(&RunView) -> bool) -> Arc<RunView> {
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

/// By chain, by variable, by draw.
pub fn draws(view: &RunView) -> Vec<Vec<Vec<f64>>> {
    let columns = |chain: &ChainView| {
        (0..chain.draws.draws.width())
            .map(|j| chain.draws.draws.column(j))
            .collect()
    };
    view.chains.iter().map(columns).collect()
}
