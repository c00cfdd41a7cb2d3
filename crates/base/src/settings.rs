//! Settings of models and samplers: described once as [`Field`]s, from which the window's form, the command
//! line's `--set`, the recipe file and the reference pages are made.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

mod declared;
mod read;
mod section;

pub use declared::{Declared, Setting};
#[doc(hidden)]
pub use declared::{Joined, declare};
#[doc(hidden)]
pub use section::is_default;
pub use section::{Entry, Numbers, Section};

/// What values a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number in `min..=max`.
    Int {
        /// Smallest allowed value.
        min: i64,
        /// Largest allowed value.
        max: i64,
    },
    /// A number in `min..=max`.
    Real {
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value.
        max: f64,
    },
    /// A whole number of rows, or below 1 a share of all rows.
    Rows,
    /// One of the listed words.
    Choice(&'static [&'static str]),
    /// One of the words, or a text in a notation that the owner reads.
    Text {
        /// Words with a meaning of their own.
        words: &'static [&'static str],
        /// A text in the notation.
        example: &'static str,
    },
    /// Yes or no.
    Bool,
}

/// More rows than any table has.
const MOST_ROWS: i64 = 1_000_000_000;

/// What is allowed, in words: `whole number, 1 to 10`, `iid | blocks`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { min, max } => write!(f, "whole number, {min} to {max}"),
            Self::Real { min, max } => write!(f, "number, {} to {}", bound(*min), bound(*max)),
            Self::Rows => f.write_str("whole number of rows, or a share below 1"),
            Self::Choice(words) => f.write_str(&words.join(" | ")),
            Self::Text { words, example } => {
                for word in *words {
                    write!(f, "{word} | ")?;
                }
                write!(f, "a text such as {example}")
            }
            Self::Bool => f.write_str("true | false"),
        }
    }
}

/// A bound of a range, with an exponent where zeros would have to be counted.
fn bound(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() > 7 {
        format!("{value:e}")
    } else {
        plain
    }
}

/// One setting: its key, meaning, allowed values, and default with the reason for it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Key in recipes and after `--set`, such as `sampler.step_size`; here without the prefix.
    pub key: &'static str,
    /// Words for the form.
    pub label: &'static str,
    /// What the setting does, its unit, its symbol in the source.
    pub help: &'static str,
    /// Allowed values.
    pub kind: Kind,
    /// `None`: chosen by the sampler itself ("auto").
    pub default: Option<Default>,
    /// Why this default.
    pub why: &'static str,
    /// Another setting of the same owner and its words under which this one means something; `None`: it always does.
    pub when: Option<(&'static str, &'static [&'static str])>,
    /// Words that are codes, and what people say instead.
    pub said: &'static [(&'static str, &'static str)],
}

/// A default value of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// Whole number.
    Int(i64),
    /// Number.
    Real(f64),
    /// Word.
    Text(&'static str),
    /// Yes or no.
    Bool(bool),
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Default> for Value {
    fn from(default: Default) -> Self {
        match default {
            Default::Int(value) => Self::Int(value),
            Default::Real(value) => Self::Real(value),
            Default::Text(value) => Self::Text(value.to_owned()),
            Default::Bool(value) => Self::Bool(value),
        }
    }
}

/// A value as written in a recipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// Whole number.
    Int(i64),
    /// Number.
    Real(f64),
    /// Text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Real(v) => write!(f, "{v}"),
            Self::Text(v) => write!(f, "{v}"),
        }
    }
}

impl Value {
    /// Reads a value typed by a user: a whole number, a number, `true`/`false`, otherwise text.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Ok(v) = text.parse::<i64>() {
            return Self::Int(v);
        }
        if let Ok(v) = text.parse::<f64>() {
            return Self::Real(v);
        }
        match text {
            "true" => Self::Bool(true),
            "false" => Self::Bool(false),
            _ => Self::Text(text.trim_matches('"').to_owned()),
        }
    }
}

/// Why a setting was refused: the sentence names the setting and what it takes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// No setting of this name.
    #[error("{owner} has no setting `{key}`; it has {known}")]
    Unknown {
        /// Who has the settings, as a sentence begins: "Sampler `sgld`".
        owner: String,
        /// Key that was written.
        key: String,
        /// The settings that there are.
        known: String,
    },
    /// A value of another type, or out of range.
    #[error("Setting `{key}` takes {takes}, not `{value}`")]
    Value {
        /// Name of the setting.
        key: String,
        /// What the setting takes.
        takes: String,
        /// Value that was written.
        value: String,
    },
    /// A step with which a chain leaves for infinity, or is noisier than its friction can take.
    #[error("Setting `step_size` must be below {limit} {why}; {given} was given")]
    StepTooLong {
        /// Steps must be shorter.
        limit: f64,
        /// Step that was written.
        given: f64,
        /// With what, and what would happen.
        why: String,
    },
    /// Values that follow from the posterior's mode, which was not found.
    #[error("Sampler `{sampler}` needs the posterior mode, and none was found; {instead}")]
    NoMode {
        /// Id of the sampler.
        sampler: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// A value that does not go with the model, or with another setting.
    #[error("Setting `{key}` {why}")]
    Unfit {
        /// Name of the setting.
        key: &'static str,
        /// What is in the way and what to do, after the name.
        why: String,
    },
}

impl SettingError {
    /// [`Self::Unfit`] of setting `key`.
    pub fn unfit(key: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Unfit { key, why }
    }

    /// [`Self::NoMode`] of the sampler whose id is `sampler`.
    pub const fn no_mode(sampler: &'static str, instead: &'static str) -> Self {
        Self::NoMode { sampler, instead }
    }
}

/// User-given values, checked against fields when they are read. Absent means the default.
#[derive(Clone, Debug, std::default::Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Sets `key`.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// Forgets `key`, so that its default holds.
    pub fn unset(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// The value the user gave, if any.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Keys and values in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Whether nothing was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses keys that are not among `fields` and values a field does not take. `owner` is who has the
    /// fields, for the sentence: "sampler `sgld`".
    pub fn check(&self, owner: &str, fields: &[Field]) -> Result<(), SettingError> {
        for (key, value) in &self.0 {
            let Some(field) = fields.iter().find(|field| field.key == key) else {
                let known: Vec<&str> = fields.iter().map(|field| field.key).collect();
                return Err(SettingError::Unknown {
                    owner: owner.to_owned(),
                    key: key.clone(),
                    known: match known.is_empty() {
                        true => "none".to_owned(),
                        false => known.join(", "),
                    },
                });
            };
            field.accepts(value)?;
        }
        Ok(())
    }

    /// The whole number set for `key`; `None` if it is absent. Call [`Self::check`] first.
    pub fn int(&self, key: &str) -> Option<i64> {
        match self.0.get(key)? {
            Value::Int(v) => Some(*v),
            Value::Real(v) if v.fract() == 0.0 => Some(*v as i64),
            _ => None,
        }
    }

    /// The number set for `key`; `None` if it is absent.
    pub fn real(&self, key: &str) -> Option<f64> {
        match self.0.get(key)? {
            Value::Int(v) => Some(*v as f64),
            Value::Real(v) => Some(*v),
            _ => None,
        }
    }

    /// The word set for `key`; `None` if it is absent.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Value::Text(v) => Some(v),
            _ => None,
        }
    }

    /// The yes or no set for `key`; `None` if it is absent.
    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Value::Bool(v) => Some(*v),
            _ => None,
        }
    }
}

impl Field {
    /// Whether the setting means something under `settings`, whose owner has `fields`; or has a value there, which must stay in sight.
    pub fn is_shown(&self, settings: &Settings, fields: &[Self]) -> bool {
        let Some((key, words)) = self.when else {
            return true;
        };
        let default = || match fields.iter().find(|field| field.key == key)?.default? {
            Default::Text(word) => Some(word),
            _ => None,
        };
        let word = settings.text(key).or_else(default);
        settings.get(self.key).is_some() || word.is_some_and(|word| words.contains(&word))
    }

    /// Whether `value` is what the setting has where nobody names one.
    pub fn is_default(&self, value: &Value) -> bool {
        match self.default {
            None => *value == Value::from("auto"),
            Some(default) => *value == Value::from(default),
        }
    }

    /// What people say instead of `word`.
    pub fn say<'a>(&self, word: &'a str) -> &'a str {
        let said = self.said.iter().find(|(code, _)| *code == word);
        said.map_or(word, |(_, said)| said)
    }

    /// The default as a user would type it.
    pub fn default_text(&self) -> String {
        match self.default {
            None => "auto".to_owned(),
            Some(value) => Value::from(value).to_string(),
        }
    }

    /// Refuses a value that the field does not take, naming what it takes.
    pub fn accepts(&self, value: &Value) -> Result<(), SettingError> {
        // "auto" gives the choice back to the sampler for every field that has no fixed default.
        if self.default.is_none() && *value == Value::Text("auto".to_owned()) {
            return Ok(());
        }
        let fits = match (self.kind, value) {
            (Kind::Int { min, max }, Value::Int(v)) => (min..=max).contains(v),
            (Kind::Int { min, max }, Value::Real(v)) => {
                v.fract() == 0.0 && *v >= min as f64 && *v <= max as f64
            }
            (Kind::Real { min, max }, Value::Int(v)) => (min..=max).contains(&(*v as f64)),
            (Kind::Real { min, max }, Value::Real(v)) => (min..=max).contains(v),
            (Kind::Rows, Value::Int(v)) => (1..=MOST_ROWS).contains(v),
            (Kind::Rows, Value::Real(v)) => {
                *v > 0.0 && (*v < 1.0 || (v.fract() == 0.0 && *v <= MOST_ROWS as f64))
            }
            (Kind::Choice(words), Value::Text(v)) => words.contains(&v.as_str()),
            (Kind::Bool, Value::Bool(_)) => true,
            // Its owner reads it; one number, as in a list of one, is a text without quotes.
            (Kind::Text { .. }, Value::Text(_) | Value::Int(_)) => true,
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(self.refuses(value))
        }
    }

    /// What the field takes, instead of `value`.
    fn refuses(&self, value: &Value) -> SettingError {
        let takes = match self.kind {
            Kind::Int { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Real { min, max } => format!("a number from {min} to {max}"),
            Kind::Rows => "a whole number of rows, or a share of all rows below 1".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text { words, example } => {
                format!("{}, or a text such as `{example}`", words.join(", "))
            }
            Kind::Bool => "true or false".to_owned(),
        };
        SettingError::Value {
            key: self.key.to_owned(),
            takes,
            value: value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[
        Field {
            key: "batch",
            label: "Batch",
            help: "",
            kind: Kind::Int { min: 1, max: 10 },
            default: None,
            why: "",
            when: None,
            said: &[],
        },
        Field {
            key: "scheme",
            label: "Scheme",
            help: "",
            kind: Kind::Choice(&["iid", "blocks"]),
            default: Some(Default::Text("iid")),
            why: "",
            when: None,
            said: &[],
        },
    ];

    #[test]
    fn values_out_of_range_and_unknown_keys_are_refused_by_name() {
        let mut settings = Settings::default();
        settings.set("batch", Value::Int(11));
        let refused = |settings: &Settings| {
            let error = settings.check("sampler `x`", FIELDS).unwrap_err();
            error.to_string()
        };
        assert!(refused(&settings).contains("from 1 to 10"));
        settings.set("batch", Value::Text("auto".into()));
        assert!(settings.check("sampler `x`", FIELDS).is_ok());
        settings.set("bacth", Value::Int(1));
        assert!(refused(&settings).contains("bacth"));
    }

    #[test]
    fn typed_text_becomes_the_narrowest_value() {
        assert_eq!(Value::parse("12"), Value::Int(12));
        assert_eq!(Value::parse("1e-3"), Value::Real(1e-3));
        assert_eq!(Value::parse("true"), Value::Bool(true));
        assert_eq!(Value::parse("iid"), Value::Text("iid".into()));
    }
}
