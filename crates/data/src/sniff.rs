//! How a text file is written: delimiter, decimal mark, header and column names, guessed from its first records.
//!
//! Every guess comes with its reason and can be overridden by [`ImportOptions`]; [`Guesses::to_options`] makes
//! the options that read the file the same way again without guessing.

use std::collections::{BTreeMap, HashSet};

use csv::ByteRecord;
use serde::{Deserialize, Serialize};

use ergodic_base::Reporter;

use super::error::DataError;
use super::ragged::RaggedRows;
use super::remark::Remark;
use super::split::reader;
use super::values::{CANDIDATE_CODES, Codes, is_iso_date, parse_number};

/// Type that the user gives a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKindOverride {
    /// Numbers; what is no number becomes missing, and how many is reported.
    Number,
    /// Categories: the text as written.
    Category,
}

ergodic_base::section! {
    /// How to read a file; what is `None` is guessed.
    #[derive(Eq)]
    #[serde(default, deny_unknown_fields)]
    pub struct ImportOptions in "data.import." {
        /// Separator between values
        pub delimiter?: Option<char>, takes "a character", default "guessed", such as ";";
        /// The decimal mark
        pub decimal?: Option<char>, takes ". | ,", default "guessed", such as ".";
        /// How the text is encoded
        pub encoding?: Option<String>, takes "a name such as utf-8 or windows-1252", default "guessed", such as "utf-8";
        /// Whether the first line holds the names of the columns
        pub header?: Option<bool>, takes "true | false", default "guessed", such as "true";
        /// Codes for missing values, besides empty cells
        pub missing?: Option<Vec<String>>, takes "a list of texts", default "guessed", such as "[\"-99\"]";
        /// Lines with more or fewer values than the header: join the surplus into the last column, or leave the line out
        pub ragged?: Option<RaggedRows>, takes "join | skip", default "refused", such as "skip";
        /// Most gigabytes that a packed file may unpack to, or that may come from a pipe
        pub max_gigabytes?: Option<u32>, takes "whole number", default "256 MB or 25 times a packed file", such as "4";
        /// How a column is read
        pub column_types.NAME?: BTreeMap<String, ColumnKindOverride>, takes "number | category", default "guessed",
            such as "category";
    }
}

/// A resolved option with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess<T> {
    /// The value used.
    pub value: T,
    /// Why, one clause.
    pub reason: String,
    /// Whether the user gave it.
    pub given: bool,
}

impl<T> Guess<T> {
    pub(crate) fn given(value: T) -> Self {
        Self {
            value,
            reason: "set by you".to_owned(),
            given: true,
        }
    }

    pub(crate) fn guessed(value: T, reason: impl Into<String>) -> Self {
        Self {
            value,
            reason: reason.into(),
            given: false,
        }
    }
}

/// Everything that was guessed or given for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// Between values.
    pub delimiter: Guess<char>,
    /// `.` or `,`.
    pub decimal: Guess<char>,
    /// Name of the encoding.
    pub encoding: Guess<String>,
    /// Whether the first line holds the column names.
    pub header: Guess<bool>,
    /// Cells that mean "no value", besides empty ones; only those that occur if guessed.
    pub missing: Guess<Vec<String>>,
}

impl Guesses {
    /// Options that read the file the same way without guessing; what is no guess comes from the options `given`.
    pub fn to_options(&self, given: &ImportOptions) -> ImportOptions {
        ImportOptions {
            delimiter: Some(self.delimiter.value),
            decimal: Some(self.decimal.value),
            encoding: Some(self.encoding.value.clone()),
            header: Some(self.header.value),
            missing: Some(self.missing.value.clone()),
            ragged: given.ragged,
            max_gigabytes: given.max_gigabytes,
            column_types: given.column_types.clone(),
        }
    }

    /// What holds for a file that states its own types: nothing was guessed.
    pub fn typed_file(format: &str) -> Self {
        let reason = format!("{format} states it");
        Self {
            delimiter: Guess::guessed(',', reason.clone()),
            decimal: Guess::guessed('.', reason.clone()),
            encoding: Guess::guessed("utf-8".to_owned(), reason.clone()),
            header: Guess::guessed(true, reason.clone()),
            missing: Guess::guessed(Vec::new(), reason),
        }
    }
}

impl ImportOptions {
    /// Adds the texts that often mean "no value" to those that are said to, but for those that are a value. Where nothing is said they
    /// are guessed from the file.
    pub fn add_usual_missing(&mut self, is_value: impl Fn(&str) -> bool) {
        let Some(missing) = &mut self.missing else {
            return;
        };
        for code in CANDIDATE_CODES {
            if !is_value(code) && !missing.iter().any(|known| known == code) {
                missing.push(code.to_owned());
            }
        }
    }

    /// Refuses options that make no sense, naming them.
    pub fn check(&self) -> Result<(), DataError> {
        let refuse = |message: String| Err(DataError::Option(message));
        if let Some(delimiter) = self.delimiter
            && (!delimiter.is_ascii()
                || matches!(delimiter, '"' | '\n' | '\r' | '\0')
                || delimiter.is_ascii_alphanumeric())
        {
            return refuse(format!(
                "The delimiter must be one character such as `,`, `;` or a tab, not {delimiter:?}"
            ));
        }
        if let Some(decimal) = self.decimal
            && !matches!(decimal, '.' | ',')
        {
            return refuse(format!(
                "The decimal mark must be `.` or `,`, not {decimal:?}"
            ));
        }
        Ok(())
    }
}

/// Records looked at for guessing.
pub(crate) const SAMPLE_RECORDS: usize = 200;

/// The delimiter in words, for sentences.
pub(crate) fn delimiter_words(delimiter: char) -> String {
    match delimiter {
        ',' => "comma".to_owned(),
        ';' => "semicolon".to_owned(),
        '\t' => "tab".to_owned(),
        ' ' => "space".to_owned(),
        '|' => "bar".to_owned(),
        other => format!("`{other}`"),
    }
}

/// The first records of a text.
pub(crate) fn sample(text: &[u8], delimiter: char) -> Vec<ByteRecord> {
    reader(text, delimiter as u8)
        .into_byte_records()
        .take(SAMPLE_RECORDS)
        .map_while(Result::ok)
        .collect()
}

/// Chooses the delimiter whose records have the same number of values, several of them.
pub(crate) fn guess_delimiter(text: &[u8]) -> Guess<char> {
    struct Candidate {
        delimiter: char,
        share: f64,
        width: usize,
        decimal_commas: bool,
    }
    let candidates: Vec<Candidate> = ['\t', ';', '|', ',', ' ']
        .into_iter()
        .filter_map(|delimiter| {
            let records = sample(text, delimiter);
            let width = records.first()?.len();
            let same = records
                .iter()
                .filter(|record| record.len() == width)
                .count();
            let decimal_commas = delimiter != ','
                && records
                    .iter()
                    .skip(1)
                    .flat_map(ByteRecord::iter)
                    .any(has_decimal_comma);
            let share = same as f64 / records.len() as f64;
            (width > 1).then_some(Candidate {
                delimiter,
                share,
                width,
                decimal_commas,
            })
        })
        .collect();
    // A comma inside numbers that another delimiter separates is a decimal mark.
    let comma_is_decimal = candidates
        .iter()
        .any(|c| c.decimal_commas && c.share > 0.9 && c.delimiter != ' ');
    let best = candidates
        .iter()
        .filter(|c| !(comma_is_decimal && c.delimiter == ','))
        // A space in words is common, so a space is a delimiter only where nothing else is.
        .max_by(|a, b| {
            let rank =
                |c: &Candidate| (c.delimiter != ' ', (c.share * 20.0).round() as i64, c.width);
            rank(a).cmp(&rank(b))
        });
    match best {
        Some(c) if c.share == 1.0 => Guess::guessed(
            c.delimiter,
            format!(
                "every record looked at has {} values separated by it",
                c.width
            ),
        ),
        Some(c) if c.share > 0.5 || c.delimiter != ' ' => Guess::guessed(
            c.delimiter,
            format!(
                "{:.0} % of the records looked at have {} values separated by it",
                100.0 * c.share,
                c.width
            ),
        ),
        _ => Guess::guessed(',', "no delimiter was found, so there is one column"),
    }
}

/// Whether a cell is a number with a decimal comma: digits, one comma, digits.
fn has_decimal_comma(cell: &[u8]) -> bool {
    cell.contains(&b',') && parse_number(cell.trim_ascii(), b',').is_some()
}

/// Chooses the decimal mark from the cells below the first record.
pub(crate) fn guess_decimal(
    records: &[ByteRecord],
    delimiter: char,
    reporter: &mut Reporter,
) -> Guess<char> {
    if delimiter == ',' {
        return Guess::guessed('.', "the comma separates values");
    }
    let cells = || records.iter().skip(1).flat_map(ByteRecord::iter);
    let with_comma: Vec<&[u8]> = cells().filter(|cell| has_decimal_comma(cell)).collect();
    let dots = cells()
        .filter(|cell| cell.contains(&b'.') && parse_number(cell.trim_ascii(), b'.').is_some())
        .count();
    let Some(first) = with_comma.first() else {
        let reason = if dots > 0 {
            "numbers such as those in the first records have a point"
        } else {
            "no number looked at has a decimal mark"
        };
        return Guess::guessed('.', reason);
    };
    let example = String::from_utf8_lossy(first).into_owned();
    if dots >= with_comma.len() {
        return Guess::guessed(
            '.',
            format!(
                "{dots} numbers have a point and {} such as `{example}` a comma",
                with_comma.len()
            ),
        );
    }
    let like_thousands = with_comma.iter().all(|cell| {
        let cell = cell.trim_ascii();
        let comma = cell.iter().position(|&byte| byte == b',').unwrap_or(0);
        cell.len() - comma == 4 && cell[0] != b'0'
    });
    if like_thousands {
        reporter.report(Remark::DecimalComma {
            example: example.clone(),
        });
    }
    Guess::guessed(',', format!("numbers such as `{example}` have a comma"))
}

/// Decides whether the first record holds names.
pub(crate) fn guess_header(records: &[ByteRecord], decimal: char) -> Guess<bool> {
    let Some(first) = records.first() else {
        return Guess::guessed(true, "there is no record");
    };
    let codes = Codes::candidates();
    let value = first.iter().map(<[u8]>::trim_ascii).find(|cell| {
        parse_number(cell, decimal as u8).is_some()
            || is_iso_date(cell)
            || (!cell.is_empty() && codes.find(cell).is_some())
    });
    if let Some(value) = value {
        return Guess::guessed(
            false,
            format!(
                "the first line holds the value `{}`",
                String::from_utf8_lossy(value)
            ),
        );
    }
    let rest = &records[1..];
    let recurs = |col: usize, cell: &[u8]| rest.iter().any(|record| record.get(col) == Some(cell));
    if rest.len() >= 3
        && first
            .iter()
            .enumerate()
            .all(|(col, cell)| !cell.is_empty() && recurs(col, cell))
    {
        return Guess::guessed(false, "every value of the first line occurs again below it");
    }
    Guess::guessed(true, "the first line holds words only")
}

/// Unique column names from the header's cells, or `column_1`… without header. Changed names are reported.
pub(crate) fn column_names(
    header: Option<&ByteRecord>,
    width: usize,
    reporter: &mut Reporter,
) -> Vec<String> {
    let written: Vec<String> = match header {
        Some(record) => record
            .iter()
            .map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned())
            .collect(),
        None => vec![String::new(); width],
    };
    unique_names(&written, header.is_some(), reporter)
}

/// Gives empty and repeated names their own; reports them if `report`.
pub(crate) fn unique_names(
    written: &[String],
    report: bool,
    reporter: &mut Reporter,
) -> Vec<String> {
    let reserved: HashSet<&str> = written.iter().map(String::as_str).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(written.len());
    for (col, name) in written.iter().enumerate() {
        let base = if name.is_empty() {
            format!("column_{}", col + 1)
        } else {
            name.clone()
        };
        // A new name must not be one that a later column has by right.
        let free = |candidate: &String, taken: &HashSet<String>| {
            !taken.contains(candidate)
                && (candidate == name || !reserved.contains(candidate.as_str()))
        };
        let mut unique = base.clone();
        let mut number = 2;
        while !free(&unique, &taken) {
            unique = format!("{base}.{number}");
            number += 1;
        }
        if unique != *name && report {
            let (position, column) = (col + 1, unique.clone());
            reporter.report(match name.as_str() {
                "" => Remark::EmptyName { position, column },
                name => Remark::DuplicateName {
                    position,
                    name: name.to_owned(),
                    column,
                },
            });
        }
        taken.insert(unique.clone());
        names.push(unique);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(text: &str) -> char {
        guess_delimiter(text.as_bytes()).value
    }

    #[test]
    fn delimiters_are_found() {
        assert_eq!(delimiter("a,b,c\n1,2,3\n4,5,6\n"), ',');
        assert_eq!(delimiter("a;b\n1,5;2,5\n3,5;4,0\n"), ';');
        assert_eq!(delimiter("1,5;2,5\n3,5;4,0\n"), ';');
        assert_eq!(delimiter("a\tb\nx, y\tz\n"), '\t');
        assert_eq!(delimiter("a|b|c\n1|2|3\n"), '|');
        assert_eq!(delimiter("a b c\n1 2 3\n"), ' ');
        assert_eq!(delimiter("name,text\nx,\"a;b;c\"\ny,\"d;e\"\n"), ',');
        assert_eq!(delimiter("a\n1\n2\n"), ',');
        // A ragged file keeps its delimiter, so that the error can name the line.
        assert_eq!(delimiter("a,b,c\n1,2\n1,2,3\n4,5,6,7\n"), ',');
        assert_eq!(delimiter("first name,age\nAnn Lee,3\nBob,4\n"), ',');
    }

    #[test]
    fn decimal_commas_are_found_and_thousands_doubted() {
        let mut reporter = Reporter::default();
        let guess = |text: &str, reporter: &mut Reporter| {
            guess_decimal(&sample(text.as_bytes(), ';'), ';', reporter).value
        };
        assert_eq!(guess("a;b\n1,5;x\n", &mut reporter), ',');
        assert_eq!(guess("a;b\n1.5;x\n", &mut reporter), '.');
        assert!(reporter.warnings.is_empty());
        assert_eq!(guess("a;b\n1,500;x\n2,250;x\n", &mut reporter), ',');
        assert_eq!(reporter.warnings[0].code, "ambiguous-decimal");
    }

    #[test]
    fn headers_are_told_from_data() {
        let header = |text: &str| guess_header(&sample(text.as_bytes(), ','), '.').value;
        assert!(header("a,b\n1,2\n"));
        assert!(!header("1,2\n3,4\n"));
        assert!(header("name,,x\nann,3,4\n"));
        assert!(!header("yes,north\nno,south\nyes,south\nno,north\n"));
        assert!(header("answer,place\nno,south\nyes,south\nno,north\n"));
        assert!(!header("2020-01-01,x\n2020-01-02,y\n"));
    }

    #[test]
    fn names_become_unique_and_changes_are_reported() {
        let mut reporter = Reporter::default();
        let written: Vec<String> = ["a", "", "a", "a.2", "a", ""].map(str::to_owned).to_vec();
        let names = unique_names(&written, true, &mut reporter);
        assert_eq!(names, ["a", "column_2", "a.3", "a.2", "a.4", "column_6"]);
        assert_eq!(reporter.warnings.len(), 4);
        assert!(
            reporter.warnings[1]
                .message
                .contains("`a` occurs more than once")
        );
    }

    #[test]
    fn options_survive_their_file_form_and_nonsense_is_refused() {
        let mut options = ImportOptions {
            delimiter: Some(';'),
            decimal: Some(','),
            ..ImportOptions::default()
        };
        options
            .column_types
            .insert("zip".into(), ColumnKindOverride::Category);
        let text = toml::to_string(&options).unwrap();
        assert_eq!(toml::from_str::<ImportOptions>(&text).unwrap(), options);
        options.delimiter = Some('x');
        assert!(
            options
                .check()
                .unwrap_err()
                .to_string()
                .contains("delimiter")
        );
        options = ImportOptions {
            decimal: Some(';'),
            ..ImportOptions::default()
        };
        assert!(
            options
                .check()
                .unwrap_err()
                .to_string()
                .contains("decimal mark")
        );
    }
}
