//! The words of a program by their kind, for editors.

use crate::parser::SECTIONS;
use crate::place::Span;
use crate::tokens::{Token, pieces};

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

/// The whole of `text` in pieces, in order. What cannot be read is [`Word::Other`], and what stands before and after it is as it would be
/// without it.
pub fn highlight(text: &str) -> Vec<(Span, Word)> {
    let found = pieces(text);
    let mut words = Vec::new();
    let mut push = |start: usize, end: usize, word: Word| {
        if start < end {
            words.push((Span { start, end }, word));
        }
    };
    let mut at = 0;
    for (k, (read, span)) in found.iter().enumerate() {
        let gap = &text[at..span.start];
        let comment = gap.find('#').map_or(span.start, |found| at + found);
        push(at, comment, Word::Other);
        push(comment, span.start, Word::Comment);
        let follows = found.get(k + 1).and_then(|(read, _)| read.as_ref().ok());
        let word = match read {
            Ok(Token::Name(name))
                if SECTIONS.contains(&name.as_str()) && follows == Some(&Token::Newline) =>
            {
                Word::Section
            }
            Ok(Token::Name(_)) if follows == Some(&Token::Symbol("(")) => Word::Function,
            Ok(Token::Number(_)) => Word::Number,
            Ok(Token::Text(_)) => Word::Text,
            _ => Word::Other,
        };
        push(span.start, span.end, word);
        at = at.max(span.end);
    }
    words
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
    }

    #[test]
    fn what_cannot_be_read_takes_no_colours_away() {
        let before = "parameters # what is unknown\n  a ~ normal(0, 1)\n";
        let after = "\nrows # 2 of them\n  y ~ student_t(4, a, 1)\n";
        for wrong in ["$", "a %*% 2", "1e999", "`a # b", "\"a # b", "é€ := \"\""] {
            let text = format!("{before}{wrong}{after}");
            let pieces = highlight(&text);
            let mut end = 0;
            for (span, _) in &pieces {
                assert_eq!(span.start, end, "{wrong}");
                end = span.end;
            }
            assert_eq!(end, text.len(), "{wrong}");
            // The same words as those of the parts that can be read, at their places.
            let shift = before.len() + wrong.len();
            let of = |part: &str, from: usize| -> Vec<(Span, Word)> {
                let colored = highlight(part).into_iter();
                let colored = colored.filter(|(_, word)| *word != Word::Other);
                let moved = |(span, word): (Span, Word)| {
                    let (start, end) = (span.start + from, span.end + from);
                    (Span { start, end }, word)
                };
                colored.map(moved).collect()
            };
            let is_outside = |span: &Span| span.end <= before.len() || span.start >= shift;
            let outside = pieces.iter().filter(|(span, _)| is_outside(span));
            let found: Vec<(Span, Word)> = outside
                .filter(|(_, word)| *word != Word::Other)
                .copied()
                .collect();
            let wanted = [of(before, 0), of(after, shift)].concat();
            assert_eq!(found, wanted, "{wrong}");
            assert!(wanted.iter().any(|(_, word)| *word == Word::Section));
            // A mark within quotes that are never closed begins no comment.
            let comments = pieces.iter().filter(|(_, word)| *word == Word::Comment);
            assert_eq!(comments.count(), 2, "{wrong}");
        }
    }
}
