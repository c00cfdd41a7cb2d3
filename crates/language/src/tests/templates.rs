//! The templates written in the language.
