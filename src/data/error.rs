//! Why data were refused: one sentence each, saying what happened, where, and what to do.

use std::path::PathBuf;

use super::formula::FormulaError;
use super::ragged::RaggedLines;
use crate::base::shown::shortened;

/// Why a file, a formula or a role was refused. `Display` is the sentence, without a final period.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// No such file.
    #[error("The data file does not exist; check the path: {}", .0.display())]
    NotFound(PathBuf),
    /// The path is a directory.
    #[error("The path is a directory, not a data file; choose a file in it: {}", .0.display())]
    IsDirectory(PathBuf),
    /// The system refused to read.
    #[error("The data file cannot be read ({reason}); check its permissions: {}", path.display())]
    Unreadable {
        /// File.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// Nothing in the file.
    #[error("{0} is empty; choose a file with a header line and at least one row of data")]
    Empty(String),
    /// One line only.
    #[error(
        "{file} has a header line with {columns} columns but no rows of data; if that line is data, choose Header: none (data.import.header = false)"
    )]
    HeaderOnly {
        /// File name.
        file: String,
        /// Names in the header.
        columns: usize,
    },
    /// Not a text table.
    #[error("{file} is not a text table: {what}; {remedy}")]
    Binary {
        /// File name.
        file: String,
        /// What was found where.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The compressed stream is damaged.
    #[error(
        "{file} cannot be decompressed ({reason}); it may be cut off, so copy or download it again"
    )]
    Compressed {
        /// File name.
        file: String,
        /// The decoder's words.
        reason: String,
    },
    /// A line with another number of values than the header.
    #[error(
        "Line {line} has {found} {}, the {} {expected}{}; look for a missing quote or delimiter there, choose another delimiter than {delimiter}, or let such lines be joined or skipped (data.import.ragged)",
        if *found == 1 { "value" } else { "values" }, if *header { "header has" } else { "first line has" }, lines.others()
    )]
    Ragged {
        /// 1-based line of the file.
        line: u64,
        /// Values in it.
        found: usize,
        /// Values wanted.
        expected: usize,
        /// Whether the first line is a header.
        header: bool,
        /// Delimiter in words.
        delimiter: String,
        /// All such lines, and the place of the first.
        lines: Box<RaggedLines>,
    },
    /// Draws of Stan where a table of data is wanted.
    #[error(
        "{0} is a Stan CSV, so it holds draws and no data; write it as CSV with `as_draws_df` of the R package posterior and open that, or choose the file of the data"
    )]
    StanDraws(String),
    /// A quote that is never closed.
    #[error(
        "The quote opened in line {0} is never closed; add the closing quote or remove the opening one"
    )]
    UnclosedQuote(u64),
    /// Bytes that the chosen encoding does not have.
    #[error("{file} is not {encoding}: {what}; choose another encoding")]
    Encoding {
        /// File name.
        file: String,
        /// Chosen encoding.
        encoding: String,
        /// What was found.
        what: String,
    },
    /// More than memory should be filled with unasked.
    #[error("{0}")]
    TooLarge(String),
    /// An import option that makes no sense.
    #[error("{0}")]
    Option(String),
    /// Parquet that cannot be read.
    #[error(
        "{file} cannot be read as Parquet ({reason}); it may be damaged or cut off, so write or copy it again"
    )]
    Parquet {
        /// File name.
        file: String,
        /// The reader's words.
        reason: String,
    },
    /// The user cancelled.
    #[error("Loading was cancelled; nothing was changed")]
    Cancelled,
    /// A formula that cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A column that the table does not have.
    #[error(
        "{place} names the column `{}`, which the table does not have; {hint}",
        shortened(column)
    )]
    UnknownColumn {
        /// "The formula", "The recipe".
        place: String,
        /// Name.
        column: String,
        /// Nearest names, or all.
        hint: String,
    },
    /// A column that cannot play its role.
    #[error("{0}")]
    Role(String),
    /// No rows are left.
    #[error("{0}")]
    NoRows(String),
    /// No bundled data set of this name.
    #[error("There is no bundled data set `{id}`; there are {known}")]
    UnknownSample {
        /// Name asked for.
        id: String,
        /// Names there are.
        known: String,
    },
}

impl DataError {
    /// Refuses a column whose numbers are so far apart that their `spread` is no number.
    pub(crate) fn check_width(
        spread: f64,
        role: &str,
        name: &str,
        [least, largest]: [f64; 2],
    ) -> Result<(), Self> {
        if spread.is_finite() {
            return Ok(());
        }
        Err(Self::Role(format!(
            "The {role} `{name}` has numbers from {least:e} to {largest:e}, too far apart to compute with; divide the column \
             by a power of ten, or look for a code of missing values among them"
        )))
    }
}

/// Names of more letters are not compared: nobody mistypes them, and comparing takes time.
const LONGEST_COMPARED: usize = 100;
/// Names that one is compared with at most.
const MOST_COMPARED: usize = 10_000;

/// The name most like `wanted`, unless none is.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = wanted.chars().count();
    if letters > LONGEST_COMPARED {
        return None;
    }
    let near = names
        .filter(|name| name.len() <= 4 * LONGEST_COMPARED)
        .take(MOST_COMPARED)
        .map(|name| (distance(wanted, name), name))
        .min();
    // Something must be left of it: all names of one letter are one letter apart.
    near.filter(|(distance, _)| *distance <= 1 + letters / 4 && *distance < letters)
        .map(|(_, name)| name)
}

/// The names most like `wanted`, in words for an error: "did you mean `income`?" or the list of columns.
pub(crate) fn name_hint<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if let Some(name) = nearest(wanted, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    let shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    let more = names.len().saturating_sub(shown.len());
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("it has {}{rest}", shown.join(", "))
}

/// Letters to change, add or leave out to turn one name into the other, upper and lower case being equal.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest_one_and_a_strange_one_the_list() {
        let names = ["age", "income", "region"];
        assert_eq!(
            name_hint("incme", names.into_iter()),
            "did you mean `income`?"
        );
        assert_eq!(name_hint("Age", names.into_iter()), "did you mean `age`?");
        assert_eq!(name_hint("x", ["g", "y"].into_iter()), "it has `g`, `y`");
        assert_eq!(name_hint("x", ["g", "X"].into_iter()), "did you mean `X`?");
        assert!(name_hint("zzzzzz", names.into_iter()).contains("`age`, `income`, `region`"));
    }
}
