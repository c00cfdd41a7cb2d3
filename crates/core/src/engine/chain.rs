//! The worker loop of one chain.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::checkpoint::{ChainMark, Snapshot};
use super::keep::Keep;
use super::labels;
use super::protocol::{ChainState, Control, Message, Outbox};
use super::remark::Remark;
use super::sampling::Sampling;
use super::start::{SPREAD, StartError};
use crate::models::{Model, Posterior};
use crate::oracle::{Centre, Oracle, StepError};
use crate::samplers::{Kernel, KernelError, Output, Phase, Tick};
use ergodic_base::draws::{Block, LabelList};
use ergodic_base::{Purpose, RunningMoments, Streams, stream};

/// Draws after which a block travels.
const BLOCK_DRAWS: usize = 256;
/// Time after which a block travels with fewer draws, so that first draws show at once.
const BLOCK_TIME: Duration = Duration::from_millis(40);
/// Time between marks of where the chain stands, so that a crash costs no more than that.
const MARK_TIME: Duration = Duration::from_secs(1);

/// When warm-up ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// After this many iterations.
    Fixed(u64),
    /// When the sampler says so, or after this many iterations.
    UntilReady {
        /// The most iterations.
        max: u64,
    },
}

/// What one chain is given.
pub(super) struct ChainTask {
    pub chain: usize,
    pub job: Arc<dyn Sampling>,
    pub control: Arc<Control>,
    pub warmup: Warmup,
    /// Iteration at which a replayed run's warm-up was ended by hand.
    pub warmup_cut: Option<u64>,
    /// Draws to keep, those of a continued run included; raised to extend a run that has not ended.
    pub draws_wanted: Arc<AtomicU64>,
    /// Whether the run may go on beyond these draws ([`super::stages`]).
    pub staged: bool,
    pub start: Option<ChainMark>,
    pub parallel: bool,
    /// Opens when every chain has a thread.
    pub gate: Arc<Barrier>,
    pub messages: Outbox,
    pub empty: Receiver<Block>,
}

/// Runs a chain to its end. Sends its draws, and last where it stands.
pub(super) fn run(task: ChainTask) {
    let (chain, messages) = (task.chain, task.messages.clone());
    task.gate.wait();
    // A panic is a bug of ours; the other chains and all draws must survive it.
    let before = task.start.clone().unwrap_or_else(|| {
        ChainMark::before_start(&Streams::new(task.job.run_section().seed, chain))
    });
    let outcome =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Worker::start(task)?.run()));
    let (state, mark) = match outcome {
        Ok(Ok(mark)) => (ChainState::Finished, Some(Box::new(mark))),
        // Stopped during its first pass over the rows: it stands where it stood.
        Ok(Err(ChainError::Kernel(KernelError::Start(StepError::Interrupted)))) => {
            (ChainState::Finished, Some(Box::new(before)))
        }
        Ok(Err(error)) => (ChainState::Failed(error.to_string()), None),
        Err(_panic) => (
            ChainState::Failed("an internal error ended it; please report this".to_owned()),
            None,
        ),
    };
    messages.tell(Message::Ended { chain, state, mark });
}

/// Why a chain failed.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// A failure of the chain's sampler.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A failure of the point where the chain was to start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl From<StepError> for ChainError {
    fn from(error: StepError) -> Self {
        KernelError::from(error).into()
    }
}

/// A chain before its first step.
pub(super) struct Begun {
    pub kernel: Box<dyn Kernel>,
    pub oracle: Oracle,
    pub streams: Streams,
}

/// Begins chain `chain` of `job`; whoever raises `interrupt` ends a pass over all rows.
pub(super) fn begin(
    job: &dyn Sampling,
    chain: usize,
    parallel: bool,
    interrupt: Arc<AtomicBool>,
) -> Result<Begun, ChainError> {
    let model = Arc::clone(job.model());
    let mut oracle = Oracle::new(model, job.centre().cloned(), parallel, interrupt);
    let mut streams = Streams::new(job.run_section().seed, chain);
    let u0 = job.start_position(chain)?;
    let kernel = (job.sampler().build)(
        job.settings(),
        &job.target(),
        &u0,
        &mut oracle,
        &mut streams,
    )
    .map_err(|error| why_no_start(job.model().as_ref(), &u0, error))?;
    Ok(Begun {
        kernel,
        oracle,
        streams,
    })
}

/// What a model knows about a start at `u` without a density, or else `error`.
fn why_no_start(model: &dyn Model, u: &[f64], error: KernelError) -> ChainError {
    let is_undefined = matches!(error, KernelError::Start(StepError::NoStart { .. }));
    let density = model.density().filter(|_| is_undefined);
    match density.and_then(|density| density.why_undefined(u)) {
        Some(why) => StartError::Undefined(why).into(),
        None => error.into(),
    }
}

struct Worker {
    task: ChainTask,
    kernel: Box<dyn Kernel>,
    oracle: Oracle,
    streams: Streams,
    iterations: u64,
    draws: u64,
    warmup_end: Option<u64>,
    block: Block,
    info: Vec<f64>,
    /// All reported quantities.
    theta: Vec<f64>,
    /// Which of them travel as draws; of the others the chain keeps moments.
    keep: Keep,
    unkept: RunningMoments,
    /// Iterations since which none of them has changed, where draws of some do not travel.
    unmoved: u32,
    before: Vec<f64>,
    /// Information column with the weights of draws.
    weight: Option<usize>,
    flushed: Instant,
    marked: Instant,
    snapshot: Option<Snapshot>,
    /// Units whose labels are kept, and which draws they are kept of; for samplers that label units.
    units: Vec<u32>,
    thinning: LabelList,
}

impl Worker {
    fn start(task: ChainTask) -> Result<Self, ChainError> {
        let job = &task.job;
        // Only full-data steps can take long enough to need interrupting.
        let interrupt = if job.sampler().spec.minibatch {
            Arc::default()
        } else {
            Arc::clone(&task.control.interrupt)
        };
        let Begun {
            mut kernel,
            mut oracle,
            mut streams,
        } = begin(job.as_ref(), task.chain, task.parallel, interrupt)?;
        let mut theta = vec![0.0; job.model().params().len()];
        let keep = job.keep();
        if job.model().density().is_some() {
            job.model().constrain(kernel.position(), &mut theta);
            task.messages.tell(Message::Started {
                chain: task.chain,
                at: keep.kept().iter().map(|&j| theta[j]).collect(),
            });
        }
        let (mut iterations, mut draws, mut warmup_end) = (0, 0, None);
        let mut unkept = RunningMoments::default();
        if let Some(mark) = task.start.as_ref().filter(|mark| mark.has_begun()) {
            streams = mark
                .restore(kernel.as_mut(), &mut oracle)
                .ok_or(KernelError::Checkpoint)?;
            (iterations, draws, warmup_end) = (mark.iterations, mark.draws, mark.warmup_end);
            unkept.clone_from(&mark.unkept);
        }
        let block = task.empty.recv().unwrap_or_default();
        let labels = kernel.labels();
        let units = labels.map_or_else(Vec::new, |labels| labels::units_kept(labels.len()));
        Ok(Self {
            info: vec![f64::NAN; job.num_info()],
            theta,
            keep,
            unkept,
            unmoved: 0,
            before: Vec::new(),
            weight: job.weight_column(),
            // A step that can be interrupted must be forgotten whole.
            snapshot: (!job.sampler().spec.minibatch).then(Snapshot::default),
            kernel,
            oracle,
            streams,
            iterations,
            draws,
            warmup_end,
            block,
            flushed: Instant::now(),
            units,
            thinning: labels::label_list(task.job.run_section().chains),
            marked: Instant::now(),
            task,
        })
    }

    fn run(mut self) -> Result<ChainMark, ChainError> {
        let mut drawing = self.warmup_end.is_some();
        self.say(if drawing {
            ChainState::Drawing
        } else {
            ChainState::Warmup
        });
        loop {
            if !drawing && self.warmup_is_over() {
                self.flush();
                self.warmup_end = Some(self.iterations);
                self.task.messages.tell(Message::WarmupEnded {
                    chain: self.task.chain,
                    at: self.iterations,
                });
                drawing = true;
                self.say(ChainState::Drawing);
            }
            if drawing && self.draws >= self.task.draws_wanted.load(Ordering::Relaxed) {
                if self.goes_on() {
                    continue;
                }
                break;
            }
            if self.task.control.is_paused() {
                self.flush();
                self.say(ChainState::Paused);
                self.task.control.wait_while_paused();
                self.say(if drawing {
                    ChainState::Drawing
                } else {
                    ChainState::Warmup
                });
            }
            if self.task.control.is_stopped() {
                break;
            }
            match self.iterate(drawing) {
                Ok(()) => {}
                Err(StepError::Interrupted) => {
                    if let Some(snapshot) = &self.snapshot {
                        snapshot.restore(self.kernel.as_mut(), &mut self.oracle, &mut self.streams);
                    }
                    break;
                }
                Err(error) => {
                    self.flush();
                    return Err(error.into());
                }
            }
        }
        self.flush();
        Ok(self.mark_now())
    }

    /// Waits at the end of a stage; whether there is another one.
    fn goes_on(&mut self) -> bool {
        if !self.task.staged {
            return false;
        }
        self.flush();
        self.task.messages.tell(Message::Reached);
        let (draws, wanted) = (self.draws, &self.task.draws_wanted);
        let control = &self.task.control;
        control.wait_for_stage(|| draws < wanted.load(Ordering::Relaxed))
    }

    /// One recorded iteration.
    fn iterate(&mut self, drawing: bool) -> Result<(), StepError> {
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.take(self.kernel.as_mut(), &self.oracle, &self.streams);
        }
        let phase = match (drawing, self.task.warmup) {
            (true, _) => Phase::Draw,
            (false, Warmup::Fixed(length)) => Phase::Warmup {
                length: Some(length),
            },
            (false, Warmup::UntilReady { .. }) => Phase::Warmup { length: None },
        };
        let at = Tick {
            iter: self.iterations,
            phase,
        };
        let own = self.task.job.sampler().spec.info.len();
        let (info, gradient) = self.info.split_at_mut(own);
        for _ in 0..self.kernel.steps_per_draw() {
            (self.kernel).step(at, &mut self.oracle, &mut self.streams, info)?;
        }
        if drawing && !gradient.is_empty() {
            match self.kernel.gradient() {
                Some(known) => gradient.copy_from_slice(known),
                None => {
                    self.oracle.exact(self.kernel.position(), gradient)?;
                }
            }
        }
        if self.block.len == 0 {
            self.block.first_iter = self.iterations;
            self.block.warmup = !drawing;
            self.block.chain = self.task.chain;
        }
        self.task
            .job
            .model()
            .constrain(self.kernel.position(), &mut self.theta);
        if self.keep.is_all() {
            self.block.draws.extend_from_slice(&self.theta);
        } else {
            if self.before == self.theta {
                self.unmoved += 1;
            } else {
                self.unmoved = 0;
                self.before.clone_from(&self.theta);
            }
            let (kept, unkept) = (self.keep.kept().iter(), self.keep.unkept().iter());
            self.block.draws.extend(kept.map(|&j| self.theta[j]));
            if drawing {
                let weight = self.weight.map_or(1.0, |column| self.info[column]);
                self.unkept.add(unkept.map(|&j| self.theta[j]), weight);
            }
        }
        self.block.info.extend_from_slice(&self.info);
        if drawing
            && self.thinning.keeps(self.draws)
            && let Some(labels) = self.kernel.labels()
        {
            let labels = labels::labels_of(labels, &self.units);
            self.block.labels.push((self.draws, labels));
        }
        self.block.len += 1;
        self.iterations += 1;
        self.draws += u64::from(drawing);
        if self.block.len == BLOCK_DRAWS || self.flushed.elapsed() >= BLOCK_TIME {
            self.flush();
            self.mark();
        }
        Ok(())
    }

    /// Tells where the chain stands, about once a second; the draws up to here have been sent.
    fn mark(&mut self) {
        if self.marked.elapsed() < MARK_TIME {
            return;
        }
        self.marked = Instant::now();
        let mark = Box::new(self.mark_now());
        let chain = self.task.chain;
        self.task.messages.tell(Message::Mark { chain, mark });
    }

    fn mark_now(&mut self) -> ChainMark {
        ChainMark::take(
            self.kernel.as_mut(),
            &mut self.oracle,
            &self.streams,
            self.iterations,
            self.draws,
            self.warmup_end,
            &self.unkept,
        )
    }

    fn warmup_is_over(&self) -> bool {
        if let Some(cut) = self.task.warmup_cut {
            return self.iterations >= cut;
        }
        if self.task.control.is_frozen() {
            return true;
        }
        match self.task.warmup {
            Warmup::Fixed(length) => self.iterations >= length,
            Warmup::UntilReady { max } => {
                if self.kernel.ready() {
                    return true;
                }
                if self.iterations < max {
                    return false;
                }
                let remark = Remark::CriterionNotMet {
                    chain: self.task.chain + 1,
                    iterations: max,
                };
                let warning = remark.into();
                self.task.messages.tell(Message::Warn { warning });
                true
            }
        }
    }

    fn say(&self, state: ChainState) {
        self.task.messages.tell(Message::State {
            chain: self.task.chain,
            state,
        });
    }

    /// Sends the block; waits for an empty one, which is how a slow collector slows its chains.
    fn flush(&mut self) {
        self.flushed = Instant::now();
        if self.block.len == 0 {
            return;
        }
        self.block.datum_grads = self.oracle.datum_grads;
        self.block.unkept.copy_from(&self.unkept);
        self.block.unmoved = (!self.keep.is_all()).then_some(self.unmoved);
        self.block.numbers.clear();
        for (k, spec) in self.kernel.outputs().iter().enumerate() {
            if let Output::Numbers(numbers) = self.kernel.output(k) {
                self.block.numbers.push((spec.name, numbers.to_vec()));
            }
        }
        let full = std::mem::take(&mut self.block);
        self.task.messages.tell(Message::Block(full));
        self.block = self.task.empty.recv().unwrap_or_default();
    }
}

/// Where chain `chain` starts, in unconstrained coordinates: `spread` posterior standard deviations around the mode. Without one
/// it starts where the model says, which is as wide as a `spread` of [`SPREAD`] and wider or narrower by the ratio.
pub fn dispersed_start(
    model: &dyn Model,
    centre: Option<&Centre>,
    spread: f64,
    (seed, chain): (u64, usize),
) -> Vec<f64> {
    let mut rng = stream(seed, chain, Purpose::Init);
    let mut u = vec![0.0; model.dim()];
    match (centre, model.posterior()) {
        (Some(centre), _) => {
            use rand_distr::{Distribution as _, StandardNormal};
            for u in &mut u {
                *u = StandardNormal.sample(&mut rng);
            }
            centre.factor.solve_lower_transpose(&mut u);
            for (u, mode) in u.iter_mut().zip(&centre.u) {
                *u = mode + spread * *u;
            }
        }
        (None, Posterior::Density(density)) => {
            density.init(&mut rng, &mut u);
            u.iter_mut().for_each(|u| *u *= spread / SPREAD);
        }
        // It starts as its sampler says.
        (None, Posterior::Partition(_) | Posterior::Topics(_)) => {}
    }
    u
}
