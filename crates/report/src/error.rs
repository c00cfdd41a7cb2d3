//! Why there is no picture or no report.

use std::path::PathBuf;

use ergodic_analysis::JobError;
use ergodic_analysis::check::CheckError;
use ergodic_analysis::effects::EffectsError;
use ergodic_analysis::loo::LooError;
use ergodic_analysis::predict::scores::ScoresError;
use ergodic_diagnostics::Missing;
use ergodic_export::{ExportError, TrajectoriesError};

/// Why a picture or a report could not be made: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No figure of this name.
    #[error("There is no figure `{id}`; there are {known}")]
    UnknownFigure {
        /// Id that was asked for.
        id: String,
        /// The figures that there are.
        known: String,
    },
    /// No format of reports of this name.
    #[error("There is no format `{id}` of reports; there are {known}")]
    UnknownFormat {
        /// Id that was asked for.
        id: String,
        /// The formats that there are.
        known: String,
    },
    /// A parameter that the run does not report.
    #[error("The run has no parameter `{name}`{}; `ergodic summarise` lists them", like(.nearest.as_deref()))]
    UnknownParameter {
        /// Name that was asked for.
        name: String,
        /// The parameter most like it.
        nearest: Option<String>,
    },
    /// A column that the sampler does not report.
    #[error("The run has no sampler column `{name}`{}; {}", like(.nearest.as_deref()), there(.known))]
    UnknownColumn {
        /// Name that was asked for.
        name: String,
        /// The column most like it.
        nearest: Option<String>,
        /// The columns that there are.
        known: String,
    },
    /// Fewer or more parameters than a figure takes.
    #[error(
        "Figure `{figure}` takes {takes}, not {named}; name them as in --parameters 'b[age],sigma'"
    )]
    Number {
        /// The figure.
        figure: &'static str,
        /// How many parameters the figure takes, in words.
        takes: String,
        /// How many there were.
        named: usize,
    },
    /// A run without draws that can be shown.
    #[error("The run has no draws to show: all its chains failed, or none has made one")]
    NoDraws,
    /// Draws of which a figure cannot be made.
    #[error("Figure `{figure}` of `{name}` cannot be drawn: {}", why(*.missing))]
    Missing {
        /// The figure.
        figure: &'static str,
        /// The parameter.
        name: String,
        /// What is wrong with the draws of the parameter.
        missing: Missing,
    },
    /// A figure of something that the run has not got.
    #[error("Figure `{figure}` cannot be drawn: {why}")]
    Unsuitable {
        /// The figure.
        figure: &'static str,
        /// What is not there, in one clause.
        why: String,
    },
    /// Predictive checks that could not be made.
    #[error(transparent)]
    Check(Box<CheckError>),
    /// Scores that could not be found.
    #[error(transparent)]
    Scores(Box<ScoresError>),
    /// Trajectories that could not be followed.
    #[error(transparent)]
    Trajectories(Box<TrajectoriesError>),
    /// Effects that could not be found.
    #[error(transparent)]
    Effects(Box<EffectsError>),
    /// Rows that could not be left out.
    #[error(transparent)]
    Loo(Box<LooError>),
    /// Priors that expect nothing.
    #[error(transparent)]
    Prior(Box<JobError>),
    /// A file name whose ending is of no format of pictures.
    #[error(
        "Pictures are written as SVG, as PNG or, as a table of what is drawn, as CSV: end the name in .svg, .png or .csv (other programs \
         turn SVG into PDF, such as `rsvg-convert -f pdf`): {}",
        .0.display()
    )]
    Ending(PathBuf),
    /// Draws that no run of this program made.
    #[error("Draws of other origin have no report: their model and sampler are not known")]
    OtherOrigin,
    /// A file that could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Somebody cancelled.
    #[error("cancelled")]
    Cancelled,
}

fn like(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (is it `{name}`?)"))
}

fn there(known: &str) -> String {
    match known {
        "" => "its sampler reports nothing with its draws".to_owned(),
        known => format!("it has {known}"),
    }
}

fn why(missing: Missing) -> &'static str {
    match missing {
        Missing::TooFew => "it has too few draws",
        Missing::Constant => "all its draws are the same",
        Missing::NotFinite => "some of its draws are not finite",
        Missing::Weights => "the weights of the draws cancel",
    }
}
