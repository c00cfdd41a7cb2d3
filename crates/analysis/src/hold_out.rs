//! Rows that are kept out of a fit, so that its predictions of them can be scored.
//!
//! A fit does not know these rows at all: centres, scales, levels of categories, groups and default priors are those of the
//! other rows, and its draws are those of a file without them. A level that only rows held out have has no coefficient, so
//! such rows cannot be scored; a group that only they have gets effects from the population of groups. Levels of the outcome are those
//! of the whole table, so that fits to parts of it agree on what levels there are: one that only rows held out have is known by its prior.

use std::fmt;
use std::str::FromStr;

use rand::seq::SliceRandom as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::job::Job;
use super::recipe::Recipe;
use super::templates;
use ergodic_base::{Purpose, stream};
use ergodic_core::design::{Columns, DesignError, first_levels};
use ergodic_core::formula::quote_name;
use ergodic_core::models::{Model, ModelEntry};

/// Seed that rows are drawn by where a recipe names none. It is not that of the run, so that runs of all seeds hold out the
/// same rows.
pub const SEED: u64 = 1;
/// Share that is proposed where rows are to be held out and nobody says how many.
pub const USUAL_SHARE: f64 = 0.2;
/// Most parts that rows are cut into: of more rows than this, each part has several.
const MOST_PARTS: u32 = 1_000_000;
/// What can be written.
const NOTATION: &str = "a share of rows such as 0.2, a part such as 3/10, COLUMN=VALUE such as split=test, or rows by number such as rows 3, 17";
/// What rows by number begin with.
const ROWS: &str = "rows";
/// Setting of templates that keep whole units out by themselves, as there are no outcomes of rows to predict.
const OF_UNITS: &str = "held_out";

/// Which rows of a table are held out. Rows are drawn among all of the table, whether they have missing values or not, so that
/// models with other columns hold out the same ones.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldOut {
    /// A share of the rows, drawn at random: `0.2`.
    Share(f64),
    /// The `number`-th, counted from 1, of n equal parts of the rows, drawn at random: `3/10`. The parts of one seed have
    /// no row in common and hold all rows together.
    Part {
        /// From 1.
        number: u32,
        /// How many parts there are, 2 or more.
        of: u32,
    },
    /// Rows where a column has a value, as text: `split=test`. Rows without a value there are in the fit.
    Where {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// Named rows of the table, counted from 1, ascending: `rows 3, 17`.
    Rows(Vec<u32>),
}

/// Why a text says no rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not say which rows to hold out; write {NOTATION}")]
pub struct HoldOutError(String);

/// Why a table has no such rows, or none to fit beside them.
#[derive(Debug, thiserror::Error)]
pub enum NotHeldOut {
    /// No such column.
    #[error(transparent)]
    Column(#[from] DesignError),
    /// A row beyond the last of so many.
    #[error("`model.hold_out = {0}` names row {1}, and there are {2} rows")]
    Beyond(HoldOut, u32, usize),
    /// A value that no row has in the column, with those that some have.
    #[error("No row has `{1}` in the column `{0}`, which `model.hold_out` names; it has {known}", known = first_levels(.2.iter()))]
    NoValue(String, String, Vec<String>),
    /// So many rows, none or all of those that there are.
    #[error(
        "`model.hold_out = {0}` holds out {which} of {2}, so there is nothing to fit or nothing to score; choose another share, part or \
         value",
        which = if *.1 == 0 { "no row" } else { "every row" }
    )]
    Extent(HoldOut, usize, usize),
    /// Rows by which a model of this template could not be scored; it may hold out units instead.
    #[error(
        "Template `{0}` explains no outcome, so rows held out could not be scored; leave out `model.hold_out` (--hold-out){instead}",
        instead = match .1 {
            true => format!(
                "; --set model.{OF_UNITS}={USUAL_SHARE} keeps whole units out and reports how well they are predicted"
            ),
            false => String::new(),
        }
    )]
    NoOutcome(&'static str, bool),
    /// Single rows of a run that holds out others.
    #[error(
        "The run keeps rows out of its fit already, so it cannot be fitted again without single rows; score those that it keeps out"
    )]
    Already,
}

/// Refuses rows held out of a model of template `entry` that explains no outcome, by which they could be scored. Models as text may have
/// further rows in their data, and are not asked.
///
/// # Errors
/// One sentence with what to write instead.
pub(super) fn check(
    recipe: &Recipe,
    entry: &ModelEntry,
    model: &dyn Model,
) -> Result<(), NotHeldOut> {
    let explains = model.predicts().is_some() || model.observation().is_some();
    if recipe.model.hold_out.is_none() || explains || templates::is_text(entry.spec.id) {
        return Ok(());
    }
    let has_units = (entry.spec.fields.iter()).any(|field| field.key == OF_UNITS);
    Err(NotHeldOut::NoOutcome(entry.spec.id, has_units))
}

/// Rows of a table, as a fit takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FittedRows {
    /// Rows that are not held out.
    pub total: usize,
    /// Rows that are used: not held out, and with all values.
    pub used: usize,
    /// Rows held out: by `model.hold_out`, or with their units by a setting of the template.
    pub held_out: usize,
}

impl FittedRows {
    /// Rows as the fit of a job takes them.
    pub fn of(job: &Job) -> Self {
        let (design, of_units) = (&job.design, job.model.rows_held_out());
        Self {
            total: design.rows_total - of_units,
            used: design.rows_used - of_units,
            held_out: design.held_out + of_units,
        }
    }
}

impl HoldOut {
    /// The column that says which rows.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Where { column, .. } => Some(column),
            _ => None,
        }
    }

    /// Whether rows are drawn at random.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Self::Share(_) | Self::Part { .. })
    }

    /// The rows of `table` (0-based, ascending) that are held out, drawn by `seed` where they are drawn.
    ///
    /// # Errors
    /// There is no such column, no row that has the value, or none that has another; a share rounds to no row or to all.
    pub fn rows(&self, table: &dyn Columns, seed: u64) -> Result<Vec<u32>, NotHeldOut> {
        let n = table.num_rows();
        let rows: Vec<u32> = match self {
            Self::Rows(rows) => {
                if let Some(beyond) = rows.iter().find(|row| **row as usize > n) {
                    return Err(NotHeldOut::Beyond(self.clone(), *beyond, n));
                }
                rows.iter().map(|row| row - 1).collect()
            }
            Self::Share(share) => {
                let mut rows = shuffled(n, seed);
                rows.truncate((share * n as f64).round() as usize);
                rows
            }
            Self::Part { number, of } => {
                let rows = shuffled(n, seed).into_iter().skip(*number as usize - 1);
                rows.step_by(*of as usize).collect()
            }
            Self::Where { column, value } => {
                let labels = table.labels(table.index_of(column, "The setting `model.hold_out`")?);
                let Some(code) = labels.levels.iter().position(|level| level == value) else {
                    let [column, value] = [column, value].map(String::clone);
                    return Err(NotHeldOut::NoValue(column, value, labels.levels));
                };
                let codes = labels.codes.iter().zip(0..);
                codes
                    .filter(|(it, _)| **it as usize == code)
                    .map(|(_, row)| row)
                    .collect()
            }
        };
        if rows.is_empty() || rows.len() == n {
            return Err(NotHeldOut::Extent(self.clone(), rows.len(), n));
        }
        let mut rows = rows;
        rows.sort_unstable();
        Ok(rows)
    }
}

/// All of `n` rows in an order drawn by `seed`.
fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..n).map(|row| row as u32).collect();
    rows.shuffle(&mut stream(seed, 0, Purpose::HoldOut));
    rows
}

impl FromStr for HoldOut {
    type Err = HoldOutError;

    fn from_str(text: &str) -> Result<Self, HoldOutError> {
        let refuse = || HoldOutError(text.to_owned());
        let trimmed = text.trim();
        if let Some(list) = trimmed.strip_prefix(ROWS)
            && split(trimmed).is_none()
        {
            let row = |text: &str| text.trim().parse::<u32>().ok().filter(|row| *row > 0);
            let rows: Option<Vec<u32>> = list.split(',').map(row).collect();
            let mut rows = rows.ok_or_else(refuse)?;
            rows.sort_unstable();
            rows.dedup();
            return Ok(Self::Rows(rows));
        }
        if let Some((column, value)) = split(trimmed) {
            let (column, value) = (column.trim(), value.trim());
            if column.is_empty() || value.is_empty() {
                return Err(refuse());
            }
            let inner = column.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
            return Ok(Self::Where {
                column: inner.map_or_else(|| column.to_owned(), |it| it.replace("``", "`")),
                value: value.to_owned(),
            });
        }
        if let Some((number, of)) = trimmed.split_once('/') {
            let read = |text: &str| text.trim().parse::<u32>().map_err(|_not_whole| refuse());
            let (number, of) = (read(number)?, read(of)?);
            let is_one = (1..=of).contains(&number) && (2..=MOST_PARTS).contains(&of);
            return is_one
                .then_some(Self::Part { number, of })
                .ok_or_else(refuse);
        }
        let share = trimmed.parse::<f64>().map_err(|_not_a_number| refuse())?;
        let is_share = share > 0.0 && share < 1.0;
        is_share.then_some(Self::Share(share)).ok_or_else(refuse)
    }
}

/// Splits at the first `=` that is not between backticks.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            '=' if !quoted => return Some((&text[..i], &text[i + 1..])),
            _ => {}
        }
    }
    None
}

impl fmt::Display for HoldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(f, "{share}"),
            Self::Part { number, of } => write!(f, "{number}/{of}"),
            Self::Where { column, value } => write!(f, "{}={value}", quote_name(column)),
            Self::Rows(rows) => {
                let rows: Vec<String> = rows.iter().map(u32::to_string).collect();
                write!(f, "{ROWS} {}", rows.join(", "))
            }
        }
    }
}

impl Serialize for HoldOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Share(share) => serializer.serialize_f64(*share),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for HoldOut {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Whole(i64),
            Number(f64),
            Text(String),
        }
        let text = match Written::deserialize(deserializer) {
            Ok(Written::Whole(number)) => number.to_string(),
            Ok(Written::Number(number)) => number.to_string(),
            Ok(Written::Text(text)) => text,
            Err(_other) => {
                let why = format!("`model.hold_out` takes {NOTATION}");
                return Err(serde::de::Error::custom(why));
            }
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
