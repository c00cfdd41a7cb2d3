//! Progress of a run on standard error: a bar on a terminal, plain lines otherwise.

use std::fmt::Display;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Failure, fit, output};
use ergodic_analysis::Job;
use ergodic_base::numerals::about;
use ergodic_base::shown::visible_line;
use ergodic_base::{Control, Pace};
use ergodic_core::engine::{ChainState, Report, RunView, Sampling as _};

/// Time between plain lines.
const LINE_TIME: Duration = Duration::from_secs(5);
/// How often work is looked at.
const LOOK_TIME: Duration = Duration::from_millis(5);
/// Writing of results that is done within this time needs no words.
const SAVING_TIME: Duration = Duration::from_secs(1);

/// Shows how far a run is.
pub struct Progress {
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Progress {
    /// For a run of `job`.
    pub fn new(job: &Job) -> Self {
        let draws: u64 = (0..job.recipe.run.chains)
            .map(|chain| job.draws_wanted(chain))
            .sum();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(draws);
            // The template is a constant; should it ever be wrong, the default style still shows progress.
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} draws  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self {
            bar,
            last_line: None,
        }
    }

    /// Shows `view` and `report`; plain lines come every few seconds.
    pub fn show(&mut self, view: &RunView, report: &Report) {
        let draws: usize = view
            .chains
            .iter()
            .map(|chain| chain.draws.draws.len())
            .sum();
        match &self.bar {
            Some(bar) => {
                // A run that goes on by itself makes more than it was asked for.
                let wanted = bar.length().unwrap_or_default();
                if draws as u64 > wanted {
                    bar.set_length(2 * wanted);
                }
                bar.set_position(draws as u64);
                bar.set_message(visible_line(&message(view, report)).into_owned());
            }
            None => {
                if self
                    .last_line
                    .is_some_and(|last| last.elapsed() < LINE_TIME)
                {
                    return;
                }
                self.last_line = Some(Instant::now());
                output::note(&format!("{draws} draws; {}", message(view, report)));
            }
        }
    }

    /// Ends the display.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Says what is being written, once that takes long enough to wonder.
pub struct SavingProgress {
    begun: Instant,
}

impl SavingProgress {
    /// Writing begins now.
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
        }
    }

    /// Writing of `file` begins.
    pub fn show(&self, file: &str) {
        if self.begun.elapsed() >= SAVING_TIME {
            output::note(&format!("writing {file}"));
        }
    }
}

/// Does work on a thread of its own, so that Ctrl-C cancels it, and says now and then how far it is: `tell` makes a line from
/// the share that is done of a stage. `refuse` makes a failure of an error, and knows whether somebody interrupted.
pub fn work<T: Send, E: Send>(
    name: &str,
    control: &Control,
    work: impl FnOnce() -> Result<T, E> + Send,
    tell: impl Fn(Option<f64>) -> Option<String>,
    refuse: impl FnOnce(E, bool) -> Failure,
) -> Result<T, Failure> {
    let interrupted = fit::interrupt_flag();
    watched(name, (control, &interrupted), work, tell, |error| {
        refuse(error, interrupted.load(Ordering::Relaxed))
    })
}

/// Does work over the rows of a run as [`work`] does; `done` says what was done with the rows, such as "scored". An error is one of the
/// request, unless somebody interrupted.
pub fn over_rows<T: Send, E: Send + Display>(
    name: &str,
    done: &str,
    control: &Control,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, Failure> {
    self::work(name, control, work, rows(done), |error, interrupted| {
        if interrupted {
            Failure::interrupted(error.to_string())
        } else {
            Failure::request(error)
        }
    })
}

/// Makes a line of the share of rows that work was `done` on.
pub fn rows(done: &str) -> impl Fn(Option<f64>) -> Option<String> {
    move |share| {
        let rows = share.map(|share| format!("{:.0} % of rows {done}", 100.0 * share));
        Some(rows.unwrap_or_else(|| "Reading data and draws".to_owned()))
    }
}

/// Does work on a thread of its own that Ctrl-C ends with the program, as nothing is lost then, and says now and then how far it is.
pub fn told<T: Send, E: Send>(
    name: &str,
    control: &Control,
    work: impl FnOnce() -> Result<T, E> + Send,
    tell: impl Fn(Option<f64>) -> Option<String>,
    refuse: impl FnOnce(E) -> Failure,
) -> Result<T, Failure> {
    let never = AtomicBool::new(false);
    watched(name, (control, &never), work, tell, refuse)
}

fn watched<T: Send, E: Send>(
    name: &str,
    (control, interrupted): (&Control, &AtomicBool),
    work: impl FnOnce() -> Result<T, E> + Send,
    tell: impl Fn(Option<f64>) -> Option<String>,
    refuse: impl FnOnce(E) -> Failure,
) -> Result<T, Failure> {
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let (mut pace, mut told) = (Pace::default(), Instant::now());
        while !worker.is_finished() {
            if interrupted.load(Ordering::Relaxed) {
                control.cancel();
            }
            pace.look(control, Instant::now());
            if told.elapsed() >= LINE_TIME
                && let Some(line) = tell(control.fraction())
            {
                told = Instant::now();
                let left = pace
                    .secs_left()
                    .map(|secs| format!(" ({} left)", about(secs)));
                output::note(&(line + &left.unwrap_or_default()));
            }
            std::thread::sleep(LOOK_TIME);
        }
        worker.join()
    });
    match result {
        Ok(done) => done.map_err(refuse),
        Err(_panic) => Err(Failure::run(format!(
            "An internal error ended the {name}; please report this"
        ))),
    }
}

fn message(view: &RunView, report: &Report) -> String {
    if view.is_finished() {
        return "all draws are made; computing the last diagnostics".to_owned();
    }
    let warming = view.chains.iter().filter(|chain| {
        let early = matches!(chain.state, ChainState::Warmup | ChainState::Starting);
        // A continued chain has its warm-up behind it.
        early && chain.warmup_end.is_none()
    });
    let warming = warming.count();
    let eta = report
        .eta_secs
        .map_or(String::new(), |secs| format!(" ({} left)", about(secs)));
    if warming > 0 {
        let least = view
            .chains
            .iter()
            .map(|chain| chain.iterations)
            .min()
            .unwrap_or(0);
        return format!(
            "{warming} of {} chains warming up, iteration {least}{eta}",
            view.chains.len()
        );
    }
    format!("{}{eta}", report.sentence)
}
