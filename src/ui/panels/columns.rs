//! What pages say about a column: its icon, its kind in a word, its range in a few.

use crate::ui::icons;
use crate::ui::widgets::number;
use ergodic_core::design::{ColumnInfo, ColumnKind};
use ergodic_data::{Profile, ProfileKind};

/// The icon of a column's kind.
pub fn icon(info: &ColumnInfo, profile: Option<&Profile>) -> char {
    match profile.map(|profile| profile.kind) {
        Some(ProfileKind::Whole | ProfileKind::Decimal) => icons::HASH,
        Some(ProfileKind::YesNo) => icons::TOGGLE_LEFT,
        Some(ProfileKind::Categorical) => icons::TAG,
        Some(ProfileKind::Identifier) => icons::KEY,
        Some(ProfileKind::Text) => icons::TEXT_T,
        Some(ProfileKind::Date) => icons::CALENDAR_BLANK,
        Some(ProfileKind::Empty) => icons::CIRCLE_DASHED,
        None => match info.kind {
            ColumnKind::Number => icons::HASH,
            ColumnKind::Text => icons::TEXT_T,
            ColumnKind::Date => icons::CALENDAR_BLANK,
        },
    }
}

/// The kind in a word or two, short enough for a chip.
pub fn kind_word(info: &ColumnInfo, profile: Option<&Profile>) -> String {
    let Some(profile) = profile else {
        return match info.kind {
            ColumnKind::Number => "number",
            ColumnKind::Text => "text",
            ColumnKind::Date => "date",
        }
        .to_owned();
    };
    match profile.kind {
        ProfileKind::Whole => "whole".to_owned(),
        ProfileKind::Decimal => "decimal".to_owned(),
        ProfileKind::YesNo => "two values".to_owned(),
        ProfileKind::Categorical => {
            let levels = number::integer(profile.num_distinct as u64);
            let word = if profile.num_distinct == 1 {
                "level"
            } else {
                "levels"
            };
            format!("{levels} {word}")
        }
        ProfileKind::Identifier => "identifier".to_owned(),
        ProfileKind::Text => "text".to_owned(),
        ProfileKind::Date => "date".to_owned(),
        ProfileKind::Empty => "empty".to_owned(),
    }
}

/// The fact that stands below a column's picture: missing values before all else.
pub fn fact(info: &ColumnInfo, profile: Option<&Profile>) -> String {
    if info.num_missing > 0 {
        return missing(info);
    }
    profile.map_or_else(String::new, range)
}

/// "188 missing".
pub fn missing(info: &ColumnInfo) -> String {
    format!("{} missing", number::integer(info.num_missing as u64))
}

/// "18 to 92", "basic 62%".
pub fn range(profile: &Profile) -> String {
    let values: usize = profile.top.iter().map(|(_, count)| count).sum();
    match (&profile.numbers, profile.kind) {
        (_, ProfileKind::Identifier) => "all different".to_owned(),
        (_, ProfileKind::Empty) => "no values".to_owned(),
        (_, ProfileKind::Text) => {
            format!("{} texts", number::integer(profile.num_distinct as u64))
        }
        (_, ProfileKind::Date) => {
            format!("{} dates", number::integer(profile.num_distinct as u64))
        }
        (Some(numbers), _) if are_years(numbers.min, numbers.max) => {
            format!("{:.0} to {:.0}", numbers.min, numbers.max)
        }
        (Some(numbers), _) => format!("{} to {}", short(numbers.min), short(numbers.max)),
        (None, _) => profile
            .top
            .first()
            .map_or_else(String::new, |(name, count)| {
                // The listed values are all there are, unless there are more than are listed.
                if profile.num_distinct == profile.top.len() {
                    let share = *count as f64 / values.max(1) as f64;
                    format!("{name} {}", number::percent(share, 1))
                } else {
                    format!("{name} {}", number::integer(*count as u64))
                }
            }),
    }
}

/// Heights of a column's small picture; empty where there is nothing to see.
pub fn heights(profile: &Profile) -> Vec<f64> {
    match (&profile.numbers, profile.kind) {
        (Some(numbers), _) => numbers
            .histogram
            .counts
            .iter()
            .map(|&count| count as f64)
            .collect(),
        (None, ProfileKind::Identifier | ProfileKind::Text | ProfileKind::Date) => Vec::new(),
        (None, _) => profile.top.iter().map(|(_, count)| *count as f64).collect(),
    }
}

/// Whether whole numbers from `low` to `high` read as years, which have no space between their digits.
fn are_years(low: f64, high: f64) -> bool {
    const YEARS: std::ops::RangeInclusive<f64> = 1500.0..=2200.0;
    [low, high]
        .iter()
        .all(|end| end.fract() == 0.0 && YEARS.contains(end))
}

/// Whole numbers whole, others with three significant digits.
fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        number::fixed(value, 0)
    } else {
        number::significant(value, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::are_years;

    #[test]
    fn years_are_told_from_quantities() {
        assert!(are_years(2000.0, 2020.0) && are_years(1871.0, 1970.0));
        assert!(
            !are_years(1200.0, 2020.0) && !are_years(1900.5, 2000.0) && !are_years(0.0, 2020.0)
        );
    }
}
