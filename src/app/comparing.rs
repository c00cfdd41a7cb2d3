//! Samplers run one after the other on the draft's model, in the background, to see bias and cost side by side.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::page::Page;
use super::state::AppState;
use super::tasks::{Effects, Ended, Handle};
use ergodic_analysis::comparison::{self, Row, Variant, Yardstick};
use ergodic_analysis::{Job, JobError, Recipe, Run, Scale, bias_check};
use ergodic_base::{Control, ParamId};
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_core::samplers::{self, SamplerEntry};

/// How often the runs are looked at.
const LOOK_TIME: Duration = Duration::from_millis(20);
/// Parts that the work of one run is told in.
const PARTS: u64 = 1000;

/// A comparison of samplers, while it is made and after.
pub struct Comparison {
    /// The draft it is of.
    pub recipe: Recipe,
    /// The work, while it goes on.
    pub working: Option<Handle>,
    /// What was compared, once known.
    pub facts: Option<Compared>,
    /// Why the comparison ended early, if it did.
    pub problem: Option<String>,
    /// Whether somebody ended it.
    pub is_cancelled: bool,
    rows: Rows,
}

/// What a comparison is of.
pub struct Compared {
    /// Rows of the data.
    pub num_obs: usize,
    /// What is reported.
    pub names: Vec<ParamId>,
    /// The scale of densities ([`comparison::scale`]).
    pub scale: Option<&'static str>,
}

/// Rows of samplers that have ended, as the thread that compares and the window share them.
type Rows = Arc<Mutex<Vec<Row>>>;

impl Comparison {
    /// The rows so far.
    pub fn rows(&self) -> Vec<Row> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.clone()
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

/// Starts comparing `variants` on the draft's model.
pub(super) fn compare(state: &mut AppState, variants: Vec<Variant>, fx: &mut dyn Effects) {
    if state.data.is_none() || state.document.is_none() {
        state.refuse("There is no model to compare samplers on: open data and choose an outcome");
        return;
    }
    let Some((draft, loaded)) = state.complete_draft("samplers cannot be compared") else {
        return;
    };
    let (recipe, rows) = (draft.clone(), Rows::default());
    let (shared, waker) = (Arc::clone(&rows), fx.waker());
    let working = state.begin(
        fx,
        ("Comparing samplers", ""),
        move |control| work(draft, &loaded, &variants, (control, &shared), &waker),
        compared,
    );
    state.comparison = Some(Comparison {
        recipe,
        working: Some(working),
        facts: None,
        problem: None,
        is_cancelled: false,
        rows,
    });
    state.page = Page::Compare;
}

/// Runs the samplers.
fn work(
    mut recipe: Recipe,
    loaded: &Arc<ergodic_data::Loaded>,
    variants: &[Variant],
    (control, rows): (&Control, &Rows),
    waker: &Arc<dyn Fn() + Send + Sync>,
) -> Result<Compared, Box<dyn Error>> {
    recipe.report.scale = Scale::Standardised;
    let job = comparison::job(recipe, |recipe| {
        let loaded = Some(Arc::clone(loaded));
        Job::prepare(recipe, Path::new(""), loaded, control)
    })?;
    let exact = bias_check::control_of(job.model.as_ref());
    control.enter("starting chains");
    control.expect(PARTS * variants.len() as u64);
    let run = |job: Job| -> Result<Run, Box<dyn Error>> {
        let wanted = job.draws_wanted(0);
        // The reference comes first and is a row as well.
        let done = rows.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
        let (title, count) = (job.sampler.spec.title, variants.len() as u64);
        control.say(format!(
            "running {title}, {} of {count}",
            (done + 1).min(count)
        ));
        let run = Run::start(Arc::new(job), None, None)
            .map_err(|error| format!("the chains could not be started ({error})"))?;
        while !run.is_finished() {
            std::thread::sleep(LOOK_TIME);
            control.reach(PARTS * done + part(&run.view(), wanted));
            if control.is_cancelled() {
                run.stop();
            }
        }
        waker();
        if control.is_cancelled() {
            return Err(JobError::Cancelled.into());
        }
        Ok(run)
    };
    comparison::compare(
        &job,
        variants,
        if (variants.iter()).any(|it| it.is_plain() && it.entry.spec.id == exact) {
            Yardstick::Nuts
        } else {
            Yardstick::Quadratic
        },
        run,
        |_error| control.is_cancelled(),
        |error| error.to_string(),
        |row| {
            rows.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(row);
            waker();
        },
    )?;
    Ok(Compared {
        num_obs: job.model.num_obs(),
        names: job.variables(),
        scale: comparison::scale(&job),
    })
}

/// Parts of [`PARTS`] that a run has made of the draws that are wanted.
fn part(view: &RunView, wanted: u64) -> u64 {
    let chains = view.chains.iter();
    let made: u64 = chains.map(|chain| chain.draws.draws.len() as u64).sum();
    let wanted = (wanted * view.chains.len() as u64).max(1);
    (PARTS * made / wanted).min(PARTS)
}

/// Ends it soon; finished rows stay.
pub(super) fn cancel(state: &mut AppState) {
    if let Some(comparison) = &mut state.comparison
        && comparison.working.take().is_some()
    {
        comparison.is_cancelled = true;
    }
}

fn compared(state: &mut AppState, ended: Ended<Compared>, _fx: &mut dyn Effects) {
    let Some(comparison) = &mut state.comparison else {
        return;
    };
    comparison.working = None;
    match ended {
        Ended::Done(facts) => comparison.facts = Some(facts),
        Ended::Cancelled => comparison.is_cancelled = true,
        Ended::Failed(problem) => comparison.problem = Some(problem),
    }
}
