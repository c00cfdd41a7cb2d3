//! Work in the background. It is begun in one place, so that everything that goes on is known, shown and can be cancelled; what it
//! ends with is applied to the state by the thread of the window.

use super::entry::RunEntry;
use super::product::Product;
use std::fmt::Display;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::state::AppState;
use ergodic_base::{Control, Pace};

/// Outcomes that may wait; each is small or behind a pointer.
const MAX_WAITING: usize = 64;

/// What work does to the state when it has ended.
pub type Outcome = Box<dyn FnOnce(&mut AppState, &mut dyn Effects) + Send>;

/// Work for another thread.
pub type Work = Box<dyn FnOnce() -> Outcome + Send>;

/// How a task ended.
#[derive(Debug)]
pub enum Ended<T> {
    /// With a result.
    Done(T),
    /// Without one, because somebody cancelled it.
    Cancelled,
    /// Without one, with the sentence why.
    Failed(String),
}

/// Somebody's interest in work that goes on: how far it is, and a way to end it. When this is dropped or replaced, the work is
/// cancelled and what it ends with is dropped.
#[derive(Debug, Default)]
pub struct Handle {
    control: Arc<Control>,
    unwanted: Arc<AtomicBool>,
    kept: bool,
}

impl Handle {
    /// Lets the work go on without anybody who holds it.
    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Deref for Handle {
    type Target = Control;

    fn deref(&self) -> &Control {
        &self.control
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.kept {
            self.unwanted.store(true, Ordering::Relaxed);
            self.control.cancel();
        }
    }
}

/// Something that is made in the background when it is asked for: nobody asked, it is being made, it is there, or it cannot be
/// made. What is there stays while it is made anew.
#[derive(Debug)]
pub struct Task<T> {
    going: Option<Handle>,
    done: Option<T>,
    refusal: Option<String>,
}

impl<T> Default for Task<T> {
    fn default() -> Self {
        Self {
            going: None,
            done: None,
            refusal: None,
        }
    }
}

impl<T> Task<T> {
    /// Marks the task as going on; whatever went on before is cancelled.
    pub fn begin(&mut self, going: Handle) {
        self.going = Some(going);
        self.refusal = None;
    }

    /// Takes what the work ended with; a failure is kept as the refusal and given back as well.
    pub fn end(&mut self, ended: Ended<T>) -> Option<String> {
        self.going = None;
        match ended {
            Ended::Done(done) => self.done = Some(done),
            Ended::Cancelled => {}
            Ended::Failed(why) => self.refusal = Some(why),
        }
        self.refusal.clone()
    }

    /// Keeps why the task cannot be done.
    pub fn refuse(&mut self, why: impl Into<String>) {
        self.refusal = Some(why.into());
    }

    /// Ends the work; what is there stays.
    pub fn cancel(&mut self) {
        self.going = None;
    }

    /// Ends the work and drops why it could not be done; what is there stays.
    pub fn supersede(&mut self) {
        self.going = None;
        self.refusal = None;
    }

    /// Ends the work and drops what is there.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The work, while it goes on.
    pub fn working(&self) -> Option<&Handle> {
        self.going.as_ref()
    }

    /// What was made last.
    pub fn done(&self) -> Option<&T> {
        self.done.as_ref()
    }

    /// Why the task cannot be done, if that was tried last.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Whether nobody asked for the task yet.
    pub fn is_idle(&self) -> bool {
        self.going.is_none() && self.done.is_none() && self.refusal.is_none()
    }
}

/// A task that goes on, as lists show it.
#[derive(Debug)]
pub struct Running {
    /// Identifies the task in this window.
    pub id: u64,
    /// What the task does, as in "Predicting the rows of Run 2".
    pub title: String,
    /// Whether the task may be cancelled: what is on its way to the disk must arrive there.
    pub can_be_cancelled: bool,
    begun: Instant,
    control: Arc<Control>,
    unwanted: Arc<AtomicBool>,
    pace: Pace,
}

impl Running {
    /// How far the task is.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Seconds until the end of what it does now, once that can be told.
    pub fn secs_left(&self) -> Option<f64> {
        self.pace.secs_left()
    }

    /// Time since the task was begun.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// All tasks that go on.
#[derive(Debug, Default)]
pub struct Tasks {
    running: Vec<Running>,
    last_id: u64,
}

impl Tasks {
    /// Tasks that go on, the oldest first, with those that were cancelled and have not ended yet.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// Whether anything goes on that somebody waits for.
    pub fn are_busy(&self) -> bool {
        let wanted = |task: &Running| !task.unwanted.load(Ordering::Relaxed);
        self.running.iter().any(wanted)
    }

    /// Seconds until the end of what the work behind `handle` does now, once that can be told.
    pub fn secs_left(&self, handle: &Handle) -> Option<f64> {
        let mut running = self.running.iter();
        let task = running.find(|task| Arc::ptr_eq(&task.control, &handle.control))?;
        task.secs_left()
    }

    /// Cancels a task.
    pub(super) fn cancel(&self, id: u64) {
        let task = self.running.iter().find(|task| task.id == id);
        if let Some(task) = task.filter(|task| task.can_be_cancelled) {
            task.control.cancel();
        }
    }

    /// Looks how fast tasks are.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        for task in &mut self.running {
            task.pace.look(&task.control, now);
        }
    }
}

impl AppState {
    /// Begins `work` in the background: `what` it does is the name of its thread and, followed by `whom`, its title. `then` gets
    /// what it ended with, unless the handle was dropped by then. A panic is a failure like any other.
    pub(super) fn begin<T: Send + 'static, E: Display>(
        &mut self,
        fx: &mut dyn Effects,
        (what, whom): (&'static str, &str),
        work: impl FnOnce(&Control) -> Result<T, E> + Send + 'static,
        then: impl FnOnce(&mut Self, Ended<T>, &mut dyn Effects) + Send + 'static,
    ) -> Handle {
        let handle = Handle::default();
        self.tasks.last_id += 1;
        let id = self.tasks.last_id;
        self.tasks.running.push(Running {
            id,
            title: format!("{what} {whom}").trim_end().to_owned(),
            can_be_cancelled: true,
            begun: Instant::now(),
            control: Arc::clone(&handle.control),
            unwanted: Arc::clone(&handle.unwanted),
            pace: Pace::default(),
        });
        let (control, unwanted) = (Arc::clone(&handle.control), Arc::clone(&handle.unwanted));
        let work = move || -> Outcome {
            let ended = match catch_unwind(AssertUnwindSafe(|| work(&control))) {
                Ok(Ok(done)) => Ended::Done(done),
                Ok(Err(_)) if control.is_cancelled() => Ended::Cancelled,
                Ok(Err(error)) => Ended::Failed(error.to_string()),
                Err(panic) => Ended::Failed(format!(
                    "An internal error ended this work ({what}: {}); please report it",
                    words_of(panic.as_ref())
                )),
            };
            Box::new(move |state: &mut Self, fx: &mut dyn Effects| {
                state.tasks.running.retain(|task| task.id != id);
                if !unwanted.load(Ordering::Relaxed) {
                    then(state, ended, fx);
                }
            })
        };
        fx.spawn(what, Box::new(work));
        handle
    }

    /// As [`Self::begin`], for what the run called by its id keeps; whatever made it before is cancelled.
    pub(super) fn begin_of<T: Send + 'static, E: Display>(
        &mut self,
        fx: &mut dyn Effects,
        title: (&'static str, &str),
        work: impl FnOnce(&Control) -> Result<T, E> + Send + 'static,
        (id, kept): (u64, fn(&mut RunEntry) -> &mut Task<T>),
    ) {
        let going = self.begin(fx, title, work, move |state, ended, _fx| {
            if let Some(entry) = state.run_mut(id) {
                kept(entry).end(ended);
            }
        });
        if let Some(entry) = self.run_mut(id) {
            kept(entry).begin(going);
        }
    }

    /// As [`Self::begin`], for work that goes on to its end whatever else happens, such as saving.
    pub(super) fn begin_surely<T: Send + 'static, E: Display>(
        &mut self,
        fx: &mut dyn Effects,
        title: (&'static str, &str),
        work: impl FnOnce(&Control) -> Result<T, E> + Send + 'static,
        then: impl FnOnce(&mut Self, Ended<T>, &mut dyn Effects) + Send + 'static,
    ) {
        self.begin(fx, title, work, then).keep();
        if let Some(task) = self.tasks.running.last_mut() {
            task.can_be_cancelled = false;
        }
    }

    /// Says the sentence that work ended with, or why it failed.
    pub(super) fn say_ended(&mut self, ended: Ended<String>) {
        match ended {
            Ended::Done(text) => self.say(text, false),
            Ended::Failed(text) => self.say(text, true),
            Ended::Cancelled => {}
        }
    }
}

/// What a panic said.
fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason was given")
}

/// What a file dialog is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    /// A file to open.
    Open,
    /// Where to write something, with a proposed file name.
    Save(Product, String),
}

/// What `update` may do to the outside world.
pub trait Effects {
    /// Runs `work` on a thread called `name`; its outcome comes back later.
    fn spawn(&mut self, name: &str, work: Work);
    /// Opens a file dialog, without waiting for it.
    fn pick(&mut self, purpose: Pick);
    /// What runs call when there is something new to show.
    fn waker(&self) -> Arc<dyn Fn() + Send + Sync>;
}

/// Spawns threads and collects their outcomes.
pub struct Threads {
    sender: Sender<Outcome>,
    receiver: Receiver<Outcome>,
    waker: Arc<dyn Fn() + Send + Sync>,
}

impl Threads {
    /// Calls `waker` whenever an outcome is there.
    pub fn new(waker: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = bounded(MAX_WAITING);
        Self {
            sender,
            receiver,
            waker,
        }
    }

    /// Runs `work` on a thread called `name`. If the system gives no thread, the work is done at once: late is better
    /// than never.
    pub fn spawn(&self, name: &str, work: Work) {
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let slot = Arc::new(Mutex::new(Some(work)));
        let mine = Arc::clone(&slot);
        let taken = |slot: &Mutex<Option<Work>>| {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.take()
        };
        let body = move || {
            if let Some(work) = taken(&mine) {
                // Nobody listens only when the window has closed.
                drop(sender.send(work()));
                waker();
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned());
        if thread.spawn(body).is_err()
            && let Some(work) = taken(&slot)
        {
            drop(self.sender.try_send(work()));
        }
    }

    /// What calls back when there is something new.
    pub fn waker(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::clone(&self.waker)
    }

    /// The next outcome, if one is there.
    pub fn poll(&self) -> Option<Outcome> {
        self.receiver.try_recv().ok()
    }
}

#[cfg(test)]
mod tests;
