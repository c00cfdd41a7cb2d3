//! Tables and column roles: from a file to the columns that designs are made of.
//!
//! [`load()`] reads a file into a [`Table`] and says what it guessed; [`profile()`] describes columns; [`Roles`] say which column
//! does what; [`samples`] holds the bundled data sets, [`PUBLIC_SETS`] a list of others.
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

mod bounded;
mod encoding;
mod error;
mod libsvm;
mod load;
pub mod nothing;
mod packed;
mod parquet;
mod parse;
mod profile;
mod public;
mod ragged;
mod remark;
mod role_checks;
mod roles;
pub mod samples;
mod scan;
mod sniff;
mod split;
pub mod suggest;
pub mod synthetic;
mod table;
mod values;

pub use bounded::{Bounded, read_text};
pub use ergodic_base::Control;
pub use error::DataError;
pub use load::{Loaded, load, load_bytes, preview};
pub use profile::{Histogram, NumberSummary, Profile, ProfileKind, profile};
pub use public::{PUBLIC_SETS, PublicSet};
pub use ragged::{Excerpt, RaggedLines, RaggedRows};
pub use remark::Remark;
pub use roles::{Conversion, Refusal, Role, Roles, check_role, expand_dot, keep_top};
pub use sniff::{ColumnKindOverride, Guess, Guesses, ImportOptions};
pub use table::Table;
