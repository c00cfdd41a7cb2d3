//! From text to tokens.

use crate::foreign;
use crate::place::{Fault, Span};

/// A kind of token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name; in backticks it may hold any characters.
    Name(String),
    /// A number.
    Number(f64),
    /// A text in double quotes.
    Text(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of a line that is not within brackets.
    Newline,
    /// The end of the program.
    End,
}

impl Token {
    /// The token in words.
    pub fn words(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(text) => format!("\"{text}\""),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::Newline => "the end of the line".to_owned(),
            Self::End => "the end of the model".to_owned(),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 18] = [
    "<=", ">=", "==", "!=", "~", "=", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":", "<",
];
const MORE_SYMBOLS: [&str; 3] = [">", "|", ".."];

/// Whether a name can begin with `c`.
fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Tokens with their places; the last is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let all = pieces(text).into_iter();
    all.map(|(read, span)| Ok((read?, span))).collect()
}

/// Tokens with their places, and where something is none what is wrong with it: reading goes on behind it. The last is [`Token::End`].
pub(crate) fn pieces(text: &str) -> Vec<(Result<Token, Fault>, Span)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut depth = 0_usize;
    while let Some(c) = text[at..].chars().next() {
        let (read, len) = match token(&text[at..], (c, at), &mut depth) {
            Ok((token, len)) => (token.map(Ok), len),
            // A fault is as long as what it is about, and so at least one character.
            Err(fault) => {
                let len = fault.span.end - at;
                (Some(Err(fault)), len)
            }
        };
        let end = at + len;
        found.extend(read.map(|read| (read, Span { start: at, end })));
        at = end;
    }
    let end = Span {
        start: text.len(),
        end: text.len(),
    };
    found.push((Ok(Token::Newline), end));
    found.push((Ok(Token::End), end));
    found
}

/// What begins with `c` at byte `at`, where `rest` begins: a token, if it is none of the space between them, and its length. `depth` counts the
/// brackets that are open.
fn token(
    rest: &str,
    (c, at): (char, usize),
    depth: &mut usize,
) -> Result<(Option<Token>, usize), Fault> {
    if let Some((sign, advice)) = foreign::long_sign(rest) {
        return Err(meaningless(at, sign, advice));
    }
    Ok(match c {
        '\n' if *depth == 0 => (Some(Token::Newline), 1),
        c if c.is_whitespace() => (None, c.len_utf8()),
        '#' => (None, rest.find('\n').unwrap_or(rest.len())),
        '`' => quoted(rest, at, '`').map(|(name, len)| (Some(Token::Name(name)), len))?,
        '"' => quoted(rest, at, '"').map(|(text, len)| (Some(Token::Text(text)), len))?,
        c if begins_name(c) => {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let len = end.unwrap_or(rest.len());
            (Some(Token::Name(rest[..len].to_owned())), len)
        }
        c if c.is_ascii_digit() || c == '.' && !rest.starts_with("..") => {
            let (number, len) = number(rest, at)?;
            (Some(Token::Number(number)), len)
        }
        _ => {
            let mut symbols = SYMBOLS.iter().chain(&MORE_SYMBOLS);
            let Some(symbol) = symbols.find(|symbol| rest.starts_with(**symbol)) else {
                let advice = match foreign::sign(rest) {
                    Some((_, advice)) => advice,
                    None => "names that hold it go into backticks",
                };
                return Err(meaningless(at, &rest[..c.len_utf8()], advice));
            };
            match *symbol {
                "(" | "[" => *depth += 1,
                ")" | "]" => *depth = depth.saturating_sub(1),
                _ => {}
            }
            (Some(Token::Symbol(symbol)), symbol.len())
        }
    })
}

/// The refusal of a sign at byte `at`.
fn meaningless(at: usize, sign: &str, advice: &str) -> Fault {
    let end = at + sign.len();
    let message = format!("`{sign}` has no meaning here; {advice}");
    Fault::new(Span { start: at, end }, message)
}

/// What stands between two `mark`s on one line, and the length with them.
fn quoted(rest: &str, at: usize, mark: char) -> Result<(String, usize), Fault> {
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    match line[1..].find(mark) {
        Some(len) if len > 0 => Ok((line[1..=len].to_owned(), len + 2)),
        Some(_) => Err(Fault::new(
            Span {
                start: at,
                end: at + 2,
            },
            "There is nothing between the quotes",
        )),
        None => Err(Fault::new(
            Span {
                start: at,
                end: at + line.len(),
            },
            format!("The closing {mark} is missing on this line"),
        )),
    }
}

/// A number such as 12, .5 or 1e-3, and its length.
fn number(rest: &str, at: usize) -> Result<(f64, usize), Fault> {
    let digits = |from: usize| {
        let tail = &rest.as_bytes()[from..];
        from + tail.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let byte = |at: usize| rest.as_bytes().get(at).copied();
    let mut len = digits(0);
    if byte(len) == Some(b'.') {
        len = digits(len + 1);
    }
    if matches!(byte(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(byte(len + 1), Some(b'+' | b'-')));
        let end = digits(len + 1 + sign);
        if end > len + 1 + sign {
            len = end;
        }
    }
    let span = Span {
        start: at,
        end: at + len,
    };
    match rest[..len].parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, len)),
        _ => Err(Fault::new(
            span,
            format!("`{}` is not a number", &rest[..len]),
        )),
    }
}
