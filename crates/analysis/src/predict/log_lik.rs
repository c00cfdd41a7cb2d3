//! Pointwise log likelihood: log p(y_i | draw s) of every row of a fit, from the density of the model's family.
//!
//! Constants are all there (log binomial coefficients, log y!, 2π). Where the model explains a function f of a column y, the
//! density is that of y: p(y) = p(f(y)) |f'(y)|, so that models of y and of log(y) can be compared. A row of weight w
//! counts as w rows. Of an outcome that is censored it is the chance of what is above it, or below. Group effects are those of the row's group: what is left out of such a model is a row, not a group.
//!
//! Rows × draws are never held together: whoever needs them asks for one row and a stretch of draws.

use rayon::prelude::*;

use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::design::censoring::Censoring;
use ergodic_core::design::{Columns as _, NewRows, ResponseKind, UnknownGroups, ordered_levels};
use ergodic_core::formula::Elementwise;
use ergodic_core::models::Model;
use ergodic_data::Table;

use super::{Fitted, Posterior, PredictError, Work};

pub(crate) mod replicated;

/// Why there is no pointwise log likelihood: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LogLikError {
    /// Model, data or draws.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// The table has lost the column.
    #[error("The outcome `{0}` is not in the data, so no density of it is known")]
    NoOutcome(String),
    /// The function that the model explains has no finite slope at an outcome.
    #[error(
        "The outcome `{column}` is {value} in {place}, where {function}({column}) has no finite slope and so no density; leave \
         such rows out"
    )]
    NoSlope {
        /// The outcome.
        column: String,
        /// Value of the outcome.
        value: f64,
        /// Row of the file.
        place: String,
        /// The function.
        function: &'static str,
    },
}

/// What the rows of a fit observed: runs whose rows differ in this cannot be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The column.
    pub column: String,
    /// Rows of the table, 0-based, ascending (n).
    pub rows: Vec<u32>,
    /// Outcomes as they are in the column, whatever function of it the model explains (n); of two values 1 for the later of
    /// `labels`, of levels their places, which do not depend on the model's reference.
    pub values: Vec<f64>,
    /// The two values, in the order of letters.
    pub labels: Option<[String; 2]>,
    /// Numbers of trials (n).
    pub trials: Option<Vec<f64>>,
    /// How far outcomes were seen (n).
    pub censoring: Option<Vec<Censoring>>,
    /// Weights of rows (n).
    pub weights: Option<Vec<f64>>,
    /// Whether outcomes have probabilities; the others have densities.
    pub is_whole: bool,
    /// The function of the column that the model explains.
    pub function: Option<Elementwise>,
}

/// The log likelihood of every row at every draw, computed when it is asked for.
#[derive(Debug)]
pub struct LogLik {
    posterior: Posterior,
    coded: NewRows,
    observed: Observed,
    /// What the model explains (n): the outcome, or the function of it.
    y: Vec<f64>,
    /// log |f'(y)|, where the model explains f(y) (n).
    log_slope: Option<Vec<f64>>,
    draws_total: usize,
    /// Of the run: noise of groups that the fit did not have.
    seed: u64,
}

/// Places of levels, from 1, that are the same whichever of them a model begins with: in the order that they say, or of letters.
fn common_places(levels: &[String]) -> Vec<usize> {
    let order = ordered_levels::order(levels).unwrap_or_else(|| {
        let mut places: Vec<usize> = (0..levels.len()).collect();
        places.sort_by_key(|&place| &levels[place]);
        places
    });
    let mut common = vec![0; levels.len()];
    for (k, place) in order.into_iter().enumerate() {
        common[place] = k + 1;
    }
    common
}

impl Fitted {
    /// The pointwise log likelihood at `draws` of reported quantities (one list per chain) with `weights` (one vector per
    /// chain, or empty), of which at most `most` are used, evenly spaced.
    ///
    /// # Errors
    /// The work was cancelled; the draws are of other variables, or too few; an outcome has no density.
    pub fn log_lik(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        most: usize,
        control: &Control,
    ) -> Result<LogLik, LogLikError> {
        let posterior = |control: &Control| self.posterior(draws, weights, most, control);
        let mut log_lik = self.log_lik_of(posterior, control)?;
        log_lik.draws_total = draws.iter().map(|chain| chain.len()).sum();
        Ok(log_lik)
    }

    /// The pointwise log likelihood of the rows that the run keeps out of its fit, as far as the fit knows their levels.
    ///
    /// # Errors
    /// As [`Self::log_lik`].
    pub fn log_lik_of_held_out(
        &self,
        (draws, weights): (&[&DrawList], &[Vec<f64>]),
        control: &Control,
    ) -> Result<LogLik, LogLikError> {
        let table = self.table.as_ref();
        let rows = self.coding.compared_rows(table, Some(&self.held_out));
        let rows = rows.map_err(PredictError::from)?;
        let posterior = |control: &Control| self.posterior(draws, weights, usize::MAX, control);
        self.log_lik_at(table, (rows.rows, rows.weights), posterior, control)
    }

    /// The log likelihood of one row of the fit, at one list of draws.
    pub(crate) fn log_lik_of_row(
        &self,
        row: u32,
        draws: &DrawList,
        control: &Control,
    ) -> Result<LogLik, LogLikError> {
        let place = self.rows.binary_search(&row).ok();
        let weights = self.row_weights.as_ref().zip(place);
        let weights = weights.map(|(weights, i)| vec![weights[i]]);
        let posterior = |control: &Control| self.posterior(&[draws], &[], usize::MAX, control);
        self.log_lik_at(&self.table, (vec![row], weights), posterior, control)
    }

    /// The model.
    pub(crate) fn model(&self) -> &dyn Model {
        self.model.as_ref()
    }

    /// The pointwise log likelihood at the draws of `posterior`.
    fn log_lik_of(
        &self,
        posterior: impl FnOnce(&Control) -> Result<Posterior, PredictError>,
        control: &Control,
    ) -> Result<LogLik, LogLikError> {
        let rows = (self.rows.clone(), self.row_weights.clone());
        self.log_lik_at(&self.table, rows, posterior, control)
    }

    /// The pointwise log likelihood of other rows, of `table`, with their weights.
    pub(super) fn log_lik_at(
        &self,
        table: &Table,
        (rows, weights): (Vec<u32>, Option<Vec<f64>>),
        posterior: impl FnOnce(&Control) -> Result<Posterior, PredictError>,
        control: &Control,
    ) -> Result<LogLik, LogLikError> {
        let coded = self.coding.code(table, Some(rows), true);
        let mut coded = coded.map_err(PredictError::from)?;
        let column = self.response.column();
        let Some(outcomes) = coded.observed.take() else {
            return Err(LogLikError::NoOutcome(column.to_owned()));
        };
        let function = self.response.kind.function();
        let log_slope = function.map(|function| {
            let slopes = outcomes.iter().map(|y| function.slope_at(*y).abs().ln());
            slopes.collect::<Vec<f64>>()
        });
        let lost = log_slope.iter().flatten().position(|log| !log.is_finite());
        if let (Some(i), Some(function)) = (lost, function) {
            return Err(LogLikError::NoSlope {
                column: column.to_owned(),
                value: outcomes[i],
                place: table.place(coded.row[i] as usize),
                function: function.name(),
            });
        }
        let posterior = posterior(control)?;
        let y = match function {
            Some(function) => outcomes.iter().map(|y| function.at(*y)).collect(),
            None => outcomes.clone(),
        };
        let (values, labels) = match &self.response.kind {
            ResponseKind::Binary { success, failure } => {
                // Which value counts as success changes nothing about how probable each is.
                let turned = success < failure;
                let mut labels = [failure.clone(), success.clone()];
                labels.sort();
                let turn = |y: f64| if turned { 1.0 - y } else { y };
                (outcomes.into_iter().map(turn).collect(), Some(labels))
            }
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => {
                let places = common_places(levels);
                let common = |y: f64| {
                    let place = places.get((y as usize).wrapping_sub(1));
                    place.map_or(y, |&place| place as f64)
                };
                (outcomes.into_iter().map(common).collect(), None)
            }
            _ => (outcomes, None),
        };
        Ok(LogLik {
            observed: Observed {
                column: column.to_owned(),
                rows: coded.row.clone(),
                values,
                labels,
                trials: coded.trials.clone(),
                censoring: coded.censoring.clone(),
                weights,
                is_whole: posterior.is_whole,
                function,
            },
            draws_total: posterior.len(),
            seed: self.seed,
            posterior,
            coded,
            y,
            log_slope,
        })
    }

    /// Row `row` of the data as people name it: "row 12".
    pub fn place(&self, row: u32) -> String {
        self.table.place(row as usize)
    }

    /// Whether the model has effects of groups.
    pub fn has_groups(&self) -> bool {
        self.has_groups
    }
}

impl LogLik {
    /// n.
    pub fn num_rows(&self) -> usize {
        self.y.len()
    }

    /// Draws used.
    pub fn num_draws(&self) -> usize {
        self.posterior.len()
    }

    /// Draws there are.
    pub fn draws_total(&self) -> usize {
        self.draws_total
    }

    /// Draws used of each chain; they stand one chain after the other.
    pub fn chains(&self) -> &[usize] {
        &self.posterior.chains
    }

    /// Weights of the draws over their mean, where they matter.
    pub fn draw_weights(&self) -> Option<&[f64]> {
        self.posterior.weights.as_deref()
    }

    /// The draws.
    pub(super) fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// Groupings with groups that the fit did not have.
    pub(super) fn new_groups(&self) -> Vec<UnknownGroups> {
        self.coded.new_groups()
    }

    /// What the rows observed.
    pub fn observed(&self) -> &Observed {
        &self.observed
    }

    /// Writes all rows at `draws` draws from `first` on: n × draws, row after row of the data.
    pub fn tile(&self, first: usize, draws: usize, out: &mut [f64]) {
        out.par_chunks_mut(draws)
            .enumerate()
            .for_each(|(i, row)| self.row(i, first, row));
    }

    /// Writes log p(y_i | s) for the `i`-th row and the draws from `first` on, as many as `out` has place for.
    pub fn row(&self, i: usize, first: usize, out: &mut [f64]) {
        let place = (i, self.y[i]);
        (self.posterior).log_density(&self.coded, place, first, self.seed, out);
        self.count(i, out);
    }

    /// Takes log densities of the `i`-th row back to its column, as often as its weight says.
    fn count(&self, i: usize, out: &mut [f64]) {
        let weight = self.observed.weights.as_ref().map_or(1.0, |w| w[i]);
        let log_slope = self.log_slope.as_ref().map_or(0.0, |slopes| slopes[i]);
        let values = out.iter_mut();
        values.for_each(|value| *value = weight * (*value + log_slope));
    }

    /// Whether some outcomes are known only to be larger, or smaller.
    pub(super) fn is_censored(&self) -> bool {
        let mut statuses = self.observed.censoring.iter().flatten();
        statuses.any(|it| *it != Censoring::Seen)
    }

    /// Writes what is expected of the `i`-th row under each draw, and gives what was observed, both on the scale of the model; of
    /// successes among trials their numbers.
    pub(super) fn expected(&self, i: usize, work: &mut Work, out: &mut [f64]) -> f64 {
        (self.posterior).expected(&self.coded, i, 0, self.seed, work, out);
        let trials = self.trials(i);
        out.iter_mut().for_each(|expected| *expected *= trials);
        self.y[i]
    }

    /// Trials of the `i`-th row, 1 where there are none.
    fn trials(&self, i: usize) -> f64 {
        self.coded.trials.as_ref().map_or(1.0, |trials| trials[i])
    }
}

#[cfg(test)]
mod tests;
