//! What some pictures show besides the draws of a run: found with its model and data, or another run.

use super::ReportError;
use ergodic_analysis::check::{Check, CheckError, Resolution};
use ergodic_analysis::predict::scores::{PredictionScores, ScoresError};
use ergodic_analysis::predict::{Fitted, PredictError};
use ergodic_base::control::Control;
use ergodic_export::{Results, scores};

/// What a figure is drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Draws alone.
    Draws,
    /// Draws of two runs.
    OtherRun,
    /// Predictive checks.
    Check,
    /// Scores of rows that were held out.
    Scores,
}

/// Reads the model of a run with its data.
pub type ReadModel<'a> = &'a (dyn Fn(&Control) -> Result<Fitted, PredictError> + 'a);

/// What some figures are drawn of besides draws.
#[derive(Debug, Default)]
pub struct FigureInputs<'a> {
    /// Predictive checks.
    pub check: Option<Check>,
    /// Scores of rows that were held out.
    pub scores: Option<PredictionScores>,
    /// Another run.
    pub other: Option<&'a Results>,
}

impl<'a> FigureInputs<'a> {
    /// What a figure called `figure` needs, from `results` and the model that `read` reads, which draws of other origin have not;
    /// checks divide numbers in `bins`, where so many are asked for.
    ///
    /// # Errors
    /// There is no model, the data cannot be read, or somebody cancelled.
    pub fn find(
        (figure, needs): (&'static str, Needs),
        (results, other): (&Results, Option<&'a Results>),
        (read, bins): (Option<ReadModel<'_>>, Option<usize>),
        control: &Control,
    ) -> Result<Self, ReportError> {
        let mut inputs = Self {
            other,
            ..Self::default()
        };
        if matches!(needs, Needs::Draws | Needs::OtherRun) {
            return Ok(inputs);
        }
        let read = read.ok_or_else(|| ReportError::Unsuitable {
            figure,
            why: "it needs the model and its data, which draws of other origin have not".to_owned(),
        })?;
        let fitted = read(control).map_err(ScoresError::from)?;
        let (draws, weights) = results.usable();
        match needs {
            Needs::Draws | Needs::OtherRun => {}
            Needs::Check => {
                let resolution = Resolution {
                    bins,
                    ..Resolution::default()
                };
                inputs.check = Some(fitted.check(&draws, &weights, resolution, control)?);
            }
            Needs::Scores => {
                let mut found = fitted.scores(&draws, &weights, None, usize::MAX, control)?;
                found.time(&scores::times(results));
                inputs.scores = Some(found);
            }
        }
        Ok(inputs)
    }
}

impl From<CheckError> for ReportError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Cancelled => Self::Cancelled,
            other => Self::Check(Box::new(other)),
        }
    }
}

impl From<ScoresError> for ReportError {
    fn from(error: ScoresError) -> Self {
        match error {
            ScoresError::Cancelled => Self::Cancelled,
            other => Self::Scores(Box::new(other)),
        }
    }
}
