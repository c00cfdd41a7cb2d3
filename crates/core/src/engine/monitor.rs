//! Diagnostics while a run goes on: about once a second, for all variables, on a thread of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::chain::Warmup;
use super::collector::Waker;
use super::found::{self, Found};
use super::mode_drift;
use super::protocol::{ChainState, ChainView, Control, RunState, RunView, StopReason};
use super::publish::Published;
use super::sampling::Sampling;
use super::{gradients, unvisited};
use crate::design::Remark;
use crate::samplers::{DIVERGENT, energy_column};
use ergodic_base::draws::DrawList;
use ergodic_base::{ParamId, RunningMoments, Warning};
use ergodic_diagnostics::bias::BiasReport;
use ergodic_diagnostics::estimates::{Estimate, estimates};
use ergodic_diagnostics::extra::{Extra, ExtraInputs, Extras};
use ergodic_diagnostics::running::Running;
use ergodic_diagnostics::zero_variance::Corrected;
use ergodic_diagnostics::{
    Finding, Limits, Parted, SummaryRow, Verdict, VerdictInputs, energy, judge, summarise, weights,
};

/// Time between reports; longer when a report takes more than a tenth of it.
const INTERVAL: Duration = Duration::from_secs(1);
/// The first report comes sooner, because the first seconds are when people look.
const FIRST: Duration = Duration::from_millis(250);
/// Share of the time that diagnostics may take from the chains.
const DUTY: u32 = 10;
/// Draws without any change after which a chain counts as stuck.
const STUCK_DRAWS: usize = 200;

/// What the diagnostics say about a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// One row per variable.
    pub summary: Vec<SummaryRow>,
    /// One row per reported quantity whose draws are not kept.
    pub estimates: Arc<Vec<Estimate>>,
    /// How R-hat, ESS and MCSE developed, for who looks on while the run goes on.
    pub running: Arc<Running>,
    /// One word.
    pub verdict: Verdict,
    /// One sentence.
    pub sentence: String,
    /// Whether averages are weighted: draws have weights, and they differ.
    pub weighted: bool,
    /// Kept draws per chain that it is based on.
    pub draws_per_chain: usize,
    /// Divergent transitions among kept draws.
    pub divergences: u64,
    /// Estimated seconds until the run's stop rule is met; `None` if that cannot be said.
    pub eta_secs: Option<f64>,
    /// What is asked of each variable, which is what the verdict is made of.
    pub limits: Limits,
    /// Everything that the verdict is made of, each with what to do, and what else the diagnostics have to tell.
    pub warnings: Vec<Warning>,
    /// The bias check, if it has run.
    pub bias: Option<Arc<BiasReport>>,
    /// What outputs of the sampler come to.
    pub found: Found,
    /// Estimates corrected by control variates, where the run keeps gradients for them and has draws enough.
    pub corrected: Option<Arc<Corrected>>,
}

impl Report {
    /// The report of a run without draws.
    pub fn empty(num_params: usize) -> Self {
        Self {
            summary: Vec::new(),
            estimates: Arc::default(),
            running: Arc::new(Running::new(num_params)),
            verdict: Verdict::TooEarly,
            sentence: "Starting".to_owned(),
            weighted: false,
            draws_per_chain: 0,
            divergences: 0,
            eta_secs: None,
            limits: Limits::of(1),
            warnings: Vec::new(),
            bias: None,
            found: Found::default(),
            corrected: None,
        }
    }
}

pub(super) struct Monitor {
    pub job: Arc<dyn Sampling>,
    pub control: Arc<Control>,
    pub views: Arc<Published<RunView>>,
    pub reports: Arc<Published<Report>>,
    pub waker: Option<Waker>,
    pub stop_reason: Arc<Mutex<Option<StopReason>>>,
    /// Draws that each chain is to keep, as raised meanwhile.
    pub draws_wanted: Vec<Arc<AtomicU64>>,
    /// Closed by the collector's end.
    pub done: Receiver<()>,
}

impl Monitor {
    /// Reports until the collector has ended, and once more then.
    pub fn run(self) {
        let names = self.job.variables();
        let mut running =
            Running::new(names.len()).with_superchains(self.job.run_section().superchains);
        let mut wait = FIRST;
        loop {
            let last = match self.done.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => false,
                Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            };
            let begun = Instant::now();
            let view = self.views.load();
            if self.waker.is_some() {
                let chains: Vec<&DrawList> =
                    view.usable().map(|chain| &chain.draws.draws).collect();
                let weights = view.weights(self.job.weight_column());
                let budget = if last { Duration::MAX } else { INTERVAL / 4 };
                running.update(&chains, &weights, budget);
            }
            let mut report = report(
                self.job.as_ref(),
                &view,
                &names,
                Arc::new(running.clone()),
                None,
            );
            report.eta_secs = self.eta_secs(&view, &report.summary);
            self.apply_stop_rule(&report);
            self.reports.publish(report);
            if let Some(waker) = &self.waker {
                waker();
            }
            if last {
                return;
            }
            wait = INTERVAL.max(begun.elapsed() * DUTY);
        }
    }

    /// Seconds until the run ends by its own rules: the earliest of draws, precision and time.
    fn eta_secs(&self, view: &RunView, summary: &[SummaryRow]) -> Option<f64> {
        // A pause has no end that could be told.
        if view.is_finished() || view.state == RunState::Paused {
            return None;
        }
        let run = self.job.run_section();
        let seconds = sampling_secs(view);
        let by_draws = view
            .chains
            .iter()
            .enumerate()
            .filter_map(|(index, chain)| {
                let warmup = match (&chain.state, self.job.warmup()) {
                    (ChainState::Drawing | ChainState::Paused, _) => 0,
                    // The rate is that of the warm-up, whose iterations are about as long.
                    (ChainState::Warmup, Warmup::Fixed(length)) if chain.rate > 0.0 => {
                        length.saturating_sub(chain.iterations)
                    }
                    _ => return None,
                };
                let left = self.draws_wanted[index]
                    .load(Ordering::Relaxed)
                    .saturating_sub(chain.draws.draws.len() as u64);
                Some((chain.rate > 0.0).then(|| (warmup + left) as f64 / chain.rate))
            })
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::max);
        let by_precision = run
            .target_ess
            .and_then(|target| Some(seconds * (target / least_ess(summary)? - 1.0).max(0.0)));
        let by_time = run
            .max_seconds
            .map(|limit| (limit - view.elapsed_secs).max(0.0));
        [by_draws, by_precision, by_time]
            .into_iter()
            .flatten()
            .reduce(f64::min)
    }

    fn apply_stop_rule(&self, report: &Report) {
        let run = self.job.run_section();
        if run.draws_of_chains.is_some() || report.draws_per_chain < report.limits.least_draws() {
            return;
        }
        let deciding: Vec<&SummaryRow> = (report.summary.iter())
            .filter(|row| (report.limits.decides)(row))
            .collect();
        if run
            .precision()
            .is_some_and(|precision| precision.is_met(&deciding))
        {
            let mut slot = self
                .stop_reason
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert(StopReason::Precision);
            self.control.stop();
        }
    }
}

/// Everything the diagnostics say about `view` with the history `running`.
pub fn report(
    job: &dyn Sampling,
    view: &RunView,
    names: &[ParamId],
    running: Arc<Running>,
    bias: Option<Arc<BiasReport>>,
) -> Report {
    let chains: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let seconds = sampling_secs(view);
    let weights = view.weights(job.weight_column());
    let mut summary = summarise(names, &chains, &weights, seconds);
    let superchains = nest(&mut summary, view, &weights, job.run_section().superchains);
    let moments: Vec<&RunningMoments> = view.usable().map(|it| &*it.draws.unkept).collect();
    let estimates = estimates(&job.unkept_variables(), &moments, &weights);
    let limits = Limits {
        chains: chains.len(),
        superchains,
        decides: found::criterion(found::kinds_of(job.sampler())),
    };
    let draws_per_chain = view.draws_per_chain();
    let divergences = divergences(job, view.usable());
    let keeps_all = job.keep().is_all();
    let numbered = |wanted: fn(&ChainState, bool) -> bool| -> Vec<usize> {
        view.chains
            .iter()
            .enumerate()
            .filter(|(_, chain)| wanted(&chain.state, stands_still(chain, keeps_all)))
            .map(|(index, _)| index + 1)
            .collect()
    };
    let failed = numbered(|state, _| matches!(state, ChainState::Failed(_)));
    let stuck = numbered(|state, stuck| stuck && !matches!(state, ChainState::Failed(_)));
    let is_running = !view.is_finished();
    let secs_to_target = if is_running {
        secs_to_target(&summary, limits.ess(), seconds)
    } else {
        None
    };
    let target = match view.state {
        RunState::Finished(StopReason::Draws | StopReason::Time) => job.run_section().precision(),
        _ => None,
    };
    let biased = job.sampler().spec.bias.is_some();
    let mut others: Vec<Finding> = Vec::new();
    others.extend(exact_fit(job));
    let far = mode_drift::distance(job, &chains, &limits)
        .filter(|distance| mode_drift::is_far(*distance, job.model().dim()));
    let proved = (bias.as_deref()).is_some_and(|bias| bias.verdict == Verdict::Good);
    others.extend(far.map(|distance| mode_drift::finding(distance, biased, proved)));
    let found = Found::of(job, view);
    others.extend(found.findings(&summary, chains.len()));
    if draws_per_chain >= limits.least_draws() {
        others.extend(unvisited::finding(job, unvisited::count(job, &chains)));
    }
    if !weights::matter(&weights) {
        let numbered: Vec<(usize, &DrawList)> = (view.chains.iter().enumerate())
            .filter(|(_, chain)| !matches!(chain.state, ChainState::Failed(_)))
            .map(|(index, chain)| (index + 1, &chain.draws.draws))
            .collect();
        others.extend(Parted::of(&summary, &limits, &numbered).map(Parted::finding));
    }
    let inputs = VerdictInputs {
        rows: &summary,
        draws_per_chain,
        running: is_running,
        chains: view.chains.len(),
        superchains,
        failed: &failed,
        stuck: &stuck,
        divergences,
        ebfmi: &ebfmi(job, view),
        biased: biased.then_some(job.sampler().spec.title),
        remedy: job.sampler().spec.remedy,
        bias: bias.as_deref(),
        secs_to_target,
        target,
        decides: limits.decides,
        unkept: estimates.len(),
        others: &others,
    };
    let judgement = judge(&inputs);
    Report {
        summary,
        estimates: Arc::new(estimates),
        running,
        verdict: judgement.verdict,
        sentence: judgement.sentence,
        weighted: weights::matter(&weights),
        draws_per_chain,
        divergences,
        eta_secs: None,
        limits,
        warnings: judgement.findings,
        bias,
        found,
        corrected: corrected(job, view, &chains, &weights).map(Arc::new),
    }
}

/// Estimates corrected by the gradients that the run keeps with its draws; `None` where it keeps none, or has too few draws.
fn corrected(
    job: &dyn Sampling,
    view: &RunView,
    chains: &[&DrawList],
    weights: &[Vec<f64>],
) -> Option<Corrected> {
    let order = job.run_section().zero_variance?;
    let info: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.info).collect();
    let draws = chains.iter().map(|chain| chain.len()).min()?;
    let points = gradients::points(job, chains, &info, draws)?;
    gradients::corrected(job, chains, weights, &points, order).ok()
}

/// Adds nested R-hat to the rows of `summary` where the chains of `view` began in `superchains` groups and none has failed; how many
/// groups it judges.
pub fn nest(
    summary: &mut [SummaryRow],
    view: &RunView,
    weights: &[Vec<f64>],
    superchains: Option<usize>,
) -> Option<usize> {
    let chains: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let superchains = superchains.filter(|_| chains.len() == view.chains.len())?;
    let inputs = ExtraInputs {
        chains: &chains,
        numbers: &[],
        weights,
        seconds: 0.0,
        superchains: Some(superchains),
        // For columns that are not asked for.
        interval: 0.9,
        rope: None,
    };
    let nested = Extras::of(&[Extra::RhatNested], &inputs).rows;
    for (row, found) in summary.iter_mut().zip(nested) {
        row.rhat_nested = found.first().copied().flatten();
    }
    Some(superchains)
}

/// A finding that the predictors fit the response exactly, which the run's log tells at length.
fn exact_fit(job: &dyn Sampling) -> Option<Finding> {
    let response = job
        .warnings()
        .iter()
        .find_map(|warning| match warning.remark()? {
            Remark::ExactFit { response } => Some(response),
            _ => None,
        })?;
    Some(Finding::new(
        Verdict::Watch,
        &format!("the predictors fit `{response}` exactly"),
        Some("leave out what gives it away"),
        None,
    ))
}

/// Seconds of sampling of the slowest chain.
fn sampling_secs(view: &RunView) -> f64 {
    view.usable()
        .map(|chain| chain.draw_secs)
        .fold(0.0, f64::max)
}

/// Divergent transitions after warm-up of chains that work.
pub(super) fn divergences<'a>(
    job: &dyn Sampling,
    chains: impl Iterator<Item = &'a ChainView>,
) -> u64 {
    let mut columns = job.sampler().spec.info.iter();
    let Some(column) = columns.position(|column| column.name == DIVERGENT) else {
        return 0;
    };
    let flags = chains.flat_map(|chain| chain.draws.info.chunks());
    let flags = flags.flat_map(|chunk| chunk.column(column));
    flags.filter(|&&flag| flag == 1.0).count() as u64
}

/// Estimated Bayesian fraction of missing information of the working chains whose sampler reports energies, with their numbers
/// from 1.
fn ebfmi(job: &dyn Sampling, view: &RunView) -> Vec<(usize, f64)> {
    let Some(column) = energy_column(&job.info_names()) else {
        return Vec::new();
    };
    let chains = view.chains.iter().enumerate();
    chains
        .filter(|(_, chain)| !matches!(chain.state, ChainState::Failed(_)))
        .filter_map(|(index, chain)| {
            let energies = chain.draws.info.column(column);
            Some((index + 1, energy::ebfmi(&energies).ok()?))
        })
        .collect()
}

/// Whether a chain has not moved for a long time: none of its reported quantities, also those whose draws are not kept. Where some are not,
/// draws say nothing until the chain has told how long it has stood.
fn stands_still(chain: &ChainView, keeps_all: bool) -> bool {
    match chain.unmoved {
        Some(unmoved) => unmoved as usize >= STUCK_DRAWS,
        None => keeps_all && is_stuck(&chain.draws.draws),
    }
}

/// Whether nothing in these draws has changed for a long time.
pub fn is_stuck(draws: &DrawList) -> bool {
    let len = draws.len();
    len >= STUCK_DRAWS
        && draws.width() > 0
        && (0..draws.width()).all(|j| {
            (len - STUCK_DRAWS..len - 1).all(|i| draws.value(i, j) == draws.value(len - 1, j))
        })
}

/// Seconds until every variable has the effective sample size that the verdict wants, if ESS grows as it did.
fn secs_to_target(summary: &[SummaryRow], wanted: f64, seconds: f64) -> Option<f64> {
    let least = least_ess(summary)?;
    (least < wanted).then_some(seconds * (wanted / least - 1.0))
}

fn least_ess(summary: &[SummaryRow]) -> Option<f64> {
    let ess = summary
        .iter()
        .map(|row| Some(row.ess_bulk?.min(row.ess_tail?)));
    ess.collect::<Option<Vec<f64>>>()?
        .into_iter()
        .reduce(f64::min)
        .filter(|&least| least > 0.0)
}
