//! Places in a program's text, and errors that point at one.

use ergodic_base::names::nearest;

/// Bytes `start..end` of a program's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

impl Span {
    /// From the beginning of this to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }
}

/// What is wrong at a place, before the text is at hand to say where that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    /// The row that shows it, 0-based among those that are read.
    pub row: Option<usize>,
}

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            row: None,
        }
    }

    /// A fault that `row` of several shows.
    #[must_use]
    pub fn in_row(self, row: usize) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// The fault with its row, of the data the one that `origin` says, in the sentence.
    #[must_use]
    pub fn with_its_row(mut self, origin: impl Fn(usize) -> usize) -> Self {
        if let Some(row) = self.row.take() {
            self.message = format!("{} in row {} of the data", self.message, origin(row) + 1);
        }
        self
    }
}

/// What is wrong with a program and where: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column} of the model)")]
pub struct ProgramError {
    /// What is wrong and what to write.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// First character in the line, from 1; one beyond the last where something is missing.
    pub column: usize,
    /// Characters of that line that are meant, at least 1.
    pub width: usize,
    /// The line.
    pub text: String,
}

impl ProgramError {
    pub(crate) fn of(fault: Fault, text: &str) -> Self {
        let floor = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(fault.span.start), floor(fault.span.end));
        let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let last = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let width = text[start..end.clamp(start, last)].chars().count();
        Self {
            message: fault.message,
            line: 1 + text[..start].matches('\n').count(),
            column: 1 + text[first..start].chars().count(),
            width: width.max(1),
            text: text[first..last].trim_end_matches('\r').to_owned(),
        }
    }

    /// The bytes of the program's `text` that are meant.
    pub fn bytes_in(&self, text: &str) -> std::ops::Range<usize> {
        let mut start = 0;
        for line in text.split('\n').take(self.line - 1) {
            start += line.len() + 1;
        }
        let rest = text.get(start..).unwrap_or_default();
        let at = |characters: usize| {
            let found = rest.char_indices().nth(characters);
            start + found.map_or(rest.len(), |(at, _)| at)
        };
        at(self.column - 1)..at(self.column - 1 + self.width)
    }

    /// The line, and below it a mark under what is meant.
    pub fn excerpt(&self) -> String {
        // Tabs stay tabs, so that the mark stands below its text however wide they are.
        let before = self.text.chars().take(self.column - 1);
        let space: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        format!("{}\n{space}{}", self.text, "^".repeat(self.width))
    }
}

/// "; did you mean `x`?" for the known name nearest to `name`, if one is near.
pub(crate) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known.into_iter()) {
        Some(other) => format!("; did you mean `{other}`?"),
        None => String::new(),
    }
}
