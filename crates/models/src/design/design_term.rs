//! A column of a design: what it is called, and which columns and functions of the data it is made of.

use crate::formula::{Factor, Term};
use ergodic_base::INTERCEPT;

/// What a coefficient belongs to: a product of factors, or the intercept, which has none. It reads as its name, which no other
/// column of its design has.
#[derive(Clone, Debug)]
pub struct DesignTerm {
    name: String,
    parts: Vec<TermPart>,
}

/// One factor of a term, or one of the columns that the factor gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermPart {
    /// A column of the data, or a function of one.
    pub factor: Factor,
    /// The category in whose rows the column is 1; elsewhere it is 0.
    pub level: Option<String>,
    /// Which of the columns of a function that gives several, from 1.
    pub number: Option<usize>,
}

impl TermPart {
    pub(crate) fn label(&self, quoted: bool) -> String {
        let mut text = self.factor.label();
        // A column of the data that is called as the intercept is written in backticks.
        if quoted || text == INTERCEPT {
            text = match &self.factor {
                Factor::Column(name) | Factor::Category(name) => in_backticks(name),
                Factor::Call(..) => self.factor.to_string(),
            };
        }
        if let Some(number) = self.number {
            text.push_str(&number.to_string());
        }
        match &self.level {
            Some(level) if quoted => format!("{text}={}", in_backticks(level)),
            Some(level) => format!("{text}={level}"),
            None => text,
        }
    }
}

/// `text` in backticks, which nothing in it ends.
pub(crate) fn in_backticks(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

impl DesignTerm {
    /// The intercept.
    pub fn intercept() -> Self {
        Self::of(Vec::new())
    }

    pub(crate) fn of(parts: Vec<TermPart>) -> Self {
        let name = named(&parts, false);
        Self { name, parts }
    }

    /// The product of two terms.
    pub(crate) fn times(&self, other: &Self) -> Self {
        Self::of([self.parts.as_slice(), &other.parts].concat())
    }

    /// The term with another name.
    pub(crate) fn called(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// The term's name with all that could be misread in backticks.
    pub(crate) fn quoted(&self) -> String {
        named(&self.parts, true)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The columns of the data, and functions of them, that are multiplied; none for the intercept.
    pub fn factors(&self) -> Term {
        self.parts.iter().map(|part| part.factor.clone()).collect()
    }

    /// What is multiplied; nothing for the intercept.
    pub(crate) fn parts(&self) -> &[TermPart] {
        &self.parts
    }

    /// The column of the data that this is as it is: no function, category or product.
    pub(crate) fn plain_column(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [
                TermPart {
                    factor: Factor::Column(name),
                    level: None,
                    ..
                },
            ] => Some(name),
            _ => None,
        }
    }

    /// The column and the category that this stands for alone.
    pub fn category(&self) -> Option<(&str, &str)> {
        match self.parts.as_slice() {
            [part] => Some((part.factor.column(), part.level.as_deref()?)),
            _ => None,
        }
    }

    /// The smooth curve whose bending this column is a part of, and its number there, from 1.
    pub fn bend(&self) -> Option<(&Factor, usize)> {
        match self.parts.as_slice() {
            [part] if part.factor.is_smooth() => Some((&part.factor, part.number?)),
            _ => None,
        }
    }

    /// Whether a category is among what is multiplied.
    pub(crate) fn has_category(&self) -> bool {
        self.parts.iter().any(|part| part.level.is_some())
    }
}

fn named(parts: &[TermPart], quoted: bool) -> String {
    if parts.is_empty() {
        return INTERCEPT.to_owned();
    }
    let labels: Vec<String> = parts.iter().map(|part| part.label(quoted)).collect();
    labels.join(":")
}

impl From<&str> for DesignTerm {
    /// A column of the data as it is, or the intercept by its name.
    fn from(name: &str) -> Self {
        if name == INTERCEPT {
            return Self::intercept();
        }
        Self::of(vec![TermPart {
            factor: Factor::Column(name.to_owned()),
            level: None,
            number: None,
        }])
    }
}

impl From<String> for DesignTerm {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<&DesignTerm> for String {
    fn from(term: &DesignTerm) -> Self {
        term.name.clone()
    }
}

ergodic_base::reads_as_text!(DesignTerm);
