//! Places in a program's text, and errors that point at one.

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
}

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { span, message }
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
    /// Names at most this different, by Jaro and Winkler, are taken for slips of the pen.
    const NEAR: f64 = 0.8;
    let scored = known
        .into_iter()
        .map(|other| (strsim::jaro_winkler(name, other), other));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, other)) if score > NEAR => format!("; did you mean `{other}`?"),
        _ => String::new(),
    }
}
