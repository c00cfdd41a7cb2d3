//! Numbers in sentences.

/// Narrow no-break space: between thousands, and between a number and its unit.
pub const NARROW: char = '\u{202f}';

/// A whole number with its thousands apart: 245057 as 245 057.
pub fn thousands(number: u64) -> String {
    group(&number.to_string())
}

/// Decimal digits with their thousands apart.
pub fn group(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 * NARROW.len_utf8());
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(NARROW);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(245_057), "245\u{202f}057");
        assert_eq!(thousands(1_000_000), "1\u{202f}000\u{202f}000");
    }
}
