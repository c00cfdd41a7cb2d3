//! Simulation-based calibration: parameters from the prior, data from the parameters, draws from the posterior of those data.
//!
//! If model, simulation and sampler agree, the true value's rank among the draws is uniform
//! ([`ergodic_diagnostics::uniformity`]); a wrong gradient, prior or sampler bends its distribution. Covariates and groups are
//! those of the job's design, and so are the units of the response that priors hold in: they are fixed beforehand, because a
//! prior that follows the simulated response would be another one each time. Each simulation has its own random streams, so
//! that results do not depend on threads. Draws are thinned until there are as many effective ones as are ranked.

use crate::templates;
use std::path::Path;
use std::sync::Arc;

use rand::RngExt as _;
use rayon::prelude::*;

use super::job::model_options;
use super::{Job, JobError, Recipe};
use ergodic_base::settings::Settings;
use ergodic_base::{ChainRng, Control, ParamId, Purpose, Streams, stream};
use ergodic_core::design::{ResponseKind, ResponseUse};
use ergodic_core::engine::start::SPREAD;
use ergodic_core::engine::{Sampling as _, Warmup, dispersed_start};
use ergodic_core::estimators::{ModeError, Plan, ascend, find_mode_by};
use ergodic_core::models::{EXAMPLES, GROUPS, Model, NoPriorDraws};
use ergodic_core::oracle::{Oracle, StepError};
use ergodic_core::samplers::{Kernel, KernelError, Phase, Target, Tick};
use ergodic_data::{ImportOptions, load_bytes};
use ergodic_diagnostics::ess_mean;
use ergodic_diagnostics::uniformity::{RankTest, Resolution, Uniformity};

/// Draws per ranked draw in the first attempt.
const FIRST_THIN: usize = 4;
/// Most draws per ranked draw; slower chains are ranked as they are, and counted.
const MOST_THIN: usize = 64;
/// Rows of the built-in data.
const BUILT_IN_ROWS: usize = 40;
/// Below this p-value, times the number of quantities, a calibration has failed.
pub const LEVEL: f64 = 0.01;

/// Why a model or a sampler is not calibrated, or one of the simulations failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCalibrated {
    /// A template that needs data of one's own.
    #[error("Template `{0}` has no built-in data; name some with --data and --formula")]
    NoData(&'static str),
    /// A template without draws of its prior.
    #[error("Template `{0}` cannot be calibrated by simulation, because {1}")]
    Prior(String, NoPriorDraws),
    /// Weights of rows.
    #[error(
        "The formula has weights of rows, and an outcome with a weight cannot be simulated; leave out weights()"
    )]
    Weights,
    /// A sampler whose draws have weights.
    #[error(
        "Sampler `{0}` gives its draws weights, which ranks cannot take into account; choose another sampler"
    )]
    Weighted(&'static str),
    /// A simulation without draws of the prior.
    #[error(transparent)]
    Simulation(NoPriorDraws),
    /// A simulation with an overflow.
    #[error("a simulated value is not a finite number")]
    NotFinite,
    /// A simulation without a mode, for a sampler that needs one.
    #[error("the posterior mode was not found")]
    NoMode,
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Simulated data sets.
    pub simulations: usize,
    /// L, the draws that a true value is ranked among.
    pub draws: usize,
}

/// Ranks and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Names of the reported quantities.
    pub variables: Vec<ParamId>,
    /// One list per quantity: ranks of the true values, one per simulation that worked.
    pub ranks: Vec<Vec<u32>>,
    /// Tests, one per quantity; empty if no simulation worked.
    pub tests: Vec<Uniformity>,
    /// The smallest errors of one quantity that these simulations would have shown; `None` if they are too few to show any.
    pub resolution: Option<Resolution>,
    /// In what units priors held, where those are of the response.
    pub units: Option<String>,
    /// L.
    pub draws: usize,
    /// Draws per ranked draw, on average.
    pub thin: f64,
    /// Simulations with fewer effective draws than ranked ones: their ranks lean towards the middle or the ends.
    pub short: usize,
    /// Why simulations failed, each reason with how often. They are missing among the ranks, which may bend them.
    pub failures: Vec<(String, usize)>,
}

impl Calibration {
    /// The smallest p-value times the number of quantities, at most 1; `None` without ranks.
    pub fn p_value(&self) -> Option<f64> {
        let least = self.tests.iter().map(|test| test.p_ecdf).reduce(f64::min)?;
        Some((least * self.tests.len() as f64).min(1.0))
    }

    /// Whether the ranks say that something is wrong.
    pub fn has_failed(&self) -> bool {
        self.p_value().is_some_and(|p| p < LEVEL)
    }

    /// One sentence: whether something is wrong, or else how large an error would have been found.
    pub fn sentence(&self) -> String {
        let count = self.ranks.first().map_or(0, Vec::len);
        match self.p_value() {
            None => "No simulation worked, so nothing can be said".to_owned(),
            Some(p) if p < LEVEL => format!(
                "Not calibrated: ranks of {} are not uniform over {count} simulations ({} after correction for {} quantities); model, \
                 prior, simulation or sampler is wrong",
                self.worst(),
                p_text(p),
                self.tests.len()
            ),
            Some(p) => {
                let quantities = match self.tests.len() {
                    1 => "of one quantity".to_owned(),
                    many => format!("of {many} quantities"),
                };
                let shown = self.resolution.map_or_else(
                    || "so few simulations could not show any error, however large; make more".to_owned(),
                    |Resolution { width, shift }| {
                        format!(
                            "a posterior {:.0} % too narrow, or off by {shift:.1} sd, would have shown; smaller errors need more simulations",
                            100.0 * (1.0 - width)
                        )
                    },
                );
                format!(
                    "No sign of miscalibration in {count} simulations {quantities} (smallest p = {p:.2} after correction): {shown}"
                )
            }
        }
    }

    fn worst(&self) -> &str {
        let tests = self.variables.iter().zip(&self.tests);
        tests
            .min_by(|(_, a), (_, b)| a.p_ecdf.total_cmp(&b.p_ecdf))
            .map_or("", |(name, _)| name)
    }
}

/// A p-value; those that no experiment could tell apart are one.
fn p_text(p: f64) -> String {
    if p < 1e-16 {
        "p < 1e-16".to_owned()
    } else {
        format!("p = {p:.1e}")
    }
}

/// In what units priors hold, where those are of the job's response.
pub fn units(job: &Job) -> Option<String> {
    let is_example =
        templates::find(&job.recipe.model.template).is_ok_and(|entry| entry.group == EXAMPLES);
    let in_units = !is_example
        && !job.has_link()
        && matches!(job.design.response.kind, ResponseKind::Number { .. });
    let [mean, sd] = job.design.response_units();
    in_units.then(|| {
        format!(
            "Priors hold in units of `{}` as it is here, mean {mean:.4} and standard deviation {sd:.4}, in all simulations",
            job.design.response.name
        )
    })
}

/// A job for `template` on small built-in data, with everything else as in `recipe`; without a formula with the first of a
/// handful that suits.
///
/// # Errors
/// None of them does; the reason is that of the last.
pub fn built_in_job(recipe: &Recipe, control: &Control) -> Result<Job, JobError> {
    let entry = templates::find(&recipe.model.template)?;
    let given = [recipe.model.formula.as_str()];
    let formulas: &[&str] = match entry.response_use(&recipe.model.settings) {
        _ if !recipe.model.formula.is_empty() => &given,
        ResponseUse::Outcome if entry.group == GROUPS => {
            &["y ~ x1 + (1 + x1 | g)", "k | trials(5) ~ x1 + (1 | g)"]
        }
        ResponseUse::Number if entry.group == GROUPS => {
            // The second for families of positive numbers, the third for those of shares, the fourth for known errors.
            &[
                "x1 ~ x2 + (1 + x2 | g)",
                "x2 ~ x1 + (1 | g)",
                "s ~ x1 + (1 | g)",
                "x1 | se(s) ~ x2 + (1 + x2 | g)",
                // For ratings of items by users.
                "x1 ~ (1 | g) + (1 | d)",
            ]
        }
        ResponseUse::Count | ResponseUse::Ordered if entry.group == GROUPS => &["k ~ x1 + (1 | g)"],
        ResponseUse::Outcome => &["y ~ x1 + x2"],
        ResponseUse::Categories => &["c ~ 1"],
        ResponseUse::Number if entry.group == EXAMPLES => &["x1 ~ 1"],
        ResponseUse::Number => &["x1 ~ x2"],
        ResponseUse::Count | ResponseUse::Ordered => &["k ~ x1"],
        ResponseUse::Unordered => &["c ~ x1"],
        // The last for words of documents.
        ResponseUse::Absent => &["~ x1 + x2", "~ x1", "~ c + (1 | g)"],
    };
    let loaded = Arc::new(load_bytes(
        "built-in.csv",
        "built-in",
        built_in_data().into_bytes(),
        &ImportOptions::default(),
        &Control::default(),
    )?);
    let mut refused = NotCalibrated::NoData(entry.spec.id).into();
    for formula in formulas {
        let mut recipe = recipe.clone();
        (*formula).clone_into(&mut recipe.model.formula);
        match Job::prepare(&recipe, Path::new(""), Some(Arc::clone(&loaded)), control) {
            Ok(job) => return Ok(job),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// A yes-no column, two numbers, categories, counts below 5, groups, shares and statuses of censoring.
fn built_in_data() -> String {
    let mut rng = stream(1, 0, Purpose::Data);
    let mut text = "y,x1,x2,c,k,g,s,d\n".to_owned();
    for i in 0..BUILT_IN_ROWS {
        let x1: f64 = rng.random_range(-2.0..2.0);
        let x2: f64 = rng.random_range(0.0..10.0);
        let (y, c) = (
            if i % 2 == 0 { "no" } else { "yes" },
            ["red", "green", "blue"][i % 3],
        );
        let share = 0.05 + 0.05 * (i * 7 % 19) as f64;
        text.push_str(&format!(
            "{y},{x1:.3},{x2:.2},{c},{},g{},{share:.2},{}\n",
            i % 5,
            i % 6,
            ["none", "right", "none", "none", "left"][i % 5]
        ));
    }
    text
}

/// Calibrates the job's model and sampler. `given` are the sampler's settings that were asked for: all others are chosen
/// anew for every simulated data set.
///
/// # Errors
/// The model cannot be drawn from, or the draws of the sampler have weights; one sentence.
pub fn calibrate(
    job: &Job,
    given: &Settings,
    extent: Extent,
    control: &Control,
) -> Result<Calibration, JobError> {
    let mut u = vec![0.0; job.model.dim()];
    let mut rng = stream(job.recipe.run.seed, 0, Purpose::Predictive);
    let refuse = |reason| NotCalibrated::Prior(job.recipe.model.template.clone(), reason);
    let simulation = job
        .model
        .simulation()
        .ok_or_else(|| refuse(NoPriorDraws::NotSaid))?;
    let mut values = vec![0.0; job.design.num_obs() * simulation.values_per_row()];
    simulation
        .draw_all(&mut rng, &mut u, &mut values)
        .map_err(refuse)?;
    if job.design.weights.is_some() {
        return Err(NotCalibrated::Weights.into());
    }
    if job.weight_column().is_some() {
        return Err(NotCalibrated::Weighted(job.sampler.spec.id).into());
    }
    control.enter("fitting simulated data");
    control.expect(extent.simulations as u64);
    let outcomes: Vec<Option<Result<Simulation, JobError>>> = (0..extent.simulations)
        .into_par_iter()
        .map(|s| {
            if control.is_cancelled() {
                return None;
            }
            let outcome = simulate(job, given, s, extent.draws, control);
            // A simulation that was cut short says nothing.
            if control.is_cancelled() {
                return None;
            }
            control.advance(1);
            Some(outcome)
        })
        .collect();
    Ok(collect(job, extent, outcomes.into_iter().flatten()))
}

/// One simulated data set.
struct Simulation {
    /// Rank of each quantity.
    ranks: Vec<u32>,
    thin: usize,
    /// Whether there were fewer effective draws than ranked ones.
    short: bool,
}

fn collect(
    job: &Job,
    extent: Extent,
    outcomes: impl Iterator<Item = Result<Simulation, JobError>>,
) -> Calibration {
    let params = job.model.params().iter();
    let variables: Vec<ParamId> = params.map(|param| param.name.clone()).collect();
    let mut calibration = Calibration {
        ranks: vec![Vec::new(); variables.len()],
        variables,
        tests: Vec::new(),
        resolution: None,
        units: units(job),
        draws: extent.draws,
        thin: 0.0,
        short: 0,
        failures: Vec::new(),
    };
    let mut count = 0;
    for outcome in outcomes {
        match outcome {
            Ok(simulation) => {
                count += 1;
                for (ranks, rank) in calibration.ranks.iter_mut().zip(simulation.ranks) {
                    ranks.push(rank);
                }
                calibration.thin += simulation.thin as f64;
                calibration.short += usize::from(simulation.short);
            }
            Err(error) => {
                let reason = error.to_string();
                let known = calibration.failures.iter_mut();
                match known.into_iter().find(|(other, _)| *other == reason) {
                    Some((_, times)) => *times += 1,
                    None => calibration.failures.push((reason, 1)),
                }
            }
        }
    }
    if count > 0 {
        calibration.thin /= count as f64;
        let test = RankTest::new(count, extent.draws);
        calibration.tests = calibration
            .ranks
            .par_iter()
            .map(|ranks| test.of(ranks))
            .collect();
        let quantities = calibration.tests.len().max(1);
        calibration.resolution = test.resolution(LEVEL / quantities as f64);
    }
    calibration
}

/// Draws from the prior, simulates, fits and ranks.
fn simulate(
    job: &Job,
    given: &Settings,
    s: usize,
    draws: usize,
    control: &Control,
) -> Result<Simulation, JobError> {
    let seed = job.recipe.run.seed;
    // The first stream was used to see whether the prior can be drawn from.
    let mut rng = stream(seed, s + 1, Purpose::Predictive);
    let (truth, model) = simulated_model(job, &mut rng)?;
    let plan = Plan::new(
        &job.recipe.mode.method,
        &job.recipe.mode.settings,
        model.as_ref(),
    )?;
    let found = find_mode_by(model.as_ref(), &plan, &control.part()).ok();
    let centre = found.map(|mode| Arc::new(mode.centre));
    if centre.is_none() && job.sampler.spec.needs_mode && !job.sampler.spec.own_steps {
        return Err(NotCalibrated::NoMode.into());
    }
    let target = Target::new(&model, centre.as_ref());
    let mut start = dispersed_start(model.as_ref(), centre.as_deref(), SPREAD, (seed, s + 1));
    if centre.is_none() && job.sampler.spec.centres_at_start {
        ascend(model.as_ref(), &plan, &mut start, &control.part()).map_err(
            |error| match error {
                ModeError::Cancelled => JobError::Cancelled,
                error => JobError::NoStart(error),
            },
        )?;
    }
    let mut oracle = Oracle::new(Arc::clone(&model), centre, false, control.flag());
    let mut streams = Streams::new(seed, s + 1);
    let kernel = (job.sampler.build)(given, &target, &start, &mut oracle, &mut streams)?;
    let mut fit = Fit {
        job,
        model: model.as_ref(),
        kernel,
        oracle,
        streams,
        iter: 0,
        info: vec![0.0; job.sampler.spec.info.len()],
        chains: vec![Vec::new(); truth.len()],
    };
    let ended = |error| JobError::Kernel(KernelError::Start(error));
    fit.warm_up().map_err(ended)?;
    let mut thin = FIRST_THIN;
    let mut short = fit.extend(draws * thin, draws).map_err(ended)?;
    while short && thin < MOST_THIN {
        thin *= 2;
        short = fit.extend(draws * thin, draws).map_err(ended)?;
    }
    let ranks = truth
        .iter()
        .zip(&fit.chains)
        .map(|(&truth, chain)| rank(truth, chain.iter().skip(thin - 1).step_by(thin), &mut rng))
        .collect();
    Ok(Simulation { ranks, thin, short })
}

/// True values of the reported quantities, drawn from the prior, and the posterior of data simulated from them.
fn simulated_model(job: &Job, rng: &mut ChainRng) -> Result<(Vec<f64>, Arc<dyn Model>), JobError> {
    let model = job.model.as_ref();
    let mut u = vec![0.0; model.dim()];
    let simulation = model
        .simulation()
        .ok_or(NotCalibrated::Simulation(NoPriorDraws::NotSaid))?;
    let mut values = vec![0.0; job.design.num_obs() * simulation.values_per_row()];
    simulation
        .draw_all(rng, &mut u, &mut values)
        .map_err(NotCalibrated::Simulation)?;
    let mut truth = vec![0.0; model.params().len()];
    model.constrain(&u, &mut truth);
    if !values.iter().all(|value| value.is_finite()) {
        return Err(NotCalibrated::NotFinite.into());
    }
    let entry = templates::find(&job.recipe.model.template)?;
    let options = model_options(&job.recipe)?;
    let design = Arc::new(job.design.with_simulated(values));
    let model = (entry.build)(design, &options)?;
    Ok((truth, model))
}

/// The number of draws below `truth`; equal ones count with chance one half in all, so that ties do no harm.
fn rank<'a>(truth: f64, draws: impl Iterator<Item = &'a f64>, rng: &mut ChainRng) -> u32 {
    let (mut below, mut equal) = (0, 0);
    for &draw in draws {
        below += u32::from(draw < truth);
        equal += u32::from(draw == truth);
    }
    below + rng.random_range(0..=equal)
}

/// A chain that can go on.
struct Fit<'a> {
    job: &'a Job,
    model: &'a dyn Model,
    kernel: Box<dyn Kernel>,
    oracle: Oracle,
    streams: Streams,
    iter: u64,
    info: Vec<f64>,
    /// Draws of each reported quantity.
    chains: Vec<Vec<f64>>,
}

impl Fit<'_> {
    fn step(&mut self, phase: Phase) -> Result<(), StepError> {
        let at = Tick {
            iter: self.iter,
            phase,
        };
        for _ in 0..self.kernel.steps_per_draw() {
            self.kernel
                .step(at, &mut self.oracle, &mut self.streams, &mut self.info)?;
        }
        self.iter += 1;
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), StepError> {
        match self.job.warmup() {
            Warmup::Fixed(length) => {
                let phase = Phase::Warmup {
                    length: Some(length),
                };
                (0..length).try_for_each(|_| self.step(phase))
            }
            Warmup::UntilReady { max } => {
                while self.iter < max && !self.kernel.ready() {
                    self.step(Phase::Warmup { length: None })?;
                }
                Ok(())
            }
        }
    }

    /// Goes on until there are `total` draws; whether some quantity then has fewer effective draws than `wanted`.
    fn extend(&mut self, total: usize, wanted: usize) -> Result<bool, StepError> {
        let mut theta = vec![0.0; self.chains.len()];
        while self.chains.first().is_some_and(|chain| chain.len() < total) {
            self.step(Phase::Draw)?;
            self.model.constrain(self.kernel.position(), &mut theta);
            for (chain, &value) in self.chains.iter_mut().zip(&theta) {
                chain.push(value);
            }
        }
        Ok(self.chains.iter().any(|chain| {
            // A quantity that does not move has no effective sample size; its ranks will show.
            ess_mean(&[chain]).is_ok_and(|ess| ess < wanted as f64)
        }))
    }
}

#[cfg(test)]
mod tests;
