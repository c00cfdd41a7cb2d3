//! Words and numbers of verdict sentences, and of the tables beside them.

use super::verdict::SENTENCE_LIMIT;
use ergodic_base::ParamId;
use ergodic_base::names::shorten_term;
use ergodic_base::numerals::{NARROW, thousands};

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

/// A count or an effective sample size as every table and sentence shows it: whole, rounded down so that 399.9 does not read
/// as 400, thousands apart.
pub fn count(x: f64) -> String {
    thousands(x.max(0.0) as u64)
}

/// A fraction with two decimals, rounded down so that 0.299 does not read as 0.30.
pub fn rounded_down(x: f64) -> String {
    format!("{:.2}", (x * 100.0).floor() / 100.0)
}

/// A number of draws after the word "about": two digits, upwards, for a prediction deserves no more.
pub fn about(draws: usize) -> String {
    let draws = draws as u64;
    let digits = draws.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(1));
    thousands(draws.div_ceil(unit).saturating_mul(unit))
}

/// An R-hat as every table and sentence shows it: three decimals, rounded up so that 1.0101 does not read as 1.010.
pub fn rhat_text(rhat: f64) -> String {
    if rhat.is_infinite() {
        return "infinite".to_owned();
    }
    let (value, decimals) = rhat_rounded(rhat);
    format!("{value:.*}", usize::from(decimals))
}

/// An R-hat as it is shown, and with how many decimals.
pub fn rhat_rounded(rhat: f64) -> (f64, u8) {
    // Products like 1.007 × 1000 are not whole.
    let up = |unit: f64| (rhat * unit - 1e-9).ceil() / unit;
    if rhat >= 10.0 {
        (up(1.0), 0)
    } else {
        (up(1000.0), 3)
    }
}

/// Puts a sentence together and keeps it within the limit: first the name is shortened inside its brackets, then
/// the next step is left out, then the middle of the name.
pub(super) fn sentence(
    before: &str,
    name: Option<&ParamId>,
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
        build(name.map(ParamId::as_str), next),
        build(short.as_deref(), next),
        build(name.map(ParamId::as_str), None),
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

/// A cause in a sentence, around the name of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Phrase {
    pub before: String,
    pub name: Option<ParamId>,
    pub after: String,
    /// What comes last and may be left out.
    pub detail: String,
    /// The cause without a name, for a sentence of many.
    pub brief: Option<String>,
}

/// How many words a phrase makes, from most to fewest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Whole,
    ShortName,
    NoDetail,
    ShortNameOnly,
    Brief,
}

impl Phrase {
    /// Without a name.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            before: text.into(),
            ..Self::default()
        }
    }

    /// About a variable.
    pub fn about(before: &str, name: &ParamId, after: impl Into<String>) -> Self {
        Self {
            before: before.to_owned(),
            name: Some(name.clone()),
            after: after.into(),
            ..Self::default()
        }
    }

    /// The phrase with what may be left out, and as it is said among many.
    pub fn or(self, detail: impl Into<String>, brief: &str) -> Self {
        Self {
            detail: detail.into(),
            brief: Some(brief.to_owned()),
            ..self
        }
    }

    fn text(&self, length: Length) -> String {
        if let (Length::Brief, Some(brief)) = (length, &self.brief) {
            return brief.clone();
        }
        let name = self.name.as_ref().map(|name| match length {
            Length::Whole | Length::NoDetail => format!("`{name}`"),
            _ => format!("`{}`", shorten_terms(name)),
        });
        let detail = match length {
            Length::Whole | Length::ShortName => self.detail.as_str(),
            _ => "",
        };
        let name = name.unwrap_or_default();
        format!("{}{name}{}{detail}", self.before, self.after)
    }
}

/// A sentence of as many of the causes as its limit allows, the first one first and never without its name, and of what to
/// do.
pub(super) fn list(word: &str, causes: &[&Phrase], next: Option<&str>) -> String {
    use Length::{Brief, NoDetail, ShortName, ShortNameOnly, Whole};
    let next_text = next.map(|next| format!("; {next}")).unwrap_or_default();
    for shown in (1..=causes.len()).rev() {
        let more = match causes.len() - shown {
            0 => vec![String::new()],
            1 => vec![
                " (and another finding)".to_owned(),
                " (+1 finding)".to_owned(),
            ],
            more => vec![
                format!(" (and {more} more findings)"),
                format!(" (+{more} findings)"),
            ],
        };
        let lengths = [Whole, ShortName, NoDetail, ShortNameOnly];
        let alike = lengths.map(|length| (length, length));
        for (first, other) in alike.into_iter().chain(lengths.map(|first| (first, Brief))) {
            let parts = causes[..shown].iter().enumerate();
            let parts: Vec<String> = parts
                .map(|(i, cause)| cause.text(if i == 0 { first } else { other }))
                .collect();
            let parts = parts.join(", ");
            let texts = more
                .iter()
                .map(|more| format!("{word}{parts}{more}{next_text}"));
            let mut short = texts.filter(|text| text.chars().count() <= SENTENCE_LIMIT);
            if let Some(text) = short.next() {
                return text;
            }
        }
    }
    causes.first().map_or_else(String::new, |first| {
        let before = format!("{word}{}", first.before);
        sentence(&before, first.name.as_ref(), &first.after, next)
    })
}

/// `Sigma[Intercept,age]` to `Sigma[Int…,age]`.
fn shorten_terms(name: &ParamId) -> String {
    name.with_keys(|_, key| shorten_term(key, 3))
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
        assert_eq!(
            shorten_terms(&"Sigma[Intercept,age]".into()),
            "Sigma[Int…,age]"
        );
        assert_eq!(shorten_terms(&"b[region=west]".into()), "b[reg…=west]");
        assert_eq!(cut_middle("abcdefgh", 5), "ab…gh");
        assert_eq!(duration(3.2), "4\u{202f}s");
        assert_eq!(duration(91.0), "2\u{202f}min");
        assert_eq!(duration(20_000.0), "6\u{202f}h");
        assert_eq!(count(1_234_567.9), "1\u{202f}234\u{202f}567");
        let rounded = [0, 7, 99, 101, 485_091].map(about);
        assert_eq!(rounded, ["0", "7", "99", "110", "490\u{202f}000"]);
        assert_eq!(rhat_text(1.0101), "1.011");
        for thousandths in 1000..1100 {
            let rhat = f64::from(thousandths) / 1000.0;
            assert_eq!(rhat_text(rhat), format!("{rhat:.3}"));
        }
        assert_eq!(rhat_text(12.2), "13");
    }
}
