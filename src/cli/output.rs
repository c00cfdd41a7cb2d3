//! The only place that prints.

use std::io::{self, Write};

/// Prints a result to standard output. A closed pipe ends the program quietly, as other tools do.
pub fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

/// Prints a long result to standard output, piece by piece; a closed pipe as in [`result`].
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if write(&mut out).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Prints a note to standard error, if anybody reads it.
pub fn note(text: &str) {
    // A closed pipe does not end the work: what is computed is still saved.
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints an error to standard error.
pub fn error(text: &str) {
    note(&format!("error: {text}"));
}

/// A table with columns separated by two spaces: the first left, the others right aligned.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([header[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        for (column, cell) in cells.enumerate() {
            let pad = widths[column] - cell.chars().count();
            if column == 0 {
                out.push_str(cell);
                out.push_str(&" ".repeat(pad));
            } else {
                out.push_str(&" ".repeat(pad + 2));
                out.push_str(cell);
            }
        }
        let kept = out.trim_end().len();
        out.truncate(kept);
        out.push('\n');
    };
    line(&mut header.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    out
}
