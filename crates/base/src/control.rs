//! Progress of long work, and the wish to end it, between the thread that works and those that watch.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Progress and cancellation of long work. The work enters stages and says how far it is in each; whoever watches reads that
/// from another thread, and may cancel.
///
/// ```
/// use ergodic_base::Control;
///
/// let control = Control::default();
/// control.enter("counting");
/// control.expect(4);
/// control.advance(1);
/// assert_eq!((control.stage().as_ref(), control.fraction()), ("counting", Some(0.25)));
/// control.cancel();
/// assert_eq!(control.check("cancelled"), Err("cancelled"));
/// ```
#[derive(Debug, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    stage: Mutex<Cow<'static, str>>,
    /// Stages entered.
    stages: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
    counted: AtomicU64,
}

impl Control {
    /// Asks the work to end soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The flag that is raised when somebody cancels, for parts that look at nothing else.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// The error `cancelled` if somebody cancelled.
    ///
    /// # Errors
    /// Somebody cancelled.
    pub fn check<E>(&self, cancelled: E) -> Result<(), E> {
        if self.is_cancelled() {
            Err(cancelled)
        } else {
            Ok(())
        }
    }

    /// A control for a part whose own steps say nothing about the whole: cancelled with this one, with progress of its own.
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            cancelled: self.flag(),
            ..Self::default()
        }
    }

    /// Begins a stage, described by what follows "is": progress starts anew.
    pub fn enter(&self, stage: impl Into<Cow<'static, str>>) {
        self.say(stage);
        for number in [&self.done, &self.total, &self.counted] {
            number.store(0, Ordering::Relaxed);
        }
        self.stages.fetch_add(1, Ordering::Relaxed);
    }

    /// Says in other words what is being done; progress goes on.
    pub fn say(&self, stage: impl Into<Cow<'static, str>>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
    }

    /// What is being done, in words; empty before the first stage.
    pub fn stage(&self) -> Cow<'static, str> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.clone()
    }

    /// How much there is to do in this stage, in any unit.
    pub fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// So much more of that is done.
    pub fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// So much of that is done in all.
    pub fn reach(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// What is done of this stage, and what there is to do.
    pub fn progress(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed), total)
    }

    /// Share of this stage that is done, 0 to 1; `None` where nobody knows how much there is to do.
    pub fn fraction(&self) -> Option<f64> {
        let (done, total) = self.progress();
        (total > 0).then(|| (done as f64 / total as f64).min(1.0))
    }

    /// So many more of what has no known end: rows of a file, evaluations of a function.
    pub fn count(&self, more: u64) {
        self.counted.fetch_add(more, Ordering::Relaxed);
    }

    /// What was counted in this stage.
    pub fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }
}

/// How fast a stage goes, as seen by somebody who looks at its [`Control`] now and then.
#[derive(Debug, Default)]
pub struct Pace {
    /// Stages entered, the time and the share at the first look at the present one.
    from: Option<(u64, Instant, f64)>,
    secs_left: Option<f64>,
}

/// Seconds and share that a stage has to be watched for before what is left of it can be told.
const LEAST_WATCHED: (f64, f64) = (1.0, 0.02);

impl Pace {
    /// Looks at the work at a time. Stages that do not know how much there is to do have no pace.
    pub fn look(&mut self, control: &Control, now: Instant) {
        let stages = control.stages.load(Ordering::Relaxed);
        let Some(share) = control.fraction() else {
            *self = Self::default();
            return;
        };
        let &mut (_, begun, before) = match &mut self.from {
            Some(from) if from.0 == stages => from,
            from => from.insert((stages, now, share)),
        };
        let (secs, made) = ((now - begun).as_secs_f64(), share - before);
        let is_known = secs >= LEAST_WATCHED.0 && made >= LEAST_WATCHED.1;
        self.secs_left = is_known.then(|| secs * (1.0 - share) / made);
    }

    /// Seconds until the end of the stage at the pace it had so far, once that can be told.
    pub fn secs_left(&self) -> Option<f64> {
        self.secs_left
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_part_is_cancelled_with_the_whole_and_counts_for_itself() {
        let whole = Control::default();
        whole.expect(10);
        let part = whole.part();
        part.advance(3);
        assert_eq!((whole.progress(), part.fraction()), ((0, 10), None));
        whole.cancel();
        assert!(part.is_cancelled() && whole.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn what_is_left_follows_from_what_was_seen_of_this_stage() {
        let (control, mut pace, begin) = (Control::default(), Pace::default(), Instant::now());
        let at = |secs: u64| begin + Duration::from_secs(secs);
        control.enter("reading");
        pace.look(&control, at(0));
        assert_eq!(pace.secs_left(), None, "nobody knows how much there is");
        control.expect(100);
        control.advance(20);
        pace.look(&control, at(10));
        assert_eq!(pace.secs_left(), None, "nothing has been seen yet");
        control.advance(20);
        pace.look(&control, at(14));
        let left = pace.secs_left().unwrap();
        assert!((left - 12.0).abs() < 1e-9, "{left}");
        control.enter("fitting");
        pace.look(&control, at(15));
        assert_eq!((control.counted(), pace.secs_left()), (0, None));
        control.expect(10);
        control.advance(1);
        pace.look(&control, at(16));
        assert_eq!(
            pace.secs_left(),
            None,
            "the pace of another stage says nothing"
        );
        control.advance(3);
        pace.look(&control, at(19));
        let left = pace.secs_left().unwrap();
        assert!((left - 6.0).abs() < 1e-9, "{left}");
    }
}
