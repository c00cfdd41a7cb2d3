//! Reading Parquet: columns of the types a table knows, the others set aside by name.

use std::fmt;
use std::io::Cursor;

use polars_arrow::array::{Array, BooleanArray, DictionaryArray, PrimitiveArray, Utf8ViewArray};
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field, TimeUnit};
use polars_arrow::match_integer_type;
use polars_buffer::Buffer;
use polars_compute::cast::cast_default;
use polars_parquet::read::{
    BasicDecompressor, Filter, PageReader, RowGroupMetadata, column_iter_to_arrays, infer_schema,
    read_metadata,
};

use ergodic_base::{Control, Reporter};

use super::error::DataError;
use super::load::Loaded;
use super::sniff::{Guesses, unique_names};
use super::table::{Table, TypedColumn, hex_sha256};
use crate::remark::Remark;
use ergodic_core::design::{ColumnKind, Values};

/// From here on whole numbers may lose digits as `f64`.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the bytes are a Parquet file.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

/// One column as the file holds it: an array for each group of rows.
type Chunks = Vec<Box<dyn Array>>;

/// Why a column cannot be read.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("column `{0}` is missing in a group of rows")]
    Missing(String),
    #[error("column `{0}` is not one column")]
    Nested(String),
    #[error("column `{0}` ends beyond the file")]
    Beyond(String),
    #[error("column `{column}` has {has} values in a group of {rows} rows")]
    Length {
        column: String,
        has: usize,
        rows: usize,
    },
    #[error("its types contradict each other")]
    Contradiction,
    #[error("a category has no name")]
    Category,
    /// What the reader of the format says.
    #[error("{0}")]
    Reader(String),
}

impl Unreadable {
    fn reader(error: impl fmt::Display) -> Self {
        Self::Reader(error.to_string())
    }
}

/// Reads a Parquet file in memory, at most `limit` rows.
pub(crate) fn read(
    name: &str,
    source: &str,
    bytes: Vec<u8>,
    control: &Control,
    limit: Option<usize>,
) -> Result<Loaded, DataError> {
    let damaged = |reason: &dyn fmt::Display| DataError::Parquet {
        file: name.to_owned(),
        // Only the first line: what follows is advice about the reader's own options.
        reason: reason
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    let mut reporter = Reporter::default();
    let fingerprint = hex_sha256(&bytes);
    let bytes = Buffer::from(bytes);
    let metadata = read_metadata(&mut Cursor::new(&bytes[..])).map_err(|e| damaged(&e))?;
    let schema = infer_schema(&metadata).map_err(|e| damaged(&e))?;
    let num_rows = metadata.num_rows.min(limit.unwrap_or(usize::MAX));
    if num_rows == 0 {
        return Err(DataError::HeaderOnly {
            file: name.to_owned(),
            columns: schema.len(),
        });
    }
    let fields = usable_columns(&schema, &mut reporter);
    if fields.is_empty() {
        return Err(damaged(&"no column holds numbers or text"));
    }
    let mut columns: Vec<Chunks> = fields.iter().map(|_| Chunks::new()).collect();
    let mut left = num_rows;
    for group in &metadata.row_groups {
        let len = group.num_rows().min(left);
        for (field, chunks) in fields.iter().zip(&mut columns) {
            control.check(DataError::Cancelled)?;
            chunks.extend(read_chunk(&bytes, group, field, len).map_err(|e| damaged(&e))?);
        }
        left -= len;
        control.count(len as u64);
    }
    if left > 0 {
        return Err(damaged(&"its groups hold fewer rows than it states"));
    }
    let written: Vec<String> = fields.iter().map(|field| field.name.to_string()).collect();
    let names = unique_names(&written, true, &mut reporter);
    let mut typed_columns = Vec::with_capacity(fields.len());
    for ((name, field), chunks) in names.into_iter().zip(&fields).zip(columns) {
        control.check(DataError::Cancelled)?;
        typed_columns
            .push(typed(name, &field.dtype, chunks, &mut reporter).map_err(|e| damaged(&e))?);
    }
    let table = Table::assemble(name, source, fingerprint, typed_columns, None)?;
    Ok(Loaded {
        table,
        guesses: Guesses::typed_file("Parquet"),
        reporter,
    })
}

/// The first `len` rows of a column in one group of rows.
fn read_chunk(
    bytes: &Buffer<u8>,
    group: &RowGroupMetadata,
    field: &Field,
    len: usize,
) -> Result<Chunks, Unreadable> {
    let mut stored = group
        .columns_under_root_iter(&field.name)
        .ok_or_else(|| Unreadable::Missing(field.name.to_string()))?;
    let (Some(column), None) = (stored.next(), stored.next()) else {
        return Err(Unreadable::Nested(field.name.to_string()));
    };
    let range = column.byte_range();
    let (start, end) = (range.start as usize, range.end as usize);
    if start > end || end > bytes.len() {
        return Err(Unreadable::Beyond(field.name.to_string()));
    }
    let pages = PageReader::new(
        Cursor::new(bytes.clone().sliced(start..end)),
        column,
        vec![],
        usize::MAX,
    );
    let (chunks, _) = column_iter_to_arrays(
        vec![BasicDecompressor::new(pages, vec![])],
        vec![&column.descriptor().descriptor.primitive_type],
        field.clone(),
        Some(Filter::new_limited(len)),
    )
    .map_err(Unreadable::reader)?;
    let read: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    if read == len {
        Ok(chunks)
    } else {
        Err(Unreadable::Length {
            column: field.name.to_string(),
            has: read,
            rows: len,
        })
    }
}

/// The columns whose types a table can hold; the others are reported.
fn usable_columns(schema: &ArrowSchema, reporter: &mut Reporter) -> Vec<Field> {
    let mut usable = Vec::new();
    for field in schema.iter_values() {
        if is_usable(&field.dtype) {
            usable.push(field.clone());
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

/// The column of a stated type; its chunks are let go one by one.
fn typed(
    name: String,
    stated: &ArrowDataType,
    chunks: Chunks,
    reporter: &mut Reporter,
) -> Result<TypedColumn, Unreadable> {
    use ArrowDataType as T;
    // Categories are stored as numbers of a dictionary.
    let value_type = match stated {
        T::Dictionary(_, values, _) => values,
        other => other,
    };
    let reason = format!("the file states {}", stated_words(stated));
    let text = |kind, values| TypedColumn {
        name: name.clone(),
        kind,
        reason: reason.clone(),
        values: Values::Texts(values),
    };
    Ok(match value_type {
        T::Boolean => text(
            ColumnKind::Text,
            collect(chunks, value_type, &None, |chunk: &BooleanArray, words| {
                words.extend(
                    chunk
                        .iter()
                        .map(|value| value.map(|value| value.to_string())),
                );
            })?,
        ),
        T::Date32 => text(
            ColumnKind::Date,
            collect(
                chunks,
                value_type,
                &None,
                |chunk: &PrimitiveArray<i32>, words| {
                    words.extend(
                        chunk
                            .iter()
                            .map(|day| day.map(|day| date_text(i64::from(*day)))),
                    );
                },
            )?,
        ),
        T::Timestamp(unit, _) => text(
            ColumnKind::Date,
            collect(
                chunks,
                value_type,
                &None,
                |chunk: &PrimitiveArray<i64>, words| {
                    words.extend(
                        chunk
                            .iter()
                            .map(|tick| tick.map(|tick| datetime_text(*tick, *unit))),
                    );
                },
            )?,
        ),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => text(
            ColumnKind::Text,
            collect(
                chunks,
                &T::Utf8View,
                &None,
                |chunk: &Utf8ViewArray, words| {
                    let filled = chunk
                        .iter()
                        .map(|word| word.filter(|word| !word.is_empty()));
                    words.extend(filled.map(|word| word.map(str::to_owned)));
                },
            )?,
        ),
        _ => {
            let is_integer = is_integer(value_type);
            let nulls: usize = chunks.iter().map(|chunk| chunk.null_count()).sum();
            let digits = is_integer.then(|| chunks.clone());
            let values = collect(
                chunks,
                &T::Float64,
                &f64::NAN,
                |chunk: &PrimitiveArray<f64>, values| {
                    values.extend(chunk.iter().map(|value| value.copied().unwrap_or(f64::NAN)));
                },
            )?;
            match digits {
                Some(digits) if values.iter().any(|value| value.abs() >= LARGEST_EXACT) => {
                    let column = name.clone();
                    reporter.report(Remark::TypedLargeIntegers { column });
                    text(
                        ColumnKind::Text,
                        collect(
                            digits,
                            &T::Utf8View,
                            &None,
                            |chunk: &Utf8ViewArray, words| {
                                words.extend(chunk.iter().map(|word| word.map(str::to_owned)));
                            },
                        )?,
                    )
                }
                _ => TypedColumn {
                    reason,
                    kind: ColumnKind::Number,
                    values: Values::Numbers(finite(values, nulls, &name, reporter)),
                    name,
                },
            }
        }
    })
}

/// Every chunk, cast to the type whose array is `A`, goes through `extend` into one list; what is null in the numbers of categories
/// becomes `missing`.
fn collect<A: Array, V: Clone>(
    chunks: Chunks,
    dtype: &ArrowDataType,
    missing: &V,
    extend: impl Fn(&A, &mut Vec<V>),
) -> Result<Vec<V>, Unreadable> {
    let mut values = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
    let plain = |chunk: &dyn Array, values: &mut Vec<V>| -> Result<(), Unreadable> {
        let cast = cast_default(chunk, dtype).map_err(Unreadable::reader)?;
        extend(
            cast.as_any()
                .downcast_ref()
                .ok_or(Unreadable::Contradiction)?,
            values,
        );
        Ok(())
    };
    for chunk in chunks {
        let ArrowDataType::Dictionary(keys, ..) = chunk.dtype() else {
            plain(&*chunk, &mut values)?;
            continue;
        };
        match_integer_type!(keys, |$T| {
            let array = chunk.as_any().downcast_ref::<DictionaryArray<$T>>();
            let array = array.ok_or(Unreadable::Contradiction)?;
            let mut words = Vec::new();
            plain(&**array.values(), &mut words)?;
            for key in array.keys().iter() {
                values.push(match key {
                    Some(key) => (words.get(*key as usize))
                        .ok_or(Unreadable::Category)?
                        .clone(),
                    None => missing.clone(),
                });
            }
        });
    }
    Ok(values)
}

fn is_integer(dtype: &ArrowDataType) -> bool {
    use ArrowDataType as T;
    matches!(
        dtype,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64
    )
}

fn stated_words(dtype: &ArrowDataType) -> &'static str {
    use ArrowDataType as T;
    match dtype {
        T::Dictionary(..) => "categories",
        T::Boolean => "true or false",
        T::Date32 => "dates",
        T::Timestamp(..) => "dates with times",
        T::Utf8 | T::LargeUtf8 | T::Utf8View => "text",
        other if is_integer(other) => "whole numbers",
        _ => "numbers",
    }
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
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
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
    use polars_arrow::array::ListArray;
    use polars_arrow::offset::OffsetsBuffer;
    use polars_arrow::record_batch::RecordBatchT;
    use polars_parquet::write::{
        CompressionOptions, Encoding, FileWriter, RowGroupIterator, StatisticsOptions, Version,
        WriteOptions,
    };

    /// A file of the named columns with these groups of rows.
    fn written(names: &[&str], groups: Vec<Vec<Box<dyn Array>>>) -> Vec<u8> {
        let lengths: Vec<u64> = groups.iter().map(|group| group[0].len() as u64).collect();
        let fields = names
            .iter()
            .zip(&groups[0])
            .map(|(name, array)| Field::new((*name).into(), array.dtype().clone(), true));
        let schema = ArrowSchema::from_iter(fields);
        let options = WriteOptions {
            statistics: StatisticsOptions::default(),
            version: Version::V1,
            compression: CompressionOptions::Snappy,
            data_page_size: None,
        };
        let encodings: Vec<Vec<Encoding>> = groups[0]
            .iter()
            .map(|array| match array.dtype() {
                ArrowDataType::Dictionary(..) => vec![Encoding::RleDictionary],
                _ => vec![Encoding::Plain],
            })
            .collect();
        let batches = groups
            .into_iter()
            .map(|arrays| RecordBatchT::try_new(arrays[0].len(), schema.clone().into(), arrays));
        let row_groups =
            RowGroupIterator::try_new(batches, &schema, options, encodings.into()).unwrap();
        let mut writer = FileWriter::try_new(Vec::new(), schema.clone(), options).unwrap();
        for (group, length) in row_groups.zip(lengths) {
            writer.write(length, group.unwrap()).unwrap();
        }
        writer.end(None).unwrap();
        writer.into_inner()
    }

    fn column<T: polars_arrow::types::NativeType>(values: &[Option<T>]) -> Box<dyn Array> {
        PrimitiveArray::from(values).boxed()
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
        let days = PrimitiveArray::from_vec(vec![0_i32, 19_782, 1]).to(ArrowDataType::Date32);
        let numbers = column(&[Some(1_i32), Some(2), Some(3)]);
        let lists = ListArray::<i64>::new(
            ListArray::<i64>::default_datatype(ArrowDataType::Int32),
            OffsetsBuffer::try_from(vec![0, 1, 2, 3]).unwrap(),
            numbers,
            None,
        );
        let prices =
            PrimitiveArray::from_vec(vec![125_i128, 250, 300]).to(ArrowDataType::Decimal(10, 2));
        let plans = DictionaryArray::try_from_keys(
            PrimitiveArray::<u32>::from([Some(1), None, Some(0)]),
            Utf8ViewArray::from_slice_values(["pro", "basic"]).boxed(),
            false,
        )
        .unwrap();
        let names = [
            "count", "big", "x", "ok", "word", "day", "list", "price", "plan",
        ];
        let bytes = written(
            &names,
            vec![vec![
                column(&[Some(1_i8), None, Some(3)]),
                column(&[Some(1_i64), Some(9_007_199_254_740_993), Some(3)]),
                column(&[Some(f64::NAN), Some(f64::INFINITY), Some(0.1)]),
                BooleanArray::from_slice([true, false, true]).boxed(),
                Utf8ViewArray::from_slice_values(["a", "b", "a"]).boxed(),
                days.boxed(),
                lists.boxed(),
                prices.boxed(),
                plans.boxed(),
            ]],
        );
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
                ("price", Number),
                ("plan", Text)
            ]
        );
        assert_eq!(table.columns()[0].first_missing, Some(1));
        assert_eq!(table.cell_text(1, 1), "9007199254740993");
        assert_eq!(table.cell_text(2, 2), "0.1");
        assert_eq!(table.cell_text(1, 5), "2024-02-29");
        assert_eq!(table.numbers(6).unwrap(), [1.25, 2.5, 3.0]);
        let plans: Vec<Option<&str>> = table.texts(7).unwrap().collect();
        assert_eq!(plans, [Some("basic"), None, Some("pro")]);
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
        let bytes = written(&["x"], vec![vec![column(&[Some(1.0), Some(2.0)])]]);
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
        let none = written(&["x"], vec![vec![column::<f64>(&[])]]);
        assert!(matches!(load(none), Err(DataError::HeaderOnly { .. })));
    }

    #[test]
    fn groups_of_rows_follow_each_other_up_to_the_limit() {
        let group = |first: i32| {
            let words = [first, first + 1, first + 2].map(|k| format!("w{k}"));
            vec![
                column(&[Some(first), Some(first + 1), None]),
                Utf8ViewArray::from_slice_values(words).boxed(),
            ]
        };
        let bytes = written(&["k", "word"], vec![group(0), group(3), group(6)]);
        let read = |limit| {
            let control = Control::default();
            let loaded = read("x.parquet", "x.parquet", bytes.clone(), &control, limit).unwrap();
            let cells = |col| -> Vec<String> {
                (0..loaded.table.num_rows())
                    .map(|row| loaded.table.cell_text(row, col))
                    .collect()
            };
            (cells(0).join(" "), cells(1).join(" "), control.counted())
        };
        assert_eq!(
            read(None),
            (
                "0 1  3 4  6 7 ".into(),
                "w0 w1 w2 w3 w4 w5 w6 w7 w8".into(),
                9
            )
        );
        assert_eq!(read(Some(4)), ("0 1  3".into(), "w0 w1 w2 w3".into(), 4));
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-1), "1969-12-31");
        assert_eq!(date_text(19_782), "2024-02-29");
        assert_eq!(date_text(11_016), "2000-02-29");
        assert_eq!(
            datetime_text(1_500, TimeUnit::Millisecond),
            "1970-01-01T00:00:01.500"
        );
        assert_eq!(
            datetime_text(-1_000_000, TimeUnit::Microsecond),
            "1969-12-31T23:59:59"
        );
    }
}
