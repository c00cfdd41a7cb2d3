//! Tables in the LIBSVM format: a row is a label and pairs of a column's number and its value there, such as `-1 3:0.5 11:1`. Columns
//! count from 1, their numbers grow along a row, and what is not written is 0. `#` begins a comment.
//!
//! Such a file becomes columns x1, x2, … and, behind them, where the outcome of a table is looked for first, `label`.

use ergodic_base::Control;
use ergodic_base::Reporter;
use ergodic_core::design::{ColumnKind, Values};

use super::error::DataError;
use super::load::Loaded;
use super::parse::{Extent, MAX_COLUMNS};
use super::sniff::{Guesses, SAMPLE_RECORDS};
use super::table::{Table, TypedColumn};
use super::values::parse_number;

/// Name of the column of labels.
const LABEL: &str = "label";
/// Lines that are looked at to know the format.
const SNIFFED: usize = 50;
/// Bytes of a table that may be made unasked however small its file is: rows write no zeros, so that a table can be much larger.
const UNASKED_BYTES: u64 = 2_000_000_000;
/// Beyond that, how many times its file's size. Rows that write one value in fifteen take about this.
const TIMES: u64 = 25;
/// Rows between two looks at the cancel flag.
const ROWS_AT_ONCE: usize = 4096;

/// A line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// The number of a column, from 1, and the value in it.
fn pair(word: &str) -> Option<(usize, f64)> {
    let (column, value) = word.split_once(':')?;
    let is_plain = column.bytes().all(|byte| byte.is_ascii_digit());
    let column = is_plain.then(|| column.parse().ok()).flatten()?;
    Some((column, number(value)?))
}

fn number(word: &str) -> Option<f64> {
    parse_number(word.as_bytes(), b'.').map(|parsed| parsed.value)
}

/// Whether the first lines are a label each and pairs, two at least in one of them, for a number and a time of day, such as `5 12:30`, look
/// like a label and a pair; of a text that is `cut` the last line does not count.
pub(super) fn is_libsvm(text: &str, cut: bool) -> bool {
    let mut lines: Vec<&str> = text.lines().take(SNIFFED).collect();
    if cut && lines.len() > 1 && lines.len() < SNIFFED {
        lines.pop();
    }
    let mut most_pairs = 0;
    for line in lines {
        let mut words = content(line).split_ascii_whitespace();
        let Some(label) = words.next() else {
            continue;
        };
        if number(label).is_none() {
            return false;
        }
        let mut pairs = 0;
        for word in words {
            if pair(word).is_none() {
                return false;
            }
            pairs += 1;
        }
        most_pairs = most_pairs.max(pairs);
    }
    most_pairs > 1
}

/// What is told of every row: its label, and the pairs in it.
trait Rows {
    fn label(&mut self, label: f64);
    fn value(&mut self, column: usize, value: f64);
}

/// How large the table is.
#[derive(Default)]
struct Size {
    rows: usize,
    columns: usize,
}

impl Rows for Size {
    fn label(&mut self, _label: f64) {
        self.rows += 1;
    }

    fn value(&mut self, column: usize, _value: f64) {
        self.columns = self.columns.max(column);
    }
}

/// The columns as they are filled.
struct Filled {
    labels: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

impl Rows for Filled {
    fn label(&mut self, label: f64) {
        self.labels.push(label);
    }

    fn value(&mut self, column: usize, value: f64) {
        let row = self.labels.len() - 1;
        self.columns[column - 1][row] = value;
    }
}

/// A file in memory.
pub(super) struct Libsvm<'a> {
    /// File, for sentences.
    pub name: &'a str,
    /// Where the file comes from.
    pub source: &'a str,
    /// The text, without a byte order mark.
    pub text: &'a str,
    /// Gigabytes that the user allows.
    pub allowed: Option<u64>,
    pub control: &'a Control,
    pub extent: Extent,
}

impl Libsvm<'_> {
    /// The lines that are wanted, each with its number.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let count = match self.extent {
            Extent::All => usize::MAX,
            Extent::FirstRecords => SAMPLE_RECORDS,
            // The last line may be cut off.
            Extent::FirstRecordsOfCut => {
                let whole = self.text.lines().take(SAMPLE_RECORDS + 1).count();
                whole.saturating_sub(1).max(1)
            }
        };
        (1..).zip(self.text.lines().take(count))
    }

    fn walk(&self, rows: &mut impl Rows) -> Result<(), DataError> {
        for (line, text) in self.lines() {
            if line % ROWS_AT_ONCE == 0 {
                self.control.check(DataError::Cancelled)?;
            }
            let refuse = |what: String| DataError::Libsvm {
                file: self.name.to_owned(),
                line,
                what,
            };
            let mut words = content(text).split_ascii_whitespace();
            let Some(label) = words.next() else {
                continue;
            };
            rows.label(
                number(label).ok_or_else(|| refuse(format!("its label `{label}` is no number")))?,
            );
            let mut before = 0;
            for word in words {
                let Some((column, value)) = pair(word) else {
                    return Err(refuse(format!(
                        "`{word}` is no pair of a column and a number"
                    )));
                };
                if column == 0 {
                    return Err(refuse(format!(
                        "`{word}` is of column 0, but columns count from 1"
                    )));
                }
                if column <= before {
                    return Err(refuse(format!(
                        "column {column} stands after column {before}"
                    )));
                }
                before = column;
                rows.value(column, value);
            }
        }
        Ok(())
    }

    /// The table; `fingerprint` is that of the file.
    pub fn read(&self, fingerprint: String) -> Result<Loaded, DataError> {
        let bytes = self.text.len() as u64;
        self.control.expect(4 * bytes);
        self.control.reach(bytes);
        let mut size = Size::default();
        self.walk(&mut size)?;
        let Size { rows, columns } = size;
        let needed = 8_u64.saturating_mul((columns + 1) as u64 * rows as u64);
        let most = self.allowed.unwrap_or(UNASKED_BYTES.max(TIMES * bytes));
        if columns > MAX_COLUMNS || needed > most {
            return Err(DataError::TooLarge(format!(
                "{} is a table of {rows} rows and {columns} columns, which takes {:.1} GB of memory with the zeros that are not written; \
                 leave columns out (at most {MAX_COLUMNS}), or allow more with `data.import.max_gigabytes`",
                self.name,
                needed as f64 / 1e9
            )));
        }
        self.control.reach(2 * bytes);
        let mut filled = Filled {
            labels: Vec::with_capacity(rows),
            columns: vec![vec![0.0; rows]; columns],
        };
        self.walk(&mut filled)?;
        self.control.reach(4 * bytes);
        self.control.count(rows as u64);
        let column = |name: String, values: Vec<f64>| TypedColumn {
            name,
            kind: ColumnKind::Number,
            reason: "the LIBSVM format has numbers alone".to_owned(),
            values: Values::Numbers(values),
        };
        let predictors = filled.columns.into_iter().enumerate();
        let mut all: Vec<TypedColumn> = predictors
            .map(|(j, values)| column(format!("x{}", j + 1), values))
            .collect();
        all.push(column(LABEL.to_owned(), filled.labels));
        Ok(Loaded {
            table: Table::assemble(self.name, self.source, fingerprint, all, None)?,
            guesses: Guesses::typed_file("the LIBSVM format"),
            reporter: Reporter::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::load::load_bytes;
    use crate::sniff::ImportOptions;
    use ergodic_core::design::{Columns as _, Design, ModelFrame};

    const TEXT: &str = "-1 1:0.5 3:-2e-1\n+1 2:1 # the second\n\n-1\n1 1:3 2:4 4:007\n-1 4:.25 \n";

    fn read(bytes: &[u8]) -> Result<Loaded, DataError> {
        let options = ImportOptions::default();
        load_bytes("a9", "a9", bytes.to_vec(), &options, &Control::default())
    }

    fn refusal(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn pairs_become_columns_and_what_is_not_written_is_0() {
        let loaded = read(TEXT.as_bytes()).unwrap();
        let table = &loaded.table;
        assert_eq!(
            table.names().collect::<Vec<_>>(),
            ["x1", "x2", "x3", "x4", "label"]
        );
        for (j, wanted) in [
            [0.5, 0.0, 0.0, 3.0, 0.0],
            [0.0, 1.0, 0.0, 4.0, 0.0],
            [-0.2, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 7.0, 0.25],
            [-1.0, 1.0, -1.0, 1.0, -1.0],
        ]
        .iter()
        .enumerate()
        {
            assert_eq!(table.numbers(j).unwrap(), wanted, "column {j}");
        }
        // What was found out reads the file in the same way again.
        let options = loaded.guesses.to_options(&ImportOptions::default());
        let again = load_bytes(
            "a9",
            "a9",
            TEXT.as_bytes().to_vec(),
            &options,
            &Control::default(),
        );
        assert_eq!(again.unwrap().table.names().count(), 5);
    }

    #[test]
    fn labels_are_outcomes() {
        for (text, sentence) in [
            (TEXT.to_owned(), "success = 1, 2 of 5"),
            (
                "1 1:0.5\n2 1:1\n2 2:1 1:1\n".replace("2:1 1:1", "1:1 2:1"),
                "success = 2, 2 of 3",
            ),
        ] {
            let table = read(text.as_bytes()).unwrap().table;
            let frame = ModelFrame::new("label ~ x1 + x2".parse().unwrap());
            let (design, _) = Design::build(&table, &frame).unwrap();
            assert_eq!(design.response.sentence(), sentence);
        }
    }

    #[test]
    fn packed_files_are_the_same_tables() {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(TEXT.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let loaded = read(&packed).unwrap();
        assert_eq!(loaded.table.num_rows(), 5);
        assert_eq!(
            loaded.table.fingerprint(),
            crate::table::hex_sha256(&packed)
        );
    }

    #[test]
    fn previews_have_the_first_rows_that_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let mut text = String::new();
        for row in 0..200_000 {
            text.push_str(&format!("{} 1:{row} 7:1\n", 1 + row % 2));
        }
        std::fs::write(&path, text).unwrap();
        let shown = crate::load::preview(&path, &ImportOptions::default()).unwrap();
        assert_eq!(
            (shown.table.num_rows(), shown.table.names().count()),
            (SAMPLE_RECORDS, 8)
        );
    }

    #[test]
    fn errors_name_the_line() {
        // Lines that are looked at to know the format are well formed.
        let begin: String = (0..SNIFFED).map(|_| "1 1:1 2:1\n").collect();
        for (line, what) in [
            ("1 x:1", "`x:1` is no pair of a column and a number"),
            ("1 2:a", "`2:a` is no pair of a column and a number"),
            ("1 3", "`3` is no pair of a column and a number"),
            ("a 3:1", "its label `a` is no number"),
            ("1 0:1", "`0:1` is of column 0, but columns count from 1"),
            ("1 5:1 3:2", "column 3 stands after column 5"),
        ] {
            assert_eq!(
                refusal(&format!("{begin}{line}\n")),
                format!(
                    "Line 51 of a9 is no row in the LIBSVM format: {what}; a row is a label and pairs of a column's number and its value, \
                     such as `1 3:0.5 11:2`"
                )
            );
        }
        let error = refusal("1 1:1 99999:1\n2 1:1\n1 100001:1\n");
        assert!(error.contains("3 rows and 100001 columns"), "{error}");
        let many: String = (0..3000).map(|_| "1 1:1 99999:1\n").collect();
        let error = refusal(&many);
        assert!(
            error.contains("takes 2.4 GB") && error.contains("max_gigabytes"),
            "{error}"
        );
    }

    #[test]
    fn other_texts_are_not_taken_for_it() {
        for text in [
            "a,b\n1,2\n",
            "1 2\n3 4\n",
            "time value\n1 12:30\n",
            "12:30 1\n12:31 2\n",
            "5 12:30\n6 12:31\n",
            "1 12:30:01\n2 12:30:02\n",
            "x 1:2\n",
            "",
        ] {
            assert!(!is_libsvm(text, false), "{text:?}");
        }
        assert!(is_libsvm(TEXT, false));
        assert!(is_libsvm("1 1:2 2:1\n1 2", true) && !is_libsvm("1 1:2 2:1\n1 2", false));
    }
}
