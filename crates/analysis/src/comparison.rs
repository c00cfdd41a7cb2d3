//! Samplers side by side on one model: how far each is from a reference run, and what an effective draw costs.
//!
//! Costs are counted in log densities and gradients of single rows, as in Table 1 of Dang et al. (2019), so that they do not
//! depend on the machine; seconds are given beside them.

use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

mod relative;
mod variant;

pub use relative::{Relative, Spread, unit_of_cost};
pub use variant::{Variant, VariantError};

use super::recipe::{Recipe, SamplerSection, Scale};
use super::{Job, JobError, Run, bias_check};
use ergodic_base::draws::DrawList;
use ergodic_base::linalg::axpy;
use ergodic_base::{Purpose, stream};
use ergodic_core::engine::{ChainView, DEFAULT_DRAWS, RunView, Sampling as _};
use ergodic_core::samplers::names::NUTS;
use ergodic_core::samplers::{ACCEPT, ACCEPT_ROWS, ROWS_SHARE, SIGN, WEIGHT};
use ergodic_diagnostics::{SummaryRow, density, summarise};

/// Draws of the quadratic approximation: their Monte Carlo error is below a hundredth of a standard deviation.
const QUADRATIC_DRAWS: usize = 20_000;
/// Parameters whose densities are kept, the first ones of the report.
pub const CURVES: usize = 24;

/// What a run of one sampler says.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Seconds, warm-up included.
    pub seconds: f64,
    /// Largest |mean − reference mean| over parameters, in standard deviations of the reference.
    pub mean_shift: f64,
    /// Smallest and largest ratio of standard deviations to those of the reference.
    pub sd_ratio: (f64, f64),
    /// Largest R-hat.
    pub rhat: f64,
    /// Smallest bulk effective sample size.
    pub ess: f64,
    /// Draws per effective draw of the worst parameter: the inefficiency factor.
    pub inefficiency: f64,
    /// Gradients and densities of single rows per effective draw, warm-up included.
    pub rows_per_ess: f64,
    /// Share of the rows that a step uses.
    pub rows_share: f64,
    /// Rows per effective draw of each parameter of the report: with the warm-up, and of the draws alone. `None` for those
    /// without effective draws, such as constants.
    pub costs: Vec<Option<[f64; 2]>>,
    /// Mean acceptance probability of parameters, for samplers that report one.
    pub accept: Option<f64>,
    /// Mean acceptance probability of the rows that stand for all, for samplers that move them.
    pub accept_rows: Option<f64>,
    /// Share of draws with positive sign, for samplers with signed weights.
    pub positive: Option<f64>,
    /// Density curves, points (x, density), of the first [`CURVES`] parameters; without points where draws do not vary.
    pub curves: Arc<[Vec<[f64; 2]>]>,
}

/// A sampler and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The sampler with its settings.
    pub variant: Variant,
    /// What was measured, or why nothing was.
    pub outcome: Result<Measured, String>,
}

impl Row {
    /// Identifier of the sampler.
    pub fn sampler(&self) -> &'static str {
        self.variant.entry.spec.id
    }

    /// Whether the sampler is exact.
    pub fn exact(&self) -> bool {
        self.variant.entry.spec.bias.is_none()
    }
}

/// What bias is measured against.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Yardstick {
    /// A run of an exact sampler with default settings: NUTS, or for mixtures the one of [`bias_check::control_of`].
    #[default]
    Nuts,
    /// The normal distribution with the posterior's mode and curvature.
    Quadratic,
    /// An earlier, longer run of the same model: its summary on the scale of the job's report.
    Summary(Vec<SummaryRow>),
}

/// The job that a comparison is made on: `recipe` with NUTS, or with what `auto` takes for models that it does not suit.
///
/// # Errors
/// Those of [`Job::prepare`].
pub fn job(
    mut recipe: Recipe,
    prepare: impl Fn(&Recipe) -> Result<Job, JobError>,
) -> Result<Job, JobError> {
    recipe.sampler = SamplerSection::default();
    let auto = recipe.clone();
    NUTS.clone_into(&mut recipe.sampler.id);
    prepare(&recipe).or_else(|error| {
        // What is wrong with data or formula is said once.
        prepare(&auto).map_err(|_same| error)
    })
}

/// The scale of the densities of a comparison, where it is not that of predictors and outcome as they are: a phrase that stands
/// behind what is on it.
pub fn scale(job: &Job) -> Option<&'static str> {
    let is_standardised = job.recipe.report.scale == Scale::Standardised;
    (is_standardised && job.reports_predictors()).then(|| {
        if job.reports_units_of_outcome() {
            "on the scale of standardised predictors and outcome"
        } else {
            "on the scale of standardised predictors"
        }
    })
}

/// Why there is nothing to compare with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoYardstick {
    /// No mode to approximate the posterior at.
    #[error(
        "The posterior mode was not found, so there is no quadratic approximation to compare with"
    )]
    Mode,
    /// A run of another model.
    #[error(
        "The reference run reports other variables than this model, so it is a run of another model"
    )]
    OtherModel,
}

/// Runs `variants` one after the other on the model of `job` ([`job`]) and tells each row as it comes. `run` runs a job to its
/// end; `Ok(Err(_))` is why that sampler was not run, an error ends the comparison.
///
/// # Errors
/// Those of `run`; that there is nothing to compare with.
pub fn compare<E: From<JobError>>(
    job: &Job,
    variants: &[Variant],
    yardstick: Yardstick,
    mut run: impl FnMut(Job) -> Result<Run, E>,
    mut stops: impl FnMut(&E) -> bool,
    mut sentence: impl FnMut(E) -> String,
    mut tell: impl FnMut(Row),
) -> Result<(), E> {
    let asked = &job.recipe.run;
    let mut of = |variant: &Variant| -> Result<Run, E> {
        let mut job = job.with_settings(variant.entry.spec.id, variant.settings.clone())?;
        // Chains that stop when they are precise would not be compared at the same length.
        if asked.draws < DEFAULT_DRAWS || !asked.until_precise {
            job.recipe.run.draws = asked.draws;
        }
        run(job)
    };
    let control = bias_check::control_of(job.model.as_ref());
    let is_control = |variant: &Variant| variant.is_plain() && variant.entry.spec.id == control;
    let (reference, truth) = match yardstick {
        Yardstick::Nuts => {
            let run = of(&control.parse().map_err(JobError::Variant)?)?;
            let truth = run.report().summary.clone();
            (Some(run), truth)
        }
        Yardstick::Quadratic => {
            let truth = quadratic_summary(job).ok_or(JobError::from(NoYardstick::Mode))?;
            (None, truth)
        }
        Yardstick::Summary(truth) => {
            let names = job.variables();
            if !truth.iter().map(|row| &row.variable).eq(&names) {
                return Err(JobError::from(NoYardstick::OtherModel).into());
            }
            (None, truth)
        }
    };
    let all_failed = || "every chain failed".to_owned();
    for variant in variants {
        let outcome = match &reference {
            Some(done) if is_control(variant) => measure(done, &truth).ok_or_else(all_failed),
            _ => match of(variant) {
                Ok(run) => measure(&run, &truth).ok_or_else(all_failed),
                Err(error) if stops(&error) => return Err(error),
                Err(error) => Err(sentence(error)),
            },
        };
        tell(Row {
            variant: variant.clone(),
            outcome,
        });
    }
    Ok(())
}

/// The summary that the quadratic approximation at the mode gives: where rows are so numerous that the posterior is normal it is as
/// good a reference as an exact run, which would take hours. `None` if no mode was found.
pub fn quadratic_summary(job: &Job) -> Option<Vec<SummaryRow>> {
    let centre = job.centre.as_ref()?;
    let mut rng = stream(job.recipe.run.seed, 0, Purpose::Data);
    let names = job.variables();
    let (keep, mut theta) = (job.keep(), vec![0.0; job.model.params().len()]);
    let mut draws = DrawList::new(names.len());
    for _ in 0..QUADRATIC_DRAWS {
        let mut u: Vec<f64> = (0..job.model.dim())
            .map(|_| StandardNormal.sample(&mut rng))
            .collect();
        centre.factor.solve_lower_transpose(&mut u);
        axpy(1.0, &centre.u, &mut u);
        job.model.constrain(&u, &mut theta);
        let kept: Vec<f64> = keep.kept().iter().map(|&j| theta[j]).collect();
        draws.push(&kept);
    }
    Some(summarise(&names, &[&draws], &[], 0.0))
}

/// What `run` says beside the summary of the reference; `None` if no chain ended well.
pub fn measure(run: &Run, reference: &[SummaryRow]) -> Option<Measured> {
    let (view, report, job) = (run.view(), run.report(), run.job());
    if view.usable().next().is_none() || report.summary.is_empty() {
        return None;
    }
    let (mut shift, mut low, mut high) = (0.0_f64, f64::INFINITY, 0.0_f64);
    let (mut rhat, mut ess) = (0.0_f64, f64::INFINITY);
    for (row, truth) in report.summary.iter().zip(reference) {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let sd = number(truth.sd);
        shift = worst(shift, (number(row.mean) - number(truth.mean)).abs() / sd);
        low = low.min(number(row.sd) / sd);
        high = worst(high, number(row.sd) / sd);
        rhat = worst(rhat, number(row.rhat));
        ess = ess.min(row.ess_bulk.unwrap_or(0.0));
    }
    let draws: usize = view.usable().map(|chain| chain.draws.draws.len()).sum();
    let rows: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
    let warmup: u64 = (view.chains.iter().map(|chain| chain.warmup_datum_grads)).sum();
    let cost = |row: &SummaryRow| {
        let ess = row.ess_bulk.filter(|ess| *ess > 0.0)?;
        Some([rows as f64 / ess, (rows - warmup) as f64 / ess])
    };
    let spec = &job.sampler.spec;
    let column = |name: &str| spec.info.iter().position(|column| column.name == name);
    let batch = (job.recipe.sampler.settings.int("batch"))
        .map_or(1.0, |batch| batch as f64 / job.model.num_obs() as f64);
    let rows_share = column(ROWS_SHARE).and_then(|k| mean(&view, k, |x| x));
    Some(Measured {
        seconds: view.elapsed_secs,
        mean_shift: shift,
        sd_ratio: (low, high),
        rhat,
        ess,
        inefficiency: draws as f64 / ess,
        rows_per_ess: rows as f64 / ess,
        rows_share: rows_share.unwrap_or(batch),
        costs: report.summary.iter().map(cost).collect(),
        accept: column(ACCEPT).and_then(|k| mean(&view, k, |x| x)),
        accept_rows: column(ACCEPT_ROWS).and_then(|k| mean(&view, k, |x| x)),
        positive: column(SIGN).and_then(|k| mean(&view, k, |sign| f64::from(u8::from(sign > 0.0)))),
        curves: curves(&view, report.summary.len().min(CURVES), column(WEIGHT)),
    })
}

/// Density curves of the first `count` quantities; `weight` is the information column of weights, for samplers that have one.
fn curves(view: &RunView, count: usize, weight: Option<usize>) -> Arc<[Vec<[f64; 2]>]> {
    let columns = |of: fn(&ChainView) -> &DrawList, column: usize| -> Vec<&[f64]> {
        let chunks = view.usable().flat_map(|chain| of(chain).chunks());
        chunks.map(|chunk| chunk.column(column)).collect()
    };
    let weights = weight.map_or_else(Vec::new, |k| columns(|chain| &chain.draws.info, k));
    let curve = |k: usize| {
        let draws = columns(|chain| &chain.draws.draws, k);
        density(&draws, &weights, None).map_or_else(
            |_missing| Vec::new(),
            |curve| {
                curve
                    .x
                    .into_iter()
                    .zip(curve.y)
                    .map(|(x, y)| [x, y])
                    .collect()
            },
        )
    };
    (0..count).map(curve).collect()
}

/// The larger of two, where "not a number" is worst of all.
fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

/// Mean over all kept draws of an information column, transformed; not-defined values are left out.
fn mean(view: &RunView, column: usize, of: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for chunk in view.usable().flat_map(|chain| chain.draws.info.chunks()) {
        for &value in chunk.column(column).iter().filter(|value| !value.is_nan()) {
            sum += of(value);
            count += 1;
        }
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::built_in_job;
    use ergodic_base::Control;

    #[test]
    fn densities_are_of_standardised_predictors_where_the_report_is() {
        for (template, change, wanted) in [
            ("logistic", "report.scale=original", None),
            (
                "logistic",
                "report.scale=standardised",
                Some("on the scale of standardised predictors"),
            ),
            (
                "linear",
                "report.scale=standardised",
                Some("on the scale of standardised predictors and outcome"),
            ),
        ] {
            let recipe = Recipe::new("built-in", template, "")
                .changed(&[change.to_owned()])
                .unwrap();
            let job = built_in_job(&recipe, &Control::default()).unwrap();
            assert_eq!(scale(&job), wanted, "{template}, {change}");
        }
    }
}
