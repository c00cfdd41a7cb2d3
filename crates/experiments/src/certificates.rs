//! Whether the bias check keeps its promise: approximate runs of known bias, and which of them it certifies.

use std::path::Path;
use std::sync::Arc;

use super::{BenchOptions, BenchTable, Cell};
use ergodic_analysis::bias_check::{certify, checked_draws, control_job};
use ergodic_analysis::comparison::{Measured, measure, quadratic_summary};
use ergodic_analysis::recipe::{SAMPLE_PREFIX, Scale};
use ergodic_analysis::{Job, JobError, Recipe, Run};
use ergodic_base::control::Control;
use ergodic_base::settings::Value;
use ergodic_data::samples;
use ergodic_data::synthetic::PREFIX;
use ergodic_diagnostics::{SummaryRow, Verdict};

/// The table: with so many rows the posterior of a logistic regression is normal to within a few hundredths of its standard
/// deviation, so that its quadratic approximation serves as the truth.
const TABLE: &str = "20000x4";
/// Steps of SGLD, relative to the default.
const STEPS: [f64; 8] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Runs of each sampler and step, from other seeds each.
const RUNS: u64 = 10;
/// Samplers that are run with default settings.
const DEFAULTS: [&str; 2] = ["sgld-cv", "hmc-ecs"];
/// Largest true bias of a mean in standard deviations, and of a standard deviation as a share, with which a run may be certified.
const BIAS: f64 = 0.3;

/// What is counted of the runs of one sampler and step.
struct Row {
    sampler: &'static str,
    step: f64,
    /// Per run whether it was certified, and how far its numbers are from the truth.
    runs: Vec<(bool, Measured)>,
}

/// Runs the experiment; the quick version has one run of each.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, JobError> {
    let count = if options.quick { 1 } else { RUNS };
    let steps = STEPS.map(|step| ("sgld", step));
    let entrants = steps.into_iter().chain(DEFAULTS.map(|id| (id, 1.0)));
    let mut rows: Vec<Row> = entrants
        .map(|(sampler, step)| Row {
            sampler,
            step,
            runs: Vec::new(),
        })
        .collect();
    for seed in (0..count).map(|k| options.seed * count + k) {
        let job = job(seed, "sgld", None)?;
        let truth = quadratic_summary(&job)
            .ok_or_else(|| JobError::Impossible("The posterior mode was not found".to_owned()))?;
        let control = finished(control_job(&job, None)?)?;
        for row in &mut rows {
            row.runs
                .extend(outcome(seed, row.sampler, row.step, (&control, &truth))?);
        }
    }
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "relative_step",
            "runs",
            "certified",
            "mean_shift_sd",
            "sd_ratio_most",
            "certified_but_off",
        ],
        rows: rows.iter().map(Row::cells).collect(),
        notes: vec![
            format!(
                "logistic regression of {TABLE}, default settings but for the step; mean_shift_sd and sd_ratio_most: medians over runs of \
                 the largest distance of a mean from the truth and the largest ratio of standard deviations; truth: the quadratic \
                 approximation at the mode"
            ),
            format!(
                "certified_but_off: runs that the bias check calls good though a mean is off by more than {BIAS} standard deviations, or a \
                 standard deviation by more than that share of itself"
            ),
        ],
    })
}

/// A run of `sampler` with its step, certified by `control` and measured by the truth.
fn outcome(
    seed: u64,
    sampler: &'static str,
    step: f64,
    (control, truth): (&Run, &[SummaryRow]),
) -> Result<Option<(bool, Measured)>, JobError> {
    let mut approximate = job(seed, sampler, None)?;
    if step != 1.0 {
        let default = approximate.recipe.sampler.settings.real("step_size");
        approximate = job(seed, sampler, default.map(|default| step * default))?;
    }
    approximate.recipe.run.draws = checked_draws(&approximate);
    let run = finished(approximate)?;
    let (job, view, report) = (run.job(), run.view(), run.report());
    let report = match job.sampler.spec.bias {
        Some(_) => certify(job, &view, &report, (control.job(), &control.view())),
        None => report.as_ref().clone(),
    };
    Ok(measure(&run, truth).map(|measured| (report.verdict == Verdict::Good, measured)))
}

fn job(seed: u64, sampler: &str, step: Option<f64>) -> Result<Job, JobError> {
    let name = format!("{PREFIX}{TABLE}");
    let formula = samples::formula(&name).unwrap_or_default();
    let mut recipe = Recipe::new(&format!("{SAMPLE_PREFIX}{name}"), "logistic", &formula);
    recipe.run.seed = seed;
    recipe.report.scale = Scale::Standardised;
    sampler.clone_into(&mut recipe.sampler.id);
    if let Some(step) = step {
        recipe.sampler.settings.set("step_size", Value::Real(step));
    }
    Job::prepare(&recipe, Path::new("."), None, &Control::default())
}

fn finished(job: Job) -> Result<Run, JobError> {
    let mut run = Run::start(Arc::new(job), None, Arc::new(|| {})).map_err(|error| {
        JobError::Impossible(format!("The chains could not be started ({error})"))
    })?;
    run.join();
    Ok(run)
}

fn is_off(run: &Measured) -> bool {
    let (least, most) = run.sd_ratio;
    run.mean_shift > BIAS || least < 1.0 - BIAS || most > 1.0 + BIAS
}

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let count = |wanted: &dyn Fn(&(bool, Measured)) -> bool| {
            self.runs.iter().filter(|run| wanted(run)).count()
        };
        let median = |value: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = self.runs.iter().map(|(_, run)| value(run)).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        vec![
            Cell::Text(self.sampler.to_owned()),
            Cell::Number(self.step),
            Cell::Count(self.runs.len() as u64),
            Cell::Number(count(&|(good, _)| *good) as f64 / self.runs.len() as f64),
            Cell::Number(median(|run| run.mean_shift)),
            Cell::Number(median(|run| run.sd_ratio.1)),
            Cell::Count(count(&|(good, run)| *good && is_off(run)) as u64),
        ]
    }
}
