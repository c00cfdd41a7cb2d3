//! The view of a model whose rows do not follow from one linear predictor: what it says of rows, known and new.

use std::fmt::Debug;
use std::sync::Arc;

use crate::design::matrix::Predictor;
use crate::design::response::ResponseInfo;
use ergodic_base::ChainRng;

/// What a model says of rows of a table under draws of its reported quantities.
pub trait ObservationModel: Debug + Send + Sync {
    /// The outcome, whose kind is [`crate::design::response::ResponseKind::Absent`] where the rows have none that is known.
    fn response(&self) -> &ResponseInfo;
    /// Why no outcome can be expected or drawn, in one sentence; `None` where it can.
    fn refusal(&self) -> Option<&str>;
    /// Whether outcomes have probabilities; the others have densities.
    fn is_whole(&self) -> bool;
    /// Columns that are read for the outcome alone: rows without them can be predicted.
    fn outcome_columns(&self) -> &[String];
    /// Columns that the expected outcome depends on.
    fn predictors(&self) -> &[String];
    /// How many of the reported quantities, from the first on, rows may depend on: the parameters.
    fn num_parameters(&self) -> usize;
    /// The draws (Q × S: one vector per reported quantity), and behind them what else the rows need of each.
    fn prepare(&self, draws: Vec<Vec<f64>>) -> Vec<Vec<f64>>;
    /// The rows with these columns, those of groups and of the formula's outcome behind the others, as many as `has_outcome` is long, which says of each whether its outcome is there.
    /// Codes of a group beyond its levels are of groups that the fit did not have.
    ///
    /// # Errors
    /// A value that the model cannot use.
    fn code(
        &self,
        columns: &[(String, Predictor)],
        has_outcome: &[bool],
    ) -> Result<Arc<dyn ObservationRows>, ReadError>;
}

/// Why a model cannot read rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// What is wrong, in one sentence that can go on with "in row 7".
    pub message: String,
    /// The first row that shows it, 0-based among those that were to be read.
    pub row: Option<usize>,
}

impl From<String> for ReadError {
    fn from(message: String) -> Self {
        Self { message, row: None }
    }
}

/// Rows as a model reads them. `draws` are those of [`ObservationModel::prepare`].
pub trait ObservationRows: Debug + Send + Sync {
    /// Outcomes as they stand in their column; of two values 1 for success; NaN where there is none.
    fn observed(&self) -> &[f64];
    /// Numbers of trials, for successes among them.
    fn trials(&self) -> Option<&[f64]>;
    /// W, the numbers that say how the outcome of a row is distributed under a draw.
    fn width(&self) -> usize;
    /// Writes these of row `i` under the draws from `first` on (W × as many as there is place for): first the expected outcome, of
    /// successes their share.
    fn distribution(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]);
    /// Draws an outcome for each of the W × S numbers of [`Self::distribution`].
    fn draw(&self, distribution: &[f64], rng: &mut ChainRng, out: &mut [f64]);
    /// Writes the probability of the ordered level `level`, from 1, for each of these.
    fn chance(&self, distribution: &[f64], level: usize, out: &mut [f64]);
    /// Writes the log density of row `i`, whose outcome is there, under the draws from `first` on.
    fn log_density(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]);
}
