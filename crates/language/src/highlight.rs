//! The words of a program by their kind, for editors.

use crate::parser::SECTIONS;
use crate::place::Span;
use crate::tokens::{Token, tokens};

/// What a word of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The name of a section.
    Section,
    /// A function or a distribution.
    Function,
    /// A number.
    Number,
    /// A text in quotes.
    Text,
    /// From `#` to the end of the line.
    Comment,
    /// Anything else.
    Other,
}

/// The whole of `text` in pieces, in order; a text that cannot be read is one piece.
pub fn highlight(text: &str) -> Vec<(Span, Word)> {
    let Ok(found) = tokens(text) else {
        let (start, end) = (0, text.len());
        return vec![(Span { start, end }, Word::Other)];
    };
    let mut pieces = Vec::new();
    let mut push = |start: usize, end: usize, word: Word| {
        if start < end {
            pieces.push((Span { start, end }, word));
        }
    };
    let mut at = 0;
    for (k, (token, span)) in found.iter().enumerate() {
        let gap = &text[at..span.start];
        let comment = gap.find('#').map_or(span.start, |found| at + found);
        push(at, comment, Word::Other);
        push(comment, span.start, Word::Comment);
        let follows = found.get(k + 1).map(|(token, _)| token);
        let word = match token {
            Token::Name(name)
                if SECTIONS.contains(&name.as_str()) && follows == Some(&Token::Newline) =>
            {
                Word::Section
            }
            Token::Name(_) if follows == Some(&Token::Symbol("(")) => Word::Function,
            Token::Number(_) => Word::Number,
            Token::Text(_) => Word::Text,
            _ => Word::Other,
        };
        push(span.start, span.end, word);
        at = at.max(span.end);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text() {
        let text = "parameters # what is unknown\n  a ~ normal(0, 1)\nrows\n (`b c` == \"ä\") ~ bernoulli_logit(a)";
        let pieces = highlight(text);
        let joined: String = pieces
            .iter()
            .map(|(span, _)| &text[span.start..span.end])
            .collect();
        assert_eq!(joined, text);
        let of = |word: Word| -> Vec<&str> {
            let own = pieces.iter().filter(|(_, it)| *it == word);
            own.map(|(span, _)| &text[span.start..span.end]).collect()
        };
        assert_eq!(of(Word::Section), ["parameters", "rows"]);
        assert_eq!(of(Word::Comment), ["# what is unknown"]);
        assert_eq!(of(Word::Function), ["normal", "bernoulli_logit"]);
        assert_eq!(of(Word::Number), ["0", "1"]);
        assert_eq!(of(Word::Text), ["\"ä\""]);
        assert_eq!(highlight("a $").len(), 1);
    }
}
