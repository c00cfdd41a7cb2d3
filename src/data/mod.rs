//! Tables, column roles, formulas and designs: from a file to the plain matrix that models read.
//!
//! `load` reads a file into a [`table::Table`] and says what it guessed; `profile` describes columns;
//! `formula` and `roles` say which column does what; `design` makes the matrix; `checks` looks at it before a
//! run; `samples` holds the bundled data sets. Nothing above this layer but `export` knows polars.
//!
//! ```
//! use ergodic::data::{Design, ImportOptions, LoadControl, ModelFrame, checks, samples};
//!
//! let loaded = samples::load_source("sample:churn", &ImportOptions::default(), &LoadControl::default())?;
//! let frame = ModelFrame::new("churned ~ age + plan".parse()?);
//! let (design, _) = Design::build(&loaded.table, &frame)?;
//! assert_eq!(design.terms, ["Intercept", "age", "plan=plus", "plan=pro"]);
//! assert_eq!(design.response.sentence(), "success = yes, 293 of 1000");
//! assert!(checks::check(&design).warnings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounded;
mod call_hints;
pub mod checks;
mod codes;
pub mod coding;
pub mod design;
mod encoding;
pub mod error;
pub mod exact_fit;
pub mod factor;
pub mod formula;
mod formula_parser;
mod formula_response;
mod formula_tokens;
mod frame;
pub mod load;
mod many_levels;
mod parquet;
mod parse;
pub mod profile;
pub mod ragged;
pub mod rare;
pub mod response;
mod response_columns;
mod role_checks;
pub mod roles;
pub mod samples;
pub mod scaling;
mod scan;
mod separation;
pub mod sniff;
pub mod spanned;
pub mod spline;
mod split;
pub mod suggest;
pub mod synthetic;
pub mod table;
pub(crate) mod term_set;
pub mod terms;
pub mod transform;
mod values;

pub use design::{Design, GroupFactor, ModelFrame, Scaling};
pub use error::DataError;
pub use formula::Formula;
pub use load::{LoadControl, Loaded, load};
pub use response::ResponseInfo;
pub use roles::{Role, Roles};
pub use sniff::{ColumnKindOverride, Guesses, ImportOptions};
pub use table::{ColumnInfo, ColumnKind, Table};
