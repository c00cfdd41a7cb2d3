//! The command line: the same engine as the window, the same numbers.
//!
//! Results go to standard output, progress and errors to standard error. Exit codes: 0 done; 2 the request was wrong;
//! 3 the run failed or its results could not be saved; 130 interrupted, with everything drawn so far saved.

use std::path::Path;
use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;

pub mod args;
mod bench;
mod bench_plot;
mod calibrate;
mod check;
mod compare;
mod compare_runs;
mod effects;
mod estimate;
mod fit;
mod list;
mod loo;
mod name;
mod output;
mod plot;
mod predict;
mod prior_predictive;
mod progress;
mod report;
mod results;
mod resume;
mod score;
mod show;
mod source;
mod summarise;
mod trimmed;
mod tune;

use args::{Args, Command};

use ergodic_analysis::predict::scores::ScoresError;
use ergodic_analysis::{JobError, SAMPLE_PREFIX};
use ergodic_base::shown::is_hostile;
#[cfg(debug_assertions)]
use ergodic_core::arithmetic::Class;

/// Exit code where the run failed or its results could not be saved.
const FAILED: u8 = 3;

/// Exit code where somebody interrupted.
const INTERRUPTED: u8 = 130;

/// Why a command ended without success: a sentence and the exit code.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    /// Lines to print below it.
    detail: Option<String>,
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        let detail = match &error {
            JobError::Program(error) if !error.text.is_empty() => Some(error.excerpt()),
            _ => None,
        };
        Self {
            detail,
            ..Self::request(error)
        }
    }
}

impl From<ScoresError> for Failure {
    fn from(error: ScoresError) -> Self {
        Self::request(error)
    }
}

impl Failure {
    /// The request was wrong.
    pub fn request(error: impl std::fmt::Display) -> Self {
        Self {
            code: 2,
            message: error.to_string(),
            detail: None,
        }
    }

    /// The run failed.
    pub fn run(error: impl std::fmt::Display) -> Self {
        Self {
            code: FAILED,
            message: error.to_string(),
            detail: None,
        }
    }

    /// The user interrupted; what was drawn is saved, as `message` says.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self {
            code: INTERRUPTED,
            message: message.into(),
            detail: None,
        }
    }

    /// Whether somebody interrupted.
    fn is_interrupted(&self) -> bool {
        self.code == INTERRUPTED
    }

    /// The failure with lines below the sentence.
    #[must_use]
    pub fn with_detail(self, detail: String) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }
}

/// A write beyond the largest file that the shell allows (`ulimit -f`) is then an error like that of a full disk; otherwise it would
/// end the program and take along what is not on disk yet.
#[cfg(unix)]
fn survive_limits_of_files() {
    let told = Arc::new(AtomicBool::new(false));
    // Without a handler everything else still works.
    drop(signal_hook::flag::register(
        signal_hook::consts::SIGXFSZ,
        told,
    ));
}

/// Runs the program.
pub fn main() -> ExitCode {
    #[cfg(unix)]
    survive_limits_of_files();
    // For tests: what a processor without fused multiply-add does, on one that has it.
    #[cfg(debug_assertions)]
    if std::env::var_os("ERGODIC_ARITHMETIC").is_some_and(|word| word == "separate") {
        Class::choose(Some(Class::Separate));
    }
    let args = match Args::read() {
        Ok(args) => args,
        Err(error) => {
            let plain = error.render().to_string();
            if let Some(words) = in_words(&plain) {
                output::detail(words.trim_end());
                return ExitCode::from(2);
            }
            // Help has colours of its own; what was typed has none.
            if plain.contains(is_hostile) {
                output::detail(plain.trim_end());
                return ExitCode::from(2);
            }
            error.exit();
        }
    };
    let outcome = match args.command {
        None => check_there(args.file.as_deref()).and_then(|()| open_window(args.file.as_deref())),
        Some(Command::Demo(demo)) => fit::demo(&demo),
        Some(Command::Fit(fit)) => fit::fit(&fit),
        Some(Command::Estimate(args)) => estimate::estimate(&args),
        Some(Command::List(list)) => list::list(&list),
        Some(Command::Summarise(summarise)) => summarise::summarise(&summarise),
        Some(Command::Compare(compare)) => compare::compare(&compare),
        Some(Command::CompareRuns(args)) => compare_runs::compare_runs(&args),
        Some(Command::Tune(args)) => tune::tune(&args),
        Some(Command::Calibrate(args)) => calibrate::calibrate(&args),
        Some(Command::Predict(args)) => predict::predict(&args),
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Loo(args)) => loo::loo(&args),
        Some(Command::Score(args)) => score::score(&args),
        Some(Command::Effects(args)) => effects::effects(&args),
        Some(Command::PriorPredictive(args)) => prior_predictive::prior_predictive(&args),
        Some(Command::Name(args)) => name::name(&args),
        Some(Command::Resume(resume)) => resume::resume(&resume),
        Some(Command::Plot(args)) => plot::plot(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Export(export)) => results::export(&export),
        Some(Command::Show(args)) => show::show(&args),
        Some(Command::Bench(args)) => bench::bench(&args),
    };
    match outcome {
        Ok(()) if output::is_incomplete() => ExitCode::from(FAILED),
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error(&failure.message);
            if let Some(detail) = &failure.detail {
                output::detail(detail);
            }
            ExitCode::from(failure.code)
        }
    }
}

/// The message about a flag's value that is no number of its range, where a parser says that in words of a program.
fn in_words(message: &str) -> Option<String> {
    let (first, rest) = message.split_once('\n')?;
    let (value, reason) = first.rsplit_once("': ")?;
    let words = match reason {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "write a whole number".to_owned()
        }
        "invalid float literal" | "cannot parse float from empty string" => {
            "write a number".to_owned()
        }
        "number too large to fit in target type" => "the number is too large".to_owned(),
        range => {
            let (least, most) = range.split_once(" is not in ")?.1.split_once("..")?;
            match most.strip_prefix('=') {
                Some(most) => format!("write a whole number from {least} to {most}"),
                None => format!("write a whole number of at least {least}"),
            }
        }
    };
    Some(format!("{value}': {words}\n{rest}"))
}

/// Refuses to open what is not there, whether or not there is a display.
fn check_there(file: Option<&Path>) -> Result<(), Failure> {
    let there = |path: &Path| path.exists() || path.to_string_lossy().starts_with(SAMPLE_PREFIX);
    match file.filter(|path| !there(path)) {
        None => Ok(()),
        Some(path) => Err(Failure::request(format!(
            "There is no such file, and no such command (`ergodic --help` lists them): {}",
            path.display()
        ))),
    }
}

#[cfg(feature = "gui")]
fn open_window(file: Option<&Path>) -> Result<(), Failure> {
    crate::ui::run(file.map(Path::to_owned), false).map_err(|error| {
        Failure::request(format!(
            "{error}; without a display, `ergodic fit --help` shows the command line"
        ))
    })
}

#[cfg(not(feature = "gui"))]
fn open_window(_file: Option<&Path>) -> Result<(), Failure> {
    Err(Failure::request(
        "This build has no window; `ergodic fit --help` shows the command line",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_numbers_of_their_range_are_refused_in_words() {
        for (args, words) in [
            (["fit", "--draws", "-5"], "write a whole number\n"),
            (["fit", "--max-seconds", "soon"], "write a number\n"),
            (
                ["check", "--draws", "1"],
                "write a whole number of at least 2\n",
            ),
            (
                ["score", "--folds", "1"],
                "write a whole number from 2 to 1000\n",
            ),
        ] {
            let program = Args::program();
            let refused = program.try_get_matches_from(["ergodic"].iter().chain(&args));
            let said = refused.unwrap_err().render().to_string();
            let said = in_words(&said).unwrap();
            assert!(said.contains(words) && said.contains(args[1]), "{said}");
        }
        assert_eq!(
            in_words("error: unexpected argument '--nope' found\n\n"),
            None
        );
    }
}
