//! Residuals along what explains them: whether outcomes are above or below what the model expects where a predictor is small, where it
//! is large, and in each group.
//!
//! The residual of a row is its outcome less the posterior mean of its expected outcome (of successes among trials their share; of
//! a function of a column, such as log(y), that function). Residuals are averaged over stretches of a predictor that hold about
//! equally many rows, as many stretches as `arm::binnedplot` takes (Gelman and Hill 2007, section 5.6), over the levels of a category,
//! and over the groups of a grouping. Averages need no randomised quantiles, of yes or no and of counts neither: each has beside it the
//! range that such averages have of outcomes drawn by the model, less what the same draw expects.
//!
//! Of outcomes that are yes or no, and of successes among trials, expected outcomes are predicted probabilities: with their mean over the
//! same rows added, mean residuals are realised shares beside the range that shares have where the predictions are right, which is
//! calibration by covariate (Dang et al. 2019, figure 6).
//!
//! The p-value of a column is the share of replicated data sets whose averages, each in units of its standard deviation over data sets,
//! have at least the sum of squares of those observed. Parameters have been fitted to the observed rows and not to replicated ones, so
//! the p-value is rather too large than too small: what it finds is there.

use std::collections::BTreeMap;

use super::statistic::{monte_carlo_p, p_in_words};
use super::{Band, SURPRISING};
use ergodic_base::numerals::brief;
use ergodic_base::numerals::plural;
use ergodic_core::design::Columns;
use ergodic_core::formula::Formula;

/// Most stretches of a predictor: more are too small to see.
const STRETCHES: usize = 40;
/// Most levels of a column that are looked at, those with most rows.
const LEVELS: usize = 100;
/// Most columns that are looked at.
const COLUMNS: usize = 30;

/// What residuals are looked at along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Along {
    /// The expected outcome.
    Expected,
    /// A predictor.
    Predictor(String),
    /// A grouping.
    Grouping(String),
}

impl Along {
    /// Name in tables and files.
    pub fn name(&self) -> &str {
        match self {
            Self::Expected => "expected",
            Self::Predictor(name) | Self::Grouping(name) => name,
        }
    }

    /// In a sentence: "the expected outcome", "`age`".
    pub fn words(&self) -> String {
        match self {
            Self::Expected => "the expected outcome".to_owned(),
            Self::Predictor(name) | Self::Grouping(name) => format!("`{name}`"),
        }
    }
}

/// Rows that stand together: of a stretch of numbers, or of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualMean {
    /// The level; `None` of numbers.
    pub level: Option<String>,
    /// Smallest and largest number among the rows; of a level its place twice.
    pub ends: [f64; 2],
    /// Mean of the numbers; of a level its place, from 0.
    pub at: f64,
    /// Rows.
    pub rows: usize,
    /// Mean of what is expected of the rows: of yes or no their mean predicted probability.
    pub expected: f64,
    /// Mean residual.
    pub observed: f64,
    /// Mean residual in replicated data.
    pub replicated: Band,
}

impl ResidualMean {
    /// Of outcomes that are yes or no the realised share.
    pub fn share(&self) -> f64 {
        (self.expected + self.observed).clamp(0.0, 1.0)
    }

    /// Of outcomes that are yes or no the range of shares in replicated data, around the mean predicted probability.
    pub fn shares(&self) -> Band {
        let share = |residual: f64| (self.expected + residual).clamp(0.0, 1.0);
        Band {
            lower: share(self.replicated.lower),
            median: share(self.replicated.median),
            upper: share(self.replicated.upper),
        }
    }

    /// Which rows these are: "20 to 24.5", "premium".
    pub fn label(&self) -> String {
        match &self.level {
            Some(level) => level.clone(),
            None if self.ends[0] == self.ends[1] => brief(self.ends[0]),
            None => format!("{} to {}", brief(self.ends[0]), brief(self.ends[1])),
        }
    }
}

/// Mean residuals along one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// Along what.
    pub along: Along,
    /// Numbers ascending, levels in their order.
    pub means: Vec<ResidualMean>,
    /// Levels with too few rows to be among them.
    pub left_out: usize,
    /// Share of replicated data sets whose means are at least as far from 0.
    pub p: f64,
    /// Replicated data sets.
    pub replications: usize,
}

impl Residuals {
    /// Whether residuals follow the column, where `columns` were looked at: the p-value holds for all together (Bonferroni).
    fn is_surprising(&self, columns: usize) -> bool {
        monte_carlo_p(self.p, self.replications) * (columns as f64) < SURPRISING
    }

    /// What stands out, in one sentence.
    fn finding(&self, what: &str) -> String {
        let off = |it: &&ResidualMean| {
            let width = (it.replicated.upper - it.replicated.lower).max(f64::MIN_POSITIVE);
            (it.observed - it.replicated.median).abs() / width
        };
        let farthest = self.means.iter().max_by(|a, b| off(a).total_cmp(&off(b)));
        let where_ = farthest.map_or_else(String::new, |it| {
            let side = if it.observed > it.replicated.median {
                "above"
            } else {
                "below"
            };
            let is = match it.level {
                Some(_) => "is",
                None if it.ends[0] == it.ends[1] => "is",
                None => "is from",
            };
            format!(
                ": where {} {is} {}, {what} is {} {side} what is expected",
                self.along.words(),
                it.label(),
                brief((it.observed).abs())
            )
        });
        format!(
            "Residuals follow {} ({}){where_}",
            self.along.words(),
            self.p_in_words()
        )
    }

    /// The p-value as it is written.
    pub fn p_in_words(&self) -> String {
        p_in_words(self.p, self.replications)
    }

    /// Means outside their 90 % ranges.
    pub fn outside(&self) -> usize {
        let outside = |it: &&ResidualMean| !it.replicated.holds(it.observed);
        self.means.iter().filter(outside).count()
    }

    /// How many means lie outside their ranges, in one sentence.
    pub fn summary(&self) -> String {
        format!(
            "Along {}: {} of {} outside their 90 % ranges ({})",
            self.along.words(),
            self.outside(),
            plural(self.means.len(), "mean residual"),
            self.p_in_words()
        )
    }
}

/// What stands out of all columns, one sentence each.
pub(super) fn findings(all: &[Residuals], what: &str) -> Vec<String> {
    let surprising = all.iter().filter(|it| it.is_surprising(all.len()));
    surprising.map(|it| it.finding(what)).collect()
}

/// Means of rows without their residuals.
struct Places {
    along: Along,
    means: Vec<ResidualMean>,
    left_out: usize,
    /// Of each row its place among `means`; past the end where it is in none.
    of_row: Vec<u32>,
}

/// How many stretches there are of `rows` rows: `bins` where a number was asked for, else that of `arm::binnedplot`, at most
/// [`STRETCHES`].
fn stretches(rows: usize, bins: Option<usize>) -> usize {
    if let Some(bins) = bins {
        return bins.clamp(1, rows.max(1));
    }
    match rows {
        100.. => rows.isqrt().min(STRETCHES),
        11..100 => 10,
        _ => (rows / 2).max(1),
    }
}

impl Places {
    /// Stretches of about equally many rows; rows of one number stand together. Ends are those of `arm::binned.resids`: the numbers
    /// at places ⌊nk/m⌋ in their order, each the last of its stretch.
    fn of_numbers(along: Along, numbers: &[f64], bins: Option<usize>) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (rows, most) = (numbers.len(), stretches(numbers.len(), bins));
        let breaks = (1..most).map(|k| (rows * k / most).max(1) - 1);
        let mut breaks: Vec<f64> = breaks.map(|at| sorted[at]).collect();
        breaks.dedup();
        let stretch = |value: f64| breaks.partition_point(|&end| end < value);
        let mut means: Vec<ResidualMean> =
            (0..=breaks.len()).map(|_| ResidualMean::empty()).collect();
        for &value in numbers {
            means[stretch(value)].add(value);
        }
        // Beyond the last end there may be nothing.
        let has_last = means.last().is_some_and(|it| it.rows > 0);
        means.truncate(means.len() - usize::from(!has_last));
        Self {
            along,
            left_out: 0,
            of_row: numbers.iter().map(|&value| stretch(value) as u32).collect(),
            means,
        }
    }

    /// With the means of what is `expected` of each row.
    fn expecting(mut self, expected: &[f64]) -> Self {
        for (&place, expected) in self.of_row.iter().zip(expected) {
            if let Some(mean) = self.means.get_mut(place as usize) {
                mean.expected += expected / mean.rows as f64;
            }
        }
        self
    }

    /// The levels of a category with most rows, in their order.
    fn of_levels(along: Along, levels: &[String], codes: &[u32]) -> Self {
        let mut counts = vec![0_usize; levels.len()];
        for &code in codes {
            counts[code as usize] += 1;
        }
        let mut shown: Vec<usize> = (0..levels.len()).filter(|&k| counts[k] > 0).collect();
        let there = shown.len();
        shown.sort_by_key(|&k| std::cmp::Reverse(counts[k]));
        shown.truncate(LEVELS);
        shown.sort_unstable();
        let mut place = vec![u32::MAX; levels.len()];
        let means = shown.iter().enumerate().map(|(at, &level)| {
            place[level] = at as u32;
            ResidualMean {
                level: Some(levels[level].clone()),
                ends: [at as f64; 2],
                at: at as f64,
                rows: counts[level],
                ..ResidualMean::empty()
            }
        });
        Self {
            along,
            means: means.collect(),
            left_out: there - shown.len(),
            of_row: codes.iter().map(|&code| place[code as usize]).collect(),
        }
    }
}

impl ResidualMean {
    fn empty() -> Self {
        Self {
            level: None,
            ends: [f64::INFINITY, f64::NEG_INFINITY],
            at: 0.0,
            rows: 0,
            expected: 0.0,
            observed: 0.0,
            replicated: Band::default(),
        }
    }

    /// Adds a row of a stretch.
    fn add(&mut self, value: f64) {
        self.rows += 1;
        self.at += (value - self.at) / self.rows as f64;
        self.ends = [self.ends[0].min(value), self.ends[1].max(value)];
    }
}

/// All that residuals of a run are looked at along.
pub(super) struct Looked {
    columns: Vec<Places>,
    /// Predictors and groupings that there are.
    available: usize,
}

impl Looked {
    /// The expected outcome, predictors with their levels in the fit (`None` of numbers), and groupings, for the `rows` of a table;
    /// numbers in `bins` bins, or as many as suit the rows.
    pub(super) fn at(
        table: &dyn Columns,
        rows: &[u32],
        expected: &[f64],
        predictors: &[(String, Option<Vec<String>>)],
        bins: Option<usize>,
        formula: &Formula,
    ) -> Self {
        let groupings = formula.groups.iter().map(|term| &term.group);
        let mut named: BTreeMap<String, &Vec<String>> = BTreeMap::new();
        for columns in groupings {
            named.insert(columns.join(":"), columns);
        }
        let alone = predictors
            .iter()
            .filter(|(name, _)| !named.contains_key(name));
        let of_predictors = alone.filter_map(|(name, levels)| {
            let along = Along::Predictor(name.clone());
            let position = table.position(name)?;
            match levels {
                None => {
                    let numbers = table.numbers(position)?;
                    let numbers: Vec<f64> = rows.iter().map(|&row| numbers[row as usize]).collect();
                    Some(Places::of_numbers(along, &numbers, bins))
                }
                Some(levels) => {
                    let labels = table.labels(position);
                    // Rare levels that were put together stand under the name that they got, which is the last.
                    let place = |label: &String| levels.iter().position(|level| level == label);
                    let last = levels.len().saturating_sub(1);
                    let places: Vec<usize> = (labels.levels.iter())
                        .map(|label| place(label).unwrap_or(last))
                        .collect();
                    let code = |&row: &u32| {
                        let code = labels.codes[row as usize] as usize;
                        places.get(code).map_or(0, |&place| place as u32)
                    };
                    let codes: Vec<u32> = rows.iter().map(code).collect();
                    Some(Places::of_levels(along, levels, &codes))
                }
            }
        });
        let of_groupings = named.iter().filter_map(|(name, columns)| {
            let (levels, codes) = joined(table, columns, rows)?;
            Some(Places::of_levels(
                Along::Grouping(name.clone()),
                &levels,
                &codes,
            ))
        });
        let mut columns = vec![Places::of_numbers(Along::Expected, expected, bins)];
        columns.extend(of_groupings);
        columns.extend(of_predictors);
        let available = columns.len();
        columns.truncate(COLUMNS);
        let columns = columns.into_iter();
        Self {
            columns: columns.map(|column| column.expecting(expected)).collect(),
            available,
        }
    }

    /// Means of all columns together.
    fn width(&self) -> usize {
        self.columns.iter().map(|column| column.means.len()).sum()
    }

    /// No residuals yet, of `sets` data sets of which at most `most` are looked at.
    pub(super) fn sums(&self, sets: usize, most: usize) -> Sums {
        let stride = sets.div_ceil(most).max(1);
        let kept = sets.div_ceil(stride);
        Sums {
            stride,
            kept,
            observed: vec![0.0; self.width()],
            replicated: vec![0.0; self.width() * kept],
        }
    }

    /// Adds the `i`-th row: its residual, and those of replicated data sets.
    pub(super) fn add(&self, i: usize, residual: f64, noise: &[f64], sums: &mut Sums) {
        let mut first = 0;
        for column in &self.columns {
            let place = column.of_row[i] as usize;
            if place < column.means.len() {
                sums.add(first + place, residual, noise);
            }
            first += column.means.len();
        }
    }

    /// Residuals along all columns.
    pub(super) fn residuals(self, sums: &Sums) -> Vec<Residuals> {
        let mut first = 0;
        let columns = self.columns.into_iter().map(|column| {
            let start = first;
            first += column.means.len();
            let mut means = column.means;
            let mut observed = 0.0;
            let mut replicated = vec![0.0; sums.kept];
            for (k, mean) in means.iter_mut().enumerate() {
                let rows = mean.rows as f64;
                mean.observed = sums.observed[start + k] / rows;
                let values = sums.replicated[(start + k) * sums.kept..][..sums.kept].iter();
                let mut values: Vec<f64> = values.map(|sum| sum / rows).collect();
                let squares = values.iter().map(|value| value * value).sum::<f64>();
                // Without variation there is nothing to compare with.
                if squares > 0.0 {
                    let unit = sums.kept as f64 / squares;
                    observed += mean.observed * mean.observed * unit;
                    for (sum, value) in replicated.iter_mut().zip(&values) {
                        *sum += value * value * unit;
                    }
                }
                mean.replicated = Band::of(&mut values);
            }
            let as_far = replicated.iter().filter(|sum| **sum >= observed).count();
            Residuals {
                along: column.along,
                means,
                left_out: column.left_out,
                p: as_far as f64 / sums.kept as f64,
                replications: sums.kept,
            }
        });
        columns.collect()
    }

    /// Columns that are not looked at, and all that there are.
    pub(super) fn left_out(&self) -> (usize, usize) {
        (self.available - self.columns.len(), self.available)
    }
}

/// Groups of several columns in the order of their names, and that of each row.
fn joined(
    table: &dyn Columns,
    columns: &[String],
    rows: &[u32],
) -> Option<(Vec<String>, Vec<u32>)> {
    let labels = columns
        .iter()
        .map(|name| Some(table.labels(table.position(name)?)));
    let labels = labels.collect::<Option<Vec<_>>>()?;
    let key = |&row: &u32| -> Vec<u32> { labels.iter().map(|it| it.codes[row as usize]).collect() };
    let keys: Vec<Vec<u32>> = rows.iter().map(key).collect();
    let mut places: BTreeMap<&[u32], u32> = keys.iter().map(|key| (key.as_slice(), 0)).collect();
    let mut levels = Vec::with_capacity(places.len());
    for (at, (key, place)) in places.iter_mut().enumerate() {
        *place = at as u32;
        let parts = key.iter().zip(&labels);
        let parts: Option<Vec<&str>> = parts
            .map(|(&code, labels)| labels.levels.get(code as usize).map(String::as_str))
            .collect();
        levels.push(parts?.join(","));
    }
    let codes = keys.iter().map(|key| places[key.as_slice()]).collect();
    Some((levels, codes))
}

/// Sums of residuals, observed ones and those of replicated data sets that are evenly spaced among all.
pub(super) struct Sums {
    stride: usize,
    kept: usize,
    /// One per mean.
    observed: Vec<f64>,
    /// Means × data sets.
    replicated: Vec<f64>,
}

impl Sums {
    fn add(&mut self, mean: usize, residual: f64, noise: &[f64]) {
        self.observed[mean] += residual;
        let sums = &mut self.replicated[mean * self.kept..][..self.kept];
        for (sum, noise) in sums.iter_mut().zip(noise.iter().step_by(self.stride)) {
            *sum += noise;
        }
    }

    /// Adds those of other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        let pairs = self.observed.iter_mut().zip(&other.observed);
        let pairs = pairs.chain(self.replicated.iter_mut().zip(&other.replicated));
        pairs.for_each(|(mine, theirs)| *mine += theirs);
    }
}
