//! Words and numbers of verdict sentences.

use super::verdict::SENTENCE_LIMIT;
use crate::base::numerals::{NARROW, thousands};

/// Seconds up to 90, then minutes, then hours; rounded up, since a promise should hold.
pub(super) fn duration(secs: f64) -> String {
    if secs <= 20.0 {
        format!("{}{NARROW}s", secs.ceil().max(1.0))
    } else if secs <= 90.0 {
        format!("{}{NARROW}s", (secs / 5.0).ceil() * 5.0)
    } else if secs <= 90.0 * 60.0 {
        format!("{}{NARROW}min", (secs / 60.0).ceil())
    } else {
        format!("{}{NARROW}h", (secs / 3600.0).ceil())
    }
}

/// Whole number, rounded down, thousands apart.
pub(super) fn count(x: f64) -> String {
    thousands(x.max(0.0) as u64)
}

/// Three decimals, rounded up past the limit so that 1.0101 does not read as 1.010.
pub(super) fn rhat_text(rhat: f64) -> String {
    if rhat.is_infinite() {
        "infinite".to_owned()
    } else if rhat >= 10.0 {
        format!("{rhat:.0}")
    } else {
        format!("{:.3}", (rhat * 1000.0).ceil() / 1000.0)
    }
}

/// Puts a sentence together and keeps it within the limit: first the name is shortened inside its brackets, then
/// the next step is left out, then the middle of the name.
pub(super) fn sentence(
    before: &str,
    name: Option<&str>,
    after: &str,
    next: Option<&str>,
) -> String {
    let build = |name: Option<&str>, next: Option<&str>| {
        let name = name.map(|name| format!("`{name}`")).unwrap_or_default();
        let next = next.map(|next| format!("; {next}")).unwrap_or_default();
        format!("{before}{name}{after}{next}")
    };
    let short = name.map(shorten_terms);
    let tries = [
        build(name, next),
        build(short.as_deref(), next),
        build(name, None),
        build(short.as_deref(), None),
    ];
    if let Some(text) = tries
        .into_iter()
        .find(|text| text.chars().count() <= SENTENCE_LIMIT)
    {
        return text;
    }
    let room = SENTENCE_LIMIT.saturating_sub(build(Some(""), None).chars().count());
    build(short.map(|name| cut_middle(&name, room)).as_deref(), None)
        .chars()
        .take(SENTENCE_LIMIT)
        .collect()
}

/// `Sigma[Intercept,age]` to `Sigma[Int…,age]`.
fn shorten_terms(name: &str) -> String {
    let Some((head, terms)) = name.split_once('[') else {
        return name.to_owned();
    };
    let terms: Vec<String> = terms
        .trim_end_matches(']')
        .split(',')
        .map(|term| {
            let chars: Vec<char> = term.chars().collect();
            if chars.len() > 4 {
                chars[..3].iter().chain(&['…']).collect()
            } else {
                term.to_owned()
            }
        })
        .collect();
    format!("{head}[{}]", terms.join(","))
}

/// Replaces the middle by an ellipsis, so that at most `room` characters are left; the end distinguishes names.
fn cut_middle(name: &str, room: usize) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= room {
        return name.to_owned();
    }
    let kept = room.saturating_sub(1);
    let end = kept.div_ceil(2);
    let start = kept - end;
    chars[..start]
        .iter()
        .chain(&['…'])
        .chain(&chars[chars.len() - end..])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle_last() {
        assert_eq!(shorten_terms("Sigma[Intercept,age]"), "Sigma[Int…,age]");
        assert_eq!(cut_middle("abcdefgh", 5), "ab…gh");
        assert_eq!(duration(3.2), "4\u{202f}s");
        assert_eq!(duration(91.0), "2\u{202f}min");
        assert_eq!(duration(20_000.0), "6\u{202f}h");
        assert_eq!(count(1_234_567.9), "1\u{202f}234\u{202f}567");
        assert_eq!(rhat_text(1.0101), "1.011");
    }
}
