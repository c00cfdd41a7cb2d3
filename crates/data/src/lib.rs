//! Tables and column roles: from a file to the columns that designs are made of.
//!
//! [`load`] reads a file into a [`table::Table`] and says what it guessed; [`profile`] describes columns; [`roles`] says which column
//! does what; [`samples`] holds the bundled data sets, [`public`] a list of others.
//!
//! ```
//! use ergodic_core::design::{Design, ModelFrame, checks};
//! use ergodic_data::{Control, ImportOptions, samples};
//!
//! let loaded = samples::load_source("sample:churn", &ImportOptions::default(), &Control::default())?;
//! let frame = ModelFrame::new("churned ~ age + plan".parse()?);
//! let (design, _) = Design::build(&loaded.table, &frame)?;
//! assert_eq!(design.terms, ["Intercept", "age", "plan=plus", "plan=pro"]);
//! assert_eq!(design.response.sentence(), "success = yes, 293 of 1\u{202f}000");
//! assert!(checks::check(&design).warnings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounded;
mod encoding;
mod error;
mod libsvm;
pub mod load;
pub mod nothing;
mod packed;
mod parquet;
mod parse;
pub mod profile;
pub mod public;
pub mod ragged;
mod remark;
mod role_checks;
pub mod roles;
pub mod samples;
mod scan;
pub mod sniff;
mod split;
pub mod suggest;
pub mod synthetic;
pub mod table;
mod values;

pub use ergodic_base::control::Control;
pub use error::DataError;
pub use load::{Loaded, load};
pub use remark::Remark;
pub use roles::{Role, Roles};
pub use sniff::{ColumnKindOverride, Guesses, ImportOptions};
pub use table::Table;
