//! Tuning by trial: several step sizes run side by side, the worse half is dropped again and again, the best is left.
//!
//! Source: Coullon, South and Nemeth 2021, "Efficient and generalizable tuning strategies for stochastic gradient MCMC"
//! (MAMBA): successive halving of a bandit whose reward is the kernel Stein discrepancy of a trial's draws. Ours differs
//! in two ways. The budget is counted in steps instead of seconds, so that the same seed gives the same choice on every
//! machine. And draws and scores are whitened by the curvature at the mode before the discrepancy is taken, so that it
//! does not depend on the scales of the parameters.
//!
//! A step that is too large shows as a bias of the draws, one that is too small as draws that have hardly moved: the
//! discrepancy weighs the two at equal cost. Scores come from minibatches with control variates where the data are tall:
//! their independent errors leave the discrepancy unbiased.

use super::scored_points::{ScoredPoints, Scorer, oracle_of};
use super::{Job, JobError};
use ergodic_base::settings::{Kind, Value};
use ergodic_base::{Control, Streams};
use ergodic_core::engine::Sampling as _;
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{Kernel, Phase, Tick};
use ergodic_diagnostics::stein::squared_discrepancy;

/// The setting that is tuned.
pub const KEY: &str = "step_size";
/// Trials at the start: three halvings.
pub(crate) const TRIALS: usize = 8;
/// Draws of each trial in the first round; each later round has twice as many, so that all rounds cost the same.
const FIRST_ROUND: usize = 100;
/// Step sizes of neighbouring trials differ by this factor.
const RATIO: f64 = 2.0;
/// Trials above the default, which errs on the small side.
const ABOVE: usize = 3;

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The best trial of the last round.
    Chosen,
    /// In the worse half of this round, counted from 0.
    Dropped(usize),
    /// The sampler refused the step size, or the chain exploded.
    Failed,
}

impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Chosen => f.write_str("chosen"),
            Self::Dropped(round) => write!(f, "dropped in round {}", round + 1),
            Self::Failed => f.write_str("failed"),
        }
    }
}

/// One step size that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The step size.
    pub value: f64,
    /// The squared Stein discrepancy of each round that it took part in.
    pub discrepancies: Vec<f64>,
    /// How the trial ended.
    pub fate: Fate,
}

/// What was tried and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// In order of step size.
    pub trials: Vec<Trial>,
    /// The best step size.
    pub chosen: f64,
    /// Step size by the sampler's own rule.
    pub default: f64,
}

/// A trial that goes on.
struct Running {
    trial: usize,
    kernel: Box<dyn Kernel>,
    oracle: Oracle,
    streams: Streams,
    iter: u64,
}

/// Why no step size of a sampler is tuned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotTuned {
    /// There is no such setting.
    #[error("Sampler `{0}` has no step size that could be tuned")]
    NoStepSize(&'static str),
    /// There is no mode, where trials start.
    #[error("Sampler `{0}` cannot be tuned by trial, because the posterior mode was not found")]
    NoMode(&'static str),
    /// The step size is no setting of runs by default.
    #[error("Sampler `{0}` adapts its step size itself during warm-up")]
    Adapts(&'static str),
    /// None of those from the first to the last that were tried works.
    #[error("No step size from {1} to {2} worked for sampler `{0}`; choose another sampler")]
    NoneWorks(&'static str, f64, f64),
}

/// Finds the best step size for the job's sampler.
///
/// # Errors
/// One sentence: the sampler has no such setting, there is no mode to whiten with, every trial failed, or somebody
/// cancelled.
pub fn tune(job: &Job, control: &Control) -> Result<Tuning, JobError> {
    let (default, steps) = start(job)?;
    let rounds = TRIALS.ilog2() as u64;
    let per_round = (TRIALS * FIRST_ROUND) as u64 * steps;
    control.enter("running trials");
    control.expect(rounds * per_round);
    let lowest = default / RATIO.powi((TRIALS - 1 - ABOVE) as i32);
    let mut trials: Vec<Trial> = (0..TRIALS)
        .map(|k| Trial {
            value: lowest * RATIO.powi(k as i32),
            discrepancies: Vec::new(),
            fate: Fate::Failed,
        })
        .collect();
    let mut running: Vec<Running> = (0..TRIALS)
        .filter_map(|trial| begin(job, trial, trials[trial].value))
        .collect();
    let mut score_oracle = oracle_of(job);
    for round in 0..rounds as usize {
        let mut left = Vec::with_capacity(running.len());
        for mut run in running {
            let points = FIRST_ROUND << round;
            match advance(job, &mut run, points, steps, &mut score_oracle, control)? {
                Some(discrepancy) => {
                    trials[run.trial].discrepancies.push(discrepancy);
                    left.push((discrepancy, run));
                }
                None => trials[run.trial].fate = Fate::Failed,
            }
        }
        left.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let keep = left.len().div_ceil(2).min(TRIALS >> (round + 1)).max(1);
        for (_discrepancy, run) in left.iter().skip(keep) {
            trials[run.trial].fate = Fate::Dropped(round);
        }
        left.truncate(keep);
        running = left.into_iter().map(|(_discrepancy, run)| run).collect();
    }
    let Some(best) = running.first() else {
        let [first, last] = [0, TRIALS - 1].map(|trial| trials[trial].value);
        return Err(NotTuned::NoneWorks(job.sampler.spec.id, first, last).into());
    };
    trials[best.trial].fate = Fate::Chosen;
    Ok(Tuning {
        chosen: trials[best.trial].value,
        trials,
        default,
    })
}

/// The step size of the sampler's own rule, and the steps between two draws with it.
fn start(job: &Job) -> Result<(f64, u64), JobError> {
    let spec = &job.sampler.spec;
    let tunable = spec
        .fields
        .iter()
        .any(|field| field.key == KEY && matches!(field.kind, Kind::Real { .. }));
    if !tunable {
        return Err(NotTuned::NoStepSize(spec.id).into());
    }
    if job.centre.is_none() {
        return Err(NotTuned::NoMode(spec.id).into());
    }
    let mut settings = job.recipe.sampler.settings.clone();
    settings.unset(KEY);
    let resolved = (job.sampler.resolve)(&settings, &job.target())?;
    let default = resolved.iter().find_map(|(key, value)| match value {
        Value::Real(value) if *key == KEY => Some(*value),
        _ => None,
    });
    let default = default.ok_or(NotTuned::Adapts(spec.id))?;
    settings.set(KEY, Value::Real(default));
    let start = job.around_mode(0);
    let mut streams = Streams::new(job.recipe.run.seed, 0);
    let kernel = (job.sampler.build)(
        &settings,
        &job.target(),
        &start,
        &mut oracle_of(job),
        &mut streams,
    )?;
    Ok((default, kernel.steps_per_draw()))
}

/// The trial of a step size; `None` if the sampler refuses it.
fn begin(job: &Job, trial: usize, value: f64) -> Option<Running> {
    let mut settings = job.recipe.sampler.settings.clone();
    settings.set(KEY, Value::Real(value));
    // All trials start at the same place with the same random numbers, so that their step sizes make the difference.
    let mut streams = Streams::new(job.recipe.run.seed, 0);
    let mut oracle = oracle_of(job);
    let start = job.around_mode(0);
    let kernel =
        (job.sampler.build)(&settings, &job.target(), &start, &mut oracle, &mut streams).ok()?;
    Some(Running {
        trial,
        kernel,
        oracle,
        streams,
        iter: 0,
    })
}

/// Goes on by `points` draws, `steps` apart, and judges the later half of them; `None` if the chain failed.
fn advance(
    job: &Job,
    run: &mut Running,
    points: usize,
    steps: u64,
    score_oracle: &mut Oracle,
    control: &Control,
) -> Result<Option<f64>, JobError> {
    let mut info = vec![0.0; job.sampler.spec.info.len()];
    let Some(mut scorer) = Scorer::new(job, score_oracle) else {
        return Ok(None);
    };
    let mut scored = ScoredPoints::default();
    for point in 0..points {
        for _ in 0..steps {
            control.check(JobError::Cancelled)?;
            let at = Tick {
                iter: run.iter,
                phase: Phase::Draw,
            };
            let step = run
                .kernel
                .step(at, &mut run.oracle, &mut run.streams, &mut info);
            run.iter += 1;
            control.advance(1);
            if step.is_err() {
                return Ok(None);
            }
        }
        if point < points / 2 {
            continue;
        }
        if scorer.add(run.kernel.position(), &mut scored).is_none() {
            return Ok(None);
        }
    }
    let discrepancy = squared_discrepancy(&scored.points, &scored.scores, job.model.dim());
    Ok(discrepancy.is_finite().then_some(discrepancy))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Recipe;

    fn job(sampler: &str, step_size: Option<f64>) -> Job {
        let mut recipe = Recipe::new(
            "sample:churn",
            "logistic",
            "churned ~ tenure_months + monthly_fee",
        );
        recipe.sampler.id = sampler.to_owned();
        recipe.run.seed = 3;
        if let Some(step_size) = step_size {
            recipe.sampler.settings.set(KEY, Value::Real(step_size));
        }
        Job::prepare(&recipe, Path::new("."), None, &Control::default()).unwrap()
    }

    /// Step sizes that are far too large lose early, those far too small lose because they do not move, and the same
    /// seed chooses the same.
    #[test]
    fn a_step_size_between_bias_and_standstill_wins() {
        let job = job("ula", None);
        let tuning = tune(&job, &Control::default()).unwrap();
        assert_eq!(tuning, tune(&job, &Control::default()).unwrap());
        assert_eq!(tuning.trials.len(), TRIALS);
        let chosen = tuning
            .trials
            .iter()
            .filter(|trial| trial.fate == Fate::Chosen);
        assert_eq!(chosen.count(), 1);
        let first = &tuning.trials[0];
        assert!(matches!(first.fate, Fate::Dropped(_)), "{tuning:?}");
        assert!(
            tuning.chosen > first.value && tuning.chosen < 2.0,
            "{tuning:?}"
        );
    }

    #[test]
    fn samplers_without_a_step_size_to_tune_are_refused() {
        for id in ["nuts", "zig-zag"] {
            let result = tune(&job(id, None), &Control::default());
            let error = result.unwrap_err().to_string();
            assert!(error.starts_with(&format!("Sampler `{id}` ")), "{error}");
        }
    }

    #[test]
    fn it_can_be_cancelled() {
        let control = Control::default();
        control.cancel();
        let result = tune(&job("ula", None), &control);
        assert!(matches!(result, Err(JobError::Cancelled)));
    }
}
