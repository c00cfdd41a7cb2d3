//! The only place that prints.

use std::io::{self, Write};

use super::FAILED;

/// Prints a result to standard output, see [`stream`].
pub fn result(text: &str) {
    stream(|out| out.write_all(text.as_bytes()));
}

/// Prints a long result to standard output, piece by piece. A closed pipe ends the program quietly, as other tools do; where
/// the result cannot be written for another reason, such as a full disk, it ends as with results that could not be saved.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(problem) => {
            error(&format!(
                "The result could not be written to standard output: {problem}"
            ));
            std::process::exit(i32::from(FAILED));
        }
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
