//! Samplers run one after the other on the draft's model, in the background, to see bias and cost side by side.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::command::Page;
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::comparison::{self, Row, Yardstick};
use ergodic_analysis::recipe::Scale;
use ergodic_analysis::{Job, PrepareControl, Recipe, Run, bias_check};
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_core::samplers::{self, SamplerEntry};

/// How often the runs are looked at.
const LOOK_TIME: Duration = Duration::from_millis(20);
/// What a comparison that was cancelled ends with; nobody reads it.
const CANCELLED: &str = "cancelled";

/// A comparison of samplers, while it is made and after.
#[derive(Clone)]
pub struct Comparison {
    /// The draft it is of.
    pub recipe: Recipe,
    /// Progress, cancellation and rows.
    pub control: Arc<CompareControl>,
    /// Rows of the data, once known.
    pub num_obs: Option<usize>,
    /// Why it ended early, if it did.
    pub problem: Option<String>,
    /// Whether it goes on.
    pub working: bool,
}

/// What the thread that compares and the window share.
#[derive(Default)]
pub struct CompareControl {
    cancel: AtomicBool,
    prepare: PrepareControl,
    rows: Mutex<Vec<Row>>,
    now: Mutex<Option<Now>>,
    count: std::sync::atomic::AtomicUsize,
    begun: Mutex<Option<Instant>>,
}

/// The run that goes on.
#[derive(Clone)]
struct Now {
    title: &'static str,
    share: f32,
}

impl CompareControl {
    /// Ends it soon; finished rows stay.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.prepare.cancel();
    }

    /// Whether somebody cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The rows so far.
    pub fn rows(&self) -> Vec<Row> {
        self.rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What is being done, and the share of the whole that is done.
    pub fn progress(&self) -> (String, f32) {
        let done = self
            .rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        let count = self.count.load(Ordering::Relaxed).max(1);
        let now = self
            .now
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match now {
            // The reference comes first and is a row as well.
            Some(now) => (
                format!(
                    "Running {}, {} of {count}",
                    now.title,
                    (done + 1).min(count)
                ),
                (done as f32 + now.share) / count as f32,
            ),
            None => (self.prepare.stage().to_owned(), 0.0),
        }
    }

    /// Seconds that the rest takes, if every run takes as long as those that ended did on average; `None` before the first
    /// has ended.
    pub fn secs_left(&self) -> Option<f64> {
        let done = self.rows().len();
        let count = self.count.load(Ordering::Relaxed);
        let begun = (*self.begun.lock().unwrap_or_else(PoisonError::into_inner))?;
        let (_, share) = self.progress();
        let share = f64::from(share);
        (done > 0 && done < count && share > 0.0)
            .then(|| begun.elapsed().as_secs_f64() * (1.0 - share) / share)
    }

    fn note(&self, title: &'static str, view: &RunView, wanted: u64) {
        self.begun
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(Instant::now);
        let made: usize = view
            .chains
            .iter()
            .map(|chain| chain.draws.draws.len())
            .sum();
        let share = made as f32 / (wanted as f32 * view.chains.len() as f32).max(1.0);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(Now {
            title,
            share: share.min(1.0),
        });
    }
}

/// Samplers that suit the draft's model, in the order of the list. Those that refuse it are on the sampler page with their
/// reasons.
pub fn suitable(state: &AppState) -> impl Iterator<Item = &'static SamplerEntry> + use<'_> {
    let unsuitable = state
        .check
        .as_ref()
        .map_or(&[][..], |check| &check.unsuitable);
    let suits =
        move |entry: &&SamplerEntry| unsuitable.iter().all(|it| it.sampler != entry.spec.id);
    samplers::REGISTRY.iter().filter(suits)
}

/// The exact sampler that the others are compared with: the first of those in use that suits the draft's model.
pub fn reference(state: &AppState) -> Option<&'static str> {
    let mut ids = suitable(state).map(|entry| entry.spec.id);
    ids.find(|id| bias_check::CONTROLS.contains(id))
}

/// Starts comparing those samplers among `ids` that suit the draft's model.
pub(super) fn compare(state: &mut AppState, ids: &[&'static str], fx: &mut dyn Effects) {
    cancel(state);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        state.refuse("There is no model to compare samplers on: open data and choose an outcome");
        return;
    };
    if !document.is_runnable() {
        state.refuse("The model is not complete, so samplers cannot be compared");
        return;
    }
    let draft = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let control = Arc::new(CompareControl::default());
    let entries: Vec<&'static SamplerEntry> = suitable(state)
        .filter(|entry| ids.contains(&entry.spec.id))
        .collect();
    control.count.store(entries.len(), Ordering::Relaxed);
    state.comparison = Some(Comparison {
        recipe: draft.clone(),
        control: Arc::clone(&control),
        num_obs: None,
        problem: None,
        working: true,
    });
    state.page = Page::Compare;
    let waker = fx.waker();
    fx.spawn(
        "compare-samplers",
        Box::new(move || {
            let result = work(draft, &loaded, &entries, &control, &waker);
            Outcome::Compared { control, result }
        }),
    );
}

fn work(
    mut recipe: Recipe,
    loaded: &Arc<ergodic_data::load::Loaded>,
    entries: &[&'static SamplerEntry],
    control: &CompareControl,
    waker: &Arc<dyn Fn() + Send + Sync>,
) -> Result<usize, String> {
    recipe.report.scale = Scale::Standardised;
    let job = comparison::job(recipe, |recipe| {
        let loaded = Some(Arc::clone(loaded));
        Job::prepare(recipe, Path::new(""), loaded, &control.prepare)
    })
    .map_err(|error| error.to_string())?;
    let exact = bias_check::control_of(job.model.as_ref());
    let run = |job: Job| -> Result<Run, String> {
        let title = job.sampler.spec.title;
        let wanted = job.draws_wanted(0);
        let run = Run::start(Arc::new(job), None, Arc::new(|| {}))
            .map_err(|error| format!("the chains could not be started ({error})"))?;
        while !run.is_finished() {
            std::thread::sleep(LOOK_TIME);
            control.note(title, &run.view(), wanted);
            if control.is_cancelled() {
                run.stop();
            }
        }
        waker();
        if control.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        Ok(run)
    };
    comparison::compare(
        &job,
        entries,
        if entries.iter().any(|entry| entry.spec.id == exact) {
            Yardstick::Nuts
        } else {
            Yardstick::Quadratic
        },
        run,
        |_error| control.is_cancelled(),
        |error| error,
        |row| {
            control
                .rows
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(row);
            waker();
        },
    )?;
    Ok(job.target.num_obs)
}

pub(super) fn cancel(state: &mut AppState) {
    if let Some(comparison) = &mut state.comparison
        && comparison.working
    {
        comparison.working = false;
        comparison.control.cancel();
    }
}

pub(super) fn compared(
    state: &mut AppState,
    control: &Arc<CompareControl>,
    result: Result<usize, String>,
) {
    let Some(comparison) = &mut state.comparison else {
        return;
    };
    if !Arc::ptr_eq(&comparison.control, control) {
        return;
    }
    comparison.working = false;
    match result {
        Ok(num_obs) => comparison.num_obs = Some(num_obs),
        Err(_cancelled) if control.is_cancelled() => {}
        Err(problem) => comparison.problem = Some(problem),
    }
}
