//! What the cells of a column are, and from it what the column holds.
//!
//! A column is numeric if every cell with a value is a number that `f64` holds as written: whole numbers
//! beyond 2^53 and numbers with leading zeros are identifiers, so their columns stay text.

use ergodic_base::Reporter;

use super::remark::Remark;
use super::sniff::ColumnKindOverride;
use super::values::{Codes, is_infinity, is_iso_date, parse_number};
use ergodic_core::design::ColumnKind;

/// How often something occurs and in which row first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub count: usize,
    pub first: usize,
}

impl Tally {
    fn add(&mut self, row: usize) {
        if self.count == 0 {
            self.first = row;
        }
        self.count += 1;
    }

    fn merge(&mut self, later: Self, offset: usize) {
        if self.count == 0 && later.count > 0 {
            self.first = later.first + offset;
        }
        self.count += later.count;
    }
}

/// What the cells of a column are, over some rows.
#[derive(Clone, Debug)]
pub(crate) struct ColumnScan {
    /// Values so far, NaN where there is none; dropped once the column cannot be numeric.
    pub numbers: Vec<f64>,
    forced: Option<ColumnKindOverride>,
    pub num_numbers: usize,
    pub empty: Tally,
    pub codes: Vec<Tally>,
    pub infinite: Tally,
    pub overflow: Tally,
    pub inexact: Tally,
    pub zero_led: Tally,
    pub text: Tally,
    pub first_text: String,
    dates: usize,
    grouped: usize,
    commas: usize,
    signed: usize,
}

impl ColumnScan {
    pub fn new(codes: &Codes, forced: Option<ColumnKindOverride>) -> Self {
        Self {
            numbers: Vec::new(),
            forced,
            num_numbers: 0,
            empty: Tally::default(),
            codes: vec![Tally::default(); codes.list.len()],
            infinite: Tally::default(),
            overflow: Tally::default(),
            inexact: Tally::default(),
            zero_led: Tally::default(),
            text: Tally::default(),
            first_text: String::new(),
            dates: 0,
            grouped: 0,
            commas: 0,
            signed: 0,
        }
    }

    /// Whether the column may still become numeric.
    fn collects(&self) -> bool {
        match self.forced {
            Some(ColumnKindOverride::Number) => true,
            Some(ColumnKindOverride::Category) => false,
            None => self.text.count == 0,
        }
    }

    /// Looks at the cell of `row`.
    pub fn push(&mut self, cell: &[u8], row: usize, mark: u8, codes: &Codes) {
        let value = self.classify(cell.trim_ascii(), row, mark, codes);
        if self.collects() {
            self.numbers.push(value);
        } else if !self.numbers.is_empty() {
            self.numbers = Vec::new();
        }
    }

    fn classify(&mut self, cell: &[u8], row: usize, mark: u8, codes: &Codes) -> f64 {
        if cell.is_empty() {
            self.empty.add(row);
            return f64::NAN;
        }
        if codes.numeric
            && let Some(code) = codes.find(cell)
        {
            self.codes[code].add(row);
            return f64::NAN;
        }
        if let Some(parsed) = parse_number(cell, mark) {
            if parsed.value.is_infinite() {
                self.overflow.add(row);
                return f64::NAN;
            }
            self.num_numbers += 1;
            if parsed.inexact {
                self.inexact.add(row);
            }
            if parsed.zero_led {
                self.zero_led.add(row);
            }
            return parsed.value;
        }
        if let Some(code) = codes.find(cell) {
            self.codes[code].add(row);
        } else if is_infinity(cell) {
            self.infinite.add(row);
        } else {
            if self.text.count == 0 {
                self.first_text = String::from_utf8_lossy(cell).into_owned();
            }
            self.text.add(row);
            self.dates += usize::from(is_iso_date(cell));
            if is_grouped_number(cell) {
                self.grouped += 1;
            } else if cell.contains(&b',') && parse_number(cell, b',').is_some() {
                self.commas += 1;
            } else if is_signed_number(cell, mark) {
                self.signed += 1;
            }
        }
        f64::NAN
    }

    /// Appends the scan of the rows that follow; this one covers `rows` rows.
    pub fn merge(&mut self, later: &Self, rows: usize) {
        if self.text.count == 0 {
            self.first_text.clone_from(&later.first_text);
        }
        self.num_numbers += later.num_numbers;
        self.dates += later.dates;
        self.grouped += later.grouped;
        self.commas += later.commas;
        self.signed += later.signed;
        for (tally, later) in self.codes.iter_mut().zip(&later.codes) {
            tally.merge(*later, rows);
        }
        for (tally, later) in [
            (&mut self.empty, later.empty),
            (&mut self.infinite, later.infinite),
            (&mut self.overflow, later.overflow),
            (&mut self.inexact, later.inexact),
            (&mut self.zero_led, later.zero_led),
            (&mut self.text, later.text),
        ] {
            tally.merge(later, rows);
        }
        if self.collects() {
            self.numbers.extend_from_slice(&later.numbers);
        } else {
            self.numbers = Vec::new();
        }
    }

    /// Cells that are neither empty nor a missing-value code.
    pub fn num_values(&self) -> usize {
        self.num_numbers + self.text.count + self.infinite.count + self.overflow.count
    }

    /// What would make the column numeric, if most of it is numbers or looks like numbers.
    fn nearly_numeric(&self) -> Option<&'static str> {
        let alike = self.grouped + self.commas + self.signed;
        if self.num_numbers <= self.text.count
            && (alike == 0 || self.num_numbers + alike < self.num_values())
        {
            return None;
        }
        Some(if self.commas > 0 {
            "If the comma is the decimal mark, set the decimal mark to comma"
        } else if self.grouped > 0 {
            "Remove the thousands separators from the file"
        } else if self.signed > 0 {
            "Remove signs such as `%` and `$` from the file"
        } else {
            "Set the type of the column to number to treat them as missing"
        })
    }

    /// Whether the codes in this column mean "missing": it is numeric but for them.
    pub fn uses_codes(&self) -> bool {
        self.collects() && (self.num_numbers > 0 || self.num_values() == 0)
    }
}

/// Digits in groups of three, such as `1,234` or `1.234.567,8`.
fn is_grouped_number(cell: &[u8]) -> bool {
    let body = cell.strip_prefix(b"-").unwrap_or(cell);
    let mut groups = body.split(|byte| matches!(byte, b',' | b'.' | b'\'' | b' '));
    let first = groups.next().is_some_and(|group| {
        (1..=3).contains(&group.len()) && group.iter().all(u8::is_ascii_digit)
    });
    let second = groups
        .next()
        .is_some_and(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit));
    first && second && groups.all(|group| !group.is_empty() && group.iter().all(u8::is_ascii_digit))
}

/// A number with a percent sign or a currency beside it.
fn is_signed_number(cell: &[u8], mark: u8) -> bool {
    const SIGNS: [&str; 5] = ["%", "$", "€", "£", "¥"];
    let Ok(text) = std::str::from_utf8(cell) else {
        return false;
    };
    let text = text.strip_prefix('-').unwrap_or(text);
    let bare = SIGNS
        .iter()
        .find_map(|sign| text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)));
    bare.is_some_and(|bare| {
        let bare = bare.trim().as_bytes();
        parse_number(bare, mark).is_some() || is_grouped_number(bare)
    })
}

/// Decides what a column holds and says why; `line` turns a row into its line for sentences. Conversions that
/// lose a value and near misses are reported.
pub(crate) fn decide(
    name: &str,
    scan: &ColumnScan,
    line: &dyn Fn(usize) -> u64,
    reporter: &mut Reporter,
) -> (ColumnKind, String) {
    let total = scan.num_values();
    let column = || name.to_owned();
    let forced = match scan.forced {
        Some(ColumnKindOverride::Category) => return (ColumnKind::Text, "set by you".to_owned()),
        Some(ColumnKindOverride::Number) => true,
        None => false,
    };
    if total == 0 {
        reporter.report(Remark::NoValues { column: column() });
        let kind = if forced {
            ColumnKind::Number
        } else {
            ColumnKind::Text
        };
        return (kind, "it has no values".to_owned());
    }
    if !forced && scan.dates == total {
        return (
            ColumnKind::Date,
            format!("all {total} values are ISO dates"),
        );
    }
    if !forced && scan.text.count > 0 {
        let example = format!(
            "first `{}` in line {}",
            scan.first_text,
            line(scan.text.first)
        );
        let count = scan.text.count;
        let are = if count == 1 {
            "is not a number"
        } else {
            "are not numbers"
        };
        if let Some(advice) = scan.nearly_numeric() {
            reporter.report(Remark::NearlyNumeric {
                column: column(),
                texts: count,
                values: total,
                example: scan.first_text.clone(),
                line: line(scan.text.first),
                advice,
            });
        }
        let reason = if scan.num_numbers == 0 {
            format!("no value is a number ({example})")
        } else {
            format!("{count} of {total} values {are} ({example})")
        };
        return (ColumnKind::Text, reason);
    }
    if !forced && scan.inexact.count > 0 {
        reporter.report(Remark::LargeIntegers {
            column: column(),
            count: scan.inexact.count,
            line: line(scan.inexact.first),
        });
        return (
            ColumnKind::Text,
            "its whole numbers are too large to be exact, so they are taken for identifiers"
                .to_owned(),
        );
    }
    if !forced && scan.zero_led.count > 0 {
        reporter.report(Remark::LeadingZeros {
            column: column(),
            count: scan.zero_led.count,
            line: line(scan.zero_led.first),
        });
        return (
            ColumnKind::Text,
            "its numbers begin with 0, so they are taken for identifiers".to_owned(),
        );
    }
    if !forced && scan.num_numbers == 0 {
        return (ColumnKind::Text, "no value is a finite number".to_owned());
    }
    let lost = |tally: &Tally| (column(), tally.count, line(tally.first));
    if scan.infinite.count > 0 {
        let (column, count, line) = lost(&scan.infinite);
        reporter.report(Remark::Infinite {
            column,
            count,
            line,
        });
    }
    if scan.overflow.count > 0 {
        let (column, count, line) = lost(&scan.overflow);
        reporter.report(Remark::Overflow {
            column,
            count,
            line,
        });
    }
    if scan.text.count > 0 {
        let (column, count, line) = lost(&scan.text);
        reporter.report(Remark::Texts {
            column,
            count,
            line,
        });
    }
    if scan.inexact.count > 0 {
        reporter.report(Remark::Rounded {
            column: column(),
            count: scan.inexact.count,
        });
    }
    let reason = if forced {
        "set by you".to_owned()
    } else {
        format!("all {total} values are numbers")
    };
    (ColumnKind::Number, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(
        cells: &[&str],
        forced: Option<ColumnKindOverride>,
    ) -> (ColumnKind, Reporter, ColumnScan) {
        let codes = Codes::candidates();
        let mut scan = ColumnScan::new(&codes, forced);
        for (row, cell) in cells.iter().enumerate() {
            scan.push(cell.as_bytes(), row, b'.', &codes);
        }
        let mut reporter = Reporter::default();
        let (kind, _) = decide("x", &scan, &|row| row as u64 + 2, &mut reporter);
        (kind, reporter, scan)
    }

    #[test]
    fn columns_get_the_kind_their_cells_allow() {
        let kind = |cells: &[&str]| scan(cells, None).0;
        assert_eq!(kind(&["1", " 2.5 ", "NA", "", "-"]), ColumnKind::Number);
        assert_eq!(kind(&["1", "b"]), ColumnKind::Text);
        assert_eq!(kind(&["2024-01-01", ""]), ColumnKind::Date);
        assert_eq!(kind(&["", "NA"]), ColumnKind::Text);
        for (cells, code, part) in [
            (
                &["1", "2", "oops"][..],
                "not-numeric",
                "1 of 3 values of `x` is not a number (first `oops` in line 4)",
            ),
            (&["1", "12345678901234567890"], "large-integers", "line 3"),
            (
                &["01234", "99999"],
                "leading-zeros",
                "written with a leading 0",
            ),
            (&["1,234", "2,500"], "not-numeric", "kept as text"),
        ] {
            let (kind, reporter, _) = scan(cells, None);
            assert_eq!(kind, ColumnKind::Text, "{cells:?}");
            assert_eq!(reporter.warnings[0].code, code);
            assert!(
                reporter.warnings[0].message.contains(part),
                "{}",
                reporter.warnings[0].message
            );
        }
    }

    #[test]
    fn infinite_and_overflowing_cells_become_missing_and_are_reported() {
        let (kind, reporter, scan) = scan(&["1", "inf", "-Inf", "1e400"], None);
        assert_eq!(kind, ColumnKind::Number);
        assert_eq!(
            scan.numbers.iter().filter(|value| value.is_nan()).count(),
            3
        );
        let messages: Vec<&str> = reporter
            .warnings
            .iter()
            .map(|warning| warning.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "In `x` 2 values are infinite (first in line 3) and treated as missing",
                "In `x` 1 value is too large for a number (first in line 5) and treated as missing",
            ]
        );
    }

    #[test]
    fn numbers_in_other_clothes_are_told_with_what_to_take_off() {
        let advice = |cells: &[&str]| {
            let (kind, reporter, _) = scan(cells, None);
            assert_eq!(kind, ColumnKind::Text);
            let [warning] = &reporter.warnings[..] else {
                assert!(reporter.warnings.is_empty(), "{:?}", reporter.warnings);
                return String::new();
            };
            assert_eq!(warning.code, "not-numeric");
            warning.advice.clone().unwrap_or_default()
        };
        assert!(advice(&["1,234", "12,000"]).contains("thousands separators"));
        assert!(advice(&["1,5", "12,25"]).contains("decimal mark"));
        for cells in [
            ["12%", "7.5 %"],
            ["$1,234", "-$3"],
            ["£5", "12"],
            ["3 €", "4 €"],
        ] {
            assert!(advice(&cells).contains("`%` and `$`"), "{cells:?}");
        }
        assert_eq!(advice(&["%", "$"]), "");
        assert_eq!(advice(&["12%", "often"]), "");
        // Half of these are no numbers at all.
        assert_eq!(advice(&["1,234", "often"]), "");
    }

    #[test]
    fn a_forced_number_reports_what_it_could_not_read() {
        let (kind, reporter, scan) = scan(&["1", "x", "007"], Some(ColumnKindOverride::Number));
        assert_eq!(kind, ColumnKind::Number);
        assert_eq!(scan.numbers[2], 7.0);
        assert_eq!(
            reporter.warnings[0].message,
            "In `x` 1 value is not a number (first in line 3) and treated as missing"
        );
    }

    #[test]
    fn scans_of_parts_merge_to_the_scan_of_all() {
        let cells = ["1", "", "NA", "2", "x", "inf", "007", "NA"];
        let codes = Codes::candidates();
        let run = |range: std::ops::Range<usize>| {
            let mut scan = ColumnScan::new(&codes, None);
            for (row, cell) in cells[range].iter().enumerate() {
                scan.push(cell.as_bytes(), row, b'.', &codes);
            }
            scan
        };
        for cut in 0..=cells.len() {
            let (whole, mut part) = (run(0..cells.len()), run(0..cut));
            part.merge(&run(cut..cells.len()), cut);
            assert_eq!(format!("{whole:?}"), format!("{part:?}"), "cut at {cut}");
        }
    }
}
