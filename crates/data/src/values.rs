//! What the text of a cell means: a number, a date, a missing-value code.

/// Texts that often mean "no value"; they count as missing in a column that is otherwise numeric.
pub(crate) const CANDIDATE_CODES: [&str; 14] = [
    "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", ".", "-", "?", "None",
];

/// Largest whole number below which all whole numbers are exact.
const LARGEST_EXACT: u64 = 1 << 53;

/// Missing-value codes, given or candidates.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    pub list: Vec<String>,
    /// Whether some code is itself a number, so that it must be looked for before numbers are read.
    pub numeric: bool,
    pub given: bool,
}

impl Codes {
    pub fn candidates() -> Self {
        Self {
            list: CANDIDATE_CODES.map(str::to_owned).to_vec(),
            numeric: false,
            given: false,
        }
    }

    pub fn given(list: &[String]) -> Self {
        let list: Vec<String> = list
            .iter()
            .map(|code| code.trim().to_owned())
            .filter(|code| !code.is_empty())
            .collect();
        let numeric = list.iter().any(|code| {
            [b'.', b',']
                .iter()
                .any(|&mark| parse_number(code.as_bytes(), mark).is_some())
        });
        Self {
            list,
            numeric,
            given: true,
        }
    }

    pub fn find(&self, cell: &[u8]) -> Option<usize> {
        self.list.iter().position(|code| code.as_bytes() == cell)
    }
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parsed {
    pub value: f64,
    /// A whole number that `f64` may not hold exactly.
    pub inexact: bool,
    /// A whole number such as `007`.
    pub zero_led: bool,
}

/// Reads `[sign] digits [mark digits] [e [sign] digits]`; `None` if the cell is anything else.
pub(crate) fn parse_number(cell: &[u8], mark: u8) -> Option<Parsed> {
    let (negative, body) = match cell.first()? {
        b'-' => (true, &cell[1..]),
        b'+' => (false, &cell[1..]),
        _ => (false, cell),
    };
    let (mut mantissa, mut digits, mut fraction, mut at) = (0_u64, 0_usize, 0_usize, 0_usize);
    let mut whole = true;
    while at < body.len() {
        let byte = body[at];
        if byte.is_ascii_digit() {
            mantissa = mantissa
                .saturating_mul(10)
                .saturating_add(u64::from(byte - b'0'));
            digits += 1;
            fraction += usize::from(!whole);
        } else if byte == mark && whole {
            whole = false;
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let has_exponent = at < body.len();
    if has_exponent && !is_exponent(&body[at..]) {
        return None;
    }
    let zero_led = whole && !has_exponent && digits > 1 && body[0] == b'0';
    let inexact = whole && !has_exponent && mantissa > LARGEST_EXACT;
    // Up to 15 digits and a power of ten up to 22 are exact, so that one division rounds correctly.
    let magnitude = if !has_exponent && digits <= 15 {
        mantissa as f64 / POWERS_OF_TEN[fraction]
    } else {
        let text = std::str::from_utf8(body).ok()?;
        if mark == b'.' {
            text.parse().ok()?
        } else {
            text.replace(mark as char, ".").parse().ok()?
        }
    };
    Some(Parsed {
        value: if negative { -magnitude } else { magnitude },
        inexact,
        zero_led,
    })
}

const POWERS_OF_TEN: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

fn is_exponent(text: &[u8]) -> bool {
    let digits = match text {
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => digits,
        _ => return false,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

pub(crate) fn is_infinity(cell: &[u8]) -> bool {
    let body = cell
        .strip_prefix(b"-")
        .or_else(|| cell.strip_prefix(b"+"))
        .unwrap_or(cell);
    body.eq_ignore_ascii_case(b"inf") || body.eq_ignore_ascii_case(b"infinity")
}

/// Whether a cell is `YYYY-MM-DD`, with a time of day after a `T` or a space if there is more.
pub(crate) fn is_iso_date(cell: &[u8]) -> bool {
    let two = |at: usize| -> Option<u32> {
        let (a, b) = (cell[at], cell[at + 1]);
        (a.is_ascii_digit() && b.is_ascii_digit())
            .then(|| u32::from(a - b'0') * 10 + u32::from(b - b'0'))
    };
    if cell.len() < 10
        || cell[4] != b'-'
        || cell[7] != b'-'
        || !cell[..4].iter().all(u8::is_ascii_digit)
    {
        return false;
    }
    let (Some(month), Some(day)) = (two(5), two(8)) else {
        return false;
    };
    let year = (0..4).fold(0_u32, |year, at| year * 10 + u32::from(cell[at] - b'0'));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    let date = (1..=days).contains(&day);
    let time = &cell[10..];
    let is_time_char = |byte: &u8| byte.is_ascii_digit() || b":.,+-Z ".contains(byte);
    date && (time.is_empty()
        || (matches!(time[0], b'T' | b' ')
            && time.len() >= 6
            && time[1..].iter().all(is_time_char)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_told_from_other_text() {
        let value = |text: &str| parse_number(text.as_bytes(), b'.').map(|parsed| parsed.value);
        for text in [
            "1",
            "-1",
            "+1",
            "1.5",
            ".5",
            "5.",
            "1e3",
            "-2.5E-3",
            "0",
            "0.1",
            "123456789012345",
            "3.14159265358979",
        ] {
            assert_eq!(value(text), Some(text.parse().unwrap()), "{text}");
        }
        for text in [
            "", "-", "+", ".", "e3", "1e", "1e+", "1.2.3", "1,5", "0x10", "inf", "nan", "1 2",
            "--1", "1f",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(parse_number(b"1,5", b',').unwrap().value, 1.5);
        assert!(parse_number(b"1.5", b',').is_none());
        assert!(
            parse_number(b"007", b'.').unwrap().zero_led
                && !parse_number(b"0.07", b'.').unwrap().zero_led
        );
        assert!(!parse_number(b"9007199254740992", b'.').unwrap().inexact);
        assert!(parse_number(b"9007199254740993", b'.').unwrap().inexact);
        assert!(
            parse_number(b"123456789012345678901234567890", b'.')
                .unwrap()
                .inexact
        );
        assert_eq!(value("1e400"), Some(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn any_number_reads_as_the_standard_library_reads_it(value: f64, decimals in 0_usize..12) {
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{:.decimals$}", value % 1e9)] {
                let expected: f64 = text.parse().unwrap();
                let comma = text.replace('.', ",");
                prop_assert_eq!(parse_number(text.as_bytes(), b'.').unwrap().value.to_bits(), expected.to_bits());
                prop_assert_eq!(parse_number(comma.as_bytes(), b',').unwrap().value.to_bits(), expected.to_bits());
            }
        }
    }

    #[test]
    fn iso_dates_are_recognised() {
        for text in ["2024-02-29", "1999-12-31T23:59:59Z", "2000-01-01 10:00"] {
            assert!(is_iso_date(text.as_bytes()), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-1-01",
            "20240101",
            "2024-01-01x",
            "01-02-2024",
            "1900-02-29",
        ] {
            assert!(!is_iso_date(text.as_bytes()), "{text}");
        }
    }
}
