//! From decoded text to typed columns, in two parallel walks over pieces of it.
//!
//! The first walk looks at every cell and collects numbers; then it is known what each column holds, and the
//! second walk collects the words of the columns that are not numeric.

use std::ops::Range;
use std::sync::Arc;

use csv::ByteRecord;
use rayon::prelude::*;

use ergodic_base::{Control, Reporter};
use ergodic_core::design::DesignError;

use super::error::DataError;
use super::load::SPLIT_COST;
use super::ragged::{self, Fitted, RaggedLines, fit};
use super::remark::Remark;
use super::scan::{ColumnScan, decide};
use super::sniff::{
    ColumnKindOverride, Guess, Guesses, ImportOptions, SAMPLE_RECORDS, column_names,
    delimiter_words, guess_decimal, guess_delimiter, guess_header, sample,
};
use super::split::{RecordText, is_blank, line_at, pieces, reader};
use super::table::TypedColumn;
use super::values::Codes;
use ergodic_core::design::{ColumnKind, Values, name_hint};

/// Bytes of text per piece of parallel work.
const PIECE: usize = 1 << 20;

/// How much of the text is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    /// The first records of a whole file.
    FirstRecords,
    /// The first records of the beginning of a file, whose last record may be cut off.
    FirstRecordsOfCut,
}

/// Most columns of a table: each takes a kilobyte before it has a value.
pub(super) const MAX_COLUMNS: usize = 100_000;

/// A text on its way to columns.
pub(super) struct Parse<'a> {
    /// File, for sentences.
    pub name: &'a str,
    pub text: &'a Arc<String>,
    /// First byte after a byte order mark.
    pub start: usize,
    pub options: &'a ImportOptions,
    pub control: &'a Control,
    pub extent: Extent,
}

/// Typed columns, the text they came from, and how it was read.
pub(super) struct Parsed {
    pub columns: Vec<TypedColumn>,
    pub text: RecordText,
    pub guesses: FormatGuesses,
}

/// Guesses but for the encoding.
pub(super) struct FormatGuesses {
    delimiter: Guess<char>,
    decimal: Guess<char>,
    header: Guess<bool>,
    missing: Guess<Vec<String>>,
}

impl FormatGuesses {
    pub fn with_encoding(self, encoding: Guess<String>) -> Guesses {
        let Self {
            delimiter,
            decimal,
            header,
            missing,
        } = self;
        Guesses {
            delimiter,
            decimal,
            encoding,
            header,
            missing,
        }
    }
}

/// What a piece of the text holds.
struct PieceScan {
    starts: Vec<u64>,
    columns: Vec<ColumnScan>,
    /// Lines of another length that are joined or left out, or for which the file is refused.
    ragged: ragged::Tally,
    /// Lines for which the file is refused.
    refused: ragged::Tally,
}

impl Parse<'_> {
    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    pub fn parse(&self, reporter: &mut Reporter) -> Result<Parsed, DataError> {
        let body = &self.bytes()[self.start..];
        if is_stan_csv(body) {
            return Err(DataError::StanDraws(self.name.to_owned()));
        }
        let delimiter = self
            .options
            .delimiter
            .map_or_else(|| guess_delimiter(body), Guess::given);
        let records = sample(body, delimiter.value);
        if records
            .iter()
            .all(|record| record.iter().all(|cell| cell.trim_ascii().is_empty()))
        {
            return Err(DataError::Empty(self.name.to_owned()));
        }
        let decimal = self.options.decimal.map_or_else(
            || guess_decimal(&records, delimiter.value, reporter),
            Guess::given,
        );
        let header = self
            .options
            .header
            .map_or_else(|| guess_header(&records, decimal.value), Guess::given);
        let width = records[0].len();
        if width > MAX_COLUMNS {
            return Err(DataError::TooLarge(format!(
                "{} has {width} columns, more than the {MAX_COLUMNS} that a table may have; if its rows are variables, exchange \
                 rows and columns, otherwise leave columns out",
                self.name
            )));
        }
        let names = column_names(header.value.then_some(&records[0]), width, reporter);
        if !header.value && !header.given {
            reporter.report(Remark::NoHeader {
                file: self.name.to_owned(),
                reason: header.reason.clone(),
                columns: width,
            });
        }
        if let Some(unknown) = self
            .options
            .column_types
            .keys()
            .find(|name| !names.contains(name))
        {
            let hint = name_hint(unknown, names.iter().map(String::as_str));
            return Err(DesignError::UnknownColumn {
                place: "The list of column types".to_owned(),
                column: unknown.clone(),
                hint,
            }
            .into());
        }
        let format = Format {
            delimiter: delimiter.value,
            decimal: decimal.value as u8,
            header: header.value,
            width,
        };
        let codes = self
            .options
            .missing
            .as_deref()
            .map_or_else(Codes::candidates, Codes::given);
        let (ranges, scan) = self.scan(&format, &names, &codes)?;

        let records = RecordText {
            text: Arc::clone(self.text),
            starts: Arc::new(scan.starts),
            delimiter: format.delimiter as u8,
            width,
            ragged: self.options.ragged,
        };
        if let Some(((start, _), rule)) = scan.ragged.first.zip(self.options.ragged) {
            let line = line_at(self.bytes(), start);
            reporter.report(ragged::remark(rule, &scan.ragged, line));
        }
        let missing = missing_codes(&codes, &scan.columns);
        let kinds: Vec<(ColumnKind, String)> = names
            .iter()
            .zip(&scan.columns)
            .map(|(name, column)| decide(name, column, &|row| records.line(row), reporter))
            .collect();
        for ((name, column), (kind, _)) in names.iter().zip(&scan.columns).zip(&kinds) {
            if *kind != ColumnKind::Number {
                report_kept_codes(name, column, &codes, &missing.value, &records, reporter);
            }
        }
        let is_text: Vec<bool> = kinds
            .iter()
            .map(|(kind, _)| *kind != ColumnKind::Number)
            .collect();
        let mut texts = self.texts(&format, &ranges, &is_text, &Codes::given(&missing.value))?;
        let columns = names
            .into_iter()
            .zip(scan.columns)
            .zip(kinds)
            .enumerate()
            .map(|(col, ((name, column), (kind, reason)))| {
                let values = if is_text[col] {
                    let part = std::mem::take(&mut texts[col]);
                    if part.trimmed > 0 {
                        reporter.report(Remark::Blanks {
                            column: name.clone(),
                            values: part.trimmed,
                        });
                    }
                    Values::Texts(part.values)
                } else {
                    Values::Numbers(column.numbers)
                };
                TypedColumn {
                    name,
                    kind,
                    reason,
                    values,
                }
            })
            .collect();
        Ok(Parsed {
            columns,
            text: records,
            guesses: FormatGuesses {
                delimiter,
                decimal,
                header,
                missing,
            },
        })
    }

    /// Splits the data into pieces and looks at every cell: the pieces and what all rows hold.
    fn scan(
        &self,
        format: &Format,
        names: &[String],
        codes: &Codes,
    ) -> Result<(Vec<Range<usize>>, PieceScan), DataError> {
        let data = self.data_range(format);
        let bytes = &self.bytes()[data.clone()];
        let ranges: Vec<Range<usize>> = pieces(bytes, format.delimiter as u8, PIECE)
            .map_err(|at| DataError::UnclosedQuote(line_at(self.bytes(), data.start + at)))?
            .into_iter()
            .map(|range| range.start + data.start..range.end + data.start)
            .collect();
        // Words need a second walk, so that is half of the work.
        let walks = 2 * bytes.len() as u64;
        self.control.expect(walks + walks / (SPLIT_COST - 1));
        self.control.reach(walks / (SPLIT_COST - 1));
        let forced: Vec<Option<ColumnKindOverride>> = names
            .iter()
            .map(|name| self.options.column_types.get(name).copied())
            .collect();
        let fresh = || PieceScan {
            starts: Vec::new(),
            ragged: ragged::Tally::default(),
            refused: ragged::Tally::default(),
            columns: forced
                .iter()
                .map(|forced| ColumnScan::new(codes, *forced))
                .collect(),
        };
        let scans: Vec<Result<PieceScan, DataError>> = ranges
            .par_iter()
            .map(|range| self.scan_piece(range, format, codes, fresh()))
            .collect();
        let mut whole = fresh();
        for scan in scans {
            let scan = scan?;
            let rows = whole.starts.len();
            whole
                .columns
                .iter_mut()
                .zip(&scan.columns)
                .for_each(|(column, later)| column.merge(later, rows));
            whole.starts.extend(scan.starts);
            whole.ragged.merge(scan.ragged);
            whole.refused.merge(scan.refused);
        }
        if let Some((start, found)) = whole.refused.first {
            return Err(self.ragged(format, &whole, start, found));
        }
        if whole.starts.is_empty() {
            return Err(DataError::HeaderOnly {
                file: self.name.to_owned(),
                columns: format.width,
            });
        }
        Ok((ranges, whole))
    }

    /// Bytes of the data records: after the header, and for a preview up to the last record wanted.
    fn data_range(&self, format: &Format) -> Range<usize> {
        let mut reader = reader(&self.bytes()[self.start..], format.delimiter as u8);
        let mut record = ByteRecord::new();
        let mut ends = vec![0];
        let wanted = usize::from(format.header)
            + if self.extent == Extent::All {
                0
            } else {
                SAMPLE_RECORDS
            };
        let mut exhausted = false;
        while ends.len() <= wanted && !exhausted {
            match reader.read_byte_record(&mut record) {
                Ok(true) => ends.push(reader.position().byte() as usize),
                _ => exhausted = true,
            }
        }
        let first = ends[usize::from(format.header).min(ends.len() - 1)];
        let last = match self.extent {
            Extent::All => self.bytes().len() - self.start,
            Extent::FirstRecordsOfCut if exhausted && ends.len() > 2 => ends[ends.len() - 2],
            _ => ends[ends.len() - 1],
        };
        self.start + first..self.start + last.max(first)
    }

    fn scan_piece(
        &self,
        range: &Range<usize>,
        format: &Format,
        codes: &Codes,
        mut scan: PieceScan,
    ) -> Result<PieceScan, DataError> {
        let width = format.width;
        self.walk(range, format, |found, record, start| {
            if found != width {
                scan.ragged.add(found, width, start);
            }
            let record = match record {
                Fitted::Record(record) => record,
                Fitted::Skipped => return,
                Fitted::Refused => {
                    scan.refused.add(found, width, start);
                    return;
                }
            };
            let row = scan.starts.len();
            scan.starts.push(start as u64);
            for (column, cell) in scan.columns.iter_mut().zip(record.iter()) {
                column.push(cell, row, format.decimal, codes);
            }
        })?;
        self.control.count(scan.starts.len() as u64);
        Ok(scan)
    }

    /// The refusal of a file for its lines of another length, the first of which begins at `start`.
    fn ragged(&self, format: &Format, scan: &PieceScan, start: usize, found: usize) -> DataError {
        let (width, delimiter) = (format.width, format.delimiter as u8);
        DataError::Ragged {
            line: line_at(self.bytes(), start),
            found,
            expected: width,
            header: format.header,
            delimiter: delimiter_words(format.delimiter),
            lines: Box::new(RaggedLines {
                num_longer: scan.ragged.longer,
                num_shorter: scan.ragged.shorter,
                num_rows: scan.starts.len(),
                excerpt: ragged::excerpt(self.text, start, width, delimiter),
            }),
        }
    }

    /// Calls `each` with every record of a piece: how many values it has, what becomes of it, and the byte where it begins.
    fn walk(
        &self,
        range: &Range<usize>,
        format: &Format,
        mut each: impl FnMut(usize, Fitted<'_>, usize),
    ) -> Result<(), DataError> {
        let (width, delimiter) = (format.width, format.delimiter as u8);
        let bytes = &self.bytes()[range.clone()];
        let mut reader = reader(bytes, format.delimiter as u8);
        let mut record = ByteRecord::new();
        for count in 0_usize.. {
            if count.is_multiple_of(1024) {
                self.control.check(DataError::Cancelled)?;
            }
            let mut start = reader.position().byte() as usize;
            let more = reader.read_byte_record(&mut record);
            // Reading from memory with records of any length cannot fail.
            if !more.map_err(|error| {
                DataError::Option(format!("{} cannot be split: {error}", self.name))
            })? {
                break;
            }
            // The line feed of the record before, and empty lines, do not belong to this one.
            while matches!(bytes.get(start), Some(b'\n' | b'\r')) {
                start += 1;
            }
            if !is_blank(&record, width) {
                let fitted = fit(&record, width, delimiter, self.options.ragged);
                each(record.len(), fitted, range.start + start);
            }
        }
        self.control.advance(range.len() as u64);
        Ok(())
    }

    /// The values of the text columns, in a second walk; other columns stay empty.
    fn texts(
        &self,
        format: &Format,
        ranges: &[Range<usize>],
        is_text: &[bool],
        missing: &Codes,
    ) -> Result<Vec<TextPart>, DataError> {
        let fresh = || vec![TextPart::default(); is_text.len()];
        if !is_text.contains(&true) {
            return Ok(fresh());
        }
        let parts: Vec<Result<Vec<TextPart>, DataError>> = ranges
            .par_iter()
            .map(|range| {
                let mut parts = fresh();
                self.walk(range, format, |_, record, _| {
                    let Fitted::Record(record) = record else {
                        return;
                    };
                    for (col, cell) in record.iter().enumerate().filter(|(col, _)| is_text[*col]) {
                        parts[col].push(cell, missing);
                    }
                })?;
                Ok(parts)
            })
            .collect();
        let mut whole = fresh();
        for part in parts {
            for (column, later) in whole.iter_mut().zip(part?) {
                column.trimmed += later.trimmed;
                column.values.extend(later.values);
            }
        }
        Ok(whole)
    }
}

/// Whether a text is the output of Stan: remarks about the run before a header that begins with `lp__`.
fn is_stan_csv(text: &[u8]) -> bool {
    let lines = || text.split(|&byte| byte == b'\n').take(SAMPLE_RECORDS);
    let header = lines().find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    header.is_some_and(|line| line.starts_with(b"lp__,"))
        || lines().any(|line| line.starts_with(b"# stan_version"))
}

/// How the text is written.
struct Format {
    delimiter: char,
    decimal: u8,
    header: bool,
    width: usize,
}

/// Values of a text column over some rows.
#[derive(Clone, Default)]
struct TextPart {
    values: Vec<Option<String>>,
    trimmed: usize,
}

impl TextPart {
    fn push(&mut self, cell: &[u8], missing: &Codes) {
        let trimmed = cell.trim_ascii();
        let present = !trimmed.is_empty() && missing.find(trimmed).is_none();
        self.trimmed += usize::from(present && trimmed.len() < cell.len());
        // Fields of valid UTF-8 split at ASCII bytes are valid UTF-8.
        self.values
            .push(present.then(|| String::from_utf8_lossy(trimmed).into_owned()));
    }
}

/// The codes that mean "missing": those given, or the candidates seen in columns that are otherwise numeric.
fn missing_codes(codes: &Codes, columns: &[ColumnScan]) -> Guess<Vec<String>> {
    if codes.given {
        return Guess::given(codes.list.clone());
    }
    let mut seen = Vec::new();
    let mut words = Vec::new();
    for (at, code) in codes.list.iter().enumerate() {
        let count: usize = columns
            .iter()
            .filter(|column| column.uses_codes())
            .map(|column| column.codes[at].count)
            .sum();
        if count > 0 {
            seen.push(code.clone());
            words.push(format!("`{code}` ({count} times)"));
        }
    }
    let reason = if seen.is_empty() {
        "columns of numbers hold nothing else".to_owned()
    } else {
        format!(
            "columns that otherwise hold numbers have {}",
            words.join(", ")
        )
    };
    Guess::guessed(seen, reason)
}

/// Reports texts such as `NA` that stay values, because nothing says that they mean "missing".
fn report_kept_codes(
    name: &str,
    column: &ColumnScan,
    codes: &Codes,
    missing: &[String],
    records: &RecordText,
    reporter: &mut Reporter,
) {
    for (code, tally) in codes.list.iter().zip(&column.codes) {
        if tally.count > 0 && !missing.contains(code) {
            reporter.report(Remark::MaybeMissing {
                column: name.to_owned(),
                code: code.clone(),
                count: tally.count,
                line: records.line(tally.first),
            });
        }
    }
}
