//! Designs: from columns in memory and a formula to the plain matrix that models read.
//!
//! ```
//! use ergodic_models::design::{Design, MemoryColumns, ModelFrame, Values, checks};
//!
//! let columns = MemoryColumns::new(
//!     "visits",
//!     vec![
//!         ("churned".to_owned(), Values::Numbers(vec![0.0, 1.0, 1.0, 0.0])),
//!         ("age".to_owned(), Values::Numbers(vec![31.0, 40.0, 52.0, 28.0])),
//!     ],
//! )?;
//! let (design, _) = Design::build(&columns, &ModelFrame::new("churned ~ age".parse()?))?;
//! assert_eq!(design.terms, ["Intercept", "age"]);
//! // Four rows are few for two coefficients, and the checks say so.
//! assert_eq!(checks::check(&design).warnings.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
pub mod censoring;
pub mod checks;
mod codes;
mod coding;
mod columns;
mod confounding;
pub(crate) mod design_term;
mod error;
mod exact_fit;
pub mod lump_levels;
mod many_levels;
mod matrix;
mod model_frame;
mod observation;
pub mod ordered_levels;
mod rating;
mod remark;
mod response;
mod response_columns;
mod scaling;
mod separation;
pub(crate) mod smooth;
pub(crate) mod spline;
pub mod terms;
pub(crate) mod transform;

pub use coding::{
    CodedColumn, Coding, ComparedRows, GroupColumn, NewGroups, NewRows, UnknownGroups,
    UnknownLevels,
};
pub use columns::{ColumnInfo, ColumnKind, Columns, Labels, MemoryColumns, Values};
pub use confounding::{Direction, GroupColumns, directions};
pub use design_term::DesignTerm;
pub use error::{
    BadLevel, BadNumber, BadRows, DesignError, LevelCount, Misplaced, NotNumbers, NumberAt, Place,
    TooLarge, Unmade, Unvarying, name_hint,
};
pub use matrix::{Design, GroupDesign, GroupFactor, ModelFrame, Predictor, Scaling};
pub use observation::{ObservationModel, ObservationRows, ReadError};
pub use rating::is_rating;
pub use remark::Remark;
pub use response::{
    MAX_CATEGORIES, MAX_LEVELS, OutcomeLevels, ResponseInfo, ResponseKind, ResponseUse,
    first_levels, fits,
};
pub use transform::Transform;
