//! Numbers as text.

/// Narrow no-break space: between thousands, and between a number and its unit.
pub const NARROW: char = '\u{202f}';

/// A whole number with its thousands apart: 245057 as 245 057.
pub fn thousands(number: u64) -> String {
    group(&number.to_string())
}

/// "1 row", "3 rows" or "12 000 rows".
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count as u64))
}

/// "all 3 rows", "the only row".
pub fn every(count: usize, noun: &str) -> String {
    match count {
        1 => format!("the only {noun}"),
        _ => format!("all {}", plural(count, noun)),
    }
}

/// An amount in a sentence: from a thousand on whole and with its thousands apart, below that as [`brief`].
pub fn amount(value: f64) -> String {
    if (1e3..1e15).contains(&value) {
        thousands(value.round() as u64)
    } else {
        brief(value)
    }
}

/// A place in an order: 2 as "2nd", 11 as "11th".
pub fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `x` to a multiple of the power of ten with the exponent `place`: the nearest decimal number, which is short in print.
pub fn rounded(x: f64, place: i32) -> f64 {
    let unit = 10_f64.powi(place.abs());
    let near = match place {
        _ if !unit.is_finite() => x,
        ..0 => (x * unit).round() / unit,
        _ => (x / unit).round() * unit,
    };
    // Without the sign of a negative zero.
    near + 0.0
}

/// `x` to `digits` significant digits.
pub fn to_digits(x: f64, digits: i32) -> f64 {
    if x.is_normal() {
        rounded(x, x.abs().log10().floor() as i32 + 1 - digits)
    } else {
        x
    }
}

/// A number in a sentence: at most four significant digits, no zeros behind them.
pub fn brief(value: f64) -> String {
    // Without the sign of a negative zero.
    let near = to_digits(value, 4) + 0.0;
    if near == 0.0 || !near.is_finite() || (1e-5..1e15).contains(&near.abs()) {
        format!("{near}")
    } else {
        // Powers of ten beyond 10^22 are not exact, so that rounding is left to the formatter.
        let text = format!("{value:.3e}");
        match text.split_once('e') {
            Some((digits, power)) => {
                let digits = digits.trim_end_matches('0').trim_end_matches('.');
                format!("{digits}e{power}")
            }
            None => text,
        }
    }
}

/// A number in a table of a terminal with `decimals` decimals, from a thousand million on with an exponent. What rounds to 0 has no
/// sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    special(value).unwrap_or_else(|| {
        if value.abs() >= 1e9 {
            return format!("{value:.3e}");
        }
        let text = format!("{value:.decimals$}");
        match text.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
            _ => text,
        }
    })
}

/// A number in a table of a terminal with `digits` significant digits, trailing zeros included, since they are known; very
/// small and very large ones with an exponent.
pub fn significant(value: f64, digits: usize) -> String {
    special(value).unwrap_or_else(|| {
        if value == 0.0 {
            return "0".to_owned();
        }
        let places = digits.saturating_sub(1);
        let text = format!("{value:.places$e}");
        // Of the rounded number: 0.0996 to two digits is 0.10.
        let exponent = (text.split_once('e')).and_then(|(_, exponent)| exponent.parse().ok());
        match exponent {
            Some(exponent @ -5..=8) => {
                let decimals = (places as i32 - exponent).max(0) as usize;
                format!("{value:.decimals$}")
            }
            _ => text,
        }
    })
}

/// Decimals of an estimate in a table of a terminal or a report: up to the first digit that its Monte Carlo standard error moves,
/// and one more; 3 where that is not known.
pub fn decimals_by_error(mcse: Option<f64>) -> usize {
    match mcse {
        Some(error) if error > 0.0 && error.is_finite() => {
            (1.0 - error.log10().floor()).clamp(0.0, 12.0) as usize
        }
        _ => 3,
    }
}

/// Reads two numbers with a comma between them, the smaller first: `-0.05,0.05`.
///
/// # Errors
/// A clause that says what to write.
pub fn range(text: &str) -> Result<[f64; 2], &'static str> {
    let read = |part: &str| part.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let ends = text.split_once(',');
    let ends = ends.and_then(|(from, to)| Some([read(from)?, read(to)?]));
    match ends {
        Some([from, to]) if from < to => Ok([from, to]),
        Some(_) => Err("write the smaller of two numbers first, such as -0.05,0.05"),
        None => Err("write two numbers, such as -0.05,0.05"),
    }
}

/// What R writes for numbers that are not finite.
fn special(value: f64) -> Option<String> {
    match value {
        v if v.is_nan() => Some("NA".to_owned()),
        f64::INFINITY => Some("Inf".to_owned()),
        f64::NEG_INFINITY => Some("-Inf".to_owned()),
        _ => None,
    }
}

/// What stands for a number that is not defined.
pub const NOT_AVAILABLE: &str = "n/a";

/// A length of time: `30 ms`, `4.1 s`, `50 s`, `3 min`, `1 h 20 min`, `3 days`. Seconds never go beyond 90.
pub fn duration(secs: f64) -> String {
    if !secs.is_finite() || secs < 0.0 {
        return NOT_AVAILABLE.to_owned();
    }
    if secs < 0.9995 {
        return format!("{}{NARROW}ms", (secs * 1000.0).round());
    }
    if secs < 9.95 {
        return format!("{secs:.1}{NARROW}s");
    }
    if secs < 90.5 {
        return format!("{}{NARROW}s", secs.round());
    }
    let minutes = (secs / 60.0).round() as u64;
    if minutes < 60 {
        return format!("{minutes}{NARROW}min");
    }
    let (hours, rest) = (minutes / 60, minutes % 60);
    if hours < 48 {
        return if rest == 0 {
            format!("{hours}{NARROW}h")
        } else {
            format!("{hours}{NARROW}h {rest}{NARROW}min")
        };
    }
    format!(
        "{}{NARROW}days",
        thousands((hours as f64 / 24.0).round() as u64)
    )
}

/// A predicted length of time, rounded to what a prediction can mean: `50 s`.
pub fn predicted(secs: f64) -> String {
    if !secs.is_finite() || secs < 0.0 {
        return NOT_AVAILABLE.to_owned();
    }
    let unit = match secs {
        s if s < 10.0 => 1.0,
        s if s < 30.0 => 5.0,
        s if s < 90.0 => 10.0,
        s if s < 3600.0 => 60.0,
        s if s < 36_000.0 => 600.0,
        _ => 3600.0,
    };
    let coarse = (secs / unit).round().max(1.0) * unit;
    if coarse < 9.95 {
        // A prediction has no tenths.
        format!("{coarse}{NARROW}s")
    } else {
        duration(coarse)
    }
}

/// A predicted time in words: `about 50 s`.
pub fn about(secs: f64) -> String {
    match predicted(secs) {
        time if time == NOT_AVAILABLE => time,
        time => format!("about {time}"),
    }
}

/// A span of predicted time: `45 to 60 s`, `50 s to 3 min`, `about 50 s` where both are the same.
pub fn time_range(from_secs: f64, to_secs: f64) -> String {
    let (from, to) = (predicted(from_secs), predicted(to_secs));
    if from == to {
        return about(from_secs);
    }
    match (from.rsplit_once(NARROW), to.rsplit_once(NARROW)) {
        (Some((number, a)), Some((_, b))) if a == b && !number.contains(' ') => {
            format!("{number} to {to}")
        }
        _ => format!("{from} to {to}"),
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    fn a_range_is_two_numbers_the_smaller_first() {
        assert_eq!(range(" -0.05, 1e2 "), Ok([-0.05, 100.0]));
        for text in ["1,1", "2,-2"] {
            assert!(range(text).unwrap_err().contains("smaller"), "{text}");
        }
        for text in ["", "1", "a,b", "0,inf", "0,1,2"] {
            assert!(range(text).unwrap_err().contains("two numbers,"), "{text}");
        }
    }

    #[test]
    fn numbers_in_sentences_are_brief() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (31.0, "31"),
            (-2.713_28, "-2.713"),
            (123_456.0, "123500"),
            (0.000_123_456, "0.0001235"),
            (9.999_96, "10"),
            (1e-20, "1e-20"),
            (1.234_56e18, "1.235e18"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(brief(value), text);
        }
        assert_eq!(rounded(-0.001, -2).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn places_in_an_order_end_as_they_are_said() {
        let said = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let endings = "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th";
        assert_eq!(said.join(" "), endings);
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!([-0.004, -0.0, 0.004].map(|x| fixed(x, 2)), ["0.00"; 3]);
        assert_eq!(
            (fixed(-0.4, 0), fixed(-0.006, 2)),
            ("0".to_owned(), "-0.01".to_owned())
        );
    }

    /// The text with plain spaces, for reading.
    fn plain(text: &str) -> String {
        text.replace(NARROW, " ")
    }

    #[test]
    fn seconds_never_go_beyond_ninety() {
        for (secs, text) in [
            (0.03, "30 ms"),
            (4.12, "4.1 s"),
            (9.96, "10 s"),
            (79.3, "79 s"),
            (90.0, "90 s"),
            (91.0, "2 min"),
            (3.0 * 60.0, "3 min"),
            (3600.0, "1 h"),
            (4800.0, "1 h 20 min"),
            (72.0 * 3600.0, "3 days"),
            (f64::INFINITY, "n/a"),
        ] {
            assert_eq!(plain(&duration(secs)), text, "{secs}");
        }
    }

    #[test]
    fn predictions_are_coarse() {
        assert_eq!(plain(&about(48.0)), "about 50 s");
        assert_eq!(plain(&about(0.2)), "about 1 s");
        assert_eq!(plain(&about(200.0)), "about 3 min");
        assert_eq!(plain(&time_range(44.0, 61.0)), "40 to 60 s");
        assert_eq!(plain(&time_range(50.0, 170.0)), "50 s to 3 min");
        assert_eq!(plain(&time_range(48.0, 52.0)), "about 50 s");
        assert_eq!(plain(&time_range(3.0, 41.0)), "3 to 40 s");
        assert_eq!(about(f64::NAN), "n/a");
    }

    #[test]
    fn tables_of_terminals_have_significant_digits() {
        for (value, digits, text) in [
            (0.0, 3, "0"),
            (0.5, 3, "0.500"),
            (-4.567, 3, "-4.57"),
            (1234.5, 3, "1234"),
            (0.0996, 2, "0.10"),
            (0.999_999_6, 5, "1.0000"),
            (0.000_012_345, 3, "0.0000123"),
            (1.2345e-6, 3, "1.23e-6"),
            (2.5e12, 2, "2.5e12"),
            (f64::NAN, 3, "NA"),
            (f64::NEG_INFINITY, 3, "-Inf"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
        assert_eq!(fixed(2.0_f64.sqrt(), 3), "1.414");
        assert_eq!(fixed(-1.23456e9, 3), "-1.235e9");
        assert_eq!(fixed(f64::INFINITY, 3), "Inf");
    }

    #[test]
    fn large_amounts_keep_their_digits() {
        let shown = |value| amount(value).replace(NARROW, " ");
        assert_eq!(shown(53_649.0), "53 649");
        assert_eq!(shown(1_234.5), "1 235");
        assert_eq!(shown(12.3456), "12.35");
        assert_eq!(shown(0.5), "0.5");
    }

    #[test]
    fn decimals_follow_the_error() {
        for (error, decimals) in [(0.02, 3), (0.0099, 4), (3.0, 1), (250.0, 0), (1e-20, 12)] {
            assert_eq!(decimals_by_error(Some(error)), decimals, "{error}");
        }
        for unknown in [None, Some(0.0), Some(f64::NAN)] {
            assert_eq!(decimals_by_error(unknown), 3);
        }
    }

    #[test]
    fn a_byte_has_two_digits() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(245_057), "245\u{202f}057");
        assert_eq!(thousands(1_000_000), "1\u{202f}000\u{202f}000");
    }
}
