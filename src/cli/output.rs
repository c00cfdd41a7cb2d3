//! The only place that prints.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::Failure;
use ergodic_base::shown::{cut, is_hostile, sentence, visible, visible_line};
use ergodic_export::is_closed_pipe;

/// Longest cell of a table: longer ones lose their middle.
const LONGEST_CELL: usize = 120;
/// Whether a result could not be printed, although somebody would have read it.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Prints a result for people to standard output, see [`stream`]. Characters that a terminal would obey are written out,
/// because names come from files of others.
pub fn result(text: &str) {
    stream(|out| out.write_all(visible(text).as_bytes()));
}

/// Prints a value as JSON with indents to standard output, see [`json_text`].
///
/// # Errors
/// It has no JSON.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::run)?;
    json_text(&(text + "\n"));
    Ok(())
}

/// Prints JSON to standard output: the same characters, but those that a terminal would obey as the escapes of JSON, which mean
/// the same.
pub fn json_text(text: &str) {
    let mut escaped = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if is_hostile(c) {
            let units = c.encode_utf16(&mut units).iter();
            escaped.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    stream(|out| out.write_all(escaped.as_bytes()));
}

/// Prints a file to standard output, byte for byte unless a terminal shows it.
pub fn data(bytes: &[u8]) {
    if io::stdout().is_terminal() {
        result(&String::from_utf8_lossy(bytes));
    } else {
        stream(|out| out.write_all(bytes));
    }
}

/// Prints a long result to standard output, piece by piece. Nobody reads the rest of it if the pipe is closed. Where it cannot
/// be written for another reason, such as a full disk, an error says so, and [`is_incomplete`] does from then on. Either way the
/// command goes on: what it has still to save or to say does not depend on who reads this.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // What is left in the buffer would be tried once more.
    drop(out.into_parts());
    // One sentence is enough for a result of several parts.
    if let Err(problem) = written
        && !is_closed_pipe(&problem)
        && !IS_INCOMPLETE.swap(true, Ordering::Relaxed)
    {
        error(&format!(
            "The result could not be written to standard output: {problem}"
        ));
    }
}

/// Whether a result could not be printed, although somebody would have read it.
pub fn is_incomplete() -> bool {
    IS_INCOMPLETE.load(Ordering::Relaxed)
}

/// Prints a note to standard error, if anybody reads it, in at most a screen of characters that move no cursor.
pub fn note(text: &str) {
    lines(&sentence(text));
}

/// Prints lines below a note, such as the place of an error in a formula.
pub fn detail(text: &str) {
    lines(&visible(text));
}

fn lines(text: &str) {
    // A closed pipe does not end the work: what is computed is still saved.
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints an error to standard error.
pub fn error(text: &str) {
    note(&format!("error: {text}"));
}

/// A table with columns separated by two spaces: the first left, the others right aligned.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<Cow<'_, str>> = header.iter().map(|cell| shown(cell)).collect();
    let rows: Vec<Vec<Cow<'_, str>>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| shown(cell)).collect())
        .collect();
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
    line(&mut header.iter().map(AsRef::as_ref));
    for row in &rows {
        line(&mut row.iter().map(AsRef::as_ref));
    }
    out
}

/// A cell on one line.
fn shown(cell: &str) -> Cow<'_, str> {
    match visible_line(cell) {
        Cow::Borrowed(cell) => cut(cell, LONGEST_CELL),
        Cow::Owned(cell) => Cow::Owned(cut(&cell, LONGEST_CELL).into_owned()),
    }
}
