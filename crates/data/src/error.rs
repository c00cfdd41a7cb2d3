//! Why data were refused: one sentence each, saying what happened, where, and what to do.

use std::path::PathBuf;

use super::ragged::RaggedLines;
use ergodic_core::design::DesignError;

/// Why a file or a formula was refused. `Display` is the sentence, without a final period.
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
    #[error("{file} is not a text table: {what}; {advice}")]
    Binary {
        /// File name.
        file: String,
        /// What was found where.
        what: String,
        /// What to do.
        advice: &'static str,
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
    /// A line of a LIBSVM file that is no row.
    #[error(
        "Line {line} of {file} is no row in the LIBSVM format: {what}; a row is a label and pairs of a column's number and its value, such as `1 3:0.5 11:2`"
    )]
    Libsvm {
        /// File name.
        file: String,
        /// 1-based line.
        line: usize,
        /// What is wrong with it.
        what: String,
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
    /// A formula or a column that no design can be made of.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// No bundled data set of this name.
    #[error("There is no bundled data set `{id}`; there are {known}")]
    UnknownSample {
        /// Name asked for.
        id: String,
        /// Names there are.
        known: String,
    },
}
