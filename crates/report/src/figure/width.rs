//! How wide text is, about. Which font a viewer takes for "sans-serif" is not known: these are widths of a wide one, so that
//! nothing is cut off or runs into something else.

/// Width of `text` at a size of 1, as DejaVu Sans has it or more.
fn ems(text: &str) -> f64 {
    text.chars().map(em).sum()
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' | '\u{a0}' => 0.34,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' | '"' | 'I' | 'J' => 0.43,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '−' | '=' | '+' | '<' | '>' | '&' | '#' | '~' => 0.84,
        'A'..='Z' => 0.75,
        c if c.is_ascii() => 0.64,
        // Letters of other scripts may be as wide as they are high.
        c if c as u32 >= 0x1100 => 1.0,
        _ => 0.75,
    }
}

/// Width in points of `text` set `size` points high.
pub fn width(text: &str, size: f64) -> f64 {
    size * ems(text)
}

/// `text` with its middle left out where it is wider than `room` points.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    let mut most = text.chars().count();
    let mut shown = text.to_owned();
    while width(&shown, size) > room && most > 3 {
        most -= 1;
        shown = ergodic_base::shown::cut(text, most).into_owned();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(fitted("b[age]", 8.0, 100.0), "b[age]");
        let cut = fitted(
            "r[neighbourhood,Saint-Germain-des-Prés,Intercept]",
            8.0,
            100.0,
        );
        assert!(
            cut.starts_with("r[ne") && cut.contains('…') && cut.ends_with("pt]"),
            "{cut}"
        );
        assert!(width(&cut, 8.0) <= 100.0);
    }
}
