//! The response: which value counts as success, and how many there are of each.

use serde::{Deserialize, Serialize};

use super::columns::Labels;
use crate::design::columns::Columns;
use crate::design::error::{BadLevel, DesignError, LevelCount, Unvarying};
use crate::formula::{Elementwise, quote_name};
use ergodic_base::numerals::{brief, thousands};

/// How a template reads the response column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResponseUse {
    /// Two values, or successes among trials.
    #[default]
    Outcome,
    /// Any number of categories.
    Categories,
    /// Levels with an order.
    Ordered,
    /// Levels without an order, of which predictors may tell.
    Unordered,
    /// Any finite number.
    Number,
    /// Whole numbers, 0 among them.
    Count,
    /// The formula has no left side.
    Absent,
}

/// Most categories that a response may have.
pub const MAX_CATEGORIES: usize = 1000;

/// Most levels that a response of levels may have, with or without an order.
pub const MAX_LEVELS: usize = 20;

/// Levels that a sentence lists: more make it hard to read.
const LEVELS_SHOWN: usize = 6;

/// What the response of a design is.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseKind {
    /// Two values, `y` 1 for success and 0 for failure.
    Binary {
        /// The value that counts as success.
        success: String,
        /// The value that counts as failure.
        failure: String,
    },
    /// Successes among trials.
    Successes,
    /// One of several categories, `y` its position among them.
    Categories {
        /// Categories of the rows in the order of the table, then those declared without rows.
        levels: Vec<String>,
    },
    /// One of several levels, lowest first, `y` its place among them from 1.
    Ordered {
        /// Levels that rows of the table have or that the user named.
        levels: Vec<String>,
    },
    /// One of several levels, the reference first, `y` its place among them from 1.
    Unordered {
        /// Levels that rows of the table have or that the user named.
        levels: Vec<String>,
    },
    /// Numbers.
    Number {
        /// Mean of the numbers.
        mean: f64,
        /// Standard deviation of the numbers (divisor n − 1).
        sd: f64,
        /// The smallest and the largest.
        range: [f64; 2],
        /// The function of a column that they are, and the column, if the formula names one.
        function: Option<(Elementwise, String)>,
    },
    /// Whole numbers, 0 among them.
    Count {
        /// Sum of the counts.
        total: f64,
        /// The largest.
        largest: f64,
    },
    /// No response.
    Absent,
}

/// The response as it is shown: name, success level, counts.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseInfo {
    /// Column, or function of a column: `log(y)`.
    pub name: String,
    /// Kind of the values.
    pub kind: ResponseKind,
    /// Rows used per value, failure first; for counts failures and successes in all trials; for categories rows, or the
    /// sum of their weights, in whole numbers; for levels rows; empty for numbers, counts and where there is no response.
    pub counts: Vec<(String, usize)>,
}

impl ResponseKind {
    /// The function of a column that the model explains instead of the column itself.
    pub fn function(&self) -> Option<Elementwise> {
        match self {
            Self::Number { function, .. } => function.as_ref().map(|(function, _)| *function),
            _ => None,
        }
    }
}

impl ResponseInfo {
    /// The column, without the function that the model explains.
    pub fn column(&self) -> &str {
        match &self.kind {
            ResponseKind::Number {
                function: Some((_, column)),
                ..
            } => column,
            _ => &self.name,
        }
    }

    /// The response as a formula has it, with odd names in backticks.
    pub fn written(&self) -> String {
        let column = quote_name(self.column());
        match self.kind.function() {
            Some(function) => format!("{}({column})", function.name()),
            None => column,
        }
    }

    /// Levels, of ordered ones the lowest first, of others the reference; none of another response.
    pub fn levels(&self) -> &[String] {
        match &self.kind {
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => levels,
            _ => &[],
        }
    }

    /// The value that counts as success, for a response of two values.
    pub fn success(&self) -> Option<&str> {
        match &self.kind {
            ResponseKind::Binary { success, .. } => Some(success),
            _ => None,
        }
    }

    /// One clause for the window: "success = yes, 2 134 of 10 000".
    pub fn sentence(&self) -> String {
        let total: usize = self.counts.iter().map(|(_, count)| count).sum();
        let total = thousands(total as u64);
        let successes = self.counts.last().map_or(0, |(_, count)| *count);
        let successes = thousands(successes as u64);
        match &self.kind {
            ResponseKind::Binary { success, .. } => {
                format!("success = {success}, {successes} of {total}")
            }
            ResponseKind::Successes => format!("{successes} successes in {total} trials"),
            ResponseKind::Categories { levels } => {
                let never = self.counts.iter().filter(|(_, count)| *count == 0).count();
                let never = match never {
                    0 => String::new(),
                    never => format!(", {never} of them never seen"),
                };
                format!("{} categories in {total} observations{never}", levels.len())
            }
            ResponseKind::Ordered { levels } => {
                format!("{} levels in order: {}", levels.len(), levels.join(" < "))
            }
            ResponseKind::Unordered { levels } => {
                let (reference, others) =
                    levels.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
                format!("{}, each against {reference}", others.join(", "))
            }
            ResponseKind::Number {
                mean, sd, range, ..
            } => format!(
                "mean {}, sd {}, from {} to {}",
                brief(*mean),
                brief(*sd),
                brief(range[0]),
                brief(range[1])
            ),
            ResponseKind::Count { total, largest } => {
                format!("counts from 0 to {largest}, {total} in all")
            }
            ResponseKind::Absent => "no outcome".to_owned(),
        }
    }
}

/// An outcome of a few levels, under a model that explains something else: refused, with the models that explain levels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct OutcomeLevels {
    /// The outcome.
    pub name: String,
    /// Values of the outcome, two or more.
    pub levels: Vec<String>,
    /// What the model explains: numbers, counts or two values.
    pub wanted: ResponseUse,
    /// Whether the formula has effects of groups, which not every template has.
    pub has_groups: bool,
}

impl OutcomeLevels {
    /// "The outcome `plan` has 3 different values (`basic`, `plus`, `pro`)".
    pub fn found(&self) -> String {
        format!(
            "The outcome `{}` has {} different values ({})",
            self.name,
            self.levels.len(),
            first_levels(self.levels.iter())
        )
    }

    /// What the model explains, in words.
    pub fn explained(&self) -> &'static str {
        match self.wanted {
            ResponseUse::Number => "numbers",
            ResponseUse::Count => "counts",
            _ => "two values",
        }
    }

    fn sentence(&self) -> String {
        let template = match (self.levels.len(), self.has_groups) {
            (..=2, false) => "template `logistic`, whose model.success names the value that counts",
            (..=2, true) => {
                "template `mixed` with model.family = \"bernoulli\", whose model.success names the value that counts"
            }
            (_, false) => {
                "template `multinomial`, or template `ordered` with model.levels from lowest to highest"
            }
            (_, true) => {
                "template `mixed` with model.family = \"ordered\" and model.levels from lowest to highest"
            }
        };
        let (found, name) = (self.found(), &self.name);
        match self.wanted {
            ResponseUse::Number | ResponseUse::Count => format!(
                "{found} but this model explains {}; choose {template}, or give the column the type number on import",
                self.explained()
            ),
            _ => format!(
                "{found} but a yes-no model needs exactly two; choose {template}, or an outcome with two values, or name the number of \
                 trials as `{name} | trials(n)` if it is a count"
            ),
        }
    }
}

/// The first of some levels, for a sentence.
pub fn first_levels<'a>(levels: impl ExactSizeIterator<Item = &'a String>) -> String {
    let all = levels.len();
    let shown: Vec<String> = levels
        .take(LEVELS_SHOWN)
        .map(|level| format!("`{level}`"))
        .collect();
    let rest = if all > shown.len() { ", …" } else { "" };
    format!("{}{rest}", shown.join(", "))
}

/// Words that mean success, lower case, where the other level means failure.
const SUCCESS_WORDS: [(&str, &str); 9] = [
    ("1", "0"),
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("ja", "nein"),
    ("oui", "non"),
    ("on", "off"),
    ("success", "failure"),
];

/// The success level of a column with two levels if the user names none: 1, true or yes where the words say
/// so, otherwise the second in order.
pub(crate) fn default_success(levels: &[String; 2]) -> usize {
    let [first, second] = levels.each_ref().map(|level| level.to_lowercase());
    usize::from(!SUCCESS_WORDS.contains(&(first.as_str(), second.as_str())))
}

/// Checks that column `col` has exactly two levels and finds the one that means success: (success, failure) as
/// positions in `labels.levels`. Only rows with `used` count. The error lists the levels, and models of more than two for a
/// formula that `has_groups` or not.
pub(crate) fn binary_levels(
    table: &dyn Columns,
    col: usize,
    labels: &Labels,
    used: &[u32],
    wanted: Option<&str>,
    has_groups: bool,
) -> Result<(usize, usize), DesignError> {
    let name = &table.columns()[col].name;
    let mut seen = vec![false; labels.levels.len()];
    for &row in used {
        seen[labels.codes[row as usize] as usize] = true;
    }
    let present: Vec<usize> = (0..seen.len()).filter(|&level| seen[level]).collect();
    let levels = || present.iter().map(|&level| labels.levels[level].clone());
    // A level that only left-out rows have still tells what success means, but then there is one outcome only.
    match present.as_slice() {
        [only] => {
            let value = labels.levels[*only].clone();
            Err(Unvarying::Outcome(name.clone(), value, used.len()).into())
        }
        [first, second] => {
            let pair = [
                labels.levels[*first].clone(),
                labels.levels[*second].clone(),
            ];
            let success = match wanted {
                None => default_success(&pair),
                Some(wanted) => pair
                    .iter()
                    .position(|level| level == wanted)
                    .ok_or_else(|| {
                        BadLevel::Success(name.clone(), wanted.to_owned(), pair.to_vec())
                    })?,
            };
            Ok((present[success], present[1 - success]))
        }
        few if few.len() <= MAX_LEVELS => Err(DesignError::Levels(OutcomeLevels {
            name: name.clone(),
            levels: levels().collect(),
            wanted: ResponseUse::Outcome,
            has_groups,
        })),
        _ => Err(LevelCount::YesNo(name.clone(), Some(levels().collect())).into()),
    }
}

/// Whether a value can be a response that is read as `wanted`, a number or a count.
pub fn fits(value: f64, wanted: ResponseUse) -> bool {
    wanted != ResponseUse::Count || (value >= 0.0 && value.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_what_the_words_say_and_otherwise_the_second_level() {
        let pick = |a: &str, b: &str| default_success(&[a.to_owned(), b.to_owned()]);
        assert_eq!(pick("0", "1"), 1);
        assert_eq!(pick("No", "Yes"), 1);
        assert_eq!(pick("FALSE", "TRUE"), 1);
        assert_eq!(pick("on", "off"), 0);
        assert_eq!(pick("1", "2"), 1);
        assert_eq!(pick("ja", "nein"), 0);
    }
}
