//! A table in memory: typed columns beside the text they were read from.
//!
//! Numbers are `f64` columns and everything else is text; a missing value is null in both. The text of the
//! file is kept with the place of every record, so that each cell can be shown and written again exactly as
//! it was, whatever type the column was given.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use polars::prelude::{
    Column, DataFrame, Float64Chunked, IntoColumn as _, NewChunkedArray as _, StringChunked,
};
use sha2::{Digest as _, Sha256};

use super::error::{DataError, name_hint};
use super::split::RecordText;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Text: categories, identifiers, words.
    Text,
    /// ISO dates, kept as text.
    Date,
}

/// Name and kind of a column, and what is missing in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Unique name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Why it was given this kind, one clause: "all 1000 values are numbers".
    pub reason: String,
    /// Rows without a value.
    pub num_missing: usize,
    /// First row without a value, 0-based.
    pub first_missing: Option<usize>,
}

/// Values of a column as levels: sorted distinct labels and one code per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Distinct labels; in numeric order if all are numbers, otherwise alphabetical.
    pub levels: Vec<String>,
    /// Index into `levels` per row; [`Labels::MISSING`] where there is no value.
    pub codes: Vec<u32>,
}

impl Labels {
    /// Code of a missing value.
    pub const MISSING: u32 = u32::MAX;
}

/// Values for a column made in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers, NaN where missing.
    Numbers(Vec<f64>),
    /// Texts, `None` where missing.
    Texts(Vec<Option<String>>),
}

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
                let (kind, reason) = match &values {
                    Values::Numbers(_) => (ColumnKind::Number, "made of numbers"),
                    Values::Texts(_) => (ColumnKind::Text, "made of text"),
                };
                TypedColumn {
                    name,
                    kind,
                    reason: reason.to_owned(),
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
            series.push(values.into_polars(&name, num_missing));
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

    /// Short name: the file name without its folder, or the name of a bundled data set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it was read from: a path, or `sample:churn`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// SHA-256 of the bytes read, 64 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// N, the number of rows.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Columns in the order of the file.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Column names in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Position of the column of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnInfo> {
        self.position(name).map(|at| &self.columns[at])
    }

    /// Position of the column of this name; the error names it and the nearest name. `place` begins the
    /// sentence: "The formula".
    pub fn index_of(&self, name: &str, place: &str) -> Result<usize, DataError> {
        self.position(name).ok_or_else(|| DataError::UnknownColumn {
            place: place.to_owned(),
            column: name.to_owned(),
            hint: name_hint(name, self.names()),
        })
    }

    /// The typed frame: `Float64` and `String` columns, null where missing.
    pub fn frame(&self) -> &DataFrame {
        &self.frame
    }

    /// Numbers of column `col`, N long, NaN where missing; `None` if it does not hold numbers.
    pub fn numbers(&self, col: usize) -> Option<Vec<f64>> {
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

    /// Texts of column `col`, N long, `None` where missing; `None` if it holds numbers.
    pub fn texts(&self, col: usize) -> Option<impl Iterator<Item = Option<&str>>> {
        Some(
            self.frame
                .columns()
                .get(col)?
                .as_materialized_series()
                .str()
                .ok()?
                .iter(),
        )
    }

    /// Column `col` as levels, numbers written in their shortest form. Panics if `col` is out of range.
    pub fn labels(&self, col: usize) -> Labels {
        match self.numbers(col) {
            Some(numbers) => number_labels(&numbers),
            None => text_labels(self.texts(col).into_iter().flatten()),
        }
    }

    /// The levels of column `col`, as [`Self::labels`] has them, if there are at most `most`; quick for columns
    /// with many values.
    pub fn few_levels(&self, col: usize, most: usize) -> Option<Vec<String>> {
        match self.numbers(col) {
            Some(numbers) => {
                // Adding 0 makes -0 and 0 one value.
                let bits = numbers
                    .iter()
                    .filter(|value| !value.is_nan())
                    .map(|value| (value + 0.0).to_bits());
                let distinct = few(bits, most)?;
                let values: Vec<f64> = distinct.into_iter().map(f64::from_bits).collect();
                Some(number_labels(&values).levels)
            }
            None => {
                let distinct = few(self.texts(col)?.flatten(), most)?;
                Some(text_labels(distinct.into_iter().map(Some)).levels)
            }
        }
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

    /// Where `row` stands, for sentences: "line 57" of a text file, "row 57" otherwise.
    pub fn place(&self, row: usize) -> String {
        match &self.text {
            Some(text) => format!("line {}", text.line(row)),
            None => format!("row {}", row + 1),
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

/// A column ready for the frame.
#[derive(Clone, Debug)]
pub(crate) struct TypedColumn {
    pub name: String,
    pub kind: ColumnKind,
    pub reason: String,
    pub values: Values,
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn missing(&self) -> (usize, Option<usize>) {
        fn count(missing: impl Iterator<Item = bool>) -> (usize, Option<usize>) {
            let mut rows = missing
                .enumerate()
                .filter(|(_, missing)| *missing)
                .map(|(row, _)| row);
            let first = rows.next();
            (rows.count() + usize::from(first.is_some()), first)
        }
        match self {
            Self::Numbers(values) => count(values.iter().map(|value| value.is_nan())),
            Self::Texts(values) => count(values.iter().map(Option::is_none)),
        }
    }

    fn into_polars(self, name: &str, num_missing: usize) -> Column {
        match self {
            Self::Numbers(values) if num_missing == 0 => {
                Float64Chunked::from_vec(name.into(), values).into_column()
            }
            Self::Numbers(values) => {
                let present = values
                    .into_iter()
                    .map(|value| (!value.is_nan()).then_some(value));
                Float64Chunked::from_iter_options(name.into(), present).into_column()
            }
            Self::Texts(values) => {
                let texts: StringChunked = values.iter().map(Option::as_deref).collect();
                texts.with_name(name.into()).into_column()
            }
        }
    }
}

/// Distinct values, `None` if there are more than `most`.
fn few<T: Ord>(values: impl Iterator<Item = T>, most: usize) -> Option<BTreeSet<T>> {
    let mut distinct = BTreeSet::new();
    for value in values {
        if distinct.insert(value) && distinct.len() > most {
            return None;
        }
    }
    Some(distinct)
}

/// Levels of numbers, in numeric order.
pub(crate) fn number_labels(numbers: &[f64]) -> Labels {
    let mut distinct: Vec<f64> = numbers
        .iter()
        .copied()
        .filter(|value| !value.is_nan())
        .collect();
    distinct.sort_unstable_by(f64::total_cmp);
    // -0 and 0 are one value.
    distinct.dedup_by(|a, b| a == b);
    let code = |value: f64| distinct.partition_point(|level| *level < value) as u32;
    let codes = numbers
        .iter()
        .map(|&value| {
            if value.is_nan() {
                Labels::MISSING
            } else {
                code(value)
            }
        })
        .collect();
    Labels {
        levels: distinct
            .iter()
            .map(|value| (value + 0.0).to_string())
            .collect(),
        codes,
    }
}

/// Levels of texts: numeric order if all are numbers, otherwise alphabetical.
fn text_labels<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Labels {
    let mut index: HashMap<&str, u32> = HashMap::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut codes: Vec<u32> = texts
        .map(|text| {
            text.map_or(Labels::MISSING, |text| {
                *index.entry(text).or_insert_with(|| {
                    seen.push(text);
                    seen.len() as u32 - 1
                })
            })
        })
        .collect();
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    let numbers: Option<Vec<f64>> = seen
        .iter()
        .map(|text| text.parse().ok().filter(|value: &f64| value.is_finite()))
        .collect();
    match numbers {
        Some(numbers) => order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            numbers[a]
                .total_cmp(&numbers[b])
                .then_with(|| seen[a].cmp(seen[b]))
        }),
        None => order.sort_by_key(|&level| seen[level as usize]),
    }
    let mut rank = vec![0_u32; seen.len()];
    for (position, &level) in order.iter().enumerate() {
        rank[level as usize] = position as u32;
    }
    for code in codes.iter_mut().filter(|code| **code != Labels::MISSING) {
        *code = rank[*code as usize];
    }
    Labels {
        levels: order
            .iter()
            .map(|&level| seen[level as usize].to_owned())
            .collect(),
        codes,
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
}

/// "1 row" or "3 rows".
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// "all 3 rows", "the only row".
pub(crate) fn every(count: usize, noun: &str) -> String {
    match count {
        1 => format!("the only {noun}"),
        _ => format!("all {}", plural(count, noun)),
    }
}
