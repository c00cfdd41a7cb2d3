//! The bias check of an approximate run. An exact sampler on the same model serves as a control: the cheapest that the adviser knows.
//! Means, standard deviations and quantiles are compared with those of the control; the kernel Stein discrepancy of the draws is tested
//! against what draws from the posterior have; and where the order of the bias in the step is known, a short run at half the step
//! tells the bias without a control. One verdict comes from all ([`BiasReport::with`]).
//!
//! **Cost.** On N rows the control takes a pass for each chain where it is zig-zag, the scores two million rows, the run at half the
//! step four passes at most: less than ten passes where rows are many.

use std::sync::Arc;

use super::job::{Job, JobError};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{duration, significant, thousands};
use ergodic_base::{Severity, Warning};
use ergodic_core::engine::{DEFAULT_DRAWS, Report, RunView, Sampling as _, report};
use ergodic_core::models::{Model, Posterior};
use ergodic_core::samplers;
use ergodic_core::samplers::recommend::Cheapest;
use ergodic_diagnostics::bias::{
    BiasReport, Evidence, LEVEL, Passes, StepBias, TOLERANCE, compare,
};
use ergodic_diagnostics::running::Running;
use ergodic_diagnostics::{ADVISED_CHAINS, Remark, Verdict};

mod discrepancy;
mod half_step;

pub use half_step::{finished, half_step_job};

/// The default exact sampler that others are measured against.
const CONTROL: &str = samplers::names::NUTS;
/// The exact sampler that mixtures, which have no gradient, are measured against.
const CONTROL_OF_MIXTURES: &str = samplers::names::DP_GIBBS;
/// The exact sampler that topics of documents are measured against.
const CONTROL_OF_TOPICS: &str = samplers::names::TOPICS_GIBBS;
/// Samplers that others are measured against.
pub const CONTROLS: [&str; 3] = [CONTROL, CONTROL_OF_MIXTURES, CONTROL_OF_TOPICS];

/// Default number of draws per chain of a run whose bias is checked. With the usual ones its own Monte Carlo
/// error takes so much of the tolerance that chance decides whether the check can tell.
const CHECKED_DRAWS: u64 = 4 * DEFAULT_DRAWS;

/// Draws per chain that a run of `job` should have when its bias is checked: those that were asked for, and more where nobody
/// has named their number and its sampler is approximate.
pub fn checked_draws(job: &Job) -> u64 {
    let run = &job.recipe.run;
    let is_named = !run.until_precise || run.draws < DEFAULT_DRAWS;
    if is_named || job.sampler.spec.bias.is_none() {
        run.draws
    } else {
        run.draws.max(CHECKED_DRAWS)
    }
}

/// The control run of `job`: the same model, the cheapest exact sampler ([`Job::control`]) with its default settings and `draws`
/// draws per chain, or as many as is usual. Its seed is the next one: chains that began where those of the run began would miss the
/// same modes.
///
/// # Errors
/// See [`Job::with_sampler`].
pub fn control_job(job: &Job, draws: Option<u64>) -> Result<Job, JobError> {
    let mut control = job.with_sampler(control_id(job))?;
    let run = &mut control.recipe.run;
    run.seed = run.seed.wrapping_add(1);
    run.draws = draws.unwrap_or(run.draws);
    Ok(control)
}

fn control_id(job: &Job) -> &'static str {
    let cheapest = job.control().map(|it| it.sampler);
    cheapest.unwrap_or_else(|| control_of(job.model.as_ref()))
}

/// Identifier of the exact sampler that others are measured against on `model`.
pub fn control_of(model: &dyn Model) -> &'static str {
    match model.posterior() {
        Posterior::Density(_) => CONTROL,
        Posterior::Partition(_) => CONTROL_OF_MIXTURES,
        Posterior::Topics(_) => CONTROL_OF_TOPICS,
    }
}

/// Which sampler the control of `job` runs, for people.
pub fn control_title(job: &Job) -> &'static str {
    samplers::find(control_id(job)).map_or(CONTROL, |entry| entry.spec.title)
}

/// What the check of a run of `job` will cost, in words that can follow the name of its control: of that, and where there is a run
/// (`view`) of what comes after it; empty where nothing is known.
pub fn cost(job: &Job, view: Option<&RunView>) -> String {
    let of_control = job
        .control()
        .map(|Cheapest { passes, time, .. }| match passes {
            Some(passes) => format!("at most about {} over the rows, {time}", in_passes(*passes)),
            None => time.clone(),
        });
    let further = view.map(|view| further_cost(job, view)).unwrap_or_default();
    let parts = of_control.into_iter().chain(further);
    parts.collect::<Vec<_>>().join("; ")
}

/// What a check costs besides its control, one part each: the scores of draws, and the run at half the step with the time that it
/// takes at the speed of the run so far.
fn further_cost(job: &Job, view: &RunView) -> Vec<String> {
    let passes = |rows: u64| in_passes(rows as f64 / job.model.num_obs().max(1) as f64);
    let mut parts = Vec::new();
    if let Some(rows) = discrepancy::most_rows(job) {
        parts.push(format!("scores of draws, at most {}", passes(rows)));
    }
    if let Some(rows) = half_step::expected_rows(job, view) {
        let secs = view.elapsed_secs * rows as f64 / rows_of(view).max(1) as f64;
        parts.push(format!(
            "a run at half the step, about {}, {}",
            passes(rows),
            duration(secs)
        ));
    }
    parts
}

fn in_passes(passes: f64) -> String {
    match passes {
        ..10.0 => format!("{passes:.1} passes"),
        _ => format!("{} passes", thousands(passes.round() as u64)),
    }
}

/// What a check is made from besides the run: ended runs, with their jobs.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// The control.
    pub control: (&'a Job, &'a RunView),
    /// The run at half the step, if there is one.
    pub half_step: Option<(&'a Job, &'a RunView)>,
}

/// The report of the approximate run once what its check needs was made. The control's own diagnostics count: draws that are not
/// good themselves prove nothing.
pub fn certify(job: &Job, view: &RunView, before: &Report, made: &Made<'_>) -> Report {
    let names = job.variables();
    let (control_job, control) = made.control;
    let own = report(
        control_job,
        control,
        &names,
        Arc::new(Running::new(0)),
        None,
    );
    let draws = draws_of(job, view);
    let reference = draws_of(control_job, control);
    let bias = compare(&names, reference.lent(), draws.lent());
    let bias = bias.doubted(doubt(&own, control.chains.len(), view.chains.len()));
    let passes = |rows: u64| rows as f64 / job.model.num_obs().max(1) as f64;
    let mut evidence = Evidence {
        passes: Passes {
            control: passes(rows_of(control)),
            ..Passes::default()
        },
        ..Evidence::default()
    };
    let run = discrepancy::discrepancy(job, (job, view), &before.summary);
    let of_control = discrepancy::discrepancy(job, made.control, &own.summary);
    if let (Some((run, rows)), Some((control, more))) = (run, of_control) {
        evidence.discrepancies = Some([run, control]);
        evidence.passes.discrepancies = passes(rows + more);
    }
    if let (Some((half_job, half)), Some(order)) = (made.half_step, job.sampler.spec.bias_order) {
        let half_draws = draws_of(half_job, half);
        evidence.passes.half_step = passes(rows_of(half));
        let by_step = StepBias::of(&names, order, half_draws.lent(), draws.lent());
        evidence.by_step = Some(by_step);
    }
    report(
        job,
        view,
        &names,
        Arc::clone(&before.running),
        Some(Arc::new(bias.with(evidence))),
    )
}

/// Kept draws of the chains of a run that work, with their weights.
struct Draws<'a> {
    lists: Vec<&'a DrawList>,
    weights: Vec<Vec<f64>>,
}

impl Draws<'_> {
    fn lent(&self) -> (&[&DrawList], &[Vec<f64>]) {
        (&self.lists, &self.weights)
    }
}

fn draws_of<'a>(job: &Job, view: &'a RunView) -> Draws<'a> {
    Draws {
        lists: view.usable().map(|chain| &chain.draws.draws).collect(),
        weights: view.weights(job.weight_column()),
    }
}

/// Gradients of rows that a run took.
fn rows_of(view: &RunView) -> u64 {
    view.chains.iter().map(|chain| chain.datum_grads).sum()
}

/// What is wrong with a control of `control` chains, of a run of `run`. Few chains are no fault where the run has as few.
fn doubt(own: &Report, control: usize, run: usize) -> Option<String> {
    if own.verdict == Verdict::Good {
        return None;
    }
    let as_few = control >= run.min(ADVISED_CHAINS);
    let counts = |it: &Warning| {
        let few = matches!(it.remark(), Some(Remark::FewChains { .. }));
        it.severity != Severity::Info && !(few && as_few)
    };
    let mut findings = own.warnings.iter();
    match findings.find(|it| counts(it)) {
        Some(finding) => Some(finding.message.clone()),
        None if own.warnings.is_empty() => Some(own.sentence.clone()),
        None => None,
    }
}

/// The result of the comparison in one sentence: the worst variable, how far it is off, and how sure that is.
pub fn sentence(bias: &BiasReport) -> String {
    let what = compared(bias);
    match &bias.doubt {
        Some(doubt) => format!("{what}. But the control run proves nothing: {doubt}"),
        None => what,
    }
}

/// What else the check says, in one sentence each: the discrepancy, the bias by the step, what it cost.
pub fn further_sentences(bias: &BiasReport) -> Vec<String> {
    let mut sentences = Vec::new();
    let Evidence {
        discrepancies,
        by_step,
        passes,
    } = &bias.evidence;
    if let Some([run, control]) = discrepancies {
        let odd = match (bias.evidence.is_off_in_shape(), control.p_value < LEVEL) {
            (true, _) => "do not look like the posterior",
            (false, true) => "cannot be judged by scores that the control fails too",
            (false, false) => "look like the posterior",
        };
        sentences.push(format!(
            "{} draws {odd}: squared kernel Stein discrepancy {}, p = {} (95 % of such from the posterior are below {}; control {}, \
             p = {})",
            run.points,
            significant(run.squared, 2),
            significant(run.p_value, 2),
            significant(run.limit, 2),
            significant(control.squared, 2),
            significant(control.p_value, 2)
        ));
    }
    if let Some(by_step) = by_step
        && let Some(row) = by_step.worst.map(|worst| &by_step.rows[worst])
        && let (Some(shift), Some(ratio)) = (&row.shift, &row.sd_ratio)
    {
        sentences.push(format!(
            "extrapolated from half the step ({} draws per chain), the worst is {}: mean off by {:.2} ± {:.2} sd, sd ratio {:.2} ± {:.2}",
            by_step.draws,
            row.variable,
            shift.value,
            shift.half_width(),
            ratio.value,
            ratio.half_width()
        ));
    }
    if passes.total() > 0.0 {
        let mut parts = vec![format!("control {}", in_passes(passes.control))];
        if discrepancies.is_some() {
            parts.push(format!("scores {}", in_passes(passes.discrepancies)));
        }
        if by_step.is_some() {
            parts.push(format!("half the step {}", in_passes(passes.half_step)));
        }
        let total = in_passes(passes.total());
        sentences.push(format!(
            "the check cost {total} over the rows: {}",
            parts.join(", ")
        ));
    }
    sentences
}

fn compared(bias: &BiasReport) -> String {
    let Some(row) = bias.worst.map(|worst| &bias.rows[worst]) else {
        return "nothing to compare".to_owned();
    };
    let name = &row.variable;
    let (Some(shift), Some(ratio)) = (&row.shift, &row.sd_ratio) else {
        return match row.verdict {
            Verdict::TooEarly => format!("{name} cannot be compared yet: too few draws"),
            Verdict::NotCertified => {
                format!("{name} is constant in one of the runs, or in both with other values")
            }
            _ => "nothing varies in either run, and both agree".to_owned(),
        };
    };
    let mut text = format!(
        "means and sds were compared, to agree within {TOLERANCE} sd and {:.0} %, the worst is {name}: mean off by {:.2} ± {:.2} sd, \
         sd ratio {:.2} ± {:.2}",
        100.0 * TOLERANCE,
        shift.value,
        shift.half_width(),
        ratio.value,
        ratio.half_width()
    );
    for (prob, tail, _) in row.tails_off() {
        text.push_str(&format!(
            ", {:.0} % quantile off by {:.2} ± {:.2} sd",
            100.0 * prob,
            tail.value,
            tail.half_width()
        ));
    }
    text
}
