//! The bias check of an approximate run: an exact sampler on the same model as a control, and the difference between the two.

use std::sync::Arc;

use super::job::{Job, JobError};
use ergodic_base::draws::DrawList;
use ergodic_base::reporter::{Severity, Warning};
use ergodic_core::engine::Sampling as _;
use ergodic_core::engine::monitor::{Report, report};
use ergodic_core::engine::protocol::RunView;
use ergodic_core::engine::run_section::DEFAULT_DRAWS;
use ergodic_core::models::Model;
use ergodic_core::samplers::{Family, SamplerSpec};
use ergodic_diagnostics::bias::{BiasReport, compare};
use ergodic_diagnostics::running::Running;
use ergodic_diagnostics::verdict::ADVISED_CHAINS;
use ergodic_diagnostics::{Remark, Verdict};

/// The exact sampler that controls are run with.
const CONTROL: &str = "nuts";
/// The exact sampler for controls of mixtures, which have no gradient.
const CONTROL_OF_MIXTURES: &str = "dp-gibbs";
/// Samplers that controls are run with.
pub const CONTROLS: [&str; 2] = [CONTROL, CONTROL_OF_MIXTURES];

/// Draws per chain of a run whose bias is checked, where nobody has named their number. With the usual ones its own Monte Carlo
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

/// The control run of `job`: the same model, an exact sampler with its default settings and so many draws per chain, or as
/// many as is usual. Its seed is the next one: chains that began where those of the run began would miss the same modes.
///
/// # Errors
/// See [`Job::with_sampler`].
pub fn control_job(job: &Job, draws: Option<u64>) -> Result<Job, JobError> {
    let mut control = job.with_sampler(control_of(job.model.as_ref()))?;
    let run = &mut control.recipe.run;
    run.seed = run.seed.wrapping_add(1);
    run.draws = draws.unwrap_or(run.draws);
    Ok(control)
}

/// Identifier of the exact sampler that others are measured against on `model`.
pub fn control_of(model: &dyn Model) -> &'static str {
    if model.density().is_some() {
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

/// The report of the approximate run once its control `(job, draws)` has ended. The control's own diagnostics count: draws
/// that are not good themselves prove nothing.
pub fn certify(
    job: &Job,
    view: &RunView,
    before: &Report,
    (control_job, control): (&Job, &RunView),
) -> Report {
    let names = job.variables();
    let running = Arc::new(Running::new(0));
    let own = report(control_job, control, &names, running, None);
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
    let bias = bias.doubted(doubt(&own, control.chains.len(), view.chains.len()));
    report(
        job,
        view,
        &names,
        Arc::clone(&before.running),
        Some(Arc::new(bias)),
    )
}

/// What is wrong with a control of so many chains, of a run of so many. Few chains are no fault where the run has as few.
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

/// The result in one sentence: the worst variable, how far it is off, and how sure that is.
pub fn sentence(bias: &BiasReport) -> String {
    let what = compared(bias);
    match &bias.doubt {
        Some(doubt) => format!("{what}. But the control run proves nothing: {doubt}"),
        None => what,
    }
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
        "means and sds were compared, the worst is {name}: mean off by {:.2} ± {:.2} sd, sd ratio {:.2} ± {:.2}",
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
