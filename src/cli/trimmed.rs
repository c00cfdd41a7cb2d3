//! Names in lists, with the blanks that people write after commas.

use std::ffi::{OsStr, OsString};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// Reads a word without the blanks around it as another parser does.
#[derive(Clone)]
pub struct Trimmed<P>(pub P);

/// Reads one of several names.
pub fn name() -> Trimmed<StringValueParser> {
    Trimmed(StringValueParser::new())
}

impl<P: TypedValueParser> TypedValueParser for Trimmed<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let trimmed = value.to_str().map(|text| OsString::from(text.trim()));
        self.0
            .parse_ref(command, arg, trimmed.as_deref().unwrap_or(value))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}
