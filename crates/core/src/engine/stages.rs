//! Runs that go on until they are precise, where that is cheap.
//!
//! A run makes the draws it was asked for. If they are not precise enough then, it makes as many again, as long as the
//! work stays small. Every chain waits at the end of a stage, and what is decided there depends on the draws alone: the
//! same recipe gives the same draws on every machine and under any load. A run folder records how many there were.

use super::found;
use super::remark::Remark;
use super::run_section::{DEFAULT_DRAWS, RunSection};
use super::sampling::Sampling;
use crate::samplers::recommend::{Work, pass_secs, work_secs};
use ergodic_base::Warning;
use ergodic_diagnostics::{ESS_PER_CHAIN, Precision, RHAT_LIMIT, SummaryRow};

/// Draws per chain at most: 16 times the usual. Who needs more has a problem that draws do not cure.
pub const MOST_DRAWS: u64 = 16 * DEFAULT_DRAWS;
/// Seconds of an ordinary machine that a run may take in all, to go on by itself.
const MOST_SECS: f64 = 60.0;

/// What happens at the end of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// The draws are precise.
    Enough,
    /// The draws are not precise, and more would not help or would take long.
    Stop,
    /// The draws are not precise: draws per chain to go on to, and why.
    More(u64, Warning),
}

/// The precision that ends a run of `chains` chains: what a good verdict asks for.
pub fn precision(chains: usize) -> Precision {
    Precision {
        ess: Some(ESS_PER_CHAIN * chains as f64),
        rhat: RHAT_LIMIT,
    }
}

/// Whether a run with this section goes on by itself, if its sampler is exact.
pub(crate) fn are_allowed(run: &RunSection) -> bool {
    run.until_precise
        && run.draws_of_chains.is_none()
        && run.precision().is_none()
        && (DEFAULT_DRAWS..MOST_DRAWS).contains(&run.draws)
}

/// Whether `job` goes on by itself beyond the draws it names.
pub fn apply(job: &dyn Sampling) -> bool {
    let spec = &job.sampler().spec;
    are_allowed(job.run_section()) && spec.bias.is_none() && !spec.negative_control
}

/// How far a run has come at the end of a stage.
pub(super) struct Stage {
    /// Chains that work.
    pub chains: usize,
    /// Kept draws of each of these chains.
    pub draws: u64,
    /// Gradients of single rows so far, in all.
    pub datum_grads: u64,
    /// Divergent transitions among the draws.
    pub divergences: u64,
}

/// What a run does at the end of a stage with these diagnostics.
pub(super) fn next(job: &dyn Sampling, summary: &[SummaryRow], stage: &Stage) -> Next {
    let &Stage {
        draws,
        datum_grads,
        divergences,
        ..
    } = stage;
    let precision = precision(stage.chains);
    let decides = found::criterion(found::kinds_of(job.sampler()));
    let deciding: Vec<&SummaryRow> = summary.iter().filter(|row| decides(row)).collect();
    if precision.is_met(&deciding) {
        return Next::Enough;
    }
    // Draws that stand still, are not finite or whose weights cancel have no precision that could be told.
    let Some(lack) = precision.lack_in_words(&deciding) else {
        return Next::Stop;
    };
    let more = (2 * draws).min(MOST_DRAWS);
    // More draws do not mend divergences.
    if divergences > 0 || more <= draws || secs(job, draws, more, datum_grads) > MOST_SECS {
        return Next::Stop;
    }
    Next::More(more, Remark::GoingOn { draws, lack, more }.into())
}

/// Seconds of an ordinary machine for a run of `more` draws per chain: by the gradients of rows that it took so far where
/// a sampler lives on them, otherwise by what the sampler says of a draw.
fn secs(job: &dyn Sampling, draws: u64, more: u64, datum_grads: u64) -> f64 {
    let warmup = job.run_section().warmup.unwrap_or_default();
    let all = (more + warmup) as f64;
    if matches!(job.sampler().advice.work, Work::Passes { .. }) {
        let done = (draws + warmup) as f64;
        return pass_secs(datum_grads as f64, &job.target()) * all / done;
    }
    let chains = job.run_section().chains as f64;
    work_secs(job.sampler(), &job.target()) * chains * all
}
