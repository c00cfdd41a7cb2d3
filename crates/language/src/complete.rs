//! How the word before a cursor may go on, for editors.

use std::ops::Range;

use crate::columns::CONSTANTS;
use crate::distributions::DISTRIBUTIONS;
use crate::functions::FUNCTIONS;
use crate::lower::{OTHER_FUNCTIONS, TAILS};
use crate::tokens::{Token, tokens};

/// How a word may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Bytes of the text that a word stands in place of.
    pub range: Range<usize>,
    /// Words, names of the model and its table before functions; those that take arguments end in `(`.
    pub words: Vec<String>,
}

/// How the word that ends at byte `at` of `text` may go on, with the names of the table's `columns`: after `~` as a distribution, elsewhere
/// as a column, a name that is used already, or a function. None where nothing begins so, or within a comment or quotes.
pub fn complete(text: &str, at: usize, columns: &[&str]) -> Option<Completion> {
    let before = text.get(..at)?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let is_quoted = before[line..].matches(['"', '`']).count() % 2 == 1;
    if before[line..].contains('#') || is_quoted {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begun: usize = before
        .chars()
        .rev()
        .take_while(|c| is_part(*c))
        .map(char::len_utf8)
        .sum();
    let start = at - begun;
    let (prefix, ahead) = (&text[start..at], before[..start].trim_end());
    let is_law = ahead.ends_with('~');
    if prefix.starts_with(|c: char| c.is_ascii_digit()) || prefix.is_empty() && !is_law {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let mut offer = |name: &str, word: String| {
        let begins = name.to_lowercase().starts_with(&prefix.to_lowercase());
        if begins && word != prefix && !words.contains(&word) {
            words.push(word);
        }
    };
    if is_law {
        DISTRIBUTIONS
            .iter()
            .for_each(|it| offer(it.name, format!("{}(", it.name)));
    } else {
        columns
            .iter()
            .for_each(|column| offer(column, written(column)));
        // Names that are used elsewhere; those of functions come with their bracket.
        let found = tokens(&format!("{}{}", &text[..start], &text[at..])).unwrap_or_default();
        for pair in found.windows(2) {
            if let [(Token::Name(name), _), (next, _)] = pair
                && *next != Token::Symbol("(")
                && !columns.contains(&name.as_str())
            {
                offer(name, written(name));
            }
        }
        let functions = FUNCTIONS.iter().map(|(name, _)| *name);
        functions
            .chain(OTHER_FUNCTIONS)
            .chain(TAILS.map(|(name, ..)| name))
            .for_each(|name| offer(name, format!("{name}(")));
        CONSTANTS
            .iter()
            .for_each(|(name, _)| offer(name, (*name).to_owned()));
        DISTRIBUTIONS
            .iter()
            .for_each(|it| offer(it.name, format!("{}_lpdf(", it.name)));
    }
    (!words.is_empty()).then_some(Completion {
        range: start..at,
        words,
    })
}

/// A name as a program has it: odd ones in backticks.
fn written(name: &str) -> String {
    // One name from its first to its last character.
    let is_plain = tokens(name).is_ok_and(|found| {
        matches!(found.first(), Some((Token::Name(read), span)) if read == name && span.end == name.len())
    });
    match is_plain {
        true => name.to_owned(),
        false => format!("`{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "parameters\n  alpha ~ nor\n  beta[region] ~ \nrows\n  a\n# a\n";

    fn words_at(mark: &str) -> Option<Vec<String>> {
        let at = TEXT.find(mark).unwrap() + mark.len();
        let columns = ["age", "region", "annual fee"];
        complete(TEXT, at, &columns).map(|it| it.words)
    }

    #[test]
    fn distributions_follow_a_tilde() {
        assert_eq!(words_at("~ nor").unwrap(), ["normal("]);
        let all = words_at("[region] ~ ").unwrap();
        assert_eq!(all.len(), DISTRIBUTIONS.len());
    }

    #[test]
    fn columns_and_names_come_before_functions() {
        let words = words_at("rows\n  a").unwrap();
        assert_eq!(words[..4], ["age", "`annual fee`", "alpha", "abs("]);
        assert!(words.contains(&"atan(".to_owned()));
        // A line of comments goes on as it likes, and nothing has begun where no letter stands.
        assert_eq!(words_at("# a"), None);
        assert_eq!(words_at("rows\n"), None);
        let quoted = complete("rows\n  annual", 13, &["annual fee"]).unwrap();
        assert_eq!(
            (quoted.range, quoted.words),
            (7..13, vec!["`annual fee`".to_owned()])
        );
        assert_eq!(complete("rows\n  é", 9, &["été"]).unwrap().words, ["été"]);
        assert_eq!(complete("rows\n  é", 8, &["été"]), None);
    }
}
