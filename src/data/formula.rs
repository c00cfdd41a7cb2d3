//! Model formulas in the notation of lme4 and brms: read into terms, and written back in one canonical form.
//!
//! ```text
//! y ~ x1 + x2 + x1:x2          main effects and an interaction; x1*x2 is short for x1 + x2 + x1:x2
//! y ~ 0 + x                    no intercept (also y ~ x - 1)
//! r | trials(n) ~ x            r successes in n trials (a column or a whole number)
//! y | weights(w) ~ x           each row counts w times
//! y ~ x + offset(log(e))       a term whose coefficient is fixed at 1
//! y ~ log(x) + ns(z, 3)*f      functions of columns, see [`Factor`]
//! y ~ x + (1 + x | g)          group terms; || for independent ones, (1 | g/h) for nested groups
//! ~ x1 + x2                    columns without a response, for models that explain none
//! y ~ .                        all columns that are not named and can explain something
//! y ~ `odd name`               names with odd characters in backticks, a backtick in them doubled
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use super::factor::{Elementwise, Factor, Function};

/// Factors multiplied together: one for a main effect, several for an interaction.
pub type Term = Vec<Factor>;

/// Where the number of trials comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trials {
    /// A column.
    Column(String),
    /// The same number for all rows, at least 1.
    Constant(u64),
}

/// The left side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Column.
    pub column: String,
    /// Number of trials, if the column counts successes.
    pub trials: Option<Trials>,
    /// Column of row weights.
    pub weights: Option<String>,
}

/// Effects that vary by group: `(1 + x | g)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTerm {
    /// Whether the intercept varies.
    pub intercept: bool,
    /// Slopes that vary.
    pub terms: Vec<Term>,
    /// Whether intercept and slopes are correlated (`|`) or independent (`||`).
    pub correlated: bool,
    /// Grouping columns; several mean their combinations.
    pub group: Vec<String>,
}

/// A formula. Terms are unique and sorted by the number of factors in them, then as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Formula {
    /// Left side; `None` in a formula such as `~ x1 + x2`, which names columns without explaining one of them.
    pub response: Option<Response>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Population-level terms.
    pub terms: Vec<Term>,
    /// Terms with coefficient 1, one column each.
    pub offsets: Vec<Factor>,
    /// Group-level terms.
    pub groups: Vec<GroupTerm>,
}

/// Why a formula cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The formula cannot be read at character {position}: {message}")]
pub struct FormulaError {
    /// 1-based character of the formula.
    pub position: usize,
    /// What was found and what is expected.
    pub message: String,
}

impl Formula {
    /// All columns named, each once: response, trials, weights, terms, offsets, groups.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if let Some(response) = &self.response {
            names.push(&response.column);
            if let Some(Trials::Column(name)) = &response.trials {
                names.push(name);
            }
            names.extend(response.weights.as_deref());
        }
        names.extend(self.terms.iter().flatten().map(Factor::column));
        names.extend(self.offsets.iter().map(Factor::column));
        for group in &self.groups {
            names.extend(group.terms.iter().flatten().map(Factor::column));
            names.extend(group.group.iter().map(String::as_str));
        }
        let mut unique: Vec<&str> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        unique
    }

    /// Lets everything of the fixed part vary by each group, for models in which all coefficients do.
    pub fn vary_all(&mut self) {
        for group in &mut self.groups {
            group.intercept = self.intercept;
            group.terms.clone_from(&self.terms);
            group.correlated = true;
        }
    }

    /// Takes what varies by groups into the fixed part, so that it is kept when the fixed part decides what varies.
    pub fn gather(&mut self) {
        for group in &self.groups {
            self.intercept |= group.intercept;
            for term in &group.terms {
                insert_term(&mut self.terms, term.clone());
            }
        }
    }

    /// Adds a term unless it is there in some order of its factors, and keeps the order by their number.
    pub fn add_term(&mut self, term: Term) {
        insert_term(&mut self.terms, term);
    }
}

/// Adds `term` unless it is there in some order of its factors; keeps terms sorted by their number.
pub(super) fn insert_term(terms: &mut Vec<Term>, term: Term) {
    if !terms.iter().any(|other| same_term(other, &term)) {
        let at = terms.partition_point(|other| other.len() <= term.len());
        terms.insert(at, term);
    }
}

/// Whether two terms have the same factors.
pub(crate) fn same_term(a: &[Factor], b: &[Factor]) -> bool {
    a.len() == b.len() && a.iter().all(|factor| b.contains(factor))
}

/// A name as it is written in a formula: in backticks if it has odd characters.
pub fn quote_name(name: &str) -> String {
    let mut chars = name.chars();
    let starts_well = match chars.next() {
        Some('.') => !name[1..].starts_with(|c: char| c.is_ascii_digit()),
        Some(c) => c.is_alphabetic() || c == '_',
        None => false,
    };
    if starts_well && chars.all(is_name_char) {
        name.to_owned()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

/// A term as it is written in a formula.
pub fn quote_term(term: &[Factor]) -> String {
    joined(term.iter().map(Factor::to_string))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(":")
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(response) = &self.response {
            write!(f, "{response} ")?;
        }
        f.write_str("~ ")?;
        let mut parts: Vec<String> = Vec::new();
        if !self.intercept {
            parts.push("0".to_owned());
        }
        parts.extend(self.terms.iter().map(|term| quote_term(term)));
        if parts.is_empty() {
            parts.push("1".to_owned());
        }
        let offsets = self.offsets.iter();
        parts.extend(offsets.map(|offset| format!("offset({offset})")));
        parts.extend(self.groups.iter().map(GroupTerm::to_string));
        f.write_str(&parts.join(" + "))
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote_name(&self.column))?;
        let mut additions = Vec::new();
        match &self.trials {
            Some(Trials::Column(name)) => additions.push(format!("trials({})", quote_name(name))),
            Some(Trials::Constant(count)) => additions.push(format!("trials({count})")),
            None => {}
        }
        if let Some(weights) = &self.weights {
            additions.push(format!("weights({})", quote_name(weights)));
        }
        if additions.is_empty() {
            Ok(())
        } else {
            write!(f, " | {}", additions.join(" + "))
        }
    }
}

impl fmt::Display for GroupTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = if self.intercept { "1" } else { "0" };
        let effects: Vec<String> = std::iter::once(first.to_owned())
            .chain(self.terms.iter().map(|term| quote_term(term)))
            .collect();
        let bar = if self.correlated { "|" } else { "||" };
        write!(
            f,
            "({} {bar} {})",
            effects.join(" + "),
            joined(self.group.iter().map(|name| quote_name(name)))
        )
    }
}

impl From<Formula> for String {
    fn from(formula: Formula) -> Self {
        formula.to_string()
    }
}

impl TryFrom<String> for Formula {
    type Error = FormulaError;

    fn try_from(text: String) -> Result<Self, FormulaError> {
        text.parse()
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        super::formula_parser::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        text.parse::<Formula>().unwrap().to_string()
    }

    #[test]
    fn formulas_are_written_in_one_canonical_form() {
        for (text, expected) in [
            ("y~x", "y ~ x"),
            ("y ~ 1", "y ~ 1"),
            ("y ~ x1*x2", "y ~ x1 + x2 + x1:x2"),
            ("y ~ a:b + b + b:a + b", "y ~ b + a:b"),
            ("y ~ x - 1", "y ~ 0 + x"),
            ("y ~ 0 + x", "y ~ 0 + x"),
            ("y ~ a*b - a:b", "y ~ a + b"),
            ("y ~ (a + b)*c", "y ~ a + b + c + a:c + b:c"),
            ("y ~ a*b*c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
            ("r|trials(n)~x", "r | trials(n) ~ x"),
            (
                "r | weights(w)+trials(12) ~ x",
                "r | trials(12) + weights(w) ~ x",
            ),
            (
                "y ~ offset(log(e)) + x + offset(o)",
                "y ~ x + offset(log(e)) + offset(o)",
            ),
            ("y ~ x + (x | g)", "y ~ x + (1 + x | g)"),
            ("y ~ (1 | g/h)", "y ~ 1 + (1 | g) + (1 | g:h)"),
            ("y ~ (0 + x || g)", "y ~ 1 + (0 + x || g)"),
            (
                "y ~ log( x )*`a b` + log(`a b`)",
                "y ~ log(x) + `a b` + log(`a b`) + log(x):`a b`",
            ),
            (
                "y ~ ns(x, df = 3):f + bs(x, degree = 2, df=5)",
                "y ~ bs(x, 5, degree = 2) + ns(x, 3):f",
            ),
            ("y ~ bs(x, df = 5, degree = 3) + x", "y ~ bs(x, 5) + x"),
            (
                "y ~ poly(x) + poly(x, 2, raw=T) + poly(x, degree=1, raw=FALSE)",
                "y ~ poly(x, 1) + poly(x, 2, raw = TRUE)",
            ),
            (
                "y ~ I(x^2) + ns(log1p(x), 3) + offset(scale(z))",
                "y ~ I(x^2) + ns(log1p(x), 3) + offset(scale(z))",
            ),
            ("y ~ log + log(log)", "y ~ log + log(log)"),
            ("y ~ x + (log(x) || g)", "y ~ x + (1 + log(x) || g)"),
            ("~x+z", "~ x + z"),
            ("`a b` ~ `x``y` + .2z_", ""),
            ("`a b` ~ `x``y` + größe", "`a b` ~ `x``y` + größe"),
        ] {
            if expected.is_empty() {
                assert!(text.parse::<Formula>().is_err(), "{text}");
            } else {
                assert_eq!(canonical(text), expected, "{text}");
                assert_eq!(canonical(expected), expected);
            }
        }
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, position, part) in [
            ("y x", 3, "expected `~`, found `x`"),
            ("y ~", 4, "expected a column name, found the end"),
            ("y ~ x +", 8, "found the end"),
            ("y ~ x & z", 7, "`&` has no meaning"),
            ("y ~ sin(x)", 5, "the function `sin()` is not known"),
            ("y ~ log(x", 10, "expected `,` or `)`"),
            ("y ~ log(x, 2)", 12, "`log()` takes only a column"),
            ("y ~ log(x:z)", 10, "expected `,` or `)`"),
            ("y ~ ns(x)", 5, "needs df"),
            ("y ~ z + ns(x, 0)", 15, "df must be a whole number from 1"),
            ("y ~ ns(x, knots = 3)", 11, "`knots` has no meaning here"),
            ("y ~ bs(x, 2)", 11, "df must be a whole number from 3"),
            ("y ~ bs(x, 4, 5)", 14, "`5` has no meaning here"),
            ("y ~ poly(x, 2, raw = 1)", 16, "raw must be TRUE or FALSE"),
            ("y ~ I(x)", 8, "a power"),
            ("y ~ I(x^0)", 9, "the power must be a whole number from 1"),
            ("y ~ log(ns(x, 3))", 9, "one column"),
            ("y ~ x + offset(ns(x, 2))", 16, "one column"),
            ("y ~ x + log(y)", 15, "also a predictor"),
            ("log(y) ~ x", 1, "functions of the response"),
            ("y ~ `x", 5, "never closed"),
            ("y ~ x^2", 6, "powers"),
            ("y ~ (1 | g", 11, "expected `)`"),
            ("y ~ 2", 5, "expected a column name, `0` or `1`, found `2`"),
            (
                "y | trial(n) ~ x",
                5,
                "expected `trials(…)` or `weights(…)`",
            ),
            ("y | trials(0) ~ x", 12, "at least 1"),
            ("y ~ 0", 6, "nothing is left"),
            ("y ~ . - x", 9, "nothing can be taken out of `.`"),
            ("y ~ x + y", 10, "also a predictor"),
            ("", 1, "expected the response"),
        ] {
            let error = text.parse::<Formula>().unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn everything_can_be_made_to_vary_by_group() {
        let mut formula: Formula = "y ~ a + b + a:b + (1 || g)".parse().unwrap();
        formula.vary_all();
        assert_eq!(
            formula.to_string(),
            "y ~ a + b + a:b + (1 + a + b + a:b | g)"
        );
    }

    #[test]
    fn what_varies_by_groups_is_gathered_before_all_does() {
        let mut formula: Formula = "y ~ b + (1 + a + b | g)".parse().unwrap();
        formula.gather();
        formula.vary_all();
        assert_eq!(formula.to_string(), "y ~ b + a + (1 + b + a | g)");
    }

    #[test]
    fn all_columns_are_listed_once() {
        let formula: Formula = "r | trials(n) + weights(w) ~ a*b + offset(log(e)) + (1 + a | g)"
            .parse()
            .unwrap();
        assert_eq!(formula.columns(), ["r", "n", "w", "a", "b", "e", "g"]);
    }
}
