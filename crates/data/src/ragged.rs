//! Lines with another number of values than the header: refused, joined or left out, and what is known about them.

use std::borrow::Cow;

use csv::ByteRecord;
use serde::{Deserialize, Serialize};

use super::remark::Remark;
use super::split::line_at;
use ergodic_base::numerals::thousands;

/// What becomes of lines with another number of values than the header; without a choice the file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RaggedRows {
    /// The values that are too many become part of the last column, with the delimiters between them. Lines with too few
    /// values are refused all the same.
    Join,
    /// The lines are left out.
    Skip,
}

/// A record as the table has it.
pub(crate) enum Fitted<'a> {
    /// The record as it is, or with its surplus joined.
    Record(Cow<'a, ByteRecord>),
    /// Left out.
    Skipped,
    /// Not to be read.
    Refused,
}

/// `record` as one of `width` values under `rule`.
pub(crate) fn fit(
    record: &ByteRecord,
    width: usize,
    delimiter: u8,
    rule: Option<RaggedRows>,
) -> Fitted<'_> {
    if record.len() == width {
        return Fitted::Record(Cow::Borrowed(record));
    }
    match rule {
        Some(RaggedRows::Skip) => Fitted::Skipped,
        Some(RaggedRows::Join) if record.len() > width && width > 0 => {
            let mut joined: ByteRecord = record.iter().take(width - 1).collect();
            let rest: Vec<&[u8]> = record.iter().skip(width - 1).collect();
            joined.push_field(&rest.join(&delimiter));
            Fitted::Record(Cow::Owned(joined))
        }
        _ => Fitted::Refused,
    }
}

/// Lines of another length, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// With more values than the header.
    pub longer: usize,
    /// With fewer.
    pub shorter: usize,
    /// Byte where the first of them begins, and its number of values.
    pub first: Option<(usize, usize)>,
}

impl Tally {
    /// Counts a line of `found` values that begins at byte `start`.
    pub fn add(&mut self, found: usize, width: usize, start: usize) {
        if found > width {
            self.longer += 1;
        } else {
            self.shorter += 1;
        }
        self.first = self.first.or(Some((start, found)));
    }

    /// Adds lines that stand further down.
    pub fn merge(&mut self, later: Self) {
        self.longer += later.longer;
        self.shorter += later.shorter;
        self.first = self.first.or(later.first);
    }

    /// Number of lines, longer and shorter.
    pub fn count(&self) -> usize {
        self.longer + self.shorter
    }
}

/// A line of the file around one of another length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// 1-based line.
    pub line: u64,
    /// Text of the line.
    pub text: String,
    /// Byte of the text from which on it has too much; only in the line that is shown for its length.
    pub surplus: Option<usize>,
}

/// What is known about the lines of another length in a file that was refused for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaggedLines {
    /// Lines with more values than the header.
    pub num_longer: usize,
    /// Lines with fewer.
    pub num_shorter: usize,
    /// Lines with as many.
    pub num_rows: usize,
    /// The first of another length with its neighbours.
    pub excerpt: Vec<Excerpt>,
}

impl RaggedLines {
    /// ", and 2 other lines differ too": nothing if there is one such line.
    pub(super) fn others(&self) -> String {
        match self.num_longer + self.num_shorter {
            0 | 1 => String::new(),
            2 => ", and 1 other line differs too".to_owned(),
            count => format!(
                ", and {} other lines differ too",
                thousands(count as u64 - 1)
            ),
        }
    }
}

/// Lines shown before and after the first of another length.
const BEFORE: usize = 2;
const AFTER: usize = 1;
/// Most bytes of a line that is shown.
const LINE_MOST: usize = 400;

/// The lines around the one that begins at byte `start`, which has more than `width` values or fewer.
pub(crate) fn excerpt(text: &str, start: usize, width: usize, delimiter: u8) -> Vec<Excerpt> {
    let first = line_at(text.as_bytes(), start);
    // Old files end lines with a carriage return alone.
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let before = text[..start].split_terminator(end).rev();
    let mut before: Vec<&str> = before.take(BEFORE).collect();
    before.reverse();
    let from = first - before.len() as u64;
    let after = text[start..].split_terminator(end).take(1 + AFTER);
    let lines = before.into_iter().chain(after);
    (from..)
        .zip(lines)
        .map(|(line, text)| {
            let text = text.trim_end_matches('\r');
            let end = (0..=LINE_MOST.min(text.len()))
                .rev()
                .find(|&end| text.is_char_boundary(end))
                .unwrap_or(0);
            let surplus = (line == first).then(|| surplus(text, width, delimiter).min(end));
            Excerpt {
                line,
                text: text[..end].to_owned(),
                surplus,
            }
        })
        .collect()
}

/// Byte from which on a line has more than `width` values, quotes respected; its last value where it has fewer.
fn surplus(line: &str, width: usize, delimiter: u8) -> usize {
    let (mut quoted, mut values, mut last) = (false, 1, 0);
    for (at, &byte) in line.as_bytes().iter().enumerate() {
        if byte == b'"' {
            quoted = !quoted;
        } else if byte == delimiter && !quoted {
            // The last column begins what is joined.
            if values == width {
                return last;
            }
            values += 1;
            last = at + 1;
        }
    }
    last
}

/// What was done with the lines of `tally`, the first of which is `line`.
pub(crate) fn remark(rule: RaggedRows, tally: &Tally, line: u64) -> Remark {
    match rule {
        RaggedRows::Skip => Remark::Skipped {
            lines: tally.count(),
            line,
        },
        RaggedRows::Join => Remark::Joined {
            lines: tally.longer,
            line,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surplus_begins_in_the_last_column_of_the_header() {
        assert_eq!(surplus("1;2;asked; then left", 3, b';'), 4);
        assert_eq!(surplus("1;\"a;b\";c;d", 3, b';'), 8);
        assert_eq!(surplus("1;2", 3, b';'), 2);
    }

    #[test]
    fn the_excerpt_has_the_line_and_its_neighbours() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "a,b\n1,2\n3,4\n5,6,7\n8,9\n0,0\n".replace('\n', end);
            let shown = excerpt(&text, text.find("5,6").unwrap(), 2, b',');
            let lines: Vec<(u64, &str)> = shown.iter().map(|e| (e.line, e.text.as_str())).collect();
            assert_eq!(lines, [(2, "1,2"), (3, "3,4"), (4, "5,6,7"), (5, "8,9")]);
            assert_eq!(shown[2].surplus, Some(2));
        }
    }
}
