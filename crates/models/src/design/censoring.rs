//! How far outcomes were seen: whole, or only to be beyond a value.

use super::columns::Columns;
use super::error::{BadLevel, DesignError, Place};
use ergodic_base::numerals::thousands;

/// How far an outcome was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Censoring {
    /// The outcome is the value.
    Seen,
    /// The outcome is larger than the value: right-censored.
    Right,
    /// The outcome is smaller than the value: left-censored.
    Left,
}

/// How statuses are written, for sentences.
pub(super) const WORDS: &str = "0 or `none` for outcomes seen, 1 or `right` for those that are larger, −1 or `left` for those that are smaller";

impl Censoring {
    /// The number by which densities and draws are told ([`Design::known`](super::matrix::Design::known)).
    pub const fn known(self) -> f64 {
        match self {
            Self::Seen => 1.0,
            Self::Right => 0.0,
            Self::Left => -1.0,
        }
    }

    /// What stands behind such a number; an outcome of which nothing is known is seen.
    #[inline]
    pub fn of(known: f64) -> Self {
        if known > 0.0 {
            Self::Seen
        } else if known < 0.0 {
            Self::Left
        } else {
            Self::Right
        }
    }

    /// Reads a status as brms does: `none`, `right` or `left`, 0, 1 or −1, and true for right-censored outcomes.
    fn read(text: &str) -> Option<Self> {
        match text.trim().to_lowercase().as_str() {
            "none" | "0" | "false" => Some(Self::Seen),
            "right" | "1" | "true" => Some(Self::Right),
            "left" | "-1" => Some(Self::Left),
            _ => None,
        }
    }
}

/// The statuses of `rows` in the column called `name`, `None` where they are missing.
///
/// # Errors
/// There is no such column; a status is none of those that there are.
pub(super) fn statuses(
    table: &dyn Columns,
    name: &str,
    rows: &[u32],
) -> Result<Vec<Option<Censoring>>, DesignError> {
    let labels = table.labels(table.index_of(name, "The formula")?);
    let read: Vec<Option<Censoring>> = labels.levels.iter().map(|it| Censoring::read(it)).collect();
    let status = |&row: &u32| {
        let code = labels.codes[row as usize] as usize;
        let Some(level) = labels.levels.get(code) else {
            return Ok(None);
        };
        if let Some(status) = read[code] {
            return Ok(Some(status));
        }
        let at = Place::of(table, row);
        Err(BadLevel::Status(name.to_owned(), level.clone(), at).into())
    };
    rows.iter().map(status).collect()
}

/// How the column called `name` writes of an outcome that is larger and of one that was seen.
pub(super) fn written(table: &dyn Columns, name: &str) -> Option<[String; 2]> {
    let levels = table
        .labels(table.index_of(name, "The formula").ok()?)
        .levels;
    let text = |status| {
        let found = levels.iter().find(|it| Censoring::read(it) == Some(status));
        found.map(|text| text.to_string())
    };
    Some([text(Censoring::Right)?, text(Censoring::Seen)?])
}

/// Right-censored and left-censored outcomes.
pub fn counts(statuses: &[Censoring]) -> [usize; 2] {
    [Censoring::Right, Censoring::Left]
        .map(|which| statuses.iter().filter(|it| **it == which).count())
}

/// How many of `rows` outcomes are censored, with the [`counts`] `right` and `left`: "40 of 120 outcomes are right-censored".
pub fn in_words([right, left]: [usize; 2], rows: usize) -> String {
    let [larger, smaller, of] = [right, left, rows].map(|it| thousands(it as u64));
    match (right, left) {
        (0, 0) => format!("none of {of} outcomes is censored"),
        (_, 0) => format!("{larger} of {of} outcomes are right-censored"),
        (0, _) => format!("{smaller} of {of} outcomes are left-censored"),
        _ => format!("{larger} of {of} outcomes are right-censored and {smaller} left-censored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::columns::{MemoryColumns, Values};

    #[test]
    fn both_ways_of_censoring_are_told() {
        for (counts, words) in [
            ([0, 0], "none of 1\u{202f}200 outcomes is censored"),
            ([40, 0], "40 of 1\u{202f}200 outcomes are right-censored"),
            ([0, 7], "7 of 1\u{202f}200 outcomes are left-censored"),
            (
                [40, 7],
                "40 of 1\u{202f}200 outcomes are right-censored and 7 left-censored",
            ),
        ] {
            assert_eq!(in_words(counts, 1200), words);
        }
    }

    #[test]
    fn statuses_are_read_as_brms_reads_them() {
        use Censoring::{Left, Right, Seen};
        let table = |texts: &[&str]| {
            let texts = texts.iter().map(|text| Some((*text).to_owned())).collect();
            MemoryColumns::new("t", vec![("s".to_owned(), Values::Texts(texts))]).unwrap()
        };
        for texts in [
            ["none", "right", "left"],
            ["None", "TRUE", "-1"],
            ["0", "1", "-1"],
        ] {
            let read = statuses(&table(&texts), "s", &[0, 1, 2]).unwrap();
            assert_eq!(read, [Seen, Right, Left].map(Some), "{texts:?}");
        }
        let said = |texts: &[&str]| written(&table(texts), "s");
        let both = |right: &str, seen: &str| Some([right.to_owned(), seen.to_owned()]);
        assert_eq!(said(&["none", "right", "left"]), both("right", "none"));
        assert_eq!(said(&["0", "1"]), both("1", "0"));
        assert_eq!(said(&["None", "left"]), None);
        let numbers = Values::Numbers(vec![0.0, 1.0, -1.0, f64::NAN]);
        let of_numbers = MemoryColumns::new("t", vec![("s".to_owned(), numbers)]).unwrap();
        let read = statuses(&of_numbers, "s", &[0, 1, 2, 3]).unwrap();
        assert_eq!(read, [Some(Seen), Some(Right), Some(Left), None]);
        let read: Vec<Censoring> = read.into_iter().flatten().collect();
        assert_eq!(counts(&read), [1, 1]);
        for status in read {
            assert_eq!(Censoring::of(status.known()), status);
        }
        for (text, part) in [
            ("dead", "is `dead` in row 2; write 0 or `none`"),
            ("2", "no models of outcomes between two values"),
        ] {
            let refused = statuses(&table(&["0", text]), "s", &[0, 1]).unwrap_err();
            assert!(refused.to_string().contains(part), "{refused}");
        }
    }
}
