//! Names and texts of others as they are shown: short enough to read, and without characters that do something.

use std::borrow::Cow;

/// Longest name that is quoted whole.
const LONGEST_NAME: usize = 80;
/// Longest sentence that is shown whole: a screen of 24 lines with 80 characters.
const LONGEST_SENTENCE: usize = 24 * 80;

/// A clause as a sentence begins.
pub fn capitalised(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A name for a sentence: in its middle `…` stands for what is beyond 80 characters.
pub fn shortened(name: &str) -> Cow<'_, str> {
    cut(name, LONGEST_NAME)
}

/// `text` with at most `most` characters, `…` in its middle standing for the others.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // A character has at least one byte.
    if text.len() <= most || text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let end = |(at, c): (usize, char)| at + c.len_utf8();
    let head = (head.checked_sub(1)).map_or(0, |k| text.char_indices().nth(k).map_or(0, end));
    let tail = (tail.checked_sub(1)).map_or(text.len(), |k| {
        text.char_indices().nth_back(k).map_or(0, |(at, _)| at)
    });
    Cow::Owned(format!("{}…{}", &text[..head], &text[tail..]))
}

/// Whether a terminal could obey `c` instead of showing it, or show what follows in another order: control characters but
/// line breaks and tabs, marks of writing direction, separators of lines and paragraphs.
pub fn is_hostile(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

/// `text` with every character that a terminal could obey written out: `\u{1b}` for an escape. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hostile)
}

/// `text` made visible on one line: line breaks and tabs are written out too, as `\n` and `\t`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hostile(c) || matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => out.push(c),
            '\n' | '\t' | '\r' => out.extend(c.escape_default()),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A sentence that quotes names in backticks, fit for people: quoted names are short and on one line, the whole is at most a
/// screen, and nothing in it moves a cursor.
pub fn sentence(text: &str) -> Cow<'_, str> {
    if text.chars().count() <= LONGEST_NAME
        && !text.contains(|c: char| c.is_control() || is_hostile(c))
    {
        return Cow::Borrowed(text);
    }
    let parts: Vec<&str> = text.split('`').collect();
    let last = parts.len() - 1;
    let mut out = String::with_capacity(text.len());
    for (k, part) in parts.into_iter().enumerate() {
        if k > 0 {
            out.push('`');
        }
        // Behind a backtick that is never closed is no name.
        if k % 2 == 1 && k < last {
            out.push_str(&visible_line(&cut(part, 2 * LONGEST_NAME)));
        } else {
            out.push_str(&visible(part));
        }
    }
    Cow::Owned(cut(&out, LONGEST_SENTENCE).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghijk", 10), "abcde…hijk");
        assert_eq!(cut("äöüßäöüß", 5), "äö…üß");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(shortened(&"x".repeat(10_000)).chars().count(), LONGEST_NAME);
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(visible("a\u{1b}[31m\u{7}\n\tb"), "a\\u{1b}[31m\\u{7}\n\tb");
        assert_eq!(visible("a\rb\u{9b}c\u{202e}d"), "a\\rb\\u{9b}c\\u{202e}d");
        assert_eq!(visible_line("a\nb\tc"), "a\\nb\\tc");
        assert!(matches!(visible("größe: 5 µm…"), Cow::Borrowed(_)));
        assert_eq!(
            sentence("The column `a\nerror: all is lost` is\nmissing"),
            "The column `a\\nerror: all is lost` is\nmissing"
        );
    }

    #[test]
    fn a_sentence_is_at_most_a_screen() {
        let text = format!(
            "The column `{}` is not there; leave it out",
            "x".repeat(100_000)
        );
        let shown = sentence(&text);
        assert!(shown.ends_with("is not there; leave it out"), "{shown}");
        assert!(shown.chars().count() < 250, "{shown}");
        assert!(sentence(&"x ".repeat(100_000)).chars().count() <= LONGEST_SENTENCE);
    }

    proptest! {
        #[test]
        fn nothing_hostile_is_left(text in any::<String>(), most in 0_usize..50) {
            for shown in [visible(&text), visible_line(&text), sentence(&text)] {
                prop_assert!(!shown.contains(is_hostile), "{shown:?}");
            }
            prop_assert!(!visible_line(&text).contains(['\n', '\t']));
            prop_assert!(cut(&text, most).chars().count() <= most.max(1));
        }
    }
}
