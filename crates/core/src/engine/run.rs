//! A run: its threads, and the handle by which the window and the command line steer it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::bounded;

use super::chain::{self, ChainTask};
use super::checkpoint::ChainMark;
use super::collector::{Collector, Waker};
use super::monitor::{Monitor, Report};
use super::protocol::{
    ChainState, ChainView, Control, Message, Outbox, RunState, RunView, StopReason,
};
use super::publish::Published;
use super::sampling::Sampling;
use super::{labels, stages};
use ergodic_base::Streams;
use ergodic_base::draws::{Block, ChainDraws};

/// Messages per chain that may wait for the collector; a full channel blocks the chains, so that memory is bounded.
const MESSAGES_PER_CHAIN: usize = 4;
/// Blocks per chain: one being filled, others on their way.
const BLOCKS_PER_CHAIN: usize = 4;

/// Where a continued run goes on.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// One per chain; `None` for chains that failed: they keep their draws and stay failed.
    pub marks: Vec<Option<ChainMark>>,
    /// Draws made so far.
    pub draws: Vec<ChainDraws>,
    /// Seconds of sampling and of warm-up used so far, per chain at most.
    pub earlier_secs: (f64, f64),
    /// Why the part before ended, if that is known and it was not cut short.
    pub ended: Option<StopReason>,
}

/// A running or finished run.
pub struct Run<J: Sampling + ?Sized = dyn Sampling> {
    job: Arc<J>,
    control: Arc<Control>,
    views: Arc<Published<RunView>>,
    reports: Arc<Published<Report>>,
    draws_wanted: Vec<Arc<AtomicU64>>,
    begun_with: Vec<u64>,
    /// Whether the run may go on beyond the draws that its recipe names ([`stages`]).
    staged: bool,
    stop_reason: Arc<Mutex<Option<StopReason>>>,
    supervisor: Option<JoinHandle<Vec<Option<ChainMark>>>>,
    marks: Vec<Option<ChainMark>>,
}

impl<J: Sampling + 'static> Run<J> {
    /// Starts the chains of `job`, fresh or where an earlier part ended. `waker` is called, at most 25 times a second,
    /// when there is something new to look at; without it nobody looks on, and reports have no history of diagnostics.
    ///
    /// # Errors
    /// The operating system gives no threads.
    pub fn start(
        job: Arc<J>,
        continuation: Option<Continuation>,
        waker: Option<Waker>,
    ) -> std::io::Result<Self> {
        let report = Report::empty(job.keep().kept().len());
        Self::start_after(job, continuation, report, waker)
    }

    /// Starts a run where `report` is what was known before: it stands until there is a newer one.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_after(
        job: Arc<J>,
        continuation: Option<Continuation>,
        report: Report,
        waker: Option<Waker>,
    ) -> std::io::Result<Self> {
        let chains = job.run_section().chains;
        let control = Arc::new(Control::default());
        let stop_reason = Arc::new(Mutex::new(None));
        let width = job.keep().kept().len();
        let num_info = job.num_info();
        let continued = continuation.is_some();
        let Continuation {
            marks,
            draws,
            earlier_secs,
            ended,
        } = continuation.unwrap_or_else(|| Continuation {
            marks: vec![None; chains],
            draws: vec![ChainDraws::new(width, num_info); chains],
            earlier_secs: (0.0, 0.0),
            ended: None,
        });
        let draws: Vec<ChainDraws> = draws
            .into_iter()
            .map(|draws| labels::with_room(draws, chains))
            .collect();
        if job.run_section().warmup_of_chains.is_some() {
            control.freeze();
        }
        let start: Vec<Option<ChainMark>> = marks
            .iter()
            .enumerate()
            .map(|(chain, mark)| match mark {
                None if !continued => {
                    let streams = Streams::new(job.run_section().seed, chain);
                    Some(ChainMark::before_start(&streams))
                }
                mark => mark.clone(),
            })
            .collect();
        // A continued run ends where its owner said.
        let staged = !continued && stages::apply(job.as_ref());
        let views = Arc::new(Published::new(first_view(&draws, &start)));
        let begun_with = draws.iter().map(|chain| chain.draws.len() as u64).collect();
        let reports = Arc::new(Published::new(report));
        let draws_wanted: Vec<Arc<AtomicU64>> = (0..chains)
            .map(|chain| Arc::new(AtomicU64::new(job.draws_wanted(chain))))
            .collect();

        let (messages, inbox) = bounded(MESSAGES_PER_CHAIN * chains);
        let messages = Outbox(messages);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // One thread per chain; cores without a chain help with exact passes, which does not change results.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(chains.max(cores))
            .thread_name(|index| format!("chain-{}", index + 1))
            .panic_handler(|_panic| {})
            .build()
            .map_err(std::io::Error::other)?;
        let mut empty = Vec::with_capacity(chains);
        let mut tasks = Vec::with_capacity(chains);
        let alive = |mark: &Option<ChainMark>| mark.is_some() || !continued;
        // Chains begin together: a chain waiting for its exact pass must not pick up another chain that has not begun.
        let gate = Arc::new(Barrier::new(
            marks.iter().filter(|mark| alive(mark)).count(),
        ));
        for (chain, (mark, wanted)) in marks.iter().zip(&draws_wanted).enumerate() {
            let (give, take) = bounded::<Block>(BLOCKS_PER_CHAIN);
            for _ in 0..BLOCKS_PER_CHAIN {
                give.try_send(Block::default())
                    .map_err(|_full| std::io::Error::other("no room for blocks"))?;
            }
            empty.push(give);
            if !alive(mark) {
                let state =
                    ChainState::Failed("it failed in an earlier part of this run".to_owned());
                let mark = None;
                // Nobody reads yet, and there is room for several messages of each chain.
                messages.tell(Message::Ended { chain, state, mark });
                continue;
            }
            tasks.push(ChainTask {
                chain,
                job: Arc::<J>::clone(&job),
                control: Arc::clone(&control),
                warmup: job.warmup(),
                warmup_cut: job
                    .run_section()
                    .warmup_of_chains
                    .as_ref()
                    .map(|ends| ends[chain]),
                draws_wanted: Arc::clone(wanted),
                staged,
                start: mark.clone(),
                parallel: chains < cores,
                gate: Arc::clone(&gate),
                messages: messages.clone(),
                empty: take,
            });
        }
        drop(messages);
        let collector = Collector {
            messages: inbox,
            empty,
            control: Arc::clone(&control),
            published: Arc::clone(&views),
            waker: waker.clone(),
            start,
            chains: draws,
            earlier_secs,
            ended,
            log: job.warnings().to_vec(),
            max_secs: job
                .run_section()
                .max_seconds
                .filter(|_| job.run_section().draws_of_chains.is_none()),
            stop_reason: Arc::clone(&stop_reason),
            staged: staged.then(|| {
                (
                    Arc::<J>::clone(&job) as Arc<dyn Sampling>,
                    draws_wanted.clone(),
                )
            }),
        };
        let (done_tx, done) = bounded::<()>(1);
        let monitor = Monitor {
            job: Arc::<J>::clone(&job),
            control: Arc::clone(&control),
            views: Arc::clone(&views),
            reports: Arc::clone(&reports),
            waker,
            stop_reason: Arc::clone(&stop_reason),
            draws_wanted: draws_wanted.clone(),
            done,
        };
        let monitor = std::thread::Builder::new()
            .name("monitor".to_owned())
            .spawn(move || monitor.run())?;
        let supervisor = std::thread::Builder::new()
            .name("collector".to_owned())
            .spawn(move || {
                for task in tasks {
                    pool.spawn(move || chain::run(task));
                }
                let marks = collector.run();
                drop(done_tx);
                // A panic of the monitor costs the last report, never the draws.
                drop(monitor.join());
                marks
            })?;
        Ok(Self {
            marks: vec![None; chains],
            job,
            control,
            views,
            reports,
            draws_wanted,
            begun_with,
            staged,
            stop_reason,
            supervisor: Some(supervisor),
        })
    }

    /// The job.
    pub fn job(&self) -> &Arc<J> {
        &self.job
    }

    /// Changes whenever a new view was published.
    pub fn version(&self) -> u64 {
        self.views.version() + self.reports.version()
    }

    /// The place where views of the draws are published, also after the run was given up.
    pub fn views(&self) -> &Arc<Published<RunView>> {
        &self.views
    }

    /// The newest view of the draws.
    pub fn view(&self) -> Arc<RunView> {
        self.views.load()
    }

    /// The newest diagnostics.
    pub fn report(&self) -> Arc<Report> {
        self.reports.load()
    }

    /// Replaces the diagnostics: a bias check has ended.
    pub fn set_report(&self, report: Report) {
        self.reports.publish(report);
    }

    /// Lets chains wait after their present iteration.
    pub fn pause(&self) {
        self.control.pause();
    }

    /// Lets chains go on.
    pub fn resume(&self) {
        self.control.resume();
    }

    /// Ends the warm-up of all chains after their present iteration; they keep what they have learnt, and draw.
    pub fn freeze(&self) {
        self.control.freeze();
    }

    /// Ends the run and keeps everything drawn.
    pub fn stop(&self) {
        self.stop_reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(StopReason::User);
        self.control.stop();
    }

    /// Whether the run is over and nothing more will be published.
    pub fn is_finished(&self) -> bool {
        self.supervisor.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Draws that each chain is to keep; raised by [`Self::add_draws`].
    pub fn draws_wanted(&self, chain: usize) -> u64 {
        self.draws_wanted[chain].load(Ordering::Relaxed)
    }

    /// Draws that each of the chains is to keep, to be looked at while the run goes on.
    pub fn wanted(&self) -> &[Arc<AtomicU64>] {
        &self.draws_wanted
    }

    /// Whether the run may go on by itself once its chains have the draws that they are to keep now.
    pub fn may_go_on(&self) -> bool {
        let wanted = self
            .draws_wanted
            .iter()
            .map(|it| it.load(Ordering::Relaxed));
        self.staged
            && !self.control.is_past_stages()
            && wanted.max().is_some_and(|draws| draws < stages::MOST_DRAWS)
    }

    /// Draws of each chain that earlier parts of the run had made.
    pub fn begun_with(&self) -> &[u64] {
        &self.begun_with
    }

    /// Raises the wanted number of draws of a run that goes on. A finished run is continued by a new one.
    pub fn add_draws(&self, draws: u64) {
        for wanted in &self.draws_wanted {
            wanted.fetch_add(draws, Ordering::Relaxed);
        }
    }

    /// Waits for the end and returns where each chain stands.
    pub fn join(&mut self) -> &[Option<ChainMark>] {
        if let Some(supervisor) = self.supervisor.take()
            && let Ok(marks) = supervisor.join()
        {
            self.marks = marks;
        }
        &self.marks
    }

    /// What a continuation of this finished run starts from.
    pub fn continuation(&mut self) -> Continuation {
        self.join();
        let view = self.view();
        Continuation {
            marks: self.marks.clone(),
            draws: view
                .chains
                .iter()
                .map(|chain| chain.draws.clone())
                .collect(),
            earlier_secs: earlier_secs(&view.chains),
            ended: match view.state {
                RunState::Finished(reason) => Some(reason),
                _ => None,
            },
        }
    }
}

impl<J: Sampling + ?Sized> Drop for Run<J> {
    fn drop(&mut self) {
        // Chains of a forgotten run must not go on for ever; their threads end by themselves.
        self.control.stop();
    }
}

/// Longest sampling and warm-up times over chains.
fn earlier_secs(chains: &[ChainView]) -> (f64, f64) {
    chains.iter().fold((0.0, 0.0), |(draw, warmup), chain| {
        (chain.draw_secs.max(draw), chain.warmup_secs.max(warmup))
    })
}

pub(super) fn first_view(draws: &[ChainDraws], marks: &[Option<ChainMark>]) -> RunView {
    let chain = |(draws, mark): (&ChainDraws, &Option<ChainMark>)| {
        ChainView::starting(draws.clone(), mark.clone())
    };
    RunView {
        chains: draws.iter().zip(marks).map(chain).collect(),
        state: RunState::Running,
        frozen: false,
        elapsed_secs: 0.0,
        log: Vec::new(),
        version: 0,
    }
}
