//! Synthetic logistic data by name: `sample:synthetic-100000x10` ([`ergodic_core::synthetic`]).

use super::error::DataError;
use super::load::Loaded;
use super::sniff::Guesses;
use super::table::{Table, TypedColumn, hex_sha256};
use ergodic_base::Reporter;
use ergodic_core::design::{ColumnKind, Values};
use ergodic_core::synthetic::{Synthetic, of_shape};

/// What the name of a synthetic data set begins with, before its shape.
pub const PREFIX: &str = "synthetic-";
/// Names as shown in lists.
pub(crate) const PATTERN: &str = "synthetic-ROWSxCOLUMNS";
/// Largest table, in numbers: 8 GB.
const MOST_NUMBERS: usize = 1_000_000_000;

/// Rows and columns (the constant counts) of `ROWSxCOLUMNS`.
fn shape(text: &str) -> Option<(usize, usize)> {
    let (rows, columns) = text.split_once('x')?;
    let (rows, columns) = (rows.parse().ok()?, columns.parse().ok()?);
    let numbers = usize::checked_mul(rows, columns)?;
    (rows >= 2 && columns >= 2 && numbers <= MOST_NUMBERS).then_some((rows, columns))
}

/// The formula of the model that made the data set with this name.
pub fn formula(id: &str) -> Option<String> {
    let (_rows, columns) = shape(id.strip_prefix(PREFIX)?)?;
    let terms: Vec<String> = (1..columns).map(|j| format!("x{j}")).collect();
    Some(format!("y ~ {}", terms.join(" + ")))
}

/// The data set named `synthetic-ROWSxCOLUMNS`: columns y, x1, x2, ….
///
/// # Errors
/// The shape is not understood or too large.
pub fn load(id: &str) -> Result<Loaded, DataError> {
    let shape = id.strip_prefix(PREFIX).and_then(shape);
    let (rows, columns) = shape.ok_or_else(|| {
        DataError::Option(format!(
            "`{id}` is not {PATTERN} with at least 2 rows, 2 columns (the constant counts) and at most {MOST_NUMBERS} numbers"
        ))
    })?;
    let Synthetic { x, y, .. } = of_shape(rows, columns);
    let column = |name: String, values: Vec<f64>| TypedColumn {
        name,
        kind: ColumnKind::Number,
        reason: "made of numbers".to_owned(),
        values: Values::Numbers(values),
    };
    let mut made = vec![column("y".to_owned(), y)];
    for j in 1..columns {
        let values = x.iter().skip(j).step_by(columns).copied().collect();
        made.push(column(format!("x{j}"), values));
    }
    // The name says every bit of the data.
    let fingerprint = hex_sha256(id.as_bytes());
    let source = format!("{}{id}", super::samples::PREFIX);
    Ok(Loaded {
        table: Table::assemble(id, &source, fingerprint, made, None)?,
        guesses: Guesses::typed_file("the generator"),
        reporter: Reporter::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Columns as _;
    use ergodic_core::synthetic::logistic;

    #[test]
    fn a_set_by_name_has_the_bits_of_the_generator() {
        let loaded = load("synthetic-50x4").unwrap();
        let made = logistic(50, 4, 20_240_101, 1.0);
        assert_eq!(loaded.table.numbers(0).unwrap(), made.y);
        let third: Vec<f64> = made.x.iter().skip(3).step_by(4).copied().collect();
        assert_eq!(loaded.table.numbers(3).unwrap(), third);
        assert_eq!(formula("synthetic-50x4").unwrap(), "y ~ x1 + x2 + x3");
    }

    #[test]
    fn other_shapes_are_refused_in_one_sentence() {
        for id in [
            "synthetic-",
            "synthetic-10",
            "synthetic-10x1",
            "synthetic-x4",
            "synthetic-99999999999x9",
        ] {
            let error = load(id).unwrap_err().to_string();
            assert!(error.contains(id) && error.contains(PATTERN), "{error}");
            assert_eq!(formula(id), None);
        }
    }
}
