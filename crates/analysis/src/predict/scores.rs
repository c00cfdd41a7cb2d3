//! How good the predictions of a run are for rows that it was not fitted to: those held out, or those of another table.
//!
//! The predictive distribution of a row is the average over draws of its distributions, each draw with its weight, group effects
//! included; a group that the fit did not have gets effects from the population of groups. Scores are averages over rows, a row
//! of weight w counting as w rows; see [`ergodic_diagnostics::scores`].
//!
//! | outcome | scores |
//! |---|---|
//! | every | log predictive density of the outcome, in natural logarithms |
//! | yes or no | log loss, error rate where the probable outcome is predicted, Brier score, ROC curve and the area under it |
//! | levels without an order | log loss, error rate where the most probable level is predicted (of several the first), perplexity |
//! | ordered levels | log loss, error rate where the most probable level is predicted (of several the lowest), and all of the line below, by places |
//! | counts, levels | perplexity, e to the power of the mean of −log probability: the number of equally probable values that is as hard to guess; of numbers it would depend on their unit |
//! | others | error of the mean of the predictive distribution, absolute and root mean square; shares of outcomes inside intervals |
//!
//! Of successes among trials the error is that of their number. Where the model explains a function of a column, such as log(y),
//! all is said of the column: its density, and as the prediction the mean over draws of the median. A column without density
//! scores, such as one of categories, has no model here that predicts it. Where outcomes are censored only the log density is told, which
//! is that of what is known of them.
//!
//! The course is the log density after a part of the draws of all chains: the predictive distribution as it was known by then.

use rayon::prelude::*;

use super::log_lik::LogLikError;
use super::log_lik::replicated::{Replicates, Row};
use super::{Fitted, PredictError, Work, most_probable, thinned};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{plural, thousands};
use ergodic_core::design::{Columns as _, ComparedRows, DesignError, ResponseInfo, ResponseKind};
use ergodic_data::Table;
use ergodic_diagnostics::loo::Total;
use ergodic_diagnostics::scores::{Roc, Score, brier, roc};

mod compared;
pub mod folds;

pub use compared::{Behind, ScoresCompared, compare};

/// Probabilities of the intervals whose coverage is told.
pub const INTERVALS: [f64; 2] = [0.5, 0.9];
/// Places of the course.
pub const PLACES: usize = 50;
/// Rows between two looks at the control.
const TILE: usize = 16;

/// Why predictions cannot be scored: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ScoresError {
    /// Somebody cancelled.
    #[error("Scoring the predictions was cancelled")]
    Cancelled,
    /// No rows to score.
    #[error(
        "The run keeps no rows to score it by; fit it again with --hold-out 0.2 (`model.hold_out` in the recipe), which keeps a \
         fifth of the rows out of the fit"
    )]
    NothingHeldOut,
    /// No parts of the rows to score.
    #[error("There are no parts to score")]
    NoParts,
    /// No row has all that it needs.
    #[error("None of {rows} can be scored{}", why(.compared))]
    NoRows {
        /// How many there are, in words.
        rows: String,
        /// What the rows lack.
        compared: Box<ComparedRows>,
    },
    /// Model, data or draws.
    #[error(transparent)]
    LogLik(LogLikError),
    /// Weights of draws cancel in a row.
    #[error(
        "The predictive density of the outcome in {0} is not a positive number, so its logarithm is not known; draw more, or leave \
         the row out"
    )]
    NotPositive(String),
}

/// What rows lack, as what can follow a sentence.
fn why(compared: &ComparedRows) -> String {
    let missing = compared.missing.iter();
    let missing =
        missing.map(|(name, rows)| format!("{} without `{name}`", thousands(*rows as u64)));
    let unknown = compared.unknown.iter().map(|(name, rows, level)| {
        format!(
            "{} whose `{name}` is `{level}` or another value that no row of the fit has",
            thousands(*rows as u64)
        )
    });
    let all: Vec<String> = missing.chain(unknown).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(": {}", all.join(", ")),
    }
}

impl From<LogLikError> for ScoresError {
    fn from(error: LogLikError) -> Self {
        match error {
            LogLikError::Predict(PredictError::Cancelled) => Self::Cancelled,
            other => Self::LogLik(other),
        }
    }
}

impl From<PredictError> for ScoresError {
    fn from(error: PredictError) -> Self {
        LogLikError::from(error).into()
    }
}

impl From<DesignError> for ScoresError {
    fn from(error: DesignError) -> Self {
        PredictError::from(error).into()
    }
}

/// One score that a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Mean log predictive density.
    Lpd,
    /// Mean of −log of the probability of what was observed.
    LogLoss,
    /// Share of rows whose outcome was not the most probable one.
    ErrorRate,
    /// e to the power of the mean of −log predictive density.
    Perplexity,
    /// Mean squared difference of probability and outcome.
    Brier,
    /// Area under the ROC curve.
    Auc,
    /// Root of the mean squared error.
    Rmse,
    /// Mean absolute error.
    Mae,
    /// Share of outcomes inside the intervals of one of [`INTERVALS`], by its place there.
    Coverage(usize),
}

impl Measure {
    /// Name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lpd => "lpd",
            Self::LogLoss => "log_loss",
            Self::ErrorRate => "error_rate",
            Self::Perplexity => "perplexity",
            Self::Brier => "brier",
            Self::Auc => "auc",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::Coverage(0) => "coverage_50",
            Self::Coverage(_) => "coverage_90",
        }
    }

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lpd => "log density",
            Self::LogLoss => "log loss",
            Self::ErrorRate => "error rate",
            Self::Perplexity => "perplexity",
            Self::Brier => "Brier score",
            Self::Auc => "AUC",
            Self::Rmse => "RMSE",
            Self::Mae => "MAE",
            Self::Coverage(0) => "inside 50 %",
            Self::Coverage(_) => "inside 90 %",
        }
    }

    /// What the measure is.
    pub fn about(self) -> &'static str {
        match self {
            Self::Lpd => "mean log predictive density of the outcomes; higher is better",
            Self::LogLoss => {
                "mean of −log of the probability of what was observed; lower is better"
            }
            Self::ErrorRate => "share of rows whose outcome was not the most probable one",
            Self::Perplexity => "e to the power of minus the mean log density; lower is better",
            Self::Brier => "mean squared difference of probability and outcome; lower is better",
            Self::Auc => "area under the ROC curve: 0.5 for guesses, 1 for perfect order",
            Self::Rmse => "root of the mean squared error of predictions, in units of the outcome",
            Self::Mae => "mean absolute error of predictions, in units of the outcome",
            Self::Coverage(0) => "share of outcomes inside their 50 % intervals",
            Self::Coverage(_) => "share of outcomes inside their 90 % intervals",
        }
    }
}

/// What is predicted of one row, and what was observed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredRow {
    /// Row of the table, 0-based.
    pub row: u32,
    /// The outcome as it is in the column; of two values 1 for success, of trials the number of successes; NaN where it is censored.
    pub observed: f64,
    /// Mean of the predictive distribution: of two values the probability of success, of trials their expected number; of levels without an order the
    /// probability of `called`.
    pub predicted: f64,
    /// The most probable level of an outcome with levels, as `observed`; of several the lowest; NaN of other outcomes.
    pub called: f64,
    /// Log predictive density of the outcome.
    pub lpd: f64,
    /// Predictive intervals of [`INTERVALS`]; of two values, and of levels without an order, NaN.
    pub intervals: [[f64; 2]; 2],
}

/// The log density of rows after a part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoursePoint {
    /// Draws of the longest chain that had been made.
    pub draws: usize,
    /// Seconds that the slowest chain had taken, warm-up included; draws are taken to cost the same along a chain. `None` where
    /// times are not known.
    pub seconds: Option<f64>,
    /// Mean log predictive density of the outcomes.
    pub lpd: f64,
}

/// Seconds that a chain took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainTime {
    /// Of warm-up.
    pub warmup: f64,
    /// Of all draws of the chain.
    pub draws: f64,
}

/// Scores of predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionScores {
    /// The response.
    pub response: ResponseInfo,
    /// Fingerprint of the table that the rows are of.
    pub fingerprint: String,
    /// Rows there are, scored or not.
    pub rows_total: usize,
    /// The rows that were scored, ascending.
    pub rows: Vec<ScoredRow>,
    /// Weights of the rows, where the model has weights.
    pub weights: Option<Vec<f64>>,
    /// Scores, in the order in which they are shown.
    pub measures: Vec<(Measure, Score)>,
    /// For yes and no, where both were observed.
    pub roc: Option<Roc>,
    /// About [`PLACES`] places, or one per draw where there are fewer.
    pub course: Vec<CoursePoint>,
    /// Draws used, and draws there are.
    pub draws: (usize, usize),
    /// Whether draws have weights.
    pub weighted: bool,
    /// Rows that were not scored, and why.
    compared: ComparedRows,
    /// Groupings with the number of groups that the fit did not have.
    new_groups: Vec<(String, usize)>,
}

impl PredictionScores {
    /// The score `measure`.
    pub fn score(&self, measure: Measure) -> Option<Score> {
        let mut all = self.measures.iter();
        all.find(|(it, _)| *it == measure).map(|(_, score)| *score)
    }

    /// The sum of the log densities, each as often as its row weighs, with the standard error of a sum of independent rows. Over all
    /// rows of a fit, each scored by a fit without it, this is the expected log predictive density of cross-validation.
    pub fn elpd(&self) -> Total {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        Total::of(
            self.rows
                .iter()
                .enumerate()
                .map(|(i, row)| weight(i) * row.lpd),
        )
    }

    /// All rows of `parts`, which share none and are of one table, as if they had been scored together; `None` of no parts. There is no
    /// course, for the parts are those of different fits.
    pub fn joined(parts: Vec<Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut all = parts.next()?;
        all.course.clear();
        for part in parts {
            all.rows_total += part.rows_total;
            all.rows.extend(part.rows);
            all.draws = (all.draws.0 + part.draws.0, all.draws.1 + part.draws.1);
            all.weighted |= part.weighted;
            if let (Some(all), Some(part)) = (&mut all.weights, part.weights) {
                all.extend(part);
            }
            let add = |all: &mut Vec<(String, usize)>, name: String, count: usize| match all
                .iter_mut()
                .find(|(known, _)| *known == name)
            {
                Some((_, total)) => *total += count,
                None => all.push((name, count)),
            };
            for (name, count) in part.compared.missing {
                add(&mut all.compared.missing, name, count);
            }
            for (name, count) in part.new_groups {
                add(&mut all.new_groups, name, count);
            }
            for (name, count, level) in part.compared.unknown {
                let unknown = &mut all.compared.unknown;
                match unknown.iter_mut().find(|(known, ..)| *known == name) {
                    Some((_, total, _)) => *total += count,
                    None => unknown.push((name, count, level)),
                }
            }
        }
        let mut order: Vec<usize> = (0..all.rows.len()).collect();
        order.sort_unstable_by_key(|&i| all.rows[i].row);
        let rows = std::mem::take(&mut all.rows);
        all.rows = order.iter().map(|&i| rows[i]).collect();
        let weights = all.weights.take();
        all.weights = weights.map(|weights| order.iter().map(|&i| weights[i]).collect());
        (all.measures, all.roc) = measures(&all.response, &all.rows, all.weights.as_deref());
        Some(all)
    }

    /// Whether the outcome has two values.
    pub fn is_binary(&self) -> bool {
        matches!(self.response.kind, ResponseKind::Binary { .. })
    }

    /// What the course is told as, and the sign that makes it of log densities: of yes and no, and of levels, it is known as a loss.
    pub fn course_measure(&self) -> (&'static str, f64) {
        match self.score(Measure::LogLoss).is_some() {
            true => (Measure::LogLoss.name(), -1.0),
            false => (Measure::Lpd.name(), 1.0),
        }
    }

    /// Whether the same rows of the same table are scored as by `other`.
    pub fn has_the_rows_of(&self, other: &Self) -> bool {
        let rows = |it: &Self| -> Vec<u32> { it.rows.iter().map(|row| row.row).collect() };
        self.fingerprint == other.fingerprint
            && self.response.column() == other.response.column()
            && rows(self) == rows(other)
    }

    /// By how much the mean log density is higher than that of `other`, which scores the same rows.
    pub fn difference(&self, other: &Self) -> Score {
        let pairs = self.rows.iter().zip(&other.rows);
        let differences: Vec<f64> = pairs.map(|(a, b)| a.lpd - b.lpd).collect();
        Score::mean(&differences, self.weights.as_deref())
    }

    /// By how much the log density of all rows together is higher than that of `other`, which scores the same rows.
    pub fn total_difference(&self, other: &Self) -> Total {
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let pairs = self.rows.iter().zip(&other.rows).enumerate();
        Total::of(pairs.map(|(i, (a, b))| weight(i) * (a.lpd - b.lpd)))
    }

    /// Says when the places of the course were reached, from the `times` of the chains.
    pub fn time(&mut self, times: &[ChainTime]) {
        let Some(longest) = self.course.last().map(|last| last.draws) else {
            return;
        };
        for point in &mut self.course {
            let share = point.draws as f64 / longest as f64;
            let seconds = times.iter().map(|it| it.warmup + share * it.draws);
            let slowest = seconds.fold(0.0, f64::max);
            point.seconds = (slowest > 0.0).then_some(slowest);
        }
    }

    /// What to know about these scores: rows left out, draws used, groups that are new.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = super::taken_back(&self.response).into_iter().collect();
        let left_out = self.rows_total - self.rows.len();
        if left_out > 0 {
            remarks.push(format!(
                "{} of {} not scored{}",
                plural(left_out, "row"),
                thousands(self.rows_total as u64),
                why(&self.compared)
            ));
        }
        let censored = num_censored(&self.rows);
        if censored > 0 {
            remarks.push(format!(
                "{} censored, so nothing is said of errors and intervals; the log density of such a row is the log chance of what \
                 is beyond its value",
                plural(censored, "outcome")
            ));
        }
        remarks.extend(thinned(self.draws));
        if self.weighted {
            remarks.push("Draws are weighted by their column `weight`".to_owned());
        }
        for (name, count) in &self.new_groups {
            remarks.push(format!(
                "{} of `{name}` not in the fit: their effects are drawn from the population of groups",
                plural(*count, "group")
            ));
        }
        if self.is_binary() && self.roc.is_none() {
            remarks
                .push("All rows scored have the same outcome, so there is no ROC curve".to_owned());
        }
        remarks
    }
}

/// What is summed over a stretch of rows.
struct Part {
    rows: Vec<ScoredRow>,
    /// Weighted log densities at the places of the course.
    course: Vec<f64>,
}

impl Fitted {
    /// How many rows were kept out of the fit.
    pub fn num_held_out(&self) -> usize {
        self.held_out.len()
    }

    /// Scores the predictions of the rows held out, or of `new`, from `draws` of reported quantities (one list per chain) with
    /// `weights` (one vector per chain, or empty), of which at most `most` are used, evenly spaced.
    ///
    /// # Errors
    /// See [`ScoresError`].
    pub fn scores(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        new: Option<&Table>,
        most: usize,
        control: &Control,
    ) -> Result<PredictionScores, ScoresError> {
        self.expects_an_outcome().map_err(LogLikError::from)?;
        let (table, among) = match new {
            Some(table) => (table, None),
            None if self.held_out.is_empty() => return Err(ScoresError::NothingHeldOut),
            None => (self.table.as_ref(), Some(self.held_out.as_slice())),
        };
        let rows_total = among.map_or(table.num_rows(), <[u32]>::len);
        let compared = self.coding.compared_rows(table, among)?;
        if compared.rows.is_empty() {
            return Err(ScoresError::NoRows {
                rows: match new {
                    Some(_) => plural(rows_total, "row"),
                    None => plural(rows_total, "row") + " held out",
                },
                compared: Box::new(compared),
            });
        }
        let posterior = |control: &Control| self.posterior(draws, weights, most, control);
        // Weights count whole rows here, not powers of their densities.
        let rows = (compared.rows.clone(), None);
        let log_lik = self.log_lik_at(table, rows, posterior, control)?;
        let new_groups = log_lik.new_groups().into_iter();
        let new_groups = new_groups.map(|new| (new.grouping, new.groups)).collect();
        let replicates = Replicates::new(log_lik);
        let longest = draws.iter().map(|chain| chain.len()).max().unwrap_or(0);
        let (rows, course) = self.scored(table, &replicates, &compared, longest, control)?;
        let weights = compared.weights.clone();
        let (measures, roc) = measures(&self.response, &rows, weights.as_deref());
        let log_lik = replicates.log_lik();
        Ok(PredictionScores {
            response: self.response.clone(),
            fingerprint: table.fingerprint().to_owned(),
            rows_total,
            rows,
            weights,
            measures,
            roc,
            course,
            draws: (
                log_lik.num_draws(),
                draws.iter().map(|chain| chain.len()).sum(),
            ),
            weighted: log_lik.draw_weights().is_some(),
            compared,
            new_groups,
        })
    }

    /// What is predicted of each row, and the course of the log density, whose longest chain has `longest` draws.
    fn scored(
        &self,
        table: &Table,
        replicates: &Replicates,
        compared: &ComparedRows,
        longest: usize,
        control: &Control,
    ) -> Result<(Vec<ScoredRow>, Vec<CoursePoint>), ScoresError> {
        let log_lik = replicates.log_lik();
        let posterior = log_lik.posterior();
        let course = Course::of(log_lik.chains(), longest);
        let num_rows = compared.rows.len();
        let row_weight = |i: usize| compared.weights.as_ref().map_or(1.0, |weights| weights[i]);
        control.enter("scoring rows");
        control.expect(num_rows as u64);
        let part = |t: usize| -> Part {
            let mut row = Row::new(posterior.len());
            let (mut order, mut cdf) = (Vec::new(), Vec::new());
            let mut work = Work::new(posterior.len());
            let mut densities = vec![0.0; course.draws.len()];
            let mut part = Part {
                rows: Vec::new(),
                course: vec![0.0; course.draws.len()],
            };
            let stretch = t * TILE..((t + 1) * TILE).min(num_rows);
            for i in stretch.filter(|_| !control.is_cancelled()) {
                replicates.row(i, &mut row);
                course.densities(&row.log_lik, posterior.weights.as_deref(), &mut densities);
                let sums = part.course.iter_mut().zip(&densities);
                sums.for_each(|(sum, density)| *sum += row_weight(i) * density);
                if let Some(function) = posterior.function {
                    let means = row.mean.iter_mut();
                    means.for_each(|mean| *mean = function.inverse(*mean));
                }
                let (mean, _) = posterior.moments(&row.mean);
                let predicted = match self.response.kind {
                    ResponseKind::Successes => mean * replicates.trials(i),
                    _ => mean,
                };
                let intervals = match self.response.kind {
                    ResponseKind::Binary { .. } | ResponseKind::Unordered { .. } => {
                        [[f64::NAN; 2]; 2]
                    }
                    _ => INTERVALS.map(|probability| {
                        let (order, cdf) = (&mut order, &mut cdf);
                        // The order of values is lost, which another interval does not need.
                        posterior.outcome_interval(
                            &mut row.outcome.clone(),
                            order,
                            cdf,
                            probability,
                        )
                    }),
                };
                let chances = match self.response.levels().len() {
                    0 => Vec::new(),
                    levels => replicates.chances(i, levels, &mut work),
                };
                part.rows.push(ScoredRow {
                    row: compared.rows[i],
                    observed: match replicates.is_censored(i) {
                        true => f64::NAN,
                        false => replicates.observed(i),
                    },
                    predicted,
                    called: most_probable(&chances),
                    lpd: densities.last().copied().unwrap_or(f64::NAN),
                    intervals,
                });
            }
            control.advance(part.rows.len() as u64);
            part
        };
        let tiles = num_rows.div_ceil(TILE);
        let parts: Vec<Part> = (0..tiles).into_par_iter().map(part).collect();
        control.check(ScoresError::Cancelled)?;
        let rows: Vec<ScoredRow> = parts.iter().flat_map(|part| part.rows.clone()).collect();
        if let Some(lost) = rows.iter().find(|row| !row.lpd.is_finite()) {
            return Err(ScoresError::NotPositive(table.place(lost.row as usize)));
        }
        let total: f64 = (0..num_rows).map(row_weight).sum();
        let points = course
            .draws
            .iter()
            .enumerate()
            .map(|(k, draws)| CoursePoint {
                draws: *draws,
                seconds: None,
                lpd: parts.iter().map(|part| part.course[k]).sum::<f64>() / total,
            });
        // Signed weights may cancel where draws are few.
        let points = points.filter(|point| point.lpd.is_finite());
        Ok((rows, points.collect()))
    }
}

/// The places of a course.
struct Course {
    /// Draws of the longest chain at each place.
    draws: Vec<usize>,
    /// First draw and draws of each chain, of those used.
    chains: Vec<(usize, usize)>,
}

impl Course {
    /// The course of chains of which these numbers of draws are used; the longest has `longest`.
    fn of(chains: &[usize], longest: usize) -> Self {
        let most = chains.iter().copied().max().unwrap_or(0);
        let places = most.min(PLACES);
        let mut first = 0;
        let chains = chains.iter().map(|&draws| {
            first += draws;
            (first - draws, draws)
        });
        Self {
            draws: (1..=places)
                .map(|k| (k * longest).div_ceil(places))
                .collect(),
            chains: chains.collect(),
        }
    }

    /// Writes the logarithm of the mean density after the draws of each place, from the log densities of all draws and their
    /// weights.
    fn densities(&self, log_p: &[f64], weights: Option<&[f64]>, out: &mut [f64]) {
        let places = out.len();
        let mut sum = LogSum::default();
        let mut total = 0.0;
        for (k, out) in out.iter_mut().enumerate() {
            for &(first, draws) in &self.chains {
                let at = |k: usize| first + (k * draws).div_ceil(places);
                for s in at(k)..at(k + 1) {
                    let weight = weights.map_or(1.0, |weights| weights[s]);
                    sum.add(weight, log_p[s]);
                    total += weight;
                }
            }
            *out = sum.log() - f64::ln(total);
        }
    }
}

/// A sum of weights times exponentials, which no exponential is too large or too small for.
struct LogSum {
    largest: f64,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self {
            largest: f64::NEG_INFINITY,
            sum: 0.0,
        }
    }
}

impl LogSum {
    fn add(&mut self, weight: f64, log: f64) {
        if log > self.largest {
            self.sum *= (self.largest - log).exp();
            self.largest = log;
        }
        // −∞ is a density of 0, also where nothing larger came before.
        if log > f64::NEG_INFINITY {
            self.sum += weight * (log - self.largest).exp();
        } else if log.is_nan() {
            self.sum = f64::NAN;
        }
    }

    fn log(&self) -> f64 {
        self.largest + self.sum.ln()
    }
}

/// The scores that suit the outcome, and the ROC curve.
fn measures(
    response: &ResponseInfo,
    rows: &[ScoredRow],
    weights: Option<&[f64]>,
) -> (Vec<(Measure, Score)>, Option<Roc>) {
    let mean = |of: &dyn Fn(&ScoredRow) -> f64| {
        let values: Vec<f64> = rows.iter().map(of).collect();
        Score::mean(&values, weights)
    };
    let lpd = mean(&|row| row.lpd);
    let mut measures = vec![(Measure::Lpd, lpd)];
    if let ResponseKind::Binary { .. } = response.kind {
        let observed: Vec<f64> = rows.iter().map(|row| row.observed).collect();
        let predicted: Vec<f64> = rows.iter().map(|row| row.predicted).collect();
        let is_wrong = |row: &ScoredRow| f64::from((row.predicted > 0.5) != (row.observed == 1.0));
        measures.extend([
            (Measure::LogLoss, lpd.negated()),
            (Measure::ErrorRate, mean(&is_wrong)),
            (
                Measure::Brier,
                Score::mean(&brier(&predicted, &observed), weights),
            ),
        ]);
        let roc = roc(&predicted, &observed, weights);
        measures.extend(roc.iter().map(|roc| (Measure::Auc, roc.area)));
        return (measures, roc);
    }
    if !response.levels().is_empty() {
        let is_wrong = |row: &ScoredRow| f64::from(row.called != row.observed);
        measures.extend([
            (Measure::LogLoss, lpd.negated()),
            (Measure::ErrorRate, mean(&is_wrong)),
        ]);
    }
    // Errors of the rows that were seen alone would be those of outcomes that are small for what is predicted of them.
    if num_censored(rows) > 0 {
        return (measures, None);
    }
    if !matches!(response.kind, ResponseKind::Number { .. }) {
        measures.push((Measure::Perplexity, lpd.negated().exponential()));
    }
    if let ResponseKind::Unordered { .. } = response.kind {
        return (measures, None);
    }
    let error = |row: &ScoredRow| row.observed - row.predicted;
    measures.push((Measure::Rmse, mean(&|row| error(row).powi(2)).root()));
    measures.push((Measure::Mae, mean(&|row| error(row).abs())));
    for k in 0..INTERVALS.len() {
        let is_inside = |row: &ScoredRow| {
            let [low, high] = row.intervals[k];
            f64::from((low..=high).contains(&row.observed))
        };
        measures.push((Measure::Coverage(k), mean(&is_inside)));
    }
    (measures, None)
}

/// Rows whose outcome is censored.
fn num_censored(rows: &[ScoredRow]) -> usize {
    rows.iter().filter(|row| row.observed.is_nan()).count()
}

#[cfg(test)]
mod tests;
