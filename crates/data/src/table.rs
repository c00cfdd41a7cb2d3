//! A table in memory: typed columns beside the text they were read from.
//!
//! Numbers are `f64` columns and everything else is text; a missing value is null in both. The text of the
//! file is kept with the place of every record, so that each cell can be shown and written again exactly as
//! it was, whatever type the column was given.

use std::collections::HashMap;
use std::io::Write;

use polars::prelude::{
    Column, DataFrame, Float64Chunked, IntoColumn as _, NewChunkedArray as _, StringChunked,
};
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
    frame: DataFrame,
    columns: Vec<ColumnInfo>,
    /// Where the column of a name stands: wide formulas ask for thousands.
    places: HashMap<String, usize>,
    text: Option<RecordText>,
    num_rows: usize,
}

impl Table {
    /// Whether it was read from text, whose reading had to be guessed.
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
        let mut series = Vec::with_capacity(columns.len());
        for TypedColumn {
            name,
            kind,
            reason,
            values,
        } in columns
        {
            let (num_missing, first_missing) = values.missing();
            series.push(into_polars(values, &name, num_missing));
            infos.push(ColumnInfo {
                name,
                kind,
                reason,
                num_missing,
                first_missing,
            });
        }
        let frame = DataFrame::new(num_rows, series).map_err(|error| {
            DataError::Option(format!(
                "The columns of {name} do not fit together: {error}"
            ))
        })?;
        let names = infos.iter().map(|info| info.name.clone());
        Ok(Self {
            name: name.to_owned(),
            source: source.to_owned(),
            fingerprint,
            frame,
            places: names.zip(0..).collect(),
            columns: infos,
            text,
            num_rows,
        })
    }

    /// Where it was read from: a path, or `sample:churn`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// SHA-256 of the bytes read, 64 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The typed frame: `Float64` and `String` columns, null where missing.
    pub fn frame(&self) -> &DataFrame {
        &self.frame
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
        let Some(column) = self.frame.columns().get(col) else {
            return true;
        };
        let series = column.as_materialized_series();
        match series.f64() {
            Ok(numbers) => numbers.get(row).is_none_or(f64::is_nan),
            Err(_not_numbers) => series.str().ok().and_then(|texts| texts.get(row)).is_none(),
        }
    }

    fn value_text(&self, row: usize, col: usize) -> String {
        let Some(column) = self.frame.columns().get(col) else {
            return String::new();
        };
        let series = column.as_materialized_series();
        if let Ok(numbers) = series.f64() {
            return numbers
                .get(row)
                .map(|value| value.to_string())
                .unwrap_or_default();
        }
        series
            .str()
            .ok()
            .and_then(|texts| texts.get(row))
            .unwrap_or_default()
            .to_owned()
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

    fn numbers(&self, col: usize) -> Option<Vec<f64>> {
        let values = self
            .frame
            .columns()
            .get(col)?
            .as_materialized_series()
            .f64()
            .ok()?;
        Some(
            values
                .iter()
                .map(|value| value.unwrap_or(f64::NAN))
                .collect(),
        )
    }

    fn texts(&self, col: usize) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>> {
        let column = self.frame.columns().get(col)?;
        Some(Box::new(column.as_materialized_series().str().ok()?.iter()))
    }

    fn place(&self, row: usize) -> String {
        match &self.text {
            Some(text) => format!("line {}", text.line(row)),
            None => format!("row {}", row + 1),
        }
    }
}

/// A column ready for the frame.
#[derive(Clone, Debug)]
pub(crate) struct TypedColumn {
    pub name: String,
    pub kind: ColumnKind,
    pub reason: String,
    pub values: Values,
}

/// The column as polars holds it.
fn into_polars(values: Values, name: &str, num_missing: usize) -> Column {
    match values {
        Values::Numbers(values) if num_missing == 0 => {
            Float64Chunked::from_vec(name.into(), values).into_column()
        }
        Values::Numbers(values) => {
            let present = values
                .into_iter()
                .map(|value| (!value.is_nan()).then_some(value));
            Float64Chunked::from_iter_options(name.into(), present).into_column()
        }
        Values::Texts(values) => {
            let texts: StringChunked = values.iter().map(Option::as_deref).collect();
            texts.with_name(name.into()).into_column()
        }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
