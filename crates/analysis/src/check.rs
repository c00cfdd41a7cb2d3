//! Predictive checks of a run: whether data that the fitted model makes look like the data that it was fitted to.
//!
//! For draw s of the posterior every row gets a replicated outcome, so a draw gives a replicated data set (Rubin 1984; Gelman, Meng
//! and Stern 1996). What is compared depends on the outcome:
//!
//! | outcome | comparison |
//! |---|---|
//! | every | test statistics with their posterior predictive p-value ([`statistic`]) |
//! | numbers | distribution function and histogram ([`overlay`]) |
//! | censored numbers | share above each value by Kaplan and Meier, in reverse, or by Turnbull ([`survival`]), alone |
//! | counts, levels | observed and expected frequency of every value ([`rootogram`]) |
//! | yes or no, successes | calibration by isotonic regression ([`calibration`]), shares along predictors and in groups ([`residuals`]) |
//! | all but levels without an order | probability integral transforms by leave-one-out weights ([`pit`]) |
//! | every | mean residuals along predictors and in groups ([`residuals`]); of levels without an order those of whether the most probable one came true |
//!
//! Where the model explains a function of a column, all is said of the column. Draws with weights of their own are drawn again in
//! proportion to these, evenly spaced in their cumulative sum, so that all replicated data sets count the same. Rows are taken one
//! at a time in stretches that depend on their number alone, and what is counted of these is added in their order, so threads change
//! nothing.

use rayon::prelude::*;

use super::predict::log_lik::LogLikError;
use super::predict::log_lik::replicated::Row;
use super::predict::r2::R2;
use super::predict::{Fitted, PredictError, thinned};
use calibration::Calibration;
use cells::{Cells, Counts};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::design::censoring::Censoring;
use ergodic_core::design::{ResponseInfo, ResponseKind};
use ergodic_diagnostics::loo::{Chains, Scorer};
use ergodic_diagnostics::{quantiles, weights};
use overlay::Overlay;
use pit::{Pit, RowPit};
use residuals::{Looked, Residuals, Sums};
use rootogram::Rootogram;
use statistic::{Tally, TestStatistic};
use survival::Survival;

pub mod calibration;
mod cells;
pub mod drawing;
pub mod overlay;
pub mod pit;
pub mod residuals;
pub mod rootogram;
pub mod statistic;
pub mod survival;
#[cfg(test)]
mod tests;
mod turnbull;

/// Default of draws used: a p-value of 0.05 then has a Monte Carlo error of 0.007.
pub const DRAWS: usize = 1000;
/// Probability in all intervals and bands.
pub const INTERVAL: f64 = 0.9;
/// p-values below which a finding is made. Each side of a statistic has half of it.
pub const SURPRISING: f64 = 0.05;
/// Most stretches that rows are taken in, and least rows of one: what is counted per stretch and draw stays small.
const TILES: usize = 64;
const LEAST_ROWS: usize = 64;
/// Stretches whose counts are held at a time: enough for the cores of most machines, and their memory stays small.
const AT_A_TIME: usize = 16;
/// Most draws that frequencies are counted for: their quantiles are no better to the eye with more.
const COUNTED: usize = 1000;

/// Most bins of numbers that may be asked for.
pub const MOST_BINS: usize = 1000;

/// How finely a model is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Most draws used, evenly spaced; each makes a data set.
    pub draws: usize,
    /// Bins of about equally many rows that each number is divided in; as many as suit the rows where `None`.
    pub bins: Option<usize>,
}

impl Default for Resolution {
    fn default() -> Self {
        Self {
            draws: DRAWS,
            bins: None,
        }
    }
}

/// Why there are no checks: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Somebody cancelled.
    #[error("The predictive checks were cancelled")]
    Cancelled,
    /// Model, data or draws.
    #[error(transparent)]
    LogLik(#[from] LogLikError),
    /// Draws with negative weights.
    #[error(
        "Some draws have negative weights, so no data sets can be drawn from them; check a run whose sampler makes none"
    )]
    SignedWeights,
    /// Too few draws.
    #[error("One draw is too few to check a model by; draw more")]
    TooFew,
}

/// The picture that suits the outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Of numbers.
    Overlay(Overlay),
    /// Of counts.
    Rootogram(Rootogram),
    /// Of yes or no, and of successes among trials.
    Calibration(Calibration),
    /// Of numbers of which some are censored.
    Survival(Survival),
}

/// Predictive checks of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The response.
    pub response: ResponseInfo,
    /// Draws used, and draws there are.
    pub draws: (usize, usize),
    /// Rows of the fit.
    pub rows: usize,
    /// Test statistics that suit the outcome; none of censored ones.
    pub statistics: Vec<TestStatistic>,
    /// What to draw.
    pub picture: Picture,
    /// Probability integral transforms; `None` for censored outcomes, and for levels without an order.
    pub pit: Option<Pit>,
    /// Mean residuals: along the expected outcome, in the groups of each grouping, and along each predictor; none of censored
    /// outcomes.
    pub residuals: Vec<Residuals>,
    /// Columns of these that were too many to be looked at, and all that there are.
    pub columns_left_out: (usize, usize),
    /// The share of the variance of the outcome that the model explains; `None` where it is not defined.
    pub r2: Option<R2>,
    /// Whether draws had weights of their own.
    pub weighted: bool,
    /// Whether rows have weights.
    pub row_weights: bool,
}

/// Lower end, middle and upper end of what replicated data have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// The quantile with half of the rest of [`INTERVAL`] below it.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// The quantile with half of the rest of [`INTERVAL`] above it.
    pub upper: f64,
}

impl Band {
    /// Of values in any order, which is lost.
    fn of(values: &mut [f64]) -> Self {
        let mut at = |prob: f64| quantiles::of_unsorted(values, prob);
        Self {
            lower: at(0.5 - 0.5 * INTERVAL),
            median: at(0.5),
            upper: at(0.5 + 0.5 * INTERVAL),
        }
    }

    /// Whether the interval holds `value`.
    pub fn holds(&self, value: f64) -> bool {
        (self.lower..=self.upper).contains(&value)
    }
}

/// What is counted of a stretch of rows.
struct Part {
    /// One per draw.
    tallies: Vec<Tally>,
    counts: Option<Counts>,
    residuals: Sums,
    pit: Vec<RowPit>,
}

impl Fitted {
    /// Checks the model by the rows of the fit and `draws` of reported quantities (one list per chain) with `weights` (one vector
    /// per chain, or empty).
    ///
    /// # Errors
    /// See [`CheckError`].
    pub fn check(
        &self,
        draws: &[&DrawList],
        draw_weights: &[Vec<f64>],
        resolution: Resolution,
        control: &Control,
    ) -> Result<Check, CheckError> {
        self.expects_an_outcome().map_err(LogLikError::from)?;
        let all: usize = draws.iter().map(|chain| chain.len()).sum();
        let places = places(draws, draw_weights, resolution.draws)?;
        let replicates = self.replicates(draws, &places, control);
        let replicates = replicates.map_err(|error| match error {
            LogLikError::Predict(PredictError::Cancelled) => CheckError::Cancelled,
            other => other.into(),
        })?;
        if places.len() < 2 {
            return Err(CheckError::TooFew);
        }
        let log_lik = replicates.log_lik();
        let (rows, used) = (log_lik.num_rows(), log_lik.num_draws());
        let statuses = log_lik.observed().censoring.as_deref();
        // Where all were seen they are like any numbers.
        let statuses = statuses.filter(|all| all.iter().any(|it| *it != Censoring::Seen));
        let censored = statuses.is_some();
        let kind = &self.response().kind;
        let whole = log_lik.observed().is_whole;
        let of_successes = matches!(kind, ResponseKind::Binary { .. } | ResponseKind::Successes);
        let observed: Vec<f64> = (0..rows).map(|i| replicates.observed(i)).collect();
        let cells = match kind {
            _ if of_successes => None,
            ResponseKind::Count { .. } => Some(Cells::of_counts(&observed)),
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => {
                Some(Cells::of_levels(levels.len()))
            }
            _ => Some(Cells::of_numbers(&observed)),
        };
        // Sums of whole numbers are exact, so that equal statistics are equal; others are taken about their mean.
        let centre = if whole {
            0.0
        } else {
            observed.iter().sum::<f64>() / rows as f64
        };
        let chains = Chains::new(log_lik.chains(), None).map_err(|_none| CheckError::TooFew)?;
        let is_binary = matches!(kind, ResponseKind::Binary { .. });
        // Levels without an order have no distribution function.
        let is_unordered = matches!(kind, ResponseKind::Unordered { .. });
        control.enter("expecting outcomes");
        control.expect(rows as u64);
        let own: Vec<(f64, f64)> = (0..rows)
            .into_par_iter()
            .map_init(
                || Row::new(used),
                |row, i| {
                    if control.is_cancelled() {
                        return (0.0, 0.0);
                    }
                    control.advance(1);
                    replicates.residual(i, row)
                },
            )
            .collect();
        control.check(CheckError::Cancelled)?;
        let expected: Vec<f64> = own.iter().map(|(_, expected)| *expected).collect();
        let looked = self.looked_at(&expected, resolution.bins);
        let pit_stride = rows.div_ceil(pit::ROWS).max(1);
        let tile = rows.div_ceil(TILES).max(LEAST_ROWS);
        control.enter("drawing data sets");
        control.expect(rows as u64);
        let part = |t: usize| -> Part {
            let mut row = Row::new(used);
            let mut scorer = Scorer::new(&chains);
            let mut part = Part {
                tallies: vec![Tally::new(centre); used],
                counts: cells.map(|cells| Counts::new(cells, used, COUNTED)),
                residuals: looked.sums(used, COUNTED),
                pit: Vec::new(),
            };
            for i in t * tile..rows.min((t + 1) * tile) {
                if control.is_cancelled() {
                    break;
                }
                replicates.row(i, &mut row);
                let trials = replicates.trials(i);
                for (tally, y) in part.tallies.iter_mut().zip(&row.outcome) {
                    tally.add(*y, trials);
                }
                if let Some(counts) = &mut part.counts {
                    counts.add(&row.outcome);
                }
                looked.add(i, own[i].0, &row.noise, &mut part.residuals);
                if i % pit_stride == 0 && !is_unordered {
                    let row = (&row, is_binary);
                    part.pit.push(RowPit::of(&replicates, i, row, &mut scorer));
                }
                control.advance(1);
            }
            part
        };
        let mut tallies = vec![Tally::new(centre); used];
        let mut counts = cells.map(|cells| Counts::new(cells, used, COUNTED));
        let (mut sums, mut pits) = (looked.sums(used, COUNTED), Vec::new());
        let tiles: Vec<usize> = (0..rows.div_ceil(tile)).collect();
        for together in tiles.chunks(AT_A_TIME) {
            let parts: Vec<Part> = together.par_iter().map(|&t| part(t)).collect();
            control.check(CheckError::Cancelled)?;
            for part in parts {
                for (tally, other) in tallies.iter_mut().zip(&part.tallies) {
                    tally.merge(other);
                }
                if let (Some(counts), Some(other)) = (&mut counts, &part.counts) {
                    counts.merge(other);
                }
                sums.merge(&part.residuals);
                pits.extend(part.pit);
            }
        }
        let trials: Vec<f64> = (0..rows).map(|i| replicates.trials(i)).collect();
        let mut tally = Tally::new(centre);
        for (y, trials) in observed.iter().zip(&trials) {
            tally.add(*y, *trials);
        }
        let picture = match counts {
            None => {
                let rows = calibration::Rows {
                    expected: &expected,
                    successes: &observed,
                    trials: &trials,
                };
                let made = Calibration::of(&rows, replicates.seed(), control);
                Picture::Calibration(made.ok_or(CheckError::Cancelled)?)
            }
            Some(counts) if matches!(kind, ResponseKind::Count { .. }) => {
                Picture::Rootogram(Rootogram::of(&observed, &counts, &[]))
            }
            Some(counts) if !self.response().levels().is_empty() => {
                let levels = self.response().levels();
                Picture::Rootogram(Rootogram::of(&observed, &counts, levels))
            }
            Some(counts) => match statuses {
                Some(statuses) => {
                    Picture::Survival(Survival::of(&observed, statuses, &counts, control))
                }
                None => Picture::Overlay(Overlay::of(&observed, &counts)),
            },
        };
        control.check(CheckError::Cancelled)?;
        let r2 = self.r2(draws, draw_weights, control);
        let r2 = r2.map_err(|error| match error {
            PredictError::Cancelled => CheckError::Cancelled,
            other => LogLikError::from(other).into(),
        })?;
        Ok(Check {
            r2,
            // A statistic of values that were not seen to the end says nothing of the outcome, and neither do residuals.
            statistics: match censored {
                true => Vec::new(),
                false => TestStatistic::all(kind, &tally, &tallies),
            },
            response: self.response().clone(),
            draws: (used, all),
            rows,
            picture,
            pit: (!censored && !is_unordered).then(|| Pit::of(&pits, rows, used)),
            columns_left_out: if censored { (0, 0) } else { looked.left_out() },
            residuals: match censored {
                true => Vec::new(),
                false => looked.residuals(&sums),
            },
            weighted: weights::matter(draw_weights),
            row_weights: log_lik.observed().weights.is_some(),
        })
    }

    /// What residuals of the rows of the fit are looked at along.
    fn looked_at(&self, expected: &[f64], bins: Option<usize>) -> Looked {
        let columns = self.coding.coded_columns().into_iter();
        let predictors: Vec<(String, Option<Vec<String>>)> = columns
            .map(|column| (column.name, column.levels.map(|(levels, _)| levels)))
            .collect();
        let formula = self.coding.formula();
        Looked::at(
            self.table.as_ref(),
            &self.rows,
            expected,
            &predictors,
            bins,
            formula,
        )
    }
}

/// Chain and draw of at most `most` draws: evenly spaced, or where weights matter evenly spaced in their cumulative sum.
fn places(
    draws: &[&DrawList],
    draw_weights: &[Vec<f64>],
    most: usize,
) -> Result<Vec<(usize, usize)>, CheckError> {
    let all: Vec<(usize, usize)> = (0..draws.len())
        .flat_map(|chain| (0..draws[chain].len()).map(move |i| (chain, i)))
        .collect();
    let used = most.min(all.len());
    if !weights::matter(draw_weights) {
        return Ok((0..used).map(|k| all[k * all.len() / used]).collect());
    }
    let weight = |&(chain, i): &(usize, usize)| -> f64 {
        let weights = draw_weights.get(chain);
        let weight = weights.and_then(|weights| weights.get(i));
        weight.copied().unwrap_or(f64::NAN)
    };
    let weights: Vec<f64> = all.iter().map(weight).collect();
    let total: f64 = weights.iter().sum();
    let usable = |w: &f64| *w >= 0.0 && w.is_finite();
    if !(weights.iter().all(usable) && total > 0.0) {
        return Err(CheckError::SignedWeights);
    }
    let (mut below, mut at) = (weights[0], 0);
    let chosen = (0..used).map(|k| {
        let wanted = (k as f64 + 0.5) / used as f64 * total;
        while below < wanted && at + 1 < all.len() {
            at += 1;
            below += weights[at];
        }
        all[at]
    });
    Ok(chosen.collect())
}

impl Check {
    /// What does not look like data of the model, one sentence each; one sentence that says so if nothing does.
    pub fn findings(&self) -> Vec<String> {
        let statistics = self.statistics.iter();
        let mut found: Vec<String> = statistics
            .filter(|statistic| statistic.is_surprising())
            .map(|statistic| statistic.sentence(&self.response))
            .collect();
        if let Picture::Calibration(calibration) = &self.picture {
            found.extend(calibration.finding());
        }
        found.extend(self.pit.as_ref().and_then(Pit::finding));
        if let Picture::Survival(survival) = &self.picture {
            found.push(survival.summary(self.response.column()));
        }
        let outcome = &self.response.name;
        let mean = match self.response.kind {
            ResponseKind::Unordered { .. } => {
                format!("the share of rows with their most probable {outcome}")
            }
            _ => format!("the mean of {outcome}"),
        };
        found.extend(residuals::findings(&self.residuals, &mean));
        if found.is_empty() {
            found.push(format!(
                "Nothing that was checked of {} sets the observed data apart from data of the model",
                self.response.column()
            ));
        }
        found
    }

    /// Whether outcomes are yes or no, or successes among trials, so that means of rows are shares.
    pub fn is_of_shares(&self) -> bool {
        matches!(self.picture, Picture::Calibration(_))
    }

    /// What to know about these checks.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.response.kind.function().is_some() {
            let (name, column) = (&self.response.name, self.response.column());
            remarks.push(format!(
                "The model explains {name}; replicated outcomes are taken back to {column}"
            ));
        }
        remarks.extend(thinned(self.draws));
        if self.weighted {
            remarks.push(
                "The draws have weights of their own; data sets are made from draws in proportion to these"
                    .to_owned(),
            );
        }
        if self.row_weights {
            remarks.push(
                "Every row counts once in these checks, whatever its weight in the fit".to_owned(),
            );
        }
        if let Picture::Survival(survival) = &self.picture {
            remarks.push(format!(
                "The {} takes censoring to tell nothing of the outcome, so compare with care where it depends on predictors; it scatters more than \
                 the band shows, which is of outcomes that were all seen",
                survival.curve()
            ));
            remarks.push(
                "Test statistics, LOO-PIT and residuals need outcomes that were seen, so there are none of censored ones"
                    .to_owned(),
            );
        }
        remarks.extend(self.pit.iter().flat_map(Pit::remark));
        let (left_out, columns) = self.columns_left_out;
        if left_out > 0 {
            remarks.push(format!(
                "Residuals along {} of {columns} columns, the first of the formula",
                columns - left_out
            ));
        }
        for it in self.residuals.iter().filter(|it| it.left_out > 0) {
            remarks.push(format!(
                "Residuals in the {} of {} levels of {} with most rows",
                it.means.len(),
                it.means.len() + it.left_out,
                it.along.words()
            ));
        }
        remarks
    }

    /// What the picture says in one line.
    pub fn picture_in_words(&self) -> String {
        match &self.picture {
            Picture::Overlay(overlay) => overlay.summary(self.response.column()),
            Picture::Rootogram(rootogram) => rootogram.summary(),
            Picture::Calibration(calibration) => calibration.summary(),
            Picture::Survival(survival) => survival.in_words(self.rows),
        }
    }
}
