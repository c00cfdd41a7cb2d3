//! Why no design can be made: one sentence each, saying what happened, where, and what to do.

use std::fmt;

use super::censoring::WORDS;
use super::columns::Columns;
use super::observation::ReadError;
use super::remark::missing_words;
use super::response::{MAX_CATEGORIES, MAX_LEVELS, OutcomeLevels, ResponseUse, first_levels};
use super::response_columns::MOST_COUNTED;
use super::terms::{MAX_ITEMS, MOST_COLUMNS};
use crate::formula::factor::LEAST_K;
use crate::formula::{Elementwise, Factor, FormulaError, Function, Term, quote_term};
use ergodic_base::names::nearest;
use ergodic_base::numerals::{every, plural};
use ergodic_base::shown::shortened;

/// Why a formula or a column was refused, by kinds. `Display` is the sentence, without a final period.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// A formula that cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A column that the table does not have.
    #[error(
        "{place} names the column `{}`, which the table does not have; {hint}",
        shortened(column)
    )]
    UnknownColumn {
        /// "The formula", "The recipe".
        place: String,
        /// Name.
        column: String,
        /// Nearest names, or all.
        hint: String,
    },
    /// A table without rows that could be used.
    #[error(transparent)]
    Rows(#[from] BadRows),
    /// A column without numbers where they are wanted.
    #[error(transparent)]
    NotNumbers(#[from] NotNumbers),
    /// A number that its column may not have.
    #[error(transparent)]
    Number(Box<BadNumber>),
    /// A column that does not vary.
    #[error(transparent)]
    Constant(#[from] Unvarying),
    /// A function that cannot be made of its column.
    #[error(transparent)]
    Function(#[from] Unmade),
    /// More columns, or larger numbers, than can be computed with.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// Too few or too many levels.
    #[error(transparent)]
    Count(#[from] LevelCount),
    /// A level that is none, or is not known.
    #[error(transparent)]
    Level(#[from] BadLevel),
    /// An outcome of levels, where the model explains something else.
    #[error(transparent)]
    Levels(#[from] OutcomeLevels),
    /// Levels whose order the formula speaks of, where the model explains something else.
    #[error(
        "The outcome `ordered({name})` has levels with an order, which this model does not explain; choose template `ordered`, or \
         template `mixed` with model.family = \"ordered\", or write `{name}` alone"
    )]
    Ordered {
        /// Column of the outcome.
        name: String,
    },
    /// A part of the formula that the model does not take, or lacks.
    #[error(transparent)]
    Part(#[from] Misplaced),
    /// Rows that a model which reads columns itself refuses, in its own words, with the row if one is at fault.
    #[error("{0}{at}", at = .1.as_ref().map_or_else(String::new, |at| format!(" in {at}")))]
    Read(ReadError, Option<Place>),
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Row of the table, 0-based.
    pub row: u32,
    /// The row in words: "line 57".
    pub words: String,
}

impl Place {
    pub(crate) fn of(table: &dyn Columns, row: u32) -> Self {
        let words = table.place(row as usize);
        Self { row, words }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// A table without rows that could be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRows {
    /// A table, by its name, without rows.
    #[error("{0} has no rows")]
    None(String),
    /// A table with more rows than are numbered.
    #[error("{0} has more than 4294967295 rows, which is too many")]
    Many(String),
    /// A table with two columns of a name.
    #[error("{0} has two columns called `{1}`")]
    Twice(String, String),
    /// A table with a column of another length than the first.
    #[error("Column `{column}` of {table} has {count}, but the first has {first}", count = plural(*.values, "value"))]
    Length {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Values of the column.
        values: usize,
        /// Values of the first.
        first: usize,
    },
    /// All rows are held out.
    #[error("All rows are held out of the fit, so there is none to fit; hold out fewer")]
    HeldOut,
    /// Each row that is not held out lacks a value.
    #[error(
        "None of the {rows}{out} has a value in every used column ({missing}); leave a column out or choose other missing-value codes",
        rows = plural(*.rows, "row"),
        out = if *.held_out > 0 { " that are not held out" } else { "" },
        missing = missing_words(.missing)
    )]
    Incomplete {
        /// Rows that are not held out.
        rows: usize,
        /// Rows that are.
        held_out: usize,
        /// Values that the former lack, by column.
        missing: Vec<(String, usize)>,
    },
}

/// A column that holds text or dates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNumbers {
    /// A column, after what it is in the formula.
    #[error(
        "The {0} `{1}` holds text; give the column the type number on import, or choose another column"
    )]
    Text(&'static str, String),
    /// A predictor of dates.
    #[error(
        "The predictor `{0}` holds dates; add a column with a number such as days since a start, or treat it as categorical"
    )]
    Dates(String),
    /// A function of a column.
    #[error(
        "{0} needs numbers, but `{column}` holds text or dates; give the column the type number on import, or choose another column",
        column = .0.column()
    )]
    Argument(Factor),
    /// A column of new rows, and their table.
    #[error(
        "The column `{0}` of {1} holds text, but the model was fitted to numbers; correct what is no number"
    )]
    New(String, String),
}

/// A number in a column.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberAt {
    /// The column.
    pub column: String,
    /// The number; what an inner function makes of it where another is applied to that.
    pub value: f64,
    /// The first row that shows what is wrong.
    pub at: Place,
}

impl NumberAt {
    pub(crate) fn new(column: &str, value: f64, at: Place) -> Self {
        let column = column.to_owned();
        Self { column, value, at }
    }
}

impl fmt::Display for NumberAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.value, self.at)
    }
}

/// A number that its column may not have, and what it should be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadNumber {
    /// A weight: not negative.
    #[error("The weight `{column}` is {0}; weights must not be negative", column = .0.column)]
    Weight(NumberAt),
    /// A standard error: above 0.
    #[error("The standard error `{column}` is {0}; standard errors must be above 0", column = .0.column)]
    StandardError(NumberAt),
    /// A number of trials: whole, and at least 1.
    #[error(
        "The number of trials `{column}` must be whole and at least 1, but it is {0}; correct that row or choose another column",
        column = .0.column
    )]
    Trials(NumberAt),
    /// Successes among so many trials: whole, and from 0 to their number.
    #[error(
        "The outcome `{column}` must be a whole number from 0 to {1}, the number of trials, but it is {0}; {advice}",
        column = .0.column,
        advice = if .0.value > 0.0 && .0.value < 1.0 {
            "if it is a share of the trials, add a column with the number of successes, share times trials"
        } else {
            "correct that row or choose another column"
        }
    )]
    Successes(NumberAt, f64),
    /// Successes beside failures, or these: whole, and from 0.
    #[error(
        "Successes and failures must be whole numbers from 0, but `{column}` is {0}; correct that row or choose another column",
        column = .0.column
    )]
    SuccessesOrFailures(NumberAt),
    /// Failures, beside a column of successes: one of the two above 0.
    #[error(
        "`{1}` and `{column}` are both {0}, so that row has no trials; leave such rows out",
        column = .0.column
    )]
    NoTrials(NumberAt, String),
    /// A count: whole, and from 0.
    #[error(
        "The outcome `{column}` must be a whole number from 0, but it is {0}; choose template `linear` if it is no count, or correct that row",
        column = .0.column
    )]
    Count(NumberAt),
    /// What a function is applied to: in its domain. The words are those of its call and of what that is applied to.
    #[error(
        "{2} needs {domain}, but {3} is {0}; leave such rows out, or use another function",
        domain = .1.domain()
    )]
    Domain(NumberAt, Elementwise, String, String),
    /// What a function is applied to: small enough for it.
    #[error(
        "{1} is too large for a number, because {of} is {0}; rescale the column",
        of = argument(.1)
    )]
    Large(NumberAt, Factor),
    /// A number of new rows: where the function, as it was fitted, has a value.
    #[error("{1} has no value where `{column}` is {0}; leave such rows out", column = .0.column)]
    Undefined(NumberAt, Factor),
}

impl From<BadNumber> for DesignError {
    fn from(error: BadNumber) -> Self {
        Self::Number(Box::new(error))
    }
}

/// A column that does not vary.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unvarying {
    /// Weights of 0.
    #[error("The weight `{0}` is 0 in every row; choose another column")]
    Weights(String),
    /// Statuses of outcomes none of which was seen.
    #[error(
        "The censoring `{0}` says of all outcomes that they are censored, so there is nothing to explain; it must be 0 or \
         `none` where the outcome was seen"
    )]
    Censored(String),
    /// An outcome with one value in so many rows.
    #[error(
        "The outcome `{0}` has the single value `{1}` in {rows} used, so there is nothing to explain; choose another outcome",
        rows = every(*.2, "row")
    )]
    Outcome(String, String, usize),
    /// An outcome of all or no successes among trials.
    #[error(
        "The outcome `{0}` counts {1} successes in {2} trials, so there is nothing to explain; choose another outcome"
    )]
    Successes(String, f64, f64),
}

/// A function that cannot be made of its column.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unmade {
    /// Too few different values.
    #[error(
        "{call} needs at least {needed} different values, but {of} has {found}; {advice}",
        of = argument(.call),
        advice = fewer(.call, *.found)
    )]
    Values {
        /// The function.
        call: Factor,
        /// Values that it needs.
        needed: usize,
        /// Values that there are.
        found: usize,
    },
    /// Knots that fall together.
    #[error(
        "Knots of {0} fall together, because too many values of {of} are equal; lower the degrees of freedom, or use poly()",
        of = argument(.0)
    )]
    Knots(Factor),
    /// Division by this standard deviation.
    #[error(
        "{0} cannot divide by a standard deviation of {1}: {of} does not vary; leave it out",
        of = argument(.0)
    )]
    Scale(Factor, f64),
    /// A smooth curve along numbers that cannot be told apart.
    #[error(
        "{0} cannot be made, because the values of {of} are too large, or too near each other, to be told apart; rescale the column",
        of = argument(.0)
    )]
    Smooth(Factor),
    /// A function that the fit does not have.
    #[error("{0} was not fitted")]
    NotFitted(Factor),
}

/// How to do with `found` different values.
fn fewer(call: &Factor, found: usize) -> String {
    match call {
        Factor::Call(Function::Poly { .. }, _) => "lower the degree".to_owned(),
        Factor::Call(Function::Smooth { .. }, of) if found >= LEAST_K as usize => {
            format!("lower k, as in s({of}, k = {found})")
        }
        Factor::Call(Function::Smooth { .. }, _) => {
            "no curve goes through so few, so leave `s()` out".to_owned()
        }
        _ => "lower the degrees of freedom".to_owned(),
    }
}

/// What a function is applied to, in words: a column in backticks, a call as written.
pub(super) fn argument(call: &Factor) -> String {
    match call {
        Factor::Call(_, of) => match of.as_ref() {
            Factor::Column(name) => format!("`{name}`"),
            of => of.to_string(),
        },
        column => column.to_string(),
    }
}

/// More columns, or larger numbers, than can be computed with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TooLarge {
    /// A term that would give so many columns.
    #[error(
        "The term {term} would give {1} columns, more than {MOST_COLUMNS}; use columns with fewer levels",
        term = quote_term(.0)
    )]
    Columns(Term, usize),
    /// A term whose values multiply to more than a number holds.
    #[error(
        "The term `{0}` overflows: its values multiply to more than a number can hold; rescale its columns"
    )]
    Product(String),
    /// What a column is, its name, and its least and largest number.
    #[error(
        "The {0} `{1}` has numbers from {least:e} to {largest:e}, too far apart to compute with; divide the column \
         by a power of ten, or look for a code of missing values among them",
        least = .2[0], largest = .2[1]
    )]
    Range(&'static str, String, [f64; 2]),
}

impl TooLarge {
    /// Refuses a column whose numbers, from the least to the largest of `ends`, are so far apart that their `spread` is no number.
    pub(crate) fn check(
        spread: f64,
        part: &'static str,
        name: &str,
        ends: impl FnOnce() -> [f64; 2],
    ) -> Result<(), Self> {
        match spread.is_finite() {
            true => Ok(()),
            false => Err(Self::Range(part, name.to_owned(), ends())),
        }
    }
}

/// A column of too few or too many levels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelCount {
    /// An outcome of yes or no, and its values; `None`: more than are counted.
    #[error(
        "The outcome `{0}` has {found} but a yes-no model needs exactly two; choose an outcome with two values, or name the number of \
         trials as `{0} | trials(n)` if it is a count",
        found = match .1 {
            None => format!("more than {MOST_COUNTED} different values"),
            Some(all) => format!("{} different values ({})", all.len(), first_levels(all.iter())),
        }
    )]
    YesNo(String, Option<Vec<String>>),
    /// An outcome of levels, with an order or without one, and how many there are; `None`: more than are counted.
    #[error("The outcome `{0}` has {found}", found = leveled(*.1, *.2))]
    Outcome(String, ResponseUse, Option<usize>),
    /// An outcome of more categories than there may be.
    #[error(
        "The outcome `{0}` has more than the {MAX_CATEGORIES} different values that categories may have; choose an outcome with fewer"
    )]
    ManyCategories(String),
    /// An outcome, and how many categories it has.
    #[error(
        "The number of categories of the outcome `{0}` is {1} but must be 2 to {MAX_CATEGORIES}; choose another outcome, or name \
         categories without rows as `model.levels`"
    )]
    Categories(String, usize),
    /// A predictor of too many.
    #[error(
        "The predictor `{name}` has {found} different values, more than the {most} a categorical predictor may have; {advice}keep the most \
         frequent with `model.top_levels.{name}`, or ignore it if it is an identifier",
        advice = if *.most == MAX_ITEMS { "" } else { "use it as a group, " }
    )]
    Predictor {
        /// The predictor.
        name: String,
        /// Its levels.
        found: usize,
        /// How many it may have.
        most: usize,
    },
}

/// How many levels an outcome has, how many it may have, and what to do.
fn leveled(wanted: ResponseUse, found: Option<usize>) -> String {
    let (taker, which) = match wanted {
        ResponseUse::Ordered => ("the family ordered", "neighbouring"),
        _ => ("a model of levels without an order", "rare"),
    };
    let count = match found {
        None => format!(
            "more than {MOST_COUNTED} different values and {taker} takes at most {MAX_LEVELS} levels"
        ),
        Some(found) => format!(
            "{}, and {taker} takes 3 to {MAX_LEVELS}",
            plural(found, "level")
        ),
    };
    match found {
        Some(..3) => {
            format!("{count}; choose template `logistic` for two values, or another outcome")
        }
        _ => format!(
            "{count}; choose a template for numbers, such as `linear`, or merge {which} levels in a new column"
        ),
    }
}

/// A level that is none, or is not known: each with its column, then the level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLevel {
    /// A level of success that is none of the outcome's, which come last.
    #[error(
        "The success level `{1}` is not a value of the outcome `{0}`, which has {known}; choose one of these",
        known = first_levels(.2.iter())
    )]
    Success(String, String, Vec<String>),
    /// A reference level that is none of the predictor's, which come last.
    #[error(
        "The reference level `{1}` is not a value of `{0}`, which has {known}; choose one of these",
        known = first_levels(.2.iter())
    )]
    Reference(String, String, Vec<String>),
    /// A level of the outcome that is none of those named, for outcomes of this use.
    #[error(
        "The outcome `{0}` has the level `{1}`, which is not among model.levels = [{named}]; name all levels{order}",
        named = quoted(.2),
        order = if *.3 == ResponseUse::Ordered { " from lowest to highest" } else { ", the reference first" }
    )]
    Unnamed(String, String, Vec<String>, ResponseUse),
    /// A level of the outcome that is named twice, for outcomes of this use.
    #[error(
        "The level `{1}` of the outcome `{0}` is named twice in model.levels; name each level once{order}",
        order = if *.2 == ResponseUse::Ordered { ", from lowest to highest" } else { "" }
    )]
    Twice(String, String, ResponseUse),
    /// Levels, all of an outcome, that nobody knows the order of.
    #[error(
        "The levels of the outcome `{0}` have no order that is known; write them from lowest to highest, as in model.levels = [{seen}]",
        seen = quoted(.1)
    )]
    NoOrder(String, Vec<String>),
    /// A level of new rows that is none of the fit's, which come last.
    #[error(
        "The predictor `{0}` is `{1}` in {2}, which no row of the fit has (they have {known}), so it has no coefficient; leave such \
         rows out",
        known = first_levels(.3.iter())
    )]
    New(String, String, Place, Vec<String>),
    /// A status of censoring that is none.
    #[error(
        "The censoring `{0}` is `{1}` in {2}{also}; write {WORDS}",
        also = match .1.trim().to_lowercase().as_str() {
            "2" | "interval" => ", and there are no models of outcomes between two values",
            _ => "",
        }
    )]
    Status(String, String, Place),
}

/// Levels as recipes list them.
fn quoted(levels: &[String]) -> String {
    let quoted: Vec<String> = levels.iter().map(|level| format!("\"{level}\"")).collect();
    quoted.join(", ")
}

/// A part of the formula that the model does not take, or lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// An outcome where none is explained.
    #[error(
        "The formula has the outcome `{0}` but this model explains none; write `~` and then the columns that take part"
    )]
    Outcome(String),
    /// No outcome where one is explained.
    #[error("The formula has no outcome; write the column to be explained before `~`")]
    NoOutcome,
    /// A function of a column, where outcomes of this use are explained.
    #[error(
        "The outcome `{name}({1})` is a measured number, but this model explains {explained}; choose a template for numbers, such as \
         `linear`, or write `{1}` without `{name}()`",
        explained = match .2 {
            ResponseUse::Count => "counts",
            ResponseUse::Categories => "categories",
            ResponseUse::Ordered => "levels with an order",
            ResponseUse::Unordered => "levels",
            _ => "two values or successes",
        },
        name = .0.name()
    )]
    Function(Elementwise, String, ResponseUse),
    /// Trials of an outcome of this use, which counts no successes.
    #[error("The outcome `{0}` is {what}", what = without_trials(.0, *.1))]
    Trials(String, ResponseUse),
    /// Standard errors of outcomes that are no numbers.
    #[error(
        "Only outcomes that are numbers have standard errors; leave `se({0})` out, or choose template `mixed` with \
         model.family = \"gaussian_se\""
    )]
    StandardErrors(String),
    /// Statuses of outcomes that are no numbers.
    #[error(
        "Only outcomes that are numbers are censored; leave `cens({0})` out, or choose template `mixed` with \
         model.family = \"weibull\" or \"lognormal\""
    )]
    Censoring(String),
    /// An interaction, where there is no outcome.
    #[error(
        "The term {} is an interaction, which means nothing in a model without an outcome; name the columns alone",
        quote_term(.0)
    )]
    Interaction(Term),
    /// A column of categories that stands in the formula a second time, as this factor.
    #[error(
        "`{column}` is read as categories by itself, so `{0}` would be the same once more; write one of them",
        column = .0.column()
    )]
    Category(Factor),
}

/// What an outcome is that has no trials.
fn without_trials(name: &str, wanted: ResponseUse) -> String {
    let what = match wanted {
        ResponseUse::Categories => "a category",
        ResponseUse::Ordered => "a level with an order here",
        ResponseUse::Unordered => "a level here",
        ResponseUse::Number | ResponseUse::Count | ResponseUse::Outcome | ResponseUse::Absent => {
            return format!(
                "not a number of successes in this model, so it has no trials; write `{name}` alone, or choose a template for \
                 successes, such as `logistic`"
            );
        }
    };
    format!(
        "{what}, which has no number of trials; write `{name} | weights(n)` if column n counts its rows"
    )
}

/// The names most like `wanted`, in words for an error: "did you mean `income`?" or the list of columns.
pub fn name_hint<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if let Some(name) = nearest(wanted, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    let shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    let more = names.len().saturating_sub(shown.len());
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("it has {}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest_one_and_a_strange_one_the_list() {
        let names = ["age", "income", "region"];
        assert_eq!(
            name_hint("incme", names.into_iter()),
            "did you mean `income`?"
        );
        assert_eq!(name_hint("Age", names.into_iter()), "did you mean `age`?");
        assert_eq!(name_hint("x", ["g", "y"].into_iter()), "it has `g`, `y`");
        assert_eq!(name_hint("x", ["g", "X"].into_iter()), "did you mean `X`?");
        assert!(name_hint("zzzzzz", names.into_iter()).contains("`age`, `income`, `region`"));
    }
}
