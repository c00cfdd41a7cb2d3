//! Model formulas in the notation of lme4 and brms: read into terms, and written back in one canonical form.
//!
//! ```text
//! y ~ x1 + x2 + x1:x2          main effects and an interaction; x1*x2 is short for x1 + x2 + x1:x2
//! y ~ 0 + x                    no intercept (also y ~ x - 1)
//! r | trials(n) ~ x            r successes in n trials (a column or a whole number); also r/n ~ x
//! cbind(r, s) ~ x              r successes and s failures; cbind(r, n - r) is r of n trials
//! log(y) ~ x                   a function of the response: log, log2, log10, log1p or sqrt
//! y | weights(w) ~ x           each row counts w times
//! y ~ x + offset(log(e))       a term whose coefficient is fixed at 1
//! y ~ log(x) + ns(z, 3)*f      functions of columns, see [`Factor`]
//! y ~ z + s(x) + (1 | g)       a smooth curve along x, whose wiggliness is estimated
//! y ~ (a + b + c)^2            all of them and their interactions of two
//! y ~ a/b                      a, and b within a: a + a:b
//! y ~ x + (1 + x | g)          group terms; || for independent ones, (1 | g/h) for nested groups, (x - 1 | g) for (0 + x | g)
//! ~ x1 + x2                    columns without a response, for models that explain none
//! y ~ . - x                    all columns that are not named and can explain something, but not x
//! y ~ `odd name`               names with odd characters in backticks, a backtick in them doubled
//! ```
//!
//! With a function of the response the model is one of its values: coefficients, residual scale and priors have the units of
//! log(y), and predictions are taken back to the scale of y. The density of y itself has the factor |d log(y)/dy| = 1/y in every
//! row, which no parameter changes: it is no part of the posterior density, but two models whose responses are different
//! functions of y can be compared only after adding its logarithm.

mod call_hints;
pub(crate) mod factor;
mod parser;
pub(crate) mod response;
pub(crate) mod term_set;
mod tokens;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use super::formula::factor::{Constant, Elementwise, Factor, Function, Operator, SMOOTH_K};
use super::formula::term_set::TermSet;

/// How a formula names all columns that it does not name otherwise.
pub const ALL_OTHERS: &str = ".";

/// Factors multiplied together: one for a main effect, several for an interaction.
pub type Term = Vec<Factor>;

/// Where the number of trials comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trials {
    /// A column.
    Column(String),
    /// What the response counts and what this column counts together: `cbind(successes, failures)`.
    Failures(String),
    /// One number for all rows, at least 1.
    Constant(u64),
}

impl Trials {
    /// The column that the number of trials is read from, if there is one.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Column(name) | Self::Failures(name) => Some(name),
            Self::Constant(_) => None,
        }
    }
}

/// The left side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Column.
    pub column: String,
    /// The function of it that is explained; `None`: the column as it is.
    pub function: Option<Elementwise>,
    /// Whether values of the response are levels with an order, which the template says where the formula does not.
    pub ordered: bool,
    /// Number of trials, if the column counts successes.
    pub trials: Option<Trials>,
    /// Column of row weights.
    pub weights: Option<String>,
    /// Column of standard errors of the outcome.
    pub se: Option<String>,
    /// Column that says which outcomes are censored.
    pub cens: Option<String>,
}

impl Response {
    /// A column as it is, without trials and weights.
    pub fn of(column: &str) -> Self {
        Self {
            column: column.to_owned(),
            function: None,
            ordered: false,
            trials: None,
            weights: None,
            se: None,
            cens: None,
        }
    }

    /// What is explained, for sentences: `y`, or `log(y)`.
    pub fn label(&self) -> String {
        match self.function {
            Some(function) => format!("{}({})", function.name(), self.column),
            None => self.column.clone(),
        }
    }

    /// The columns whose values are the outcome.
    pub(super) fn outcome_columns(&self) -> impl Iterator<Item = &str> {
        let failures = match &self.trials {
            Some(Trials::Failures(column)) => Some(column.as_str()),
            _ => None,
        };
        std::iter::once(self.column.as_str()).chain(failures)
    }
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
    /// Columns that `.` does not stand for.
    pub left_out: Vec<String>,
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
    /// The formula without some population-level terms. They no longer vary by group either, but where they are all that does.
    #[must_use]
    pub fn without(&self, terms: &[Term]) -> Self {
        let same = |a: &Term, b: &Term| a.len() == b.len() && a.iter().all(|one| b.contains(one));
        let is_left = |term: &Term| !terms.iter().any(|other| same(term, other));
        let mut formula = self.clone();
        formula.terms.retain(is_left);
        for group in formula.groups.iter_mut().filter(|group| group.intercept) {
            group.terms.retain(is_left);
        }
        formula
    }

    /// Penalised smooth curves among the terms, in order.
    pub fn smooths(&self) -> impl Iterator<Item = &Factor> {
        self.terms.iter().filter_map(|term| match term.as_slice() {
            [factor] if factor.is_smooth() => Some(factor),
            _ => None,
        })
    }

    /// What to say of a penalised smooth curve that stands where it has no meaning: in an interaction, in a group term, or
    /// twice along one column.
    pub(crate) fn misplaced_smooth(&self) -> Option<String> {
        let varying = self.groups.iter().flat_map(|group| &group.terms).flatten();
        if let Some(smooth) = varying.into_iter().find(|factor| factor.is_smooth()) {
            return Some(format!(
                "`{smooth}` cannot vary by group here; let it stand by itself, beside the group term"
            ));
        }
        let crossed = self.terms.iter().filter(|term| term.len() > 1).flatten();
        if let Some(smooth) = crossed.into_iter().find(|factor| factor.is_smooth()) {
            return Some(format!(
                "`{smooth}` has no interactions here; let it stand by itself, or cross a spline such as `ns({}, 4)`",
                quote_name(smooth.column())
            ));
        }
        let mut seen = HashSet::new();
        let inner = |factor: &Factor| match factor {
            Factor::Call(_, of) => of.to_string(),
            plain => plain.to_string(),
        };
        let twice = self.smooths().find(|smooth| !seen.insert(inner(smooth)));
        twice.map(|smooth| {
            format!("there is another smooth curve along the column of `{smooth}`; keep one")
        })
    }

    /// Whether a regression spline, `ns` or `bs`, is in a term or an offset.
    pub fn has_splines(&self) -> bool {
        let of_groups = self.groups.iter().flat_map(|group| &group.terms);
        let terms = self.terms.iter().chain(of_groups).flatten();
        terms.chain(&self.offsets).any(Factor::has_spline)
    }

    /// All columns named, each once: response, trials, weights, standard errors, censoring, those left out, terms, offsets, groups.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if let Some(response) = &self.response {
            names.push(&response.column);
            names.extend(response.trials.as_ref().and_then(Trials::column));
            names.extend(response.weights.as_deref());
            names.extend(response.se.as_deref());
            names.extend(response.cens.as_deref());
        }
        names.extend(self.left_out.iter().map(String::as_str));
        names.extend(self.terms.iter().flatten().map(Factor::column));
        names.extend(self.offsets.iter().map(Factor::column));
        for group in &self.groups {
            names.extend(group.terms.iter().flatten().map(Factor::column));
            names.extend(group.group.iter().map(String::as_str));
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
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
        let mut terms = TermSet::from_iter(std::mem::take(&mut self.terms));
        for group in &self.groups {
            self.intercept |= group.intercept;
            group
                .terms
                .iter()
                .for_each(|term| terms.insert(term.clone()));
        }
        self.terms = terms.into_terms();
    }

    /// Adds a term unless it is there in some order of its factors, and keeps the order by their number.
    pub fn add_term(&mut self, term: Term) {
        self.add_terms([term]);
    }

    /// Adds several terms as [`Self::add_term`] does.
    pub fn add_terms(&mut self, more: impl IntoIterator<Item = Term>) {
        let terms = std::mem::take(&mut self.terms).into_iter().chain(more);
        self.terms = TermSet::from_iter(terms).into_terms();
    }
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

/// A term as it is reported: `age:plan`.
pub fn term_label(term: &[Factor]) -> String {
    joined(term.iter().map(Factor::label))
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
        if let Some(last) = parts.last_mut() {
            let names = self.left_out.iter().map(|name| quote_name(name));
            names.for_each(|name| last.extend([" - ", &name]));
        }
        let offsets = self.offsets.iter();
        parts.extend(offsets.map(|offset| format!("offset({offset})")));
        parts.extend(self.groups.iter().map(GroupTerm::to_string));
        f.write_str(&parts.join(" + "))
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = quote_name(&self.column);
        match (&self.trials, self.function) {
            (Some(Trials::Failures(failures)), _) => {
                write!(f, "cbind({column}, {})", quote_name(failures))?;
            }
            (_, Some(function)) => write!(f, "{}({column})", function.name())?,
            (_, None) if self.ordered => write!(f, "ordered({column})")?,
            (_, None) => f.write_str(&column)?,
        }
        let mut additions = Vec::new();
        match &self.trials {
            Some(Trials::Column(name)) => additions.push(format!("trials({})", quote_name(name))),
            Some(Trials::Constant(count)) => additions.push(format!("trials({count})")),
            Some(Trials::Failures(_)) | None => {}
        }
        if let Some(weights) = &self.weights {
            additions.push(format!("weights({})", quote_name(weights)));
        }
        if let Some(se) = &self.se {
            additions.push(format!("se({})", quote_name(se)));
        }
        if let Some(cens) = &self.cens {
            additions.push(format!("cens({})", quote_name(cens)));
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
        super::formula::parser::parse(text)
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
            ("y ~ . - x - `a b` + z:w", "y ~ . + z:w - x - `a b`"),
            ("y ~ . + z - z + (1 | g)", "y ~ . - z + (1 | g)"),
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
            ("y ~ (x - 1 | g)", "y ~ 1 + (0 + x | g)"),
            ("y ~ (-1 + x | g)", "y ~ 1 + (0 + x | g)"),
            ("y ~ (1 | factor(k):h)", "y ~ 1 + (1 | k:h)"),
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
            (
                "y ~ s(x,k=10) + s( log(z), k = 5 ) + s + (1 | g)",
                "y ~ s(x) + s(log(z), k = 5) + s + (1 | g)",
            ),
            ("y ~ s(x, 7) + z*w - z", "y ~ s(x, k = 7) + w + z:w"),
            ("y ~ x + (log(x) || g)", "y ~ x + (1 + log(x) || g)"),
            ("~x+z", "~ x + z"),
            ("y ~ (a + b + c)^2", "y ~ a + b + c + a:b + a:c + b:c"),
            ("y ~ (a + b)^3 - a:b", "y ~ a + b"),
            ("y ~ a/b + c %in% a", "y ~ a + a:b + c:a"),
            ("y ~ (a + b)/c", "y ~ a + b + a:b:c"),
            (
                "y ~ factor(x) + as.factor(`a b`):z + C(g)",
                "y ~ factor(x) + factor(g) + factor(`a b`):z",
            ),
            (
                "y ~ I(x>2) + I( x == -1.5e-3 ) + I(2 <= x) + I(2*x) + I(x/10)",
                "y ~ I(x > 2) + I(x == -0.0015) + I(x >= 2) + I(x * 2) + I(x/10)",
            ),
            (
                "y ~ log(I(x + 1)) + I(I(x - 2) / 10)",
                "y ~ log(I(x + 1)) + I(I(x - 2)/10)",
            ),
            ("log(y) ~ x", "log(y) ~ x"),
            (
                "sqrt( `a b` ) | weights(w) ~ .",
                "sqrt(`a b`) | weights(w) ~ .",
            ),
            ("cbind(r, s) ~ x", "cbind(r, s) ~ x"),
            (
                "cbind(r, n - r) | weights(w) ~ x",
                "r | trials(n) + weights(w) ~ x",
            ),
            ("cbind(r, 9-r) ~ x", "r | trials(9) ~ x"),
            ("r/n ~ x", "r | trials(n) ~ x"),
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
            ("y ~ sin(x)", 5, "the function `sin()` is not known here"),
            ("y ~ log(x", 10, "expected `,` or `)`"),
            ("y ~ log(x, 2)", 12, "`log()` takes only a column"),
            ("y ~ log(x:z)", 10, "expected `,` or `)`"),
            ("y ~ ns(x)", 5, "needs df"),
            ("y ~ z + ns(x, 0)", 15, "df must be a whole number from 1"),
            ("y ~ ns(x, knots = 3)", 11, "`knots` has no meaning here"),
            ("y ~ bs(x, 2)", 11, "df must be a whole number from 3"),
            ("y ~ bs(x, 4, 5)", 14, "`5` has no meaning here"),
            ("y ~ poly(x, 2, raw = 1)", 16, "raw must be TRUE or FALSE"),
            ("y ~ I(x)", 8, "and a number"),
            ("y ~ I(x^0)", 9, "the power must be a whole number from 1"),
            ("y ~ log(ns(x, 3))", 9, "one column"),
            ("y ~ x + offset(ns(x, 2))", 16, "one column"),
            ("y ~ x + log(y)", 15, "also a predictor"),
            ("y ~ sni(x)", 5, "add a column"),
            ("y ~ logg(x)", 5, "did you mean `log()`?"),
            ("y ~ faktor(x)", 5, "did you mean `factor()`?"),
            ("y ~ lo(x)", 5, "smooth curves are `s(x)`, `ns(x, 4)`"),
            ("y ~ log(x, base = 2)", 12, "`log2()`"),
            ("y ~ log(x + 1)", 11, "is `log1p(x)`"),
            ("y ~ log(x / 2)", 11, "`log(I(x / 2))`"),
            ("y ~ factor(x, levels = 3)", 13, "`model.reference.x`"),
            ("y ~ log(factor(x))", 9, "gives categories"),
            (
                "y ~ I(x > z)",
                11,
                "expected a number, found `z`; other calculations",
            ),
            ("y ~ I(x * z)", 11, "their interaction, `x:z`"),
            ("y ~ relevel(g, ref = 'b')", 5, "`model.reference.NAME`"),
            ("y ~ 'b'", 5, "quotation marks"),
            ("y ~ \"b", 5, "never closed"),
            ("y == \"b\" ~ x", 3, "`model.success`"),
            ("y ~ x | g", 7, "`y ~ x + (1 | g)`"),
            ("lm(y ~ x)", 1, "write the formula alone"),
            ("y ~ I(x > 2 & z > 2)", 13, "one column with one number"),
            ("y ~ I(x > 2 + 1)", 13, "one operator"),
            ("y ~ I(x = 2)", 9, "`==`"),
            ("y ~ I(1 / x)", 9, "a column must stand first"),
            ("y ~ I(x / 0)", 9, "divided by 0"),
            ("y ~ I(g == \"a\")", 12, "quotation marks"),
            ("exp(y) ~ x", 1, "no way back"),
            ("poly(y, 2) ~ x", 1, "no way back"),
            ("factor(y) ~ x", 1, "`model.categorical`"),
            ("scale(y) ~ x", 1, "leave it out"),
            ("sin(y) ~ x", 1, "outcomes can be `log(y)`"),
            ("logg(y) ~ x", 1, "did you mean `log()`?"),
            ("log(y + 1) ~ x", 7, "is `log1p(y)`"),
            ("log(sqrt(y)) ~ x", 5, "no other function"),
            ("log(y) | trials(n) ~ x", 10, "not a number of successes"),
            ("log(t) | cens(s) ~ x", 10, "family `lognormal`"),
            ("t | cens(s) + cens(r) ~ x", 15, "each once"),
            ("Surv(t, s) ~ x", 1, "`t | cens(s)`"),
            ("y + z ~ x", 3, "`+` has no meaning here"),
            ("y > 2 ~ x", 3, "`>` has no meaning here"),
            ("r/n | weights(n) ~ x", 5, "the number of trials already"),
            ("cbind(r) ~ x", 8, "the successes and the failures"),
            ("cbind(r, s, t) ~ x", 11, "the successes and the failures"),
            ("cbind(r, n - s) ~ x", 14, "the failures here"),
            (
                "cbind(r, s) ~ x + s",
                20,
                "the outcome `s` is also a predictor",
            ),
            ("y ~ (x)^2", 8, "write `I(x^2)`"),
            ("y ~ (a + b)^0", 13, "from 1 to 20"),
            ("y ~ `x", 5, "never closed"),
            ("y ~ x^2", 6, "write `I(x^2)`"),
            ("y ~ (1 | g", 11, "expected `)`"),
            ("y ~ 2", 5, "expected a column name, `0` or `1`, found `2`"),
            (
                "y | trial(n) ~ x",
                5,
                "expected `trials(…)`, `weights(…)`, `se(…)` or `cens(…)`",
            ),
            ("y | trials(0) ~ x", 12, "at least 1"),
            ("y ~ 0", 6, "nothing is left"),
            (
                "y ~ s(x, k = 2)",
                10,
                "k must be a whole number from 3 to 100",
            ),
            ("y ~ s(x, k = many)", 10, "k must be a whole number"),
            (
                "y ~ s(x, z)",
                10,
                "a curve along one column here, so `z` needs one of its own, `s(z)`",
            ),
            ("y ~ s(x, by = f)", 10, "no argument `by` here"),
            ("y ~ s(x):f", 11, "`s(x)` has no interactions here"),
            ("y ~ s(x)*f", 11, "cross a spline such as `ns(x, 4)`"),
            ("y ~ x + (s(x) | g)", 19, "cannot vary by group here"),
            (
                "y ~ (1 - x | g)",
                10,
                "expected `1`, which alone can be taken out",
            ),
            ("y ~ (x - 0 | g)", 10, "expected a column name, `0` or `1`"),
            ("y ~ (1 | i | g)", 12, "leave the name out, as in `(1 | g)`"),
            ("y ~ (1 | gr(g))", 10, "`gr()` is of brms"),
            (
                "y ~ s(x) + s(x, k = 5)",
                23,
                "another smooth curve along the column",
            ),
            ("y ~ log(s(x))", 9, "gives 9 columns"),
            ("y ~ offset(s(x))", 12, "gives 9 columns"),
            ("y ~ te(x)", 5, "smooth curves are `s(x)`"),
            ("y ~ . - x:z", 9, "only columns can be taken out of `.`"),
            ("y ~ x + y", 10, "also a predictor"),
            ("", 1, "expected the outcome"),
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
    fn splines_are_found_wherever_they_stand() {
        let has = |text: &str| text.parse::<Formula>().unwrap().has_splines();
        assert!(has("y ~ z + ns(x, 3)") && has("y ~ z + (1 + bs(x, 4) | g)"));
        assert!(!has("t | cens(cens) ~ x + poly(z, 2)"));
    }

    #[test]
    fn all_columns_are_listed_once() {
        let formula: Formula = "r | trials(n) + weights(w) ~ a*b + offset(log(e)) + (1 + a | g)"
            .parse()
            .unwrap();
        assert_eq!(formula.columns(), ["r", "n", "w", "a", "b", "e", "g"]);
    }
}
