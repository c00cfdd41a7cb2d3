//! The words of formulas: text to tokens, in one pass, with the bounds that every formula keeps.

use super::{FormulaError, is_name_char};
use ergodic_base::shown::shortened;

/// Longest formula, in bytes: 50,000 columns with names of 20 letters each.
pub(super) const MAX_LEN: usize = 1_000_000;
/// Deepest nesting of parentheses, far beyond any that people write. The reader goes down a few calls for each, and threads
/// of 2 MB must have room for them.
pub(super) const MAX_NESTING: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name {
        name: String,
        quoted: bool,
    },
    Number(String),
    /// What stands between quotation marks. It has no meaning anywhere, but a function around it may say what has.
    Text(String),
    Symbol(&'static str),
    End,
}

impl Token {
    /// The token as it stands in a refusal.
    pub fn shown(&self) -> String {
        match self {
            Self::Name { name: text, .. } | Self::Number(text) => format!("`{}`", shortened(text)),
            Self::Text(text) => format!("`\"{}\"`", shortened(text)),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub token: Token,
    /// 1-based character where it begins.
    pub position: usize,
    /// Whether the token is a parenthesis with a bar at its own depth: the beginning of a group term.
    pub opens_group: bool,
}

/// Longer symbols before those that they begin with.
const SYMBOLS: [&str; 20] = [
    "||", ">=", "<=", "==", "!=", "%in%", "|", "~", "+", "-", ":", "*", "(", ")", "/", "^", ",",
    ">", "<", "=",
];

/// Tokens in their order, `End` last.
pub(super) fn tokenize(text: &str) -> Result<Vec<Placed>, FormulaError> {
    if text.len() > MAX_LEN {
        return Err(FormulaError {
            position: 1,
            message: format!(
                "it is longer than {MAX_LEN} bytes; `y ~ .` takes all columns without naming them"
            ),
        });
    }
    let mut tokens: Vec<Placed> = Vec::new();
    // Parentheses that are open, as places in `tokens`.
    let mut open: Vec<usize> = Vec::new();
    let mut rest = text;
    let mut position = 1;
    loop {
        let trimmed = rest.trim_start();
        position += rest[..rest.len() - trimmed.len()].chars().count();
        rest = trimmed;
        let Some(first) = rest.chars().next() else {
            tokens.push(placed(Token::End, position));
            return Ok(tokens);
        };
        let error = |message: String| Err(FormulaError { position, message });
        let (token, len) = if first == '`' {
            let Some((name, len)) = backtick_name(rest) else {
                return error("the backtick is never closed".to_owned());
            };
            if name.is_empty() {
                return error("there is no name between the backticks".to_owned());
            }
            (Token::Name { name, quoted: true }, len)
        } else if let '"' | '\'' = first {
            let Some(inside) = rest[1..].find(first) else {
                return error("the quotation mark is never closed".to_owned());
            };
            let text = rest[1..=inside].to_owned();
            (Token::Text(text), inside + 2)
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let len = number_len(rest);
            (Token::Number(rest[..len].to_owned()), len)
        } else if is_name_char(first) {
            let len = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            let name = rest[..len].to_owned();
            let token = Token::Name {
                name,
                quoted: false,
            };
            (token, len)
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            return error(no_meaning(first));
        };
        match token {
            Token::Symbol("(") if open.len() == MAX_NESTING => {
                return error(format!(
                    "parentheses are nested more than {MAX_NESTING} deep; leave out those that change nothing"
                ));
            }
            Token::Symbol("(") => open.push(tokens.len()),
            Token::Symbol(")") => {
                open.pop();
            }
            Token::Symbol("|" | "||") => {
                if let Some(&at) = open.last() {
                    tokens[at].opens_group = true;
                }
            }
            _ => {}
        }
        tokens.push(placed(token, position));
        position += rest[..len].chars().count();
        rest = &rest[len..];
    }
}

fn placed(token: Token, position: usize) -> Placed {
    Placed {
        token,
        position,
        opens_group: false,
    }
}

fn no_meaning(first: char) -> String {
    match first {
        '&' | '!' => format!(
            "`{first}` has no meaning here; a condition compares one column with one number, such as `I(x > 2)`"
        ),
        _ => format!(
            "`{}` has no meaning here; put column names with odd characters in backticks",
            first.escape_debug()
        ),
    }
}

/// Bytes of a number: digits with a point, and an exponent with its sign. Letters that follow belong to it, so that `2x` is
/// refused as one word.
fn number_len(text: &str) -> usize {
    let end = |text: &str| text.find(|c: char| !is_name_char(c)).unwrap_or(text.len());
    let len = end(text);
    let is_mantissa = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if let Some(mantissa) = text[..len].strip_suffix(['e', 'E'])
        && is_mantissa(mantissa)
        && text[len..].starts_with(['+', '-'])
        && text[len + 1..].starts_with(|c: char| c.is_ascii_digit())
    {
        return len + 1 + end(&text[len + 1..]);
    }
    len
}

/// The name after an opening backtick and the bytes it takes; a doubled backtick stands for one.
fn backtick_name(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != '`' {
            name.push(c);
        } else if chars.next_if(|(_, next)| *next == '`').is_some() {
            name.push('`');
        } else {
            return Some((name, at + 1));
        }
    }
    None
}
