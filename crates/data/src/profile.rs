//! What is in each column, for the data panel: kind, missing values, distinct values, range, histogram.

use rayon::prelude::*;

use super::table::Table;
use ergodic_base::numerals::plural;
use ergodic_core::design::{ColumnKind, Columns as _, Labels};

/// Most bins of a histogram.
pub const MAX_BINS: usize = 20;
/// Most levels listed.
const MAX_LISTED: usize = 20;
/// Text with more distinct values than this, and most of them once, is words rather than categories.
const FEW_LEVELS: usize = 50;

/// What a column holds, finer than its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileKind {
    /// Whole numbers.
    Whole,
    /// Numbers with decimals.
    Decimal,
    /// Two values.
    YesNo,
    /// Some levels.
    Categorical,
    /// Different in every row.
    Identifier,
    /// Text with too many values for categories.
    Text,
    /// ISO dates.
    Date,
    /// Nothing.
    Empty,
}

impl ProfileKind {
    /// Words for the window.
    pub fn label(self) -> &'static str {
        match self {
            Self::Whole => "whole number",
            Self::Decimal => "number",
            Self::YesNo => "yes or no",
            Self::Categorical => "categorical",
            Self::Identifier => "identifier",
            Self::Text => "text",
            Self::Date => "date",
            Self::Empty => "no values",
        }
    }
}

/// Bins of equal width and how many values are in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Left edge of the first bin.
    pub low: f64,
    /// Right edge of the last bin.
    pub high: f64,
    /// Values per bin; a value at the right edge of the last bin belongs to it.
    pub counts: Vec<usize>,
}

/// Figures of a numeric column.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberSummary {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); 0 for a single value.
    pub sd: f64,
    /// At most [`MAX_BINS`] bins.
    pub histogram: Histogram,
}

/// What is in a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Column.
    pub name: String,
    /// Kind of the values.
    pub kind: ProfileKind,
    /// Why, one sentence without a final period: "Treated as categorical because it has 4 different texts".
    pub reason: String,
    /// Rows without a value.
    pub num_missing: usize,
    /// Where the first of them is: "line 57".
    pub first_missing: Option<String>,
    /// Different values.
    pub num_distinct: usize,
    /// Figures, if it holds numbers.
    pub numbers: Option<NumberSummary>,
    /// Most frequent values with their counts, for anything but decimal numbers.
    pub top: Vec<(String, usize)>,
}

/// Profiles of all columns, in order. Takes a second or two for 10 million cells; run it on a worker thread.
pub fn profile(table: &Table) -> Vec<Profile> {
    (0..table.columns().len())
        .into_par_iter()
        .map(|col| profile_column(table, col))
        .collect()
}

/// Profile of one column.
pub(crate) fn profile_column(table: &Table, col: usize) -> Profile {
    let info = &table.columns()[col];
    let mut counted = Counted::of(table, col);
    let (kind, reason) = classify(info.kind, &counted);
    if kind == ProfileKind::Decimal {
        counted.top.clear();
    }
    Profile {
        name: info.name.clone(),
        kind,
        reason: format!(
            "Treated as {} because {reason}; {}",
            kind.label(),
            info.reason
        ),
        num_missing: info.num_missing,
        first_missing: info.first_missing.map(|row| table.place(row)),
        num_distinct: counted.num_distinct,
        numbers: counted.numbers,
        top: counted.top,
    }
}

/// How often the values of a column occur.
struct Counted {
    num_values: usize,
    num_distinct: usize,
    numbers: Option<NumberSummary>,
    whole: bool,
    /// Most frequent values, ties in order of level.
    top: Vec<(String, usize)>,
}

impl Counted {
    fn of(table: &Table, col: usize) -> Self {
        let num_values = table.num_rows() - table.columns()[col].num_missing;
        let Some(numbers) = table.numbers(col) else {
            let labels = table.labels(col);
            let mut counts = vec![0_usize; labels.levels.len()];
            for &code in labels.codes.iter().filter(|code| **code != Labels::MISSING) {
                counts[code as usize] += 1;
            }
            let top = most_frequent(counts.iter().copied().enumerate().collect());
            let top = top
                .into_iter()
                .map(|(level, count)| (labels.levels[level].clone(), count))
                .collect();
            return Self {
                num_values,
                num_distinct: labels.levels.len(),
                numbers: None,
                whole: false,
                top,
            };
        };
        let summary = summarise(numbers);
        let mut sorted: Vec<f64> = numbers
            .iter()
            .copied()
            .filter(|value| !value.is_nan())
            .collect();
        sorted.sort_unstable_by(f64::total_cmp);
        // -0 and 0 lie side by side and are equal, so they are one run.
        let runs: Vec<(usize, usize)> = sorted
            .chunk_by(|a, b| a == b)
            .scan(0, |start, run| {
                let first = *start;
                *start += run.len();
                Some((first, run.len()))
            })
            .collect();
        let num_distinct = runs.len();
        let top = most_frequent(runs)
            .into_iter()
            .map(|(at, count)| ((sorted[at] + 0.0).to_string(), count))
            .collect();
        let whole = sorted.iter().all(|value| value.fract() == 0.0);
        Self {
            num_values,
            num_distinct,
            numbers: summary,
            whole,
            top,
        }
    }
}

/// The entries with the largest counts, the first ones among equals.
fn most_frequent(mut counts: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    counts.sort_by_key(|&(at, count)| (std::cmp::Reverse(count), at));
    counts.truncate(MAX_LISTED);
    counts
}

fn classify(stored: ColumnKind, counted: &Counted) -> (ProfileKind, String) {
    let (values, distinct) = (counted.num_values, counted.num_distinct);
    if values == 0 {
        return (ProfileKind::Empty, "every row is missing".to_owned());
    }
    if stored == ColumnKind::Date {
        return (
            ProfileKind::Date,
            format!("it has {}", plural(distinct, "different date")),
        );
    }
    if distinct == 2 {
        let mut names: Vec<&str> = counted.top.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        return (
            ProfileKind::YesNo,
            format!("it has the two values `{}`", names.join("` and `")),
        );
    }
    if counted.whole {
        return (
            ProfileKind::Whole,
            format!("all {values} values are whole numbers"),
        );
    }
    if counted.numbers.is_some() {
        return (
            ProfileKind::Decimal,
            format!("it has numbers with decimals, {distinct} different ones"),
        );
    }
    if distinct == values && values > MAX_LISTED {
        return (
            ProfileKind::Identifier,
            format!("all {values} values are different"),
        );
    }
    if distinct > FEW_LEVELS && 2 * distinct > values {
        return (
            ProfileKind::Text,
            format!("it has {distinct} different texts in {values} rows"),
        );
    }
    (
        ProfileKind::Categorical,
        format!("it has {}", plural(distinct, "different text")),
    )
}

fn summarise(values: &[f64]) -> Option<NumberSummary> {
    let present = || values.iter().copied().filter(|value| !value.is_nan());
    let n = present().count();
    if n == 0 {
        return None;
    }
    let (min, max) = present().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), v| {
        (min.min(v), max.max(v))
    });
    let mean = present().sum::<f64>() / n as f64;
    let squares: f64 = present().map(|value| (value - mean).powi(2)).sum();
    let sd = if n > 1 {
        (squares / (n - 1) as f64).sqrt()
    } else {
        0.0
    };
    Some(NumberSummary {
        min,
        max,
        mean,
        sd,
        histogram: histogram(present(), n, min, max),
    })
}

/// Bins by Sturges' rule; whole numbers in a small range get a bin each.
fn histogram(values: impl Iterator<Item = f64> + Clone, n: usize, min: f64, max: f64) -> Histogram {
    let whole = values.clone().all(|value| value.fract() == 0.0);
    let (low, high, bins) = if min == max {
        (min - 0.5, max + 0.5, 1)
    } else if whole && max - min < MAX_BINS as f64 {
        (min - 0.5, max + 0.5, (max - min) as usize + 1)
    } else {
        (
            min,
            max,
            (((n as f64).log2().ceil() as usize) + 1).min(MAX_BINS),
        )
    };
    let mut counts = vec![0; bins];
    // Halves keep the width finite for ranges as wide as the numbers themselves.
    let width = high / 2.0 - low / 2.0;
    for value in values {
        let share = (value / 2.0 - low / 2.0) / width;
        counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
    }
    Histogram { low, high, counts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Values;

    fn table(columns: Vec<(&str, Values)>) -> Table {
        Table::from_columns(
            "t",
            columns
                .into_iter()
                .map(|(name, values)| (name.to_owned(), values))
                .collect(),
        )
        .unwrap()
    }

    fn texts(cells: &[&str]) -> Values {
        Values::Texts(
            cells
                .iter()
                .map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn numbers_are_summarised() {
        let column = profile_column(
            &table(vec![("x", Values::Numbers(vec![1.0, f64::NAN, 2.0, 4.5]))]),
            0,
        );
        assert_eq!(
            (column.kind, column.num_missing, column.num_distinct),
            (ProfileKind::Decimal, 1, 3)
        );
        assert_eq!(column.first_missing.as_deref(), Some("row 2"));
        let numbers = column.numbers.unwrap();
        assert_eq!((numbers.min, numbers.max, numbers.mean), (1.0, 4.5, 2.5));
        assert!((numbers.sd - 3.25_f64.sqrt()).abs() < 1e-15);
        assert_eq!(numbers.histogram.counts.iter().sum::<usize>(), 3);
    }

    #[test]
    fn small_whole_numbers_get_a_bin_each() {
        let column = profile_column(
            &table(vec![("x", Values::Numbers(vec![1.0, 2.0, 2.0, 5.0]))]),
            0,
        );
        assert_eq!(column.kind, ProfileKind::Whole);
        assert_eq!(
            column.numbers.unwrap().histogram,
            Histogram {
                low: 0.5,
                high: 5.5,
                counts: vec![1, 2, 0, 0, 1]
            }
        );
        assert_eq!(column.top[0], ("2".to_owned(), 2));
    }

    #[test]
    fn extreme_ranges_are_binned_without_overflow() {
        let column = profile_column(
            &table(vec![("x", Values::Numbers(vec![-f64::MAX, 0.5, f64::MAX]))]),
            0,
        );
        let counts = column.numbers.unwrap().histogram.counts;
        assert_eq!(
            (
                counts[0],
                counts[counts.len() - 1],
                counts.iter().sum::<usize>()
            ),
            (1, 1, 3)
        );
    }

    #[test]
    fn text_is_told_apart() {
        let ids: Vec<String> = (0..30).map(|i| format!("id{i}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let three: Vec<&str> = (0..30).map(|i| ["a", "b", "c"][i % 3]).collect();
        let two: Vec<&str> = (0..30).map(|i| ["no", "yes", ""][i % 3]).collect();
        let profiles = profile(&table(vec![
            ("id", texts(&ids)),
            ("c", texts(&three)),
            ("yn", texts(&two)),
        ]));
        let kinds: Vec<ProfileKind> = profiles.iter().map(|profile| profile.kind).collect();
        assert_eq!(
            kinds,
            [
                ProfileKind::Identifier,
                ProfileKind::Categorical,
                ProfileKind::YesNo
            ]
        );
        assert!(
            profiles[1]
                .reason
                .starts_with("Treated as categorical because it has 3 different texts")
        );
        assert_eq!(
            profiles[2].top,
            [("no".to_owned(), 10), ("yes".to_owned(), 10)]
        );
    }
}
