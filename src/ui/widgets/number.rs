//! Numbers as text: digits that the Monte Carlo error supports, the minus sign U+2212, thousands in U+202F.
//!
//! For the screen only; files are written elsewhere, with all digits and ASCII signs.

use std::sync::atomic::{AtomicBool, Ordering};

use ergodic_base::numerals::{self, group, rounded};
/// A count, such as `1 240`.
pub use ergodic_base::numerals::{NARROW, NOT_AVAILABLE, about, thousands as integer};
use ergodic_diagnostics::sentence::rhat_rounded;

/// The minus sign.
pub const MINUS: char = '\u{2212}';

/// Limits between which a number is written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-4..1e9;

/// A mean or a quantile, down to the first digit that its Monte Carlo standard error `mcse` moves: the last digit shown counts
/// `mcse` at most, so that rounding takes half of that at most. Without a usable `mcse`, three significant digits.
pub fn estimate(value: f64, mcse: f64) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    if !(mcse.is_finite() && mcse > 0.0) {
        return significant(value, 3);
    }
    let decimals = decimals(mcse);
    let unit = 10_f64.powi(-decimals);
    if value != 0.0 && value.abs() < unit / 2.0 {
        // "0.000" would say that the value is known to be nothing.
        return significant(value, 2);
    }
    if value.abs() >= PLAIN.end || decimals > 9 {
        let exponent = exponent(value);
        return scientific(value, (exponent + decimals).clamp(0, 15) as usize);
    }
    fixed(value, decimals)
}

/// Decimals of a value whose Monte Carlo standard error is `mcse` > 0, up to the first digit of that; negative for tens,
/// hundreds, ….
pub fn decimals(mcse: f64) -> i32 {
    // The small addition keeps an error of exactly one unit, such as 0.001, from falling to the next digit.
    -((mcse.log10() + 1e-9).floor().clamp(-300.0, 300.0) as i32)
}

/// A value beside its standard deviation or standard error: as far as the second digit of that.
pub fn to_sd_digits(value: f64, sd: f64) -> String {
    estimate(value, sd / 10.0)
}

/// A value and its standard error, both as far as the second digit of that: `−1.64 ± 0.32`.
pub fn with_error(value: f64, error: f64) -> String {
    format!("{} ± {}", to_sd_digits(value, error), sd(error))
}

/// A standard deviation or an error: two significant digits.
pub fn sd(value: f64) -> String {
    significant(value, 2)
}

/// R-hat: three decimals, rounded up as in every sentence.
pub fn rhat(value: f64) -> String {
    if value.is_finite() {
        let (value, decimals) = rhat_rounded(value);
        fixed(value, i32::from(decimals))
    } else {
        NOT_AVAILABLE.to_owned()
    }
}

/// An effective sample size: whole, rounded down as in every sentence.
pub fn ess(value: f64) -> String {
    if value.is_finite() {
        fixed(value.floor(), 0)
    } else {
        NOT_AVAILABLE.to_owned()
    }
}

/// A count where there is little room: whole up to `99 999`, then three digits: `111k`, `1.11M`.
pub fn short(value: f64) -> String {
    let (unit, sign) = match value.abs() {
        v if v >= 999.5e6 => (1e9, "G"),
        v if v >= 999.5e3 => (1e6, "M"),
        v if v >= 99_999.5 => (1e3, "k"),
        v if v.is_finite() => return fixed(value, 0),
        _ => return NOT_AVAILABLE.to_owned(),
    };
    if value.is_finite() {
        format!("{}{sign}", significant(value / unit, 3))
    } else {
        NOT_AVAILABLE.to_owned()
    }
}

/// A rate where there is little room: as [`rate`] below 10 000 per second, then `47.9k/s`.
pub fn short_rate(per_sec: f64) -> String {
    if !per_sec.is_finite() || per_sec < 9_999.5 {
        return rate(per_sec);
    }
    if per_sec < 99_950.0 {
        return format!("{}k/s", fixed(per_sec / 1e3, 1));
    }
    format!("{}/s", short(per_sec.max(99_999.5)))
}

/// A value with `digits` significant digits; trailing zeros stay, because they are known.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounding may carry into the next power of ten (0.0996 to two digits is 0.10).
    let exponent = exponent(rounded(value, exponent(value) + 1 - digits as i32));
    if !PLAIN.contains(&value.abs()) {
        return scientific(value, digits.saturating_sub(1));
    }
    fixed(value, digits as i32 - 1 - exponent)
}

/// A number of the data, or one like it: at most four significant digits, no zeros behind them.
pub fn brief(value: f64) -> String {
    let text = numerals::brief(value);
    if text.contains('e') {
        return significant(value, 4);
    }
    let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.len());
    fixed(text.parse().unwrap_or(value), decimals as i32)
}

/// A share of `rows` rows, 0 to 1, as per cent: no decimals below 10 000 rows, one from there.
pub fn percent(share: f64, rows: u64) -> String {
    if !share.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    format!("{}%", fixed(100.0 * share, i32::from(rows >= 10_000)))
}

/// A value with `decimals` decimals; negative rounds to tens, hundreds, ….
pub fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let places = decimals.max(0) as usize;
    let text = format!(
        "{:.places$}",
        if decimals < 0 {
            rounded(value, -decimals)
        } else {
            value
        }
    );
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.bytes().any(|b| (b'1'..=b'9').contains(&b)) => (true, digits),
        Some(digits) => (false, digits),
        None => (false, text.as_str()),
    };
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::new();
    if sign {
        out.push(MINUS);
    }
    out.push_str(&group(whole));
    out.push_str(&with_mark(rest));
    out
}

/// Whether numbers on screen have a decimal comma. One setting for the whole window, changed by its owner alone.
static COMMA: AtomicBool = AtomicBool::new(false);

/// Chooses the decimal mark of all numbers on screen.
pub fn set_decimal_comma(on: bool) {
    COMMA.store(on, Ordering::Relaxed);
}

/// `text` with the decimal mark that was chosen.
fn with_mark(text: &str) -> String {
    marked(text, COMMA.load(Ordering::Relaxed))
}

fn marked(text: &str, comma: bool) -> String {
    if comma {
        text.replacen('.', ",", 1)
    } else {
        text.to_owned()
    }
}

/// A difference or a shift: as [`fixed`], with its sign also when positive.
pub fn signed(value: f64, decimals: i32) -> String {
    let text = fixed(value, decimals);
    let zero = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if value > 0.0 && !zero && value.is_finite() {
        format!("+{text}")
    } else {
        text
    }
}

/// The label of an axis tick among ticks `step` apart.
pub fn tick(value: f64, step: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e7 || step.abs() < 1e-4) {
        // More digits than these read better without an exponent.
        let digits = exponent(value) - exponent(step);
        if digits <= 6 {
            return scientific(value, digits.max(0) as usize);
        }
    }
    let decimals = if step > 0.0 && step.is_finite() {
        (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as i32
    } else {
        0
    };
    fixed(value, decimals)
}

/// The label of a tick on a logarithmic axis: plain from 0.001 to 100 000.
pub fn log_tick(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        fixed(value, (-exponent(value)).max(0))
    } else {
        scientific(value, 0)
    }
}

/// A length of time, see [`numerals::duration`].
pub fn duration(secs: f64) -> String {
    with_mark(&numerals::duration(secs))
}

/// A length of time where there is little room: as [`duration`] below an hour, then `6.2 h`, `36 h`, `3 d`, `1.2k d`.
pub fn short_duration(secs: f64) -> String {
    const HOUR: f64 = 3600.0;
    if !secs.is_finite() || secs < HOUR - 30.0 {
        return duration(secs);
    }
    let (hours, days) = (secs / HOUR, secs / (24.0 * HOUR));
    match days {
        _ if hours < 9.95 => format!("{}{NARROW}h", fixed(hours, 1)),
        _ if hours < 47.5 => format!("{}{NARROW}h", fixed(hours, 0)),
        _ if days < 999.5 => format!("{}{NARROW}d", fixed(days, 0)),
        _ if days < 9_950.0 => format!("{}k{NARROW}d", fixed(days / 1e3, 1)),
        _ => format!("> 10k{NARROW}d"),
    }
}

/// A rate: `610/s`, `24.1/s`, `0.52/s`, `12/min` when slower than one in two seconds, `5.0/h` when slower than one in two
/// minutes.
pub fn rate(per_sec: f64) -> String {
    if !per_sec.is_finite() || per_sec < 0.0 {
        return NOT_AVAILABLE.to_owned();
    }
    if per_sec == 0.0 {
        return "0/s".to_owned();
    }
    if per_sec < 0.5 / 60.0 {
        return format!("{}/h", significant(3600.0 * per_sec, 2));
    }
    if per_sec < 0.5 {
        return format!(
            "{}/min",
            fixed(60.0 * per_sec, if per_sec < 1.0 / 6.0 { 1 } else { 0 })
        );
    }
    let decimals = if per_sec < 9.995 {
        2
    } else if per_sec < 99.95 {
        1
    } else {
        0
    };
    format!("{}/s", fixed(per_sec, decimals))
}

/// A size in memory or on disk, decimal units: `812 B`, `44 kB`, `0.7 MB`, `188 MB`, `1.2 GB`.
pub fn bytes(count: u64) -> String {
    let count = count as f64;
    let (value, unit) = match count {
        c if c < 1e3 => return format!("{c}{NARROW}B"),
        c if c < 5e5 => (c / 1e3, "kB"),
        c if c < 9.995e8 => (c / 1e6, "MB"),
        c if c < 9.995e11 => (c / 1e9, "GB"),
        c => (c / 1e12, "TB"),
    };
    let decimals = i32::from(value < 9.95);
    format!("{}{NARROW}{unit}", fixed(value, decimals))
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 {
        0
    } else {
        (value.abs().log10() + 1e-12).floor() as i32
    }
}

fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    with_mark(&text.replace('-', &MINUS.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text with plain spaces and signs, for reading.
    fn plain(text: &str) -> String {
        text.replace(NARROW, " ").replace(MINUS, "-")
    }

    #[test]
    fn numbers_like_those_of_the_data_have_no_zeros_behind_them() {
        assert_eq!(brief(0.293), "0.293");
        assert_eq!(brief(26.0), "26");
        assert_eq!(brief(-1_234_567.0), "−1\u{202f}235\u{202f}000");
        assert_eq!(brief(2.77269), "2.773");
        assert_eq!(brief(1e-7), "1.000e−7");
        assert_eq!(brief(f64::NAN), NOT_AVAILABLE);
    }

    #[test]
    fn short_counts_and_rates_have_at_most_seven_characters() {
        let read = |value: f64| short(value).replace(NARROW, " ");
        assert_eq!(read(1240.0), "1 240");
        assert_eq!(read(99_999.4), "99 999");
        assert_eq!(read(99_999.6), "100k");
        assert_eq!(read(110_668.0), "111k");
        assert_eq!(read(999_499.0), "999k");
        assert_eq!(read(999_500.0), "1.00M");
        assert_eq!(read(f64::NAN), NOT_AVAILABLE);
        let read = |value: f64| short_rate(value).replace(NARROW, " ");
        assert_eq!(read(610.0), "610/s");
        assert_eq!(read(47_938.0), "47.9k/s");
        assert_eq!(read(99_960.0), "100k/s");
        assert_eq!(read(479_648.0), "480k/s");
        for power in 0..30 {
            let value = 3.0 * 1.9_f64.powi(power);
            assert!(
                short(value).chars().count() <= 7 && short_rate(value).chars().count() <= 7,
                "{value}"
            );
        }
    }

    #[test]
    fn a_decimal_comma_replaces_the_point_and_nothing_else() {
        // The setting itself belongs to the whole program, where tests run side by side.
        assert_eq!(marked(".25", true), ",25");
        assert_eq!(marked(".25", false), ".25");
        assert_eq!(marked("1.2e-5", true), "1,2e-5");
        assert_eq!(marked("", true), "");
    }

    #[test]
    fn estimates_show_the_first_digit_that_mcse_moves() {
        for (value, mcse, text) in [
            (0.191, 0.0050, "0.191"),
            (0.021_3, 0.0005, "0.0213"),
            (-0.012_1, 0.0008, "-0.0121"),
            (-1.418, 0.0057, "-1.418"),
            (-0.482_2, 0.0009, "-0.4822"),
            (-4811.7, 0.22, "-4 811.7"),
            (0.2674, 0.0018, "0.267"),
            (0.2674, 0.0021, "0.267"),
            (123_456.0, 50.0, "123 460"),
            (3.0, 0.002, "3.000"),
            (-1.635, 0.32, "-1.6"),
            (2.0, 0.001, "2.000"),
        ] {
            assert_eq!(plain(&estimate(value, mcse)), text, "{value} with {mcse}");
        }
    }

    #[test]
    fn a_value_beside_its_standard_deviation_has_its_second_digit() {
        assert_eq!(to_sd_digits(-1.2963, 0.3004), "\u{2212}1.30");
        assert_eq!(to_sd_digits(12.3456, 4.21), "12.3");
        assert_eq!(to_sd_digits(0.1654, 0.0354), "0.165");
        assert_eq!(to_sd_digits(-1.2963, f64::NAN), "\u{2212}1.30");
    }

    /// A value that is rounded by more than its error belies the error beside it.
    #[test]
    fn a_value_and_its_error_end_with_the_same_digit() {
        assert_eq!(plain(&with_error(-1.635, 0.32)), "-1.64 ± 0.32");
        assert_eq!(plain(&with_error(-3.4258, 0.0035)), "-3.4258 ± 0.0035");
        assert_eq!(plain(&with_error(123_456.0, 50.0)), "123 456 ± 50");
    }

    #[test]
    fn an_estimate_is_never_a_row_of_zeros() {
        assert_eq!(plain(&estimate(1.23e-5, 0.001)), "1.2e-5");
        assert_eq!(plain(&estimate(-0.0031, 0.5)), "-0.0031");
        assert_eq!(estimate(0.0, 0.001), "0.000");
    }

    #[test]
    fn estimates_without_mcse_have_three_digits_and_bad_ones_none() {
        assert_eq!(plain(&estimate(-0.123_45, f64::NAN)), "-0.123");
        assert_eq!(estimate(2.0, 0.0), "2.00");
        assert_eq!(estimate(f64::NAN, 0.1), "n/a");
        assert_eq!(estimate(f64::INFINITY, 0.1), "n/a");
    }

    #[test]
    fn very_large_and_very_small_estimates_use_an_exponent() {
        assert_eq!(plain(&estimate(1.234_56e12, 1e9)), "1.235e12");
        assert_eq!(plain(&estimate(1.2342e-12, 1e-15)), "1.234e-12");
    }

    #[test]
    fn sd_has_two_significant_digits() {
        for (value, text) in [
            (0.0559, "0.056"),
            (0.009_41, "0.0094"),
            (5.87, "5.9"),
            (0.128, "0.13"),
            (12.7, "13"),
            (1234.0, "1 200"),
            (0.0996, "0.10"),
            (9.96, "10"),
            (0.000_012_3, "1.2e-5"),
            (0.0, "0"),
            (f64::NAN, "n/a"),
        ] {
            assert_eq!(plain(&sd(value)), text, "{value}");
        }
    }

    #[test]
    fn rhat_ess_and_per_cent() {
        assert_eq!(rhat(1.0), "1.000");
        assert_eq!(rhat(1.0174), "1.018");
        assert_eq!(rhat(f64::NAN), "n/a");
        assert_eq!(plain(&ess(1240.4)), "1 240");
        assert_eq!(percent(0.2174, 9_812), "22%");
        assert_eq!(percent(0.2174, 10_000), "21.7%");
        assert_eq!(percent(1.0, 3), "100%");
    }

    #[test]
    fn thousands_begin_at_one_thousand() {
        assert_eq!(integer(999), "999");
        assert_eq!(integer(1_000), format!("1{NARROW}000"));
        assert_eq!(plain(&integer(12_345_678)), "12 345 678");
        assert_eq!(plain(&fixed(-12_345.678, 1)), "-12 345.7");
    }

    #[test]
    fn zero_has_no_sign_and_shifts_have_one() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(signed(0.234, 2), "+0.23");
        assert_eq!(signed(-0.41, 2), format!("{MINUS}0.41"));
        assert_eq!(signed(0.001, 2), "0.00");
        assert_eq!(signed(f64::NAN, 2), "n/a");
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(tick(0.2, 0.2), "0.2");
        assert_eq!(tick(0.0, 0.2), "0.0");
        assert_eq!(plain(&tick(-0.45, 0.05)), "-0.45");
        assert_eq!(plain(&tick(1000.0, 200.0)), "1 000");
        assert_eq!(tick(1.05, 0.05), "1.05");
        assert_eq!(plain(&tick(2e-6, 1e-6)), "2e-6");
        assert_eq!(tick(2.5e9, 5e8), "2.5e9");
        assert_eq!(log_tick(0.1), "0.1");
        assert_eq!(plain(&log_tick(1000.0)), "1 000");
        assert_eq!(plain(&log_tick(1e-5)), "1e-5");
    }

    #[test]
    fn rates_and_sizes() {
        assert_eq!(rate(24.13), "24.1/s");
        assert_eq!(plain(&rate(1240.0)), "1 240/s");
        assert_eq!(rate(5.4), "5.40/s");
        assert_eq!(rate(0.2), "12/min");
        assert_eq!(rate(0.0), "0/s");
        assert_eq!(plain(&bytes(812)), "812 B");
        assert_eq!(plain(&bytes(44_000)), "44 kB");
        assert_eq!(plain(&bytes(700_000)), "0.7 MB");
        assert_eq!(plain(&bytes(188_000_000)), "188 MB");
        assert_eq!(plain(&bytes(1_230_000_000)), "1.2 GB");
    }

    proptest! {
        #[test]
        fn an_estimate_is_within_half_an_mcse_of_what_is_shown(value in -1e6_f64..1e6, log_mcse in -6.0_f64..3.0) {
            let mcse = 10_f64.powf(log_mcse);
            let shown: f64 = plain(&estimate(value, mcse)).replace(' ', "").parse().unwrap();
            let unit = 10_f64.powi(-decimals(mcse));
            prop_assert!(unit > mcse / 10.0 * (1.0 - 1e-6) && unit <= mcse * (1.0 + 1e-6), "unit {unit} for {mcse}");
            prop_assert!((shown - value).abs() <= mcse / 2.0 * (1.0 + 1e-6) + value.abs() * 1e-12);
        }
    }
}
