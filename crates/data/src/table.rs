//! A table in memory: typed columns beside the text they were read from.
//!
//! Numbers are `f64` columns and everything else is text; a missing value is null in both. The text of the
//! file is kept with the place of every record, so that each cell can be shown and written again exactly as
//! it was, whatever type the column was given.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use polars_arrow::array::Utf8ViewArray;
use sha2::{Digest as _, Sha256};

use super::error::DataError;
use super::split::RecordText;
use ergodic_base::numerals::hex;
use ergodic_core::design::{ColumnInfo, ColumnKind, Columns, Values};

/// A table: N rows, typed columns, where it came from and the hash of what was read.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    source: String,
    fingerprint: String,
    /// Shared by everything that was made from the table.
    cells: Arc<[Cells]>,
    columns: Vec<ColumnInfo>,
    /// Where the column of a name stands: wide formulas ask for thousands.
    places: HashMap<String, usize>,
    text: Option<RecordText>,
    num_rows: usize,
}

impl Table {
    /// Whether the table was read from text, whose reading had to be guessed.
    pub fn is_text(&self) -> bool {
        self.text.is_some()
    }

    /// A table of columns made in memory, for simulated data; the fingerprint is that of its CSV.
    /// Errors: columns of different lengths, no column, no row, a name used twice.
    pub fn from_columns(name: &str, columns: Vec<(String, Values)>) -> Result<Self, DataError> {
        let typed = columns
            .into_iter()
            .map(|(name, values)| {
                let info = ColumnInfo::of_values(name, &values);
                TypedColumn {
                    name: info.name,
                    kind: info.kind,
                    reason: info.reason,
                    values,
                }
            })
            .collect();
        let mut table =
            Self::assemble(name, &format!("memory:{name}"), String::new(), typed, None)?;
        let mut bytes = Vec::new();
        table
            .write_csv(&mut bytes)
            .map_err(|error| DataError::Option(format!("The table cannot be written: {error}")))?;
        table.fingerprint = hex_sha256(&bytes);
        Ok(table)
    }

    /// Puts typed columns together; `text` is what they were read from.
    pub(crate) fn assemble(
        name: &str,
        source: &str,
        fingerprint: String,
        columns: Vec<TypedColumn>,
        text: Option<RecordText>,
    ) -> Result<Self, DataError> {
        let num_rows = columns.first().map_or(0, |column| column.values.len());
        if num_rows == 0 {
            return Err(DataError::Empty(name.to_owned()));
        }
        let mut infos = Vec::with_capacity(columns.len());
        let mut cells = Vec::with_capacity(columns.len());
        for TypedColumn {
            name: column,
            kind,
            reason,
            values,
        } in columns
        {
            if values.len() != num_rows {
                return Err(DataError::Option(format!(
                    "The columns of {name} do not fit together: `{column}` has {} rows, the first column has {num_rows}.",
                    values.len()
                )));
            }
            let (num_missing, first_missing) = values.missing();
            cells.push(Cells::from(values));
            infos.push(ColumnInfo {
                name: column,
                kind,
                reason,
                num_missing,
                first_missing,
            });
        }
        let names = infos.iter().map(|info| info.name.clone());
        Ok(Self {
            name: name.to_owned(),
            source: source.to_owned(),
            fingerprint,
            cells: cells.into(),
            places: names.zip(0..).collect(),
            columns: infos,
            text,
            num_rows,
        })
    }

    /// Source of the table: a path, or `sample:churn`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// SHA-256 of the bytes read, 64 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The cell exactly as it was written, quotes and escapes of the format resolved; for Parquet the
    /// shortest form of the value. Empty beyond the table.
    pub fn cell_text(&self, row: usize, col: usize) -> String {
        match &self.text {
            Some(text) => text.field(row, col),
            None => self.value_text(row, col),
        }
    }

    /// Whether the cell has no value: empty, a code for missing, or no number in a column read as numbers.
    pub fn is_missing(&self, row: usize, col: usize) -> bool {
        match self.cells.get(col) {
            Some(Cells::Numbers(numbers)) => numbers.get(row).is_none_or(|value| value.is_nan()),
            Some(Cells::Texts(texts)) => row >= texts.len() || texts.get(row).is_none(),
            None => true,
        }
    }

    fn value_text(&self, row: usize, col: usize) -> String {
        match self.cells.get(col) {
            Some(Cells::Numbers(numbers)) => numbers
                .get(row)
                .filter(|value| !value.is_nan())
                .map(|value| value.to_string())
                .unwrap_or_default(),
            Some(Cells::Texts(texts)) if row < texts.len() => {
                texts.get(row).unwrap_or_default().to_owned()
            }
            _ => String::new(),
        }
    }

    /// Writes the table as CSV (comma, LF, UTF-8, quotes where needed) with every cell as it was written.
    pub fn write_csv(&self, out: impl Write) -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.names())?;
        if let Some(text) = &self.text {
            text.for_each_record(|record| writer.write_byte_record(record))?;
        } else {
            for row in 0..self.num_rows {
                for col in 0..self.columns.len() {
                    writer.write_field(self.value_text(row, col))?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
        }
        writer.flush()
    }
}

impl Columns for Table {
    fn name(&self) -> &str {
        &self.name
    }

    fn num_rows(&self) -> usize {
        self.num_rows
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn numbers(&self, col: usize) -> Option<&[f64]> {
        match self.cells.get(col)? {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Texts(_) => None,
        }
    }

    fn texts(&self, col: usize) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>> {
        match self.cells.get(col)? {
            Cells::Texts(texts) => Some(Box::new(texts.iter())),
            Cells::Numbers(_) => None,
        }
    }

    fn place(&self, row: usize) -> String {
        match &self.text {
            Some(text) => format!("line {}", text.line(row)),
            None => format!("row {}", row + 1),
        }
    }
}

/// A column ready for the table.
#[derive(Clone, Debug)]
pub(crate) struct TypedColumn {
    pub name: String,
    pub kind: ColumnKind,
    pub reason: String,
    pub values: Values,
}

/// The cells of a column in memory.
#[derive(Clone, Debug)]
enum Cells {
    /// NaN where missing.
    Numbers(Vec<f64>),
    /// Words as polars holds them: those of up to 12 bytes without an allocation of their own.
    Texts(Utf8ViewArray),
}

impl From<Values> for Cells {
    fn from(values: Values) -> Self {
        match values {
            Values::Numbers(numbers) => Self::Numbers(numbers),
            Values::Texts(texts) => Self::Texts(Utf8ViewArray::from_slice(&texts)),
        }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
