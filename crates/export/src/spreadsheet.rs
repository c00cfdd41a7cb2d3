//! Text in tables that spreadsheets open.

use std::borrow::Cow;

/// `cell` as a spreadsheet shows it instead of running it: text that begins as a formula does, with `=`, `+`, `-`, `@`, a tab or a
/// carriage return, gets an apostrophe before it. Numbers stay as they are.
pub fn inert(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && cell.parse::<f64>().is_err() {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|'/c calc'!A0", "'+cmd|'/c calc'!A0"),
            ("-", "'-"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("-5", "-5"),
            ("+1.5e3", "+1.5e3"),
            ("a=1", "a=1"),
            ("'=1", "'=1"),
            ("", ""),
        ] {
            assert_eq!(inert(cell), expected);
        }
    }
}
