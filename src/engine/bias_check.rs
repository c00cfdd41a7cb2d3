//! The bias check of an approximate run: an exact sampler on the same model as a control, and the difference between the two.

use std::sync::Arc;

use super::job::{Job, JobError};
use super::monitor::{Report, report};
use super::protocol::RunView;
use crate::base::draws::DrawList;
use crate::diagnostics::bias::{BiasReport, compare};
use crate::models::Model;
use crate::samplers::{Family, SamplerSpec};

/// The exact sampler that controls are run with …
const CONTROL: &str = "nuts";
/// … and the one for mixtures, which have no gradient.
const CONTROL_OF_MIXTURES: &str = "dp-gibbs";

/// The control run of `job`: the same model and seed, an exact sampler with its default settings.
///
/// # Errors
/// See [`Job::with_sampler`].
pub fn control_job(job: &Job) -> Result<Job, JobError> {
    job.with_sampler(control_of(job.model.as_ref()))
}

/// Identifier of the exact sampler that others are measured against on `model`.
pub fn control_of(model: &dyn Model) -> &'static str {
    if model.has_density() {
        CONTROL
    } else {
        CONTROL_OF_MIXTURES
    }
}

/// The control of runs of a sampler, for people.
pub fn control_title(spec: &SamplerSpec) -> &'static str {
    match spec.family {
        Family::Mixture => "collapsed Gibbs",
        _ => "NUTS",
    }
}

/// The report of the approximate run once its control has ended.
pub fn certify(job: &Job, view: &RunView, before: &Report, control: &RunView) -> Report {
    let names = job.variables();
    let lists = |view: &'_ RunView| -> Vec<DrawList> {
        view.usable()
            .map(|chain| chain.draws.draws.clone())
            .collect()
    };
    let (reference, approximate) = (lists(control), lists(view));
    let reference: Vec<&DrawList> = reference.iter().collect();
    let approximate: Vec<&DrawList> = approximate.iter().collect();
    // The control is an exact sampler with plain draws.
    let weights = view.weights(job.weight_column());
    let bias = compare(&names, (&reference, &[]), (&approximate, &weights));
    report(
        job,
        view,
        &names,
        Arc::clone(&before.running),
        Some(Arc::new(bias)),
    )
}

/// The result in one sentence: the worst variable, how far it is off, and how sure that is.
pub fn sentence(bias: &BiasReport) -> String {
    match bias.worst.map(|worst| &bias.rows[worst]) {
        None => "nothing to compare".to_owned(),
        Some(row) => match (&row.shift, &row.sd_ratio) {
            (Some(shift), Some(ratio)) => format!(
                "worst is {}: mean off by {:.2} ± {:.2} sd, sd ratio {:.2} ± {:.2}",
                row.variable,
                shift.value,
                shift.half_width(),
                ratio.value,
                ratio.half_width()
            ),
            _ => format!("{} cannot be compared yet: too few draws", row.variable),
        },
    }
}
