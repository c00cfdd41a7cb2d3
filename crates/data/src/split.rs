//! The text of a delimited file cut into records, and any field of it on demand.

use std::ops::Range;
use std::sync::Arc;

use csv::ByteRecord;

use super::ragged::{Fitted, RaggedRows, fit};

/// The decoded text of a file with the place of every data record.
#[derive(Clone, Debug)]
pub(crate) struct RecordText {
    /// The whole text as UTF-8, header included.
    pub text: Arc<String>,
    /// Byte where each data record begins.
    pub starts: Arc<Vec<u64>>,
    /// Delimiter.
    pub delimiter: u8,
    /// Fields in every data record.
    pub width: usize,
    /// What becomes of records with another number of fields.
    pub ragged: Option<RaggedRows>,
}

/// A reader of `text` that takes every record as it comes, header and odd lengths included.
pub(crate) fn reader(text: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

/// Whether a record is a line of blanks, which is no record of a table with several columns.
pub(crate) fn is_blank(record: &ByteRecord, width: usize) -> bool {
    width > 1 && record.len() == 1 && record[0].trim_ascii().is_empty()
}

/// Cuts `text` into pieces of about `size` bytes at the beginnings of records: their byte ranges in order.
/// The error is the byte of a quote that is never closed.
pub(crate) fn pieces(text: &[u8], delimiter: u8, size: usize) -> Result<Vec<Range<usize>>, usize> {
    let mut bounds = vec![0];
    if text.contains(&b'"') {
        quoted_bounds(text, delimiter, size, &mut bounds)?;
    } else {
        let mut at = size;
        while at < text.len() {
            let Some(line) = text[at..].iter().position(|&byte| byte == b'\n') else {
                break;
            };
            bounds.push(at + line + 1);
            at += line + 1 + size;
        }
    }
    bounds.push(text.len());
    Ok(bounds
        .windows(2)
        .map(|pair| pair[0]..pair[1])
        .filter(|range| !range.is_empty())
        .collect())
}

/// The walk where quotes may hide line ends: a quote opens at the beginning of a field only, and a doubled one
/// inside stands for itself, as the csv reader has it.
fn quoted_bounds(
    text: &[u8],
    delimiter: u8,
    size: usize,
    bounds: &mut Vec<usize>,
) -> Result<(), usize> {
    let (mut at, mut field_starts, mut next) = (0, true, size);
    while at < text.len() {
        let byte = text[at];
        if byte == b'"' && field_starts {
            let open = at;
            loop {
                at += 1;
                at += text[at..]
                    .iter()
                    .position(|&byte| byte == b'"')
                    .ok_or(open)?;
                if text.get(at + 1) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            field_starts = false;
        } else {
            field_starts = byte == delimiter || byte == b'\n' || byte == b'\r';
            if byte == b'\n' && at + 1 >= next {
                bounds.push(at + 1);
                next = at + 1 + size;
            }
        }
        at += 1;
    }
    Ok(())
}

impl RecordText {
    /// A field as written, quotes resolved; empty if there is none.
    pub fn field(&self, row: usize, col: usize) -> String {
        let Some(&start) = self.starts.get(row) else {
            return String::new();
        };
        let mut record = ByteRecord::new();
        let bytes = &self.text.as_bytes()[start as usize..];
        match reader(bytes, self.delimiter).read_byte_record(&mut record) {
            Ok(true) => match fit(&record, self.width, self.delimiter, self.ragged) {
                Fitted::Record(record) => record
                    .get(col)
                    .map(|field| String::from_utf8_lossy(field).into_owned())
                    .unwrap_or_default(),
                Fitted::Skipped | Fitted::Refused => String::new(),
            },
            _ => String::new(),
        }
    }

    /// 1-based line where `row` begins.
    pub fn line(&self, row: usize) -> u64 {
        line_at(
            self.text.as_bytes(),
            self.starts
                .get(row)
                .map_or(self.text.len(), |&start| start as usize),
        )
    }

    /// Calls `each` for all data records in order.
    pub fn for_each_record<E: From<csv::Error>>(
        &self,
        mut each: impl FnMut(&ByteRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&start) = self.starts.first() else {
            return Ok(());
        };
        let mut reader = reader(&self.text.as_bytes()[start as usize..], self.delimiter);
        let mut record = ByteRecord::new();
        let mut left = self.starts.len();
        while left > 0 && reader.read_byte_record(&mut record)? {
            if is_blank(&record, self.width) {
                continue;
            }
            if let Fitted::Record(record) = fit(&record, self.width, self.delimiter, self.ragged) {
                each(&record)?;
                left -= 1;
            }
        }
        Ok(())
    }
}

/// 1-based line of byte `at`; a line ends with LF, CR LF or CR.
pub(crate) fn line_at(text: &[u8], at: usize) -> u64 {
    let before = &text[..at.min(text.len())];
    let mut lines = 1;
    for (i, &byte) in before.iter().enumerate() {
        // The CR of a CR LF does not count; its LF does.
        let ends = byte == b'\n' || (byte == b'\r' && text.get(i + 1) != Some(&b'\n'));
        lines += u64::from(ends);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        assert_eq!(line_at(b"a\nb\nc", 4), 3);
        assert_eq!(line_at(b"a\r\nb\r\nc", 6), 3);
        assert_eq!(line_at(b"a\rb\rc", 4), 3);
    }

    #[test]
    fn an_open_quote_is_found_where_it_opens() {
        assert_eq!(pieces(b"a,b\n1,\"x\n2,y\n", b',', 4), Err(6));
        assert!(pieces(b"a,b\n1,5\" tall\n", b',', 4).is_ok());
        assert!(pieces(b"a,\"b \"\"c\"\"\"\n", b',', 4).is_ok());
    }

    fn records(text: &[u8]) -> Vec<ByteRecord> {
        reader(text, b',')
            .into_byte_records()
            .map(Result::unwrap)
            .collect()
    }

    proptest! {
        /// Pieces read one by one give the records of the whole text, however quotes and line ends lie.
        #[test]
        fn pieces_hold_whole_records(text in "[a,\"\n\r ]{0,60}", size in 1_usize..20) {
            if let Ok(pieces) = pieces(text.as_bytes(), b',', size) {
                let parts: Vec<ByteRecord> =
                    pieces.iter().flat_map(|range| records(&text.as_bytes()[range.clone()])).collect();
                prop_assert_eq!(parts, records(text.as_bytes()));
            }
        }
    }
}
