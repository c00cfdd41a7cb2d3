//! The run at half the step that tells how the bias depends on it.

use std::sync::Arc;
use std::time::Duration;

use crate::{Job, JobError, Run};
use ergodic_base::Control;
use ergodic_base::settings::Value;
use ergodic_core::engine::{DEFAULT_DRAWS, RunView};
use ergodic_core::samplers::Schedule;

/// The setting that is halved.
const STEP: &str = "step_size";
/// The setting that is doubled, so that draws are as far apart in Langevin time.
const STEPS_PER_DRAW: &str = "steps_per_draw";
/// The setting that says whether steps decrease.
const SCHEDULE: &str = "schedule";
/// Passes over the rows that the run may take where rows are many: with a pass for each of the four chains of the control the check
/// stays below ten.
const MOST_PASSES: u64 = 4;
/// Row gradients that it may take where rows are few: about two seconds of four cores.
const FEW_ROWS: u64 = 400_000_000;
/// Rows from which passes are what counts.
const TALL: u64 = 1_000_000;
/// Iterations of warm-up: some twenty units of Langevin time, after which a chain has forgotten where it began.
const WARMUP: u64 = 50;
/// Fewest draws per chain that are worth making.
const LEAST_DRAWS: u64 = 100;

/// The run at half the step of `job`, as long as its cost allows by that of the run so far; `None` where the order of the bias in
/// the step is not known, steps decrease, or too few draws could be made. Its seed is the second next one.
pub fn half_step_job(job: &Job, view: &RunView) -> Option<Job> {
    let draws = affordable_draws(job, view)?;
    let settings = &job.recipe.sampler.settings;
    let (step, steps) = (settings.real(STEP)?, settings.int(STEPS_PER_DRAW));
    let mut half = job.clone();
    let run = &mut half.recipe.run;
    run.seed = run.seed.wrapping_add(2);
    run.warmup = Some(warmup(job));
    run.draws = draws;
    run.stop_by_draws_alone();
    let settings = &mut half.recipe.sampler.settings;
    settings.set(STEP, Value::Real(0.5 * step));
    if let Some(steps) = steps {
        settings.set(STEPS_PER_DRAW, Value::Int(2 * steps));
    }
    Some(half)
}

/// Row gradients that the [`half_step_job`] of a run will take; `None` where there is none.
pub(super) fn expected_rows(job: &Job, view: &RunView) -> Option<u64> {
    let iterations = warmup(job) + affordable_draws(job, view)?;
    let chains = job.recipe.run.chains as u64;
    Some((row_gradients_per_iteration(view) * (chains * iterations) as f64) as u64)
}

/// Draws per chain that the run at half the step may make.
fn affordable_draws(job: &Job, view: &RunView) -> Option<u64> {
    job.sampler.spec.bias_order?;
    let settings = &job.recipe.sampler.settings;
    if settings.text(SCHEDULE) == Some(Schedule::Decreasing.word()) {
        return None;
    }
    settings.real(STEP)?;
    let num_obs = job.model.num_obs() as u64;
    let most = match num_obs >= TALL {
        true => MOST_PASSES * num_obs,
        false => (MOST_PASSES * num_obs).max(FEW_ROWS),
    };
    let each = row_gradients_per_iteration(view) * job.recipe.run.chains as f64;
    let draws = ((most as f64 / each.max(1.0)) as u64)
        .saturating_sub(WARMUP)
        .min(DEFAULT_DRAWS);
    (draws >= LEAST_DRAWS).then_some(draws)
}

fn warmup(job: &Job) -> u64 {
    WARMUP.min(job.recipe.run.warmup.unwrap_or(WARMUP))
}

/// Row gradients of an iteration of a chain at half the step, by those of the run so far: it has twice as many steps.
fn row_gradients_per_iteration(view: &RunView) -> f64 {
    let iterations: u64 = view.chains.iter().map(|chain| chain.iterations).sum();
    let rows: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
    2.0 * rows as f64 / iterations.max(1) as f64
}

/// Runs a job to its end.
///
/// # Errors
/// No threads, or somebody cancelled.
pub fn finished(job: Job, control: &Control) -> Result<Run, JobError> {
    /// Time between two looks at the run: a cancelled one ends within what people notice.
    const LOOK: Duration = Duration::from_millis(20);
    let mut run = Run::start(Arc::new(job), None, None).map_err(JobError::Threads)?;
    while !run.is_finished() {
        if control.is_cancelled() {
            run.stop();
        }
        std::thread::sleep(LOOK);
    }
    run.join();
    control.check(JobError::Cancelled)?;
    Ok(run)
}
