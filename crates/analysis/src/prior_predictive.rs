//! What the prior says in outcome units: outcomes of the table's own rows, simulated from draws of the prior.
//!
//! A draw of the prior gives every row of the design an outcome ([`ergodic_core::models::Simulation`], what calibration
//! uses as well). Together they are what the model expects before it has seen an outcome; beside them stand the outcomes of
//! the data, for comparison alone: nothing is fitted. Weights of rows play no part. Of long tables the first rows are used,
//! which are a random choice, since designs are shuffled; standardisation and units are those of all rows. A [`PreviewRows`] is
//! small, so that it can be kept while priors are edited.
//!
//! **What is judged.** A prior is very wide if most of what it expects is absurd ([`Expected::absurd`]): chances as good as
//! certain, below 1 % or above 99 %; counts, and numbers with a log link, expected to be more than 100 times as large or as
//! small as those of the data; other numbers more than 4.6 standard deviations from their mean. On the scale of the linear
//! predictor these are one limit, since logit 0.99 = 4.595 and log 100 = 4.605, so that a prior is judged alike under every
//! link.
//!
//! **Which rows.** Priors of coefficients are independent, and what they expect of a row with P predictors has a standard
//! deviation that grows with sqrt(P). With 50 predictors normal(0, 2.5) is sure of 80 % of rows, and so is normal(0, 0.35)
//! of many more predictors: that says something about the number of predictors, not about the size of an effect that a prior
//! allows, and it does no harm where there are many more rows than predictors. A prior of coefficients is therefore judged by
//! rows that are average in all predictors but one, in which they keep their own value; every predictor has its turn. With one
//! predictor these are the rows of the table. What the rows as they are would add up to is told beside it
//! ([`Expected::together`]) and judges nothing.

use crate::templates;
use std::sync::Arc;

use serde::Serialize;

use super::job::model_options;
use super::{JobError, Recipe};
use ergodic_base::numerals::{brief, thousands};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Design, ObservationModel, Predictor, ReadError, ResponseKind};
use ergodic_core::families::{Link, log_mean};
use ergodic_core::models::NoPriorDraws;
use ergodic_diagnostics::quantiles::of_sorted as quantile;
use ergodic_diagnostics::uniformity::bars;
use rows::{expected_of, num_predictors, observed_of, one_by_one};

mod read;
mod rows;

/// Draws of the prior: a share of them has a standard error of at most 2.5 percentage points.
const DRAWS: usize = 400;
/// Draws of the prior for models so large that drawing once takes long.
const LEAST_DRAWS: usize = 50;
/// Coordinates that are drawn in all, where that leaves enough draws.
const COORDINATES: usize = 5_000_000;
/// Rows that are given outcomes.
const ROWS: usize = 200;
/// Numbers of a long column that are kept, in equal steps through their order.
const KEPT: usize = 10_000;
/// Cells of a picture of numbers.
const CELLS: usize = 60;
/// Cells of a picture of shares and chances.
const SHARE_CELLS: usize = 20;
/// Levels of a column of categories that are shown.
const MOST_LEVELS: usize = 50;
/// A chance closer than this to 0 or 1 is as good as certain, and therefore absurd beforehand.
const CERTAIN: f64 = 0.01;
/// Factor between expected counts and those of the data from which they are absurd, too.
const MANIFOLD: f64 = 100.0;
/// Factor between expected counts and those of the data from which a picture has powers of ten: the data would stand in a few cells at 0.
const CLOSE: f64 = 10.0;
/// Distance of a number from the mean of the data, in their standard deviations, from which it is absurd.
const FAR: f64 = 4.6;
/// Prior that expects more than this share to be absurd: most of it.
const MOST: f64 = 0.5;
/// Rows per predictor, of two outcomes those of the rarer one, from which the prior of all predictors together is of no
/// consequence: this many are enough without any prior (Peduzzi et al. 1996).
const ROWS_PER_PREDICTOR: f64 = 10.0;

/// Heights over equal cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cells {
    /// Left end of the first cell.
    pub from: f64,
    /// Right end of the last.
    pub to: f64,
    /// Whether positions are log10(1 + value), for counts that span many powers of ten.
    pub logarithmic: bool,
    /// Share of outcomes in each cell; they need not sum to 1 where some lie outside.
    pub prior: Vec<f64>,
    /// Share of the data in each cell; empty where the data are one number.
    pub data: Vec<f64>,
}

impl Cells {
    fn of(
        (from, to): (f64, f64),
        logarithmic: bool,
        count: usize,
        prior: &[f64],
        data: &[f64],
    ) -> Self {
        let shares = |values: &[f64]| {
            let mut shares = vec![0.0; if values.is_empty() { 0 } else { count }];
            for &value in values {
                let at = if logarithmic {
                    value.ln_1p() / std::f64::consts::LN_10
                } else {
                    value
                };
                let place = (at - from) / (to - from) * count as f64;
                if at >= from && at <= to {
                    shares[(place as usize).min(count - 1)] += 1.0 / values.len() as f64;
                }
            }
            shares
        };
        Self {
            from,
            to,
            logarithmic,
            prior: shares(prior),
            data: shares(data),
        }
    }

    /// The prior's heights as a line of text.
    pub fn line(&self) -> String {
        bars(&self.prior)
    }
}

/// A category, or one of two values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Category {
    /// Name of the category.
    pub name: String,
    /// The 5 %, 50 % and 95 % quantile of its share among the rows, over draws of the prior.
    pub interval: [f64; 3],
    /// Share of the category in the data.
    pub data: f64,
}

/// What is expected of a response, or of a column where there is no response.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcomes {
    /// Two values, or successes among trials.
    Success {
        /// The one that counts as success.
        success: Category,
        /// Shares of success over draws of the prior, from 0 to 1.
        shares: Cells,
        /// Chances of single rows, or of a trial in them, from 0 to 1.
        chances: Cells,
        /// Whether rows have trials, so that shares are those of all trials.
        trials: bool,
    },
    /// Numbers or counts.
    Numbers {
        /// Where outcomes lie.
        cells: Cells,
        /// Outcomes' 5 %, 25 %, 50 %, 75 % and 95 % quantile; not finite where outcomes are too large for a number.
        quantiles: [f64; 5],
        /// The smallest and the largest in the data.
        data: [f64; 2],
        /// Share of outcomes outside of these.
        outside: f64,
        /// Whether outcomes are counts.
        counts: bool,
    },
    /// Categories.
    Categories {
        /// Levels in their order.
        levels: Vec<Category>,
    },
}

/// How the outcomes that the prior expects compare with the data, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Plausibility {
    /// The prior expects outcomes such as the data.
    Plausible,
    /// The prior expects outcomes such as the data, and others, most of which are absurd.
    VeryWide,
    /// The prior does not expect outcomes such as the data.
    UnlikeTheData,
}

impl Plausibility {
    /// How a prior compares under which the data are expected or not, and of which a share is absurd.
    fn of(expects_the_data: bool, absurd: f64) -> Self {
        match expects_the_data {
            false => Self::UnlikeTheData,
            true if absurd > MOST => Self::VeryWide,
            true => Self::Plausible,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plausible => "Plausible",
            Self::VeryWide => "Very wide",
            Self::UnlikeTheData => "Unlike the data",
        }
    }
}

/// Outcomes of one response or column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// Name of the response or column.
    pub name: String,
    /// What is expected.
    #[serde(flatten)]
    pub outcomes: Outcomes,
    /// The share of outcomes that is absurd; `None` of categories, among which none is.
    pub absurd: Option<f64>,
    /// How the expected outcomes compare with the data.
    pub plausibility: Plausibility,
    /// What the prior expects, in one sentence.
    pub sentence: String,
    /// With more than one predictor: what they say all together.
    pub together: Option<Together>,
}

/// What a prior expects of rows as they are, where it is judged by rows with average predictors but one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// Number of predictors, dummies counted each.
    pub predictors: usize,
    /// The share that is absurd.
    pub absurd: f64,
    /// What that means, in a sentence; empty where it is not most.
    pub sentence: String,
}

/// What a prior expects of the rows of a design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorPredictive {
    /// Draws of the prior.
    pub draws: usize,
    /// Rows that were given outcomes for each.
    pub rows: usize,
    /// Whether each of these rows has average predictors but one.
    pub one_by_one: bool,
    /// One per response or column.
    pub outcomes: Vec<Expected>,
}

/// Rows to imagine outcomes of, and what the data say of all rows.
#[derive(Clone, Debug)]
pub struct PreviewRows {
    /// The rows.
    rows: Arc<Design>,
    /// With more than one predictor the same rows, each average in all but one of them.
    one_by_one: Option<Arc<Design>>,
    /// Rows in all.
    num_obs: usize,
    /// Of all rows the shares of successes or categories, or sorted numbers, of each column, or why outcomes cannot be read.
    observed: Result<Vec<Vec<f64>>, ReadError>,
}

impl PreviewRows {
    /// The preview over the rows of a design, and of the outcomes that `reader` reads in them for a model whose formula has no
    /// outcome.
    pub fn new(design: &Design, reader: Option<&Arc<dyn ObservationModel>>) -> Self {
        let observed = match reader.filter(|_| reads_rows(design)) {
            Some(reader) => read::observed_by(reader.as_ref(), design),
            None => Ok(observed_of(design)),
        };
        let rows = design.head(ROWS);
        Self {
            one_by_one: (num_predictors(design) > 1).then(|| Arc::new(one_by_one(&rows, design))),
            rows: Arc::new(rows),
            num_obs: design.num_obs(),
            observed,
        }
    }

    /// What the model and the priors of `recipe` expect, which differs from the one whose rows these are by priors at most.
    ///
    /// # Errors
    /// The recipe is not one of a model; outcomes of rows cannot be read; the prior cannot be drawn from; the work was cancelled.
    pub fn expect(&self, recipe: &Recipe, control: &Control) -> Result<PriorPredictive, JobError> {
        let judged = self.one_by_one.as_ref().unwrap_or(&self.rows);
        let mut found = self.simulate(judged, recipe, control)?;
        if self.one_by_one.is_some() {
            let all = self.simulate(&self.rows, recipe, control)?;
            for (one, all) in found.outcomes.iter_mut().zip(all.outcomes) {
                one.together = all.absurd.map(|absurd| self.together(absurd, one));
            }
        }
        Ok(found)
    }

    fn together(&self, absurd: f64, judged: &Expected) -> Together {
        let predictors = num_predictors(&self.rows);
        let mut sentence = String::new();
        if absurd > MOST && judged.plausibility == Plausibility::Plausible {
            let what = match &judged.outcomes {
                Outcomes::Success { .. } => "chances are as good as certain",
                Outcomes::Numbers { .. } | Outcomes::Categories { .. } => "outcomes are as extreme",
            };
            sentence = format!(
                "Independent priors add up: with all {predictors} predictors at once {} of {what}",
                percent(absurd)
            );
            let cases = match &judged.outcomes {
                Outcomes::Success { success, .. } => success.data.min(1.0 - success.data),
                Outcomes::Numbers { .. } | Outcomes::Categories { .. } => 1.0,
            } * self.num_obs as f64;
            let rows = thousands(self.num_obs as u64);
            sentence.push_str(&if cases < ROWS_PER_PREDICTOR * predictors as f64 {
                format!(
                    "; with {rows} rows that matters, and a narrower prior of coefficients would say that together they explain less"
                )
            } else {
                format!("; {rows} rows outweigh that")
            });
        }
        Together {
            predictors,
            absurd,
            sentence,
        }
    }

    /// Outcomes of the rows of `design`, which are some of these.
    fn simulate(
        &self,
        design: &Arc<Design>,
        recipe: &Recipe,
        control: &Control,
    ) -> Result<PriorPredictive, JobError> {
        let entry = templates::find(&recipe.model.template)?;
        let model = (entry.build)(Arc::clone(design), &model_options(recipe)?)?;
        let observed = self.observed.as_ref();
        let observed = observed.map_err(ReadError::clone)?;
        if let Some(reader) = model.observation().filter(|_| reads_rows(design)) {
            let parts = (model.as_ref(), reader.as_ref());
            return Self::read((design, observed), parts, recipe, control);
        }
        let rows = design.num_obs();
        let draws = (COORDINATES / model.dim().max(1)).clamp(LEAST_DRAWS, DRAWS);
        let none = || match templates::is_text(&recipe.model.template) {
            true => NoPriorDraws::NoRows,
            false => NoPriorDraws::NotSaid,
        };
        let simulation = model.simulation().ok_or_else(none);
        let simulation = simulation.map_err(JobError::NotShown)?;
        let width = simulation.values_per_row();
        let mut rng = stream(recipe.run.seed, 0, Purpose::Predictive);
        let mut u = vec![0.0; model.dim()];
        let mut theta = vec![0.0; model.params().len()];
        let mut outcomes = vec![0.0; draws * rows * width];
        let family = (entry.family)(&recipe.model.settings);
        let has = |link| family.is_some_and(|family| family.definition().link == link);
        let (in_proportion, of_shares) = (has(Link::Log), has(Link::Logit));
        let mut means = Vec::new();
        control.enter("drawing from the priors");
        control.expect(draws as u64);
        for d in 0..draws {
            control.check(JobError::Cancelled)?;
            control.advance(1);
            let places = d * rows * width..(d + 1) * rows * width;
            simulation
                .draw_all(&mut rng, &mut u, &mut outcomes[places])
                .map_err(JobError::NotShown)?;
            if let Some(predicts) = model.predicts() {
                model.constrain(&u, &mut theta);
                let point = predicts.point(&theta);
                means.extend(
                    point
                        .iter()
                        .flat_map(|point| expected_of(design, point, in_proportion)),
                );
            }
        }
        let simulated = Simulated {
            design,
            observed,
            rows,
            draws,
            outcomes: &outcomes,
            means: &means,
            one_by_one: self.one_by_one.is_some(),
        };
        let outcomes = simulated.expected((in_proportion, of_shares), width);
        Ok(PriorPredictive {
            draws,
            rows,
            one_by_one: self.one_by_one.is_some(),
            outcomes,
        })
    }
}

/// Whether a model may read outcomes in the columns of a design; what has an outcome in the formula is simulated as regressions
/// are.
fn reads_rows(design: &Design) -> bool {
    design.response.kind == ResponseKind::Absent
}

/// Numeric columns, in the order in which models without a response simulate them.
fn numeric(design: &Design) -> impl Iterator<Item = (&str, &[f64])> {
    design
        .columns
        .iter()
        .filter_map(|(name, column)| match column {
            Predictor::Numeric(values) => Some((name.as_str(), values.as_slice())),
            _ => None,
        })
}

/// Categorical columns with their levels, in the order in which such models simulate them after the numeric ones.
fn categorical(design: &Design) -> impl Iterator<Item = (&str, &[String], &[u32])> {
    design
        .columns
        .iter()
        .filter_map(|(name, column)| match column {
            Predictor::Categorical { levels, codes, .. } => {
                Some((name.as_str(), levels.as_slice(), codes.as_slice()))
            }
            _ => None,
        })
}

/// Values in order; at most [`KEPT`], the smallest and the largest among them.
fn kept(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.len() <= KEPT {
        return sorted;
    }
    let step = (sorted.len() - 1) as f64 / (KEPT - 1) as f64;
    (0..KEPT)
        .map(|k| sorted[(k as f64 * step).round() as usize])
        .collect()
}

/// Outcomes by draw and row, and what they were expected to be where the model says.
struct Simulated<'a> {
    design: &'a Design,
    /// See [`PreviewRows`].
    observed: &'a [Vec<f64>],
    rows: usize,
    draws: usize,
    outcomes: &'a [f64],
    means: &'a [f64],
    /// See [`PriorPredictive`].
    one_by_one: bool,
}

impl Simulated<'_> {
    fn trials(&self, i: usize) -> f64 {
        self.design.trials.as_ref().map_or(1.0, |trials| trials[i])
    }

    fn success(&self, level: &str) -> Expected {
        let trials: f64 = (0..self.rows).map(|i| self.trials(i)).sum();
        let mut shares: Vec<f64> = self
            .outcomes
            .chunks_exact(self.rows)
            .map(|y| y.iter().sum::<f64>() / trials)
            .collect();
        shares.sort_by(f64::total_cmp);
        let data = self.observed[0][0];
        let mut chances = self.means.to_vec();
        chances.sort_by(f64::total_cmp);
        let absurd = share(&chances, |p| *p < CERTAIN || *p > 1.0 - CERTAIN);
        let interval = [0.05, 0.5, 0.95].map(|p| quantile(&shares, p));
        let name = &self.design.response.name;
        let what = match &self.design.trials {
            Some(_) => format!("of trials to be successes (`{name}`)"),
            None => format!("of rows to have `{name}` = {level}"),
        };
        let sentence = format!(
            "{}between {} and {} {what}, and the data have {}; before any data, it is already \
             sure (below 1 % or above 99 %) about {} of rows",
            self.begins(),
            percent(interval[0]),
            percent(interval[2]),
            percent(data),
            percent(absurd)
        );
        let cells = |values: &[f64]| Cells::of((0.0, 1.0), false, SHARE_CELLS, values, &[]);
        Expected {
            name: name.clone(),
            outcomes: Outcomes::Success {
                success: Category {
                    name: level.to_owned(),
                    interval,
                    data,
                },
                shares: cells(&shares),
                chances: cells(&chances),
                trials: self.design.trials.is_some(),
            },
            absurd: Some(absurd),
            plausibility: Plausibility::of(within(data, &chances), absurd),
            sentence,
            together: None,
        }
    }

    /// How a sentence on what the prior expects begins.
    fn begins(&self) -> &'static str {
        if self.one_by_one {
            "With all predictors but one at their average, the prior expects "
        } else {
            "The prior expects "
        }
    }

    fn numbers(&self, of_shares: bool) -> Expected {
        let [mean, sd] = self.design.response_units();
        let less = |i: usize| self.design.offset.as_ref().map_or(0.0, |offset| offset[i]);
        // What is no number is as far away.
        let near = |(k, y): (usize, &f64)| (y - less(k % self.rows) - mean).abs() <= FAR * sd;
        let near = self.outcomes.iter().enumerate().filter(|it| near(*it));
        let absurd = if of_shares {
            // No share is far from another; expected shares are judged as chances are.
            let absurd = share(self.means, |p| *p < CERTAIN || *p > 1.0 - CERTAIN);
            (absurd, Absurd::Shares)
        } else {
            let absurd = 1.0 - near.count() as f64 / self.outcomes.len().max(1) as f64;
            (absurd, Absurd::Outcomes)
        };
        let name = &self.design.response.name;
        let begins = self.begins();
        numbers(
            name,
            self.outcomes,
            &self.observed[0],
            false,
            absurd,
            begins,
        )
    }

    /// Counts, or positive numbers, which are judged by proportions.
    fn in_proportion(&self, whole: bool) -> Expected {
        let usual = log_mean(self.design).exp();
        let absurd = share(self.means, |mean| {
            *mean > MANIFOLD * usual || *mean < usual / MANIFOLD
        });
        let name = &self.design.response.name;
        let begins = self.begins();
        numbers(
            name,
            self.outcomes,
            &self.observed[0],
            whole,
            (absurd, Absurd::Means),
            begins,
        )
    }

    fn columns(&self, width: usize) -> Vec<Expected> {
        let simulated = |j: usize| -> Vec<f64> {
            let simulated = self.outcomes.iter().skip(j).step_by(width);
            let simulated: Vec<f64> = simulated.copied().collect();
            debug_assert_eq!(simulated.len(), self.draws * self.rows);
            simulated
        };
        let numeric: Vec<&str> = numeric(self.design).map(|(name, _)| name).collect();
        let first = numeric.len();
        let numeric = (numeric.into_iter().enumerate())
            .map(|(j, name)| column(name, &simulated(j), &self.observed[j]));
        let categorical = categorical(self.design).enumerate().map(|(k, column)| {
            let (name, levels, _codes) = column;
            let all = simulated(first + k);
            let draws = all.chunks_exact(self.rows).map(<[f64]>::to_vec);
            categories(name, levels, draws, &self.observed[first + k])
        });
        numeric.chain(categorical).take(width).collect()
    }
}

/// Shares of the levels that are commonest in the data, in the order of levels: positions of `draws` against the shares `data`.
fn categories(
    name: &str,
    levels: &[String],
    draws: impl Iterator<Item = Vec<f64>>,
    data: &[f64],
) -> Expected {
    let mut shown: Vec<usize> = (0..levels.len()).collect();
    shown.sort_by(|&a, &b| data[b].total_cmp(&data[a]));
    let commonest = shown[0];
    shown.truncate(MOST_LEVELS);
    shown.sort_unstable();
    let mut shares: Vec<Vec<f64>> = vec![Vec::new(); shown.len()];
    let mut totals = vec![0.0; levels.len()];
    for draw in draws {
        totals.fill(0.0);
        for &position in &draw {
            totals[position as usize] += 1.0 / draw.len() as f64;
        }
        for (shares, &level) in shares.iter_mut().zip(&shown) {
            shares.push(totals[level]);
        }
    }
    let mut plausibility = Plausibility::Plausible;
    let mut sentence = String::new();
    let mut found = Vec::new();
    for (&level, shares) in shown.iter().zip(&mut shares) {
        shares.sort_by(f64::total_cmp);
        if !within(data[level], shares) {
            plausibility = Plausibility::UnlikeTheData;
        }
        let category = Category {
            name: levels[level].clone(),
            interval: [0.05, 0.5, 0.95].map(|p| quantile(shares, p)),
            data: data[level],
        };
        if level == commonest {
            sentence = format!(
                "The prior expects between {} and {} of rows to be {}, the commonest in the data with {}",
                percent(category.interval[0]),
                percent(category.interval[2]),
                category.name,
                percent(category.data)
            );
        }
        found.push(category);
    }
    Expected {
        name: name.to_owned(),
        outcomes: Outcomes::Categories { levels: found },
        absurd: None,
        plausibility,
        sentence,
        together: None,
    }
}

/// The share of values of which something is so; 0 of none.
fn share(values: &[f64], is: impl Fn(&f64) -> bool) -> f64 {
    values.iter().filter(|value| is(value)).count() as f64 / values.len().max(1) as f64
}

/// Whether a number lies among the middle 99 % of sorted ones.
fn within(value: f64, sorted: &[f64]) -> bool {
    value >= quantile(sorted, 0.005) && value <= quantile(sorted, 0.995)
}

/// A numeric column of a model without a response.
fn column(name: &str, simulated: &[f64], sorted: &[f64]) -> Expected {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt();
    let absurd = 1.0 - share(simulated, |y| (y - mean).abs() <= FAR * sd);
    let begins = "The prior expects ";
    let absurd = (absurd, Absurd::Outcomes);
    numbers(name, simulated, sorted, false, absurd, begins)
}

/// What is absurd where numbers are expected.
#[derive(Clone, Copy)]
enum Absurd {
    /// Means that are manifold those of the data, or as small.
    Means,
    /// Expected shares next to 0 or 1.
    Shares,
    /// Outcomes far from the mean of the data.
    Outcomes,
}

/// Numbers simulated against those of the data, which are `sorted`; a share of what they say is `absurd`.
fn numbers(
    name: &str,
    simulated: &[f64],
    sorted: &[f64],
    counts: bool,
    (absurd, by): (f64, Absurd),
    begins: &str,
) -> Expected {
    // A simulation without an answer was asked for more than a number can hold.
    let limitless = |&y: &f64| if y.is_nan() { f64::INFINITY } else { y };
    let mut outcomes: Vec<f64> = simulated.iter().map(limitless).collect();
    outcomes.sort_by(f64::total_cmp);
    let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|p| quantile(&outcomes, p));
    let [least, most] = [quantile(sorted, 0.0), quantile(sorted, 1.0)];
    let outside = share(&outcomes, |&y| y < least || y > most);
    let plausibility = Plausibility::of(within(quantile(sorted, 0.5), &outcomes), absurd);
    // Most of the prior and all of the data are in the picture.
    let finite = |y: &&f64| y.is_finite();
    let smallest = outcomes.iter().find(finite).copied().unwrap_or(least);
    let largest = outcomes.iter().rfind(finite).copied().unwrap_or(most);
    let from = quantile(&outcomes, 0.02).max(smallest).min(least);
    let to = quantile(&outcomes, 0.98).min(largest).max(most);
    let (from, to) = if counts {
        // Quantiles can lie between whole numbers.
        (from.floor(), to.ceil())
    } else {
        (from, to)
    };
    let logarithmic = counts && to > CLOSE * (most + 1.0);
    let (range, count) = if logarithmic {
        ((0.0, to.ln_1p() / std::f64::consts::LN_10), CELLS)
    } else if counts {
        // Cells hold equally many whole numbers.
        let per_cell = ((to - from + 1.0) / CELLS as f64).ceil();
        let count = ((to - from + 1.0) / per_cell).ceil();
        ((from - 0.5, from - 0.5 + per_cell * count), count as usize)
    } else {
        ((from, if to > from { to } else { from + 1.0 }), CELLS)
    };
    let far = match by {
        Absurd::Means => format!(
            "{} of the means that it expects are over {MANIFOLD} times the mean of the data or under a hundredth of it",
            percent(absurd)
        ),
        Absurd::Shares => format!(
            "{} of the means that it expects are below {CERTAIN} or above {}",
            percent(absurd),
            1.0 - CERTAIN
        ),
        Absurd::Outcomes => format!(
            "{} of prior outcomes fall more than {FAR} standard deviations from the mean of `{name}`",
            percent(absurd)
        ),
    };
    let what = if counts { "counts" } else { "values" };
    let sentence = format!(
        "{begins}half of the {what} of `{name}` to lie between {} and {}, nine in ten between {} and {}; the data lie between {} and \
         {}; {far}",
        large(quantiles[1]),
        large(quantiles[3]),
        large(quantiles[0]),
        large(quantiles[4]),
        large(least),
        large(most),
    );
    Expected {
        name: name.to_owned(),
        outcomes: Outcomes::Numbers {
            cells: Cells::of(range, logarithmic, count, &outcomes, sorted),
            quantiles,
            data: [least, most],
            outside,
            counts,
        },
        absurd: Some(absurd),
        plausibility,
        sentence,
        together: None,
    }
}

/// A number in a sentence; large ones by their power of ten.
fn large(value: f64) -> String {
    match value.abs() {
        size if size.is_infinite() => "more than a number can hold".to_owned(),
        size if size >= 1e6 || (size > 0.0 && size < 1e-3) => format!("{value:.1e}"),
        size if size >= 1e3 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", thousands(size.round() as u64))
        }
        _ => brief(value),
    }
}

/// A share in a sentence.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p > 0.0 && p < 1.0 => "less than 1 %".to_owned(),
        p if p > 99.0 && p < 100.0 => "more than 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests;
