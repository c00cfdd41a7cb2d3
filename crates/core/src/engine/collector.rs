//! The single writer of a run's draws: appends blocks, keeps the log, publishes views.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::checkpoint::ChainMark;
use super::monitor::divergences;
use super::protocol::{
    ChainState, ChainView, Control, LogEntry, Message, RunState, RunView, Sent, StopReason,
};
use super::publish::Published;
use super::remark::Remark;
use super::sampling::Sampling;
use super::stages::{self, Stage};
use ergodic_base::Warning;
use ergodic_base::draws::{Block, ChainDraws, DrawList};
use ergodic_diagnostics::summarise;

/// Shortest time between published views: 25 per second is as fast as a trace needs to move.
const PUBLISH_TIME: Duration = Duration::from_millis(40);
/// Iterations without any movement after which a chain is called stuck.
const STUCK_DRAWS: u32 = 200;
/// Time constant of the displayed rate.
const RATE_SECS: f64 = 3.0;
/// Least time that a rate is measured over: a block that was nearly full before a pause arrives right after it.
const RATE_LEAST_SECS: f64 = 0.3;

/// Called when there is something new to look at, where somebody looks.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// What is sampled, and the draws that each chain is to keep.
pub type Staged = (Arc<dyn Sampling>, Vec<Arc<AtomicU64>>);

pub(super) struct Collector {
    pub messages: Receiver<Sent>,
    pub empty: Vec<Sender<Block>>,
    pub control: Arc<Control>,
    pub published: Arc<Published<RunView>>,
    pub waker: Option<Waker>,
    /// Draws of a continued run; empty chains otherwise.
    pub chains: Vec<ChainDraws>,
    /// Where each chain starts; `None` for chains that failed in an earlier part.
    pub start: Vec<Option<ChainMark>>,
    /// Seconds used by earlier parts of a continued run: sampling, warm-up.
    pub earlier_secs: (f64, f64),
    /// Why the part before ended, of a continued run.
    pub ended: Option<StopReason>,
    pub log: Vec<Warning>,
    pub max_secs: Option<f64>,
    /// Why the run is being stopped, if somebody asked.
    pub stop_reason: Arc<std::sync::Mutex<Option<StopReason>>>,
    /// The job and the draws that each chain is to keep, of a run that may go on ([`stages`]).
    pub staged: Option<Staged>,
}

struct Track {
    view: ChainView,
    last: Vec<f64>,
    unmoved: u32,
    stuck: bool,
    entered: Instant,
    /// The last state other than a pause, which the rate belongs to.
    phase: ChainState,
    /// Since when iterations are counted for the rate, and how many there are.
    rate_at: Instant,
    rate_iterations: usize,
}

impl Collector {
    /// Works until every chain has ended; where each stands, `None` for failed ones.
    pub fn run(self) -> Vec<Option<ChainMark>> {
        let started = Instant::now();
        let mut tracks: Vec<Track> = self
            .chains
            .iter()
            .zip(&self.start)
            .map(|(draws, start)| Track {
                view: ChainView {
                    draw_secs: self.earlier_secs.0,
                    warmup_secs: self.earlier_secs.1,
                    ..ChainView::starting(draws.clone(), start.clone())
                },
                last: Vec::new(),
                unmoved: 0,
                stuck: false,
                entered: started,
                phase: ChainState::Starting,
                rate_at: started,
                rate_iterations: 0,
            })
            .collect();
        let mut log: Vec<LogEntry> = Vec::new();
        for warning in &self.log {
            add(&mut log, 0.0, warning.clone());
        }
        let mut marks: Vec<Option<ChainMark>> = vec![None; tracks.len()];
        let mut ended = 0;
        let mut version = 0;
        let mut paused_secs = 0.0;
        let mut last_loop = started;
        let mut last_publish = started.checked_sub(PUBLISH_TIME).unwrap_or(started);

        while ended < tracks.len() {
            let message = self.messages.recv_timeout(PUBLISH_TIME);
            let now = Instant::now();
            if self.control.is_paused() {
                paused_secs += (now - last_loop).as_secs_f64();
            }
            last_loop = now;
            let elapsed = (now - started).as_secs_f64() - paused_secs;
            let (sent, message) = match message {
                Ok(Sent { at, message }) => (at, Ok(message)),
                Err(error) => (now, Err(error)),
            };
            match message {
                Ok(Message::Block(block)) => {
                    let chain = block.chain;
                    if let Some(warning) = tracks[chain].append(&block, sent) {
                        add(&mut log, elapsed, warning);
                    }
                    let mut block = block;
                    block.clear();
                    // A chain that ended no longer takes blocks back.
                    drop(self.empty[chain].try_send(block));
                }
                Ok(Message::Started { chain, at }) => tracks[chain].view.started_at = Some(at),
                Ok(Message::WarmupEnded { chain, at }) => {
                    tracks[chain].view.warmup_end = Some(at);
                }
                Ok(Message::Mark { chain, mark }) => {
                    tracks[chain].view.mark = Some(Arc::from(mark));
                }
                Ok(Message::State { chain, state }) => tracks[chain].enter(state, sent),
                Ok(Message::Warn { warning }) => add(&mut log, elapsed, warning),
                Ok(Message::Reached) => {
                    if let Some(warning) = self.end_of_stage(&tracks) {
                        add(&mut log, elapsed, warning);
                    }
                }
                Ok(Message::Ended { chain, state, mark }) => {
                    if let ChainState::Failed(why) = &state {
                        let remark = Remark::ChainFailed {
                            index: chain,
                            why: why.clone(),
                        };
                        add(&mut log, elapsed, remark.into());
                    }
                    tracks[chain].enter(state, sent);
                    marks[chain] = mark.map(|mark| *mark);
                    tracks[chain].view.mark = marks[chain].clone().map(Arc::new);
                    ended += 1;
                    // The others may be waiting for this one.
                    if let Some(warning) = self.end_of_stage(&tracks) {
                        add(&mut log, elapsed, warning);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.max_secs.is_some_and(|limit| elapsed >= limit) {
                self.ask_to_stop(StopReason::Time);
            }
            let finished = ended == tracks.len();
            if finished || now - last_publish >= PUBLISH_TIME {
                last_publish = now;
                version += 1;
                let state = self.state(finished, &tracks);
                self.published.publish(RunView {
                    chains: tracks.iter().map(|track| track.view.clone()).collect(),
                    state,
                    frozen: self.control.is_frozen(),
                    elapsed_secs: elapsed,
                    log: log.clone(),
                    version,
                });
                if let Some(waker) = &self.waker {
                    waker();
                }
            }
        }
        marks
    }

    /// Where every chain waits at the end of a stage: lets them go on, or end. Returns what there is to tell of it.
    fn end_of_stage(&self, tracks: &[Track]) -> Option<Warning> {
        let (job, wanted) = self.staged.as_ref()?;
        let over =
            |state: &ChainState| matches!(state, ChainState::Failed(_) | ChainState::Finished);
        let working: Vec<usize> = (0..tracks.len())
            .filter(|&chain| !over(&tracks[chain].view.state))
            .collect();
        let made = |chain: usize| tracks[chain].view.draws.draws.len() as u64;
        let waits = |chain: usize| made(chain) >= wanted[chain].load(Ordering::Relaxed);
        let is_decided = self.control.is_stopped() || self.control.is_past_stages();
        if is_decided || working.is_empty() || !working.iter().all(|&chain| waits(chain)) {
            return None;
        }
        let views = || working.iter().map(|&chain| &tracks[chain].view);
        let lists: Vec<&DrawList> = views().map(|view| &view.draws.draws).collect();
        let weights: Vec<Vec<f64>> = job.weight_column().map_or_else(Vec::new, |column| {
            views().map(|view| view.draws.info.column(column)).collect()
        });
        let summary = summarise(&job.variables(), &lists, &weights, 0.0);
        let draws = working.iter().map(|&chain| made(chain)).max()?;
        let stage = Stage {
            chains: working.len(),
            draws,
            datum_grads: views().map(|view| view.datum_grads).sum(),
            divergences: divergences(job.as_ref(), views()),
        };
        match stages::next(job.as_ref(), &summary, &stage) {
            stages::Next::More(more, warning) => {
                for wanted in wanted {
                    // Somebody may have asked for still more meanwhile.
                    wanted.fetch_max(more, Ordering::Relaxed);
                }
                self.control.next_stage();
                Some(warning)
            }
            ending => {
                if ending == stages::Next::Enough && draws > job.run_section().draws {
                    let mut slot = self
                        .stop_reason
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    slot.get_or_insert(StopReason::Precision);
                }
                self.control.end_of_stages();
                None
            }
        }
    }

    fn ask_to_stop(&self, reason: StopReason) {
        let mut slot = self
            .stop_reason
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        slot.get_or_insert(reason);
        self.control.stop();
    }

    fn state(&self, finished: bool, tracks: &[Track]) -> RunState {
        if finished {
            let asked = *self
                .stop_reason
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            if tracks
                .iter()
                .all(|track| matches!(track.view.state, ChainState::Failed(_)))
            {
                return RunState::Finished(StopReason::Failed);
            }
            // A part without draws of its own, made to look at those that there are, ends the run no other way than it had ended.
            let is_as_before = (tracks.iter().zip(&self.chains))
                .all(|(track, before)| track.view.draws.draws.len() == before.draws.len());
            let before = self.ended.filter(|_| is_as_before);
            return RunState::Finished(asked.or(before).unwrap_or(StopReason::Draws));
        }
        if self.control.is_stopped() {
            RunState::Stopping
        } else if self.control.is_paused() {
            RunState::Paused
        } else {
            RunState::Running
        }
    }
}

impl Track {
    fn enter(&mut self, state: ChainState, now: Instant) {
        let spent = (now - self.entered).as_secs_f64();
        match self.view.state {
            ChainState::Starting | ChainState::Warmup => self.view.warmup_secs += spent,
            ChainState::Drawing => self.view.draw_secs += spent,
            ChainState::Paused | ChainState::Finished | ChainState::Failed(_) => {}
        }
        if self.view.state != state {
            self.rate_at = now;
            self.rate_iterations = 0;
            if state != ChainState::Paused && state != self.phase {
                // Warm-up iterations and draws cost differently: measure the new phase afresh.
                self.view.rate = 0.0;
                self.phase = state.clone();
            }
        }
        self.entered = now;
        self.view.state = state;
    }

    /// Appends a block; returns a warning when the chain has just been found stuck.
    fn append(&mut self, block: &Block, now: Instant) -> Option<Warning> {
        // Close the running phase so that seconds are current in every view.
        let state = self.view.state.clone();
        self.enter(state, now);
        let width = block.draws.len() / block.len.max(1);
        let info_width = block.info.len() / block.len.max(1);
        let (draws, info) = if block.warmup {
            (
                &mut self.view.draws.warmup,
                &mut self.view.draws.warmup_info,
            )
        } else {
            (&mut self.view.draws.draws, &mut self.view.draws.info)
        };
        for k in 0..block.len {
            let row = &block.draws[k * width..(k + 1) * width];
            draws.push(row);
            info.push(&block.info[k * info_width..(k + 1) * info_width]);
            if self.last == row {
                self.unmoved += 1;
            } else {
                self.unmoved = 0;
                self.stuck = false;
                self.last.clear();
                self.last.extend_from_slice(row);
            }
        }
        for (number, labels) in &block.labels {
            self.view.draws.labels.push(*number, Arc::clone(labels));
        }
        if let Some(unmoved) = block.unmoved {
            self.unmoved = unmoved;
            self.stuck &= unmoved >= STUCK_DRAWS;
            self.view.unmoved = Some(unmoved);
        }
        if block.unkept.draws() > 0 {
            Arc::make_mut(&mut self.view.draws.unkept).copy_from(&block.unkept);
        }
        self.view.iterations = block.first_iter + block.len as u64;
        self.view.datum_grads = block.datum_grads;
        if block.warmup {
            self.view.warmup_datum_grads = block.datum_grads;
        }
        self.view.numbers.clone_from(&block.numbers);
        self.rate_iterations += block.len;
        let secs = (now - self.rate_at).as_secs_f64();
        if secs >= RATE_LEAST_SECS {
            let rate = self.rate_iterations as f64 / secs;
            let weight = if self.view.rate == 0.0 {
                1.0
            } else {
                1.0 - (-secs / RATE_SECS).exp()
            };
            self.view.rate += weight * (rate - self.view.rate);
            self.rate_at = now;
            self.rate_iterations = 0;
        }
        if self.unmoved >= STUCK_DRAWS && !self.stuck {
            self.stuck = true;
            let since = self.view.iterations - u64::from(self.unmoved);
            let chain = block.chain + 1;
            return Some(Remark::ChainStuck { chain, since }.into());
        }
        None
    }
}

fn add(log: &mut Vec<LogEntry>, at_secs: f64, warning: Warning) {
    match log.iter_mut().find(|entry| {
        entry.warning.code == warning.code && entry.warning.message == warning.message
    }) {
        Some(entry) => {
            entry.count += 1;
            entry.at_secs = at_secs;
        }
        None => log.push(LogEntry {
            at_secs,
            warning,
            count: 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::run::first_view;

    fn block(len: usize) -> Block {
        Block {
            len,
            draws: (0..len).map(|i| i as f64).collect(),
            ..Block::default()
        }
    }

    #[test]
    fn a_pause_keeps_the_rate_and_the_first_block_after_it_is_none() {
        let start = Instant::now();
        let at = |secs: f64| start + Duration::from_secs_f64(secs);
        let mut track = Track {
            view: ChainView::starting(ChainDraws::new(1, 0), None),
            last: Vec::new(),
            unmoved: 0,
            stuck: false,
            entered: start,
            phase: ChainState::Starting,
            rate_at: start,
            rate_iterations: 0,
        };
        track.enter(ChainState::Drawing, at(0.0));
        track.append(&block(50), at(1e-6));
        assert_eq!(track.view.rate, 0.0, "measured over a microsecond");
        track.append(&block(50), at(0.5));
        assert!(
            (track.view.rate - 200.0).abs() < 1e-6,
            "{}",
            track.view.rate
        );
        track.enter(ChainState::Paused, at(0.6));
        track.enter(ChainState::Drawing, at(9.0));
        track.append(&block(50), at(9.000_001));
        assert!(
            (track.view.rate - 200.0).abs() < 1e-6,
            "{}",
            track.view.rate
        );
        track.append(&block(50), at(9.5));
        assert!((track.view.rate - 200.0).abs() < 1.0, "{}", track.view.rate);
        track.enter(ChainState::Paused, at(9.6));
        track.enter(ChainState::Warmup, at(9.7));
        assert_eq!(track.view.rate, 0.0, "another phase");
    }

    #[test]
    fn seconds_of_a_chain_are_its_own_however_late_its_messages_are_read() {
        let (chain, state) = (0, ChainState::Drawing);
        let (outbox, messages) = crossbeam_channel::bounded(3);
        let (empty, _blocks) = crossbeam_channel::bounded(1);
        let start = Instant::now();
        for (secs, message) in [
            (1.0, Message::State { chain, state }),
            (3.0, Message::Block(block(50))),
            (
                3.5,
                Message::Ended {
                    chain,
                    state: ChainState::Finished,
                    mark: None,
                },
            ),
        ] {
            let at = start + Duration::from_secs_f64(secs);
            outbox.send(Sent { at, message }).unwrap();
        }
        let draws = vec![ChainDraws::new(1, 0)];
        let published = Arc::new(Published::new(first_view(&draws, &[None])));
        Collector {
            messages,
            empty: vec![empty],
            control: Arc::default(),
            published: Arc::clone(&published),
            waker: None,
            chains: draws,
            start: vec![None],
            earlier_secs: (0.0, 0.0),
            ended: None,
            log: Vec::new(),
            max_secs: None,
            stop_reason: Arc::default(),
            staged: None,
        }
        .run();
        let view = &published.load().chains[0];
        // The collector began a moment after `start`.
        assert!((view.warmup_secs - 1.0).abs() < 0.5, "{}", view.warmup_secs);
        assert!((view.draw_secs - 2.5).abs() < 1e-6, "{}", view.draw_secs);
    }
}
