//! Progress of a run on standard error: a bar on a terminal, plain lines otherwise.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use crate::engine::{ChainState, Job, Report, RunView};

/// Time between plain lines.
const LINE_TIME: Duration = Duration::from_secs(5);

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
                bar.set_position(draws as u64);
                bar.set_message(message(view, report));
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

fn message(view: &RunView, report: &Report) -> String {
    let warming = view.chains.iter().filter(|chain| {
        let early = matches!(chain.state, ChainState::Warmup | ChainState::Starting);
        // A continued chain has its warm-up behind it.
        early && chain.warmup_end.is_none()
    });
    let warming = warming.count();
    if warming > 0 {
        let least = view
            .chains
            .iter()
            .map(|chain| chain.iterations)
            .min()
            .unwrap_or(0);
        return format!(
            "{warming} of {} chains warming up, iteration {least}",
            view.chains.len()
        );
    }
    let eta = report
        .eta_secs
        .map_or(String::new(), |secs| format!(" ({} left)", duration(secs)));
    format!("{}{eta}", report.sentence)
}

/// Seconds in words: "about 50 s", "3 min", "2 h".
pub fn duration(secs: f64) -> String {
    if secs < 1.0 {
        "under 1 s".to_owned()
    } else if secs <= 90.0 {
        format!("about {secs:.0} s")
    } else if secs < 5400.0 {
        format!("{:.0} min", secs / 60.0)
    } else {
        format!("{:.1} h", secs / 3600.0)
    }
}
