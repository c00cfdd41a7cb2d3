//! What is told of the prior of a reported quantity: the prior itself, and where it comes from. Both are written as text and read from it
//! without loss, which run folders need.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::prior::Prior;

/// How a flat prior is written.
const FLAT: &str = "flat";

/// The prior of a reported quantity, on the scale that [`PriorSource`] names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PriorOf {
    /// The same everywhere.
    Flat,
    /// A distribution in Stan's notation, such as `normal(0, 10)`, `lkj(2)` or `normal(0, sd[g,Intercept])`.
    Distribution(String),
    /// No distribution of its own: what the prior follows from, in words; nothing where the quantity is no parameter.
    Follows(Cow<'static, str>),
}

impl PriorOf {
    /// No prior: the quantity is no parameter.
    pub const NONE: Self = Self::Follows(Cow::Borrowed(""));

    /// The prior as it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Flat => FLAT,
            Self::Distribution(text) => text,
            Self::Follows(words) => words,
        }
    }
}

impl fmt::Display for PriorOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<String> for PriorOf {
    fn from(text: String) -> Self {
        match text {
            flat if flat == FLAT => Self::Flat,
            text if text.contains('(') => Self::Distribution(text),
            words => Self::Follows(words.into()),
        }
    }
}

impl From<&str> for PriorOf {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Prior> for PriorOf {
    fn from(prior: Prior) -> Self {
        prior.to_string().into()
    }
}

impl From<PriorOf> for String {
    fn from(prior: PriorOf) -> Self {
        prior.to_string()
    }
}

/// Who chose a prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Nobody: it holds where none is set.
    Default,
    /// The user, by name or by a setting.
    User,
    /// The model, of which it is a part.
    Model,
}

/// Where a prior comes from, and for which scale it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct PriorSource {
    /// Who chose the prior.
    pub by: ChosenBy,
    /// The same in words.
    words: Cow<'static, str>,
    /// Where and in which unit the prior holds, such as "per standard deviation"; empty where nothing is said of that.
    pub place: String,
}

impl PriorSource {
    /// A prior of a model's user.
    pub const USER: Self = Self::new(ChosenBy::User, "set by you");
    /// A prior that holds where the user sets none.
    pub const DEFAULT: Self = Self::by_default("default");
    /// A prior that belongs to the model.
    pub const MODEL: Self = Self::new(ChosenBy::Model, "part of the model");

    /// A default in words, which name it so.
    pub const fn by_default(words: &'static str) -> Self {
        Self::new(ChosenBy::Default, words)
    }

    /// A source in words that begin with "set by" for the user and contain "default" for a default, by which they are read.
    pub const fn new(by: ChosenBy, words: &'static str) -> Self {
        Self {
            by,
            words: Cow::Borrowed(words),
            place: String::new(),
        }
    }

    /// The source of a prior that holds at `place`.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        let place = place.into();
        Self { place, ..self }
    }

    /// The source with a remark in parentheses or behind a semicolon.
    #[must_use]
    pub fn remarked(self, remark: &str) -> Self {
        let words = format!("{}{remark}", self.words).into();
        Self { words, ..self }
    }
}

impl fmt::Display for PriorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, place, .. } = self;
        match place.as_str() {
            "" => write!(f, "{words}"),
            place => write!(f, "{words}, {place}"),
        }
    }
}

impl From<String> for PriorSource {
    fn from(text: String) -> Self {
        // A comma inside parentheses belongs to a distribution: "default; alone it is beta(0.1, 1.5)".
        let (words, place) = (text.split_once(", "))
            .filter(|(words, place)| !words.contains('(') && !place.is_empty())
            .unwrap_or((&text, ""));
        let by = match words {
            set if set.starts_with("set by") => ChosenBy::User,
            default if default.contains("default") => ChosenBy::Default,
            _ => ChosenBy::Model,
        };
        Self {
            by,
            words: words.to_owned().into(),
            place: place.to_owned(),
        }
    }
}

impl From<&str> for PriorSource {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<PriorSource> for String {
    fn from(source: PriorSource) -> Self {
        source.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_and_their_sources_are_read_as_they_were_written() {
        for text in [
            "flat",
            "normal(0, Sigma/0.16)",
            "by alpha",
            "",
            "by (",
            "a, ",
        ] {
            assert_eq!(PriorOf::from(text).to_string(), text);
            assert_eq!(PriorSource::from(text).to_string(), text);
        }
        assert_eq!(PriorOf::from(""), PriorOf::NONE);
        assert_eq!(PriorOf::from(Prior::Flat), PriorOf::Flat);
        let alone = "; alone it is beta(0.1, 1.5)";
        for source in [
            PriorSource::DEFAULT.at("at average predictors, in sd of `y`"),
            PriorSource::USER,
            PriorSource::MODEL,
            PriorSource::USER.remarked(alone),
            PriorSource::DEFAULT.remarked(alone),
        ] {
            let read = PriorSource::from(String::from(source.clone()));
            assert_eq!(read, source);
        }
        assert_eq!(PriorSource::from("implied: beta(0.1, 1.5)").place, "");
    }

    #[test]
    fn defaults_are_read_as_such() {
        for defaults in super::super::DefaultPriors::ALL {
            let text = defaults.source().to_string();
            assert_eq!(PriorSource::from(text), defaults.source());
        }
    }
}
