//! The data of models that need none: `sample:none`.

use super::error::DataError;
use super::load::Loaded;
use super::samples::PREFIX;
use super::sniff::Guesses;
use super::table::{Table, TypedColumn, hex_sha256};
use ergodic_base::Reporter;
use ergodic_core::design::{ColumnKind, Values};

/// Name of the data set, after `sample:`.
pub const ID: &str = "none";

/// A table of one row whose only column says that it is the first: what takes a table has one, and no model can learn from it.
///
/// # Errors
/// None: a table of one row can be made.
pub fn load() -> Result<Loaded, DataError> {
    let column = TypedColumn {
        name: "row".to_owned(),
        kind: ColumnKind::Number,
        reason: "made of numbers".to_owned(),
        values: Values::Numbers(vec![1.0]),
    };
    let fingerprint = hex_sha256(ID.as_bytes());
    Ok(Loaded {
        table: Table::assemble(
            "no data",
            &format!("{PREFIX}{ID}"),
            fingerprint,
            vec![column],
            None,
        )?,
        guesses: Guesses::typed_file("the program"),
        reporter: Reporter::default(),
    })
}
