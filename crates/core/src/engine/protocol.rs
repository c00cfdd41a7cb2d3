//! What chains, collector and owner say to each other.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crossbeam_channel::Sender;
use serde::{Deserialize, Serialize};

use super::checkpoint::ChainMark;
use ergodic_base::Warning;
use ergodic_base::draws::{Block, ChainDraws};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All chains made the wanted number of draws.
    Draws,
    /// The time limit was reached.
    Time,
    /// R-hat and effective sample sizes reached their targets.
    Precision,
    /// The user stopped it.
    User,
    /// Every chain failed.
    Failed,
    /// The program ended before the run did.
    CutShort,
}

impl StopReason {
    /// A sentence without a period.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Draws => "complete",
            Self::Time => "the time limit was reached",
            Self::Precision => "R-hat and effective sample size reached their targets",
            Self::User => "stopped by the user; everything drawn so far is kept",
            Self::Failed => "every chain failed",
            Self::CutShort => {
                "the program ended before the run did; draws up to its last second were recovered"
            }
        }
    }

    /// A sentence without a period, of a run that has no draws; `None` where there is nothing to add to that.
    pub fn sentence_without_draws(self) -> Option<&'static str> {
        match self {
            Self::User => None,
            Self::CutShort => Some("the program ended before the first draw was kept"),
            other => Some(other.sentence()),
        }
    }
}

/// What a chain is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainState {
    /// Not yet at its first draw.
    Starting,
    /// Warming up.
    Warmup,
    /// Keeping draws.
    Drawing,
    /// Waiting because the user paused.
    Paused,
    /// Ended as planned or by a stop.
    Finished,
    /// Ended by an error, with its sentence; draws made before stay valid.
    Failed(String),
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Chains work.
    Running,
    /// Chains wait.
    Paused,
    /// Chains were told to stop and have not all answered.
    Stopping,
    /// All chains ended.
    Finished(StopReason),
}

/// One chain as published.
#[derive(Clone, Debug)]
pub struct ChainView {
    /// Draws of the chain.
    pub draws: ChainDraws,
    /// What the chain is doing.
    pub state: ChainState,
    /// Iterations done, warm-up included.
    pub iterations: u64,
    /// Iteration at which the warm-up ended, if it has.
    pub warmup_end: Option<u64>,
    /// Gradients of single rows so far.
    pub datum_grads: u64,
    /// Gradients of single rows in the warm-up; 0 where the chain was continued after it.
    pub warmup_datum_grads: u64,
    /// Iterations since which no reported quantity has changed; known where draws of some are not kept.
    pub unmoved: Option<u32>,
    /// Newest values of the sampler's outputs of numbers, by name.
    pub numbers: Vec<(&'static str, Vec<f64>)>,
    /// Draws (or warm-up iterations) per second, over the last few seconds.
    pub rate: f64,
    /// Seconds of sampling after the warm-up.
    pub draw_secs: f64,
    /// Seconds of warm-up.
    pub warmup_secs: f64,
    /// The newest place, about one a second, from which it can be continued; `None` once it has failed. It never stands
    /// behind more draws than there are.
    pub mark: Option<Arc<ChainMark>>,
    /// Reported quantities whose draws are kept, where the chain started, before its first step; `None` where that is not known, or the
    /// unknown is a partition.
    pub started_at: Option<Arc<[f64]>>,
}

impl ChainView {
    /// A chain that goes on after these draws, from `mark` where it has one.
    pub(super) fn starting(draws: ChainDraws, mark: Option<ChainMark>) -> Self {
        Self {
            numbers: Vec::new(),
            draws,
            state: ChainState::Starting,
            iterations: mark.as_ref().map_or(0, |mark| mark.iterations),
            warmup_end: mark.as_ref().and_then(|mark| mark.warmup_end),
            datum_grads: mark.as_ref().map_or(0, |mark| mark.datum_grads),
            warmup_datum_grads: 0,
            unmoved: None,
            rate: 0.0,
            draw_secs: 0.0,
            warmup_secs: 0.0,
            mark: mark.map(Arc::new),
            started_at: None,
        }
    }

    /// The newest numbers of the sampler's output called `name`; none where it makes none.
    pub fn numbers_called(&self, name: &str) -> &[f64] {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        found.map_or(&[], |(_, numbers)| numbers)
    }
}

/// A run at one moment: all panels of a frame show the same one.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Chains in order.
    pub chains: Vec<ChainView>,
    /// State of the run.
    pub state: RunState,
    /// Whether somebody ended the warm-up early.
    pub frozen: bool,
    /// Seconds since the start, pauses excluded.
    pub elapsed_secs: f64,
    /// Warnings so far, oldest first; repeats are counted.
    pub log: Vec<LogEntry>,
    /// Counts published views.
    pub version: u64,
}

impl RunView {
    /// Kept draws of the shortest chain that has not failed.
    pub fn draws_per_chain(&self) -> usize {
        self.usable()
            .map(|chain| chain.draws.draws.len())
            .min()
            .unwrap_or(0)
    }

    /// Chains that have not failed; failed ones keep their draws but take no part in summaries.
    pub fn usable(&self) -> impl Iterator<Item = &ChainView> {
        self.chains
            .iter()
            .filter(|chain| !matches!(chain.state, ChainState::Failed(_)))
    }

    /// Weights of the kept draws of the chains that have not failed, from information column `column`; empty without one.
    pub fn weights(&self, column: Option<usize>) -> Vec<Vec<f64>> {
        column.map_or_else(Vec::new, |column| {
            self.usable()
                .map(|chain| chain.draws.info.column(column))
                .collect()
        })
    }

    /// Where the warm-up of each chain ended, if somebody ended it early: what a recipe needs to replay that. A chain that
    /// ended before it noticed stands for itself.
    pub fn warmup_of_chains(&self) -> Option<Vec<u64>> {
        let ends = self.chains.iter();
        self.frozen.then(|| {
            ends.map(|chain| chain.warmup_end.unwrap_or(chain.iterations))
                .collect()
        })
    }

    /// Whether all chains ended.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, RunState::Finished(_))
    }
}

/// A warning with its time; repeats of one cause are one entry with a count.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Seconds since the start of the run.
    pub at_secs: f64,
    /// The warning.
    pub warning: Warning,
    /// How often the warning was reported.
    pub count: u32,
}

/// A message with the time at which its chain sent it: the collector may come to it late, and seconds of chains are their own.
pub(super) struct Sent {
    pub at: Instant,
    pub message: Message,
}

/// Where chains put their messages.
#[derive(Clone)]
pub(super) struct Outbox(pub Sender<Sent>);

impl Outbox {
    /// Sends a message; waits for room. Nobody listens only if the owner dropped the run.
    pub fn tell(&self, message: Message) {
        let at = Instant::now();
        drop(self.0.send(Sent { at, message }));
    }
}

/// From chains to the collector.
pub(super) enum Message {
    /// Draws.
    Block(Block),
    /// A chain stands at its first place, with these reported quantities.
    Started { chain: usize, at: Arc<[f64]> },
    /// A chain ended its warm-up after this number of iterations.
    WarmupEnded { chain: usize, at: u64 },
    /// A chain changed what it does.
    State { chain: usize, state: ChainState },
    /// A chain that goes on can be continued from here.
    Mark { chain: usize, mark: Box<ChainMark> },
    /// Something to tell the user.
    Warn { warning: Warning },
    /// A chain has sent all draws it is to keep, and waits whether the run goes on.
    Reached,
    /// A chain ended and can be continued from here.
    Ended {
        chain: usize,
        state: ChainState,
        mark: Option<Box<ChainMark>>,
    },
}

const RUN: u8 = 0;
const PAUSE: u8 = 1;
const STOP: u8 = 2;

/// The control word: one relaxed load per iteration; paused chains sleep on a condition variable.
#[derive(Debug, Default)]
pub(super) struct Control {
    word: AtomicU8,
    frozen: AtomicBool,
    /// Chains that wait at the end of a stage may end.
    enough: AtomicBool,
    /// Ends exact passes early once a stop was asked for.
    pub interrupt: Arc<AtomicBool>,
    gate: Mutex<()>,
    changed: Condvar,
}

impl Control {
    fn set(&self, word: u8) {
        let _guard = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if self.word.load(Ordering::Relaxed) != STOP {
            self.word.store(word, Ordering::Release);
        }
        self.changed.notify_all();
    }

    /// Lets chains wait after their present iteration.
    pub fn pause(&self) {
        self.set(PAUSE);
    }

    /// Lets chains go on.
    pub fn resume(&self) {
        self.set(RUN);
    }

    /// Ends the warm-up of all chains after their present iteration; they keep what they have learnt.
    pub fn freeze(&self) {
        self.frozen.store(true, Ordering::Release);
    }

    /// Whether the warm-up must end.
    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Relaxed)
    }

    /// Ends them; they keep everything. Final: a stopped run goes on only from its checkpoint.
    pub fn stop(&self) {
        self.set(STOP);
        self.interrupt.store(true, Ordering::Release);
    }

    /// Whether chains must end.
    pub fn is_stopped(&self) -> bool {
        self.word.load(Ordering::Relaxed) == STOP
    }

    /// Whether chains must wait.
    pub fn is_paused(&self) -> bool {
        self.word.load(Ordering::Relaxed) == PAUSE
    }

    /// Lets chains that wait at the end of a stage end.
    pub fn end_of_stages(&self) {
        let _guard = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.enough.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether [`Self::end_of_stages`] was called.
    pub fn is_past_stages(&self) -> bool {
        self.enough.load(Ordering::Acquire)
    }

    /// Wakes chains that wait at the end of a stage, because more draws are wanted.
    pub fn next_stage(&self) {
        let _guard = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }

    /// Sleeps until `wanted` says that more draws are wanted, which is true, or the run ends.
    pub fn wait_for_stage(&self, wanted: impl Fn() -> bool) -> bool {
        // Draws can also be asked for by somebody who wakes nobody.
        const LONGEST: std::time::Duration = std::time::Duration::from_millis(50);
        let mut guard = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if wanted() {
                return true;
            }
            if self.enough.load(Ordering::Acquire) || self.is_stopped() {
                return false;
            }
            let waited = self.changed.wait_timeout(guard, LONGEST);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sleeps while paused.
    pub fn wait_while_paused(&self) {
        let mut guard = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        while self.is_paused() {
            guard = self
                .changed
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
