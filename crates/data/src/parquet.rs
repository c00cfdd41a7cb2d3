//! Reading Parquet: columns of the types a table knows, the others set aside by name.

use std::io::Cursor;

use polars::prelude::{
    ArrowDataType, ArrowSchema, Column, DataFrame, DataType, ParquetReader, SerReader as _, Series,
    TimeUnit,
};

use ergodic_base::control::Control;
use ergodic_base::reporter::Reporter;

use super::error::DataError;
use super::load::Loaded;
use super::sniff::{Guesses, unique_names};
use super::table::{Table, TypedColumn, hex_sha256};
use crate::remark::Remark;
use ergodic_core::design::columns::{ColumnKind, Values};

/// Rows read between two looks at the cancel flag.
const SLICE: usize = 1 << 18;

/// From here on whole numbers may lose digits as `f64`.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the bytes are a Parquet file.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// Reads a Parquet file in memory, at most `limit` rows.
pub(crate) fn read(
    name: &str,
    source: &str,
    bytes: &[u8],
    control: &Control,
    limit: Option<usize>,
) -> Result<Loaded, DataError> {
    let damaged = |error: polars::error::PolarsError| DataError::Parquet {
        file: name.to_owned(),
        // Only the first line: what follows is advice about the reader's own options.
        reason: error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    let mut reporter = Reporter::default();
    let fingerprint = hex_sha256(bytes);
    let mut first = ParquetReader::new(Cursor::new(bytes));
    let schema = first.schema().map_err(damaged)?;
    let num_rows = first
        .num_rows()
        .map_err(damaged)?
        .min(limit.unwrap_or(usize::MAX));
    if num_rows == 0 {
        return Err(DataError::HeaderOnly {
            file: name.to_owned(),
            columns: schema.len(),
        });
    }
    let projection = usable_columns(&schema, &mut reporter);
    if projection.is_empty() {
        return Err(DataError::Parquet {
            file: name.to_owned(),
            reason: "no column holds numbers or text".to_owned(),
        });
    }
    let mut parts: Option<DataFrame> = None;
    let mut at = 0;
    while at < num_rows {
        control.check(DataError::Cancelled)?;
        let len = SLICE.min(num_rows - at);
        let part = ParquetReader::new(Cursor::new(bytes))
            .with_projection(Some(projection.clone()))
            .with_slice(Some((at, len)))
            .finish()
            .map_err(damaged)?;
        match &mut parts {
            None => parts = Some(part),
            Some(whole) => {
                whole.vstack_mut(&part).map_err(damaged)?;
            }
        }
        at += len;
        control.count(len as u64);
    }
    control.check(DataError::Cancelled)?;
    let frame = parts.unwrap_or_default();
    let written: Vec<String> = frame
        .columns()
        .iter()
        .map(|column| column.name().to_string())
        .collect();
    let names = unique_names(&written, true, &mut reporter);
    let columns = names
        .into_iter()
        .zip(frame.columns())
        .map(|(column, values)| typed(column, values, &mut reporter).map_err(damaged))
        .collect::<Result<Vec<_>, _>>()?;
    let table = Table::assemble(name, source, fingerprint, columns, None)?;
    Ok(Loaded {
        table,
        guesses: Guesses::typed_file("Parquet"),
        reporter,
    })
}

/// Positions of the columns whose types a table can hold; the others are reported.
fn usable_columns(schema: &ArrowSchema, reporter: &mut Reporter) -> Vec<usize> {
    let mut usable = Vec::new();
    for (position, field) in schema.iter_values().enumerate() {
        if is_usable(&field.dtype) {
            usable.push(position);
        } else {
            reporter.report(Remark::Unsupported {
                column: field.name.to_string(),
                holds: type_words(&field.dtype),
            });
        }
    }
    usable
}

fn is_usable(dtype: &ArrowDataType) -> bool {
    use ArrowDataType as T;
    match dtype {
        T::Dictionary(_, values, _) => is_usable(values),
        T::Boolean
        | T::Int8
        | T::Int16
        | T::Int32
        | T::Int64
        | T::UInt8
        | T::UInt16
        | T::UInt32
        | T::UInt64
        | T::Float32
        | T::Float64
        | T::Decimal(..)
        | T::Date32
        | T::Timestamp(..)
        | T::Utf8
        | T::LargeUtf8
        | T::Utf8View => true,
        _ => false,
    }
}

fn type_words(dtype: &ArrowDataType) -> &'static str {
    match dtype {
        ArrowDataType::List(_) | ArrowDataType::LargeList(_) | ArrowDataType::FixedSizeList(..) => {
            "lists"
        }
        ArrowDataType::Struct(_) | ArrowDataType::Map(..) => "structures",
        ArrowDataType::Binary | ArrowDataType::LargeBinary | ArrowDataType::BinaryView => {
            "raw bytes"
        }
        ArrowDataType::Time32(_) | ArrowDataType::Time64(_) | ArrowDataType::Duration(_) => {
            "times of day or durations"
        }
        _ => "values of a type",
    }
}

fn typed(
    name: String,
    column: &Column,
    reporter: &mut Reporter,
) -> Result<TypedColumn, polars::error::PolarsError> {
    let series = column.as_materialized_series();
    let stated = format!("the file states {}", series.dtype());
    let text = |values, kind| TypedColumn {
        name: name.clone(),
        kind,
        reason: stated.clone(),
        values: Values::Texts(values),
    };
    Ok(match series.dtype() {
        DataType::Boolean => {
            let words = series
                .bool()?
                .iter()
                .map(|value| value.map(|value| value.to_string()))
                .collect();
            text(words, ColumnKind::Text)
        }
        DataType::Date => {
            let days = series.to_physical_repr();
            text(
                days.i32()?
                    .iter()
                    .map(|day| day.map(|day| date_text(i64::from(day))))
                    .collect(),
                ColumnKind::Date,
            )
        }
        DataType::Datetime(unit, _) => {
            let (unit, ticks) = (*unit, series.to_physical_repr());
            text(
                ticks
                    .i64()?
                    .iter()
                    .map(|tick| tick.map(|tick| datetime_text(tick, unit)))
                    .collect(),
                ColumnKind::Date,
            )
        }
        dtype if dtype.is_primitive_numeric() || matches!(dtype, DataType::Decimal(..)) => {
            let values = numbers(series)?;
            let whole = dtype.is_integer();
            if whole && values.iter().any(|value| value.abs() >= LARGEST_EXACT) {
                let column = name.clone();
                reporter.report(Remark::TypedLargeIntegers { column });
                let words = series.cast(&DataType::String)?;
                return Ok(text(
                    words
                        .str()?
                        .iter()
                        .map(|word| word.map(str::to_owned))
                        .collect(),
                    ColumnKind::Text,
                ));
            }
            TypedColumn {
                reason: stated.clone(),
                kind: ColumnKind::Number,
                values: Values::Numbers(finite(values, series.null_count(), &name, reporter)),
                name,
            }
        }
        _ => {
            let words = series.cast(&DataType::String)?;
            text(
                words
                    .str()?
                    .iter()
                    .map(|word| word.filter(|word| !word.is_empty()).map(str::to_owned))
                    .collect(),
                ColumnKind::Text,
            )
        }
    })
}

fn numbers(series: &Series) -> Result<Vec<f64>, polars::error::PolarsError> {
    let cast = series.cast(&DataType::Float64)?;
    Ok(cast
        .f64()?
        .iter()
        .map(|value| value.unwrap_or(f64::NAN))
        .collect())
}

/// Infinite values become missing; these and NaN, which mean "missing" too, are reported.
fn finite(mut values: Vec<f64>, nulls: usize, name: &str, reporter: &mut Reporter) -> Vec<f64> {
    let nans = values.iter().filter(|value| value.is_nan()).count() - nulls;
    let infinite = values.iter().filter(|value| value.is_infinite()).count();
    let column = || name.to_owned();
    if nans > 0 {
        let (column, count) = (column(), nans);
        reporter.report(Remark::TypedNan { column, count });
    }
    if infinite > 0 {
        let (column, count) = (column(), infinite);
        reporter.report(Remark::TypedInfinite { column, count });
    }
    values
        .iter_mut()
        .filter(|value| value.is_infinite())
        .for_each(|value| *value = f64::NAN);
    values
}

/// `YYYY-MM-DD` of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn date_text(day: i64) -> String {
    // Count in eras of 400 years that begin on 1 March of year 0, so that the leap day comes last.
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// `YYYY-MM-DDTHH:MM:SS`, with the fraction of the second that the unit has if it is not zero.
fn datetime_text(tick: i64, unit: TimeUnit) -> String {
    let (per_second, digits) = match unit {
        TimeUnit::Milliseconds => (1_000, 3),
        TimeUnit::Microseconds => (1_000_000, 6),
        TimeUnit::Nanoseconds => (1_000_000_000, 9),
    };
    let (seconds, fraction) = (tick.div_euclid(per_second), tick.rem_euclid(per_second));
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let time = format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    let rest = if fraction == 0 {
        String::new()
    } else {
        format!(".{fraction:0digits$}")
    };
    format!("{}T{time}{rest}", date_text(day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_bytes;
    use crate::sniff::ImportOptions;
    use ergodic_core::design::Columns as _;
    use polars::prelude::{NamedFrom as _, ParquetWriter};

    fn written(columns: Vec<Series>) -> Vec<u8> {
        let columns: Vec<Column> = columns.into_iter().map(Column::from).collect();
        let mut frame = DataFrame::new_infer_height(columns).unwrap();
        let mut bytes = Vec::new();
        ParquetWriter::new(&mut bytes).finish(&mut frame).unwrap();
        bytes
    }

    fn load(bytes: Vec<u8>) -> Result<Loaded, DataError> {
        load_bytes(
            "x.parquet",
            "x.parquet",
            bytes,
            &ImportOptions::default(),
            &Control::default(),
        )
    }

    #[test]
    fn types_of_a_table_are_read_and_others_set_aside_by_name() {
        let days = Series::new("day".into(), [0_i32, 19_782, 1])
            .cast(&DataType::Date)
            .unwrap();
        let list = Series::new(
            "list".into(),
            [
                Series::new("".into(), [1_i32]),
                Series::new("".into(), [2_i32]),
                Series::new("".into(), [3_i32]),
            ],
        );
        let price = Series::new("price".into(), [1.25, 2.5, 3.0])
            .cast(&DataType::Decimal(10, 2))
            .unwrap();
        let bytes = written(vec![
            Series::new("count".into(), [Some(1_i8), None, Some(3)]),
            Series::new("big".into(), [1_i64, 9_007_199_254_740_993, 3]),
            Series::new("x".into(), [f64::NAN, f64::INFINITY, 0.1]),
            Series::new("ok".into(), [true, false, true]),
            Series::new("word".into(), ["a", "b", "a"]),
            days,
            list,
            price,
        ]);
        let Loaded {
            table, reporter, ..
        } = load(bytes).unwrap();
        let kinds: Vec<(&str, ColumnKind)> = table
            .columns()
            .iter()
            .map(|c| (c.name.as_str(), c.kind))
            .collect();
        use ColumnKind::{Date, Number, Text};
        assert_eq!(
            kinds,
            [
                ("count", Number),
                ("big", Text),
                ("x", Number),
                ("ok", Text),
                ("word", Text),
                ("day", Date),
                ("price", Number)
            ]
        );
        assert_eq!(table.columns()[0].first_missing, Some(1));
        assert_eq!(table.cell_text(1, 1), "9007199254740993");
        assert_eq!(table.cell_text(2, 2), "0.1");
        assert_eq!(table.cell_text(1, 5), "2024-02-29");
        assert_eq!(table.numbers(6).unwrap(), [1.25, 2.5, 3.0]);
        let codes: Vec<&str> = reporter
            .warnings
            .iter()
            .map(|warning| warning.code.as_str())
            .collect();
        assert_eq!(
            codes,
            ["unsupported-type", "large-integers", "nan", "infinite"]
        );
        assert!(reporter.warnings[0].message.contains("`list` holds lists"));
    }

    #[test]
    fn damaged_files_are_refused_in_one_sentence() {
        let bytes = written(vec![Series::new("x".into(), [1.0, 2.0])]);
        for bad in [
            bytes[..bytes.len() / 2].to_vec(),
            b"PAR1".to_vec(),
            b"PAR1garbagegarbagePAR1".to_vec(),
        ] {
            let sentence = load(bad).unwrap_err().to_string();
            assert!(
                sentence.starts_with("x.parquet cannot be read as Parquet")
                    && !sentence.contains('\n'),
                "{sentence}"
            );
        }
        let none = written(vec![Series::new("x".into(), Vec::<f64>::new())]);
        assert!(matches!(load(none), Err(DataError::HeaderOnly { .. })));
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-1), "1969-12-31");
        assert_eq!(date_text(19_782), "2024-02-29");
        assert_eq!(date_text(11_016), "2000-02-29");
        assert_eq!(
            datetime_text(1_500, TimeUnit::Milliseconds),
            "1970-01-01T00:00:01.500"
        );
        assert_eq!(
            datetime_text(-1_000_000, TimeUnit::Microseconds),
            "1969-12-31T23:59:59"
        );
    }
}
